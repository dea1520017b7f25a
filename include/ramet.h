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
 *   session  what a person calls a chat; its *head* is the branch it is on now
 *   tree     a root session with all forks that descend from it
 *   log      a session has one log, "main"; a runtime that keeps raw events
 *            beside the messages has a second one, "adk"
 *
 * A position counts entries from 0 along the path from the root to the head.
 *
 * THREADS   A `ramet *` may be used by any number of threads at once. A
 *           `ramet_call *` belongs to one thread at a time. Several processes
 *           may have the same file open.
 *
 * MEMORY    Every answer lives in the `ramet_call` it was asked through, until
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
 *           durable commit, which it shares with all writes that wait then.
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
/* Every status once: name, stable code for machines, HTTP status that faces
 * use, exit code of the command-line tool, what it means. */
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
    X(FORBIDDEN, "forbidden", 403, 4, "the caller's level in the tree does not allow it")          \
    X(HEAD_MOVED, "head_moved", 409, 5, "the history is not what expected_head says")              \
    X(ENTRY_EXISTS, "entry_exists", 409, 5, "that entry id is on the path with other content")     \
    X(SESSION_EXISTS, "session_exists", 409, 5, "that session id is taken")                        \
    X(SANDBOX_EXISTS, "sandbox_exists", 409, 5, "that name of a sandbox is taken")                 \
    X(SESSION_DELETED, "session_deleted", 409, 5, "that session is deleted, and can be restored")  \
    X(NOTHING_TO_UNDO, "nothing_to_undo", 409, 5, "no move is left to undo")                       \
    X(NOTHING_TO_REDO, "nothing_to_redo", 409, 5, "no undone move is left to redo")                \
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

/* Limits on what comes from outside. 0 takes the default. */
typedef struct ramet_limits {
    size_t entry_bytes;      /* 16 MiB: all fields of one entry together */
    size_t batch;            /* 1,000 entries in one append */
    size_t sync;             /* 100,000 entries in one sync */
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
    int64_t grace_us;         /* deleted sessions can be restored for; 0 = 7 days */
    bool must_exist;          /* do not make a new store */
    bool unverified_reads;    /* do not check the hash chain on reads (see ramet_read) */
    const char *attachments;  /* folder of attachments; NULL = PATH.files beside the file, or in
                                 the database */
    const char *direct;       /* URL of the same PostgreSQL database past pgbouncer, for LISTEN,
                                 locks and tables; NULL = `where` */
    const char *const *reads; /* URLs of read replicas of PostgreSQL: see ramet_call_replica */
    size_t n_reads;
    const char *engine_vfs;      /* SQLite VFS by name; NULL = default. For fault tests */
    int64_t (*clock)(void *arg); /* microseconds now; NULL = the system's. For tests */
    void *clock_arg;
} ramet_options;

/* Opens or makes a store. `where` is a path, `sqlite:PATH`, or `postgres://…` (a URL as libpq takes
 * it; with pgbouncer=1 for pgbouncer in transaction mode); another word before a colon is refused.
 * NULL or "" is
 * $XDG_DATA_HOME/ramet/ramet.db (else ~/.local/share/ramet/ramet.db). Missing
 * folders of the default place are made. An older file is upgraded in one
 * transaction; a newer one is refused with RAMET_NEWER.
 * `opt` may be NULL. On failure *out is NULL and *err (may be NULL) filled. */
RAMET_API ramet_status ramet_open(const char *where, const ramet_options *opt, ramet **out,
                                  ramet_error *err);

/* Closes. No call of it may be running; every call and stream must be freed first. */
RAMET_API void ramet_close(ramet *r);

/* The path that a `where` means, or its URL without the password; the answer is static per thread.
 */
RAMET_API const char *ramet_where(const char *where);

/* The statements that make the tables of a store, one by one, for those who make them by hand; no
 * store is needed for that (docs/scaling.md). RAMET_CITUS: PostgreSQL's tables without partitions,
 * and then how they are distributed. RAMET_INVALID: partitions are 1 to 1,024, or there is no such
 * version. */
typedef enum { RAMET_SQLITE, RAMET_POSTGRES, RAMET_CITUS } ramet_engine;
typedef struct ramet_schema_in {
    ramet_engine engine;
    int partitions; /* of each table of a tree, on PostgreSQL; 0 or 1: none */
    int64_t after;  /* only what a store of that schema version lacks; 0 = all */
} ramet_schema_in;
RAMET_API ramet_status ramet_schema(const ramet_schema_in *in,
                                    void (*statement)(void *arg, const char *sql), void *arg);

/* Whether writes are stopped (I8): RAMET_OK, or the status of the write that failed (RAMET_IO,
 * RAMET_FULL, RAMET_DAMAGED, …). */
RAMET_API ramet_status ramet_health(ramet *r);

/* Empties the write-ahead log of a file when it has grown: otherwise a write does that every few
 * hundred commits, and takes some milliseconds longer. For a program that runs on, once a second
 * or so, on a thread that may wait. */
RAMET_API void ramet_tidy(ramet *r);

/* Gives back the memory that caches of idle connections hold; they fill again when they are used.
 * For a program that runs on, when a time of load is over. Any thread. */
RAMET_API void ramet_release(ramet *r);

/* One request: who asks, the memory of its answers, its last error.
 * `user` NULL: the embedding program itself, which may do and see everything.
 * `client` (may be NULL) is recorded in the entries that the call appends. */
RAMET_API ramet_call *ramet_call_new(ramet *r, const char *user, const char *client);
RAMET_API void ramet_call_reset(ramet_call *c); /* frees its answers, keeps who asks */
RAMET_API void ramet_call_free(ramet_call *c);
/* Lets reads of the call end early, with RAMET_STOP: `stop` is asked now and then while one runs,
 * on its thread, and must not use the call. Writes are never stopped: what was begun is committed
 * or refused. NULL: never. */
RAMET_API void ramet_call_stop_when(ramet_call *c, bool (*stop)(void *arg), void *arg);
/* Pages of ramet_read(), ramet_record(), ramet_across() and ramet_indexed_lacking() end early past
 * so many bytes of entries, after at least one: for a caller that hands them on piece by piece. 0,
 * and more than 32 MiB: 32 MiB. */
RAMET_API void ramet_call_page_bytes(ramet_call *c, size_t bytes);
RAMET_API const ramet_error *ramet_call_error(const ramet_call *c);
/* The memory that a call's answers live in, for what is made of them (base/arena.h; of use only to
 * programs that are built with it). */
struct arena;
RAMET_API struct arena *ramet_call_arena(ramet_call *c);

/* Read replicas (options.reads). A write has a position: whatever has come so far holds it.
 *
 * From ramet_call_replica() on the call's reads may come from a replica that has come to `since`
 * and has what the call itself wrote: one that is behind is waited for, up to 200 ms, then the
 * primary is read. 0: whatever a replica has. -1, and ramet_call_reset(), go back to the primary
 * alone. What a share link shows always comes from there. */
RAMET_API void ramet_call_replica(ramet_call *c, int64_t since);
/* Whether a read of it came from one, since ramet_call_reset(): what was not found may be there. */
RAMET_API bool ramet_call_replicated(const ramet_call *c);
/* The position of the call's last write; 0: it has not written, or there are no replicas. */
RAMET_API int64_t ramet_call_position(const ramet_call *c);
/* One that holds all that was written through `r`. */
RAMET_API int64_t ramet_position(ramet *r);
/* As text, "16/B374D848", and back; -1 when it is none. */
RAMET_API const char *ramet_position_text(int64_t position, char out[24]);
RAMET_API int64_t ramet_position_parse(const char *s);

/* ------------------------------------------------------------------ values */

typedef enum { RAMET_USER = 1, RAMET_ASSISTANT, RAMET_TOOL, RAMET_SYSTEM } ramet_role;
typedef enum { RAMET_LOG_MAIN = 0, RAMET_LOG_ADK = 1 } ramet_log;
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
    RAMET_MOVE_SYNC
} ramet_move_kind;

/* The words for them ("user", "before", "snap_after", "auto-edit", "private",
 * "system", "manager", "rewind", …), and back; an unknown word gives -1. */
