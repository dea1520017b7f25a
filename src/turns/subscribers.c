/* SPDX-License-Identifier: Apache-2.0
 *
 * subscribers.c: who listens to a run: the requests that asked for it or joined it, and everyone
 * who watches its session.
 *
 * A listener is one request, which may wait for several runs (a fan-out). It gets the events as
 * they come, or JSON when all of them are over. For one that is slow, words wait in the run and are
 * told as one later on; the run does not notice. Entries are told at once: one that does not take
 * them either is dropped by its stream.
 */
#include "turns/turns_internal.h"

#include "form/native.h"
#include "live/event_text.h"
#include "http/stream.h"

#include <stdlib.h>
#include <string.h>

#define ANSWER_BYTES ((size_t)256 << 20)

struct listener {
    pthread_mutex_t lock;
    body_stream *out;
    bool sse, gone;
    turn_listener hear; /* its event() NULL: it is told the events as they are */
    bool over;          /* it has heard all that it wants */
    size_t hold;        /* past so many bytes that it has not taken, words are held */
    char *group;        /* NULL: it waits for one run */
    size_t n, left;
    char **results; /* JSON of each run that is over, when it does not listen to events */
};

/* ------------------------------------------------------------------ listeners */

static bool wants_events(request *q)
{
    const char *accept = q->header ? q->header(q, "Accept") : NULL;
    return (q->route->flags & ROUTE_ALWAYS_STREAMS) ||
           (accept && strstr(accept, "text/event-stream"));
}

listener *listener_new(turns *t, request *q, size_t n, const char *group)
{
    listener *l = xcalloc(1, sizeof *l);
    pthread_mutex_init(&l->lock, NULL);
    l->sse = q->hear || wants_events(q);
    if (q->hear)
        l->hear = *q->hear;
    q->hear = NULL;
    l->group = xstrdup(group);
    l->n = l->left = n;
    l->results = xcalloc(n, sizeof *l->results);
    buf_clear(&q->out);
    q->status = 200;
    q->type = l->hear.event ? l->hear.type : l->sse ? "text/event-stream" : "application/json";
    request_add_header(q, "X-Accel-Buffering", "no");
    l->hold = (size_t)t->cfg->stream_bytes / 2;
    l->out = body_stream_new(q, l->sse && !l->hear.whole
                                    ? (size_t)(t->cfg->stream_bytes + 4 * t->cfg->answer_max)
                                    : ANSWER_BYTES);
    return l;
}

static void listener_put(listener *l, shared_buf *bytes)
{
    pthread_mutex_lock(&l->lock);
    l->gone = l->gone || !body_stream_share(l->out, bytes);
    pthread_mutex_unlock(&l->lock);
}

static void listener_add(listener *l, const char *bytes, size_t n)
{
    shared_buf *b = shared_buf_new(bytes, n);
    listener_put(l, b);
    shared_buf_drop(b);
}

void listener_tell(listener *l, const char *event, const char *json, size_t n)
{
    buf line;
    if (!l->sse || l->over)
        return;
    buf_init(&line, ANSWER_BYTES);
    if (l->hear.event)
        l->over = !l->hear.event(l->hear.arg, event, json, n, &line);
    else
        live_text_line(&line, event, json, n);
    if (!line.over && line.n)
        listener_add(l, line.p, line.n);
    buf_release(&line);
}

/* The same, with the line of an event that all listeners share. */
static void listener_line(listener *l, const char *event, const run *r, shared_buf *line)
{
    if (l->hear.event)
        listener_tell(l, event, r->json.p, r->json.n);
    else
        listener_put(l, line);
}

/* The event in r->json as such a line. NULL: nobody listens. */
static shared_buf *line_make(run *r, const char *event)
{
    if (!r->ears)
        return NULL;
    buf_clear(&r->line);
    live_text_line(&r->line, event, r->json.p, r->json.n);
    return shared_buf_new(r->line.p, r->line.n);
}

