/* SPDX-License-Identifier: Apache-2.0
 *
 * main.c: runs turns of agents and prints what they tell; tests/server/agent.mjs drives it.
 *
 *   agent [--default NAME] TEXT…      TEXT: NAME=KIND,setting=value…
 *   agent --kinds                     prints the kinds and their settings
 *
 * Each line of its input is a turn, {agent?, cache_key?, history: [{role, text | parts}], session?:
 * {model, options}, answers?: [text], cancel_after?: N calls of the sink, cancel_ms?: N, times?: N
 * at once}. Its output is a line for each call of the sink, {"delta": text} and so on, and at the
 * end {"end": "done" | "cancelled" | "failed", "message", "ms", "late_ms": from the cancel to the
 * end}; with `times` only the last, {"ends": [n of each], "texts": how many different answers}.
 */
#include "agent/agent.h"
#include "base/util.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
    arena *a;
    agent *who;
    agent_turn turn;
    const json_doc *d;
    const json_node *answers;
    int64_t cancel_after, cancel_ms; /* -1: not */
    bool quiet;
    /* while it runs */
    buf text;
    int64_t calls, started, cancelled_at;
    agent_result out;
    pthread_t thread;
} session;

static bool cancelled(void *arg)
{
    session *s = arg;
    bool now = (s->cancel_after >= 0 && s->calls >= s->cancel_after) ||
               (s->cancel_ms >= 0 && time_mono_us() - s->started >= s->cancel_ms * 1000);
    if (now && !s->cancelled_at)
        s->cancelled_at = s->cancel_ms >= 0 ? s->started + s->cancel_ms * 1000 : time_mono_us();
    return now;
}

