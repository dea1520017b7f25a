/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversations that are made by their first entries: a root, a fork or one that another session
 * has started, in one commit with what is appended; and what is known of how a session was made.
 *
 *   O1  Lineage counts once, when the session is made. Whoever comes second appends to what the
 *       first has made, whatever he says about lineage.
 *   O2  A row of `origin` is written with each session that is made here, and never changes. A
 *       session without one was made otherwise (or, before that was so, by a user without a client,
 *       and started by nobody).
 */
#include "core/make.h"

#include "core/fork.h"

#include <stdio.h>

ramet_status make_check(ramet_call *c, const ramet_make *m)
{
    TRY(check_chars(c, "title", m->title, c->r->lim.title_chars, RAMET_TITLE_TOO_LONG));
    ramet_agent agent = {.name = m->agent};
    TRY(check_agent(c, &agent));
    TRY(check_object(c, "metadata", m->metadata));
    if (m->fork_of)
        TRY(check_id(c, "fork_of", m->fork_of));
    if (m->fork_at)
        TRY(check_id(c, "fork_at", m->fork_at));
    if (m->started_by)
        TRY(check_id(c, "started_by", m->started_by));
    if (m->started_at)
        TRY(check_id(c, "started_at", m->started_at));
    return RAMET_OK;
}

/* ------------------------------------------------------------------- lineage */

/* The session that a new one comes from; an archived one gives nothing. */
static ramet_status source_open(cx *x, const char *field, const char *id, need what, session_row *s,
                                branch_row *head)
{
    ramet_status st = session_open_head(x, id, what, s, head);
    if (st == RAMET_OK && s->archived)
        st = call_fail(x->c, RAMET_SESSION_NOT_FOUND, field, "session %s is archived", id);
    if (st != RAMET_OK)
        snprintf(x->c->err.field, sizeof x->c->err.field, "%s", field);
    return st;
}

int64_t key_in_tree(cx *x, int64_t tree, const char *id)
{
    db_stmt *q = db_query(x->d, Q_entry_by_id);
    q_int(q, 1, tree);
    q_text(q, 2, id);
    int64_t k = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return k;
}

static bool same_client(const cx *x, const char *client)
{
    return x->c->client && client && strcmp(x->c->client, client) == 0;
}

/* What may be forked before: see ramet_make. */
static ramet_status anchor_check(cx *x, const branch_row *head, const char *id)
{
    ramet_entry e;
    uint8_t hash[HASH_LEN];
    int64_t k = key_in_tree(x, head->m.tree, id), on = 0;
    TRY(cx_status(x));
    if (!k)
        return call_fail(x->c, RAMET_ENTRY_NOT_FOUND, "fork_at", "there is no entry %s", id);
    bool visible = path_find(x, head, id, &on) >= 0;
    if (!entry_load(x, head->m.tree, visible ? on : k, &e, hash))
        return cx_status(x);
    if (strcmp(e.channel, "journal") == 0 && !same_client(x, e.client))
        return call_fail(x->c, RAMET_FORBIDDEN, "fork_at", "entry %s is another client's", id);
    if (strcmp(e.channel, "journal") != 0 && strcmp(e.channel, "history") != 0)
        return call_fail(x->c, RAMET_INVALID, "fork_at",
                         "a fork begins at an entry of the channel history or journal");
    if (!visible)
        return call_fail(x->c, RAMET_INVALID, "fork_at",
                         "entry %s is not on the path of the session", id);
    return cx_status(x);
}

