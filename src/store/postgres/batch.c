/* SPDX-License-Identifier: Apache-2.0
 *
 * Guarded transactions of PostgreSQL (DB_GUARDED): many writes in one statement.
 *
 * The writes of such a transaction are buffered until it commits. Then the rows of each table are
 * sent as an array, and all tables go into one statement, which is a transaction of its own: one
 * round trip, one commit and one start of the executor, however many callers share it.
 *
 * Invariants
 *
 *   T1  A guard counts the rows that it has found; when they are fewer than expected, the statement
 *       divides by zero, so that none of it takes effect.
 *   T2  Rows are sorted by their key before they are locked, so two such transactions cannot
 *       deadlock. (The server detects a deadlock with another kind of transaction, and the write is
 *       run again.)
 *   T3  Several growths of one branch become one: the branch must be as the first knew it, and
 *       becomes what the last made of it. Each of them knew what the one before it made.
 *   T4  No table refers to another by a constraint, and no part of the statement sees what another
 *       part has written: a branch that is made in it cannot grow in it, and no caller can ask for
 *       that before the caller that made the branch was answered. Writes that have no part in the
 *       statement follow it, in the order in which they came.
 *   T5  Only statements that are marked for it are kept (P9). The writes of one operation are
 *       contiguous, from `operation` on while it runs, so that they can be undone as a whole.
 */
#include "store/postgres/postgres.h"

#include "base/buf.h"
#include "base/util.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the rows of a statement are merged: a part of a WITH that takes them as an array of the type
 * `type`, which has a column for each parameter of the statement (schema.c). One array of rows
 * costs the server much less than one array for each column.
 *
 * Rows of the tables are looked up by key, one by one (decision 0044). With a plain join, or an
 * equality that a merge join can use, the planner would scan a table that it believes to be small.
 */
typedef struct merge {
    sql_id id;
    const char *type;
    const char *text;    /* $1 is the array */
    const char *counted; /* the part that must return a row for each of them; NULL: none */
    int keys;            /* this many parameters are the key: rows are sorted by it */
    bool once;           /* equal rows count once; other rows with the same key are a conflict */
} merge;

/* The columns of an array of rows, named after the parameters. */
#define COLUMN(n) "c" #n
#define COLUMNS_14 "c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14"

static const merge merges[] = {
    {Q_guard_tree, "put_stamp",
     "gt AS (SELECT 1 FROM unnest($1::put_stamp[]) u(tree,stamp) CROSS JOIN LATERAL "
     "(SELECT 1 FROM tree x WHERE x.tree=u.tree AND x.stamp=u.stamp OFFSET 0) t)",
     "gt", 2, true},
    {Q_guard_fork, "put_head",
     "gh AS (SELECT 1 FROM unnest($1::put_head[]) u(tree,stamp,id,tip) CROSS JOIN LATERAL "
     "(SELECT 1 FROM tree x WHERE x.tree=u.tree AND x.stamp=u.stamp OFFSET 0) t "
     "CROSS JOIN LATERAL (SELECT 1 FROM branch x WHERE x.tree=u.tree AND x.id>=u.id AND x.id<=u.id "
     "AND x.tip=u.tip AND x.live=1 ORDER BY x.id OFFSET 0) b)",
     "gh", 3, true},
    {Q_branch_add, "put_branch",
     "ba AS (INSERT INTO branch(" BRANCH_ADD_COLS ") SELECT " BRANCH_ADD_ROW(
         COLUMN) " FROM unnest($1::put_branch[]) u(" COLUMNS_14 ",c15,c16,c17))",
     NULL, 1, false},
    {Q_session_add, "put_session",
     "su AS (SELECT * FROM unnest($1::put_session[]) u(" COLUMNS_14 ",c15,c16,c17,c18,c19,c20,c21,"
     "c22,c23)),sd AS (INSERT INTO dir(id,kind,tree,no) SELECT c3,1,c2,c1 FROM su),"
     "sa AS (INSERT INTO session(" SESSION_ADD_COLS ") SELECT " SESSION_ADD_ROW(COLUMN) " FROM su)",
     NULL, 1, false},
    {Q_branch_grow, "put_growth",
     "bg AS (UPDATE branch b SET len=u.len,tip=u.tip,touched=u.touched,run=1 FROM "
     "unnest($1::put_growth[]) u(tree,id,len,tip,touched,old,live,run) "
     "WHERE b.tree=ANY(ARRAY[u.tree]) AND b.id>=u.id AND b.id<=u.id "
     "AND (b.tree,b.id)>=(u.tree,u.id) AND b.tip=u.old AND b.live=u.live AND b.run=u.run "
     "RETURNING 1)",
     "bg", 2, false},
    {Q_entry_add, "put_entry",
     "ea AS (INSERT INTO entry(" ENTRY_ADD_COLS ") SELECT u.*,0 FROM unnest($1::put_entry[]) u)",
     NULL, 1, false},
    {Q_event_add, "put_event",
     "oa AS (INSERT INTO outbox(tree,session,kind,k,n,at) SELECT u.b,u.c,u.d,u.e,u.f,u.g FROM "
     "unnest($1::put_event[]) u(a,b,c,d,e,f,g))",
     NULL, 0, false},
};
#define N_MERGES (sizeof merges / sizeof *merges)
#define MANY_PARAMS 64
#define MANY_TEXT 8192

