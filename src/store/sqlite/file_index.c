/* SPDX-License-Identifier: Apache-2.0
 *
 * The search index in an SQLite file of its own beside the store (store/search/search_index.h).
 *
 * A document has two columns in FTS5: its words, and those of its scopes.
 *
 * Ranking is BM25, but not FTS5's own bm25(): that reads the whole list of every word to count it,
 * 45 ms for a word that is in most of a million documents. Here the count is estimated from the
 * beginning of a long list, and exact for a short one. The length of a document is measured in
 * bytes.
 */
#include "store/search/search_index_internal.h"

#include "base/buf.h"
#include "base/util.h"

#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_MARK 0x52414d53 /* "RAMS": application_id of an index */
#define INDEX_VERSION 3
#define SAMPLE 20000      /* rows read to estimate how common the words of a query are */
#define MIN_SAMPLE 500    /* ... at least, for each word */
#define SAMPLE_ENOUGH 100 /* these suffice, when they came from ... */
#define SAMPLE_PART 20    /* ... this part of the documents: a phrase can be costly to find */
#define EXPRESSION_BYTES ((size_t)1 << 20)

static const char schema[] =
    "CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one=1),mark BIGINT NOT NULL,"
    " done BIGINT NOT NULL,scan_tree BIGINT NOT NULL,scan BIGINT NOT NULL,bytes BIGINT NOT NULL,"
    " top BIGINT NOT NULL,print TEXT NOT NULL);"
    "INSERT INTO state(one,mark,done,scan_tree,scan,bytes,top,print) VALUES(1,0,0,0,0,0,0,'');"
    "CREATE TABLE doc(no INTEGER PRIMARY KEY,tree BIGINT NOT NULL,k BIGINT NOT NULL,"
    " session BIGINT NOT NULL,role INT NOT NULL,created BIGINT NOT NULL,"
    " bytes INT NOT NULL);"
    "CREATE UNIQUE INDEX doc_by_key ON doc(k);"
    /* The text of a document besides that of its entry: needed to remove it again. */
    "CREATE TABLE given(no INTEGER PRIMARY KEY,text TEXT NOT NULL);"
    "CREATE TABLE span(block INTEGER PRIMARY KEY,lo BIGINT NOT NULL,hi BIGINT NOT NULL);"
    "CREATE TABLE owner(no INTEGER PRIMARY KEY,name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE tree(tree INTEGER PRIMARY KEY,owner BIGINT NOT NULL);"
    "CREATE INDEX tree_by_owner ON tree(owner,tree);"
    /* Lengths are in doc, which is read anyway. */
    "CREATE VIRTUAL TABLE fts USING fts5(text,scope,content='',columnsize=0,"
    " tokenize='" CUTTER_NAME " " CUTTER_FOLD " " CUTTER_FOLD_HOW "');"
    /* Larger segments, merged less often: half the work of the defaults, and searches are as
     * fast. */
    "INSERT INTO fts(fts,rank) VALUES('hashsize',8388608);"
    "INSERT INTO fts(fts,rank) VALUES('automerge',8);";

typedef struct fts_file {
    fts base;
    fts_want *want; /* the running search, NULL when there is none */
    db_stmt *stmt;
} fts_file;

static fts_file *file_of(fts *f)
{
    return (fts_file *)f;
}

/* ----------------------------------------------------------------- ranking */

typedef struct sample {
    int64_t n, max, last, top;
    bool enough; /* stopped before the end */
} sample;

static int sample_row(const Fts5ExtensionApi *api, Fts5Context *ctx, void *arg)
{
    sample *s = arg;
    int64_t no = api->xRowid(ctx);
    if (no > s->top)
        return SQLITE_DONE;
    s->last = no;
    s->n++;
    s->enough = s->n >= s->max || (s->n >= SAMPLE_ENOUGH && no > s->top / SAMPLE_PART);
    return s->enough ? SQLITE_DONE : SQLITE_OK;
}

