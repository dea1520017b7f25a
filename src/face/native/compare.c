/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c: comparing, verdicts and search over HTTP.
 */
#include "face/native/native_face.h"

#include "base/util.h"

#include <string.h>

/* ------------------------------------------------------------------- compare */

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
    api_show(q, &form_comparison, &out);
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
    api_show_at(q, &form_verdict, &out);
    face_answer(q, ramet_verdict_add(c, sides, n, winner, face_text(q, "reason"), &out));
}

void api_verdicts_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_verdict *items = NULL;
    form_list list = {0};
    int64_t before;
    bool more = false;
    if (!c || !api_cursor(q, &before))
        return;
    ramet_status st = ramet_verdicts(c, request_query(q, "session"), before, api_limit(q), &items,
                                     &list.n, &more);
    list.items = items;
    list.next_cursor = api_next_cursor(q, list.n ? items[list.n - 1].number : 0, more);
    api_show(q, &form_verdict_list, &list);
    face_answer(q, st);
}

/* -------------------------------------------------------------------- search */

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
    api_show(q, &form_hit_list, &hits);
    face_answer(q, ramet_search(c, &in, &hits));
}
