/* SPDX-License-Identifier: Apache-2.0
 *
 * turn_events.c: see turn_events.h.
 */
#include "face/kit/turn_events.h"

#include "base/util.h"
#include "form/native.h"
#include "live/sse.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES ((size_t)256 << 20)

/* ------------------------------------------------------------------ events */

/* NULL: the native API has no such event. */
static const char *event_name(turn_event_kind kind)
{
    switch (kind) {
    case TURN_STARTED:
        return "turn.started";
    case TURN_DELTA:
        return "turn.delta";
    case TURN_THINKING:
        return "turn.thinking";
    case TURN_ENTRY:
        return "entry.appended";
    case TURN_PLAN:
        return "turn.plan";
    case TURN_QUESTION:
        return "turn.question";
    case TURN_ENDED:
        return "turn.done";
    case TURN_CAUGHT_UP:
    case TURN_DETACHED:
        return NULL;
    }
    return NULL;
}

void face_turn_question(json_writer *w, const turn_question *q)
{
    if (!q) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kstr(w, "id", q->id);
    jw_kstr(w, "kind", q->kind);
    jw_kstr(w, "text", q->text);
    jw_kraw(w, "options", q->options);
    jw_end_object(w);
}

static void members_write(json_writer *w, const turn_event *e)
{
    switch (e->kind) {
    case TURN_STARTED:
        jw_kstr(w, "agent", e->started.agent);
        if (e->started.group)
            jw_kstr(w, "group", e->started.group);
        return;
    case TURN_DELTA:
        jw_kint(w, "offset", e->delta.offset);
        jw_key(w, "text");
        jw_strn(w, e->delta.text, e->delta.n);
        return;
    case TURN_THINKING:
        jw_key(w, "text");
        jw_strn(w, e->delta.text, e->delta.n);
        return;
    case TURN_ENTRY:
        jw_key(w, "entry");
        native_entry(w, e->entry);
        return;
    case TURN_PLAN:
        jw_kraw(w, "plan", e->plan);
        return;
    case TURN_QUESTION:
        jw_key(w, "question");
        face_turn_question(w, e->question);
        return;
    case TURN_ENDED:
        jw_kstr(w, "status", ramet_turn_status_name(e->ended.status));
        if (*e->ended.error)
            jw_kstr(w, "error", e->ended.error);
        return;
    case TURN_CAUGHT_UP:
    case TURN_DETACHED:
        return;
    }
}

bool face_turn_event(void *arg, const turn_event *e, buf *out)
{
    const char *name = event_name(e->kind);
    json_writer w;
    (void)arg;
    if (!name)
        return true;
    size_t data = sse_begin(out, name, -1);
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "type", name);
    jw_kstr(&w, "session_id", e->session);
    jw_kstr(&w, "tree_id", e->tree);
    jw_kstr(&w, "turn_id", e->turn);
    native_kbranch(&w, "branch_id", e->branch);
    members_write(&w, e);
    jw_end_object(&w);
    sse_end(out, data);
    return true;
}

turn_listener face_turn_stream(void)
{
    return (turn_listener){.content_type = "text/event-stream", .event = face_turn_event};
}

/* ------------------------------------------------------------------ one answer at the end */

typedef struct json_answer {
    bool fan_out;
    char *group; /* of a fan-out, once one of its turns has started */
    size_t n, left;
    buf results[TURNS_MAX_PER_REQUEST]; /* one object per completed turn */
} json_answer;

static void result_write(const turn_event *e, buf *out)
{
    json_writer w;
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "session_id", e->session);
    jw_kstr(&w, "turn_id", e->turn);
    jw_kstr(&w, "status", ramet_turn_status_name(e->ended.status));
    if (*e->ended.error)
        jw_kstr(&w, "error", e->ended.error);
    jw_key(&w, "entries");
    jw_array(&w);
    for (size_t i = 0; i < e->ended.n; i++)
        native_entry(&w, &e->ended.entries[i]);
    jw_end_array(&w);
    jw_end_object(&w);
}

static void results_write(const json_answer *a, buf *out)
{
    json_writer w;
    jw_init(&w, out, 0);
    if (a->fan_out) {
        jw_object(&w);
        jw_kstr(&w, "group", a->group);
        jw_key(&w, "turns");
        jw_array(&w);
    }
    for (size_t i = 0; i < a->n; i++)
        jw_raw(&w, a->results[i].data);
    if (a->fan_out) {
        jw_end_array(&w);
        jw_end_object(&w);
    }
}

static bool json_event(void *arg, const turn_event *e, buf *out)
{
    json_answer *a = arg;
    if (e->kind == TURN_STARTED && !a->group)
        a->group = xstrdup(e->started.group);
    if (e->kind != TURN_ENDED && e->kind != TURN_DETACHED)
        return true;
    assert(e->index < a->n && a->left);
    result_write(e, &a->results[e->index]);
    if (--a->left == 0)
        results_write(a, out);
    return true;
}

static void json_release(void *arg)
{
    json_answer *a = arg;
    for (size_t i = 0; i < a->n; i++)
        buf_release(&a->results[i]);
    free(a->group);
    free(a);
}

turn_listener face_turn_json(size_t n, bool fan_out)
{
    json_answer *a = xcalloc(1, sizeof *a);
    assert(n && n <= TURNS_MAX_PER_REQUEST);
    a->fan_out = fan_out;
    a->n = a->left = n;
    for (size_t i = 0; i < n; i++)
        buf_init(&a->results[i], ANSWER_BYTES);
    return (turn_listener){.content_type = "application/json",
                           .whole = true,
                           .event = json_event,
                           .release = json_release,
                           .arg = a};
}

/* ------------------------------------------------------------------ requests */

void face_turn_error(request *q, const turn_error *e)
{
    switch (e->kind) {
    case TURN_ERROR_STATUS:
        request_error(q, &e->error);
        /* Only the native form has a member for the turn. */
        if (*e->turn_id && !q->fail) {
            request_answer_begin(q);
            jw_object(&q->writer);
            native_error_fields(&q->writer, &e->error);
            jw_kstr(&q->writer, "turn_id", e->turn_id);
            jw_kstr(&q->writer, "request_id", q->id);
            jw_end_object(&q->writer);
        }
        return;
    case TURN_ERROR_NODE_GONE:
        request_fail(q, 503, "node_gone", e->error.field, "%s", e->error.message);
        request_add_header(q, "Retry-After", "5");
        return;
    case TURN_ERROR_QUESTION_NOT_FOUND:
        request_fail(q, 404, "question_not_found", e->error.field, "%s", e->error.message);
        return;
    }
}

static void turn_begun(void *arg, const turn_request *in, bool forked)
{
    request *q = arg;
    const ramet_turn_in *turn = &in->turn;
    if (forked)
        face_count(q, "fork", ramet_fork_type_name(in->fork->type));
    if (turn->replace || turn->regenerate)
        face_count(q, "fork",
                   ramet_fork_type_name(turn->replace ? RAMET_AUTO_EDIT : RAMET_AUTO_REGENERATE));
}

void face_turns_run(request *q, turn_batch *batch, const turn_listener *listener)
{
    turn_error err;
    batch->begun = turn_begun;
    batch->arg = q;
    if (!turns_run(q->host->turns, q, batch, listener, &err))
        face_turn_error(q, &err);
    else if (batch->replayed)
        request_add_header(q, "Idempotency-Replayed", "true");
}
