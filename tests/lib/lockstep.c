/* SPDX-License-Identifier: Apache-2.0
 *
 * lockstep.c: see lockstep.h. One thread, which reads and writes with blocking calls.
 */
#include "lockstep.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { PORT = 5432, CHUNK = 16384 };

struct lockstep {
    struct sockaddr_un server;
    char dir[80];
    int listener;
    pthread_t thread;
    atomic_int left; /* exchanges before the cut; below 0: no limit */
    atomic_int answered;
};

static void die(const char *what)
{
    fprintf(stderr, "tests: the proxy cannot %s: %s\n", what, strerror(errno));
    abort();
}

/* The value of a parameter of a URL, up to the next one. */
static void url_param(const char *url, const char *name, char *out, size_t size)
{
    const char *at = strstr(url, name);
    size_t n = at ? strcspn(at += strlen(name), "&") : 0;
    if (!n || n >= size) {
        fprintf(stderr, "tests: no %s in the URL of the database\n", name);
        abort();
    }
    memcpy(out, at, n);
    out[n] = 0;
}

/* ---- messages */

static bool read_all(int fd, char *to, size_t n)
{
    while (n) {
        ssize_t k = recv(fd, to, n, 0);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        to += k;
        n -= (size_t)k;
    }
    return true;
}

static bool write_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t k = send(fd, s, n, MSG_NOSIGNAL);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        s += k;
        n -= (size_t)k;
    }
    return true;
}

/* Passes a length, which counts itself, and what it is the length of. */
static bool rest_pass(int from, int to)
{
    uint32_t net;
    char s[CHUNK];
    if (!read_all(from, (char *)&net, sizeof net) || !write_all(to, (const char *)&net, sizeof net))
        return false;
    for (size_t left = ntohl(net) - sizeof net; left;) {
        size_t n = left < sizeof s ? left : sizeof s;
        if (!read_all(from, s, n) || !write_all(to, s, n))
            return false;
        left -= n;
    }
    return true;
}

/* Passes messages up to one of a type in `last`. False: a side has closed. */
static bool messages_pass(int from, int to, const char *last)
{
    char type;
    do {
        if (!read_all(from, &type, 1) || !write_all(to, &type, 1) || !rest_pass(from, to))
            return false;
    } while (!strchr(last, type));
    return true;
}

/* ---- the thread */

/* The first message of a client has no type; the server answers it like an exchange. An exchange is
 * counted before its answer is passed: a client that has it sees the count. */
static void connection_pass(lockstep *l, int client, int server)
{
    bool last = false, fine = rest_pass(client, server) && messages_pass(server, client, "Z");
    while (fine && !last && messages_pass(client, server, "SQ")) {
        l->answered++;
        last = l->left > 0 && --l->left == 0;
        fine = messages_pass(server, client, "Z");
    }
}

static void *lockstep_run(void *arg)
{
    lockstep *l = arg;
    int client;
    while ((client = accept(l->listener, NULL, NULL)) >= 0) {
        int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (server < 0 || connect(server, (struct sockaddr *)&l->server, sizeof l->server) != 0)
            die("reach the server");
        connection_pass(l, client, server);
        close(client);
        close(server);
    }
    return NULL;
}

/* ---- for the test */

lockstep *lockstep_new(const char *url, const char *dir)
{
    lockstep *l = calloc(1, sizeof *l);
    char host[80], port[16];
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!l)
        die("be made");
    url_param(url, "host=", host, sizeof host);
    url_param(url, "port=", port, sizeof port);
    l->left = -1;
    l->server.sun_family = AF_UNIX;
    snprintf(l->dir, sizeof l->dir, "%s", dir);
    snprintf(l->server.sun_path, sizeof l->server.sun_path, "%s/.s.PGSQL.%s", host, port);
    snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.%d", dir, PORT);
    l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (l->listener < 0 || bind(l->listener, (struct sockaddr *)&at, sizeof at) ||
        listen(l->listener, 8) || pthread_create(&l->thread, NULL, lockstep_run, l) != 0)
        die("start");
    return l;
}

void lockstep_free(lockstep *l)
{
    shutdown(l->listener, SHUT_RDWR); /* accept() returns */
    pthread_join(l->thread, NULL);
    close(l->listener);
    free(l);
}

/* Of parameters that are there twice the last one counts. */
void lockstep_url(const lockstep *l, const char *url, char *out, size_t size)
{
    snprintf(out, size, "%s&host=%s&port=%d", url, l->dir, PORT);
}

void lockstep_cut_after(lockstep *l, int exchanges)
{
    l->answered = 0;
    l->left = exchanges;
}

int lockstep_answered(lockstep *l)
{
    return l->answered;
}
