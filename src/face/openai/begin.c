/* SPDX-License-Identifier: Apache-2.0
 *
 * begin.c: begins the turn of a response or a chat completion where its history stands.
 *
 * A history that has gone on since it was read (another request was faster, or a turn runs there)
 * is no error where the client named the end of one: the turn runs in a fork at that end. So of
 * several requests on one response, one goes on and the others are forks, and each sees exactly
 * what it named.
 */
#include "face/openai/openai_face.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TAIL = 256, MAX_PAGE = 1000 };

/* ------------------------------------------------------------------ errors */

void openai_fail(request *q, const char *code, const char *field, const char *message)
{
    int status = q->status;
    const char *type = status == 401   ? "authentication_error"
                       : status == 403 ? "permission_error"
                       : status == 429 ? "rate_limit_error"
                       : status >= 500 ? "server_error"
                                       : "invalid_request_error";
    jw_object(&q->writer);
    jw_key(&q->writer, "error");
    jw_object(&q->writer);
    jw_kstr(&q->writer, "message", message);
    jw_kstr(&q->writer, "type", type);
    jw_kstr(&q->writer, "param", field && *field ? field : NULL);
    jw_kstr(&q->writer, "code", code);
    jw_end_object(&q->writer);
    jw_end_object(&q->writer);
}

bool openai_refuse(request *q, const char *code, const char *field, const char *fmt, ...)
{
    char message[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(message, sizeof message, fmt, ap);
    va_end(ap);
    utf8_trim(message);
    request_fail(q, 400, code, field, "%s", message);
    return false;
}

void openai_turn_error(request *q, const turn_error *e)
{
    if (e->kind == TURN_ERROR_STATUS && e->error.status == RAMET_TURN_RUNNING_ALREADY)
        request_fail(q, 400, "conversation_locked", "conversation",
                     "another response is being made in this conversation; wait for its end, or "
                     "name a response by previous_response_id");
    else if (e->kind == TURN_ERROR_STATUS)
        request_error(q, &e->error);
    else
        request_fail(q, 503, "server_unavailable", NULL, "%s", e->error.message);
}

/* ------------------------------------------------------------------ calls and their outputs */

typedef struct open_calls {
    arena *mem;
    VEC(const char *) ids; /* without an output; NULL: it has one */
} open_calls;

/* False: an output belongs to no call; *orphan is its id. */
static bool calls_add(open_calls *c, const char *parts, const char **orphan)
{
    json_doc d;
    if (!parts || !json_parse(c->mem, parts, strlen(parts), 0, &d, NULL))
        return true;
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        const char *type = json_text(c->mem, &d, json_get(&d, v, "type"));
        const char *id = json_text(c->mem, &d, json_get(&d, v, "id"));
        size_t i = 0;
        if (strcmp(type, "tool_call") == 0)
            VEC_PUSH(c->mem, &c->ids, id);
        if (strcmp(type, "tool_result") != 0)
            continue;
        while (i < c->ids.n && !(c->ids.items[i] && strcmp(c->ids.items[i], id) == 0))
            i++;
        if (i == c->ids.n) {
            *orphan = id;
            return false;
        }
        c->ids.items[i] = NULL;
    }
    return true;
}

/* The calls that are open at the end of a history. */
static bool history_calls(request *q, const char *session, int64_t branch, int64_t end,
                          open_calls *c)
{
    ramet_read_in in = {.limit = TAIL, .tail = true, .branch = branch, .end = end};
    ramet_page page;
    const char *orphan;
    if (ramet_read(q->call, session, &in, &page) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return false;
    }
    size_t from = page.n;
    while (from && page.entries[from - 1].role != RAMET_USER)
        from--;
    for (size_t i = from; i < page.n; i++)
        calls_add(c, page.entries[i].parts, &orphan);
    return true;
}

bool openai_calls_check(request *q, const char *session, int64_t branch, int64_t end,
                        const openai_input *in)
{
    open_calls c = {.mem = q->arena};
    const char *orphan = NULL;
    if (end && !history_calls(q, session, branch, end, &c))
        return false;
    for (size_t i = 0; i < in->entries.n; i++)
        if (!calls_add(&c, in->entries.items[i].parts, &orphan)) {
            request_fail(q, 400, "invalid_value", in->names.items[i],
                         "no tool call found for the output with call_id %.80s", orphan);
            return false;
        }
    for (size_t i = 0; i < c.ids.n; i++)
        if (c.ids.items[i]) {
            request_fail(q, 400, "invalid_value", "input",
                         "no tool output found for the call %.80s: a call and its output belong "
                         "together",
                         c.ids.items[i]);
            return false;
        }
    return true;
}

/* ------------------------------------------------------------------ beginning */

/* Creates the session of a new history. The idempotency key is for the turn. */
static bool session_make(request *q, openai_run *run)
{
    ramet_session_in in = {.id = run->place.new_id,
                           .agent = {.name = run->agent.name, .model = run->agent.model},
                           .anew = run->place.new_id != NULL};
    ramet_session *made = NULL;
    ramet_call_once(q->call, NULL);
    ramet_status st = ramet_session_create(q->call, &in, &made);
    if (st == RAMET_SESSION_EXISTS) { /* another request was faster, or the id is someone else's */
        in.id = NULL;
        in.anew = false;
        st = ramet_session_create(q->call, &in, &made);
    }
    ramet_call_once(q->call, q->has_once ? &q->once : NULL);
    if (st != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return false;
    }
    run->place.session = made->id;
    return true;
}

