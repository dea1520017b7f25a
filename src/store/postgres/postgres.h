/* SPDX-License-Identifier: Apache-2.0
 *
 * postgres.h: what the files of the PostgreSQL engine share.
 *
 *   postgres.c         transactions and statements: the engine of store/db.h
 *   connection.c       one connection: sending, waiting, errors
 *   batch.c            the writes of a guarded transaction in one statement
 *   group_commit.c     guarded writes of many threads in one transaction
 *   prefetch.c         many reads in one round trip
 *   value.c            columns of a result
 *   postgres_schema.c  tables, partitions, version, sizes
 *   site.c             the URL and the settings of its connections
 *   number_block.c     numbers, reserved in blocks
 *   event_sequencer.c  numbers events after their commit
 *   replica.c          read replicas
 *   bus.c              publish and subscribe between processes
 *   fence.c            waits for transactions that may have missed a commit
 *   node_table.c       which processes live, and which of them runs a job
 *   fulltext.c         the search index
 *   pool_store.c       the pool of connections (store/store.h)
 *
 * Invariants
 *
 *   P1  A connection is in pipeline mode. Whatever is sent is noted in `sent`, in order; each
 *       answer belongs to the first item that has none yet. link_settle() reads all.
 *   P2  BEGIN goes out with the first statement of a transaction. Writes are sent without waiting
 *       and answered with the next read or with COMMIT: a transaction of R reads and any number of
 *       writes takes R + 1 round trips, a read-only one R.
 *   P3  The end of a read, and a ROLLBACK, are sent without waiting; their answers are read when
 *       the connection is used next. An answer that belongs to an earlier transaction fails nothing
 *       in the present one.
 *   P4  A connection that died is noticed by the first exchange of a transaction, which has changed
 *       nothing yet: it is made again and the exchange repeated, once, unless it now leads to
 *       another past (P6).
 *   P5  Between two transactions a connection has no state that pgbouncer could lose: with
 *       pgbouncer=1 statements are not prepared by name and settings are made in each transaction.
 *   P6  A server that was promoted may lack what its predecessor had acknowledged, reserved numbers
 *       among it. Each connection asks for the server's timeline before anything else goes over it,
 *       behind pgbouncer each transaction; when that is another one, a new past begins: numbers
 *       that were reserved in the old one are not used any more, and caches of it are emptied
 *       (db_past()). A transaction belongs to the past in which it began. When that changes under
 *       it, it fails as a conflict before any answer of the new server is used, and before it is
 *       committed; a connection of an older past is made again when the next transaction begins.
 *   P7  db.status and `failure` belong together: the first failure sets both, db_clear() clears
 *       both. What db_clear() must not undo, it sets again: that the connection is lost, that the
 *       server has undone what a transaction wrote, or that an operation cannot be guarded (P9).
 *   P8  A transaction that wrote is committed only when the server has answered the sync behind its
 *       commit (FOR_COMMIT_SYNC, then STATE_COMMITTED). A failure before STATE_COMMITTING, or one
 *       that the server itself reports, means that nothing of it was written; a connection that is
 *       lost in between means that the outcome is unknown (FAILURE_UNKNOWN).
 *   P9  In a guarded transaction only statements run that are marked for it (sql_guarded()). Any
 *       other one, and a right that is used without a guard (q_hold()), fails the operation as
 *       FAILURE_UNGUARDED: it has to be run again in a serializable transaction.
 */
#ifndef STORE_POSTGRES_POSTGRES_H
#define STORE_POSTGRES_POSTGRES_H

#include "base/buf.h"
#include "store/engine.h"
#include "store/store.h"

#include <libpq-fe.h>
#include <pthread.h>

#define PG_PARAMS 40

enum { PG_INT8 = 20, PG_INT4 = 23, PG_TEXT = 25, PG_BYTEA = 17 }; /* types by their OID */

/* -------------------------------------------------- what connections share */

