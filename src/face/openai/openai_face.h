/* SPDX-License-Identifier: Apache-2.0
 *
 * openai_face.h: what the files of the OpenAI face share.
 *
 * A response is a turn, a conversation is a session, an item is an entry or a part of one. Ids are
 * derived from those of turns, sessions and entries (id.c), so nothing is stored for them.
 *
 *   id.c            conv_…, resp_…, msg_… and back
 *   model.c         models: the configured agents
 *   input.c         items and chat messages as entries
 *   settings.c      the other members of a request: checked, for the agent, and as they are kept
 *   item.c          entries as items
 *   answer.c        turn events as pieces of an answer, for both APIs
 *   object.c        the response object
 *   begin.c         where a turn begins; errors
 *   events.c        a turn as a response: an object, or the events of a stream
 *   response.c      /responses
 *   conversation.c  /conversations
 *   lineage.c       lists of messages that repeat a history: where they continue
 *   chat.c          /chat/completions: requests
 *   chat_events.c   a turn as a chat completion, or its chunks
 */
#ifndef FACE_OPENAI_OPENAI_FACE_H
#define FACE_OPENAI_OPENAI_FACE_H

#include "base/util.h"
#include "face/kit/face.h"

extern const identity_rule openai_identity;

/* {"error": {message, type, param, code}} */
void openai_fail(request *q, const char *code, const char *field, const char *message);
/* Fails with 400; always false. */
bool openai_refuse(request *q, const char *code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* An error of turns, in that shape. */
void openai_turn_error(request *q, const turn_error *e);

typedef void openai_handler(request *q);
openai_handler openai_models_get, openai_model_get;
openai_handler openai_response_post, openai_response_get, openai_response_delete,
    openai_response_cancel, openai_input_items_get;
openai_handler openai_conversation_post, openai_conversation_get, openai_conversation_update,
    openai_conversation_delete, openai_items_post, openai_items_get, openai_item_get,
    openai_item_delete, openai_forks_get;
openai_handler openai_chat_post;

enum { OPENAI_METADATA_PAIRS = 16, OPENAI_METADATA_KEY = 64, OPENAI_METADATA_VALUE = 512 };
enum { OPENAI_ITEMS_PER_CALL = 20, OPENAI_INPUT_ITEMS = 10000 };
#define OPENAI_BYTES ((size_t)256 << 20) /* of one object that is written */

/* ------------------------------------------------------------------ ids (id.c) */

/* "conv_" and the id: a UUID without its dashes, any other text in hex behind an x. */
const char *openai_id(arena *a, const char *prefix, const char *id);
/* The id that such a text stands for; NULL: it is not one. */
const char *openai_id_parse(arena *a, const char *prefix, const char *text);

/* Which entry, and which part of it, an item is. */
typedef struct item_place {
    const char *turn; /* NULL: the entry belongs to none */
    const char *entry;
    size_t part;
} item_place;
const char *openai_item_id(arena *a, const char *prefix, const item_place *at);
bool openai_item_parse(arena *a, const char *text, item_place *out);

/* ------------------------------------------------------------------ models (model.c) */

/* Finds the agent for `model`: NAME, NAME/model, or a model that an agent has; NULL: the default.
 * False: the answer is filled in. */
bool openai_model(request *q, const char *model, ramet_agent *out);

/* ------------------------------------------------------------------ input (input.c) */

typedef struct openai_input {
    VEC(ramet_entry_in) entries;
    VEC(const char *) names;  /* of each: "input[3]", for errors */
    const char *instructions; /* the leading system and developer messages; NULL: there are none */
    bool repeats;             /* it was a list: it may repeat a history */
} openai_input;

/* Both: false, the answer is filled in. */
bool openai_input_read(request *q, const char *field, openai_input *out);
bool openai_messages_read(request *q, openai_input *out);
/* One item, as an entry. */
bool openai_item_read(request *q, const json_doc *d, const json_node *item, const char *field,
                      ramet_entry_in *out);

/* ------------------------------------------------------------------ settings (settings.c) */

/* Checks the settings of a request and puts them into the options of the agent. False: the answer
 * is filled in. */
bool openai_response_settings(request *q, const char *instructions, ramet_agent *agent);
bool openai_chat_settings(request *q, const char *instructions, ramet_agent *agent);
/* What is kept with the turn: the members of the request besides its input. `more` is a member
 * with its value, or NULL. */
const char *openai_request_kept(request *q, const char *more);
/* Whether what this request says is recorded, by `store` and the setting openai-record. */
bool openai_records(request *q, bool chat);
/* Checks `metadata`. False: the answer is filled in. */
bool openai_metadata_check(request *q);

/* ------------------------------------------------------------------ items (item.c) */

/* Calls `each` for every item that an entry is. */
typedef void item_writer(void *arg, const char *id, const char *json);
void openai_items_of(arena *a, const ramet_entry *e, item_writer *each, void *arg);
/* Items that are collected for a list, oldest first. */
typedef struct item_list {
    arena *mem;
    VEC(const char *) ids;
    VEC(const char *) items;
} item_list;
item_writer openai_item_collect;
/* Answers with a page of the list as the query asks: order, after, limit. `more`: entries beyond
 * those of the list follow in that order. */
void openai_list_answer(request *q, const item_list *list, bool more);
/* Whether the entry is part of an answer, not of what the client sent. */
bool openai_is_output(const ramet_entry *e);
/* The items that answers have. `done`: completed, otherwise in progress. */
void openai_message_item(json_writer *w, const char *id, const char *text, bool done);
void openai_reasoning_item(json_writer *w, const char *id, const char *text);
/* `custom`: the tool is of type custom, and gets a text. */
void openai_call_item(json_writer *w, const char *id, const char *call_id, const char *name,
                      const char *arguments, bool done, bool custom);
/* The content of a message as an answer has it. */
void openai_text_part(json_writer *w, const char *text);
/* The arguments of a call as a text: JSON, or what the model wrote instead. */
const char *openai_arguments(arena *a, const json_doc *d, const json_node *input);
/* The text that a custom tool gets, of the arguments. */
const char *openai_custom_input(arena *a, const char *arguments);

/* ------------------------------------------------------------------ answers (answer.c) */

/* How a face hears an answer: parts of text one after the other, and calls between them. */
typedef struct answer_calls {
    void (*open)(void *arg, bool thinking, const item_place *at);
    void (*text)(void *arg, const char *text, size_t n);
    void (*close)(void *arg, const char *whole);
    void (*call)(void *arg, const item_place *at, const char *id, const char *name,
                 const char *arguments);
    void (*result)(void *arg, const item_place *at, const char *id, const char *output);
} answer_calls;

typedef struct answer_reader {
    const answer_calls *calls;
    void *arg;
    arena *mem;
    char entry[256]; /* the last part that was passed on; "": none was */
    size_t part;
    bool open; /* it may go on */
    buf text;  /* of it, so far */
    ramet_usage usage;
} answer_reader;

void answer_init(answer_reader *a, arena *mem, const answer_calls *calls, void *arg);
void answer_release(answer_reader *a);
/* Passes on what a delta or an entry of the answer says; other events are ignored. */
void answer_event(answer_reader *a, const turn_event *e);
/* Closes what is open. */
void answer_end(answer_reader *a);

/* ------------------------------------------------------------------ responses */

/* A response as it is written; texts live as long as its writer. */
typedef struct response_view {
    const char *session, *turn;
    const char *status; /* "in_progress", "completed" … */
    const char *error;  /* of a failed one; NULL: none */
    const char *reason; /* of an incomplete one; NULL: none */
    const char *const *items;
    size_t n_items;
    const ramet_usage *usage;  /* NULL: not known yet */
    const json_doc *request;   /* what was kept; n 0: nothing */
    int64_t completed;         /* seconds; 0: not yet */
    const char *default_model; /* where the request named none */
} response_view;
void openai_response_write(json_writer *w, arena *a, const response_view *v);
/* Seconds since 1970 at which an id of a turn was made. */
int64_t openai_created(const char *turn);

typedef enum {
    RESPONSE_STREAM, /* events */
    RESPONSE_WHOLE,  /* one object, when the turn is over */
    RESPONSE_NOW     /* one object, as it stands now */
} response_mode;

/* Where a turn runs, for the headers of the answer: filled in while turns_run() runs. */
typedef struct turn_place {
    char session[256];
    int64_t branch;
} turn_place;

typedef struct response_options {
    response_mode mode;
    const char *request; /* what is kept */
    const char *model;   /* that of the agent, where the request named none */
    int64_t after;       /* the last sequence number that the client has; -1: none */
    turn_place *place;   /* may be NULL */
} response_options;
turn_listener openai_response_listener(const response_options *o);

/* ------------------------------------------------------------------ chat completions */

typedef struct chat_options {
    bool stream;
    bool usage; /* stream_options.include_usage */
    size_t choices;
    const char *model;
    turn_place *place; /* may be NULL */
} chat_options;
turn_listener openai_chat_listener(const chat_options *o);

/* ------------------------------------------------------------------ where a turn goes */

/* Where the history of a request stands, and what is appended to it. */
typedef struct openai_place {
    const char *session; /* NULL: a new one */
    const char *new_id;  /* of the new one; NULL: a UUID */
    const char *head;    /* the history must be this; NULL: any */
    ramet_fork_in fork;
    bool forks;     /* run in a fork of the session */
    size_t skip;    /* entries of the input that are there already */
    int64_t length; /* with a session: entries of the history, for one who records nothing */
    bool may_fork;  /* when the history has gone on meanwhile, run in that fork */
} openai_place;

/* How a turn is begun: input, agent, kept request, listener. */
typedef struct openai_run {
    const openai_input *input;
    openai_place place;
    ramet_agent agent;
    const char *kept;
    bool unrecorded;    /* the place is the history that is read */
    size_t choices;     /* versions of the answer */
    const char *parent; /* of the session, if it is a fork that was made for this */
    /* Makes a listener; turns own it, so each try makes one. */
    turn_listener (*listener)(void *arg, turn_place *place);
    void *arg;
} openai_run;
/* Begins the turn and answers the request. */
void openai_turn_run(request *q, openai_run *run);

/* Finds where a list that repeats a history continues (rule: lineage.c). False: the answer is
 * filled in. */
bool openai_lineage(request *q, const openai_input *in, openai_place *out);
/* Checks that each call has its output and each output its call, where the first `end` entries of a
 * branch continue with the input (`end` 0: the input alone). False: the answer is filled in. */
bool openai_calls_check(request *q, const char *session, int64_t branch, int64_t end,
                        const openai_input *in);

/* ------------------------------------------------------------------ conversations */

/* The session that a conv_… names. NULL: the answer is filled in (404). */
const char *openai_conversation(request *q, const char *id, const char *field);

#endif