static void listener_json(listener *l)
{
    buf out;
    json_writer w;
    buf_init(&out, ANSWER_BYTES);
    jw_init(&w, &out, 0);
    if (l->group) {
        jw_object(&w);
        jw_kstr(&w, "group", l->group);
        jw_key(&w, "turns");
        jw_array(&w);
    }
    for (size_t i = 0; i < l->n; i++)
        jw_raw(&w, l->results[i]);
    if (l->group) {
        jw_end_array(&w);
        jw_end_object(&w);
    }
    if (!out.over)
        body_stream_add(l->out, out.p, out.n);
    buf_release(&out);
}

void listener_done(listener *l, size_t index, const char *json, size_t n)
{
    pthread_mutex_lock(&l->lock);
    if (!l->sse) {
        l->results[index] = xmalloc(n + 1);
        memcpy(l->results[index], json, n);
        l->results[index][n] = 0;
    }
    bool last = --l->left == 0;
    pthread_mutex_unlock(&l->lock);
    if (!last)
        return;
    if (!l->sse)
        listener_json(l);
    body_stream_end(l->out);
    if (l->hear.release)
        l->hear.release(l->hear.arg);
    for (size_t i = 0; i < l->n; i++)
        free(l->results[i]);
    free(l->results);
    free(l->group);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ------------------------------------------------------------------ telling */

json_writer tell_begin(run *r, const char *event)
{
    json_writer w;
    buf_clear(&r->json);
    jw_init(&w, &r->json, 0);
    jw_object(&w);
    jw_kstr(&w, "type", event);
    jw_kstr(&w, "session_id", r->session);
    jw_kstr(&w, "tree_id", r->tree);
    jw_kstr(&w, "turn_id", r->id);
    native_kbranch(&w, "branch_id", r->branch);
    return w;
}

/* What is in r->json, to everyone who watches the session. */
static void tell_watchers(run *r, const char *event)
{
    turns *t = r->t;
    if (t->nodes && !r->far)
        nodes_line(t->nodes, r, event);
    else
        live_publish(t->live, r->far ? r->after : -1, r->session, r->tree, event, r->json.p,
                     r->json.n);
}

/* Those who have heard enough go. */
static void ears_sweep(run *r)
{
    for (ear **at = &r->ears; *at;) {
        ear *e = *at;
        if (!e->who->over) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        listener_done(e->who, e->index, "", 0);
        free(e);
    }
}

void tell_end(run *r, json_writer *w, const char *event, bool to_watchers)
{
    jw_end_object(w);
    r->told = time_mono_us();
    if (r->json.over)
        return;
    shared_buf *line = line_make(r, event);
    for (ear *e = r->ears; e; e = e->next)
        if (e->who->sse)
            listener_line(e->who, event, r, line);
    shared_buf_drop(line);
    if (to_watchers)
        tell_watchers(r, event);
    ears_sweep(r);
}

/* ---- words */

/* Characters of the answer's text from a place in the parts on. */
static int64_t chars_from(const run *r, size_t part, size_t byte)
{
    int64_t n = 0;
    for (size_t i = part; i < r->parts.n; i++, byte = 0)
        if (!r->parts.items[i].thinking)
            n += (int64_t)utf8_count(r->parts.items[i].text.p + byte);
    return n;
}

static void ear_up_to_date(const run *r, ear *e)
{
    e->part = r->parts.n ? r->parts.n - 1 : 0;
    e->byte = r->parts.n ? r->parts.items[e->part].text.n : 0;
    e->held = false;
}

/* All words that it was not told yet, an event a part. */
static void ear_catch_up(run *r, ear *e)
{
    for (; e->part < r->parts.n; e->part++, e->byte = 0) {
        const run_part *p = &r->parts.items[e->part];
        const char *event = p->thinking ? "turn.thinking" : "turn.delta";
        if (e->byte == p->text.n)
            continue;
        json_writer w = tell_begin(r, event);
        if (!p->thinking)
            jw_kint(&w, "offset", r->chars - chars_from(r, e->part, e->byte));
        jw_kstr(&w, "text", p->text.p + e->byte);
        jw_end_object(&w);
        listener_tell(e->who, event, r->json.p, r->json.n);
    }
    ear_up_to_date(r, e);
}

static bool ear_behind(const ear *e, size_t most)
{
    return body_stream_behind(e->who->out) > most;
}

void tell_held(run *r)
{
    for (ear *e = r->ears; e; e = e->next)
        if (e->held && !ear_behind(e, e->who->hold / 2))
            ear_catch_up(r, e);
}

void tell_words(run *r, json_writer *w, const char *event)
{
    bool held = false;
    jw_end_object(w);
    r->told = time_mono_us();
    shared_buf *line = line_make(r, event);
    tell_watchers(r, event);
    for (ear *e = r->ears; e; e = e->next) {
        if (!e->who->sse)
            continue;
        e->held = e->held || ear_behind(e, e->who->hold);
        held |= e->held;
        if (e->held)
            continue;
        listener_line(e->who, event, r, line);
        ear_up_to_date(r, e);
    }
    shared_buf_drop(line);
    if (held)
        tell_held(r);
}

/* Who was left behind has the text in the entry that follows. */
void tell_parts_over(run *r)
{
    tell_held(r);
    for (ear *e = r->ears; e; e = e->next) {
        e->part = e->byte = 0;
        e->held = false;
    }
}

void tell_entries(run *r, const ramet_append_out *out)
{
    if (out->n && !r->far)
        r->upto = out->entries[out->n - 1].position + 1;
    for (size_t i = 0; i < out->n; i++) {
        json_writer w = tell_begin(r, "entry.appended");
        jw_key(&w, "entry");
        size_t start = r->json.n;
        native_entry(&w, &out->entries[i]);
        if (!r->json.over) {
            if (r->entries.n)
                buf_putc(&r->entries, ',');
            buf_add(&r->entries, r->json.p + start, r->json.n - start);
            VEC_PUSH(r->mem, &r->ends, r->entries.n);
        }
        tell_end(r, &w, "entry.appended", false); /* watchers have it from the store */
    }
}

void tell_sign_of_life(run *r)
{
    for (ear *e = r->ears; e; e = e->next) {
        const listener *l = e->who;
        const char *sign = l->sse && !l->hear.whole ? ": \n\n" : " ";
        listener_add(e->who, sign, strlen(sign));
    }
    r->told = time_mono_us();
}

static void result_write(const run *r, const char *error, buf *out)
{
    json_writer w;
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "session_id", r->session);
    jw_kstr(&w, "turn_id", r->id);
    jw_kstr(&w, "status", ramet_turn_status_name(r->status));
    if (*error)
        jw_kstr(&w, "error", error);
    jw_key(&w, "entries");
    jw_array(&w);
    if (r->entries.n)
        jw_raw(&w, r->entries.p);
    jw_end_array(&w);
    jw_end_object(&w);
}

