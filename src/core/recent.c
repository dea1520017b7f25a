/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions that were appended to of late, so that the next append need not read their rows again.
 *
 *   R1  Only the leader of a group looks and writes here: the queue orders them.
 *   R2  A row holds while this process has written nothing but appends (recent_forget()), no other
 *       process has written and nothing was rolled back (db_epoch()).
 *   R3  An append changes rows of its own session alone. It puts the head that it made, or drops
 *       the session when it changed more than that (append_run()).
 *
 * What depends on the clock is not kept: whether a session has expired is asked every time.
 */
#include "core/core.h"

#include <stdlib.h>

#define SLOTS 1024 /* direct-mapped by the session's id */

typedef struct slot {
    int64_t epoch, turn; /* when it was put (R2) */
    char *texts;         /* id, owner and user behind each other; NULL: free */
    const char *user;    /* whose level it is; NULL: the embedding program */
    ramet_level level;
    session_row s;
    branch_row head;
} slot;

struct recent {
    int64_t turn;
    slot slots[SLOTS];
};

struct recent *recent_new(void)
{
    return xcalloc(1, sizeof(struct recent));
}

void recent_free(struct recent *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        free(r->slots[i].texts);
    free(r);
}

void recent_forget(struct recent *r)
{
    r->turn++;
}

static slot *slot_of(cx *x, const char *id)
{
    uint32_t h = 2166136261u;
    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 16777619u;
    return &x->r->recent->slots[(h ^ h >> 16) % SLOTS];
}

static bool slot_holds(cx *x, const slot *t, const char *id)
{
    return t->texts && t->turn == x->r->recent->turn && strcmp(t->s.id, id) == 0 &&
           t->epoch == db_epoch(x->d);
}

bool recent_get(cx *x, const char *id, session_row *s, branch_row *head)
{
    const slot *t = slot_of(x, id);
    if (!slot_holds(x, t, id))
        return false;
    *s = t->s;
    *head = t->head;
    const char *user = x->c->user;
    if (user && t->user && strcmp(user, t->user) == 0) {
        x->level = t->level;
        x->level_tree = s->tree;
    }
    return true;
}

void recent_put(cx *x, const session_row *s, const branch_row *head)
{
    slot *t = slot_of(x, s->id);
    if (slot_holds(x, t, s->id)) {
        t->head = *head;
        return;
    }
    const char *user = x->level_tree == s->tree && x->c->user ? x->c->user : "";
    size_t id_n = strlen(s->id) + 1, owner_n = strlen(s->owner) + 1, user_n = strlen(user) + 1;
    char *p = xmalloc(id_n + owner_n + user_n), *old = t->texts;
    *t = (slot){.epoch = db_epoch(x->d),
                .turn = x->r->recent->turn,
                .texts = p,
                .level = x->level,
                .s = *s,
                .head = *head};
    t->s.id = memcpy(p, s->id, id_n);
    t->s.owner = memcpy(p + id_n, s->owner, owner_n);
    t->user = *user ? memcpy(p + id_n + owner_n, user, user_n) : NULL;
    free(old);
}

void recent_drop(cx *x, const char *id)
{
    slot_of(x, id)->turn = -1;
}
