/* SPDX-License-Identifier: Apache-2.0
 *
 * inner.h: what the parts of the HTTP client share: a request, and reading its answer.
 */
#ifndef CLIENT_INNER_H
#define CLIENT_INNER_H

#include "base/arena.h"
#include "ramet/sandboxes.h"
#include "ramet/tokens.h"
#include "base/buf.h"
#include "base/json.h"
#include "client/client.h"

#include <curl/curl.h>

#define ANSWER_MAX ((size_t)1 << 30)

/* What stands behind a `ramet *` of client_http. */
typedef struct client {
    char *base, *token;
    char position[24]; /* of the last write: what is read holds it */
} client;

/* What stands behind its `ramet_call *`. */
typedef struct client_call {
    client *r;
    char *user, *name;
    arena *a; /* its answers */
    CURL *curl;
    ramet_error err;
    int status; /* of the last answer */
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
    client_call *c;
    buf text;
    bool asked; /* a '?' is there */
} target;
void target_init(target *t, client_call *c, const char *path, ...);
void target_add(target *t, const char *name, const char *value); /* NULL adds nothing */
void target_int(target *t, const char *name, int64_t value);     /* 0 adds nothing */
void target_bool(target *t, const char *name, bool value);       /* false adds nothing */
void target_branch(target *t, const char *name, int64_t branch); /* 0 adds nothing */

/* A body under construction; NULL for a request without one. */
typedef struct body {
    buf text;
    json_writer w;
} body;
void body_init(body *b);                                     /* an object is open */
void body_add(body *b, const char *name, const char *value); /* NULL adds nothing */
void body_entry(json_writer *w, const ramet_entry_in *e);
void body_entries(body *b, const ramet_entry_in *list, size_t n);
void body_at(body *b, const char *name, const ramet_at *at);
void body_texts(body *b, const char *name, const char *const *items, size_t n);

/* Sends, and frees both. The answer is read into the call's memory. */
ramet_status ask(target *t, const char *method, body *b, json_doc *out);
/* The same with a body that is whole already. */
ramet_status ask_raw(target *t, const char *method, body *b, json_doc *out);
/* Who asks goes into headers: a line end in it would begin another one. */
ramet_status who_check(client_call *c);
void position_hear(client_call *c); /* from the answer that has just come */
struct curl_slist *ask_headers(const client_call *c, bool has_body);
/* The library's error from an answer of another status than 2xx. */
ramet_status answer_error(client_call *c, const buf *text);
/* The same with the answer into a file. */
ramet_status ask_file(target *t, const char *method, const char *path);

/* A body that is not JSON; an answer that is not. Both free the target. */
ramet_status ask_upload(target *t, const char *media_type, const void *bytes, size_t n,
                        json_doc *out);
ramet_status ask_download(target *t, buf *out);

/* ---- reading answers: table-driven, see read.c. `v` NULL or null leaves zeros. */
void read_head(client_call *c, const json_doc *d, const json_node *v, ramet_head *out);
void read_session(client_call *c, const json_doc *d, const json_node *v, ramet_session *out);
/* Whoever answers something else than was asked for is no Ramet server. */
ramet_status answer_has(client_call *c, const json_doc *d, const char *name);
/* An answer that is a session. */
ramet_status answer_session(client_call *c, const json_doc *d, ramet_session **out);
void read_cut(client_call *c, const json_doc *d, const json_node *v, ramet_cut *out);
void read_entry(client_call *c, const json_doc *d, const json_node *v, ramet_entry *out);
void read_usage_sum(client_call *c, const json_doc *d, const json_node *v, ramet_usage_sum *out);
void read_move(client_call *c, const json_doc *d, const json_node *v, ramet_move *out);
void read_version(client_call *c, const json_doc *d, const json_node *v, ramet_version *out);
void read_branch(client_call *c, const json_doc *d, const json_node *v, ramet_branch *out);
void read_member(client_call *c, const json_doc *d, const json_node *v, ramet_member *out);
void read_verdict(client_call *c, const json_doc *d, const json_node *v, ramet_verdict *out);
void read_hit(client_call *c, const json_doc *d, const json_node *v, ramet_hit *out);
void read_compare(client_call *c, const json_doc *d, const json_node *v, ramet_compare_out *out);
void read_share(client_call *c, const json_doc *d, const json_node *v, ramet_share *out);
void read_sandbox(client_call *c, const json_doc *d, const json_node *v, ramet_sandbox *out);
void read_token(client_call *c, const json_doc *d, const json_node *v, ramet_token *out);
void read_fork_point(client_call *c, const json_doc *d, const json_node *v, ramet_fork_point *out);
void read_fault(client_call *c, const json_doc *d, const json_node *v, ramet_fault *out);
void read_stats(client_call *c, const json_doc *d, const json_node *v, ramet_stats *out);

int64_t get_int(const json_doc *d, const json_node *obj, const char *name);
bool get_bool(const json_doc *d, const json_node *obj, const char *name);
const char *get_text(client_call *c, const json_doc *d, const json_node *obj, const char *name);
const char *const *get_texts(client_call *c, const json_doc *d, const json_node *v, size_t *n);
void page_read(client_call *c, const json_doc *d, ramet_page *out);

/* An array of structs from an array of objects: *n items of `size`. */
typedef void (*read_one)(client_call *c, const json_doc *d, const json_node *v, void *out);
void *read_list(client_call *c, const json_doc *d, const json_node *v, size_t size, read_one one,
                size_t *n);
#define READ_LIST(c, d, v, type, one, n)                                                           \
    ((type *)read_list(c, d, v, sizeof(type), (read_one)(void (*)(void))(one), n))

/* The answer of an append, an edit or a regenerate. */
void append_read(client_call *c, const json_doc *d, ramet_append_out *out);

/* GETs a list of structs and frees the target; the list is the member `noun` of the answer. *more
 * may be NULL: it tells whether there is another page. */
ramet_status ask_list(target *t, const char *noun, size_t size, read_one one, void **out, size_t *n,
                      bool *more);
#define ASK_LIST(t, noun, one, out, n, more)                                                       \
    ask_list(t, noun, sizeof **(out), (read_one)(void (*)(void))(one), (void **)(out), n, more)

/* ---- calls by noun, for the table in client.c */
#define X(name) extern __typeof__(ramet_##name) http_##name;
CLIENT_CALLS(X)
#undef X

#endif
