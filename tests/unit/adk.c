/* SPDX-License-Identifier: Apache-2.0
 *
 * adk.c: the adk log against the runtime that reads it. Whatever moves the head, ADK's rule over
 * the record gives the effective events, and replaying the record gives their state: by table, and
 * at random against a model of a few lines.
 */
#include "help.h"

#include "base/json.h"
#include "ramet/branches.h"
#include "ramet/kagent.h"
#include "ramet/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

TestSuite(adk, .init = scratch_open, .fini = scratch_close);

enum { EVENTS_MOST = 512, NAME_MOST = 64, KEYS = 4 };

/* ------------------------------------------------------------------ events */

typedef struct event {
    char id[NAME_MOST], invocation[NAME_MOST], before[NAME_MOST]; /* before "": no rewind */
    int delta[KEYS]; /* of the keys k0, k1 …: 0 nothing, -1 null, else the value */
} event;

typedef struct record {
    event items[EVENTS_MOST];
    size_t n;
} record;

static void member(const json_doc *d, const json_node *of, const char *name, char out[NAME_MOST])
{
    arena *a = arena_new();
    const char *s = json_text(a, d, json_get(d, of, name));
    snprintf(out, NAME_MOST, "%s", s ? s : "");
    arena_free(a);
}

static bool event_read(void *arg, const ramet_entry *e, bool own)
{
    record *r = arg;
    json_doc d;
    arena *a = arena_new();
    (void)own;
    cr_assert(r->n < EVENTS_MOST);
    event *out = &r->items[r->n++];
    *out = (event){0};
    cr_assert(json_parse(a, e->body, strlen(e->body), 0, &d, NULL), "%s", e->body);
    const json_node *actions = json_get(&d, &d.nodes[0], "actions");
    snprintf(out->id, NAME_MOST, "%s", e->id);
    member(&d, &d.nodes[0], "invocation_id", out->invocation);
    member(&d, actions, "rewind_before_invocation_id", out->before);
    cr_assert_eq(strcmp(e->channel, "rewind") == 0, *out->before != 0);
    for (int k = 0; k < KEYS; k++) {
        char key[3] = {'k', (char)('0' + k), 0};
        int64_t value;
        const json_node *v = json_get(&d, json_get(&d, actions, "state_delta"), key);
        out->delta[k] = !v ? 0 : json_int(&d, v, &value) ? (int)value : -1;
    }
    arena_free(a);
    return true;
}

static record *events(const char *session, bool effective)
{
    record *r = calloc(1, sizeof *r);
    cr_assert(r);
    ok(ramet_adk_each(T.call, session, effective, event_read, r));
    return r;
}

/* A delta as JSON. */
static const char *delta_text(const int delta[KEYS], char out[128])
{
    size_t n = 0;
    out[n++] = '{';
    for (int k = 0; k < KEYS; k++)
        if (delta[k] < 0)
            n += (size_t)sprintf(out + n, "%s\"k%d\":null", n > 1 ? "," : "", k);
        else if (delta[k])
            n += (size_t)sprintf(out + n, "%s\"k%d\":%d", n > 1 ? "," : "", k, delta[k]);
    strcpy(out + n, "}");
    return out;
}

/* Appends an event as a runtime does. `before`: it is a rewind event. */
static ramet_status event_add(const char *session, const char *id, const char *invocation,
                              const char *before, const int delta[KEYS], bool late)
{
    static const int none[KEYS];
    char state[128], rewind[128] = "", body[512];
    ramet_append_out out;
    delta_text(delta ? delta : none, state);
    if (before)
        snprintf(rewind, sizeof rewind, "\"rewind_before_invocation_id\":\"%s\",", before);
    snprintf(body, sizeof body,
             "{\"id\":\"%s\",\"invocation_id\":\"%s\",\"author\":\"user\",\"actions\":{%s"
             "\"state_delta\":%s}}",
             id, invocation, rewind, state);
    ramet_entry_in in = {.id = id,
                         .role = late ? RAMET_ASSISTANT : RAMET_USER,
                         .format = "adk",
                         .body = body,
                         .turn_id = invocation,
                         .channel = before ? "rewind" : NULL,
                         .state_delta = before || !delta ? NULL : state};
    tick(SECOND);
    return ramet_append(
        T.call, session,
        &(ramet_append_in){
            .entries = &in, .n = 1, .log = RAMET_LOG_ADK, .fenced = late, .before_turn = before},
        &out);
}

