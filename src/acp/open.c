/* SPDX-License-Identifier: Apache-2.0
 *
 * open.c: opens sessions: new ones, those of the record, those that only the agent knows, and
 * forks.
 */
#include "acp/own.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the options that new, load, resume and fork have in common. */
static void options_take(flow *f, const message *m)
{
    const char *cwd = message_text(m, m->params, "cwd");
    if (cwd)
        session_put_text(&f->cwd, cwd);
    if (message_raw(m, m->params, "mcpServers"))
        session_put_text(&f->mcp, message_raw(m, m->params, "mcpServers"));
    if (message_raw(m, m->params, "additionalDirectories"))
        session_put_text(&f->dirs, message_raw(m, m->params, "additionalDirectories"));
    if (message_raw(m, m->params, "systemPrompt"))
        session_put_text(&f->system, message_raw(m, m->params, "systemPrompt"));
}

static void options_keep(session *s, const flow *f)
{
    session_put_text(&s->cwd, f->cwd);
    session_put_text(&s->mcp, f->mcp);
    session_put_text(&s->dirs, f->dirs);
}

/* Recognizes errors that mean "no such session" by their text; agents do not agree on a code. */
bool refused_as_unknown(const message *m, const char *inner)
{
    static const char *const words[] = {"not found",      "unknown session", "no such session",
                                        "does not exist", "not exist",       "invalid session"};
    int64_t code = 0;
    const char *id = message_text(m, m->error, "data.sessionId");
    json_int(&m->doc, message_at(m, m->error, "code"), &code);
    if (code == JSONRPC_NOT_FOUND || (id && strcmp(id, inner) == 0))
        return true;
    if (!m->error || code == JSONRPC_AUTH)
        return false;
    char *said = arena_strdup(m->arena, json_raw(m->arena, &m->doc, m->error));
    for (char *c = said; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    if (!strstr(said, "session"))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(said, words[i]))
            return true;
    return false;
}

/* ------------------------------------------------------------------ in the store */

static ramet_agent agent_of(const proxy *p, const char *cwd)
{
    return (ramet_agent){.name = p->options->name, .folder = cwd};
}

/* Creates the session in the store. The requested id is used if it is free. */
static ramet_status record_new(proxy *p, session *s)
{
    ramet_session *out;
    ramet_session_in in = {.id = s->outer,
                           .agent = agent_of(p, s->cwd),
                           .metadata = session_metadata(p, s, NULL),
                           .anew = true};
    ramet_status rc = p->lib->ramet_session_create(p->call, &in, &out);
    if (rc == RAMET_SESSION_EXISTS || rc == RAMET_BAD_ID) {
        in.id = NULL;
        rc = p->lib->ramet_session_create(p->call, &in, &out);
    }
    if (rc != RAMET_OK)
        return rc;
    session_put_text(&s->outer, out->id);
    session_put_text(&s->tree, out->tree_id);
    held_text(&out->head, "", s->held);
    ids_of(p, s->tree)->known = true;
    return RAMET_OK;
}

/* The answer for a session that was opened: the agent's answer with our id in it. */
static const char *result_with(proxy *p, const char *result, const char *outer)
{
    member id = {"sessionId", outer ? json_quote(p->mem, outer) : NULL};
    return json_with(p->mem, result, &id, 1);
}

static void setup_read(proxy *p, session *s, const char *result)
{
    message m = {.arena = p->mem, .line = result, .n = strlen(result)};
    if (json_parse(p->mem, result, m.n, 0, &m.doc, NULL))
        session_read_setup(s, &m, m.doc.nodes);
}

/* ------------------------------------------------------------------ session/new */

void open_new(proxy *p, const message *m)
{
    asked *a = ask_note(p, m->id_raw, ASK_NEW, NULL);
    a->line = xmalloc(m->n + 1);
    memcpy(a->line, m->line, m->n + 1);
    a->n = m->n;
    agent_put(p, m->line, m->n);
}

