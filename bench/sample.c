/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples of times and their percentiles, and random text to fill entries with.
 */
#include "bench/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double now_us(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

void sample_add(sample *s, double v)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 256;
        s->items = xrealloc(s->items, s->cap * sizeof *s->items);
    }
    s->items[s->n++] = v;
}

void sample_free(sample *s)
{
    free(s->items);
    *s = (sample){0};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double sample_at(sample *s, double q)
{
    if (!s->n)
        return 0;
    qsort(s->items, s->n, sizeof *s->items, by_size);
    size_t i = (size_t)(q * (double)s->n);
    return s->items[i < s->n ? i : s->n - 1];
}

double sample_mean(const sample *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->n; i++)
        sum += s->items[i];
    return s->n ? sum / (double)s->n : 0;
}

/* -------------------------------------------------------------------- words */

const char *word_at(unsigned rank, char out[WORD_BYTES])
{
    static const char consonants[] = "tnsrhldcmfpgwybvkjxz", vowels[] = "eaoiu";
    size_t n = 0;
    unsigned v = rank - 1;
    out[n++] = consonants[rank % 20];
    do {
        out[n++] = vowels[v / 20 % 5];
        out[n++] = consonants[v % 20];
        v /= 100;
    } while (v && n + 2 < WORD_BYTES);
    out[n] = 0;
    return out;
}

uint64_t words_number(words *w)
{
    /* splitmix64 */
    uint64_t z = w->seed += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Spread evenly in the logarithm of the rank: the frequency of a word is as 1 / rank. */
static unsigned zipf(words *w)
{
    double u = (double)(words_number(w) >> 11) / 9007199254740992.0;
    unsigned rank = (unsigned)exp(u * log(WORD_RANKS + 1.0));
    return rank < 1 ? 1 : rank > WORD_RANKS ? WORD_RANKS : rank;
}

void words_fill(words *w, char *out, size_t n)
{
    size_t at = 0;
    char word[WORD_BYTES];
    while (at < n) {
        size_t len = strlen(word_at(zipf(w), word));
        if (len > n - at)
            len = n - at;
        memcpy(out + at, word, len);
        at += len;
        if (at < n)
            out[at++] = words_number(w) % 12 ? ' ' : '\n';
    }
    out[n] = 0;
}
