/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet-bench measures the speeds that docs/performance.md reports. This file has its options, its
 * scratch folder and its table of cases.
 *
 * A child process does the work. The parent waits and removes the scratch folder however the child
 * ended, so Ctrl-C and a crash leave nothing behind.
 */
#include "bench/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static const bench_case cases[] = {
    {"fork", "forks, rewinds, undos and switches, against a plain commit and a copy", case_fork,
     false},
    {"merge", "merges against forks", case_merge, false},
    {"bytes", "bytes that a fork adds to the file", case_bytes, false},
    {"append", "64, 8 and 1 appenders against plain SQLite", case_append, false},
    {"nested", "the last 50 entries behind 1,000 nested forks", case_nested, false},
    {"tree", "a tree of 10,000 forks listed", case_tree, false},
    {"compare", "two branches of 100,000 entries compared", case_compare, false},
    {"stream", "memory while 1,000,000 entries are streamed out", case_stream, false},
    {"export", "1,000,000 entries exported and imported", case_export, false},
    {"foreign", "a chat of another program imported with 100 copied forks", case_foreign, false},
    {"search", "search over 1,000,000 entries, and appends beside it", case_search, false},
    {"state", "session state at 100,000 entries", case_state, false},
    {"overlays", "a page of the context view with 1,000 overlays", case_overlays, false},
    {"templates", "a new chat from a template with 100,000 entries", case_templates, false},
    {"startup", "start of the program", case_startup, false},
    {"http", "the server, driven by wrk on loopback", case_http, false},
    {"footprint", "memory of the server: idle, and a minute after a burst", case_footprint, false},
    {"churn", "memory of the server during ten minutes of churn (not run by default)", case_churn,
     true},
    {"turns", "what the server adds to a model's stream", case_turns, false},
    {"postgres",
     "PostgreSQL: appends and forks against pgbench, long and deep histories, two nodes",
     case_postgres, false},
    {"sandbox", "AgentPod's list and statistics of a sandbox with 10,000 forks", case_sandbox,
     false},
    {"kagent", "forks of kagent sessions, and tasks that grow", case_kagent, false},
    {"memory", "forks and pages of memory-service conversations", case_memory, false},
    {"grpc", "memory-service by gRPC against REST", case_grpc, false},
    {"acp", "what ramet acp adds to a message", case_acp, false},
    {"bodies", "where large bodies are kept best (not run by default)", case_bodies, true},
};
#define N_CASES (sizeof cases / sizeof cases[0])

typedef struct options {
    const char *json, *only, *dir;
    bool quick, list, help;
} options;

static const char usage[] =
    "usage: ramet-bench [--quick] [--only CASE] [--json FILE] [--dir DIR] [--list]\n"
    "\n"
    "Measures this build on this machine, against plain SQLite with the same settings, and\n"
    "against pgbench on a private PostgreSQL server.\n"
    "\n"
    "  --quick      smaller sizes, under 20 seconds; too small for the bars to mean much\n"
    "  --only CASE  one case (--list names them)\n"
    "  --json FILE  the numbers as JSON\n"
    "  --dir DIR    where the scratch stores go, up to 8 GiB, removed at the end\n"
    "               (default $TMPDIR, else the current folder); a real disk, not memory\n"
    "  --list       the cases\n";

void bench_die(const char *fmt, ...)
{
    va_list ap;
    fflush(stdout);
    fputs("ramet-bench: ", stderr);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    _exit(1);
}

void bench_note(const char *fmt, ...)
{
    va_list ap;
    if (!isatty(STDERR_FILENO))
        return;
    va_start(ap, fmt);
    fputs("... ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
}

/* ------------------------------------------------------------------ machine */

static const char *disk_kind(const char *dir)
{
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{0xef53, "ext4"},      {0x58465342, "xfs"},     {0x9123683e, "btrfs"},
                 {0x01021994, "tmpfs"}, {0x794c7630, "overlay"}, {0x2fc12fc1, "zfs"},
                 {0xf2f52010, "f2fs"},  {0x6969, "nfs"},         {0x65735546, "fuse"}};
    static char other[32];
    struct statfs st;
    if (statfs(dir, &st) != 0)
        return "unknown";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if ((unsigned long)st.f_type == known[i].magic)
            return known[i].name;
    snprintf(other, sizeof other, "0x%lx", (unsigned long)st.f_type);
    return other;
}

static void cpu_name(char *out, size_t n)
{
    char line[256];
    snprintf(out, n, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(out, n, "%s", colon + 2);
        break;
    }
    if (f)
        fclose(f);
}

