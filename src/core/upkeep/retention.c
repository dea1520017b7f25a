/* SPDX-License-Identifier: Apache-2.0
 *
 * Retention: the rules by which sessions go, their runs, and the log of what they removed.
 *
 *   R1  Rules are off until they are switched on, and neither are they switched on nor do they
 *       remove anything before a dry run with exactly these rules (RAMET_DRY_RUN_FIRST).
 *   R2  A run walks all sessions a page at a time, each page in a snapshot of its own, and removes
 *       in writes of at most REMOVE_BATCH sessions.
 *   R3  A session is judged again in the write that removes it, by the rules as they stand then:
 *       one that was touched, pinned or put on hold meanwhile stays, and of several runs at once
 *       one removes it.
 *   R4  Removing is deleting (I7), and the log row is part of the same commit.
 *   R5  The log has no title and no content, and nothing removes it.
 *
 * The rules are rows, so that a copy of the store has them. Whether they are switched on is a note
 * in `meta`, which is not copied: a copy removes nothing by itself.
 */
#include "core/upkeep/retention.h"

#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/session/life.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

#include <stdio.h>

#define STATE_KEY "retention"
#define JOB "retention"
#define MAX_NAME_CHARS 64
#define PAGE 256
#define REMOVE_BATCH 100
#define MAX_LISTED 1000
#define MAX_AGE_US (INT64_C(36525) * 86400 * 1000000) /* 100 years */

/* -------------------------------------------------------------------- rules */

static void state_load(txn *tx, ramet_retention *out)
{
    long long tried = 0;
    int enabled = 0;
    db_stmt *q = db_query(tx->db, Q_meta_get);
    q_text(q, 1, STATE_KEY);
    const char *text = q_row(q) ? q_col_text(q, 0) : NULL;
    if (text && sscanf(text, "%lld %d", &tried, &enabled) == 2) {
        out->tried = tried;
        out->enabled = tried && enabled;
    }
    q_end(q);
}

static void state_store(txn *tx, int64_t tried, bool enabled)
{
    db_stmt *q = db_query(tx->db, Q_meta_set);
    q_text(q, 1, STATE_KEY);
    q_text(q, 2, arena_printf(tx->arena, "%lld %d", (long long)tried, enabled));
    q_run(q);
}

void retention_load(txn *tx, ramet_retention *out)
{
    VEC(ramet_rule) rules = {0};
    *out = (ramet_retention){0};
    state_load(tx, out);
    db_stmt *q = db_query(tx->db, Q_rule_all);
    while (q_row(q)) {
        ramet_rule r = {.name = q_need_text(q, 0, tx->arena, "rule.name"),
                        .age_us = q_col_range(q, 1, 0, MAX_AGE_US, "rule.age"),
                        .since = (ramet_since)q_col_range(q, 2, RAMET_SINCE_UPDATED,
                                                          RAMET_SINCE_ARCHIVED, "rule.since"),
                        .tag = q_keep_text(q, 3, tx->arena),
                        .agent = q_keep_text(q, 4, tx->arena),
                        .ephemeral = (ramet_condition)q_col_range(q, 5, RAMET_EITHER, RAMET_EXCEPT,
                                                                  "rule.ephemeral"),
                        .archived = (ramet_condition)q_col_range(q, 6, RAMET_EITHER, RAMET_EXCEPT,
                                                                 "rule.archived"),
                        .private_too = q_col_range(q, 7, 0, 1, "rule.private"),
                        .who = q_keep_text(q, 8, tx->arena),
                        .at = q_col_int(q, 9)};
        VEC_PUSH(tx->arena, &rules, r);
    }
    out->rules = rules.items;
    out->n = rules.n;
}

ramet_status ramet_retention_get(ramet_call *c, ramet_retention **out)
{
    txn tx;
    *out = NULL;
    TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_retention *r = arena_alloc(c->arena, sizeof *r);
    retention_load(&tx, r);
    ramet_status st = txn_done(&tx, RAMET_OK);
    if (st == RAMET_OK)
        *out = r;
    return st;
}

