/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.c: the table of agent kinds, and the configured agents.
 *
 * Agents in the set stay there and never move, so any thread may read it without a lock. Adding to
 * it while the server runs (agents_join()) takes a lock.
 */
#include "agent/agent.h"

#include "base/util.h"
#include "base/words.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* To add a kind, define `const agent_kind agent_NAME` in its file and list it here. */
#define AGENT_KINDS(X)                                                                             \
    X(echo)                                                                                        \
    X(openai)                                                                                      \
    X(a2a)                                                                                         \
    X(acp)                                                                                         \
    X(opencode)

#define X(name) extern const agent_kind agent_##name;
AGENT_KINDS(X)
#undef X

#define X(name) &agent_##name,
const agent_kind *const agent_kinds[] = {AGENT_KINDS(X) NULL};
#undef X

enum { TEXT_MAX = 256 << 10, NAME_MAX_BYTES = 64, AGENTS_MAX = 256, SLICE_MS = 25 };

struct agents {
    arena *arena;
    bool shared;            /* argument of agents_new() */
    pthread_mutex_t lock;   /* guards joining, and the arena at that time */
    agent *all[AGENTS_MAX]; /* opened agents */
    _Atomic size_t n;       /* incremented after the agent is complete */
    _Atomic(agent *) deflt;
};

/* ------------------------------------------------------------------ for kinds */

const char *agent_get(const agent *a, const char *setting)
{
    for (size_t i = 0; a->kind->settings[i].name; i++)
        if (strcmp(a->kind->settings[i].name, setting) == 0)
            return a->values[i];
    return NULL;
}

const char *agent_call_id(char out[AGENT_CALL_ID])
{
    uint8_t raw[12];
    random_bytes(raw, sizeof raw);
    memcpy(out, "call_", 5);
    hex_encode(raw, sizeof raw, out + 5);
    return out;
}

void agent_fail(agent_result *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(out->message, sizeof out->message, fmt, ap);
    va_end(ap);
    out->end = AGENT_FAILED;
    uint32_t cp;
    for (size_t i = 0, n = strlen(out->message); i < n;) {
        size_t step = utf8_next(out->message + i, n - i, &cp);
        if (!step)
            out->message[i] = n - i < 4 ? 0 : '?';
        i += step ? step : n - i < 4 ? 4 : 1;
    }
}

void agent_hide(char *text, const char *secret)
{
    size_t n = strlen(secret);
    for (char *at = text; n && (at = strstr(at, secret)); at += n)
        memset(at, '*', n);
}

void agent_sent(const agent_sink *s, const agent_prompt *p)
{
    if (s->sent)
        s->sent(s->arg, p);
}

bool agent_data(const agent_sink *s, const char *json)
{
    return !s->data || s->data(s->arg, json);
}

bool agent_sleep(const agent_sink *s, int64_t ms)
{
    int64_t end = time_mono_us() + ms * 1000;
    for (;;) {
        if (s->cancelled(s->arg))
            return false;
        int64_t left = end - time_mono_us();
        if (left <= 0)
            return true;
        if (left > SLICE_MS * 1000)
            left = SLICE_MS * 1000;
        nanosleep(&(struct timespec){.tv_nsec = left * 1000}, NULL);
    }
}

bool agent_number(const agent *a, const char *setting, int64_t min, int64_t max, int64_t *out,
                  char *message)
{
    const char *value = agent_get(a, setting);
    char *end = NULL;
    size_t digits = strspn(value, "0123456789");
    if (digits && digits < 18 && !value[digits])
        *out = strtoll(value, &end, 10);
    if (end && *out >= min && *out <= max)
        return true;
    snprintf(message, AGENT_MESSAGE, "%s is '%.60s'; it must be a whole number from %lld to %lld",
             setting, value, (long long)min, (long long)max);
    return false;
}

bool agent_wrong(char *message, const char *setting, const char *value, const char *must)
{
    snprintf(message, AGENT_MESSAGE, "%s is '%.80s'; it must be %s", setting, value, must);
    return false;
}

bool agent_span(const agent *a, const char *setting, int64_t *ms, char *message)
{
    char *end = NULL;
    const char *value = agent_get(a, setting);
    double v = strspn(value, "0123456789.") == strlen(value) ? strtod(value, &end) : -1;
    if (!end || *end || v < 0.001 || v > 86400)
        return agent_wrong(message, setting, value, "a number of seconds from 0.001 to 86400");
    *ms = (int64_t)(v * 1000);
    return true;
}

size_t agent_origin_length(const char *url)
{
    size_t skip = strncasecmp(url, "https://", 8) == 0  ? 8
                  : strncasecmp(url, "http://", 7) == 0 ? 7
                                                        : 0;
    size_t host = skip ? strcspn(url + skip, "/?#") : 0;
    return host && !memchr(url + skip, '@', host) ? skip + host : 0;
}

bool agent_url_plain(const char *url)
{
    for (const char *s = url; *s; s++)
        if (*s <= ' ' || *s > '~' || *s == '#')
            return false;
    return strlen(url) < 2000 && agent_origin_length(url);
}

/* ------------------------------------------------------------------ reading a text */

