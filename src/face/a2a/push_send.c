/* SPDX-License-Identifier: Apache-2.0
 *
 * push_send.c: delivers push notifications.
 *
 * A thread looks at the destinations that are due, and compares what was sent to each with the turn
 * of its task. Where they differ it claims the row, and a worker posts the task as it is then. So
 * nothing has to be recorded when a turn changes, and what a node that died has not delivered,
 * another one does. A change that comes while another is delivered waits for it; a destination that
 * is slow gets the newest state, not each one between.
 *
 *   looked at ── nothing new ──► looked at again
 *       │ claim: `due` moves forward by LEASE_US
 *       ▼
 *   delivered ── the task goes on ──► due at once
 *       │     └─ the task has ended ► never due again
 *       └ failed: due after a back-off; after MAX_TRIES never again
 *
 *   A notification is delivered at least once: a node that dies after the post and before it has
 *   recorded that leaves it to be posted again.
 *
 * A destination must not be an address that only the server can reach. The check applies to the
 * address that the socket is about to connect to; no redirect is followed and no proxy is used.
 */
#include "face/a2a/push.h"

#include "base/address.h"
#include "base/curl_setup.h"
#include "base/util.h"
#include "face/a2a/a2a_face.h"
#include "runtime/log.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 4, MAX_WAITING = 64, PAGE = 200, MAX_TRIES = 12 };
enum { CONNECT_MS = 5000, WHOLE_MS = 15000, LOOK_MS = 250, IDLE_MS = 5000 };
enum { FIRST_BACKOFF_MS = 1000, MAX_BACKOFF_MS = 300000 };
#define LEASE_US INT64_C(60000000)
/* `sent` for a question, and for tasks that are no turns: see ramet_push. */
enum { SENT_QUESTION = 1000, SENT_STATE = 500, SENT_MASK = 0x3fffffff };

typedef struct delivery {
    struct delivery *next;
    arena *arena;
    ramet_push row;
    int64_t sent; /* what it will have been sent */
} delivery;

struct a2a_push {
    a2a_push_config cfg;
    pthread_t looker, workers[WORKERS];
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    delivery *first, **last;
    int waiting;
    bool stop, look; /* look: there is something new */
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

/* The body; NULL: the task is gone. *over: nothing will change any more. *failed: try again. */
static const char *body_make(a2a_push *p, arena *a, ramet_call *c, const ramet_push *row,
                             bool *over, bool *failed)
{
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
        t->state = A2A_INPUT_REQUIRED;
        t->question = a2a_question_entry(a, question, t->id);
        if (question->asked_us)
            t->status_at = question->asked_us;
    } else if (!t->running && !t->artifacts && t->history) {
        t->artifacts = a2a_artifacts_of(a, a2a_answer_text(a, t), t->history, t->n);
    }
    *over = a2a_state_over(t->state);
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

static curl_socket_t socket_open(void *arg, curlsocktype purpose, struct curl_sockaddr *at)
{
    const a2a_push *p = arg;
    (void)purpose;
    if (!p->cfg.private_urls && address_is_private(&at->addr))
        return CURL_SOCKET_BAD;
    return socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
}

static int progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return stopping(arg);
}

static size_t answer_drop(char *bytes, size_t size, size_t n, void *arg)
{
    (void)bytes, (void)arg;
    return size * n;
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
        h = curl_slist_append(h,
                              arena_printf(a, "Authorization: %s%s%s", t->scheme ? t->scheme : "",
                                           t->scheme ? " " : "", t->credentials));
    return h;
}

/* The status of the answer; 0: there was none. */
static long body_post(a2a_push *p, arena *a, const push_target *t, bool old, const char *body)
{
    long status = 0;
    CURL *curl = curl_easy_init();
    if (!curl)
        return 0;
    struct curl_slist *headers = headers_make(a, t, old);
    curl_setup(curl, t->url, CONNECT_MS, WHOLE_MS, answer_drop, NULL);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETDATA, p);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, p);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return status;
}

