/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.c: lists of entries: those a client may see, pages in three directions, over all forks, and
 * by sequence number.
 *
 * A page along the path is read in order, from its newest or oldest end; other orders (by sequence
 * number, or over all forks) use ramet_across(). A long page is made in pieces (pieces.h): a page
 * towards the oldest end is first followed back to its beginning, without keeping anything.
 */
#include "face/memory/memory.h"

#include "base/util.h"
#include "face/kit/pieces.h"
#include "ramet/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ which ones */

static bool channel_seen(const memory_sieve *s, const ramet_entry *e)
{
    if (s->channel && strcmp(s->channel, e->channel) != 0)
        return false;
    if (strcmp(e->channel, "history") == 0)
        return true;
    if (strcmp(e->channel, "context") != 0 && strcmp(e->channel, "journal") != 0)
        return false;
    return s->everybody || (s->client && e->client && strcmp(s->client, e->client) == 0);
}

bool memory_sieve_takes(void *arg, const ramet_entry *e)
{
    memory_sieve *s = arg;
    memory_body b;
    if (!channel_seen(s, e))
        return false;
    if (s->epoch < 0 && s->from_seq < 0)
        return true;
    arena_reset(s->scratch);
    memory_body_read(s->scratch, e, &b);
    if (s->epoch >= 0 && (b.epoch < 0 ? 0 : b.epoch) != s->epoch)
        return false;
    return s->from_seq < 0 || b.seq >= s->from_seq;
}

static bool epoch_look(void *arg, const ramet_entry *e)
{
    memory_sieve *s = arg;
    memory_body b;
    if (!channel_seen(s, e))
        return false;
    arena_reset(s->scratch);
    memory_body_read(s->scratch, e, &b);
    if (b.epoch > s->highest)
        s->highest = b.epoch;
    if (s->highest < 0)
        s->highest = 0;
    return false;
}

ramet_view memory_view(const memory_sieve *s)
{
    bool is_context = s->channel && strcmp(s->channel, "context") == 0;
    if (s->has_view)
        return s->view;
    return is_context ? RAMET_VIEW_CONTEXT : RAMET_VIEW_SHOWN;
}

bool memory_epoch(ramet_call *c, const char *session, const memory_sieve *s, int64_t end,
                  int64_t *out)
{
    memory_sieve look = *s;
    ramet_page page;
    ramet_read_in in = {.end = end, .want = epoch_look, .want_arg = &look};
    look.channel = "context";
    look.highest = -1;
    if (ramet_read(c, session, &in, &page) != RAMET_OK)
        return false;
    *out = look.highest;
    return true;
}

/* --------------------------------------------------------------- what is asked */

typedef struct asked {
    const char *id; /* the conversation */
    const char *after, *before, *up_to;
    const ramet_entry *up_to_entry; /* over all forks */
    bool tail, forks, latest;
    size_t limit;
    int64_t end; /* positions below it; 0: all */
    memory_sieve of;
} asked;

static bool bad(request *q, const char *text)
{
    memory_refuse(q, 400, "bad_request", text, NULL);
    return false;
}

static bool channel_read(request *q, asked *a)
{
    static const char *const names[] = {"history", "context", "journal"};
    const char *channel = request_query(q, "channel");
    a->of.client = q->caller.client;
    a->of.everybody = memory_is_admin(q);
    if (!channel || !*channel) {
        a->of.channel = q->caller.client || a->of.everybody ? NULL : "history";
        return true;
    }
    for (size_t i = 0; i < 3; i++)
        if (strcasecmp(channel, names[i]) == 0)
            a->of.channel = names[i];
    if (!a->of.channel)
        return bad(q, "invalid channel");
    if (a->of.channel != names[0] && !q->caller.client && !a->of.everybody) {
        memory_refuse(q, 403, "forbidden", "forbidden",
                      memory_detail(q, "message", "this channel needs a client id"));
        return false;
    }
    return true;
}