/* How long a connection waits for a lock from its first guarded write on. It must be short: a
 * revocation waits for the writes in progress (store/postgres/fence.c), and a group for each of its
 * operations. A write that times out is run again, in the end as a serializable transaction. */
#define BRIEF_MS "500"

#define MAX_WHOLE 4 /* statements in one `whole` */
#define P(n) (UINT64_C(1) << (n))

/* A frequent transaction of a single caller as one statement, whose parameters are those of its
 * single statements, one after the other. All parts depend on the row that the guards find: without
 * it nothing is written, and the server reports 0 rows (FOR_WHOLE). */
typedef struct whole {
    const char *name, *text;
    sql_id ids[MAX_WHOLE];
    size_t n;
    /* Parameters whose columns are INT and not BIGINT. They are sent as INT: the server would set
     * up a conversion each time. */
    uint64_t narrow;
} whole;

static const whole wholes[] = {
    {"whole_append",
     "WITH b AS (UPDATE branch b SET len=$5,tip=$6,touched=$7,run=1 FROM tree t "
     "WHERE t.tree=$1 AND t.stamp=$2 AND b.tree=$3 AND b.id=$4 AND b.tip=$8 AND b.live=$9 "
     "AND b.run=$10 AND (b.tree,b.id)>=($3,$4) RETURNING 1),"
     "o AS (INSERT INTO outbox(tree,session,kind,k,n,at) SELECT $28,$29,$30,$31,$32,$33 FROM b) "
     "INSERT INTO entry(" ENTRY_ADD_COLS
     ") SELECT $11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,"
     "$24,$25,$26,0 FROM b",
     {Q_guard_tree, Q_branch_grow, Q_entry_add, Q_event_add},
     4,
     P(5) | P(9) | P(10) | P(15) | P(25) | P(26) | P(30) | P(32)},
    {"whole_fork",
     "WITH g AS (SELECT 1 FROM tree t JOIN branch h ON h.tree=t.tree WHERE t.tree=$1 "
     "AND t.stamp=$2 AND h.tree=$1 AND h.id=$3 AND h.tip=$4 AND h.live=1 "
     "AND (h.tree,h.id)>=($1,$3)),"
     "b AS (INSERT INTO branch(" BRANCH_ADD_COLS ") SELECT $5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,"
     "$16,$17,$10,$18,1,$17,0,$19,$20,$21 FROM g),d AS (INSERT INTO dir(id,kind,tree,no) SELECT "
     "$24,1,$23,"
     "$22 FROM g),o AS (INSERT INTO outbox(tree,session,kind,k,n,at) SELECT $46,$47,$48,$49,"
     "$50,$51 FROM g) INSERT INTO session(" SESSION_ADD_COLS
     ") SELECT $22,$23,$24,$25,$26,$27,$28,$29,$30,"
     "$31,$32,$33,$34,$35,$36,$37,$38,0,$39,$40,$39,$40,0,0,0,0,$41,$42,$42,0,0,0,0,$43,$44 "
     "FROM g",
     {Q_guard_fork, Q_branch_add, Q_session_add, Q_event_add},
     4,
     P(8) | P(10) | P(11) | P(13) | P(16) | P(26) | P(28) | P(33) | P(35) | P(38) | P(48) | P(50)},
};
#define N_WHOLES (sizeof wholes / sizeof *wholes)

