#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# erase: an entry, a session, a tree, a user; what is refused.
. "$(dirname "$0")/lib.bash"
plant

t 'erase: names nothing' 2 erase <<'END'
ramet: name one thing to erase: SESSION, SESSION ENTRY, SESSION --tree, or --user USER
END
t 'erase: names two things' 2 erase trip --user bob <<'END'
ramet: name one thing to erase: SESSION, SESSION ENTRY, SESSION --tree, or --user USER
END
t 'erase: an entry of a tree' 2 erase trip @1 --tree <<'END'
ramet: with --tree no ENTRY is given
END
t 'erase: is not done without an answer' 1 erase trip @1 <<'END'
ramet: nothing was erased; --yes does it without asking
END
t 'erase: no such entry' 3 erase trip e9 --yes <<'END'
ramet: there is no entry 'e9' on this path; 'ramet log' shows them, @N is the N-th
END
is 'erase: a dry run as JSON' "$("$RAMET" erase trip @2 --dry-run --json | grep -o '"dry_run":true,"entries":1,"already":0')" \
    '"dry_run":true,"entries":1,"already":0'
is 'erase: a dry run changes nothing' "$("$RAMET" log trip --json | grep -c '"erased"')" 0
"$RAMET" erase trip @2 --yes -m 'a leak' >"$scratch/receipt" 2>&1
is 'erase: an entry' "$(head -1 "$scratch/receipt")" 'erased 1 entry'
has 'erase: the receipt says what hashes can tell' "$(cat "$scratch/receipt")" 'can confirm the guess by the hash'
is 'log: has a placeholder' "$("$RAMET" log trip --json | grep -o '"text":"\[erased\]"' | head -1)" '"text":"[erased]"'
has 'show: tells who and why' "$("$RAMET" show trip @2)" 'by ann: a leak'
is 'erase: again' "$("$RAMET" erase trip @2 --yes | head -1)" 'erased 0 entries; 1 was erased before'
has 'fsck: knows it' "$("$RAMET" fsck)" "1 entry was erased: 'ramet show' tells by whom, when and why"
"$RAMET" erase trip --list >"$scratch/list"
is 'erase: what was erased' "$(awk '{ print $1, $2 }' "$scratch/list")" "$(printf 'ENTRIES BY\n1 ann')"
has 'erase: why it was erased' "$(cat "$scratch/list")" 'a leak'
is 'erase: what was erased, as JSON' "$("$RAMET" erase trip --list --json | grep -o '"by":"ann","reason":"a leak","entries":1')" \
    '"by":"ann","reason":"a leak","entries":1'
t 'erase: a list of two things' 2 erase trip @2 --list <<'END'
ramet: with --list give one SESSION, and nothing else
END
is 'erase: a session' "$("$RAMET" erase trip --yes | head -1 | grep -c '^erased [0-9]* entr')" 1
is 'erase: a tree' "$("$RAMET" erase trip --tree --yes | head -1 | grep -c '^erased [0-9]* entr')" 1
is 'erase: a tree by its id' "$("$RAMET" erase "$("$RAMET" show trip --json | sed 's/.*"tree_id":"\([^"]*\)".*/\1/')" --tree --yes | head -1)" \
    "$("$RAMET" erase trip --tree --yes | head -1)"
is 'erase: a user' "$("$RAMET" erase --user ann --yes | head -1 | grep -c '^erased [0-9]* entr')" 1
is 'erase: the user is gone' "$("$RAMET" list --all-users --json 2>&1 | grep -c '"ann"')" 0
finish
