/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses what the caller typed into search terms, and encodes cursors.
 */
#include "core/call.h"
#include "core/check.h"
#include "core/search/search.h"
#include "core/txn.h"

#define QUERY_CHARS 1000

/* ------------------------------------------------------------------ parsing */

static size_t space_at(const char *s)
{
    uint32_t cp = 0;
    size_t n = *s ? utf8_next(s, strlen(s), &cp) : 0;
    return n && utf8_is_space(cp) ? n : 0;
}

/* "-word" excludes a word, but "--flag" searches for it, and a lone "-" is ignored. */
static bool is_without(const char *s)
{
    return s[0] == '-' && s[1] && s[1] != '-' && !space_at(s + 1);
}

static const char *term_read(arena *a, const char *s, fts_term *t)
{
    *t = (fts_term){.without = is_without(s)};
    if (t->without)
        s++;
    const char *from = s;
    size_t n;
    if (*s == '"') {
        from = ++s;
        s += strcspn(s, "\"");
        n = (size_t)(s - from);
        if (*s)
            s++;
        t->prefix = *s == '*';
        s += strspn(s, "*");
    } else {
        while (*s && *s != '"' && !space_at(s))
            s++;
        n = (size_t)(s - from);
        t->prefix = n > 0 && s[-1] == '*';
    }
    t->text = arena_memdup(a, from, n);
    return s;
}

ramet_status query_parse(ramet_call *c, const char *text, query *q)
{
    *q = (query){0};
    if (!text)
        return call_fail(c, RAMET_INVALID, "query", "a search needs a query");
    TRY(check_chars(c, "query", text, QUERY_CHARS, RAMET_TOO_LARGE));
    VEC(fts_term) v = {0};
    for (;;) {
        size_t skip;
        while ((skip = space_at(text)) > 0)
            text += skip;
        if (!*text)
            break;
        fts_term t;
        text = term_read(c->arena, text, &t);
        VEC_PUSH(c->arena, &v, t);
    }
    q->terms = v.items;
    q->n = v.n;
    return v.n ? RAMET_OK : call_fail(c, RAMET_INVALID, "query", "the query is empty");
}

ramet_status query_cut(ramet_call *c, fts *f, query *q)
{
    fts_term *find = arena_array(c->arena, q->n + 1, sizeof *find);
    fts_term *without = arena_array(c->arena, q->n + 1, sizeof *without);
    size_t n_find = 0, n_without = 0;
    for (size_t i = 0; i < q->n; i++) {
        fts_term *t = &q->terms[i];
        fts_term_cut(f, c->arena, t);
        if (!t->n)
            continue;
        if (t->without)
            without[n_without++] = *t;
        else
            find[n_find++] = *t;
    }
    if (!n_find)
        return call_fail(c, RAMET_INVALID, "query",
                         n_without
                             ? "the query only says what must not occur; add a word to look for"
                             : "the query has no letters or digits to look for");
    q->terms = find;
    q->n_find = n_find;
    memcpy(find + n_find, without, n_without * sizeof *find);
    q->n = n_find + n_without;
    return RAMET_OK;
}

/* ------------------------------------------------------------------ cursors */

#define CHECK_LEN 8

/* Ties a cursor to its user, query and filters. */
static void search_cursor_check(ramet_call *c, const ramet_search_in *in, const search_cursor *p,
                                uint8_t out[CHECK_LEN])
{
    const char *texts[] = {c->user, in->query, in->session, in->tree,
                           in->tag, in->agent, in->owner,   in->unarchived ? "unarchived" : NULL};
    int64_t numbers[] = {in->role, in->since, in->until};
    uint8_t hash[HASH_LEN];
    sha_begin(c->hasher);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sha_add(c->hasher, texts[i] ? "+" : "-", 1);
        if (texts[i])
            sha_add(c->hasher, texts[i], strlen(texts[i]) + 1);
    }
    sha_add(c->hasher, numbers, sizeof numbers);
    sha_add(c->hasher, p, sizeof *p);
    sha_end(c->hasher, hash);
    memcpy(out, hash, CHECK_LEN);
}

const char *search_cursor_text(ramet_call *c, const ramet_search_in *in, const search_cursor *p)
{
    uint8_t bytes[sizeof *p + CHECK_LEN];
    memcpy(bytes, p, sizeof *p);
    search_cursor_check(c, in, p, bytes + sizeof *p);
    char *out = arena_alloc(c->arena, 2 * sizeof bytes + 1);
    hex_encode(bytes, sizeof bytes, out);
    return out;
}

ramet_status search_cursor_parse(ramet_call *c, const ramet_search_in *in, search_cursor *p)
{
    uint8_t bytes[sizeof *p + CHECK_LEN], check[CHECK_LEN];
    bool good = hex_decode(in->cursor, bytes, sizeof bytes);
    if (good) {
        memcpy(p, bytes, sizeof *p);
        search_cursor_check(c, in, p, check);
        good = memcmp(check, bytes + sizeof *p, CHECK_LEN) == 0;
    }
    return good
               ? RAMET_OK
               : call_fail(c, RAMET_BAD_CURSOR, "cursor", "the cursor was not made by this search");
}
