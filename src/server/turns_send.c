/* SPDX-License-Identifier: Apache-2.0
 *
 * turns_send.c: what requests want of turns: to begin one (in a fork, or several side by side), to
 * join one by its idempotency key, to cancel one, to answer its question.
 *
 * A request that begins a turn holds no thread while that runs: it is answered by a stream.
 */
#include "server/turns_own.h"

#include "face/native.h"

#include <stdio.h>
#include <string.h>

enum { FAN_MOST = 16, PAGE = 1000 };

/* What one turn of a request has come to so far. */
typedef struct begin {
    const face_turn_in *in;
    ramet_agent settings;
    agent *who;
    const char *session; /* where it happens; the fork when there is one */
    bool forked;         /* by this request */
    ramet_session *at;   /* the session that was named */
    const char *group;
    run *r;
    ramet_turn *turn;
    ramet_append_out appended;
} begin;

/* ------------------------------------------------------------------ refusing */

static void refuse(face_req *q, ramet_status st, const char *field, const char *message,
                   const char *turn)
{
    ramet_error e = {.status = st};
    snprintf(e.message, sizeof e.message, "%s", message);
    snprintf(e.field, sizeof e.field, "%s", field);
    buf_clear(&q->out);
    jw_init(&q->w, &q->out, 0);
    q->type = NULL;
    q->status = ramet_status_http(st);
    jw_object(&q->w);
    native_error_fields(&q->w, &e);
    if (turn)
        jw_kstr(&q->w, "turn_id", turn);
    jw_kstr(&q->w, "request_id", q->id);
    jw_end_object(&q->w);
    if (q->status == 503)
        face_add(q, "Retry-After", "1");
}

static void refuse_running(face_req *q, const char *session)
{
    ramet_error e = *ramet_call_error(q->c);
    ramet_turn *turn = NULL;
    const char *colon = strrchr(e.message, ' ');
    ramet_status st = ramet_turn_running(q->c, session, &turn);
    refuse(q, e.status, e.field, e.message,
           st == RAMET_OK && turn ? turn->id
           : colon                ? colon + 1
                                  : NULL);
}

/* ------------------------------------------------------------------ beginning */

/* Who answers: the one that was asked for, else the fork's, else the session's. Asked for by its
 * name alone, the session's own agent keeps its settings. */
static bool agent_choose(turns *t, face_req *q, begin *b)
{
    const ramet_agent *fork = b->in->fork ? b->in->fork->agent : NULL;
    const ramet_agent *asked = b->in->agent ? b->in->agent : fork;
    const ramet_agent *own = &b->at->agent;
    char message[160];
    if (asked && own->name && asked->name && strcmp(asked->name, own->name) == 0 && !asked->model &&
        !asked->provider && !asked->folder && !asked->options)
        asked = NULL;
    b->settings = asked ? *asked : *own;
    b->who = agents_find(t->agents, b->settings.name);
    if (b->who)
        return true;
    snprintf(message, sizeof message, "no agent '%.80s' is configured here; GET /agents lists them",
             b->settings.name);
    refuse(q, RAMET_AGENT_NOT_FOUND, "agent", message, NULL);
    return false;
}

static void fork_answer(void *arg, int *status, const char **bytes, size_t *n)
{
    ramet_session **out = arg;
    *status = 201;
    *bytes = (*out)->id;
    *n = strlen((*out)->id);
}

/* Fork and turn are two commits, each done once for the key: a request that is sent again goes on
 * where the first one ended. */
static bool fork_make(face_req *q, begin *b, bool keyed)
{
    ramet_session *out = NULL;
    ramet_once once = q->once;
    once.scope = arena_printf(q->a, "fork %s", q->once.scope ? q->once.scope : "");
    once.answer = fork_answer;
    once.arg = &out;
    ramet_call_once(q->c, keyed ? &once : NULL);
    ramet_status st = ramet_fork(q->c, b->in->session, b->in->fork, &out, NULL);
    ramet_call_once(q->c, NULL);
    if (st != RAMET_OK) {
        ramet_error e = *ramet_call_error(q->c);
        if (*e.field && strcmp(e.field, "expected_head") != 0)
            snprintf(e.field, sizeof e.field, "fork.%.40s", ramet_call_error(q->c)->field);
        face_error(q, &e);
        return false;
    }
    b->forked = out != NULL;
    b->session = out ? out->id : arena_memdup(q->a, once.bytes, once.n);
    return true;
}

static void show_begun(face_req *q, const void *answer)
{
    const begin *b = answer;
    jw_object(&q->w);
    jw_kstr(&q->w, "session_id", b->session);
    jw_kstr(&q->w, "turn_id", b->r->id);
    jw_end_object(&q->w);
}

