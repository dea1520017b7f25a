/* SPDX-License-Identifier: Apache-2.0
 *
 * core.h: what the files of core/ share. Only core/ knows the invariants.
 *
 * Every public call is one of two shapes:
 *
 *   read   txn_read() takes a snapshot, the work is done on it, txn_done() ends it
 *   write  a struct of arguments and answers is handed to txn_write(), which runs
 *          its function inside the group transaction (store/store.h): check
 *          first, write afterwards, able to run twice
 *
 * A function that fails says so once, with call_fail(), and returns the status. A
 * failure of the database needs no words: it is sticky in the connection, and
 * txn_status() at the end turns it into the call's error.
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#include "ramet.h"
#include "base/arena.h"
#include "base/json.h"
#include "base/util.h"
#include "store/store.h"

#include <string.h>

#define POS_BITS 24
#define POS_MAX ((int64_t)(1 << POS_BITS) - 1)   /* entries a path may hold */
#define BRANCH_MAX (INT64_MAX >> (POS_BITS + 1)) /* so that a key, and the one after it, fit */
#define KEY(branch, pos) (((int64_t)(branch) << POS_BITS) | (int64_t)(pos))
#define KEY_BRANCH(k) ((k) >> POS_BITS)
#define KEY_POS(k) ((k)&POS_MAX)

/* What was stored was checked when it came; it is read whatever the limit is now. */
#define STORED_DEPTH SIZE_MAX

#define INDEXED_CHARS 100000 /* of a text that an entry is found by */

#define PAGE_BYTES ((size_t)32 << 20) /* a page ends early past this; more_before/after tell */

struct ramet {
    store *st;
    struct search *search; /* core/search/search.c; opened on first use */
    _Atomic bool search_stopped;
    _Atomic int64_t past; /* the newest db_past() that was met */
    struct lineage *lineage;
    struct watch *watch; /* core/model/event.c */
    struct recent *recent;
    struct token_cache *tokens; /* core/access/token.c */
    ramet_limits lim;
    int64_t grace_us;
    struct files *files; /* core/attachment/files.c: where attachments lie */
    bool unverified;
    int64_t (*clock)(void *);
    void *clock_arg;
    char *vfs;
    int busy_ms;
};

struct ramet_call {
    ramet *r;
    char *user;   /* NULL: the embedding program */
    char *client; /* may be NULL */
    arena *a;     /* its answers */
    sha *hasher;
    struct {
        bool may;      /* reads may come from a replica */
        bool used;     /* ... and did */
        int64_t since; /* ... that has come so far */
        int64_t wrote; /* a position at or after the call's last write */
    } replica;
    ramet_once *once; /* for the next write; the caller's */
    ramet_once *held; /* looked up, for ramet_once_keep(); the writes until then are not its */
    struct {
        const char *session, *head; /* for the next write; head NULL: nothing is expected */
    } expect;
    ramet_error err;
    struct {
        bool (*when)(void *arg); /* NULL: never */
        void *arg;
    } stop;            /* of reads */
    size_t page_bytes; /* a page ends past this; 0: PAGE_BYTES */
    struct {
        bool on; /* the call holds a link to this session; what it still gives, share_gives() tells
                  */
        int64_t tree, session;
        uint8_t secret[HASH_LEN];
    } share;
};

/* ramet_open(), also of a store that a copy is going into (core/upkeep/copy.h). */
ramet_status copy_target_open(const char *where, const ramet_options *opt, ramet **out,
                              ramet_error *err);

