/* SPDX-License-Identifier: Apache-2.0
 *
 * foreign.c: imports of other programs' files. Each format has files in tests/foreign/NAME, written
 * for this project, and tests/foreign/NAME.txt with what they become. The rest is about copies,
 * files that have grown, sessions that went on here, interruptions, limits and rubbish.
 */
#include "help.h"
#include "base/arena.h"
#include "ramet/erase.h"
#include "ramet/foreign.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static arena *mem; /* of a test */

static void open_all(void)
{
    mem = arena_new();
    scratch_open();
}

static void close_all(void)
{
    scratch_close();
    arena_free(mem);
}

TestSuite(foreign, .init = open_all, .fini = close_all);

/* ---------------------------------------------------------------------- inputs */

typedef struct text {
    char *p;
    size_t n, cap;
} text;

static void text_add(text *t, const char *p, size_t n)
{
    if (t->n + n + 1 > t->cap) {
        char *old = t->p;
        t->cap = (t->n + n + 1) * 2;
        t->p = arena_alloc(mem, t->cap);
        if (old)
            memcpy(t->p, old, t->n);
    }
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = 0;
}

static void text_puts(text *t, const char *s)
{
    text_add(t, s, strlen(s));
}

static text text_read(FILE *f)
{
    text t = {0};
    char part[1 << 14];
    text_puts(&t, "");
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;)
        text_add(&t, part, n);
    return t;
}

/* tests/foreign, found from where the program lies. */
static const char *folder(void)
{
    static char path[PATH_MAX + 32];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
    for (; n > 0; n--) {
        if (path[n] != '/' && path[n] != 0)
            continue;
        strcpy(path + n, "/tests/foreign");
        if (access(path, R_OK) == 0)
            return path;
        path[n] = 0;
    }
    cr_assert(false, "no folder tests/foreign");
    return NULL;
}

/* A folder as tar packs it. */
static text packed(const char *name)
{
    char command[PATH_MAX + 100];
    snprintf(command, sizeof command, "cd '%s/%s' && tar cf - --sort=name .", folder(), name);
    FILE *f = popen(command, "r");
    text t = text_read(f);
    cr_assert_eq(pclose(f), 0);
    return t;
}

static ramet_import_out done;

static ramet_status import_with(ramet_call *c, const char *format, const char *p, size_t n,
                                ramet_progress progress, void *arg)
{
    ramet_import *m;
    ramet_call_reset(c);
    ok_for(c, ramet_import_begin(c, NULL, 0, &m));
    ok_for(c, ramet_import_add(m, p, n));
    ramet_status st = ramet_import_foreign(m, format, progress, arg, &done);
    ramet_import_close(m);
    return st;
}

static ramet_status import_text(ramet_call *c, const char *format, const char *json)
{
    return import_with(c, format, json, strlen(json), NULL, NULL);
}

/* ----------------------------------------------------------------------- dumps */

/* Attachments have ids that differ from run to run. */
static void parts_dump(text *out, const char *parts)
{
    static const char mark[] = "\"attachment_id\":\"";
    const char *at;
    while ((at = strstr(parts, mark))) {
        at += strlen(mark);
        text_add(out, parts, (size_t)(at - parts));
        text_puts(out, "ID");
        parts = at + strcspn(at, "\"");
    }
    text_puts(out, parts);
}

static void entries_dump(ramet_call *c, text *out, const char *session, int64_t branch,
                         int64_t from)
{
    ramet_page page;
    ramet_read_in in = {.limit = 1000, .branch = branch, .by_position = true, .position = from};
    ok_for(c, ramet_read(c, session, &in, &page));
    for (size_t i = 0; i < page.n; i++) {
        const ramet_entry *e = &page.entries[i];
        char line[200];
        snprintf(line, sizeof line, "  %lld %s ", (long long)e->position, ramet_role_name(e->role));
        text_puts(out, line);
        parts_dump(out, e->parts);
        if (e->usage) {
            snprintf(line, sizeof line, " in=%lld out=%lld cached=%lld cost=%lld",
                     (long long)e->usage->input, (long long)e->usage->output,
                     (long long)e->usage->cached, (long long)e->usage->cost);
            text_puts(out, line);
        }
        /* A message without a time has that of its import. */
        if (e->created / SECOND != T.now / SECOND) {
            snprintf(line, sizeof line, " @%lld.%06lld", (long long)(e->created / SECOND),
                     (long long)(e->created % SECOND));
            text_puts(out, line);
        }
        text_puts(out, "\n");
    }
}

