/* SPDX-License-Identifier: Apache-2.0
 *
 * answer.c: turn events as pieces of an answer, for both APIs.
 *
 * Deltas come before the entry that they become a part of; a client that reads slowly, or joins
 * late, gets some of them as the entry alone. So what was passed on is counted, and the entry
 * passes on the rest: the same pieces in the same order, however the text was cut into deltas.
 */
#include "face/openai/openai_face.h"

#include <stdio.h>
#include <string.h>

void answer_init(answer_reader *a, arena *mem, const answer_calls *calls, void *arg)
{
    *a = (answer_reader){.calls = calls, .arg = arg, .mem = mem};
    buf_init(&a->text, OPENAI_BYTES);
}

void answer_release(answer_reader *a)
{
    buf_release(&a->text);
}

void answer_end(answer_reader *a)
{
    if (!a->open)
        return;
    a->open = false;
    a->calls->close(a->arg, a->text.data);
    buf_clear(&a->text);
}

/* Whether all of the part was passed on: it is closed when the next one begins. */
static bool part_is_past(const answer_reader *a, const item_place *at)
{
    return strcmp(a->entry, at->entry) == 0 &&
           (at->part < a->part || (at->part == a->part && !a->open));
}

static void part_open(answer_reader *a, bool thinking, const item_place *at)
{
    if (a->open && strcmp(a->entry, at->entry) == 0 && a->part == at->part)
        return;
    answer_end(a);
    snprintf(a->entry, sizeof a->entry, "%s", at->entry);
    a->part = at->part;
    a->open = true;
    a->calls->open(a->arg, thinking, at);
}

static void part_text(answer_reader *a, const char *text, size_t n)
{
    if (!n)
        return;
    buf_add(&a->text, text, n);
    a->calls->text(a->arg, text, n);
}

static void entry_part(answer_reader *a, const json_doc *d, const json_node *v,
                       const item_place *at)
{
    const char *type = json_text(a->mem, d, json_get(d, v, "type"));
    const char *text = json_text(a->mem, d, json_get(d, v, "text"));
    const char *id = json_text(a->mem, d, json_get(d, v, "id"));
    bool thinking = strcmp(type, "thinking") == 0;
    if (part_is_past(a, at))
        return;
    if (thinking || strcmp(type, "text") == 0) {
        part_open(a, thinking, at);
        size_t n = strlen(text);
        if (n > a->text.n)
            part_text(a, text + a->text.n, n - a->text.n);
        answer_end(a);
    } else if (strcmp(type, "tool_call") == 0) {
        answer_end(a);
        a->calls->call(a->arg, at, id, json_text(a->mem, d, json_get(d, v, "name")),
                       openai_arguments(a->mem, d, json_get(d, v, "input")));
    } else if (strcmp(type, "tool_result") == 0) {
        answer_end(a);
        const json_node *output = json_get(d, v, "output");
        a->calls->result(a->arg, at, id,
                         json_is(output, JSON_STRING) ? json_text(a->mem, d, output)
                                                      : json_raw(a->mem, d, output));
    }
}

static void usage_add(answer_reader *a, const ramet_usage *u)
{
    a->usage.input += u->input;
    a->usage.output += u->output;
    a->usage.cached += u->cached;
}

static void entry_event(answer_reader *a, const turn_event *e)
{
    json_doc d;
    const char *parts = e->entry->parts;
    item_place at = {.turn = e->turn, .entry = e->entry->id};
    if (!openai_is_output(e->entry))
        return;
    if (e->entry->usage)
        usage_add(a, e->entry->usage);
    if (!parts || !json_parse(a->mem, parts, strlen(parts), 0, &d, NULL))
        return;
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v), at.part++)
        entry_part(a, &d, v, &at);
}

void answer_event(answer_reader *a, const turn_event *e)
{
    if (e->kind == TURN_ENTRY) {
        entry_event(a, e);
    } else if ((e->kind == TURN_DELTA || e->kind == TURN_THINKING) && e->delta.entry_id &&
               *e->delta.entry_id) {
        item_place at = {e->turn, e->delta.entry_id, e->delta.part};
        part_open(a, e->kind == TURN_THINKING, &at);
        part_text(a, e->delta.text, e->delta.n);
    }
}
