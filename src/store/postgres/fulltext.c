/* SPDX-License-Identifier: Apache-2.0
 *
 * The search index in tables of the store's own database (store/search/search_index.h).
 *
 *   W1  `words` has one row for each document, with a tsvector and a GIN index over it. The
 *       tsvector is made here, by the tokenizer that SQLite's index uses too, so it depends on no
 *       text search configuration.
 *   W2  The scopes of a document are in the tsvector as well, as lexemes that begin with a space,
 *       which no word does. So is its block of 1 << BLOCK_BITS document numbers: GIN has no order,
 *       so a search for the newest matches of a common word goes block by block.
 *   W3  A tsvector keeps POSITIONS positions of a word, none past PLACES words, and no word of more
 *       than LEXEME bytes. A document that exceeds one of these is `unsure`: its lexemes admit at
 *       least everything that matches, and the text decides.
 *   W4  One process writes at a time, on any node, under an advisory lock that is held until its
 *       commit. That commit need not be on disk when it returns: what a crash loses is indexed
 *       again, since the state and the words are in the same transaction.
 *   W5  GIN collects new rows in a pending list, which every search reads, and merges it when it is
 *       long. Merging many rows at once takes a third of the work; so the list may grow while many
 *       documents arrive, and is merged after every 1 << TIDY_BITS documents.
 */
#include "store/search/search_index_internal.h"
#include "store/postgres/postgres.h"

#include "base/buf.h"
#include "base/util.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEXEME 2000     /* bytes; PostgreSQL's limit is 2046 */
#define PLACES 16382    /* its limit is 16383; positions past that are stored as that */
#define POSITIONS 250   /* its limit is 255 */
#define UNSURE " x"     /* the lexeme of an unsure document */
#define VECTOR_OID 3614 /* tsvector */
#define VECTOR_BYTES ((size_t)8 << 20)
#define EXPRESSION_BYTES ((size_t)1 << 20)
#define BLOCK_BITS 12 /* documents in a block: 1 << BLOCK_BITS */
#define FIRST_BLOCKS 1
#define MAX_BLOCKS 64
#define MAX_ROWS 20000 /* rows of one statement */
#define LOCK_TRIES 6   /* attempts, of lock_timeout each */
#define TIDY_BITS 9

/* A search; each statement covers the documents (from, upto]. */
typedef struct fulltext {
    fts base;
    fts_want *want;
    const char *rank;
    int64_t low, from, upto;
    int64_t looked, found; /* documents covered, and matches among them */
    bool exact;            /* the lexemes decide, unless the document is unsure */
    int rows;              /* of the current statement */
    int64_t last;          /* number of the last document */
    db_stmt *stmt;         /* NULL: none is open */
} fulltext;

static fulltext *fulltext_of(fts *f)
{
    return (fulltext *)f;
}

/* ----------------------------------------------------------- transactions */

static void fulltext_close(fts *f)
{
    free(f);
}

static ramet_status lock_take(pg *d)
{
    ramet_status st = db_begin_schema(&d->base);
    if (st != RAMET_OK)
        return st;
    link_begin(d, "BEGIN ISOLATION LEVEL READ COMMITTED", FOR_NOTHING);
    link_text(d, "SET LOCAL synchronous_commit=off", FOR_NOTHING);
    link_text(d, "SELECT pg_advisory_xact_lock(hashtext('ramet words'),hashtext(current_schema()))",
              FOR_NOTHING);
    link_sync(d);
    link_settle(d);
    return db_status(&d->base);
}

/* Begins a write (W4). The lock is held when it returns, so that the store is read after the
 * previous writer has finished. */
static ramet_status fulltext_begin_write(fts *f)
{
    ramet_status st;
    int tries = 0;
    while ((st = lock_take((pg *)f->db)) == RAMET_BUSY && ++tries < LOCK_TRIES)
        db_rollback(f->db);
    if (st != RAMET_OK)
        db_rollback(f->db);
    return st;
}

static void fulltext_clear(fts *f)
{
    q_run(db_query(f->db, Q_fts_clear));
}

static ramet_status fulltext_reset(fts *f)
{
    ramet_status st = fulltext_begin_write(f);
    if (st != RAMET_OK)
        return st;
    fts_clear(f);
    return db_commit(f->db);
}

/* ---------------------------------------------------------------- a document */

typedef struct lexeme {
    const char *text;
    uint32_t len, place; /* position; 0: none */
} lexeme;

typedef struct lexemes {
    arena *arena;
    VEC(lexeme) v;
    uint32_t place;
    bool unsure;
} lexemes;

/* The length of a word as it is stored: a very long one is truncated. */
static size_t lexeme_length(const char *text, size_t len)
{
    if (len <= LEXEME)
        return len;
    len = LEXEME;
    while (len && ((unsigned char)text[len] & 0xc0) == 0x80)
        len--;
    return len;
}