void open_new_done(proxy *p, asked *a, const message *m)
{
    const char *inner = message_text(m, m->result, "sessionId");
    message request;
    if (!inner || message_read(&request, p->mem, a->line, a->n) != MESSAGE_FINE) {
        editor_put(p, m->line, m->n);
        return;
    }
    session *s = session_add(p, inner, inner);
    session_put_text(&s->cwd, message_text(&request, request.params, "cwd"));
    session_put_text(&s->mcp, message_raw(&request, request.params, "mcpServers"));
    session_put_text(&s->dirs, message_raw(&request, request.params, "additionalDirectories"));
    session_read_setup(s, m, m->result);
    if (record_new(p, s) != RAMET_OK) {
        editor_error(p, m->id_raw, JSONRPC_INTERNAL,
                     arena_printf(p->mem, "the session cannot be recorded: %s", store_error(p)),
                     NULL);
        session_drop(p, s);
        return;
    }
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (strcmp(s->outer, inner) != 0) {
        splice_node(&changes, message_at(m, m->result, "sessionId"), json_quote(p->mem, s->outer));
        line = splice_text(m, &changes, 0, m->n, &n);
    }
    editor_put(p, line, n);
    session_announce(p, s, true);
}

/* ------------------------------------------------------------------ session/load, session/resume
 */

static void load_answer(proxy *p, flow *f, session *s, const char *result)
{
    if (f->loads) {
        ramet_status rc = replay_send(p, s->outer);
        if (rc != RAMET_OK) {
            flow_store_fail(p, f, rc);
            return;
        }
    }
    if (f->id)
        editor_answer(p, f->id, result);
    session_announce(p, s, false);
    flow_end(p, f);
}

/* Loads a session that is open already, from what is known. */
static void load_open(proxy *p, flow *f, session *s)
{
    member all[] = {{"modes", s->modes}, {"configOptions", s->config}};
    load_answer(p, f, s, json_with(p->mem, NULL, all, 2));
}

/* The inner session was reopened, or replaced by a new one. */
static void load_made(proxy *p, flow *f)
{
    ramet_session *r;
    ramet_status rc = p->lib->ramet_session_get(p->call, f->outer, &r);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    session *s = session_add(p, f->outer, f->inner);
    session_put_text(&s->tree, r->tree_id);
    session_held_set(p, s, &r->head);
    s->seed = !f->swallow && !f->seeded && r->head.length > 0;
    options_keep(s, f);
    setup_read(p, s, f->result);
    ids_learn(p, s);
    if (!f->swallow)
        session_save(p, s);
    load_answer(p, f, s, result_with(p, f->result, NULL));
}

static void load_reopened(proxy *p, flow *f, const message *m)
{
    int64_t code = 0;
    if (m->error) {
        json_int(&m->doc, message_at(m, m->error, "code"), &code);
        if (code == JSONRPC_AUTH) {
            flow_refused(p, f, m);
            return;
        }
        f->swallow = false;
        session_put_text(&f->inner, NULL);
        inner_make(p, f, load_made);
        return;
    }
    char *inner = xstrdup(f->inner); /* the answer may name another session */
    flow_take_setup(p, f, m);
    session_put_text(&f->inner, inner);
    free(inner);
    load_made(p, f);
}

static const char *params_of(proxy *p, const flow *f, const char *inner)
{
    member all[] = {{"sessionId", json_quote(p->mem, inner)},
                    {"cwd", json_quote(p->mem, f->cwd ? f->cwd : "/")},
                    {"mcpServers", f->mcp ? f->mcp : "[]"},
                    {"additionalDirectories", f->dirs}};
    return json_with(p->mem, NULL, all, sizeof all / sizeof *all);
}

/* The editor's own parameters, with the inner session's id. */
static const char *params_same(proxy *p, const flow *f, const char *inner)
{
    message m;
    flow_message(p, f, &m);
    member all[] = {{"sessionId", json_quote(p->mem, inner)},
                    {"mcpServers", f->mcp ? f->mcp : "[]"}};
    return json_with(p->mem, json_raw(p->mem, &m.doc, m.params), all, 2);
}

