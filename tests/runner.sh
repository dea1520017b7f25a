#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests of tests/run itself: a made-up build whose programs end in every way that a
# test program can end, and the line that the runner must say about it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/tap.bash
. "$here/lib/tap.bash"
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ramet-runner.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset SUITE LEAVE_OUT RAMET_TEST_DB PG_LIST
export ENGINE=sqlite

# program FILE: makes an executable of what stands on standard input
program() {
    mkdir -p "$(dirname "$1")"
    { echo "#!/bin/sh"; cat; } >"$1"
    chmod +x "$1"
}
good='echo ok 1 - fine; echo 1..1'

# A build whose four programs pass with one test each. Criterion writes to the file of --tap=.
build_new() {
    rm -rf "$tmp/b" "$tmp/t"
    mkdir -p "$tmp/b/tests" "$tmp/t/cli"
    program "$tmp/b/tests/fault" <<<"$good"
    program "$tmp/b/tests/model" <<<"$good"
    program "$tmp/b/tests/model_http" <<<"$good"
    program "$tmp/b/tests/unit" <<'X'
for a; do case $a in --tap=*) { echo 1..2; echo 'ok - a::b (0.00s)'; echo 'ok - a::c  # SKIP not here'; } >"${a#--tap=}" ;; esac; done
X
}

# case NAME LAST_LINE EXIT PART <script: a test script beside the passing programs
case_is() {
    build_new
    cat >"$tmp/t/cli/case.sh"
    local said code
    said=$(TEST_SECONDS=${seconds:-60} "$here/run" "$tmp/b" "$tmp/t" 2>&1)
    code=$?
    is "$1: the last line" "${said##*$'\n'}" "$2"
    is "$1: the exit code" "$code" "$3"
    [ -z "${4:-}" ] || has "$1: what is shown" "$said" "$4"
}

case_is "all pass" "6 passed, 0 failed, 1 skipped" 0 <<<'echo 1..2; echo ok 1; echo ok 2 - b'
case_is "a failure" "5 passed, 1 failed, 1 skipped" 1 '#   because of this' <<'X'
echo 1..2; echo "not ok 1 - bad"; echo "#   because of this"; echo ok 2; exit 1
X
case_is "a failure that the exit code hides" "5 passed, 2 failed, 1 skipped" 1 \
    'exit code 0 in spite of failed tests' <<<'echo 1..2; echo not ok 1; echo ok 2'
case_is "a skip shows its reason" "5 passed, 0 failed, 2 skipped" 0 'SKIP no root' \
    <<<'echo ok 1; echo "ok 2 - x # SKIP no root"; echo 1..2'
case_is "a whole suite skipped" "4 passed, 0 failed, 2 skipped" 0 <<<'echo "1..0 # SKIP no disk"'
case_is "an expected failure is no pass" "4 passed, 0 failed, 2 skipped" 0 \
    <<<'echo "not ok 1 - x # TODO later"; echo 1..1'
case_is "no plan" "5 passed, 1 failed, 1 skipped" 1 'no plan' <<<'echo ok 1'
case_is "fewer tests than planned" "5 passed, 1 failed, 1 skipped" 1 'planned 3 tests and ran 1' \
    <<<'echo 1..3; echo ok 1'
case_is "more tests than planned" "6 passed, 1 failed, 1 skipped" 1 'planned 1 tests and ran 2' \
    <<<'echo 1..1; echo ok 1; echo ok 2'
case_is "no tests at all" "4 passed, 1 failed, 1 skipped" 1 'it has no tests' <<<'echo 1..0'
case_is "a crash after all passed" "5 passed, 1 failed, 1 skipped" 1 'died of signal 11' \
    <<<'echo 1..1; echo ok 1; echo its last words >&2; kill -SEGV $$'
case_is "an exit code without a failed test" "5 passed, 1 failed, 1 skipped" 1 'exit code 3' \
    <<<'echo 1..1; echo ok 1; exit 3'
case_is "a bail out" "5 passed, 2 failed, 1 skipped" 1 'Bail out! no disk' \
    <<<'echo 1..2; echo ok 1; echo "Bail out! no disk"; exit 1'
seconds=1 case_is "a hang" "5 passed, 1 failed, 1 skipped" 1 'ran past' <<<'echo 1..1; echo ok 1; sleep 60'

