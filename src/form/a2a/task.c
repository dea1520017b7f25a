/* SPDX-License-Identifier: Apache-2.0
 *
 * task.c: builds the tasks of a session from its path and writes them in either version.
 * form/a2a/task_update.c updates them.
 */
#include "form/a2a/a2a.h"

#include "base/util.h"
#include "form/a2a/a2a_internal.h"
#include "form/size.h"
#include "ramet/tasks.h"

#include <stdio.h>
#include <string.h>

enum { PAGE = 1000, LOOSE_TRIES = 8 };

/* Separates the session from the first entry in the id of a task that has no turn. */
#define LOOSE "~"
/* Separates the session from the branch, the length and the time of the history that a rewind
 * left. */
#define REWOUND LOOSE "rewound-"

/* ------------------------------------------------------------------ grouping */

/* The messages of one task, collected while the path is read. */
typedef struct group {
    a2a_task task;
    VEC(ramet_entry) list; /* empty if they are too large */
    VEC(const char *) ids; /* their ids */
    VEC(a2a_span) spans;
    int64_t first, last; /* times of its first and last message */
    int64_t last_asked;  /* time of the last message of the user */
    bool hidden;         /* the task is deleted */
} group;

typedef struct loader {
    ramet_call *call;
    arena *arena;
    ramet_session *session;
    int64_t branch, length; /* the path that is read, up to there */
    const char *only;       /* NULL: all tasks */
    VEC(group *) groups;
    uint32_t *table; /* hash table by id: index of a group + 1 */
    size_t slots;
    group *loose;       /* the group for entries without a turn */
    group *last;        /* the group of the last entry */
    bool foreign;       /* the last entry was inherited */
    const char *as_one; /* put everything into one task with this id, `loose`; NULL: do not */
    bool in_memory;     /* keep messages, however large they are */
    bool off_head;      /* the path is not that of the head */
    bool lean;          /* do not keep messages */
} loader;

static size_t slot_of(const loader *l, const char *id)
{
    return hash_text(id) & (l->slots - 1);
}

static group *group_find(const loader *l, const char *id)
{
    if (!l->slots)
        return NULL;
    for (size_t s = slot_of(l, id); l->table[s]; s = (s + 1) & (l->slots - 1)) {
        group *g = l->groups.items[l->table[s] - 1];
        if (strcmp(g->task.id, id) == 0)
            return g;
    }
    return NULL;
}

static void group_place(loader *l, size_t i)
{
    size_t s = slot_of(l, l->groups.items[i]->task.id);
    while (l->table[s])
        s = (s + 1) & (l->slots - 1);
    l->table[s] = (uint32_t)i + 1;
}

static group *group_get(loader *l, const char *id)
{
    group *g = group_find(l, id);
    if (g)
        return g;
    g = arena_alloc(l->arena, sizeof *g);
    g->task = (a2a_task){.id = arena_strdup(l->arena, id),
                         .session = l->session->id,
                         .state = A2A_COMPLETED,
                         .branch = l->branch};
    VEC_PUSH(l->arena, &l->groups, g);
    if (l->groups.n * 2 > l->slots) {
        l->slots = l->slots ? l->slots * 2 : 64;
        l->table = arena_array(l->arena, l->slots, sizeof *l->table);
        for (size_t i = 0; i < l->groups.n; i++)
            group_place(l, i);
    } else {
        group_place(l, l->groups.n - 1);
    }
    return g;
}

/* The id of a group that has none. It belongs to this session, is stable across reads, and its
 * first entry can be found from it. */
static const char *loose_id(arena *a, const char *session, const char *entry)
{
    return arena_printf(a, "%s" LOOSE "%s", session, entry);
}

