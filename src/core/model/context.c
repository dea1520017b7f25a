/* SPDX-License-Identifier: Apache-2.0
 *
 * The context view of a path.
 *
 * An entry is hidden when
 *   1. it is above the last hide_before whose entry is on the path,
 *   2. an overlay hides it, or one whose entry is on the path has it in its ties,
 *   3. it holds the result of a tool call, and the call that it belongs to is hidden by 1 or 2:
 * that is the last call with its id before it, at most CALL_WINDOW entries back.
 *
 * 1 and 2 are known from its position alone, so a run of hidden entries is never read. 3 needs the
 * entry, and is looked at only where it can matter.
 */
#include "core/model/context.h"

#include "core/model/entry.h"
#include "core/model/key.h"

#define CALL_WINDOW 2000
#define CALL_STEP 256
#define SKIP_RUN 16 /* hidden entries in a row that are better not read */
#define SPAN_MAX 256

static bool on_path(txn *tx, const context *c, int64_t k)
{
    branch_meta o;
    int64_t pos = KEY_POS(k);
    return pos < c->head->len && path_owner(tx, &c->head->meta, pos, &o) && o.id == KEY_BRANCH(k);
}

void context_open(txn *tx, const branch_row *head, context *out)
{
    const overlay_item *item;
    *out = (context){.set = overlay_set_get(tx, head->meta.tree, head->overlay), .head = head};
    for (size_t i = 0; out->set && !out->from && (item = overlay_set_before(out->set, i)); i++)
        if (on_path(tx, out, item->key))
            out->from = KEY_POS(item->key);
}

void context_close(context *c)
{
    overlay_set_put(c->set);
    c->set = NULL;
}

/* The overlay of an entry that is on the path; *hidden by rule 2. */
static const overlay_item *overlay_at(txn *tx, const context *c, int64_t k, bool *hidden)
{
    const overlay_item *own = overlay_set_find(c->set, k), *item;
    *hidden = own && own->action == OVERLAY_HIDE;
    for (size_t i = 0; !*hidden && (item = overlay_set_tied(c->set, k, i)); i++)
        *hidden = on_path(tx, c, item->key);
    return own;
}

/* By rules 1 and 2. */
static bool is_hidden(txn *tx, const context *c, int64_t pos)
{
    branch_meta o;
    bool hidden;
    if (pos < c->from)
        return true;
    if (!path_owner(tx, &c->head->meta, pos, &o))
        return false;
    overlay_at(tx, c, KEY(o.id, pos), &hidden);
    return hidden;
}

bool context_shows(txn *tx, const context *c, int64_t lo, int64_t hi)
{
    int64_t from, to;
    if (c->from || overlay_set_has_calls(c->set))
        return false;
    context_span(tx, c, lo, hi, 1, false, &from, &to);
    return from < to;
}

void context_span(txn *tx, const context *c, int64_t lo, int64_t hi, size_t wanted, bool back,
                  int64_t *from, int64_t *to)
{
    int64_t step = back ? -1 : 1, at, run = 0;
    if (lo < c->from)
        lo = c->from < hi ? c->from : hi;
    at = back ? hi - 1 : lo;
    while (at >= lo && at < hi && is_hidden(tx, c, at))
        at += step;
    int64_t first = at, last = at - step; /* the last one that is shown so far */
    for (size_t shown = 0, n = 0; at >= lo && at < hi && shown < wanted && n < SPAN_MAX &&
                                  run < SKIP_RUN && db_status(tx->db) == RAMET_OK;
         at += step, n++) {
        bool hidden = is_hidden(tx, c, at);
        run = hidden ? run + 1 : 0;
        shown += !hidden;
        last = hidden ? last : at;
    }
    *from = back ? last : first;
    *to = back ? first + 1 : last + 1;
}

/* --------------------------------------------------------- calls and results */

/* A result whose call is looked for. */
typedef struct open_result {
    size_t entry; /* index of the entry that holds it */
    const char *id;
    int64_t upto; /* the call is not behind this position */
    int64_t call; /* its position; -1: not found yet */
    bool settled; /* found, and every entry behind the call was looked at */
} open_result;

typedef struct call_scan {
    arena *mem, *scratch;
    VEC(open_result) open;
    int64_t seen;
} call_scan;

/* Whether an entry may hold calls or results, without parsing it. */
static bool may_hold_tools(const ramet_entry *e)
{
    return e->parts && (strstr(e->parts, "tool_") || strstr(e->parts, "\\u"));
}

/* The last call with its id wins: entries come in order of the path. */
static void calls_note(call_scan *s, const ramet_entry *e, arena *a)
{
    tool_ref *refs = NULL;
    size_t n = may_hold_tools(e) ? entry_tools(a, e->parts, &refs) : 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; !refs[i].result && k < s->open.n; k++) {
            open_result *r = &s->open.items[k];
            if (!r->settled && e->position <= r->upto && strcmp(r->id, refs[i].id) == 0)
                r->call = e->position;
        }
}

/* How many are still to be found. */
static size_t calls_settle(call_scan *s)
{
    size_t left = 0;
    for (size_t i = 0; i < s->open.n; i++) {
        s->open.items[i].settled = s->open.items[i].call >= 0;
        left += !s->open.items[i].settled;
    }
    return left;
}

static bool calls_take(void *arg, ramet_entry *e)
{
    call_scan *s = arg;
    calls_note(s, e, s->scratch);
    s->seen = e->position;
    return arena_used(s->scratch) < PAGE_BYTES;
}

