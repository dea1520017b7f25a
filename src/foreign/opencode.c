/* SPDX-License-Identifier: Apache-2.0
 *
 * opencode.c: sessions of OpenCode, as `opencode export SESSION` writes them ({info, messages:
 * [{info, parts}]}), or from the folder storage/ of versions that kept them in files
 * (session/PROJECT/ID.json, message/SESSION/ID.json, part/MESSAGE/ID.json).
 *
 *   O1  A session is a list; ids sort by time. A fork (`fork` of its API) copies messages and parts
 *       under new ids and keeps their times.
 *   O2  A session with a parentID is that of a subagent, and has nothing of its parent's history.
 */
#include "foreign/foreign.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------- index */

/* Whether a folder of that name is on the path of a member. */
static bool under(const foreign_member *m, const char *folder)
{
    size_t n = strlen(folder);
    for (const char *p = m->name; (p = strstr(p, folder)); p++)
        if ((p == m->name || p[-1] == '/') && p[n] == '/')
            return true;
    return false;
}

static ramet_status index_storage(foreign_job *j, const foreign_member *m, const json_doc *d,
                                  arena *a)
{
    const char *session = pick_text(a, d, d->nodes, "sessionID");
    if (!session && under(m, "session"))
        session = pick_text(a, d, d->nodes, "id");
    if (session)
        return source_add(j, session, member_span(j, m));
    skip_note(j, "files of the storage that are no session, message or part", m, 0);
    return RAMET_OK;
}

static ramet_status index_file(foreign_job *j, const foreign_member *m)
{
    json_doc d;
    foreign_span s = member_span(j, m);
    if (*m->name && !member_ends(m, ".json")) {
        skip_note(j, "files that are not JSON (.json)", m, 0);
        return RAMET_OK;
    }
    arena *a = arena_new();
    ramet_status st = RAMET_OK;
    if (m->n && m->at[0] == '[')
        st = input_elements(j, m);
    else if (!foreign_parse(a, &s, &d))
        skip_note(j, "files that are not JSON objects", m, 0);
    else if (json_get(&d, d.nodes, "messages"))
        st = source_add(j, NULL, s);
    else
        st = index_storage(j, m, &d, a);
    arena_free(a);
    return st;
}

/* ------------------------------------------------------------------------ messages */

static void tool_take(foreign_message *m, const json_doc *d, const json_node *p)
{
    arena *a = m->conversation->mem;
    const json_node *state = json_get(d, p, "state"), *input = json_get(d, state, "input");
    const char *id = pick_text(a, d, p, "callID");
    const char *output = pick_text(a, d, state, "output");
    const char *error = pick_text(a, d, state, "error");
    msg_call(m, id, pick_text(a, d, p, "tool"), input ? pick_json(a, d, input) : NULL);
    if (output || error)
        msg_result(m, id, json_quote(a, error ? error : output), error != NULL);
}

static void part_take(foreign_message *m, const json_doc *d, const json_node *p)
{
    arena *a = m->conversation->mem;
    const json_node *type = json_get(d, p, "type");
    const char *url = pick_text(a, d, p, "url");
    if (pick_is(d, type, "text"))
        msg_text(m, pick_text(a, d, p, "text"));
    else if (pick_is(d, type, "reasoning"))
        msg_thinking(m, pick_text(a, d, p, "text"));
    else if (pick_is(d, type, "tool"))
        tool_take(m, d, p);
    else if (pick_is(d, type, "file") && url)
        msg_url(m, url, pick_text(a, d, p, "filename"), pick_text(a, d, p, "mime"));
    /* The rest (steps, snapshots, patches) is no content. */
}

static void usage_take(foreign_message *m, const json_doc *d, const json_node *info)
{
    const json_node *tokens = json_get(d, info, "tokens"), *cache = json_get(d, tokens, "cache");
    int64_t cost;
    if (!pick_usage(d, tokens, "input", "output", NULL, &m->usage))
        return;
    m->usage.cached = pick_int(d, cache, "read");
    m->usage.input += m->usage.cached + pick_int(d, cache, "write");
    m->usage.output += pick_int(d, tokens, "reasoning");
    const json_node *price = json_get(d, info, "cost");
    if (price && json_nano(d, price, &cost) && cost > 0) {
        m->usage.cost = cost;
        m->usage.currency = "USD";
    }
    m->has_usage = m->usage.input || m->usage.output;
}

