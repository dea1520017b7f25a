/* SPDX-License-Identifier: Apache-2.0
 *
 * openai.h: shared by the files of the agent kind `openai`: settings, the request, the stream.
 */
#ifndef AGENT_OPENAI_OPENAI_H
#define AGENT_OPENAI_OPENAI_H

#include "agent/agent.h"

enum {
    OPENAI_REQUEST_BYTES = 64 << 20,
    OPENAI_ANSWER_BYTES = 16 << 20, /* text, thoughts and calls of one answer together */
    OPENAI_LINE_BYTES = 1 << 20,    /* one line of a stream */
    OPENAI_STREAM_BYTES = 512 << 20,
    OPENAI_CALLS = 128, /* tool calls in one answer */
    OPENAI_ROUNDS = 32  /* requests per turn, if the user supplies tool results */
};

/* The checked settings. Texts live as long as the agent. */
typedef struct openai_settings {
    const char *url; /* of the endpoint, …/chat/completions */
    const char *model, *key, *system;
    const char *ca_file;                  /* "": the system's */
    const char *temperature, *max_tokens; /* JSON numbers; "" if not set */
    const char *cache_field;              /* "": do not send the cache key */
    const char *extra;                    /* JSON object */
    bool usage;                           /* request it */
    bool ask_tools;                       /* ask the user for tool results, then continue */
    int64_t connect_ms, first_byte_ms, idle_ms, total_ms;
    int64_t retries, backoff_ms, retry_after_ms;
} openai_settings;

/* ------------------------------------------------------------------ the request */

/* Writes the body of a request. The history comes last and in one canonical form, so the bodies for
 * two histories with a common beginning are byte-identical up to the entry where they differ: they
 * contain no ids of sessions or entries and no times. False if it would be too large. */
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

/* The state of one answer. */
typedef struct openai_stream {
    arena *arena;   /* for the answer */
    arena *scratch; /* for one line */
    const agent_sink *sink;
    buf line;       /* the current line of the stream */
    buf text;       /* the answer, without thinking */
    bool cancelled; /* the sink asked to stop */
    bool finished;  /* a finish_reason arrived */
    bool done;      /* [DONE] arrived: nothing more to read */
    size_t bytes, answer_bytes;
    size_t damaged; /* chunks that could not be parsed */
    const char *finish;
    const char *error; /* the error; NULL: none */
    openai_call calls[OPENAI_CALLS];
    size_t n_calls;
    ramet_usage usage;
    bool usage_came;
} openai_stream;

void openai_stream_init(openai_stream *st, const agent_sink *s);
void openai_stream_release(openai_stream *st);
/* Processes bytes of an event stream. False: stop reading (cancelled, an error, or the end). */
bool openai_stream_add(openai_stream *st, const char *p, size_t n);
/* Processes an answer in one piece, from a server that does not stream. */
bool openai_stream_whole(openai_stream *st, const char *json, size_t n);
/* Reports the calls that arrived, and how the answer ended. `cut`: why no more bytes came; NULL:
 * the server closed the stream. */
void openai_stream_end(openai_stream *st, const char *cut, agent_result *out);
/* The JSON of a call's arguments; if they are not JSON, a JSON string. */
const char *openai_call_input(openai_stream *st, const openai_call *c);

/* ------------------------------------------------------------------ the way there */

/* Connections kept for the next turn. Usable from any thread. */
typedef struct openai_http openai_http;
/* The settings must outlive it. */
openai_http *openai_http_new(const openai_settings *o);
void openai_http_free(openai_http *h);
/* Sends a request, and retries while no answer has arrived and a retry may help, until `deadline`
 * (time_mono_us()); passes the answer to the stream. Always fills *out. */
void openai_http_run(openai_http *h, const buf *request, int64_t deadline, openai_stream *st,
                     agent_result *out);

/* The message in a provider's error response, in the arena; NULL if there is none. */
const char *openai_error_text(arena *a, const char *body, size_t n);

#endif
