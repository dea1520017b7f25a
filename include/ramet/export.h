/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/export.h: conversations as files, and files as conversations.
 *
 * An export holds sessions with everything that belongs to them, in Ramet's own format (JSONL,
 * docs/export.md), or as a text for people (Markdown, HTML). An import takes the JSONL back:
 *
 *   - Ids, times, bytes and prefix hashes are those of the file. An export of what an administrator
 *     imported into an empty store has the same bytes as the file.
 *   - The file is kept in a spool and checked whole before anything is written. What is damaged is
 *     refused (RAMET_IMPORT_DAMAGED), and the message names the line.
 *   - What is there already adds nothing. What is there with another history is refused
 *     (RAMET_IMPORT_CONFLICT).
 *   - A tree becomes visible in one commit, after everything in it was written. When the process
 *     dies before that, nothing of the tree shows, gc removes what was written, and the same import
 *     done again adds what is missing.
 */
#ifndef RAMET_EXPORT_H
#define RAMET_EXPORT_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the next bytes of a file. False: no more are wanted, and the call ends with RAMET_STOP. */
typedef bool (*ramet_write)(void *arg, const void *bytes, size_t n);

typedef enum { RAMET_EXPORT_JSONL, RAMET_EXPORT_MARKDOWN, RAMET_EXPORT_HTML } ramet_export_format;
/* "jsonl", "md", "html"; -1 when it is none of them. */
RAMET_API int ramet_export_format_parse(const char *s);

typedef struct ramet_export_in {
    const char *session; /* NULL: all that the caller may see; of the embedding program: all */
    bool tree;           /* the session's whole tree, as far as the caller may see it */
    ramet_export_format format;
    /* JSONL: the adk log, too, of sessions where the caller may read it. It may hold credentials.
     */
    bool with_adk;
    /* Only the present path of each session, or only the paths of these branches of the session:
     * everything else that happened in it is left out. Without the adk log. */
    bool path;
    const int64_t *branches;
    size_t n_branches;
    /* The context view, with the overlays in force on each path: what they hide is not in the file,
     * and what they replace says what they say. JSONL: one path of one session, chosen with `path`
     * or one branch. It becomes a conversation of its own, without overlays, under another id: its
     * entries keep their ids, and have other hashes. */
    bool context;
} ramet_export_in;

typedef struct ramet_export_out {
    int64_t trees, sessions, entries, bytes;
} ramet_export_out;

/* Writes an export. Needs reader. Sessions that the caller may not see, and deleted ones, are not
 * in it and are not named; entries that they share with exported ones are. Each tree is read in one
 * snapshot, which lasts as long as `write` takes for it. Memory grows with the number of sessions
 * and branches of one tree, not with its entries. */
RAMET_API ramet_status ramet_export(ramet_call *c, const ramet_export_in *in, ramet_write write,
                                    void *arg, ramet_progress progress, void *progress_arg,
                                    ramet_export_out *out);

typedef struct ramet_import ramet_import;

/* What an import of another program's file (ramet/foreign.h) has left out. */
typedef struct ramet_import_skip {
    const char *what; /* "lines that are not JSON" */
    int64_t count;
    const char *first; /* where the first one is: "FILE:LINE"; "" when that is unknown */
} ramet_import_skip;

typedef struct ramet_import_out {
    int64_t sessions_added, entries_added;
    int64_t sessions_known; /* there before */
    int64_t trees_added;
    /* of a file of another program; else 0 */
    int64_t conversations, messages;      /* read */
    int64_t forks_added;                  /* sessions that are forks of others */
    int64_t entries_shared, bytes_shared; /* that were copies, and are stored once */
    const ramet_import_skip *skipped;     /* live in the call */
    size_t n_skipped;
} ramet_import_out;

/* Begins an import. The bytes go to a spool of this process's machine, at most `max_bytes` of them
 * (0: 64 GiB). `upload`: 1 to 64 letters, digits, - and _; the spool then outlives a failed or
 * aborted import for a day, and beginning again with the same name, by the same user, goes on
 * behind what is there. NULL: it does not. One import at a time uses a spool: RAMET_BUSY. */
RAMET_API ramet_status ramet_import_begin(ramet_call *c, const char *upload, int64_t max_bytes,
                                          ramet_import **out);
/* How many bytes are there. */
RAMET_API int64_t ramet_import_offset(const ramet_import *m);
/* The next bytes. */
RAMET_API ramet_status ramet_import_add(ramet_import *m, const void *bytes, size_t n);
/* Checks everything and writes what is not there yet. Sessions belong to the caller, and members of
 * the trees are not taken over; for the embedding program owners and members are those of the file.
 * The spool is gone when it succeeds, and when the file is refused. Call ramet_import_close() then,
 * too. */
RAMET_API ramet_status ramet_import_run(ramet_import *m, ramet_progress progress, void *arg,
                                        ramet_import_out *out);
/* For readers of other formats: the call that it was begun with, its spool (which stays its own),
 * and what ramet_import_run() does at its end: the message becomes the error of the call, and the
 * spool of an import that succeeded or was refused is removed. */
RAMET_API ramet_call *ramet_import_call(const ramet_import *m);
RAMET_API int ramet_import_file(const ramet_import *m);
RAMET_API const char *ramet_import_user(const ramet_import *m); /* NULL: the embedding program */
RAMET_API ramet_status ramet_import_fail(ramet_import *m, ramet_status st, const char *field,
                                         const char *message);
RAMET_API void ramet_import_done(ramet_import *m, ramet_status st);
/* Frees it; what was not imported stays in a named spool. NULL is fine. */
RAMET_API void ramet_import_close(ramet_import *m);
/* Bytes in a named spool of the caller; 0: there is none. */
RAMET_API int64_t ramet_import_spooled(ramet_call *c, const char *upload);
/* Removes spools that nobody went on with for a day; gc and the next import do so, too. For the
 * embedding program. */
RAMET_API ramet_status ramet_import_tidy(ramet_call *c);

#ifdef __cplusplus
}
#endif

#endif
