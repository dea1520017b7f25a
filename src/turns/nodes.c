/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c: connects several servers on one database: the queues and threads through which they
 * exchange messages, and the heartbeat that shows that a node is alive.
 */
/* clang-format off */
/*
 * Four threads, each with its own queue or clock:
 *   sender     sends this node's messages, in order. Each gets the number of the newest event
 *              committed before it (N1), then goes to watchers of this node or to other nodes.
 *   inbox      processes messages of other nodes, in order.
 *   worker     executes commands of other nodes, which may take a commit.
 *   heartbeat  records every 3 seconds that this node is alive. If a node has not done so for 15
 *              seconds, one of the live nodes marks its turns as interrupted.
 *
 * Invariants
 *   N1  Event numbers are known a moment after the commit. A delta must not be placed after an entry
 *       that was appended later. So a run that appends first waits until the place of what it has
 *       sent is known (nodes_settle()); that takes time only if it appends twice within a few
 *       hundredths of a second. It also waits until that is sent, and other nodes deliver an event
 *       only after they have processed what was sent before it (inbox_settle()). Both waits are
 *       bounded: after that, deltas may arrive late.
 *   N2  Messages are lost when a connection is. A node that notices this asks all others for their
 *       runs and sends its own (NODE_HELLO). The receiver drops what it already has (F2 in remote.c).
 */
/* clang-format on */
#include "turns/turns_internal.h"
#include "ramet/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { HEARTBEAT_MS = 3000, ALONE_AFTER_S = 20, START_WAIT_MS = 1500, MAX_SETTLE_MS = 500 };
#define MAX_MESSAGE_BYTES ((size_t)32 << 20)
#define MAX_INBOX_BYTES ((size_t)64 << 20)

typedef struct item {
    struct item *next;
    int64_t mark;  /* newest commit when it was queued */
    bool is_event; /* an event for watchers of this node, otherwise a message */
    bool is_delta; /* for an event, like the next members */
    char *session, *tree;
    char *text; /* NULL in the inbox: some messages were missed */
    size_t n;
} item;

typedef struct queue {
    item *first, **last;
    size_t bytes;
    int64_t added, done;
    pthread_cond_t work;
} queue;

/* A thread of this node that waits for the outcome of a command. */
typedef struct waiter {
    struct waiter *next;
    char number[UUID_TEXT];
    bool is_done;
    char outcome[OUTCOME_TEXT];
} waiter;

enum { SENDER, INBOX, WORKER, HEARTBEAT, THREADS };

struct nodes {
    turns *turns;
    ramet *store;
    _Atomic int64_t
        last_received_us;   /* when another node was last received, by time_mono_us(); 0: never */
    atomic_bool has_others; /* other nodes are alive */
    atomic_bool listening;  /* messages arrive */
    bool failed;            /* of the heartbeat: the failure was logged */

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t wake;  /* a command has an outcome, or a queue has advanced */
    pthread_cond_t end;
    queue out, in, commands;
    bool missed; /* the last inbox item already reports missed messages */
    int settling;
    waiter *waiters;
    bool stop;
    pthread_t threads[THREADS];
};

/* ------------------------------------------------------------------ queues */

static item *item_new(const char *text, size_t n)
{
    item *i = xcalloc(1, sizeof *i);
    if (text) {
        i->text = xmalloc(n + 1);
        memcpy(i->text, text, n);
        i->text[n] = 0;
    }
    i->n = n;
    return i;
}

static void item_free(item *i)
{
    free(i->session);
    free(i->tree);
    free(i->text);
    free(i);
}

/* Caller holds the lock. */
static void queue_add(queue *q, item *i)
{
    *q->last = i;
    q->last = &i->next;
    q->bytes += i->n;
    q->added++;
    pthread_cond_signal(&q->work);
}

/* Waits for the next item; NULL: the queue is empty and the thread must end. */
static item *queue_take(nodes *n, queue *q)
{
    pthread_mutex_lock(&n->lock);
    while (!q->first && !n->stop)
        pthread_cond_wait(&q->work, &n->lock);
    item *i = q->first;
    if (i) {
        q->first = i->next;
        q->bytes -= i->n;
        if (!q->first)
            q->last = &q->first;
    }
    pthread_mutex_unlock(&n->lock);
    return i;
}

