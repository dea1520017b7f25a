/* SPDX-License-Identifier: Apache-2.0
 *
 * ask.c: the answer of an agent in the words of the toy protocol: a line for each piece of text.
 */
#include "face/toy/toy.h"

/* Depends on the event alone (no state), so that streams with the same events share its bytes. */
static bool line_write(void *arg, const turn_event *e, buf *out)
{
    json_writer w;
    (void)arg;
    if (e->kind != TURN_DELTA && e->kind != TURN_ENDED)
        return true;
    buf_puts(out, e->kind == TURN_DELTA ? "+ " : ". ");
    jw_init(&w, out, 0);
    if (e->kind == TURN_DELTA)
        jw_strn(&w, e->delta.text, e->delta.n);
    else
        jw_str(&w, ramet_turn_status_name(e->ended.status));
    buf_putc(out, '\n');
    return e->kind != TURN_ENDED;
}

void toy_ask(request *q)
{
    ramet_entry_in question = {.role = RAMET_USER, .text = face_text(q, "text")};
    turn_request in = {.session = face_path(q, "name"), .turn = {.entries = &question, .n = 1}};
    turn_batch batch = {.items = &in, .n = 1};
    turn_listener lines = {.content_type = "text/plain; charset=utf-8", .event = line_write};
    turn_error err;
    if (face_call(q) && !turns_run(q->host->turns, q, &batch, &lines, &err))
        request_error(q, &err.error);
}