/* Nobody listens any more. */
static void ears_end(run *r, const char *error)
{
    buf result;
    buf_init(&result, ANSWER_BYTES);
    result_write(r, error, &result);
    while (r->ears) {
        ear *e = r->ears;
        r->ears = e->next;
        listener_done(e->who, e->index, result.p, result.n);
        free(e);
    }
    buf_release(&result);
}

/* Who joins one that is over is told alone. */
void tell_over(run *r, const char *error)
{
    json_writer w = tell_begin(r, "turn.done");
    jw_kstr(&w, "status", ramet_turn_status_name(r->status));
    if (*error)
        jw_kstr(&w, "error", error);
    tell_end(r, &w, "turn.done", !r->past && !r->done_told);
    if (!r->done_told)
        far_say_over(r, error);
    r->done_told = true;
    ears_end(r, error);
}

void tell_leave(run *r)
{
    r->status = RAMET_TURN_RUNNING;
    ears_end(r, "this server was stopped; the turn goes on on another one");
}

/* ------------------------------------------------------------------ joining */

static void catch_up_entries(run *r, listener *l)
{
    size_t from = 0;
    for (size_t i = 0; i < r->ends.n; i++) {
        json_writer w = tell_begin(r, "entry.appended");
        const char *one = r->entries.p + from;
        size_t n = r->ends.items[i] - from;
        jw_key(&w, "entry");
        char *text = xmalloc(n + 1);
        memcpy(text, one, n);
        text[n] = 0;
        jw_raw(&w, text);
        free(text);
        jw_end_object(&w);
        listener_tell(l, "entry.appended", r->json.p, r->json.n);
        from = r->ends.items[i] + 1;
    }
}