RAMET_API const char *ramet_role_name(ramet_role v);
RAMET_API int ramet_role_parse(const char *s);
RAMET_API const char *ramet_side_name(ramet_side v);
RAMET_API int ramet_side_parse(const char *s);
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

/* A branch id as text, "b17"; and back (0 when it is none). */
RAMET_API const char *ramet_branch_text(int64_t branch, char out[24]);
RAMET_API int64_t ramet_branch_parse(const char *s);

/* Who answers in a session. `options` is a JSON object. All may be NULL. */
typedef struct ramet_agent {
    const char *name, *provider, *model, *folder, *options;
} ramet_agent;

/* Tokens and money of one entry. `cost` is in billionths of `currency` (three letters or so; none
 * given: USD, and "" when there is no cost). All >= 0. */
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

/* Where a fork or rewind really cut. entry_id NULL: nothing was kept (side is
 * `before` then and position 0). */
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
    /* Where it was forked from; parent_id NULL when it is a root, or when the
     * caller may not see the parent. */
    bool is_fork;
    const char *parent_id;
    const char *fork_entry_id; /* NULL: blank slate */
    ramet_side fork_side;
    ramet_fork_type type;
    const char *reason; /* "" when none */
    ramet_actor by_kind;
    const char *by_id;
    const char *from_title;    /* what its parent was called when it was forked; "" when none */
    const char *merged_into;   /* session id or NULL */
    const char *cache_root;    /* session whose provider cache holds the start of this history */
    int64_t cache_root_shared; /* entries shared with it */
    const char *metadata;      /* JSON object */
    bool archived;
    bool deleted;    /* only in trees and ancestries: a place holder, all else is empty */
    int64_t expires; /* ephemeral: when it goes; 0 = lasting */
    int64_t created, updated;
    int64_t depth; /* forks above it */
    /* Only from ramet_session_get(): what the caller may do there. His level in the tree; owner of
     * his own private session; of a link, reader or writer. */
    ramet_level level;
    int64_t number; /* owner_no of the entries that it appended itself */
    int64_t base;   /* entries that it inherited; only from ramet_tree() with `light` */
    /* Only from ramet_tree(): ids from the root, this one last, at most the last 64. */
    const char *const *path;
    size_t n_path;
} ramet_session;

typedef struct ramet_session_in {
    const char *id; /* NULL: a UUIDv7 is made */
    const char *title;
    ramet_agent agent;
    const char *const *tags;
    size_t n_tags;
    const char *metadata; /* JSON object */
    ramet_visibility visibility;
    const char *owner;    /* NULL: the caller; only the embedding program may name another */
    const char *sandbox;  /* one of the owner's; NULL, "default": none */
    int64_t ephemeral_us; /* > 0: expires that long after now */
    bool anew;            /* a deleted session of the owner that has the id gives it up (it can be
                             restored as ID~NUMBER); else RAMET_SESSION_DELETED */
} ramet_session_in;

/* A new root session in a tree of its own; its owner becomes the tree's owner. O(1). */
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
    const char *after;   /* instead of a cursor: the session that the page begins behind; nothing
                            comes behind one that is not there */
    bool stored_title;   /* `title` is looked for in stored titles alone */
    enum {
        RAMET_ALL_FORKS,
        RAMET_NO_FORKS,
        RAMET_LATEST_FORK
    } forks; /* all; roots; of each tree
what was touched last, among those that `archived` lets through */
    enum {
        RAMET_ANY_START,
        RAMET_NOT_STARTED,
        RAMET_STARTED
    } start; /* by another session or not */
    /* Of the archived ones those that were archived from this time on and before that, to whole
     * seconds, and none that is not archived. What was archived before times were kept counts as
     * of the year 2020. */
    bool archived_when;
    int64_t archived_from, archived_to;
} ramet_list_in;

typedef struct ramet_session_list {
    ramet_session *items;
    size_t n;
    const char *next_cursor; /* NULL at the end */
} ramet_session_list;

/* Sessions that the caller may see, newest first. Pages are stable: a session
 * made or removed meanwhile neither repeats nor skips another. */
RAMET_API ramet_status ramet_session_find(ramet_call *c, const ramet_list_in *in,
                                          ramet_session_list *out);

/* Only what is not NULL changes. */
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

/* An ephemeral session becomes a lasting one (no error when it is one already). */
RAMET_API ramet_status ramet_session_promote(ramet_call *c, const char *id, ramet_session **out);

typedef struct ramet_delete_out {
    const char *const *ids; /* sessions that go (or would go) */
    size_t n;
    int64_t entries; /* entries that no other session reaches: what gc will take */
    bool dry_run;
} ramet_delete_out;

/* Deletes one session, or it and all that descends from it (`tree`); never a
 * private session of another. Forks stay where they are. Undone by
 * ramet_session_restore() until gc takes it. Needs the session's owner, or manager in the tree
 * (with `tree`: for every session that goes). O(sessions and branches of the tree). */
RAMET_API ramet_status ramet_session_delete(ramet_call *c, const char *id, bool tree, bool dry_run,
                                            ramet_delete_out *out);

/* Brings a deleted (or expired) session back; `tree`: all that the same delete took and the caller
 * may url_fetch back. Needs the session's owner, or manager in the tree. */
RAMET_API ramet_status ramet_session_restore(ramet_call *c, const char *id, bool tree,
                                             ramet_session **out);

typedef struct ramet_tags {
    const char *const *items; /* sorted */
    size_t n;
} ramet_tags;

/* Tags are trimmed and made lower case. Need writer. O(tags). */
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
/* Every tag on a session that the caller may see, with how many; by name. */
RAMET_API ramet_status ramet_tags_all(ramet_call *c, ramet_tag_count **out, size_t *n);

/* ---------------------------------------------------------------- sandboxes
 * A tree is in one sandbox, or in none: "default" stands for that, and is everybody's own. A
 * sandbox is for its owner; to others, members of its trees too, it is not there. In a user's
 * default are the sessions that he may see of trees in no sandbox. */

#define RAMET_SANDBOX_DEFAULT "default"

typedef struct ramet_sandbox {
    const char *id;
    const char *owner;
    int64_t created; /* 0: the default one */
} ramet_sandbox;
/* Ids are unique in the store (RAMET_SANDBOX_EXISTS). `out` may be NULL. */
RAMET_API ramet_status ramet_sandbox_add(ramet_call *c, const char *id, ramet_sandbox **out);
/* The caller's, by name, behind the default one; of the embedding program: all. */
RAMET_API ramet_status ramet_sandboxes(ramet_call *c, ramet_sandbox **out, size_t *n);
/* Its sessions stay, in no sandbox; *trees gets how many trees they are of. One commit. */
RAMET_API ramet_status ramet_sandbox_remove(ramet_call *c, const char *id, int64_t *trees);
/* Whether it is there for the caller (else RAMET_SANDBOX_NOT_FOUND), and in it a session that he
 * may see (else RAMET_SESSION_NOT_FOUND, RAMET_HIDDEN); session NULL is not looked for. */
RAMET_API ramet_status ramet_sandbox_check(ramet_call *c, const char *id, const char *session);
/* The sandbox of a session. */
RAMET_API ramet_status ramet_sandbox_of(ramet_call *c, const char *session, const char **id);
/* Its sessions that the caller may see, newest first. Of each: id, owner, visibility, tags, where
 * it was forked from and by whom, from_title, merged_into, metadata, created, depth; the rest is
 * empty. One query. O(sessions of its trees). */
RAMET_API ramet_status ramet_sandbox_sessions(ramet_call *c, const char *id, ramet_session **out,
                                              size_t *n);
typedef struct ramet_sandbox_counts {
    int64_t sessions, roots, forks;
    int64_t by_type[3]; /* forks, by ramet_fork_type */
    int64_t max_depth;
    ramet_tag_count *tags; /* the most used first, then by name */
    size_t n_tags;
} ramet_sandbox_counts;
/* The same counted. */
RAMET_API ramet_status ramet_sandbox_count(ramet_call *c, const char *id,
                                           ramet_sandbox_counts *out);

