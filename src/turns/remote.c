/* SPDX-License-Identifier: Apache-2.0
 *
 * remote.c: runs of other nodes on the same database, as this node knows them.
 *
 * A node says how its runs go on; each other node follows them by runs of its own (`far`), which
 * stand in its table as if they ran there: so `running`, watchers and requests that join find them
 * without asking anybody.
 *
 *   F1  What is said about a run is put in line under its lock, and heard in that order.
 *   F2  `said` counts the bytes of all words of a run. Words that come twice are left out by it;
 *       where some are missing, or a run is not known, the node that runs it is asked for a
 * snapshot, which is joined the same way. So nothing is told twice here, and no gap is passed over.
 *   F3  Entries are not sent: they are in the store, and are read from there for who joined.
 *   F4  The end of a run that nobody told (its node died, a message got lost) is found in the
 * store.
 */
#include "turns/turns_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 1000, ASK_MS = 1000, UNKNOWN_MS = 50, FIND_MS = 3000, QUIET_S = 5 };
#define MESSAGE_MOST ((size_t)32 << 20)

/* ------------------------------------------------------------------ saying */

static bool wanted(const run *r)
{
    return !r->far && !r->past && nodes_others(r->t->nodes);
}

static json_writer say_begin(const run *r, buf *out, const char *what)
{
    json_writer w;
    buf_init(out, MESSAGE_MOST);
    jw_init(&w, out, 0);
    jw_object(&w);
    jw_kstr(&w, "m", what);
    jw_kstr(&w, "turn", r->id);
    return w;
}

/* Where it stands; words that follow are counted from there. */
static void say_place(const run *r, json_writer *w)
{
    jw_kint(w, "said", r->said - (int64_t)r->bytes);
    jw_kint(w, "begin", r->begin);
    jw_kint(w, "upto", r->upto);
}

static void say_parts(const run *r, json_writer *w)
{
    jw_key(w, "parts");
    jw_array(w);
    for (size_t i = 0; i < r->parts.n; i++) {
        jw_object(w);
        jw_kbool(w, "thinking", r->parts.items[i].thinking);
        jw_kstr(w, "text", r->parts.items[i].text.p);
        jw_end_object(w);
    }
    jw_end_array(w);
}

void far_say_all(run *r)
{
    buf out;
    if (!wanted(r))
        return;
    json_writer w = say_begin(r, &out, "run");
    jw_kstr(&w, "host", r->t->host);
    jw_kstr(&w, "session", r->session);
    jw_kstr(&w, "tree", r->tree);
    jw_kint(&w, "branch", r->branch);
    jw_kstr(&w, "entry", r->entry_id);
    jw_kstr(&w, "agent", r->agent);
    jw_kstr(&w, "group", r->group);
    jw_kint(&w, "first", r->first);
    say_place(r, &w);
    say_parts(r, &w);
    jw_kraw(&w, "question", r->question);
    jw_kraw(&w, "plan", r->plan);
    nodes_say(r->t->nodes, &out);
}

void far_say_words(run *r, bool thinking, const char *text, size_t n)
{
    buf out;
    if (!wanted(r))
        return;
    json_writer w = say_begin(r, &out, "words");
    jw_kint(&w, "at", r->said - (int64_t)n);
    jw_kbool(&w, "thinking", thinking);
    jw_key(&w, "text");
    jw_strn(&w, text, n);
    nodes_say(r->t->nodes, &out);
}

void far_say_appended(run *r)
{
    buf out;
    if (!wanted(r))
        return;
    json_writer w = say_begin(r, &out, "appended");
    say_place(r, &w);
    nodes_say(r->t->nodes, &out);
}

void far_say_question(run *r)
{
    buf out;
    if (!wanted(r))
        return;
    json_writer w = say_begin(r, &out, "question");
    jw_kraw(&w, "question", r->question);
    nodes_say(r->t->nodes, &out);
}

void far_say_plan(run *r)
{
    buf out;
    if (!wanted(r))
        return;
    json_writer w = say_begin(r, &out, "plan");
    jw_kraw(&w, "plan", r->plan);
    nodes_say(r->t->nodes, &out);
}

void far_say_over(run *r, const char *error)
{
    buf out;
    if (!wanted(r))
        return;
    json_writer w = say_begin(r, &out, "over");
    say_place(r, &w);
    jw_kint(&w, "status", r->status);
    jw_kstr(&w, "error", error);
    nodes_say(r->t->nodes, &out);
}

