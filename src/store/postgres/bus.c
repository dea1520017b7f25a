/* SPDX-License-Identifier: Apache-2.0
 *
 * Publish and subscribe between the processes on one PostgreSQL database, by NOTIFY and LISTEN.
 *
 *   B1  A process has two connections for it, outside the pool and not through pgbouncer: one
 *       listens, one sends. Each is opened when it is first needed, and again when it is lost.
 *   B2  Messages are sent in order, many in one statement, on a separate thread: no write waits for
 *       them.
 *   B3  A long message is split at a character boundary and reassembled by the receiver. The sender
 *       numbers its parts: a part that arrives twice (a batch was sent again on a new connection)
 *       is dropped, and a gap is reported to the subscriber.
 *   B4  Nothing is stored. A subscriber must be able to ask again for what it has missed. For
 *       events the table is authoritative, and a poll each second finds what no message announced.
 *   B5  A process that publishes, waits for bus_flush() and then commits can rely on the order:
 *       another one that has received the number of that commit has received the message before,
 *       since the server delivers messages in the order of their commits.
 *
 * A payload is "e" and the number of the newest event, or "m", the sender, the number of the part
 * among all of that sender, its position in the message, '+' (more follow) or '.', and the text.
 */
#include "store/postgres/postgres.h"

#include "base/buf.h"
#include "base/util.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PAYLOAD 7900 /* PostgreSQL allows up to 7,999 bytes */
#define HEAD 64      /* of these, at most, before the text */
#define MAX_MESSAGE_BYTES ((size_t)64 << 20)
#define MAX_QUEUE_BYTES ((size_t)64 << 20)
#define BATCH_BYTES ((size_t)1 << 20)
#define MAX_SENDERS 1024
#define CONNECT_MS 10000
#define ANSWER_MS 10000
#define AGAIN_MS 500  /* between two attempts to connect */
#define LEAVE_MS 2000 /* at the end, time to send what is queued */

typedef struct payload {
    struct payload *next;
    size_t n;
    char text[];
} payload;

/* Another process, and its incomplete message. */
typedef struct sender {
    struct sender *next;
    char id[17];
    int64_t seq;
    bool whole; /* the message has no gap so far */
    buf text;
} sender;

struct bus {
    db_site *site;
    event_callback on_event;
    void *on_event_arg;
    char id[17];
    int stop_fd; /* readable once the bus is closing */

    pthread_mutex_t delivery; /* protects these; held while a message is delivered */
    _Atomic bool up;          /* LISTEN is active */
    bus_subscriber subscriber;
    void *subscriber_arg;

    pthread_mutex_t lock; /* protects the following */
    pthread_cond_t work;  /* for the sending thread */
    pthread_cond_t moved; /* something was sent or received, or cannot be */
    bool listening, sending, stop;
    bool failing; /* the last attempt to send failed */
    _Atomic bool follows;
    pthread_t listener, sender;
    payload *first, **last;
    size_t queued;
    int64_t seq;
    int64_t added, gone; /* payloads queued so far, and removed from the queue */
    int64_t newest;      /* the highest event number received */

    /* used by the listening thread only */
    sender *senders;
    size_t n_senders;
};

/* ------------------------------------------------------------- connections */

