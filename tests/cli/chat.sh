#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# chat: with the agent echo, through a server that is started for it, or a given one.
. "$(dirname "$0")/lib.bash"

# Ids of entries and calls are made by the server; a prompt ends with a space.
eval "$(declare -f steady | sed '1s/steady/steady_all/')"
steady() { steady_all | sed -E -e 's/\b[0-9a-f]{8}\b/SHORT/g' -e 's/call_[0-9a-f]{24}/CALL/g' -e 's/ +$//'; }

q new 'Trip to Lisbon' --id trip
t 'chat: one message, and the answer' 0 chat trip 'By train?' <<'END'
By train?
END
t 'chat: both are recorded' 0 log trip --oneline <<'END'
@1  SHORT  user       By train?
@2  SHORT  assistant  By train?
END
IN=$'And at night?\n/undo\n/rewind @2\n/undo\n/redo\n\n  \n/nothing\n' t 'chat: lines, moves and what is no word' 2 chat trip <<'END'
And at night?
ramet: session trip has no move to undo
rewound trip: 2 entries on b2, last is SHORT
undone in trip: 4 entries on b1, last is SHORT
redone in trip: 2 entries on b2, last is SHORT
ramet: '/nothing' is no word of the chat; /help lists them
END
IN=$'/fork @1\nBy bus\n/tree\n' t 'chat: goes on in a fork' 0 chat trip <<'END'
now in the fork UUID
By bus
Trip to Lisbon  trip  2 entries
╰─ ◆ Fork of Trip to Lisbon  SHORT  @1 +2
END
IN=$'//tool weather {"city":"Lisbon"}\n' t 'chat: a tool is shown' 0 chat trip <<'END'
-> weather {"city":"Lisbon"}
<- CALL {"echo":{"city":"Lisbon"}}
weather answered {"echo":{"city":"Lisbon"}}
END
t 'chat: an agent that fails' 1 chat trip '/fail' <<'END'
failed: the echo agent was told to fail
END
t 'chat: an agent that is not there' 2 chat trip --agent nobody 'Hi' <<'END'
ramet: no agent 'nobody' is configured here; GET /agents lists them
END
t 'chat: a session that is not there' 3 chat nope-nope 'Hi' <<'END'
ramet: there is no session 'nope-nope'; 'ramet list' shows them
END
has 'chat: for programs' "$("$RAMET" chat trip --json 'Hi' | tail -1)" '"event":"turn.done"'
has 'chat: /retry makes a version' "$(printf '/retry\n/branches\n' | "$RAMET" chat trip)" 'auto-regenerate'
has 'chat: /help' "$(printf '/help\n' | "$RAMET" chat trip)" '/fork     [ENTRY]   go on in a fork'
IN=$'//permit May I?\nmaybe\nallow\n' t 'chat: a question is asked until the answer is taken' 0 chat trip <<'END'
? May I?
  allow  Allow
  deny  Deny
answer> ramet: 'maybe' is none of the options of this question
answer> You answered: allow
END
IN=$'//ask Who?\n' t 'chat: a question that nobody answers ends the turn' 1 chat trip <<'END'
? Who?
answer>
cancelled
END
IN=$'//plan buy; go\n//think hm\n' t 'chat: plans and thoughts' 0 chat trip <<'END'
* buy: in_progress
* go: pending
hm
END

# On a terminal: type_in waits until the text is shown that is looked for, then types.
typed=$scratch/typed.txt
seen=0
type_in() {
    local n=0
    until tail -c "+$((seen + 1))" "$typed" 2>/dev/null | grep -q -e "$1"; do
        n=$((n + 1))
        [ $n -lt 600 ] || { echo "Bail out! '$1' was not shown: $(cat "$typed")"; exit 1; }
        sleep 0.05
    done
    seen=$(stat -c %s "$typed")
    # shellcheck disable=SC2059
    printf "$2" >&9
}
on_terminal() {
    mkfifo "$scratch/keys"
    script -qefc "stty -echo cols 80 rows 24; '$RAMET' chat plan --color never" "$typed" <"$scratch/keys" >/dev/null &
    exec 9>"$scratch/keys"
    type_in '> $' 'Three days in Lisbon, by train?\n'
    type_in '> $' 'Which hotel?\n'
    type_in '> $' '/rewind @2\n'
    type_in '> $' '/undo\n'
    type_in '> $' '/fork @2\n'
    type_in '> $' 'A hostel, then\n'
    type_in '> $' '//slow 200 one two three four five six seven eight nine ten\n'
    type_in 'two' '\003'
    type_in '> $' '/tree\n'
    type_in '> $' '//ask Sure?\n'
    type_in 'answer> $' 'yes\n'
    type_in '> $' '\003'
    type_in '> $' '\004'
    exec 9>&-
    wait $!
    echo "[$?]"
}
if command -v script >/dev/null; then
    q new 'Plan' --id plan
    code=$(on_terminal)
    is 'chat on a terminal: how it ends' "$code" '[0]'
    is 'chat on a terminal: a task with every move' "$(tr -d '\r' <"$typed" | grep -v '^Script ' | sed 's/\^C//' | steady |
        sed -E 's/two( three)?( four)?( five)?$/two/')" "$(cat <<'END'
plan · the default agent · /help
> Three days in Lisbon, by train?
> Which hotel?
> rewound plan: 2 entries on b6, last is SHORT
> undone in plan: 4 entries on b5, last is SHORT
> now in the fork UUID
> A hostel, then
> one two
cancelled
> Plan  plan  4 entries
╰─ ◆ Fork of Plan  SHORT  @2 +4
> ? Sure?
answer> You answered: yes
>
>
END
)"
else
    skip 'chat on a terminal' 'script is not installed'
fi
finish