/* ------------------------------------------------------------------ entries */

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
    int version, versions;    /* the picker's 2/3; 0/0 when not asked for */
    int feedback;             /* the caller's own, 1 or -1; 0: none, or not asked for */
    char hash[65];            /* prefix_hash */
    int64_t created;
    int64_t owner_no; /* internal number of the session that appended it */
} ramet_entry;

typedef struct ramet_entry_in {
    const char *id; /* NULL: a UUIDv7 is made */
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
    const char *key;         /* no other entry of the session has it (RAMET_KEY_TAKEN), whichever
                                branch it is on; 1-64 bytes. Not a part of the entry */
    const char *indexed;     /* see ramet_indexed_set(); only from ramet_append() */
    const char *invocation;  /* with turn_id: another name of the turn, from its question on. Not a
                                part of the entry: the turn can be found by it (before_turn) */
} ramet_entry_in;

/* What is known about an A2A task beside its messages, which are the entries of the turn with its
 * id. */
typedef struct ramet_task {
    const char *id, *session;
    const char *data; /* JSON object; a face's matter */
    int64_t created, updated;
    bool deleted;
} ramet_task;
typedef struct ramet_task_in {
    const char *id;
    const char *data;
    int64_t at; /* when it came to its status; 0: it is not told */
} ramet_task_in;

/* A session as a list by time sees it. */
typedef struct ramet_active {
    const char *session, *agent; /* its id; the name of its agent, NULL: none */
    int64_t first, last;         /* nothing in it came to its status before, or after */
} ramet_active;
typedef struct ramet_active_in {
    int64_t last, number; /* where the list before it ended (0, 0: from the start) */
    int64_t until;        /* only those in which something is as old as this; 0: any */
    int limit;            /* 1 … 1000; 0: 100 */
} ramet_active_in;
typedef struct ramet_active_list {
    ramet_active *items;
    size_t n;
    bool more;            /* there may be more behind: */
    int64_t last, number; /* their `last` is not above this one */
} ramet_active_list;

typedef struct ramet_append_in {
    const ramet_entry_in *entries;
    size_t n;                  /* 1 … limits.batch */
    const char *expected_head; /* prefix_hash in hex that the history must have; NULL = any */
    int64_t branch;            /* 0 = the head; else a branch of this session (a turn that goes on
                                  writing where it began) */
    ramet_log log;
    const ramet_task_in *task; /* is put in the same commit (n may be 0 then); NULL: none */
    bool fenced; /* RAMET_TURN_OVER for an entry of a turn that a move has cut off: what comes late
                    does not land on the new head */
    const char *before_turn; /* adk: the (one) entry is an ADK rewind event, and the heads move
                                before that turn in the same commit; nothing moves when no event
                                before it is of that turn */
    const struct ramet_make *make;   /* a conversation: see ramet_make */
    const struct ramet_again *again; /* attachments that are referred to again */
    size_t n_again;
} ramet_append_in;

typedef struct ramet_append_out {
    ramet_entry *entries; /* as stored, in the order given */
    size_t n;
    size_t added;    /* how many were written; the others were there already */
    bool made;       /* with ramet_append_in.make: the session was, too */
    ramet_head head; /* of the branch written to */
} ramet_append_out;

/* Appends a batch, all or nothing, in order. An id that is on the path already
 * with the same content (of the fields given) is answered with the first
 * result; with other content: RAMET_ENTRY_EXISTS. Needs writer.
 * O(batch); waits for one durable commit. */
RAMET_API ramet_status ramet_append(ramet_call *c, const char *session, const ramet_append_in *in,
                                    ramet_append_out *out);

/* How a conversation is made by its first entries, in one commit with them, or by
 * ramet_session_make(). With it an append to a session that is archived is RAMET_SESSION_NOT_FOUND,
 * and one whose title is empty gets this one.
 *
 * A fork: `fork_of` must be there and not archived, the caller a member of its tree; `fork_at` an
 * entry of the tree (RAMET_ENTRY_NOT_FOUND), of channel history, or journal and the caller's client
 * (else RAMET_INVALID, RAMET_FORBIDDEN), on the path of `fork_of` (RAMET_INVALID). It inherits what
 * comes before `fork_at`; without that, nothing. With entries it needs writer; without, a reader
 * gets a private fork.
 *
 * Started by another: a tree of its own, with the owner and the members that the tree of that one
 * has then. Needs writer there; `started_at` is on its path (RAMET_INVALID). */
typedef struct ramet_make {
    const char *title, *agent, *metadata;
    const char *fork_of, *fork_at;
    const char *started_by, *started_at;
    bool own; /* the entries are the client's: RAMET_FORBIDDEN when another client made the session
               */
} ramet_make;

/* An attachment that an entry of this tree refers to: `id` becomes one of the caller's own with the
 * same content. RAMET_ATTACHMENT_NOT_FOUND, RAMET_FORBIDDEN when it is another tree's. */
typedef struct ramet_again {
    const char *from, *id;
} ramet_again;

/* Makes it without entries. `id` NULL: a UUIDv7. RAMET_SESSION_EXISTS. */
RAMET_API ramet_status ramet_session_make(ramet_call *c, const char *id, const ramet_make *in,
                                          ramet_session **out);

typedef struct ramet_origin {
    const char *client;                  /* of who made it as a conversation; "" when none */
    const char *started_by, *started_at; /* session, entry; NULL when none */
    ramet_level level; /* the caller's in the tree; the owner's of his private one */
} ramet_origin;
RAMET_API ramet_status ramet_origin_get(ramet_call *c, const char *session, ramet_origin *out);
/* What a session has started, and the caller may see: oldest first. */
RAMET_API ramet_status ramet_started(ramet_call *c, const char *session, ramet_session **out,
                                     size_t *n);
/* Archives, or brings back, every session of the tree, and of those that were started from it.
 * Needs owner. RAMET_SESSION_NOT_FOUND: it is so already. One commit. */
RAMET_API ramet_status ramet_archive(ramet_call *c, const char *session, bool archived,
                                     ramet_session **out);
/* Whether the tree of a session has an entry of that id. */
RAMET_API ramet_status ramet_entry_known(ramet_call *c, const char *session, const char *id,
                                         bool *known);

/* The session that appended an entry, by the entry's id alone; for the embedding program. A deleted
 * one does not count. */
RAMET_API ramet_status ramet_entry_home(ramet_call *c, const char *id, const char **session);
/* The same of a branch, by its number alone. A shared store has no index for that, and looks at all
 * branches. */
RAMET_API ramet_status ramet_branch_home(ramet_call *c, int64_t branch, const char **session);

/* Texts that entries are to be found by, beside them (I2). Setting is for the embedding program. */
typedef struct ramet_indexed {
    const char *text; /* NULL: none */
    int64_t at;
    const char *session; /* that appended the entry; NULL: it is gone, or hidden */
} ramet_indexed;
RAMET_API ramet_status ramet_indexed_set(ramet_call *c, const char *session, const char *entry_id,
                                         const char *text);
/* Of n entries that were read from the session. */
RAMET_API ramet_status ramet_indexed_get(ramet_call *c, const char *session,
                                         const ramet_entry *entries, size_t n, ramet_indexed **out);
/* Entries of the channel history without one, by their place in the store: those behind `after`
 * (0: from the first on); fewer than `limit` may also be a page that ended early. For the embedding
 * program. */
typedef struct ramet_lacking {
    const char *session;
    const ramet_entry *entry;
    int64_t place;
} ramet_lacking;
RAMET_API ramet_status ramet_indexed_lacking(ramet_call *c, int64_t after, int limit,
                                             ramet_lacking **out, size_t *n);

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
    /* Only entries that it wants; limit is then up to 1001, and more_before and more_after tell
     * only that the page ended before its limit because of its size. It must not use the call. */
    bool (*want)(void *arg, const ramet_entry *e);
    void *want_arg;
} ramet_read_in;

typedef struct ramet_page {
    ramet_entry *entries; /* oldest first */
    size_t n;
    ramet_head head; /* of the path read */
    bool more_before, more_after;
} ramet_page;

/* A page of a path. Every entry is checked against the hash chain (unless
 * unverified_reads): damage is RAMET_DAMAGED and names the entry, never a
 * shorter page. O(limit + log d), without `channel`. */
