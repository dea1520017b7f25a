/* SPDX-License-Identifier: Apache-2.0
 *
 * erase.c: what goes, what stays, who may, what every reader gets afterwards; interruptions.
 */
#include "attach.h"
#include "erase.h"
#include "link.h"
#include "turn.h"

#include "ramet/kagent.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "ramet/tasks.h"
#include "store/sql/sql.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(erase, .init = scratch_open, .fini = scratch_close);

ramet_receipt *erase_receipt;
static ramet_session *patched;

/* ---- steps and looks */

void erase_it(const char *session, const char *entry)
{
    tick(SECOND);
    ok(ramet_erase(
        T.call,
        &(ramet_erase_in){.session = session, .entry_id = entry, .reason = "a leak", .by = "root"},
        &erase_receipt));
    cr_assert_not_null(erase_receipt);
}

static void not_erased(ramet_call *c, ramet_status st, const char *field, const ramet_erase_in *in)
{
    const char *before = mark();
    refused_for(c, st, field, ramet_erase(c, in, &erase_receipt));
    cr_assert_str_eq(mark(), before);
    cr_assert_null(erase_receipt);
}

static ramet_entry *entry_of(const char *session, const char *id)
{
    ramet_entry *e;
    ok(ramet_entry_get(T.call, session, 0, id, &e));
    return e;
}

static void is_erased(const char *session, const char *id)
{
    ramet_entry *e = entry_of(session, id);
    cr_assert_not_null(e->erased, "%s of %s is not erased", id, session);
    cr_assert_str_eq(e->text, RAMET_ERASED_TEXT);
    cr_assert_str_eq(e->format, "ramet");
    cr_assert_null(e->body);
    cr_assert_null(e->author);
    cr_assert_null(e->client);
    cr_assert_null(e->state_delta);
}

static int64_t went(const char *what)
{
    for (size_t i = 0; i < erase_receipt->n_went; i++)
        if (strstr(erase_receipt->went[i].what, what))
            return erase_receipt->went[i].n;
    return 0;
}

static int64_t stayed(const char *what)
{
    for (size_t i = 0; i < erase_receipt->n_stayed; i++)
        if (strstr(erase_receipt->stayed[i].what, what))
            return erase_receipt->stayed[i].n;
    return 0;
}

size_t erase_hits(const char *query)
{
    ramet_hits found;
    ok(ramet_search(T.call, &(ramet_search_in){.query = query, .limit = 50}, &found));
    return found.n;
}

/* ---- an entry */

Test(erase, an_entry_loses_everything_but_its_place)
{
    make("s");
    ask("s", "a", "my password is " SECRET);
    answer("s", "b", "noted");
    ramet_session *fork = fork_at("s", NULL, "f");
    say("f", "c");
    char hash[65], head[65];
    snprintf(hash, sizeof hash, "%s", entry_of("s", "a")->hash);
    snprintf(head, sizeof head, "%s", get("s")->head.hash);
    cr_assert_eq(erase_hits("swordfish"), 1);
    cr_assert_not_null(fork);
    erase_it("s", "a");
    is_erased("s", "a");
    is_erased("f", "a");
    ramet_entry *e = entry_of("s", "a");
    cr_assert_str_eq(e->erased->by, "root");
    cr_assert_str_eq(e->erased->reason, "a leak");
    cr_assert_eq(e->erased->at, erase_receipt->at);
    cr_assert_str_eq(e->hash, hash);
    cr_assert_str_eq(get("s")->head.hash, head);
    cr_assert_str_eq(ids("f"), "a b c");
    cr_assert_eq(erase_hits("swordfish"), 0);
    cr_assert_eq(erase_hits("noted"), 1, "the rest is still found");
    cr_assert_not(erase_anywhere("swordfish"));
    cr_assert_eq(erase_receipt->entries, 1);
    cr_assert_eq(erase_receipt->n_places, 1);
    cr_assert_str_eq(erase_receipt->places[0].session, "s");
    cr_assert_not_null(strstr(erase_receipt->notes[0], "guess"));
    cr_assert_null(strstr(get("s")->shown_title, "password"), "%s", get("s")->shown_title);
    cr_assert_null(strstr(get("f")->shown_title, "password"), "%s", get("f")->shown_title);
    sound();
    /* The history goes on, and the same call again finds that it is done. */
    say("s", "d");
    erase_it("s", "a");
    cr_assert_eq(erase_receipt->entries, 0);
    cr_assert_eq(erase_receipt->already, 1);
    sound();
}

