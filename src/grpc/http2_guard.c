/* SPDX-License-Identifier: Apache-2.0
 *
 * http2_guard.c: the guard's thread: copies bytes between clients and the gRPC core, and ends
 * connections.
 *
 * A connection goes through these states, in this order; it may skip any of them:
 *
 *   RELAY    bytes go both ways
 *   FLUSH    the server's end is closed; the remaining bytes go to the client
 *   LINGER   everything was sent, and our side is shut down. Input is read and dropped for a
 *            moment: closing the socket earlier would reset the connection, and a client that is
 *            reset may never see the GOAWAY.
 *   DEAD     closed; freed when no event of this round can name it any more
 *
 * Both sockets are in one level-triggered epoll set, each only while it has something to do.
 */
#include "grpc/http2_internal.h"

#include "base/arena.h"
#include "base/util.h"
#include "runtime/log.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CHUNK ((size_t)64 * 1024) /* bytes per read */
#define EVENTS 64                 /* events per call */
#define TICK_MS 500               /* between two checks of deadlines */
#define HURRY_MS 20               /* … while a connection waits for others */
#define FLUSH_US 10000000
#define LINGER_US 1000000
#define STOP_US 3000000              /* time to deliver what the core wrote before it stopped */
#define LINGER_MAX ((size_t)1 << 20) /* most bytes dropped */
#define LOG_US 1000000               /* between two log lines about cut connections */

typedef struct http2_conn http2_conn;

typedef enum { RELAY, FLUSH, LINGER, DEAD } conn_state;

/* One socket, and the bytes to be written to it. */
typedef struct side {
    http2_conn *conn;
    int fd;          /* -1: closed */
    uint32_t events; /* registered in epoll; 0: not in epoll */
    uint8_t *bytes;  /* NULL: nothing waits */
    size_t n, at;
    bool ended; /* end of input */
} side;

struct http2_conn {
    http2_guard *guard;
    http2_conn *prev, *next;
    conn_state state;
    side client, server;
    http2_frames frames;
    bool crowded;     /* not read until streams of other connections have ended */
    bool deaf;        /* the core accepts no more input; its output is still read */
    int64_t moved_us; /* when the client last read something, or nothing waited for it */
    int64_t until_us; /* FLUSH, LINGER: when to close it, whatever the client does */
    size_t dropped;
    char remote[INET6_ADDRSTRLEN];
};

struct http2_guard {
    http2_config cfg;
    http2_shares *shares;
    int poll, wake;
    pthread_t thread;
    atomic_bool ending, stop;
    _Atomic int64_t cuts;
    pthread_mutex_t lock;
    http2_conn *fresh; /* under the lock: accepted, and not yet seen by the thread */
    /* For the thread only. */
    http2_conn *conns, *dead;
    size_t n_hurry; /* connections that wait for others, at the last check */
    int64_t logged_us;
    uint8_t chunk[CHUNK];
    uint8_t out[CHUNK + HTTP2_UPDATE];
};

http2_shares *guard_shares(http2_guard *g)
{
    return g->shares;
}

int64_t http2_guard_cuts(const http2_guard *g)
{
    return atomic_load(&g->cuts);
}

/* --------------------------------------------------------------------------- sides */

static void side_want(side *s, uint32_t events)
{
    struct epoll_event e = {.events = events, .data.ptr = s};
    if (s->fd < 0 || events == s->events)
        return;
    epoll_ctl(s->conn->guard->poll,
              !events      ? EPOLL_CTL_DEL
              : !s->events ? EPOLL_CTL_ADD
                           : EPOLL_CTL_MOD,
              s->fd, &e);
    s->events = events;
}

static void side_forget(side *s)
{
    free(s->bytes);
    s->bytes = NULL;
}

