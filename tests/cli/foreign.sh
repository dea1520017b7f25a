#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# import --from: what other programs have written.
. "$(dirname "$0")/lib.bash"
files=$root/tests/foreign

t 'from: a folder' 0 import --from claude-code "$files/claude-code" <<'OUT'
read 3 conversations with 24 messages
2 sessions are forks of others; 7 messages are shared, 411 B saved
skipped 1: lines that are not JSON objects (first: -src-app/bbbb0000-0000-4000-8000-000000000002.jsonl:12)
skipped 1: files that are not transcripts (.jsonl) (first: -src-app/notes.txt)
added 3 sessions with 17 entries; 0 were there before
OUT
t 'from: again' 0 import --from claude-code "$files/claude-code" <<'OUT'
read 3 conversations with 24 messages
skipped 1: lines that are not JSON objects (first: -src-app/bbbb0000-0000-4000-8000-000000000002.jsonl:12)
skipped 1: files that are not transcripts (.jsonl) (first: -src-app/notes.txt)
added 0 sessions with 0 entries; 3 were there before
OUT
is 'from: the forks are in one tree' "$("$RAMET" list --json | grep -o '"title":"[^"]*"' | sort)" '"title":"Build"
"title":"Files of the app"
"title":"Subagent ab12"'
t 'from: a file, as JSON' 0 --json import --from open-webui "$files/open-webui/chat-export-1.json" <<'OUT'
{"sessions_added":2,"entries_added":6,"sessions_known":0,"conversations":2,"messages":9,"forks_added":1,"entries_shared":3,"bytes_shared":231}
OUT
IN=@$files/openai-jsonl/log.jsonl t 'from: standard input' 0 import --from openai-jsonl <<'OUT'
read 3 conversations with 13 messages
1 session is a fork of others; 3 messages are shared, 95 B saved
skipped 1: conversations that are in the file already (first: line 4)
skipped 1: lines that are not JSON objects (first: line 5)
added 3 sessions with 10 entries; 0 were there before
OUT
# A conversation that has grown.
head -n 1 "$files/openai-jsonl/log.jsonl" | sed 's/]}$/, {"role": "user", "content": "Thanks"}]}/' >grown.jsonl
t 'from: a file that has grown' 0 import --from openai-jsonl grown.jsonl <<'OUT'
read 1 conversation with 4 messages
added 0 sessions with 1 entry; 1 was there before
OUT
t 'from: an unknown program' 2 import --from word file.json <<'OUT'
ramet: --from is 'word'; it must be one of claude-code|codex|opencode|chatgpt|claude-ai|open-webui|librechat|openai-jsonl
OUT
t 'from: not with --owners' 2 import --from codex --owners "$files/codex" <<'OUT'
ramet: files of other programs have no owners of this store
OUT
printf 'PK\3\4' >export.zip
t 'from: a packed export' 2 import --from chatgpt export.zip <<'OUT'
ramet: this is a packed archive (zip or gzip); unpack it, and import the folder or the file in it
OUT
t 'from: another format' 2 import --from chatgpt "$files/librechat/weather.json" <<'OUT'
ramet: no conversation of chatgpt was found in it: conversations without id or mapping
OUT
t 'from: something else' 2 import --from codex "$files/claude-code" <<'OUT'
ramet: no conversation of codex was found in it: files that are not rollouts (.jsonl), first in -src-app/notes.txt
OUT
t 'from: no such path' 2 import --from codex nowhere <<'OUT'
ramet: nowhere cannot be read: No such file or directory
OUT
mkdir empty
t 'from: an empty folder' 2 import --from codex empty <<'OUT'
ramet: no conversation of codex was found in it
OUT
long=$(printf 'd%.0s' {1..120})
mkdir -p "deep/$long" && cp "$files"/codex/2026/03/02/*aaaa.jsonl "deep/$long/"
ln -s "$files" deep/link
t 'from: long names; links are not followed' 0 import --from codex deep -q <<'OUT'
OUT
is 'from: a session of it' "$("$RAMET" list --json | grep -c 'Rename the function')" 1
finish
