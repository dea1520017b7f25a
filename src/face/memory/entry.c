/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.c: lists of entries: which ones a caller sees, pages in three directions, over all forks,
 * and by sequence number.
 *
 * A page along the path is read from either end. Any other order (by sequence number, or over all
 * forks) is read with ramet_across().
 */
#include "face/memory/memory.h"

#include "base/util.h"

#include <errno.h>
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
    a->of.client = q->who.client;
    a->of.everybody = memory_is_admin(q);
    if (!channel || !*channel) {
        a->of.channel = q->who.client || a->of.everybody ? NULL : "history";
        return true;
    }
    for (size_t i = 0; i < 3; i++)
        if (strcasecmp(channel, names[i]) == 0)
            a->of.channel = names[i];
    if (!a->of.channel)
        return bad(q, "invalid channel");
    if (a->of.channel != names[0] && !q->who.client && !a->of.everybody) {
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
    return channel_read(q, a) && epoch_read(q, a);
}

/* Whether a client asks for its channels in a conversation that another client created. */
static bool client_fits(request *q, const asked *a)
{
    ramet_origin from;
    if (!a->of.channel || strcmp(a->of.channel, "history") == 0 || a->of.everybody)
        return true;
    if (!memory_level(q, a->id, &from))
        return false;
    if (!*from.client || strcmp(from.client, q->who.client) == 0)
        return true;
    memory_refuse(q, 403, "forbidden", "forbidden", NULL);
    return false;
}

/* ----------------------------------------------------------------------- pages */

/* A page: its entries, and whether there are more on either side. */
typedef struct picked {
    ramet_entry *entries;
    size_t n;
    bool older, newer;
} picked;

static bool cursor_missing(request *q, const asked *a, const char *name, const char *id)
{
    bool known = false;
    ramet_entry_known(q->c, a->id, memory_lower(q->a, id), &known);
    return bad(
        q, arena_printf(q->a, "%s entry not found%s", name, known ? " in visible results" : ""));
}

static bool page_write(request *q, const asked *a, const picked *p)
{
    const char *first = p->n ? memory_entry_id(q->a, &p->entries[0]) : NULL;
    const char *last = p->n ? memory_entry_id(q->a, &p->entries[p->n - 1]) : NULL;
    jw_object(&q->w);
    jw_key(&q->w, "data");
    if (!memory_entries_write(q, a->id, p->entries, p->n, true))
        return false;
    jw_kstr(&q->w, "afterCursor", a->before || (!a->tail && p->newer) ? last : NULL);
    jw_kstr(&q->w, "beforeCursor", a->after || p->older ? first : NULL);
    jw_end_object(&q->w);
    face_done(q);
    return true;
}

/* Along the path. */
static bool path_pick(request *q, asked *a, picked *out)
{
    const char *cursor = a->after ? a->after : a->before;
    bool back = a->before || a->tail;
    ramet_page page;
    ramet_read_in in = {.limit = (int)a->limit + 1,
                        .end = a->end,
                        .tail = back,
                        .want = memory_sieve_takes,
                        .want_arg = &a->of};
    if (cursor) {
        const ramet_entry *e = memory_entry_find(q->c, q->a, a->id, cursor);
        if (!e || (a->end && e->position >= a->end) || !memory_sieve_takes(&a->of, e))
            return cursor_missing(q, a, a->after ? "afterCursor" : "beforeCursor", cursor);
        if (a->after) {
            in.by_position = true;
            in.position = e->position + 1;
        } else if (!e->position) {
            *out = (picked){0};
            return true;
        } else {
            in.end = e->position;
        }
    }
    if (ramet_read(q->c, a->id, &in, &page) != RAMET_OK) {
        memory_error(q, a->id);
        return false;
    }
    bool more = page.n > a->limit || page.more_before || page.more_after;
    size_t skip = back && page.n > a->limit ? page.n - a->limit : 0;
    *out = (picked){.entries = page.entries + skip,
                    .n = page.n > a->limit ? a->limit : page.n,
                    .older = back && more,
                    .newer = !back && more};
    return true;
}

/* ------------------------------------------------------- over forks, by sequence number */

static const char *seq_key(request *q, int64_t seq)
{
    return arena_printf(q->a, "seq %010lld", (long long)seq);
}

/* The entry of a cursor, which must be in the list; by number, its key. */
static bool cursor_find(request *q, asked *a, const ramet_entry **out, const char **key)
{
    const char *id = a->after ? a->after : a->before;
    memory_body b;
    if (!id)
        return true;
    const ramet_entry *e = a->forks ? memory_entry_across(q->c, q->a, a->id, id)
                                    : memory_entry_find(q->c, q->a, a->id, id);
    if (!e || (a->end && e->position >= a->end) || !memory_sieve_takes(&a->of, e))
        return cursor_missing(q, a, a->after ? "afterCursor" : "beforeCursor", id);
    memory_body_read(q->a, e, &b);
    *key = seq_key(q, b.seq);
    *out = e;
    return true;
}

static bool across_pick(request *q, asked *a, picked *out)
{
    const ramet_entry *cursor = NULL;
    const char *key = NULL;
    ramet_page page;
    if (!cursor_find(q, a, &cursor, &key))
        return false;
    ramet_across_in in = {.tree = a->forks,
                          .after = a->after ? cursor : NULL,
                          .after_key = key,
                          .before = a->before ? cursor : NULL,
                          .before_key = key,
                          .tail = a->tail,
                          .upto = a->up_to_entry,
                          .end = a->end,
                          .limit = (int)a->limit,
                          .want = memory_sieve_takes,
                          .want_arg = &a->of};
    if (a->of.from_seq >= 0) {
        in.key_from = seq_key(q, a->of.from_seq);
        in.key_to = seq_key(q, UINT32_MAX);
    }
    if (ramet_across(q->c, a->id, &in, &page) != RAMET_OK) {
        memory_error(q, a->id);
        return false;
    }
    *out = (picked){page.entries, page.n, page.more_before, page.more_after};
    return true;
}

/* ---------------------------------------------------------------------- handler */

/* The highest epoch that any fork has. */
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
        const ramet_entry *e = a->forks ? memory_entry_across(q->c, q->a, a->id, a->up_to)
                                        : memory_entry_find(q->c, q->a, a->id, a->up_to);
        if (!e) {
            memory_refuse(q, 404, "not_found", arena_printf(q->a, "entry not found: %s", a->up_to),
                          NULL);
            return false;
        }
        if (a->forks)
            a->up_to_entry = e;
        else
            a->end = e->position + 1;
    }
    bool known = !a->latest || (a->forks ? epoch_of_tree(q->c, a)
                                         : memory_epoch(q->c, a->id, &a->of, a->end, &a->of.epoch));
    if (!known)
        memory_error(q, a->id);
    return known;
}

void memory_entries_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *s;
    picked page = {0};
    asked a;
    if (!c || !asked_read(q, &a) || !memory_session(q, c, a.id, &s) || !client_fits(q, &a))
        return;
    a.of.scratch = arena_new();
    if (bounds_find(q, &a)) {
        bool ordered = a.forks || a.of.from_seq >= 0;
        if (ordered ? across_pick(q, &a, &page) : path_pick(q, &a, &page))
            page_write(q, &a, &page);
    }
    arena_free(a.of.scratch);
}
