/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.c: draws the timeline of a tree in the terminal (`ramet log --graph`).
 *
 * Time goes down. Every branch that has entries of its own is a run of lines in a lane; branches
 * that leave it are drawn next to it before it continues:
 *
 *     ●  @2 assistant …
 *     ├─○  @3 user …            a branch that was abandoned
 *     │ ┊  3 entries
 *     │ ○  @7 (b2, abandoned) …
 *     ●  @3 user …
 *     ◆  @4 (Trip to Lisbon) …  a head
 *
 * A branch whose session is deleted, or hidden from the user, is found through the paths that run
 * over it.
 */
#include "cli/graph.h"

#include "cli/render.h"
#include "form/native.h"

#include <stdlib.h>
#include <string.h>

typedef struct head_mark {
    int64_t position; /* position of the head's entry */
    const ramet_session *session;
    bool here; /* the requested session */
} head_mark;

typedef struct node {
    int64_t id, parent, base, length;
    int64_t via;         /* a readable branch whose path runs over this one */
    const char *session; /* its session; that of `via` if its own is hidden */
    ramet_fork_type type;
    const char *name;            /* "": none */
    bool hidden;                 /* its session is hidden */
    int64_t on_path;             /* positions below this are on the current path; 0: none */
    int64_t weight;              /* number of branches drawn from here on */
    VEC(struct node *) children; /* those with their own entries, by base */
    VEC(head_mark) heads;        /* by position */
    size_t child, head;          /* the first one of each not drawn yet */
} node;

typedef struct graph {
    cli *cli;
    ramet_session *sessions;
    size_t n_sessions;
    const ramet_session *here;
    VEC(node) nodes; /* sorted by id once all are known */
    VEC(node *) roots;
} graph;

static int by_id(const void *a, const void *b)
{
    int64_t x = ((const node *)a)->id, y = ((const node *)b)->id;
    return (x > y) - (x < y);
}

static node *node_find(graph *g, int64_t id)
{
    node key = {.id = id};
    return id ? bsearch(&key, g->nodes.items, g->nodes.n, sizeof key, by_id) : NULL;
}

/* ------------------------------------------------------------------ gathering */

static ramet_status add_session(graph *g, const ramet_session *s)
{
    ramet_branch *list;
    size_t n;
    ramet_status status = lib->ramet_branches(g->cli->call, s->id, &list, &n);
    for (size_t i = 0; status == RAMET_OK && i < n; i++) {
        node b = {.id = list[i].id,
                  .parent = list[i].parent,
                  .base = list[i].base,
                  .length = list[i].length};
        b.via = b.id;
        b.session = s->id;
        b.type = list[i].type;
        b.name = list[i].name;
        VEC_PUSH(g->cli->mem, &g->nodes, b);
    }
    return status;
}

/* The entry at a position of a path; its strings live until the next call. */
static ramet_status entry_at(graph *g, const node *b, int64_t position, ramet_entry **out)
{
    ramet_read_in in = {.limit = 1, .branch = b->via, .by_position = true, .position = position};
    ramet_page page;
    lib->ramet_call_reset(g->cli->walk);
    ramet_status s = lib->ramet_read(g->cli->walk, b->session, &in, &page);
    if (s == RAMET_OK && !page.n)
        return RAMET_ENTRY_NOT_FOUND;
    if (s == RAMET_OK)
        *out = page.entries;
    return s;
}

/* The parent of `b` is unknown: it owns the entries before b->base on b's path, down to its own
 * base, which this searches for. */
static ramet_status add_hidden(graph *g, const node *b)
{
    node p = {
        .id = b->parent, .length = b->base, .via = b->via, .session = b->session, .hidden = true};
    p.name = "";
    int64_t low = 0, high = b->base - 1;
    ramet_entry *e;
    ramet_status s;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if ((s = entry_at(g, b, middle, &e)) != RAMET_OK)
            return s;
        if (e->branch == p.id)
            high = middle;
        else
            low = middle + 1;
    }
    p.base = low;
    if (low > 0) {
        if ((s = entry_at(g, b, low - 1, &e)) != RAMET_OK)
            return s;
        p.parent = e->branch;
    }
    VEC_PUSH(g->cli->mem, &g->nodes, p);
    return RAMET_OK;
}

static ramet_status add_all_hidden(graph *g)
{
    size_t before;
    do {
        before = g->nodes.n;
        qsort(g->nodes.items, before, sizeof(node), by_id);
        for (size_t i = 0; i < before; i++) {
            node b = g->nodes.items[i];
            node *p = node_find(g, b.parent);
            if (p && p->hidden && p->length < b.base)
                p->length = b.base;
            if (p || !b.parent)
                continue;
            ramet_status s = add_hidden(g, &b);
            if (s != RAMET_OK)
                return s;
            break; /* sort the list before the next search */
        }
    } while (g->nodes.n > before);
    return RAMET_OK;
}

