#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests of the documents: what they show is run and compared, what they name is looked
# for in the code, and what the code has is looked for in them. B is the build folder, RAMET
# the binary.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/tap.bash
. "$here/lib/tap.bash"
cd "$here/.." || exit 2
build=$(realpath "${B:-build}")
binary=$(realpath "${RAMET:-$build/ramet}")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ramet-docs.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
flags=()
case $build in */san) flags=("-fsanitize=address,undefined") ;; esac
model=docs/data-model.md
shopt -s nullglob
pages=(README.md CONTRIBUTING.md docs/*.md docs/decisions/*.md)

# block FILE MARK N: the N-th fenced block behind the line that holds MARK
block() {
    awk -v mark="$2" -v want="$3" '
        index($0, mark) { on = 1; next }
        on && /^```/ { fence++; if (fence == 2 * want) exit; next }
        on && fence == 2 * want - 1' "$1"
}

# Ids made by the store and times differ from run to run.
normal() {
    sed -E 's/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/ID/g; s/\b[0-9a-f]{8}\b/ID/g;
        s/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/TIME/g; s/\b(now|[0-9]+ ?(s|ms|µs|min))( ago)?\b/TIME/g'
}

# ---- the tour

mkdir "$tmp/tour" "$tmp/bin"
ln -s "$binary" "$tmp/bin/ramet"
block README.md "<!-- talk.jsonl" 1 >"$tmp/tour/talk.jsonl"
block README.md "<!-- tour" 1 >"$tmp/tour.txt"

# tour_run COMMAND: as the reader would, on a store of its own
tour_run() {
    (cd "$tmp/tour" && PATH="$tmp/bin:$PATH" RAMET_DB=tour.db RAMET_PAGER='' COLUMNS=100 LC_ALL=C.UTF-8 \
        bash -c "$1" 2>&1 </dev/null)
}

tour_check() {
    [ -z "$command" ] || is "the tour: $command" "$(tour_run "$command" | normal)" "$(normal <<<"$shown")"
    command='' shown=''
}
command='' shown=''
while IFS= read -r line; do
    if [ "${line:0:2}" = '$ ' ]; then
        tour_check
        command=${line:2}
    else
        shown+=${shown:+$'\n'}$line
    fi
done <"$tmp/tour.txt"
tour_check
is "the tour has five commands" "$(grep -c '^\$ ' "$tmp/tour.txt")" 5

# ---- the sample

# program SOURCE NAME: compiles against the header and the static library of this build
program() {
    ${CC:-gcc} -std=c11 -Wall -Wextra -Werror "${flags[@]}" -Iinclude "$1" "$build/libramet.a" \
        -lsqlite3 -lpq -lzstd -lcrypto -lm -pthread -o "$tmp/$2"
}
block README.md "<!-- sample" 1 >"$tmp/sample.c"
ok "the sample compiles" program "$tmp/sample.c" sample
is "the sample says what the README shows" "$(cd "$tmp" && ./sample 2>&1)" \
    "$(block README.md '<!-- sample' 2 | sed 1d)"

# ---- the worked hash

# bytes HEX: as bytes
bytes() {
    printf '%b' "$(sed 's/../\\x&/g' <<<"$1")"
}
sum() {
    sha256sum | cut -d' ' -f1
}
# The bytes stand before the first run of two spaces or more.
hex=$(block "$model" "<!-- vector" 1 | sed -E 's/  .*//' | tr -d ' \n')
digest=$(bytes "$hex" | sum)
hash=$(bytes "$(printf '0%.0s' {1..64})$digest" | sum)
mapfile -t said < <(sed -n '/<!-- vector/,/^## /s/.*| `\([0-9a-f]\{64\}\)`.*/\1/p' "$model")
is "the worked digest" "$digest" "${said[0]}"
is "the worked hash" "$hash" "${said[1]}"
is "the second worked hash" "$(bytes "${said[1]}${said[2]}" | sum)" "${said[3]}"
cat >"$tmp/vector.c" <<'C'
#include <ramet.h>
#include <stdio.h>
int main(void)
{
    ramet *r;
    ramet_session *s;
    ramet_append_out out;
    ramet_usage usage = {.input = 9, .output = 4, .cost = 10000000, .currency = "USD"};
    ramet_entry_in in[] = {
        {.id = "e1", .role = RAMET_USER, .text = "Hi", .created = 1767225600000000},
        {.id = "e2",
         .role = RAMET_ASSISTANT,
         .parts = "[{\"type\":\"thinking\",\"text\":\"Greet.\"},{\"type\":\"text\",\"text\":\"Hello\"}]",
         .turn_id = "t1",
         .usage = &usage,
         .state_delta = "{\"mood\":\"good\"}",
         .created = 1767225601000000}};
    if (ramet_open("vector.db", NULL, &r, NULL))
        return 1;
    ramet_call *c = ramet_call_new(r, "ann", "demo/1");
    if (ramet_session_create(c, &(ramet_session_in){0}, &s) ||
        ramet_append(c, s->id, &(ramet_append_in){.entries = in, .n = 2}, &out))
        return 2;
    printf("%s %s\n", out.entries[0].hash, out.entries[1].hash);
    ramet_call_free(c);
    ramet_close(r);
}
C
ok "the worked example compiles" program "$tmp/vector.c" vector
is "the library makes the worked hashes" "$(cd "$tmp" && ./vector 2>&1)" "${said[1]} ${said[3]}"

# ---- tables, columns and indexes

# "table COLUMN…" for each table and "index NAME" for each index, from the texts in schema.c.
schema_list() {
    sed -n '/^static const char step_/,$p' src/store/sql/schema.c | grep -o '"[^"]*"' | tr -d '"\n' | tr ';' '\n' | awk '
        /^ALTER TABLE [a-z]* ADD COLUMN/ { print "table", $3, $6 }
        /^CREATE (UNIQUE )?INDEX/ { sub(/ ON .*/, ""); print "index", $NF }
        /^CREATE TABLE/ {
            name = $3; sub(/\(.*/, "", name)
            sub(/^[^(]*\(/, ""); gsub(/\([^)]*\)/, "")
            n = split($0, part, ",")
            line = "table " name
            for (i = 1; i <= n; i++) {
                sub(/^ +/, "", part[i])
                split(part[i], word, " ")
                if (word[1] != "PRIMARY") line = line " " word[1]
            }
            print line
        }'
}
# names_missing TEXT NAME…: the names that do not stand in backticks in a text
names_missing() {
    local text=${1//$'\n'/ } name
    shift
    for name; do
        grep -Eq "\`${name}[\` (]" <<<"$text" || echo "$name"
    done
}
tables=0
while read -r kind name columns; do
    if [ "$kind" = index ]; then
        is "index $name is told" "$(names_missing "$(cat "$model")" "$name")" ""
        continue
    fi
    tables=$((tables + 1))
    section=$(awk -v t="### $name" '$0 == t { on = 1; next } /^##/ { on = 0 } on' "$model")
    # shellcheck disable=SC2086
    is "table $name and its columns are told" "$(names_missing "$section" $columns)" ""
done < <(schema_list)
ok "there are tables to look for" test "$tables" -ge 14

# ---- statuses, tests, functions, files

mapfile -t codes < <(sed -n '/define RAMET_STATUSES/,/^$/s/.*X([A-Z_]*, "\([a-z_]*\)".*/\1/p' include/ramet.h | sort -u)
ok "there are statuses to look for" test "${#codes[@]}" -ge 30
is "every status is told" "$(names_missing "$(cat "$model")" "${codes[@]}")" ""

mapfile -t held < <(sed -n 's/^Test(invariant, \([a-z0-9_]*\).*/\1/p' tests/unit/invariant.c)
is "every test of an invariant is named" "$(names_missing "$(cat "$model")" "${held[@]}")" ""
named=$(grep -o '`i[0-9]*_[a-z0-9_]*`' "$model" | tr -d '`')
is "every test named is there" "$(grep -vxFf <(printf '%s\n' "${held[@]}") <<<"$named")" ""

missing=''
for name in $(grep -oh '`[a-z_0-9]*()' README.md docs/architecture.md "$model" docs/decisions/*.md | tr -d '`()' | sort -u); do
    grep -rqw "$name" src include || missing+="$name "
done
is "every function named is in the code" "$missing" ""
missing=''
for name in $(grep -ohE '`[a-z0-9_/]+\.[ch]`' docs/architecture.md "$model" docs/decisions/*.md | tr -d '`' | sort -u); do
    [ -e "$name" ] || [ -e "src/$name" ] || [ -n "$(find src include bench -path "*/$name")" ] || missing+="$name "
done
is "every file named is in the code" "$missing" ""

# Names of types, members and columns, too; those of the wire stand in the texts of the code.
missing=''
for name in $(grep -oh '`[a-z0-9]*_[a-z_0-9]*`' docs/architecture.md | tr -d '`' | sort -u); do
    grep -rqw "$name" src include || missing+="$name "
done
is "every name of the architecture page is in the code" "$missing" ""
missing=''
for name in $(grep -ohE '`[a-z0-9_.-]+(/[a-z0-9_.-]+)*/?`' docs/architecture.md | tr -d '`' | grep / | sort -u); do
    [ -e "$name" ] || [ -e "src/$name" ] || missing+="$name "
done
is "every path of the architecture page is there" "$missing" ""

# The walks of the architecture page: functions, statements and files, without quotes around them.
walks=$(awk '/^```/ { on = !on; next } on' docs/architecture.md)
missing=''
for name in $(grep -oE '\b[a-z0-9]+(_[a-z0-9]+)+\b' <<<"$walks" | sort -u); do
    grep -rqw -e "$name" -e "Q_$name" -e "X($name" src include || missing+="$name "
done
is "every function of a walk is in the code" "$missing" ""
missing=''
for name in $(grep -oE '\b[a-z0-9_/]+\.[ch]\b' <<<"$walks" | sort -u); do
    [ -e "src/$name" ] || [ -n "$(find src include -name "$name")" ] || missing+="$name "
done
is "every file of a walk is in the code" "$missing" ""
# "NAME  FILE.c": the function is defined in that file.
missing='' steps=0
while read -r name file; do
    steps=$((steps + 1))
    for f in $(find src -path "*/$file"); do
        grep -Eq "^[a-z].*\b$name\(" "$f" && continue 2
    done
    missing+="$name($file) "
done < <(grep -oE '\b[a-z][a-z0-9_]+ +[a-z0-9_/]+\.c\b' <<<"$walks")
is "every function of a walk is in the file named with it" "$missing" ""
ok "the walks name files" test "$steps" -ge 30
for walk in append fork read request 'gRPC call' turn; do
    ok "there is a walk of one $walk" grep -qx "## The path of one $walk" docs/architecture.md
done

# The READMEs of the rooms name files of their own folder, or by their place in src/.
missing=''
while read -r readme; do
    for name in $(grep -ohE '`[a-z0-9_/]+\.(c|h|def)`' "$readme" | tr -d '`' | sort -u); do
        [ -e "$name" ] || [ -n "$(find "${readme%/*}" src include tests bench -path "*/$name" -print -quit)" ] || missing+="$readme:$name "
    done
done < <(find src bench -name README.md)
is "every file that the README of a room names is there" "$missing" ""

# Every room is mapped and has a README; a folder inside a room is told in the room's.
missing=''
while read -r room; do
    [ -e "$room/README.md" ] || { [ -e "${room%/*}/README.md" ] && [ "${room%/*}" != src/face ] && continue; }
    [ -e "$room/README.md" ] && grep -q "$room/README.md\|(../$room/README.md)" docs/architecture.md || missing+="$room "
done < <(find src bench -name '*.c' -printf '%h\n' | sort -u)
is "every room is mapped and has a README" "$missing" ""

# number NAME FILE: of a #define, with commas
number() {
    sed -n "s/^#define $1 \([0-9]*\).*/\1/p" "$2" | sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta'
}
has "how large an entry is kept in its row" "$(cat "$model")" \
    "more than $(number INLINE_MAX src/core/pack.h) bytes (\`INLINE_MAX\`"
has "how far a cut policy looks" "$(cat docs/decisions/0011-*.md)" \
    "At most $(number SNAP_WINDOW src/core/change/move.c) entries before and after the cut"
has "how many writes share a commit" "$(tr '\n' ' ' <docs/architecture.md)" \
    "up to $(number GROUP_MAX src/store/sqlite/file_store.c) waiting writes"

# ---- links

# anchors FILE: as they are made from its headings
anchors() {
    sed -n 's/^#\{1,6\} //p' "$1" | tr '[:upper:]' '[:lower:]' | sed -E 's/[^a-z0-9 _-]//g; s/ /-/g'
}
for page in "${pages[@]}"; do
    broken=''
    for link in $(sed '/^```/,/^```/d' "$page" | grep -oE '\]\([^)]+\)' | sed -E 's/^\]\(//; s/\)$//' | sort -u); do
        case $link in http:* | https:* | mailto:*) continue ;; esac
        file=${link%%#*} anchor=''
        case $link in *'#'*) anchor=${link#*#} ;; esac
        target=$page
        [ -z "$file" ] || target=$(dirname "$page")/$file
        if [ ! -e "$target" ]; then
            broken+="$link "
        elif [ -n "$anchor" ] && ! anchors "$target" | grep -qx -- "$anchor"; then
            broken+="$link "
        fi
    done
    is "links of $page" "$broken" ""
done
is "every decision is listed" "$(for f in docs/decisions/0*.md; do
    grep -q "](${f##*/})" docs/decisions/README.md || echo "$f"
done)" ""
finish
