#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests of the page: its types, its units (Vitest), and what it does in a browser (Playwright,
# each test there counts). RAMET is the program.
#
#   tests/web.sh [SPEC…]    only these files of web/tests, as Playwright takes them
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/tap.bash
. "$here/lib/tap.bash"
web=$here/../tools/web
export RAMET=${RAMET:-$here/../build/ramet}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ramet-web.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' TERM INT

# tap_take FILE CODE WHAT: counts the tests of a program that prints TAP, with what it says of them.
tap_take() {
    local line seen=0 bad=0
    while IFS= read -r line; do
        case $line in
        'ok '* | 'not ok '*)
            tap_n=$((tap_n + 1)) seen=$((seen + 1))
            case $line in not*) bad=$((bad + 1)) ;; esac
            printf '%s\n' "$line" | sed -E "s/^((not )?ok) [0-9]+ (- )?/\\1 $tap_n - /; s/ # time=.*//"
            ;;
        '#'* | ' '*) printf '#   %s\n' "$line" ;;
        esac
    done <"$1"
    tap_failed=$((tap_failed + bad))
    if [ "$seen" -eq 0 ] || { [ "$2" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
        tap_result 1 "$3" "exit code $2, $seen tests"$'\n'"$(tail -n 30 "$1" "$tmp/err")"
    fi
}

# The document that the page's types are made from, of this very program.
schema_check() {
    local server
    "$RAMET" serve --listen 127.0.0.1:0 --db "$tmp/store.db" >"$tmp/said" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        ! grep -q '^listening' "$tmp/said" || break
        sleep 0.1
    done
    RAMET_URL=$(sed -n 's/^listening on //p' "$tmp/said") "$web" run node tools/types.mjs --check
    local code=$?
    { kill "$server" && wait "$server"; } 2>/dev/null
    return $code
}

ok "the packages are there" "$web" install
if [ $# -eq 0 ]; then
    ok "the types are right" "$web" run node_modules/typescript7/bin/tsc --noEmit
    ok "the types of the API are those of the server" schema_check
    "$web" run node_modules/.bin/vitest run --reporter=tap-flat >"$tmp/tap" 2>"$tmp/err"
    tap_take "$tmp/tap" $? "the unit tests run"
fi
TAP=1 TEST_OUTPUT=$tmp/results "$web" run node_modules/.bin/playwright test "$@" >"$tmp/tap" 2>"$tmp/err"
tap_take "$tmp/tap" $? "the tests in the browser run"
finish
