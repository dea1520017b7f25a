/* SPDX-License-Identifier: Apache-2.0
 *
 * A tree as records, one a line (record.h, docs/export.md).
 */
#include "core/export/export.h"

#include "core/attachment/attachment.h"
#include "core/attachment/files.h"
#include "core/call.h"
#include "core/model/key.h"

#include <stdio.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ references */

bool export_key_number(const export_tree *t, int64_t *k)
{
    const export_branch *b = export_branch_at(t, KEY_BRANCH(*k));
    if (!b || !b->n || KEY_POS(*k) < b->row.meta.base || KEY_POS(*k) >= b->len)
        return false;
    *k = KEY(b->n, KEY_POS(*k));
    return true;
}

/* A run may begin where its branch ends: nothing was appended to it yet. */
static bool run_number(const export_tree *t, int64_t *k)
{
    const export_branch *b = export_branch_at(t, KEY_BRANCH(*k));
    if (!b || !b->n || KEY_POS(*k) < b->row.meta.base || KEY_POS(*k) > b->len)
        return false;
    *k = KEY(b->n, KEY_POS(*k));
    return true;
}

static bool is(const record_column *c, const char *column)
{
    return strcmp(c->column, column) == 0;
}

/* A branch that is named for what it was: without it the row says less, and is still right. */
static bool branch_optional(record_kind kind, const record_column *c)
{
    return is(c, "over") || is(c, "first_adk") || is(c, "adk") || is(c, "adk_branch") ||
           is(c, "fa") || is(c, "ta") || (kind == RECORD_BRANCH && is(c, "parent"));
}

static bool branch_number(const row_writer *w, const record_column *c, int64_t *id)
{
    const export_branch *b = *id ? export_branch_at(w->tree, *id) : NULL;
    *id = b ? b->n : 0;
    return *id || branch_optional(w->kind, c);
}

static bool cell_number(const row_writer *w, const record_column *c, copy_cell *v)
{
    const export_session *s;
    switch (c->kind) {
    case COLUMN_SESSION:
        if (w->kind == RECORD_HOLD && !v->number)
            return true; /* of the tree */
        s = export_session_at(w->tree, v->number);
        v->number = s && s->full ? s->n : 0;
        return v->number || is(c, "merged_into");
    case COLUMN_PLACE:
        s = export_session_at(w->tree, v->number);
        v->number = s ? s->n : 0;
        return v->number || is(c, "parent");
    case COLUMN_NUMBER:
        return true; /* by the caller */
    case COLUMN_BRANCH:
        return branch_number(w, c, &v->number);
    case COLUMN_KEY:
        return w->kind == RECORD_RUN ? run_number(w->tree, &v->number)
                                     : export_key_number(w->tree, &v->number);
    case COLUMN_ENTRY:
        return !v->number || export_key_number(w->tree, &v->number);
    case COLUMN_OVERLAY:
        v->number = export_overlay_at(w->tree, v->number);
        return true;
    default:
        return true;
    }
}

bool export_row_numbers(const row_writer *w, copy_cell *row)
{
    const record_def *d = &record_defs[w->kind];
    const copy_table *t = &copy_tables[d->table];
    for (size_t i = 0; i < d->n; i++)
        if (!cell_number(w, &d->columns[i], &row[record_column_at(t, d->columns[i].column)]))
            return false;
    return true;
}

static bool row_each(void *arg, const copy_table *table, copy_cell *row)
{
    row_writer *w = arg;
    (void)table;
    if (!export_row_numbers(w, row))
        return true;
    record_open(&w->job->w, w->kind);
    record_columns(&w->job->w, w->kind, row);
    return export_line(w->job);
}

void export_records(export_job *j, export_tree *t, record_kind kind)
{
    row_writer w = {j, t, kind};
    export_rows(t->tx, j->page, &copy_tables[record_defs[kind].table], t->tree, NULL, row_each, &w);
}

/* ----------------------------------------------------- tree, sessions, branches */

