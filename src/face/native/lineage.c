/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage.c: over HTTP: the place of a session in its tree, and totals along its path: ancestry,
 * children, tree and branches, fork points, usage, state.
 */
#include "face/native/native_face.h"

#include <string.h>

/* The size without a limit; a larger tree is paged. */
enum { MAX_SESSIONS = 10000 };

/* Selects the requested page of all sessions. A cursor is the id of the last session of the page
 * before: sessions added before it meanwhile cause neither repetition nor gap. */
static bool lineage_page(request *q, ramet_session *all, size_t n, form_list *page)
{
    const char *cursor = request_query(q, "cursor");
    size_t max = api_limit(q) ? (size_t)api_limit(q) : MAX_SESSIONS, from = 0;
    for (size_t i = 0; cursor && i < n && !from; i++)
        if (all[i].id && strcmp(all[i].id, cursor) == 0)
            from = i + 1;
    if (cursor && !from) {
        request_fail(q, 400, "invalid_cursor", "cursor", "the cursor '%.60s' is not in this list",
                     cursor);
        return false;
    }
    page->n = n - from > max ? max : n - from;
    page->items = all + from;
    page->next_cursor = from + page->n < n ? all[from + page->n - 1].id : NULL;
    return true;
}

static void lineage_answer(request *q, ramet_session *all, size_t n, ramet_status st)
{
    form_list page = {0};
    if (st != RAMET_OK)
        request_error(q, ramet_call_error(q->call));
    else if (lineage_page(q, all, n, &page))
        api_sessions_answer(q, &page);
}

void api_ancestry_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *all = NULL;
    size_t n = 0;
    if (!c)
        return;
    ramet_status st = ramet_ancestry(c, face_path(q, "id"), &all, &n);
    lineage_answer(q, all, n, st);
}

void api_children_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *all = NULL;
    size_t n = 0;
    if (!c)
        return;
    ramet_status st = ramet_children(c, face_path(q, "id"), &all, &n);
    lineage_answer(q, all, n, st);
}

void api_tree_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *all = NULL;
    size_t n = 0;
    if (!c)
        return;
    ramet_status st = ramet_tree(c, face_path(q, "id"), false, &all, &n);
    lineage_answer(q, all, n, st);
}

void api_tree_branches_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_branch *items = NULL;
    form_list list = {0};
    int64_t after;
    bool more = false;
    if (!c || !api_cursor(q, &after))
        return;
    int max = api_limit(q) ? (int)api_limit(q) : MAX_SESSIONS;
    ramet_status st =
        ramet_tree_branches(c, face_path(q, "id"), after, max, &items, &list.n, &more);
    list.items = items;
    list.next_cursor = api_next_cursor(q, list.n ? items[list.n - 1].id : 0, more);
    api_show(q, &form_branch_list, &list);
    face_answer(q, st);
}

void api_fork_points_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_fork_point_list, &list);
    face_answer(q,
                ramet_fork_points(c, face_path(q, "id"), ITEMS(list, ramet_fork_point), &list.n));
}

void api_suggestions_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_suggestions out = {0};
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    api_show(q, &form_suggestions, &out);
    face_answer(q, ramet_suggest(c, face_path(q, "id"), branch, &out));
}

void api_usage_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_usage_out out = {0};
    if (!c)
        return;
    api_show(q, &form_usage_report, &out);
    face_answer(q, ramet_usage_get(c, face_path(q, "id"), &out));
}

void api_state_get(request *q)
{
    ramet_call *c = face_call(q);
    native_state out = {0};
    if (!c)
        return;
    api_show(q, &form_session_state, &out);
    face_answer(q, ramet_state(c, face_path(q, "id"), request_query(q, "at"), &out.json));
}
