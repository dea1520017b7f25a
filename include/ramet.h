/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet.h: the library. This header is its manual.
 *
 * Ramet keeps AI conversations so that any of them can be forked, rewound,
 * edited and compared at any message without copying or losing anything.
 *
 *   entry    one immutable item of history (a message, an event, a tool result)
 *   branch   an append-only run of entries that starts at position `base` of
 *            another branch's history
 *   session  what people call a chat; its *head* is the branch that it is on now
 *   tree     a root session with all forks that descend from it
 *   log      a session has one log, "main"; a runtime that keeps raw events
 *            beside the messages has a second one, "adk"
 *
 * This header is the model. include/ramet/ has what serves one protocol, or a server, alone:
 * memory.h, kagent.h, agentpod.h, tasks.h, sandboxes.h, tokens.h, nodes.h. merge.h there belongs
 * to the model, too: it brings the history of one session into another; and templates.h, with
 * sessions that new chats begin with. retention.h has holds and the rules by which sessions go.
 * export.h and foreign.h are about files: Ramet's own, and those of other programs.
 *
 * A position counts entries from 0 along the path from the root to the head.
 *
 * THREADS   A `ramet *` may be used by any number of threads at once. A
 *           `ramet_call *` belongs to one thread at a time. Several processes
 *           may have the same file open.
 *
 * MEMORY    Every answer lives in the `ramet_call` that asked for it, until
 *           ramet_call_reset() or ramet_call_free(). Never free a part of it.
 *           Arguments are read during the call and not kept.
 *
 * STRINGS   UTF-8, NUL-terminated. U+0000 is refused in text. NULL means "not
 *           given" in an argument and "none" in an answer.
 *
 * ERRORS    Every call that can fail returns a ramet_status; RAMET_OK is 0.
 *           ramet_call_error() then says what was wrong, with which value. A
 *           call that fails has changed nothing, unless RAMET_IO or
 *           RAMET_FULL came from the commit itself: then the change was
 *           not acknowledged, and may or may not be there after a restart.
 *
 * TIME      Microseconds since 1970-01-01 UTC, in an int64_t.
 *
 * COST      "O(1)" counts database pages touched; a write also waits for one
 *           durable commit, which it shares with all writes waiting at that time.
 *           n is the length of the history, d the number of nested forks.
 */
#ifndef RAMET_H
#define RAMET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RAMET_API __attribute__((visibility("default")))
#else
#define RAMET_API
#endif

#define RAMET_VERSION "0.1.0"

/* ------------------------------------------------------------------ errors */

/* clang-format off */
/* Every status: name, stable code for machines, HTTP status, exit code of the command-line tool,
 * meaning. */
#define RAMET_STATUSES(X)                                                                          \
    X(OK, "ok", 200, 0, "done")                                                                    \
    X(INVALID, "invalid_request", 400, 2, "an argument has the wrong shape; `field` names it")     \
    X(BAD_ID, "invalid_id", 400, 2, "an id is not 1-255 bytes of UTF-8 without control characters") \
    X(BAD_TAG, "invalid_tag", 400, 2, "a tag is not 1-50 characters")                              \
    X(BAD_CURSOR, "invalid_cursor", 400, 2, "a cursor was not made by this list")                  \
    X(TOO_MANY_TAGS, "too_many_tags", 400, 2, "more tags than a session may have")                 \
    X(ENTRY_TOO_LARGE, "entry_too_large", 413, 2, "an entry is over the size limit")               \
    X(BATCH_TOO_LARGE, "batch_too_large", 413, 2, "more entries than one batch may hold")          \
    X(TITLE_TOO_LONG, "title_too_long", 413, 2, "a title is over the limit")                       \
    X(REASON_TOO_LONG, "reason_too_long", 413, 2, "a reason is over the limit")                    \
    X(TOO_LARGE, "too_large", 413, 2, "another argument is over its limit; `field` names it")      \
    X(PATH_FULL, "path_full", 422, 2, "a history cannot grow past 16,777,215 entries")             \
    X(SESSION_NOT_FOUND, "session_not_found", 404, 3, "no such session")                           \
    X(HIDDEN, "session_not_found", 404, 3, "it exists, but the caller may not know that")          \
    X(ENTRY_NOT_FOUND, "entry_not_found", 404, 3, "no such entry on that path")                    \
    X(BRANCH_NOT_FOUND, "branch_not_found", 404, 3, "no such branch in this session")              \
    X(MEMBER_NOT_FOUND, "member_not_found", 404, 3, "that user is not a member of the tree")       \
    X(TREE_NOT_FOUND, "tree_not_found", 404, 3, "no such tree")                                    \
    X(ATTACHMENT_NOT_FOUND, "attachment_not_found", 404, 3, "no such attachment")                  \
    X(SHARE_NOT_FOUND, "share_not_found", 404, 3, "no such share link, or it was revoked")         \
    X(SANDBOX_NOT_FOUND, "sandbox_not_found", 404, 3, "no such sandbox")                           \
    X(TOKEN_NOT_FOUND, "token_not_found", 404, 3, "no such token")                                 \
    X(HOLD_NOT_FOUND, "hold_not_found", 404, 3, "no such hold")                                    \
    X(OVERLAY_NOT_FOUND, "overlay_not_found", 404, 3, "no such overlay in force on this branch")   \
    X(TEMPLATE_NOT_FOUND, "template_not_found", 404, 3, "no such template")                        \
    X(UNAUTHENTICATED, "unauthenticated", 401, 4, "the token is unknown, expired or revoked")      \
    X(ATTACHMENT_IN_USE, "attachment_in_use", 409, 5, "an entry refers to the attachment")         \
    X(MEMBER_EXISTS, "member_exists", 409, 5, "that user is a member of the tree already")         \
    X(TRANSFER_NOT_FOUND, "transfer_not_found", 404, 3, "no such transfer")                        \
    X(TRANSFER_PENDING, "transfer_pending", 409, 5, "the tree is being handed over already")       \
    X(KEY_TAKEN, "key_taken", 409, 5, "an entry of the session has that key already")              \
    X(TURN_NOT_FOUND, "turn_not_found", 404, 3, "no such turn in this session")                    \
    X(TURN_RUNNING_ALREADY, "turn_running", 409, 5, "a turn runs on this branch already")          \
    X(TURN_OVER, "turn_over", 409, 5, "the turn has ended")                                        \
    X(AGENT_NOT_FOUND, "agent_not_found", 422, 2, "no agent of that name is configured")           \
    X(TOO_BUSY, "too_busy", 503, 6, "too many turns run or wait; try again")                       \
    X(KEY_MISMATCH, "idempotency_mismatch", 409, 5, "the idempotency key was used for another body") \
    X(DIGEST_MISMATCH, "digest_mismatch", 422, 2, "the bytes are not those of the SHA-256 given")  \
    X(IMPORT_DAMAGED, "import_damaged", 422, 2, "the file to import is damaged; a line is named")  \
    X(IMPORT_CONFLICT, "import_conflict", 409, 5, "the store has something else under these ids")  \
    X(FORBIDDEN, "forbidden", 403, 4, "the caller's level in the tree does not allow it")          \
    X(HEAD_MOVED, "head_moved", 409, 5, "the history is not what expected_head says")              \
    X(ENTRY_EXISTS, "entry_exists", 409, 5, "that entry id is on the path with other content")     \
    X(SESSION_EXISTS, "session_exists", 409, 5, "that session id is taken")                        \
    X(SANDBOX_EXISTS, "sandbox_exists", 409, 5, "that name of a sandbox is taken")                 \
    X(SESSION_DELETED, "session_deleted", 409, 5, "that session is deleted, and can be restored")  \
    X(NOTHING_TO_UNDO, "nothing_to_undo", 409, 5, "no move is left to undo")                       \
    X(NOTHING_TO_REDO, "nothing_to_redo", 409, 5, "no undone move is left to redo")                \
    X(MERGE_REFUSED, "merge_refused", 409, 5, "the merge does not apply; the message says why")    \
    X(BRANCH_PRUNED, "branch_pruned", 409, 5, "the branch was pruned")                             \
    X(BRANCH_NEEDED, "branch_needed", 409, 5, "the head or another path needs what would be pruned") \
    X(HELD, "held", 409, 5, "it is on hold, and stays until the hold is released")                 \
    X(DRY_RUN_FIRST, "dry_run_first", 409, 5, "the rules have changed since the last dry run")     \
    X(ANSWER_ERASED, "answer_erased", 409, 5, "the request was done; its kept answer was erased")  \
    X(BUSY, "store_busy", 503, 6, "another process held the store's lock for too long")            \
    X(STOPPED, "store_stopped", 503, 6, "writes are stopped after a failed write; reads go on")    \
    X(IO, "io_error", 503, 6, "the disk or the database failed; a file then takes no more writes")       \
    X(FULL, "disk_full", 503, 6, "the disk is full; writes are stopped until there is room")       \
    X(DAMAGED, "store_damaged", 500, 7, "the store's file is damaged; run `ramet fsck`")           \
    X(NOT_A_STORE, "not_a_store", 500, 7, "the file is not a Ramet store")                         \
    X(NEWER, "store_newer", 500, 7, "the store was written by a newer Ramet")                      \
    X(CANNOT_OPEN, "cannot_open", 500, 6, "the store's file cannot be opened or made")             \
    X(NO_MEMORY, "no_memory", 503, 6, "out of memory")                                             \
    X(BEHIND, "copy_behind", 503, 8, "trees changed while they were copied; copy again")           \
    X(STOP, "stopped_by_caller", 500, 1, "a callback of the caller asked to stop")                 \
    X(INTERNAL, "internal", 500, 70, "a bug in Ramet")