/* Reads the settings to restore from the store, and the inner session if it contains exactly the
 * head. */
static const char *metadata_take(proxy *p, flow *f, const ramet_session *r)
{
    message m = {.arena = p->mem};
    const char *text = r->metadata ? r->metadata : "{}";
    if (!json_parse(p->mem, text, strlen(text), 0, &m.doc, NULL))
        return NULL;
    const json_node *acp = message_at(&m, m.doc.nodes, "acp");
    const char *mode = message_raw(&m, acp, "mode");
    const char *held = message_text(&m, acp, "held"), *inner = message_text(&m, acp, "inner");
    if (mode)
        session_put_text(&f->want_mode, arena_printf(p->mem, "{\"currentModeId\":%s}", mode));
    session_put_text(&f->want_config, message_raw(&m, acp, "configOptions"));
    char now[HELD_TEXT], erased[ERASED_TEXT];
    bool same = r->agent.name && strcmp(r->agent.name, p->options->name) == 0;
    return same && inner && held &&
                   strcmp(held, held_text(&r->head, erased_text(p, r->id, erased), now)) == 0
               ? inner
               : NULL;
}

static void load_recorded(proxy *p, flow *f, const ramet_session *r)
{
    const char *inner = metadata_take(p, f, r);
    if (!f->cwd && r->agent.folder)
        f->cwd = xstrdup(r->agent.folder);
    if (!inner || (!p->has.resume && !p->has.load)) {
        inner_make(p, f, load_made);
        return;
    }
    f->swallow = true;
    session_put_text(&f->inner, inner);
    flow_ask(p, f, p->has.resume ? "session/resume" : "session/load", params_same(p, f, inner),
             load_reopened);
}

/* ---- a session that only the agent knows */

/* Stores what the agent has replayed. */
static ramet_status adopted_store(proxy *p, flow *f)
{
    session *s = f->own;
    ids *seen = ids_of(p, s->tree);
    options_keep(s, f);
    setup_read(p, s, f->result);
    ramet_status rc = record_new(p, s);
    if (rc == RAMET_OK && s->turn && !turn_end(p, s, NULL, NULL))
        rc = p->lib->ramet_call_error(p->call)->status;
    if (rc != RAMET_OK)
        return rc;
    ids *now = ids_of(p, s->tree);
    free(now->slots);
    now->slots = seen->slots;
    now->n = seen->n;
    now->cap = seen->cap;
    seen->slots = NULL;
    seen->n = seen->cap = 0;
    f->own = NULL;
    s->next = p->sessions;
    p->sessions = s;
    session_save(p, s);
    return RAMET_OK;
}

static void adopt_refused(proxy *p, flow *f, const message *m)
{
    if (refused_as_unknown(m, f->outer))
        flow_fail(p, f, JSONRPC_NOT_FOUND, "no such session", data_session(p, f->outer));
    else
        flow_refused(p, f, m);
}

/* Some agents open any session they are asked for: one without history, which the agent does not
 * list, does not exist. */
static void adopt_listed(proxy *p, flow *f, const message *m)
{
    const json_node *all = message_at(m, m->result, "sessions");
    bool known = m->error || message_text(m, m->result, "nextCursor");
    for (const json_node *v = json_is(all, JSON_ARRAY) ? json_first(&m->doc, all) : NULL; v;
         v = json_next(&m->doc, all, v)) {
        const char *id = message_text(m, v, "sessionId");
        known |= id && strcmp(id, f->outer) == 0;
    }
    if (known)
        f->made(p, f);
    else
        flow_fail(p, f, JSONRPC_NOT_FOUND, "no such session", data_session(p, f->outer));
}

static void adopt_answered(proxy *p, flow *f, const message *m)
{
    if (m->error) {
        adopt_refused(p, f, m);
        return;
    }
    session_put_text(&f->result, json_raw(p->mem, &m->doc, m->result));
    if (!f->own->turn && p->has.list)
        flow_ask(p, f, "session/list", "{}", adopt_listed);
    else
        f->made(p, f);
}

