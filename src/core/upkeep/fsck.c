/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck: checks the file, every hash, reference and head. fsck.h has the rules of the check; the
 * invariants that it verifies are B1 to B4 (branch.c), M2 (move.c), S1 to S3 (state.c) and G3 to G5
 * (gc.c).
 *
 * Of a session that gc is removing (purging > 0) only its position in the tree and what is left in
 * its branches are checked.
 */
#include "core/upkeep/fsck.h"

#include "core/attachment/attachment_upkeep.h"
#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/key.h"
#include "core/session/session.h"
#include "core/txn.h"

#include <stdio.h>
#include <stdlib.h>

#define FAULTS_MAX 1000
#define TREE_BATCH 256
#define TICK 2048 /* entries between two reports of progress */

/* --------------------------------------------------------------------- faults */

static const char *location_text(arena *a, const fsck_location *at)
{
    const char *s = "";
    if (at->session && at->session[0])
        s = arena_printf(a, "session %s", at->session);
    if (at->branch >= 0)
        s = arena_printf(a, "%s%sbranch b%lld", s, s[0] ? ", " : "", (long long)at->branch);
    if (at->position >= 0)
        s = arena_printf(a, "%s%sposition %lld", s, s[0] ? ", " : "", (long long)at->position);
    if (at->entry && at->entry[0])
        s = arena_printf(a, "%s%sentry %s", s, s[0] ? ", " : "", at->entry);
    return s[0] ? arena_printf(a, "%s: ", s) : s;
}

