/* SPDX-License-Identifier: Apache-2.0
 *
 * run.c: one run: passes the history to the agent, receives its output, and records it.
 *
 * Output is kept in the run (`parts`) until a tool is called or the turn ends; then it becomes an
 * entry. A turn that is cut off keeps its output so far, and the last part of its last entry says
 * so.
 */
#include "turns/turns_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 1000, MAX_END_WAIT_S = 5 };

/* ------------------------------------------------------------------ entries */

void run_pending_clear(run *r)
{
    publish_parts_recorded(r);
    for (size_t i = 0; i < r->parts.n; i++)
        buf_release(&r->parts.items[i].text);
    r->parts.n = 0;
    r->bytes_pending = 0;
    r->begin = r->chars;
    r->plan_is_new = false;
    free(r->data);
    r->data = NULL;
    *r->entry_next = 0;
}

/* ------------------------------------------------------------------ ending */

/* Caller holds the lock. False: the turn is closed. */
static bool writing_begin(run *r)
{
    while (r->writing)
        pthread_cond_wait(&r->wake, &r->lock);
    r->writing = !run_is_closed(r);
    return r->writing;
}

static void writing_end(run *r)
{
    r->writing = false;
    pthread_cond_broadcast(&r->wake);
}

/* Caller holds the lock. Waits are bounded, because the store may not accept writes. */
static void over_wait(run *r)
{
    struct timespec until = time_after(MAX_END_WAIT_S * INT64_C(1000000));
    while (!run_is_over(r) && pthread_cond_timedwait(&r->wake, &r->lock, &until) == 0)
        continue;
}

static void error_set(run *r, const char *error)
{
    snprintf(r->error, sizeof r->error, "%s", error ? error : "");
    utf8_trim(r->error);
}

/* Nothing was appended because another process has ended the turn: reads how. */
static void end_learn(run *r, ramet_call *c)
{
    ramet_turn *turn;
    if (ramet_turn_get(c, r->session, r->id, &turn) != RAMET_OK)
        return;
    r->status = turn->status;
    error_set(r, turn->error);
}

/* The turn must end, whatever happens to its output: an entry that the store refuses is left out.
 */
static ramet_status end_write(run *r, ramet_call *c, ramet_append_out *out)
{
    ramet_prompt_in prompt;
    if (r->is_unrecorded)
        return unrecorded_append(r, &r->last, r->n_last, out);
    bool keep = run_prompt_keep(r, c, &prompt);
    ramet_status st = ramet_turn_end(c, r->id, r->status, r->error, &r->last, r->n_last, out);
    if (st == RAMET_OK && r->n_last && !out->n)
        end_learn(r, c);
    if (st == RAMET_OK || ramet_status_http(st) == 503)
        return st;
    if (st != RAMET_SESSION_NOT_FOUND && r->status == RAMET_TURN_DONE) {
        r->status = RAMET_TURN_FAILED;
        error_set(r, ramet_call_error(c)->message);
    }
    if (keep)
        ramet_call_prompt(c, &prompt);
    return ramet_turn_end(c, r->id, r->status, r->error, NULL, 0, out);
}

/* Of a run whose end the store has answered so: what is refused for good is not tried again. */
static run_state state_after_write(ramet_status st)
{
    return st != RAMET_OK && ramet_status_http(st) == 503 ? RUN_UNSAVED : RUN_OVER;
}

/* With the lock: the turn has ended, or is published as over although the store takes no writes. */
static void run_over(run *r, ramet_status st, const char *why, const ramet_append_out *out)
{
    ramet_turn_status status = r->status;
    run_pending_clear(r);
    run_move(r, state_after_write(st));
    r->ended_us = out->ended;
    publish_entries(r, out);
    if (st != RAMET_OK) {
        r->status = RAMET_TURN_FAILED;
        publish_ended(r, why);
    } else {
        publish_ended(r, r->error);
    }
    r->status = status;
    writing_end(r);
}

