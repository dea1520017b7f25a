/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates: pinning a session, and new chats from it (include/ramet/templates.h).
 *
 *   P1  A pin is a branch and a length, for each log. A path never changes, so what a chat begins
 *       with is fixed when the template is made.
 *   P2  A chat is a fork with values (core/model/fill.c). It refers to entries, never to the
 *       template, so a template can be changed or removed at any time.
 *   P3  A template belongs to its session: users who may see that may see it, and gc removes them
 *       together.
 */
#include "core/change/template.h"

#include "ramet/templates.h"
#include "core/call.h"
#include "core/change/move.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/idempotency.h"
#include "core/model/entry.h"
#include "core/model/fill.h"

#include <stdio.h>
#include <stdlib.h>

#define TEMPLATES_MAX 1000 /* of a session */
#define LIST_CHUNK 256
#define COUNT_STEP 512

/* ---------------------------------------------------------------------- rows */

void template_from(db_stmt *q, arena *a, template_row *t)
{
    *t = (template_row){.id = q_need_text(q, 0, a, "template.id"),
                        .tree = q_col_int(q, 1),
                        .session = q_col_int(q, 2),
                        .branch = q_col_int(q, 3),
                        .len = q_col_int(q, 4),
                        .adk_branch = q_col_int(q, 5),
                        .adk_len = q_col_int(q, 6),
                        .name = q_need_text(q, 7, a, "template.name"),
                        .placeholders = q_need_text(q, 8, a, "template.placeholders"),
                        .most = q_col_int(q, 9),
                        .who = q_need_text(q, 10, a, "template.who"),
                        .created = q_col_int(q, 11),
                        .updated = q_col_int(q, 12)};
}

bool template_names(arena *a, const template_row *t, const char ***out, size_t *n)
{
    json_doc d;
    *out = NULL;
    *n = 0;
    if (!json_parse(a, t->placeholders, strlen(t->placeholders), STORED_DEPTH, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_ARRAY) || d.nodes[0].count > FILL_NAMES_MAX)
        return false;
    *out = arena_array(a, d.nodes[0].count + 1, sizeof **out);
    for (const json_node *v = json_first(&d, &d.nodes[0]); v; v = json_next(&d, &d.nodes[0], v))
        if (!((*out)[(*n)++] = json_text(a, &d, v)))
            return false;
    return true;
}

static const char *names_write(arena *a, const char *const *names, size_t n)
{
    buf out;
    json_writer w;
    buf_init(&out, (size_t)1 << 20);
    jw_init(&w, &out, 0);
    jw_array(&w);
    for (size_t i = 0; i < n; i++)
        jw_str(&w, names[i]);
    jw_end_array(&w);
    return buf_keep(&out, a);
}

static ramet_status not_found(txn *tx, const char *id)
{
    return call_fail(tx->call, RAMET_TEMPLATE_NOT_FOUND, "template", "there is no template %s", id);
}

ramet_status template_open(txn *tx, const char *id, need what, template_row *t, session_full *s)
{
    session_full row;
    db_stmt *q = db_query(tx->db, Q_template_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found)
        template_from(q, tx->arena, t);
    q_end(q);
    TRY(txn_status(tx));
    if (!found || !session_by_no(tx, t->tree, t->session, &row) || !row.id) {
        TRY(txn_status(tx));
        return not_found(tx, id);
    }
    ramet_status st = session_open(tx, row.id, what, s);
    return st == RAMET_SESSION_NOT_FOUND || st == RAMET_HIDDEN ? not_found(tx, id) : st;
}

ramet_status template_damaged(txn *tx, const template_row *t)
{
    db_fail(tx->db, RAMET_DAMAGED, "template %s is damaged", t->id);
    return txn_status(tx);
}

ramet_status template_pin(txn *tx, const template_row *t, branch_row *b)
{
    if (!branch_load(tx, t->tree, t->branch, b) || b->meta.session != t->session ||
        b->meta.log != RAMET_LOG_MAIN || t->len < 1 || t->len > b->len) {
        TRY(txn_status(tx));
        return template_damaged(tx, t);
    }
    return RAMET_OK;
}