/* clang-format on */

typedef enum ramet_status {
#define X(name, code, http, exit_code, text) RAMET_##name,
    RAMET_STATUSES(X)
#undef X
        RAMET_STATUS_COUNT
} ramet_status;

/* The table above, by column. Any thread; constant strings. */
RAMET_API const char *ramet_status_code(ramet_status s);
RAMET_API const char *ramet_status_text(ramet_status s);
RAMET_API int ramet_status_http(ramet_status s);
RAMET_API int ramet_status_exit(ramet_status s);

/* A session's place in its history. */
typedef struct ramet_head {
    int64_t branch;       /* id of the head branch */
    int64_t length;       /* entries on the path */
    const char *entry_id; /* the last one; NULL when the history is empty */
    char hash[65];        /* prefix_hash of the whole path, lower-case hex; 64 zeros when empty */
    int64_t overlay;      /* number of the overlay set in force (ramet/overlays.h); 0: none */
} ramet_head;

typedef struct ramet_error {
    ramet_status status;
    char message[512]; /* one line: what, which value, what to do */
    char field[48];    /* the argument at fault, "" when none is */
    char subject[256]; /* id of what it is about: the turn of RAMET_TURN_RUNNING_ALREADY, the
                          attachment of RAMET_ATTACHMENT_NOT_FOUND; "" otherwise */
    bool hidden;       /* RAMET_ATTACHMENT_NOT_FOUND: it is there, but the caller may not know */
    bool conversation; /* RAMET_HIDDEN: the session was made by a ramet_make */
    ramet_head head;   /* RAMET_HEAD_MOVED: the present head; its entry_id lives in the call */
} ramet_error;

/* ------------------------------------------------------------ opening a store */

typedef struct ramet ramet;
typedef struct ramet_call ramet_call;

/* Limits on input. 0 means the default. */
typedef struct ramet_limits {
    size_t entry_bytes;      /* 16 MiB: all fields of one entry together */
    size_t batch;            /* 1,000 entries in one append */
    size_t sync;             /* 100,000 entries in one sync */
    size_t merge;            /* 10,000 entries that one merge copies */
    size_t merge_bytes;      /* 64 MiB: all of them together */
    size_t id_bytes;         /* 255, cannot be raised */
    size_t title_chars;      /* 500 */
    size_t reason_chars;     /* 2,000 */
    size_t tags;             /* 64 a session */
    size_t tag_chars;        /* 50 */
    size_t json_depth;       /* 128 */
    size_t meta_bytes;       /* 64 KiB: metadata, agent options, each */
    size_t attachment_bytes; /* 64 MiB: one attachment */
} ramet_limits;

typedef struct ramet_options {
    ramet_limits limits;
    int readers;              /* most read connections at once to a file; 0 = 8 */
    int pool;                 /* most connections at once to PostgreSQL; 0 = 16 */
    int busy_ms;              /* wait for another process's lock; 0 = 10,000 */
    int idle_waiters;         /* most calls that wait for the end of a turn at once, each on its
                                 thread (`when_idle` of merges and overlays); 0 = 16, -1 = none */
    int64_t grace_us;         /* how long a deleted session can be restored; 0 = 7 days */
    bool must_exist;          /* do not create a new store */
    bool unverified_reads;    /* do not check the hash chain on reads (see ramet_read) */
    const char *attachments;  /* folder of attachments; NULL = PATH.files beside the file, or in
                                 the database */
    const char *direct;       /* URL of the same PostgreSQL database that bypasses pgbouncer, for
                                 LISTEN, locks and schema changes; NULL = `where` */
    const char *const *reads; /* URLs of read replicas of PostgreSQL: see ramet_call_replica */
    size_t n_reads;
    const char *engine_vfs;      /* SQLite VFS by name; NULL = default. For fault tests */
    int64_t (*clock)(void *arg); /* microseconds now; NULL = the system's. For tests */
    void *clock_arg;
} ramet_options;

/* Opens a store, and creates it when it does not exist. `where` is a path, `sqlite:PATH`, or
 * `postgres://…` (a libpq URL; add pgbouncer=1 for pgbouncer in transaction mode); any other word
 * before a colon is refused. NULL or "" means $XDG_DATA_HOME/ramet/ramet.db (or
 * ~/.local/share/ramet/ramet.db), and missing folders of that path are created. A file of an older
 * version is upgraded in one transaction; a newer one is refused with RAMET_NEWER. `opt` may be
 * NULL. On failure *out is NULL and *err (may be NULL) is filled. */
RAMET_API ramet_status ramet_open(const char *where, const ramet_options *opt, ramet **out,
                                  ramet_error *err);

/* Closes a store. No call may be running; every call and stream must be freed first. */
RAMET_API void ramet_close(ramet *r);
/* Before a program stops: calls that wait for the end of a turn (`when_idle`) fail with
 * RAMET_TOO_BUSY, now and from now on. */
RAMET_API void ramet_idle_close(ramet *r);

/* The path that `where` stands for, or its URL without the password. The string is static, one per
 * thread. */
RAMET_API const char *ramet_where(const char *where);

/* Passes the statements that create the tables of a store to `statement`, one by one, for operators
 * who create them by hand (docs/scaling.md). No store is needed. RAMET_CITUS: PostgreSQL's tables
 * without partitions, followed by how they are distributed. RAMET_INVALID: partitions is not 1 to
 * 1,024, or there is no such version. */
typedef enum { RAMET_SQLITE, RAMET_POSTGRES, RAMET_CITUS } ramet_engine;
typedef struct ramet_schema_in {
    ramet_engine engine;
    int partitions; /* of each table of a tree, on PostgreSQL; 0 or 1: none */
    int64_t after;  /* only what a store of this schema version lacks; 0 = all */
} ramet_schema_in;
RAMET_API ramet_status ramet_schema(const ramet_schema_in *in,
                                    void (*statement)(void *arg, const char *sql), void *arg);

/* Whether writes are stopped (I8): RAMET_OK, or the status of the write that failed (RAMET_IO,
 * RAMET_FULL, RAMET_DAMAGED, …). */
RAMET_API ramet_status ramet_health(ramet *r);

/* Empties the write-ahead log of a file when it has grown. Otherwise a write does so every few
 * hundred commits, and takes some milliseconds longer. A long-running program calls this about once
 * a second, on a thread that may block. */
RAMET_API void ramet_tidy(ramet *r);

/* Releases the memory that caches of idle connections hold; they fill again when used. A
 * long-running program calls this after a period of load. Any thread. */
RAMET_API void ramet_release(ramet *r);

/* One request: its user, the memory of its answers, its last error.
 * `user` NULL: the embedding program itself, which may do and see everything.
 * `client` (may be NULL) is recorded in the entries that the call appends. */
RAMET_API ramet_call *ramet_call_new(ramet *r, const char *user, const char *client);
RAMET_API void ramet_call_reset(ramet_call *c); /* frees its answers, keeps its user */
RAMET_API void ramet_call_free(ramet_call *c);
/* Lets reads of the call end early with RAMET_STOP: `stop` is called from time to time while one
 * runs, on its thread, and must not use the call. Writes are never stopped: they are committed or
 * refused. NULL: never. */
RAMET_API void ramet_call_stop_when(ramet_call *c, bool (*stop)(void *arg), void *arg);
/* Ends pages of ramet_read() and ramet_record() (and of ramet_across() and
 * ramet_indexed_lacking() in ramet/memory.h) once they hold this many bytes of entries, but
 * after at least one entry: for a caller that forwards them piece by piece. 0, or more than 32 MiB:
 * 32 MiB. */
RAMET_API void ramet_call_page_bytes(ramet_call *c, size_t bytes);
RAMET_API const ramet_error *ramet_call_error(const ramet_call *c);
/* The memory that a call's answers live in, for data derived from them (base/arena.h; useful only
 * to programs built with it). */
struct arena;
RAMET_API struct arena *ramet_call_arena(ramet_call *c);

/* Read replicas (options.reads). A write has a position; a replica that has replayed up to it holds
 * the write.
 *
 * After ramet_call_replica() the call's reads may come from a replica that has reached `since` and
 * holds what the call itself wrote. If a replica is behind, the read waits for it up to 200 ms and
 * then goes to the primary. 0: any state of a replica will do. -1, and ramet_call_reset(), go back
 * to the primary alone. Reads through a share link always go to the primary. */
RAMET_API void ramet_call_replica(ramet_call *c, int64_t since);
/* Whether a read since ramet_call_reset() came from a replica: something that was not found may
 * exist. */
RAMET_API bool ramet_call_replicated(const ramet_call *c);
/* The position of the call's last write; 0: it has written nothing, or there are no replicas. */
RAMET_API int64_t ramet_call_position(const ramet_call *c);
/* A position that covers everything written through `r`. */
RAMET_API int64_t ramet_position(ramet *r);
/* A position as text, "16/B374D848", and back; -1 when the text is not one. */
RAMET_API const char *ramet_position_text(int64_t position, char out[24]);
RAMET_API int64_t ramet_position_parse(const char *s);

/* ------------------------------------------------------------------ values */

typedef enum { RAMET_USER = 1, RAMET_ASSISTANT, RAMET_TOOL, RAMET_SYSTEM } ramet_role;
typedef enum { RAMET_LOG_MAIN = 0, RAMET_LOG_ADK = 1 } ramet_log;
/* shown: the history, with the placeholders of a template filled in (ramet/templates.h); record: as
 * it was appended; context: what overlays leave of it, filled in (ramet/overlays.h). */