static double weight_of(const Fts5ExtensionApi *api, Fts5Context *ctx, const fts_want *r,
                        int phrase)
{
    double all = (double)r->top, with = all / 10;
    /* A prefix would have to be collected a second time only to be counted. */
    if (!r->terms[phrase].prefix) {
        int64_t max = SAMPLE / (int64_t)r->n_find;
        sample s = {.max = max > MIN_SAMPLE ? max : MIN_SAMPLE, .top = r->top};
        api->xQueryPhrase(ctx, phrase, &s, sample_row);
        with = (double)s.n;
        if (s.enough)
            with = with * all / (double)s.last;
    }
    return log(1 + (all - with + 0.5) / (with + 0.5));
}

static void weights_make(const Fts5ExtensionApi *api, Fts5Context *ctx, fts_want *r)
{
    r->weights = arena_array(r->arena, r->n_find + 1, sizeof *r->weights);
    for (size_t i = 0; i < r->n_find; i++)
        r->weights[i] = weight_of(api, ctx, r, (int)i);
}

static double score_row(const Fts5ExtensionApi *api, Fts5Context *ctx, const fts_want *r,
                        double bytes)
{
    double score = 0, norm = BM25_K * (1 - BM25_B + BM25_B * bytes / r->average);
    for (size_t i = 0; i < r->n_find; i++) {
        Fts5PhraseIter it;
        int column, offset, times = 0;
        api->xPhraseFirst(ctx, (int)i, &it, &column, &offset);
        for (; column >= 0; api->xPhraseNext(ctx, &it, &column, &offset))
            times++;
        score += r->weights[i] * times * (BM25_K + 1) / (times + norm);
    }
    return score;
}

/* ramet_rank(fts, k, tree, session, created, bytes): the score, NULL when the filter rejects the
 * row. */
static void rank_row(const Fts5ExtensionApi *api, Fts5Context *ctx, sqlite3_context *out, int n,
                     sqlite3_value **v)
{
    const fts_file *f = api->xUserData(ctx);
    fts_want *r = f->want;
    if (!r || n != 5)
        return;
    fts_doc d = {.key = sqlite3_value_int64(v[0]),
                 .tree = sqlite3_value_int64(v[1]),
                 .session = sqlite3_value_int64(v[2]),
                 .created = sqlite3_value_int64(v[3])};
    if (r->pass && !r->pass(r->arg, &d))
        return;
    if (!r->weights)
        weights_make(api, ctx, r);
    sqlite3_result_double(out, score_row(api, ctx, r, sqlite3_value_double(v[4])));
}

/* -------------------------------------------------------------------- file */

static fts5_api *api_of(sqlite3 *h)
{
    fts5_api *api = NULL;
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(h, "SELECT fts5(?1)", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(s, 1, (void *)&api, "fts5_api_ptr", NULL);
        sqlite3_step(s);
    }
    sqlite3_finalize(s);
    return api;
}

static bool rank_add(fts_file *f)
{
    fts5_api *api = api_of(db_handle(f->base.db));
    return api && api->xCreateFunction(api, "ramet_rank", f, rank_row, NULL) == SQLITE_OK;
}

static bool is_index(db *d)
{
    return db_one(d, "PRAGMA application_id") == INDEX_MARK && db_version(d) == INDEX_VERSION;
}

/* Creates the tables, unless another process was faster. */
static ramet_status tables_make(db *d)
{
    ramet_status st = db_begin_write(d);
    if (st != RAMET_OK)
        return st;
    if (!is_index(d)) {
        char sql[64];
        snprintf(sql, sizeof sql, "PRAGMA application_id=%d", INDEX_MARK);
        db_script(d, schema);
        db_script(d, sql);
        db_set_version(d, INDEX_VERSION);
    }
    return db_commit(d);
}

static ramet_status file_reset(fts *f)
{
    ramet_status st = db_reset(f->db);
    return st == RAMET_OK ? tables_make(f->db) : st;
}

static ramet_status prepare_file(fts *f)
{
    db_clear(f->db);
    if (is_index(f->db))
        return RAMET_OK;
    bool empty = db_empty(f->db);
    ramet_status st = db_status(f->db);
    if (st == RAMET_OK && empty)
        return tables_make(f->db);
    if (st == RAMET_OK || st == RAMET_DAMAGED || st == RAMET_NOT_A_STORE)
        return file_reset(f);
    return st;
}

