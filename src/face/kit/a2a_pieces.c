/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_pieces.c: writes tasks piece by piece.
 *
 *   TASK_NEXT ─► TASK_MESSAGES ─► TASK_ARTIFACT ─► TASK_VALUES ─► TASK_CLOSE ─┐
 *       ▲ └─ one in memory, written at once                                   │
 *       └─────────────────────────────────────────────────────────────────────┘
 */
#include "face/kit/a2a_pieces.h"

#include "form/a2a/a2a_internal.h"
#include "face/kit/pieces.h"

#include <string.h>

enum { PAGE = 1000, STAMP_PAGE = 16 };

typedef enum { TASK_NEXT, TASK_MESSAGES, TASK_ARTIFACT, TASK_VALUES, TASK_CLOSE } task_phase;

/* A position in the messages of a task. */
typedef struct spot {
    size_t span;
    int64_t position;
} spot;

typedef struct writing {
    a2a_answer in;
    arena *own; /* the request's arena */
    bool kept;  /* in.keep was called */
    task_phase phase;
    a2a_task task; /* being written */
    a2a_view view; /* for that task */
    spot at;
    size_t skip;          /* number of oldest messages to skip */
    bool answers;         /* it has artifacts made of its answers, which have begun */
    const char *metadata; /* of the texts among them; NULL: none so far */
} writing;

a2a_task a2a_task_keep(arena *own, const a2a_task *t)
{
    a2a_task out = *t;
    a2a_span *spans = arena_array(own, t->n_spans + 1, sizeof *spans);
    if (t->n_spans)
        memcpy(spans, t->spans, t->n_spans * sizeof *spans);
    out.spans = spans;
    out.id = arena_strdup(own, t->id);
    out.session = arena_strdup(own, t->session);
    out.status_time = arena_strdup(own, t->status_time);
    out.invocation = arena_strdup(own, t->invocation);
    out.status_message = t->by_row ? NULL : arena_strdup(own, t->status_message);
    out.artifacts = out.metadata = NULL;
    out.history = NULL;
    out.question = NULL; /* looked up again */
    out.kept = true;
    return out;
}

/* ------------------------------------------------------------------ messages */

static spot first_spot(const a2a_task *t)
{
    return (spot){.position = t->n_spans ? t->spans[0].lo : 0};
}

static bool spot_over(const a2a_task *t, const spot *at)
{
    return at->span == t->n_spans;
}

static void next_span(const a2a_task *t, spot *at)
{
    at->span++;
    if (!spot_over(t, at))
        at->position = t->spans[at->span].lo;
}

/* Reads some messages from a position on, and advances it. */
static ramet_status messages_read(ramet_call *c, const a2a_task *t, spot *at, int limit,
                                  ramet_page *page)
{
    const a2a_span *span = &t->spans[at->span];
    ramet_read_in in = {.limit = limit,
                        .by_position = true,
                        .position = at->position,
                        .end = span->hi,
                        .branch = t->branch,
                        .channel = "history"};
    ramet_call_page_bytes(c, PIECE_BYTES);
    ramet_status st = ramet_read(c, t->session, &in, page);
    if (st != RAMET_OK)
        return st;
    if (page->n)
        at->position = page->entries[page->n - 1].position + 1;
    if (!page->n || at->position >= span->hi)
        next_span(t, at);
    return RAMET_OK;
}

/* The id to add to the messages at the end of a page, if it is not in the page: the invocation of
 * the answer after them, or that of the task. NULL: a question comes first. */
static const char *stamp_after(ramet_call *c, const a2a_task *t, spot at)
{
    ramet_page page;
    while (!spot_over(t, &at) && messages_read(c, t, &at, STAMP_PAGE, &page) == RAMET_OK)
        for (size_t i = 0; i < page.n; i++) {
            const char *own = a2a_invocation(ramet_call_arena(c), &page.entries[i]);
            if (own || page.entries[i].role == RAMET_USER)
                return own;
        }
    return t->invocation;
}

/* Same as stamp_of() in form/a2a/task.c. `ahead` is for the end of the page. */
static const char *stamp_of(arena *a, const ramet_page *page, size_t i, const char *ahead)
{
    for (size_t k = i; k < page->n; k++) {
        const char *own = a2a_invocation(a, &page->entries[k]);
        if (own)
            return own;
        if (k > i && page->entries[k].role == RAMET_USER)
            return page->entries[i].turn_id;
    }
    return ahead ? ahead : page->entries[i].turn_id;
}