static void queue_init(queue *q)
{
    q->last = &q->first;
    pthread_cond_init(&q->work, NULL);
}

static void queue_free(queue *q)
{
    pthread_cond_destroy(&q->work);
    while (q->first) {
        item *i = q->first;
        q->first = i->next;
        item_free(i);
    }
}

/* ------------------------------------------------------------------ sending */

bool nodes_has_others(const nodes *n)
{
    return n && n->has_others;
}

static void out_add(nodes *n, item *i)
{
    i->mark = ramet_event_mark(n->store);
    pthread_mutex_lock(&n->lock);
    queue_add(&n->out, i);
    pthread_mutex_unlock(&n->lock);
}

void nodes_send(nodes *n, const node_message *m)
{
    buf text;
    buf_init(&text, MAX_MESSAGE_BYTES);
    node_message_write(m, &text);
    if (!text.over)
        out_add(n, item_new(text.data, text.n));
    buf_release(&text);
}

void nodes_publish(nodes *n, const ephemeral_event *e)
{
    item *i = item_new(e->bytes, e->n);
    i->is_event = true;
    i->is_delta = e->is_delta;
    i->session = xstrdup(e->session);
    i->tree = xstrdup(e->tree);
    out_add(n, i);
}

void nodes_settle(nodes *n)
{
    if (!n)
        return;
    pthread_mutex_lock(&n->lock);
    int64_t upto = n->out.added;
    n->settling++;
    while (n->out.done < upto && !n->stop)
        pthread_cond_wait(&n->wake, &n->lock);
    n->settling--;
    pthread_mutex_unlock(&n->lock);
    if (n->has_others)
        ramet_tell_settle(n->store, MAX_SETTLE_MS);
}

static void item_send(nodes *n, const item *i, buf *text)
{
    int64_t after = ramet_event_upto(n->store, i->mark);
    if (i->is_event) {
        ephemeral_event e = {.session = i->session,
                             .tree = i->tree,
                             .is_delta = i->is_delta,
                             .bytes = i->text,
                             .n = i->n};
        live_publish(n->turns->live, after, &e);
        return;
    }
    buf_clear(text);
    buf_add(text, i->text, i->n);
    node_message_finish(text, after);
    if (!text->over)
        ramet_tell(n->store, text->data, text->n);
}

/* One item less to process: wakes threads that wait for a queue. */
static void item_done(nodes *n, queue *q, item *i)
{
    item_free(i);
    pthread_mutex_lock(&n->lock);
    q->done++;
    if (n->settling)
        pthread_cond_broadcast(&n->wake);
    pthread_mutex_unlock(&n->lock);
}

static void *sender_main(void *arg)
{
    nodes *n = arg;
    item *i;
    buf text;
    buf_init(&text, MAX_MESSAGE_BYTES);
    while ((i = queue_take(n, &n->out))) {
        item_send(n, i, &text);
        item_done(n, &n->out, i);
        if (text.over) {
            buf_release(&text);
            buf_init(&text, MAX_MESSAGE_BYTES);
        }
    }
    buf_release(&text);
    return NULL;
}

/* See N2. */
static void send_hello(nodes *n)
{
    nodes_send(n, &(node_message){.kind = NODE_HELLO, .host = n->turns->host});
}

static void send_runs(nodes *n)
{
    size_t count;
    run **list = runs_held(n->turns, NULL, &count);
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&list[i]->lock);
        if (!list[i]->is_remote && !run_is_over(list[i]))
            remote_send_run(list[i]);
        pthread_mutex_unlock(&list[i]->lock);
    }
    runs_put(list, count);
}

/* Another node has appeared. It does not know the runs that began earlier. */
static void others_found(nodes *n)
{
    if (!atomic_exchange(&n->has_others, true))
        send_runs(n);
}

/* ------------------------------------------------------------------ commands */

