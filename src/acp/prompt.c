/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.c: passes a user's message to the agent, and handles the end of its turn.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

/* A command for the agent must stay at the beginning of a message. */
static bool is_command(const message *m, const json_node *prompt)
{
    const json_node *first = json_first(&m->doc, prompt);
    const char *text = first ? message_text(m, first, "text") : NULL;
    return text && text[0] == '/';
}

void prompt_send(proxy *p, session *s, const message *m)
{
    const json_node *prompt = message_at(m, m->params, "prompt");
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    const char *seed =
        s->seed && !s->seeding && !is_command(m, prompt) ? transcript(p, s->outer, -1) : NULL;
    if (strcmp(s->inner, s->outer) != 0)
        splice_node(&changes, message_at(m, m->params, "sessionId"), json_quote(p->mem, s->inner));
    if (seed) {
        s->seeding = true;
        splice_first(
            &changes, m, prompt,
            arena_printf(p->mem, "{\"type\":\"text\",\"text\":%s}", json_quote(p->mem, seed)));
    }
    if (changes.n)
        line = splice_text(m, &changes, 0, m->n, &n);
    ask_note(p, m->id_raw, ASK_PROMPT, s->outer);
    agent_put(p, line, n);
    turn_prompt(p, s, &m->doc, prompt);
}

/* ------------------------------------------------------------------ somebody else has written */

static void remade(proxy *p, flow *f)
{
    session *s = session_outer(p, f->outer);
    ramet_session *r;
    message m;
    char held[HELD_TEXT], erased[ERASED_TEXT];
    ramet_status rc = p->lib->ramet_session_get(p->call, f->outer, &r);
    if (!s || rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    erased_text(p, f->outer, erased);
    session_move(s, f->inner, held_text(&r->head, erased, held), erased);
    s->seed = !f->seeded && r->head.length > 0;
    flow_message(p, f, &m);
    prompt_send(p, s, &m);
    flow_end(p, f);
    session_announce(p, s, false);
}

static void remake(proxy *p, session *s, const message *m, const ramet_head *now)
{
    char held[HELD_TEXT], erased[ERASED_TEXT];
    held_text(now, erased_text(p, s->outer, erased), held);
    for (const left *l = s->left; l; l = l->next)
        if (strcmp(l->held, held) == 0) {
            session_move(s, arena_strdup(p->mem, l->inner), held, erased);
            prompt_send(p, s, m);
            return;
        }
    flow *f = flow_new(p, m);
    flow_like(f, s);
    session_put_text(&f->dirs, s->dirs);
    inner_make(p, f, remade);
}

void prompt_take(proxy *p, const message *m)
{
    session *s = session_outer(p, m->session);
    ramet_session *r;
    if (!s || !json_is(message_at(m, m->params, "prompt"), JSON_ARRAY)) {
        ask_note(p, m->id_raw, s ? ASK_OTHER : ASK_STRANGER, m->session);
        agent_put(p, m->line, m->n);
        return;
    }
    if (command_take(p, s, m))
        return;
    if (turn_asked(s->turn)) { /* the agent may accept it, or refuse */
        prompt_send(p, s, m);
        return;
    }
    bool fine = turn_end(p, s, NULL, NULL);
    ramet_status rc = fine ? p->lib->ramet_session_get(p->call, s->outer, &r)
                           : p->lib->ramet_call_error(p->call)->status;
    if (rc == RAMET_SESSION_NOT_FOUND)
        editor_error(p, m->id_raw, JSONRPC_NOT_FOUND, "the session was deleted",
                     data_session(p, s->outer));
    else if (rc != RAMET_OK)
        editor_error(p, m->id_raw, JSONRPC_INTERNAL,
                     arena_printf(p->mem, "the record cannot be reached: %s", store_error(p)),
                     NULL);
    else if (!s->seed && !session_holds(p, s, &r->head))
        remake(p, s, m, &r->head);
    else
        prompt_send(p, s, m);
}

/* ------------------------------------------------------------------ the end of a turn */

static const ramet_usage *usage_of(proxy *p, const message *m)
{
    const json_node *usage = message_at(m, m->result, "usage");
    ramet_usage *u = arena_alloc(p->mem, sizeof *u);
    const struct {
        const char *key;
        int64_t *to;
    } all[] = {
        {"inputTokens", &u->input}, {"outputTokens", &u->output}, {"cachedReadTokens", &u->cached}};
    if (!json_is(usage, JSON_OBJECT))
        return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int64_t v = 0;
        if (json_int(&m->doc, message_at(m, usage, all[i].key), &v) && v > 0 && v < (1ll << 38))
            *all[i].to = v;
    }
    return u;
}

/* NULL: it ended normally. */
static const char *why_of(const message *m)
{
    static const char *const words[] = {"cancelled", "refusal", "max_tokens", "max_turn_requests"};
    const char *reason = message_text(m, m->result, "stopReason");
    if (m->error)
        return "failed";
    for (size_t i = 0; reason && i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], reason) == 0)
            return words[i];
    return NULL;
}

static bool others_asked(const proxy *p, const asked *a)
{
    for (const asked *o = p->asked; o; o = o->next)
        if (o != a && o->kind == ASK_PROMPT && !o->flow && strcmp(o->outer, a->outer) == 0)
            return true;
    return false;
}

/* Passes the line on, with the editor's session id in an error. */
static void pass(proxy *p, const session *s, const message *m)
{
    const json_node *id = message_at(m, m->error, "data.sessionId");
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (id && strcmp(s->outer, s->inner) != 0) {
        splice_node(&changes, id, json_quote(p->mem, s->outer));
        line = splice_text(m, &changes, 0, m->n, &n);
    }
    editor_put(p, line, n);
}

void prompt_done(proxy *p, asked *a, const message *m)
{
    session *s = session_outer(p, a->outer);
    if (!s) {
        editor_put(p, m->line, m->n);
        return;
    }
    bool happened = m->result || (s->turn && turn_has_output(s->turn));
    if (s->seeding && happened)
        s->seed = false;
    s->seeding = false;
    if (!happened && !others_asked(p, a)) { /* no output: nothing to record */
        turn_free(s->turn);
        s->turn = NULL;
        pass(p, s, m);
        return;
    }
    bool fine =
        others_asked(p, a) ? turn_store(p, s, false) : turn_end(p, s, why_of(m), usage_of(p, m));
    if (!fine) {
        editor_error(p, a->id, JSONRPC_INTERNAL,
                     arena_printf(p->mem, "the turn could not be recorded: %s", store_error(p)),
                     NULL);
        return;
    }
    pass(p, s, m);
    if (!s->turn)
        session_save(p, s);
}
