/* SPDX-License-Identifier: Apache-2.0
 *
 * damage.c: one change after the other behind Ramet's back; fsck finds every one of them, and no
 * call crashes on it or gives a shorter history as if it were whole.
 */
#include "help.h"
#include "ramet/erase.h"
#include "ramet/tasks.h"
#include "ramet/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(damage, .init = scratch_open, .fini = scratch_close, .timeout = 120);

/* Something of everything: forks, moves, both logs, usage, snapshots of the state, large bodies. */
static void rich_store(void)
{
    make("s");
    say("s", "a b c");
    static char big[200000];
    memset(big, 'x', sizeof big - 1);
    put("s", &(ramet_entry_in){.id = "big", .role = RAMET_USER, .text = big});
    ramet_usage u = {.input = 5, .output = 6, .cached = 1, .cost = 9, .currency = "EUR"};
    for (int i = 0; i < 60; i++) {
        char id[8], delta[600];
        snprintf(id, sizeof id, "d%d", i);
        snprintf(delta, sizeof delta, "{\"k%d\":\"%.400s\"}", i % 5, big);
        put("s", &(ramet_entry_in){
                     .id = id, .role = RAMET_ASSISTANT, .usage = &u, .state_delta = delta});
    }
    fork_at("s", "d30", "f");
    say("f", "x");
    ramet_usage other = {.cost = 2, .currency = "USD"};
    put("f", &(ramet_entry_in){.id = "y", .role = RAMET_USER, .usage = &other});
    fork_at("f", "x", "g");
    say("g", "z");
    rewind_to("s", "b");
    say("s", "p");
    rewind_to("s", "a");
    ramet_session *s;
    ok(ramet_undo(T.call, "s", NULL, &s));
    ramet_append_out out;
    ramet_entry_in raw = {.id = "k", .role = RAMET_ASSISTANT, .format = "adk", .body = "{}"};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &raw, .n = 1, .log = RAMET_LOG_ADK},
                    &out));
    ramet_tags tags;
    ok(ramet_tags_set(T.call, "f", (const char *[]){"t"}, 1, &tags));
    ramet_verdict *v;
    ok(ramet_verdict_add(T.call, (ramet_side_in[]){{"s", 0}, {"f", 0}}, 2, 0, "r", &v));
    make("other");
    say("other", "o");
    make("blank");
    say("blank", "gone last");
    ramet_receipt *receipt;
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = "blank", .entry_id = "gone"}, &receipt));
    make("desk");
    say("desk", "w");
    ramet_turn *turn;
    ramet_entry_in ask = {.id = "asked", .role = RAMET_USER, .text = "?"};
    ok(ramet_turn_begin(T.call, "desk", &(ramet_turn_in){.id = "t1", .entries = &ask, .n = 1},
                        &turn, &out));
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_DONE, NULL, NULL, 0, &out));
    ramet_task *task;
    ok(ramet_task_put(T.call, "desk", &(ramet_task_in){.id = "k1", .data = "{}"}, &task));
    ok(ramet_feedback_set(T.call, "desk", "w", 1, NULL));
    ok(ramet_member_set(T.call, "desk", "bob", RAMET_WRITER));
    ramet_share *share;
    ok(ramet_share_add(T.call, "desk", false, 0, &share));
    ramet_token *token;
    ok(ramet_token_add(T.call, &(ramet_token_in){.user = "ann"}, &token));
}

#define OF(id) "(SELECT no FROM session WHERE id = '" id "')"
#define HEAD(id) "(SELECT head FROM session WHERE id = '" id "')"

