#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# branch, prune, restore --branch.
. "$(dirname "$0")/lib.bash"
plant

t 'branch: a name' 0 branch trip b1 --name 'by plane' <<'END'
b1 "by plane"
END
t 'branch: the favourite, for programs' 0 branch trip b1 --favourite --json <<'END'
{"branch_id":"b1","parent_id":null,"base":0,"length":4,"entry_id":"e4","type":"explicit","current":false,"created_at":"TIME","preview":"How do I get from Porto to Lisbon?","name":"by plane","favourite":true}
END
t 'branches: names' 0 branches trip <<'END'
   BRANCH  NAME                  LEAVES  ENTRIES  TYPE       MADE  BEGINS WITH
   b1      by plane (favourite)   start        4  explicit   now   How do I get from Porto to Lisbon?
*  b3                                @2        4  auto-edit  now   And at night, cheaply?
END
t 'show: the favourite' 0 show trip --json <<'END'
{"id":"trip","tree_id":"UUID","title":"Trip to Lisbon","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["travel"],"head":{"branch_id":"b3","length":4,"entry_id":"e4b","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":4,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","level":"owner","favourite":"b1","depth":0}
END
t 'log: names in the graph' 0 log trip --graph <<'END'
●  @1 user  How do I get from Porto to Lisbon?
●  @2 assistant  By train: it takes three hours.
├─○  @3 user  And by bus?
│ ◆  @4 (By bus · coach · #cheap) assistant  There is a night bus.
├─○  @3 user  And at night?
│ ○  @4 (b1 "by plane", abandoned) assistant  There is no night train any more.
●  @3 user  And at night, cheaply?
◆  @4 (Trip to Lisbon · trip · #travel) assistant  There is a night bus, cheaply.
END
t 'branch: both ways' 2 branch trip b1 --favourite --no-favourite <<'END'
ramet: give --favourite or --no-favourite, not both
END
t 'branch: none of that name' 2 branch trip nowhere --name x <<'END'
ramet: 'nowhere' is no branch; one looks like b17, 'ramet branches' shows them
END
t 'branch: not of this session' 3 branch trip b99 --name x <<'END'
ramet: session trip has no branch b99
END
t 'prune: what?' 2 prune trip <<'END'
ramet: give a BRANCH to prune, or --others to keep only the path of the head
END
t 'prune: the head' 5 prune trip b3 <<'END'
ramet: b3 is the head of session trip; switch to another branch first
END
t 'prune: a dry run' 0 prune trip --others --dry-run <<'END'
would prune 1 branch with 2 entries:
  b1
END
t 'prune: by name, for programs' 0 prune trip 'by plane' --dry-run --json <<'END'
{"branches":["b1"],"entries":2,"kept":[],"dry_run":true}
END
t 'prune: nothing without asking' 1 prune trip --others <<'END'
ramet: nothing was pruned; --yes prunes 1 branch with 2 entries without asking
END
t 'prune: all others' 0 prune trip --others --yes <<'END'
pruned 1 branch with 2 entries:
  b1
back with: ramet restore trip --branch b1
END
t 'prune: what was pruned' 0 prune trip --list <<'END'
BRANCH         ENTRIES  PRUNED                   BEGINS WITH
b1 "by plane"        4  now     can be restored  How do I get from Porto to Lisbon?
END
t 'branches: without them' 0 branches trip <<'END'
   BRANCH  LEAVES  ENTRIES  TYPE       MADE  BEGINS WITH
*  b3          @2        4  auto-edit  now   And at night, cheaply?
END
t 'undo: into it' 5 undo trip <<'END'
ramet: branch b1 was pruned; restore it to go there
END
t 'switch: into it' 5 switch trip b1 <<'END'
ramet: branch b1 was pruned; restore it to go there
END
t 'restore: one branch' 0 restore trip --branch b1 <<'END'
restored 1 branch with 2 entries:
  b1
END
t 'restore: again, for programs' 0 restore trip --branch b1 --all --json <<'END'
{"branches":[],"entries":0,"kept":[],"dry_run":false}
END
t 'prune: the list is empty' 0 prune trip --list <<'END'
no branch of this session was pruned
END
t 'branch: no favourite any more' 0 branch trip b1 --no-favourite --name '' <<'END'
b1
END
finish
