/* SPDX-License-Identifier: Apache-2.0
 *
 * help.c: see help.h. A test helper that cannot do its own work (no memory, no scratch
 * file) aborts: the runner counts that as a failure.
 */
#include "help.h"

#include "../lib/scratch_db.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

options opt;

static void die(const char *what, const char *which)
{
    fprintf(stderr, "fault: cannot %s %s: %s\n", what, which, strerror(errno));
    abort();
}

/* ---- TAP */

static int tap_n, tap_failed;

static bool tap_line(bool ok, const char *suffix, const char *fmt, va_list ap)
{
    printf("%s %d - ", ok ? "ok" : "not ok", ++tap_n);
    vprintf(fmt, ap);
    printf("%s\n", suffix);
    fflush(stdout);
    tap_failed += !ok;
    return ok;
}

bool tap(bool ok, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tap_line(ok, "", fmt, ap);
    va_end(ap);
    return ok;
}

void tap_skip(const char *why, const char *fmt, ...)
{
    va_list ap;
    char suffix[256];
    snprintf(suffix, sizeof suffix, " # SKIP %s", why);
    va_start(ap, fmt);
    tap_line(true, suffix, fmt, ap);
    va_end(ap);
}

void tap_note(const char *fmt, ...)
{
    va_list ap;
    printf("# ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    fflush(stdout);
}

int tap_finish(void)
{
    printf("1..%d\n", tap_n);
    fflush(stdout);
    return tap_failed > 0;
}

enum { WRONG_SHOWN = 12 };
static pthread_mutex_t wrong_lock = PTHREAD_MUTEX_INITIALIZER;
static int wrongs;
static char wrong_text[WRONG_SHOWN][1024];

void wrong(const char *fmt, ...)
{
    va_list ap;
    pthread_mutex_lock(&wrong_lock);
    if (wrongs < WRONG_SHOWN) {
        va_start(ap, fmt);
        vsnprintf(wrong_text[wrongs], sizeof wrong_text[0], fmt, ap);
        va_end(ap);
    }
    wrongs++;
    pthread_mutex_unlock(&wrong_lock);
}

int wrong_count(void)
{
    pthread_mutex_lock(&wrong_lock);
    int n = wrongs;
    pthread_mutex_unlock(&wrong_lock);
    return n;
}

bool tap_verdict(const char *fmt, ...)
{
    va_list ap;
    int n = wrong_count();
    va_start(ap, fmt);
    tap_line(n == 0, "", fmt, ap);
    va_end(ap);
    for (int i = 0; i < n && i < WRONG_SHOWN; i++)
        tap_note("  %s", wrong_text[i]);
    if (n > WRONG_SHOWN)
        tap_note("  and %d more", n - WRONG_SHOWN);
    wrongs = 0;
    return n == 0;
}

/* ---- chance */

uint64_t rng_next(rng *r)
{
    uint64_t z = (r->s += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int rng_below(rng *r, int n)
{
    return (int)(rng_next(r) % (uint64_t)n);
}

uint64_t mix(uint64_t a, uint64_t b)
{
    rng r = {a * 0x9e3779b97f4a7c15u ^ b};
    return rng_next(&r);
}

uint64_t bytes_hash(const void *p, size_t n)
{
    const uint8_t *s = p;
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ s[i]) * 0x100000001b3u;
    return h;
}

/* ---- time */

int64_t mono_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void sleep_us(int64_t us)
{
    struct timespec t = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&t, &t) && errno == EINTR)
        ;
}

/* ---- memory */

void *must(void *p)
{
    if (!p)
        die("get", "memory");
    return p;
}

void *mem_new(size_t n)
{
    return must(calloc(1, n ? n : 1));
}

void *mem_grow(void *p, size_t n)
{
    return must(realloc(p, n ? n : 1));
}

char *text_new(const char *fmt, ...)
{
    va_list ap;
    char *s;
    va_start(ap, fmt);
    if (vasprintf(&s, fmt, ap) < 0)
        s = NULL;
    va_end(ap);
    return must(s);
}

/* ---- files */

char *tmp_new(const char *name)
{
    char *dir = text_new("%s/ramet-%s.XXXXXX", opt.base, name);
    if (!mkdtemp(dir))
        die("make", dir);
    return dir;
}

static void dir_remove(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        char *path = text_new("%s/%s", dir, e->d_name);
        struct stat st;
        if (!lstat(path, &st) && S_ISDIR(st.st_mode))
            dir_remove(path);
        else
            unlink(path);
        free(path);
    }
    closedir(d);
    rmdir(dir);
}

void tmp_remove(char *dir)
{
    dir_remove(dir);
    free(dir);
}