static void session_dump(ramet_call *c, text *out, const ramet_session *s)
{
    char line[400];
    ramet_branch *b;
    size_t n;
    snprintf(line, sizeof line, "%s\"%s\" %lld entries%s%s\n", s->is_fork ? "fork " : "", s->title,
             (long long)s->head.length, s->archived ? ", archived" : "",
             s->is_fork && !s->fork_entry_id ? ", begins empty" : "");
    text_puts(out, line);
    snprintf(line, sizeof line, "  %s\n", s->metadata);
    text_puts(out, line);
    entries_dump(c, out, s->id, 0, 0);
    ok_for(c, ramet_branches(c, s->id, &b, &n));
    for (size_t i = 0; i < n; i++)
        if (!b[i].current && b[i].length > b[i].base) {
            text_puts(out, "  another branch\n");
            entries_dump(c, out, s->id, b[i].id, b[i].base);
        }
}

static int by_title(const void *a, const void *b)
{
    const ramet_session *x = a, *y = b;
    int order = strcmp(x->metadata, y->metadata);
    return order ? order : strcmp(x->id, y->id);
}

static text everything(ramet_call *c)
{
    text out = {0};
    ramet_session_list list;
    text_puts(&out, "");
    ok_for(c, ramet_session_find(
                  c, &(ramet_list_in){.limit = 1000, .archived = RAMET_ARCHIVED_INCLUDE}, &list));
    qsort(list.items, list.n, sizeof *list.items, by_title);
    for (size_t i = 0; i < list.n; i++)
        session_dump(c, &out, &list.items[i]);
    return out;
}

static void same_text(const char *what, const char *want, const char *got)
{
    const char *x = want, *y = got;
    for (int line = 1; *x || *y; line++) {
        size_t n = strcspn(x, "\n"), m = strcspn(y, "\n");
        cr_assert(n == m && memcmp(x, y, n) == 0, "%s, line %d:\n  want %.*s\n  got  %.*s", what,
                  line, (int)n, x, (int)m, y);
        x += n + (x[n] != 0);
        y += m + (y[m] != 0);
    }
}

static void no_faults(void)
{
    ramet_fsck_out out;
    ok(ramet_fsck(T.call, NULL, NULL, &out));
    cr_assert_eq(out.n_all, 0, "%s", out.n ? out.faults[0].what : "");
}

/* --------------------------------------------------------------------- formats */

/* The input of a format, and then again: nothing is added. With FOREIGN_WRITE=1 the expectation is
 * written, to be read by people. */
static void format_test(const char *format, const char *name)
{
    char path[PATH_MAX + 100];
    ramet_call *ann = as("ann");
    text in = packed(name);
    ok_for(ann, import_with(ann, format, in.p, in.n, NULL, NULL));
    cr_assert_gt(done.entries_added, 0);
    text report = {0};
    snprintf(path, sizeof path,
             "%lld conversations, %lld messages, %lld sessions, %lld forks, %lld entries, %lld "
             "shared\n",
             (long long)done.conversations, (long long)done.messages,
             (long long)done.sessions_added, (long long)done.forks_added,
             (long long)done.entries_added, (long long)done.entries_shared);
    text_puts(&report, path);
    for (size_t i = 0; i < done.n_skipped; i++) {
        snprintf(path, sizeof path, "skipped %lld: %s (%s)\n", (long long)done.skipped[i].count,
                 done.skipped[i].what, done.skipped[i].first);
        text_puts(&report, path);
    }
    text first = everything(ann);
    text_add(&report, first.p, first.n);
    snprintf(path, sizeof path, "%s/%s.txt", folder(), name);
    FILE *f = fopen(path, getenv("FOREIGN_WRITE") ? "w" : "r");
    cr_assert(f, "%s", path);
    if (getenv("FOREIGN_WRITE")) {
        fputs(report.p, f);
    } else {
        text want = text_read(f);
        same_text(name, want.p, report.p);
    }
    fclose(f);
    int64_t sessions = done.sessions_added;
    tick(SECOND / 10);
    ok_for(ann, import_with(ann, format, in.p, in.n, NULL, NULL));
    cr_assert_eq(done.entries_added, 0);
    cr_assert_eq(done.sessions_added, 0);
    cr_assert_eq(done.sessions_known, sessions);
    same_text("again", first.p, everything(ann).p);
    no_faults();
}

