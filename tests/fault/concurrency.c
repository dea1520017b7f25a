/* SPDX-License-Identifier: Apache-2.0
 *
 * concurrency.c: I3, I5, I6 with many at work on one store: eight threads on one that is open,
 * four processes of two threads each, every process with the store opened for itself, and eight
 * threads that take one of three open ones for each call, as clients of three nodes do.
 *
 * Each worker does, in random order:
 *
 *   counter   reads the head, appends "n" to a history of n entries with expected_head.
 *             Exactly one of those that saw a head wins it, so the history counts 0, 1, 2, …
 *   list      appends a batch. The order of each worker is kept, a batch stands together, and
 *             nothing is there twice.
 *   look      reads the whole list. What it saw earlier is a prefix of what it sees now, and of
 *             the list at the end.
 *   fork      forks the list while others append. The fork is a prefix of the list at the end.
 *   same      appends an id that all others append too, with the same content: it is there
 *             once, and one of them added it.
 *   move      appends to, rewinds and undoes a session that all others move too. Everything that
 *             was appended is in its record once; every move is in its head log.
 *
 * Nobody may be told that the store is busy. Afterwards fsck finds nothing.
 */
#include "help.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 8, PROCESSES = 4, NODES = 3, FORKS = 64, SAME = 200 };

/* What a worker did; in memory that is shared with the parent. */
typedef struct deeds {
    int wins, lost;     /* counter */
    int counted;        /* counter: its length after the last win */
    int listed;         /* list: entries */
    int64_t at_least;   /* list: its length after the last append */
    int looks;          /* look */
    int seen;           /* look: longest prefix that was seen */
    uint64_t seen_hash; /* of its ids */
    int forks;          /* fork */
    int fork_length[FORKS];
    int added, known;    /* same */
    int recorded, moves; /* move */
    int bad;             /* something was wrong; the first of it: */
    char first[400];
} deeds;

typedef struct worker {
    ramet *const *nodes;
    int n_nodes;
    ramet_call *calls[NODES];
    ramet_call *c; /* of the node that is asked */
    rng pick;
    deeds *d;
    int who, rounds;
    uint64_t seed;
} worker;

__attribute__((format(printf, 2, 3))) static void bad(deeds *d, const char *fmt, ...)
{
    va_list ap;
    if (d->bad++)
        return;
    va_start(ap, fmt);
    vsnprintf(d->first, sizeof d->first, fmt, ap);
    va_end(ap);
}

static void bad_status(worker *w, const char *what, ramet_status st)
{
    bad(w->d, "worker %d: %s: %s (%s)", w->who, what, ramet_status_code(st),
        ramet_call_error(w->c)->message);
}

/* The next call may go to another node. */
static void node_pick(worker *w)
{
    w->c = w->calls[rng_below(&w->pick, w->n_nodes)];
}

/* ---- what a worker does */

static void do_counter(worker *w)
{
    ramet_session *s;
    ramet_append_out out;
    char text[24];
    ramet_status st = ramet_session_get(w->c, "counter", &s);
    if (st) {
        bad_status(w, "counter", st);
        return;
    }
    snprintf(text, sizeof text, "%lld", (long long)s->head.length);
    ramet_entry_in e = {.role = RAMET_USER, .text = text};
    int64_t length = s->head.length;
    if (length < w->d->counted)
        bad(w->d, "the counter was at %d and is at %lld", w->d->counted, (long long)length);
    node_pick(w);
    st = ramet_append(w->c, "counter",
                      &(ramet_append_in){.entries = &e, .n = 1, .expected_head = s->head.hash},
                      &out);
    if (st == RAMET_OK) {
        w->d->wins++;
        w->d->counted = (int)out.head.length;
        if (out.head.length != length + 1)
            bad(w->d, "a win at %lld made the head %lld", (long long)length,
                (long long)out.head.length);
    } else if (st == RAMET_HEAD_MOVED) {
        w->d->lost++;
        if (ramet_call_error(w->c)->head.length <= length)
            bad(w->d, "head_moved names head %lld, older than the %lld that was read",
                (long long)ramet_call_error(w->c)->head.length, (long long)length);
    } else {
        bad_status(w, "counter", st);
    }
}

