/* SPDX-License-Identifier: Apache-2.0
 *
 * child.c: a program that is spoken to through its standard input and output.
 */
#include "base/child.h"

#include "base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Never comes back; why it could not be started goes into `told`. */
static void child_run(const int in[2], const int out[2], int told, const child_how *how)
{
    sigset_t none;
    setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    if (how->merges)
        dup2(out[1], STDERR_FILENO);
    if (!how->folder || chdir(how->folder) == 0)
        execvpe(how->argv[0], how->argv, how->env ? how->env : environ);
    int why = errno;
    ssize_t put = write(told, &why, sizeof why);
    _exit(put > 0 ? 127 : 126);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

bool child_start(child *c, char *const *argv, const char *folder)
{
    return child_start_as(c, &(child_how){.argv = argv, .folder = folder});
}

bool child_start_as(child *c, const child_how *how)
{
    int in[2], out[2], told[2], why = 0;
    *c = (child){.in = -1, .out = -1};
    if (pipe2(in, O_CLOEXEC) != 0)
        return false;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close_both(in);
        return false;
    }
    if (pipe2(told, O_CLOEXEC) != 0) {
        close_both(in);
        close_both(out);
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0)
        child_run(in, out, told[1], how);
    why = c->pid < 0 ? errno : 0;
    close(in[0]);
    close(out[1]);
    close(told[1]);
    c->in = in[1];
    c->out = out[0];
    while (c->pid > 0 && read(told[0], &why, sizeof why) < 0 && errno == EINTR)
        ;
    close(told[0]);
    if (why) {
        if (c->pid > 0)
            waitpid(c->pid, NULL, 0);
        close(c->in);
        close(c->out);
        *c = (child){.in = -1, .out = -1, .ended = true};
        errno = why;
        return false;
    }
    setpgid(c->pid, c->pid); /* whoever comes first */
    return true;
}

bool child_over(child *c)
{
    if (!c->ended && c->pid > 0 && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
        c->ended = true;
    return c->ended;
}

/* Whether anybody of the group is left; the leader's own end is taken note of. */
static bool group_over(child *c)
{
    return child_over(c) && kill(-c->pid, 0) != 0;
}

/* Waits until the group has ended; its output is emptied so that it does not wait for us. */
static bool group_wait(child *c, int ms)
{
    char waste[4096];
    int64_t until = time_mono_us() + (int64_t)ms * 1000;
    while (!group_over(c)) {
        if (time_mono_us() >= until)
            return false;
        struct pollfd f = {.fd = c->out, .events = POLLIN};
        if (poll(&f, 1, 10) > 0 && read(c->out, waste, sizeof waste) <= 0)
            poll(NULL, 0, 10);
    }
    return true;
}

void child_stop(child *c, int eof_ms, int term_ms)
{
    if (c->in >= 0)
        close(c->in);
    c->in = -1;
    if (c->pid > 0 && !group_wait(c, eof_ms)) {
        kill(-c->pid, SIGTERM);
        if (!group_wait(c, term_ms)) {
            kill(-c->pid, SIGKILL);
            group_wait(c, 1000);
        }
    }
    if (c->out >= 0)
        close(c->out);
    c->out = -1;
    c->pid = 0;
}