build_new
rm "$tmp/b/tests/model"
said=$("$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "a program that is missing" "${said##*$'\n'}" "3 passed, 2 failed, 1 skipped"
has "a program that is missing is named" "$said" "there is no $tmp/b/tests/model"

build_new
mkdir "$tmp/t/server"
echo 'export const part = 1;' >"$tmp/t/server/part.mjs"
cat >"$tmp/t/server/case.mjs" <<'X'
const finish = async () => console.log('1..1');
console.log('ok 1 - of the server');
await finish();
X
said=$("$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "suites of the server run, their parts do not" "${said##*$'\n'}" "5 passed, 0 failed, 1 skipped"

# ---- two engines; a PostgreSQL that only notes what is asked of it

# engines_new <script: a test script
engines_new() {
    build_new
    mkdir "$tmp/t/lib"
    cat >"$tmp/t/cli/case.sh"
    : >"$tmp/log"
    program "$tmp/t/lib/postgres.sh" <<X
echo "\$1" >>"$tmp/log"
case \$1 in
start) echo "\$2" >>"\$PG_LIST"; echo postgres://of-the-test/x ;;
bouncer) echo "\$2" >>"\$PG_LIST"; echo 'postgres://of-the-test/x?pgbouncer=1' ;;
esac
X
}
engine_tests() {
    cat <<X
. "$here/lib/tap.bash"
is 'of a file' "\${RAMET_TEST_DB:-a file}" 'a file'
is 'of both' "\$ENGINE \${RAMET_TEST_DB:-a file}" "\${RAMET_TEST_DB:+postgres }\${RAMET_TEST_DB:-sqlite a file}"
finish
X
}

engines_new < <(engine_tests)
echo 'cli/case | of a file' >"$tmp/t/lib/of-files"
said=$(ENGINE=both "$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "both engines: the last line" "${said##*$'\n'}" "11 passed, 0 failed, 2 skipped"
has "both engines: the suite of PostgreSQL is named" "$said" 'cli/case@postgres'
is "both engines: started once, removed at the end" "$(paste -sd' ' "$tmp/log")" 'start bouncer remove remove'
said=$(ENGINE=postgres "$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "one engine: the last line" "${said##*$'\n'}" "5 passed, 0 failed, 1 skipped"
said=$(ENGINE=both SUITE='cli/*' "$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "some suites: the last line" "${said##*$'\n'}" "3 passed, 0 failed, 0 skipped"
is "an engine that there is not" "$(ENGINE=other "$here/run" "$tmp/b" "$tmp/t" 2>/dev/null; echo $?)" 2

echo 'cli/case | no test at all' >>"$tmp/t/lib/of-files"
said=$(ENGINE=both "$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "a line about files that names no test fails" "${said##*$'\n'}" "11 passed, 1 failed, 2 skipped"
has "... and is shown" "$said" "there is no test 'no test at all' in cli/case"

echo 'unit | a::c' >"$tmp/t/lib/of-files"
program "$tmp/b/tests/unit" <<'X'
for a; do case $a in
--filter=*) filter=${a#--filter=} ;;
--tap=*) tap=${a#--tap=} ;;
esac; done
echo 1..2 >"$tap"
echo 'ok - a::b (0.00s)' >>"$tap"
[ "${filter-}" = '!(a/c)' ] && echo 'ok - a::c  # SKIP test was skipped' >>"$tap"
[ -z "${filter-}" ] && echo 'ok - a::c (0.00s)' >>"$tap"
:
X
said=$(ENGINE=both SUITE='unit*' "$here/run" "$tmp/b" "$tmp/t" 2>&1)
is "unit tests about files are not counted" "${said##*$'\n'}" "3 passed, 0 failed, 0 skipped"

engines_new <<<"echo \$\$ >'$tmp/pid'; sleep 300"
ENGINE=postgres SUITE='cli/*' "$here/run" "$tmp/b" "$tmp/t" >/dev/null 2>&1 &
for ((i = 0; i < 200; i++)); do [ ! -s "$tmp/pid" ] || break; sleep 0.05; done
kill -TERM $!
wait $!
is "ended from outside: the exit code" $? 130
is "ended from outside: the server is removed" "$(tail -n 1 "$tmp/log")" remove
fails "ended from outside: so is the suite" kill -0 "$(cat "$tmp/pid")"
finish
