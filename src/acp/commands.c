/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.c: forks and moves as slash commands, so that they work in an editor that does not know
 * them. These turns are not recorded, and the agent does not see them.
 */
#include "acp/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct command {
    const char *name, *about, *hint;
    void (*run)(proxy *p, flow *f, session *s, const char *words);
} command;

static void run_rewind(proxy *p, flow *f, session *s, const char *words);
static void run_fork(proxy *p, flow *f, session *s, const char *words);
static void run_undo(proxy *p, flow *f, session *s, const char *words);
static void run_tree(proxy *p, flow *f, session *s, const char *words);
static void run_btw(proxy *p, flow *f, session *s, const char *words);
static void run_land(proxy *p, flow *f, session *s, const char *words);

static const command commands[] = {
    {"rewind", "Go back some turns (1); nothing is lost", "[turns]", run_rewind},
    {"undo", "Take the last rewind back", NULL, run_undo},
    {"fork", "Fork this conversation, here or some turns back", "[turns] [title]", run_fork},
    {"tree", "Show the forks and branches of this conversation", NULL, run_tree},
    {"btw", "Ask something aside; the conversation stays as it is", "question", run_btw},
    {"land", "Bring a summary back to the conversation that this one was forked from", "[summary]",
     run_land},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* ------------------------------------------------------------------ the list */

static bool names_have(proxy *p, const char *list, const char *name)
{
    json_doc d;
    if (!list || !json_parse(p->mem, list, strlen(list), 0, &d, NULL))
        return false;
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        const char *own = json_text(p->mem, &d, json_get(&d, v, "name"));
        if (own && strcmp(own, name) == 0)
            return true;
    }
    return false;
}

const char *commands_merged(proxy *p, const char *own)
{
    buf b;
    json_writer w;
    buf_init(&b, ACP_LINE_MAX);
    size_t n = own ? strlen(own) : 0;
    buf_add(&b, own ? own : "[", n ? n - 1 : 1); /* without its closing bracket */
    for (size_t i = 0; i < COMMANDS; i++) {
        bool taken = names_have(p, own, commands[i].name);
        if (b.data[b.n - 1] != '[')
            buf_putc(&b, ',');
        jw_init(&w, &b, 0);
        jw_object(&w);
        jw_kstr(&w, "name", arena_printf(p->mem, "%s%s", taken ? "ramet-" : "", commands[i].name));
        jw_kstr(&w, "description", commands[i].about);
        if (commands[i].hint) {
            jw_key(&w, "input");
            jw_object(&w);
            jw_kstr(&w, "hint", commands[i].hint);
            jw_end_object(&w);
        }
        jw_end_object(&w);
    }
    buf_putc(&b, ']');
    return buf_keep(&b, p->mem);
}

void commands_send(proxy *p, session *s)
{
    if (!s->commands)
        editor_update(p, s->outer,
                      arena_printf(p->mem,
                                   "{\"sessionUpdate\":\"available_commands_update\","
                                   "\"availableCommands\":%s}",
                                   commands_merged(p, NULL)));
}

/* ------------------------------------------------------------------ answering */

void command_say(proxy *p, flow *f, const char *text)
{
    char uuid[UUID_TEXT];
    editor_update(p, f->outer,
                  arena_printf(p->mem,
                               "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"%s\","
                               "\"content\":{\"type\":\"text\",\"text\":%s}}",
                               uuid7(time_now_us(), uuid), json_quote(p->mem, text)));
    flow_answer(p, f, "{\"stopReason\":\"end_turn\"}");
}

/* Reads a number before the words; -1: it is not one. */
static int64_t number_take(const char **words, int64_t otherwise)
{
    size_t n = strspn(*words, "0123456789");
    if (!n)
        return otherwise;
    if (n > 9 || ((*words)[n] && (*words)[n] != ' '))
        return n > 9 ? -1 : otherwise;
    int64_t v = strtoll(*words, NULL, 10);
    *words += n;
    *words += strspn(*words, " ");
    return v;
}

static void say_where(proxy *p, flow *f, const ramet_session *r, const char *what)
{
    int64_t length = r->head.length;
    const ramet_entry *last = turn_back(p, f->outer, 1);
    const char *text = last ? text_preview(p->mem, last->text, 60) : NULL;
    command_say(p, f,
                text
                    ? arena_printf(p->mem,
                                   "%s The conversation has %lld messages now; the last "
                                   "question is: %s\n",
                                   what, (long long)length, text)
                    : arena_printf(p->mem, "%s The conversation is at its beginning now.\n", what));
}