/* ------------------------------------------------------------------ the model */

/* ADK's rule: the ids of what counts, "a b c". */
static void rule(const record *r, char *out)
{
    const event *kept[EVENTS_MOST];
    size_t n = 0;
    for (size_t i = r->n; i-- > 0;) {
        size_t j = 0;
        if (!*r->items[i].before) {
            kept[n++] = &r->items[i];
            continue;
        }
        while (j < i && strcmp(r->items[j].invocation, r->items[i].before) != 0)
            j++;
        i = j < i ? j : i;
    }
    for (*out = 0; n > 0; n--)
        out += sprintf(out, "%s%s", kept[n - 1]->id, n > 1 ? " " : "");
}

/* What replaying the first `n` events gives: -1 and 0 are alike, there is no such key. */
static void replay(const record *r, size_t n, int state[KEYS])
{
    memset(state, 0, KEYS * sizeof *state);
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < KEYS; k++)
            if (r->items[i].delta[k])
                state[k] = r->items[i].delta[k] < 0 ? 0 : r->items[i].delta[k];
}

/* The record under the rule, the effective events and the state agree; the ids of what counts. */
static const char *agrees(const char *session)
{
    static char want[EVENTS_MOST * NAME_MOST], have[EVENTS_MOST * NAME_MOST];
    char text[128];
    const char *json;
    int state[KEYS];
    record *all = events(session, false), *path = events(session, true);
    rule(all, want);
    char *p = have;
    for (size_t i = 0; i < path->n; i++)
        p += sprintf(p, "%s%s", i ? " " : "", path->items[i].id);
    *p = 0;
    cr_assert_str_eq(have, want, "%s: %s, but the rule gives %s", session, have, want);
    replay(all, all->n, state);
    ok(ramet_adk_state(T.call, session, &json));
    cr_assert_str_eq(json, delta_text(state, text), "%s", session);
    free(all);
    free(path);
    return have;
}

/* ------------------------------------------------------------------ examples */

static const struct {
    const char *events; /* NAME INVOCATION, or R INVOCATION > BEFORE */
    const char *kept;   /* names */
} examples[] = {
    {"A1 B2 R3>2 C4", "A C"},
    {"A1 B2 R3>2 C4 R5>3", "A B"}, /* a rewind before a rewind is its undo */
    {"A1 B2 R3>9 C4", "A B C"},
    {"A1 B2 R3>2 C4 R5>1 D6", "D"},
    {"A1 B2 R3>2 C4 R5>2 D6", "A D"},
    {"A1 B2 C3 R4>2 D5 E6", "A D E"},
    {"H0 A1 H0 B2 R3>2 H0 C4", "H A H H C"}, /* what comes before each turn survives */
    {"H0 A1 H0 B2 R3>1", "H"},
    {"A1 B2 R3>2 R4>3 R5>4 C6", "A C"},
    {"A1 R2>1 B3 R4>3", ""},
    {"A1 R2>1", ""},
    {"A1 R2>1 R3>2", "A"},
    {"A1 B2 A1 R3>1 C4", "C"},
    {"A1 B2 R3>1 B2 R4>2 C5", "A C"},
    {"A1 B2 C3 R4>3 R5>2 R6>5 D7", "A B D"},
    {"A1 A1 B2 B2 R3>2 B2", "A A B"},
};

/* Ids are NAME NUMBER, so that each is its own. */
static void names_of(const char *list, char *out)
{
    const char *space = "";
    *out = 0;
    while (*list) {
        out += sprintf(out, "%s%c", space, *list);
        list += strcspn(list, " ");
        list += *list == ' ';
        space = " ";
    }
}

