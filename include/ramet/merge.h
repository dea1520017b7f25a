/* SPDX-License-Identifier: Apache-2.0
 *
 * merge.h: bringing what one session has into another one.
 *
 *   fast_forward   the head of the target moves to a new branch at the end of the source's history.
 *                  Nothing is copied: the entries are shared, and keep their ids and usage. Only if
 *                  the target has not gone on since the two parted.
 *   splice         everything that the source has and the target has not is appended, in order
 *   pick           chosen entries are appended, from anywhere in the tree
 *   land           one entry with a summary is appended
 *
 * The last three make copies. A copy is the whole entry (role, parts, format, body, channel,
 * author, state delta, attachments) under a new id, made now by the client that merges, and without
 * usage (I9): what an answer has cost is counted where it was made. Entries of one turn get one new
 * turn id. Each copy knows where it came from, and each entry where it went.
 *
 * Every merge is one move of the target's head to a new branch, in one commit; undo takes it back.
 * Only the log main is merged: the adk log of the target stays what it is, because a runtime finds
 * its history by a rule over the events of its own session.
 *
 * Lineage stays one-parent: a merge changes neither where the target was forked from nor where the
 * source was.
 */
#ifndef RAMET_MERGE_H
#define RAMET_MERGE_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { RAMET_FAST_FORWARD = 1, RAMET_SPLICE, RAMET_PICK, RAMET_LAND } ramet_merge_mode;
/* "fast_forward", "splice", "pick", "land", and back; an unknown name gives -1. */
RAMET_API const char *ramet_merge_mode_name(ramet_merge_mode v);
RAMET_API int ramet_merge_mode_parse(const char *s);

/* An entry to pick. */
typedef struct ramet_merge_pick {
    const char *session; /* NULL: the source, or the target itself when there is none */
    int64_t branch;      /* 0 = its head; else a branch of it whose path holds the entry */
    const char *entry_id;
} ramet_merge_pick;

typedef struct ramet_merge_in {
    ramet_merge_mode mode;
    const char *from;    /* the source; may be NULL for pick, and with `share` */
    int64_t from_branch; /* 0 = its head; else a branch of it */
    const ramet_merge_pick *picks;
    size_t n_picks;
    const char *share; /* token of a share link: the source is the session that it opens */
    const char *text;  /* land: the summary */
    bool written;      /* land: an agent writes the text, so the source must be in the same tree and
                          seen by more than a share link */
    const char
        *agent;     /* land without a text, on a server (client/): the agent that writes it; NULL:
                       that of the source. The library itself has no agents and refuses it */
    bool when_idle; /* while a turn runs in the target, wait for its end on this thread, and merge
                       the source as it is by then. ramet_call_stop_when() ends the wait
                       (RAMET_STOP); too many waiting calls: RAMET_TOO_BUSY */
    bool dry_run;   /* change nothing, and show what would be appended */
    const char *expected_head; /* of the target, when it is merged */
} ramet_merge_in;

typedef struct ramet_merge_out {
    ramet_session *session; /* the target afterwards; as it is, in a dry run */
    ramet_entry *entries;   /* what was appended. In a dry run with ids, times and turn ids that the
                               merge itself makes anew. fast_forward: only in a dry run, the first
                               1,000 entries that would come onto the path */
    size_t n;
    int64_t count; /* of all that came, or would come, onto the path */
} ramet_merge_out;

/* Merges into `session`. Needs writer there, and reader in every session that entries come from.
 *
 * RAMET_MERGE_REFUSED, and nothing changes: the target has gone on since they parted
 * (fast_forward), the source has nothing that the target does not have, or the source is in another
 * tree or seen through a share link alone and the mode is not land, or its text is not the
 * caller's. RAMET_TURN_RUNNING_ALREADY: a turn is running in the target; the error's subject is its
 * id. RAMET_BATCH_TOO_LARGE, RAMET_TOO_LARGE: more than limits.merge entries or limits.merge_bytes
 * would be copied.
 *
 * Picking a tool call takes its result along, and a result its call, if the other one is within
 * 2,000 entries; they are copied in the order of their path, in place of the first one that was
 * picked. An entry that is picked twice is copied once.
 *
 * The origin of a landed summary is the last entry of the source. It is a message of the user, by
 * the caller.
 *
 * fast_forward, splice and land make the target `merged_into` of the source, if that is another
 * session of the same tree and the caller may write to it.
 *
 * O(log n) for fast_forward, O(log n + entries copied) for the others. */
RAMET_API ramet_status ramet_merge(ramet_call *c, const char *session, const ramet_merge_in *in,
                                   ramet_merge_out *out);

/* Where an entry on a path (`branch` 0: of the head) came from, and where it went: one index
 * look-up each. Sessions that the caller may not see, or that are gone, are left out. At most
 * 1,000. */
RAMET_API ramet_status ramet_origins(ramet_call *c, const char *session, int64_t branch,
                                     const char *entry_id, ramet_entry_ref **out, size_t *n);
RAMET_API ramet_status ramet_destinations(ramet_call *c, const char *session, int64_t branch,
                                          const char *entry_id, ramet_entry_ref **out, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
