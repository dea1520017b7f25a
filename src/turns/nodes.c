/* SPDX-License-Identifier: Apache-2.0
 *
 * nodes.c: several servers on one database: what they tell and ask each other, and that they live.
 *
 * Four threads, each with a queue or a clock of its own:
 *
 * - teller: what this node says, in order. Each message gets the number of the newest event that
 *   was committed before it (N1), then goes to those who watch here and to the others.
 * - inbox: what others say, in order.
 * - worker: what others want done here; it may take a commit.
 * - pulse: says every 3 seconds that this node lives. Turns of one that has not said so for 15
 *   seconds are marked as interrupted, by one of those that live.
 *
 *   N1  Numbers come a moment after the commit. So that no word is put behind an entry that was
 *       appended after it, a run that appends waits for the place of what it said (nodes_settle());
 *       that takes time only when it appends twice within a few hundredths of a second.
 *       It also waits until that is sent, and the other nodes hand out an event when they have
 *       taken in what was sent before it (hear_settle()). Neither waits long: words may come late.
 *   N2  Messages get lost when a connection is: then every node that noticed asks all others how
 *       their runs stand, and tells how its own do (hello). What was said twice is left out by
 *       whoever hears it (F2 in turns/remote.c).
 */
#include "turns/turns_internal.h"
#include "ramet/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BEAT_MS = 3000, ALONE_S = 20, HEAR_MS = 1500, SETTLE_MS = 500 };
#define MESSAGE_MOST ((size_t)32 << 20)
#define INBOX_MOST ((size_t)64 << 20)

typedef struct item {
    struct item *next;
    int64_t mark; /* what had been committed */
    char *event;  /* a line for those who watch here; NULL: a message */
    char *who[2]; /* its session and tree */
    char *text;   /* NULL in the inbox: some were missed */
    size_t n;
} item;

typedef struct queue {
    item *first, **last;
    size_t bytes;
    int64_t added, done;
    pthread_cond_t work;
} queue;

/* Somebody here who waits for another node. */
typedef struct waiter {
    struct waiter *next;
    char no[UUID_TEXT];
    bool over;
    char did[DID_TEXT];
} waiter;

enum { TELLER, INBOX, WORKER, PULSE, THREADS };

struct nodes {
    turns *t;
    ramet *store;
    _Atomic int64_t heard; /* when another node was, by time_mono_us(); 0: never */
    atomic_bool others, listening;
    bool failed; /* the pulse: said once */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;  /* what somebody waits for has come */
    pthread_cond_t end;
    queue out, in, todo;
    bool missed; /* the last thing in the inbox is that something was */
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
    free(i->event);
    free(i->who[0]);
    free(i->who[1]);
    free(i->text);
    free(i);
}

/* With the lock. */
static void queue_add(queue *q, item *i)
{
    *q->last = i;
    q->last = &i->next;
    q->bytes += i->n;
    q->added++;
    pthread_cond_signal(&q->work);
}

/* Waits for the next one; NULL: it is to end, and there is none left. */
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

/* ------------------------------------------------------------------ telling */

bool nodes_others(const nodes *n)
{
    return n && n->others;
}

static void out_add(nodes *n, item *i)
{
    i->mark = ramet_event_mark(n->store);
    pthread_mutex_lock(&n->lock);
    queue_add(&n->out, i);
    pthread_mutex_unlock(&n->lock);
}

void nodes_say(nodes *n, buf *text)
{
    if (!text->over)
        out_add(n, item_new(text->p, text->n));
    buf_release(text);
}

void nodes_line(nodes *n, const run *r, const char *event)
{
    if (r->json.over || !live_watched(n->t->live))
        return;
    item *i = item_new(r->json.p, r->json.n);
    i->event = xstrdup(event);
    i->who[0] = xstrdup(r->session);
    i->who[1] = xstrdup(r->tree);
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
    if (n->others)
        ramet_tell_settle(n->store, SETTLE_MS);
}

static void *teller_main(void *arg)
{
    nodes *n = arg;
    item *i;
    buf text;
    buf_init(&text, MESSAGE_MOST);
    while ((i = queue_take(n, &n->out))) {
        int64_t after = ramet_event_upto(n->store, i->mark);
        if (i->event) {
            live_publish(n->t->live, after, i->who[0], i->who[1], i->event, i->text, i->n);
        } else {
            buf_clear(&text);
            buf_add(&text, i->text, i->n);
            buf_printf(&text, ",\"after\":%lld}", (long long)after);
            if (!text.over)
                ramet_tell(n->store, text.p, text.n);
        }
        item_free(i);
        pthread_mutex_lock(&n->lock);
        n->out.done++;
        if (n->settling)
            pthread_cond_broadcast(&n->wake);
        pthread_mutex_unlock(&n->lock);
        if (text.over) {
            buf_release(&text);
            buf_init(&text, MESSAGE_MOST);
        }
    }
    buf_release(&text);
    return NULL;
}