static ramet_status rule_check(ramet_call *c, ramet_rule *r)
{
    if (!r->name || !*r->name)
        return call_fail(c, RAMET_INVALID, "name", "a rule needs a name");
    TRY(check_id(c, "name", r->name));
    TRY(check_chars(c, "name", r->name, MAX_NAME_CHARS, RAMET_TOO_LARGE));
    if (r->age_us < 0 || r->age_us > MAX_AGE_US)
        return call_fail(c, RAMET_INVALID, "older_than_seconds",
                         "the age of rule %s must be 0 to 100 years", r->name);
    if ((int)r->since < 0 || r->since > RAMET_SINCE_ARCHIVED || (int)r->ephemeral < 0 ||
        r->ephemeral > RAMET_EXCEPT || (int)r->archived < 0 || r->archived > RAMET_EXCEPT)
        return call_fail(c, RAMET_INVALID, "rules", "a condition of rule %s is none", r->name);
    if (r->since == RAMET_SINCE_ARCHIVED && r->archived == RAMET_EXCEPT)
        return call_fail(c, RAMET_INVALID, "archived",
                         "rule %s counts from archiving and excludes what is archived", r->name);
    if (r->tag) {
        const char **clean;
        size_t n;
        TRY(check_tags(c, &r->tag, 1, &clean, &n));
        r->tag = clean[0];
        if (strcmp(r->tag, RAMET_PINNED) == 0)
            return call_fail(c, RAMET_INVALID, "tag",
                             "rule %s asks for the tag %s, which no rule touches", r->name,
                             RAMET_PINNED);
    }
    if (r->agent)
        TRY(check_id(c, "agent", r->agent));
    bool named = r->tag || r->agent || r->ephemeral == RAMET_ONLY || r->archived == RAMET_ONLY ||
                 r->since == RAMET_SINCE_ARCHIVED;
    if (!r->age_us && !named)
        return call_fail(c, RAMET_INVALID, "older_than_seconds",
                         "rule %s would take every session; give it an age, a tag, an agent, "
                         "ephemeral or archived",
                         r->name);
    return RAMET_OK;
}

static bool text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool rules_same(const ramet_rule *a, size_t n, const ramet_rule *b, size_t m)
{
    for (size_t i = 0; i < n && n == m; i++)
        if (strcmp(a[i].name, b[i].name) != 0 || a[i].age_us != b[i].age_us ||
            a[i].since != b[i].since || !text_same(a[i].tag, b[i].tag) ||
            !text_same(a[i].agent, b[i].agent) || a[i].ephemeral != b[i].ephemeral ||
            a[i].archived != b[i].archived || a[i].private_too != b[i].private_too)
            return false;
    return n == m;
}

static void rules_store(txn *tx, const ramet_rule *rules, size_t n, const char *by)
{
    q_run(db_query(tx->db, Q_rule_clear));
    for (size_t i = 0; i < n; i++) {
        const ramet_rule *r = &rules[i];
        db_stmt *q = db_query(tx->db, Q_rule_add);
        q_int(q, 1, (int64_t)i);
        q_text(q, 2, r->name);
        q_int(q, 3, r->age_us);
        q_int(q, 4, r->since);
        q_text(q, 5, r->tag);
        q_text(q, 6, r->agent);
        q_int(q, 7, r->ephemeral);
        q_int(q, 8, r->archived);
        q_int(q, 9, r->private_too);
        q_text(q, 10, by);
        q_int(q, 11, tx->now);
        q_run(q);
    }
}

typedef struct set_job {
    const ramet_retention_in *in;
    const ramet_rule *rules; /* checked */
    ramet_retention **out;
} set_job;

static ramet_status set_run(txn *tx, void *arg)
{
    const set_job *j = arg;
    ramet_retention *r = arena_alloc(tx->arena, sizeof *r);
    retention_load(tx, r);
    TRY(txn_status(tx));
    bool same = rules_same(r->rules, r->n, j->rules, j->in->n);
    if (j->in->enabled && !(same && r->tried))
        return call_fail(tx->call, RAMET_DRY_RUN_FIRST, "enabled",
                         "these rules have not been tried: store them, make a dry run, and switch "
                         "them on then");
    if (!same)
        rules_store(tx, j->rules, j->in->n, j->in->by);
    state_store(tx, same ? r->tried : 0, j->in->enabled);
    if (j->out) {
        retention_load(tx, r);
        ANSWER(tx, j->out);
        *j->out = r;
    }
    return txn_status(tx);
}