/* Sets the error of a call and returns the status. `field` may be NULL. */
ramet_status call_fail(ramet_call *c, ramet_status st, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int64_t ramet_now(ramet *r);

/* ---- one piece of work on one connection */

/* The entry that was last asked for its id and hash, which never change. k 0: none. */
typedef struct entry_mark {
    int64_t tree, k;
    const char *id;
    uint8_t hash[HASH_LEN];
} entry_mark;

/* A tree whose rights a write relies on, or changes. */
typedef struct tree_use {
    int64_t tree;
    bool changed;
} tree_use;
typedef VEC(tree_use) tree_uses;

typedef struct txn {
    ramet *r;
    ramet_call *c;
    db *d;
    arena *a; /* the call's */
    int64_t now;
    int64_t past; /* what is cached is used only by contexts of its own past */
    bool writing;
    int64_t level_tree; /* the tree that `level` is the caller's level in; 0: not looked up yet */
    ramet_level level;
    enum { LINK_UNKNOWN, LINK_NONE, LINK_READ, LINK_WRITE } link; /* what the call's link gives */
    int64_t named_tree; /* the tree that `tree_id` is the id of */
    const char *tree_id;
    entry_mark mark;
    struct branch_seen *seen;    /* while writing: for the lineage cache, after the commit */
    int64_t event;               /* number of the last event that was added */
    struct answer_list *answers; /* while writing */
    tree_uses *uses;             /* while writing */
} txn;

/* Where an operation puts its answers. It may be run again, and then find that there is nothing to
 * be done (core/model/idempotency.c): so they are emptied first. */
typedef struct answer_list {
    struct {
        void *p;
        size_t size;
    } at[4];
    size_t n;
} answer_list;
void txn_answers(txn *tx, void *p, size_t n);
#define ANSWER(tx, out) txn_answers((tx), (out), sizeof *(out))

/* Begins a read; false: the call's error is set. */
bool txn_read(txn *tx, ramet_call *c);
/* Ends a read. st is what the work found; a database failure wins over RAMET_OK. */
ramet_status txn_done(txn *tx, ramet_status st);
/* Runs a write in the group transaction. `run` gets arg back. */
typedef ramet_status (*txn_op)(txn *tx, void *arg);
ramet_status txn_write(ramet_call *c, txn_op run, void *arg);
/* The same for one that takes a right away, or a session. It is answered when no write that relied
 * on that can commit any more (core/model/rights.c); RAMET_BUSY: it is made, but such a write goes
 * on. */
ramet_status txn_revoke(ramet_call *c, txn_op run, void *arg);
/* The same for one that changes nothing but the session that it appends to, or makes a new one
 * (core/model/session_cache.c). */
ramet_status txn_append(ramet_call *c, txn_op run, void *arg);
/* The same for one that guards what it relies on (q_guard()), so that it can be committed together
 * with others; whether it may be is the store's to find out. */
ramet_status txn_write_guarded(ramet_call *c, txn_op run, void *arg);
/* The sticky database failure as the call's error, or RAMET_OK. */
ramet_status txn_status(txn *tx);
/* Before `make` is called for each of n things in a read: what they need is read together, where
 * that is faster (db_prefetch()). It is called for nothing, with memory that goes away. After that
 * db_performed() is due. */
typedef void (*txn_make)(txn *tx, void *arg, size_t i);
void txn_prefetch(txn *tx, txn_make make, void *arg, size_t n);

/* ---- events (core/model/event.c) */

/* k and n: for RAMET_EVENT_APPENDED the first entry and how many; else the branch moved to, and for
 * a move its kind; for RAMET_EVENT_UPDATED n is EVENT_ARCHIVED or EVENT_BACK when it was that. */
void event_add(txn *tx, int64_t tree, int64_t session, ramet_event_kind kind, int64_t k, int64_t n);
/* Another text that an entry is found by was given: for the search index alone. */
#define EVENT_INDEXED ((ramet_event_kind)(RAMET_EVENT_APPENDED + 1))
enum { EVENT_ARCHIVED = 1, EVENT_BACK = 2, EVENT_LEVELS = 16 };
struct watch *watch_new(void);
/* Its connection, which must go before the store; it is told of events until that is closed. */
void watch_close(struct watch *w);
void watch_free(struct watch *w);
/* Wakes those who wait for events, after the commit of that one. */
void event_tell(ramet *r, int64_t no);

/* ---- answers kept by a key (core/model/idempotency.c) */

/* Takes what ramet_call_once() left for this write; NULL when there is nothing. */
ramet_status once_take(ramet_call *c, ramet_once **out);
/* Runs a write unless its key was used already, and keeps its answer. */
ramet_status once_run(txn *tx, ramet_once *o, txn_op run, void *arg);
/* For a call that has to read before it can write: what it reads may have been changed by its first
 * run. *done: the key was used already, `repeated` is filled in and nothing is left to do. */
ramet_status once_early(ramet_call *c, bool *done);
ramet_status once_prune(ramet_call *c);

/* ---- checking what comes from outside (core/check.c) */

ramet_status check_id(ramet_call *c, const char *field, const char *id);
ramet_status check_utf8(ramet_call *c, const char *field, const char *s);
/* At most `chars` characters of valid UTF-8; NULL is fine. */
ramet_status check_chars(ramet_call *c, const char *field, const char *s, size_t chars,
                         ramet_status over);
/* A JSON object (NULL is fine) within meta_bytes. */
ramet_status check_object(ramet_call *c, const char *field, const char *json);
ramet_status check_agent(ramet_call *c, const ramet_agent *a);
/* Tags trimmed, lower case, sorted, without doubles. */
ramet_status check_tags(ramet_call *c, const char *const *tags, size_t n, const char ***out,
                        size_t *n_out);
/* hex of a prefix hash; NULL is fine and leaves *given false. */
ramet_status check_hash(ramet_call *c, const char *hex, uint8_t out[HASH_LEN], bool *given);
ramet_status check_limit(ramet_call *c, int limit, int most, int deflt, int *out);
ramet_status check_life(ramet_call *c, const char *field, int64_t us);

/* ---- sessions (core/model/session.c) */

typedef struct session_row {
    int64_t no, tree;
    const char *id; /* NULL: gone for good, only its place in the tree is left */
    int64_t parent, depth;
    const char *owner;
    int visibility;
    const char *title, *agent, *agent_config, *metadata;
    int type;
    const char *reason;
    int by_kind;
    const char *by_id, *fork_entry;
    int fork_side;
    int64_t merged_into, first, first_adk, head, adk, undo, redo, moves;
    int64_t archived; /* archive_stamp(); 0: it is not */
    int64_t expires, created, updated, deleted, delete_op;
    int purging;
    int64_t seal;           /* session_seal() of what never changes about it */
    const char *from_title; /* of a fork: what its parent was called then */
    int64_t stamp;          /* of its tree; only from session_open_head() and _brief() */
} session_row;
#define SESSION_N_COLS 34

/* When a session was archived, as it is stored: in seconds since 2020, which 31 bits hold until
 * 2088, and never 0. 1 is also what was written when the time was not kept. */
#define ARCHIVE_EPOCH_S INT64_C(1577836800)
static inline int64_t archive_stamp(int64_t us)
{
    int64_t s = us / 1000000 - ARCHIVE_EPOCH_S;
    return s < 1 ? 1 : s > INT32_MAX ? INT32_MAX : s;
}
/* Back, whatever a damaged store says. */
static inline int64_t archive_time(int64_t stamp)
{
    return ((stamp & INT32_MAX) + ARCHIVE_EPOCH_S) * 1000000;
}

void session_from(db_stmt *q, arena *a, session_row *s);
/* A short digest of where a session came from, for fsck: its place in the tree is in no hash chain.
 */
int64_t session_seal(sha *h, const session_row *s);
bool session_load(txn *tx, const char *id, session_row *s);
bool session_by_no(txn *tx, int64_t tree, int64_t no, session_row *s);
bool session_gone(const txn *tx, const session_row *s); /* deleted, expired or purged */

/* What the caller is allowed to do with a session (I10). A share link gives NEED_READ, and
 * NEED_WRITE when it is one for writing; nothing else. */
typedef enum {
    NEED_READ,   /* its path and versions: reader */
    NEED_TREE,   /* what stands around it: reader */
    NEED_WRITE,  /* append, and move through its history: writer */
    NEED_CHANGE, /* all else about it, and its adk log: writer */
    NEED_MANAGE  /* its owner, or manager */
} need;
ramet_level level_in(txn *tx, int64_t tree);
/* What the caller may do in a session that he may see. */
ramet_level session_level(txn *tx, const session_row *s);
/* By the caller's own rights: a link in the call does not count here. */
bool session_visible(txn *tx, const session_row *s);
/* RAMET_HIDDEN, and whether it was made by a ramet_make (O2). */
ramet_status session_hidden(txn *tx, const session_row *s);
/* The same where the caller's level in the tree is known: for long lists. */
bool session_seen(const txn *tx, ramet_level level, const session_row *s);
/* Loads a living session and checks access; otherwise sets the call's error. */
ramet_status session_open(txn *tx, const char *id, need what, session_row *s);
/* The row as the public struct. */
ramet_session *session_show(txn *tx, const session_row *s);
void session_fill(txn *tx, const session_row *s, ramet_session *out);
void session_fill_all(txn *tx, session_row *rows, size_t n, ramet_session *out);
/* A copy whose texts are in another arena. */
session_row session_keep(arena *a, const session_row *row);
/* session_show() with what the caller has at hand and need not be read again; all of it may be
 * empty. */
typedef struct session_known {
    const struct branch_row *head; /* of main */
    const char *parent_id;         /* when the caller may see it */
    bool untagged;
} session_known;
ramet_session *session_show_with(txn *tx, const session_row *s, const session_known *known);
const char *session_shown_title(txn *tx, const session_row *s);
/* The words that a fork of it is called after. `head` is its head, NULL when it is not at hand. */
const char *session_words(txn *tx, const session_row *s, const struct branch_row *head);
/* Who answers in it, as far as the caller may know. */
ramet_agent session_agent(txn *tx, const session_row *s);
ramet_agent agent_from(arena *a, const char *name, const char *config);
const char *agent_config(arena *a, const ramet_agent *g);
void tags_of(txn *tx, const session_row *s, const char *const **out, size_t *n);
/* RAMET_SESSION_EXISTS or RAMET_SESSION_DELETED when an id cannot be given to a new session. */
ramet_status session_id_free(txn *tx, const char *id);
/* Inserts a session row with its tags. */
void session_insert(txn *tx, const session_row *s, const char *const *tags, size_t n_tags);
/* A root with an empty branch in a new tree, whose number s->tree is; members are the caller's. */
void session_plant(txn *tx, session_row *s, const char *const *tags, size_t n_tags,
                   struct branch_row *b);

/* ---- members (core/access/member.c) */

/* Of a new tree. */
void member_insert(txn *tx, int64_t tree, const char *user, ramet_level level);
ramet_level level_of(txn *tx, int64_t tree, const char *user);
/* Opens a session for who has at least that level in its tree: RAMET_FORBIDDEN. */
ramet_status member_open(txn *tx, const char *session, ramet_level least, session_row *s,
                         ramet_level *level);
/* The tree and all its sessions but private ones get another owner. */
void tree_hand_over(txn *tx, const session_row *s, const char *to);
/* RAMET_EVENT_UPDATED: a member came, left or has another level (core/model/event.c). */
void event_add_member(txn *tx, const session_row *s, const char *user, ramet_level before,
                      ramet_level after);

/* ---- sandboxes (core/ext/sandbox.c) */

/* What a new tree of that owner notes as its sandbox: "" for none. RAMET_SANDBOX_NOT_FOUND. */
ramet_status sandbox_for_new(txn *tx, const char *id, const char *owner, const char **mark);
void sandbox_put(txn *tx, int64_t tree, const char *mark);
/* RAMET_SANDBOX_NOT_FOUND when it is not there for the caller. */
ramet_status sandbox_open(txn *tx, const char *id);
/* The one that a tree is in. */
const char *sandbox_name(txn *tx, int64_t tree);

/* ---- share links (core/access/share.c) */

/* Whether the call's link gives this, now: it is looked up anew in every piece of work, so that a
 * link that was revoked or has expired gives nothing. False at once without a link. */
bool share_gives(txn *tx, const session_row *s, need what);
/* Whether the caller sees the session through his link alone: then he gets no more than its path
 * and versions. */
bool share_only(txn *tx, const session_row *s);
/* Takes out of an answer what a link does not show. */
void share_trim(ramet_session *out);
/* Removes links that have expired; for gc. */
ramet_status share_prune(ramet_call *c);

/* ---- secrets and tokens (core/access/token.c) */

#define SECRET_TEXT (4 + 2 * HASH_LEN + 1)
/* 32 random bytes in hex behind a prefix of 4 characters. */
void secret_make(const char *prefix, char out[SECRET_TEXT]);
/* What is kept of it. False when the text has not that form. */
bool secret_digest(sha *h, const char *prefix, const char *text, uint8_t out[HASH_LEN]);
/* Whether a blob column is that digest; takes the same time wherever they differ. */
bool secret_is(db_stmt *q, int column, const uint8_t digest[HASH_LEN]);
struct token_cache *token_cache_new(void);
void token_cache_free(struct token_cache *t);

/* ---- branches (core/model/branch.c) */

/* What never changes about a branch. */
typedef struct branch_meta {
    int64_t id, tree, session, parent, base, depth, jump, jump_base;
    int log, type;
} branch_meta;

typedef struct branch_row {
    branch_meta m;
    int64_t over, delta, created, len, touched;
    uint8_t tip[HASH_LEN];
    bool live, run;
} branch_row;
#define BRANCH_N_COLS 18

struct lineage *lineage_new(void);
void lineage_free(struct lineage *l);
/* Forgets what belongs to an earlier past (db_past()). */
void lineage_enter(struct lineage *l, int64_t past);

/* The first words of the paths through the entry at `pos` of a branch without parent. */
typedef struct root_words {
    int64_t tree, branch, pos;
    const char *text; /* NULL: none */
} root_words;

/* What a write has read. Once it is committed, that is too, and may be cached. */
typedef struct branch_seen {
    int64_t past; /* txn.past */
    branch_meta m[8];
    size_t n;
    root_words words;
} branch_seen;
void lineage_keep(struct lineage *l, const branch_seen *seen);
/* The words that a path is called after: those of the entry at `pos`. NULL: not known. */
const char *words_get(txn *tx, const struct branch_row *head);
void words_put(txn *tx, const struct branch_row *head, int64_t pos, const char *text);

/* BRANCH_COLS from column `at` on. */
void branch_from(db_stmt *q, int at, branch_row *b);
/* Every branch that was read for a path goes through this: false when it is damaged. */
bool branch_came(txn *tx, const branch_row *b);
bool branch_load(txn *tx, int64_t tree, int64_t id, branch_row *b);
/* Only what never changes of it: `m`, `over`, `delta` and `created`. */
bool branch_lineage_load(txn *tx, int64_t tree, int64_t id, branch_row *b);
bool branch_meta_load(txn *tx, int64_t tree, int64_t id, branch_meta *m);
/* A branch of this session and log (0 = the head of that log), else RAMET_BRANCH_NOT_FOUND. */
ramet_status branch_open(txn *tx, const session_row *s, ramet_log log, int64_t id, branch_row *b);
/* session_open() and branch_open() of the head of main, in one statement. */
ramet_status session_open_head(txn *tx, const char *id, need what, session_row *s,
                               branch_row *head);
/* The same with what an append needs: of the session the numbers, access and heads (all else is
 * empty), and the branch at its head; head->m.id is 0 when it is missing. Only while writing. */
ramet_status session_open_brief(txn *tx, const char *id, need what, session_row *s,
                                branch_row *head);
/* The branch that owns a position on a path: O(log depth). pos < length of the path. */
bool path_owner(txn *tx, const branch_meta *head, int64_t pos, branch_meta *owner);
/* The position of an entry id on a path; -1 when it is not there. *k gets its key. */
int64_t path_find(txn *tx, const branch_row *head, const char *entry_id, int64_t *k);
/* The last delta of the branch that owns the entry at k, up to that entry, while it is known. */
bool end_delta(txn *tx, int64_t tree, int64_t k, int64_t *delta);
void end_fold(txn *tx, int64_t tree, int64_t k, int64_t delta);
/* Hash after the first n entries of a path. */
bool path_hash(txn *tx, const branch_row *head, int64_t n, uint8_t out[HASH_LEN]);
/* Id and creation of the entry at a position; NULL when there is none. */
const char *path_entry_id(txn *tx, const branch_row *head, int64_t pos);
/* Makes branch(parent, base) on the path of `from` for a session. from NULL: an empty root. */
void branch_create(txn *tx, const branch_row *from, int64_t base, const session_row *s,
                   ramet_log log, ramet_fork_type type, bool same_session, branch_row *out);
/* Every branch of a session, both logs, oldest first. */
void branches_of(txn *tx, const session_row *s, branch_row **out, size_t *n);
void head_fill(txn *tx, const branch_row *b, ramet_head *out);
/* Whether the tip is the hash of the last entry: nothing is chained onto a damaged one. */
ramet_status tip_check(txn *tx, const branch_row *b);
/* Remembers a tip that was just made, so that the next append need not look. */
void tip_note(txn *tx, const branch_row *b);
/* expected_head against a branch: RAMET_OK or RAMET_HEAD_MOVED. */
ramet_status head_check(txn *tx, const branch_row *b, const uint8_t *expected, bool given);

/* ---- what a write relies on (core/model/rights.c) */

/* Something has changed in sessions of a tree that a write relies on, their heads aside: who may
 * do what, or what session_cache_get() gives. The stamp of the tree counts up at the end of the
 * write. */
void access_changed(txn *tx, int64_t tree);
/* The write relies on what the caller may do in that tree. Returns st. */
ramet_status access_used(txn *tx, int64_t tree, ramet_status st);
/* The write relies on what was read of a session. */
void access_guard(txn *tx, const session_row *s);
/* The last statements of a write that succeeded. */
void access_settle(txn *tx);

/* ---- sessions appended to of late (core/model/session_cache.c); only while writing. NULL does
 * nothing. */
struct recent *session_cache_new(void);
void session_cache_free(struct recent *r);
void session_cache_enter(struct recent *r, int64_t past); /* as lineage_enter() */
void session_cache_forget(struct recent *r);              /* all of them */
/* The session, the caller's level in its tree where it is known, and its head of main, as
 * session_open_brief() gives them. */
bool session_cache_get(txn *tx, const char *id, session_row *s, branch_row *head);
void session_cache_put(txn *tx, const session_row *s, const branch_row *head);
/* The same with all of the row, for guarded writes alone, as session_open_head() gives it. */
bool session_cache_whole(txn *tx, const char *id, session_row *s, branch_row *head);
void session_cache_put_whole(txn *tx, const session_row *s, const branch_row *head);
void session_cache_drop(txn *tx, const char *id);

/* A run of positions [lo, hi) owned by one branch. */
typedef struct segment {
    branch_meta m;
    int64_t lo, hi;
} segment;
/* The segments that make up [lo, hi) of a path, oldest first. */
bool path_segments(txn *tx, const branch_meta *head, int64_t lo, int64_t hi, segment **out,
                   size_t *n);

/* ---- entries (core/model/entry.c) */

enum { FLAG_LARGE = 1, FLAG_USAGE = 2, FLAG_DELTA = 4, FLAG_TOOL = 8, FLAG_FILE = 16 };
#define FLAGS_ALL (FLAG_LARGE | FLAG_USAGE | FLAG_DELTA | FLAG_TOOL | FLAG_FILE)

/* An entry checked and made ready by the caller's own thread. */
typedef struct entry_new {
    ramet_entry e; /* what will be answered; position, branch, hash come with the write */
    const ramet_entry_in *in;
    const char *text, *parts, *body; /* content; NULL where there is none */
    const char *packed;              /* FLAG_LARGE: text, parts and body together */
    size_t packed_len;
    int flags;
    const char **files; /* FLAG_FILE: ids of the attachments that it refers to */
    size_t n_files;
    const char *files_field; /* where they stood, for messages */
    uint8_t digest[HASH_LEN], hash[HASH_LEN];
    bool existing;     /* on the path already: */
    ramet_entry found; /* this is what is there */
    int64_t same_as;   /* index of an earlier one of the batch with that id, else -1 */
} entry_new;

/* Checks and prepares a batch. NULL role check: role 0 is refused. */
ramet_status entries_prepare(ramet_call *c, const ramet_entry_in *in, size_t n, size_t most,
                             int64_t now, entry_new **out);
/* An entry's content as it is stored; NULL where a column is empty. */
typedef struct entry_cols {
    const char *text, *parts, *body;
} entry_cols;
/* The digest of an entry's stored fields; docs/data-model.md has the canonical form. */
void entry_digest(sha *h, const ramet_entry *e, const entry_cols *cols, uint8_t out[HASH_LEN]);
/* Reads one row of ENTRY_COLS. Large bodies, usage and deltas are loaded too. `cols` may be NULL.
 * False (sticky) when a part of it is missing or damaged. */
bool entry_from(txn *tx, db_stmt *q, int64_t tree, ramet_entry *e, uint8_t hash[HASH_LEN],
                entry_cols *cols);
/* Entry by key; unverified. */
/* A copy that shares nothing with it (core/model/read.c). */
ramet_entry entry_keep(arena *a, const ramet_entry *e);
/* Where the tree has an entry of that id; 0: nowhere (core/ext/make.c). */
int64_t key_in_tree(txn *tx, int64_t tree, const char *id);
bool entry_load(txn *tx, int64_t tree, int64_t k, ramet_entry *e, uint8_t hash[HASH_LEN]);
/* Whether a stored entry has the content that the caller gave (I5). */
bool entry_same(ramet_call *c, const entry_new *n, const ramet_entry *have);
/* Writes prepared entries at the end of a branch and brings the row up to date. */
void entries_write(txn *tx, const session_row *s, branch_row *b, entry_new *list, size_t n);
/* Looks each prepared entry up on a path: known with the same content, new, or a conflict. */
ramet_status entries_known(txn *tx, const branch_row *b, entry_new *list, size_t n, size_t *fresh);
/* An append: prepared entries and where they go. */
typedef struct append_work {
    ramet_log log;
    int64_t branch; /* 0 = the head */
    entry_new *list;
    size_t n;
    uint8_t expected[HASH_LEN];
    bool given;
    bool fenced;
    ramet_append_out *out;
} append_work;
/* Does it in a session that session_open_brief() gave with its head; *b becomes the branch written
 * to. Refuses before it has written anything. */
ramet_status append_do(txn *tx, session_row *s, branch_row *b, const append_work *w);
/* The adk log of a session that has none, or nothing in it. */
void adk_begin(txn *tx, session_row *s, branch_row *b);
/* Remembers where turns begin (core/ext/turn_index.c): for the entry that is written next to b,
 * behind one of that turn. */
void places_note(txn *tx, const branch_row *b, const entry_new *e, const char *last_turn);
/* The answer to an append, after it was written. */
void append_answer(txn *tx, const branch_row *b, entry_new *list, size_t n, ramet_append_out *out);
/* The parts of an entry that is one text, or (NULL) nothing. */
const char *parts_of_text(arena *a, const char *text);
/* Unpacks the text of a large body; NULL when it has none, also when it is damaged: for search and
 * gc, which must get past it. Who reads the entry is told. */
const char *body_text(txn *tx, int64_t tree, int64_t k);
/* Ids of the tool calls and results in an entry's parts. */
typedef struct tool_ref {
    const char *id;
    bool result;
} tool_ref;
size_t entry_tools(arena *a, const char *parts, tool_ref **out);
/* Ids of the attachments that an entry's parts refer to. */
size_t entry_files(arena *a, const char *parts, const char ***out);

/* Checked reading of [lo, hi) of a path, in order, a callback an entry; the callback's
 * entry lives in `into`. False from the callback ends it early. Damage is sticky in the db. */
typedef bool (*entry_each)(void *arg, ramet_entry *e);
void path_read(txn *tx, const branch_row *head, int64_t lo, int64_t hi, arena *into,
               entry_each each, void *arg);

/* ---- attachments (core/attachment/attachment.c; attachment.h has the rest) */

/* RAMET_ATTACHMENT_NOT_FOUND when the caller may not refer to one of an entry's. */
ramet_status attachments_check(txn *tx, const entry_new *n);
/* Writes that an entry refers to its attachments. */
void attachments_link(txn *tx, int64_t tree, int64_t k, const entry_new *n);

/* ---- moves (core/model/move.c) */

typedef struct cut_result {
    int64_t main, adk; /* entries kept */
    ramet_cut shown;
    const char *before; /* for the rewind event of a move: see head_to */
} cut_result;
/* Where a cut point falls on a path, with its policy. */
ramet_status cut_find(txn *tx, const branch_row *head, const ramet_at *at, ramet_cut_policy policy,
                      cut_result *out);
/* The same for both logs; adk_at->entry_id NULL: what was there when the last entry kept came. */
ramet_status cut_both(txn *tx, const session_row *s, const branch_row *head, const ramet_at *at,
                      const ramet_at *adk_at, ramet_cut_policy policy, cut_result *cut);
/* The part of it that is about adk, for a cut of the path of `head` at out->main. */
ramet_status cut_beside(txn *tx, const branch_row *head, const branch_row *adk, const ramet_at *at,
                        cut_result *out);
/* The adk head that goes with a main branch: where that log was when the branch was last the head.
 */
int64_t adk_beside(txn *tx, const session_row *s, int64_t branch);
/* Moves the heads of a session and writes the head log. Updates the row. */
typedef struct head_to {
    int64_t main, adk; /* branches */
    /* For the rewind event of the move (core/ext/adk.c): the invocation that ADK goes back before;
     * NULL: nothing is cut off for it. `marked`: the key of an event that is there already. */
    const char *before;
    int64_t marked;
} head_to;
void head_move(txn *tx, session_row *s, const head_to *to, ramet_move_kind kind, const char *why,
               int64_t undo_under, int64_t redo_under, int64_t undo, int64_t redo);
/* A move that is no undo or redo: it goes on the undo stack and ends redo (M2). */
void move_new(txn *tx, session_row *s, const head_to *to, ramet_move_kind kind, const char *why);
/* A new move: branch at the cut in main (and adk), head moved there. *out is the new main branch.
 */
void move_to_cut(txn *tx, session_row *s, const branch_row *head, const cut_result *cut,
                 ramet_fork_type type, ramet_move_kind kind, const char *why, branch_row *out);

/* ---- edit and regenerate (core/model/edit.c) */

/* A branch at a cut, and prepared entries that go there. */
typedef struct edit_work {
    ramet_at at;
    ramet_cut_policy cut;
    entry_new *list;
    size_t n;
    ramet_move_kind kind; /* edit or regenerate */
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_append_out *out;
} edit_work;
/* Does it; *to is the new branch. Refuses before it has written anything. */
ramet_status edit_do(txn *tx, session_row *s, const branch_row *head, const edit_work *w,
                     branch_row *to);
/* The role of an entry on the path: an edit may leave its own to the entry that it replaces. */
ramet_status role_of(ramet_call *c, const char *session, const char *entry_id, ramet_role *role);

/* ---- versions (core/model/version.c) */
typedef struct version_row {
    int64_t owner, k, created;
} version_row;
/* The versions at a position of a path, in order of creation. */
void versions_at(txn *tx, const session_row *s, const branch_meta *owner, int64_t pos,
                 version_row **out, size_t *n);

/* ---- state and usage */
/* Key of the last delta on a path before position n; 0 when none. */
int64_t delta_before(txn *tx, const branch_row *head, int64_t n);
int64_t delta_before_on(txn *tx, const branch_meta *owner, int64_t inherited, int64_t n);
void delta_write(txn *tx, const branch_row *b, int64_t k, const char *json);
/* The state at the delta with that key, as JSON. */
const char *state_fold(txn *tx, int64_t tree, int64_t k);
/* The same with one more delta behind it. */
const char *state_after(txn *tx, int64_t tree, int64_t prev, const char *json);
void usage_write(txn *tx, int64_t tree, int64_t k, const ramet_usage *u);
/* Adds [lo, hi) of one branch to a sum. */
typedef struct usage_acc usage_acc;
usage_acc *usage_acc_new(arena *a);
void usage_acc_add(txn *tx, usage_acc *acc, int64_t tree, int64_t branch, int64_t lo, int64_t hi);
void usage_acc_path(txn *tx, usage_acc *acc, const branch_row *head, int64_t lo, int64_t hi);
ramet_usage_sum usage_acc_sum(usage_acc *acc);

/* ---- search (core/search/search.c) */
void search_close(ramet *r);
/* Takes purged entries out of the index; called by gc after the commit. */
void search_forget(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts, size_t n);
int64_t search_mark(ramet *r);  /* last event it has seen */
int64_t search_bytes(ramet *r); /* on disk, apart from the store's */
void search_release(ramet *r);  /* empties its cache */
int64_t search_needs(ramet *r); /* events from this number on have to stay for it */

/* ---- compare (core/query/compare.c) */
ramet_status sides_check(ramet_call *c, const ramet_side_in *sides, size_t n);

/* ---- upkeep (core/upkeep/upkeep.c, core/upkeep/gc.c) */
/* RAMET_FORBIDDEN unless the caller is the embedding program. */
ramet_status program_only(ramet_call *c);
/* Entries that would be reached by no session of the tree if these were dead too. */
int64_t gc_would_take(txn *tx, int64_t tree, const int64_t *sessions, size_t n);

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        ramet_status try_ = (expr);                                                                \
        if (try_ != RAMET_OK)                                                                      \
            return try_;                                                                           \
    } while (0)

#endif
