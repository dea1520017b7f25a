/* SPDX-License-Identifier: Apache-2.0
 *
 * send.c: requests that begin a turn (in a fork, or several in parallel) or join one.
 *
 * A request that begins a turn holds no thread while the turn runs: its answer is a stream.
 * Repeated with the same idempotency key, it joins the turns that it began, or continues where it
 * was interrupted: fork and turn are separate commits, and each stores its result under its own
 * key.
 */
#include "turns/turns_internal.h"

#include "agent/prompt.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1000, MAX_FORK_TRIES = 64 };

/* What the forks of a fan-out have in common. It is stored with the first of them, so a repeated
 * request continues with it: at the same place, wherever the head is by then. */
typedef struct fan {
    const char *group;
    const char *first; /* session id of the first fork; NULL: there is none yet */
    int64_t branch;
    const char *entry; /* the last entry before the message; "": there was none */
} fan;

/* The progress of one turn of a request. */
typedef struct begin {
    const turn_request *in;
    size_t index;
    fan *fan; /* NULL: it is the only one */
    ramet_agent settings;
    agent *agent;
    const char *session; /* where the turn runs; the fork if there is one */
    bool forked;         /* by this request */
    ramet_session *at;   /* the session that the request names */
    run *run;
    ramet_turn *turn;    /* NULL: an earlier try of the request began it */
    const char *turn_id; /* in that case */
    ramet_append_out appended;
    bool is_locked; /* holds the lock of the run, so nothing is published before the request has
                       subscribed */
} begin;

/* ------------------------------------------------------------------ refusing */

bool turn_refuse(turn_error *err, ramet_status st, const char *field, const char *turn,
                 const char *fmt, ...)
{
    va_list ap;
    *err = (turn_error){.error.status = st};
    va_start(ap, fmt);
    vsnprintf(err->error.message, sizeof err->error.message, fmt, ap);
    va_end(ap);
    utf8_trim(err->error.message);
    snprintf(err->error.field, sizeof err->error.field, "%s", field);
    snprintf(err->turn_id, sizeof err->turn_id, "%s", turn ? turn : "");
    return false;
}

bool turn_refuse_call(turn_error *err, const ramet_call *c)
{
    *err = (turn_error){.error = *ramet_call_error(c)};
    return false;
}

/* Refuses, naming the turn that is in the way. */
static bool refuse_running(turn_error *err, ramet_call *c, const char *session)
{
    ramet_turn *turn = NULL;
    turn_refuse_call(err, c);
    ramet_status st = ramet_turn_running(c, session, &turn);
    snprintf(err->turn_id, sizeof err->turn_id, "%s",
             st == RAMET_OK && turn ? turn->id : err->error.subject);
    return false;
}

/* ------------------------------------------------------------------ beginning */

/* Chooses the agent: the requested one, else the fork's, else the session's. If the request names
 * the session's own agent by name only, it keeps its settings. */
static bool agent_choose(turns *t, begin *b, turn_error *err)
{
    const ramet_agent *fork = b->in->fork ? b->in->fork->agent : NULL;
    const ramet_agent *asked = b->in->agent ? b->in->agent : fork;
    const ramet_agent *own = &b->at->agent;
    if (asked && own->name && asked->name && strcmp(asked->name, own->name) == 0 && !asked->model &&
        !asked->provider && !asked->folder && !asked->options)
        asked = NULL;
    b->settings = asked ? *asked : *own;
    b->agent = agents_find(t->agents, b->settings.name);
    return b->agent || turn_refuse(err, RAMET_AGENT_NOT_FOUND, "agent", NULL,
                                   "no agent '%.80s' is configured here; GET /agents lists them",
                                   b->settings.name);
}

/* ---- results stored under an idempotency key. Both formats are in stores: they must stay
 * readable.
 */

typedef struct kept {
    int status;
    const char *text;
} kept;

static void kept_answer(void *arg, int *status, const char **bytes, size_t *n)
{
    const kept *k = arg;
    *status = k->status;
    *bytes = k->text;
    *n = strlen(k->text);
}

/* A fork: four lines. Ids contain no line breaks. */
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

static void begun_write_one(json_writer *w, const begin *b)
{
    jw_object(w);
    jw_kstr(w, "session_id", b->session);
    jw_kstr(w, "turn_id", b->run ? b->run->id : b->turn_id);
    jw_end_object(w);
}