static void adopted(proxy *p, flow *f)
{
    session *s = f->own;
    ramet_status rc = adopted_store(p, f);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    if (f->id)
        editor_answer(p, f->id, f->result);
    session_announce(p, s, false);
    flow_end(p, f);
}

static void own_make(flow *f)
{
    f->own = xcalloc(1, sizeof *f->own);
    f->own->outer = xstrdup(f->outer);
    f->own->inner = xstrdup(f->outer);
    f->own->tree = xstrdup(f->outer); /* its ids, until the store has given it a tree */
    session_put_text(&f->inner, f->outer);
}

static void adopt(proxy *p, flow *f, void (*done)(proxy *p, flow *f))
{
    f->swallow = true;
    f->made = done;
    own_make(f);
    flow_ask(p, f, "session/load", params_of(p, f, f->outer), adopt_answered);
}

static void load_unrecorded(proxy *p, flow *f)
{
    if (p->has.load)
        adopt(p, f, adopted);
    else if (p->has.resume && !f->loads) {
        own_make(f);
        f->made = adopted;
        flow_ask(p, f, "session/resume", params_same(p, f, f->outer), adopt_answered);
    } else
        flow_fail(p, f, JSONRPC_NOT_FOUND, "no such session", data_session(p, f->outer));
}

void open_load(proxy *p, const message *m)
{
    ramet_session *r;
    if (!m->session) {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "sessionId is missing", NULL);
        return;
    }
    flow *f = flow_new(p, m);
    f->loads = strcmp(m->method, "session/load") == 0;
    options_take(f, m);
    session *s = session_outer(p, m->session);
    if (s) {
        load_open(p, f, s);
        return;
    }
    ramet_status rc = p->lib->ramet_session_get(p->call, m->session, &r);
    if (rc == RAMET_OK)
        load_recorded(p, f, r);
    else if (rc == RAMET_SESSION_NOT_FOUND || rc == RAMET_BAD_ID)
        load_unrecorded(p, f);
    else
        flow_store_fail(p, f, rc);
}

/* ------------------------------------------------------------------ session/fork */

/* The fork exists in the agent; creates it in the store. */
static void fork_made(proxy *p, flow *f)
{
    ramet_session *out;
    session *s = session_add(p, f->inner, f->inner);
    options_keep(s, f);
    setup_read(p, s, f->result);
    ramet_agent agent = agent_of(p, f->cwd);
    ramet_fork_in in = {.at = {f->entry, f->side},
                        .id = f->inner,
                        .title = f->title,
                        .agent = &agent,
                        .metadata = session_metadata(p, s, NULL)};
    ramet_status rc = p->lib->ramet_fork(p->call, f->outer, &in, &out, NULL);
    if (rc == RAMET_SESSION_EXISTS || rc == RAMET_SESSION_DELETED || rc == RAMET_BAD_ID) {
        in.id = NULL;
        rc = p->lib->ramet_fork(p->call, f->outer, &in, &out, NULL);
    }
    if (rc != RAMET_OK) {
        session_drop(p, s);
        flow_store_fail(p, f, rc);
        return;
    }
    session_put_text(&s->outer, out->id);
    session_put_text(&s->tree, out->tree_id);
    session_held_set(p, s, &out->head);
    s->seed = !f->native && !f->seeded && out->head.length > 0;
    const char *title = arena_strdup(p->mem, out->shown_title);
    ids_learn(p, s);
    if (f->native || f->seeded)
        session_save(p, s);
    if (f->slash) {
        session_announce(p, s, false);
        command_say(p, f, arena_printf(p->mem, "Forked: %s\n%s", s->outer, title));
        return;
    }
    if (f->id)
        editor_answer(p, f->id, result_with(p, f->result, s->outer));
    info_send(p, out);
    session_announce(p, s, false);
    flow_end(p, f);
}

