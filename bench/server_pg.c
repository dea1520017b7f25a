/* SPDX-License-Identifier: Apache-2.0
 *
 * A private PostgreSQL server for benchmarks (server_pg.h).
 */
#include "bench/server_pg.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOCKET_MAX 90 /* bytes of the folder's name: a socket path may have 107 */

/* Finds the newest version that Debian has installed. */
static void bin_find(char *out, size_t size)
{
    glob_t found;
    long newest = -1;
    if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *path = found.gl_pathv[i];
            long version = strtol(path + strlen("/usr/lib/postgresql/"), NULL, 10);
            if (version <= newest)
                continue;
            newest = version;
            snprintf(out, size, "%.*s", (int)(strrchr(path, '/') - path), path);
        }
    globfree(&found);
    if (newest < 0)
        bench_die("there is no PostgreSQL server; tools/setup bench installs it");
}

/* PostgreSQL refuses to run as root. */
static const struct passwd *server_user(void)
{
    if (geteuid() != 0)
        return NULL;
    const struct passwd *who = getpwnam("postgres");
    return who ? who : getpwnam("nobody");
}

/* Starts a program of the server with arguments up to a NULL; its output goes to the log. */
static pid_t program_start(const server_pg *s, const char *const *argv)
{
    char path[512], log[1100];
    const struct passwd *who = server_user();
    pid_t parent = getpid();
    snprintf(path, sizeof path, "%s/%s", s->bin, argv[0]);
    snprintf(log, sizeof log, "%s/log", s->dir);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0 || chdir("/") != 0)
        _exit(126);
    /* Ctrl-C must reach the benchmark only, which then stops the server. */
    setpgid(0, 0);
    if (who && (setgroups(0, NULL) != 0 || setgid(who->pw_gid) != 0 || setuid(who->pw_uid) != 0))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (getppid() == parent)
        execv(path, (char *const *)argv);
    _exit(127);
}

/* Prints the log before the process ends: the folder with the log is removed with the benchmark. */
static _Noreturn void log_die(const server_pg *s, const char *what)
{
    char path[1100], line[512];
    snprintf(path, sizeof path, "%s/log", s->dir);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        fputs(line, stderr);
    bench_die("%s", what);
}

static void program_run(const server_pg *s, const char *const *argv)
{
    int status = -1;
    pid_t pid = program_start(s, argv);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0)
        log_die(s, "no folder for a PostgreSQL server could be made");
}

static void folder_make(const bench *b, server_pg *s)
{
    char sub[1040], *full = realpath(b->dir, NULL);
    const struct passwd *who = server_user();
    if (!full)
        bench_die("there is no folder %s", b->dir);
    if (strlen(full) > SOCKET_MAX)
        bench_die("the name of %s is too long for a socket; give a --dir with a shorter one", full);
    snprintf(s->dir, sizeof s->dir, "%s/pg", full);
    snprintf(sub, sizeof sub, "%s/s", s->dir);
    if ((who && chmod(full, 0711) != 0) || mkdir(s->dir, 0755) != 0 || mkdir(sub, 0755) != 0 ||
        (who && (chown(s->dir, who->pw_uid, who->pw_gid) != 0 ||
                 chown(sub, who->pw_uid, who->pw_gid) != 0)))
        bench_die("%s cannot be created: %s", s->dir, strerror(errno));
    free(full);
}

static void ready_wait(const server_pg *s)
{
    for (int i = 0; i < 600; i++) {
        if (PQping(server_pg_url(s, "postgres")) == PQPING_OK)
            return;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
            break;
        usleep(100000);
    }
    log_die(s, "the PostgreSQL server did not start");
}

void server_pg_start(const bench *b, server_pg *s)
{
    char data[1100], sockets[1100];
    bin_find(s->bin, sizeof s->bin);
    folder_make(b, s);
    snprintf(data, sizeof data, "%s/data", s->dir);
    snprintf(sockets, sizeof sockets, "unix_socket_directories=%s/s", s->dir);
    bench_note("starting a private PostgreSQL server");
    const char *init[] = {
        "initdb", "-D", data, "-U", "ramet", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", NULL};
    const char *serve[] = {"postgres", "-D", data, "-c", sockets, "-c", "listen_addresses=",
                           /* Acknowledged commits are on disk. */
                           "-c", "fsync=on", "-c", "synchronous_commit=on", "-c",
                           "full_page_writes=on", "-c", "max_connections=200", "-c",
                           "shared_buffers=512MB", "-c", "max_wal_size=4GB", "-c",
                           "checkpoint_timeout=30min", NULL};
    program_run(s, init);
    s->pid = program_start(s, serve);
    ready_wait(s);
}

void server_pg_stop(server_pg *s)
{
    kill(s->pid, SIGINT);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

const char *server_pg_url(const server_pg *s, const char *database)
{
    static char url[4][1200];
    static unsigned turn;
    char *out = url[turn++ % 4];
    snprintf(out, sizeof url[0], "postgres://ramet@/%s?host=%s/s", database, s->dir);
    return out;
}

double server_pg_run(const server_pg *s, const char *database, const char *sql)
{
    PGconn *c = PQconnectdb(server_pg_url(s, database));
    PGresult *r = PQexec(c, sql);
    ExecStatusType st = PQresultStatus(r);
    if (st != PGRES_TUPLES_OK && st != PGRES_COMMAND_OK)
        bench_die("%s: %s", sql, PQerrorMessage(c));
    double v = st == PGRES_TUPLES_OK && PQntuples(r) ? strtod(PQgetvalue(r, 0, 0), NULL) : 0;
    PQclear(r);
    PQfinish(c);
    return v;
}

void server_pg_database(const server_pg *s, const char *name)
{
    char sql[128];
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", name);
    server_pg_run(s, "postgres", sql);
}
