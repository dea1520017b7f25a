/* SPDX-License-Identifier: Apache-2.0
 *
 * How far an erasure reaches: copies of copies that gc has parted, and the raw events of a turn.
 */
#include "attach.h"
#include "erase.h"

#include "ramet/merge.h"
#include "ramet/retention.h"

#include <stdio.h>
#include <string.h>

TestSuite(erase_reach, .init = scratch_open, .fini = scratch_close);

static ramet_merge_out merged;

/* The id of the last entry, in the call's memory of the test. */
static const char *last_of(const char *session)
{
    static char ids[4][64];
    static int n;
    char *id = ids[n++ % 4];
    snprintf(id, sizeof ids[0], "%s", get(session)->head.entry_id);
    return id;
}

static const char *pick(const char *into, const char *from, const char *entry)
{
    ramet_merge_pick one = {.session = from, .entry_id = entry};
    tick(SECOND);
    ok(ramet_merge(T.call, into,
                   &(ramet_merge_in){.from = from, .mode = RAMET_PICK, .picks = &one, .n_picks = 1},
                   &merged));
    return last_of(into);
}

static void collect(const char *session)
{
    ramet_gc_out gone;
    drop(session);
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_gt(gone.entries, 0);
}

static bool is_erased(const char *session, const char *id)
{
    ramet_entry *e;
    ok(ramet_entry_get(T.call, session, 0, id, &e));
    return e->erased != NULL;
}

static const char *origin_of(const char *session, const char *id)
{
    ramet_entry_ref *list;
    size_t n;
    ok(ramet_origins(T.call, session, 0, id, &list, &n));
    return n == 1 ? list[0].entry_id : "";
}

/* s has the secret x; m has a copy of it, and t a copy of that. */
static const char *copies(void)
{
    make("s");
    say("s", "a");
    fork_at("s", NULL, "m");
    fork_at("s", NULL, "t");
    ask("s", "x", SECRET);
    return pick("t", "m", pick("m", "s", "x"));
}

Test(erase_reach, a_copy_of_a_copy_that_gc_took)
{
    const char *copy = copies();
    ramet_entry_ref *list;
    size_t n;
    collect("m");
    cr_assert_str_eq(origin_of("t", copy), "x",
                     "the first origin takes the place of the one between");
    ok(ramet_destinations(T.call, "s", 0, "x", &list, &n));
    cr_assert_eq(n, 1);
    cr_assert_str_eq(list[0].session, "t");
    erase_it("s", "x");
    cr_assert(is_erased("t", copy));
    cr_assert_eq(erase_hits("swordfish"), 0);
    sound();
}

Test(erase_reach, a_copy_behind_two_that_gc_took)
{
    copies();
    fork_at("s", "a", "u");
    const char *copy = pick("u", "t", last_of("t"));
    collect("t");
    collect("m");
    cr_assert_str_eq(origin_of("u", copy), "x");
    erase_it("s", "x");
    cr_assert(is_erased("u", copy));
    sound();
}

/* The copy that goes is the last entry, and then the first one, of what a summary stands for. */
Test(erase_reach, a_summary_of_copies_that_gc_took)
{
    make("s");
    say("s", "a");
    fork_at("s", NULL, "m");
    ask("s", "x", SECRET);
    say("s", "y");
    pick("m", "s", "x");
    say("m", "between");
    pick("m", "s", "y");
    make("o");
    tick(SECOND);
    ok(ramet_merge(T.call, "o",
                   &(ramet_merge_in){.from = "m", .mode = RAMET_LAND, .text = "about " SECRET},
                   &merged));
    const char *summary = last_of("o");
    collect("m");
    cr_assert_str_eq(origin_of("o", summary), "y");
    sound();
    erase_it("s", "x");
    cr_assert(is_erased("o", summary));
    cr_assert_not(is_erased("s", "y"));
    sound();
}

/* ---- raw events */