static const char *const harms[] = {
    "UPDATE entry SET role = 2 WHERE id = 'a'",
    "UPDATE entry SET channel = 'x' WHERE id = 'b'",
    "UPDATE entry SET turn_id = 'x' WHERE id = 'b'",
    "UPDATE entry SET author = 'x' WHERE id = 'b'",
    "UPDATE entry SET client = 'x' WHERE id = 'b'",
    "UPDATE entry SET format = 'x' WHERE id = 'b'",
    "UPDATE entry SET parts = '[]' WHERE id = 'b'",
    "UPDATE entry SET text = NULL WHERE id = 'b'",
    "UPDATE entry SET id = 'q' WHERE id = 'o'",
    "UPDATE entry SET hash = x'00' WHERE id = 'b'",
    "UPDATE entry SET flags = 255 WHERE id = 'b'",
    "UPDATE entry SET flags = 0 WHERE id = 'big'",
    "UPDATE entry SET tree = tree + 1 WHERE id = 'o'",
    "UPDATE entry SET k = k + 1 WHERE id = 'o'",
    "DELETE FROM entry WHERE id = 'a'",
    "DELETE FROM entry WHERE id = 'o'",
    "DELETE FROM entry WHERE id = 'y'",
    "DELETE FROM entry WHERE id = 'k'",
    "INSERT INTO entry SELECT k + 1, tree, 'extra', hash, role, channel, format, turn_id, author, "
    "client,"
    " created, text, parts, body, flags, peer, key_id FROM entry WHERE id = 'o'",
    "DELETE FROM body",
    "UPDATE body SET packed = x'28b52ffd'",
    "UPDATE body SET packed = substr(packed, 1, length(packed) - 1)",
    "DELETE FROM usage WHERE k = (SELECT k FROM entry WHERE id = 'd7')",
    "UPDATE usage SET output = output + 1 WHERE k = (SELECT k FROM entry WHERE id = 'd7')",
    "UPDATE usage SET cum_input = cum_input + 1 WHERE k = (SELECT k FROM entry WHERE id = 'd59')",
    "UPDATE usage SET currency = 'JPY' WHERE k = (SELECT k FROM entry WHERE id = 'y')",
    "DELETE FROM delta WHERE k = (SELECT k FROM entry WHERE id = 'd7')",
    "UPDATE delta SET json = '{}' WHERE k = (SELECT k FROM entry WHERE id = 'd7')",
    "UPDATE delta SET snap = '{\"forged\":1}' WHERE snap IS NOT NULL",
    "UPDATE delta SET prev = 0 WHERE k = (SELECT k FROM entry WHERE id = 'd7')",
    "UPDATE branch SET len = len + 1 WHERE id = " HEAD("other"),
    "UPDATE branch SET len = len - 1 WHERE id = " HEAD("other"),
    "UPDATE branch SET tip = zeroblob(32) WHERE id = " HEAD("f"),
    "UPDATE branch SET tip = x'01' WHERE id = " HEAD("f"),
    "UPDATE branch SET base = base + 1 WHERE id = " HEAD("g"),
    "UPDATE branch SET base = base - 1 WHERE id = " HEAD("g"),
    "UPDATE branch SET parent = 0 WHERE id = " HEAD("g"),
    "UPDATE branch SET parent = id WHERE id = " HEAD("g"),
    "UPDATE branch SET parent = 4711 WHERE id = " HEAD("g"),
    "UPDATE branch SET parent = " HEAD("other") " WHERE id = " HEAD("g"),
    "UPDATE branch SET depth = depth + 1 WHERE id = " HEAD("g"),
    "UPDATE branch SET jump = id WHERE id = " HEAD("g"),
    "UPDATE branch SET jump_base = jump_base + 1 WHERE id = " HEAD("g"),
    "UPDATE branch SET log = 1 WHERE id = " HEAD("other"),
    "UPDATE branch SET session = 4711 WHERE id = " HEAD("other"),
    "UPDATE branch SET session = " OF("f") " WHERE id = " HEAD("g"),
    "UPDATE branch SET tree = 4711 WHERE id = " HEAD("other"),
    "UPDATE branch SET live = 0 WHERE id = " HEAD("f"),
    "UPDATE branch SET live = 1",
    "UPDATE branch SET delta = 0 WHERE id = " HEAD("f"),
    "DELETE FROM branch WHERE id = " HEAD("f"),
    "DELETE FROM branch WHERE id = " HEAD("other"),
    "UPDATE session SET head = 0 WHERE id = 'f'",
    "UPDATE session SET head = " HEAD("g") " WHERE id = 'f'",
    "UPDATE session SET head = first WHERE id = 's'",
    "UPDATE session SET adk = head WHERE id = 's'",
    "UPDATE session SET adk = 0 WHERE id = 's'",
    "UPDATE session SET parent = 4711 WHERE id = 'f'",
    "UPDATE session SET parent = no WHERE id = 'f'",
    "UPDATE session SET parent = 0 WHERE id = 'f'",
    "UPDATE session SET depth = 5 WHERE id = 'g'",
    "UPDATE session SET tree = 4711 WHERE id = 'other'",
    "UPDATE session SET moves = moves + 1 WHERE id = 's'",
    "UPDATE session SET undo = 99 WHERE id = 's'",
    "UPDATE session SET redo = 0 WHERE id = 's'",
    "UPDATE session SET id = NULL WHERE id = 'other'",
    "DELETE FROM session WHERE id = 'other'",
    "DELETE FROM session WHERE id = 'f'",
    "DELETE FROM tree",
    "UPDATE tree SET root = 4711",
    "DELETE FROM move WHERE seq = 2",
    "UPDATE move SET t = 4711 WHERE seq = 1",
    "UPDATE move SET kind = 99 WHERE seq = 1",
    "UPDATE move SET undo_under = 7 WHERE seq = 2",
    "UPDATE move SET undo_under = 0 WHERE seq = 2",
    "UPDATE move SET redo_under = 1 WHERE seq = 3",
    "UPDATE move SET f = t WHERE seq = 2",
    "UPDATE session SET undo = 2 WHERE id = 's'",
    "UPDATE run SET k = k + 1 WHERE session = " OF("f"),
    "DELETE FROM run WHERE session = " OF("f"),
    "UPDATE tag SET session = 4711",
    "UPDATE turn SET status = 99",
    "UPDATE turn SET status = 4294967298",
    "UPDATE turn SET branch = 4711",
    "UPDATE task SET data = '{'",
    "UPDATE task SET data = '[]'",
    "UPDATE feedback SET value = 7",
    "UPDATE member SET level = 9 WHERE user_id = 'bob'",
    "UPDATE share SET secret = x'00'",
    "UPDATE token SET secret = x'00'",
    "UPDATE event SET kind = 99 WHERE no = 3",
    "UPDATE session SET visibility = 2 WHERE id = 'f'",
    "UPDATE session SET visibility = 4294967296 WHERE id = 'f'",
    "UPDATE session SET type = 9 WHERE id = 'f'",
    "UPDATE session SET by_kind = -1 WHERE id = 'f'",
    "UPDATE session SET fork_side = 2 WHERE id = 'f'",
    "UPDATE session SET purging = 3 WHERE id = 'other'",
    "UPDATE branch SET type = 7 WHERE id = " HEAD("f"),
    "UPDATE branch SET over = " HEAD("s") " WHERE id = " HEAD("g"),
    "UPDATE branch SET filled = 1 WHERE id = " HEAD("f"),
    "UPDATE branch SET created = created + 1 WHERE id = " HEAD("g"),
    "UPDATE entry SET format = 'a2a' WHERE id = 'gone'",
    "UPDATE entry SET author = 'ann' WHERE id = 'gone'",
    "UPDATE entry SET client = 'x' WHERE id = 'gone'",
    "UPDATE entry SET role = 2 WHERE id = 'gone'",
    "UPDATE branch SET log = 2 WHERE id = " HEAD("f"),
    "UPDATE branch SET id = -5 WHERE id = " HEAD("other"),
    "UPDATE run SET rec = 9223372036854775807 WHERE session = " OF("f"),
    "UPDATE usage SET cum_input = 9223372036854775807",
};