static json_writer say_begin(buf *out, const char *what)
{
    json_writer w;
    buf_init(out, MESSAGE_MOST);
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "m", what);
    return w;
}

/* N2. */
static void say_hello(nodes *n)
{
    buf out;
    json_writer w = say_begin(&out, "hello");
    jw_kstr(&w, "host", n->t->host);
    nodes_say(n, &out);
}

static void say_runs(nodes *n)
{
    size_t count;
    run **list = runs_held(n->t, NULL, &count);
    for (size_t i = 0; i < count; i++) {
        pthread_mutex_lock(&list[i]->lock);
        if (!list[i]->far && !list[i]->over)
            far_say_all(list[i]);
        pthread_mutex_unlock(&list[i]->lock);
    }
    runs_put(list, count);
}

/* Somebody is there. What ran before that was not told to anybody. */
static void others_there(nodes *n)
{
    if (!atomic_exchange(&n->others, true))
        say_runs(n);
}

/* ------------------------------------------------------------------ asking */

bool nodes_do(nodes *n, const node_do *what, int ms, char did[DID_TEXT])
{
    buf out;
    int64_t end = time_mono_us() + (int64_t)ms * 1000;
    struct timespec until = time_spec(end);
    waiter *me = xcalloc(1, sizeof *me);
    uuid7(time_now_us(), me->no);
    json_writer w = say_begin(&out, "do");
    jw_kstr(&w, "no", me->no);
    jw_kstr(&w, "op", what->op);
    jw_kstr(&w, "session", what->session);
    jw_kstr(&w, "turn", what->turn);
    jw_kstr(&w, "question", what->question);
    jw_kstr(&w, "answer", what->answer);
    jw_kbool(&w, "keep", what->keep);
    pthread_mutex_lock(&n->lock);
    me->next = n->waiters;
    n->waiters = me;
    pthread_mutex_unlock(&n->lock);
    nodes_say(n, &out);
    pthread_mutex_lock(&n->lock);
    while (!me->over && !n->stop && pthread_cond_timedwait(&n->wake, &n->lock, &until) == 0)
        continue;
    waiter **at = &n->waiters;
    while (*at != me)
        at = &(*at)->next;
    *at = me->next;
    pthread_mutex_unlock(&n->lock);
    snprintf(did, DID_TEXT, "%s", me->did);
    bool over = me->over;
    free(me);
    return over;
}

static const char *member(arena *a, const json_doc *d, const char *name)
{
    return json_text(a, d, json_get(d, &d->nodes[0], name));
}

static void did_hear(nodes *n, arena *a, const json_doc *d)
{
    const char *no = member(a, d, "no"), *did = member(a, d, "did");
    pthread_mutex_lock(&n->lock);
    for (waiter *w = n->waiters; w && no && did; w = w->next)
        if (strcmp(w->no, no) == 0) {
            snprintf(w->did, sizeof w->did, "%s", did);
            w->over = true;
        }
    pthread_cond_broadcast(&n->wake);
    pthread_mutex_unlock(&n->lock);
}

static void *worker_main(void *arg)
{
    nodes *n = arg;
    item *i;
    while ((i = queue_take(n, &n->todo))) {
        arena *a = arena_new();
        json_doc d;
        char did[DID_TEXT] = "";
        buf out;
        if (json_parse(a, i->text, i->n, 0, &d, NULL)) {
            node_do what = {.op = member(a, &d, "op"),
                            .session = member(a, &d, "session"),
                            .turn = member(a, &d, "turn"),
                            .question = member(a, &d, "question"),
                            .answer = member(a, &d, "answer"),
                            .keep = json_is(json_get(&d, &d.nodes[0], "keep"), JSON_TRUE)};
            const char *no = member(a, &d, "no");
            if (no && what.op && what.session && turns_do(n->t, a, &what, did)) {
                json_writer w = say_begin(&out, "did");
                jw_kstr(&w, "no", no);
                jw_kstr(&w, "did", did);
                nodes_say(n, &out);
            }
        }
        arena_free(a);
        item_free(i);
    }
    return NULL;
}

/* ------------------------------------------------------------------ hearing */

/* On a thread of the library. */
static void heard(void *arg, const char *text, size_t size)
{
    nodes *n = arg;
    pthread_mutex_lock(&n->lock);
    bool missed = !text || n->in.bytes + size > INBOX_MOST;
    if (!missed || !n->missed || !n->in.first)
        queue_add(&n->in, item_new(missed ? NULL : text, missed ? 0 : size));
    n->missed = missed;
    n->listening = true;
    pthread_mutex_unlock(&n->lock);
}

