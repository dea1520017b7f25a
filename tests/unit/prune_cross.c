/* SPDX-License-Identifier: Apache-2.0
 *
 * prune_cross.c: pruned branches and what else knows of branches: merges and the copies they make,
 * overlays, what agents were sent, idempotency keys, exports.
 */
#include "help.h"
#include "ramet/branches.h"
#include "ramet/export.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "turn.h"

#include "../lib/scratch_db.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(prune_cross, .init = scratch_open, .fini = scratch_close);

static int64_t head_of(const char *session)
{
    return get(session)->head.branch;
}

static ramet_prune_out prune(const char *session, int64_t branch)
{
    ramet_prune_out out;
    ok(ramet_prune(T.call, session, &(ramet_prune_in){.branch = branch}, &out));
    return out;
}

static void needed(const char *session, int64_t branch, const char *why)
{
    ramet_prune_out out;
    refused(RAMET_BRANCH_NEEDED, "branch_id",
            ramet_prune(T.call, session, &(ramet_prune_in){.branch = branch}, &out));
    cr_assert(strstr(ramet_call_error(T.call)->message, why), "%s",
              ramet_call_error(T.call)->message);
}

static void restore(const char *session, int64_t branch)
{
    ramet_prune_out out;
    ok(ramet_branch_restore(T.call, session, branch, false, &out));
}

static void merge(const char *into, ramet_merge_mode mode, const char *from)
{
    ramet_merge_out out;
    ok(ramet_merge(T.call, into, &(ramet_merge_in){.mode = mode, .from = from}, &out));
}

static void undo(const char *session)
{
    ramet_session *s;
    ok(ramet_undo(T.call, session, NULL, &s));
}

static int64_t hide(const char *session, const char *entry)
{
    ramet_overlay_out out;
    ok(ramet_overlay_set(T.call, session,
                         &(ramet_overlay_in){.entry_id = entry,
                                             .action = RAMET_OVERLAY_REPLACE,
                                             .text = "something else"},
                         &out));
    return head_of(session);
}

static ramet_gc_out gc(void)
{
    ramet_gc_out out;
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &out));
    return out;
}

