/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a store, calls, and the two shapes of work (core.h).
 */
#include "core/upkeep/copy.h"
#include "core/attachment/files.h"
#include "store/sql/schema.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define MAX_PREFETCH_PASSES 12 /* as deep as reads depend on each other */

/* ------------------------------------------------------------------- place */

const char *ramet_where(const char *where)
{
    static _Thread_local char path[PATH_BYTES];
    if (where && strncmp(where, "sqlite:", 7) == 0)
        where += 7;
    if (where && *where) {
        store_shown(where, path, sizeof path);
        return path;
    }
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    /* The XDG rule: a relative path there is to be ignored. */
    if (data && data[0] == '/')
        snprintf(path, sizeof path, "%s/ramet/ramet.db", data);
    else
        snprintf(path, sizeof path, "%s/.local/share/ramet/ramet.db", home && *home ? home : ".");
    return path;
}

ramet_status ramet_schema(const ramet_schema_in *in, void (*statement)(void *arg, const char *sql),
                          void *arg)
{
    return schema_tell(in, statement, arg);
}

/* "word:" in front that is none of ours. */
static bool names_other_engine(const char *where)
{
    size_t n = strspn(where, "abcdefghijklmnopqrstuvwxyz0123456789+");
    return n > 1 && where[n] == ':' && strncmp(where, "sqlite:", 7) != 0 && !db_is_url(where);
}

/* A new name lasts through a power cut only when its folder was synced. */
static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* Makes the folders above a path. A failure shows when the file is opened. */
static void make_folders(const char *path)
{
    char copy[PATH_BYTES], above[PATH_BYTES] = "/";
    snprintf(copy, sizeof copy, "%s", path);
    for (char *p = copy + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = 0;
        if (mkdir(copy, 0700) == 0)
            sync_folder(above);
        snprintf(above, sizeof above, "%s", copy);
        *p = '/';
    }
}

/* --------------------------------------------------------------- open, close */

static ramet_status open_error(ramet_error *err, ramet_status st, const char *message)
{
    if (err) {
        memset(err, 0, sizeof *err);
        err->status = st;
        snprintf(err->message, sizeof err->message, "%s", message);
        snprintf(err->field, sizeof err->field, "where");
    }
    return st;
}

static size_t or_default(size_t v, size_t d)
{
    return v ? v : d;
}

static void set_limits(ramet_limits *l, const ramet_limits *in)
{
    *l = (ramet_limits){
        .entry_bytes = or_default(in->entry_bytes, (size_t)16 << 20),
        .batch = or_default(in->batch, 1000),
        .sync = or_default(in->sync, 100000),
        .id_bytes = in->id_bytes && in->id_bytes < 255 ? in->id_bytes : 255,
        .title_chars = or_default(in->title_chars, 500),
        .reason_chars = or_default(in->reason_chars, 2000),
        .tags = or_default(in->tags, 64),
        .tag_chars = or_default(in->tag_chars, 50),
        .json_depth = or_default(in->json_depth, JSON_MAX_DEPTH),
        .meta_bytes = or_default(in->meta_bytes, (size_t)64 << 10),
        .attachment_bytes = or_default(in->attachment_bytes, (size_t)64 << 20),
    };
}

static void on_event(void *arg, int64_t newest)
{
    event_tell(arg, newest);
}

/* A copy that was not finished is no store yet: numbers that it would give belong to rows that are
 * still to come. */
static ramet_status unfinished_check(store *s, char *message)
{
    ramet_status st;
    db *d = store_read_begin(s, &st, message);
    if (!d)
        return st;
    db_stmt *q = db_query(d, Q_meta_get);
    q_text(q, 1, COPY_STATE);
    const char *state = q_row(q) ? q_col_text(q, 0) : NULL;
    bool begun = state && strcmp(state, COPY_BEGUN) == 0;
    q_end(q);
    st = db_status(d);
    if (st != RAMET_OK)
        snprintf(message, 512, "%s", db_message(d));
    store_read_end(s, d);
    if (!begun || st != RAMET_OK)
        return st;
    snprintf(message, 512, "%s is a copy that is not finished; 'ramet copy' goes on with it",
             store_path(s));
    return RAMET_CANNOT_OPEN;
}

