/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c: sends one request to the server and reads its answer; errors are returned as the library's
 * own.
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

/* Encodes dots, too: proxies would interpret "." and ".." as folders. */
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
    jw_init(&b->writer, &b->text, 0);
    jw_object(&b->writer);
}

void body_add(body *b, const char *name, const char *value)
{
    if (value)
        jw_kstr(&b->writer, name, value);
}

void body_texts(body *b, const char *name, const char *const *items, size_t n)
{
    jw_key(&b->writer, name);
    jw_array(&b->writer);
    for (size_t i = 0; i < n; i++)
        jw_str(&b->writer, items[i]);
    jw_end_array(&b->writer);
}

void body_at(body *b, const char *name, const ramet_at *at)
{
    if (!at->entry_id)
        return;
    jw_key(&b->writer, name);
    form_write(&b->writer, &form_at, at, NULL);
}

void body_entries(body *b, const ramet_entry_in *list, size_t n)
{
    jw_key(&b->writer, "entries");
    jw_array(&b->writer);
    for (size_t i = 0; i < n; i++)
        form_write(&b->writer, &form_entry_in, &list[i], NULL);
    jw_end_array(&b->writer);
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
    if (!json_parse(c->arena, text->data, text->n, 0, &d, NULL) ||
        !json_is(&d.nodes[0], JSON_OBJECT))
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

static ramet_status header_check(client_call *c, ramet_status st, const char *field,
                                 const char *value)
{
    for (const char *p = value; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return client_fail(c, st, field, "the %s holds control characters", field);
    return RAMET_OK;
}

ramet_status headers_check(client_call *c)
{
    TRY(header_check(c, RAMET_BAD_ID, "user", c->user));
    TRY(header_check(c, RAMET_BAD_ID, "client", c->name));
    return header_check(c, RAMET_BAD_ID, "token", c->server->token);
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
        list = curl_slist_append(list, line.data);
    }
    buf_release(&line);
    /* A refused body is refused at once anyway. */
    return curl_slist_append(list, "Expect:");
}

/* From the last answer. */
static void position_remember(client_call *c)
{
    struct curl_header *h;
    if (curl_easy_header(c->curl, "X-Ramet-Position", 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return;
    int64_t at = ramet_position_parse(h->value);
    if (at > ramet_position_parse(c->server->position))
        ramet_position_text(at, c->server->position);
}

CURL *send_prepare(client_call *c, const target *t, struct curl_slist *headers,
                   curl_write_callback sink, void *arg)
{
    CURL *h = c->curl;
    curl_easy_reset(h);
    curl_setup(h, t->text.data, CONNECT_MS, 0, sink, arg); /* a turn may take hours */
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(h, CURLOPT_PATH_AS_IS, 1L);
    return h;
}

CURLcode send_run(client_call *c, struct curl_slist *headers)
{
    long status = 0;
    CURLcode rc = curl_easy_perform(c->curl);
    position_remember(c);
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    c->status = (int)status;
    curl_slist_free_all(headers);
    return rc;
}

static void bytes_send(CURL *h, const void *bytes, size_t n)
{
    curl_easy_setopt(h, CURLOPT_POSTFIELDS, bytes);
    curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)n);
}

static CURLcode perform(client_call *c, const target *t, const char *method, const body *b,
                        curl_write_callback sink, void *arg)
{
    struct curl_slist *headers = ask_headers(c, b != NULL);
    CURL *h = send_prepare(c, t, headers, sink, arg);
    curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(h, CURLOPT_ACCEPT_ENCODING, "");
    if (b)
        bytes_send(h, b->text.data, b->text.n);
    return send_run(c, headers);
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
        jw_end_object(&b->writer);
    return ask_raw(t, method, b, out);
}

ramet_status ask_raw(target *t, const char *method, body *b, json_doc *out)
{
    client_call *c = t->call;
    buf text;
    *out = (json_doc){0};
    memset(&c->err, 0, sizeof c->err);
    ramet_status st = headers_check(c);
    if (st != RAMET_OK) {
        free_both(t, b);
        return st;
    }
    buf_init(&text, ANSWER_MAX);
    CURLcode rc = perform(c, t, method, b, curl_into_buf, &text);
    free_both(t, b);
    char *kept = NULL;
    if (rc != CURLE_OK)
        st = unreachable(c, rc);
    else if (c->status < 200 || c->status > 299)
        st = answer_error(c, &text);
    else if (text.n)
        kept = arena_memdup(c->arena, text.data, text.n);
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

/* Creates a file that only its owner can read, whatever the umask, since a backup is private. On
 * failure returns NULL and sets errno. */
static FILE *file_make(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    return fd < 0 ? NULL : fdopen(fd, "wb");
}

ramet_status ask_file(target *t, const char *method, const char *path)
{
    client_call *c = t->call;
    memset(&c->err, 0, sizeof c->err);
    ramet_status st = headers_check(c);
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
    buf text;
    memset(&c->err, 0, sizeof c->err);
    ramet_status st = headers_check(c);
    if (st == RAMET_OK)
        st = header_check(c, RAMET_INVALID, "media_type", media_type);
    if (st != RAMET_OK) {
        free_both(t, NULL);
        return st;
    }
    buf_init(&text, ANSWER_MAX);
    const char *type = arena_printf(c->arena, "Content-Type: %s", media_type);
    struct curl_slist *headers = curl_slist_append(ask_headers(c, false), type);
    bytes_send(send_prepare(c, t, headers, curl_into_buf, &text), bytes, n);
    CURLcode rc = send_run(c, headers);
    free_both(t, NULL);
    if (rc != CURLE_OK)
        st = unreachable(c, rc);
    else if (c->status < 200 || c->status > 299)
        st = answer_error(c, &text);
    else if (!json_parse(c->arena, arena_memdup(c->arena, text.data, text.n), text.n, SIZE_MAX, out,
                         NULL))
        st = client_fail(c, RAMET_INTERNAL, "server", "%s answered what is not JSON",
                         c->server->base);
    buf_release(&text);
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
    return curl_into_buf(p, size, n, &q->text);
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
    ramet_status st = headers_check(c);
    if (st != RAMET_OK) {
        free_both(t, NULL);
        return st;
    }
    buf_init(&p->text, ANSWER_MAX);
    struct curl_slist *list = ask_headers(c, false);
    curl_easy_reset(h);
    curl_easy_setopt(h, CURLOPT_URL, t->text.data);
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
    ramet_status st = headers_check(c);
    CURLcode rc = st == RAMET_OK ? perform(c, t, "GET", NULL, curl_into_buf, out) : CURLE_OK;
    free_both(t, NULL);
    if (st != RAMET_OK)
        return st;
    if (rc != CURLE_OK)
        return unreachable(c, rc);
    return c->status == 200 ? RAMET_OK : answer_error(c, out);
}
