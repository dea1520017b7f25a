/* SPDX-License-Identifier: Apache-2.0
 *
 * furnish.c: see furnish.h.
 */
#include "furnish.h"
#include "ramet/branches.h"
#include "ramet/kagent.h"
#include "ramet/memory.h"
#include "ramet/erase.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "ramet/templates.h"
#include "ramet/sandboxes.h"
#include "ramet/push.h"
#include "ramet/tasks.h"
#include "ramet/tokens.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer than any test: the store is made by the clock of its script and read by the real one. */
#define LONG_US (INT64_C(100) * 365 * 24 * 3600 * 1000000)

#define DESK "desk"
#define TWIGS "twigs"
#define OWNER "ann"
#define GUEST "bob"

static void good(ramet_call *c, ramet_status st, const char *what)
{
    if (st == RAMET_OK)
        return;
    fprintf(stderr, "fault: furnishing, %s: %s (%s)\n", what, ramet_status_code(st),
            ramet_call_error(c)->message);
    abort();
}

static char *copy(const char *s)
{
    return must(strdup(s));
}

static const char *shown(const char *s)
{
    return s ? s : "-";
}

/* ---- writing */

static void sessions_make(ramet_call *c)
{
    ramet_session *s;
    ramet_sandbox *box;
    ramet_append_out out;
    ramet_entry_in e[] = {{.id = "desk-1", .role = RAMET_USER, .text = "a river"},
                          {.id = "desk-2", .role = RAMET_ASSISTANT, .text = "is long"}};
    good(c, ramet_sandbox_add(c, &(ramet_sandbox_in){.id = "box"}, &box), "a sandbox");
    good(c, ramet_session_create(c, &(ramet_session_in){.id = DESK, .sandbox = "box"}, &s),
         "a session");
    good(c, ramet_append(c, DESK, &(ramet_append_in){.entries = e, .n = 2}, &out), "entries");
    good(c,
         ramet_session_make(c, "begun", &(ramet_make){.started_by = DESK, .started_at = "desk-1"},
                            &s),
         "a session that another has started");
}

static void merges_make(ramet_call *c)
{
    ramet_session *s;
    ramet_append_out out;
    ramet_merge_out merged;
    ramet_entry_in e = {.id = "aside-1", .role = RAMET_USER, .text = "an aside"};
    ramet_merge_in in = {.mode = RAMET_SPLICE, .from = "aside"};
    good(c, ramet_fork(c, DESK, &(ramet_fork_in){.id = "aside"}, &s, NULL), "a fork");
    good(c, ramet_append(c, "aside", &(ramet_append_in){.entries = &e, .n = 1}, &out), "an aside");
    good(c, ramet_merge(c, DESK, &in, &merged), "a merge");
}

/* Two holds, and a rule that has removed a session. */
static void retention_make(ramet_call *c, ramet_call *program)
{
    ramet_session *s;
    ramet_retention_out out;
    ramet_rule rule = {.name = "stale", .tag = "stale"};
    const char *const tags[] = {"stale"};
    ramet_session_in in = {.id = "stale", .tags = tags, .n_tags = 1};
    good(c, ramet_session_create(c, &in, &s), "a session to remove");
    good(c, ramet_hold_set(c, DESK, &(ramet_hold_in){.tree = true, .reason = "evidence"}, NULL),
         "a hold");
    good(program, ramet_hold_set(program, DESK, &(ramet_hold_in){.by = "root"}, NULL),
         "an administrator's hold");
    good(program, ramet_retention_set(program, &(ramet_retention_in){.rules = &rule, .n = 1}, NULL),
         "a rule");
    good(program,
         ramet_retention_run(program, &(ramet_retention_run_in){.dry_run = true}, NULL, NULL, &out),
         "a dry run");
    good(program, ramet_retention_run(program, &(ramet_retention_run_in){0}, NULL, NULL, &out),
         "a run");
    good(program,
         ramet_retention_set(program,
                             &(ramet_retention_in){.rules = &rule, .n = 1, .enabled = true}, NULL),
         "rules that are on");
}

