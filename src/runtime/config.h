/* SPDX-License-Identifier: Apache-2.0
 *
 * config.h: the settings of the server. One table (settings.h) defines the flags of `ramet serve`,
 * the names in the configuration file, their defaults and docs/server.md.
 */
#ifndef RUNTIME_CONFIG_H
#define RUNTIME_CONFIG_H

#include "base/arena.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct setting_list {
    const char **items;
    size_t n, cap;
} setting_list;

typedef struct server_config {
    const char *listen; /* ADDR:PORT; [v6]:PORT */
    const char *grpc;   /* likewise, for gRPC only; "": none */
    const char *public_url;
    const char *a2a_root, *a2a_cards;
    const char *kagent_agents; /* any, listed */
    const char *openai_record; /* unless-refused, always, asked */
    const char *db;
    const char *attachments; /* folder; "": the store's default */
    setting_list db_read;    /* URLs of read replicas */
    const char *db_direct;   /* bypasses pgbouncer */
    int64_t db_pool;
    const char *auth; /* local, tokens, oidc */
    const char *default_user;
    const char *trusted_clients; /* the same */
    bool private_urls, private_pushes;
    const char *admins, *auditors, *indexers; /* by comma; a trailing * matches a prefix */
    const char *cors;                         /* origins, separated by commas; * = any; "" = none */
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
    int64_t import_max;
    int64_t attachment_max;
    int64_t grace_days, gc_hours, retention_s;
    setting_list agents; /* each in the syntax of agents_new() */
    const char *default_agent, *title_agent, *suggest_agent;
    bool auto_tag;
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
    const char *part; /* a heading; the row has nothing else */
    const char *name; /* name and part both NULL: end of the table */
    setting_kind kind;
    const char *value;  /* placeholder for the value in the help */
    const char *values; /* allowed values, separated by | */
    const char *otherwise;
    const char *text;
    int64_t min, max;
    size_t at; /* offset in server_config */
} server_setting;
extern const server_setting server_settings[];

#define CONFIG_MESSAGE 512
void config_defaults(server_config *cfg);
/* Returns false with a reason in *message (CONFIG_MESSAGE bytes). The value is copied into the
 * arena; a value of a list setting is added to the list. */
bool config_set(server_config *cfg, arena *a, const char *name, const char *value, char *message);
/* Reads lines of `name = value`. A line that begins with # is a comment; [agent NAME] begins the
 * settings of an agent. On failure the message names file and line. */
bool config_read(server_config *cfg, arena *a, const char *path, char *message);
/* Writes the tables of docs/server.md. */
void config_markdown(buf *out);

#endif
