/* SPDX-License-Identifier: Apache-2.0
 *
 * card.c: agent cards.
 *
 * At kagent's path one card serves both versions: it has the members of 0.3 and those of 1.0. A
 * strict 1.0 client refuses unknown members, so the card at the plain path has only those of 1.0.
 */
#include "face/a2a/a2a_face.h"

#include <string.h>

const char *a2a_agent_url(request *q, const char *agent, bool kagent)
{
    const char *base = q->host->public_url, *host = request_header(q, "Host");
    const char *ns, *name;
    size_t n = base ? strlen(base) : 0;
    while (n && base[n - 1] == '/')
        n--;
    const char *front = n ? arena_memdup(q->arena, base, n)
                          : arena_printf(q->arena, "http://%s", host && *host ? host : "localhost");
    if (!kagent)
        return arena_printf(q->arena, "%s/a2a/%s", front, face_escape(q, agent));
    a2a_agent_split(q->arena, agent, &ns, &name);
    return arena_printf(q->arena, "%s/api/a2a/%s/%s", front, face_escape(q, ns),
                        face_escape(q, name));
}

static void text_modes(json_writer *w, const char *key)
{
    jw_key(w, key);
    jw_array(w);
    jw_str(w, "text");
    jw_str(w, "text/plain");
    jw_end_array(w);
}

static void interface_write(json_writer *w, const char *url, const char *version)
{
    jw_object(w);
    jw_kstr(w, "url", url);
    jw_kstr(w, "protocolBinding", "JSONRPC");
    jw_kstr(w, "protocolVersion", version);
    jw_end_object(w);
}

static void extension_write(json_writer *w)
{
    jw_key(w, "extensions");
    jw_array(w);
    jw_object(w);
    jw_kstr(w, "uri", A2A_REWIND_URI);
    jw_kstr(w, "description",
            "A message whose metadata names an invocation rewinds its context to before that one");
    jw_kbool(w, "required", false);
    jw_key(w, "params");
    jw_object(w);
    jw_kstr(w, "metadataKey", A2A_REWIND_KEY);
    jw_kstr(w, "forkPath", "/api/sessions/{session_id}/fork");
    jw_end_object(w);
    jw_end_object(w);
    jw_end_array(w);
}

static void capabilities_write(json_writer *w, bool both)
{
    jw_key(w, "capabilities");
    jw_object(w);
    jw_kbool(w, "streaming", true);
    jw_kbool(w, "pushNotifications", false);
    if (both)
        jw_kbool(w, "stateTransitionHistory", false);
    else
        jw_kbool(w, "extendedAgentCard", false);
    extension_write(w);
    jw_end_object(w);
}

static void skill_write(json_writer *w, const char *about)
{
    jw_key(w, "skills");
    jw_array(w);
    jw_object(w);
    jw_kstr(w, "id", "chat");
    jw_kstr(w, "name", "Chat");
    jw_kstr(w, "description", about);
    jw_key(w, "tags");
    jw_array(w);
    jw_str(w, "chat");
    jw_end_array(w);
    jw_end_object(w);
    jw_end_array(w);
}

/* The members that 0.3 requires and 1.0 does not know. */
static void old_members(json_writer *w, const char *url, bool secured)
{
    jw_kstr(w, "protocolVersion", "0.3.0");
    jw_kstr(w, "url", url);
    jw_kstr(w, "preferredTransport", "JSONRPC");
    jw_key(w, "additionalInterfaces");
    jw_array(w);
    jw_object(w);
    jw_kstr(w, "url", url);
    jw_kstr(w, "transport", "JSONRPC");
    jw_end_object(w);
    jw_end_array(w);
    jw_kbool(w, "supportsAuthenticatedExtendedCard", false);
    if (secured) {
        jw_kraw(w, "securitySchemes", "{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}}");
        jw_kraw(w, "security", "[{\"bearer\":[]}]");
    }
}

static void new_security(json_writer *w)
{
    jw_kraw(w, "securitySchemes",
            "{\"bearer\":{\"httpAuthSecurityScheme\":{\"scheme\":\"Bearer\"}}}");
    jw_kraw(w, "securityRequirements", "[{\"schemes\":{\"bearer\":{\"list\":[]}}}]");
}

/* Names in kagent's cards contain no dashes. */
static const char *card_name(request *q, const char *agent, bool kagent)
{
    const char *ns, *name = agent;
    if (kagent)
        a2a_agent_split(q->arena, agent, &ns, &name);
    char *out = arena_strdup(q->arena, name);
    for (char *p = out; kagent && *p; p++)
        *p = *p == '-' ? '_' : *p;
    return out;
}

void a2a_card_answer(request *q, const char *agent, const char *about, bool kagent)
{
    json_writer *w = &q->writer;
    const char *url = a2a_agent_url(q, agent, kagent);
    about = about && *about ? about : "an agent";
    jw_object(w);
    jw_kstr(w, "name", card_name(q, agent, kagent));
    jw_kstr(w, "description", about);
    jw_kstr(w, "version", q->host->version);
    if (kagent)
        old_members(w, url, q->host->secured);
    else if (q->host->secured)
        new_security(w);
    jw_key(w, "supportedInterfaces");
    jw_array(w);
    interface_write(w, url, "1.0");
    interface_write(w, url, "0.3");
    jw_end_array(w);
    capabilities_write(w, kagent);
    text_modes(w, "defaultInputModes");
    text_modes(w, "defaultOutputModes");
    skill_write(w, about);
    jw_end_object(w);
    q->cacheable = true;
    request_add_header(q, "Cache-Control", "public, max-age=60");
    request_add_header(q, "Vary", "Host");
    face_etag(q, NULL, q->out.data, q->out.n);
    face_done(q);
}
