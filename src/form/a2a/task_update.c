/* SPDX-License-Identifier: Apache-2.0
 *
 * task_update.c: updates a task. A runtime sends the whole task again and again, and only what is
 * new is stored. Messages are matched by id: those the task already has stay, new ones are appended
 * at the end of the path. The head moves only when one of the task's own messages is missing from
 * the list or differs: a sync, in which the messages of other tasks keep their places.
 *
 * The history may change between reading and writing. Each write therefore names the history it was
 * prepared for, and is prepared again when that has changed.
 */
#include "form/a2a/a2a_internal.h"

#include "base/util.h"
#include "ramet/tasks.h"

#include <string.h>

enum { PAGE = 1000, TRIES = 16 };

/* ----------------------------------------------------------------- comparing */

const char *a2a_derived(arena *a, const char *session, const char *what)
{
    uint8_t digest[HASH_LEN];
    char id[UUID_TEXT];
    sha *h = sha_new();
    sha_begin(h);
    sha_add(h, session, strlen(session) + 1);
    sha_add(h, what, strlen(what));
    sha_end(h, digest);
    sha_free(h);
    return arena_strdup(a, uuid8(digest, id));
}

static bool empty(const json_node *v)
{
    return !v || json_is(v, JSON_NULL);
}

/* Whether every member of v that is not null is equal in u. */
static bool covers(arena *a, const json_doc *d, const json_node *v, const json_doc *e,
                   const json_node *u)
{
    const json_node *value;
    for (const json_node *k = json_first(d, v); k; k = json_next(d, v, value)) {
        value = json_next(d, v, k);
        const json_node *other = json_get(e, u, json_text(a, d, k));
        if (!empty(value) && (empty(other) || !a2a_json_same(a, d, value, e, other)))
            return false;
        if (empty(value) && !empty(other))
            return false;
    }
    return true;
}

bool a2a_json_same(arena *a, const json_doc *d, const json_node *v, const json_doc *e,
                   const json_node *u)
{
    if (empty(v) || empty(u))
        return empty(v) && empty(u);
    if (v->type != u->type)
        return false;
    if (json_is(v, JSON_OBJECT))
        return covers(a, d, v, e, u) && covers(a, e, u, d, v);
    if (json_is(v, JSON_STRING))
        return strcmp(json_text(a, d, v), json_text(a, e, u)) == 0;
    if (!json_is(v, JSON_ARRAY))
        return strcmp(json_raw(a, d, v), json_raw(a, e, u)) == 0;
    if (v->count != u->count)
        return false;
    const json_node *y = json_first(e, u);
    for (const json_node *x = json_first(d, v); x; x = json_next(d, v, x)) {
        if (!a2a_json_same(a, d, x, e, y))
            return false;
        y = json_next(e, u, y);
    }
    return true;
}

static bool text_same(arena *a, const char *x, const char *y)
{
    json_doc d, e;
    if (strcmp(x, y) == 0)
        return true;
    return json_parse(a, x, strlen(x), SIZE_MAX, &d, NULL) &&
           json_parse(a, y, strlen(y), SIZE_MAX, &e, NULL) &&
           a2a_json_same(a, &d, &d.nodes[0], &e, &e.nodes[0]);
}

/* Compares metadata, ignoring an invocation id that only the message has: we may have added it. */
static bool metadata_same(arena *a, const a2a_message *m, const ramet_entry *e)
{
    static const char *const stamps[] = {"kagent_invocation_id", "adk_invocation_id"};
    json_doc d;
    if (!json_parse(a, e->body, strlen(e->body), SIZE_MAX, &d, NULL))
        return false;
    const json_node *mine = json_get(m->doc, m->node, "metadata"),
                    *theirs = json_get(&d, &d.nodes[0], "metadata");
    if (a2a_json_same(a, m->doc, mine, &d, theirs))
        return true;
    size_t extra = 0;
    for (size_t i = 0; i < 2; i++)
        extra += json_get(m->doc, mine, stamps[i]) && !json_get(&d, theirs, stamps[i]);
    return extra && covers(a, &d, theirs, m->doc, mine) &&
           mine->count == extra + (empty(theirs) ? 0 : theirs->count);
}