static ramet_status open_any(const char *where, const ramet_options *opt, bool unfinished,
                             ramet **out, ramet_error *err)
{
    static const ramet_options none;
    *out = NULL;
    if (!opt)
        opt = &none;
    if (where && (names_other_engine(where) || strcmp(ramet_where(where), ":memory:") == 0))
        return open_error(err, RAMET_INVALID,
                          "a store is a path, sqlite:PATH or postgres://…; write ./NAME for a file "
                          "with a colon");
    if (where && strlen(where) >= PATH_BYTES)
        return open_error(err, RAMET_INVALID, "the path of the store is too long");
    bool url = where && db_is_url(where);
    const char *path = url ? where : ramet_where(where);
    if ((!where || !*where) && !opt->must_exist)
        make_folders(path);
    store_config cfg = {.path = path,
                        .vfs = opt->engine_vfs,
                        .busy_ms = opt->busy_ms,
                        .readers = opt->readers,
                        .pool = opt->pool,
                        .direct = opt->direct,
                        .reads = opt->reads,
                        .n_reads = opt->n_reads,
                        .create = !opt->must_exist,
                        .on_event = on_event};
    char message[512] = "";
    ramet *r = xcalloc(1, sizeof *r);
    cfg.arg = r;
    r->watch = watch_new();
    ramet_status rc = store_open(&cfg, &r->store, message);
    if (rc == RAMET_OK && !unfinished && (rc = unfinished_check(r->store, message)) != RAMET_OK)
        store_close(r->store);
    if (rc != RAMET_OK) {
        watch_free(r->watch);
        free(r);
        return open_error(err, rc, message);
    }
    r->lineage = lineage_new();
    r->session_cache = session_cache_new();
    r->tokens = token_cache_new();
    set_limits(&r->limits, &opt->limits);
    r->grace_us = opt->grace_us > 0 ? opt->grace_us : (int64_t)7 * 24 * 3600 * 1000000;
    r->files = files_open(r->store, opt->attachments);
    r->unverified = opt->unverified_reads;
    r->clock = opt->clock;
    r->clock_arg = opt->clock_arg;
    r->vfs = xstrdup(opt->engine_vfs);
    r->busy_ms = opt->busy_ms;
    *out = r;
    return RAMET_OK;
}

ramet_status ramet_open(const char *where, const ramet_options *opt, ramet **out, ramet_error *err)
{
    return open_any(where, opt, false, out, err);
}

ramet_status copy_target_open(const char *where, const ramet_options *opt, ramet **out,
                              ramet_error *err)
{
    return open_any(where, opt, true, out, err);
}

void ramet_close(ramet *r)
{
    if (!r)
        return;
    search_close(r);
    watch_close(r->watch);
    store_close(r->store);
    watch_free(r->watch);
    lineage_free(r->lineage);
    session_cache_free(r->session_cache);
    token_cache_free(r->tokens);
    files_close(r->files);
    free(r->vfs);
    free(r);
}

ramet_status ramet_health(ramet *r)
{
    return store_health(r->store);
}

void ramet_tidy(ramet *r)
{
    store_tidy(r->store);
}

void ramet_release(ramet *r)
{
    store_release(r->store);
    search_release(r);
}

int64_t ramet_now(ramet *r)
{
    return r->clock ? r->clock(r->clock_arg) : time_now_us();
}

/* -------------------------------------------------------------------- calls */

ramet_call *ramet_call_new(ramet *r, const char *user, const char *client)
{
    ramet_call *c = xcalloc(1, sizeof *c);
    c->ramet = r;
    c->user = xstrdup(user);
    c->client = xstrdup(client);
    c->arena = arena_new();
    c->hasher = sha_new();
    return c;
}

void ramet_call_reset(ramet_call *c)
{
    arena_reset(c->arena);
    c->idempotency = c->idempotency_held = NULL;
    c->replica.may = c->replica.used = false;
    memset(&c->expect, 0, sizeof c->expect);
    memset(&c->err, 0, sizeof c->err);
}

void ramet_call_free(ramet_call *c)
{
    if (!c)
        return;
    arena_free(c->arena);
    sha_free(c->hasher);
    free(c->user);
    free(c->client);
    free(c);
}

void ramet_call_stop_when(ramet_call *c, bool (*stop)(void *arg), void *arg)
{
    c->stop.when = stop;
    c->stop.arg = arg;
}

void ramet_call_page_bytes(ramet_call *c, size_t bytes)
{
    c->page_bytes = bytes < PAGE_BYTES ? bytes : 0;
}

