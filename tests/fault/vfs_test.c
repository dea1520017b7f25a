/* SPDX-License-Identifier: Apache-2.0
 *
 * vfs_test.c: I8. The disk fails at the n-th write, truncate or sync, for every n of a
 * script of 200 operations (in `all`: for as many n as the time allows, evenly spread).
 *
 * First the script runs on a good disk; the store's story after each step is kept. Then,
 * for each n, it runs with a disk that fails there: on a fresh store, or, to save time, on a copy
 * of how the files were some steps before. Up to the failure every step must answer as on the
 * good disk. The step that meets the failure must say so
 * (RAMET_IO, RAMET_FULL). From then on:
 *
 *   reads go on, and tell exactly the story of the steps that were acknowledged;
 *   a broken disk: writes are refused with RAMET_STOPPED, also when the disk works again,
 *   until the store is opened anew;
 *   a full disk: writes are refused while it is full, and taken again when there is room;
 *   after opening anew, everything acknowledged is there, the failed step is there as a
 *   whole or not at all, and fsck finds nothing.
 *
 * A failure of the search index alone fails no write and no read.
 */
#include "story.h"
#include "script.h"
#include "vfs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SNAP_STEPS = 20, SNAPS = 16, GO_ON = 12 };

/* The files as they were in the middle of the script. */
typedef struct snapshot {
    char *dir;        /* NULL: before there were any */
    int step;         /* steps taken */
    int64_t count[8]; /* operations until then, by kinds */
} snapshot;

/* The script on a good disk. */
typedef struct reference {
    script s;
    int files;
    story **after;        /* after[i]: when i steps were taken */
    ramet_status *status; /* of each step */
    int64_t count[8];     /* operations on the files, from open to the end, by kinds */
    int64_t rare[64];     /* which of them are no plain writes */
    int n_rare;
    int64_t us; /* how long a trial takes, about */
    char *dir;
    snapshot snap[SNAPS];
    int n_snaps;
} reference;

typedef struct trial {
    reference *ref;
    const shim_plan *plan;
    char *dir, *db;
    ramet_options o;
    ramet *r;
    ramet_call *c;
    char name[160];
} trial;

static bool disk_status(ramet_status s)
{
    return s == RAMET_IO || s == RAMET_FULL || s == RAMET_STOPPED;
}

/* The search index is brought up to date now and then, as a server would do it. */
static void index_step(ramet_call *c, int step)
{
    if (step % 10 == 9)
        ramet_search_update(c, false, NULL);
}

static void counts_get(int64_t count[8])
{
    for (int ops = 0; ops < 8; ops++)
        count[ops] = shim_count(ops);
}

static void snapshot_take(reference *ref, const char *from, int step)
{
    snapshot *s = &ref->snap[ref->n_snaps++];
    *s = (snapshot){.step = step};
    if (step == 0)
        return;
    s->dir = text_new("%s/%d", ref->dir, step);
    dir_copy(from, s->dir);
    counts_get(s->count);
}

static void reference_step(reference *ref, ramet *r, ramet_call *c, int i)
{
    ref->status[i] = script_step(&ref->s, c, i);
    if (ramet_status_http(ref->status[i]) >= 500)
        wrong("step %d on a good disk: %s (%s)", i, ramet_status_code(ref->status[i]),
              ramet_call_error(c)->message);
    index_step(c, i);
    ramet_call_reset(c);
    ref->after[i + 1] = story_take(r, NULL, false);
}

