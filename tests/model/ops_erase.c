/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_erase.c: an entry, a session, a tree or a user is erased in a copy of the store, on the same
 * engine, and every path of the trees concerned is read there: what was named, its copies, the
 * summaries of it and the raw events of its turn say so wherever they are, all else says what it
 * said, with the values of templates that are left. The store itself goes on with the content, so
 * that the other operations keep theirs.
 */
#include "driver.h"
#include "ramet/erase.h"
#include "../lib/scratch_db.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool listed(const m_list *l, const void *item)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i] == item)
            return true;
    return false;
}

static bool made_from(const m_entry *e, const m_list *gone)
{
    for (size_t i = 0; i < gone->n; i++)
        if (m_came_from(e, gone->items[i]))
            return true;
    return false;
}

/* The turn of a raw event: that of the one before it on its branch, if it names none. */
static const char *event_turn(const m_entry *e)
{
    const m_branch *b = e->owner;
    for (int64_t at = e->position; at >= b->base; at--)
        if (b->path[at]->turn_id)
            return b->path[at]->turn_id;
    return NULL;
}

static bool is_event(const m_entry *e, const m_list *gone)
{
    const char *turn = e->owner->log == RAMET_LOG_ADK ? event_turn(e) : NULL;
    for (size_t i = 0; turn && i < gone->n; i++) {
        const m_entry *g = gone->items[i];
        if (g->owner->log == RAMET_LOG_MAIN && g->by->tree == e->by->tree && g->turn_id &&
            strcmp(g->turn_id, turn) == 0)
            return true;
    }
    return false;
}

/* What was copied from the entries, the raw events of their turns, and so on. */
static void gone_complete(const model *m, m_list *gone)
{
    size_t before = 0;
    while (before != gone->n) {
        before = gone->n;
        for (size_t i = 0; i < m->entries.n; i++) {
            m_entry *x = m->entries.items[i];
            if (!x->gone && !listed(gone, x) && (made_from(x, gone) || is_event(x, gone)))
                m_list_add(gone, x);
        }
    }
}

/* ---- what is named */

typedef enum { TARGET_ENTRY, TARGET_SESSION, TARGET_TREE, TARGET_USER } target_kind;

typedef struct target {
    target_kind kind;
    m_session *session;
    m_entry *entry;
    const char *user;
    m_list whole; /* m_session that are erased whole */
    m_list gone;  /* m_entry */
} target;

static bool goes_whole(const target *t, const m_session *s, const char *caller)
{
    switch (t->kind) {
    case TARGET_ENTRY:
        return false;
    case TARGET_SESSION:
        return s == t->session;
    case TARGET_TREE: /* nobody owns what gc leaves of a session */
        return s->tree == t->session->tree &&
               (!caller || s->visibility != RAMET_PRIVATE || (!s->purged && m_own(s, caller)));
    case TARGET_USER:
        return !s->purged && m_same(s->owner, t->user);
    }
    return false;
}

static bool is_named(const target *t, const m_entry *e)
{
    if (t->kind == TARGET_ENTRY)
        return e == t->entry;
    if (t->kind == TARGET_USER && m_same(e->author, t->user))
        return true;
    return listed(&t->whole, e->owner->session) && (t->kind != TARGET_USER || !e->author);
}

static void target_find(const model *m, target *t, const char *caller)
{
    for (size_t i = 0; i < m->sessions.n; i++)
        if (goes_whole(t, m->sessions.items[i], caller))
            m_list_add(&t->whole, m->sessions.items[i]);
    for (size_t i = 0; i < m->entries.n; i++) {
        m_entry *e = m->entries.items[i];
        if (!e->gone && is_named(t, e))
            m_list_add(&t->gone, e);
    }
    gone_complete(m, &t->gone);
}

/* A hold on a session that has the entry on a path, or on its tree. */
static bool on_hold(const model *m, const m_entry *e)
{
    const m_tree *t = e->by->tree;
    for (size_t i = 0; i < m->branches.n; i++) {
        const m_branch *b = m->branches.items[i];
        size_t n = b->removed ? b->left : b->n;
        if (b->session->tree == t && b->session->held && b->log == e->owner->log &&
            n > (size_t)e->position && b->path[e->position] == e)
            return true;
    }
    return t->held != 0;
}

