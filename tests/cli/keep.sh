#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# set, promote, tag, members, rm, restore, and fsck, gc, backup, stat, reindex.
. "$(dirname "$0")/lib.bash"
plant

t 'set: a title' 0 set trip --title 'To Lisbon' <<'END'
changed trip: 4 entries on b3, last is e4b
END
t 'set: the rest, for programs' 0 set trip --model opus --metadata '{"a": 1.0}' --visibility private --archive --json <<'END'
{"id":"trip","tree_id":"UUID","title":"To Lisbon","owner":"ann","visibility":"private","agent":{"name":"claude","model":"opus"},"tags":["travel"],"head":{"branch_id":"b3","length":4,"entry_id":"e4b","prefix_hash":"HASH"},"forked_from":null,"merged_into":null,"cache_root":"trip","cache_root_shared":4,"running":null,"metadata":{"a": 1.0},"archived":true,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":0}
END
t 'set: archived ones are not listed' 0 list -q <<'END'
coach
END
t 'set: unless asked for' 0 list -q --archived only <<'END'
trip
END
t 'set: take it out again' 0 set trip --unarchive --visibility tree --title '' -q <<'END'
END
t 'set: the first message is the title now' 0 list <<'END'
ID     TITLE                               ENTRIES  AGENT   UPDATED  TAGS
coach  ╰ By bus                                  4  claude  now      #cheap
trip   How do I get from Porto to Lisbon?        4  claude  now      #travel
END
t 'set: nothing' 2 set trip <<'END'
ramet: nothing to set; 'ramet set --help' shows what can be
END
t 'set: both ways' 2 set trip --archive --unarchive <<'END'
ramet: --archive and --unarchive exclude each other
END
t 'set: merged into' 0 set coach --merged-into trip --json <<'END'
{"id":"coach","tree_id":"UUID","title":"By bus","owner":"ann","visibility":"tree","agent":{"name":"claude"},"tags":["cheap"],"head":{"branch_id":"b2","length":4,"entry_id":"c4","prefix_hash":"HASH"},"forked_from":{"session_id":"trip","entry_id":"e2","side":"after","type":"explicit","reason":"the train is dear","created_by":{"kind":"user","id":"ann"}},"merged_into":"trip","cache_root":"trip","cache_root_shared":2,"running":null,"metadata":{},"archived":false,"expires_at":null,"created_at":"TIME","updated_at":"TIME","depth":1}
END
t 'set: metadata must be an object' 2 set trip --metadata 7 <<'END'
ramet: --metadata is '7'; it must be a JSON object like '{"key": 1}'
END
q new Short --id short --ephemeral 1h
t 'promote' 0 promote short <<'END'
promoted short: 0 entries on b4
END

t 'tag: of a session' 0 tag trip <<'END'
#travel
END
t 'tag: add' 0 tag trip add ' Europe ' travel <<'END'
#europe
#travel
END
t 'tag: rm, for programs' 0 tag trip rm travel --json <<'END'
{"tags":["europe"]}
END
t 'tag: set' 0 tag coach set a b <<'END'
#a
#b
END
t 'tag: all' 0 tag <<'END'
#a       1 session
#b       1 session
#europe  1 session
END
t 'tag: all, for programs' 0 tag --json <<'END'
{"tags":[{"tag":"a","sessions":1},{"tag":"b","sessions":1},{"tag":"europe","sessions":1}]}
END
t 'tag: set to none' 0 tag coach set <<'END'
END
t 'tag: no such action' 2 tag trip travel <<'END'
ramet: 'travel' is no action; take add, rm or set
END
t 'tag: which?' 2 tag trip add <<'END'
ramet: TAG is missing; usage: ramet tag SESSION add TAG...
END
t 'tag: too long' 2 tag trip add xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx <<'END'
ramet: a tag of 51 characters; it must have 1 to 50
END

t 'members' 0 members trip <<'END'
USER  LEVEL
ann   owner
END
t 'members: set' 0 members trip set bob writer <<'END'
USER  LEVEL
ann   owner
bob   writer
END
t 'members: he may write' 0 append coach --user bob --id m1 'me too' <<'END'
added 1 entry to coach: 5 entries on b2, last is m1
END
t 'members: but not manage' 4 members trip set eve reader --user bob <<'END'
ramet: it needs level manager in the tree of session trip; bob has writer
END
t 'members: rm' 0 members trip rm bob <<'END'
USER  LEVEL
ann   owner
END
t 'members: for programs' 0 members trip --json <<'END'
{"members":[{"user":"ann","level":"owner"}]}
END
t 'members: not one' 3 members trip rm bob <<'END'
ramet: bob is not a member of the tree
END
t 'members: no such level' 2 members trip set bob king <<'END'
ramet: 'king' is no level; take reader, writer, manager or owner
END
t 'members: no such action' 2 members trip add bob <<'END'
ramet: 'add' is no action; take set or rm
END
t 'members: who?' 2 members trip set bob <<'END'
ramet: usage: ramet members SESSION set USER LEVEL, or rm USER
END

t 'rm: dry run' 0 rm trip --tree --dry-run <<'END'
would delete 2 sessions; 'ramet gc' takes them and 9 entries for good, 7 days later at the earliest
  trip
  coach
END
t 'rm: a tree asks first' 1 rm trip --tree <<'END'
ramet: 2 sessions were not deleted; --yes does it without asking
END
t 'rm: one session' 0 rm coach <<'END'
deleted 1 session; 'ramet gc' takes it and 3 entries for good, 7 days later at the earliest
  coach
back with: ramet restore coach
END
t 'rm: it is gone' 3 show coach <<'END'
ramet: there is no session 'coach'; 'ramet list' shows them
END
t 'rm: its id is kept for it' 5 new --id coach <<'END'
ramet: session coach is deleted; restore it, or wait until gc has taken it
END
t 'rm: it is listed as deleted' 0 list --deleted <<'END'
ID     TITLE     ENTRIES  AGENT   DELETED  TAGS
coach  ╰ By bus        5  claude  now
END
t 'restore' 0 restore coach <<'END'
restored coach: 5 entries on b2, last is m1
END
t 'restore: then it is not deleted' 0 list --deleted <<'END'
nothing that you may restore is deleted
END
t 'rm: a tree, for programs' 0 rm trip --tree --yes --json <<'END'
{"sessions":["trip","coach"],"entries":9,"dry_run":false}
END
t 'restore: a tree' 0 restore trip --tree -q <<'END'
END
t 'restore: all is there' 0 list -q <<'END'
short
coach
trip
END
t 'restore: what was never there' 3 restore nope <<'END'
ramet: there is no session nope to restore
END

t 'gc: nothing to do within the grace time' 0 gc <<'END'
removed 0 sessions, 0 branches, 0 entries (SIZE)
END
if [ -n "${OVER_SERVER-}" ]; then # the grace time is the server's own
    t 'server: gc with a grace time' 2 gc --grace 0s <<'END'
ramet: the grace time is the server's own setting
END
    t 'server: fsck' 0 fsck <<'END'
✓ 2 trees, 3 sessions, 4 branches, 9 entries: no faults in TIME
END
    t 'server: backup' 0 backup copy.db -q <<'END'
END
    t 'server: backup does not write over a file' 2 backup copy.db <<'END'
ramet: copy.db exists; a backup goes to a new file
END
    t 'server: the backup is a store' 0 fsck --db copy.db <<'END'
✓ 2 trees, 3 sessions, 4 branches, 9 entries: no faults in TIME
END
    t 'server: reindex' 0 reindex <<'END'
made the search index anew: 9 entries
END
    t 'server: a user that would be a header' 2 list --user $'ann\r\nX-User-Id: bob' <<'END'
ramet: the user holds control characters
END
    t 'server: not both' 2 list --server http://127.0.0.1:1 --db copy.db <<'END'
ramet: give --db or --server, not both
END
    t 'server: nobody there' 6 list --server http://127.0.0.1:1 <<'END'
ramet: http://127.0.0.1:1 cannot be reached: Couldn't connect to server
END
    t 'server: no address' 2 list --server nowhere <<'END'
ramet: the server 'nowhere' is no address; give it like http://127.0.0.1:7077
END
    finish
    exit
fi
q rm coach
t 'gc: dry run' 0 gc --dry-run --grace 0s <<'END'
would remove 1 session, 1 branch, 3 entries (SIZE)
END
t 'gc: for programs' 0 gc --grace 0s --json <<'END'
{"sessions":1,"expired":0,"branches":1,"entries":3,"bytes":N,"attachments":0,"attachment_bytes":N,"dry_run":false}
END
t 'gc: then it cannot be restored' 3 restore coach <<'END'
ramet: there is no session coach to restore
END
t 'gc: then it is not listed as deleted' 0 list --deleted -q <<'END'
END
t 'fsck' 0 fsck <<'END'
✓ 2 trees, 2 sessions, 3 branches, 6 entries: no faults in TIME
END
t 'fsck: for programs' 0 fsck --json <<'END'
{"trees":2,"sessions":2,"branches":3,"entries":6,"erased":0,"fault_count":0,"faults":[]}
END
t 'backup' 0 backup copy.db -q <<'END'
END
t 'backup: is a store' 0 log trip --oneline --db copy.db <<'END'
@1  e1        user       How do I get from Porto to Lisbon?
@2  e2        assistant  By train: it takes three hours.
@3  e3b       user       (2/2) And at night, cheaply?
@4  e4b       assistant  There is a night bus, cheaply.
END
t 'backup: does not write over a file' 2 backup copy.db <<'END'
ramet: copy.db exists; a backup goes to a new file
END
t 'reindex' 0 reindex <<'END'
made the search index anew: 6 entries
END
t 'stat: for programs' 0 stat --json <<'END'
{"path":"/scratch/test.db","schema":N,"trees":2,"sessions":2,"forks":0,"deleted":0,"branches":3,"entries":6,"attachments":0,"attachment_bytes":N,"file_bytes":N,"wal_bytes":N,"search_bytes":N,"events":N,"unindexed":0}
END
has 'stat: counts' "$("$RAMET" stat)" 'sessions   2 (0 forks; 0 deleted, not yet gone)'

cp copy.db broken.db
sqlite3 broken.db "UPDATE entry SET text = 'By plane: it takes one hour.' WHERE id = 'e2'" 2>/dev/null ||
    sqlite3 broken.db "UPDATE entry SET body = 'x' WHERE id = 'e2'"
t 'fsck: names what is damaged' 7 fsck --db broken.db <<'END'
✗ session trip, branch b1, position 1, entry e2: its hash is wrong
✗ 2 trees, 2 sessions, 3 branches, 6 entries: 1 fault in TIME
END
t 'log: never shows a damaged entry as if it were right' 7 log trip --oneline --db broken.db <<'END'
ramet: entry e2 at position 1 of branch b1 is damaged: its hash is wrong
END
finish
