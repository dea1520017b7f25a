/* SPDX-License-Identifier: Apache-2.0
 *
 * once.c: a request that is sent again with its key is answered, not done again.
 */
#include "help.h"
#include "ramet/tokens.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(once, .init = scratch_open, .fini = scratch_close);

/* An answer that is made of what the operation has filled in by then. */
typedef struct asked {
    ramet_session *session;
    ramet_append_out added;
    ramet_sync_out synced;
    ramet_cut cut;
    ramet_verdict *verdict;
    ramet_tags tags;
    ramet_delete_out gone;
    char text[512];
    int calls;
} asked;

static void answer_give(void *arg, int *status, const char **bytes, size_t *n)
{
    asked *a = arg;
    a->calls++;
    *status = 201;
    int len = snprintf(a->text, sizeof a->text,
                       "session=%s head=%lld added=%zu cut=%s verdict=%lld tags=%zu "
                       "gone=%zu synced=%lld",
                       a->session ? a->session->id : "",
                       a->session ? (long long)a->session->head.length : -1, a->added.added,
                       a->cut.entry_id ? a->cut.entry_id : "",
                       a->verdict ? (long long)a->verdict->number : 0, a->tags.n, a->gone.n,
                       (long long)a->synced.added);
    *bytes = a->text;
    *n = (size_t)len;
}

static ramet_once key(const char *name, asked *a)
{
    return (ramet_once){
        .scope = "POST /x", .key = name, .digest = {1, 2, 3}, .answer = answer_give, .arg = a};
}

static bool kept(const ramet_once *o, const char *want)
{
    return o->repeated && o->status == 201 && o->n == strlen(want) &&
           memcmp(o->bytes, want, o->n) == 0;
}

/* Does the same call twice with one key: first it is done, then answered from what was kept. */
#define twice(name, want, expr)                                                                    \
    do {                                                                                           \
        static asked a, b;                                                                         \
        ramet_once o = key((name), &a);                                                            \
        asked *at = &a;                                                                            \
        (void)at; /* not every call answers */                                                     \
        ramet_call_once(T.call, &o);                                                               \
        ok(expr);                                                                                  \
        cr_assert_not(o.repeated);                                                                 \
        cr_assert_eq(a.calls, 1);                                                                  \
        cr_assert_str_eq(a.text, (want), "%s: %s", (name), a.text);                                \
        const char *before = mark();                                                               \
        o = key((name), &b);                                                                       \
        at = &b;                                                                                   \
        ramet_call_once(T.call, &o);                                                               \
        ok(expr);                                                                                  \
        cr_assert(kept(&o, (want)), "%s was not answered from what was kept", (name));             \
        cr_assert_eq(b.calls, 0);                                                                  \
        cr_assert_str_eq(mark(), before, "%s was done twice", (name));                             \
        static const asked nothing;                                                                \
        b.calls = 0;                                                                               \
        cr_assert_eq(memcmp(&b, &nothing, sizeof b), 0, "%s filled its answers", (name));          \
    } while (0)

#define SAYS(session, head, rest) "session=" session " head=" head " " rest
#define NO_MORE "verdict=0 tags=0 gone=0 synced=0"

