/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_ask.c: tasks over A2A: get, list, cancel, subscribe.
 */
#include "face/a2a_rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sessions of a part of a list; parts that one call looks through for a first task. */
enum { LIST_SESSIONS = 500, LIST_PARTS = 8, PAGE_DEFAULT = 50, PAGE_MOST = 100 };

/* The answer of a turn that was run here is kept as messages: its artifact is made of them. */
static void task_complete(arena *a, a2a_task *t)
{
    if (!t->artifacts && !t->inherited && !t->running)
        t->artifacts = rpc_artifacts_json(a, rpc_answer_text(a, t));
}

static void task_answer(rpc *r, a2a_task *t, int64_t history)
{
    a2a_view view = rpc_view(r, t->session, t->id);
    task_complete(r->q->a, t);
    json_writer *w = rpc_result(r);
    a2a_task_write(r->q->a, w, &view, t, history);
    rpc_result_end(r);
}

void rpc_get(rpc *r)
{
    ramet_session *s;
    int64_t history;
    const char *id = rpc_text(r, r->params, "id");
    if (!id || !rpc_history(r, r->params, &history))
        return;
    a2a_task *t = rpc_task(r, id, &s);
    if (t)
        task_answer(r, t, history);
}

void rpc_cancel(rpc *r)
{
    ramet_session *s;
    face_req *q = r->q;
    const char *id = rpc_text(r, r->params, "id");
    a2a_task *t = id ? rpc_task(r, id, &s) : NULL;
    if (!t)
        return;
    if (!t->running) {
        rpc_fail(r, RPC_NOT_CANCELABLE, "the task is not running: it is %s",
                 a2a_state_name(t->state, A2A_03));
        return;
    }
    q->host->turn_cancel(q->host->arg, q, t->session, id);
    if (!rpc_hosted(r))
        return;
    t = rpc_task(r, id, &s);
    if (t)
        task_answer(r, t, -1);
}

void rpc_subscribe(rpc *r)
{
    ramet_session *s;
    const char *id = rpc_text(r, r->params, "id");
    a2a_task *t = id ? rpc_task(r, id, &s) : NULL;
    if (!t)
        return;
    if (!t->running) {
        rpc_fail(r, r->version == A2A_10 ? RPC_UNSUPPORTED : RPC_INVALID_PARAMS,
                 "the task is not running: it is %s", a2a_state_name(t->state, A2A_03));
        return;
    }
    rpc_join(r, t->session, id, &(hear_in){.stream = true, .history = -1});
}

/* ------------------------------------------------------------------ lists
 *
 * Tasks are not sorted in the store: a list without a context reads the tasks of LIST_SESSIONS
 * sessions at a time, the newest sessions first, and sorts those. So a call has a bound, and the
 * token of a page says with which session its part begins and which task was the last one. */

/* What a list is sorted by; the rest of a task is read when it is shown. */
typedef struct listed {
    const char *id, *session;
    int64_t at;
} listed;

typedef struct listing {
    rpc *r;
    int64_t page, history, after;
    int state; /* -1: any */
    bool artifacts;
    const char *context; /* NULL: any */
    const char *cursor;  /* of the sessions of this part; NULL: the first part */
    const char *rest;    /* of the sessions behind it; NULL: none */
    listed last;         /* the last one shown; id NULL: none of this part */
    int64_t earlier;     /* tasks of the parts before it */
    VEC(listed) all;
} listing;

static bool list_fits(const listing *l, const a2a_task *t)
{
    return (l->state < 0 || (int)t->state == l->state) && t->status_at > l->after;
}

/* The histories of many sessions would not fit into one call: each is read in its own. */
static bool session_add(listing *l, const ramet_session *s)
{
    face_req *q = l->r->q;
    a2a_task *tasks;
    size_t n;
    if (!rpc_agent_fits(l->r, s))
        return true;
    ramet_call *own = q->who.share ? NULL : ramet_call_new(q->host->store, q->who.user, NULL);
    ramet_status st = a2a_tasks(own ? own : q->c, s->id, &tasks, &n);
    for (size_t i = 0; st == RAMET_OK && i < n; i++) {
        a2a_task_live(q, s, &tasks[i]);
        if (!list_fits(l, &tasks[i]))
            continue;
        listed one = {arena_strdup(q->a, tasks[i].id), arena_strdup(q->a, s->id),
                      tasks[i].status_at};
        VEC_PUSH(q->a, &l->all, one);
    }
    ramet_call_free(own);
    if (st != RAMET_OK && ramet_status_http(st) != 404) {
        rpc_fail(l->r, RPC_INTERNAL, "the tasks of a session cannot be read: %s",
                 ramet_status_text(st));
        return false;
    }
    return true;
}

static bool context_gather(listing *l)
{
    ramet_session *s;
    ramet_status st = ramet_session_get(l->r->q->c, l->context, &s);
    if (st != RAMET_OK && ramet_status_http(st) == 404)
        return true;
    if (st != RAMET_OK)
        rpc_refuse(l->r);
    return st == RAMET_OK && session_add(l, s);
}