static bool epoch_read(request *q, asked *a)
{
    const char *epoch = request_query(q, "epoch");
    char *end;
    a->of.epoch = -1;
    if (!a->of.channel || strcmp(a->of.channel, "context") != 0 ||
        (epoch && strcasecmp(epoch, "all") == 0))
        return true;
    if (!epoch || !*epoch || strcasecmp(epoch, "latest") == 0) {
        a->latest = true;
        return true;
    }
    errno = 0;
    a->of.epoch = strtoll(epoch, &end, 10);
    if (errno || *end || a->of.epoch < 0)
        return bad(q, "epoch must be latest, all or a number");
    return true;
}

static bool view_read(request *q, asked *a)
{
    const char *view = request_query(q, "view");
    if (!view || !*view)
        return true;
    a->of.has_view = true;
    if (strcmp(view, "context") == 0)
        a->of.view = RAMET_VIEW_CONTEXT;
    else if (strcmp(view, "record") == 0)
        a->of.view = RAMET_VIEW_RECORD;
    else
        return bad(q, "view must be record or context");
    return true;
}

static bool asked_read(request *q, asked *a)
{
    const char *forks = request_query(q, "forks");
    *a = (asked){.id = face_path(q, "conversationId"),
                 .after = request_query(q, "afterCursor"),
                 .before = request_query(q, "beforeCursor"),
                 .up_to = request_query(q, "upToEntryId"),
                 .tail = face_query_bool(q, "tail"),
                 .forks = forks && strcmp(forks, "all") == 0,
                 .limit = (size_t)memory_limit(q, memory_is_admin(q) ? 20 : 50),
                 .of = {.from_seq = -1, .scratch = NULL}};
    if ((a->after != NULL) + (a->before != NULL) + a->tail > 1)
        return bad(q, "only one of afterCursor, beforeCursor and tail can be given");
    face_query_int(q, "fromSeq", &a->of.from_seq);
    return channel_read(q, a) && epoch_read(q, a) && view_read(q, a);
}

/* Whether the client may read channels in a conversation that another client created. */
static bool client_fits(request *q, const asked *a)
{
    ramet_origin from;
    if (!a->of.channel || strcmp(a->of.channel, "history") == 0 || a->of.everybody)
        return true;
    if (!memory_level(q, a->id, &from))
        return false;
    if (!*from.client || strcmp(from.client, q->caller.client) == 0)
        return true;
    memory_refuse(q, 403, "forbidden", "forbidden", NULL);
    return false;
}

/* ----------------------------------------------------------------------- pages */

typedef enum {
    PAGE_FORWARD,  /* from its first entry until it is full */
    PAGE_BACKWARD, /* looking for its first entry, backwards from the last */
    PAGE_REST      /* from the entry found by PAGE_BACKWARD to the last */
} page_phase;

typedef struct entry_page {
    asked asked;
    page_phase phase;
    arena *own; /* the request's arena */
    /* along the path */
    int64_t branch; /* once it is known */
    int64_t next;   /* position to continue at; -1: at the beginning */
    /* across sessions */
    ramet_entry cursor;     /* continue after this entry, or before it */
    const char *cursor_key; /* its number, as a key */
    bool has_cursor, with_cursor;
    ramet_entry up_to;

    size_t left;       /* entries still to be written */
    size_t bytes, max; /* size of the entries read; the page ends early past `most` */
    bool older, newer; /* there are more entries on that side */
    bool open;         /* the array has begun */
    char first[UUID_TEXT], last[UUID_TEXT]; /* ids; "": none */
} entry_page;

static bool cursor_missing(request *q, const asked *a, const char *name, const char *id)
{
    bool known = false;
    ramet_entry_known(q->call, a->id, memory_lower(q->arena, id), &known);
    return bad(q, arena_printf(q->arena, "%s entry not found%s", name,
                               known ? " in visible results" : ""));
}

static size_t entries_bytes(const ramet_page *page)
{
    size_t n = 0;
    for (size_t i = 0; i < page->n; i++)
        n += form_entry_bytes(&page->entries[i]);
    return n;
}

