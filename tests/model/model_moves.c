/* SPDX-License-Identifier: Apache-2.0
 *
 * model_moves.c: how histories grow and part: appends, cuts, forks, moves and their undoing, sync.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- branches */

m_branch *m_branch_find(m_session *s, ramet_log log, int64_t id)
{
    if (!id)
        return log == RAMET_LOG_MAIN ? s->head : s->adk;
    for (size_t i = 0; i < s->branches.n; i++) {
        m_branch *b = s->branches.items[i];
        if (b->id == id && b->log == log && !b->pruned)
            return b;
    }
    return NULL;
}

m_entry *m_branch_entry(const m_branch *b, const char *id)
{
    for (size_t i = 0; b && i < b->n; i++)
        if (b->path[i]->id && strcmp(b->path[i]->id, id) == 0)
            return b->path[i];
    return NULL;
}

const char *m_branch_hash(const m_branch *b)
{
    return b && b->n ? b->path[b->n - 1]->hash : M_ZEROS;
}

static void branch_push(m_branch *b, m_entry *e)
{
    if (b->n == b->cap) {
        b->cap = b->cap ? b->cap * 2 : 16;
        b->path = realloc(b->path, b->cap * sizeof *b->path);
        if (!b->path)
            abort();
    }
    b->path[b->n++] = e;
}

/* The primitive: a branch of `s` that begins with the first `base` entries of `from`. */
static m_branch *branch_new(model *m, m_session *s, const m_branch *from, size_t base,
                            ramet_log log, ramet_fork_type type)
{
    m_branch *b = model_alloc(m, sizeof *b);
    b->session = s;
    b->log = log;
    b->type = type;
    for (size_t i = 0; i < base; i++)
        branch_push(b, from->path[i]);
    b->base = (int64_t)base;
    b->parent = base ? from->path[base - 1]->owner : NULL;
    b->filled = !from ? 0 : from->filled < b->base ? from->filled : b->base;
    for (size_t i = 0; from && i < from->overlays.n; i++)
        m_list_add(&b->overlays, from->overlays.items[i]);
    m_list_add(&m->branches, b);
    m_list_add(&s->branches, b);
    return b;
}

m_set m_hash_check(const char *expected)
{
    return expected && strlen(expected) != 64 ? M(INVALID) : 0;
}

m_set m_head_check(const char *expected, const m_branch *b)
{
    return !expected || strcmp(expected, m_branch_hash(b)) == 0 ? 0 : M(HEAD_MOVED);
}

/* ----------------------------------------------------------------- entries */

static m_entry *entry_new(model *m, const char *user, const char *client, m_branch *b,
                          const ramet_entry_in *in)
{
    char parts[4096], text[4096];
    m_session *s = b->session;
    m_entry *e = model_alloc(m, sizeof *e);
    e->id = model_text(m, in->id);
    e->position = (int64_t)b->n;
    e->owner = b;
    e->by = s;
    e->role = in->role;
    e->parts = model_text(m, m_parts_normal(in, parts, sizeof parts));
    m_parts_text(e->parts, text, sizeof text);
    e->text = model_text(m, text);
    e->format = model_text(m, in->format ? in->format : "ramet");
    e->body = model_text(m, in->body);
    e->turn_id = model_text(m, in->turn_id);
    e->channel = model_text(m, in->channel ? in->channel : "history");
    e->author = model_text(m, in->author ? in->author : in->role == RAMET_USER ? user : NULL);
    e->client = model_text(m, client);
    e->delta = model_text(m, in->state_delta);
    e->has_usage = in->usage != NULL;
    if (in->usage) {
        e->usage = *in->usage;
        e->usage.currency = model_text(m, in->usage->currency);
    }
    e->fixed_time = in->created != 0;
    e->created = in->created;
    e->main_len = b == s->adk ? (int64_t)s->head->n : b->n ? b->path[b->n - 1]->main_len : 0;
    e->order = (int64_t)m->entries.n;
    branch_push(b, e);
    m_list_add(&s->record[b->log], e);
    m_list_add(&m->entries, e);
    return e;
}

static m_set entry_check(const model *m, const ramet_entry_in *in)
{
    m_set bad = 0;
    if (in->role < RAMET_USER || in->role > RAMET_SYSTEM || (in->text && in->parts))
        bad |= M(INVALID);
    if (in->id && (!*in->id || strlen(in->id) > m->limits.id_bytes))
        bad |= M(BAD_ID);
    if (in->body && (!in->format || strcmp(in->format, "ramet") == 0))
        bad |= M(INVALID);
    return bad;
}