bool run_close(run *r, ramet_turn_status status, const char *error)
{
    ramet_append_out out = {0};
    pthread_mutex_lock(&r->lock);
    bool mine = writing_begin(r);
    if (!mine) {
        over_wait(r);
        pthread_mutex_unlock(&r->lock);
        return false;
    }
    run_move(r, RUN_CLOSING);
    r->status = status;
    error_set(r, error);
    r->n_last = run_entry_last(r, r->mem, &r->last);
    pthread_mutex_unlock(&r->lock);

    nodes_settle(r->turns->nodes);
    ramet_call *c = ramet_call_new(r->turns->store, NULL, NULL);
    ramet_status st = end_write(r, c, &out);
    const char *why = ramet_call_error(c)->message;
    if (st != RAMET_OK)
        log_line(LOG_ERROR, "the end of a turn cannot be recorded", "turn", r->id, "error", why,
                 NULL);
    pthread_mutex_lock(&r->lock);
    run_over(r, st, why, &out);
    bool unsaved = r->state == RUN_UNSAVED;
    pthread_mutex_unlock(&r->lock);
    if (!unsaved)
        run_remove(r);
    ramet_call_free(c);
    return true;
}

bool run_save(run *r)
{
    ramet_append_out out;
    pthread_mutex_lock(&r->lock);
    bool mine = r->state == RUN_UNSAVED;
    if (mine)
        run_move(r, RUN_SAVING);
    pthread_mutex_unlock(&r->lock);
    if (!mine)
        return true;
    ramet_call *c = ramet_call_new(r->turns->store, NULL, NULL);
    ramet_status st = end_write(r, c, &out);
    ramet_call_free(c);
    pthread_mutex_lock(&r->lock);
    run_move(r, state_after_write(st));
    bool saved = r->state == RUN_OVER;
    pthread_mutex_unlock(&r->lock);
    if (saved)
        run_remove(r);
    return saved;
}

/* ------------------------------------------------------------------ the sink */

typedef struct session_sink {
    run *run;
    ramet_call *call; /* for reads and writes during the turn */
    char *answer;     /* to the last question */
    char *decision;   /* … */
    char *format, *body;
    bool early;   /* the agent started before we know whether the turn begins */
    bool decided; /* … which we know now */
} session_sink;

static void fate_wait(run *r)
{
    while (sem_wait(&r->decided) != 0)
        ; /* interrupted by a signal */
}

/* Blocks the output of an agent that was started early. False: it was started for nothing. */
static bool sink_stands(session_sink *s)
{
    run *r = s->run;
    if (!s->early)
        return true;
    if (!s->decided)
        fate_wait(r);
    s->decided = true;
    return r->fate == FATE_RUN && r->branch == r->prefetch_branch && r->n_message == r->n_early &&
           r->length == r->prefetch_length + (int64_t)r->n_message;
}

static const char *text_clean(arena *a, const char *s, size_t *n)
{
    if (utf8_valid(s, *n) && !memchr(s, 0, *n))
        return s;
    char *out = arena_alloc(a, 3 * *n + 1), *p = out;
    for (size_t i = 0; i < *n;) {
        uint32_t cp;
        size_t len = s[i] ? utf8_next(s + i, *n - i, &cp) : 0;
        memcpy(p, len ? s + i : "\xEF\xBF\xBD", len ? len : 3);
        p += len ? len : 3;
        i += len ? len : 1;
    }
    *n = (size_t)(p - out);
    return out;
}

void run_delta_add(run *r, bool is_thinking, const char *text, size_t n)
{
    if (!r->parts.n || r->parts.items[r->parts.n - 1].is_thinking != is_thinking) {
        run_part part = {.is_thinking = is_thinking};
        if (r->request && !r->parts.n)
            uuid7(time_now_us(), r->entry_next);
        buf_init(&part.text, (size_t)r->turns->cfg->answer_max);
        VEC_PUSH(r->mem, &r->parts, part);
    }
    buf *to = &r->parts.items[r->parts.n - 1].text;
    size_t from = to->n;
    buf_add(to, text, n);
    r->bytes_pending += n;
    r->said += (int64_t)n;
    if (!is_thinking)
        r->chars += (int64_t)utf8_count(to->data + from);
    r->last_output_us = time_mono_us();
}

