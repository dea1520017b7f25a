/* SPDX-License-Identifier: Apache-2.0
 *
 * control.c: requests that act on a running turn: cancel it, answer its question. For a turn of
 * another node, that node carries out the request (nodes_request()).
 */
#include "turns/turns_internal.h"

#include "agent/prompt.h"

#include <stdio.h>
#include <string.h>

enum { NODE_MS = 5000 };

/* The outcome of a command; these texts are sent between nodes. */
static const char outcome_done[] = "done", outcome_no_question[] = "none",
                  outcome_no_option[] = "wrong", outcome_id_taken[] = "taken",
                  outcome_too_large[] = "large", outcome_not_saved[] = "unsaved";

static bool refuse_over(turn_error *err, const ramet_turn *turn)
{
    return turn_refuse(err, RAMET_TURN_OVER, "turn_id", turn->id, "turn %.40s is over: it is %s",
                       turn->id, ramet_turn_status_name(turn->status));
}

/* A running turn of the session, according to the store; id NULL: the one on the head. On failure
 * returns NULL and fills *err. */
static ramet_turn *turn_find_running(ramet_call *c, const char *session, const char *id,
                                     turn_error *err)
{
    ramet_turn *turn = NULL;
    ramet_status st = ramet_session_writable(c, session);
    if (st == RAMET_OK)
        st = id ? ramet_turn_get(c, session, id, &turn) : ramet_turn_running(c, session, &turn);
    if (st != RAMET_OK)
        turn_refuse_call(err, c);
    else if (!turn)
        turn_refuse(err, RAMET_TURN_NOT_FOUND, "turn_id", NULL,
                    "no turn runs on the head of this session");
    else if (turn->status == RAMET_TURN_RUNNING)
        return turn;
    else
        refuse_over(err, turn);
    return NULL;
}

static bool turn_read(ramet_call *c, const char *session, const char *id, ramet_turn **out,
                      turn_error *err)
{
    return ramet_turn_get(c, session, id, out) == RAMET_OK || turn_refuse_call(err, c);
}

/* ------------------------------------------------------------------ on this node */

/* Whether an answer is the id of one of the options. */
static bool is_option(arena *a, const char *options, const char *answer)
{
    json_doc d;
    if (!json_parse(a, options, strlen(options), 0, &d, NULL))
        return true;
    const json_node *list = &d.nodes[0];
    for (const json_node *v = json_first(&d, list); v; v = json_next(&d, list, v)) {
        const char *id = json_text(a, &d, json_get(&d, v, "id"));
        if (id && strcmp(id, answer) == 0)
            return true;
    }
    return false;
}

/* The parts of an answer that no message holds. */
static const char *answer_parts(arena *a, const node_command *what)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "type", "text");
    jw_kstr(&w, "text", what->answer);
    jw_end_object(&w);
    jw_object(&w);
    jw_kstr(&w, "type", "data");
    jw_key(&w, "data");
    jw_object(&w);
    jw_kstr(&w, "type", "answer");
    jw_kstr(&w, "question_id", what->question);
    jw_end_object(&w);
    jw_end_object(&w);
    jw_end_array(&w);
    return buf_keep(&b, a);
}

/* Records an answer as an entry: it must not be lost once it was accepted. */
static const char *answer_record(run *r, arena *a, const node_command *what)
{
    ramet_call *c = ramet_call_new(r->turns->store, NULL, NULL);
    ramet_entry_in e = {.id = what->entry_id,
                        .role = RAMET_USER,
                        .format = what->entry_format,
                        .body = what->entry_body,
                        .parts = what->entry_parts ? what->entry_parts : answer_parts(a, what),
                        .author = what->author};
    ramet_status st = run_entry_append(r, c, &e);
    ramet_call_free(c);
    return st == RAMET_OK                ? outcome_done
           : st == RAMET_TURN_OVER       ? outcome_no_question
           : st == RAMET_ENTRY_EXISTS    ? outcome_id_taken
           : ramet_status_http(st) < 500 ? outcome_too_large
                                         : outcome_not_saved;
}

