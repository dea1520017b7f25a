/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c: what several handlers of the native API are sent, and lists as they are answered.
 */
#include "face/native/native_face.h"

#include "base/util.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------- reading */

bool api_entries(request *q, const char *name, ramet_entry_in **out, size_t *n)
{
    const json_node *list = face_member(q, name);
    ramet_error err;
    *n = 0;
    *out = arena_array(q->a, (list ? list->count : 0) + 1, sizeof **out);
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        if (!native_entry_in(q->a, &q->json, v, &(*out)[(*n)++], &err)) {
            request_error(q, &err);
            return false;
        }
    return true;
}

void api_at(request *q, const char *name, ramet_at *out)
{
    const json_node *at = face_member(q, name);
    const char *side = json_text(q->a, &q->json, json_get(&q->json, at, "side"));
    out->entry_id = json_text(q->a, &q->json, json_get(&q->json, at, "entry_id"));
    out->side = side ? (ramet_side)ramet_side_parse(side) : RAMET_AFTER;
}

bool api_agent(request *q, ramet_agent *room, const ramet_agent **out)
{
    const json_node *v = face_member(q, "agent");
    ramet_error err;
    *out = NULL;
    if (!v)
        return true;
    if (!native_agent_in(q->a, &q->json, v, room, &err)) {
        request_error(q, &err);
        return false;
    }
    *out = room;
    return true;
}

bool api_branch(request *q, const char *name, const char *text, int64_t *out)
{
    *out = text ? ramet_branch_parse(text) : 0;
    if (!text || *out)
        return true;
    request_fail(q, 400, "invalid_request", name, "\"%s\" is '%.60s'; a branch is like b17", name,
                 text);
    return false;
}

bool api_life(request *q, const char *name, int64_t *us)
{
    const json_node *v = face_member(q, name);
    int64_t nano = 0;
    *us = 0;
    if (!v)
        return true;
    if (json_nano(&q->json, v, &nano) && nano >= 1000) {
        *us = nano / 1000;
        return true;
    }
    request_fail(q, 400, "invalid_request", name, "\"%s\" must be more than 0", name);
    return false;
}

bool api_cursor(request *q, int64_t *out)
{
    const char *s = request_query(q, "cursor");
    *out = 0;
    if (!s)
        return true;
    if (*s && strlen(s) < 19 && strspn(s, "0123456789") == strlen(s) &&
        (*out = strtoll(s, NULL, 10)))
        return true;
    request_fail(q, 400, "invalid_cursor", "cursor", "the cursor '%.60s' was not made by this list",
                 s);
    return false;
}

int api_limit(const request *q)
{
    int64_t limit = 0;
    face_query_int(q, "limit", &limit);
    return (int)limit;
}

ramet_log api_log(const char *word)
{
    return word && strcmp(word, "adk") == 0 ? RAMET_LOG_ADK : RAMET_LOG_MAIN;
}

void api_side(request *q, const char *text, ramet_side_in *out)
{
    const char *mark = strrchr(text, '@');
    int64_t branch = mark && mark > text ? ramet_branch_parse(mark + 1) : 0;
    ramet_read_in in = {.limit = 1, .branch = branch};
    ramet_page page;
    *out = (ramet_side_in){.session = text};
    if (!branch)
        return;
    const char *front = arena_memdup(q->a, text, (size_t)(mark - text));
    if (ramet_read(q->c, front, &in, &page) == RAMET_OK)
        *out = (ramet_side_in){.session = front, .branch = branch};
}

/* ------------------------------------------------------------------- writing */

void list_begin(request *q, const char *noun)
{
    jw_object(&q->w);
    jw_key(&q->w, noun);
    jw_array(&q->w);
}

void list_end(request *q, const char *next_cursor)
{
    jw_end_array(&q->w);
    jw_kstr(&q->w, "next_cursor", next_cursor);
    jw_end_object(&q->w);
}

void list_end_number(request *q, int64_t last, bool more)
{
    list_end(q, more && last ? arena_printf(q->a, "%lld", (long long)last) : NULL);
}

void api_session_write(request *q, const ramet_session *s, const ramet_cut *cut,
                       const ramet_sync_out *sync)
{
    native_session_more(
        &q->w, s,
        &(native_more){.cut = cut, .sync = sync, .running = native_running, .arg = q->host->turns});
}

void show_session(request *q, const void *answer)
{
    api_session_write(q, *(ramet_session *const *)answer, NULL, NULL);
}

void show_appended(request *q, const void *answer)
{
    const ramet_append_out *out = answer;
    jw_object(&q->w);
    jw_key(&q->w, "entries");
    jw_array(&q->w);
    for (size_t i = 0; i < out->n; i++)
        native_entry(&q->w, &out->entries[i]);
    jw_end_array(&q->w);
    jw_key(&q->w, "head");
    native_head(&q->w, &out->head);
    jw_kint(&q->w, "added", (int64_t)out->added);
    jw_end_object(&q->w);
}
