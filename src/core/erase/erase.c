/* SPDX-License-Identifier: Apache-2.0
 *
 * Erasure: the calls.
 *
 *   note      what is to be erased is written into `meta` (key "erase ID") and committed
 *   entries   in transactions of at most BATCH entries, each complete in itself (X1)
 *   sessions  texts of sessions that are erased whole
 *   person    a user's name
 *   blank     the note loses everything but its time: it may name the user
 *   scrub     search index, attachments, spools; then a file is written anew
 *   note      is removed, and the caller gets the receipt
 *
 * Each step can be repeated. After a crash the note is found, and the steps are done again: entries
 * that are erased already are skipped. So the answer OK is never given while something is left.
 *
 * What other processes hold in memory: entries are read from the store each time. Cached rows of
 * sessions, and titles, are valid for one stamp of their tree, which each transaction here counts
 * up. The text of a replaced entry in a cached set of overlays is not shown once the entry is
 * erased (core/view/context.c).
 */
#include "core/erase/erase.h"

#include "core/access/member.h"
#include "core/attachment/attachment_upkeep.h"
#include "core/call.h"
#include "core/check.h"
#include "core/export/import_spool.h"
#include "core/model/fill.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/search/search_upkeep.h"
#include "core/session/session_open.h"

#include <stdio.h>
#include <stdlib.h>

#define BATCH 500
#define MAX_PLACES 1000
#define FORGET_BATCH 1000

/* -------------------------------------------------------------------- the note */

static const char *note_text(txn *tx, const erase_job *j, bool blank)
{
    buf b;
    json_writer w;
    buf_init(&b, (size_t)1 << 16);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kint(&w, "kind", blank ? ERASE_NOTHING : j->kind);
    jw_kint(&w, "at", j->at);
    jw_kbool(&w, "person", j->kind == ERASE_USER || j->user);
    if (!blank) {
        jw_kint(&w, "tree", j->tree);
        jw_kint(&w, "session", j->session);
        jw_kint(&w, "k", j->k);
        jw_kstr(&w, "who", j->who);
        jw_kstr(&w, "why", j->why);
        jw_kstr(&w, "only_of", j->only_of);
        jw_kstr(&w, "user", j->user);
        jw_kstr(&w, "alias", j->alias);
    }
    jw_end_object(&w);
    return buf_keep(&b, tx->arena);
}

static bool note_read(erase_job *j, const char *key, const char *value)
{
    json_doc d;
    int64_t kind = 0;
    if (!value || !json_parse(j->arena, value, strlen(value), STORED_DEPTH, &d, NULL))
        return false;
    const json_node *o = &d.nodes[0];
    json_int(&d, json_get(&d, o, "kind"), &kind);
    json_int(&d, json_get(&d, o, "at"), &j->at);
    json_int(&d, json_get(&d, o, "tree"), &j->tree);
    json_int(&d, json_get(&d, o, "session"), &j->session);
    json_int(&d, json_get(&d, o, "k"), &j->k);
    j->who = json_text(j->arena, &d, json_get(&d, o, "who"));
    j->why = json_text(j->arena, &d, json_get(&d, o, "why"));
    j->only_of = json_text(j->arena, &d, json_get(&d, o, "only_of"));
    j->user = json_text(j->arena, &d, json_get(&d, o, "user"));
    j->alias = json_text(j->arena, &d, json_get(&d, o, "alias"));
    if (json_is(json_get(&d, o, "person"), JSON_TRUE) && !j->user)
        j->user = "";
    j->kind = kind >= ERASE_NOTHING && kind <= ERASE_USER ? (erase_kind)kind : ERASE_NOTHING;
    j->id = arena_strdup(j->arena, key);
    if (!j->why)
        j->why = "";
    return j->at != 0;
}

typedef struct note_job {
    const erase_job *job;
    enum { NOTE_SET, NOTE_BLANK, NOTE_REMOVE } what;
} note_job;

