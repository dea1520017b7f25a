/* SPDX-License-Identifier: Apache-2.0
 *
 * Many writes in few statements: the light transactions of PostgreSQL (DB_LIGHT).
 *
 * What is written in such a transaction is kept until it is committed. Rows for the same table then
 * go into one statement, as arrays, and all of it goes out at once: one round trip, one commit,
 * however many callers share it.
 *
 *   T1  A guard fails the transaction by a division by zero, so that nothing after it is done.
 *   T2  Rows are sorted by their key before they are locked: two such transactions never wait for
 *       each other in a circle. (A deadlock with another kind is found by the server, and the
 *       write is run again.)
 *   T3  Several growths of one branch are one: it must be as the first knew it, and becomes what
 * the last made of it. Each of them knew what the one before it made. T4  No table refers to
 * another by a constraint, so that only writes to one table have an order: new branches go before
 * grown ones, all others as they came.
 */
#include "store/postgres.h"

#include "base/buf.h"
#include "base/util.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define MERGES_MOST 8

typedef struct pg_write {
    sql_id id;
    int n;
    Oid types[PG_PARAMS];
    const char *values[PG_PARAMS];
    int lengths[PG_PARAMS];
} pg_write;

struct pg_batch {
    arena *a; /* of the values */
    pg_write *w;
    size_t n, cap, bytes;
    pg_stmt many[MERGES_MOST]; /* the statements with arrays */
    int wholes[2];             /* whether they are prepared */
};

/* How rows of a statement go together: its text with arrays. Parameters stand in the same order;
 * behind them comes how many rows there are. */
typedef struct merge {
    sql_id id;
    const char *text;
    int keys;  /* the first parameters that are sorted by, and the same in equal rows */
    bool once; /* equal rows count once */
} merge;

#define ALL_OF(rows) "SELECT 1/(CASE WHEN count(*)=" rows " THEN 1 ELSE 0 END) FROM "