Test(once, every_writing_call_has_its_answer_in_time)
{
    ramet_session *s;
    twice(
        "create", SAYS("s", "0", "added=0 cut= " NO_MORE),
        ramet_session_create(T.call, &(ramet_session_in){.id = "s", .owner = "ann"}, &at->session));
    ramet_entry_in in[] = {{.id = "a", .role = RAMET_USER, .text = "a"},
                           {.id = "b", .role = RAMET_ASSISTANT, .text = "b"}};
    twice("append", SAYS("", "-1", "added=2 cut= " NO_MORE),
          ramet_append(T.call, "s", &(ramet_append_in){.entries = in, .n = 2}, &at->added));
    twice("fork", SAYS("f", "1", "added=0 cut=a " NO_MORE),
          ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .at = {"a", RAMET_AFTER}},
                     &at->session, &at->cut));
    twice("update", SAYS("s", "2", "added=0 cut= " NO_MORE),
          ramet_session_update(T.call, "s", &(ramet_session_patch){.title = "t"}, &at->session));
    twice("promote", SAYS("s", "2", "added=0 cut= " NO_MORE),
          ramet_session_promote(T.call, "s", &at->session));
    twice("rewind", SAYS("s", "1", "added=0 cut=a " NO_MORE),
          ramet_rewind(T.call, "s", &(ramet_move_in){.at = {"a", RAMET_AFTER}}, &at->session,
                       &at->cut));
    twice("undo", SAYS("s", "2", "added=0 cut= " NO_MORE),
          ramet_undo(T.call, "s", NULL, &at->session));
    twice("redo", SAYS("s", "1", "added=0 cut= " NO_MORE),
          ramet_redo(T.call, "s", NULL, &at->session));
    int64_t other = get("s")->head.branch;
    twice("switch", SAYS("s", "2", "added=0 cut= " NO_MORE),
          ramet_switch(T.call, "s", 1, NULL, &at->session));
    cr_assert_neq(other, 1);
    /* The role is that of an entry which the first run took off the path. */
    twice(
        "edit", SAYS("", "-1", "added=1 cut= " NO_MORE),
        ramet_edit(T.call, "s", "b", &(ramet_entry_in){.id = "b2", .text = "B"}, NULL, &at->added));
    twice("regenerate", SAYS("", "-1", "added=2 cut= " NO_MORE),
          ramet_regenerate(T.call, "s", "a", in, 2, NULL, &at->added));
    in[1].text = "other";
    twice("sync", SAYS("", "-1", "added=0 cut= verdict=0 tags=0 gone=0 synced=1"),
          ramet_sync(T.call, "s", in, 2, NULL, &at->synced));
    twice("tags", SAYS("", "-1", "added=0 cut= verdict=0 tags=2 gone=0 synced=0"),
          ramet_tags_add(T.call, "s", (const char *[]){"x", "y"}, 2, &at->tags));
    ramet_side_in sides[] = {{.session = "s"}, {.session = "f"}};
    twice("verdict", SAYS("", "-1", "added=0 cut= verdict=1 tags=0 gone=0 synced=0"),
          ramet_verdict_add(T.call, sides, 2, 0, "", &at->verdict));
    twice("member", SAYS("", "-1", "added=0 cut= " NO_MORE),
          ramet_member_set(T.call, "s", "bob", RAMET_READER));
    twice("unmember", SAYS("", "-1", "added=0 cut= " NO_MORE),
          ramet_member_remove(T.call, "s", "bob"));
    twice("delete", SAYS("", "-1", "added=0 cut= verdict=0 tags=0 gone=2 synced=0"),
          ramet_session_delete(T.call, "s", true, false, &at->gone));
    twice("restore", SAYS("s", "2", "added=0 cut= " NO_MORE),
          ramet_session_restore(T.call, "s", true, &at->session));
    ok(ramet_session_get(T.call, "f", &s));
}

static ramet_status tag(ramet_call *c, ramet_once *o, const char *word)
{
    ramet_tags out;
    ramet_call_once(c, o);
    return ramet_tags_add(c, "s", (const char *[]){word}, 1, &out);
}

Test(once, another_request_under_the_key_is_refused)
{
    make("s");
    asked a = {0};
    ramet_once o = key("k", &a);
    ok(tag(T.call, &o, "x"));
    const char *before = mark();
    o = key("k", &a);
    o.digest[31] = 9;
    refused(RAMET_KEY_MISMATCH, "idempotency_key", tag(T.call, &o, "y"));
    cr_assert_not(o.repeated);
    cr_assert_str_eq(mark(), before);
    cr_assert_eq(get("s")->n_tags, 1);
}

