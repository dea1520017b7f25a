/* SPDX-License-Identifier: Apache-2.0
 *
 * request.c: see request.h.
 */
#include "http/request.h"

#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *request_header(request *q, const char *name)
{
    return q->header ? q->header(q, name) : NULL;
}

const char *request_query(const request *q, const char *name)
{
    for (size_t i = 0; i < q->n_query; i++)
        if (strcmp(q->query[i].name, name) == 0)
            return q->query[i].value;
    return NULL;
}

size_t request_query_all(request *q, const char *name, const char ***out)
{
    size_t n = 0;
    *out = arena_array(q->arena, q->n_query + 1, sizeof **out);
    for (size_t i = 0; i < q->n_query; i++)
        if (strcmp(q->query[i].name, name) == 0)
            (*out)[n++] = q->query[i].value;
    return n;
}

void request_add_header(request *q, const char *name, const char *value)
{
    if (q->n_headers == q->cap_headers)
        q->headers =
            vec_grow(q->arena, q->headers, q->n_headers, &q->cap_headers, sizeof *q->headers);
    q->headers[q->n_headers++] =
        (request_pair){arena_strdup(q->arena, name), arena_strdup(q->arena, value)};
}

void request_answer_begin(request *q)
{
    buf_clear(&q->out);
    jw_init(&q->writer, &q->out, 0);
    q->type = NULL;
    q->more = NULL;
}

void request_keep_failure(request *q, const char *code, const char *field, const char *message)
{
    q->failure = (request_failure){arena_strdup(q->arena, code),
                                   field && *field ? arena_strdup(q->arena, field) : NULL,
                                   arena_strdup(q->arena, message)};
}

void request_fail(request *q, int status, const char *code, const char *field, const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    /* The message was cut at a byte; half a character would make the answer invalid JSON. */
    utf8_trim(message);
    request_answer_begin(q);
    q->status = status;
    if (q->fail) {
        q->fail(q, code, field, message);
        return;
    }
    if (q->keeps_failure) {
        request_keep_failure(q, code, field, message);
        return;
    }
    jw_object(&q->writer);
    jw_kstr(&q->writer, "code", code);
    jw_kstr(&q->writer, "error", message);
    if (field && *field)
        jw_kstr(&q->writer, "field", field);
    jw_kstr(&q->writer, "request_id", q->id);
    jw_end_object(&q->writer);
}

void request_answer_too_large(request *q)
{
    if (!q->out.starved) {
        request_fail(q, 500, "answer_too_large", NULL,
                     "the answer is over %zu bytes; ask for less at a time, with a smaller limit",
                     q->out.max);
        return;
    }
    request_add_header(q, "Retry-After", "1");
    request_fail(
        q, 503, "too_many_answers", NULL,
        "the answers that wait for their clients take %lld bytes, at most %lld are allowed",
        (long long)atomic_load(&q->out.budget->used), (long long)q->out.budget->max);
}
