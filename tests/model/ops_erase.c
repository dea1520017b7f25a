/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_erase.c: an entry is erased in a copy of the store, on the same engine, and every path of the
 * tree is read there: it, its copies, the summaries of it and the raw events of its turn say so
 * wherever they are, all else says what it said. The store itself goes on with the entry, so that
 * the other operations keep their content.
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

/* The entry, what was copied from it, the raw events of its turn, and so on. */
static void erased_find(const model *m, m_entry *e, m_list *gone)
{
    size_t before = 0;
    m_list_add(gone, e);
    while (before != gone->n) {
        before = gone->n;
        for (size_t i = 0; i < m->entries.n; i++) {
            m_entry *x = m->entries.items[i];
            if (!x->gone && !listed(gone, x) && (made_from(x, gone) || is_event(x, gone)))
                m_list_add(gone, x);
        }
    }
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

static m_set erase_check(const world *w, const m_entry *e, const m_list *gone)
{
    const m_tree *t = e->by->tree;
    /* The place that gc leaves of a session has no owner. */
    bool owns = !e->by->purged && m_same(e->by->owner, w->user);
    if (w->user && !owns && m_tree_level(t, w->user) < RAMET_MANAGER)
        return M(FORBIDDEN);
    for (size_t i = 0; i < gone->n; i++)
        if (on_hold(&w->m, gone->items[i]))
            return M(HELD);
    return M(OK);
}

static void entry_compare(world *w, const ramet_entry *got, const m_branch *b, const m_entry *e,
                          bool erased)
{
    same_text(w, "erase: id", got->id, e->id);
    same_text(w, "erase: hash", got->hash, e->hash);
    same_int(w, "erase: role", (int64_t)got->role, (int64_t)e->role);
    same_int(w, "erase: erased", got->erased != NULL, erased);
    if (erased) {
        same_text(w, "erase: text", got->text, RAMET_ERASED_TEXT);
        same_text(w, "erase: body", got->body, NULL);
        same_text(w, "erase: author", got->author, NULL);
        same_text(w, "erase: state_delta", got->state_delta, NULL);
    } else if (e->position >= b->filled) { /* values may have gone along */
        same_text(w, "erase: text of another", got->text, e->text);
        same_text(w, "erase: parts of another", got->parts, e->parts);
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

static void tree_compare(world *w, ramet_call *c, const m_tree *t, const m_list *gone)
{
    ramet_fsck_out got = {0};
    for (size_t i = 0; i < w->m.branches.n && !world_failed(w); i++) {
        const m_branch *b = w->m.branches.items[i];
        if (b->session->tree == t && b->id && !b->pruned && !b->session->purged &&
            !m_gone(&w->m, b->session))
            branch_compare(w, c, b, gone);
    }
    ramet_status st = ramet_fsck(c, NULL, NULL, &got);
    if (st || got.n_all)
        world_fail(w, "erase: fsck", "%s, %" PRId64 " faults: %s", ramet_status_code(st), got.n_all,
                   got.n_all ? got.faults[0].what : "");
}

/* In the store that is open in the place of the real one. */
static void erase_there(world *w, const m_session *s, m_entry *e)
{
    m_list gone = {0};
    ramet_receipt *receipt = NULL;
    const ramet_erase_in in = {.session = s->id, .entry_id = e->id, .reason = "a leak"};
    ramet_call *c = ramet_call_new(w->r[0], w->user, NULL);
    erased_find(&w->m, e, &gone);
    ramet_status st = ramet_erase(c, &in, &receipt);
    world_judge(w, st, erase_check(w, e, &gone));
    ramet_call_free(c);
    c = ramet_call_new(w->r[0], NULL, NULL);
    if (st != RAMET_OK)
        gone.n = 0;
    if (!world_failed(w))
        tree_compare(w, c, s->tree, &gone);
    ramet_call_free(c);
    free(gone.items);
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
    m_session *s = slot_session(w, o->a[A_S]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, 0) : NULL;
    m_entry *e = m_branch_entry(b, entry_named(w, s, b, o->a[A_AT]));
    char path[sizeof w->path];
    ramet_copy_out out = {0};
    if (!e || m_open(&w->m, w->user, s->id, RAMET_READER, &s))
        return;
    memcpy(path, w->path, sizeof path);
    copy_place(w);
    ramet_call *program = world_program(w);
    ramet_status st = ramet_copy(program, w->path, NULL, NULL, NULL, &out);
    ramet_call_free(program);
    world_judge(w, st, M(OK));
    ramet *live = w->r[0];
    if (!world_failed(w) && world_open(w, 0) == RAMET_OK) {
        erase_there(w, s, e);
        ramet_close(w->r[0]);
    }
    w->r[0] = live;
    copy_leave(w);
    memcpy(w->path, path, sizeof path);
}