static int by_base(const void *a, const void *b)
{
    const node *x = *(node *const *)a, *y = *(node *const *)b;
    return x->base != y->base ? (x->base > y->base) - (x->base < y->base)
                              : (x->id > y->id) - (x->id < y->id);
}

static int by_position(const void *a, const void *b)
{
    const head_mark *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->here != y->here)
        return x->here ? -1 : 1;
    return (x->session > y->session) - (x->session < y->session);
}

/* A head is on the branch that owns the last entry of its path. */
static void link_heads(graph *g)
{
    for (size_t i = 0; i < g->n_sessions; i++) {
        const ramet_session *s = &g->sessions[i];
        node *b = s->deleted ? NULL : node_find(g, s->head.branch);
        while (b && b->length <= b->base)
            b = node_find(g, b->parent);
        head_mark mark = {s->head.length - 1, s, s == g->here};
        if (b)
            VEC_PUSH(g->cli->mem, &b->heads, mark);
    }
    int64_t end = g->here->head.length;
    for (node *b = node_find(g, g->here->head.branch); b; b = node_find(g, b->parent)) {
        b->on_path = end;
        end = b->base;
    }
}

static void link_nodes(graph *g)
{
    link_heads(g);
    /* Ids grow with time, so a child's weight is known before it is added to its parent's; it only
     * affects the layout. */
    for (size_t i = g->nodes.n; i-- > 0;) {
        node *b = &g->nodes.items[i], *p = node_find(g, b->parent);
        if (b->length <= b->base)
            continue;
        b->weight++;
        if (p) {
            p->weight += b->weight;
            VEC_PUSH(g->cli->mem, &p->children, b);
        } else {
            VEC_PUSH(g->cli->mem, &g->roots, b);
        }
    }
    for (size_t i = 0; i < g->nodes.n; i++) {
        node *b = &g->nodes.items[i];
        if (b->heads.n)
            qsort(b->heads.items, b->heads.n, sizeof(head_mark), by_position);
        if (b->children.n)
            qsort(b->children.items, b->children.n, sizeof(node *), by_base);
    }
}

/* ------------------------------------------------------------------ one line */

static int put(const cli *c, style s, const char *text)
{
    printf("%s%s%s", s == ST_OFF ? "" : st(c, s), text, s == ST_OFF ? "" : st(c, ST_OFF));
    return text_columns(text, strlen(text));
}

/* Trip to Lisbon · a1b2c3d4 · #travel; returns the columns used. */
static int put_session(graph *g, const ramet_session *s)
{
    cli *c = g->cli;
    int used = put(c, s == g->here ? ST_HERE : ST_BOLD, text_cut(c, title_text(s), 28));
    const char *sep = arena_printf(c->mem, " %s ", gl(c, G_SEP));
    used += put(c, ST_DIM, sep) + put(c, ST_ID, short_id(c, s->id));
    const node *on = node_find(g, s->head.branch);
    if (on && on->name[0])
        used += put(c, ST_DIM, sep) + put(c, ST_BOLD, text_cut(c, on->name, 24));
    if (s->n_tags)
        used += put(c, ST_DIM, sep) + put(c, ST_TAG, text_cut(c, tags_text(c, s), 24));
    if (s->merged_into)
        used +=
            put(c, ST_DIM, sep) +
            put(c, ST_NOTE, arena_printf(c->mem, "merged into %s", short_id(c, s->merged_into)));
    return used;
}

/* The sessions whose head is at a position, in brackets. */
static int put_heads(graph *g, node *b, int64_t position)
{
    enum { MAX_SHOWN = 4 };
    cli *c = g->cli;
    int used = 0, n = 0;
    for (; b->head < b->heads.n && b->heads.items[b->head].position == position; b->head++) {
        if (n < MAX_SHOWN) {
            used += put(c, ST_OFF, n ? ", " : "(");
            used += put_session(g, b->heads.items[b->head].session);
        }
        n++;
    }
    if (n > MAX_SHOWN)
        used += put(c, ST_OFF, arena_printf(c->mem, ", %d more", n - MAX_SHOWN));
    return n ? used + put(c, ST_OFF, ") ") : 0;
}

/* The end of a branch that has no head. */
static int put_left(graph *g, const node *b)
{
    char branch[24];
    const char *id = ramet_branch_text(b->id, branch);
    if (b->name[0])
        id = arena_printf(g->cli->mem, "%s \"%s\"", id, text_cut(g->cli, b->name, 24));
    const char *why = b->type == RAMET_AUTO_EDIT         ? ", an edit"
                      : b->type == RAMET_AUTO_REGENERATE ? ", another answer"
                                                         : "";
    return put(g->cli, ST_GONE, arena_printf(g->cli->mem, "(%s%s, abandoned) ", id, why));
}

