/* SPDX-License-Identifier: Apache-2.0
 *
 * story.c: see story.h.
 */
#include "story.h"
#include "ramet/branches.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A read that is being written down. */
typedef struct telling {
    story *s;
    ramet_call *c;
    bool numbers; /* write branch numbers too */
    FILE *f;
    char *text;
    size_t size;
} telling;

static void tell_begin(telling *t)
{
    t->text = NULL;
    t->f = must(open_memstream(&t->text, &t->size));
}

/* Ends a read: keeps its text, or its error when it failed. */
__attribute__((format(printf, 4, 5))) static void
tell_end(telling *t, story_tier tier, ramet_status status, const char *fmt, ...)
{
    story *s = t->s;
    va_list ap;
    fclose(t->f);
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 64;
        s->items = mem_grow(s->items, s->cap * sizeof *s->items);
    }
    story_item *i = &s->items[s->n++];
    i->tier = tier;
    i->status = status;
    va_start(ap, fmt);
    if (vasprintf(&i->key, fmt, ap) < 0)
        abort();
    va_end(ap);
    i->text = t->text;
    if (status) {
        free(i->text);
        i->text = text_new("%s: %s", ramet_status_code(status), ramet_call_error(t->c)->message);
    }
    ramet_call_reset(t->c);
}

static const char *shown(const char *s)
{
    return s ? s : "-";
}

static void entry_tell(telling *t, const ramet_entry *e)
{
    fprintf(t->f, "%lld %s %s %s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%lld", (long long)e->position, e->id,
            e->hash, shown(ramet_role_name(e->role)), shown(e->text), shown(e->parts),
            shown(e->format), shown(e->body), shown(e->turn_id), shown(e->channel),
            shown(e->author), shown(e->client), shown(e->state_delta), (long long)e->created);
    if (e->usage)
        fprintf(t->f, "|%lld %lld %lld %lld %s", (long long)e->usage->input,
                (long long)e->usage->output, (long long)e->usage->cached, (long long)e->usage->cost,
                shown(e->usage->currency));
    if (t->numbers)
        fprintf(t->f, "|%lld", (long long)e->branch);
    fputc('\n', t->f);
}

static void page_tell(telling *t, const ramet_page *p)
{
    fprintf(t->f, "%lld %s %d %d\n", (long long)p->head.length, p->head.hash, p->more_before,
            p->more_after);
    for (size_t i = 0; i < p->n; i++)
        entry_tell(t, &p->entries[i]);
}

static void path_tell(telling *t, const char *session, int64_t branch, size_t number)
{
    ramet_stream *stream = NULL;
    tell_begin(t);
    ramet_status s = ramet_stream_open(t->c, session, &(ramet_read_in){.branch = branch}, &stream);
    if (!s) {
        int64_t n = 0, length = ramet_stream_length(stream);
        const ramet_entry *e = NULL;
        while (!(s = ramet_stream_next(stream, &e)) && e) {
            entry_tell(t, e);
            n++;
        }
        fprintf(t->f, "%lld of %lld\n", (long long)n, (long long)length);
        ramet_stream_close(stream);
    }
    if (branch)
        tell_end(t, STORY_HISTORY, s, "branch %s #%zu", session, number);
    else
        tell_end(t, STORY_HISTORY, s, "path %s", session);
}

static void label_tell(telling *t, const char *id)
{
    ramet_session *s;
    tell_begin(t);
    ramet_status st = ramet_session_get(t->c, id, &s);
    if (!st) {
        fprintf(t->f, "%s|%s|%s|%d|%s|%s|%d|%s|%d|%lld|%lld|%lld|%s\n", s->id, s->title, s->owner,
                s->visibility, shown(s->agent.name), shown(s->parent_id), s->type, shown(s->reason),
                s->archived, (long long)s->created, (long long)s->expires, (long long)s->depth,
                shown(s->metadata));
        for (size_t i = 0; i < s->n_tags; i++)
            fprintf(t->f, "%s ", s->tags[i]);
    }
    tell_end(t, STORY_LABEL, st, "label %s", id);
    tell_begin(t);
    st = ramet_session_get(t->c, id, &s);
    if (!st)
        fprintf(t->f, "%lld %s", (long long)s->head.length, s->head.hash);
    tell_end(t, STORY_HISTORY, st, "head %s", id);
    tell_begin(t);
    st = ramet_session_get(t->c, id, &s);
    if (!st)
        fprintf(t->f, "%s", shown(s->head.entry_id));
    tell_end(t, STORY_DERIVED, st, "tip %s", id);
}

