/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/memory.h: calls that only the memory-service protocol needs: conversations created by their
 * first entries, pages over the sessions of a tree, texts that entries are found by, offers to
 * transfer a tree, and files that a server fetches. The rules of ramet.h about threads, memory and
 * errors apply.
 */
#ifndef RAMET_MEMORY_H
#define RAMET_MEMORY_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a conversation is created: by its first entries, in the same commit, or by
 * ramet_session_make(). With it, an append to an archived session is RAMET_SESSION_NOT_FOUND, and a
 * session without a title gets this one.
 *
 * A fork: `fork_of` must exist and not be archived, and the caller must be a member of its tree;
 * `fork_at` must be an entry of the tree (RAMET_ENTRY_NOT_FOUND), of channel history, or of channel
 * journal and the caller's client (else RAMET_INVALID, RAMET_FORBIDDEN), on the path of `fork_of`
 * (RAMET_INVALID). The fork inherits what comes before `fork_at`; without that, nothing. With
 * entries it needs writer; without, a reader gets a private fork.
 *
 * Started by another session: a new tree, with the owner and the members that the tree of the other
 * session has at that time. Needs writer there; `started_at` must be on its path (RAMET_INVALID).
 */
typedef struct ramet_make {
    const char *title, *agent, *metadata;
    const char *fork_of, *fork_at;
    const char *started_by, *started_at;
    bool own; /* the entries are the client's: RAMET_FORBIDDEN when another client made the session
               */
} ramet_make;

/* Refers once more to an attachment that an entry of this tree refers to: `id` becomes an
 * attachment of the caller with the same content. RAMET_ATTACHMENT_NOT_FOUND, RAMET_FORBIDDEN when
 * it belongs to another tree. */
typedef struct ramet_again {
    const char *from, *id;
} ramet_again;

/* Makes a conversation without entries. `id` NULL: a UUIDv7. RAMET_SESSION_EXISTS. */
RAMET_API ramet_status ramet_session_make(ramet_call *c, const char *id, const ramet_make *in,
                                          ramet_session **out);

typedef struct ramet_origin {
    const char *client; /* the client that made it as a conversation; "" when none */
    const char *started_by, *started_at; /* session, entry; NULL when none */
    ramet_level
        level; /* the caller's in the tree; owner for a private session of the caller's own */
} ramet_origin;
RAMET_API ramet_status ramet_origin_get(ramet_call *c, const char *session, ramet_origin *out);
/* The sessions that a session has started and the caller may see, oldest first. */
RAMET_API ramet_status ramet_started(ramet_call *c, const char *session, ramet_session **out,
                                     size_t *n);
/* Archives, or brings back, every session of the tree and of the trees started from it. Needs
 * owner. RAMET_SESSION_NOT_FOUND: it is archived, or not archived, already. One commit. */
RAMET_API ramet_status ramet_archive(ramet_call *c, const char *session, bool archived,
                                     ramet_session **out);
/* Whether the tree of a session has an entry with that id. */
RAMET_API ramet_status ramet_entry_known(ramet_call *c, const char *session, const char *id,
                                         bool *known);

/* The session that appended an entry, found by the entry's id alone; for the embedding program.
 * Deleted sessions do not count. */
RAMET_API ramet_status ramet_entry_home(ramet_call *c, const char *id, const char **session);
/* The same for a branch, by its number alone. A shared store has no index for it, and scans all
 * branches. */
RAMET_API ramet_status ramet_branch_home(ramet_call *c, int64_t branch, const char **session);

/* Texts that entries are found by, stored beside them (I2). Setting one is for the embedding
 * program. */
typedef struct ramet_indexed {
    const char *text; /* NULL: none */
    int64_t at;
    const char *session; /* that appended the entry; NULL: it is gone, or hidden */
} ramet_indexed;
RAMET_API ramet_status ramet_indexed_set(ramet_call *c, const char *session, const char *entry_id,
                                         const char *text);
/* For n entries that were read from the session. */
RAMET_API ramet_status ramet_indexed_get(ramet_call *c, const char *session,
                                         const ramet_entry *entries, size_t n, ramet_indexed **out);
/* Entries of the channel history without such a text, in the order of the store: those after
 * `after` (0: from the first). A page may also end early with fewer than `limit`. For the embedding
 * program. */
typedef struct ramet_lacking {
    const char *session;
    const ramet_entry *entry;
    int64_t place;
} ramet_lacking;
RAMET_API ramet_status ramet_indexed_lacking(ramet_call *c, int64_t after, int limit,
                                             ramet_lacking **out, size_t *n);

/* A page over several sessions of a tree: what each of them appended itself, merged in one order.
 */