RAMET_API ramet_status ramet_read(ramet_call *c, const char *session, const ramet_read_in *in,
                                  ramet_page *out);

/* What several sessions of a tree have appended themselves, in one order. */
typedef struct ramet_across_in {
    bool tree; /* every session of it that the caller may see; else those that the path is of */
    /* By key: entries that have one (ramet_entry_in.key) from this to that, both of one length;
     * needed without `tree`. NULL: by time. */
    const char *key_from, *key_to;
    /* Entries of ramet_across_entry() that the page is behind, or before; by key: and theirs. */
    const ramet_entry *after, *before;
    const char *after_key, *before_key;
    bool with_after;         /* `after` itself is the first of the page, if it is still wanted */
    bool tail;               /* the last ones */
    const ramet_entry *upto; /* by time: nothing behind this one */
    int64_t end;             /* only positions below this; 0 = all */
    int limit;               /* 1-1000; 0 = 50 */
    bool (*want)(void *arg, const ramet_entry *e); /* as in ramet_read_in */
    void *want_arg;
} ramet_across_in;
/* Only the flag of the direction that was read in is set; no head. O(limit log s), s sessions, and
 * what `want` refuses. */
RAMET_API ramet_status ramet_across(ramet_call *c, const char *session, const ramet_across_in *in,
                                    ramet_page *out);
/* An entry that is on the present path of the session that appended it, by its id or (NULL) by
 * where it stands. */
RAMET_API ramet_status ramet_across_entry(ramet_call *c, const char *session, const char *id,
                                          int64_t branch, int64_t position, ramet_entry **out);

/* One entry on a path. O(log d). */
RAMET_API ramet_status ramet_entry_get(ramet_call *c, const char *session, int64_t branch,
                                       const char *entry_id, ramet_entry **out);

/* A whole path, oldest first, in constant memory. The path is fixed when the
 * stream is opened: later moves and appends are not seen. It uses its own
 * memory: each entry lives until the next call. */
typedef struct ramet_stream ramet_stream;
RAMET_API ramet_status ramet_stream_open(ramet_call *c, const char *session,
                                         const ramet_read_in *in, ramet_stream **out);
/* *out is NULL at the end. Errors are in the error of the call it was opened with. */
RAMET_API ramet_status ramet_stream_next(ramet_stream *s, const ramet_entry **out);
RAMET_API int64_t ramet_stream_length(const ramet_stream *s); /* entries on the path */
RAMET_API void ramet_stream_close(ramet_stream *s);

/* The record: everything that was ever appended in the session itself, on any
 * branch, in order of appending. `from` counts from 0. Pages like ramet_read;
 * `total` gets the length of the record. */
RAMET_API ramet_status ramet_record(ramet_call *c, const char *session, ramet_log log, int64_t from,
                                    int limit, ramet_page *out, int64_t *total);

/* The adk log, oldest first, in constant memory: what the session inherited, then its record, with
 * every rewind event; or (`effective`) its path, without them. `own`: not inherited. False from the
 * callback, which must not use the call, ends it. Needs writer. */
typedef bool (*ramet_each)(void *arg, const ramet_entry *e, bool own);
RAMET_API ramet_status ramet_adk_each(ramet_call *c, const char *session, bool effective,
                                      ramet_each each, void *arg);
/* A part of it, by numbers that count its events from 0 on. The event of a number never changes: a
 * record only grows at its end, and so does the path of one branch. */
typedef struct ramet_adk_span {
    bool effective;
    int64_t branch;      /* effective: whose path; 0: the present one, and set to it */
    int64_t from, until; /* numbers; until 0: all that there are now, and set to how many */
    int64_t at;          /* set to the number of the event that the callback is given */
} ramet_adk_span;
RAMET_API ramet_status ramet_adk_span_each(ramet_call *c, const char *session, ramet_adk_span *span,
                                           ramet_each each, void *arg);
/* Its state: the fold of the deltas on the path, but keys that begin with "app:" or "user:" belong
 * to no session, and keep what any event of the record gave them. */
RAMET_API ramet_status ramet_adk_state(ramet_call *c, const char *session, const char **json);

/* Tasks: ids are unique in the store. Putting needs writer; RAMET_ENTRY_EXISTS: the id is that of a
 * task in another session, or of a deleted one. ramet_task_get() gives deleted ones, too; *out is
 * NULL when there is none that the caller may see. */
RAMET_API ramet_status ramet_task_put(ramet_call *c, const char *session, const ramet_task_in *in,
                                      ramet_task **out);
RAMET_API ramet_status ramet_task_get(ramet_call *c, const char *id, ramet_task **out);
RAMET_API ramet_status ramet_task_delete(ramet_call *c, const char *session, const char *id);
/* Of a session, oldest first, deleted ones too. */
RAMET_API ramet_status ramet_tasks(ramet_call *c, const char *session, ramet_task **out, size_t *n);
/* The sessions that the caller may see, by when something happened in them last, newest first: for
 * who lists what is in them by time. Costs a look at each of them, without what is in it. */
RAMET_API ramet_status ramet_active_find(ramet_call *c, const ramet_active_in *in,
                                         ramet_active_list *out);
/* The session that a turn of the server belongs to; NULL when the caller may not see one. */
RAMET_API ramet_status ramet_turn_session(ramet_call *c, const char *turn, const char **session);

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
    ramet_actor by_kind;         /* who made it, as the caller says */
    const char *by_id;           /* NULL: the caller */
    int64_t ephemeral_us;        /* > 0: expires */
    const char *expected_head;
    const char *before_turn; /* instead of `at` and `adk_at`: see below */
    bool by_role; /* the side of `at` is that of its entry's role: before what a user said, after
                     all else */
    bool blank;   /* instead of them: it inherits nothing */
} ramet_fork_in;

/* A new session in the same tree that shares the history up to the cut. O(log d),
 * whatever n: a constant number of small rows. `cut` may be NULL. */
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
 * question that began it, adk at its first event. A fork looks for it on the path; a rewind in all
 * of the record, so that a turn which an earlier rewind has cut off is known. RAMET_TURN_NOT_FOUND.
 *
 * A session whose adk log holds ADK events (format "adk" with a turn_id) is read by runtimes that
 * know its record alone. So every move of its head appends an ADK rewind event (channel "rewind")
 * to that log in the same commit, and adk is cut at the first event of an invocation: ADK's rule
 * over ramet_adk_each(…, false, …) gives what ramet_adk_each(…, true, …) gives. */

/* Where a turn, or invocation, begins. */
typedef struct ramet_turn_at {
    bool on_path;     /* of the head; else it was cut off */
    int64_t branch;   /* that it stands on */
    int64_t position; /* of its first entry (main: the question) */
} ramet_turn_at;
RAMET_API ramet_status ramet_turn_find(ramet_call *c, const char *session, ramet_log log,
                                       const char *turn, ramet_turn_at *out);

/* The head moves to a new branch at the cut; the old branch stays. O(log d). Needs
 * writer, as all moves do. `cut` may be NULL. */
RAMET_API ramet_status ramet_rewind(ramet_call *c, const char *session, const ramet_move_in *in,
                                    ramet_session **out, ramet_cut *cut);

/* As in an editor, without limit: undo takes the last move back (and is itself
 * in the head log), redo takes the undo back, a new move ends redo. O(1). */
RAMET_API ramet_status ramet_undo(ramet_call *c, const char *session, const char *expected_head,
                                  ramet_session **out);
RAMET_API ramet_status ramet_redo(ramet_call *c, const char *session, const char *expected_head,
                                  ramet_session **out);

/* The head moves to another branch of this session. O(1). */
RAMET_API ramet_status ramet_switch(ramet_call *c, const char *session, int64_t branch,
                                    const char *expected_head, ramet_session **out);

/* A new version of an entry: branches before it (type auto-edit) and appends
 * `in` there, in one commit. in->role 0 takes the old entry's role. */
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
    int64_t matched; /* entries of the list that were there */
    int64_t added;   /* entries appended */
    bool moved;      /* a branch was made: the list differed, or was a prefix */
} ramet_sync_out;

/* Makes the channel's part of the path equal to a client's list: finds the
 * first difference, branches there, appends the rest. Entries match by id (when
 * the list gives one), role and content. All entries of a list are of one
 * channel; an empty list is for "history". One commit. O(n). */
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