/* Who moved the head, why, and by which command, is written there alone. */
static void moves_tell(telling *t, const char *id, bool labels)
{
    ramet_move *m;
    size_t n;
    bool more = true;
    int64_t before = 0;
    ramet_status s = RAMET_OK;
    tell_begin(t);
    while (more && !(s = ramet_head_log(t->c, id, before, 100, &m, &n, &more))) {
        for (size_t i = 0; i < n; i++)
            if (labels)
                fprintf(t->f, "%lld %s %s %s\n", (long long)m[i].number,
                        shown(ramet_move_name(m[i].kind)), shown(m[i].who), shown(m[i].reason));
            else
                fprintf(t->f, "%lld %lld %lld\n", (long long)m[i].number,
                        (long long)m[i].from_length, (long long)m[i].to_length);
        if (!n)
            break;
        before = m[n - 1].number;
    }
    tell_end(t, labels ? STORY_LABEL : STORY_DERIVED, s, "%s %s", labels ? "reasons" : "moves", id);
}

static void pages_tell(telling *t, const story_ask *a)
{
    ramet_page p;
    tell_begin(t);
    ramet_read_in tail = {.tail = true, .limit = 20};
    ramet_status s = ramet_read(t->c, a->session, &tail, &p);
    if (!s)
        page_tell(t, &p);
    tell_end(t, STORY_HISTORY, s, "tail %s", a->session);
    tell_begin(t);
    tail.versions = true;
    s = ramet_read(t->c, a->session, &tail, &p);
    for (size_t i = 0; !s && i < p.n; i++)
        fprintf(t->f, "%s %lld %d/%d\n", p.entries[i].id, (long long)p.entries[i].owner_no,
                p.entries[i].version, p.entries[i].versions);
    tell_end(t, STORY_DERIVED, s, "picker %s", a->session);
    tell_begin(t);
    s = ramet_read(t->c, a->session,
                   &(ramet_read_in){.limit = 30, .tail = true, .view = RAMET_VIEW_CONTEXT}, &p);
    for (size_t i = 0; !s && i < p.n; i++)
        fprintf(t->f, "%s %s\n", p.entries[i].id, p.entries[i].parts);
    tell_end(t, STORY_DERIVED, s, "context %s", a->session);
    for (int at = 0; at < 40; at += 13) {
        tell_begin(t);
        s = ramet_read(t->c, a->session,
                       &(ramet_read_in){.by_position = true, .position = at, .limit = 13}, &p);
        if (!s)
            page_tell(t, &p);
        tell_end(t, STORY_HISTORY, s, "page %s from %d", a->session, at);
    }
    for (size_t i = 0; i < a->n_entries; i++) {
        ramet_entry *e;
        tell_begin(t);
        s = ramet_entry_get(t->c, a->session, 0, a->entries[i], &e);
        if (!s)
            entry_tell(t, e);
        tell_end(t, STORY_HISTORY, s, "entry %s %s", a->session, a->entries[i]);
        tell_begin(t);
        s = ramet_read(t->c, a->session,
                       &(ramet_read_in){.before = a->entries[i], .limit = 5, .tail = true}, &p);
        if (!s)
            page_tell(t, &p);
        tell_end(t, STORY_HISTORY, s, "before %s %s", a->session, a->entries[i]);
    }
}

static void record_tell(telling *t, const char *id)
{
    ramet_page p;
    int64_t total = 0, from = 0;
    ramet_status s;
    tell_begin(t);
    do {
        s = ramet_record(t->c, id, RAMET_LOG_MAIN, from, 200, &p, &total);
        for (size_t i = 0; !s && i < p.n; i++)
            entry_tell(t, &p.entries[i]);
        from += s ? 0 : (int64_t)p.n;
    } while (!s && p.n && from < total);
    fprintf(t->f, "%lld of %lld\n", (long long)from, (long long)total);
    /* What was pruned is a note, which nothing guards; the entries themselves are on their paths.
     */
    ramet_branch *b;
    size_t pruned = 0;
    ramet_branches_pruned(t->c, id, &b, &pruned);
    tell_end(t, pruned ? STORY_DERIVED : STORY_HISTORY, s, "record %s", id);
}

static void sum_tell(telling *t, const ramet_usage_sum *u)
{
    fprintf(t->f, "%lld %lld %lld %lld", (long long)u->entries, (long long)u->input,
            (long long)u->output, (long long)u->cached);
    for (size_t i = 0; i < u->n_money; i++)
        fprintf(t->f, " %lld %s", (long long)u->money[i].cost, shown(u->money[i].currency));
    fputc('\n', t->f);
}