typedef struct pg_write {
    sql_id id;
    int n;
    Oid types[PG_PARAMS];
    const char *values[PG_PARAMS];
    int lengths[PG_PARAMS];
} pg_write;

struct pg_batch {
    arena *arena; /* memory of the values */
    pg_write *writes;
    size_t n, cap, bytes;
    size_t operation; /* the first write of the running operation */
    pg_stmt whole[N_WHOLES];
    pg_stmt *many[1 << N_MERGES]; /* by the set of merges that take part; NULL: not used yet */
    bool brief;                   /* lock_timeout of the connection is BRIEF_MS */
    bool knows;                   /* the OIDs of the types in this database are known: */
    Oid types[N_MERGES], arrays[N_MERGES];
};

/* The parameters of a statement that is being built. */
typedef struct params {
    int n;
    Oid types[MANY_PARAMS];
    const char *values[MANY_PARAMS];
    int lengths[MANY_PARAMS], formats[MANY_PARAMS];
} params;

/* ------------------------------------------------------------------ keeping */

pg_batch *batch_new(void)
{
    pg_batch *b = xcalloc(1, sizeof *b);
    b->arena = arena_new();
    return b;
}

void batch_free(pg_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < 1 << N_MERGES; i++)
        free(b->many[i]);
    arena_free(b->arena);
    free(b->writes);
    free(b);
}

void batch_clear(pg_batch *b)
{
    arena_reset(b->arena);
    b->n = b->bytes = b->operation = 0;
}

size_t batch_bytes(const pg_batch *b)
{
    return b->bytes;
}

void batch_keep(pg_batch *b, const pg_stmt *q)
{
    assert(sql_guarded(q->id)); /* P9 */
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 64;
        b->writes = xrealloc(b->writes, b->cap * sizeof *b->writes);
    }
    pg_write *w = &b->writes[b->n++];
    w->id = q->id;
    w->n = q->n;
    for (int i = 0; i < q->n; i++) {
        bool is_int = q->types[i] == PG_INT8;
        const char *from = is_int ? (const char *)&q->ints[i] : q->values[i];
        size_t len = is_int ? 8 : q->values[i] ? (size_t)q->lengths[i] : 0;
        w->types[i] = q->types[i];
        w->lengths[i] = (int)len;
        w->values[i] = from ? arena_memdup(b->arena, from, len) : NULL;
        b->bytes += len + 16;
    }
}

/* ------------------------------------------------------------------- arrays */

static void put_int(buf *to, uint32_t v)
{
    v = htonl(v);
    buf_add(to, &v, 4);
}

/* A row in PostgreSQL's binary form of a composite value, preceded by its length. */
static void row_put(buf *to, const pg_write *row)
{
    size_t at = to->n;
    put_int(to, 0); /* placeholder for the length */
    put_int(to, (uint32_t)row->n);
    for (int i = 0; i < row->n; i++) {
        const char *value = row->values[i];
        put_int(to, row->types[i]);
        put_int(to, value ? (uint32_t)row->lengths[i] : UINT32_MAX);
        if (value)
            buf_add(to, value, (size_t)row->lengths[i]);
    }
    uint32_t len = htonl((uint32_t)(to->n - at - 4));
    if (!to->over)
        memcpy(to->data + at, &len, 4);
}

/* Writes the rows in PostgreSQL's binary form of an array. */
static void array_make(buf *to, Oid type, pg_write *const *rows, size_t n)
{
    put_int(to, 1); /* dimension */
    put_int(to, 0); /* holds no NULL */
    put_int(to, type);
    put_int(to, (uint32_t)n);
    put_int(to, 1); /* numbered from 1 */
    for (size_t i = 0; i < n; i++)
        row_put(to, rows[i]);
}

