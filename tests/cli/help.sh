#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# help, the man page, docs/cli.md, completion, version, and how fast it starts.
. "$(dirname "$0")/lib.bash"

t 'help: the overview' 0 help <<'END'
Ramet stores AI conversations so that any of them can be forked, rewound, edited and compared at any
message, instantly, without copying or losing anything.

usage: ramet COMMAND [arguments] [options]

Start and write
  new          Start a session
  append       Append messages to a session
  edit         Write a new version of a message
  regenerate   Branch before an answer, to make another one
  sync         Make the history equal to a list of messages
  chat         Chat with an agent in the terminal

Read
  list         List sessions, newest first
  log          Show a history, oldest first
  show         Show a session, or one entry in full
  tree         Draw the forks of a tree
  branches     List the branches of a session, or the versions of a message
  moves        Show the head log: who moved the head, when and why
  suggest      Show places worth forking, and tags, found in the text
  record       Show everything ever appended to a session, in that order
  state        Show the session state, now or at an entry
  usage        Sum tokens and cost of a session, its path and its tree
  overlays     List what is hidden from the model, or replaced for it

Move through history
  fork         Start a new session that shares the history up to an entry
  rewind       Move the head back to an entry
  undo         Undo the last move of the head
  redo         Redo the last undone move
  switch       Move the head to another branch or version
  merge        Bring what another session has into this one
  hide         Hide an entry from the model
  replace      Have an entry say something else to the model
  reveal       Take back a 'hide' or 'replace'

Find and compare
  diff         Compare histories from where they differ
  verdict      Record which side was better, or list such verdicts
  search       Search the text of all messages

Organise
  set          Change title, agent, metadata or visibility; archive
  tag          Show or change tags
  members      Show or change who may read and write a tree
  sandbox      Create, list and remove sandboxes
  template     Pin sessions as templates, and start chats from them
  share        Create a link to one session for users outside its tree
  shares       List the share links of a session
  unshare      Revoke a share link
  promote      Make an ephemeral session permanent
  rm           Delete a session, optionally with all its forks
  restore      Restore a deleted session, or a pruned branch
  branch       Name a branch, or make it the favourite path of its session
  prune        Remove a branch, or all branches but the current path, from a session
  erase        Take content out of the store for good: an entry, a session, a tree, a user
  export       Write a session, its tree, or all that you have to a file
  import       Add what an exported file, or another program's, has and the store has not
  hold         Protect a session or a tree from deletion by any user
  release      Release a hold
  holds        List what protects a session, or all holds of the store

Serve
  acp          Record sessions between an editor and an ACP agent
  serve        Serve the store over HTTP

Maintain the store
  fsck         Check every hash, reference and head; exit with 7 if something is damaged
  gc           Remove deleted sessions for good after the grace period
  backup       Copy the store to a new file, online
  copy         Copy a store to another store or engine, row by row, online
  retention    Remove sessions by rule: age, tag, agent, ephemeral, archived
  stat         Show the size of the store and what it contains
  reindex      Rebuild the search index
  token        Create, list and revoke the API keys of a server
  schema       Print the statements that create the tables of a store

About
  help         Show this overview, or the help for a command
  completion   Print the completion script for a shell
  version      Show the version

Options of every command
      --db PATH      the store's file
      --server URL   use a Ramet server instead of a file
      --token TOKEN  the API key for the server
  -u, --user USER    act as this user (default: local)
      --json         print one JSON value for programs; errors too
  -q, --quiet        print only what a script needs: an id, or nothing
      --color WHEN   when to use colour (auto|always|never)
      --no-pager     do not use a pager
  -h, --help         show help, for a command if one is given
      --version      show the version

Names
  SESSION      a session's id, or its first or last characters (4 or more) if only one session has
               them; @ is the newest session, @2 the one created before it
  ENTRY        an entry's id, or its first or last characters (4 or more) if only one entry of the
               path has them; @1 is the first entry, @2 the second, @-1 the last
  BRANCH       a branch as shown by 'ramet branches', such as b17; 'switch', 'branch', 'prune' and
               'restore' also accept its name
  SIDE         a SESSION, or a branch of one: SESSION@b17
  SPAN         90s, 30m, 12h, 7d or 2w
  TIME         a date (2026-01-31), an RFC 3339 time, or a SPAN before now

'ramet help COMMAND' shows the help for a command; 'ramet help --man' prints the
whole manual, with the exit codes and the environment.
END
COLUMNS=60 t 'help: of a command, wrapped' 0 undo --help <<'END'
ramet undo: Undo the last move of the head

usage: ramet undo SESSION [options]

Moves are rewind, switch, edit, regenerate, sync, merge,
hide, replace and reveal; appending is not a move. There is
no limit. A new move discards what could be redone.

Arguments
  SESSION  the session

Options
      --expect HASH  fail with exit code 5 unless the
                     history still has this prefix_hash

'ramet help' shows the options of every command and how sessions and entries are named.
END
t 'help: --help of a command' 0 rewind --help <<'END'
ramet rewind: Move the head back to an entry

usage: ramet rewind SESSION [ENTRY] [options]

The entries after it stay on their branch; 'ramet undo' returns to them.

Arguments
  SESSION  the session
  ENTRY    the last entry to keep; required, here or with --at

Options
      --at ENTRY     the same as ENTRY
      --before       cut before ENTRY instead of after it
      --cut HOW      how to move the cut so that a tool call keeps its result
                     (exact|snap_before|snap_after)
  -m, --reason TEXT  the reason to record
      --expect HASH  fail with exit code 5 unless the history still has this prefix_hash

