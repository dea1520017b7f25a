/* SPDX-License-Identifier: Apache-2.0
 *
 * send.c: what requests want of turns: to begin one (in a fork, or several side by side), to
 * join one by its idempotency key, to cancel one, to answer its question.
 *
 * A request that begins a turn holds no thread while that runs: it is answered by a stream.
 */
#include "turns/turns_internal.h"

#include "form/native.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1000, TRIES_MOST = 64, NODE_MS = 5000 };

/* What the forks of a fan-out have in common. It is kept with the first of them, so that a request
 * that is sent again goes on with it: at the same place, wherever the head is by then. */
typedef struct fan {
    const char *group;
    const char *first; /* session id of the first fork; NULL: there is none yet */
    int64_t branch;
    const char *entry; /* the last one before the message; "": there was none */
} fan;

/* What one turn of a request has come to so far. */
typedef struct begin {
    const turn_request *in;
    size_t index;
    fan *fan; /* NULL: it is the only one */
    ramet_agent settings;
    agent *who;
    const char *session; /* where it happens; the fork when there is one */
    bool forked;         /* by this request */
    ramet_session *at;   /* the session that was named */
    run *r;
    ramet_turn *turn;    /* NULL: the same request began it before */
    const char *turn_id; /* then */
    ramet_append_out appended;
    bool held; /* the lock of the run: not a word is said before who asked for it listens */
} begin;

/* ------------------------------------------------------------------ refusing */

/* `turn`: the one that is in the way, for callers of the native API; NULL: none is. */
static void refuse(request *q, ramet_status st, const char *field, const char *message,
                   const char *turn)
{
    ramet_error e = {.status = st};
    snprintf(e.message, sizeof e.message, "%s", message);
    snprintf(e.field, sizeof e.field, "%s", field);
    if (q->face && q->face->fail) {
        request_error(q, &e);
        return;
    }
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
        request_add_header(q, "Retry-After", "1");
}

static void refuse_running(request *q, const char *session)
{
    ramet_error e = *ramet_call_error(q->c);
    ramet_turn *turn = NULL;
    ramet_status st = ramet_turn_running(q->c, session, &turn);
    refuse(q, e.status, e.field, e.message,
           st == RAMET_OK && turn ? turn->id
           : *e.subject           ? e.subject
                                  : NULL);
}

/* ------------------------------------------------------------------ beginning */

/* Who answers: the one that was asked for, else the fork's, else the session's. Asked for by its
 * name alone, the session's own agent keeps its settings. */
static bool agent_choose(turns *t, request *q, begin *b)
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
    *status = 201;
    *bytes = arg;
    *n = strlen(arg);
}

/* Ids hold no line breaks. */
static char *fork_text(arena *a, const char *id, const fan *f)
{
    return arena_printf(a, "%s\n%s\n%lld\n%s", id, f ? f->group : "",
                        f ? (long long)f->branch : 0LL, f ? f->entry : "");
}

static void fork_text_read(char *text, begin *b)
{
    const char *id = strsep(&text, "\n"), *group = strsep(&text, "\n");
    const char *branch = strsep(&text, "\n");
    b->session = id;
    if (b->fan && !b->fan->first && text)
        *b->fan = (fan){.group = group, .branch = strtoll(branch, NULL, 10), .entry = text};
}

/* Where the forks of a fan-out are cut. One that was empty had nothing before what is first now. */
static ramet_status fork_place(request *q, const begin *b, ramet_fork_in *in)
{
    ramet_read_in first = {.limit = 1, .by_position = true, .branch = b->fan->branch};
    ramet_page page;
    in->branch = b->fan->branch;
    in->at = (ramet_at){*b->fan->entry ? b->fan->entry : NULL, RAMET_AFTER};
    if (b->index)
        in->expected_head = NULL; /* it was true for the first */
    if (!b->index || in->at.entry_id)
        return RAMET_OK;
    ramet_status st = ramet_read(q->c, b->in->session, &first, &page);
    if (st == RAMET_OK && page.n)
        in->at = (ramet_at){page.entries[0].id, RAMET_BEFORE};
    return st;
}

static bool fork_fail(request *q, const begin *b)
{
    ramet_error e = *ramet_call_error(q->c);
    bool asked = !b->fan && e.status != RAMET_KEY_MISMATCH;
    if (asked && *e.field && strcmp(e.field, "expected_head") != 0)
        snprintf(e.field, sizeof e.field, "fork.%.40s", ramet_call_error(q->c)->field);
    request_error(q, &e);
    return false;
}