static ramet_status template_show(txn *tx, const template_row *t, const char *session,
                                  ramet_template *out)
{
    branch_row b;
    const char **names;
    size_t n;
    TRY(template_pin(tx, t, &b));
    if (!template_names(tx->arena, t, &names, &n))
        return template_damaged(tx, t);
    *out = (ramet_template){.id = t->id,
                            .name = t->name,
                            .session = session,
                            .entry_id = path_entry_id(tx, &b, t->len - 1),
                            .length = t->len,
                            .placeholders = (const char *const *)names,
                            .n_placeholders = n,
                            .by = *t->who ? t->who : NULL,
                            .created = t->created,
                            .updated = t->updated};
    return txn_status(tx);
}

/* -------------------------------------------------------------------- checks */

static ramet_status name_check(ramet_call *c, size_t i, const char *name)
{
    char field[48];
    uint32_t cp;
    snprintf(field, sizeof field, "placeholders[%zu]", i);
    size_t n = name ? strlen(name) : 0;
    if (!n || n > FILL_NAME_MAX)
        return call_fail(c, RAMET_INVALID, field, "a placeholder must have 1-%d bytes",
                         FILL_NAME_MAX);
    TRY(check_utf8(c, field, name));
    for (size_t at = 0; at < n;) {
        at += utf8_next(name + at, n - at, &cp);
        if (cp <= ' ' || cp == 0x7f || cp == '{' || cp == '}' || utf8_is_space(cp))
            return call_fail(c, RAMET_INVALID, field,
                             "a placeholder must have no braces, spaces and control characters: %s",
                             name);
    }
    return RAMET_OK;
}

static ramet_status names_check(ramet_call *c, const char *const *names, size_t n)
{
    if (n > FILL_NAMES_MAX)
        return call_fail(c, RAMET_TOO_LARGE, "placeholders",
                         "a template has at most %d placeholders, %zu were given", FILL_NAMES_MAX,
                         n);
    for (size_t i = 0; i < n; i++) {
        TRY(name_check(c, i, names[i]));
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[k], names[i]) == 0)
                return call_fail(c, RAMET_INVALID, "placeholders", "%s is declared twice",
                                 names[i]);
    }
    return RAMET_OK;
}

static ramet_status title_check(ramet_call *c, const char *name)
{
    if (!name || !*name)
        return call_fail(c, RAMET_INVALID, "name", "a template needs a name");
    return check_chars(c, "name", name, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG);
}

/* ------------------------------------------------------------------ pinning */

/* What a pin holds, found in a read before the write: it may be long. */
typedef struct pin {
    const char *entry_id; /* NULL: the last one */
    const char *const *names;
    size_t n_names;
    template_row row; /* branch, len, adk_branch, adk_len, most */
} pin;

typedef struct count_scan {
    const fill_level *level;
    arena *scratch;
    int64_t seen, most;
} count_scan;

static bool count_take(void *arg, ramet_entry *e)
{
    count_scan *s = arg;
    int64_t n = fill_count(s->level, e);
    s->most = n > s->most ? n : s->most;
    s->seen = e->position;
    return arena_used(s->scratch) < PAGE_BYTES;
}

static int64_t count_most(txn *tx, const branch_row *b, int64_t len, const fill_level *level)
{
    count_scan s = {.level = level, .scratch = arena_new()};
    for (int64_t at = 0; at < len && db_status(tx->db) == RAMET_OK; at = s.seen + 1) {
        s.seen = at - 1;
        path_read(tx, b, at, at + COUNT_STEP < len ? at + COUNT_STEP : len, s.scratch, count_take,
                  &s);
        arena_reset(s.scratch);
    }
    arena_free(s.scratch);
    return s.most;
}

/* Counts the placeholders of the entries that are pinned. */
static void pin_count(txn *tx, pin *p, const branch_row *b)
{
    branch_row adk;
    fill_level level = {.values = arena_array(tx->arena, p->n_names + 1, sizeof *level.values),
                        .n = p->n_names};
    for (size_t i = 0; i < p->n_names; i++)
        level.values[i] = (fill_value){p->names[i], "", ""};
    p->row.most = p->n_names ? count_most(tx, b, p->row.len, &level) : 0;
    if (p->n_names && p->row.adk_branch && branch_load(tx, b->meta.tree, p->row.adk_branch, &adk)) {
        int64_t most = count_most(tx, &adk, p->row.adk_len, &level);
        p->row.most = most > p->row.most ? most : p->row.most;
    }
}

/* An error about `field`, as it is called elsewhere, is about `here` of these calls. */
static ramet_status named(txn *tx, ramet_status st, const char *field, const char *here)
{
    if (st != RAMET_OK && strcmp(tx->call->err.field, field) == 0)
        snprintf(tx->call->err.field, sizeof tx->call->err.field, "%s", here);
    return st;
}

