/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening and closing a store. This is where core is put together: the extensions of core/ext are
 * registered here, and nothing below knows that they exist.
 */
#include "core/handle.h"

#include "core/access/token.h"
#include "core/attachment/files.h"
#include "core/ext/adk.h"
#include "core/ext/make.h"
#include "core/ext/task.h"
#include "core/event.h"
#include "core/model/lineage_cache.h"
#include "core/view/overlay_set.h"
#include "core/session/session_cache.h"
#include "core/search/search_upkeep.h"
#include "core/upkeep/copy.h"
#include "store/sql/schema.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* ----------------------------------------------------------------- location */

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
    /* XDG requires ignoring a relative path there. */
    if (data && data[0] == '/')
        snprintf(path, sizeof path, "%s/ramet/ramet.db", data);
    else
        snprintf(path, sizeof path, "%s/.local/share/ramet/ramet.db", home && *home ? home : ".");
    return path;
}

ramet_status ramet_schema(const ramet_schema_in *in, void (*statement)(void *arg, const char *sql),
                          void *arg)
{
    return schema_write(in, statement, arg);
}

/* Whether it starts with "word:" of an engine that we do not have. */
static bool names_other_engine(const char *where)
{
    size_t n = strspn(where, "abcdefghijklmnopqrstuvwxyz0123456789+");
    return n > 1 && where[n] == ':' && strncmp(where, "sqlite:", 7) != 0 && !db_is_url(where);
}

/* A new file name survives a power failure only when its folder was synced. */
static void sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* Creates the folders above a path. A failure shows when the file is opened. */
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
        .merge = or_default(in->merge, 10000),
        .merge_bytes = or_default(in->merge_bytes, (size_t)64 << 20),
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
    event_notify(arg, newest);
}

/* An unfinished copy is not a store yet: numbers that it would assign belong to rows that are still
 * to be copied. */
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
    r->overlays = overlay_cache_new();
    r->session_cache = session_cache_new();
    r->tokens = token_cache_new();
    set_limits(&r->limits, &opt->limits);
    r->idle_waiters = opt->idle_waiters ? opt->idle_waiters : 16;
    r->grace_us = opt->grace_us > 0 ? opt->grace_us : (int64_t)7 * 24 * 3600 * 1000000;
    r->files = files_open(r->store, opt->attachments);
    r->unverified = opt->unverified_reads;
    r->clock = opt->clock;
    r->clock_arg = opt->clock_arg;
    r->vfs = xstrdup(opt->engine_vfs);
    r->busy_ms = opt->busy_ms;
    adk_register(r);
    make_register(r);
    task_register(r);
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
    overlay_cache_free(r->overlays);
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
    overlay_cache_clear(r->overlays);
    search_release(r);
}

int64_t ramet_now(ramet *r)
{
    return r->clock ? r->clock(r->clock_arg) : time_now_us();
}
