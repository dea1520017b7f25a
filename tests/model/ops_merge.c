/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_merge.c: merges, and where entries came from and went.
 */
#include "driver.h"

#include <string.h>

/* The slot, or the next one that holds a session of the same tree. */
static int32_t source_slot(world *w, const op *o, const m_session *s)
{
    for (int32_t i = 0; s && !o->a[A_STRICT] && o->a[A_K] % 16 != 15 && i < SLOTS; i++) {
        int32_t slot = (o->a[A_S1] + i) % SLOTS;
        const m_session *k = slot_session(w, slot);
        if (k && k->tree == s->tree && m_shown(&w->m, k, w->user))
            return slot;
    }
    return o->a[A_S1];
}

void run_merge(world *w, const op *o)
{
    static const ramet_merge_mode modes[] = {RAMET_SPLICE, RAMET_FAST_FORWARD, RAMET_PICK,
                                             RAMET_LAND};
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int32_t slot = source_slot(w, o, s);
    m_session *from = slot_session(w, slot);
    int64_t branch = branch_ref(w, from, RAMET_LOG_MAIN, o->a[A_B1]);
    m_branch *b = from ? m_branch_find(from, RAMET_LOG_MAIN, branch) : NULL;
    const char *source = slot_id(w, slot);
    ramet_merge_pick picks[] = {{source, branch, entry_named(w, from, b, o->a[A_AT])},
                                {source, branch, entry_named(w, from, b, o->a[A_AFTER])}};
    ramet_merge_in in = {.mode = modes[o->a[A_K] % 4],
                         .dry_run = o->a[A_DRY],
                         .expected_head = head_ref(s ? s->head : NULL, o->a[A_XH])};
    if (in.mode == RAMET_PICK) {
        in.picks = picks;
        in.n_picks = 1 + (size_t)(o->a[A_K] / 4 % 2);
    } else {
        in.from = source;
        in.from_branch = branch;
    }
    if (in.mode == RAMET_LAND)
        in.text = "landed";
    m_answer a = {0};
    ramet_merge_out got = {0};
    w->m.got = ramet_merge(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_merge(&w->m, w->user, w->client, id, &in, &a));
    if (!a.session || world_failed(w))
        return;
    same_int(w, "merge.count", got.count, (int64_t)a.added);
    if (in.dry_run) {
        same_int(w, "merge.n", (int64_t)got.n, a.added > 1000 ? 1000 : (int64_t)a.added);
        return;
    }
    world_learn(w, a.session, a.branch);
    if (!world_failed(w))
        same_session(w, got.session, a.session, w->user, false);
}

/* Whether the other end of a copy is there, and visible to a user. */
static bool end_shown(const model *m, const m_session *s, const m_entry *e, const char *user)
{
    return !m_hidden(e) && m_shown(m, s, user);
}

static void end_compare(world *w, const ramet_entry_ref *list, size_t n, const m_session *s,
                        const m_entry *e)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].session, s->id) == 0 && strcmp(list[i].entry_id, e->id) == 0 &&
            list[i].branch == e->owner->id)
            return;
    world_fail(w, "ends", "'%s' of '%s' is missing among %zu", e->id, s->id, n);
}

static void ends_compare(world *w, const char *id, int64_t branch, const m_entry *e)
{
    ramet_entry_ref *list;
    m_session *of;
    const m_entry *from = m_origin(e, &of);
    size_t n = 0, want = from && end_shown(&w->m, of, from, w->user);
    ramet_status st = ramet_origins(w->call, id, branch, e->id, &list, &n);
    if (st)
        world_fail(w, "origins", "%s", ramet_status_code(st));
    same_int(w, "origins.n", (int64_t)n, (int64_t)want);
    if (want && !world_failed(w))
        end_compare(w, list, n, of, from);
    st = ramet_destinations(w->call, id, branch, e->id, &list, &n);
    if (st)
        world_fail(w, "destinations", "%s", ramet_status_code(st));
    want = 0;
    for (size_t i = 0; i < w->m.entries.n && !world_failed(w); i++) {
        const m_entry *to = w->m.entries.items[i];
        if (!m_came_from(to, e) || !end_shown(&w->m, to->by, to, w->user))
            continue;
        want++;
        end_compare(w, list, n, to->by, to);
    }
    same_int(w, "destinations.n", (int64_t)n, (int64_t)want);
}

void run_ends(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, branch) : NULL;
    const char *at = entry_named(w, s, b, o->a[A_AT]);
    const m_entry *e = m_branch_entry(b, at);
    ramet_entry_ref *list;
    size_t n;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    if (s && !e)
        bad |= b ? M(ENTRY_NOT_FOUND) : m_branch_missing(s, RAMET_LOG_MAIN, branch);
    ramet_status st = ramet_origins(w->call, id, branch, at, &list, &n);
    world_judge(w, st, bad ? bad : M(OK));
    if (st == RAMET_OK && !world_failed(w))
        ends_compare(w, id, branch, e);
}