static void reference_run(reference *ref)
{
    ref->dir = tmp_new("vfs-good");
    char *live = text_new("%s/live", ref->dir), *db = text_new("%s/s.db", live);
    shim_plan plan = {.files = ref->files, .ops = SHIM_ALL_OPS};
    mkdir(live, 0755);
    shim_arm(db, &plan);
    ramet_options o = script_options(&ref->s, SHIM_NAME);
    snapshot_take(ref, live, 0);
    ramet *r = open_store(db, &o);
    ramet_call *c = ramet_call_new(r, NULL, "script");
    ref->after = mem_new((size_t)(ref->s.steps + 1) * sizeof *ref->after);
    ref->status = mem_new((size_t)ref->s.steps * sizeof *ref->status);
    ref->after[0] = story_take(r, NULL, false);
    int64_t start = mono_us();
    for (int i = 0; i < ref->s.steps; i++) {
        if (i && i % SNAP_STEPS == 0)
            snapshot_take(ref, live, i);
        reference_step(ref, r, c, i);
    }
    /* Some ten steps to the failure, and some ten readings of the whole. */
    ref->us = (mono_us() - start) / ref->s.steps * SNAP_STEPS / 2;
    ramet_call_free(c);
    check_store(r, "on a good disk");
    ramet_close(r);
    counts_get(ref->count);
    ref->n_rare = shim_rare(ref->rare, 64);
    free(db);
    free(live);
}

static void reference_free(reference *ref)
{
    for (int i = 0; i <= ref->s.steps; i++)
        story_free(ref->after[i]);
    for (int i = 0; i < ref->n_snaps; i++)
        free(ref->snap[i].dir);
    free(ref->after);
    free(ref->status);
    tmp_remove(ref->dir);
}

static void expect_story(trial *t, int steps, const char *when)
{
    char text[256];
    story *s = story_take(t->r, NULL, false);
    snprintf(text, sizeof text, "%s, %s, %d steps", t->name, when, steps);
    story_same(t->ref->after[steps], s, text);
    story_free(s);
}

static bool trial_open(trial *t, ramet_status *st)
{
    ramet_error err;
    *st = ramet_open(t->db, &t->o, &t->r, &err);
    t->c = *st ? NULL : ramet_call_new(t->r, NULL, "script");
    return !*st;
}

static void trial_close(trial *t)
{
    if (t->c)
        ramet_call_free(t->c);
    if (t->r)
        ramet_close(t->r);
    t->c = NULL;
    t->r = NULL;
}

/* Opens anew on a good disk: everything acknowledged is there, the step that failed wholly
 * or not at all. */
static void trial_reopen(trial *t, int acked, bool one_failed)
{
    ramet_status st;
    trial_close(t);
    shim_heal();
    if (!trial_open(t, &st)) {
        wrong("%s: cannot be opened again: %s", t->name, ramet_status_code(st));
        return;
    }
    story *s = story_take(t->r, NULL, false);
    const story_item *other;
    bool more = one_failed && acked < t->ref->s.steps &&
                !story_differs(t->ref->after[acked + 1], s, &other);
    if (!more)
        story_same(t->ref->after[acked], s, t->name);
    story_free(s);
    check_store(t->r, t->name);
    trial_close(t);
}

/* A write that has nothing wrong in itself. */
static ramet_status write_try(trial *t, int n)
{
    char id[24];
    ramet_append_out out;
    snprintf(id, sizeof id, "try%d", n);
    ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = "is anybody there"};
    ramet_session_list list;
    if (ramet_session_find(t->c, &(ramet_list_in){.limit = 1}, &list) || !list.n)
        return RAMET_STOPPED;
    ramet_status st =
        ramet_append(t->c, list.items[0].id, &(ramet_append_in){.entries = &e, .n = 1}, &out);
    ramet_call_reset(t->c);
    return st;
}

static void after_broken(trial *t, int acked)
{
    for (int i = 0; i < 3; i++) {
        ramet_status st = write_try(t, i);
        if (st != RAMET_STOPPED)
            wrong("%s: write %d after the failure of step %d: %s, not store_stopped", t->name, i,
                  acked, ramet_status_code(st));
        shim_heal();
    }
    if (ramet_health(t->r) != RAMET_IO)
        wrong("%s: health is %s, not io_error", t->name, ramet_status_code(ramet_health(t->r)));
    expect_story(t, acked, "writes stopped");
    trial_reopen(t, acked, true);
}