static bool entries_write(request *q, entry_page *p, const ramet_entry *list, size_t n)
{
    if (!p->open) {
        jw_object(&q->writer);
        jw_key(&q->writer, "data");
        jw_array(&q->writer);
        p->open = true;
    }
    if (!n)
        return true;
    if (!memory_entries_write(q, p->asked.id, list, n, false))
        return false;
    if (!*p->first)
        snprintf(p->first, sizeof p->first, "%s", memory_entry_id(q->arena, &list[0]));
    snprintf(p->last, sizeof p->last, "%s", memory_entry_id(q->arena, &list[n - 1]));
    p->left -= n;
    return true;
}

static request_piece page_end(request *q, const entry_page *p)
{
    const asked *a = &p->asked;
    const char *first = *p->first ? p->first : NULL, *last = *p->last ? p->last : NULL;
    jw_end_array(&q->writer);
    jw_kstr(&q->writer, "afterCursor", a->before || (!a->tail && p->newer) ? last : NULL);
    jw_kstr(&q->writer, "beforeCursor", a->after || p->older ? first : NULL);
    jw_end_object(&q->writer);
    return PIECE_LAST;
}

static request_piece page_failed(request *q, const entry_page *p)
{
    memory_error(q, p->asked.id);
    return PIECE_FAILED;
}

/* ------------------------------------------------------------------ along the path */

/* Reads one entry more than are left, to know whether there are more. */
static bool path_read(request *q, entry_page *p, ramet_read_in in, ramet_page *page)
{
    memory_sieve of = p->asked.of;
    of.scratch = arena_new();
    in.limit = (int)p->left + 1;
    in.branch = p->branch;
    in.want = memory_sieve_takes;
    in.want_arg = &of;
    in.view = memory_view(&of);
    bool fine = ramet_read(q->call, p->asked.id, &in, page) == RAMET_OK;
    arena_free(of.scratch);
    if (!fine)
        return false;
    p->branch = page->head.branch;
    p->bytes += entries_bytes(page);
    if (!p->asked.end) /* entries appended later are not in this page */
        p->asked.end = page->head.length;
    return true;
}

static request_piece path_forward(request *q, entry_page *p)
{
    ramet_page page;
    ramet_read_in in = {.end = p->asked.end, .by_position = p->next >= 0, .position = p->next};
    if (!path_read(q, p, in, &page))
        return page_failed(q, p);
    size_t n = page.n > p->left ? p->left : page.n;
    if (n)
        p->next = page.entries[n - 1].position + 1;
    if (!entries_write(q, p, page.entries, n))
        return PIECE_FAILED;
    p->newer = page.n > n || page.more_after;
    return page.n > n || !page.more_after || p->bytes >= p->max ? page_end(q, p) : PIECE_MORE;
}

/* Follows the page back to its first entry. If it is read at once, it is written at once. */
static request_piece path_backward(request *q, entry_page *p)
{
    ramet_page page;
    size_t limit = p->left, n;
    int64_t end = p->asked.end;
    for (bool first = true;; first = false) {
        if (!path_read(q, p, (ramet_read_in){.end = end, .tail = true}, &page))
            return page_failed(q, p);
        n = page.n > p->left ? p->left : page.n;
        p->older = page.n > n || page.more_before;
        bool over = page.n > n || !page.more_before || p->bytes >= p->max;
        if (over && first)
            return entries_write(q, p, page.entries + page.n - n, n) ? page_end(q, p)
                                                                     : PIECE_FAILED;
        if (n)
            end = page.entries[page.n - n].position;
        p->left -= n;
        if (over)
            break;
        ramet_call_reset(q->call);
    }
    p->next = end;
    p->left = limit - p->left;
    p->phase = PAGE_REST;
    return PIECE_MORE;
}

static request_piece path_rest(request *q, entry_page *p)
{
    ramet_page page;
    ramet_read_in in = {.end = p->asked.end, .by_position = true, .position = p->next};
    if (!path_read(q, p, in, &page))
        return page_failed(q, p);
    size_t n = page.n > p->left ? p->left : page.n;
    if (!entries_write(q, p, page.entries, n))
        return PIECE_FAILED;
    if (!n || !p->left)
        return page_end(q, p);
    p->next = page.entries[n - 1].position + 1;
    return PIECE_MORE;
}

