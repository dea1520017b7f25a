/* SPDX-License-Identifier: Apache-2.0
 *
 * wal.c: damage in the write-ahead log of a store that was not closed.
 *
 * The log of a store whose process died holds its newest commits. A reader cannot tell a commit
 * that was damaged there from one that a crash cut short: it takes the log up to the first frame
 * whose checksum is wrong. So here, and only here, damage makes a store shorter without an error:
 * by whole commits, never by a part of one. (A copy made by ramet_backup() has no log.)
 */
#include "script.h"
#include "story.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { STEPS = 40, FLIPS = 60 };

typedef struct wal_case {
    char *db;
    story **after; /* the story after each step */
} wal_case;

static int wal_child(void *arg, FILE *say)
{
    const wal_case *w = arg;
    ramet *r;
    ramet_error err;
    ramet_fsck_out out;
    ramet_status st = ramet_open(w->db, NULL, &r, &err);
    if (st) {
        fprintf(say, "open: %s", err.message);
        return 0;
    }
    story *now = story_take(r, NULL, false);
    const story_item *other;
    int k = STEPS;
    while (k >= 0 && story_differs(w->after[k], now, &other))
        k--;
    story_free(now);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    st = ramet_fsck(c, NULL, NULL, &out);
    if (k < 0)
        fprintf(say, "its story is that of no step");
    else if (st || out.n_all)
        fprintf(say, "fsck finds %lld faults", (long long)out.n_all);
    ramet_call_free(c);
    ramet_close(r);
    return k < 0 || st || out.n_all ? 1 : 0;
}

/* Takes the steps, and leaves the files as they lie on the disk before the store is closed. */
static void wal_make(const char *live, const char *kept, story **after)
{
    script s = {.seed = 31, .steps = STEPS};
    ramet_options o = script_options(&s, NULL);
    char *db = text_new("%s/s.db", live);
    ramet *r = open_store(db, &o);
    ramet_call *c = ramet_call_new(r, NULL, "script");
    after[0] = story_take(r, NULL, false);
    for (int i = 0; i < STEPS; i++) {
        script_step(&s, c, i);
        ramet_call_reset(c);
        after[i + 1] = story_take(r, NULL, false);
    }
    ramet_call_free(c);
    dir_copy(live, kept);
    ramet_close(r);
    free(db);
}

void test_wal(rng *r)
{
    story *after[STEPS + 1];
    char *dir = tmp_new("wal"), *live = text_new("%s/live", dir), *kept = text_new("%s/kept", dir);
    char *work = text_new("%s/work", dir), *wal = text_new("%s/s.db-wal", work);
    wal_case w = {text_new("%s/s.db", work), after};
    mkdir(live, 0755);
    wal_make(live, kept, after);
    dir_copy(kept, work);
    bytes b = image_read(wal);
    if (b.n < 4096)
        wrong("there is no write-ahead log");
    for (int i = 0; i < FLIPS && b.n; i++) {
        size_t at = (size_t)(rng_next(r) % b.n), n = i % 4 ? b.n : at;
        dir_copy(kept, work);
        b.p[at] ^= 0x21;
        image_write(wal, b.p, n);
        b.p[at] ^= 0x21;
        child_end end = child_run(wal_child, &w, 60);
        if (end.code || end.signal)
            wrong("log %s %zu: %s (code %d, signal %d)", n == b.n ? "changed at" : "cut at", at,
                  end.said, end.code, end.signal);
        free(end.said);
    }
    tap_verdict(
        "damage: %d damaged write-ahead logs: an earlier whole state, never a part of a commit",
        FLIPS);
    for (int i = 0; i <= STEPS; i++)
        story_free(after[i]);
    free(b.p);
    free(w.db);
    free(wal);
    free(work);
    free(kept);
    free(live);
    tmp_remove(dir);
}
