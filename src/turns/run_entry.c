/* SPDX-License-Identifier: Apache-2.0
 *
 * run_entry.c: entries that a run keeps in its own memory.
 */
#include "turns/turns_internal.h"

ramet_entry entry_copy(arena *a, const ramet_entry *from)
{
    ramet_entry e = *from;
    const char **text[] = {&e.id,      &e.text,    &e.parts,  &e.format, &e.body,
                           &e.turn_id, &e.channel, &e.author, &e.client, &e.state_delta};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        *text[i] = arena_strdup(a, *text[i]);
    if (from->usage) {
        ramet_usage *usage = arena_alloc(a, sizeof *usage);
        *usage = *from->usage;
        usage->currency = arena_strdup(a, usage->currency);
        e.usage = usage;
    }
    return e;
}

void run_message(run *r, const ramet_append_out *out)
{
    bool is_last = true; /* otherwise they are read from the store like all others */
    for (size_t i = 0; i < out->n; i++)
        is_last = is_last && out->entries[i].position == r->length - (int64_t)(out->n - i);
    r->n_message = is_last ? out->n : 0;
    r->message = arena_alloc(r->mem, out->n * sizeof *r->message + 1);
    for (size_t i = 0; i < r->n_message; i++) {
        r->message[i] = entry_copy(r->mem, &out->entries[i]);
        r->message[i].usage = NULL; /* a message of the user has no usage */
    }
}
