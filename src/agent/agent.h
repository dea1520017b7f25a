/* SPDX-License-Identifier: Apache-2.0
 *
 * agent.h: who answers. One interface for every kind of agent.
 *
 * A kind is one file and one line in agent_kinds[] (agent/agent.c). A configured agent is a kind
 * with settings and a name; sessions refer to it by that name. An agent knows nothing of sessions,
 * branches or HTTP: it is given the history that the model shall see and the new message (the last
 * entries of it), and tells what it makes of it through a sink, on the thread that runs the turn.
 *
 * THREADS   agent_run() may run many turns of one agent at once, each on its own thread.
 * CANCEL    The sink's calls return false once the turn is cancelled; between them the agent asks
 *           sink->cancelled() (and stops waiting for the network within 100 ms).
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

/* An attachment. Its texts live until the sink is called. */
typedef struct agent_file {
    const char *name, *media_type; /* "" when not told */
    int64_t size;
    int fd; /* open for reading, and the agent's to close; -1: it cannot be read */
} agent_file;

/* What the agent is asked. Lives as long as the run. */
typedef struct agent_turn {
    const char *turn_id;
    const char *session_id; /* NULL: it is of no session that goes on */
    int64_t branch;         /* of it, that the answer is written to */
    int64_t overlay;        /* stands for what was hidden or replaced in the history; 0: nothing */
    const ramet_entry *history; /* oldest first; the new message is the last of it */
    size_t n;
    const char *cache_key; /* cache_root of the session: the same for a fork as for its parent */
    ramet_agent session;   /* the session's own agent settings: model, options … override */
    const char *user;
    /* An attachment that the history refers to, opened where it is of at most so many bytes. False:
     * there is no such. NULL: there are none. */
    bool (*file)(void *arg, const char *id, size_t most, agent_file *out);
    void *file_arg;
} agent_turn;

/* What an agent was sent (agent/prompt.h). Its texts live during the call. */
typedef struct agent_prompt {
    const char *instructions; /* a system prompt; "" when there is none */
    const char *settings;     /* JSON object: what was sent beside instructions and messages */
    const char *messages;     /* JSON array, as they were sent */
    bool as_stored;           /* the messages are those that the kind's `messages` makes of the
                                 history, the entries that the turn has recorded so far included */
} agent_prompt;

typedef enum {
    AGENT_DONE,      /* the answer is whole */
    AGENT_CANCELLED, /* stopped because the sink said so */
    AGENT_FAILED     /* `message` tells why, for people; what came so far stands */
} agent_end;

typedef struct agent_result {
    agent_end end;
    bool
        keeps; /* the agent records its answer itself: what was told need not be kept when it did */
    char message[512];
} agent_result;

/* A question to the user (a permission, an input). The answer is JSON or text, as `kind` says. */
typedef struct agent_question {
    const char *id;
    const char *kind; /* "permission" (answer: one of `options`' ids), "input" (answer: text) */
    const char *text;
    const char *options; /* JSON array of {id, name}; NULL when there are none */
} agent_question;

/* Where an answer goes. Each returns false when the turn was cancelled. Texts are copied. */
typedef struct agent_sink {
    bool (*delta)(void *arg, const char *text, size_t n);    /* of the answer */
    bool (*thinking)(void *arg, const char *text, size_t n); /* of its thinking */
    /* A finished call, and its result, as entries of their own; what came before them is recorded
     * first. `input` and `output` are JSON. */
    bool (*tool_call)(void *arg, const char *id, const char *name, const char *input);
    bool (*tool_result)(void *arg, const char *id, const char *output, bool is_error);
    /* Waits for the user's answer, which lives until the next call of the sink. */
    bool (*ask)(void *arg, const agent_question *q, const char **answer);
    bool (*plan)(void *arg, const char *json); /* shown, not recorded as text: a data part */
    bool (*usage)(void *arg, const ramet_usage *u);
    bool (*cancelled)(void *arg);
    /* Something is about to be sent: called for each request of a turn. NULL: it is not wanted. */
    void (*sent)(void *arg, const agent_prompt *p);
    void *arg;
} agent_sink;