static void message_add(loader *l, group *g, const ramet_entry *e)
{
    const char *id = l->lean ? arena_strdup(l->arena, e->id) : e->id;
    if (!l->lean)
        VEC_PUSH(l->arena, &g->list, *e);
    VEC_PUSH(l->arena, &g->ids, id);
    if (!g->first)
        g->first = e->created;
    g->last = e->created;
    if (e->role == RAMET_USER)
        g->last_asked = e->created;
    if (l->last != g) {
        a2a_span next = {.lo = e->position};
        VEC_PUSH(l->arena, &g->spans, next);
        l->last = g;
    }
    a2a_span *span = &g->spans.items[g->spans.n - 1];
    span->hi = e->position + 1;
    span->n++;
}

static void load_entry(loader *l, const ramet_entry *e)
{
    group *g;
    bool foreign = e->owner_no != l->session->number;
    if (l->as_one) {
        g = l->loose;
    } else if (foreign) {
        if (!l->foreign)
            l->loose = group_get(l, e->position == 0 || l->session->is_fork
                                        ? l->session->id
                                        : loose_id(l->arena, l->session->id, e->id));
        g = l->loose;
        g->task.inherited = true;
    } else if (e->turn_id) {
        g = group_get(l, e->turn_id);
        l->loose = NULL;
    } else {
        if (!l->loose || l->foreign || (e->role == RAMET_USER && l->loose->ids.n))
            l->loose = group_get(l, loose_id(l->arena, l->session->id, e->id));
        g = l->loose;
    }
    l->foreign = foreign;
    message_add(l, g, e);
}

/* Reads the path, page by page, as it was when the session was read. *fits: the messages are small
 * enough to keep. */
static ramet_status load_path(loader *l, int64_t from, bool *fits)
{
    int64_t at = from;
    size_t bytes = 0;
    *fits = true;
    while (at < l->length && *fits) {
        ramet_page page;
        ramet_read_in in = {.limit = PAGE,
                            .by_position = true,
                            .position = at,
                            .branch = l->branch,
                            .end = l->length};
        ramet_status st = ramet_read(l->call, l->session->id, &in, &page);
        if (st != RAMET_OK || !page.n)
            return st;
        for (size_t i = 0; i < page.n; i++) {
            bytes += form_entry_bytes(&page.entries[i]);
            if (strcmp(page.entries[i].channel, "history") == 0)
                load_entry(l, &page.entries[i]);
        }
        at = page.entries[page.n - 1].position + 1;
        *fits = l->in_memory || bytes <= PIECE_BYTES;
    }
    return RAMET_OK;
}

/* The same, but keeps no messages. */
static ramet_status walk_path(loader *l, int64_t from)
{
    ramet_stream *s;
    const ramet_entry *e;
    ramet_read_in in = {.by_position = true,
                        .position = from,
                        .branch = l->branch,
                        .end = l->length,
                        .channel = "history"};
    if (from >= l->length)
        return RAMET_OK;
    ramet_status st = ramet_stream_open(l->call, l->session->id, &in, &s);
    if (st != RAMET_OK)
        return st;
    while ((st = ramet_stream_next(s, &e)) == RAMET_OK && e)
        load_entry(l, e);
    ramet_stream_close(s);
    return st;
}

/* --------------------------------------------------------------- what else is known */

static void row_apply(loader *l, const ramet_task *row)
{
    a2a_row r = a2a_row_read(l->arena, row->data);
    group *g = group_find(l, row->id);
    if (!g && (r.tip || r.turn)) /* its messages are no longer on the path */
        return;
    if (!g)
        g = group_get(l, row->id);
    g->hidden = row->deleted;
    g->task.created = row->created;
    g->task.updated = row->updated;
    bool whole = !r.tip;
    for (size_t i = g->ids.n; i-- > 0 && !whole;)
        whole = strcmp(g->ids.items[i], r.tip) == 0;
    /* A task that was cut in the middle no longer has the status recorded for it. */
    if (!whole)
        return;
    g->task.state = r.state;
    g->task.status_at = r.at;
    g->task.status_time = r.time;
    g->task.status_message = r.message;
    g->task.artifacts = r.artifacts;
    g->task.metadata = r.metadata;
    g->task.invocation = r.invocation;
    g->task.by_row = true;
    g->task.running = false;
}