arena *ramet_call_arena(ramet_call *c)
{
    return c->arena;
}

const ramet_error *ramet_call_error(const ramet_call *c)
{
    return &c->err;
}

ramet_status call_fail(ramet_call *c, ramet_status st, const char *field, const char *fmt, ...)
{
    memset(&c->err, 0, sizeof c->err);
    c->err.status = st;
    if (field)
        snprintf(c->err.field, sizeof c->err.field, "%s", field);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(c->err.message, sizeof c->err.message, fmt, ap);
    va_end(ap);
    return st;
}

/* --------------------------------------------------------------------- work */

/* The past that a transaction belongs to. When it is a new one, what is cached of the one before is
 * forgotten: after a fail-over that lost something, the same numbers may mean other things. A
 * replica shares the caches until the first fail-over; then it may be of either past. */
static int64_t past_enter(ramet *r, db *d)
{
    int64_t past = db_past(d), newest = r->past;
    if (past == DB_PAST_UNKNOWN)
        return newest ? DB_PAST_UNKNOWN : 0;
    if (past > newest) {
        lineage_enter(r->lineage, past);
        session_cache_enter(r->session_cache, past);
    }
    while (past > newest && !atomic_compare_exchange_weak(&r->past, &newest, past))
        ;
    return past;
}

static txn txn_of(ramet_call *c, db *d, bool writing)
{
    return (txn){.ramet = c->ramet,
                 .call = c,
                 .db = d,
                 .arena = c->arena,
                 .now = ramet_now(c->ramet),
                 .past = past_enter(c->ramet, d),
                 .writing = writing};
}

int64_t ramet_call_position(const ramet_call *c)
{
    return c->replica.wrote;
}

void ramet_call_replica(ramet_call *c, int64_t since)
{
    c->replica.may = since >= 0;
    c->replica.since = since > 0 ? since : 0;
}

bool ramet_call_replicated(const ramet_call *c)
{
    return c->replica.used;
}

int64_t ramet_position(ramet *r)
{
    return store_position(r->store);
}

/* Reads of one call never go back in time, whichever replicas they come from. What a link gives is
 * asked where it is revoked. */
static db *page_begin(ramet_call *c, ramet_status *st, char *message)
{
    if (!c->replica.may || c->share.on)
        return store_read_begin(c->ramet->store, st, message);
    int64_t at = c->replica.since > c->replica.wrote ? c->replica.since : c->replica.wrote;
    db *d = store_page_begin(c->ramet->store, &at, st, message);
    if (d && at > 0) {
        c->replica.used = true;
        c->replica.since = at;
    } else if (c->replica.used) {
        c->replica.may = false; /* the primary is ahead of all */
    }
    return d;
}

bool txn_read(txn *tx, ramet_call *c)
{
    ramet_status st;
    char message[512] = "";
    memset(&c->err, 0, sizeof c->err);
    db *d = page_begin(c, &st, message);
    if (!d) {
        call_fail(c, st, NULL, "%s", message);
        return false;
    }
    db_stop_when(d, c->stop.when, c->stop.arg);
    *tx = txn_of(c, d, false);
    return true;
}

ramet_status txn_status(txn *tx)
{
    ramet_status st = db_status(tx->db);
    return st == RAMET_OK ? st : call_fail(tx->call, st, NULL, "%s", db_message(tx->db));
}

void txn_prefetch(txn *tx, txn_make make, void *arg, size_t n)
{
    if (n < 2)
        return;
    arena *scratch = arena_new();
    ramet_error before = tx->call->err;
    bool more = true;
    for (int pass = 0; pass < MAX_PREFETCH_PASSES && more && db_prefetch(tx->db); pass++) {
        for (size_t i = 0; i < n; i++) {
            txn look = *tx;
            look.arena = scratch;
            make(&look, arg, i);
            db_clear(tx->db); /* what was not there yet looks like damage */
        }
        more = db_prefetched(tx->db);
        arena_reset(scratch);
    }
    tx->call->err = before;
    arena_free(scratch);
}

ramet_status txn_done(txn *tx, ramet_status st)
{
    /* "Not found" on a damaged file is damage. */
    if (db_status(tx->db) != RAMET_OK)
        st = txn_status(tx);
    db_stop_when(tx->db, NULL, NULL);
    store_read_end(tx->ramet->store, tx->db);
    return st;
}

