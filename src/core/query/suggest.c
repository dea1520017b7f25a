/* SPDX-License-Identifier: Apache-2.0
 *
 * Suggestions: places in a conversation that are worth forking, and tags for it, without a model.
 *
 * One pass over the last entries of a path. docs/suggestions.md describes the rules;
 * suggest_words.h has the phrases and words that they use.
 *
 *   U1  The result is a function of the entries read, and of the tags that the session has.
 *   U2  Memory is bounded: WINDOW entries are read, in pages. A set of hashed words is kept of the
 *       last few messages, and at most MAX_TERMS words of all of them.
 *   U3  An entry has at most one suggestion: for a message of the user the first of correction,
 *       retry and topic; for others the first of failed tool and retry.
 */
#include "ramet/suggest.h"

#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/path.h"
#include "core/query/suggest_words.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

#include <stdlib.h>

#define WINDOW 1000   /* entries read */
#define MAX_ITEMS 100 /* suggestions */
#define MAX_TAGS 5
#define MAX_TERMS 4096    /* distinct words counted */
#define MAX_TEXT 8192     /* bytes read of a text */
#define MAX_WORDS 256     /* words read of a text */
#define RECENT 12         /* messages to compare a topic with */
#define START_WORDS 12    /* where a phrase of topics or retries must begin */
#define MIN_TOPIC_WORDS 5 /* words with meaning that a new topic needs */
#define MIN_TAG_CHARS 4
#define FAILED_CALLS 8 /* remembered, to recognise a repetition */
#define CHUNK 200

#define N(list) (sizeof(list) / sizeof *(list))

/* ---------------------------------------------------------------------- words */

/* The words of a text in lower case, with one space before, between and after them. */
typedef struct words {
    char *text;
    const char *at[MAX_WORDS]; /* the first MAX_WORDS */
    size_t n;
} words;

static bool is_word(uint32_t cp)
{
    if (cp < 0x80)
        return (cp >= 'a' && cp <= 'z') || (cp >= '0' && cp <= '9') || cp == '_';
    /* Punctuation and spaces beyond ASCII, and what is written without spaces. */
    return !(cp >= 0x80 && cp <= 0xBF) && cp != 0xD7 && cp != 0xF7 &&
           !(cp >= 0x2000 && cp <= 0x2BFF) && !(cp >= 0x3000 && cp <= 0x30FF) &&
           !(cp >= 0x4E00 && cp <= 0x9FFF) && !(cp >= 0xFF00 && cp <= 0xFFEF);
}

static void words_of(arena *a, const char *text, words *out)
{
    size_t n = strlen(text);
    if (n > MAX_TEXT) {
        n = MAX_TEXT;
        while (n && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    }
    char *low = utf8_lower(a, text, n);
    size_t len = strlen(low), to = 0;
    out->text = arena_alloc(a, len + 3);
    out->n = 0;
    out->text[to++] = ' ';
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        size_t step = utf8_next(low + i, len - i, &cp);
        if (!step)
            break;
        if (is_word(cp)) {
            if (out->text[to - 1] == ' ' && out->n < MAX_WORDS)
                out->at[out->n++] = out->text + to;
            memcpy(out->text + to, low + i, step);
            to += step;
        } else if (out->text[to - 1] != ' ') {
            out->text[to++] = ' ';
        }
        i += step;
    }
    if (out->text[to - 1] != ' ')
        out->text[to++] = ' ';
    out->text[to] = 0;
}

static size_t word_len(const char *word)
{
    return strcspn(word, " ");
}

/* Whether whole words of a phrase begin at `at`. */
static bool begins(const char *at, const char *phrase)
{
    size_t n = strlen(phrase);
    return strncmp(at, phrase, n) == 0 && at[n] == ' ';
}

static const char *starts_with(const words *w, const char *const *list, size_t n)
{
    for (size_t i = 0; w->n && i < n; i++)
        if (begins(w->at[0], list[i]))
            return list[i];
    return NULL;
}