/* Fork and turn are two commits, each done once for the key: a request that is sent again goes on
 * where the first one ended. Scope NULL: there is no key. */
static bool fork_make(request *q, begin *b, const char *scope)
{
    char uuid[UUID_TEXT];
    ramet_session *out = NULL;
    ramet_fork_in in = *b->in->fork;
    ramet_once once = q->once;
    if (b->fan && fork_place(q, b, &in) != RAMET_OK)
        return fork_fail(q, b);
    if (!in.id)
        in.id = arena_strdup(q->a, uuid7(time_now_us(), uuid));
    once.scope = scope;
    once.answer = fork_answer;
    once.arg = fork_text(q->a, in.id, b->fan);
    ramet_call_once(q->c, scope ? &once : NULL);
    ramet_status st = ramet_fork(q->c, b->in->session, &in, &out, NULL);
    ramet_call_once(q->c, NULL);
    if (st != RAMET_OK)
        return fork_fail(q, b);
    b->forked = out != NULL;
    fork_text_read(out ? once.arg : arena_memdup(q->a, once.bytes, once.n), b);
    return true;
}

static void show_one(request *q, const begin *b)
{
    jw_object(&q->w);
    jw_kstr(&q->w, "session_id", b->session);
    jw_kstr(&q->w, "turn_id", b->r ? b->r->id : b->turn_id);
    jw_end_object(&q->w);
}

static void show_begun(request *q, const void *answer)
{
    show_one(q, answer);
}

/* The last of several, behind the others: what is kept with it says that all have begun. */
static void show_all_begun(request *q, const void *answer)
{
    const begin *last = answer;
    jw_object(&q->w);
    jw_kstr(&q->w, "group", last->fan->group);
    jw_key(&q->w, "turns");
    jw_array(&q->w);
    for (const begin *b = last - last->index; b <= last; b++)
        show_one(q, b);
    jw_end_array(&q->w);
    jw_end_object(&q->w);
}

/* The first n turns of an answer that was kept. */
static bool begun_read(request *q, const ramet_once *o, begin *list, size_t n, const char **group)
{
    json_doc d;
    if (!json_parse(q->a, o->bytes, o->n, 0, &d, NULL)) {
        request_fail(q, 500, "internal", NULL, "the answer that was kept cannot be read");
        return false;
    }
    const json_node *all = json_get(&d, &d.nodes[0], "turns");
    const json_node *v = all ? json_first(&d, all) : &d.nodes[0];
    *group = json_text(q->a, &d, json_get(&d, &d.nodes[0], "group"));
    for (size_t i = 0; i < n && v; i++) {
        list[i].session = json_text(q->a, &d, json_get(&d, v, "session_id"));
        list[i].turn_id = json_text(q->a, &d, json_get(&d, v, "turn_id"));
        v = all ? json_next(&d, all, v) : NULL;
    }
    return true;
}

