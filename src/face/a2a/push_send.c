/* SPDX-License-Identifier: Apache-2.0
 *
 * push_send.c: delivers push notifications.
 *
 * A thread looks at the destinations that are due, and compares what was sent to each with the turn
 * of its task. Where they differ it claims the row, and the task as it is then is posted. So
 * nothing has to be recorded when a turn changes, and what a node that died has not delivered,
 * another one does. A change that comes while another is delivered waits for it; a destination that
 * is slow gets the newest state, not each one between.
 *
 *   looked at ── nothing new, or no room ──► looked at again
 *       │ claim: `due` moves forward by LEASE_US
 *       ▼
 *   prepared    a worker reads the task; over the limit of bytes: due again in a moment
 *       ▼
 *   posted      push_post.c; no thread waits for the answer
 *       ▼
 *   answered    a worker records it
 *       ├ delivered ── the task goes on ──► due at once
 *       │           └─ the task has ended ► never due again
 *       └ failed: due after a back-off; after MAX_TRIES never again
 *
 * A receiver that answers slowly, or not at all, must not delay other notifications:
 *
 *   Q1  At most MAX_PER_RECEIVER deliveries of one user are open to one receiver (host and port),
 * and at most MAX_PER_OWNER, with MAX_OWNER_BYTES of bodies, of one user to all receivers. Q2  At
 * most MAX_OPEN deliveries are open, with MAX_BYTES of bodies. Past half of either, only users with
 * no other open delivery get one. Q3  A row without room is not claimed: it stays due, and the rows
 * after it are looked at.
 *
 *   A notification is delivered at least once: a node that dies after the post and before it has
 *   recorded that leaves it to be posted again.
 */
#include "face/a2a/push.h"

#include "base/util.h"
#include "face/a2a/a2a_face.h"
#include "face/a2a/push_post.h"
#include "runtime/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 2, PAGE = 200, MAX_TRIES = 12 };
enum { MAX_OPEN = 256, MAX_PER_OWNER = 16, MAX_PER_RECEIVER = 4 };
enum { MAX_BYTES = 64 << 20, MAX_OWNER_BYTES = 8 << 20 };
enum { LOOK_MS = 250, IDLE_MS = 5000, FULL_MS = 1000 };
enum { FIRST_BACKOFF_MS = 1000, MAX_BACKOFF_MS = 300000 };
#define LEASE_US INT64_C(60000000)
/* `sent` for a question, and for tasks that are no turns: see ramet_push. */
enum { SENT_QUESTION = 1000, SENT_STATE = 500, SENT_MASK = 0x3fffffff };

typedef enum { DELIVERY_CLAIMED, DELIVERY_POSTED, DELIVERY_ANSWERED } delivery_state;

/* A row that is claimed, until it is settled. */
typedef struct delivery {
    struct delivery *next_open; /* in the list of all */
    struct delivery *next;      /* in the queue of the workers */
    a2a_push *push;
    arena *arena;
    delivery_state state;
    ramet_push row;
    push_target target;
    const char *receiver; /* host and port */
    int64_t sent;         /* what it will have been sent */
    push_post post;
    size_t bytes; /* of the body */
    bool over;    /* nothing will change after it */
    long status;  /* of the answer; 0: there was none */
} delivery;

struct a2a_push {
    a2a_push_config cfg;
    push_posts *posts;
    pthread_t looker, workers[WORKERS];
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    delivery *open; /* all */
    size_t n_open;
    delivery *first, **last; /* those that a worker has to do something for */
    bool stop, look;         /* look: there is something new */
};

static bool stopping(a2a_push *p)
{
    pthread_mutex_lock(&p->lock);
    bool stop = p->stop;
    pthread_mutex_unlock(&p->lock);
    return stop;
}

/* ------------------------------------------------------------------ what is to be sent */

/* The question that the task waits for, if its turn runs on this node: *runs. */
static const turn_question *question_of(a2a_push *p, ramet_call *c, const ramet_push *row,
                                        bool *runs)
{
    ramet_session *s;
    turn_running running;
    *runs = ramet_session_get(c, row->session, &s) == RAMET_OK &&
            turns_running_get(p->cfg.turns, s, ramet_call_arena(c), &running) &&
            strcmp(running.turn, row->task) == 0;
    return *runs ? running.question : NULL;
}

static int64_t question_number(const turn_question *question)
{
    return SENT_QUESTION + (int64_t)(hash_text(question->id) & SENT_MASK);
}

