#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests of `ramet schema`: what it prints makes the very tables that Ramet makes itself, and Citus is
# told to distribute what is spread over partitions elsewhere. RAMET is the binary; RAMET_TEST_DB the
# server, on PostgreSQL.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/tap.bash
. "$here/lib/tap.bash"
binary=$(realpath "${RAMET:-$here/../build/ramet}")
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ramet-schema.XXXXXX")
made=()
cleanup() {
    local each
    for each in "${made[@]}"; do
        "$here/lib/postgres.sh" drop "$RAMET_TEST_DB" "$each"
    done
    rm -rf "$tmp"
}
trap cleanup EXIT
export RAMET_USER=ann
unset RAMET_DB RAMET_SERVER

ramet() {
    "$binary" "$@"
}

# works URL|PATH: a store that is written to, forked, read and checked
works() {
    ramet --db "$1" new --id first && ramet --db "$1" append first hello && ramet --db "$1" fork first --id second &&
        ramet --db "$1" append second world && ramet --db "$1" log second && ramet --db "$1" search world &&
        ramet --db "$1" fsck
}

# ---- refusals

refusal() {
    ramet schema "$@" 2>&1
    echo "exit $?"
}
is "partitions are PostgreSQL's" "$(refusal --engine sqlite --partitions 4)" \
    $'ramet: --partitions is for PostgreSQL\nexit 2'
is "Citus is PostgreSQL's" "$(refusal --engine sqlite --citus)" $'ramet: --citus is for PostgreSQL\nexit 2'
is "Citus has no partitions" "$(refusal --citus --partitions 4)" \
    $'ramet: with --citus tables have no partitions\nexit 2'
has "too many partitions" "$(refusal --partitions 1025)" "--partitions is 1 to 1024"
has "a version that there is not" "$(refusal --after 1000)" "--after a schema version"
is "as JSON" "$(ramet schema --json | grep -o '^{"statements":\["CREATE TABLE meta(')" '{"statements":["CREATE TABLE meta('
version=$(ramet schema | sed -n "s/.*VALUES('schema','\([0-9]*\)').*/\1/p")
is "nothing is lacking in the newest" "$(ramet schema --after "$version")" ""

# ---- SQLite

if [ -z "${RAMET_TEST_DB-}" ]; then
    catalogue() {
        sqlite3 "$1" "SELECT type,name,sql FROM sqlite_master ORDER BY 1,2; PRAGMA user_version; PRAGMA application_id" |
            tr -s ' \n' ' '
    }
    ok "SQLite takes it" sqlite3 "$tmp/hand.db" "$(ramet schema --engine sqlite)"
    ramet --db "$tmp/itself.db" new -q >"$tmp/id"
    is "the same tables" "$(catalogue "$tmp/hand.db")" "$(catalogue "$tmp/itself.db")"
    ok "it is a store" works "$tmp/hand.db"
    finish
fi

# ---- PostgreSQL

database() {
    "$here/lib/postgres.sh" database "$RAMET_TEST_DB" "$1"
}
# catalogue URL: all that pg_dump tells; two of its lines have a random word
catalogue() {
    pg_dump -s "$1" | sed '/^\\\(un\)\{0,1\}restrict /d'
}
ask() {
    psql -qAt "$1" -c "$2"
}
made=("hand_$$" "itself_$$" "flat_$$")
hand=$(database "hand_$$") itself=$(database "itself_$$") flat=$(database "flat_$$")

ramet schema --partitions 3 >"$tmp/hand.sql"
ok "PostgreSQL takes it" psql -q -1 -v ON_ERROR_STOP=1 "$hand" -f "$tmp/hand.sql"
case $itself in *\?*) more="&partitions=3" ;; *) more="?partitions=3" ;; esac
ramet --db "$itself$more" new -q >"$tmp/id"
catalogue "$hand" >"$tmp/hand.txt"
catalogue "$itself" >"$tmp/itself.txt"
ok "the same tables" cmp "$tmp/hand.txt" "$tmp/itself.txt"
ok "they are many" test "$(wc -l <"$tmp/hand.txt")" -gt 1000
ok "it is a store" works "$hand"

# Without a word about them there are none, by hand and by itself.
made+=("hand1_$$" "itself1_$$")
hand1=$(database "hand1_$$") itself1=$(database "itself1_$$")
ramet schema --engine postgres >"$tmp/hand1.sql"
ok "PostgreSQL takes the tables as they are" psql -q -1 -v ON_ERROR_STOP=1 "$hand1" -f "$tmp/hand1.sql"
ramet --db "$itself1" new -q >/dev/null
ok "a new store is made of the same" cmp <(catalogue "$hand1") <(catalogue "$itself1")
is "tables are whole" "$(ask "$itself1" "SELECT count(*) FROM pg_class WHERE relkind='p'")" 0

# What Citus is told, against the catalogue.
ramet schema --citus >"$tmp/citus.sql"
of_a_tree=$(ask "$itself" "SELECT relname FROM pg_class WHERE relkind='p' AND relnamespace='public'::regnamespace ORDER BY 1")
is "every table of a tree is distributed by it" \
    "$(sed -n "s/^SELECT create_distributed_table('\([a-z_]*\)','tree',colocate_with=>'\(tree\|none\)');$/\1/p" "$tmp/citus.sql" | LC_ALL=C sort)" \
    "$of_a_tree"
is "all beside the first" "$(grep -c "colocate_with=>'none'" "$tmp/citus.sql")" 1
others=$(ask "$itself" "SELECT relname FROM pg_class WHERE relkind='r' AND NOT relispartition AND relnamespace='public'::regnamespace")
is "what is copied to every node is of no tree" \
    "$(sed -n "s/^SELECT create_reference_table('\(.*\)');$/\1/p" "$tmp/citus.sql" | grep -vxFf <(echo "$others"))" ""
is "every key and unique index of a table of a tree has the tree" "$(ask "$itself" "
    SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid=i.indexrelid JOIN pg_class t ON t.oid=i.indrelid
    WHERE t.relkind='p' AND i.indisunique AND NOT EXISTS (SELECT 1 FROM pg_attribute a
        WHERE a.attrelid=t.oid AND a.attname='tree' AND a.attnum=ANY(i.indkey))")" ""
is "no table refers to another" "$(ask "$itself" "SELECT conname FROM pg_constraint WHERE contype='f'")" ""

# Without the calls it is plain PostgreSQL, and a store as well.
grep -v '^SELECT create_' "$tmp/citus.sql" >"$tmp/flat.sql"
ok "the tables without partitions" psql -q -1 -v ON_ERROR_STOP=1 "$flat" -f "$tmp/flat.sql"
is "have none" "$(ask "$flat" "SELECT count(*) FROM pg_class WHERE relkind='p'")" 0
is "have the same columns" \
    "$(ask "$flat" "SELECT table_name,column_name,data_type FROM information_schema.columns WHERE table_schema='public' ORDER BY 1,2")" \
    "$(ask "$itself" "SELECT table_name,column_name,data_type FROM information_schema.columns WHERE table_schema='public' AND table_name !~ '_[0-9]+$' ORDER BY 1,2")"
ok "are a store, too" works "$flat"
finish