static void run_fill(run *r, const begin *b, const request *q)
{
    arena *a = r->mem;
    r->tree = arena_strdup(a, b->at->tree_id);
    r->user = arena_strdup(a, q->who.user);
    r->group = b->fan ? arena_strdup(a, b->fan->group) : NULL;
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

/* The agent may think while the message is being stored: where that will hardly fail, and where the
 * message is a mere text, which is what will be stored. */
static void run_early(run *r, const begin *b, const request *q)
{
    const ramet_turn_in *in = &b->in->turn;
    bool may = r->who->kind->early && in->n && !b->fan && strcmp(b->at->owner, q->who.user) == 0;
    may = may && (!in->expected_head || strcmp(in->expected_head, b->at->head.hash) == 0);
    for (size_t i = 0; i < in->n; i++)
        may = may && in->entries[i].text && !in->entries[i].parts && !in->entries[i].body &&
              !in->entries[i].id;
    if (!may || !run_alone(r))
        return;
    r->early = arena_array(r->mem, in->n, sizeof *r->early);
    for (size_t i = 0; i < in->n; i++)
        r->early[i] = (ramet_entry){.role = in->entries[i].role,
                                    .text = arena_strdup(r->mem, in->entries[i].text),
                                    .channel = arena_strdup(r->mem, in->entries[i].channel)};
    r->n_early = in->n;
}

/* The run of a turn that is in the store now. */
static void run_ready(begin *b)
{
    run *r = b->r;
    r->entry_id = arena_strdup(r->mem, b->turn->entry_id);
    r->length = b->appended.head.length;
    r->branch = b->turn->branch;
    run_message(r, &b->appended);
    run_begun(r);
    if (r->prepared && !b->fan) { /* several start when all have begun */
        r->started = r->heard = time_mono_us();
        run_start(r);
        b->held = true;
    }
    tell_entries(r, &b->appended);
    json_writer w = tell_begin(r, "turn.started");
    jw_kstr(&w, "agent", r->agent);
    if (r->group)
        jw_kstr(&w, "group", r->group);
    tell_end(r, &w, "turn.started", true);
    r->first = b->appended.n ? b->appended.entries[0].position : r->length;
    far_say_all(r);
    if (!b->held)
        pthread_mutex_unlock(&r->lock);
}

/* Of several turns each has a key of its own, in which its fork stands; the last one has that of
 * the request. */
static void turn_once(request *q, const begin *b, bool last, ramet_once *once)
{
    *once = q->once;
    if (!last)
        once->scope = arena_printf(q->a, "turn %s %s", b->session, q->once.scope);
    face_render(q, last && b->fan ? show_all_begun : show_begun, b);
    ramet_call_once(q->c, q->has_once ? once : NULL);
}

/* Begins the turn; on failure the answer is filled and the run gone. Repeated by its key: turn is
 * NULL, and turn_id tells it. */
static bool turn_begin(turns *t, request *q, begin *b, bool last)
{
    ramet_turn_in in = b->in->turn;
    ramet_once once;
    const char *group;
    b->r = run_new(t, b->session);
    run_fill(b->r, b, q);
    bool ahead = !in.replace && !in.regenerate;
    if (ahead)
        run_early(b->r, b, q);
    run_prepare(b->r, ahead ? &b->at->head : NULL);
    in.id = b->r->id;
    in.agent = b->who->name;
    in.group = b->r->group;
    in.host = t->host;
    turn_once(q, b, last, &once);
    ramet_status st = ramet_turn_begin(q->c, b->session, &in, &b->turn, &b->appended);
    ramet_call_once(q->c, NULL);
    if (st == RAMET_OK && b->turn) {
        run_ready(b);
        return true;
    }
    run_remove(b->r);
    run_put(b->r);
    b->r = NULL;
    if (st == RAMET_OK)
        return last ? begun_read(q, &once, b - b->index, b->index + 1, &group)
                    : begun_read(q, &once, b, 1, &group);
    if (st == RAMET_TURN_RUNNING_ALREADY)
        refuse_running(q, b->session);
    else
        request_error(q, ramet_call_error(q->c));
    return false;
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

static bool begin_look(turns *t, request *q, begin *b, const turn_request *in)
{
    b->in = in;
    b->session = in->session;
    if (ramet_session_get(q->c, in->session, &b->at) == RAMET_OK)
        return agent_choose(t, q, b);
    request_error(q, ramet_call_error(q->c));
    return false;
}

/* The session of a fork is another one than was looked at. A request whose turn could not begin
 * when it came first has deleted its fork: then it is made anew, under the key of the next try. */
static bool begin_fork(request *q, begin *b)
{
    bool first = b->fan && !b->fan->first;
    fan anew = first ? *b->fan : (fan){0};
    const char *scope = NULL, *beside = b->fan && !first ? b->fan->first : "";
    ramet_status st = RAMET_SESSION_NOT_FOUND;
    if (!b->in->fork)
        return true;
    for (int i = 0; i < TRIES_MOST && st == RAMET_SESSION_NOT_FOUND && !b->forked; i++) {
        if (first)
            *b->fan = anew;
        if (q->has_once)
            scope = arena_printf(q->a, "fork %zu.%d %s %s", b->index, i, beside, q->once.scope);
        if (!fork_make(q, b, scope))
            return false;
        st = ramet_session_get(q->c, b->session, &b->at);
    }
    if (first)
        b->fan->first = b->session;
    if (st == RAMET_SESSION_NOT_FOUND && !b->forked)
        refuse(q, RAMET_KEY_MISMATCH, "idempotency_key",
               "the idempotency key was tried too often; take another one", NULL);
    else if (st != RAMET_OK)
        request_error(q, ramet_call_error(q->c));
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

/* A run as it would stand there now if it had not ended; or that of another node. NULL: the answer
 * is filled. */
static run *run_past(turns *t, request *q, const ramet_session *s, const char *id)
{
    ramet_turn *turn;
    if (ramet_turn_get(q->c, s->id, id, &turn) != RAMET_OK) {
        request_error(q, ramet_call_error(q->c));
        return NULL;
    }
    run *far = turn->status == RAMET_TURN_RUNNING ? far_find(t, s->id, id) : NULL;
    if (far)
        return far;
    if (turn->status == RAMET_TURN_RUNNING) {
        refuse(q, RAMET_TURN_RUNNING_ALREADY, "",
               "the turn of this request runs on another server, which does not answer", turn->id);
        return NULL;
    }
    run *r = run_make(t, s->id);
    snprintf(r->id, sizeof r->id, "%s", turn->id);
    r->tree = arena_strdup(r->mem, s->tree_id);
    r->agent = arena_strdup(r->mem, turn->agent ? turn->agent : "");
    r->group = arena_strdup(r->mem, turn->group);
    r->entry_id = arena_strdup(r->mem, turn->entry_id);
    r->branch = turn->branch;
    r->status = turn->status;
    r->begun = r->over = r->past = true;
    snprintf(r->error, sizeof r->error, "%.500s", turn->error ? turn->error : "");
    if (past_entries(r, q->c) == RAMET_OK)
        return r;
    request_error(q, ramet_call_error(q->c));
    run_put(r);
    return NULL;
}

/* The runs of turns that the same request began before: they run, or are over. False: the answer is
 * filled. */
static bool runs_find(turns *t, request *q, begin *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        begin *b = &list[i];
        ramet_session *s = NULL;
        if (b->r)
            continue;
        if (ramet_session_get(q->c, b->session, &s) != RAMET_OK) {
            request_error(q, ramet_call_error(q->c));
            return false;
        }
        b->r = run_find(t, b->session, b->turn_id);
        if (!b->r)
            b->r = run_past(t, q, s, b->turn_id);
        if (!b->r)
            return false;
    }
    return true;
}

/* Whoever may see the session may hear its turns. */
void turns_join(turns *t, request *q, const char *session, const char *id)
{
    begin b = {.session = session, .turn_id = id};
    if (!runs_find(t, q, &b, 1))
        return;
    far_join(b.r, listener_new(t, q, 1, NULL), 0);
    run_put(b.r);
}

/* ------------------------------------------------------------------ requests */

static void counted(request *q, const begin *b)
{
    const ramet_turn_in *in = &b->in->turn;
    if (b->forked)
        face_count(q, "fork", ramet_fork_type_name(b->in->fork->type));
    if (in->replace || in->regenerate)
        face_count(q, "fork",
                   ramet_fork_type_name(in->replace ? RAMET_AUTO_EDIT : RAMET_AUTO_REGENERATE));
}

/* All turns have begun, and are run if they were begun by this request. */
static void turns_go(turns *t, request *q, begin *list, size_t n, const char *group)
{
    if (!list[n - 1].turn)
        request_add_header(q, "Idempotency-Replayed", "true");
    listener *l = listener_new(t, q, n, group);
    for (size_t i = 0; i < n; i++) {
        if (list[i].held) {
            run_join(list[i].r, l, i);
            pthread_mutex_unlock(&list[i].r->lock);
        } else {
            far_join(list[i].r, l, i);
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (list[i].turn) {
            const ramet_turn_in *in = &list[i].in->turn;
            counted(q, &list[i]);
            run_start(list[i].r);
            if (in->replace || in->regenerate)
                turns_moved(t, list[i].session, face_bool(q, "keep_running"));
        }
        run_put(list[i].r);
    }
}

/* One of several could not begin: none has. */
static void turns_undo(turns *t, begin *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].r && list[i].turn) {
            run_drop(list[i].r);
            run_close(list[i].r, RAMET_TURN_CANCELLED, NULL);
        }
        if (list[i].r)
            run_put(list[i].r);
        fork_unmake(t, &list[i]);
    }
}

