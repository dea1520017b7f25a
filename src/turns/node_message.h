/* SPDX-License-Identifier: Apache-2.0
 *
 * node_message.h: the messages that nodes on one database exchange, as structs and as bytes.
 *
 * A message is one JSON object. Its form is private to Ramet, but nodes of two versions may run
 * side by side during a rolling update: members may be added, not renamed.
 */
#ifndef TURNS_NODE_MESSAGE_H
#define TURNS_NODE_MESSAGE_H

#include "base/arena.h"
#include "base/buf.h"
#include "turns/turns.h"

typedef enum node_message_kind {
    /* about a run; `turn` names it */
    NODE_RUN,      /* a snapshot of everything about it */
    NODE_DELTA,    /* a piece of text or thinking */
    NODE_APPENDED, /* pending output is in the store now */
    NODE_QUESTION, /* the open question; none: it was answered */
    NODE_PLAN,
    NODE_ENDED,
    NODE_SNAPSHOT_REQUEST, /* asks the node that owns the run for a NODE_RUN */
    /* between nodes */
    NODE_HELLO, /* the sender may have missed messages: send your runs */
    NODE_HERE,  /* the answer to NODE_HELLO */
    NODE_COMMAND,
    NODE_OUTCOME /* the result of a command */
} node_message_kind;

enum { OUTCOME_TEXT = 32 };

/* A request to the node that runs a turn. */
typedef struct node_command {
    const char *operation; /* "cancel", "answer", "moved" */
    const char *session, *turn, *question, *answer;
    const char *decision, *author; /* "answer": see turn_answer; the user who gives it */
    const char *entry_id, *entry_format, *entry_body, *entry_parts; /* of its entry; NULL: none */
    bool keep;
} node_command;

typedef struct node_part {
    bool is_thinking;
    const char *text;
    size_t n;
} node_part;

/* Members that a kind does not use are empty. */
typedef struct node_message {
    node_message_kind kind;
    const char *turn;
    const char *host; /* the sender: NODE_RUN, NODE_HELLO, NODE_HERE */
    int64_t after;    /* the message follows that event; set on received messages */

    /* NODE_RUN */
    const char *session, *tree, *entry_id, *agent, *group;
    int64_t branch, first, begun_us;
    node_part *parts;
    size_t n_parts;
    /* NODE_RUN, NODE_APPENDED, NODE_ENDED: see struct run. `said` does not include the parts. */
    int64_t said, begin, upto;

    const turn_question *question; /* NODE_RUN, NODE_QUESTION; NULL: none is open */
    const char *plan;              /* NODE_RUN, NODE_PLAN: JSON; NULL: none */
    node_part delta;               /* NODE_DELTA */
    int64_t at;                    /* NODE_DELTA: bytes sent before it */
    ramet_turn_status status;      /* NODE_ENDED */
    const char *error;             /* NODE_ENDED */
    int64_t ended_us;              /* NODE_ENDED */

    const char *number; /* NODE_COMMAND, NODE_OUTCOME: matches the two */
    node_command command;
    const char *outcome;
} node_message;

/* Writes a message up to its end; node_message_finish() completes it once `after` is known. */
void node_message_write(const node_message *m, buf *out);
void node_message_finish(buf *out, int64_t after);
/* Parses a message; its texts are in the arena. False: not a message that this version knows. */
bool node_message_read(arena *a, const char *text, size_t n, node_message *out);

#endif
