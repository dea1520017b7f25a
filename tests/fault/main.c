/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: the fault tests: what the store does when the process, the disk, the file or
 * the neighbours do not behave. Prints TAP.
 *
 *   fault files|postgres|crash|power|vfs|stopped|full|damage|threads|processes|nodes|cut|
 *         lost-writes … [options]
 *
 * With RAMET_TEST_DB=postgres://… the stores of the last five are there.
 */
#include "help.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 1, POSTGRES = 2 };

static const struct {
    const char *name;
    void (*run)(void);
    int engines;
} tests[] = {
    {"crash", test_crash, FILES},
    {"power", test_power, FILES},
    {"vfs", test_vfs, FILES},
    {"stopped", test_stopped, FILES},
    {"full", test_full, FILES},
    {"damage", test_damage, FILES},
    {"threads", test_threads, FILES | POSTGRES},
    {"processes", test_processes, FILES | POSTGRES},
    {"nodes", test_nodes, POSTGRES},
    {"cut", test_cut, POSTGRES},
    {"lost-writes", test_lost_writes, POSTGRES},
};
enum { N_TESTS = sizeof tests / sizeof tests[0] };

static void usage(void)
{
    fprintf(stderr,
            "usage: fault files|postgres|crash|power|vfs|stopped|full|damage|threads|processes|\n"
            "             nodes|cut|lost-writes ... [options]\n"
            "  --seed N     goes the same way again (the seed is printed)\n"
            "  --rounds N   kills in crash (50)\n"
            "  --all        every place in vfs and cut; many more in power and damage\n"
            "  --budget S   seconds for lost-writes, and for vfs and cut without --all (40)\n"
            "  --dir PATH   scratch folder (/dev/shm)\n"
            "  --verbose    what each damage led to\n");
    exit(2);
}

static bool is_word(const char *word, bool chosen[N_TESTS])
{
    bool known = false;
    int engine = !strcmp(word, "files") ? FILES : !strcmp(word, "postgres") ? POSTGRES : 0;
    for (int i = 0; i < N_TESTS; i++)
        if (tests[i].engines & engine || !strcmp(word, tests[i].name))
            known = chosen[i] = true;
    return known;
}

static uint64_t number(int argc, char **argv, int *i)
{
    char *end;
    if (++*i >= argc)
        usage();
    uint64_t n = strtoull(argv[*i], &end, 10);
    if (*end || end == argv[*i])
        usage();
    return n;
}

int main(int argc, char **argv)
{
    bool chosen[N_TESTS] = {false};
    int words = 0;
    const char *tmp = getenv("TMPDIR");
    opt.base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : tmp ? tmp : "/tmp";
    opt.seed = (uint64_t)time(NULL) * 1000 + (uint64_t)getpid() % 1000;
    opt.rounds = 50;
    opt.budget = 40;
    for (int i = 1; i < argc; i++) {
        if (is_word(argv[i], chosen))
            words++;
        else if (!strcmp(argv[i], "--seed"))
            opt.seed = number(argc, argv, &i);
        else if (!strcmp(argv[i], "--rounds"))
            opt.rounds = (int)number(argc, argv, &i);
        else if (!strcmp(argv[i], "--budget"))
            opt.budget = (int)number(argc, argv, &i);
        else if (!strcmp(argv[i], "--all"))
            opt.every = true;
        else if (!strcmp(argv[i], "--verbose"))
            opt.verbose = true;
        else if (!strcmp(argv[i], "--dir") && ++i < argc)
            opt.base = argv[i];
        else
            usage();
    }
    if (!words)
        usage();
    tap_note("seed %llu", (unsigned long long)opt.seed);
    for (int i = 0; i < N_TESTS; i++)
        if (chosen[i]) {
            int64_t start = mono_us();
            tests[i].run();
            tap_note("%s took %.1f s", tests[i].name, (double)(mono_us() - start) / 1e6);
        }
    return tap_finish();
}
