/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/overlays.h: what the model sees of a history, without touching the history.
 *
 * An overlay names an entry of the main log and says what becomes of it in the *context view*:
 *
 *   hide          it is left out
 *   replace       it says another text
 *   hide_before   everything above it is left out
 *
 * The record is not touched: ids, content and prefix_hash stay, and every reader can have both
 * views (ramet_read_in.view). The overlays in force are a *set*, and a set belongs to a branch. So
 * setting or removing one moves the head to a new, empty branch at the end of the path: the move is
 * in the head log, undo and switch bring back the set of the branch that they go to, and a fork
 * keeps the set that stood when it was made. Every branch that is made from a head takes its set
 * over; overlays of entries that are not on a path mean nothing there.
 *
 * A tool call and its results belong together: hiding one hides the others. A result that is
 * appended later to a call that is hidden is hidden, too. A replaced entry keeps the ids of its
 * tool calls and results, so that no call is left without its result; everything else that it said
 * is replaced.
 *
 * An entry has at most one of hide and replace, and one hide_before: setting another takes the
 * place of the one before. Several hide_before of different entries all hold.
 */
#ifndef RAMET_OVERLAYS_H
#define RAMET_OVERLAYS_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    RAMET_OVERLAY_HIDE = 1,
    RAMET_OVERLAY_REPLACE,
    RAMET_OVERLAY_HIDE_BEFORE
} ramet_overlay_action;
/* "hide", "replace", "hide_before", and back; an unknown name gives -1. */
RAMET_API const char *ramet_overlay_action_name(ramet_overlay_action v);
RAMET_API int ramet_overlay_action_parse(const char *s);

/* The id of an overlay as text, "o17", and back; 0 when the text is not one. */
RAMET_API const char *ramet_overlay_text(int64_t overlay, char out[24]);
RAMET_API int64_t ramet_overlay_parse(const char *s);

typedef struct ramet_overlay {
    int64_t id; /* of its tree */
    const char *entry_id;
    int64_t position; /* of the entry */
    ramet_overlay_action action;
    const char *text; /* replace: what the entry says instead; else NULL */
    const char *who;  /* NULL: the embedding program, or hidden from the holder of a link */
    int64_t at;
} ramet_overlay;

typedef struct ramet_overlay_in {
    const char *entry_id; /* on the path of the head */
    ramet_overlay_action action;
    const char *text;   /* replace: at most 1 MiB, may be ""; else NULL */
    const char *reason; /* for the head log; may be NULL */
    const char *expected_head;
    bool when_idle; /* while a turn runs on the head, wait for its end on this thread.
                       ramet_call_stop_when() ends the wait (RAMET_STOP); too many waiting calls:
                       RAMET_TOO_BUSY */
} ramet_overlay_in;

typedef struct ramet_overlay_out {
    int64_t id;
    ramet_head head; /* after the move: a new, empty branch; its hash is what it was */
} ramet_overlay_out;

/* Sets an overlay. Needs writer, as every move. While a turn runs on the head:
 * RAMET_TURN_RUNNING_ALREADY. A path has at most 10,000 changes of its set, with at most 16 MiB of
 * text (RAMET_TOO_LARGE). O(log d); of an entry with tool calls or results also the 2,000 entries
 * to either side of it. */
RAMET_API ramet_status ramet_overlay_set(ramet_call *c, const char *session,
                                         const ramet_overlay_in *in, ramet_overlay_out *out);

/* Removes one that is in force on the head; RAMET_OVERLAY_NOT_FOUND. Otherwise as above; out->id is
 * the one removed. `reason` and `expected_head` may be NULL. */
RAMET_API ramet_status ramet_overlay_remove(ramet_call *c, const char *session, int64_t overlay,
                                            const char *reason, const char *expected_head,
                                            bool when_idle, ramet_overlay_out *out);

/* Those in force on a branch of the session (0: the head) whose entries are on its path, in the
 * order of the path. O(set). */
RAMET_API ramet_status ramet_overlays(ramet_call *c, const char *session, int64_t branch,
                                      ramet_overlay **out, size_t *n);

#ifdef __cplusplus
}
#endif
#endif