#define FORMAT(test, format, name)                                                                 \
    Test(foreign, test)                                                                            \
    {                                                                                              \
        format_test(format, name);                                                                 \
    }
FORMAT(reads_claude_code, "claude-code", "claude-code")
FORMAT(reads_codex, "codex", "codex")
FORMAT(reads_opencode, "opencode", "opencode")
FORMAT(reads_the_storage_of_opencode, "opencode", "opencode-storage")
FORMAT(reads_chatgpt, "chatgpt", "chatgpt")
FORMAT(reads_claude_ai, "claude-ai", "claude-ai")
FORMAT(reads_open_webui, "open-webui", "open-webui")
FORMAT(reads_librechat, "librechat", "librechat")
FORMAT(reads_openai_jsonl, "openai-jsonl", "openai-jsonl")

Test(foreign, names_are_those_of_the_table)
{
    char names[500] = "";
    for (size_t i = 0; ramet_foreign_format_at(i); i++) {
        strcat(names, i ? "|" : "");
        strcat(names, ramet_foreign_format_at(i)->name);
    }
    cr_assert_str_eq(names, RAMET_FOREIGN_NAMES);
}

/* ------------------------------------------------------- chats that grow and are copied */

/* A chat of Open WebUI: "id parent role text" for each message. */
static text chat(const char *id, const char *current, const char *messages)
{
    text t = {0};
    char line[500], m[4][100];
    int n, at, count = 0;
    snprintf(line, sizeof line,
             "{\"id\":\"%s\",\"title\":\"%s\",\"created_at\":1772442000,\"chat\":{\"history\":{"
             "\"currentId\":\"%s\",\"messages\":{",
             id, id, current);
    text_puts(&t, line);
    for (const char *p = messages;
         sscanf(p, "%99s %99s %99s %99s%n", m[0], m[1], m[2], m[3], &n) == 4; p += n) {
        at = atoi(m[3] + strcspn(m[3], "0123456789"));
        snprintf(line, sizeof line,
                 "%s\"%s\":{\"id\":\"%s\",\"parentId\":%s%s%s,\"role\":\"%s\",\"content\":\"%s\","
                 "\"timestamp\":%d}",
                 count++ ? "," : "", m[0], m[0], *m[1] == '-' ? "null" : "\"",
                 *m[1] == '-' ? "" : m[1], *m[1] == '-' ? "" : "\"", m[2], m[3], 1772442000 + at);
        text_puts(&t, line);
    }
    text_puts(&t, "}}}}");
    return t;
}

static void chat_import(const char *id, const char *current, const char *messages)
{
    ramet_call *ann = as("ann");
    ok_for(ann, import_text(ann, "open-webui", chat(id, current, messages).p));
}

/* The session of a chat, by its title. */
static ramet_session *session_of(const char *title)
{
    ramet_session_list list;
    ok(ramet_session_find(T.call, &(ramet_list_in){.limit = 100}, &list));
    for (size_t i = 0; i < list.n; i++)
        if (strcmp(list.items[i].title, title) == 0)
            return &list.items[i];
    cr_assert(false, "no session %s", title);
    return NULL;
}

/* The texts of its path. */
static const char *path_of(const char *title)
{
    static char out[1000];
    ramet_page page;
    *out = 0;
    ok(ramet_read(T.call, session_of(title)->id, &(ramet_read_in){.limit = 100}, &page));
    for (size_t i = 0; i < page.n; i++)
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s", i ? " " : "",
                 page.entries[i].text);
    return out;
}

#define TWO "a - user t1 b a assistant t2 "