/* Reads the OIDs of the types, which differ between databases. */
static bool types_ask(pg *d)
{
    pg_batch *b = d->batch;
    buf text;
    buf_init(&text, MANY_TEXT);
    buf_puts(&text, "SELECT t.oid,t.typarray FROM unnest(ARRAY[");
    for (size_t i = 0; i < N_MERGES; i++)
        buf_printf(&text, "%s'%s'", i ? "," : "", merges[i].type);
    buf_puts(&text, "]::regtype[]) WITH ORDINALITY u(type,n) JOIN pg_type t ON t.oid=u.type "
                    "ORDER BY u.n");
    PGresult *r = link_exec(d, text.data);
    buf_release(&text);
    for (size_t i = 0; r && i < N_MERGES; i++) {
        b->types[i] = (Oid)strtoul(PQgetvalue(r, (int)i, 0), NULL, 10);
        b->arrays[i] = (Oid)strtoul(PQgetvalue(r, (int)i, 1), NULL, 10);
    }
    b->knows = r != NULL;
    PQclear(r);
    return b->knows;
}

/* ----------------------------------------------------------------- together */

static _Thread_local int sort_keys;

static int row_order(const void *a, const void *b)
{
    const pg_write *x = *(pg_write *const *)a, *y = *(pg_write *const *)b;
    for (int i = 0; i < sort_keys; i++) {
        int c = memcmp(x->values[i], y->values[i], 8); /* numbers above 0, in network order */
        if (c)
            return c;
    }
    return x < y ? -1 : x > y; /* in order of arrival */
}

static bool same_key(const pg_write *x, const pg_write *y, int keys)
{
    for (int i = 0; i < keys; i++)
        if (memcmp(x->values[i], y->values[i], 8) != 0)
            return false;
    return true;
}

/* Neither has a NULL value. */
static bool same_row(const pg_write *x, const pg_write *y)
{
    for (int i = 0; i < x->n; i++)
        if (x->lengths[i] != y->lengths[i] ||
            memcmp(x->values[i], y->values[i], (size_t)x->lengths[i]) != 0)
            return false;
    return true;
}

/* T3. False: the second does not expect what the first makes of the branch. */
static bool growth_join(pg_write *first, const pg_write *last)
{
    if (last->lengths[5] != first->lengths[3] ||
        memcmp(last->values[5], first->values[3], (size_t)first->lengths[3]) != 0)
        return false;
    for (int i = 2; i < 5; i++) {
        first->values[i] = last->values[i];
        first->lengths[i] = last->lengths[i];
    }
    return true;
}

/* Merges rows with the same key. Returns how many are left; 0: they conflict. */
static size_t rows_join(const merge *m, pg_write **rows, size_t n)
{
    size_t kept = 0;
    if (!m->once && m->id != Q_branch_grow)
        return n;
    for (size_t i = 0; i < n; i++) {
        if (!kept || !same_key(rows[kept - 1], rows[i], m->keys))
            rows[kept++] = rows[i];
        else if (m->once ? !same_row(rows[kept - 1], rows[i])
                         : !growth_join(rows[kept - 1], rows[i]))
            return 0;
    }
    return kept;
}

static void param_add(params *p, Oid type, const char *value, int len)
{
    p->types[p->n] = type;
    p->values[p->n] = value;
    p->lengths[p->n] = len;
    p->formats[p->n++] = 1;
}

/* Adds the rows of a merge as a parameter, followed by their number if that is checked. */
static void rows_add(pg_batch *b, params *p, size_t which, pg_write **rows, size_t n)
{
    buf array;
    buf_init(&array, (size_t)1 << 30);
    array_make(&array, b->types[which], rows, n);
    int len = (int)array.n;
    param_add(p, b->arrays[which], buf_keep(&array, b->arena), len);
    if (!merges[which].counted)
        return;
    int64_t count = link_int((int64_t)n);
    param_add(p, PG_INT8, arena_memdup(b->arena, &count, 8), 8);
}

