/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c: tasks over A2A: get, list, cancel, subscribe.
 */
#include "face/kit/a2a_pieces.h"
#include "face/a2a/a2a_face.h"
#include "ramet/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For a list: the number of sessions per query, when all are searched and when few are; the number
 * of tasks kept while it goes on. */
enum { ALL_CHUNK = 1000, PAGE_CHUNK = 250, MAX_KEPT_TASKS = 400 };
enum { PAGE_DEFAULT = 50, MAX_PAGE_TASKS = 100 };
/* The maximum difference between the clocks of two servers. */
enum { SKEW_US = 2000000 };

/* An answer with tasks, while it is written. */
typedef struct task_answer {
    jsonrpc_call call;
    const a2a_task *one; /* NULL: it was written */
    bool sent;           /* the answer to a message */
} task_answer;

static bool one_next(request *q, void *arg, const a2a_task **t)
{
    task_answer *x = arg;
    (void)q;
    *t = x->one;
    x->one = NULL;
    return true;
}

static void one_keep(arena *own, void *arg)
{
    (void)own, (void)arg; /* it is being written already */
}

static bool task_allowed(request *q, void *arg, const a2a_task *t)
{
    const task_answer *x = arg;
    ramet_session *s;
    return ramet_session_get(q->call, t->session, &s) == RAMET_OK &&
           jsonrpc_agent_fits(&x->call, s);
}

static void task_fail(request *q, void *arg, ramet_status st)
{
    task_answer *x = arg;
    if (ramet_call_error(q->call)->status != RAMET_OK)
        jsonrpc_refuse(&x->call);
    else
        jsonrpc_fail(&x->call, JSONRPC_TASK_NOT_FOUND, "%s", ramet_status_text(st));
}

static void one_end(request *q, void *arg)
{
    task_answer *x = arg;
    if (x->sent)
        jsonrpc_event_end(&q->writer, x->call.version, x->call.id);
    else
        jsonrpc_result_end(&x->call);
}

void jsonrpc_task_answer(jsonrpc_call *r, const a2a_task *t, int64_t history, bool sent)
{
    json_writer *w = jsonrpc_result(r);
    task_answer *x = arena_alloc(r->request->arena, sizeof *x);
    *x = (task_answer){.call = *r, .one = t, .sent = sent};
    if (sent && r->version == A2A_10)
        jsonrpc_event_open(w, JSONRPC_EVENT_TASK);
    a2a_tasks_answer(r->request,
                     &(a2a_answer){.view = jsonrpc_view(r, t->session, t->id),
                                   .artifacts = sent ? A2A_ARTIFACTS_STORED : A2A_ARTIFACTS_ANSWER,
                                   .history = history,
                                   .next = one_next,
                                   .keep = one_keep,
                                   .allowed = task_allowed,
                                   .fail = task_fail,
                                   .end = one_end,
                                   .arg = x});
}

void jsonrpc_get(jsonrpc_call *r)
{
    ramet_session *s;
    int64_t history;
    const char *id = jsonrpc_text(r, r->params, "id");
    if (!id || !jsonrpc_history(r, r->params, &history))
        return;
    a2a_task *t = jsonrpc_task(r, id, &s);
    if (t)
        jsonrpc_task_answer(r, t, history, false);
}

void jsonrpc_cancel(jsonrpc_call *r)
{
    ramet_session *s;
    ramet_turn *turn;
    turn_error err;
    request *q = r->request;
    const char *id = jsonrpc_text(r, r->params, "id");
    a2a_task *t = id ? jsonrpc_task(r, id, &s) : NULL;
    if (!t)
        return;
    if (!t->running) {
        jsonrpc_fail(r, JSONRPC_NOT_CANCELABLE, "the task is not running: it is %s",
                     a2a_state_name(t->state, A2A_03));
        return;
    }
    if (!turns_cancel(q->host->turns, q, t->session, id, &turn, &err)) {
        jsonrpc_refuse_turn(r, &err);
        return;
    }
    t = jsonrpc_task(r, id, &s);
    if (t)
        jsonrpc_task_answer(r, t, -1, false);
}

void jsonrpc_subscribe(jsonrpc_call *r)
{
    ramet_session *s;
    turn_error err;
    const char *id = jsonrpc_text(r, r->params, "id");
    a2a_task *t = id ? jsonrpc_task(r, id, &s) : NULL;
    if (!t)
        return;
    if (!t->running) {
        jsonrpc_fail(r, r->version == A2A_10 ? JSONRPC_UNSUPPORTED : JSONRPC_PARAMS,
                     "the task is not running: it is %s", a2a_state_name(t->state, A2A_03));
        return;
    }
    turn_listener listener = jsonrpc_listener(
        r, t->session,
        &(follow_in){.stream = true, .history = -1, .to_the_end = r->version == A2A_10});
    if (!turns_join(r->request->host->turns, r->request, t->session, id, &listener, &err))
        jsonrpc_refuse_turn(r, &err);
}

