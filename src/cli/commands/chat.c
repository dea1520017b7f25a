/* SPDX-License-Identifier: Apache-2.0
 *
 * chat.c: `ramet chat`: a conversation in the terminal. Input is sent, and the answer printed as it
 * arrives; lines that begin with / run the commands of that name.
 */
#include "cli/commands.h"
#include "cli/term.h"

#include "base/util.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_no)
{
    (void)signal_no;
    interrupted = 1;
}

typedef struct chat {
    cli *cli;
    char *session; /* allocated with malloc */
    char *agent;   /* for the next messages; NULL: the session's own */
    char turn[300];
    bool said, thinking, failed, end;
} chat;

/* ------------------------------------------------------------------ hearing an answer */

static void say(chat *h, arena *a, const char *text, bool thinking)
{
    cli *c = h->cli;
    if (thinking != h->thinking)
        printf("%s", st(c, thinking ? ST_DIM : ST_OFF));
    if (h->thinking && !thinking)
        putchar('\n');
    h->thinking = thinking;
    fputs(text_safe(a, text, true), stdout);
    fflush(stdout);
    h->said = true;
}

static void line_end(chat *h)
{
    if (h->thinking)
        printf("%s", st(h->cli, ST_OFF));
    if (h->said)
        putchar('\n');
    h->said = h->thinking = false;
}

static void show_tools(chat *h, arena *a, const json_doc *d, const json_node *entry)
{
    const json_node *parts = json_get(d, entry, "parts");
    cli *c = h->cli;
    for (const json_node *p = parts ? json_first(d, parts) : NULL; p; p = json_next(d, parts, p)) {
        const char *type = json_text(a, d, json_get(d, p, "type"));
        bool call = type && strcmp(type, "tool_call") == 0;
        if (!type || (!call && strcmp(type, "tool_result") != 0))
            continue;
        const char *name = json_text(a, d, json_get(d, p, call ? "name" : "id"));
        const json_node *v = json_get(d, p, call ? "input" : "output");
        line_end(h);
        printf("%s%s %s %s%s\n", st(c, ST_TOOL), call ? "->" : "<-", text_safe(a, name, false),
               v ? text_safe(a, json_raw(a, d, v), false) : "", st(c, ST_OFF));
    }
}

static void cancel(chat *h)
{
    client_post(h->cli->walk, h->session, "cancel", "{}");
    lib->ramet_call_reset(h->cli->walk);
}

/* False: this answer was refused, another one may be accepted. */
static bool answer_send(chat *h, const char *question, const char *text)
{
    cli *c = h->cli;
    buf body, route;
    json_writer w;
    buf_init(&body, 1 << 20);
    buf_init(&route, 1024);
    jw_init(&w, &body, 0);
    jw_object(&w);
    jw_kstr(&w, "question_id", question);
    jw_kstr(&w, "answer", text);
    jw_end_object(&w);
    buf_printf(&route, "turns/%s/answer", h->turn);
    ramet_status rc = client_post(c->walk, h->session, route.data, body.data);
    if (rc != RAMET_OK)
        cli_report(c, lib->ramet_call_error(c->walk));
    lib->ramet_call_reset(c->walk);
    buf_release(&body);
    buf_release(&route);
    return rc != RAMET_INVALID;
}

static void show_question(chat *h, arena *a, const json_doc *d, const json_node *q)
{
    cli *c = h->cli;
    const json_node *options = json_get(d, q, "options");
    const char *text = json_text(a, d, json_get(d, q, "text"));
    line_end(h);
    printf("%s? %s%s\n", st(c, ST_NOTE), text_safe(a, text ? text : "", true), st(c, ST_OFF));
    for (const json_node *o = options ? json_first(d, options) : NULL; o;
         o = json_next(d, options, o)) {
        const char *id = json_text(a, d, json_get(d, o, "id"));
        const char *name = json_text(a, d, json_get(d, o, "name"));
        printf("  %s%s%s  %s\n", st(c, ST_BOLD), text_safe(a, id ? id : "", false), st(c, ST_OFF),
               text_safe(a, name ? name : "", false));
    }
}

/* Asks the user until an answer is accepted. Without one (Ctrl-C, Ctrl-D) it ends the turn, which
 * would otherwise wait. */
static void ask_person(chat *h, arena *a, const json_doc *d, const json_node *q)
{
    const char *id = json_text(a, d, json_get(d, q, "id"));
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    if (!h->cli->json)
        show_question(h, a, d, q);
    do {
        if (!h->cli->json)
            printf("answer> ");
        fflush(stdout);
        n = getline(&line, &cap, stdin);
        if (n > 0 && line[n - 1] == '\n')
            line[n - 1] = 0;
    } while (n >= 0 && !answer_send(h, id ? id : "", line));
    if (n < 0) {
        clearerr(stdin);
        if (!h->cli->json)
            putchar('\n');
        cancel(h);
    }
    free(line);
}