static m_set right_check(const world *w, const target *t)
{
    const m_session *s = t->session;
    ramet_level level = m_tree_level(s->tree, w->user);
    bool owns = false;
    if (!w->user)
        return 0;
    switch (t->kind) {
    case TARGET_ENTRY: /* the place that gc leaves of a session has no owner */
        owns = !t->entry->by->purged && m_own(t->entry->by, w->user);
        break;
    case TARGET_SESSION:
        owns = m_own(s, w->user);
        break;
    case TARGET_TREE:
        if (level < RAMET_READER)
            return M(TREE_NOT_FOUND);
        break;
    case TARGET_USER:
        return M(FORBIDDEN);
    }
    return owns || level >= RAMET_MANAGER ? 0 : M(FORBIDDEN);
}

static m_set erase_check(const world *w, const target *t)
{
    m_set bad = right_check(w, t);
    if (bad)
        return bad;
    for (size_t i = 0; i < t->gone.n; i++)
        if (on_hold(&w->m, t->gone.items[i]))
            return M(HELD);
    for (size_t i = 0; i < t->whole.n; i++)
        if (m_held(t->whole.items[i]))
            return M(HELD);
    return M(OK);
}

/* ---- values of templates */

/* A value that is gone, and the session that it was taken from: its forks lose their copies. */
typedef struct gone_value {
    const m_session *from;
    const char *name, *text;
} gone_value;

static bool is_below(const m_session *s, const m_session *top)
{
    while (s && s != top)
        s = s->parent;
    return s != NULL;
}

static bool has_placeholder(const char *text, const char *name)
{
    char what[64];
    snprintf(what, sizeof what, "{{%s}}", name);
    return text && strstr(text, what);
}

/* Whether the values of a level stand in what the levels before it show of the entry. */
static bool is_shown(const m_session *s, const m_branch *b, const m_entry *e, size_t level,
                     const char *name)
{
    m_session before = *s;
    m_branch path = *b;
    const m_fill *f = s->fills.items[level];
    before.fills.n = level;
    path.session = &before;
    const m_entry *shown = m_entry_shown(&path, e);
    return e->position < b->filled && e->position < f->len[b->log] &&
           (has_placeholder(shown->text, name) || has_placeholder(shown->parts, name));
}

static void values_find(world *w, const target *t, m_list *out)
{
    const m_session *s = t->session;
    for (size_t n = 0; n < w->m.sessions.n; n++) {
        const m_session *one = w->m.sessions.items[n];
        bool whole = listed(&t->whole, one);
        for (size_t l = 0; l < one->fills.n; l++) {
            const m_fill *f = one->fills.items[l];
            for (size_t i = 0; i < f->n; i++) {
                if (!whole && !(t->kind == TARGET_ENTRY && one == s &&
                                is_shown(s, s->head, t->entry, l, f->names[i])))
                    continue;
                gone_value *v = model_alloc(&w->m, sizeof *v);
                *v = (gone_value){one, f->names[i], f->values[i]};
                m_list_add(out, v);
            }
        }
    }
}

/* Values have no word of four letters, so none goes because it shares one. */
static m_fill *fill_without(model *m, const m_session *s, const m_fill *f, const m_list *values)
{
    m_fill *left = model_alloc(m, sizeof *left);
    *left = *f;
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < values->n; k++) {
            const gone_value *v = values->items[k];
            if (is_below(s, v->from) && m_same(v->name, f->names[i]) &&
                strcmp(v->text, f->values[i]) == 0)
                left->values[i] =
                    strlen(v->text) < strlen(RAMET_ERASED_TEXT) ? "" : RAMET_ERASED_TEXT;
        }
    return left;
}

/* ---- the model without the content, for as long as the copy is open */

typedef struct unchanged {
    m_list fills;  /* of each session: its m_fill */
    m_list deltas; /* of each entry that is gone */
} unchanged;

static void model_erase(world *w, const target *t, unchanged *was)
{
    m_list values = {0};
    values_find(w, t, &values);
    for (size_t n = 0; n < w->m.sessions.n; n++) {
        m_session *s = w->m.sessions.items[n];
        for (size_t i = 0; i < s->fills.n; i++) {
            m_list_add(&was->fills, s->fills.items[i]);
            s->fills.items[i] = fill_without(&w->m, s, s->fills.items[i], &values);
        }
    }
    for (size_t i = 0; i < t->gone.n; i++) {
        m_entry *e = t->gone.items[i];
        m_list_add(&was->deltas, (void *)(uintptr_t)e->delta);
        e->delta = NULL;
    }
    free(values.items);
}