/* The versions of the message at that entry's position, oldest first: the
 * distinct entries there on the paths of this session's branches that share
 * everything before it. The entry may lie on any branch of the session
 * (`branch`, 0 = the head). O(versions + branches of the session). */
RAMET_API ramet_status ramet_versions(ramet_call *c, const char *session, int64_t branch,
                                      const char *entry_id, ramet_version **out, size_t *n);

/* One of several versions of a message. The message is known by the id of its oldest version, as
 * the others may have ids of their own. */
typedef struct ramet_pick {
    const char *message_id;
    int number, count; /* among all with that message_id, by time */
    const char *entry_id;
    int64_t position;
    int64_t branch;       /* the branch a switch would go to */
    ramet_fork_type type; /* of the branch that owns the entry */
    bool current;         /* on the present path */
    int within;           /* index of the version, further up, that it comes behind; -1: none */
    int64_t created;
} ramet_pick;
/* Every version of every message of a session that has more than one, on any of its branches: those
 * further up first, then by message and number. *now gets the index of the current one that is
 * furthest down; -1: none. O(branches of the session), and for each message that has versions those
 * that are further up. */
RAMET_API ramet_status ramet_picks(ramet_call *c, const char *session, ramet_pick **out, size_t *n,
                                   int *now);

typedef struct ramet_branch {
    int64_t id;
    int64_t parent; /* 0 = root */
    int64_t base, length;
    ramet_fork_type type;
    bool current;
    int64_t created;
    const char *tip_id;  /* last entry of its path, NULL when empty */
    const char *preview; /* of its first own entry, "" when it has none */
    const char *session; /* whose it is; ramet_tree_branches() alone */
} ramet_branch;

/* Every branch of a session's main log, oldest first. */
RAMET_API ramet_status ramet_branches(ramet_call *c, const char *session, ramet_branch **out,
                                      size_t *n);

/* ------------------------------------------------------------------ lineage */

/* From the root to the session, which is last. Private sessions of others are left
 * out; deleted ones are place holders. O(depth). */
RAMET_API ramet_status ramet_ancestry(ramet_call *c, const char *session, ramet_session **out,
                                      size_t *n);
/* Its direct forks, oldest first. */
RAMET_API ramet_status ramet_children(ramet_call *c, const char *session, ramet_session **out,
                                      size_t *n);
/* The whole tree that the session is in: parents before their forks, forks of
 * one parent oldest first. O(sessions). `light` leaves out shown titles, cache roots and head entry
 * ids, and is then one query. */
RAMET_API ramet_status ramet_tree(ramet_call *c, const char *session, bool light,
                                  ramet_session **out, size_t *n);
/* The branches of the main logs of all sessions of the tree that the caller sees, without `tip_id`
 * and `preview`, by id: a branch comes after those that it left. `after` (0: from the first) and
 * `limit` make pages; *more tells whether there is another. O(sessions and branches of the tree).
 */
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

/* One turn of every side, beside each other: entries[from, to) of each side's
 * `entries` (from == to: this side has no such turn). */
typedef struct ramet_turn_row {
    struct {
        int64_t from, to;
    } side[16];
} ramet_turn_row;

typedef struct ramet_compare_out {
    int64_t shared; /* entries that all sides share */
    ramet_compare_side *sides;
    size_t n;
    ramet_turn_row *turns; /* i-th turns beside each other, over the entries given */
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

/* Stores which side was the better one. All sides must be of one tree; needs writer. */
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
    bool bounded; /* ranked among the newest matches only: there were too many */
} ramet_hits;

/* Full text over main-log entries that the caller may see, best first. Waits until the index has
 * everything committed before the call. A cursor belongs to its user, query and filters. */
RAMET_API ramet_status ramet_search(ramet_call *c, const ramet_search_in *in, ramet_hits *out);

/* Brings the index up to date (a server calls it now and then), or makes it anew: that is for the
 * embedding program. */
RAMET_API ramet_status ramet_search_update(ramet_call *c, bool rebuild, int64_t *indexed);
/* The store is going to be closed: an update that is under way ends within a moment, and none goes
 * on from now. What is left is indexed when the store is open again. For any thread. */
RAMET_API void ramet_search_stop(ramet *r);

/* ------------------------------------------------- state, usage and members */

/* The session state at an entry (inclusive; NULL = the head): the fold of the deltas on the path of
 * main, and of those that ADK events had brought by then, as a JSON object with sorted keys. A key
 * that both logs have is main's. Through a share link only main; the key `headers` of ADK events,
 * which may hold credentials, only for those who may read the adk log. */
RAMET_API ramet_status ramet_state(ramet_call *c, const char *session, const char *entry_id,
                                   const char **json);

typedef struct ramet_usage_out {
    ramet_usage_sum own;  /* entries that this session appended, abandoned ones too */
    ramet_usage_sum path; /* entries on the present path */
    ramet_usage_sum tree; /* every entry of the tree once, but those of sessions that the caller may
                             not see */
} ramet_usage_out;
/* Both logs; through a share link only main, and `tree` is empty. O(branches). */
RAMET_API ramet_status ramet_usage_get(ramet_call *c, const char *session, ramet_usage_out *out);

typedef struct ramet_member {
    const char *user;
    ramet_level level;
    int64_t since;
} ramet_member;
/* Members belong to the tree. Listing needs reader. Setting and removing need manager, and
 * the owner's own level cannot be changed by that; setting `owner` (the
 * owner only) hands the tree over: the old owner becomes manager. A member may remove himself. */
RAMET_API ramet_status ramet_members(ramet_call *c, const char *session, ramet_member **out,
                                     size_t *n);
RAMET_API ramet_status ramet_member_set(ramet_call *c, const char *session, const char *user,
                                        ramet_level level);
/* The same for one who must not be a member yet (RAMET_MEMBER_EXISTS), or must be one. */
RAMET_API ramet_status ramet_member_add(ramet_call *c, const char *session, const char *user,
                                        ramet_level level);
RAMET_API ramet_status ramet_member_change(ramet_call *c, const char *session, const char *user,
                                           ramet_level level);
RAMET_API ramet_status ramet_member_remove(ramet_call *c, const char *session, const char *user);
/* RAMET_OK when the caller may write to the session, else what a write would fail with. */
RAMET_API ramet_status ramet_session_writable(ramet_call *c, const char *session);

/* A tree that is being handed over: its owner offers it, a member accepts. */
typedef struct ramet_transfer {
    const char *id;
    const char *session; /* by which it was offered */
    const char *from, *to;
    int64_t created;
} ramet_transfer;
/* Needs owner. RAMET_INVALID: to himself, or to somebody who is no member. RAMET_TRANSFER_PENDING:
 * one a tree; *out is that one then. A member who is removed is offered nothing any more. */
RAMET_API ramet_status ramet_transfer_add(ramet_call *c, const char *session, const char *to,
                                          ramet_transfer **out);
/* Those that the caller gives or takes, oldest first. */
RAMET_API ramet_status ramet_transfers(ramet_call *c, bool given, bool taken, ramet_transfer **out,
                                       size_t *n);
/* RAMET_TRANSFER_NOT_FOUND; getting one of others, too. */
RAMET_API ramet_status ramet_transfer_get(ramet_call *c, const char *id, ramet_transfer **out);
/* By either of the two; others: RAMET_FORBIDDEN. */
RAMET_API ramet_status ramet_transfer_delete(ramet_call *c, const char *id);
/* By who takes it. The old owner becomes manager; every session of the tree that is not private
 * gets the new owner. */
RAMET_API ramet_status ramet_transfer_accept(ramet_call *c, const char *id);

/* -------------------------------------------------------------------- turns
 * A turn is one answer being made. It begins with a message, an edit or a regenerate, in one commit
 * with it; writes to the branch that it began on and nowhere else, wherever the head is by then;
 * and ends. What a server that died left running is interrupted, never whole. */

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
    const char *agent;    /* by name, as it was given; NULL: it was not */
    const char *entry_id; /* the last entry of the message that it answers; NULL: there was none */
    const char *group;    /* of a fan-out; NULL: none */
    const char *by;       /* NULL: the embedding program, or not told to the holder of a link */
    ramet_turn_status status;
    const char *error;      /* "" when none */
    int64_t started, ended; /* ended 0: it runs */
} ramet_turn;

