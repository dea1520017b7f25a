/* SPDX-License-Identifier: Apache-2.0
 *
 * crash.c: I1. Killed processes and power cuts.
 */
#include "ledger.h"
#include "vfs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the process that gets killed */

typedef struct victim {
    ledger *l; /* its own copy, by fork */
    ramet *r;
    int worker, fd;
    uint64_t seed;
} victim;

/* A note is far smaller than PIPE_BUF: it arrives whole or not at all. */
static void note_send(void *arg, const note *n)
{
    victim *v = arg;
    if (write(v->fd, n, sizeof *n) != (ssize_t)sizeof *n)
        _exit(3);
    if (n->kind == NOTE_FAILED)
        return;
    /* The ledger of another worker is not touched by this one's notes, the shared session's
     * is not needed here. */
    if (n->kind != NOTE_SHARED)
        ledger_take(v->l, n);
}

static void *victim_thread(void *arg)
{
    victim *v = arg;
    rng r = {mix(v->seed, (uint64_t)v->worker)};
    ramet_call *c = ramet_call_new(v->r, NULL, "victim");
    int op = v->l->ops[v->worker];
    while (ledger_act(v->l, c, v->worker, op, &r, note_send, v))
        op++;
    return NULL;
}

static void victim_main(ledger *l, const char *db, int fd, uint64_t seed)
{
    victim v[LEDGER_WORKERS];
    pthread_t t[LEDGER_WORKERS];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    ramet *r = open_store(db, NULL);
    for (int w = 0; w < LEDGER_WORKERS; w++) {
        v[w] = (victim){l, r, w, fd, seed};
        pthread_create(&t[w], NULL, victim_thread, &v[w]);
    }
    for (int w = 0; w < LEDGER_WORKERS; w++)
        pthread_join(t[w], NULL);
    _exit(4);
}

/* ---- the one who kills */

/* Reads one note; false at the end of the pipe. */
static bool note_receive(int fd, ledger *l, int *acked)
{
    note n;
    ssize_t got;
    do
        got = read(fd, &n, sizeof n);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof n)
        return false;
    if (n.kind == NOTE_FAILED) {
        wrong("a worker was refused: %s", ramet_status_code(n.status));
        return true;
    }
    *acked += n.acked;
    ledger_take(l, &n);
    return true;
}

/* Lets the child run for a while and kills it. Now and then the clock starts at its birth
 * and not at its first note, so that it dies while it opens the store. The number of
 * operations that were acknowledged. */
static int round_run(ledger *l, const char *db, rng *r)
{
    int fds[2], acked = 0;
    uint64_t seed = rng_next(r);
    bool early = rng_below(r, 5) == 0;
    int64_t delay = early ? rng_below(r, 12000) : 500 + rng_below(r, 60000), until;
    if (pipe(fds))
        abort();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        victim_main(l, db, fds[1], seed);
    }
    close(fds[1]);
    struct pollfd p = {.fd = fds[0], .events = POLLIN};
    if (!early && poll(&p, 1, 30000) <= 0)
        wrong("a child said nothing for 30 s");
    until = mono_us() + delay;
    bool open = true;
    while (open && mono_us() < until) {
        struct timespec left = {0, (until - mono_us()) * 1000};
        if (left.tv_nsec > 0 && ppoll(&p, 1, &left, NULL) > 0)
            open = note_receive(fds[0], l, &acked);
    }
    kill(pid, SIGKILL);
    while (open && note_receive(fds[0], l, &acked))
        ;
    close(fds[0]);
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
        wrong("a child ended by itself (status %x) instead of being killed", (unsigned)status);
    return acked;
}

/* The store that is killed again and again, and what it must hold. */
typedef struct field {
    ledger *l;
    char *dir;         /* scratch */
    char *home, *copy; /* in it: where the store lies, where a copy goes */
    char *db;
    int acked, early;
} field;

static void field_begin(field *f)
{
    f->l = ledger_new();
    f->dir = tmp_new("crash");
    f->home = text_new("%s/store", f->dir);
    f->copy = text_new("%s/copy", f->dir);
    f->db = text_new("%s/s.db", f->home);
    mkdir(f->home, 0755);
}

static void field_end(field *f)
{
    ledger_free(f->l);
    free(f->home);
    free(f->copy);
    free(f->db);
    tmp_remove(f->dir);
}

/* Opens the store, or a copy of it, and compares. */
static void field_check(field *f, bool aside, bool all, const char *when)
{
    char *target = text_new("%s/s.db", aside ? f->copy : f->home);
    if (aside) {
        tmp_remove(must(strdup(f->copy)));
        dir_copy(f->home, f->copy);
    }
    ramet *s = open_store(target, NULL);
    ledger_check(f->l, s, all, when);
    ramet_close(s);
    free(target);
}

/* A process appends batches, forks, rewinds, undoes, redoes, edits and tags in four threads, and
 * tells before and after each operation what it does. It is killed with SIGKILL at a random
 * instant, again and again on the same store. After each kill the store is opened: everything
 * that was acknowledged is there at its place and with its content, of what was under way there
 * is all or nothing, and fsck finds nothing. Every other time a copy is opened instead, so that
 * the next child finds the store as the kill left it. */