/* Every read there is; whatever the damage, it ends, and with a status. */
static void look_around(void)
{
    static const char *const names[] = {"s", "f", "g", "other"};
    for (size_t i = 0; i < 4; i++) {
        ramet_session *s;
        ramet_page page;
        ramet_branch *b;
        ramet_version *v;
        ramet_move *m;
        ramet_fork_point *p;
        ramet_usage_out u;
        ramet_compare_out cmp;
        const char *json;
        size_t n;
        bool more;
        int64_t total;
        if (ramet_session_get(T.call, names[i], &s) == RAMET_OK &&
            ramet_read(T.call, names[i], &(ramet_read_in){.limit = 1000, .versions = true},
                       &page) == RAMET_OK)
            cr_assert_eq((int64_t)page.n, page.head.length, "silently shorter");
        ramet_branches(T.call, names[i], &b, &n);
        ramet_versions(T.call, names[i], 0, "a", &v, &n);
        ramet_head_log(T.call, names[i], 0, 0, &m, &n, &more);
        ramet_fork_points(T.call, names[i], &p, &n);
        ramet_usage_get(T.call, names[i], &u);
        ramet_state(T.call, names[i], NULL, &json);
        ramet_record(T.call, names[i], RAMET_LOG_MAIN, 0, 0, &page, &total);
        ramet_ancestry(T.call, names[i], &s, &n);
        ramet_tree(T.call, names[i], false, &s, &n);
        ramet_compare(T.call, (ramet_side_in[]){{"s", 0}, {names[i], 0}}, 2, 0, &cmp);
        ramet_call_reset(T.call);
    }
    ramet_session_list list;
    ramet_hits hits;
    ramet_gc_out gc;
    ramet_session_find(T.call, &(ramet_list_in){.title = "o"}, &list);
    ramet_search(T.call, &(ramet_search_in){.query = "text"}, &hits);
    ramet_gc(T.call, true, NULL, NULL, &gc);
    ramet_call_reset(T.call);
}