void fsck_fault(fsck *f, fsck_location at, const char *fmt, ...)
{
    if (f->out->n_all++ >= FAULTS_MAX)
        return;
    arena *a = f->tx.call->arena;
    char what[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    for (char *p = what; *p; p++)
        if (*p == '\n')
            *p = ' ';
    ramet_fault fault = {.what = arena_printf(a, "%s%s", location_text(a, &at), what),
                         .session = arena_strdup(a, at.session),
                         .entry_id = arena_strdup(a, at.entry),
                         .branch = at.branch,
                         .position = at.position};
    VEC_PUSH(a, &f->faults, fault);
}

bool fsck_read_ok(fsck *f, fsck_location at, const char *what)
{
    if (db_status(f->tx.db) == RAMET_OK)
        return true;
    fsck_fault(f, at, "%s failed: %s", what, db_message(f->tx.db));
    db_clear(f->tx.db);
    return false;
}

bool fsck_tick(fsck *f, int64_t entries)
{
    int64_t before = f->out->entries / TICK;
    f->out->entries += entries;
    if (f->progress && !f->stopped && (f->out->entries / TICK != before || !entries))
        f->stopped = !f->progress(f->arg, "fsck", f->out->entries, f->total);
    return !f->stopped;
}

fsck_location fsck_in(const fsck_branch *b, int64_t position, const char *entry)
{
    return (fsck_location){.session = b->of ? b->of->row.id : NULL,
                           .branch = b->row.meta.id,
                           .position = position,
                           .entry = entry};
}

/* ----------------------------------------------------------------------- rows */

static int by_session(const void *a, const void *b)
{
    int64_t x = ((const fsck_session *)a)->row.no, y = ((const fsck_session *)b)->row.no;
    return x < y ? -1 : x > y;
}

static int by_branch(const void *a, const void *b)
{
    int64_t x = ((const fsck_branch *)a)->row.meta.id, y = ((const fsck_branch *)b)->row.meta.id;
    return x < y ? -1 : x > y;
}

static fsck_session *session_at(const fsck *f, int64_t no)
{
    fsck_session key = {.row = {.no = no}};
    return f->n_sessions ? bsearch(&key, f->sessions, f->n_sessions, sizeof key, by_session) : NULL;
}

fsck_branch *fsck_branch_at(const fsck *f, int64_t id)
{
    fsck_branch key = {.row = {.meta = {.id = id}}};
    return f->n_branches ? bsearch(&key, f->branches, f->n_branches, sizeof key, by_branch) : NULL;
}

static void sessions_load(fsck *f)
{
    VEC(fsck_session) v = {0};
    db_stmt *q = db_query(f->tx.db, Q_session_of_tree);
    q_int(q, 1, f->tree);
    while (q_row(q)) {
        fsck_session s = {0};
        session_from(q, f->tx.arena, &s.row);
        fsck_read_ok(f, fsck_at_session(&s), "reading the session");
        VEC_PUSH(f->tx.arena, &v, s);
    }
    f->sessions = v.items;
    f->n_sessions = v.n;
    f->out->sessions += (int64_t)v.n;
    if (v.n)
        qsort(v.items, v.n, sizeof *v.items, by_session);
}

static void branches_load(fsck *f)
{
    VEC(fsck_branch) v = {0};
    db_stmt *q = db_query(f->tx.db, Q_branch_of_tree);
    q_int(q, 1, f->tree);
    while (q_row(q)) {
        fsck_branch b = {0};
        branch_from(q, 0, &b.row);
        b.sane = db_status(f->tx.db) == RAMET_OK && branch_sane(&b.row);
        if (!b.sane) {
            b.row.meta.id = q_col_int(q, 0); /* the rows are searched by it */
            db_clear(f->tx.db);
        }
        b.of = session_at(f, b.row.meta.session);
        b.recorded = b.row.meta.base;
        if (b.sane && b.of)
            b.of->entries[b.row.meta.log] += b.row.len - b.row.meta.base;
        VEC_PUSH(f->tx.arena, &v, b);
    }
    f->branches = v.items;
    f->n_branches = v.n;
    f->out->branches += (int64_t)v.n;
}

/* -------------------------------------------------------------------- lineage */

/* The required jump pointer of a child of p (B3); NULL when it cannot be determined. */
static const fsck_branch *jump_of(const fsck *f, const fsck_branch *p)
{
    const fsck_branch *j = fsck_branch_at(f, p->row.meta.jump),
                      *jj = j ? fsck_branch_at(f, j->row.meta.jump) : NULL;
    if (!jj || !j->sane || !jj->sane)
        return NULL;
    return p->row.meta.depth - j->row.meta.depth == j->row.meta.depth - jj->row.meta.depth ? jj : p;
}

static const char *root_fault(const branch_meta *m)
{
    if (m->base)
        return "it begins in the middle and has no parent";
    return m->depth || m->jump != m->id || m->jump_base ? "its lineage is wrong" : NULL;
}

static const char *child_fault(const fsck *f, const fsck_branch *b)
{
    const branch_meta *m = &b->row.meta, *p = b->parent ? &b->parent->row.meta : NULL;
    if (!p || !b->parent->sane)
        return "its parent is missing";
    if (p->log != m->log)
        return "its parent is of another log";
    if (m->base <= p->base || m->base > b->parent->row.len)
        return "it begins outside its parent";
    const fsck_branch *jump = jump_of(f, b->parent);
    if (m->depth != p->depth + 1 || !jump || m->jump != jump->row.meta.id ||
        m->jump_base != jump->row.meta.base)
        return "its lineage is wrong";
    return NULL;
}

static bool over_sane(const fsck *f, const fsck_branch *b)
{
    const fsck_branch *o = b->row.over ? fsck_branch_at(f, b->row.over) : NULL;
    /* With a branch that was pruned, gc may have removed what a merge had brought there. */
    if (b->of && b->of->has_removed && (!o || o->row.len <= b->row.meta.base))
        return true;
    return !b->row.over ||
           (o && o->row.meta.session != b->row.meta.session && o->row.meta.log == b->row.meta.log &&
            o->row.len > b->row.meta.base && o->row.meta.base <= b->row.meta.base);
}

static void branch_check(fsck *f, fsck_branch *b)
{
    const branch_meta *m = &b->row.meta;
    b->parent = m->parent ? fsck_branch_at(f, m->parent) : NULL;
    if (!b->sane) {
        fsck_fault(f, fsck_in(b, -1, NULL), "the branch is damaged");
        return;
    }
    const char *fault = m->parent ? child_fault(f, b) : root_fault(m);
    if (fault)
        fsck_fault(f, fsck_in(b, -1, NULL), "%s", fault);
    b->linked = !fault;
    if (b->row.seal && b->row.seal != branch_seal(f->tx.call->hasher, &b->row))
        fsck_fault(f, fsck_in(b, -1, NULL), "what it was made with is not what was written");
    if (!b->of) {
        fsck_fault(f, fsck_in(b, -1, NULL), "session number %lld, which it belongs to, is missing",
                   (long long)m->session);
        return;
    }
    if (b->of->row.purging)
        return;
    if (b->row.live != (m->id == b->of->row.head || m->id == b->of->row.adk))
        fsck_fault(f, fsck_in(b, -1, NULL),
                   b->row.live ? "it is marked as a head and is none"
                               : "it is a head and not marked so");
    if (!over_sane(f, b))
        fsck_fault(f, fsck_in(b, -1, NULL), "what it took the place of is missing");
}

/* ------------------------------------------------------------------- sessions */

static void heads_check(fsck *f, const fsck_session *s)
{
    const struct {
        const char *name;
        int64_t id;
        int log;
        bool needed;
    } refs[] = {{"head", s->row.head, RAMET_LOG_MAIN, true},
                {"first branch", s->row.first, RAMET_LOG_MAIN, true},
                {"head of the adk log", s->row.adk, RAMET_LOG_ADK, false},
                {"first branch of the adk log", s->row.first_adk, RAMET_LOG_ADK, false}};
    for (size_t i = 0; i < sizeof refs / sizeof refs[0]; i++) {
        fsck_location at = fsck_at_session(s);
        at.branch = refs[i].id ? refs[i].id : -1;
        if ((refs[i].id || refs[i].needed) && !fsck_has_branch(f, s, refs[i].id, refs[i].log))
            fsck_fault(f, at, "its %s is missing", refs[i].name);
    }
}

static void session_check(fsck *f, const fsck_session *s, int64_t root)
{
    const fsck_session *p = s->row.parent ? session_at(f, s->row.parent) : NULL;
    int64_t depth = p && p->row.depth >= 0 && p->row.depth < INT32_MAX ? p->row.depth + 1 : 0;
    if (s->row.purging < 2 && (!s->row.id || !s->row.id[0]))
        fsck_fault(f, fsck_at_session(s), "session number %lld has no id", (long long)s->row.no);
    if (s->row.parent && !p)
        fsck_fault(f, fsck_at_session(s),
                   "session number %lld, which it was forked from, is missing",
                   (long long)s->row.parent);
    else if (s->row.depth != depth)
        fsck_fault(f, fsck_at_session(s), "its depth is %lld and should be %lld",
                   (long long)s->row.depth, (long long)depth);
    if ((s->row.parent == 0) != (s->row.no == root))
        fsck_fault(f, fsck_at_session(s),
                   s->row.parent ? "it is the root of its tree and has a parent"
                                 : "it has no parent and is not the root of its tree");
    if (s->row.purging < 2 && s->row.seal != session_seal(f->tx.call->hasher, &s->row))
        fsck_fault(f, fsck_at_session(s), "where it was forked from is not what was written");
    if (!s->row.purging)
        heads_check(f, s);
}

/* ----------------------------------------------------------------------- logs */

static void moves_check(fsck *f, const fsck_session *s)
{
    fsck_moves l;
    fsck_moves_begin(f, s, f->tx.arena, &l);
    db_stmt *q = db_query(f->tx.db, Q_move_all);
    q_int(q, 1, f->tree);
    q_int(q, 2, s->row.no);
    while (q_row(q)) {
        fsck_move m = {.seq = q_col_int(q, 0),
                       .kind = q_col_int(q, 1),
                       .from = q_col_int(q, 2),
                       .to = q_col_int(q, 3),
                       .from_adk = q_col_int(q, 4),
                       .to_adk = q_col_int(q, 5),
                       .undo_under = q_col_int(q, 6),
                       .redo_under = q_col_int(q, 7),
                       .at = q_col_int(q, 8)};
        if (!fsck_moves_add(f, s, &l, &m)) {
            q_end(q);
            return;
        }
    }
    if (fsck_read_ok(f, fsck_at_session(s), "reading its head log"))
        fsck_moves_end(f, s, &l);
}

static void record_check(fsck *f, const fsck_session *s)
{
    fsck_record k;
    fsck_record_begin(&k);
    db_stmt *q = db_query(f->tx.db, Q_run_all);
    q_int(q, 1, f->tree);
    q_int(q, 2, s->row.no);
    while (k.good && q_row(q)) {
        int64_t log = q_col_int(q, 0);
        fsck_run r = {.log = log == RAMET_LOG_MAIN || log == RAMET_LOG_ADK ? (int)log : -1,
                      .rec = q_col_int(q, 1),
                      .key = q_col_int(q, 2)};
        fsck_record_add(f, s, &k, &r);
    }
    q_end(q);
    if (fsck_read_ok(f, fsck_at_session(s), "reading its record"))
        fsck_record_end(f, s, &k);
}

/* ---------------------------------------------------------------------- turns */

static void turns_check(fsck *f, const fsck_session *s)
{
    db_stmt *q = db_query(f->tx.db, Q_turn_of_session);
    q_int(q, 1, f->tree);
    q_int(q, 2, s->row.no);
    q_int(q, 3, INT64_MAX);
    q_int(q, 4, INT64_MAX);
    while (q_row(q)) {
        const char *id = q_col_text(q, 0);
        int64_t branch = q_col_int(q, 3), status = q_col_int(q, 8);
        fsck_location at = fsck_at_session(s);
        at.branch = branch;
        if (!fsck_has_branch(f, s, branch, RAMET_LOG_MAIN))
            fsck_fault(f, at, "the branch that turn %s writes to is missing", id);
        if (status < RAMET_TURN_RUNNING || status > RAMET_TURN_INTERRUPTED)
            fsck_fault(f, at, "turn %s has no known status", id);
    }
    fsck_read_ok(f, fsck_at_session(s), "reading its turns");
}

/* ---------------------------------------------------------------------- tasks */

static void tasks_check(fsck *f, const fsck_session *s)
{
    db_stmt *q = db_query(f->tx.db, Q_task_of_session);
    q_int(q, 1, f->tree);
    q_int(q, 2, s->row.no);
    while (q_row(q)) {
        const char *id = q_col_text(q, 0), *data = q_col_text(q, 3);
        json_doc d;
        arena_reset(f->entry);
        if (!data || !json_parse(f->entry, data, strlen(data), SIZE_MAX, &d, NULL) ||
            !json_is(&d.nodes[0], JSON_OBJECT))
            fsck_fault(f, fsck_at_session(s), "the data of task %s is damaged", id ? id : "");
    }
    fsck_read_ok(f, fsck_at_session(s), "reading its tasks");
}

void fsck_recorded(fsck *f, const fsck_branch *b)
{
    if (!b->of || b->of->row.purging || !b->sane)
        return;
    if (b->recorded != b->row.len)
        fsck_fault(f, fsck_in(b, b->recorded, NULL), "the record of its session ends here");
    else if (b->row.run != b->last)
        fsck_fault(f, fsck_in(b, -1, NULL), "it is not marked rightly as where the record goes on");
    if (!b->named)
        fsck_fault(f, fsck_in(b, -1, NULL), "the head log of its session does not name it");
}

/* ------------------------------------------------------------------- verdicts */

/* gc may have removed sessions that a verdict names; its form must still be right. */
static bool verdict_sane(arena *a, const char *sides, int64_t winner)
{
    json_doc d;
    if (!sides || !json_parse(a, sides, strlen(sides), 0, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_ARRAY) || winner < -1 || winner >= (int64_t)d.nodes[0].count)
        return false;
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        int64_t n;
        if (!json_int(&d, json_get(&d, v, "session"), &n) ||
            !json_int(&d, json_get(&d, v, "branch"), &n))
            return false;
    }
    return d.nodes[0].count >= 2;
}

