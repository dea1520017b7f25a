/* SPDX-License-Identifier: Apache-2.0
 *
 * help.h: a scratch store for each test, and short words for common steps.
 *
 * Criterion runs each test in a process of its own, so T is fresh every time:
 *
 *     TestSuite(fork, .init = scratch_open, .fini = scratch_close);
 *
 * The clock stands still unless tick() or a helper that writes moves it on.
 *
 * With RAMET_TEST_DB=postgres://… in the environment the store is a schema of its own in that
 * database, made for the test and dropped after it. Tests of what only a file has stand in
 * tests/lib/of-files.
 */
#ifndef TESTS_UNIT_HELP_H
#define TESTS_UNIT_HELP_H

#include "ramet.h"

#include <criterion/criterion.h>
#include <string.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)
#define T0 INT64_C(1767323045000000) /* 2026-01-02T03:04:05Z */
#define NO_HASH "0000000000000000000000000000000000000000000000000000000000000000"

extern struct scratch {
    ramet *store;
    ramet_call *call; /* as the embedding program */
    int64_t now;
    char dir[64];
    char path[512]; /* of the store, or its URL */
    char files[96]; /* folder of its attachments */
    bool folder;    /* they lie there also when the store is not a file */
    bool database;  /* not a file */
} T;

void scratch_open(void);
void scratch_close(void);
/* Closes the store and frees all calls; opens it (again, when it is open). */
void scratch_shut(void);
void scratch_reopen(const ramet_options *opt);
ramet_options scratch_options(void);

/* A call of that user; freed with the store. */
ramet_call *as(const char *user);
void tick(int64_t us);

/* Expectations. `expr` is a call through `c`. */
#define ok_for(c, expr) expect(RAMET_OK, NULL, (expr), (c), #expr, __FILE__, __LINE__)
#define ok(expr) ok_for(T.call, expr)
#define refused_for(c, status, field, expr)                                                        \
    expect((status), (field), (expr), (c), #expr, __FILE__, __LINE__)
#define refused(status, field, expr) refused_for(T.call, status, field, expr)
void expect(ramet_status want, const char *field, ramet_status got, const ramet_call *c,
            const char *what, const char *file, int line);

/* ---- steps, as the embedding program; each takes a second */

/* A root session of user "ann". */
ramet_session *make(const char *id);
/* Appends a user message "text of ID" for each id of a list like "a b c". */
void say(const char *session, const char *ids);
/* Appends m0, m1, … to the messages and k0, k1, … to the ADK log, by turns. */
void say_both(const char *session, int n);
/* Appends one entry and gives it as stored. */
ramet_entry *put(const char *session, const ramet_entry_in *in);
/* A user message with that text, and an answer. */
ramet_entry *ask(const char *session, const char *id, const char *text);
ramet_entry *answer(const char *session, const char *id, const char *text);
/* Forks after an entry (NULL: at the head). */
ramet_session *fork_at(const char *session, const char *entry, const char *id);
/* Rewinds to after an entry; gives the new head branch. */
int64_t rewind_to(const char *session, const char *entry);
void join(const char *session, const char *user, ramet_level level);
void drop(const char *session);

/* ---- looks */

ramet_session *get(const char *session);
/* The ids on a path, "a b c"; of the head, of a branch. */
const char *ids(const char *session);
const char *ids_on(const char *session, int64_t branch);
/* Everything about the entries of the path, one line each, to compare two reads. */
const char *dump(const char *session, int64_t branch);
/* Counters of the store that every write changes: equal when nothing was written. */
const char *mark(void);
/* A number from the store itself, where the API cannot show it. */
int64_t sql_number(const char *sql);
/* Changes a store behind Ramet's back. */
void sql_run(const char *path, const char *sql);

#endif