static void say_ask(turns *t, const char *id)
{
    buf out;
    json_writer w;
    buf_init(&out, MESSAGE_MOST);
    jw_init(&w, &out, 0);
    jw_object(&w);
    jw_kstr(&w, "m", "ask");
    jw_kstr(&w, "turn", id);
    nodes_say(t->nodes, &out);
}

/* ------------------------------------------------------------------ a message */

typedef struct message {
    turns *t;
    arena *a;
    const json_doc *d;
    const char *turn;
} message;

static const json_node *node_of(const message *m, const char *name)
{
    return json_get(m->d, &m->d->nodes[0], name);
}

static const char *text_of(const message *m, const char *name)
{
    return json_text(m->a, m->d, node_of(m, name));
}

static int64_t int_of(const message *m, const char *name)
{
    int64_t v = 0;
    return json_int(m->d, node_of(m, name), &v) ? v : 0;
}

/* NULL: it is null, or not there. */
static const char *raw_of(const message *m, const char *name)
{
    const json_node *v = node_of(m, name);
    return v && !json_is(v, JSON_NULL) ? json_raw(m->a, m->d, v) : NULL;
}

/* With the lock. Not more than once in a while. */
static void ask_again(run *r)
{
    int64_t now = time_mono_us();
    if (r->asked_far && now - r->asked_far < ASK_MS * INT64_C(1000))
        return;
    r->asked_far = now;
    say_ask(r->t, r->id);
}

/* ------------------------------------------------------------------ following */

static run *far_make(const message *m)
{
    run *r = run_make(m->t, text_of(m, "session"));
    const char *who = text_of(m, "agent"), *tree = text_of(m, "tree");
    snprintf(r->id, sizeof r->id, "%s", m->turn);
    r->far = arena_strdup(r->mem, text_of(m, "host"));
    r->tree = arena_strdup(r->mem, tree ? tree : "");
    r->agent = arena_strdup(r->mem, who ? who : "");
    r->group = arena_strdup(r->mem, text_of(m, "group"));
    r->entry_id = arena_strdup(r->mem, text_of(m, "entry"));
    r->branch = int_of(m, "branch");
    r->first = r->shown = int_of(m, "first");
    r->said = int_of(m, "said");
    r->chars = r->begin = int_of(m, "begin");
    r->begun = true;
    return r;
}

/* With the lock: an event that is nothing but a value. */
static void tell_value(run *r, const char *event, const char *key, const char *json)
{
    json_writer w = tell_begin(r, event);
    jw_kraw(&w, key, json);
    tell_end(r, &w, event, true);
}

static void value_take(run *r, char **have, const char *now, const char *event, const char *key)
{
    bool same = *have && now ? strcmp(*have, now) == 0 : !*have && !now;
    if (same)
        return;
    free(*have);
    *have = xstrdup(now);
    if (now)
        tell_value(r, event, key, now);
}

/* With the lock. Past the limit of this node the words are left to the entry. */
static void words_take(run *r, bool thinking, const char *text, bool known)
{
    size_t n = strlen(text);
    r->deaf = r->deaf || r->bytes + n > (size_t)r->t->cfg->answer_max;
    if (r->deaf || !n)
        return;
    if (known)
        run_words_known(r, thinking, text, n);
    else
        run_words(r, thinking, text, n);
}

/* What is pending, as the snapshot has it: what was told stays told, the rest is told now (F2). */
static void parts_take(run *r, const message *m)
{
    int64_t from = int_of(m, "said"), had = r->said;
    const json_node *list = node_of(m, "parts");
    run_pending_clear(r);
    r->deaf = false;
    r->said = from;
    r->chars = r->begin = int_of(m, "begin");
    for (const json_node *v = list ? json_first(m->d, list) : NULL; v;
         v = json_next(m->d, list, v)) {
        const char *text = json_text(m->a, m->d, json_get(m->d, v, "text"));
        bool thinking = json_is(json_get(m->d, v, "thinking"), JSON_TRUE);
        size_t n = text ? strlen(text) : 0;
        size_t told = had <= r->said ? 0 : had - r->said < (int64_t)n ? (size_t)(had - r->said) : n;
        if (!n)
            continue;
        if (told)
            words_take(r, thinking, arena_memdup(m->a, text, told), true);
        words_take(r, thinking, text + told, false);
    }
    r->asked_far = 0;
}