/* Whether a batch may hold both: an id twice is fine when the content is the same. */
static bool batch_pair(const ramet_entry_in *a, const ramet_entry_in *b)
{
    if (!a->id || !b->id || strcmp(a->id, b->id) != 0)
        return true;
    model scratch = {0};
    m_session s = {0};
    m_branch alone = {.session = &s};
    s.head = &alone;
    bool same = m_entry_equal(entry_new(&scratch, NULL, NULL, &alone, a), b);
    free(alone.path);
    free(s.record[0].items);
    model_free(&scratch);
    return same;
}

static m_set batch_shape(const model *m, const ramet_entry_in *in, size_t n)
{
    m_set bad = 0;
    for (size_t i = 0; i < n; i++) {
        bad |= entry_check(m, &in[i]);
        for (size_t k = 0; k < i; k++)
            bad |= batch_pair(&in[k], &in[i]) ? 0 : M(ENTRY_EXISTS);
    }
    return bad;
}

/* Objections to `in` following the first `kept` entries of b. Only an append may be a retry: an
 * entry that is there already, with the same content. */
static m_set batch_check(const m_branch *b, size_t kept, const ramet_entry_in *in, size_t n,
                         bool retry)
{
    m_set bad = 0;
    for (size_t i = 0; i < n; i++) {
        if (!in[i].id)
            continue;
        const m_entry *there = m_branch_entry(b, in[i].id);
        if (there && (size_t)there->position < kept &&
            !(retry && m_entry_equal(m_entry_shown(b, there), &in[i])))
            bad |= M(ENTRY_EXISTS);
    }
    return bad;
}

static void batch_write(model *m, const char *user, const char *client, m_branch *b,
                        const ramet_entry_in *in, size_t n, m_answer *out)
{
    for (size_t i = 0; i < n; i++) {
        m_entry *e = in[i].id ? m_branch_entry(b, in[i].id) : NULL;
        if (!e) {
            e = entry_new(m, user, client, b, &in[i]);
            out->added++;
        }
        m_list_add(&out->entries, e);
    }
    out->branch = b;
    out->session = b->session;
}

/* Whether all of it is there already. */
static bool batch_known(const m_branch *b, const ramet_entry_in *in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!in[i].id || !m_branch_entry(b, in[i].id))
            return false;
    return true;
}

m_set model_append(model *m, const char *user, const char *client, const char *id,
                   const ramet_append_in *in, m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    bad |= batch_shape(m, in->entries, in->n) | m_hash_check(in->expected_head);
    if (in->n < 1)
        bad |= M(INVALID);
    if (in->n > m->limits.batch)
        bad |= M(BATCH_TOO_LARGE);
    if (!s)
        return bad;
    m_branch *b = m_branch_find(s, in->log, in->branch);
    if (!b && in->branch)
        return bad | m_branch_missing(s, in->log, in->branch);
    bad |=
        m_head_check(in->expected_head, b) | batch_check(b, b ? b->n : 0, in->entries, in->n, true);
    /* A retry of what was done already is answered, whatever came after it. */
    if (bad == M(HEAD_MOVED) && batch_known(b, in->entries, in->n))
        bad = 0;
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    if (!b)
        b = s->adk = branch_new(m, s, NULL, 0, RAMET_LOG_ADK, RAMET_EXPLICIT);
    batch_write(m, user, client, b, in->entries, in->n, out);
    return M(OK);
}

/* -------------------------------------------------------------------- cuts */

typedef struct tool_part {
    size_t entry;
    bool result;
    const char *id;
    size_t id_len;
    int64_t match; /* call: entry of its result, -1 when there is none */
} tool_part;

