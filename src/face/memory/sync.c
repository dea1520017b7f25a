/* SPDX-License-Identifier: Apache-2.0
 *
 * sync.c: makes the stored context of an agent equal to the one it sends: by appending nothing, the
 * new tail in the same epoch, or a new epoch.
 */
#include "face/memory/memory.h"
#include "ramet/memory.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 16 }; /* another client may write in between */

/* ------------------------------------------------------------------ comparing */

static bool object_same(const json_doc *a, const json_node *x, const json_doc *b,
                        const json_node *y, arena *ar)
{
    const json_node *v;
    for (const json_node *k = json_first(a, x); k; k = json_next(a, x, v)) {
        v = json_next(a, x, k);
        if (!memory_json_same(a, v, b, json_get(b, y, json_text(ar, a, k)), ar))
            return false;
    }
    return true;
}

bool memory_json_same(const json_doc *a, const json_node *x, const json_doc *b, const json_node *y,
                      arena *ar)
{
    if (!x || !y || x->type != y->type || x->count != y->count)
        return x == y;
    if (x->type == JSON_OBJECT)
        return object_same(a, x, b, y, ar);
    if (x->type == JSON_ARRAY) {
        const json_node *q = json_first(b, y);
        for (const json_node *p = json_first(a, x); p; p = json_next(a, x, p)) {
            if (!memory_json_same(a, p, b, q, ar))
                return false;
            q = json_next(b, y, q);
        }
        return true;
    }
    if (x->type == JSON_STRING)
        return strcmp(json_text(ar, a, x), json_text(ar, b, y)) == 0;
    if (x->end - x->start == y->end - y->start &&
        memcmp(a->text + x->start, b->text + y->start, x->end - x->start) == 0)
        return true;
    /* A gRPC client sends 1.0 back as 1. */
    return x->type == JSON_NUMBER &&
           strtod(json_raw(ar, a, x), NULL) == strtod(json_raw(ar, b, y), NULL);
}

/* ------------------------------------------------------------------ what is there */

typedef struct context {
    const char *head; /* hash of the history compared; NULL: there is no conversation */
    int64_t epoch;    /* -1: there is no context yet */
    size_t matched;   /* stored items that are equal */
    size_t there;     /* stored items */
} context;

/* Compares the items of one entry with those sent, from out->there on. */
static bool entry_compare(arena *ar, const ramet_entry *e, const json_doc *sent, context *out)
{
    memory_body b;
    json_doc d;
    memory_body_read(ar, e, &b);
    const char *content = memory_content(ar, e, &b);
    if (!json_parse(ar, content, strlen(content), SIZE_MAX, &d, NULL))
        return false;
    const json_node *list = &sent->nodes[0], *y = json_first(sent, list);
    for (size_t i = 0; y && i < out->there; i++)
        y = json_next(sent, list, y);
    for (const json_node *x = json_first(&d, &d.nodes[0]); x; x = json_next(&d, &d.nodes[0], x)) {
        if (out->matched == out->there && y && memory_json_same(&d, x, sent, y, ar))
            out->matched++;
        out->there++;
        y = y ? json_next(sent, list, y) : NULL;
    }
    return true;
}

static bool context_read(request *q, const char *id, const json_doc *sent, context *out)
{
    memory_sieve of = {.channel = "context",
                       .client = q->caller.client,
                       .epoch = -1,
                       .from_seq = -1,
                       .scratch = arena_new()};
    ramet_read_in in = {
        .limit = 1000, .want = memory_sieve_takes, .want_arg = &of, .by_position = true};
    ramet_page page = {.more_after = true};
    in.view = memory_view(&of);
    bool fine = memory_epoch(q->call, id, &of, 0, &out->epoch);
    of.epoch = out->epoch;
    for (bool more = fine && out->epoch >= 0; more && fine;) {
        fine = ramet_read(q->call, id, &in, &page) == RAMET_OK;
        for (size_t i = 0; fine && i < page.n; i++)
            entry_compare(q->arena, &page.entries[i], sent, out);
        more = fine && page.n && (page.n == 1000 || page.more_after);
        if (more)
            in.position = page.entries[page.n - 1].position + 1;
    }
    arena_free(of.scratch);
    return fine;
}

