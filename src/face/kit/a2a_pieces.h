/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_pieces.h: answers with tasks, which may be as long as a whole history. Tasks whose messages
 * are in memory are written at once; the messages of others are read again, page by page, from the
 * branch and the positions where they were found (pieces.h).
 */
#ifndef FACE_KIT_A2A_PIECES_H
#define FACE_KIT_A2A_PIECES_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

typedef enum {
    A2A_ARTIFACTS_STORED,
    A2A_ARTIFACTS_ANSWER, /* if none is stored, one made of the answers */
    A2A_ARTIFACTS_NONE
} a2a_artifacts;

typedef struct a2a_answer {
    a2a_view view; /* session and task are set for each */
    a2a_artifacts artifacts;
    int64_t history; /* as for a2a_task_write() */
    /* Returns the next task, in the memory of the call; *t NULL: there is none. False: the answer
     * is filled in. */
    bool (*next)(request *q, void *arg, const a2a_task **t);
    /* For tasks that were all read at once: copies the remaining ones before the memory of the call
     * is reset for the first time. NULL: each is read when next() is called. */
    void (*keep)(arena *own, void *arg);
    /* Whether the client may still see a task that is being written; NULL: the call checks. */
    bool (*allowed)(request *q, void *arg, const a2a_task *t);
    /* Answers with the error of the call, whose status may be RAMET_OK although `st` is not. */
    void (*fail)(request *q, void *arg, ramet_status st);
    void (*end)(request *q, void *arg); /* writes what follows the last task */
    void *arg;                          /* in q->arena */
} a2a_answer;
/* Appends to q->out. */
void a2a_tasks_answer(request *q, const a2a_answer *in);
/* Copies a task without its messages and the contents of its row. */
a2a_task a2a_task_keep(arena *own, const a2a_task *t);

#endif