static size_t path_tools(const m_branch *b, tool_part **out)
{
    static const char call[] = "{\"type\":\"tool_call\",\"id\":\"";
    static const char result[] = "{\"type\":\"tool_result\",\"id\":\"";
    size_t n = 0, cap = 0;
    tool_part *t = NULL;
    for (size_t i = 0; i < b->n; i++)
        for (const char *p = b->path[i]->parts; (p = strstr(p, "{\"type\":\"tool_")); p++) {
            bool is_result = strncmp(p, result, sizeof result - 1) == 0;
            const char *id = p + (is_result ? sizeof result : sizeof call) - 1;
            if (n == cap) {
                cap = cap ? cap * 2 : 16;
                t = realloc(t, cap * sizeof *t);
                if (!t)
                    abort();
            }
            t[n++] = (tool_part){i, is_result, id, strcspn(id, "\""), -1};
        }
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; !t[i].result && t[i].match < 0 && k < n; k++)
            if (t[k].result && t[k].id_len == t[i].id_len && !memcmp(t[k].id, t[i].id, t[i].id_len))
                t[i].match = (int64_t)t[k].entry;
    *out = t;
    return n;
}

static bool user_between(const m_branch *b, size_t call, size_t cut)
{
    for (size_t i = call + 1; i < cut; i++)
        if (b->path[i]->role == RAMET_USER)
            return true;
    return false;
}

static size_t cut_snap(const m_branch *b, size_t cut, ramet_cut_policy policy)
{
    tool_part *t;
    size_t n = path_tools(b, &t), before;
    do {
        before = cut;
        for (size_t i = 0; i < n; i++) {
            if (t[i].result || t[i].entry >= before)
                continue;
            bool parted = t[i].match >= (int64_t)before;
            if (policy == RAMET_CUT_SNAP_AFTER && parted && (size_t)t[i].match + 1 > cut)
                cut = (size_t)t[i].match + 1;
            if (t[i].match < 0 && !user_between(b, t[i].entry, before))
                parted = true;
            if (policy == RAMET_CUT_SNAP_BEFORE && parted && t[i].entry < cut)
                cut = t[i].entry;
        }
    } while (cut != before);
    free(t);
    return cut;
}

static m_set cut_find(const m_branch *b, const ramet_at *at, ramet_cut_policy policy, m_answer *out)
{
    size_t cut = b->n;
    const m_entry *e = NULL;
    if (at->entry_id) {
        e = m_branch_entry(b, at->entry_id);
        if (!e)
            return M(ENTRY_NOT_FOUND);
        cut = (size_t)e->position + (at->side == RAMET_AFTER);
    }
    size_t asked = cut;
    if (policy != RAMET_CUT_EXACT)
        cut = cut_snap(b, cut, policy);
    out->cut_moved = cut != asked;
    out->cut = (ramet_cut){policy, cut ? b->path[cut - 1]->id : NULL,
                           cut ? RAMET_AFTER : RAMET_BEFORE, (int64_t)cut};
    return 0;
}

/* Where the adk log is cut when `kept` entries of main are kept: after the last event that arrived
 * when there were no more. */
static m_set adk_find(const m_branch *adk, const ramet_at *at, const m_branch *main, size_t kept,
                      size_t *cut)
{
    bool whole = kept == main->n;
    *cut = 0;
    if (at && at->entry_id) {
        const m_entry *e = m_branch_entry(adk, at->entry_id);
        if (!e)
            return M(ENTRY_NOT_FOUND);
        *cut = (size_t)e->position + (at->side == RAMET_AFTER);
        return 0;
    }
    for (*cut = adk ? adk->n : 0; !whole && *cut; --*cut)
        if (adk->path[*cut - 1]->main_len <= (int64_t)kept)
            break;
    return 0;
}

/* ------------------------------------------------------------------- forks */

static void fork_dress(model *m, m_session *f, const m_session *s, const ramet_fork_in *in)
{
    ramet_agent parents = {.name = s->agent_name, .model = s->agent_model};
    m_dress(m, f, in->title, in->agent ? in->agent : &parents, in->metadata);
    char words[1024];
    m_words(s, words, sizeof words);
    f->from_title = model_text(m, words);
    f->is_fork = true;
    f->type = in->type;
    f->reason = model_text(m, in->reason ? in->reason : "");
    f->visibility = in->visibility;
    f->by_kind = in->by_kind;
    f->by_id = model_text(m, in->by_id ? in->by_id : f->owner);
    f->expires = in->ephemeral_us > 0 ? m->now + in->ephemeral_us : 0;
}

int64_t m_adk_kept(const m_branch *adk, const m_branch *main, size_t kept)
{
    size_t cut;
    adk_find(adk, NULL, main, kept, &cut);
    return (int64_t)cut;
}