/* What a destination should have been sent by now; what it was sent: nothing is new. */
static int64_t wanted(a2a_push *p, ramet_call *c, const ramet_push *row)
{
    bool runs;
    a2a_task *t;
    if (!row->has_turn)
        return a2a_task_get(c, row->session, row->task, &t) == RAMET_OK
                   ? SENT_STATE + (int64_t)t->state
                   : SENT_STATE + (int64_t)A2A_UNKNOWN;
    if (row->status != RAMET_TURN_RUNNING)
        return row->status;
    const turn_question *question = question_of(p, c, row, &runs);
    if (question)
        return question_number(question);
    /* Only the node that runs the turn knows that its question was answered. */
    return runs || row->sent == RAMET_PUSH_NOTHING ? row->status : row->sent;
}

/* ------------------------------------------------------------------ one delivery */

/* The body; NULL: the task is gone. *failed: try again. */
static const char *body_make(a2a_push *p, ramet_call *c, delivery *d, bool *failed)
{
    arena *a = d->arena;
    const ramet_push *row = &d->row;
    a2a_task *t;
    bool runs;
    buf b;
    json_writer w;
    ramet_status st = a2a_task_get(c, row->session, row->task, &t);
    *failed = st != RAMET_OK && ramet_status_http(st) >= 500;
    if (st != RAMET_OK)
        return NULL;
    const turn_question *question = t->running ? question_of(p, c, row, &runs) : NULL;
    if (question) {
        d->sent = question_number(question); /* it may have been asked after the row was claimed */
        t->state = A2A_INPUT_REQUIRED;
        t->question = a2a_question_entry(a, question, t->id);
        if (question->asked_us)
            t->status_at = question->asked_us;
    } else if (!t->running && !t->artifacts && t->history) {
        t->artifacts = a2a_artifacts_of(a, a2a_answer_text(a, t), t->history, t->n);
    }
    d->over = a2a_state_over(t->state);
    bool old = row->wire == 3;
    a2a_view view = {.version = old ? A2A_03 : A2A_10,
                     .stamp = true,
                     .stamp_key = old ? NULL : A2A_REWIND_URI "/invocationId",
                     .room = A2A_EVENT_ROOM};
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    if (!old) {
        jw_object(&w);
        jw_key(&w, "task");
    }
    a2a_task_write(a, &w, &view, t, 0);
    if (!old)
        jw_end_object(&w);
    return buf_keep(&b, a);
}

static int64_t backoff_us(int64_t tries)
{
    int64_t ms = FIRST_BACKOFF_MS;
    for (int64_t i = 1; i < tries && ms < MAX_BACKOFF_MS; i++)
        ms *= 2;
    return (ms < MAX_BACKOFF_MS ? ms : MAX_BACKOFF_MS) * 1000;
}

/* ------------------------------------------------------------------ room */

/* What is open, of all and of one user. */
typedef struct usage {
    size_t all_bytes, n, bytes, to_receiver;
} usage;

static usage usage_of(const a2a_push *p, const char *owner, const char *receiver)
{
    usage u = {0};
    for (const delivery *d = p->open; d; d = d->next_open) {
        u.all_bytes += d->bytes;
        if (strcmp(d->row.owner, owner) != 0)
            continue;
        u.n++;
        u.bytes += d->bytes;
        u.to_receiver += receiver && strcmp(d->receiver, receiver) == 0;
    }
    return u;
}

/* Q1, Q2: whether another delivery may begin. `receiver` NULL: to some receiver. */
static bool has_room(a2a_push *p, const char *owner, const char *receiver)
{
    pthread_mutex_lock(&p->lock);
    usage u = usage_of(p, owner, receiver);
    bool room = !p->stop && p->n_open < (u.n ? MAX_OPEN / 2 : MAX_OPEN) && u.n < MAX_PER_OWNER &&
                u.to_receiver < MAX_PER_RECEIVER;
    pthread_mutex_unlock(&p->lock);
    return room;
}

/* The same for the bytes of a body, which are known when it is made. The only delivery of a user,
 * or of all, always has room. */
static bool bytes_take(a2a_push *p, delivery *d, size_t n)
{
    pthread_mutex_lock(&p->lock);
    usage u = usage_of(p, d->row.owner, NULL);
    bool alone = u.n == 1, room = !u.bytes || u.bytes + n <= MAX_OWNER_BYTES;
    room = room && (!u.all_bytes || u.all_bytes + n <= (alone ? MAX_BYTES : MAX_BYTES / 2));
    if (room)
        d->bytes = n;
    pthread_mutex_unlock(&p->lock);
    return room;
}