static int64_t parts_end(const message *m)
{
    int64_t end = int_of(m, "said");
    const json_node *list = node_of(m, "parts");
    for (const json_node *v = list ? json_first(m->d, list) : NULL; v;
         v = json_next(m->d, list, v)) {
        const char *text = json_text(m->a, m->d, json_get(m->d, v, "text"));
        end += text ? (int64_t)strlen(text) : 0;
    }
    return end;
}

static void all_hear(const message *m, run *r)
{
    bool fresh = !r;
    if (fresh && (!text_of(m, "session") || !text_of(m, "host")))
        return;
    r = fresh ? far_make(m) : r;
    pthread_mutex_lock(&r->lock);
    r->after = int_of(m, "after");
    r->upto = int_of(m, "upto");
    if (fresh) {
        json_writer w = tell_begin(r, "turn.started");
        jw_kstr(&w, "agent", r->agent);
        if (r->group)
            jw_kstr(&w, "group", r->group);
        tell_end(r, &w, "turn.started", true);
    }
    value_take(r, &r->plan, raw_of(m, "plan"), "turn.plan", "plan");
    /* A snapshot for somebody else brings nothing new. */
    if (r->asked_far || r->said - (int64_t)r->bytes != int_of(m, "said") || r->said < parts_end(m))
        parts_take(r, m);
    value_take(r, &r->question, raw_of(m, "question"), "turn.question", "question");
    r->heard = time_mono_us();
    pthread_mutex_unlock(&r->lock);
    if (fresh)
        run_add(r);
}

/* With the lock. */
static void words_hear(const message *m, run *r)
{
    const char *text = text_of(m, "text");
    int64_t at = int_of(m, "at"), n = text ? (int64_t)strlen(text) : 0;
    if (at > r->said && !r->deaf) {
        ask_again(r);
        return;
    }
    if (at + n > r->said)
        words_take(r, json_is(node_of(m, "thinking"), JSON_TRUE), text + (r->said - at), false);
}

/* With the lock: what was pending is an entry now. */
static void place_take(const message *m, run *r)
{
    run_pending_clear(r);
    r->said = int_of(m, "said");
    r->chars = r->begin = int_of(m, "begin");
    r->upto = int_of(m, "upto");
    r->deaf = false;
    r->asked_far = 0;
}

/* ------------------------------------------------------------------ entries */

/* Those of the turn from `shown` to `upto`. Without the lock; one at a time. */
static ramet_status entries_read(run *r, ramet_call *c, int64_t from, int64_t to)
{
    while (from < to) {
        ramet_read_in in = {
            .limit = PAGE, .by_position = true, .branch = r->branch, .position = from};
        ramet_page page;
        ramet_status st = ramet_read(c, r->session, &in, &page);
        if (st != RAMET_OK || !page.n)
            return st;
        pthread_mutex_lock(&r->lock);
        for (size_t i = 0; i < page.n && page.entries[i].position < to; i++)
            if (page.entries[i].turn_id && strcmp(page.entries[i].turn_id, r->id) == 0)
                tell_entries(r, &(ramet_append_out){.entries = &page.entries[i], .n = 1});
        pthread_mutex_unlock(&r->lock);
        from = page.entries[page.n - 1].position + 1;
        ramet_call_reset(c);
    }
    return RAMET_OK;
}

/* Brings `entries` up to date, and tells who joined. Returns with the lock. What cannot be read
 * (the session was deleted) is left out. */
static void entries_follow(run *r)
{
    pthread_mutex_lock(&r->lock);
    for (bool on = true; on;) {
        while (r->writing)
            pthread_cond_wait(&r->wake, &r->lock);
        int64_t from = r->shown, to = r->upto;
        on = from < to;
        if (!on)
            break;
        r->writing = true;
        pthread_mutex_unlock(&r->lock);
        ramet_call *c = ramet_call_new(r->t->store, NULL, NULL);
        entries_read(r, c, from, to);
        ramet_call_free(c);
        pthread_mutex_lock(&r->lock);
        r->shown = to;
        r->writing = false;
        pthread_cond_broadcast(&r->wake);
    }
}

void far_join(run *r, listener *l, size_t index)
{
    if (r->far)
        entries_follow(r);
    else
        pthread_mutex_lock(&r->lock);
    run_join(r, l, index);
    pthread_mutex_unlock(&r->lock);
}

/* ------------------------------------------------------------------ ending */