m_session *m_fork_at(model *m, const char *user, m_session *s, const ramet_fork_in *in,
                     const m_branch *from, size_t cut, const m_branch *adk, size_t adk_cut)
{
    m_session *f = m_new(m, s->tree, in->id, user ? user : s->owner);
    fork_dress(m, f, s, in);
    f->parent = s;
    f->cut = (ramet_cut){RAMET_CUT_EXACT, cut ? from->path[cut - 1]->id : NULL,
                         cut ? RAMET_AFTER : RAMET_BEFORE, (int64_t)cut};
    f->cut_at = cut ? from->path[cut - 1] : NULL;
    f->cut_side = RAMET_AFTER;
    f->head = f->first = branch_new(m, f, from, cut, RAMET_LOG_MAIN, in->type);
    if (adk)
        f->adk = branch_new(m, f, adk, adk_cut, RAMET_LOG_ADK, in->type);
    if (f->head->filled || (f->adk && f->adk->filled))
        m_fills_inherit(f, s);
    return f;
}

m_set model_fork(model *m, const char *user, const char *id, const ramet_fork_in *in, m_answer *out)
{
    m_session *s;
    m_list tags = {0};
    m_set bad = m_open(m, user, id, RAMET_READER, &s);
    bad |= m_text_check(m, in->title, in->reason) | m_metadata_check(in->metadata) |
           m_agent_check(in->agent) | m_hash_check(in->expected_head) |
           m_tags_normal(m, in->tags, in->n_tags, &tags);
    m_branch *from = s ? m_branch_find(s, RAMET_LOG_MAIN, in->branch) : NULL;
    if (s && in->visibility == RAMET_TREE_VISIBLE && m_tree_level(s->tree, user) < RAMET_WRITER)
        bad |= M(FORBIDDEN);
    if (!from) {
        free(tags.items);
        return s ? bad | m_branch_missing(s, RAMET_LOG_MAIN, in->branch) : bad;
    }
    bad |= m_id_check(m, user, in->id);
    size_t adk_cut = 0;
    m_branch *adk = from == s->head ? s->adk : from->mate;
    bool may_adk = m_writable(s, user);
    m_set cut = cut_find(from, &in->at, in->cut, out);
    bad |= cut | m_head_check(in->expected_head, from);
    if (!cut)
        bad |=
            adk_find(may_adk ? adk : NULL, &in->adk_at, from, (size_t)out->cut.position, &adk_cut);
    if (!may_adk && in->adk_at.entry_id)
        bad |= M(FORBIDDEN) | M(ENTRY_NOT_FOUND);
    if (bad || m->got != RAMET_OK) {
        free(tags.items);
        return bad ? bad : M(OK);
    }
    m_session *f =
        m_fork_at(m, user, s, in, from, (size_t)out->cut.position, may_adk ? adk : NULL, adk_cut);
    f->tags = tags;
    f->cut = out->cut;
    f->cut_at = in->at.entry_id ? m_branch_entry(from, in->at.entry_id) : NULL;
    f->cut_side = in->at.side;
    out->branch = f->head;
    out->session = f;
    return M(OK);
}

/* ------------------------------------------------------------------- moves */

static m_move *move_write(model *m, m_session *s, ramet_move_kind kind, m_branch *to,
                          m_branch *to_adk, const char *who, const char *reason)
{
    m_move *v = model_alloc(m, sizeof *v);
    *v = (m_move){
        kind, s->head, to, s->adk, to_adk, model_text(m, who), model_text(m, reason ? reason : "")};
    m_list_add(&s->moves, v);
    s->head->mate = s->adk;
    s->head = to;
    s->adk = to_adk;
    return v;
}

/* Any move but undo and redo. */
static void move_new(model *m, m_session *s, ramet_move_kind kind, m_branch *to, m_branch *to_adk,
                     const char *who, const char *reason)
{
    m_list_add(&s->undo, move_write(m, s, kind, to, to_adk, who, reason));
    s->redo.n = 0;
}

/* The head goes to a new branch that keeps `kept` entries. */
static m_branch *move_cut(model *m, m_session *s, ramet_move_kind kind, size_t kept,
                          size_t adk_kept, ramet_fork_type type, const char *who,
                          const char *reason)
{
    m_branch *to = branch_new(m, s, s->head, kept, RAMET_LOG_MAIN, type);
    m_branch *adk = s->adk ? branch_new(m, s, s->adk, adk_kept, RAMET_LOG_ADK, type) : NULL;
    move_new(m, s, kind, to, adk, who, reason);
    return to;
}