static ramet_status make_fork(cx *x, const char *id, const ramet_make *m, bool append,
                              session_row *s, branch_row *b)
{
    session_row p;
    branch_row head;
    TRY(source_open(x, "fork_of", m->fork_of, NEED_READ, &p, &head));
    if (m->fork_at)
        TRY(anchor_check(x, &head, m->fork_at));
    bool private = p.visibility == RAMET_PRIVATE, writer = level_in(x, p.tree) >= RAMET_WRITER;
    if (append && !private && !writer)
        return call_fail(x->c, RAMET_FORBIDDEN, "fork_of", "this needs the level writer");
    ramet_agent agent = {.name = m->agent};
    ramet_fork_in in = {.at = {m->fork_at, RAMET_BEFORE},
                        .blank = !m->fork_at,
                        .title = m->title,
                        .agent = &agent,
                        .metadata = m->metadata,
                        .visibility = private || !writer ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
    fork_job j = {.in = &in, .id = id};
    return fork_make(x, &j, &p, &head, s, b);
}

/* A root of its own, with the members that the tree of `from` has now (NULL: the caller alone). */
static void make_root(cx *x, const char *id, const ramet_make *m, const session_row *from,
                      session_row *s, branch_row *b)
{
    int64_t created = x->now, no = db_number(x->d, DB_SESSION, &created);
    const char *caller = x->c->user ? x->c->user : "local";
    *s = (session_row){.no = no,
                       .tree = db_number(x->d, DB_TREE, NULL),
                       .id = arena_strdup(x->a, id),
                       .owner = arena_strdup(x->a, from ? from->owner : caller),
                       .title = m->title ? arena_strdup(x->a, m->title) : "",
                       .agent = arena_strdup(x->a, m->agent),
                       .metadata = arena_strdup(x->a, m->metadata),
                       .reason = "",
                       .by_id = arena_strdup(x->a, caller),
                       .created = created,
                       .updated = created};
    session_plant(x, s, NULL, 0, b);
    if (from && from->visibility != RAMET_PRIVATE) {
        db_stmt *q = db_query(x->d, Q_member_copy);
        q_int(q, 1, s->tree);
        q_int(q, 2, from->tree);
        q_int(q, 3, x->now);
        q_run(q);
    } else {
        member_insert(x, s->tree, s->owner, RAMET_OWNER);
    }
    event_add(x, s->tree, s->no, RAMET_EVENT_CREATED, b->m.id, 0);
}

static ramet_status make_started(cx *x, const char *id, const ramet_make *m, session_row *from,
                                 session_row *s, branch_row *b)
{
    branch_row head;
    int64_t k;
    TRY(source_open(x, "started_by", m->started_by, NEED_WRITE, from, &head));
    if (m->started_at && path_find(x, &head, m->started_at, &k) < 0) {
        TRY(cx_status(x));
        return call_fail(x->c, RAMET_INVALID, "started_at",
                         "entry %s is not on the path of session %s", m->started_at, m->started_by);
    }
    make_root(x, id, m, from, s, b);
    return RAMET_OK;
}

ramet_status session_hidden(cx *x, const session_row *s)
{
    db_stmt *q = db_query(x->d, Q_origin_get);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    bool conversation = q_row(q);
    q_end(q);
    TRY(cx_status(x));
    call_fail(x->c, RAMET_HIDDEN, "session", "there is no session %s", s->id);
    x->c->err.conversation = conversation;
    return RAMET_HIDDEN;
}

static void origin_write(cx *x, const session_row *s, const session_row *from, const char *entry)
{
    const char *client = x->c->client ? x->c->client : "";
    db_stmt *q = db_query(x->d, Q_origin_add);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, client);
    q_int(q, 4, from->tree);
    q_int(q, 5, from->no);
    q_text(q, 6, from->no ? entry : NULL);
    q_run(q);
}

static ramet_status make_do(cx *x, const char *id, const ramet_make *m, bool append, session_row *s,
                            branch_row *b)
{
    session_row from = {0};
    if (m->fork_of && m->started_by)
        return call_fail(x->c, RAMET_INVALID, "lineage",
                         "a conversation is a fork or was started by another, not both");
    TRY(session_id_free(x, id));
    if (m->fork_of)
        TRY(make_fork(x, id, m, append, s, b));
    else if (m->started_by)
        TRY(make_started(x, id, m, &from, s, b));
    else
        make_root(x, id, m, NULL, s, b);
    origin_write(x, s, &from, m->started_at);
    x->level_tree = 0;
    return cx_status(x);
}

/* -------------------------------------------------------------------- append */

/* What is looked at when the session is there: it must not be archived, the channels of a client
 * are that client's, and a title that is missing is given. */
static ramet_status there_check(cx *x, const ramet_make *m, session_row *s)
{
    db_stmt *q = db_query(x->d, Q_session_words);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    const char *client = "";
    bool untitled = false, archived = false;
    if (q_row(q)) {
        const char *title = q_col_text(q, 0), *by = q_col_text(q, 2);
        untitled = !title || !*title;
        archived = q_col_int(q, 1) != 0;
        client = by ? arena_strdup(x->a, by) : "";
    }
    q_end(q);
    TRY(cx_status(x));
    if (archived)
        return call_fail(x->c, RAMET_SESSION_NOT_FOUND, "session", "session %s is archived", s->id);
    if (m->own && *client && !same_client(x, client))
        return call_fail(x->c, RAMET_FORBIDDEN, "session", "the session is another client's");
    if (!untitled || !m->title || !*m->title)
        return RAMET_OK;
    if (needs_serial(x))
        return cx_status(x);
    q = db_query(x->d, Q_session_title);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, m->title);
    q_run(q);
    access_changed(x, s->tree);
    return cx_status(x);
}