static void message_hear(nodes *n, arena *a, const json_doc *d, const item *i)
{
    buf out;
    const char *what = member(a, d, "m");
    n->heard = time_mono_us();
    others_there(n);
    if (!what || far_hear(n->t, a, d, what))
        return;
    /* "here" is the answer to a hello, and has done its work. */
    if (strcmp(what, "hello") == 0) {
        json_writer w = say_begin(&out, "here");
        jw_kstr(&w, "host", n->t->host);
        nodes_say(n, &out);
        say_runs(n);
    } else if (strcmp(what, "did") == 0) {
        did_hear(n, a, d);
    } else if (strcmp(what, "do") == 0) {
        pthread_mutex_lock(&n->lock);
        queue_add(&n->todo, item_new(i->text, i->n));
        pthread_mutex_unlock(&n->lock);
    }
}

static void *inbox_main(void *arg)
{
    nodes *n = arg;
    item *i;
    while ((i = queue_take(n, &n->in))) {
        arena *a = arena_new();
        json_doc d;
        if (!i->text) {
            say_hello(n);
            if (n->others)
                say_runs(n);
        } else if (json_parse(a, i->text, i->n, 0, &d, NULL)) {
            message_hear(n, a, &d, i);
        }
        arena_free(a);
        item_free(i);
        pthread_mutex_lock(&n->lock);
        n->in.done++;
        if (n->settling)
            pthread_cond_broadcast(&n->wake);
        pthread_mutex_unlock(&n->lock);
    }
    return NULL;
}

/* On the follower of live.c; N1. */
static void hear_settle(void *arg, int64_t event)
{
    nodes *n = arg;
    if (!n->others || !n->listening)
        return;
    struct timespec until = time_after(SETTLE_MS * INT64_C(1000));
    ramet_hear_upto(n->store, event, SETTLE_MS);
    pthread_mutex_lock(&n->lock);
    int64_t upto = n->in.added;
    n->settling++;
    while (n->in.done < upto && !n->stop && pthread_cond_timedwait(&n->wake, &n->lock, &until) == 0)
        continue;
    n->settling--;
    pthread_mutex_unlock(&n->lock);
}

/* ------------------------------------------------------------------ living */

static void pulse_once(nodes *n)
{
    ramet_error err;
    int64_t alive = 0, gone = 0;
    char text[24];
    ramet_status st = hosts_bury(n->store, n->t->host, &alive, &gone, &err);
    bool heard_of = n->heard && time_mono_us() - n->heard < ALONE_S * INT64_C(1000000);
    if (st == RAMET_OK && (alive > 1 || heard_of))
        others_there(n);
    else if (st == RAMET_OK)
        n->others = false;
    else if (!n->failed)
        log_line(LOG_WARN, "this node cannot say that it lives", "error", err.message, NULL);
    n->failed = st != RAMET_OK;
    if (gone) {
        snprintf(text, sizeof text, "%lld", (long long)gone);
        log_line(LOG_WARN, "turns of a node that is gone were interrupted", "turns", text, NULL);
    }
    far_look(n->t);
}

static void *pulse_main(void *arg)
{
    nodes *n = arg;
    pthread_mutex_lock(&n->lock);
    while (!n->stop) {
        pthread_mutex_unlock(&n->lock);
        pulse_once(n);
        struct timespec until = time_after(BEAT_MS * INT64_C(1000));
        pthread_mutex_lock(&n->lock);
        while (!n->stop && pthread_cond_timedwait(&n->end, &n->lock, &until) == 0)
            continue;
    }
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

/* Who is told that this server is ready can rely on it: it hears the others, and they know of it.
 */
void nodes_hear(nodes *n, bool others)
{
    int64_t until = time_mono_us() + HEAR_MS * INT64_C(1000);
    if (!ramet_hear(n->store, heard, n)) {
        log_line(LOG_WARN,
                 "other nodes cannot be heard through pgbouncer: their turns are not followed",
                 "setting", "db-direct", NULL);
        return;
    }
    live_settle(n->t->live, hear_settle, n);
    while ((!n->listening || (others && !n->heard)) && time_mono_us() < until)
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

nodes *nodes_new(turns *t)
{
    static void *(*const mains[])(void *) = {teller_main, inbox_main, worker_main, pulse_main};
    nodes *n = xcalloc(1, sizeof *n);
    n->t = t;
    n->store = t->store;
    queue_init(&n->out);
    queue_init(&n->in);
    queue_init(&n->todo);
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
    live_settle(n->t->live, NULL, NULL);
    nodes_settle(n);
    pthread_mutex_lock(&n->lock);
    n->stop = true;
    pthread_cond_broadcast(&n->wake);
    pthread_cond_broadcast(&n->end);
    pthread_cond_broadcast(&n->out.work);
    pthread_cond_broadcast(&n->in.work);
    pthread_cond_broadcast(&n->todo.work);
    pthread_mutex_unlock(&n->lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(n->threads[i], NULL);
    ramet_node_leave(n->store, n->t->host);
}

void nodes_free(nodes *n)
{
    if (!n)
        return;
    queue_free(&n->out);
    queue_free(&n->in);
    queue_free(&n->todo);
    pthread_cond_destroy(&n->wake);
    pthread_cond_destroy(&n->end);
    pthread_mutex_destroy(&n->lock);
    free(n);
}