m_branch *m_move_end(model *m, m_session *s, ramet_move_kind kind, const char *who,
                     const char *reason)
{
    return move_cut(m, s, kind, s->head->n, s->adk ? s->adk->n : 0, RAMET_EXPLICIT, who, reason);
}

m_set model_rewind(model *m, const char *user, const char *id, const ramet_move_in *in,
                   m_answer *out)
{
    m_session *s;
    size_t adk_cut = 0;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    bad |= m_text_check(m, NULL, in->reason) | m_hash_check(in->expected_head);
    if (!s)
        return bad;
    m_set cut = cut_find(s->head, &in->at, in->cut, out);
    bad |= cut | m_head_check(in->expected_head, s->head);
    if (!cut)
        bad |= adk_find(s->adk, &in->adk_at, s->head, (size_t)out->cut.position, &adk_cut);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    out->branch = move_cut(m, s, RAMET_MOVE_REWIND, (size_t)out->cut.position, adk_cut,
                           RAMET_EXPLICIT, user, in->reason);
    out->session = s;
    return M(OK);
}

m_set model_undo(model *m, const char *user, const char *id, const char *xh, bool redo,
                 m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s) | m_hash_check(xh);
    if (!s)
        return bad;
    m_list *from = redo ? &s->redo : &s->undo, *onto = redo ? &s->undo : &s->redo;
    bad |= m_head_check(xh, s->head);
    if (!from->n)
        bad |= redo ? M(NOTHING_TO_REDO) : M(NOTHING_TO_UNDO);
    else if (((m_move *)from->items[from->n - 1])->from->pruned)
        bad |= M(BRANCH_PRUNED);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    const m_move *back = from->items[--from->n];
    m_list_add(onto, move_write(m, s, redo ? RAMET_MOVE_REDO : RAMET_MOVE_UNDO, back->from,
                                back->from_adk, user, NULL));
    out->session = s;
    out->branch = s->head;
    return M(OK);
}

m_set model_switch(model *m, const char *user, const char *id, int64_t branch, const char *xh,
                   m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s) | m_hash_check(xh);
    if (!s)
        return bad;
    m_branch *to = branch ? m_branch_find(s, RAMET_LOG_MAIN, branch) : NULL;
    bad |= m_head_check(xh, s->head);
    if (!to)
        bad |= m_branch_missing(s, RAMET_LOG_MAIN, branch);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    move_new(m, s, RAMET_MOVE_SWITCH, to, to == s->head ? s->adk : to->mate, user, NULL);
    out->session = s;
    out->branch = to;
    return M(OK);
}

m_set model_replace(model *m, const char *user, const char *client, const char *id,
                    const char *entry_id, const ramet_entry_in *in, size_t n, const char *xh,
                    ramet_move_kind kind, m_answer *out)
{
    m_session *s;
    bool edit = kind == RAMET_MOVE_EDIT;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s) | m_hash_check(xh);
    const m_entry *e = s ? m_branch_entry(s->head, entry_id) : NULL;
    ramet_entry_in one;
    if (edit) {
        one = *in;
        one.role = one.role ? one.role : e ? e->role : RAMET_USER;
        in = &one;
    }
    bad |= batch_shape(m, in, n);
    if (n > m->limits.batch)
        bad |= M(BATCH_TOO_LARGE);
    if (!e)
        return s ? bad | M(ENTRY_NOT_FOUND) | m_head_check(xh, s->head) : bad;
    size_t kept = (size_t)e->position, adk_cut;
    bad |= m_head_check(xh, s->head) | batch_check(s->head, kept, in, n, false);
    adk_find(s->adk, NULL, s->head, kept, &adk_cut);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    m_branch *b = move_cut(m, s, kind, kept, adk_cut,
                           edit ? RAMET_AUTO_EDIT : RAMET_AUTO_REGENERATE, user, NULL);
    batch_write(m, user, client, b, in, n, out);
    return M(OK);
}

/* -------------------------------------------------------------------- sync */