/* A phrase that begins within the first `within` words. */
static const char *holds(const words *w, size_t within, const char *const *list, size_t n)
{
    for (size_t k = 0; k < w->n && k < within; k++)
        for (size_t i = 0; i < n; i++)
            if (begins(w->at[k], list[i]))
                return list[i];
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

#define STOP_SLOTS 2048

/* The stop words, by hash. */
typedef struct stop_set {
    const char *slot[STOP_SLOTS];
} stop_set;

static uint32_t word_hash(const char *word, size_t len)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)word[i]) * 16777619u;
    return h;
}

/* The slot of a word, or the free one where it would be. */
static const char **stop_slot(stop_set *v, const char *word, size_t len)
{
    size_t at = word_hash(word, len) % STOP_SLOTS;
    while (v->slot[at] && (strncmp(v->slot[at], word, len) != 0 || v->slot[at][len]))
        at = (at + 1) % STOP_SLOTS;
    return &v->slot[at];
}

static void stops_fill(stop_set *v)
{
    *v = (stop_set){0};
    for (size_t i = 0; i < N(stop_words); i++)
        *stop_slot(v, stop_words[i], strlen(stop_words[i])) = stop_words[i];
}

/* Stop words, numbers and very short words say nothing about a topic. */
static bool has_meaning(stop_set *stops, const char *word, size_t len)
{
    bool letter = false;
    if (len < 3 || len > 63)
        return false;
    for (size_t i = 0; i < len; i++)
        letter |= (unsigned char)word[i] >= 0x80 || (word[i] >= 'a' && word[i] <= 'z');
    return letter && !*stop_slot(stops, word, len);
}

/* Removes the ending of a plural or a past tense, so that forms of one word are equal. */
static size_t stem_len(const char *word, size_t len)
{
    if (len > 5 && memcmp(word + len - 3, "ing", 3) == 0)
        return len - 3;
    if (len > 4 && memcmp(word + len - 2, "ed", 2) == 0)
        return len - 2;
    if (len > 4 && memcmp(word + len - 2, "es", 2) == 0)
        return len - 2;
    return len > 3 && (word[len - 1] == 's' || word[len - 1] == 'e') ? len - 1 : len;
}

/* The distinct stems of meaningful words of a text, as hashes. */
typedef struct meaning {
    uint32_t hash[MAX_WORDS];
    size_t n;
} meaning;

static bool meaning_has(const meaning *m, uint32_t h)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->hash[i] == h)
            return true;
    return false;
}

static void meaning_of(stop_set *stops, const words *w, meaning *out)
{
    out->n = 0;
    for (size_t i = 0; i < w->n; i++) {
        size_t len = word_len(w->at[i]);
        uint32_t h = word_hash(w->at[i], stem_len(w->at[i], len));
        if (has_meaning(stops, w->at[i], len) && !meaning_has(out, h))
            out->hash[out->n++] = h;
    }
}

static size_t meaning_shared(const meaning *a, const meaning *b)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        n += meaning_has(b, a->hash[i]);
    return n;
}

/* ---------------------------------------------------------------------- terms */

typedef struct term {
    const char *word;
    uint32_t hash; /* of its stem */
    int64_t score, entries, last;
} term;

typedef struct suggester {
    stop_set stops;
    arena *keep; /* of the answer, and of what is carried from entry to entry */
    VEC(ramet_suggestion) items;
    term *terms; /* open addressing by hash */
    size_t n_terms;
    meaning recent[RECENT]; /* of the last messages, a ring */
    meaning asked[RECENT];  /* of the last ones of the user */
    uint32_t asked_text[RECENT];
    size_t n_recent, n_asked;
    uint32_t call;                 /* the last tool call: its name and input */
    uint32_t failed[FAILED_CALLS]; /* the last ones that failed, a ring */
    size_t n_failed;
    bool answered; /* something was answered since the user's last message */
    int64_t seen;  /* entries */
} suggester;