static void overlays_make(ramet_call *c)
{
    ramet_overlay_out out;
    ramet_overlay_in hide = {.entry_id = "desk-1", .action = RAMET_OVERLAY_HIDE};
    ramet_overlay_in say = {
        .entry_id = "desk-2", .action = RAMET_OVERLAY_REPLACE, .text = "is not long"};
    good(c, ramet_overlay_set(c, DESK, &hide, &out), "an overlay");
    good(c, ramet_overlay_set(c, DESK, &say, &out), "an overlay");
    good(c, ramet_overlay_remove(c, DESK, out.id - 1, NULL, NULL, false, &out),
         "an overlay removed");
}

/* A session with a branch that has a name and is its favourite, and a pruned branch. */
static void branches_make(ramet_call *c)
{
    static const bool yes = true;
    ramet_session *s;
    ramet_branch *b;
    ramet_append_out out;
    ramet_prune_out pruned;
    ramet_entry_in e[] = {{.id = "twig-1", .role = RAMET_USER, .text = "a hill"},
                          {.id = "twig-2", .role = RAMET_ASSISTANT, .text = "is high"}};
    good(c, ramet_session_create(c, &(ramet_session_in){.id = TWIGS}, &s), "a session");
    good(c, ramet_append(c, TWIGS, &(ramet_append_in){.entries = e, .n = 2}, &out), "entries");
    int64_t left = out.head.branch;
    ramet_move_in to = {.at = {.entry_id = "twig-1"}};
    good(c, ramet_rewind(c, TWIGS, &to, &s, NULL), "a rewind");
    good(c,
         ramet_branch_update(c, TWIGS, s->head.branch,
                             &(ramet_branch_patch){.name = "short", .favourite = &yes}, &b),
         "a name");
    good(c, ramet_prune(c, TWIGS, &(ramet_prune_in){.branch = left}, &pruned), "a prune");
    ramet_verdict *verdict;
    ramet_side_in sides[] = {{.session = TWIGS}, {.session = TWIGS}};
    good(c, ramet_verdict_add(c, sides, 2, 0, "shorter", &verdict), "a verdict");
}

/* A chat that fills in a template, in a tree of its own. */
static void templates_make(ramet_call *c)
{
    ramet_session *s;
    ramet_append_out out;
    ramet_template *t;
    ramet_template_value value = {"who", "the guest"};
    ramet_entry_in e[] = {{.id = "form-1", .role = RAMET_USER, .text = "for {{who}}"},
                          {.id = "form-2", .role = RAMET_USER, .text = "{{who}}, {{else}}"}};
    ramet_template_in in = {
        .session = "form", .name = "form", .placeholders = &value.name, .n_placeholders = 1};
    ramet_template_use use = {.values = &value, .n_values = 1, .fork = {.id = "filled"}};
    good(c, ramet_session_create(c, &(ramet_session_in){.id = "form"}, &s), "a form");
    good(c, ramet_append(c, "form", &(ramet_append_in){.entries = e, .n = 2}, &out), "its entries");
    good(c, ramet_template_add(c, &in, &t), "a template");
    good(c, ramet_template_chat(c, t->id, &use, &s), "a chat from it");
}

/* In a tree of its own: in that of the desk a turn is running. */
static void erased_make(ramet_call *c)
{
    ramet_session *s;
    ramet_append_out out;
    ramet_receipt *receipt;
    ramet_entry_in e[] = {{.id = "blank-1", .role = RAMET_USER, .text = "to be erased"},
                          {.id = "blank-2", .role = RAMET_USER, .text = "to stay"}};
    ramet_erase_in in = {.session = "blank", .entry_id = "blank-1", .reason = "a test"};
    good(c, ramet_session_create(c, &(ramet_session_in){.id = "blank"}, &s), "a session");
    good(c, ramet_append(c, "blank", &(ramet_append_in){.entries = e, .n = 2}, &out), "entries");
    good(c, ramet_erase(c, &in, &receipt), "erasing");
}

