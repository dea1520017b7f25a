/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.c: messages and their answers over HTTP: what is sent, and turns as they are
 * answered. Who runs them is whoever serves the face (face_host).
 */
#include "face/native/native_face.h"

#include <string.h>

enum { ATTACHMENTS_MOST = 100 };

void api_moved(request *q, const char *session)
{
    if (q->host->turn_moved)
        q->host->turn_moved(q->host->arg, session, face_bool(q, "keep_running"));
}

/* ------------------------------------------------------------------- messages */

static void part_file(json_writer *w, const char *attachment)
{
    jw_object(w);
    jw_kstr(w, "type", "file");
    jw_kstr(w, "attachment_id", attachment);
    jw_end_object(w);
}

/* Text or parts, and the files behind them, as one list of parts. */
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
        jw_raw(&w, json_raw(q->a, &q->json, v));
    for (size_t i = 0; i < n; i++)
        part_file(&w, files[i]);
    jw_end_array(&w);
    const char *joined = out.over ? NULL : arena_memdup(q->a, out.p, out.n);
    buf_release(&out);
    return joined;
}

/* The message of the body: text or parts, attachments. False: the answer is filled. */
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
    if (n > ATTACHMENTS_MOST) {
        request_fail(q, 400, "invalid_request", "attachments", "at most %d files a message",
                     ATTACHMENTS_MOST);
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

static void turn_run(request *q, const turn_request *in, size_t n, bool many)
{
    if (q->host->turn_run)
        q->host->turn_run(q->host->arg, q, in, n, many);
    else
        request_fail(q, 501, "not_implemented", NULL, "nobody runs turns here");
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
        if (!api_fork_in(q, face_member(q, "fork"), &fork))
            return;
        fork.expected_head = face_expected_head(q);
        /* Who answers in the fork is its agent. */
        if (in.agent && !fork.agent)
            fork.agent = in.agent;
        in.fork = &fork;
    } else {
        in.turn.expected_head = face_expected_head(q);
    }
    turn_run(q, &in, 1, false);
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
        turn_run(q, &in, 1, false);
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
        if (!native_agent_in(q->a, &q->json, v, &agents[n], &err)) {
            request_error(q, &err);
            return;
        }
        forks[n] = (ramet_fork_in){.agent = &agents[n],
                                   .reason = "fan-out",
                                   .expected_head = face_expected_head(q),
                                   .visibility = q->who.share ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
        in[n] = (turn_request){.session = face_path(q, "id"),
                               .fork = &forks[n],
                               .agent = &agents[n],
                               .turn = {.entries = &message, .n = 1}};
        n++;
    }
    turn_run(q, in, n, true);
}

/* A new version of an entry, and nobody answers. */
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

/* What is done to a turn that runs is not one commit: the answer is kept after it. False: answered,
 * also when the key was there. */
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

void api_turn_cancel(request *q)
{
    if (!turn_call(q))
        return;
    if (q->host->turn_cancel)
        q->host->turn_cancel(q->host->arg, q, face_path(q, "id"), face_text(q, "turn_id"));
    else
        request_fail(q, 501, "not_implemented", NULL, "nobody runs turns here");
}

/* A text is handed on as it reads, any other value as JSON. */
void api_turn_answer(request *q)
{
    const char *answer = face_text(q, "answer");
    if (!answer)
        answer = face_raw(q, "answer");
    if (!turn_call(q))
        return;
    if (!answer)
        request_fail(q, 400, "invalid_request", "answer", "\"answer\" may not be null");
    else if (q->host->turn_answer)
        q->host->turn_answer(q->host->arg, q, face_path(q, "id"), face_path(q, "turn"),
                             face_text(q, "question_id"), answer);
    else
        request_fail(q, 501, "not_implemented", NULL, "nobody runs turns here");
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
