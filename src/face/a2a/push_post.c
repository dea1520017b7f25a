/* SPDX-License-Identifier: Apache-2.0
 *
 * push_post.c: posts push notifications, many at the same time, in one thread.
 *
 * A receiver that answers slowly costs a connection for at most WHOLE_MS, and no thread. How many
 * requests are made at the same time is decided by the caller.
 *
 * A destination must not be an address that only the server can reach. The check applies to the
 * address that the socket is about to connect to; no redirect is followed and no proxy is used.
 */
#include "face/a2a/push_post.h"

#include "base/address.h"
#include "base/curl_setup.h"
#include "base/util.h"
#include "face/a2a/a2a_face.h"

#include <pthread.h>
#include <stdlib.h>

enum { CONNECT_MS = 5000, WHOLE_MS = 15000, MAX_POLL_MS = 60000 };
/* An answer has no meaning beyond its status: the rest of a longer one is not read. */
enum { MAX_ANSWER_BYTES = 65536 };

struct push_posts {
    CURLM *multi;
    pthread_t thread;
    bool private_urls;
    pthread_mutex_t lock; /* guards the rest */
    push_post *added;     /* not begun yet */
    bool stop;
};

/* A request while it is made; only the thread uses it. */
typedef struct transfer {
    struct transfer *next;
    push_post *post;
    arena *arena;
    CURL *curl;
    struct curl_slist *headers;
    size_t bytes; /* of the answer */
} transfer;

static curl_socket_t socket_open(void *arg, curlsocktype purpose, struct curl_sockaddr *at)
{
    const push_posts *p = arg;
    (void)purpose;
    if (!p->private_urls && address_is_private(&at->addr))
        return CURL_SOCKET_BAD;
    return socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
}

static size_t answer_drop(char *bytes, size_t size, size_t n, void *arg)
{
    transfer *t = arg;
    (void)bytes;
    t->bytes += size * n;
    return t->bytes > MAX_ANSWER_BYTES ? 0 : size * n;
}

static struct curl_slist *headers_make(arena *a, const push_target *t, bool old)
{
    struct curl_slist *h = NULL;
    h = curl_slist_append(h, old ? "Content-Type: application/json" : "Content-Type: " A2A_JSON);
    if (!old)
        h = curl_slist_append(h, "A2A-Version: 1.0");
    if (t->token)
        h = curl_slist_append(h, arena_printf(a, "X-A2A-Notification-Token: %s", t->token));
    if (t->credentials)
        h = curl_slist_append(h, arena_printf(a, "Authorization: %.*s%s%s",
                                              t->scheme ? (int)push_scheme_length(t->scheme) : 0,
                                              t->scheme ? t->scheme : "", t->scheme ? " " : "",
                                              t->credentials));
    return h;
}

/* ------------------------------------------------------------------ one request */

static void transfer_end(push_posts *p, transfer *t, long status)
{
    push_post *post = t->post;
    if (t->curl) {
        curl_multi_remove_handle(p->multi, t->curl);
        curl_easy_cleanup(t->curl);
    }
    curl_slist_free_all(t->headers);
    arena_free(t->arena);
    post->done(post->arg, status);
}

/* NULL: it could not be begun, and has ended. */
static transfer *transfer_begin(push_posts *p, push_post *post)
{
    arena *a = arena_new();
    transfer *t = arena_alloc(a, sizeof *t);
    *t = (transfer){.post = post, .arena = a, .curl = curl_easy_init()};
    if (!t->curl) {
        transfer_end(p, t, 0);
        return NULL;
    }
    t->headers = headers_make(a, post->target, post->old);
    curl_setup(t->curl, post->target->url, CONNECT_MS, WHOLE_MS, answer_drop, t);
    curl_easy_setopt(t->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(t->curl, CURLOPT_POSTFIELDS, post->body);
    curl_easy_setopt(t->curl, CURLOPT_HTTPHEADER, t->headers);
    curl_easy_setopt(t->curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_easy_setopt(t->curl, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    curl_easy_setopt(t->curl, CURLOPT_OPENSOCKETDATA, p);
    /* Requests share no connection: one must not wait behind another. */
    curl_easy_setopt(t->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(t->curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(t->curl, CURLOPT_PRIVATE, t);
    if (curl_multi_add_handle(p->multi, t->curl) == CURLM_OK)
        return t;
    transfer_end(p, t, 0);
    return NULL;
}

static long status_of(CURL *curl, CURLcode code)
{
    long status = 0;
    if (code == CURLE_OK || code == CURLE_WRITE_ERROR) /* see answer_drop() */
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* ------------------------------------------------------------------ the thread */

/* Takes what was added; *stop: whether to end. */
static push_post *added_take(push_posts *p, bool *stop)
{
    pthread_mutex_lock(&p->lock);
    push_post *first = p->added;
    p->added = NULL;
    *stop = p->stop;
    pthread_mutex_unlock(&p->lock);
    return first;
}

static void transfer_unlink(transfer **all, const transfer *t)
{
    while (*all != t)
        all = &(*all)->next;
    *all = t->next;
}

static void ended_take(push_posts *p, transfer **all)
{
    CURLMsg *m;
    int left;
    while ((m = curl_multi_info_read(p->multi, &left))) {
        char *own = NULL;
        if (m->msg != CURLMSG_DONE)
            continue;
        long status = status_of(m->easy_handle, m->data.result);
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &own);
        transfer *t = (transfer *)(void *)own;
        transfer_unlink(all, t);
        transfer_end(p, t, status);
    }
}

static void *posts_main(void *arg)
{
    push_posts *p = arg;
    transfer *all = NULL;
    bool stop = false;
    while (!stop) {
        int running;
        for (push_post *post = added_take(p, &stop), *next; post; post = next) {
            next = post->next;
            transfer *t = transfer_begin(p, post);
            if (t) {
                t->next = all;
                all = t;
            }
        }
        curl_multi_perform(p->multi, &running);
        ended_take(p, &all);
        if (!stop)
            curl_multi_poll(p->multi, NULL, 0, MAX_POLL_MS, NULL);
    }
    for (transfer *t = all, *next; t; t = next) {
        next = t->next;
        transfer_end(p, t, 0);
    }
    return NULL;
}

push_posts *push_posts_start(bool private_urls)
{
    push_posts *p = xcalloc(1, sizeof *p);
    p->private_urls = private_urls;
    p->multi = curl_multi_init();
    curl_multi_setopt(p->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    pthread_mutex_init(&p->lock, NULL);
    if (!p->multi || pthread_create(&p->thread, NULL, posts_main, p))
        abort();
    return p;
}

void push_posts_add(push_posts *p, push_post *post)
{
    pthread_mutex_lock(&p->lock);
    post->next = p->added;
    p->added = post;
    pthread_mutex_unlock(&p->lock);
    curl_multi_wakeup(p->multi);
}

void push_posts_stop(push_posts *p)
{
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    curl_multi_wakeup(p->multi);
    pthread_join(p->thread, NULL);
    curl_multi_cleanup(p->multi);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