const char *a2a_error_id(arena *a, const char *task)
{
    return arena_printf(a, "%s-status", task);
}

static const char *error_message(arena *a, const ramet_turn *t)
{
    buf b;
    json_writer w;
    if (!*t->error)
        return NULL;
    buf_init(&b, 65536);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "kind", "message");
    jw_kstr(&w, "messageId", a2a_error_id(a, t->id));
    jw_kstr(&w, "role", "agent");
    jw_key(&w, "parts");
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "kind", "text");
    jw_kstr(&w, "text", t->error);
    jw_end_object(&w);
    jw_end_array(&w);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

static void turn_apply(loader *l, const ramet_turn *t)
{
    group *g = group_find(l, t->id);
    if (!g)
        return;
    static const a2a_state by[] = {[RAMET_TURN_RUNNING] = A2A_WORKING,
                                   [RAMET_TURN_DONE] = A2A_COMPLETED,
                                   [RAMET_TURN_CANCELLED] = A2A_CANCELED,
                                   [RAMET_TURN_FAILED] = A2A_FAILED,
                                   [RAMET_TURN_INTERRUPTED] = A2A_FAILED};
    g->task.state = by[t->status];
    g->task.running = t->status == RAMET_TURN_RUNNING;
    g->task.status_at = t->ended                     ? t->ended
                        : g->last_asked > t->started ? g->last_asked
                                                     : t->started;
    g->task.status_message = error_message(l->arena, t);
    g->task.created = t->started;
}

static void group_finish(const loader *l, group *g)
{
    a2a_task *t = &g->task;
    t->n = g->ids.n;
    t->history = g->list.items;
    t->spans = g->spans.items;
    t->n_spans = g->spans.n;
    if (!t->created)
        t->created = g->first;
    if (t->updated < g->last)
        t->updated = g->last;
    if (!t->status_at)
        t->status_at = t->updated;
    /* Inherited messages exist in this session only since it was created. */
    if (t->inherited && t->status_at < l->session->created)
        t->status_at = l->session->created;
}

/* The turns of the session, page by page; of one task, its own. */
static ramet_status load_turns(loader *l)
{
    ramet_turn *turns;
    size_t n = PAGE;
    if (l->only) {
        ramet_status st = group_find(l, l->only)
                              ? ramet_turn_get(l->call, l->session->id, l->only, &turns)
                              : RAMET_TURN_NOT_FOUND;
        if (st == RAMET_OK)
            turn_apply(l, turns);
        return st == RAMET_TURN_NOT_FOUND || st == RAMET_BAD_ID ? RAMET_OK : st;
    }
    for (int64_t before = 0; n == PAGE; before = turns[n - 1].started) {
        ramet_status st = ramet_turns_before(l->call, l->session->id, before, PAGE, &turns, &n);
        if (st != RAMET_OK)
            return st;
        for (size_t i = 0; i < n; i++)
            turn_apply(l, &turns[i]);
        if (!n)
            break;
    }
    return RAMET_OK;
}

static ramet_status load_known(loader *l)
{
    ramet_task *rows;
    size_t n;
    ramet_status st = load_turns(l);
    if (st != RAMET_OK)
        return st;
    st = ramet_tasks(l->call, l->session->id, &rows, &n);
    for (size_t i = 0; st == RAMET_OK && i < n; i++)
        if (!l->only || strcmp(l->only, rows[i].id) == 0)
            row_apply(l, &rows[i]);
    return st;
}

static void load_begin(loader *l)
{
    if (l->as_one) {
        l->loose = group_get(l, l->as_one);
    } else if (l->session->is_fork && (!l->only || strcmp(l->only, l->session->id) == 0)) {
        group *g = group_get(l, l->session->id);
        g->task.inherited = true;
        g->task.created = l->session->created;
    }
}