static const merge merges[] = {
    {Q_guard_tree,
     ALL_OF("$3") "unnest($1::int8[],$2::int8[]) u(tree,stamp) "
                  "JOIN tree t ON t.tree=u.tree AND t.stamp=u.stamp",
     2, true},
    {Q_guard_source,
     ALL_OF("$3") "(SELECT 1 FROM unnest($1::int8[],$2::int8[]) u(tree,no) JOIN session s "
                  "ON s.tree=u.tree AND s.no=u.no WHERE s.purging=0 AND s.deleted=0 "
                  "FOR SHARE OF s) held",
     2, true},
    {Q_guard_head,
     ALL_OF("$4") "unnest($1::int8[],$2::int8[],$3::bytea[]) u(tree,id,tip) "
                  "JOIN branch b ON b.tree=u.tree AND b.id=u.id AND b.tip=u.tip AND b.live=1",
     2, true},
    {Q_branch_add,
     "INSERT INTO branch(id,tree,session,log,parent,base,depth,jump,jump_base,over,delta,type,"
     "created,len,tip,live,touched,run) SELECT u.a,u.b,u.c,u.d,u.e,u.f,u.g,u.h,u.i,u.j,u.k,u.l,"
     "u.m,u.f,u.n,1,u.m,0 FROM unnest($1::int8[],$2::int8[],$3::int8[],$4::int8[],$5::int8[],"
     "$6::int8[],$7::int8[],$8::int8[],$9::int8[],$10::int8[],$11::int8[],$12::int8[],$13::int8[],"
     "$14::bytea[]) u(a,b,c,d,e,f,g,h,i,j,k,l,m,n) WHERE $15>0",
     1, false},
    {Q_session_add,
     "WITH u AS (SELECT * FROM unnest($1::int8[],$2::int8[],$3::text[],$4::int8[],$5::int8[],"
     "$6::text[],$7::int8[],$8::text[],$9::text[],$10::text[],$11::text[],$12::int8[],$13::text[],"
     "$14::int8[],$15::text[],$16::text[],$17::int8[],$18::int8[],$19::int8[],$20::int8[],"
     "$21::int8[],$22::int8[],$23::text[]) u(a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,v,w,x) "
     "WHERE $24>0),d AS (INSERT INTO dir(id,kind,tree,no) SELECT c,1,b,a FROM u) "
     "INSERT INTO session(no,tree,id,parent,depth,owner,visibility,title,agent,agent_config,"
     "metadata,type,reason,by_kind,by_id,fork_entry,fork_side,merged_into,first,first_adk,head,"
     "adk,undo,redo,moves,archived,expires,created,updated,deleted,delete_op,purging,title_key,"
     "seal,from_title) SELECT a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,0,r,s,r,s,0,0,0,0,t,v,v,0,0,0,0,"
     "w,x FROM u",
     1, false},
    {Q_branch_grow,
     "WITH done AS (UPDATE branch b SET len=u.len,tip=u.tip,touched=u.touched,run=1 FROM "
     "unnest($1::int8[],$2::int8[],$3::int8[],$4::bytea[],$5::int8[],$6::bytea[],$7::int8[],"
     "$8::int8[]) u(tree,id,len,tip,touched,old,live,run) WHERE b.tree=u.tree AND b.id=u.id "
     "AND b.tip=u.old AND b.live=u.live AND b.run=u.run RETURNING 1) " ALL_OF("$9") "done",
     2, false},
    {Q_entry_add,
     "INSERT INTO entry(k,tree,id,hash,role,channel,format,turn_id,author,client,created,text,"
     "parts,body,flags,peer,key_id) SELECT u.*,0 FROM unnest($1::int8[],$2::int8[],$3::text[],"
     "$4::bytea[],$5::int8[],$6::text[],$7::text[],$8::text[],$9::text[],$10::text[],$11::int8[],"
     "$12::text[],$13::text[],$14::text[],$15::int8[],$16::int8[]) u WHERE $17>0",
     1, false},
    {Q_event_add,
     "INSERT INTO outbox(tree,session,kind,k,n,at) SELECT u.b,u.c,u.d,u.e,u.f,u.g FROM "
     "unnest($1::int8[],$2::int8[],$3::int8[],$4::int8[],$5::int8[],$6::int8[],$7::int8[]) "
     "u(a,b,c,d,e,f,g) WHERE $8>0",
     0, false},
};
#define N_MERGES (sizeof merges / sizeof *merges)
_Static_assert(N_MERGES <= MERGES_MOST, "more room for statements");

/* What one caller writes most often, in one statement: its parameters are those of the single ones
 * behind each other. Then the transaction is that statement, too. */
typedef struct whole {
    const char *name, *text;
    sql_id ids[6];
    size_t n;
} whole;

static const whole wholes[] = {
    {"whole_append",
     "WITH b AS (UPDATE branch b SET len=$5,tip=$6,touched=$7,run=1 FROM tree t "
     "WHERE t.tree=$1 AND t.stamp=$2 AND b.tree=$3 AND b.id=$4 AND b.tip=$8 AND b.live=$9 "
     "AND b.run=$10 "
     "RETURNING 1),e AS (INSERT INTO entry(k,tree,id,hash,role,channel,format,turn_id,author,"
     "client,created,text,parts,body,flags,peer,key_id) SELECT $11,$12,$13,$14,$15,$16,$17,$18,"
     "$19,$20,$21,$22,$23,$24,$25,$26,0 FROM b),o AS (INSERT INTO outbox(tree,session,kind,k,n,"
     "at) SELECT $28,$29,$30,$31,$32,$33 FROM b) SELECT 1/count(*) FROM b",
     {Q_guard_tree, Q_branch_grow, Q_entry_add, Q_event_add},
     4},
    {"whole_fork",
     "WITH g AS (SELECT 1 FROM tree t JOIN branch h ON h.tree=t.tree JOIN session s "
     "ON s.tree=t.tree WHERE t.tree=$1 AND t.stamp=$2 AND h.tree=$3 AND h.id=$4 AND h.tip=$5 "
     "AND h.live=1 AND s.tree=$6 AND s.no=$7 AND s.purging=0 AND s.deleted=0 FOR SHARE OF s),"
     "b AS (INSERT INTO branch(id,tree,session,log,parent,base,depth,jump,jump_base,over,delta,"
     "type,created,len,tip,live,touched,run) SELECT $8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,"
     "$19,$20,$13,$21,1,$20,0 FROM g),d AS (INSERT INTO dir(id,kind,tree,no) SELECT $24,1,$23,"
     "$22 FROM g),o AS (INSERT INTO outbox(tree,session,kind,k,n,at) SELECT $46,$47,$48,$49,"
     "$50,$51 FROM g),n AS (INSERT INTO session(no,tree,id,parent,depth,owner,visibility,title,"
     "agent,agent_config,metadata,type,reason,by_kind,by_id,fork_entry,fork_side,merged_into,"
     "first,first_adk,head,adk,undo,redo,moves,archived,expires,created,updated,deleted,"
     "delete_op,purging,title_key,seal,from_title) SELECT $22,$23,$24,$25,$26,$27,$28,$29,$30,"
     "$31,$32,$33,$34,$35,$36,$37,$38,0,$39,$40,$39,$40,0,0,0,0,$41,$42,$42,0,0,0,0,$43,$44 "
     "FROM g RETURNING 1) SELECT 1/count(*) FROM n",
     {Q_guard_tree, Q_guard_head, Q_guard_source, Q_branch_add, Q_session_add, Q_event_add},
     6},
};
#define N_WHOLES (sizeof wholes / sizeof *wholes)
#define WHOLE_PARAMS 64