static ramet_status batch_append(worker *w, const char *session, int op, int n, int64_t *at)
{
    ramet_entry_in in[5];
    char ids[5][40], *texts[5];
    ramet_append_out out;
    for (int i = 0; i < n; i++) {
        snprintf(ids[i], sizeof ids[i], "%c-%d-%d-%d-%d", session[0], w->who, op, i, n);
        texts[i] = text_of(ids[i]);
        in[i] = (ramet_entry_in){.id = ids[i], .role = RAMET_USER, .text = texts[i]};
    }
    ramet_status st =
        ramet_append(w->c, session, &(ramet_append_in){.entries = in, .n = (size_t)n}, &out);
    if (!st)
        *at = out.entries[0].position;
    for (int i = 0; i < n; i++)
        free(texts[i]);
    return st;
}

static void do_list(worker *w, int op, rng *r)
{
    int n = 1 + rng_below(r, 5);
    int64_t at;
    ramet_status st = batch_append(w, "list", op, n, &at);
    if (st)
        bad_status(w, "list", st);
    else {
        w->d->listed += n;
        w->d->at_least = at + n;
    }
}

static uint64_t id_hash(uint64_t before, const char *id)
{
    return mix(before, bytes_hash(id, strlen(id)));
}

static void do_look(worker *w)
{
    ramet_stream *s;
    const ramet_entry *e = NULL;
    uint64_t h = 0;
    int n = 0;
    ramet_status st = ramet_stream_open(w->c, "list", &(ramet_read_in){0}, &s);
    if (st) {
        bad_status(w, "look", st);
        return;
    }
    while (!(st = ramet_stream_next(s, &e)) && e) {
        h = id_hash(h, e->id);
        if (++n == w->d->seen && h != w->d->seen_hash)
            bad(w->d, "the first %d entries of the list are not those seen before", n);
    }
    if (!st && n < w->d->at_least)
        bad(w->d, "%d entries read, and the worker's own write made them %lld", n,
            (long long)w->d->at_least);
    if (st)
        bad_status(w, "look", st);
    else if (n < w->d->seen || n != ramet_stream_length(s))
        bad(w->d, "%d entries read, %d seen before, %lld said", n, w->d->seen,
            (long long)ramet_stream_length(s));
    else {
        w->d->seen = n;
        w->d->seen_hash = h;
        w->d->looks++;
    }
    ramet_stream_close(s);
}

static void do_fork(worker *w)
{
    deeds *d = w->d;
    ramet_session *s;
    char id[32];
    if (d->forks == FORKS)
        return;
    snprintf(id, sizeof id, "fork-%d-%d", w->who, d->forks);
    ramet_status st = ramet_fork(w->c, "list", &(ramet_fork_in){.id = id}, &s, NULL);
    if (st)
        bad_status(w, "fork", st);
    else
        d->fork_length[d->forks++] = (int)s->head.length;
}

static void do_same(worker *w, rng *r)
{
    char id[24];
    ramet_append_out out;
    snprintf(id, sizeof id, "same-%d", rng_below(r, SAME));
    char *text = text_of(id);
    ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = text};
    ramet_status st = ramet_append(w->c, "same", &(ramet_append_in){.entries = &e, .n = 1}, &out);
    if (st)
        bad_status(w, "same", st);
    else if (out.added)
        w->d->added++;
    else
        w->d->known++;
    free(text);
}