static void verdicts_check(fsck *f)
{
    db_stmt *q = db_query(f->tx.db, Q_verdict_of_tree);
    q_int(q, 1, f->tree);
    q_int(q, 2, INT64_MAX);
    q_int(q, 3, INT64_MAX);
    while (q_row(q)) {
        arena_reset(f->entry);
        if (!verdict_sane(f->entry, q_col_text(q, 2), q_col_int(q, 3)))
            fsck_fault(f, (fsck_location){FSCK_NOWHERE}, "verdict %lld is damaged",
                       (long long)q_col_int(q, 0));
    }
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the verdicts of a tree");
}

/* ---------------------------------------------------------------------- trees */

void fsck_model(fsck *f, int64_t root)
{
    if (f->n_sessions && !session_at(f, root))
        fsck_fault(f, (fsck_location){FSCK_NOWHERE}, "the root of tree number %lld is missing",
                   (long long)f->tree);
    for (size_t i = 0; i < f->n_branches; i++)
        branch_check(f, &f->branches[i]);
    for (size_t i = 0; i < f->n_sessions; i++)
        session_check(f, &f->sessions[i], root);
}

void fsck_tree(fsck *f)
{
    db_stmt *q = db_query(f->tx.db, Q_tree_root);
    q_int(q, 1, f->tree);
    int64_t root = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    sessions_load(f);
    branches_load(f);
    fsck_notes_load(f);
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading a tree");
    fsck_model(f, root);
    for (size_t i = 0; i < f->n_sessions; i++) {
        const fsck_session *s = &f->sessions[i];
        if (s->row.purging)
            continue;
        moves_check(f, s);
        record_check(f, s);
        turns_check(f, s);
        tasks_check(f, s);
    }
    verdicts_check(f);
    fsck_overlays(f);
    fsck_prompts(f);
    fsck_notes(f);
    fsck_templates(f);
    fsck_values(f);
    for (size_t i = 0; i < f->n_branches && !f->stopped; i++) {
        fsck_recorded(f, &f->branches[i]);
        if (f->branches[i].sane &&
            (!f->wanted || f->wanted(f->wanted_arg, f->branches[i].row.meta.id)))
            fsck_content(f, &f->branches[i]);
    }
}