Test(erase, a_large_body_with_everything_that_hangs_on_it)
{
    static char long_text[9000];
    memset(long_text, 'x', sizeof long_text - 1);
    memcpy(long_text, SECRET " ", sizeof SECRET);
    long_text[sizeof SECRET - 1] = ' ';
    make("s");
    const char *file = upload(T.call, "a file with " SECRET);
    char parts[400];
    put("s", &(ramet_entry_in){.id = "a",
                               .role = RAMET_USER,
                               .text = long_text,
                               .format = "memory",
                               .body = "{\"k\":\"" SECRET "\"}",
                               .author = "zoe",
                               .usage = &(ramet_usage){.input = 5, .currency = ""},
                               .state_delta = "{\"pin\":\"" SECRET "\"}",
                               .indexed = SECRET});
    snprintf(parts, sizeof parts,
             "[{\"type\":\"text\",\"text\":\"" SECRET
             "\"},{\"type\":\"file\",\"attachment_id\":\"%s\"}]",
             file);
    put("s", &(ramet_entry_in){.id = "b", .role = RAMET_USER, .parts = parts});
    ok(ramet_feedback_set(T.call, "s", "b", 1, "good " SECRET));
    erase_it("s", "a");
    erase_it("s", "b");
    cr_assert_eq(went("attachments"), 3, "the reference, the feedback and its release");
    is_erased("s", "a");
    is_erased("s", "b");
    cr_assert_not(erase_anywhere(SECRET));
    cr_assert_not(erase_anywhere("zoe"));
    cr_assert_eq(sql_number("SELECT count(*) FROM body"), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 0);
    cr_assert_eq(files(), 0);
    const char *state;
    ok(ramet_state(T.call, "s", NULL, &state));
    cr_assert_str_eq(state, "{}");
    ramet_usage_out usage;
    ok(ramet_usage_get(T.call, "s", &usage));
    cr_assert_eq(usage.own.input, 5, "tokens are not content");
    sound();
}

Test(erase, an_attachment_that_another_entry_refers_to_stays)
{
    make("s");
    make("t");
    const char *file = upload(T.call, "shared");
    attach("s", "a", file);
    attach("t", "a", file);
    erase_it("s", "a");
    cr_assert_eq(stayed("attachments"), 1);
    cr_assert_str_eq(content(T.call, file), "shared");
    erase_it("t", "a");
    cr_assert_eq(stayed("attachments"), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 0);
    file = upload(T.call, "copied");
    attach("s", "b", file);
    fork_at("s", "a", "f");
    ramet_merge_out merged;
    ramet_merge_in pick = {
        .mode = RAMET_PICK, .picks = &(ramet_merge_pick){"s", 0, "b"}, .n_picks = 1};
    ok(ramet_merge(T.call, "f", &pick, &merged));
    erase_it("s", "b");
    cr_assert_eq(stayed("attachments"), 0, "the copy went, too");
    cr_assert_eq(sql_number("SELECT count(*) FROM attachment"), 0);
    sound();
}

Test(erase, snapshots_of_the_state_are_made_anew)
{
    make("s");
    char delta[400];
    for (int i = 0; i < 40; i++) {
        char id[8];
        snprintf(id, sizeof id, "e%d", i);
        if (i == 3)
            snprintf(delta, sizeof delta, "{\"pin\":\"" SECRET "\",\"k3\":1}");
        else
            snprintf(delta, sizeof delta, "{\"k%d\":\"%0200d\"}", i, i);
        put("s", &(ramet_entry_in){
                     .id = id, .role = RAMET_ASSISTANT, .text = "t", .state_delta = delta});
    }
    fork_at("s", "e20", "f");
    put("f", &(ramet_entry_in){.id = "g", .role = RAMET_ASSISTANT, .state_delta = "{\"g\":1}"});
    cr_assert_gt(sql_number("SELECT count(*) FROM delta WHERE snap LIKE '%" SECRET "%'"), 1);
    erase_it("s", "e3");
    cr_assert_gt(went("snapshots"), 1);
    cr_assert_not(erase_anywhere(SECRET));
    const char *state;
    ok(ramet_state(T.call, "s", NULL, &state));
    cr_assert_null(strstr(state, "pin"));
    cr_assert_not_null(strstr(state, "\"k39\""));
    ok(ramet_state(T.call, "f", NULL, &state));
    cr_assert_null(strstr(state, "pin"));
    cr_assert_not_null(strstr(state, "\"k20\""));
    sound();
}

