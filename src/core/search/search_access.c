/* SPDX-License-Identifier: Apache-2.0
 *
 * Which matches the caller may see, and in which session a match is shown (I10).
 *
 * A match is shown in the session that appended it, when the caller may see that session. Otherwise
 * it is shown in another session that the caller may see and that holds the entry: a fork of it.
 *
 * What the index can decide goes into its scopes: the trees of the caller (by a word for their
 * owner, and one by one where another user owns them), the tree, the role, the trees with a tag.
 * The rest is looked up, once per session.
 */
#include "core/access/share.h"
#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/fill.h"
#include "core/model/key.h"
#include "core/model/path.h"
#include "core/view/version.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/search/search.h"

#define HEIRS_LOOKED_AT 16 /* forks tried to find one where the entry is on the present path */
#define SCOPE_FEW 64       /* trees that are named without checking whether they are indexed */

/* ---------------------------------------------------------------------- map */

static size_t map_slot(const map *m, int64_t key)
{
    size_t i = (size_t)((uint64_t)key * 0x9E3779B97F4A7C15u >> 20) & (m->cap - 1);
    while (m->keys[i] && m->keys[i] != key)
        i = (i + 1) & (m->cap - 1);
    return i;
}

void *map_get(const map *m, int64_t key)
{
    return m->cap ? m->values[map_slot(m, key)] : NULL;
}

void map_put(arena *a, map *m, int64_t key, void *value)
{
    if (m->n * 2 >= m->cap) {
        map old = *m;
        m->cap = old.cap ? old.cap * 2 : 64;
        m->keys = arena_array(a, m->cap, sizeof *m->keys);
        m->values = arena_array(a, m->cap, sizeof *m->values);
        for (size_t i = 0; i < old.cap; i++) {
            if (!old.keys[i])
                continue;
            size_t to = map_slot(m, old.keys[i]);
            m->keys[to] = old.keys[i];
            m->values[to] = old.values[i];
        }
    }
    size_t i = map_slot(m, key);
    m->n += !m->keys[i];
    m->keys[i] = key;
    m->values[i] = value;
}

/* ----------------------------------------------------------------- sessions */

/* The session pruned the entry. */
static bool seen_pruned(finder *f, seen *s, int64_t k)
{
    if (!s->notes) {
        arena *a = f->tx.arena;
        f->tx.arena = f->keep;
        s->notes = arena_alloc(f->keep, sizeof *s->notes);
        notes_of(&f->tx, s->tree, s->no, s->notes);
        f->tx.arena = a;
    }
    return notes_hide(s->notes, k);
}

static bool has_tag(finder *f, const session_full *s)
{
    db_stmt *q = db_query(f->tx.db, Q_tag_has);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, f->tag);
    bool has = q_row(q);
    q_end(q);
    return has;
}

static seen *seen_make(finder *f, const session_full *s, bool visible)
{
    seen *v = arena_alloc(f->keep, sizeof *v);
    const char *agent = f->in->agent, *owner = f->in->owner;
    *v = (seen){.no = s->no, .tree = s->tree, .head_id = s->head, .first_id = s->first};
    v->open = s->id && !session_gone(&f->tx, &s->access) && visible;
    v->fits = v->open && (!agent || (s->agent && strcmp(s->agent, agent) == 0)) &&
              (!owner || strcmp(s->owner, owner) == 0) && !(f->in->unarchived && s->archived) &&
              (!f->tag || has_tag(f, s));
    map_put(f->keep, &f->sessions, s->no, v);
    return v;
}

static seen *seen_get(finder *f, int64_t tree, int64_t no)
{
    seen *v = map_get(&f->sessions, no);
    if (v)
        return v;
    session_full s;
    arena *a = f->tx.arena;
    f->tx.arena = f->tmp;
    if (!session_by_no(&f->tx, tree, no, &s))
        s = (session_full){.no = no, .tree = tree};
    v = seen_make(f, &s, session_visible(&f->tx, &s.access));
    f->tx.arena = a;
    arena_reset(f->tmp);
    return v;
}

