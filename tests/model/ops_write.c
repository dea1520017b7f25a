/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_write.c: operations that make sessions, append to them and move their heads.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

static const int64_t lifetimes[] = {0, 999, 3000001, 600000001};

/* A session was made: its id is known now, and the slot points to it. */
void fork_made(world *w, m_session *s, int32_t slot, const ramet_session *got)
{
    if (!s->id) {
        if (model_find(&w->m, got->id))
            world_fail(w, "session.id", "%s was made twice", got->id);
        s->id = model_text(&w->m, got->id);
        w->slot[slot] = s->id;
    }
    world_learn(w, s, s->head);
    if (!world_failed(w))
        same_session(w, got, s, w->user, false);
}

/* When every slot is taken, the store makes the id. */
const char *fork_id(world *w, const op *o, int32_t slot)
{
    if (o->a[A_UUID] || (!o->a[A_STRICT] && slot_session(w, slot)))
        return NULL;
    return slot_id(w, slot);
}

void run_create(world *w, const op *o)
{
    const char *const *tags;
    size_t n_tags = content_tags(o->a[A_TAGS], &tags);
    const char *owner = user_name(o->a[A_OWNER]);
    ramet_session_in in = {.id = fork_id(w, o, o->a[A_S]),
                           .title = content_title(o->a[A_TITLE]),
                           .tags = tags,
                           .n_tags = n_tags,
                           .metadata = content_metadata(o->a[A_META]),
                           .visibility = o->a[A_PRIVATE] == 1 ? RAMET_PRIVATE : RAMET_TREE_VISIBLE,
                           .owner = owner || w->user ? owner : "u1",
                           .ephemeral_us = lifetimes[o->a[A_EPH]]};
    m_answer a = {0};
    ramet_session *got = NULL;
    content_agent(o->a[A_AGENT], &in.agent);
    w->m.got = ramet_session_create(w->call, &in, &got);
    world_judge(w, w->m.got, model_create(&w->m, w->user, &in, &a));
    if (a.session && !world_failed(w))
        fork_made(w, a.session, o->a[A_S], got);
}

void run_fork(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, branch) : NULL;
    const char *const *tags;
    size_t n_tags = content_tags(o->a[A_TAGS], &tags);
    ramet_agent agent;
    content_agent(o->a[A_AGENT], &agent);
    ramet_fork_in in = {
        .at = {entry_ref(w, s, b, o->a[A_AT]), o->a[A_SIDE] ? RAMET_BEFORE : RAMET_AFTER},
        .branch = branch,
        .cut = (ramet_cut_policy)o->a[A_CUT],
        .adk_at = {entry_ref(w, s, s ? s->adk : NULL, o->a[A_ADK]),
                   o->a[A_ADK] & 1 ? RAMET_BEFORE : RAMET_AFTER},
        .id = fork_id(w, o, o->a[A_TO]),
        .title = content_title(o->a[A_TITLE]),
        .reason = content_reason(o->a[A_REASON]),
        .tags = tags,
        .n_tags = n_tags,
        .agent = o->a[A_AGENT] ? &agent : NULL,
        .metadata = content_metadata(o->a[A_META]),
        .type = (ramet_fork_type)o->a[A_TYPE],
        .visibility = o->a[A_PRIVATE] == 1 ? RAMET_PRIVATE : RAMET_TREE_VISIBLE,
        .by_kind = o->a[A_BY] & 1 ? RAMET_BY_SYSTEM : RAMET_BY_USER,
        .by_id = o->a[A_BY] & 2 ? "cron" : NULL,
        .ephemeral_us = lifetimes[o->a[A_EPH]],
        .expected_head = head_ref(b, o->a[A_XH])};
    if (!in.at.entry_id)
        in.at.side = RAMET_AFTER;
    m_answer a = {0};
    ramet_session *got = NULL;
    ramet_cut cut = {0};
    w->m.got = ramet_fork(w->call, id, &in, &got, &cut);
    world_judge(w, w->m.got, model_fork(&w->m, w->user, id, &in, &a));
    if (!a.session || world_failed(w))
        return;
    same_int(w, "cut.policy", (int64_t)cut.policy, (int64_t)in.cut);
    same_cut(w, "cut", cut.entry_id, cut.side, cut.position, NULL, &a, &in.at);
    fork_made(w, a.session, o->a[A_TO], got);
}

/* ----------------------------------------------------------------- entries */

/* Gives an entry that is on the path again: 1 as it was given, 2 without the fields that may be
 * left out, 3 with another text. */
