/* SPDX-License-Identifier: Apache-2.0
 *
 * base_child.c: programs that are spoken to, and their end.
 */
#include "base/child.h"
#include "base/lines.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* All that it says until it closes. */
static const char *hear(const child *c)
{
    static char text[4096];
    size_t n = 0;
    for (ssize_t got; (got = read(c->out, text + n, sizeof text - 1 - n)) > 0;)
        n += (size_t)got;
    text[n] = 0;
    return text;
}

static void shell(const char *script, const char *argv[4])
{
    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = script;
    argv[3] = NULL;
}

static bool start(child *c, const char *const *argv, const char *folder)
{
    return child_start(c, (char *const *)argv, folder);
}

Test(base_child, it_is_heard_in_its_folder_and_ends_at_the_end_of_its_input)
{
    child c;
    const char *argv[4];
    shell("pwd; cat; exit 7", argv);
    cr_assert(start(&c, argv, "/usr"));
    cr_assert_eq(getpgid(c.pid), c.pid, "it leads a group");
    cr_assert_not(child_over(&c));
    cr_assert_eq(write(c.in, "hello\n", 6), 6);
    close(c.in);
    c.in = -1;
    cr_assert_str_eq(hear(&c), "/usr\nhello\n");
    child_stop(&c, 5000, 1);
    cr_assert(c.ended);
    cr_assert_eq(WEXITSTATUS(c.status), 7);
    cr_assert_eq(c.out, -1);
}

Test(base_child, its_environment_and_its_standard_error)
{
    child c;
    const char *argv[4], *env[] = {"PATH=/usr/bin:/bin", "WORD=yes", NULL};
    shell("echo $WORD-$HOME; echo wrong >&2", argv);
    cr_assert(child_start_as(
        &c, &(child_how){.argv = (char *const *)argv, .env = (char *const *)env, .merges = true}));
    cr_assert_str_eq(hear(&c), "yes-\nwrong\n");
    child_stop(&c, 5000, 1);
}

/* Whether a process of a group runs; one that waits to be reaped by its new parent does not. */
static bool group_runs(pid_t group)
{
    char path[300], state = 0;
    bool found = false;
    DIR *all = opendir("/proc");
    for (struct dirent *d; !found && (d = readdir(all));) {
        int pgrp = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", d->d_name);
        FILE *f = d->d_name[0] >= '0' && d->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (f && fscanf(f, "%*d (%*[^)]) %c %*d %d", &state, &pgrp) == 2)
            found = pgrp == group && state != 'Z';
        if (f)
            fclose(f);
    }
    closedir(all);
    return found;
}

Test(base_child, it_inherits_no_descriptor_but_the_standard_ones)
{
    child c;
    const char *argv[4];
    int low = open("/dev/zero", O_RDONLY), high = fcntl(low, F_DUPFD, 500);
    cr_assert(low > 2 && high >= 500);
    shell("ls -l /proc/$$/fd | cat", argv);
    cr_assert(start(&c, argv, NULL));
    const char *text = hear(&c);
    cr_assert_not_null(strstr(text, "0 -> "), "%s", text);
    cr_assert_null(strstr(text, "/dev/zero"), "%s", text);
    child_stop(&c, 5000, 1);
}

/* A helper in a session of its own cannot be ended, and holds the output open. */
Test(base_child, its_exit_is_seen_while_a_helper_holds_its_output)
{
    child c;
    const char *argv[4];
    int helper = 0;
    char text[64] = "", *line;
    size_t n;
    lines_in in;
    shell("setsid sleep 100 2>/dev/null & echo $!; exit 4", argv);
    cr_assert(start(&c, argv, NULL));
    lines_in_init(&in, c.out, 64);
    cr_assert_eq(poll(&(struct pollfd){.fd = c.exit_fd, .events = POLLIN}, 1, 60000), 1);
    cr_assert_not(in.ended);
    lines_read_rest(&in);
    cr_assert(in.ended);
    cr_assert_eq(lines_next(&in, &line, &n), LINE_WHOLE);
    snprintf(text, sizeof text, "%s", line);
    cr_assert_eq(sscanf(text, "%d", &helper), 1);
    cr_assert(child_over(&c));
    cr_assert_eq(WEXITSTATUS(c.status), 4);
    cr_assert_eq(kill(c.pid, 0), 0, "its id is kept until it is stopped");
    child_stop(&c, 60000, 1);
    cr_assert_eq(kill(helper, SIGKILL), 0);
    lines_in_release(&in);
}

/* A shell with job control puts each job into a group of its own. */
Test(base_child, helpers_in_other_groups_of_its_session_end_with_it)
{
    child c;
    const char *argv[] = {"bash", "-c", "set -m; sleep 100 >/dev/null 2>&1 & echo $!", NULL};
    int helper = 0;
    cr_assert(start(&c, argv, NULL));
    cr_assert_eq(sscanf(hear(&c), "%d", &helper), 1);
    cr_assert(getpgid(helper) != c.pid);
    child_stop(&c, 60000, 60000);
    cr_assert_not(group_runs(helper));
}

Test(base_child, what_cannot_be_started_says_why)
{
    child c;
    const char *none[] = {"/no/such/program", NULL}, *argv[4];
    cr_assert_not(start(&c, none, NULL));
    cr_assert_eq(errno, ENOENT);
    cr_assert(c.ended);
    shell("true", argv);
    cr_assert_not(start(&c, argv, "/no/such/folder"));
    cr_assert_eq(errno, ENOENT);
    child_stop(&c, 1, 1); /* nothing to stop */
}

/* One that ends at EOF, one that needs SIGTERM, one that needs SIGKILL. */
Test(base_child, the_end_comes_in_three_steps_and_takes_the_group)
{
    static const struct {
        const char *script;
        int signal, least_ms, most_ms;
    } all[] = {
        {"cat >/dev/null", 0, 0, 250},
        {"sleep 1000", SIGTERM, 300, 550},
        {"trap '' TERM; sleep 1000 & while :; do sleep 1000; done", SIGKILL, 600, 2000},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        child c;
        const char *argv[4];
        shell(all[i].script, argv);
        cr_assert(start(&c, argv, NULL));
        pid_t group = c.pid;
        usleep(100000); /* its trap is set */
        int64_t begun = time_mono_us();
        child_stop(&c, 300, 300);
        int64_t ms = (time_mono_us() - begun) / 1000;
        cr_assert(c.ended);
        cr_assert_geq(ms, all[i].least_ms, "%s: %d ms", all[i].script, (int)ms);
        cr_assert_leq(ms, all[i].most_ms * 10, "%s: %d ms", all[i].script, (int)ms);
        cr_assert_eq(all[i].signal ? WTERMSIG(c.status) : WEXITSTATUS(c.status), all[i].signal);
        cr_assert_not(group_runs(group), "nobody of the group is left");
    }
}

Test(base_child, one_that_talks_on_does_not_keep_us)
{
    child c;
    const char *argv[] = {"yes", NULL};
    cr_assert(start(&c, argv, NULL));
    child_stop(&c, 100, 1000);
    cr_assert(c.ended);
}
