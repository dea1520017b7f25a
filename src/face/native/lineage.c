/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage.c: over HTTP, where a session stands in its tree, and what was summed along its
 * path: ancestry, children, tree and its branches, fork points, usage, state.
 */
#include "face/native/native_face.h"

#include <string.h>

/* Without a limit; a tree that is larger comes in pages. */
enum { WHOLE_MOST = 10000 };

typedef struct lineage_list {
    ramet_session *items;
    size_t n;
    size_t from, to; /* the page */
} lineage_list;

/* A cursor is the id of the last session of the page before: what is added in front of it
 * meanwhile neither repeats nor skips one. */
static bool lineage_page(request *q, lineage_list *list)
{
    const char *cursor = request_query(q, "cursor");
    size_t most = api_limit(q) ? (size_t)api_limit(q) : WHOLE_MOST;
    for (size_t i = 0; cursor && i < list->n && !list->from; i++)
        if (list->items[i].id && strcmp(list->items[i].id, cursor) == 0)
            list->from = i + 1;
    if (cursor && !list->from) {
        request_fail(q, 400, "invalid_cursor", "cursor", "the cursor '%.60s' is not in this list",
                     cursor);
        return false;
    }
    list->to = list->n - list->from > most ? list->from + most : list->n;
    return true;
}

static void lineage_answer(request *q, lineage_list *list, ramet_status st)
{
    if (st != RAMET_OK)
        request_error(q, ramet_call_error(q->c));
    else if (lineage_page(q, list))
        api_sessions_answer(q, list->items + list->from, list->to - list->from,
                            list->to < list->n ? list->items[list->to - 1].id : NULL);
}

void api_ancestry_list(request *q)
{
    ramet_call *c = face_call(q);
    lineage_list list = {0};
    if (c)
        lineage_answer(q, &list, ramet_ancestry(c, face_path(q, "id"), &list.items, &list.n));
}

void api_children_list(request *q)
{
    ramet_call *c = face_call(q);
    lineage_list list = {0};
    if (c)
        lineage_answer(q, &list, ramet_children(c, face_path(q, "id"), &list.items, &list.n));
}

void api_tree_list(request *q)
{
    ramet_call *c = face_call(q);
    lineage_list list = {0};
    if (c)
        lineage_answer(q, &list, ramet_tree(c, face_path(q, "id"), false, &list.items, &list.n));
}

typedef struct branch_page {
    ramet_branch *items;
    size_t n;
    bool more;
} branch_page;

static void show_tree_branches(request *q, const void *answer)
{
    const branch_page *list = answer;
    list_begin(q, "branches");
    for (size_t i = 0; i < list->n; i++)
        native_branch(&q->w, &list->items[i]);
    list_end_number(q, list->n ? list->items[list->n - 1].id : 0, list->more);
}

void api_tree_branches_list(request *q)
{
    ramet_call *c = face_call(q);
    branch_page list = {0};
    int64_t after;
    if (!c || !api_cursor(q, &after))
        return;
    int most = api_limit(q) ? (int)api_limit(q) : WHOLE_MOST;
    face_render(q, show_tree_branches, &list);
    face_answer(q, ramet_tree_branches(c, face_path(q, "id"), after, most, &list.items, &list.n,
                                       &list.more));
}

typedef struct point_list {
    ramet_fork_point *items;
    size_t n;
} point_list;

static void show_points(request *q, const void *answer)
{
    const point_list *list = answer;
    list_begin(q, "fork_points");
    for (size_t i = 0; i < list->n; i++) {
        const ramet_fork_point *p = &list->items[i];
        jw_object(&q->w);
        jw_kint(&q->w, "position", p->position);
        jw_kstr(&q->w, "entry_id", p->entry_id);
        jw_kstr(&q->w, "session_id", p->session);
        native_kbranch(&q->w, "branch_id", p->branch);
        jw_end_object(&q->w);
    }
    list_end(q, NULL);
}

void api_fork_points_list(request *q)
{
    ramet_call *c = face_call(q);
    point_list list = {0};
    if (!c)
        return;
    face_render(q, show_points, &list);
    face_answer(q, ramet_fork_points(c, face_path(q, "id"), &list.items, &list.n));
}

static void show_usage(request *q, const void *answer)
{
    native_usage_out(&q->w, answer);
}

void api_usage_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_usage_out out = {0};
    if (!c)
        return;
    face_render(q, show_usage, &out);
    face_answer(q, ramet_usage_get(c, face_path(q, "id"), &out));
}

static void show_state(request *q, const void *answer)
{
    jw_object(&q->w);
    jw_kraw(&q->w, "state", *(const char *const *)answer);
    jw_end_object(&q->w);
}

void api_state_get(request *q)
{
    ramet_call *c = face_call(q);
    const char *json = NULL;
    if (!c)
        return;
    face_render(q, show_state, &json);
    face_answer(q, ramet_state(c, face_path(q, "id"), request_query(q, "at"), &json));
}
