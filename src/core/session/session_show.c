/* SPDX-License-Identifier: Apache-2.0
 *
 * A session as the public struct: its agent, titles, tags, heads and cache root.
 */
#include "core/session/session_show.h"

#include "core/access/share.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/model/branch.h"
#include "core/model/lineage_cache.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/txn.h"

#define TITLE_CHARS 60
#define TITLE_LOOK 32 /* entries searched for the first user message */
#define NEAR 16 /* ancestors walked one by one: the cost of a fork must not depend on its depth */

/* -------------------------------------------------------------------- agent */

const char *agent_config(arena *a, const ramet_agent *g)
{
    if (!g->provider && !g->model && !g->folder && !g->options)
        return NULL;
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4); /* its parts were checked before */
    jw_init(&w, &b, 0);
    jw_object(&w);
    if (g->provider)
        jw_kstr(&w, "provider", g->provider);
    if (g->model)
        jw_kstr(&w, "model", g->model);
    if (g->folder)
        jw_kstr(&w, "folder", g->folder);
    if (g->options)
        jw_kraw(&w, "options", g->options);
    jw_end_object(&w);
    return buf_keep(&b, a);
}

ramet_agent agent_from(arena *a, const char *name, const char *config)
{
    ramet_agent g = {.name = name};
    json_doc d;
    if (!config || !json_parse(a, config, strlen(config), STORED_DEPTH, &d, NULL))
        return g;
    const json_node *o = &d.nodes[0];
    g.provider = json_text(a, &d, json_get(&d, o, "provider"));
    g.model = json_text(a, &d, json_get(&d, o, "model"));
    g.folder = json_text(a, &d, json_get(&d, o, "folder"));
    const json_node *options = json_get(&d, o, "options");
    g.options = options ? json_raw(a, &d, options) : NULL;
    return g;
}

ramet_agent session_agent(txn *tx, const session_full *s)
{
    ramet_agent g = agent_from(tx->arena, s->agent, s->agent_config);
    if (share_only(tx, &s->access))
        g.folder = g.options = NULL;
    return g;
}

/* ------------------------------------------------------------------- titles */

typedef struct title_scan {
    const char *text; /* of the first user message; NULL: none yet */
    int64_t pos;
} title_scan;

static bool title_take(void *arg, ramet_entry *e)
{
    title_scan *t = arg;
    if (e->role != RAMET_USER || !e->text[0] || e->erased)
        return true;
    t->text = e->text;
    t->pos = e->position;
    return false;
}

/* The first line of the first user message near the start of a session's history. */
static const char *title_of_path(txn *tx, const session_full *s, const branch_row *head)
{
    branch_row own;
    title_scan t = {0};
    if (!head && !branch_load(tx, s->tree, s->head, &own))
        return "";
    if (!head)
        head = &own;
    const char *title = path_title_get(tx, head, s->stamp);
    if (title)
        return title;
    int64_t max = head->len < TITLE_LOOK ? head->len : TITLE_LOOK;
    /* A list shows many titles: the entries that they come from must not stay in the call. */
    arena *scratch = arena_new();
    for (int64_t at = 0; at < max && !t.text && db_status(tx->db) == RAMET_OK; at++) {
        arena_reset(scratch);
        path_read(tx, head, at, at + 1, scratch, title_take, &t);
    }
    title = t.text ? text_preview(tx->arena, t.text, TITLE_CHARS) : "";
    if (t.text)
        path_title_put(tx, head, t.pos, s->stamp, title);
    arena_free(scratch);
    return title;
}

const char *session_base_title(txn *tx, const session_full *s, const branch_row *head)
{
    if (s->title[0])
        return s->title;
    /* The holder of a link may not see the name of its parent. */
    return s->from_title[0] && !share_only(tx, &s->access) ? s->from_title
                                                           : title_of_path(tx, s, head);
}

/* The name of a fork was fixed when it was made: later changes of its parent do not affect it (I3).
 * "Fork of" occurs once, however deep the chain. */
static const char *shown_title(txn *tx, const session_full *s, const branch_row *head)
{
    const char *base = session_base_title(tx, s, head);
    if (s->title[0] || !s->parent || share_only(tx, &s->access))
        return base;
    return base[0] ? arena_printf(tx->arena, "Fork of %s", base) : "Fork";
}

const char *session_shown_title(txn *tx, const session_full *s)
{
    return shown_title(tx, s, NULL);
}

/* --------------------------------------------------------------------- show */

void tags_of(txn *tx, const session_access *s, const char *const **out, size_t *n)
{
    VEC(const char *) v = {0};
    db_stmt *q = db_query(tx->db, Q_tag_of);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    while (q_row(q))
        VEC_PUSH(tx->arena, &v, q_keep_text(q, 0, tx->arena));
    *out = (const char *const *)v.items;
    *n = v.n;
}

const char *tree_id(txn *tx, int64_t tree)
{
    if (tx->named_tree == tree && tx->tree_id)
        return tx->tree_id;
    db_stmt *q = db_query(tx->db, Q_tree_id);
    q_int(q, 1, tree);
    const char *id = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return id ? id : "";
}

