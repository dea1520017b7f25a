/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a text shares a word with what is erased. A title or a reason that does may have been
 * made from it, so it goes: leaving one too many is worse than taking one too many.
 *
 * A word is a run of letters and digits of at least MIN_WORD bytes, in lower case. Scripts that are
 * written without spaces have no such runs; there each pair of characters is a word.
 */
#include "core/erase/erase.h"

#include "base/util.h"

#define MIN_WORD 4

typedef bool (*word_take)(void *arg, uint64_t hash);

static bool is_letter(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
}

static uint64_t word_hash(const unsigned char *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (p[i] >= 'A' && p[i] <= 'Z' ? p[i] | 0x20u : p[i])) * 0x100000001b3u;
    return h ? h : 1;
}

/* The bytes of a character of a script without spaces; 0: it is none. They begin at U+3000. */
static size_t wide_length(const unsigned char *p)
{
    size_t n = *p >= 0xf0 ? 4 : *p >= 0xe3 ? 3 : 0;
    for (size_t i = 1; i < n; i++)
        if (p[i] < 0x80)
            return 0;
    return n;
}

static bool wide_each(const unsigned char **at, word_take take, void *arg)
{
    const unsigned char *p = *at;
    size_t one = wide_length(p), two = wide_length(p + one);
    *at = p + one;
    return !two || take(arg, word_hash(p, one + two));
}

/* False when `take` has returned false. */
static bool words_each(const char *text, word_take take, void *arg)
{
    const unsigned char *p = (const unsigned char *)text;
    while (*p) {
        const unsigned char *from = p;
        if (wide_length(p)) {
            if (!wide_each(&p, take, arg))
                return false;
            continue;
        }
        while (is_letter(*p) && !wide_length(p))
            p++;
        if (p - from >= MIN_WORD && !take(arg, word_hash(from, (size_t)(p - from))))
            return false;
        p += p == from;
    }
    return true;
}

static bool slot_take(void *arg, uint64_t hash)
{
    erase_words *w = arg;
    size_t i = hash & (w->n_slots - 1);
    while (w->slots[i] && w->slots[i] != hash)
        i = (i + 1) & (w->n_slots - 1);
    w->n += !w->slots[i];
    w->slots[i] = hash;
    return true;
}

static bool word_add(void *arg, uint64_t hash)
{
    erase_words *w = arg;
    if (2 * (w->n + 1) > w->n_slots) {
        uint64_t *old = w->slots;
        size_t n = w->n_slots;
        w->n_slots = n ? 2 * n : 256;
        w->slots = arena_array(w->arena, w->n_slots, sizeof *w->slots);
        w->n = 0;
        for (size_t i = 0; i < n; i++)
            if (old[i])
                slot_take(w, old[i]);
    }
    return slot_take(w, hash);
}

void words_add(erase_words *w, const char *text)
{
    if (text)
        words_each(text, word_add, w);
}

static bool word_unknown(void *arg, uint64_t hash)
{
    const erase_words *w = arg;
    size_t i = hash & (w->n_slots - 1);
    while (w->slots[i] && w->slots[i] != hash)
        i = (i + 1) & (w->n_slots - 1);
    return !w->slots[i];
}

bool words_share(const erase_words *w, const char *text)
{
    return text && w->n && !words_each(text, word_unknown, (void *)(uintptr_t)w);
}