static void content_again(content *c, const m_branch *b, const m_entry *record, int how)
{
    const m_entry *e = m_entry_shown(b, record);
    memset(c, 0, sizeof *c);
    c->in =
        (ramet_entry_in){.id = e->id, .role = e->role, .parts = e->parts, .channel = e->channel};
    if (strcmp(e->format, "ramet") != 0) {
        c->in.format = e->format;
        c->in.body = e->body;
    }
    if (how != 2) {
        c->in.turn_id = e->turn_id;
        c->in.author = e->author;
        c->in.state_delta = e->delta;
        c->usage = e->usage;
        c->in.usage = e->has_usage ? &c->usage : NULL;
    }
    if (how == 3) {
        c->in.parts = NULL;
        c->in.text = "something else";
    }
}

static void append_compare(world *w, const ramet_append_out *got, const m_answer *a)
{
    if (world_failed(w))
        return;
    same_int(w, "append.n", (int64_t)got->n, (int64_t)a->entries.n);
    same_int(w, "append.added", (int64_t)got->added, (int64_t)a->added);
    for (size_t i = 0; i < got->n && i < a->entries.n; i++)
        same_entry(w, &got->entries[i], a->entries.items[i], a->session, a->branch, false);
    same_head(w, "append.head", &got->head, a->branch);
}

void run_append(world *w, const op *o)
{
    static content c[16];
    ramet_entry_in entries[16];
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    ramet_log log = (ramet_log)o->a[A_LOG];
    int64_t branch = branch_ref(w, s, log, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, log, branch) : NULL;
    size_t n = o->a[A_N] == 11 ? 0 : (size_t)o->a[A_N] + 1;
    for (size_t i = 0; i < n; i++)
        content_make(&c[i], o->a[A_C], (int)i, o->a[A_ID], log, w->m.now);
    if (n && o->a[A_RE] && o->a[A_RE] < 4 && b && b->n)
        content_again(&c[n / 2], b, b->path[b->n - 1 - (size_t)o->a[A_ID] % b->n], o->a[A_RE]);
    if (n > 2 && o->a[A_RE] == 4)
        content_make(&c[n - 1], o->a[A_C], 0, o->a[A_ID], log, w->m.now);
    for (size_t i = 0; i < n; i++)
        entries[i] = c[i].in;
    ramet_append_in in = {.entries = entries,
                          .n = n,
                          .expected_head = head_ref(b, o->a[A_XH]),
                          .branch = branch,
                          .log = log};
    ramet_append_out got = {0};
    m_answer a = {0};
    w->m.got = ramet_append(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_append(&w->m, w->user, w->client, id, &in, &a));
    if (a.session && !world_failed(w)) {
        world_learn(w, a.session, a.branch);
        append_compare(w, &got, &a);
    } else if (w->m.got == RAMET_HEAD_MOVED && !world_failed(w)) {
        same_text(w, "error.head.hash", ramet_call_error(w->call)->head.hash, m_branch_hash(b));
    }
    free(a.entries.items);
}

/* An edit or a regeneration. */
static void replace(world *w, const op *o, ramet_move_kind kind)
{
    static content c[16];
    ramet_entry_in entries[16];
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    const char *at = entry_named(w, s, s ? s->head : NULL, o->a[A_AT]);
    const char *xh = head_ref(s ? s->head : NULL, o->a[A_XH]);
    bool edit = kind == RAMET_MOVE_EDIT;
    size_t n = edit ? 1 : o->a[A_N] == 11 ? 0 : (size_t)o->a[A_N] + 1;
    for (size_t i = 0; i < n; i++) {
        content_make(&c[i], o->a[A_C], (int)i, o->a[A_ID], RAMET_LOG_MAIN, w->m.now);
        entries[i] = c[i].in;
    }
    if (edit && o->a[A_RE] == 4)
        entries[0].id = at; /* a new version under the old name */
    if (edit && o->a[A_RE] && o->a[A_RE] < 4 && s && s->head->n) {
        content_again(&c[0], s->head, s->head->path[(size_t)o->a[A_C] % s->head->n], o->a[A_RE]);
        entries[0] = c[0].in;
    }
    if (edit && o->a[A_ROLE])
        entries[0].role = (ramet_role)0;
    ramet_append_out got = {0};
    m_answer a = {0};
    w->m.got = edit ? ramet_edit(w->call, id, at, entries, xh, &got)
                    : ramet_regenerate(w->call, id, at, entries, n, xh, &got);
    world_judge(w, w->m.got,
                model_replace(&w->m, w->user, w->client, id, at, entries, n, xh, kind, &a));
    if (a.session && !world_failed(w)) {
        world_learn(w, a.session, a.branch);
        append_compare(w, &got, &a);
    }
    free(a.entries.items);
}

void run_edit(world *w, const op *o)
{
    replace(w, o, RAMET_MOVE_EDIT);
}

void run_regenerate(world *w, const op *o)
{
    replace(w, o, RAMET_MOVE_REGENERATE);
}