/* Whether an entry of the task holds the message: under its own id or one derived from it. */
static bool id_is(arena *a, const char *task, const a2a_message *m, const ramet_entry *e)
{
    return strcmp(m->id, e->id) == 0 || strcmp(a2a_derived(a, task, m->id), e->id) == 0;
}

/* Whether the contents are equal. An entry that was not sent as a message needs only the same
 * role. */
static bool content_same(arena *a, const a2a_message *m, const ramet_entry *e)
{
    if ((m->role == RAMET_USER) != (e->role == RAMET_USER))
        return false;
    if (strcmp(e->format, "a2a") != 0 || !e->body || strcmp(m->body, e->body) == 0)
        return true;
    return text_same(a, m->parts, e->parts) && metadata_same(a, m, e);
}

/* The same for a message in another task. A runtime that passes a message on may add metadata, so
 * that is not compared. */
static bool shown_same(arena *a, const a2a_message *m, const ramet_entry *e)
{
    return (m->role == RAMET_USER) == (e->role == RAMET_USER) &&
           (strcmp(e->format, "a2a") != 0 || text_same(a, m->parts, e->parts));
}

/* ------------------------------------------------------------------- the list */

/* A hash table from ids to numbers. */
typedef struct id_table {
    struct {
        const char *id;
        size_t n;
    } * slot;
    size_t slots;
} id_table;

static id_table table_new(arena *a, size_t n)
{
    id_table t = {.slots = 16};
    while (t.slots < n * 2 + 2)
        t.slots *= 2;
    t.slot = arena_array(a, t.slots, sizeof *t.slot);
    return t;
}

static size_t table_at(const id_table *t, const char *id)
{
    size_t s = hash_text(id) & (t->slots - 1);
    while (t->slot[s].id && strcmp(t->slot[s].id, id) != 0)
        s = (s + 1) & (t->slots - 1);
    return s;
}

static size_t table_find(const id_table *t, const char *id)
{
    return t->slot[table_at(t, id)].n;
}

static void table_add(id_table *t, const char *id, size_t n)
{
    size_t s = table_at(t, id);
    t->slot[s].id = id;
    t->slot[s].n = n;
}

typedef VEC(ramet_entry_in) in_list;
typedef VEC(ramet_entry) entry_list;

typedef struct put {
    ramet_call *call;
    arena *arena;
    const char *session;
    const a2a_task_in *in;
    int64_t branch; /* the branch of a task that was cut off; 0: the head */
    const char *head;
    entry_list path;               /* entries from the task's first message on */
    VEC(const a2a_message *) list; /* the messages the task must have, without duplicates */
    VEC(const char *) ids;         /* ids of their entries */
    id_table own, listed;          /* entries of the task, messages of the list */
} put;

static bool own_entry(const put *p, const ramet_entry *e)
{
    return e->turn_id && strcmp(e->turn_id, p->in->id) == 0 && strcmp(e->channel, "history") == 0;
}

/* The task's entry for a message; NULL if there is none. */
static const ramet_entry *own_find(put *p, const char *id)
{
    size_t i = table_find(&p->own, id);
    if (!i)
        i = table_find(&p->own, a2a_derived(p->arena, p->in->id, id));
    return i ? &p->path.items[i - 1] : NULL;
}

static void own_fill(put *p)
{
    p->own = table_new(p->arena, p->path.n);
    for (size_t i = 0; i < p->path.n; i++)
        if (own_entry(p, &p->path.items[i]))
            table_add(&p->own, p->path.items[i].id, i + 1);
}