/* The first answer counts: while it is recorded, there is no open question for others. */
static const char *answer_give(run *r, arena *a, const node_command *what)
{
    pthread_mutex_lock(&r->lock);
    const turn_question *q = &r->question;
    bool open = !run_is_closed(r) && !r->is_answered && q->id && strcmp(q->id, what->question) == 0;
    bool choice =
        open && q->options && strcmp(q->kind, "permission") == 0 && !(q->request && what->decision);
    bool fits = open && (!choice || is_option(a, q->options, what->answer));
    r->is_answered = r->is_answered || fits;
    pthread_mutex_unlock(&r->lock);
    if (!fits)
        return open ? outcome_no_option : outcome_no_question;
    const char *outcome = answer_record(r, a, what);
    pthread_mutex_lock(&r->lock);
    if (outcome == outcome_done) {
        r->answer = xstrdup(what->answer);
        r->decision = xstrdup(what->decision);
        r->answer_format = xstrdup(what->entry_format);
        r->answer_body = xstrdup(what->entry_body);
    }
    r->is_answered = outcome == outcome_done;
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
    return outcome;
}

static bool execute_moved(turns *t, const node_command *what)
{
    size_t n;
    run **list = runs_held(t, what->session, &n);
    bool mine = false;
    for (size_t i = 0; i < n; i++)
        mine = mine || !list[i]->is_remote;
    runs_put(list, n);
    if (mine)
        turns_moved_here(t, what->session, what->keep);
    return mine;
}

bool turns_execute(turns *t, arena *a, const node_command *what, char outcome[OUTCOME_TEXT])
{
    const char *done = outcome_done;
    snprintf(outcome, OUTCOME_TEXT, "%s", done);
    if (strcmp(what->operation, "moved") == 0)
        return execute_moved(t, what);
    run *r = what->turn ? run_find(t, what->session, what->turn) : NULL;
    bool mine = r && !r->is_remote;
    if (mine && strcmp(what->operation, "cancel") == 0)
        run_close(r, RAMET_TURN_CANCELLED, NULL);
    else if (mine && what->question && what->answer)
        done = answer_give(r, a, what);
    if (r)
        run_put(r);
    snprintf(outcome, OUTCOME_TEXT, "%s", done);
    return mine;
}

/* ------------------------------------------------------------------ on another node */

/* Has the node that runs the turn execute the command. */
static bool node_execute(turns *t, ramet_call *c, const node_command *what,
                         char outcome[OUTCOME_TEXT], turn_error *err)
{
    ramet_turn *turn;
    if (nodes_request(t->nodes, what, NODE_MS, outcome))
        return true;
    /* The turn may have ended or been interrupted by now. */
    if (!turn_read(c, what->session, what->turn, &turn, err))
        return false;
    if (turn->status != RAMET_TURN_RUNNING)
        return refuse_over(err, turn);
    turn_refuse(err, RAMET_OK, "turn_id", NULL,
                "the server that runs turn %.40s does not answer; if it is gone, the turn is "
                "interrupted within 20 seconds",
                turn->id);
    err->kind = TURN_ERROR_NODE_GONE;
    return false;
}

/* ------------------------------------------------------------------ requests */

/* In a file store, a turn that does not run here runs in another server or was left by a dead one.
 * It is ended in the store, where the process that runs it will notice. */
bool turns_cancel(turns *t, request *q, const char *session, const char *id, ramet_turn **out,
                  turn_error *err)
{
    ramet_append_out appended;
    char outcome[OUTCOME_TEXT];
    ramet_turn *turn = turn_find_running(q->call, session, id, err);
    if (!turn)
        return false;
    run *r = run_find(t, session, turn->id);
    bool done = true;
    if (r && !r->is_remote) {
        run_close(r, RAMET_TURN_CANCELLED, NULL);
    } else if (t->nodes) {
        node_command what = {.operation = "cancel", .session = session, .turn = turn->id};
        done = node_execute(t, q->call, &what, outcome, err);
    } else if (ramet_turn_end(q->call, turn->id, RAMET_TURN_CANCELLED, NULL, NULL, 0, &appended) !=
               RAMET_OK) {
        done = turn_refuse_call(err, q->call);
    }
    if (r)
        run_put(r);
    return done && turn_read(q->call, session, turn->id, out, err);
}