bool see_on_path(finder *f, seen *s, int64_t k)
{
    branch_meta owner;
    if (!s->head) {
        branch_row *b = arena_alloc(f->keep, sizeof *b);
        if (!branch_load(&f->tx, s->tree, s->head_id, b))
            return false;
        s->head = b;
    }
    return KEY_POS(k) < s->head->len && path_owner(&f->tx, &s->head->meta, KEY_POS(k), &owner) &&
           owner.id == KEY_BRANCH(k);
}

/* The branch whose path holds an entry that the session was made with: its head, or, when that has
 * left it, its first one. */
static bool holder_find(finder *f, seen *s, int64_t k, branch_row *out)
{
    branch_meta owner;
    if (see_on_path(f, s, k)) {
        *out = *s->head;
        return true;
    }
    return s->first_id && branch_load(&f->tx, s->tree, s->first_id, out) && KEY_POS(k) < out->len &&
           path_owner(&f->tx, &out->meta, KEY_POS(k), &owner) && owner.id == KEY_BRANCH(k);
}

const char *see_shown(finder *f, seen *s, int64_t k, const char *text)
{
    branch_row b;
    fill values;
    if (!strstr(text, "{{") || !holder_find(f, s, k, &b) || !fill_covers(&b, KEY_POS(k)) ||
        !fill_load(&f->tx, &b, f->tmp, &values))
        return text;
    for (size_t i = 0; i < values.n; i++)
        if (KEY_POS(k) < values.levels[i].len[RAMET_LOG_MAIN])
            text = fill_plain(f->tmp, &values.levels[i], text);
    return text;
}

bool see_names(finder *f, seen *s)
{
    session_full row;
    if (s->id)
        return true;
    if (!session_by_no(&f->tx, s->tree, s->no, &row) || !row.id)
        return false;
    s->id = row.id;
    s->title = session_shown_title(&f->tx, &row);
    return true;
}

/* -------------------------------------------------------------------- heirs */

/* A session with branches below a branch, and how many entries of that branch it holds. */
typedef struct heir {
    int64_t session, reach;
} heir;
typedef struct heirs {
    heir *items;
    size_t n, cap;
} heirs;

static heirs *heirs_get(finder *f, int64_t tree, int64_t branch)
{
    heirs *h = map_get(&f->heirs, branch);
    if (h)
        return h;
    h = arena_alloc(f->keep, sizeof *h);
    db_stmt *q = db_query(f->tx.db, Q_branch_heirs);
    q_int(q, 1, tree);
    q_int(q, 2, branch);
    while (q_row(q)) {
        heir one = {q_col_int(q, 0), q_col_int(q, 1)};
        VEC_PUSH(f->keep, h, one);
    }
    map_put(f->keep, &f->heirs, branch, h);
    return h;
}

/* A branch that the session pruned holds nothing for it. */
static bool heir_holds(finder *f, seen *s, int64_t k)
{
    branch_row *mine;
    size_t n;
    seen_pruned(f, s, k); /* loads the notes */
    if (!s->notes->n_pruned)
        return true;
    arena *a = f->tx.arena;
    f->tx.arena = f->tmp;
    branches_of(&f->tx, &(session_access){.no = s->no, .tree = s->tree}, &mine, &n);
    bool holds = branch_holding(&f->tx, mine, n, s->notes, RAMET_LOG_MAIN, KEY_BRANCH(k),
                                KEY_POS(k)) != NULL;
    f->tx.arena = a;
    arena_reset(f->tmp);
    return holds;
}

/* A pruned branch may keep entries that only forks still have. */
static bool owner_holds(finder *f, seen *s, int64_t k)
{
    return !notes_pruned(s->notes, KEY_BRANCH(k)) || heir_holds(f, s, k);
}

static seen *heir_find(finder *f, const fts_doc *d)
{
    seen *first = NULL;
    int looked_at = 0;
    const heirs *h = heirs_get(f, d->tree, KEY_BRANCH(d->key));
    for (size_t i = 0; i < h->n && looked_at < HEIRS_LOOKED_AT; i++) {
        if (h->items[i].reach <= KEY_POS(d->key))
            continue;
        seen *s = seen_get(f, d->tree, h->items[i].session);
        if (!s->open)
            continue;
        if (see_on_path(f, s, d->key))
            return s;
        looked_at++;
        if (!first && heir_holds(f, s, d->key))
            first = s;
    }
    return first;
}

