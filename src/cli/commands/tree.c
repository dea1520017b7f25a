/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c: `ramet tree` draws the forks of one tree, or the roots of all.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "form/native.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ one tree */

typedef struct twig {
    const ramet_session *session;
    size_t first, last, next; /* first and last fork, next fork of the same parent; 0 = none */
    int64_t base;             /* where it left its parent; -1: unknown */
} twig;

typedef struct drawing {
    cli *cli;
    twig *twigs; /* from index 1 on */
    size_t n;
    size_t *by_id;
    const char *here;
    int64_t depth; /* draw no deeper */
} drawing;

static const twig *sorting;

static int compare_ids(const void *a, const void *b)
{
    return strcmp(sorting[*(const size_t *)a].session->id, sorting[*(const size_t *)b].session->id);
}

static size_t twig_find(const drawing *d, const char *id)
{
    size_t low = 0, high = d->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(d->twigs[d->by_id[middle]].session->id, id);
        if (order == 0)
            return d->by_id[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* The nearest session above it that is in the list: some may be hidden. */
static size_t twig_parent(const drawing *d, const ramet_session *s)
{
    for (size_t i = s->n_path > 1 ? s->n_path - 1 : 0; i-- > 0;) {
        size_t at = twig_find(d, s->path[i]);
        if (at)
            return at;
    }
    return s->parent_id ? twig_find(d, s->parent_id) : 0;
}

static void drawing_link(drawing *d, const ramet_session *list, size_t n)
{
    arena *mem = d->cli->mem;
    d->n = n;
    d->twigs = arena_array(mem, n + 1, sizeof *d->twigs);
    d->by_id = arena_array(mem, n, sizeof *d->by_id);
    for (size_t i = 0; i < n; i++) {
        d->twigs[i + 1].session = &list[i];
        d->by_id[i] = i + 1;
    }
    sorting = d->twigs;
    qsort(d->by_id, n, sizeof *d->by_id, compare_ids);
    /* Twig 0 is the parent of sessions without one in the list. */
    for (size_t i = 1; i <= n; i++) {
        twig *p = &d->twigs[twig_parent(d, d->twigs[i].session)];
        if (p->last)
            d->twigs[p->last].next = i;
        else
            p->first = i;
        p->last = i;
    }
}

/* Where it left its parent, and the name of the branch that it is on. */
typedef struct place {
    int64_t base; /* of its first branch; -1: it is no fork */
    const char *name;
} place;

static place place_of(cli *c, const ramet_session *s)
{
    ramet_branch *list;
    size_t n;
    place at = {.base = -1, .name = ""};
    lib->ramet_call_reset(c->walk);
    if (s->deleted || lib->ramet_branches(c->walk, s->id, &list, &n) != RAMET_OK || !n)
        return at;
    for (size_t i = 0; i < n; i++)
        if (list[i].current)
            at.name = arena_strdup(c->mem, list[i].name);
    if (!s->is_fork)
        return at;
    at.base = list[0].base;
    /* Its first branch was made with it; it may have been pruned since. */
    if (list[0].created != s->created &&
        lib->ramet_branches_pruned(c->walk, s->id, &list, &n) == RAMET_OK && n &&
        list[0].created == s->created)
        at.base = list[0].base;
    return at;
}

static const char *remarks(cli *c, const ramet_session *s)
{
    const char *out = "";
    const char *marks[] = {
        s->archived ? "archived" : NULL,
        s->visibility == RAMET_PRIVATE ? "private" : NULL,
        s->expires ? arena_printf(c->mem, "goes %s", time_ago(c, s->expires)) : NULL,
        s->merged_into ? arena_printf(c->mem, "merged into %s", short_id(c, s->merged_into)) : NULL,
        s->type == RAMET_EXPLICIT ? NULL : ramet_fork_type_name(s->type),
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i])
            out = arena_printf(c->mem, "%s%s%s", out, *out ? ", " : "", marks[i]);
    return out;
}

static void put(const cli *c, style s, const char *text)
{
    if (*text)
        printf("  %s%s%s", s == ST_OFF ? "" : st(c, s), text, s == ST_OFF ? "" : st(c, ST_OFF));
}

static void draw_session(drawing *d, const ramet_session *s)
{
    cli *c = d->cli;
    bool here = strcmp(s->id, d->here) == 0;
    if (s->deleted) {
        printf("%s(deleted)  %s%s\n", st(c, ST_GONE), short_id(c, s->id), st(c, ST_OFF));
        return;
    }
    place at = place_of(c, s);
    int64_t base = at.base;
    printf("%s%s%s%s", st(c, here ? ST_HERE : ST_BOLD),
           here ? arena_printf(c->mem, "%s ", gl(c, G_HEAD)) : "", text_cut(c, title_text(s), 48),
           st(c, ST_OFF));
    put(c, ST_ID, short_id(c, s->id));
    if (s->agent.name)
        put(c, ST_OFF, text_cut(c, s->agent.name, 24));
    put(c, ST_TAG, text_cut(c, tags_text(c, s), 40));
    if (base < 0)
        put(c, ST_DIM, count_text(c, s->head.length, "entry", "entries"));
    else
        put(c, ST_DIM,
            arena_printf(c->mem, "%s%s%s",
                         base ? arena_printf(c->mem, "@%lld ", (long long)base) : "blank ",
                         s->head.length >= base ? "+" : "", number_text(c, s->head.length - base)));
    put(c, ST_BOLD, text_cut(c, at.name, 40));
    put(c, ST_NOTE, remarks(c, s));
    putchar('\n');
}

static int64_t count_below(const drawing *d, size_t at)
{
    int64_t n = 0;
    for (size_t k = d->twigs[at].first; k; k = d->twigs[k].next)
        n += 1 + count_below(d, k);
    return n;
}

static void draw_twigs(drawing *d, size_t at, const char *indent, int64_t depth)
{
    cli *c = d->cli;
    for (size_t k = d->twigs[at].first; k; k = d->twigs[k].next) {
        bool last = !d->twigs[k].next;
        if (depth > d->depth) {
            printf("%s%s%s%s%s %s%s\n", st(c, ST_DIM), indent, gl(c, G_ELBOW), gl(c, G_DASH),
                   gl(c, G_MORE), count_text(c, count_below(d, at), "fork", "forks"),
                   st(c, ST_OFF));
            return;
        }
        printf("%s%s%s%s%s ", st(c, ST_DIM), indent, gl(c, last ? G_ELBOW : G_TEE), gl(c, G_DASH),
               st(c, ST_OFF));
        draw_session(d, d->twigs[k].session);
        draw_twigs(d, k, arena_printf(c->mem, "%s%s  ", indent, last ? " " : gl(c, G_LINE)),
                   depth + 1);
    }
}

static int tree_of(cli *c, const char *word)
{
    enum { READABLE = 64 };
    drawing d = {.cli = c, .depth = opt_count(c, "depth", READABLE)};
    ramet_session *list;
    size_t n;
    int code = 0;
    ramet_session *s = session_named(c, word, &code);
    if (!s)
        return code;
    if (lib->ramet_tree(c->call, s->id, false, &list, &n) != RAMET_OK)
        return cli_fail(c);
    if (c->json)
        return sessions_answer(c, list, n);
    d.here = s->id;
    drawing_link(&d, list, n);
    for (size_t k = d.twigs[0].first; k; k = d.twigs[k].next) {
        draw_session(&d, d.twigs[k].session);
        draw_twigs(&d, k, "", 1);
    }
    return 0;
}

/* ------------------------------------------------------------------ all trees */

typedef struct root {
    const char *tree;
    const char *id, *title, *agent, *tags;
    int64_t forks; /* in the tree; before folding: 1 if this session is a fork */
    int64_t entries, updated;
    bool archived;
} root;

typedef struct forest {
    cli *cli;
    VEC(root) roots;
} forest;

static void forest_add(forest *f, const ramet_session *s)
{
    arena *mem = f->cli->mem;
    root r = {.tree = arena_strdup(mem, s->tree_id), .updated = s->updated, .forks = s->is_fork};
    r.id = arena_strdup(mem, s->id);
    r.title = arena_strdup(mem, title_text(s));
    r.agent = arena_strdup(mem, s->agent.name ? s->agent.name : "");
    r.tags = tags_text(f->cli, s);
    r.entries = s->head.length;
    r.archived = s->archived;
    VEC_PUSH(mem, &f->roots, r);
}

/* Sorts the sessions of one tree together, its root first. */
static int by_tree(const void *a, const void *b)
{
    const root *x = a, *y = b;
    int order = strcmp(x->tree, y->tree);
    return order ? order : (x->forks > y->forks) - (x->forks < y->forks);
}

static int by_time(const void *a, const void *b)
{
    const root *x = a, *y = b;
    return x->updated != y->updated ? (x->updated < y->updated) - (x->updated > y->updated)
                                    : strcmp(x->tree, y->tree);
}

/* One row per tree, the most recently changed one first. */
static void forest_fold(forest *f)
{
    root *r = f->roots.items;
    size_t n = 0;
    if (f->roots.n)
        qsort(r, f->roots.n, sizeof *r, by_tree);
    for (size_t i = 0; i < f->roots.n; i++) {
        if (!n || strcmp(r[n - 1].tree, r[i].tree) != 0) {
            r[n++] = r[i];
            continue;
        }
        r[n - 1].forks += r[i].forks;
        if (r[i].updated > r[n - 1].updated)
            r[n - 1].updated = r[i].updated;
    }
    f->roots.n = n;
    if (n)
        qsort(r, n, sizeof *r, by_time);
}

static int forest_answer(forest *f)
{
    cli *c = f->cli;
    grid *t = grid_new(c, 7, 1);
    grid_right(t, 2);
    grid_right(t, 3);
    grid_head(t, "ROOT", "TITLE", "ENTRIES", "FORKS", "AGENT", "UPDATED", "TAGS");
    for (size_t i = 0; i < f->roots.n; i++) {
        const root *r = &f->roots.items[i];
        grid_row(t);
        grid_cell(t, ST_ID, short_id(c, r->id));
        grid_cell(t, ST_BOLD, r->title);
        grid_cell(t, ST_OFF, number_text(c, r->entries));
        grid_cell(t, ST_OFF, number_text(c, r->forks));
        grid_cell(t, ST_OFF, r->agent);
        grid_cell(t, ST_DIM, time_ago(c, r->updated));
        grid_cell(t, ST_TAG, r->archived ? arena_printf(c->mem, "%s archived", r->tags) : r->tags);
    }
    if (f->roots.n)
        grid_print(t);
    else
        cli_note(c, "no sessions; 'ramet new' makes one");
    return 0;
}

static int forest_json(forest *f)
{
    json_writer *w = &f->cli->jw;
    json_list_begin(f->cli, "trees");
    for (size_t i = 0; i < f->roots.n; i++) {
        const root *r = &f->roots.items[i];
        jw_object(w);
        jw_kstr(w, "tree_id", r->tree);
        jw_kstr(w, "session_id", r->id);
        jw_kstr(w, "title", r->title);
        jw_kint(w, "entries", r->entries);
        jw_kint(w, "forks", r->forks);
        native_ktime(w, "updated_at", r->updated);
        jw_end_object(w);
        json_flush(f->cli);
    }
    return json_list_end(f->cli);
}

static int forest_of_store(cli *c)
{
    forest f = {.cli = c};
    ramet_list_in in = {.limit = 1000, .archived = RAMET_ARCHIVED_INCLUDE};
    do {
        ramet_session_list page;
        if (lib->ramet_session_find(c->walk, &in, &page) != RAMET_OK)
            return cli_report(c, lib->ramet_call_error(c->walk));
        for (size_t i = 0; i < page.n; i++)
            forest_add(&f, &page.items[i]);
        in.cursor = page.next_cursor ? arena_strdup(c->mem, page.next_cursor) : NULL;
        lib->ramet_call_reset(c->walk);
    } while (in.cursor);
    forest_fold(&f);
    return c->json ? forest_json(&f) : forest_answer(&f);
}

int cmd_tree(cli *c)
{
    return c->argc ? tree_of(c, c->argv[0]) : forest_of_store(c);
}