typedef struct ramet_across_in {
    bool tree; /* every session that the caller may see; else those that the path consists of */
    /* By key: entries that have one (ramet_entry_in.key) from this to that, both of one length;
     * needed without `tree`. NULL: by time. */
    const char *key_from, *key_to;
    /* Entries from ramet_across_entry() that the page comes after, or before; by key: with their
     * keys. */
    const ramet_entry *after, *before;
    const char *after_key, *before_key;
    bool with_after;         /* `after` itself is the first of the page, if it is still wanted */
    bool tail;               /* the last ones */
    const ramet_entry *upto; /* by time: nothing after this one */
    int64_t end;             /* only positions below this; 0 = all */
    int limit;               /* 1-1000; 0 = 50 */
    bool (*want)(void *arg, const ramet_entry *e); /* as in ramet_read_in */
    void *want_arg;
    /* RAMET_VIEW_CONTEXT: what overlays leave, by those in force on the path; with `tree`, on the
     * present path of the session that appended the entry. Else as in ramet_read_in. */
    ramet_view view;
} ramet_across_in;
/* Sets only the flag of the direction that was read, and no head. O(limit log s) for s sessions,
 * plus what `want` filters out. */
RAMET_API ramet_status ramet_across(ramet_call *c, const char *session, const ramet_across_in *in,
                                    ramet_page *out);
/* An entry on the present path of the session that appended it, by its id or (NULL) by its
 * position. */
RAMET_API ramet_status ramet_across_entry(ramet_call *c, const char *session, const char *id,
                                          int64_t branch, int64_t position, ramet_entry **out);

/* An offer to transfer a tree: its owner makes it, a member accepts. */
typedef struct ramet_transfer {
    const char *id;
    const char *session; /* the session named in the offer */
    const char *from, *to;
    int64_t created;
} ramet_transfer;
/* Needs owner. RAMET_INVALID: the user is the owner, or not a member. RAMET_TRANSFER_PENDING: a
 * tree has at most one offer; *out is that one then. Removing a member also removes an offer to
 * them. */
RAMET_API ramet_status ramet_transfer_add(ramet_call *c, const char *session, const char *to,
                                          ramet_transfer **out);
/* Offers by the caller (`given`) or to the caller (`taken`), oldest first. */
RAMET_API ramet_status ramet_transfers(ramet_call *c, bool given, bool taken, ramet_transfer **out,
                                       size_t *n);
/* RAMET_TRANSFER_NOT_FOUND, also for an offer between other users. */
RAMET_API ramet_status ramet_transfer_get(ramet_call *c, const char *id, ramet_transfer **out);
/* For either of the two users; other callers get RAMET_FORBIDDEN. */
RAMET_API ramet_status ramet_transfer_delete(ramet_call *c, const char *id);
/* For the user that it was offered to. The old owner becomes manager; every session of the tree
 * that is not private gets the new owner. */
RAMET_API ramet_status ramet_transfer_accept(ramet_call *c, const char *id);

/* The first entry that refers to an attachment, and its session; NULL: none. Does not check whether
 * the caller may read them. */
RAMET_API ramet_status ramet_attachment_home(ramet_call *c, const char *id, const char **session,
                                             const char **entry);
typedef enum {
    RAMET_ATTACHED_ANY = 0,
    RAMET_ATTACHED_LINKED,   /* an entry refers to it */
    RAMET_ATTACHED_UNLINKED, /* none does */
    RAMET_ATTACHED_EXPIRED   /* no entry did in time: the next gc removes it */
} ramet_attached;
typedef struct ramet_attachments_in {
    const char *only;    /* this one; NULL = all that match the rest */
    const char *owner;   /* uploaded by; NULL = any user */
    const char *session; /* those that the entry at `branch`, `position` of its tree refers to; */
    int64_t branch, position; /* NULL = of any entry or none */
    ramet_attached which;
    const char *after; /* the page starts after this attachment; NULL = from the oldest */
    int limit;         /* 1-1000; 0 = 50 */
} ramet_attachments_in;
typedef struct ramet_attachments {
    struct {
        ramet_attachment attachment;
        int64_t sharing; /* attachments with the same content, this one included */
    } * items;           /* by id: oldest first */
    size_t n;
    bool more;
} ramet_attachments;
/* Attachments of all users; for the embedding program. O(limit + those filtered out). */
RAMET_API ramet_status ramet_attachment_list(ramet_call *c, const ramet_attachments_in *in,
                                             ramet_attachments *out);

/* A file that a server is to fetch from a URL. Until it has done so, there is no attachment with
 * that id. */
typedef struct ramet_fetch {
    const char *id, *url, *name, *media_type, *owner;
    int64_t created, expires;
    bool failed;
} ramet_fetch;
RAMET_API ramet_status ramet_fetch_add(ramet_call *c, const char *url, const char *name,
                                       const char *media_type, int64_t life_us, ramet_fetch **out);
/* Only for its owner. */
RAMET_API ramet_status ramet_fetch_get(ramet_call *c, const char *id, ramet_fetch **out);
RAMET_API ramet_status ramet_fetch_fail(ramet_call *c, const char *id);
RAMET_API ramet_status ramet_fetch_delete(ramet_call *c, const char *id);

#ifdef __cplusplus
}
#endif
#endif