void run_delta(run *r, bool is_thinking, const char *text, size_t n)
{
    int64_t offset = r->chars;
    run_delta_add(r, is_thinking, text, n);
    publish_delta(r, is_thinking, text, n, offset);
    remote_send_delta(r, is_thinking, text, n);
}

static bool sink_take_delta(session_sink *s, bool is_thinking, const char *text, size_t n)
{
    run *r = s->run;
    arena *a = NULL;
    if (!sink_stands(s))
        return false;
    if (!n)
        return !run_is_closed(r);
    if (!utf8_valid(text, n) || memchr(text, 0, n))
        text = text_clean(a = arena_new(), text, &n);
    pthread_mutex_lock(&r->lock);
    bool room = n <= (size_t)r->turns->cfg->answer_max - r->bytes_pending, open = !run_is_closed(r);
    if (open && room)
        run_delta(r, is_thinking, text, n);
    pthread_mutex_unlock(&r->lock);
    if (a)
        arena_free(a);
    if (open && !room)
        run_close(r, RAMET_TURN_FAILED, "the answer is over the limit of this server (answer-max)");
    return open && room;
}

static bool sink_delta(void *arg, const char *text, size_t n)
{
    return sink_take_delta(arg, false, text, n);
}

static bool sink_thinking(void *arg, const char *text, size_t n)
{
    return sink_take_delta(arg, true, text, n);
}

/* `without`: text at the end of the pending output that the entry has instead; NULL: none. */
static ramet_status entry_append(run *r, ramet_call *c, const ramet_entry_in *entry,
                                 const char *without)
{
    ramet_entry_in entries[2];
    ramet_append_out out;
    pthread_mutex_lock(&r->lock);
    r->last_output_us = time_mono_us();
    if (!writing_begin(r)) {
        pthread_mutex_unlock(&r->lock);
        return RAMET_TURN_OVER;
    }
    if (without && !run_pending_ends(r, without)) { /* it had to be cleaned */
        writing_end(r);
        pthread_mutex_unlock(&r->lock);
        return RAMET_OK;
    }
    arena *a = arena_new();
    size_t n = run_entry_pending(r, a, without, &entries[0]);
    entries[n] = *entry;
    if (without && !n && *r->entry_next) /* its deltas were published with this id */
        entries[n].id = arena_strdup(a, r->entry_next);
    n++;
    pthread_mutex_unlock(&r->lock);
    nodes_settle(r->turns->nodes);
    ramet_prompt_in prompt;
    run_prompt_keep(r, c, &prompt);
    ramet_status st = r->is_unrecorded ? unrecorded_append(r, entries, n, &out)
                                       : ramet_turn_append(c, r->id, entries, n, &out);
    arena_free(a);
    pthread_mutex_lock(&r->lock);
    if (st == RAMET_OK) {
        run_pending_clear(r);
        r->recorded = true;
        r->recorded_length = out.head.length;
        r->prompt.is_new = false;
        publish_entries(r, &out);
        remote_send_appended(r);
    }
    r->last_output_us = time_mono_us();
    writing_end(r);
    pthread_mutex_unlock(&r->lock);
    return st;
}

ramet_status run_entry_append(run *r, ramet_call *c, const ramet_entry_in *entry)
{
    return entry_append(r, c, entry, NULL);
}

/* Records pending output and one more entry. If that fails, so does the turn. */
static bool record(session_sink *s, const ramet_entry_in *entry, const char *without)
{
    run *r = s->run;
    if (!sink_stands(s))
        return false;
    ramet_status st = entry_append(r, s->call, entry, without);
    if (st != RAMET_OK && !run_is_closed(r))
        run_close(r, RAMET_TURN_FAILED, ramet_call_error(s->call)->message);
    ramet_call_reset(s->call);
    return st == RAMET_OK;
}