static void lexeme_add(void *arg, const char *text, size_t len, size_t start, size_t end)
{
    lexemes *x = arg;
    (void)start;
    (void)end;
    size_t kept = lexeme_length(text, len);
    x->place++;
    x->unsure |= kept < len || x->place > PLACES;
    lexeme one = {arena_memdup(x->arena, text, kept), (uint32_t)kept,
                  x->place > PLACES ? 0 : x->place};
    VEC_PUSH(x->arena, &x->v, one);
}

static void scope_add(lexemes *x, char letter, int64_t number)
{
    const char *text = arena_printf(x->arena, " %c%" PRId64, letter, number);
    VEC_PUSH(x->arena, &x->v, ((lexeme){text, (uint32_t)strlen(text), 0}));
}

/* The order of a tsvector; then by position, words without one last. */
static int lexeme_order(const void *a, const void *b)
{
    const lexeme *x = a, *y = b;
    int c = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
    if (c)
        return c;
    if (x->len != y->len)
        return x->len < y->len ? -1 : 1;
    uint32_t px = x->place - 1, py = y->place - 1;
    return (px > py) - (px < py);
}

static void put_number(buf *b, uint32_t v, int bytes)
{
    while (bytes-- > 0)
        buf_putc(b, (char)(v >> 8 * bytes));
}

/* The number of positions of the word at i; *next is where the next word begins. */
static uint32_t places_of(const lexemes *x, size_t i, size_t *next)
{
    const lexeme *w = &x->v.items[i];
    uint32_t places = 0;
    for (; i < x->v.n && x->v.items[i].len == w->len &&
           memcmp(x->v.items[i].text, w->text, w->len) == 0;
         i++)
        places += x->v.items[i].place > 0;
    *next = i;
    return places;
}

static void lexemes_sort(lexemes *x)
{
    qsort(x->v.items, x->v.n, sizeof *x->v.items, lexeme_order);
    for (size_t i = 0, next; !x->unsure && i < x->v.n; i = next)
        x->unsure = places_of(x, i, &next) > POSITIONS;
    if (!x->unsure)
        return;
    VEC_PUSH(x->arena, &x->v, ((lexeme){UNSURE, strlen(UNSURE), 0}));
    qsort(x->v.items, x->v.n, sizeof *x->v.items, lexeme_order);
}

/* Writes the wire form of a tsvector: the count; for each lexeme its text and its positions with
 * their count. */
static void vector_make(const lexemes *x, buf *out)
{
    uint32_t n = 0;
    put_number(out, 0, 4);
    for (size_t i = 0, next; i < x->v.n; i = next, n++) {
        const lexeme *w = &x->v.items[i];
        uint32_t places = places_of(x, i, &next);
        places = places > POSITIONS ? POSITIONS : places;
        buf_add(out, w->text, w->len);
        buf_putc(out, 0);
        put_number(out, places, 2);
        for (uint32_t p = 0; p < places; p++)
            put_number(out, w[p].place, 2);
    }
    for (int i = 0; i < 4; i++)
        out->data[i] = (char)(n >> 8 * (3 - i));
}

static bool fulltext_add(fts *f, arena *tmp, const fts_doc *d, int64_t owner, const char *text,
                         const char *given)
{
    lexemes x = {.arena = tmp};
    text = fts_whole(tmp, text, given);
    size_t len = strlen(text);
    buf vector;
    buf_init(&vector, VECTOR_BYTES);
    scope_add(&x, 't', d->tree);
    scope_add(&x, 's', d->session);
    scope_add(&x, 'r', d->role);
    scope_add(&x, 'u', owner);
    scope_add(&x, 'b', d->no >> BLOCK_BITS);
    tokenizer_run(f->cut, text, len, lexeme_add, &x);
    lexemes_sort(&x);
    vector_make(&x, &vector);
    db_stmt *q = db_query(f->db, Q_fts_add);
    q_int(q, 1, d->tree);
    q_int(q, 2, d->key);
    q_int(q, 3, d->no);
    q_int(q, 4, d->session);
    q_int(q, 5, d->role);
    q_int(q, 6, d->created);
    q_int(q, 7, (int64_t)len);
    q_int(q, 8, x.unsure);
    q_blob(q, 9, vector.data, vector.n);
    ((pg_stmt *)q)->types[8] = VECTOR_OID;
    q_run(q);
    buf_release(&vector);
    return true;
}

static void fulltext_forget(fts *f, arena *tmp, int64_t tree, int64_t k, const char *text)
{
    (void)tmp;
    (void)text;
    db_stmt *q = db_query(f->db, Q_fts_del);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_run(q);
}

/* A digest of the name (FNV-1a), so that owners need no table. A collision does not widen access:
 * that is checked for each match afterwards. */