seen *see_session(finder *f, const fts_doc *d)
{
    if (f->only)
        return f->only;
    seen *s = seen_get(f, d->tree, d->session);
    if (seen_pruned(f, s, d->key))
        return NULL; /* then no path of another session holds it either (N2) */
    if (!s->open || !owner_holds(f, s, d->key))
        s = heir_find(f, d);
    return s && s->fits ? s : NULL;
}

bool see_pass(void *arg, const fts_doc *d)
{
    finder *f = arg;
    if ((f->in->since && d->created < f->in->since) || (f->in->until && d->created >= f->in->until))
        return false;
    if (f->only) {
        const int64_t *reach = map_get(&f->reach, KEY_BRANCH(d->key));
        return reach && KEY_POS(d->key) < *reach;
    }
    return !f->check || see_session(f, d);
}

/* ------------------------------------------------------------------ filters */

typedef struct numbers {
    int64_t *items;
    size_t n, cap;
} numbers;

static void numbers_read(finder *f, db_stmt *q, numbers *out)
{
    while (q_row(q))
        VEC_PUSH(f->keep, out, q_col_int(q, 0));
}

static bool numbers_have(const numbers *v, int64_t tx)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->items[i] == tx)
            return true;
    return false;
}

/* Records every branch on the path of one of the session's branches, and how many entries of it are
 * on that path. */
static void reach_note(finder *f, const branch_row *b, numbers *sessions)
{
    branch_meta m = b->meta;
    int64_t upto = b->len;
    for (;;) {
        int64_t *have = map_get(&f->reach, m.id);
        if (have && *have >= upto)
            return;
        if (!have) {
            have = arena_alloc(f->keep, sizeof *have);
            map_put(f->keep, &f->reach, m.id, have);
        }
        *have = upto;
        if (sessions->n <= MAX_SCOPE_NUMBERS && !numbers_have(sessions, m.session))
            VEC_PUSH(f->keep, sessions, m.session);
        upto = m.base;
        if (!m.parent || !branch_meta_load(&f->tx, m.tree, m.parent, &m))
            return;
    }
}

static ramet_status only_begin(finder *f, fts_scope *g, int64_t *tree)
{
    session_full s;
    branch_row *b;
    size_t n;
    numbers *sessions = arena_alloc(f->keep, sizeof *sessions);
    TRY(session_open(&f->tx, f->in->session, NEED_READ, &s));
    f->only = seen_make(f, &s, true); /* also through a link */
    f->none |= !f->only->fits || (*tree && *tree != s.tree);
    f->none |=
        f->tag && share_only(&f->tx, &s.access); /* the holder of a link may not see its tags */
    f->tx.arena = f->keep;
    branches_of(&f->tx, &s.access, &b, &n);
    note_list notes;
    notes_of(&f->tx, s.tree, s.no, &notes);
    f->tx.arena = f->call->arena;
    for (size_t i = 0; i < n; i++)
        if (b[i].meta.log == RAMET_LOG_MAIN && !notes_pruned(&notes, b[i].meta.id))
            reach_note(f, &b[i], sessions);
    *tree = s.tree;
    if (sessions->n <= MAX_SCOPE_NUMBERS)
        *g = (fts_scope){.letter = 's', .numbers = sessions->items, .n = sessions->n};
    return RAMET_OK;
}

/* The trees of the caller. The word of the owner stands for those that the caller owned when they
 * were first indexed; the rest are named one by one, or checked per match when there are too
 * many. */