/* Begins a message from its info. */
static void info_take(foreign_message *m, foreign_job *j, foreign_conversation *c,
                      const json_doc *d, const json_node *info)
{
    arena *a = c->mem;
    bool user = pick_is(d, json_get(d, info, "role"), "user");
    const char *model = pick_text(a, d, info, "modelID");
    msg_begin(m, j, c, pick_text(a, d, info, "id"), user ? RAMET_USER : RAMET_ASSISTANT,
              pick_time(a, d, json_get(d, info, "time"), "created"));
    if (model)
        c->model = model;
    usage_take(m, d, info);
}

static void session_take(foreign_conversation *c, const json_doc *d, const json_node *info)
{
    arena *a = c->mem;
    const char *parent = pick_text(a, d, info, "parentID");
    const json_node *time = json_get(d, info, "time");
    c->id = pick_text(a, d, info, "id");
    c->title = pick_text(a, d, info, "title");
    c->folder = pick_text(a, d, info, "directory");
    c->created = pick_time(a, d, time, "created");
    c->archived = pick_time(a, d, time, "archived") != 0;
    if (parent) {
        c->link = LINK_BELOW;
        c->parent = parent;
    }
}

/* ------------------------------------------------------------------------- exports */

static void export_take(foreign_job *j, foreign_conversation *c, const json_doc *d)
{
    int64_t up = -1;
    const json_node *list = json_get(d, d->nodes, "messages");
    session_take(c, d, json_get(d, d->nodes, "info"));
    for (const json_node *e = json_is(list, JSON_ARRAY) ? json_first(d, list) : NULL; e;
         e = json_next(d, list, e)) {
        foreign_message m;
        const json_node *parts = json_get(d, e, "parts");
        info_take(&m, j, c, d, json_get(d, e, "info"));
        m.up = up;
        for (const json_node *p = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; p;
             p = json_next(d, parts, p))
            part_take(&m, d, p);
        up = msg_end(&m);
    }
}

/* ------------------------------------------------------------------------- storage */

/* A file of the storage: a message, or a part of one. */
typedef struct stored {
    const char *message, *part; /* ids; part NULL: the message itself */
    json_doc doc;
} stored;

static int stored_order(const void *a, const void *b)
{
    const stored *x = a, *y = b;
    int by = strcmp(x->message, y->message);
    if (by || !x->part || !y->part)
        return by ? by : (x->part != NULL) - (y->part != NULL);
    return strcmp(x->part, y->part);
}

static void storage_take(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    VEC(stored) list = {0};
    int64_t up = -1;
    for (size_t i = 0; i < s->spans.n; i++) {
        stored f = {0};
        if (!foreign_parse(c->mem, &s->spans.items[i], &f.doc))
            continue;
        const json_node *o = f.doc.nodes;
        const char *id = pick_text(c->mem, &f.doc, o, "id");
        f.message = pick_text(c->mem, &f.doc, o, "messageID");
        if (f.message)
            f.part = id;
        else if (json_get(&f.doc, o, "role"))
            f.message = id;
        else
            session_take(c, &f.doc, o);
        if (f.message && (!f.part || id))
            VEC_PUSH(c->mem, &list, f);
    }
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, stored_order);
    for (size_t i = 0; i < list.n;) {
        foreign_message m;
        const stored *f = &list.items[i++];
        if (f->part) {
            skip_note(j, "parts whose message is not there", NULL, 0);
            continue;
        }
        info_take(&m, j, c, &f->doc, f->doc.nodes);
        m.up = up;
        for (; i < list.n && list.items[i].part && strcmp(list.items[i].message, f->message) == 0;
             i++)
            part_take(&m, &list.items[i].doc, list.items[i].doc.nodes);
        up = msg_end(&m);
    }
}

static bool load(foreign_job *j, const foreign_source *s, foreign_conversation *c)
{
    json_doc d;
    if (s->id) {
        storage_take(j, s, c);
        if (!c->id)
            c->id = s->id;
        return true;
    }
    if (!source_parse(j, s, c->mem, &d))
        return false;
    export_take(j, c, &d);
    if (c->id)
        return true;
    skip_span(j, "conversations without info.id", s->spans.items);
    return false;
}

const foreign_reader foreign_opencode = {.index = index_file, .load = load};