/* Groups the path from a position on, with messages if they are small enough to keep. */
static ramet_status load_messages(loader *l, int64_t from)
{
    bool fits;
    load_begin(l);
    ramet_call_page_bytes(l->call, PIECE_BYTES);
    ramet_status st = load_path(l, from, &fits);
    ramet_call_page_bytes(l->call, 0);
    if (st != RAMET_OK || fits)
        return st;
    *l = (loader){.call = l->call,
                  .arena = l->arena,
                  .session = l->session,
                  .branch = l->branch,
                  .length = l->length,
                  .only = l->only,
                  .as_one = l->as_one,
                  .off_head = l->off_head,
                  .lean = true};
    load_begin(l);
    return walk_path(l, from);
}

static ramet_status load(loader *l, int64_t from)
{
    ramet_status st = load_messages(l, from);
    return st == RAMET_OK ? load_known(l) : st;
}

/* Reads the session; the path is that of its head. */
static ramet_status load_session(loader *l, const char *session)
{
    ramet_status st = ramet_session_get(l->call, session, &l->session);
    if (st == RAMET_OK) {
        l->branch = l->session->head.branch;
        l->length = l->session->head.length;
    }
    return st;
}

ramet_status a2a_tasks(ramet_call *c, const char *session, a2a_task **out, size_t *n)
{
    loader l = {.call = c, .arena = ramet_call_arena(c)};
    *out = NULL;
    *n = 0;
    ramet_status st = load_session(&l, session);
    if (st == RAMET_OK)
        st = load(&l, 0);
    if (st != RAMET_OK)
        return st;
    *out = arena_array(l.arena, l.groups.n + 1, sizeof **out);
    for (size_t i = 0; i < l.groups.n; i++) {
        group *g = l.groups.items[i];
        if (g->hidden)
            continue;
        group_finish(&l, g);
        (*out)[(*n)++] = g->task;
    }
    return RAMET_OK;
}

/* ------------------------------------------------------------------------ one */

/* Parses the id of a task without a turn into its session and first entry; false if it is not such
 * an id. Either of the two may itself contain the separator. `session`, if set, must match. */
static bool loose_find(ramet_call *c, const char *id, const char **session, ramet_entry **first)
{
    arena *a = ramet_call_arena(c);
    int tries = 0;
    for (const char *p = strstr(id, LOOSE); p && tries < LOOSE_TRIES; p = strstr(p + 1, LOOSE)) {
        const char *s = arena_printf(a, "%.*s", (int)(p - id), id);
        tries++;
        if ((*session && strcmp(*session, s) != 0) ||
            ramet_entry_get(c, s, 0, p + strlen(LOOSE), first) != RAMET_OK)
            continue;
        *session = s;
        return true;
    }
    return false;
}

/* The history that a rewind left. */
typedef struct rewound {
    int64_t branch, length, at;
} rewound;

/* Parses the id of its task. `session`, if set, must match. */
static bool rewound_parse(arena *a, const char *id, const char **session, rewound *out)
{
    const char *mark = NULL;
    long long b, n, at;
    int end = 0;
    for (const char *p = strstr(id, REWOUND); p; p = strstr(p + 1, REWOUND))
        mark = p;
    if (!mark || sscanf(mark + strlen(REWOUND), "%15lld-%9lld-%17lld%n", &b, &n, &at, &end) != 3 ||
        mark[strlen(REWOUND) + (size_t)end] || b < 1 || n < 0)
        return false;
    const char *s = arena_printf(a, "%.*s", (int)(mark - id), id);
    if (*session && strcmp(*session, s) != 0)
        return false;
    *session = s;
    *out = (rewound){b, n, at};
    return true;
}

