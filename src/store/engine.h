/* SPDX-License-Identifier: Apache-2.0
 *
 * engine.h: the interface that an engine implements for store/db.h. Only files of store/ include
 * it.
 *
 * The structs of a connection and a statement of an engine begin with the structs below, so that
 * db.c can find the engine's functions. The status of a connection is kept here for both engines.
 */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include "store/db.h"

typedef struct db_engine {
    const char *name;
    ramet_status (*open)(const db_config *cfg, db **out, char *message);
    void (*close)(db *d);
    void (*cleared)(db *d); /* after db_clear(); NULL: nothing to do */

    ramet_status (*begin)(db *d, db_work what);
    void (*end_read)(db *d);
    ramet_status (*commit)(db *d);
    void (*rollback)(db *d);
    void (*conflict)(db *d); /* NULL: there is only one writer */
    int64_t (*changes)(db *d);
    int64_t (*epoch)(db *d);
    int64_t (*past)(db *d); /* NULL: it never changes */
    int64_t (*number)(db *d, db_kind what, int64_t *at, bool above);
    int64_t (*highest)(db *d, db_kind what);

    db_stmt *(*query)(db *d, sql_id q);
    void (*bind_int)(db_stmt *q, int n, int64_t v);
    void (*bind_text)(db_stmt *q, int n, const char *s);
    void (*bind_blob)(db_stmt *q, int n, const void *p, size_t len);
    bool (*row)(db_stmt *q);
    void (*run)(db_stmt *q);
    void (*change)(db_stmt *q);
    void (*guard)(db_stmt *q); /* NULL: there is only one writer */
    void (*hold)(db_stmt *q);  /* NULL: there is only one writer */
    void (*end)(db_stmt *q);
    /* NULL: a read is not a round trip. */
    bool (*prefetch_begin)(db *d);
    bool (*prefetch_end)(db *d);
    void (*prefetch_forget)(db *d);
    int64_t (*col_int)(db_stmt *q, int n);
    double (*col_real)(db_stmt *q, int n);
    const void *(*col_bytes)(db_stmt *q, int n, bool text, size_t *len); /* NULL for NULL */
    bool (*col_null)(db_stmt *q, int n);

    /* A schema script as this engine runs it, and the statements that mark a store of a version;
     * the caller frees it. */
    char *(*plain)(const char *sql);
    char *(*version_text)(int64_t v);
    ramet_status (*script)(db *d, const char *sql);
    int64_t (*one)(db *d, const char *sql);
    int64_t (*version)(db *d);
    void (*set_version)(db *d, int64_t v);
    bool (*marked)(db *d);
    void (*mark)(db *d);
    bool (*empty)(db *d);
    void (*sizes)(db *d, int64_t *data, int64_t *log);
    bool (*check)(db *d, void (*line)(void *arg, const char *text), void *arg);
    ramet_status (*backup)(db *d, const char *path, ramet_progress progress, void *arg);
    /* Both NULL: there is no separate log. */
    int (*log_pages)(const db *d);
    ramet_status (*checkpoint)(db *d);
    ramet_status (*scrub)(db *d);
} db_engine;

struct db {
    const db_engine *engine;
    ramet_status status;
    bool engine_failed;      /* the failure came from the engine, not from db_fail() */
    bool guarded;            /* db_guarded() */
    bool fresh;              /* db_fresh() */
    bool (*stop)(void *arg); /* db_stop_when() */
    void *stop_arg;
    unsigned statements; /* since `stop` was last called */
    char message[512];
};

struct db_stmt {
    const db_engine *engine;
    db *connection;
};

/* Fails the transaction because what it relies on has changed; the store runs it again. */
void db_conflict(db *d);
/* Whether the read must end: then the connection has failed. */
bool db_stopping(db *d);
/* The same for an engine that calls back about every millisecond of a statement. */
int db_on_progress(void *d);
enum { DB_STEPS_PER_STOP = 20000 };

extern const db_engine sqlite_engine, postgres_engine;

/* Expands the marks of a schema script: words by the table; @ENGINE{…} is replaced by its content
 * when it names this engine, and removed otherwise; @KEYED(column) ends a table of a tree. The
 * caller frees it. */
typedef struct db_word {
    const char *mark, *word;
} db_word;
char *script_expand(const char *sql, const db_engine *e, const db_word *words, size_t n,
                    const char *keyed);

#endif
