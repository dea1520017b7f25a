/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror.c: the threads that follow the OpenCode servers of linked sandboxes.
 *
 * Each link has two threads. One listens to events and notes which sessions may have changed; the
 * other reads those sessions once they are quiet (mirror_session.c). Events are lost with a
 * connection, so each new connection has all sessions compared by the time of their last change. On
 * a database, one node does this for each link.
 */
#include "agent/opencode/mirror.h"
#include "agent/opencode/mirror_internal.h"

#include "ramet/nodes.h"
#include "ramet/sandboxes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POLL_MS = 2000,      /* how soon a new link is noticed */
    TICK_MS = 100,       /* how soon a stop is noticed */
    QUIET_US = 200000,   /* without an event, before a session is read */
    BUSY_US = 1000000,   /* before a session that was busy is looked at again */
    RECONNECT_MS = 1000, /* between connections */
    TIDY_S = 600,        /* between looks for what was erased */
    TIDY_RETRY_S = 30,   /* … after OpenCode could not be reached */
    MAX_QUOTED = 8192,
    STORE_ID = 33
};

struct mirrors {
    ramet *store;
    agents *agents;
    void (*note)(const char *sandbox, const char *text);
    pthread_mutex_t lock;
    pthread_cond_t wake; /* `stop` */
    _Atomic bool stop;
    pthread_t poller;
    mirror *all;
    char id[STORE_ID]; /* stands for the store */
    agent_sink sink;   /* of the poller */
};

/* ------------------------------------------------------------------ what may have changed */

/* Caller holds the lock. */
static mirror_item *item_find(mirror *m, const char *id)
{
    for (mirror_item *i = m->items; i; i = i->next)
        if (strcmp(i->id, id) == 0)
            return i;
    mirror_item *i = xcalloc(1, sizeof *i);
    i->id = xstrdup(id);
    i->next = m->items;
    m->items = i;
    return i;
}

static void item_touch(mirror *m, const char *id, int64_t wait_us)
{
    pthread_mutex_lock(&m->lock);
    item_find(m, id)->due = time_mono_us() + wait_us;
    pthread_mutex_unlock(&m->lock);
}

/* The id of a session that is due, allocated with xmalloc; NULL: none is. */
static char *item_take(mirror *m)
{
    char *id = NULL;
    int64_t now = time_mono_us();
    pthread_mutex_lock(&m->lock);
    for (mirror_item *i = m->items; i && !id; i = i->next)
        if (i->due && i->due <= now) {
            i->due = 0;
            id = xstrdup(i->id);
        }
    pthread_mutex_unlock(&m->lock);
    return id;
}

/* ------------------------------------------------------------------ listening */

static void event_read(mirror *m, const char *text, size_t n)
{
    json_doc d;
    arena *a = arena_new();
    if (json_parse(a, text, n, 0, &d, NULL)) {
        const char *type = oc_text(a, &d, d.nodes, "type");
        const char *id = oc_text(a, &d, json_get(&d, d.nodes, "properties"), "sessionID");
        if (id && type && strncmp(type, "session.", 8) == 0)
            item_touch(m, id, QUIET_US);
        else if (id && type && strncmp(type, "message.", 8) == 0)
            item_touch(m, id, BUSY_US);
    }
    arena_free(a);
}

static bool listen_piece(void *arg, const char *type, const char *p, size_t n)
{
    mirror *m = arg;
    (void)type;
    while (n) {
        const char *end = memchr(p, '\n', n);
        size_t len = end ? (size_t)(end - p) : n;
        buf_add(&m->line, p, len);
        if (end && !m->line.over && m->line.n > 5 && memcmp(m->line.data, "data:", 5) == 0) {
            if (!m->has_heard) {
                pthread_mutex_lock(&m->lock);
                m->is_all_due = m->has_heard = true;
                pthread_mutex_unlock(&m->lock);
            }
            event_read(m, m->line.data + 5, m->line.n - 5);
        }
        if (m->line.over)
            return false;
        if (end)
            buf_clear(&m->line);
        len += end != NULL;
        p += len;
        n -= len;
    }
    return true;
}

static bool mirror_cancelled(void *arg)
{
    return ((mirror *)arg)->stop;
}

static oc_api api_of(opencode *own, const agent_sink *sink, arena *a)
{
    return (oc_api){.set = &own->set,
                    .pool = own->pool,
                    .arena = a,
                    .sink = sink,
                    .deadline = time_mono_us() + INT64_C(3600000000),
                    .folder = own->set.folder,
                    .limits = own->set.limits};
}

oc_api mirror_api(mirror *m, arena *a)
{
    return api_of(m->own, &m->sink, a);
}

