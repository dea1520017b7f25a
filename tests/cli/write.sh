#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# new, append, edit, regenerate, sync.
. "$(dirname "$0")/lib.bash"

t 'new: with everything' 0 new 'Trip to Lisbon' --id trip --agent claude --provider anthropic --model opus \
    --folder /srv --agent-options '{"t": 0.10}' --tag Travel -t ' work ' --metadata '{"n": 1.0}' <<'END'
new session trip: 0 entries on b1
END
t 'new: the JSON of a session, numbers as they were given' 0 --json show trip <<'END'
{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude","provider":"anthropic","model":"opus","folder":"/srv","options":{"t": 0.10}},"tags":["travel","work"],"head":{"branch_id":"b1","length":0,"entry_id":null,"prefix_hash":"0000000000000000000000000000000000000000000000000000000000000000"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":0,"running":null,"metadata":{"n": 1.0},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","level":"owner","depth":0}
END
t 'new: quiet prints the id alone' 0 new --id two -q <<'END'
two
END
t 'new: a taken id' 5 new --id trip <<'END'
ramet: the session id trip is taken
END
t 'new: ephemeral and private' 0 new --id gone --ephemeral 1h --private --json <<'END'
{"id":"gone","tree_id":"UUID","title":"","owner":"ann","visibility":"private","agent":null,"tags":[],"head":{"branch_id":"b3","length":0,"entry_id":null,"prefix_hash":"0000000000000000000000000000000000000000000000000000000000000000"},"forked_from":null,"merged_into":null,"cache_root":"gone","cache_root_shared":0,"running":null,"metadata":{},"archived":false,"expires_at":"TIME","created_at":"TIME","updated_at":"TIME","depth":0}
END
t 'new: metadata must be an object' 2 new --metadata '[1]' <<'END'
ramet: --metadata is '[1]'; it must be a JSON object like '{"key": 1}'
END

t 'append: words' 0 append trip --id e1 How do I get to Lisbon? <<'END'
added 1 entry to trip: 1 entry on b1, last is e1
END
IN=$'By train.\nIt takes three hours.\n' t 'append: a message from standard input' 0 append trip --id e2 -r assistant <<'END'
added 1 entry to trip: 2 entries on b1, last is e2
END
IN='piped' t 'append: - reads standard input' 0 append trip - --id e3 --turn t1 --channel side --author bob <<'END'
added 1 entry to trip: 3 entries on b1, last is e3
END
t 'append: the entry as JSON' 0 show trip e3 --json <<'END'
{"id":"e3","position":2,"branch_id":"b1","role":"user","text":"piped","parts":[{"type":"text","text":"piped"}],"format":"ramet","body":[{"type":"text","text":"piped"}],"turn_id":"t1","channel":"side","author":"bob","client":"ramet-cli","usage":null,"state_delta":null,"versions":{"number":1,"count":1},"prefix_hash":"HASH","created_at":"TIME"}
END
IN='{"id": "e4", "role": "assistant", "format": "openai", "body": {"n": 1.0, "s":  "x"}, "text": "Bus."}' \
    t 'append: one JSON entry' 0 append trip <<'END'
added 1 entry to trip: 4 entries on b1, last is e4
END
t 'append: its body is kept byte for byte' 0 show trip e4 --body <<'END'
{"n": 1.0, "s":  "x"}
END
IN='[{"id": "e5", "role": "user", "text": "a"},
 {"id": "e6", "role": "tool", "parts": [{"type": "tool_result", "id": "c", "output": {"ok": true}}],
  "state_delta": {"k": [1]}, "usage": {"input": 3, "output": 4, "cached": 1, "cost": 0.000000001, "currency": "EUR"}}]' \
    t 'append: a JSON array, answered as JSON' 0 append trip --json <<'END'
{"entries":[{"id":"e5","position":4,"branch_id":"b1","role":"user","text":"a","parts":[{"type":"text","text":"a"}],"format":"ramet","body":[{"type":"text","text":"a"}],"turn_id":null,"channel":"history","author":"ann","client":"ramet-cli","usage":null,"state_delta":null,"prefix_hash":"HASH","created_at":"TIME"},{"id":"e6","position":5,"branch_id":"b1","role":"tool","text":"","parts":[{"type": "tool_result", "id": "c", "output": {"ok": true}}],"format":"ramet","body":[{"type": "tool_result", "id": "c", "output": {"ok": true}}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":{"input":3,"output":4,"cached":1,"cost":0.000000001,"currency":"EUR"},"state_delta":{"k": [1]},"prefix_hash":"HASH","created_at":"TIME"}],"head":{"branch_id":"b1","length":6,"entry_id":"e6","prefix_hash":"HASH"}}
END
IN=$'{"id": "e7", "role": "user", "text": "one"}\n\n{"id": "e8", "role": "user", "text": "two"}\n' \
    t 'append: JSONL' 0 append trip <<'END'
added 2 entries to trip: 8 entries on b1, last is e8
END
IN=$'{"id": "e8", "role": "user", "text": "two"}\n{"id": "e9", "role": "user", "text": "three"}\n' \
    t 'append: what is there already is not added again' 0 append trip <<'END'
added 1 entry to trip: 9 entries on b1, last is e9 (1 there already)
END
t 'append: the same id with other content' 5 append trip --id e1 'Something else' <<'END'
ramet: entry e1 is in the history already, with other content
END
IN='[note] to self' t 'append: brackets do not make JSON' 0 append trip -q <<'END'
END
IN='{"role": "user"' t 'append: broken JSON is not taken as text' 2 append trip <<'END'
ramet: the input is not valid JSON: the text ends where ',' or '}' is wanted at byte 15; --format text takes it as it is
END
IN='{"role": "user"' t 'append: unless asked to' 0 append trip --format text --id e11 <<'END'
added 1 entry to trip: 11 entries on b1, last is e11
END
IN=$'{"role": "user", "text": "ok"}\n{"rol": "user"}\n' t 'append: an unknown key is named, with its line' 2 append trip <<'END'
ramet: line 2: unknown key "rol"; known are id, role, text, parts, format, body, turn_id, channel, author, usage, state_delta
END
IN='{"role": "boss", "text": "x"}' t 'append: an unknown role' 2 append trip <<'END'
ramet: line 1: "role" is "boss"; it is one of user, assistant, tool, system
END
IN='{"role": "user", "text": "x", "text": "y"}' t 'append: a key twice' 2 append trip <<'END'
ramet: the input is not valid JSON: duplicate key at byte 30; --format text takes it as it is
END
IN='{"role": "user", "text": "a\u0000b"}' t 'append: U+0000' 2 append trip <<'END'
ramet: line 1: "text" holds U+0000, which text may not
END
IN='' t 'append: nothing' 2 append trip <<'END'
ramet: the message is empty; give it as words or on standard input
END
t 'append: --usage is checked' 2 append trip --usage '{"input": -1}' x <<'END'
ramet: "input" must be a whole number that is not negative
END
IN='{"role": "user"}' t 'append: --id does not go with JSON' 2 append trip --id x <<'END'
ramet: --id goes with a plain message; write it into the JSON entry instead
END
t 'append: the right head' 0 append two --expect 0000000000000000000000000000000000000000000000000000000000000000 --id a first <<'END'
added 1 entry to two: 1 entry on b2, last is a
END
t 'append: a stale head' 5 append two --expect 0000000000000000000000000000000000000000000000000000000000000000 --id b second <<'END'
ramet: the history has 1 entry now and is not the expected one; read it again
END
t 'append: a stale head for programs' 5 append two --json --expect 0000000000000000000000000000000000000000000000000000000000000000 x <<'END'
{"code":"head_moved","error":"the history has 1 entry now and is not the expected one; read it again","field":"expected_head","head":{"branch_id":"b2","length":1,"entry_id":"a","prefix_hash":"HASH"}}
END

for i in $(seq 2500); do echo "{\"id\": \"n$i\", \"role\": \"user\", \"text\": \"number $i\"}"; done >many.jsonl
IN=@many.jsonl t 'append: 2,500 lines, in batches' 0 append two <<'END'
added 2,500 entries to two: 2,501 entries on b2, last is n2500
END
sed -e '2200s/user/boss/' -e 's/"id": "n/"id": "m/' many.jsonl >wrong.jsonl
IN=@wrong.jsonl t 'append: an error in a later batch' 2 append two <<'END'
ramet: line 2200: "role" is "boss"; it is one of user, assistant, tool, system; the first 2,000 entries were added
END
t 'append: the batches before it are there' 0 log two -n 1 --oneline <<'END'
@4501  m2000     user       number 2000
END
echo "[$(head -1001 many.jsonl | sed 's/"id": "n/"id": "k/' | paste -sd,)]" >array.json
IN=@array.json t 'append: an array is one batch' 2 append two <<'END'
ramet: the array holds more than 1000 entries; send them as JSONL
END

t 'edit: a new version' 0 edit trip e2 'By bus.' --id e2b <<'END'
new version in trip: 2 entries on b4; 'ramet undo' goes back
END
t 'edit: keeps the role' 0 show trip @2 --json <<'END'
{"id":"e2b","position":1,"branch_id":"b4","role":"assistant","text":"By bus.","parts":[{"type":"text","text":"By bus."}],"format":"ramet","body":[{"type":"text","text":"By bus."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":null,"state_delta":null,"versions":{"number":2,"count":2},"prefix_hash":"HASH","created_at":"TIME"}
END
IN='By car.' t 'edit: from standard input, for programs' 0 edit trip @-1 --id e2c --json <<'END'
{"entries":[{"id":"e2c","position":1,"branch_id":"b5","role":"assistant","text":"By car.","parts":[{"type":"text","text":"By car."}],"format":"ramet","body":[{"type":"text","text":"By car."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":null,"state_delta":null,"prefix_hash":"HASH","created_at":"TIME"}],"head":{"branch_id":"b5","length":2,"entry_id":"e2c","prefix_hash":"HASH"}}
END
t 'edit: not there' 3 edit trip e9 x <<'END'
ramet: there is no entry 'e9' on this path; 'ramet log' shows them, @N is the N-th
END
t 'regenerate: ready for an answer' 0 regenerate trip @-1 <<'END'
ready for a new answer in trip: 1 entry on b6; 'ramet undo' goes back
END
t 'regenerate: an entry that is not on the path' 3 regenerate trip e2 <<'END'
ramet: there is no entry 'e2' on this path; 'ramet log' shows them, @N is the N-th
END
q append trip --id e2d -r assistant 'On foot.'
t 'regenerate: with the answer' 0 regenerate trip e2d --id e2e By plane. <<'END'
new answer in trip: 2 entries on b7; 'ramet undo' goes back
END
IN='[{"role": "assistant", "text": "one", "id": "x1"}, {"role": "user", "text": "two", "id": "x2"}]' \
    t 'regenerate: several entries from standard input' 0 regenerate trip e2e - <<'END'
new answer in trip: 3 entries on b8; 'ramet undo' goes back
END
t 'versions of it all' 0 branches trip --at @2 <<'END'
   BRANCH  VERSION  ENTRY  TYPE             MADE  TEXT
   b1          1/6  e2     explicit         now   By train.
   b4          2/6  e2b    auto-edit        now   By bus.
   b5          3/6  e2c    auto-edit        now   By car.
   b6          4/6  e2d    auto-regenerate  now   On foot.
   b7          5/6  e2e    auto-regenerate  now   By plane.
*  b8          6/6  x1     auto-regenerate  now   one
END

q new --id s
IN='[{"id": "1", "role": "user", "text": "a"}, {"id": "2", "role": "assistant", "text": "b"}]' t 'sync: into an empty session' 0 sync s <<'END'
synced s: 0 matched, 2 added, the head is still b9
END
IN='[{"id": "1", "role": "user", "text": "a"}, {"id": "3", "role": "assistant", "text": "c"}]' t 'sync: a difference branches' 0 sync s <<'END'
synced s: 1 matched, 1 added, the head moved to b10
END
echo '[{"role": "user", "text": "a"}]' >list.json
t 'sync: a prefix rewinds, from a file' 0 sync s list.json --json <<'END'
{"id":"s","tree_id":"UUID","title":"a","owner":"ann","visibility":"tree","agent":null,"tags":[],"head":{"branch_id":"b11","length":1,"entry_id":"1","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"s","cache_root_shared":1,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0}
END
t 'sync: no such file' 2 sync s none.json <<'END'
ramet: none.json cannot be read: No such file or directory
END
IN='hello' t 'sync: text is no list' 2 sync s <<'END'
ramet: the input is neither a JSON array nor JSONL
END

finish