/* Whether the next branch that leaves does so here. */
static bool leaves_at(const node *b, int64_t position)
{
    return b->child < b->children.n && b->children.items[b->child]->base == position + 1;
}

static ramet_status put_entry(graph *g, node *b, int64_t position, const char *lanes,
                              const char *tee)
{
    cli *c = g->cli;
    ramet_entry *e;
    bool present = position < b->on_path;
    bool head = b->head < b->heads.n && b->heads.items[b->head].position == position;
    bool tip = position + 1 == b->length && !b->hidden && !leaves_at(b, position);
    ramet_status s = entry_at(g, b, position, &e);
    if (s != RAMET_OK)
        return s;
    int used = put(c, ST_DIM, lanes) + put(c, ST_DIM, tee);
    used += put(c, present ? ST_HERE : ST_DIM, gl(c, head ? G_HEAD : present ? G_DOT : G_RING));
    used += put(c, ST_OFF, "  ");
    used += put(c, ST_ID, arena_printf(c->mem, "@%lld ", (long long)position + 1));
    used += head ? put_heads(g, b, position) : tip ? put_left(g, b) : 0;
    used += put(c, role_style(e->role), ramet_role_name(e->role)) + put(c, ST_OFF, "  ");
    if (e->n_origins)
        used +=
            put(c, ST_NOTE, arena_printf(c->mem, "(from %s) ", short_id(c, e->origins[0].session)));
    int room = c->width > 0 ? c->width - used : 60;
    put(c, present ? ST_OFF : ST_DIM, entry_preview(c, e, room < 12 ? 12 : room));
    putchar('\n');
    return RAMET_OK;
}

/* ------------------------------------------------------------------ drawing */

static ramet_status draw(graph *g, node *b, int64_t from, const char *lanes, const char *tee);

/* A line that leaves a point: a child from its first entry on, or the branch itself. */
typedef struct way {
    node *branch;
    int64_t from, weight;
} way;
typedef VEC(way) way_list;
/* The current path goes straight on, else the branch itself, else the one with most branches. */
#define PRESENT INT64_MAX
#define STRAIGHT (INT64_MAX - 1)

static int by_weight(const void *a, const void *b)
{
    const way *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return (x->branch->id > y->branch->id) - (x->branch->id < y->branch->id);
}

/* Draws all ways in lanes next to this one, except the heaviest, which is returned in *last to go
 * straight on. */
static ramet_status draw_side_lanes(graph *g, way_list *ways, const char *lanes, way *last)
{
    const char *tee = arena_printf(g->cli->mem, "%s%s", gl(g->cli, G_TEE), gl(g->cli, G_DASH));
    qsort(ways->items, ways->n, sizeof(way), by_weight);
    for (size_t i = 0; i + 1 < ways->n; i++) {
        ramet_status s = draw(g, ways->items[i].branch, ways->items[i].from, lanes, tee);
        if (s != RAMET_OK)
            return s;
    }
    *last = ways->items[ways->n - 1];
    return RAMET_OK;
}

/* Branches leave before at->from: draws them, and moves *at to the one that goes straight on. */
static ramet_status draw_split(graph *g, way *at, const char *lanes)
{
    enum { DEEP = 40 };
    way_list ways = {0};
    node *b = at->branch;
    for (; leaves_at(b, at->from - 1); b->child++) {
        node *child = b->children.items[b->child];
        way w = {child, child->base, child->on_path ? PRESENT : child->weight};
        VEC_PUSH(g->cli->mem, &ways, w);
        b->weight -= child->weight;
    }
    if (at->from < b->length) {
        /* Stop when the lanes would run off the page. */
        bool deep = text_columns(lanes, strlen(lanes)) > DEEP;
        at->weight = at->from < b->on_path ? PRESENT : deep ? b->weight : STRAIGHT;
        VEC_PUSH(g->cli->mem, &ways, *at);
    }
    return draw_side_lanes(g, &ways, lanes, at);
}

/* The next position at or after `from` that needs a line of its own. */
static int64_t next_point(const node *b, int64_t from)
{
    int64_t best = from == b->base ? from : b->length - 1;
    if (b->child < b->children.n && b->children.items[b->child]->base - 1 < best)
        best = b->children.items[b->child]->base - 1;
    if (b->head < b->heads.n && b->heads.items[b->head].position < best)
        best = b->heads.items[b->head].position;
    return best;
}

/* Draws the entries from one position to another; a long run becomes one line. `tee` joins the
 * first line to the lane that it leaves. */