typedef struct ramet_turn_in {
    const char *id;                /* NULL: a UUIDv7 is made */
    const ramet_entry_in *entries; /* the message; they get the turn's id as turn_id */
    size_t n;                      /* 0: answers what is there */
    /* At most one of these. `replace`: a new version of that entry (the first of `entries`, which
     * takes its role when it gives none), branched off before it. `regenerate`: another answer.
     * "" makes the last one anew, all of it with its tool calls: it branches off behind the last
     * message of the user (which may have no answer yet). An entry of an answer makes anew from
     * there on, or from a bit before, so that no tool call is parted from its result; one of the
     * user is answered when it is the last entry, else refused. What was there stays on its branch.
     */
    const char *replace, *regenerate;
    const char *agent, *group;
    const char *host; /* which server runs it: see ramet_turns_interrupt() */
    const char *expected_head;
} ramet_turn_in;

/* Begins a turn. A turn that runs on the present head branch: RAMET_TURN_RUNNING_ALREADY, and the
 * error's message ends with its id (ramet_turn_running() gives it); with `replace` and `regenerate`
 * that one goes on on its branch. An id that is taken: RAMET_INVALID. A message that is on the path
 * already with the same content is answered when it is the last thing there, and else
 * RAMET_ENTRY_EXISTS. Needs writer, or a link for writing. */
RAMET_API ramet_status ramet_turn_begin(ramet_call *c, const char *session, const ramet_turn_in *in,
                                        ramet_turn **out, ramet_append_out *appended);
/* Appends to the turn's own branch, as long as it runs (else RAMET_TURN_OVER). Needs what begin
 * needs, each time; who may not see the session gets RAMET_TURN_NOT_FOUND. A session that was
 * deleted meanwhile: RAMET_SESSION_NOT_FOUND. */
RAMET_API ramet_status ramet_turn_append(ramet_call *c, const char *turn,
                                         const ramet_entry_in *entries, size_t n,
                                         ramet_append_out *out);
/* Ends it, with the last entries of its answer in the same commit (n may be 0), under the rules of
 * ramet_turn_append(). Ending one that has ended changes nothing: its entries are not written. The
 * turn of a deleted session can be ended without entries, by the embedding program, so that it does
 * not run when that is restored. error: at most 2,000 characters, may be NULL. */
RAMET_API ramet_status ramet_turn_end(ramet_call *c, const char *turn, ramet_turn_status status,
                                      const char *error, const ramet_entry_in *entries, size_t n,
                                      ramet_append_out *out);
RAMET_API ramet_status ramet_turn_get(ramet_call *c, const char *session, const char *turn,
                                      ramet_turn **out);
/* Newest first. limit 1-1000; 0 = 50. These three need reader. */
RAMET_API ramet_status ramet_turns(ramet_call *c, const char *session, int limit, ramet_turn **out,
                                   size_t *n);
/* The one that runs on the session's head branch; *out is NULL when none does. */
RAMET_API ramet_status ramet_turn_running(ramet_call *c, const char *session, ramet_turn **out);
/* Marks what runs under that host (NULL: anything that runs) as interrupted; for the embedding
 * program, when it starts. */
RAMET_API ramet_status ramet_turns_interrupt(ramet_call *c, const char *host, int64_t *n);
/* The hosts that turns run under, as the store knows, each once; for the embedding program. */
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

/* Something that was committed. Numbers grow in commit order, also over restarts and processes;
 * some are left out. */
typedef struct ramet_event {
    int64_t number;
    ramet_event_kind kind;
    const char *session, *tree; /* ids */
    const char *sandbox;        /* that the tree is in now */
    int64_t branch;             /* the head after it; for APPENDED: the branch written to */
    ramet_entry *entries;       /* APPENDED: what was added (at most 1,000: see `more`) */
    size_t n;
    bool more; /* there were more entries than that: read them */
    int64_t at;
    /* UPDATED, when that is what changed: a member of the tree (else NULL) and his levels before
     * and after it; and whether the tree was archived (1) or brought back (-1). */
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
    int64_t
        next;  /* ask again after this number; it grows past events that the caller may not see */
    bool lost; /* events between `after` and the first one kept are gone, or `after` is of the
                  future: the caller must read anew. items is empty then, `next` the newest */
} ramet_events_out;

/* Events that the caller may see, past a number. Appends to the adk log are left out, and of a
 * session that is gone all but its end. A page ends early past 32 MiB. O(limit + those filtered
 * out). */
RAMET_API ramet_status ramet_events(ramet_call *c, const ramet_events_in *in,
                                    ramet_events_out *out);
/* The newest number. Cheap; any thread. */
RAMET_API int64_t ramet_event_last(ramet *r);
/* Whether the caller may see an event that another call has read (the deleted session of a DELETED
 * one included). Event and call must be of the same store. */
RAMET_API bool ramet_event_seen(ramet_call *c, const ramet_event *e);
/* Blocks until there is an event past `after`, by this process (at once) or another one on the same
 * file (within half a second) or database (at once, or within a second or two), at most `ms`; gives
 * the newest number. ramet_event_wake() ends every wait early, and the next one when nobody waits.
 */
RAMET_API int64_t ramet_event_wait(ramet *r, int64_t after, int ms);
RAMET_API void ramet_event_wake(ramet *r);
/* In a database, events get their numbers a moment after their commit. A mark stands for all that
 * this process has committed by now; upto waits until the events of that have numbers, and gives a
 * number that is not below any of them. Both are cheap when nothing is to be waited for. */
RAMET_API int64_t ramet_event_mark(ramet *r);
RAMET_API int64_t ramet_event_upto(ramet *r, int64_t mark);
/* Forgets events but the newest `keep` (at least 1); those that the search index has not seen yet
 * stay. Also forgets answers kept for idempotency keys past their day. For the embedding program.
 */
RAMET_API ramet_status ramet_events_prune(ramet_call *c, int64_t keep, int64_t *removed);

/* ------------------------------------------------------- answers kept by a key
 * A caller that does not know whether its request arrived sends it again with the same key. What is
 * kept is sealed by that key, of which only a hash is kept: an answer with a secret in it can be
 * read from the file only by who knows the key, or guesses it. */

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
/* The next writing call through `c` is done once for that key: in the commit of the write itself.
 * The key with another digest: RAMET_KEY_MISMATCH. A call that fails keeps nothing. `once` must
 * live until that call has returned; NULL takes it back (as after a call that was refused before it
 * came to write), and so does ramet_call_reset(). */
RAMET_API void ramet_call_once(ramet_call *c, ramet_once *once);
/* For work that is several commits, or none: look, do it, keep.
 *
 *     ramet_call_once(c, &once);
 *     st = ramet_once_look(c);             RAMET_KEY_MISMATCH; once.repeated: nothing is to be done
 *     st = ramet_gc(c, …);
 *     st = ramet_once_keep(c);             asks once.answer() and keeps it, in a commit of its own
 *
 * The calls between the two are not done under the key. Both do nothing without a key, and so does
 * ramet_once_keep() when ramet_once_look() did not return RAMET_OK or the answer was there. Of
 * several that have looked at the same time all do the work, and the first to keep wins: the others
 * find `repeated` set, with its answer, when ramet_once_keep() returns (RAMET_KEY_MISMATCH when it
 * had another digest). When keeping fails the work is done all the same. */
RAMET_API ramet_status ramet_once_look(ramet_call *c);
RAMET_API ramet_status ramet_once_keep(ramet_call *c);

/* The next writing call through `c` is done only if the history of that session is exactly the one
 * with this prefix_hash, else RAMET_HEAD_MOVED: for writes that have no `expected_head` of their
 * own. Both must live until that call has returned; head NULL takes it back. */
RAMET_API void ramet_call_expect(ramet_call *c, const char *session, const char *head);

/* ------------------------------------------------------------------- shares
 * A link to one session for people outside its tree: its path and versions, nothing else (I10). */