Test(once, a_key_is_its_users_and_its_scopes)
{
    make("s");
    join("s", "bob", RAMET_WRITER);
    asked a = {0};
    ramet_call *ann = as("ann"), *bob = as("bob");
    ramet_once o = key("k", &a);
    ok_for(T.call, tag(T.call, &o, "x"));
    o = key("k", &a);
    ok_for(ann, tag(ann, &o, "y"));
    cr_assert_not(o.repeated);
    o = key("k", &a);
    ok_for(bob, tag(bob, &o, "z"));
    cr_assert_not(o.repeated);
    o = key("k", &a);
    o.scope = "POST /other";
    ok_for(bob, tag(bob, &o, "w"));
    cr_assert_not(o.repeated);
    o = key("k", &a);
    ok_for(bob, tag(bob, &o, "z"));
    cr_assert(o.repeated);
    cr_assert_eq(get("s")->n_tags, 4);
}

Test(once, what_failed_is_not_kept)
{
    make("s");
    asked a = {0};
    ramet_once o = key("k", &a);
    ramet_session *s;
    ramet_call_once(T.call, &o);
    refused(RAMET_NOTHING_TO_UNDO, NULL, ramet_undo(T.call, "s", NULL, &s));
    cr_assert_eq(a.calls, 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM once"), 0);
    say("s", "a b");
    rewind_to("s", "a");
    o = key("k", &a);
    ramet_call_once(T.call, &o);
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_not(o.repeated);
    cr_assert_eq(a.calls, 1);
}

Test(once, it_is_for_one_write_and_can_be_taken_back)
{
    make("s");
    asked a = {0};
    ramet_once o = key("k", &a);
    ramet_tags out;
    ok(tag(T.call, &o, "x"));
    ok(ramet_tags_add(T.call, "s", (const char *[]){"y"}, 1, &out));
    cr_assert_eq(out.n, 2, "the next call has no key any more");
    ramet_call_once(T.call, &o);
    ramet_call_once(T.call, NULL);
    ok(ramet_tags_add(T.call, "s", (const char *[]){"z"}, 1, &out));
    cr_assert_eq(out.n, 3);
    ramet_call_once(T.call, &o);
    ramet_call_reset(T.call);
    ok(ramet_tags_add(T.call, "s", (const char *[]){"w"}, 1, &out));
    cr_assert_eq(out.n, 4);
}

Test(once, keys_and_scopes_have_limits)
{
    make("s");
    asked a = {0};
    char long_key[257], long_scope[1002];
    memset(long_key, 'k', sizeof long_key - 1);
    long_key[256] = 0;
    memset(long_scope, 's', sizeof long_scope - 1);
    long_scope[1001] = 0;
    const char *before = mark();
    static const char *const bad[] = {"", "\xff", NULL};
    for (size_t i = 0; i < 3; i++) {
        ramet_once o = key(bad[i], &a);
        refused(RAMET_INVALID, "idempotency_key", tag(T.call, &o, "x"));
    }
    ramet_once o = key(long_key, &a);
    refused(RAMET_INVALID, "idempotency_key", tag(T.call, &o, "x"));
    o = key("k", &a);
    o.scope = long_scope;
    refused(RAMET_INVALID, "scope", tag(T.call, &o, "x"));
    cr_assert_str_eq(mark(), before);
    long_key[255] = long_scope[1000] = 0;
    o = key(long_key, &a);
    o.scope = long_scope;
    ok(tag(T.call, &o, "x"));
    o = key(long_key, &a);
    o.scope = long_scope;
    ok(tag(T.call, &o, "x"));
    cr_assert(o.repeated);
}

Test(once, it_lasts_a_day_and_over_a_restart)
{
    make("s");
    asked a = {0};
    ramet_once o = key("k", &a), brief = key("brief", &a);
    brief.keep_us = 10 * SECOND;
    ok(tag(T.call, &o, "x"));
    ok(tag(T.call, &brief, "x"));
    scratch_reopen(NULL);
    tick(DAY - SECOND);
    o = key("k", &a);
    ok(tag(T.call, &o, "x"));
    cr_assert(o.repeated);
    brief = key("brief", &a);
    brief.digest[0] = 77;
    ok(tag(T.call, &brief, "x"));
    cr_assert_not(brief.repeated, "past its time it counts as absent, with any digest");
    tick(SECOND);
    o = key("k", &a);
    ok(tag(T.call, &o, "y"));
    cr_assert_not(o.repeated);
    cr_assert_eq(get("s")->n_tags, 2);
}

Test(once, what_is_past_its_time_is_forgotten)
{
    make("s");
    asked a = {0};
    char name[16];
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "k%d", i);
        ramet_once o = key(name, &a);
        ok(tag(T.call, &o, "x"));
    }
    tick(DAY / 2);
    ramet_once o = key("young", &a);
    ok(tag(T.call, &o, "x"));
    tick(DAY / 2);
    ok(ramet_events_prune(T.call, 1000, NULL));
    cr_assert_eq(sql_number("SELECT count(*) FROM once"), 1);
}

