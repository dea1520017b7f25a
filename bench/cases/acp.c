/* SPDX-License-Identifier: Apache-2.0
 *
 * The ACP benchmark: the time that the proxy adds to a message. The agent is `cat`: every line that
 * the editor sends comes back as if the agent had written it, so the editor plays both parts. A
 * chunk of an answer passes through the proxy to the agent and back, and is recorded; the baseline
 * is the same line through `cat` alone. Both directions together must stay below the bar for one
 * message.
 */
#include "bench/suite.h"

#include "base/child.h"
#include "base/lines.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

enum { LINE_MOST = 1 << 20, TURN = 1000, CHUNK = 120, WAIT_MS = 10000 };

typedef struct pipe_end {
    child child;
    lines_in in;
    lines_out out;
} pipe_end;

static void end_open(pipe_end *e, const char *const *argv)
{
    if (!child_start(&e->child, (char *const *)argv, NULL))
        bench_die("'%s' cannot be started", argv[0]);
    lines_in_init(&e->in, e->child.out, LINE_MOST);
    lines_out_init(&e->out, e->child.in);
}

static void end_close(pipe_end *e)
{
    child_stop(&e->child, 5000, 3000);
    lines_in_release(&e->in);
    lines_out_release(&e->out);
}

static void say(pipe_end *e, const char *line)
{
    lines_add(&e->out, line, strlen(line));
    lines_end(&e->out);
}

/* Reads until a line contains the mark. */
static void expect(pipe_end *e, const char *mark)
{
    char *line;
    size_t n;
    for (;;) {
        while (lines_next(&e->in, &line, &n) == LINE_WHOLE)
            if (strstr(line, mark))
                return;
        struct pollfd f = {.fd = e->in.fd, .events = POLLIN};
        if (e->in.ended || poll(&f, 1, WAIT_MS) <= 0)
            bench_die("no line with %s arrived", mark);
        lines_read(&e->in);
    }
}

/* The time of one round trip, in microseconds. */
static double round_us(pipe_end *e, const char *line, const char *mark)
{
    double begun = now_us();
    say(e, line);
    expect(e, mark);
    return now_us() - begun;
}

/* Sends a request and waits until the agent has echoed it; with `result`, does the same with the
 * response. */
static void ask(pipe_end *e, int id, const char *method, const char *params, const char *result)
{
    char line[512], mark[64];
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":%s}",
             id, method, params);
    round_us(e, line, method);
    if (!result)
        return;
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}", id, result);
    snprintf(mark, sizeof mark, "\"id\":%d,\"result\"", id);
    round_us(e, line, mark);
}

static void turn_begin(pipe_end *e, int id)
{
    ask(e, id, "session/prompt",
        "{\"sessionId\":\"bench\",\"prompt\":[{\"type\":\"text\",\"text\":\"go on\"}]}", NULL);
}

static void turn_end(pipe_end *e, int id)
{
    char line[128], mark[64];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"stopReason\":\"end_turn\"}}", id);
    snprintf(mark, sizeof mark, "\"id\":%d,\"result\"", id);
    round_us(e, line, mark);
}

/* Makes a chunk of the agent's answer; `mark` occurs in it and in no other chunk. */
static void chunk_make(words *w, int i, char mark[32], char line[512])
{
    char text[CHUNK + 1];
    words_fill(w, text, CHUNK);
    for (char *p = text; (p = strchr(p, '\n'));)
        *p = ' ';
    snprintf(mark, 32, "chunk %d ", i);
    snprintf(line, 512,
             "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":"
             "\"bench\",\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{"
             "\"type\":\"text\",\"text\":\"%s%s\"}}}}",
             mark, text);
}

void case_acp(bench *b)
{
    char line[512], mark[32];
    const char *alone[] = {"cat", NULL};
    const char *proxied[] = {b->program, "acp", "--db", scratch_path(b, "acp.db"), "--name", "cat",
                             "--",       "cat", NULL};
    sample direct = {0}, through = {0};
    words w = {.seed = 9};
    pipe_end one, two;
    int n = b->quick ? 2 * TURN : 10 * TURN;
    end_open(&one, alone);
    end_open(&two, proxied);
    ask(&two, 1, "initialize", "{\"protocolVersion\":1}",
        "{\"protocolVersion\":1,\"agentCapabilities\":{}}");
    ask(&two, 2, "session/new", "{\"cwd\":\"/\",\"mcpServers\":[]}", "{\"sessionId\":\"bench\"}");
    for (int i = 0; i < n; i++) {
        if (i % TURN == 0)
            turn_begin(&two, 10 + i / TURN);
        chunk_make(&w, i, mark, line);
        sample_add(&direct, round_us(&one, line, mark));
        sample_add(&through, round_us(&two, line, mark));
        if (i % TURN == TURN - 1)
            turn_end(&two, 10 + i / TURN);
    }
    end_close(&one);
    end_close(&two);
    double added = sample_at(&through, 0.99) - sample_at(&direct, 0.99);
    report_row(b, "acp_message_p99",
               "ACP: a message there and one back through ramet acp, recorded, against a pipe, p99 "
               "added",
               added / 1000, "ms", BAR_MOST, 1,
               "p50 %.0f us and %.0f us, p99 %.0f us and %.0f us, %d chunks in %d turns",
               sample_at(&through, 0.5), sample_at(&direct, 0.5), sample_at(&through, 0.99),
               sample_at(&direct, 0.99), n, n / TURN);
    sample_free(&direct);
    sample_free(&through);
    file_remove(scratch_path(b, "acp.db"));
}