static void run_rewind(proxy *p, flow *f, session *s, const char *words)
{
    int64_t n = number_take(&words, 1);
    const ramet_entry *e = n > 0 && !*words ? turn_back(p, s->outer, n) : NULL;
    if (!e) {
        command_say(
            p, f, n > 0 && !*words ? "There are not so many turns.\n" : "Usage: /rewind [turns]\n");
        return;
    }
    session_put_text(&f->entry, e->id);
    f->side = RAMET_BEFORE;
    const ramet_session *r = move_do(p, f, RAMET_MOVE_REWIND);
    if (r)
        say_where(p, f, r, "Rewound; /undo takes it back.");
}

static void run_undo(proxy *p, flow *f, session *s, const char *words)
{
    (void)s;
    (void)words;
    const ramet_session *r = move_do(p, f, RAMET_MOVE_UNDO);
    if (r)
        say_where(p, f, r, "Undone.");
}

static void run_tree(proxy *p, flow *f, session *s, const char *words)
{
    (void)words;
    command_say(p, f, tree_text(p, s->outer));
}

static void run_fork(proxy *p, flow *f, session *s, const char *words)
{
    ramet_session *r;
    int64_t n = number_take(&words, 0);
    if (n < 0) {
        command_say(p, f, "Usage: /fork [turns] [title]\n");
        return;
    }
    if (*words)
        session_put_text(&f->title, words);
    if (n > 0) {
        const ramet_entry *e = turn_back(p, s->outer, n);
        if (!e) {
            command_say(p, f, "There are not so many turns.\n");
            return;
        }
        session_put_text(&f->entry, e->id);
        f->side = RAMET_BEFORE;
        f->keep = e->position;
    }
    ramet_status rc = p->lib->ramet_session_get(p->call, s->outer, &r);
    if (rc == RAMET_OK)
        fork_recorded(p, f, r);
    else
        flow_store_fail(p, f, rc);
}

/* ------------------------------------------------------------------ a question aside */

/* Removes what was made for the question, as far as the agent supports that. */
static void aside_end(proxy *p, const char *inner)
{
    static const char *const methods[] = {"session/close", "session/delete"};
    const bool can[] = {p->has.close, p->has.del};
    for (size_t i = 0; i < 2; i++) {
        if (!can[i])
            continue;
        const char *id = arena_printf(p->mem, "\"" OWN_ID "%llu\"", ++p->last_id);
        const char *line =
            arena_printf(p->mem, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\",\"params\":%s}",
                         id, methods[i], data_session(p, inner));
        ask_note(p, id, ASK_OTHER, NULL);
        agent_put(p, line, strlen(line));
    }
}

static void aside_answered(proxy *p, flow *f, const message *m)
{
    session *s = session_outer(p, f->outer);
    const char *landing = s && s->landing ? arena_strdup(p->mem, s->landing) : NULL;
    if (s)
        session_put_text(&s->landing, NULL);
    if (s && s->aside) {
        session_leave(s, s->aside, "");
        aside_end(p, s->aside);
        session_put_text(&s->aside, NULL);
        session_save(p, s);
    }
    if (m->error)
        flow_refused(p, f, m);
    else if (landing && *landing)
        land_do(p, f, landing);
    else
        flow_answer(p, f, json_raw(p->mem, &m->doc, m->result));
}

static void aside_made(proxy *p, flow *f)
{
    session *s = session_outer(p, f->outer);
    if (!s) {
        flow_fail(p, f, JSONRPC_INTERNAL, "the session was closed", NULL);
        return;
    }
    const char *seed = f->native || f->seeded ? NULL : transcript(p, s->outer, -1);
    waiting_drop(p, f->inner);
    session_put_text(&s->aside, f->inner);
    flow_ask(p, f, "session/prompt",
             arena_printf(p->mem,
                          "{\"sessionId\":%s,\"prompt\":[%s%s%s{\"type\":\"text\",\"text\":"
                          "%s}]}",
                          json_quote(p->mem, f->inner), seed ? "{\"type\":\"text\",\"text\":" : "",
                          seed ? json_quote(p->mem, seed) : "", seed ? "}," : "",
                          json_quote(p->mem, f->title)),
             aside_answered);
}