static void term_count(suggester *s, const char *word, int64_t weight)
{
    size_t len = word_len(word);
    if (len < MIN_TAG_CHARS || !has_meaning(&s->stops, word, len))
        return;
    uint32_t h = word_hash(word, stem_len(word, len));
    size_t at = h % (2 * MAX_TERMS);
    while (s->terms[at].word && s->terms[at].hash != h)
        at = (at + 1) % (2 * MAX_TERMS);
    term *t = &s->terms[at];
    if (!t->word) {
        if (s->n_terms == MAX_TERMS)
            return;
        s->n_terms++;
        t->word = arena_memdup(s->keep, word, len);
        t->hash = h;
        t->last = -1;
    }
    t->score += weight;
    t->entries += t->last != s->seen;
    t->last = s->seen;
}

static int by_score(const void *a, const void *b)
{
    const term *x = a, *y = b;
    int64_t p = x->score * x->entries, q = y->score * y->entries;
    if (p != q)
        return p > q ? -1 : 1;
    return strcmp(x->word, y->word);
}

static void tags_find(suggester *s, const char *const *have, size_t n_have, ramet_suggestions *out)
{
    const char **tags = arena_array(s->keep, MAX_TAGS, sizeof *tags);
    term *list = arena_array(s->keep, s->n_terms + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < 2 * MAX_TERMS; i++)
        if (s->terms[i].word && s->terms[i].entries > 1 && s->terms[i].score > 2)
            list[n++] = s->terms[i];
    if (n)
        qsort(list, n, sizeof *list, by_score);
    for (size_t i = 0; i < n && out->n_tags < MAX_TAGS; i++) {
        const char *word = list[i].word;
        if (list[i].score * list[i].entries * 3 < list[0].score * list[0].entries)
            break;
        if (!n_have || !bsearch(&word, have, n_have, sizeof *have, by_text))
            tags[out->n_tags++] = word;
    }
    out->tags = tags;
}

/* ------------------------------------------------------------------- the rules */

static void suggest(suggester *s, const ramet_entry *e, ramet_suggestion_kind kind, const char *why)
{
    ramet_suggestion one = {arena_strdup(s->keep, e->id), kind, why};
    VEC_PUSH(s->keep, &s->items, one);
}

static const char *correction_of(const suggester *s, const words *w)
{
    if (!s->answered || starts_with(w, not_corrections, N(not_corrections)))
        return NULL;
    const char *found = starts_with(w, correction_starts, N(correction_starts));
    return found ? found : holds(w, 40, correction_phrases, N(correction_phrases));
}

/* "Again", but not in a question that asks for a reminder. */
static const char *again_in(const words *w)
{
    static const char *const again[] = {"again"};
    if (starts_with(w, question_words, N(question_words)))
        return NULL;
    const char *found = holds(w, START_WORDS, retry_phrases, N(retry_phrases));
    return found ? found : holds(w, START_WORDS, again, 1);
}

/* The same question as one of the last ones: equal, four of five words with a meaning in common, or
 * nearly all words of the old one in the new one. */
static bool was_asked(const suggester *s, const words *w, const meaning *m)
{
    uint32_t text = word_hash(w->text, strlen(w->text));
    for (size_t i = 0; i < s->n_asked && i < RECENT; i++) {
        const meaning *old = &s->asked[i];
        size_t shared = meaning_shared(m, old), all = m->n + old->n - shared;
        if ((w->n > 1 && s->asked_text[i] == text) || (m->n > 2 && shared * 5 >= all * 4) ||
            (old->n > 2 && shared * 20 >= old->n * 17))
            return true;
    }
    return false;
}

