#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# hide, replace, reveal, overlays; log --context and show --prompt.
. "$(dirname "$0")/lib.bash"
plant

t 'overlays: none' 0 overlays trip <<'END'
the model sees all of it; 'ramet hide SESSION ENTRY' changes that
END
t 'hide: an entry' 0 hide trip @2 -m 'wrong' <<'END'
o1
it is hidden from the model; the head is on b4, 'ramet undo' takes it back
END
t 'replace: for programs' 0 replace trip e3b 'shorter' --json <<'END'
{"id":"o2","head":{"branch_id":"b5","length":4,"entry_id":"e4b","prefix_hash":"HASH","overlay_set":"o2"}}
END
t 'overlays: as JSON' 0 overlays trip --json <<'END'
{"overlays":[{"id":"o1","entry_id":"e2","position":1,"action":"hide","by":"ann","created_at":"TIME"},{"id":"o2","entry_id":"e3b","position":2,"action":"replace","text":"shorter","by":"ann","created_at":"TIME"}]}
END
is 'log: what the model sees' "$("$RAMET" log trip --context --json | grep -o '"id":"[^"]*"' | tr '\n' ' ')" '"id":"e1" "id":"e3b" "id":"e4b" '
is 'log: the record' "$("$RAMET" log trip --json | grep -o '"id":"[^"]*"' | tr '\n' ' ')" '"id":"e1" "id":"e2" "id":"e3b" "id":"e4b" '
t 'reveal: an overlay' 0 reveal trip o1 <<'END'
o1
the model sees the record again there; the head is on b6, 'ramet undo' takes it back
END
t 'reveal: one that is not in force' 3 reveal trip o1 <<'END'
ramet: overlay o1 is not in force on the head
END
t 'reveal: no overlay' 2 reveal trip e2 <<'END'
ramet: 'e2' is no overlay; one looks like o17, 'ramet overlays' shows them
END
t 'hide: everything above' 0 hide trip @3 --above <<'END'
o4
everything above it is hidden from the model; the head is on b7, 'ramet undo' takes it back
END
is 'log: nothing above' "$("$RAMET" log trip --context --json | grep -o '"id":"[^"]*"' | tr '\n' ' ')" '"id":"e3b" "id":"e4b" '
t 'hide: an entry that is not there' 3 hide trip e9 <<'END'
ramet: there is no entry 'e9' on this path; 'ramet log' shows them, @N is the N-th
END
t 'show: an entry of no turn has no prompt' 3 show trip @1 --prompt <<'END'
ramet: @1 belongs to no turn
END
finish
