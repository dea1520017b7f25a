/* SPDX-License-Identifier: Apache-2.0
 *
 * a2a_pieces.h: answers with tasks, which may be as long as a whole history. Tasks whose messages
 * are in memory are written at once; those of others are read again, page by page, from the branch
 * and the positions that they were found at (pieces.h).
 */
#ifndef FACE_KIT_A2A_PIECES_H
#define FACE_KIT_A2A_PIECES_H

#include "form/a2a/a2a.h"
#include "face/kit/face.h"

typedef enum {
    A2A_ARTIFACTS_STORED,
    A2A_ARTIFACTS_ANSWER, /* without stored ones: one that is made of the answers */
    A2A_ARTIFACTS_NONE
} a2a_artifacts;

typedef struct a2a_answer {
    a2a_view view; /* session and task are filled for each */
    a2a_artifacts artifacts;
    int64_t history; /* as a2a_task_write() has it */
    /* The next task, in the memory of the call; *t NULL: there is none. False: the answer is
     * filled. */
    bool (*next)(request *q, void *arg, const a2a_task **t);
    /* For tasks that were all read at once: keeps those that are still to come, before the memory
     * of the call is emptied for the first time. NULL: each is read when it is asked for. */
    void (*keep)(arena *own, void *arg);
    /* Whether the caller may still see a task that is being written; NULL: the call knows. */
    bool (*allowed)(request *q, void *arg, const a2a_task *t);
    /* Answers with the error of the call; its status may be RAMET_OK where `st` is not. */
    void (*fail)(request *q, void *arg, ramet_status st);
    void (*end)(request *q, void *arg); /* what comes behind the last one */
    void *arg;                          /* in q->arena */
} a2a_answer;
/* Behind what is in q->out. */
void a2a_tasks_answer(request *q, const a2a_answer *in);
/* A task without its messages and what its row tells. */
a2a_task a2a_task_keep(arena *own, const a2a_task *t);

#endif
