/* SPDX-License-Identifier: Apache-2.0
 *
 * internal.h: shared by the files of the HTTP client: sending a request, and reading its answer.
 */
#ifndef CLIENT_INTERNAL_H
#define CLIENT_INTERNAL_H

#include "base/arena.h"
#include "ramet/sandboxes.h"
#include "ramet/tokens.h"
#include "base/buf.h"
#include "base/curl_setup.h"
#include "base/json.h"
#include "client/client.h"
#include "form/native.h"

#define ANSWER_MAX ((size_t)1 << 30)

/* The `ramet *` of client_http points to one of these. */
typedef struct client {
    char *base, *token;
    char position[24]; /* position of the last write: later reads must see it */
} client;

/* And its `ramet_call *` to one of these. */
typedef struct client_call {
    client *server;
    char *user, *name;
    arena *arena; /* memory for its answers */
    CURL *curl;
    ramet_error err;
    int status; /* HTTP status of the last answer */
} client_call;

#define CALL(c) ((client_call *)(void *)(c))
#define TRY(expr)                                                                                  \
    do {                                                                                           \
        ramet_status try_ = (expr);                                                                \
        if (try_ != RAMET_OK)                                                                      \
            return try_;                                                                           \
    } while (0)

ramet_status client_fail(client_call *c, ramet_status st, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* ---- a request */

/* A target: the path with each %s replaced by the percent-encoded argument, then the query. */
typedef struct target {
    client_call *call;
    buf text;
    bool asked; /* the target has a '?' */
} target;
void target_init(target *t, client_call *c, const char *path, ...);
void target_add(target *t, const char *name, const char *value); /* NULL adds nothing */
void target_int(target *t, const char *name, int64_t value);     /* 0 adds nothing */
void target_bool(target *t, const char *name, bool value);       /* false adds nothing */
void target_branch(target *t, const char *name, int64_t branch); /* 0 adds nothing */

/* A body under construction; NULL for a request without one. */
typedef struct body {
    buf text;
    json_writer writer;
} body;
void body_init(body *b);                                     /* begins an object */
void body_add(body *b, const char *name, const char *value); /* NULL adds nothing */
void body_entries(body *b, const ramet_entry_in *list, size_t n);
void body_at(body *b, const char *name, const ramet_at *at);
void body_texts(body *b, const char *name, const char *const *items, size_t n);

/* Sends the request, and frees target and body. The answer is parsed in the call's memory. */
ramet_status ask(target *t, const char *method, body *b, json_doc *out);
/* The same with a complete body. */
ramet_status ask_raw(target *t, const char *method, body *b, json_doc *out);
/* User and token go into headers: refuses control characters, which could inject headers. */
ramet_status headers_check(client_call *c);
struct curl_slist *ask_headers(const client_call *c, bool has_body);
/* One exchange in two steps: the handle with the options that all requests share, to which the
 * caller adds; then the exchange, which sets c->status and frees the headers. */
CURL *send_prepare(client_call *c, const target *t, struct curl_slist *headers,
                   curl_write_callback sink, void *arg);
CURLcode send_run(client_call *c, struct curl_slist *headers);
/* Makes the library's error from an answer whose status is not 2xx. */
ramet_status answer_error(client_call *c, const buf *text);
/* The same, storing the answer in a file. */
ramet_status ask_file(target *t, const char *method, const char *path);

/* With a body that is not JSON; with an answer that is not. Both free the target. */
ramet_status ask_upload(target *t, const char *media_type, const void *bytes, size_t n,
                        json_doc *out);
ramet_status ask_download(target *t, buf *out);
/* A long answer, and a long body, piece by piece; `told` learns how far it is. Both free the
 * target.
 */
typedef struct ask_pipe {
    curl_write_callback sink;  /* of the answer, while its status is 200 */
    curl_read_callback source; /* of the body; NULL: there is none */
    void *arg;
    int64_t size; /* of the body */
    ramet_progress progress;
    void *progress_arg;
    const char *doing;
    /* of ask_through() */
    client_call *call;
    buf text; /* an answer that is not for `sink` */
    bool stopped;
} ask_pipe;
ramet_status ask_through(target *t, const char *method, ask_pipe *p);

/* ---- reading answers, by the tables of form/native.h */

/* Fails if the answer lacks a member: then it does not come from a Ramet server. */
ramet_status answer_has(client_call *c, const json_doc *d, const char *name);
/* Reads the answer as the struct of that schema, in the call's memory. */
void *answer_read(client_call *c, const json_doc *d, const form_schema *s);
/* An answer that is a session. */
ramet_status answer_session(client_call *c, const json_doc *d, ramet_session **out);

int64_t get_int(const json_doc *d, const json_node *obj, const char *name);
const char *get_text(client_call *c, const json_doc *d, const json_node *obj, const char *name);

/* GETs a list and frees the target: *n structs of `size`, by the schema of the list. *more (may be
 * NULL): whether there is another page. */
ramet_status ask_list(target *t, const form_schema *schema, size_t size, void **out, size_t *n,
                      bool *more);
#define ASK_LIST(t, schema, out, n, more)                                                          \
    ask_list(t, &(schema), sizeof **(out), (void **)(out), n, more)

/* ---- calls by noun, for the table in client.c */
#define X(name) extern __typeof__(ramet_##name) http_##name;
CLIENT_CALLS(X)
#undef X

#endif
