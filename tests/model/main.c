/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: the test against the reference model.
 *
 *   model [--ops N] [--seed S] [--shrink SECONDS]     N random operations (default 100,000)
 *   model --keep DIR …                                the stores stay there
 *   model --replay FILE [--shrink SECONDS]            a script again, and shorter
 *
 * The operations are spread over stores of at most 5,000 each, in profiles that dwell on
 * different things. Prints TAP; a failing run prints a shortened script that replays it.
 */
#include "shrink.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STORE_OPS = 5000, JOBS = 2 };

typedef struct phase {
    profile p;
    size_t ops;
    uint64_t seed;
    op *script;
    size_t n;
    trial t;
} phase;

typedef struct settings {
    uint64_t seed;
    size_t ops;
    int shrink;
    const char *replay, *program;
    char dir[200];
} settings;

/* Durability is not what is tested here, so memory will do. */
static void dir_make(settings *s)
{
    const char *base = getenv("TMPDIR");
    if (access("/dev/shm", W_OK) == 0)
        base = "/dev/shm";
    snprintf(s->dir, sizeof s->dir, "%.150s/ramet-model-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(s->dir)) {
        perror(s->dir);
        exit(2);
    }
}

/* What crashed runs left is in there too. */
static void dir_remove(const settings *s)
{
    char path[600];
    struct dirent *e;
    DIR *d = opendir(s->dir);
    while (d && (e = readdir(d))) {
        snprintf(path, sizeof path, "%s/%s", s->dir, e->d_name);
        unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(s->dir);
}

/* The script goes to a file that stays, and onto the screen when it is short. */
static void script_save(const settings *s, const op *ops, size_t n)
{
    char path[300];
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.150s/ramet-model-%" PRIu64 "-%ld.script",
             base && *base ? base : "/tmp", s->seed, (long)getpid());
    FILE *f = fopen(path, "w");
    if (!f) {
        perror(path);
        return;
    }
    for (size_t i = 0; i < n; i++)
        op_print(f, &ops[i]);
    fclose(f);
    printf("# shortened to %zu operations:\n", n);
    for (size_t i = 0; i < n && n <= 200; i++) {
        printf("#   ");
        op_print(stdout, &ops[i]);
    }
    printf("# replay with: %s --replay %s\n", s->program, path);
}

static bool phase_report(const settings *s, phase *k, size_t number, outcome *total)
{
    outcome o;
    bool clean = trial_end(&k->t, &o);
    for (int i = 0; i < OP_COUNT; i++) {
        total->done[i] += o.done[i];
        total->refused[i] += o.refused[i];
    }
    printf("%s %zu - %s: %zu operations, seed %" PRIu64 "\n", clean ? "ok" : "not ok", number,
           profile_name(k->p), k->ops, k->seed);
    if (!clean) {
        printf("# operation %zu of %zu: %s\n", o.at + 1, k->n, o.message);
        fflush(stdout);
        script_shrink(s->dir, k->script, &k->n, &o, s->shrink < 0 ? 60 : s->shrink);
        printf("# %s\n", o.message);
        script_save(s, k->script, k->n);
    }
    fflush(stdout);
    return clean;
}

/* How the operations are spread: most are mixed. */
static phase *phases_make(const settings *s, size_t *count)
{
    static const unsigned shares[PROFILES] = {55, 15, 10, 10, 10};
    phase *k = calloc(s->ops / STORE_OPS * 2 + 2 * PROFILES, sizeof *k);
    if (!k)
        abort();
    *count = 0;
    for (int p = 0; p < PROFILES; p++)
        for (size_t left = s->ops * shares[p] / 100; left > 0;) {
            size_t n = left < STORE_OPS ? left : STORE_OPS;
            k[*count] = (phase){.p = (profile)p, .ops = n, .seed = s->seed + *count};
            left -= n;
            ++*count;
        }
    return k;
}

static bool phases_run(const settings *s)
{
    size_t count;
    bool clean = true;
    outcome total = {0};
    phase *k = phases_make(s, &count);
    printf("# seed %" PRIu64 "\n1..%zu\n", s->seed, count);
    for (size_t i = 0; i < count; i += JOBS) {
        for (size_t j = i; j < i + JOBS && j < count; j++) {
            k[j].script = script_make(k[j].seed, k[j].p, k[j].ops, &k[j].n);
            trial_start(&k[j].t, s->dir, k[j].script, k[j].n, false);
        }
        for (size_t j = i; j < i + JOBS && j < count; j++) {
            clean &= phase_report(s, &k[j], j + 1, &total);
            free(k[j].script);
        }
    }
    free(k);
    /* A driver whose operations are all refused tests little: let it be seen. */
    printf("# done/refused:");
    for (int i = 0; i < OP_COUNT; i++)
        if (total.done[i] + total.refused[i])
            printf(" %s %u/%u", op_name((op_kind)i), total.done[i], total.refused[i]);
    printf("\n");
    return clean;
}

static bool replay_run(const settings *s)
{
    FILE *f = fopen(s->replay, "r");
    char line[2000];
    op *ops = NULL;
    size_t n = 0, cap = 0;
    if (!f) {
        perror(s->replay);
        return false;
    }
    while (fgets(line, sizeof line, f)) {
        bool none;
        if (n == cap) {
            cap = cap ? cap * 2 : 64;
            ops = realloc(ops, cap * sizeof *ops);
            if (!ops)
                abort();
        }
        if (!op_parse(line, &ops[n], &none)) {
            fprintf(stderr, "%s: not an operation: %s", s->replay, line);
            exit(2);
        }
        n += !none;
    }
    fclose(f);
    trial t;
    outcome o;
    trial_start(&t, s->dir, ops, n, false);
    bool clean = trial_end(&t, &o);
    printf("1..1\n%s 1 - %s, %zu operations\n", clean ? "ok" : "not ok", s->replay, n);
    if (!clean && o.at < n) {
        printf("# operation %zu: %s\n#   ", o.at + 1, o.message);
        op_print(stdout, &ops[o.at]);
    }
    if (!clean && s->shrink > 0) {
        script_shrink(s->dir, ops, &n, &o, s->shrink);
        script_save(s, ops, n);
    }
    free(ops);
    return clean;
}

static void settings_parse(settings *s, int argc, char **argv)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *s = (settings){.seed =
                        ((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000) % 100000000,
                    .ops = 100000,
                    .shrink = -1,
                    .program = argv[0]};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && strcmp(argv[i], "--ops") == 0)
            s->ops = strtoull(value, NULL, 10);
        else if (value && strcmp(argv[i], "--seed") == 0)
            s->seed = strtoull(value, NULL, 10);
        else if (value && strcmp(argv[i], "--shrink") == 0)
            s->shrink = (int)strtol(value, NULL, 10);
        else if (value && strcmp(argv[i], "--keep") == 0)
            snprintf(s->dir, sizeof s->dir, "%s", value);
        else if (value && strcmp(argv[i], "--replay") == 0)
            s->replay = value;
        else {
            fprintf(
                stderr,
                "usage: %s [--ops N] [--seed S] [--shrink SECONDS] [--keep DIR] [--replay FILE]\n",
                argv[0]);
            exit(2);
        }
        i++;
    }
}

int main(int argc, char **argv)
{
    settings s;
    settings_parse(&s, argc, argv);
    world_keep = s.dir[0];
    if (!world_keep)
        dir_make(&s);
    bool clean = s.replay ? replay_run(&s) : phases_run(&s);
    if (!world_keep)
        dir_remove(&s);
    return clean ? 0 : 1;
}