static void after_full(trial *t, int acked)
{
    if (ramet_health(t->r) != RAMET_FULL)
        wrong("%s: health is %s, not disk_full", t->name, ramet_status_code(ramet_health(t->r)));
    if (t->plan->lasting) {
        ramet_status st = write_try(t, 0);
        if (st != RAMET_STOPPED && st != RAMET_FULL)
            wrong("%s: a write on the full disk: %s", t->name, ramet_status_code(st));
    }
    expect_story(t, acked, "disk full");
    shim_heal();
    int end = acked + GO_ON < t->ref->s.steps ? acked + GO_ON : t->ref->s.steps;
    for (int i = acked; i < end; i++) {
        ramet_status st = script_step(&t->ref->s, t->c, i);
        if (st != t->ref->status[i]) {
            wrong("%s: step %d with room again: %s (%s)", t->name, i, ramet_status_code(st),
                  ramet_call_error(t->c)->message);
            break;
        }
        ramet_call_reset(t->c);
    }
    expect_story(t, end, "room again");
    trial_reopen(t, end, false);
}

/* Takes the steps until one meets the failure; how many were acknowledged. */
static int trial_steps(trial *t, int first, ramet_status *st)
{
    bool store = t->plan->files & SHIM_STORE;
    for (int i = first; i < t->ref->s.steps; i++) {
        bool failed_before = shim_failures() > 0;
        *st = script_step(&t->ref->s, t->c, i);
        if (*st != t->ref->status[i]) {
            if (!store || !disk_status(*st))
                wrong("%s: step %d: %s (%s), on a good disk %s", t->name, i, ramet_status_code(*st),
                      ramet_call_error(t->c)->message, ramet_status_code(t->ref->status[i]));
            if (shim_failures() == 0)
                wrong("%s: step %d failed before the disk did", t->name, i);
            return i;
        }
        if (store && failed_before && *st == RAMET_OK && !t->plan->full)
            wrong("%s: step %d was taken though the disk had failed before it", t->name, i);
        index_step(t->c, i);
        ramet_call_reset(t->c);
    }
    *st = RAMET_OK;
    return t->ref->s.steps;
}

/* The index failed by now, or never will. A search may fail while its disk does; afterwards
 * the index can be made anew. */
static void after_index(trial *t)
{
    ramet_hits hits;
    ramet_search(t->c, &(ramet_search_in){.query = "river*"}, &hits);
    ramet_call_reset(t->c);
    expect_story(t, t->ref->s.steps, "index failed");
    trial_close(t);
    shim_heal();
    ramet_status st;
    if (!trial_open(t, &st)) {
        wrong("%s: cannot be opened again: %s", t->name, ramet_status_code(st));
        return;
    }
    st = ramet_search(t->c, &(ramet_search_in){.query = "river*"}, &hits);
    if (st)
        st = ramet_search_update(t->c, true, NULL);
    if (!st)
        st = ramet_search(t->c, &(ramet_search_in){.query = "river*"}, &hits);
    if (st || !hits.n)
        wrong("%s: search does not come back: %s (%s)", t->name, ramet_status_code(st),
              ramet_call_error(t->c)->message);
    trial_reopen(t, t->ref->s.steps, false);
}

/* Puts the files as they were last before the at-th operation; the steps taken by then. */
static int trial_prepare(trial *t, shim_plan *plan)
{
    const snapshot *s = &t->ref->snap[0];
    for (int i = 1; i < t->ref->n_snaps; i++)
        if (t->ref->snap[i].count[plan->ops] < plan->at)
            s = &t->ref->snap[i];
    if (s->dir)
        dir_copy(s->dir, t->dir);
    plan->at -= s->count[plan->ops];
    shim_arm(t->db, plan);
    return s->step;
}