static void catch_up_value(run *r, listener *l, const char *event, const char *key,
                           const char *json)
{
    if (!json)
        return;
    json_writer w = tell_begin(r, event);
    jw_kraw(&w, key, json);
    jw_end_object(&w);
    listener_tell(l, event, r->json.p, r->json.n);
}

bool run_leave(run *r, const listener *l)
{
    bool found = false;
    pthread_mutex_lock(&r->lock);
    for (ear *e = r->ears; e; e = e->next)
        if (e->who == l)
            found = e->who->over = true;
    ears_sweep(r);
    pthread_mutex_unlock(&r->lock);
    return found;
}

void run_join(run *r, listener *l, size_t index)
{
    if (l->sse) {
        json_writer w = tell_begin(r, "turn.started");
        jw_kstr(&w, "agent", r->agent);
        if (r->group)
            jw_kstr(&w, "group", r->group);
        jw_end_object(&w);
        listener_tell(l, "turn.started", r->json.p, r->json.n);
        catch_up_entries(r, l);
        catch_up_value(r, l, "turn.plan", "plan", r->plan);
    }
    ear *e = xcalloc(1, sizeof *e);
    e->who = l;
    e->index = index;
    e->next = r->ears;
    r->ears = e;
    if (l->sse) {
        ear_catch_up(r, e);
        catch_up_value(r, l, "turn.question", "question", r->question);
    }
    if (l->hear.event && !r->over)
        listener_tell(l, "turn.joined", "{}", 2);
    ears_sweep(r);
    if (r->over)
        tell_over(r, r->error);
}

/* ------------------------------------------------------------------ running */

static void running_text(const run *r, bool thinking, json_writer *w)
{
    buf text;
    buf_init(&text, ANSWER_BYTES);
    for (size_t i = 0; i < r->parts.n; i++)
        if (r->parts.items[i].thinking == thinking)
            buf_add(&text, r->parts.items[i].text.p, r->parts.items[i].text.n);
    jw_strn(w, text.p, text.n);
    buf_release(&text);
}

static void running_write(const run *r, json_writer *w)
{
    jw_object(w);
    jw_kstr(w, "turn_id", r->id);
    native_kbranch(w, "branch_id", r->branch);
    jw_kstr(w, "entry_id", r->entry_id);
    jw_key(w, "text");
    running_text(r, false, w);
    jw_kint(w, "offset", r->begin);
    jw_key(w, "thinking");
    running_text(r, true, w);
    jw_kstr(w, "agent", r->agent);
    jw_kraw(w, "question", r->question);
    jw_kraw(w, "plan", r->plan);
    jw_end_object(w);
}

/* The one on the head, else one that was let go on on another branch. */
static run *running_find(turns *t, const ramet_session *s)
{
    run *found = NULL;
    pthread_mutex_lock(&t->lock);
    for (run *r = t->runs; r; r = r->next)
        if (r->begun && (!found || r->branch == s->head.branch) && strcmp(r->session, s->id) == 0)
            found = r;
    if (found)
        atomic_fetch_add(&found->owners, 1);
    pthread_mutex_unlock(&t->lock);
    return found;
}

void turns_running(turns *t, const ramet_session *s, json_writer *w)
{
    run *r = running_find(t, s);
    if (!r) {
        jw_null(w);
        return;
    }
    pthread_mutex_lock(&r->lock);
    if (r->over)
        jw_null(w);
    else
        running_write(r, w);
    pthread_mutex_unlock(&r->lock);
    run_put(r);
}
