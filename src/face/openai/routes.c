/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of the OpenAI-compatible API. Dispatch, the checks of query and body, and
 * the documents come from here.
 */
#include "face/openai/openai_face.h"

#include "face/kit/rows.h"

/* A table reads by its rows. */
/* clang-format off */
#define RESPONSE_FIELDS FIELDS( \
    F("model", TEXT, "an agent, or AGENT/model; left out: the default agent", .nullable = true), \
    F("input", ANY, "a text, or a list of items", .nullable = true), \
    F("previous_response_id", TEXT, "the response that this one follows; a fork, when others have followed it", .nullable = true), \
    F("conversation", ANY, "a conversation, by its id or as {id}: the response is appended to it", .nullable = true), \
    F("instructions", TEXT, "a system prompt, for this response alone", .nullable = true), \
    F("include", ANY, "accepted; nothing more is included", .nullable = true), \
    F("tools", ANY, "tools of type function and custom, which the client runs", .nullable = true), \
    F("tool_choice", ANY, "auto, none, required, or a tool", .nullable = true), \
    F("parallel_tool_calls", BOOL, "whether several tools may be called at once", .nullable = true), \
    F("metadata", ANY, "at most 16 pairs; keys of 64, values of 512 characters", .nullable = true), \
    F("text", ANY, "the format of the text: text, json_object, json_schema", .nullable = true), \
    F("temperature", NUMBER, "for the model", .nullable = true), \
    F("top_p", NUMBER, "for the model", .nullable = true), \
    F("presence_penalty", NUMBER, "for the model", .nullable = true), \
    F("frequency_penalty", NUMBER, "for the model", .nullable = true), \
    F("top_logprobs", INT, "only 0", .nullable = true), \
    F("max_output_tokens", INT, "the most tokens of the answer", .nullable = true, .min = 1, .max = 1000000000), \
    F("max_tool_calls", INT, "accepted: no tools run here", .nullable = true), \
    F("reasoning", ANY, "{effort, summary}; effort goes to the model", .nullable = true), \
    F("stream", BOOL, "answer with events", .nullable = true), \
    F("stream_options", ANY, "accepted", .nullable = true), \
    F("background", BOOL, "answer at once; the response is made meanwhile", .nullable = true), \
    F("store", BOOL, "whether the response is recorded", .nullable = true), \
    F("truncation", TEXT, "disabled", .nullable = true), \
    F("prompt_cache_key", TEXT, "accepted: forks share the cache key of their parent", .nullable = true), \
    F("prompt_cache_retention", ANY, "accepted", .nullable = true), \
    F("safety_identifier", TEXT, "kept with the response", .nullable = true), \
    F("service_tier", TEXT, "kept with the response", .nullable = true), \
    F("client_metadata", ANY, "accepted", .nullable = true), \
    F("user", TEXT, "accepted; the caller is identified by its token", .nullable = true))

#define CHAT_FIELDS FIELDS( \
    F("model", TEXT, "an agent, or AGENT/model; left out: the default agent", .nullable = true), \
    R("messages", ANY, "the whole list of messages"), \
    F("tools", ANY, "tools of type function, which the client runs", .nullable = true), \
    F("tool_choice", ANY, "auto, none, required, or a function", .nullable = true), \
    F("parallel_tool_calls", BOOL, "whether several tools may be called at once", .nullable = true), \
    F("n", INT, "how many answers; they are versions of one message", .nullable = true, .min = 1, .max = TURNS_MAX_PER_REQUEST), \
    F("stream", BOOL, "answer with chunks", .nullable = true), \
    F("stream_options", ANY, "{include_usage}", .nullable = true), \
    F("temperature", NUMBER, "for the model", .nullable = true), \
    F("top_p", NUMBER, "for the model", .nullable = true), \
    F("presence_penalty", NUMBER, "for the model", .nullable = true), \
    F("frequency_penalty", NUMBER, "for the model", .nullable = true), \
    F("max_tokens", INT, "the most tokens of the answer", .nullable = true, .min = 1, .max = 1000000000), \
    F("max_completion_tokens", INT, "the same under its newer name", .nullable = true, .min = 1, .max = 1000000000), \
    F("seed", INT, "for the model", .nullable = true), \
    F("stop", ANY, "for the model", .nullable = true), \
    F("reasoning_effort", TEXT, "for the model", .nullable = true), \
    F("response_format", ANY, "for the model", .nullable = true), \
    F("verbosity", TEXT, "for the model", .nullable = true), \
    F("logprobs", BOOL, "only false", .nullable = true), \
    F("top_logprobs", INT, "only with logprobs", .nullable = true), \
    F("metadata", ANY, "at most 16 pairs; keys of 64, values of 512 characters", .nullable = true), \
    F("store", BOOL, "whether the answer is recorded", .nullable = true), \
    F("prompt_cache_key", TEXT, "accepted", .nullable = true), \
    F("prompt_cache_retention", ANY, "accepted", .nullable = true), \
    F("safety_identifier", TEXT, "accepted", .nullable = true), \
    F("service_tier", TEXT, "accepted", .nullable = true), \
    F("user", TEXT, "accepted; the caller is identified by its token", .nullable = true))

