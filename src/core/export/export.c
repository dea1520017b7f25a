/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports: what is asked for, tree by tree (export.h).
 */
#include "core/export/export.h"

#include "core/call.h"
#include "core/check.h"
#include "core/session/session_open.h"

#define PIECE ((size_t)64 << 10)
#define LINE_MOST ((size_t)1 << 30) /* of one record; limits on entries are far below */
#define TREES_AT_ONCE 256
#define TICK 1024 /* entries between two reports of progress */

int ramet_export_format_parse(const char *s)
{
    static const char *const names[] = {"jsonl", "md", "html"};
    for (int i = 0; s && i < 3; i++)
        if (strcmp(names[i], s) == 0)
            return i;
    return -1;
}

/* ---------------------------------------------------------------------- output */

bool export_flush(export_job *j, bool all)
{
    if (j->text.over)
        j->stopped = true;
    if (j->stopped || (!all && j->text.n < PIECE))
        return !j->stopped;
    sha_add(j->digest, j->text.data, j->text.n);
    j->out->bytes += (int64_t)j->text.n;
    if (j->text.n && !j->write(j->arg, j->text.data, j->text.n))
        j->stopped = true;
    buf_clear(&j->text);
    return !j->stopped;
}

bool export_line(export_job *j)
{
    jw_end_object(&j->w);
    buf_putc(&j->text, '\n');
    jw_init(&j->w, &j->text, 0);
    return export_flush(j, false);
}

bool export_tick(export_job *j, int64_t entries)
{
    int64_t before = j->out->entries / TICK;
    j->out->entries += entries;
    if (j->progress && (!entries || j->out->entries / TICK != before) &&
        !j->progress(j->progress_arg, "export", j->out->entries, j->total))
        j->stopped = true;
    return !j->stopped;
}

/* ----------------------------------------------------------------------- trees */

static ramet_status tree_format(export_job *j, export_tree *t)
{
    return j->in->format == RAMET_EXPORT_JSONL ? export_jsonl_tree(j, t) : export_text_tree(j, t);
}

/* One tree, in one snapshot. `session` may be NULL: all that the caller may see. */
static ramet_status tree_export(export_job *j, int64_t tree, const char *session)
{
    txn tx;
    session_full s = {0};
    export_tree t;
    ramet_status st = RAMET_OK;
    arena_reset(j->tree);
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    if (session)
        st = session_open(&tx, session, j->in->with_adk ? NEED_CHANGE : NEED_TREE, &s);
    for (size_t i = 0; i < j->in->n_branches && st == RAMET_OK; i++)
        st = pruned_check(&tx, &s.access, j->in->branches[i]);
    bool any = st == RAMET_OK && export_tree_load(j, &tx, session ? s.tree : tree,
                                                  session && !j->in->tree ? s.no : 0, &t);
    if (any) {
        if (session)
            j->total = t.entries_out;
        st = tree_format(j, &t);
    }
    st = txn_done(&tx, st);
    if (st == RAMET_OK && any && !j->stopped && j->in->format == RAMET_EXPORT_JSONL)
        st = export_jsonl_contents(j, &t);
    if (st != RAMET_OK || !any)
        return st;
    j->out->trees++;
    for (size_t i = 0; i < t.n_sessions; i++)
        j->out->sessions += t.sessions[i].full;
    return RAMET_OK;
}

typedef VEC(int64_t) numbers;

/* The trees behind `after`: the next ones of the store, or all of a user at once. */
static ramet_status trees_next(export_job *j, arena *a, int64_t after, numbers *out)
{
    txn tx;
    if (!txn_read(&tx, j->call))
        return j->call->err.status;
    db_stmt *q = db_query(tx.db, j->call->user ? Q_user_trees : Q_tree_all);
    if (j->call->user) {
        q_text(q, 1, j->call->user);
    } else {
        q_int(q, 1, after);
        q_int(q, 2, TREES_AT_ONCE);
    }
    while (q_row(q))
        VEC_PUSH(a, out, q_col_int(q, 0));
    if (!j->total && !j->call->user) {
        q = db_query(tx.db, Q_branch_count);
        j->total = q_row(q) ? q_col_int(q, 1) : 0;
        q_end(q);
    }
    return txn_done(&tx, RAMET_OK);
}

static ramet_status trees_export(export_job *j)
{
    arena *a = arena_new();
    int64_t after = INT64_MIN;
    ramet_status st = RAMET_OK;
    bool more = true;
    while (more && st == RAMET_OK && !j->stopped) {
        numbers list = {0};
        arena_reset(a);
        st = trees_next(j, a, after, &list);
        for (size_t i = 0; i < list.n && st == RAMET_OK && !j->stopped; i++)
            st = tree_export(j, after = list.items[i], NULL);
        more = !j->call->user && list.n == TREES_AT_ONCE;
    }
    arena_free(a);
    return st;
}

static ramet_status in_check(ramet_call *c, const ramet_export_in *in)
{
    bool jsonl = in->format == RAMET_EXPORT_JSONL;
    if (in->session)
        TRY(check_id(c, "session", in->session));
    if (in->tree && !in->session)
        return call_fail(c, RAMET_INVALID, "tree",
                         "the export of a tree names one of its sessions");
    if (in->n_branches && (!in->session || in->tree))
        return call_fail(c, RAMET_INVALID, "branches", "branches are chosen of one session");
    if (in->with_adk && !jsonl)
        return call_fail(c, RAMET_INVALID, "with_adk", "the adk log is exported as jsonl alone");
    if (in->with_adk && (in->path || in->n_branches))
        return call_fail(c, RAMET_INVALID, "with_adk",
                         "an export of chosen paths leaves the adk log out");
    return RAMET_OK;
}

static ramet_status job_run(export_job *j)
{
    bool jsonl = j->in->format == RAMET_EXPORT_JSONL;
    TRY(jsonl ? export_jsonl_begin(j) : export_text_begin(j));
    export_tick(j, 0);
    TRY(j->in->session ? tree_export(j, 0, j->in->session) : trees_export(j));
    if (!j->stopped)
        TRY(jsonl ? export_jsonl_end(j) : export_text_end(j));
    export_flush(j, true);
    if (j->stopped)
        return call_fail(j->call, RAMET_STOP, NULL, "the export was stopped");
    return RAMET_OK;
}

ramet_status ramet_export(ramet_call *c, const ramet_export_in *in, ramet_write write, void *arg,
                          ramet_progress progress, void *progress_arg, ramet_export_out *out)
{
    export_job j = {.call = c,
                    .in = in,
                    .write = write,
                    .arg = arg,
                    .progress = progress,
                    .progress_arg = progress_arg,
                    .out = out};
    *out = (ramet_export_out){0};
    TRY(in_check(c, in));
    j.digest = sha_new();
    sha_begin(j.digest);
    j.tree = arena_new();
    j.page = arena_new();
    j.entry = arena_new();
    buf_init(&j.text, LINE_MOST);
    jw_init(&j.w, &j.text, 0);
    ramet_status st = job_run(&j);
    buf_release(&j.text);
    arena_free(j.tree);
    arena_free(j.page);
    arena_free(j.entry);
    sha_free(j.digest);
    return st;
}
