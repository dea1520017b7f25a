/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts about sessions that were made from erased entries, or may have been.
 *
 * Of a session that is erased whole, all go. Of another session whose history holds an erased
 * entry, those go that share a word with it, and a stored title when the entry was one of the first
 * two of the history, because that is what titles are made from. The data of a task and the error
 * of a turn go when the turn has lost an entry.
 */
#include "core/erase/erase.h"

#include "core/call.h"
#include "core/event.h"
#include "core/model/key.h"
#include "core/session/rights.h"
#include "core/session/session.h"

#include <stdlib.h>

#define TITLE_ENTRIES 2 /* a title is made from these */

/* A session that has lost something. */
typedef struct about {
    int64_t tree, no;
    const erase_tree *in; /* NULL: the session is erased whole */
    bool first;           /* one of its first entries was erased */
} about;

static bool is_made_from(const about *a, const char *text)
{
    return text && *text && (!a->in || words_share(&a->in->words, text));
}

static void session_texts(txn *tx, erase_batch *b, const about *a, const session_full *s)
{
    bool titled = is_made_from(a, s->title) || (a->first && s->title[0]);
    bool from = is_made_from(a, s->from_title) || (a->first && s->from_title[0]);
    bool set = is_made_from(a, s->agent_config), meta = is_made_from(a, s->metadata);
    bool why = is_made_from(a, s->reason);
    if (!titled && !from && !set && !meta && !why)
        return;
    db_stmt *q = db_query(tx->db, Q_erase_session);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_text(q, 3, titled ? "" : s->title);
    q_text(q, 4, set ? NULL : s->agent_config);
    q_text(q, 5, meta ? NULL : s->metadata);
    q_text(q, 6, why ? "" : s->reason);
    q_text(q, 7, from ? "" : s->from_title);
    q_run(q);
    b->counts[ERASE_TEXTS] += titled + from + set + meta + why;
}

typedef VEC(int64_t) numbers;

/* The numbers of the session's rows whose text was made from what is erased: (number, text). */
static void numbers_find(txn *tx, erase_batch *b, const about *a, sql_id query, numbers *out)
{
    db_stmt *q = db_query(tx->db, query);
    q_int(q, 1, a->tree);
    q_int(q, 2, a->no);
    while (q_row(q)) {
        int64_t number = q_col_int(q, 0);
        if (is_made_from(a, q_col_text(q, 1)))
            VEC_PUSH(b->arena, out, number);
    }
}

static db_stmt *numbered(txn *tx, const about *a, sql_id query, int64_t number)
{
    db_stmt *q = db_query(tx->db, query);
    q_int(q, 1, a->tree);
    q_int(q, 2, a->no);
    q_int(q, 3, number);
    return q;
}

static void moves_erase(txn *tx, erase_batch *b, const about *a)
{
    numbers v = {0};
    numbers_find(tx, b, a, Q_move_reasons, &v);
    for (size_t i = 0; i < v.n; i++)
        batch_run(tx, b, numbered(tx, a, Q_erase_move, v.items[i]), ERASE_MOVES);
}

static void tags_erase(txn *tx, erase_batch *b, const about *a)
{
    VEC(const char *) v = {0};
    db_stmt *q = db_query(tx->db, Q_tag_of);
    q_int(q, 1, a->tree);
    q_int(q, 2, a->no);
    while (q_row(q)) {
        const char *tag = q_keep_text(q, 0, b->arena);
        if (is_made_from(a, tag))
            VEC_PUSH(b->arena, &v, tag);
    }
    for (size_t i = 0; i < v.n; i++) {
        q = db_query(tx->db, Q_tag_del);
        q_int(q, 1, a->tree);
        q_int(q, 2, a->no);
        q_text(q, 3, v.items[i]);
        q_run(q);
        b->counts[ERASE_TAGS]++;
    }
}

/* Names that branches were given. */
static void names_erase(txn *tx, erase_batch *b, const about *a)
{
    numbers v = {0};
    numbers_find(tx, b, a, Q_note_names, &v);
    for (size_t i = 0; i < v.n; i++) {
        batch_run(tx, b, numbered(tx, a, Q_erase_note, v.items[i]), ERASE_TEXTS);
        q_run(numbered(tx, a, Q_erase_note_bare, v.items[i]));
    }
}

static bool is_listed(const char *const *list, size_t n, const char *id)
{
    for (size_t i = 0; id && i < n; i++)
        if (strcmp(list[i], id) == 0)
            return true;
    return false;
}

