/* SPDX-License-Identifier: Apache-2.0
 *
 * cut.c: the connection to PostgreSQL is lost at every step of every write.
 *
 * A proxy stands before the server and cuts after n bytes in either direction. Whatever n is:
 *
 *   - the call succeeds, or fails with a status of 503 and says whether anything was written, or
 *     that this is not known;
 *   - where it says that nothing was written, nothing was;
 *   - the same call again, with the same entry id or key, succeeds, and then the store holds what
 *     it would hold after one call without a cut: the rows of all tables are counted;
 *   - the calls after it need no care: connections that are gone are replaced;
 *   - fsck finds nothing.
 */
#include "../lib/scratch_db.h"
#include "help.h"
#include "proxy.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA "fault_cut"

enum { ENTRIES = 3 };

typedef struct stage {
    proxy *p;
    char url[1200], through[1400];
    PGconn *sql;
    char *census; /* a statement: how many rows each table has */
    ramet *direct, *store;
    ramet_call *setup, *c; /* past the proxy, through it */
    int round;
    char session[40], id[48];
    int done, nothing, unknown; /* what became of the calls that were cut */
} stage;

/* One kind of write. `prepare` makes what it needs, past the proxy. */
typedef struct deed {
    const char *name;
    void (*prepare)(stage *s);
    ramet_status (*run)(stage *s);
    bool by_id; /* made safe by ids, not by a key */
} deed;

/* ---- what is written */

static ramet_status append_n(ramet_call *c, const stage *s, int n, bool ids)
{
    ramet_entry_in in[ENTRIES];
    char id[ENTRIES][64];
    ramet_append_out out;
    for (int i = 0; i < n; i++) {
        snprintf(id[i], sizeof id[i], "%s.%d", s->id, i);
        in[i] = (ramet_entry_in){.id = ids ? id[i] : NULL, .role = RAMET_USER, .text = id[i]};
    }
    return ramet_append(c, s->session, &(ramet_append_in){.entries = in, .n = (size_t)n}, &out);
}

static void must_do(ramet_call *c, ramet_status st)
{
    if (st == RAMET_OK)
        return;
    fprintf(stderr, "fault: a step past the proxy failed: %s\n", ramet_call_error(c)->message);
    abort();
}

static const char *second(const stage *s)
{
    static char id[64];
    snprintf(id, sizeof id, "start-%d.1", s->round);
    return id;
}

/* A session of its own with a few entries and a move to undo. */
static void make_session(stage *s)
{
    ramet_session *out;
    snprintf(s->session, sizeof s->session, "s-%d", s->round);
    snprintf(s->id, sizeof s->id, "start-%d", s->round);
    must_do(s->setup, ramet_session_create(s->setup, &(ramet_session_in){.id = s->session}, &out));
    must_do(s->setup, append_n(s->setup, s, ENTRIES, true));
    must_do(s->setup, ramet_rewind(s->setup, s->session,
                                   &(ramet_move_in){.at = {second(s), RAMET_AFTER}}, &out, NULL));
    snprintf(s->id, sizeof s->id, "more-%d", s->round);
    must_do(s->setup, append_n(s->setup, s, 1, true));
    snprintf(s->id, sizeof s->id, "r-%d", s->round);
}

static void make_deleted(stage *s)
{
    ramet_delete_out gone;
    make_session(s);
    must_do(s->setup, ramet_session_delete(s->setup, s->session, false, false, &gone));
}

static void make_turn(stage *s)
{
    ramet_turn *turn;
    ramet_append_out appended;
    make_session(s);
    must_do(s->setup, ramet_turn_begin(s->setup, s->session, &(ramet_turn_in){.id = s->id}, &turn,
                                       &appended));
}

static ramet_status do_create(stage *s)
{
    static const char *const tags[] = {"one", "two"};
    ramet_session *out;
    return ramet_session_create(
        s->c, &(ramet_session_in){.id = s->id, .title = "A title", .tags = tags, .n_tags = 2},
        &out);
}

