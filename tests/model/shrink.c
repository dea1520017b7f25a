/* SPDX-License-Identifier: Apache-2.0
 *
 * shrink.c: cuts a failing script down: first ever smaller runs of operations are left out, then
 * operands are put to 0, and both again until nothing helps.
 */
#include "shrink.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void trial_start(trial *t, const char *dir, const op *ops, size_t n, bool quiet)
{
    t->result =
        mmap(NULL, sizeof *t->result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t->result == MAP_FAILED)
        abort();
    fflush(NULL);
    t->pid = fork();
    if (t->pid < 0)
        abort();
    if (t->pid > 0)
        return;
    if (quiet) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDERR_FILENO);
    }
    alarm(600); /* a hang is a failure too */
    world_run(dir, ops, n, t->result);
    exit(0);
}

bool trial_end(trial *t, outcome *out)
{
    int status = 0;
    waitpid(t->pid, &status, 0);
    *out = *t->result;
    munmap(t->result, sizeof *t->result);
    if (!out->failed && status != 0) {
        out->failed = true;
        int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        snprintf(out->label, sizeof out->label, "crash");
        snprintf(out->message, sizeof out->message, "the process ended with %s %d",
                 sig ? "signal" : "exit code", sig ? sig : WEXITSTATUS(status));
    }
    return !out->failed;
}

typedef struct shrinker {
    const char *dir;
    op *ops;
    size_t n;
    outcome *failure;
    time_t until;
} shrinker;

static bool time_over(const shrinker *s)
{
    return time(NULL) >= s->until;
}

/* Whether a script fails in the same way; then it is taken, up to the operation that failed. */
static bool script_try(shrinker *s, const op *ops, size_t n)
{
    trial t;
    outcome o;
    trial_start(&t, s->dir, ops, n, true);
    if (trial_end(&t, &o) || strcmp(o.label, s->failure->label) != 0)
        return false;
    if (ops != s->ops)
        memcpy(s->ops, ops, n * sizeof *ops);
    s->n = strcmp(o.label, "crash") == 0 && o.at + 1 > n ? n : o.at + 1;
    *s->failure = o;
    return true;
}

static bool ops_drop(shrinker *s, op *scratch)
{
    bool any = false;
    for (size_t chunk = s->n / 2; chunk >= 1; chunk /= 2)
        for (size_t from = 0; from + chunk < s->n && !time_over(s);) {
            size_t rest = s->n - from - chunk;
            memcpy(scratch, s->ops, from * sizeof *scratch);
            memcpy(scratch + from, s->ops + from + chunk, rest * sizeof *scratch);
            if (script_try(s, scratch, from + rest))
                any = true;
            else
                from += chunk;
        }
    return any;
}

/* Plainer values of an operand, the plainest first. */
static int32_t value_plainer(int32_t v, int step)
{
    if (step == 0)
        return 0;
    if (step == 1)
        return v > 1 ? 1 : v;
    return v & ~(1 << (step - 2));
}

static bool operands_plain(shrinker *s, op *scratch)
{
    bool any = false;
    for (size_t i = 0; i < s->n; i++)
        for (int a = 0; a < A_COUNT; a++)
            for (int step = 0; step < 24 && !time_over(s); step++) {
                if (i >= s->n)
                    return any;
                int32_t v = s->ops[i].a[a], plainer = value_plainer(v, step);
                if (v == plainer)
                    continue;
                memcpy(scratch, s->ops, s->n * sizeof *scratch);
                scratch[i].a[a] = plainer;
                any |= script_try(s, scratch, s->n);
            }
    return any;
}

void script_shrink(const char *dir, op *ops, size_t *n, outcome *failure, int seconds)
{
    shrinker s = {dir, ops, *n, failure, time(NULL) + seconds};
    op *scratch = malloc(*n * sizeof *scratch);
    if (!scratch)
        abort();
    if (failure->at + 1 < s.n)
        s.n = failure->at + 1;
    while (!time_over(&s) && (ops_drop(&s, scratch) | operands_plain(&s, scratch)))
        ;
    *n = s.n;
    free(scratch);
}
