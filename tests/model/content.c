/* SPDX-License-Identifier: Apache-2.0
 *
 * content.c: what the random operations put into the store, and the naive word scan that
 * searches are compared with.
 */
#include "content.h"
#include "via.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *const content_words[WORDS] = {"alder",  "birch", "cedar", "dogwood", "elm",   "fir",
                                          "ginkgo", "holly", "ilex",  "juniper", "kauri", "larch"};

static void text_make(char *out, size_t size, int v)
{
    const char *a = content_words[v % WORDS], *b = content_words[(v * 5 + 1) % WORDS],
               *c = content_words[(v * 7 + 3) % WORDS];
    size_t n = 0;
    switch (v) {
    case 12:
        snprintf(out, size, "%s %s\n%s on the second line", a, b, c);
        break;
    case 13:
        while (n + 20 < size && n < 300)
            n += (size_t)snprintf(out + n, size - n, "%s%s", n ? " " : "",
                                  content_words[(v + n) % WORDS]);
        break;
    case 14:
        snprintf(out, size, "\xC3\xBC\"%s\\ %s/ \xF0\x9F\x8C\xBF %s", a, b, c);
        break;
    case 15:
        out[0] = 0;
        break;
    case 8:
    case 9:
    case 10:
    case 11: /* words that a template may declare as placeholders */
        snprintf(out, size, "{{%s}} %s {{{%s}}}", a, b, c);
        break;
    default:
        snprintf(out, size, "%s %s %s", a, b, c);
    }
}

/* Appends a text part; the texts have no other characters that JSON escapes. */
static void part_text(char *out, size_t size, const char *type, const char *text)
{
    size_t n = strlen(out);
    n += (size_t)snprintf(out + n, size - n, "%s{\"type\":\"%s\",\"text\":\"", n > 1 ? "," : "",
                          type);
    for (; *text && n + 8 < size; text++) {
        if (*text == '"' || *text == '\\' || *text == '\n')
            out[n++] = '\\';
        out[n++] = *text == '\n' ? 'n' : *text;
    }
    snprintf(out + n, size - n, "\"}");
}

static void part_tool(char *out, size_t size, bool result, int tool)
{
    size_t n = strlen(out);
    const char *comma = n > 1 ? "," : "";
    if (result)
        snprintf(out + n, size - n,
                 "%s{\"type\":\"tool_result\",\"id\":\"x%d\",\"output\":\"found larch\"}", comma,
                 tool);
    else
        snprintf(
            out + n, size - n,
            "%s{\"type\":\"tool_call\",\"id\":\"x%d\",\"name\":\"look\",\"input\":{\"q\":1.5}}",
            comma, tool);
}

static void parts_make(content *o, int kind, int tool)
{
    char *p = o->parts;
    size_t size = sizeof o->parts;
    snprintf(p, size, "[");
    if (kind == 1 || kind == 4)
        part_text(p, size, "text", o->text);
    if (kind == 1) {
        part_text(p, size, "thinking", "quietly larch");
        part_text(p, size, "text", "and elm");
    }
    if (kind == 2 || kind == 4 || kind == 5)
        part_tool(p, size, false, tool);
    if (kind == 3 || kind == 5)
        part_tool(p, size, true, tool);
    size_t n = strlen(p);
    if (kind == 6)
        snprintf(p + n, size - n,
                 "{\"type\":\"file\",\"url\":\"https://example.org/a\",\"name\":\"a\"},"
                 "{\"type\":\"data\",\"data\":[1,{\"b\":null}]}");
    n = strlen(p);
    snprintf(p + n, size - n, "]");
}

static void delta_make(content *o, int kind, int v)
{
    if (kind == 1)
        snprintf(o->delta, sizeof o->delta, "{\"k%d\":%d}", v % 5, v * 3);
    else if (kind == 2)
        snprintf(o->delta, sizeof o->delta, "{\"k%d\":null,\"k4\":\"w%d\"}", v % 4, v);
    else
        snprintf(o->delta, sizeof o->delta, "{\"k%d\":[%d,{\"z\":null}],\"k3\":true,\"k4\":null}",
                 v % 3, v);
    o->in.state_delta = o->delta;
}

static void usage_make(content *o, int kind, int v)
{
    o->usage = (ramet_usage){10 + v, 5 * v, v % 3, 0, ""};
    if (kind > 1) {
        o->usage.cost = 1000 * v + 7;
        o->usage.currency = kind == 2 ? "USD" : "EUR";
    }
    o->in.usage = &o->usage;
}

void content_make(content *o, int32_t c, int i, int32_t id, ramet_log log, int64_t now)
{
    memset(o, 0, sizeof *o);
    c = (c & ~0x3F) | ((c + i * 21) & 0x3F);
    int v = c >> 2 & 15, kind = c >> 6 & 7, tool = c >> 9 & 3;
    if (kind == 2 && (i & 1))
        kind = 3;
    o->in.role = (ramet_role)(RAMET_USER + (c & 3));
    if (c >> 21 & 1 && c >> 20 & 1)
        o->in.role = (ramet_role)0;
    if (id) {
        snprintf(o->id, sizeof o->id, id % 9 == 8 ? "e%d/ %%41 \xC3\xA9" : "e%d", id + i);
        if (id == 59)
            memset(o->id, 'x', 256);
        o->in.id = o->id;
    }
    text_make(o->text, sizeof o->text, v);
    if (kind == 0)
        o->in.text = o->text;
    else if (kind < 7)
        o->in.parts = o->parts;
    parts_make(o, kind, tool);
    if (c >> 11 & 3)
        usage_make(o, c >> 11 & 3, v);
    if (c >> 13 & 3 && log == RAMET_LOG_MAIN)
        delta_make(o, c >> 13 & 3, v);
    o->in.channel = (c >> 15 & 3) == 2 ? "memory" : (c >> 15 & 3) == 3 ? "summary" : NULL;
    if (c >> 17 & 1) {
        snprintf(o->body, sizeof o->body, "{\"n\": 0.10,  \"v\":%d}", v);
        o->in.format = "a2a";
        o->in.body = o->body;
    }
    if (c >> 18 & 1) {
        snprintf(o->turn, sizeof o->turn, "t%d", v / 3);
        o->in.turn_id = o->turn;
    }
    o->in.author = c >> 19 & 1 ? "someone else" : NULL;
    /* Times of calls are even, so this one is nobody else's. */
    /* The API gives entries the time of their arrival. */
    o->in.created = !OVER_WIRE && c >> 20 & 1 && i == 0 ? now - 1 : 0;
}