/* A value that is not JSON is kept as a string. */
static void kvalue(json_writer *w, arena *a, const char *key, const char *json)
{
    json_doc d;
    size_t n = json ? strlen(json) : 0;
    if (json && json_parse(a, json, n, 0, &d, NULL))
        jw_kraw(w, key, json);
    else
        jw_kstr(w, key, json ? text_clean(a, json, &n) : "");
}

/* Frees the arena. */
static bool entry_record(session_sink *s, ramet_entry_in *e, arena *a)
{
    e->author = s->run->agent_name;
    bool on = record(s, e, NULL);
    arena_free(a);
    return on;
}

static bool sink_message(void *arg, const agent_message *m)
{
    session_sink *s = arg;
    ramet_entry_in e = {.id = m->id,
                        .role = RAMET_ASSISTANT,
                        .parts = m->parts,
                        .format = m->format,
                        .body = m->body,
                        .author = s->run->agent_name,
                        .usage = m->usage};
    return record(s, &e, m->text);
}

static bool sink_tool_call(void *arg, const char *id, const char *name, const char *input)
{
    parts_text p;
    arena *a = arena_new();
    parts_begin(&p, a);
    json_writer *w = part_begin(&p, "tool_call");
    jw_kstr(w, "id", id);
    jw_kstr(w, "name", name);
    kvalue(w, a, "input", input);
    jw_end_object(w);
    ramet_entry_in e = {.role = RAMET_ASSISTANT, .parts = parts_end(&p)};
    return entry_record(arg, &e, a);
}

static bool sink_tool_result(void *arg, const char *id, const char *output, bool is_error)
{
    parts_text p;
    arena *a = arena_new();
    parts_begin(&p, a);
    json_writer *w = part_begin(&p, "tool_result");
    jw_kstr(w, "id", id);
    kvalue(w, a, "output", output);
    if (is_error)
        jw_kbool(w, "is_error", true);
    jw_end_object(w);
    ramet_entry_in e = {.role = RAMET_TOOL, .parts = parts_end(&p)};
    return entry_record(arg, &e, a);
}

void run_question_set(run *r, const turn_question *q)
{
    free((char *)r->question.id);
    free((char *)r->question.kind);
    free((char *)r->question.text);
    free((char *)r->question.options);
    free((char *)r->question.request);
    free((char *)r->question.metadata);
    r->question = (turn_question){0};
    r->is_answered = false;
    if (q)
        r->question = (turn_question){.id = xstrdup(q->id),
                                      .kind = xstrdup(q->kind),
                                      .text = xstrdup(q->text),
                                      .options = xstrdup(q->options),
                                      .request = xstrdup(q->request),
                                      .metadata = xstrdup(q->metadata),
                                      .asked_us = q->asked_us};
}

/* Records the question as an entry, then opens it. An answer may come as soon as the entry can be
 * read, so it is known by then. */
static bool question_open(session_sink *s, const turn_question *q)
{
    run *r = s->run;
    arena *a = arena_new();
    ramet_entry_in e = {.id = q->id,
                        .role = RAMET_ASSISTANT,
                        .author = r->agent_name,
                        .parts = turn_question_parts(a, q)};
    pthread_mutex_lock(&r->lock);
    run_question_set(r, q);
    r->asked = time_mono_us();
    pthread_mutex_unlock(&r->lock);
    bool on = record(s, &e, NULL);
    arena_free(a);
    pthread_mutex_lock(&r->lock);
    if (on && !r->answer && !run_is_closed(r)) {
        r->question.asked_us = r->entries.items[r->entries.n - 1].created;
        publish_question(r);
        remote_send_question(r);
    }
    pthread_mutex_unlock(&r->lock);
    return on;
}

static void question_close(run *r)
{
    run_question_set(r, NULL);
    remote_send_question(r);
    r->last_output_us = time_mono_us();
    r->waited += r->last_output_us - r->asked;
    r->asked = 0;
}

static void answer_forget(session_sink *s)
{
    free(s->answer);
    free(s->decision);
    free(s->format);
    free(s->body);
    s->answer = s->decision = s->format = s->body = NULL;
}

