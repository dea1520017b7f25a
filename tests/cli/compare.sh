#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# diff, verdict, search.
. "$(dirname "$0")/lib.bash"
plant

t 'diff: one under the other' 0 diff trip coach <<'END'
A  Trip to Lisbon  trip@b3   claude  2 own    now
B  By bus          coach@b2  claude  2 own    now
2 entries shared

A @3 user
    And at night, cheaply?

B @3 user
    And by bus?

A @4 assistant  B @4 assistant
    There is a night bus[-, cheaply-].
END
COLUMNS=98 t 'diff: still narrow' 0 diff trip coach <<'END'
A  Trip to Lisbon  trip@b3   claude  2 own    now
B  By bus          coach@b2  claude  2 own    now
2 entries shared

A @3 user
    And at night, cheaply?

B @3 user
    And by bus?

A @4 assistant  B @4 assistant
    There is a night bus[-, cheaply-].
END
COLUMNS=99 t 'diff: side by side' 0 diff trip coach <<'END'
A  Trip to Lisbon  trip@b3   claude  2 own    now
B  By bus          coach@b2  claude  2 own    now
2 entries shared

A @3 user                                        │ B @3 user
And at night, cheaply?                           │ And by bus?
                                                 │
A @4 assistant                                   │ B @4 assistant
There is a night bus[-, cheaply-].               │ There is a night bus.
END
COLUMNS=100 t 'diff: in colour' 0 diff trip trip@b1 --color always <<'END'
[31mA[0m  [1mTrip to Lisbon[0m  [33mtrip@b3[0m  claude  2 own    [2mnow[0m
[32mB[0m  [1mTrip to Lisbon[0m  [33mtrip@b1[0m  claude  2 own    [2mnow[0m
[2m2 entries shared[0m

[31mA[0m [33m@3[0m [1;36muser[0m                                        [2m│[0m [32mB[0m [33m@3[0m [1;36muser[0m
And at night[31m, cheaply[0m?                           [2m│[0m And at night?
                                                 [2m│[0m
[31mA[0m [33m@4[0m [1;34massistant[0m                                   [2m│[0m [32mB[0m [33m@4[0m [1;34massistant[0m
There is [31ma[0m night [31mbus, cheaply[0m.                   [2m│[0m There is [32mno[0m night [32mtrain any more[0m.
END
t 'diff: a branch of the same session' 0 diff trip trip@b1 <<'END'
A  Trip to Lisbon  trip@b3  claude  2 own    now
B  Trip to Lisbon  trip@b1  claude  2 own    now
2 entries shared

A @3 user  B @3 user
    And at night[-, cheaply-]?

A @4 assistant  B @4 assistant
    There is [-a-]{+no+} night [-bus, cheaply-]{+train any more+}.
END
t 'diff: only the summary' 0 diff coach trip --stat <<'END'
A  By bus          coach@b2  claude  2 own    now
B  Trip to Lisbon  trip@b3   claude  2 own    now
2 entries shared
END
t 'diff: the same' 0 diff trip trip <<'END'
A  Trip to Lisbon  trip@b3  claude  0 own
B  Trip to Lisbon  trip@b3  claude  0 own
4 entries each: the histories are the same
END
q fork trip e3b --id third --title Third
q append third --id h4 -r assistant --usage '{"input": 1000, "output": 20}' 'There is a night bus, and it is cheap.'
COLUMNS=150 t 'diff: three beside each other' 0 diff trip coach third <<'END'
A  Trip to Lisbon  trip@b3   claude  2 own                    now
B  By bus          coach@b2  claude  2 own                    now
C  Third           third@b4  claude  2 own  1,000 in, 20 out  now
2 entries shared

A @3 user                                        │ B @3 user                                        │ C @3 user
And at night, cheaply?                           │ And by bus?                                      │ And at night, cheaply?
                                                 │                                                  │
A @4 assistant                                   │ B @4 assistant                                   │ C @4 assistant
There is a night bus, cheaply.                   │ There is a night bus.                            │ There is a night bus, {+and it is cheap+}.
END
t 'diff: three below each other' 0 diff trip third coach <<'END'
A  Trip to Lisbon  trip@b3   claude  2 own                    now
B  Third           third@b4  claude  2 own  1,000 in, 20 out  now
C  By bus          coach@b2  claude  2 own                    now
2 entries shared

A @3 user
    And at night, cheaply?

B @3 user
    And at night, cheaply?

C @3 user
    And by bus?

A @4 assistant
    There is a night bus, cheaply.

B @4 assistant
    There is a night bus, {+and it is cheap+}.

C @4 assistant
    There is a night bus.
END
t 'diff: not all of it' 0 diff trip coach -n 1 <<'END'
A  Trip to Lisbon  trip@b3   claude  2 own    now
B  By bus          coach@b2  claude  2 own    now
2 entries shared

A @3 user
    And at night, cheaply?

B @3 user
    And by bus?

A: 1 entry more; -n N shows the first N
B: 1 entry more; -n N shows the first N
END
t 'diff: for programs' 0 diff third trip --json -n 1 <<'END'
{"shared":3,"sides":[{"session_id":"third","branch_id":"b4","title":"Third","agent":{"name":"claude"},"head":{"branch_id":"b4","length":4,"entry_id":"h4","prefix_hash":"HASH"},"own":1,"first_at":"TIME","last_at":"TIME","usage":{"entries":1,"input":1000,"output":20,"cached":0,"cost":0,"currency":"","costs":[]},"entries":[{"id":"h4","position":3,"branch_id":"b4","role":"assistant","text":"There is a night bus, and it is cheap.","parts":[{"type":"text","text":"There is a night bus, and it is cheap."}],"format":"ramet","body":[{"type":"text","text":"There is a night bus, and it is cheap."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":{"input":1000,"output":20,"cached":0,"cost":0,"currency":""},"state_delta":null,"prefix_hash":"HASH","created_at":"TIME"}]},{"session_id":"trip","branch_id":"b3","title":"Trip to Lisbon","agent":{"name":"claude"},"head":{"branch_id":"b3","length":4,"entry_id":"e4b","prefix_hash":"HASH"},"own":1,"first_at":"TIME","last_at":"TIME","usage":{"entries":0,"input":0,"output":0,"cached":0,"cost":0,"currency":"","costs":[]},"entries":[{"id":"e4b","position":3,"branch_id":"b3","role":"assistant","text":"There is a night bus, cheaply.","parts":[{"type":"text","text":"There is a night bus, cheaply."}],"format":"ramet","body":[{"type":"text","text":"There is a night bus, cheaply."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":null,"state_delta":null,"prefix_hash":"HASH","created_at":"TIME"}]}],"turns":[[[0,1],[0,1]]]}
END
home 'diff: no such branch' 3 diff trip trip@b99 <<'END'
ramet: session trip has no branch b99
END
t 'diff: one side is none' 2 diff trip <<'END'
ramet: SIDE is missing; usage: ramet diff SIDE SIDE [SIDE...]
END

t 'verdict: none yet' 0 verdict <<'END'
no verdicts yet
END
t 'verdict: the second was better' 0 verdict trip coach --winner 2 --reason 'it is cheaper' <<'END'
1  trip@b3 ✓ coach@b2  ann, now
    it is cheaper
END
t 'verdict: a tie, for programs' 0 verdict trip trip@b1 --winner tie --json <<'END'
{"number":2,"sides":[{"session_id":"trip","branch_id":"b3"},{"session_id":"trip","branch_id":"b1"}],"winner":null,"reason":"","by":"ann","created_at":"TIME"}
END
t 'verdict: the list of a session' 0 verdict coach <<'END'
1  trip@b3 ✓ coach@b2  ann, now
    it is cheaper
END
t 'verdict: all of them' 0 verdict <<'END'
2  trip@b3 trip@b1  a tie  ann, now
1  trip@b3 ✓ coach@b2  ann, now
    it is cheaper
END
t 'verdict: who won?' 2 verdict trip coach <<'END'
ramet: --winner is missing: the number of the better side, or tie
END
t 'verdict: there is no third' 2 verdict trip coach -w 3 <<'END'
ramet: --winner is '3'; it must be a side from 1 to 2, or tie
END

t 'search: abandoned branches are found and marked' 0 search train <<'END'
Trip to Lisbon  trip  @2 assistant  now
    By *train*: it takes three hours.

Trip to Lisbon  trip  @4 assistant  now  on b1, abandoned
    There is no night *train* any more.
END
t 'search: all words' 0 search night bus cheaply <<'END'
Trip to Lisbon  trip  @4 assistant  now
    There is a *night* *bus*, *cheaply*.
END
t 'search: a phrase, a prefix, and without' 0 search '"night bus" there* -cheaply' --session coach <<'END'
By bus  coach  @4 assistant  now
    *There* is a *night bus*.
END
t 'search: by role and tag' 0 search night --role user --tag travel <<'END'
Trip to Lisbon  trip  @3 user  now  on b1, abandoned
    And at *night*?

Trip to Lisbon  trip  @3 user  now
    And at *night*, cheaply?
END
t 'search: in colour' 0 search hours --color always <<'END'
[1mTrip to Lisbon[0m  [33mtrip[0m  [33m@2[0m [1;34massistant[0m  [2mnow[0m
    By train: it takes three [1;31mhours[0m.
END
t 'search: for programs' 0 search hours --json <<'END'
{"hits":[{"session_id":"trip","title":"Trip to Lisbon","entry_id":"e2","branch_id":"b1","position":1,"role":"assistant","abandoned":false,"highlight":"By train: it takes three hours.","marks":[{"start":25,"length":5}],"score":S,"created_at":"TIME"}],"next_cursor":null,"bounded":false}
END
t 'search: nothing found' 0 search submarine <<'END'
nothing found for 'submarine'
END
t 'search: since and until' 0 search night --until 2020-01-01 <<'END'
nothing found for 'night'
END
t 'search: a wrong time' 2 search night --since yesterday <<'END'
ramet: --since is 'yesterday'; it must be a date, an RFC 3339 time, or a span back like 3d
END
t 'search: a page' 0 search night -n 1 -q <<'END'
Trip to Lisbon  trip  @3 user  now  on b1, abandoned
    And at *night*?
END
t 'search: others find nothing' 0 search night --user bob <<'END'
nothing found for 'night'
END
t 'search: for what?' 2 search <<'END'
ramet: WORDS is missing; usage: ramet search WORDS...
END
finish