static void do_move(worker *w, int op, rng *r)
{
    ramet_session *s;
    ramet_page p;
    int64_t at;
    int n = 1 + rng_below(r, 3);
    ramet_status st = batch_append(w, "move", op, n, &at);
    if (st)
        bad_status(w, "move, append", st);
    else
        w->d->recorded += n;
    if (rng_below(r, 2))
        return;
    if (rng_below(r, 2)) {
        st = ramet_undo(w->c, "move", NULL, &s);
        if (st == RAMET_NOTHING_TO_UNDO)
            return;
    } else {
        st = ramet_read(w->c, "move", &(ramet_read_in){.limit = 4, .tail = true}, &p);
        if (!st && !p.n)
            return;
        if (!st)
            st = ramet_rewind(w->c, "move", &(ramet_move_in){.at = {p.entries[0].id, RAMET_AFTER}},
                              &s, NULL);
        /* Another may have moved away from that entry since. */
        if (st == RAMET_ENTRY_NOT_FOUND)
            return;
    }
    if (st)
        bad_status(w, "move", st);
    else
        w->d->moves++;
}

static void *worker_run(void *arg)
{
    worker *w = arg;
    rng r = {mix(w->seed, (uint64_t)w->who)};
    w->pick = (rng){mix(w->seed, 1000 + (uint64_t)w->who)};
    for (int i = 0; i < w->n_nodes; i++)
        w->calls[i] = ramet_call_new(w->nodes[i], NULL, NULL);
    for (int op = 0; op < w->rounds; op++) {
        node_pick(w);
        switch (rng_below(&r, 16)) {
        case 0:
            do_look(w);
            break;
        case 1:
            do_fork(w);
            break;
        case 2:
        case 3:
        case 4:
            do_same(w, &r);
            break;
        case 5:
        case 6:
        case 7:
            do_move(w, op, &r);
            break;
        case 8:
        case 9:
        case 10:
            do_list(w, op, &r);
            break;
        default:
            do_counter(w);
        }
        for (int i = 0; i < w->n_nodes; i++)
            ramet_call_reset(w->calls[i]);
    }
    for (int i = 0; i < w->n_nodes; i++)
        ramet_call_free(w->calls[i]);
    return NULL;
}