/* ------------------------------------------------------------------ kinds and agents */

typedef struct agent_setting {
    const char *name;  /* NULL ends an array */
    const char *value; /* default; NULL: must be given */
    const char *text;
    bool secret; /* never shown */
} agent_setting;

typedef struct agent agent;

typedef struct agent_kind {
    const char *name, *about;
    const agent_setting *settings;
    /* Asking changes nothing: it may be asked before the message is stored, and in vain. */
    bool early;
    /* Reads its settings (agent_get()); false and *message (AGENT_MESSAGE bytes) when they do not
     * do: close() is not called then. */
    bool (*open)(agent *a, char *message);
    void (*close)(agent *a);
    /* Members that GET /agents has more for it; may be NULL. */
    void (*describe)(agent *a, json_writer *w);
    void (*run)(agent *a, const agent_turn *t, const agent_sink *s, agent_result *out);
    /* Writes the messages (an array) that a history is sent as; the same bytes every time. NULL:
     * what the kind sends depends on more. */
    void (*messages)(const ramet_entry *history, size_t n, const char *instructions,
                     json_writer *w);
} agent_kind;

extern const agent_kind *const agent_kinds[]; /* NULL ends it */

struct agent {
    const char *name;
    const agent_kind *kind;
    const char *const *values; /* beside kind->settings */
    void *own;                 /* of the kind */
    bool shared;               /* several people make sessions: what these name is checked */
};

const char *agent_get(const agent *a, const char *setting);

/* ---- for kinds */

enum { AGENT_MESSAGE = 256, AGENT_CALL_ID = 32, AGENT_CONTEXT_MOST = 1000000000 };

/* An id for a tool call or a question: "call_" and 24 random digits. */
const char *agent_call_id(char out[AGENT_CALL_ID]);
/* Ends a run as failed; the message is cut to valid UTF-8 where it is too long. */
void agent_fail(agent_result *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Puts stars in the place of a secret that the other side has quoted. */
void agent_hide(char *text, const char *secret);
/* Tells the sink what is sent, if it wants to know. */
void agent_sent(const agent_sink *s, const agent_prompt *p);
/* Waits; false as soon as the turn is cancelled. */
bool agent_sleep(const agent_sink *s, int64_t ms);
/* A setting that is a whole number; false and *message when it is not one of that range. */
bool agent_number(const agent *a, const char *setting, int64_t least, int64_t most, int64_t *out,
                  char *message);

/* ---- all of them */

/* All configured agents. `echo` (kind echo) is always there, `default` names the one that sessions
 * without an agent get. */
typedef struct agents agents;
/* Each text: NAME=KIND[,setting=value…] (a flag --agent) or the lines of a section [agent NAME] of
 * the configuration file in that form. A value that holds a comma is quoted ('as it is', "with \\
 * and \n") or has backslashes; a secret that begins with $ is read from the environment. `deflt`
 * NULL or "": the first of the texts, else echo. `shared`: the sessions are made by several people,
 * who do not all have the rights of this process. Wrong: NULL, and *message (AGENT_MESSAGE bytes).
 */
agents *agents_new(const char *const *texts, size_t n, const char *deflt, bool shared,
                   char *message);
void agents_free(agents *a);
/* Adds NAME=`rest` while others use the set, where NAME is `base`, or `base`-2, … when that is
 * taken. It is the default from then on where echo alone was there. NULL and *message when it does
 * not do. */
agent *agents_join(agents *a, const char *base, const char *rest, char *message);
agent *agents_find(const agents *a, const char *name); /* NULL or "": the default; unknown: NULL */
size_t agents_list(const agents *a, agent *const **out);
/* [{name, kind, about, default, model?, models?, context?}], for GET /agents; the last three are
 * settings of those names, where a kind has them. */
void agents_write(const agents *a, json_writer *w);

#endif