static ramet_status do_append(stage *s)
{
    return append_n(s->c, s, 1, true);
}

static ramet_status do_batch(stage *s)
{
    return append_n(s->c, s, ENTRIES, true);
}

static ramet_status do_append_key(stage *s)
{
    return append_n(s->c, s, 1, false);
}

static ramet_status do_fork(stage *s)
{
    ramet_session *out;
    return ramet_fork(s->c, s->session, &(ramet_fork_in){0}, &out, NULL);
}

static ramet_status do_fork_back(stage *s)
{
    ramet_session *out;
    return ramet_fork(s->c, s->session, &(ramet_fork_in){.at = {second(s), RAMET_AFTER}}, &out,
                      NULL);
}

static ramet_status do_rewind(stage *s)
{
    ramet_session *out;
    return ramet_rewind(s->c, s->session, &(ramet_move_in){.at = {second(s), RAMET_AFTER}}, &out,
                        NULL);
}

static ramet_status do_undo(stage *s)
{
    ramet_session *out;
    return ramet_undo(s->c, s->session, NULL, &out);
}

static ramet_status do_edit(stage *s)
{
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_USER, .text = "another text"};
    return ramet_edit(s->c, s->session, second(s), &in, NULL, &out);
}

static ramet_status do_update(stage *s)
{
    ramet_session *out;
    return ramet_session_update(s->c, s->session, &(ramet_session_patch){.title = s->id}, &out);
}

static ramet_status do_tag(stage *s)
{
    const char *tag = "three";
    ramet_tags out;
    return ramet_tags_add(s->c, s->session, &tag, 1, &out);
}

static ramet_status do_member(stage *s)
{
    return ramet_member_set(s->c, s->session, "bob", RAMET_WRITER);
}

static ramet_status do_delete(stage *s)
{
    ramet_delete_out gone;
    return ramet_session_delete(s->c, s->session, false, false, &gone);
}

static ramet_status do_restore(stage *s)
{
    ramet_session *out;
    return ramet_session_restore(s->c, s->session, false, &out);
}

static ramet_status do_turn_begin(stage *s)
{
    ramet_turn *turn;
    ramet_append_out out;
    ramet_entry_in in = {.id = s->id, .role = RAMET_USER, .text = "a question"};
    return ramet_turn_begin(s->c, s->session, &(ramet_turn_in){.entries = &in, .n = 1}, &turn,
                            &out);
}

static ramet_status do_turn_end(stage *s)
{
    ramet_append_out out;
    ramet_entry_in in = {.role = RAMET_ASSISTANT, .text = "an answer"};
    return ramet_turn_end(s->c, s->id, RAMET_TURN_DONE, NULL, &in, 1, &out);
}

static const deed deeds[] = {
    {"append", make_session, do_append, true},
    {"append of several", make_session, do_batch, true},
    {"append with a key", make_session, do_append_key, false},
    {"create", make_session, do_create, false},
    {"fork", make_session, do_fork, false},
    {"fork further back", make_session, do_fork_back, false},
    {"rewind", make_session, do_rewind, false},
    {"undo", make_session, do_undo, false},
    {"edit", make_session, do_edit, false},
    {"update", make_session, do_update, false},
    {"tag", make_session, do_tag, false},
    {"member", make_session, do_member, false},
    {"delete", make_session, do_delete, false},
    {"restore", make_deleted, do_restore, false},
    {"turn begin", make_session, do_turn_begin, false},
    {"turn end", make_turn, do_turn_end, true},
};
enum { DEEDS = sizeof deeds / sizeof *deeds };

/* ---- what the store holds */

static PGresult *sql_get(stage *s, const char *sql)
{
    PGresult *r = PQexec(s->sql, sql);
    if (PQresultStatus(r) != PGRES_TUPLES_OK) {
        fprintf(stderr, "fault: %s: %s\n", sql, PQerrorMessage(s->sql));
        abort();
    }
    return r;
}

/* All tables but those that are filled later or only count. Events are those that have a number and
 * those that have none yet. */
