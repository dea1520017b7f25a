/* SPDX-License-Identifier: Apache-2.0
 *
 * mirror_session.c: makes a session of ours equal to one of OpenCode, in one commit.
 *
 *   M1  Nothing is read in twice: the id of a session and of each entry is made of OpenCode's ids,
 * and what our own prompts have caused is taken from our history. M2  The head moves only when
 * something new was written in OpenCode, or hidden there by a revert that the head still shows.
 * What it leaves stays, as a version. M3  A session of OpenCode gets our mark after our session
 * exists: a crash between the two is repaired by doing both again.
 */
#include "agent/opencode/mirror_internal.h"
#include "agent/opencode/mirror.h"

#include <stdio.h>
#include <string.h>

typedef struct sync {
    mirror *mirror;
    const oc_api *api;
    arena *arena;
    ramet_call *call;
    const oc_inner *inner;
    const char *session; /* ours */
    oc_reply messages;
    VEC(ramet_entry) path; /* our present history */
    const char *head;      /* its hash */
    oc_entries list;       /* what it should be */
    size_t matched;        /* entries of the path that are in the list */
    bool is_new;           /* the list has something that no branch has */
} sync;

/* ------------------------------------------------------------------ our session */

static const char *session_id_of(arena *a, const char *sandbox, const char *id)
{
    uint8_t raw[HASH_LEN];
    char out[UUID_TEXT];
    const char *name = arena_printf(a, "opencode session\n%s\n%s", sandbox, id);
    sha_of(name, strlen(name), raw);
    return arena_strdup(a, uuid8(raw, out));
}

static void mark_fill(oc_inner *in, const ramet_session *s)
{
    in->session = arena_strdup(in->arena, s->id);
    in->root = arena_strdup(in->arena, s->cache_root ? s->cache_root : s->id);
}

/* A session that was made in OpenCode. False: it is not for us, or not now. */
static bool session_adopt(sync *y, oc_inner *in, const char *title)
{
    arena *a = y->arena;
    ramet_session *s;
    oc_reply got;
    const char *id = session_id_of(a, y->mirror->sandbox, in->id);
    ramet_status st = ramet_session_get(y->call, id, &s);
    if (st == RAMET_SESSION_NOT_FOUND) {
        ramet_session_in make = {.id = id,
                                 .title = title,
                                 .agent = {.name = y->mirror->own->set.name},
                                 .owner = y->mirror->owner,
                                 .sandbox = y->mirror->sandbox};
        st = ramet_session_create(y->call, &make, &s);
    }
    if (st != RAMET_OK)
        return false;
    mark_fill(in, s);
    in->is_adopted = true;
    in->keys = NULL;
    return oc_mark_put(y->mirror->own, y->api, in, false, &got);
}

/* How many prompts two sessions of OpenCode share from the beginning. */
static size_t prompts_shared(const oc_inner *a, const oc_inner *b)
{
    size_t n = 0;
    while (n < a->prompts.n && n < b->prompts.n &&
           (a->prompts.items[n].view
                ? b->prompts.items[n].view &&
                      strcmp(a->prompts.items[n].key, b->prompts.items[n].key) == 0
                : !b->prompts.items[n].view &&
                      a->prompts.items[n].before == b->prompts.items[n].before))
        n++;
    return n;
}

/* The last entry on the path of a session that belongs to a prompt; NULL: it is not there. */
static const char *prompt_end(sync *y, const char *session, const oc_prompt *p)
{
    const char *last = NULL;
    bool on = false;
    for (int64_t at = 0;;) {
        ramet_page page;
        ramet_read_in in = {.limit = 1000, .by_position = true, .position = at};
        if (ramet_read(y->call, session, &in, &page) != RAMET_OK || !page.n)
            return last;
        for (size_t i = 0; i < page.n; i++) {
            const ramet_entry *e = &page.entries[i];
            if (strcmp(p->view ? e->hash : e->id, p->key) == 0)
                on = true;
            else if (on && e->role == RAMET_USER)
                return last;
            if (on)
                last = arena_strdup(y->arena, e->id);
        }
        at += (int64_t)page.n;
        ramet_call_reset(y->call);
    }
}

