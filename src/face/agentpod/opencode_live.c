/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode_live.c: the events of a sandbox in the form of OpenCode's. What is being said arrives
 * when it is recorded, as whole parts; a message that grows is sent again.
 */
#include "face/agentpod/opencode.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 200 };

typedef struct listener {
    ramet *store;
    char *user, *share, *sandbox;
} listener;

/* One event as it is written. */
typedef struct frame {
    buf *out;
    json_writer writer;
    size_t start;
    const ramet_event *event;
    const char *session; /* OpenCode's form */
    size_t k;
} frame;

static void frame_begin(frame *f, const char *type)
{
    json_writer *w = &f->writer;
    buf_puts(f->out, "data: ");
    f->start = f->out->n;
    jw_init(w, f->out, 0);
    jw_object(w);
    char id[64];
    snprintf(id, sizeof id, "evt_%012llx%04zx", f->event ? (long long)f->event->number : 0LL,
             f->k++);
    jw_kstr(w, "id", id);
    jw_kstr(w, "type", type);
    jw_key(w, "properties");
    jw_object(w);
    if (f->session)
        jw_kstr(w, "sessionID", f->session);
}

/* An event is one line: a line break between the tokens of a stored value becomes a space. */
static void frame_end(frame *f)
{
    jw_end_object(&f->writer);
    jw_end_object(&f->writer);
    for (size_t i = f->start; i < f->out->n; i++)
        if (f->out->data[i] == '\n' || f->out->data[i] == '\r')
            f->out->data[i] = ' ';
    buf_puts(f->out, "\n\n");
}

static void part_before(void *arg)
{
    frame_begin(arg, "message.part.updated");
    jw_key(&((frame *)arg)->writer, "part");
}

static void part_after(void *arg)
{
    frame_end(arg);
}

/* The messages that hold entries of the event, whole. */
static void messages_tell(frame *f, ramet_call *c, const ramet_session *s)
{
    arena *a = ramet_call_arena(c);
    ramet_page page;
    ramet_read_in in = {.limit = TAIL, .tail = true};
    size_t n;
    if (!f->event->n || ramet_read(c, s->id, &in, &page) != RAMET_OK)
        return;
    pod_message *list = pod_messages(a, page.entries, page.n, &n);
    for (size_t i = 0; i < n; i++) {
        const ramet_entry *last = &list[i].entries[list[i].n - 1];
        if (last->position < f->event->entries[0].position)
            continue;
        frame_begin(f, "message.updated");
        jw_key(&f->writer, "info");
        pod_info_write(a, &f->writer, s, &list[i]);
        frame_end(f);
        pod_parts_write(a, &f->writer, s, &list[i], part_before, part_after, f);
    }
}

static const char *type_of(ramet_event_kind kind)
{
    switch (kind) {
    case RAMET_EVENT_CREATED:
    case RAMET_EVENT_FORKED:
        return "session.created";
    case RAMET_EVENT_DELETED:
        return "session.deleted";
    default:
        return "session.updated";
    }
}

static void listener_event(void *arg, const ramet_event *e, buf *out)
{
    const listener *l = arg;
    ramet_session *s = NULL;
    if (strcmp(e->sandbox, l->sandbox) != 0)
        return;
    ramet_call *c = ramet_call_new(l->store, l->user, NULL);
    if (l->share)
        ramet_call_share(c, l->share, NULL);
    arena *a = ramet_call_arena(c);
    frame f = {.out = out, .event = e, .session = pod_session_id(a, e->session)};
    bool is_gone = e->kind == RAMET_EVENT_DELETED;
    if (is_gone || ramet_session_get(c, e->session, &s) == RAMET_OK) {
        if (e->kind == RAMET_EVENT_APPENDED)
            messages_tell(&f, c, s);
        frame_begin(&f, type_of(e->kind));
        if (s) {
            jw_key(&f.writer, "info");
            pod_session_write(a, &f.writer, s, NULL);
        }
        frame_end(&f);
    }
    ramet_call_free(c);
}

static void plain_event(buf *out, const char *type)
{
    frame f = {.out = out};
    frame_begin(&f, type);
    frame_end(&f);
}

static void listener_hello(void *arg, int64_t number, buf *out)
{
    (void)arg, (void)number;
    plain_event(out, "server.connected");
}

static void listener_heartbeat(void *arg, int64_t number, buf *out)
{
    (void)arg, (void)number;
    plain_event(out, "server.heartbeat");
}

static void listener_free(void *arg)
{
    listener *l = arg;
    free(l->user);
    free(l->share);
    free(l->sandbox);
    free(l);
}

void pod_events(request *q)
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
                      .reset = listener_hello,
                      .release = listener_free,
                      .arg = l};
    face_live_open(q, &in, !given, &feed, 429);
}