static ramet_status note_run(txn *tx, void *arg)
{
    const note_job *n = arg;
    db_stmt *q = db_query(tx->db, n->what == NOTE_REMOVE ? Q_meta_del : Q_meta_set);
    q_text(q, 1, n->job->id);
    if (n->what != NOTE_REMOVE)
        q_text(q, 2, note_text(tx, n->job, n->what == NOTE_BLANK));
    q_run(q);
    return txn_status(tx);
}

static ramet_status note_write(const erase_job *j, int what)
{
    note_job n = {.job = j, .what = what};
    return txn_write(j->call, note_run, &n);
}

/* ------------------------------------------------------------------- the steps */

static ramet_status entries_run(txn *tx, void *arg)
{
    erase_batch *b = arg;
    txn own = *tx;
    arena_reset(b->arena);
    *b = (erase_batch){.job = b->job,
                       .keys = b->keys,
                       .n = b->n,
                       .sessions = b->sessions,
                       .n_sessions = b->n_sessions,
                       .arena = b->arena};
    own.arena = b->arena;
    for (size_t i = 0; i < b->n && db_status(own.db) == RAMET_OK; i++)
        entry_erase(&own, b, &b->keys[i]);
    for (size_t i = 0; i < b->trees.n && db_status(own.db) == RAMET_OK; i++) {
        TRY(turns_check(&own, b->trees.items[i]->tree));
        derived_erase(&own, b, b->trees.items[i]);
        about_erase(&own, b, b->trees.items[i]);
    }
    for (size_t i = 0; i < b->n_sessions && db_status(own.db) == RAMET_OK; i++)
        session_erase(&own, b, &b->sessions[i]);
    if (b->trees.n || b->n_sessions)
        answers_erase(&own, b);
    tx->event = own.event;
    return txn_status(tx);
}

static void batch_count(erase_job *j, const erase_batch *b)
{
    for (size_t i = 0; i < ERASE_N_COUNTS; i++)
        j->counts[i] += b->counts[i];
    j->already += b->already;
    for (size_t i = 0; i < b->files.n; i++)
        VEC_PUSH(j->arena, &j->files, arena_strdup(j->arena, b->files.items[i]));
    for (size_t i = 0; i < b->done.n; i++)
        VEC_PUSH(j->arena, &j->done, b->done.items[i]);
}

static ramet_status content_erase(erase_job *j)
{
    erase_batch b = {.job = j, .arena = arena_new()};
    ramet_status st = RAMET_OK;
    for (size_t i = 0; i < j->keys.n && st == RAMET_OK; i += BATCH) {
        b.keys = j->keys.items + i;
        b.n = j->keys.n - i < BATCH ? j->keys.n - i : BATCH;
        st = txn_revoke(j->call, entries_run, &b);
        if (st == RAMET_OK)
            batch_count(j, &b);
    }
    b.n = 0;
    for (size_t i = 0; i < j->sessions.n && st == RAMET_OK; i += BATCH) {
        b.sessions = j->sessions.items + i;
        b.n_sessions = j->sessions.n - i < BATCH ? j->sessions.n - i : BATCH;
        st = txn_revoke(j->call, entries_run, &b);
        if (st == RAMET_OK)
            batch_count(j, &b);
    }
    if (st == RAMET_OK && j->kind == ERASE_USER) {
        arena_reset(b.arena);
        st = txn_revoke(j->call, person_run, &b);
        if (st == RAMET_OK)
            batch_count(j, &b);
    }
    arena_free(b.arena);
    return st;
}

/* Takes the entries out of a search index in the same database: an indexer may have read one before
 * it was erased, and added it afterwards. */
