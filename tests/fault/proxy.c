/* SPDX-License-Identifier: Apache-2.0
 *
 * proxy.c: see proxy.h. One thread, one poll over all connections; a pair of sockets each.
 */
#include "proxy.h"

#include "help.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PAIRS = 64, PORT = 5432, CHUNK = 16384 };

typedef struct pair {
    int fd[2];    /* the store's, the server's; -1: free */
    int64_t fuse; /* bytes to the server before proxy_cut_after() cuts; -1: it does not */
} pair;

struct proxy {
    char *dir;
    struct sockaddr_un to;
    int listener, wake[2];
    pthread_t thread;
    pthread_mutex_t lock;
    pair pairs[PAIRS];
    int64_t passed[2];
    int64_t left; /* before the cut */
    proxy_way way;
    bool armed, cut, drop, stop;
    const char *trigger; /* of proxy_cut_after(); NULL: none */
    int fuse_most;
    int64_t cuts;
    rng random; /* of the thread */
};

static void die(const char *what)
{
    fprintf(stderr, "fault: the proxy cannot %s: %s\n", what, strerror(errno));
    abort();
}

/* The value of a parameter of a URL, up to the next one. */
static void url_param(const char *url, const char *name, char *out, size_t size)
{
    const char *at = strstr(url, name);
    size_t n = at ? strcspn(at += strlen(name), "&") : 0;
    if (!n || n >= size) {
        fprintf(stderr, "fault: no %s in the URL of the database\n", name);
        abort();
    }
    memcpy(out, at, n);
    out[n] = 0;
}

/* ---- the thread */

static void pair_close(pair *c)
{
    close(c->fd[0]);
    close(c->fd[1]);
    c->fd[0] = c->fd[1] = -1;
}

static void pair_accept(proxy *p)
{
    int store = accept(p->listener, NULL, NULL), i = 0;
    if (store < 0)
        return;
    while (i < PAIRS && p->pairs[i].fd[0] >= 0)
        i++;
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (i == PAIRS || connect(server, (struct sockaddr *)&p->to, sizeof p->to) != 0) {
        close(store);
        close(server);
        return;
    }
    p->pairs[i] = (pair){{store, server}, -1};
}

static bool write_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t k = send(fd, s, n, MSG_NOSIGNAL);
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

/* With the lock: burns the fuse of a connection, and lights it when the server has sent the
 * trigger. Returns how many of the n bytes pass; fewer than n: the connection is cut behind them.
 */
static ssize_t fuse_burn(proxy *p, pair *c, proxy_way way, const char *s, ssize_t n)
{
    if (way == PROXY_DOWN) {
        if (p->trigger && c->fuse < 0 && memmem(s, (size_t)n, p->trigger, strlen(p->trigger)))
            c->fuse = rng_below(&p->random, p->fuse_most + 1);
        return n;
    }
    if (c->fuse < 0)
        return n;
    if (n > c->fuse) {
        p->cuts++;
        return c->fuse;
    }
    c->fuse -= n;
    return n;
}