static void fork_emulate(proxy *p, flow *f)
{
    f->native = false;
    session_put_text(&f->inner, NULL);
    inner_make(p, f, fork_made);
}

static void fork_native_done(proxy *p, flow *f, const message *m)
{
    int64_t code = 0;
    const session *s = session_outer(p, f->outer);
    json_int(&m->doc, message_at(m, m->error, "code"), &code);
    if (m->error && (code == JSONRPC_NO_METHOD || refused_as_unknown(m, s ? s->inner : f->outer))) {
        fork_emulate(p, f);
    } else if (!m->result || !message_text(m, m->result, "sessionId")) {
        flow_refused(p, f, m);
    } else {
        flow_take_setup(p, f, m);
        inner_settle(p, f, fork_made);
    }
}

/* Our own _meta is not meant for the agent, least of all an anchor. */
static const char *fork_params(proxy *p, const flow *f, const session *s)
{
    message m;
    flow_message(p, f, &m);
    const char *meta = message_raw(&m, m.params, "_meta");
    const char *jetbrains = message_raw(&m, m.params, "_meta.jetbrains");
    member anchor = {"fork", NULL};
    member air = {
        "air", message_at(&m, m.params, "_meta.jetbrains.air.fork")
                   ? json_with(p->mem, message_raw(&m, m.params, "_meta.jetbrains.air"), &anchor, 1)
                   : message_raw(&m, m.params, "_meta.jetbrains.air")};
    member out[] = {{"ramet", NULL},
                    {"jetbrains", jetbrains ? json_with(p->mem, jetbrains, &air, 1) : NULL}};
    member all[] = {{"sessionId", json_quote(p->mem, s->inner)},
                    {"cwd", json_quote(p->mem, f->cwd ? f->cwd : "/")},
                    {"mcpServers", f->mcp ? f->mcp : "[]"},
                    {"_meta", meta ? json_with(p->mem, meta, out, 2) : NULL}};
    if (f->slash)
        return json_with(p->mem, NULL, all, 3);
    return json_with(p->mem, json_raw(p->mem, &m.doc, m.params), all, 4);
}

/* ---- where to cut */

/* The n-th message of the agent with that text. */
static char *fingerprint_find(proxy *p, const char *outer, const char *print, int64_t occurrence)
{
    ramet_stream *stream;
    const ramet_entry *e;
    char *found = NULL, hex[2 * HASH_LEN + 1];
    uint8_t hash[HASH_LEN];
    if (strncmp(print, "sha256:", 7) != 0 ||
        p->lib->ramet_stream_open(p->call, outer, &(ramet_read_in){0}, &stream) != RAMET_OK)
        return NULL;
    sha *h = sha_new();
    while (!found && p->lib->ramet_stream_next(stream, &e) == RAMET_OK && e) {
        if (e->role != RAMET_ASSISTANT || !*e->text)
            continue;
        sha_begin(h);
        sha_add(h, e->text, strlen(e->text));
        sha_end(h, hash);
        hex_encode(hash, HASH_LEN, hex);
        if (strcmp(hex, print + 7) == 0 && --occurrence == 0)
            found = xstrdup(e->id);
    }
    sha_free(h);
    p->lib->ramet_stream_close(stream);
    return found;
}

/* Checks that the anchor is on the path; `keep` is the number of entries that stay. */
static bool anchor_find(proxy *p, flow *f, const char *print, int64_t occurrence)
{
    ramet_entry *e;
    if (p->lib->ramet_entry_get(p->call, f->outer, 0, f->entry, &e) != RAMET_OK) {
        char *other = print ? fingerprint_find(p, f->outer, print, occurrence) : NULL;
        if (!other || p->lib->ramet_entry_get(p->call, f->outer, 0, other, &e) != RAMET_OK) {
            const char *id = json_quote(p->mem, f->entry);
            free(other);
            flow_fail(p, f, JSONRPC_PARAMS, "no such message in this session",
                      arena_printf(p->mem, "{\"messageId\":%s}", id));
            return false;
        }
        free(f->entry);
        f->entry = other;
    }
    f->keep = e->position + (f->side == RAMET_AFTER);
    return true;
}

