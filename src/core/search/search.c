/* SPDX-License-Identifier: Apache-2.0
 *
 * Full-text search: the public calls, and the choice between the two kinds of index. search.h lists
 * the parts.
 */
#include "core/search/search.h"

#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/search/search_upkeep.h"

#include <stdlib.h>

#define TEXT_BYTES ((size_t)256 << 10)

static pthread_mutex_t first_use = PTHREAD_MUTEX_INITIALIZER;

struct search *search_lock(ramet *r)
{
    pthread_mutex_lock(&first_use);
    if (!r->search) {
        r->search = xcalloc(1, sizeof *r->search);
        pthread_mutex_init(&r->search->lock, NULL);
    }
    struct search *s = r->search;
    pthread_mutex_unlock(&first_use);
    pthread_mutex_lock(&s->lock);
    return s;
}

void search_unlock(struct search *s)
{
    pthread_mutex_unlock(&s->lock);
}

const char *search_text(arena *a, const char *text)
{
    size_t n = strlen(text);
    if (n <= TEXT_BYTES)
        return text;
    n = TEXT_BYTES;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return arena_memdup(a, text, n);
}

ramet_status index_fail(ramet_call *c, fts *f)
{
    return call_fail(c, db_status(fts_db(f)), NULL,
                     "the search index failed; the store is not touched: %s",
                     db_message(fts_db(f)));
}

static const search_engine *engine_of(const ramet *r)
{
    return store_file(r->store) ? &search_in_file : &search_in_tables;
}

void search_close(ramet *r)
{
    if (!r->search)
        return;
    fts_close(r->search->index);
    db_close(r->search->db);
    pthread_mutex_destroy(&r->search->lock);
    free(r->search);
    r->search = NULL;
}

int64_t search_mark(ramet *r)
{
    return engine_of(r)->mark(r);
}

int64_t search_bytes(ramet *r)
{
    return engine_of(r)->bytes(r);
}

void search_release(ramet *r)
{
    if (engine_of(r)->release)
        engine_of(r)->release(r);
}

int64_t search_needs(ramet *r)
{
    return engine_of(r)->needs(r);
}

void search_forget(ramet *r, int64_t tree, const int64_t *keys, const char *const *texts, size_t n)
{
    engine_of(r)->forget(r, tree, keys, texts, n);
}

ramet_status search_scrub(ramet_call *c, bool whole)
{
    return engine_of(c->ramet)->scrub(c, whole);
}

ramet_status ramet_search(ramet_call *c, const ramet_search_in *in, ramet_hits *out)
{
    query q;
    int limit;
    *out = (ramet_hits){0};
    TRY(query_parse(c, in->query, &q));
    TRY(check_limit(c, in->limit, 200, 20, &limit));
    if ((unsigned)in->role > RAMET_SYSTEM)
        return call_fail(c, RAMET_INVALID, "role", "there is no role %d", (int)in->role);
    if (in->agent)
        TRY(check_id(c, "agent", in->agent));
    if (in->tree)
        TRY(check_id(c, "tree", in->tree));
    ramet_status st = engine_of(c->ramet)->find(c, in, limit, &q, out);
    if (st != RAMET_OK)
        *out = (ramet_hits){0};
    return st;
}

void ramet_search_stop(ramet *r)
{
    r->search_stopped = true;
}

ramet_status ramet_search_update(ramet_call *c, bool rebuild, int64_t *indexed)
{
    int64_t n = 0;
    if (indexed)
        *indexed = 0;
    if (rebuild && c->user)
        return call_fail(c, RAMET_FORBIDDEN, NULL,
                         "only the program that opened the store may make the index anew, not %s",
                         c->user);
    ramet_status st = engine_of(c->ramet)->update(c, rebuild, &n);
    if (indexed)
        *indexed = n;
    return st;
}