ramet_status make_open(cx *x, const char *id, const ramet_make *m, session_row *s, branch_row *b,
                       bool *made)
{
    ramet_status st = session_open_brief(x, id, NEED_WRITE, s, b);
    *made = false;
    if (st == RAMET_OK)
        return there_check(x, m, s);
    if (st != RAMET_SESSION_NOT_FOUND)
        return st;
    memset(&x->c->err, 0, sizeof x->c->err);
    if (needs_serial(x))
        return cx_status(x);
    *made = true;
    return make_do(x, id, m, true, s, b);
}

/* ---------------------------------------------------------------------- keys */

/* A key stands among the places (core/place.c), with the number of its session before it. */
static const char *key_name(cx *x, const session_row *s, const char *key)
{
    return arena_printf(x->a, "key %lld %s", (long long)s->no, key);
}

ramet_status keys_check(cx *x, const session_row *s, const entry_new *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *key = list[i].in->key;
        bool taken = false;
        if (!key)
            continue;
        if (needs_serial(x))
            return cx_status(x);
        for (size_t k = 0; k < i; k++)
            taken |= list[k].in->key && strcmp(list[k].in->key, key) == 0;
        db_stmt *q = db_query(x->d, Q_place_of);
        q_int(q, 1, s->tree);
        q_text(q, 2, key_name(x, s, key));
        q_int(q, 3, RAMET_LOG_MAIN);
        taken |= q_row(q);
        q_end(q);
        TRY(cx_status(x));
        if (taken)
            return call_fail(x->c, RAMET_KEY_TAKEN, arena_printf(x->a, "entries[%zu].key", i),
                             "an entry of session %s has the key %s already", s->id, key);
    }
    return RAMET_OK;
}

static void indexed_write(cx *x, int64_t tree, int64_t k, const char *text)
{
    db_stmt *q = db_query(x->d, Q_indexed_set);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_text(q, 3, text);
    q_int(q, 4, x->now);
    q_run(q);
}

void keys_write(cx *x, const session_row *s, const branch_row *b, const entry_new *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t k = KEY(b->m.id, list[i].e.position);
        if (list[i].existing || list[i].same_as >= 0)
            continue;
        if (list[i].in->key)
            place_add(x, s->tree, key_name(x, s, list[i].in->key), RAMET_LOG_MAIN, k);
        if (list[i].in->indexed)
            indexed_write(x, s->tree, k, list[i].in->indexed);
    }
}

/* --------------------------------------------------------------------- calls */

typedef struct make_job {
    const char *id;
    const ramet_make *in;
    ramet_session **out;
} make_job;

static ramet_status make_run(cx *x, void *arg)
{
    make_job *j = arg;
    session_row s, fresh;
    branch_row b;
    TRY(make_do(x, j->id, j->in, false, &s, &b));
    if (!session_by_no(x, s.tree, s.no, &fresh))
        return cx_status(x);
    ANSWER(x, j->out);
    *j->out = session_show(x, &fresh);
    return cx_status(x);
}