/* -------------------------------------------------------------------- sync */

/* A client's list: the channel's first entries as it has them, perhaps with one changed, and
 * perhaps some more. */
static size_t sync_list(const world *w, const op *o, const m_session *s, content *c)
{
    const char *channel = o->a[A_CH] ? content_channel(o->a[A_CH]) : "history";
    size_t n = 0, there = 0;
    for (size_t i = 0; s && i < s->head->n; i++)
        there += strcmp(s->head->path[i]->channel, channel) == 0;
    size_t keep =
        o->a[A_KEEP] > 50 || (size_t)o->a[A_KEEP] > there ? there : there - (size_t)o->a[A_KEEP];
    if (keep > 200)
        keep = 200;
    for (size_t i = 0; s && n < keep; i++) {
        const m_entry *e = s->head->path[i];
        if (strcmp(e->channel, channel) != 0)
            continue;
        bool last = n + 1 == keep, middle = n == keep / 2;
        bool differs = (o->a[A_CHANGE] == 1 && last) || (o->a[A_CHANGE] == 2 && middle);
        content_again(&c[n], s->head, e, differs ? 3 : 2);
        c[n].in.id = o->a[A_ID] % (differs ? 4 : 2) ? e->id : NULL;
        n++;
    }
    for (int i = 0; i < o->a[A_ADD]; i++, n++) {
        content_make(&c[n], o->a[A_C], i, o->a[A_ID], RAMET_LOG_MAIN, w->m.now);
        c[n].in.channel = channel;
    }
    return n;
}

void run_sync(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    content *c = calloc(256, sizeof *c);
    ramet_entry_in entries[256];
    const char *xh = head_ref(s ? s->head : NULL, o->a[A_XH]);
    if (!c)
        abort();
    size_t n = sync_list(w, o, s, c);
    for (size_t i = 0; i < n; i++)
        entries[i] = c[i].in;
    ramet_sync_out got = {0};
    m_answer a = {0};
    w->m.got = ramet_sync(w->call, id, entries, n, xh, &got);
    world_judge(w, w->m.got, model_sync(&w->m, w->user, w->client, id, entries, n, xh, &a));
    if (a.session && !world_failed(w)) {
        same_int(w, "sync.matched", got.matched, (int64_t)a.matched);
        same_int(w, "sync.added", got.added, (int64_t)a.added);
        same_int(w, "sync.moved", got.moved, a.moved);
        if (!world_failed(w))
            world_learn(w, a.session, a.branch);
        if (!world_failed(w))
            same_session(w, got.session, a.session, w->user, false);
    }
    free(a.entries.items);
    free(c);
}

/* ------------------------------------------------------------------- moves */

static void moved(world *w, m_set want, const m_answer *a, const ramet_session *got)
{
    world_judge(w, w->m.got, want);
    if (!a->session || world_failed(w))
        return;
    world_learn(w, a->session, a->branch);
    if (!world_failed(w))
        same_session(w, got, a->session, w->user, false);
}

void run_rewind(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    m_branch *b = s ? s->head : NULL;
    ramet_move_in in = {
        .at = {entry_ref(w, s, b, o->a[A_AT]), o->a[A_SIDE] ? RAMET_BEFORE : RAMET_AFTER},
        .cut = (ramet_cut_policy)o->a[A_CUT],
        .adk_at = {entry_ref(w, s, s ? s->adk : NULL, o->a[A_ADK]),
                   o->a[A_ADK] & 1 ? RAMET_BEFORE : RAMET_AFTER},
        .reason = content_reason(o->a[A_REASON]),
        .expected_head = head_ref(b, o->a[A_XH])};
    if (!in.at.entry_id)
        in.at.side = RAMET_AFTER;
    m_answer a = {0};
    ramet_session *got = NULL;
    ramet_cut cut = {0};
    w->m.got = ramet_rewind(w->call, id, &in, &got, &cut);
    moved(w, model_rewind(&w->m, w->user, id, &in, &a), &a, got);
    if (a.session)
        same_cut(w, "cut", cut.entry_id, cut.side, cut.position, NULL, &a, &in.at);
}

static void undo(world *w, const op *o, bool redo)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    const char *xh = head_ref(s ? s->head : NULL, o->a[A_XH]);
    m_answer a = {0};
    ramet_session *got = NULL;
    w->m.got = redo ? ramet_redo(w->call, id, xh, &got) : ramet_undo(w->call, id, xh, &got);
    moved(w, model_undo(&w->m, w->user, id, xh, redo, &a), &a, got);
}

void run_undo(world *w, const op *o)
{
    undo(w, o, false);
}

void run_redo(world *w, const op *o)
{
    undo(w, o, true);
}