static ramet_status words_forget(erase_job *j)
{
    txn tx;
    erase_keys all = {0};
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    db_stmt *q = db_query(tx.db, Q_erased_by_time);
    q_int(q, 1, j->at);
    while (q_row(q)) {
        erase_key key = {q_col_int(q, 0), q_col_int(q, 1), ERASE_ENTRIES};
        VEC_PUSH(j->arena, &all, key);
    }
    TRY(txn_done(&tx, RAMET_OK));
    int64_t keys[FORGET_BATCH];
    const char *texts[FORGET_BATCH];
    for (size_t i = 0, n; i < all.n; i += n) {
        int64_t tree = all.items[i].tree;
        for (n = 0; i + n < all.n && n < FORGET_BATCH && all.items[i + n].tree == tree; n++) {
            keys[n] = all.items[i + n].k;
            texts[n] = "";
        }
        search_forget(j->call->ramet, tree, keys, texts, n);
    }
    return RAMET_OK;
}

static ramet_status scrub(erase_job *j)
{
    ramet_call *c = j->call;
    ramet_gc_out gone = {0};
    char message[512] = "";
    TRY(words_forget(j));
    TRY(search_scrub(c, j->user != NULL));
    TRY(attachments_reap(c, NULL, NULL, &gone));
    j->counts[ERASE_FILES] += gone.attachments;
    j->counts[ERASE_SPOOLS] += import_spools_drop(c);
    ramet_status st = store_scrub(c->ramet->store, message);
    if (st != RAMET_OK)
        return call_fail(c, st, NULL,
                         "the content is erased, but old pages of the file still hold it: %s; "
                         "repeat the call to go on",
                         message);
    return RAMET_OK;
}

/* Everything behind the note. */
static ramet_status steps_run(erase_job *j)
{
    TRY(content_erase(j));
    TRY(note_write(j, NOTE_BLANK));
    TRY(scrub(j));
    return note_write(j, NOTE_REMOVE);
}

/* ------------------------------------------------------------------ going on */

typedef struct note {
    const char *key, *value;
} note;

ramet_status ramet_erase_resume(ramet_call *c, int64_t *n)
{
    txn tx;
    VEC(note) notes = {0};
    if (n)
        *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_erasures);
    while (q_row(q)) {
        note one = {q_keep_text(q, 0, c->arena), q_keep_text(q, 1, c->arena)};
        VEC_PUSH(c->arena, &notes, one);
    }
    TRY(txn_done(&tx, RAMET_OK));
    for (size_t i = 0; i < notes.n; i++) {
        erase_job j = {.call = c, .arena = arena_new()};
        ramet_status st = RAMET_OK;
        if (note_read(&j, notes.items[i].key, notes.items[i].value)) {
            st = txn_read(&tx, c) ? txn_done(&tx, plan_make(&tx, &j, false)) : c->err.status;
            if (st == RAMET_OK)
                st = steps_run(&j);
        }
        arena_free(j.arena);
        TRY(st);
        if (n)
            ++*n;
    }
    return RAMET_OK;
}

/* ------------------------------------------------------------------- the target */

static ramet_status entry_target(txn *tx, erase_job *j, const ramet_erase_in *in)
{
    session_full s, owner;
    branch_row b;
    branch_meta m;
    TRY(session_open(tx, in->session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, in->branch, &b));
    TRY(check_id(tx->call, "entry_id", in->entry_id));
    int64_t pos = path_find(tx, &b, in->entry_id, &j->k);
    TRY(txn_status(tx));
    if (pos < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                         "entry %s is not on this path", in->entry_id);
    j->tree = s.tree;
    j->session = fill_covers(&b, pos) ? s.no : 0;
    /* A private fork gives no right over the history that it shares. */
    bool owns = branch_meta_load(tx, s.tree, KEY_BRANCH(j->k), &m) &&
                session_by_no(tx, s.tree, m.session, &owner) && tx->call->user && owner.owner &&
                strcmp(owner.owner, tx->call->user) == 0;
    TRY(txn_status(tx));
    if (tx->call->user && !owns && level_in(tx, s.tree) < RAMET_MANAGER)
        return call_fail(
            tx->call, RAMET_FORBIDDEN, "entry_id",
            "erasing an entry needs a manager of the tree, or the owner of the session "
            "that appended it");
    return RAMET_OK;
}