typedef enum { RAMET_VIEW_SHOWN = 0, RAMET_VIEW_CONTEXT = 1, RAMET_VIEW_RECORD = 2 } ramet_view;
typedef enum { RAMET_AFTER = 0, RAMET_BEFORE = 1 } ramet_side;
typedef enum { RAMET_CUT_EXACT = 0, RAMET_CUT_SNAP_BEFORE, RAMET_CUT_SNAP_AFTER } ramet_cut_policy;
typedef enum { RAMET_EXPLICIT = 0, RAMET_AUTO_EDIT, RAMET_AUTO_REGENERATE } ramet_fork_type;
typedef enum { RAMET_TREE_VISIBLE = 0, RAMET_PRIVATE } ramet_visibility;
typedef enum { RAMET_BY_USER = 0, RAMET_BY_SYSTEM } ramet_actor;
typedef enum {
    RAMET_NO_LEVEL = 0,
    RAMET_READER,
    RAMET_WRITER,
    RAMET_MANAGER,
    RAMET_OWNER
} ramet_level;
typedef enum {
    RAMET_MOVE_REWIND = 1,
    RAMET_MOVE_UNDO,
    RAMET_MOVE_REDO,
    RAMET_MOVE_SWITCH,
    RAMET_MOVE_EDIT,
    RAMET_MOVE_REGENERATE,
    RAMET_MOVE_SYNC,
    RAMET_MOVE_MERGE,
    RAMET_MOVE_OVERLAY
} ramet_move_kind;

/* Their names ("user", "before", "snap_after", "auto-edit", "private", "system", "manager",
 * "rewind", …), and back; an unknown name gives -1. */
RAMET_API const char *ramet_role_name(ramet_role v);
RAMET_API int ramet_role_parse(const char *s);
RAMET_API const char *ramet_side_name(ramet_side v);
RAMET_API int ramet_side_parse(const char *s);
/* "context" and "record"; shown has no name. */
RAMET_API const char *ramet_view_name(ramet_view v);
RAMET_API int ramet_view_parse(const char *s);
RAMET_API const char *ramet_cut_name(ramet_cut_policy v);
RAMET_API int ramet_cut_parse(const char *s);
RAMET_API const char *ramet_fork_type_name(ramet_fork_type v);
RAMET_API int ramet_fork_type_parse(const char *s);
RAMET_API const char *ramet_visibility_name(ramet_visibility v);
RAMET_API int ramet_visibility_parse(const char *s);
RAMET_API const char *ramet_actor_name(ramet_actor v);
RAMET_API const char *ramet_level_name(ramet_level v);
RAMET_API int ramet_level_parse(const char *s);
RAMET_API const char *ramet_move_name(ramet_move_kind v);

/* A branch id as text, "b17", and back; 0 when the text is not one. */
RAMET_API const char *ramet_branch_text(int64_t branch, char out[24]);
RAMET_API int64_t ramet_branch_parse(const char *s);

/* The agent that answers in a session. `options` is a JSON object. All may be NULL. */
typedef struct ramet_agent {
    const char *name, *provider, *model, *folder, *options;
} ramet_agent;

/* Tokens and cost of one entry. `cost` is in billionths of `currency` (at most 16 bytes; USD when
 * not given, "" when there is no cost). All >= 0. */
typedef struct ramet_usage {
    int64_t input, output, cached;
    int64_t cost;
    const char *currency;
} ramet_usage;

typedef struct ramet_money {
    int64_t cost; /* billionths */
    const char *currency;
} ramet_money;

/* A sum of usage. Money is summed by currency. */
typedef struct ramet_usage_sum {
    int64_t entries; /* entries that had usage */
    int64_t input, output, cached;
    const ramet_money *money;
    size_t n_money;
} ramet_usage_sum;

/* A cut point: an entry on the path and a side of it. entry_id NULL: the head. */
typedef struct ramet_at {
    const char *entry_id;
    ramet_side side;
} ramet_at;

/* Where a fork or rewind actually cut. entry_id NULL: nothing was kept; side is then `before` and
 * position 0. */
typedef struct ramet_cut {
    ramet_cut_policy policy;
    const char *entry_id;
    ramet_side side;
    int64_t position; /* entries kept */
} ramet_cut;

/* ----------------------------------------------------------------- sessions */

typedef struct ramet_session {
    const char *id;
    const char *tree_id;
    const char *title;       /* as stored; "" when none was given */
    const char *shown_title; /* title, else the first line of the first user message (60
                                characters), "Fork of …" for a fork */
    const char *owner;
    ramet_visibility visibility;
    ramet_agent agent; /* name NULL: none */
    const char *const *tags;
    size_t n_tags;
    ramet_head head;
    ramet_head adk; /* branch 0: the session has no adk log */
    /* Where it was forked from. parent_id is NULL for a root, and when the caller may not see the
     * parent. */
    bool is_fork;
    const char *parent_id;
    const char *fork_entry_id; /* NULL: blank slate */
    ramet_side fork_side;
    ramet_fork_type type;
    const char *reason; /* "" when none */
    ramet_actor by_kind;
    const char *by_id;
    const char *from_title;    /* the title of its parent at the time of the fork; "" when none */
    const char *merged_into;   /* session id or NULL */
    const char *cache_root;    /* session whose provider cache holds the start of this history */
    int64_t cache_root_shared; /* entries up to the last that it appended to this path */
    const char *metadata;      /* JSON object */
    bool archived;
    bool deleted;    /* only in trees and ancestries: a placeholder, everything else is empty */
    int64_t expires; /* ephemeral: when it expires; 0 = never */
    /* Only from ramet_session_find() with `deleted`: when it was deleted, or expired. */
    int64_t deleted_at;
    int64_t created, updated;
    int64_t depth; /* forks above it */
    /* Only from ramet_session_get(): what the caller may do there. The caller's level in the tree;
     * owner for a private session of the caller's own; reader or writer through a link. */
    ramet_level level;
    int64_t number;    /* owner_no of the entries that the session itself appended */
    int64_t base;      /* entries that it inherited; only from ramet_tree() with `light` */
    int64_t favourite; /* branch that it opens at (ramet/branches.h), 0: its head; only from
                          ramet_session_get() */
    /* Only from ramet_tree(): ids from the root, this one last, at most the last 64. */
    const char *const *path;
    size_t n_path;
} ramet_session;

typedef struct ramet_session_in {
    const char *id; /* NULL: a new UUIDv7 */
    const char *title;
    ramet_agent agent;
    const char *const *tags;
    size_t n_tags;
    const char *metadata; /* JSON object */
    ramet_visibility visibility;
    const char *owner;    /* NULL: the caller; only the embedding program may name another */
    const char *sandbox;  /* one of the owner's; NULL, "default": none */
    int64_t ephemeral_us; /* > 0: expires that long after now */
    bool anew;            /* take the id over from a deleted session of the owner, which can still
                             be restored as ID~NUMBER; else RAMET_SESSION_DELETED */
} ramet_session_in;

/* Creates a root session in a new tree; its owner becomes the tree's owner. O(1). */
RAMET_API ramet_status ramet_session_create(ramet_call *c, const ramet_session_in *in,
                                            ramet_session **out);

/* O(log d). */
RAMET_API ramet_status ramet_session_get(ramet_call *c, const char *id, ramet_session **out);

typedef enum {
    RAMET_ARCHIVED_EXCLUDE = 0,
    RAMET_ARCHIVED_INCLUDE,
    RAMET_ARCHIVED_ONLY
} ramet_archived;

typedef struct ramet_list_in {
    int limit; /* 1-1000; 0 = 50 */
    const char *cursor;
    const char *owner, *agent, *tag;
    const char *tree;  /* a tree id */
    const char *title; /* part of the shown or stored title, any case */
    ramet_archived archived;
    const char *sandbox; /* RAMET_SANDBOX_NOT_FOUND */
    const char *after;   /* instead of a cursor: the page starts after this session, and is empty
                            when there is no such session */
    bool stored_title;   /* match `title` against stored titles only */
    enum {
        RAMET_ALL_FORKS,
        RAMET_NO_FORKS,
        RAMET_LATEST_FORK
    } forks; /* RAMET_LATEST_FORK: of each tree only the session changed last, among those that
                `archived` admits */
    enum {
        RAMET_ANY_START,
        RAMET_NOT_STARTED,
        RAMET_STARTED
    } start; /* whether another session started it */
    /* Only sessions archived at or after `archived_from` and before `archived_to`, to whole
     * seconds. Sessions archived before this time was recorded count as archived in 2020. */
    bool archived_when;
    int64_t archived_from, archived_to;
    bool deleted; /* instead: deleted and expired sessions that the caller may restore, until gc
                     removes them */
} ramet_list_in;

typedef struct ramet_session_list {
    ramet_session *items;
    size_t n;
    const char *next_cursor; /* NULL at the end */
} ramet_session_list;

/* Sessions that the caller may see, newest first. Pages are stable: a session created or removed
 * between two pages makes no other one repeat or disappear. */
RAMET_API ramet_status ramet_session_find(ramet_call *c, const ramet_list_in *in,
                                          ramet_session_list *out);

/* Only members that are not NULL change. */
typedef struct ramet_session_patch {
    const char *title;
    const ramet_agent *agent; /* replaces the whole agent */
    const char *metadata;     /* replaces it */
    const bool *archived;
    const ramet_visibility *visibility; /* the session's owner only */
    const char *merged_into;            /* a session of this tree; "" clears it */
    const char *expected_head;          /* hash; NULL = any */
} ramet_session_patch;

