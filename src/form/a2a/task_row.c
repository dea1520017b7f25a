/* SPDX-License-Identifier: Apache-2.0
 *
 * task_row.c: what is stored about a task beside its messages, as JSON.
 */
#include "form/a2a/a2a_internal.h"

#include <string.h>

static const json_node *given(const json_doc *d, const json_node *obj, const char *key)
{
    const json_node *v = json_get(d, obj, key);
    return json_is(v, JSON_NULL) ? NULL : v;
}

static const char *raw_of(arena *a, const json_doc *d, const json_node *obj, const char *key)
{
    const json_node *v = given(d, obj, key);
    return v ? json_raw(a, d, v) : NULL;
}

const char *a2a_row_data(arena *a, const a2a_task_in *in, const char *tip, bool turn)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "state", a2a_state_name(in->state, A2A_03));
    jw_kint(&w, "at", in->status_at);
    if (in->status_time)
        jw_kstr(&w, "time", in->status_time);
    if (in->status_message)
        jw_kraw(&w, "message", in->status_message);
    if (in->artifacts)
        jw_kraw(&w, "artifacts", in->artifacts);
    if (in->metadata)
        jw_kraw(&w, "metadata", in->metadata);
    if (tip)
        jw_kstr(&w, "tip", tip);
    if (turn)
        jw_kbool(&w, "turn", true);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

a2a_row a2a_row_read(arena *a, const char *data)
{
    a2a_row r = {.state = A2A_COMPLETED};
    json_doc d;
    if (!json_parse(a, data, strlen(data), SIZE_MAX, &d, NULL))
        return r;
    const json_node *o = &d.nodes[0];
    const char *state = json_text(a, &d, json_get(&d, o, "state"));
    int known = state ? a2a_state_parse(state) : -1;
    if (known >= 0)
        r.state = (a2a_state)known;
    json_int(&d, json_get(&d, o, "at"), &r.at);
    r.time = json_text(a, &d, json_get(&d, o, "time"));
    r.message = raw_of(a, &d, o, "message");
    r.artifacts = raw_of(a, &d, o, "artifacts");
    r.metadata = raw_of(a, &d, o, "metadata");
    r.invocation = a2a_invocation_in(a, &d, given(&d, o, "metadata"));
    r.tip = json_text(a, &d, json_get(&d, o, "tip"));
    r.turn = json_is(json_get(&d, o, "turn"), JSON_TRUE);
    return r;
}