void export_tree_record(export_job *j, const export_tree *t)
{
    const copy_table *table = &copy_tables[COPY_T_tree];
    copy_cell row[RECORD_COLUMNS];
    size_t id = record_column_at(table, "id");
    memcpy(row, t->row, table->n * sizeof *row);
    row[id].bytes = t->id;
    record_open(&j->w, RECORD_TREE);
    record_columns(&j->w, RECORD_TREE, row);
    jw_kint(&j->w, "sessions", t->sessions_out);
    jw_kint(&j->w, "branches", t->branches_out);
    jw_kint(&j->w, "entries", t->entries_out);
    export_line(j);
}

static void gone_write(export_job *j, const export_tree *t, const export_session *s)
{
    const export_session *p = export_session_at(t, s->parent);
    record_open(&j->w, RECORD_GONE);
    jw_kint(&j->w, "n", s->n);
    if (p)
        jw_kint(&j->w, "parent", p->n);
    int64_t since = t->row[record_column_at(&copy_tables[COPY_T_tree], "created")].number;
    jw_kint(&j->w, "created", s->hidden ? since : s->created);
    export_line(j);
}

static void tags_write(export_job *j, const export_tree *t, const export_session *s)
{
    bool any = false;
    db_stmt *q = db_query(t->tx->db, Q_tag_of);
    q_int(q, 1, t->tree);
    q_int(q, 2, s->access.no);
    while (q_row(q)) {
        if (!any) {
            jw_key(&j->w, "tags");
            jw_array(&j->w);
        }
        any = true;
        jw_str(&j->w, q_col_text(q, 0));
    }
    if (any)
        jw_end_array(&j->w);
}

/* Another tree is in the file when all that the caller may see is (X4). */
bool export_session_named(export_job *j, const export_tree *t, int64_t tree, int64_t no,
                          const char **id)
{
    session_full from;
    txn look = *t->tx;
    const export_session *s = tree == t->tree ? export_session_at(t, no) : NULL;
    look.arena = j->entry;
    if (s && s->full)
        *id = s->access.id;
    if (tree == t->tree || j->in->session || export_prunes(j))
        return s && s->full;
    bool named = session_by_no(&look, tree, no, &from) && !session_gone(&look, &from.access) &&
                 session_visible(&look, &from.access);
    if (named)
        *id = from.id;
    return named;
}

/* What a session was made by beside forking: the client, and the session that started it, when that
 * is in the file. */
static void origin_write(export_job *j, const export_tree *t, const export_session *s)
{
    const char *from;
    db_stmt *q = db_query(t->tx->db, Q_origin_get);
    q_int(q, 1, t->tree);
    q_int(q, 2, s->access.no);
    bool there = q_row(q);
    const char *client = there ? q_keep_text(q, 0, j->entry) : NULL;
    int64_t tree = there ? q_col_int(q, 1) : 0, no = there ? q_col_int(q, 2) : 0;
    const char *entry = there ? q_keep_text(q, 3, j->entry) : NULL;
    q_end(q);
    if (!there)
        return;
    jw_key(&j->w, "origin");
    jw_object(&j->w);
    jw_kstr(&j->w, "client", client ? client : "");
    if (no && export_session_named(j, t, tree, no, &from)) {
        jw_kstr(&j->w, "session", from);
        if (entry)
            jw_kstr(&j->w, "entry", entry);
    }
    jw_end_object(&j->w);
    arena_reset(j->entry);
}

void export_session_record(export_job *j, const export_tree *t, const export_session *s,
                           const copy_cell *row)
{
    record_open(&j->w, RECORD_SESSION);
    record_columns(&j->w, RECORD_SESSION, row);
    tags_write(j, t, s);
    if (!j->in->context)
        origin_write(j, t, s);
    export_line(j);
}

void export_members(export_job *j, export_tree *t)
{
    export_records(j, t, RECORD_MEMBER);
}

/* Whether a branch in the file shows values of the session: the adk log, left out, may be all that
 * did. */
static bool values_used(const export_tree *t, const export_session *s)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        const export_branch *b = &t->branches[i];
        if (b->n && b->full && b->row.filled && b->row.meta.session == s->access.no)
            return true;
    }
    return false;
}