static void trees_check(fsck *f)
{
    int64_t trees[TREE_BATCH];
    size_t n = TREE_BATCH;
    f->tree = INT64_MIN;
    while (n == TREE_BATCH && !f->stopped) {
        db_stmt *q = db_query(f->tx.db, Q_tree_all);
        q_int(q, 1, f->tree);
        q_int(q, 2, TREE_BATCH);
        for (n = 0; n < TREE_BATCH && q_row(q); n++)
            trees[n] = q_col_int(q, 0);
        q_end(q);
        fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the list of trees");
        for (size_t i = 0; i < n && !f->stopped; i++) {
            if (trees[i] <= f->tree) {
                fsck_fault(f, (fsck_location){FSCK_NOWHERE}, "the list of trees is damaged");
                return;
            }
            arena_reset(f->tx.arena);
            f->tree = trees[i];
            f->out->trees++;
            fsck_tree(f);
        }
    }
}

typedef struct orphan_kind {
    sql_id query;
    const char *what;
    enum { BY_NUMBER, BY_KEY } by;
} orphan_kind;

static void orphan_fault(fsck *f, const orphan_kind *kind, db_stmt *q)
{
    int64_t k = q_col_int(q, 1);
    const char *name = q_col_text(q, 2);
    fsck_location at = {FSCK_NOWHERE};
    if (kind->query == Q_orphan_session)
        at.session = name;
    if (kind->by == BY_NUMBER) {
        fsck_fault(f, at, "%s (number %lld)", kind->what, (long long)k);
        return;
    }
    at.branch = KEY_BRANCH(k);
    at.position = KEY_POS(k);
    at.entry = kind->query == Q_orphan_entry ? name : NULL;
    fsck_fault(f, at, "%s", kind->what);
}

