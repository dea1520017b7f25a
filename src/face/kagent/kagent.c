/* SPDX-License-Identifier: Apache-2.0
 *
 * kagent.c: the library call of a request, the sessions its client may use, and the envelope of
 * answers.
 */
#include "face/kagent/kagent.h"

#include "base/util.h"
#include "ramet/kagent.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ answers */

void kagent_fail(request *q, const char *code, const char *field, const char *message)
{
    bool link = strcmp(code, "share_not_found") == 0;
    (void)field;
    if (q->status == 401 || link) {
        q->status = link ? 403 : 401;
        q->type = "text/plain; charset=utf-8";
        buf_puts(&q->out, link ? "Forbidden\n" : "Unauthorized\n");
        return;
    }
    /* No handler has run yet: the body is at fault. */
    bool body = q->status == 400 && !q->call && q->route && q->route->body;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "error",
            body ? arena_printf(q->arena, "Invalid request body: %s", message) : message);
    jw_end_object(&q->writer);
    buf_putc(&q->out, '\n');
}

void kagent_refuse(request *q, int status, const char *message)
{
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    q->status = status;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "error", message);
    jw_end_object(&q->writer);
    buf_putc(&q->out, '\n');
}

void kagent_error(request *q, ramet_status st, const char *what, const char *missing)
{
    const ramet_error *e = ramet_call_error(q->call);
    int status = ramet_status_http(st);
    if (status == 404 && missing)
        kagent_refuse(q, 404, missing);
    else if (status == 503)
        request_error(q, e);
    else
        kagent_refuse(q, status, arena_printf(q->arena, "%s: %s", what, e->message));
}

void kagent_data(request *q)
{
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    jw_object(&q->writer);
    jw_kbool(&q->writer, "error", false);
    jw_key(&q->writer, "data");
}

void kagent_end(request *q, const char *message)
{
    if (message)
        jw_kstr(&q->writer, "message", message);
    jw_end_object(&q->writer);
    buf_putc(&q->out, '\n');
}

void kagent_done(request *q, const char *message)
{
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    jw_object(&q->writer);
    jw_kbool(&q->writer, "error", false);
    kagent_end(q, message);
}

void kagent_time(request *q, const char *key, int64_t us)
{
    char base[TIME_TEXT], text[48];
    int64_t fraction = us % 1000000;
    time_text(us - fraction, base);
    int n = snprintf(text, sizeof text, "%.19s.%06lld", base, (long long)fraction);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    snprintf(text + n, sizeof text - (size_t)n, "Z");
    jw_kstr(&q->writer, key, text);
}

bool kagent_version(request *q, a2a_version *out)
{
    const char *text = q->header(q, "A2A-Version");
    if (a2a_version_of(text, out))
        return true;
    kagent_refuse(q, 400, arena_printf(q->arena, "Unsupported A2A version: %.60s", text));
    return false;
}

/* ------------------------------------------------------------------ the caller */

ramet_call *kagent_call(request *q)
{
    if (!q->call && q->caller.no_user)
        q->call = ramet_call_new(q->host->store, NULL, q->caller.agent);
    return face_call(q);
}

/* Records that the client has followed a share link, which adds the session to its lists. It uses
 * its own call, since the request's may have an idempotency key. A failure is ignored. */
static void visit_note(request *q)
{
    ramet_call *c = ramet_call_new(q->host->store, q->caller.user, NULL);
    if (ramet_call_share(c, q->caller.share, NULL) == RAMET_OK)
        ramet_share_visit(c);
    ramet_call_free(c);
}

bool kagent_session(request *q, const char *id, const char *missing, ramet_session **out)
{
    ramet_call *c = kagent_call(q);
    if (!c)
        return false;
    ramet_status st = ramet_session_get(c, id, out);
    if (st == RAMET_OK && q->caller.as_agent &&
        !a2a_session_is_of(q->arena, *out, q->caller.agent)) {
        kagent_refuse(q, 404, missing);
        return false;
    }
    if (st == RAMET_OK && q->caller.share && !q->caller.no_user &&
        strcmp((*out)->owner, q->caller.user) != 0)
        visit_note(q);
    if (st == RAMET_OK)
        return true;
    kagent_error(q, st, "Failed to get session", missing);
    return false;
}

const char *kagent_agent_name(request *q, const char *ref)
{
    const char *id = a2a_agent_id(q->arena, ref), *name;
    for (size_t i = 0; q->host->agent_name && (name = q->host->agent_name(q->host->arg, i)); i++)
        if (strcmp(a2a_agent_id(q->arena, name), id) == 0)
            return name;
    return q->host->agents_listed ? NULL : id;
}

/* ------------------------------------------------------------------ sessions */

void kagent_session_write(request *q, const ramet_session *s)
{
    jw_object(&q->writer);
    kagent_session_members(q, s);
    jw_end_object(&q->writer);
}

void kagent_session_members(request *q, const ramet_session *s)
{
    const char *name = *s->title ? s->title : s->shown_title, *source = a2a_source(q->arena, s);
    jw_kstr(&q->writer, "id", s->id);
    if (name && *name)
        jw_kstr(&q->writer, "name", name);
    jw_kstr(&q->writer, "user_id", s->owner);
    kagent_time(q, "created_at", s->created);
    kagent_time(q, "updated_at", s->updated);
    if (s->agent.name)
        jw_kstr(&q->writer, "agent_id", a2a_agent_id(q->arena, s->agent.name));
    if (source)
        jw_kstr(&q->writer, "source", source);
}

bool kagent_sessions(request *q, ramet_session **out, size_t *n)
{
    ramet_call *c = kagent_call(q);
    VEC(ramet_session) v = {0};
    ramet_list_in in = {.limit = 1000, .owner = q->caller.no_user ? NULL : q->caller.user};
    if (!c)
        return false;
    do {
        ramet_session_list page;
        ramet_status st = ramet_session_find(c, &in, &page);
        if (st != RAMET_OK) {
            kagent_error(q, st, "Failed to get sessions", NULL);
            return false;
        }
        for (size_t i = 0; i < page.n; i++)
            if (!q->caller.as_agent || a2a_session_is_of(q->arena, &page.items[i], q->caller.agent))
                VEC_PUSH(ramet_call_arena(c), &v, page.items[i]);
        in.cursor = page.next_cursor;
    } while (in.cursor);
    *out = v.items;
    *n = v.n;
    return true;
}