static ramet_status path_load(put *p, int64_t from)
{
    ramet_page page;
    p->path = (entry_list){0};
    for (int64_t at = from;;) {
        ramet_read_in in = {
            .limit = PAGE, .by_position = true, .position = at, .branch = p->branch};
        ramet_status st = ramet_read(p->call, p->session, &in, &page);
        if (st != RAMET_OK)
            return st;
        if (at == from)
            p->head = arena_strdup(p->arena, page.head.hash);
        else if (strcmp(p->head, page.head.hash) != 0)
            return path_load(p, from);
        for (size_t i = 0; i < page.n; i++)
            VEC_PUSH(p->arena, &p->path, page.entries[i]);
        if (!page.more_after || !page.n)
            return RAMET_OK;
        at = page.entries[page.n - 1].position + 1;
    }
}

/* Builds p->list. A message that is on the path as part of another task is left out: that task
 * shows it. An id that belongs to a different message is replaced by a derived one. */
static ramet_status list_make(put *p)
{
    p->list.n = p->ids.n = 0;
    p->listed = table_new(p->arena, p->in->n);
    own_fill(p);
    for (size_t i = 0; i < p->in->n; i++) {
        const a2a_message *m = &p->in->history[i];
        const char *id = m->id;
        ramet_entry *there;
        if (table_find(&p->listed, m->id))
            continue;
        table_add(&p->listed, m->id, i + 1);
        const ramet_entry *own = own_find(p, m->id);
        if (own) {
            id = own->id;
        } else {
            ramet_status st = ramet_entry_get(p->call, p->session, p->branch, m->id, &there);
            if (st == RAMET_OK && shown_same(p->arena, m, there))
                continue;
            if (st == RAMET_OK)
                id = a2a_derived(p->arena, p->in->id, m->id);
            else if (st != RAMET_ENTRY_NOT_FOUND)
                return st;
        }
        VEC_PUSH(p->arena, &p->list, m);
        VEC_PUSH(p->arena, &p->ids, id);
    }
    return RAMET_OK;
}

static ramet_entry_in new_entry(const put *p, size_t i)
{
    ramet_entry_in e = a2a_entry_in(p->list.items[i], p->in->id);
    e.id = p->ids.items[i];
    return e;
}

/* The number of listed messages that the task already has, in order. *differs: index of the first
 * own entry that is not the next one of the list, or -1. */
static size_t list_match(put *p, int64_t *differs)
{
    size_t n = 0;
    *differs = -1;
    for (size_t i = 0; i < p->path.n && *differs < 0; i++) {
        const ramet_entry *e = &p->path.items[i];
        if (!own_entry(p, e))
            continue;
        const a2a_message *m = n < p->list.n ? p->list.items[n] : NULL;
        if (m && id_is(p->arena, p->in->id, m, e) && content_same(p->arena, m, e))
            n++;
        else
            *differs = (int64_t)i;
    }
    return n;
}

/* ------------------------------------------------------------------- writing */

static const char *tip_of(const put *p)
{
    const char *tip = p->ids.n ? p->ids.items[p->ids.n - 1] : NULL;
    for (size_t i = p->path.n; !tip && i-- > 0;)
        if (own_entry(p, &p->path.items[i]))
            tip = p->path.items[i].id;
    return tip;
}

static ramet_status put_append(put *p, size_t from)
{
    ramet_task_in row = {p->in->id, a2a_row_data(p->arena, p->in, tip_of(p), false),
                         p->in->status_at, p->in->invocation};
    ramet_append_out done = {.head = {.branch = 0}};
    const char *head = p->head;
    do {
        size_t n = p->list.n - from < PAGE ? p->list.n - from : PAGE;
        ramet_entry_in *entries = arena_array(p->arena, n + 1, sizeof *entries);
        for (size_t i = 0; i < n; i++)
            entries[i] = new_entry(p, from + i);
        from += n;
        ramet_append_in in = {.entries = entries,
                              .n = n,
                              .branch = p->branch,
                              .expected_head = n ? head : NULL,
                              .task = from == p->list.n ? &row : NULL};
        ramet_status st = ramet_append(p->call, p->session, &in, &done);
        if (st != RAMET_OK)
            return st;
        head = done.head.hash;
    } while (from < p->list.n);
    return RAMET_OK;
}