static void example_run(const char *session, const char *text, bool by_runtime)
{
    char word[16], id[16], own[8], before[8], made[16][NAME_MOST] = {{0}};
    ramet_session *s;
    int n = 0, step;
    for (; sscanf(text, "%15s%n", word, &step) == 1; text += step, n++) {
        char name;
        int inv, back = -1;
        cr_assert_geq(sscanf(word, "%c%d>%d", &name, &inv, &back), 2);
        snprintf(id, sizeof id, "%c%d", name, n);
        snprintf(own, sizeof own, "i%d", inv);
        snprintf(before, sizeof before, "i%d", back);
        const char *target = back >= 0 && *made[back] ? made[back] : before;
        if (back < 0 || by_runtime) {
            ok(event_add(session, id, own, back < 0 ? NULL : before, NULL, false));
            continue;
        }
        tick(SECOND);
        ramet_status st =
            ramet_rewind(T.call, session, &(ramet_move_in){.before_turn = target}, &s, NULL);
        cr_assert(st == RAMET_OK || (back == 9 && st == RAMET_TURN_NOT_FOUND));
        record *all = events(session, false);
        if (st == RAMET_OK) /* it names its event itself */
            snprintf(made[inv], NAME_MOST, "%s", all->items[all->n - 1].invocation);
        free(all);
    }
}

static void examples_check(bool by_runtime)
{
    char session[16], names[256];
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        snprintf(session, sizeof session, "s%zu", i);
        make(session);
        example_run(session, examples[i].events, by_runtime);
        names_of(agrees(session), names);
        cr_expect_str_eq(names, examples[i].kept, "%s: %s", examples[i].events, names);
    }
}

Test(adk, the_examples_as_a_runtime_rewinds)
{
    examples_check(true);
}

Test(adk, the_examples_as_we_rewind)
{
    examples_check(false);
}

/* ------------------------------------------------------------------ places */

static void turn_say(const char *session, const char *id, ramet_role role, const char *turn,
                     const char *invocation)
{
    put(session,
        &(ramet_entry_in){
            .id = id, .role = role, .text = id, .turn_id = turn, .invocation = invocation});
}

static ramet_turn_at found(const char *session, ramet_log log, const char *turn)
{
    ramet_turn_at at;
    ok(ramet_turn_find(T.call, session, log, turn, &at));
    return at;
}

Test(adk, a_turn_is_found_by_its_id_and_by_its_invocation)
{
    make("s");
    turn_say("s", "u1", RAMET_USER, "t1", NULL);
    turn_say("s", "a1", RAMET_ASSISTANT, "t1", "i1");
    turn_say("s", "u2", RAMET_USER, "t2", NULL);
    turn_say("s", "a2", RAMET_ASSISTANT, "t2", "i2");
    turn_say("s", "b2", RAMET_ASSISTANT, "t2", "i2");
    for (int round = 0; round < 2; round++) {
        cr_expect_eq(found("s", RAMET_LOG_MAIN, "t1").position, 0);
        cr_expect_eq(found("s", RAMET_LOG_MAIN, "i1").position, 0);
        cr_expect_eq(found("s", RAMET_LOG_MAIN, "t2").position, 2);
        cr_expect_eq(found("s", RAMET_LOG_MAIN, "i2").position, 2, "at its question");
        scratch_reopen(NULL);
    }
    ramet_turn_at at;
    refused(RAMET_TURN_NOT_FOUND, "turn", ramet_turn_find(T.call, "s", RAMET_LOG_MAIN, "t3", &at));
    refused(RAMET_TURN_NOT_FOUND, "turn", ramet_turn_find(T.call, "s", RAMET_LOG_ADK, "t1", &at));
    refused(RAMET_BAD_ID, "turn", ramet_turn_find(T.call, "s", RAMET_LOG_MAIN, "", &at));
    refused(RAMET_SESSION_NOT_FOUND, NULL,
            ramet_turn_find(T.call, "none", RAMET_LOG_MAIN, "t1", &at));
    ramet_call *zoe = as("zoe");
    refused_for(zoe, RAMET_HIDDEN, NULL, ramet_turn_find(zoe, "s", RAMET_LOG_MAIN, "t1", &at));
}