static int64_t fulltext_owner(fts *f, const char *name, bool make)
{
    uint64_t h = 0xcbf29ce484222325u;
    (void)f;
    (void)make;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return (int64_t)(h >> 1 | 1);
}

/* Merges the pending list (W5). If that fails, for example because we do not own the tables, the
 * server does it later. */
static void fulltext_tidy(fts *f, int64_t from, int64_t upto)
{
    static const char sql[] =
        "SELECT count(gin_clean_pending_list(c.oid)) FROM pg_class c JOIN pg_am a ON a.oid=c.relam "
        "WHERE a.amname='gin' AND c.relkind='i' AND c.relname LIKE 'words%' AND "
        "c.relnamespace=current_schema()::regnamespace";
    if (from >> TIDY_BITS == upto >> TIDY_BITS)
        return;
    PQclear(link_exec((pg *)f->db, sql));
    db_clear(f->db);
}

/* --------------------------------------------------------------- expression */

static void put_lexeme(buf *b, const fts_token *t, bool prefix)
{
    size_t len = lexeme_length(t->text, t->len);
    buf_putc(b, '\'');
    for (size_t i = 0; i < len; i++) {
        if (t->text[i] == '\'' || t->text[i] == '\\')
            buf_putc(b, t->text[i]);
        buf_putc(b, t->text[i]);
    }
    buf_puts(b, prefix ? "':*" : "'");
}

static void put_tokens(buf *b, const fts_term *t, const char *between)
{
    buf_putc(b, '(');
    for (size_t i = 0; i < t->n; i++) {
        if (i)
            buf_puts(b, between);
        put_lexeme(b, &t->tokens[i], t->prefix && i + 1 == t->n);
    }
    buf_putc(b, ')');
}

static bool has_long(const fts_term *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->tokens[i].len > LEXEME - 4) /* truncation may have removed a whole character */
            return true;
    return false;
}

/* Adds a phrase: as such, or all its words where the positions of some are not known (W3). */
static void put_find(buf *b, const fts_term *t)
{
    if (t->n == 1) {
        put_tokens(b, t, "");
        return;
    }
    buf_putc(b, '(');
    put_tokens(b, t, " <-> ");
    buf_puts(b, " | '" UNSURE "' & ");
    put_tokens(b, t, " & ");
    buf_putc(b, ')');
}

static void put_scope(buf *b, const fts_scope *g)
{
    buf_puts(b, " & (");
    for (size_t i = 0; i < g->n; i++)
        buf_printf(b, "%s' %c%" PRId64 "'", i ? " | " : "", g->letter, g->numbers[i]);
    if (g->letter2)
        buf_printf(b, "%s' %c%" PRId64 "'", g->n ? " | " : "", g->letter2, g->number2);
    buf_putc(b, ')');
}

static const char *expression_make(const fts_want *w)
{
    buf b;
    buf_init(&b, EXPRESSION_BYTES);
    for (size_t i = 0; i < w->n; i++) {
        const fts_term *t = &w->terms[i];
        /* For a word that is stored truncated, only the text can show that it does not occur. */
        if (t->without && has_long(t))
            continue;
        buf_puts(&b, i ? " & " : "");
        if (t->without) {
            buf_putc(&b, '!');
            put_tokens(&b, t, " <-> ");
        } else {
            put_find(&b, t);
        }
    }
    for (size_t i = 0; i < w->n_scopes; i++)
        if (w->scopes[i].n || w->scopes[i].letter2)
            put_scope(&b, &w->scopes[i]);
    return buf_keep(&b, w->arena);
}

/* All words to find; any of them counts. */
static const char *rank_make(const fts_want *w)
{
    buf b;
    buf_init(&b, EXPRESSION_BYTES);
    for (size_t i = 0; i < w->n_find; i++) {
        buf_puts(&b, i ? " | " : "");
        put_tokens(&b, &w->terms[i], " | ");
    }
    return buf_keep(&b, w->arena);
}

/* The expression for the documents (from, upto], which are whole blocks or all that are left. */
static const char *expression_within(const fulltext *s, bool blocks)
{
    buf b;
    if (!blocks)
        return s->want->expression;
    buf_init(&b, EXPRESSION_BYTES);
    buf_puts(&b, s->want->expression);
    buf_puts(&b, " & (");
    for (int64_t i = (s->from + 1) >> BLOCK_BITS; i <= s->upto >> BLOCK_BITS; i++)
        buf_printf(&b, "%s' b%" PRId64 "'", i == (s->from + 1) >> BLOCK_BITS ? "" : " | ", i);
    buf_putc(&b, ')');
    return buf_keep(&b, s->want->arena);
}

/* ------------------------------------------------------------------ finding */

/* Chooses the range of the next statement: as far as the matches so far promise enough. True:
 * search by blocks. */