/* The id of another session of the tree, if the caller may know it. */
static const char *visible_id(txn *tx, int64_t tree, int64_t no)
{
    if (!no)
        return NULL;
    session_access s = {.no = no, .tree = tree};
    db_stmt *q = db_query(tx->db, Q_session_name);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    if (q_row(q)) {
        s.id = q_keep_text(q, 0, tx->arena);
        s.owner = q_keep_text(q, 1, tx->arena);
        s.visibility = col_visibility(q, 2);
    }
    q_end(q);
    return s.id && session_visible(tx, &s) ? s.id : NULL;
}

/* Whether a session may own several runs of a path that begins with its entries: only a
 * fast-forward puts a branch of it behind entries of another session. The moves of a session that
 * gc has removed are gone. */
static bool may_return(txn *tx, int64_t tree, int64_t session)
{
    db_stmt *q = db_query(tx->db, Q_session_name);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    bool removed = !q_row(q) || q_col_null(q, 0);
    q_end(q);
    if (removed)
        return true;
    q = db_query(tx->db, Q_move_merges);
    q_int(q, 1, tree);
    q_int(q, 2, session);
    bool merged = q_row(q);
    q_end(q);
    return merged;
}

/* The number of entries up to the last that `session` owns of a path. It owns the first one. */
static int64_t owned_prefix(txn *tx, const branch_row *head, int64_t session)
{
    branch_meta m = head->meta;
    int64_t shared = head->len, lo = 1;
    bool walks = false;
    for (int i = 0; m.session != session && m.parent; i++) {
        if (i == NEAR && !(walks = may_return(tx, m.tree, session)))
            break;
        shared = m.base;
        if (!branch_meta_load(tx, m.tree, m.parent, &m))
            return 0;
    }
    if (m.session == session || walks)
        return shared;
    /* One run, at the start of the path. */
    while (lo < shared) {
        int64_t mid = lo + (shared - lo) / 2;
        branch_meta o;
        if (!path_owner(tx, &head->meta, mid, &o))
            return 0;
        if (o.session == session)
            lo = mid + 1;
        else
            shared = mid;
    }
    return shared;
}

/* The session that owns the first entry: a provider's prompt cache has seen the start of this
 * history under that key. */
static void cache_root(txn *tx, const session_full *s, const branch_row *head, ramet_session *out)
{
    branch_meta first;
    out->cache_root = s->id;
    out->cache_root_shared = head->len;
    if (!head->len || !path_owner(tx, &head->meta, 0, &first) || first.session == s->no)
        return;
    const char *id =
        first.session == s->parent ? out->parent_id : visible_id(tx, s->tree, first.session);
    out->cache_root = id ? id : out->tree_id;
    out->cache_root_shared = owned_prefix(tx, head, first.session);
}

static void fill(txn *tx, const session_full *s, const session_known *known, ramet_session *out)
{
    branch_row head, adk;
    *out = (ramet_session){
        .id = s->id,
        .tree_id = tree_id(tx, s->tree),
        .title = s->title,
        .owner = s->owner,
        .visibility = (ramet_visibility)s->visibility,
        .agent = session_agent(tx, s),
        .is_fork = s->parent != 0,
        .parent_id = known->parent_id ? known->parent_id : visible_id(tx, s->tree, s->parent),
        .fork_entry_id = s->fork_entry,
        .fork_side = (ramet_side)s->fork_side,
        .type = (ramet_fork_type)s->type,
        .reason = s->reason,
        .by_kind = (ramet_actor)s->by_kind,
        .by_id = s->by_id,
        .from_title = s->from_title ? s->from_title : "",
        .merged_into = visible_id(tx, s->tree, s->merged_into),
        .metadata = s->metadata ? s->metadata : "{}",
        .archived = s->archived,
        .expires = s->expires,
        .created = s->created,
        .updated = s->updated,
        .depth = s->depth,
        .number = s->no,
    };
    if (!known->untagged)
        tags_of(tx, &s->access, &out->tags, &out->n_tags);
    if (known->head)
        head = *known->head;
    bool open = known->head || branch_open(tx, &s->brief, RAMET_LOG_MAIN, 0, &head) == RAMET_OK;
    out->shown_title = shown_title(tx, s, open ? &head : NULL);
    if (!open)
        return;
    head_fill(tx, &head, &out->head);
    if (head.touched > out->updated)
        out->updated = head.touched;
    cache_root(tx, s, &head, out);
    if (share_only(tx, &s->access)) {
        share_trim(out);
        return;
    }
    if (s->adk && branch_load(tx, s->tree, s->adk, &adk)) {
        head_fill(tx, &adk, &out->adk);
        if (adk.touched > out->updated)
            out->updated = adk.touched;
    }
}

void session_fill(txn *tx, const session_full *s, ramet_session *out)
{
    static const session_known nothing;
    fill(tx, s, &nothing, out);
}

ramet_session *session_show_with(txn *tx, const session_full *s, const session_known *known)
{
    ramet_session *out = arena_alloc(tx->arena, sizeof *out);
    fill(tx, s, known, out);
    return out;
}

ramet_session *session_show(txn *tx, const session_full *s)
{
    static const session_known nothing;
    return session_show_with(tx, s, &nothing);
}
