#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fork, rewind, undo, redo, switch.
. "$(dirname "$0")/lib.bash"
plant

t 'fork: at the head' 0 fork trip --id f1 <<'END'
forked trip after @4 into f1: 4 entries on b4, last is e4b
END
t 'fork: after an entry, for programs' 0 fork trip @1 --id f2 --title 'Second' --tag b --tag a --agent gpt --model five \
    --reason 'try another' --type auto-edit --system cron --metadata '{"k": 1}' --private --json <<'END'
{"id":"f2","tree_id":"UUID","title":"Second","owner":"ann","visibility":"private","agent":{"name":"gpt","model":"five"},"tags":["a","b"],"head":{"branch_id":"b5","length":1,"entry_id":"e1","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e1","side":"after","type":"auto-edit","reason":"try another","created_by":{"kind":"system","id":"cron"}},"merged_into":null,"cache_root":"trip","cache_root_shared":1,"running":null,"metadata":{"k": 1},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1,"cut":{"policy":"exact","entry_id":"e1","side":"after","position":1}}
END
t 'fork: before an entry' 0 fork trip e3b --before --id f3 <<'END'
forked trip after @2 into f3: 2 entries on b6, last is e2
END
t 'fork: before the first' 0 fork trip @1 --before --id f4 <<'END'
forked trip with nothing shared, into f4: 0 entries on b7
END
t 'fork: of a branch' 0 fork trip e4 --branch b1 --id f5 <<'END'
forked trip after @4 into f5: 4 entries on b8, last is e4
END
t 'fork: an abandoned entry needs its branch' 3 fork trip e4 <<'END'
ramet: there is no entry 'e4' on this path; 'ramet log' shows them, @N is the N-th
END
t 'fork: quiet prints the id' 0 fork trip -q --id f6 <<'END'
f6
END
t 'fork: a taken id' 5 fork trip --id f6 <<'END'
ramet: the session id f6 is taken
END
t 'fork: --before what?' 2 fork trip --before <<'END'
ramet: --before needs an ENTRY to cut before
END
t 'fork: a new model keeps the agent' 0 fork trip --id f7 --model six --json <<'END'
{"id":"f7","tree_id":"UUID","title":"Fork of Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude","model":"six"},"tags":[],"head":{"branch_id":"b10","length":4,"entry_id":"e4b","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e4b","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":4,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1,"cut":{"policy":"exact","entry_id":"e4b","side":"after","position":4}}
END
t 'fork: ephemeral' 0 fork trip --id f8 --ephemeral 7d -q <<'END'
f8
END

IN='[{"id": "u", "role": "user", "text": "list"}, {"id": "call", "role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "ls", "input": {}}]},
 {"id": "res", "role": "tool", "parts": [{"type": "tool_result", "id": "c", "output": "x"}]}, {"id": "say", "role": "assistant", "text": "x"}]' \
    t 'a tool call and its result' 0 append f4 -q <<'END'
END
t 'fork: exact parts them' 0 fork f4 call --id g1 <<'END'
forked f4 after @2 into g1: 2 entries on b12, last is call
END
t 'fork: snap_before keeps them together' 0 fork f4 call --id g2 --cut snap_before <<'END'
forked f4 after @1 into g2: 1 entry on b13, last is u
END
t 'fork: snap_after keeps them together' 0 fork f4 call --id g3 --cut snap_after --json <<'END'
{"id":"g3","tree_id":"UUID","title":"Fork of Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b14","length":3,"entry_id":"res","prefix_hash":"HASH"},"forked_from":{"session_id":"f4","entry_id":"res","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"f4","cache_root_shared":3,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":2,"cut":{"policy":"snap_after","entry_id":"res","side":"after","position":3}}
END

