/* SPDX-License-Identifier: Apache-2.0
 *
 * settings.h: every setting of the server, in one table. It generates the members of server_config,
 * the flags of `ramet serve`, the names in the configuration file, the defaults and docs/server.md.
 */
#ifndef RUNTIME_SETTINGS_H
#define RUNTIME_SETTINGS_H

/* One line per row. */
/* clang-format off */

/* TEXT(member, name, value, default, text)
 * WORD(member, name, words, default, text)             one of the words
 * NUMBER(member, name, min, max, default, text)
 * SWITCH(member, name, default, text)                  on or off
 * LIST(member, name, value, text)                      repeatable
 * PART(title) begins a section of the documentation */
#define SERVER_SETTINGS(PART, TEXT, WORD, NUMBER, SWITCH, LIST)                                     \
    PART("Addresses and store")                                                                     \
    TEXT(listen, "listen", "ADDR:PORT", "127.0.0.1:7077",                                           \
         "the address to listen on; port 0 picks a free port; [::1]:7077 for IPv6")                 \
    TEXT(grpc, "grpc", "ADDR:PORT", "",                                                             \
         "a second address, for gRPC only; the first address serves gRPC, too")                     \
    TEXT(db, "db", "PATH", "",                                                                      \
         "the store's file; default: RAMET_DB, else ~/.local/share/ramet/ramet.db")                 \
    TEXT(attachments, "attachments", "DIR", "",                                                     \
         "the folder for attachments, shared by all nodes of a cluster; default: next to the store's file, or in the database") \
    LIST(db_read, "db-read", "URL",                                                                 \
         "a read replica of the PostgreSQL database, for history pages; repeatable")                \
    TEXT(db_direct, "db-direct", "URL", "",                                                         \
         "a URL of the same PostgreSQL database that bypasses pgbouncer; default: db")              \
    NUMBER(db_pool, "db-pool", 2, 256, "16", "maximum number of pooled connections to PostgreSQL; a few more are used internally") \
    TEXT(public_url, "public-url", "URL", "",                                                       \
         "the URL under which clients reach this server, for agent cards; default: the Host header of the request") \
    PART("Access")                                                                                  \
    WORD(auth, "auth", "local|tokens|oidc", "local",                                                \
         "how clients are identified: by name, without proof (loopback only), by API keys, or by JWTs of an issuer") \
    TEXT(default_user, "default-user", "USER", "local",                                             \
         "auth local: the user of requests that name none; empty: refuse them")                     \
    TEXT(admins, "admins", "USERS", "",                                                             \
         "users with the role admin, separated by commas; a trailing * matches a prefix. Default with auth local: the default user") \
    TEXT(auditors, "auditors", "USERS", "", "users with the role auditor; same syntax as admins")   \
    TEXT(indexers, "indexers", "USERS", "", "users with the role indexer; same syntax as admins")   \
    TEXT(trusted_clients, "trusted-clients", "CLIENTS", "",                                         \
         "memory-service: clients whose X-User-ID is trusted; same syntax as admins")               \
    TEXT(cookie_key, "cookie-key", "TEXT", "",                                                      \
         "the secret that seals browser sign-ins and the credentials of push notifications, the same on all nodes, at least 32 characters; default: a key in the store, and with a file, for sign-ins, one that lasts as long as the process") \
    TEXT(cors, "cors-origins", "ORIGINS", "",                                                       \
         "web origins that may call, separated by commas; * allows any origin, without cookies")    \
    SWITCH(private_urls, "private-source-urls", "off",                                              \
           "allow fetching files from private and loopback addresses (memory-service: sourceUrl)")  \
    SWITCH(private_pushes, "private-push-urls", "off",                                              \
           "allow sending push notifications of A2A tasks to private and loopback addresses")       \
    PART("OIDC")                                                                                    \
    TEXT(oidc_issuer, "oidc-issuer", "URL", "", "the issuer, exactly as in the claim iss")          \
    TEXT(oidc_jwks, "oidc-jwks", "FILE|URL", "",                                                    \
         "the issuer's keys; default: the URL in its discovery document")                           \
    TEXT(oidc_audience, "oidc-audience", "TEXT", "", "the required value of the claim aud; default: the client id") \
    TEXT(oidc_client_id, "oidc-client-id", "ID", "", "the client id for sign-in with a browser")    \
    TEXT(oidc_client_secret, "oidc-client-secret", "TEXT", "",                                      \
         "the client secret for sign-in with a browser; keep it in the configuration file, not on a command line") \
    TEXT(oidc_redirect, "oidc-redirect", "URL", "",                                                 \
         "where the issuer redirects the browser to; default: /login/callback of this server")      \
    TEXT(oidc_user_claim, "oidc-user-claim", "NAME", "sub", "the claim that names the user")        \
    TEXT(oidc_roles_claim, "oidc-roles-claim", "NAME", "roles", "the claim that lists roles")       \
    TEXT(oidc_algorithms, "oidc-algorithms", "NAMES",                                               \
         "RS256,RS384,RS512,PS256,PS384,PS512,ES256,ES384,ES512",                                   \
         "accepted signature algorithms, separated by commas")                                      \
    NUMBER(oidc_keys_s, "oidc-keys-seconds", 1, 3600, "30",                                         \
           "minimum time between two fetches of keys by URL, however many tokens name an unknown key") \
    PART("Logging")                                                                                 \
    WORD(log_format, "log-format", "logfmt|json", "logfmt", "the format of log lines on standard error") \
    WORD(log_level, "log-level", "error|warn|info|debug", "info", "the least severe level to log")  \
    SWITCH(access_log, "access-log", "off", "log every request")                                    \
    NUMBER(slow_ms, "slow-ms", 0, 3600000, "1000",                                                  \
           "log requests that take longer as slow; 0: never")                                       \
    PART("Limits")                                                                                  \
    NUMBER(header_max, "header-max", 1024, 1048576, "16384", "maximum bytes of a request's header") \
    NUMBER(body_max, "body-max", 1024, 1073741824, "33554432", "maximum bytes of a request's body") \
    NUMBER(bodies_max, "bodies-max", 65536, 1099511627776, "268435456",                             \
           "maximum bytes of all request bodies held at once; more are refused with 503 before they are read") \
    NUMBER(bodies_per_user, "bodies-per-user", 65536, 1099511627776, "67108864",                    \
           "of these, maximum bytes per user; more are refused with 429")                           \
    NUMBER(import_max, "import-max", 1024, 1099511627776, "17179869184", "bytes of one file to import") \
    NUMBER(attachment_max, "attachment-max", 1, 1099511627776, "67108864", "maximum bytes of one attachment") \
    NUMBER(connections, "connections", 1, 1000000, "4096", "maximum number of open connections")    \
    NUMBER(connections_per_address, "connections-per-address", 0, 1000000, "2048",                  \
           "maximum number of open connections per address; 0: no limit")                           \
    NUMBER(idle_s, "idle-seconds", 1, 86400, "60", "maximum idle time of a connection")             \
    NUMBER(request_s, "request-seconds", 1, 86400, "60", "maximum time for a request to arrive")    \
    NUMBER(stop_s, "stop-seconds", 0, 3600, "30",                                                   \
           "maximum time for running requests to finish when the server stops")                     \
    NUMBER(workers, "workers", 0, 256, "0", "threads that read and write connections; 0: one per core") \
    NUMBER(threads, "threads", 1, 1024, "64",                                                       \
           "threads that run requests; this many requests can wait for a group commit")             \
    NUMBER(user_share, "user-share", 1, 100, "50",                                                  \
           "percentage of threads and read connections that one user may hold while other users wait") \
    NUMBER(answers_bytes, "answers-bytes", 1048576, 1099511627776, "268435456",                     \
           "maximum bytes of answers in memory at once; a request whose answer does not fit is refused with 503") \
    NUMBER(readers, "readers", 0, 1024, "0",                                                        \
           "read connections to the store; 0: depends on the number of cores, at least 8")          \
    PART("HTTP/2 and gRPC")                                                                         \
    SWITCH(http2, "http2", "on", "serve gRPC; off: refuse HTTP/2 connections")                      \
    NUMBER(grpc_calls, "grpc-calls", 1, 1000000, "4096", "maximum number of open gRPC calls")       \
    NUMBER(grpc_calls_per_address, "grpc-calls-per-address", 0, 1000000, "1024",                    \
           "maximum number of open gRPC calls per address; 0: no limit")                            \
    NUMBER(grpc_watches, "grpc-watches", 1, 1000000, "256",                                         \
           "maximum number of open Health/Watch and reflection calls, in addition to grpc-calls")   \
    NUMBER(grpc_watches_per_address, "grpc-watches-per-address", 0, 1000000, "64",                  \
           "the same per address; 0: no limit")                                                     \
    NUMBER(grpc_watch_s, "grpc-watch-seconds", 1, 604800, "3600",                                   \
           "maximum duration of such a call; the client then starts a new one")                     \
    NUMBER(grpc_message_bytes, "grpc-message-bytes", 65536, 1099511627776, "268435456",             \
           "maximum bytes of messages over 64 KiB that arrive or run at once; one address gets a quarter") \
    NUMBER(http2_resets, "http2-resets", 1, 1000000, "256",                                         \
           "number of calls that a connection may cancel within a second of their start: this many at once, then a quarter of that per second") \
    PART("Maintenance")                                                                             \
    NUMBER(grace_days, "grace-days", 1, 36500, "7", "how long a deleted session can be restored")   \
    NUMBER(gc_hours, "gc-hours", 0, 87600, "24",                                                    \
           "how often expired deleted sessions are removed for good; 0: only by 'ramet gc'")        \
    NUMBER(retention_s, "retention-seconds", 0, 315360000, "86400",                                 \
           "how often the rules of retention are applied, once they are switched on; 0: only by 'ramet retention run'") \
    PART("Agents and turns")                                                                        \
    WORD(openai_record, "openai-record", "unless-refused|always|asked", "unless-refused",           \
         "which requests of OpenAI clients are recorded: all but those with store false; all; or by OpenAI's own defaults (responses unless store is false, chat completions if it is true)") \
    WORD(kagent_agents, "kagent-agents", "any|listed", "any",                                       \
         "which agents kagent sessions may name: any (unknown ones answer elsewhere), or only configured ones") \
    LIST(agents, "agent", "NAME=KIND[,SETTING=VALUE...]",                                           \
         "an agent, see docs/agents.md; repeatable, in the file also as a section [agent NAME]")    \
    TEXT(default_agent, "default-agent", "NAME", "",                                                \
         "the agent of sessions that name none; default: the first agent, else echo")               \
    TEXT(a2a_root, "a2a-root", "NAME", "",                                                          \
         "the agent whose A2A card is at /.well-known/agent-card.json; default: the default agent") \
    WORD(a2a_cards, "a2a-cards", "union|pure", "union",                                             \
         "A2A cards for clients that name no version: for 0.3 and 1.0, or with the members of 1.0 only") \
    TEXT(title_agent, "title-agent", "NAME", "",                                                    \
         "the agent that makes titles for untitled sessions; empty: none")                          \
    SWITCH(auto_tag, "auto-tag", "off",                                                             \
           "give untagged sessions the suggested tags after an answer")                             \
    TEXT(suggest_agent, "suggest-agent", "NAME", "",                                                \
         "the agent that refines suggestions, those of auto-tag too; empty: none")                  \
    NUMBER(turns, "turns", 1, 4096, "256", "maximum number of turns that run at once")              \
    NUMBER(turn_queue, "turn-queue", 0, 1000000, "256",                                             \
           "maximum number of waiting turns; more are refused with 503")                            \
    NUMBER(turn_s, "turn-seconds", 1, 86400, "900", "maximum duration of a turn, not counting the time it waits for a user") \
    NUMBER(turn_idle_s, "turn-idle-seconds", 1, 86400, "300", "maximum time without output of an agent") \
    NUMBER(question_s, "question-seconds", 1, 604800, "3600", "maximum time an agent waits for the answer to its question") \
    NUMBER(turn_stop_s, "turn-stop-seconds", 0, 3600, "5",                                          \
           "maximum time for running turns to finish when the server stops; then they are cancelled") \
    NUMBER(answer_max, "answer-max", 1024, 12582912, "8388608", "maximum bytes of agent output in one entry") \
    PART("Live events")                                                                             \
    NUMBER(event_window, "event-window", 1, 1000000000, "100000",                                   \
           "number of events kept for clients that reconnect")                                      \
    NUMBER(stream_max, "streams", 1, 1000000, "2048", "maximum number of open event streams")       \
    NUMBER(stream_bytes, "stream-bytes", 4096, 1073741824, "4194304",                               \
           "maximum bytes waiting in a stream; a client further behind gets the rest from the store, as it reads") \
    NUMBER(streams_bytes, "streams-bytes", 65536, 1099511627776, "268435456",                       \
           "maximum bytes waiting in all streams; beyond that, the clients furthest behind get the rest from the store") \
    NUMBER(stall_s, "stall-seconds", 1, 86400, "30",                                                \
           "disconnect a client that reads nothing of an answer, or of waiting events, for this long") \
    NUMBER(heartbeat_s, "heartbeat-seconds", 1, 3600, "15", "interval of heartbeats on a quiet stream")

/* clang-format on */
#endif