/* `at` of the pin, on the path of the head of its session. */
static ramet_status pin_find(txn *tx, const session_full *s, pin *p, branch_row *b)
{
    cut_result cut;
    fill f;
    ramet_at at = {p->entry_id, RAMET_AFTER}, adk_at = {0};
    TRY(branch_open(tx, &s->brief, RAMET_LOG_MAIN, 0, b));
    if (!b->len)
        return call_fail(tx->call, RAMET_INVALID, "session_id",
                         "session %s has no entries that a chat could begin with", s->id);
    if (b->filled && fill_load(tx, b, tx->arena, &f) && f.n == FILL_LEVELS_MAX)
        return call_fail(tx->call, RAMET_TOO_LARGE, "session_id",
                         "session %s was made from %d templates, each from a chat of the one "
                         "before; that is the most there can be",
                         s->id, FILL_LEVELS_MAX);
    TRY(named(tx, cut_both(tx, s, b, &at, &adk_at, RAMET_CUT_EXACT, &cut), "at.entry_id",
              "entry_id"));
    p->row.branch = b->meta.id;
    p->row.len = cut.main;
    p->row.adk_branch = cut.adk ? s->adk : 0;
    p->row.adk_len = cut.adk;
    return txn_status(tx);
}

static ramet_status pin_read(txn *tx, const char *session, pin *p)
{
    session_full s;
    branch_row b;
    TRY(named(tx, session_open(tx, session, NEED_CHANGE, &s), "session", "session_id"));
    TRY(pin_find(tx, &s, p, &b));
    pin_count(tx, p, &b);
    return txn_status(tx);
}

/* --------------------------------------------------------------------- adding */

typedef struct add_job {
    const ramet_template_in *in;
    const char *id;
    pin pin;
    ramet_template **out;
} add_job;

static ramet_status room_check(txn *tx, const session_full *s)
{
    db_stmt *q = db_query(tx->db, Q_template_count);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    int64_t n = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    if (n >= TEMPLATES_MAX)
        return call_fail(tx->call, RAMET_TOO_LARGE, "session_id",
                         "session %s has %lld templates, the most that it may have", s->id,
                         (long long)n);
    return txn_status(tx);
}

static ramet_status add_run(txn *tx, void *arg)
{
    add_job *j = arg;
    session_full s;
    branch_row b;
    TRY(named(tx, session_open(tx, j->in->session, NEED_CHANGE, &s), "session", "session_id"));
    TRY(room_check(tx, &s));
    template_row t = j->pin.row;
    t.id = arena_strdup(tx->arena, j->id);
    t.name = arena_strdup(tx->arena, j->in->name);
    t.placeholders = names_write(tx->arena, j->pin.names, j->pin.n_names);
    t.tree = s.tree;
    t.session = s.no;
    t.who = tx->call->user ? arena_strdup(tx->arena, tx->call->user) : "";
    t.created = t.updated = tx->now;
    TRY(template_pin(tx, &t, &b));
    db_stmt *q = db_query(tx->db, Q_template_add);
    q_text(q, 1, t.id);
    q_int(q, 2, t.tree);
    q_int(q, 3, t.session);
    q_int(q, 4, t.branch);
    q_int(q, 5, t.len);
    q_int(q, 6, t.adk_branch);
    q_int(q, 7, t.adk_len);
    q_text(q, 8, t.name);
    q_text(q, 9, t.placeholders);
    q_int(q, 10, t.most);
    q_text(q, 11, t.who);
    q_int(q, 12, t.created);
    q_run(q);
    ANSWER(tx, j->out);
    *j->out = arena_alloc(tx->arena, sizeof **j->out);
    return template_show(tx, &t, s.id, *j->out);
}