static char *census_make(stage *s)
{
    PGresult *r = sql_get(
        s, "SELECT 'SELECT concat_ws('' '','||string_agg(format('"
           "%L,(SELECT count(*) FROM %I)',c.relname||'=',c.relname),',' ORDER BY c.relname)||"
           "',''events='',(SELECT count(*) FROM event)+(SELECT count(*) FROM outbox))' "
           "FROM pg_class c WHERE c.relnamespace=quote_ident(current_schema())::regnamespace "
           "AND c.relkind IN ('r','p') AND NOT c.relispartition AND c.relname NOT LIKE 'words%' "
           "AND c.relname NOT IN ('event','outbox','meta','counter','node','job')");
    char *text = must(strdup(PQgetvalue(r, 0, 0)));
    PQclear(r);
    return text;
}

/* Freed by the caller. */
static char *census(stage *s)
{
    PGresult *r = sql_get(s, s->census);
    char *text = must(strdup(PQgetvalue(r, 0, 0)));
    PQclear(r);
    return text;
}

/* "a= 1 b= 5" and "a= 2 b= 5": "a+1 ". */
static char *growth(const char *before, const char *after)
{
    char *out = mem_new(strlen(after) + 1), *to = out;
    while (*after) {
        int n = (int)strcspn(after, "=") + 2;
        char *end_before, *end_after;
        long more = strtol(after + n, &end_after, 10) - strtol(before + n, &end_before, 10);
        if (more)
            to += sprintf(to, "%.*s%+ld ", n - 2, after, more);
        after = *end_after ? end_after + 1 : end_after;
        before = *end_before ? end_before + 1 : end_before;
    }
    return out;
}

/* ---- a call, its key, its cut */

static void answer_none(void *arg, int *status, const char **text, size_t *n)
{
    (void)arg;
    *status = 200;
    *text = "";
    *n = 0;
}

static ramet_status call_do(stage *s, const deed *d)
{
    char key[64];
    ramet_once once = {.scope = d->name, .key = key, .answer = answer_none};
    snprintf(key, sizeof key, "key %d", s->round);
    ramet_call_reset(s->c);
    if (!d->by_id)
        ramet_call_once(s->c, &once);
    return d->run(s);
}

/* Waits until this store has nothing on its way: its events have numbers. */
static void quiet(stage *s)
{
    ramet_events_in in = {.after = 0, .limit = 1};
    ramet_events_out out;
    if (ramet_events(s->c, &in, &out) != RAMET_OK)
        wrong("round %d: no events: %s", s->round, ramet_call_error(s->c)->message);
    ramet_call_reset(s->c);
}

static void refusal_check(stage *s, const deed *d, ramet_status st, const char *grown)
{
    const char *said = ramet_call_error(s->c)->message;
    bool nothing = strstr(said, "nothing was written") || strstr(said, "cannot be reached");
    if (ramet_status_http(st) != 503)
        wrong("%s, round %d: %s (%s)", d->name, s->round, ramet_status_code(st), said);
    if (nothing && *grown)
        wrong("%s, round %d: \"%s\", but %s", d->name, s->round, said, grown);
    if (nothing)
        s->nothing++;
    else
        s->unknown++;
}

typedef struct cut {
    proxy_way way;
    int64_t at; /* -1: none */
    bool cold;  /* all connections are new */
} cut;

/* One call that is cut, and again; what it made of the store, freed by the caller. Notes the bytes
 * that passed. */