ramet_status ramet_retention_set(ramet_call *c, const ramet_retention_in *in, ramet_retention **out)
{
    if (out)
        *out = NULL;
    TRY(program_only(c));
    if (in->n > RAMET_MAX_RULES)
        return call_fail(c, RAMET_TOO_LARGE, "rules", "%zu rules; at most %d are kept", in->n,
                         RAMET_MAX_RULES);
    if (in->by)
        TRY(check_id(c, "by", in->by));
    ramet_rule *rules = arena_array(c->arena, in->n, sizeof *rules);
    for (size_t i = 0; i < in->n; i++) {
        rules[i] = in->rules[i];
        TRY(rule_check(c, &rules[i]));
        for (size_t k = 0; k < i; k++)
            if (strcmp(rules[k].name, rules[i].name) == 0)
                return call_fail(c, RAMET_INVALID, "name", "two rules have the name %s",
                                 rules[i].name);
    }
    set_job j = {in, rules, out};
    ramet_status st = txn_write(c, set_run, &j);
    if (st != RAMET_OK && out)
        *out = NULL;
    return st;
}

/* --------------------------------------------------------------------- runs */

typedef struct session_name {
    int64_t tree, no;
} session_name;

typedef VEC(ramet_removal) removal_list;

typedef struct run {
    ramet_call *call;
    const ramet_retention_run_in *in;
    ramet_progress progress;
    void *arg;
    ramet_retention_out *out;
    ramet_retention rules; /* as they stood when the run began */
    removal_list listed;
    int64_t total;             /* sessions, for progress */
    int64_t at_created, at_no; /* where the next page begins */
    arena *page;               /* memory of one page and of the writes for it */
    bool end;                  /* there are no more pages */
    bool over;                 /* the rules have changed, or were switched off */
} run;

static void removal_note(run *r, const ramet_removal *one)
{
    r->out->sessions++;
    r->out->entries += one->entries;
    if (r->listed.n < MAX_LISTED) {
        arena *a = r->call->arena;
        ramet_removal kept = {arena_strdup(a, one->session),
                              arena_strdup(a, one->tree_id),
                              arena_strdup(a, one->rule),
                              one->entries,
                              one->who ? arena_strdup(a, one->who) : NULL,
                              one->at};
        VEC_PUSH(a, &r->listed, kept);
    }
}

typedef struct page_look {
    const run *run;
    const session_full *rows;
} page_look;

static judgement row_judge(txn *tx, const run *r, const session_full *s)
{
    if (!s->id || session_gone(tx, &s->access))
        return (judgement){.kept = "it is gone"};
    return session_judge(tx, s, &r->rules);
}

static void judge_make(txn *tx, void *arg, size_t i)
{
    const page_look *k = arg;
    row_judge(tx, k->run, &k->rows[i]);
}

typedef VEC(session_name) name_list;

static void page_judge(txn *tx, run *r, name_list *goes)
{
    VEC(session_full) rows = {0};
    db_stmt *q = db_query(tx->db, Q_session_newest);
    q_int(q, 1, r->at_created);
    q_int(q, 2, r->at_no);
    q_int(q, 3, PAGE);
    while (q_row(q)) {
        session_full s;
        session_from(q, tx->arena, &s);
        VEC_PUSH(tx->arena, &rows, s);
    }
    page_look look = {r, rows.items};
    txn_prefetch(tx, judge_make, &look, rows.n);
    for (size_t i = 0; i < rows.n; i++) {
        const session_full *s = &rows.items[i];
        judgement j = row_judge(tx, r, s);
        r->at_created = s->created;
        r->at_no = s->no;
        r->out->looked_at += s->id && !session_gone(tx, &s->access);
        if (j.kept)
            continue;
        VEC_PUSH(tx->arena, goes, ((session_name){s->tree, s->no}));
        if (r->in->dry_run)
            removal_note(r, &(ramet_removal){.session = s->id,
                                             .tree_id = tree_id(tx, s->tree),
                                             .rule = j.rule->name,
                                             .entries = session_own_entries(tx, &s->access)});
    }
    db_performed(tx->db);
    r->end = rows.n < PAGE;
}