/* A turn: its id. The last of several names all of them, which means that all have begun. */
static const char *begun_text(arena *a, const begin *b, bool names_all)
{
    buf out;
    json_writer w;
    buf_init(&out, (size_t)1 << 20);
    jw_init(&w, &out, 0);
    if (names_all) {
        jw_object(&w);
        jw_kstr(&w, "group", b->fan->group);
        jw_key(&w, "turns");
        jw_array(&w);
    }
    for (const begin *each = names_all ? b - b->index : b; each <= b; each++)
        begun_write_one(&w, each);
    if (names_all) {
        jw_end_array(&w);
        jw_end_object(&w);
    }
    return buf_keep(&out, a);
}

/* Parses the first n turns. */
static bool begun_read(request *q, const ramet_once *o, begin *list, size_t n, turn_error *err)
{
    json_doc d;
    if (!json_parse(q->arena, o->bytes, o->n, 0, &d, NULL))
        return turn_refuse(err, RAMET_INTERNAL, "", NULL,
                           "the answer that was kept cannot be read");
    const json_node *all = json_get(&d, &d.nodes[0], "turns");
    const json_node *v = all ? json_first(&d, all) : &d.nodes[0];
    for (size_t i = 0; i < n && v; i++) {
        list[i].session = json_text(q->arena, &d, json_get(&d, v, "session_id"));
        list[i].turn_id = json_text(q->arena, &d, json_get(&d, v, "turn_id"));
        v = all ? json_next(&d, all, v) : NULL;
    }
    return true;
}

/* ---- forks */

/* Where the forks of a fan-out are cut. If the session was empty, that is before its first entry
 * now. */
static ramet_status fork_place(request *q, const begin *b, ramet_fork_in *in)
{
    ramet_read_in first = {.limit = 1, .by_position = true, .branch = b->fan->branch};
    ramet_page page;
    in->branch = b->fan->branch;
    in->at = (ramet_at){*b->fan->entry ? b->fan->entry : NULL, RAMET_AFTER};
    if (b->index)
        in->expected_head = NULL; /* it was checked for the first */
    if (!b->index || in->at.entry_id)
        return RAMET_OK;
    ramet_status st = ramet_read(q->call, b->in->session, &first, &page);
    if (st == RAMET_OK && page.n)
        in->at = (ramet_at){page.entries[0].id, RAMET_BEFORE};
    return st;
}

static bool fork_refuse(turn_error *err, request *q, const begin *b)
{
    turn_refuse_call(err, q->call);
    bool asked = !b->fan && err->error.status != RAMET_KEY_MISMATCH;
    if (asked && *err->error.field && strcmp(err->error.field, "expected_head") != 0)
        snprintf(err->error.field, sizeof err->error.field, "fork.%.40s",
                 ramet_call_error(q->call)->field);
    return false;
}

/* Scope NULL: no key. */
static bool fork_make(request *q, begin *b, const char *scope, turn_error *err)
{
    char uuid[UUID_TEXT];
    ramet_session *out = NULL;
    ramet_fork_in in = *b->in->fork;
    ramet_once once = q->once;
    if (b->fan && fork_place(q, b, &in) != RAMET_OK)
        return fork_refuse(err, q, b);
    if (!in.id)
        in.id = arena_strdup(q->arena, uuid7(time_now_us(), uuid));
    char *text = fork_text(q->arena, in.id, b->fan);
    kept keep = {201, text};
    once.scope = scope;
    once.answer = kept_answer;
    once.arg = &keep;
    ramet_call_once(q->call, scope ? &once : NULL);
    ramet_status st = ramet_fork(q->call, b->in->session, &in, &out, NULL);
    ramet_call_once(q->call, NULL);
    if (st != RAMET_OK)
        return fork_refuse(err, q, b);
    b->forked = out != NULL;
    fork_text_read(out ? text : arena_memdup(q->arena, once.bytes, once.n), b);
    return true;
}

/* ---- the turn */

static void run_fill(run *r, const begin *b, const request *q)
{
    arena *a = r->mem;
    r->tree = arena_strdup(a, b->at->tree_id);
    r->user = arena_strdup(a, q->caller.user);
    r->group = b->fan ? arena_strdup(a, b->fan->group) : NULL;
    r->cache_key = arena_strdup(a, b->at->cache_root ? b->at->cache_root : b->session);
    r->settings = (ramet_agent){.name = arena_strdup(a, b->settings.name),
                                .provider = arena_strdup(a, b->settings.provider),
                                .model = arena_strdup(a, b->settings.model),
                                .folder = arena_strdup(a, b->settings.folder),
                                .options = arena_strdup(a, b->settings.options)};
    r->request = arena_strdup(a, b->in->request);
    r->agent = b->agent;
    r->agent_name = b->agent->name;
    r->is_untitled = *r->turns->cfg->title_agent && !*b->at->title;
}

