/* SPDX-License-Identifier: Apache-2.0
 *
 * arena.h: memory that is freed all at once.
 *
 * There is one arena per request. Allocation never returns NULL: a process that cannot get a few
 * kilobytes cannot do anything sensible, so it reports that and aborts. The caller checks sizes
 * that come from outside before it allocates.
 *
 * An arena belongs to one thread at a time.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct arena arena;

arena *arena_new(void);
void arena_free(arena *a);
/* Frees everything except one block, which the next request reuses. */
void arena_reset(arena *a);
/* Zeroed, aligned for any type. */
void *arena_alloc(arena *a, size_t n);
/* Zeroed array; aborts when the product overflows. */
void *arena_array(arena *a, size_t count, size_t size);
char *arena_strdup(arena *a, const char *s);           /* NULL gives NULL */
char *arena_memdup(arena *a, const void *p, size_t n); /* a NUL is added */
char *arena_printf(arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
size_t arena_used(const arena *a);

/* malloc and friends that abort instead of returning NULL. */
void *xmalloc(size_t n);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s); /* NULL gives NULL */

/* A growing array of T in an arena: VEC(T) v = {0}; VEC_PUSH(a, &v, item). The old
 * storage stays in the arena, so growth at most doubles what is used. */
#define VEC(T)                                                                                     \
    struct {                                                                                       \
        T *items;                                                                                  \
        size_t n, cap;                                                                             \
    }
void *vec_grow(arena *a, void *items, size_t n, size_t *cap, size_t size);
#define VEC_PUSH(a, v, item)                                                                       \
    do {                                                                                           \
        if ((v)->n == (v)->cap)                                                                    \
            (v)->items = vec_grow((a), (v)->items, (v)->n, &(v)->cap, sizeof *(v)->items);         \
        (v)->items[(v)->n++] = (item);                                                             \
    } while (0)

#endif