static void facts_add(bench *b, const options *o)
{
    char cpu[160];
    struct utsname u = {0};
    const char *disk = disk_kind(b->dir);
    uname(&u);
    cpu_name(cpu, sizeof cpu);
    report_fact(b->report, "ramet", "%s", RAMET_VERSION);
    report_fact(b->report, "processor", "%s, %ld cores", cpu, sysconf(_SC_NPROCESSORS_ONLN));
    report_fact(b->report, "memory", "%.1f GiB",
                (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 1073741824);
    report_fact(b->report, "kernel", "%s %s", u.sysname, u.release);
    report_fact(b->report, "filesystem", "%s%s", disk,
                strcmp(disk, "tmpfs") == 0 ? " (memory: durable commits cost nothing here)" : "");
    report_fact(b->report, "sqlite", "%s, WAL, synchronous=FULL, 4 KiB pages",
                sqlite3_libversion());
    report_fact(b->report, "entries", "%d bytes of text", ENTRY_BYTES);
    report_fact(b->report, "sizes", "%s", o->quick ? "quick" : "full");
}

/* -------------------------------------------------------------------- child */

/* The server and command-line tool to measure: `ramet` in the folder of this program. */
static void program_find(char *out, size_t size)
{
    static const char name[] = "/ramet";
    ssize_t n = readlink("/proc/self/exe", out, size - sizeof name);
    if (n <= 0)
        bench_die("the path of this program is not known: %s", strerror(errno));
    out[n] = 0;
    char *slash = strrchr(out, '/');
    memcpy(slash, name, sizeof name);
    if (access(out, X_OK) != 0)
        bench_die("%s cannot be run: %s; build it first (make)", out, strerror(errno));
}

static int cases_run(const options *o, const char *dir)
{
    static char program[4096];
    program_find(program, sizeof program);
    bench b = {.quick = o->quick, .dir = dir, .program = program, .report = report_new()};
    facts_add(&b, o);
    report_begin(b.report);
    double start = now_us();
    for (size_t i = 0; i < N_CASES; i++)
        if (o->only ? strcmp(o->only, cases[i].name) == 0 : !cases[i].extra)
            cases[i].run(&b);
    report_end(b.report);
    printf("%.0f seconds\n", (now_us() - start) / 1e6);
    if (o->json)
        report_json(b.report, o->json);
    report_free(b.report);
    if (b.big) {
        free((char *)b.big->session);
        free(b.big);
    }
    return 0;
}

/* ------------------------------------------------------------------- parent */

static volatile pid_t worker;

static void pass_on(int signal_no)
{
    if (worker > 0)
        kill(worker, signal_no);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int child_wait(const char *dir)
{
    int status = 0;
    while (waitpid(worker, &status, 0) < 0 && errno == EINTR)
        ;
    /* A server that has lost its benchmark may need a moment to exit. */
    for (int i = 0; i < 50 && access(dir, F_OK) == 0; i++) {
        if (i)
            usleep(100000);
        nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int bench_run(const options *o)
{
    const char *where = o->dir ? o->dir : getenv("TMPDIR");
    static char dir[4096];
    snprintf(dir, sizeof dir, "%s/ramet-bench-XXXXXX", where && *where ? where : ".");
    if (!mkdtemp(dir)) {
        fprintf(stderr, "ramet-bench: no scratch folder in %s: %s\n", where ? where : ".",
                strerror(errno));
        return 1;
    }
    fflush(stdout);
    struct sigaction act = {.sa_handler = pass_on}, was[3];
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++)
        sigaction(signals[i], &act, &was[i]);
    worker = fork();
    if (worker == 0) {
        for (int i = 0; i < 3; i++)
            sigaction(signals[i], &was[i], NULL);
        int code = cases_run(o, dir);
        fflush(stdout);
        _exit(code);
    }
    return worker < 0 ? 1 : child_wait(dir);
}

/* ------------------------------------------------------------------ options */

static bool value_of(int argc, char **argv, int *i, const char *name, const char **out)
{
    size_t n = strlen(name);
    if (strncmp(argv[*i], name, n) != 0)
        return false;
    if (argv[*i][n] == '=') {
        *out = argv[*i] + n + 1;
        return true;
    }
    if (argv[*i][n] || *i + 1 >= argc)
        return false;
    *out = argv[++*i];
    return true;
}

static bool options_read(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            o->quick = true;
        else if (strcmp(argv[i], "--list") == 0)
            o->list = true;
        else if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            o->help = true;
        else if (!value_of(argc, argv, &i, "--json", &o->json) &&
                 !value_of(argc, argv, &i, "--only", &o->only) &&
                 !value_of(argc, argv, &i, "--dir", &o->dir)) {
            fprintf(stderr,
                    "ramet-bench: unknown or incomplete argument %s; see ramet-bench --help\n",
                    argv[i]);
            return false;
        }
    }
    bool known = !o->only;
    for (size_t i = 0; i < N_CASES; i++)
        known = known || strcmp(o->only, cases[i].name) == 0;
    if (!known)
        fprintf(stderr, "ramet-bench: there is no case %s; see ramet-bench --list\n", o->only);
    return known;
}

int main(int argc, char **argv)
{
    options o = {0};
    if (!options_read(argc, argv, &o))
        return 2;
    if (o.help)
        fputs(usage, stdout);
    for (size_t i = 0; o.list && i < N_CASES; i++)
        printf("%-10s %s\n", cases[i].name, cases[i].about);
    return o.help || o.list ? 0 : bench_run(&o);
}