/* A run of numbers that this process has reserved. */
typedef struct pg_block {
    int64_t next, end;
    int64_t size; /* of the last block */
    int64_t past; /* P6 */
} pg_block;

struct db_site {
    char *shown;               /* the URL without secrets */
    char **keys, **values;     /* for libpq; NULL-terminated */
    bool bouncer;              /* P5 */
    bool replica;              /* read-only: its past is not that of the primary */
    char *settings;            /* a statement that makes them for one transaction */
    int partitions;            /* of a new store */
    int statement_ms, lock_ms; /* time-outs */
    bool positions;            /* `position` is requested with each commit */
    _Atomic int64_t position;  /* in the log of the server, at or after the last commit here */

    pthread_mutex_t past_lock;
    int64_t timeline;     /* of the server that the last connection led to; 0: not known */
    _Atomic int64_t past; /* P6 */

    pthread_mutex_t lock; /* protects the numbers, and the connection that reserves them */
    pg_block blocks[DB_KINDS];
    int64_t created; /* creation time of the newest session known */
    struct pg *side;
};

/* Reads the URL. On failure *out is NULL. */
ramet_status site_open(const char *url, db_site **out, char *message);
void site_close(db_site *s);
/* The past that a connection is in, by the timeline of its server. */
int64_t site_past(db_site *s, int64_t timeline);
bool site_has_timeline(db_site *s); /* whether a timeline is known */
/* An expression that returns it as hexadecimal digits; empty on a replica. */
#define TIMELINE                                                                                   \
    "CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_lsn()),8) END"
/* A URL without its password, for people. */
void url_shown(const char *url, char *out, size_t size);

/* ------------------------------------------------------------ a connection */

typedef struct pg pg;

typedef struct pg_stmt {
    db_stmt base;
    pg *connection;
    sql_id id;
    enum { PG_NEW, PG_SENT, PG_PREPARED } prepared;
    int n; /* parameters */
    Oid types[PG_PARAMS];
    const char *values[PG_PARAMS];
    int lengths[PG_PARAMS], formats[PG_PARAMS];
    int64_t ints[PG_PARAMS]; /* in network order */
    PGresult *res;           /* NULL: not run, or at its end */
    bool lent;               /* the result belongs to the prefetch cache */
    int row;
} pg_stmt;

/* The purpose of an answer. */
typedef enum {
    FOR_NOTHING,
    FOR_PREPARE,
    FOR_WRITE,
    FOR_WHOLE, /* a write that does nothing when what it relies on has changed */
    FOR_READ,
    FOR_PREFETCH,
    FOR_COMMIT,
    FOR_PAST, /* P6, in its last column */
    FOR_POSITION,
    FOR_SYNC,
    FOR_COMMIT_SYNC /* P8: acknowledges a commit */
} pg_purpose;

typedef struct prefetch_item prefetch_item;
typedef struct pg_prefetch pg_prefetch;

typedef struct pg_sent {
    pg_purpose what;
    pg_stmt *stmt;
    prefetch_item *prefetched; /* stores the answer */
    int64_t turn;              /* its transaction */
} pg_sent;

typedef struct pg_batch pg_batch;
typedef struct pg_replica pg_replica;
typedef struct replicas replicas;

enum { PG_OWN = 4 };

/* Why a transaction failed (P7): what its caller may do about it. */
typedef enum {
    FAILURE_NONE,       /* it did not, or core reported it (db_fail()) */
    FAILURE_NEEDS_READ, /* it must read, which is not allowed (READS_REFUSED) */
    FAILURE_UNGUARDED,  /* it used something that no guard covers (P9): it must be serializable */
    FAILURE_CONFLICT,   /* nothing was written; it can succeed when it is run again */
    FAILURE_LOST,       /* the connection is lost, nothing was written */
    FAILURE_UNKNOWN,    /* the connection was lost during the commit (P8) */
    FAILURE_REFUSED,    /* the server refused a statement, nothing was written */
} pg_failure;

