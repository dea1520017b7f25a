/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.c: the server as a whole: opens the store, connects the parts, routes each request, runs
 * maintenance, and stops in order.
 *
 * Stopping: turns get a few seconds, streams end, no new requests are accepted, running ones
 * finish, then the store is closed. A second signal ends the process at once; acknowledged writes
 * are safe then, too (I1).
 */
#include "server/server.h"

#include "agent/agent.h"
#include "agent/opencode/mirror.h"
#include "face/a2a/push.h"
#include "face/login/login.h"
#include "identity/identity.h"
#include "ramet/memory.h"
#include "ramet/nodes.h"
#include "runtime/log.h"
#include "server/request_log.h"
#include "server/url_fetch.h"

#include "base/memory.h"
#include "base/util.h"
#include "base/words.h"
#include "face/kit/turn_events.h"
#include "http/stream.h"
#include "server/upkeep.h"
#include "http/work.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MESSAGE_MAX = 20 << 20 /* for gRPC: the same as for REST */ };

typedef struct server {
    const server_config *cfg;
    ramet *store;
    auth *auth;
    agents *agents;
    mirrors *mirrors; /* of linked sandboxes */
    live *live;
    turns *turns;
    metrics *metrics;
    pool *pool;
    http *http;
    rpc_server *rpc;
    url_fetch *url_fetch;
    uint8_t link_key[32], push_key[32];
    a2a_push *push;
    buf_budget answers;
    face_host host;
    char address[64]; /* of cfg->listen */
    int port;
    char rpc_address[64]; /* of cfg->grpc */
    int rpc_port;
    atomic_bool stopping; /* set once, by the main thread */
    sem_t stop;           /* posted by the first signal */

    upkeep *upkeep;
} server;

static ramet_status start_fail(ramet_error *err, ramet_status st, const char *field,
                               const char *message);

/* ------------------------------------------------------------------ what faces ask for */

static void host_agents(void *arg, json_writer *w)
{
    agents_write(((server *)arg)->agents, w);
}

static void host_nearby(void *arg, arena *a, json_writer *w)
{
    (void)arg;
    nearby_write(a, w);
}

_Static_assert((int)FACE_MESSAGE >= (int)AGENT_MESSAGE, "an agent says why it does not do");

static const char *host_nearby_use(void *arg, arena *a, const char *url, const char *model,
                                   char *message)
{
    server *s = arg;
    agent *const *list;
    size_t n = agents_list(s->agents, &list);
    buf quoted;
    if (!nearby_is(url)) {
        snprintf(message, FACE_MESSAGE, "url is '%.80s'; it is one of those that listNearby tells",
                 url);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i]->kind->name, "openai") == 0 &&
            strcmp(agent_get(list[i], "url"), url) == 0 &&
            strcmp(agent_get(list[i], "model"), model) == 0)
            return list[i]->name;
    buf_init(&quoted, 4 * MODEL_MAX_BYTES);
    for (const char *p = model; *p; p++) {
        if (*p == '"' || *p == '\\')
            buf_add(&quoted, "\\", 1);
        buf_add(&quoted, p, 1);
    }
    const char *rest =
        arena_printf(a, "openai,url=%s,model=\"%.*s\"", url, (int)quoted.n, quoted.data);
    buf_release(&quoted);
    agent *who = agents_join(s->agents, "local", rest, message);
    return who ? who->name : NULL;
}

static const char *host_files(void *arg, arena *a, const char *name, const char *session,
                              const ramet_entry *before, bool restore, char *message)
{
    agent *who = agents_find(((server *)arg)->agents, name);
    if (who && who->kind->files)
        return who->kind->files(
            who, &(agent_files){.session = session, .message = before, .restore = restore}, a,
            message);
    snprintf(message, FACE_MESSAGE, "the agent of this session keeps no files");
    return NULL;
}

static const char *host_agent_name(void *arg, size_t i)
{
    agent *const *list;
    size_t n = agents_list(((server *)arg)->agents, &list);
    return i < n ? list[i]->name : NULL;
}

static const char *host_agent_about(void *arg, size_t i)
{
    agent *const *list;
    size_t n = agents_list(((server *)arg)->agents, &list);
    return i < n ? list[i]->kind->about : NULL;
}

static bool host_agent_takes_options(void *arg, const char *name)
{
    const agent *found = agents_find(((server *)arg)->agents, name);
    return found && found->kind->takes_options;
}

