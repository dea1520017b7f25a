/* SPDX-License-Identifier: Apache-2.0
 *
 * search.c: full-text search, and the texts under which entries are indexed.
 */
#include "face/memory/memory.h"
#include "face/kit/pieces.h"

#include "base/util.h"
#include "ramet/memory.h"

#include <stdlib.h>
#include <string.h>

enum { SEARCH_PAGE = 200, MAX_INDEX_ENTRIES = 1000 };

static bool refuse(request *q, const char *field, const char *message)
{
    memory_refuse(q, 400, "validation_error",
                  arena_printf(q->arena, "validation error on %s: %s", field, message),
                  memory_detail(q, "field", field));
    return false;
}

/* --------------------------------------------------------------------- search */

typedef struct looking {
    const char *query, *after, *owner;
    int64_t limit;
    bool entry, grouped, archived; /* owner, archived: for administrators */
} looking;

static bool type_known(const char *s, bool list)
{
    return s && (strcmp(s, "semantic") == 0 || strcmp(s, "fulltext") == 0 ||
                 (!list && strcmp(s, "auto") == 0));
}

static bool type_read(request *q)
{
    const json_node *v = face_member(q, "searchType");
    bool semantic = false;
    if (!v)
        return true;
    if (json_is(v, JSON_STRING)) {
        const char *word = json_text(q->arena, &q->json, v);
        if (!type_known(word, false))
            return refuse(q, "searchType", "it is one of auto, semantic, fulltext");
        semantic = strcmp(word, "semantic") == 0;
    } else if (json_is(v, JSON_ARRAY) && v->count) {
        for (const json_node *i = json_first(&q->json, v); i; i = json_next(&q->json, v, i)) {
            const char *word = json_text(q->arena, &q->json, i);
            if (!type_known(word, true))
                return refuse(q, "searchType", "its items are semantic or fulltext");
            semantic |= strcmp(word, "semantic") == 0;
        }
    } else {
        return refuse(q, "searchType", "it is a text or a list of texts");
    }
    if (semantic)
        memory_refuse(q, 501, "search_type_unavailable", "semantic search is not available",
                      &(memory_details){.key = "availableTypes", .json = "[\"fulltext\"]"});
    return !semantic;
}

static bool bool_read(request *q, const char *name, bool otherwise, bool *out)
{
    const json_node *v = face_member(q, name);
    *out = v ? json_is(v, JSON_TRUE) : otherwise;
    return !v || json_is(v, JSON_TRUE) || json_is(v, JSON_FALSE) ||
           refuse(q, name, "it is true or false");
}

/* Administrators search all conversations and get every matching entry. */
static bool admin_read(request *q, looking *l)
{
    l->owner = face_text(q, "userId");
    if (l->owner && (!*l->owner || strlen(l->owner) > 255))
        return refuse(q, "userId", "it has 1 to 255 bytes");
    return bool_read(q, "includeEntry", true, &l->entry) &&
           bool_read(q, "includeArchived", false, &l->archived);
}

static bool looking_read(request *q, looking *l)
{
    const json_node *limit = face_member(q, "limit");
    *l = (looking){
        .query = face_text(q, "query"), .after = face_text(q, "afterCursor"), .limit = 20};
    if (!l->query || !*l->query || utf8_count(l->query) > 1000)
        return refuse(q, "query", "it has 1 to 1000 characters");
    if (limit && (!json_int(&q->json, limit, &l->limit) || l->limit < 1 || l->limit > 1000))
        return refuse(q, "limit", "it must be between 1 and 1000");
    if (memory_is_admin(q))
        return admin_read(q, l);
    l->archived = true;
    return type_read(q) && bool_read(q, "includeEntry", true, &l->entry) &&
           bool_read(q, "groupByConversation", true, &l->grouped);
}

typedef VEC(const char *) names;

static bool named(const names *v, const char *s)
{
    for (size_t i = 0; i < v->n; i++)
        if (strcmp(v->items[i], s) == 0)
            return true;
    return false;
}