/* Removes the session of a turn that did not begin. */
static void session_unmake(request *q, const char *session)
{
    ramet_delete_out gone;
    ramet_call_once(q->call, NULL);
    ramet_session_delete(q->call, session, false, false, &gone);
}

static bool has_moved(const turn_error *e)
{
    return e->kind == TURN_ERROR_STATUS &&
           (e->error.status == RAMET_HEAD_MOVED || e->error.status == RAMET_TURN_RUNNING_ALREADY);
}

static bool turn_try(request *q, openai_run *run, turn_place *at, turn_error *err)
{
    const openai_place *p = &run->place;
    turn_request items[TURNS_MAX_PER_REQUEST];
    turn_batch batch = {.items = items, .n = run->choices ? run->choices : 1, .keep_running = true};
    for (size_t i = 0; i < batch.n; i++)
        items[i] = (turn_request){.session = p->session,
                                  .agent = &run->agent,
                                  .request = run->kept,
                                  .turn.regenerate = i ? "" : NULL};
    items[0].fork = p->forks ? &p->fork : NULL;
    items[0].turn.entries = run->input->entries.items + p->skip;
    items[0].turn.n = run->input->entries.n - p->skip;
    items[0].turn.expected_head = p->forks ? NULL : p->head;
    turn_listener listener = run->listener(run->arg, at);
    return turns_run(q->host->turns, q, &batch, &listener, err);
}

/* Versions are branches of one session, so their fork is made before any of them begins. */
static bool versions_prepare(request *q, openai_run *run)
{
    openai_place *p = &run->place;
    const openai_input *in = run->input;
    ramet_session *made = NULL;
    if (run->choices <= 1)
        return true;
    if (in->entries.items[in->entries.n - 1].role != RAMET_USER) {
        request_fail(q, 400, "unsupported_value", "n",
                     "n over 1 needs a list that ends with a message of the user");
        return false;
    }
    if (!p->forks)
        return true;
    ramet_call_once(q->call, NULL);
    if (ramet_fork(q->call, p->session, &p->fork, &made, NULL) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return false;
    }
    ramet_call_once(q->call, q->has_once ? &q->once : NULL);
    run->parent = p->session;
    *p = (openai_place){.session = made->id, .skip = p->skip};
    return true;
}

static void headers_add(request *q, const openai_run *run, const turn_place *at)
{
    char branch[24];
    if (!*at->session)
        return;
    request_add_header(q, "Ramet-Session", face_escape(q, arena_strdup(q->arena, at->session)));
    request_add_header(q, "Ramet-Branch",
                       arena_strdup(q->arena, ramet_branch_text(at->branch, branch)));
    const char *parent = run->place.forks ? run->place.session : run->parent;
    if (parent)
        request_add_header(q, "Ramet-Parent", face_escape(q, parent));
}

/* The history of a request that records nothing, as a model sees it. False: the answer is filled
 * in. */
static bool history_read(request *q, const openai_place *p, turn_request *out)
{
    VEC(ramet_entry) all = {0};
    ramet_read_in in = {.limit = MAX_PAGE,
                        .by_position = true,
                        .branch = p->fork.branch,
                        .end = p->length,
                        .channel = "history",
                        .view = RAMET_VIEW_CONTEXT};
    ramet_page page = {.more_after = p->session && p->length};
    while (page.more_after) {
        if (ramet_read(q->call, p->session, &in, &page) != RAMET_OK) {
            request_error(q, ramet_call_error(q->call));
            return false;
        }
        for (size_t i = 0; i < page.n; i++)
            VEC_PUSH(q->arena, &all, page.entries[i]);
        if (page.n)
            in.position = page.entries[page.n - 1].position + 1;
        page.more_after = page.more_after && page.n && in.position < p->length;
    }
    out->history = all.items;
    out->n_history = all.n;
    return true;
}

static void turn_run_unrecorded(request *q, openai_run *run)
{
    turn_request items[TURNS_MAX_PER_REQUEST];
    turn_batch batch = {.items = items, .n = run->choices ? run->choices : 1};
    turn_place *at = arena_alloc(q->arena, sizeof *at);
    turn_error err;
    items[0] =
        (turn_request){.agent = &run->agent,
                       .request = run->kept,
                       .unrecorded = true,
                       .turn = {.entries = run->input->entries.items, .n = run->input->entries.n}};
    if (!history_read(q, &run->place, &items[0]))
        return;
    for (size_t i = 1; i < batch.n; i++)
        items[i] = items[0];
    turn_listener listener = run->listener(run->arg, at);
    if (!turns_run(q->host->turns, q, &batch, &listener, &err))
        openai_turn_error(q, &err);
}

void openai_turn_run(request *q, openai_run *run)
{
    turn_place *at = arena_alloc(q->arena, sizeof *at);
    turn_error err;
    bool makes = !run->place.session, repeated = false;
    if (!q->host->turns) {
        request_fail(q, 501, "not_implemented", NULL, "nobody runs turns here");
        return;
    }
    if (run->unrecorded) {
        turn_run_unrecorded(q, run);
        return;
    }
    if (q->has_once && ramet_once_look(q->call) == RAMET_OK)
        repeated = q->once.repeated;
    if (!repeated && !(makes ? session_make(q, run) : versions_prepare(q, run)))
        return;
    bool fine = turn_try(q, run, at, &err);
    if (!fine && run->place.may_fork && has_moved(&err)) {
        run->place.forks = true;
        fine = turn_try(q, run, at, &err);
    }
    if (fine) {
        headers_add(q, run, at);
        return;
    }
    if (makes && !repeated)
        session_unmake(q, run->place.session);
    openai_turn_error(q, &err);
}