/* A fork that was made in OpenCode: a copy with the mark of its source. */
static bool fork_adopt(sync *y, oc_inner *in, const char *source_id, const char *title)
{
    arena *a = y->arena;
    oc_reply got;
    ramet_session *s;
    oc_inner *source = oc_inner_read(y->api, source_id, &got);
    if (!source)
        return false;
    bool fine = false;
    size_t shared = prompts_shared(in, source);
    const char *id = session_id_of(a, y->mirror->sandbox, in->id);
    ramet_fork_in make = {.id = id, .title = title, .by_kind = RAMET_BY_USER, .blank = !shared};
    if (shared)
        make.at.entry_id = prompt_end(y, source->session, &source->prompts.items[shared - 1]);
    ramet_status st = ramet_session_get(y->call, id, &s);
    if (st == RAMET_SESSION_NOT_FOUND && (make.blank || make.at.entry_id))
        st = ramet_fork(y->call, source->session, &make, &s, NULL);
    if (st == RAMET_OK) {
        mark_fill(in, s);
        in->is_adopted = true;
        in->keys = arena_strdup(in->arena, oc_keys_make(a, source, shared));
        fine = oc_mark_put(y->mirror->own, y->api, in, false, &got);
    }
    arena_free(source->arena);
    return fine;
}

/* ------------------------------------------------------------------ the list */

static bool path_load(sync *y)
{
    for (int64_t at = 0;;) {
        ramet_page page;
        ramet_read_in in = {.limit = 1000, .by_position = true, .position = at};
        if (ramet_read(y->call, y->session, &in, &page) != RAMET_OK)
            return false;
        y->head = arena_strdup(y->arena, page.head.hash);
        for (size_t i = 0; i < page.n; i++)
            VEC_PUSH(y->arena, &y->path, page.entries[i]);
        if (!page.n)
            return true;
        at += (int64_t)page.n;
    }
}

static void path_take(sync *y, size_t end)
{
    for (; y->matched < end; y->matched++) {
        const ramet_entry *e = &y->path.items[y->matched];
        bool own = !e->body || strcmp(e->format, "ramet") == 0;
        ramet_entry_in in = {.id = e->id, .role = e->role, .parts = e->parts};
        if (!own) {
            in.format = e->format;
            in.body = e->body;
        }
        VEC_PUSH(y->arena, &y->list, in);
    }
}

/* Where the turn that begins at `from` ends on the path. */
static size_t turn_end(const sync *y, size_t from)
{
    size_t end = from + 1;
    while (end < y->path.n && y->path.items[end].role != RAMET_USER)
        end++;
    return end;
}

static bool turn_is_cut(sync *y, const char *turn)
{
    ramet_turn *t;
    return ramet_turn_get(y->call, y->session, turn, &t) == RAMET_OK &&
           t->status == RAMET_TURN_INTERRUPTED;
}

/* Whether any branch of the session has an entry. */
static bool entry_is_anywhere(sync *y, const char *id)
{
    ramet_branch *list;
    ramet_entry *e;
    size_t n;
    if (ramet_branches(y->call, y->session, &list, &n) != RAMET_OK)
        return true; /* then nothing is done */
    for (size_t i = 0; i < n; i++)
        if (ramet_entry_get(y->call, y->session, list[i].id, id, &e) == RAMET_OK)
            return true;
    return false;
}

/* The messages that answer prompt i, as entries. The index of the message of prompt i in the
 * document is its `before`. */
static void answers_add(sync *y, size_t i, const char *turn)
{
    const oc_inner *in = y->inner;
    const json_doc *d = &y->messages.doc;
    size_t at = 0, first = in->prompts.items[i].before;
    size_t end = i + 1 < in->prompts.n ? in->prompts.items[i + 1].before : in->n_messages;
    for (const json_node *m = json_first(d, d->nodes); m && at < end;
         m = json_next(d, d->nodes, m), at++)
        if (at > first && oc_is(y->arena, d, json_get(d, m, "info"), "role", "assistant"))
            oc_entries_add(y->arena, &y->list, d, m, turn, y->mirror->own->set.name);
}