bytes image_read(const char *path)
{
    bytes b = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (!f)
        return b;
    size_t cap = 1 << 16;
    b.p = mem_new(cap);
    for (size_t got; (got = fread(b.p + b.n, 1, cap - b.n, f)) > 0;) {
        b.n += got;
        if (b.n == cap)
            b.p = mem_grow(b.p, cap *= 2);
    }
    fclose(f);
    return b;
}

void image_write(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    if (!f || (n && fwrite(p, 1, n, f) != n) || fclose(f))
        die("write", path);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

void dir_copy(const char *from, const char *to)
{
    DIR *d = opendir(from);
    if (!d)
        die("open", from);
    mkdir(to, 0755);
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (e->d_name[0] == '.' || (n > 4 && !strcmp(e->d_name + n - 4, "-shm")))
            continue;
        char *a = text_new("%s/%s", from, e->d_name), *b = text_new("%s/%s", to, e->d_name);
        struct stat st;
        if (stat(a, &st) == 0 && S_ISDIR(st.st_mode)) {
            dir_copy(a, b);
        } else {
            bytes f = image_read(a);
            if (f.p)
                image_write(b, f.p, f.n);
            free(f.p);
        }
        free(a);
        free(b);
    }
    closedir(d);
}

/* ---- children */

/* Reads until the other end is closed or the time is up; false when it is up. */
static bool pipe_drain(int fd, int64_t until, char **said)
{
    size_t n = 0, cap = 4096;
    char *s = mem_new(cap);
    bool in_time = true;
    for (;;) {
        int64_t left = until - mono_us();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0 || poll(&p, 1, (int)(left / 1000) + 1) == 0) {
            in_time = false;
            break;
        }
        ssize_t got = read(fd, s + n, cap - n - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
        if (n + 1 >= cap)
            s = mem_grow(s, cap *= 2);
    }
    s[n] = 0;
    *said = s;
    return in_time;
}

child_end child_run(int (*fn)(void *arg, FILE *say), void *arg, int seconds)
{
    int fds[2];
    child_end end = {0};
    if (pipe(fds))
        die("make", "a pipe");
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        die("start", "a child");
    if (pid == 0) {
        close(fds[0]);
        FILE *say = must(fdopen(fds[1], "w"));
        int code = fn(arg, say);
        fclose(say);
        _exit(code);
    }
    close(fds[1]);
    end.late = !pipe_drain(fds[0], mono_us() + (int64_t)seconds * 1000000, &end.said);
    if (end.late)
        kill(pid, SIGKILL);
    close(fds[0]);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    end.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return end;
}

/* ---- the library */

ramet *open_store(const char *path, const ramet_options *o)
{
    ramet *r;
    ramet_error err;
    ramet_status s = ramet_open(path, o, &r, &err);
    if (s) {
        fprintf(stderr, "fault: cannot open %s: %s (%s)\n", path, ramet_status_code(s),
                err.message);
        abort();
    }
    return r;
}

void place_new(place *p, const char *name)
{
    *p = (place){0};
    if (scratch_db_on()) {
        snprintf(p->schema, sizeof p->schema, "fault_%s_%ld", name, (long)getpid());
        scratch_db_make(p->schema, p->url, sizeof p->url);
        return;
    }
    p->dir = tmp_new(name);
    snprintf(p->url, sizeof p->url, "%s/s.db", p->dir);
}

void place_remove(place *p)
{
    if (p->dir)
        tmp_remove(p->dir);
    else
        scratch_db_drop(p->schema);
}

void check_store(ramet *r, const char *when)
{
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    ramet_fsck_out out;
    ramet_status s = ramet_fsck(c, NULL, NULL, &out);
    if (s)
        wrong("%s: fsck failed: %s (%s)", when, ramet_status_code(s), ramet_call_error(c)->message);
    else if (out.n_all)
        wrong("%s: fsck found %lld faults, the first: %s", when, (long long)out.n_all,
              out.n ? out.faults[0].what : "?");
    ramet_call_free(c);
}

char *text_of(const char *id)
{
    static const char *const words[] = {"river", "stone", "leaf",  "root", "shoot", "seed", "bark",
                                        "moss",  "fern",  "thorn", "bud",  "petal", "sap",  "twig"};
    rng r = {bytes_hash(id, strlen(id))};
    int kind = rng_below(&r, 100);
    /* Mostly short; some spill over a page, a few are long enough to be packed. */
    int n = kind < 85 ? 3 + rng_below(&r, 20) : kind < 98 ? 100 + rng_below(&r, 400) : 2500;
    char *s = NULL;
    size_t size = 0;
    FILE *f = must(open_memstream(&s, &size));
    fprintf(f, "%s:", id);
    for (int i = 0; i < n; i++)
        fprintf(f, " %s%u", words[rng_below(&r, 14)], (unsigned)rng_below(&r, 1000));
    fclose(f);
    return s;
}