/* An entry that stays, or a copy of it after the first difference. */
static ramet_entry_in kept_entry(const put *p, const ramet_entry *e, bool copy)
{
    ramet_entry_in in = {.id = e->id, .role = e->role, .parts = e->parts};
    if (!copy)
        return in;
    in.format = e->format;
    in.body = e->body;
    in.turn_id = e->turn_id;
    in.author = e->author;
    in.state_delta = e->state_delta;
    in.created = e->created;
    if (e->turn_id)
        in.invocation = a2a_invocation(p->arena, e);
    return in;
}

/* Needs the whole path in p->path. */
static ramet_status put_sync(put *p, size_t matched, size_t differs)
{
    in_list all = {0};
    ramet_sync_out out;
    for (size_t i = 0; i < p->path.n; i++) {
        const ramet_entry *e = &p->path.items[i];
        if (strcmp(e->channel, "history") != 0)
            continue;
        if (i < differs || !own_entry(p, e)) {
            VEC_PUSH(p->arena, &all, kept_entry(p, e, i >= differs));
        } else if (matched < p->list.n) {
            VEC_PUSH(p->arena, &all, new_entry(p, matched));
            matched++;
        }
    }
    for (; matched < p->list.n; matched++)
        VEC_PUSH(p->arena, &all, new_entry(p, matched));
    ramet_status st = ramet_sync(p->call, p->session, all.items, all.n, p->head, &out);
    if (st != RAMET_OK)
        return st;
    ramet_task_in row = {p->in->id, a2a_row_data(p->arena, p->in, tip_of(p), false),
                         p->in->status_at, p->in->invocation};
    return ramet_task_put(p->call, p->session, &row, NULL);
}

static ramet_status put_once(put *p, bool *moved)
{
    ramet_turn_at at;
    int64_t differs;
    ramet_status st = ramet_turn_find(p->call, p->session, RAMET_LOG_MAIN, p->in->id, &at);
    bool known = st == RAMET_OK;
    if (!known && st != RAMET_TURN_NOT_FOUND)
        return st;
    p->branch = known && !at.on_path ? at.branch : 0;
    st = path_load(p, known ? at.position : INT64_MAX / 2);
    if (st == RAMET_OK)
        st = list_make(p);
    if (st != RAMET_OK)
        return st;
    size_t matched = p->in->has_history ? list_match(p, &differs) : p->list.n;
    if (!p->in->has_history || differs < 0)
        return put_append(p, matched);
    if (p->branch) { /* cut off: messages are only added, never replaced */
        size_t known_n = 0;
        while (known_n < p->list.n && own_find(p, p->list.items[known_n]->id))
            known_n++;
        return put_append(p, known_n);
    }
    *moved = true;
    st = path_load(p, 0);
    if (st != RAMET_OK)
        return st;
    own_fill(p);
    matched = list_match(p, &differs);
    return put_sync(p, matched, differs < 0 ? p->path.n : (size_t)differs);
}