typedef struct write_job {
    ramet_call *call;
    txn_op run;
    void *arg;
    bool append, guarded, revokes;
    const char *expect; /* session whose history must end in `head`; NULL: none */
    uint8_t head[HASH_LEN];
    ramet_once *idempotency; /* may be NULL */
    int64_t event;           /* the last one it has written; 0 = none */
    branch_seen seen;
    answer_list answers;
    tree_uses uses;
} write_job;

void txn_answers(txn *tx, void *p, size_t n)
{
    answer_list *l = tx->answers;
    if (!l || !p)
        return;
    assert(l->n < sizeof l->at / sizeof *l->at);
    l->at[l->n].p = p;
    l->at[l->n++].size = n;
}

/* What a run that did not count has answered. */
static void answers_empty(answer_list *l)
{
    while (l->n) {
        l->n--;
        memset(l->at[l->n].p, 0, l->at[l->n].size);
    }
}

void ramet_call_expect(ramet_call *c, const char *session, const char *head)
{
    c->expect.session = session;
    c->expect.head = head;
}

static ramet_status expect_take(ramet_call *c, write_job *j)
{
    bool given;
    const char *head = c->expect.head;
    c->expect.head = NULL;
    TRY(check_hash(c, head, j->head, &given));
    if (given)
        j->expect = c->expect.session;
    return RAMET_OK;
}

/* The operation, if the history that it expects is there. */
static ramet_status expect_run(txn *tx, void *arg)
{
    write_job *j = arg;
    session_row s;
    branch_row head;
    if (j->expect) {
        TRY(session_open(tx, j->expect, NEED_READ, &s));
        TRY(branch_open(tx, &s, RAMET_LOG_MAIN, 0, &head));
        TRY(head_check(tx, &head, j->head, true));
    }
    return j->run(tx, j->arg);
}

static ramet_status write_run(db *d, void *arg)
{
    write_job *j = arg;
    txn tx = txn_of(j->call, d, true);
    tx.seen = &j->seen;
    tx.answers = &j->answers;
    tx.uses = &j->uses;
    /* It may run twice. */
    memset(&j->call->err, 0, sizeof j->call->err);
    answers_empty(&j->answers);
    j->seen = (branch_seen){.past = tx.past};
    j->uses.n = 0;
    if (!j->append)
        session_cache_forget(j->call->ramet->session_cache);
    ramet_status st =
        j->idempotency ? idempotency_run(&tx, j->idempotency, expect_run, j) : expect_run(&tx, j);
    j->event = tx.event;
    if (st != RAMET_OK)
        return st;
    access_settle(&tx);
    return txn_status(&tx);
}

static ramet_status write_do(ramet_call *c, write_job *job)
{
    char message[512];
    memset(&c->err, 0, sizeof c->err);
    TRY(idempotency_take(c, &job->idempotency));
    TRY(expect_take(c, job));
    if (c->user)
        TRY(check_id(c, "user", c->user));
    /* What a key and an expected history rely on has no guard. */
    bool light = job->guarded && !job->idempotency && !job->expect;
    ramet_status st = light ? store_write_guarded(c->ramet->store, write_run, job, message)
                            : store_write(c->ramet->store, write_run, job, message);
    /* The operation told its own refusals; the store tells the rest. */
    if (st != RAMET_OK && (c->err.status != st || message[0]))
        call_fail(c, st, NULL, "%s", message[0] ? message : ramet_status_text(st));
    c->replica.wrote = store_position(c->ramet->store);
    if (st == RAMET_OK) {
        lineage_keep(c->ramet->lineage, &job->seen);
        event_tell(c->ramet, job->event);
        if (job->revokes && (st = store_fence(c->ramet->store, message)) != RAMET_OK)
            call_fail(c, st, NULL, "%s", message);
    } else if (job->idempotency) {
        job->idempotency->repeated = false;
    }
    return st;
}

ramet_status txn_write(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg};
    return write_do(c, &j);
}

ramet_status txn_revoke(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg, .revokes = true};
    return write_do(c, &j);
}

ramet_status txn_append(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg, .append = true};
    return write_do(c, &j);
}

ramet_status txn_write_guarded(ramet_call *c, txn_op run, void *arg)
{
    write_job j = {.call = c, .run = run, .arg = arg, .append = true, .guarded = true};
    return write_do(c, &j);
}