bool nodes_request(nodes *n, const node_command *what, int ms, char outcome[OUTCOME_TEXT])
{
    struct timespec until = time_spec(time_mono_us() + (int64_t)ms * 1000);
    waiter *me = xcalloc(1, sizeof *me);
    uuid7(time_now_us(), me->number);
    pthread_mutex_lock(&n->lock);
    me->next = n->waiters;
    n->waiters = me;
    pthread_mutex_unlock(&n->lock);
    nodes_send(n, &(node_message){.kind = NODE_COMMAND, .number = me->number, .command = *what});
    pthread_mutex_lock(&n->lock);
    while (!me->is_done && !n->stop && pthread_cond_timedwait(&n->wake, &n->lock, &until) == 0)
        continue;
    waiter **at = &n->waiters;
    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    pthread_mutex_unlock(&n->lock);
    snprintf(outcome, OUTCOME_TEXT, "%s", me->outcome);
    bool is_done = me->is_done;
    free(me);
    return is_done;
}

static void outcome_receive(nodes *n, const node_message *m)
{
    pthread_mutex_lock(&n->lock);
    for (waiter *w = n->waiters; w; w = w->next)
        if (strcmp(w->number, m->number) == 0) {
            snprintf(w->outcome, sizeof w->outcome, "%s", m->outcome);
            w->is_done = true;
        }
    pthread_cond_broadcast(&n->wake);
    pthread_mutex_unlock(&n->lock);
}

static void *worker_main(void *arg)
{
    nodes *n = arg;
    item *i;
    while ((i = queue_take(n, &n->commands))) {
        arena *a = arena_new();
        node_message m;
        char outcome[OUTCOME_TEXT] = "";
        if (node_message_read(a, i->text, i->n, &m) &&
            turns_execute(n->turns, a, &m.command, outcome))
            nodes_send(
                n, &(node_message){.kind = NODE_OUTCOME, .number = m.number, .outcome = outcome});
        arena_free(a);
        item_free(i);
    }
    return NULL;
}

/* ------------------------------------------------------------------ receiving */

/* Runs on a thread of the library. Text NULL: messages were missed. */
static void inbox_add(void *arg, const char *text, size_t size)
{
    nodes *n = arg;
    pthread_mutex_lock(&n->lock);
    bool missed = !text || n->in.bytes + size > MAX_INBOX_BYTES;
    if (!missed || !n->missed || !n->in.first)
        queue_add(&n->in, item_new(missed ? NULL : text, missed ? 0 : size));
    n->missed = missed;
    n->listening = true;
    pthread_mutex_unlock(&n->lock);
}

static void message_receive(nodes *n, const node_message *m, const item *i)
{
    switch (m->kind) {
    case NODE_RUN:
    case NODE_DELTA:
    case NODE_APPENDED:
    case NODE_QUESTION:
    case NODE_PLAN:
    case NODE_ENDED:
    case NODE_SNAPSHOT_REQUEST:
        remote_receive(n->turns, m);
        return;
    case NODE_HELLO:
        nodes_send(n, &(node_message){.kind = NODE_HERE, .host = n->turns->host});
        send_runs(n);
        return;
    case NODE_HERE: /* its arrival is all that matters */
        return;
    case NODE_COMMAND:
        pthread_mutex_lock(&n->lock);
        queue_add(&n->commands, item_new(i->text, i->n));
        pthread_mutex_unlock(&n->lock);
        return;
    case NODE_OUTCOME:
        outcome_receive(n, m);
        return;
    }
}

static void *inbox_main(void *arg)
{
    nodes *n = arg;
    item *i;
    while ((i = queue_take(n, &n->in))) {
        arena *a = arena_new();
        node_message m;
        if (!i->text) {
            send_hello(n);
            if (n->has_others)
                send_runs(n);
        } else {
            n->last_received_us = time_mono_us();
            others_found(n);
            if (node_message_read(a, i->text, i->n, &m))
                message_receive(n, &m, i);
        }
        arena_free(a);
        item_done(n, &n->in, i);
    }
    return NULL;
}