/* Whether the connection can be used. */
typedef enum {
    LINK_UP,
    LINK_CANCELLED, /* a statement was cancelled; the request may still be on its way to the server,
                       so the connection ends with this transaction */
    LINK_LOST
} pg_link;

/* Where the connection is in a transaction; pg_move() knows the legal moves.
 *
 *   IDLE ──▶ RUNNING ──▶ COMMITTING ──▶ COMMITTED ──▶ IDLE
 *              │  ▲ ▲         │
 *              ▼  │ └─────────┤ nothing was sent
 *            UNDONE           ▼
 *              └────────▶   IDLE
 */
typedef enum {
    STATE_IDLE,
    STATE_RUNNING,
    STATE_UNDONE,     /* the server has undone the transaction, because a statement failed */
    STATE_COMMITTING, /* the commit of a transaction that wrote was sent (P8) */
    STATE_COMMITTED   /* ... and is acknowledged; other answers are still due */
} pg_state;

/* The most that the present transaction has done; after its commit, the one that was committed. */
typedef enum { DID_NOTHING, DID_READ, DID_WRITE, DID_WRITE_EVENTS } pg_progress;

/* What happens to a read whose answer is not there yet. */
typedef enum {
    READS_SENT,
    READS_REFUSED,   /* it fails (FAILURE_NEEDS_READ) instead of waiting for the server */
    READS_PREFETCHED /* its answer may have been requested before (prefetch.c) */
} pg_reads;

struct pg {
    db base;
    db_site *site;
    bool own_site;
    pg_replica *replica; /* the replica that it leads to; NULL: the primary */
    PGconn *conn;
    int64_t past; /* P6 */
    pg_link link;
    pg_state state;
    pg_failure failure;
    pg_progress progress;
    pg_reads reads;
    db_work work;         /* the kind of the present transaction */
    bool begin_sent;      /* the server has, or will have, a transaction open for it */
    bool unsynced;        /* something was sent since the last sync */
    int64_t turn;         /* transactions so far */
    int64_t acknowledged; /* the turn of the last commit that the server has acknowledged (P8) */
    int64_t changes;      /* rows, so far */
    int64_t trips;        /* round trips, so far */
    pg_sent *sent;        /* P1 */
    size_t n_sent, n_done, cap;
    pg_stmt *stmts[Q_COUNT];
    pg_batch *batch; /* the writes of a guarded transaction */
    pg_prefetch *prefetch;
    int64_t epoch;    /* db_epoch(): no two transactions of this process have the same */
    pg_stmt none;     /* returned when a statement cannot be used */
    PGresult *answer; /* of a FOR_READ without a statement */
    struct {
        const char *sql; /* NULL: unused */
        pg_stmt stmt;    /* whether it is prepared */
    } own[PG_OWN];       /* the statements of link_ints() */
};

ramet_status pg_connect(db_site *site, pg **out, char *message);
/* The same for a store that is open: the failure is RAMET_IO, and the message does not reveal where
 * the database is, because any client may see it. */
ramet_status pg_reach(db_site *site, pg **out, char *message);
void pg_close(pg *d);

void pg_move(pg *d, pg_state to);
/* Undoes the writes and the failure of one operation of a guarded transaction, which continues with
 * the next one. */
void pg_operation_undo(pg *d);

/* The statement of a name, whatever its state. */
pg_stmt *pg_stmt_of(pg *d, sql_id id);
void stmt_clear(pg_stmt *q); /* drops its answer */
void stmts_clear(pg *d);

/* ---- batch.c */

pg_batch *batch_new(void);
void batch_free(pg_batch *b);
void batch_clear(pg_batch *b);
void batch_forget(pg_batch *b); /* after a reconnect */
void batch_keep(pg_batch *b, const pg_stmt *q);
size_t batch_count(const pg_batch *b);
size_t batch_bytes(const pg_batch *b);
/* The writes from batch_operation_begin() on belong to one operation. Their number; whether a guard
 * of the tree is among them; and dropping them. */