static void model_put_back(world *w, const target *t, const unchanged *was)
{
    size_t at = 0;
    for (size_t n = 0; n < w->m.sessions.n; n++) {
        m_session *s = w->m.sessions.items[n];
        for (size_t i = 0; i < s->fills.n; i++)
            s->fills.items[i] = was->fills.items[at++];
    }
    for (size_t i = 0; i < t->gone.n; i++)
        ((m_entry *)t->gone.items[i])->delta = was->deltas.items[i];
    free(was->fills.items);
    free(was->deltas.items);
}

/* ---- what is left */

static void entry_compare(world *w, const ramet_entry *got, const m_branch *b, const m_entry *e,
                          bool erased)
{
    same_text(w, "erase: id", got->id, e->id);
    same_text(w, "erase: hash", got->hash, e->hash);
    same_int(w, "erase: role", (int64_t)got->role, (int64_t)e->role);
    same_int(w, "erase: usage", got->usage != NULL, e->has_usage);
    same_int(w, "erase: tokens", got->usage ? got->usage->input : 0,
             e->has_usage ? e->usage.input : 0);
    same_int(w, "erase: erased", got->erased != NULL, erased);
    if (erased) {
        same_text(w, "erase: reason", got->erased ? got->erased->reason : NULL, "a leak");
        same_text(w, "erase: text", got->text, RAMET_ERASED_TEXT);
        same_text(w, "erase: body", got->body, NULL);
        same_text(w, "erase: author", got->author, NULL);
        same_text(w, "erase: client", got->client, NULL);
        same_text(w, "erase: state_delta", got->state_delta, NULL);
    } else {
        const m_entry *shown = m_entry_shown(b, e);
        same_text(w, "erase: text of another", got->text, shown->text);
        same_text(w, "erase: parts of another", got->parts, shown->parts);
        same_text(w, "erase: author of another", got->author, e->author);
        same_text(w, "erase: state_delta of another", got->state_delta, e->delta);
    }
}

static void branch_compare(world *w, ramet_call *c, const m_branch *b, const m_list *gone)
{
    for (size_t at = 0; at < b->n && !world_failed(w);) {
        ramet_page page;
        ramet_read_in in = {.log = b->log,
                            .branch = b->id,
                            .by_position = true,
                            .position = (int64_t)at,
                            .limit = 100};
        ramet_status st = ramet_read(c, b->session->id, &in, &page);
        if (st || !page.n) {
            world_fail(w, "erase: read", "%s: %s", ramet_status_code(st),
                       ramet_call_error(c)->message);
            return;
        }
        for (size_t i = 0; i < page.n && at < b->n; i++, at++)
            entry_compare(w, &page.entries[i], b, b->path[at], listed(gone, b->path[at]));
        ramet_call_reset(c);
    }
}

/* What there is to know about a session besides its entries. */
static void session_compare(world *w, ramet_call *c, const m_session *s, const target *t)
{
    ramet_erasure *list;
    ramet_session *got;
    const char *state;
    char want[600];
    size_t n;
    int64_t erased = 0;
    ramet_status st = ramet_erasures(c, s->id, 0, &list, &n);
    for (size_t i = 0; i < s->head->n; i++)
        erased += listed(&t->gone, s->head->path[i]);
    world_judge(w, st, M(OK));
    same_int(w, "erasures", (int64_t)n, erased > 0);
    if (n)
        same_int(w, "erasures: entries", list[0].entries, erased);
    world_judge(w, ramet_state(c, s->id, NULL, &state), M(OK));
    m_path_state(s->head, s->head->n, s->adk, want, sizeof want);
    if (!world_failed(w))
        same_text(w, "erase: state", state, want);
    world_judge(w, ramet_session_get(c, s->id, &got), M(OK));
    if (!world_failed(w) && listed(&t->whole, s)) {
        same_text(w, "erase: title", got->title, "");
        same_text(w, "erase: inherited title", got->from_title, "");
        same_text(w, "erase: reason of the fork", got->reason, "");
        same_text(w, "erase: metadata", got->metadata, "{}");
        same_int(w, "erase: tags", (int64_t)got->n_tags, 0);
    }
    ramet_call_reset(c);
}

static bool is_concerned(const m_tree *tree, const target *t)
{
    for (size_t i = 0; i < t->gone.n; i++)
        if (((const m_entry *)t->gone.items[i])->by->tree == tree)
            return true;
    return tree == t->session->tree;
}

