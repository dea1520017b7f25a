/* SPDX-License-Identifier: Apache-2.0
 *
 * api.c: requests to an OpenCode server.
 */
#include "agent/opencode/opencode.h"

#include <stdio.h>
#include <string.h>

const char *oc_text(arena *a, const json_doc *d, const json_node *v, const char *key)
{
    return json_text(a, d, json_get(d, v, key));
}

bool oc_is(arena *a, const json_doc *d, const json_node *v, const char *key, const char *text)
{
    const char *s = oc_text(a, d, v, key);
    return s && strcmp(s, text) == 0;
}

const char *oc_url(const oc_api *api, const char *path)
{
    buf b;
    const char *base = api->set->url;
    size_t n = strlen(base);
    buf_init(&b, 16 << 10);
    buf_add(&b, base, n && base[n - 1] == '/' ? n - 1 : n);
    buf_puts(&b, path);
    if (*api->folder) {
        buf_puts(&b, strchr(path, '?') ? "&directory=" : "?directory=");
        buf_percent(&b, api->folder, "-._~");
    }
    return buf_keep(&b, api->arena);
}

size_t oc_headers(const oc_api *api, const char *accept, const char **out)
{
    size_t n = 0;
    out[n++] = "Content-Type: application/json";
    out[n++] = accept;
    if (api->set->auth)
        out[n++] = api->set->auth;
    return n;
}

static bool body_piece(void *arg, const char *type, const char *p, size_t n)
{
    buf *to = arg;
    (void)type;
    buf_add(to, p, n);
    return !to->over;
}

/* The message of an error in one of its two forms; NULL: none. */
static const char *error_text(arena *a, const json_doc *d)
{
    const json_node *root = d->n ? d->nodes : NULL;
    const char *text = oc_text(a, d, json_get(d, root, "data"), "message");
    text = text ? text : oc_text(a, d, root, "message");
    text = text ? text : oc_text(a, d, root, "name");
    return text ? text : oc_text(a, d, root, "_tag");
}

static void failure_say(const oc_api *api, const wire_out *got, oc_reply *out)
{
    json_doc d = {0};
    if (got->cancelled) {
        out->cancelled = true;
    } else if (got->status == 401) {
        snprintf(out->why, OC_REASON, "OpenCode refuses the password");
    } else if (got->status) {
        if (!json_parse(api->arena, got->error.data, got->error.n, 0, &d, NULL))
            d.n = 0;
        const char *text = error_text(api->arena, &d);
        snprintf(out->why, OC_REASON, "OpenCode answered %ld%s%.200s", got->status,
                 text ? ": " : "", text ? text : "");
    } else {
        snprintf(out->why, OC_REASON, "OpenCode cannot be reached: %s", got->why);
    }
    agent_hide(out->why, api->set->secret);
}

/* Takes the body of a 2xx response; false: it is not JSON. */
static bool reply_take(const oc_api *api, const buf *text, oc_reply *out)
{
    if (!text->n)
        return true;
    const char *copy = arena_memdup(api->arena, text->data, text->n);
    if (json_parse(api->arena, copy, text->n, 0, &out->doc, NULL))
        return true;
    out->doc = (json_doc){0};
    snprintf(out->why, OC_REASON, "OpenCode sent what is no JSON");
    return false;
}

bool oc_call(const oc_api *api, const char *method, const char *path, const char *body,
             oc_reply *out)
{
    const char *headers[3];
    buf text;
    wire_out got;
    wire_in in = {.url = oc_url(api, path),
                  .method = method,
                  .headers = headers,
                  .n_headers = oc_headers(api, "Accept: application/json", headers),
                  .body = body,
                  .n = body ? strlen(body) : 0,
                  .pool = api->pool,
                  .limits = &api->limits,
                  .deadline = api->deadline,
                  .sink = api->sink,
                  .piece = body_piece,
                  .arg = &text};
    for (int64_t attempt = 0;; attempt++) {
        *out = (oc_reply){0};
        buf_init(&text, OC_REPLY_BYTES);
        wire_run(&in, &got);
        out->status = got.status;
        bool fine = wire_fine(&got) && !*got.why && !got.cancelled && !text.over;
        bool more = !fine && got.unsent && !got.cancelled && api->sink &&
                    attempt < api->set->retries &&
                    agent_sleep(api->sink, api->set->backoff_ms << attempt);
        if (fine)
            fine = reply_take(api, &text, out);
        else if (text.over)
            snprintf(out->why, OC_REASON, "OpenCode sent over %d MiB", OC_REPLY_BYTES >> 20);
        else if (!more)
            failure_say(api, &got, out);
        buf_release(&text);
        wire_release(&got);
        if (!more)
            return fine;
    }
}