/* The session of a task; NULL if there is none. */
static ramet_status session_of(ramet_call *c, const char *id, const char **session)
{
    ramet_task *row;
    ramet_session *s;
    ramet_entry *first;
    *session = NULL;
    if (loose_find(c, id, session, &first))
        return RAMET_OK;
    ramet_status st = ramet_task_get(c, id, &row);
    if (st != RAMET_OK)
        return st;
    if (row) {
        *session = row->session;
        return RAMET_OK;
    }
    st = ramet_turn_session(c, id, session);
    if (st == RAMET_OK && !*session && ramet_session_get(c, id, &s) == RAMET_OK)
        *session = s->id;
    return st;
}

/* The position of the task's first message; the length of the path if there is none. A task that a
 * move has cut off is read from the branch that holds it. */
static ramet_status begins_at(loader *l, const char *id, int64_t *from)
{
    ramet_call *c = l->call;
    const ramet_session *s = l->session;
    ramet_turn_at at;
    ramet_entry *first;
    const char *session = s->id;
    *from = 0;
    if (strcmp(id, s->id) == 0)
        return RAMET_OK;
    if (loose_find(c, id, &session, &first)) {
        /* A question always begins a task. Any other first entry needs a walk from the start. */
        if (first->role == RAMET_USER && first->owner_no == s->number && !first->turn_id)
            *from = first->position;
        return RAMET_OK;
    }
    ramet_status st = ramet_turn_find(c, s->id, RAMET_LOG_MAIN, id, &at);
    if (st == RAMET_TURN_NOT_FOUND) {
        *from = l->length;
        return RAMET_OK;
    }
    if (st == RAMET_OK && !at.on_path) {
        l->off_head = true;
        l->branch = at.branch;
        l->length = INT64_MAX;
    }
    *from = at.position;
    return st;
}

/* The history of a path as one task, completed at that time, which is not stored. */
static ramet_status load_as_one(loader *l, int64_t at, a2a_task **out)
{
    ramet_status st = load_messages(l, 0);
    if (st != RAMET_OK)
        return st;
    group_finish(l, l->loose);
    *out = &l->loose->task;
    (*out)->created = l->session->created;
    (*out)->status_at = (*out)->updated = at;
    (*out)->inherited = true; /* it made none of the answers */
    return RAMET_OK;
}

/* The history that a rewind left, by the id of its task. */
static ramet_status rewound_get(loader *l, const char *session, const rewound *of, a2a_task **out)
{
    ramet_status st = load_session(l, session);
    l->as_one = l->only;
    l->only = NULL;
    l->branch = of->branch;
    l->length = of->length;
    if (st == RAMET_OK)
        st = load_as_one(l, of->at, out);
    return st == RAMET_BRANCH_NOT_FOUND ? RAMET_TURN_NOT_FOUND : st;
}

ramet_status a2a_task_get(ramet_call *c, const char *session, const char *id, a2a_task **out)
{
    loader l = {.call = c, .arena = ramet_call_arena(c), .only = id};
    int64_t from = 0;
    rewound left;
    const char *at = session;
    *out = NULL;
    if (rewound_parse(l.arena, id, &at, &left))
        return rewound_get(&l, at, &left, out);
    ramet_status st = at ? RAMET_OK : session_of(c, id, &at);
    if (st == RAMET_OK && at)
        st = load_session(&l, at);
    if (st == RAMET_OK && at)
        st = begins_at(&l, id, &from);
    if (st == RAMET_OK && at)
        st = load(&l, from);
    if (st != RAMET_OK)
        return st;
    group *g = at ? group_find(&l, id) : NULL;
    if (!g || g->hidden)
        return RAMET_TURN_NOT_FOUND;
    group_finish(&l, g);
    g->task.off_head = l.off_head;
    *out = &g->task;
    return RAMET_OK;
}

ramet_status a2a_task_effective(ramet_call *c, const char *session, a2a_task **out)
{
    loader l = {.call = c, .arena = ramet_call_arena(c), .as_one = session};
    *out = NULL;
    ramet_status st = load_session(&l, session);
    if (st == RAMET_OK)
        st = load_as_one(&l, l.session->updated, out);
    return st;
}