static void session_write(export_job *j, export_tree *t, const export_session *s)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    row_writer w = {j, t, RECORD_SESSION};
    copy_cell row[RECORD_COLUMNS];
    if (!s->full) {
        gone_write(j, t, s);
        return;
    }
    memcpy(row, s->row, table->n * sizeof *row);
    row[record_column_at(table, "no")].number = s->n;
    copy_cell *values = &row[record_column_at(table, "fill")];
    values->null = values->null || !values_used(t, s);
    if (t->pruned)
        export_pruned_session(t, s, row);
    if (!export_row_numbers(&w, row)) {
        db_fail(t->tx->db, RAMET_DAMAGED, "session %s is damaged; run fsck", s->access.id);
        return;
    }
    export_session_record(j, t, s, row);
}

/* The record of a branch has the columns of its row, as far as they are in the file. */
static void branch_write(export_job *j, export_tree *t, const export_branch *b)
{
    const copy_table *table = &copy_tables[COPY_T_branch];
    const branch_row *r = &b->row;
    const export_branch *over = r->over ? export_branch_at(t, r->over) : NULL;
    bool replaced = over && over->n && over->len > r->meta.base &&
                    over->row.meta.base <= r->meta.base && b->full;
    int type = r->meta.type;
    int64_t kind = 0;
    if (t->pruned)
        export_pruned_branch(t, b, &type, &kind);
    const struct {
        const char *column;
        int64_t value;
    } numbers[] = {{"id", b->n},
                   {"session", r->meta.session},
                   {"log", r->meta.log},
                   {"parent", r->meta.parent},
                   {"base", r->meta.base},
                   {"over", replaced ? r->over : 0},
                   {"type", type},
                   {"created", r->created},
                   {"len", b->len},
                   {"touched", b->full ? r->touched : r->created},
                   {"overlay", export_branch_overlay(t, b)},
                   {"filled", b->full ? r->filled : 0}};
    row_writer w = {j, t, RECORD_BRANCH};
    copy_cell row[RECORD_COLUMNS] = {{0}};
    char start[2 * HASH_LEN + 1];
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        row[record_column_at(table, numbers[i].column)].number = numbers[i].value;
    row[record_column_at(table, "tip")] = (copy_cell){.bytes = (const char *)b->tip, .n = HASH_LEN};
    if (!export_row_numbers(&w, row)) {
        db_fail(t->tx->db, RAMET_DAMAGED, "branch b%lld is damaged; run fsck",
                (long long)r->meta.id);
        return;
    }
    record_open(&j->w, RECORD_BRANCH);
    record_columns(&j->w, RECORD_BRANCH, row);
    if (r->meta.base) {
        hex_encode(b->start, HASH_LEN, start);
        jw_kstr(&j->w, "base_hash", start);
    }
    export_line(j);
}

/* ------------------------------------------------------------------ attachments */

static void slot_put(attachment_finder *f, size_t i)
{
    size_t s = hash_text(f->list.items[i]->id) & (f->n_slots - 1);
    while (f->slots[s])
        s = (s + 1) & (f->n_slots - 1);
    f->slots[s] = (uint32_t)i + 1;
}

static bool is_listed(const attachment_finder *f, const char *id)
{
    size_t s = f->n_slots ? hash_text(id) & (f->n_slots - 1) : 0;
    for (; f->n_slots && f->slots[s]; s = (s + 1) & (f->n_slots - 1))
        if (strcmp(f->list.items[f->slots[s] - 1]->id, id) == 0)
            return true;
    return false;
}

static void list_add(attachment_finder *f, attachment_row *r)
{
    VEC_PUSH(f->tree->arena, &f->list, r);
    if (f->list.n * 2 <= f->n_slots) {
        slot_put(f, f->list.n - 1);
        return;
    }
    f->n_slots = f->n_slots ? f->n_slots * 2 : 32;
    f->slots = arena_array(f->tree->arena, f->n_slots, sizeof *f->slots);
    for (size_t i = 0; i < f->list.n; i++)
        slot_put(f, i);
}

bool export_attachment_add(attachment_finder *f, const char *id)
{
    txn look = *f->tree->tx;
    if (is_listed(f, id))
        return true;
    attachment_row *r = arena_alloc(f->tree->arena, sizeof *r);
    look.arena = f->tree->arena;
    if (!attachment_load(&look, id, r)) {
        db_fail(look.db, RAMET_DAMAGED, "attachment %s is missing; run fsck", id);
        return false;
    }
    list_add(f, r);
    return true;
}