typedef struct remove_job {
    run *run;
    const session_name *names;
    size_t n;
    ramet_removal done[REMOVE_BATCH];
    size_t n_done;
} remove_job;

static void removal_log(txn *tx, const ramet_removal *one)
{
    db_stmt *q = db_query(tx->db, Q_removed_add);
    q_int(q, 1, one->at);
    q_text(q, 2, one->session);
    q_text(q, 3, one->tree_id);
    q_text(q, 4, one->rule);
    q_int(q, 5, one->entries);
    q_text(q, 6, one->who);
    q_run(q);
}

static ramet_status remove_run(txn *tx, void *arg)
{
    remove_job *j = arg;
    run *r = j->run;
    ramet_retention rules;
    txn look = *tx;
    look.arena = r->page;
    j->n_done = 0;
    retention_load(&look, &rules);
    r->over = !rules.tried || (r->in->scheduled && !rules.enabled);
    for (size_t i = 0; i < j->n && !r->over; i++) {
        session_full s;
        if (!session_by_no(&look, j->names[i].tree, j->names[i].no, &s) || !s.id ||
            session_gone(tx, &s.access))
            continue;
        judgement what = session_judge(&look, &s, &rules);
        if (what.kept)
            continue;
        ramet_removal one = {.session = s.id,
                             .tree_id = tree_id(&look, s.tree),
                             .rule = what.rule->name,
                             .entries = session_own_entries(&look, &s.access),
                             .who = r->in->by,
                             .at = tx->now};
        /* A deletion of its own: restoring one session with its tree brings back no other. */
        session_remove(tx, &s, db_number(tx->db, DB_DELETION, NULL));
        removal_log(tx, &one);
        j->done[j->n_done++] = one;
    }
    return txn_status(tx);
}

static ramet_status names_remove(run *r, const name_list *names)
{
    for (size_t at = 0; at < names->n && !r->over; at += REMOVE_BATCH) {
        size_t left = names->n - at;
        remove_job j = {r, names->items + at, left < REMOVE_BATCH ? left : REMOVE_BATCH, {{0}}, 0};
        TRY(txn_revoke(r->call, remove_run, &j));
        for (size_t i = 0; i < j.n_done; i++)
            removal_note(r, &j.done[i]);
    }
    return RAMET_OK;
}

static ramet_status page_run(run *r)
{
    txn tx;
    name_list goes = {0};
    if (!txn_read(&tx, r->call))
        return r->call->err.status;
    arena_reset(r->page);
    tx.arena = r->page;
    page_judge(&tx, r, &goes);
    tx.arena = r->call->arena;
    TRY(txn_done(&tx, RAMET_OK));
    if (!r->in->dry_run)
        TRY(names_remove(r, &goes));
    if (r->progress && !r->progress(r->arg, "retention", r->out->looked_at, r->total))
        return call_fail(r->call, RAMET_STOP, NULL, "retention was stopped; the next run goes on");
    return RAMET_OK;
}

typedef struct tried_job {
    const ramet_retention *rules;
} tried_job;

/* A dry run is over: from now on the rules may be switched on, unless they have changed. */
static ramet_status tried_run(txn *tx, void *arg)
{
    const tried_job *j = arg;
    ramet_retention now;
    retention_load(tx, &now);
    if (rules_same(now.rules, now.n, j->rules->rules, j->rules->n))
        state_store(tx, tx->now, now.enabled);
    return txn_status(tx);
}