/* No word with a meaning was in the last messages. */
static bool is_new_topic(const suggester *s, const words *w, const meaning *m)
{
    if (s->n_recent < 4 || m->n < MIN_TOPIC_WORDS || starts_with(w, goes_on, N(goes_on)))
        return false;
    size_t shared = 0;
    for (size_t i = 0; i < m->n; i++) {
        bool met = false;
        for (size_t k = 0; k < s->n_recent && k < RECENT; k++)
            met |= meaning_has(&s->recent[k], m->hash[i]);
        shared += met;
    }
    return shared * 10 < m->n;
}

static void user_take(suggester *s, const ramet_entry *e, const words *w, const meaning *m)
{
    const char *found = correction_of(s, w);
    if (found)
        suggest(s, e, RAMET_SUGGEST_CORRECTION,
                arena_printf(s->keep, "it corrects the answer before it (\"%s\")", found));
    else if (s->answered && (found = again_in(w)))
        suggest(s, e, RAMET_SUGGEST_RETRY, arena_printf(s->keep, "it asks again (\"%s\")", found));
    else if (s->answered && was_asked(s, w, m))
        suggest(s, e, RAMET_SUGGEST_RETRY, "the same was asked before");
    else if (s->answered && (found = holds(w, START_WORDS, topic_phrases, N(topic_phrases))))
        suggest(s, e, RAMET_SUGGEST_TOPIC,
                arena_printf(s->keep, "it begins another topic (\"%s\")", found));
    else if (s->answered && is_new_topic(s, w, m))
        suggest(s, e, RAMET_SUGGEST_TOPIC, "it shares no word with the messages before it");
    size_t at = s->n_asked++ % RECENT;
    s->asked[at] = *m;
    s->asked_text[at] = word_hash(w->text, strlen(w->text));
    s->answered = false;
}

/* The words with which the output of a tool reports a failure; NULL: none. */
static const char *failure_in(arena *a, const char *output)
{
    char *low = utf8_lower(a, output, strnlen(output, 2000));
    size_t skip = strspn(low, " \t\r\n\"{[");
    for (size_t i = 0; i < N(no_failures); i++)
        if (strstr(low, no_failures[i]))
            return NULL;
    for (size_t i = 0; i < N(failure_starts); i++)
        if (strncmp(low + skip, failure_starts[i], strlen(failure_starts[i])) == 0)
            return failure_starts[i];
    for (size_t i = 0; i < N(failure_phrases); i++)
        if (strstr(low, failure_phrases[i]))
            return failure_phrases[i];
    return NULL;
}

/* Looks at the tool calls and results of an entry. */
static void tools_take(suggester *s, arena *a, const ramet_entry *e)
{
    json_doc d;
    const char *failed = NULL;
    bool repeated = false;
    if (!e->parts || !strstr(e->parts, "\"tool_") ||
        !json_parse(a, e->parts, strlen(e->parts), STORED_DEPTH, &d, NULL))
        return;
    for (const json_node *p = json_first(&d, d.nodes); p; p = json_next(&d, d.nodes, p)) {
        const char *type = json_text(a, &d, json_get(&d, p, "type"));
        const json_node *v = NULL;
        bool error = false;
        if (type && strcmp(type, "tool_call") == 0 && (v = json_get(&d, p, "input"))) {
            const char *name = json_text(a, &d, json_get(&d, p, "name"));
            const char *call = arena_printf(a, "%s %s", name ? name : "", json_raw(a, &d, v));
            uint32_t h = word_hash(call, strlen(call));
            for (size_t i = 0; i < s->n_failed && i < FAILED_CALLS; i++)
                repeated |= h == s->failed[i];
            s->call = h;
        } else if (type && strcmp(type, "tool_result") == 0) {
            v = json_get(&d, p, "output");
            const json_node *flag = json_get(&d, p, "is_error");
            error = flag && json_is(flag, JSON_TRUE);
            const char *text = v ? json_text(a, &d, v) : NULL;
            const char *found = error ? "is_error"
                                : v   ? failure_in(a, text ? text : json_raw(a, &d, v))
                                      : NULL;
            failed = failed ? failed : found;
        }
    }
    if (failed) {
        s->failed[s->n_failed++ % FAILED_CALLS] = s->call;
        suggest(s, e, RAMET_SUGGEST_FAILED_TOOL,
                arena_printf(s->keep, "a tool failed (\"%s\")", failed));
    } else if (repeated)
        suggest(s, e, RAMET_SUGGEST_RETRY, "the same tool call was made again after a failure");
}