Test(adk, a_turn_that_was_cut_off_is_known)
{
    ramet_session *s;
    make("s");
    for (int i = 1; i <= 3; i++) {
        char u[8], a[8], t[8];
        snprintf(u, sizeof u, "u%d", i);
        snprintf(a, sizeof a, "a%d", i);
        snprintf(t, sizeof t, "t%d", i);
        turn_say("s", u, RAMET_USER, t, NULL);
        turn_say("s", a, RAMET_ASSISTANT, t, NULL);
    }
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "t2"}, &s, NULL));
    cr_assert_str_eq(ids("s"), "u1 a1");
    cr_expect(found("s", RAMET_LOG_MAIN, "t1").on_path);
    cr_expect_not(found("s", RAMET_LOG_MAIN, "t3").on_path);
    ramet_session *f = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "g", .before_turn = "t3"}, &f, NULL));
    cr_assert_str_eq(ids("g"), "u1 a1 u2 a2", "a fork knows it, too");
    cr_assert_str_eq(ids("s"), "u1 a1");
    refused(RAMET_TURN_NOT_FOUND, "before_turn",
            ramet_fork(T.call, "s", &(ramet_fork_in){.before_turn = "t4"}, &f, NULL));
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "t3"}, &s, NULL));
    cr_assert_str_eq(ids("s"), "u1 a1 u2 a2", "a rewind knows what was there");
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .before_turn = "t2"}, &f, NULL));
    cr_assert_str_eq(ids("f"), "u1 a1");
    cr_expect(found("f", RAMET_LOG_MAIN, "t1").on_path, "what a fork inherits is its own");
    refused(RAMET_TURN_NOT_FOUND, "before_turn",
            ramet_rewind(T.call, "f", &(ramet_move_in){.before_turn = "t2"}, &s, NULL));
}

/* A question that got no answer is kept, in whichever order messages and events come. */
Test(adk, a_cut_keeps_the_question_before_that_got_no_answer)
{
    static const char *const orders[] = {"meme",   "emem",   "memE",  "mEme",
                                         "ememem", "memeem", "ememme"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char s[8], id[16], inv[16], turn[16];
        ramet_session *to;
        int messages = 0, happened = 0;
        snprintf(s, sizeof s, "s%zu", i);
        make(s);
        for (const char *c = orders[i]; *c; c++) {
            bool says = *c == 'm';
            int n = says ? ++messages : ++happened;
            snprintf(id, sizeof id, "%c%zu.%d", says ? 'u' : 'e', i, n);
            snprintf(inv, sizeof inv, "i%d", n);
            snprintf(turn, sizeof turn, "t%d", n);
            if (says)
                turn_say(s, id, RAMET_USER, turn, NULL);
            else
                ok(event_add(s, id, inv, NULL, NULL, *c == 'E'));
        }
        for (int n = happened; n > 1; n--) {
            char kept[64] = "";
            for (int k = 1; k < n; k++)
                snprintf(kept + strlen(kept), sizeof kept - strlen(kept), "%su%zu.%d",
                         k > 1 ? " " : "", i, k);
            snprintf(inv, sizeof inv, "i%d", n);
            ok(ramet_rewind(T.call, s, &(ramet_move_in){.before_turn = inv}, &to, NULL));
            cr_assert_str_eq(ids(s), kept, "%s before %s: %s", orders[i], inv, ids(s));
            record *left = events(s, true);
            cr_assert_eq(left->n, (size_t)n - 1, "%s", orders[i]);
            free(left);
        }
    }
}