static const char *host_agent_default(void *arg)
{
    return agents_find(((server *)arg)->agents, NULL)->name;
}

static void host_fetch(void *arg, const ramet_fetch *f)
{
    url_fetch_start(((server *)arg)->url_fetch, f);
}

/* A link signed by one node is valid at all of them; with a file, until the server ends. */
static ramet_status link_key_make(server *s, ramet_error *err)
{
    ramet_call *c = ramet_call_new(s->store, NULL, NULL);
    bool kept;
    ramet_status st = ramet_secret(c, "memory links", s->link_key, &kept);
    if (st == RAMET_OK && !kept && getentropy(s->link_key, sizeof s->link_key) != 0)
        st = start_fail(err, RAMET_INTERNAL, "", "no random bytes can be had");
    else if (st != RAMET_OK)
        *err = *ramet_call_error(c);
    ramet_call_free(c);
    return st;
}

static void host_push_added(void *arg)
{
    a2a_push_wake(((server *)arg)->push);
}

/* From the setting, which is not in the store, if there is one. */
static ramet_status push_start(server *s, ramet_error *err)
{
    ramet_call *c = ramet_call_new(s->store, NULL, NULL);
    const char *setting = s->cfg->cookie_key;
    ramet_status st = RAMET_OK;
    if (*setting) {
        const char *text = arena_printf(ramet_call_arena(c), "a2a push\n%s", setting);
        sha_of(text, strlen(text), s->push_key);
    } else {
        st = ramet_secret_keep(c, "a2a push", s->push_key);
        if (st != RAMET_OK)
            *err = *ramet_call_error(c);
    }
    ramet_call_free(c);
    if (st == RAMET_OK)
        s->push = a2a_push_start(&(a2a_push_config){.store = s->store,
                                                    .turns = s->turns,
                                                    .key = s->push_key,
                                                    .private_urls = s->cfg->private_pushes});
    return st;
}

static void host_count(void *arg, const char *what, const char *type, const char *face_name)
{
    metrics_count(((server *)arg)->metrics, what, type, face_name);
}

/* ------------------------------------------------------------------ other origins */

/* Whichever comes first: * or the origin itself. */
static bool origin_listed(const char *list, const char *origin, bool *any)
{
    size_t len = strlen(origin), n;
    for (const char *p; (p = word_next(&list, ", ", &n));) {
        *any = n == 1 && *p == '*';
        if (*any || (n == len && strncasecmp(p, origin, n) == 0))
            return true;
    }
    return false;
}

/* Cookies are sent only for a listed origin: with * any page could use them. */
static void cors_headers(const server *s, request *q, const char *methods)
{
    const char *origin = q->header(q, "Origin");
    bool any = false;
    if (!*s->cfg->cors)
        return;
    request_add_header(q, "Vary", "Origin");
    if (!origin || !origin_listed(s->cfg->cors, origin, &any))
        return;
    request_add_header(q, "Access-Control-Allow-Origin",
                       any ? "*" : arena_strdup(q->arena, origin));
    if (!any)
        request_add_header(q, "Access-Control-Allow-Credentials", "true");
    request_add_header(q, "Access-Control-Expose-Headers",
                       "ETag, Idempotency-Replayed, Location, X-Ramet-Position, X-Request-ID");
    if (!methods || !q->header(q, "Access-Control-Request-Method"))
        return;
    request_add_header(q, "Access-Control-Allow-Methods", methods);
    request_add_header(q, "Access-Control-Allow-Headers",
                       "A2A-Extensions, A2A-Version, Authorization, Content-Type, Idempotency-Key, "
                       "If-Match, If-None-Match, "
                       "Last-Event-ID, X-API-Key, X-Client-ID, X-Ramet-Position, X-Ramet-Share, "
                       "X-Ramet-Share-Only, "
                       "X-Request-ID, X-User-Id");
    request_add_header(q, "Access-Control-Max-Age", "600");
}

/* ------------------------------------------------------------------ one request */

/* Identifies the client and checks the request line and the header, before a body is read. On a
 * pool thread, since it may read the store. */
static bool request_admit(request *q, void *arg)
{
    server *s = arg;
    bool malformed_first = q->identity_rule && q->identity_rule->malformed_first;
    if (malformed_first && !face_check_query(q))
        return false;
    if (!(q->roles & ROLE_ANYONE) && !auth_identify(s->auth, q))
        return false;
    /* face_run() checks the roles again, after the body. */
    return (malformed_first || (face_check_query(q) && face_check_role(q))) && face_check_share(q);
}