typedef struct ramet_share {
    const char *id;
    const char *session;
    bool write;
    const char *by;
    int64_t created, expires; /* expires 0: never */
    const char *token;        /* only from ramet_share_add(): it is kept hashed */
} ramet_share;
/* All three need the session's owner, or manager in the tree. life_us 0: no end. A session has at
 * most 1,000 links. ramet_shares() gives those that have not expired, oldest first. The links of a
 * deleted session are not found, and work again when it is restored. */
RAMET_API ramet_status ramet_share_add(ramet_call *c, const char *session, bool write,
                                       int64_t life_us, ramet_share **out);
RAMET_API ramet_status ramet_shares(ramet_call *c, const char *session, ramet_share **out,
                                    size_t *n);
RAMET_API ramet_status ramet_share_revoke(ramet_call *c, const char *session, const char *id);
/* From now on the call has, beside its user's own rights, those of a link's holder on that session:
 *
 *   read    the session itself, its path, branches and versions, record, head log, fork points,
 *           state, usage, events, turns, attachments; compare and search in it; and to fork it
 *           as a private session of his user
 *   write   besides: append, rewind, undo, redo, switch, edit, regenerate, sync, turns
 *
 * All else about it is RAMET_FORBIDDEN, other sessions are not there, lists do not show it. Its
 * place in the tree, tags, metadata, adk log, who moved its head and why, the folder and options of
 * its agent are left out of answers, and a fork does not inherit them. Every call looks the link up
 * anew: one that was revoked or has expired gives nothing from then on. `token` NULL gives it back.
 * `out` may be NULL. Unknown, expired or revoked: RAMET_SHARE_NOT_FOUND. */
RAMET_API ramet_status ramet_call_share(ramet_call *c, const char *token, ramet_share **out);
/* Notes that the call's user has used its link, when the link alone shows him the session; no error
 * otherwise. To that user, and to nobody else, the id of the link is from then on as good as its
 * token. It writes the first time only. */
RAMET_API ramet_status ramet_share_visit(ramet_call *c);
/* The links that the call's user has used and that still show him a session: at most 1,000, the
 * newest first. */
RAMET_API ramet_status ramet_shares_visited(ramet_call *c, ramet_share **out, size_t *n);

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
    int64_t expires; /* not referred to by any entry yet: when it goes; 0: in use */
} ramet_attachment;

typedef struct ramet_upload ramet_upload;
typedef struct ramet_upload_in {
    const char *name;       /* at most 255 characters */
    const char *media_type; /* at most 255 bytes */
    const char *sha256;     /* hex; NULL: not checked */
    int64_t max_bytes;      /* 0 = limits.attachment_bytes */
    int64_t life_us;        /* how long it stays while no entry refers to it; 0 = 24 hours */
    const char *id; /* that of a ramet_fetch, which it is then the end of; NULL: a UUIDv7, */
    bool random_id; /* or a random UUID (version 4) */
} ramet_upload_in;
/* Bytes come in pieces; nothing is held in memory. After a failure, or instead of finish, abort. */
RAMET_API ramet_status ramet_upload_begin(ramet_call *c, const ramet_upload_in *in,
                                          ramet_upload **out);
RAMET_API ramet_status ramet_upload_add(ramet_upload *u, const void *bytes, size_t n);
RAMET_API ramet_status ramet_upload_finish(ramet_upload *u, ramet_attachment **out);
RAMET_API void ramet_upload_abort(ramet_upload *u); /* NULL is fine */

/* The uploader, and whoever may read an entry that refers to it. */
RAMET_API ramet_status ramet_attachment_get(ramet_call *c, const char *id, ramet_attachment **out);
/* The same, and an open file to read from; the caller closes it. Content that lies in the database
 * is brought to a file without a name in $TMPDIR. */
RAMET_API ramet_status ramet_attachment_open(ramet_call *c, const char *id, ramet_attachment **out,
                                             int *fd);
/* The first entry that refers to it, and its session; NULL: none. Whether the caller may read them
 * is not looked at. */
RAMET_API ramet_status ramet_attachment_home(ramet_call *c, const char *id, const char **session,
                                             const char **entry);
typedef enum {
    RAMET_ATTACHED_ANY = 0,
    RAMET_ATTACHED_LINKED,   /* an entry refers to it */
    RAMET_ATTACHED_UNLINKED, /* none does */
    RAMET_ATTACHED_EXPIRED   /* none did in time: it goes with the next gc */
} ramet_attached;
typedef struct ramet_attachments_in {
    const char *only;    /* this one; NULL = all that the rest says */
    const char *owner;   /* uploaded by; NULL = anybody */
    const char *session; /* those that the entry at `branch`, `position` of its tree refers to; */
    int64_t branch, position; /* NULL = of any entry or none */
    ramet_attached which;
    const char *after; /* the attachment that the page begins behind; NULL = from the oldest */
    int limit;         /* 1-1000; 0 = 50 */
} ramet_attachments_in;
typedef struct ramet_attachments {
    struct {
        ramet_attachment attachment;
        int64_t sharing; /* attachments with the same content, this one included */
    } * items;           /* by id: oldest first */
    size_t n;
    bool more;
} ramet_attachments;
/* Everybody's, for the embedding program alone. O(limit + those filtered out). */
RAMET_API ramet_status ramet_attachment_list(ramet_call *c, const ramet_attachments_in *in,
                                             ramet_attachments *out);
/* Only its uploader, and only while no entry refers to it. */
RAMET_API ramet_status ramet_attachment_delete(ramet_call *c, const char *id);

/* A file that somebody is to url_fetch from elsewhere: until then its id is that of no attachment.
 */
typedef struct ramet_fetch {
    const char *id, *url, *name, *media_type, *owner;
    int64_t created, expires;
    bool failed;
} ramet_fetch;
RAMET_API ramet_status ramet_fetch_add(ramet_call *c, const char *url, const char *name,
                                       const char *media_type, int64_t life_us, ramet_fetch **out);
/* Its owner's alone. */
RAMET_API ramet_status ramet_fetch_get(ramet_call *c, const char *id, ramet_fetch **out);
RAMET_API ramet_status ramet_fetch_fail(ramet_call *c, const char *id);
RAMET_API ramet_status ramet_fetch_delete(ramet_call *c, const char *id);

/* ----------------------------------------------------------------- feedback */

typedef struct ramet_feedback {
    const char *user; /* NULL: the embedding program */
    int value;        /* 1 up, -1 down */
    const char *comment;
    int64_t at;
} ramet_feedback;
/* One a user and entry, beside the entry (I2): every session that shares the entry shows it. value
 * 0 takes it back. comment: at most 2,000 characters, may be NULL. Needs reader; a link does not
 * do.
 */
RAMET_API ramet_status ramet_feedback_set(ramet_call *c, const char *session, const char *entry_id,
                                          int value, const char *comment);
/* Everybody's, oldest first. */
RAMET_API ramet_status ramet_feedback_get(ramet_call *c, const char *session, const char *entry_id,
                                          ramet_feedback **out, size_t *n);

/* Opinions that name no entry: what a user thought of an answer somewhere. */
typedef struct ramet_remark {
    int64_t number;
    const char *user;
    int64_t message; /* as the caller counts messages */
    bool has_message;
    bool positive;
    const char *text;  /* at most 10,000 characters */
    const char *issue; /* at most 100; "" when none */
    int64_t at;
} ramet_remark;
RAMET_API ramet_status ramet_remark_add(ramet_call *c, const ramet_remark *in);
/* The caller's own, oldest first, with a number above `after`. limit 1-1000; 0 = 50. */
RAMET_API ramet_status ramet_remarks(ramet_call *c, int64_t after, int limit, ramet_remark **out,
                                     size_t *n);

/* ------------------------------------------------------------------- tokens
 * API keys of a server. For the embedding program, but ramet_token_check(). */

