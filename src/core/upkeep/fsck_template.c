/* SPDX-License-Identifier: Apache-2.0
 *
 * fsck of templates (core/change/template.c), and of the values that sessions are filled with (F1
 * and F2 in core/model/fill.c).
 */
#include "core/upkeep/fsck.h"

#include "core/change/template.h"
#include "core/model/fill.h"

#include <string.h>

static const fsck_branch *branch_of(const fsck *f, int64_t id, int64_t session, int log)
{
    for (size_t i = 0; i < f->n_branches; i++) {
        const branch_meta *m = &f->branches[i].row.meta;
        if (m->id == id)
            return m->session == session && m->log == log ? &f->branches[i] : NULL;
    }
    return NULL;
}

static bool template_fits(const fsck *f, const template_row *t)
{
    const char **names;
    size_t n;
    const fsck_branch *b = branch_of(f, t->branch, t->session, RAMET_LOG_MAIN),
                      *adk = branch_of(f, t->adk_branch, t->session, RAMET_LOG_ADK);
    if (!template_names(f->entry, t, &names, &n) || t->most < 0)
        return false;
    return b && t->len > 0 && t->len <= b->row.len && t->adk_len >= 0 &&
           (t->adk_branch ? adk && t->adk_len <= adk->row.len : !t->adk_len);
}

void fsck_templates(fsck *f)
{
    db_stmt *q = db_query(f->tx.db, Q_template_of_tree);
    q_int(q, 1, f->tree);
    while (q_row(q)) {
        template_row t;
        arena_reset(f->entry);
        template_from(q, f->entry, &t);
        if (!fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading a template"))
            continue;
        bool dying = false;
        for (size_t i = 0; i < f->n_sessions; i++)
            dying = dying || (f->sessions[i].row.no == t.session && f->sessions[i].row.purging);
        if (!dying && !template_fits(f, &t))
            fsck_fault(f, (fsck_location){FSCK_NOWHERE}, "template %s is damaged", t.id);
    }
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the templates of a tree");
}

void fsck_values_of(fsck *f, fsck_fill *list, size_t n)
{
    for (size_t i = 0; i < f->n_branches; i++) {
        const fsck_branch *b = &f->branches[i];
        int64_t filled = b->row.filled;
        bool fits = !filled || !b->of || b->of->row.purging;
        for (size_t k = 0; k < n; k++)
            if (list[k].session == b->row.meta.session) {
                fits = fits || filled <= list[k].len[b->row.meta.log];
                list[k].used = list[k].used || filled;
            }
        if (!fits)
            fsck_fault(f, fsck_in(b, -1, NULL), "it is filled with values that there are not");
    }
    for (size_t k = 0; k < n; k++)
        if (!list[k].used)
            fsck_fault(f, (fsck_location){FSCK_NOWHERE},
                       "the session with the number %lld has values that nothing is filled with",
                       (long long)list[k].session);
}

void fsck_values(fsck *f)
{
    VEC(fsck_fill) v = {0};
    db_stmt *q = db_query(f->tx.db, Q_fill_of_tree);
    q_int(q, 1, f->tree);
    while (q_row(q)) {
        fill values;
        arena_reset(f->entry);
        fsck_fill r = {.session = q_col_int(q, 0)};
        const char *text = q_keep_text(q, 1, f->entry);
        if (!fill_parse(f->tx.call->hasher, f->entry, text, &values))
            fsck_fault(f, (fsck_location){FSCK_NOWHERE},
                       "the values of the session with the number %lld are damaged",
                       (long long)r.session);
        for (size_t i = 0; i < values.n; i++)
            for (int log = RAMET_LOG_MAIN; log <= RAMET_LOG_ADK; log++)
                if (values.levels[i].len[log] > r.len[log])
                    r.len[log] = values.levels[i].len[log];
        VEC_PUSH(f->tx.arena, &v, r);
    }
    fsck_read_ok(f, (fsck_location){FSCK_NOWHERE}, "reading the values of a tree's sessions");
    fsck_values_of(f, v.items, v.n);
}