Test(erase, copies_and_summaries_go_with_it)
{
    ramet_merge_out out;
    make("s");
    say("s", "a b");
    fork_at("s", NULL, "f");
    ask("f", "c", "the code is " SECRET);
    say("f", "d");
    ramet_merge_pick pick = {.entry_id = "c"};
    ok(ramet_merge(T.call, "s",
                   &(ramet_merge_in){.from = "f", .mode = RAMET_PICK, .picks = &pick, .n_picks = 1},
                   &out));
    char copy[64];
    snprintf(copy, sizeof copy, "%s", get("s")->head.entry_id);
    ramet_session *g = fork_at("s", NULL, "g");
    cr_assert_not_null(g);
    ramet_merge_pick again = {.session = "s", .entry_id = copy};
    ok(ramet_merge(
        T.call, "f",
        &(ramet_merge_in){.from = "s", .mode = RAMET_PICK, .picks = &again, .n_picks = 1}, &out));
    char second[64];
    snprintf(second, sizeof second, "%s", get("f")->head.entry_id);
    make("o");
    ok(ramet_merge(
        T.call, "o",
        &(ramet_merge_in){.from = "f", .mode = RAMET_LAND, .text = "it was about " SECRET}, &out));
    char summary[64];
    snprintf(summary, sizeof summary, "%s", get("o")->head.entry_id);
    erase_it("f", "c");
    cr_assert_eq(erase_receipt->entries, 4);
    cr_assert_eq(went("copies"), 3);
    is_erased("s", copy);
    is_erased("g", copy);
    is_erased("f", second);
    is_erased("o", summary);
    cr_assert_not(erase_anywhere(SECRET));
    sound();
    /* A merge does not bring it back. */
    refused(RAMET_MERGE_REFUSED, "entries",
            ramet_merge(
                T.call, "s",
                &(ramet_merge_in){.from = "f", .mode = RAMET_PICK, .picks = &pick, .n_picks = 1},
                &out));
    ok(ramet_merge(T.call, "g", &(ramet_merge_in){.from = "f", .mode = RAMET_SPLICE}, &out));
    cr_assert_not(erase_anywhere(SECRET));
    sound();
}

Test(erase, overlays_prompts_verdicts_titles_and_reasons)
{
    make("s");
    ok(ramet_session_update(T.call, "s", &(ramet_session_patch){.title = "About swordfish"},
                            &patched));
    say("s", "z y");
    turn_start("s", &(ramet_turn_in){
                        .id = "t1",
                        .entries = &(ramet_entry_in){.id = "a", .role = RAMET_USER, .text = SECRET},
                        .n = 1});
    ramet_prompt_in prompt = {
        .agent = "echo", .length = 3, .data = "{\"messages\":[\"" SECRET "\"]}"};
    ramet_call_prompt(T.call, &prompt);
    turn_speak("t1", "b");
    ok(ramet_turn_end(T.call, "t1", RAMET_TURN_FAILED, "cannot do " SECRET, NULL, 0, &turn_out));
    ramet_session *f = NULL;
    ok(ramet_fork(T.call, "s", &(ramet_fork_in){.id = "f", .reason = "try " SECRET}, &f, NULL));
    int64_t at = rewind_to("f", "b");
    cr_assert_gt(at, 0);
    ramet_overlay_out set;
    ok(ramet_overlay_set(T.call, "f",
                         &(ramet_overlay_in){.entry_id = "a",
                                             .action = RAMET_OVERLAY_REPLACE,
                                             .text = "not " SECRET},
                         &set));
    ok(ramet_overlay_set(
        T.call, "f",
        &(ramet_overlay_in){.entry_id = "y", .action = RAMET_OVERLAY_REPLACE, .text = "kept"},
        &set));
    ramet_page page;
    ramet_read_in context = {.limit = 100, .view = RAMET_VIEW_CONTEXT};
    ok(ramet_read(T.call, "f", &context, &page)); /* the set is in the cache now */
    erase_it("s", "a");
    cr_assert_eq(went("overlays"), 1);
    cr_assert_eq(went("prompts"), 1);
    cr_assert_eq(went("errors"), 1);
    cr_assert_not(erase_anywhere("swordfish"));
    ok(ramet_read(T.call, "f", &context, &page));
    for (size_t i = 0; i < page.n; i++)
        cr_assert_null(strstr(page.entries[i].text, "swordfish"));
    cr_assert_str_eq(page.entries[1].text, "kept");
    ramet_overlay *list;
    size_t n;
    ok(ramet_overlays(T.call, "f", 0, &list, &n));
    cr_assert_eq(n, 2);
    for (size_t i = 0; i < n; i++)
        cr_assert(!list[i].text || !strstr(list[i].text, "swordfish"));
    cr_assert_str_eq(get("s")->title, "");
    sound();
}

