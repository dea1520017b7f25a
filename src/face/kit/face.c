/* SPDX-License-Identifier: Apache-2.0
 *
 * face.c: finds and runs routes, and helps handlers read requests and write answers and errors.
 * face_check.c checks query and body.
 */
#include "face/kit/face.h"

#include "base/util.h"
#include "base/words.h"
#include "form/native.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- reading */

/* The next segment of a path template; advances *p past it. Returns its length. */
static size_t template_next(const char **p, const char **start)
{
    while (**p == '/')
        ++*p;
    *start = *p;
    size_t n = strcspn(*p, "/");
    *p += n;
    return n;
}

const char *face_path(request *q, const char *name)
{
    const char *p = q->route->path, *s;
    size_t len = strlen(name), n;
    for (size_t i = 0; (n = template_next(&p, &s)) && i < q->n_segments; i++)
        if (n == len + 2 && s[0] == '{' && memcmp(s + 1, name, len) == 0)
            return q->segments[i];
    return "";
}

bool face_query_int(const request *q, const char *name, int64_t *out)
{
    const char *value = request_query(q, name);
    if (!value)
        return false;
    *out = strtoll(value, NULL, 10);
    return true;
}

bool face_query_bool(const request *q, const char *name)
{
    const char *value = request_query(q, name);
    return value && strcmp(value, "true") == 0;
}

static const json_node *member(const request *q, const char *name)
{
    return q->json.n ? json_get(&q->json, &q->json.nodes[0], name) : NULL;
}

const json_node *face_member(const request *q, const char *name)
{
    const json_node *v = member(q, name);
    return json_is(v, JSON_NULL) ? NULL : v;
}

bool face_cleared(const request *q, const char *name)
{
    return json_is(member(q, name), JSON_NULL);
}

bool face_bool(const request *q, const char *name)
{
    return json_is(member(q, name), JSON_TRUE);
}

const char *face_text(request *q, const char *name)
{
    return json_text(q->arena, &q->json, face_member(q, name));
}

const char *face_raw(request *q, const char *name)
{
    const json_node *v = face_member(q, name);
    return v ? json_raw(q->arena, &q->json, v) : NULL;
}

const char *const *face_texts(request *q, const char *name, size_t *n)
{
    const json_node *list = face_member(q, name);
    const char **out = arena_array(q->arena, (list ? list->count : 0) + 1, sizeof *out);
    *n = 0;
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        out[(*n)++] = json_text(q->arena, &q->json, v);
    return out;
}

/* If-Match contains an entity tag that begins with a hash (face_etag()), or the hash alone. */
static const char *hash_of_tag(request *q, const char *tag)
{
    if (!tag || strcmp(tag, "*") == 0)
        return NULL;
    if (strncmp(tag, "W/", 2) == 0)
        tag += 2;
    if (*tag == '"')
        tag++;
    return arena_memdup(q->arena, tag, strcspn(tag, "-\""));
}

const char *face_expected_head(request *q)
{
    const json_node *v = face_member(q, "expected_head");
    if (json_is(v, JSON_OBJECT))
        v = json_get(&q->json, v, "prefix_hash");
    if (v)
        return json_text(q->arena, &q->json, v);
    const char *asked = request_query(q, "expected_head");
    return asked ? asked : hash_of_tag(q, request_header(q, "If-Match"));
}

bool face_last_event(request *q, int64_t *after, bool *given)
{
    const char *last = request_header(q, "Last-Event-ID");
    char *end;
    if (!last || !*last) {
        *given = face_query_int(q, "after", after);
        return true;
    }
    errno = 0;
    *after = strtoll(last, &end, 10);
    *given = true;
    if (errno == 0 && !*end && *after >= 0)
        return true;
    request_fail(q, 400, "invalid_request", "Last-Event-ID",
                 "Last-Event-ID is '%.40s'; it is the number of an event", last);
    return false;
}

void face_live_open(request *q, const ramet_events_in *in, bool from_now, const live_feed *feed,
                    int busy)
{
    if (!live_open(q->host->live, q, in, from_now, feed))
        request_fail(q, busy, "too_many_streams", NULL,
                     "%lld streams are open, which is the most this server has",
                     (long long)live_max_streams(q->host->live));
}

/* ------------------------------------------------------------------- answers */