/* Needs writer. O(1). */
RAMET_API ramet_status ramet_session_update(ramet_call *c, const char *id,
                                            const ramet_session_patch *in, ramet_session **out);

/* Makes an ephemeral session permanent (no error when it already is). */
RAMET_API ramet_status ramet_session_promote(ramet_call *c, const char *id, ramet_session **out);

typedef struct ramet_delete_out {
    const char *const *ids; /* sessions that are (or would be) deleted */
    size_t n;
    int64_t entries; /* entries that no other session reaches: gc will remove them */
    bool dry_run;
} ramet_delete_out;

/* Deletes one session, or the session and everything that descends from it (`tree`), but never a
 * private session of another user. Forks stay where they are. ramet_session_restore() undoes it
 * until gc removes it. Needs the session's owner, or manager in the tree (with `tree`: for every
 * session deleted). O(sessions and branches of the tree). */
RAMET_API ramet_status ramet_session_delete(ramet_call *c, const char *id, bool tree, bool dry_run,
                                            ramet_delete_out *out);

/* Restores a deleted (or expired) session; `tree`: everything that the same delete removed and the
 * caller may restore. Needs the session's owner, or manager in the tree. */
RAMET_API ramet_status ramet_session_restore(ramet_call *c, const char *id, bool tree,
                                             ramet_session **out);

typedef struct ramet_tags {
    const char *const *items; /* sorted */
    size_t n;
} ramet_tags;

/* Tags are trimmed and converted to lower case. Need writer. O(tags). */
RAMET_API ramet_status ramet_tags_set(ramet_call *c, const char *id, const char *const *tags,
                                      size_t n, ramet_tags *out);
RAMET_API ramet_status ramet_tags_add(ramet_call *c, const char *id, const char *const *tags,
                                      size_t n, ramet_tags *out);
RAMET_API ramet_status ramet_tags_remove(ramet_call *c, const char *id, const char *const *tags,
                                         size_t n, ramet_tags *out);

typedef struct ramet_tag_count {
    const char *tag;
    int64_t sessions;
} ramet_tag_count;
/* Every tag on sessions that the caller may see, with their number; sorted by name. */
RAMET_API ramet_status ramet_tags_all(ramet_call *c, ramet_tag_count **out, size_t *n);

/* ------------------------------------------------------------------ entries */

/* Where a copy came from, or went to (ramet/merge.h). */
typedef struct ramet_entry_ref {
    const char *session, *entry_id;
    int64_t branch; /* the branch that owns the entry */
} ramet_entry_ref;

/* An entry that was erased (ramet/erase.h): what it said is gone. */
typedef struct ramet_erased {
    int64_t at;
    const char *by;     /* NULL: the embedding program, or hidden from the holder of a link */
    const char *reason; /* "" when none was given */
} ramet_erased;

/* What an erased entry says instead, in every face. */
#define RAMET_ERASED_TEXT "[erased]"

typedef struct ramet_entry {
    const char *id;
    int64_t position;
    int64_t branch; /* the branch that owns it */
    ramet_role role;
    const char *text;   /* the text parts joined by a blank line; "" when none */
    const char *parts;  /* JSON array, the normal form */
    const char *format; /* "ramet", "a2a", "adk", … */
    const char *body; /* the caller's bytes; NULL when format is "ramet": the parts are the body */
    const char *turn_id;
    const char *channel;
    const char *author, *client;
    const ramet_usage *usage; /* NULL when it has none */
    const char *state_delta;  /* JSON object or NULL */
    int version, versions;    /* 2 of 3, say; 0/0 when not requested */
    int feedback;             /* the caller's own, 1 or -1; 0: none, or not requested */
    /* A copy that a merge made. Its origins are filled where a path or a record is read, as far as
     * the caller may see them. */
    bool copied;
    const ramet_entry_ref *origins;
    size_t n_origins;
    const ramet_erased *erased; /* NULL: it was not. `text` is RAMET_ERASED_TEXT then */
    char hash[65];              /* prefix_hash */
    int64_t created;
    int64_t owner_no; /* internal number of the session that appended it */
} ramet_entry;

typedef struct ramet_entry_in {
    const char *id; /* NULL: a new UUIDv7 */
    ramet_role role;
    const char *text;    /* text, or */
    const char *parts;   /* a JSON array of parts; neither: an empty entry */
    const char *format;  /* NULL = "ramet" */
    const char *body;    /* any JSON value, kept byte for byte; not with format "ramet" */
    const char *turn_id; /* 1-255 bytes */
    const char *channel; /* NULL = "history"; 1-64 bytes */
    const char *author;  /* NULL: the caller, for role user */
    const ramet_usage *usage;
    const char *state_delta; /* JSON object; a null removes the key */
    int64_t created;         /* 0 = now */
    const char *key;         /* unique in the session, on all its branches (RAMET_KEY_TAKEN);
                                1-64 bytes. Not part of the entry */
    const char *indexed;     /* see ramet_indexed_set(); only from ramet_append() */
    const char *invocation;  /* with turn_id: another name of the turn, which finds it from its
                                question on (before_turn). Not part of the entry */
} ramet_entry_in;

typedef struct ramet_append_in {
    const ramet_entry_in *entries;
    size_t n;                  /* 1 … limits.batch */
    const char *expected_head; /* prefix_hash in hex that the history must have; NULL = any */
    int64_t branch;            /* 0 = the head; else a branch of this session, for a turn that keeps
                                  writing where it began */
    ramet_log log;
    const struct ramet_task_in *task; /* put in the same commit (n may be 0 then); NULL: none */
    bool fenced; /* refuse entries of a turn that a move has cut off (RAMET_TURN_OVER), so that late
                    ones do not end up on the new head */
    const char *before_turn; /* adk: the (one) entry is an ADK rewind event, and the heads move
                                before that turn in the same commit; nothing moves when no event
                                before it is of that turn */
    const struct ramet_make *make;   /* a conversation (ramet/memory.h) */
    const struct ramet_again *again; /* attachments referred to once more (ramet/memory.h) */
    size_t n_again;
} ramet_append_in;

typedef struct ramet_append_out {
    ramet_entry *entries; /* as stored, in the order given */
    size_t n;
    size_t added;    /* entries written; the rest existed already */
    bool made;       /* with ramet_append_in.make: this call created the session */
    ramet_head head; /* of the branch written to */
    int64_t ended;   /* from ramet_turn_end(): when the turn ended */
} ramet_append_out;

/* Appends a batch in order, all or nothing. An id that is already on the path with the same content
 * (of the fields given) is answered with the stored entry; with other content: RAMET_ENTRY_EXISTS.
 * Needs writer. O(batch); waits for one durable commit. */
RAMET_API ramet_status ramet_append(ramet_call *c, const char *session, const ramet_append_in *in,
                                    ramet_append_out *out);

typedef struct ramet_read_in {
    int limit;          /* 1-1000; 0 = 50 */
    const char *after;  /* entry id on the path, exclusive */
    const char *before; /* entry id on the path, exclusive */
    bool tail;          /* the last `limit` (of what after/before leave) */
    bool by_position;   /* from `position` on, instead of after */
    int64_t position;
    const char *channel; /* NULL = all */
    int64_t branch;      /* 0 = the head; else any branch of the session: its path */
    ramet_log log;       /* adk needs writer */
    bool versions;       /* fill version/versions */
    bool feedback;       /* fill feedback; not in streams */
    int64_t end;         /* only positions below this; 0 = all */
    ramet_view view;     /* context: what the overlays of the branch leave of it (main only);
                            `after` and `before` may name entries that it hides */
    /* Filters entries by what was appended, also where the view replaces it; it must not use the
     * call. The limit is then up to 1001, and more_before and more_after only say that the page
     * ended before its limit because of its size. */
    bool (*want)(void *arg, const ramet_entry *e);
    void *want_arg;
} ramet_read_in;

typedef struct ramet_page {
    ramet_entry *entries; /* oldest first */
    size_t n;
    ramet_head head; /* of the path read */
    bool more_before, more_after;
} ramet_page;

/* Reads a page of a path. Every entry is checked against the hash chain (unless unverified_reads):
 * damage is RAMET_DAMAGED and names the entry, never a shorter page. O(limit + log d), without
 * `channel`. */
RAMET_API ramet_status ramet_read(ramet_call *c, const char *session, const ramet_read_in *in,
                                  ramet_page *out);

/* One entry on a path. O(log d). */
RAMET_API ramet_status ramet_entry_get(ramet_call *c, const char *session, int64_t branch,
                                       const char *entry_id, ramet_entry **out);

/* Reads a whole path, oldest first, in constant memory. The path is fixed when the stream is
 * opened: later moves and appends are not seen. Each entry lives until the next call. */
typedef struct ramet_stream ramet_stream;
RAMET_API ramet_status ramet_stream_open(ramet_call *c, const char *session,
                                         const ramet_read_in *in, ramet_stream **out);
/* *out is NULL at the end. Errors are in the error of the call it was opened with. */
RAMET_API ramet_status ramet_stream_next(ramet_stream *s, const ramet_entry **out);
RAMET_API int64_t ramet_stream_length(const ramet_stream *s); /* entries on the path */
RAMET_API void ramet_stream_close(ramet_stream *s);

/* Reads the record: everything that was ever appended in the session itself, on any branch, in that
 * order, without what was pruned. `from` counts from 0. Pages like ramet_read(); `total` gets the
 * length of the record. */
