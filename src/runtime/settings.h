/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.h: every setting of the server, once. The members of server_config, the flags of
 * `ramet serve`, the names in the configuration file, the defaults and docs/server.md come from it.
 */
#ifndef RUNTIME_SETTINGS_H
#define RUNTIME_SETTINGS_H

/* A table reads by its rows. */
/* clang-format off */

/* TEXT(member, name, value, default, text)
 * WORD(member, name, words, default, text)             one of the words
 * NUMBER(member, name, least, most, default, text)
 * SWITCH(member, name, default, text)                  on or off
 * LIST(member, name, value, text)                      may be given more than once
 * PART(title) begins a part of the documentation */
#define SERVER_SETTINGS(PART, TEXT, WORD, NUMBER, SWITCH, LIST)                                     \
    PART("Where")                                                                                   \
    TEXT(listen, "listen", "ADDR:PORT", "127.0.0.1:7077",                                           \
         "the address; port 0 picks a free one; [::1]:7077 for IPv6")                               \
    TEXT(grpc, "grpc", "ADDR:PORT", "",                                                             \
         "a second address, for gRPC alone; it is served on the first one, too")                    \
    TEXT(db, "db", "PATH", "",                                                                      \
         "the store's file; empty: RAMET_DB, else ~/.local/share/ramet/ramet.db")                   \
    TEXT(attachments, "attachments", "DIR", "",                                                     \
         "the folder of attachments, which all nodes of a cluster share; empty: beside the store's file, or in the database") \
    LIST(db_read, "db-read", "URL",                                                                 \
         "a read replica of the PostgreSQL database, for history pages; may be given more than once") \
    TEXT(db_direct, "db-direct", "URL", "",                                                         \
         "the same PostgreSQL database past pgbouncer; empty: db goes there itself")                \
    NUMBER(db_pool, "db-pool", 2, 256, "16", "most connections to PostgreSQL at once, beside a handful of its own") \
    TEXT(public_url, "public-url", "URL", "",                                                       \
         "where callers reach this server, for the cards of agents; empty: as their request says")  \
    PART("Who")                                                                                     \
    WORD(auth, "auth", "local|tokens|oidc", "local",                                                \
         "how callers are known: by what they say (loopback only), API keys, or JWTs of an issuer") \
    TEXT(default_user, "default-user", "USER", "local",                                             \
         "auth local: who it is when the request does not say; empty: such a request is refused")   \
    TEXT(admins, "admins", "USERS", "",                                                             \
         "users with the role admin, parted by commas; a * at the end stands for the rest. Empty with auth local: the default user")  \
    TEXT(auditors, "auditors", "USERS", "", "users with the role auditor, in the same form")        \
    TEXT(indexers, "indexers", "USERS", "", "users with the role indexer, in the same form")        \
    TEXT(trusted_clients, "trusted-clients", "CLIENTS", "",                                         \
         "memory-service: clients whose X-User-ID is believed, in the same form")                   \
    TEXT(cookie_key, "cookie-key", "TEXT", "",                                                      \
         "what sign-ins of browsers are sealed by, the same on all nodes, at least 32 characters; empty: a key in the database, with a file one that ends with the process") \
    TEXT(cors, "cors-origins", "ORIGINS", "",                                                       \
         "web origins that may call, parted by commas; * is any, and then without cookies")         \
    PART("OIDC")                                                                                    \
    TEXT(oidc_issuer, "oidc-issuer", "URL", "", "the issuer, as it stands in iss")                  \
    TEXT(oidc_jwks, "oidc-jwks", "FILE|URL", "",                                                    \
         "its keys; empty: as the issuer's discovery document says")                                \
    TEXT(oidc_audience, "oidc-audience", "TEXT", "", "what aud must name; empty: the client id")    \
    TEXT(oidc_client_id, "oidc-client-id", "ID", "", "of the login in a browser")                   \
    TEXT(oidc_client_secret, "oidc-client-secret", "TEXT", "",                                      \
         "of the login in a browser; better in the configuration file than on a command line")      \
    TEXT(oidc_redirect, "oidc-redirect", "URL", "",                                                 \
         "where the issuer sends the browser back to; empty: /login/callback of this server")       \
    TEXT(oidc_user_claim, "oidc-user-claim", "NAME", "sub", "the claim that names the user")        \
    TEXT(oidc_roles_claim, "oidc-roles-claim", "NAME", "roles", "the claim that lists roles")       \
    TEXT(oidc_algorithms, "oidc-algorithms", "NAMES",                                               \
         "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512",                                   \
         "signatures that are taken, parted by commas")                                             \
    NUMBER(oidc_keys_s, "oidc-keys-seconds", 1, 3600, "30",                                         \
           "keys by URL are fetched no sooner again, however many tokens name an unknown one")      \
    PART("Log")                                                                                     \
    WORD(log_format, "log-format", "logfmt|json", "logfmt", "the form of the lines on standard error") \
    WORD(log_level, "log-level", "error|warn|info|debug", "info", "how much is logged")             \
    SWITCH(private_urls, "private-source-urls", "off",                                              \
           "files may be fetched from private and loopback addresses, too (memory-service: sourceUrl)")\
    SWITCH(access_log, "access-log", "off", "a line for each request")                              \
    NUMBER(slow_ms, "slow-ms", 0, 3600000, "1000",                                                  \
           "a request that took longer is logged as slow; 0: none")                                 \
    PART("Limits")                                                                                  \
    NUMBER(header_max, "header-max", 1024, 1048576, "16384", "bytes of a request's header")         \
    NUMBER(body_max, "body-max", 1024, 1073741824, "33554432", "bytes of a request's body")         \
    NUMBER(bodies_max, "bodies-max", 65536, 1099511627776, "268435456",                             \
           "bytes of all bodies that are held at once; more are refused with 503 before they are read") \
    NUMBER(bodies_per_user, "bodies-per-user", 65536, 1099511627776, "67108864",                    \
           "of these, bytes of one user; more are refused with 429")                                \
    NUMBER(attachment_max, "attachment-max", 1, 1099511627776, "67108864", "bytes of one attachment") \
    NUMBER(connections, "connections", 1, 1000000, "4096", "open connections")                      \
    NUMBER(connections_per_address, "connections-per-address", 0, 1000000, "2048",                  \
           "open connections of one address; 0: no limit")                                          \
    NUMBER(idle_s, "idle-seconds", 1, 86400, "60", "how long a connection may be idle")             \
    NUMBER(request_s, "request-seconds", 1, 86400, "60", "how long a request may take to arrive")   \
    NUMBER(stop_s, "stop-seconds", 0, 3600, "30",                                                   \
           "how long running requests may take to finish when the server stops")                    \
    NUMBER(workers, "workers", 0, 256, "0", "threads that read and write connections; 0: one a core") \
    NUMBER(threads, "threads", 1, 1024, "64",                                                       \
           "threads that run requests: so many can wait for a commit, which they share")            \
    NUMBER(user_share, "user-share", 1, 100, "50",                                                  \
           "percent of the threads and read connections that requests of one user hold while others wait") \
    NUMBER(answers_bytes, "answers-bytes", 1048576, 1099511627776, "268435456",                     \
           "bytes of answers that are in memory at once; a request whose answer does not fit is refused with 503") \
    NUMBER(readers, "readers", 0, 1024, "0",                                                        \
           "read connections to the store; 0: by the number of cores, at least 8")                  \
    PART("HTTP/2 and gRPC")                                                                         \
    SWITCH(http2, "http2", "on", "gRPC is served; off: connections by HTTP/2 are refused")          \
    NUMBER(grpc_calls, "grpc-calls", 1, 1000000, "4096", "open calls of gRPC")                      \
    NUMBER(grpc_calls_per_address, "grpc-calls-per-address", 0, 1000000, "1024",                    \
           "open calls of gRPC from one address; 0: no limit")                                      \
    NUMBER(grpc_watches, "grpc-watches", 1, 1000000, "256",                                         \
           "open calls of Health/Watch and of reflection, beside grpc-calls")                       \
    NUMBER(grpc_watches_per_address, "grpc-watches-per-address", 0, 1000000, "64",                  \
           "the same from one address; 0: no limit")                                                \
    NUMBER(grpc_watch_s, "grpc-watch-seconds", 1, 604800, "3600",                                   \
           "how long such a call may last; the client begins it again")                             \
    NUMBER(grpc_message_bytes, "grpc-message-bytes", 65536, 1099511627776, "268435456",             \
           "bytes of messages over 64 KiB that arrive or run at once; one address gets a quarter")  \
    NUMBER(http2_resets, "http2-resets", 1, 1000000, "256",                                         \
           "calls that a connection may cancel within a second of their beginning: so many at once, a quarter of them each second") \
    PART("Upkeep")                                                                                  \
    NUMBER(grace_days, "grace-days", 1, 36500, "7", "how long a deleted session can be restored")   \
    NUMBER(gc_hours, "gc-hours", 0, 87600, "24",                                                    \
           "how often what is past that time is removed for good; 0: only by 'ramet gc'")           \
    PART("Agents and turns")                                                                        \
    WORD(kagent_agents, "kagent-agents", "any|listed", "any",                                       \
         "which agents the sessions of kagent may have: any (others answer elsewhere), or those here") \
    LIST(agents, "agent", "NAME=KIND[,SETTING=VALUE...]",                                           \
         "an agent, as docs/agents.md tells; may be given more than once, and in the file as a part [agent NAME]") \
    TEXT(default_agent, "default-agent", "NAME", "",                                                \
         "who answers in a session that has no agent; empty: the first one, else echo")             \
    TEXT(title_agent, "title-agent", "NAME", "",                                                    \
         "who finds titles for sessions that have none; empty: nobody")                             \
    SWITCH(auto_tag, "auto-tag", "off",                                                             \
           "a session without tags gets those that suggestions propose, after an answer")           \
    TEXT(suggest_agent, "suggest-agent", "NAME", "",                                                \
         "who chooses among the tags that auto-tag proposes; empty: nobody, all are taken")         \
    NUMBER(turns, "turns", 1, 4096, "256", "turns that run at once")                                \
    NUMBER(turn_queue, "turn-queue", 0, 1000000, "256",                                             \
           "turns that may wait for one to end; more are refused with 503")                         \
    NUMBER(turn_s, "turn-seconds", 1, 86400, "900", "how long a turn may take, without the time that it waits for a user") \
    NUMBER(turn_idle_s, "turn-idle-seconds", 1, 86400, "300", "how long an agent may say nothing")   \
    NUMBER(question_s, "question-seconds", 1, 604800, "3600", "how long an agent waits for the answer to its question") \
    NUMBER(turn_stop_s, "turn-stop-seconds", 0, 3600, "5",                                          \
           "how long running turns may take to finish when the server stops; then they are cancelled") \
    NUMBER(answer_max, "answer-max", 1024, 12582912, "8388608", "bytes that an agent may say in one entry") \
    PART("Live events")                                                                             \
    NUMBER(event_window, "event-window", 1, 1000000000, "100000",                                   \
           "how many events are kept for a reader that comes back")                                 \
    NUMBER(stream_max, "streams", 1, 1000000, "2048", "open streams of events")                     \
    NUMBER(stream_bytes, "stream-bytes", 4096, 1073741824, "4194304",                               \
           "a stream whose client is so many bytes behind is given the rest from the store, as the client takes it") \
    NUMBER(streams_bytes, "streams-bytes", 65536, 1099511627776, "268435456",                       \
           "bytes that wait in all streams together; past that those furthest behind get the rest from the store") \
    NUMBER(stall_s, "stall-seconds", 1, 86400, "30",                                                \
           "how long a client may take nothing of an answer, or of events that wait for it, before it is disconnected")                                     \
    NUMBER(heartbeat_s, "heartbeat-seconds", 1, 3600, "15", "a sign of life on a quiet stream")

/* clang-format on */
#endif
