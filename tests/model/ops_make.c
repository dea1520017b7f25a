/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_make.c: conversations made by their first entry, archived trees, trees that are handed over.
 */
#include "driver.h"
#include "ramet/memory.h"

#include <stdlib.h>
#include <string.h>

enum { HOW_ROOT, HOW_FORK, HOW_STARTED, HOWS };

void run_make(world *w, const op *o)
{
    static content c;
    int32_t slot = o->a[A_K] >= 24 ? o->a[A_S] : o->a[A_TO];
    const char *id = slot_id(w, slot);
    m_session *from = slot_session(w, o->a[A_S1]);
    int how = o->a[A_K] % HOWS;
    if (!w->user)
        return;
    content_make(&c, 0, 0, 0, RAMET_LOG_MAIN, w->m.now);
    ramet_make make = {.title = content_title(o->a[A_TITLE]),
                       .metadata = content_metadata(o->a[A_META])};
    if (how == HOW_FORK) {
        make.fork_of = slot_id(w, o->a[A_S1]);
        make.fork_at = entry_named(w, from, from ? from->head : NULL, o->a[A_AT]);
    } else if (how == HOW_STARTED) {
        make.started_by = slot_id(w, o->a[A_S1]);
    }
    ramet_append_in in = {.entries = &c.in, .n = 1, .make = &make};
    ramet_append_out got = {0};
    m_answer a = {0};
    w->m.got = append_at_home(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_make(&w->m, w->user, w->client, id, &in, &a));
    if (a.session && !world_failed(w)) {
        world_learn(w, a.session, a.branch);
        same_int(w, "make.n", (int64_t)got.n, 1);
        if (!world_failed(w))
            same_entry(w, &got.entries[0], a.entries.items[0], a.session, a.branch, false);
    }
    free(a.entries.items);
}

void run_archive(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    ramet_session *got = NULL;
    m_answer a = {0};
    bool archived = o->a[A_ARCH] != 2;
    w->m.got = ramet_archive(w->call, id, archived, &got);
    world_judge(w, w->m.got, model_archive(&w->m, w->user, id, archived, &a));
    if (a.session && !world_failed(w))
        same_session(w, got, a.session, w->user, false);
}

void run_offer(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]), *to = user_name(o->a[A_MEMBER]);
    ramet_transfer *got = NULL;
    m_session *of = NULL;
    if (!to)
        return;
    w->m.got = ramet_transfer_add(w->call, id, to, &got);
    world_judge(w, w->m.got, model_offer(&w->m, w->user, id, to, &of));
    if (!of || world_failed(w))
        return;
    of->tree->offer = model_text(&w->m, got->id);
    same_text(w, "transfer.from", got->from, of->tree->giver);
    same_text(w, "transfer.to", got->to, of->tree->taker);
    same_text(w, "transfer.session", got->session, of->id);
}

void run_offer_end(world *w, const op *o)
{
    m_session *s = slot_session(w, o->a[A_S]);
    m_tree *t = s ? s->tree : NULL;
    const char *id = t && t->offer ? t->offer : "0198c1d2-0000-7000-8000-000000000001";
    bool accept = o->a[A_K] % 3 != 0;
    w->m.got = accept ? ramet_transfer_accept(w->call, id) : ramet_transfer_delete(w->call, id);
    world_judge(w, w->m.got, model_offer_end(&w->m, w->user, t, accept));
}

void run_offers(world *w, const op *o)
{
    ramet_transfer *got = NULL;
    size_t n = 0, want = 0;
    (void)o;
    if (!w->user)
        return;
    world_judge(w, ramet_transfers(w->call, true, true, &got, &n), M(OK));
    for (size_t i = 0; i < w->m.trees.n; i++)
        want += m_offered(w->m.trees.items[i], w->user);
    same_int(w, "transfers.n", (int64_t)n, (int64_t)want);
}