/* What came from one side goes to the other, up to the cut. */
static void pair_pass(proxy *p, pair *c, proxy_way way)
{
    char s[CHUNK];
    ssize_t n = recv(c->fd[way], s, sizeof s, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    bool end = n <= 0;
    pthread_mutex_lock(&p->lock);
    if (!end && p->armed && p->way == way) {
        if (n > p->left) {
            n = p->left;
            end = p->cut = true;
            p->armed = false;
        }
        p->left -= n;
    }
    if (!end) {
        ssize_t passes = fuse_burn(p, c, way, s, n);
        end = passes < n;
        n = passes;
    }
    if (n > 0)
        p->passed[way] += n;
    pthread_mutex_unlock(&p->lock);
    if (n > 0 && !write_all(c->fd[!way], s, (size_t)n))
        end = true;
    if (end)
        pair_close(c);
}

static void all_drop(proxy *p)
{
    for (int i = 0; i < PAIRS; i++)
        if (p->pairs[i].fd[0] >= 0)
            pair_close(&p->pairs[i]);
    pthread_mutex_lock(&p->lock);
    p->drop = false;
    pthread_mutex_unlock(&p->lock);
}

static void *proxy_run(void *arg)
{
    proxy *p = arg;
    struct pollfd f[2 + 2 * PAIRS];
    for (;;) {
        char byte;
        f[0] = (struct pollfd){.fd = p->wake[0], .events = POLLIN};
        f[1] = (struct pollfd){.fd = p->listener, .events = POLLIN};
        for (int i = 0; i < 2 * PAIRS; i++)
            f[2 + i] = (struct pollfd){.fd = p->pairs[i / 2].fd[i % 2], .events = POLLIN};
        if (poll(f, 2 + 2 * PAIRS, -1) < 0 && errno != EINTR)
            die("wait");
        if (f[0].revents && read(p->wake[0], &byte, 1) == 1) {
            if (p->stop)
                return NULL;
            all_drop(p);
            continue;
        }
        for (int i = 0; i < 2 * PAIRS; i++)
            if (f[2 + i].revents && p->pairs[i / 2].fd[i % 2] == f[2 + i].fd)
                pair_pass(p, &p->pairs[i / 2], (proxy_way)(i % 2));
        if (f[1].revents)
            pair_accept(p);
    }
}

/* ---- for the test */

proxy *proxy_new(const char *url)
{
    proxy *p = mem_new(sizeof *p);
    char host[80], port[16];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    url_param(url, "host=", host, sizeof host);
    url_param(url, "port=", port, sizeof port);
    p->dir = tmp_new("proxy");
    p->to.sun_family = AF_UNIX;
    snprintf(p->to.sun_path, sizeof p->to.sun_path, "%s/.s.PGSQL.%s", host, port);
    snprintf(at.sun_path, sizeof at.sun_path, "%.60s/.s.PGSQL.%d", p->dir, PORT);
    for (int i = 0; i < PAIRS; i++)
        p->pairs[i].fd[0] = p->pairs[i].fd[1] = -1;
    p->random = (rng){mix(opt.seed, 17)};
    pthread_mutex_init(&p->lock, NULL);
    p->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(p->listener, 64) || pipe(p->wake) ||
        pthread_create(&p->thread, NULL, proxy_run, p) != 0)
        die("start");
    return p;
}

static void proxy_wake(proxy *p)
{
    if (write(p->wake[1], "x", 1) != 1)
        die("be woken");
}

void proxy_free(proxy *p)
{
    p->stop = true;
    proxy_wake(p);
    pthread_join(p->thread, NULL);
    all_drop(p);
    close(p->listener);
    close(p->wake[0]);
    close(p->wake[1]);
    tmp_remove(p->dir);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* Of parameters that are there twice the last one counts. */
void proxy_url(const proxy *p, const char *url, char *out, size_t size)
{
    snprintf(out, size, "%s&host=%s&port=%d", url, p->dir, PORT);
}

int64_t proxy_bytes(proxy *p, proxy_way way)
{
    pthread_mutex_lock(&p->lock);
    int64_t n = p->passed[way];
    pthread_mutex_unlock(&p->lock);
    return n;
}

void proxy_arm(proxy *p, proxy_way way, int64_t n)
{
    pthread_mutex_lock(&p->lock);
    p->passed[0] = p->passed[1] = 0;
    p->way = way;
    p->left = n;
    p->armed = true;
    p->cut = false;
    pthread_mutex_unlock(&p->lock);
}

bool proxy_disarm(proxy *p)
{
    pthread_mutex_lock(&p->lock);
    bool cut = p->cut;
    p->armed = p->cut = false;
    p->passed[0] = p->passed[1] = 0;
    pthread_mutex_unlock(&p->lock);
    return cut;
}

void proxy_drop(proxy *p)
{
    pthread_mutex_lock(&p->lock);
    p->drop = true;
    pthread_mutex_unlock(&p->lock);
    proxy_wake(p);
    for (bool wait = true; wait;) {
        sleep_us(100);
        pthread_mutex_lock(&p->lock);
        wait = p->drop;
        pthread_mutex_unlock(&p->lock);
    }
}

void proxy_cut_after(proxy *p, const char *text, int most)
{
    pthread_mutex_lock(&p->lock);
    p->trigger = text;
    p->fuse_most = most;
    pthread_mutex_unlock(&p->lock);
}

int64_t proxy_cuts(proxy *p)
{
    pthread_mutex_lock(&p->lock);
    int64_t n = p->cuts;
    pthread_mutex_unlock(&p->lock);
    return n;
}