static struct {
    char *bytes;
    size_t n;
} large;

static void answer_large(void *arg, int *status, const char **bytes, size_t *n)
{
    (void)arg;
    *status = 200;
    *bytes = large.bytes;
    *n = large.n;
}

Test(once, answers_of_any_size_come_back_as_they_were)
{
    static const size_t sizes[] = {0, 1, 4000, 4001, 3000000};
    make("s");
    large.bytes = calloc(1, 3000000);
    for (size_t i = 0; i < 3000000; i++)
        large.bytes[i] = (char)(i % 251); /* zero bytes too */
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%zu", i);
        ramet_once o = {.scope = "x", .key = name, .answer = answer_large};
        large.n = sizes[i];
        ok(tag(T.call, &o, "x"));
        o = (ramet_once){.scope = "x", .key = name, .answer = answer_large};
        ok(tag(T.call, &o, "x"));
        cr_assert(o.repeated);
        cr_assert_eq(o.status, 200);
        cr_assert_eq(o.n, sizes[i]);
        cr_assert_eq(memcmp(o.bytes, large.bytes, o.n), 0);
    }
    cr_assert_lt(sql_number("SELECT length(answer) FROM once WHERE size=3000000"), 1000000,
                 "a large one is packed");
    free(large.bytes);
}

/* ---- sealed */

/* Whether the bytes stand anywhere in the store's file or its log. */
static bool in_store(const char *text)
{
    static const char *const ends[] = {"", "-wal"};
    bool found = false;
    for (size_t i = 0; i < 2; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", T.path, ends[i]);
        FILE *f = fopen(path, "rb");
        cr_assert(f, "%s", path);
        cr_assert_eq(fseek(f, 0, SEEK_END), 0);
        size_t n = (size_t)ftell(f);
        char *all = malloc(n + 1);
        rewind(f);
        cr_assert_eq(fread(all, 1, n, f), n);
        found = found || memmem(all, n, text, strlen(text));
        free(all);
        fclose(f);
    }
    return found;
}

static void answer_secret(void *arg, int *status, const char **bytes, size_t *n)
{
    ramet_token *const *t = arg;
    *status = 201;
    *bytes = (*t)->secret;
    *n = strlen(*bytes);
}

Test(once, a_secret_in_an_answer_is_not_in_the_file)
{
    static const char name[] = "a key that nobody guesses";
    ramet_token *made = NULL, *again = NULL;
    ramet_token_in in = {.user = "user of the token", .roles = "", .note = ""};
    ramet_once o = {.scope = "x", .key = name, .answer = answer_secret, .arg = &made};
    ramet_call_once(T.call, &o);
    ok(ramet_token_add(T.call, &in, &made));
    cr_assert(in_store(in.user), "what is not secret is seen there");
    cr_assert_not(in_store(made->secret));
    cr_assert_not(in_store(name), "the key would open it");
    o = (ramet_once){.scope = "x", .key = name, .answer = answer_secret, .arg = &again};
    ramet_call_once(T.call, &o);
    ok(ramet_token_add(T.call, &in, &again));
    cr_assert(o.repeated);
    cr_assert_null(again);
    cr_assert_eq(o.n, strlen(made->secret));
    cr_assert_eq(memcmp(o.bytes, made->secret, o.n), 0);
}