t 'rewind: to an entry' 0 rewind trip e2 --reason 'ask again' <<'END'
rewound trip: 2 entries on b15, last is e2
END
t 'rewind: for programs' 0 rewind trip @1 --json <<'END'
{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["travel"],"head":{"branch_id":"b16","length":1,"entry_id":"e1","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":1,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0,"cut":{"policy":"exact","entry_id":"e1","side":"after","position":1}}
END
t 'rewind: to nothing' 0 rewind trip @1 --before <<'END'
rewound trip: 0 entries on b17
END
t 'undo' 0 undo trip <<'END'
undone in trip: 1 entry on b16, last is e1
END
t 'undo: again' 0 undo trip <<'END'
undone in trip: 2 entries on b15, last is e2
END
t 'redo' 0 redo trip <<'END'
redone in trip: 1 entry on b16, last is e1
END
t 'undo: for programs' 0 undo trip --json <<'END'
{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["travel"],"head":{"branch_id":"b15","length":2,"entry_id":"e2","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0}
END
t 'undo: all the way' 0 undo trip <<'END'
undone in trip: 4 entries on b3, last is e4b
END
t 'undo: the edit too' 0 undo trip <<'END'
undone in trip: 4 entries on b1, last is e4
END
t 'undo: nothing left' 5 undo trip <<'END'
ramet: session trip has no move to undo
END
t 'redo: brings the edit back' 0 redo trip -q <<'END'
END
t 'rewind: a stale head' 5 rewind trip @1 --expect 0000000000000000000000000000000000000000000000000000000000000000 <<'END'
ramet: the history has 4 entries now and is not the expected one; read it again
END

t 'switch: to a branch' 0 switch trip b1 <<'END'
switched trip: 4 entries on b1, last is e4
END
t 'switch: back' 0 switch trip - <<'END'
switched trip: 4 entries on b3, last is e4b
END
t 'switch: to a version' 0 switch trip --at @3 --pick 1 <<'END'
switched trip: 4 entries on b1, last is e4
END
t 'switch: no such version' 3 switch trip --at @3 --pick 7 <<'END'
ramet: --pick is 7; the message at @3 has 2 versions
END
t 'switch: where to?' 2 switch trip <<'END'
ramet: give a BRANCH, or both --at ENTRY and --pick N
END
t 'switch: a branch of another session' 3 switch trip b2 <<'END'
ramet: session trip has no branch b2
END
t 'switch: that is no branch' 2 switch trip main <<'END'
ramet: 'main' is no branch; one looks like b17, 'ramet branches' shows them
END
t 'switch: never moved' 3 switch coach - <<'END'
ramet: there is no branch before this one: the head was never moved
END
t 'redo: ended by a move' 5 redo trip <<'END'
ramet: session trip has nothing to redo
END
t 'the head log tells it all' 0 moves trip <<'END'
NO  MOVE    HEAD       BY   WHEN  WHY
14  switch  b3 → b1    ann  now
13  switch  b1 → b3    ann  now
12  switch  b3 → b1    ann  now
11  redo    b1 → b3    ann  now
10  undo    b3 → b1    ann  now
 9  undo    b15 → b3   ann  now
 8  undo    b16 → b15  ann  now
 7  redo    b15 → b16  ann  now
 6  undo    b16 → b15  ann  now
 5  undo    b17 → b16  ann  now
 4  rewind  b16 → b17  ann  now
 3  rewind  b15 → b16  ann  now
 2  rewind  b3 → b15   ann  now   ask again
 1  edit    b1 → b3    ann  now
END

t 'rewind: needs an entry' 2 rewind trip <<'END'
ramet: rewind needs the ENTRY to go back to; 'ramet log' shows them
END
t 'rewind: the entry once' 2 rewind trip @1 --at @1 <<'END'
ramet: give the entry once: as ENTRY or with --at
END
t 'fork: with --at' 0 fork trip --at @2 --id at2 <<'END'
forked trip after @2 into at2: 2 entries on b18, last is e2
END
t 'new: the title as an option' 0 new --title 'A title' --id titled <<'END'
new session titled: 0 entries on b19
END
finish