static bool attached_each(void *arg, const copy_table *table, copy_cell *row)
{
    attachment_finder *f = arg;
    int64_t k = row[f->k].number;
    (void)table;
    return !export_key_number(f->tree, &k) || export_attachment_add(f, row[f->id].bytes);
}

/* Each once, in the order in which the tree refers to them first. */
static void attachments_find(export_job *j, export_tree *t)
{
    const copy_table *table = &copy_tables[COPY_T_attached];
    attachment_finder f = {
        .tree = t, .k = record_column_at(table, "k"), .id = record_column_at(table, "attachment")};
    export_rows(t->tx, j->page, table, t->tree, NULL, attached_each, &f);
    t->attachments = f.list.items;
    t->n_attachments = f.list.n;
}

typedef struct content_writer {
    export_job *job;
    size_t n;
    unsigned char part[RECORD_CONTENT];
    char text[BASE64_LEN(RECORD_CONTENT) + 1];
} content_writer;

static bool content_flush(content_writer *w)
{
    if (!w->n)
        return true;
    base64_encode(w->part, w->n, w->text);
    w->n = 0;
    record_open(&w->job->w, RECORD_CONTENT_PART);
    jw_kstr(&w->job->w, "data", w->text);
    return export_line(w->job);
}

static bool content_take(void *arg, const void *bytes, size_t n)
{
    content_writer *w = arg;
    const unsigned char *p = bytes;
    while (n) {
        size_t some = RECORD_CONTENT - w->n < n ? RECORD_CONTENT - w->n : n;
        memcpy(w->part + w->n, p, some);
        w->n += some;
        p += some;
        n -= some;
        if (w->n == RECORD_CONTENT && !content_flush(w))
            return false;
    }
    return true;
}

static ramet_status attachment_write(content_writer *w, const attachment_row *r)
{
    export_job *j = w->job;
    char hex[2 * HASH_LEN + 1];
    record_open(&j->w, RECORD_ATTACHMENT);
    jw_kstr(&j->w, "id", r->id);
    if (r->name[0])
        jw_kstr(&j->w, "name", r->name);
    if (r->media_type[0])
        jw_kstr(&j->w, "media_type", r->media_type);
    jw_kstr(&j->w, "owner", r->owner);
    jw_kint(&j->w, "created", r->created);
    jw_kint(&j->w, "size", r->size);
    hex_encode(r->sha, HASH_LEN, hex);
    jw_kstr(&j->w, "sha256", hex);
    if (!export_line(j))
        return RAMET_OK; /* the caller looks */
    w->n = 0;
    const char *fault = file_read(j->call, j->entry, r->sha, 0, r->size, content_take, w);
    if (!fault && content_flush(w))
        return RAMET_OK;
    if (j->stopped)
        return RAMET_OK;
    return call_fail(j->call, RAMET_DAMAGED, NULL, "attachment %s: %s", r->id, fault);
}

ramet_status export_jsonl_contents(export_job *j, const export_tree *t)
{
    content_writer *w = arena_alloc(j->tree, sizeof *w);
    ramet_status st = RAMET_OK;
    w->job = j;
    for (size_t i = 0; i < t->n_attachments && st == RAMET_OK && !j->stopped; i++) {
        st = attachment_write(w, t->attachments[i]);
        arena_reset(j->entry);
    }
    return st;
}

/* ---------------------------------------------------------------------- entries */

static void usage_put(json_writer *w, const ramet_usage *u)
{
    jw_key(w, "usage");
    jw_object(w);
    jw_kint(w, "input", u->input);
    jw_kint(w, "output", u->output);
    jw_kint(w, "cached", u->cached);
    jw_kint(w, "cost", u->cost);
    jw_kstr(w, "currency", u->currency);
    jw_end_object(w);
}

static void maybe_write(json_writer *w, const char *name, const char *text)
{
    if (text)
        jw_kstr(w, name, text);
}

/* What is left of an entry, beside its place. */
static void erased_put(json_writer *w, const ramet_erased *x, const entry_cols *cols)
{
    char digest[2 * HASH_LEN + 1];
    hex_encode(cols->erased, HASH_LEN, digest);
    jw_kstr(w, "digest", digest);
    jw_kint(w, "at", x->at);
    maybe_write(w, "by", x->by);
    maybe_write(w, "reason", *x->reason ? x->reason : NULL);
}