static const char *request_key(arena *a, const face_req *q)
{
    if (!q->has_once)
        return NULL;
    return arena_printf(a, "%s\n%s\n%s", q->who.user, q->once.scope, q->once.key);
}

static void run_fill(run *r, const begin *b, const face_req *q)
{
    arena *a = r->mem;
    r->key = request_key(a, q);
    memcpy(r->digest, q->once.digest, sizeof r->digest);
    r->tree = arena_strdup(a, b->at->tree_id);
    r->user = arena_strdup(a, q->who.user);
    r->group = arena_strdup(a, b->group);
    r->cache_key = arena_strdup(a, b->at->cache_root ? b->at->cache_root : b->session);
    r->settings = (ramet_agent){.name = arena_strdup(a, b->settings.name),
                                .provider = arena_strdup(a, b->settings.provider),
                                .model = arena_strdup(a, b->settings.model),
                                .folder = arena_strdup(a, b->settings.folder),
                                .options = arena_strdup(a, b->settings.options)};
    r->who = b->who;
    r->agent = b->who->name;
    r->untitled = *r->t->cfg->title_agent && !*b->at->title;
}

/* The run of a turn that is in the store now. */
static void run_ready(begin *b)
{
    run *r = b->r;
    r->entry_id = arena_strdup(r->mem, b->turn->entry_id);
    r->length = b->appended.head.length;
    pthread_mutex_lock(&r->lock);
    r->branch = b->turn->branch;
    tell_entries(r, &b->appended);
    json_writer w = tell_begin(r, "turn.started");
    jw_kstr(&w, "agent", r->agent);
    if (r->group)
        jw_kstr(&w, "group", r->group);
    tell_end(r, &w, "turn.started", true);
    pthread_mutex_unlock(&r->lock);
    run_begun(r);
}

/* Begins the turn; on failure the answer is filled and the run gone. Repeated by its key: turn is
 * NULL. */
static bool turn_begin(turns *t, face_req *q, begin *b)
{
    ramet_turn_in in = b->in->turn;
    b->r = run_new(t, b->session);
    run_fill(b->r, b, q);
    in.id = b->r->id;
    in.agent = b->who->name;
    in.group = b->group;
    in.host = t->host;
    face_render(q, show_begun, b);
    ramet_call_once(q->c, q->has_once ? &q->once : NULL);
    ramet_status st = ramet_turn_begin(q->c, b->session, &in, &b->turn, &b->appended);
    if (st == RAMET_OK && b->turn) {
        run_ready(b);
        return true;
    }
    run_remove(b->r);
    run_put(b->r);
    b->r = NULL;
    if (st == RAMET_TURN_RUNNING_ALREADY)
        refuse_running(q, b->session);
    else if (st != RAMET_OK)
        face_error(q, ramet_call_error(q->c));
    return st == RAMET_OK;
}

/* The fork of a turn that did not begin goes again. */
static void fork_unmake(turns *t, const begin *b)
{
    ramet_delete_out out;
    ramet_call *c = ramet_call_new(t->store, NULL, NULL);
    if (b->forked)
        ramet_session_delete(c, b->session, false, false, &out);
    ramet_call_free(c);
}

static bool begin_look(turns *t, face_req *q, begin *b, const face_turn_in *in)
{
    b->in = in;
    b->session = in->session;
    if (ramet_session_get(q->c, in->session, &b->at) == RAMET_OK)
        return agent_choose(t, q, b);
    face_error(q, ramet_call_error(q->c));
    return false;
}

/* The session of a fork is another one than was looked at. A request whose turn could not begin
 * when it came first has deleted its fork: then it is made anew. */
static bool begin_fork(face_req *q, begin *b)
{
    ramet_status st = RAMET_SESSION_NOT_FOUND;
    if (!b->in->fork)
        return true;
    for (int keyed = q->has_once; keyed >= 0 && st == RAMET_SESSION_NOT_FOUND; keyed--) {
        if (!fork_make(q, b, keyed))
            return false;
        st = ramet_session_get(q->c, b->session, &b->at);
    }
    if (st != RAMET_OK)
        face_error(q, ramet_call_error(q->c));
    return st == RAMET_OK;
}

/* ------------------------------------------------------------------ joining */

/* What the turn appended: its message, and its answer. */
static ramet_status past_entries(run *r, ramet_call *c)
{
    ramet_read_in in = {.limit = PAGE, .by_position = true, .branch = r->branch};
    ramet_entry *message = NULL;
    ramet_page page = {.more_after = true};
    bool found = true;
    if (r->entry_id && ramet_entry_get(c, r->session, r->branch, r->entry_id, &message) == RAMET_OK)
        in.position = message->position;
    for (; page.more_after && found; in.position += PAGE) {
        ramet_status st = ramet_read(c, r->session, &in, &page);
        if (st != RAMET_OK)
            return st;
        found = false;
        for (size_t i = 0; i < page.n; i++) {
            if (!page.entries[i].turn_id || strcmp(page.entries[i].turn_id, r->id) != 0)
                continue;
            found = true;
            tell_entries(r, &(ramet_append_out){.entries = &page.entries[i], .n = 1});
        }
    }
    return RAMET_OK;
}