Test(erase, the_raw_events_of_the_turn_go)
{
    make("s");
    say("s", "a");
    put("s", &(ramet_entry_in){.id = "q", .role = RAMET_USER, .text = SECRET, .turn_id = "t"});
    ramet_append_out out;
    for (int i = 0; i < 4; i++) {
        char id[8], turn[8];
        snprintf(id, sizeof id, "k%d", i);
        snprintf(turn, sizeof turn, "%s", i == 1 || i == 2 ? "t" : i ? "u" : "r");
        ok(ramet_append(
            T.call, "s",
            &(ramet_append_in){.log = RAMET_LOG_ADK,
                               .entries = &(ramet_entry_in){.id = id,
                                                            .role = RAMET_USER,
                                                            .format = "adk",
                                                            .text = "x",
                                                            .turn_id = turn,
                                                            .body = "{\"p\":\"" SECRET "\"}"},
                               .n = 1},
            &out));
    }
    erase_it("s", "q");
    cr_assert_eq(went("raw events"), 2);
    cr_assert_eq(sql_number("SELECT count(*) FROM entry WHERE body LIKE '%" SECRET "%'"), 2,
                 "those of other turns stay");
    sound();
}

/* ---- clients that repeat themselves */

Test(erase, the_same_id_again_brings_nothing_back)
{
    ramet_append_out out;
    ramet_sync_out synced;
    make("s");
    ask("s", "a", SECRET);
    say("s", "b");
    erase_it("s", "a");
    ramet_entry_in in = {.id = "a", .role = RAMET_USER, .text = SECRET};
    ok(ramet_append(T.call, "s", &(ramet_append_in){.entries = &in, .n = 1}, &out));
    cr_assert_eq(out.added, 0);
    cr_assert_not_null(out.entries[0].erased);
    ramet_entry_in list[] = {{.id = "a", .role = RAMET_USER, .text = SECRET},
                             {.id = "b", .role = RAMET_USER, .text = "text of b"},
                             {.id = "c", .role = RAMET_USER, .text = "new"}};
    ok(ramet_sync(T.call, "s", list, 3, NULL, &synced));
    cr_assert_str_eq(ids("s"), "a b c");
    is_erased("s", "a");
    cr_assert_not(erase_anywhere(SECRET));
    /* A client that has read the placeholder, and knows no ids. */
    ramet_entry_in shown[] = {{.role = RAMET_USER, .text = RAMET_ERASED_TEXT},
                              {.role = RAMET_USER, .text = "text of b"}};
    ok(ramet_sync(T.call, "s", shown, 2, NULL, &synced));
    cr_assert_str_eq(ids("s"), "a b");
    is_erased("s", "a");
    sound();
}

static void answer_secret(void *arg, int *status, const char **bytes, size_t *n)
{
    (void)arg;
    *status = 201;
    *bytes = SECRET;
    *n = sizeof SECRET - 1;
}

static ramet_status tag_once(const char *scope, const char *session, ramet_once *once)
{
    static const char *const tags[] = {"blue"};
    *once = (ramet_once){.scope = scope, .key = "k", .answer = answer_secret};
    ramet_call_once(T.call, once);
    return ramet_tags_add(T.call, session, tags, 1, NULL);
}

Test(erase, kept_answers_go_and_are_not_executed_again)
{
    ramet_once once;
    make("s");
    make("other");
    ask("s", "a", SECRET);
    ok(tag_once("POST /ramet/v1/sessions/s/tags", "s", &once));
    ok(tag_once("POST /ramet/v1/sessions/other/tags", "other", &once));
    erase_it("s", "a");
    cr_assert_eq(went("kept answers"), 1);
    refused(RAMET_ANSWER_ERASED, "idempotency_key",
            tag_once("POST /ramet/v1/sessions/s/tags", "s", &once));
    ok(tag_once("POST /ramet/v1/sessions/other/tags", "other", &once));
    cr_assert(once.repeated);
    sound();
}