RAMET_API ramet_status ramet_record(ramet_call *c, const char *session, ramet_log log, int64_t from,
                                    int limit, ramet_page *out, int64_t *total);

/* -------------------------------------------------------- forks and moves */

typedef struct ramet_fork_in {
    ramet_at at;
    int64_t branch; /* 0 = the head; else a branch of the session whose path holds `at` */
    ramet_cut_policy cut;
    ramet_at adk_at; /* cut of the adk log; entry_id NULL: what was there when the last entry
                        kept in main was the newest */
    const char *id, *title, *reason;
    const char *const *tags;
    size_t n_tags;
    const ramet_agent *agent; /* NULL: the parent's */
    const char *metadata;     /* NULL: {} */
    ramet_fork_type type;
    ramet_visibility visibility; /* tree needs writer, private needs reader */
    ramet_actor by_kind;         /* the kind of actor that made it, according to the caller */
    const char *by_id;           /* NULL: the caller */
    int64_t ephemeral_us;        /* > 0: expires */
    const char *expected_head;
    const char *before_turn; /* instead of `at` and `adk_at`: see below */
    bool by_role; /* the role of the entry decides the side of `at`: before a message of the user,
                     after anything else */
    bool blank;   /* instead of them: inherit nothing */
} ramet_fork_in;

/* Creates a session in the same tree that shares the history up to the cut. O(log d), independent
 * of n: a constant number of small rows. `cut` may be NULL. */
RAMET_API ramet_status ramet_fork(ramet_call *c, const char *session, const ramet_fork_in *in,
                                  ramet_session **out, ramet_cut *cut);

typedef struct ramet_move_in {
    ramet_at at;
    ramet_cut_policy cut;
    ramet_at adk_at;
    const char *reason;
    const char *expected_head;
    const char *before_turn; /* instead of `at` and `adk_at`: see below */
} ramet_move_in;

/* `before_turn` names a turn by its id, or an invocation (ramet_entry_in): main is cut at the
 * question that began it, adk at its first event. It is searched in the whole record, so that a
 * turn which an earlier rewind has cut off is found, too; a fork prefers the path, and searches
 * nothing else when it names a `branch` or is made through a share link. RAMET_TURN_NOT_FOUND.
 *
 * A session whose adk log holds ADK events (format "adk" with a turn_id) is read by runtimes that
 * know only its record. So every move of its head appends an ADK rewind event (channel "rewind") to
 * that log in the same commit, and adk is cut at the first event of an invocation: ADK's rule over
 * ramet_adk_each(…, false, …) gives what ramet_adk_each(…, true, …) gives (ramet/kagent.h). */

/* Moves the head to a new branch at the cut; the old branch stays. O(log d). Needs writer, like
 * every move. `cut` may be NULL. */
RAMET_API ramet_status ramet_rewind(ramet_call *c, const char *session, const ramet_move_in *in,
                                    ramet_session **out, ramet_cut *cut);

/* As in an editor, without limit: undo reverts the last move (and is itself in the head log), redo
 * reverts the undo, a new move ends redo. O(1). */
RAMET_API ramet_status ramet_undo(ramet_call *c, const char *session, const char *expected_head,
                                  ramet_session **out);
RAMET_API ramet_status ramet_redo(ramet_call *c, const char *session, const char *expected_head,
                                  ramet_session **out);

/* Moves the head to another branch of this session. O(1). */
RAMET_API ramet_status ramet_switch(ramet_call *c, const char *session, int64_t branch,
                                    const char *expected_head, ramet_session **out);

/* Makes a new version of an entry: branches before it (type auto-edit) and appends `in` there, in
 * one commit. in->role 0: the role of the old entry. */
RAMET_API ramet_status ramet_edit(ramet_call *c, const char *session, const char *entry_id,
                                  const ramet_entry_in *in, const char *expected_head,
                                  ramet_append_out *out);

/* Branches before an answer (type auto-regenerate) and appends the n entries of
 * the new answer there; n = 0 leaves the branch empty, to be appended to. */
RAMET_API ramet_status ramet_regenerate(ramet_call *c, const char *session, const char *entry_id,
                                        const ramet_entry_in *entries, size_t n,
                                        const char *expected_head, ramet_append_out *out);

typedef struct ramet_sync_out {
    ramet_session *session;
    int64_t matched; /* entries of the list that existed already */
    int64_t added;   /* entries appended */
    bool moved;      /* a branch was made: the list differed, or was a prefix */
} ramet_sync_out;

/* Makes the channel's part of the path equal to a client's list: finds the first difference,
 * branches there and appends the rest. Entries match by id (when the list gives one), role and
 * content. All entries of a list belong to one channel; an empty list stands for "history". One
 * commit. O(n). */
RAMET_API ramet_status ramet_sync(ramet_call *c, const char *session, const ramet_entry_in *entries,
                                  size_t n, const char *expected_head, ramet_sync_out *out);

typedef struct ramet_move {
    int64_t number; /* from 1 */
    ramet_move_kind kind;
    int64_t from, to;               /* branches */
    int64_t from_length, to_length; /* their lengths now */
    const char *who;
    const char *reason;
    int64_t at;
} ramet_move;

/* The head log, newest first: moves with a number below `before` (0 = all). O(limit). */
RAMET_API ramet_status ramet_head_log(ramet_call *c, const char *session, int64_t before, int limit,
                                      ramet_move **out, size_t *n, bool *more);

typedef struct ramet_version {
    int64_t branch; /* the branch a switch would go to */
    int64_t owner;  /* the branch that owns the entry */
    const char *entry_id;
    int number;           /* from 1 */
    ramet_fork_type type; /* of the owning branch */
    bool current;         /* on the present path */
    int64_t created;      /* of the entry */
    const char *preview;  /* first line, 80 characters */
} ramet_version;

/* The versions of the message at that entry's position, oldest first: the distinct entries at that
 * position on the paths of this session's branches that share everything before it. The entry may
 * be on any branch of the session (`branch`, 0 = the head). O(versions + branches of the session).
 */
RAMET_API ramet_status ramet_versions(ramet_call *c, const char *session, int64_t branch,
                                      const char *entry_id, ramet_version **out, size_t *n);

typedef struct ramet_branch {
    int64_t id;
    int64_t parent; /* 0 = root */
    int64_t base, length;
    ramet_fork_type type;
    bool current;
    int64_t created;
    const char *tip_id;  /* last entry of its path, NULL when empty */
    const char *preview; /* of its first own entry, "" when it has none */
    const char *session; /* the session that it belongs to; only from ramet_tree_branches() */
    const char *name;    /* "": none */
    bool favourite;      /* the path that its session opens at (ramet/branches.h) */
    int64_t pruned;      /* when it was pruned; 0: it was not */
    bool removed;        /* pruned, and gc removed what nothing else needs: it cannot be restored */
} ramet_branch;

/* Every branch of a session's main log, oldest first, without those that were pruned
 * (ramet/branches.h). */
RAMET_API ramet_status ramet_branches(ramet_call *c, const char *session, ramet_branch **out,
                                      size_t *n);

/* ------------------------------------------------------------------ lineage */

/* From the root to the session, which is last. Private sessions of other users are left out;
 * deleted ones are placeholders. O(depth). */
RAMET_API ramet_status ramet_ancestry(ramet_call *c, const char *session, ramet_session **out,
                                      size_t *n);
/* Its direct forks, oldest first. */
RAMET_API ramet_status ramet_children(ramet_call *c, const char *session, ramet_session **out,
                                      size_t *n);
/* The whole tree that the session is in: parents before their forks, forks of one parent oldest
 * first. O(sessions). With `light` it is one query, without shown titles, cache roots and head
 * entry ids. */
RAMET_API ramet_status ramet_tree(ramet_call *c, const char *session, bool light,
                                  ramet_session **out, size_t *n);
/* The branches of the main logs of all sessions of the tree that the caller sees, without `tip_id`
 * and `preview`, by id: a branch comes after the one that it left. `after` (0: from the first) and
 * `limit` make pages; *more says whether there is another. O(sessions and branches of the tree). */
RAMET_API ramet_status ramet_tree_branches(ramet_call *c, const char *session, int64_t after,
                                           int limit, ramet_branch **out, size_t *n, bool *more);

typedef struct ramet_fork_point {
    int64_t position;     /* entries kept */
    const char *entry_id; /* last one kept, NULL at 0 */
    const char *session;  /* the fork that leaves here; NULL: a branch of this session */
    int64_t branch;
} ramet_fork_point;
/* Where forks (that the caller may see) and branches leave the present path,
 * by position. */
RAMET_API ramet_status ramet_fork_points(ramet_call *c, const char *session, ramet_fork_point **out,
                                         size_t *n);

/* ------------------------------------------------------------------ compare */

typedef struct ramet_side_in {
    const char *session;
    int64_t branch; /* 0 = its head */
} ramet_side_in;

typedef struct ramet_compare_side {
    const char *session;
    int64_t branch;
    const char *title; /* shown title */
    ramet_agent agent;
    ramet_head head;
    int64_t own;          /* entries past the shared prefix */
    ramet_entry *entries; /* the first `limit` of them */
    size_t n;
    ramet_usage_sum usage; /* of its own part */
    int64_t first, last;   /* times of the first and last of its own; 0 when none */
} ramet_compare_side;

/* One turn of every side, side by side: entries[from, to) of each side's `entries` (from == to:
 * this side has no such turn). */
typedef struct ramet_turn_row {
    struct {
        int64_t from, to;
    } side[16];
} ramet_turn_row;

