/* SPDX-License-Identifier: Apache-2.0
 *
 * handle.h: `struct ramet`, an open store, behind every public `ramet *`.
 */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include "ramet.h"
#include "store/store.h"

#define MAX_APPEND_EXTENSIONS 4

struct ramet {
    store *store;
    struct search *search; /* opened on first use (core/search/search.c) */
    _Atomic bool search_stopped;
    _Atomic int64_t past; /* the newest db_past() seen so far */
    struct lineage *lineage;
    struct overlay_cache *overlays; /* core/model/overlay_set.c */
    struct watch *watch;            /* core/event.c */
    struct session_cache *session_cache;
    struct token_cache *tokens; /* core/access/token.c */
    ramet_limits limits;
    int64_t grace_us;
    struct files *files; /* where attachments are stored (core/attachment/files.c) */
    bool unverified;
    int idle_waiters; /* most calls that wait for the end of a turn (core/turn/turn_idle.c) */
    _Atomic int idle_waiting; /* calls that do */
    _Atomic bool idle_closed; /* ramet_idle_close() */
    int64_t (*clock)(void *);
    void *clock_arg;
    char *vfs;
    int busy_ms;
    /* What the extensions of core/ext have registered; constant once the store is open. */
    const struct log_rules *log_rules[RAMET_LOG_ADK + 1];
    const struct append_extension *append_extensions[MAX_APPEND_EXTENSIONS];
    size_t n_append_extensions;
};

int64_t ramet_now(ramet *r);

#endif
