#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# export and import.
. "$(dirname "$0")/lib.bash"
plant

# What ids, times and hashes make different from run to run.
plain() {
    sed -E -e 's/"(created|updated|touched|at|started|ended)":[0-9]+/"\1":0/g' \
        -e 's/"(prefix_hash|base_hash|sha256)":"[0-9a-f]{64}"/"\1":"HASH"/g' \
        -e 's/"type":"tree","id":"[^"]*"/"type":"tree","id":"UUID"/' -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{5} UTC/TIME/' \
        -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}/DAY/'
}

is 'export: a session' "$("$RAMET" export coach | plain)" "$(cat <<'END'
{"type":"header","format":"ramet","version":1}
{"type":"tree","id":"UUID","created":0,"sessions":2,"branches":2,"entries":4}
{"type":"member","user":"ann","level":"owner","created":0}
{"type":"gone","n":1,"created":0}
{"type":"session","n":2,"id":"coach","parent":1,"owner":"ann","visibility":"tree","title":"By bus","agent":"claude","fork_type":"explicit","reason":"the train is dear","by":"user","by_id":"ann","fork_entry":"e2","fork_side":"after","first":2,"head":2,"created":0,"updated":0,"from_title":"Trip to Lisbon","tags":["cheap"]}
{"type":"branch","n":1,"session":1,"log":"main","fork_type":"explicit","created":0,"length":2,"prefix_hash":"HASH","touched":0}
{"type":"branch","n":2,"session":2,"log":"main","parent":1,"base":2,"fork_type":"explicit","created":0,"length":4,"prefix_hash":"HASH","touched":0,"base_hash":"HASH"}
END
)
$("$RAMET" export coach | plain | sed -n '/"entry"/,$p')"
is 'export: as Markdown' "$("$RAMET" export coach -f md | plain | sed -n '1,7p')" "$(cat <<'END'
## By bus

*ann · claude · DAY*

#### User · ann · TIME

> How do I get from Porto to Lisbon?
END
)"
t 'export: to a file' 0 export trip --tree -o tree.html -q <<'END'
END
has 'export: as HTML' "$(cat tree.html)" '<details class="branch">'
is 'export: which refers to nothing outside' "$(grep -cE 'https?://|<script|<img|src=|@import|url\(' tree.html)" 0
t 'export: only into a new file' 2 export trip -o tree.html <<'END'
ramet: tree.html cannot be made: File exists
END
is 'export: one path' "$("$RAMET" export trip --path -f md | grep -c 'Another branch')" 0
is 'export: all of them' "$("$RAMET" export trip -f md | grep -c 'Another branch')" 1
is 'export: a chosen branch' "$("$RAMET" export trip -b b1 -f md | grep -c '^#### ')" 4
t 'export: of another session' 3 export trip -b b2 -f md <<'END'
ramet: session trip has no branch b2
END
t 'export: an unknown session' 3 export nothing <<'END'
ramet: there is no session 'nothing'; 'ramet list' shows them
END

q hide trip e1
q replace trip e2 'By train.'
is 'export: the context view' "$("$RAMET" export trip --path --context -f md | grep -c '^> ')" 3
has 'export: says what the overlays say' "$("$RAMET" export trip --path --context)" '"text":"By train."'
t 'export: the context view as jsonl is one path' 2 export trip --context <<'END'
ramet: as jsonl the context view is exported of one path of one session; choose it with path, or with one branch
END
has 'export: overlays' "$("$RAMET" export trip)" '"action":"replace"'

"$RAMET" export --all-users --with-adk >all.jsonl
t 'import: what is there adds nothing' 0 import all.jsonl <<'END'
added 0 sessions with 0 entries; 2 were there before
END
t 'import: for programs' 0 import all.jsonl --json <<'END'
{"sessions_added":0,"entries_added":0,"sessions_known":2}
END
away() { env -u RAMET_SERVER "$RAMET" --db "$scratch/away.db" "$@"; }
is 'import: into an empty store' "$(away import all.jsonl --owners)" 'added 2 sessions with 8 entries; 0 were there before'
is 'import: the same bytes come out' "$(away export --all-users --with-adk | sha256sum)" "$(sha256sum <all.jsonl)"
is 'import: it is sound' "$(away fsck -q; echo $?)" 0
is 'import: through a pipe' "$(env -u RAMET_SERVER "$RAMET" --db "$scratch/pipe.db" -u bob import <all.jsonl -q; env -u RAMET_SERVER "$RAMET" --db "$scratch/pipe.db" -u bob list -q | sort | tr '\n' ' ')" 'coach trip '

sed 's/Porto to Lisbon/Porto or Lisbon/' all.jsonl >damaged.jsonl
t 'import: damaged' 2 import damaged.jsonl <<'END'
ramet: line 11: entry e1 is not what its prefix_hash says
END
head -c 1500 all.jsonl >short.jsonl
t 'import: cut off' 2 import short.jsonl <<'END'
ramet: line 8: the file ends in the middle of it
END
t 'import: something else' 2 import tree.html <<'END'
ramet: line 1: it is not valid JSON: a value is wanted at byte 0
END
q append trip 'Later'
"$RAMET" export trip --tree >grown.jsonl
is 'import: a file that has more than the store' "$(away -u ann import grown.jsonl 2>&1; echo $?)" \
    "ramet: line 10: the session of line 4 is there already with another history, or a shorter one; nothing was imported
5"

q hold coach -m 'case 7'
"$RAMET" export --all-users >held.jsonl
kept() { env -u RAMET_SERVER "$RAMET" --db "$scratch/kept.db" "$@"; }
is 'import: what is on hold stays so' "$(kept import held.jsonl --owners -q; kept -u ann rm coach 2>&1)" \
    'ramet: session coach is on hold; release the hold first'

finish