#define PAGE_QUERY FIELDS( \
    F("after", TEXT, "the item before the page"), F("limit", INT, "at most so many; 20", .min = 1, .max = 100), \
    F("order", ENUM, "newest first by default", .values = "asc|desc"), F("include", ANY, "accepted"), F("include[]", ANY, "accepted"))
#define GET_QUERY FIELDS( \
    F("stream", BOOL, "answer with events"), F("starting_after", INT, "the last sequence_number that the client has", .min = -1, .max = INT64_MAX), \
    F("include", ANY, "accepted"), F("include[]", ANY, "accepted"), F("include_obfuscation", ANY, "accepted"))

/* At the base URL of this protocol, and where clients look that are given the server alone. */
#define BOTH(method_, path_, name_, ...) \
    ROUTE(method_, "/openai/v1" path_, ROLE_USER, .name = "openai" name_, __VA_ARGS__), \
    ROUTE(method_, "/v1" path_, ROLE_USER, .name = "openaiRoot" name_, __VA_ARGS__)

static const face_route routes[] = {
BOTH("GET", "/models", "ListModels", .group = "Models", .summary = "The models: agents, and the models of each",
 .success = 200, .run = openai_models_get),
BOTH("GET", "/models/{model}", "GetModel", .group = "Models", .summary = "One model",
 .success = 200, .run = openai_model_get),

BOTH("POST", "/responses", "CreateResponse", .group = "Responses", .flags = ROUTE_WRITE | ROUTE_STREAM,
 .summary = "Makes a response", .success = 200, .run = openai_response_post, .body = RESPONSE_FIELDS,
 .about = "The answer is a response object, or with `stream` its events. Headers say where it stands: `Ramet-Session`, `Ramet-Branch`, `Ramet-Parent`.",
 .statuses = "SESSION_NOT_FOUND FORBIDDEN TOO_BUSY", .example = "{\"model\": \"echo\", \"input\": \"Hello\"}"),
BOTH("GET", "/responses/{response}", "GetResponse", .group = "Responses", .flags = ROUTE_STREAM, .query = GET_QUERY,
 .summary = "A response as it stands now, or its events", .success = 200, .run = openai_response_get),
BOTH("DELETE", "/responses/{response}", "DeleteResponse", .group = "Responses", .flags = ROUTE_WRITE,
 .summary = "Forgets the id; the history stays", .success = 200, .run = openai_response_delete),
BOTH("POST", "/responses/{response}/cancel", "CancelResponse", .group = "Responses", .flags = ROUTE_WRITE | ROUTE_KEYLESS,
 .summary = "Ends a response that is being made", .success = 200, .run = openai_response_cancel),
BOTH("GET", "/responses/{response}/input_items", "ListInputItems", .group = "Responses", .query = PAGE_QUERY,
 .summary = "What the response answers", .success = 200, .run = openai_input_items_get),

BOTH("POST", "/chat/completions", "CreateChatCompletion", .group = "Chat", .flags = ROUTE_WRITE | ROUTE_STREAM,
 .summary = "Answers a list of messages", .success = 200, .run = openai_chat_post, .body = CHAT_FIELDS,
 .about = "The list is matched against what the caller has: only what is new is stored, and a difference is a fork. The header `Ramet-Session` (`new`, or an id) says otherwise.",
 .statuses = "FORBIDDEN TOO_BUSY", .example = "{\"model\": \"echo\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}"),

ROUTE("POST", "/openai/v1/conversations", ROLE_USER, .name = "openaiCreateConversation", .group = "Conversations", .flags = ROUTE_WRITE,
 .summary = "Makes a conversation, or a fork of one", .success = 200, .run = openai_conversation_post,
 .body = FIELDS(F("items", ANY, "at most 20 items to begin with", .nullable = true), F("metadata", ANY, "at most 16 pairs", .nullable = true),
  F("fork", ANY, "an extension: {conversation, response_id or item_id}", .nullable = true)),
 .example = "{\"metadata\": {\"topic\": \"demo\"}}"),
ROUTE("GET", "/openai/v1/conversations/{conversation}", ROLE_USER, .name = "openaiGetConversation", .group = "Conversations",
 .summary = "A conversation", .success = 200, .run = openai_conversation_get),
ROUTE("POST", "/openai/v1/conversations/{conversation}", ROLE_USER, .name = "openaiUpdateConversation", .group = "Conversations", .flags = ROUTE_WRITE,
 .summary = "Sets its metadata", .success = 200, .run = openai_conversation_update,
 .body = FIELDS(F("metadata", ANY, "at most 16 pairs; replaces the old one", .nullable = true)), .example = "{\"metadata\": {\"topic\": \"demo\"}}"),
ROUTE("DELETE", "/openai/v1/conversations/{conversation}", ROLE_USER, .name = "openaiDeleteConversation", .group = "Conversations", .flags = ROUTE_WRITE,
 .summary = "Deletes it; forks stay", .success = 200, .run = openai_conversation_delete),
ROUTE("GET", "/openai/v1/conversations/{conversation}/forks", ROLE_USER, .name = "openaiListForks", .group = "Conversations",
 .summary = "Its forks: an extension", .success = 200, .run = openai_forks_get),
ROUTE("POST", "/openai/v1/conversations/{conversation}/items", ROLE_USER, .name = "openaiCreateItems", .group = "Conversations", .flags = ROUTE_WRITE,
 .summary = "Appends items", .success = 200, .run = openai_items_post, .body = FIELDS(R("items", ANY, "at most 20")),
 .query = FIELDS(F("include", ANY, "accepted"), F("include[]", ANY, "accepted")),
 .example = "{\"items\": [{\"type\": \"message\", \"role\": \"user\", \"content\": \"Hello\"}]}"),
ROUTE("GET", "/openai/v1/conversations/{conversation}/items", ROLE_USER, .name = "openaiListItems", .group = "Conversations", .query = PAGE_QUERY,
 .summary = "Its items, as a model would see them", .success = 200, .run = openai_items_get),
ROUTE("GET", "/openai/v1/conversations/{conversation}/items/{item}", ROLE_USER, .name = "openaiGetItem", .group = "Conversations",
 .query = FIELDS(F("include", ANY, "accepted"), F("include[]", ANY, "accepted")),
 .summary = "One item", .success = 200, .run = openai_item_get),
ROUTE("DELETE", "/openai/v1/conversations/{conversation}/items/{item}", ROLE_USER, .name = "openaiDeleteItem", .group = "Conversations", .flags = ROUTE_WRITE,
 .summary = "Takes it out of what a model sees", .success = 200, .run = openai_item_delete,
 .about = "The last item is rewound, another one hidden; the record keeps both."),
ROUTES_END,
};

static const face_param params[] = {
    {"model", "a model, percent-encoded", "echo"},
    {"response", "a response, resp_…", "resp_0199a0e2f1c47b6a8d3e5f7a9b1c2d3e"},
    {"conversation", "a conversation, conv_…", "conv_0199a0e2f1c47b6a8d3e5f7a9b1c2d3e"},
    {"item", "an item, msg_…", "msg_0199a0e2f1c47b6a8d3e5f7a9b1c2d3e"},
    {NULL, NULL, NULL},
};
/* clang-format on */

const face face_openai = {
    .name = "openai",
    .title = "OpenAI-compatible API",
    .prefix = "/openai/v1",
    .identity = &openai_identity,
    .owns_prefix = true,
    .fail = openai_fail,
    .about =
        "For clients of OpenAI's API: give them `…/openai/v1` as their base URL. A response is a "
        "turn, a conversation is a session, an item is an entry or a part of one. Errors are "
        "`{\"error\": {\"message\", \"type\", \"param\", \"code\"}}`. In local mode the bearer is "
        "ignored, and the caller is `X-User-Id` or the default user.",
    .routes = routes,
    .params = params,
};