static void file_close(fts *f)
{
    db_close(f->db);
    free(f);
}

static ramet_status file_begin_write(fts *f)
{
    return db_begin_write(f->db);
}

/* --------------------------------------------------------------- documents */

static void file_clear(fts *f)
{
    q_run(db_query(f->db, Q_fts_clear));
    q_run(db_query(f->db, Q_fts_clear_doc));
    q_run(db_query(f->db, Q_fts_clear_given));
    q_run(db_query(f->db, Q_fts_clear_owner));
}

/* The words of a document's scope column. */
static const char *scope_text(arena *a, int64_t tree, int64_t session, int role, int64_t owner)
{
    return arena_printf(a, "t%" PRId64 " s%" PRId64 " r%d u%" PRId64, tree, session, role, owner);
}

static int64_t doc_number(fts *f, int64_t k)
{
    db_stmt *q = db_query(f->db, Q_fts_doc_by_key);
    q_int(q, 1, k);
    int64_t no = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return no;
}

static void given_add(fts *f, int64_t no, const char *given)
{
    db_stmt *q = db_query(f->db, Q_fts_given_add);
    q_int(q, 1, no);
    q_text(q, 2, given);
    q_run(q);
}

static const char *given_take(fts *f, arena *tmp, int64_t no)
{
    db_stmt *q = db_query(f->db, Q_fts_given_get);
    q_int(q, 1, no);
    const char *given = q_row(q) ? q_keep_text(q, 0, tmp) : NULL;
    q_end(q);
    if (!given)
        return NULL;
    q = db_query(f->db, Q_fts_given_del);
    q_int(q, 1, no);
    q_run(q);
    return given;
}

static bool file_add(fts *f, arena *tmp, const fts_doc *d, int64_t owner, const char *text,
                     const char *given)
{
    if (doc_number(f, d->key))
        return false;
    text = fts_whole(tmp, text, given);
    if (given)
        given_add(f, d->no, given);
    db_stmt *q = db_query(f->db, Q_fts_add);
    q_int(q, 1, d->no);
    q_text(q, 2, text);
    q_text(q, 3, scope_text(tmp, d->tree, d->session, d->role, owner));
    q_run(q);
    q = db_query(f->db, Q_fts_doc_add);
    q_int(q, 1, d->no);
    q_int(q, 2, d->tree);
    q_int(q, 3, d->key);
    q_int(q, 4, d->session);
    q_int(q, 5, d->role);
    q_int(q, 6, d->created);
    q_int(q, 7, (int64_t)strlen(text));
    q_run(q);
    return true;
}

static void file_forget(fts *f, arena *tmp, int64_t tree, int64_t k, const char *text)
{
    db_stmt *q = db_query(f->db, Q_fts_doc_by_key);
    q_int(q, 1, k);
    if (!q_row(q))
        return;
    int64_t no = q_col_int(q, 0), session = q_col_int(q, 2);
    int role = (int)q_col_int(q, 3);
    q_end(q);
    /* Must be exactly the words that were added. */
    const char *scope = scope_text(tmp, tree, session, role, fts_tree_owner(f, tree));
    text = fts_whole(tmp, text, given_take(f, tmp, no));
    q = db_query(f->db, Q_fts_del);
    q_int(q, 1, no);
    q_text(q, 2, text);
    q_text(q, 3, scope);
    q_run(q);
    q = db_query(f->db, Q_fts_doc_del);
    q_int(q, 1, no);
    q_run(q);
}

static int64_t file_owner(fts *f, const char *name, bool make)
{
    db_stmt *q;
    if (make) {
        q = db_query(f->db, Q_fts_owner_add);
        q_text(q, 1, name);
        q_run(q);
    }
    q = db_query(f->db, Q_fts_owner_get);
    q_text(q, 1, name);
    int64_t no = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return no;
}

/* --------------------------------------------------------------- expression */

