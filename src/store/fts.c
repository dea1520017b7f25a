/* SPDX-License-Identifier: Apache-2.0
 *
 * The search index: its file, its ranking. fts_text.c has its words and snippets.
 *
 * Ranking is BM25, but not FTS5's own bm25(): that one reads the whole list of every
 * word to count it, 45 ms for a word that is in most of a million documents. Here the
 * count is estimated from the beginning of a long list, and exact for a short one. The
 * length of a document is taken in bytes.
 */
#include "store/fts_own.h"

#include <math.h>
#include <stdlib.h>

#define INDEX_MARK 0x52414d53 /* "RAMS": application_id of an index */
#define INDEX_VERSION 1
#define SAMPLE 20000      /* rows read to estimate how common the words of a query are */
#define SAMPLE_LEAST 500  /* ... for each of them at least */
#define SAMPLE_ENOUGH 100 /* these suffice, when they came from ... */
#define SAMPLE_PART 20    /* ... this part of the documents: a phrase can be costly to find */
#define BM25_K 1.2
#define BM25_B 0.75

static const char schema[] =
    "CREATE TABLE state(one INTEGER PRIMARY KEY CHECK(one=1),mark BIGINT NOT NULL,"
    " done BIGINT NOT NULL,scan BIGINT NOT NULL,print TEXT NOT NULL,bytes BIGINT NOT NULL);"
    "INSERT INTO state(one,mark,done,scan,print,bytes) VALUES(1,0,0,0,'',0);"
    "CREATE TABLE doc(no INTEGER PRIMARY KEY,tree BIGINT NOT NULL,k BIGINT NOT NULL,"
    " session BIGINT NOT NULL,role INT NOT NULL,created BIGINT NOT NULL,"
    " bytes INT NOT NULL);"
    "CREATE UNIQUE INDEX doc_by_key ON doc(k);"
    "CREATE TABLE span(block INTEGER PRIMARY KEY,lo BIGINT NOT NULL,hi BIGINT NOT NULL);"
    "CREATE TABLE owner(no INTEGER PRIMARY KEY,name TEXT NOT NULL UNIQUE);"
    "CREATE TABLE tree(tree INTEGER PRIMARY KEY,owner BIGINT NOT NULL);"
    "CREATE INDEX tree_by_owner ON tree(owner,tree);"
    /* Lengths are in doc, which is read anyway. */
    "CREATE VIRTUAL TABLE fts USING fts5(text,scope,content='',columnsize=0,"
    " tokenize='unicode61 remove_diacritics 2');"
    /* Larger pieces, merged less often: half the work of the defaults, and searches as fast. */
    "INSERT INTO fts(fts,rank) VALUES('hashsize',8388608);"
    "INSERT INTO fts(fts,rank) VALUES('automerge',8);";

/* ----------------------------------------------------------------- ranking */

typedef struct sample {
    int64_t n, most, last, top;
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
    s->enough = s->n >= s->most || (s->n >= SAMPLE_ENOUGH && no > s->top / SAMPLE_PART);
    return s->enough ? SQLITE_DONE : SQLITE_OK;
}

static double weight_of(const Fts5ExtensionApi *api, Fts5Context *ctx, const fts_rank *r,
                        int phrase)
{
    double all = (double)r->top, with = all / 10;
    /* A prefix would be collected a second time just to be counted. */
    if (!r->terms[phrase].prefix) {
        int64_t most = SAMPLE / (int64_t)r->n;
        sample s = {.most = most > SAMPLE_LEAST ? most : SAMPLE_LEAST, .top = r->top};
        api->xQueryPhrase(ctx, phrase, &s, sample_row);
        with = (double)s.n;
        if (s.enough)
            with = with * all / (double)s.last;
    }
    return log(1 + (all - with + 0.5) / (with + 0.5));
}

static void weights_make(const Fts5ExtensionApi *api, Fts5Context *ctx, fts_rank *r)
{
    r->weights = arena_array(r->a, r->n + 1, sizeof *r->weights);
    for (size_t i = 0; i < r->n; i++)
        r->weights[i] = weight_of(api, ctx, r, (int)i);
}

