/* SPDX-License-Identifier: Apache-2.0
 *
 * move.c: fork, rewind, undo and redo of a kagent session.
 */
#include "face/kagent/kagent.h"

#include "base/util.h"

enum { NAME_CHARS = 480 };

static const char *boundary(request *q)
{
    const char *id = face_text(q, "rewind_before_invocation_id");
    return id && *id ? id : NULL;
}

typedef struct forked {
    ramet_session *session;
    const char *message;
} forked;

static void show_fork(request *q, const void *answer)
{
    const forked *f = answer;
    kagent_data(q);
    kagent_session_write(q, f->session);
    kagent_end(q, f->message);
}

/* The title of a fork, cut to the limit. */
static const char *fork_title(request *q, const ramet_session *s)
{
    const char *name = *s->title ? s->title : s->shown_title;
    if (!name || !*name)
        name = s->id;
    return arena_printf(q->arena, "Fork of %.*s", (int)utf8_prefix(name, NAME_CHARS), name);
}

void kagent_fork(request *q)
{
    ramet_session *s;
    forked out = {.message = "Successfully forked session"};
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    ramet_fork_in in = {.title = fork_title(q, s),
                        .before_turn = boundary(q),
                        .visibility = q->caller.share ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    face_render(q, show_fork, &out);
    ramet_status st = ramet_fork(q->call, s->id, &in, &out.session, NULL);
    if (st == RAMET_TURN_NOT_FOUND) {
        out.message = arena_printf(
            q->arena,
            "Successfully forked session; the invocation %.255s was not found in it, so the "
            "fork has all of it",
            in.before_turn);
        in.before_turn = NULL;
        if (q->has_once)
            ramet_call_once(q->call, &q->once);
        st = ramet_fork(q->call, s->id, &in, &out.session, NULL);
    }
    if (st != RAMET_OK)
        kagent_error(q, st, "Failed to fork session", "Session not found");
    else if (face_answer(q, st))
        face_count(q, "fork", "explicit");
}

/* ------------------------------------------------------------------ moves */

typedef struct moved {
    ramet_session *session;
    const char *message;
} moved;

static void show_moved(request *q, const void *answer)
{
    const moved *m = answer;
    kagent_data(q);
    kagent_session_write(q, m->session);
    kagent_end(q, m->message);
}

static void move_answer(request *q, ramet_status st, const char *id)
{
    if (st == RAMET_TURN_NOT_FOUND) {
        kagent_refuse(q, 400, ramet_call_error(q->call)->message);
        return;
    }
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to move the head of the session", "Session not found");
        return;
    }
    if (!face_answer(q, st))
        return;
    face_count(q, "rewind", NULL);
    /* Cancel the turn on the old branch; its answer must not reach the new head. */
    turns_moved(q->host->turns, id, false);
}

void kagent_rewind(request *q)
{
    ramet_session *s;
    moved out = {.message = "Successfully rewound session"};
    ramet_move_in in = {.before_turn = boundary(q)};
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    if (!in.before_turn) {
        kagent_refuse(q, 400, "rewind_before_invocation_id is required");
        return;
    }
    face_render(q, show_moved, &out);
    move_answer(q, ramet_rewind(q->call, s->id, &in, &out.session, NULL), s->id);
}

void kagent_undo(request *q)
{
    ramet_session *s;
    moved out = {.message = "Successfully undid the last move"};
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    face_render(q, show_moved, &out);
    move_answer(q, ramet_undo(q->call, s->id, NULL, &out.session), s->id);
}

void kagent_redo(request *q)
{
    ramet_session *s;
    moved out = {.message = "Successfully redid the last move"};
    if (!kagent_session(q, face_path(q, "session_id"), "Session not found", &s))
        return;
    face_render(q, show_moved, &out);
    move_answer(q, ramet_redo(q->call, s->id, NULL, &out.session), s->id);
}
