/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.c: messages and turns: reads requests, runs them (turns/turns.h), and writes turns. The
 * events of a turn are written in face/kit/turn_events.c.
 */
#include "face/native/native_face.h"

#include "face/kit/prompt.h"
#include "face/kit/turn_events.h"

#include <string.h>

enum { MAX_ATTACHMENTS = 100 };

void native_running(void *arg, const ramet_session *s, json_writer *w)
{
    arena *a = arena_new();
    turn_running now;
    if (turns_running_get(arg, s, a, &now)) {
        jw_object(w);
        jw_kstr(w, "turn_id", now.turn);
        native_kbranch(w, "branch_id", now.branch);
        jw_kstr(w, "entry_id", now.entry_id);
        jw_key(w, "text");
        jw_strn(w, now.text, now.n_text);
        jw_kint(w, "offset", now.offset);
        jw_key(w, "thinking");
        jw_strn(w, now.thinking, now.n_thinking);
        jw_kstr(w, "agent", now.agent);
        jw_key(w, "question");
        face_turn_question(w, now.question);
        jw_kraw(w, "plan", now.plan);
        jw_end_object(w);
    } else {
        jw_null(w);
    }
    arena_free(a);
}

void api_moved(request *q, const char *session)
{
    turns_moved(q->host->turns, session, face_bool(q, "keep_running"));
}

/* ------------------------------------------------------------------- messages */

static void part_file(json_writer *w, const char *attachment)
{
    jw_object(w);
    jw_kstr(w, "type", "file");
    jw_kstr(w, "attachment_id", attachment);
    jw_end_object(w);
}

/* Joins text or parts, and the files after them, into one list of parts. */
static const char *parts_joined(request *q, const char *text, const char *const *files, size_t n)
{
    const json_node *parts = face_member(q, "parts");
    json_writer w;
    buf out;
    buf_init(&out, q->body.n + 4096 + n * 512);
    jw_init(&w, &out, 0);
    jw_array(&w);
    if (text) {
        jw_object(&w);
        jw_kstr(&w, "type", "text");
        jw_kstr(&w, "text", text);
        jw_end_object(&w);
    }
    for (const json_node *v = json_first(&q->json, parts); v; v = json_next(&q->json, parts, v))
        jw_raw(&w, json_raw(q->arena, &q->json, v));
    for (size_t i = 0; i < n; i++)
        part_file(&w, files[i]);
    jw_end_array(&w);
    return buf_keep_whole(&out, q->arena);
}

/* Reads the message in the body: text or parts, attachments. False: the answer is filled in. */
static bool message_read(request *q, ramet_entry_in *out)
{
    size_t n;
    const char *const *files = face_texts(q, "attachments", &n);
    *out = (ramet_entry_in){
        .id = face_text(q, "id"), .text = face_text(q, "text"), .parts = face_raw(q, "parts")};
    const char *wrong = out->text && out->parts           ? "give \"text\" or \"parts\", not both"
                        : !out->text && !out->parts && !n ? "give \"text\" or \"parts\""
                                                          : NULL;
    if (wrong) {
        request_fail(q, 400, "invalid_request", "text", "%s", wrong);
        return false;
    }
    if (n > MAX_ATTACHMENTS) {
        request_fail(q, 400, "invalid_request", "attachments", "at most %d files a message",
                     MAX_ATTACHMENTS);
        return false;
    }
    if (n) {
        out->parts = parts_joined(q, out->text, files, n);
        out->text = NULL;
    }
    if (n && !out->parts)
        request_fail(q, 400, "invalid_request", "attachments", "an attachment id is too long");
    return !n || out->parts;
}

static bool turns_run_here(request *q)
{
    if (!q->host->turns)
        request_fail(q, 501, "not_implemented", NULL, "nobody runs turns here");
    return q->host->turns;
}

/* Answers with events if the client accepts them, otherwise with JSON at the end. */
static void turns_answer_with(request *q, const turn_request *items, size_t n, bool fan_out)
{
    const char *accept = request_header(q, "Accept");
    turn_batch batch = {
        .items = items, .n = n, .fan_out = fan_out, .keep_running = face_bool(q, "keep_running")};
    if (!turns_run_here(q))
        return;
    bool stream = accept && strstr(accept, "text/event-stream");
    turn_listener listener = stream ? face_turn_stream() : face_turn_json(n, fan_out);
    face_turns_run(q, &batch, &listener);
}

void api_message_post(request *q)
{
    ramet_entry_in message;
    ramet_agent agent;
    ramet_fork_in fork;
    turn_request in = {.session = face_path(q, "id"), .turn.replace = face_text(q, "replace")};
    if (!face_call(q) || !message_read(q, &message) || !api_agent(q, &agent, &in.agent))
        return;
    if (!in.turn.replace)
        message.role = RAMET_USER;
    in.turn.entries = &message;
    in.turn.n = 1;
    if (face_member(q, "fork")) {
        if (q->caller.link) {
            face_refuse_link(q);
            return;
        }
        if (!api_fork_in(q, face_member(q, "fork"), &fork))
            return;
        fork.expected_head = face_expected_head(q);
        /* The fork's agent answers in the fork. */
        if (in.agent && !fork.agent)
            fork.agent = in.agent;
        in.fork = &fork;
    } else {
        in.turn.expected_head = face_expected_head(q);
    }
    turns_answer_with(q, &in, 1, false);
}

