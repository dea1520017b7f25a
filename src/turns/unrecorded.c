/* SPDX-License-Identifier: Apache-2.0
 *
 * unrecorded.c: runs of which nothing is stored, for clients that ask for that. Such a run has its
 * whole history in memory and no session; its entries live until it is freed.
 */
#include "turns/turns_internal.h"

#include <string.h>

/* The normal form of an entry, as the store would return it. */
static ramet_entry entry_made(run *r, const ramet_entry_in *in)
{
    char id[UUID_TEXT];
    arena *a = r->mem;
    const char *text = in->text ? arena_strdup(a, in->text) : "";
    const char *parts = arena_strdup(a, in->parts);
    if (!parts)
        parts = arena_printf(a, "[{\"type\":\"text\",\"text\":%s}]", json_quote(a, text));
    return (ramet_entry){.id = arena_strdup(a, in->id ? in->id : uuid7(time_now_us(), id)),
                         .position = r->length + (int64_t)r->entries.n,
                         .role = in->role,
                         .text = text,
                         .parts = parts,
                         .format = "ramet",
                         .turn_id = r->id,
                         .channel = "history",
                         .author = arena_strdup(a, in->author),
                         .usage = in->usage,
                         .created = time_now_us()};
}

void run_unrecorded(run *r, const turn_request *in)
{
    const ramet_turn_in *turn = &in->turn;
    size_t n = in->n_history + turn->n;
    r->is_unrecorded = true;
    r->is_kept = true; /* no head leaves it */
    r->message = arena_array(r->mem, n + 1, sizeof *r->message);
    for (size_t i = 0; i < in->n_history; i++)
        r->message[i] = entry_copy(r->mem, &in->history[i]);
    for (size_t i = 0; i < turn->n; i++)
        r->message[in->n_history + i] = entry_made(r, &turn->entries[i]);
    r->n_message = n;
    r->length = (int64_t)n;
}

ramet_status unrecorded_append(run *r, const ramet_entry_in *in, size_t n, ramet_append_out *out)
{
    *out = (ramet_append_out){.entries = arena_array(r->mem, n + 1, sizeof *out->entries), .n = n};
    for (size_t i = 0; i < n; i++)
        out->entries[i] = entry_made(r, &in[i]);
    out->added = n;
    out->head.length = r->length;
    return RAMET_OK;
}
