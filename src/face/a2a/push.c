/* SPDX-License-Identifier: Apache-2.0
 *
 * push.c: where the changes of a task are sent to: set, get, list and delete, in both versions.
 *
 * A client may give a token and credentials with its URL. They are stored sealed, and only the user
 * who gave them sees them again.
 */
#include "face/a2a/push.h"

#include "base/address.h"
#include "base/seal.h"
#include "face/a2a/a2a_face.h"

#include <curl/curl.h>
#include <string.h>

enum { MAX_URL_BYTES = 2048, MAX_SECRET_BYTES = 4096, MAX_SCHEME_BYTES = 64 };

/* ------------------------------------------------------------------ sealing */

static const char *seal_about(arena *a, const char *task, const char *id)
{
    return arena_printf(a, "a2a push\n%s\n%s", task, id);
}

const void *push_target_seal(arena *a, const uint8_t key[32], const char *task,
                             const push_target *t, size_t *n)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "url", t->url);
    jw_kstr(&w, "token", t->token);
    jw_kstr(&w, "scheme", t->scheme);
    jw_kstr(&w, "credentials", t->credentials);
    jw_end_object(&w);
    const char *json = buf_keep(&b, a);
    return seal_make(a, key, seal_about(a, task, t->id), json, strlen(json), n);
}

bool push_target_open(arena *a, const uint8_t key[32], const ramet_push *row, push_target *out)
{
    json_doc d;
    size_t n;
    const char *json =
        seal_open(a, key, seal_about(a, row->task, row->id), row->config, row->n, &n);
    if (!json || !json_parse(a, json, n, 0, &d, NULL))
        return false;
    const json_node *o = &d.nodes[0];
    *out = (push_target){.id = row->id,
                         .url = json_text(a, &d, json_get(&d, o, "url")),
                         .token = json_text(a, &d, json_get(&d, o, "token")),
                         .scheme = json_text(a, &d, json_get(&d, o, "scheme")),
                         .credentials = json_text(a, &d, json_get(&d, o, "credentials"))};
    return out->url != NULL;
}

/* ------------------------------------------------------------------ what a client sends */

/* The texts become headers of a request. */
static bool header_fits(jsonrpc_call *r, const char *name, const char *text, size_t max)
{
    for (const char *p = text; text && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 127) {
            jsonrpc_fail(r, JSONRPC_PARAMS, "%s must have no control characters", name);
            return false;
        }
    if (!text || strlen(text) <= max)
        return true;
    jsonrpc_fail(r, JSONRPC_PARAMS, "%s has %zu bytes, at most %zu are allowed", name, strlen(text),
                 max);
    return false;
}

static bool url_fits(jsonrpc_call *r, const char *url)
{
    CURLU *u = curl_url();
    char *scheme = NULL, *host = NULL;
    bool fine = u && strlen(url) <= MAX_URL_BYTES && curl_url_set(u, CURLUPART_URL, url, 0) == 0 &&
                curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == 0 &&
                curl_url_get(u, CURLUPART_HOST, &host, 0) == 0 &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    bool closed = fine && !r->request->host->private_pushes && address_text_is_private(host);
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(u);
    if (!fine)
        jsonrpc_fail(r, JSONRPC_PARAMS, "url must be one of http or https, of at most %d bytes",
                     MAX_URL_BYTES);
    else if (closed)
        jsonrpc_fail(r, JSONRPC_PARAMS,
                     "url names a private or loopback address, which this server does not allow");
    return fine && !closed;
}

/* The schemes of 0.3, of which the first counts, in one text. A scheme has no comma. */
static bool schemes_read(jsonrpc_call *r, const json_node *list, push_target *out)
{
    arena *a = r->request->arena;
    const json_doc *d = &r->doc;
    for (const json_node *v = json_first(d, list); v; v = json_next(d, list, v)) {
        const char *one = json_text(a, d, v);
        if (!one || strchr(one, ',')) {
            jsonrpc_fail(r, JSONRPC_PARAMS, "authentication.schemes must be names of schemes");
            return false;
        }
        out->scheme = out->scheme ? arena_printf(a, "%s,%s", out->scheme, one) : one;
    }
    return true;
}

size_t push_scheme_length(const char *schemes)
{
    return strcspn(schemes, ",");
}