static void *listen_main(void *arg)
{
    mirror *m = arg;
    const char *headers[3];
    while (!m->stop) {
        arena *a = arena_new();
        oc_api api = mirror_api(m, a);
        wire_out got;
        wire_in in = {.url = oc_url(&api, "/event"),
                      .headers = headers,
                      .n_headers = oc_headers(&api, "Accept: text/event-stream", headers),
                      .limits = &api.limits,
                      .deadline = INT64_MAX,
                      .sink = &m->sink,
                      .piece = listen_piece,
                      .arg = m};
        buf_init(&m->line, OC_EVENT_BYTES);
        m->has_heard = false;
        wire_run(&in, &got);
        wire_release(&got);
        buf_release(&m->line);
        arena_free(a);
        agent_sleep(&m->sink, RECONNECT_MS);
    }
    return NULL;
}

/* ------------------------------------------------------------------ reading */

/* Marks the sessions that have changed since they were read. */
static bool list_compare(mirror *m, const oc_api *api)
{
    oc_reply got;
    if (!oc_call(api, "GET", arena_printf(api->arena, "/session?limit=%d", OC_LIST_MAX), NULL,
                 &got) ||
        !got.doc.n)
        return false;
    const json_doc *d = &got.doc;
    for (const json_node *s = json_is(d->nodes, JSON_ARRAY) ? json_first(d, d->nodes) : NULL; s;
         s = json_next(d, d->nodes, s)) {
        const char *id = oc_text(api->arena, d, s, "id");
        int64_t updated = 0;
        json_int(d, json_get(d, json_get(d, s, "time"), "updated"), &updated);
        if (!id)
            continue;
        pthread_mutex_lock(&m->lock);
        mirror_item *i = item_find(m, id);
        if (i->updated != updated)
            i->due = time_mono_us();
        i->updated = updated;
        pthread_mutex_unlock(&m->lock);
    }
    return true;
}

static void work(mirror *m)
{
    arena *a = arena_new();
    oc_api api = mirror_api(m, a);
    pthread_mutex_lock(&m->lock);
    bool all = m->is_all_due;
    m->is_all_due = false;
    pthread_mutex_unlock(&m->lock);
    if (all) {
        oc_mend(m->own, &api);
        if (!list_compare(m, &api)) {
            pthread_mutex_lock(&m->lock);
            m->is_all_due = true;
            pthread_mutex_unlock(&m->lock);
        }
    }
    for (char *id; !m->stop && (id = item_take(m)); free(id)) {
        arena_reset(a);
        if (mirror_session(m, &api, id) == MIRROR_LATER)
            item_touch(m, id, BUSY_US);
    }
    arena_free(a);
}

/* `is_held`: this node follows the link. */
static void *work_main(void *arg)
{
    mirror *m = arg;
    bool is_held = false;
    while (!m->stop) {
        if (!is_held) {
            is_held = ramet_job_begin(m->store, m->job, 0);
            pthread_mutex_lock(&m->lock);
            m->is_all_due = true;
            pthread_mutex_unlock(&m->lock);
        }
        if (is_held)
            work(m);
        agent_sleep(&m->sink, is_held ? TICK_MS : RECONNECT_MS);
    }
    if (is_held)
        ramet_job_end(m->store, m->job);
    return NULL;
}

/* ------------------------------------------------------------------ links */

/* A value of a setting, quoted. */
static void quoted_add(buf *b, const char *name, const char *value)
{
    buf_printf(b, ",%s=\"", name);
    for (const char *s = value; *s; s++) {
        if (*s == '"' || *s == '\\')
            buf_putc(b, '\\');
        buf_putc(b, *s);
    }
    buf_putc(b, '"');
}

static agent *link_agent(mirrors *all, const ramet_sandbox *box)
{
    char message[AGENT_MESSAGE];
    char name[64];
    buf rest;
    agent *who = NULL;
    int n = snprintf(name, sizeof name, RAMET_SANDBOX_AGENT "%s", box->id);
    buf_init(&rest, MAX_QUOTED);
    buf_puts(&rest, "opencode");
    quoted_add(&rest, "url", box->opencode);
    if (box->password_file)
        quoted_add(&rest, "password_file", box->password_file);
    if (n >= (int)sizeof name || rest.over)
        snprintf(message, sizeof message, "its name, or that of the file, is too long");
    else
        who = agents_find(all->agents, name);
    if (!who && n < (int)sizeof name && !rest.over)
        who = agents_join(all->agents, name, rest.data, message);
    if (!who)
        all->note(box->id, message);
    buf_release(&rest);
    return who;
}