/* A run as it would stand there now if it had not ended. */
static run *run_past(turns *t, ramet_call *c, const char *session, const char *id)
{
    ramet_session *s;
    ramet_turn *turn;
    if (ramet_session_get(c, session, &s) != RAMET_OK ||
        ramet_turn_get(c, session, id, &turn) != RAMET_OK)
        return NULL;
    run *r = run_make(t, session);
    snprintf(r->id, sizeof r->id, "%s", turn->id);
    r->tree = arena_strdup(r->mem, s->tree_id);
    r->agent = arena_strdup(r->mem, turn->agent ? turn->agent : "");
    r->group = arena_strdup(r->mem, turn->group);
    r->entry_id = arena_strdup(r->mem, turn->entry_id);
    r->branch = turn->branch;
    r->status = turn->status;
    r->begun = r->over = r->past = true;
    snprintf(r->error, sizeof r->error, "%.500s", turn->error ? turn->error : "");
    if (past_entries(r, c) == RAMET_OK)
        return r;
    run_put(r);
    return NULL;
}

/* The caller gives its share in the run away. */
static void join(turns *t, face_req *q, run *r)
{
    face_add(q, "Idempotency-Replayed", "true");
    listener *l = listener_new(t, q, 1, NULL);
    pthread_mutex_lock(&r->lock);
    run_join(r, l, 0);
    pthread_mutex_unlock(&r->lock);
    run_put(r);
}

/* The same request came before: its turn runs, or is over. */
static void turn_join(turns *t, face_req *q)
{
    json_doc d;
    if (!json_parse(q->a, q->once.bytes, q->once.n, 0, &d, NULL)) {
        face_fail(q, 500, "internal", NULL, "the answer that was kept cannot be read");
        return;
    }
    const char *session = json_text(q->a, &d, json_get(&d, &d.nodes[0], "session_id"));
    const char *id = json_text(q->a, &d, json_get(&d, &d.nodes[0], "turn_id"));
    run *r = run_find(t, session, id);
    if (!r)
        r = run_past(t, q->c, session, id);
    if (r)
        join(t, q, r);
    else
        face_error(q, ramet_call_error(q->c));
}

/* There is no room; but a request that came before may be joined. */
static void turn_busy(turns *t, face_req *q)
{
    const char *key = request_key(q->a, q);
    pthread_mutex_lock(&t->lock);
    run *r = key ? t->runs : NULL;
    while (r && !(r->begun && r->key && strcmp(r->key, key) == 0 &&
                  memcmp(r->digest, q->once.digest, sizeof r->digest) == 0))
        r = r->next;
    if (r)
        atomic_fetch_add(&r->owners, 1);
    pthread_mutex_unlock(&t->lock);
    if (r)
        join(t, q, r);
    else
        refuse(q, RAMET_TOO_BUSY, "", "too many turns run or wait; try again in a while", NULL);
}

/* ------------------------------------------------------------------ requests */

static void counted(face_req *q, const begin *b)
{
    const ramet_turn_in *in = &b->in->turn;
    if (b->forked)
        face_count(q, "fork", ramet_fork_type_name(b->in->fork->type));
    if (in->replace || in->regenerate)
        face_count(q, "fork",
                   ramet_fork_type_name(in->replace ? RAMET_AUTO_EDIT : RAMET_AUTO_REGENERATE));
}

/* All turns have begun. */
static void turns_go(turns *t, face_req *q, begin *list, size_t n, const char *group)
{
    listener *l = listener_new(t, q, n, group);
    for (size_t i = 0; i < n; i++) {
        pthread_mutex_lock(&list[i].r->lock);
        run_join(list[i].r, l, i);
        pthread_mutex_unlock(&list[i].r->lock);
    }
    for (size_t i = 0; i < n; i++) {
        const ramet_turn_in *in = &list[i].in->turn;
        counted(q, &list[i]);
        run_start(list[i].r);
        run_put(list[i].r);
        if (in->replace || in->regenerate)
            turns_moved(t, list[i].session, face_bool(q, "keep_running"));
    }
}

/* One of several could not begin: none has. */
static void turns_undo(turns *t, begin *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].r) {
            run_close(list[i].r, RAMET_TURN_CANCELLED, NULL);
            run_put(list[i].r);
        }
        fork_unmake(t, &list[i]);
    }
}

