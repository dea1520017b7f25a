#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Errors are one line and an exit code; colour, pager, pipes and full disks.
. "$(dirname "$0")/lib.bash"

t 'no store yet' 6 list <<'END'
ramet: there is no store at /scratch/test.db; 'ramet new' makes one
END
plant
t 'no command like that' 2 tree-of-life <<'END'
ramet: unknown command 'tree-of-life'; see 'ramet help'
END
t 'did you mean' 2 brunches trip <<'END'
ramet: unknown command 'brunches'; did you mean 'ramet branches'?
END
t 'words of other tools' 2 checkout trip <<'END'
ramet: unknown command 'checkout'; did you mean 'ramet switch'?
END
t 'no option like that' 2 log trip --frobnicate <<'END'
ramet: unknown option '--frobnicate'; see 'ramet log --help'
END
t 'did you mean that option' 2 log trip --onelin <<'END'
ramet: unknown option '--onelin'; did you mean '--oneline'?
END
t 'no letter like that' 2 log trip -z <<'END'
ramet: unknown option '-z'; see 'ramet log --help'
END
t 'an option without its value' 2 log trip --limit <<'END'
ramet: --limit needs a value: --limit N
END
t 'a flag with a value' 2 log trip --oneline=yes <<'END'
ramet: --oneline takes no value; 'yes' was given
END
t 'a number that is none' 2 log trip -n many <<'END'
ramet: --limit is 'many'; it must be a whole number from 1 on
END
t 'a span that is none' 2 new --ephemeral soon <<'END'
ramet: --ephemeral is 'soon'; it must be a span like 90s, 30m, 12h or 7d
END
t 'a choice that is none' 2 append trip --role boss x <<'END'
ramet: --role is 'boss'; it must be one of user|assistant|tool|system
END
t 'a missing argument' 2 fork <<'END'
ramet: SESSION is missing; usage: ramet fork SESSION [ENTRY]
END
t 'one argument too many' 2 undo trip again <<'END'
ramet: unexpected argument 'again'; usage: ramet undo SESSION
END
t 'letters together, values joined' 0 log trip -1n1 --color=never <<'END'
@4  e4b       assistant  There is a night bus, cheaply.
END
t 'what follows -- is no option' 0 append trip --id dash -- --help me <<'END'
added 1 entry to trip: 5 entries on b3, last is dash
END
t 'errors for programs' 3 show nobody --json <<'END'
{"code":"session_not_found","error":"there is no session 'nobody'; 'ramet list' shows them","field":"session"}
END
t 'usage errors for programs' 2 log --json --nope <<'END'
{"code":"invalid_request","error":"unknown option '--nope'; see 'ramet log --help'"}
END
t 'an id with a control character' 2 new --id $'a\nb' <<'END'
ramet: id holds the control character U+000A
END
echo 'not a database, but long enough to look like one. not a database.' >text.db
t 'not a store' 7 list --db text.db <<'END'
ramet: text.db: file is not a database
END
t 'a folder that is not there' 6 new --db none/x.db <<'END'
ramet: none/x.db: unable to open database file
END
q members trip set eve reader
t 'a reader may not write' 4 append trip --user eve x <<'END'
ramet: this needs the level writer in the tree; eve is reader
END
t 'but fork for himself' 0 fork trip --user eve --private --id hers -q <<'END'
hers
END
t 'RAMET_USER is who acts' 3 show hers <<'END'
ramet: there is no session 'hers'; 'ramet list' shows them
END

# ---- streams

if [ -e /dev/full ]; then
    "$RAMET" log trip >/dev/full 2>err
    is 'a full disk is told: exit code' "$?" 6
    is 'a full disk is told: message' "$(cat err)" 'ramet: the output could not be written: No space left on device; nothing else failed'
fi
for i in $(seq 20000); do echo "{\"role\": \"user\", \"text\": \"line $i\"}"; done >long.jsonl
"$RAMET" append coach -q <long.jsonl
is 'a closed pipe ends it quietly' "$("$RAMET" log coach --oneline 2>&1 | head -1)" '    @1  e1        user       How do I get from Porto to Lisbon?'
"$RAMET" log coach --oneline 2>err | head -1 >/dev/null
is 'a closed pipe: by the signal' "${PIPESTATUS[0]} $(cat err)" '141 '
"$RAMET" log coach --json >all.json
is 'a long history, streamed as one JSON value' "$(tr -cd '\n' <all.json | wc -c) $(grep -o '"position":' all.json | wc -l)" '1 20004'

# ---- colour and pager, on a terminal of our own

on_terminal() {
    script -qec "stty cols 80 rows 24; $*" /dev/null </dev/null | tr -d '\r'
}
esc=$'\033'
is 'no colour into a pipe' "$("$RAMET" log trip -n 1 | grep -c "$esc")" 0
is 'colour when asked for' "$("$RAMET" log trip -n 1 --color always | grep -c "$esc")" 3
if command -v script >/dev/null; then
    is 'colour on a terminal' "$(on_terminal "$RAMET" --no-pager tag trip)" "$esc[35m#travel$esc[0m"
    is 'NO_COLOR' "$(NO_COLOR=1 on_terminal "$RAMET" --no-pager tag trip)" '#travel'
    is 'a dumb terminal' "$(TERM=dumb on_terminal "$RAMET" --no-pager tag trip)" '#travel'
    is 'the pager' "$(RAMET_PAGER='sed s/^/paged:/' on_terminal "$RAMET" --color never list -n 1 | grep coach | cut -c1-19)" 'paged:coach  ╰ By'
    is 'RAMET_PAGER goes before PAGER' "$(PAGER=false RAMET_PAGER='sed s/^/p:/' on_terminal "$RAMET" list | head -1 | cut -c1-2)" 'p:'
    is '--no-pager' "$(RAMET_PAGER=false on_terminal "$RAMET" --no-pager -q list -n 1)" 'coach'
    is 'JSON is indented on a terminal' "$(on_terminal "$RAMET" --json tag trip | tr -d '\n')" '{  "tags": [    "travel"  ]}'
    is 'an editor for edit' "$(EDITOR="sed -i s/Lisbon/Faro/" on_terminal "$RAMET" edit trip @1 -q; "$RAMET" show trip @1 --text)" \
        'How do I get from Porto to Faro?'
    has 'an editor that changed nothing' "$(EDITOR=true on_terminal "$RAMET" edit trip @1)" 'the text is the same; nothing was changed'
else
    skip 'on a terminal' 'script is not installed'
fi
finish