static void turns_make(ramet_call *c)
{
    static const ramet_turn_status ends[] = {RAMET_TURN_DONE, RAMET_TURN_FAILED,
                                             RAMET_TURN_CANCELLED, RAMET_TURN_RUNNING};
    for (int i = 0; i < 4; i++) {
        char turn[24], id[24], answer[24];
        ramet_turn *t;
        ramet_append_out out;
        snprintf(turn, sizeof turn, "turn-%d", i);
        snprintf(id, sizeof id, "asked-%d", i);
        snprintf(answer, sizeof answer, "answer-%d", i);
        ramet_entry_in q = {.id = id, .role = RAMET_USER, .text = "and the sea?"};
        ramet_entry_in a = {.id = answer, .role = RAMET_ASSISTANT, .text = "is wide"};
        ramet_turn_in in = {
            .id = turn, .entries = &q, .n = 1, .agent = "echo", .group = "g", .host = "here"};
        good(c, ramet_turn_begin(c, DESK, &in, &t, &out), "a turn");
        ramet_prompt_in prompt = {
            .agent = "echo",
            .length = 2 + i,
            .data = "{\"instructions\":\"be brief\",\"settings\":{},\"messages\":[]}"};
        if (ends[i] == RAMET_TURN_DONE)
            ramet_call_prompt(c, &prompt);
        if (ends[i] != RAMET_TURN_RUNNING)
            good(c, ramet_turn_end(c, turn, ends[i], i ? "it broke" : NULL, &a, 1, &out),
                 "the end of a turn");
        ramet_call_reset(c);
    }
}

static void attachment_make(ramet_call *c, furniture *f)
{
    ramet_upload *u;
    ramet_attachment *a;
    ramet_fetch *fetch;
    ramet_append_out out;
    good(c,
         ramet_upload_begin(c, &(ramet_upload_in){.name = "n.txt", .media_type = "text/plain"}, &u),
         "an upload");
    good(c, ramet_upload_add(u, "content", 7), "an upload");
    good(c, ramet_upload_finish(u, &a), "an upload");
    f->attachment = copy(a->id);
    char *parts = text_new("[{\"type\":\"file\",\"attachment_id\":\"%s\"}]", a->id);
    ramet_entry_in e = {.id = "desk-file", .role = RAMET_USER, .parts = parts};
    good(c, ramet_append(c, DESK, &(ramet_append_in){.entries = &e, .n = 1}, &out), "a file");
    free(parts);
    good(c, ramet_fetch_add(c, "https://example.org/f", "f", "text/plain", LONG_US, &fetch),
         "a file to fetch");
    f->errand = copy(fetch->id);
}

static void answer_give(void *arg, int *status, const char **answer, size_t *n)
{
    (void)arg;
    *status = 200;
    *answer = "kept";
    *n = 4;
}

static ramet_once once_of(void)
{
    return (ramet_once){
        .scope = "test", .key = "key", .digest = {7}, .answer = answer_give, .keep_us = LONG_US};
}

static void beside_make(ramet_call *c, ramet_call *program, furniture *f)
{
    ramet_share *share;
    ramet_token *token;
    ramet_transfer *transfer;
    ramet_task *task;
    ramet_session *s;
    ramet_once once = once_of();
    ramet_task_in in = {.id = "task-1", .data = "{\"state\":\"working\",\"at\":5}", .at = 5};
    good(c, ramet_share_add(c, DESK, true, 0, &share), "a link");
    f->share = copy(share->id);
    f->share_token = copy(share->token);
    good(program,
         ramet_token_add(program, &(ramet_token_in){.user = OWNER, .roles = "admin"}, &token),
         "a token");
    f->token_secret = copy(token->secret);
    good(c, ramet_member_set(c, DESK, "cleo", RAMET_WRITER), "a member");
    good(c, ramet_transfer_add(c, DESK, "cleo", &transfer), "a transfer");
    f->transfer = copy(transfer->id);
    good(c, ramet_task_put(c, DESK, &in, &task), "a task");
    good(c,
         ramet_push_put(
             c, DESK,
             &(ramet_push_in){.task = "task-1", .id = "p", .wire = 10, .config = "c", .n = 1}),
         "a notification");
    good(c, ramet_feedback_set(c, DESK, "desk-2", -1, "too long"), "feedback");
    good(program, ramet_indexed_set(program, DESK, "desk-1", "stream"), "a text to find by");
    good(c,
         ramet_remark_add(
             c, &(ramet_remark){.message = 4, .has_message = true, .text = "hm", .issue = ""}),
         "a remark");
    ramet_call_once(c, &once);
    good(c, ramet_session_update(c, DESK, &(ramet_session_patch){.title = "Desk"}, &s),
         "an answer kept by a key");
}

