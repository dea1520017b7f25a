/* SPDX-License-Identifier: Apache-2.0
 *
 * live.c: the events of a sandbox, in the form that AgentPod's client stores expect.
 *
 * The server passes on each event that the client may see. Events of other sandboxes are dropped
 * here; the others carry what a client store would otherwise have to request: the fork, or the
 * branches.
 */
#include "face/agentpod/agentpod.h"
#include "form/native.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

typedef struct listener {
    ramet *store;
    char *user, *share, *sandbox;
} listener;

static const char *event_name(ramet_event_kind kind)
{
    switch (kind) {
    case RAMET_EVENT_CREATED:
        return "session.created";
    case RAMET_EVENT_FORKED:
        return "fork.created";
    case RAMET_EVENT_UPDATED:
    case RAMET_EVENT_MERGED:
        return "session.updated";
    case RAMET_EVENT_RESTORED:
        return "session.restored";
    case RAMET_EVENT_DELETED:
        return "session.deleted";
    case RAMET_EVENT_APPENDED:
        return "message.created";
    default: /* the head moved */
        return "branches.updated";
    }
}

/* An event is one line: a line break between the tokens of a stored value becomes a space. */
static void line_end(buf *out, size_t start)
{
    for (size_t i = start; i < out->n; i++)
        if (out->data[i] == '\n' || out->data[i] == '\r')
            out->data[i] = ' ';
    buf_puts(out, "\n\n");
}

/* The last line of an event carries its number. */
static size_t line_begin(const listener *l, const ramet_event *e, const char *name, bool last,
                         json_writer *w, buf *out)
{
    if (last)
        buf_printf(out, "id: %lld\n", (long long)e->number);
    buf_printf(out, "event: %s\ndata: ", name);
    size_t start = out->n;
    jw_init(w, out, 0);
    jw_object(w);
    jw_kstr(w, "type", name);
    jw_kstr(w, "sandboxId", l->sandbox);
    jw_kstr(w, "sessionId", e->session);
    native_ktime(w, "at", e->at);
    return start;
}

static void messages_write(json_writer *w, const ramet_event *e)
{
    jw_key(w, "messages");
    jw_array(w);
    for (size_t i = 0; i < e->n; i++) {
        jw_object(w);
        jw_kstr(w, "id", e->entries[i].id);
        jw_kstr(w, "role", ramet_role_name(e->entries[i].role));
        jw_kstr(w, "text", e->entries[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
    if (e->more)
        jw_kbool(w, "more", true);
}

/* Whether the appended entry is another version of a message. */
static bool is_version(const agentpod_branches *b, const ramet_event *e)
{
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < e->n; k++)
            if (b->items[i].position == e->entries[k].position &&
                strcmp(b->items[i].entry_id, e->entries[k].id) == 0)
                return true;
    return false;
}

static void branches_line(const listener *l, const ramet_event *e, const agentpod_branches *b,
                          arena *a, buf *out)
{
    json_writer w;
    size_t start = line_begin(l, e, "branches.updated", true, &w, out);
    agentpod_branches_write(a, &w, b);
    jw_end_object(&w);
    line_end(out, start);
}

static void appended_lines(const listener *l, const ramet_event *e, ramet_call *c, buf *out)
{
    json_writer w;
    agentpod_branches b = {.now = -1};
    bool more = agentpod_branches_read(c, e->session, &b) == RAMET_OK && is_version(&b, e);
    size_t start = line_begin(l, e, event_name(e->kind), !more, &w, out);
    messages_write(&w, e);
    jw_end_object(&w);
    line_end(out, start);
    if (more)
        branches_line(l, e, &b, ramet_call_arena(c), out);
}

/* If the session was deleted meanwhile, a later event says so. */
static void session_line(const listener *l, const ramet_event *e, ramet_call *c, buf *out)
{
    json_writer w;
    ramet_session *s;
    if (ramet_session_get(c, e->session, &s) != RAMET_OK)
        return;
    size_t start = line_begin(l, e, event_name(e->kind), true, &w, out);
    jw_key(&w, "fork");
    agentpod_fork_write(ramet_call_arena(c), &w, s);
    jw_end_object(&w);
    line_end(out, start);
}

static void listener_event(void *arg, const ramet_event *e, buf *out)
{
    const listener *l = arg;
    agentpod_branches b = {.now = -1};
    json_writer w;
    if (strcmp(e->sandbox, l->sandbox) != 0)
        return;
    if (e->kind == RAMET_EVENT_DELETED) {
        size_t start = line_begin(l, e, event_name(e->kind), true, &w, out);
        jw_end_object(&w);
        line_end(out, start);
        return;
    }
    ramet_call *c = ramet_call_new(l->store, l->user, NULL);
    if (l->share)
        ramet_call_share(c, l->share, NULL);
    if (e->kind == RAMET_EVENT_APPENDED)
        appended_lines(l, e, c, out);
    else if (e->kind != RAMET_EVENT_REWOUND && e->kind != RAMET_EVENT_SWITCHED)
        session_line(l, e, c, out);
    else if (agentpod_branches_read(c, e->session, &b) == RAMET_OK)
        branches_line(l, e, &b, ramet_call_arena(c), out);
    ramet_call_free(c);
}

static void listener_hello(void *arg, int64_t number, buf *out)
{
    (void)arg, (void)number;
    buf_puts(out, ": ramet\nretry: 1000\n\n");
}

static void listener_heartbeat(void *arg, int64_t number, buf *out)
{
    (void)arg, (void)number;
    buf_puts(out, ": still here\n\n");
}

static void listener_reset(void *arg, int64_t number, buf *out)
{
    (void)arg;
    buf_printf(out, "id: %lld\nevent: reset\ndata: {\"type\":\"reset\"}\n\n", (long long)number);
}

static void listener_free(void *arg)
{
    listener *l = arg;
    free(l->user);
    free(l->share);
    free(l->sandbox);
    free(l);
}

void agentpod_events(request *q)
{
    ramet_call *c = agentpod_call(q);
    ramet_events_in in = {0};
    bool given = false;
    if (!c || !face_last_event(q, &in.after, &given))
        return;
    listener *l = xcalloc(1, sizeof *l);
    *l = (listener){.store = q->host->store,
                    .user = xstrdup(q->caller.user),
                    .share = xstrdup(q->caller.share),
                    .sandbox = xstrdup(face_path(q, "sandboxId"))};
    live_feed feed = {.hello = listener_hello,
                      .heartbeat = listener_heartbeat,
                      .event = listener_event,
                      .reset = listener_reset,
                      .release = listener_free,
                      .arg = l};
    face_live_open(q, &in, !given, &feed, 429);
}