static double score_row(const Fts5ExtensionApi *api, Fts5Context *ctx, const fts_rank *r,
                        double bytes)
{
    double score = 0, norm = BM25_K * (1 - BM25_B + BM25_B * bytes / r->average);
    for (size_t i = 0; i < r->n; i++) {
        Fts5PhraseIter it;
        int column, offset, times = 0;
        api->xPhraseFirst(ctx, (int)i, &it, &column, &offset);
        for (; column >= 0; api->xPhraseNext(ctx, &it, &column, &offset))
            times++;
        score += r->weights[i] * times * (BM25_K + 1) / (times + norm);
    }
    return score;
}

/* ramet_rank(fts, k, tree, session, created, bytes): the score, NULL when the filter refuses the
 * row. */
static void rank_row(const Fts5ExtensionApi *api, Fts5Context *ctx, sqlite3_context *out, int n,
                     sqlite3_value **v)
{
    fts *f = api->xUserData(ctx);
    fts_rank *r = f->rank;
    if (!r || n != 5)
        return;
    fts_doc d = {.k = sqlite3_value_int64(v[0]),
                 .tree = sqlite3_value_int64(v[1]),
                 .session = sqlite3_value_int64(v[2]),
                 .created = sqlite3_value_int64(v[3])};
    if (r->pass && !r->pass(r->arg, &d))
        return;
    if (!r->weights)
        weights_make(api, ctx, r);
    sqlite3_result_double(out, score_row(api, ctx, r, sqlite3_value_double(v[4])));
}

void fts_rank_set(fts *f, fts_rank *r)
{
    f->rank = r;
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

/* Ranking and the tokenizer, which the text of queries and snippets goes through as well. */
static bool functions_add(fts *f)
{
    static const char *args[] = {"remove_diacritics", "2"};
    void *arg = NULL;
    fts5_api *api = api_of(db_handle(f->d));
    return api && api->xCreateFunction(api, "ramet_rank", f, rank_row, NULL) == SQLITE_OK &&
           api->xFindTokenizer(api, "unicode61", &arg, &f->cutter) == SQLITE_OK &&
           f->cutter.xCreate(arg, args, 2, &f->cut) == SQLITE_OK;
}

static bool is_index(db *d)
{
    return db_one(d, "PRAGMA application_id") == INDEX_MARK && db_version(d) == INDEX_VERSION;
}

/* Makes the tables, unless another process was faster. */
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

ramet_status fts_reset(fts *f)
{
    ramet_status st = db_reset(f->d);
    return st == RAMET_OK ? tables_make(f->d) : st;
}

static ramet_status prepare_file(fts *f)
{
    db_clear(f->d);
    if (is_index(f->d))
        return RAMET_OK;
    bool empty = db_empty(f->d);
    ramet_status st = db_status(f->d);
    if (st == RAMET_OK && empty)
        return tables_make(f->d);
    if (st == RAMET_OK || st == RAMET_DAMAGED || st == RAMET_NOT_A_STORE)
        return fts_reset(f);
    return st;
}

ramet_status fts_open(const db_config *cfg, fts **out, char *message)
{
    *out = NULL;
    fts *f = xcalloc(1, sizeof *f);
    ramet_status st = db_open(cfg, &f->d, message);
    if (st == RAMET_OK && !functions_add(f)) {
        snprintf(message, 512, "this SQLite has no FTS5");
        st = RAMET_CANNOT_OPEN;
    } else if (st == RAMET_OK) {
        st = prepare_file(f);
        snprintf(message, 512, "%s: %s", cfg->path, db_message(f->d));
    }
    if (st != RAMET_OK)
        fts_close(f);
    else
        *out = f;
    return st;
}

void fts_close(fts *f)
{
    if (!f)
        return;
    if (f->cut)
        f->cutter.xDelete(f->cut);
    db_close(f->d);
    free(f);
}

db *fts_db(fts *f)
{
    return f->d;
}
