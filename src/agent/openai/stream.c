/* SPDX-License-Identifier: Apache-2.0
 *
 * stream.c: reads the events of a streamed chat completion.
 *
 * The server is not trusted: lines, calls and the answer are bounded, and any input leaves the
 * answer either complete or marked as failed. A line that is not an event (a comment, a keep-alive)
 * is skipped. A chunk that cannot be parsed may have contained text: reading continues, but the
 * answer is no longer complete.
 */
#include "agent/openai/openai.h"

#include "base/util.h"

#include <string.h>

enum { CHUNK_DEPTH = 64 };

void openai_stream_init(openai_stream *st, const agent_sink *s)
{
    *st = (openai_stream){.arena = arena_new(), .scratch = arena_new(), .sink = s};
    buf_init(&st->line, OPENAI_LINE_BYTES);
    buf_init(&st->text, OPENAI_ANSWER_BYTES);
}

void openai_stream_release(openai_stream *st)
{
    for (size_t i = 0; i < st->n_calls; i++)
        buf_release(&st->calls[i].arguments);
    buf_release(&st->line);
    buf_release(&st->text);
    arena_free(st->scratch);
    arena_free(st->arena);
}

/* ------------------------------------------------------------------ JSON that is nearly JSON */

/* Servers split a model's text between tokens, so a character may arrive as two halves. Each half
 * becomes U+FFFD. */
static const char *line_repair(arena *a, const char *s, size_t n)
{
    buf b;
    buf_init(&b, 4 * n + 16);
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t step = utf8_next(s + i, n - i, &cp);
        if (s[i] == '\\') {
            step = json_escape(s + i, n - i, &cp);
            bool bad = !cp || JSON_HALF(cp);
            buf_add(&b, bad ? "\\ufffd" : s + i, bad ? 6 : step);
        } else if (step) {
            buf_add(&b, s + i, step);
        } else {
            buf_puts(&b, "\xef\xbf\xbd");
        }
        i += step ? step : 1;
    }
    return buf_keep(&b, a);
}

static bool chunk_parse(arena *a, const char *s, size_t n, json_doc *d)
{
    if (json_parse(a, s, n, CHUNK_DEPTH, d, NULL) && !d->nodes[0].has_nul)
        return json_is(&d->nodes[0], JSON_OBJECT);
    const char *again = line_repair(a, s, n);
    return json_parse(a, again, strlen(again), CHUNK_DEPTH, d, NULL) && !d->nodes[0].has_nul &&
           json_is(&d->nodes[0], JSON_OBJECT);
}

/* ------------------------------------------------------------------ words */

static bool answer_room(openai_stream *st, size_t n)
{
    st->answer_bytes += n;
    if (st->answer_bytes <= OPENAI_ANSWER_BYTES)
        return true;
    st->error = "the answer is over 16 MiB";
    return false;
}

static bool text_emit(openai_stream *st, const char *text, bool thought)
{
    size_t n = strlen(text);
    if (!n)
        return true;
    if (!answer_room(st, n))
        return false;
    if (!thought)
        buf_add(&st->text, text, n);
    bool on = thought ? st->sink->thinking(st->sink->arg, text, n)
                      : st->sink->delta(st->sink->arg, text, n);
    st->cancelled = !on;
    return on;
}

/* Reads a string, or a list of parts {type, text} as some servers send it; thoughts may nest in
 * it. */
static bool content_read(openai_stream *st, const json_doc *d, const json_node *v, bool thought)
{
    if (json_is(v, JSON_STRING))
        return text_emit(st, json_text(st->scratch, d, v), thought);
    if (!json_is(v, JSON_ARRAY))
        return true;
    for (const json_node *n = json_first(d, v); n; n = json_next(d, v, n)) {
        const json_node *inner = json_get(d, n, "thinking");
        if (!(inner ? content_read(st, d, inner, true)
                    : content_read(st, d, json_get(d, n, "text"), thought)))
            return false;
    }
    return true;
}

/* Servers use several names for thinking; one that sends two of them repeats the text. */
static bool thinking_read(openai_stream *st, const json_doc *d, const json_node *delta)
{
    static const char *const names[] = {"reasoning_content", "reasoning"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = json_text(st->scratch, d, json_get(d, delta, names[i]));
        if (text && *text)
            return text_emit(st, text, true);
    }
    return true;
}

/* ------------------------------------------------------------------ calls */

/* The call that a piece belongs to: by its index, otherwise by its id, otherwise the last one. */
static openai_call *call_find(openai_stream *st, bool indexed, int64_t index, const char *id)
{
    openai_call *last = st->n_calls ? &st->calls[st->n_calls - 1] : NULL;
    if (!indexed && last && (!id || !*id || strcmp(last->id, id) == 0))
        return last;
    for (size_t i = 0; indexed && i < st->n_calls; i++)
        if (st->calls[i].index == index)
            return &st->calls[i];
    if (st->n_calls == OPENAI_CALLS) {
        st->error = "the answer has over 128 calls of tools";
        return NULL;
    }
    openai_call *c = &st->calls[st->n_calls++];
    *c = (openai_call){.id = "", .name = "", .index = indexed ? index : (int64_t)st->n_calls};
    buf_init(&c->arguments, OPENAI_ANSWER_BYTES);
    return c;
}