/* Adds a text whose parameters are numbered from 1 on, after `before` others. */
static void text_add(buf *to, const char *text, int before)
{
    while (*text) {
        size_t n = strcspn(text, "$");
        buf_add(to, text, n);
        text += n;
        if (*text != '$')
            break;
        buf_printf(to, "$%ld", strtol(text + 1, (char **)&text, 10) + before);
    }
}

/* The statement of the merges in `mask`. */
static void many_text(buf *to, unsigned mask)
{
    buf check;
    int before = 0;
    buf_init(&check, MANY_TEXT);
    for (size_t i = 0; i < N_MERGES; i++) {
        const merge *m = &merges[i];
        if (!(mask & 1u << i))
            continue;
        buf_puts(to, before ? "," : "WITH ");
        text_add(to, m->text, before);
        before++;
        if (m->counted)
            buf_printf(&check, "%s(SELECT count(*) FROM %s)=$%d", check.n ? " AND " : "",
                       m->counted, ++before);
    }
    if (check.n)
        buf_printf(to, " SELECT 1/(CASE WHEN %s THEN 1 ELSE 0 END)", check.data);
    else
        buf_puts(to, " SELECT 1");
    buf_release(&check);
}

bool batch_text(size_t i, buf *out)
{
    if (i < N_WHOLES)
        buf_puts(out, wholes[i].text);
    else if (i < N_WHOLES + N_MERGES)
        many_text(out, 1u << (i - N_WHOLES));
    return i < N_WHOLES + N_MERGES;
}

static void many_send(pg *d, unsigned mask, const params *p)
{
    pg_stmt **q = &d->batch->many[mask];
    char name[32];
    buf text;
    if (!*q)
        *q = xcalloc(1, sizeof **q);
    buf_init(&text, MANY_TEXT * 2);
    if ((*q)->prepared == PG_NEW)
        many_text(&text, mask);
    snprintf(name, sizeof name, "many_%x", mask);
    link_whole(d, *q, name, text.n ? text.data : NULL, p->n, p->types, p->values, p->lengths,
               p->formats, FOR_WRITE);
    buf_release(&text);
}

/* Sends one row by its plain statement. */
static void row_send(pg *d, const pg_write *w)
{
    pg_stmt *q = pg_stmt_of(d, w->id);
    for (int i = 0; i < w->n; i++) {
        q->types[i] = w->types[i];
        q->values[i] = w->values[i];
        q->lengths[i] = w->lengths[i];
        q->formats[i] = 1;
        if (w->types[i] == PG_INT8)
            memcpy(&q->ints[i], w->values[i], 8);
    }
    q->n = w->n;
    link_stmt(d, q, FOR_WRITE);
}

static int merge_of(sql_id id)
{
    for (size_t i = 0; i < N_MERGES; i++)
        if (merges[i].id == id)
            return (int)i;
    return -1;
}

/* Finds the writes of `w`, in the order of its parameters. False: other writes are buffered. */
static bool whole_is(const whole *w, const pg_batch *b, const pg_write **rows)
{
    if (b->n != w->n)
        return false;
    for (size_t i = 0; i < w->n; i++) {
        rows[i] = NULL;
        for (size_t k = 0; k < b->n; k++)
            if (b->writes[k].id == w->ids[i])
                rows[i] = &b->writes[k];
        if (!rows[i])
            return false;
    }
    return true;
}

/* Whether a number in network order fits into four bytes. */
static bool is_narrow(const char *value)
{
    static const char zero[4];
    return value && memcmp(value, zero, 4) == 0 && (unsigned char)value[4] < 0x80;
}

/* Collects the parameters of all rows. False: a number is too large for its column; the server
 * reports that when the rows are sent separately. */
static bool whole_params(const whole *w, const pg_write **rows, params *p)
{
    for (size_t i = 0; i < w->n; i++)
        for (int k = 0; k < rows[i]->n; k++) {
            const char *value = rows[i]->values[k];
            if (!(w->narrow & P(p->n + 1)))
                param_add(p, rows[i]->types[k], value, rows[i]->lengths[k]);
            else if (is_narrow(value))
                param_add(p, PG_INT4, value + 4, 4);
            else
                return false;
        }
    return true;
}