Test(foreign, what_a_chat_has_grown_by_is_added)
{
    chat_import("c", "b", TWO);
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    cr_assert_eq(done.entries_added, 2);
    cr_assert_eq(done.sessions_added, 0);
    cr_assert_str_eq(path_of("c"), "t1 t2 t3 t4");
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    cr_assert_eq(done.entries_added, 0);
    no_faults();
}

Test(foreign, a_new_branch_of_a_chat_is_a_branch)
{
    ramet_version *v;
    size_t n;
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    chat_import("c", "f", TWO "c b user t3 d c assistant t4 e b user t5 f e assistant t6");
    cr_assert_str_eq(path_of("c"), "t1 t2 t5 t6");
    ok(ramet_versions(T.call, session_of("c")->id, 0, "e", &v, &n));
    cr_assert_eq(n, 2);
    no_faults();
}

Test(foreign, a_copy_with_new_ids_is_a_fork)
{
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    chat_import("copy", "y", "v - user t1 w v assistant t2 x w user t8 y x assistant t9");
    cr_assert_eq(done.forks_added, 1);
    cr_assert_eq(done.entries_shared, 2);
    cr_assert_eq(done.entries_added, 2);
    cr_assert_str_eq(path_of("copy"), "t1 t2 t8 t9");
    cr_assert_str_eq(session_of("copy")->tree_id, session_of("c")->tree_id);
    cr_assert_str_eq(session_of("copy")->fork_entry_id, "b");
    /* it grows, and the original too */
    chat_import("copy", "z",
                "v - user t1 w v assistant t2 x w user t8 y x assistant t9 z y user t10");
    cr_assert_eq(done.entries_added, 1);
    chat_import("c", "e", TWO "c b user t3 d c assistant t4 e d user t11");
    cr_assert_eq(done.entries_added, 1);
    cr_assert_str_eq(path_of("copy"), "t1 t2 t8 t9 t10");
    cr_assert_str_eq(path_of("c"), "t1 t2 t3 t4 t11");
    no_faults();
}

Test(foreign, the_same_text_at_another_time_is_no_copy)
{
    chat_import("c", "b", TWO);
    ramet_call *ann = as("ann");
    text other = chat("other", "b", TWO);
    memcpy(strstr(other.p, "\"timestamp\":17724420"), "\"timestamp\":17724429", 20);
    ok_for(ann, import_text(ann, "open-webui", other.p));
    cr_assert_eq(done.forks_added, 0);
    cr_assert_str_neq(session_of("other")->tree_id, session_of("c")->tree_id);
}

Test(foreign, what_was_said_here_stays_at_the_head)
{
    chat_import("c", "b", TWO);
    const char *id = session_of("c")->id;
    ok(ramet_append(T.call, id,
                    &(ramet_append_in){
                        .entries = &(ramet_entry_in){.role = RAMET_USER, .text = "mine"}, .n = 1},
                    &(ramet_append_out){0}));
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    cr_assert_eq(done.entries_added, 2);
    cr_assert_str_eq(path_of("c"), "t1 t2 mine");
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    cr_assert_eq(done.entries_added, 0);
    cr_assert_str_eq(path_of("c"), "t1 t2 mine");
    no_faults();
}

Test(foreign, a_choice_made_here_stays)
{
    const char *both = TWO "c b user t3 e b user t5";
    chat_import("c", "e", both);
    const char *id = session_of("c")->id;
    ramet_version *v;
    size_t n;
    ok(ramet_versions(T.call, id, 0, "e", &v, &n));
    cr_assert_eq(n, 2);
    ok(ramet_switch(T.call, id, v[0].branch, NULL, &(ramet_session *){NULL}));
    cr_assert_str_eq(path_of("c"), "t1 t2 t3");
    chat_import("c", "e", both);
    cr_assert_str_eq(path_of("c"), "t1 t2 t3");
    chat_import("c", "c", both); /* the other program has moved, too */
    cr_assert_str_eq(path_of("c"), "t1 t2 t3");
    chat_import("c", "e", both);
    cr_assert_str_eq(path_of("c"), "t1 t2 t5");
}

Test(foreign, a_message_that_was_changed_is_another_version)
{
    chat_import("c", "b", TWO);
    chat_import("c", "b", "a - user t1 b a assistant changed2");
    cr_assert_eq(done.entries_added, 1);
    cr_assert_str_eq(path_of("c"), "t1 changed2");
    no_faults();
}