/* Lets the agent start while the message is being stored, if that is unlikely to fail and the
 * message is plain text, which will be stored unchanged. */
static void run_early(run *r, const begin *b, const request *q)
{
    const ramet_turn_in *in = &b->in->turn;
    bool may =
        r->agent->kind->early && in->n && !b->fan && strcmp(b->at->owner, q->caller.user) == 0;
    may = may && (!in->expected_head || strcmp(in->expected_head, b->at->head.hash) == 0);
    for (size_t i = 0; i < in->n; i++)
        may = may && in->entries[i].text && !in->entries[i].parts && !in->entries[i].body &&
              !in->entries[i].id;
    if (!may || !run_is_alone(r))
        return;
    r->early = arena_array(r->mem, in->n, sizeof *r->early);
    for (size_t i = 0; i < in->n; i++)
        r->early[i] = (ramet_entry){.role = in->entries[i].role,
                                    .text = arena_strdup(r->mem, in->entries[i].text),
                                    .channel = arena_strdup(r->mem, in->entries[i].channel)};
    r->n_early = in->n;
}

/* Publishes the run of a turn that is in the store now. */
static void run_ready(begin *b)
{
    run *r = b->run;
    r->entry_id = arena_strdup(r->mem, b->turn->entry_id);
    r->length = b->appended.head.length;
    r->branch = b->turn->branch;
    r->begun_us = b->turn->started;
    run_message(r, &b->appended);
    run_begun(r);
    if (r->is_prepared && !b->fan) { /* several start once all have begun */
        r->started = r->last_output_us = time_mono_us();
        run_start(r);
        b->is_locked = true;
    }
    publish_entries(r, &b->appended);
    publish_started(r);
    r->first = b->appended.n ? b->appended.entries[0].position : r->length;
    remote_send_run(r);
    if (!b->is_locked)
        pthread_mutex_unlock(&r->lock);
}

/* Begins the turn; on failure the run is removed. If repeated by its key, turn is NULL and turn_id
 * names it. With several turns, each has its own key, which names its fork; the last one has the
 * key of the request. */
static bool turn_begin(turns *t, request *q, begin *b, bool is_last, turn_error *err)
{
    ramet_turn_in in = b->in->turn;
    ramet_once once = q->once;
    b->run = run_new(t, b->session);
    run_fill(b->run, b, q);
    bool prefetch = !in.replace && !in.regenerate;
    if (prefetch)
        run_early(b->run, b, q);
    run_prepare(b->run, prefetch ? &b->at->head : NULL);
    in.id = b->run->id;
    in.agent = b->agent->name;
    in.group = b->run->group;
    in.host = t->host;
    kept keep = {200, begun_text(q->arena, b, is_last && b->fan)};
    once.answer = kept_answer;
    once.arg = &keep;
    if (!is_last)
        once.scope = arena_printf(q->arena, "turn %s %s", b->session, q->once.scope);
    ramet_prompt_in prompt = {.agent = b->agent->kind->name};
    if (b->in->request)
        prompt.data = prompt_pack(q->arena, NULL, b->in->request);
    ramet_call_prompt(q->call, prompt.data ? &prompt : NULL);
    ramet_call_once(q->call, q->has_once ? &once : NULL);
    ramet_status st = ramet_turn_begin(q->call, b->session, &in, &b->turn, &b->appended);
    ramet_call_once(q->call, NULL);
    ramet_call_prompt(q->call, NULL);
    if (st == RAMET_OK && b->turn) {
        run_ready(b);
        return true;
    }
    run_remove(b->run);
    run_put(b->run);
    b->run = NULL;
    if (st == RAMET_OK)
        return is_last ? begun_read(q, &once, b - b->index, b->index + 1, err)
                       : begun_read(q, &once, b, 1, err);
    return st == RAMET_TURN_RUNNING_ALREADY ? refuse_running(err, q->call, b->session)
                                            : turn_refuse_call(err, q->call);
}

/* Begins a turn that is not recorded: there is nothing that could be in its way. */
static bool turn_begin_unrecorded(turns *t, request *q, begin *b)
{
    static const ramet_session nowhere = {.id = "", .tree_id = "", .title = "-", .owner = ""};
    ramet_session *at = arena_alloc(q->arena, sizeof *at);
    *at = nowhere;
    b->at = at;
    b->session = "";
    b->run = run_new(t, b->session);
    run_fill(b->run, b, q);
    run_unrecorded(b->run, b->in);
    b->turn = arena_alloc(q->arena, sizeof *b->turn);
    run_begun(b->run);
    publish_started(b->run);
    pthread_mutex_unlock(&b->run->lock);
    return true;
}