static ramet_status messages_write(request *q, writing *x)
{
    ramet_page page;
    ramet_status st = messages_read(q->call, &x->task, &x->at, PAGE, &page);
    if (st != RAMET_OK)
        return st;
    const char *ahead = NULL;
    if (x->view.stamp && page.n && !a2a_invocation(q->arena, &page.entries[page.n - 1]))
        ahead = stamp_after(q->call, &x->task, x->at);
    for (size_t i = 0; i < page.n; i++) {
        if (x->skip)
            x->skip--;
        else if (a2a_message_shown(&x->view, &page.entries[i]))
            a2a_message_write(&q->writer, &x->view, &page.entries[i],
                              x->view.stamp ? stamp_of(q->arena, &page, i, ahead) : NULL);
    }
    return RAMET_OK;
}

/* ------------------------------------------------------------------ the artifact */

/* Called after the last message. */
static ramet_status messages_end(request *q, writing *x)
{
    a2a_task now = x->task;
    ramet_status st = a2a_task_reload(q->call, &now);
    if (st != RAMET_OK)
        return st;
    if (x->in.history != 0)
        jw_end_array(&q->writer);
    x->at = first_spot(&x->task);
    x->answers = false;
    x->metadata = NULL;
    x->phase = TASK_CLOSE;
    if (x->in.artifacts == A2A_ARTIFACTS_ANSWER && !now.artifacts && !now.inherited && !now.running)
        x->phase = TASK_ARTIFACT;
    return RAMET_OK;
}

static void artifacts_open(request *q, writing *x)
{
    jw_key(&q->writer, "artifacts");
    jw_array(&q->writer);
    x->answers = true;
}

static void artifact_open(request *q, writing *x)
{
    artifacts_open(q, x);
    jw_object(&q->writer);
    jw_kstr(&q->writer, "artifactId", "answer");
    jw_key(&q->writer, "parts");
    jw_array(&q->writer);
    jw_object(&q->writer);
    if (x->view.version == A2A_03)
        jw_kstr(&q->writer, "kind", "text");
    jw_key(&q->writer, "text");
    jw_text(&q->writer);
}

static void artifact_end(request *q, writing *x)
{
    x->phase = TASK_VALUES;
    x->at = first_spot(&x->task);
    if (!x->answers)
        return;
    jw_end_text(&q->writer);
    jw_end_object(&q->writer);
    jw_end_array(&q->writer);
    if (x->metadata)
        jw_kraw(&q->writer, "metadata", x->metadata);
    jw_end_object(&q->writer);
}

/* The same artifacts that a2a_artifacts_of() makes of a2a_answer_text() and the entries: first that
 * of the text. */
static ramet_status artifact_write(request *q, writing *x)
{
    ramet_page page;
    if (spot_over(&x->task, &x->at)) {
        artifact_end(q, x);
        return RAMET_OK;
    }
    ramet_status st = messages_read(q->call, &x->task, &x->at, PAGE, &page);
    for (size_t i = 0; st == RAMET_OK && i < page.n; i++) {
        const ramet_entry *e = &page.entries[i];
        if (e->role != RAMET_ASSISTANT || !*e->text || a2a_entry_asks(e))
            continue;
        if (x->answers)
            jw_text_add(&q->writer, "\n\n");
        else
            artifact_open(q, x);
        jw_text_add(&q->writer, e->text);
    }
    if (st == RAMET_OK)
        x->metadata = a2a_answer_metadata(x->own, x->metadata, page.entries, page.n);
    return st;
}

/* Then those of files and values. */
static ramet_status values_write(request *q, writing *x)
{
    ramet_page page;
    if (spot_over(&x->task, &x->at)) {
        if (x->answers)
            jw_end_array(&q->writer);
        x->phase = TASK_CLOSE;
        return RAMET_OK;
    }
    ramet_status st = messages_read(q->call, &x->task, &x->at, PAGE, &page);
    for (size_t i = 0; st == RAMET_OK && i < page.n; i++) {
        if (!a2a_entry_is_value(&page.entries[i]))
            continue;
        if (!x->answers)
            artifacts_open(q, x);
        arena *a = arena_new(); /* a file may be large */
        a2a_value_artifact_write(a, &q->writer, &x->view, &page.entries[i]);
        arena_free(a);
    }
    return st;
}

/* ------------------------------------------------------------------ tasks */