static void far_end(run *r, ramet_turn_status status, const char *error)
{
    pthread_mutex_lock(&r->lock);
    bool ears = r->ears != NULL;
    pthread_mutex_unlock(&r->lock);
    if (ears)
        entries_follow(r);
    else
        pthread_mutex_lock(&r->lock);
    r->status = status;
    snprintf(r->error, sizeof r->error, "%s", error ? error : "");
    r->closed = r->over = true;
    tell_over(r, r->error);
    pthread_mutex_unlock(&r->lock);
    run_remove(r);
}

/* F4. */
static void look(run *r)
{
    ramet_turn *turn;
    ramet_call *c = ramet_call_new(r->t->store, NULL, NULL);
    ramet_status st = ramet_turn_get(c, r->session, r->id, &turn);
    bool gone = st == RAMET_SESSION_NOT_FOUND || st == RAMET_TURN_NOT_FOUND;
    if (gone || (st == RAMET_OK && turn->status != RAMET_TURN_RUNNING)) {
        pthread_mutex_lock(&r->lock);
        r->after = ramet_event_wait(r->t->store, -1, 1);
        pthread_mutex_unlock(&r->lock);
        far_end(r, gone ? RAMET_TURN_CANCELLED : turn->status, gone ? "" : turn->error);
    }
    ramet_call_free(c);
}

void far_look(turns *t)
{
    size_t n;
    int64_t now = time_mono_us();
    run **list = runs_held(t, NULL, &n);
    for (size_t i = 0; i < n; i++) {
        run *r = list[i];
        pthread_mutex_lock(&r->lock);
        bool quiet = r->far && !r->over && now - r->heard > QUIET_S * INT64_C(1000000);
        if (quiet && r->asked_far)
            ask_again(r);
        pthread_mutex_unlock(&r->lock);
        if (quiet)
            look(r);
    }
    runs_put(list, n);
}

/* ------------------------------------------------------------------ hearing */

static void run_hear(const message *m, run *r, const char *what)
{
    bool appended = strcmp(what, "appended") == 0, over = strcmp(what, "over") == 0;
    pthread_mutex_lock(&r->lock);
    r->after = int_of(m, "after");
    r->heard = time_mono_us();
    if (appended || over)
        place_take(m, r);
    else if (strcmp(what, "words") == 0)
        words_hear(m, r);
    else if (strcmp(what, "question") == 0)
        value_take(r, &r->question, raw_of(m, "question"), "turn.question", "question");
    else
        value_take(r, &r->plan, raw_of(m, "plan"), "turn.plan", "plan");
    bool ears = r->ears != NULL;
    pthread_mutex_unlock(&r->lock);
    if (over) {
        far_end(r, (ramet_turn_status)int_of(m, "status"), text_of(m, "error"));
    } else if (appended && ears) {
        entries_follow(r);
        pthread_mutex_unlock(&r->lock);
    }
}

bool far_hear(turns *t, arena *a, const json_doc *d, const char *what)
{
    static const char *const known[] = {"run",  "words", "appended", "question",
                                        "plan", "over",  "ask"};
    message m = {t, a, d, NULL};
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i], what) != 0)
        i++;
    m.turn = text_of(&m, "turn");
    if (i == sizeof known / sizeof *known || !m.turn)
        return false;
    run *r = run_find(t, NULL, m.turn);
    if (strcmp(what, "ask") == 0) {
        if (r && !r->far) {
            pthread_mutex_lock(&r->lock);
            if (!r->over)
                far_say_all(r);
            pthread_mutex_unlock(&r->lock);
        }
    } else if (strcmp(what, "run") == 0) {
        if (!r || r->far)
            all_hear(&m, r);
    } else if (r && r->far) {
        run_hear(&m, r, what);
    } else if (!r && strcmp(what, "over") != 0 &&
               time_mono_us() - t->asked_far > UNKNOWN_MS * INT64_C(1000)) {
        t->asked_far = time_mono_us();
        say_ask(t, m.turn);
    }
    if (r)
        run_put(r);
    return true;
}

run *far_find(turns *t, const char *session, const char *id)
{
    int64_t until = time_mono_us() + FIND_MS * INT64_C(1000);
    run *r = run_find(t, session, id);
    if (r || !t->nodes)
        return r;
    say_ask(t, id);
    while (!r && time_mono_us() < until && turns_wait(t, 20))
        r = run_find(t, session, id);
    return r;
}