void turns_run(turns *t, face_req *q, const face_turn_in *in, size_t n, bool many)
{
    begin list[FAN_MOST] = {0};
    char group[UUID_TEXT];
    bool fine = n <= FAN_MOST;
    if (!turns_admit(t, (int64_t)n)) {
        turn_busy(t, q);
        return;
    }
    uuid7(time_now_us(), group);
    for (size_t i = 0; fine && i < n; i++) {
        list[i].group = many ? group : NULL;
        fine = begin_look(t, q, &list[i], &in[i]);
    }
    for (size_t i = 0; fine && i < n; i++)
        fine = begin_fork(q, &list[i]) && turn_begin(t, q, &list[i]);
    if (fine && list[0].turn) {
        turns_go(t, q, list, n, many ? group : NULL);
        return;
    }
    turns_leave(t, (int64_t)n);
    if (fine)
        turn_join(t, q);
    else
        turns_undo(t, list, n);
}

/* ------------------------------------------------------------------ cancel and answer */

static void show_turn(face_req *q, const void *answer)
{
    native_turn(&q->w, *(ramet_turn *const *)answer);
}

static void answer_turn(face_req *q, const char *session, const char *id)
{
    ramet_turn *turn = NULL;
    face_render(q, show_turn, &turn);
    ramet_status st = ramet_turn_get(q->c, session, id, &turn);
    face_answer(q, st == RAMET_OK ? ramet_once_keep(q->c) : st);
}

/* A turn of the session that runs, as the store knows it. NULL: the answer is filled. */
static ramet_turn *turn_named(face_req *q, const char *session, const char *id)
{
    ramet_turn *turn = NULL;
    char message[128];
    ramet_status st = ramet_session_writable(q->c, session);
    if (st == RAMET_OK)
        st = id ? ramet_turn_get(q->c, session, id, &turn)
                : ramet_turn_running(q->c, session, &turn);
    if (st != RAMET_OK) {
        face_error(q, ramet_call_error(q->c));
        return NULL;
    }
    if (!turn) {
        refuse(q, RAMET_TURN_NOT_FOUND, "turn_id", "no turn runs on the head of this session",
               NULL);
        return NULL;
    }
    if (turn->status == RAMET_TURN_RUNNING)
        return turn;
    snprintf(message, sizeof message, "turn %.40s is over: it is %s", turn->id,
             ramet_turn_status_name(turn->status));
    refuse(q, RAMET_TURN_OVER, "turn_id", message, turn->id);
    return NULL;
}

/* A turn that does not run here was left by another server, or is run by one: it ends in the store,
 * and who makes it learns that there. */
void turns_cancel(turns *t, face_req *q, const char *session, const char *id)
{
    ramet_append_out out;
    ramet_turn *turn = turn_named(q, session, id);
    if (!turn)
        return;
    run *r = run_find(t, session, turn->id);
    ramet_status st = RAMET_OK;
    if (r) {
        run_close(r, RAMET_TURN_CANCELLED, NULL);
        run_put(r);
    } else {
        st = ramet_turn_end(q->c, turn->id, RAMET_TURN_CANCELLED, NULL, NULL, 0, &out);
    }
    if (st == RAMET_OK)
        answer_turn(q, session, turn->id);
    else
        face_error(q, ramet_call_error(q->c));
}

/* Whether an answer is the id of one of the options. */
static bool option_is(arena *a, const char *options, const char *answer)
{
    json_doc d;
    if (!json_parse(a, options, strlen(options), 0, &d, NULL))
        return true;
    const json_node *list = &d.nodes[0];
    for (const json_node *v = json_first(&d, list); v; v = json_next(&d, list, v)) {
        const char *id = json_text(a, &d, json_get(&d, v, "id"));
        if (id && strcmp(id, answer) == 0)
            return true;
    }
    return false;
}

void turns_answer(turns *t, face_req *q, const char *session, const char *id, const char *question,
                  const char *answer)
{
    ramet_turn *turn = turn_named(q, session, id);
    if (!turn)
        return;
    run *r = run_find(t, session, id);
    bool open = false, fits = false;
    if (r) {
        pthread_mutex_lock(&r->lock);
        open = !r->closed && !r->answer && r->question_id && strcmp(r->question_id, question) == 0;
        fits = open && (!r->options || option_is(q->a, r->options, answer));
        if (fits)
            r->answer = xstrdup(answer);
        pthread_cond_broadcast(&r->wake);
        pthread_mutex_unlock(&r->lock);
        run_put(r);
    }
    if (fits)
        answer_turn(q, session, id);
    else if (open)
        face_fail(q, 400, "invalid_request", "answer",
                  "'%.60s' is none of the options of this question", answer);
    else
        face_fail(q, 404, "question_not_found", "question_id",
                  "the turn does not wait for an answer to question '%.60s'", question);
}