/* The key of an administrator's request is kept by a scope that names the administrator. */
Test(erase, the_name_in_the_scope_of_a_key_goes)
{
    ramet_once once;
    make("s");
    ok(tag_once("POST /ramet/v1/store/gc by carlos", "s", &once));
    ok(tag_once("POST /ramet/v1/store/gc by don carlos", "s", &once));
    ok(ramet_erase(T.call, &(ramet_erase_in){.user = "carlos"}, &erase_receipt));
    cr_assert_eq(sql_number("SELECT count(*) FROM once WHERE scope LIKE '% by carlos'"), 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM once"), 1);
}

/* ---- sessions, trees, users */

Test(erase, a_session_goes_with_its_texts_and_its_forks_see_it)
{
    make("s");
    say("s", "a b");
    fork_at("s", NULL, "f");
    say("f", "c");
    ok(ramet_session_update(
        T.call, "f", &(ramet_session_patch){.title = "purple", .metadata = "{\"note\":\"purple\"}"},
        &patched));
    fork_at("f", NULL, "g");
    say("g", "d");
    tick(SECOND);
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = "f"}, &erase_receipt));
    cr_assert_eq(erase_receipt->entries, 1);
    cr_assert_eq(stayed("inherited"), 2);
    is_erased("f", "c");
    is_erased("g", "c");
    cr_assert_null(entry_of("f", "a")->erased);
    cr_assert_null(entry_of("g", "d")->erased);
    cr_assert_not(erase_anywhere("purple"));
    sound();
}

Test(erase, a_tree_without_the_private_sessions_of_others)
{
    make("s");
    say("s", "a");
    join("s", "bob", RAMET_MANAGER);
    fork_at("s", NULL, "f");
    say("f", "b");
    ramet_session *p;
    ok_for(as("ann"),
           ramet_fork(as("ann"), "s", &(ramet_fork_in){.id = "p", .visibility = RAMET_PRIVATE}, &p,
                      NULL));
    say("p", "c");
    const char *tree = get("s")->tree_id;
    ok_for(as("bob"), ramet_erase(as("bob"), &(ramet_erase_in){.tree = tree}, &erase_receipt));
    cr_assert_eq(erase_receipt->entries, 2);
    is_erased("p", "a");
    cr_assert_null(entry_of("p", "c")->erased);
    ok(ramet_erase(T.call, &(ramet_erase_in){.tree = tree}, &erase_receipt));
    cr_assert_eq(erase_receipt->entries, 1);
    cr_assert_eq(erase_receipt->already, 2);
    is_erased("p", "c");
    sound();
}

void erase_user_stage(void)
{
    ramet_session *p;
    ramet_share *link;
    make("s"); /* ann's */
    put("s", &(ramet_entry_in){.id = "a", .role = RAMET_USER, .text = "hello", .author = "ann"});
    join("s", "carlos", RAMET_WRITER);
    put("s", &(ramet_entry_in){.id = "b", .role = RAMET_USER, .text = SECRET, .author = "carlos"});
    answer("s", "c", "fine");
    ok_for(as("carlos"), ramet_fork(as("carlos"), "s", &(ramet_fork_in){.id = "f"}, &p, NULL));
    put("f", &(ramet_entry_in){.id = "d", .role = RAMET_USER, .text = SECRET, .author = "carlos"});
    put("f", &(ramet_entry_in){.id = "e", .role = RAMET_USER, .text = "mine", .author = "ann"});
    ok_for(as("carlos"), ramet_feedback_set(as("carlos"), "s", "a", 1, "thanks"));
    ok_for(as("carlos"), ramet_share_add(as("carlos"), "f", false, 0, &link));
    ok_for(as("carlos"),
           ramet_rewind(as("carlos"), "f", &(ramet_move_in){.at = {.entry_id = "e"}}, &p, NULL));
    ramet_overlay_out set;
    ok_for(as("carlos"),
           ramet_overlay_set(as("carlos"), "f",
                             &(ramet_overlay_in){.entry_id = "a", .action = RAMET_OVERLAY_HIDE},
                             &set));
}