void api_regenerate_post(request *q)
{
    ramet_agent agent;
    const char *entry = face_text(q, "entry_id");
    turn_request in = {.session = face_path(q, "id"),
                       .turn.regenerate = entry ? entry : "",
                       .turn.expected_head = face_expected_head(q)};
    if (entry && !*entry) {
        request_fail(q, 400, "invalid_request", "entry_id", "\"entry_id\" is empty");
        return;
    }
    if (face_call(q) && api_agent(q, &agent, &in.agent))
        turns_answer_with(q, &in, 1, false);
}

void api_fan_out(request *q)
{
    const json_node *list = face_member(q, "agents");
    ramet_entry_in message;
    ramet_agent agents[TURNS_MAX_PER_REQUEST];
    ramet_fork_in forks[TURNS_MAX_PER_REQUEST];
    turn_request in[TURNS_MAX_PER_REQUEST];
    ramet_error err;
    size_t n = 0;
    if (!list->count || list->count > TURNS_MAX_PER_REQUEST) {
        request_fail(q, 400, "invalid_request", "agents", "give 1 to %d agents",
                     TURNS_MAX_PER_REQUEST);
        return;
    }
    if (!face_call(q) || !message_read(q, &message))
        return;
    message.role = RAMET_USER;
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v)) {
        if (!native_agent_in(q->arena, &q->json, v, &agents[n], &err)) {
            request_error(q, &err);
            return;
        }
        forks[n] =
            (ramet_fork_in){.agent = &agents[n],
                            .reason = "fan-out",
                            .expected_head = face_expected_head(q),
                            .visibility = q->caller.share ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
        in[n] = (turn_request){.session = face_path(q, "id"),
                               .fork = &forks[n],
                               .agent = &agents[n],
                               .turn = {.entries = &message, .n = 1}};
        n++;
    }
    turns_answer_with(q, in, n, true);
}

/* Makes a new version of an entry, without an answer. */
void api_edit_post(request *q)
{
    ramet_call *c = face_call(q);
    ramet_append_out out = {0};
    ramet_entry_in message;
    if (!c || !message_read(q, &message))
        return;
    api_show(q, &form_appended, &out);
    if (!face_answer(q, ramet_edit(c, face_path(q, "id"), face_text(q, "entry_id"), &message,
                                   face_expected_head(q), &out)))
        return;
    face_count(q, "fork", ramet_fork_type_name(RAMET_AUTO_EDIT));
    api_moved(q, face_path(q, "id"));
}

/* ---------------------------------------------------------------------- turns */

/* An action on a running turn is not one commit: its answer is stored afterwards. False: the
 * request is answered, possibly from its idempotency key. */
static bool turn_call(request *q)
{
    ramet_call *c = face_call(q);
    if (!c)
        return false;
    ramet_status st = ramet_once_look(c);
    if (st == RAMET_OK && !q->once.repeated)
        return true;
    face_answer(q, st);
    return false;
}

static void show_turn(request *q, const void *answer)
{
    native_turn(&q->writer, *(ramet_turn *const *)answer);
}

/* Answers with the current state of the turn, and stores that for the key. */
static void turn_answer_now(request *q, ramet_turn *turn)
{
    face_render(q, show_turn, &turn);
    face_answer(q, ramet_once_keep(q->call));
}

void api_turn_cancel(request *q)
{
    ramet_turn *turn;
    turn_error err;
    if (!turn_call(q) || !turns_run_here(q))
        return;
    if (turns_cancel(q->host->turns, q, face_path(q, "id"), face_text(q, "turn_id"), &turn, &err))
        turn_answer_now(q, turn);
    else
        face_turn_error(q, &err);
}

/* A text is passed on as it is, any other value as JSON. */
void api_turn_answer(request *q)
{
    ramet_turn *turn;
    turn_error err;
    turn_answer in = {.session = face_path(q, "id"),
                      .turn = face_path(q, "turn"),
                      .question = face_text(q, "question_id"),
                      .text = face_text(q, "answer")};
    if (!in.text)
        in.text = face_raw(q, "answer");
    if (!turn_call(q))
        return;
    if (!in.text) {
        request_fail(q, 400, "invalid_request", "answer", "\"answer\" may not be null");
        return;
    }
    if (!turns_run_here(q))
        return;
    if (turns_answer(q->host->turns, q, &in, NULL, &turn, &err))
        turn_answer_now(q, turn);
    else
        face_turn_error(q, &err);
}

void api_turns_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_turn_list, &list);
    face_answer(q,
                ramet_turns(c, face_path(q, "id"), api_limit(q), ITEMS(list, ramet_turn), &list.n));
}

void api_turn_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_turn *out = NULL;
    if (!c)
        return;
    api_show_at(q, &form_turn, &out);
    face_answer(q, ramet_turn_get(c, face_path(q, "id"), face_path(q, "turn"), &out));
}

void api_turn_find(request *q)
{
    ramet_call *c = face_call(q);
    ramet_turn *out = NULL;
    const char *turn = face_path(q, "turn"), *session;
    if (!c)
        return;
    ramet_status st = ramet_turn_session(c, turn, &session);
    if (st == RAMET_OK && !session) {
        request_fail(q, 404, "turn_not_found", "turn", "there is no turn %s", turn);
        return;
    }
    api_show_at(q, &form_turn, &out);
    face_answer(q, st == RAMET_OK ? ramet_turn_get(c, session, turn, &out) : st);
}

/* ------------------------------------------------------------------- prompts */

void api_prompt_get(request *q)
{
    static const prompt_calls lib = {ramet_turn_prompt, ramet_read};
    ramet_call *c = face_call(q);
    if (!c)
        return;
    q->status = 200;
    if (!prompt_show(c, &lib, face_path(q, "id"), face_path(q, "turn"), &q->writer))
        request_error(q, ramet_call_error(c));
}