Test(once, a_changed_row_is_damage_and_no_answer)
{
    static const char *const changes[] = {
        "answer=zeroblob(2)",
        "answer=substr(answer,1,length(answer)-1)",
        "answer=answer||zeroblob(1)",
        "answer=(SELECT answer FROM once WHERE scope='other')",
        "answer=(SELECT answer FROM once WHERE user_id='ann')",
        "answer=(SELECT answer FROM once WHERE hex(digest) LIKE '09%')",
        "status=200",
        "size=size+1",
        "expires=expires+1",
        "digest=zeroblob(32)",
        "digest=zeroblob(1)"};
    make("s");
    asked a = {0};
    ramet_call *ann = as("ann");
    ramet_once o = key("k", &a), other = key("k", &a), hers = key("k", &a), next = key("k2", &a);
    other.scope = "other";
    next.digest[0] = 9;
    ok(tag(T.call, &o, "x"));
    ok(tag(T.call, &other, "x"));
    ok_for(ann, tag(ann, &hers, "x"));
    ok(tag(T.call, &next, "x"));
    static const char mine[] = "scope='POST /x' AND user_id='' AND hex(digest) LIKE '010203%'";
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char sql[400];
        sql_run(T.path, "DROP TABLE IF EXISTS spare; CREATE TABLE spare AS SELECT * FROM once");
        snprintf(sql, sizeof sql, "UPDATE once SET %s WHERE %s", changes[i], mine);
        sql_run(T.path, sql);
        o = key("k", &a);
        refused(RAMET_DAMAGED, NULL, tag(T.call, &o, "x"));
        cr_assert_not(o.repeated, "%s", changes[i]);
        sql_run(T.path, "DELETE FROM once; INSERT INTO once SELECT * FROM spare");
    }
    sql_run(T.path, "DROP TABLE spare");
    o = key("k", &a);
    ok(tag(T.call, &o, "x"));
    cr_assert(o.repeated);
}

/* ---- work of several commits */

Test(once, work_of_several_commits_looks_first_and_keeps_in_the_end)
{
    make("s");
    say("s", "a");
    asked a = {0}, b = {0};
    ramet_tags out;
    ok(ramet_once_look(T.call));
    ok(ramet_once_keep(T.call));
    ramet_once o = key("k", &a);
    ramet_call_once(T.call, &o);
    ok(ramet_once_look(T.call));
    cr_assert_not(o.repeated);
    ok(ramet_tags_add(T.call, "s", (const char *[]){"x"}, 1, &out));
    ok(ramet_tags_add(T.call, "s", (const char *[]){"y"}, 1, &a.tags));
    cr_assert_eq(a.calls, 0, "the writes between are not under the key");
    cr_assert_eq(sql_number("SELECT count(*) FROM once"), 0);
    ok(ramet_once_keep(T.call));
    cr_assert_not(o.repeated);
    cr_assert_eq(a.calls, 1);
    const char *before = mark();
    ok(ramet_once_keep(T.call));
    cr_assert_eq(a.calls, 1, "it is kept once");
    o = key("k", &b);
    ramet_call_once(T.call, &o);
    ok(ramet_once_look(T.call));
    cr_assert(kept(&o, a.text));
    ok(ramet_once_keep(T.call));
    cr_assert_eq(b.calls, 0);
    o = key("k", &b);
    o.digest[0] = 9;
    ramet_call_once(T.call, &o);
    refused(RAMET_KEY_MISMATCH, "idempotency_key", ramet_once_look(T.call));
    ok(ramet_once_keep(T.call));
    ramet_call_once(T.call, &o);
    ramet_call_reset(T.call);
    ok(ramet_once_look(T.call));
    o = key("", &b);
    ramet_call_once(T.call, &o);
    refused(RAMET_INVALID, "idempotency_key", ramet_once_look(T.call));
    cr_assert_eq(b.calls, 0);
    cr_assert_str_eq(mark(), before);
}