/* The same request came before, and all its turns began. */
static void turns_again(turns *t, request *q, begin *list, size_t n)
{
    const char *group;
    if (begun_read(q, &q->once, list, n, &group) && runs_find(t, q, list, n))
        turns_go(t, q, list, n, group);
    else
        turns_undo(t, list, n);
}

static void turns_begin(turns *t, request *q, begin *list, size_t n, bool many)
{
    char group[UUID_TEXT];
    fan f = {.group = uuid7(time_now_us(), group)};
    bool fine = true;
    for (size_t i = 0; fine && i < n; i++) {
        list[i].fan = many ? &f : NULL;
        fine = begin_look(t, q, &list[i], list[i].in);
    }
    if (fine && many) {
        const ramet_head *head = &list[0].at->head;
        f.branch = head->branch;
        f.entry = head->entry_id ? head->entry_id : "";
    }
    for (size_t i = 0; fine && i < n; i++)
        fine = begin_fork(q, &list[i]) && turn_begin(t, q, &list[i], i == n - 1);
    fine = fine && runs_find(t, q, list, n);
    int64_t idle = 0;
    for (size_t i = 0; i < n; i++)
        idle += !fine || !list[i].turn;
    if (idle)
        turns_leave(t, idle);
    if (fine)
        turns_go(t, q, list, n, many ? f.group : NULL);
    else
        turns_undo(t, list, n);
}

