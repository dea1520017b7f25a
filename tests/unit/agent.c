/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.c: how agents are configured, what the openai agent sends (bytes that a fork shares with
 * its parent), and how it reads a stream, whole, in pieces and damaged. tests/server/agent.mjs runs
 * the agents against a provider.
 */
#include "agent/openai/openai.h"
#include "base/util.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ configuration */

static agents *made(const char *const *texts, size_t n, const char *deflt)
{
    char message[AGENT_MESSAGE] = "";
    agents *set = agents_new(texts, n, deflt, false, message);
    cr_assert(set, "%s", message);
    return set;
}

static void not_made(const char *text, const char *want)
{
    char message[AGENT_MESSAGE] = "";
    agents *set = agents_new(&text, 1, NULL, false, message);
    cr_expect(!set, "'%s' was taken", text);
    cr_expect(strstr(message, want), "'%s': '%s' is not in '%s'", text, want, message);
    agents_free(set);
}

Test(agent, echo_is_always_there)
{
    agents *set = made(NULL, 0, NULL);
    agent *const *list;
    cr_assert_eq(agents_list(set, &list), 1);
    cr_assert_str_eq(list[0]->name, "echo");
    cr_assert_eq(agents_find(set, NULL), list[0]);
    cr_assert_eq(agents_find(set, ""), list[0]);
    cr_assert_null(agents_find(set, "other"));
    agents_free(set);
}

Test(agent, the_first_configured_is_the_default)
{
    const char *texts[] = {"gpt=openai,url=http://h/v1/,model=m", " slow = echo , delay_ms=5"};
    agents *set = made(texts, 2, NULL);
    cr_assert_str_eq(agents_find(set, NULL)->name, "gpt");
    cr_assert_str_eq(agent_get(agents_find(set, "slow"), "delay_ms"), "5");
    cr_assert_null(agent_get(agents_find(set, "slow"), "model"));
    buf b;
    json_writer w;
    buf_init(&b, 4096);
    jw_init(&w, &b, 0);
    agents_write(set, &w);
    cr_assert_str_eq(
        b.data,
        "[{\"name\":\"gpt\",\"kind\":\"openai\",\"about\":\"a model behind an OpenAI-compatible "
        "chat "
        "endpoint\",\"default\":true,\"model\":\"m\"},{\"name\":\"slow\",\"kind\":\"echo\","
        "\"about\":\"repeats "
        "the message word by word; needs no model\",\"default\":false},{\"name\":\"echo\","
        "\"kind\":\"echo\",\"about\":\"repeats the message word by word; needs no model\","
        "\"default\":false}]");
    buf_release(&b);
    agents_free(set);
    set = made(texts, 2, "slow");
    cr_assert_str_eq(agents_find(set, "")->name, "slow");
    agents_free(set);
}

Test(agent, echo_can_be_configured)
{
    const char *text = "echo=echo,delay_ms=7";
    agents *set = made(&text, 1, NULL);
    agent *const *list;
    cr_assert_eq(agents_list(set, &list), 1);
    cr_assert_str_eq(agent_get(agents_find(set, NULL), "delay_ms"), "7");
    agents_free(set);
}

Test(agent, a_wrong_text_is_refused_by_name)
{
    static const char *const both[][2] = {
        {"", "NAME=KIND"},
        {"=echo", "NAME=KIND"},
        {"x", "NAME=KIND"},
        {"x=", "no kind ''"},
        {"x=echo,", "setting=value"},
        {"x=echo,delay_ms", "'delay_ms' is not setting=value"},
        {"x=echo,delay_ms=", "delay_ms is ''"},
        {"x=echo,delay_ms=1x", "delay_ms is '1x'"},
        {"x=echo,delay_ms=99999999999999999999", "delay_ms is"},
        {"x=echo,think='a'b", "the value of think"},
        {"x=echo,think=a\\", "the value of think"},
        {"x=echo;", "follows where a comma should"},
        {"x=echo,\xff=1", "UTF-8"},
        {"x=openai,url=http://h/v1?a=b,model=m", "url is 'http://h/v1?a=b'"},
        {"x=openai,url=http:///v1,model=m", "url is"},
        {"x=openai,url=http://h/v1,model=", "model is ''"},
        {"x=openai,url=http://h/v1,model=m,max_tokens=0", "max_tokens is '0'"},
        {"x=openai,url=http://h/v1,model=m,timeout_s=1e9", "timeout_s is '1e9'"},
        {"x=openai,url=http://h/v1,model=m,tool_calls=run", "tool_calls is 'run'"},
        {"x=openai,url=http://h/v1,model=m,key=$", "the environment has no"},
    };
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        not_made(both[i][0], both[i][1]);
}