/* ------------------------------------------------------------------ keeping */

pg_batch *batch_new(void)
{
    pg_batch *b = xcalloc(1, sizeof *b);
    b->a = arena_new();
    return b;
}

void batch_free(pg_batch *b)
{
    if (!b)
        return;
    arena_free(b->a);
    free(b->w);
    free(b);
}

void batch_clear(pg_batch *b)
{
    arena_reset(b->a);
    b->n = b->bytes = 0;
}

size_t batch_bytes(const pg_batch *b)
{
    return b->bytes;
}

void batch_keep(pg_batch *b, const pg_stmt *q)
{
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 64;
        b->w = xrealloc(b->w, b->cap * sizeof *b->w);
    }
    pg_write *w = &b->w[b->n++];
    w->id = q->id;
    w->n = q->n;
    for (int i = 0; i < q->n; i++) {
        bool is_int = q->types[i] == PG_INT8;
        const char *from = is_int ? (const char *)&q->ints[i] : q->values[i];
        size_t len = is_int ? 8 : q->values[i] ? (size_t)q->lengths[i] : 0;
        w->types[i] = q->types[i];
        w->lengths[i] = (int)len;
        w->values[i] = from ? arena_memdup(b->a, from, len) : NULL;
        b->bytes += len + 16;
    }
}

/* ------------------------------------------------------------------- arrays */

static void put_int(buf *to, uint32_t v)
{
    v = htonl(v);
    buf_add(to, &v, 4);
}

/* One parameter of all rows, as PostgreSQL's binary form of an array. */
static void array_make(buf *to, pg_write *const *rows, size_t n, int column)
{
    Oid type = rows[0]->types[column];
    buf_clear(to);
    put_int(to, 1); /* dimension */
    put_int(to, 1); /* may hold NULL */
    put_int(to, type);
    put_int(to, (uint32_t)n);
    put_int(to, 1); /* numbered from 1 */
    for (size_t i = 0; i < n; i++) {
        const char *value = rows[i]->values[column];
        put_int(to, value ? (uint32_t)rows[i]->lengths[column] : UINT32_MAX);
        if (value)
            buf_add(to, value, (size_t)rows[i]->lengths[column]);
    }
}

static Oid array_type(Oid of)
{
    return of == PG_INT8 ? 1016 : of == PG_TEXT ? 1009 : 1001;
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
    return x < y ? -1 : x > y; /* as they came */
}

static bool same_row(const pg_write *x, const pg_write *y, int keys)
{
    for (int i = 0; i < keys; i++)
        if (memcmp(x->values[i], y->values[i], 8) != 0)
            return false;
    return true;
}

/* T3. False: the second did not know what the first makes of the branch. */
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