static request_piece path_step(request *q, void *state)
{
    entry_page *p = state;
    switch (p->phase) {
    case PAGE_FORWARD:
        return path_forward(q, p);
    case PAGE_BACKWARD:
        return path_backward(q, p);
    case PAGE_REST:
        break;
    }
    return path_rest(q, p);
}

/* The cursor as a bound on the path. False: the answer is filled in. *none: nothing precedes it. */
static bool path_begin(request *q, entry_page *p, bool *none)
{
    asked *a = &p->asked;
    const char *cursor = a->after ? a->after : a->before;
    p->next = -1;
    *none = false;
    if (!cursor)
        return true;
    const ramet_entry *e = memory_entry_find(q->call, q->arena, a->id, cursor);
    if (!e || (a->end && e->position >= a->end) || !memory_sieve_takes(&a->of, e))
        return cursor_missing(q, a, a->after ? "afterCursor" : "beforeCursor", cursor);
    if (a->after)
        p->next = e->position + 1;
    else
        a->end = e->position;
    *none = a->before && !e->position;
    return true;
}

/* ------------------------------------------------------- over forks, by sequence number */

static const char *seq_key(arena *a, int64_t seq)
{
    return arena_printf(a, "seq %010lld", (long long)seq);
}

/* The sequence number of an entry; one that an overlay replaces has it in the record. */
static int64_t seq_of(request *q, const ramet_entry *e)
{
    memory_body b;
    ramet_entry *record;
    if (!memory_body_read(q->arena, e, &b) &&
        ramet_across_entry(q->call, face_path(q, "conversationId"), NULL, e->branch, e->position,
                           &record) == RAMET_OK)
        memory_body_read(q->arena, record, &b);
    return b.seq;
}

static void cursor_set(request *q, entry_page *p, const ramet_entry *e)
{
    p->cursor = *e;
    p->cursor.id = arena_strdup(p->own, e->id);
    p->cursor_key = p->asked.of.from_seq < 0 ? NULL : seq_key(p->own, seq_of(q, e));
    p->has_cursor = true;
}

static bool across_read(request *q, entry_page *p, ramet_page *page)
{
    const asked *a = &p->asked;
    bool back = p->phase == PAGE_BACKWARD;
    const ramet_entry *cursor = p->has_cursor ? &p->cursor : NULL;
    memory_sieve of = a->of;
    ramet_across_in in = {.tree = a->forks,
                          .after = back ? NULL : cursor,
                          .after_key = p->cursor_key,
                          .with_after = p->with_cursor,
                          .before = back ? cursor : NULL,
                          .before_key = p->cursor_key,
                          .tail = back && !cursor,
                          .upto = a->up_to_entry ? &p->up_to : NULL,
                          .end = a->end,
                          .limit = (int)p->left,
                          .want = memory_sieve_takes,
                          .want_arg = &of,
                          .view = memory_view(&of)};
    if (a->of.from_seq >= 0) {
        in.key_from = seq_key(q->arena, a->of.from_seq);
        in.key_to = seq_key(q->arena, UINT32_MAX);
    }
    of.scratch = arena_new();
    bool fine = ramet_across(q->call, a->id, &in, page) == RAMET_OK;
    arena_free(of.scratch);
    p->bytes += fine ? entries_bytes(page) : 0;
    return fine;
}

static request_piece across_forward(request *q, entry_page *p)
{
    ramet_page page;
    if (!across_read(q, p, &page))
        return page_failed(q, p);
    if (!entries_write(q, p, page.entries, page.n))
        return PIECE_FAILED;
    bool over = !p->left || !page.n;
    if (p->phase == PAGE_FORWARD) {
        p->newer = page.more_after;
        over = over || !page.more_after || p->bytes >= p->max;
    }
    if (over)
        return page_end(q, p);
    cursor_set(q, p, &page.entries[page.n - 1]);
    p->with_cursor = false;
    return PIECE_MORE;
}

