/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: the agent a session belongs to, and the source named in its metadata, as kagent and
 * its A2A endpoint define them.
 */
#include "form/a2a/a2a.h"

#include <string.h>

bool a2a_session_is_of(arena *a, const ramet_session *s, const char *agent)
{
    return s->agent.name && strcmp(a2a_agent_id(a, s->agent.name), a2a_agent_id(a, agent)) == 0;
}

const char *a2a_source(arena *a, const ramet_session *s)
{
    json_doc d;
    if (!json_parse(a, s->metadata, strlen(s->metadata), 0, &d, NULL))
        return NULL;
    return json_text(a, &d, json_get(&d, &d.nodes[0], "source"));
}

const char *a2a_source_set(arena *a, const char *metadata, const char *source)
{
    json_doc d;
    buf b;
    json_writer w;
    const json_node *v;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (metadata && json_parse(a, metadata, strlen(metadata), 0, &d, NULL))
        for (const json_node *k = json_first(&d, &d.nodes[0]); k;
             k = json_next(&d, &d.nodes[0], v)) {
            v = json_next(&d, &d.nodes[0], k);
            if (strcmp(json_text(a, &d, k), "source") != 0)
                jw_kraw(&w, json_text(a, &d, k), json_raw(a, &d, v));
        }
    if (source)
        jw_kstr(&w, "source", source);
    jw_end_object(&w);
    return buf_keep(&b, a);
}