static ramet_status rules_begin(run *r)
{
    txn tx;
    if (!txn_read(&tx, r->call))
        return r->call->err.status;
    retention_load(&tx, &r->rules);
    db_stmt *q = db_query(tx.db, Q_session_counts);
    q_int(q, 1, tx.now);
    r->total = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    TRY(txn_done(&tx, RAMET_OK));
    if (r->in->scheduled && !r->rules.enabled)
        r->out->skipped = true;
    else if (!r->in->dry_run && r->rules.n && !r->rules.tried)
        return call_fail(r->call, RAMET_DRY_RUN_FIRST, "dry_run",
                         "the rules have changed since the last dry run; make one first");
    return RAMET_OK;
}

static ramet_status pages_run(run *r)
{
    ramet_status st = RAMET_OK;
    r->page = arena_new();
    r->at_created = r->at_no = INT64_MAX;
    while (st == RAMET_OK && r->rules.n && !r->end && !r->over)
        st = page_run(r);
    arena_free(r->page);
    r->out->removals = r->listed.items;
    r->out->n = r->listed.n;
    return st;
}

ramet_status ramet_retention_run(ramet_call *c, const ramet_retention_run_in *in,
                                 ramet_progress progress, void *arg, ramet_retention_out *out)
{
    *out = (ramet_retention_out){.dry_run = in->dry_run};
    run r = {.call = c, .in = in, .progress = progress, .arg = arg, .out = out};
    TRY(program_only(c));
    if (in->by)
        TRY(check_id(c, "by", in->by));
    TRY(rules_begin(&r));
    if (out->skipped)
        return RAMET_OK;
    if (in->dry_run) {
        tried_job j = {&r.rules};
        TRY(pages_run(&r));
        return txn_write(c, tried_run, &j);
    }
    if (!store_job(c->ramet->store, JOB, in->every_us)) {
        out->skipped = true;
        return RAMET_OK;
    }
    ramet_status st = pages_run(&r);
    store_job_end(c->ramet->store, JOB);
    return st;
}

/* ---------------------------------------------------------------------- log */

/* A cursor is the time and the id of the last row. */
static bool cursor_read(const char *s, int64_t *at, const char **id)
{
    unsigned long long time;
    int used = 0;
    char canonical[32];
    if (sscanf(s, "%16llx-%n", &time, &used) != 1 || !used || time > INT64_MAX)
        return false;
    snprintf(canonical, sizeof canonical, "%llx-", time);
    if (strncmp(s, canonical, strlen(canonical)) != 0 || strlen(s) > 300)
        return false;
    *at = (int64_t)time;
    *id = s + used;
    return true;
}

ramet_status ramet_removals(ramet_call *c, int limit, const char *cursor, ramet_removal **out,
                            size_t *n, const char **next)
{
    txn tx;
    int64_t at = INT64_MAX;
    const char *id = "";
    VEC(ramet_removal) v = {0};
    *out = NULL;
    *n = 0;
    *next = NULL;
    TRY(program_only(c));
    TRY(check_limit(c, limit, 1000, 50, &limit));
    if (cursor && !cursor_read(cursor, &at, &id))
        return call_fail(c, RAMET_BAD_CURSOR, "cursor", "the cursor was not made by this list");
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_removed_page);
    q_int(q, 1, at);
    q_text(q, 2, id);
    q_int(q, 3, limit + 1);
    while (q_row(q)) {
        ramet_removal one = {.session = q_need_text(q, 1, tx.arena, "removed.id"),
                             .tree_id = q_need_text(q, 2, tx.arena, "removed.tree"),
                             .rule = q_need_text(q, 3, tx.arena, "removed.rule"),
                             .entries = q_col_int(q, 4),
                             .who = q_keep_text(q, 5, tx.arena),
                             .at = q_col_int(q, 0)};
        VEC_PUSH(tx.arena, &v, one);
    }
    TRY(txn_done(&tx, RAMET_OK));
    *n = v.n > (size_t)limit ? (size_t)limit : v.n;
    *out = v.items;
    if (v.n > *n) {
        const ramet_removal *last = &v.items[*n - 1];
        *next = arena_printf(c->arena, "%llx-%s", (unsigned long long)last->at, last->session);
    }
    return RAMET_OK;
}
