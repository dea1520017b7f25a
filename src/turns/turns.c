/* SPDX-License-Identifier: Apache-2.0
 *
 * turns.c: running turns: their table, the threads that run agents, the queue for these threads,
 * time limits, start and stop.
 */
#include "turns/turns_internal.h"
#include "ramet/nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MOVE_MS = 2000,
    WATCHDOG_MS = 500,
    LOOK_US = 1000000,
    MAX_STOP_S = 5,
    MAX_IDLE_THREADS = 16
};

/* ------------------------------------------------------------------ the table */

bool turns_admit(turns *t, int64_t n)
{
    pthread_mutex_lock(&t->lock);
    bool room = t->stage == TURNS_OPEN && t->admitted + n <= t->cfg->turns + t->cfg->turn_queue;
    if (room)
        t->admitted += n;
    pthread_mutex_unlock(&t->lock);
    return room;
}

/* Caller holds the lock. */
static void leave(turns *t, int64_t n)
{
    t->admitted -= n;
    pthread_cond_broadcast(&t->wake);
}

void turns_leave(turns *t, int64_t n)
{
    pthread_mutex_lock(&t->lock);
    leave(t, n);
    pthread_mutex_unlock(&t->lock);
}

run *run_alloc(turns *t, const char *session)
{
    arena *a = arena_new();
    run *r = arena_alloc(a, sizeof *r);
    r->mem = a;
    r->turns = t;
    r->owners = 1;
    r->session = arena_strdup(a, session);
    uuid7(time_now_us(), r->id);
    pthread_mutex_init(&r->lock, NULL);
    cond_init(&r->wake);
    sem_init(&r->decided, 0, 0);
    buf_init(&r->bytes, (size_t)1 << 30);
    r->published = time_mono_us();
    return r;
}

run *run_new(turns *t, const char *session)
{
    run *r = run_alloc(t, session);
    r->owners = 2;
    pthread_mutex_lock(&t->lock);
    r->next = t->runs;
    t->runs = r;
    pthread_mutex_unlock(&t->lock);
    return r;
}

void run_add(run *r)
{
    turns *t = r->turns;
    pthread_mutex_lock(&t->lock);
    r->next = t->runs;
    t->runs = r;
    pthread_mutex_unlock(&t->lock);
}

void run_begun(run *r)
{
    pthread_mutex_lock(&r->turns->lock);
    pthread_mutex_lock(&r->lock);
    run_move(r, RUN_RUNNING);
    pthread_mutex_unlock(&r->turns->lock);
}

run *run_find(turns *t, const char *session, const char *id)
{
    pthread_mutex_lock(&t->lock);
    run *r = t->runs;
    while (r && !(strcmp(r->id, id) == 0 && (!session || strcmp(r->session, session) == 0)))
        r = r->next;
    if (r)
        atomic_fetch_add(&r->owners, 1);
    pthread_mutex_unlock(&t->lock);
    if (!r || run_wait_begun(r))
        return r;
    run_put(r);
    return NULL;
}

bool run_wait_begun(run *r)
{
    pthread_mutex_lock(&r->lock);
    while (r->state == RUN_BEGINNING)
        pthread_cond_wait(&r->wake, &r->lock);
    bool begun = run_has_begun(r);
    pthread_mutex_unlock(&r->lock);
    return begun;
}

void run_put(run *r)
{
    if (atomic_fetch_sub(&r->owners, 1) != 1)
        return;
    for (size_t i = 0; i < r->parts.n; i++)
        buf_release(&r->parts.items[i].text);
    buf_release(&r->bytes);
    run_question_set(r, NULL);
    free(r->answer);
    free(r->decision);
    free(r->answer_format);
    free(r->answer_body);
    free(r->plan);
    free(r->data);
    free(r->prompt.data);
    sem_destroy(&r->decided);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    arena_free(r->mem);
}

/* The first call decides. */
static void run_decide(run *r, run_fate fate)
{
    int open = FATE_OPEN;
    if (atomic_compare_exchange_strong(&r->fate, &open, fate))
        sem_post(&r->decided);
}