static char *round_run(stage *s, const deed *d, cut k, int64_t passed[2])
{
    s->round++;
    d->prepare(s);
    quiet(s);
    if (k.cold)
        proxy_drop(s->p);
    char *before = census(s);
    if (k.at < 0)
        proxy_disarm(s->p);
    else
        proxy_arm(s->p, k.way, k.at);
    ramet_status st = call_do(s, d);
    passed[PROXY_UP] = proxy_bytes(s->p, PROXY_UP);
    passed[PROXY_DOWN] = proxy_bytes(s->p, PROXY_DOWN);
    bool was = proxy_disarm(s->p);
    if (st != RAMET_OK) {
        char *now = census(s), *grown = growth(before, now);
        refusal_check(s, d, st, grown);
        free(now);
        free(grown);
    } else if (was) {
        s->done++;
    }
    st = call_do(s, d);
    if (st != RAMET_OK)
        wrong("%s, round %d, cut %s after %lld%s: the same call again: %s (%s)", d->name, s->round,
              k.way ? "down" : "up", (long long)k.at, k.cold ? ", cold" : "", ramet_status_code(st),
              ramet_call_error(s->c)->message);
    char *after = census(s), *grown = growth(before, after);
    free(before);
    free(after);
    return grown;
}

/* The places of a way, in an order that spreads: so that any number of them covers all of it. */
static int64_t place_of(int64_t i, int64_t total, uint64_t seed)
{
    double golden = 0.6180339887498949 * (double)(i + 1) + (double)(seed % 1000) / 1000;
    return opt.every ? i : (int64_t)((golden - (double)(int64_t)golden) * (double)total);
}

/* All cuts of one kind of write that there is time for. */
static void deed_run(stage *s, const deed *d, int64_t until)
{
    int64_t passed[2][2], total = 0, made[2] = {0, 0}, none[2];
    s->done = s->nothing = s->unknown = 0;
    free(round_run(s, d, (cut){.at = -1}, none));
    char *want = round_run(s, d, (cut){.at = -1}, passed[0]);
    char *cold = round_run(s, d, (cut){.at = -1, .cold = true}, passed[1]);
    if (strcmp(want, cold) != 0)
        wrong("%s: without a cut %s, with new connections %s", d->name, want, cold);
    for (int way = 0; way < 2; way++)
        total += passed[0][way] + passed[1][way];
    bool more = true;
    for (int64_t i = 0; more && wrong_count() < 5 && (opt.every || mono_us() < until || i < 4);
         i++) {
        more = false;
        for (int k = 0; k < 4; k++) {
            bool is_cold = k / 2;
            cut c = {.way = (proxy_way)(k % 2), .cold = is_cold};
            if (i >= passed[is_cold][k % 2])
                continue;
            more = true;
            c.at = place_of(i, passed[is_cold][k % 2], opt.seed + (uint64_t)k);
            char *got = round_run(s, d, c, none);
            if (strcmp(got, want) != 0)
                wrong("%s, round %d, cut %s after %lld%s: made %s instead of %s", d->name, s->round,
                      c.way ? "down" : "up", (long long)c.at, is_cold ? ", cold" : "", got, want);
            free(got);
            made[is_cold]++;
        }
    }
    check_store(s->direct, d->name);
    tap_verdict(
        "%s: cut at %lld of %lld places, done once (%d went through, %d changed nothing, %d "
        "did not know)",
        d->name, (long long)(made[0] + made[1]), (long long)total, s->done, s->nothing, s->unknown);
    free(want);
    free(cold);
}

void test_cut(void)
{
    stage s = {0};
    scratch_db_make(SCHEMA, s.url, sizeof s.url);
    s.p = proxy_new(s.url);
    proxy_url(s.p, s.url, s.through, sizeof s.through);
    s.direct = open_store(s.url, NULL);
    s.store = open_store(s.through, NULL);
    s.setup = ramet_call_new(s.direct, NULL, NULL);
    s.c = ramet_call_new(s.store, NULL, NULL);
    s.sql = scratch_db_connect(s.url);
    s.census = census_make(&s);
    int64_t start = mono_us(), budget = (int64_t)opt.budget * 1000000;
    for (int i = 0; i < DEEDS; i++)
        deed_run(&s, &deeds[i], start + budget * (i + 1) / DEEDS);
    PQfinish(s.sql);
    free(s.census);
    ramet_call_free(s.c);
    ramet_call_free(s.setup);
    ramet_close(s.store);
    ramet_close(s.direct);
    proxy_free(s.p);
    scratch_db_drop(SCHEMA);
}