Test(foreign, metadata_of_a_session_stays)
{
    chat_import("c", "e", TWO "c b user t3 e b user t5");
    const char *id = session_of("c")->id;
    ok(ramet_session_update(
        T.call, id, &(ramet_session_patch){.metadata = "{\"mine\":1,\"import\":{\"id\":\"c\"}}"},
        &(ramet_session *){NULL}));
    chat_import("c", "f", TWO "c b user t3 e b user t5 f b user t6");
    cr_assert(strstr(session_of("c")->metadata, "\"mine\":1"));
    cr_assert(strstr(session_of("c")->metadata, "\"current\":\"f\""));
}

/* ------------------------------------------------------------------------ access */

Test(foreign, everyone_has_his_own)
{
    ramet_call *ann = as("ann"), *eve = as("eve");
    text c = chat("c", "b", TWO);
    ok_for(ann, import_text(ann, "open-webui", c.p));
    ok_for(eve, import_text(eve, "open-webui", c.p));
    cr_assert_eq(done.sessions_added, 1);
    ramet_session_list list;
    ok_for(eve, ramet_session_find(eve, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 1);
    cr_assert_str_eq(list.items[0].owner, "eve");
}

Test(foreign, a_session_that_was_laid_out_by_another_gets_nothing)
{
    chat_import("c", "b", TWO);
    ramet_call *eve = as("eve"), *ann = as("ann");
    char id[100];
    snprintf(id, sizeof id, "%s", session_of("c")->id);
    /* Ann's is gone for good, and Eve takes its id and lets Ann write there. */
    drop(id);
    tick(8 * DAY);
    ok(ramet_gc(T.call, false, NULL, NULL, &(ramet_gc_out){0}));
    ramet_session *s;
    ok_for(eve, ramet_session_create(eve, &(ramet_session_in){.id = id, .title = "trap"}, &s));
    ok_for(eve, ramet_member_set(eve, id, "ann", RAMET_WRITER));
    ok_for(ann, import_text(ann, "open-webui", chat("c", "b", TWO).p));
    cr_assert_eq(done.entries_added, 0);
    cr_assert_eq(done.n_skipped, 1);
    cr_assert_str_eq(path_of("trap"), "");
}

Test(foreign, what_was_deleted_stays_deleted)
{
    chat_import("c", "b", TWO);
    chat_import("copy", "x", "v - user t1 w v assistant t2 x w user t8");
    drop(session_of("c")->id);
    chat_import("c", "b", TWO);
    cr_assert_eq(done.sessions_added, 0);
    cr_assert_eq(done.entries_added, 0);
    cr_assert_eq(done.n_skipped, 1);
    /* its fork goes on */
    chat_import("copy", "y", "v - user t1 w v assistant t2 x w user t8 y x assistant t9");
    cr_assert_eq(done.entries_added, 1);
    cr_assert_str_eq(path_of("copy"), "t1 t2 t8 t9");
    no_faults();
}

static void erased(const char *session, const char *entry)
{
    ramet_receipt *r;
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = session, .entry_id = entry}, &r));
}

Test(foreign, what_was_erased_stays_erased)
{
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    erased(session_of("c")->id, "c");
    chat_import("c", "d", TWO "c b user t3 d c assistant t4");
    cr_assert_eq(done.entries_added, 0);
    cr_assert_str_eq(path_of("c"), "t1 t2 [erased] t4");
    /* and it grows, also behind an erased one */
    chat_import("c", "f", TWO "c b user t3 d c assistant t4 e d user t5 f e assistant t6");
    cr_assert_eq(done.entries_added, 2);
    cr_assert_str_eq(path_of("c"), "t1 t2 [erased] t4 t5 t6");
    /* A copy has other ids, and the same times. */
    chat_import("copy", "y", "v - user t1 w v assistant t2 x w user t3 y x assistant t8");
    cr_assert_eq(done.entries_added, 1);
    cr_assert_str_eq(path_of("copy"), "t1 t2 [erased] t8");
    no_faults();
}