m_set model_sync(model *m, const char *user, const char *client, const char *id,
                 const ramet_entry_in *in, size_t n, const char *xh, m_answer *out)
{
    m_session *s;
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s);
    bad |= batch_shape(m, in, n) | m_hash_check(xh);
    if (n > m->limits.sync)
        bad |= M(BATCH_TOO_LARGE);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (in[i].id && in[k].id && strcmp(in[i].id, in[k].id) == 0)
                bad |= M(INVALID) | M(ENTRY_EXISTS);
    if (!s)
        return bad;
    const char *channel = n && in[0].channel ? in[0].channel : "history";
    size_t matched = 0, cut = 0;
    for (; cut < s->head->n; cut++) {
        const m_entry *e = s->head->path[cut];
        if (strcmp(e->channel, channel) != 0)
            continue;
        if (matched == n || !m_entry_equal(m_entry_shown(s->head, e), &in[matched]))
            break;
        matched++;
    }
    bad |= m_head_check(xh, s->head) | batch_check(s->head, cut, in + matched, n - matched, false);
    if (bad || m->got != RAMET_OK)
        return bad ? bad : M(OK);
    out->session = s;
    out->matched = matched;
    out->moved = cut < s->head->n;
    if (out->moved) {
        size_t adk_cut;
        adk_find(s->adk, NULL, s->head, cut, &adk_cut);
        move_cut(m, s, RAMET_MOVE_SYNC, cut, adk_cut,
                 matched == n                     ? RAMET_EXPLICIT
                 : in[matched].role == RAMET_USER ? RAMET_AUTO_EDIT
                                                  : RAMET_AUTO_REGENERATE,
                 user, NULL);
    }
    batch_write(m, user, client, s->head, in + matched, n - matched, out);
    return M(OK);
}

/* ------------------------------------------------------------------- merge */

static bool tools_match(const tool_part *a, const tool_part *b)
{
    return a->id_len == b->id_len && !memcmp(a->id, b->id, a->id_len);
}

/* Marks what belongs together with the marked entries of a path, until nothing more does. */
static void tools_close(const tool_part *t, size_t n, bool *marked)
{
    bool more = true;
    while (more) {
        more = false;
        for (size_t r = 0; r < n; r++) {
            size_t k = r;
            while (t[r].result && k-- > 0 && (t[k].result || !tools_match(&t[k], &t[r])))
                ;
            if (!t[r].result || k == SIZE_MAX || marked[t[r].entry] == marked[t[k].entry])
                continue;
            marked[t[r].entry] = marked[t[k].entry] = more = true;
        }
    }
}

static bool list_has(const m_list *l, const void *item)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i] == item)
            return true;
    return false;
}

/* Adds an entry of a path, and what belongs to it, to the copies; of: the path of each. */
static void pick_take(m_branch *b, const m_entry *e, m_list *copies, m_list *of)
{
    tool_part *t;
    size_t n = path_tools(b, &t);
    bool *marked = calloc(b->n + 1, sizeof *marked);
    if (!marked)
        abort();
    marked[e->position] = true;
    if (!list_has(copies, e))
        tools_close(t, n, marked);
    else
        marked[e->position] = false;
    for (size_t i = 0; i < b->n; i++)
        if (marked[i] && !list_has(copies, b->path[i])) {
            m_list_add(copies, b->path[i]);
            m_list_add(of, b);
        }
    free(marked);
    free(t);
}

static m_set picks_find(model *m, const char *user, const m_session *to, const ramet_merge_in *in,
                        m_list *copies, m_list *of)
{
    m_set bad = 0;
    for (size_t i = 0; i < in->n_picks; i++) {
        m_session *s;
        m_set open = m_open(m, user, in->picks[i].session, RAMET_READER, &s);
        m_branch *b = s ? m_branch_find(s, RAMET_LOG_MAIN, in->picks[i].branch) : NULL;
        const m_entry *e = m_branch_entry(b, in->picks[i].entry_id);
        bad |= open;
        if (!s)
            continue;
        bad |= s->tree != to->tree ? M(MERGE_REFUSED) : 0;
        if (!e)
            bad |=
                b ? M(ENTRY_NOT_FOUND) : m_branch_missing(s, RAMET_LOG_MAIN, in->picks[i].branch);
        else
            pick_take(b, e, copies, of);
    }
    return bad;
}

