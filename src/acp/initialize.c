/* SPDX-License-Identifier: Apache-2.0
 *
 * initialize.c: the agent's capabilities, and what the proxy adds to them.
 */
#include "acp/own.h"

#include <string.h>

#define MOVES                                                                                      \
    "\"_ramet/session/rewind\",\"_ramet/session/undo\",\"_ramet/session/redo\","                   \
    "\"_ramet/session/tree\",\"_ramet/session/compare\",\"_ramet/session/merge\""
#define FORK_META "{\"messageId\":true,\"position\":[\"before\",\"after\"]}"

/* Makes both sides speak the first protocol version. */
const char *initialize_request(proxy *p, const message *m, size_t *n)
{
    const json_node *version = message_at(m, m->params, "protocolVersion");
    int64_t v;
    splices changes = {0};
    (void)p;
    *n = m->n;
    if (!json_int(&m->doc, version, &v) || v <= 1)
        return m->line;
    splice_node(&changes, version, "1");
    return splice_text(m, &changes, 0, m->n, n);
}

/* An object means yes; false, null and absence mean no. */
static bool has(const message *m, const json_node *caps, const char *path)
{
    const json_node *v = message_at(m, caps, path);
    return json_is(v, JSON_OBJECT) || json_is(v, JSON_TRUE);
}

/* Adds {"_meta": {"ramet": …}} to an object that may have others. */
static const char *with_meta(proxy *p, const message *m, const json_node *object, const char *own)
{
    const char *raw = json_is(object, JSON_OBJECT) ? json_raw(p->mem, &m->doc, object) : NULL;
    member ours = {"ramet", own};
    member meta = {"_meta",
                   json_with(p->mem, raw ? message_raw(m, object, "_meta") : NULL, &ours, 1)};
    return json_with(p->mem, raw, &meta, 1);
}

const char *initialize_answer(proxy *p, const message *m, size_t *n)
{
    const json_node *caps = message_at(m, m->result, "agentCapabilities");
    const json_node *own = message_at(m, caps, "sessionCapabilities");
    splices changes = {0};
    *n = m->n;
    if (!json_is(m->result, JSON_OBJECT))
        return m->line;
    p->started = true;
    p->has.load = has(m, caps, "loadSession");
    p->has.fork = has(m, own, "fork");
    p->has.list = has(m, own, "list");
    p->has.resume = has(m, own, "resume");
    p->has.close = has(m, own, "close");
    p->has.del = has(m, own, "delete");
    p->has.system = has(m, own, "systemPrompt");
    const char *raw = json_is(own, JSON_OBJECT) ? json_raw(p->mem, &m->doc, own) : NULL;
    member sessions[] = {
        {"fork", with_meta(p, m, message_at(m, own, "fork"), FORK_META)},
        {"list", p->has.list ? message_raw(m, own, "list") : "{}"},
        {"resume", p->has.resume ? message_raw(m, own, "resume") : "{}"},
        {"close", p->has.close ? message_raw(m, own, "close") : "{}"},
        {"delete", p->has.del ? message_raw(m, own, "delete") : "{}"},
    };
    member all[] = {
        {"loadSession", "true"},
        {"sessionCapabilities",
         json_with(p->mem, raw, sessions, sizeof sessions / sizeof *sessions)},
    };
    const char *meta =
        "{\"version\":\"" RAMET_VERSION "\",\"fork\":" FORK_META ",\"methods\":[" MOVES "]}";
    const char *with = with_meta(p, m, caps, meta);
    splice_member(&changes, m, m->result, "agentCapabilities", json_with(p->mem, with, all, 2));
    return splice_text(m, &changes, 0, m->n, n);
}