Test(erase, a_user_is_named_nowhere_afterwards)
{
    erase_user_stage();
    cr_assert(erase_anywhere("carlos"));
    ok(ramet_erase(T.call, &(ramet_erase_in){.user = "carlos", .dry_run = true}, &erase_receipt));
    cr_assert_eq(erase_receipt->entries, 2);
    cr_assert(erase_anywhere("carlos"));
    ok(ramet_erase(T.call, &(ramet_erase_in){.user = "carlos", .by = "root"}, &erase_receipt));
    cr_assert_eq(erase_receipt->entries, 2);
    cr_assert_eq(stayed("other users"), 1);
    cr_assert_not(erase_anywhere("carlos"));
    cr_assert_not(erase_anywhere(SECRET));
    is_erased("s", "b");
    is_erased("f", "d");
    cr_assert_null(entry_of("s", "a")->erased);
    cr_assert_null(entry_of("s", "c")->erased);
    cr_assert_null(entry_of("f", "e")->erased);
    cr_assert_eq(strncmp(get("f")->owner, "erased-", 7), 0);
    ramet_session *s;
    ramet_call *gone = as("carlos");
    refused_for(gone, RAMET_HIDDEN, "session", ramet_session_get(gone, "s", &s));
    sound();
}

/* ---- who may, holds, turns, shapes */

Test(erase, who_may)
{
    link_stage(); /* ann's; eve is no member */
    join("s", "bob", RAMET_WRITER);
    join("s", "max", RAMET_MANAGER);
    not_erased(as("bob"), RAMET_FORBIDDEN, "entry_id",
               &(ramet_erase_in){.session = "s", .entry_id = "a"});
    not_erased(as("eve"), RAMET_HIDDEN, "session",
               &(ramet_erase_in){.session = "s", .entry_id = "a"});
    not_erased(as("bob"), RAMET_FORBIDDEN, "session", &(ramet_erase_in){.session = "s"});
    not_erased(as("bob"), RAMET_FORBIDDEN, "tree", &(ramet_erase_in){.tree = get("s")->tree_id});
    not_erased(as("eve"), RAMET_TREE_NOT_FOUND, "tree",
               &(ramet_erase_in){.tree = get("s")->tree_id});
    not_erased(as("max"), RAMET_FORBIDDEN, NULL, &(ramet_erase_in){.user = "bob"});
    not_erased(as("max"), RAMET_FORBIDDEN, NULL,
               &(ramet_erase_in){.session = "s", .by = "another"});
    /* A private fork gives no right over what it shares. */
    ramet_session *p;
    ok_for(as("bob"),
           ramet_fork(as("bob"), "s", &(ramet_fork_in){.id = "bobs", .visibility = RAMET_PRIVATE},
                      &p, NULL));
    put("bobs", &(ramet_entry_in){.id = "own", .role = RAMET_USER, .text = "x"});
    not_erased(as("bob"), RAMET_FORBIDDEN, "entry_id",
               &(ramet_erase_in){.session = "bobs", .entry_id = "a"});
    ok_for(as("bob"),
           ramet_erase(as("bob"), &(ramet_erase_in){.session = "bobs", .entry_id = "own"},
                       &erase_receipt));
    ok_for(as("max"), ramet_erase(as("max"), &(ramet_erase_in){.session = "s", .entry_id = "a"},
                                  &erase_receipt));
    cr_assert_str_eq(erase_receipt->by, "max");
    /* The holder of a link sees that it was erased, not by whom. */
    ramet_call *guest = link_hold("eve", link_make("s", false, 0));
    ramet_entry *e;
    ok_for(guest, ramet_entry_get(guest, "s", 0, "a", &e));
    cr_assert_not_null(e->erased);
    cr_assert_null(e->erased->by);
    ramet_erasure *list;
    size_t n;
    ok_for(guest, ramet_erasures(guest, "s", 0, &list, &n));
    cr_assert_eq(n, 1);
    cr_assert_null(list[0].by);
}