/* {scheme, credentials}; in 0.3 {schemes, credentials}. */
static bool authentication_read(jsonrpc_call *r, const json_node *v, push_target *out)
{
    if (!v || json_is(v, JSON_NULL))
        return true;
    if (!json_is(v, JSON_OBJECT)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "authentication must be an object");
        return false;
    }
    if (!jsonrpc_word(r, v, "credentials", &out->credentials))
        return false;
    if (r->version == A2A_10) {
        if (!jsonrpc_word(r, v, "scheme", &out->scheme))
            return false;
    } else if (!schemes_read(r, json_get(&r->doc, v, "schemes"), out)) {
        return false;
    }
    return header_fits(r, "authentication.scheme", out->scheme, MAX_SCHEME_BYTES) &&
           header_fits(r, "authentication.credentials", out->credentials, MAX_SECRET_BYTES);
}

bool push_target_read(jsonrpc_call *r, const json_node *v, push_target *out)
{
    *out = (push_target){0};
    if (!json_is(v, JSON_OBJECT)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "the push notification config must be an object");
        return false;
    }
    out->url = jsonrpc_text(r, v, "url");
    return out->url && jsonrpc_word(r, v, "id", &out->id) &&
           jsonrpc_word(r, v, "token", &out->token) &&
           header_fits(r, "token", out->token, MAX_SECRET_BYTES) &&
           authentication_read(r, json_get(&r->doc, v, "authentication"), out) &&
           url_fits(r, out->url);
}

ramet_status push_target_store(const jsonrpc_call *r, const char *session, const char *task,
                               push_target *t)
{
    request *q = r->request;
    char uuid[UUID_TEXT];
    size_t n;
    /* In 0.3 a config without an id is the one of its task. */
    if (!t->id)
        t->id = r->version == A2A_03 ? task : arena_strdup(q->arena, uuid7(time_now_us(), uuid));
    const void *sealed = push_target_seal(q->arena, q->host->push_key, task, t, &n);
    ramet_push_in in = {
        .task = task, .id = t->id, .wire = r->version == A2A_03 ? 3 : 10, .config = sealed, .n = n};
    ramet_status st = ramet_push_put(q->call, session, &in);
    if (st == RAMET_OK)
        q->host->push_added(q->host->arg);
    return st;
}

bool push_target_put(jsonrpc_call *r, const char *session, const char *task, push_target *t)
{
    if (push_target_store(r, session, task, t) == RAMET_OK)
        return true;
    jsonrpc_refuse(r);
    return false;
}

/* ------------------------------------------------------------------ answers */

static void authentication_write(json_writer *w, const push_target *t, bool old)
{
    size_t n;
    if (!t->scheme && !t->credentials)
        return;
    jw_key(w, "authentication");
    jw_object(w);
    if (old) {
        jw_key(w, "schemes");
        jw_array(w);
        for (const char *s = t->scheme; s; s = s[n] ? s + n + 1 : NULL) {
            n = push_scheme_length(s);
            jw_strn(w, s, n);
        }
        jw_end_array(w);
    } else {
        jw_key(w, "scheme");
        jw_strn(w, t->scheme ? t->scheme : "", t->scheme ? push_scheme_length(t->scheme) : 0);
    }
    if (t->credentials)
        jw_kstr(w, "credentials", t->credentials);
    jw_end_object(w);
}

static void target_write(json_writer *w, const jsonrpc_call *r, const char *task,
                         const push_target *t)
{
    bool old = r->version == A2A_03;
    jw_object(w);
    jw_kstr(w, "taskId", task);
    if (old) {
        jw_key(w, "pushNotificationConfig");
        jw_object(w);
    }
    jw_kstr(w, "id", t->id);
    jw_kstr(w, "url", t->url);
    if (t->token)
        jw_kstr(w, "token", t->token);
    authentication_write(w, t, old);
    jw_end_object(w);
    if (old)
        jw_end_object(w);
}

static void target_answer(jsonrpc_call *r, const char *task, const push_target *t)
{
    target_write(jsonrpc_result(r), r, task, t);
    jsonrpc_result_end(r);
}

/* ------------------------------------------------------------------ methods */

/* The caller's configs of the task that a parameter names. */
typedef struct configs {
    const char *task;
    ramet_push *rows;
    size_t n;
} configs;

static bool configs_find(jsonrpc_call *r, const char *name, configs *out)
{
    ramet_session *s;
    out->task = jsonrpc_text(r, r->params, name);
    const a2a_task *t = out->task ? jsonrpc_task(r, out->task, &s) : NULL;
    if (!t)
        return false;
    if (ramet_push_list(r->request->call, t->session, out->task, &out->rows, &out->n) == RAMET_OK)
        return true;
    jsonrpc_refuse(r);
    return false;
}