ramet_status ramet_template_add(ramet_call *c, const ramet_template_in *in, ramet_template **out)
{
    char uuid[UUID_TEXT];
    txn tx;
    bool done;
    add_job j = {
        .in = in,
        .pin = {.entry_id = in->entry_id, .names = in->placeholders, .n_names = in->n_placeholders},
        .out = out};
    *out = NULL;
    TRY(check_id(c, "session_id", in->session));
    TRY(in->entry_id ? check_id(c, "entry_id", in->entry_id) : RAMET_OK);
    TRY(title_check(c, in->name));
    TRY(names_check(c, in->placeholders, in->n_placeholders));
    TRY(idempotency_early(c, &done));
    if (done)
        return RAMET_OK;
    if (!txn_read(&tx, c))
        return c->err.status;
    TRY(txn_done(&tx, pin_read(&tx, in->session, &j.pin)));
    j.id = uuid7(ramet_now(c->ramet), uuid);
    ramet_status st = txn_write(c, add_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* -------------------------------------------------------------------- reading */

static ramet_status get_run(txn *tx, const char *id, ramet_template **out)
{
    template_row t;
    session_full s;
    TRY(template_open(tx, id, NEED_READ, &t, &s));
    *out = arena_alloc(tx->arena, sizeof **out);
    return template_show(tx, &t, s.id, *out);
}

ramet_status ramet_template_get(ramet_call *c, const char *id, ramet_template **out)
{
    txn tx;
    *out = NULL;
    TRY(check_id(c, "template", id));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, get_run(&tx, id, out));
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

typedef VEC(template_row) template_rows;

/* The next chunk of a source, before `from`. True: there may be more. */
static bool rows_fetch(txn *tx, sql_id source, const char *from, template_rows *out)
{
    size_t before = out->n;
    int n = 1;
    db_stmt *q = db_query(tx->db, source);
    if (source != Q_template_all)
        q_text(q, n++, tx->call->user);
    q_text(q, n++, from);
    q_int(q, n, LIST_CHUNK);
    while (q_row(q)) {
        template_row t;
        template_from(q, tx->arena, &t);
        VEC_PUSH(tx->arena, out, t);
    }
    return out->n - before == LIST_CHUNK;
}

static int newest_first(const void *a, const void *b)
{
    return strcmp(((const template_row *)b)->id, ((const template_row *)a)->id);
}

/* The templates before `from`, newest first, as far down as every source was read; NULL when
 * nothing is left, else where to go on. */
static const char *rows_next(txn *tx, const char *from, template_rows *out)
{
    const sql_id of_user[] = {Q_template_of_member, Q_template_of_owner}, of_all = Q_template_all;
    const sql_id *sources = tx->call->user ? of_user : &of_all;
    const char *down_to = NULL;
    out->n = 0;
    for (size_t i = 0; i < (tx->call->user ? 2 : 1); i++)
        if (rows_fetch(tx, sources[i], from, out)) {
            const char *last = out->items[out->n - 1].id;
            down_to = down_to && strcmp(down_to, last) > 0 ? down_to : last;
        }
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, newest_first);
    size_t kept = 0;
    for (size_t i = 0; i < out->n; i++)
        if ((!down_to || strcmp(out->items[i].id, down_to) >= 0) &&
            (!kept || strcmp(out->items[kept - 1].id, out->items[i].id) != 0))
            out->items[kept++] = out->items[i];
    out->n = kept;
    return down_to;
}

static ramet_status list_run(txn *tx, const char *from, size_t limit, ramet_template **out,
                             size_t *n, const char **next)
{
    template_rows rows = {0};
    *out = arena_array(tx->arena, limit, sizeof **out);
    while (from && db_status(tx->db) == RAMET_OK) {
        from = rows_next(tx, from, &rows);
        for (size_t i = 0; i < rows.n; i++) {
            session_full s;
            const template_row *t = &rows.items[i];
            if (!session_by_no(tx, t->tree, t->session, &s) || session_gone(tx, &s.access) ||
                !s.id || !session_visible(tx, &s.access))
                continue;
            if (*n == limit) {
                *next = (*out)[limit - 1].id;
                return txn_status(tx);
            }
            TRY(template_show(tx, t, s.id, &(*out)[(*n)++]));
        }
    }
    return txn_status(tx);
}

ramet_status ramet_templates(ramet_call *c, int limit, const char *cursor, ramet_template **out,
                             size_t *n, const char **next)
{
    txn tx;
    int max;
    *out = NULL;
    *next = NULL;
    *n = 0;
    TRY(check_limit(c, limit, 1000, 50, &max));
    if (cursor &&
        (strlen(cursor) != UUID_TEXT - 1 || strspn(cursor, "0123456789abcdef-") != UUID_TEXT - 1))
        return call_fail(c, RAMET_BAD_CURSOR, "cursor", "the cursor was not made by this list");
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st =
        txn_done(&tx, list_run(&tx, cursor ? cursor : "~", (size_t)max, out, n, next));
    if (st != RAMET_OK) {
        *out = NULL;
        *n = 0;
    }
    return st;
}

/* ------------------------------------------------------------------- changing */

typedef struct update_job {
    const char *id;
    const ramet_template_patch *in;
    bool repins; /* the pin was found anew, for the template as it was read: */
    template_row read;
    pin pin;
    ramet_template **out;
} update_job;

/* What the patch changes of the pin: the entry, the names, or both. */
static ramet_status update_read(txn *tx, update_job *j)
{
    template_row t;
    session_full s;
    branch_row b;
    TRY(template_open(tx, j->id, NEED_CHANGE, &t, &s));
    j->read = t;
    j->pin = (pin){.entry_id = j->in->entry_id,
                   .names = j->in->placeholders,
                   .n_names = j->in->n_placeholders,
                   .row = t};
    if (!j->in->set_placeholders) {
        const char **names;
        if (!template_names(tx->arena, &t, &names, &j->pin.n_names))
            return template_damaged(tx, &t);
        j->pin.names = (const char *const *)names;
    }
    TRY(j->in->entry_id ? pin_find(tx, &s, &j->pin, &b) : template_pin(tx, &t, &b));
    pin_count(tx, &j->pin, &b);
    return txn_status(tx);
}

static ramet_status update_run(txn *tx, void *arg)
{
    update_job *j = arg;
    template_row t;
    session_full s;
    branch_row b;
    TRY(template_open(tx, j->id, NEED_CHANGE, &t, &s));
    /* What was counted is what the template was then. */
    if (j->repins && (t.branch != j->read.branch || t.len != j->read.len ||
                      strcmp(t.placeholders, j->read.placeholders) != 0))
        return call_fail(tx->call, RAMET_BUSY, "template",
                         "template %s was changed at the same time; try again", t.id);
    if (j->repins) {
        t.branch = j->pin.row.branch;
        t.len = j->pin.row.len;
        t.adk_branch = j->pin.row.adk_branch;
        t.adk_len = j->pin.row.adk_len;
        t.most = j->pin.row.most;
        t.placeholders = names_write(tx->arena, j->pin.names, j->pin.n_names);
    }
    if (j->in->name)
        t.name = arena_strdup(tx->arena, j->in->name);
    t.updated = tx->now > t.updated ? tx->now : t.updated;
    TRY(template_pin(tx, &t, &b));
    db_stmt *q = db_query(tx->db, Q_template_set);
    q_text(q, 1, t.id);
    q_int(q, 2, t.branch);
    q_int(q, 3, t.len);
    q_int(q, 4, t.adk_branch);
    q_int(q, 5, t.adk_len);
    q_text(q, 6, t.name);
    q_text(q, 7, t.placeholders);
    q_int(q, 8, t.most);
    q_int(q, 9, t.updated);
    q_run(q);
    ANSWER(tx, j->out);
    *j->out = arena_alloc(tx->arena, sizeof **j->out);
    return template_show(tx, &t, s.id, *j->out);
}

ramet_status ramet_template_update(ramet_call *c, const char *id, const ramet_template_patch *in,
                                   ramet_template **out)
{
    txn tx;
    bool done;
    update_job j = {.id = id, .in = in, .out = out, .repins = in->entry_id || in->set_placeholders};
    *out = NULL;
    TRY(check_id(c, "template", id));
    TRY(in->name ? title_check(c, in->name) : RAMET_OK);
    TRY(in->entry_id ? check_id(c, "entry_id", in->entry_id) : RAMET_OK);
    TRY(in->set_placeholders ? names_check(c, in->placeholders, in->n_placeholders) : RAMET_OK);
    TRY(idempotency_early(c, &done));
    if (done)
        return RAMET_OK;
    if (j.repins) {
        if (!txn_read(&tx, c))
            return c->err.status;
        TRY(txn_done(&tx, update_read(&tx, &j)));
    }
    ramet_status st = txn_write(c, update_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

static ramet_status remove_run(txn *tx, void *arg)
{
    template_row t;
    session_full s;
    TRY(template_open(tx, arg, NEED_CHANGE, &t, &s));
    db_stmt *q = db_query(tx->db, Q_template_del);
    q_text(q, 1, t.id);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_template_remove(ramet_call *c, const char *id)
{
    TRY(check_id(c, "template", id));
    return txn_write(c, remove_run, (void *)id);
}