ramet_status a2a_rewind(ramet_call *c, const char *session, const char *invocation, bool in_memory,
                        a2a_task **out)
{
    loader l = {.call = c, .arena = ramet_call_arena(c), .in_memory = in_memory};
    ramet_move_in in = {.before_turn = invocation};
    *out = NULL;
    ramet_status st = ramet_rewind(c, session, &in, &l.session, NULL);
    if (st != RAMET_OK)
        return st;
    l.branch = l.session->head.branch;
    l.length = l.session->head.length;
    l.as_one =
        arena_printf(l.arena, "%s" REWOUND "%lld-%lld-%lld", l.session->id, (long long)l.branch,
                     (long long)l.length, (long long)l.session->updated);
    return load_as_one(&l, l.session->updated, out);
}

/* ------------------------------------------------------------------- writing */

void a2a_status_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t)
{
    char time[TIME_TEXT];
    json_doc d;
    jw_object(w);
    jw_kstr(w, "state", a2a_state_name(t->state, view->version));
    if (t->question) {
        jw_key(w, "message");
        a2a_message_write(w, view, t->question, NULL);
    } else if (t->status_message &&
               json_parse(a, t->status_message, strlen(t->status_message), SIZE_MAX, &d, NULL)) {
        jw_key(w, "message");
        a2a_message_rewrite(a, w, view, &d, &d.nodes[0]);
    }
    if (t->status_time && view->version == A2A_03)
        jw_kstr(w, "timestamp", t->status_time);
    else if (t->status_at)
        jw_kstr(w, "timestamp", time_text(t->status_at, time));
    jw_end_object(w);
}

/* The invocation id to add to a message that has none: that of the answer that follows it, or, for
 * the last question, that of the task. */
static const char *stamp_of(arena *a, const a2a_task *t, size_t i)
{
    for (size_t k = i; k < t->n; k++) {
        const char *own = a2a_invocation(a, &t->history[k]);
        if (own)
            return own;
        if (k > i && t->history[k].role == RAMET_USER)
            return t->history[i].turn_id;
    }
    return t->invocation ? t->invocation : t->history[i].turn_id;
}

/* The parts of a task that fit into the view's room. */
typedef struct fitting {
    size_t room;       /* bytes left */
    size_t omitted;    /* number of messages omitted */
    bool less;         /* the artifacts are omitted */
    const char **kept; /* written messages, newest first */
    size_t n;
} fitting;

static const char *message_json(arena *a, const a2a_view *view, const a2a_task *t, size_t i)
{
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    a2a_message_write(&w, view, &t->history[i], view->stamp ? stamp_of(a, t, i) : NULL);
    return buf_keep(&b, a);
}

/* The first of the newest `max` messages. */
static size_t history_from(const a2a_view *view, const a2a_task *t, int64_t max)
{
    size_t i = t->n;
    while (i && max != 0)
        max -= a2a_message_shown(view, &t->history[--i]);
    return i;
}

/* Collects the newest messages that fit. */
static void history_fit(arena *a, const a2a_view *view, const a2a_task *t, int64_t max, fitting *f)
{
    size_t from = history_from(view, t, max), i = t->n;
    f->kept = arena_array(a, t->n - from + 1, sizeof *f->kept);
    for (; i > from; i--) {
        if (!a2a_message_shown(view, &t->history[i - 1]))
            continue;
        const char *json = message_json(a, view, t, i - 1);
        size_t n = strlen(json) + 1;
        if (n > f->room)
            break;
        f->room -= n;
        f->kept[f->n++] = json;
    }
    f->omitted = i - from;
}

static void history_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t,
                          int64_t max, const fitting *f)
{
    jw_key(w, "history");
    jw_array(w);
    if (view->room)
        for (size_t i = f->n; i-- > 0;)
            jw_raw(w, f->kept[i]);
    else
        for (size_t i = history_from(view, t, max); i < t->n; i++)
            if (a2a_message_shown(view, &t->history[i]))
                a2a_message_write(w, view, &t->history[i], view->stamp ? stamp_of(a, t, i) : NULL);
    jw_end_array(w);
}