Test(agent, any_text_is_taken_or_refused)
{
    static const char alphabet[] = "ab=,'\"\\ $1{}echo\n";
    unsigned seed = 1;
    for (int i = 0; i < 20000; i++) {
        char text[48] = "x=echo,think=";
        size_t n = 13 + (size_t)rand_r(&seed) % 30;
        for (size_t at = i % 3 ? 13 : 0; at < n; at++)
            text[at] = alphabet[(size_t)rand_r(&seed) % (sizeof alphabet - 1)];
        char message[AGENT_MESSAGE] = "";
        const char *one = text;
        agents *set = agents_new(&one, 1, NULL, false, message);
        cr_assert(set || *message);
        agents_free(set);
    }
}

Test(agent, a_message_is_cut_to_whole_characters)
{
    agent_result r;
    char text[600];
    for (size_t pad = 0; pad < 4; pad++) {
        memset(text, 'x', pad);
        text[pad] = 0;
        for (size_t i = pad; i + 4 < sizeof text; i += 4)
            memcpy(text + i, "\xf0\x9f\x8c\xb1", 5);
        agent_fail(&r, "%s", text);
        cr_assert_eq(r.end, AGENT_FAILED);
        cr_assert(utf8_valid(r.message, strlen(r.message)));
        cr_assert_geq(strlen(r.message), 505);
    }
    agent_fail(&r, "a\xff%s", "b is not quite UTF-8");
    cr_assert_str_eq(r.message, "a?b is not quite UTF-8");
}

/* ------------------------------------------------------------------ requests */

static const openai_settings plain = {.model = "m",
                                      .key = "",
                                      .system = "",
                                      .temperature = "",
                                      .max_tokens = "",
                                      .cache_field = "prompt_cache_key",
                                      .extra = "{}",
                                      .usage = true};

static char *request(const ramet_entry *history, size_t n)
{
    agent_turn t = {.turn_id = "turn-secret", .history = history, .n = n, .cache_key = "root"};
    buf b;
    cr_assert(openai_request(&plain, &t, NULL, &b));
    char *out = xstrdup(b.data);
    arena *a = arena_new();
    json_doc d;
    cr_assert(json_parse(a, out, strlen(out), 0, &d, NULL));
    arena_free(a);
    buf_release(&b);
    return out;
}

/* An entry by dice, whose ids, times and hash differ each time. */
static ramet_entry entry_any(arena *a, unsigned *seed, int kind)
{
    static const char *const parts[] = {
        "[{\"type\":\"text\",\"text\":\"w%d\"}]",
        "[{\"type\":\"thinking\",\"text\":\"h%d\"},{\"type\":\"text\",\"text\":\"b\"}]",
        "[{\"type\":\"tool_call\",\"id\":\"c%d\",\"name\":\"look\",\"input\":{\"a\":1.50}}]",
        "[{\"type\":\"tool_result\",\"id\":\"c%d\",\"output\":\"o\"}]",
        "[{\"type\":\"file\",\"url\":\"https://x.org/%d.png\"}]",
        "[{\"type\":\"data\",\"data\":[%d]}]",
        "[]"};
    static const ramet_role roles[] = {RAMET_ASSISTANT, RAMET_ASSISTANT, RAMET_ASSISTANT,
                                       RAMET_TOOL,      RAMET_USER,      RAMET_SYSTEM,
                                       RAMET_USER};
    int number = kind / 7 % 4;
    kind %= 7;
    char *text = arena_alloc(a, 200);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(text, 200, parts[kind], number);
#pragma GCC diagnostic pop
    return (ramet_entry){.id = arena_printf(a, "SECRET-%d", rand_r(seed)),
                         .turn_id = "SECRET-turn",
                         .author = "SECRET-author",
                         .position = rand_r(seed),
                         .created = rand_r(seed),
                         .role = roles[kind],
                         .text = "",
                         .parts = text};
}

static ramet_entry user_says(const char *text)
{
    return (ramet_entry){.id = "SECRET", .role = RAMET_USER, .text = text};
}

static size_t shared(const char *a, const char *b)
{
    size_t n = 0;
    while (a[n] && a[n] == b[n])
        n++;
    return n;
}

