#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tools/house-rules: the tree obeys them, and each rule catches a made-up
# file that breaks it and lets one pass that only looks like it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/tap.bash
. "$here/lib/tap.bash"
rules=$here/../tools/house-rules
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ramet-house.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
spdx='/* SPDX-License-Identifier: Apache-2.0 */'

# file PATH TEXT: the only file of a made-up tree
file() {
    rm -rf "$tmp/r"
    mkdir -p "$tmp/r/$(dirname "$1")"
    printf '%s\n' "$2" >"$tmp/r/$1"
}
bad() {
    file "$2" "$3"
    has "caught: $1" "$("$rules" "$tmp/r" 2>&1)" "$4"
}
good() {
    file "$2" "$3"
    is "let pass: $1" "$("$rules" "$tmp/r" 2>&1)" ""
}
# repeat N TEXT
repeat() {
    local i
    for ((i = 0; i < $1; i++)); do printf '%s\n' "$2"; done
}

bad "the model includes an extension" src/core/model/a.c "$spdx
#include \"core/ext/adk.h\"" "src/core may not include \"core/ext/adk.h\""
ok "the tree obeys the house rules" "$rules"

for layer in base core face cli; do
    bad "SQL in $layer" src/$layer/a.c "$spdx
char *s = \"SELECT id FROM session\";" "src/$layer/a.c:2: SQL outside src/store"
done
bad "an INSERT in core" src/core/a.c "$spdx
char *s = \"INSERT INTO entry VALUES(1)\";" "SQL outside"
good "SQL in store" src/store/a.c "$spdx
char *s = \"SELECT 1\";"
good "SQL words in a comment" src/core/a.c "$spdx
/* SELECT is not used
 * INSERT INTO is not either */"

while read -r layer include verdict; do
    text="$spdx
#include \"$include\""
    if [ "$verdict" = no ]; then
        bad "$layer includes $include" "src/$layer/a.c" "$text" "src/${layer%%/*} may not include \"$include\""
    else
        good "$layer includes $include" "src/$layer/a.c" "$text"
    fi
done <<'X'
base base/util.h yes
base store/db.h no
base ramet.h no
store base/util.h yes
store core/txn.h no
store ramet.h yes
core ramet.h yes
core store/db.h yes
core form/native.h no
runtime base/util.h yes
runtime http/http.h no
form ramet.h yes
form http/request.h no
agent ramet.h yes
agent http/http.h no
http runtime/log.h yes
http face/kit/face.h no
http identity/identity.h no
grpc http/request.h yes
grpc face/memory/grpc.h no
identity http/request.h yes
identity face/kit/face.h no
live http/stream.h yes
live turns/turns.h no
live face/kit/face.h no
turns live/live.h yes
turns agent/agent.h yes
turns face/kit/face.h no
face/native ramet.h yes
face/native turns/turns.h yes
face/native face/native/native_face.h yes
face/native face/kit/face.h yes
face/native face/kagent/kagent.h no
face/native store/db.h no
face/native core/txn.h no
face/native server/server.h no
face/kit face/native/native_face.h no
server face/native/native_face.h yes
server core/txn.h no
client form/native.h yes
client http/request.h no
acp client/client.h yes
acp face/kit/face.h no
cli face/kit/face.h yes
cli face/native/native_face.h no
core ramet/memory.h yes
base ramet/memory.h no
core core/ext/adk.h no
core/ext core/ext/adk.h yes
face/native ramet/memory.h yes
cli core/txn.h no
cli store/db.h no
X
rm -rf "$tmp/r"
mkdir -p "$tmp/r/src/base" "$tmp/r/src/cli/commands"
for i in {1..31}; do
    echo "$spdx" | tee "$tmp/r/src/base/a$i.c" >"$tmp/r/src/cli/commands/a$i.c"
done
is "caught: a folder of 31 files, but for commands" "$("$rules" "$tmp/r" 2>/dev/null)" \
    "src/base: 31 files; split the folder (30 is the most)"
bad "a benchmark that includes the server" bench/a.c "$spdx
#include \"server/server.h\"" "bench may not include \"server/server.h\""
bad "the engine in core" src/core/a.c "$spdx
#include <sqlite3.h>" "may not include <sqlite3.h>"
bad "a layer nobody knows" src/attic/a.c "$spdx" "the layer attic is not known"

for f in strcpy strcat sprintf gets atoi strtok alloca system; do
    bad "$f()" src/base/a.c "$spdx
int x(void)
{
    return $f(0);
}" "src/base/a.c:4: $f() is not used here"
done
for f in malloc calloc realloc; do
    bad "$f() in core" src/core/a.c "$spdx
void *p = $f (1);" "$f() outside src/base"
    good "$f() in base" src/base/a.c "$spdx
void *p = $f(1);"
done
good "names that only end like that" src/core/a.c "$spdx
int a = xmalloc(1), b = snprintf(0), c = my_system(1), d = o->system(1);"
good "names in strings and comments" src/core/a.c "$spdx
char *s = \"strcpy(\\\"a\\\") system(1)\"; /* atoi(1) */ // gets(0)"

bad "no SPDX line in C" include/a.h "#define A" "no SPDX identifier"
bad "no SPDX line in a script" tests/a.sh "#!/bin/sh
true" "no SPDX identifier"
bad "a tab" src/base/a.c "$spdx
	int a;" "a.c:2: a tab"
bad "a space at the end" docs/a.md "text " "a.md:1: space at the end"
# The paths are put together here, so that this file obeys the rule itself.
for place in work home; do
    bad "a path of one machine, $place" docs/a.md "see /$place/x" "a path of one machine"
    good "a longer path with $place in it" docs/a.md "see /var/$place/x and \$X/$place/y"
done

for row in '{.method = "GET", .path = "/x"}' '.method = NULL'; do
    bad "a route without roles: $row" src/face/a.c "$spdx
const face_route r[] = {$row};" "a row of a table of routes without its roles"
done
good "a route with roles" src/face/a.c "$spdx
const face_route r[] = {ROUTE(\"GET\", \"/x\", ROLE_USER), ROUTES_END};"
good "the method of a call of gRPC" src/face/a.c "$spdx
const memory_rpc r[] = {{.method = m}};"
bad "a file of 801 lines" src/base/a.c "$spdx
$(repeat 800 'int a;')" "over 800 lines"
good "a file of 800 lines" src/base/a.c "$spdx
$(repeat 799 'int a;')"
bad "a function of 91 lines" src/base/a.c "$spdx
void f(void)
{
$(repeat 91 '    f();')
}" "a function of 91 lines"
good "a function of 90 lines" src/base/a.c "$spdx
void f(void)
{
$(repeat 90 '    f();')
}"
good "a table of 100 lines" src/base/a.c "$spdx
int a[] = {
$(repeat 100 '    1,')
};"

# ---- subjects of commits

# subject TEXT: of the one commit after the first, in a repository of its own
subject() {
    rm -rf "$tmp/r"
    git init -q "$tmp/r"
    git -C "$tmp/r" -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m first
    first=$(git -C "$tmp/r" rev-parse HEAD)
    git -C "$tmp/r" -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m "$1"
    HOUSE_SUBJECTS_SINCE=$first "$rules" "$tmp/r" 2>&1
}
has "caught: a subject of 73 characters" "$(subject "$(printf '%073d' 0)")" "a subject of 73 characters; 72 is the most"
is "let pass: a subject of 72 characters" "$(subject "$(printf '%072d' 0)")" ""
is "let pass: a long body" "$(subject "Short

$(printf '%0100d' 0)")" ""
finish
