/* SPDX-License-Identifier: Apache-2.0
 *
 * call.h: one call of the library: its user, the memory of its answers, its error.
 *
 * A function that fails reports the failure once, with call_fail(), and returns the status. Its
 * caller passes the status on, mostly with TRY().
 */
#ifndef CORE_CALL_H
#define CORE_CALL_H

#include "base/arena.h"
#include "base/json.h"
#include "base/util.h"
#include "core/handle.h"

#include <string.h>

#ifdef NDEBUG
#error "core relies on its asserts: they are part of every build"
#endif

/* The depth of a JSON document was checked when it arrived. A stored document is read whatever the
 * limit is now. */
#define STORED_DEPTH SIZE_MAX

#define PAGE_BYTES                                                                                 \
    ((size_t)32 << 20) /* a page ends early past this size; more_before/after say so */

struct ramet_call {
    ramet *ramet;
    char *user;   /* NULL: the embedding program */
    char *client; /* may be NULL */
    arena *arena; /* holds its answers */
    sha *hasher;
    struct {
        bool may;      /* reads may come from a replica */
        bool used;     /* at least one did */
        int64_t since; /* the replica must have replayed up to this position */
        int64_t wrote; /* a position at or after the call's last write */
    } replica;
    ramet_once *idempotency;      /* for the next write; owned by the caller */
    ramet_once *idempotency_held; /* looked up by ramet_once_look(), until ramet_once_keep() */
    struct {
        const char *session, *head; /* for the next write; head NULL: nothing is expected */
    } expect;
    const ramet_prompt_in *prompt; /* for the next write of a turn; owned by the caller */
    ramet_error err;
    struct {
        bool (*when)(void *arg); /* NULL: never */
        void *arg;
    } stop;            /* ends reads early */
    size_t page_bytes; /* a page ends past this size; 0: PAGE_BYTES */
    struct {
        bool on; /* the call holds a link to this session; share_gives() looks up what it allows */
        int64_t tree, session;
        uint8_t secret[HASH_LEN];
    } share;
};

/* Sets the error of a call and returns the status. `field` may be NULL. */
ramet_status call_fail(ramet_call *c, ramet_status st, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* RAMET_FORBIDDEN unless the caller is the embedding program (core/upkeep/upkeep.c). */
ramet_status program_only(ramet_call *c);

/* Returns from the calling function with the status of `expr`, unless that is RAMET_OK. The error
 * of the call was set where the status comes from. Only for functions that own nothing which they
 * would have to release. */
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        ramet_status try_ = (expr);                                                                \
        if (try_ != RAMET_OK)                                                                      \
            return try_;                                                                           \
    } while (0)

#endif