static bool call_read(openai_stream *st, const json_doc *d, const json_node *v)
{
    const json_node *function = json_get(d, v, "function");
    const json_node *arguments = json_get(d, function, "arguments");
    const char *id = json_text(st->scratch, d, json_get(d, v, "id"));
    const char *name = json_text(st->scratch, d, json_get(d, function, "name"));
    int64_t index = 0;
    bool indexed = json_int(d, json_get(d, v, "index"), &index);
    openai_call *c = call_find(st, indexed, index, id);
    if (!c)
        return false;
    if (id && *id && !*c->id)
        c->id = arena_strdup(st->arena, id);
    if (name && *name && !*c->name)
        c->name = arena_strdup(st->arena, name);
    const char *more = json_is(arguments, JSON_OBJECT) ? json_raw(st->scratch, d, arguments)
                                                       : json_text(st->scratch, d, arguments);
    if (!more)
        return true;
    buf_puts(&c->arguments, more);
    return answer_room(st, strlen(more));
}

static bool calls_read(openai_stream *st, const json_doc *d, const json_node *list)
{
    if (!json_is(list, JSON_ARRAY))
        return true;
    for (const json_node *n = json_first(d, list); n; n = json_next(d, list, n))
        if (!call_read(st, d, n))
            return false;
    return true;
}

const char *openai_call_input(openai_stream *st, const openai_call *c)
{
    json_doc d;
    if (strspn(c->arguments.data, " \t\r\n") == c->arguments.n)
        return "{}";
    if (json_parse(st->arena, c->arguments.data, c->arguments.n, CHUNK_DEPTH, &d, NULL) &&
        !d.nodes[0].has_nul)
        return c->arguments.data;
    buf b;
    json_writer w;
    buf_init(&b, 2 * OPENAI_ANSWER_BYTES);
    jw_init(&w, &b, 0);
    jw_strn(&w, c->arguments.data, c->arguments.n);
    const char *out = b.over ? "{}" : arena_memdup(st->arena, b.data, b.n);
    buf_release(&b);
    return out;
}

/* ------------------------------------------------------------------ chunks */

static void count_read(const json_doc *d, const json_node *v, int64_t *out)
{
    int64_t n;
    if (json_int(d, v, &n) && n >= 0)
        *out = n;
}

/* The last one counts: some servers send growing totals with each chunk. */
static void usage_read(openai_stream *st, const json_doc *d, const json_node *u)
{
    if (!json_is(u, JSON_OBJECT))
        return;
    const json_node *details = json_get(d, u, "prompt_tokens_details");
    count_read(d, json_get(d, u, "prompt_tokens"), &st->usage.input);
    count_read(d, json_get(d, u, "completion_tokens"), &st->usage.output);
    count_read(d, json_get(d, u, "prompt_cache_hit_tokens"), &st->usage.cached);
    count_read(d, json_get(d, details, "cached_tokens"), &st->usage.cached);
    int64_t cost;
    if (json_nano(d, json_get(d, u, "cost"), &cost) && cost >= 0)
        st->usage.cost = cost;
    st->usage_came = true;
}

static const char *error_read(arena *a, const json_doc *d, const json_node *root)
{
    static const char *const names[] = {"message", "detail", "error", "code"};
    const json_node *e = json_get(d, root, "error");
    const char *text = json_text(a, d, e);
    const json_node *from = json_is(e, JSON_OBJECT) ? e : root;
    for (size_t i = 0; !text && i < sizeof names / sizeof *names; i++)
        text = json_text(a, d, json_get(d, from, names[i]));
    return text && *text ? text : NULL;
}

/* Reads one chunk; an answer in one piece has `message` instead of `delta`. */
static bool chunk_read(openai_stream *st, const json_doc *d)
{
    const json_node *root = &d->nodes[0], *e = json_get(d, root, "error");
    if (e && e->type != JSON_NULL) {
        const char *text = error_read(st->arena, d, root);
        st->error = arena_printf(st->arena, "the provider stopped with an error%s%s",
                                 text ? ": " : "", text ? text : "");
        return false;
    }
    usage_read(st, d, json_get(d, root, "usage"));
    const json_node *choices = json_get(d, root, "choices");
    if (!json_is(choices, JSON_ARRAY))
        return true;
    for (const json_node *n = json_first(d, choices); n; n = json_next(d, choices, n)) {
        int64_t index = 0;
        if (json_int(d, json_get(d, n, "index"), &index) && index != 0)
            continue;
        const json_node *delta = json_get(d, n, "delta");
        if (!delta)
            delta = json_get(d, n, "message");
        if (!thinking_read(st, d, delta) ||
            !content_read(st, d, json_get(d, delta, "content"), false) ||
            !content_read(st, d, json_get(d, delta, "refusal"), false) ||
            !calls_read(st, d, json_get(d, delta, "tool_calls")))
            return false;
        const char *finish = json_text(st->scratch, d, json_get(d, n, "finish_reason"));
        if (finish && *finish) {
            st->finish = arena_strdup(st->arena, finish);
            st->finished = true;
        }
    }
    return true;
}

