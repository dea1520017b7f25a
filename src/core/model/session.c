/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions: the row, who may do what with it (I10), how it is shown, create, get and update.
 */
#include "core/columns.h"

#include <stdio.h>
#include <stdlib.h>

#define TITLE_CHARS 60
#define TITLE_LOOK 32 /* entries looked through for the first user message */
#define NEAR 16 /* ancestors walked one by one: what a fork costs must not depend on its depth */

void session_from(db_stmt *q, arena *a, session_row *s)
{
    *s = (session_row){
        .no = q_col_int(q, 0),
        .tree = q_col_int(q, 1),
        .id = q_keep_text(q, 2, a),
        .parent = q_col_int(q, 3),
        .depth = q_col_int(q, 4),
        .owner = q_keep_text(q, 5, a),
        .visibility = col_visibility(q, 6),
        .title = q_keep_text(q, 7, a),
        .agent = q_keep_text(q, 8, a),
        .agent_config = q_keep_text(q, 9, a),
        .metadata = q_keep_text(q, 10, a),
        .type = col_session_type(q, 11),
        .reason = q_keep_text(q, 12, a),
        .by_kind = col_actor(q, 13),
        .by_id = q_keep_text(q, 14, a),
        .fork_entry = q_keep_text(q, 15, a),
        .fork_side = col_fork_side(q, 16),
        .merged_into = q_col_int(q, 17),
        .first = q_col_int(q, 18),
        .first_adk = q_col_int(q, 19),
        .head = q_col_int(q, 20),
        .adk = q_col_int(q, 21),
        .undo = q_col_int(q, 22),
        .redo = q_col_int(q, 23),
        .moves = q_col_int(q, 24),
        .archived = q_col_int(q, 25),
        .expires = q_col_int(q, 26),
        .created = q_col_int(q, 27),
        .updated = q_col_int(q, 28),
        .deleted = q_col_int(q, 29),
        .delete_op = q_col_int(q, 30),
        .purging = col_purging(q, 31),
        .seal = q_col_int(q, 32),
        .from_title = q_keep_text(q, 33, a),
    };
    if (!s->owner)
        s->owner = "";
    if (!s->title)
        s->title = "";
    if (!s->reason)
        s->reason = "";
    if (!s->from_title)
        s->from_title = "";
}

int64_t session_seal(sha *h, const session_row *s)
{
    char text[512];
    uint8_t out[HASH_LEN];
    int n =
        snprintf(text, sizeof text, "%lld %lld %lld %lld %lld %d %d %s", (long long)s->no,
                 (long long)s->tree, (long long)s->parent, (long long)s->depth,
                 (long long)s->created, s->type, s->fork_side, s->fork_entry ? s->fork_entry : "");
    sha_begin(h);
    sha_add(h, text, (size_t)n);
    sha_end(h, out);
    int64_t seal = 0;
    for (int i = 0; i < 7; i++)
        seal = seal << 8 | out[i];
    return seal;
}

/* An index that was damaged could lead to another session. */
static bool is_that(txn *tx, const session_row *s, const char *id)
{
    if (s->id && strcmp(s->id, id) == 0)
        return true;
    db_fail(tx->db, RAMET_DAMAGED, "the index of sessions is damaged: %s leads to another one", id);
    return false;
}

bool session_load(txn *tx, const char *id, session_row *s)
{
    db_stmt *q = db_query(tx->db, Q_session_by_id);
    q_text(q, 1, id);
    bool found = q_row(q);
    if (found)
        session_from(q, tx->arena, s);
    q_end(q);
    return found && is_that(tx, s, id);
}

bool session_by_no(txn *tx, int64_t tree, int64_t no, session_row *s)
{
    db_stmt *q = db_query(tx->db, Q_session_by_no);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    bool found = q_row(q);
    if (found)
        session_from(q, tx->arena, s);
    q_end(q);
    return found;
}

bool session_gone(const txn *tx, const session_row *s)
{
    return s->deleted || s->purging || (s->expires && s->expires <= tx->now);
}

/* ------------------------------------------------------------------- access */

static bool owns(const txn *tx, const session_row *s)
{
    return !tx->call->user || strcmp(tx->call->user, s->owner) == 0;
}

