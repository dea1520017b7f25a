#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# copy: all of a store, again, while others write, killed, damaged, on a full disk, refused.
. "$(dirname "$0")/lib.bash"
plant
db=$RAMET_DB

copy() { "$RAMET" copy --from "$db" "$@"; }
# Everything that the tool tells some users about every session, to compare two stores.
told() {
    local user id
    for user in ann u1; do
        "$RAMET" --db "$1" -u $user list --json --limit 1000 --archived include
        "$RAMET" --db "$1" -u $user list -q --limit 1000 --archived include | while read -r id; do
            for verb in log branches moves tree; do
                "$RAMET" --db "$1" -u $user $verb "$id" --json
            done
        done 2>&1
    done
}
same_told() { is "$1" "$(told "$2" | cksum)" "$(told "$3" | cksum)"; }

# ---- all of it

t 'copy: both places' 2 copy --from "$db" <<'END'
ramet: a copy needs --from STORE and --to STORE
END
t 'copy: no source' 6 copy --from none.db --to x.db <<'END'
ramet: there is no store at none.db
END
ok 'copy: nothing was made for it' test ! -e x.db
t 'copy' 0 copy --from "sqlite:$db" --to sqlite:b.db <<'END'
✓ 33 rows written, 0 removed, 0 attachments copied: no faults in TIME
END
same_told 'copy: tells the same' "$db" b.db
t 'copy: sound' 0 fsck --db b.db -q <<'END'
END
t 'copy: verified' 0 copy --from "$db" --to b.db --verify-only <<'END'
✓ compared 1 tree, 8 entries, 0 attachments: no faults in TIME
END
t 'copy: for programs' 0 copy --from "$db" --to b.db --json <<'END'
{"verify_only":false,"resumed":false,"trees":0,"entries":0,"attachments":0,"written":0,"removed":0,"passes":1,"behind":0,"source_digest":"HASH","target_digest":"HASH","n_faults":0,"faults":[]}
END
q append trip --id e5 'One more thing.'
t 'copy: again' 0 copy --from "$db" --to b.db <<'END'
✓ 3 rows written, 0 removed, 0 attachments copied: no faults in TIME
END
same_told 'copy: again, tells the same' "$db" b.db
t 'copy: and back' 0 copy --from b.db --to c.db -q <<'END'
END
t 'copy: what came back' 0 copy --from "$db" --to c.db --verify-only -q <<'END'
END

# ---- refused

t 'copy: onto itself' 2 copy --from "$db" --to "$db" <<'END'
ramet: source and target are the same store
END
q --db other.db new Other --id other
t 'copy: into another store' 2 copy --from "$db" --to other.db <<'END'
ramet: the target has sessions of its own; a copy goes to a new store
END
t 'copy: into the copy of another store' 2 copy --from other.db --to b.db <<'END'
ramet: the target is a copy of another store
END
q --db c.db append trip --id own 'mine'
t 'copy: into one that went its own way' 2 copy --from b.db --to c.db <<'END'
ramet: the target was written to since it was copied; a copy goes to a new store
END
t 'copy: errors for programs' 2 copy --from "$db" --to other.db --json <<'END'
{"code":"invalid_request","error":"the target has sessions of its own; a copy goes to a new store","field":"to"}
END

# ---- a difference, and damage

# Changes one letter of a text in the file itself.
forge() {
    local at
    at=$(grep -abo "$2" "$1" | head -n 1 | cut -d: -f1)
    printf X | dd of="$1" bs=1 seek="$at" conv=notrunc status=none
}
q append trip --id w 'a wombat was here'
copy --to w.db -q
forge w.db 'wombat was'
said=$(copy --to w.db --verify-only)
is 'difference: exit code' $? 7
has 'difference: named' "$said" 'entry tree=1 k='
has 'difference: its column' "$said" ': its text differs'
has 'difference: breaks the chain' "$said" 'entry w: its hash is wrong'
cp "$db" forged.db
forge forged.db 'wombat was'
said=$("$RAMET" copy --from forged.db --to f.db)
is 'damaged source: exit code' $? 7
has 'damaged source: named' "$said" 'session trip, branch b3, position 5, entry w: its hash is wrong'
ok 'damaged source: the rest is there' "$RAMET" --db f.db log coach

# ---- worlds of the model