static request_piece across_backward(request *q, entry_page *p)
{
    ramet_page page;
    size_t limit = p->left;
    for (bool first = true;; first = false) {
        if (!across_read(q, p, &page))
            return page_failed(q, p);
        p->older = page.more_before;
        bool over = page.n == p->left || !page.more_before || p->bytes >= p->max;
        if (over && first)
            return entries_write(q, p, page.entries, page.n) ? page_end(q, p) : PIECE_FAILED;
        if (page.n)
            cursor_set(q, p, &page.entries[0]);
        p->left -= page.n;
        if (over)
            break;
        ramet_call_reset(q->call);
    }
    p->with_cursor = true;
    p->left = limit - p->left;
    p->phase = PAGE_REST;
    return PIECE_MORE;
}

static request_piece across_step(request *q, void *state)
{
    entry_page *p = state;
    return p->phase == PAGE_BACKWARD ? across_backward(q, p) : across_forward(q, p);
}

/* The entry of a cursor, which must be one of those listed. False: the answer is filled in.
 */
static bool across_begin(request *q, entry_page *p)
{
    asked *a = &p->asked;
    const char *id = a->after ? a->after : a->before;
    if (a->up_to_entry)
        p->up_to = *a->up_to_entry;
    if (!id)
        return true;
    const ramet_entry *e = a->forks ? memory_entry_across(q->call, q->arena, a->id, id)
                                    : memory_entry_find(q->call, q->arena, a->id, id);
    if (!e || (a->end && e->position >= a->end) || !memory_sieve_takes(&a->of, e))
        return cursor_missing(q, a, a->after ? "afterCursor" : "beforeCursor", id);
    cursor_set(q, p, e);
    return true;
}

/* ---------------------------------------------------------------------- handler */

/* The highest epoch in any fork. */
static bool epoch_of_tree(ramet_call *c, asked *a)
{
    memory_sieve look = a->of;
    ramet_page page;
    ramet_across_in in = {
        .tree = true, .upto = a->up_to_entry, .want = epoch_look, .want_arg = &look};
    look.channel = "context";
    look.highest = -1;
    bool fine = ramet_across(c, a->id, &in, &page) == RAMET_OK;
    a->of.epoch = look.highest;
    return fine;
}

static bool bounds_find(request *q, asked *a)
{
    if (a->up_to) {
        const ramet_entry *e = a->forks ? memory_entry_across(q->call, q->arena, a->id, a->up_to)
                                        : memory_entry_find(q->call, q->arena, a->id, a->up_to);
        if (!e) {
            memory_refuse(q, 404, "not_found",
                          arena_printf(q->arena, "entry not found: %s", a->up_to), NULL);
            return false;
        }
        if (a->forks)
            a->up_to_entry = e;
        else
            a->end = e->position + 1;
    }
    bool known =
        !a->latest || (a->forks ? epoch_of_tree(q->call, a)
                                : memory_epoch(q->call, a->id, &a->of, a->end, &a->of.epoch));
    if (!known)
        memory_error(q, a->id);
    return known;
}

/* Answers with the requested page. */
static void page_answer(request *q, entry_page *p)
{
    const asked *a = &p->asked;
    bool across = a->forks || a->of.from_seq >= 0, none = false;
    p->own = q->arena;
    p->left = a->limit;
    p->phase = a->before || a->tail ? PAGE_BACKWARD : PAGE_FORWARD;
    if (!bounds_find(q, &p->asked) || !(across ? across_begin(q, p) : path_begin(q, p, &none)))
        return;
    p->max = q->whole ? PIECE_BYTES : LONG_PAGE_BYTES;
    ramet_call_page_bytes(q->call, PIECE_BYTES);
    if (!none) {
        face_pieces(q, across ? across_step : path_step, p);
    } else if (entries_write(q, p, NULL, 0)) {
        page_end(q, p);
        face_done(q);
    }
}

void memory_entries_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *s;
    asked a;
    if (!c || !asked_read(q, &a) || !memory_session(q, c, a.id, &s) || !client_fits(q, &a))
        return;
    entry_page *p = arena_alloc(q->arena, sizeof *p);
    *p = (entry_page){.asked = a};
    arena *scratch = p->asked.of.scratch = arena_new();
    page_answer(q, p);
    arena_free(scratch);
}