void export_entry_begin(export_job *j, int64_t n, const ramet_entry *e, const entry_cols *cols)
{
    json_writer *w = &j->w;
    record_open(w, e->erased ? RECORD_ERASED : RECORD_ENTRY);
    jw_kint(w, "branch", n);
    jw_kint(w, "position", e->position);
    jw_kstr(w, "id", e->id);
    jw_kstr(w, "role", ramet_role_name(e->role));
    if (strcmp(e->channel, "history") != 0)
        jw_kstr(w, "channel", e->channel);
    if (strcmp(e->format, "ramet") != 0)
        jw_kstr(w, "format", e->format);
    maybe_write(w, "turn_id", e->turn_id);
    maybe_write(w, "author", e->author);
    maybe_write(w, "client", e->client);
    jw_kint(w, "created", e->created);
    maybe_write(w, "text", cols->text);
    record_json(w, "parts", cols->parts);
    record_json(w, "body", cols->body);
    if (e->usage)
        usage_put(w, e->usage);
    record_json(w, "state_delta", e->state_delta);
}

bool export_entry_end(export_job *j, const char *hash)
{
    jw_kstr(&j->w, "prefix_hash", hash);
    return export_line(j) && export_tick(j, 1);
}

static bool entry_write(void *arg, const export_branch *b, const ramet_entry *e,
                        const entry_cols *cols, int64_t peer)
{
    row_writer *to = arg;
    export_job *j = to->job;
    export_entry_begin(j, b->n, e, cols);
    if (peer)
        jw_kint(&j->w, "peer", peer);
    if (e->copied)
        export_origins(j, to->tree, e);
    if (e->erased)
        erased_put(&j->w, e->erased, cols);
    return export_entry_end(j, e->hash);
}

/* Parents before children: the base of a child is above that of its parent. */
static int up_order(const void *a, const void *b)
{
    const export_branch *x = *(export_branch *const *)a, *y = *(export_branch *const *)b;
    if (x->row.meta.base != y->row.meta.base)
        return x->row.meta.base < y->row.meta.base ? -1 : 1;
    return x->n < y->n ? -1 : x->n > y->n;
}

static void branches_entries(export_job *j, export_tree *t)
{
    export_branch **up = arena_array(j->tree, t->n_branches + 1, sizeof *up);
    row_writer w = {j, t, RECORD_ENTRY};
    size_t n = 0;
    for (size_t i = 0; i < t->n_branches; i++)
        if (t->branches[i].n)
            up[n++] = &t->branches[i];
    if (n)
        qsort(up, n, sizeof *up, up_order);
    for (size_t i = 0; i < n; i++)
        if (!export_entries(j, t, up[i], up[i]->row.meta.base, up[i]->len, entry_write, &w))
            return;
}

/* ------------------------------------------------------ rows that need a hand */

/* Running turns are not part of the record yet; nor are the tombs of tasks. */
static bool turn_each(void *arg, const copy_table *table, copy_cell *row)
{
    int64_t status = row[record_column_at(table, "status")].number;
    return status == RAMET_TURN_RUNNING || row_each(arg, table, row);
}

static bool task_each(void *arg, const copy_table *table, copy_cell *row)
{
    return row[record_column_at(table, "deleted")].number || row_each(arg, table, row);
}

/* Only with everything that it is pinned on; the adk log of one may be left out. */
static bool template_each(void *arg, const copy_table *table, copy_cell *row)
{
    const row_writer *w = arg;
    copy_cell *adk = &row[record_column_at(table, "adk_branch")],
              *adk_len = &row[record_column_at(table, "adk_len")];
    const export_branch *b =
        export_branch_at(w->tree, row[record_column_at(table, "branch")].number);
    const export_branch *beside = adk->number ? export_branch_at(w->tree, adk->number) : NULL;
    if (!b || !b->n || b->len < row[record_column_at(table, "len")].number)
        return true;
    if (!beside || !beside->n || beside->len < adk_len->number)
        adk->number = adk_len->number = 0;
    return row_each(arg, table, row);
}