void batch_operation_begin(pg_batch *b);
size_t batch_operation_count(const pg_batch *b);
bool batch_operation_guards(const pg_batch *b, const pg_stmt *hold);
void batch_operation_undo(pg_batch *b);
bool batch_has_events(const pg_batch *b);
/* Reads what batch_send() needs to know about the database. False: that failed. */
bool batch_ready(pg *d);
/* The text of the i-th part of the combined statements, as a statement of its own, for tests of its
 * plan. False: there are no more. */
bool batch_text(size_t i, buf *out);
/* Sends all writes, as one statement where possible: that is a transaction of its own, otherwise
 * one is begun. False: writes to one branch do not follow each other. */
bool batch_send(pg *d);

/* ---- prefetch.c */

typedef enum { PREFETCH_MISS, PREFETCH_HIT, PREFETCH_ASKED } prefetch_found;
pg_prefetch *prefetch_new(void);
void prefetch_free(pg_prefetch *h);
void prefetch_clear(pg_prefetch *h);
/* PREFETCH_HIT: the statement has its answer. PREFETCH_ASKED: the answer is requested; for now
 * there is none. */
prefetch_found prefetch_look(pg *d, pg_stmt *q);
void prefetch_answer(prefetch_item *a, PGresult *r); /* takes ownership */
/* See db_prefetch(). */
bool prefetch_begin(db *d);
bool prefetch_end(db *d);
void prefetch_forget(db *d);

/* ---- connection.c */

bool link_connect(pg *d, char *message);
/* Whether it can be used, as far as is known. */
bool link_usable(const pg *d);
/* The same, but also checks for input that has arrived: one system call, without waiting. */
bool link_alive(pg *d);
/* Sending; none of these waits. A failure is sticky. */
int64_t link_int(int64_t v); /* in network order */
void link_text(pg *d, const char *sql, pg_purpose what);
/* Sends BEGIN; the answer to the settings of each transaction (P5) has the purpose `settings`. */
void link_begin(pg *d, const char *text, pg_purpose settings);
/* Sends a constant text with up to four numbers; the first PG_OWN texts of a connection are
 * prepared. */
void link_ints(pg *d, const char *sql, const int64_t *args, int n, pg_purpose what);
void link_stmt(pg *d, pg_stmt *q, pg_purpose what);
void link_prefetch(pg *d, pg_stmt *q, prefetch_item *a);
/* Sends a statement that is not in store/sql/sql.h; of `q` only `prepared` is used. */
void link_whole(pg *d, pg_stmt *q, const char *name, const char *text, int n, const Oid *types,
                const char *const *values, const int *lengths, const int *formats, pg_purpose what);
void link_sync(pg *d);
void link_sync_commit(pg *d); /* after the last statement of a commit */
/* Requests, together with a commit, its position in the log, if that is needed. */
void link_position(pg *d);
/* Reads all answers that are due. False when the connection is lost. */
bool link_settle(pg *d);
/* Runs a text outside the pipeline; the caller owns the result, NULL on failure. */
PGresult *link_exec(pg *d, const char *sql);
/* The same with parameters; results are text. */
PGresult *link_run(pg *d, const char *sql, int n, const Oid *types, const char *const *values,
                   const int *lengths, const int *formats);
void link_fail(pg *d, const PGresult *r, const char *what);
/* Fails the transaction, unless it has failed before, because the connection is lost. */
void link_lost(pg *d, const char *why);
/* The same, as a conflict, because the server is of another past (P6). */
void link_past_changed(pg *d);

/* ---- store/postgres/value.c */

int64_t value_int(const PGresult *r, int row, int col);
double value_real(const PGresult *r, int row, int col);
const void *value_bytes(const PGresult *r, int row, int col, size_t *len);

/* ---- postgres_schema.c */

/* The end of the statement that creates a partitioned table. */
#define SCHEMA_SPREAD " PARTITION BY HASH(tree)"
/* The number of partitions when the URL has none, and the maximum. 1: tables are not
 * partitioned. */
