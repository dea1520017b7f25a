/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading a file that is imported: its lines, the model of a tree, and single records (import.h).
 */
#include "core/export/import.h"

#include "core/call.h"
#include "core/check.h"
#include "core/model/fill.h"
#include "core/model/key.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define READ_BYTES ((size_t)256 << 10)
#define CLOCK_SKEW_US (INT64_C(300) * 1000000) /* by which another machine's clock may be ahead */
#define LINE_DEPTH 8 /* levels of a record around a value that was given by a caller */

ramet_status import_damaged(import_job *j, int64_t line, const char *fmt, ...)
{
    char what[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    utf8_trim(what);
    return call_fail(j->call, RAMET_IMPORT_DAMAGED, NULL, "line %lld: %s", (long long)line, what);
}

/* ---------------------------------------------------------------------- lines */

void reader_init(import_reader *r, int fd, size_t most)
{
    *r = (import_reader){.fd = fd, .most = most, .line = 1};
}

void reader_release(import_reader *r)
{
    free(r->p);
    r->p = NULL;
}

void reader_seek(import_reader *r, int64_t offset, int64_t line)
{
    r->at = r->n = 0;
    r->last = NULL;
    r->offset = offset;
    r->line = line;
}

/* Room for more behind what was not given out yet. */
static void reader_room(import_reader *r)
{
    if (r->at && r->n > r->at)
        memmove(r->p, r->p + r->at, r->n - r->at);
    r->n -= r->at;
    r->at = 0;
    if (r->cap - r->n > READ_BYTES)
        return;
    r->cap = r->cap ? r->cap * 2 : 2 * READ_BYTES;
    r->p = xrealloc(r->p, r->cap);
}

/* False at the end of the file, or when it cannot be read. */
static bool reader_fill(import_job *j, import_reader *r, ramet_status *st)
{
    reader_room(r);
    ssize_t got;
    do
        got = pread(r->fd, r->p + r->n, r->cap - r->n - 1, r->offset + (int64_t)r->n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        *st = call_fail(j->call, RAMET_IO, NULL, "the spool cannot be read: %s", strerror(errno));
    if (got > 0)
        r->n += (size_t)got;
    return got > 0;
}

const char *reader_next(import_job *j, import_reader *r, size_t *n, ramet_status *st)
{
    size_t seen = 0;
    *st = RAMET_OK;
    if (r->digest && r->last)
        sha_add(r->digest, r->last, r->last_n + 1);
    r->last = NULL;
    for (;;) {
        char *start = r->p + r->at, *end = NULL;
        if (r->n - r->at > seen)
            end = memchr(start + seen, '\n', r->n - r->at - seen);
        seen = r->n - r->at;
        if (end) {
            *n = (size_t)(end - start);
            r->last = start;
            r->last_n = *n;
            r->at += *n + 1;
            r->offset += (int64_t)*n + 1;
            r->line++;
            return start;
        }
        if (seen > r->most) {
            *st = import_damaged(j, r->line, "it has more than %zu bytes", r->most);
            return NULL;
        }
        /* The offset is that of the line; what was read of it is in front of the buffer. */
        if (!reader_fill(j, r, st)) {
            if (*st == RAMET_OK && seen)
                *st = import_damaged(j, r->line, "the file ends in the middle of it");
            return NULL;
        }
    }
}

ramet_status import_next(import_job *j, import_reader *in, arena *a, record *r)
{
    size_t n;
    ramet_status st;
    int64_t line = in->line;
    const char *text = reader_next(j, in, &n, &st);
    *r = (record){.kind = RECORD_UNKNOWN, .arena = a};
    if (!text)
        return st;
    if (!record_parse(r, a, text, n, j->call->ramet->limits.json_depth + LINE_DEPTH))
        return import_damaged(j, line, "%s", r->fault);
    return RAMET_OK;
}

/* ------------------------------------------------------------ a tree's model */

ramet_status import_checked(import_job *j, int64_t line, ramet_status st)
{
    char what[sizeof j->call->err.message];
    if (st == RAMET_OK)
        return st;
    snprintf(what, sizeof what, "%s", j->call->err.message);
    return import_damaged(j, line, "%s", what);
}

static ramet_status tree_model(import_job *j, record *r, int64_t line)
{
    const copy_table *t = &copy_tables[COPY_T_tree];
    copy_cell row[RECORD_COLUMNS];
    record_row(r, row);
    arena_reset(j->tree);
    j->t = (import_tree){.line = line,
                         .created = row[record_column_at(t, "created")].number,
                         .n_sessions = record_int(r, "sessions", 1, INT32_MAX),
                         .n_branches = record_int(r, "branches", 1, INT32_MAX),
                         .n_entries = record_int(r, "entries", 0, INT64_MAX / 4)};
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    j->t.id = arena_strdup(j->tree, row[record_column_at(t, "id")].bytes);
    j->t.sandbox = arena_strdup(j->tree, row[record_column_at(t, "sandbox")].bytes);
    TRY(import_checked(j, line, check_id(j->call, "id", j->t.id)));
    return j->t.sandbox[0] ? import_checked(j, line, check_id(j->call, "sandbox", j->t.sandbox))
                           : RAMET_OK;
}

/* Rows are added one by one: their number in the tree's record may be a lie. */
void *import_grow(arena *a, void *items, int64_t have, size_t size)
{
    size_t n = (size_t)have;
    if (n & (n - 1)) /* room is doubled at 1, 2, 4, … */
        return items;
    char *more = arena_array(a, n ? n * 2 : 1, size);
    if (n)
        memcpy(more, items, n * size);
    return more;
}

static ramet_status session_add(import_job *j, record *r, int64_t line, const import_session *s,
                                int64_t n)
{
    import_tree *t = &j->t;
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    if (n != t->have_sessions + 1 || n > t->n_sessions)
        return import_damaged(j, line, "session %lld is out of order", (long long)n);
    /* A new session is never older than the last one of the store. */
    if (s->created > ramet_now(j->call->ramet) + CLOCK_SKEW_US)
        return import_damaged(j, line, "session %lld was created in the future", (long long)n);
    if (s->parent > t->n_sessions || s->parent == n)
        return import_damaged(j, line, "session %lld was forked from no session of the tree",
                              (long long)n);
    t->sessions = import_grow(j->tree, t->sessions, t->have_sessions, sizeof *t->sessions);
    t->sessions[t->have_sessions++] = *s;
    t->have_full += !s->gone;
    return RAMET_OK;
}

static ramet_status session_limits(import_job *j, int64_t line, const copy_cell *row)
{
    const copy_table *t = &copy_tables[COPY_T_session];
    ramet_call *c = j->call;
    const ramet_limits *l = &c->ramet->limits;
#define CELL(name) row[record_column_at(t, name)]
#define TEXT(name) (CELL(name).null ? NULL : CELL(name).bytes)
    TRY(import_checked(j, line, check_id(c, "id", TEXT("id"))));
    TRY(import_checked(j, line, check_id(c, "owner", TEXT("owner"))));
    TRY(import_checked(j, line,
                       check_chars(c, "title", TEXT("title"), l->title_chars, RAMET_TOO_LARGE)));
    TRY(import_checked(j, line,
                       check_chars(c, "reason", TEXT("reason"), l->reason_chars, RAMET_TOO_LARGE)));
    TRY(import_checked(j, line,
                       check_chars(c, "from_title", TEXT("from_title"), 1000, RAMET_TOO_LARGE)));
    TRY(import_checked(j, line, check_object(c, "metadata", TEXT("metadata"))));
    TRY(import_checked(j, line, check_object(c, "agent_config", TEXT("agent_config"))));
    if (TEXT("agent"))
        TRY(import_checked(j, line, check_chars(c, "agent", TEXT("agent"), 255, RAMET_TOO_LARGE)));
    if (TEXT("fork_entry"))
        TRY(import_checked(j, line, check_id(c, "fork_entry", TEXT("fork_entry"))));
    fill values;
    if (TEXT("fill") && !fill_parse(c->hasher, c->arena, TEXT("fill"), &values))
        return import_damaged(j, line, "\"values\" is damaged");
    if (CELL("archived").number > INT32_MAX)
        return import_damaged(j, line, "\"archived\" is out of range");
#undef TEXT
#undef CELL
    return RAMET_OK;
}

/* Tags, and what made it; both are written with the session's row (import_end.c). */
static ramet_status session_rest(import_job *j, record *r, int64_t line)
{
    const json_node *tags = json_get(&r->doc, r->doc.nodes, "tags"),
                    *origin = json_get(&r->doc, r->doc.nodes, "origin");
    r->taken += (tags != NULL) + (origin != NULL);
    if ((tags && !json_is(tags, JSON_ARRAY)) || (origin && !json_is(origin, JSON_OBJECT)))
        return import_damaged(j, line, "\"tags\" must be an array and \"origin\" an object");
    size_t n = tags ? tags->count : 0, i = 0, made;
    const char **list = arena_array(r->arena, n + 1, sizeof *list), **norm;
    for (const json_node *v = tags ? json_first(&r->doc, tags) : NULL; v;
         v = json_next(&r->doc, tags, v)) {
        list[i] = json_text(r->arena, &r->doc, v);
        if (!list[i++])
            return import_damaged(j, line, "a tag must be a text");
    }
    TRY(import_checked(j, line, check_tags(j->call, (const char *const *)list, n, &norm, &made)));
    for (i = 0; i < n && made == n; i++)
        if (strcmp(list[i], norm[i]) != 0)
            made = 0;
    if (made != n)
        return import_damaged(j, line, "tags must be trimmed, in lower case, sorted and different");
    return RAMET_OK;
}

static ramet_status session_model(import_job *j, record *r, int64_t line)
{
    const copy_table *t = &copy_tables[COPY_T_session];
    copy_cell row[RECORD_COLUMNS];
    record_row(r, row);
    if (!r->fault[0]) {
        TRY(session_limits(j, line, row));
        TRY(session_rest(j, r, line));
    }
#define CELL(name) row[record_column_at(t, name)]
    import_session s = {.parent = CELL("parent").number,
                        .has_values = !CELL("fill").null,
                        .created = CELL("created").number,
                        .line = line,
                        .id = arena_strdup(j->tree, CELL("id").bytes),
                        .type = (int)CELL("type").number,
                        .head = CELL("head").number,
                        .adk = CELL("adk").number,
                        .first = CELL("first").number,
                        .first_adk = CELL("first_adk").number,
                        .undo = CELL("undo").number,
                        .redo = CELL("redo").number,
                        .moves = CELL("moves").number,
                        .merged_into = CELL("merged_into").number};
    fill values = {.n = 0};
    if (s.has_values && !r->fault[0])
        fill_parse(j->call->hasher, j->line, CELL("fill").bytes, &values);
#undef CELL
    for (size_t i = 0; i < values.n; i++)
        for (int log = RAMET_LOG_MAIN; log <= RAMET_LOG_ADK; log++)
            if (values.levels[i].len[log] > s.fill_len[log])
                s.fill_len[log] = values.levels[i].len[log];
    return session_add(j, r, line, &s, row[record_column_at(t, "no")].number);
}

static ramet_status gone_model(import_job *j, record *r, int64_t line)
{
    import_session s = {.gone = true, .line = line};
    int64_t n = record_int(r, "n", 1, INT32_MAX);
    s.parent = record_count(r, "parent", INT32_MAX);
    s.created = record_int(r, "created", 0, INT64_MAX / 4);
    return session_add(j, r, line, &s, n);
}

static ramet_status branch_model(import_job *j, record *r, int64_t line)
{
    const copy_table *table = &copy_tables[COPY_T_branch];
    import_tree *t = &j->t;
    copy_cell row[RECORD_COLUMNS];
    record_row(r, row);
#define CELL(name) row[record_column_at(table, name)].number
    import_branch b = {.session = CELL("session"),
                       .parent = CELL("parent"),
                       .over = CELL("over"),
                       .base = CELL("base"),
                       .len = CELL("len"),
                       .created = CELL("created"),
                       .touched = CELL("touched"),
                       .overlay = CELL("overlay"),
                       .filled = CELL("filled"),
                       .log = (int)CELL("log"),
                       .type = (int)CELL("type"),
                       .next = CELL("base"),
                       .line = line};
    int64_t n = CELL("id");
#undef CELL
    if (b.base)
        record_hash(r, "base_hash", b.start);
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    memcpy(b.tip, row[record_column_at(table, "tip")].bytes, HASH_LEN);
    memcpy(b.at, b.start, HASH_LEN);
    if (n != t->have_branches + 1 || n > t->n_branches)
        return import_damaged(j, line, "branch %lld is out of order", (long long)n);
    if (!b.session || b.session > t->have_sessions)
        return import_damaged(j, line, "branch %lld belongs to no session of the tree",
                              (long long)n);
    if (b.overlay && b.log != RAMET_LOG_MAIN)
        return import_damaged(j, line, "overlays are of the log main alone");
    if (b.filled > b.base ||
        (b.filled && !t->sessions[b.session - 1].gone && !t->sessions[b.session - 1].has_values))
        return import_damaged(j, line, "branch %lld has no values to be filled with", (long long)n);
    if (b.parent > t->n_branches || b.over > t->n_branches || b.parent == n || b.over == n ||
        (b.parent == 0) != (b.base == 0) || b.len < b.base || b.len > POS_MAX)
        return import_damaged(j, line, "branch %lld begins or ends nowhere", (long long)n);
    t->branches = import_grow(j->tree, t->branches, t->have_branches, sizeof *t->branches);
    t->branches[t->have_branches++] = b;
    return RAMET_OK;
}

ramet_status import_model(import_job *j, record *r, int64_t line)
{
    arena *own = j->call->arena;
    ramet_status st;
    j->call->arena = j->line; /* what the checks need for a moment */
    switch (r->kind) {
    case RECORD_TREE:
        st = tree_model(j, r, line);
        break;
    case RECORD_SESSION:
        st = session_model(j, r, line);
        break;
    case RECORD_GONE:
        st = gone_model(j, r, line);
        break;
    default:
        assert(r->kind == RECORD_BRANCH);
        st = branch_model(j, r, line);
    }
    j->call->arena = own;
    return st;
}

int64_t import_depths(import_tree *t)
{
    for (int64_t i = 0; i < t->have_sessions; i++)
        t->sessions[i].depth = t->sessions[i].parent ? -1 : 0;
    for (int64_t i = 0; i < t->have_sessions; i++) {
        int64_t up = i, steps = 0;
        for (; t->sessions[up].depth < 0 && steps <= t->have_sessions; steps++)
            up = t->sessions[up].parent - 1;
        if (t->sessions[up].depth < 0)
            return i + 1;
        int64_t depth = t->sessions[up].depth + steps;
        for (up = i; t->sessions[up].depth < 0; up = t->sessions[up].parent - 1)
            t->sessions[up].depth = depth--;
    }
    return 0;
}

typedef struct branch_place {
    int64_t base;
    size_t index;
} branch_place;

static int place_order(const void *a, const void *b)
{
    const branch_place *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

size_t *import_order(import_job *j)
{
    size_t n = (size_t)j->t.have_branches;
    branch_place *list = arena_array(j->tree, n + 1, sizeof *list);
    size_t *order = arena_array(j->tree, n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        list[i] = (branch_place){j->t.branches[i].base, i};
    qsort(list, n, sizeof *list, place_order);
    for (size_t i = 0; i < n; i++)
        order[i] = list[i].index;
    return order;
}

/* ---------------------------------------------------------------------- entries */

static const ramet_usage *usage_read(record *r)
{
    const json_node *v = json_get(&r->doc, r->doc.nodes, "usage");
    static const char *const names[] = {"input", "output", "cached", "cost"};
    int64_t n[4];
    if (!v)
        return NULL;
    r->taken++;
    for (int i = 0; i < 4; i++)
        if (!json_int(&r->doc, json_get(&r->doc, v, names[i]), &n[i]))
            record_fault(r, "\"usage\" needs the number \"%s\"", names[i]);
    const char *currency = json_text(r->arena, &r->doc, json_get(&r->doc, v, "currency"));
    if (!currency || v->count != 5)
        record_fault(r, "\"usage\" has input, output, cached, cost and currency");
    ramet_usage *u = arena_alloc(r->arena, sizeof *u);
    if (!r->fault[0])
        *u = (ramet_usage){n[0], n[1], n[2], n[3], currency};
    return u;
}

/* Who, when and why, and the digest that the chain needs. */
static void erased_read(const import_job *j, record *r, ramet_entry *e, uint8_t digest[HASH_LEN])
{
    ramet_erased *x = arena_alloc(r->arena, sizeof *x);
    const char *by = record_maybe(r, "by"), *reason = record_maybe(r, "reason");
    *x = (ramet_erased){.at = record_int(r, "at", INT64_MIN / 4, INT64_MAX / 4),
                        .by = j->call->user ? j->call->user : by,
                        .reason = reason ? reason : ""};
    record_hash(r, "digest", digest);
    if (strlen(x->reason) > 4 * j->call->ramet->limits.reason_chars || (by && strlen(by) > 255))
        record_fault(r, "\"reason\" or \"by\" is too long");
    e->erased = x;
}

ramet_status import_entry(import_job *j, record *r, int64_t line, bool writing, entry_new *n,
                          import_about *about)
{
    ramet_entry e = {.position = 0};
    entry_cols cols = {.text = NULL};
    uint8_t hash[HASH_LEN], digest[HASH_LEN];
    bool is_erased = r->kind == RECORD_ERASED;
    *about = (import_about){.branch = record_int(r, "branch", 1, INT32_MAX)};
    e.position = record_int(r, "position", 0, POS_MAX);
    e.id = record_text(r, "id");
    e.role = (ramet_role)record_word(r, "role", "user|assistant|tool|system", RAMET_USER);
    e.channel = record_maybe(r, "channel");
    e.turn_id = record_maybe(r, "turn_id");
    e.created = record_int(r, "created", INT64_MIN / 4, INT64_MAX / 4);
    e.usage = usage_read(r);
    if (is_erased) {
        erased_read(j, r, &e, digest);
    } else {
        e.format = record_maybe(r, "format");
        e.author = record_maybe(r, "author");
        e.client = record_maybe(r, "client");
        cols.text = record_maybe(r, "text");
        cols.parts = record_json_get(r, "parts");
        cols.body = record_json_get(r, "body");
        e.state_delta = record_json_get(r, "state_delta");
    }
    about->peer = record_count(r, "peer", POS_MAX);
    TRY(import_origins(j, r, line, writing, about));
    record_hash(r, "prefix_hash", hash);
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    if (!e.channel)
        e.channel = "history";
    if (!e.format)
        e.format = "ramet";
    arena *own = j->call->arena;
    j->call->arena = r->arena;
    ramet_status st = import_checked(j, line, entry_restore(j->call, &e, &cols, writing, n));
    j->call->arena = own;
    memcpy(n->hash, hash, HASH_LEN);
    if (is_erased) {
        memcpy(n->digest, digest, HASH_LEN);
        n->entry.erased = e.erased;
        n->flags |= FLAG_ERASED;
    }
    if (about->n_origins)
        n->flags |= FLAG_COPY;
    return st;
}

/* -------------------------------------------------------------------- references */

ramet_status import_session_ref(import_job *j, int64_t line, bool may_be_gone, bool translate,
                                int64_t *v)
{
    import_tree *t = &j->t;
    if (!*v)
        return RAMET_OK;
    if (*v > t->have_sessions || (t->sessions[*v - 1].gone && !may_be_gone))
        return import_damaged(j, line, "there is no session %lld in the tree", (long long)*v);
    if (translate)
        *v = t->sessions[*v - 1].no;
    return RAMET_OK;
}

ramet_status import_branch_ref(import_job *j, int64_t line, bool translate, int64_t *v)
{
    import_tree *t = &j->t;
    if (!*v)
        return RAMET_OK;
    if (*v > t->have_branches)
        return import_damaged(j, line, "there is no branch %lld in the tree", (long long)*v);
    if (translate)
        *v = t->branches[*v - 1].row.meta.id;
    return RAMET_OK;
}

ramet_status import_key_ref(import_job *j, int64_t line, bool may_be_end, bool translate,
                            int64_t *v)
{
    import_tree *t = &j->t;
    int64_t n = KEY_BRANCH(*v), pos = KEY_POS(*v);
    const import_branch *b = n <= t->have_branches ? &t->branches[n - 1] : NULL;
    if (!b || pos < b->base || pos >= b->len + may_be_end)
        return import_damaged(j, line, "branch %lld has no entry at position %lld", (long long)n,
                              (long long)pos);
    if (translate)
        *v = KEY(b->row.meta.id, pos);
    return RAMET_OK;
}

ramet_status import_refs(import_job *j, record_kind kind, copy_cell *row, int64_t line,
                         bool translate)
{
    const record_def *d = &record_defs[kind];
    const copy_table *t = &copy_tables[d->table];
    for (size_t i = 0; i < d->n; i++) {
        const record_column *c = &d->columns[i];
        copy_cell *v = &row[record_column_at(t, c->column)];
        bool needed =
            (kind == RECORD_RUN || kind == RECORD_MOVE || kind == RECORD_TURN ||
             kind == RECORD_TASK || kind == RECORD_BRANCH_NOTE || kind == RECORD_TEMPLATE) &&
            c->kind == COLUMN_SESSION;
        if (needed && !v->number)
            return import_damaged(j, line, "\"session\" is missing");
        if (c->kind == COLUMN_SESSION || c->kind == COLUMN_PLACE)
            TRY(import_session_ref(j, line, c->kind == COLUMN_PLACE, translate, &v->number));
        else if (c->kind == COLUMN_BRANCH)
            TRY(import_branch_ref(j, line, translate, &v->number));
        else if (c->kind == COLUMN_KEY || (c->kind == COLUMN_ENTRY && v->number))
            TRY(import_key_ref(j, line, kind == RECORD_RUN, translate, &v->number));
        else if (c->kind == COLUMN_TREE)
            v->number = j->t.tree;
        else if (c->kind == COLUMN_USER && j->user && !v->null)
            *v = (copy_cell){.bytes = j->user, .n = strlen(j->user)};
    }
    return RAMET_OK;
}

ramet_status import_sides(import_job *j, record *r, int64_t line, bool translate, const char **out)
{
    const json_node *sides = json_get(&r->doc, r->doc.nodes, "sides");
    buf b;
    json_writer w;
    ramet_status st = RAMET_OK;
    r->taken += sides != NULL;
    if (!json_is(sides, JSON_ARRAY) || sides->count < 2 || sides->count > 16)
        return import_damaged(j, line, "a verdict has 2 to 16 sides");
    buf_init(&b, 4096);
    jw_init(&w, &b, 0);
    jw_array(&w);
    for (const json_node *v = json_first(&r->doc, sides); v && st == RAMET_OK;
         v = json_next(&r->doc, sides, v)) {
        int64_t s = 0, id = 0;
        if (!json_int(&r->doc, json_get(&r->doc, v, "session"), &s) || s < 1 ||
            !json_int(&r->doc, json_get(&r->doc, v, "branch"), &id) || id < 1)
            st = import_damaged(j, line, "a side has a session and a branch");
        if (st == RAMET_OK)
            st = import_session_ref(j, line, false, translate, &s);
        if (st == RAMET_OK)
            st = import_branch_ref(j, line, translate, &id);
        jw_object(&w);
        jw_kint(&w, "session", s);
        jw_kint(&w, "branch", id);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    *out = buf_keep(&b, r->arena);
    return st;
}
