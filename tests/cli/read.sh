#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# list, log, show, branches, moves, record, state, usage, and the ways to name things.
. "$(dirname "$0")/lib.bash"
q new --id empty
t 'log: an empty session' 0 log empty <<'END'
(untitled)
empty · 0 entries on b1

no entries yet; 'ramet append empty TEXT' adds one
END
t 'list: one session' 0 list <<'END'
ID     TITLE       ENTRIES  AGENT  UPDATED  TAGS
empty  (untitled)        0         now
END
plant

t 'log: a history, oldest first' 0 log trip <<'END'
Trip to Lisbon
trip · claude · 4 entries on b4 · #travel

@1 user  ann · now · e1
    How do I get from Porto to Lisbon?

@2 assistant  now · e2 · 12 in, 9 out, 0.0012 USD
    By train: it takes three hours.

@3 user  ann · now · e3b · version 2/2
    And at night, cheaply?

@4 assistant  now · e4b
    There is a night bus, cheaply.
END
t 'log: one line an entry' 0 log trip --oneline <<'END'
@1  e1        user       How do I get from Porto to Lisbon?
@2  e2        assistant  By train: it takes three hours.
@3  e3b       user       (2/2) And at night, cheaply?
@4  e4b       assistant  There is a night bus, cheaply.
END
t 'log: the last two' 0 log trip -1 -n 2 <<'END'
@3  e3b       user       (2/2) And at night, cheaply?
@4  e4b       assistant  There is a night bus, cheaply.
END
t 'log: newest first' 0 log trip --oneline --reverse -n3 <<'END'
@4  e4b       assistant  There is a night bus, cheaply.
@3  e3b       user       (2/2) And at night, cheaply?
@2  e2        assistant  By train: it takes three hours.
END
t 'log: another branch' 0 log trip --oneline --branch b2 <<'END'
@1  e1        user       How do I get from Porto to Lisbon?
@2  e2        assistant  By train: it takes three hours.
@3  e3        user       (1/2) And at night?
@4  e4        assistant  There is no night train any more.
END
t 'log: for programs' 0 log coach --json -n 1 <<'END'
{"entries":[{"id":"c4","position":3,"branch_id":"b3","role":"assistant","text":"There is a night bus.","parts":[{"type":"text","text":"There is a night bus."}],"format":"ramet","body":[{"type":"text","text":"There is a night bus."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":null,"state_delta":null,"versions":{"number":1,"count":1},"prefix_hash":"HASH","created_at":"TIME"}],"head":{"branch_id":"b3","length":4,"entry_id":"c4","prefix_hash":"HASH"},"more_before":true,"more_after":false}
END
t 'log: no such branch' 3 log trip --branch b99 <<'END'
ramet: session trip has no branch b99
END
t 'log: that is no branch' 2 log trip --branch 7 <<'END'
ramet: --branch is '7'; a branch looks like b17, 'ramet branches' shows them
END
q append trip --channel side --id x5 'beside'
t 'log: one channel' 0 log trip --channel side --oneline <<'END'
@5  x5        user       beside
END
t 'log: the last of a channel' 0 log trip --channel history --oneline -n 1 <<'END'
@4  e4b       assistant  There is a night bus, cheaply.
END
IN='[{"id": "p1", "role": "assistant", "parts": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "First.\n\nSecond."},
 {"type": "tool_call", "id": "c1", "name": "ls", "input": {"dir": "/"}}, {"type": "file", "url": "http://x/y.png", "name": "y.png"}, {"type": "data", "data": [1, 2]}]},
 {"id": "p2", "role": "tool", "parts": [{"type": "tool_result", "id": "c1", "output": "bin\netc", "is_error": true}]}]' \
    t 'append: every kind of part' 0 append empty <<'END'
added 2 entries to empty: 2 entries on b1, last is p2
END
t 'log: every kind of part' 0 log empty <<'END'
(untitled)
empty · 2 entries on b1

@1 assistant  now · p1
    hm
    First.

    Second.
    ⚙ ls {"dir": "/"}
    [file y.png]
    [1, 2]

@2 tool  now · p2
    ↳ failed: bin
    etc
END
COLUMNS=30 t 'log: wrapped to the width' 0 log trip -n 4 <<'END'
Trip to Lisbon
trip · claude · 5 entries on b4 · #travel

@2 assistant  now · e2 · 12 in, 9 out, 0.0012 USD
    By train: it takes three
    hours.

@3 user  ann · now · e3b · version 2/2
    And at night, cheaply?

@4 assistant  now · e4b
    There is a night bus,
    cheaply.

@5 user  ann · now · x5 · channel side
    beside
END
printf 'red \033[31m and \xe2\x80\xae back\n' | "$RAMET" append empty -q --id p3
t 'log: nobody can play with the terminal' 0 log empty -n 1 <<'END'
red ^[[31m and <U+202E> back
empty · 3 entries on b1

@3 user  ann · now · p3
    red ^[[31m and <U+202E> back
END
t 'show: the bytes as they are, to a program' 0 show empty p3 --json <<'END'
{"id":"p3","position":2,"branch_id":"b1","role":"user","text":"red \u001b[31m and ‮ back","parts":[{"type":"text","text":"red \u001b[31m and ‮ back"}],"format":"ramet","body":[{"type":"text","text":"red \u001b[31m and ‮ back"}],"turn_id":null,"channel":"history","author":"ann","client":"ramet-cli","usage":null,"state_delta":null,"versions":{"number":1,"count":1},"prefix_hash":"HASH","created_at":"TIME"}
END

t 'list: newest first' 0 list <<'END'
ID     TITLE                         ENTRIES  AGENT   UPDATED  TAGS
coach  ╰ By bus                            4  claude  now      #cheap
trip   Trip to Lisbon                      5  claude  now      #travel
empty  red ^[[31m and <U+202E> back        3          now
END
t 'list: ids alone' 0 list -q <<'END'
coach
trip
empty
END
t 'list: by tag, title and agent' 0 list --tag TRAVEL --title lisbon --agent claude <<'END'
ID    TITLE           ENTRIES  AGENT   UPDATED  TAGS
trip  Trip to Lisbon        5  claude  now      #travel
END
t 'list: of a tree' 0 list --tree coach -q <<'END'
coach
trip
END
t 'list: a page' 0 list -n 1 <<'END'
ID     TITLE     ENTRIES  AGENT   UPDATED  TAGS
coach  ╰ By bus        4  claude  now      #cheap
there are more; --all shows them, -n N the first N
END
COLUMNS=50 t 'list: fits the width' 0 list <<'END'
ID     TITLE         ENTRIES  AGENT   UPDATED  TAGS
coach  ╰ By bus            4  claude  now      #cheap
trip   Trip to Lis…        5  claude  now      #travel
empty  red ^[[31m…         3          now
END
cursor=$("$RAMET" list --json -n 2 | sed 's/.*"next_cursor":"\([^"]*\)".*/\1/')
t 'list: the next page' 0 list -q --cursor "$cursor" <<'END'
empty
END
t 'list: a cursor from elsewhere' 2 list --cursor x <<'END'
ramet: the cursor was not made by this list
END

t 'show: a session' 0 show coach <<'END'
By bus
id         coach
tree       UUID
owner      ann
agent      claude
tags       #cheap
head       4 entries on b3, last is c4
hash       HASH
fork of    trip, after entry e2
reason     the train is dear
made by    ann
cache      shares 2 entries with trip
created    TIME
updated    TIME
END
t 'show: an entry' 0 show trip e2 <<'END'
@2 assistant
id         e2
branch     b2
client     ramet-cli
channel    history
format     ramet
usage      12 in, 9 out, 0.0012 USD
hash       HASH
created    TIME

By train: it takes three hours.
END
t 'show: its text alone' 0 show trip e2 --text <<'END'
By train: it takes three hours.
END
t 'show: an entry of another branch' 0 show trip e3 --branch b2 --text <<'END'
And at night?
END
t 'show: its ancestry' 0 show coach --ancestry <<'END'
ID     TITLE           ENTRIES  AGENT   UPDATED  TAGS
trip   Trip to Lisbon        5  claude  now      #travel
coach  ╰ By bus              4  claude  now      #cheap
END
t 'show: its forks, for programs' 0 show trip --children --json <<'END'
{"sessions":[{"id":"coach","tree_id":"UUID","title":"By bus","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["cheap"],"head":{"branch_id":"b3","length":4,"entry_id":"c4","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e2","side":"after","type":"explicit","reason":"the train is dear","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1}]}
END

t 'branches' 0 branches trip <<'END'
   BRANCH  LEAVES  ENTRIES  TYPE       MADE  BEGINS WITH
   b2       start        4  explicit   now   How do I get from Porto to Lisbon?
*  b4          @2        5  auto-edit  now   And at night, cheaply?
END
t 'branches: for programs' 0 branches coach --json <<'END'
{"branches":[{"branch_id":"b3","parent_id":"b2","base":2,"length":4,"entry_id":"c4","type":"explicit","current":true,"created_at":"TIME","preview":"And by bus?"}]}
END
t 'branches: versions of a message' 0 branches trip --at @3 <<'END'
   BRANCH  VERSION  ENTRY  TYPE       MADE  TEXT
   b2          1/2  e3     explicit   now   And at night?
*  b4          2/2  e3b    auto-edit  now   And at night, cheaply?
END
t 'branches: versions for programs' 0 branches trip --at e3b --json <<'END'
{"branches":[{"branch_id":"b2","entry_id":"e3","number":1,"type":"explicit","current":false,"created_at":"TIME","preview":"And at night?"},{"branch_id":"b4","entry_id":"e3b","number":2,"type":"auto-edit","current":true,"created_at":"TIME","preview":"And at night, cheaply?"}]}
END
t 'moves' 0 moves trip <<'END'
NO  MOVE  HEAD     BY   WHEN  WHY
 1  edit  b2 → b4  ann  now
END
t 'moves: for programs' 0 moves trip --json <<'END'
{"moves":[{"number":1,"kind":"edit","from":"b2","to":"b4","from_length":4,"to_length":5,"by":"ann","reason":"","created_at":"TIME"}],"more":false}
END
t 'moves: none' 0 moves coach <<'END'
the head of this session was never moved
END
t 'record: all that was ever appended' 0 record trip --oneline <<'END'
@1  e1        user       How do I get from Porto to Lisbon?
@2  e2        assistant  By train: it takes three hours.
@3  e3        user       And at night?
@4  e4        assistant  There is no night train any more.
@3  e3b       user       And at night, cheaply?
@4  e4b       assistant  There is a night bus, cheaply.
@5  x5        user       beside
END
t 'record: a part of it, for programs' 0 record coach --from 2 --json <<'END'
{"entries":[{"id":"c4","position":3,"branch_id":"b3","role":"assistant","text":"There is a night bus.","parts":[{"type":"text","text":"There is a night bus."}],"format":"ramet","body":[{"type":"text","text":"There is a night bus."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":null,"state_delta":null,"prefix_hash":"HASH","created_at":"TIME"}],"total":2}
END
t 'usage' 0 usage coach <<'END'
      ENTRIES  INPUT  OUTPUT  CACHED        COST
own         0      0       0       0
path        1     12       9       0  0.0012 USD
tree        1     12       9       0  0.0012 USD
END
t 'usage: for programs' 0 usage trip --json <<'END'
{"own":{"entries":1,"input":12,"output":9,"cached":0,"cost":0.0012,"currency":"USD","costs":[{"cost":0.0012,"currency":"USD"}]},"path":{"entries":1,"input":12,"output":9,"cached":0,"cost":0.0012,"currency":"USD","costs":[{"cost":0.0012,"currency":"USD"}]},"tree":{"entries":1,"input":12,"output":9,"cached":0,"cost":0.0012,"currency":"USD","costs":[{"cost":0.0012,"currency":"USD"}]}}
END

q append coach --id s1 --state '{"city": "Porto", "n": 1.50}' x
q append coach --id s2 --state '{"city": null, "list": [1, 2]}' y
t 'state: now' 0 state coach <<'END'
list  [1, 2]
n     1.50
END
t 'state: at an entry' 0 state coach --at s1 <<'END'
city  "Porto"
n     1.50
END
t 'state: for programs' 0 state coach --json <<'END'
{"state":{"list":[1, 2],"n":1.50}}
END
t 'state: none' 0 state trip <<'END'
the state is empty
END

q new First --id 01890000-0000-7000-8000-0000aaaa1111
q new Second --id 01890000-0000-7000-8000-0000bbbb1111
t 'names: the end of an id is shown' 0 list -n 2 <<'END'
ID        TITLE   ENTRIES  AGENT  UPDATED  TAGS
bbbb1111  Second        0         now
aaaa1111  First         0         now
there are more; --all shows them, -n N the first N
END
t 'names: and taken' 0 show bbbb1111 --json <<'END'
{"id":"UUID","tree_id":"UUID","title":"Second","owner":"ann","visibility":"tree","agent":null,"tags":[],"head":{"branch_id":"b6","length":0,"entry_id":null,"prefix_hash":"0000000000000000000000000000000000000000000000000000000000000000"},"forked_from":null,"merged_into":null,"cache_root":"UUID","cache_root_shared":0,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","level":"owner","depth":0}
END
t 'names: ambiguous' 3 show 0189 <<'END'
ramet: '0189' fits 2 sessions: UUID, UUID; give more of the id
END
t 'names: too short' 3 show 018 <<'END'
ramet: there is no session '018'; 'ramet list' shows them, and a part of an id needs 4 characters
END
t 'names: the newest, and the one before' 0 show @2 <<'END'
First
id         UUID
tree       UUID
owner      ann
head       0 entries on b5
created    TIME
updated    TIME
END
t 'names: not that many' 3 show @99 <<'END'
ramet: there is no session '@99': the store holds 5 that you may see; 'ramet new' makes one
END
t 'names: entries from the front and from the end' 0 show trip @-2 --text <<'END'
There is a night bus, cheaply.
END
t 'names: not that many entries' 3 show trip @9 <<'END'
ramet: there is no entry @9: the path has 5 entries
END
t 'names: others see nothing' 3 show trip --user bob <<'END'
ramet: there is no session 'trip'; 'ramet list' shows them
END

finish
