/* SPDX-License-Identifier: Apache-2.0
 *
 * list.c: lists sessions (those of the record, then those that only the agent knows), closes and
 * deletes them. Deleted sessions are remembered, because an agent may still list them: as entries
 * of an archived session of the store that belongs to the agent's name.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 50, SCAN = 1000 };

static bool missing(ramet_status rc)
{
    return rc == RAMET_SESSION_NOT_FOUND || rc == RAMET_HIDDEN || rc == RAMET_BAD_ID;
}

/* ------------------------------------------------------------------ what was deleted */

static const char *grave_id(proxy *p)
{
    return arena_printf(p->mem, "acp-deleted:%s:%s", p->options->user ? p->options->user : "",
                        p->options->name);
}

static void grave_add(proxy *p, const char *inner)
{
    ramet_session *out;
    ramet_append_out added;
    const char *id = grave_id(p);
    bool yes = true;
    ramet_entry_in e = {.role = RAMET_SYSTEM, .text = inner};
    ramet_append_in in = {.entries = &e, .n = 1};
    if (p->lib->ramet_append(p->call, id, &in, &added) == RAMET_OK)
        return;
    ramet_session_in make = {
        .id = id, .title = "Deleted ACP sessions", .visibility = RAMET_PRIVATE};
    ramet_session_patch patch = {.archived = &yes};
    if (p->lib->ramet_session_create(p->call, &make, &out) != RAMET_OK ||
        p->lib->ramet_session_update(p->call, id, &patch, &out) != RAMET_OK ||
        p->lib->ramet_append(p->call, id, &in, &added) != RAMET_OK)
        complain("that %s was deleted could not be remembered: %s", inner, store_error(p));
}

/* ------------------------------------------------------------------ deleted sessions */

static void hidden_add(proxy *p, ids *set, const ramet_session *r)
{
    message m = {.arena = p->mem};
    ids_add(set, r->id);
    if (!r->metadata || !json_parse(p->mem, r->metadata, strlen(r->metadata), 0, &m.doc, NULL))
        return;
    const json_node *acp = message_at(&m, m.doc.nodes, "acp"), *old = message_at(&m, acp, "left");
    const char *inner = message_text(&m, acp, "inner");
    if (inner)
        ids_add(set, inner);
    for (const json_node *v = json_is(old, JSON_ARRAY) ? json_first(&m.doc, old) : NULL; v;
         v = json_next(&m.doc, old, v))
        ids_add(set, json_text(p->mem, &m.doc, v));
}

/* Collects every id under which the agent may list a recorded or deleted session. */
static void hidden_learn(proxy *p, ids *set)
{
    ramet_call *own = p->lib->ramet_call_new(p->options->store, p->options->user, "ramet-acp");
    ramet_list_in in = {
        .limit = SCAN, .agent = p->options->name, .archived = RAMET_ARCHIVED_INCLUDE};
    ramet_session_list page;
    ramet_stream *graves;
    const ramet_entry *e;
    char *cursor = NULL;
    do {
        in.cursor = cursor;
        if (p->lib->ramet_session_find(own, &in, &page) != RAMET_OK)
            break;
        for (size_t i = 0; i < page.n; i++)
            hidden_add(p, set, &page.items[i]);
        session_put_text(&cursor, page.next_cursor);
        p->lib->ramet_call_reset(own);
    } while (cursor);
    free(cursor);
    if (p->lib->ramet_stream_open(own, grave_id(p), &(ramet_read_in){0}, &graves) == RAMET_OK) {
        while (p->lib->ramet_stream_next(graves, &e) == RAMET_OK && e)
            ids_add(set, e->text);
        p->lib->ramet_stream_close(graves);
    }
    p->lib->ramet_call_free(own);
    for (const session *s = p->sessions; s; s = s->next) {
        ids_add(set, s->inner);
        for (const left *l = s->left; l; l = l->next)
            ids_add(set, l->inner);
    }
}

/* ------------------------------------------------------------------ session/list */

