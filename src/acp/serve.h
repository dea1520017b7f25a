/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.h: Ramet as an agent: turns that a server runs, each heard on a thread, told by the main
 * one.
 */
#ifndef ACP_SERVE_H
#define ACP_SERVE_H

#include "acp/own.h"

#include <pthread.h>
#include <stdio.h>

typedef enum { POST_UPDATE, POST_QUESTION, POST_DONE } post_kind;

typedef struct run run;

/* What a thread has for the main one. */
typedef struct post {
    struct post *next;
    post_kind kind;
    run *run;
    char *text; /* JSON: an update, or a question */
    char *id;   /* of the turn that asks */
} post;

typedef struct posts {
    pthread_mutex_t lock;
    post *first, **last;
    int ends[2]; /* of a pipe: something is there */
} posts;

/* One prompt. Its thread writes what stands below `thread` until POST_DONE. */
struct run {
    run *next;
    const ramet_calls *lib;
    ramet *store;
    const char *user;
    posts *to;
    char *id; /* of the editor's request, raw */
    char *session;
    char *body; /* of the message to the server */
    pthread_t thread;
    char turn[300];
    char status[32];
    char error[600];
    int64_t input, output; /* tokens */
    ramet_status rc;
};

void posts_init(posts *q);
post *posts_take(posts *q); /* all of them; each is freed by post_free() */
void post_free(post *o);
bool talk_start(run *r);
void talk_free(run *r); /* waits for its thread */

#endif