static const char *highlight(request *q, const ramet_hit *h)
{
    buf b;
    size_t at = 0, n = strlen(h->snippet);
    buf_init(&b, SIZE_MAX / 4);
    for (size_t i = 0; i < h->n_marks; i++) {
        size_t from = (size_t)h->marks[i].start, len = (size_t)h->marks[i].length;
        buf_add(&b, h->snippet + at, from - at);
        buf_puts(&b, "<em>");
        buf_add(&b, h->snippet + from, len);
        buf_puts(&b, "</em>");
        at = from + len;
    }
    buf_add(&b, h->snippet + at, n - at);
    const char *out = b.n ? arena_memdup(q->arena, b.data, b.n) : "";
    buf_release(&b);
    return out;
}

static bool hit_write(request *q, const looking *l, const ramet_hit *h, const ramet_entry *e)
{
    ramet_session *s;
    if (ramet_session_get(q->call, h->session, &s) != RAMET_OK) {
        memory_error(q, h->session);
        return false;
    }
    jw_object(&q->writer);
    jw_kstr(&q->writer, "conversationId", h->session);
    jw_kstr(&q->writer, "conversationTitle", s->title);
    jw_kstr(&q->writer, "entryId", memory_entry_id(q->arena, e));
    jw_kraw(&q->writer, "score", arena_printf(q->arena, "%.6f", h->score));
    jw_kstr(&q->writer, "kind", "fulltext");
    jw_kstr(&q->writer, "highlights", highlight(q, h));
    if (l->entry) {
        jw_key(&q->writer, "entry");
        if (!memory_entries_write(q, h->session, e, 1, false))
            return false;
    }
    jw_end_object(&q->writer);
    return true;
}

/* Writes the hits of one page of the store, as many as fit: with their entries they may be large,
 * and a page ends early past one piece. */
static bool hits_write(request *q, const looking *l, const ramet_hits *page, size_t skip,
                       names *given, int64_t *n, size_t *taken)
{
    for (*taken = skip; *taken < page->n && *n < l->limit && q->out.n < PIECE_BYTES; ++*taken) {
        const ramet_hit *h = &page->items[*taken];
        ramet_entry *e;
        if ((l->grouped && named(given, h->session)) ||
            ramet_entry_get(q->call, h->session, h->branch, h->entry_id, &e) != RAMET_OK ||
            strcmp(e->channel, "history") != 0)
            continue;
        if (!hit_write(q, l, h, e))
            return false;
        VEC_PUSH(q->arena, given, h->session);
        ++*n;
    }
    return true;
}

/* A cursor is SKIP:CURSOR: a page of the store, and how many of its hits were already returned. */
void memory_search(request *q)
{
    ramet_call *c = face_call(q);
    looking l;
    names given = {0};
    int64_t n = 0;
    size_t taken = 0;
    char *end = NULL;
    if (!c || !looking_read(q, &l))
        return;
    size_t skip = l.after ? strtoul(l.after, &end, 10) : 0;
    if (l.after && (end == l.after || *end != ':')) {
        refuse(q, "afterCursor", "it was not made by this search");
        return;
    }
    ramet_search_in in = {.query = l.query,
                          .owner = l.owner,
                          .unarchived = !l.archived,
                          .limit = SEARCH_PAGE,
                          .cursor = l.after && end[1] ? end + 1 : NULL};
    const char *next = NULL;
    jw_object(&q->writer);
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    for (bool more = true; more;) {
        ramet_hits page;
        if (ramet_search(c, &in, &page) != RAMET_OK) {
            memory_error(q, "");
            return;
        }
        if (!hits_write(q, &l, &page, skip, &given, &n, &taken))
            return;
        bool rest = taken < page.n;
        next = rest ? arena_printf(q->arena, "%zu:%s", taken, in.cursor ? in.cursor : "")
               : page.next_cursor ? arena_printf(q->arena, "0:%s", page.next_cursor)
                                  : NULL;
        more = !rest && n < l.limit && page.next_cursor && q->out.n < PIECE_BYTES;
        in.cursor = page.next_cursor;
        skip = 0;
    }
    memory_page_end(q, next);
}

/* ---------------------------------------------------------------------- index */