/* The statement that covers everything buffered; NULL: none. */
static const whole *whole_of(const pg_batch *b, params *p)
{
    const pg_write *rows[MAX_WHOLE];
    for (size_t i = 0; i < N_WHOLES; i++) {
        p->n = 0;
        if (whole_is(&wholes[i], b, rows) && whole_params(&wholes[i], rows, p))
            return &wholes[i];
    }
    p->n = 0;
    return NULL;
}

/* Collects the rows of each merge. False: rows conflict. */
static bool many_gather(pg_batch *b, params *p, unsigned *mask)
{
    pg_write **rows = arena_array(b->arena, b->n + 1, sizeof *rows);
    for (size_t which = 0; which < N_MERGES; which++) {
        const merge *m = &merges[which];
        size_t n = 0;
        for (size_t i = 0; i < b->n; i++)
            if (b->writes[i].id == m->id)
                rows[n++] = &b->writes[i];
        if (!n)
            continue;
        if (m->keys && n > 1) {
            sort_keys = m->keys;
            qsort(rows, n, sizeof *rows, row_order);
            n = rows_join(m, rows, n);
            if (!n)
                return false;
        }
        *mask |= 1u << which;
        rows_add(b, p, which, rows, n);
    }
    return true;
}

bool batch_ready(pg *d)
{
    params p = {0};
    if (!d->batch->brief && !d->site->bouncer) { /* P5 */
        link_text(d, "SET lock_timeout=" BRIEF_MS, FOR_NOTHING);
        link_sync(d);
        d->batch->brief = true;
    }
    return d->batch->knows || whole_of(d->batch, &p) || types_ask(d);
}

bool batch_send(pg *d)
{
    pg_batch *b = d->batch;
    params p = {0};
    unsigned mask = 0;
    size_t others = 0;
    const whole *w = whole_of(b, &p);
    if (w) {
        link_whole(d, &b->whole[w - wholes], w->name, w->text, p.n, p.types, p.values, p.lengths,
                   p.formats, FOR_WHOLE);
        return true;
    }
    if (!many_gather(b, &p, &mask))
        return false;
    for (size_t i = 0; i < b->n; i++)
        others += merge_of(b->writes[i].id) < 0;
    if (others) {
        link_begin(d, "BEGIN", FOR_NOTHING);
    }
    if (mask)
        many_send(d, mask, &p);
    for (size_t i = 0; i < b->n; i++)
        if (merge_of(b->writes[i].id) < 0)
            row_send(d, &b->writes[i]);
    if (others)
        link_text(d, "COMMIT", FOR_COMMIT);
    return true;
}

void batch_forget(pg_batch *b)
{
    b->knows = b->brief = false;
    for (size_t i = 0; i < N_WHOLES; i++)
        b->whole[i].prepared = PG_NEW;
    for (size_t i = 0; i < 1 << N_MERGES; i++)
        if (b->many[i])
            b->many[i]->prepared = PG_NEW;
}

size_t batch_count(const pg_batch *b)
{
    return b->n;
}

bool batch_has_events(const pg_batch *b)
{
    for (size_t i = 0; i < b->n; i++)
        if (b->writes[i].id == Q_event_add || b->writes[i].id == Q_event_member)
            return true;
    return false;
}

void batch_operation_begin(pg_batch *b)
{
    b->operation = b->n;
}

size_t batch_operation_count(const pg_batch *b)
{
    assert(b->operation <= b->n);
    return b->n - b->operation;
}

/* The tree is the first parameter of all three. */
bool batch_operation_guards(const pg_batch *b, const pg_stmt *hold)
{
    assert(hold->id == Q_hold_tree && hold->types[0] == PG_INT8);
    for (size_t i = b->operation; i < b->n; i++) {
        const pg_write *w = &b->writes[i];
        if ((w->id == Q_guard_tree || w->id == Q_guard_fork) &&
            memcmp(w->values[0], &hold->ints[0], 8) == 0)
            return true;
    }
    return false;
}

void batch_operation_undo(pg_batch *b)
{
    assert(b->operation <= b->n);
    b->n = b->operation;
}