typedef struct reader {
    agents *set;
    const char *at; /* the rest of the text */
    char *message;
} reader;

/* Reads the characters of a name, then a NUL; NULL if there are none or too many. */
static const char *name_read(reader *r)
{
    r->at += strspn(r->at, " \t");
    size_t n = strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
    if (n == 0 || n > NAME_MAX_BYTES)
        return NULL;
    const char *name = arena_memdup(r->set->arena, r->at, n);
    r->at += n;
    r->at += strspn(r->at, " \t");
    return name;
}

/* Reads one character after a backslash. */
static char escape_read(const char **s)
{
    char ch = *(*s)++;
    return ch == 'n' ? '\n' : ch;
}

/* Reads a value up to the next comma. Quotes count only at its start, so an apostrophe in a
 * sentence is literal. NULL if a quote or escape is not terminated. */
static const char *value_read(reader *r)
{
    const char *s = r->at;
    char quote = *s == '"' || *s == '\'' ? *s++ : 0;
    char *out = arena_alloc(r->set->arena, strlen(s) + 1), *to = out;
    while (*s && *s != (quote ? quote : ',')) {
        if (*s == '\\' && quote != '\'') {
            if (!*++s)
                return NULL;
            *to++ = escape_read(&s);
        } else {
            *to++ = *s++;
        }
    }
    if (quote && *s++ != quote)
        return NULL;
    if (quote)
        s += strspn(s, " \t");
    if (*s && *s != ',')
        return NULL;
    r->at = s;
    return out;
}

/* A secret should not be in the arguments of a process: $NAME reads it from the environment. */
static const char *secret_read(reader *r, const char *setting, const char *value)
{
    if (value[0] != '$')
        return value;
    const char *found = value[1] ? getenv(value + 1) : NULL;
    if (!found || !*found) {
        snprintf(r->message, AGENT_MESSAGE, "%s is %.80s, and the environment has no %.80s",
                 setting, value, value + 1);
        return NULL;
    }
    size_t n = strcspn(found, "\r\n");
    return arena_memdup(r->set->arena, found, n);
}

static bool setting_read(reader *r, const agent_kind *kind, const char **values)
{
    const char *name = name_read(r);
    if (!name || *r->at != '=') {
        snprintf(r->message, AGENT_MESSAGE, "'%.60s' is not setting=value", name ? name : r->at);
        return false;
    }
    r->at++;
    size_t i = 0;
    while (kind->settings[i].name && strcmp(kind->settings[i].name, name) != 0)
        i++;
    const agent_setting *s = &kind->settings[i];
    if (!s->name) {
        snprintf(r->message, AGENT_MESSAGE, "the kind %s has no setting '%s'", kind->name, name);
        return false;
    }
    if (values[i]) {
        snprintf(r->message, AGENT_MESSAGE, "%s is given twice", name);
        return false;
    }
    const char *value = value_read(r);
    if (!value) {
        snprintf(r->message, AGENT_MESSAGE,
                 "the value of %s is not ended well: look at its quotes and backslashes", name);
        return false;
    }
    values[i] = s->secret ? secret_read(r, name, value) : value;
    return values[i] != NULL;
}

static bool defaults_fill(const agent_kind *kind, const char **values, char *message)
{
    for (size_t i = 0; kind->settings[i].name; i++) {
        if (!values[i])
            values[i] = kind->settings[i].value;
        if (!values[i]) {
            snprintf(message, AGENT_MESSAGE, "%s is missing (%s)", kind->settings[i].name,
                     kind->settings[i].text);
            return false;
        }
    }
    return true;
}

static const agent_kind *kind_read(reader *r)
{
    const char *name = name_read(r);
    for (size_t i = 0; name && agent_kinds[i]; i++)
        if (strcmp(agent_kinds[i]->name, name) == 0)
            return agent_kinds[i];
    int n = snprintf(r->message, AGENT_MESSAGE,
                     "there is no kind '%.60s'; there are:", name ? name : r->at);
    for (size_t i = 0; agent_kinds[i] && n < AGENT_MESSAGE; i++)
        n += snprintf(r->message + n, (size_t)(AGENT_MESSAGE - n), " %s", agent_kinds[i]->name);
    return NULL;
}

/* Parses what follows the name: KIND,setting=value… */
static bool agent_read(reader *r, agent *out)
{
    out->kind = kind_read(r);
    if (!out->kind)
        return false;
    if (strcmp(out->name, "echo") == 0 && strcmp(out->kind->name, "echo") != 0) {
        snprintf(r->message, AGENT_MESSAGE, "that name is kept for the kind echo");
        return false;
    }
    size_t n = 0;
    while (out->kind->settings[n].name)
        n++;
    const char **values = arena_array(r->set->arena, n + 1, sizeof *values);
    while (*r->at == ',') {
        r->at++;
        if (!setting_read(r, out->kind, values))
            return false;
    }
    if (*r->at) {
        snprintf(r->message, AGENT_MESSAGE, "'%.60s' follows where a comma should", r->at);
        return false;
    }
    out->values = values;
    return defaults_fill(out->kind, values, r->message) && out->kind->open(out, r->message);
}