static void sums_tell(telling *t, const story_ask *a)
{
    ramet_usage_out u;
    const char *json;
    tell_begin(t);
    ramet_status s = ramet_usage_get(t->c, a->session, &u);
    if (!s) {
        sum_tell(t, &u.own);
        sum_tell(t, &u.path);
        sum_tell(t, &u.tree);
    }
    tell_end(t, STORY_DERIVED, s, "usage %s", a->session);
    for (size_t i = 0; i <= a->n_entries; i++) {
        const char *at = i ? a->entries[i - 1] : NULL;
        tell_begin(t);
        s = ramet_state(t->c, a->session, at, &json);
        if (!s)
            fprintf(t->f, "%s", json);
        tell_end(t, STORY_DERIVED, s, "state %s at %s", a->session, shown(at));
    }
}

static void branches_tell(telling *t, const story_ask *a)
{
    ramet_branch *b;
    size_t n;
    tell_begin(t);
    ramet_status s = ramet_branches(t->c, a->session, &b, &n);
    for (size_t i = 0; !s && i < n; i++)
        fprintf(t->f, "%lld %lld %lld %lld %d %d %s %s\n", (long long)b[i].id,
                (long long)b[i].parent, (long long)b[i].base, (long long)b[i].length, b[i].type,
                b[i].current, shown(b[i].tip_id), shown(b[i].preview));
    tell_end(t, STORY_DERIVED, s, "branches %s", a->session);
    for (size_t k = 0; k < a->n_entries; k++) {
        ramet_version *v;
        tell_begin(t);
        s = ramet_versions(t->c, a->session, 0, a->entries[k], &v, &n);
        for (size_t i = 0; !s && i < n; i++)
            fprintf(t->f, "%lld %s %d %d %d %s\n", (long long)v[i].branch, v[i].entry_id,
                    v[i].number, v[i].type, v[i].current, shown(v[i].preview));
        tell_end(t, STORY_DERIVED, s, "versions %s %s", a->session, a->entries[k]);
    }
}

typedef ramet_status lineage_fn(ramet_call *c, const char *session, ramet_session **out, size_t *n);

static ramet_status tree_get(ramet_call *c, const char *session, ramet_session **out, size_t *n)
{
    return ramet_tree(c, session, false, out, n);
}

static void lineage_tell(telling *t, const char *id)
{
    static const struct {
        const char *name;
        lineage_fn *fn;
    } kinds[] = {{"ancestry", ramet_ancestry}, {"children", ramet_children}, {"tree", tree_get}};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        ramet_session *s;
        size_t n;
        tell_begin(t);
        ramet_status st = kinds[k].fn(t->c, id, &s, &n);
        for (size_t i = 0; !st && i < n; i++)
            fprintf(t->f, "%s %lld %s %d\n", shown(s[i].id), (long long)s[i].head.length,
                    s[i].head.hash, s[i].deleted);
        tell_end(t, STORY_DERIVED, st, "%s %s", kinds[k].name, id);
    }
    ramet_fork_point *p;
    size_t n;
    tell_begin(t);
    ramet_status st = ramet_fork_points(t->c, id, &p, &n);
    for (size_t i = 0; !st && i < n; i++)
        fprintf(t->f, "%lld %s %s %lld\n", (long long)p[i].position, shown(p[i].entry_id),
                shown(p[i].session), (long long)p[i].branch);
    tell_end(t, STORY_DERIVED, st, "fork points %s", id);
}

/* ---- what to ask */

static void ask_fill(ramet_call *c, story_ask *a)
{
    ramet_branch *b;
    ramet_page p;
    size_t n;
    if (!ramet_branches(c, a->session, &b, &n)) {
        a->n_branches = n;
        a->branches = mem_new(n * sizeof *a->branches);
        for (size_t i = 0; i < n; i++)
            a->branches[i] = b[i].id;
    }
    if (!ramet_read(c, a->session, &(ramet_read_in){.limit = 1000}, &p)) {
        a->entries = mem_new((p.n / 7 + 1) * sizeof *a->entries);
        for (size_t i = 3; i < p.n && a->n_entries < 4; i += 7)
            a->entries[a->n_entries++] = must(strdup(p.entries[i].id));
    }
    ramet_call_reset(c);
}