static bool sink_ask(void *arg, const agent_question *q, agent_reply *answer)
{
    session_sink *s = arg;
    run *r = s->run;
    if (!sink_stands(s))
        return false;
    answer_forget(s);
    bool on = question_open(s, &(turn_question){.id = q->id,
                                                .kind = q->kind,
                                                .text = q->text,
                                                .options = q->options,
                                                .request = q->request,
                                                .metadata = q->metadata});
    pthread_mutex_lock(&r->lock);
    while (on && !r->answer && !run_is_closed(r))
        pthread_cond_wait(&r->wake, &r->lock);
    question_close(r);
    s->answer = r->answer;
    s->decision = r->decision;
    s->format = r->answer_format;
    s->body = r->answer_body;
    r->answer = r->decision = r->answer_format = r->answer_body = NULL;
    on = !run_is_closed(r) && s->answer;
    pthread_mutex_unlock(&r->lock);
    *answer = (agent_reply){s->answer, s->decision, s->format, s->body};
    return on;
}

static bool sink_plan(void *arg, const char *json)
{
    session_sink *s = arg;
    run *r = s->run;
    json_doc d;
    if (!sink_stands(s))
        return false;
    arena *a = arena_new();
    bool fine = json_parse(a, json, strlen(json), 0, &d, NULL);
    arena_free(a);
    pthread_mutex_lock(&r->lock);
    if (!run_is_closed(r) && fine) {
        free(r->plan);
        r->plan = xstrdup(json);
        r->plan_is_new = true;
        r->last_output_us = time_mono_us();
        publish_plan(r);
        remote_send_plan(r);
    }
    pthread_mutex_unlock(&r->lock);
    return !run_is_closed(r);
}

static bool sink_data(void *arg, const char *json)
{
    session_sink *s = arg;
    run *r = s->run;
    if (!sink_stands(s))
        return false;
    pthread_mutex_lock(&r->lock);
    if (!run_is_closed(r)) {
        free(r->data);
        r->data = xstrdup(json);
    }
    pthread_mutex_unlock(&r->lock);
    return !run_is_closed(r);
}

static bool sink_usage(void *arg, const ramet_usage *u)
{
    session_sink *s = arg;
    run *r = s->run;
    if (!sink_stands(s))
        return false;
    pthread_mutex_lock(&r->lock);
    r->usage = *u;
    r->has_usage = true;
    snprintf(r->currency, sizeof r->currency, "%s", u->currency ? u->currency : "");
    r->usage.currency = *r->currency ? r->currency : NULL;
    pthread_mutex_unlock(&r->lock);
    return !run_is_closed(r);
}

static bool sink_cancelled(void *arg)
{
    const run *r = ((session_sink *)arg)->run;
    return run_is_closed(r) || r->fate == FATE_NEVER;
}

static void sink_sent(void *arg, const agent_prompt *p)
{
    run_prompt_note(((session_sink *)arg)->run, p);
}

/* ------------------------------------------------------------------ the thread */

/* Whether an answer that is not the turn's follows its message. */
static bool answer_came(run *r, ramet_call *c)
{
    ramet_read_in in = {
        .limit = PAGE, .by_position = true, .position = r->length, .branch = r->branch};
    ramet_page page;
    if (ramet_read(c, r->session, &in, &page) != RAMET_OK)
        return false;
    for (size_t i = 0; i < page.n; i++) {
        const ramet_entry *e = &page.entries[i];
        if (e->role == RAMET_ASSISTANT && !(e->turn_id && strcmp(e->turn_id, r->id) == 0))
            return true;
    }
    return false;
}

/* An agent that writes to the session itself has recorded its answer: its deltas were for
 * subscribers only. */
static void answer_drop(run *r, ramet_call *c)
{
    if (!answer_came(r, c))
        return;
    pthread_mutex_lock(&r->lock);
    if (!run_is_closed(r)) {
        run_pending_clear(r);
        r->has_usage = false;
        r->recorded = true;
    }
    pthread_mutex_unlock(&r->lock);
}