void test_crash(void)
{
    rng r = {mix(opt.seed, 1)};
    field f = {0};
    for (int round = 0; round < opt.rounds; round++) {
        char when[96];
        snprintf(when, sizeof when, "seed %llu, round %d", (unsigned long long)opt.seed, round);
        if (round % 50 == 0) {
            if (round)
                field_end(&f);
            field_begin(&f);
        }
        if (round % 10 == 0) {
            ramet *s = open_store(f.db, NULL);
            ledger_shared_begin(f.l, s, round);
            ramet_close(s);
        }
        int acked = round_run(f.l, f.db, &r);
        f.acked += acked;
        f.early += acked == 0;
        field_check(&f, rng_below(&r, 2) && round % 10 != 9, round % 10 == 9, when);
    }
    if (!f.acked)
        wrong("nothing was ever acknowledged");
    tap_verdict("crash: %d kills: what was acknowledged is there, nothing half-done, fsck clean",
                opt.rounds);
    tap_note("%d operations acknowledged, %d kills before the first of them", f.acked, f.early);
    if (opt.rounds)
        field_end(&f);
}

/* ---- power cuts */

typedef struct circuit {
    ledger *l;
    bool refused;
} circuit;

static void note_keep(void *arg, const note *n)
{
    circuit *p = arg;
    if (n->kind == NOTE_FAILED)
        p->refused = true;
    else
        ledger_take(p->l, n);
}

/* Works on the store in `dir` and closes it; on the way the power goes, at the at-th operation on
 * the disk. What the disk held then is left in `next`. */
static void power_round(ledger *l, const char *dir, const char *next, int64_t at, int actions,
                        int keep, rng *r)
{
    char *db = text_new("%s/s.db", dir);
    shim_plan plan = {.files = SHIM_ANY, .ops = SHIM_ALL_OPS, .at = at, .power = true};
    circuit p = {l, false};
    ramet *s;
    shim_arm(db, &plan);
    if (!ramet_open(db, &(ramet_options){.engine_vfs = SHIM_NAME}, &s, NULL)) {
        ramet_call *c = ramet_call_new(s, NULL, "power");
        for (int i = 0; i < actions && !p.refused; i++) {
            int w = rng_below(r, LEDGER_WORKERS);
            ledger_act(l, c, w, l->ops[w], r, note_keep, &p);
            if (i % 16 == 15)
                ramet_search_update(c, false, NULL);
        }
        ramet_call_free(c);
        ramet_close(s);
    }
    free(db);
    shim_power_save(next, keep, r);
}

static void power_check(ledger *l, const char *dir, const char *when)
{
    char *db = text_new("%s/s.db", dir);
    ramet *s = open_store(db, NULL);
    ledger_check(l, s, true, when);
    ramet_call *c = ramet_call_new(s, NULL, NULL);
    ramet_hits hits;
    ramet_status st = ramet_search(c, &(ramet_search_in){.query = "river*"}, &hits);
    if (st)
        wrong("%s: search: %s (%s)", when, ramet_status_code(st), ramet_call_error(c)->message);
    ramet_call_free(c);
    ramet_close(s);
    free(db);
}

/* A new store with an empty ledger. */
static ledger *power_begin(const char *dir, int number)
{
    ledger *l = ledger_new();
    char *db = text_new("%s/s.db", dir);
    mkdir(dir, 0755);
    ramet *s = open_store(db, NULL);
    ledger_shared_begin(l, s, number);
    ramet_close(s);
    free(db);
    return l;
}

/* The power goes at a random write, truncate or sync. What was synced is on the disk; what was
 * not is lost, or kept, or kept in part, sector by sector. The store is opened from what the disk
 * held: everything acknowledged is there, of what was under way there is all or nothing, fsck
 * finds nothing, and search works. The next cut goes on from there. */
void test_power(void)
{
    rng r = {mix(opt.seed, 2)};
    char *dir = tmp_new("power"), *now = NULL;
    int cuts = opt.every ? 5000 : 120 / SPARSE;
    ledger *l = NULL;
    shim_register();
    for (int i = 0; i < cuts; i++) {
        if (i % 20 == 0) {
            if (l)
                ledger_free(l);
            free(now);
            now = text_new("%s/%d", dir, i);
            l = power_begin(now, i);
        }
        char *next = text_new("%s/%d.cut", dir, i), when[96];
        /* With few actions the power often goes while the store is closed, and its log is moved
         * into its file. */
        int keep = rng_below(&r, 4), actions = 1 + rng_below(&r, rng_below(&r, 2) ? 100 : 12);
        int64_t at = 1 + rng_below(&r, 30 + actions * 15);
        snprintf(when, sizeof when, "seed %llu, cut %d at %lld, keep %d",
                 (unsigned long long)opt.seed, i, (long long)at, keep);
        power_round(l, now, next, at, actions, keep, &r);
        power_check(l, next, when);
        tmp_remove(now);
        now = next;
    }
    tap_verdict("power: %d cuts: what was acknowledged is there, nothing half-done, fsck clean",
                cuts);
    if (l)
        ledger_free(l);
    free(now);
    tmp_remove(dir);
}
