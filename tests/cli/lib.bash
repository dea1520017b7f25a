# SPDX-License-Identifier: Apache-2.0
#
# lib.bash: for tests of the command-line tool that compare its literal output; sourced.
#
#   RAMET=path/to/ramet tests/cli/NAME.sh
#
#   t NAME CODE WORD… <<'END'     runs `ramet WORD…` and compares what it prints (both streams,
#   expected output               made stable by `steady`) and its exit code
#   END
#   IN=text t …                   the same with text on standard input; IN=@FILE: with a file
#   q WORD…                       runs `ramet -q WORD…` to set something up; stops when it fails
#   finish                        prints the plan; call it last
#
# The store is a scratch one: a file, or a database of its own on the server that RAMET_TEST_DB names
# (behind a server of its own with OVER_SERVER=1); user, width, colour and pager are fixed.

# shellcheck source=../lib/tap.bash
. "$(dirname "${BASH_SOURCE[0]}")/../lib/tap.bash"

: "${RAMET:?set RAMET to the binary}"
RAMET=$(realpath "$RAMET")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ramet-cli.XXXXXX") || exit 1
server_pid=
cleanup() {
    [ -z "$server_pid" ] || { kill "$server_pid" && wait "$server_pid"; } 2>/dev/null
    [ -z "${RAMET_TEST_DB-}" ] || "$root/tests/lib/postgres.sh" drop "$RAMET_TEST_DB" "cli_$$"
    rm -rf "$scratch"
}
trap cleanup EXIT
cd "$scratch" || exit 1
unset COLUMNS NO_COLOR PAGER RAMET_PAGER VISUAL EDITOR
export RAMET_DB=$scratch/test.db RAMET_USER=ann LC_ALL=C.UTF-8 TZ=UTC HOME=$scratch TERM=xterm

if [ -n "${RAMET_TEST_DB-}" ]; then
    RAMET_DB=$("$root/tests/lib/postgres.sh" database "$RAMET_TEST_DB" "cli_$$") || exit 1
fi
place=$RAMET_DB

# With OVER_SERVER=1 the same commands, with the same output, work on a server.
over_server() {
    "$RAMET" serve --listen 127.0.0.1:0 --db "$RAMET_DB" --admins '*' >"$scratch/server.out" 2>"$scratch/server.err" &
    server_pid=$!
    local n=0
    until grep -q '^listening on ' "$scratch/server.out"; do
        n=$((n + 1))
        [ $n -lt 200 ] || { echo 'Bail out! the server does not start'; exit 1; }
        sleep 0.05
    done
    RAMET_SERVER=$(sed -n 's/^listening on //p' "$scratch/server.out")
    export RAMET_SERVER
    unset RAMET_DB
}
[ -z "${OVER_SERVER-}" ] || over_server

# What changes from run to run: times, hashes, ids that were made, the scratch folder.
steady() {
    local place_is=${place//[?*.&]/[&]}
    sed -E -e "s#$place_is#/scratch/test.db#g" -e "s#$scratch#/scratch#g" \
        -e 's/"([a-z]+_at)":"[0-9]{4}-[^"]*"/"\1":"TIME"/g' \
        -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} \((now|[0-9]+[smh] ago)\)/TIME/g' \
        -e 's/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/UUID/g' \
        -e '/^0+$|"0{64}"/!s/\b[0-9a-f]{64}\b/HASH/g' \
        -e 's/ in [0-9]+ ?(µs|ms|s)$/ in TIME/' \
        -e 's/, took [0-9smh ]+(\x1b|$)/\1/' -e 's/(\x1b\[2m)[0-9]+[sm]\b/\1now/g' \
        -e 's/(· )[0-9]{1,2}[sm]( ·|$)/\1now\2/g' \
        -e 's/((user|assistant|tool)  )[0-9]+[sm](  on| ·|$)/\1now\3/' \
        -e 's/ [1-9][0-9][sm]( |$)/ now\1/g' -e 's/ [1-9][sm] ( |$)/ now\1/g' -e 's/ [1-9][sm]$/ now/' \
        -e 's/"score":[0-9.e-]+/"score":S/g' -e 's/("[a-z_]*bytes"|"events"|"schema"):[0-9]+/\1:N/g' \
        -e 's/\(([0-9.]+ (B|KiB|MiB))\)/(SIZE)/g'
}

feed() {
    case ${IN-} in
    @*) cat "${IN#@}" ;;
    *) printf '%s' "${IN-}" ;;
    esac
}

t() {
    local name=$1 code=$2 want got
    shift 2
    want=$(cat)
    got=$({
        feed | "$RAMET" "$@"
        echo "[${PIPESTATUS[1]}]"
    } 2>&1 | steady)
    want=${want:+$want$'\n'}"[$code]"
    if [ "$got" = "$want" ]; then
        tap_result 0 "$name"
    else
        tap_result 1 "$name" "ramet $*"$'\n'"$(diff <(printf '%s\n' "$want") <(printf '%s\n' "$got") | tail -n +2)"
    fi
}

# What differs on a server: only without one.
home() {
    if [ -n "${OVER_SERVER-}" ]; then cat >/dev/null; else t "$@"; fi
}

q() {
    "$RAMET" -q "$@" >/dev/null </dev/null || {
        echo "Bail out! ramet $* failed"
        exit 1
    }
}

# A small tree that several tests use: a trip that was edited once, and a fork of it.
plant() {
    q new 'Trip to Lisbon' --id trip --agent claude --tag travel
    q append trip --id e1 'How do I get from Porto to Lisbon?'
    q append trip --id e2 --role assistant --usage '{"input": 12, "output": 9, "cost": 0.0012, "currency": "USD"}' \
        'By train: it takes three hours.'
    q append trip --id e3 'And at night?'
    q append trip --id e4 --role assistant 'There is no night train any more.'
    q fork trip e2 --id coach --title 'By bus' --tag cheap --reason 'the train is dear'
    q append coach --id c3 'And by bus?'
    q append coach --id c4 --role assistant 'There is a night bus.'
    q edit trip e3 --id e3b 'And at night, cheaply?'
    q append trip --id e4b --role assistant 'There is a night bus, cheaply.'
}