static void aside_forked(proxy *p, flow *f, const message *m)
{
    if (!m->result || !message_text(m, m->result, "sessionId")) {
        f->native = false;
        inner_make(p, f, aside_made);
        return;
    }
    flow_take_setup(p, f, m);
    aside_made(p, f);
}

/* Asks in a throw-away inner session. */
static void aside_begin(proxy *p, flow *f, session *s, const char *words, bool lands)
{
    ramet_session *r;
    if (s->aside || turn_asked(s->turn)) {
        command_say(p, f, "A turn is under way.\n");
        return;
    }
    session_put_text(&f->title, words);
    session_put_text(&s->landing, lands ? "" : NULL);
    flow_like(f, s);
    session_put_text(&f->dirs, s->dirs);
    bool fine = turn_end(p, s, NULL, NULL);
    ramet_status rc = fine ? p->lib->ramet_session_get(p->call, s->outer, &r)
                           : p->lib->ramet_call_error(p->call)->status;
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    f->native = p->has.fork && !s->seed && session_holds(p, s, &r->head);
    member all[] = {{"sessionId", json_quote(p->mem, s->inner)},
                    {"cwd", json_quote(p->mem, s->cwd ? s->cwd : "/")},
                    {"mcpServers", s->mcp ? s->mcp : "[]"}};
    if (f->native)
        flow_ask(p, f, "session/fork", json_with(p->mem, NULL, all, 3), aside_forked);
    else
        inner_make(p, f, aside_made);
}

static void run_btw(proxy *p, flow *f, session *s, const char *words)
{
    if (*words)
        aside_begin(p, f, s, words, false);
    else
        command_say(p, f, "Usage: /btw question\n");
}

/* The words, or what the agent says aside, as the summary. */
static void run_land(proxy *p, flow *f, session *s, const char *words)
{
    static const char question[] =
        "Summarise this conversation for the one that it was forked from, under the headings "
        "Purpose, Conclusions, Evidence and Open points. Keep to what was said, in at most 400 "
        "words, with nothing before or after them.";
    if (!*words)
        aside_begin(p, f, s, question, true);
    else if (turn_asked(s->turn))
        command_say(p, f, "A turn is under way.\n");
    else if (turn_end(p, s, NULL, NULL))
        land_do(p, f, words);
    else
        flow_store_fail(p, f, p->lib->ramet_call_error(p->call)->status);
}

void aside_receive(proxy *p, session *s, const message *m)
{
    splices changes = {0};
    size_t n;
    const char *kind = message_text(m, m->params, "update.sessionUpdate");
    const char *said = message_text(m, m->params, "update.content.text");
    if (!update_is_history(kind))
        return;
    if (s->landing && said && strcmp(kind, "agent_message_chunk") == 0)
        session_put_text(&s->landing, arena_printf(p->mem, "%s%s", s->landing, said));
    splice_node(&changes, message_at(m, m->params, "sessionId"), json_quote(p->mem, s->outer));
    const char *line = splice_text(m, &changes, 0, m->n, &n);
    editor_put(p, line, n);
}

/* ------------------------------------------------------------------ taking one */

static const command *command_named(proxy *p, const session *s, const char *name)
{
    bool always = strncmp(name, "ramet-", 6) == 0;
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i].name, always ? name + 6 : name) == 0)
            return always || !names_have(p, s->commands, name) ? &commands[i] : NULL;
    return NULL;
}

bool command_take(proxy *p, session *s, const message *m)
{
    const json_node *prompt = message_at(m, m->params, "prompt");
    const json_node *first = json_first(&m->doc, prompt);
    const char *text = first ? message_text(m, first, "text") : NULL;
    if (!text || text[0] != '/')
        return false;
    size_t n = strcspn(text + 1, " \t\r\n");
    const command *c = command_named(p, s, arena_memdup(p->mem, text + 1, n));
    if (!c)
        return false;
    char *words = arena_strdup(p->mem, text + 1 + n);
    words += strspn(words, " \t\r\n");
    size_t len = strlen(words);
    while (len && strchr(" \t\r\n", words[len - 1]))
        words[--len] = 0;
    flow *f = flow_new(p, m);
    f->slash = true;
    c->run(p, f, s, words);
    return true;
}