/* How many rows are left; 0: they do not fit together. */
static size_t rows_join(const merge *m, pg_write **rows, size_t n)
{
    size_t kept = 0;
    if (!m->once && m->id != Q_branch_grow)
        return n;
    for (size_t i = 0; i < n; i++) {
        if (!kept || !same_row(rows[kept - 1], rows[i], m->keys))
            rows[kept++] = rows[i];
        else if (!m->once && !growth_join(rows[kept - 1], rows[i]))
            return 0;
    }
    return kept;
}

static void rows_send(pg *d, size_t which, pg_write **rows, size_t n)
{
    pg_stmt *q = &d->batch->many[which];
    buf arrays[PG_PARAMS];
    int columns = rows[0]->n;
    q->base = (db_stmt){&postgres_engine, &d->base};
    q->d = d;
    q->id = merges[which].id;
    q->many = merges[which].text;
    for (int i = 0; i < columns; i++) {
        buf_init(&arrays[i], (size_t)1 << 30);
        array_make(&arrays[i], rows, n, i);
        q->types[i] = array_type(rows[0]->types[i]);
        q->values[i] = arrays[i].p;
        q->lengths[i] = (int)arrays[i].n;
        q->formats[i] = 1;
    }
    q->types[columns] = PG_INT8;
    q->ints[columns] = link_int((int64_t)n);
    q->lengths[columns] = 8;
    q->formats[columns] = 1;
    q->n = columns + 1;
    link_stmt(d, q, FOR_WRITE);
    for (int i = 0; i < columns; i++)
        buf_release(&arrays[i]);
}

/* One row goes by the plain statement. */
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

/* The writes of `w` in the order of its parameters; false: these are others. */
static bool whole_is(const whole *w, const pg_batch *b, const pg_write **rows)
{
    if (b->n != w->n)
        return false;
    for (size_t i = 0; i < w->n; i++) {
        rows[i] = NULL;
        for (size_t k = 0; k < b->n; k++)
            if (b->w[k].id == w->ids[i])
                rows[i] = &b->w[k];
        if (!rows[i])
            return false;
    }
    return true;
}

static void whole_send(pg *d, size_t which, const pg_write **rows)
{
    const whole *w = &wholes[which];
    const char *values[WHOLE_PARAMS];
    int lengths[WHOLE_PARAMS], formats[WHOLE_PARAMS], n = 0;
    Oid types[WHOLE_PARAMS];
    for (size_t i = 0; i < w->n; i++)
        for (int k = 0; k < rows[i]->n; k++, n++) {
            types[n] = rows[i]->types[k];
            values[n] = rows[i]->values[k];
            lengths[n] = rows[i]->lengths[k];
            formats[n] = 1;
        }
    link_whole(d, w->name, w->text, &d->batch->wholes[which], n, types, values, lengths, formats);
}

bool batch_whole(pg *d)
{
    const pg_write *rows[6];
    for (size_t i = 0; i < N_WHOLES; i++)
        if (whole_is(&wholes[i], d->batch, rows)) {
            whole_send(d, i, rows);
            return true;
        }
    return false;
}

bool batch_send(pg *d)
{
    pg_batch *b = d->batch;
    pg_write **rows = arena_array(b->a, b->n + 1, sizeof *rows);
    for (size_t which = 0; which < N_MERGES; which++) {
        const merge *m = &merges[which];
        size_t n = 0;
        for (size_t i = 0; i < b->n; i++)
            if (b->w[i].id == m->id)
                rows[n++] = &b->w[i];
        if (m->keys && n > 1) {
            sort_keys = m->keys;
            qsort(rows, n, sizeof *rows, row_order);
            n = rows_join(m, rows, n);
            if (!n)
                return false;
        }
        if (n == 1)
            row_send(d, rows[0]);
        else if (n)
            rows_send(d, which, rows, n);
    }
    for (size_t i = 0; i < b->n; i++)
        if (merge_of(b->w[i].id) < 0)
            row_send(d, &b->w[i]);
    return true;
}

void batch_forget(pg_batch *b)
{
    for (size_t i = 0; i < N_MERGES; i++)
        b->many[i].prepared = PG_NEW;
    memset(b->wholes, 0, sizeof b->wholes);
}

size_t batch_count(const pg_batch *b)
{
    return b->n;
}

void batch_cut(pg_batch *b, size_t n)
{
    b->n = n;
}
