/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_store.c: operations on the store as a whole: search, fsck, gc, backup, reopening; and the
 * check of everything.
 */
#include "driver.h"
#include "ramet/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ search */

typedef struct scan {
    const op *o;
    char query[100];
    ramet_search_in in;
    const m_session *session;
    const m_tree *tree;
} scan;

static bool session_searched(const world *w, const scan *k, const m_session *s)
{
    if (!m_shown(&w->m, s, w->user) || (k->session && s != k->session) ||
        (k->tree && s->tree != k->tree) || (k->in.agent && !m_same(k->in.agent, s->agent_name)))
        return false;
    bool tagged = !k->in.tag;
    for (size_t i = 0; i < s->tags.n; i++)
        tagged |= k->in.tag && strcmp(k->in.tag, s->tags.items[i]) == 0;
    return tagged;
}

typedef enum { NO_HIT, MAY_HIT, MUST_HIT } hit_level;

/* A match is shown in the session that appended it, and when the caller may not see that one, in
 * some other that he may see and that holds it; the filters are about the session shown. */
static hit_level entry_searched(const world *w, const scan *k, const m_entry *e)
{
    bool any = false, all = true;
    if (m_hidden(e) || e->owner->log != RAMET_LOG_MAIN || !content_matches(k->o->a[A_Q], e->text) ||
        (k->in.role && k->in.role != e->role) || (k->in.since && e->created < k->in.since) ||
        (k->in.until && e->created >= k->in.until))
        return NO_HIT;
    for (size_t i = 0; i < e->by->tree->sessions.n; i++) {
        const m_session *s = e->by->tree->sessions.items[i];
        if (!m_shown(&w->m, s, w->user) || !m_holds(s, e))
            continue;
        bool fits = session_searched(w, k, s);
        if (fits && (s == e->by || k->session))
            return MUST_HIT;
        any |= fits;
        all &= fits;
    }
    return !any ? NO_HIT : all ? MUST_HIT : MAY_HIT;
}

static void hit_compare(world *w, const scan *k, const ramet_hit *hit)
{
    m_session *s = model_find(&w->m, hit->session);
    m_entry *e = NULL;
    if (!s || !session_searched(w, k, s)) {
        world_fail(w, "hit.session", "'%s' is not one of those searched", hit->session);
        return;
    }
    for (size_t i = 0; i < w->m.branches.n && !e; i++) {
        const m_branch *b = w->m.branches.items[i];
        if (b->id == hit->branch && (int64_t)b->n > hit->position)
            e = b->path[hit->position];
    }
    if (!e || !m_holds(s, e) || !entry_searched(w, k, e)) {
        world_fail(w, "hit.entry", "'%s' at b%" PRId64 ":%" PRId64 " in '%s' is none (%s)",
                   hit->entry_id, hit->branch, hit->position, hit->session, k->in.query);
        return;
    }
    size_t p = (size_t)e->position;
    same_text(w, "hit.entry_id", hit->entry_id, e->id);
    same_int(w, "hit.role", (int64_t)hit->role, (int64_t)e->role);
    same_time(w, "hit.created", hit->created, e->created);
    same_int(w, "hit.abandoned", hit->abandoned, !(s->head->n > p && s->head->path[p] == e));
    if (e->mark == w->m.marks)
        world_fail(w, "hit.twice", "'%s' at b%" PRId64, hit->entry_id, hit->branch);
    e->mark = w->m.marks;
}

static bool tree_shown(const world *w, const m_tree *t)
{
    for (size_t i = 0; i < t->sessions.n; i++)
        if (m_shown(&w->m, t->sessions.items[i], w->user))
            return true;
    return false;
}

/* What to search for; objections are the answer. */
static m_set scan_make(world *w, const op *o, scan *k)
{
    const char *const *tags;
    size_t n_tags = content_tags(o->a[A_TAGS], &tags);
    ramet_agent agent;
    m_session *s = NULL;
    bool one = o->a[A_K] % 4 == 1;
    const m_session *of = o->a[A_TREE] ? slot_session(w, o->a[A_S1]) : NULL;
    const m_entry *then = NULL;
    int limit = limit_ref(o->a[A_LIM]);
    m_set bad = one ? m_open(&w->m, w->user, slot_id(w, o->a[A_S]), RAMET_READER, &s) : 0;
    content_agent(o->a[A_AGENT], &agent);
    content_query(o->a[A_Q], k->query, sizeof k->query);
    k->o = o;
    k->session = s;
    k->tree = of ? of->tree : NULL;
    k->in = (ramet_search_in){.query = k->query,
                              .session = one ? slot_id(w, o->a[A_S]) : NULL,
                              .tree = of ? of->tree->id : NULL,
                              .tag = n_tags && o->a[A_TAGS] == 1 ? tags[0] : NULL,
                              .agent = o->a[A_K] % 8 == 7 ? agent.name : NULL,
                              .role = (ramet_role)o->a[A_ROLE],
                              .limit = limit < 0 || limit > 200 ? 200 : limit};
    if (w->m.entries.n)
        then = w->m.entries.items[(size_t)o->a[A_Q] * 31 % w->m.entries.n];
    if (then && o->a[A_K] % 8 == 3)
        k->in.since = then->created;
    if (then && o->a[A_K] % 8 == 6)
        k->in.until = then->created;
    return bad;
}

