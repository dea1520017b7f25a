/* SPDX-License-Identifier: Apache-2.0
 *
 * One request to the server and its answer; errors come back as the library's own.
 */
#include "client/internal.h"

#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONNECT_MS 5000L

/* ------------------------------------------------------------------- target */

/* A dot too: "." and ".." would be taken for folders on the way. */
static void put_encoded(buf *b, const char *s)
{
    buf_percent(b, s, "-_~");
}

void target_init(target *t, client_call *c, const char *path, ...)
{
    *t = (target){.call = c};
    buf_init(&t->text, 1 << 20);
    buf_puts(&t->text, c->server->base);
    buf_puts(&t->text, "/ramet/v1");
    va_list ap;
    va_start(ap, path);
    for (; *path; path++) {
        if (path[0] == '%' && path[1] == 's') {
            put_encoded(&t->text, va_arg(ap, const char *));
            path++;
        } else {
            buf_putc(&t->text, *path);
        }
    }
    va_end(ap);
}

void target_add(target *t, const char *name, const char *value)
{
    if (!value)
        return;
    buf_putc(&t->text, t->asked ? '&' : '?');
    t->asked = true;
    put_encoded(&t->text, name);
    buf_putc(&t->text, '=');
    put_encoded(&t->text, value);
}

void target_int(target *t, const char *name, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    target_add(t, name, value ? text : NULL);
}

void target_bool(target *t, const char *name, bool value)
{
    target_add(t, name, value ? "true" : NULL);
}

void target_branch(target *t, const char *name, int64_t branch)
{
    char text[24];
    target_add(t, name, branch ? ramet_branch_text(branch, text) : NULL);
}

/* --------------------------------------------------------------------- body */

void body_init(body *b)
{
    buf_init(&b->text, ANSWER_MAX);
    jw_init(&b->w, &b->text, 0);
    jw_object(&b->w);
}

void body_add(body *b, const char *name, const char *value)
{
    if (value)
        jw_kstr(&b->w, name, value);
}

void body_texts(body *b, const char *name, const char *const *items, size_t n)
{
    jw_key(&b->w, name);
    jw_array(&b->w);
    for (size_t i = 0; i < n; i++)
        jw_str(&b->w, items[i]);
    jw_end_array(&b->w);
}

void body_at(body *b, const char *name, const ramet_at *at)
{
    if (!at->entry_id)
        return;
    jw_key(&b->w, name);
    form_write(&b->w, &form_at, at, NULL);
}

void body_entries(body *b, const ramet_entry_in *list, size_t n)
{
    jw_key(&b->w, "entries");
    jw_array(&b->w);
    for (size_t i = 0; i < n; i++)
        form_write(&b->w, &form_entry_in, &list[i], NULL);
    jw_end_array(&b->w);
}

/* ------------------------------------------------------------------- errors */

static ramet_status status_of(const char *code, int http)
{
    for (int i = 1; code && i < RAMET_STATUS_COUNT; i++)
        if (strcmp(ramet_status_code((ramet_status)i), code) == 0)
            return (ramet_status)i;
    switch (http) {
    case 400:
    case 415:
    case 422:
        return RAMET_INVALID;
    case 401:
        return RAMET_UNAUTHENTICATED;
    case 403:
        return RAMET_FORBIDDEN;
    case 404:
        return RAMET_SESSION_NOT_FOUND;
    case 413:
        return RAMET_TOO_LARGE;
    case 503:
        return RAMET_STOPPED;
    default:
        return RAMET_INTERNAL;
    }
}

ramet_status answer_error(client_call *c, const buf *text)
{
    json_doc d;
    if (!json_parse(c->arena, text->p, text->n, 0, &d, NULL) || !json_is(&d.nodes[0], JSON_OBJECT))
        return client_fail(c, status_of(NULL, c->status), "server",
                           "%s answered %d, and not in Ramet's words; is it a Ramet server?",
                           c->server->base, c->status);
    const json_node *root = &d.nodes[0];
    const char *said = get_text(c, &d, root, "error");
    ramet_status st = status_of(get_text(c, &d, root, "code"), c->status);
    client_fail(c, st, get_text(c, &d, root, "field"), "%s", said ? said : ramet_status_text(st));
    if (st == RAMET_HEAD_MOVED)
        form_read(c->arena, &d, json_get(&d, root, "head"), &form_head, &c->err.head, NULL);
    return st;
}

/* --------------------------------------------------------------------- send */

static size_t into_buf(char *p, size_t size, size_t n, void *arg)
{
    buf *b = arg;
    buf_add(b, p, size * n);
    return b->over ? 0 : size * n;
}