/* False: the answer is filled in. */
static bool context_find(request *q, const char *id, const json_doc *sent, context *out)
{
    ramet_session *s;
    ramet_origin from;
    *out = (context){.epoch = -1};
    ramet_status st = ramet_session_get(q->call, id, &s);
    if (st == RAMET_SESSION_NOT_FOUND)
        return true;
    if (st == RAMET_OK)
        st = ramet_session_writable(q->call, id);
    if (st != RAMET_OK || !memory_level(q, id, &from)) {
        if (st != RAMET_OK)
            memory_error(q, id);
        return false;
    }
    if (s->archived) {
        memory_refuse(q, 404, "not_found", arena_printf(q->arena, "conversation not found: %s", id),
                      NULL);
        return false;
    }
    if (*from.client && strcmp(from.client, q->caller.client) != 0) {
        memory_refuse(q, 403, "forbidden", "forbidden", NULL);
        return false;
    }
    out->head = arena_strdup(q->arena, s->head.hash);
    if (context_read(q, id, sent, out))
        return true;
    memory_error(q, id);
    return false;
}

/* ------------------------------------------------------------------------ answer */

static void answer(request *q, const char *id, int64_t epoch, bool incremented,
                   const ramet_entry *e)
{
    jw_object(&q->writer);
    if (epoch < 0)
        jw_kraw(&q->writer, "epoch", "null");
    else
        jw_kint(&q->writer, "epoch", epoch);
    jw_kbool(&q->writer, "noOp", !e);
    jw_kbool(&q->writer, "epochIncremented", incremented);
    if (e) {
        jw_key(&q->writer, "entry");
        if (!memory_entries_write(q, id, e, 1, false))
            return;
    }
    jw_end_object(&q->writer);
    face_done(q);
}

/* The items from `first` on, as an array. */
static const char *items_from(request *q, const json_doc *d, size_t first)
{
    buf b;
    json_writer w;
    size_t i = 0;
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    jw_array(&w);
    for (const json_node *v = json_first(d, &d->nodes[0]); v; v = json_next(d, &d->nodes[0], v))
        if (i++ >= first)
            jw_raw(&w, json_raw(q->arena, d, v));
    jw_end_array(&w);
    return buf_keep(&b, q->arena);
}

/* One attempt; false: another client has written in between. */
static bool sync_once(request *q, const char *id, const memory_new *sent)
{
    json_doc d;
    context now;
    memory_new n = *sent;
    ramet_append_out out;
    if (!json_parse(q->arena, sent->content, strlen(sent->content), 0, &d, NULL) ||
        !context_find(q, id, &d, &now))
        return true;
    size_t given = d.nodes[0].count;
    bool extends = now.epoch >= 0 && now.matched == now.there && (given >= now.there);
    if ((!now.head && !given) || (extends && (given > 0 || !now.there) && given == now.there) ||
        (now.epoch < 0 && !given)) {
        answer(q, id, now.epoch, false, NULL);
        return true;
    }
    bool grows = extends && given > now.there && now.there > 0;
    n.epoch = now.epoch < 0 ? 1 : grows ? now.epoch : now.epoch + 1;
    n.content = items_from(q, &d, grows ? now.there : 0);
    if (!memory_append(q, id, &n, 1, now.head, &out)) {
        ramet_status st = ramet_call_error(q->call)->status;
        if (!q->status && st == RAMET_HEAD_MOVED)
            return false;
        if (!q->status)
            memory_error(q, id);
        return true;
    }
    bool moved = now.epoch >= 0 && !grows;
    answer(q, id, n.epoch, out.made || moved, &out.entries[0]);
    return true;
}

void memory_sync_post(request *q)
{
    const char *id = face_path(q, "conversationId");
    memory_new n;
    if (!face_call(q))
        return;
    if (!q->caller.client) {
        memory_invalid(q, "a client id is needed");
        return;
    }
    if (!memory_new_read(q, &q->json, &q->json.nodes[0], &n))
        return;
    n.channel = "context";
    n.epoch = -1;
    n.fork_of = n.fork_at = n.started_by = n.started_at = n.indexed = NULL;
    for (int i = 0; i < TRIES; i++)
        if (sync_once(q, id, &n))
            return;
    memory_refuse(q, 409, NULL, "the conversation is being written to; try again", NULL);
}
