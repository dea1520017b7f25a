/* SPDX-License-Identifier: Apache-2.0
 *
 * The kagent benchmark: the time of a fork through its API at any length of history, and the cost
 * of a task that the client sends again in full after every turn.
 */
#include "bench/suite.h"

#include "bench/ask.h"
#include "bench/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT 10
#define LONG 100000
#define TURNS 1000
#define TEXT_BYTES 1024

/* ----------------------------------------------------------------------- fork */

/* Loads n messages and n events, two of each per turn. */
static void session_load(ramet_call *c, const char *id, int n, words *w)
{
    enum { BATCH = 500 };
    static char texts[BATCH][ENTRY_BYTES + 1], turns[BATCH][32], names[BATCH][32];
    ramet_entry_in list[BATCH], events[BATCH];
    ramet_session *s;
    ramet_append_out out;
    must(c, ramet_session_create(c, &(ramet_session_in){.id = id}, &s), "create");
    for (int at = 0; at < n;) {
        size_t k = 0;
        for (; k < BATCH && at < n; k++, at++) {
            words_fill(w, texts[k], ENTRY_BYTES);
            snprintf(turns[k], sizeof turns[k], "t%d", at / 2);
            snprintf(names[k], sizeof names[k], "i%d", at / 2);
            list[k] = (ramet_entry_in){.role = at % 2 ? RAMET_ASSISTANT : RAMET_USER,
                                       .text = texts[k],
                                       .turn_id = turns[k],
                                       .invocation = names[k]};
            events[k] = (ramet_entry_in){
                .role = list[k].role, .format = "adk", .body = "{}", .turn_id = names[k]};
        }
        must(c, ramet_append(c, id, &(ramet_append_in){.entries = list, .n = k}, &out), "append");
        ramet_append_in adk = {.entries = events, .n = k, .log = RAMET_LOG_ADK};
        must(c, ramet_append(c, id, &adk, &out), "append");
        ramet_call_reset(c);
    }
}

static void fork_once(asker *c, const child *server, const char *session, int messages, sample *s)
{
    char path[128], body[128];
    snprintf(path, sizeof path, "/api/sessions/%s/fork", session);
    snprintf(body, sizeof body, "{\"rewind_before_invocation_id\":\"i%d\"}", messages / 4);
    double start = now_us();
    bench_ask(c, child_url(server, path), body, strlen(body), 201);
    sample_add(s, now_us() - start);
}

static void fork_row(bench *b)
{
    words w = {11};
    sample few = {0}, many = {0};
    int length = b->quick ? 5000 : LONG;
    ramet *store = scratch_open(b, "kagent.db");
    ramet_call *c = scratch_call(store);
    bench_note("a kagent session of %d messages", length);
    session_load(c, "short", SHORT, &w);
    session_load(c, "long", length, &w);
    ramet_call_free(c);
    ramet_close(store);
    child server = child_serve(b, "kagent.db", NULL);
    asker http = ask_new("X-User-Id: ann");
    for (int i = 0; i < (b->quick ? 30 : 400); i++) {
        fork_once(&http, &server, "short", SHORT, &few);
        fork_once(&http, &server, "long", length, &many);
    }
    report_row(b, "kagent_fork",
               "POST …/fork before an invocation, 100,000 messages against 10, p50",
               sample_at(&many, 0.5) / sample_at(&few, 0.5), "x", BAR_MOST, 1.2,
               "%.0f µs against %.0f µs; p99 %.0f and %.0f", sample_at(&many, 0.5),
               sample_at(&few, 0.5), sample_at(&many, 0.99), sample_at(&few, 0.99));
    ask_free(&http);
    child_end(&server);
    file_remove(scratch_path(b, "kagent.db"));
    sample_free(&few);
    sample_free(&many);
}

/* ---------------------------------------------------------------------- tasks */

/* Adds a message to a list; returns its bytes. */
static size_t message_add(buf *history, int turn, bool user, words *w)
{
    char text[TEXT_BYTES + 1];
    words_fill(w, text, TEXT_BYTES);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == '"' || *p == '\\')
            *p = ' ';
    if (history->n)
        buf_putc(history, ',');
    size_t before = history->n;
    buf_printf(history,
               "{\"kind\":\"message\",\"messageId\":\"%08x-0000-4000-8000-%012x\",\"role\":\"%s\","
               "\"parts\":[{\"kind\":\"text\",\"text\":\"%s\"}]",
               (unsigned)turn, (unsigned)user, user ? "user" : "agent", text);
    if (!user)
        buf_printf(
            history,
            ",\"metadata\":{\"kagent_invocation_id\":\"e-%08x-0000-4000-8000-000000000000\"}",
            (unsigned)turn);
    buf_putc(history, '}');
    return history->n - before;
}

static int64_t store_bytes(const bench *b, const char *name)
{
    char log[64];
    snprintf(log, sizeof log, "%s-wal", name);
    return file_bytes(scratch_path(b, name)) + file_bytes(scratch_path(b, log));
}

static void grow_rows(bench *b)
{
    words w = {12};
    buf history, body;
    double fresh = 0, whole = 0;
    int turns = b->quick ? 100 : TURNS;
    child server = child_serve(b, "grow.db", NULL);
    asker http = ask_new("X-User-Id: ann");
    child_end(&server);
    int64_t empty = store_bytes(b, "grow.db");
    server = child_serve(b, "grow.db", NULL);
    buf_init(&history, (size_t)64 << 20);
    buf_init(&body, (size_t)64 << 20);
    bench_note("a task that grows for %d turns", turns);
    double start = now_us();
    for (int i = 0; i < turns; i++) {
        fresh += (double)message_add(&history, i, true, &w);
        fresh += (double)message_add(&history, i, false, &w);
        buf_clear(&body);
        buf_printf(&body,
                   "{\"kind\":\"task\",\"id\":\"grow-task\",\"contextId\":\"grow\",\"status\":"
                   "{\"state\":\"completed\",\"timestamp\":\"2026-01-01T00:00:00.%06dZ\"},"
                   "\"history\":[%s]}",
                   i, history.data);
        bench_ask(&http, child_url(&server, "/api/tasks"), body.data, body.n, 201);
        whole += (double)body.n;
    }
    double took = (now_us() - start) / 1e6;
    child_end(&server);
    double stored = (double)(store_bytes(b, "grow.db") - empty);
    report_row(b, "kagent_tasks", "growing task upserts, bytes stored against the new messages",
               stored / fresh, "x", BAR_MOST, 1.5,
               "%d upserts, %.1f MB of messages, %.1f MB stored, %.1f s", turns, fresh / 1e6,
               stored / 1e6, took);
    report_row(b, "kagent_tasks_whole", "the same against storing each upsert whole",
               whole / stored, "x less", BAR_NONE, 0, "%.0f MB were sent", whole / 1e6);
    ask_free(&http);
    buf_release(&history);
    buf_release(&body);
    file_remove(scratch_path(b, "grow.db"));
}

void case_kagent(bench *b)
{
    fork_row(b);
    grow_rows(b);
}