void turns_run(turns *t, request *q, const turn_request *in, size_t n, bool many)
{
    begin list[TURNS_MAX_PER_REQUEST];
    for (size_t i = 0; i < n; i++)
        list[i] = (begin){.in = &in[i], .index = i};
    if (ramet_once_look(q->c) != RAMET_OK)
        request_error(q, ramet_call_error(q->c));
    else if (q->has_once && q->once.repeated)
        turns_again(t, q, list, n);
    else if (turns_admit(t, (int64_t)n))
        turns_begin(t, q, list, n, many);
    else
        refuse(q, RAMET_TOO_BUSY, "", "too many turns run or wait; try again in a while", NULL);
}

/* ------------------------------------------------------------------ cancel and answer */

static void show_turn(request *q, const void *answer)
{
    native_turn(&q->w, *(ramet_turn *const *)answer);
}

static void answer_turn(request *q, const char *session, const char *id)
{
    ramet_turn *turn = NULL;
    face_render(q, show_turn, &turn);
    ramet_status st = ramet_turn_get(q->c, session, id, &turn);
    face_answer(q, st == RAMET_OK ? ramet_once_keep(q->c) : st);
}

static void refuse_over(request *q, const ramet_turn *turn)
{
    char message[128];
    snprintf(message, sizeof message, "turn %.40s is over: it is %s", turn->id,
             ramet_turn_status_name(turn->status));
    refuse(q, RAMET_TURN_OVER, "turn_id", message, turn->id);
}