Test(adk, a_task_names_its_invocation)
{
    ramet_task *task;
    ramet_session *s;
    make("s");
    turn_say("s", "u1", RAMET_USER, "t1", NULL);
    turn_say("s", "u2", RAMET_USER, "t2", NULL);
    ok(ramet_task_put(T.call, "s", &(ramet_task_in){.id = "t2", .data = "{}", .invocation = "i2"},
                      &task));
    refused(RAMET_BAD_ID, "invocation",
            ramet_task_put(T.call, "s",
                           &(ramet_task_in){.id = "t2", .data = "{}", .invocation = "a\nb"},
                           &task));
    cr_expect_eq(found("s", RAMET_LOG_MAIN, "i2").position, 1);
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "i2"}, &s, NULL));
    cr_assert_str_eq(ids("s"), "u1");
}

/* An invocation that only the events know, on a branch that was left: both logs go back there. */
Test(adk, both_logs_return_to_a_branch_that_was_left)
{
    ramet_session *s;
    make("s");
    for (int i = 1; i <= 3; i++) {
        char u[8], a[8], t[8], e[8], inv[8];
        snprintf(u, sizeof u, "u%d", i);
        snprintf(a, sizeof a, "a%d", i);
        snprintf(t, sizeof t, "t%d", i);
        snprintf(e, sizeof e, "e%d", i);
        snprintf(inv, sizeof inv, "i%d", i);
        turn_say("s", u, RAMET_USER, t, NULL);
        ok(event_add("s", e, inv, NULL, NULL, false));
        turn_say("s", a, RAMET_ASSISTANT, t, NULL);
    }
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "i2"}, &s, NULL));
    cr_assert_str_eq(ids("s"), "u1 a1");
    turn_say("s", "u4", RAMET_USER, "t4", NULL);
    ok(event_add("s", "e4", "i4", NULL, NULL, false));
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "i3"}, &s, NULL));
    cr_assert_str_eq(ids("s"), "u1 a1 u2 a2");
    record *left = events("s", true);
    cr_assert_eq(left->n, 2);
    free(left);
    ramet_session *f = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .before_turn = "i4"}, &f, NULL));
    cr_assert_str_eq(ids("f"), "u1 a1", "so does a fork");
}

/* A turn that has no events, inherited and cut off: both logs are as they were before it. */
Test(adk, both_logs_return_before_an_inherited_turn_without_events)
{
    ramet_session *f;
    make("s");
    ok(event_add("s", "e0", "i0", NULL, NULL, false));
    turn_say("s", "u1", RAMET_USER, "t1", NULL);
    turn_say("s", "a1", RAMET_ASSISTANT, "t1", NULL);
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f"}, &f, NULL));
    for (int i = 0; i < 2; i++) {
        ok(ramet_rewind(T.call, "f", &(ramet_move_in){.before_turn = "t1"}, &f, NULL));
        cr_assert_str_eq(ids("f"), "");
        record *left = events("f", true);
        cr_assert_eq(left->n, 1, "%zu events", left->n);
        free(left);
        ok(event_add("f", "e9", "i9", NULL, NULL, false));
    }
}

/* A rewind keeps events that arrived when main was longer, those that ADK repeats before each turn:
 * what comes afterwards belongs to main as it is by then. */
Test(adk, what_follows_a_rewind_belongs_to_the_main_that_it_left)
{
    ramet_session *s;
    make("s");
    ok(event_add("s", "h1", "header_update", NULL, NULL, false));
    ok(event_add("s", "e1", "i1", NULL, NULL, false));
    turn_say("s", "u1", RAMET_USER, "t1", NULL);
    turn_say("s", "a1", RAMET_ASSISTANT, "t1", NULL);
    turn_say("s", "u2", RAMET_USER, "t2", NULL); /* no events */
    turn_say("s", "a2", RAMET_ASSISTANT, "t2", NULL);
    turn_say("s", "u3", RAMET_USER, "t3", NULL);
    ok(event_add("s", "h3", "header_update", NULL, NULL, false));
    ok(event_add("s", "e3", "i3", NULL, NULL, false));
    for (int i = 0; i < 2; i++) {
        ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = i ? "i4" : "t2"}, &s, NULL));
        cr_assert_str_eq(ids("s"), "u1 a1", "%s", ids("s"));
        record *left = events("s", true);
        cr_assert_eq(left->n, 3, "%zu events", left->n); /* h1 e1 h3 */
        free(left);
        ok(event_add("s", "e4", "i4", NULL, NULL, false));
        turn_say("s", "u4", RAMET_USER, "t4", NULL);
        ok(event_add("s", "e5", "i5", NULL, NULL, false));
        turn_say("s", "u5", RAMET_USER, "t5", NULL);
        turn_say("s", "a5", RAMET_ASSISTANT, "t5", NULL);
    }
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "i5"}, &s, NULL));
    cr_assert_str_eq(ids("s"), "u1 a1 u4", "%s", ids("s"));
}