#define PARTITIONS 1
#define MAX_PARTITIONS 1024
char *schema_plain(const char *sql);
char *schema_version_text(int64_t v);
/* The end of a table, or of a partition, that leaves room on its pages; or "". */
const char *schema_room(const char *table);
/* The name of the table that a statement creates; false: it creates none. */
bool schema_table(const char *sql, char *out, size_t size);
/* The statement for a table without partitions; the caller frees it. */
char *schema_whole(const char *sql);
/* The statement that creates one partition of a table. */
void schema_part(const char *table, int part, int parts, char *out, size_t size);
ramet_status schema_script(db *d, const char *sql);
int64_t schema_one(db *d, const char *sql);
int64_t schema_version(db *d);
void schema_set_version(db *d, int64_t v);
bool schema_marked(db *d);
void schema_mark(db *d);
bool schema_empty(db *d);
void schema_sizes(db *d, int64_t *data, int64_t *log);

/* ---- store/postgres/number_block.c */

int64_t pg_number(db *d, db_kind what, int64_t *at, bool above);
/* Gives unused numbers back, unless another process has reserved numbers above them. */
void numbers_return(db_site *s);

/* ---- store/postgres/replica.c */

/* No replica has to be reachable: one that is not is left out and tried again. */
ramet_status replicas_open(const char *const *urls, size_t n, int max, replicas **out,
                           char *message);
void replicas_close(replicas *r);
/* A connection, in a read transaction, to a replica that has reached `position`, which is raised to
 * where the replica is. NULL: there is none at the moment. */
pg *replica_take(replicas *r, int64_t *position);
void replica_give(pg *d); /* after the read */

/* ---- store/postgres/event_sequencer.c: assigns event numbers after the commit */

typedef struct sequencer sequencer;
typedef void (*event_callback)(void *arg, int64_t newest);

sequencer *sequencer_new(db_site *site, event_callback on_event, void *arg);
/* Numbers what is left, and ends the thread. */
void sequencer_free(sequencer *s);
/* Called after a commit with events: they are numbered soon. */
void sequencer_wrote(sequencer *s);
/* Waits until the commits of this process have numbers; `all`: those of any process, otherwise it
 * checks only now and then for what others have left. Gives up when the database cannot be
 * reached. */
void sequencer_settle(sequencer *s, bool all);
/* A mark for what this process has committed by now; waits until that has numbers. */
int64_t sequencer_mark(sequencer *s);
void sequencer_upto(sequencer *s, int64_t mark);

/* ---- store/postgres/bus.c */

/* Channel names are shared by a whole database, and a store is a schema in it. */
#define BUS_CHANNEL "'ramet_'||md5(current_schema())"

typedef struct bus bus;
typedef store_subscriber bus_subscriber;
/* Calls `on_event` with the events that any process has numbered, once bus_follow() was called. */
bus *bus_new(db_site *site, event_callback on_event, void *arg);
void bus_free(bus *b);
bool bus_follow(bus *b); /* false: not possible */
/* See store_publish(), store_flush(), store_subscribe() and store_wait_event(). */
void bus_publish(bus *b, const char *text, size_t n);
void bus_flush(bus *b, int ms);
bool bus_subscribe(bus *b, bus_subscriber subscriber, void *arg);
void bus_wait_event(bus *b, int64_t no, int ms);

/* ---- store/postgres/fence.c: on a connection outside a transaction */

/* See store_fence(); `until` is a time of time_mono_us(). */
ramet_status fence_wait(pg *d, int64_t until);

/* ---- store/postgres/node_table.c: on a connection outside a transaction */

/* Reports that the process is alive, and lists those that did so in the last dead_us. */
ramet_status node_beat(pg *d, const char *host, int64_t dead_us, arena *a, store_hosts *out);
void node_leave(pg *d, const char *host);
/* Whether the last run of a job is at least that long ago. */
bool job_due(pg *d, const char *job, int64_t every_us);
/* The same, and takes the job: no other process gets it while `d` is open. */
bool job_take(pg *d, const char *job, int64_t every_us);

#endif
