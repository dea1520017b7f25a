/* SPDX-License-Identifier: Apache-2.0
 *
 * The URL of a PostgreSQL store, and the settings of its connections.
 *
 * A URL is libpq's own, with two additional parameters: pgbouncer=1 (P5 in postgres.h), and
 * partitions=N, the number of partitions of the tables of a new store. Several hosts mean
 * fail-over: libpq looks for the one that accepts writes.
 *
 * Settings, and why:
 *   plan_cache_mode         one plan per statement: a plan for particular values would use a
 *                           sequential scan for a large tree, which is a thousand times as slow
 *   enable_seqscan, …=off   the same trap with tables that were never analyzed; a sequential scan
 *                           would also make every serializable write conflict with all others
 *   enable_sort=off         where an index has the wanted order it is used, whatever the server
 *                           believes about the number of rows; where none does, rows are sorted
 *                           all the same (store/sql/sql.h)
 *   max_parallel_…=0        starting a second process takes ten times as long as such a statement
 *   jit=off                 the artificial costs of plans that are "off" would start the compiler
 *   statement_timeout       for statements; COMMIT is exempt (postgres.c): a timeout while it waits
 *                           for a replica would acknowledge what was not replicated
 */
#include "store/postgres/postgres.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATEMENT_MS 30000
#define LOCK_MS 5000
#define IDLE_MS 30000 /* in a transaction: how long a client that vanished keeps its locks */

static const struct {
    const char *name, *value;
} settings[] = {{"plan_cache_mode", "force_generic_plan"},
                {"enable_seqscan", "off"},
                {"enable_hashjoin", "off"},
                {"enable_mergejoin", "off"},
                {"enable_sort", "off"},
                {"max_parallel_workers_per_gather", "0"},
                {"jit", "off"}};
#define N_SETTINGS (sizeof settings / sizeof *settings)

/* ---------------------------------------------------------------- the URL */

static bool is_param(const char *at, const char *name)
{
    size_t n = strlen(name);
    return strncmp(at, name, n) == 0 && at[n] == '=';
}

/* Copies a URL without some of its parameters; `found` gets their values. */
static void url_strip(const char *url, const char *const *names, const char **found, char *out)
{
    const char *query = strchr(url, '?');
    size_t n = query ? (size_t)(query - url) : strlen(url);
    char *to = out, join = '?';
    memcpy(to, url, n);
    to += n;
    while (query && *query) {
        const char *at = query + 1, *end = at + strcspn(at, "&");
        int i = 0;
        while (names[i] && !is_param(at, names[i]))
            i++;
        if (names[i]) {
            if (found)
                found[i] = at + strlen(names[i]) + 1;
        } else {
            *to++ = join;
            memcpy(to, at, (size_t)(end - at));
            to += end - at;
            join = '&';
        }
        query = *end ? end : NULL;
    }
    *to = 0;
}

void url_shown(const char *url, char *out, size_t size)
{
    static const char *const secrets[] = {"password", "sslpassword", NULL};
    char *copy = xmalloc(strlen(url) + 1);
    url_strip(url, secrets, NULL, copy);
    char *user = strstr(copy, "://");
    user = user ? user + 3 : copy;
    char *end = user + strcspn(user, "/?"), *at = memrchr(user, '@', (size_t)(end - user));
    char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon)
        memmove(colon, at, strlen(at) + 1);
    snprintf(out, size, "%s", copy);
    free(copy);
}

/* --------------------------------------------------------------- settings */

static char *startup_options(const db_site *s, const char *theirs)
{
    size_t cap = 1024 + (theirs ? strlen(theirs) : 0), n = 0;
    char *out = xmalloc(cap);
    for (size_t i = 0; i < N_SETTINGS; i++)
        n += (size_t)snprintf(out + n, cap - n, "-c %s=%s ", settings[i].name, settings[i].value);
    snprintf(out + n, cap - n,
             "-c default_transaction_isolation=read\\ committed -c statement_timeout=%d "
             "-c lock_timeout=%d "
             "-c idle_in_transaction_session_timeout=%d %s",
             s->statement_ms, s->lock_ms, IDLE_MS, theirs ? theirs : "");
    return out;
}

static char *local_settings(const db_site *s)
{
    size_t cap = 1024, n = 0;
    char *out = xmalloc(cap);
    n = (size_t)snprintf(out, cap, "SELECT ");
    for (size_t i = 0; i < N_SETTINGS; i++)
        n += (size_t)snprintf(out + n, cap - n, "set_config('%s','%s',true),", settings[i].name,
                              settings[i].value);
    snprintf(out + n, cap - n,
             "set_config('statement_timeout','%d',true),set_config('lock_timeout','%d',true),"
             "set_config('idle_in_transaction_session_timeout','%d',true)," TIMELINE,
             s->statement_ms, s->lock_ms, IDLE_MS);
    return out;
}