/* Finds rows that belong to nothing, and rows with values that no store holds. */
static void rows_check(fsck *f)
{
    static const orphan_kind kinds[] = {
        {Q_orphan_session, "a session belongs to no tree", BY_NUMBER},
        {Q_orphan_branch, "a branch belongs to no tree", BY_NUMBER},
        {Q_orphan_entry, "the entry belongs to no branch", BY_KEY},
        {Q_orphan_body, "a body belongs to no entry", BY_KEY},
        {Q_orphan_usage, "usage belongs to no entry", BY_KEY},
        {Q_orphan_delta, "a state delta belongs to no entry", BY_KEY},
        {Q_orphan_run, "a part of a record belongs to no session", BY_NUMBER},
        {Q_orphan_move, "a move belongs to no session", BY_NUMBER},
        {Q_orphan_tag, "a tag belongs to no session", BY_NUMBER},
        {Q_orphan_member, "a member belongs to no tree", BY_NUMBER},
        {Q_orphan_verdict, "a verdict belongs to no tree", BY_NUMBER},
        {Q_orphan_share, "a share link belongs to no session", BY_NUMBER},
        {Q_orphan_template, "a template belongs to no session", BY_NUMBER},
        {Q_orphan_turn, "a turn belongs to no session", BY_NUMBER},
        {Q_orphan_prompt, "what an agent was sent belongs to no session", BY_NUMBER},
        {Q_orphan_overlay, "an overlay belongs to no tree", BY_NUMBER},
        {Q_orphan_held, "a hold belongs to no session that is there", BY_NUMBER},
        {Q_odd_held, "a hold is of no known kind", BY_NUMBER},
        {Q_odd_rule, "a rule of retention is damaged", BY_NUMBER},
        {Q_orphan_task, "a task belongs to no session", BY_NUMBER},
        {Q_orphan_push, "a push notification config belongs to no session", BY_NUMBER},
        {Q_orphan_origin, "an origin belongs to no session", BY_NUMBER},
        {Q_orphan_note, "a note belongs to no branch", BY_NUMBER},
        {Q_orphan_transfer, "a transfer belongs to no tree", BY_NUMBER},
        {Q_orphan_indexed, "a text to be found by belongs to no entry", BY_KEY},
        {Q_orphan_copied, "the origin of a copy belongs to no copy", BY_KEY},
        {Q_orphan_erased, "the digest of an erased entry belongs to none", BY_KEY},
        {Q_orphan_attached, "a reference to an attachment belongs to no entry", BY_KEY},
        {Q_orphan_reference, "the attachment that the entry refers to is missing", BY_KEY},
        {Q_orphan_feedback, "feedback belongs to no entry", BY_KEY},
        {Q_odd_member, "the level of a member is none", BY_NUMBER},
        {Q_odd_feedback, "feedback is neither up nor down", BY_KEY},
        {Q_odd_copied, "the origin of a copy is damaged", BY_KEY},
        {Q_odd_share, "the secret of a share link is damaged", BY_NUMBER},
        {Q_odd_token, "the secret of a token is damaged", BY_NUMBER},
        {Q_odd_event, "an event is of no known kind", BY_NUMBER},
        {Q_odd_note, "a note of a branch is damaged", BY_NUMBER},
        {Q_odd_once, "an answer kept by a key is damaged", BY_NUMBER},
        {Q_odd_attachment, "the size of an attachment is negative", BY_NUMBER},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && !f->stopped; i++) {
        db_stmt *q = db_query(f->tx.db, kinds[i].query);
        q_int(q, 1, FAULTS_MAX);
        while (q_row(q))
            orphan_fault(f, &kinds[i], q);
        fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "looking for rows that make no sense");
    }
}