typedef struct ramet_token {
    const char *id;
    const char *user, *client; /* client may be NULL */
    const char *roles;         /* words parted by a comma; "" when none */
    const char *note;
    int64_t created, expires, used; /* 0: never */
    bool revoked;
    const char *secret; /* only from ramet_token_add(): it is kept hashed */
} ramet_token;
typedef struct ramet_token_in {
    const char *user, *client, *roles, *note;
    int64_t life_us; /* 0: no end */
} ramet_token_in;
RAMET_API ramet_status ramet_token_add(ramet_call *c, const ramet_token_in *in, ramet_token **out);
RAMET_API ramet_status ramet_tokens(ramet_call *c, ramet_token **out, size_t *n);
RAMET_API ramet_status ramet_token_revoke(ramet_call *c, const char *id);
/* Who a secret belongs to; compared in constant time. RAMET_UNAUTHENTICATED for whatever reason:
 * the message tells it to the log, not to the caller. At most one read: what was found is
 * remembered for 20 ms, so a revocation by another process counts after that at most, one by this
 * process at once. `used` is brought up to date at most once a minute; that call waits for a
 * commit. Any user may ask. */
RAMET_API ramet_status ramet_token_check(ramet_call *c, const char *secret, ramet_token **out);

/* -------------------------------------------------------------------- nodes
 * Servers on one database. A file is not shared: there is nobody to tell anything, every job is
 * one's own, no node has to say that it lives, and secrets are not kept. For the embedding program.
 */

RAMET_API bool ramet_shared(ramet *r);
/* A text (UTF-8, up to 64 MiB) for all others who hear: in order, once, not kept. Never waits. */
RAMET_API void ramet_tell(ramet *r, const char *text, size_t n);
/* Waits until what was told so far is sent, ms at most and not while it cannot be. Others hear it
 * before ramet_hear_upto() of what is committed after that returns there. */
RAMET_API void ramet_tell_settle(ramet *r, int ms);
/* text NULL: some may have been missed (it begins with that). Called on a thread of the library,
 * which it must not hold up or call anything of the library on. heard NULL: no more; nobody is
 * being told when it returns. False: nothing can be heard (a file; pgbouncer without
 * options.direct). */
typedef void (*ramet_heard)(void *arg, const char *text, size_t n);
RAMET_API bool ramet_hear(ramet *r, ramet_heard heard, void *arg);
/* Waits until `heard` was called with all that was sent before the event of that number was
 * committed, ms at most and not while nothing is heard. */
RAMET_API void ramet_hear_upto(ramet *r, int64_t event, int ms);
/* Says that a node lives, under the name that its turns have as host: every 3 seconds. Gives the
 * nodes that live, this one too: those that said so in the last 15 seconds by the clock of the
 * database. */
RAMET_API ramet_status ramet_node_beat(ramet_call *c, const char *host, const char *const **out,
                                       size_t *n);
RAMET_API void ramet_node_leave(ramet *r, const char *host);
/* Whether this process is to do a job that one does for all: nobody else is at it until
 * ramet_job_end(), and nobody was in the last every_us. `job` must live until then. */
RAMET_API bool ramet_job_begin(ramet *r, const char *job, int64_t every_us);
RAMET_API void ramet_job_end(ramet *r, const char *job);
/* A secret of that name that all have: made by who asks first. kept false: there is none. */
RAMET_API ramet_status ramet_secret(ramet_call *c, const char *name, uint8_t out[32], bool *kept);

/* --------------------------------------------------------------- statistics */

typedef struct ramet_activity {
    int days;
    int64_t active_users;                 /* who wrote, forked or moved in that time */
    int64_t forked_users, switched_users; /* of them, who forked; who rewound, switched, undid … */
    int64_t sessions, forks, trees, entries; /* made in that time */
    double forks_per_tree;                   /* over the trees that were active */
} ramet_activity;
/* Over what the caller may see. days 1-366; 0 = 30. Sessions that are gone do not count; entries
 * count by the time that they bear. Nothing is counted ahead: looks at the sessions of the caller's
 * trees (100,000 at most; for the embedding program the newest), and into those that were touched
 * in that time: at each branch, and the newest 256 entries there for who wrote. */
RAMET_API ramet_status ramet_statistics(ramet_call *c, int days, ramet_activity *out);

/* ------------------------------------------------------------------- upkeep
 * For the embedding program (user NULL): anyone else gets RAMET_FORBIDDEN. */

/* Told about progress of long work; return false to stop (RAMET_STOP). */
typedef bool (*ramet_progress)(void *arg, const char *what, int64_t done, int64_t total);

typedef struct ramet_fault {
    const char *what;         /* one line */
    const char *session;      /* where it shows, NULL when unknown */
    const char *entry_id;     /* the damaged entry, NULL when it is not one */
    int64_t branch, position; /* -1 when unknown */
} ramet_fault;

typedef struct ramet_fsck_out {
    int64_t trees, sessions, branches, entries; /* looked at */
    ramet_fault *faults;                        /* the first 1,000 */
    size_t n;
    int64_t n_all;
} ramet_fsck_out;
/* Checks the file, every hash, reference and head. RAMET_OK also when faults were found.
 * Reads one snapshot; writers go on. O(store). */
RAMET_API ramet_status ramet_fsck(ramet_call *c, ramet_progress progress, void *arg,
                                  ramet_fsck_out *out);

typedef struct ramet_gc_out {
    int64_t sessions; /* sessions past their grace: removed for good */
    int64_t expired;  /* ephemeral ones that were found expired */
    int64_t branches, entries, bytes;
    int64_t attachments, attachment_bytes; /* that no entry refers to (any more) */
    bool dry_run;
} ramet_gc_out;
/* Removes for good what nothing can reach: entries of sessions that were deleted
 * longer ago than the grace time, unless another session shares them; attachments that only they
 * referred to, and those that expired. Works in small transactions beside readers and writers. */
RAMET_API ramet_status ramet_gc(ramet_call *c, bool dry_run, ramet_progress progress, void *arg,
                                ramet_gc_out *out);

/* A consistent copy while others read and write: the file at `path`, attachments at `path`.files.
 * Neither may exist. */
RAMET_API ramet_status ramet_backup(ramet_call *c, const char *path, ramet_progress progress,
                                    void *arg);

/* What differs between the two sides of a copy, or is damaged on both. */
typedef struct ramet_copy_fault {
    const char *table; /* "" when it is not of one table */
    const char *key;   /* of the row: "tree=3 session=7 tag=travel" */
    const char *what;  /* one line, with both of them */
} ramet_copy_fault;

typedef struct ramet_copy_in {
    bool verify_only;            /* compare both sides; write nothing */
    int passes;                  /* most looks for what changed meanwhile; 0 = 8 */
    const ramet_options *target; /* how it is opened; NULL: the defaults */
} ramet_copy_in;

typedef struct ramet_copy_out {
    bool resumed;                              /* an earlier one was not finished */
    int64_t trees, entries, attachments;       /* gone through */
    int64_t written, removed;                  /* rows in the target */
    int64_t passes;                            /* looks for what changed meanwhile */
    int64_t behind;                            /* trees that have changed and are not copied */
    char source_digest[65], target_digest[65]; /* SHA-256 over all rows compared, in order */
    ramet_copy_fault *faults;                  /* the first 1,000 */
    size_t n;
    int64_t n_all;
} ramet_copy_out;
/* Copies everything to another store (a place as for ramet_open()), whatever engine either is on,
 * while others read and write this one. Numbers, ids and hashes stay. Each tree is copied as one
 * snapshot has it, read back, compared row by row, and its hash chains are computed anew;
 * attachments are read back, too. Then trees that changed meanwhile are copied again, until none
 * has. RAMET_BEHIND: that did not end, and `behind` are left; the next call copies only those.
 *
 * The target must be new, or hold what an earlier call copied from this store and nothing else:
 * otherwise RAMET_INVALID. It cannot be opened (RAMET_CANNOT_OPEN) until the copy is finished. A
 * call that was stopped, or failed, or died, is gone on with by the next. RAMET_BUSY: another copy
 * goes into that target now. RAMET_OK also when faults were found. O(store). */
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
    int64_t unindexed; /* events that search has not seen yet */
    /* By this process. batches[i]: commits of at most 2^i writes, and more than 2^(i-1). */
    int64_t commits, writes, batches[RAMET_BATCH_SIZES];
} ramet_stats;
RAMET_API ramet_status ramet_stat(ramet_call *c, ramet_stats *out);

#ifdef __cplusplus
}
#endif
#endif