static void user_begin(finder *f, const numbers *mine, fts_scope *g)
{
    numbers own = {0}, *other = arena_alloc(f->keep, sizeof *other);
    int64_t owner = fts_owner(f->index, f->call->user, false);
    if (owner) {
        db_stmt *q = db_query(fts_db(f->index), Q_fts_trees_of);
        q_int(q, 1, owner);
        numbers_read(f, q, &own);
    }
    /* Only when there are many it pays to check which of them have anything indexed. */
    bool few = mine->n <= own.n + SCOPE_FEW;
    for (size_t i = 0, j = 0; i < mine->n && other->n <= MAX_SCOPE_NUMBERS; i++) {
        while (j < own.n && own.items[j] < mine->items[i])
            j++;
        if (j < own.n && own.items[j] == mine->items[i])
            continue;
        if (few || fts_tree_owner(f->index, mine->items[i]))
            VEC_PUSH(f->keep, other, mine->items[i]);
    }
    if (other->n > MAX_SCOPE_NUMBERS)
        f->check = true;
    else if (!other->n && !own.n)
        f->none = true;
    else
        *g = (fts_scope){'t', other->items, other->n, own.n ? 'u' : 0, owner};
}

static ramet_status tree_begin(finder *f, const numbers *mine, int64_t *tree)
{
    *tree = tree_number(&f->tx, f->in->tree);
    if (!*tree || (f->call->user && !numbers_have(mine, *tree)))
        return call_fail(f->call, RAMET_TREE_NOT_FOUND, "tree", "there is no tree %s", f->in->tree);
    return RAMET_OK;
}

static ramet_status tag_begin(finder *f, fts_scope *g)
{
    const char **tags;
    size_t n;
    numbers *trees = arena_alloc(f->keep, sizeof *trees);
    TRY(check_tags(f->call, &f->in->tag, 1, &tags, &n));
    f->tag = tags[0];
    db_stmt *q = db_query(f->tx.db, Q_tag_trees);
    q_text(q, 1, f->tag);
    q_int(q, 2, MAX_SCOPE_NUMBERS + 1);
    numbers_read(f, q, trees);
    f->none |= trees->n == 0;
    if (trees->n <= MAX_SCOPE_NUMBERS)
        *g = (fts_scope){.letter = 't', .numbers = trees->items, .n = trees->n};
    return RAMET_OK;
}

/* Documents are roughly in order of creation: restricts the search to blocks that may hold some of
 * the requested time. */
static void time_begin(finder *f)
{
    if (!f->in->since && !f->in->until)
        return;
    db_stmt *q = db_query(fts_db(f->index), Q_fts_span_find);
    q_int(q, 1, f->in->since ? f->in->since : INT64_MIN);
    q_int(q, 2, f->in->until ? f->in->until : INT64_MAX);
    if (q_row(q) && !q_col_null(q, 0)) {
        const int64_t max = INT64_MAX >> (FTS_SPAN_BITS + 1);
        int64_t last = ((q_col_range(q, 1, 0, max, "span.block") + 1) << FTS_SPAN_BITS) - 1;
        f->low = q_col_range(q, 0, 0, max, "span.block") << FTS_SPAN_BITS;
        f->top_high = last < f->top_high ? last : f->top_high;
    } else {
        f->none = true;
    }
    q_end(q);
}

ramet_status see_begin(finder *f)
{
    enum { PLACE, ROLE, TAG, N_SCOPES };
    fts_scope *g = arena_array(f->keep, N_SCOPES, sizeof *g);
    numbers mine = {0};
    int64_t *numbers_of = arena_array(f->keep, 2, sizeof *numbers_of), tree = 0;
    if (f->call->user) {
        db_stmt *q = db_query(f->tx.db, Q_user_trees);
        q_text(q, 1, f->call->user);
        numbers_read(f, q, &mine);
    }
    if (f->in->tree)
        TRY(tree_begin(f, &mine, &tree));
    if (f->in->tag)
        TRY(tag_begin(f, &g[TAG]));
    if (f->in->session)
        TRY(only_begin(f, &g[PLACE], &tree));
    numbers_of[0] = tree;
    numbers_of[1] = f->in->role;
    if (tree && !g[PLACE].n)
        g[PLACE] = (fts_scope){.letter = 't', .numbers = &numbers_of[0], .n = 1};
    else if (!tree && f->call->user)
        user_begin(f, &mine, &g[PLACE]);
    if (f->in->role)
        g[ROLE] = (fts_scope){.letter = 'r', .numbers = &numbers_of[1], .n = 1};
    f->check |= f->in->tag || f->in->agent || f->in->owner || f->in->unarchived;
    time_begin(f);
    f->scopes = g;
    f->n_scopes = N_SCOPES;
    return RAMET_OK;
}