static void workers_run(ramet *const *nodes, int n_nodes, deeds *d, int first, int n, int rounds)
{
    worker w[WORKERS];
    pthread_t t[WORKERS];
    for (int i = 0; i < n; i++) {
        w[i] = (worker){.nodes = nodes,
                        .n_nodes = n_nodes,
                        .d = &d[first + i],
                        .who = first + i,
                        .rounds = rounds,
                        .seed = mix(opt.seed, 4)};
        pthread_create(&t[i], NULL, worker_run, &w[i]);
    }
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

/* ---- what must be there at the end */

typedef struct history {
    char **ids, **texts;
    int n;
} history;

static history history_read(ramet_call *c, const char *session)
{
    history h = {0};
    ramet_stream *s;
    const ramet_entry *e = NULL;
    ramet_status st = ramet_stream_open(c, session, &(ramet_read_in){0}, &s);
    while (!st && !(st = ramet_stream_next(s, &e)) && e) {
        h.ids = mem_grow(h.ids, (size_t)(h.n + 1) * sizeof *h.ids);
        h.texts = mem_grow(h.texts, (size_t)(h.n + 1) * sizeof *h.texts);
        h.ids[h.n] = must(strdup(e->id));
        h.texts[h.n++] = must(strdup(e->text));
    }
    if (st)
        wrong("%s cannot be read: %s (%s)", session, ramet_status_code(st),
              ramet_call_error(c)->message);
    else
        ramet_stream_close(s);
    return h;
}

static void history_free(history *h)
{
    for (int i = 0; i < h->n; i++) {
        free(h->ids[i]);
        free(h->texts[i]);
    }
    free(h->ids);
    free(h->texts);
}

static int text_order(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void ids_unique(char **ids, int n, const char *what)
{
    char **sorted = mem_new((size_t)n * sizeof *sorted);
    if (n)
        memcpy(sorted, ids, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, text_order);
    for (int i = 1; i < n; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            wrong("%s: %s is there twice", what, sorted[i]);
    free(sorted);
}

static void counter_check(ramet_call *c, const deeds *d)
{
    history h = history_read(c, "counter");
    int wins = 0;
    for (int i = 0; i < WORKERS; i++)
        wins += d[i].wins;
    if (wins != h.n)
        wrong("counter: %d wins, %d entries", wins, h.n);
    for (int i = 0; i < h.n; i++)
        if (atoi(h.texts[i]) != i)
            wrong("counter: \"%s\" stands at %d", h.texts[i], i);
    history_free(&h);
}

/* Order of each worker, batches together. */
static void list_check(const history *h, const deeds *d)
{
    int last[WORKERS], listed = 0, expect = 0, owner = -1, now = -1;
    for (int i = 0; i < WORKERS; i++) {
        last[i] = -1;
        listed += d[i].listed;
    }
    if (listed != h->n)
        wrong("list: %d entries acknowledged, %d there", listed, h->n);
    for (int i = 0; i < h->n; i++) {
        int who, op, k, n;
        if (sscanf(h->ids[i], "l-%d-%d-%d-%d", &who, &op, &k, &n) != 4 || who < 0 ||
            who >= WORKERS) {
            wrong("list: nobody wrote %s", h->ids[i]);
            continue;
        }
        if (k != expect || (k && (who != owner || op != now)))
            wrong("list: %s at %d is not where its batch is", h->ids[i], i);
        if (k == 0 && op <= last[who])
            wrong("list: %s at %d comes before its time", h->ids[i], i);
        last[who] = op;
        owner = who;
        now = op;
        expect = k + 1 == n ? 0 : k + 1;
    }
    ids_unique(h->ids, h->n, "list");
}

static void prefix_check(ramet_call *c, const history *list, const deeds *d)
{
    for (int w = 0; w < WORKERS; w++) {
        uint64_t h = 0;
        for (int i = 0; i < d[w].seen && i < list->n; i++)
            h = id_hash(h, list->ids[i]);
        if (d[w].seen > list->n || h != d[w].seen_hash)
            wrong("look: what worker %d saw (%d entries) is no prefix of the list", w, d[w].seen);
        for (int k = 0; k < d[w].forks; k++) {
            char id[32];
            snprintf(id, sizeof id, "fork-%d-%d", w, k);
            history f = history_read(c, id);
            if (f.n != d[w].fork_length[k])
                wrong("%s: %d entries, it had %d", id, f.n, d[w].fork_length[k]);
            for (int i = 0; i < f.n; i++)
                if (i >= list->n || strcmp(f.ids[i], list->ids[i]) ||
                    strcmp(f.texts[i], list->texts[i])) {
                    wrong("%s: is no prefix of the list at %d", id, i);
                    break;
                }
            history_free(&f);
        }
    }
}

static void same_check(ramet_call *c, const deeds *d)
{
    history h = history_read(c, "same");
    int added = 0;
    for (int i = 0; i < WORKERS; i++)
        added += d[i].added;
    if (added != h.n)
        wrong("same: added %d times, %d entries", added, h.n);
    ids_unique(h.ids, h.n, "same");
    history_free(&h);
}

static void move_check(ramet_call *c, const deeds *d)
{
    int recorded = 0, moves = 0;
    for (int i = 0; i < WORKERS; i++) {
        recorded += d[i].recorded;
        moves += d[i].moves;
    }
    char **ids = mem_new((size_t)(recorded + 1000) * sizeof *ids);
    int n = 0;
    int64_t total = 0;
    ramet_page p;
    ramet_status st;
    do {
        st = ramet_record(c, "move", RAMET_LOG_MAIN, n, 500, &p, &total);
        for (size_t i = 0; !st && i < p.n && n < recorded + 1000; i++)
            ids[n++] = must(strdup(p.entries[i].id));
    } while (!st && p.n && n < total);
    if (st || n != recorded || total != recorded)
        wrong("move: %d entries acknowledged, the record has %d and says %lld (%s)", recorded, n,
              (long long)total, ramet_status_code(st));
    ids_unique(ids, n, "move");
    for (int i = 0; i < n; i++)
        free(ids[i]);
    free(ids);
    ramet_move *m;
    size_t n_moves;
    bool more;
    st = ramet_head_log(c, "move", 0, 1, &m, &n_moves, &more);
    if (st || (n_moves ? m[0].number : 0) != moves)
        wrong("move: %d moves acknowledged, the head log has %lld", moves,
              (long long)(n_moves ? m[0].number : 0));
}

/* ---- the two ways to be many */

static deeds *gang_begin(const char *db)
{
    static const char *const sessions[] = {"counter", "list", "same", "move"};
    deeds *d =
        mmap(NULL, WORKERS * sizeof *d, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (d == MAP_FAILED)
        abort();
    ramet *r = open_store(db, NULL);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    ramet_session *s;
    for (size_t i = 0; i < 4; i++)
        if (ramet_session_create(c, &(ramet_session_in){.id = sessions[i]}, &s))
            wrong("%s cannot be made: %s", sessions[i], ramet_call_error(c)->message);
    ramet_call_free(c);
    ramet_close(r);
    return d;
}

static void gang_end(const char *db, deeds *d, const char *name)
{
    ramet *r = open_store(db, NULL);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    int wins = 0, lost = 0, looks = 0, forks = 0, known = 0, moves = 0;
    for (int i = 0; i < WORKERS; i++) {
        wins += d[i].wins;
        lost += d[i].lost;
        looks += d[i].looks;
        forks += d[i].forks;
        known += d[i].known;
        moves += d[i].moves;
        if (d[i].bad)
            wrong("%s (and %d more)", d[i].first, d[i].bad - 1);
    }
    tap_verdict("%s: every call answered as it should, nobody was told busy", name);
    counter_check(c, d);
    tap_verdict("%s: expected_head: one winner a head (%d won, %d lost)", name, wins, lost);
    history list = history_read(c, "list");
    list_check(&list, d);
    tap_verdict("%s: order is kept, batches stand together (%d entries)", name, list.n);
    prefix_check(c, &list, d);
    tap_verdict("%s: what was read (%d times) or forked (%d times) is a prefix", name, looks,
                forks);
    same_check(c, d);
    tap_verdict("%s: an id sent by many is there once (%d were answered with the first result)",
                name, known);
    move_check(c, d);
    tap_verdict("%s: %d moves among appends: nothing lost, all in the head log", name, moves);
    check_store(r, name);
    tap_verdict("%s: fsck clean", name);
    history_free(&list);
    ramet_call_free(c);
    ramet_close(r);
    munmap(d, WORKERS * sizeof *d);
}

void test_threads(void)
{
    place p;
    place_new(&p, "threads");
    deeds *d = gang_begin(p.url);
    ramet *r = open_store(p.url, NULL);
    workers_run(&r, 1, d, 0, WORKERS, 400);
    ramet_close(r);
    gang_end(p.url, d, "8 threads");
    place_remove(&p);
}

void test_nodes(void)
{
    place p;
    ramet *nodes[NODES];
    place_new(&p, "nodes");
    deeds *d = gang_begin(p.url);
    for (int i = 0; i < NODES; i++)
        nodes[i] = open_store(p.url, NULL);
    workers_run(nodes, NODES, d, 0, WORKERS, 400);
    for (int i = 0; i < NODES; i++)
        ramet_close(nodes[i]);
    gang_end(p.url, d, "3 nodes");
    place_remove(&p);
}

void test_processes(void)
{
    place p;
    place_new(&p, "processes");
    deeds *d = gang_begin(p.url);
    pid_t pids[PROCESSES];
    int each = WORKERS / PROCESSES;
    fflush(NULL);
    for (int i = 0; i < PROCESSES; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            ramet *r = open_store(p.url, NULL);
            workers_run(&r, 1, d, i * each, each, 250);
            ramet_close(r);
            _exit(0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        if (waitpid(pids[i], &status, 0) < 0 || status)
            wrong("process %d ended with status %x", i, (unsigned)status);
    }
    gang_end(p.url, d, "4 processes");
    place_remove(&p);
}