/* One line {key: text}, or {key: json}. */
static bool line_put(session *s, const char *key, const char *text, size_t n, const char *json)
{
    if (cancelled(s))
        return false;
    s->calls++;
    if (s->quiet)
        return true;
    buf b;
    json_writer w;
    buf_init(&b, 256u << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_key(&w, key);
    if (json)
        jw_raw(&w, json);
    else
        jw_strn(&w, text, n);
    jw_end_object(&w);
    puts(b.data);
    fflush(stdout);
    buf_release(&b);
    return true;
}

static bool sink_delta(void *arg, const char *text, size_t n)
{
    session *s = arg;
    bool on = line_put(s, "delta", text, n, NULL);
    if (on)
        buf_add(&s->text, text, n);
    return on;
}

static bool sink_thinking(void *arg, const char *text, size_t n)
{
    return line_put(arg, "thinking", text, n, NULL);
}

static bool json_put(session *s, const char *key, const char *names[3], const char *values[3],
                     const char *raw_name, const char *raw)
{
    buf b;
    json_writer w;
    buf_init(&b, 256u << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (int i = 0; i < 3 && names[i]; i++)
        jw_kstr(&w, names[i], values[i]);
    jw_kraw(&w, raw_name, raw);
    jw_end_object(&w);
    bool on = line_put(s, key, NULL, 0, b.data);
    buf_release(&b);
    return on;
}

static bool sink_tool_call(void *arg, const char *id, const char *name, const char *input)
{
    return json_put(arg, "tool_call", (const char *[3]){"id", "name"}, (const char *[3]){id, name},
                    "input", input);
}

static bool sink_tool_result(void *arg, const char *id, const char *output, bool is_error)
{
    return json_put(arg, is_error ? "tool_error" : "tool_result", (const char *[3]){"id"},
                    (const char *[3]){id}, "output", output);
}

static bool sink_ask(void *arg, const agent_question *q, agent_reply *answer)
{
    session *s = arg;
    if (!json_put(s, "ask", (const char *[3]){"id", "kind", "text"},
                  (const char *[3]){q->id, q->kind, q->text}, "options", q->options))
        return false;
    *answer = (agent_reply){.text = s->answers ? json_text(s->a, s->d, s->answers) : ""};
    if (s->answers)
        s->answers = json_next(s->d, json_get(s->d, &s->d->nodes[0], "answers"), s->answers);
    return true;
}

static bool sink_plan(void *arg, const char *json)
{
    return line_put(arg, "plan", NULL, 0, json);
}

static bool sink_usage(void *arg, const ramet_usage *u)
{
    char json[160];
    snprintf(json, sizeof json, "{\"input\":%lld,\"output\":%lld,\"cached\":%lld,\"cost\":%lld}",
             (long long)u->input, (long long)u->output, (long long)u->cached, (long long)u->cost);
    return line_put(arg, "usage", NULL, 0, json);
}

static bool sink_message(void *arg, const agent_message *m)
{
    return line_put(arg, "message", NULL, 0, m->body);
}

static void *session_run(void *arg)
{
    session *s = arg;
    agent_sink sink = {.delta = sink_delta,
                       .thinking = sink_thinking,
                       .tool_call = sink_tool_call,
                       .tool_result = sink_tool_result,
                       .ask = sink_ask,
                       .message = sink_message,
                       .plan = sink_plan,
                       .usage = sink_usage,
                       .cancelled = cancelled,
                       .arg = s};
    buf_init(&s->text, 256u << 20);
    s->started = time_mono_us();
    s->who->kind->run(s->who, &s->turn, &sink, &s->out);
    return NULL;
}

/* ------------------------------------------------------------------ reading a turn */

static int64_t number(const json_doc *d, const char *key, int64_t otherwise)
{
    int64_t v;
    return json_int(d, json_get(d, &d->nodes[0], key), &v) ? v : otherwise;
}

static void history_read(session *s, const json_doc *d, arena *a)
{
    const json_node *list = json_get(d, &d->nodes[0], "history");
    ramet_entry *all = arena_array(a, list ? list->count + 1 : 1, sizeof *all);
    size_t n = 0;
    for (const json_node *v = list ? json_first(d, list) : NULL; v; v = json_next(d, list, v)) {
        const char *text = json_text(a, d, json_get(d, v, "text"));
        const char *role = json_text(a, d, json_get(d, v, "role"));
        all[n++] = (ramet_entry){.role = (ramet_role)ramet_role_parse(role ? role : "user"),
                                 .text = text ? text : "",
                                 .parts = json_raw(a, d, json_get(d, v, "parts"))};
    }
    s->turn.history = all;
    s->turn.n = n;
}

static bool session_read(session *s, const agents *set, json_doc *d, const char *line)
{
    const json_node *root;
    if (!json_parse(s->a, line, strlen(line), 0, d, NULL))
        return false;
    root = &d->nodes[0];
    s->d = d;
    s->who = agents_find(set, json_text(s->a, d, json_get(d, root, "agent")));
    s->turn.turn_id = "turn-1";
    s->turn.cache_key = json_text(s->a, d, json_get(d, root, "cache_key"));
    const json_node *own = json_get(d, root, "session");
    s->turn.session.model = json_text(s->a, d, json_get(d, own, "model"));
    s->turn.session.options = json_raw(s->a, d, json_get(d, own, "options"));
    const json_node *answers = json_get(d, root, "answers");
    s->answers = answers ? json_first(d, answers) : NULL;
    s->cancel_after = number(d, "cancel_after", -1);
    s->cancel_ms = number(d, "cancel_ms", -1);
    history_read(s, d, s->a);
    return s->who != NULL;
}

/* ------------------------------------------------------------------ running it */

static void one_run(session *s)
{
    static const char *const ends[] = {"done", "cancelled", "failed"};
    session_run(s);
    int64_t now = time_mono_us();
    buf b;
    json_writer w;
    buf_init(&b, 1 << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "end", ends[s->out.end]);
    jw_kstr(&w, "message", s->out.message);
    jw_kint(&w, "ms", (now - s->started) / 1000);
    if (s->cancelled_at)
        jw_kint(&w, "late_ms", (now - s->cancelled_at) / 1000);
    jw_end_object(&w);
    puts(b.data);
    fflush(stdout);
    buf_release(&b);
    buf_release(&s->text);
}

static void many_run(const session *like, int64_t times)
{
    session *all = xcalloc((size_t)times, sizeof *all);
    int64_t ends[3] = {0}, different = 0;
    for (int64_t i = 0; i < times; i++) {
        all[i] = *like;
        all[i].quiet = true;
        if (pthread_create(&all[i].thread, NULL, session_run, &all[i]) != 0)
            abort();
    }
    for (int64_t i = 0; i < times; i++) {
        pthread_join(all[i].thread, NULL);
        ends[all[i].out.end]++;
        different += i == 0 || strcmp(all[i].text.data, all[0].text.data) != 0;
    }
    printf("{\"ends\":[%lld,%lld,%lld],\"texts\":%lld}\n", (long long)ends[0], (long long)ends[1],
           (long long)ends[2], (long long)different);
    fflush(stdout);
    for (int64_t i = 0; i < times; i++)
        buf_release(&all[i].text);
    free(all);
}

static void kinds_put(void)
{
    buf b;
    json_writer w;
    buf_init(&b, 1 << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    for (size_t i = 0; agent_kinds[i]; i++) {
        jw_key(&w, agent_kinds[i]->name);
        jw_object(&w);
        for (const agent_setting *s = agent_kinds[i]->settings; s->name; s++)
            jw_kstr(&w, s->name, s->value ? s->value : "");
        jw_end_object(&w);
    }
    jw_end_object(&w);
    puts(b.data);
    buf_release(&b);
}

int main(int argc, char **argv)
{
    char message[AGENT_MESSAGE] = "", *line = NULL;
    const char *deflt = NULL;
    size_t cap = 0;
    int first = 1;
    if (argc == 2 && strcmp(argv[1], "--kinds") == 0) {
        kinds_put();
        return 0;
    }
    if (argc > 2 && strcmp(argv[1], "--default") == 0) {
        deflt = argv[2];
        first = 3;
    }
    agents *set = agents_new((const char *const *)argv + first, (size_t)(argc - first), deflt,
                             false, message);
    if (!set) {
        fprintf(stderr, "%s\n", message);
        return 2;
    }
    int rc = 0;
    while (rc == 0 && getline(&line, &cap, stdin) > 0) {
        json_doc d;
        session s = {.a = arena_new()};
        if (!session_read(&s, set, &d, line)) {
            fprintf(stderr, "the turn cannot be read: %.200s\n", line);
            rc = 2;
        } else if (number(&d, "times", 0)) {
            many_run(&s, number(&d, "times", 0));
        } else {
            one_run(&s);
        }
        arena_free(s.a);
    }
    free(line);
    agents_free(set);
    return rc;
}
