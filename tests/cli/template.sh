#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# template; log --record.
. "$(dirname "$0")/lib.bash"
plant

t 'list: none' 0 template list <<'END'
no templates; 'ramet template add SESSION' makes one
END
"$RAMET" new --id form -q >/dev/null
"$RAMET" append form 'Dear {{name}}, about {{what}} and {{else}}' --id f1 -q >/dev/null
"$RAMET" append form 'Noted, {{name}}.' --role assistant --id f2 -q >/dev/null
id=$("$RAMET" template add form --name 'A letter' -p name -p what 2>/dev/null)
is 'add: prints the id' "$(printf %s "$id" | wc -c)" 36
"$RAMET" append form 'later' --id f3 -q >/dev/null
is 'list: for programs' "$("$RAMET" template list --json | grep -o '"name":"[^"]*","placeholders":[^]]*]')" '"name":"A letter","placeholders":["name","what"]'
is 'show: where it is pinned' "$("$RAMET" template show 'A letter' | tail -n 4)" '  name          A letter
  session       form
  entries       2, up to f2
  placeholders  name, what'
t 'new: a value is missing' 2 template new 'A letter' name=Ann <<'END'
ramet: the placeholder what has no value
END
t 'new: a name that there is not' 2 template new 'A letter' name=Ann what=x who=me <<'END'
ramet: the template has no placeholder who; it has: name, what
END
t 'new: not a value' 2 template new 'A letter' name <<'END'
ramet: 'name' is not NAME=TEXT
END
t 'new: a chat' 0 template new 'A letter' name=Ann what='a=b' --id letter -q <<'END'
letter
END
is 'log: filled' "$("$RAMET" log letter --json | grep -o '"text":"[^"]*","parts"')" '"text":"Dear Ann, about a=b and {{else}}","parts"
"text":"Noted, Ann.","parts"'
is 'log: the record' "$("$RAMET" log letter --record --json | grep -o '"text":"[^"]*","parts"')" '"text":"Dear {{name}}, about {{what}} and {{else}}","parts"
"text":"Noted, {{name}}.","parts"'
t 'values: of the chat' 0 template values letter <<'END'
name=Ann
what=a=b
END
t 'values: of another session' 0 template values form <<'END'
the session was not made from a template
END
t 'set: nothing' 2 template set 'A letter' <<'END'
ramet: nothing to change; give --name, --placeholder or --at
END
is 'set: name and entry' "$("$RAMET" template set 'A letter' --name Note --at f1 --no-placeholders --json | grep -o '"entry_id":"[^"]*"')" '"entry_id":"f1"'
t 'rm: one that there is not' 3 template rm nothing <<'END'
ramet: there is no template nothing
END
is 'rm: unpins it' "$("$RAMET" template rm Note >/dev/null 2>&1; "$RAMET" template list --json)" '{"templates":[]}'
is 'log: the chat stays' "$("$RAMET" log letter --json | grep -c 'Dear Ann')" 1
t 'an action that there is not' 2 template burn <<'END'
ramet: 'burn' is no action; take add, list, show, set, rm, new or values
END
t 'add: no session' 2 template add <<'END'
ramet: name the session to pin
END
finish