ramet_status ramet_session_make(ramet_call *c, const char *id, const ramet_make *in,
                                ramet_session **out)
{
    make_job j = {.id = id, .in = in, .out = out};
    char uuid[UUID_TEXT];
    *out = NULL;
    TRY(make_check(c, in));
    if (id)
        TRY(check_id(c, "id", id));
    if (c->client)
        TRY(check_id(c, "client", c->client));
    j.id = id ? id : arena_strdup(c->a, uuid7(ramet_now(c->r), uuid));
    ramet_status st = cx_write(c, make_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

static const char *name_of(cx *x, int64_t tree, int64_t no)
{
    db_stmt *q = db_query(x->d, Q_session_name);
    q_int(q, 1, tree);
    q_int(q, 2, no);
    const char *id = q_row(q) ? q_keep_text(q, 0, x->a) : NULL;
    q_end(q);
    return id;
}

static const char *name_seen(cx *x, int64_t tree, int64_t no)
{
    session_row s;
    return session_by_no(x, tree, no, &s) && s.id && !session_gone(x, &s) && session_visible(x, &s)
               ? s.id
               : NULL;
}

static ramet_status origin_read(cx *x, const char *session, ramet_origin *out)
{
    session_row s;
    int64_t tree = 0, no = 0;
    *out = (ramet_origin){.client = ""};
    TRY(session_open(x, session, NEED_READ, &s));
    db_stmt *q = db_query(x->d, Q_origin_get);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    if (q_row(q)) {
        out->client = q_need_text(q, 0, x->a, "origin.client");
        tree = q_col_int(q, 1);
        no = q_col_int(q, 2);
        out->started_at = q_keep_text(q, 3, x->a);
    }
    q_end(q);
    if (no)
        out->started_by = name_of(x, tree, no);
    out->level = session_level(x, &s);
    return cx_status(x);
}

ramet_status ramet_origin_get(ramet_call *c, const char *session, ramet_origin *out)
{
    cx x;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, origin_read(&x, session, out));
}

typedef struct number {
    int64_t tree, no;
} number;

static ramet_status started_read(cx *x, const char *session, ramet_session **out, size_t *n)
{
    session_row s, of;
    VEC(number) found = {0};
    VEC(ramet_session) v = {0};
    TRY(session_open(x, session, NEED_TREE, &s));
    db_stmt *q = db_query(x->d, Q_origin_started);
    q_int(q, 1, s.tree);
    q_int(q, 2, s.no);
    while (q_row(q)) {
        number at = {q_col_int(q, 0), q_col_int(q, 1)};
        VEC_PUSH(x->a, &found, at);
    }
    for (size_t i = 0; i < found.n; i++) {
        ramet_session shown;
        if (!session_by_no(x, found.items[i].tree, found.items[i].no, &of) ||
            session_gone(x, &of) || !session_visible(x, &of))
            continue;
        session_fill(x, &of, &shown);
        VEC_PUSH(x->a, &v, shown);
    }
    *out = v.items;
    *n = v.n;
    return cx_status(x);
}

ramet_status ramet_started(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    cx x;
    *out = NULL;
    *n = 0;
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, started_read(&x, session, out, n));
}

/* ------------------------------------------------------------------- archive */

typedef struct archive_job {
    const char *session;
    bool archived;
    ramet_session **out;
} archive_job;

/* The tree and all that were started from it. */
static void trees_gather(cx *x, int64_t tree, int64_t **out, size_t *n)
{
    VEC(int64_t) v = {0};
    VEC_PUSH(x->a, &v, tree);
    for (size_t i = 0; i < v.n; i++) {
        db_stmt *q = db_query(x->d, Q_origin_trees);
        q_int(q, 1, v.items[i]);
        while (q_row(q)) {
            int64_t found = q_col_int(q, 0);
            bool known = false;
            for (size_t k = 0; k < v.n && !known; k++)
                known = v.items[k] == found;
            if (!known)
                VEC_PUSH(x->a, &v, found);
        }
    }
    *out = v.items;
    *n = v.n;
}

static ramet_status archive_run(cx *x, void *arg)
{
    archive_job *j = arg;
    session_row s;
    ramet_level level;
    int64_t *trees;
    size_t n;
    TRY(member_open(x, j->session, RAMET_OWNER, &s, &level));
    if ((s.archived != 0) == j->archived)
        return call_fail(x->c, RAMET_SESSION_NOT_FOUND, "session", "session %s is %sarchived", s.id,
                         j->archived ? "already " : "not ");
    s.archived = j->archived ? archive_stamp(x->now) : 0;
    trees_gather(x, s.tree, &trees, &n);
    for (size_t i = 0; i < n; i++) {
        db_stmt *q = db_query(x->d, Q_session_archive);
        q_int(q, 1, trees[i]);
        q_int(q, 2, s.archived);
        q_run(q);
        access_changed(x, trees[i]);
    }
    event_add(x, s.tree, s.no, RAMET_EVENT_UPDATED, s.head,
              j->archived ? EVENT_ARCHIVED : EVENT_BACK);
    ANSWER(x, j->out);
    *j->out = session_show(x, &s);
    return cx_status(x);
}