void furnish(ramet *r, furniture *f)
{
    ramet_call *c = ramet_call_new(r, OWNER, "furnish"), *program = ramet_call_new(r, NULL, NULL);
    ramet_call *guest = ramet_call_new(r, GUEST, NULL);
    *f = (furniture){0};
    sessions_make(c);
    erased_make(c);
    merges_make(c);
    attachment_make(c, f);
    overlays_make(c);
    templates_make(c);
    turns_make(c);
    branches_make(c);
    beside_make(c, program, f);
    retention_make(c, program);
    good(guest, ramet_call_share(guest, f->share_token, NULL), "using a link");
    good(guest, ramet_share_visit(guest), "a visit");
    ramet_call_free(c);
    ramet_call_free(program);
    ramet_call_free(guest);
}

void furniture_free(furniture *f)
{
    free(f->attachment);
    free(f->errand);
    free(f->share);
    free(f->share_token);
    free(f->token_secret);
    free(f->transfer);
}

/* ---- reading */

static ramet_status read_turns(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_turn *t;
    size_t n;
    (void)f;
    ramet_status st = ramet_turns(c, DESK, 0, &t, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s %s %s %s %s %s %lld\n", t[i].id, t[i].session, shown(t[i].agent),
                shown(t[i].entry_id), shown(t[i].group), shown(t[i].by),
                ramet_turn_status_name(t[i].status), t[i].error, (long long)t[i].started);
    return st;
}

static ramet_status read_prompt(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_prompt *p;
    (void)f;
    ramet_status st = ramet_turn_prompt(c, DESK, "turn-0", &p);
    if (!st && p->known)
        fprintf(out, "%s %lld %s\n", p->agent, (long long)p->length, p->data);
    return st;
}

static ramet_status read_overlays(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_overlay *o;
    ramet_page p;
    size_t n;
    (void)f;
    ramet_status st = ramet_overlays(c, DESK, 0, &o, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s\n", o[i].entry_id, ramet_overlay_action_name(o[i].action),
                shown(o[i].text));
    if (!st)
        st = ramet_read(c, DESK, &(ramet_read_in){.view = RAMET_VIEW_CONTEXT}, &p);
    for (size_t i = 0; !st && i < p.n; i++)
        fprintf(out, "%s %s\n", p.entries[i].id, p.entries[i].parts);
    return st;
}

static ramet_status read_templates(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_template *t;
    ramet_template_origin o;
    ramet_page p;
    const char *next;
    size_t n;
    (void)f;
    ramet_status st = ramet_templates(c, 0, NULL, &t, &n, &next);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s %lld %zu\n", t[i].name, t[i].session, t[i].entry_id,
                (long long)t[i].length, t[i].n_placeholders);
    if (!st)
        st = ramet_template_values(c, "filled", &o);
    for (size_t i = 0; !st && i < o.n_values; i++)
        fprintf(out, "%s=%s\n", o.values[i].name, o.values[i].text);
    if (!st)
        st = ramet_read(c, "filled", &(ramet_read_in){0}, &p);
    for (size_t i = 0; !st && i < p.n; i++)
        fprintf(out, "%s %s %s\n", p.entries[i].id, p.entries[i].text, p.entries[i].parts);
    return st;
}

static ramet_status read_erased(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_page p;
    (void)f;
    ramet_status st = ramet_read(c, "blank", &(ramet_read_in){.limit = 10}, &p);
    for (size_t i = 0; !st && i < p.n; i++) {
        const ramet_erased *x = p.entries[i].erased;
        fprintf(out, "%s %s %s %s\n", p.entries[i].id, p.entries[i].text, x ? shown(x->by) : "-",
                x ? x->reason : "-");
    }
    return st;
}

static ramet_status read_running(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_turn *t;
    (void)f;
    ramet_status st = ramet_turn_running(c, DESK, &t);
    if (!st)
        fprintf(out, "%s\n", t ? t->id : "-");
    return st;
}

