/* SPDX-License-Identifier: Apache-2.0
 *
 * Tool calls and their results, as groups of entries.
 *
 *   P1  A result belongs to the nearest call before it that has its id. An id may come again later
 *       on a path, in another turn.
 *   P2  A group is closed: with an entry come the calls of all its results and the results of all
 *       its calls. A call without a result, and a result without a call, stand alone.
 */
#include "core/model/tool_group.h"

#include "core/call.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/model/path.h"
#include "core/txn.h"

#define NO_CALL SIZE_MAX

/* A call or a result on the path. */
typedef struct tool_at {
    int64_t pos;
    const char *id;
    bool result;
    size_t call; /* of a result: the index of its call, or NO_CALL */
    bool taken;  /* its entry is in the group */
} tool_at;

typedef struct group_scan {
    arena *keep, *scratch;
    VEC(tool_at) tools; /* by position */
    int64_t seen;
} group_scan;

static bool scan_take(void *arg, ramet_entry *e)
{
    group_scan *s = arg;
    tool_ref *refs = NULL;
    size_t n = entry_tools(s->scratch, e->parts, &refs);
    for (size_t i = 0; i < n; i++) {
        tool_at t = {.pos = e->position,
                     .id = arena_strdup(s->keep, refs[i].id),
                     .result = refs[i].result,
                     .call = NO_CALL};
        VEC_PUSH(s->keep, &s->tools, t);
    }
    s->seen = e->position;
    return arena_used(s->scratch) < PAGE_BYTES;
}

/* In steps, so that large entries do not pile up. */
static void scan_read(txn *tx, const branch_row *head, int64_t lo, int64_t hi, group_scan *s)
{
    while (lo < hi && db_status(tx->db) == RAMET_OK) {
        s->seen = lo - 1;
        path_read(tx, head, lo, hi, s->scratch, scan_take, s);
        arena_reset(s->scratch);
        lo = s->seen + 1;
    }
}

static void scan_pair(group_scan *s)
{
    for (size_t i = 0; i < s->tools.n; i++) {
        tool_at *t = &s->tools.items[i];
        for (size_t k = i; t->result && t->call == NO_CALL && k-- > 0;) {
            tool_at *call = &s->tools.items[k];
            if (!call->result && strcmp(call->id, t->id) == 0)
                t->call = k;
        }
    }
}

static void entry_take(group_scan *s, int64_t pos)
{
    for (size_t i = 0; i < s->tools.n; i++)
        if (s->tools.items[i].pos == pos)
            s->tools.items[i].taken = true;
}

static void scan_close(group_scan *s)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t i = 0; i < s->tools.n; i++) {
            const tool_at *t = &s->tools.items[i];
            const tool_at *call = t->call == NO_CALL ? NULL : &s->tools.items[t->call];
            if (!call || t->taken == call->taken)
                continue;
            entry_take(s, t->taken ? call->pos : t->pos);
            more = true;
        }
    }
}

/* Whether a result in the group may have its call before what was read. */
static bool scan_lacks_calls(const group_scan *s)
{
    for (size_t i = 0; i < s->tools.n; i++) {
        const tool_at *t = &s->tools.items[i];
        if (t->taken && t->result && t->call == NO_CALL)
            return true;
    }
    return false;
}

/* Whether a call in the group may have results after what was read: it can have several, until the
 * same id is called again. */
static bool scan_lacks_results(const group_scan *s)
{
    for (size_t i = 0; i < s->tools.n; i++) {
        const tool_at *t = &s->tools.items[i];
        bool is_open = t->taken && !t->result;
        for (size_t k = i + 1; k < s->tools.n && is_open; k++)
            is_open = s->tools.items[k].result || strcmp(s->tools.items[k].id, t->id) != 0;
        if (is_open)
            return true;
    }
    return false;
}

static void scan_give(txn *tx, const group_scan *s, int64_t pos, int64_t **out, size_t *n)
{
    VEC(int64_t) v = {0};
    for (size_t i = 0; i < s->tools.n; i++) {
        const tool_at *t = &s->tools.items[i];
        if (t->taken && (!v.n || v.items[v.n - 1] != t->pos))
            VEC_PUSH(tx->arena, &v, t->pos);
    }
    if (!v.n)
        VEC_PUSH(tx->arena, &v, pos);
    *out = v.items;
    *n = v.n;
}

void tool_group(txn *tx, const branch_row *head, int64_t pos, int64_t **out, size_t *n)
{
    static const int64_t windows[] = {0, 16, 128, TOOL_WINDOW};
    group_scan s = {.keep = arena_new(), .scratch = arena_new()};
    bool before = false, after = false;
    int64_t lo = pos, hi = pos + 1;
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++) {
        if (i && !((before && lo > 0) || (after && hi < head->len)))
            break;
        lo = pos > windows[i] ? pos - windows[i] : 0;
        hi = head->len - pos > windows[i] + 1 ? pos + windows[i] + 1 : head->len;
        s.tools.items = NULL;
        s.tools.n = s.tools.cap = 0;
        arena_reset(s.keep);
        scan_read(tx, head, lo, hi, &s);
        scan_pair(&s);
        entry_take(&s, pos);
        scan_close(&s);
        before = scan_lacks_calls(&s);
        after = scan_lacks_results(&s);
    }
    scan_give(tx, &s, pos, out, n);
    arena_free(s.keep);
    arena_free(s.scratch);
}