/* Runs on the follower of live.c (N1). */
static void inbox_settle(void *arg, int64_t event)
{
    nodes *n = arg;
    if (!n->has_others || !n->listening)
        return;
    struct timespec until = time_after(MAX_SETTLE_MS * INT64_C(1000));
    ramet_hear_upto(n->store, event, MAX_SETTLE_MS);
    pthread_mutex_lock(&n->lock);
    int64_t upto = n->in.added;
    n->settling++;
    while (n->in.done < upto && !n->stop && pthread_cond_timedwait(&n->wake, &n->lock, &until) == 0)
        continue;
    n->settling--;
    pthread_mutex_unlock(&n->lock);
}

/* ------------------------------------------------------------------ heartbeat */

static void heartbeat(nodes *n)
{
    ramet_error err;
    int64_t alive = 0, gone = 0;
    char text[24];
    ramet_status st = hosts_bury(n->store, n->turns->host, &alive, &gone, &err);
    bool is_connected = n->last_received_us &&
                        time_mono_us() - n->last_received_us < ALONE_AFTER_S * INT64_C(1000000);
    if (st == RAMET_OK && (alive > 1 || is_connected))
        others_found(n);
    else if (st == RAMET_OK)
        n->has_others = false;
    else if (!n->failed)
        log_line(LOG_WARN, "this node cannot say that it lives", "error", err.message, NULL);
    n->failed = st != RAMET_OK;
    if (gone) {
        snprintf(text, sizeof text, "%lld", (long long)gone);
        log_line(LOG_WARN, "turns of a node that is gone were interrupted", "turns", text, NULL);
    }
    remote_check_silent(n->turns);
}

static void *heartbeat_main(void *arg)
{
    nodes *n = arg;
    pthread_mutex_lock(&n->lock);
    while (!n->stop) {
        pthread_mutex_unlock(&n->lock);
        heartbeat(n);
        struct timespec until = time_after(HEARTBEAT_MS * INT64_C(1000));
        pthread_mutex_lock(&n->lock);
        while (!n->stop && pthread_cond_timedwait(&n->end, &n->lock, &until) == 0)
            continue;
    }
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

/* When a server reports that it is ready, it receives messages and the other nodes know it. */
void nodes_listen(nodes *n, bool others)
{
    int64_t until = time_mono_us() + START_WAIT_MS * INT64_C(1000);
    if (!ramet_hear(n->store, inbox_add, n)) {
        log_line(LOG_WARN,
                 "other nodes cannot be heard through pgbouncer: their turns are not followed",
                 "setting", "db-direct", NULL);
        return;
    }
    live_settle(n->turns->live, inbox_settle, n);
    while ((!n->listening || (others && !n->last_received_us)) && time_mono_us() < until)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

nodes *nodes_new(turns *t)
{
    static void *(*const mains[])(void *) = {sender_main, inbox_main, worker_main, heartbeat_main};
    nodes *n = xcalloc(1, sizeof *n);
    n->turns = t;
    n->store = t->store;
    queue_init(&n->out);
    queue_init(&n->in);
    queue_init(&n->commands);
    pthread_mutex_init(&n->lock, NULL);
    cond_init(&n->wake);
    cond_init(&n->end);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&n->threads[i], NULL, mains[i], n))
            abort();
    return n;
}

void nodes_stop(nodes *n)
{
    ramet_hear(n->store, NULL, NULL);
    live_settle(n->turns->live, NULL, NULL);
    nodes_settle(n);
    pthread_mutex_lock(&n->lock);
    n->stop = true;
    pthread_cond_broadcast(&n->wake);
    pthread_cond_broadcast(&n->end);
    pthread_cond_broadcast(&n->out.work);
    pthread_cond_broadcast(&n->in.work);
    pthread_cond_broadcast(&n->commands.work);
    pthread_mutex_unlock(&n->lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(n->threads[i], NULL);
    ramet_node_leave(n->store, n->turns->host);
}

void nodes_free(nodes *n)
{
    if (!n)
        return;
    queue_free(&n->out);
    queue_free(&n->in);
    queue_free(&n->commands);
    pthread_cond_destroy(&n->wake);
    pthread_cond_destroy(&n->end);
    pthread_mutex_destroy(&n->lock);
    free(n);
}
