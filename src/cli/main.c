/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: the command-line tool: runs one command, from its words to its exit code.
 */
#include "cli/commands/own_server.h"
#include "cli/cli.h"
#include "cli/term.h"

#include "base/util.h"
#include "form/native.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const ramet_calls *lib = &client_local;

/* ------------------------------------------------------------------ errors */

int cli_report(cli *c, const ramet_error *e)
{
    fflush(stdout);
    if (c->json) {
        buf line;
        json_writer w;
        buf_init(&line, 4096);
        jw_init(&w, &line, 0);
        native_error(&w, e);
        fprintf(stderr, "%s\n", line.data);
        buf_release(&line);
    } else {
        char *safe = text_safe(c->mem, e->message, false);
        bool red = c->color && c->err_tty;
        fprintf(stderr, "%sramet:%s %s\n", red ? "\033[1;31m" : "", red ? "\033[0m" : "", safe);
    }
    return ramet_status_exit(e->status);
}

int cli_fail(cli *c)
{
    return cli_report(c, lib->ramet_call_error(c->call));
}

int cli_error(cli *c, ramet_status s, const char *field, const char *fmt, ...)
{
    ramet_error e = {.status = s};
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e.message, sizeof e.message, fmt, ap);
    va_end(ap);
    snprintf(e.field, sizeof e.field, "%s", field);
    return cli_report(c, &e);
}

