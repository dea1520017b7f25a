/* SPDX-License-Identifier: Apache-2.0
 *
 * Versions of a message: the distinct entries at a position on the paths of this session's branches
 * that share everything before it, in order of creation.
 *
 * Let o own the entry at p on some path, and g own p-1 (o.parent when o begins at p, else o
 * itself). Then the versions are: g's own entry at p, and the entries of branches (parent g, base
 * p), as far as those branches belong to this session and are not empty. An entry of another
 * session counts when it was inherited: when it is on the path in question, or when a branch of the
 * group replaced it (`over`).
 *
 * Pruned branches do not count.
 */
#include "core/view/version.h"

#include "ramet/branches.h"
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/entry.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#include <stdlib.h>

typedef VEC(version_row) version_list;

static void version_put(txn *tx, int64_t tree, int64_t owner, int64_t pos, version_list *v)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->items[i].owner == owner)
            return;
    version_row r = {.owner = owner, .key = KEY(owner, pos)};
    db_stmt *q = db_query(tx->db, Q_entry_name);
    q_int(q, 1, tree);
    q_int(q, 2, r.key);
    bool found = q_row(q);
    if (found)
        r.created = q_col_int(q, 1);
    q_end(q);
    if (found)
        VEC_PUSH(tx->arena, v, r);
}

typedef struct group_member {
    int64_t id, len, over;
} group_member;

static int by_creation(const void *a, const void *b)
{
    const version_row *p = a, *q = b;
    if (p->created != q->created)
        return p->created < q->created ? -1 : 1;
    return p->key < q->key ? -1 : p->key > q->key;
}

/* The first branch of a session and those that merges made; none when there was no merge. */
struct merge_list {
    int64_t tree, session;
    branch_meta *items;
    size_t n;
};

/* Most sessions have none: one look for all entries of a page. */
static const struct merge_list *merges_of(txn *tx, const session_access *s)
{
    if (tx->merges && tx->merges->tree == s->tree && tx->merges->session == s->no)
        return tx->merges;
    struct merge_list *list = arena_alloc(tx->arena, sizeof *list);
    VEC(int64_t) ids = {0};
    *list = (struct merge_list){.tree = s->tree, .session = s->no};
    db_stmt *q = db_query(tx->db, Q_move_merges);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    while (q_row(q))
        VEC_PUSH(tx->arena, &ids, q_col_int(q, 0));
    session_full full;
    if (ids.n && session_by_no(tx, s->tree, s->no, &full))
        VEC_PUSH(tx->arena, &ids, full.first);
    list->items = arena_array(tx->arena, ids.n, sizeof *list->items);
    for (size_t i = 0; i < ids.n; i++)
        if (branch_meta_load(tx, s->tree, ids.items[i], &list->items[list->n]))
            list->n++;
    return tx->merges = list;
}

/* What merges brought to a position behind the entry of branch g. */
static void merges_put(txn *tx, const session_access *s, int64_t g, int log, int64_t pos,
                       version_list *v)
{
    const struct merge_list *merges = merges_of(tx, s);
    for (size_t i = 0; i < merges->n; i++) {
        const branch_meta *m = &merges->items[i];
        branch_meta here, before = {0};
        if (m->log == log && m->base > pos && path_owner(tx, m, pos, &here) &&
            (pos == 0 || path_owner(tx, m, pos - 1, &before)) && before.id == g)
            version_put(tx, s->tree, here.id, pos, v);
    }
}

const branch_row *branch_holding(txn *tx, const branch_row *list, size_t n, const note_list *notes,
                                 int log, int64_t owner, int64_t pos)
{
    for (size_t i = n; i-- > 0;) {
        branch_meta o;
        if (list[i].meta.log == log && list[i].len > pos && !notes_pruned(notes, list[i].meta.id) &&
            path_owner(tx, &list[i].meta, pos, &o) && o.id == owner)
            return &list[i];
    }
    return NULL;
}

/* In a session with pruned branches: removes versions that only pruned branches hold. */
static void versions_left(txn *tx, const session_access *s, int log, int64_t pos, version_list *v)
{
    note_list notes;
    branch_row *mine;
    size_t n_mine, left = 0;
    notes_of(tx, s->tree, s->no, &notes);
    if (!notes.n_pruned)
        return;
    branches_of(tx, s, &mine, &n_mine);
    for (size_t i = 0; i < v->n; i++)
        if (branch_holding(tx, mine, n_mine, &notes, log, v->items[i].owner, pos))
            v->items[left++] = v->items[i];
    v->n = left;
}

void versions_at(txn *tx, const session_access *s, const branch_meta *o, int64_t pos,
                 version_row **out, size_t *n)
{
    version_list v = {0};
    VEC(group_member) group = {0};
    int64_t g = o->base == pos ? o->parent : o->id;
    db_stmt *q = db_query(tx->db, Q_branch_group);
    q_int(q, 1, s->tree);
    q_int(q, 2, g);
    q_int(q, 3, pos);
    q_int(q, 4, s->no);
    q_int(q, 5, o->log);
    while (q_row(q)) {
        group_member m = {q_col_int(q, 0), q_col_int(q, 1), q_col_int(q, 2)};
        VEC_PUSH(tx->arena, &group, m);
    }
    version_put(tx, s->tree, o->id, pos, &v);
    for (size_t i = 0; i < group.n; i++) {
        if (group.items[i].over)
            version_put(tx, s->tree, group.items[i].over, pos, &v);
        if (group.items[i].len > pos)
            version_put(tx, s->tree, group.items[i].id, pos, &v);
    }
    branch_row b;
    if (g && g != o->id && branch_load(tx, s->tree, g, &b) && b.meta.session == s->no &&
        b.len > pos)
        version_put(tx, s->tree, g, pos, &v);
    merges_put(tx, s, g, o->log, pos, &v);
    if (v.n > 1)
        versions_left(tx, s, o->log, pos, &v);
    if (v.n)
        qsort(v.items, v.n, sizeof *v.items, by_creation);
    *out = v.items;
    *n = v.n;
}