typedef struct ramet_compare_out {
    int64_t shared; /* entries that all sides share */
    ramet_compare_side *sides;
    size_t n;
    ramet_turn_row *turns; /* the i-th turns side by side, over the entries given */
    size_t n_turns;
} ramet_compare_out;

/* 2 to 16 sides. The shared prefix is found through prefix_hash in O(log n);
 * then `limit` (1-1000, 0 = 100) entries of each side's own are read. */
RAMET_API ramet_status ramet_compare(ramet_call *c, const ramet_side_in *sides, size_t n, int limit,
                                     ramet_compare_out *out);

typedef struct ramet_verdict {
    int64_t number;
    const ramet_side_in *sides;
    size_t n;
    int winner; /* index into sides; -1 = a tie */
    const char *reason;
    const char *who;
    int64_t at;
} ramet_verdict;

/* Stores which side was better. All sides must belong to one tree; needs writer. */
RAMET_API ramet_status ramet_verdict_add(ramet_call *c, const ramet_side_in *sides, size_t n,
                                         int winner, const char *reason, ramet_verdict **out);
/* Verdicts that name the session (NULL: all that the caller may see), newest
 * first, with a number below `before` (0 = all). */
RAMET_API ramet_status ramet_verdicts(ramet_call *c, const char *session, int64_t before, int limit,
                                      ramet_verdict **out, size_t *n, bool *more);

/* ------------------------------------------------------------------- search */

typedef struct ramet_search_in {
    const char *query; /* words (all must occur), "a phrase", prefix*, -without */
    const char *session, *tree, *tag, *agent;
    const char *owner;    /* of the session; NULL = any */
    bool unarchived;      /* only in sessions that are not archived */
    ramet_role role;      /* 0 = any */
    int64_t since, until; /* created in [since, until); 0 = open */
    int limit;            /* 1-200; 0 = 20 */
    const char *cursor;
} ramet_search_in;

typedef struct ramet_mark {
    int32_t start, length; /* bytes in `snippet` */
} ramet_mark;

typedef struct ramet_hit {
    const char *session; /* one that holds it and that the caller may see */
    const char *title;   /* its shown title */
    const char *entry_id;
    int64_t branch;
    int64_t position;
    ramet_role role;
    bool abandoned; /* not on that session's present path */
    const char *snippet;
    const ramet_mark *marks;
    size_t n_marks;
    double score; /* higher is better */
    int64_t created;
} ramet_hit;

typedef struct ramet_hits {
    ramet_hit *items;
    size_t n;
    const char *next_cursor;
    bool bounded; /* only the newest matches were ranked: there were too many */
} ramet_hits;

/* Full-text search in main-log entries that the caller may see, best first. Waits until the index
 * holds everything committed before the call. A cursor belongs to its user, query and filters. */
RAMET_API ramet_status ramet_search(ramet_call *c, const ramet_search_in *in, ramet_hits *out);

/* Brings the index up to date (a server calls this periodically), or rebuilds it, which only the
 * embedding program may do. */
RAMET_API ramet_status ramet_search_update(ramet_call *c, bool rebuild, int64_t *indexed);
/* Announces that the store will be closed: a running update ends soon, and no other one starts. The
 * rest is indexed when the store is opened again. Any thread. */
RAMET_API void ramet_search_stop(ramet *r);

/* ------------------------------------------------- state, usage and members */

/* The session state at an entry (inclusive; NULL = the head): the fold of the deltas on the path of
 * main, and of those in the adk log up to then, as a JSON object with sorted keys. A key that both
 * logs have is main's. Through a share link only main; the key `headers` of ADK events, which may
 * hold credentials, only for callers who may read the adk log. */
RAMET_API ramet_status ramet_state(ramet_call *c, const char *session, const char *entry_id,
                                   const char **json);

typedef struct ramet_usage_out {
    ramet_usage_sum own;  /* entries that this session appended, abandoned ones too */
    ramet_usage_sum path; /* entries on the present path */
    ramet_usage_sum tree; /* every entry of the tree once, without those of sessions that the caller
                             may not see */
} ramet_usage_out;
/* Both logs; through a share link only main, and `tree` is empty. O(branches). */
RAMET_API ramet_status ramet_usage_get(ramet_call *c, const char *session, ramet_usage_out *out);

typedef struct ramet_member {
    const char *user;
    ramet_level level;
    int64_t since;
} ramet_member;
/* Members belong to the tree. Listing needs reader. Setting and removing need manager, and
 * cannot change the owner's own level; setting `owner` (only the owner may) transfers the tree, and
 * the old owner becomes manager. Members may remove themselves. */
RAMET_API ramet_status ramet_members(ramet_call *c, const char *session, ramet_member **out,
                                     size_t *n);
RAMET_API ramet_status ramet_member_set(ramet_call *c, const char *session, const char *user,
                                        ramet_level level);
/* The same for a user who must not be a member yet (RAMET_MEMBER_EXISTS), or who must be one
 * (RAMET_MEMBER_NOT_FOUND). */
RAMET_API ramet_status ramet_member_add(ramet_call *c, const char *session, const char *user,
                                        ramet_level level);
RAMET_API ramet_status ramet_member_change(ramet_call *c, const char *session, const char *user,
                                           ramet_level level);
RAMET_API ramet_status ramet_member_remove(ramet_call *c, const char *session, const char *user);
/* RAMET_OK when the caller may write to the session, else what a write would fail with. */
RAMET_API ramet_status ramet_session_writable(ramet_call *c, const char *session);

/* -------------------------------------------------------------------- turns
 * A turn is the making of one answer. It begins with a message, an edit or a regenerate, in the
 * same commit; it writes only to the branch that it began on, wherever the head is by then; and it
 * ends. A turn that was running when its server died is interrupted, never complete. */

typedef enum {
    RAMET_TURN_RUNNING = 1,
    RAMET_TURN_DONE,
    RAMET_TURN_CANCELLED,
    RAMET_TURN_FAILED,
    RAMET_TURN_INTERRUPTED
} ramet_turn_status;
RAMET_API const char *ramet_turn_status_name(ramet_turn_status v); /* "running", "done" … */

typedef struct ramet_turn {
    const char *id;
    const char *session;
    int64_t branch;       /* that it writes to */
    const char *agent;    /* its name, as given; NULL: none was */
    const char *entry_id; /* the last entry of the message that it answers; NULL: there was none */
    const char *group;    /* of a fan-out; NULL: none */
    const char *by;       /* NULL: the embedding program, or hidden from the holder of a link */
    ramet_turn_status status;
    const char *error;      /* "" when none */
    int64_t started, ended; /* ended 0: it is running */
} ramet_turn;

typedef struct ramet_turn_in {
    const char *id;                /* NULL: a UUIDv7 is made */
    const ramet_entry_in *entries; /* the message; they get the turn's id as turn_id */
    size_t n;                      /* 0: the turn answers what is there */
    /* At most one of these. `replace`: a new version of that entry (the first of `entries`, which
     * inherits its role when it gives none), branched off before it. `regenerate`: another answer.
     * "" regenerates the whole last answer with its tool calls: it branches off after the last
     * message of the user (which may have no answer yet). The id of an entry of an answer
     * regenerates from there on, or from slightly before, so that no tool call is separated from
     * its result; a message of the user is answered when it is the last entry, else refused. The
     * old entries stay on their branch. */
    const char *replace, *regenerate;
    const char *agent, *group;
    const char *host; /* which server runs it: see ramet_turns_interrupt() */
    const char *expected_head;
} ramet_turn_in;

/* Begins a turn. When a turn is running on the present head branch: RAMET_TURN_RUNNING_ALREADY, and
 * the error's message ends with its id (ramet_turn_running() gives it); with `replace` and
 * `regenerate` that turn continues on its branch. An id that is taken: RAMET_INVALID. A message
 * that is already on the path with the same content is answered when it is the last entry there,
 * else RAMET_ENTRY_EXISTS. Needs writer, or a link for writing. */
RAMET_API ramet_status ramet_turn_begin(ramet_call *c, const char *session, const ramet_turn_in *in,
                                        ramet_turn **out, ramet_append_out *appended);
/* Appends to the turn's own branch while it is running (else RAMET_TURN_OVER). Needs the same
 * rights as begin, each time; a caller who may not see the session gets RAMET_TURN_NOT_FOUND. If
 * the session was deleted meanwhile: RAMET_SESSION_NOT_FOUND. */
RAMET_API ramet_status ramet_turn_append(ramet_call *c, const char *turn,
                                         const ramet_entry_in *entries, size_t n,
                                         ramet_append_out *out);
/* Ends a turn, with the last entries of its answer in the same commit (n may be 0), under the rules
 * of ramet_turn_append(). Ending a turn that has ended changes nothing: its entries are not
 * written. The embedding program can end the turn of a deleted session without entries, so that it
 * is not running when the session is restored. error: at most 2,000 characters, may be NULL. */
RAMET_API ramet_status ramet_turn_end(ramet_call *c, const char *turn, ramet_turn_status status,
                                      const char *error, const ramet_entry_in *entries, size_t n,
                                      ramet_append_out *out);
RAMET_API ramet_status ramet_turn_get(ramet_call *c, const char *session, const char *turn,
                                      ramet_turn **out);
/* The session that a turn of the server belongs to; NULL when the caller may not see one. */
RAMET_API ramet_status ramet_turn_session(ramet_call *c, const char *turn, const char **session);
/* What the agent of a turn was sent. A history that it was sent as it stands in the store is not
 * kept again: `data` then has what else was sent, and the context view of the first `length`
 * entries of the turn's branch gives the messages (src/agent/prompt.h). */
