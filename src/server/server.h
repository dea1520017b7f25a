/* SPDX-License-Identifier: Apache-2.0
 *
 * server.h: what the parts of the server share: settings, identity, live events, metrics, log.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include "agent/agent.h"
#include "face/face.h"
#include "server/http.h"
#include "server/rpc.h"

#include <stdatomic.h>

/* ---- settings (server/config.c): one table gives the flags of `ramet serve`, the names in the
 * configuration file, their defaults and docs/server.md */

typedef struct setting_list {
    const char **items;
    size_t n, cap;
} setting_list;

typedef struct server_config {
    const char *listen; /* ADDR:PORT; [v6]:PORT */
    const char *grpc;   /* the same, for gRPC alone; "": none */
    const char *public_url;
    const char *kagent_agents; /* any, listed */
    const char *db;
    const char *attachments; /* folder; empty: where the store has them by itself */
    setting_list db_read;    /* URLs of read replicas */
    const char *db_direct;   /* past pgbouncer */
    int64_t db_pool;
    const char *auth; /* local, tokens, oidc */
    const char *default_user;
    const char *trusted_clients; /* the same */
    bool private_urls;
    const char *admins, *auditors, *indexers; /* parted by commas; a * at the end: a prefix */
    const char *cors;                         /* origins, parted by commas; * = any; "" = none */
    const char *cookie_key;                   /* "": see cookie.c */
    const char *log_format;                   /* logfmt, json */
    const char *log_level;                    /* error, warn, info, debug */
    bool access_log;
    int64_t slow_ms, oidc_keys_s;
    int64_t header_max, body_max, bodies_max, bodies_per_user;
    int64_t connections, connections_per_address, idle_s, request_s, stop_s;
    bool http2;
    int64_t grpc_calls, grpc_calls_per_address, grpc_watches, grpc_watches_per_address;
    int64_t grpc_watch_s, grpc_message_bytes, http2_resets;
    int64_t workers, threads, readers, user_share, answers_bytes;
    int64_t event_window, stream_max, stream_bytes, streams_bytes, heartbeat_s, stall_s;
    int64_t attachment_max;
    int64_t grace_days, gc_hours;
    setting_list agents; /* each as agents_new() takes it */
    const char *default_agent, *title_agent;
    int64_t turns, turn_queue, turn_s, turn_idle_s, question_s, turn_stop_s, answer_max;
    const char *oidc_issuer, *oidc_jwks, *oidc_audience, *oidc_client_id, *oidc_client_secret;
    const char *oidc_user_claim, *oidc_roles_claim, *oidc_algorithms, *oidc_redirect;
} server_config;

typedef enum {
    SETTING_TEXT,
    SETTING_WORD,
    SETTING_NUMBER,
    SETTING_SWITCH,
    SETTING_LIST
} setting_kind;

typedef struct server_setting {
    const char *part; /* a heading, and nothing else */
    const char *name; /* both NULL: the end */
    setting_kind kind;
    const char *value; /* what its value is called in help */
    const char *words; /* the values that it can have, parted by | */
    const char *otherwise;
    const char *text;
    int64_t least, most;
    size_t at; /* in server_config */
} server_setting;
extern const server_setting server_settings[];

#define CONFIG_MESSAGE 512
void config_defaults(server_config *cfg);
/* False: *message (CONFIG_MESSAGE bytes) tells why. The value is copied into the arena; one of a
 * list is added to those that are there. */
bool config_set(server_config *cfg, arena *a, const char *name, const char *value, char *message);
/* Lines of `name = value`; # begins a comment line; [agent NAME] begins the settings of an agent.
 * The message names file and line. */
bool config_read(server_config *cfg, arena *a, const char *path, char *message);
/* The tables of docs/server.md. */
void config_markdown(buf *out);

/* ---- identity (server/auth.c, server/oidc.c, server/login.c) */

typedef struct auth auth;
/* NULL and *message (256 bytes): the settings do not go together (local on another address …). */
auth *auth_new(const server_config *cfg, ramet *store, char *message);
void auth_free(auth *a);
/* Host and Origin (local: 421, 403; others: cookie writes from a foreign origin 403). False: the
 * answer is filled. */
bool auth_check_origin(auth *a, face_req *q);
/* The same for a read in local mode, when its route is known: one by a page of another origin is
 * refused, unless it is a link to a page of ours. */
bool auth_check_read(auth *a, face_req *q);
/* Fills q->who. False: the answer is filled (401, 403). May ask the store. */
bool auth_identify(auth *a, face_req *q);
extern const face face_login;      /* /login, /logout, /login/callback */
void auth_bind(auth *a);           /* the one that face_login uses */
void auth_port(auth *a, int port); /* that the server listens on, once it is known */

/* ---- live events (server/live.c): one thread reads events and hands them to all streams */