Test(foreign, an_erased_chat_stays_erased)
{
    ramet_receipt *r;
    chat_import("c", "b", TWO);
    char *id = strdup(session_of("c")->id);
    ok(ramet_erase(T.call, &(ramet_erase_in){.session = id}, &r));
    chat_import("c", "b", TWO);
    cr_assert_eq(done.entries_added, 0);
    cr_assert_eq(sql_number("SELECT count(*) FROM entry WHERE text IS NOT NULL"), 0);
    free(id);
    no_faults();
}

/* ---------------------------------------------------------------- interruptions */

static bool stop_after(void *arg, const char *what, int64_t n, int64_t total)
{
    (void)what, (void)n, (void)total;
    return --*(int *)arg > 0;
}

/* Stopped after every conversation, and done again, it ends as if nothing had happened. */
Test(foreign, an_import_that_was_stopped_goes_on)
{
    static const char *const formats[] = {"claude-code", "codex", "chatgpt"};
    for (size_t k = 0; k < 3; k++) {
        ramet_call *once = as("once"), *often = as("often");
        text in = packed(formats[k]);
        ok_for(once, import_with(once, formats[k], in.p, in.n, NULL, NULL));
        ramet_status st = RAMET_STOP;
        for (int steps = 1; st == RAMET_STOP; steps++) {
            int left = steps;
            st = import_with(often, formats[k], in.p, in.n, stop_after, &left);
            cr_assert(st == RAMET_OK || st == RAMET_STOP);
        }
        cr_assert_eq(done.sessions_added, 0);
        same_text(formats[k], everything(once).p, everything(often).p);
    }
    no_faults();
}

/* A crash between two commits: what was written to the store until then is all that is there. */
Test(foreign, an_import_that_died_between_two_commits_goes_on)
{
    const char *all = TWO "c b user t3 d c assistant t4 e b user t5 f e assistant t6";
    ramet_call *ann = as("ann"), *bob = as("bob");
    ok_for(bob, import_text(bob, "open-webui", chat("c", "d", all).p));
    text want = everything(bob);
    /* The session is made, then the first branch, then the second one, then the head moves. */
    ok_for(ann, import_text(ann, "open-webui", chat("c", "a", "a - user t1").p));
    ok_for(ann,
           import_text(ann, "open-webui", chat("c", "d", TWO "c b user t3 d c assistant t4").p));
    ok_for(ann, import_text(ann, "open-webui", chat("c", "f", all).p));
    ok_for(ann, import_text(ann, "open-webui", chat("c", "d", all).p));
    text got = everything(ann);
    cr_assert_str_eq(path_of("c"), "t1 t2 t3 t4");
    cr_assert(strstr(want.p, "t5") && strstr(got.p, "t5"));
}

/* -------------------------------------------------------------- what is not right */

static void skipped_is(const char *what)
{
    for (size_t i = 0; i < done.n_skipped; i++)
        if (strstr(done.skipped[i].what, what))
            return;
    cr_assert(false, "not skipped: %s", what);
}

Test(foreign, parents_in_a_circle_and_parents_that_are_missing)
{
    chat_import("c", "b", "a b user t1 b a assistant t2 c zz user t3");
    skipped_is("circle");
    skipped_is("not in the file");
    cr_assert_eq(done.entries_added, 3);
    cr_assert_str_eq(path_of("c"), "t2");
    chat_import("c", "b", "a b user t1 b a assistant t2 c zz user t3");
    cr_assert_eq(done.entries_added, 0);
    chat_import("self", "a", "a a user t1");
    cr_assert_str_eq(path_of("self"), "t1");
    no_faults();
}

Test(foreign, ids_that_come_twice)
{
    ramet_call *ann = as("ann");
    const char *lines =
        "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"timestamp\":"
        "\"2026-03-01T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n"
        "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"timestamp\":"
        "\"2026-03-01T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n"
        "{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"timestamp\":"
        "\"2026-03-01T10:00:00Z\",\"message\":{\"role\":\"user\",\"content\":\"two\"}}\n";
    ok_for(ann, import_text(ann, "claude-code", lines));
    cr_assert_eq(done.entries_added, 1);
    cr_assert_eq(done.n_skipped, 1);
    cr_assert_eq(done.skipped[0].count, 1);
}