/* -------------------------------------------------------------- sessions */

const char *content_title(int32_t n)
{
    static const char *const titles[] = {NULL,
                                         "Plan",
                                         "plan b \xC3\xA9",
                                         "Review",
                                         "a % of _ 'x'",
                                         "RELAX",
                                         "",
                                         "a title that is longer than what the limit allows"};
    return titles[n];
}

const char *content_reason(int32_t n)
{
    static const char *const reasons[] = {NULL, "try again", "cheaper \xE2\x82\xAC", "",
                                          "a reason that is longer than what the limit allows"};
    return reasons[n];
}

const char *content_metadata(int32_t n)
{
    static const char *const metas[] = {NULL, "{\"a\":1}", "{\"b\":[true,null]}", "[1]"};
    return metas[n];
}

const char *content_channel(int32_t n)
{
    static const char *const channels[] = {NULL, "history", "memory", "summary", "nowhere"};
    return channels[n];
}

void content_agent(int32_t n, ramet_agent *out)
{
    static const ramet_agent agents[] = {{NULL, NULL, NULL, NULL, NULL},
                                         {"echo", NULL, NULL, NULL, NULL},
                                         {"opus", "anthropic", "m-1", NULL, NULL},
                                         {"opus", "openai", "m-2", "/srv", "{\"t\":1}"},
                                         {"echo", NULL, NULL, NULL, "[]"}};
    *out = agents[n];
}

size_t content_tags(int32_t n, const char *const **out)
{
    static const char *const sets[12][6] = {{NULL},
                                            {"red", NULL},
                                            {"Red", "blue", NULL},
                                            {" green ", NULL},
                                            {"blue", "BLUE", NULL},
                                            {"a b", NULL},
                                            {"gr\xC3\xBCn", NULL},
                                            {"red", "green", NULL},
                                            {"1", "2", "3", "4", "5", NULL},
                                            {"  ", NULL},
                                            {"far-too-long", NULL},
                                            {"white", "black", "grey", NULL}};
    size_t k = 0;
    while (k < 6 && sets[n][k])
        k++;
    *out = sets[n];
    return k;
}

/* ---------------------------------------------------------------- queries */

static const char *query_words(int32_t q, const char **b)
{
    *b = content_words[q / 84 % WORDS];
    return content_words[q % WORDS];
}

void content_query(int32_t q, char *out, size_t size)
{
    const char *b, *a = query_words(q, &b);
    switch (q / WORDS % 7) {
    case 0:
        snprintf(out, size, "%s", a);
        break;
    case 1:
        snprintf(out, size, "%s %s", a, b);
        break;
    case 2:
        snprintf(out, size, "\"%s %s\"", a, b);
        break;
    case 3:
        snprintf(out, size, "%.2s*", a);
        break;
    case 4:
        snprintf(out, size, "%s -%s", a, b);
        break;
    case 5:
        snprintf(out, size, "quietly");
        break;
    default:
        snprintf(out, size, "%c%s", toupper((unsigned char)a[0]), a + 1);
    }
}

/* Words of a text, lower case, each with a space before and after. */
static void words_scan(const char *text, char *out, size_t size)
{
    size_t n = 0;
    out[n++] = ' ';
    for (; *text && n + 2 < size; text++) {
        if ((unsigned char)*text >= 0xF0) /* an emoji is no word */
            text += 3;
        bool in_word = isalnum((unsigned char)*text) ||
                       ((unsigned char)*text >= 0xC0 && (unsigned char)*text < 0xF0);
        if (in_word)
            out[n++] = (char)tolower((unsigned char)*text);
        else if (out[n - 1] != ' ')
            out[n++] = ' ';
    }
    if (out[n - 1] != ' ')
        out[n++] = ' ';
    out[n] = 0;
}

bool content_matches(int32_t q, const char *text)
{
    char words[1024], a_[40], b_[40], both[80], start[8];
    const char *b, *a = query_words(q, &b);
    words_scan(text, words, sizeof words);
    snprintf(a_, sizeof a_, " %s ", a);
    snprintf(b_, sizeof b_, " %s ", b);
    snprintf(both, sizeof both, " %s %s ", a, b);
    snprintf(start, sizeof start, " %.2s", a);
    switch (q / WORDS % 7) {
    case 1:
        return strstr(words, a_) && strstr(words, b_);
    case 2:
        return strstr(words, both) != NULL;
    case 3:
        return strstr(words, start) != NULL;
    case 4:
        return strstr(words, a_) && !strstr(words, b_);
    case 5:
        return false;
    default:
        return strstr(words, a_) != NULL;
    }
}