static ramet_status read_tasks(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_task *t;
    size_t n;
    (void)f;
    ramet_status st = ramet_tasks(c, DESK, &t, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %d\n", t[i].id, t[i].data, t[i].deleted);
    return st;
}

static ramet_status read_attachment(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_attachment *a;
    int fd = -1;
    char content[32] = "";
    ramet_status st = ramet_attachment_open(c, f->attachment, &a, &fd);
    if (st)
        return st;
    ssize_t n = read(fd, content, sizeof content - 1);
    fprintf(out, "%s %s %s %lld %s %zd %s\n", a->name, a->media_type, a->sha256, (long long)a->size,
            shown(a->owner), n, content);
    close(fd);
    return RAMET_OK;
}

static ramet_status read_home(ramet_call *c, const furniture *f, FILE *out)
{
    const char *session, *entry;
    ramet_status st = ramet_attachment_home(c, f->attachment, &session, &entry);
    if (!st)
        fprintf(out, "%s %s\n", shown(session), shown(entry));
    return st;
}

static ramet_status read_pushes(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_push *p;
    size_t n;
    (void)f;
    ramet_status st = ramet_push_list(c, DESK, "task-1", &p, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s %d %zu\n", p[i].task, p[i].id, p[i].owner, p[i].wire, p[i].n);
    return st;
}

static ramet_status read_errand(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_fetch *x;
    ramet_status st = ramet_fetch_get(c, f->errand, &x);
    if (!st)
        fprintf(out, "%s %s %s %s %d\n", x->url, x->name, x->media_type, x->owner, x->failed);
    return st;
}

static ramet_status read_shares(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_share *s;
    size_t n;
    (void)f;
    ramet_status st = ramet_shares(c, DESK, &s, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %d %s\n", s[i].id, s[i].session, s[i].write, shown(s[i].by));
    return st;
}

static ramet_status read_feedback(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_feedback *b;
    size_t n;
    (void)f;
    ramet_status st = ramet_feedback_get(c, DESK, "desk-2", &b, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %d %s\n", shown(b[i].user), b[i].value, b[i].comment);
    return st;
}

static ramet_status read_destinations(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_entry_ref *to, *from;
    size_t n, n_from = 0;
    (void)f;
    ramet_status st = ramet_destinations(c, "aside", 0, "aside-1", &to, &n);
    for (size_t i = 0; !st && i < n; i++) {
        st = ramet_origins(c, to[i].session, 0, to[i].entry_id, &from, &n_from);
        fprintf(out, "%s %zu\n", to[i].session, n_from);
    }
    return st;
}

static ramet_status read_remarks(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_remark *m;
    size_t n;
    (void)f;
    ramet_status st = ramet_remarks(c, 0, 0, &m, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %lld %d %d %s %s\n", m[i].user, (long long)m[i].message, m[i].has_message,
                m[i].positive, m[i].text, m[i].issue);
    return st;
}

static ramet_status read_indexed(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_page p;
    ramet_indexed *x;
    (void)f;
    ramet_status st = ramet_read(c, DESK, &(ramet_read_in){.limit = 2}, &p);
    if (!st)
        st = ramet_indexed_get(c, DESK, p.entries, p.n, &x);
    for (size_t i = 0; !st && i < p.n; i++)
        fprintf(out, "%s %s\n", shown(x[i].text), shown(x[i].session));
    return st;
}

static ramet_status read_transfers(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_transfer *t;
    size_t n;
    (void)f;
    ramet_status st = ramet_transfers(c, true, true, &t, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s %s\n", t[i].id, t[i].session, t[i].from, t[i].to);
    return st;
}

static ramet_status read_sandboxes(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_sandbox *b;
    ramet_sandbox_counts counts;
    size_t n;
    (void)f;
    ramet_status st = ramet_sandboxes(c, &b, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s\n", b[i].id, shown(b[i].owner));
    if (!st)
        st = ramet_sandbox_count(c, "box", &counts);
    if (!st)
        fprintf(out, "%lld %lld\n", (long long)counts.sessions, (long long)counts.roots);
    return st;
}

static ramet_status read_holds(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_hold *h;
    size_t n;
    (void)f;
    ramet_status st = ramet_holds(c, DESK, &h, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s %d\n", shown(h[i].session), shown(h[i].who), h[i].reason,
                h[i].administrator);
    return st;
}

static ramet_status read_explanation(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_explanation *e;
    (void)f;
    ramet_status st = ramet_retention_explain(c, DESK, &e);
    if (!st)
        fprintf(out, "%d %s %lld %zu\n", e->goes, shown(e->kept), (long long)e->entries, e->n);
    return st;
}

static ramet_status read_retention(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_retention *r;
    ramet_removal *gone;
    const char *next;
    size_t n;
    (void)f;
    ramet_status st = ramet_retention_get(c, &r);
    for (size_t i = 0; !st && i < r->n; i++)
        fprintf(out, "%s %s %lld\n", r->rules[i].name, shown(r->rules[i].tag),
                (long long)r->rules[i].age_us);
    if (!st)
        st = ramet_removals(c, 0, NULL, &gone, &n, &next);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s\n", gone[i].session, gone[i].tree_id, gone[i].rule);
    return st;
}

static ramet_status read_origin(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_origin o;
    ramet_session *s;
    size_t n;
    (void)f;
    ramet_status st = ramet_origin_get(c, "begun", &o);
    if (!st)
        fprintf(out, "%s %s %s %d\n", o.client, shown(o.started_by), shown(o.started_at), o.level);
    if (!st)
        st = ramet_started(c, DESK, &s, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s\n", s[i].id);
    return st;
}

static ramet_status read_branches(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_branch *b;
    size_t n;
    (void)f;
    ramet_status st = ramet_branches(c, TWIGS, &b, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "b%lld %s %d\n", (long long)b[i].id, b[i].name, b[i].favourite);
    if (!st)
        st = ramet_branches_pruned(c, TWIGS, &b, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "b%lld %s %lld %d\n", (long long)b[i].id, b[i].name, (long long)b[i].pruned,
                b[i].removed);
    return st;
}

static ramet_status read_members(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_member *m;
    size_t n;
    (void)f;
    ramet_status st = ramet_members(c, DESK, &m, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s\n", m[i].user, ramet_level_name(m[i].level));
    return st;
}

static ramet_status read_events(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_events_out e;
    (void)f;
    ramet_status st = ramet_events(c, &(ramet_events_in){.session = DESK, .limit = 1000}, &e);
    for (size_t i = 0; !st && i < e.n; i++)
        fprintf(out, "%s %s\n", ramet_event_name(e.items[i].kind), shown(e.items[i].session));
    return st;
}

/* As the holder of the link. */
static ramet_status read_visited(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_share *s;
    size_t n;
    (void)f;
    ramet_status st = ramet_shares_visited(c, &s, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s\n", s[i].id, shown(s[i].session));
    return st;
}

static ramet_status read_linked(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_share *s;
    ramet_page p;
    ramet_status st = ramet_call_share(c, f->share_token, &s);
    if (!st)
        st = ramet_read(c, DESK, &(ramet_read_in){0}, &p);
    if (!st)
        fprintf(out, "%s %d %zu\n", s->id, s->write, p.n);
    return st;
}

/* As the embedding program. */
static ramet_status read_token(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_token *t;
    size_t n;
    ramet_status st = ramet_tokens(c, &t, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(out, "%s %s %s %s %d\n", t[i].user, shown(t[i].client), t[i].roles, t[i].note,
                t[i].revoked);
    if (!st)
        st = ramet_token_check(c, f->token_secret, &t);
    if (!st)
        fprintf(out, "%s\n", t->user);
    return st;
}

static ramet_status read_statistics(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_stats s;
    (void)f;
    ramet_status st = ramet_stat(c, &s);
    if (!st)
        fprintf(out, "%lld sessions\n", (long long)s.sessions);
    return st;
}

static ramet_status read_kept(ramet_call *c, const furniture *f, FILE *out)
{
    ramet_once once = once_of();
    (void)f;
    ramet_call_once(c, &once);
    ramet_status st = ramet_once_look(c);
    if (!st)
        fprintf(out, "%d %d %.*s\n", once.repeated, once.status, (int)once.n,
                once.bytes ? once.bytes : "");
    return st;
}

static const struct {
    const char *name, *user;
    ramet_status (*read)(ramet_call *c, const furniture *f, FILE *out);
} reads[] = {{"turns", OWNER, read_turns},
             {"running turn", OWNER, read_running},
             {"prompt", OWNER, read_prompt},
             {"overlays", OWNER, read_overlays},
             {"templates", OWNER, read_templates},
             {"erased entries", OWNER, read_erased},
             {"tasks", OWNER, read_tasks},
             {"notifications", OWNER, read_pushes},
             {"attachment", OWNER, read_attachment},
             {"home of the attachment", OWNER, read_home},
             {"file to fetch", OWNER, read_errand},
             {"links", OWNER, read_shares},
             {"feedback", OWNER, read_feedback},
             {"destinations", OWNER, read_destinations},
             {"remarks", OWNER, read_remarks},
             {"indexed texts", OWNER, read_indexed},
             {"transfers", OWNER, read_transfers},
             {"sandboxes", OWNER, read_sandboxes},
             {"holds", OWNER, read_holds},
             {"retention of a session", OWNER, read_explanation},
             {"rules and removals", NULL, read_retention},
             {"origin", OWNER, read_origin},
             {"branches", OWNER, read_branches},
             {"members", OWNER, read_members},
             {"events", OWNER, read_events},
             {"kept answer", OWNER, read_kept},
             {"visited links", GUEST, read_visited},
             {"a link", GUEST, read_linked},
             {"tokens", NULL, read_token},
             {"statistics", NULL, read_statistics}};

typedef struct one_read {
    const furniture *f;
    size_t which;
} one_read;

static ramet_status read_one(ramet_call *c, void *arg, FILE *out)
{
    const one_read *o = arg;
    return reads[o->which].read(c, o->f, out);
}

void furniture_tell(ramet *r, const furniture *f, story *s)
{
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        ramet_call *c = ramet_call_new(r, reads[i].user, reads[i].user ? "furnish" : NULL);
        one_read o = {f, i};
        story_tier tier = reads[i].read == read_kept ? STORY_SEALED : STORY_LABEL;
        story_add(s, c, tier, reads[i].name, read_one, &o);
        ramet_call_free(c);
    }
}

void furniture_use(ramet *r, const furniture *f)
{
    ramet_call *c = ramet_call_new(r, OWNER, "furnish"), *cleo = ramet_call_new(r, "cleo", NULL);
    ramet_turn *t;
    ramet_append_out out;
    ramet_session *s;
    ramet_task *task;
    ramet_gc_out gone;
    ramet_retention_out removed;
    int64_t n;
    ramet_entry_in e = {.role = RAMET_ASSISTANT, .text = "late"};
    ramet_turn_append(c, "turn-3", &e, 1, &out);
    ramet_turn_end(c, "turn-3", RAMET_TURN_DONE, NULL, NULL, 0, &out);
    ramet_turn_begin(c, DESK, &(ramet_turn_in){.regenerate = ""}, &t, &out);
    ramet_task_put(c, DESK, &(ramet_task_in){.id = "task-1", .data = "{}"}, &task);
    ramet_push_delete(c, DESK, "task-1", "p");
    ramet_task_delete(c, DESK, "task-1");
    ramet_feedback_set(c, DESK, "desk-2", 1, "better");
    ramet_fetch_fail(c, f->errand);
    ramet_attachment_delete(c, f->attachment);
    ramet_share_revoke(c, DESK, f->share);
    ramet_sandbox_remove(c, "box", &n);
    ramet_transfer_accept(cleo, f->transfer);
    ramet_archive(cleo, DESK, true, &s);
    ramet_call_free(c);
    ramet_call_free(cleo);
    c = ramet_call_new(r, NULL, NULL);
    ramet_turns_interrupt(c, NULL, &n);
    ramet_gc(c, true, NULL, NULL, &gone);
    ramet_retention_run(c, &(ramet_retention_run_in){.scheduled = true}, NULL, NULL, &removed);
    ramet_hold_release(c, DESK, &(ramet_hold_in){.tree = true});
    ramet_call_free(c);
}
