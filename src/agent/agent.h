/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.h: one interface for every kind of agent.
 *
 * A kind is one file and one line in agent_kinds[] (agent/agent.c). A configured agent is a kind
 * with settings and a name; sessions refer to it by that name. An agent knows nothing of sessions,
 * branches or HTTP: it gets the history that the model is to see, whose last entries are the new
 * message, and reports its answer through a sink, on the thread that runs the turn.
 *
 *   THREADS   agent_run() may run many turns of one agent at once, each on its own thread.
 *   CANCEL    The sink's functions return false once the turn is cancelled. Between these calls the
 *             agent checks sink->cancelled() (and stops waiting for the network within 100 ms).
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "ramet.h"

#include <stdbool.h>
#include <stddef.h>

/* ------------------------------------------------------------------ one turn */

/* An attachment. Its texts live until the next call of the sink. */
typedef struct agent_file {
    const char *name, *media_type; /* "" if unknown */
    int64_t size;
    int fd; /* open for reading, and owned by the agent; -1: it cannot be read */
} agent_file;

/* The input of an agent. Lives as long as the run. */
typedef struct agent_turn {
    const char *turn_id;
    const char *session_id; /* NULL: not part of a lasting session */
    int64_t branch;         /* the branch the answer is written to */
    int64_t overlay;        /* stands for what was hidden or replaced in the history; 0: nothing */
    const ramet_entry *history; /* oldest first; ends with the new message */
    size_t n;
    const char *cache_key; /* cache_root of the session: the same for a fork and its parent */
    ramet_agent session; /* the session's own agent settings, which override: model, options … */
    const char *user;
    /* Finds an attachment that the history refers to, and opens it if it has at most `most` bytes.
     * False: not found. NULL: there are none. */
    bool (*file)(void *arg, const char *id, size_t max, agent_file *out);
    void *file_arg;
} agent_turn;

/* What an agent was sent (agent/prompt.h). Its texts live during the call. */
typedef struct agent_prompt {
    const char *instructions; /* a system prompt; "" when there is none */
    const char *settings;     /* JSON object: what was sent besides instructions and messages */
    const char *messages;     /* JSON array, as they were sent */
    bool as_stored;           /* the messages are those that the kind's `messages` makes of the
                                 history, the entries that the turn has recorded so far included */
} agent_prompt;

typedef enum {
    AGENT_DONE,      /* the answer is complete */
    AGENT_CANCELLED, /* stopped because the sink asked for it */
    AGENT_FAILED     /* `message` has the reason, for users; output so far is kept */
} agent_end;

/* The messages of answers that the provider ended early. */
#define AGENT_OUT_OF_TOKENS "the answer reached the limit of tokens"
#define AGENT_FILTERED "the provider's content filter stopped the answer"

typedef struct agent_result {
    agent_end end;
    bool keeps; /* the agent records its answer itself: if it did, discard its output */
    char message[512];
} agent_result;

/* A question to the user (a permission, an input). */
typedef struct agent_question {
    const char *id;
    const char *kind; /* "permission": answer is an id in `options`; "input": answer is text */
    const char *text;
    const char *options; /* JSON array of {id, name}; NULL if there are none */
    const char *request; /* JSON array: the function calls with which an ADK agent asks, for clients
                            that can show them; NULL: none */
    const char *metadata; /* JSON object: of the message that asks, in the agent's protocol; NULL:
                             none */
} agent_question;

typedef struct agent_reply {
    const char *text;          /* NULL: none */
    const char *decision;      /* JSON object: the answer in the form that kagent's page gives to a
                                  `request`; NULL: the client gave only text */
    const char *format, *body; /* the message that holds it, in that format; NULL: none does */
} agent_reply;

/* Files and values that an agent answers with, and text that is more than its words. */
typedef struct agent_message {
    const char *id;            /* for an entry that has no other yet */
    const char *format, *body; /* the message, in that format */
    const char *parts;         /* the same as parts of an entry (JSON) */
    const char *text;          /* of a message of text, whose deltas are the last ones that were
                                  passed on: they become this entry; NULL: none were */
    const ramet_usage *usage;  /* what it took; NULL: not known */
} agent_message;

/* Receives the answer. Each function returns false if the turn was cancelled. Texts are copied. */
typedef struct agent_sink {
    bool (*delta)(void *arg, const char *text, size_t n);    /* text of the answer */
    bool (*thinking)(void *arg, const char *text, size_t n); /* text of its thinking */
    /* A completed call, and its result, as separate entries; output before them is recorded first.
     * `input` and `output` are JSON. */
    bool (*tool_call)(void *arg, const char *id, const char *name, const char *input);
    bool (*tool_result)(void *arg, const char *id, const char *output, bool is_error);
    /* Waits for the user's answer, which is valid until the next call of the sink. */
    bool (*ask)(void *arg, const agent_question *q, agent_reply *answer);
    /* A message in the form of the agent's protocol, as an entry of its own; output before it is
     * recorded first. */
    bool (*message)(void *arg, const agent_message *m);
    bool (*plan)(void *arg, const char *json); /* shown, and recorded as a data part, not as text */
    /* Facts about the answer (changed files), recorded as a data part with it; the last ones before
     * an entry count. NULL: they are not wanted (agent_data()). */
    bool (*data)(void *arg, const char *json);
    bool (*usage)(void *arg, const ramet_usage *u);
    bool (*cancelled)(void *arg);
    /* Something is about to be sent: called for each request of a turn. NULL: it is not wanted. */
    void (*sent)(void *arg, const agent_prompt *p);
    void *arg;
} agent_sink;