ramet_status a2a_task_put(ramet_call *c, const char *session, const a2a_task_in *in, a2a_task **out,
                          bool *moved)
{
    put p = {.call = c, .arena = ramet_call_arena(c), .session = session, .in = in};
    ramet_task *row;
    ramet_status st = ramet_task_get(c, in->id, &row);
    bool turned = false;
    *out = NULL;
    if (st == RAMET_OK && row && row->deleted)
        return ramet_task_put(c, session, &(ramet_task_in){.id = in->id, .data = "{}"},
                              &row); /* fails with the error to report */
    for (int i = 0; i < TRIES; i++) {
        turned = false;
        st = put_once(&p, &turned);
        if (st != RAMET_HEAD_MOVED)
            break;
    }
    if (moved)
        *moved = turned && st == RAMET_OK;
    if (st != RAMET_OK)
        return st;
    st = a2a_task_get(c, session, in->id, out);
    /* A task on an abandoned branch is stored but not shown. */
    if (st == RAMET_TURN_NOT_FOUND) {
        *out = arena_alloc(p.arena, sizeof **out);
        **out = (a2a_task){.id = in->id,
                           .session = session,
                           .state = in->state,
                           .status_at = in->status_at,
                           .status_time = in->status_time,
                           .status_message = in->status_message,
                           .artifacts = in->artifacts,
                           .metadata = in->metadata};
        return RAMET_OK;
    }
    return st;
}

/* The list as entries without duplicate ids; messages already on the path are copied from there. */
static ramet_status history_entries(put *p, const a2a_message *list, size_t n, in_list *out)
{
    id_table seen = table_new(p->arena, n), there = table_new(p->arena, p->path.n);
    for (size_t i = 0; i < p->path.n; i++)
        table_add(&there, p->path.items[i].id, i + 1);
    for (size_t i = 0; i < n; i++) {
        const a2a_message *m = &list[i];
        if (table_find(&seen, m->id))
            continue;
        table_add(&seen, m->id, i + 1);
        size_t at = table_find(&there, m->id);
        if (at && content_same(p->arena, m, &p->path.items[at - 1]))
            VEC_PUSH(p->arena, out, kept_entry(p, &p->path.items[at - 1], true));
        else
            VEC_PUSH(p->arena, out, a2a_entry_in(m, m->task ? m->task : p->session));
    }
    return RAMET_OK;
}

ramet_status a2a_history_put(ramet_call *c, const char *session, const a2a_message *list, size_t n,
                             bool *moved)
{
    put p = {.call = c, .arena = ramet_call_arena(c), .session = session};
    ramet_status st = RAMET_HEAD_MOVED;
    for (int i = 0; i < TRIES && st == RAMET_HEAD_MOVED; i++) {
        in_list all = {0};
        ramet_sync_out out = {0};
        st = path_load(&p, 0);
        if (st == RAMET_OK)
            st = history_entries(&p, list, n, &all);
        if (st == RAMET_OK)
            st = ramet_sync(c, session, all.items, all.n, p.head, &out);
        if (moved)
            *moved = out.moved;
    }
    return st;
}

ramet_status a2a_task_state_put(ramet_call *c, const char *session, const a2a_task_in *in)
{
    ramet_task_in row = {in->id, a2a_row_data(ramet_call_arena(c), in, NULL, true), in->status_at,
                         in->invocation};
    return ramet_task_put(c, session, &row, NULL);
}

/* -------------------------------------------------------------------- reading */

bool a2a_kinds_fit(const json_doc *d, const json_node *message, size_t *part)
{
    const json_node *parts = json_get(d, message, "parts");
    *part = 0;
    for (const json_node *p = json_first(d, parts); p; p = json_next(d, parts, p), ++*part)
        if (json_is(p, JSON_OBJECT) && !json_is(json_get(d, p, "kind"), JSON_STRING))
            return false;
    return true;
}

static bool status_read(arena *a, const json_doc *d, const json_node *v, a2a_task_in *out,
                        const char **why)
{
    const char *state = json_text(a, d, json_get(d, v, "state"));
    const char *time = json_text(a, d, json_get(d, v, "timestamp"));
    const json_node *message = json_get(d, v, "message");
    int known = state ? a2a_state_parse(state) : -1;
    a2a_message m;
    if (known < 0) {
        *why = "status.state is missing or unknown";
        return false;
    }
    out->state = (a2a_state)known;
    out->status_at = time_now_us();
    if (!empty(json_get(d, v, "timestamp")) &&
        (!time || (*time && !time_parse(time, &out->status_at)))) {
        *why = "status.timestamp is no RFC 3339 time";
        return false;
    }
    out->status_time = time && *time ? time : NULL;
    if (!empty(message)) {
        if (!a2a_message_read(a, d, message, &m, why)) {
            *why = arena_printf(a, "status.message: %s", *why);
            return false;
        }
        out->status_message = m.body;
    }
    return true;
}