/* The source, and what of it the target does not have. */
static m_set source_find(model *m, const char *user, const m_session *to, const ramet_merge_in *in,
                         m_session **from, m_branch **b, m_list *copies, m_list *of)
{
    m_set bad = m_open(m, user, in->from, RAMET_READER, from);
    m_session *s = *from;
    if (!s)
        return bad;
    *b = m_branch_find(s, RAMET_LOG_MAIN, in->from_branch);
    if (!*b)
        return bad | m_branch_missing(s, RAMET_LOG_MAIN, in->from_branch);
    size_t shared = s->tree == to->tree ? m_branches_shared(to->head, *b) : 0;
    if (s->tree != to->tree && in->mode != RAMET_LAND)
        bad |= M(MERGE_REFUSED);
    if ((*b)->n == shared || (in->mode == RAMET_FAST_FORWARD && shared < to->head->n))
        bad |= M(MERGE_REFUSED);
    if (in->mode == RAMET_FAST_FORWARD && s != to && ((*b)->filled || to->head->filled) &&
        !m_fills_same(s, to))
        bad |= M(MERGE_REFUSED);
    for (size_t i = shared; in->mode == RAMET_SPLICE && i < (*b)->n; i++) {
        m_list_add(copies, (*b)->path[i]);
        m_list_add(of, *b);
    }
    if (in->mode == RAMET_LAND && (*b)->n) {
        m_list_add(copies, (*b)->path[(*b)->n - 1]);
        m_list_add(of, *b);
    }
    return bad;
}

/* Returns the copy. */
static m_entry *copy_write(model *m, const char *user, const char *client, m_branch *b,
                           const ramet_merge_in *in, m_entry *from, const m_branch *of)
{
    const m_entry *shown = m_entry_shown(of, from);
    ramet_entry_in land = {.role = RAMET_USER, .text = in->text};
    ramet_entry_in copy = {.role = from->role,
                           .parts = shown->parts,
                           .format = strcmp(from->format, "ramet") == 0 ? NULL : from->format,
                           .body = from->body,
                           .channel = from->channel,
                           .turn_id = from->turn_id,
                           .author = from->author,
                           .state_delta = from->delta};
    bool lands = in->mode == RAMET_LAND;
    m_entry *e = entry_new(m, lands ? user : NULL, client, b, lands ? &land : &copy);
    e->from = from;
    e->of = of->session;
    return e;
}

/* A summary stands for all that the source has and the target has not. */
static void summary_of(model *m, m_entry *e, const m_branch *b, size_t shared)
{
    e->n_sums = b->n - shared;
    e->sums = model_alloc(m, e->n_sums * sizeof *e->sums);
    memcpy(e->sums, b->path + shared, e->n_sums * sizeof *e->sums);
}

m_set model_merge(model *m, const char *user, const char *client, const char *id,
                  const ramet_merge_in *in, m_answer *out)
{
    m_session *s, *from = NULL;
    m_branch *b = NULL;
    m_list copies = {0}, of = {0};
    m_set bad = m_open(m, user, id, RAMET_WRITER, &s) | m_hash_check(in->expected_head);
    if (!s)
        return bad;
    bad |= m_head_check(in->expected_head, s->head);
    bad |= in->mode == RAMET_PICK ? picks_find(m, user, s, in, &copies, &of)
                                  : source_find(m, user, s, in, &from, &b, &copies, &of);
    if (copies.n > m->limits.merge)
        bad |= M(BATCH_TOO_LARGE);
    if (!bad && m->got == RAMET_OK) {
        out->added = in->mode == RAMET_FAST_FORWARD ? b->n - s->head->n : copies.n;
        out->session = s;
        out->branch = s->head;
    }
    if (!bad && m->got == RAMET_OK && !in->dry_run) {
        const m_branch *path = in->mode == RAMET_FAST_FORWARD ? b : s->head;
        m_branch *to = branch_new(m, s, path, path->n, RAMET_LOG_MAIN, RAMET_EXPLICIT);
        model_overlays_join(to, s->head);
        m_branch *adk =
            s->adk ? branch_new(m, s, s->adk, s->adk->n, RAMET_LOG_ADK, RAMET_EXPLICIT) : NULL;
        size_t shared = b && from->tree == s->tree ? m_branches_shared(s->head, b) : 0;
        move_new(m, s, RAMET_MOVE_MERGE, to, adk, user, ramet_merge_mode_name(in->mode));
        for (size_t i = 0; i < copies.n; i++) {
            m_entry *e = copy_write(m, user, client, to, in, copies.items[i], of.items[i]);
            if (in->mode == RAMET_LAND)
                summary_of(m, e, b, shared);
        }
        if (from && from != s && from->tree == s->tree && m_writable(from, user))
            from->merged_into = s;
        out->branch = to;
    }
    free(copies.items);
    free(of.items);
    return bad ? bad : M(OK);
}
