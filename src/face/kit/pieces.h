/* SPDX-License-Identifier: Apache-2.0
 *
 * pieces.h: long answers, made piece by piece as the client takes them.
 *
 * A handler gives the body of its answer as a sequence of steps. A step reads some more from the
 * store and writes it to q->writer: a page of entries, a task, the end of the document. Steps run
 * until the body is whole or a piece of PIECE_BYTES is there. A body that is whole by then is sent
 * like any other, with its length; of a longer one the next piece is made when the client has taken
 * the one before, so that an answer that nobody reads holds one piece.
 *
 *   P1  While a step runs, q->arena is the memory of the call, and both are emptied when it
 * returns. What has to last belongs to the state of the steps, which was allocated before. P2  A
 * step reads through q->call, and so sees only what the client may see by then. P3  A step that
 * fails has filled the answer with an error. If a piece was sent already, that is dropped: the
 * connection is closed before the end of the body. P4  What belongs to an answer is fixed by its
 * first piece: positions of a branch, numbers of a record, ids. What is appended or moved later is
 * not in it; what is deleted meanwhile ends it (P3), or is left out of a list.
 */
#ifndef FACE_KIT_PIECES_H
#define FACE_KIT_PIECES_H

#include "face/kit/face.h"
#include "form/size.h"

#define LONG_PAGE_BYTES ((size_t)32 << 20) /* a page of entries ends early past so many */

typedef request_piece face_step(request *q, void *state);
/* Answers with what the steps write, behind what is in q->out already. `state` is in q->arena. */
void face_pieces(request *q, face_step *step, void *state);
/* The same when what is in q->out is the first piece: the steps come behind it. */
void face_pieces_follow(request *q, face_step *step, void *state);

/* A list of sessions that was read at once. Those that do not fit into the first piece are read
 * again, one by one; one that is gone then is left out. */
typedef struct face_sessions {
    const ramet_session *items;
    size_t n;
    /* Reads the i-th again; NULL: ramet_session_get(). */
    ramet_status (*get)(request *q, void *arg, size_t i, const char *id, ramet_session **out);
    /* Writes the i-th. False: the answer is filled. */
    bool (*write)(request *q, void *arg, size_t i, const ramet_session *s);
    void (*end)(request *q, void *arg); /* what comes behind the last one */
    void *arg;                          /* in q->arena */
} face_sessions;
void face_sessions_answer(request *q, const face_sessions *list);

#endif