/* ------------------------------------------------------------------ both logs */

/* However events and messages come, a cut before a turn takes all of it out of both. */
Test(adk, both_logs_are_cut_before_a_turn)
{
    static const char *const orders[] = {"euEa", "uaeE", "ueEa", "eEua", "ueaE"};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        char session[8], fork[8];
        ramet_session *s;
        snprintf(session, sizeof session, "s%zu", o);
        snprintf(fork, sizeof fork, "f%zu", o);
        make(session);
        for (int i = 1; i <= 3; i++)
            for (const char *step = orders[o]; *step; step++) {
                char id[16], turn[16], inv[16];
                snprintf(id, sizeof id, "%c%d", *step, i);
                snprintf(turn, sizeof turn, "t%d-%zu", i, o);
                snprintf(inv, sizeof inv, "i%d", i);
                if (*step == 'e' || *step == 'E')
                    ok(event_add(session, id, inv, NULL, NULL, false));
                else
                    turn_say(session, id, *step == 'u' ? RAMET_USER : RAMET_ASSISTANT, turn,
                             *step == 'u' ? NULL : inv);
            }
        ok(ramet_fork(T.call, session, &(ramet_fork_in){.id = fork, .before_turn = "i3"}, &s,
                      NULL));
        cr_expect_str_eq(ids(fork), "u1 a1 u2 a2", "%s", orders[o]);
        cr_expect_str_eq(agrees(fork), "e1 E1 e2 E2", "%s", orders[o]);
        ok(ramet_rewind(T.call, session, &(ramet_move_in){.before_turn = "i2"}, &s, NULL));
        cr_expect_str_eq(ids(session), "u1 a1", "%s", orders[o]);
        cr_expect_str_eq(agrees(session), "e1 E1", "%s", orders[o]);
        ok(ramet_undo(T.call, session, NULL, &s));
        cr_expect_str_eq(agrees(session), "e1 E1 e2 E2 e3 E3", "%s", orders[o]);
        ok(ramet_rewind(T.call, fork, &(ramet_move_in){.before_turn = "i2"}, &s, NULL));
        cr_expect_str_eq(ids(fork), "u1 a1", "inside what it inherited: %s", orders[o]);
        cr_expect_str_eq(agrees(fork), "e1 E1", "%s", orders[o]);
    }
}

Test(adk, what_comes_late_is_fenced)
{
    ramet_session *s;
    make("s");
    ok(event_add("s", "a", "i1", NULL, NULL, false));
    ok(event_add("s", "b", "i2", NULL, NULL, false));
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "i2"}, &s, NULL));
    const char *before = mark();
    refused(RAMET_TURN_OVER, NULL, event_add("s", "c", "i2", NULL, NULL, true));
    cr_assert_str_eq(mark(), before);
    cr_assert_str_eq(agrees("s"), "a");
}

Test(adk, what_comes_late_in_main_is_fenced)
{
    ramet_session *s;
    ramet_append_out out;
    make("s");
    for (int i = 1; i <= 2; i++) {
        char id[8];
        snprintf(id, sizeof id, "t%d", i);
        ramet_entry_in in = {.id = id, .role = RAMET_USER, .text = id, .turn_id = id};
        ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    }
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "t2"}, &s, NULL));
    ramet_entry_in late = {.role = RAMET_ASSISTANT, .text = "late", .turn_id = "t2"};
    refused(RAMET_TURN_OVER, NULL,
            ramet_append(T.call, "s", &(ramet_append_in){.entries = &late, .n = 1, .fenced = true},
                         &out));
    late.turn_id = "t1";
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &late, .n = 1, .fenced = true},
                    &out));
}