Test(agent, a_fork_sends_the_same_bytes_up_to_the_fork)
{
    unsigned seed = 3;
    for (int round = 0; round < 2000; round++) {
        arena *a = arena_new();
        ramet_entry one[24], two[24];
        size_t n = 1 + (size_t)rand_r(&seed) % 10, more = (size_t)rand_r(&seed) % 10;
        for (size_t i = 0; i < n; i++) {
            int kind = rand_r(&seed);
            one[i] = entry_any(a, &seed, kind);
            two[i] = entry_any(a, &seed, kind);
        }
        one[n - 1] = two[n - 1] = user_says("here");
        for (size_t i = n; i < n + more; i++) {
            one[i] = entry_any(a, &seed, rand_r(&seed));
            two[i] = entry_any(a, &seed, rand_r(&seed));
        }
        char *start = request(one, n), *same = request(two, n);
        char *left = request(one, n + more), *right = request(two, n + more);
        cr_assert_str_eq(start, same);
        cr_assert_geq(shared(left, start), strlen(start) - 2);
        cr_assert_geq(shared(right, left), strlen(start) - 2);
        cr_assert(!strstr(left, "SECRET") && !strstr(left, "secret"));
        free(start);
        free(same);
        free(left);
        free(right);
        arena_free(a);
    }
}

Test(agent, an_answer_grows_only_at_its_end)
{
    ramet_entry h[] = {
        user_says("q"),
        {.role = RAMET_ASSISTANT, .parts = "[{\"type\":\"text\",\"text\":\"a\"}]"},
        {.role = RAMET_ASSISTANT,
         .parts = "[{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}]"},
        {.role = RAMET_TOOL,
         .parts = "[{\"type\":\"tool_result\",\"id\":\"c\",\"output\":[1, 2.0]}]"},
        {.role = RAMET_ASSISTANT, .text = "b"},
        user_says("r")};
    char *all = request(h, 6);
    cr_assert_str_eq(
        strstr(all, "\"messages\""),
        "\"messages\":[{\"role\":\"user\",\"content\":\"q\"},{\"role\":\"assistant\",\"content\":"
        "\"a\",\"tool_calls\":[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\","
        "\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"c\",\"content\":\"[1, "
        "2.0]\"},{\"role\":\"assistant\",\"content\":\"b\"},{\"role\":\"user\",\"content\":\"r\"}]"
        "}");
    char *cut = request(h, 2);
    cr_assert_geq(shared(all, cut), strlen(cut) - 3);
    free(cut);
    free(all);
}

Test(agent, a_long_cache_key_is_hashed)
{
    char key[256];
    memset(key, 'k', 255);
    key[255] = 0;
    agent_turn t = {.cache_key = key};
    buf b;
    cr_assert(openai_request(&plain, &t, NULL, &b));
    cr_assert_null(strstr(b.data, "kkk"));
    const char *at = strstr(b.data, "\"prompt_cache_key\":\"");
    cr_assert(at && strcspn(at + 20, "\"") == 64);
    buf_release(&b);
}

/* ------------------------------------------------------------------ streams */

typedef struct heard {
    buf text;
    int64_t stop_after; /* calls; -1: never */
    ramet_usage usage;
} heard;

static bool hear(void *arg, const char *mark, const char *text, size_t n)
{
    heard *h = arg;
    if (h->stop_after == 0)
        return false;
    h->stop_after -= h->stop_after > 0;
    cr_assert(utf8_valid(text, n) && !memchr(text, 0, n));
    buf_puts(&h->text, mark);
    buf_add(&h->text, text, n);
    return true;
}

static bool hear_delta(void *arg, const char *text, size_t n)
{
    return hear(arg, "", text, n);
}

static bool hear_thinking(void *arg, const char *text, size_t n)
{
    return hear(arg, "~", text, n);
}

static bool hear_call(void *arg, const char *id, const char *name, const char *input)
{
    arena *a = arena_new();
    json_doc d;
    cr_assert(*id && *name);
    cr_assert(json_parse(a, input, strlen(input), 0, &d, NULL) && !d.nodes[0].has_nul);
    arena_free(a);
    return hear(arg, "|", name, strlen(name)) && hear(arg, " ", input, strlen(input));
}

static bool hear_cancelled(void *arg)
{
    return ((heard *)arg)->stop_after == 0;
}

/* Reads a stream in pieces of that many bytes (0: by dice); gives what was heard and how it ended,
 * "text [message]". */