static const json_node *message_at(const sync *y, size_t index)
{
    const json_doc *d = &y->messages.doc;
    const json_node *m = json_first(d, d->nodes);
    while (m && index--)
        m = json_next(d, d->nodes, m);
    return m;
}

/* One of our prompts: our history has it, if the head is there. After a crash the answer may be in
 * OpenCode alone. False: the head is elsewhere. */
static bool own_prompt_take(sync *y, size_t i)
{
    const oc_prompt *p = &y->inner->prompts.items[i];
    size_t at = y->matched;
    while (at < y->path.n && strcmp(y->path.items[at].hash, p->key) != 0)
        at++;
    if (at == y->path.n)
        return false;
    path_take(y, at + 1);
    size_t end = turn_end(y, at);
    if (i + 1 == y->inner->prompts.n && end == y->path.n && turn_is_cut(y, p->turn)) {
        size_t before = y->list.n;
        answers_add(y, i, p->turn);
        y->is_new =
            y->list.n > before && (end != at + 1 + (y->list.n - before) ||
                                   strcmp(y->path.items[at + 1].id, y->list.items[before].id) != 0);
        if (y->is_new)
            return true;
        y->list.n = before;
    }
    path_take(y, end);
    return true;
}

/* A message that was written in OpenCode. False: the head is elsewhere, and nothing is new. */
static bool foreign_prompt_take(sync *y, size_t i)
{
    const oc_prompt *p = &y->inner->prompts.items[i];
    const ramet_entry *here = y->matched < y->path.n ? &y->path.items[y->matched] : NULL;
    if (!y->is_new && here && strcmp(here->id, p->key) == 0) {
        path_take(y, turn_end(y, y->matched));
        return true;
    }
    if (!y->is_new && entry_is_anywhere(y, p->key))
        return false;
    size_t first = y->list.n;
    const json_node *m = message_at(y, p->before);
    oc_entries_add(y->arena, &y->list, &y->messages.doc, m, p->key, NULL);
    if (y->list.n > first && p->before < y->inner->n_messages)
        y->list.items[first].id = p->key;
    /* The same message again is a new answer to it. */
    if (!y->is_new && here && here->role == RAMET_USER && y->list.n == first + 1 &&
        strcmp(here->parts, y->list.items[first].parts) == 0) {
        y->list.n = first;
        path_take(y, y->matched + 1);
    }
    y->is_new = true;
    answers_add(y, i, p->key);
    return true;
}

/* Whether what the path has beyond the list is what a revert in OpenCode hides: then the first
 * hidden message is there. */
static bool rest_is_hidden(sync *y)
{
    const oc_inner *in = y->inner;
    const json_doc *d = &y->messages.doc;
    if (!in->revert || y->matched >= y->path.n)
        return false;
    const json_node *m = message_at(y, in->n_messages);
    const ramet_entry *e = &y->path.items[y->matched];
    const json_node *parts = json_get(d, m, "parts");
    if (strcmp(e->id, oc_entry_id(y->arena, in->revert, 0)) == 0)
        return true;
    for (const json_node *p = json_is(parts, JSON_ARRAY) ? json_first(d, parts) : NULL; p;
         p = json_next(d, parts, p))
        if (oc_is(y->arena, d, json_get(d, json_get(d, p, "metadata"), "ramet"), "hash", e->hash))
            return true;
    return false;
}

/* A revert that was taken back there is taken back here, if it was the last move. */
static void revert_undo(sync *y)
{
    ramet_move *moves;
    ramet_session *s;
    size_t n;
    bool more;
    if (y->inner->revert || y->matched < y->path.n ||
        ramet_head_log(y->call, y->session, 0, 1, &moves, &n, &more) != RAMET_OK || !n ||
        moves[0].kind != RAMET_MOVE_SYNC || moves[0].to_length != (int64_t)y->path.n)
        return;
    ramet_undo(y->call, y->session, y->head, &s);
}