ramet_status ramet_archive(ramet_call *c, const char *session, bool archived, ramet_session **out)
{
    archive_job j = {session, archived, out};
    *out = NULL;
    ramet_status st = cx_revoke(c, archive_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

/* ------------------------------------------------------------------- indexed */

ramet_status ramet_entry_known(ramet_call *c, const char *session, const char *id, bool *known)
{
    cx x;
    session_row s;
    *known = false;
    TRY(check_id(c, "entry_id", id));
    if (!cx_read(&x, c))
        return c->err.status;
    ramet_status st = session_open(&x, session, NEED_TREE, &s);
    if (st == RAMET_OK)
        *known = key_in_tree(&x, s.tree, id) != 0;
    return cx_done(&x, st);
}

typedef struct indexed_job {
    const char *session, *entry, *text;
} indexed_job;

static ramet_status indexed_run(cx *x, void *arg)
{
    const indexed_job *j = arg;
    session_row s;
    branch_row head;
    int64_t k;
    TRY(session_open_head(x, j->session, NEED_READ, &s, &head));
    if (path_find(x, &head, j->entry, &k) < 0) {
        TRY(cx_status(x));
        return call_fail(x->c, RAMET_ENTRY_NOT_FOUND, "entry_id", "entry %s is not on this path",
                         j->entry);
    }
    indexed_write(x, s.tree, k, j->text);
    event_add(x, s.tree, s.no, EVENT_INDEXED, k, 1);
    return cx_status(x);
}

ramet_status ramet_indexed_set(ramet_call *c, const char *session, const char *entry_id,
                               const char *text)
{
    indexed_job j = {session, entry_id, text};
    TRY(program_only(c));
    TRY(check_id(c, "entry_id", entry_id));
    TRY(check_chars(c, "text", text, INDEXED_CHARS, RAMET_TOO_LARGE));
    return cx_write(c, indexed_run, &j);
}

static ramet_status indexed_read(cx *x, const char *session, const ramet_entry *e, size_t n,
                                 ramet_indexed *out)
{
    session_row s;
    int64_t last = 0;
    const char *name = NULL;
    TRY(session_open(x, session, NEED_READ, &s));
    for (size_t i = 0; i < n; i++) {
        db_stmt *q = db_query(x->d, Q_indexed_get);
        q_int(q, 1, s.tree);
        q_int(q, 2, KEY(e[i].branch, e[i].position));
        if (q_row(q))
            out[i] = (ramet_indexed){.text = q_need_text(q, 0, x->a, "indexed.text"),
                                     .at = q_col_int(q, 1)};
        q_end(q);
        if (e[i].owner_no != last) {
            last = e[i].owner_no;
            name = last == s.no ? s.id : name_seen(x, s.tree, last);
        }
        out[i].session = name;
    }
    return cx_status(x);
}

ramet_status ramet_indexed_get(ramet_call *c, const char *session, const ramet_entry *entries,
                               size_t n, ramet_indexed **out)
{
    cx x;
    *out = arena_array(c->a, n + 1, sizeof **out);
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, indexed_read(&x, session, entries, n, *out));
}

static ramet_status lacking_read(cx *x, int64_t after, int limit, ramet_lacking **out, size_t *n)
{
    typedef struct spot {
        int64_t tree, k;
        const char *session;
    } spot;
    VEC(spot) at = {0};
    VEC(ramet_lacking) v = {0};
    uint8_t hash[HASH_LEN];
    db_stmt *q = db_query(x->d, Q_indexed_lacking);
    q_int(q, 1, after);
    q_int(q, 2, limit);
    while (q_row(q)) {
        spot s = {q_col_int(q, 0), q_col_int(q, 1), q_keep_text(q, 2, x->a)};
        VEC_PUSH(x->a, &at, s);
    }
    for (size_t i = 0; i < at.n; i++) {
        ramet_entry *e = arena_alloc(x->a, sizeof *e);
        if (!entry_load(x, at.items[i].tree, at.items[i].k, e, hash))
            return cx_status(x);
        ramet_lacking l = {at.items[i].session, e, at.items[i].k};
        VEC_PUSH(x->a, &v, l);
    }
    *out = v.items;
    *n = v.n;
    return cx_status(x);
}

ramet_status ramet_indexed_lacking(ramet_call *c, int64_t after, int limit, ramet_lacking **out,
                                   size_t *n)
{
    cx x;
    int most;
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    TRY(check_limit(c, limit, 1001, 100, &most));
    if (!cx_read(&x, c))
        return c->err.status;
    return cx_done(&x, lacking_read(&x, after, most, out, n));
}