Test(adk, shared_keys_are_not_rewound)
{
    const char *json;
    ramet_session *s;
    make("s");
    for (int i = 1; i <= 2; i++) {
        char id[8], delta[96];
        ramet_append_out out;
        snprintf(id, sizeof id, "i%d", i);
        snprintf(delta, sizeof delta, "{\"a\":%d,\"app:x\":%d,\"user:y\":%d}", i, i, i);
        ramet_entry_in in = {.id = id,
                             .role = RAMET_USER,
                             .format = "adk",
                             .body = "{}",
                             .turn_id = id,
                             .state_delta = delta};
        ok(ramet_append(T.call, "s",
                        &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK}, &out));
    }
    ok(ramet_rewind(T.call, "s", &(ramet_move_in){.before_turn = "i2"}, &s, NULL));
    ok(ramet_adk_state(T.call, "s", &json));
    cr_assert_str_eq(json, "{\"a\":1,\"app:x\":2,\"user:y\":2}");
}

/* ------------------------------------------------------------------ at random */

typedef struct world {
    unsigned seed;
    char sessions[4][16];
    int n;
    int step; /* makes ids */
} world;

static int roll(world *w, int n)
{
    w->seed = w->seed * 1103515245u + 12345u;
    return (int)((w->seed >> 16) % (unsigned)n);
}

/* As Runner.rewind_async() makes it: with the delta that makes the state what it was. */
static void runtime_rewinds(world *w, const char *session, const char *invocation)
{
    char id[16], own[16];
    int now[KEYS], then[KEYS];
    size_t j = 0;
    record *all = events(session, false);
    while (j < all->n && strcmp(all->items[j].invocation, invocation) != 0)
        j++;
    if (j < all->n) {
        replay(all, all->n, now);
        replay(all, j, then);
        for (int k = 0; k < KEYS; k++)
            then[k] = then[k] == now[k] ? 0 : then[k] ? then[k] : -1;
        snprintf(id, sizeof id, "R%d", w->step);
        snprintf(own, sizeof own, "e-%d", w->step);
        ok(event_add(session, id, own, invocation, then, false));
    }
    free(all);
}

static void event_at_random(world *w, const char *session, const char *invocation)
{
    char id[16];
    int delta[KEYS] = {0};
    bool late = roll(w, 3) == 0;
    if (roll(w, 2))
        delta[roll(w, KEYS)] = roll(w, 4) ? 1 + roll(w, 5) : -1;
    snprintf(id, sizeof id, "e%d", w->step);
    ramet_status st = event_add(session, id, invocation, NULL, delta, late);
    cr_assert(st == RAMET_OK || (late && st == RAMET_TURN_OVER), "%s", ramet_status_text(st));
}

static void fork_at_random(world *w, const char *session, const char *invocation)
{
    ramet_session *s;
    if (w->n == 4)
        return;
    snprintf(w->sessions[w->n], sizeof w->sessions[0], "f%d", w->step);
    ramet_fork_in in = {.id = w->sessions[w->n], .before_turn = roll(w, 2) ? invocation : NULL};
    ramet_status st = ramet_fork(T.call, session, &in, &s, NULL);
    cr_assert(st == RAMET_OK || st == RAMET_TURN_NOT_FOUND);
    w->n += st == RAMET_OK;
}

/* By an entry of main, or to any branch. */
static void move_at_random(world *w, const char *session)
{
    ramet_session *s;
    ramet_page page;
    ramet_branch *branches;
    size_t n;
    if (roll(w, 2)) {
        ok(ramet_branches(T.call, session, &branches, &n));
        ok(ramet_switch(T.call, session, branches[roll(w, (int)n)].id, NULL, &s));
        return;
    }
    ok(ramet_read(T.call, session, &(ramet_read_in){.limit = 100}, &page));
    if (page.n)
        ok(ramet_rewind(T.call, session,
                        &(ramet_move_in){.at = {page.entries[roll(w, (int)page.n)].id,
                                                roll(w, 2) ? RAMET_BEFORE : RAMET_AFTER}},
                        &s, NULL));
}