bool session_seen(const txn *tx, ramet_level level, const session_row *s)
{
    if (!tx->call->user)
        return true;
    return s->visibility == RAMET_PRIVATE ? owns(tx, s) : level >= RAMET_READER;
}

bool session_visible(txn *tx, const session_row *s)
{
    /* The level is looked up only where it counts. */
    bool by_level = tx->call->user && s->visibility != RAMET_PRIVATE;
    return session_seen(tx, by_level ? level_in(tx, s->tree) : RAMET_NO_LEVEL, s);
}

static ramet_status access_check(txn *tx, const session_row *s, need what)
{
    if (share_gives(tx, s, what))
        return RAMET_OK;
    if (!session_visible(tx, s)) {
        if (share_gives(tx, s, NEED_READ))
            return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                             "the share link of session %s does not allow this", s->id);
        return session_hidden(tx, s);
    }
    /* A private session is its owner's alone, whatever his level in the tree. */
    if (what == NEED_READ || what == NEED_TREE || !tx->call->user ||
        (s->visibility == RAMET_PRIVATE && owns(tx, s)))
        return RAMET_OK;
    ramet_level have = level_in(tx, s->tree);
    if (what != NEED_MANAGE && have < RAMET_WRITER)
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "this needs the level writer in the tree; %s is %s", tx->call->user,
                         ramet_level_name(have));
    if (what == NEED_MANAGE && have < RAMET_MANAGER && !owns(tx, s))
        return call_fail(tx->call, RAMET_FORBIDDEN, "session",
                         "this needs the session's owner or a manager of the tree; %s is %s",
                         tx->call->user, ramet_level_name(have));
    return RAMET_OK;
}

static ramet_status session_opened(txn *tx, const char *id, bool found, need what,
                                   const session_row *s)
{
    if (!found || session_gone(tx, s)) {
        TRY(txn_status(tx));
        return call_fail(tx->call, RAMET_SESSION_NOT_FOUND, "session", "there is no session %s",
                         id);
    }
    return access_used(tx, s->tree, access_check(tx, s, what));
}

ramet_status session_open(txn *tx, const char *id, need what, session_row *s)
{
    TRY(check_id(tx->call, "session", id));
    bool found = session_load(tx, id, s);
    return session_opened(tx, id, found, what, s);
}

#define BRIEF_N_COLS 13 /* of the session and the member, before those of the branch */

ramet_status session_open_brief(txn *tx, const char *id, need what, session_row *s,
                                branch_row *head)
{
    if (session_cache_get(tx, id, s, head))
        return session_opened(tx, id, true, what, s);
    TRY(check_id(tx->call, "session", id));
    db_stmt *q = db_query(tx->db, Q_session_brief);
    q_text(q, 1, id);
    q_text(q, 2, tx->call->user);
    bool found = q_row(q);
    if (found) {
        *s = (session_row){
            .no = q_col_int(q, 0),
            .tree = q_col_int(q, 1),
            .id = q_keep_text(q, 10, tx->arena),
            .owner = q_keep_text(q, 2, tx->arena),
            .visibility = col_visibility(q, 3),
            .head = q_col_int(q, 4),
            .adk = q_col_int(q, 5),
            .first_adk = q_col_int(q, 6),
            .expires = q_col_int(q, 7),
            .deleted = q_col_int(q, 8),
            .purging = col_purging(q, 9),
            .stamp = q_col_int(q, 12),
        };
        /* The caller's level came along: level_in() need not look. */
        tx->level = col_level(q, 11);
        tx->level_tree = s->tree;
        branch_from(q, BRIEF_N_COLS, head);
    }
    q_end(q);
    found = found && is_that(tx, s, id);
    if (found && !s->owner)
        s->owner = "";
    TRY(session_opened(tx, id, found, what, s));
    if (head->meta.id)
        branch_came(tx, head);
    return txn_status(tx);
}