static void side_close(side *s)
{
    side_want(s, 0);
    side_forget(s);
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* Writes, and keeps what the socket does not accept. False: it is broken. */
static bool side_write(side *s, const uint8_t *p, size_t n)
{
    ssize_t sent = 0;
    if (!s->bytes && n)
        sent = send(s->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    size_t done = sent > 0 ? (size_t)sent : 0;
    if (done == n)
        return true;
    size_t kept = s->bytes ? s->n - s->at : 0;
    uint8_t *all = xmalloc(kept + n - done);
    if (kept)
        memcpy(all, s->bytes + s->at, kept);
    memcpy(all + kept, p + done, n - done);
    free(s->bytes);
    s->bytes = all;
    s->at = 0;
    s->n = kept + n - done;
    return true;
}

static bool side_flush(side *s)
{
    ssize_t sent = send(s->fd, s->bytes + s->at, s->n - s->at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0)
        return errno == EAGAIN || errno == EINTR;
    s->at += (size_t)sent;
    if (s->at == s->n)
        side_forget(s);
    return true;
}

/* --------------------------------------------------------------------- connections */

static void conn_want(http2_conn *c)
{
    uint32_t client = c->client.bytes ? EPOLLOUT : 0;
    uint32_t server = c->server.bytes ? EPOLLOUT : 0;
    bool reads =
        c->state == RELAY ? !c->server.bytes && !c->crowded && !c->deaf : c->state == LINGER;
    if (reads && !c->client.ended)
        client |= EPOLLIN;
    if (c->state == RELAY && !c->client.bytes)
        server |= EPOLLIN;
    side_want(&c->client, client);
    side_want(&c->server, server);
}

static void conn_close(http2_conn *c)
{
    http2_guard *g = c->guard;
    if (c->state == DEAD)
        return;
    c->state = DEAD;
    side_close(&c->server);
    frames_release(&c->frames);
    shares_release(g->shares, c->frames.from);
    /* The acceptor has a second descriptor of it, and sees this. */
    shutdown(c->client.fd, SHUT_RDWR);
    side_close(&c->client);
    if (c->prev)
        c->prev->next = c->next;
    else
        g->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    c->next = g->dead;
    g->dead = c;
}

/* Called when the server's side has ended. */
static void conn_finish(http2_conn *c)
{
    assert(c->state == RELAY || c->state == FLUSH);
    if (c->state == RELAY) {
        side_close(&c->server);
        frames_release(&c->frames);
        c->until_us = time_mono_us() + FLUSH_US;
        c->state = FLUSH;
    }
    if (!c->client.bytes) {
        shutdown(c->client.fd, SHUT_WR);
        c->until_us = time_mono_us() + LINGER_US;
        c->state = LINGER;
        if (c->client.ended)
            conn_close(c);
    }
}

static void cut_log(http2_conn *c, http2_verdict why)
{
    http2_guard *g = c->guard;
    int64_t now = time_mono_us();
    if (why == HTTP2_OFF || why == HTTP2_STOPPING)
        return;
    atomic_fetch_add(&g->cuts, 1);
    if (now - g->logged_us < LOG_US)
        return;
    g->logged_us = now;
    log_line(LOG_WARN, "an HTTP/2 connection was cut", "remote", c->remote, "reason",
             http2_verdicts[why].text, NULL);
}

static void conn_cut(http2_conn *c, http2_verdict why)
{
    uint8_t bytes[HTTP2_GOAWAY_MAX];
    if (c->state != RELAY)
        return;
    cut_log(c, why);
    size_t n = frames_goaway(!c->frames.greeted, c->frames.last_id, why, bytes);
    /* A client that does not speak HTTP/2 would not understand a GOAWAY. */
    if (why == HTTP2_BAD_PREFACE || (frames_whole(&c->frames) && !side_write(&c->client, bytes, n)))
        conn_close(c);
    else
        conn_finish(c);
}

/* ------------------------------------------------------------------------- relaying */

static void client_end(http2_conn *c)
{
    c->client.ended = true;
    if (c->state == LINGER)
        conn_close(c);
    else
        shutdown(c->server.fd, SHUT_WR); /* nothing waits for it, or we would not have read */
}

static void client_drop(http2_conn *c, size_t n)
{
    c->dropped += n;
    if (c->dropped > LINGER_MAX)
        conn_close(c);
}

static void client_read(http2_conn *c, int64_t now)
{
    http2_guard *g = c->guard;
    if (c->state == RELAY && shares_crowded(g->shares, c->frames.from)) {
        c->crowded = true;
        return;
    }
    ssize_t n = recv(c->client.fd, g->chunk, CHUNK, MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        conn_close(c);
    else if (n == 0)
        client_end(c);
    if (n <= 0)
        return;
    if (c->state == LINGER) {
        client_drop(c, (size_t)n);
        return;
    }
    http2_verdict v = frames_client(&c->frames, g->chunk, (size_t)n, now);
    if (v != HTTP2_FINE)
        conn_cut(c, v);
    else if (!side_write(&c->server, g->chunk, (size_t)n))
        c->deaf = true;
}

static void server_read(http2_conn *c, int64_t now)
{
    http2_guard *g = c->guard;
    http2_verdict v;
    ssize_t n = recv(c->server.fd, g->chunk, CHUNK, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        conn_finish(c);
        return;
    }
    size_t out = frames_server(&c->frames, g->chunk, (size_t)n, g->out, now, &v);
    c->moved_us = now;
    if (out && !side_write(&c->client, g->out, out))
        conn_close(c);
    else if (v != HTTP2_FINE)
        conn_cut(c, v);
}

static void updates_send(http2_conn *c, int64_t now)
{
    if (c->state != RELAY || !c->frames.n_parked || !frames_whole(&c->frames) || c->client.bytes)
        return;
    size_t n = frames_grant(&c->frames, c->guard->out, sizeof c->guard->out);
    c->moved_us = now;
    if (n && !side_write(&c->client, c->guard->out, n))
        conn_close(c);
}

static void client_event(http2_conn *c, uint32_t events, int64_t now)
{
    if (events & EPOLLOUT && c->client.bytes) {
        if (!side_flush(&c->client)) {
            conn_close(c);
            return;
        }
        c->moved_us = now;
        if (c->state == FLUSH)
            conn_finish(c);
    }
    if (events & EPOLLIN && c->client.events & EPOLLIN && c->state != DEAD)
        client_read(c, now);
    else if (events & (EPOLLHUP | EPOLLERR))
        conn_close(c);
}

static void server_event(http2_conn *c, uint32_t events, int64_t now)
{
    if (events & EPOLLOUT && c->server.bytes && !side_flush(&c->server)) {
        c->deaf = true;
        side_forget(&c->server);
    }
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && c->server.events & EPOLLIN)
        server_read(c, now);
}

static void side_event(side *s, uint32_t events, int64_t now)
{
    http2_conn *c = s->conn;
    if (c->state == DEAD || s->fd < 0)
        return;
    if (s == &c->client)
        client_event(c, events, now);
    else
        server_event(c, events, now);
    updates_send(c, now);
    if (c->state != DEAD)
        conn_want(c);
}

/* ------------------------------------------------------------------------ the thread */

static http2_verdict conn_late(const http2_conn *c, int64_t now)
{
    int64_t idle = (int64_t)c->guard->cfg.idle_s * 1000000;
    if (c->client.bytes && now - c->moved_us > idle)
        return HTTP2_STALLED;
    return c->crowded ? HTTP2_FINE : frames_late(&c->frames, now);
}

static void conn_look(http2_conn *c, int64_t now)
{
    http2_guard *g = c->guard;
    http2_verdict late = HTTP2_FINE;
    if (c->state != RELAY) {
        if (now > c->until_us)
            conn_close(c);
        return;
    }
    if (c->crowded && !shares_crowded(g->shares, c->frames.from))
        c->crowded = false;
    updates_send(c, now);
    if (c->state == RELAY)
        late = atomic_load(&g->ending) ? HTTP2_STOPPING : conn_late(c, now);
    if (late != HTTP2_FINE)
        conn_cut(c, late);
    if (c->state != DEAD)
        conn_want(c);
    g->n_hurry += c->state == RELAY && (c->crowded || c->frames.n_parked);
}

static void conns_look(http2_guard *g, int64_t now)
{
    g->n_hurry = 0;
    for (http2_conn *c = g->conns, *next; c; c = next) {
        next = c->next;
        conn_look(c, now);
    }
}

static void fresh_take(http2_guard *g)
{
    pthread_mutex_lock(&g->lock);
    http2_conn *c = g->fresh;
    g->fresh = NULL;
    pthread_mutex_unlock(&g->lock);
    for (http2_conn *next; c; c = next) {
        next = c->next;
        c->next = g->conns;
        if (c->next)
            c->next->prev = c;
        g->conns = c;
        if (g->cfg.refuse)
            conn_cut(c, HTTP2_OFF);
        if (c->state != DEAD)
            conn_want(c);
    }
}

static void dead_free(http2_guard *g)
{
    while (g->dead) {
        http2_conn *c = g->dead;
        g->dead = c->next;
        free(c);
    }
}

static void *guard_main(void *arg)
{
    http2_guard *g = arg;
    struct epoll_event list[EVENTS];
    int64_t looked = 0, until = INT64_MAX;
    while (!atomic_load(&g->stop) || (g->conns && time_mono_us() < until)) {
        if (atomic_load(&g->stop) && until == INT64_MAX)
            until = time_mono_us() + STOP_US;
        int every = g->n_hurry ? HURRY_MS : TICK_MS;
        int n = epoll_wait(g->poll, list, EVENTS, every);
        int64_t now = time_mono_us();
        bool woken = false;
        for (int i = 0; i < n; i++) {
            if (list[i].data.ptr)
                side_event(list[i].data.ptr, list[i].events, now);
            else
                woken = true;
        }
        uint64_t count;
        if (woken && read(g->wake, &count, sizeof count) == sizeof count)
            fresh_take(g);
        if (now - looked >= every * INT64_C(1000) || atomic_load(&g->ending)) {
            looked = now;
            conns_look(g, now);
        }
        dead_free(g);
    }
    fresh_take(g);
    while (g->conns)
        conn_close(g->conns);
    dead_free(g);
    return NULL;
}

/* ------------------------------------------------------------------- start and stop */

http2_guard *http2_guard_start(const http2_config *cfg)
{
    http2_guard *g = xcalloc(1, sizeof *g);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    g->cfg = *cfg;
    g->shares = shares_new(&g->cfg);
    pthread_mutex_init(&g->lock, NULL);
    g->poll = epoll_create1(EPOLL_CLOEXEC);
    g->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->poll < 0 || g->wake < 0 || epoll_ctl(g->poll, EPOLL_CTL_ADD, g->wake, &e) != 0 ||
        pthread_create(&g->thread, NULL, guard_main, g) != 0)
        abort(); /* a server that just started has run out of descriptors or threads */
    return g;
}

static void guard_wake(http2_guard *g)
{
    uint64_t one = 1;
    while (write(g->wake, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

static void remote_text(const struct sockaddr *sa, char text[INET6_ADDRSTRLEN])
{
    const void *at = sa->sa_family == AF_INET
                         ? (const void *)&((const struct sockaddr_in *)(const void *)sa)->sin_addr
                         : &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
    if (!inet_ntop(sa->sa_family, at, text, INET6_ADDRSTRLEN))
        text[0] = 0;
}

/* From here on the thread owns the connection. */
static void conn_begin(http2_conn *c)
{
    http2_guard *g = c->guard;
    pthread_mutex_lock(&g->lock);
    c->next = g->fresh;
    g->fresh = c;
    pthread_mutex_unlock(&g->lock);
    guard_wake(g);
}

bool http2_guard_take(http2_guard *g, int fd)
{
    struct sockaddr_storage from = {0};
    struct sockaddr *sa = (struct sockaddr *)&from;
    socklen_t len = sizeof from;
    int pair[2] = {-1, -1};
    if (atomic_load(&g->ending) || getpeername(fd, sa, &len) != 0 ||
        (!g->cfg.refuse &&
         socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) != 0))
        return false;
    http2_conn *c = xcalloc(1, sizeof *c);
    int64_t now = time_mono_us();
    c->guard = g;
    c->client = (side){.conn = c, .fd = fd};
    c->server = (side){.conn = c, .fd = pair[0]};
    c->moved_us = now;
    remote_text(sa, c->remote);
    frames_init(&c->frames, &g->cfg, g->shares, shares_address(g->shares, sa), now);
    if (!g->cfg.refuse) {
        shares_bind(g->shares, pair[1], c->frames.from, c->remote);
        g->cfg.serve(pair[1], g->cfg.arg);
    }
    conn_begin(c);
    return true;
}

void http2_guard_end(http2_guard *g)
{
    atomic_store(&g->ending, true);
    guard_wake(g);
}

void http2_guard_free(http2_guard *g)
{
    if (!g)
        return;
    atomic_store(&g->stop, true);
    guard_wake(g);
    pthread_join(g->thread, NULL);
    close(g->poll);
    close(g->wake);
    shares_free(g->shares);
    pthread_mutex_destroy(&g->lock);
    free(g);
}