static void artifacts_write(arena *a, json_writer *w, const a2a_view *view, const char *json)
{
    json_doc d;
    if (!json || !json_parse(a, json, strlen(json), SIZE_MAX, &d, NULL))
        return;
    jw_key(w, "artifacts");
    jw_array(w);
    for (const json_node *v = json_first(&d, &d.nodes[0]); v; v = json_next(&d, &d.nodes[0], v))
        a2a_artifact_rewrite(a, w, view, &d, v);
    jw_end_array(w);
}

static void metadata_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t,
                           const fitting *f)
{
    json_doc d;
    const json_node *v;
    const char *json = t->metadata;
    if (!f->omitted && !f->less && !t->off_head && !(json && strstr(json, A2A_OFF_HEAD))) {
        if (json)
            jw_kraw(w, "metadata", json);
        return;
    }
    jw_key(w, "metadata");
    jw_object(w);
    if (json && json_parse(a, json, strlen(json), SIZE_MAX, &d, NULL))
        for (const json_node *k = json_first(&d, &d.nodes[0]); k;
             k = json_next(&d, &d.nodes[0], v)) {
            v = json_next(&d, &d.nodes[0], k);
            if (strcmp(json_text(a, &d, k), A2A_OFF_HEAD) != 0) /* sent back by a client */
                jw_kraw(w, json_text(a, &d, k), json_raw(a, &d, v));
        }
    if (t->off_head)
        jw_kbool(w, view->stamp_key ? A2A_OFF_HEAD_URI : A2A_OFF_HEAD, true);
    if (f->omitted)
        jw_kint(w, A2A_HISTORY_OMITTED, (int64_t)f->omitted);
    if (f->less)
        jw_kbool(w, A2A_ARTIFACTS_OMITTED, true);
    jw_end_object(w);
}

void a2a_task_open(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t)
{
    jw_object(w);
    if (view->version == A2A_03)
        jw_kstr(w, "kind", "task");
    jw_kstr(w, "id", t->id);
    jw_kstr(w, "contextId", t->session);
    jw_key(w, "status");
    a2a_status_write(a, w, view, t);
}

void a2a_task_close(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t)
{
    fitting all = {0};
    artifacts_write(a, w, view, t->artifacts);
    metadata_write(a, w, view, t, &all);
    jw_end_object(w);
}

ramet_status a2a_task_reload(ramet_call *c, a2a_task *t)
{
    ramet_task *row;
    if (!t->by_row || !t->kept)
        return RAMET_OK;
    ramet_status st = ramet_task_get(c, t->id, &row);
    if (st != RAMET_OK)
        return st;
    if (!row || row->deleted)
        return RAMET_TURN_NOT_FOUND;
    a2a_row r = a2a_row_read(ramet_call_arena(c), row->data);
    t->status_message = r.message;
    t->artifacts = r.artifacts;
    t->metadata = r.metadata;
    return RAMET_OK;
}

void a2a_task_write(arena *a, json_writer *w, const a2a_view *view, const a2a_task *t,
                    int64_t history)
{
    a2a_view at = *view;
    at.session = t->session;
    at.task = t->id;
    size_t artifacts = t->artifacts ? strlen(t->artifacts) : 0;
    fitting f = {.room = view->room, .less = view->room && artifacts > view->room};
    if (!f.less)
        f.room -= view->room ? artifacts : 0;
    if (view->room && history != 0)
        history_fit(a, &at, t, history, &f);
    a2a_task_open(a, w, &at, t);
    if (history != 0)
        history_write(a, w, &at, t, history, &f);
    if (!f.less)
        artifacts_write(a, w, &at, t->artifacts);
    metadata_write(a, w, &at, t, &f);
    jw_end_object(w);
}