/* Those that have their call before `hi`: read back, step by step. */
static void calls_read_back(txn *tx, const context *c, call_scan *s, int64_t hi)
{
    int64_t least = hi > CALL_WINDOW ? hi - CALL_WINDOW : 0;
    while (hi > least && calls_settle(s) && db_status(tx->db) == RAMET_OK) {
        int64_t lo = hi - CALL_STEP > least ? hi - CALL_STEP : least;
        for (int64_t at = lo; at < hi && db_status(tx->db) == RAMET_OK; at = s->seen + 1) {
            s->seen = at - 1;
            path_read(tx, c->head, at, hi, s->scratch, calls_take, s);
            arena_reset(s->scratch);
        }
        hi = lo;
    }
}

/* Marks entries whose results belong to calls that are hidden (rule 3). */
static void results_hide(txn *tx, const context *c, const ramet_entry *list, size_t n, bool *hidden)
{
    call_scan s = {.mem = arena_new(), .scratch = arena_new()};
    for (size_t i = 0; i < n; i++) {
        tool_ref *refs = NULL;
        size_t count = may_hold_tools(&list[i]) ? entry_tools(s.mem, list[i].parts, &refs) : 0;
        for (size_t k = 0; k < count && !hidden[i]; k++) {
            open_result r = {.entry = i, .id = refs[k].id, .upto = list[i].position, .call = -1};
            if (refs[k].result && (c->from || overlay_set_calls(c->set, r.id)))
                VEC_PUSH(s.mem, &s.open, r);
        }
    }
    if (s.open.n) {
        for (size_t i = 0; i < n; i++)
            calls_note(&s, &list[i], s.mem);
        calls_read_back(tx, c, &s, list[0].position);
    }
    for (size_t i = 0; i < s.open.n; i++)
        if (s.open.items[i].call >= 0 && is_hidden(tx, c, s.open.items[i].call))
            hidden[s.open.items[i].entry] = true;
    arena_free(s.mem);
    arena_free(s.scratch);
}

/* ----------------------------------------------------------------- replacing */

static void part_begin(json_writer *w, const char *type)
{
    jw_object(w);
    jw_kstr(w, "type", type);
}

/* The text, and the calls and results of the entry without what they said: the first result says
 * the text where there is one. */
static const char *parts_replace(arena *a, const char *parts, const char *text)
{
    buf out;
    json_writer w;
    json_doc d = {0};
    bool said = false;
    arena *mem = arena_new();
    buf_init(&out, (size_t)1 << 30);
    jw_init(&w, &out, 0);
    jw_array(&w);
    const json_node *root =
        parts && json_parse(mem, parts, strlen(parts), STORED_DEPTH, &d, NULL) ? &d.nodes[0] : NULL;
    for (const json_node *p = json_first(&d, root); p; p = json_next(&d, root, p)) {
        const char *type = json_text(mem, &d, json_get(&d, p, "type"));
        const char *id = json_text(mem, &d, json_get(&d, p, "id"));
        if (type && id && strcmp(type, "tool_result") == 0) {
            part_begin(&w, type);
            jw_kstr(&w, "id", id);
            jw_kstr(&w, "output", said ? "" : text);
            jw_end_object(&w);
            said = true;
        }
    }
    if (!said) {
        part_begin(&w, "text");
        jw_kstr(&w, "text", text);
        jw_end_object(&w);
    }
    for (const json_node *p = json_first(&d, root); p; p = json_next(&d, root, p)) {
        const char *type = json_text(mem, &d, json_get(&d, p, "type"));
        const char *id = json_text(mem, &d, json_get(&d, p, "id"));
        if (type && id && strcmp(type, "tool_call") == 0) {
            part_begin(&w, type);
            jw_kstr(&w, "id", id);
            jw_kstr(&w, "name", json_text(mem, &d, json_get(&d, p, "name")));
            jw_kraw(&w, "input", "{}");
            jw_end_object(&w);
        }
    }
    jw_end_array(&w);
    const char *made = arena_memdup(a, out.data, out.n);
    buf_release(&out);
    arena_free(mem);
    return made;
}

static void entry_replace(arena *a, ramet_entry *e, const char *text)
{
    e->parts = parts_replace(a, e->parts, text);
    e->text = arena_strdup(a, text);
    e->format = "ramet";
    e->body = NULL;
    e->state_delta = NULL;
}

size_t context_filter(txn *tx, const context *c, ramet_entry *list, size_t n, arena *into)
{
    size_t shown = 0;
    if (!c->set || !n)
        return n;
    bool *hidden = arena_array(into, n, sizeof *hidden);
    const overlay_item **own = arena_array(into, n, sizeof *own);
    for (size_t i = 0; i < n; i++) {
        own[i] = overlay_at(tx, c, KEY(list[i].branch, list[i].position), &hidden[i]);
        hidden[i] = hidden[i] || list[i].position < c->from;
    }
    if (c->from || overlay_set_has_calls(c->set))
        results_hide(tx, c, list, n, hidden);
    for (size_t i = 0; i < n; i++) {
        if (hidden[i])
            continue;
        list[shown] = list[i];
        if (own[i] && own[i]->action == OVERLAY_REPLACE)
            entry_replace(into, &list[shown], own[i]->text);
        shown++;
    }
    return shown;
}
