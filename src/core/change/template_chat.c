/* SPDX-License-Identifier: Apache-2.0
 *
 * New chats from templates, and the values that they were made with (template.c, fill.c).
 */
#include "core/change/template.h"

#include "ramet/templates.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/change/fork.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/model/fill.h"
#include "core/model/path.h"
#include "core/session/session_show.h"

#include <stdio.h>

typedef struct chat_job {
    const char *template_id;
    const ramet_template_use *in;
    fork_job fork;
    ramet_session **out;
} chat_job;

/* -------------------------------------------------------------------- values */

static const char *value_field(ramet_call *c, const char *name)
{
    return arena_printf(c->arena, "values.%.40s", name);
}

static ramet_status values_check(ramet_call *c, const ramet_template_use *in)
{
    size_t bytes = 0;
    if (in->n_values > FILL_NAMES_MAX)
        return call_fail(c, RAMET_TOO_LARGE, "values",
                         "there are at most %d values, %zu were given", FILL_NAMES_MAX,
                         in->n_values);
    for (size_t i = 0; i < in->n_values; i++) {
        const ramet_template_value *v = &in->values[i];
        TRY(check_utf8(c, "values", v->name));
        const char *field = value_field(c, v->name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(in->values[k].name, v->name) == 0)
                return call_fail(c, RAMET_INVALID, field, "%s has two values", v->name);
        if (!v->text)
            return call_fail(c, RAMET_INVALID, field, "the value of %s must be a text", v->name);
        TRY(check_utf8(c, field, v->text));
        size_t n = strlen(v->text);
        if (n > FILL_VALUE_MAX)
            return call_fail(c, RAMET_TOO_LARGE, field,
                             "the value of %s has %zu bytes, at most %zu are possible", v->name, n,
                             FILL_VALUE_MAX);
        bytes += n;
    }
    if (bytes > FILL_VALUES_MAX)
        return call_fail(c, RAMET_TOO_LARGE, "values",
                         "the values have %zu bytes, at most %zu are possible", bytes,
                         FILL_VALUES_MAX);
    return RAMET_OK;
}

static const char *names_list(arena *a, const char *const *names, size_t n)
{
    const char *list = n ? names[0] : "none";
    for (size_t i = 1; i < n && strlen(list) < 200; i++)
        list = arena_printf(a, "%s, %s", list, names[i]);
    return list;
}

static const ramet_template_value *value_named(const ramet_template_use *in, const char *name)
{
    for (size_t i = 0; i < in->n_values; i++)
        if (strcmp(in->values[i].name, name) == 0)
            return &in->values[i];
    return NULL;
}

/* The values of the placeholders, in the order of the template. */
static ramet_status level_make(txn *tx, const template_row *t, const ramet_template_use *in,
                               fill_level *l)
{
    const char **names;
    size_t n, longest = 0;
    if (!template_names(tx->arena, t, &names, &n))
        return template_damaged(tx, t);
    *l = (fill_level){.template_id = t->id,
                      .len = {t->len, t->adk_len},
                      .values = arena_array(tx->arena, n + 1, sizeof *l->values),
                      .n = n};
    for (size_t i = 0; i < n; i++) {
        const ramet_template_value *v = value_named(in, names[i]);
        if (!v)
            return call_fail(tx->call, RAMET_INVALID, value_field(tx->call, names[i]),
                             "the placeholder %s has no value", names[i]);
        l->values[i] = (fill_value){names[i], v->text, fill_escape(tx->arena, v->text)};
        if (strlen(l->values[i].escaped) > strlen(l->values[longest].escaped))
            longest = i;
    }
    for (size_t i = 0; i < in->n_values; i++) {
        bool declared = false;
        for (size_t k = 0; k < n; k++)
            declared = declared || strcmp(names[k], in->values[i].name) == 0;
        if (!declared)
            return call_fail(tx->call, RAMET_INVALID, value_field(tx->call, in->values[i].name),
                             "the template has no placeholder %.100s; it has: %s",
                             in->values[i].name,
                             names_list(tx->arena, (const char *const *)names, n));
    }
    if (n && t->most > FILL_ADDED_MAX / ((int64_t)strlen(l->values[longest].escaped) + 1))
        return call_fail(tx->call, RAMET_TOO_LARGE, value_field(tx->call, names[longest]),
                         "placeholders occur %lld times in one entry; values of %zu bytes would "
                         "make it more than %lld bytes longer",
                         (long long)t->most, strlen(l->values[longest].escaped),
                         (long long)FILL_ADDED_MAX);
    return RAMET_OK;
}