void run_drop(run *r)
{
    run_decide(r, FATE_NEVER);
}

void run_remove(run *r)
{
    turns *t = r->turns;
    pthread_mutex_lock(&t->lock);
    run **at = &t->runs;
    while (*at && *at != r)
        at = &(*at)->next;
    bool there = *at == r;
    if (there)
        *at = r->next;
    t->ended[r->status] += there && run_has_begun(r) && !r->is_remote;
    if (!run_has_begun(r))
        run_decide(r, FATE_NEVER);
    pthread_mutex_unlock(&t->lock);
    pthread_mutex_lock(&r->lock);
    if (r->state == RUN_BEGINNING)
        run_move(r, RUN_ABANDONED);
    else if (r->state != RUN_OVER)
        run_move(r, RUN_OVER);
    pthread_mutex_unlock(&r->lock);
    if (there)
        run_put(r);
}

run **runs_held(turns *t, const char *session, size_t *n)
{
    size_t all = 0;
    *n = 0;
    pthread_mutex_lock(&t->lock);
    for (run *r = t->runs; r; r = r->next)
        all++;
    run **list = xcalloc(all + 1, sizeof *list);
    for (run *r = t->runs; r; r = r->next)
        if (session ? strcmp(r->session, session) == 0 : run_has_begun(r)) {
            atomic_fetch_add(&r->owners, 1);
            list[(*n)++] = r;
        }
    pthread_mutex_unlock(&t->lock);
    return list;
}

void runs_put(run **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        run_put(list[i]);
    free(list);
}

/* ------------------------------------------------------------------ threads */

struct turn_thread {
    turn_thread *next; /* next in the stack of idle threads */
    turns *turns;
    run *run;
    pthread_cond_t wake;
};

/* The next run for a thread, which is idle while there is none. NULL: the thread must end. Caller
 * holds the lock. */
static run *thread_next(turn_thread *th)
{
    turns *t = th->turns;
    run *r = t->first;
    if (r) {
        t->first = r->queued;
        t->last = t->first ? t->last : &t->first;
        t->waiting--;
        return r;
    }
    t->threads--;
    if (t->n_idle >= MAX_IDLE_THREADS || t->stage == TURNS_STOPPED)
        return NULL;
    th->run = NULL;
    th->next = t->idle;
    t->idle = th;
    t->n_idle++;
    while (!th->run && t->stage != TURNS_STOPPED)
        pthread_cond_wait(&th->wake, &t->lock);
    return th->run;
}

