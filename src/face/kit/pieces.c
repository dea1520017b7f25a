/* SPDX-License-Identifier: Apache-2.0
 *
 * pieces.c: runs the steps of a long answer, and writes lists of sessions that way.
 */
#include "face/kit/pieces.h"

#include <string.h>

typedef struct pieces {
    face_step *step;
    void *state;
    bool sent; /* the first piece, with the header, was sent */
} pieces;

static bool piece_full(const request *q)
{
    return q->out.over || (!q->whole && q->out.n >= PIECE_BYTES);
}

static request_piece piece_write(request *q);

/* After the first piece an error can no longer be sent. */
static void error_drop(request *q, int status, void *state)
{
    buf_clear(&q->out);
    q->status = status;
    q->more = piece_write;
    q->more_state = state;
}

static request_piece piece_write(request *q)
{
    pieces *p = q->more_state;
    arena *own = q->arena;
    int status = q->status;
    request_piece st;
    do {
        q->arena = ramet_call_arena(q->call);
        st = p->step(q, p->state);
        q->arena = own;
        /* The error of the first piece may use that memory. */
        if (st != PIECE_FAILED)
            ramet_call_reset(q->call);
    } while (st == PIECE_MORE && !piece_full(q));
    /* An error, of the step or because there is no memory for the piece, has replaced the
     * answer. */
    bool failed = st == PIECE_FAILED || q->more != piece_write;
    if (!p->sent || !failed)
        return st;
    error_drop(q, status, p);
    return PIECE_FAILED;
}

/* Sends the first piece, which is in q->out. `st`: what follows. */
static void first_send(request *q, pieces *p, request_piece st)
{
    if (st == PIECE_FAILED)
        return;
    face_done(q);
    if (st == PIECE_LAST || q->out.over || q->status >= 400)
        return;
    p->sent = true;
    q->more = piece_write;
    q->more_state = p;
}

void face_pieces(request *q, face_step *step, void *state)
{
    pieces *p = arena_alloc(q->arena, sizeof *p);
    *p = (pieces){.step = step, .state = state};
    q->more_state = p;
    first_send(q, p, piece_write(q));
}

void face_pieces_follow(request *q, face_step *step, void *state)
{
    pieces *p = arena_alloc(q->arena, sizeof *p);
    *p = (pieces){.step = step, .state = state};
    ramet_call_reset(q->call);
    q->more_state = p;
    first_send(q, p, q->whole ? piece_write(q) : PIECE_MORE);
}

/* ------------------------------------------------------------------ sessions */

/* What is kept of a session that is not written yet. */
typedef struct kept_session {
    const char *id;
    const char *const *path;
    size_t n_path;
    int64_t depth;
    bool deleted; /* the list has only a placeholder */
} kept_session;

typedef struct session_rest {
    face_sessions list;
    kept_session *kept; /* from the index `first` on */
    size_t first, at;
} session_rest;

static request_piece sessions_step(request *q, void *state)
{
    session_rest *r = state;
    if (r->at == r->list.n) {
        if (r->list.end)
            r->list.end(q, r->list.arg);
        return PIECE_LAST;
    }
    size_t i = r->at++;
    const kept_session *kept = &r->kept[i - r->first];
    ramet_session gone = {.id = kept->id,
                          .reason = "",
                          .from_title = "",
                          .metadata = "{}",
                          .depth = kept->depth,
                          .deleted = true};
    ramet_session *s = &gone;
    ramet_status st = RAMET_OK;
    if (!kept->deleted)
        st = r->list.get ? r->list.get(q, r->list.arg, i, kept->id, &s)
                         : ramet_session_get(q->call, kept->id, &s);
    if (st != RAMET_OK)
        return ramet_status_http(st) >= 500 ? PIECE_FAILED : PIECE_MORE;
    /* Lists show the place in the tree, but not the client's rights there. */
    s->level = RAMET_NO_LEVEL;
    s->path = kept->path;
    s->n_path = kept->n_path;
    return r->list.write(q, r->list.arg, i, s) ? PIECE_MORE : PIECE_FAILED;
}

/* Copies the ids above a session. Neighbours share most of them, and then the copies. */
static void path_keep(arena *a, const ramet_session *of, kept_session *kept,
                      const kept_session *before)
{
    const char **path = arena_array(a, of->n_path + 1, sizeof *path);
    for (size_t i = 0; i < of->n_path; i++) {
        bool shared = before && i < before->n_path && of[-1].path[i] == of->path[i];
        path[i] = shared ? before->path[i] : arena_strdup(a, of->path[i]);
    }
    kept->path = path;
    kept->n_path = of->n_path;
}

static session_rest *rest_keep(request *q, const face_sessions *list, size_t from)
{
    session_rest *r = arena_alloc(q->arena, sizeof *r);
    *r = (session_rest){.list = *list, .first = from, .at = from};
    r->list.items = NULL;
    r->kept = arena_array(q->arena, list->n - from + 1, sizeof *r->kept);
    for (size_t i = from; i < list->n; i++) {
        const ramet_session *of = &list->items[i];
        kept_session *kept = &r->kept[i - from];
        *kept = (kept_session){
            .id = arena_strdup(q->arena, of->id), .deleted = of->deleted, .depth = of->depth};
        path_keep(q->arena, of, kept, i > from ? kept - 1 : NULL);
    }
    return r;
}

/* The sessions of the first piece were read already, and each one behind it is read once more. So
 * that piece is as long as fits into the buffer of any other: buffers double, and one of
 * PIECE_BYTES and a step has twice that. */
static bool first_full(const request *q)
{
    return q->out.over || (!q->whole && q->out.n >= 2 * PIECE_BYTES - PIECE_BYTES / 8);
}

void face_sessions_answer(request *q, const face_sessions *list)
{
    size_t i = 0;
    while (i < list->n && !first_full(q)) {
        if (!list->write(q, list->arg, i, &list->items[i]))
            return;
        i++;
    }
    if (i == list->n && !q->out.over) {
        if (list->end)
            list->end(q, list->arg);
        face_done(q);
        return;
    }
    face_pieces_follow(q, sessions_step, rest_keep(q, list, i));
}