typedef struct live live;
live *live_new(const server_config *cfg, ramet *store);
void live_stop(live *l); /* ends its streams, takes no new ones */
void live_free(live *l); /* after live_stop(), when no request runs any more */
/* Takes the request over: replays past `in->after` (or from now on), then goes on. */
void live_open(live *l, face_req *q, const ramet_events_in *in, bool from_now);
typedef struct live_numbers {
    int64_t streams, replaying;            /* now */
    int64_t sent, dropped, fallen, resets; /* since the start */
    int64_t buffered;                      /* bytes that wait in streams */
} live_numbers;
void live_count(live *l, live_numbers *out);

/* A line for everyone who watches a session now and may see it, not numbered and not replayed
 * (turn.delta …): it comes behind the event with the number `after`, and before those past it. -1:
 * behind what was committed before the call. Never waits: who is too slow for it goes without.
 * `json` is the data. */
void live_tell(live *l, int64_t after, const char *session, const char *tree, const char *event,
               const char *json, size_t n);
bool live_watched(live *l); /* somebody listens */
/* Who is asked before events are handed out up to that number: when it returns, what was told
 * elsewhere before they were committed has been told here, as far as possible. NULL: nobody, and
 * nobody is being asked when it returns. */
void live_settle(live *l, void (*settle)(void *arg, int64_t event), void *arg);

/* ---- turns (server/turns.c): runs agents on threads of its own and records what they say */

typedef struct turns turns;
/* What was left running by a server that died is marked as interrupted. NULL and *err. */
turns *turns_new(const server_config *cfg, ramet *store, agents *who, live *l, ramet_error *err);
/* No new ones; those that run are cancelled after that many seconds. False: an agent did not stop,
 * and what it uses must not be freed. */
bool turns_stop(turns *t, int seconds);
void turns_free(turns *t);
/* What faces ask for (face_host). */
void turns_run(turns *t, face_req *q, const face_turn_in *in, size_t n, bool many);
void turns_join(turns *t, face_req *q, const char *session, const char *turn);
void turns_cancel(turns *t, face_req *q, const char *session, const char *turn);
void turns_answer(turns *t, face_req *q, const char *session, const char *turn,
                  const char *question, const char *answer);
void turns_moved(turns *t, const char *session, bool keep);
void turns_running(turns *t, const ramet_session *s, json_writer *w);
typedef struct turns_numbers {
    int64_t running, waiting;        /* now */
    int64_t done, cancelled, failed; /* since the start */
} turns_numbers;
void turns_count(turns *t, turns_numbers *out);

/* ---- files from elsewhere (server/bring.c) */

typedef struct bring bring;
bring *bring_new(const server_config *cfg, ramet *store);
void bring_free(bring *b); /* ends what still runs; NULL is fine */
/* Begins to bring one; it is an attachment, or has failed, when it is over. */
void bring_file(bring *b, const ramet_fetch *f);

/* ---- metrics (server/metrics.c) and log (server/log.c) */

typedef struct metrics metrics;
metrics *metrics_new(const face *const *faces, size_t n);
void metrics_free(metrics *m);
void metrics_request(metrics *m, const face_req *q, int64_t us);
void metrics_count(metrics *m, const char *what, const char *type, const char *face);
/* Prometheus text. `http`, `live`, `turns`, `store` give the gauges. */
void metrics_write(metrics *m, const buf_budget *answers, http *h, rpc_server *r, live *l, turns *t,
                   ramet *store, buf *out);
/* Counts what is in the store, when it is time to: counting reads rows. For the timer. */
void metrics_refresh(metrics *m, ramet *store);

typedef enum { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG } log_level;
void log_setup(const server_config *cfg);
/* One line on standard error: time, level, message, then name and value pairs, NULL at the end. */
void log_line(log_level level, const char *message, ...) __attribute__((sentinel));

/* A line about a request: when each is logged, when it was slow, when the server failed. */
void log_request(const face_req *q, int64_t sent, int64_t us);

/* ---- the server's own routes (server/about.c): /healthz, /readyz, /metrics, /openapi.json,
 * /docs */

extern const face face_about;
typedef struct about_parts {
    metrics *metrics;
    const buf_budget *answers;
    http **http; /* it is started after the routes are there */
    rpc_server **rpc;
    live *live;
    turns *turns;
    ramet *store;
    const atomic_bool *stopping;
    const face *const *faces;
    size_t n_faces;
} about_parts;
void about_bind(const about_parts *p); /* copied; makes the documents */
void about_release(void);

/* ---- model servers on this machine (server/nearby.c): writes [{name, url, models}]. Takes up to a
 * second. */
void nearby_write(arena *a, json_writer *w);
/* Whether a URL is one of those places. */
bool nearby_is(const char *url);

/* ---- the web page (server/page.c) */
extern const face face_page;

/* Every face that is served, in the order of the documents (server/serve.c). */
const face *const *server_faces(size_t *n);

/* ---- all of it (server/serve.c): runs until a signal ends it. On failure *err is filled. */
ramet_status server_run(const server_config *cfg, ramet_error *err);

#endif