static void turns_erase(txn *tx, erase_batch *b, const about *a)
{
    VEC(const char *) v = {0};
    db_stmt *q = db_query(tx->db, Q_turn_errors);
    q_int(q, 1, a->tree);
    q_int(q, 2, a->no);
    while (q_row(q)) {
        const char *id = q_keep_text(q, 0, b->arena), *asked = q_keep_text(q, 1, b->arena);
        if (!a->in || is_listed(a->in->turns.items, a->in->turns.n, id) ||
            is_listed(a->in->ids.items, a->in->ids.n, asked) || is_made_from(a, q_col_text(q, 2)))
            VEC_PUSH(b->arena, &v, id);
    }
    for (size_t i = 0; i < v.n; i++) {
        q = db_query(tx->db, Q_erase_turn);
        q_int(q, 1, a->tree);
        q_text(q, 2, v.items[i]);
        batch_run(tx, b, q, ERASE_TURNS);
    }
}

/* The members of a task's data that say nothing of its content. */
static const char *task_bare(arena *a, const char *data)
{
    static const char *const kept[] = {"state", "at", "time", "tip", "turn"};
    json_doc d;
    buf out;
    json_writer w;
    if (!json_parse(a, data, strlen(data), STORED_DEPTH, &d, NULL))
        return "{}";
    buf_init(&out, (size_t)1 << 20);
    jw_init(&w, &out, 0);
    jw_object(&w);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        const json_node *v = json_get(&d, &d.nodes[0], kept[i]);
        if (v && !json_is(v, JSON_OBJECT) && !json_is(v, JSON_ARRAY))
            jw_kraw(&w, kept[i], json_raw(a, &d, v));
    }
    jw_end_object(&w);
    return buf_keep(&out, a);
}

static void tasks_erase(txn *tx, erase_batch *b, const about *a)
{
    typedef struct task {
        const char *id, *bare;
    } task;
    VEC(task) v = {0};
    db_stmt *q = db_query(tx->db, Q_task_of_session);
    q_int(q, 1, a->tree);
    q_int(q, 2, a->no);
    while (q_row(q)) {
        const char *data = q_col_text(q, 3);
        task t = {.id = q_keep_text(q, 0, b->arena)};
        if (!data || (a->in && !is_listed(a->in->turns.items, a->in->turns.n, t.id) &&
                      !is_made_from(a, data)))
            continue;
        t.bare = task_bare(b->arena, arena_strdup(b->arena, data));
        VEC_PUSH(b->arena, &v, t);
    }
    for (size_t i = 0; i < v.n; i++) {
        q = db_query(tx->db, Q_erase_task);
        q_text(q, 1, v.items[i].id);
        q_text(q, 2, v.items[i].bare);
        batch_run(tx, b, q, ERASE_TASKS);
    }
}

static void about_one(txn *tx, erase_batch *b, const about *a)
{
    session_full s;
    if (!session_by_no(tx, a->tree, a->no, &s) || s.purging == 2)
        return;
    session_texts(tx, b, a, &s);
    moves_erase(tx, b, a);
    tags_erase(tx, b, a);
    names_erase(tx, b, a);
    values_erase(tx, b, a->tree, a->no, a->in ? &a->in->words : NULL);
    templates_erase(tx, b, a->tree, a->no, a->in ? &a->in->words : NULL);
    turns_erase(tx, b, a);
    tasks_erase(tx, b, a);
    /* Clients that watch the session read it again. */
    event_add(tx, s.tree, s.no, RAMET_EVENT_UPDATED, s.head, 0);
}

/* ------------------------------------------------------------------ which ones */

typedef VEC(about) abouts;

static void about_add(erase_batch *b, abouts *v, const erase_tree *t, int64_t session, bool first)
{
    for (size_t i = 0; i < v->n; i++)
        if (v->items[i].no == session) {
            v->items[i].first |= first;
            return;
        }
    about fresh = {t->tree, session, t, first};
    VEC_PUSH(b->arena, v, fresh);
}

void about_erase(txn *tx, erase_batch *b, erase_tree *t)
{
    abouts v = {0};
    for (size_t i = 0; i < t->spans.n; i++) {
        const erase_span *s = &t->spans.items[i];
        bool first = s->lo < TITLE_ENTRIES;
        about_add(b, &v, t, s->session, first);
        db_stmt *q = db_query(tx->db, Q_branch_heirs);
        q_int(q, 1, t->tree);
        q_int(q, 2, s->branch);
        while (q_row(q))
            if (q_col_int(q, 1) > s->lo)
                about_add(b, &v, t, q_col_int(q, 0), first);
    }
    for (size_t i = 0; i < v.n && db_status(tx->db) == RAMET_OK; i++)
        about_one(tx, b, &v.items[i]);
    access_changed(tx, t->tree); /* cached rows of sessions are not valid any more */
}

