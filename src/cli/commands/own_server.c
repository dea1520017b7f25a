/* SPDX-License-Identifier: Apache-2.0
 *
 * own_server.c: starts a server for the duration of a command: only servers run turns.
 */
#include "cli/commands/own_server.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child;

/* Does not return. It exits with its parent, however that ends. */
static void child_run(int out, const char *db, const char *config)
{
    const char *argv[12];
    int n = 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(out, STDOUT_FILENO);
    argv[n++] = "ramet";
    argv[n++] = "serve";
    argv[n++] = "--listen";
    argv[n++] = "127.0.0.1:0";
    argv[n++] = "--log-level";
    argv[n++] = "error";
    if (db) {
        argv[n++] = "--db";
        argv[n++] = db;
    }
    if (config) {
        argv[n++] = "--config";
        argv[n++] = config;
    }
    argv[n] = NULL;
    unsetenv("RAMET_SERVER");
    /* The start-up message is for users who start a server themselves. */
    if (!freopen("/dev/null", "w", stderr))
        _exit(127);
    setpgid(0, 0); /* Ctrl-C is for the chat */
    execv("/proc/self/exe", (char *const *)argv);
    _exit(127);
}

bool attend_start(const char *db, const char *config, char url[ATTEND_URL])
{
    int ends[2];
    char line[256] = "";
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    child = fork();
    if (child == 0)
        child_run(ends[1], db, config);
    close(ends[1]);
    FILE *f = child > 0 ? fdopen(ends[0], "r") : NULL;
    while (f && fgets(line, sizeof line, f) && strncmp(line, "listening on ", 13) != 0)
        ;
    if (f)
        fclose(f);
    line[strcspn(line, "\n")] = 0;
    snprintf(url, ATTEND_URL, "%s", strncmp(line, "listening on ", 13) == 0 ? line + 13 : "");
    if (!*url)
        attend_end();
    return *url != 0;
}

void attend_end(void)
{
    if (child <= 0)
        return;
    kill(child, SIGTERM);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    child = 0;
}