static const char *stream_read(arena *a, const char *bytes, size_t n, size_t piece, unsigned *seed,
                               int64_t stop_after)
{
    heard h = {.stop_after = stop_after};
    buf_init(&h.text, 64 << 20);
    agent_sink s = {.delta = hear_delta,
                    .thinking = hear_thinking,
                    .tool_call = hear_call,
                    .cancelled = hear_cancelled,
                    .arg = &h};
    openai_stream *st = xcalloc(1, sizeof *st);
    openai_stream_init(st, &s);
    for (size_t i = 0; i < n;) {
        size_t step = piece ? piece : 1 + (size_t)rand_r(seed) % 40;
        step = step > n - i ? n - i : step;
        if (!openai_stream_add(st, bytes + i, step))
            break;
        i += step;
    }
    agent_result r;
    openai_stream_end(st, NULL, &r);
    const char *out = arena_printf(a, "%s [%s]", h.text.data,
                                   r.end == AGENT_DONE        ? "done"
                                   : r.end == AGENT_CANCELLED ? "cancelled"
                                                              : r.message);
    openai_stream_release(st);
    free(st);
    buf_release(&h.text);
    return out;
}

static void reads(const char *bytes, const char *want)
{
    arena *a = arena_new();
    size_t n = strlen(bytes);
    for (size_t piece = 1; piece <= n; piece = piece < 9 ? piece + 1 : piece * 2) {
        const char *got = stream_read(a, bytes, n, piece, NULL, -1);
        cr_expect_str_eq(got, want, "by %zu: '%s', not '%s'", piece, got, want);
    }
    cr_expect_str_eq(stream_read(a, bytes, n, n ? n : 1, NULL, -1), want);
    arena_free(a);
}

#define D(delta) "data: {\"choices\":[{\"index\":0,\"delta\":{" delta "}}]}\n\n"
#define STOP "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define SAY(text) D("\"content\":\"" text "\"")

Test(agent, streams_are_read_in_any_pieces)
{
    reads(SAY("a ") SAY("b") STOP DONE, "a b [done]");
    reads(SAY("a") STOP, "a [done]");
    reads(SAY("a") DONE, "a [done]");
    reads(SAY("a") DONE SAY("never"), "a [done]");
    reads(SAY("a"), "a [the stream ended early]");
    reads("", " [the stream ended early]");
    reads("data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\rdata:[DONE]\r\r", "a [done]");
    reads(": hi\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n" STOP, "a [done]");
    reads("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}",
          "a [done]");
    reads(D("\"reasoning_content\":\"h\",\"reasoning\":\"h\"") SAY("a") STOP, "~ha [done]");
    reads(D("\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"h\"}]}"
            ",{\"type\":\"text\",\"text\":\"a\"}]") STOP,
          "~ha [done]");
    reads("data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"},\"finish_reason\":"
          "\"stop\"},{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n",
          "a [the stream ended early]");
    reads(D("\"content\":null,\"refusal\":\"no\"") STOP, "no [done]");
}

Test(agent, calls_are_gathered)
{
    reads(D("\"tool_calls\":[{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"g\"}}]")
              D("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\","
                "\"arguments\":\"{\\\"x\\\":\"}}]")
                  D("\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"1}\"}}]") STOP,
          "|g {}|f {\"x\":1} [done]");
    /* Without an index, whole, as some servers have it; and arguments that are an object. */
    reads(D("\"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":{\"x\":1}}},"
            "{\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":\"[1\"}}]") STOP,
          "|f {\"x\":1}|g \"[1\" [done]");
    /* Half of a call is none. */
    reads(D("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\"}}]"),
          " [the stream ended early]");
    reads(D("\"tool_calls\":[{\"index\":0},7,null,{\"index\":\"x\"}]") STOP, "|unnamed {} [done]");
}

Test(agent, halves_of_characters_do_no_harm)
{
    reads(SAY("a\\ud83c") SAY("\\udf31b") STOP, "a\xef\xbf\xbd\xef\xbf\xbd"
                                                "b [done]");
    reads(SAY("\\ud83c\\udf31\\u0000") STOP, "\xf0\x9f\x8c\xb1\xef\xbf\xbd [done]");
    reads(SAY("a\xf0\x9f") SAY("\x8c\xb1") STOP,
          "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd [done]");
    reads(SAY("\\\\ud83c") STOP, "\\ud83c [done]");
}

