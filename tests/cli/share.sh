#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# share, shares, unshare and token.
. "$(dirname "$0")/lib.bash"

# Secrets and the ends of ids change from run to run, too.
eval "$(declare -f steady | sed '1s/steady/steady_all/')"
steady() {
    steady_all | sed -E -e 's/\brm([st])_[0-9a-f]{64}\b/rm\1_SECRET/g' -e 's/\b[0-9a-f]{8}\b/SHORTID_/g' \
        -e 's/20[0-9]{2}-[0-9]{2}-[0-9]{2} [0-9:]{8}/DATE/g'
}
# The id of the N-th of a list in JSON.
id_of() { grep -o '"id":"[^"]*"' | sed -n "$1p" | cut -d'"' -f4; }

t 'token: list makes the store, and is empty' 0 token list <<'END'
no tokens; 'ramet token create --user USER' makes one
END
plant
q members trip set bob writer

t 'share: to read' 0 share trip --expires 7d <<'END'
rms_SECRET
whoever has it may read trip; it is not shown again, 'ramet unshare trip SHORTID_' ends it
END
t 'share: to write, for programs' 0 share trip --write --json <<'END'
{"id":"UUID","session_id":"trip","write":true,"created_by":"ann","created_at":"TIME","expires_at":null,"token":"rms_SECRET"}
END
t 'share: in a script' 0 share trip -w -q <<'END'
rms_SECRET
END
t 'shares: a table' 0 shares trip <<'END'
ID        ACCESS  BY   MADE  EXPIRES
SHORTID_  read    ann  now   DATE
SHORTID_  write   ann  now   never
SHORTID_  write   ann  now   never
END
t 'share: a writer may not' 4 share trip -u bob <<'END'
ramet: this needs the session's owner or a manager of the tree; bob is writer
END
t 'shares: nor see them' 4 shares trip -u bob <<'END'
ramet: this needs the session's owner or a manager of the tree; bob is writer
END
t 'share: not in a tree of others' 3 share trip -u eve <<'END'
ramet: there is no session 'trip'; 'ramet list' shows them
END
t 'share: no such time' 2 share trip --expires soon <<'END'
ramet: --expires is 'soon'; it must be a span like 90s, 30m, 12h or 7d
END
first=$("$RAMET" shares trip --json | id_of 1)
second=$("$RAMET" shares trip --json | id_of 2)
t 'unshare: by the end of its id' 0 unshare trip "${first: -8}" <<'END'
ended the share link SHORTID_
END
t 'unshare: for programs' 0 unshare trip "$second" --json <<'END'
{"id":"UUID","revoked":true}
END
t 'unshare: it is gone' 3 unshare trip "$second" <<'END'
ramet: session trip has no share link UUID
END
t 'unshare: of another session' 3 unshare coach "$("$RAMET" shares trip --json | id_of 1)" <<'END'
ramet: session coach has no share link UUID
END
t 'shares: what is left, for programs' 0 shares trip --json <<'END'
{"shares":[{"id":"UUID","session_id":"trip","write":true,"created_by":"ann","created_at":"TIME","expires_at":null}]}
END
t 'shares: none' 0 shares coach <<'END'
no share links; 'ramet share SESSION' makes one
END

t 'token: create' 0 token create --user ann --roles admin,auditor --expires 12w --note 'her laptop' <<'END'
rmt_SECRET
it stands for ann and is not shown again; 'ramet token revoke SHORTID_' ends it
END
t 'token: create, for programs' 0 token create --user bob --client ci --json <<'END'
{"id":"UUID","user":"bob","client":"ci","roles":[],"note":"","created_at":"TIME","expires_at":null,"used_at":null,"revoked":false,"secret":"rmt_SECRET"}
END
t 'token: create, in a script' 0 token create --user bob -q <<'END'
rmt_SECRET
END
t 'token: for whom?' 2 token create <<'END'
ramet: a token stands for a user; give --user USER
END
t 'token: roles are words' 2 token create --user ann --roles 'a b' <<'END'
ramet: roles are words of letters, digits, - and _, parted by commas
END
t 'token: list' 0 token list <<'END'
ID        USER  CLIENT  ROLES          MADE  USED   EXPIRES              NOTE
SHORTID_  ann           admin,auditor  now   never  DATE  her laptop
SHORTID_  bob   ci                     now   never  never
SHORTID_  bob                          now   never  never
END
first=$("$RAMET" token list --json | id_of 1)
t 'token: revoke, by the end of its id' 0 token revoke "${first: -8}" <<'END'
revoked the token SHORTID_
END
t 'token: revoke, for programs' 0 token revoke "$("$RAMET" token list --json | id_of 2)" --json <<'END'
{"id":"UUID","revoked":true}
END
t 'token: list, for programs' 0 token list --json <<'END'
{"tokens":[{"id":"UUID","user":"ann","client":null,"roles":["admin","auditor"],"note":"her laptop","created_at":"TIME","expires_at":"TIME","used_at":null,"revoked":true},{"id":"UUID","user":"bob","client":"ci","roles":[],"note":"","created_at":"TIME","expires_at":null,"used_at":null,"revoked":true},{"id":"UUID","user":"bob","client":null,"roles":[],"note":"","created_at":"TIME","expires_at":null,"used_at":null,"revoked":false}]}
END
t 'token: revoke which?' 2 token revoke <<'END'
ramet: which? 'ramet token list' shows the ids
END
t 'token: no such token' 3 token revoke none <<'END'
ramet: there is no token none
END
t 'token: no such action' 2 token drop <<'END'
ramet: 'drop' is no action; take create, list or revoke
END
t 'token: too many words' 2 token list all <<'END'
ramet: 'all' is one word too many
END

finish
