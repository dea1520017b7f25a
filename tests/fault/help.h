/* SPDX-License-Identifier: Apache-2.0
 *
 * help.h: what all fault tests need: TAP, chance with a seed, scratch folders,
 * files as bytes, children that may crash.
 */
#ifndef FAULT_HELP_H
#define FAULT_HELP_H

#include "ramet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* What the command line asked for. */
typedef struct options {
    uint64_t seed;
    int rounds;   /* crash: kills */
    bool every;   /* vfs: every n instead of a stride */
    bool verbose; /* diagnostics of passed tests too */
    int budget;   /* seconds that vfs and cut may take when not `every`, and lost-writes takes */
    const char *base; /* folder for scratch files */
} options;
extern options opt;

/* Sanitizers make children cost several times as much: fewer samples then. */
#ifdef __SANITIZE_ADDRESS__
enum { SPARSE = 3 };
#else
enum { SPARSE = 1 };
#endif

/* ---- TAP */
__attribute__((format(printf, 2, 3))) bool tap(bool ok, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void tap_skip(const char *why, const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void tap_note(const char *fmt, ...);
int tap_finish(void); /* prints the plan; the exit code */

/* Collects what went wrong in one test, so that it is one line of TAP: the first few
 * are shown, all are counted. Safe from any thread. */
__attribute__((format(printf, 1, 2))) void wrong(const char *fmt, ...);
int wrong_count(void);
/* Ends the test: ok when nothing was wrong since the last one. */
__attribute__((format(printf, 1, 2))) bool tap_verdict(const char *fmt, ...);

/* ---- chance: splitmix64 */
typedef struct rng {
    uint64_t s;
} rng;
uint64_t rng_next(rng *r);
int rng_below(rng *r, int n); /* 0 … n-1 */
uint64_t mix(uint64_t a, uint64_t b);
uint64_t bytes_hash(const void *p, size_t n);

/* ---- time */
int64_t mono_us(void);
void sleep_us(int64_t us);

/* ---- files */
/* A new folder under opt.base (kept in memory when /dev/shm is there); removed by tmp_remove(). */
char *tmp_new(const char *name);
void tmp_remove(char *dir); /* and frees the name */
__attribute__((format(printf, 1, 2))) char *text_new(const char *fmt, ...);

typedef struct bytes {
    uint8_t *p;
    size_t n;
} bytes;
bytes image_read(const char *path); /* p NULL when there is none */
void image_write(const char *path, const void *p, size_t n);
bool file_exists(const char *path);
/* Every file of a folder, and of those in it, into another (made when missing), without the
 * shared-memory files. */
void dir_copy(const char *from, const char *to);

/* ---- memory */
void *must(void *p);
void *mem_new(size_t n);
void *mem_grow(void *p, size_t n);

/* ---- children */
typedef struct child_end {
    int code;   /* exit code, -1 when it was killed */
    int signal; /* 0 when it ended by itself */
    bool late;  /* killed because it took too long */
    char *said; /* what it wrote to the FILE; freed by the caller */
} child_end;
/* Runs fn in a child process; what it prints to `say` comes back. */
child_end child_run(int (*fn)(void *arg, FILE *say), void *arg, int seconds);

/* ---- the library */
ramet *open_store(const char *path, const ramet_options *o); /* aborts with the reason */
/* Runs fsck on an open store; reports every fault through wrong(). */
void check_store(ramet *r, const char *when);
/* The text that the entry with this id has: so that its content can be checked
 * by anyone who knows the id. 20 to some thousand bytes. */
char *text_of(const char *id);

/* A place for a new store: a file in a folder of its own, or with RAMET_TEST_DB a schema. */
typedef struct place {
    char *dir; /* NULL: a schema */
    char schema[64], url[1200];
} place;
void place_new(place *p, const char *name);
void place_remove(place *p);

/* ---- the tests, one function a word of the command line */
void test_crash(void);
void test_power(void);
void test_vfs(void);
void test_stopped(void);
void test_full(void);
void test_damage(void);
void test_wal(rng *r); /* a part of it */
void test_threads(void);
void test_processes(void);
void test_nodes(void);
void test_cut(void);
void test_lost_writes(void);

#endif