static void entry_take(suggester *s, arena *a, const ramet_entry *e)
{
    words w;
    meaning m;
    if (e->erased) { /* its text is a placeholder, which nobody wrote */
        s->answered = e->role != RAMET_USER && (s->answered || e->role == RAMET_ASSISTANT);
        return;
    }
    words_of(a, e->text ? e->text : "", &w);
    meaning_of(&s->stops, &w, &m);
    if (e->role == RAMET_USER)
        user_take(s, e, &w, &m);
    else
        tools_take(s, a, e);
    s->answered |= e->role == RAMET_ASSISTANT;
    for (size_t i = 0; i < w.n && e->role <= RAMET_ASSISTANT; i++)
        term_count(s, w.at[i], e->role == RAMET_USER ? 2 : 1);
    if (m.n && e->role <= RAMET_ASSISTANT)
        s->recent[s->n_recent++ % RECENT] = m;
    s->seen++;
}

/* ------------------------------------------------------------------- the call */

typedef struct scan {
    suggester *s;
    arena *page;
    int64_t next;
} scan;

static bool scan_take(void *arg, ramet_entry *e)
{
    scan *k = arg;
    k->next = e->position + 1;
    if (strcmp(e->channel, "history") == 0)
        entry_take(k->s, k->page, e);
    return arena_used(k->page) < PAGE_BYTES;
}

static ramet_status suggest_run(txn *tx, const char *session, int64_t branch,
                                ramet_suggestions *out)
{
    session_full s;
    branch_row b;
    TRY(session_open(tx, session, NEED_READ, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, branch, &b));
    suggester *g = arena_alloc(tx->arena, sizeof *g);
    *g = (suggester){.keep = tx->arena};
    stops_fill(&g->stops);
    g->terms = arena_array(tx->arena, 2 * MAX_TERMS, sizeof *g->terms);
    memset(g->terms, 0, 2 * MAX_TERMS * sizeof *g->terms);
    scan k = {.s = g, .page = arena_new(), .next = b.len > WINDOW ? b.len - WINDOW : 0};
    while (k.next < b.len && db_status(tx->db) == RAMET_OK) {
        path_read(tx, &b, k.next, k.next + CHUNK < b.len ? k.next + CHUNK : b.len, k.page,
                  scan_take, &k);
        arena_reset(k.page);
    }
    arena_free(k.page);
    const char *const *have;
    size_t n_have;
    tags_of(tx, &s.access, &have, &n_have);
    size_t skip = g->items.n > MAX_ITEMS ? g->items.n - MAX_ITEMS : 0;
    *out = (ramet_suggestions){.items = g->items.items + skip, .n = g->items.n - skip};
    tags_find(g, have, n_have, out);
    return txn_status(tx);
}

ramet_status ramet_suggest(ramet_call *c, const char *session, int64_t branch,
                           ramet_suggestions *out)
{
    txn tx;
    *out = (ramet_suggestions){0};
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_status st = txn_done(&tx, suggest_run(&tx, session, branch, out));
    if (st != RAMET_OK)
        *out = (ramet_suggestions){0};
    return st;
}

static const char *const kinds[] = {NULL, "correction", "failed_tool", "retry", "topic"};

const char *ramet_suggestion_name(ramet_suggestion_kind k)
{
    return (size_t)k < N(kinds) ? kinds[k] : NULL;
}

int ramet_suggestion_parse(const char *name)
{
    for (size_t i = 1; i < N(kinds); i++)
        if (name && strcmp(name, kinds[i]) == 0)
            return (int)i;
    return 0;
}
