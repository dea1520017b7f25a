#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# copy: a file grows into a database, and comes back: the same exports, the same hashes, the same lists.
. "$(dirname "$0")/lib.bash"
there=$RAMET_DB
export RAMET_DB=$scratch/test.db
plant
db=$RAMET_DB

# Everything that the tool tells some users about every session, to compare two stores.
told() {
    local user id
    for user in ann u1; do
        "$RAMET" --db "$1" -u $user list --json --limit 1000 --archived include
        "$RAMET" --db "$1" -u $user list -q --limit 1000 --archived include | while read -r id; do
            for verb in log branches moves tree; do
                "$RAMET" --db "$1" -u $user $verb "$id" --json
            done
            "$RAMET" --db "$1" -u $user export "$id"
        done 2>&1
    done
}
same_told() { is "$1" "$(told "$2" | cksum)" "$(told "$3" | cksum)"; }
digest() { "$RAMET" copy --from "$1" --to "$2" --verify-only --json | sed -E 's/.*"(source_digest)":"([0-9a-f]+)","target_digest":"([0-9a-f]+)".*/\2 \3/'; }
equal_words() { [ -n "$1" ] && [ "${1% *}" = "${1#* }" ]; }

t 'grow: into a database' 0 copy --from "sqlite:$db" --to "$there" -q <<'END'
END
t 'grow: sound' 0 fsck --db "$there" -q <<'END'
END
same_told 'grow: tells and exports the same' "$db" "$there"
ok 'grow: the same hashes' equal_words "$(digest "$db" "$there")"
q append trip --id e5 'One more thing.'
t 'grow: what changed comes after it' 0 copy --from "$db" --to "$there" -q <<'END'
END
same_told 'grow: and then the same again' "$db" "$there"

t 'back: into a file' 0 copy --from "$there" --to back.db -q <<'END'
END
t 'back: sound' 0 fsck --db back.db -q <<'END'
END
same_told 'back: tells and exports the same' "$db" back.db
ok 'back: the same hashes' equal_words "$(digest "$there" back.db)"
ok 'back: the same hashes as at first' equal_words "$(digest "$db" back.db)"

# Numbers of a database do not rise with time: two processes have blocks of their own. A file that
# was copied from it lists by time, too.
q --db "$there" new 'The last one' --id last
for i in 1 2 3; do
    q --db "$there" fork trip --id "late-$i"
done
t 'back: again' 0 copy --from "$there" --to back.db -q <<'END'
END
newest() { "$RAMET" --db "$1" -u u1 list -q --limit 1000 --archived include; }
is 'back: lists in the same order' "$(newest "$there")" "$(newest back.db)"
same_told 'back: the same at the end' "$there" back.db
finish