bool anchor_take(proxy *p, flow *f, const message *m)
{
    const json_node *own = message_at(m, m->params, "_meta.ramet.fork");
    const json_node *air = message_at(m, m->params, "_meta.jetbrains.air.fork");
    const char *id = message_text(m, own ? own : air, "messageId");
    const char *position = message_text(m, own, "position");
    const char *print = own ? NULL : message_text(m, air, "messageFingerprint");
    int64_t occurrence = 1;
    if (!id)
        return true;
    int side = position ? ramet_side_parse(position) : RAMET_AFTER;
    if (side < 0) {
        flow_fail(p, f, JSONRPC_PARAMS, "position is neither \"before\" nor \"after\"", NULL);
        return false;
    }
    f->side = (ramet_side)side;
    session_put_text(&f->entry, id);
    char *segment = own ? NULL : strstr(f->entry, ":segment:");
    if (segment)
        *segment = 0;
    json_int(&m->doc, message_at(m, air, "messageOccurrence"), &occurrence);
    return anchor_find(p, f, print, occurrence);
}

void fork_recorded(proxy *p, flow *f, const ramet_session *r)
{
    session *s = session_outer(p, f->outer);
    bool running = s && turn_asked(s->turn), head = f->keep < 0 || f->keep == r->head.length;
    if (running && f->keep < 0 && turn_question(s->turn)) {
        ramet_entry *e;
        session_put_text(&f->entry, turn_question(s->turn));
        f->side = RAMET_BEFORE;
        if (p->lib->ramet_entry_get(p->call, f->outer, 0, f->entry, &e) == RAMET_OK)
            f->keep = e->position;
    }
    if (s)
        flow_like(f, s);
    else
        metadata_take(p, f, r);
    if (!f->cwd && r->agent.folder)
        f->cwd = xstrdup(r->agent.folder);
    f->native = p->has.fork && s && !running && head && !s->seed && !s->aside &&
                session_holds(p, s, &r->head);
    if (f->native) {
        f->swallow = true;
        flow_ask(p, f, "session/fork", fork_params(p, f, s), fork_native_done);
    } else {
        fork_emulate(p, f);
    }
}

/* The source is recorded now: forks it like any other. */
static void fork_adopted(proxy *p, flow *f)
{
    message again;
    session *s = f->own;
    ramet_status rc = adopted_store(p, f);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    s->open = true;
    char *line = f->line;
    f->line = NULL;
    size_t n = f->n;
    flow_end(p, f);
    if (message_read(&again, p->mem, line, n) == MESSAGE_FINE)
        open_fork(p, &again);
    free(line);
}

void open_fork(proxy *p, const message *m)
{
    ramet_session *r;
    if (!m->session) {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "sessionId is missing", NULL);
        return;
    }
    session *s = session_outer(p, m->session);
    if (s && s->turn && !turn_asked(s->turn))
        turn_end(p, s, NULL, NULL);
    flow *f = flow_new(p, m);
    options_take(f, m);
    ramet_status rc = p->lib->ramet_session_get(p->call, m->session, &r);
    if (rc == RAMET_OK) {
        if (anchor_take(p, f, m))
            fork_recorded(p, f, r);
    } else if (rc != RAMET_SESSION_NOT_FOUND && rc != RAMET_BAD_ID) {
        flow_store_fail(p, f, rc);
    } else if (p->has.load) {
        adopt(p, f, fork_adopted);
    } else if (p->has.fork && !message_at(m, m->params, "_meta.ramet.fork") &&
               !message_at(m, m->params, "_meta.jetbrains.air.fork")) {
        flow_end(p, f);
        open_new(p, m); /* its record begins with the fork */
    } else {
        flow_fail(p, f, JSONRPC_NOT_FOUND, "no such session", data_session(p, m->session));
    }
}