Test(erase, a_hold_or_a_running_turn_refuses_it)
{
    ramet_hold *hold;
    make("s");
    ask("s", "a", SECRET);
    fork_at("s", NULL, "f");
    ok(ramet_hold_set(T.call, "f", &(ramet_hold_in){.reason = "a case"}, &hold));
    not_erased(T.call, RAMET_HELD, "session", &(ramet_erase_in){.session = "s", .entry_id = "a"});
    not_erased(T.call, RAMET_HELD, "session", &(ramet_erase_in){.session = "s"});
    not_erased(T.call, RAMET_HELD, "session",
               &(ramet_erase_in){.session = "s", .entry_id = "a", .dry_run = true});
    ok(ramet_hold_release(T.call, "f", &(ramet_hold_in){0}));
    turn_start("f", &(ramet_turn_in){.id = "t1", MESSAGE("q")});
    not_erased(T.call, RAMET_TURN_RUNNING_ALREADY, NULL,
               &(ramet_erase_in){.session = "s", .entry_id = "a"});
    turn_stop("t1", RAMET_TURN_DONE);
    erase_it("s", "a");
}

Test(erase, bad_shapes_name_the_field)
{
    static char reason[2002];
    make("s");
    say("s", "a");
    memset(reason, 'r', sizeof reason - 1);
    not_erased(T.call, RAMET_INVALID, "erase", &(ramet_erase_in){0});
    not_erased(T.call, RAMET_INVALID, "erase", &(ramet_erase_in){.entry_id = "a"});
    not_erased(T.call, RAMET_INVALID, "erase", &(ramet_erase_in){.session = "s", .user = "ann"});
    not_erased(T.call, RAMET_INVALID, "erase", &(ramet_erase_in){.session = "s", .branch = 1});
    not_erased(T.call, RAMET_ENTRY_NOT_FOUND, "entry_id",
               &(ramet_erase_in){.session = "s", .entry_id = "none"});
    not_erased(T.call, RAMET_SESSION_NOT_FOUND, "session", &(ramet_erase_in){.session = "none"});
    not_erased(T.call, RAMET_TREE_NOT_FOUND, "tree", &(ramet_erase_in){.tree = "none"});
    not_erased(T.call, RAMET_BAD_ID, "user", &(ramet_erase_in){.user = ""});
    not_erased(T.call, RAMET_REASON_TOO_LONG, "reason",
               &(ramet_erase_in){.session = "s", .reason = reason});
}

Test(erase, a_dry_run_counts_and_changes_nothing)
{
    ramet_merge_out out;
    make("s");
    say("s", "a b");
    fork_at("s", "a", "f");
    ramet_merge_pick pick = {.entry_id = "b"};
    ok(ramet_merge(T.call, "f",
                   &(ramet_merge_in){.from = "s", .mode = RAMET_PICK, .picks = &pick, .n_picks = 1},
                   &out));
    const char *before = mark();
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = "s", .entry_id = "b", .dry_run = true},
                   &erase_receipt));
    cr_assert_str_eq(mark(), before);
    cr_assert(erase_receipt->dry_run);
    cr_assert_eq(erase_receipt->entries, 2);
    cr_assert_eq(erase_receipt->n_places, 2);
    erase_it("s", "b");
    cr_assert_eq(erase_receipt->entries, 2);
}

/* ---- gc, undo, compare, versions */

Test(erase, moves_and_gc_go_on_over_an_erased_entry)
{
    ramet_session *s;
    ramet_gc_out gone;
    make("s");
    say("s", "a b c");
    rewind_to("s", "a");
    say("s", "d");
    int64_t old = get("s")->head.branch;
    erase_it("s", "d");
    ok(ramet_undo(T.call, "s", NULL, &s));
    cr_assert_str_eq(ids("s"), "a b c");
    ok(ramet_redo(T.call, "s", NULL, &s));
    cr_assert_eq(get("s")->head.branch, old);
    is_erased("s", "d");
    fork_at("s", NULL, "f");
    drop("s");
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    is_erased("f", "d");
    sound();
    drop("f");
    tick(30 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(sql_number("SELECT count(*) FROM erased"), 0);
    sound();
}

/* ---- an interrupted one */

Test(erase, an_interrupted_one_goes_on_with_the_next_call)
{
    int64_t n;
    char sql[600];
    make("s");
    ask("s", "a", SECRET);
    int64_t tree = sql_number("SELECT tree FROM session WHERE id='s'");
    int64_t no = sql_number("SELECT no FROM session WHERE id='s'");
    snprintf(
        sql, sizeof sql,
        "INSERT INTO meta(key,value) VALUES('erase x','{\"kind\":2,\"at\":%lld,\"person\":false,"
        "\"tree\":%lld,\"session\":%lld,\"k\":0,\"who\":\"root\",\"why\":\"w\"}')",
        (long long)T.now, (long long)tree, (long long)no);
    sql_run(T.path, sql);
    ok(ramet_erase_resume(T.call, &n));
    cr_assert_eq(n, 1);
    is_erased("s", "a");
    cr_assert_str_eq(entry_of("s", "a")->erased->by, "root");
    cr_assert_not(erase_anywhere("swordfish"));
    cr_assert_eq(sql_number("SELECT count(*) FROM meta WHERE key LIKE 'erase%'"), 0);
    ok(ramet_erase_resume(T.call, &n));
    cr_assert_eq(n, 0);
    sound();
}

/* Erases an entry in a process of its own; the store must be shut here. */
static pid_t erase_aside(const ramet_options *opt, const char *id)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    ramet *r;
    ramet_error err;
    ramet_receipt *x;
    if (ramet_open(T.path, opt, &r, &err) != RAMET_OK)
        _exit(1);
    ramet_erase(ramet_call_new(r, NULL, NULL), &(ramet_erase_in){.session = "s", .entry_id = id},
                &x);
    _exit(0);
}

