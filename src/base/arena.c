/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas as lists of blocks (arena.h).
 */
#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8192u
#define ALIGN 16u

typedef struct block {
    struct block *next;
    size_t size, used; /* of the bytes after the header */
} block;

struct arena {
    block *blocks; /* the block being filled is first */
    size_t total;
};

#define HEADER ((sizeof(block) + ALIGN - 1) / ALIGN * ALIGN)

static void *oom(size_t n)
{
    fprintf(stderr, "ramet: out of memory (%zu bytes wanted)\n", n);
    abort();
}

void *xmalloc(size_t n)
{
    void *p = malloc(n ? n : 1);
    return p ? p : oom(n);
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);
    return p ? p : oom(count * size);
}

void *xrealloc(void *p, size_t n)
{
    void *q = realloc(p, n ? n : 1);
    return q ? q : oom(n);
}

char *xstrdup(const char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s) + 1;
    return memcpy(xmalloc(n), s, n);
}

arena *arena_new(void)
{
    return xcalloc(1, sizeof(arena));
}

static void free_from(block *b)
{
    while (b) {
        block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_free(arena *a)
{
    if (!a)
        return;
    free_from(a->blocks);
    free(a);
}

void arena_reset(arena *a)
{
    /* Keep the oldest block, which is the small first one, so that one large answer does not stay
     * allocated for the life of a connection. */
    block *b = a->blocks;
    while (b && b->next) {
        block *next = b->next;
        free(b);
        b = next;
    }
    if (b && b->size > 16 * BLOCK) {
        free(b);
        b = NULL;
    }
    if (b)
        b->used = 0;
    a->blocks = b;
    a->total = 0;
}

static void *take(arena *a, size_t n)
{
    if (n > SIZE_MAX / 2)
        return oom(n);
    size_t need = (n + ALIGN - 1) / ALIGN * ALIGN;
    block *b = a->blocks;
    if (!b || b->size - b->used < need) {
        size_t size =
            need > BLOCK ? need : (b ? (b->size < 64 * BLOCK ? b->size * 2 : b->size) : BLOCK);
        if (size < need)
            size = need;
        block *fresh = xmalloc(HEADER + size);
        fresh->size = size;
        fresh->used = 0;
        /* Put a huge single allocation behind the block that still has room. */
        if (b && need > BLOCK && b->size - b->used > BLOCK / 2) {
            fresh->next = b->next;
            b->next = fresh;
        } else {
            fresh->next = b;
            a->blocks = fresh;
        }
        b = fresh;
    }
    void *p = (char *)b + HEADER + b->used;
    b->used += need;
    a->total += need;
    return p;
}

void *arena_alloc(arena *a, size_t n)
{
    return memset(take(a, n), 0, n);
}

void *arena_array(arena *a, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 2 / size)
        return oom(count);
    return arena_alloc(a, count * size);
}

char *arena_memdup(arena *a, const void *p, size_t n)
{
    char *out = take(a, n + 1);
    if (n)
        memcpy(out, p, n);
    out[n] = 0;
    return out;
}

char *arena_strdup(arena *a, const char *s)
{
    return s ? arena_memdup(a, s, strlen(s)) : NULL;
}

char *arena_printf(arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *out = arena_alloc(a, (size_t)(n < 0 ? 0 : n) + 1);
    if (n > 0)
        vsnprintf(out, (size_t)n + 1, fmt, again);
    va_end(again);
    return out;
}

size_t arena_used(const arena *a)
{
    return a->total;
}

void *vec_grow(arena *a, void *items, size_t n, size_t *cap, size_t size)
{
    size_t want = *cap ? *cap * 2 : 8;
    void *fresh = arena_array(a, want, size);
    if (n)
        memcpy(fresh, items, n * size);
    *cap = want;
    return fresh;
}