static void sound(ramet_call *c)
{
    ramet_fsck_out out;
    ok_for(c, ramet_fsck(c, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

static int versions_at(const char *session, int64_t position)
{
    ramet_page page;
    ok(ramet_read(T.call, session, &(ramet_read_in){.versions = true}, &page));
    return page.entries[position].versions;
}

/* s: a b; f is a fork of it, with c d of its own */
static void grow(void)
{
    make("s");
    say("s", "a b");
    fork_at("s", "b", "f");
    say("f", "c d");
}

/* ---------------------------------------------------------------------- merges */

Test(prune_cross, a_fast_forward_needs_the_branch_that_it_stands_on)
{
    grow();
    int64_t first = head_of("f");
    merge("s", RAMET_FAST_FORWARD, "f");
    rewind_to("f", "b");
    needed("f", first, "session s needs its entries 3 to 4");
    undo("s");
    needed("f", first, "session s needs its entries 3 to 4");
    ramet_branch *b;
    size_t n;
    ok(ramet_branches(T.call, "s", &b, &n));
    cr_assert_eq(n, 2, "the branch that the undo left can be gone back to");
    cr_assert_eq(prune("s", b[1].id).entries, 0, "it has none of its own");
    cr_assert_eq(prune("f", first).entries, 2);
    cr_assert_eq(gc().entries, 2);
    cr_assert_str_eq(ids("s"), "a b");
    cr_assert_str_eq(ids("f"), "a b");
    sound(T.call);
}

Test(prune_cross, the_way_of_a_fast_forward_back_is_pruned_with_it)
{
    ramet_session *s;
    grow();
    merge("s", RAMET_FAST_FORWARD, "f");
    say("s", "e");
    int64_t merged = head_of("s");
    undo("s");
    say("s", "x");
    cr_assert_eq(versions_at("s", 2), 2, "what the merge brought, and x");
    cr_assert_eq(prune("s", merged).entries, 1, "c and d are not its own");
    cr_assert_eq(versions_at("s", 2), 1);
    refused(RAMET_BRANCH_PRUNED, "branch_id", ramet_switch(T.call, "s", merged, NULL, &s));
    restore("s", merged);
    cr_assert_eq(versions_at("s", 2), 2);
    prune("s", merged);
    cr_assert_eq(gc().entries, 1);
    cr_assert_str_eq(ids("f"), "a b c d", "the source keeps what it shared");
    cr_assert_str_eq(get("f")->merged_into, "s");
    sound(T.call);
}

Test(prune_cross, a_pruned_branch_is_no_source)
{
    ramet_merge_out out;
    grow();
    int64_t first = head_of("f");
    rewind_to("f", "c");
    prune("f", first);
    refused(RAMET_BRANCH_PRUNED, "from",
            ramet_merge(T.call, "s",
                        &(ramet_merge_in){.mode = RAMET_SPLICE, .from = "f", .from_branch = first},
                        &out));
    ramet_merge_pick pick = {.session = "f", .branch = first, .entry_id = "d"};
    refused(RAMET_BRANCH_PRUNED, "entries[0].session_id",
            ramet_merge(T.call, "s",
                        &(ramet_merge_in){.mode = RAMET_PICK, .picks = &pick, .n_picks = 1}, &out));
    cr_assert_str_eq(ids("s"), "a b");
}

Test(prune_cross, copies_do_not_name_what_was_pruned)
{
    ramet_page page;
    ramet_entry_ref *refs;
    size_t n;
    grow();
    int64_t first = head_of("f");
    merge("s", RAMET_SPLICE, "f");
    int64_t copies = head_of("s");
    rewind_to("f", "c");
    prune("f", first);
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.n, 4, "a copy is an entry of its own");
    cr_assert_eq(page.entries[2].n_origins, 1);
    cr_assert(page.entries[3].copied);
    cr_assert_eq(page.entries[3].n_origins, 0, "d was pruned");
    restore("f", first);
    ok(ramet_read(T.call, "s", &(ramet_read_in){0}, &page));
    cr_assert_eq(page.entries[3].n_origins, 1);
    undo("s");
    ok(ramet_destinations(T.call, "f", 0, "c", &refs, &n));
    cr_assert_eq(n, 1, "on a branch that can be gone back to");
    prune("s", copies);
    ok(ramet_destinations(T.call, "f", 0, "c", &refs, &n));
    cr_assert_eq(n, 0);
    cr_assert_eq(gc().entries, 2);
    cr_assert_eq(sql_number("SELECT count(*) FROM copied"), 0);
    sound(T.call);
}

/* -------------------------------------------------------------------- overlays */

Test(prune_cross, overlays_of_pruned_branches_go_with_gc)
{
    ramet_overlay *list;
    size_t n;
    make("s");
    say("s", "a b c");
    int64_t plain = head_of("s");
    int64_t with = hide("s", "a");
    say("s", "d");
    ramet_session *s;
    ok(ramet_switch(T.call, "s", plain, NULL, &s));
    say("s", "e");
    int64_t other = hide("s", "b");
    cr_assert_eq(prune("s", with).entries, 1);
    refused(RAMET_BRANCH_PRUNED, "branch_id", ramet_overlays(T.call, "s", with, &list, &n));
    sound(T.call);
    cr_assert_eq(sql_number("SELECT count(*) FROM overlay WHERE text IS NOT NULL"), 2);
    cr_assert_eq(gc().entries, 1);
    cr_assert_eq(sql_number("SELECT count(*) FROM overlay WHERE text IS NOT NULL"), 1);
    sound(T.call);
    ok(ramet_overlays(T.call, "s", other, &list, &n));
    cr_assert_eq(n, 1);
    cr_assert_str_eq(list[0].entry_id, "b");
}

Test(prune_cross, an_overlay_stays_while_a_branch_has_it_in_force)
{
    ramet_overlay *list;
    size_t n;
    ramet_page page;
    make("s");
    say("s", "a b c");
    int64_t with = hide("s", "a");
    say("s", "d");
    rewind_to("s", "c"); /* takes the set over */
    cr_assert_eq(prune("s", with).entries, 1);
    cr_assert_eq(gc().entries, 1);
    ok(ramet_overlays(T.call, "s", 0, &list, &n));
    cr_assert_eq(n, 1);
    ok(ramet_read(T.call, "s", &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}, &page));
    cr_assert_str_eq(page.entries[0].text, "something else");
    sound(T.call);
}

/* --------------------------------------------------------------------- prompts */

Test(prune_cross, prompts_of_pruned_branches)
{
    ramet_turn *t;
    ramet_append_out out;
    ramet_prompt *prompt;
    make("s");
    say("s", "a");
    ok(ramet_turn_begin(T.call, "s", &(ramet_turn_in){.id = "t", MESSAGE("q")}, &t, &out));
    ramet_call_prompt(T.call, &(ramet_prompt_in){.agent = "echo", .length = 2, .data = "{}"});
    ok(ramet_turn_end(T.call, "t", RAMET_TURN_DONE, NULL, NULL, 0, &out));
    ramet_call_prompt(T.call, NULL);
    int64_t asked = head_of("s");
    rewind_to("s", "a");
    ok(ramet_turn_prompt(T.call, "s", "t", &prompt));
    cr_assert(prompt->known);
    prune("s", asked);
    refused(RAMET_BRANCH_PRUNED, "branch_id", ramet_turn_prompt(T.call, "s", "t", &prompt));
    restore("s", asked);
    ok(ramet_turn_prompt(T.call, "s", "t", &prompt));
    prune("s", asked);
    gc();
    refused(RAMET_BRANCH_PRUNED, "branch_id", ramet_turn_prompt(T.call, "s", "t", &prompt));
    cr_assert_eq(sql_number("SELECT count(*) FROM prompt"), 0);
    sound(T.call);
}

/* --------------------------------------------------------------------- exports */

typedef struct file {
    char text[1 << 16];
    size_t n;
} file;

static bool file_take(void *arg, const void *bytes, size_t n)
{
    file *f = arg;
    cr_assert_lt(f->n + n, sizeof f->text);
    memcpy(f->text + f->n, bytes, n);
    f->n += n;
    f->text[f->n] = 0;
    return true;
}

static void export_to(ramet_call *c, const ramet_export_in *in, file *f)
{
    ramet_export_out out;
    f->n = 0;
    f->text[0] = 0;
    ok_for(c, ramet_export(c, in, file_take, f, NULL, NULL, &out));
}

static ramet_status import_from(ramet_call *c, const file *f)
{
    ramet_import *m;
    ramet_import_out out;
    ok_for(c, ramet_import_begin(c, NULL, 0, &m));
    ok_for(c, ramet_import_add(m, f->text, f->n));
    ramet_status st = ramet_import_run(m, NULL, NULL, &out);
    ramet_import_close(m);
    return st;
}

static struct {
    ramet *store;
    ramet_call *call;
    char name[64];
} other;

static void other_open(void)
{
    char where[512];
    ramet_error err;
    ramet_options opt = scratch_options();
    snprintf(other.name, sizeof other.name, "pruned_%ld", (long)getpid());
    if (scratch_db_on())
        scratch_db_make(other.name, where, sizeof where);
    else
        snprintf(where, sizeof where, "%s/other.db", T.dir);
    cr_assert_eq(ramet_open(where, &opt, &other.store, &err), RAMET_OK, "%s", err.message);
    other.call = ramet_call_new(other.store, NULL, NULL);
}

static void other_close(void)
{
    ramet_call_free(other.call);
    ramet_close(other.store);
    if (scratch_db_on())
        scratch_db_drop(other.name);
}

/* Two prunes, a name, a favourite, and a branch that gc has removed. */
static void orchard(int64_t *first, int64_t *second)
{
    static const bool yes = true;
    ramet_branch *b;
    make("s");
    say("s", "a b c d");
    *first = head_of("s");
    rewind_to("s", "c");
    say("s", "x");
    prune("s", head_of("s") == *first ? 0 : *first);
    gc();
    *second = head_of("s");
    ok(ramet_branch_update(T.call, "s", *second,
                           &(ramet_branch_patch){.name = "by <train>", .favourite = &yes}, &b));
    rewind_to("s", "b");
    say("s", "y");
    int64_t third = head_of("s");
    ok(ramet_branch_update(T.call, "s", third, &(ramet_branch_patch){.name = "on *foot*"}, &b));
    rewind_to("s", "a");
    say("s", "z");
    prune("s", *second);
    sound(T.call);
}

Test(prune_cross, exports_carry_names_the_favourite_and_what_was_pruned)
{
    static file there, back;
    int64_t first, second;
    ramet_branch *b;
    size_t n;
    ramet_prune_out out;
    ramet_session *s;
    orchard(&first, &second);
    other_open();
    export_to(T.call, &(ramet_export_in){0}, &there);
    cr_assert(strstr(there.text, "\"state\":\"removed\"") && strstr(there.text, "\"pruned\""));
    ok_for(other.call, import_from(other.call, &there));
    sound(other.call);
    export_to(other.call, &(ramet_export_in){0}, &back);
    cr_assert_str_eq(back.text, there.text);
    ok_for(other.call, ramet_branches_pruned(other.call, "s", &b, &n));
    cr_assert_eq(n, 2);
    cr_assert(b[0].removed && !b[1].removed);
    cr_assert_str_eq(b[1].name, "by <train>");
    refused_for(other.call, RAMET_BRANCH_PRUNED, "branch_id",
                ramet_branch_restore(other.call, "s", b[0].id, false, &out));
    int64_t id = b[1].id;
    ok_for(other.call, ramet_branch_restore(other.call, "s", id, true, &out));
    cr_assert_eq(out.n, 1, "the prunes are told apart");
    ok_for(other.call, ramet_session_get(other.call, "s", &s));
    cr_assert_eq(s->favourite, id);
    ok_for(other.call, ramet_switch(other.call, "s", id, NULL, &s));
    sound(other.call);
    ok_for(other.call, import_from(other.call, &there));
    other_close();
}

Test(prune_cross, texts_leave_out_what_was_pruned)
{
    static file text;
    int64_t first, second;
    ramet_export_out done;
    orchard(&first, &second);
    export_to(T.call, &(ramet_export_in){.session = "s", .format = RAMET_EXPORT_MARKDOWN}, &text);
    cr_assert(strstr(text.text, "### on \\*foot\\*, from message 2 on"), "%s", text.text);
    cr_assert_not(strstr(text.text, "train"));
    export_to(T.call, &(ramet_export_in){.session = "s", .format = RAMET_EXPORT_HTML}, &text);
    cr_assert(strstr(text.text, "on *foot*, from message 2 on"), "%s", text.text);
    cr_assert_not(strstr(text.text, "train"));
    refused(RAMET_BRANCH_PRUNED, NULL,
            ramet_export(T.call,
                         &(ramet_export_in){.session = "s", .branches = &second, .n_branches = 1},
                         file_take, &text, NULL, NULL, &done));
    export_to(T.call, &(ramet_export_in){.session = "s", .path = true}, &text);
    cr_assert_not(strstr(text.text, "branch_note"));
}

static void spoil(const file *good, const char *from, const char *to, file *out)
{
    const char *at = strstr(good->text, from);
    cr_assert(at, "%s", from);
    out->n = (size_t)snprintf(out->text, sizeof out->text, "%.*s%s%s", (int)(at - good->text),
                              good->text, to, at + strlen(from));
}

Test(prune_cross, damaged_notes_are_refused)
{
    static file good, bad;
    int64_t first, second;
    static const char *const changes[][2] = {
        {"\"favourite\":1", "\"favourite\":2"},
        {"\"state\":\"removed\"", "\"state\":\"kept\""},
        {"\"state\":\"removed\"", "\"state\":\"lost\""},
        {"\"name\":\"by <train>\"", "\"name\":\"by\\ntrain\""},
        {"\"type\":\"branch_note\",\"session\":1,\"branch\":1",
         "\"type\":\"branch_note\",\"session\":1,\"branch\":99"},
        {"\"type\":\"branch_note\",\"session\":1,\"branch\":1",
         "\"type\":\"branch_note\",\"session\":1,\"branch\":3"},
        {"\"type\":\"branch_note\",\"session\":1,\"branch\":1",
         "\"type\":\"branch_note\",\"session\":1"},
    };
    orchard(&first, &second);
    other_open();
    export_to(T.call, &(ramet_export_in){0}, &good);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        spoil(&good, changes[i][0], changes[i][1], &bad);
        cr_assert_eq(import_from(other.call, &bad), RAMET_IMPORT_DAMAGED, "%s", changes[i][1]);
        const char *line = ramet_call_error(other.call)->message;
        cr_assert_not(strstr(line, "SHA-256"), "%s is found by what it is: %s", changes[i][1],
                      line);
    }
    ramet_session_list list;
    ok_for(other.call, ramet_session_find(other.call, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 0);
    other_close();
}