static bool stopped(bus *b)
{
    struct pollfd p = {.fd = b->stop_fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

/* True: the connection is readable (or writable); false: timeout, or the bus is closing. */
static bool conn_wait(bus *b, PGconn *c, bool write, int64_t until)
{
    int64_t left = (until - time_mono_us()) / 1000;
    struct pollfd p[2] = {{.fd = PQsocket(c), .events = write ? POLLOUT : POLLIN},
                          {.fd = b->stop_fd, .events = POLLIN}};
    int rc = poll(p, 2, left > 0 ? (int)left : 0);
    return (rc > 0 && !p[1].revents) || (rc < 0 && errno == EINTR);
}

static void hush(void *arg, const char *message)
{
    (void)arg;
    (void)message;
}

static PGconn *conn_open(bus *b)
{
    int64_t until = time_mono_us() + CONNECT_MS * 1000;
    PGconn *c = PQconnectStartParams((const char *const *)b->site->keys,
                                     (const char *const *)b->site->values, 0);
    PostgresPollingStatusType at = PGRES_POLLING_WRITING;
    while (c && PQstatus(c) != CONNECTION_BAD && at != PGRES_POLLING_OK &&
           at != PGRES_POLLING_FAILED) {
        if (!conn_wait(b, c, at == PGRES_POLLING_WRITING, until))
            break;
        at = PQconnectPoll(c);
    }
    if (at == PGRES_POLLING_OK) {
        PQsetNoticeProcessor(c, hush, NULL);
        return c;
    }
    PQfinish(c);
    return NULL;
}

/* Runs a statement; the caller owns the result, NULL when it failed. */
static PGresult *conn_run(bus *b, PGconn *c, const char *sql, const char *const *values, int n)
{
    int64_t until = time_mono_us() + ANSWER_MS * 1000;
    PGresult *out = NULL, *r;
    bool sent = PQsendQueryParams(c, sql, n, NULL, values, NULL, NULL, 0) == 1;
    while (sent && PQisBusy(c))
        sent = conn_wait(b, c, false, until) && PQconsumeInput(c) == 1;
    while (sent && (r = PQgetResult(c))) {
        PQclear(out);
        out = r;
    }
    ExecStatusType st = PQresultStatus(out);
    if (out && (st == PGRES_TUPLES_OK || st == PGRES_COMMAND_OK))
        return out;
    PQclear(out);
    return NULL;
}

/* Sleeps; false when the bus is closing. */
static bool pause_ms(bus *b, int ms)
{
    struct pollfd p = {.fd = b->stop_fd, .events = POLLIN};
    return poll(&p, 1, ms) <= 0;
}

/* --------------------------------------------------------------- listening */

static void up_set(bus *b, bool up)
{
    pthread_mutex_lock(&b->delivery);
    b->up = up;
    pthread_mutex_unlock(&b->delivery);
    pthread_mutex_lock(&b->lock);
    pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
}

static void deliver(bus *b, const char *text, size_t n)
{
    pthread_mutex_lock(&b->delivery);
    if (b->subscriber)
        b->subscriber(b->subscriber_arg, text, n);
    pthread_mutex_unlock(&b->delivery);
}

static void sender_free(sender *s)
{
    buf_release(&s->text);
    free(s);
}

/* The sender of that name. When there are too many, the one that was silent longest is dropped. */
static sender *sender_get(bus *b, const char *id, bool *known)
{
    sender **at = &b->senders;
    while (*at && strcmp((*at)->id, id) != 0)
        at = &(*at)->next;
    sender *s = *at;
    *known = s != NULL;
    if (s) {
        *at = s->next;
    } else {
        s = xcalloc(1, sizeof *s);
        snprintf(s->id, sizeof s->id, "%s", id);
        buf_init(&s->text, MAX_MESSAGE_BYTES);
        b->n_senders++;
    }
    s->next = b->senders;
    b->senders = s;
    if (b->n_senders > MAX_SENDERS) {
        for (at = &b->senders; (*at)->next;)
            at = &(*at)->next;
        sender_free(*at);
        *at = NULL;
        b->n_senders--;
    }
    return s;
}

static void part_take(bus *b, const char *text)
{
    char id[17], more;
    long long seq;
    int part, head = 0;
    bool known;
    if (sscanf(text, "m%16s %lld %d%c%n", id, &seq, &part, &more, &head) != 4 || !head ||
        strcmp(id, b->id) == 0)
        return;
    sender *s = sender_get(b, id, &known);
    if (known && seq <= s->seq)
        return;
    bool gap = known && seq != s->seq + 1;
    s->seq = seq;
    if (gap)
        deliver(b, NULL, 0);
    if (part == 0) {
        buf_release(&s->text);
        buf_init(&s->text, MAX_MESSAGE_BYTES);
        s->whole = true;
    } else if (gap || !known) {
        s->whole = false;
    }
    if (!s->whole)
        return;
    buf_puts(&s->text, text + head);
    if (more == '.' && !s->text.over)
        deliver(b, s->text.data, s->text.n);
}

static void event_take(bus *b, int64_t no)
{
    pthread_mutex_lock(&b->lock);
    if (b->newest < no)
        b->newest = no;
    pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
    b->on_event(b->on_event_arg, no);
}

static void payload_take(bus *b, const char *text)
{
    if (text[0] == 'e')
        event_take(b, strtoll(text + 1, NULL, 10));
    else
        part_take(b, text);
}

static PGconn *listen_open(bus *b)
{
    char sql[128];
    PGconn *c = conn_open(b);
    PGresult *r = c ? conn_run(b, c, "SELECT " BUS_CHANNEL, NULL, 0) : NULL;
    if (r) {
        snprintf(sql, sizeof sql, "LISTEN %s", PQgetvalue(r, 0, 0));
        PQclear(r);
        r = conn_run(b, c, sql, NULL, 0);
    }
    if (r) {
        PQclear(r);
        return c;
    }
    PQfinish(c);
    return NULL;
}

/* Listens until the connection is lost. */
static void listen_on(bus *b, PGconn *c)
{
    PGnotify *n;
    struct pollfd p[2] = {{.fd = PQsocket(c), .events = POLLIN},
                          {.fd = b->stop_fd, .events = POLLIN}};
    for (;;) {
        while ((n = PQnotifies(c))) {
            payload_take(b, n->extra);
            PQfreemem(n);
        }
        int rc = poll(p, 2, -1);
        if ((rc < 0 && errno != EINTR) || (rc > 0 && p[1].revents) ||
            (rc > 0 && PQconsumeInput(c) != 1))
            return;
    }
}

static void *listener_main(void *arg)
{
    bus *b = arg;
    while (!stopped(b)) {
        PGconn *c = listen_open(b);
        if (c) {
            up_set(b, true);
            deliver(b, NULL, 0); /* something may have been published before */
            listen_on(b, c);
            up_set(b, false);
        }
        PQfinish(c);
        pause_ms(b, AGAIN_MS);
    }
    return NULL;
}

/* ----------------------------------------------------------------- sending */

/* Call with the lock held. */
static void queue_add(bus *b, int part, const char *text, size_t n, bool more)
{
    payload *p = xmalloc(sizeof *p + HEAD + n + 1);
    int head = snprintf(p->text, HEAD, "m%s %lld %d%c", b->id, (long long)++b->seq, part,
                        more ? '+' : '.');
    memcpy(p->text + head, text, n);
    p->n = (size_t)head + n;
    p->text[p->n] = 0;
    p->next = NULL;
    *b->last = p;
    b->last = &p->next;
    b->queued += p->n;
    b->added++;
}

/* The number of bytes that fit into a payload and end at a character boundary. */
static size_t part_bytes(const char *text, size_t n)
{
    if (n <= PAYLOAD - HEAD)
        return n;
    size_t cut = PAYLOAD - HEAD;
    while (cut && ((unsigned char)text[cut] & 0xC0) == 0x80)
        cut--;
    return cut;
}

static void array_item(buf *out, const payload *p)
{
    buf_putc(out, out->n > 1 ? ',' : '{');
    buf_putc(out, '"');
    for (const char *s = p->text; *s;) {
        size_t n = strcspn(s, "\"\\");
        buf_add(out, s, n);
        s += n;
        if (*s) {
            buf_putc(out, '\\');
            buf_putc(out, *s++);
        }
    }
    buf_putc(out, '"');
}

/* Makes a batch to send; its payloads stay in the queue until it was sent. Call with the lock
 * held. */
static size_t batch_make(const bus *b, buf *out)
{
    size_t n = 0;
    buf_clear(out);
    for (const payload *p = b->first; p && out->n < BATCH_BYTES; p = p->next, n++)
        array_item(out, p);
    buf_putc(out, '}');
    return n;
}

static void batch_done(bus *b, size_t n)
{
    for (; n; n--) {
        payload *p = b->first;
        b->first = p->next;
        b->queued -= p->n;
        b->gone++;
        free(p);
    }
    if (!b->first)
        b->last = &b->first;
}

static bool batch_out(bus *b, PGconn *c, const char *array)
{
    PGresult *r =
        conn_run(b, c, "SELECT pg_notify(" BUS_CHANNEL ",x) FROM unnest($1::text[]) x", &array, 1);
    PQclear(r);
    return r != NULL;
}

static PGconn *send_open(bus *b)
{
    PGconn *c = conn_open(b);
    /* Messages need not be durable. */
    PGresult *r = c ? conn_run(b, c, "SET synchronous_commit=off", NULL, 0) : NULL;
    PQclear(r);
    if (r)
        return c;
    PQfinish(c);
    return NULL;
}

static void *sender_main(void *arg)
{
    bus *b = arg;
    PGconn *c = NULL;
    buf batch;
    buf_init(&batch, 4 * BATCH_BYTES);
    pthread_mutex_lock(&b->lock);
    for (;;) {
        while (!b->first && !b->stop)
            pthread_cond_wait(&b->work, &b->lock);
        if (!b->first)
            break;
        size_t n = batch_make(b, &batch);
        pthread_mutex_unlock(&b->lock);
        c = c ? c : send_open(b);
        bool sent = c && batch_out(b, c, batch.data);
        if (!sent) {
            PQfinish(c);
            c = NULL;
        }
        pthread_mutex_lock(&b->lock);
        if (sent)
            batch_done(b, n);
        b->failing = !sent;
        pthread_cond_broadcast(&b->moved);
        pthread_mutex_unlock(&b->lock);
        bool on = sent || pause_ms(b, AGAIN_MS);
        pthread_mutex_lock(&b->lock);
        if (!on)
            break;
    }
    pthread_mutex_unlock(&b->lock);
    buf_release(&batch);
    PQfinish(c);
    return NULL;
}

void bus_publish(bus *b, const char *text, size_t n)
{
    pthread_mutex_lock(&b->lock);
    if (!b->sending && !b->stop)
        b->sending = pthread_create(&b->sender, NULL, sender_main, b) == 0;
    if (!b->sending || b->stop || n > MAX_MESSAGE_BYTES || b->queued + n > MAX_QUEUE_BYTES) {
        b->seq++; /* B3: subscribers detect the gap */
        pthread_mutex_unlock(&b->lock);
        return;
    }
    size_t at = 0;
    for (int part = 0; part == 0 || at < n; part++) {
        size_t some = part_bytes(text + at, n - at);
        queue_add(b, part, text + at, some, at + some < n);
        at += some;
    }
    pthread_cond_signal(&b->work);
    pthread_mutex_unlock(&b->lock);
}

/* ----------------------------------------------------------------- waiting */

void bus_flush(bus *b, int ms)
{
    struct timespec until = time_after((int64_t)ms * 1000);
    pthread_mutex_lock(&b->lock);
    int64_t upto = b->added;
    while (b->gone < upto && b->sending && !b->failing && !b->stop &&
           pthread_cond_timedwait(&b->moved, &b->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&b->lock);
}

void bus_wait_event(bus *b, int64_t no, int ms)
{
    struct timespec until = time_after((int64_t)ms * 1000);
    pthread_mutex_lock(&b->lock);
    while (b->newest < no && b->up && !b->stop &&
           pthread_cond_timedwait(&b->moved, &b->lock, &until) == 0)
        ;
    pthread_mutex_unlock(&b->lock);
}

/* ------------------------------------------------------------- open, close */

bus *bus_new(db_site *site, event_callback on_event, void *arg)
{
    uint8_t id[8];
    bus *b = xcalloc(1, sizeof *b);
    b->site = site;
    b->on_event = on_event;
    b->on_event_arg = arg;
    b->last = &b->first;
    b->stop_fd = eventfd(0, EFD_CLOEXEC);
    random_bytes(id, sizeof id);
    hex_encode(id, sizeof id, b->id);
    pthread_mutex_init(&b->delivery, NULL);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->work, NULL);
    cond_init(&b->moved);
    return b;
}

bool bus_follow(bus *b)
{
    /* LISTEN does not work through pgbouncer. */
    if (b->site->bouncer || !b->on_event)
        return false;
    if (b->follows)
        return true;
    pthread_mutex_lock(&b->lock);
    if (!b->listening)
        b->listening = pthread_create(&b->listener, NULL, listener_main, b) == 0;
    b->follows = b->listening;
    pthread_mutex_unlock(&b->lock);
    return b->follows;
}

bool bus_subscribe(bus *b, bus_subscriber subscriber, void *arg)
{
    pthread_mutex_lock(&b->delivery);
    b->subscriber = subscriber;
    b->subscriber_arg = arg;
    if (subscriber && b->up) /* something may have been published before */
        subscriber(arg, NULL, 0);
    pthread_mutex_unlock(&b->delivery);
    return !subscriber || bus_follow(b);
}

/* Sends what was published last, such as the end of a turn. */
static void queue_leave(bus *b)
{
    int64_t until = time_mono_us() + LEAVE_MS * 1000;
    bool left = true;
    while (left && time_mono_us() < until) {
        pthread_mutex_lock(&b->lock);
        left = b->sending && b->first;
        pthread_mutex_unlock(&b->lock);
        if (left)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
}

void bus_free(bus *b)
{
    if (!b)
        return;
    uint64_t one = 1;
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    pthread_cond_signal(&b->work);
    pthread_cond_broadcast(&b->moved);
    pthread_mutex_unlock(&b->lock);
    queue_leave(b);
    while (write(b->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
    if (b->listening)
        pthread_join(b->listener, NULL);
    if (b->sending)
        pthread_join(b->sender, NULL);
    while (b->senders) {
        sender *s = b->senders;
        b->senders = s->next;
        sender_free(s);
    }
    for (payload *p = b->first; p;) {
        payload *next = p->next;
        free(p);
        p = next;
    }
    close(b->stop_fd);
    pthread_cond_destroy(&b->work);
    pthread_cond_destroy(&b->moved);
    pthread_mutex_destroy(&b->lock);
    pthread_mutex_destroy(&b->delivery);
    free(b);
}
