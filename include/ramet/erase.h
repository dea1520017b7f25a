/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/erase.h: taking content out of a store for good: a person's right, a leaked secret's end.
 *
 * An erased entry keeps its place, id, role, time, turn, channel, usage and hash. What it said is
 * gone, from every session that shares it, and so is everything that was made from it: its copies
 * and the summaries that were landed from it, the raw events of its turn, its attachments (unless
 * another entry refers to them), feedback, search words, state, overlays, kept prompts, task data,
 * titles and reasons that share words with it, kept idempotent answers. Its digest is kept, so that
 * the hash chain still verifies; ramet_entry.erased says who, when and why. docs/erasure.md has the
 * rules, and what stays.
 *
 * Who may: of an entry, a manager of its tree or the owner of the session that appended it; of a
 * session, its owner or a manager; of a tree, a manager; of a user, the embedding program alone. A
 * hold (ramet/retention.h) on anything that would change refuses it: RAMET_HELD. While a turn runs
 * in a tree that is concerned, it is refused with RAMET_TURN_RUNNING_ALREADY.
 *
 * Crash safety: the intention is committed first, and content goes in transactions that each leave
 * a store without loose ends. RAMET_OK means that everything is gone, from the files of a store
 * that is a file, too. After any other status, or a crash, the rest is done by the next
 * ramet_erase() or ramet_erase_resume().
 */
#ifndef RAMET_ERASE_H
#define RAMET_ERASE_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What to erase: exactly one of entry_id (with session), session, tree, user. */
typedef struct ramet_erase_in {
    const char *session;  /* erased with all entries that it appended; with entry_id: where it is */
    const char *entry_id; /* on a path of that session */
    int64_t branch;       /* the branch whose path has the entry; 0 = the head */
    const char *tree;     /* id of a tree: all its sessions that the caller may see */
    const char *user;     /* the user's sessions, entries and name, in the whole store */
    const char *reason;   /* kept with each entry: it must not repeat what is erased */
    const char *by;       /* for the embedding program: the administrator who asked */
    bool dry_run;         /* only count */
} ramet_erase_in;

typedef struct ramet_erase_line {
    const char *what;
    int64_t n;
    const char *why; /* stayed: because of this; else NULL */
} ramet_erase_line;

typedef struct ramet_erase_place {
    const char *session; /* one that the caller may see */
    int64_t entries;     /* erased in it */
} ramet_erase_place;

typedef struct ramet_receipt {
    int64_t at;
    const char *by; /* NULL: the embedding program */
    const char *reason;
    bool dry_run;
    int64_t entries; /* erased now, or in a dry run: would be; copies and raw events included */
    int64_t already; /* of those named: erased before */
    const ramet_erase_line *went;
    size_t n_went;
    const ramet_erase_line *stayed;
    size_t n_stayed;
    const ramet_erase_place *places; /* at most 1,000 */
    size_t n_places;
    int64_t elsewhere; /* entries in sessions that the caller may not see, or past the 1,000 */
    const char *const *notes; /* what erasing cannot do */
    size_t n_notes;
} ramet_receipt;

/* Erases, and first goes on with what an interrupted erasure left. O(what is erased), and on a file
 * O(store): the file is written anew. */
RAMET_API ramet_status ramet_erase(ramet_call *c, const ramet_erase_in *in, ramet_receipt **out);

/* An erasure that took entries of a history. */
typedef struct ramet_erasure {
    int64_t at;
    const char *by;     /* NULL: the embedding program, or hidden from the holder of a link */
    const char *reason; /* "" when none was given */
    int64_t entries;    /* of this path */
} ramet_erasure;

/* What was erased of a session's history (branch 0: the head; log main), newest first, at most the
 * last 1,000 times. For who sees the session. O(erased entries of the tree). */
RAMET_API ramet_status ramet_erasures(ramet_call *c, const char *session, int64_t branch,
                                      ramet_erasure **out, size_t *n);
/* Goes on with interrupted erasures; *n (may be NULL) gets how many there were. For the embedding
 * program, when it starts. */
RAMET_API ramet_status ramet_erase_resume(ramet_call *c, int64_t *n);

#ifdef __cplusplus
}
#endif

#endif