static bool row_open(jsonrpc_call *r, const ramet_push *row, push_target *out)
{
    if (push_target_open(r->request->arena, r->request->host->push_key, row, out))
        return true;
    jsonrpc_fail(r, JSONRPC_INTERNAL,
                 "the push notification config '%.80s' was sealed with another key; set it again",
                 row->id);
    return false;
}

void jsonrpc_push_set(jsonrpc_call *r)
{
    push_target t;
    ramet_session *s;
    const json_node *v =
        r->version == A2A_10 ? r->params : json_get(&r->doc, r->params, "pushNotificationConfig");
    const char *id = jsonrpc_text(r, r->params, "taskId");
    const a2a_task *task = id ? jsonrpc_task(r, id, &s) : NULL;
    if (!task || !push_target_read(r, v, &t) || !push_target_put(r, task->session, id, &t))
        return;
    target_answer(r, id, &t);
    if (r->binding == A2A_OVER_REST)
        r->request->status = 201;
}

static const char *id_name(const jsonrpc_call *r)
{
    return r->version == A2A_10 ? "id" : "pushNotificationConfigId";
}

static const char *task_name(const jsonrpc_call *r)
{
    return r->version == A2A_10 ? "taskId" : "id";
}

/* In 0.3 the id may be left out: then it is the first. */
void jsonrpc_push_get(jsonrpc_call *r)
{
    configs all;
    push_target t;
    const char *id = NULL;
    if (r->version == A2A_10 ? !(id = jsonrpc_text(r, r->params, "id"))
                             : !jsonrpc_word(r, r->params, id_name(r), &id))
        return;
    if (!configs_find(r, task_name(r), &all))
        return;
    for (size_t i = 0; i < all.n; i++)
        if (!id || strcmp(all.rows[i].id, id) == 0) {
            if (row_open(r, &all.rows[i], &t))
                target_answer(r, all.task, &t);
            return;
        }
    jsonrpc_fail(r, JSONRPC_TASK_NOT_FOUND, "the push notification config '%.80s' was not found",
                 id ? id : "");
}

void jsonrpc_push_list(jsonrpc_call *r)
{
    configs all;
    int64_t page = RAMET_PUSH_PER_TASK;
    const char *after = NULL;
    bool young = r->version == A2A_10;
    if (young && (!jsonrpc_number(r, r->params, "pageSize", 0, 100, &page) ||
                  !jsonrpc_word(r, r->params, "pageToken", &after)))
        return;
    page = page ? page : RAMET_PUSH_PER_TASK;
    if (!configs_find(r, task_name(r), &all))
        return;
    size_t from = 0;
    while (after && from < all.n && strcmp(all.rows[from].id, after) <= 0)
        from++;
    size_t to = all.n - from > (size_t)page ? from + (size_t)page : all.n;
    push_target *targets = arena_array(r->request->arena, all.n + 1, sizeof *targets);
    for (size_t i = from; i < to; i++)
        if (!row_open(r, &all.rows[i], &targets[i]))
            return;
    json_writer *w = jsonrpc_result(r);
    if (young) {
        jw_object(w);
        jw_key(w, "configs");
    }
    jw_array(w);
    for (size_t i = from; i < to; i++)
        target_write(w, r, all.task, &targets[i]);
    jw_end_array(w);
    if (young) {
        jw_kstr(w, "nextPageToken", to < all.n ? all.rows[to - 1].id : "");
        jw_end_object(w);
    }
    jsonrpc_result_end(r);
}

void jsonrpc_push_delete(jsonrpc_call *r)
{
    configs all;
    const char *id = jsonrpc_text(r, r->params, id_name(r));
    if (!id || !configs_find(r, task_name(r), &all))
        return;
    if (all.n &&
        ramet_push_delete(r->request->call, all.rows[0].session, all.task, id) != RAMET_OK) {
        jsonrpc_refuse(r);
        return;
    }
    json_writer *w = jsonrpc_result(r);
    if (r->binding == A2A_OVER_REST) {
        r->request->status = 204;
    } else if (r->version == A2A_10) {
        jw_object(w);
        jw_end_object(w);
    } else {
        jw_null(w);
    }
    jsonrpc_result_end(r);
}
