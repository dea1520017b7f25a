/* SPDX-License-Identifier: Apache-2.0
 *
 * A new chat from a long template, against one from a short template; and a page of what it shows.
 */
#include "bench/suite.h"

#include "ramet/templates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG_PATH 100000
#define SHORT_PATH 10

static const char *const names[] = {"client", "product", "month"};
#define NAMES (sizeof names / sizeof *names)

static char *template_of(ramet_call *c, const char *session)
{
    ramet_template *t;
    ramet_append_out out;
    ramet_entry_in last = {.role = RAMET_USER, .text = "{{client}} buys {{product}} in {{month}}"};
    ramet_append_in in = {.entries = &last, .n = 1};
    must(c, ramet_append(c, session, &in, &out), "append");
    must(c,
         ramet_template_add(c,
                            &(ramet_template_in){.session = session,
                                                 .name = "bench",
                                                 .placeholders = names,
                                                 .n_placeholders = NAMES},
                            &t),
         "template");
    char *id = strdup(t->id);
    ramet_call_reset(c);
    return id;
}

static double chat_us(ramet_call *c, const char *template_id, char *made)
{
    ramet_session *s;
    ramet_template_value values[NAMES];
    for (size_t i = 0; i < NAMES; i++)
        values[i] = (ramet_template_value){names[i], "a value of some words"};
    ramet_template_use use = {.values = values, .n_values = NAMES};
    double start = now_us();
    must(c, ramet_template_chat(c, template_id, &use, &s), "chat");
    double took = now_us() - start;
    snprintf(made, 64, "%s", s->id);
    ramet_call_reset(c);
    return took;
}

static double page_us(ramet_call *c, const char *session)
{
    ramet_page page;
    double start = now_us();
    must(c, ramet_read(c, session, &(ramet_read_in){.tail = true, .limit = 50}, &page), "read");
    double took = now_us() - start;
    ramet_call_reset(c);
    return took;
}

static void row(bench *b, const char *name, const char *what, sample *a, sample *against,
                double most)
{
    report_row(b, name, what, sample_at(a, 0.5) / sample_at(against, 0.5), "x", BAR_MOST, most,
               "median %.0f us against %.0f us", sample_at(a, 0.5), sample_at(against, 0.5));
    report_number(b, "us", sample_at(a, 0.5));
    report_number(b, "against_us", sample_at(against, 0.5));
    sample_free(a);
    sample_free(against);
}

void case_templates(bench *b)
{
    words w = {23};
    ramet *store = scratch_open(b, "templates.db");
    ramet_call *c = scratch_call(store);
    const char *long_one = scratch_session(c), *short_one = scratch_session(c);
    char chat[64], other[64];
    bench_note("%d entries and %d", LONG_PATH, SHORT_PATH);
    scratch_load(c, long_one, LONG_PATH, &w);
    scratch_load(c, short_one, SHORT_PATH, &w);
    char *from_long = template_of(c, long_one), *from_short = template_of(c, short_one);
    sample times[2] = {{0}}, pages[2] = {{0}};
    for (int i = 0; i < (b->quick ? 100 : 1000); i++) {
        sample_add(&times[0], chat_us(c, from_long, chat));
        sample_add(&times[1], chat_us(c, from_short, other));
    }
    for (int i = 0; i < (b->quick ? 100 : 1000); i++) {
        sample_add(&pages[0], page_us(c, chat));
        sample_add(&pages[1], page_us(c, long_one));
    }
    row(b, "template", "a new chat from a template with 100,000 entries against one with 10",
        &times[0], &times[1], 1.2);
    row(b, "template_page", "last 50 entries of a chat with values against its template's",
        &pages[0], &pages[1], 1.5);
    free((char *)long_one);
    free((char *)short_one);
    free(from_long);
    free(from_short);
    ramet_call_free(c);
    ramet_close(store);
    file_remove(scratch_path(b, "templates.db"));
}