Test(once, of_two_that_have_looked_the_first_to_keep_wins)
{
    asked a = {.cut = {.entry_id = "first"}}, b = {.cut = {.entry_id = "second"}};
    ramet_once mine = key("k", &a), late = key("k", &b), wrong = key("k", &b);
    ramet_call *other = ramet_call_new(T.store, NULL, NULL),
               *third = ramet_call_new(T.store, NULL, NULL);
    wrong.digest[0] = 9;
    ramet_call_once(T.call, &mine);
    ramet_call_once(other, &late);
    ramet_call_once(third, &wrong);
    ok(ramet_once_look(T.call));
    ok_for(other, ramet_once_look(other));
    ok_for(third, ramet_once_look(third));
    ok(ramet_once_keep(T.call));
    ok_for(other, ramet_once_keep(other));
    cr_assert(kept(&late, a.text), "its answer is the first one's");
    refused_for(third, RAMET_KEY_MISMATCH, "idempotency_key", ramet_once_keep(third));
    cr_assert_not(wrong.repeated);
    cr_assert_eq(b.calls, 0);
    ramet_call_free(other);
    ramet_call_free(third);
}

/* ---- at the same time */

typedef struct rival {
    pthread_t thread;
    ramet_call *c;
    ramet_once o;
    asked a;
    ramet_status st;
    size_t added;
} rival;

static void *rival_run(void *arg)
{
    rival *r = arg;
    ramet_entry_in in = {.role = RAMET_USER, .text = "once"};
    ramet_append_out out;
    ramet_call_once(r->c, &r->o);
    r->st = ramet_append(r->c, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out);
    r->added = out.added;
    return NULL;
}

Test(once, of_many_at_the_same_time_one_is_done)
{
    enum { N = 16, ROUNDS = 20 };
    static rival list[N];
    make("s");
    for (int round = 0; round < ROUNDS; round++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", round);
        for (int i = 0; i < N; i++) {
            list[i] = (rival){.c = ramet_call_new(T.store, "ann", NULL)};
            list[i].o = key(name, &list[i].a);
            pthread_create(&list[i].thread, NULL, rival_run, &list[i]);
        }
        size_t done = 0, repeated = 0;
        for (int i = 0; i < N; i++) {
            pthread_join(list[i].thread, NULL);
            cr_assert_eq(list[i].st, RAMET_OK);
            cr_assert_neq(list[i].added == 1, list[i].o.repeated);
            done += list[i].added;
            repeated += list[i].o.repeated;
            ramet_call_free(list[i].c);
        }
        cr_assert_eq(done, 1);
        cr_assert_eq(repeated, N - 1);
    }
    cr_assert_eq(get("s")->head.length, ROUNDS);
}

/* One process for each; the key decides who writes. */
static void append_keys(const char *path, int keys)
{
    ramet *r;
    ramet_options opt = scratch_options();
    if (ramet_open(path, &opt, &r, NULL) != RAMET_OK)
        _exit(1);
    for (int i = 0; i < keys; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        rival me = {.c = ramet_call_new(r, "ann", NULL)};
        me.o = key(name, &me.a);
        rival_run(&me);
        if (me.st != RAMET_OK || (me.added == 1) == me.o.repeated)
            _exit(2);
        ramet_call_free(me.c);
    }
    ramet_close(r);
    _exit(0);
}

Test(once, of_two_processes_one_does_it)
{
    enum { KEYS = 50, PROCESSES = 3 };
    make("s");
    scratch_shut();
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if (!(child[i] = fork()))
            append_keys(T.path, KEYS);
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        cr_assert_eq(waitpid(child[i], &status, 0), child[i]);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a process failed: %x", status);
    }
    scratch_reopen(NULL);
    cr_assert_eq(get("s")->head.length, KEYS);
    cr_assert_eq(sql_number("SELECT count(*) FROM once"), KEYS);
}
