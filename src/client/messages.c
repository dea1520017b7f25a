/* SPDX-License-Identifier: Apache-2.0
 *
 * messages.c: sends a message and reads its answer as server-sent events.
 */
#include "client/internal.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

#define LINE_MAX_ ((size_t)64 << 20) /* an entry, plus some room */

typedef struct event_reader {
    client_call *call;
    const client_events *events;
    buf line;  /* incomplete */
    buf error; /* the body of an answer that is not a stream */
    char event[64];
    buf data;
    bool stopped; /* events->stop() has returned true */
} event_reader;

static void event_end(event_reader *l)
{
    json_doc d;
    arena *a = arena_new();
    if (l->data.n && json_parse(a, l->data.data, l->data.n, SIZE_MAX, &d, NULL))
        l->events->event(l->events->arg, l->event, a, &d);
    arena_free(a);
    l->event[0] = 0;
    buf_clear(&l->data);
}

static void line_end(event_reader *l)
{
    size_t n = l->line.n;
    if (n && l->line.data[n - 1] == '\r')
        n--;
    const char *p = l->line.data;
    if (!n)
        event_end(l);
    else if (n > 6 && strncmp(p, "event:", 6) == 0)
        snprintf(l->event, sizeof l->event, "%.*s", (int)(n - 6 - (p[6] == ' ')),
                 p + 6 + (p[6] == ' '));
    else if (n > 5 && strncmp(p, "data:", 5) == 0)
        buf_add(&l->data, p + 5 + (p[5] == ' '), n - 5 - (p[5] == ' '));
    buf_clear(&l->line);
}

static size_t on_bytes(char *p, size_t size, size_t n, void *arg)
{
    event_reader *l = arg;
    long status = 0;
    n *= size;
    curl_easy_getinfo(l->call->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 299) {
        buf_add(&l->error, p, n);
        return l->error.over ? 0 : n;
    }
    for (size_t from = 0; from < n;) {
        const char *nl = memchr(p + from, '\n', n - from);
        size_t to = nl ? (size_t)(nl - p) : n;
        buf_add(&l->line, p + from, to - from);
        if (l->line.over || l->data.over)
            return 0;
        if (nl)
            line_end(l);
        from = to + 1;
    }
    return n;
}

static int on_progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    event_reader *l = arg;
    if (!l->stopped && l->events->stop && l->events->stop(l->events->arg))
        l->stopped = true;
    return 0;
}

ramet_status client_message(ramet_call *call, const char *session, const char *route,
                            const char *json, const client_events *events)
{
    client_call *c = CALL(call);
    event_reader l = {.call = c, .events = events};
    target t;
    memset(&c->err, 0, sizeof c->err);
    TRY(headers_check(c));
    buf_init(&l.line, LINE_MAX_);
    buf_init(&l.data, LINE_MAX_);
    buf_init(&l.error, 1 << 20);
    target_init(&t, c, "/sessions/%s/%s", session, route);
    struct curl_slist *headers =
        curl_slist_append(ask_headers(c, true), "Accept: text/event-stream");
    CURL *h = send_prepare(c, &t, headers, on_bytes, &l);
    curl_easy_setopt(h, CURLOPT_POSTFIELDS, json);
    curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(h, CURLOPT_XFERINFODATA, &l);
    curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
    CURLcode rc = send_run(c, headers);
    ramet_status st = RAMET_OK;
    if (rc != CURLE_OK)
        st = client_fail(c, RAMET_CANNOT_OPEN, "server", "%s: %s", c->server->base,
                         curl_easy_strerror(rc));
    else if (c->status < 200 || c->status > 299)
        st = answer_error(c, &l.error);
    buf_release(&t.text);
    buf_release(&l.line);
    buf_release(&l.data);
    buf_release(&l.error);
    return st;
}

ramet_status client_post(ramet_call *call, const char *session, const char *route, const char *json)
{
    target t;
    json_doc d;
    body b;
    target_init(&t, CALL(call), "/sessions/%s/", session);
    buf_puts(&t.text, route);
    buf_init(&b.text, ANSWER_MAX);
    buf_puts(&b.text, json);
    return ask_raw(&t, "POST", &b, &d);
}

ramet_status client_agents(ramet_call *call, const client_agent **out, size_t *n)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    target_init(&t, c, "/agents");
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "agents"));
    const json_node *all = json_get(&d, d.nodes, "agents");
    client_agent *list = arena_array(c->arena, all->count + 1, sizeof *list);
    *n = 0;
    for (const json_node *v = json_first(&d, all); v; v = json_next(&d, all, v)) {
        const json_node *models = json_get(&d, v, "models");
        const char **names = arena_array(c->arena, models ? models->count + 1 : 1, sizeof *names);
        client_agent *it = &list[(*n)++];
        *it = (client_agent){.name = get_text(c, &d, v, "name"),
                             .about = get_text(c, &d, v, "about"),
                             .model = get_text(c, &d, v, "model"),
                             .models = names};
        json_int(&d, json_get(&d, v, "context"), &it->context);
        for (const json_node *m = json_is(models, JSON_ARRAY) ? json_first(&d, models) : NULL; m;
             m = json_next(&d, models, m))
            names[it->n_models++] = json_text(c->arena, &d, m);
    }
    *out = list;
    return RAMET_OK;
}