Examples
  ramet rewind @ @-3
      drop the last two entries
  ramet rewind @ @1 --before
      back to an empty history

'ramet help' shows the options of every command and how sessions and entries are named.
END
is 'help: --help, help COMMAND and -h are the same' "$("$RAMET" fork --help | md5sum) $("$RAMET" -h fork | md5sum)" \
    "$("$RAMET" help fork | md5sum) $("$RAMET" help fork | md5sum)"
t 'help: no such command' 2 help fly <<'END'
ramet: there is no command 'fly'; see 'ramet help'
END
t 'version' 0 version <<'END'
ramet 0.1.0
END
t 'version: as an option, for programs' 0 --version --json <<'END'
{"version":"0.1.0"}
END

commands=$("$RAMET" help | sed -n '/^Start/,/^Options/s/^  \([a-z]*\) .*/\1/p')
for verb in new append log show list tree fork rewind undo redo branches switch diff search tag usage state members rm \
    restore fsck gc backup copy stat; do
    has "help: tells $verb" " $(echo "$commands" | tr '\n' ' ') " " $verb "
done
missing=''
for verb in $commands; do
    "$RAMET" help "$verb" | grep -q '^usage: ramet '"$verb" || missing="$missing $verb"
done
is 'help: every command has its own' "$missing" ''

"$RAMET" help --man >ramet.1
if command -v groff >/dev/null; then
    is 'man page: no warnings' "$(groff -man -ww -Tutf8 ramet.1 2>&1 >/dev/null)" ''
    page=$(MANWIDTH=80 man -l ramet.1 2>/dev/null | col -b)
    [ -n "$page" ] || page=$(groff -man -Tascii ramet.1 | sed 's/\x1b\[[0-9]*m//g')
    has 'man page: the exit codes' "$page" 'head_moved: the history is not what expected_head says'
    has 'man page: the environment' "$page" 'RAMET_DB'
    has 'man page: a command' "$page" 'ramet rewind SESSION [ENTRY] [options]'
else
    skip 'man page' 'groff is not installed'
fi
ok 'docs/cli.md is what ramet help --markdown prints' diff "$root/docs/cli.md" <("$RAMET" help --markdown)

# ---- completion

for shell in bash zsh fish; do
    "$RAMET" completion "$shell" >"complete.$shell"
    if command -v "$shell" >/dev/null; then
        ok "completion: $shell takes the script" "$shell" -n "complete.$shell"
    else
        skip "completion: $shell takes the script" "$shell is not installed"
    fi
done
t 'completion: no such shell' 2 completion csh <<'END'
ramet: there is no completion for 'csh'; take bash, zsh or fish
END
plant
t 'completion: commands' 0 __complete re <<'END'
regenerate	Branch before an answer, to make another one
record	Show everything ever appended to a session, in that order
rewind	Move the head back to an entry
redo	Redo the last undone move
replace	Have an entry say something else to the model
reveal	Take back a 'hide' or 'replace'
restore	Restore a deleted session, or a pruned branch
release	Release a hold
retention	Remove sessions by rule: age, tag, agent, ephemeral, archived
reindex	Rebuild the search index
END
t 'completion: options of a command' 0 __complete rewind --re <<'END'
--reason	the reason to record
END
t 'completion: global options' 0 __complete --c <<'END'
--color	when to use colour
END
t 'completion: values' 0 __complete append trip --role '' <<'END'
user
assistant
tool
system
END
t 'completion: values behind =' 0 __complete append trip --role=a <<'END'
--role=assistant
END
t 'completion: sessions' 0 __complete log '' <<'END'
@	the newest session
coach	By bus
trip	Trip to Lisbon
END
t 'completion: branches of the session' 0 __complete switch trip b <<'END'
b1	How do I get from Porto to Lisbon?
b3	And at night, cheaply?
END
t 'completion: tags' 0 __complete list --tag t <<'END'
travel	1 session
END
t 'completion: actions' 0 __complete tag trip '' <<'END'
add
rm
set
END
t 'completion: files' 0 __complete backup '' <<'END'
:file
END
t 'completion: another store' 0 __complete --db "$scratch/none.db" log '' <<'END'
END
is 'completion: made no store' "$(ls none.db 2>/dev/null)" ''

# Completes a line in bash as readline would call it; prints what is offered.
complete_in_bash() {
    PATH=$(dirname "$RAMET"):$PATH bash --norc -c '
        source complete.bash
        COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
        read -r -a COMP_WORDS <<<"${1//=/ = }"
        [[ $1 == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _ramet
        echo "${COMPREPLY[*]}"' - "$1"
}
if [ "$(basename "$RAMET")" = ramet ]; then
    is 'bash: a command' "$(complete_in_bash 'ramet rew')" 'rewind'
    is 'bash: a session' "$(complete_in_bash 'ramet log co')" 'coach'
    is 'bash: an option' "$(complete_in_bash 'ramet log trip --onel')" '--oneline'
    is 'bash: a value behind =' "$(complete_in_bash 'ramet append trip --role=ass')" 'assistant'
    is 'bash: a branch' "$(complete_in_bash 'ramet switch trip ')" 'b1 b3'
    touch file-here
    is 'bash: a file' "$(complete_in_bash 'ramet backup file-h')" 'file-here'
fi

best=999
for _ in 1 2 3 4 5; do
    from=$(date +%s%N)
    "$RAMET" list -q >/dev/null
    took=$((($(date +%s%N) - from) / 1000000))
    [ "$took" -ge "$best" ] || best=$took
done
echo "# starts, opens the store and lists in $best ms"
finish
