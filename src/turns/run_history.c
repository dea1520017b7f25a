/* SPDX-License-Identifier: Apache-2.0
 *
 * run_history.c: reads the history that the agent of a run gets.
 */
#include "turns/turns_internal.h"

#include <string.h>

enum { PAGE = 1000 };

static bool is_in_history(const ramet_entry *e)
{
    return !e->channel || strcmp(e->channel, "history") == 0;
}

void history_add(run_history *h, const ramet_entry *e)
{
    if (is_in_history(e))
        VEC_PUSH(h->mem, &h->entries, *e);
}

/* Reads one page more, but nothing from position `end` on. */
static ramet_status history_page(run_history *h, const run *r, int64_t end)
{
    ramet_read_in in = {.limit = PAGE,
                        .by_position = true,
                        .branch = h->branch,
                        .position = h->position,
                        .end = end,
                        .view = RAMET_VIEW_CONTEXT};
    ramet_page page;
    ramet_status st = ramet_read(h->call, r->session, &in, &page);
    if (st != RAMET_OK)
        return st;
    for (size_t i = 0; i < page.n; i++)
        history_add(h, &page.entries[i]);
    h->overlay = page.head.overlay;
    /* A page of large entries is short; what is hidden is in none. */
    h->position = page.n ? page.entries[page.n - 1].position + 1 : end;
    return RAMET_OK;
}

void history_prefetch(run_history *h, const run *r)
{
    h->branch = r->prefetch_branch;
    if (r->fate == FATE_OPEN && r->prefetch_length &&
        history_page(h, r, r->prefetch_length) != RAMET_OK)
        h->branch = 0;
}

ramet_status history_read(run_history *h, const run *r)
{
    int64_t end = r->length - (int64_t)r->n_message;
    ramet_status st = RAMET_OK;
    if (h->branch != r->branch || h->position > end) {
        h->branch = r->branch;
        h->position = 0;
        h->entries.n = 0;
    }
    while (st == RAMET_OK && h->position < end)
        st = history_page(h, r, end);
    for (size_t i = 0; i < r->n_message; i++)
        history_add(h, &r->message[i]);
    return st;
}