static ramet_status task_open(request *q, writing *x, const a2a_task *t)
{
    int64_t max = x->in.history;
    x->task = a2a_task_keep(x->own, t);
    x->view = x->in.view;
    x->view.session = x->task.session;
    x->view.task = x->task.id;
    x->at = first_spot(t);
    x->skip = max >= 0 && (uint64_t)max < t->n ? t->n - (size_t)max : 0;
    a2a_task now = *t;
    ramet_status st = a2a_task_reload(q->call, &now);
    if (st != RAMET_OK)
        return st;
    a2a_task_open(q->arena, &q->writer, &x->view, &now);
    x->phase = TASK_MESSAGES;
    if (max == 0)
        return messages_end(q, x);
    jw_key(&q->writer, "history");
    jw_array(&q->writer);
    while (!spot_over(&x->task, &x->at) && x->skip >= x->task.spans[x->at.span].n) {
        x->skip -= x->task.spans[x->at.span].n;
        next_span(&x->task, &x->at);
    }
    return RAMET_OK;
}

static ramet_status task_close(request *q, writing *x)
{
    a2a_task now = x->task;
    ramet_status st = a2a_task_reload(q->call, &now);
    if (st != RAMET_OK)
        return st;
    if (x->in.artifacts == A2A_ARTIFACTS_NONE || x->answers)
        now.artifacts = NULL;
    a2a_task_close(q->arena, &q->writer, &x->view, &now);
    x->phase = TASK_NEXT;
    return RAMET_OK;
}

/* Writes a task whose messages are in memory, or that has none. */
static void task_write(request *q, writing *x, const a2a_task *t)
{
    a2a_task now = *t;
    if (x->in.artifacts == A2A_ARTIFACTS_NONE)
        now.artifacts = NULL;
    else if (x->in.artifacts == A2A_ARTIFACTS_ANSWER && !t->artifacts && !t->inherited &&
             !t->running)
        now.artifacts = a2a_artifacts_of(q->arena, a2a_answer_text(q->arena, t), t->history, t->n);
    a2a_task_write(q->arena, &q->writer, &x->in.view, &now, x->in.history);
}

static request_piece task_failed(request *q, const writing *x, ramet_status st)
{
    x->in.fail(q, x->in.arg, st);
    return PIECE_FAILED;
}

/* Writes the next task, and following ones that are in memory. */
static request_piece tasks_next(request *q, writing *x)
{
    const a2a_task *t;
    do {
        if (!x->in.next(q, x->in.arg, &t))
            return PIECE_FAILED;
        if (!t) {
            x->in.end(q, x->in.arg);
            return PIECE_LAST;
        }
        if (t->kept || (t->n && !t->history)) {
            ramet_status st = task_open(q, x, t);
            return st == RAMET_OK ? PIECE_MORE : task_failed(q, x, st);
        }
        task_write(q, x, t);
    } while (x->in.keep && !x->kept && q->out.n < PIECE_BYTES && !q->out.over);
    return PIECE_MORE;
}

static request_piece tasks_run(request *q, writing *x)
{
    ramet_status st = RAMET_OK;
    if (x->phase == TASK_NEXT)
        return tasks_next(q, x);
    if (x->in.allowed && !x->in.allowed(q, x->in.arg, &x->task))
        return task_failed(q, x, RAMET_SESSION_NOT_FOUND);
    switch (x->phase) {
    case TASK_MESSAGES:
        st = spot_over(&x->task, &x->at) ? messages_end(q, x) : messages_write(q, x);
        break;
    case TASK_ARTIFACT:
        st = artifact_write(q, x);
        break;
    case TASK_VALUES:
        st = values_write(q, x);
        break;
    case TASK_CLOSE:
        st = task_close(q, x);
        break;
    case TASK_NEXT:
        break;
    }
    return st == RAMET_OK ? PIECE_MORE : task_failed(q, x, st);
}

static request_piece tasks_step(request *q, void *state)
{
    writing *x = state;
    request_piece st = tasks_run(q, x);
    if (st == PIECE_MORE && !x->kept && x->in.keep)
        x->in.keep(x->own, x->in.arg);
    x->kept = true;
    return st;
}

void a2a_tasks_answer(request *q, const a2a_answer *in)
{
    writing *x = arena_alloc(q->arena, sizeof *x);
    *x = (writing){.in = *in, .own = q->arena};
    face_pieces(q, tasks_step, x);
}
