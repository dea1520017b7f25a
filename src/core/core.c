/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a store, calls, and the two shapes of work (core.h).
 */
#include "core/core.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* ------------------------------------------------------------------- place */

const char *ramet_where(const char *where)
{
    static _Thread_local char path[PATH_BYTES];
    if (where && strncmp(where, "sqlite:", 7) == 0)
        where += 7;
    if (where && *where) {
        snprintf(path, sizeof path, "%s", where);
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

/* "word:" in front, and not "sqlite:". */
static bool names_engine(const char *where)
{
    size_t n = strspn(where, "abcdefghijklmnopqrstuvwxyz0123456789+");
    return n > 1 && where[n] == ':' && strncmp(where, "sqlite:", 7) != 0;
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

ramet_status ramet_open(const char *where, const ramet_options *opt, ramet **out, ramet_error *err)
{
    static const ramet_options none;
    *out = NULL;
    if (!opt)
        opt = &none;
    if (where && (names_engine(where) || strcmp(ramet_where(where), ":memory:") == 0))
        return open_error(err, RAMET_INVALID,
                          "a store is a path or sqlite:PATH; write ./NAME for a file with a colon");
    if (where && strlen(where) >= PATH_BYTES)
        return open_error(err, RAMET_INVALID, "the path of the store is too long");
    const char *path = ramet_where(where);
    if ((!where || !*where) && !opt->must_exist)
        make_folders(path);
    store_config cfg = {.path = path,
                        .vfs = opt->engine_vfs,
                        .busy_ms = opt->busy_ms,
                        .readers = opt->readers,
                        .create = !opt->must_exist};
    char message[512] = "";
    store *st;
    ramet_status rc = store_open(&cfg, &st, message);
    if (rc != RAMET_OK)
        return open_error(err, rc, message);
    ramet *r = xcalloc(1, sizeof *r);
    r->st = st;
    r->lineage = lineage_new();
    r->watch = watch_new();
    r->recent = recent_new();
    r->tokens = token_cache_new();
    set_limits(&r->lim, &opt->limits);
    r->grace_us = opt->grace_us > 0 ? opt->grace_us : (int64_t)7 * 24 * 3600 * 1000000;
    r->files = files_root(path);
    r->unverified = opt->unverified_reads;
    r->clock = opt->clock;
    r->clock_arg = opt->clock_arg;
    r->vfs = xstrdup(opt->engine_vfs);
    r->busy_ms = opt->busy_ms;
    *out = r;
    return RAMET_OK;
}

void ramet_close(ramet *r)
{
    if (!r)
        return;
    search_close(r);
    watch_free(r->watch);
    store_close(r->st);
    lineage_free(r->lineage);
    recent_free(r->recent);
    token_cache_free(r->tokens);
    free(r->files);
    free(r->vfs);
    free(r);
}

ramet_status ramet_health(ramet *r)
{
    return store_health(r->st);
}

int64_t ramet_now(ramet *r)
{
    return r->clock ? r->clock(r->clock_arg) : time_now_us();
}

/* -------------------------------------------------------------------- calls */

ramet_call *ramet_call_new(ramet *r, const char *user, const char *client)
{
    ramet_call *c = xcalloc(1, sizeof *c);
    c->r = r;
    c->user = xstrdup(user);
    c->client = xstrdup(client);
    c->a = arena_new();
    c->hasher = sha_new();
    return c;
}

void ramet_call_reset(ramet_call *c)
{
    arena_reset(c->a);
    c->once = c->held = NULL;
    memset(&c->expect, 0, sizeof c->expect);
    memset(&c->err, 0, sizeof c->err);
}

void ramet_call_free(ramet_call *c)
{
    if (!c)
        return;
    arena_free(c->a);
    sha_free(c->hasher);
    free(c->user);
    free(c->client);
    free(c);
}

arena *ramet_call_arena(ramet_call *c)
{
    return c->a;
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

static cx cx_of(ramet_call *c, db *d, bool writing)
{
    return (cx){.r = c->r, .c = c, .d = d, .a = c->a, .now = ramet_now(c->r), .writing = writing};
}

bool cx_read(cx *x, ramet_call *c)
{
    ramet_status st;
    char message[512] = "";
    memset(&c->err, 0, sizeof c->err);
    db *d = store_read_begin(c->r->st, &st, message);
    if (!d) {
        call_fail(c, st, NULL, "%s", message);
        return false;
    }
    *x = cx_of(c, d, false);
    return true;
}

ramet_status cx_status(cx *x)
{
    ramet_status st = db_status(x->d);
    return st == RAMET_OK ? st : call_fail(x->c, st, NULL, "%s", db_message(x->d));
}

ramet_status cx_done(cx *x, ramet_status st)
{
    /* "Not found" on a damaged file is damage. */
    if (db_status(x->d) != RAMET_OK)
        st = cx_status(x);
    store_read_end(x->r->st, x->d);
    return st;
}

typedef struct write_job {
    ramet_call *c;
    cx_op run;
    void *arg;
    bool append;
    const char *expect; /* session whose history must end in `head`; NULL: none */
    uint8_t head[HASH_LEN];
    ramet_once *once; /* may be NULL */
    int64_t event;    /* the last one it has written; 0 = none */
    branch_seen seen;
} write_job;

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
static ramet_status expect_run(cx *x, void *arg)
{
    write_job *j = arg;
    session_row s;
    branch_row head;
    if (j->expect) {
        TRY(session_open(x, j->expect, NEED_READ, &s));
        TRY(branch_open(x, &s, RAMET_LOG_MAIN, 0, &head));
        TRY(head_check(x, &head, j->head, true));
    }
    return j->run(x, j->arg);
}

static ramet_status write_run(db *d, void *arg)
{
    write_job *j = arg;
    cx x = cx_of(j->c, d, true);
    x.seen = &j->seen;
    j->seen.n = 0; /* may run twice */
    if (!j->append)
        recent_forget(j->c->r->recent);
    ramet_status st = j->once ? once_run(&x, j->once, expect_run, j) : expect_run(&x, j);
    j->event = x.event;
    return st;
}

static ramet_status write_do(ramet_call *c, write_job *job)
{
    char message[512];
    memset(&c->err, 0, sizeof c->err);
    TRY(once_take(c, &job->once));
    TRY(expect_take(c, job));
    if (c->user)
        TRY(check_id(c, "user", c->user));
    ramet_status st = store_write(c->r->st, write_run, job, message);
    /* The operation told its own refusals; the store tells the rest. */
    if (st != RAMET_OK && (c->err.status != st || message[0]))
        call_fail(c, st, NULL, "%s", message[0] ? message : ramet_status_text(st));
    if (st == RAMET_OK) {
        lineage_keep(c->r->lineage, &job->seen);
        event_tell(c->r, job->event);
    } else if (job->once) {
        job->once->repeated = false;
    }
    return st;
}

ramet_status cx_write(ramet_call *c, cx_op run, void *arg)
{
    write_job j = {.c = c, .run = run, .arg = arg};
    return write_do(c, &j);
}

ramet_status cx_append(ramet_call *c, cx_op run, void *arg)
{
    write_job j = {.c = c, .run = run, .arg = arg, .append = true};
    return write_do(c, &j);
}

static int64_t next_of(cx *x, sql_id q)
{
    db_stmt *s = db_query(x->d, q);
    int64_t v = q_row(s) ? q_col_int(s, 0) : 0;
    q_end(s);
    return v + 1;
}

int64_t next_tree(cx *x)
{
    return next_of(x, Q_max_tree);
}

int64_t next_session(cx *x, int64_t *created)
{
    db_stmt *s = db_query(x->d, Q_max_session);
    bool any = q_row(s);
    int64_t no = any ? q_col_int(s, 0) : 0, last = any ? q_col_int(s, 1) : 0;
    q_end(s);
    *created = x->now > last ? x->now : last;
    return no + 1;
}

int64_t next_branch(cx *x)
{
    return next_of(x, Q_max_branch);
}