/* ------------------------------------------------------------------ kinds and agents */

typedef struct agent_setting {
    const char *name;  /* NULL ends an array */
    const char *value; /* default; NULL: required */
    const char *text;
    bool secret; /* never shown */
} agent_setting;

typedef struct agent agent;

/* The working files as they were before a message. */
typedef struct agent_files {
    const char *session;
    const ramet_entry *message; /* of the user */
    bool restore;               /* otherwise only tell what that would change */
} agent_files;

typedef struct agent_kind {
    const char *name, *about;
    const agent_setting *settings;
    /* Running it has no side effects: it may start before the message is stored, and be
     * discarded. */
    bool early;
    /* It follows the options of a session or a request (ramet_agent.options), under the names of
     * chat completions. */
    bool takes_options;
    /* Reads its settings (agent_get()). On failure returns false and fills *message (AGENT_MESSAGE
     * bytes); close() is not called then. */
    bool (*open)(agent *a, char *message);
    void (*close)(agent *a);
    /* Writes additional members for GET /agents; may be NULL. */
    void (*describe)(agent *a, json_writer *w);
    void (*run)(agent *a, const agent_turn *t, const agent_sink *s, agent_result *out);
    /* The changes that restoring the files makes, as a JSON array of {file, patch, additions,
     * deletions, status}, newest last. NULL: it is not possible, and *why (AGENT_MESSAGE bytes)
     * says that. The function itself may be NULL: the kind keeps no files. */
    const char *(*files)(agent *a, const agent_files *in, arena *mem, char *why);
    /* Writes the messages (an array) that a history is sent as; the same bytes every time. NULL:
     * what the kind sends depends on more. */
    void (*messages)(const ramet_entry *history, size_t n, const char *instructions,
                     json_writer *w);
} agent_kind;

extern const agent_kind *const agent_kinds[]; /* ends with NULL */

struct agent {
    const char *name;
    const agent_kind *kind;
    const char *const *values; /* parallel to kind->settings */
    void *own;                 /* private data of the kind */
    bool shared;               /* several users create sessions: check what these name */
};

const char *agent_get(const agent *a, const char *setting);

/* ---- for kinds */

enum { AGENT_MESSAGE = 256, AGENT_CALL_ID = 32, AGENT_MAX_CONTEXT = 1000000000 };

/* An id for a tool call or a question: "call_" and 24 random digits. */
const char *agent_call_id(char out[AGENT_CALL_ID]);
/* Ends a run as failed; the message is cut to valid UTF-8 where it is too long. */
void agent_fail(agent_result *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Replaces a secret that the other side has quoted with asterisks. */
void agent_hide(char *text, const char *secret);
/* Passes what is sent to the sink, if it wants that. */
void agent_sent(const agent_sink *s, const agent_prompt *p);
/* Passes facts about the answer to the sink, if it wants them. */
bool agent_data(const agent_sink *s, const char *json);
/* Waits; false as soon as the turn is cancelled. */
bool agent_sleep(const agent_sink *s, int64_t ms);
/* Parses a setting that is an integer; returns false and fills *message if it is not in the
 * range. */
bool agent_number(const agent *a, const char *setting, int64_t min, int64_t max, int64_t *out,
                  char *message);
/* Says what a setting must be, in *message; returns false. */
bool agent_wrong(char *message, const char *setting, const char *value, const char *must);
/* Parses a setting that is a number of seconds. */
bool agent_span(const agent *a, const char *setting, int64_t *ms, char *message);
/* Length of scheme://host:port; 0: not such a URL. */
size_t agent_origin_length(const char *url);
/* Whether a URL is http(s) and consists of plain characters. */
bool agent_url_plain(const char *url);

/* ---- all of them */

/* All configured agents. `echo` (kind echo) always exists; `default` names the agent of sessions
 * that name none. */
typedef struct agents agents;
/* Each text is NAME=KIND[,setting=value…] (a flag --agent), or a section [agent NAME] of the
 * configuration file in that form. A value that contains a comma is quoted ('literal', "with \\ and
 * \n") or has backslashes; a secret that begins with $ is read from the environment. `deflt` NULL
 * or "": the first of the texts, else echo. `shared`: several users create sessions, and not all of
 * them have the rights of this process. On failure returns NULL and fills *message (AGENT_MESSAGE
 * bytes).
 */
agents *agents_new(const char *const *texts, size_t n, const char *deflt, bool shared,
                   char *message);
void agents_free(agents *a);
/* Adds NAME=`rest` while the set is in use; NAME is `base`, or `base`-2, … if that is taken. It
 * becomes the default if echo was the only agent. On failure returns NULL and fills *message. */
agent *agents_join(agents *a, const char *base, const char *rest, char *message);
agent *agents_find(const agents *a, const char *name); /* NULL or "": the default; unknown: NULL */
size_t agents_list(const agents *a, agent *const **out);
/* [{name, kind, about, default, model?, models?, context?}], for GET /agents; the last three are
 * settings with those names, for kinds that have them. */
void agents_write(const agents *a, json_writer *w);

#endif
