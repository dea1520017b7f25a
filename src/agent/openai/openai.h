/* SPDX-License-Identifier: Apache-2.0
 *
 * openai.h: the parts of the agent kind `openai`: settings, the request, the stream.
 */
#ifndef AGENT_OPENAI_OPENAI_H
#define AGENT_OPENAI_OPENAI_H

#include "agent/agent.h"

enum {
    OPENAI_REQUEST_BYTES = 64 << 20,
    OPENAI_ANSWER_BYTES = 16 << 20, /* words, thoughts and calls of one answer together */
    OPENAI_LINE_BYTES = 1 << 20,    /* one line of a stream */
    OPENAI_STREAM_BYTES = 512 << 20,
    OPENAI_CALLS = 128, /* calls of tools in one answer */
    OPENAI_ROUNDS = 32  /* requests of one turn, when results of tools are asked for */
};

/* The settings, read and checked. Texts live as long as the agent. */
typedef struct openai_settings {
    const char *url; /* of the endpoint itself, …/chat/completions */
    const char *model, *key, *system;
    const char *ca_file;                  /* "": the system's */
    const char *temperature, *max_tokens; /* JSON numbers; "" when not set */
    const char *cache_field;              /* "" when the cache key is not sent */
    const char *extra;                    /* JSON object */
    bool usage;                           /* ask for it */
    bool ask_tools;                       /* ask the user for the results of tools, and go on */
    int64_t connect_ms, first_byte_ms, idle_ms, total_ms;
    int64_t retries, backoff_ms, retry_after_ms;
} openai_settings;

/* ------------------------------------------------------------------ the request */

/* Writes the body of a request. What the history says comes last and in one canonical form, so that
 * the bodies of two histories that share a start share it byte for byte, up to the entry where they
 * part: neither ids of sessions and entries nor times are in it. The sink (NULL: none) is told.
 * False when it grows too large. */
bool openai_request(const openai_settings *o, const agent_turn *t, const agent_sink *s, buf *out);
/* agent_kind.messages */
void openai_messages(const ramet_entry *history, size_t n, const char *instructions,
                     json_writer *w);

/* ------------------------------------------------------------------ the stream */

typedef struct openai_call {
    const char *id, *name;
    int64_t index;
    buf arguments;
} openai_call;

/* What came of one answer. */
typedef struct openai_stream {
    arena *a;       /* of the answer */
    arena *scratch; /* of one line */
    const agent_sink *s;
    buf line;       /* of the stream, as far as it came */
    buf text;       /* of the answer, without thinking */
    bool cancelled; /* the sink said so */
    bool finished;  /* a finish_reason came */
    bool done;      /* [DONE] came: nothing more to read */
    size_t bytes, answer_bytes;
    size_t damaged; /* chunks that could not be read */
    const char *finish;
    const char *error; /* what is wrong; NULL: nothing */
    openai_call calls[OPENAI_CALLS];
    size_t n_calls;
    ramet_usage usage;
    bool usage_came;
} openai_stream;

void openai_stream_init(openai_stream *st, const agent_sink *s);
void openai_stream_release(openai_stream *st);
/* Bytes of a stream of events. False: stop reading (cancelled, an error, or the end came). */
bool openai_stream_add(openai_stream *st, const char *p, size_t n);
/* An answer that came in one piece, from a server that does not stream. */
bool openai_stream_whole(openai_stream *st, const char *json, size_t n);
/* Tells the calls that came, and how it ended. `cut`: why no more bytes came; NULL: the server
 * closed the stream. */
void openai_stream_end(openai_stream *st, const char *cut, agent_result *out);
/* The JSON of a call's arguments; a text that is none becomes a JSON string. */
const char *openai_call_input(openai_stream *st, const openai_call *c);

/* ------------------------------------------------------------------ the way there */

/* Connections that are kept for the next turn. Any thread. */
typedef struct openai_http openai_http;
/* The settings must outlive it. */
openai_http *openai_http_new(const openai_settings *o);
void openai_http_free(openai_http *h);
/* Sends a request, again while nothing came and it may help, until `deadline` (time_mono_us());
 * what comes goes through the stream. Fills *out in every case. */
void openai_http_run(openai_http *h, const buf *request, int64_t deadline, openai_stream *st,
                     agent_result *out);

/* The message of a provider's error answer, in the arena; NULL when it has none. */
const char *openai_error_text(arena *a, const char *body, size_t n);

#endif