if [ -x "${B:-}/tests/model" ]; then
    mkdir worlds
    "$B/tests/model" --ops 4000 --keep worlds >/dev/null
    n=0
    for world in worlds/model-*.db; do
        n=$((n + 1))
        "$RAMET" copy --from "$world" --to "world$n.db" -q
        is "world $n: copied" $? 0
        ok "world $n: verified" "$RAMET" copy --from "$world" --to "world$n.db" --verify-only
        same_told "world $n: tells the same" "$world" "world$n.db"
    done
else
    skip 'worlds of the model' 'the model driver is not built'
fi

# ---- larger: killed, stopped, on a full disk, two at once, while others write

awk 'BEGIN { for (i = 0; i < 1000; i++) printf "{\"id\":\"%d\",\"role\":\"user\",\"text\":\"message %d %0200d\"}\n", i, i, i }' >many.jsonl
for i in 1 2 3 4 5 6; do
    q new "Long $i" --id "long$i"
    "$RAMET" append -q "long$i" <many.jsonl >/dev/null
    q fork "long$i" --id "fork$i"
    q append "fork$i" 'and on'
done

killed=0
for i in $(seq 20); do
    "$RAMET" copy --from "$db" --to k.db -q 2>/dev/null &
    pid=$!
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    kill -KILL $pid 2>/dev/null && killed=$((killed + 1))
    wait $pid 2>/dev/null
    # Later rounds begin anew now and then, so that every part is met.
    if [ $((i % 5)) = 0 ] && [ "$i" -lt 20 ]; then
        t "killed, round $i: the next goes on" 0 copy --from "$db" --to k.db -q <<'END'
END
        t "killed, round $i: whole" 0 copy --from "$db" --to k.db --verify-only -q <<'END'
END
        rm -f k.db k.db-wal k.db-shm
    fi
done
ok "killed: in $killed of 20 rounds" test $killed -gt 5
t 'killed: the next goes on' 0 copy --from "$db" --to k.db -q <<'END'
END
t 'killed: whole' 0 copy --from "$db" --to k.db --verify-only -q <<'END'
END
t 'killed: sound' 0 fsck --db k.db -q <<'END'
END

(
    trap '' XFSZ
    ulimit -f 1024
    copy --to full.db >full.out 2>&1
    echo $? >full.code
)
is 'full disk: exit code' "$(cat full.code)" 6
has 'full disk: told' "$(cat full.out)" 'the target: database or disk is full'
said=$("$RAMET" --db full.db list 2>&1)
is 'full disk: the copy is not opened' $? 6
has 'full disk: it says why' "$said" "full.db is a copy that is not finished; 'ramet copy' goes on with it"
said=$(copy --to full.db)
is 'full disk: the next goes on' $? 0
has 'full disk: and says so' "$said" 'went on; '
t 'full disk: whole' 0 copy --from "$db" --to full.db --verify-only -q <<'END'
END

"$RAMET" copy --from "$db" --to two.db -q &
first=$!
for _ in $(seq 100); do
    [ ! -s two.db ] || break
    sleep 0.01
done
sleep 0.03
kill -STOP $first
said=$(copy --to two.db -q 2>&1)
code=$?
# It may have been stopped in the middle of a commit: then the second does not get as far.
for _ in $(seq 5); do
    case $said in *locked*) ;; *) break ;; esac
    kill -CONT $first
    sleep 0.02
    kill -STOP $first
    said=$(copy --to two.db -q 2>&1)
    code=$?
done
is 'two at once: the second is refused' "$code $said" '6 ramet: another copy into the target is running'
kill -CONT $first
wait $first
is 'two at once: the first ends' $? 0

(
    i=0
    # Bounded: each session that is born is told twice below.
    while [ ! -e enough ] && [ $i -lt 30 ]; do
        i=$((i + 1))
        "$RAMET" -q append "long$((i % 6 + 1))" "while it is copied $i"
        "$RAMET" -q fork "long$((i % 5 + 1))" --id "born$i"
    done
) >/dev/null 2>&1 &
writer=$!
for _ in 1 2 3; do
    copy --to live.db -q >live.out 2>&1
    code=$?
    case $code in
    0 | 8) tap_result 0 'while others write: copied, or behind' ;;
    *) tap_result 1 'while others write: copied, or behind' "exit code $code: $(cat live.out)" ;;
    esac
done
touch enough
wait $writer
t 'while others write: the last one catches up' 0 copy --from "$db" --to live.db -q <<'END'
END
t 'while others write: whole' 0 copy --from "$db" --to live.db --verify-only -q <<'END'
END
same_told 'while others write: tells the same' "$db" live.db
finish