/* Branches go, come back, or are taken for good. */
static void prune_at_random(world *w, const char *session)
{
    ramet_branch *b;
    size_t n;
    ramet_prune_out out;
    ramet_gc_out gone;
    switch (roll(w, 4)) {
    case 0:
        ok(ramet_prune(T.call, session, &(ramet_prune_in){.others = true}, &out));
        break;
    case 1:
        ok(ramet_branches(T.call, session, &b, &n));
        ramet_prune(T.call, session, &(ramet_prune_in){.branch = b[roll(w, (int)n)].id}, &out);
        break;
    case 2:
        ok(ramet_branches_pruned(T.call, session, &b, &n));
        if (n)
            ramet_branch_restore(T.call, session, b[roll(w, (int)n)].id, roll(w, 2), &out);
        break;
    default:
        tick(4 * DAY);
        ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    }
}

static void step_at_random(world *w, const char *session)
{
    char inv[16], id[16];
    ramet_session *s;
    snprintf(inv, sizeof inv, "i%d", roll(w, 8));
    snprintf(id, sizeof id, "m%d", w->step);
    tick(SECOND);
    switch (roll(w, 13)) {
    case 11:
    case 12:
        prune_at_random(w, session);
        break;
    case 0:
        ramet_rewind(T.call, session, &(ramet_move_in){.before_turn = inv}, &s, NULL);
        break;
    case 1:
        ramet_undo(T.call, session, NULL, &s);
        break;
    case 2:
        ramet_redo(T.call, session, NULL, &s);
        break;
    case 3:
        runtime_rewinds(w, session, inv);
        break;
    case 4:
        fork_at_random(w, session, inv);
        break;
    case 5:
        move_at_random(w, session);
        break;
    case 6:
    case 7:
        turn_say(session, id, roll(w, 2) ? RAMET_USER : RAMET_ASSISTANT, inv, NULL);
        break;
    default:
        event_at_random(w, session, inv);
    }
}

/* The log in spans of a few numbers is the log. */
static void spans_agree(const char *session, bool effective)
{
    record *all = events(session, effective), *parts = calloc(1, sizeof *parts);
    cr_assert(parts);
    ramet_adk_span whole = {.effective = effective, .from = 1 << 20};
    ok(ramet_adk_span_each(T.call, session, &whole, event_read, parts));
    cr_assert_eq(parts->n, 0);
    for (int64_t at = 0; at < whole.until; at += 3) {
        ramet_adk_span span = {.effective = effective,
                               .branch = whole.branch,
                               .from = at,
                               .until = at + 3 < whole.until ? at + 3 : whole.until};
        ok(ramet_adk_span_each(T.call, session, &span, event_read, parts));
        cr_assert(span.at < span.until || !parts->n);
    }
    cr_assert_eq(parts->n, all->n);
    for (size_t i = 0; i < all->n; i++)
        cr_assert_str_eq(parts->items[i].id, all->items[i].id);
    free(parts);
    free(all);
}

Test(adk, whatever_moves_the_head_the_rule_holds, .timeout = 300)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    cr_log_info("seed %u", seed);
    for (unsigned round = 0; round < 20; round++) {
        world w = {.seed = seed + round, .n = 1, .step = (int)round * 1000};
        snprintf(w.sessions[0], sizeof w.sessions[0], "s%u", round);
        make(w.sessions[0]);
        for (int end = w.step + 100; w.step < end; w.step++) {
            const char *session = w.sessions[roll(&w, w.n)];
            step_at_random(&w, session);
            agrees(session);
        }
        for (int i = 0; i < w.n; i++) {
            agrees(w.sessions[i]);
            spans_agree(w.sessions[i], false);
            spans_agree(w.sessions[i], true);
        }
    }
}