void lineage_write(json_writer *w, const ramet_session *r)
{
    char branch[24];
    jw_key(w, "_meta");
    jw_object(w);
    jw_key(w, "ramet");
    jw_object(w);
    if (r->parent_id) {
        jw_kstr(w, "forkedFrom", r->parent_id);
        jw_key(w, "forkPoint");
        if (r->fork_entry_id) {
            jw_object(w);
            jw_kstr(w, "messageId", r->fork_entry_id);
            jw_kstr(w, "position", ramet_side_name(r->fork_side));
            jw_end_object(w);
        } else {
            jw_null(w);
        }
    }
    jw_kstr(w, "tree", r->tree_id);
    jw_kstr(w, "branch", ramet_branch_text(r->head.branch, branch));
    jw_kint(w, "messages", r->head.length);
    jw_end_object(w);
    jw_end_object(w);
}

static void info_write(json_writer *w, const ramet_session *r)
{
    char when[TIME_TEXT];
    jw_object(w);
    jw_kstr(w, "sessionId", r->id);
    jw_kstr(w, "cwd", r->agent.folder);
    if (r->shown_title && *r->shown_title)
        jw_kstr(w, "title", r->shown_title);
    jw_kstr(w, "updatedAt", time_text(r->updated, when));
    lineage_write(w, r);
    jw_end_object(w);
}

/* Answers with the items collected in f->result, separated by commas. */
static void list_answer(proxy *p, flow *f, const char *cursor)
{
    const char *next =
        cursor ? arena_printf(p->mem, ",\"nextCursor\":%s", json_quote(p->mem, cursor)) : "";
    flow_answer(p, f,
                arena_printf(p->mem, "{\"sessions\":[%s]%s}", f->result ? f->result : "", next));
}

static void list_add(proxy *p, flow *f, const char *items)
{
    if (*items)
        session_put_text(&f->result, f->result && *f->result
                                         ? arena_printf(p->mem, "%s,%s", f->result, items)
                                         : items);
}

static void list_agents(proxy *p, flow *f, const message *m)
{
    const json_node *all = message_at(m, m->result, "sessions");
    const char *next = message_text(m, m->result, "nextCursor");
    ids known = {0};
    buf b;
    if (m->error && !(f->result && *f->result)) {
        flow_refused(p, f, m);
        return;
    }
    buf_init(&b, ACP_LINE_MAX);
    hidden_learn(p, &known);
    for (const json_node *v = json_is(all, JSON_ARRAY) ? json_first(&m->doc, all) : NULL; v;
         v = json_next(&m->doc, all, v)) {
        const char *id = message_text(m, v, "sessionId");
        if (id && ids_add(&known, id))
            buf_printf(&b, "%s%s", b.n ? "," : "", json_raw(p->mem, &m->doc, v));
    }
    free(known.slots);
    list_add(p, f, buf_keep(&b, p->mem));
    list_answer(p, f, next ? arena_printf(p->mem, "a:%s", next) : NULL);
}

static void list_more(proxy *p, flow *f, const message *m, const char *cursor)
{
    member all[] = {{"cwd", message_raw(m, m->params, "cwd")},
                    {"cursor", cursor && *cursor ? json_quote(p->mem, cursor) : NULL}};
    if (p->has.list)
        flow_ask(p, f, "session/list",
                 json_with(p->mem, m->params ? json_raw(p->mem, &m->doc, m->params) : NULL, all, 2),
                 list_agents);
    else
        list_answer(p, f, NULL);
}

/* Lists one page of the record; after the last one, asks the agent. */
static void list_own(proxy *p, flow *f, const message *m, const char *cursor)
{
    const char *cwd = message_text(m, m->params, "cwd");
    ramet_list_in in = {.limit = PAGE, .cursor = cursor, .agent = p->options->name};
    ramet_session_list page;
    buf b;
    json_writer w;
    ramet_status rc = p->lib->ramet_session_find(p->call, &in, &page);
    if (rc != RAMET_OK) {
        flow_fail(p, f, rc == RAMET_BAD_CURSOR ? JSONRPC_PARAMS : JSONRPC_INTERNAL,
                  arena_strdup(p->mem, store_error(p)), NULL);
        return;
    }
    buf_init(&b, ACP_LINE_MAX);
    for (size_t i = 0; i < page.n; i++) {
        const ramet_session *r = &page.items[i];
        if (!r->agent.folder || (cwd && strcmp(cwd, r->agent.folder) != 0))
            continue;
        if (b.n)
            buf_putc(&b, ',');
        jw_init(&w, &b, 0);
        info_write(&w, r);
    }
    list_add(p, f, buf_keep(&b, p->mem));
    if (page.next_cursor)
        list_answer(p, f, arena_printf(p->mem, "r:%s", page.next_cursor));
    else
        list_more(p, f, m, NULL);
}