static int64_t backoff_us(int64_t tries)
{
    int64_t ms = FIRST_BACKOFF_MS;
    for (int64_t i = 1; i < tries && ms < MAX_BACKOFF_MS; i++)
        ms *= 2;
    return (ms < MAX_BACKOFF_MS ? ms : MAX_BACKOFF_MS) * 1000;
}

/* Delivers to a row that was claimed. */
static void deliver(a2a_push *p, delivery *d)
{
    ramet_push *row = &d->row;
    push_target t;
    bool over = false, failed = false;
    ramet_call *program = ramet_call_new(p->cfg.store, NULL, NULL);
    ramet_call *c = ramet_call_new(p->cfg.store, row->owner, NULL);
    const char *body = body_make(p, d->arena, c, row, &over, &failed);
    bool sealed = !push_target_open(d->arena, p->cfg.key, row, &t);
    if ((!body && !failed) || sealed) {
        ramet_push_drop(program, row);
        if (sealed)
            log_line(LOG_WARN, "a push notification config cannot be opened", "task", row->task,
                     NULL);
    } else {
        long status = body ? body_post(p, d->arena, &t, row->wire == 3, body) : 0;
        bool fine = status >= 200 && status < 300;
        bool stop = !fine && stopping(p);
        row->tries = fine ? 0 : stop ? row->tries : row->tries + 1;
        row->sent = fine ? d->sent : row->sent;
        bool never = (fine && over) || status == 410 || row->tries >= MAX_TRIES;
        if (never && !fine)
            log_line(LOG_WARN, "a push notification is given up", "task", row->task, NULL);
        ramet_push_settle(program, row,
                          never ? RAMET_PUSH_NEVER
                                : time_now_us() + (fine || stop ? 0 : backoff_us(row->tries)));
    }
    ramet_call_free(c);
    ramet_call_free(program);
}

/* ------------------------------------------------------------------ threads */

static void delivery_free(delivery *d)
{
    arena_free(d->arena);
}

static void *worker_main(void *arg)
{
    a2a_push *p = arg;
    pthread_mutex_lock(&p->lock);
    while (!p->stop || p->first) {
        delivery *d = p->first;
        if (!d) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        p->first = d->next;
        if (!p->first)
            p->last = &p->first;
        p->waiting--;
        pthread_mutex_unlock(&p->lock);
        deliver(p, d);
        delivery_free(d);
        pthread_mutex_lock(&p->lock);
        p->look = true;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void delivery_put(a2a_push *p, const ramet_push *row, int64_t sent)
{
    arena *a = arena_new();
    delivery *d = arena_alloc(a, sizeof *d);
    *d = (delivery){.arena = a, .row = *row, .sent = sent};
    d->row.task = arena_strdup(a, row->task);
    d->row.id = arena_strdup(a, row->id);
    d->row.session = arena_strdup(a, row->session);
    d->row.owner = arena_strdup(a, row->owner);
    d->row.config = arena_memdup(a, row->config, row->n);
    pthread_mutex_lock(&p->lock);
    *p->last = d;
    p->last = &d->next;
    p->waiting++;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static bool has_room(a2a_push *p)
{
    pthread_mutex_lock(&p->lock);
    bool room = p->waiting < MAX_WAITING && !p->stop;
    pthread_mutex_unlock(&p->lock);
    return room;
}

static void row_look(a2a_push *p, ramet_call *c, ramet_push *row)
{
    bool got;
    if (row->gone) {
        ramet_push_drop(c, row);
        return;
    }
    int64_t sent = wanted(p, c, row);
    if (sent != row->sent && has_room(p) &&
        ramet_push_claim(c, row, time_now_us() + LEASE_US, &got) == RAMET_OK && got)
        delivery_put(p, row, sent);
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
    for (int i = 0; i < WORKERS; i++)
        pthread_join(p->workers[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