static void asks_find(story *s, ramet_call *c)
{
    char *cursor = NULL;
    do {
        ramet_session_list list;
        ramet_list_in in = {.limit = 500, .cursor = cursor, .archived = RAMET_ARCHIVED_INCLUDE};
        ramet_status st = ramet_session_find(c, &in, &list);
        free(cursor);
        cursor = NULL;
        if (st)
            break;
        s->asks = mem_grow(s->asks, (s->n_asks + list.n) * sizeof *s->asks);
        for (size_t i = 0; i < list.n; i++)
            s->asks[s->n_asks++] = (story_ask){.session = must(strdup(list.items[i].id))};
        if (list.next_cursor)
            cursor = must(strdup(list.next_cursor));
        ramet_call_reset(c);
    } while (cursor);
    for (size_t i = 0; i < s->n_asks; i++)
        ask_fill(c, &s->asks[i]);
}

static void asks_copy(story *s, const story *like)
{
    s->n_asks = like->n_asks;
    s->asks = mem_new(s->n_asks * sizeof *s->asks);
    for (size_t i = 0; i < s->n_asks; i++) {
        const story_ask *from = &like->asks[i];
        story_ask *to = &s->asks[i];
        to->session = must(strdup(from->session));
        to->n_branches = from->n_branches;
        to->branches = mem_new(from->n_branches * sizeof *to->branches);
        if (from->n_branches)
            memcpy(to->branches, from->branches, from->n_branches * sizeof *to->branches);
        to->n_entries = from->n_entries;
        to->entries = mem_new(from->n_entries * sizeof *to->entries);
        for (size_t k = 0; k < from->n_entries; k++)
            to->entries[k] = must(strdup(from->entries[k]));
    }
}

story *story_take(ramet *r, const story *like, bool full)
{
    story *s = mem_new(sizeof *s);
    telling t = {.s = s, .c = ramet_call_new(r, NULL, NULL), .numbers = full};
    if (like)
        asks_copy(s, like);
    else
        asks_find(s, t.c);
    for (size_t i = 0; i < s->n_asks; i++) {
        const story_ask *a = &s->asks[i];
        label_tell(&t, a->session);
        path_tell(&t, a->session, 0, 0);
        for (size_t k = 0; k < a->n_branches; k++)
            path_tell(&t, a->session, a->branches[k], k);
        moves_tell(&t, a->session, false);
        moves_tell(&t, a->session, true);
        if (!full)
            continue;
        pages_tell(&t, a);
        record_tell(&t, a->session);
        sums_tell(&t, a);
        branches_tell(&t, a);
        lineage_tell(&t, a->session);
    }
    ramet_call_free(t.c);
    return s;
}

void story_add(story *s, ramet_call *c, story_tier tier, const char *key, story_read *read,
               void *arg)
{
    telling t = {.s = s, .c = c};
    tell_begin(&t);
    ramet_status st = read(c, arg, t.f);
    tell_end(&t, tier, st, "%s", key);
}

void story_free(story *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->items[i].key);
        free(s->items[i].text);
    }
    for (size_t i = 0; i < s->n_asks; i++) {
        free(s->asks[i].session);
        free(s->asks[i].branches);
        for (size_t k = 0; k < s->asks[i].n_entries; k++)
            free(s->asks[i].entries[k]);
        free(s->asks[i].entries);
    }
    free(s->items);
    free(s->asks);
    free(s);
}

/* ---- comparing: both were asked in the same order, so item by item */

const story_item *story_differs(const story *a, const story *b, const story_item **other)
{
    for (size_t i = 0; i < a->n || i < b->n; i++) {
        const story_item *x = i < a->n ? &a->items[i] : NULL, *y = i < b->n ? &b->items[i] : NULL;
        if (x && y && !strcmp(x->key, y->key) && x->status == y->status &&
            !strcmp(x->text, y->text))
            continue;
        *other = x ? y : NULL;
        return x ? x : y;
    }
    return NULL;
}

const char *text_parting(const char *wanted, const char *got)
{
    static _Thread_local char out[400];
    size_t i = 0;
    while (wanted[i] && wanted[i] == got[i])
        i++;
    size_t from = i > 20 ? i - 20 : 0;
    snprintf(out, sizeof out, "at byte %zu: wanted \"%.80s\", got \"%.80s\"", i, wanted + from,
             got + from);
    for (char *p = out; *p; p++)
        if (*p == '\n')
            *p = '/';
    return out;
}

bool story_same(const story *wanted, const story *got, const char *when)
{
    const story_item *other, *item = story_differs(wanted, got, &other);
    if (!item)
        return true;
    if (!other)
        wrong("%s: \"%s\" is on one side only", when, item->key);
    else if (strcmp(item->key, other->key))
        wrong("%s: \"%s\" stands where \"%s\" was wanted", when, other->key, item->key);
    else
        wrong("%s: \"%s\" differs %s", when, item->key, text_parting(item->text, other->text));
    return false;
}