static void file_line(void *arg, const char *text)
{
    fsck_fault(arg, (fsck_location){FSCK_NOWHERE}, "the file is damaged: %s", text);
}

ramet_status ramet_fsck(ramet_call *c, ramet_progress progress, void *arg, ramet_fsck_out *out)
{
    *out = (ramet_fsck_out){0};
    TRY(program_only(c));
    fsck f = {.out = out, .progress = progress, .arg = arg};
    if (!txn_read(&f.tx, c))
        return c->err.status;
    f.tx.arena = arena_new();
    f.entry = arena_new();
    db_stmt *q = db_query(f.tx.db, Q_branch_count);
    f.total = q_row(q) ? q_col_int(q, 1) : 0;
    q_end(q);
    fsck_read_ok(&f, (fsck_location){FSCK_NOWHERE}, "counting the entries");
    if (fsck_tick(&f, 0)) {
        db_check(f.tx.db, file_line, &f);
        db_clear(f.tx.db);
        trees_check(&f);
        rows_check(&f);
        fsck_attachments(&f);
    }
    out->faults = f.faults.items;
    out->n = f.faults.n;
    arena_free(f.entry);
    arena_free(f.tx.arena);
    f.tx.arena = c->arena;
    ramet_status st = f.stopped ? call_fail(c, RAMET_STOP, NULL, "fsck was stopped") : RAMET_OK;
    return txn_done(&f.tx, st);
}