static bool artifacts_read(arena *a, const json_doc *d, const json_node *v, const char **why)
{
    size_t i = 0;
    if (!json_is(v, JSON_ARRAY)) {
        *why = "artifacts must be an array";
        return false;
    }
    for (const json_node *x = json_first(d, v); x; x = json_next(d, v, x), i++)
        if (!json_is(json_get(d, x, "parts"), JSON_ARRAY) ||
            !json_is(json_get(d, x, "artifactId"), JSON_STRING)) {
            *why = arena_printf(a, "artifacts[%zu] has no artifactId or parts", i);
            return false;
        }
    return true;
}

static bool history_read(arena *a, const json_doc *d, const json_node *v, a2a_task_in *out,
                         const char **why)
{
    if (!json_is(v, JSON_ARRAY)) {
        *why = "history must be an array";
        return false;
    }
    a2a_message *list = arena_array(a, v->count + 1, sizeof *list);
    for (const json_node *x = json_first(d, v); x; x = json_next(d, v, x)) {
        if (!a2a_message_read(a, d, x, &list[out->n], why)) {
            *why = arena_printf(a, "history[%zu]: %s", out->n, *why);
            return false;
        }
        out->n++;
    }
    out->history = list;
    out->has_history = true;
    return true;
}

/* Reads an optional id: *out is NULL if it is missing or empty. */
static bool id_read(arena *a, const json_doc *d, const json_node *v, const char *name,
                    const char **out, const char **why)
{
    const json_node *id = json_get(d, v, name);
    const char *text = json_text(a, d, id);
    *out = NULL;
    if (empty(id) || (json_is(id, JSON_STRING) && !*text))
        return true;
    if (!json_is(id, JSON_STRING) || !a2a_id_fits(id, text)) {
        *why = arena_printf(a, "%s must be a text of at most 255 bytes, without control characters",
                            name);
        return false;
    }
    *out = text;
    return true;
}

bool a2a_task_read(arena *a, const json_doc *d, const json_node *v, a2a_task_in *out,
                   const char **context, const char **why)
{
    const json_node *history = json_get(d, v, "history"), *artifacts = json_get(d, v, "artifacts"),
                    *metadata = json_get(d, v, "metadata");
    *out = (a2a_task_in){0};
    *why = "a task is an object";
    if (!json_is(v, JSON_OBJECT))
        return false;
    char uuid[UUID_TEXT];
    if (!id_read(a, d, v, "id", &out->id, why) || !id_read(a, d, v, "contextId", context, why))
        return false;
    if (!out->id)
        out->id = arena_strdup(a, uuid7(time_now_us(), uuid));
    *why = "metadata must be an object";
    if (!empty(metadata) && !json_is(metadata, JSON_OBJECT))
        return false;
    out->metadata = empty(metadata) ? NULL : json_raw(a, d, metadata);
    out->invocation = a2a_invocation_in(a, d, metadata);
    *why = "the invocation id in metadata must be at most 255 bytes, without control characters";
    if (out->invocation && !a2a_id_fits(metadata, out->invocation))
        return false;
    out->artifacts = empty(artifacts) ? NULL : json_raw(a, d, artifacts);
    return status_read(a, d, json_get(d, v, "status"), out, why) &&
           (empty(artifacts) || artifacts_read(a, d, artifacts, why)) &&
           (empty(history) || history_read(a, d, history, out, why));
}