static void request_run(request *q, void *arg)
{
    if ((q->caller.mode || request_admit(q, arg)) && face_check_body(q))
        face_run(q);
}

/* The first piece of an upload comes before request_run(), and gRPC calls are admitted first. */
static bool request_sink(request *q, const void *bytes, size_t n)
{
    server *s = q->host->arg;
    if (!q->caller.mode && !request_admit(q, s))
        return false;
    return face_check_role(q) && q->route->sink(q, bytes, n);
}

/* A gRPC message is complete; a route that takes its body in pieces gets it as one piece. */
static void rpc_request_run(request *q, void *arg)
{
    if (!q->route->sink || !q->body.n || request_sink(q, q->body.data, q->body.n))
        request_run(q, arg);
}

static bool request_options(const server *s, request *q, face_found found, const char *allow)
{
    if (found == FACE_NO_PATH)
        return false;
    cors_headers(s, q, allow);
    request_add_header(q, "Allow", allow);
    q->status = 204;
    return true;
}

/* A body streamed into an attachment is not held in memory: it has its own limit. For all others
 * body-max is the maximum. */
static size_t body_limit(const server *s, const face_route *r)
{
    size_t max = (size_t)(r->flags & ROUTE_IMPORT ? s->cfg->import_max
                          : r->sink               ? s->cfg->attachment_max
                                                  : s->cfg->body_max);
    return r->body_max && r->body_max < max ? r->body_max : max;
}

static bool route(request *q, void *arg, http_target *to)
{
    server *s = arg;
    const char *allow = NULL;
    q->host = &s->host;
    if (!auth_check_origin(s->auth, q))
        return false;
    size_t n;
    const face *const *faces = server_faces(&n);
    face_found found = face_find(faces, n, q, &allow);
    if (strcmp(q->method, "OPTIONS") == 0 && request_options(s, q, found, allow))
        return false;
    cors_headers(s, q, NULL);
    if (found == FACE_NO_PATH) {
        request_fail(q, 404, "not_found", NULL, "there is nothing at this path; /docs lists all");
        return false;
    }
    if (found == FACE_NO_METHOD) {
        request_add_header(q, "Allow", allow);
        request_fail(q, 405, "method_not_allowed", NULL, "%s is not possible here, but %s",
                     q->method, allow);
        return false;
    }
    if (!auth_check_read(s->auth, q))
        return false;
    bool open = q->roles & ROLE_ANYONE;
    *to = (http_target){
        .run = request_run,
        .admit = open ? NULL : request_admit,
        .arg = s,
        .quick = open && (q->route->flags & ROUTE_QUICK),
        .body_max = body_limit(s, q->route),
        .sink = q->route->sink ? request_sink : NULL,
    };
    return true;
}

static void done(request *q, int64_t sent, void *arg)
{
    server *s = arg;
    int64_t us = time_mono_us() - q->start_us;
    if (q->left)
        metrics_count(s->metrics, "cancelled", NULL, NULL);
    metrics_request(s->metrics, q, us);
    log_request(q, sent, us);
    ramet_call_free(q->call);
    q->call = NULL;
}

/* ------------------------------------------------------------------ signals */

static sigset_t stop_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

static void *signal_main(void *arg)
{
    server *s = arg;
    sigset_t set = stop_signals();
    int number;
    sigwait(&set, &number);
    sem_post(&s->stop);
    sigwait(&set, &number);
    _exit(128 + number);
}

/* Call before any thread is started, so that all have the signals blocked. */
static void signals_start(server *s)
{
    pthread_t thread;
    sigset_t set = stop_signals();
    signal(SIGPIPE, SIG_IGN);
    memory_setup();
    sem_init(&s->stop, 0, 0);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (pthread_create(&thread, NULL, signal_main, s))
        abort();
    pthread_detach(thread);
}

/* ------------------------------------------------------------------ starting */

static ramet_status start_fail(ramet_error *err, ramet_status st, const char *field,
                               const char *message)
{
    *err = (ramet_error){.status = st};
    snprintf(err->message, sizeof err->message, "%s", message);
    snprintf(err->field, sizeof err->field, "%s", field);
    return st;
}