static void copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    cr_assert(in && out);
    static char block[1 << 16];
    for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
        fwrite(block, 1, n, out);
    fclose(in);
    fclose(out);
}

Test(damage, every_kind_is_found)
{
    rich_store();
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0);
    scratch_shut();
    char sound[96], search[128];
    snprintf(sound, sizeof sound, "%s", T.path);
    for (size_t i = 0; i < sizeof harms / sizeof *harms; i++) {
        snprintf(T.path, sizeof T.path, "%s/harm.db", T.dir);
        snprintf(search, sizeof search, "%s-search", T.path);
        remove(search);
        copy_file(sound, T.path);
        sql_run(T.path, harms[i]);
        scratch_reopen(NULL);
        ok(ramet_fsck(T.call, NULL, NULL, &out));
        cr_expect_gt(out.n_all, 0, "not found: %s", harms[i]);
        look_around();
        scratch_shut();
    }
}

/* Reads that only one column decides: they fail, rather than show another history. */
Test(damage, no_other_history_is_shown)
{
    static const char *const cases[] = {
        "UPDATE session SET head = first WHERE id = 's'",
        "UPDATE branch SET len = base WHERE id = (SELECT k >> 24 FROM entry WHERE id = 'p')",
        "UPDATE branch SET id = id + 1000 WHERE id = (SELECT k >> 24 FROM entry WHERE id = 'p')"};
    rich_store();
    scratch_shut();
    char sound[96];
    snprintf(sound, sizeof sound, "%s", T.path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ramet_page page;
        int64_t total;
        snprintf(T.path, sizeof T.path, "%s/harm.db", T.dir);
        copy_file(sound, T.path);
        sql_run(T.path, cases[i]);
        scratch_reopen(NULL);
        ramet_status read = ramet_read(T.call, "s", &(ramet_read_in){.limit = 100}, &page);
        ramet_status record = ramet_record(T.call, "s", RAMET_LOG_MAIN, 0, 100, &page, &total);
        cr_expect(read == RAMET_DAMAGED || i > 0, "%s: read", cases[i]);
        cr_expect(record == RAMET_DAMAGED, "%s: %s", cases[i], ramet_status_code(record));
        scratch_shut();
    }
}

/* Values that are used as an enum, an index or a length: the read that meets one says so. */
Test(damage, values_that_no_store_holds_are_reported)
{
    static const struct {
        const char *harm, *named;
    } cases[] = {{"UPDATE turn SET status = 99", "turn.status is 99"},
                 {"UPDATE turn SET status = -1", "turn.status is -1"},
                 {"UPDATE turn SET status = 4294967298", "turn.status is 4294967298"},
                 {"UPDATE task SET data = '{'", "the data of task k1 is damaged"},
                 {"UPDATE feedback SET value = 7", "feedback.value is 7"},
                 {"UPDATE member SET level = 9", "member.level is 9"},
                 {"UPDATE session SET visibility = 2", "session.visibility is 2"},
                 {"UPDATE session SET type = 3", "session.type is 3"},
                 {"UPDATE session SET purging = -1", "session.purging is -1"},
                 {"UPDATE branch SET type = 7", "branch.type is 7"}};
    rich_store();
    scratch_shut();
    char sound[96];
    snprintf(sound, sizeof sound, "%s", T.path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ramet_turn *turns;
        ramet_task *tasks;
        ramet_feedback *feedback;
        ramet_member *members;
        size_t n;
        snprintf(T.path, sizeof T.path, "%s/harm.db", T.dir);
        copy_file(sound, T.path);
        sql_run(T.path, cases[i].harm);
        scratch_reopen(NULL);
        ramet_status st = ramet_turns(T.call, "desk", 0, &turns, &n);
        if (st == RAMET_OK)
            st = ramet_tasks(T.call, "desk", &tasks, &n);
        if (st == RAMET_OK)
            st = ramet_feedback_get(T.call, "desk", "w", &feedback, &n);
        if (st == RAMET_OK)
            st = ramet_members(T.call, "desk", &members, &n);
        cr_expect_eq(st, RAMET_DAMAGED, "%s: %s", cases[i].harm, ramet_status_code(st));
        cr_expect(strstr(ramet_call_error(T.call)->message, cases[i].named) != NULL, "%s: %s",
                  cases[i].harm, ramet_call_error(T.call)->message);
        scratch_shut();
    }
}