/* Names of the index of turns that begin with a word and the number of a session: that number is
 * the store's. */
static const char *const numbered[] = {"key ", "move "};

static const export_session *name_session(const export_tree *t, const char *name, const char **rest)
{
    for (size_t i = 0; i < sizeof numbered / sizeof numbered[0]; i++) {
        size_t n = strlen(numbered[i]);
        char *end;
        if (strncmp(name, numbered[i], n) != 0 || name[n] < '1' || name[n] > '9')
            continue;
        int64_t no = strtoll(name + n, &end, 10);
        const export_session *s = *end == ' ' ? export_session_at(t, no) : NULL;
        if (s) {
            *rest = end + 1;
            return s;
        }
    }
    return NULL;
}

typedef struct place_writer {
    row_writer rows;
    const export_session *of; /* NULL: names that belong to no session */
    const char *before;       /* what the names begin with */
    bool numbered;            /* there are some that belong to one */
} place_writer;

static bool place_each(void *arg, const copy_table *table, copy_cell *row)
{
    place_writer *p = arg;
    export_job *j = p->rows.job;
    size_t at = record_column_at(table, "name");
    const char *rest = NULL, *name = row[at].bytes;
    const export_session *s = name_session(p->rows.tree, name, &rest);
    if (!p->of && s) {
        p->numbered = true;
        return true;
    }
    if (!p->of)
        return row_each(&p->rows, table, row);
    if (strncmp(name, p->before, strlen(p->before)) != 0)
        return false;
    if (!s->full || !export_row_numbers(&p->rows, row))
        return true;
    row[at] = (copy_cell){.bytes = rest, .n = strlen(rest)};
    record_open(&j->w, RECORD_PLACE);
    jw_kstr(&j->w, "of", p->before[0] == 'k' ? "key" : "move");
    jw_kint(&j->w, "session", s->n);
    record_columns(&j->w, RECORD_PLACE, row);
    return export_line(j);
}

static void places_write(export_job *j, export_tree *t)
{
    const copy_table *table = &copy_tables[COPY_T_place];
    place_writer p = {.rows = {j, t, RECORD_PLACE}};
    export_rows(t->tx, j->page, table, t->tree, NULL, place_each, &p);
    for (size_t i = 0; p.numbered && i < t->n_sessions && !j->stopped; i++)
        for (size_t k = 0; k < sizeof numbered / sizeof numbered[0]; k++) {
            if (!t->sessions[i].full)
                continue;
            p.of = &t->sessions[i];
            p.before =
                arena_printf(t->arena, "%s%lld ", numbered[k], (long long)t->sessions[i].access.no);
            copy_cell after[COPY_KEY] = {{0},
                                         {.bytes = p.before, .n = strlen(p.before)},
                                         {.number = INT64_MIN},
                                         {.number = INT64_MIN}};
            export_rows(t->tx, j->page, table, t->tree, after, place_each, &p);
        }
}

/* The sides of a verdict: [{"session": n, "branch": n}, …]. False: one is not in the file. */
static bool sides_write(const row_writer *w, const char *sides, buf *out)
{
    json_doc d;
    json_writer j;
    arena *a = w->job->entry;
    if (!json_parse(a, sides, strlen(sides), 0, &d, NULL))
        return false;
    jw_init(&j, out, 0);
    jw_array(&j);
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        int64_t no = 0, id = 0;
        json_int(&d, json_get(&d, v, "session"), &no);
        json_int(&d, json_get(&d, v, "branch"), &id);
        const export_session *s = export_session_at(w->tree, no);
        const export_branch *b = export_branch_at(w->tree, id);
        if (!s || !s->full || !b || !b->n)
            return false;
        jw_object(&j);
        jw_kint(&j, "session", s->n);
        jw_kint(&j, "branch", b->n);
        jw_end_object(&j);
    }
    jw_end_array(&j);
    return true;
}

static bool verdict_each(void *arg, const copy_table *table, copy_cell *row)
{
    row_writer *w = arg;
    buf sides;
    bool go_on = true;
    buf_init(&sides, 1 << 16);
    if (sides_write(w, row[record_column_at(table, "sides")].bytes, &sides)) {
        record_open(&w->job->w, RECORD_VERDICT);
        jw_kraw(&w->job->w, "sides", sides.data);
        record_columns(&w->job->w, RECORD_VERDICT, row);
        go_on = export_line(w->job);
    }
    buf_release(&sides);
    arena_reset(w->job->entry);
    return go_on;
}