/* Deletes the fork of a turn that did not begin. */
static void fork_unmake(turns *t, const begin *b)
{
    ramet_delete_out out;
    if (!b->forked)
        return;
    ramet_call *c = ramet_call_new(t->store, NULL, NULL);
    ramet_session_delete(c, b->session, false, false, &out);
    ramet_call_free(c);
}

static bool begin_look(turns *t, request *q, begin *b, turn_error *err)
{
    static ramet_session nowhere;
    b->session = b->in->session;
    if (b->in->unrecorded) {
        b->at = &nowhere;
        return agent_choose(t, b, err);
    }
    if (ramet_session_get(q->call, b->session, &b->at) != RAMET_OK)
        return turn_refuse_call(err, q->call);
    return agent_choose(t, b, err);
}

/* Makes the fork, and reads its session. If the first try of a request could not begin its turn, it
 * has deleted its fork: then the fork is made again, under the key of the next try. */
static bool begin_fork(request *q, begin *b, turn_error *err)
{
    bool first = b->fan && !b->fan->first;
    fan anew = first ? *b->fan : (fan){0};
    const char *scope = NULL, *first_fork = b->fan && !first ? b->fan->first : "";
    ramet_status st = RAMET_SESSION_NOT_FOUND;
    if (!b->in->fork)
        return true;
    for (int i = 0; i < MAX_FORK_TRIES && st == RAMET_SESSION_NOT_FOUND && !b->forked; i++) {
        if (first)
            *b->fan = anew;
        if (q->has_once)
            scope =
                arena_printf(q->arena, "fork %zu.%d %s %s", b->index, i, first_fork, q->once.scope);
        if (!fork_make(q, b, scope, err))
            return false;
        st = ramet_session_get(q->call, b->session, &b->at);
    }
    if (first)
        b->fan->first = b->session;
    if (st == RAMET_SESSION_NOT_FOUND && !b->forked)
        return turn_refuse(err, RAMET_KEY_MISMATCH, "idempotency_key", NULL,
                           "the idempotency key was tried too often; take another one");
    return st == RAMET_OK || turn_refuse_call(err, q->call);
}

/* ------------------------------------------------------------------ joining */

/* Reads what the turn appended: its message and its answer. */
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
            publish_entries(r, &(ramet_append_out){.entries = &page.entries[i], .n = 1});
        }
    }
    return RAMET_OK;
}

/* The run of a turn that has ended, rebuilt from the store, or that of another node. On failure
 * returns NULL and fills *err. */
static run *run_past(turns *t, request *q, const ramet_session *s, const char *id, turn_error *err)
{
    ramet_turn *turn;
    if (ramet_turn_get(q->call, s->id, id, &turn) != RAMET_OK) {
        turn_refuse_call(err, q->call);
        return NULL;
    }
    run *remote = turn->status == RAMET_TURN_RUNNING ? remote_find(t, s->id, id) : NULL;
    if (remote)
        return remote;
    if (turn->status == RAMET_TURN_RUNNING) {
        turn_refuse(err, RAMET_TURN_RUNNING_ALREADY, "", turn->id,
                    "the turn of this request runs on another server, which does not answer");
        return NULL;
    }
    run *r = run_alloc(t, s->id);
    snprintf(r->id, sizeof r->id, "%s", turn->id);
    r->tree = arena_strdup(r->mem, s->tree_id);
    r->agent_name = arena_strdup(r->mem, turn->agent ? turn->agent : "");
    r->group = arena_strdup(r->mem, turn->group);
    r->entry_id = arena_strdup(r->mem, turn->entry_id);
    r->branch = turn->branch;
    r->status = turn->status;
    r->begun_us = turn->started;
    r->ended_us = turn->ended;
    r->is_past = true;
    run_move(r, RUN_OVER);
    snprintf(r->error, sizeof r->error, "%.500s", turn->error ? turn->error : "");
    if (past_entries(r, q->call) == RAMET_OK)
        return r;
    turn_refuse_call(err, q->call);
    run_put(r);
    return NULL;
}

/* Finds the runs of turns that an earlier try of the request began, whether they run or are
 * over. */
static bool runs_find(turns *t, request *q, begin *list, size_t n, turn_error *err)
{
    for (size_t i = 0; i < n; i++) {
        begin *b = &list[i];
        ramet_session *s = NULL;
        if (b->run)
            continue;
        if (ramet_session_get(q->call, b->session, &s) != RAMET_OK)
            return turn_refuse_call(err, q->call);
        b->run = run_find(t, b->session, b->turn_id);
        if (!b->run)
            b->run = run_past(t, q, s, b->turn_id, err);
        if (!b->run)
            return false;
    }
    return true;
}