void run_search(world *w, const op *o)
{
    char cursor[600];
    bool bounded = false;
    scan k = {0};
    m_set bad = scan_make(w, o, &k);
    w->m.marks++;
    for (int page = 0; page < 2000 && !world_failed(w); page++) {
        ramet_hits got = {0};
        ramet_status st = ramet_search(w->call, &k.in, &got);
        if (st == RAMET_TREE_NOT_FOUND && k.tree && !tree_shown(w, k.tree))
            bad |= M(TREE_NOT_FOUND);
        world_judge(w, st, bad ? bad : M(OK));
        if (st || world_failed(w))
            return;
        for (size_t i = 0; i < got.n && !world_failed(w); i++)
            hit_compare(w, &k, &got.items[i]);
        bounded |= got.bounded;
        if (!got.next_cursor)
            break;
        snprintf(cursor, sizeof cursor, "%s", got.next_cursor);
        k.in.cursor = cursor;
        if (page == 4)
            k.in.limit = 200; /* enough of small pages */
        ramet_call_reset(w->call);
    }
    for (size_t i = 0; i < w->m.entries.n && !bounded && !world_failed(w); i++) {
        const m_entry *e = w->m.entries.items[i];
        if (e->mark != w->m.marks && entry_searched(w, &k, e) == MUST_HIT)
            world_fail(w, "search.n", "'%s' of '%s' is missing (%s)", e->id, e->by->id, k.query);
    }
}

void run_search_update(world *w, const op *o)
{
    int64_t indexed = 0;
    ramet_status st = ramet_search_update(w->call, o->a[A_TREE], &indexed);
    world_judge(w, st, w->user && o->a[A_TREE] ? M(FORBIDDEN) : M(OK));
}

/* ------------------------------------------------------------------ upkeep */

void run_gc(world *w, const op *o)
{
    ramet_gc_out got = {0};
    bool dry = o->a[A_DRY];
    int64_t sessions, expired, entries;
    ramet_status st = ramet_gc(w->call, dry, NULL, NULL, &got);
    world_judge(w, st, w->user ? M(FORBIDDEN) : M(OK));
    if (st)
        return;
    model_gc(&w->m, dry, &sessions, &expired, &entries);
    same_int(w, "gc.sessions", got.sessions, sessions);
    same_int(w, "gc.expired", got.expired, expired);
    same_int(w, "gc.entries", got.entries, entries);
    same_int(w, "gc.dry_run", got.dry_run, dry);
}

static void fsck(world *w, ramet_call *c)
{
    ramet_fsck_out got = {0};
    ramet_status st = ramet_fsck(c, NULL, NULL, &got);
    if (st)
        world_fail(w, "fsck", "%s: %s", ramet_status_code(st), ramet_call_error(c)->message);
    else if (got.n_all)
        world_fail(w, "fsck", "%" PRId64 " faults, the first: %s (%s, %s)", got.n_all,
                   got.faults[0].what, got.faults[0].session ? got.faults[0].session : "",
                   got.faults[0].entry_id ? got.faults[0].entry_id : "");
}

void run_fsck(world *w, const op *o)
{
    (void)o;
    ramet_fsck_out got = {0};
    if (w->user)
        world_judge(w, ramet_fsck(w->call, NULL, NULL, &got), M(FORBIDDEN));
    else
        fsck(w, w->call);
}

void run_stat(world *w, const op *o)
{
    (void)o;
    ramet_stats got = {0};
    ramet_status st = ramet_stat(w->call, &got);
    world_judge(w, st, w->user ? M(FORBIDDEN) : M(OK));
    if (st || world_failed(w))
        return;
    int64_t entries = 0;
    for (size_t i = 0; i < w->m.entries.n; i++)
        entries += !((m_entry *)w->m.entries.items[i])->gone;
    same_int(w, "stat.entries", got.entries, entries);
}

/* The store beside the real one is whole, with the same sessions. */
static void beside_check(world *w, const char *ending)
{
    ramet *live = w->r[0];
    ramet_call *c = w->call;
    char path[sizeof w->path];
    memcpy(path, w->path, sizeof path);
    snprintf(w->path, sizeof w->path, "%s%s", w->file, ending);
    if (world_open(w, 0) == RAMET_OK) {
        w->call = ramet_call_new(w->r[0], NULL, NULL);
        fsck(w, w->call);
        for (size_t i = 0; i < w->m.sessions.n && i < 20 && !world_failed(w); i++)
            session_check(w, w->m.sessions.items[i]);
        ramet_call_free(w->call);
        ramet_close(w->r[0]);
    }
    w->call = c;
    w->r[0] = live;
    memcpy(w->path, path, sizeof path);
}