/* ------------------------------------------------------------------ one delivery */

/* The lock is held. */
static void delivery_queue(a2a_push *p, delivery *d)
{
    d->next = NULL;
    *p->last = d;
    p->last = &d->next;
    pthread_cond_broadcast(&p->changed);
}

static void delivery_open(a2a_push *p, const ramet_push *row, const push_target *t,
                          const char *receiver, int64_t sent)
{
    arena *a = arena_new();
    delivery *d = arena_alloc(a, sizeof *d);
    *d = (delivery){.push = p, .arena = a, .row = *row, .sent = sent};
    d->row.task = arena_strdup(a, row->task);
    d->row.id = arena_strdup(a, row->id);
    d->row.session = arena_strdup(a, row->session);
    d->row.owner = arena_strdup(a, row->owner);
    d->row.config = NULL;
    d->receiver = arena_strdup(a, receiver);
    d->target = (push_target){.id = d->row.id,
                              .url = arena_strdup(a, t->url),
                              .token = arena_strdup(a, t->token),
                              .scheme = arena_strdup(a, t->scheme),
                              .credentials = arena_strdup(a, t->credentials)};
    pthread_mutex_lock(&p->lock);
    d->next_open = p->open;
    p->open = d;
    p->n_open++;
    delivery_queue(p, d);
    pthread_mutex_unlock(&p->lock);
}

/* The row is settled: another delivery has room. */
static void delivery_close(a2a_push *p, delivery *d)
{
    pthread_mutex_lock(&p->lock);
    delivery **at = &p->open;
    while (*at != d)
        at = &(*at)->next_open;
    *at = d->next_open;
    p->n_open--;
    p->look = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    arena_free(d->arena);
}

static void delivery_settle(a2a_push *p, delivery *d, int64_t due)
{
    ramet_call *c = ramet_call_new(p->cfg.store, NULL, NULL);
    ramet_push_settle(c, &d->row, due);
    ramet_call_free(c);
    delivery_close(p, d);
}

static void delivery_drop(a2a_push *p, delivery *d)
{
    ramet_call *c = ramet_call_new(p->cfg.store, NULL, NULL);
    ramet_push_drop(c, &d->row);
    ramet_call_free(c);
    delivery_close(p, d);
}

/* Called by the thread that posts. */
static void delivery_answered(void *arg, long status)
{
    delivery *d = arg;
    a2a_push *p = d->push;
    pthread_mutex_lock(&p->lock);
    d->status = status;
    d->state = DELIVERY_ANSWERED;
    delivery_queue(p, d);
    pthread_mutex_unlock(&p->lock);
}

/* Whether it was posted: it is not when the server stops. */
static bool delivery_post(a2a_push *p, delivery *d, const char *body)
{
    d->post = (push_post){.target = &d->target,
                          .old = d->row.wire == 3,
                          .body = body,
                          .done = delivery_answered,
                          .arg = d};
    pthread_mutex_lock(&p->lock);
    bool on = !p->stop;
    if (on) {
        d->state = DELIVERY_POSTED;
        push_posts_add(p->posts, &d->post);
    }
    pthread_mutex_unlock(&p->lock);
    return on;
}

/* Records the answer. */
static void delivery_end(a2a_push *p, delivery *d)
{
    ramet_push *row = &d->row;
    bool fine = d->status >= 200 && d->status < 300;
    bool stop = !fine && stopping(p);
    row->tries = fine ? 0 : stop ? row->tries : row->tries + 1;
    row->sent = fine ? d->sent : row->sent;
    bool never = (fine && d->over) || d->status == 410 || row->tries >= MAX_TRIES;
    if (never && !fine)
        log_line(LOG_WARN, "a push notification is given up", "task", row->task, NULL);
    delivery_settle(p, d,
                    never ? RAMET_PUSH_NEVER
                          : time_now_us() + (fine || stop ? 0 : backoff_us(row->tries)));
}

static void delivery_prepare(a2a_push *p, delivery *d)
{
    bool failed = false;
    ramet_call *c = ramet_call_new(p->cfg.store, d->row.owner, NULL);
    const char *body = body_make(p, c, d, &failed);
    ramet_call_free(c);
    if (!body && failed)
        delivery_end(p, d);
    else if (!body)
        delivery_drop(p, d);
    else if (!bytes_take(p, d, strlen(body)))
        delivery_settle(p, d, time_now_us() + FULL_MS * INT64_C(1000));
    else if (!delivery_post(p, d, body))
        delivery_settle(p, d, time_now_us());
}

