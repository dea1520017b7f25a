/* SPDX-License-Identifier: Apache-2.0
 *
 * push_post.h: posts push notifications, many at the same time, in one thread.
 */
#ifndef FACE_A2A_PUSH_POST_H
#define FACE_A2A_PUSH_POST_H

#include "face/a2a/push.h"

/* One request, which belongs to the caller; it must stay valid until `done` is called. */
typedef struct push_post {
    const push_target *target;
    bool old; /* a notification of version 0.3 */
    const char *body;
    /* Called once, in the thread that posts, with the status of the answer; 0: there was none. It
     * must not wait for anything. */
    void (*done)(void *arg, long status);
    void *arg;
    struct push_post *next; /* used by push_posts */
} push_post;

typedef struct push_posts push_posts;
/* `private_urls`: private and loopback addresses are allowed. */
push_posts *push_posts_start(bool private_urls);
void push_posts_add(push_posts *p, push_post *post);
/* Interrupts all requests (their status is 0) and ends the thread. Nothing may be added then. */
void push_posts_stop(push_posts *p);

#endif