void run_backup(world *w, const op *o)
{
    (void)o;
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char copy[220], name[240];
    snprintf(copy, sizeof copy, "%s.copy", w->file);
    ramet_status st = ramet_backup(w->call, copy, NULL, NULL);
    world_judge(w, st, w->user ? M(FORBIDDEN) : w->database ? M(INVALID) : M(OK));
    if (st == RAMET_OK && !world_failed(w))
        beside_check(w, ".copy");
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", copy, ends[i]);
        unlink(name);
    }
}

/* The twin stays, so that each copy has to find what changed since the one before. */
void run_copy(world *w, const op *o)
{
    (void)o;
    char twin[220];
    ramet_copy_out out = {0};
    snprintf(twin, sizeof twin, "%s.twin", w->file);
    ramet_status st = ramet_copy(w->call, twin, NULL, NULL, NULL, &out);
    world_judge(w, st, w->user ? M(FORBIDDEN) : M(OK));
    if (st || world_failed(w))
        return;
    if (out.n)
        world_fail(w, "copy", "%s", out.faults[0].what);
    ramet_copy_in verify = {.verify_only = true};
    st = ramet_copy(w->call, twin, &verify, NULL, NULL, &out);
    if (st || out.n || strcmp(out.source_digest, out.target_digest) != 0)
        world_fail(w, "copy verify", "%s: %s", ramet_status_code(st),
                   out.n ? out.faults[0].what : "the digests differ");
    if (!world_failed(w))
        beside_check(w, ".twin");
}

static bool file_take(void *arg, const void *bytes, size_t n)
{
    return fwrite(bytes, 1, n, arg) == n;
}

/* Imports a file into an empty store of its own and exports that; the error of either is `err`. */
static ramet_status away(const char *path, const char *user, const char *text, size_t n, FILE *out,
                         ramet_fsck_out *checked, ramet_error *err)
{
    ramet *r;
    ramet_import *m = NULL;
    ramet_import_out added;
    ramet_export_out sums;
    ramet_status st = (ramet_open)(path, NULL, &r, err);
    if (st)
        return st;
    ramet_call *c = (ramet_call_new)(r, user, NULL), *program = (ramet_call_new)(r, NULL, NULL);
    st = ramet_import_begin(c, NULL, 0, &m);
    if (!st)
        st = ramet_import_add(m, text, n);
    if (!st)
        st = ramet_import_run(m, NULL, NULL, &added);
    ramet_import_close(m);
    if (!st)
        st = (ramet_export)(c, &(ramet_export_in){.with_adk = !user}, file_take, out, NULL, NULL,
                            &sums);
    *err = *(ramet_call_error)(c);
    (ramet_fsck)(program, NULL, NULL, checked);
    checked->faults = NULL;
    (ramet_call_free)(c);
    (ramet_call_free)(program);
    (ramet_close)(r);
    return st;
}

/* What comes out of the store that it was imported into are the same bytes, for the program; a user
 * gets a sound store. */
void run_export(world *w, const op *o)
{
    (void)o;
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", "-search"};
    char path[220], name[240];
    char *before = NULL, *after = NULL;
    size_t n = 0, m = 0;
    FILE *a = open_memstream(&before, &n), *b = open_memstream(&after, &m);
    ramet_export_out out;
    ramet_fsck_out checked = {0};
    ramet_error err = {0};
    snprintf(path, sizeof path, "%s.away", w->file);
    ramet_status st = ramet_export(w->call, &(ramet_export_in){.with_adk = !w->user}, file_take, a,
                                   NULL, NULL, &out);
    fclose(a);
    world_judge(w, st, M(OK));
    if (!st && !world_failed(w)) {
        st = away(path, w->user, before, n, b, &checked, &err);
        fflush(b);
        if (st || checked.n_all)
            world_fail(w, "import", "%s: %s, %" PRId64 " faults", ramet_status_code(st),
                       err.message, checked.n_all);
        else if (!w->user && (n != m || memcmp(before, after, n) != 0))
            world_fail(w, "export", "what was imported comes out otherwise");
    }
    fclose(b);
    free(before);
    free(after);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
    snprintf(name, sizeof name, "%s.import", path);
    rmdir(name);
}

void run_reopen(world *w, const op *o)
{
    (void)o;
    ramet_call_free(w->call);
    w->call = NULL;
    world_close(w, 1);
    world_close(w, 0);
    world_open(w, 0);
}

/* The second handle is opened, or closed. */
void run_second(world *w, const op *o)
{
    (void)o;
    if (w->r[1]) {
        ramet_call_free(w->call);
        w->call = NULL;
        world_close(w, 1);
    } else {
        world_open(w, 1);
    }
}

/* Every read of every session, as the embedding program. */
void run_check(world *w, const op *o)
{
    (void)o;
    w->user = NULL;
    ramet_call_free(w->call);
    w->call = world_program(w);
    for (size_t i = 0; i < w->m.sessions.n && !world_failed(w); i++)
        session_check(w, w->m.sessions.items[i]);
    if (!world_failed(w))
        fsck(w, w->call);
}