/* Caller holds the lock of all. */
static void mirror_start(mirrors *all, const ramet_sandbox *box)
{
    mirror *m = xcalloc(1, sizeof *m);
    agent *who = link_agent(all, box);
    m->sandbox = xstrdup(box->id);
    m->owner = xstrdup(box->owner);
    m->store = all->store;
    m->note = all->note;
    m->next = all->all;
    all->all = m;
    if (!who || strcmp(who->kind->name, "opencode") != 0) {
        m->is_off = true; /* noted once */
        return;
    }
    m->own = who->own;
    m->own->set.store = all->id;
    m->sink = (agent_sink){.cancelled = mirror_cancelled, .arg = m};
    snprintf(m->job, sizeof m->job, "opencode %s", box->id);
    pthread_mutex_init(&m->lock, NULL);
    pthread_create(&m->listener, NULL, listen_main, m);
    pthread_create(&m->worker, NULL, work_main, m);
}

static void mirror_end(mirror *m)
{
    if (!m->is_off) {
        m->stop = true;
        pthread_join(m->listener, NULL);
        pthread_join(m->worker, NULL);
        pthread_mutex_destroy(&m->lock);
    }
    while (m->items) {
        mirror_item *i = m->items;
        m->items = i->next;
        free(i->id);
        free(i);
    }
    free(m->sandbox);
    free(m->owner);
    free(m);
}

static const ramet_sandbox *box_find(const ramet_sandbox *list, size_t n, const char *id)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].opencode && strcmp(list[i].id, id) == 0)
            return &list[i];
    return NULL;
}

/* Starts what is new, ends what is gone. */
static void links_poll(mirrors *all)
{
    ramet_sandbox *list;
    size_t n;
    ramet_call *c = ramet_call_new(all->store, NULL, NULL);
    if (ramet_sandboxes(c, &list, &n) == RAMET_OK) {
        for (mirror **at = &all->all; *at;) {
            mirror *m = *at;
            if (box_find(list, n, m->sandbox)) {
                at = &m->next;
                continue;
            }
            *at = m->next;
            mirror_end(m);
        }
        for (size_t i = 0; i < n; i++) {
            mirror *m = all->all;
            while (m && strcmp(m->sandbox, list[i].id) != 0)
                m = m->next;
            if (!m && list[i].opencode)
                mirror_start(all, &list[i]);
        }
    }
    ramet_call_free(c);
}

/* Tidies the server of every agent; when to do that again. */
static int64_t agents_tidy(mirrors *all)
{
    agent *const *list;
    size_t n = agents_list(all->agents, &list);
    bool fine = true;
    for (size_t i = 0; i < n && !all->stop; i++) {
        if (strcmp(list[i]->kind->name, "opencode") != 0)
            continue;
        arena *a = arena_new();
        oc_api api = api_of(list[i]->own, &all->sink, a);
        oc_mend(list[i]->own, &api);
        fine = mirror_tidy(all->store, &api) && fine;
        arena_free(a);
    }
    return time_mono_us() + (fine ? TIDY_S : TIDY_RETRY_S) * INT64_C(1000000);
}

static bool all_cancelled(void *arg)
{
    return ((mirrors *)arg)->stop;
}

static void *poll_main(void *arg)
{
    mirrors *all = arg;
    int64_t due = 0;
    pthread_mutex_lock(&all->lock);
    while (!all->stop) {
        if (time_mono_us() >= due) {
            pthread_mutex_unlock(&all->lock);
            due = agents_tidy(all);
            pthread_mutex_lock(&all->lock);
        }
        struct timespec until = time_after(POLL_MS * INT64_C(1000));
        pthread_cond_timedwait(&all->wake, &all->lock, &until);
        if (!all->stop)
            links_poll(all);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

mirrors *mirrors_start(ramet *store, agents *who,
                       void (*note)(const char *sandbox, const char *text))
{
    mirrors *all = xcalloc(1, sizeof *all);
    all->store = store;
    all->agents = who;
    all->note = note;
    pthread_mutex_init(&all->lock, NULL);
    cond_init(&all->wake);
    all->sink = (agent_sink){.cancelled = all_cancelled, .arg = all};
    ramet_call *c = ramet_call_new(store, NULL, NULL);
    if (ramet_store_id(c, all->id) != RAMET_OK)
        note("", ramet_call_error(c)->message);
    ramet_call_free(c);
    agent *const *list;
    size_t n = agents_list(who, &list);
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i]->kind->name, "opencode") == 0)
            ((opencode *)list[i]->own)->set.store = all->id;
    links_poll(all);
    pthread_create(&all->poller, NULL, poll_main, all);
    return all;
}

void mirrors_stop(mirrors *all)
{
    if (!all)
        return;
    all->stop = true;
    pthread_mutex_lock(&all->lock);
    pthread_cond_signal(&all->wake);
    pthread_mutex_unlock(&all->lock);
    pthread_join(all->poller, NULL);
    for (mirror *m = all->all; m; m = m->next)
        m->stop = true;
    while (all->all) {
        mirror *m = all->all;
        all->all = m->next;
        mirror_end(m);
    }
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->wake);
    free(all);
}