typedef struct ramet_prompt_in {
    const char *agent; /* the kind of agent, which knows how to write the messages */
    int64_t length;    /* entries that it was given, of the path of the turn's branch */
    const char *data;  /* JSON object, at most 16 MiB */
} ramet_prompt_in;
/* The next ramet_turn_begin(), ramet_turn_append() or ramet_turn_end() through `c` keeps it, in its
 * commit; what was kept for that turn before is replaced. It must live until that call has
 * returned; NULL takes it back.
 */
RAMET_API void ramet_call_prompt(ramet_call *c, const ramet_prompt_in *in);

typedef struct ramet_prompt {
    bool known; /* false: the turn is of an older version, was never sent to an agent, or its server
                   died before it had recorded anything; nothing else is set then */
    const char *agent;
    int64_t branch, length;
    const char *data;
    bool has_usage;
    ramet_usage usage; /* that the entries of the answer carry */
} ramet_prompt;
/* What was kept. Needs reader; a link is not enough. */
RAMET_API ramet_status ramet_turn_prompt(ramet_call *c, const char *session, const char *turn,
                                         ramet_prompt **out);

/* Newest first. limit 1-1000; 0 = 50. These three need reader. */
RAMET_API ramet_status ramet_turns(ramet_call *c, const char *session, int limit, ramet_turn **out,
                                   size_t *n);
/* The turn that is running on the session's head branch; *out is NULL when there is none. */
RAMET_API ramet_status ramet_turn_running(ramet_call *c, const char *session, ramet_turn **out);
/* Marks turns running under that host (NULL: under any) as interrupted; for the embedding program,
 * when it starts. */
RAMET_API ramet_status ramet_turns_interrupt(ramet_call *c, const char *host, int64_t *n);
/* The hosts that turns are running under according to the store, each once; for the embedding
 * program. */
RAMET_API ramet_status ramet_turn_hosts(ramet_call *c, const char *const **out, size_t *n);

/* ------------------------------------------------------------------ events */

typedef enum {
    RAMET_EVENT_CREATED = 1,
    RAMET_EVENT_UPDATED,
    RAMET_EVENT_FORKED,
    RAMET_EVENT_REWOUND,
    RAMET_EVENT_SWITCHED,
    RAMET_EVENT_MERGED,
    RAMET_EVENT_DELETED,
    RAMET_EVENT_RESTORED,
    RAMET_EVENT_APPENDED
} ramet_event_kind;
/* "session.created" … "session.restored", "entry.appended". */
RAMET_API const char *ramet_event_name(ramet_event_kind v);

/* Something that was committed. Numbers grow in commit order, across restarts and processes; there
 * may be gaps. */
typedef struct ramet_event {
    int64_t number;
    ramet_event_kind kind;
    const char *session, *tree; /* ids */
    const char *sandbox;        /* the one that the tree is in now */
    int64_t branch;             /* the head after it; for APPENDED: the branch written to */
    ramet_entry *entries;       /* APPENDED: what was added (at most 1,000: see `more`) */
    size_t n;
    bool more; /* there were more entries than that: read them */
    int64_t at;
    /* UPDATED: the member of the tree who changed (else NULL) with the levels before and after; and
     * whether the tree was archived (1) or brought back (-1). */
    const char *member;
    ramet_level before, after;
    int archived;
} ramet_event;

typedef struct ramet_events_in {
    int64_t after;              /* the last number that the caller has */
    const char *session, *tree; /* ids; NULL = all */
    int limit;                  /* 1-1000; 0 = 100 */
    bool bare;                  /* leave the entries out */
} ramet_events_in;

typedef struct ramet_events_out {
    ramet_event *items; /* oldest first */
    size_t n;
    int64_t next; /* pass this as `after` next; it advances past events the caller may not see */
    bool lost;    /* events between `after` and the first one kept are gone, or `after` is in the
                     future: the caller must read again. Then items is empty and `next` the newest */
} ramet_events_out;

/* Events after a number that the caller may see, without appends to the adk log. For a session that
 * no longer exists only its end is reported. A page ends early past 32 MiB. O(limit + those
 * filtered out). */
RAMET_API ramet_status ramet_events(ramet_call *c, const ramet_events_in *in,
                                    ramet_events_out *out);
/* The newest number. Cheap; any thread. */
RAMET_API int64_t ramet_event_last(ramet *r);
/* Whether the caller may see an event that another call has read, a DELETED one included. Event and
 * call must belong to the same store. */
RAMET_API bool ramet_event_seen(ramet_call *c, const ramet_event *e);
/* Blocks for at most `ms` until there is an event after `after`; returns the newest number. It sees
 * an event of this process at once, one of another process on the same file within half a second,
 * on the same database at once or within a second or two. ramet_event_wake() ends every wait in
 * progress, or the next one when there is none. */
RAMET_API int64_t ramet_event_wait(ramet *r, int64_t after, int ms);
RAMET_API void ramet_event_wake(ramet *r);
/* In a database, events get their numbers shortly after their commit. A mark stands for everything
 * that this process has committed so far; ramet_event_upto() waits until those events have numbers,
 * and returns one that is not below any of them. Both are cheap when there is nothing to wait for.
 */
RAMET_API int64_t ramet_event_mark(ramet *r);
RAMET_API int64_t ramet_event_upto(ramet *r, int64_t mark);
/* Removes events except the newest `keep` (at least 1) and those that the search index has not seen
 * yet, and answers kept for idempotency keys that have expired. For the embedding program. */
RAMET_API ramet_status ramet_events_prune(ramet_call *c, int64_t keep, int64_t *removed);

/* ------------------------------------------------------- answers kept by a key
 * A caller that does not know whether its request arrived sends it again with the same key. The
 * kept answer is encrypted with that key, of which only a hash is stored: only someone who knows or
 * guesses the key can read a secret in a stored answer. */

typedef struct ramet_once {
    const char *scope;  /* what the key is unique in, beside the user; 1-1,000 bytes */
    const char *key;    /* 1-255 bytes */
    uint8_t digest[32]; /* of the request */
    /* Called inside the transaction, after the operation has filled its answer: gives a status and
     * the answer to keep, which must live until the call returns. Must not use the library. May be
     * called on another thread while the call waits, and more than once. */
    void (*answer)(void *arg, int *status, const char **bytes, size_t *n);
    void *arg;
    int64_t keep_us; /* 0 = 24 hours */
    /* filled when the key was there with the same digest: the operation did not run, its answer
     * arguments are empty and the call returned RAMET_OK */
    bool repeated;
    int status;
    const char *bytes; /* lives in the call */
    size_t n;
} ramet_once;
/* Makes the next writing call through `c` idempotent: it is done once for that key, which is
 * recorded in the commit of the write itself. The key with another digest: RAMET_KEY_MISMATCH. A
 * call that fails keeps nothing. `once` must live until that call has returned; NULL takes it back
 * (after a call that was refused before it wrote, say), and so does ramet_call_reset(). */
RAMET_API void ramet_call_once(ramet_call *c, ramet_once *once);
/* For work that makes several commits, or none: look, work, keep.
 *
 *     ramet_call_once(c, &once);
 *     st = ramet_once_look(c);             RAMET_KEY_MISMATCH; once.repeated: nothing left to do
 *     st = ramet_gc(c, …);
 *     st = ramet_once_keep(c);             asks once.answer() and keeps it, in a commit of its own
 *
 * The key does not apply to the calls between the two. Both do nothing without a key, and so does
 * ramet_once_keep() when ramet_once_look() did not return RAMET_OK or found an answer. If several
 * callers look at the same time, all do the work and the first to keep its answer wins: the other
 * callers find `repeated` set, with that answer, when ramet_once_keep() returns (RAMET_KEY_MISMATCH
 * if the digests differ). If keeping fails, the work is done nevertheless. */
RAMET_API ramet_status ramet_once_look(ramet_call *c);
RAMET_API ramet_status ramet_once_keep(ramet_call *c);

/* Lets the next writing call through `c` succeed only if the history of that session has exactly
 * this prefix_hash, else RAMET_HEAD_MOVED: for writes without an `expected_head` of their own. Both
 * strings must live until that call has returned; head NULL takes it back. */
RAMET_API void ramet_call_expect(ramet_call *c, const char *session, const char *head);

/* ------------------------------------------------------------------- shares
 * A link to one session for people outside its tree: its path and versions, nothing else (I10). */

typedef struct ramet_share {
    const char *id;
    const char *session;
    bool write;
    const char *by;
    int64_t created, expires; /* expires 0: never */
    const char *token;        /* only from ramet_share_add(): only its hash is stored */
} ramet_share;
/* All three need the session's owner, or manager in the tree. life_us 0: no end. A session has at
 * most 1,000 links. ramet_shares() gives those that have not expired, oldest first. The links of a
 * deleted session are not found, and work again when it is restored. */
RAMET_API ramet_status ramet_share_add(ramet_call *c, const char *session, bool write,
                                       int64_t life_us, ramet_share **out);
RAMET_API ramet_status ramet_shares(ramet_call *c, const char *session, ramet_share **out,
                                    size_t *n);
