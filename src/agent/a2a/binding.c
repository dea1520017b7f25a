/* SPDX-License-Identifier: Apache-2.0
 *
 * binding.c: calls of a remote agent, over JSON-RPC (0.3 and 1.0) and over HTTP+JSON (1.0).
 */
#include "agent/a2a/a2a.h"

#include <string.h>

/* What a method is called over each binding. */
static const struct {
    const char *name[2]; /* JSON-RPC: in 0.3 and in 1.0 */
    const char *path;    /* HTTP+JSON: how the path ends */
    bool has_task;       /* … behind the task */
    bool has_body;
} methods[] = {
    [A2A_SEND] = {{"message/send", "SendMessage"}, "/message:send", false, true},
    [A2A_SEND_STREAM] = {{"message/stream", "SendStreamingMessage"},
                         "/message:stream",
                         false,
                         true},
    [A2A_GET] = {{"tasks/get", "GetTask"}, "", true, false},
    [A2A_SUBSCRIBE] = {{"tasks/resubscribe", "SubscribeToTask"}, ":subscribe", true, false},
    [A2A_CANCEL] = {{"tasks/cancel", "CancelTask"}, ":cancel", true, true},
};

/* A segment of a path. */
static const char *segment(arena *a, const char *text)
{
    char *out = arena_alloc(a, 3 * strlen(text) + 1), *p = out;
    for (const char *s = text; *s; s++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                     (*s >= '0' && *s <= '9') || strchr("-_.~", *s);
        if (plain) {
            *p++ = *s;
        } else {
            *p++ = '%';
            *p++ = "0123456789ABCDEF"[(unsigned char)*s >> 4];
            *p++ = "0123456789ABCDEF"[*s & 15];
        }
    }
    *p = 0;
    return out;
}

/* The parameters of a method that names a task, or those of a message. */
static const char *params_make(arena *a, const a2a_remote *r, const a2a_call *in)
{
    buf b;
    json_writer w;
    if (in->message)
        return arena_printf(a, "{%s%s%s\"message\":%s,\"configuration\":{%s}}",
                            r->tenant ? "\"tenant\":" : "",
                            r->tenant ? json_quote(a, r->tenant) : "", r->tenant ? "," : "",
                            in->message, r->v1 ? "" : "\"blocking\":true");
    buf_init(&b, 64 << 10);
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (r->tenant)
        jw_kstr(&w, "tenant", r->tenant);
    jw_kstr(&w, "id", in->task);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

void a2a_call_make(arena *a, const a2a_remote *r, const a2a_call *in, a2a_request *out)
{
    if (!r->is_rest) {
        *out = (a2a_request){
            .url = r->url,
            .body = arena_printf(
                a, "{\"jsonrpc\":\"2.0\",\"id\":\"%d\",\"method\":\"%s\",\"params\":%s}", in->id,
                methods[in->method].name[r->v1], params_make(a, r, in))};
        return;
    }
    size_t n = strlen(r->url);
    const char *tenant = r->tenant ? arena_printf(a, "/%s", segment(a, r->tenant)) : "";
    const char *task =
        methods[in->method].has_task ? arena_printf(a, "/tasks/%s", segment(a, in->task)) : "";
    out->url = arena_printf(a, "%.*s%s%s%s", (int)(r->url[n - 1] == '/' ? n - 1 : n), r->url,
                            tenant, task, methods[in->method].path);
    out->body = !methods[in->method].has_body ? NULL : in->message ? params_make(a, r, in) : "{}";
}