void cli_note(cli *c, const char *fmt, ...)
{
    va_list ap;
    if (c->quiet)
        return;
    fflush(stdout);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* ------------------------------------------------------------------ JSON out */

enum { JSON_FLUSH = 1 << 16, JSON_LIMIT = 1 << 30 };

json_writer *json_begin(cli *c)
{
    buf_clear(&c->json_buf);
    jw_init(&c->jw, &c->json_buf, c->out_tty ? 2 : 0);
    return &c->jw;
}

void json_flush(cli *c)
{
    if (c->json_buf.n < JSON_FLUSH)
        return;
    fwrite(c->json_buf.data, 1, c->json_buf.n, stdout);
    buf_clear(&c->json_buf);
}

int json_end(cli *c)
{
    if (c->json_buf.over)
        return cli_error(c, RAMET_NO_MEMORY, "", "the answer is over 1 GiB; ask for fewer entries");
    buf_putc(&c->json_buf, '\n');
    fwrite(c->json_buf.data, 1, c->json_buf.n, stdout);
    buf_clear(&c->json_buf);
    return 0;
}

void json_list_begin(cli *c, const char *noun)
{
    json_writer *w = json_begin(c);
    jw_object(w);
    jw_key(w, noun);
    jw_array(w);
}

int json_list_end(cli *c)
{
    jw_end_array(&c->jw);
    jw_end_object(&c->jw);
    return json_end(c);
}

int answer_revoked(cli *c, const char *done, const char *id)
{
    if (c->json) {
        json_writer *w = json_begin(c);
        jw_object(w);
        jw_kstr(w, "id", id);
        jw_kbool(w, "revoked", true);
        jw_end_object(w);
        return json_end(c);
    }
    if (!c->quiet)
        printf("%s %s\n", done, short_id(c, id));
    return 0;
}

/* ------------------------------------------------------------------ running */

static const char *option_or_env(const cli *c, const char *option, const char *env)
{
    const char *v = opt_text(c, option);
    if (!v)
        v = getenv(env);
    return v && *v ? v : NULL;
}

static int calls_open(cli *c, const char *user)
{
    c->user = user;
    c->call = lib->ramet_call_new(c->store, user, "ramet-cli");
    c->walk = lib->ramet_call_new(c->store, user, "ramet-cli");
    return -1;
}

/* Only commands that maintain the whole store have this option. */
static const char *folder_given(const cli *c)
{
    for (const option_def *o = c->cmd->options; o && o->name; o++)
        if (strcmp(o->name, "attachments") == 0)
            return opt_text(c, o->name);
    return NULL;
}

/* There --user names the owner of the token, or the user to erase. */
static bool names_user(const cli *c)
{
    return strcmp(c->cmd->name, "token") == 0 || strcmp(c->cmd->name, "erase") == 0;
}

static int server_open(cli *c, const char *url)
{
    ramet_error error;
    const char *user = option_or_env(c, "user", "RAMET_USER");
    if (names_user(c))
        user = getenv("RAMET_USER");
    if (strcmp(c->cmd->name, "gc") == 0 && opt_text(c, "grace"))
        return cli_error(c, RAMET_INVALID, "grace", "the grace time is the server's own setting");
    if (folder_given(c))
        return cli_error(c, RAMET_INVALID, "attachments", "the folder is the server's own setting");
    if (c->cmd->flags & CMD_FILE)
        return cli_error(c, RAMET_INVALID, "server", "'ramet %s' works on a store's file alone",
                         c->cmd->name);
    if (client_open(url, option_or_env(c, "token", "RAMET_TOKEN"), &c->store, &error) != RAMET_OK)
        return cli_report(c, &error);
    lib = &client_http;
    return calls_open(c, user);
}

/* Starts a server for the store's file, for as long as the command runs. */
static int attended_open(cli *c)
{
    char url[ATTEND_URL];
    if (!attend_start(option_or_env(c, "db", "RAMET_DB"), opt_text(c, "config"), url))
        return cli_error(c, RAMET_CANNOT_OPEN, "db",
                         "no server could be started; 'ramet serve' tells why");
    return server_open(c, url);
}

static int store_open(cli *c)
{
    const char *server = option_or_env(c, "server", "RAMET_SERVER");
    if (opt_text(c, "db") && opt_text(c, "server"))
        return cli_error(c, RAMET_INVALID, "db", "give --db or --server, not both");
    if (server && !opt_text(c, "db"))
        return server_open(c, server);
    if (c->cmd->flags & CMD_SERVER)
        return attended_open(c);
    const char *where = option_or_env(c, "db", "RAMET_DB");
    ramet_options options = {.must_exist = !(c->cmd->flags & CMD_MAKES)};
    ramet_error error;
    if (strcmp(c->cmd->name, "gc") == 0)
        options.grace_us = opt_span(c, "grace");
    options.attachments = folder_given(c);
    if (ramet_open(where, &options, &c->store, &error) != RAMET_OK) {
        static const char none[] = "there is no store at ";
        if (strncmp(error.message, none, sizeof none - 1) != 0)
            return cli_report(c, &error);
        return cli_error(c, RAMET_CANNOT_OPEN, "db",
                         "there is no store at %s; 'ramet new' makes one", ramet_where(where));
    }
    const char *user =
        names_user(c) ? getenv("RAMET_USER") : option_or_env(c, "user", "RAMET_USER");
    return calls_open(c, c->cmd->flags & CMD_ADMIN ? NULL : user ? user : "local");
}

static int command_run(cli *c)
{
    int code = -1;
    c->quiet = opt_flag(c, "quiet");
    if (!(c->cmd->flags & CMD_NO_STORE))
        code = store_open(c);
    if (code < 0) {
        if (c->cmd->flags & CMD_PAGER && !opt_flag(c, "no-pager"))
            term_pager(c);
        code = c->cmd->run(c);
    }
    if (c->store) {
        lib->ramet_call_free(c->walk);
        lib->ramet_call_free(c->call);
        lib->ramet_close(c->store);
    }
    attend_end();
    return code;
}

static int output_close(cli *c, int code)
{
    if (term_close() || code != 0)
        return code;
    return cli_error(c, RAMET_FULL, "", "the output could not be written: %s; nothing else failed",
                     strerror(errno));
}

/* The word after --color is needed before the line is parsed: errors are coloured too. */
static const char *color_word(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--color=", 8) == 0)
            return argv[i] + 8;
        if (strcmp(argv[i], "--color") == 0 && i + 1 < argc)
            return argv[i + 1];
        if (strcmp(argv[i], "--") == 0)
            break;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    cli c = {0};
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_IGN); /* a write over the file size limit fails, as on a full disk */
    c.mem = arena_new();
    c.now = time_now_us();
    buf_init(&c.json_buf, JSON_LIMIT);
    term_setup(&c, color_word(argc, argv));
    int code = options_parse(&c, argc, argv);
    if (code < 0)
        code = command_run(&c);
    code = output_close(&c, code);
    buf_release(&c.json_buf);
    arena_free(c.mem);
    return code;
}
