/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c: comparing, verdicts and search over HTTP.
 */
#include "face/native/native_face.h"

#include "base/util.h"

#include <string.h>

/* ------------------------------------------------------------------- compare */

static void show_compare(request *q, const void *answer)
{
    native_compare(&q->w, answer);
}

void api_compare_get(request *q)
{
    ramet_call *c = face_call(q);
    const char **texts;
    size_t n = request_query_all(q, "side", &texts);
    ramet_side_in *sides = arena_array(q->a, n + 1, sizeof *sides);
    ramet_compare_out out = {0};
    if (!c)
        return;
    for (size_t i = 0; i < n; i++)
        api_side(q, texts[i], &sides[i]);
    face_render(q, show_compare, &out);
    face_answer(q, ramet_compare(c, sides, n, api_limit(q), &out));
}

/* ------------------------------------------------------------------ verdicts */

static bool side_read(request *q, const json_node *v, ramet_side_in *out)
{
    const char *text = json_text(q->a, &q->json, v);
    if (text) {
        api_side(q, text, out);
        return true;
    }
    out->session = json_text(q->a, &q->json, json_get(&q->json, v, "session_id"));
    return api_branch(q, "sides", json_text(q->a, &q->json, json_get(&q->json, v, "branch_id")),
                      &out->branch);
}

/* The winner may be told by its number, or as it stands among the sides. */
static bool winner_read(request *q, const ramet_side_in *sides, size_t n, int *out)
{
    const json_node *v = face_member(q, "winner");
    const json_node *list = face_member(q, "sides"), *s = json_first(&q->json, list);
    const char *text = json_text(q->a, &q->json, v);
    int64_t number;
    *out = -1;
    if (!v)
        return true;
    if (json_int(&q->json, v, &number) && number >= 0 && (size_t)number < n) {
        *out = (int)number;
        return true;
    }
    for (size_t i = 0; text && i < n; i++, s = json_next(&q->json, list, s)) {
        const char *as_given = json_text(q->a, &q->json, s);
        if ((as_given && strcmp(as_given, text) == 0) ||
            (*out < 0 && strcmp(sides[i].session, text) == 0))
            *out = (int)i;
    }
    if (*out >= 0)
        return true;
    request_fail(q, 400, "invalid_request", "winner",
                 "\"winner\" is one of the sides, its number from 0, or null for a tie");
    return false;
}

static void show_verdict(request *q, const void *answer)
{
    native_verdict(&q->w, *(ramet_verdict *const *)answer);
}

void api_verdict_add(request *q)
{
    const json_node *list = face_member(q, "sides");
    ramet_side_in *sides = arena_array(q->a, list->count + 1, sizeof *sides);
    ramet_verdict *out = NULL;
    ramet_call *c = face_call(q);
    size_t n = 0;
    int winner;
    if (!c)
        return;
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        if (!side_read(q, v, &sides[n++]))
            return;
    if (!winner_read(q, sides, n, &winner))
        return;
    face_render(q, show_verdict, &out);
    face_answer(q, ramet_verdict_add(c, sides, n, winner, face_text(q, "reason"), &out));
}

typedef struct verdict_list {
    ramet_verdict *items;
    size_t n;
    bool more;
} verdict_list;

static void show_verdicts(request *q, const void *answer)
{
    const verdict_list *list = answer;
    list_begin(q, "verdicts");
    for (size_t i = 0; i < list->n; i++)
        native_verdict(&q->w, &list->items[i]);
    list_end_number(q, list->n ? list->items[list->n - 1].number : 0, list->more);
}

void api_verdicts_list(request *q)
{
    ramet_call *c = face_call(q);
    verdict_list list = {0};
    int64_t before;
    if (!c || !api_cursor(q, &before))
        return;
    face_render(q, show_verdicts, &list);
    face_answer(q, ramet_verdicts(c, request_query(q, "session"), before, api_limit(q), &list.items,
                                  &list.n, &list.more));
}

/* -------------------------------------------------------------------- search */

static void show_hits(request *q, const void *answer)
{
    const ramet_hits *hits = answer;
    jw_object(&q->w);
    jw_key(&q->w, "hits");
    jw_array(&q->w);
    for (size_t i = 0; i < hits->n; i++)
        native_hit(&q->w, &hits->items[i]);
    jw_end_array(&q->w);
    jw_kstr(&q->w, "next_cursor", hits->next_cursor);
    jw_kbool(&q->w, "bounded", hits->bounded);
    jw_end_object(&q->w);
}

void api_search_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_hits hits = {0};
    const char *role = request_query(q, "role");
    const char *since = request_query(q, "since"), *until = request_query(q, "until");
    ramet_search_in in = {.query = request_query(q, "q"),
                          .session = request_query(q, "session"),
                          .tree = request_query(q, "tree"),
                          .tag = request_query(q, "tag"),
                          .agent = request_query(q, "agent"),
                          .role = role ? (ramet_role)ramet_role_parse(role) : 0,
                          .limit = api_limit(q),
                          .cursor = request_query(q, "cursor")};
    if (!c)
        return;
    if (since)
        time_parse(since, &in.since);
    if (until)
        time_parse(until, &in.until);
    face_render(q, show_hits, &hits);
    face_answer(q, ramet_search(c, &in, &hits));
}