static void trial_play(trial *t, int first)
{
    ramet_status st;
    int acked = trial_steps(t, first, &st);
    if (!(t->plan->files & SHIM_STORE)) {
        after_index(t);
    } else if (st == RAMET_IO || st == RAMET_FULL || st == RAMET_STOPPED) {
        expect_story(t, acked, "right after the failure");
        (ramet_health(t->r) == RAMET_FULL ? after_full : after_broken)(t, acked);
    } else {
        if (acked == t->ref->s.steps && shim_failures() && !ramet_health(t->r) && !t->plan->full)
            wrong("%s: nobody noticed the failure", t->name);
        trial_reopen(t, acked, false);
    }
}

static void trial_run(reference *ref, shim_plan plan, const char *name)
{
    trial t = {.ref = ref, .plan = &plan};
    ramet_status st;
    t.dir = tmp_new("vfs");
    t.db = text_new("%s/s.db", t.dir);
    t.o = script_options(&ref->s, SHIM_NAME);
    snprintf(t.name, sizeof t.name, "%s at %lld", name, (long long)plan.at);
    int first = trial_prepare(&t, &plan);
    if (trial_open(&t, &st)) {
        trial_play(&t, first);
    } else {
        if ((!disk_status(st) && st != RAMET_CANNOT_OPEN) || !(plan.files & SHIM_STORE))
            wrong("%s: open failed with %s", t.name, ramet_status_code(st));
        trial_reopen(&t, first, false);
    }
    trial_close(&t);
    free(t.db);
    tmp_remove(t.dir);
}

static void trials(reference *ref, shim_plan plan, double share, const char *name)
{
    int64_t count = ref->count[plan.ops], n = 0;
    int64_t fit = (int64_t)(opt.budget * share * 1e6) / (ref->us > 0 ? ref->us : 1);
    int64_t stride = opt.every || fit >= count ? 1 : count / (fit > 0 ? fit : 1) + 1;
    rng r = {mix(opt.seed, bytes_hash(name, strlen(name)))};
    plan.at = 1 + (int64_t)(rng_next(&r) % (uint64_t)stride);
    for (; plan.at <= count; plan.at += stride, n++)
        trial_run(ref, plan, name);
    for (int i = 0; i < ref->n_rare && stride > 1 && plan.ops == SHIM_ALL_OPS; i++, n++) {
        plan.at = ref->rare[i];
        trial_run(ref, plan, name);
    }
    tap_verdict("vfs: %s, at %lld of %lld places", name, (long long)n, (long long)count);
}

static const struct {
    const char *name;
    bool full, lasting;
    int ops;
} ways[] = {
    {"an I/O error, once", false, false, SHIM_ALL_OPS},
    {"an I/O error, from then on", false, true, SHIM_ALL_OPS},
    {"a full disk, once", true, false, SHIM_WRITE},
    {"a full disk, from then on", true, true, SHIM_WRITE},
};

/* All four ways on one group of files. */
static void way_trials(const char *what, int files, bool busy, int steps, double share)
{
    reference ref = {.s = {.seed = 11, .steps = steps, .busy = busy}, .files = files};
    reference_run(&ref);
    if (tap_verdict("vfs: %s: %d steps on a good disk, %lld operations", what, steps,
                    (long long)ref.count[SHIM_ALL_OPS]))
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            char name[96];
            snprintf(name, sizeof name, "%s: %s", what, ways[i].name);
            trials(&ref,
                   (shim_plan){.files = files,
                               .ops = ways[i].ops,
                               .full = ways[i].full,
                               .lasting = ways[i].lasting},
                   share / 4, name);
        }
    reference_free(&ref);
}

void test_vfs(void)
{
    shim_register();
    way_trials("the store", SHIM_STORE, false, SCRIPT_STEPS, 0.6);
    /* Enough to run the write-ahead log over, so that it is moved into the file. */
    way_trials("the file, at a checkpoint", SHIM_DB, true, 100, 0.25);
    way_trials("the search index", SHIM_SIDE, false, SCRIPT_STEPS, 0.15);
}