Test(foreign, what_is_not_of_the_format_is_refused)
{
    ramet_call *ann = as("ann");
    static const char *const formats[] = {"claude-code", "codex",      "opencode",  "chatgpt",
                                          "claude-ai",   "open-webui", "librechat", "openai-jsonl"};
    static const char *const inputs[] = {"rubbish", "{", "[]", "{}", "[{}]", "null", "[1]", "\n\n"};
    for (size_t i = 0; i < 8; i++)
        for (size_t k = 0; k < 8; k++)
            refused_for(ann, RAMET_IMPORT_DAMAGED, "import",
                        import_text(ann, formats[i], inputs[k]));
    refused_for(ann, RAMET_INVALID, "from", import_text(ann, "word", "{}"));
    refused_for(ann, RAMET_INVALID, "import", import_text(ann, "chatgpt", "PK\3\4 and so on"));
    refused_for(ann, RAMET_IMPORT_DAMAGED, "import", import_text(ann, "chatgpt", ""));
    ramet_session_list list;
    ok_for(ann, ramet_session_find(ann, &(ramet_list_in){0}, &list));
    cr_assert_eq(list.n, 0);
}

Test(foreign, half_characters_and_nul_are_mended)
{
    ramet_call *ann = as("ann");
    ok_for(ann,
           import_text(ann, "openai-jsonl",
                       "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\ud83d b\\u0000 c\"},"
                       "{\"role\":\"assistant\",\"content\":\"\\ud83d\\ude00\"}]}"));
    ramet_session_list list;
    ramet_page page;
    ok_for(ann, ramet_session_find(ann, &(ramet_list_in){0}, &list));
    ok_for(ann, ramet_read(ann, list.items[0].id, &(ramet_read_in){0}, &page));
    cr_assert_str_eq(page.entries[0].text, "a\xef\xbf\xbd b\xef\xbf\xbd c");
    cr_assert_str_eq(page.entries[1].text, "\xf0\x9f\x98\x80");
}

/* Files with bytes changed, cut out and cut off: whatever is imported, the store is sound. */
Test(foreign, rubbish)
{
    static const char *const formats[] = {"claude-code", "codex",      "opencode",  "chatgpt",
                                          "claude-ai",   "open-webui", "librechat", "openai-jsonl"};
    static const char marks[] = "{}[]\",:\\0nul\n";
    unsigned seed = 7;
    ramet_call *ann = as("ann");
    for (size_t i = 0; i < 8; i++) {
        text in = packed(formats[i]);
        char *copy = malloc(in.n);
        for (int round = 0; round < 60; round++) {
            size_t n = in.n;
            memcpy(copy, in.p, n);
            for (int k = 0; k < 1 + round % 7; k++) {
                size_t at = (size_t)rand_r(&seed) % n;
                if (round % 3 == 0)
                    copy[at] = marks[(size_t)rand_r(&seed) % (sizeof marks - 1)];
                else if (round % 3 == 1)
                    copy[at] = (char)rand_r(&seed);
                else
                    n = at + 1;
            }
            ramet_status st = import_with(ann, formats[i], copy, n, NULL, NULL);
            cr_assert(st == RAMET_OK || st == RAMET_IMPORT_DAMAGED || st == RAMET_INVALID,
                      "%s, round %d: %s", formats[i], round, ramet_call_error(ann)->message);
        }
        free(copy);
    }
    no_faults();
}

Test(foreign, a_long_chat_in_batches)
{
    ramet_call *ann = as("ann");
    text t = {0};
    char line[200];
    text_puts(&t, "{\"messages\":[");
    for (int i = 0; i < 2300; i++) {
        snprintf(line, sizeof line, "%s{\"role\":\"%s\",\"content\":\"message %d\"}", i ? "," : "",
                 i % 2 ? "assistant" : "user", i);
        text_puts(&t, line);
    }
    text_puts(&t, "]}");
    ok_for(ann, import_text(ann, "openai-jsonl", t.p));
    cr_assert_eq(done.entries_added, 2300);
    ok_for(ann, import_text(ann, "openai-jsonl", t.p));
    cr_assert_eq(done.entries_added, 0);
    no_faults();
}