static ramet_status draw_run(graph *g, node *b, int64_t from, int64_t to, const char *lanes,
                             const char *tee, const char *inside)
{
    enum { SHORT_RUN = 2 };
    cli *c = g->cli;
    if (to - from > SHORT_RUN) {
        put(c, ST_DIM,
            arena_printf(c->mem, "%s%s%s  %s\n", *tee ? lanes : inside, tee, gl(c, G_MORE),
                         count_text(c, to - from, "entry", "entries")));
        from = to;
        tee = "";
    }
    for (; from <= to; from++, tee = "") {
        ramet_status s = put_entry(g, b, from, *tee ? lanes : inside, tee);
        if (s != RAMET_OK)
            return s;
    }
    return RAMET_OK;
}

static ramet_status draw(graph *g, node *b, int64_t from, const char *lanes, const char *tee)
{
    const char *inside =
        *tee ? arena_printf(g->cli->mem, "%s%s ", lanes, gl(g->cli, G_LINE)) : lanes;
    way at = {b, from, 0};
    while (at.from < at.branch->length) {
        int64_t point = next_point(at.branch, at.from);
        ramet_status s = draw_run(g, at.branch, at.from, point, lanes, tee, inside);
        tee = "";
        at.from = point + 1;
        if (s == RAMET_OK && leaves_at(at.branch, point))
            s = draw_split(g, &at, inside);
        if (s != RAMET_OK)
            return s;
    }
    return RAMET_OK;
}

static bool is_empty(const ramet_session *s)
{
    return !s->deleted && !s->head.length;
}

/* A tree without entries, or with several first entries, begins on a line of its own. */
static void draw_start(graph *g)
{
    cli *c = g->cli;
    bool any = false;
    for (size_t i = 0; i < g->n_sessions; i++)
        any |= is_empty(&g->sessions[i]);
    if (g->roots.n < 2 && !any)
        return;
    put(c, ST_DIM, arena_printf(c->mem, "%s  start", gl(c, any ? G_HEAD : G_RING)));
    const char *before = " (";
    for (size_t i = 0; i < g->n_sessions; i++) {
        if (!is_empty(&g->sessions[i]))
            continue;
        put(c, ST_OFF, before);
        put_session(g, &g->sessions[i]);
        before = ", ";
    }
    puts(any ? ")" : "");
}

static ramet_status draw_all(graph *g)
{
    cli *c = g->cli;
    way_list ways = {0};
    draw_start(g);
    for (size_t i = 0; i < g->roots.n; i++) {
        node *b = g->roots.items[i];
        way w = {b, b->base, b->on_path ? PRESENT : b->weight};
        VEC_PUSH(c->mem, &ways, w);
    }
    way last;
    if (!ways.n)
        return RAMET_OK;
    ramet_status s = draw_side_lanes(g, &ways, "", &last);
    return s == RAMET_OK ? draw(g, last.branch, last.from, "", "") : s;
}

/* ------------------------------------------------------------------ the command */

static int graph_json(graph *g)
{
    cli *c = g->cli;
    json_list_begin(c, "sessions");
    for (size_t i = 0; i < g->n_sessions; i++)
        native_session(&c->jw, &g->sessions[i]);
    jw_end_array(&c->jw);
    jw_key(&c->jw, "branches");
    jw_array(&c->jw);
    for (size_t i = 0; i < g->nodes.n; i++) {
        const node *b = &g->nodes.items[i];
        jw_object(&c->jw);
        native_kbranch(&c->jw, "branch_id", b->id);
        native_kbranch(&c->jw, "parent_id", b->parent);
        jw_kstr(&c->jw, "session_id", b->hidden ? NULL : b->session);
        jw_kint(&c->jw, "base", b->base);
        jw_kint(&c->jw, "length", b->length);
        jw_kstr(&c->jw, "type", ramet_fork_type_name(b->type));
        if (b->name[0])
            jw_kstr(&c->jw, "name", b->name);
        jw_end_object(&c->jw);
        json_flush(c);
    }
    return json_list_end(c);
}

int graph_show(cli *c, const ramet_session *s)
{
    graph g = {.cli = c};
    ramet_status status = lib->ramet_tree(c->call, s->id, false, &g.sessions, &g.n_sessions);
    if (status != RAMET_OK)
        return cli_fail(c);
    for (size_t i = 0; i < g.n_sessions; i++) {
        if (strcmp(g.sessions[i].id, s->id) == 0)
            g.here = &g.sessions[i];
        if (!g.sessions[i].deleted && add_session(&g, &g.sessions[i]) != RAMET_OK)
            return cli_fail(c);
    }
    if (!g.here)
        g.here = s;
    if (add_all_hidden(&g) != RAMET_OK)
        return cli_report(c, lib->ramet_call_error(c->walk));
    if (c->json)
        return graph_json(&g);
    link_nodes(&g);
    return draw_all(&g) == RAMET_OK ? 0 : cli_report(c, lib->ramet_call_error(c->walk));
}
