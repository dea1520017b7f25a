#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# log --graph and tree.
. "$(dirname "$0")/lib.bash"
plant

t 'graph: the present path goes straight on' 0 log --graph trip <<'END'
●  @1 user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And by bus?
│ ◆  @4 (By bus · coach · #cheap) assistant  There is a night bus.
├─○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train any more.
●  @3 user  And at night, cheaply?
◆  @4 (Trip to Lisbon · trip · #travel) assistant  There is a night bus, cheaply.
END
t 'graph: seen from the fork' 0 log --graph coach <<'END'
●  @1 user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And at night, cheaply?
│ ◆  @4 (Trip to Lisbon · trip · #travel) assistant  There is a night bus, cheaply.
├─○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train any more.
●  @3 user  And by bus?
◆  @4 (By bus · coach · #cheap) assistant  There is a night bus.
END
LC_ALL=C t 'graph: without UTF-8' 0 log --graph trip <<'END'
*  @1 user  How do I get from Porto to Lisbon?
*  @2 assistant  By train: it takes three hours.
|-o  @3 user  And by bus?
| H  @4 (By bus - coach - #cheap) assistant  There is a night bus.
|-o  @3 user  And at night?
| o  @4 (b1, abandoned) assistant  There is no night train any more.
*  @3 user  And at night, cheaply?
H  @4 (Trip to Lisbon - trip - #travel) assistant  There is a night bus, cheaply.
END
COLUMNS=60 t 'graph: fits the width' 0 log -g trip <<'END'
●  @1 user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And by bus?
│ ◆  @4 (By bus · coach · #cheap) assistant  There is a nig…
├─○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train…
●  @3 user  And at night, cheaply?
◆  @4 (Trip to Lisbon · trip · #travel) assistant  There is a…
END
t 'tree' 0 tree trip <<'END'
◆ Trip to Lisbon  trip  claude  #travel  4 entries
╰─ By bus  coach  claude  #cheap  @2 +2
END
LC_ALL=C t 'tree: without UTF-8' 0 tree coach <<'END'
Trip to Lisbon  trip  claude  #travel  4 entries
`- H By bus  coach  claude  #cheap  @2 +2
END

q fork coach --id fresh --title 'Nothing said yet'
q fork coach c3 --id three --title 'Three deep'
q append three --id t4 'Tell me more.'
for i in $(seq 5 60); do echo "{\"id\": \"t$i\", \"role\": \"user\", \"text\": \"message $i\"}"; done >run.jsonl
"$RAMET" append three -q <run.jsonl
q fork trip e1 --before --id blank --title 'Blank slate'
q fork three t20 --id late --title 'Later' --ephemeral 7d
q append late --id l21 'Left late.'
q regenerate trip e4b --id e4c 'Walk.'
t 'graph: fresh forks, long runs, a blank slate' 0 log --graph trip <<'END'
◆  start (Blank slate · blank)
●  @1 user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And by bus?
│ ├─○  @4 user  Tell me more.
│ │ ┊  15 entries
│ │ ○  @20 user  message 20
│ │ ├─◆  @21 (Later · late) user  Left late.
│ │ ┊  39 entries
│ │ ◆  @60 (Three deep · three) user  message 60
│ ◆  @4 (By bus · coach · #cheap, Nothing said yet · fresh) assistant  There is a night bus.
├─○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train any more.
●  @3 user  And at night, cheaply?
├─○  @4 (b3, an edit, abandoned) assistant  There is a night bus, cheaply.
◆  @4 (Trip to Lisbon · trip · #travel) assistant  Walk.
END
q append blank --id z1 'Something else.'
t 'graph: two beginnings' 0 log --graph blank <<'END'
○  start
├─○  @1 user  How do I get from Porto to Lisbon?
│ ○  @2 assistant  By train: it takes three hours.
│ ├─○  @3 user  And at night, cheaply?
│ │ ├─◆  @4 (Trip to Lisbon · trip · #travel) assistant  Walk.
│ │ ○  @4 (b3, an edit, abandoned) assistant  There is a night bus, cheaply.
│ ├─○  @3 user  And by bus?
│ │ ├─○  @4 user  Tell me more.
│ │ │ ┊  15 entries
│ │ │ ○  @20 user  message 20
│ │ │ ├─◆  @21 (Later · late) user  Left late.
│ │ │ ┊  39 entries
│ │ │ ◆  @60 (Three deep · three) user  message 60
│ │ ◆  @4 (By bus · coach · #cheap, Nothing said yet · fresh) assistant  There is a night bus.
│ ○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train any more.
◆  @1 (Blank slate · blank) user  Something else.
END
q set fresh --archive
q fork trip e1 --id mine --title 'Mine alone' --private
q set coach --merged-into trip
t 'tree: marks' 0 tree three <<'END'
Trip to Lisbon  trip  claude  #travel  4 entries
├─ By bus  coach  claude  #cheap  @2 +2  merged into trip
│  ├─ Nothing said yet  fresh  claude  @4 +0  archived
│  ╰─ ◆ Three deep  three  claude  @3 +57
│     ╰─ Later  late  claude  @20 +1  goes in 6d 23h
├─ Blank slate  blank  claude  blank +1
╰─ Mine alone  mine  claude  @1 +0  private
END
t 'tree: one deep' 0 tree trip --depth 1 <<'END'
◆ Trip to Lisbon  trip  claude  #travel  4 entries
├─ By bus  coach  claude  #cheap  @2 +2  merged into trip
│  ╰─┊ 3 forks
├─ Blank slate  blank  claude  blank +1
╰─ Mine alone  mine  claude  @1 +0  private
END
q rm coach
t 'tree: a deleted session keeps its place' 0 tree trip <<'END'
◆ Trip to Lisbon  trip  claude  #travel  4 entries
├─ (deleted)  coach
│  ├─ Nothing said yet  fresh  claude  @4 +0  archived
│  ╰─ Three deep  three  claude  @3 +57
│     ╰─ Later  late  claude  @20 +1  goes in 6d 23h
├─ Blank slate  blank  claude  blank +1
╰─ Mine alone  mine  claude  @1 +0  private
END
t 'graph: what a deleted session shares is still drawn' 0 log --graph three <<'END'
○  start
├─◆  @1 (Blank slate · blank) user  Something else.
◆  @1 (Mine alone · mine) user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And at night, cheaply?
│ ├─◆  @4 (Trip to Lisbon · trip · #travel) assistant  Walk.
│ ○  @4 (b3, an edit, abandoned) assistant  There is a night bus, cheaply.
├─○  @3 user  And at night?
│ ○  @4 (b1, abandoned) assistant  There is no night train any more.
●  @3 user  And by bus?
├─◆  @4 (Nothing said yet · fresh) assistant  There is a night bus.
●  @4 user  Tell me more.
┊  15 entries
●  @20 user  message 20
├─◆  @21 (Later · late) user  Left late.
┊  39 entries
◆  @60 (Three deep · three) user  message 60
END
t 'tree: a deleted one for programs' 0 tree trip --json <<'END'
{"sessions":[{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["travel"],"head":{"branch_id":"b8","length":4,"entry_id":"e4c","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":4,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0,"path":["trip"]},{"id":"coach","deleted":true,"depth":1,"path":["trip","coach"]},{"id":"fresh","tree_id":"UUID","title":"Nothing said yet","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b4","length":4,"entry_id":"c4","prefix_hash":"HASH"},"forked_from":{"session_id":"coach","entry_id":"c4","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":true,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":2,"path":["trip","coach","fresh"]},{"id":"three","tree_id":"UUID","title":"Three deep","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b5","length":60,"entry_id":"t60","prefix_hash":"HASH"},"forked_from":{"session_id":"coach","entry_id":"c3","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":2,"path":["trip","coach","three"]},{"id":"late","tree_id":"UUID","title":"Later","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b7","length":21,"entry_id":"l21","prefix_hash":"HASH"},"forked_from":{"session_id":"three","entry_id":"t20","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":"TIME","created_at":"TIME","updated_at":"TIME","depth":3,"path":["trip","coach","three","late"]},{"id":"blank","tree_id":"UUID","title":"Blank slate","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b6","length":1,"entry_id":"z1","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e1","side":"before","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"blank","cache_root_shared":1,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1,"path":["trip","blank"]},{"id":"mine","tree_id":"UUID","title":"Mine alone","owner":"ann","visibility":"private","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b9","length":1,"entry_id":"e1","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e1","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":1,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1,"path":["trip","mine"]}]}
END
q members trip set bob reader
t 'tree: another member does not see private sessions' 0 tree trip --user bob <<'END'
◆ Trip to Lisbon  trip  claude  #travel  4 entries
├─ (deleted)  coach
│  ├─ Nothing said yet  fresh  claude  @4 +0  archived
│  ╰─ Three deep  three  claude  @3 +57
│     ╰─ Later  late  claude  @20 +1  goes in 6d 23h
╰─ Blank slate  blank  claude  blank +1
END
t 'graph: for programs' 0 log --graph trip --json <<'END'
{"sessions":[{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["travel"],"head":{"branch_id":"b8","length":4,"entry_id":"e4c","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":4,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0,"path":["trip"]},{"id":"coach","deleted":true,"depth":1,"path":["trip","coach"]},{"id":"fresh","tree_id":"UUID","title":"Nothing said yet","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b4","length":4,"entry_id":"c4","prefix_hash":"HASH"},"forked_from":{"session_id":"coach","entry_id":"c4","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":true,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":2,"path":["trip","coach","fresh"]},{"id":"three","tree_id":"UUID","title":"Three deep","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b5","length":60,"entry_id":"t60","prefix_hash":"HASH"},"forked_from":{"session_id":"coach","entry_id":"c3","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":2,"path":["trip","coach","three"]},{"id":"late","tree_id":"UUID","title":"Later","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b7","length":21,"entry_id":"l21","prefix_hash":"HASH"},"forked_from":{"session_id":"three","entry_id":"t20","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":"TIME","created_at":"TIME","updated_at":"TIME","depth":3,"path":["trip","coach","three","late"]},{"id":"blank","tree_id":"UUID","title":"Blank slate","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b6","length":1,"entry_id":"z1","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e1","side":"before","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"blank","cache_root_shared":1,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1,"path":["trip","blank"]},{"id":"mine","tree_id":"UUID","title":"Mine alone","owner":"ann","visibility":"private","agent":{"name":"claude"},"tags":[],"head":{"branch_id":"b9","length":1,"entry_id":"e1","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e1","side":"after","type":"explicit","reason":"","created_by":{"kind":"user","id":"ann"}},"merged_into":null,"cache_root":"trip","cache_root_shared":1,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1,"path":["trip","mine"]}],"branches":[{"branch_id":"b1","parent_id":null,"session_id":"trip","base":0,"length":4,"type":"explicit"},{"branch_id":"b2","parent_id":"b1","session_id":null,"base":2,"length":4,"type":"explicit"},{"branch_id":"b3","parent_id":"b1","session_id":"trip","base":2,"length":4,"type":"auto-edit"},{"branch_id":"b4","parent_id":"b2","session_id":"fresh","base":4,"length":4,"type":"explicit"},{"branch_id":"b5","parent_id":"b2","session_id":"three","base":3,"length":60,"type":"explicit"},{"branch_id":"b6","parent_id":null,"session_id":"blank","base":0,"length":1,"type":"explicit"},{"branch_id":"b7","parent_id":"b5","session_id":"late","base":20,"length":21,"type":"explicit"},{"branch_id":"b8","parent_id":"b3","session_id":"trip","base":3,"length":4,"type":"auto-regenerate"},{"branch_id":"b9","parent_id":"b1","session_id":"mine","base":1,"length":1,"type":"explicit"}]}
END
q new Other --id other
t 'tree: every root' 0 tree <<'END'
ROOT   TITLE           ENTRIES  FORKS  AGENT   UPDATED  TAGS
other  Other                 0      0          now
trip   Trip to Lisbon        4      5  claude  now      #travel
END
t 'tree: every root, for programs' 0 tree --json <<'END'
{"trees":[{"tree_id":"UUID","session_id":"other","title":"Other","entries":0,"forks":0,"updated_at":"TIME"},{"tree_id":"UUID","session_id":"trip","title":"Trip to Lisbon","entries":4,"forks":5,"updated_at":"TIME"}]}
END
t 'graph: the newest session, without entries' 0 log --graph <<'END'
◆  start (Other · other)
END
finish