/* ------------------------------------------------------------------ lists
 *
 * Tasks have no rows that could be sorted or counted. The first page goes through all sessions that
 * may have a task for the list: so it knows the total, which its token passes on. The other pages
 * go through the sessions, most recently changed first, until no remaining one can have a task that
 * belongs on the page. The token names the last task shown, so pages neither repeat nor skip one,
 * and sessions with nothing older are not searched again. */

/* The sort key of a list; the rest of a task is read when it is shown. */
typedef struct listed {
    const char *id, *session;
    int64_t at;
} listed;

typedef struct listing {
    jsonrpc_call *call;
    int64_t page, history, after;
    int state; /* -1: any */
    bool artifacts;
    const char *context; /* NULL: any */
    listed last;         /* the last task shown; id NULL: none */
    int64_t total;       /* number of tasks in the list; with `last` that of the first page */
    VEC(listed) all;     /* those that may be on the page */
    listed floor;        /* what comes behind it is not on the page; id NULL: not known yet */
} listing;

static int newest_first(const void *a, const void *b)
{
    const listed *x = a, *y = b;
    return x->at != y->at ? x->at < y->at ? 1 : -1 : strcmp(y->id, x->id);
}

static bool list_fits(const listing *l, const a2a_task *t)
{
    listed one = {.id = t->id, .at = t->status_at};
    return (l->state < 0 || (int)t->state == l->state) && t->status_at > l->after &&
           (!l->last.id || newest_first(&l->last, &one) < 0);
}

/* Keeps only the tasks of the page, and one more. */
static void list_trim(listing *l)
{
    if (l->all.n)
        qsort(l->all.items, l->all.n, sizeof *l->all.items, newest_first);
    if (l->all.n <= (size_t)l->page)
        return;
    l->all.n = (size_t)l->page + 1;
    l->floor = l->all.items[l->page];
}

static void list_add(listing *l, const char *session, const a2a_task *t)
{
    arena *a = l->call->request->arena;
    if (!list_fits(l, t))
        return;
    l->total += !l->last.id;
    listed one = {.id = t->id, .at = t->status_at};
    if (l->all.n > MAX_KEPT_TASKS)
        list_trim(l);
    if (l->floor.id && newest_first(&l->floor, &one) < 0)
        return;
    one.id = arena_strdup(a, t->id);
    one.session = arena_strdup(a, session);
    VEC_PUSH(a, &l->all, one);
}

static bool session_failed(listing *l, ramet_status st)
{
    if (st == RAMET_OK || ramet_status_http(st) == 404)
        return false;
    jsonrpc_fail(l->call, JSONRPC_INTERNAL, "the tasks of a session cannot be read: %s",
                 ramet_status_text(st));
    return true;
}

/* The histories of many sessions would not fit into one call, so each is read in its own. False:
 * the answer is filled in. */
static bool session_add(listing *l, const char *id)
{
    request *q = l->call->request;
    ramet_session *s;
    a2a_task *tasks;
    size_t n = 0;
    ramet_call *own = q->caller.share ? NULL : ramet_call_new(q->host->store, q->caller.user, NULL);
    ramet_call *c = own ? own : q->call;
    ramet_status st = ramet_session_get(c, id, &s);
    if (st == RAMET_OK && jsonrpc_agent_fits(l->call, s))
        st = a2a_tasks(c, id, &tasks, &n);
    for (size_t i = 0; st == RAMET_OK && i < n; i++) {
        a2a_task_live(q, s, &tasks[i]);
        list_add(l, id, &tasks[i]);
    }
    ramet_call_free(own);
    return !session_failed(l, st);
}

/* Whether enough tasks newer than `last` are found to fill the page. */
static bool page_full(const listing *l, int64_t last)
{
    int64_t n = 0;
    for (size_t i = 0; i < l->all.n; i++)
        n += l->all.items[i].at > last;
    return n > l->page;
}

static bool agent_may_fit(const listing *l, const char *agent)
{
    const ramet_session s = {.agent.name = agent};
    return !agent || a2a_session_is_of(l->call->request->arena, &s, l->call->agent);
}

/* False: the answer is filled in. */
static bool list_gather(listing *l)
{
    ramet_active_list some;
    bool counts = !l->last.id;
    ramet_active_in in = {.limit = counts ? ALL_CHUNK : PAGE_CHUNK,
                          .until = counts ? 0 : l->last.at + SKEW_US};
    if (l->context)
        return session_add(l, l->context);
    do {
        if (ramet_active_find(l->call->request->call, &in, &some) != RAMET_OK) {
            jsonrpc_refuse(l->call);
            return false;
        }
        for (size_t i = 0; i < some.n; i++) {
            const ramet_active *s = &some.items[i];
            if (s->last <= l->after || (!counts && page_full(l, s->last)))
                return true;
            if (agent_may_fit(l, s->agent) && !session_add(l, s->session))
                return false;
        }
        in.last = some.last;
        in.number = some.number;
    } while (some.more);
    return true;
}