/* The tasks of one part. False: the answer is filled. */
static bool part_gather(listing *l)
{
    ramet_session_list page = {0};
    ramet_list_in in = {.limit = 100, .archived = RAMET_ARCHIVED_INCLUDE, .cursor = l->cursor};
    l->all.n = 0;
    l->rest = NULL;
    for (size_t seen = 0; seen < LIST_SESSIONS; seen += page.n) {
        ramet_status st = ramet_session_find(l->r->q->c, &in, &page);
        if (st != RAMET_OK) {
            if (l->cursor && ramet_status_http(st) == 400)
                rpc_fail(l->r, RPC_INVALID_PARAMS, "pageToken was not made by this list");
            else
                rpc_refuse(l->r);
            return false;
        }
        for (size_t i = 0; i < page.n; i++)
            if (!session_add(l, &page.items[i]))
                return false;
        in.cursor = l->rest = page.next_cursor;
        if (!in.cursor)
            break;
    }
    return true;
}

/* Parts that hold nothing are passed over, up to a bound. */
static bool list_gather(listing *l)
{
    if (l->context)
        return context_gather(l);
    for (int parts = 1;; parts++) {
        if (!part_gather(l))
            return false;
        if (l->all.n || !l->rest || parts == LIST_PARTS)
            return true;
        l->cursor = l->rest;
        l->last.id = NULL;
    }
}

static int newest_first(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return x->at != y->at ? x->at < y->at ? 1 : -1 : strcmp(y->id, x->id);
}

/* ---- pages: "p EARLIER AT ID LENGTH ID CURSOR" */

static const char *token_make(arena *a, const char *cursor, int64_t earlier, const listed *last)
{
    const char *id = last ? last->id : "";
    return arena_printf(a, "p%lld.%lld.%zu.%s%s", (long long)earlier,
                        (long long)(last ? last->at : 0), strlen(id), id, cursor ? cursor : "");
}

static bool token_read(listing *l, const char *token)
{
    arena *a = l->r->q->a;
    long long earlier, at;
    size_t id;
    int n = 0;
    if (sscanf(token, "p%18lld.%18lld.%5zu.%n", &earlier, &at, &id, &n) != 3 || !n || earlier < 0 ||
        strlen(token + n) < id)
        return false;
    l->earlier = earlier;
    l->last = (listed){.id = id ? arena_printf(a, "%.*s", (int)id, token + n) : NULL, .at = at};
    l->cursor = token[(size_t)n + id] ? arena_strdup(a, token + n + id) : NULL;
    return true;
}

static bool list_filters(listing *l)
{
    rpc *r = l->r;
    const char *status, *after, *token;
    if (!rpc_number(r, r->params, "pageSize", 1, PAGE_MOST, &l->page) ||
        !rpc_history(r, r->params, &l->history) ||
        !rpc_flag(r, r->params, "includeArtifacts", &l->artifacts) ||
        !rpc_word(r, r->params, "contextId", &l->context) ||
        !rpc_word(r, r->params, "status", &status) ||
        !rpc_word(r, r->params, "statusTimestampAfter", &after) ||
        !rpc_word(r, r->params, "pageToken", &token))
        return false;
    l->state = status ? a2a_state_parse(status) : -1;
    if (status && strcmp(status, "TASK_STATE_UNSPECIFIED") != 0 && l->state < 0) {
        rpc_fail(r, RPC_INVALID_PARAMS, "status '%.60s' is no state of a task", status);
        return false;
    }
    if (after && !time_parse(after, &l->after)) {
        rpc_fail(r, RPC_INVALID_PARAMS, "statusTimestampAfter must be a time");
        return false;
    }
    if (token && !token_read(l, token)) {
        rpc_fail(r, RPC_INVALID_PARAMS, "pageToken was not made by this list");
        return false;
    }
    return true;
}

/* One that is gone meanwhile is left out. */
static void listed_write(const listing *l, json_writer *w, const listed *one)
{
    face_req *q = l->r->q;
    a2a_view view = rpc_view(l->r, one->session, one->id);
    ramet_session *s;
    a2a_task *t;
    if (a2a_task_get(q->c, one->session, one->id, &t) != RAMET_OK ||
        ramet_session_get(q->c, one->session, &s) != RAMET_OK)
        return;
    a2a_task_live(q, s, t);
    task_complete(q->a, t);
    if (!l->artifacts)
        t->artifacts = NULL;
    a2a_task_write(q->a, w, &view, t, l->history);
}

/* The token of the page behind the one that ends before `to`. */
static const char *list_next(const listing *l, size_t to)
{
    arena *a = l->r->q->a;
    if (to < l->all.n)
        return token_make(a, l->cursor, l->earlier, &l->all.items[to - 1]);
    return l->rest ? token_make(a, l->rest, l->earlier + (int64_t)l->all.n, NULL) : "";
}

void rpc_list(rpc *r)
{
    listing l = {.r = r, .page = PAGE_DEFAULT, .history = -1, .after = INT64_MIN, .state = -1};
    size_t from = 0;
    if (!list_filters(&l) || !list_gather(&l))
        return;
    if (l.all.n)
        qsort(l.all.items, l.all.n, sizeof *l.all.items, newest_first);
    while (l.last.id && from < l.all.n && newest_first(&l.all.items[from], &l.last) <= 0)
        from++;
    size_t to = l.all.n - from > (size_t)l.page ? from + (size_t)l.page : l.all.n;
    const char *next = list_next(&l, to);
    json_writer *w = rpc_result(r);
    jw_object(w);
    jw_key(w, "tasks");
    jw_array(w);
    for (size_t i = from; i < to; i++)
        listed_write(&l, w, &l.all.items[i]);
    jw_end_array(w);
    jw_kstr(w, "nextPageToken", next);
    jw_kint(w, "pageSize", l.page);
    jw_kint(w, "totalSize", l.earlier + (int64_t)l.all.n);
    jw_end_object(w);
    rpc_result_end(r);
}