RAMET_API ramet_status ramet_share_revoke(ramet_call *c, const char *session, const char *id);
/* From now on the call has, in addition to its user's own rights, those of the link on that
 * session:
 *
 *   read    the session itself, its path, branches and versions, record, head log, fork points,
 *           state, usage, events, turns, attachments; compare and search in it; and fork it
 *           as a private session of the call's user
 *   write   in addition: append, rewind, undo, redo, switch, edit, regenerate, sync, turns
 *
 * Everything else about it is RAMET_FORBIDDEN, other sessions do not exist, lists do not show it.
 * Answers leave out its position in the tree, tags, metadata, adk log, the user and reason of each
 * head move, and the folder and options of its agent, and a fork does not inherit them. Every call
 * looks the link up again: once it is revoked or has expired, it gives nothing. `token` NULL drops
 * the link. `out` may be NULL. Unknown, expired or revoked: RAMET_SHARE_NOT_FOUND. */
RAMET_API ramet_status ramet_call_share(ramet_call *c, const char *token, ramet_share **out);
/* -------------------------------------------------------------- attachments
 * Files that entries refer to (parts of type file). Kept once by content: in a folder, or in the
 * database (options.attachments).
 */

typedef struct ramet_attachment {
    const char *id;
    const char *name, *media_type; /* as given; "" when not */
    int64_t size;
    char sha256[65];
    const char *owner; /* NULL: the embedding program */
    int64_t created;
    int64_t expires; /* while no entry refers to it: when it is removed; 0: in use */
} ramet_attachment;

typedef struct ramet_upload ramet_upload;
typedef struct ramet_upload_in {
    const char *name;       /* at most 255 characters */
    const char *media_type; /* at most 255 bytes */
    const char *sha256;     /* hex; NULL: not checked */
    int64_t max_bytes;      /* 0 = limits.attachment_bytes */
    int64_t life_us;        /* how long it is kept while no entry refers to it; 0 = 24 hours */
    const char
        *id; /* that of a ramet_fetch (ramet/memory.h), which this completes; NULL: a UUIDv7 */
    bool random_id; /* a random UUID (version 4) instead */
} ramet_upload_in;
/* Bytes arrive in pieces; nothing is held in memory. Abort after a failure, or instead of finish.
 */
RAMET_API ramet_status ramet_upload_begin(ramet_call *c, const ramet_upload_in *in,
                                          ramet_upload **out);
RAMET_API ramet_status ramet_upload_add(ramet_upload *u, const void *bytes, size_t n);
RAMET_API ramet_status ramet_upload_finish(ramet_upload *u, ramet_attachment **out);
RAMET_API void ramet_upload_abort(ramet_upload *u); /* NULL is fine */

/* For the uploader, and for users who may read an entry that refers to it. */
RAMET_API ramet_status ramet_attachment_get(ramet_call *c, const char *id, ramet_attachment **out);
/* The same, and an open file to read from; the caller closes it. Content stored in the database is
 * copied to an unnamed file in $TMPDIR. */
RAMET_API ramet_status ramet_attachment_open(ramet_call *c, const char *id, ramet_attachment **out,
                                             int *fd);
/* Only for its uploader, and only while no entry refers to it. */
RAMET_API ramet_status ramet_attachment_delete(ramet_call *c, const char *id);

/* ----------------------------------------------------------------- feedback */

typedef struct ramet_feedback {
    const char *user; /* NULL: the embedding program */
    int value;        /* 1 up, -1 down */
    const char *comment;
    int64_t at;
} ramet_feedback;
/* One per user and entry, beside the entry (I2): every session that shares the entry shows it.
 * value 0 removes it. comment: at most 2,000 characters, may be NULL. Needs reader; a link is not
 * enough. */
RAMET_API ramet_status ramet_feedback_set(ramet_call *c, const char *session, const char *entry_id,
                                          int value, const char *comment);
/* Of all users, oldest first. */
RAMET_API ramet_status ramet_feedback_get(ramet_call *c, const char *session, const char *entry_id,
                                          ramet_feedback **out, size_t *n);

/* --------------------------------------------------------------- statistics */

typedef struct ramet_activity {
    int days;
    int64_t active_users;                    /* users who wrote, forked or moved in that time */
    int64_t forked_users, switched_users;    /* of those: forked; rewound, switched, undid … */
    int64_t sessions, forks, trees, entries; /* made in that time */
    double forks_per_tree;                   /* over the trees that were active */
} ramet_activity;
/* Over what the caller may see. days 1-366; 0 = 30. Sessions that are gone do not count; entries
 * count by their creation time. Nothing is precomputed: it looks at the sessions of the caller's
 * trees (at most 100,000; for the embedding program the newest), and into those that changed in
 * that time: at each branch, and at its newest 256 entries for their authors. */
RAMET_API ramet_status ramet_statistics(ramet_call *c, int days, ramet_activity *out);

/* ------------------------------------------------------------------- upkeep
 * For the embedding program (user NULL): other callers get RAMET_FORBIDDEN. */

/* Reports the progress of long work; return false to stop (RAMET_STOP). */
typedef bool (*ramet_progress)(void *arg, const char *what, int64_t done, int64_t total);

typedef struct ramet_fault {
    const char *what;         /* one line */
    const char *session;      /* where it shows, NULL when unknown */
    const char *entry_id;     /* the damaged entry, NULL when it is not one */
    int64_t branch, position; /* -1 when unknown */
} ramet_fault;

typedef struct ramet_fsck_out {
    int64_t trees, sessions, branches, entries; /* checked */
    int64_t erased; /* of the entries: erased (ramet/erase.h); their stored digests are checked */
    ramet_fault *faults; /* the first 1,000 */
    size_t n;
    int64_t n_all;
} ramet_fsck_out;
/* Checks the file, every hash, reference and head. RAMET_OK also when faults were found.
 * Reads one snapshot; writers continue. O(store). */
RAMET_API ramet_status ramet_fsck(ramet_call *c, ramet_progress progress, void *arg,
                                  ramet_fsck_out *out);

typedef struct ramet_gc_out {
    int64_t sessions; /* sessions past their grace time: removed permanently */
    int64_t expired;  /* ephemeral ones that had expired */
    int64_t branches, entries, bytes;
    int64_t attachments, attachment_bytes; /* that no entry refers to (any more) */
    bool dry_run;
} ramet_gc_out;
/* Permanently removes what nothing can reach: entries of sessions that were deleted longer ago than
 * the grace time, unless another session shares them; attachments that only those referred to; and
 * expired attachments. Works in small transactions, so that other calls can read and write
 * meanwhile. */
RAMET_API ramet_status ramet_gc(ramet_call *c, bool dry_run, ramet_progress progress, void *arg,
                                ramet_gc_out *out);

/* Makes a consistent copy while other calls read and write: the file at `path`, attachments at
 * `path`.files. Neither may exist. */
RAMET_API ramet_status ramet_backup(ramet_call *c, const char *path, ramet_progress progress,
                                    void *arg);

/* What differs between the two sides of a copy, or is damaged on both. */
typedef struct ramet_copy_fault {
    const char *table; /* "" when it does not belong to one table */
    const char *key;   /* of the row: "tree=3 session=7 tag=travel" */
    const char *what;  /* what is wrong, in one line */
} ramet_copy_fault;

typedef struct ramet_copy_in {
    bool verify_only;            /* compare both sides; write nothing */
    int passes;                  /* at most this many passes over what changed meanwhile; 0 = 8 */
    const ramet_options *target; /* options to open the target with; NULL: the defaults */
} ramet_copy_in;

typedef struct ramet_copy_out {
    bool resumed;                              /* an earlier copy was not finished */
    int64_t trees, entries, attachments;       /* processed */
    int64_t written, removed;                  /* rows in the target */
    int64_t passes;                            /* passes over what changed meanwhile */
    int64_t behind;                            /* trees that changed and are not copied yet */
    char source_digest[65], target_digest[65]; /* SHA-256 over all rows compared, in order */
    ramet_copy_fault *faults;                  /* the first 1,000 */
    size_t n;
    int64_t n_all;
} ramet_copy_out;
/* Copies everything to another store (`to` as in ramet_open()), whichever engine either uses, while
 * other calls read and write this one. Numbers, ids and hashes stay the same. Each tree is copied
 * from one snapshot, read back and compared row by row, and its hash chains are recomputed;
 * attachments are read back, too. Then trees that changed meanwhile are copied again, until none
 * has. RAMET_BEHIND: that did not converge, and `behind` trees are left; the next call copies only
 * those.
 *
 * The target must be new, or hold what an earlier call copied from this store and nothing else:
 * otherwise RAMET_INVALID. It cannot be opened (RAMET_CANNOT_OPEN) until the copy is finished. The
 * next call continues one that was stopped, failed or died. RAMET_BUSY: another copy is writing to
 * that target. RAMET_OK also when faults were found. O(store). */
RAMET_API ramet_status ramet_copy(ramet_call *c, const char *to, const ramet_copy_in *in,
                                  ramet_progress progress, void *arg, ramet_copy_out *out);

#define RAMET_BATCH_SIZES 10
typedef struct ramet_stats {
    const char *path;
    int64_t schema;
    int64_t trees, sessions, forks, deleted, branches, entries;
    int64_t attachments, attachment_bytes; /* bytes: the same content counts once */
    int64_t file_bytes, wal_bytes, search_bytes;
    int64_t events;    /* number of the newest event */
    int64_t unindexed; /* events that the search index has not seen yet */
    /* By this process. batches[i]: commits of at most 2^i writes, and more than 2^(i-1). */
    int64_t commits, writes, batches[RAMET_BATCH_SIZES];
} ramet_stats;
RAMET_API ramet_status ramet_stat(ramet_call *c, ramet_stats *out);

#ifdef __cplusplus
}
#endif
#endif