void list_ask(proxy *p, const message *m)
{
    const char *cursor = message_text(m, m->params, "cursor");
    flow *f = flow_new(p, m);
    if (!cursor || strncmp(cursor, "r:", 2) == 0)
        list_own(p, f, m, cursor ? cursor + 2 : NULL);
    else if (strncmp(cursor, "a:", 2) == 0 && p->has.list)
        list_more(p, f, m, cursor + 2);
    else
        flow_fail(p, f, JSONRPC_PARAMS, "the cursor was not made by this list", NULL);
}

/* ------------------------------------------------------------------ session/delete */

static const char *inner_of(proxy *p, const char *outer)
{
    const session *s = session_outer(p, outer);
    ramet_session *r;
    message m = {.arena = p->mem};
    if (s)
        return arena_strdup(p->mem, s->inner);
    if (p->lib->ramet_session_get(p->call, outer, &r) == RAMET_OK && r->metadata &&
        json_parse(p->mem, r->metadata, strlen(r->metadata), 0, &m.doc, NULL)) {
        const char *inner = message_text(&m, m.doc.nodes, "acp.inner");
        return inner ? inner : arena_strdup(p->mem, outer);
    }
    return arena_strdup(p->mem, outer);
}

static void delete_own(proxy *p, flow *f)
{
    ramet_delete_out out;
    const char *inner = inner_of(p, f->outer);
    session *s = session_outer(p, f->outer);
    ramet_status rc = p->lib->ramet_session_delete(p->call, f->outer, false, false, &out);
    if (rc != RAMET_OK && !missing(rc)) {
        flow_store_fail(p, f, rc);
        return;
    }
    if (p->has.list && (rc == RAMET_OK || !p->has.del))
        grave_add(p, inner);
    if (s)
        session_close(p, s);
    flow_answer(p, f, "{}");
}

static void delete_passed(proxy *p, flow *f, const message *m)
{
    if (m->error && !refused_as_unknown(m, inner_of(p, f->outer)))
        flow_refused(p, f, m);
    else
        delete_own(p, f);
}

void list_delete(proxy *p, const message *m)
{
    if (!m->session) {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "sessionId is missing", NULL);
        return;
    }
    flow *f = flow_new(p, m);
    session *s = session_outer(p, m->session);
    if (s && turn_asked(s->turn))
        agent_notify(p, "session/cancel", data_session(p, s->inner));
    if (p->has.del)
        flow_ask(p, f, "session/delete", data_session(p, inner_of(p, m->session)), delete_passed);
    else
        delete_own(p, f);
}

/* ------------------------------------------------------------------ session/close */

static void close_own(proxy *p, const char *outer)
{
    session *s = session_outer(p, outer);
    if (!s)
        return;
    if (!turn_end(p, s, turn_asked(s->turn) ? "cancelled" : NULL, NULL))
        complain("the last turn of %s could not be recorded: %s", outer, store_error(p));
    session_close(p, s);
}

void list_close(proxy *p, const message *m)
{
    session *s = session_outer(p, m->session);
    size_t n = m->n;
    const char *line = m->line;
    splices changes = {0};
    if (p->has.close) {
        ask_note(p, m->id_raw, ASK_CLOSE, m->session);
        if (s && strcmp(s->inner, s->outer) != 0) {
            splice_node(&changes, message_at(m, m->params, "sessionId"),
                        json_quote(p->mem, s->inner));
            line = splice_text(m, &changes, 0, m->n, &n);
        }
        agent_put(p, line, n);
        return;
    }
    if (!s) {
        editor_error(p, m->id_raw, JSONRPC_NOT_FOUND, "no such session is open",
                     data_session(p, m->session));
        return;
    }
    if (turn_asked(s->turn))
        agent_notify(p, "session/cancel", data_session(p, s->inner));
    close_own(p, m->session);
    editor_answer(p, m->id_raw, "{}");
}

void list_close_done(proxy *p, asked *a, const message *m)
{
    const session *s = session_outer(p, a->outer);
    const json_node *id = message_at(m, m->error, "data.sessionId");
    splices changes = {0};
    size_t n = m->n;
    const char *line = m->line;
    if (s && id) {
        splice_node(&changes, id, json_quote(p->mem, s->outer));
        line = splice_text(m, &changes, 0, m->n, &n);
    }
    if (m->result)
        close_own(p, a->outer);
    editor_put(p, line, n);
}