/* A number of the store while another process writes it anew: -1 when it cannot be read now. */
static int64_t number_meanwhile(const char *sql)
{
    if (T.database)
        return sql_number(sql);
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    int64_t v = -1;
    if (sqlite3_open_v2(T.path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
        v = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return v;
}

/* Kills the process as soon as the store shows that it is there: it was begun (0), its note is
 * written (1), the content is gone (2); or lets it end (3). */
static void kill_when(pid_t pid, int stage, const char *id)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM entry WHERE id='%s' AND text IS NULL", id);
    const char *sign = stage == 1 ? "SELECT count(*) FROM meta WHERE key LIKE 'erase%'" : sql;
    bool there = stage == 0, ended = false;
    while (stage < 3 && !there && !ended) {
        there = number_meanwhile(sign) > 0;
        ended = !there && waitpid(pid, NULL, WNOHANG) == pid;
    }
    if (there)
        kill(pid, SIGKILL);
    if (!ended)
        waitpid(pid, NULL, 0);
}

/* Killed at any moment, an erasure is either not begun, or the next start ends it. Goes on until
 * one was caught in the middle. */
Test(erase, killed_in_the_middle, .timeout = 120)
{
    int64_t n, resumed = 0, finished = 0;
    make("s");
    for (int i = 0; i < 300; i++) {
        char id[16];
        snprintf(id, sizeof id, "e%d", i);
        ask("s", id, "x " SECRET);
    }
    cr_assert_eq(erase_hits("swordfish"), 50);
    for (int round = 0; round < 12 || !resumed; round++) {
        char id[16];
        cr_assert_lt(round, 300, "none was caught in the middle");
        snprintf(id, sizeof id, "e%d", round);
        ramet_options opt = scratch_options();
        scratch_shut();
        kill_when(erase_aside(&opt, id), round % 4, id);
        scratch_reopen(&opt);
        ok(ramet_erase_resume(T.call, &n));
        resumed += n;
        finished += entry_of("s", id)->erased != NULL;
        cr_assert_eq(sql_number("SELECT count(*) FROM meta WHERE key LIKE 'erase%'"), 0);
        cr_assert_eq(sql_number("SELECT count(*) FROM entry WHERE text LIKE '%" SECRET "%'"),
                     300 - finished);
        sound();
    }
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = "s"}, &erase_receipt));
    cr_assert_not(erase_anywhere("swordfish"));
    cr_assert_eq(erase_hits("swordfish"), 0);
    sound();
}

/* ---- fsck */

Test(erase, fsck_finds_what_is_wrong_with_an_erased_entry)
{
    ramet_fsck_out out;
    make("s");
    say("s", "a b");
    erase_it("s", "a");
    sql_run(T.path, "UPDATE entry SET text='back' WHERE id='a'");
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n, 1);
    cr_assert_not_null(strstr(out.faults[0].what, "erased and still has content"));
    sql_run(T.path, "UPDATE entry SET text=NULL WHERE id='a'");
    sound();
    sql_run(T.path, "DELETE FROM erased");
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_gt(out.n, 0);
    ramet_page page;
    refused(RAMET_DAMAGED, NULL, ramet_read(T.call, "s", &(ramet_read_in){.limit = 10}, &page));
}
