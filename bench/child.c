/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes of a benchmark (child.h).
 */
#include "bench/child.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void child_end(child *c)
{
    kill(c->pid, SIGTERM);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* Called in the child: makes it end together with the benchmark, however that ends. */
static void die_along(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
}

child child_fork(void (*run)(int out))
{
    int ends[2];
    child c = {0};
    pid_t parent = getpid();
    if (pipe(ends) != 0 || (c.pid = fork()) < 0)
        bench_die("a child process cannot be started: %s", strerror(errno));
    if (c.pid == 0) {
        die_along(parent);
        run(ends[1]);
        _exit(1);
    }
    close(ends[1]);
    if (read(ends[0], &c.port, sizeof c.port) != (ssize_t)sizeof c.port || !c.port)
        bench_die("a child did not start");
    close(ends[0]);
    return c;
}

static _Noreturn void serve(const bench *b, const char *name, const char *const *more, int out)
{
    const char *argv[32] = {"ramet",
                            "serve",
                            "--listen",
                            "127.0.0.1:0",
                            "--db",
                            NULL,
                            "--log-level",
                            "error",
                            "--connections",
                            "4096",
                            "--connections-per-address",
                            "4096"};
    size_t n = 12;
    argv[5] = strstr(name, "://") ? name : scratch_path(b, name);
    for (size_t i = 0; more && more[i] && n < 31; i++)
        argv[n++] = more[i];
    dup2(out, STDOUT_FILENO);
    execv(b->program, (char *const *)argv);
    _exit(127);
}

child child_serve(const bench *b, const char *name, const char *const *more)
{
    int ends[2];
    child c = {0};
    char line[256] = "";
    pid_t parent = getpid();
    if (pipe(ends) != 0 || (c.pid = fork()) < 0)
        bench_die("a child process cannot be started: %s", strerror(errno));
    if (c.pid == 0) {
        die_along(parent);
        serve(b, name, more, ends[1]);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    while (f && fgets(line, sizeof line, f) && strncmp(line, "listening on ", 13) != 0)
        ;
    const char *colon = strrchr(line, ':');
    c.port = colon ? (int)strtol(colon + 1, NULL, 10) : 0;
    if (!c.port)
        bench_die("the server did not start");
    fclose(f);
    return c;
}

const char *child_url(const child *c, const char *path)
{
    static char url[4][512];
    static unsigned turn;
    char *out = url[turn++ % 4];
    snprintf(out, sizeof url[0], "http://127.0.0.1:%d%s", c->port, path);
    return out;
}

int64_t child_resident(const child *c)
{
    char path[64], line[256];
    long long kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)c->pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = strtoll(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kib * 1024;
}
