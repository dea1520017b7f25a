/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c: parameters that several handlers of the native API share, and lists in answers.
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
    *out = arena_array(q->arena, (list ? list->count : 0) + 1, sizeof **out);
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        if (!native_entry_in(q->arena, &q->json, v, &(*out)[(*n)++], &err)) {
            request_error(q, &err);
            return false;
        }
    return true;
}

void api_at(request *q, const char *name, ramet_at *out)
{
    form_read(q->arena, &q->json, face_member(q, name), &form_at, out, NULL);
}

bool api_agent(request *q, ramet_agent *room, const ramet_agent **out)
{
    const json_node *v = face_member(q, "agent");
    ramet_error err;
    *out = NULL;
    if (!v)
        return true;
    if (!native_agent_in(q->arena, &q->json, v, room, &err)) {
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

bool api_life(request *q, const json_node *obj, const char *name, int64_t *us)
{
    const json_node *v = json_get(&q->json, obj, name);
    int64_t nano = 0;
    *us = 0;
    if (!v || json_is(v, JSON_NULL))
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
    const char *front = arena_memdup(q->arena, text, (size_t)(mark - text));
    ramet_status st = ramet_read(q->call, front, &in, &page);
    if (st == RAMET_OK || st == RAMET_BRANCH_PRUNED)
        *out = (ramet_side_in){.session = front, .branch = branch};
}

/* ------------------------------------------------------------------- writing */

typedef struct shown {
    const form_schema *schema;
    const void *value;
    bool is_pointer; /* `value` is where the pointer to the struct will be stored */
} shown;

static void show(request *q, const void *answer)
{
    const shown *it = answer;
    form_context context = {.running = native_running, .arg = q->host->turns};
    form_write(&q->writer, it->schema, it->is_pointer ? *(const void *const *)it->value : it->value,
               &context);
}

static void show_set(request *q, shown it)
{
    shown *kept = arena_alloc(q->arena, sizeof *kept);
    *kept = it;
    face_render(q, show, kept);
}

void api_show(request *q, const form_schema *schema, const void *value)
{
    show_set(q, (shown){.schema = schema, .value = value});
}

void api_show_at(request *q, const form_schema *schema, const void *pointer)
{
    show_set(q, (shown){.schema = schema, .value = pointer, .is_pointer = true});
}

const char *api_next_cursor(request *q, int64_t last, bool more)
{
    return more && last ? arena_printf(q->arena, "%lld", (long long)last) : NULL;
}