/* "ADDR:PORT", "[V6]:PORT". */
static bool listen_read(const char *text, char address[64], int *port)
{
    const char *colon = strrchr(text, ':');
    char *end;
    if (!colon || colon == text || (size_t)(colon - text) >= 64)
        return false;
    size_t n = (size_t)(colon - text);
    if (text[0] == '[' && text[n - 1] == ']')
        snprintf(address, 64, "%.*s", (int)n - 2, text + 1);
    else if (!memchr(text, ':', n))
        snprintf(address, 64, "%.*s", (int)n, text);
    else
        return false;
    if (strcmp(address, "localhost") == 0)
        snprintf(address, 64, "127.0.0.1");
    long v = strtol(colon + 1, &end, 10);
    *port = (int)v;
    return colon[1] >= '0' && colon[1] <= '9' && !*end && v >= 0 && v <= 65535;
}

static void descriptors_raise(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static const char *store_where(const server *s)
{
    return *s->cfg->db ? s->cfg->db : getenv("RAMET_DB");
}

static ramet_status store_open(server *s, ramet_error *err)
{
    ramet_options options = {
        .limits.attachment_bytes = (size_t)s->cfg->attachment_max,
        .readers = work_readers(s->cfg),
        .idle_waiters = s->cfg->threads > 3 ? (int)s->cfg->threads / 4 : -1,
        .grace_us = s->cfg->grace_days * INT64_C(86400000000),
        .attachments = *s->cfg->attachments ? s->cfg->attachments : NULL,
        .pool = (int)s->cfg->db_pool,
        .direct = *s->cfg->db_direct ? s->cfg->db_direct : NULL,
        .reads = s->cfg->db_read.items,
        .n_reads = s->cfg->db_read.n,
    };
    return ramet_open(store_where(s), &options, &s->store, err);
}

static bool take_h2(int fd, void *arg)
{
    return rpc_take(((server *)arg)->rpc, fd);
}

static bool rpc_serving(void *arg)
{
    return ramet_health(((server *)arg)->store) == RAMET_OK;
}

static void rpc_open(server *s)
{
    const server_config *cfg = s->cfg;
    size_t n_services;
    const struct grpc_service *const *services = server_grpc_services(&n_services);
    s->rpc = rpc_start(&(rpc_config){
        .pool = s->pool,
        .answers = &s->answers,
        .host = &s->host,
        .services = services,
        .n_services = n_services,
        .message_max = cfg->body_max < MESSAGE_MAX ? (size_t)cfg->body_max : MESSAGE_MAX,
        .header_max = (size_t)cfg->header_max,
        .off = !cfg->http2,
        .calls = {cfg->grpc_calls, cfg->grpc_calls_per_address},
        .watches = {cfg->grpc_watches, cfg->grpc_watches_per_address},
        .watch_s = (int)cfg->grpc_watch_s,
        .resets = (int)cfg->http2_resets,
        .message_bytes = cfg->grpc_message_bytes,
        .idle_s = (int)cfg->idle_s,
        .request_s = (int)cfg->request_s,
        .threads = cfg->workers ? (int)cfg->workers : cores(),
        .admit = request_admit,
        .run = rpc_request_run,
        .sink = request_sink,
        .done = done,
        .serving = rpc_serving,
        .arg = s,
    });
}

static ramet_status http_open(server *s, ramet_error *err)
{
    const server_config *cfg = s->cfg;
    char message[256];
    http_config h = {
        .address = s->address,
        .port = s->port,
        .header_max = (size_t)cfg->header_max,
        .body_max = (size_t)cfg->body_max,
        .bodies_max = (size_t)cfg->bodies_max,
        .bodies_per_user = (size_t)cfg->bodies_per_user,
        .connections = (int)cfg->connections,
        .connections_per_address = (int)cfg->connections_per_address,
        .idle_s = (int)cfg->idle_s,
        .request_s = (int)cfg->request_s,
        .stall_s = (int)cfg->stall_s,
        .workers = cfg->workers ? (int)cfg->workers : cores(),
        .pool = s->pool,
        .answers = &s->answers,
        .h2 = take_h2,
        .h2_address = *cfg->grpc ? s->rpc_address : NULL,
        .h2_port = s->rpc_port,
        .route = route,
        .done = done,
        .arg = s,
    };
    /* Requests may arrive before http_start() returns. */
    __atomic_store_n(&s->http, http_start(&h, message), __ATOMIC_RELEASE);
    if (!s->http)
        return start_fail(err, RAMET_CANNOT_OPEN, "listen", message);
    auth_port(s->auth, http_port(s->http));
    return RAMET_OK;
}

static void ready_announce(const server *s)
{
    const char *colon = strrchr(s->cfg->listen, ':');
    char base[160];
    snprintf(base, sizeof base, "http://%.*s:%d", (int)(colon - s->cfg->listen), s->cfg->listen,
             http_port(s->http));
    printf("listening on %s\n"
           "  %s/      the page, for a browser\n"
           "  %s/docs  the API, to read\n"
           "  export OPENAI_BASE_URL=%s/openai/v1  for clients of OpenAI's API\n"
           "  store: %s\n"
           "  Ctrl-C stops it\n",
           base, base, base, base, ramet_where(store_where(s)));
    if (*s->cfg->grpc) {
        colon = strrchr(s->cfg->grpc, ':');
        printf("  gRPC: %.*s:%d\n", (int)(colon - s->cfg->grpc), s->cfg->grpc,
               http_h2_port(s->http));
    }
    fflush(stdout);
}

static ramet_status listen_check(server *s, ramet_error *err)
{
    char message[256];
    bool own = *s->cfg->grpc != 0, fine = listen_read(s->cfg->listen, s->address, &s->port);
    if (own && !s->cfg->http2)
        return start_fail(
            err, RAMET_INVALID, "grpc",
            "grpc names an address for gRPC, and http2 is off; leave one of them out");
    if (fine && (!own || listen_read(s->cfg->grpc, s->rpc_address, &s->rpc_port)))
        return RAMET_OK;
    snprintf(message, sizeof message, "%s is '%.100s'; it must be like 127.0.0.1:7077",
             fine ? "grpc" : "listen", fine ? s->cfg->grpc : s->cfg->listen);
    return start_fail(err, RAMET_INVALID, fine ? "grpc" : "listen", message);
}

static ramet_status agents_start(server *s, ramet_error *err)
{
    char message[AGENT_MESSAGE];
    const server_config *cfg = s->cfg;
    s->agents = agents_new(cfg->agents.items, cfg->agents.n, cfg->default_agent,
                           strcmp(cfg->auth, "local") != 0, message);
    if (!s->agents)
        return start_fail(err, RAMET_INVALID, "agent", message);
    if (*cfg->title_agent && !agents_find(s->agents, cfg->title_agent))
        return start_fail(err, RAMET_INVALID, "title-agent",
                          "title-agent names no agent that is configured");
    if (*cfg->a2a_root && !agents_find(s->agents, cfg->a2a_root))
        return start_fail(err, RAMET_INVALID, "a2a-root",
                          "a2a-root names no agent that is configured");
    if (*cfg->suggest_agent && !agents_find(s->agents, cfg->suggest_agent))
        return start_fail(err, RAMET_INVALID, "suggest-agent",
                          "suggest-agent names no agent that is configured");
    return RAMET_OK;
}

static void mirror_note(const char *sandbox, const char *text)
{
    log_line(LOG_WARN, "the OpenCode server of a sandbox", "sandbox", sandbox, "error", text, NULL);
}

static ramet_status parts_start(server *s, ramet_error *err)
{
    char message[256];
    ramet_status st = agents_start(s, err);
    if (st != RAMET_OK)
        return st;
    s->auth = auth_new(s->cfg, s->store, message);
    if (!s->auth)
        return start_fail(err, RAMET_INVALID, "auth", message);
    login_bind(s->auth);
    size_t n_served, n_counted;
    const face *const *served = server_faces(&n_served);
    const face *const *counted = server_faces_counted(&n_counted);
    s->metrics = metrics_new(counted, n_counted);
    stream_total_limit(s->cfg->streams_bytes);
    s->live = live_new(s->cfg, s->store);
    s->turns = turns_new(s->cfg, s->store, s->agents, s->live, face_turn_event, err);
    if (!s->turns)
        return err->status;
    st = link_key_make(s, err);
    if (st == RAMET_OK)
        st = push_start(s, err);
    if (st != RAMET_OK)
        return st;
    s->mirrors = mirrors_start(s->store, s->agents, mirror_note);
    s->url_fetch = url_fetch_new(s->cfg, s->store);
    s->host = (face_host){.store = s->store,
                          .version = RAMET_VERSION,
                          .agents = host_agents,
                          .nearby = host_nearby,
                          .nearby_use = host_nearby_use,
                          .agent_name = host_agent_name,
                          .files = host_files,
                          .agent_about = host_agent_about,
                          .agent_takes_options = host_agent_takes_options,
                          .agent_default = host_agent_default,
                          .openai_record = s->cfg->openai_record,
                          .agents_listed = strcmp(s->cfg->kagent_agents, "listed") == 0,
                          .count = host_count,
                          .public_url = s->cfg->public_url,
                          .secured = strcmp(s->cfg->auth, "local") != 0,
                          .issuer = strcmp(s->cfg->auth, "oidc") == 0 ? s->cfg->oidc_issuer : NULL,
                          .a2a_root = s->cfg->a2a_root,
                          .a2a_pure_cards = strcmp(s->cfg->a2a_cards, "pure") == 0,
                          .grpc = s->cfg->http2,
                          .live = s->live,
                          .turns = s->turns,
                          .link_key = s->link_key,
                          .attachment_max = s->cfg->attachment_max,
                          .private_urls = s->cfg->private_urls,
                          .private_pushes = s->cfg->private_pushes,
                          .push_key = s->push_key,
                          .push_added = host_push_added,
                          .fetch = host_fetch,
                          .arg = s};
    about_bind(&(about_parts){.metrics = s->metrics,
                              .answers = &s->answers,
                              .http = &s->http,
                              .rpc = &s->rpc,
                              .live = s->live,
                              .turns = s->turns,
                              .store = s->store,
                              .stopping = &s->stopping,
                              .faces = served,
                              .n_faces = n_served});
    s->pool = pool_new(&(work_limits){.threads = (int)s->cfg->threads,
                                      .readers = work_store_readers(s->cfg, store_where(s)),
                                      .share = (int)s->cfg->user_share});
    if (!s->pool)
        return start_fail(err, RAMET_INTERNAL, "threads", "not one thread can be made");
    rpc_open(s);
    return http_open(s, err);
}

static void parts_end(server *s)
{
    bool stopped = !s->turns || turns_stop(s->turns, (int)s->cfg->turn_stop_s);
    if (s->live)
        live_stop(s->live);
    int64_t began = time_mono_us();
    http_shut(s->http);
    bool quiet = rpc_stop(s->rpc, (int)s->cfg->stop_s);
    int left = (int)(s->cfg->stop_s - (time_mono_us() - began) / 1000000);
    /* Running requests use all of this: then the process can only exit. */
    if ((s->http && !http_stop(s->http, left > 0 ? left : 0)) || !quiet) {
        log_line(LOG_ERROR, "requests still ran after stop-seconds", NULL);
        _exit(EXIT_FAILURE);
    }
    if (!stopped) {
        log_line(LOG_ERROR, "an agent did not stop", NULL);
        _exit(EXIT_FAILURE);
    }
    pool_free(s->pool);
    url_fetch_free(s->url_fetch);
    a2a_push_stop(s->push);
    turns_free(s->turns);
    mirrors_stop(s->mirrors);
    agents_free(s->agents);
    if (s->live) {
        live_free(s->live);
        about_release();
    }
    metrics_free(s->metrics);
    auth_free(s->auth);
}

ramet_status server_run(const server_config *cfg, ramet_error *err)
{
    server s = {.cfg = cfg, .answers.max = cfg->answers_bytes};
    ramet_status st = listen_check(&s, err);
    if (st != RAMET_OK)
        return st;
    log_setup(cfg);
    request_log_setup(cfg);
    descriptors_raise();
    signals_start(&s);
    st = store_open(&s, err);
    if (st != RAMET_OK)
        return st;
    st = parts_start(&s, err);
    if (st == RAMET_OK) {
        s.upkeep = upkeep_start(cfg, s.store, s.metrics);
        ready_announce(&s);
        while (sem_wait(&s.stop) < 0 && errno == EINTR)
            continue;
        log_line(LOG_INFO, "stopping", NULL);
        s.stopping = true;
        ramet_idle_close(s.store);
        upkeep_stop(s.upkeep);
    }
    parts_end(&s);
    ramet_close(s.store);
    if (st == RAMET_OK)
        log_line(LOG_INFO, "stopped", NULL);
    return st;
}