static void event(const char *session, const char *id, const char *turn)
{
    ramet_append_out out;
    tick(SECOND);
    ok(ramet_append(T.call, session,
                    &(ramet_append_in){.log = RAMET_LOG_ADK,
                                       .entries = &(ramet_entry_in){.id = id,
                                                                    .role = RAMET_ASSISTANT,
                                                                    .format = "adk",
                                                                    .turn_id = turn,
                                                                    .body = "{}"},
                                       .n = 1},
                    &out));
}

/* The ids of the events that are erased. */
static const char *erased_events(const char *session)
{
    static char all[256];
    ramet_page page;
    size_t n = 0;
    all[0] = 0;
    ok(ramet_read(T.call, session, &(ramet_read_in){.log = RAMET_LOG_ADK, .limit = 100}, &page));
    for (size_t i = 0; i < page.n; i++)
        if (page.entries[i].erased)
            n +=
                (size_t)snprintf(all + n, sizeof all - n, "%s%s", n ? " " : "", page.entries[i].id);
    return all;
}

static void question(const char *session, const char *id, const char *turn)
{
    put(session, &(ramet_entry_in){.id = id, .role = RAMET_USER, .text = SECRET, .turn_id = turn});
}

Test(erase_reach, the_events_of_turns_that_ran_side_by_side)
{
    make("s");
    question("s", "q", "t");
    event("s", "t1", "t");
    event("s", "u1", "u");
    event("s", "t2", "t");
    event("s", "t3", NULL);
    event("s", "u2", "u");
    event("s", "u3", NULL);
    erase_it("s", "q");
    cr_assert_str_eq(erased_events("s"), "t1 t2 t3");
    sound();
}

Test(erase_reach, the_events_of_a_turn_that_a_fork_went_on_with)
{
    make("s");
    question("s", "q", "t");
    event("s", "t1", "t");
    fork_at("s", NULL, "f");
    event("f", "f1", "t");
    event("f", "f2", "u");
    fork_at("f", NULL, "g");
    event("g", "g1", "t");
    erase_it("s", "q");
    cr_assert_str_eq(erased_events("s"), "t1");
    cr_assert_str_eq(erased_events("f"), "t1 f1");
    cr_assert_str_eq(erased_events("g"), "t1 f1 g1");
    sound();
}

Test(erase_reach, a_hold_on_a_session_that_has_only_an_event)
{
    ramet_hold *hold;
    make("s");
    question("s", "q", "t");
    event("s", "t1", "t");
    fork_at("s", NULL, "f");
    rewind_to("f", NULL);
    event("f", "f1", "t");
    ok(ramet_hold_set(T.call, "f", &(ramet_hold_in){.reason = "a case"}, &hold));
    const char *before = mark();
    refused(
        RAMET_HELD, "session",
        ramet_erase(T.call, &(ramet_erase_in){.session = "s", .entry_id = "q"}, &erase_receipt));
    cr_assert_str_eq(mark(), before);
    ok(ramet_hold_release(T.call, "f", &(ramet_hold_in){0}));
    erase_it("s", "q");
    cr_assert_str_eq(erased_events("f"), "t1 f1");
}

/* Forks show what a session appended that gc has removed since. */
Test(erase_reach, a_tree_with_what_gc_left_of_a_session)
{
    ramet_session *f;
    ramet_gc_out gone;
    make("s");
    ask("s", "a", SECRET);
    fork_at("s", NULL, "f");
    drop("s");
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &gone));
    cr_assert_eq(gone.sessions, 1);
    ok(ramet_session_get(T.call, "f", &f));
    ok(ramet_erase(T.call, &(ramet_erase_in){.tree = f->tree_id}, &erase_receipt));
    cr_assert_eq(erase_receipt->entries, 1);
    cr_assert_eq(erase_receipt->elsewhere, 1);
    cr_assert_not(erase_anywhere(SECRET));
    sound();
}