static void show_plan(chat *h, arena *a, const json_doc *d, const json_node *plan)
{
    cli *c = h->cli;
    const json_node *steps = json_get(d, plan, "entries");
    line_end(h);
    for (const json_node *s = steps ? json_first(d, steps) : NULL; s; s = json_next(d, steps, s)) {
        const char *text = json_text(a, d, json_get(d, s, "content"));
        const char *status = json_text(a, d, json_get(d, s, "status"));
        printf("%s* %s%s%s%s\n", st(c, ST_TOOL), text_safe(a, text ? text : "", false),
               status ? ": " : "", text_safe(a, status ? status : "", false), st(c, ST_OFF));
    }
}

static void on_event(void *arg, const char *name, arena *a, const json_doc *d)
{
    chat *h = arg;
    const json_node *root = d->nodes;
    const char *text = json_text(a, d, json_get(d, root, "text"));
    if (h->cli->json) {
        printf("{\"event\":\"%s\",\"data\":%s}\n", text_safe(a, name, false), json_raw(a, d, root));
        fflush(stdout);
    }
    if (strcmp(name, "turn.started") == 0) {
        const char *id = json_text(a, d, json_get(d, root, "turn_id"));
        const char *session = json_text(a, d, json_get(d, root, "session_id"));
        snprintf(h->turn, sizeof h->turn, "%s", id ? id : "");
        if (session && strcmp(session, h->session) != 0) {
            free(h->session);
            h->session = xstrdup(session);
        }
    }
    if (strcmp(name, "turn.question") == 0)
        ask_person(h, a, d, json_get(d, root, "question"));
    if (strcmp(name, "turn.done") == 0) {
        const char *status = json_text(a, d, json_get(d, root, "status"));
        h->failed = status && strcmp(status, "done") != 0;
        const char *error = json_text(a, d, json_get(d, root, "error"));
        line_end(h);
        if (h->failed && !h->cli->json)
            cli_note(h->cli, "%s%s%s", text_safe(a, status, false), error && *error ? ": " : "",
                     error ? text_safe(a, error, false) : "");
    }
    if (h->cli->json)
        return;
    if (text && strcmp(name, "turn.delta") == 0)
        say(h, a, text, false);
    else if (text && strcmp(name, "turn.thinking") == 0)
        say(h, a, text, true);
    else if (strcmp(name, "turn.plan") == 0)
        show_plan(h, a, d, json_get(d, root, "plan"));
    else if (strcmp(name, "entry.appended") == 0)
        show_tools(h, a, d, json_get(d, root, "entry"));
}

/* Ctrl-C ends the answer, not the chat. */
static bool on_stop(void *arg)
{
    chat *h = arg;
    if (!interrupted)
        return false;
    cancel(h);
    return true;
}

static int send_to(chat *h, const char *route, const char *text)
{
    cli *c = h->cli;
    buf body;
    json_writer w;
    client_events events = {.event = on_event, .stop = on_stop, .arg = h};
    buf_init(&body, (size_t)32 << 20);
    jw_init(&w, &body, 0);
    jw_object(&w);
    if (text)
        jw_kstr(&w, "text", text);
    if (h->agent)
        jw_kstr(&w, "agent", h->agent);
    jw_end_object(&w);
    interrupted = 0;
    h->failed = false;
    ramet_status rc = client_message(c->call, h->session, route, body.data, &events);
    line_end(h);
    buf_release(&body);
    int code = rc == RAMET_OK ? (h->failed ? 1 : 0) : cli_fail(c);
    lib->ramet_call_reset(c->call);
    return code;
}

/* ------------------------------------------------------------------ what begins with / */

/* Runs a command of this tool, as if it had been typed with the session before its words. */
static int command_do(chat *h, const char *name, char *words)
{
    cli *c = h->cli;
    char *argv[16] = {h->session};
    int argc = 1;
    for (char *w; argc < 15 && (w = strsep(&words, " \t"));)
        if (*w)
            argv[argc++] = w;
    const command_def *was = c->cmd;
    char **were = c->argv;
    int had = c->argc;
    c->cmd = command_find(name);
    c->argv = argv;
    c->argc = argc;
    int code = c->cmd->run(c);
    c->cmd = was;
    c->argv = were;
    c->argc = had;
    lib->ramet_call_reset(c->call);
    return code;
}

static int fork_here(chat *h, char *words)
{
    cli *c = h->cli;
    int code = 0;
    ramet_session *out;
    ramet_fork_in in = {0};
    if (words && *words) {
        ramet_entry *e = entry_named(c, h->session, 0, words, &code);
        if (!e)
            return code;
        in.at.entry_id = e->id;
    }
    if (lib->ramet_fork(c->call, h->session, &in, &out, NULL) != RAMET_OK)
        return cli_fail(c);
    free(h->session);
    h->session = xstrdup(out->id);
    cli_note(c, "now in the fork %s", out->id);
    lib->ramet_call_reset(c->call);
    return 0;
}

static int agent_set(chat *h, char *words)
{
    free(h->agent);
    h->agent = words && *words ? xstrdup(words) : NULL;
    return 0;
}