static void listener_release(const turn_listener *l)
{
    if (l->release)
        l->release(l->arg);
}

/* Any user who may see the session may follow its turns. */
bool turns_join(turns *t, request *q, const char *session, const char *turn,
                const turn_listener *listener, turn_error *err)
{
    begin b = {.session = session, .turn_id = turn};
    if (!runs_find(t, q, &b, 1, err)) {
        listener_release(listener);
        return false;
    }
    remote_subscribe(b.run, subscriber_new(t, q, 1, listener), 0);
    run_put(b.run);
    return true;
}

/* ------------------------------------------------------------------ requests */

/* Called when all turns have begun. Starts those that this request began. */
static void turns_go(turns *t, request *q, turn_batch *batch, begin *list,
                     const turn_listener *listener)
{
    batch->replayed = !list[batch->n - 1].turn;
    subscriber *s = subscriber_new(t, q, batch->n, listener);
    for (size_t i = 0; i < batch->n; i++) {
        if (list[i].is_locked) {
            run_subscribe(list[i].run, s, i);
            pthread_mutex_unlock(&list[i].run->lock);
        } else {
            remote_subscribe(list[i].run, s, i);
        }
    }
    for (size_t i = 0; i < batch->n; i++) {
        const ramet_turn_in *in = &batch->items[i].turn;
        if (list[i].turn) {
            if (batch->begun)
                batch->begun(batch->arg, &batch->items[i], list[i].forked);
            run_start(list[i].run);
            if (in->replace || in->regenerate)
                turns_moved(t, list[i].session, batch->keep_running);
        }
        run_put(list[i].run);
    }
}

/* Called when one of several turns could not begin: undoes the others. */
static void turns_undo(turns *t, begin *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].run && list[i].turn) {
            run_drop(list[i].run);
            run_close(list[i].run, RAMET_TURN_CANCELLED, NULL);
        }
        if (list[i].run)
            run_put(list[i].run);
        fork_unmake(t, &list[i]);
    }
}

/* Room for all turns was admitted; a turn that does not begin gives its room back. */
static bool turns_begin(turns *t, request *q, const turn_batch *batch, begin *list, turn_error *err)
{
    char group[UUID_TEXT];
    fan f = {.group = arena_strdup(q->arena, uuid7(time_now_us(), group))};
    bool fine = true;
    for (size_t i = 0; fine && i < batch->n; i++)
        fine = begin_look(t, q, &list[i], err);
    if (fine) {
        const ramet_head *head = &list[0].at->head;
        f.branch = head->branch;
        f.entry = head->entry_id ? head->entry_id : "";
    }
    for (size_t i = 0; fine && i < batch->n; i++) {
        list[i].fan = batch->fan_out ? &f : NULL;
        if (list[i].in->unrecorded)
            fine = turn_begin_unrecorded(t, q, &list[i]);
        else
            fine =
                begin_fork(q, &list[i], err) && turn_begin(t, q, &list[i], i == batch->n - 1, err);
    }
    fine = fine && runs_find(t, q, list, batch->n, err);
    int64_t idle = 0;
    for (size_t i = 0; i < batch->n; i++)
        idle += !fine || !list[i].turn;
    if (idle)
        turns_leave(t, idle);
    return fine;
}

bool turns_run(turns *t, request *q, turn_batch *batch, const turn_listener *listener,
               turn_error *err)
{
    begin list[TURNS_MAX_PER_REQUEST];
    bool fine;
    assert(batch->n && batch->n <= TURNS_MAX_PER_REQUEST);
    for (size_t i = 0; i < batch->n; i++)
        list[i] = (begin){.in = &batch->items[i], .index = i};
    if (ramet_once_look(q->call) != RAMET_OK)
        fine = turn_refuse_call(err, q->call);
    else if (q->has_once && q->once.repeated)
        fine = begun_read(q, &q->once, list, batch->n, err) && runs_find(t, q, list, batch->n, err);
    else if (turns_admit(t, (int64_t)batch->n))
        fine = turns_begin(t, q, batch, list, err);
    else
        fine = turn_refuse(err, RAMET_TOO_BUSY, "", NULL,
                           "too many turns run or wait; try again in a while");
    if (fine) {
        turns_go(t, q, batch, list, listener);
        return true;
    }
    turns_undo(t, list, batch->n);
    listener_release(listener);
    return false;
}
