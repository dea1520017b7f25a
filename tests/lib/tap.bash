# SPDX-License-Identifier: Apache-2.0
#
# tap.bash: the few words that a test script needs; sourced, not run.
#
#   ok NAME COMMAND…          passes when the command succeeds; else shows what it printed
#   fails NAME COMMAND…       passes when the command fails (with an exit code below 126)
#   is NAME GOT WANTED        passes when both are equal
#   has NAME TEXT PART        passes when PART occurs in TEXT
#   skip NAME REASON
#   finish                    prints the plan; call it last
#
# Tests whose names stand in LEAVE_OUT, a line each, are not judged and not counted (tests/run).

tap_n=0
tap_failed=0

tap_left_out() {
    case $'\n'${LEAVE_OUT-}$'\n' in *$'\n'"$1"$'\n'*) ;; *) return 1 ;; esac
}

tap_result() {
    ! tap_left_out "$2" || return 0
    tap_n=$((tap_n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_n - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_n - $2"
        printf '%s\n' "$3" | sed 's/^/#   /'
    fi
}

ok() {
    local name=$1 said code
    shift
    said=$("$@" 2>&1)
    code=$?
    tap_result "$code" "$name" "exit code $code of: $*"$'\n'"$said"
}

fails() {
    local name=$1 said code
    shift
    said=$("$@" 2>&1)
    code=$?
    tap_result $((code == 0 || code >= 126)) "$name" "exit code $code of: $*"$'\n'"$said"
}

is() {
    local same=1
    [ "$2" != "$3" ] || same=0
    tap_result "$same" "$1" "got:    $2"$'\n'"wanted: $3"
}

has() {
    local same=1
    case $2 in *"$3"*) same=0 ;; esac
    tap_result "$same" "$1" "no \"$3\" in:"$'\n'"$2"
}

skip() {
    ! tap_left_out "$1" || return 0
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_n"
    exit $((tap_failed > 0))
}