Test(agent, damage_is_not_passed_over)
{
    reads(SAY("a") "data: {\"choices\":[\n\n" SAY("b") STOP DONE,
          "ab [1 chunk of the stream could not be read: words may be missing]");
    reads(SAY("a") "data: ping\n\ndata: 7\n\nwhat\n\nevent: x\n\n" STOP DONE, "a [done]");
    reads(SAY("a") "data: {\"error\":{\"message\":\"full\"}}\n\n" SAY("b"),
          "a [the provider stopped with an error: full]");
    reads(SAY("a") "error: {\"error\":\"full\"}\n\n",
          "a [the provider stopped with an error: full]");
    reads("data: {\"choices\":[{\"finish_reason\":\"length\"}]}\n\n",
          " [the answer reached the limit of tokens]");
}

Test(agent, a_stream_is_bounded)
{
    arena *a = arena_new();
    buf b;
    buf_init(&b, 64 << 20);
    buf_puts(&b, "data: {");
    buf_pad(&b, 'x', 2 << 20);
    cr_assert_str_eq(stream_read(a, b.data, b.n, 4096, NULL, -1),
                     " [a line of the stream is over 1 MiB]");
    buf_clear(&b);
    for (int i = 0; i < 34; i++) {
        buf_puts(&b, "data: {\"choices\":[{\"delta\":{\"reasoning\":\"");
        buf_pad(&b, 'x', 500 << 10);
        buf_puts(&b, "\"}}]}\n");
    }
    cr_assert(strstr(stream_read(a, b.data, b.n, 65536, NULL, -1), "[the answer is over 16 MiB]"));
    buf_clear(&b);
    for (int i = 0; i < 200; i++)
        buf_printf(&b, D("\"tool_calls\":[{\"index\":%d}]"), i);
    cr_assert(strstr(stream_read(a, b.data, b.n, 512, NULL, -1), "over 128 calls"));
    buf_release(&b);
    arena_free(a);
}

static const char everything[] =
    ": x\n\n" SAY("one \\u00e9\\ud83c\\udf31") D("\"reasoning\":\"hm\"")
        D("\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":"
          "\"{}\"}}]") STOP "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,"
                            "\"completion_tokens\":1e3,\"cost\":0.5,\"prompt_tokens_details\":{"
                            "\"cached_tokens\":4}}}\r\n\r\n" DONE;

Test(agent, a_stream_can_be_stopped_at_every_call)
{
    arena *a = arena_new();
    for (int64_t n = 0; n < 4; n++)
        cr_expect(
            strstr(stream_read(a, everything, sizeof everything - 1, 7, NULL, n), "[cancelled]"));
    cr_expect(strstr(stream_read(a, everything, sizeof everything - 1, 7, NULL, 9), "[done]"));
    arena_free(a);
}

Test(agent, rubbish_in_a_stream_does_no_harm)
{
    unsigned seed = 11;
    for (int i = 0; i < 20000; i++) {
        arena *a = arena_new();
        char bytes[sizeof everything];
        size_t n = sizeof everything - 1;
        memcpy(bytes, everything, sizeof everything);
        for (int k = rand_r(&seed) % 6; k >= 0; k--) {
            size_t at = (size_t)rand_r(&seed) % n;
            if (rand_r(&seed) % 3)
                bytes[at] = (char)rand_r(&seed);
            else
                memmove(bytes + at, bytes + (size_t)rand_r(&seed) % n / 2, n / 2 - at / 2);
        }
        cr_assert(stream_read(a, bytes, n, 0, &seed, -1));
        arena_free(a);
    }
}

Test(agent, a_provider_s_error_is_read)
{
    static const char *const both[][2] = {{"{\"error\":{\"message\":\"no\",\"code\":1}}", "no"},
                                          {"{\"error\":\"no\"}", "no"},
                                          {"{\"message\":\"no\"}", "no"},
                                          {"{\"detail\":\"no\"}", "no"},
                                          {"[{\"error\":{\"message\":\"no\"}}]", "no"},
                                          {"  busy \n really", "busy"},
                                          {"<html>", NULL},
                                          {"{}", NULL},
                                          {"[]", NULL},
                                          {"", NULL},
                                          {"\xff", NULL}};
    arena *a = arena_new();
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        const char *got = openai_error_text(a, both[i][0], strlen(both[i][0]));
        cr_expect(both[i][1] ? got && strcmp(got, both[i][1]) == 0 : !got, "%s: %s", both[i][0],
                  got ? got : "NULL");
    }
    arena_free(a);
}
