/* SPDX-License-Identifier: Apache-2.0
 *
 * pieces.h: long answers, made piece by piece as the client reads them.
 *
 * A handler produces the body of its answer as a sequence of steps. A step reads some more from the
 * store and writes it to q->w: a page of entries, a task, the end of the document. Steps run until
 * the body is complete or a piece of PIECE_BYTES is ready. A body that is complete by then is sent
 * like any other, with its length. For a longer one, the next piece is made when the client has
 * read the one before, so an answer that its client does not read holds one piece in memory.
 *
 *   P1  While a step runs, q->a is the memory of the call, and both are reset when it returns. What
 *       has to last belongs to the state of the steps, which was allocated before.
 *   P2  A step reads through q->c, and so sees only what the client may see at that time.
 *   P3  A step that fails has filled the answer with an error. If a piece was sent already, the
 *       error is dropped: the connection is closed before the end of the body.
 *   P4  The first piece fixes what belongs to an answer: positions of a branch, numbers of a
 *       record, ids. What is appended or moved later is not in it; what is deleted meanwhile ends
 *       it (P3), or is left out of a list.
 */
#ifndef FACE_KIT_PIECES_H
#define FACE_KIT_PIECES_H

#include "face/kit/face.h"
#include "form/size.h"

#define LONG_PAGE_BYTES ((size_t)32 << 20) /* a page of entries ends early past this size */

typedef request_piece face_step(request *q, void *state);
/* Answers with what is in q->out, followed by what the steps write. `state` is in q->a. */
void face_pieces(request *q, face_step *step, void *state);
/* The same if q->out is the complete first piece. */
void face_pieces_follow(request *q, face_step *step, void *state);

/* A list of sessions that was read at once. Those that do not fit into the first piece are read
 * again, one by one; one that was deleted meanwhile is left out. */
typedef struct face_sessions {
    const ramet_session *items;
    size_t n;
    /* Reads the i-th session again; NULL: ramet_session_get(). */
    ramet_status (*get)(request *q, void *arg, size_t i, const char *id, ramet_session **out);
    /* Writes the i-th session. False: the answer is filled in. */
    bool (*write)(request *q, void *arg, size_t i, const ramet_session *s);
    void (*end)(request *q, void *arg); /* writes what follows the last one */
    void *arg;                          /* in q->arena */
} face_sessions;
void face_sessions_answer(request *q, const face_sessions *list);

#endif