static bool index_one(request *q, const json_doc *d, const json_node *v)
{
    const char *session = json_text(q->arena, d, json_get(d, v, "conversationId"));
    const char *entry = json_text(q->arena, d, json_get(d, v, "entryId"));
    const char *text = json_text(q->arena, d, json_get(d, v, "indexedContent"));
    if (!session || !*session)
        return refuse(q, "conversationId", "it must not be empty");
    if (!entry || !uuid_valid(entry))
        return refuse(q, "entryId", "it must be a UUID");
    if (!text || !*text)
        return refuse(q, "indexedContent", "it must not be empty");
    const ramet_entry *e = memory_entry_find(q->call, q->arena, session, entry);
    if (e && ramet_indexed_set(q->call, session, e->id, text) == RAMET_OK)
        return true;
    ramet_status st = ramet_call_error(q->call)->status;
    if (st == RAMET_ENTRY_NOT_FOUND || st == RAMET_OK)
        memory_refuse(q, 404, "not_found", arena_printf(q->arena, "entry not found: %s", entry),
                      NULL);
    else
        memory_error(q, session);
    return false;
}

void memory_index(request *q)
{
    json_doc d;
    size_t n = 0;
    memory_program_call(q);
    if (!q->body.n || !json_parse(q->arena, q->body.data, q->body.n, 0, &d, NULL)) {
        memory_refuse(q, 400, NULL, "the body is not JSON that can be taken", NULL);
        return;
    }
    const json_node *list = &d.nodes[0];
    if (json_is(list, JSON_OBJECT))
        list = json_get(&d, list, "entries");
    if (!json_is(list, JSON_ARRAY) || list->count > MAX_INDEX_ENTRIES) {
        refuse(q, "entries", "it is a list of at most 1000");
        return;
    }
    if (!list->count) {
        memory_refuse(q, 400, NULL, "at least one entry required", NULL);
        return;
    }
    for (const json_node *v = json_first(&d, list); v; v = json_next(&d, list, v), n++)
        if (!index_one(q, &d, v))
            return;
    jw_object(&q->writer);
    jw_kint(&q->writer, "indexed", (int64_t)n);
    jw_end_object(&q->writer);
    face_done(q);
}

/* Whether a list continues: it has one item too many, or has ended early because of its size.
 * False: the call failed. */
static bool lacking_more(request *q, const ramet_lacking *list, size_t n, size_t limit, bool *more)
{
    ramet_lacking *next;
    size_t some = n > limit;
    bool cut = n && !some && arena_used(ramet_call_arena(q->call)) >= PIECE_BYTES;
    bool fine =
        !cut || ramet_indexed_lacking(q->call, list[n - 1].place, 1, &next, &some) == RAMET_OK;
    *more = some > 0;
    return fine;
}

void memory_unindexed(request *q)
{
    const char *after = request_query(q, "afterCursor");
    ramet_lacking *list;
    size_t n, limit = (size_t)memory_limit(q, 20);
    char *end = NULL;
    int64_t from = after ? strtoll(after, &end, 10) : 0;
    if (after && (end == after || *end)) {
        memory_refuse(q, 400, "bad_request", "afterCursor was not made by this list", NULL);
        return;
    }
    bool more;
    memory_program_call(q);
    ramet_call_page_bytes(q->call, PIECE_BYTES);
    if (ramet_indexed_lacking(q->call, from, (int)limit + 1, &list, &n) != RAMET_OK) {
        memory_error(q, "");
        return;
    }
    if (!lacking_more(q, list, n, limit, &more)) {
        memory_error(q, "");
        return;
    }
    if (n > limit)
        n = limit;
    jw_object(&q->writer);
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    for (size_t i = 0; i < n; i++) {
        jw_object(&q->writer);
        jw_kstr(&q->writer, "conversationId", list[i].session);
        jw_key(&q->writer, "entry");
        if (!memory_entries_write(q, list[i].session, list[i].entry, 1, false))
            return;
        jw_end_object(&q->writer);
    }
    memory_page_end(q, more ? arena_printf(q->arena, "%lld", (long long)list[n - 1].place) : NULL);
}