ramet_status session_open_head(txn *tx, const char *id, need what, session_row *s, branch_row *head)
{
    if (session_cache_whole(tx, id, s, head))
        return session_opened(tx, id, true, what, s);
    TRY(check_id(tx->call, "session", id));
    db_stmt *q = db_query(tx->db, Q_session_open);
    q_text(q, 1, id);
    q_text(q, 2, tx->call->user);
    bool found = q_row(q);
    if (found) {
        session_from(q, tx->arena, s);
        tx->level = col_level(q, SESSION_N_COLS);
        tx->level_tree = tx->named_tree = s->tree;
        tx->tree_id = q_keep_text(q, SESSION_N_COLS + 1, tx->arena);
        s->stamp = q_col_int(q, SESSION_N_COLS + 2);
        branch_from(q, SESSION_N_COLS + 3, head);
    }
    q_end(q);
    found = found && is_that(tx, s, id);
    TRY(session_opened(tx, id, found, what, s));
    if (head->meta.id && head->meta.session == s->no && head->meta.log == RAMET_LOG_MAIN) {
        if (!branch_came(tx, head))
            return txn_status(tx);
        session_cache_put_whole(tx, s, head);
        return RAMET_OK;
    }
    return branch_open(tx, s, RAMET_LOG_MAIN, 0, head); /* tells what is wrong with it */
}

/* -------------------------------------------------------------------- agent */