ramet_status who_check(client_call *c)
{
    const struct {
        const char *field, *value;
    } all[] = {{"user", c->user}, {"client", c->name}, {"token", c->server->token}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (const char *p = all[i].value; p && *p; p++)
            if ((unsigned char)*p < 0x20 || *p == 0x7f)
                return client_fail(c, RAMET_BAD_ID, all[i].field, "the %s holds control characters",
                                   all[i].field);
    return RAMET_OK;
}

struct curl_slist *ask_headers(const client_call *c, bool has_body)
{
    struct curl_slist *list = NULL;
    buf line;
    buf_init(&line, 1 << 16);
    const struct {
        const char *name, *value;
    } all[] = {{"Content-Type: ", has_body ? "application/json" : NULL},
               {"Authorization: Bearer ", c->server->token},
               {"X-User-Id: ", c->server->token ? NULL : c->user},
               {"X-Client-ID: ", c->name},
               {"X-Ramet-Position: ", c->server->position[0] ? c->server->position : NULL}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!all[i].value)
            continue;
        buf_clear(&line);
        buf_puts(&line, all[i].name);
        buf_puts(&line, all[i].value);
        list = curl_slist_append(list, line.p);
    }
    buf_release(&line);
    /* A body that is refused is refused at once anyway. */
    return curl_slist_append(list, "Expect:");
}

void position_remember(client_call *c)
{
    struct curl_header *h;
    if (curl_easy_header(c->curl, "X-Ramet-Position", 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return;
    int64_t at = ramet_position_parse(h->value);
    if (at > ramet_position_parse(c->server->position))
        ramet_position_text(at, c->server->position);
}

static CURLcode perform(client_call *c, const target *t, const char *method, const body *b,
                        curl_write_callback sink, void *arg)
{
    CURL *h = c->curl;
    struct curl_slist *list = ask_headers(c, b != NULL);
    curl_easy_reset(h);
    curl_easy_setopt(h, CURLOPT_URL, t->text.p);
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, sink);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, arg);
    if (b) {
        curl_easy_setopt(h, CURLOPT_POSTFIELDS, b->text.p);
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)b->text.n);
    }
    CURLcode rc = curl_easy_perform(h);
    position_remember(c);
    long status = 0;
    curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    c->status = (int)status;
    curl_slist_free_all(list);
    return rc;
}

static void free_both(target *t, body *b)
{
    buf_release(&t->text);
    if (b)
        buf_release(&b->text);
}

static ramet_status unreachable(client_call *c, CURLcode rc)
{
    return client_fail(c, RAMET_CANNOT_OPEN, "server", "%s cannot be reached: %s", c->server->base,
                       curl_easy_strerror(rc));
}

ramet_status ask(target *t, const char *method, body *b, json_doc *out)
{
    if (b)
        jw_end_object(&b->w);
    return ask_raw(t, method, b, out);
}

ramet_status ask_raw(target *t, const char *method, body *b, json_doc *out)
{
    client_call *c = t->call;
    buf text;
    *out = (json_doc){0};
    memset(&c->err, 0, sizeof c->err);
    ramet_status st = who_check(c);
    if (st != RAMET_OK) {
        free_both(t, b);
        return st;
    }
    buf_init(&text, ANSWER_MAX);
    CURLcode rc = perform(c, t, method, b, into_buf, &text);
    free_both(t, b);
    char *kept = NULL;
    if (rc != CURLE_OK)
        st = unreachable(c, rc);
    else if (c->status < 200 || c->status > 299)
        st = answer_error(c, &text);
    else if (text.n)
        kept = arena_memdup(c->arena, text.p, text.n);
    if (kept && !json_parse(c->arena, kept, text.n, SIZE_MAX, out, NULL))
        st = client_fail(c, RAMET_INTERNAL, "server", "%s answered what is not JSON",
                         c->server->base);
    buf_release(&text);
    return st;
}

static size_t into_file(char *p, size_t size, size_t n, void *arg)
{
    return fwrite(p, size, n, arg) * size;
}

/* A backup is for its owner's eyes, whatever the umask. NULL and errno when it cannot be made. */
static FILE *file_make(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    return fd < 0 ? NULL : fdopen(fd, "wb");
}

ramet_status ask_file(target *t, const char *method, const char *path)
{
    client_call *c = t->call;
    memset(&c->err, 0, sizeof c->err);
    ramet_status st = who_check(c);
    FILE *f = st == RAMET_OK ? file_make(path) : NULL;
    if (!f) {
        free_both(t, NULL);
        if (st != RAMET_OK)
            return st;
        return errno == EEXIST ? client_fail(c, RAMET_INVALID, "path",
                                             "%s exists; a backup goes to a new file", path)
                               : client_fail(c, RAMET_INVALID, "path", "%s cannot be made: %s",
                                             path, strerror(errno));
    }
    CURLcode rc = perform(c, t, method, NULL, into_file, f);
    free_both(t, NULL);
    bool kept = fflush(f) == 0 && fsync(fileno(f)) == 0;
    kept = fclose(f) == 0 && kept;
    if (rc == CURLE_OK && kept && c->status == 200)
        return RAMET_OK;
    unlink(path);
    if (rc == CURLE_OK && kept)
        return client_fail(c, status_of(NULL, c->status), "server", "%s refused: HTTP status %d",
                           c->server->base, c->status);
    return rc == CURLE_OK ? client_fail(c, RAMET_FULL, "path", "%s cannot be written", path)
                          : unreachable(c, rc);
}

