/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory-service benchmark: the time of an append that makes a fork, at any length of the
 * parent, and of a page that crosses many forks.
 */
#include "bench/suite.h"

#include "bench/ask.h"
#include "bench/child.h"

#include <stdio.h>
#include <string.h>

#define SHORT 10
#define LONG 100000
#define NESTED 100

/* ----------------------------------------------------------------------- fork */

typedef struct parent {
    const char *id;
    char anchor[64]; /* an entry in the middle of the parent */
    sample took;
} parent;

static void parent_load(ramet_call *c, parent *p, int64_t n, words *w)
{
    ramet_page page;
    p->id = scratch_session(c);
    scratch_load(c, p->id, n, w);
    ramet_read_in in = {.by_position = true, .position = n / 2, .limit = 1};
    must(c, ramet_read(c, p->id, &in, &page), "read");
    snprintf(p->anchor, sizeof p->anchor, "%s", page.entries[0].id);
    ramet_call_reset(c);
}

static void fork_once(asker *a, const child *server, parent *p, int i)
{
    char path[160], body[512];
    snprintf(path, sizeof path, "/v1/conversations/%.60s-f%d/entries", p->id, i);
    int n = snprintf(body, sizeof body,
                     "{\"channel\":\"history\",\"contentType\":\"history\",\"content\":[{\"role\":"
                     "\"USER\",\"text\":\"another way\"}],\"forkedAtConversationId\":\"%s\","
                     "\"forkedAtEntryId\":\"%s\"}",
                     p->id, p->anchor);
    double start = now_us();
    bench_ask(a, child_url(server, path), body, (size_t)n, 201);
    sample_add(&p->took, now_us() - start);
}

static void fork_row(bench *b)
{
    words w = {21};
    parent few = {0}, many = {0};
    ramet *store = scratch_open(b, "memory.db");
    ramet_call *c = scratch_call(store);
    int64_t length = b->quick ? 5000 : LONG;
    bench_note("a conversation of %lld entries", (long long)length);
    parent_load(c, &few, SHORT, &w);
    parent_load(c, &many, length, &w);
    ramet_call_free(c);
    ramet_close(store);
    child server = child_serve(b, "memory.db", NULL);
    asker http = ask_new("Authorization: Bearer ann");
    for (int i = 0; i < (b->quick ? 30 : 400); i++) {
        fork_once(&http, &server, &few, i);
        fork_once(&http, &server, &many, i);
    }
    double fast = sample_at(&few.took, 0.5), slow = sample_at(&many.took, 0.5);
    report_row(b, "memory_fork",
               "POST …/entries that makes a fork (memory-service), 100,000 entries against 10, p50",
               slow / fast, "x", BAR_MOST, 1.2, "%.0f µs against %.0f µs; p99 %.0f and %.0f", slow,
               fast, sample_at(&many.took, 0.99), sample_at(&few.took, 0.99));
    ask_free(&http);
    child_end(&server);
    file_remove(scratch_path(b, "memory.db"));
    sample_free(&few.took);
    sample_free(&many.took);
}

/* ---------------------------------------------------------------------- pages */

static void page_once(asker *a, const child *server, const char *id, sample *s)
{
    char path[160];
    snprintf(path, sizeof path, "/v1/conversations/%.60s/entries?tail=true&limit=%d", id, NESTED);
    double start = now_us();
    bench_ask(a, child_url(server, path), NULL, 0, 200);
    sample_add(s, now_us() - start);
}

static void page_row(bench *b)
{
    words w = {22};
    sample through = {0}, flat = {0};
    ramet *store = scratch_open(b, "nested.db");
    ramet_call *c = scratch_call(store);
    const char *plain = scratch_session(c), *deep = scratch_session(c);
    scratch_load(c, plain, NESTED, &w);
    scratch_load(c, deep, 1, &w);
    for (int i = 1; i < NESTED; i++) {
        deep = scratch_fork(c, deep);
        scratch_load(c, deep, 1, &w);
    }
    ramet_call_free(c);
    ramet_close(store);
    child server = child_serve(b, "nested.db", NULL);
    asker http = ask_new("Authorization: Bearer ann");
    for (int i = 0; i < (b->quick ? 30 : 400); i++) {
        page_once(&http, &server, plain, &flat);
        page_once(&http, &server, deep, &through);
    }
    double slow = sample_at(&through, 0.5), fast = sample_at(&flat, 0.5);
    report_row(b, "memory_page",
               "a page of 100 entries through 100 nested forks (memory-service) against a flat one",
               slow / fast, "x", BAR_MOST, 2, "%.0f µs against %.0f µs", slow, fast);
    ask_free(&http);
    child_end(&server);
    file_remove(scratch_path(b, "nested.db"));
    sample_free(&through);
    sample_free(&flat);
}

void case_memory(bench *b)
{
    fork_row(b);
    page_row(b);
}