const char *agent_config(arena *a, const ramet_agent *g)
{
    if (!g->provider && !g->model && !g->folder && !g->options)
        return NULL;
    buf b;
    json_writer w;
    buf_init(&b, SIZE_MAX / 4); /* its parts were checked */
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

ramet_agent session_agent(txn *tx, const session_row *s)
{
    ramet_agent g = agent_from(tx->arena, s->agent, s->agent_config);
    if (share_only(tx, s))
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
    if (e->role != RAMET_USER || !e->text[0])
        return true;
    t->text = e->text;
    t->pos = e->position;
    return false;
}

/* The first line of the first user message near the start of a session's history. */
static const char *first_words(txn *tx, const session_row *s, const branch_row *head)
{
    branch_row own;
    title_scan t = {0};
    if (!head && !branch_load(tx, s->tree, s->head, &own))
        return "";
    if (!head)
        head = &own;
    const char *words = words_get(tx, head);
    if (words)
        return words;
    int64_t most = head->len < TITLE_LOOK ? head->len : TITLE_LOOK;
    /* A list shows many titles: what they were taken from must not stay in the call. */
    arena *scratch = arena_new();
    for (int64_t at = 0; at < most && !t.text && db_status(tx->db) == RAMET_OK; at++) {
        arena_reset(scratch);
        path_read(tx, head, at, at + 1, scratch, title_take, &t);
    }
    words = t.text ? text_preview(tx->arena, t.text, TITLE_CHARS) : "";
    if (t.text)
        words_put(tx, head, t.pos, words);
    arena_free(scratch);
    return words;
}

const char *session_words(txn *tx, const session_row *s, const branch_row *head)
{
    if (s->title[0])
        return s->title;
    /* What its parent was called is not for the holder of a link. */
    return s->from_title[0] && !share_only(tx, s) ? s->from_title : first_words(tx, s, head);
}

/* What a fork is called was settled when it was made: what happens to its parent later does not
 * change it (I3). "Fork of" stands once, however deep the chain. */
static const char *shown_title(txn *tx, const session_row *s, const branch_row *head)
{
    const char *words = session_words(tx, s, head);
    if (s->title[0] || !s->parent || share_only(tx, s))
        return words;
    return words[0] ? arena_printf(tx->arena, "Fork of %s", words) : "Fork";
}

const char *session_shown_title(txn *tx, const session_row *s)
{
    return shown_title(tx, s, NULL);
}

/* --------------------------------------------------------------------- show */

void tags_of(txn *tx, const session_row *s, const char *const **out, size_t *n)
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

static const char *tree_id(txn *tx, int64_t tree)
{
    if (tx->named_tree == tree && tx->tree_id)
        return tx->tree_id;
    db_stmt *q = db_query(tx->db, Q_tree_id);
    q_int(q, 1, tree);
    const char *id = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return id ? id : "";
}

/* The id of another session of the tree, when the caller may know it. */
static const char *visible_id(txn *tx, int64_t tree, int64_t no)
{
    if (!no)
        return NULL;
    session_row s = {.no = no, .tree = tree};
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

/* How many entries from the start of a path are a session's own. */
static int64_t owned_prefix(txn *tx, const branch_row *head, int64_t session)
{
    branch_meta m = head->meta;
    int64_t shared = head->len, lo = 1;
    for (int i = 0; i < NEAR && m.session != session && m.parent; i++) {
        shared = m.base;
        if (!branch_meta_load(tx, m.tree, m.parent, &m))
            return 0;
    }
    if (m.session == session)
        return shared;
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

/* The session that owns the first entry: under that key a provider's prompt cache has seen the
 * start of this history. */
static void cache_root(txn *tx, const session_row *s, const branch_row *head, ramet_session *out)
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

static void fill(txn *tx, const session_row *s, const session_known *known, ramet_session *out)
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
        tags_of(tx, s, &out->tags, &out->n_tags);
    if (known->head)
        head = *known->head;
    bool open = known->head || branch_open(tx, s, RAMET_LOG_MAIN, 0, &head) == RAMET_OK;
    out->shown_title = shown_title(tx, s, open ? &head : NULL);
    if (!open)
        return;
    head_fill(tx, &head, &out->head);
    if (head.touched > out->updated)
        out->updated = head.touched;
    cache_root(tx, s, &head, out);
    if (share_only(tx, s)) {
        share_trim(out);
        return;
    }
    if (s->adk && branch_load(tx, s->tree, s->adk, &adk)) {
        head_fill(tx, &adk, &out->adk);
        if (adk.touched > out->updated)
            out->updated = adk.touched;
    }
}

void session_fill(txn *tx, const session_row *s, ramet_session *out)
{
    static const session_known nothing;
    fill(tx, s, &nothing, out);
}

ramet_session *session_show_with(txn *tx, const session_row *s, const session_known *known)
{
    ramet_session *out = arena_alloc(tx->arena, sizeof *out);
    fill(tx, s, known, out);
    return out;
}

ramet_session *session_show(txn *tx, const session_row *s)
{
    static const session_known nothing;
    return session_show_with(tx, s, &nothing);
}

/* ------------------------------------------------------------------- create */

void session_insert(txn *tx, const session_row *s, const char *const *tags, size_t n_tags)
{
    db_stmt *q = db_query(tx->db, Q_session_add);
    q_int(q, 1, s->no);
    q_int(q, 2, s->tree);
    q_text(q, 3, s->id);
    q_int(q, 4, s->parent);
    q_int(q, 5, s->depth);
    q_text(q, 6, s->owner);
    q_int(q, 7, s->visibility);
    q_text(q, 8, s->title);
    q_text(q, 9, s->agent);
    q_text(q, 10, s->agent_config);
    q_text(q, 11, s->metadata);
    q_int(q, 12, s->type);
    q_text(q, 13, s->reason);
    q_int(q, 14, s->by_kind);
    q_text(q, 15, s->by_id);
    q_text(q, 16, s->fork_entry);
    q_int(q, 17, s->fork_side);
    q_int(q, 18, s->first);
    q_int(q, 19, s->first_adk);
    q_int(q, 20, s->expires);
    q_int(q, 21, s->created);
    q_int(q, 22, session_seal(tx->call->hasher, s));
    q_text(q, 23, s->from_title ? s->from_title : "");
    q_run(q);
    for (size_t i = 0; i < n_tags; i++) {
        q = db_query(tx->db, Q_tag_add);
        q_int(q, 1, s->tree);
        q_int(q, 2, s->no);
        q_text(q, 3, tags[i]);
        q_run(q);
    }
}

ramet_status session_id_free(txn *tx, const char *id)
{
    session_row s;
    if (!session_load(tx, id, &s))
        return txn_status(tx);
    /* Nothing is told about a session of others: only who could restore it learns that it can be.
     */
    if (session_gone(tx, &s) && session_visible(tx, &s))
        return call_fail(tx->call, RAMET_SESSION_DELETED, "id",
                         "session %s is deleted; restore it, or wait until gc has taken it", id);
    return call_fail(tx->call, RAMET_SESSION_EXISTS, "id", "the session id %s is taken", id);
}

void session_plant(txn *tx, session_row *s, const char *const *tags, size_t n_tags, branch_row *b)
{
    char tree[UUID_TEXT];
    branch_create(tx, NULL, 0, s, RAMET_LOG_MAIN, RAMET_EXPLICIT, false, b);
    s->first = s->head = b->meta.id;
    db_stmt *q = db_query(tx->db, Q_tree_add);
    q_int(q, 1, s->tree);
    q_text(q, 2, uuid7(tx->now, tree));
    q_int(q, 3, s->no);
    q_int(q, 4, tx->now);
    q_run(q);
    session_insert(tx, s, tags, n_tags);
}

typedef struct create_job {
    const ramet_session_in *in;
    const char *id, *owner, *mark; /* of its sandbox */
    const char **tags;
    size_t n_tags;
    ramet_session **out;
} create_job;

/* A deleted session of that owner lets go of its id, and keeps another one to be restored by. */
static void id_give_up(txn *tx, const char *id, const char *owner)
{
    session_row s;
    if (!session_load(tx, id, &s) || !session_gone(tx, &s) || strcmp(s.owner, owner) != 0)
        return;
    db_stmt *q = db_query(tx->db, Q_session_rename);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_text(q, 3, arena_printf(tx->arena, "%.200s~%lld", id, (long long)s.no));
    q_run(q);
}

static ramet_status create_run(txn *tx, void *arg)
{
    create_job *j = arg;
    const ramet_session_in *in = j->in;
    TRY(sandbox_for_new(tx, in->sandbox, j->owner, &j->mark));
    if (in->anew)
        id_give_up(tx, j->id, j->owner);
    TRY(session_id_free(tx, j->id));
    int64_t created = tx->now, no = db_number(tx->db, DB_SESSION, &created);
    session_row s = {
        .no = no,
        .tree = db_number(tx->db, DB_TREE, NULL),
        .id = j->id,
        .owner = j->owner,
        .visibility = (int)in->visibility,
        .title = in->title ? in->title : "",
        .agent = in->agent.name,
        .agent_config = agent_config(tx->arena, &in->agent),
        .metadata = in->metadata,
        .reason = "",
        .by_id = j->owner,
        .expires = in->ephemeral_us > 0 ? tx->now + in->ephemeral_us : 0,
        .created = created,
        .updated = created,
    };
    branch_row b;
    session_plant(tx, &s, (const char *const *)j->tags, j->n_tags, &b);
    member_insert(tx, s.tree, j->owner, RAMET_OWNER);
    sandbox_put(tx, s.tree, j->mark);
    event_add(tx, s.tree, s.no, RAMET_EVENT_CREATED, b.meta.id, 0);
    TRY(txn_status(tx));
    session_row fresh;
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &fresh);
    return txn_status(tx);
}

ramet_status ramet_session_create(ramet_call *c, const ramet_session_in *in, ramet_session **out)
{
    create_job j = {.in = in, .out = out};
    *out = NULL;
    if (in->id)
        TRY(check_id(c, "id", in->id));
    TRY(check_chars(c, "title", in->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    TRY(check_agent(c, &in->agent));
    TRY(check_object(c, "metadata", in->metadata));
    TRY(check_tags(c, in->tags, in->n_tags, &j.tags, &j.n_tags));
    if (in->visibility != RAMET_TREE_VISIBLE && in->visibility != RAMET_PRIVATE)
        return call_fail(c, RAMET_INVALID, "visibility", "visibility must be tree or private");
    TRY(check_life(c, "ephemeral", in->ephemeral_us));
    if (in->owner && c->user && strcmp(in->owner, c->user) != 0)
        return call_fail(c, RAMET_FORBIDDEN, "owner", "%s cannot make a session for %s", c->user,
                         in->owner);
    j.owner = in->owner ? in->owner : c->user ? c->user : "local";
    TRY(check_id(c, "owner", j.owner));
    char uuid[UUID_TEXT];
    j.id = in->id ? in->id : arena_strdup(c->arena, uuid7(ramet_now(c->ramet), uuid));
    ramet_status st = txn_write(c, create_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

ramet_status ramet_session_get(ramet_call *c, const char *id, ramet_session **out)
{
    txn tx;
    session_row s;
    *out = NULL;
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = session_open(&tx, id, NEED_READ, &s);
    ramet_session *shown = st == RAMET_OK ? session_show(&tx, &s) : NULL;
    if (shown)
        shown->level = session_level(&tx, &s);
    st = txn_done(&tx, st);
    if (st == RAMET_OK)
        *out = shown;
    return st;
}

/* ------------------------------------------------------------------- update */

typedef struct update_job {
    const char *id;
    const ramet_session_patch *in;
    bool promote;
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_session **out;
} update_job;

static ramet_status merged_into(txn *tx, const char *id, session_row *s)
{
    session_row to;
    if (!*id) {
        s->merged_into = 0;
        return RAMET_OK;
    }
    TRY(session_open(tx, id, NEED_TREE, &to));
    if (to.tree != s->tree || to.no == s->no)
        return call_fail(tx->call, RAMET_INVALID, "merged_into",
                         "merged_into must be another session of the same tree; %s is not", id);
    s->merged_into = to.no;
    return RAMET_OK;
}

static ramet_status patch_apply(txn *tx, const ramet_session_patch *in, session_row *s)
{
    if (in->title)
        s->title = in->title;
    if (in->agent) {
        s->agent = in->agent->name;
        s->agent_config = agent_config(tx->arena, in->agent);
    }
    if (in->metadata)
        s->metadata = in->metadata;
    if (in->archived)
        s->archived = !*in->archived ? 0 : s->archived ? s->archived : archive_stamp(tx->now);
    if (in->visibility) {
        if (tx->call->user && strcmp(tx->call->user, s->owner) != 0)
            return call_fail(tx->call, RAMET_FORBIDDEN, "visibility",
                             "only the session's owner may change its visibility");
        /* As for a fork: what the tree gets to see comes from a writer (I10). */
        if (*in->visibility == RAMET_TREE_VISIBLE && s->visibility == RAMET_PRIVATE &&
            level_in(tx, s->tree) < RAMET_WRITER)
            return call_fail(tx->call, RAMET_FORBIDDEN, "visibility",
                             "showing a session to the tree needs the level writer");
        s->visibility = (int)*in->visibility;
    }
    return in->merged_into ? merged_into(tx, in->merged_into, s) : RAMET_OK;
}

static ramet_status update_run(txn *tx, void *arg)
{
    update_job *j = arg;
    session_row s;
    branch_row head;
    TRY(session_open(tx, j->id, NEED_CHANGE, &s));
    TRY(branch_open(tx, &s, RAMET_LOG_MAIN, 0, &head));
    TRY(head_check(tx, &head, j->expected, j->given));
    int64_t merged = s.merged_into;
    if (j->in)
        TRY(patch_apply(tx, j->in, &s));
    if (j->promote)
        s.expires = 0;
    /* Not before the branches that it has: see branch_create(). */
    s.updated = tx->now > s.updated ? tx->now : s.updated;
    db_stmt *q = db_query(tx->db, Q_session_set);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    q_text(q, 3, s.title);
    q_text(q, 4, s.agent);
    q_text(q, 5, s.agent_config);
    q_text(q, 6, s.metadata);
    q_int(q, 7, s.archived);
    q_int(q, 8, s.visibility);
    q_int(q, 9, s.merged_into);
    q_int(q, 10, s.expires);
    q_int(q, 11, s.updated);
    q_run(q);
    access_changed(tx, s.tree);
    bool merge = s.merged_into && s.merged_into != merged;
    event_add(tx, s.tree, s.no, merge ? RAMET_EVENT_MERGED : RAMET_EVENT_UPDATED, s.head, 0);
    session_row fresh;
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = session_show(tx, &fresh);
    return txn_status(tx);
}

ramet_status ramet_session_update(ramet_call *c, const char *id, const ramet_session_patch *in,
                                  ramet_session **out)
{
    update_job j = {.id = id, .in = in, .out = out};
    *out = NULL;
    TRY(check_chars(c, "title", in->title, c->ramet->limits.title_chars, RAMET_TITLE_TOO_LONG));
    if (in->agent)
        TRY(check_agent(c, in->agent));
    TRY(check_object(c, "metadata", in->metadata));
    if (in->visibility && *in->visibility != RAMET_TREE_VISIBLE && *in->visibility != RAMET_PRIVATE)
        return call_fail(c, RAMET_INVALID, "visibility", "visibility must be tree or private");
    TRY(check_hash(c, in->expected_head, j.expected, &j.given));
    ramet_status st = (in->visibility || in->archived ? txn_revoke : txn_write)(c, update_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

ramet_status ramet_session_promote(ramet_call *c, const char *id, ramet_session **out)
{
    update_job j = {.id = id, .promote = true, .out = out};
    *out = NULL;
    ramet_status st = txn_write(c, update_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}