/* False with an empty `outcome`: it could not be delivered. */
static bool answer_hand_over(turns *t, request *q, run *r, const node_command *what,
                             char outcome[OUTCOME_TEXT], turn_error *err)
{
    snprintf(outcome, OUTCOME_TEXT, "%s", outcome_no_question);
    if (r && !r->is_remote)
        snprintf(outcome, OUTCOME_TEXT, "%s", answer_give(r, q->arena, what));
    else if (t->nodes && !node_execute(t, q->call, what, outcome, err))
        return false;
    if (strcmp(outcome, outcome_done) == 0)
        return true;
    if (strcmp(outcome, outcome_no_option) == 0)
        return turn_refuse(err, RAMET_INVALID, "answer", NULL,
                           "'%.60s' is none of the options of this question", what->answer);
    if (strcmp(outcome, outcome_id_taken) == 0)
        return turn_refuse(err, RAMET_ENTRY_EXISTS, "id", NULL,
                           "the id '%.80s' belongs to another message of the session",
                           what->entry_id ? what->entry_id : "");
    if (strcmp(outcome, outcome_too_large) == 0)
        return turn_refuse(err, RAMET_ENTRY_TOO_LARGE, "answer", NULL,
                           "the answer cannot be stored: it is over the size limit of an entry");
    if (strcmp(outcome, outcome_not_saved) == 0)
        return turn_refuse(err, RAMET_STOPPED, "", NULL,
                           "the store takes no writes, so the answer was not given; try again");
    turn_refuse(err, RAMET_OK, "question_id", NULL,
                "the turn does not wait for an answer to question '%.60s'", what->question);
    err->kind = TURN_ERROR_QUESTION_NOT_FOUND;
    return false;
}

/* A request that follows the turn subscribes before the agent continues. If the answer is refused,
 * it unsubscribes, unless the turn has ended meanwhile: then it has received the end. */
bool turns_answer(turns *t, request *q, const turn_answer *in, const turn_listener *listener,
                  ramet_turn **out, turn_error *err)
{
    char outcome[OUTCOME_TEXT];
    node_command what = {.operation = "answer",
                         .session = in->session,
                         .turn = in->turn,
                         .question = in->question,
                         .answer = in->text,
                         .decision = in->decision,
                         .author = q->caller.user};
    if (in->entry) {
        what.entry_id = in->entry->id;
        what.entry_format = in->entry->format;
        what.entry_body = in->entry->body;
        what.entry_parts = in->entry->parts;
    }
    subscriber *s = NULL;
    *out = NULL;
    bool runs = turn_find_running(q->call, in->session, in->turn, err);
    run *r = !runs      ? NULL
             : listener ? remote_find(t, in->session, in->turn)
                        : run_find(t, in->session, in->turn);
    if (r && listener) {
        s = subscriber_new(t, q, 1, listener);
        remote_subscribe(r, s, 0);
    } else if (listener && listener->release) {
        listener->release(listener->arg);
    }
    bool given = runs && answer_hand_over(t, q, r, &what, outcome, err);
    bool follows = s && (given || !run_unsubscribe(r, s));
    if (r)
        run_put(r);
    if (follows)
        return true;
    body_stream_drop(q);
    return given && turn_read(q->call, in->session, in->turn, out, err);
}

const char *turns_prompt(arena *a, const char *kind, const ramet_entry *history, size_t n,
                         const char *instructions, const char *digest)
{
    return prompt_messages(a, kind, history, n, instructions, digest);
}
