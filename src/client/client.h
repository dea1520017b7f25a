/* SPDX-License-Identifier: Apache-2.0
 *
 * client.h: the library's calls over HTTP.
 *
 * A program with a `const ramet_calls *` does not know whether its store is a file or a server:
 * client_local is the library itself, client_http speaks /ramet/v1 to a server. Signatures, memory
 * and errors are those of ramet.h. A `ramet` or `ramet_call` made by one table must only be passed
 * to functions of that table.
 *
 * Over HTTP, times have milliseconds, and what the API does not show stays 0 or NULL (owner_no, the
 * stored title of an untitled session). A server that cannot be reached is RAMET_CANNOT_OPEN.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/arena.h"
#include "base/json.h"
#include "ramet.h"
#include "ramet/branches.h"
#include "ramet/erase.h"
#include "ramet/foreign.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "ramet/sandboxes.h"
#include "ramet/suggest.h"
#include "ramet/templates.h"
#include "ramet/tokens.h"

/* Every call that needs a store. */
#define CLIENT_CALLS(X)                                                                            \
    X(close)                                                                                       \
    X(call_new)                                                                                    \
    X(call_reset)                                                                                  \
    X(call_free)                                                                                   \
    X(call_error)                                                                                  \
    X(session_create)                                                                              \
    X(session_get)                                                                                 \
    X(session_find)                                                                                \
    X(session_update)                                                                              \
    X(session_promote)                                                                             \
    X(session_delete)                                                                              \
    X(session_restore)                                                                             \
    X(tags_set)                                                                                    \
    X(tags_add)                                                                                    \
    X(tags_remove)                                                                                 \
    X(tags_all)                                                                                    \
    X(append)                                                                                      \
    X(read)                                                                                        \
    X(entry_get)                                                                                   \
    X(stream_open)                                                                                 \
    X(stream_next)                                                                                 \
    X(stream_length)                                                                               \
    X(stream_close)                                                                                \
    X(record)                                                                                      \
    X(fork)                                                                                        \
    X(rewind)                                                                                      \
    X(undo)                                                                                        \
    X(redo)                                                                                        \
    X(switch)                                                                                      \
    X(edit)                                                                                        \
    X(regenerate)                                                                                  \
    X(sync)                                                                                        \
    X(merge)                                                                                       \
    X(origins)                                                                                     \
    X(destinations)                                                                                \
    X(overlay_set)                                                                                 \
    X(overlay_remove)                                                                              \
    X(overlays)                                                                                    \
    X(turn_session)                                                                                \
    X(template_add)                                                                                \
    X(template_get)                                                                                \
    X(templates)                                                                                   \
    X(template_update)                                                                             \
    X(template_remove)                                                                             \
    X(template_chat)                                                                               \
    X(template_values)                                                                             \
    X(turn_prompt)                                                                                 \
    X(head_log)                                                                                    \
    X(versions)                                                                                    \
    X(branches)                                                                                    \
    X(branches_pruned)                                                                             \
    X(branch_update)                                                                               \
    X(prune)                                                                                       \
    X(branch_restore)                                                                              \
    X(ancestry)                                                                                    \
    X(children)                                                                                    \
    X(tree)                                                                                        \
    X(tree_branches)                                                                               \
    X(fork_points)                                                                                 \
    X(compare)                                                                                     \
    X(verdict_add)                                                                                 \
    X(verdicts)                                                                                    \
    X(search)                                                                                      \
    X(search_update)                                                                               \
    X(state)                                                                                       \
    X(usage_get)                                                                                   \
    X(suggest)                                                                                     \
    X(members)                                                                                     \
    X(member_set)                                                                                  \
    X(member_remove)                                                                               \
    X(sandbox_add)                                                                                 \
    X(sandboxes)                                                                                   \
    X(sandbox_remove)                                                                              \
    X(share_add)                                                                                   \
    X(shares)                                                                                      \
    X(share_revoke)                                                                                \
    X(token_add)                                                                                   \
    X(tokens)                                                                                      \
    X(token_revoke)                                                                                \
    X(hold_set)                                                                                    \
    X(hold_release)                                                                                \
    X(holds)                                                                                       \
    X(retention_get)                                                                               \
    X(retention_set)                                                                               \
    X(retention_run)                                                                               \
    X(retention_explain)                                                                           \
    X(removals)                                                                                    \
    X(fsck)                                                                                        \
    X(erase)                                                                                       \
    X(erasures)                                                                                    \
    X(gc)                                                                                          \
    X(backup)                                                                                      \
    X(stat)

typedef struct ramet_calls {
#define X(name) __typeof__(ramet_##name) *ramet_##name;
    CLIENT_CALLS(X)
#undef X
} ramet_calls;

extern const ramet_calls client_local;
extern const ramet_calls client_http;

/* `url` is http://HOST[:PORT] or https://…, optionally with a path before /ramet/v1. `token` may be
 * NULL. Nothing is sent yet. Close the result with client_http.ramet_close(). */
ramet_status client_open(const char *url, const char *token, ramet **out, ramet_error *err);

/* ---- attachments as a whole; for a call of either table */

/* Stores bytes; the attachment's id lives in the call. */
ramet_status client_attach(const ramet_calls *lib, ramet_call *c, const char *media_type,
                           const void *bytes, size_t n, const char **id);
/* Adds its bytes to *out. */
ramet_status client_attached(const ramet_calls *lib, ramet_call *c, const char *id, buf *out);

/* ---- exports and imports; for a call of either table */

/* `all_users`: everything in the store, for administrators. A server sends the file when it is
 * whole: `progress` tells bytes then. */
ramet_status client_export(const ramet_calls *lib, ramet_call *c, const ramet_export_in *in,
                           bool all_users, ramet_write write, void *arg, ramet_progress progress,
                           void *progress_arg, ramet_export_out *out);
typedef struct client_import_in {
    int fd; /* of a file, read from its beginning */
    int64_t size;
    bool owners;        /* owners and members are those of the file: for administrators */
    const char *upload; /* a server goes on with an upload of that name; NULL: it does not */
    const char *from;   /* a format of ramet/foreign.h; NULL: Ramet's own */
} client_import_in;
/* Over HTTP, a connection that breaks is made again, and the rest of the file sent. */
ramet_status client_import(const ramet_calls *lib, ramet_call *c, const client_import_in *in,
                           ramet_progress progress, void *arg, ramet_import_out *out);

/* ---- turns: a server alone runs them */

/* Callbacks for a turn. Both are called while client_message() runs. */
typedef struct client_events {
    /* One event: its name ("turn.delta" …) and its data, which live until it returns. */
    void (*event)(void *arg, const char *name, arena *a, const json_doc *data);
    /* Called several times a second, and may cancel the turn. True: do not call it again. May be
     * NULL. */
    bool (*stop)(void *arg);
    void *arg;
} client_events;
/* Posts `json` to …/sessions/SESSION/ROUTE ("messages", "regenerate") and reads the answer to its
 * end. Over HTTP only. */
ramet_status client_message(ramet_call *c, const char *session, const char *route, const char *json,
                            const client_events *events);
/* The agents that a server has. */
typedef struct client_agent {
    const char *name, *about;
    const char *model; /* NULL: no choice */
    const char *const *models;
    size_t n_models;
    int64_t context; /* tokens; 0: unknown */
} client_agent;
ramet_status client_agents(ramet_call *c, const client_agent **out, size_t *n);
/* Posts to a route of a session and ignores the answer. `route` is used verbatim. */
ramet_status client_post(ramet_call *c, const char *session, const char *route, const char *json);

#endif