/* ------------------------------------------------------------------ all of it */

static mirror_result content_sync(sync *y)
{
    ramet_sync_out out;
    const oc_inner *in = y->inner;
    if (!oc_call(y->api, "GET", arena_printf(y->arena, "/session/%s/message", in->id), NULL,
                 &y->messages) ||
        !y->messages.doc.n || !path_load(y))
        return MIRROR_DONE;
    for (size_t i = 0; i < in->prompts.n; i++)
        if (!(in->prompts.items[i].view ? own_prompt_take(y, i) : foreign_prompt_take(y, i))) {
            if (y->matched == y->path.n)
                revert_undo(y);
            return MIRROR_DONE;
        }
    if (!y->is_new && !rest_is_hidden(y))
        return MIRROR_DONE;
    ramet_status st = ramet_sync(y->call, y->session, y->list.items, y->list.n, y->head, &out);
    if (st == RAMET_HEAD_MOVED)
        return MIRROR_LATER;
    if (st != RAMET_OK)
        y->mirror->note(y->mirror->sandbox, ramet_call_error(y->call)->message);
    return MIRROR_DONE;
}

static bool is_busy(const oc_api *api, const char *id)
{
    oc_reply got;
    if (!oc_call(api, "GET", "/session/status", NULL, &got) || !got.doc.n)
        return true;
    const json_node *status = json_get(&got.doc, got.doc.nodes, id);
    return status && !oc_is(api->arena, &got.doc, status, "type", "idle");
}

/* Finds or makes our session. False: there is none, or nothing to do now. */
static bool session_find(sync *y, oc_inner *in, const json_doc *d)
{
    arena *a = y->arena;
    const json_node *mark = json_get(d, json_get(d, d->nodes, "metadata"), "ramet");
    const char *title = oc_text(a, d, d->nodes, "title"), *id = oc_text(a, d, mark, "id");
    /* A mark of another store, or of another agent, counts while its process lives. */
    bool is_ours = oc_mark_is_ours(y->api, d, mark);
    if (!mark || (!is_ours && oc_host_is_dead(oc_text(a, d, mark, "by"))))
        return session_adopt(y, in, title);
    if (!is_ours || oc_is(a, d, mark, "state", "new") || json_get(d, mark, "forking"))
        return false;
    return id && strcmp(id, in->id) != 0 ? fork_adopt(y, in, id, title) : true;
}

mirror_result mirror_session(mirror *m, const oc_api *api, const char *id)
{
    oc_reply got;
    arena *a = api->arena;
    if (!oc_call(api, "GET", arena_printf(a, "/session/%s", id), NULL, &got))
        return got.status ? MIRROR_DONE : MIRROR_LATER;
    json_doc info = got.doc;
    if (!info.n || oc_text(a, &info, info.nodes, "parentID"))
        return MIRROR_DONE; /* of a subagent: the call that started it has its result */
    if (is_busy(api, id))
        return MIRROR_LATER;
    oc_inner *in = oc_inner_read(api, id, &got);
    if (!in)
        return MIRROR_DONE;
    sync y = {.mirror = m, .api = api, .arena = a, .inner = in};
    y.call = ramet_call_new(m->store, NULL, NULL);
    mirror_result result = MIRROR_DONE;
    if (in->prompts.n && session_find(&y, in, &info)) {
        ramet_session *s;
        oc_inner *fresh = oc_inner_read(api, id, &got); /* with the keys of a copy */
        if (fresh) {
            arena_free(in->arena);
            in = fresh;
            y.inner = in;
        }
        y.session = arena_strdup(a, in->session);
        ramet_call_reset(y.call);
        if (ramet_session_get(y.call, y.session, &s) == RAMET_OK)
            result = content_sync(&y);
    }
    ramet_call_free(y.call);
    arena_free(in->arena);
    return result;
}