static void trees_compare(world *w, ramet_call *c, const target *t)
{
    ramet_fsck_out got = {0};
    for (size_t i = 0; i < w->m.branches.n && !world_failed(w); i++) {
        const m_branch *b = w->m.branches.items[i];
        if (!is_concerned(b->session->tree, t) || !b->id || b->pruned || b->session->purged ||
            m_gone(&w->m, b->session))
            continue;
        branch_compare(w, c, b, &t->gone);
        if (b == b->session->head)
            session_compare(w, c, b->session, t);
    }
    ramet_status st = ramet_fsck(c, NULL, NULL, &got);
    if (st || got.n_all)
        world_fail(w, "erase: fsck", "%s, %" PRId64 " faults: %s", ramet_status_code(st), got.n_all,
                   got.n_all ? got.faults[0].what : "");
}

/* In the store that is open in the place of the real one. */
static void erase_there(world *w, target *t)
{
    unchanged was = {0};
    ramet_receipt *receipt = NULL;
    const ramet_erase_in in = {
        .session = t->kind == TARGET_ENTRY || t->kind == TARGET_SESSION ? t->session->id : NULL,
        .entry_id = t->kind == TARGET_ENTRY ? t->entry->id : NULL,
        .tree = t->kind == TARGET_TREE ? t->session->tree->id : NULL,
        .user = t->kind == TARGET_USER ? t->user : NULL,
        .reason = "a leak"};
    ramet_call *c = ramet_call_new(w->r[0], w->user, NULL);
    target_find(&w->m, t, w->user);
    ramet_status st = ramet_erase(c, &in, &receipt);
    world_judge(w, st, erase_check(w, t));
    if (st == RAMET_OK)
        same_int(w, "erase: entries", receipt->entries, (int64_t)t->gone.n);
    ramet_call_free(c);
    c = ramet_call_new(w->r[0], NULL, NULL);
    if (st != RAMET_OK)
        t->gone.n = t->whole.n = 0;
    bool changed = st == RAMET_OK && !world_failed(w);
    if (changed)
        model_erase(w, t, &was);
    if (!world_failed(w))
        trees_compare(w, c, t);
    if (changed)
        model_put_back(w, t, &was);
    ramet_call_free(c);
    free(t->gone.items);
    free(t->whole.items);
}

static const char *copy_schema(void)
{
    static char name[40];
    snprintf(name, sizeof name, "model_%ld_erase", (long)getpid());
    return name;
}

static void files_remove(const char *path)
{
    static const char *const ends[] = {"",        "-wal",        "-shm",       "-journal",
                                       "-search", "-search-wal", "-search-shm"};
    char name[700];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

/* Names the copy in w->path. */
static void copy_place(world *w)
{
    if (w->database) {
        scratch_db_make(copy_schema(), w->path, sizeof w->path);
        return;
    }
    snprintf(w->path, sizeof w->path, "%s.erase", w->file);
    files_remove(w->path);
}

static void copy_leave(world *w)
{
    if (w->database)
        scratch_db_drop(copy_schema());
    else
        files_remove(w->path);
}

void run_erase(world *w, const op *o)
{
    static const target_kind kinds[] = {TARGET_ENTRY,   TARGET_ENTRY,   TARGET_ENTRY, TARGET_ENTRY,
                                        TARGET_SESSION, TARGET_SESSION, TARGET_TREE,  TARGET_USER};
    m_session *s = slot_session(w, o->a[A_S]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, 0) : NULL;
    m_entry *e = m_branch_entry(b, entry_named(w, s, b, o->a[A_AT]));
    target t = {
        .kind = kinds[o->a[A_K] % 8], .session = s, .entry = e, .user = user_name(o->a[A_MEMBER])};
    char path[sizeof w->path];
    ramet_copy_out out = {0};
    if (!e || m_open(&w->m, w->user, s->id, RAMET_READER, &s) || (t.kind == TARGET_USER && !t.user))
        return;
    memcpy(path, w->path, sizeof path);
    copy_place(w);
    ramet_call *program = world_program(w);
    ramet_status st = ramet_copy(program, w->path, NULL, NULL, NULL, &out);
    ramet_call_free(program);
    world_judge(w, st, M(OK));
    ramet *live = w->r[0];
    if (!world_failed(w) && world_open(w, 0) == RAMET_OK) {
        erase_there(w, &t);
        ramet_close(w->r[0]);
    }
    w->r[0] = live;
    copy_leave(w);
    memcpy(w->path, path, sizeof path);
}