/* Notes of branches. `prune_op` is a number of the store: the file numbers the prunes of a tree in
 * the order of their notes. */
typedef struct note_writer {
    row_writer rows;
    VEC(int64_t) prunes;
} note_writer;

static int64_t prune_number(note_writer *w, int64_t op)
{
    size_t i = w->prunes.n;
    if (!op)
        return 0;
    while (i > 0 && w->prunes.items[i - 1] != op)
        i--;
    if (i)
        return (int64_t)i;
    VEC_PUSH(w->rows.tree->arena, &w->prunes, op);
    return (int64_t)w->prunes.n;
}

static bool note_each(void *arg, const copy_table *table, copy_cell *row)
{
    note_writer *w = arg;
    copy_cell *op = &row[record_column_at(table, "prune_op")];
    const export_branch *b =
        export_branch_at(w->rows.tree, row[record_column_at(table, "branch")].number);
    /* What a session left out of its file is not told, not even that it was there. */
    if (!b || !b->full)
        return true;
    op->number = prune_number(w, op->number);
    return row_each(&w->rows, table, row);
}

static void notes_write(export_job *j, export_tree *t)
{
    note_writer w = {.rows = {j, t, RECORD_BRANCH_NOTE}};
    export_rows(t->tx, j->page, &copy_tables[COPY_T_branch_note], t->tree, NULL, note_each, &w);
}

static void rows_each(export_job *j, export_tree *t, record_kind kind, export_row each)
{
    row_writer w = {j, t, kind};
    export_rows(t->tx, j->page, &copy_tables[record_defs[kind].table], t->tree, NULL, each, &w);
}

/* --------------------------------------------------------------------- the file */

ramet_status export_jsonl_begin(export_job *j)
{
    record_open(&j->w, RECORD_HEADER);
    jw_kstr(&j->w, "format", "ramet");
    jw_kint(&j->w, "version", RECORD_VERSION);
    export_line(j);
    return RAMET_OK;
}

ramet_status export_jsonl_tree(export_job *j, export_tree *t)
{
    if (j->in->context)
        return export_context_tree(j, t);
    export_tree_record(j, t);
    export_members(j, t);
    for (size_t i = 0; i < t->n_sessions; i++)
        if (t->sessions[i].n)
            session_write(j, t, &t->sessions[i]);
    export_holds(j, t);
    for (size_t i = 0; i < t->n_branches; i++)
        if (t->branches[i].n)
            branch_write(j, t, &t->branches[i]);
    branches_entries(j, t);
    if (j->stopped || db_status(t->tx->db) != RAMET_OK)
        return RAMET_OK; /* the caller looks */
    if (t->pruned) {
        export_pruned_runs(j, t);
        export_pruned_moves(j, t);
    } else {
        export_records(j, t, RECORD_RUN);
        export_records(j, t, RECORD_MOVE);
    }
    export_overlays(j, t);
    rows_each(j, t, RECORD_TURN, turn_each);
    export_prompts(j, t);
    rows_each(j, t, RECORD_TASK, task_each);
    places_write(j, t);
    export_records(j, t, RECORD_SEARCH_TEXT);
    export_records(j, t, RECORD_FEEDBACK);
    rows_each(j, t, RECORD_VERDICT, verdict_each);
    notes_write(j, t);
    rows_each(j, t, RECORD_TEMPLATE, template_each);
    attachments_find(j, t);
    return RAMET_OK;
}

ramet_status export_jsonl_end(export_job *j)
{
    uint8_t h[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    export_flush(j, true);
    sha_end(j->digest, h);
    hex_encode(h, HASH_LEN, hex);
    sha_begin(j->digest);
    record_open(&j->w, RECORD_END);
    jw_kint(&j->w, "trees", j->out->trees);
    jw_kint(&j->w, "sessions", j->out->sessions);
    jw_kint(&j->w, "entries", j->out->entries);
    jw_kstr(&j->w, "sha256", hex);
    export_line(j);
    return RAMET_OK;
}