void request_error(request *q, const ramet_error *e)
{
    int status = ramet_status_http(e->status);
    if (status == 503)
        request_add_header(q, "Retry-After", "1");
    request_answer_begin(q);
    q->status = status;
    if (q->fail) {
        q->fail(q, ramet_status_code(e->status), e->field, e->message);
        return;
    }
    if (q->keeps_failure) {
        request_keep_failure(q, ramet_status_code(e->status), e->field, e->message);
        return;
    }
    jw_object(&q->writer);
    native_error_fields(&q->writer, e);
    jw_kstr(&q->writer, "request_id", q->id);
    jw_end_object(&q->writer);
}

void face_done(request *q)
{
    if (q->out.over)
        request_answer_too_large(q);
    else if (!q->status)
        q->status = q->route->success;
}

void face_etag(request *q, const char *front, const void *bytes, size_t n)
{
    uint8_t digest[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    sha_of(bytes, n, digest);
    hex_encode(digest, 8, hex);
    request_add_header(
        q, "ETag", arena_printf(q->arena, "\"%s%s%s\"", front ? front : "", front ? "-" : "", hex));
}

/* ---- answers stored for an idempotency key */

static void render_now(request *q)
{
    request_answer_begin(q);
    q->status = 0;
    if (q->render)
        q->render(q, q->answer);
    face_done(q);
    q->rendered = true;
}

/* Runs inside the commit, perhaps on another thread while this one waits. */
static void once_answer(void *arg, int *status, const char **bytes, size_t *n)
{
    request *q = arg;
    render_now(q);
    *status = q->status;
    *bytes = q->out.data;
    *n = q->out.n;
}

void face_render(request *q, void (*render)(request *q, const void *answer), const void *answer)
{
    q->render = render;
    q->answer = answer;
    q->rendered = false;
}

bool face_answer(request *q, ramet_status st)
{
    if (st != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return false;
    }
    if (q->has_once && q->once.repeated) {
        request_answer_begin(q);
        buf_add(&q->out, q->once.bytes, q->once.n);
        q->status = q->once.status;
        request_add_header(q, "Idempotency-Replayed", "true");
        return false;
    }
    if (!q->rendered)
        render_now(q);
    return true;
}

/* Stops reads for a client that has gone. */
static bool client_gone(void *arg)
{
    const request *q = arg;
    return q->gone && atomic_load_explicit(q->gone, memory_order_relaxed);
}

ramet_call *face_call(request *q)
{
    if (q->call)
        return q->call;
    q->call = ramet_call_new(q->host->store, q->caller.user, q->caller.client);
    ramet_call_stop_when(q->call, client_gone, q);
    if (q->caller.share && ramet_call_share(q->call, q->caller.share, NULL) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return NULL;
    }
    if (q->has_once)
        ramet_call_once(q->call, &q->once);
    if (q->route->flags & ROUTE_PAGE)
        ramet_call_replica(q->call, q->since);
    return q->call;
}

ramet_call *face_call_expecting(request *q, const char *session)
{
    ramet_call *c = face_call(q);
    if (c)
        ramet_call_expect(c, session, face_expected_head(q));
    return c;
}

void face_count(request *q, const char *what, const char *type)
{
    if (q->host->count)
        q->host->count(q->host->arg, what, type, q->face->name);
}

const char *face_escape(request *q, const char *s)
{
    buf b;
    buf_init(&b, 3 * strlen(s) + 1);
    buf_percent(&b, s, "-._~");
    return buf_keep(&b, q->arena);
}

const char *face_disposition(request *q, const char *kind, const char *name)
{
    char *plain = arena_strdup(q->arena, name);
    for (char *p = plain; *p; p++)
        if ((unsigned char)*p < 0x20 || (unsigned char)*p > 0x7e || strchr("\"\\", *p))
            *p = '_';
    return *plain ? arena_printf(q->arena, "%s; filename=\"%s\"; filename*=UTF-8''%s", kind, plain,
                                 face_escape(q, name))
                  : kind;
}

/* --------------------------------------------------------------------- routes */

/* Whether a segment matches the template at *path; advances past it. A request is compared with the
 * routes of all faces in turn: most differ in their first letters. */
static bool segment_fits(const char **path, const char *segment)
{
    const char *p = *path;
    if (*p == '{') {
        *path = p + strcspn(p, "/");
        return *segment != 0;
    }
    while (*segment && *p != '/' && *p == *segment)
        p++, segment++;
    *path = p;
    return !*segment && (!*p || *p == '/');
}

/* "{*rest}" at the end matches one or more segments, which may be empty. */
static bool path_fits(const char *path, const request *q)
{
    size_t i = 0;
    for (; path[0] == '/' && path[1]; i++) {
        path++;
        if (path[0] == '{' && path[1] == '*')
            return i < q->n_segments;
        if (i == q->n_segments || !segment_fits(&path, q->segments[i]))
            return false;
    }
    /* "/" has one segment, which is empty. */
    return i == q->n_segments || (!i && q->n_segments == 1 && !*q->segments[0]);
}

static bool path_is_below(const char *prefix, const request *q)
{
    size_t i = 0;
    for (; prefix[0] == '/' && prefix[1]; i++) {
        prefix++;
        if (i == q->n_segments || !segment_fits(&prefix, q->segments[i]))
            return false;
    }
    return i < q->n_segments;
}

void face_set(request *q, const face *f, const face_route *r)
{
    q->face = f;
    q->fail = f->fail;
    q->referrer = f->referrer;
    q->identity_rule = f->identity;
    q->route = r;
    q->roles = r ? r->roles : 0;
    q->writes = r && (r->flags & ROUTE_WRITE);
}

face_found face_find(const face *const *faces, size_t n, request *q, const char **allow)
{
    const char *method = strcmp(q->method, "HEAD") == 0 ? "GET" : q->method;
    char methods[96] = "";
    size_t used = 0;
    for (size_t f = 0; f < n; f++) {
        for (const face_route *r = faces[f]->routes; r->method; r++) {
            if (!path_fits(r->path, q))
                continue;
            if (!q->face)
                face_set(q, faces[f], NULL);
            if (strcmp(r->method, method) == 0) {
                face_set(q, faces[f], r);
                return FACE_FOUND;
            }
            used += (size_t)snprintf(methods + used, sizeof methods - used, "%s, %s", r->method,
                                     strcmp(r->method, "GET") == 0 ? "HEAD, " : "");
        }
    }
    for (size_t f = 0; f < n && !used; f++)
        if (faces[f]->owns_prefix && path_is_below(faces[f]->prefix, q))
            face_set(q, faces[f], NULL);
    if (!used)
        return FACE_NO_PATH;
    *allow = arena_printf(q->arena, "%sOPTIONS", methods);
    return FACE_NO_METHOD;
}

/* ----------------------------------------------------------------------- showing */

static bool param_secret(const face *f, const char *part, size_t n)
{
    size_t len;
    const char *list = f->secrets;
    for (const char *s; (s = word_next(&list, "|", &len));)
        if (len == n - 2 && memcmp(s, part + 1, len) == 0)
            return true;
    return false;
}

/* Marks the segments that are secrets in a route, as far as the path matches it. */
static void secrets_mark(const face *f, const char *path, const request *q, bool *secret)
{
    const char *s;
    size_t i = 0, n;
    for (; (n = template_next(&path, &s)) && i < q->n_segments; i++) {
        if (s[0] == '{' && s[1] == '*')
            return;
        const char *at = s;
        if (!segment_fits(&at, q->segments[i]))
            return;
        secret[i] = secret[i] || (s[0] == '{' && param_secret(f, s, n));
    }
}

void face_path_show(const face *const *faces, size_t n, const request *q, buf *out)
{
    bool *secret = arena_array(q->arena, q->n_segments + 1, sizeof *secret);
    memset(secret, 0, (q->n_segments + 1) * sizeof *secret);
    if (q->route)
        secrets_mark(q->face, q->route->path, q, secret);
    for (size_t f = 0; f < n && !q->route; f++)
        for (const face_route *r = faces[f]->routes; r->method; r++)
            secrets_mark(faces[f], r->path, q, secret);
    const char *p = q->path;
    for (size_t i = 0; *p; i++) {
        size_t slash = *p == '/', len = strcspn(p + slash, "/");
        if (slash)
            buf_putc(out, '/');
        /* In an unknown path that was not split, any segment may be a secret. */
        if (i < q->n_segments ? secret[i] : !q->route)
            buf_puts(out, "***");
        else
            buf_add(out, p + slash, len);
        p += slash + len;
    }
}

static bool query_shown(const request *q, const char *name)
{
    if (!q->route)
        return false;
    for (const form_field *f = q->route->query; f && f->name; f++)
        if (strcmp(f->name, name) == 0)
            return !f->secret;
    return strcmp(name, "user_id") == 0;
}

void face_query_show(const request *q, buf *out)
{
    for (size_t i = 0; i < q->n_query; i++)
        buf_printf(out, "%s%.200s=%.200s", i ? "&" : "", q->query[i].name,
                   query_shown(q, q->query[i].name) ? q->query[i].value : "***");
}

/* ----------------------------------------------------------------------- running */

/* The scope of a key is (user, method, path); a path may be longer than a scope. */
static const char *once_scope(request *q, sha *h)
{
    uint8_t digest[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    if (strlen(q->path) < 900)
        return arena_printf(q->arena, "%s %s", q->method, q->path);
    sha_begin(h);
    sha_add(h, q->path, strlen(q->path));
    sha_end(h, digest);
    hex_encode(digest, HASH_LEN, hex);
    return arena_printf(q->arena, "%s %s", q->method, hex);
}

static bool once_prepare(request *q)
{
    const char *key = request_header(q, "Idempotency-Key");
    if (!key || !(q->route->flags & ROUTE_WRITE) || strcmp(q->method, "POST") != 0)
        return true;
    if (!*key || strlen(key) > 255 || !utf8_valid(key, strlen(key))) {
        request_fail(q, 400, "invalid_request", "Idempotency-Key",
                     "an Idempotency-Key has 1 to 255 bytes of UTF-8");
        return false;
    }
    if (q->route->flags & ROUTE_KEYLESS) {
        request_fail(q, 400, "invalid_request", "Idempotency-Key",
                     "no answer is kept for an Idempotency-Key here; leave it out");
        return false;
    }
    sha *h = sha_new();
    q->once = (ramet_once){.key = key, .answer = once_answer, .arg = q};
    q->once.scope = once_scope(q, h);
    sha_begin(h);
    sha_add(h, q->body.data, q->body.n);
    for (size_t i = 0; i < q->n_query; i++) {
        sha_add(h, q->query[i].name, strlen(q->query[i].name) + 1);
        sha_add(h, q->query[i].value, strlen(q->query[i].value) + 1);
    }
    sha_end(h, q->once.digest);
    sha_free(h);
    q->has_once = true;
    return true;
}

/* X-Ramet-Position: from the answer of a write that this read must see. */
static bool position_prepare(request *q)
{
    const char *text = request_header(q, "X-Ramet-Position");
    q->since = text && *text ? ramet_position_parse(text) : 0;
    if (q->since >= 0)
        return true;
    request_fail(q, 400, "invalid_request", "X-Ramet-Position",
                 "X-Ramet-Position is what a write was answered with, like 16/B374D848");
    return false;
}

/* Repeats a failed read on the primary: the replica may lag behind what the client has learned from
 * elsewhere, may go away, or may cancel a query that conflicts with its replay. */
static void page_again(request *q, size_t n_headers)
{
    bool failed = q->status == 404 || q->status >= 500;
    if (!(q->route->flags & ROUTE_PAGE) || !failed || !q->call || !ramet_call_replicated(q->call))
        return;
    ramet_call_free(q->call);
    q->call = NULL;
    q->since = -1;
    q->status = 0;
    q->n_headers = n_headers;
    request_answer_begin(q);
    q->route->run(q);
}

static void position_answer(request *q)
{
    char text[24];
    int64_t at = q->route->flags & ROUTE_WRITE ? ramet_position(q->host->store) : 0;
    if (at > 0 && q->status < 400)
        request_add_header(q, "X-Ramet-Position", ramet_position_text(at, text));
}

void face_refuse_link(request *q)
{
    request_fail(q, 401, "unauthenticated", NULL,
                 "a share link alone does not allow this; sign in, and leave out share_only");
}

bool face_check_role(request *q)
{
    const identity_rule *rule = q->identity_rule;
    if ((q->roles & ROLE_ANYONE) || identity_has_role(&q->caller, q->roles))
        return true;
    if (q->caller.link)
        face_refuse_link(q);
    else if (rule && rule->refuse_role)
        rule->refuse_role(q, q->roles);
    else
        request_fail(q, 403, "forbidden", NULL, "%s",
                     q->roles == ROLE_ADMIN ? "this is for administrators alone"
                                            : "the caller has none of the roles that this is for");
    return false;
}

/* An agent that acts for no user uses no share link. */
bool face_check_share(request *q)
{
    bool has_body = strcmp(q->method, "GET") != 0 && strcmp(q->method, "HEAD") != 0;
    if (!has_body || !q->caller.share || q->caller.no_user)
        return true;
    ramet_call *c = ramet_call_new(q->host->store, q->caller.user, q->caller.client);
    bool good = ramet_call_share(c, q->caller.share, NULL) == RAMET_OK;
    if (!good)
        request_error(q, ramet_call_error(c));
    ramet_call_free(c);
    return good;
}

void face_run(request *q)
{
    if (!face_check_role(q))
        return;
    if (!position_prepare(q) || !once_prepare(q))
        return;
    size_t n_headers = q->n_headers;
    q->route->run(q);
    page_again(q, n_headers);
    position_answer(q);
}