/* The values that the session itself was made with still hold for what it inherited. */
static ramet_status levels_inherit(txn *tx, const session_full *s, const branch_row *from, fill *f)
{
    branch_row adk = {0};
    *f = (fill){0};
    if (s->adk && !branch_load(tx, s->tree, s->adk, &adk))
        return txn_status(tx);
    if (!from->filled && !adk.filled)
        return RAMET_OK;
    fill old;
    if (!fill_load(tx, from, tx->arena, &old))
        return txn_status(tx);
    for (size_t i = 0; i < old.n; i++) {
        fill_level l = old.levels[i];
        l.len[RAMET_LOG_MAIN] =
            l.len[RAMET_LOG_MAIN] < from->filled ? l.len[RAMET_LOG_MAIN] : from->filled;
        l.len[RAMET_LOG_ADK] =
            l.len[RAMET_LOG_ADK] < adk.filled ? l.len[RAMET_LOG_ADK] : adk.filled;
        if (l.len[RAMET_LOG_MAIN] || l.len[RAMET_LOG_ADK])
            f->levels[f->n++] = l;
    }
    return RAMET_OK;
}

/* ---------------------------------------------------------------------- chats */

static ramet_status chat_run(txn *tx, void *arg)
{
    chat_job *j = arg;
    template_row t;
    session_full s, f;
    branch_row from, b;
    fill values;
    TRY(template_open(tx, j->template_id, NEED_READ, &t, &s));
    TRY(template_pin(tx, &t, &from));
    s.adk = t.adk_branch && fork_reads_adk(tx, &s) ? t.adk_branch : 0;
    TRY(levels_inherit(tx, &s, &from, &values));
    if (values.n == FILL_LEVELS_MAX)
        return template_damaged(tx, &t); /* it was refused when the template was made */
    TRY(level_make(tx, &t, j->in, &values.levels[values.n]));
    values.n++;
    cut_result cut = {.main = t.len,
                      .adk = t.adk_len,
                      .shown = {.entry_id = path_entry_id(tx, &from, t.len - 1),
                                .side = RAMET_AFTER,
                                .position = t.len}};
    j->fork.fill = &values;
    TRY(fork_at_pin(tx, &j->fork, &s, &from, &cut, &f, &b));
    session_known known = {.head = &b,
                           .parent_id = session_visible(tx, &s.access) ? s.id : NULL,
                           .untagged = !j->fork.n_tags};
    ANSWER(tx, j->out);
    *j->out = session_show_with(tx, &f, &known);
    return txn_status(tx);
}

ramet_status ramet_template_chat(ramet_call *c, const char *id, const ramet_template_use *in,
                                 ramet_session **out)
{
    char uuid[UUID_TEXT];
    chat_job j = {.template_id = id, .in = in, .fork = {.in = &in->fork}, .out = out};
    *out = NULL;
    TRY(check_id(c, "template", id));
    TRY(values_check(c, in));
    TRY(fork_check(c, &in->fork, &j.fork));
    j.fork.id =
        in->fork.id ? in->fork.id : arena_strdup(c->arena, uuid7(ramet_now(c->ramet), uuid));
    ramet_status st = txn_write(c, chat_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* ------------------------------------------------------------- what it was made with */

static ramet_status values_run(txn *tx, const char *session, ramet_template_origin *out)
{
    session_full s;
    fill f;
    TRY(session_open(tx, session, NEED_READ, &s));
    const char *text = share_only(tx, &s.access) ? NULL : fill_text(tx, s.tree, s.no);
    TRY(txn_status(tx));
    if (!text)
        return RAMET_OK;
    if (!fill_parse(tx->call->hasher, tx->arena, text, &f)) {
        db_fail(tx->db, RAMET_DAMAGED, "the values of session %s are damaged", s.id);
        return txn_status(tx);
    }
    const fill_level *l = &f.levels[f.n - 1];
    ramet_template_value *values = arena_array(tx->arena, l->n + 1, sizeof *values);
    for (size_t i = 0; i < l->n; i++)
        values[i] = (ramet_template_value){l->values[i].name, l->values[i].text};
    *out = (ramet_template_origin){l->template_id, values, l->n};
    return RAMET_OK;
}

ramet_status ramet_template_values(ramet_call *c, const char *session, ramet_template_origin *out)
{
    txn tx;
    *out = (ramet_template_origin){0};
    TRY(check_id(c, "session", session));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, values_run(&tx, session, out));
    if (st != RAMET_OK)
        *out = (ramet_template_origin){0};
    return st;
}