static void answer_end(run *r, ramet_call *c, const agent_result *result)
{
    if (result->keeps && result->end == AGENT_DONE)
        answer_drop(r, c);
    if (result->end == AGENT_DONE)
        run_close(r, RAMET_TURN_DONE, NULL);
    else if (result->end == AGENT_FAILED)
        run_close(r, RAMET_TURN_FAILED, *result->message ? result->message : "the agent failed");
    else
        run_close(r, RAMET_TURN_CANCELLED, NULL);
}

/* Whether the user may refer to the file was checked when the message arrived. */
static bool turn_file(void *arg, const char *id, size_t max, agent_file *out)
{
    session_sink *s = arg;
    ramet_attachment *about, *opened;
    if (ramet_attachment_get(s->call, id, &about) != RAMET_OK)
        return false;
    *out = (agent_file){about->name, about->media_type, about->size, -1};
    if ((uint64_t)about->size <= max)
        ramet_attachment_open(s->call, id, &opened, &out->fd);
    return true;
}

/* False: the agent was started early, for nothing. */
static bool agent_answer(run *r, const run_history *h, bool early)
{
    session_sink s = {
        .run = r, .call = ramet_call_new(r->turns->store, NULL, NULL), .early = early};
    agent_result result = {.end = AGENT_DONE};
    agent_turn turn = {.turn_id = r->id,
                       .session_id = r->is_unrecorded ? NULL : r->session,
                       .branch = h->branch,
                       .overlay = h->overlay,
                       .history = h->entries.items,
                       .n = h->entries.n,
                       .cache_key = r->cache_key,
                       .session = r->settings,
                       .user = r->user,
                       .file = turn_file,
                       .file_arg = &s};
    agent_sink sink = {.delta = sink_delta,
                       .thinking = sink_thinking,
                       .tool_call = sink_tool_call,
                       .tool_result = sink_tool_result,
                       .ask = sink_ask,
                       .message = sink_message,
                       .plan = sink_plan,
                       .data = sink_data,
                       .usage = sink_usage,
                       .cancelled = sink_cancelled,
                       .sent = sink_sent,
                       .arg = &s};
    r->agent->kind->run(r->agent, &turn, &sink, &result);
    bool stands = sink_stands(&s);
    if (stands)
        answer_end(r, s.call, &result);
    answer_forget(&s);
    ramet_call_free(s.call);
    return stands;
}

/* Asks the agent while the message is being stored. True: its answer counts. The fate of the run is
 * known afterwards in either case. */
static bool run_ask_early(run *r, run_history *h)
{
    size_t n = h->entries.n;
    if (r->fate != FATE_OPEN || !r->n_early || !h->branch || h->position != r->prefetch_length) {
        fate_wait(r);
        return false;
    }
    for (size_t i = 0; i < r->n_early; i++)
        history_add(h, &r->early[i]);
    bool answered = agent_answer(r, h, true);
    h->entries.n = n;
    return answered;
}

static void run_agent(run *r, run_history *h)
{
    if (run_is_closed(r))
        return;
    if (!r->started) {
        pthread_mutex_lock(&r->lock);
        r->started = r->last_output_us = time_mono_us();
        pthread_mutex_unlock(&r->lock);
    }
    if (history_read(h, r) == RAMET_OK)
        agent_answer(r, h, false);
    else
        run_close(r, RAMET_TURN_FAILED, ramet_call_error(h->call)->message);
}

bool run_main(run *r)
{
    run_history h = {.call = ramet_call_new(r->turns->store, NULL, NULL), .mem = arena_new()};
    history_prefetch(&h, r);
    bool answered = run_ask_early(r, &h);
    bool wanted = r->fate == FATE_RUN;
    if (wanted && !answered)
        run_agent(r, &h);
    ramet_call_free(h.call);
    arena_free(h.mem);
    if (wanted && r->is_untitled && r->status == RAMET_TURN_DONE)
        title_make(r);
    if (wanted && r->turns->cfg->auto_tag && !r->is_unrecorded && r->status == RAMET_TURN_DONE)
        tags_make(r);
    return wanted;
}