static ramet_status target_find(txn *tx, erase_job *j, const ramet_erase_in *in)
{
    session_full s;
    switch (j->kind) {
    case ERASE_NOTHING:
    case ERASE_USER:
        return RAMET_OK;
    case ERASE_ENTRY:
        return entry_target(tx, j, in);
    case ERASE_SESSION:
        TRY(session_open(tx, in->session, NEED_MANAGE, &s));
        j->tree = s.tree;
        j->session = s.no;
        return RAMET_OK;
    case ERASE_TREE:
        TRY(check_id(tx->call, "tree", in->tree));
        j->tree = tree_number(tx, in->tree);
        TRY(txn_status(tx));
        ramet_level level = j->tree ? level_in(tx, j->tree) : RAMET_NO_LEVEL;
        if (!j->tree || level < RAMET_READER)
            return call_fail(tx->call, RAMET_TREE_NOT_FOUND, "tree", "there is no tree %s",
                             in->tree);
        if (level < RAMET_MANAGER)
            return call_fail(tx->call, RAMET_FORBIDDEN, "tree",
                             "erasing a tree needs a manager of it; %s is %s", tx->call->user,
                             ramet_level_name(level));
        j->only_of = tx->call->user ? arena_strdup(j->arena, tx->call->user) : NULL;
        return RAMET_OK;
    }
    return RAMET_OK;
}

static ramet_status kind_of(ramet_call *c, const ramet_erase_in *in, erase_kind *kind)
{
    int named = (in->session != NULL) + (in->tree != NULL) + (in->user != NULL);
    if (named != 1 || (in->entry_id && !in->session) || in->branch < 0 ||
        (in->branch && !in->entry_id))
        return call_fail(c, RAMET_INVALID, "erase",
                         "name one thing to erase: an entry of a session, a session, a tree, or a "
                         "user");
    *kind = in->user       ? ERASE_USER
            : in->tree     ? ERASE_TREE
            : in->entry_id ? ERASE_ENTRY
                           : ERASE_SESSION;
    TRY(check_chars(c, "reason", in->reason, c->ramet->limits.reason_chars, RAMET_REASON_TOO_LONG));
    if (in->by) {
        TRY(program_only(c));
        TRY(check_id(c, "by", in->by));
    }
    if (!in->user)
        return RAMET_OK;
    TRY(program_only(c));
    return check_id(c, "user", in->user);
}

/* ------------------------------------------------------------------ the receipt */

static void places_fill(txn *tx, const erase_job *j, ramet_receipt *r)
{
    VEC(ramet_erase_place) v = {0};
    VEC(int64_t) numbers = {0};
    for (size_t i = 0; i < j->done.n; i++) {
        branch_meta m;
        const erase_key *key = &j->done.items[i];
        if (!branch_meta_load(tx, key->tree, KEY_BRANCH(key->k), &m))
            continue;
        size_t at = numbers.n;
        while (at > 0 && numbers.items[at - 1] != m.session)
            at--;
        if (at > 0) {
            v.items[at - 1].entries++;
            continue;
        }
        session_full s;
        if (v.n >= MAX_PLACES || !session_by_no(tx, key->tree, m.session, &s) || !s.id ||
            s.purging || !session_visible(tx, &s.access)) {
            r->elsewhere++;
            continue;
        }
        ramet_erase_place one = {s.id, 1};
        VEC_PUSH(tx->arena, &v, one);
        VEC_PUSH(tx->arena, &numbers, m.session);
    }
    r->places = v.items;
    r->n_places = v.n;
}

static void went_fill(arena *a, const erase_job *j, ramet_receipt *r)
{
    static const char *const texts[] = {
#define X(name, text) text,
        ERASE_COUNTS(X)
#undef X
    };
    VEC(ramet_erase_line) v = {0};
    for (size_t i = 0; i < ERASE_N_COUNTS; i++) {
        ramet_erase_line line = {texts[i], j->counts[i], NULL};
        if (line.n)
            VEC_PUSH(a, &v, line);
    }
    r->went = v.items;
    r->n_went = v.n;
    r->entries = j->counts[ERASE_ENTRIES] + j->counts[ERASE_COPIES] + j->counts[ERASE_EVENTS];
}