/* Every term is quoted in the expression, so nothing that a user types can act as an operator. */
static void put_term(buf *b, const fts_term *t)
{
    buf_putc(b, '"');
    for (const char *p = t->text; *p; p++) {
        if (*p == '"')
            buf_putc(b, '"');
        buf_putc(b, *p);
    }
    buf_puts(b, t->prefix ? "\"*" : "\"");
}

static void put_terms(buf *b, const fts_term *t, size_t n, const char *between)
{
    buf_puts(b, "text:(");
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_puts(b, between);
        put_term(b, &t[i]);
    }
    buf_putc(b, ')');
}

static void put_scope(buf *b, const fts_scope *g)
{
    buf_puts(b, "(");
    for (size_t i = 0; i < g->n; i++)
        buf_printf(b, "%s\"%c%" PRId64 "\"", i ? " OR " : "", g->letter, g->numbers[i]);
    if (g->letter2)
        buf_printf(b, "%s\"%c%" PRId64 "\"", g->n ? " OR " : "", g->letter2, g->number2);
    buf_puts(b, ")");
}

static const char *expression_make(const fts_want *w)
{
    buf b;
    buf_init(&b, EXPRESSION_BYTES);
    buf_putc(&b, '(');
    put_terms(&b, w->terms, w->n_find, " AND ");
    bool any = false;
    for (size_t i = 0; i < w->n_scopes; i++) {
        if (!w->scopes[i].n && !w->scopes[i].letter2)
            continue;
        buf_puts(&b, any ? " AND " : " AND scope:(");
        put_scope(&b, &w->scopes[i]);
        any = true;
    }
    buf_puts(&b, any ? "))" : ")");
    if (w->n > w->n_find) {
        buf_puts(&b, " NOT ");
        put_terms(&b, w->terms + w->n_find, w->n - w->n_find, " OR ");
    }
    return buf_keep(&b, w->arena);
}

/* ------------------------------------------------------------------ finding */

static void file_find(fts *base, fts_want *w, int64_t low, int64_t high)
{
    fts_file *f = file_of(base);
    if (!w->expression)
        w->expression = expression_make(w);
    f->want = w;
    f->stmt = db_query(base->db, Q_fts_find);
    q_text(f->stmt, 1, w->expression);
    q_int(f->stmt, 2, low);
    q_int(f->stmt, 3, high);
}

static bool file_next(fts *base, fts_doc *d)
{
    db_stmt *q = file_of(base)->stmt;
    while (q_row(q)) {
        if (q_col_null(q, 6))
            continue;
        *d = (fts_doc){.no = q_col_int(q, 0),
                       .key = q_col_int(q, 1),
                       .tree = q_col_int(q, 2),
                       .session = q_col_int(q, 3),
                       .role = (int)q_col_range(q, 4, RAMET_USER, RAMET_SYSTEM, "doc.role"),
                       .created = q_col_int(q, 5),
                       .score = q_col_real(q, 6)};
        return true;
    }
    return false;
}

static void file_end(fts *base)
{
    fts_file *f = file_of(base);
    q_end(f->stmt);
    f->want = NULL;
}

static const fts_kind file_kind = {
    .window = {.max = 5000, .enough = 1000, .span = 100000},
    .close = file_close,
    .begin_write = file_begin_write,
    .reset = file_reset,
    .clear = file_clear,
    .add = file_add,
    .forget = file_forget,
    .owner = file_owner,
    .find = file_find,
    .next = file_next,
    .end = file_end,
};

ramet_status fts_open(const db_config *cfg, fts **out, char *message)
{
    *out = NULL;
    fts_file *f = xcalloc(1, sizeof *f);
    f->base = (fts){.kind = &file_kind, .cut = tokenizer_new()};
    ramet_status st = db_open(cfg, &f->base.db, message);
    if (st == RAMET_OK && (!f->base.cut || !rank_add(f))) {
        snprintf(message, 512, "this SQLite has no FTS5");
        st = RAMET_CANNOT_OPEN;
    } else if (st == RAMET_OK) {
        st = prepare_file(&f->base);
        snprintf(message, 512, "%s: %s", cfg->path, db_message(f->base.db));
    }
    if (st != RAMET_OK)
        fts_close(&f->base);
    else
        *out = &f->base;
    return st;
}
