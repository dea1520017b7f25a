/* SPDX-License-Identifier: Apache-2.0
 *
 * export_hostile.c: files that somebody made to do harm, each with a hash that fits. Whatever is in
 * one, it is refused and nothing of it shows, or what comes of it is a sound store.
 */
#include "attach.h"
#include "away.h"
#include "core/model/entry.h"
#include "ramet/branches.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "ramet/tasks.h"
#include "turn.h"

#include "../lib/scratch_db.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

TestSuite(export_hostile, .init = open_both, .fini = close_both, .timeout = 300);

/* -------------------------------------------------------------------- material */

static file planted(void)
{
    ramet_session *x;
    ramet_branch *b;
    ramet_overlay_out laid;
    ramet_merge_out merged;
    const char *tags[] = {"travel"};
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    say("f", "d");
    attach("f", "with", upload(T.call, "hello"));
    rewind_to("s", "b");
    say("s", "e");
    ok(ramet_undo(T.call, "s", NULL, &x));
    ok(ramet_overlay_set(
        T.call, "s", &(ramet_overlay_in){.entry_id = "a", .action = RAMET_OVERLAY_HIDE}, &laid));
    ok(ramet_merge(T.call, "s", &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f"}, &merged));
    ok(ramet_branch_update(T.call, "s", 1, &(ramet_branch_patch){.name = "first"}, &b));
    ok(ramet_tags_add(T.call, "f", tags, 1, NULL));
    ok(ramet_feedback_set(T.call, "f", "d", 1, "good"));
    ramet_turn *t = turn_start("f", &(ramet_turn_in){MESSAGE("m")});
    ramet_call_prompt(T.call, &(ramet_prompt_in){.agent = "echo", .length = 3, .data = "{}"});
    turn_speak(t->id, "answer");
    ramet_call_prompt(T.call, NULL);
    turn_stop(t->id, RAMET_TURN_DONE);
    ok(ramet_hold_set(T.call, "f", &(ramet_hold_in){.reason = "case 7"}, NULL));
    make("other");
    say("other", "x");
    return all_of(T.call);
}

/* --------------------------------------------------------------------- changes */

static uint32_t seed;

static size_t draw(size_t n)
{
    seed = seed * 1664525 + 1013904223;
    return n ? (seed >> 8) % n : 0;
}

typedef struct lines {
    char *at[200];
    size_t n;
} lines;

static lines lines_of(const file *f)
{
    lines l = {.n = 0};
    char *copy = strdup(f->p);
    for (char *line = strtok_r(copy, "\n", &copy); line && l.n < 200;
         line = strtok_r(NULL, "\n", &copy))
        l.at[l.n++] = line;
    return l;
}

/* Puts another value in place of a member's. */
static char *value_changed(const char *line)
{
    static const char *const values[] = {"0",           "-1",      "1",
                                         "2",           "99",      "9223372036854775807",
                                         "1e99",        "\"\"",    "\"a\"",
                                         "\"\\u0000\"", "null",    "true",
                                         "[]",          "{}",      "[[[[[[[[1]]]]]]]]",
                                         "\"\\ud800\"", "\"\xff\""};
    size_t n = strlen(line), from = draw(n);
    while (from < n && line[from] != ':')
        from++;
    if (from == n)
        return strdup(line);
    size_t to = ++from;
    int depth = 0;
    for (bool quoted = false; to < n; to++) {
        if (line[to] == '"' && line[to - 1] != '\\')
            quoted = !quoted;
        depth += !quoted && strchr("[{", line[to]) ? 1 : 0;
        if (!quoted && !depth && strchr(",}]", line[to]))
            break;
        depth -= !quoted && strchr("]}", line[to]) ? 1 : 0;
    }
    char *out = malloc(n + 64);
    snprintf(out, n + 64, "%.*s%s%s", (int)from, line, values[draw(sizeof values / sizeof *values)],
             line + to);
    return out;
}

static void line_change(lines *l)
{
    size_t i = 1 + draw(l->n - 2), k = 1 + draw(l->n - 2);
    char *kept = l->at[i];
    switch (draw(5)) {
    case 0: /* one is missing */
        memmove(&l->at[i], &l->at[i + 1], (l->n - i - 1) * sizeof *l->at);
        l->n--;
        break;
    case 1: /* one is there twice */
        memmove(&l->at[i + 1], &l->at[i], (l->n - i) * sizeof *l->at);
        l->n++;
        break;
    case 2: /* two have changed places */
        l->at[i] = l->at[k];
        l->at[k] = kept;
        break;
    default:
        l->at[i] = value_changed(kept);
    }
}

static file joined(const lines *l)
{
    file f = {0};
    for (size_t i = 0; i < l->n; i++) {
        file_take(&f, l->at[i], strlen(l->at[i]));
        file_take(&f, "\n", 1);
    }
    return f;
}

/* Writes that the other store has committed since it was opened. */
static int64_t writes_of_other(void)
{
    ramet_stats s;
    ramet_call *c = ramet_call_new(other.store, NULL, NULL); /* the other one keeps its error */
    ok_for(c, ramet_stat(c, &s));
    ramet_call_free(c);
    return s.writes;
}

static void harmless(const file *f, size_t *taken, size_t *refused_n)
{
    ramet_session_list list;
    int64_t before = writes_of_other();
    ramet_status st = import_bytes(other.call, f->p, f->n);
    cr_assert(st == RAMET_OK || st == RAMET_IMPORT_DAMAGED || st == RAMET_IMPORT_CONFLICT ||
                  st == RAMET_SESSION_EXISTS,
              "%s: %s", ramet_status_code(st), ramet_call_error(other.call)->message);
    cr_assert(st == RAMET_OK || writes_of_other() == before, "seed %u wrote, and then: %s", seed,
              ramet_call_error(other.call)->message);
    sound_other();
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    *taken += st == RAMET_OK;
    *refused_n += st != RAMET_OK;
    if (list.n)
        other_anew();
    else
        ramet_call_reset(other.call);
}

Test(export_hostile, changed_lines_do_no_damage)
{
    file a = planted();
    size_t taken = 0, refused_n = 0;
    int rounds = scratch_db_on() ? 60 : 400;
    for (int round = 0; round < rounds; round++) {
        seed = 1000 + (uint32_t)round;
        lines l = lines_of(&a);
        for (size_t n = 1 + draw(2); n; n--)
            line_change(&l);
        file b = joined(&l);
        if (strstr(b.p, "{\"type\":\"end\"") && strstr(b.p, "\"sha256\":\""))
            resign(&b);
        harmless(&b, &taken, &refused_n);
        free(b.p);
    }
    cr_assert_gt(taken, 0);
    cr_assert_gt(refused_n, 0);
    other_anew();
    import_file(other.call, &a);
}

/* ---------------------------------------------------------------------- single */

static void refused_as(const file *f, const char *why)
{
    ramet_session_list list;
    int64_t before = writes_of_other();
    ramet_status st = import_bytes(other.call, f->p, f->n);
    cr_assert_eq(writes_of_other(), before, "%s: nothing is written before the file was checked",
                 why);
    const char *said = ramet_call_error(other.call)->message;
    cr_assert_eq(st, RAMET_IMPORT_DAMAGED, "%s: %s", why, said);
    cr_assert(strstr(said, why), "%s", said);
    sound_other();
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 0);
}

static void forged(const file *f, const char *from, const char *to, const char *why)
{
    file b = replaced(f, from, to);
    resign(&b);
    refused_as(&b, why);
    free(b.p);
}

Test(export_hostile, cycles_and_wrong_parents)
{
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    say("f", "d");
    fork_at("f", "d", "g");
    rewind_to("s", "a");
    say("s", "e");
    file a = all_of(T.call);
    forged(&a, "\"id\":\"f\",\"parent\":1", "\"id\":\"f\",\"parent\":3", "forked from itself");
    forged(&a, "\"id\":\"f\",\"parent\":1", "\"id\":\"f\",\"parent\":2", "forked from no session");
    forged(&a, "\"id\":\"f\",\"parent\":1", "\"id\":\"f\",\"parent\":9", "forked from no session");
    forged(&a, "\"id\":\"f\",\"parent\":1", "\"id\":\"f\"", "a tree has one root");
    forged(&a, "\"parent\":1,\"base\":2", "\"parent\":2,\"base\":2", "begins or ends nowhere");
    forged(&a, "\"parent\":1,\"base\":2", "\"parent\":3,\"base\":2", "begins outside its parent");
    forged(&a, "\"parent\":1,\"base\":2", "\"parent\":1,\"base\":3", "");
    forged(&a, "\"parent\":1,\"base\":2", "\"parent\":1,\"base\":9", "");
    forged(&a, "\"sessions\":3", "\"sessions\":2147483647", "the tree has 2147483647 sessions");
    forged(&a, "\"branches\":4", "\"branches\":2147483647", "the tree has 2147483647 branches");
    forged(&a, "\"branches\":4", "\"branches\":99999999999", "must be a whole number");
    forged(&a, "\"head\":2", "\"head\":1", "");
    forged(&a, "\"kind\":\"rewind\"", "\"kind\":\"undo\"", "cannot have made");
    forged(&a, "\"visibility\":\"tree\"", "\"visibility\":\"all\"", "must be one of tree|private");
}

/* The file with another id for the last entry of a session, with hashes that fit. */
static file renamed(const file *a, const char *session, const char *from, const char *to)
{
    ramet_page page;
    char was[65], now[65];
    uint8_t digest[HASH_LEN], hash[HASH_LEN];
    ok(ramet_read(T.call, session, &(ramet_read_in){.limit = 2, .tail = true}, &page));
    ramet_entry e = page.entries[1];
    cr_assert_str_eq(e.id, from);
    snprintf(was, sizeof was, "%s", e.hash);
    e.id = to;
    sha *h = sha_new();
    entry_digest(h, &e, &(entry_cols){.text = e.text}, digest);
    hex_decode(page.entries[0].hash, hash, HASH_LEN);
    sha_chain(h, hash, digest, hash);
    hex_encode(hash, HASH_LEN, now);
    sha_free(h);
    char quoted[2][40];
    snprintf(quoted[0], sizeof quoted[0], "\"id\":\"%s\"", from);
    snprintf(quoted[1], sizeof quoted[1], "\"id\":\"%s\"", to);
    file b = replaced(a, was, now), c = replaced(&b, was, now),
         d = replaced(&c, quoted[0], quoted[1]);
    resign(&d);
    return d;
}

static void refused_twice(const file *f)
{
    ramet_gc_out left;
    refused_for(other.call, RAMET_IMPORT_DAMAGED, NULL, import_bytes(other.call, f->p, f->n));
    cr_assert_not_null(strstr(ramet_call_error(other.call)->message, "a is on its path twice"));
    ok_for(other.call, ramet_gc(other.call, false, NULL, NULL, &left));
    cr_assert_eq(left.entries, 0, "nothing was written");
    sound_other();
}

Test(export_hostile, an_entry_twice_on_its_path)
{
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    say("f", "x");
    file a = all_of(T.call), on_branch = renamed(&a, "s", "b", "a"),
         on_path = renamed(&a, "f", "x", "a"), beside = renamed(&a, "f", "x", "b");
    refused_twice(&on_branch);
    refused_twice(&on_path);
    import_file(other.call, &beside); /* a path each */
}

/* Many ids that are on several branches, and more than one round can hold. */
Test(export_hostile, an_entry_twice_among_many_that_are_on_several_paths)
{
    char id[20];
    make("s");
    say("s", "a");
    for (int f = 0; f < 3; f++) {
        snprintf(id, sizeof id, "f%d", f);
        fork_at("s", "a", id);
        ramet_entry_in list[200];
        char ids[200][20];
        for (int i = 0; i < 200; i++) {
            snprintf(ids[i], sizeof ids[i], "e%d", i);
            list[i] = (ramet_entry_in){.id = ids[i], .role = RAMET_USER, .text = "t"};
        }
        ramet_append_out out;
        ok(ramet_append(T.call, id, &(ramet_append_in){.entries = list, .n = 200}, &out));
    }
    say("f2", "x");
    file a = all_of(T.call), bad = renamed(&a, "f2", "x", "a");
    refused_twice(&bad);
    import_file(other.call, &a);
}

/* Two sessions of a file with one id; two trees with one session. */
Test(export_hostile, sessions_twice)
{
    make("s");
    say("s", "a");
    fork_at("s", "a", "f");
    file a = all_of(T.call), b = replaced(&a, "\"id\":\"f\"", "\"id\":\"s\"");
    resign(&b);
    refused_as(&b, "session s is in the file twice, first in line");
    import_file(other.call, &a);
}

/* Head log, record, notes and single rows that do not fit each other: each is found before the
 * first write (refused_as() counts writes). */
Test(export_hostile, records_that_do_not_fit_together)
{
    ramet_session *x;
    ramet_verdict *verdict;
    ramet_task *task;
    ramet_prune_out pruned;
    ramet_side_in sides[] = {{.session = "s"}, {.session = "f"}};
    make("s");
    say("s", "a b c");
    fork_at("s", "b", "f");
    say("f", "d");
    rewind_to("s", "a");
    say("s", "e");
    ok(ramet_undo(T.call, "s", NULL, &x));
    ok(ramet_verdict_add(T.call, sides, 2, 0, "shorter", &verdict));
    ok(ramet_task_put(T.call, "f", &(ramet_task_in){.id = "t1", .data = "{\"a\":1}"}, &task));
    ok(ramet_prune(T.call, "s", &(ramet_prune_in){.branch = 3}, &pruned));
    file a = all_of(T.call);
    forged(&a, "\"kind\":\"undo\"", "\"kind\":\"redo\"",
           "does not follow from the moves before it");
    forged(&a, "\"redo\":2", "\"redo\":1", "undo or redo stack is wrong");
    forged(&a, "\"moves\":2", "\"moves\":3", "should have 3");
    forged(&a, "\"seq\":2", "\"seq\":3", "move 2 of its head log is missing");
    forged(&a, "\"log\":\"main\",\"record\":3", "\"log\":\"main\",\"record\":2",
           "its record does not follow its branches");
    forged(&a, "\"first\":2", "\"first\":1", "its first branch is missing");
    forged(&a, "\"winner\":0", "\"winner\":2", "the winner of a verdict");
    forged(&a, "\"data\":{\"a\":1}", "\"data\":[1]", "the data of a task");
    forged(&a, "\"branch\":3,\"state\":\"pruned\"", "\"branch\":1,\"state\":\"pruned\"",
           "it was pruned and is a head");
    forged(&a, "\"type\":\"session\",\"n\":2", "\"type\":\"session\",\"n\":2,\"merged_into\":7",
           "there is no session 7");
    import_file(other.call, &a);
}

/* The first of two trees fits, and must not be written because of the second. */
Test(export_hostile, a_turn_that_is_in_two_trees)
{
    char from[100], to[100];
    make("s");
    ramet_turn *t = turn_start("s", &(ramet_turn_in){MESSAGE("m")});
    turn_stop(t->id, RAMET_TURN_DONE);
    snprintf(to, sizeof to, "\"type\":\"turn\",\"id\":\"%s\"", t->id);
    make("other");
    t = turn_start("other", &(ramet_turn_in){MESSAGE("n")});
    turn_stop(t->id, RAMET_TURN_DONE);
    snprintf(from, sizeof from, "\"type\":\"turn\",\"id\":\"%s\"", t->id);
    file a = all_of(T.call);
    forged(&a, from, to, "is in the file twice, first in line");
    import_file(other.call, &a);
}

/* One attachment in two trees is one content. */
Test(export_hostile, an_attachment_with_two_contents)
{
    char from[65], to[65];
    static const char *const hello =
                                 "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
                             *const other_text = "hallo";
    sha *h = sha_new();
    uint8_t hash[HASH_LEN];
    snprintf(from, sizeof from, "%s", hello);
    sha_begin(h);
    sha_add(h, other_text, 5);
    sha_end(h, hash);
    sha_free(h);
    hex_encode(hash, HASH_LEN, to);
    const char *id = upload(T.call, "hello");
    make("s");
    attach("s", "with", id);
    make("z");
    attach("z", "again", id);
    file a = all_of(T.call);
    char *second = strstr(strstr(a.p, from) + 1, from);
    cr_assert_not_null(second);
    file b = {0};
    file_take(&b, a.p, (size_t)(second - a.p));
    file_take(&b, to, strlen(to));
    file_take(&b, second + strlen(from), a.n - (size_t)(second - a.p) - strlen(from));
    char *data = strstr(b.p + (second - a.p), "aGVsbG8=");
    cr_assert_not_null(data);
    memcpy(data, "aGFsbG8=", 8);
    resign(&b);
    refused_as(&b, "has another content than in line");
    import_file(other.call, &a);
}

/* A line without end, and one that is deeper than any value may be: memory stays where it is. */
Test(export_hostile, lines_without_end)
{
    static char part[1 << 20];
    ramet_import *m;
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    memset(part, 'x', sizeof part);
    ok_for(other.call, ramet_import_begin(other.call, NULL, 0, &m));
    ok_for(other.call, ramet_import_add(m, "{\"type\":\"", 9));
    for (int i = 0; i < 300; i++)
        ok_for(other.call, ramet_import_add(m, part, sizeof part));
    refused_for(other.call, RAMET_IMPORT_DAMAGED, NULL, ramet_import_run(m, NULL, NULL, &imported));
    ramet_import_close(m);
    cr_assert(strstr(ramet_call_error(other.call)->message, "line 1: it has more than"));
    getrusage(RUSAGE_SELF, &after);
    cr_assert_lt(after.ru_maxrss - before.ru_maxrss, 600 << 10, "kilobytes: %ld",
                 after.ru_maxrss - before.ru_maxrss);
    memset(part, '[', sizeof part);
    ok_for(other.call, ramet_import_begin(other.call, NULL, 0, &m));
    ok_for(other.call, ramet_import_add(m, part, sizeof part));
    ok_for(other.call, ramet_import_add(m, "\n", 1));
    refused_for(other.call, RAMET_IMPORT_DAMAGED, NULL, ramet_import_run(m, NULL, NULL, &imported));
    ramet_import_close(m);
    sound_other();
}

/* ------------------------------------------------------------- at the same time */

static file raced;

static void *race(void *arg)
{
    ramet_call *c = ramet_call_new(other.store, NULL, NULL);
    ramet_import *m;
    ramet_import_out out;
    ramet_status *st = arg;
    *st = ramet_import_begin(c, NULL, 0, &m);
    if (*st == RAMET_OK)
        *st = ramet_import_add(m, raced.p, raced.n);
    if (*st == RAMET_OK)
        *st = ramet_import_run(m, NULL, NULL, &out);
    ramet_import_close(m);
    ramet_call_free(c);
    return NULL;
}

static void *writer(void *arg)
{
    const char *id = arg;
    ramet_call *c = ramet_call_new(other.store, "ann", NULL);
    ramet_session *x;
    ramet_append_out out;
    ramet_entry_in e = {.role = RAMET_USER, .text = "meanwhile"};
    cr_assert_eq(ramet_session_create(c, &(ramet_session_in){.id = id}, &x), RAMET_OK);
    for (int i = 0; i < 200; i++) {
        cr_assert_eq(ramet_append(c, id, &(ramet_append_in){.entries = &e, .n = 1}, &out),
                     RAMET_OK);
        ramet_call_reset(c);
    }
    ramet_call_free(c);
    return NULL;
}

static void *collector(void *arg)
{
    (void)arg;
    ramet_call *c = ramet_call_new(other.store, NULL, NULL);
    ramet_gc_out out;
    for (int i = 0; i < 20; i++) {
        cr_assert_eq(ramet_gc(c, false, NULL, NULL, &out), RAMET_OK);
        ramet_call_reset(c);
    }
    ramet_call_free(c);
    return NULL;
}

/* The same file twice at once, while others write and gc runs: it is there once. */
Test(export_hostile, imports_beside_writers_and_gc)
{
    pthread_t t[5];
    ramet_status st[2];
    raced = planted();
    pthread_create(&t[0], NULL, race, &st[0]);
    pthread_create(&t[1], NULL, race, &st[1]);
    pthread_create(&t[2], NULL, writer, (void *)"w1");
    pthread_create(&t[3], NULL, writer, (void *)"w2");
    pthread_create(&t[4], NULL, collector, NULL);
    for (int i = 0; i < 5; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 2; i++)
        cr_assert(st[i] == RAMET_OK || st[i] == RAMET_IMPORT_CONFLICT ||
                      st[i] == RAMET_SESSION_EXISTS,
                  "%s", ramet_status_code(st[i]));
    cr_assert(st[0] == RAMET_OK || st[1] == RAMET_OK);
    sound_other();
    import_file(other.call, &raced);
    cr_assert_eq(imported.sessions_added, 0);
    ramet_page page;
    ok_for(other.call, ramet_read(other.call, "w1", &(ramet_read_in){.limit = 1}, &page));
    cr_assert_eq(page.head.length, 200);
}
