/* SPDX-License-Identifier: Apache-2.0
 *
 * Append: I5. Nothing is written before every entry of the batch has been checked.
 */
#include "core/core.h"

typedef struct append_job {
    const char *session;
    append_work w;
} append_job;

ramet_status entries_known(cx *x, const branch_row *b, entry_new *list, size_t n, size_t *fresh)
{
    *fresh = 0;
    for (size_t i = 0; i < n; i++) {
        entry_new *e = &list[i];
        e->existing = false; /* may run twice */
        if (e->same_as >= 0)
            continue;
        int64_t k = 0;
        if (!e->in->id || path_find(x, b, e->e.id, &k) < 0) {
            (*fresh)++;
            if (e->n_files)
                TRY(attachments_check(x, e));
            continue;
        }
        ramet_entry have;
        uint8_t hash[HASH_LEN];
        if (!entry_load(x, b->m.tree, k, &have, hash))
            return cx_status(x);
        if (!entry_same(x->c, e, &have))
            return call_fail(x->c, RAMET_ENTRY_EXISTS, arena_printf(x->a, "entries[%zu].id", i),
                             "entry %s is in the history already, with other content", e->e.id);
        branch_meta owner;
        if (branch_meta_load(x, b->m.tree, have.branch, &owner))
            have.owner_no = owner.session;
        e->existing = true;
        e->found = have;
    }
    return cx_status(x);
}

void append_answer(cx *x, const branch_row *b, entry_new *list, size_t n, ramet_append_out *out)
{
    const char *newest = NULL; /* of those written now: the head */
    *out = (ramet_append_out){.entries = arena_array(x->a, n + 1, sizeof *out->entries), .n = n};
    for (size_t i = 0; i < n; i++) {
        const entry_new *e = list[i].same_as >= 0 ? &list[list[i].same_as] : &list[i];
        out->entries[i] = e->existing ? e->found : e->e;
        if (list[i].same_as < 0 && !e->existing) {
            out->added++;
            newest = e->e.id;
        }
    }
    if (!newest) {
        head_fill(x, b, &out->head);
        return;
    }
    out->head = (ramet_head){.branch = b->m.id, .length = b->len, .entry_id = newest};
    hex_encode(b->tip, HASH_LEN, out->head.hash);
}

/* The branch to append to, given the head of the main log; the adk log of a session begins with its
 * first entry. */
static ramet_status target(cx *x, const session_row *s, const append_work *w, branch_row *b)
{
    bool head = w->log == RAMET_LOG_MAIN && (!w->branch || w->branch == s->head);
    if (head && b->m.id && b->m.session == s->no && b->m.log == RAMET_LOG_MAIN)
        return RAMET_OK;
    if (w->log == RAMET_LOG_ADK && !w->branch && !s->adk) {
        *b = (branch_row){.m = {.tree = s->tree, .session = s->no, .log = RAMET_LOG_ADK}};
        return RAMET_OK;
    }
    return branch_open(x, s, w->log, w->branch, b);
}

static void adk_begin(cx *x, session_row *s, branch_row *b)
{
    branch_create(x, NULL, 0, s, RAMET_LOG_ADK, RAMET_EXPLICIT, false, b);
    s->adk = b->m.id;
    db_stmt *q = db_query(x->d, Q_session_adk);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, b->m.id);
    q_run(q);
}

ramet_status append_do(cx *x, session_row *s, branch_row *b, const append_work *w)
{
    size_t fresh;
    TRY(target(x, s, w, b));
    TRY(entries_known(x, b, w->list, w->n, &fresh));
    /* A retry of something that was done already is answered, whatever came after it. */
    if (fresh)
        TRY(head_check(x, b, w->expected, w->given));
    if (b->len + (int64_t)fresh > POS_MAX)
        return call_fail(x->c, RAMET_PATH_FULL, "entries",
                         "the history has %lld entries; it is full", (long long)b->len);
    TRY(tip_check(x, b));
    if (fresh && !b->m.id)
        adk_begin(x, s, b);
    entries_write(x, s, b, w->list, w->n);
    if (b->m.id == s->head)
        recent_put(x, s, b);
    else
        recent_drop(x, s->id); /* it may have changed the session and its other branches */
    append_answer(x, b, w->list, w->n, w->out);
    return cx_status(x);
}

static ramet_status append_run(cx *x, void *arg)
{
    append_job *j = arg;
    session_row s;
    branch_row b;
    TRY(session_open_brief(x, j->session, j->w.log == RAMET_LOG_ADK ? NEED_CHANGE : NEED_WRITE, &s,
                           &b));
    return append_do(x, &s, &b, &j->w);
}

ramet_status ramet_append(ramet_call *c, const char *session, const ramet_append_in *in,
                          ramet_append_out *out)
{
    append_job j = {.session = session,
                    .w = {.log = in->log, .branch = in->branch, .n = in->n, .out = out}};
    *out = (ramet_append_out){0};
    if (!in->n)
        return call_fail(c, RAMET_INVALID, "entries", "there is nothing to append");
    if (in->log != RAMET_LOG_MAIN && in->log != RAMET_LOG_ADK)
        return call_fail(c, RAMET_INVALID, "log", "the log must be main or adk");
    TRY(check_id(c, "session", session));
    TRY(check_hash(c, in->expected_head, j.w.expected, &j.w.given));
    TRY(entries_prepare(c, in->entries, in->n, c->r->lim.batch, ramet_now(c->r), &j.w.list));
    return cx_append(c, append_run, &j);
}