/* A turn of the session that runs, as the store knows it. NULL: the answer is filled. */
static ramet_turn *turn_named(request *q, const char *session, const char *id)
{
    ramet_turn *turn = NULL;
    ramet_status st = ramet_session_writable(q->c, session);
    if (st == RAMET_OK)
        st = id ? ramet_turn_get(q->c, session, id, &turn)
                : ramet_turn_running(q->c, session, &turn);
    if (st != RAMET_OK) {
        request_error(q, ramet_call_error(q->c));
        return NULL;
    }
    if (!turn) {
        refuse(q, RAMET_TURN_NOT_FOUND, "turn_id", "no turn runs on the head of this session",
               NULL);
        return NULL;
    }
    if (turn->status == RAMET_TURN_RUNNING)
        return turn;
    refuse_over(q, turn);
    return NULL;
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

/* What became of an answer. */
static const char did_done[] = "done", did_none[] = "none", did_wrong[] = "wrong";

static const char *answer_give(run *r, arena *a, const char *question, const char *answer)
{
    pthread_mutex_lock(&r->lock);
    bool open = !r->closed && !r->answer && r->question_id && strcmp(r->question_id, question) == 0;
    bool fits = open && (!r->options || option_is(a, r->options, answer));
    if (fits)
        r->answer = xstrdup(answer);
    pthread_cond_broadcast(&r->wake);
    pthread_mutex_unlock(&r->lock);
    return fits ? did_done : open ? did_wrong : did_none;
}

bool turns_do(turns *t, arena *a, const node_do *what, char did[DID_TEXT])
{
    const char *done = did_done;
    size_t n;
    if (strcmp(what->op, "moved") == 0) {
        run **list = runs_held(t, what->session, &n);
        bool mine = false;
        for (size_t i = 0; i < n; i++)
            mine = mine || !list[i]->far;
        runs_put(list, n);
        if (mine)
            turns_moved_here(t, what->session, what->keep);
        snprintf(did, DID_TEXT, "%s", done);
        return mine;
    }
    run *r = what->turn ? run_find(t, what->session, what->turn) : NULL;
    bool mine = r && !r->far;
    if (mine && strcmp(what->op, "cancel") == 0)
        run_close(r, RAMET_TURN_CANCELLED, NULL);
    else if (mine && what->question && what->answer)
        done = answer_give(r, a, what->question, what->answer);
    if (r)
        run_put(r);
    snprintf(did, DID_TEXT, "%s", done);
    return mine;
}

/* Has another node do it, as far as it is one that runs the turn. False: the answer is filled. */
static bool node_asked(turns *t, request *q, const node_do *what, char did[DID_TEXT])
{
    ramet_turn *turn;
    if (nodes_do(t->nodes, what, NODE_MS, did))
        return true;
    /* It may be over by now, or have been interrupted. */
    if (ramet_turn_get(q->c, what->session, what->turn, &turn) != RAMET_OK)
        request_error(q, ramet_call_error(q->c));
    else if (turn->status != RAMET_TURN_RUNNING)
        refuse_over(q, turn);
    else {
        request_fail(q, 503, "node_gone", "turn_id",
                     "the server that runs turn %.40s does not answer; if it is gone, the turn is "
                     "interrupted within 20 seconds",
                     turn->id);
        request_add_header(q, "Retry-After", "5");
    }
    return false;
}

/* In a file, a turn that does not run here was left by another server, or is run by one: it ends in
 * the store, and who makes it learns that there. */
void turns_cancel(turns *t, request *q, const char *session, const char *id)
{
    ramet_append_out out;
    char did[DID_TEXT];
    ramet_turn *turn = turn_named(q, session, id);
    if (!turn)
        return;
    run *r = run_find(t, session, turn->id);
    ramet_status st = RAMET_OK;
    if (r && !r->far) {
        run_close(r, RAMET_TURN_CANCELLED, NULL);
    } else if (t->nodes) {
        node_do what = {.op = "cancel", .session = session, .turn = turn->id};
        if (!node_asked(t, q, &what, did))
            st = RAMET_STOP;
    } else {
        st = ramet_turn_end(q->c, turn->id, RAMET_TURN_CANCELLED, NULL, NULL, 0, &out);
    }
    if (r)
        run_put(r);
    if (st == RAMET_OK)
        answer_turn(q, session, turn->id);
    else if (st != RAMET_STOP)
        request_error(q, ramet_call_error(q->c));
}

/* What the run said to an answer: did_… in `did`. False: the request is answered. */
static bool answer_hand(turns *t, request *q, run *r, const node_do *what, char did[DID_TEXT])
{
    if (r && !r->far)
        snprintf(did, DID_TEXT, "%s", answer_give(r, q->a, what->question, what->answer));
    else if (t->nodes)
        return node_asked(t, q, what, did);
    return true;
}

static void answer_refused(request *q, const node_do *what, const char *did)
{
    q->type = NULL;
    if (strcmp(did, did_wrong) == 0)
        request_fail(q, 400, "invalid_request", "answer",
                     "'%.60s' is none of the options of this question", what->answer);
    else
        request_fail(q, 404, "question_not_found", "question_id",
                     "the turn does not wait for an answer to question '%.60s'", what->question);
}

/* Who wants to hear the rest joins before the agent goes on. When nothing comes of it he leaves
 * again, unless the turn has ended meanwhile: then he was told that. */
void turns_answer(turns *t, request *q, const char *session, const char *id, const char *question,
                  const char *answer)
{
    char did[DID_TEXT] = "";
    node_do what = {
        .op = "answer", .session = session, .turn = id, .question = question, .answer = answer};
    if (!turn_named(q, session, id))
        return;
    run *r = q->hear ? far_find(t, session, id) : run_find(t, session, id);
    listener *l = q->hear && r ? listener_new(t, q, 1, NULL) : NULL;
    if (l)
        far_join(r, l, 0);
    const char *type = q->type;
    bool asked = answer_hand(t, q, r, &what, did), done = strcmp(did, did_done) == 0;
    bool hears = l && (done || !run_leave(r, l));
    if (r)
        run_put(r);
    if (hears) { /* whatever was said to the answer */
        q->status = 200;
        q->type = type;
        return;
    }
    body_stream_drop(q);
    if (done)
        answer_turn(q, session, id);
    else if (asked)
        answer_refused(q, &what, did);
}
