/* SPDX-License-Identifier: Apache-2.0
 *
 * term.c: the terminal: its capabilities, the pager, progress and questions.
 */
#include "cli/term.h"

#include "base/util.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ------------------------------------------------------------------ set-up */

static int columns_of_terminal(const cli *c)
{
    const char *env = getenv("COLUMNS");
    long n = env ? strtol(env, NULL, 10) : 0;
    struct winsize size;
    if (n > 0)
        return n < 20 ? 20 : n > 1000 ? 1000 : (int)n;
    if (!c->out_tty)
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
        return size.ws_col;
    return 80;
}

void term_setup(cli *c, const char *color)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    setlocale(LC_CTYPE, "");
    c->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    c->out_tty = isatty(STDOUT_FILENO) == 1;
    c->err_tty = isatty(STDERR_FILENO) == 1;
    c->width = columns_of_terminal(c);
    if (color && strcmp(color, "auto") != 0)
        c->color = strcmp(color, "always") == 0;
    else
        c->color = c->out_tty && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

/* ------------------------------------------------------------------ pager */

static pid_t pager_pid;

/* While the pager runs, Ctrl-C belongs to it: the shell must not get the terminal back before the
 * pager has exited. Only async-signal-safe calls here. */
static void pager_interrupted(int number)
{
    close(STDOUT_FILENO);
    while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    _exit(128 + number);
}

static const char *pager_command(void)
{
    const char *names[] = {"RAMET_PAGER", "PAGER"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *v = getenv(names[i]);
        if (v)
            return strcmp(v, "cat") == 0 ? "" : v;
    }
    return "less";
}

void term_pager(cli *c)
{
    const char *command = pager_command();
    int ends[2];
    if (!c->out_tty || c->json || !*command || pipe(ends) != 0)
        return;
    pager_pid = fork();
    if (pager_pid < 0) {
        pager_pid = 0;
        close(ends[0]);
        close(ends[1]);
        return;
    }
    if (pager_pid == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LESS", "FRX", 0);
        setenv("LV", "-c", 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGINT, pager_interrupted);
    signal(SIGTERM, pager_interrupted);
}

bool term_close(void)
{
    bool ok = fflush(stdout) == 0 && !ferror(stdout);
    int why = errno;
    /* Some file systems report a lost write only at close. */
    if (close(STDOUT_FILENO) != 0 && errno != EBADF && ok) {
        ok = false;
        why = errno;
    }
    if (pager_pid > 0) {
        signal(SIGINT, SIG_IGN);
        while (waitpid(pager_pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    errno = why;
    return ok;
}

/* ------------------------------------------------------------------ looks */

const char *st(const cli *c, style s)
{
    static const char *const codes[ST_COUNT] = {
        [ST_OFF] = "\033[0m",     [ST_BOLD] = "\033[1m",         [ST_DIM] = "\033[2m",
        [ST_ID] = "\033[33m",     [ST_TAG] = "\033[35m",         [ST_HERE] = "\033[1;32m",
        [ST_USER] = "\033[1;36m", [ST_ASSISTANT] = "\033[1;34m", [ST_TOOL] = "\033[33m",
        [ST_SYSTEM] = "\033[35m", [ST_GONE] = "\033[2m",         [ST_MARK] = "\033[1;31m",
        [ST_MINUS] = "\033[31m",  [ST_PLUS] = "\033[32m",        [ST_NOTE] = "\033[33m",
        [ST_WARN] = "\033[1;31m",
    };
    return c->color ? codes[s] : "";
}

style role_style(ramet_role role)
{
    switch (role) {
    case RAMET_USER:
        return ST_USER;
    case RAMET_ASSISTANT:
        return ST_ASSISTANT;
    case RAMET_TOOL:
        return ST_TOOL;
    case RAMET_SYSTEM:
        break;
    }
    return ST_SYSTEM;
}

const char *gl(const cli *c, glyph g)
{
    static const char *const signs[G_COUNT][2] = {
        [G_LINE] = {"│", "|"},   [G_TEE] = {"├", "|"},    [G_ELBOW] = {"╰", "`"},
        [G_DASH] = {"─", "-"},   [G_CORNER] = {"╮", "."}, [G_CLOSE] = {"╯", "'"},
        [G_DOT] = {"●", "*"},    [G_RING] = {"○", "o"},   [G_HEAD] = {"◆", "H"},
        [G_MORE] = {"┊", ":"},   [G_SEP] = {"·", "-"},    [G_ELLIPSIS] = {"…", "..."},
        [G_ARROW] = {"→", "->"}, [G_TOOL] = {"⚙", "$"},   [G_REPLY] = {"↳", ">"},
        [G_CHECK] = {"✓", "+"},  [G_CROSS] = {"✗", "x"},  [G_BAR] = {"━", "="},
        [G_TRACK] = {"─", "-"},
    };
    return signs[g][c->unicode ? 0 : 1];
}

/* ------------------------------------------------------------------ progress */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL); /* a second Ctrl-C kills at once */
}

void progress_begin(progress *p, cli *c)
{
    memset(p, 0, sizeof *p);
    p->cli = c;
    p->began = time_mono_us();
    interrupted = 0;
    signal(SIGINT, note_interrupt);
}

static void draw_bar(const cli *c, int64_t done, int64_t total)
{
    enum { CELLS = 28 };
    int full = (int)(CELLS * done / total);
    fprintf(stderr, " %s", c->color ? "\033[32m" : "");
    for (int i = 0; i < CELLS; i++) {
        if (i == full && c->color)
            fputs("\033[2m", stderr);
        fputs(gl(c, i < full ? G_BAR : G_TRACK), stderr);
    }
    fprintf(stderr, "%s %3d%%", c->color ? "\033[0m" : "", (int)(100 * done / total));
}

static const char *progress_amount(const progress *p, int64_t n)
{
    return p->bytes ? bytes_text(p->cli, n) : number_text(p->cli, n);
}

bool progress_step(void *arg, const char *what, int64_t done, int64_t total)
{
    enum { QUIET_FOR = 300000, EVERY = 80000 };
    progress *p = arg;
    cli *c = p->cli;
    int64_t now = time_mono_us();
    if (interrupted)
        return false;
    if (!c->err_tty || c->quiet || now - p->began < QUIET_FOR || now - p->drawn < EVERY)
        return true;
    p->drawn = now;
    p->shown = true;
    fprintf(stderr, "\r\033[K%s", what);
    if (total > 0)
        draw_bar(c, done > total ? total : done, total);
    int64_t rate = (int64_t)((double)done * 1e6 / (double)(now - p->began));
    fprintf(stderr, "  %s", progress_amount(p, done));
    if (total > 0)
        fprintf(stderr, " of %s", progress_amount(p, total));
    fprintf(stderr, ", %s/s", progress_amount(p, rate));
    fflush(stderr);
    return true;
}

void progress_end(progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    signal(SIGINT, SIG_DFL);
}

/* ------------------------------------------------------------------ questions */

bool term_ask(cli *c, const char *question)
{
    char line[16];
    if (isatty(STDIN_FILENO) != 1 || !c->err_tty)
        return false;
    fflush(stdout);
    fprintf(stderr, "%s [y/N] ", question);
    if (!fgets(line, sizeof line, stdin))
        return false;
    return line[0] == 'y' || line[0] == 'Y';
}