/* ---- pages: "p TOTAL AT ID" */

static const char *token_make(arena *a, int64_t total, const listed *last)
{
    return arena_printf(a, "p%lld.%lld.%s", (long long)total, (long long)last->at, last->id);
}

static bool token_read(listing *l, const char *token)
{
    long long total, at;
    int n = 0;
    if (sscanf(token, "p%18lld.%18lld.%n", &total, &at, &n) != 2 || !n || total < 0 || !token[n])
        return false;
    l->total = total;
    l->last = (listed){.id = arena_strdup(l->call->request->arena, token + n), .at = at};
    return true;
}

static bool list_filters(listing *l)
{
    jsonrpc_call *r = l->call;
    const char *status, *after, *token;
    if (!jsonrpc_number(r, r->params, "pageSize", 1, MAX_PAGE_TASKS, &l->page) ||
        !jsonrpc_history(r, r->params, &l->history) ||
        !jsonrpc_flag(r, r->params, "includeArtifacts", &l->artifacts) ||
        !jsonrpc_word(r, r->params, "contextId", &l->context) ||
        !jsonrpc_word(r, r->params, "status", &status) ||
        !jsonrpc_word(r, r->params, "statusTimestampAfter", &after) ||
        !jsonrpc_word(r, r->params, "pageToken", &token))
        return false;
    l->state = status ? a2a_state_parse(status) : -1;
    if (status && strcmp(status, "TASK_STATE_UNSPECIFIED") != 0 && l->state < 0) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "status '%.60s' is no state of a task", status);
        return false;
    }
    if (after && !time_parse(after, &l->after)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "statusTimestampAfter must be a time");
        return false;
    }
    if (token && !token_read(l, token)) {
        jsonrpc_fail(r, JSONRPC_PARAMS, "pageToken was not made by this list");
        return false;
    }
    return true;
}

/* A page while it is written. */
typedef struct list_answer {
    task_answer of; /* must be first: see task_allowed() */
    const listed *items;
    size_t n, at;
    const char *next;
    int64_t page, total;
} list_answer;

/* A task that was deleted meanwhile is left out. */
static bool listed_next(request *q, void *arg, const a2a_task **out)
{
    list_answer *x = arg;
    ramet_session *s;
    a2a_task *t;
    *out = NULL;
    while (x->at < x->n) {
        const listed *one = &x->items[x->at++];
        if (a2a_task_get(q->call, one->session, one->id, &t) != RAMET_OK ||
            ramet_session_get(q->call, one->session, &s) != RAMET_OK)
            continue;
        a2a_task_live(q, s, t);
        *out = t;
        return true;
    }
    return true;
}

static void list_end(request *q, void *arg)
{
    list_answer *x = arg;
    json_writer *w = &q->writer;
    jw_end_array(w);
    jw_kstr(w, "nextPageToken", x->next);
    jw_kint(w, "pageSize", x->page);
    jw_kint(w, "totalSize", x->total);
    jw_end_object(w);
    jsonrpc_result_end(&x->of.call);
}

void jsonrpc_list(jsonrpc_call *r)
{
    listing l = {.call = r, .page = PAGE_DEFAULT, .history = -1, .after = INT64_MIN, .state = -1};
    if (!list_filters(&l) || !list_gather(&l))
        return;
    list_trim(&l);
    size_t to = l.all.n > (size_t)l.page ? (size_t)l.page : l.all.n;
    list_answer *x = arena_alloc(r->request->arena, sizeof *x);
    *x = (list_answer){
        .of.call = *r,
        .items = l.all.items,
        .n = to,
        .next = to < l.all.n ? token_make(r->request->arena, l.total, &l.all.items[to - 1]) : "",
        .page = l.page,
        .total = l.total,
    };
    json_writer *w = jsonrpc_result(r);
    jw_object(w);
    jw_key(w, "tasks");
    jw_array(w);
    a2a_tasks_answer(r->request, &(a2a_answer){.view = jsonrpc_view(r, NULL, NULL),
                                               .artifacts = l.artifacts ? A2A_ARTIFACTS_ANSWER
                                                                        : A2A_ARTIFACTS_NONE,
                                               .history = l.history,
                                               .next = listed_next,
                                               .allowed = task_allowed,
                                               .fail = task_fail,
                                               .end = list_end,
                                               .arg = x});
}