/* ------------------------------------------------------------------ lines */

/* The value of an event field; NULL if the line is another field. */
static const char *field_value(const char *line, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(line, name, n) != 0 || line[n] != ':')
        return NULL;
    line += n + 1;
    return line + (*line == ' ');
}

static bool line_read(openai_stream *st)
{
    const char *line = st->line.data;
    if (strlen(line) != st->line.n) { /* contains NUL */
        st->damaged++;
        return true;
    }
    const char *data = field_value(line, "data");
    if (!data) /* llama.cpp reports errors in its own field */
        data = field_value(line, "error");
    if (!data)
        return true;
    if (strcmp(data, "[DONE]") == 0) {
        st->done = true;
        return false;
    }
    data += strspn(data, " \t");
    if (*data != '{')
        return true;
    json_doc d;
    bool fine = chunk_parse(st->scratch, data, strlen(data), &d);
    st->damaged += !fine;
    bool on = !fine || chunk_read(st, &d);
    arena_reset(st->scratch);
    return on;
}

static bool line_end(openai_stream *st)
{
    if (st->line.over) {
        st->error = "a line of the stream is over 1 MiB";
        return false;
    }
    bool on = line_read(st);
    buf_clear(&st->line);
    return on;
}

bool openai_stream_add(openai_stream *st, const char *p, size_t n)
{
    st->bytes += n;
    if (st->bytes > OPENAI_STREAM_BYTES) {
        st->error = "the stream is over 512 MiB";
        return false;
    }
    /* CR LF ends a line plus an empty one, which is ignored. */
    while (n) {
        size_t len = 0;
        while (len < n && p[len] != '\n' && p[len] != '\r')
            len++;
        buf_add(&st->line, p, len);
        if (len == n)
            break;
        p += len + 1;
        n -= len + 1;
        if (!line_end(st))
            return false;
    }
    if (st->line.over)
        return line_end(st);
    return true;
}

bool openai_stream_whole(openai_stream *st, const char *json, size_t n)
{
    json_doc d;
    if (!chunk_parse(st->arena, json, n, &d)) {
        st->damaged++;
        return false;
    }
    bool on = chunk_read(st, &d);
    st->done = on;
    return on;
}

/* ------------------------------------------------------------------ the end */

static bool calls_emit(openai_stream *st)
{
    for (size_t i = 0; i < st->n_calls; i++) {
        openai_call *c = &st->calls[i];
        if (!*c->id) {
            char id[AGENT_CALL_ID];
            c->id = arena_strdup(st->arena, agent_call_id(id));
        }
        if (!*c->name)
            c->name = "unnamed";
        if (!st->sink->tool_call(st->sink->arg, c->id, c->name, openai_call_input(st, c)))
            return false;
    }
    return true;
}

/* Whether a finish_reason means that the answer is incomplete. */
static const char *finish_wrong(const char *finish)
{
    if (strcmp(finish, "length") == 0)
        return AGENT_OUT_OF_TOKENS;
    if (strcmp(finish, "content_filter") == 0)
        return AGENT_FILTERED;
    return strcmp(finish, "error") == 0 ? "the provider stopped with an error" : NULL;
}

/* Only complete calls are reported: half a call is useless. */
void openai_stream_end(openai_stream *st, const char *cut, agent_result *out)
{
    *out = (agent_result){.end = AGENT_DONE};
    /* A server may close right after its last line, without a line break. */
    if (!cut && !st->cancelled && !st->error && !st->done && st->line.n)
        line_end(st);
    const char *wrong = st->finished ? finish_wrong(st->finish) : NULL;
    if (st->cancelled)
        out->end = AGENT_CANCELLED;
    else if (st->error)
        agent_fail(out, "%s", st->error);
    else if (st->damaged)
        agent_fail(out, "%zu chunk%s of the stream could not be read: words may be missing",
                   st->damaged, st->damaged == 1 ? "" : "s");
    else if (!st->finished && !st->done)
        agent_fail(out, "the stream ended early%s%s", cut ? ": " : "", cut ? cut : "");
    else if (wrong)
        agent_fail(out, "%s", wrong);
    else if (!calls_emit(st))
        out->end = AGENT_CANCELLED;
}

const char *openai_error_text(arena *a, const char *body, size_t n)
{
    json_doc d;
    if (json_parse(a, body, n, CHUNK_DEPTH, &d, NULL) && !d.nodes[0].has_nul) {
        const json_node *root = &d.nodes[0];
        return error_read(a, &d, json_is(root, JSON_ARRAY) ? json_first(&d, root) : root);
    }
    if (!n || !utf8_valid(body, n) || strchr(body, '<'))
        return NULL;
    const char *line = text_preview(a, body, 200);
    return *line ? line : NULL;
}