static ramet_status versions_run(txn *tx, const char *session, int64_t branch, const char *entry_id,
                                 ramet_version **out, size_t *n)
{
    session_full s;
    branch_row b, head, *mine;
    branch_meta o, now = {0};
    note_list notes;
    int64_t k;
    size_t n_mine;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, branch, &b));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    TRY(check_id(tx->call, "entry_id", entry_id));
    int64_t pos = path_find(tx, &b, entry_id, &k);
    TRY(txn_status(tx));
    if (pos < 0)
        return call_fail(tx->call, RAMET_ENTRY_NOT_FOUND, "entry_id",
                         "entry %s is not on this path", entry_id);
    version_row *rows;
    if (!branch_meta_load(tx, s.tree, KEY_BRANCH(k), &o))
        return txn_status(tx);
    versions_at(tx, &s.access, &o, pos, &rows, n);
    branches_of(tx, &s.access, &mine, &n_mine);
    notes_of(tx, s.tree, s.no, &notes);
    if (pos < head.len && !path_owner(tx, &head.meta, pos, &now))
        return txn_status(tx);
    *out = arena_array(tx->arena, *n + 1, sizeof **out);
    for (size_t i = 0; i < *n; i++) {
        ramet_entry e;
        uint8_t hash[HASH_LEN];
        branch_meta m;
        const branch_row *held =
            branch_holding(tx, mine, n_mine, &notes, RAMET_LOG_MAIN, rows[i].owner, pos);
        if (!entry_load(tx, held ? held : &head, rows[i].key, &e, hash) ||
            !branch_meta_load(tx, s.tree, rows[i].owner, &m))
            return txn_status(tx);
        (*out)[i] = (ramet_version){.branch = held ? held->meta.id : 0,
                                    .owner = rows[i].owner,
                                    .entry_id = e.id,
                                    .number = (int)i + 1,
                                    .type = (ramet_fork_type)m.type,
                                    .current = now.id == rows[i].owner,
                                    .created = e.created,
                                    .preview = text_preview(tx->arena, e.text, 80)};
    }
    return txn_status(tx);
}

ramet_status ramet_versions(ramet_call *c, const char *session, int64_t branch,
                            const char *entry_id, ramet_version **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, versions_run(&tx, session, branch, entry_id, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}

void branch_show(txn *tx, const session_brief *s, const branch_row *b, const branch_note *note,
                 ramet_branch *out)
{
    *out = (ramet_branch){.id = b->meta.id,
                          .parent = b->meta.parent,
                          .base = b->meta.base,
                          .length = b->len,
                          .type = (ramet_fork_type)b->meta.type,
                          .current = b->meta.id == s->head,
                          .created = b->created,
                          .preview = "",
                          .name = ""};
    if (note)
        branch_show_note(note, out);
    ramet_entry e;
    uint8_t hash[HASH_LEN];
    if (b->len > 0)
        out->tip_id = path_entry_id(tx, b, b->len - 1);
    if (b->len > b->meta.base && entry_load(tx, b, KEY(b->meta.id, b->meta.base), &e, hash))
        out->preview = text_preview(tx->arena, e.text, 80);
}

void branch_show_note(const branch_note *note, ramet_branch *out)
{
    out->name = note->name;
    out->favourite = note->favourite && note->state == NOTE_KEPT;
    out->pruned = note->pruned;
    out->removed = note->state >= NOTE_TAKING;
}

static ramet_status branches_run(txn *tx, const char *session, bool pruned, ramet_branch **out,
                                 size_t *n)
{
    session_full s;
    branch_row *list;
    note_list notes;
    size_t count;
    TRY(session_open(tx, session, pruned ? NEED_TREE : NEED_READ, &s));
    branches_of(tx, &s.access, &list, &count);
    notes_of(tx, s.tree, s.no, &notes);
    *out = arena_array(tx->arena, count + 1, sizeof **out);
    bool by_link = share_only(tx, &s.access); /* sees no names */
    for (size_t i = 0; i < count; i++) {
        const branch_row *b = &list[i];
        const branch_note *note = by_link ? NULL : note_find(&notes, b->meta.id);
        if (b->meta.log == RAMET_LOG_MAIN && notes_pruned(&notes, b->meta.id) == pruned)
            branch_show(tx, &s.brief, b, note, &(*out)[(*n)++]);
    }
    return txn_status(tx);
}

static ramet_status branches_list(ramet_call *c, const char *session, bool pruned,
                                  ramet_branch **out, size_t *n)
{
    txn tx;
    *out = NULL;
    *n = 0;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, branches_run(&tx, session, pruned, out, n));
    if (st != RAMET_OK)
        *n = 0;
    return st;
}

ramet_status ramet_branches(ramet_call *c, const char *session, ramet_branch **out, size_t *n)
{
    return branches_list(c, session, false, out, n);
}

ramet_status ramet_branches_pruned(ramet_call *c, const char *session, ramet_branch **out,
                                   size_t *n)
{
    return branches_list(c, session, true, out, n);
}
