#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suggest.
. "$(dirname "$0")/lib.bash"
q new --id s
IN='[{"id": "q1", "role": "user", "text": "Which train goes to Lisbon?"}, {"id": "a1", "role": "assistant", "text": "The train at nine goes to Lisbon."},
 {"id": "q2", "role": "user", "text": "No, the night train to Lisbon."}, {"id": "a2", "role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": "trains", "input": {}}]},
 {"id": "r2", "role": "tool", "parts": [{"type": "tool_result", "id": "c", "output": "error: no answer", "is_error": true}]}]' \
    t 'a talk' 0 append s -q <<'END'
END
t 'suggest: places and tags' 0 suggest s <<'END'
ENTRY  KIND         WHY
q2     correction   it corrects the answer before it ("no")
r2     failed_tool  a tool failed ("is_error")
tags: #lisbon #train
END
t 'suggest: for programs' 0 suggest s --json <<'END'
{"suggestions":[{"entry_id":"q2","kind":"correction","why":"it corrects the answer before it (\"no\")"},{"entry_id":"r2","kind":"failed_tool","why":"a tool failed (\"is_error\")"}],"tags":["lisbon","train"]}
END
t 'suggest: the tags are taken' 0 suggest s --tag -q <<'END'
ENTRY  KIND         WHY
q2     correction   it corrects the answer before it ("no")
r2     failed_tool  a tool failed ("is_error")
tags: #lisbon #train
END
t 'suggest: those that are there are not proposed' 0 suggest s --json <<'END'
{"suggestions":[{"entry_id":"q2","kind":"correction","why":"it corrects the answer before it (\"no\")"},{"entry_id":"r2","kind":"failed_tool","why":"a tool failed (\"is_error\")"}],"tags":[]}
END
t 'suggest: another branch' 3 suggest s --branch b99 <<'END'
ramet: session s has no branch b99
END
q new --id empty
t 'suggest: nothing' 0 suggest empty <<'END'
no place of this session stands out
END
finish