void run_switch(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    const char *xh = head_ref(s ? s->head : NULL, o->a[A_XH]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR] ? o->a[A_BR] : 1);
    m_answer a = {0};
    ramet_session *got = NULL;
    w->m.got = ramet_switch(w->call, id, branch, xh, &got);
    moved(w, model_switch(&w->m, w->user, id, branch, xh, &a), &a, got);
}

/* ---------------------------------------------------------------- sessions */

void run_update(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    ramet_agent agent;
    bool archived = o->a[A_ARCH] == 1;
    ramet_visibility visibility = o->a[A_PRIVATE] == 1 ? RAMET_PRIVATE : RAMET_TREE_VISIBLE;
    int32_t into = o->a[A_INTO];
    content_agent(o->a[A_AGENT], &agent);
    ramet_session_patch in = {.title = content_title(o->a[A_TITLE]),
                              .agent = o->a[A_AGENT] ? &agent : NULL,
                              .metadata = content_metadata(o->a[A_META]),
                              .archived = o->a[A_ARCH] ? &archived : NULL,
                              .visibility = o->a[A_PRIVATE] ? &visibility : NULL,
                              .merged_into = into == 0      ? NULL
                                             : into > SLOTS ? ""
                                                            : slot_id(w, into - 1),
                              .expected_head = head_ref(s ? s->head : NULL, o->a[A_XH])};
    m_answer a = {0};
    ramet_session *got = NULL;
    w->m.got = ramet_session_update(w->call, id, &in, &got);
    moved(w, model_update(&w->m, w->user, id, &in, &a), &a, got);
}

void run_promote(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_answer a = {0};
    ramet_session *got = NULL;
    w->m.got = ramet_session_promote(w->call, id, &got);
    moved(w, model_promote(&w->m, w->user, id, &a), &a, got);
}

void run_restore(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_answer a = {0};
    ramet_session *got = NULL;
    w->m.got = ramet_session_restore(w->call, id, o->a[A_TREE], &got);
    moved(w, model_restore(&w->m, w->user, id, o->a[A_TREE], &a), &a, got);
}

void run_delete(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    bool dry = o->a[A_DRY];
    ramet_delete_out got = {0};
    m_list ids = {0};
    int64_t entries = 0;
    w->m.got = ramet_session_delete(w->call, id, o->a[A_TREE], dry, &got);
    world_judge(w, w->m.got, model_delete(&w->m, w->user, id, o->a[A_TREE], dry, &ids, &entries));
    if (ids.n && !world_failed(w)) {
        same_int(w, "delete.n", (int64_t)got.n, (int64_t)ids.n);
        same_int(w, "delete.entries", got.entries, entries);
        same_int(w, "delete.dry_run", got.dry_run, dry);
        for (size_t i = 0; i < got.n; i++) {
            bool found = false;
            for (size_t k = 0; k < ids.n; k++)
                found |= strcmp(got.ids[i], ((m_session *)ids.items[k])->id) == 0;
            if (!found)
                world_fail(w, "delete.ids", "%s should not go", got.ids[i]);
        }
    }
    free(ids.items);
}

static void tags(world *w, const op *o, m_tags_how how)
{
    const char *id = slot_id(w, o->a[A_S]);
    const char *const *given;
    size_t n = content_tags(o->a[A_TAGS], &given);
    ramet_tags got = {0};
    m_answer a = {0};
    w->m.got = how == TAGS_SET   ? ramet_tags_set(w->call, id, given, n, &got)
               : how == TAGS_ADD ? ramet_tags_add(w->call, id, given, n, &got)
                                 : ramet_tags_remove(w->call, id, given, n, &got);
    world_judge(w, w->m.got, model_tags(&w->m, w->user, id, how, given, n, &a));
    if (a.session && !world_failed(w))
        same_tags(w, got.items, got.n, &a.session->tags);
}

void run_tags_set(world *w, const op *o)
{
    tags(w, o, TAGS_SET);
}

void run_tags_add(world *w, const op *o)
{
    tags(w, o, TAGS_ADD);
}

void run_tags_remove(world *w, const op *o)
{
    tags(w, o, TAGS_REMOVE);
}

void run_member_set(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]), *who = user_name(o->a[A_MEMBER] % 5 + 1);
    ramet_level level = (ramet_level)o->a[A_LEVEL];
    w->m.got = ramet_member_set(w->call, id, who, level);
    world_judge(w, w->m.got, model_member_set(&w->m, w->user, id, who, level));
}

void run_member_remove(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]), *who = user_name(o->a[A_MEMBER] % 5 + 1);
    w->m.got = ramet_member_remove(w->call, id, who);
    world_judge(w, w->m.got, model_member_remove(&w->m, w->user, id, who));
}