/* ------------------------------------------------------------------ threads */

static void *worker_main(void *arg)
{
    a2a_push *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop || p->n_open) {
        delivery *d = p->first;
        if (!d) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        p->first = d->next;
        if (!p->first)
            p->last = &p->first;
        pthread_mutex_unlock(&p->lock);
        if (d->state == DELIVERY_CLAIMED)
            delivery_prepare(p, d);
        else
            delivery_end(p, d);
        pthread_mutex_lock(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* The host and the port of a URL. */
static const char *receiver_of(arena *a, const char *url)
{
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    size_t n = strcspn(host, "/?#");
    for (const char *user = memchr(host, '@', n); user; user = memchr(host, '@', n)) {
        n -= (size_t)(user + 1 - host);
        host = user + 1;
    }
    char *out = arena_memdup(a, host, n);
    for (char *c = out; *c; c++)
        *c = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
    return out;
}

/* Claims a row for which there is something to be sent. */
static void row_claim(a2a_push *p, ramet_call *c, ramet_push *row, int64_t sent)
{
    bool got;
    push_target t;
    arena *a = ramet_call_arena(c);
    if (!push_target_open(a, p->cfg.key, row, &t)) {
        ramet_push_drop(c, row);
        log_line(LOG_WARN, "a push notification config cannot be opened", "task", row->task, NULL);
        return;
    }
    const char *receiver = receiver_of(a, t.url);
    if (has_room(p, row->owner, receiver) &&
        ramet_push_claim(c, row, time_now_us() + LEASE_US, &got) == RAMET_OK && got)
        delivery_open(p, row, &t, receiver, sent);
}

static void row_look(a2a_push *p, ramet_call *c, ramet_push *row)
{
    if (row->gone) {
        ramet_push_drop(c, row);
        return;
    }
    if (!has_room(p, row->owner, NULL))
        return;
    int64_t sent = wanted(p, c, row);
    if (sent != row->sent)
        row_claim(p, c, row, sent);
}

/* Looks at all rows that are due; whether there is any. */
static bool look(a2a_push *p)
{
    ramet_call *pages = ramet_call_new(p->cfg.store, NULL, NULL);
    ramet_call *c = ramet_call_new(p->cfg.store, NULL, NULL);
    ramet_push *rows, *after = NULL;
    size_t n = PAGE;
    bool any = false;
    while (n == PAGE && !stopping(p)) {
        if (ramet_push_due(pages, time_now_us(), after, PAGE, &rows, &n) != RAMET_OK)
            break;
        any = any || n > 0;
        for (size_t i = 0; i < n; i++) {
            int64_t due = rows[i].due;
            row_look(p, c, &rows[i]);
            ramet_call_reset(c);
            rows[i].due = due; /* where the next page begins */
        }
        after = n ? &rows[n - 1] : NULL;
    }
    ramet_call_free(c);
    ramet_call_free(pages);
    return any;
}

static void *looker_main(void *arg)
{
    a2a_push *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        p->look = false;
        pthread_mutex_unlock(&p->lock);
        int64_t began = time_mono_us();
        bool any = look(p);
        /* Many tasks that only wait cost at most a tenth of a thread. */
        int64_t took = 9 * (time_mono_us() - began);
        int64_t pause = (any ? LOOK_MS : IDLE_MS) * INT64_C(1000);
        struct timespec until = time_after(took > pause ? took : pause);
        pthread_mutex_lock(&p->lock);
        int rc = 0;
        while (!p->stop && !p->look && !rc)
            rc = pthread_cond_timedwait(&p->changed, &p->lock, &until);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

a2a_push *a2a_push_start(const a2a_push_config *cfg)
{
    a2a_push *p = xcalloc(1, sizeof *p);
    p->cfg = *cfg;
    p->last = &p->first;
    p->posts = push_posts_start(cfg->private_urls);
    pthread_mutex_init(&p->lock, NULL);
    cond_init(&p->changed);
    if (pthread_create(&p->looker, NULL, looker_main, p))
        abort();
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&p->workers[i], NULL, worker_main, p))
            abort();
    return p;
}

void a2a_push_wake(a2a_push *p)
{
    pthread_mutex_lock(&p->lock);
    p->look = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

void a2a_push_stop(a2a_push *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->looker, NULL);
    push_posts_stop(p->posts);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(p->workers[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