static void *thread_main(void *arg)
{
    turn_thread *th = arg;
    turns *t = th->turns;
    for (run *r = th->run; r;) {
        bool ran = run_main(r);
        run_put(r);
        pthread_mutex_lock(&t->lock);
        leave(t, ran ? 1 : 0); /* if the turn did not begin, its request has given the room back */
        r = thread_next(th);
        pthread_mutex_unlock(&t->lock);
    }
    pthread_cond_destroy(&th->wake);
    free(th);
    pthread_mutex_lock(&t->lock);
    t->alive--;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static bool thread_start(turns *t, run *r)
{
    pthread_t thread;
    pthread_attr_t attr;
    turn_thread *th = xcalloc(1, sizeof *th);
    th->turns = t;
    th->run = r;
    pthread_cond_init(&th->wake, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool made = pthread_create(&thread, &attr, thread_main, th) == 0;
    pthread_attr_destroy(&attr);
    if (!made) {
        pthread_cond_destroy(&th->wake);
        free(th);
    }
    t->alive += made;
    return made;
}

/* Gives the run a thread, an idle one if possible. Caller holds the lock. */
static bool thread_give(turns *t, run *r)
{
    turn_thread *th = t->idle;
    if (t->threads >= t->cfg->turns || (!th && !thread_start(t, r)))
        return false;
    if (th) {
        t->idle = th->next;
        t->n_idle--;
        th->run = r;
        pthread_cond_signal(&th->wake);
    }
    t->threads++;
    return true;
}

/* Ends the idle threads; the others will end, too. Caller holds the lock. */
static void threads_end(turns *t)
{
    for (turn_thread *th = t->idle; th; th = th->next)
        pthread_cond_signal(&th->wake);
    t->idle = NULL;
    t->n_idle = 0;
}

bool run_is_alone(run *r)
{
    bool alone = true;
    pthread_mutex_lock(&r->turns->lock);
    for (const run *each = r->turns->runs; each && alone; each = each->next)
        alone = each == r || strcmp(each->session, r->session) != 0;
    pthread_mutex_unlock(&r->turns->lock);
    return alone;
}

void run_prepare(run *r, const ramet_head *head)
{
    turns *t = r->turns;
    r->prefetch_length = head ? head->length : 0;
    r->prefetch_branch = head ? head->branch : 0;
    atomic_fetch_add(&r->owners, 1);
    pthread_mutex_lock(&t->lock);
    r->is_prepared = thread_give(t, r);
    pthread_mutex_unlock(&t->lock);
    if (!r->is_prepared)
        run_put(r);
}

void run_start(run *r)
{
    turns *t = r->turns;
    run_decide(r, FATE_RUN);
    if (r->is_prepared)
        return;
    atomic_fetch_add(&r->owners, 1);
    pthread_mutex_lock(&t->lock);
    bool thread = thread_give(t, r);
    bool queue = !thread && t->threads > 0;
    if (queue) {
        *t->last = r;
        t->last = &r->queued;
        t->waiting++;
    }
    pthread_mutex_unlock(&t->lock);
    if (thread || queue)
        return;
    run_close(r, RAMET_TURN_FAILED, "the server could not make a thread");
    run_put(r);
    turns_leave(t, 1);
}

/* ------------------------------------------------------------------ moves */

/* Reads the store after the move: a run on a branch that the head has returned to stays. Waits for
 * a run that is just beginning: it may have begun before the move. */
void turns_moved_here(turns *t, const char *session, bool keep)
{
    size_t n;
    ramet_session *s;
    run **list = runs_held(t, session, &n);
    for (size_t i = 0; i < n; i++)
        run_wait_begun(list[i]);
    ramet_call *c = n ? ramet_call_new(t->store, NULL, NULL) : NULL;
    ramet_status st = n ? ramet_session_get(c, session, &s) : RAMET_OK;
    bool gone = st == RAMET_SESSION_NOT_FOUND;
    for (size_t i = 0; i < n && (st == RAMET_OK || gone); i++) {
        run *r = list[i];
        if (r->is_remote)
            continue;
        pthread_mutex_lock(&r->lock);
        bool left = run_has_begun(r) && (gone || r->branch != s->head.branch);
        r->is_kept = r->is_kept || (left && keep);
        bool end = left && (gone || !r->is_kept);
        pthread_mutex_unlock(&r->lock);
        if (end)
            run_close(r, RAMET_TURN_CANCELLED, NULL);
    }
    ramet_call_free(c);
    runs_put(list, n);
}

/* Whether a turn of the session runs on another node, according to its messages or the store. */
static bool has_remote_runs(turns *t, const char *session)
{
    size_t n, n_turns;
    bool is_remote = false;
    ramet_turn *list;
    run **held = runs_held(t, session, &n);
    ramet_call *c = ramet_call_new(t->store, NULL, NULL);
    for (size_t i = 0; i < n; i++)
        is_remote = is_remote || held[i]->is_remote;
    if (!is_remote && ramet_turns(c, session, 0, &list, &n_turns) == RAMET_OK)
        for (size_t i = 0; i < n_turns; i++) {
            bool here = list[i].status != RAMET_TURN_RUNNING;
            for (size_t k = 0; k < n; k++)
                here = here || strcmp(held[k]->id, list[i].id) == 0;
            is_remote = is_remote || !here;
        }
    ramet_call_free(c);
    runs_put(held, n);
    return is_remote;
}

/* A run on another node is ended there, too, before the move is answered. */
void turns_moved(turns *t, const char *session, bool keep)
{
    char outcome[OUTCOME_TEXT];
    if (!t)
        return;
    turns_moved_here(t, session, keep);
    if (!nodes_has_others(t->nodes))
        return;
    node_command what = {.operation = "moved", .session = session, .keep = keep};
    if (has_remote_runs(t, session))
        nodes_request(t->nodes, &what, MOVE_MS, outcome);
}

/* ------------------------------------------------------------------ limits */

static const char *over_time(const run *r, int64_t now, char text[128])
{
    const server_config *cfg = r->turns->cfg;
    int64_t second = 1000000, worked = now - r->started - r->waited;
    if (!r->started)
        return NULL;
    if (r->asked && now - r->asked > cfg->question_s * second)
        snprintf(text, 128, "nobody answered its question within %lld seconds",
                 (long long)cfg->question_s);
    else if (!r->asked && worked > cfg->turn_s * second)
        snprintf(text, 128, "it took longer than %lld seconds", (long long)cfg->turn_s);
    else if (!r->asked && !r->writing && now - r->last_output_us > cfg->turn_idle_s * second)
        snprintf(text, 128, "the agent said nothing for %lld seconds", (long long)cfg->turn_idle_s);
    else
        return NULL;
    return text;
}

/* Whether the turn is no longer on the head, or is over, according to the store. */
static bool run_left(const run *r)
{
    ramet_turn *turn = NULL;
    ramet_call *c = ramet_call_new(r->turns->store, NULL, NULL);
    ramet_status st = ramet_turn_running(c, r->session, &turn);
    bool left = st == RAMET_SESSION_NOT_FOUND ||
                (st == RAMET_OK && !(turn && strcmp(turn->id, r->id) == 0));
    ramet_call_free(c);
    return left;
}

/* Detects moves by other processes on the same file, which are not reported here. A move by this
 * process may be about to mark the turn as kept, so a turn that the head has left is checked twice.
 * For the watchdog only. */
static void run_look(run *r, int64_t now)
{
    if (now - r->looked < LOOK_US)
        return;
    bool before = r->left;
    r->looked = now;
    r->left = run_left(r);
    pthread_mutex_lock(&r->lock);
    bool end = before && r->left && !r->is_kept && !run_is_closed(r);
    pthread_mutex_unlock(&r->lock);
    if (end)
        run_close(r, RAMET_TURN_CANCELLED, NULL);
}

static void run_watch(run *r)
{
    char text[128];
    int64_t now = time_mono_us();
    pthread_mutex_lock(&r->lock);
    const char *over = run_is_closed(r) || r->is_remote ? NULL : over_time(r, now, text);
    publish_held(r);
    if (!run_is_over(r) && now - r->published > r->turns->cfg->heartbeat_s * 1000000)
        publish_heartbeat(r);
    bool unsaved = r->state == RUN_UNSAVED,
         look = !run_is_closed(r) && !r->is_kept && !r->is_remote;
    pthread_mutex_unlock(&r->lock);
    if (unsaved)
        run_save(r);
    if (over)
        run_close(r, RAMET_TURN_FAILED, over);
    else if (look)
        run_look(r, now);
}

/* Caller holds the lock. False: timed out. */
static bool wait_until(turns *t, int64_t until)
{
    struct timespec at = time_spec(until);
    return pthread_cond_timedwait(&t->wake, &t->lock, &at) == 0;
}

bool turns_wait(turns *t, int64_t ms)
{
    int64_t until = time_mono_us() + ms * 1000;
    pthread_mutex_lock(&t->lock);
    while (t->stage != TURNS_STOPPED && time_mono_us() < until)
        wait_until(t, until);
    bool on = t->stage != TURNS_STOPPED;
    pthread_mutex_unlock(&t->lock);
    return on;
}

static void *watchdog_main(void *arg)
{
    turns *t = arg;
    while (turns_wait(t, WATCHDOG_MS)) {
        size_t n;
        run **list = runs_held(t, NULL, &n);
        for (size_t i = 0; i < n; i++)
            run_watch(list[i]);
        runs_put(list, n);
    }
    return NULL;
}

/* ------------------------------------------------------------------ all of it */

void turns_count(turns *t, turns_numbers *out)
{
    pthread_mutex_lock(&t->lock);
    *out = (turns_numbers){.running = t->threads,
                           .waiting = t->waiting,
                           .done = t->ended[RAMET_TURN_DONE],
                           .cancelled = t->ended[RAMET_TURN_CANCELLED],
                           .failed = t->ended[RAMET_TURN_FAILED]};
    pthread_mutex_unlock(&t->lock);
}

static ramet_status turns_bury(turns *t, int64_t *alive, ramet_error *err)
{
    int64_t gone;
    char text[24];
    ramet_status st = hosts_bury(t->store, t->host, alive, &gone, err);
    if (gone) {
        snprintf(text, sizeof text, "%lld", (long long)gone);
        log_line(LOG_WARN, "turns were interrupted when the server ended", "turns", text, NULL);
    }
    return st;
}

turns *turns_new(const server_config *cfg, ramet *store, agents *who, live *l,
                 turn_event_writer watch, ramet_error *err)
{
    turns *t = xcalloc(1, sizeof *t);
    bool shared = ramet_shared(store);
    int64_t alive;
    *t = (turns){.cfg = cfg, .store = store, .agents = who, .live = l, .watch = watch};
    t->last = &t->first;
    turns_host_name(t->host, shared);
    if (turns_bury(t, &alive, err) != RAMET_OK) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    cond_init(&t->wake);
    if (shared) {
        t->nodes = nodes_new(t);
        nodes_listen(t->nodes, alive > 1);
    }
    if (pthread_create(&t->watchdog, NULL, watchdog_main, t))
        abort();
    return t;
}

/* Caller holds the lock. */
static bool quiet(const turns *t)
{
    return !t->admitted && !t->threads && (t->stage != TURNS_STOPPED || !t->alive);
}

/* Waits until nothing runs; false: timed out. */
static bool drained(turns *t, int64_t seconds)
{
    int64_t until = time_mono_us() + seconds * 1000000;
    pthread_mutex_lock(&t->lock);
    while (!quiet(t) && time_mono_us() < until)
        wait_until(t, until);
    bool all = quiet(t);
    pthread_mutex_unlock(&t->lock);
    return all;
}

/* The last try: turns that cannot be recorded now are marked as interrupted when a server starts
 * again. */
static void runs_save(turns *t)
{
    size_t n;
    run **list = runs_held(t, NULL, &n);
    for (size_t i = 0; i < n; i++)
        if (!run_save(list[i]))
            run_remove(list[i]);
    runs_put(list, n);
}

/* Called when no run of this node continues: sends the last messages to other nodes, and stops
 * following them. */
static void nodes_end(turns *t)
{
    size_t n;
    if (!t->nodes)
        return;
    nodes_stop(t->nodes);
    run **list = runs_held(t, NULL, &n);
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&list[i]->lock);
        if (list[i]->is_remote)
            publish_detached(list[i]);
        pthread_mutex_unlock(&list[i]->lock);
        if (list[i]->is_remote)
            run_remove(list[i]);
    }
    runs_put(list, n);
}

bool turns_stop(turns *t, int seconds)
{
    pthread_mutex_lock(&t->lock);
    t->stage = TURNS_DRAINING;
    pthread_mutex_unlock(&t->lock);
    bool all = drained(t, seconds);
    if (!all) {
        size_t n;
        run **list = runs_held(t, NULL, &n);
        for (size_t i = 0; i < n; i++)
            if (!list[i]->is_remote)
                run_close(list[i], RAMET_TURN_CANCELLED, "the server was stopped");
        runs_put(list, n);
    }
    pthread_mutex_lock(&t->lock);
    t->stage = TURNS_STOPPED;
    threads_end(t);
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->watchdog, NULL);
    runs_save(t);
    bool stopped = drained(t, MAX_STOP_S);
    nodes_end(t);
    return stopped;
}

void turns_free(turns *t)
{
    if (!t)
        return;
    nodes_free(t->nodes);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free(t);
}
