/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/templates.h: sessions that new chats begin with.
 *
 * A template is a session pinned at an entry: what the session says later does not get in. A new
 * chat from it is a fork there, in constant time, whatever the length of the history. A template
 * may declare placeholders: wherever {{name}} stands in its entries, the chat shows the value that
 * was given for that name. All other braces are text.
 *
 * Nothing is copied. The values are kept with the new session, and entries are filled in when they
 * are read, in every reading call: text, parts and body, in JSON inside strings (not in keys, nor
 * under the keys id, type, kind, role and those that end in Id, ID or _id). Ids and hashes stay
 * those of the record, which RAMET_VIEW_RECORD reads with the names. So
 *
 *   - a fork of such a chat keeps the values; deleting the template, or the session that it was
 *     pinned in, changes nothing for it
 *   - what is appended to the chat is never filled, nor is the text of an overlay
 *   - an entry that is sent again (ramet_append, ramet_sync) is compared with what is shown
 *   - a merge copies what is shown. A fast_forward copies nothing and is refused between sessions
 *     with different values
 *   - a search finds the words of the template, and shows them filled; values are not indexed
 *   - a template may be pinned in such a chat: its placeholders are looked for in what that shows,
 *     up to 8 templates deep
 *
 * A template is visible to those who may see its session, and goes when that is deleted (a restore
 * brings it back). Making, changing and removing one needs writer; a chat from it needs what a fork
 * needs.
 */
#ifndef RAMET_TEMPLATES_H
#define RAMET_TEMPLATES_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ramet_template {
    const char *id;
    const char *name;
    const char *session;  /* that it is pinned in */
    const char *entry_id; /* the last one that a chat begins with */
    int64_t length;       /* entries that a chat begins with */
    const char *const *placeholders;
    size_t n_placeholders;
    const char *by; /* NULL: the embedding program */
    int64_t created, updated;
} ramet_template;

typedef struct ramet_template_in {
    const char *session;
    const char *entry_id; /* NULL: the last entry of the head; else one on its path */
    const char *name;     /* 1-500 characters */
    const char *const *placeholders;
    size_t n_placeholders; /* at most 100, each 1-64 bytes without braces, spaces and controls */
} ramet_template_in;

/* Makes one. RAMET_ENTRY_NOT_FOUND; RAMET_INVALID where the session is empty. At most 1,000 of a
 * session. O(entries), once: it counts the placeholders, so that a chat needs not. */
RAMET_API ramet_status ramet_template_add(ramet_call *c, const ramet_template_in *in,
                                          ramet_template **out);

/* RAMET_TEMPLATE_NOT_FOUND, also for one that the caller may not see. */
RAMET_API ramet_status ramet_template_get(ramet_call *c, const char *id, ramet_template **out);

/* Those that the caller may see, newest first. `limit` 1-1000, 0 = 50; `cursor` NULL: from the
 * first. *next is NULL at the end. */
RAMET_API ramet_status ramet_templates(ramet_call *c, int limit, const char *cursor,
                                       ramet_template **out, size_t *n, const char **next);

typedef struct ramet_template_patch {
    const char *name;     /* NULL: stays */
    const char *entry_id; /* NULL: stays; else it is pinned there, on the path of the head */
    const char *const *placeholders;
    size_t n_placeholders;
    bool set_placeholders; /* false: they stay */
} ramet_template_patch;
/* Chats made before keep what they have. Costs what making one costs when entry or placeholders
 * change. */
RAMET_API ramet_status ramet_template_update(ramet_call *c, const char *id,
                                             const ramet_template_patch *in, ramet_template **out);

/* Unpins it. The session and the chats made from it stay. */
RAMET_API ramet_status ramet_template_remove(ramet_call *c, const char *id);

typedef struct ramet_template_value {
    const char *name, *text; /* text: at most 64 KiB, all together 256 KiB */
} ramet_template_value;

typedef struct ramet_template_use {
    const ramet_template_value *values; /* one for each placeholder */
    size_t n_values;
    ramet_fork_in fork; /* id, title, reason, tags, agent, metadata, visibility, ephemeral_us */
} ramet_template_use;
/* A new chat from a template: a fork at its pin. A name that the template does not declare, and one
 * that is missing: RAMET_INVALID, `field` is values.NAME. RAMET_TOO_LARGE when the values would add
 * more than 8 MiB to one entry. O(log d), as a fork. */
RAMET_API ramet_status ramet_template_chat(ramet_call *c, const char *id,
                                           const ramet_template_use *in, ramet_session **out);

typedef struct ramet_template_origin {
    const char *template_id; /* it may be gone; NULL: the session was not made from a template, or
                                is seen through a share link */
    const ramet_template_value *values;
    size_t n_values;
} ramet_template_origin;
/* The template and the values that a session was made with; of a fork, those that it inherited. */
RAMET_API ramet_status ramet_template_values(ramet_call *c, const char *session,
                                             ramet_template_origin *out);

#ifdef __cplusplus
}
#endif
#endif
