#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# merge, and what the log, the graph and the tree show of it.
. "$(dirname "$0")/lib.bash"
# Copies have ids of their own.
eval "steady_all() $(declare -f steady | tail -n +2)"
steady() { steady_all | sed -E -e 's/\b[0-9a-f]{8}\b/SHORT/g' -e 's/ +$//'; }
plant
q new --id far
q append far --id x1 'another tree'
q fork trip --id late

t 'merge: nothing new' 5 merge trip late <<'END'
ramet: the source has nothing that the target does not have already
END
t 'merge: what has gone on' 5 merge trip coach <<'END'
ramet: session trip has 2 entries of its own since the two parted; splice, pick or land instead
END
q append late --id l1 'one more'
t 'merge: fast-forward, dry run' 0 merge trip late --dry-run <<'END'
@5  l1        user       one more
1 entry would come to trip; nothing was changed
END
t 'merge: fast-forward' 0 merge trip late <<'END'
merged 1 entry into trip: 5 entries on b6, last is l1
END
t 'merge: undo' 0 undo trip <<'END'
undone in trip: 4 entries on b3, last is e4b
END
t 'merge: splice, dry run' 0 merge trip coach --mode splice -n <<'END'
@5  SHORT  user       And by bus?
@6  SHORT  assistant  There is a night bus.
2 entries would come to trip; nothing was changed
END
t 'merge: splice, dry run for programs' 0 merge trip coach --mode splice -n --json <<'END'
{"entries":[{"id":"UUID","position":4,"branch_id":"b3","role":"user","text":"And by bus?","parts":[{"type":"text","text":"And by bus?"}],"format":"ramet","body":[{"type":"text","text":"And by bus?"}],"turn_id":null,"channel":"history","author":"ann","client":"ramet-cli","usage":null,"state_delta":null,"origins":[{"session_id":"coach","entry_id":"c3","branch_id":"b2"}],"prefix_hash":"HASH","created_at":"TIME"},{"id":"UUID","position":5,"branch_id":"b3","role":"assistant","text":"There is a night bus.","parts":[{"type":"text","text":"There is a night bus."}],"format":"ramet","body":[{"type":"text","text":"There is a night bus."}],"turn_id":null,"channel":"history","author":null,"client":"ramet-cli","usage":null,"state_delta":null,"origins":[{"session_id":"coach","entry_id":"c4","branch_id":"b2"}],"prefix_hash":"HASH","created_at":"TIME"}],"count":2}
END
t 'merge: splice' 0 merge trip coach --mode splice <<'END'
merged 2 entries into trip: 6 entries on b7, last is SHORT
END
t 'merge: pick' 0 merge trip coach -e @3 -e late::l1 <<'END'
merged 2 entries into trip: 8 entries on b8, last is SHORT
END
t 'merge: pick from nowhere' 3 merge trip coach -e nothing <<'END'
ramet: there is no entry 'nothing' on this path; 'ramet log' shows them, @N is the N-th
END
t 'merge: land' 0 merge trip far --text 'In short: no.' --json <<'END'
{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["travel"],"head":{"branch_id":"b9","length":9,"entry_id":"UUID","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":9,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0,"merge":{"mode":"land","count":1}}
END
IN='from a pipe' t 'merge: land from standard input' 0 merge trip coach --text - <<'END'
merged 1 entry into trip: 10 entries on b10, last is SHORT
END
t 'merge: another tree' 5 merge trip far --mode splice <<'END'
ramet: the source is in another tree; only a summary can be landed from there
END
t 'merge: nothing to pick' 2 merge trip --mode pick <<'END'
ramet: name the entries to pick
END
t 'merge: without a source' 2 merge trip <<'END'
ramet: the session to merge from is missing
END
t 'log: copies say where they came from' 0 log trip --limit 2 <<'END'
Trip to Lisbon
trip · claude · 10 entries on b10 · #travel

@9 user  ann · now · SHORT · from far
    In short: no.

@10 user  ann · now · SHORT · from coach
    from a pipe
END
t 'log --graph: merges are marked' 0 log trip --graph <<'END'
●  @1 user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And by bus?
│ ◆  @4 (By bus · coach · #cheap · merged into trip) assistant  There is a night bus.
├─○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train any more.
●  @3 user  And at night, cheaply?
●  @4 assistant  There is a night bus, cheaply.
├─◆  @5 (Fork of Trip to Lisbon · late · merged into trip) user  one more
●  @5 user  (from coach) And by bus?
●  @6 assistant  (from coach) There is a night bus.
●  @7 user  (from coach) And by bus?
●  @8 user  (from late) one more
●  @9 user  (from far) In short: no.
◆  @10 (Trip to Lisbon · trip · #travel) user  (from coach) from a pipe
END
t 'tree: merged sessions are marked' 0 tree trip <<'END'
◆ Trip to Lisbon  trip  claude  #travel  10 entries
├─ By bus  coach  claude  #cheap  @2 +2  merged into trip
╰─ Fork of Trip to Lisbon  late  claude  @4 +1  merged into trip
END
t 'branches, moves: the kind' 0 moves trip <<'END'
NO  MOVE   HEAD      BY   WHEN  WHY
 7  merge  b9 → b10  ann  now   land
 6  merge  b8 → b9   ann  now   land
 5  merge  b7 → b8   ann  now   pick
 4  merge  b3 → b7   ann  now   splice
 3  undo   b6 → b3   ann  now
 2  merge  b3 → b6   ann  now   fast_forward
 1  edit   b1 → b3   ann  now
END
finish
