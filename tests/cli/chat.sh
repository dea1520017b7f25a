#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# chat: with the agent echo, through a server that is started for it, or a given one.
. "$(dirname "$0")/lib.bash"

# Ids of entries and calls are made by the server.
eval "$(declare -f steady | sed '1s/steady/steady_all/')"
steady() { steady_all | sed -E -e 's/\b[0-9a-f]{8}\b/SHORT/g' -e 's/call_[0-9a-f]{24}/CALL/g'; }

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
finish