/* ------------------------------------------------------------------ the set */

static agent *find(const agents *set, const char *name)
{
    size_t n = set->n;
    for (size_t i = 0; i < n; i++)
        if (strcmp(set->all[i]->name, name) == 0)
            return set->all[i];
    return NULL;
}

static bool agents_add(agents *set, const char *text, char *message)
{
    char why[AGENT_MESSAGE] = "";
    reader r = {.set = set, .at = text, .message = why};
    if (strlen(text) > TEXT_MAX || !utf8_valid(text, strlen(text)) || set->n >= AGENTS_MAX) {
        snprintf(message, AGENT_MESSAGE,
                 "agent '%.40s': its text is over %d bytes or not UTF-8, or there are over %d",
                 text, TEXT_MAX, AGENTS_MAX);
        return false;
    }
    agent *out = arena_alloc(set->arena, sizeof *out);
    out->shared = set->shared;
    out->name = name_read(&r);
    if (!out->name || *r.at != '=') {
        snprintf(message, AGENT_MESSAGE,
                 "agent '%.60s': it must be NAME=KIND[,setting=value...], the name of at most %d "
                 "letters, digits, dots and dashes",
                 text, NAME_MAX_BYTES);
        return false;
    }
    r.at++;
    if (find(set, out->name)) {
        snprintf(message, AGENT_MESSAGE, "agent %s: there is one of that name already", out->name);
        return false;
    }
    if (!agent_read(&r, out)) {
        snprintf(message, AGENT_MESSAGE, "agent %s: %s", out->name, why);
        return false;
    }
    set->all[set->n] = out;
    set->n++;
    return true;
}

agents *agents_new(const char *const *texts, size_t n, const char *deflt, bool shared,
                   char *message)
{
    arena *a = arena_new();
    agents *set = arena_alloc(a, sizeof *set);
    set->arena = a;
    set->shared = shared;
    pthread_mutex_init(&set->lock, NULL);
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++)
        fine = agents_add(set, texts[i], message);
    if (fine && !find(set, "echo"))
        fine = agents_add(set, "echo=echo", message);
    if (fine) {
        set->deflt = deflt && *deflt ? find(set, deflt) : set->all[0];
        fine = set->deflt != NULL;
        if (!fine)
            snprintf(message, AGENT_MESSAGE,
                     "the default agent is '%.60s', and there is none of "
                     "that name",
                     deflt);
    }
    if (fine)
        return set;
    agents_free(set);
    return NULL;
}

void agents_free(agents *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->n; i++)
        set->all[i]->kind->close(set->all[i]);
    pthread_mutex_destroy(&set->lock);
    arena_free(set->arena);
}

agent *agents_join(agents *set, const char *base, const char *rest, char *message)
{
    char text[NAME_MAX_BYTES + 16 + 4096], name[NAME_MAX_BYTES + 16];
    agent *out = NULL;
    pthread_mutex_lock(&set->lock);
    snprintf(name, sizeof name, "%s", base);
    for (int i = 2; i <= AGENTS_MAX && find(set, name); i++)
        snprintf(name, sizeof name, "%.*s-%d", NAME_MAX_BYTES, base, i);
    int len = snprintf(text, sizeof text, "%s=%s", name, rest);
    if (len >= (int)sizeof text)
        snprintf(message, AGENT_MESSAGE, "agent %s: its settings are too long", name);
    else if (agents_add(set, text, message))
        out = set->all[set->n - 1];
    /* As if it had been configured: echo is the default only if there is no other agent. */
    if (out && strcmp(set->deflt->kind->name, "echo") == 0 && set->n == 2)
        set->deflt = out;
    pthread_mutex_unlock(&set->lock);
    return out;
}

agent *agents_find(const agents *set, const char *name)
{
    return name && *name ? find(set, name) : set->deflt;
}

size_t agents_list(const agents *set, agent *const **out)
{
    *out = set->all;
    return set->n;
}

/* Writes the models a session may choose, and the size of the context. */
static void models_write(const agent *it, json_writer *w)
{
    const char *model = agent_get(it, "model"), *others = agent_get(it, "models");
    const char *context = agent_get(it, "context");
    if (model)
        jw_kstr(w, "model", model);
    if (others && *others) {
        jw_key(w, "models");
        jw_array(w);
        size_t n;
        for (const char *one; (one = word_next(&others, " \t", &n));)
            jw_strn(w, one, n);
        jw_end_array(w);
    }
    if (context && strcmp(context, "0") != 0)
        jw_kint(w, "context", strtoll(context, NULL, 10));
}

void agents_write(const agents *set, json_writer *w)
{
    jw_array(w);
    size_t n = set->n;
    for (size_t i = 0; i < n; i++) {
        agent *it = set->all[i];
        jw_object(w);
        jw_kstr(w, "name", it->name);
        jw_kstr(w, "kind", it->kind->name);
        jw_kstr(w, "about", it->kind->about);
        jw_kbool(w, "default", it == set->deflt);
        models_write(it, w);
        if (it->kind->describe)
            it->kind->describe(it, w);
        jw_end_object(w);
    }
    jw_end_array(w);
}