static void stayed_fill(txn *tx, erase_job *j, ramet_receipt *r)
{
    const ramet_erase_line lines[] = {
        {"inherited entries", j->inherited, "they belong to the session that it was forked from"},
        {"entries of other users", j->answers_left, "another user is their author"},
        {"attachments", attached_left(tx, &j->files), "another entry refers to them"},
        {"places and ids of entries", r->entries,
         "the hash chain needs them; usage stays with them"},
    };
    VEC(ramet_erase_line) v = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (lines[i].n)
            VEC_PUSH(tx->arena, &v, lines[i]);
    r->stayed = v.items;
    r->n_stayed = v.n;
}

/* The last one is for a store in a database. */
static void notes_fill(const ramet_call *c, ramet_receipt *r)
{
    static const char *const notes[] = {
        "The digest of each entry is kept: a reader who guesses a short text exactly, with its "
        "author "
        "and time, can confirm the guess by the hash.",
        "Backups, exports and copies of the store that were made before are not changed.",
        "Agents and models outside this store keep what they were sent. An agent with a memory of "
        "its own gets what is left in a new session at its next turn.",
        "The database's log, replicas and backups, and rows that it has not vacuumed yet, are its "
        "operator's: docs/erasure.md says how to clear them.",
    };
    r->notes = notes;
    r->n_notes = sizeof notes / sizeof *notes - (store_file(c->ramet->store) ? 1 : 0);
}

static ramet_status receipt_make(erase_job *j, bool dry_run, ramet_receipt **out)
{
    txn tx;
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    ramet_receipt *r = arena_alloc(tx.arena, sizeof *r);
    *r = (ramet_receipt){.at = j->at,
                         .by = arena_strdup(tx.arena, j->who),
                         .reason = arena_strdup(tx.arena, j->why),
                         .dry_run = dry_run,
                         .already = j->already};
    places_fill(&tx, j, r);
    went_fill(tx.arena, j, r);
    stayed_fill(&tx, j, r);
    notes_fill(j->call, r);
    *out = r;
    return txn_done(&tx, RAMET_OK);
}

/* --------------------------------------------------------------------- the call */

static ramet_status erase_find(erase_job *j, const ramet_erase_in *in)
{
    txn tx;
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    ramet_status st = target_find(&tx, j, in);
    if (st == RAMET_OK)
        st = plan_make(&tx, j, in->dry_run);
    return txn_done(&tx, st);
}

static ramet_status erase_run(erase_job *j, const ramet_erase_in *in, ramet_receipt **out)
{
    char uuid[UUID_TEXT];
    j->at = ramet_now(j->call->ramet);
    j->id = arena_printf(j->arena, "erase %s", uuid7(j->at, uuid));
    j->alias = in->user ? arena_printf(j->arena, "erased-%s", uuid4(uuid)) : NULL;
    TRY(erase_find(j, in));
    if (!in->dry_run) {
        store_settle_all(j->call->ramet->store); /* the outbox names users, too */
        TRY(note_write(j, NOTE_SET));
        TRY(steps_run(j));
    }
    return receipt_make(j, in->dry_run, out);
}

ramet_status ramet_erase(ramet_call *c, const ramet_erase_in *in, ramet_receipt **out)
{
    *out = NULL;
    erase_job j = {.call = c,
                   .who = c->user ? c->user : in->by,
                   .why = in->reason ? in->reason : "",
                   .user = in->user};
    memset(&c->err, 0, sizeof c->err);
    TRY(kind_of(c, in, &j.kind));
    if (!in->dry_run)
        TRY(ramet_erase_resume(c, NULL));
    j.arena = arena_new();
    ramet_status st = erase_run(&j, in, out);
    arena_free(j.arena);
    return st;
}