static bool range_choose(fulltext *s)
{
    int64_t left = s->upto - s->low + 1, blocks = FIRST_BLOCKS, enough = (int64_t)s->want->enough;
    if (s->looked) {
        double density = ((double)s->found + 1) / (double)s->looked;
        if (density * (double)left < 2.0 * (double)enough) {
            s->from = s->low - 1;
            return false;
        }
        int64_t wanted = s->found < enough ? enough - s->found + 1 : enough;
        blocks = 1 + ((int64_t)((double)wanted / density) >> BLOCK_BITS);
        blocks = blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks;
    }
    int64_t first = (s->upto >> BLOCK_BITS) - blocks + 1;
    s->from = (first << BLOCK_BITS) - 1;
    s->from = s->from < s->low - 1 ? s->low - 1 : s->from;
    return true;
}

static void statement_open(fulltext *s)
{
    bool blocks = range_choose(s);
    s->rows = 0;
    s->stmt = db_query(s->base.db, Q_fts_find);
    q_text(s->stmt, 1, expression_within(s, blocks));
    q_int(s->stmt, 2, s->from);
    q_int(s->stmt, 3, s->upto);
    q_text(s->stmt, 4, s->rank);
    q_int(s->stmt, 5, MAX_ROWS);
}

/* The next statement continues where the finished one ends. */
static void statement_end(fulltext *s)
{
    int64_t end = s->rows == MAX_ROWS ? s->last - 1 : s->from;
    s->stmt = NULL;
    s->looked += s->upto - end;
    s->found += s->rows;
    s->upto = end;
}

static void fulltext_find(fts *f, fts_want *w, int64_t low, int64_t high)
{
    fulltext *s = fulltext_of(f);
    *s = (fulltext){.base = *f, .want = w, .low = low, .upto = high, .exact = true};
    if (!w->expression)
        w->expression = expression_make(w);
    for (size_t i = 0; i < w->n; i++)
        s->exact &= !has_long(&w->terms[i]);
    s->rank = rank_make(w);
}

/* ts_rank() of a word that occurs once is `once`; it grows with each further occurrence, up to 1.6
 * times that. The rest follows BM25: long documents count less. */
static double score_of(const fulltext *s, double rank, double bytes)
{
    static const double once = 0.0607927;
    double times = rank / once;
    double norm = BM25_K * (1 - BM25_B + BM25_B * bytes / s->want->average);
    return (double)s->want->n_find * times * (BM25_K + 1) / (times + norm);
}

static bool fulltext_next(fts *f, fts_doc *d)
{
    fulltext *s = fulltext_of(f);
    for (;;) {
        if (!s->stmt) {
            if (s->upto < s->low || db_status(f->db) != RAMET_OK)
                return false;
            statement_open(s);
        }
        if (!q_row(s->stmt)) {
            statement_end(s);
            continue;
        }
        s->rows++;
        s->last = q_col_int(s->stmt, 0);
        *d = (fts_doc){.no = s->last,
                       .key = q_col_int(s->stmt, 1),
                       .tree = q_col_int(s->stmt, 2),
                       .session = q_col_int(s->stmt, 3),
                       .role = (int)q_col_int(s->stmt, 4),
                       .created = q_col_int(s->stmt, 5),
                       .unsure = q_col_int(s->stmt, 7) != 0 || !s->exact,
                       .score = score_of(s, q_col_real(s->stmt, 8), q_col_real(s->stmt, 6))};
        if (!s->want->pass || s->want->pass(s->want->arg, d))
            return true;
    }
}

static void fulltext_end(fts *f)
{
    fulltext *s = fulltext_of(f);
    if (s->stmt)
        q_end(s->stmt);
    s->stmt = NULL;
}

static const fts_kind fulltext_kind = {
    .window = {.max = 2000, .enough = 200, .span = 1 << BLOCK_BITS},
    .close = fulltext_close,
    .begin_write = fulltext_begin_write,
    .reset = fulltext_reset,
    .clear = fulltext_clear,
    .add = fulltext_add,
    .forget = fulltext_forget,
    .owner = fulltext_owner,
    .tidy = fulltext_tidy,
    .find = fulltext_find,
    .next = fulltext_next,
    .end = fulltext_end,
};

ramet_status fts_over(db *d, fts **out, char *message)
{
    fulltext *s = xcalloc(1, sizeof *s);
    *out = NULL;
    s->base = (fts){.kind = &fulltext_kind, .db = d, .cut = tokenizer_new()};
    if (s->base.cut) {
        *out = &s->base;
        return RAMET_OK;
    }
    fts_close(&s->base);
    snprintf(message, 512, "this SQLite has no FTS5, whose tokenizer is used");
    return RAMET_CANNOT_OPEN;
}
