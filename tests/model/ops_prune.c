/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_prune.c: pruning and restoring branches; names of branches and the favourite.
 */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool list_names(const ramet_prune_out *got, const m_branch *b)
{
    char id[24];
    snprintf(id, sizeof id, "b%lld", (long long)b->id);
    for (size_t i = 0; i < got->n; i++)
        if (strcmp(got->branches[i], id) == 0)
            return true;
    return false;
}

static void pruned_compare(world *w, const ramet_prune_out *got, const m_pruned *want)
{
    same_int(w, "prune.entries", got->entries, want->entries);
    same_int(w, "prune.n", (int64_t)got->n, (int64_t)want->branches.n);
    for (size_t i = 0; i < want->branches.n && !world_failed(w); i++)
        if (!list_names(got, want->branches.items[i]))
            world_fail(w, "prune.branches", "b%lld is missing",
                       (long long)((m_branch *)want->branches.items[i])->id);
}

void run_prune(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    ramet_prune_in in = {.branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]),
                         .others = o->a[A_K] % 3 == 0,
                         .dry_run = o->a[A_DRY]};
    ramet_prune_out got = {0};
    m_pruned want = {0};
    w->m.got = ramet_prune(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_prune(&w->m, w->user, id, &in, &want));
    if (w->m.got == RAMET_OK && !world_failed(w)) {
        pruned_compare(w, &got, &want);
        same_int(w, "prune.kept", (int64_t)got.n_kept, (int64_t)want.kept);
        same_int(w, "prune.dry_run", got.dry_run, in.dry_run);
    }
    free(want.branches.items);
}

void run_prune_restore(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    /* Rather one that was pruned. */
    for (size_t i = 0; s && o->a[A_K] % 4 && i < s->branches.n; i++) {
        const m_branch *b = s->branches.items[((size_t)o->a[A_K] + i) % s->branches.n];
        if (b->pruned && b->log == RAMET_LOG_MAIN) {
            branch = b->id;
            break;
        }
    }
    ramet_prune_out got = {0};
    m_pruned want = {0};
    w->m.got = ramet_branch_restore(w->call, id, branch, o->a[A_TREE], &got);
    world_judge(w, w->m.got, model_branch_restore(&w->m, w->user, id, branch, o->a[A_TREE], &want));
    if (w->m.got == RAMET_OK && !world_failed(w))
        pruned_compare(w, &got, &want);
    free(want.branches.items);
}

void run_branch_update(world *w, const op *o)
{
    static const char *const names[] = {NULL, "", "by train", "\xC3\xBC \xE2\x9C\x93"};
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s = slot_session(w, o->a[A_S]);
    int64_t branch = branch_ref(w, s, RAMET_LOG_MAIN, o->a[A_BR]);
    char too_long[102];
    memset(too_long, 'n', 101);
    too_long[101] = 0;
    bool favourite = o->a[A_K] / 4 % 2;
    ramet_branch_patch in = {.name = o->a[A_K] == 31 ? too_long : names[o->a[A_K] % 4],
                             .favourite = o->a[A_K] / 8 % 2 ? &favourite : NULL};
    ramet_branch *got = NULL;
    m_branch *want = NULL;
    w->m.got = ramet_branch_update(w->call, id, branch, &in, &got);
    world_judge(w, w->m.got, model_branch_update(&w->m, w->user, id, branch, &in, &want));
    if (!want || world_failed(w))
        return;
    same_int(w, "branch.id", got->id, want->id);
    same_text(w, "branch.name", got->name, want->name);
    same_int(w, "branch.favourite", got->favourite, want->favourite);
}

void run_branches_pruned(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_branch *got = NULL;
    size_t n = 0, k = 0;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_status st = ramet_branches_pruned(w->call, id, &got, &n);
    world_judge(w, st, bad ? bad : M(OK));
    for (size_t i = 0; st == RAMET_OK && i < s->branches.n && !world_failed(w); i++) {
        const m_branch *b = s->branches.items[i];
        if (b->log != RAMET_LOG_MAIN || !b->pruned)
            continue;
        if (k < n) {
            same_int(w, "pruned.id", got[k].id, b->id);
            same_text(w, "pruned.name", got[k].name, b->name);
            same_time(w, "pruned.at", got[k].pruned, b->pruned_at);
            same_int(w, "pruned.removed", got[k].removed, b->removed);
        }
        k++;
    }
    if (st == RAMET_OK)
        same_int(w, "pruned.n", (int64_t)n, (int64_t)k);
}
