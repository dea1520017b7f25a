/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.h: Ramet as an agent: turns run on a server; a thread per turn reads its events, and the
 * main thread passes them to the editor.
 */
#ifndef ACP_SERVE_H
#define ACP_SERVE_H

#include "acp/own.h"

#include <pthread.h>
#include <stdio.h>

typedef enum { POST_UPDATE, POST_QUESTION, POST_DONE } post_kind;

typedef struct run run;

/* What a thread passes to the main one. */
typedef struct post {
    struct post *next;
    post_kind kind;
    run *run;
    char *text; /* JSON: an update, or a question */
    char *id;   /* of the question's turn */
} post;

typedef struct posts {
    pthread_mutex_t lock;
    post *first, **last;
    int ends[2]; /* a pipe: readable if something is queued */
} posts;

/* One prompt. Its thread writes the members below `thread` until POST_DONE. */
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
    int64_t used;          /* tokens in the context, from the last entry that has the number */
    ramet_status rc;
};

typedef struct question {
    struct question *next;
    char *id; /* of our request to the editor, raw */
    char *session, *turn, *own;
} question;

typedef struct serve {
    proxy proxy; /* must be first: functions of the proxy get a pointer to it */
    posts posts;
    run *runs;
    question *questions;
    const client_agent *agents;
    size_t n_agents;
} serve;
#define SERVE(p) ((serve *)(void *)(p))

void serve_refuse(proxy *p, const message *m, ramet_status rc);

/* serve_options.c: the agent is the mode of a session and its option `agent`; the model is another
 * option, if the agent has a choice. */
/* The answer for a session that was opened; `outer` NULL: without its id. */
const char *setup_text(proxy *p, const char *outer, const ramet_agent *a);
void mode_take(proxy *p, const message *m);
void option_take(proxy *p, const message *m);
/* Sends the settings to the editor if they differ from the last ones sent. */
void settings_send(proxy *p, session *s, const ramet_agent *a);
void usage_send(proxy *p, const run *r, const ramet_agent *a);

void posts_init(posts *q);
post *posts_take(posts *q); /* all of them; each is freed by post_free() */
void post_free(post *o);
bool talk_start(run *r);
void talk_free(run *r); /* waits for its thread */

#endif