static int retry(chat *h, char *words)
{
    (void)words;
    return send_to(h, "regenerate", NULL);
}

static int leave(chat *h, char *words)
{
    (void)words;
    h->end = true;
    return 0;
}

static int help_print(chat *h, char *words);

static const struct {
    const char *word, *args, *text;
    int (*run)(chat *h, char *words);
    const char *command; /* runs the command of that name */
} slashes[] = {
    {"fork", "[ENTRY]", "go on in a fork, from an entry (@2) or from here", fork_here, NULL},
    {"rewind", "ENTRY", "take the conversation back to an entry", NULL, "rewind"},
    {"undo", "", "take the last move back", NULL, "undo"},
    {"redo", "", "take the last undo back", NULL, "redo"},
    {"switch", "BRANCH", "go to another branch", NULL, "switch"},
    {"branches", "", "the branches of this session", NULL, "branches"},
    {"tree", "", "the forks of this conversation", NULL, "tree"},
    {"log", "", "the conversation so far", NULL, "log"},
    {"retry", "", "have the last message answered once more", retry, NULL},
    {"agent", "[NAME]", "who answers from now on; none: the session's own", agent_set, NULL},
    {"help", "", "this list", help_print, NULL},
    {"quit", "", "leave (Ctrl-D does, too)", leave, NULL},
};

static int help_print(chat *h, char *words)
{
    (void)words;
    for (size_t i = 0; i < sizeof slashes / sizeof *slashes; i++)
        printf("%s/%-8s%s %-9s %s\n", st(h->cli, ST_BOLD), slashes[i].word, st(h->cli, ST_OFF),
               slashes[i].args, slashes[i].text);
    printf("Ctrl-C ends an answer; a line that begins with // is sent with one /.\n");
    return 0;
}

static int slash(chat *h, char *line)
{
    char *words = line, *word = strsep(&words, " \t");
    if (words)
        words += strspn(words, " \t");
    for (size_t i = 0; i < sizeof slashes / sizeof *slashes; i++)
        if (strcmp(slashes[i].word, word) == 0)
            return slashes[i].run ? slashes[i].run(h, words)
                                  : command_do(h, slashes[i].command, words);
    return cli_error(h->cli, RAMET_INVALID, "line",
                     "'/%s' is no word of the chat; /help lists them", word);
}

/* ------------------------------------------------------------------ the chat */

static int line_take(chat *h, char *line)
{
    if (line[0] == '/' && line[1] != '/')
        return slash(h, line + 1);
    return send_to(h, "messages", line[0] == '/' ? line + 1 : line);
}

static int lines_read(chat *h)
{
    char *line = NULL;
    size_t cap = 0;
    int code = 0;
    bool asks = isatty(STDIN_FILENO) && !h->cli->quiet && !h->cli->json;
    while (!h->end) {
        if (asks) {
            printf("%s> %s", st(h->cli, ST_USER), st(h->cli, ST_OFF));
            fflush(stdout);
        }
        interrupted = 0;
        ssize_t n = getline(&line, &cap, stdin);
        if (n < 0 && errno == EINTR && interrupted) {
            clearerr(stdin);
            putchar('\n');
            continue;
        }
        if (n < 0)
            break;
        if (line[n - 1] == '\n')
            line[--n] = 0;
        if (strspn(line, " \t") != (size_t)n)
            code = line_take(h, line);
    }
    if (asks)
        putchar('\n');
    free(line);
    return asks ? 0 : code;
}

static bool session_find_or_make(chat *h, int *code)
{
    cli *c = h->cli;
    ramet_session *s = NULL;
    if (c->argc)
        s = session_named(c, c->argv[0], code);
    else if (lib->ramet_session_create(c->call, &(ramet_session_in){0}, &s) != RAMET_OK)
        *code = cli_fail(c);
    if (!s)
        return false;
    h->session = xstrdup(s->id);
    if (isatty(STDIN_FILENO) && c->argc < 2)
        cli_note(c, "%s · %s · /help", s->id, s->agent.name ? s->agent.name : "the default agent");
    lib->ramet_call_reset(c->call);
    return true;
}

int cmd_chat(cli *c)
{
    chat h = {.cli = c};
    int code = 0;
    struct sigaction act = {.sa_handler = on_interrupt}; /* no SA_RESTART: interrupts a prompt */
    if (!session_find_or_make(&h, &code))
        return code;
    agent_set(&h, (char *)opt_text(c, "agent"));
    sigaction(SIGINT, &act, NULL);
    if (c->argc > 1) {
        buf words;
        buf_init(&words, 1 << 20);
        for (int i = 1; i < c->argc; i++)
            buf_printf(&words, "%s%s", i > 1 ? " " : "", c->argv[i]);
        code = send_to(&h, "messages", words.data);
        buf_release(&words);
    } else {
        code = lines_read(&h);
    }
    free(h.session);
    free(h.agent);
    return code;
}
