/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes (child.h): starting one, and ending it with its helpers.
 */
#include "base/child.h"

#include "base/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KILL_MS = 1000, POLL_MS = 20 };

/* ------------------------------------------------------------------ start */

/* Marks every descriptor but the standard ones close-on-exec, whichever library opened it. */
static void descriptors_seal(void)
{
    if (close_range(3, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0)
        return;
    long max = sysconf(_SC_OPEN_MAX);
    for (int fd = 3; fd < (max > 0 ? max : 1024); fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Runs in the forked process and does not return; `report` carries errno when the start fails. */
static void child_run(const int in[2], const int out[2], int report, const child_how *how)
{
    sigset_t none;
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    if (how->merges)
        dup2(out[1], STDERR_FILENO);
    descriptors_seal();
    if (!how->folder || chdir(how->folder) == 0)
        execvpe(how->argv[0], how->argv, how->env ? how->env : environ);
    int why = errno;
    ssize_t put = write(report, &why, sizeof why);
    _exit(put > 0 ? 127 : 126);
}

static void close_both(const int ends[2])
{
    close(ends[0]);
    close(ends[1]);
}

static void close_end(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

bool child_start(child *c, char *const *argv, const char *folder)
{
    return child_start_as(c, &(child_how){.argv = argv, .folder = folder});
}

/* What the forked process reports: 0 when the program runs, else errno. */
static int start_result(int report, pid_t pid)
{
    int why = 0;
    while (pid > 0 && read(report, &why, sizeof why) < 0 && errno == EINTR)
        ;
    return why;
}

bool child_start_as(child *c, const child_how *how)
{
    int in[2], out[2], report[2];
    *c = (child)CHILD_NONE;
    if (pipe2(in, O_CLOEXEC) != 0)
        return false;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close_both(in);
        return false;
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        close_both(in);
        close_both(out);
        return false;
    }
    c->pid = fork();
    if (c->pid == 0)
        child_run(in, out, report[1], how);
    int why = c->pid < 0 ? errno : 0;
    close(in[0]);
    close(out[1]);
    close(report[1]);
    c->in = in[1];
    c->out = out[0];
    if (c->pid > 0) /* a pidfd is always close-on-exec */
        c->exit_fd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pid > 0 && c->exit_fd < 0) {
        why = errno;
        kill(c->pid, SIGKILL);
    }
    if (!why)
        why = start_result(report[0], c->pid);
    close(report[0]);
    if (!why)
        return true;
    if (c->pid > 0)
        waitpid(c->pid, NULL, 0);
    close_end(&c->in);
    close_end(&c->out);
    close_end(&c->exit_fd);
    c->pid = 0;
    c->ended = true;
    errno = why;
    return false;
}

/* ------------------------------------------------------------------ end */

bool child_over(child *c)
{
    siginfo_t how = {0};
    if (c->ended || c->pid <= 0)
        return c->ended;
    if (waitid(P_PID, (id_t)c->pid, &how, WEXITED | WNOHANG | WNOWAIT) != 0 || !how.si_pid)
        return false;
    c->status = how.si_code == CLD_EXITED
                    ? W_EXITCODE(how.si_status, 0)
                    : W_EXITCODE(0, how.si_status) | (how.si_code == CLD_DUMPED ? WCOREFLAG : 0);
    c->ended = true;
    return true;
}

/* The session of a running process; 0: there is no such process, or it waits to be reaped. */
static pid_t session_of(const char *pid)
{
    char path[64], text[512];
    int group = 0, session = 0;
    char state = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *rest = strrchr(text, ')'); /* the command name before it may contain anything */
    if (!rest || sscanf(rest + 1, " %c %*d %d %d", &state, &group, &session) != 3 || state == 'Z')
        return 0;
    return session;
}

/* Signals all processes of a child's session, whatever group they are in; signal 0 sends nothing.
 * Returns whether one besides the child itself is running. */
static bool session_signal(pid_t leader, int sig)
{
    bool others = false;
    if (sig)
        kill(-leader, sig);
    DIR *all = opendir("/proc");
    for (const struct dirent *d; all && (d = readdir(all));) {
        pid_t pid =
            d->d_name[0] >= '1' && d->d_name[0] <= '9' ? (pid_t)strtol(d->d_name, NULL, 10) : 0;
        if (!pid || pid == leader || session_of(d->d_name) != leader)
            continue;
        others = true;
        if (sig)
            kill(pid, sig);
    }
    if (all)
        closedir(all);
    return others;
}

void child_kill(const child *c)
{
    if (c->pid > 0)
        session_signal(c->pid, SIGKILL);
}

/* Waits until the child has exited and, with `all`, its session has no other process. Discards its
 * output meanwhile, so that the child does not block on it. False: not within the time. */
static bool end_wait(child *c, bool all, int ms)
{
    char waste[4096];
    int64_t until = time_mono_us() + (int64_t)ms * 1000;
    while (!child_over(c) || (all && session_signal(c->pid, 0))) {
        if (time_mono_us() >= until)
            return false;
        struct pollfd f[2] = {{.fd = c->out, .events = POLLIN},
                              {.fd = c->ended ? -1 : c->exit_fd, .events = POLLIN}};
        if (poll(f, 2, POLL_MS) > 0 && f[0].revents && read(c->out, waste, sizeof waste) <= 0)
            poll(f + 1, 1, POLL_MS);
    }
    return true;
}

void child_stop(child *c, int eof_ms, int term_ms)
{
    close_end(&c->in);
    if (c->pid > 0 && (!end_wait(c, false, eof_ms) || session_signal(c->pid, 0))) {
        session_signal(c->pid, SIGTERM);
        if (!end_wait(c, true, term_ms)) {
            session_signal(c->pid, SIGKILL);
            end_wait(c, true, KILL_MS);
        }
    }
    if (c->pid > 0)
        waitpid(c->pid, NULL, c->ended ? 0 : WNOHANG);
    close_end(&c->out);
    close_end(&c->exit_fd);
    c->pid = 0;
}
