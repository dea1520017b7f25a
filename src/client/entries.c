/* SPDX-License-Identifier: Apache-2.0
 *
 * entries.c: entries over HTTP: append, read, stream, record.
 */
#include "client/internal.h"

#include "base/util.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 1000 /* entries per request of a stream */

static const char *log_word(ramet_log log)
{
    return log == RAMET_LOG_ADK ? "adk" : NULL;
}

ramet_status http_append(ramet_call *call, const char *session, const ramet_append_in *in,
                         ramet_append_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    char branch[24];
    *out = (ramet_append_out){0};
    target_init(&t, c, "/sessions/%s/entries", session);
    body_init(&b);
    body_entries(&b, in->entries, in->n);
    body_add(&b, "expected_head", in->expected_head);
    body_add(&b, "branch_id", in->branch ? ramet_branch_text(in->branch, branch) : NULL);
    body_add(&b, "log", log_word(in->log));
    TRY(ask(&t, "POST", &b, &d));
    form_read(c->arena, &d, d.nodes, &form_appended, out, NULL);
    return RAMET_OK;
}

ramet_status http_read(ramet_call *call, const char *session, const ramet_read_in *in,
                       ramet_page *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    char position[24];
    *out = (ramet_page){0};
    target_init(&t, c, "/sessions/%s/entries", session);
    target_int(&t, "limit", in->limit);
    target_add(&t, "after", in->after);
    target_add(&t, "before", in->before);
    target_bool(&t, "tail", in->tail);
    if (in->by_position) {
        snprintf(position, sizeof position, "%lld", (long long)in->position);
        target_add(&t, "from", position);
    }
    target_add(&t, "channel", in->channel);
    target_branch(&t, "branch", in->branch);
    target_add(&t, "log", log_word(in->log));
    target_add(&t, "versions", in->versions ? NULL : "false");
    target_add(&t, "view", in->view ? ramet_view_name(in->view) : NULL);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "entries"));
    form_read(c->arena, &d, d.nodes, &form_entry_page, out, NULL);
    return RAMET_OK;
}

ramet_status http_entry_get(ramet_call *call, const char *session, int64_t branch,
                            const char *entry_id, ramet_entry **out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/sessions/%s/entries/%s", session, entry_id);
    target_branch(&t, "branch", branch);
    TRY(ask(&t, "GET", NULL, &d));
    *out = answer_read(c, &d, &form_entry);
    return RAMET_OK;
}

ramet_status http_record(ramet_call *call, const char *session, ramet_log log, int64_t from,
                         int limit, ramet_page *out, int64_t *total)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_page){0};
    target_init(&t, c, "/sessions/%s/record", session);
    target_add(&t, "log", log_word(log));
    target_int(&t, "from", from);
    target_int(&t, "limit", limit);
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "entries"));
    native_record *record = answer_read(c, &d, &form_record);
    *out = record->page;
    *total = record->total;
    out->more_before = from > 0 && *total > 0;
    return RAMET_OK;
}

/* ------------------------------------------------------------------- stream */

/* A path in pages. Its branch and its initial length determine it. */
typedef struct stream {
    ramet_call *own;     /* holds the current page */
    client_call *opener; /* receives errors */
    char *session, *channel;
    ramet_read_in in;
    ramet_page page;
    size_t at;
    int64_t length;
    bool end;
} stream;

static ramet_status stream_page(stream *s)
{
    http_call_reset(s->own);
    ramet_status st = http_read(s->own, s->session, &s->in, &s->page);
    if (st != RAMET_OK) {
        s->opener->err = CALL(s->own)->err;
        return st;
    }
    s->at = 0;
    if (s->page.n)
        s->in.position = s->page.entries[s->page.n - 1].position + 1;
    return RAMET_OK;
}

ramet_status http_stream_open(ramet_call *call, const char *session, const ramet_read_in *in,
                              ramet_stream **out)
{
    client_call *c = CALL(call);
    *out = NULL;
    stream *s = xcalloc(1, sizeof *s);
    s->opener = c;
    s->own = http_call_new((ramet *)(void *)c->server, c->user, c->name);
    s->session = xstrdup(session);
    s->channel = xstrdup(in->channel);
    s->in = (ramet_read_in){.limit = PAGE,
                            .channel = s->channel,
                            .branch = in->branch,
                            .log = in->log,
                            .view = in->view,
                            .by_position = true,
                            .versions = in->versions,
                            .position = in->by_position ? in->position : 0};
    ramet_status st = stream_page(s);
    if (st != RAMET_OK) {
        http_stream_close((ramet_stream *)(void *)s);
        return st;
    }
    s->length = s->page.head.length;
    s->in.branch = s->page.head.branch;
    *out = (ramet_stream *)(void *)s;
    return RAMET_OK;
}

ramet_status http_stream_next(ramet_stream *stream_, const ramet_entry **out)
{
    stream *s = (stream *)(void *)stream_;
    *out = NULL;
    if (!s->end && s->at == s->page.n) {
        s->end = !s->page.more_after || s->in.position >= s->length;
        if (!s->end)
            TRY(stream_page(s));
    }
    if (s->end || s->at == s->page.n || s->page.entries[s->at].position >= s->length) {
        s->end = true;
        return RAMET_OK;
    }
    *out = &s->page.entries[s->at++];
    return RAMET_OK;
}

int64_t http_stream_length(const ramet_stream *stream_)
{
    return ((const stream *)(const void *)stream_)->length;
}

void http_stream_close(ramet_stream *stream_)
{
    stream *s = (stream *)(void *)stream_;
    if (!s)
        return;
    http_call_free(s->own);
    free(s->session);
    free(s->channel);
    free(s);
}