static void pair_set(db_site *s, size_t *n, const char *key, const char *value)
{
    s->keys = xrealloc(s->keys, (*n + 2) * sizeof *s->keys);
    s->values = xrealloc(s->values, (*n + 2) * sizeof *s->values);
    s->keys[*n] = xstrdup(key);
    s->values[*n] = xstrdup(value);
    s->keys[++*n] = NULL;
    s->values[*n] = NULL;
}

/* libpq's own parameters, and ours where the URL has none. */
static void pairs_make(db_site *s, const PQconninfoOption *list)
{
    static const struct {
        const char *key, *value;
    } defaults[] = {{"connect_timeout", "10"},      {"keepalives_idle", "30"},
                    {"keepalives_interval", "10"},  {"keepalives_count", "3"},
                    {"tcp_user_timeout", "60000"},  {"application_name", "ramet"},
                    {"target_session_attrs", NULL}, {"client_encoding", "UTF8"}};
    size_t n = 0;
    bool hosts = false;
    for (const PQconninfoOption *o = list; o->keyword; o++) {
        if (strcmp(o->keyword, "host") == 0)
            hosts = o->val && strchr(o->val, ',');
        if (strcmp(o->keyword, "options") == 0 && !s->bouncer) {
            char *all = startup_options(s, o->val);
            pair_set(s, &n, o->keyword, all);
            free(all);
        } else if (o->val && strcmp(o->keyword, "client_encoding") != 0) {
            pair_set(s, &n, o->keyword, o->val);
        }
    }
    for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++) {
        bool given = false;
        for (size_t k = 0; k < n; k++)
            given |= strcmp(s->keys[k], defaults[i].key) == 0;
        if (!given && (defaults[i].value || hosts))
            pair_set(s, &n, defaults[i].key, defaults[i].value ? defaults[i].value : "read-write");
    }
}

/* -------------------------------------------------------------- open, close */

ramet_status site_open(const char *url, db_site **out, char *message)
{
    static const char *const ours[] = {"pgbouncer", "partitions", NULL};
    const char *found[2] = {NULL, NULL};
    char *plain = xmalloc(strlen(url) + 1), *why = NULL;
    *out = NULL;
    url_strip(url, ours, found, plain);
    PQconninfoOption *list = PQconninfoParse(plain, &why);
    int parts = found[1] ? (int)strtol(found[1], NULL, 10) : PARTITIONS;
    free(plain);
    if (!list || parts < 1 || parts > MAX_PARTITIONS) {
        snprintf(message, 512, "the URL of the database cannot be used: %.400s",
                 !list ? (why ? why : "it makes no sense") : "partitions must be 1 to 1024");
        message[strcspn(message, "\n")] = 0;
        PQfreemem(why);
        PQconninfoFree(list);
        return RAMET_INVALID;
    }
    db_site *s = xcalloc(1, sizeof *s);
    size_t size = strlen(url) + 1;
    s->shown = xmalloc(size);
    url_shown(url, s->shown, size);
    s->bouncer = found[0] && *found[0] == '1';
    s->partitions = parts;
    s->statement_ms = STATEMENT_MS;
    s->lock_ms = LOCK_MS;
    s->settings = local_settings(s);
    pairs_make(s, list);
    PQconninfoFree(list);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->past_lock, NULL);
    *out = s;
    return RAMET_OK;
}

int64_t site_past(db_site *s, int64_t timeline)
{
    pthread_mutex_lock(&s->past_lock);
    if (timeline && s->timeline && timeline != s->timeline)
        s->past++;
    if (timeline)
        s->timeline = timeline;
    int64_t past = s->past;
    pthread_mutex_unlock(&s->past_lock);
    return past;
}

bool site_has_timeline(db_site *s)
{
    pthread_mutex_lock(&s->past_lock);
    bool known = s->timeline != 0;
    pthread_mutex_unlock(&s->past_lock);
    return known;
}

void site_close(db_site *s)
{
    if (!s)
        return;
    numbers_return(s);
    pg_close(s->side);
    for (size_t i = 0; s->keys && s->keys[i]; i++) {
        free(s->keys[i]);
        free(s->values[i]);
    }
    free(s->keys);
    free(s->values);
    free(s->settings);
    free(s->shown);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->past_lock);
    free(s);
}
