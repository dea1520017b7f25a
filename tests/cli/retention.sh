#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hold, release, holds; retention.
. "$(dirname "$0")/lib.bash"
plant
q new --id old --tag scratch
q append old --id o1 'to be thrown away'

# ---- holds

t 'holds: none' 0 holds old <<'END'
nothing is on hold there
END
t 'hold: a session' 0 hold old -m 'case 7' <<'END'
session old is on hold; 'ramet release old' ends that
END
t 'rm: what is on hold' 5 rm old <<'END'
ramet: session old is on hold; release the hold first
END
t 'hold: as an administrator, for programs' 0 hold old --admin --json <<'END'
{"tree_id":"UUID","session_id":"old","administrator":true,"by":"ann","reason":"","created_at":"TIME"}
END
t 'holds: of a session, for programs' 0 holds old --json <<'END'
{"holds":[{"tree_id":"UUID","session_id":"old","administrator":false,"by":"ann","reason":"case 7","created_at":"TIME"},{"tree_id":"UUID","session_id":"old","administrator":true,"by":"ann","reason":"","created_at":"TIME"}]}
END
t 'release: the own one' 0 release old <<'END'
released old
END
t "release: an administrator's" 4 release old <<'END'
ramet: an administrator has set that hold, and only one can release it
END
t 'release: as an administrator' 0 release old --admin --json <<'END'
{"released":true}
END
t 'release: what is not on hold' 3 release old <<'END'
ramet: session old is not on hold
END
t 'hold: a tree' 0 hold trip --tree <<'END'
tree UUID is on hold; 'ramet release trip --tree' ends that
END
t 'rm: a fork in it' 5 rm coach <<'END'
ramet: the tree is on hold; release the hold first
END
tree=$("$RAMET" show trip --json | grep -o '"tree_id":"[^"]*"' | cut -d'"' -f4)
t 'release: by the id of the tree' 0 release "$tree" <<'END'
released the tree
END
t 'hold: what is not there' 3 hold nobody <<'END'
ramet: there is no session 'nobody'; 'ramet list' shows them
END

# ---- rules

t 'retention: nothing' 0 retention <<'END'
rules are off; not tried yet: 'ramet retention run --dry-run'
END
t 'retention: a rule that takes everything' 2 retention add all <<'END'
ramet: rule all would take every session; give it an age, a tag, an agent, ephemeral or archived
END
t 'retention: a rule' 0 retention add scratch --tag Scratch <<'END'
rules are off; not tried yet: 'ramet retention run --dry-run'
RULE     OLDER THAN  SINCE    TAG      AGENT  EPHEMERAL  ARCHIVED  PRIVATE
scratch  at once     updated  scratch  any    include    include   exclude
END
t 'retention: another one' 0 -q retention add stale --older-than 52w --archived only --private <<'END'
END
t 'retention: a name twice' 2 retention add stale --older-than 1w <<'END'
ramet: two rules have the name stale
END
t 'retention: not before a dry run' 5 retention on <<'END'
ramet: these rules have not been tried: store them, make a dry run, and switch them on then
END
t 'retention: nor run' 5 retention run <<'END'
ramet: the rules have changed since the last dry run; make one first
END
t 'retention: the dry run' 0 retention run --dry-run <<'END'
would remove 1 session of 3, with 1 entry of their own
  old (scratch)
END
t 'retention: why a session stays' 0 retention explain trip <<'END'
trip stays: no rule matches it
  rule scratch does not match: it does not have the tag scratch
  rule stale does not match: it is not archived
  6 entries of its own; gc would remove 4 with it
  fork coach needs entries 1–2 of b1
END
t 'retention: why a session goes' 0 retention explain old <<'END'
old goes: rule scratch matches it
  rule scratch matches: everything that it asks for holds
  rule stale does not match: it is not archived
  1 entry of its own; gc would remove 1 with it
END
q tag old add pinned
t 'retention: a pin' 0 retention explain old --json <<'END'
{"session_id":"old","goes":false,"rule":"scratch","kept":"it is pinned","rules":[{"rule":"scratch","matches":true,"why":"everything that it asks for holds"},{"rule":"stale","matches":false,"why":"it is not archived"}],"entries":1,"freed":1,"needed_by":[],"needed_by_count":0}
END
t 'retention: nothing to remove' 0 retention run <<'END'
removed 0 sessions of 3, with 0 entries of their own
END
q tag old rm pinned
t 'retention: on' 0 -q retention on <<'END'
END
t 'retention: the rules for programs' 0 retention show --json <<'END'
{"enabled":true,"tried_at":"TIME","rules":[{"name":"scratch","older_than_seconds":0,"since":"updated","tag":"scratch","agent":null,"ephemeral":"include","archived":"include","private":false,"by":"ann","created_at":"TIME"},{"name":"stale","older_than_seconds":31449600,"since":"updated","tag":null,"agent":null,"ephemeral":"include","archived":"only","private":true,"by":"ann","created_at":"TIME"}]}
END
t 'retention: run' 0 retention run <<'END'
removed 1 session of 3, with 1 entry of their own
  old (scratch)
END
t 'retention: the log' 0 retention log --json <<'END'
{"removals":[{"session_id":"old","tree_id":"UUID","rule":"scratch","entries":1,"by":"ann","removed_at":"TIME"}],"next_cursor":null}
END
t 'restore: what a rule has removed' 0 restore old <<'END'
restored old: 1 entry on b4, last is o1
END
t 'retention: a rule less' 0 -q retention rm scratch <<'END'
END
t 'retention: no such rule' 2 retention rm scratch <<'END'
ramet: there is no rule scratch; 'ramet retention' shows them
END
t 'retention: no such action' 2 retention burn <<'END'
ramet: 'burn' is no action; take show, add, rm, on, off, run, explain or log
END
finish