/* A fork keeps the title that its parent had, and hands it on to its own forks. */
static void titles_erase(txn *tx, erase_batch *b, const erase_session *from)
{
    session_full s;
    about in_tree = {.tree = from->tree};
    erase_tree words = {.tree = from->tree, .words = {.arena = b->arena}};
    VEC(session_full) v = {0};
    if (!session_by_no(tx, from->tree, from->no, &s))
        return;
    words_add(&words.words, s.title);
    words_add(&words.words, s.from_title);
    in_tree.in = &words;
    db_stmt *q = db_query(tx->db, Q_session_of_tree);
    q_int(q, 1, from->tree);
    while (words.words.n && q_row(q)) {
        session_from(q, b->arena, &s);
        if (s.purging < 2 && is_made_from(&in_tree, s.from_title))
            VEC_PUSH(b->arena, &v, s);
    }
    q_end(q);
    for (size_t i = 0; i < v.n; i++) {
        const session_full *fork = &v.items[i];
        q = db_query(tx->db, Q_erase_session);
        q_int(q, 1, fork->tree);
        q_int(q, 2, fork->no);
        q_text(q, 3, fork->title);
        q_text(q, 4, fork->agent_config);
        q_text(q, 5, fork->metadata);
        q_text(q, 6, fork->reason);
        q_text(q, 7, "");
        batch_run(tx, b, q, ERASE_TEXTS);
    }
}

void session_erase(txn *tx, erase_batch *b, const erase_session *s)
{
    titles_erase(tx, b, s);
    about a = {s->tree, s->no, NULL, true};
    about_one(tx, b, &a);
    db_stmt *q = db_query(tx->db, Q_prompt_clear);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    batch_run(tx, b, q, ERASE_PROMPTS);
    q = db_query(tx->db, Q_erase_origin);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_run(q);
    access_changed(tx, s->tree);
}

/* ----------------------------------------------------------------- kept answers */

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The session that a scope (method and path) names; NULL: none. */
static const char *scope_session(arena *a, const char *scope)
{
    static const char mark[] = "/sessions/";
    const char *p = strstr(scope, mark);
    if (!p)
        return NULL;
    p += sizeof mark - 1;
    char *id = arena_alloc(a, strlen(p) + 1), *to = id;
    while (*p && *p != '/' && *p != '?' && *p != ' ') {
        int high = *p == '%' ? hex_of(p[1]) : -1, low = high >= 0 ? hex_of(p[2]) : -1;
        *to++ = low >= 0 ? (char)(high << 4 | low) : *p;
        p += low >= 0 ? 3 : 1;
    }
    *to = 0;
    return *id ? id : NULL;
}

/* A receipt says how much was erased and where, never what: a caller whose connection was lost must
 * get it, even if something else was erased in between. */
static bool is_receipt(const char *scope)
{
    static const char route[] = "POST /ramet/v1/erase";
    return strncmp(scope, route, sizeof route - 1) == 0 &&
           (!scope[sizeof route - 1] || scope[sizeof route - 1] == ' ');
}

/* An answer about a session of another tree says nothing of what was erased. */
static bool is_elsewhere(txn *tx, erase_batch *b, const char *scope)
{
    const char *id = scope_session(b->arena, scope);
    if (is_receipt(scope))
        return true;
    if (!id)
        return false;
    db_stmt *q = db_query(tx->db, Q_session_place);
    q_text(q, 1, id);
    int64_t tree = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    for (size_t i = 0; tree && i < b->trees.n; i++)
        if (b->trees.items[i]->tree == tree)
            return false;
    for (size_t i = 0; tree && i < b->n_sessions; i++)
        if (b->sessions[i].tree == tree)
            return false;
    return tree != 0;
}

void answers_erase(txn *tx, erase_batch *b)
{
    typedef struct answer {
        const char *user, *scope, *key;
        size_t n_key;
    } answer;
    VEC(answer) v = {0};
    db_stmt *q = db_query(tx->db, Q_once_scopes);
    while (q_row(q)) {
        answer one = {q_keep_text(q, 0, b->arena), q_keep_text(q, 1, b->arena), NULL, 0};
        const void *key = q_col_blob(q, 2, &one.n_key);
        one.key = key ? arena_memdup(b->arena, key, one.n_key) : NULL;
        VEC_PUSH(b->arena, &v, one);
    }
    for (size_t i = 0; i < v.n && db_status(tx->db) == RAMET_OK; i++) {
        if (!v.items[i].key || !v.items[i].scope || is_elsewhere(tx, b, v.items[i].scope)) {
            b->answers_left++;
            continue;
        }
        q = db_query(tx->db, Q_erase_once);
        q_text(q, 1, v.items[i].user);
        q_text(q, 2, v.items[i].scope);
        q_blob(q, 3, v.items[i].key, v.items[i].n_key);
        q_blob(q, 4, "", 0);
        batch_run(tx, b, q, ERASE_ANSWERS);
    }
}