/* ------------------------------------------------------------------- files */

ramet_status ask_upload(target *t, const char *media_type, const void *bytes, size_t n,
                        json_doc *out)
{
    client_call *c = t->call;
    buf text, type;
    memset(&c->err, 0, sizeof c->err);
    buf_init(&text, ANSWER_MAX);
    buf_init(&type, 1024);
    buf_printf(&type, "Content-Type: %s", media_type);
    struct curl_slist *list = curl_slist_append(ask_headers(c, false), type.p);
    CURL *h = c->curl;
    curl_easy_reset(h);
    curl_easy_setopt(h, CURLOPT_URL, t->text.p);
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(h, CURLOPT_POSTFIELDS, bytes);
    curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, into_buf);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, &text);
    CURLcode rc = curl_easy_perform(h);
    long status = 0;
    position_remember(c);
    curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    c->status = (int)status;
    curl_slist_free_all(list);
    free_both(t, NULL);
    ramet_status st = RAMET_OK;
    if (rc != CURLE_OK)
        st = unreachable(c, rc);
    else if (status < 200 || status > 299)
        st = answer_error(c, &text);
    else if (!json_parse(c->arena, arena_memdup(c->arena, text.p, text.n), text.n, SIZE_MAX, out,
                         NULL))
        st = client_fail(c, RAMET_INTERNAL, "server", "%s answered what is not JSON",
                         c->server->base);
    buf_release(&text);
    buf_release(&type);
    return st;
}

/* An error is JSON, whatever the answer would have been. */
static size_t through_take(char *p, size_t size, size_t n, void *arg)
{
    ask_pipe *q = arg;
    long status = 0;
    curl_easy_getinfo(q->call->curl, CURLINFO_RESPONSE_CODE, &status);
    if (q->sink && status == 200)
        return q->sink(p, size, n, q->arg);
    return into_buf(p, size, n, &q->text);
}

static int through_tell(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                        curl_off_t up)
{
    ask_pipe *q = arg;
    bool upload = q->source != NULL;
    (void)up_all;
    if (q->progress && (upload ? up : down) > 0 &&
        !q->progress(q->progress_arg, q->doing, upload ? up : down, upload ? q->size : down_all))
        q->stopped = true;
    return q->stopped;
}

ramet_status ask_through(target *t, const char *method, ask_pipe *p)
{
    client_call *c = p->call = t->call;
    CURL *h = c->curl;
    long status = 0;
    memset(&c->err, 0, sizeof c->err);
    ramet_status st = who_check(c);
    if (st != RAMET_OK) {
        free_both(t, NULL);
        return st;
    }
    buf_init(&p->text, ANSWER_MAX);
    struct curl_slist *list = ask_headers(c, false);
    curl_easy_reset(h);
    curl_easy_setopt(h, CURLOPT_URL, t->text.p);
    if (p->source) {
        list = curl_slist_append(list, "Content-Type: application/x-ndjson");
        curl_easy_setopt(h, CURLOPT_POST, 1L);
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)p->size);
        curl_easy_setopt(h, CURLOPT_READFUNCTION, p->source);
        curl_easy_setopt(h, CURLOPT_READDATA, p->arg);
    }
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, through_take);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, p);
    curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, through_tell);
    curl_easy_setopt(h, CURLOPT_XFERINFODATA, p);
    CURLcode rc = curl_easy_perform(h);
    position_remember(c);
    curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
    c->status = (int)status;
    curl_slist_free_all(list);
    free_both(t, NULL);
    if (p->stopped)
        return client_fail(c, RAMET_STOP, NULL, "stopped");
    /* A server that refuses a body need not read it to the end. */
    if (rc != CURLE_OK && (status < 400 || !p->text.n))
        return unreachable(c, rc);
    return c->status == 200 ? RAMET_OK : answer_error(c, &p->text);
}

ramet_status ask_download(target *t, buf *out)
{
    client_call *c = t->call;
    memset(&c->err, 0, sizeof c->err);
    CURLcode rc = perform(c, t, "GET", NULL, into_buf, out);
    free_both(t, NULL);
    if (rc != CURLE_OK)
        return unreachable(c, rc);
    return c->status == 200 ? RAMET_OK : answer_error(c, out);
}
