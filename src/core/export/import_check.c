/* SPDX-License-Identifier: Apache-2.0
 *
 * The first pass of an import: every line, every hash, every reference (import.h). At the end of a
 * tree its sessions, moves and records must fit together (import_fit.c), and at the end of the file
 * nothing may be in it twice (import_unique.c).
 */
#include "core/export/import.h"

#include "core/call.h"
#include "core/change/template.h"
#include "core/check.h"
#include "core/model/branch_note.h"
#include "core/model/key.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct check {
    import_job *j;
    int stage;  /* of the last record of the tree; -1: no tree yet */
    bool known; /* the store has the tree */
    bool ready; /* its branches were looked at */
    int64_t owners, trees, sessions, entries;
    import_mark mark;
    /* entries come branch by branch, parents first */
    size_t *order, at;
    /* attachments: those that entries refer to, and the one whose content comes */
    VEC(const char *) wanted; /* in the tree's arena */
    uint32_t *slots;          /* index into `wanted` + 1, by hash */
    size_t n_slots, n_found;
    VEC(bool) found;
    int64_t logs_offset, logs_line; /* where its runs and moves begin; 0: it has none */
    int64_t last[3];                /* the key of the last move, run or note */
    int64_t favourite;              /* the last session whose favourite came */
    const char *name;
    int64_t size, came;
    uint8_t sha256[HASH_LEN];
    sha *content;
    import_ids ids;
} check;

/* Records of a tree come in this order; those of one stage may be mixed. */
static int stage_of(record_kind kind)
{
    if (kind == RECORD_GONE)
        return RECORD_SESSION;
    if (kind == RECORD_ERASED)
        return RECORD_ENTRY;
    return kind == RECORD_CONTENT_PART ? RECORD_ATTACHMENT : (int)kind;
}

/* ---------------------------------------------------------------- the sessions */

/* One root, and every session below it. */
static ramet_status sessions_ready(check *k)
{
    import_tree *t = &k->j->t;
    int64_t roots = 0;
    if (t->have_sessions != t->n_sessions)
        return import_damaged(k->j, t->line, "the tree has %lld sessions, and %lld follow",
                              (long long)t->n_sessions, (long long)t->have_sessions);
    for (int64_t i = 0; i < t->have_sessions; i++)
        roots += !t->sessions[i].parent;
    if (roots != 1)
        return import_damaged(k->j, t->line, "a tree has one root, this one has %lld",
                              (long long)roots);
    int64_t lost = import_depths(t);
    return lost ? import_damaged(k->j, t->sessions[lost - 1].line, "it was forked from itself")
                : RAMET_OK;
}

/* ---------------------------------------------------------------- the branches */

typedef struct sorted {
    int64_t first, second;
    size_t index;
} sorted;

static int sorted_order(const void *a, const void *b)
{
    const sorted *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static ramet_status branch_ready(check *k, const import_branch *b)
{
    import_tree *t = &k->j->t;
    const import_branch *p = b->parent ? &t->branches[b->parent - 1] : NULL;
    if (p && (p->log != b->log || b->base <= p->base || b->base > p->len))
        return import_damaged(k->j, b->line, "it begins outside its parent");
    /* An empty one ends where it begins. */
    if (b->len == b->base && memcmp(b->tip, b->start, HASH_LEN) != 0)
        return import_damaged(k->j, b->line, "its hash is not that of where it begins");
    return RAMET_OK;
}

/* Which branches start on which, and in which order their entries come. */
static void branches_sort(check *k)
{
    import_tree *t = &k->j->t;
    size_t n = (size_t)t->have_branches;
    sorted *list = arena_array(k->j->tree, n + 1, sizeof *list);
    t->kids = arena_array(k->j->tree, n + 1, sizeof *t->kids);
    for (size_t i = 0; i < n; i++)
        list[i] = (sorted){t->branches[i].parent, t->branches[i].base, i};
    qsort(list, n, sizeof *list, sorted_order);
    for (size_t i = 0; i < n; i++) {
        t->kids[i] = list[i].index;
        if (!list[i].first)
            continue;
        import_branch *p = &t->branches[list[i].first - 1];
        if (!p->n_kids++)
            p->kids = i;
    }
    k->order = import_order(k->j);
    k->at = 0;
}

static ramet_status branches_ready(check *k)
{
    import_tree *t = &k->j->t;
    if (k->ready)
        return RAMET_OK;
    k->ready = true;
    TRY(sessions_ready(k));
    if (!k->j->user && k->owners != 1)
        return import_damaged(k->j, t->line, "a tree has one owner, this one has %lld",
                              (long long)k->owners);
    if (t->have_branches != t->n_branches)
        return import_damaged(k->j, t->line, "the tree has %lld branches, and %lld follow",
                              (long long)t->n_branches, (long long)t->have_branches);
    for (int64_t i = 0; i < t->have_branches; i++)
        TRY(branch_ready(k, &t->branches[i]));
    branches_sort(k);
    return import_known(k->j, &k->mark, &k->known);
}

/* ----------------------------------------------------------------- attachments */

/* The index of an id; `wanted.n` when it is not there. */
static size_t wanted_find(const check *k, const char *id)
{
    size_t s = k->n_slots ? hash_text(id) & (k->n_slots - 1) : 0;
    for (; k->n_slots && k->slots[s]; s = (s + 1) & (k->n_slots - 1))
        if (strcmp(k->wanted.items[k->slots[s] - 1], id) == 0)
            return k->slots[s] - 1;
    return k->wanted.n;
}

static void wanted_slot(check *k, size_t i)
{
    size_t s = hash_text(k->wanted.items[i]) & (k->n_slots - 1);
    while (k->slots[s])
        s = (s + 1) & (k->n_slots - 1);
    k->slots[s] = (uint32_t)i + 1;
}

static void wanted_add(check *k, const char *id)
{
    arena *a = k->j->tree;
    if (wanted_find(k, id) < k->wanted.n)
        return;
    VEC_PUSH(a, &k->wanted, arena_strdup(a, id));
    VEC_PUSH(a, &k->found, false);
    if (k->wanted.n * 2 <= k->n_slots) {
        wanted_slot(k, k->wanted.n - 1);
        return;
    }
    k->n_slots = k->n_slots ? k->n_slots * 2 : 32;
    k->slots = arena_array(a, k->n_slots, sizeof *k->slots);
    for (size_t i = 0; i < k->wanted.n; i++)
        wanted_slot(k, i);
}

/* The content of the attachment before must be whole. */
static ramet_status content_done(check *k, int64_t line)
{
    uint8_t got[HASH_LEN];
    if (!k->name)
        return RAMET_OK;
    sha_end(k->content, got);
    if (k->came != k->size)
        return import_damaged(k->j, line, "attachment %s has %lld bytes, and %lld came", k->name,
                              (long long)k->size, (long long)k->came);
    if (memcmp(got, k->sha256, HASH_LEN) != 0)
        return import_damaged(k->j, line, "attachment %s does not have its SHA-256", k->name);
    k->name = NULL;
    return RAMET_OK;
}

static ramet_status attachment_check(check *k, record *r, int64_t line)
{
    import_job *j = k->j;
    ramet_call *c = j->call;
    const char *id = record_text(r, "id"), *name = record_maybe(r, "name"),
               *type = record_maybe(r, "media_type"), *owner = record_text(r, "owner");
    record_int(r, "created", 0, INT64_MAX / 4);
    int64_t size = record_int(r, "size", 0, (int64_t)c->ramet->limits.attachment_bytes);
    TRY(content_done(k, line));
    record_hash(r, "sha256", k->sha256);
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    size_t i = wanted_find(k, id);
    if (i == k->wanted.n || k->found.items[i])
        return import_damaged(j, line,
                              "no entry of the tree refers to attachment %s, or it came "
                              "before",
                              id);
    if ((name && (check_chars(c, "name", name, 255, RAMET_TOO_LARGE) != RAMET_OK)) ||
        (type && (strlen(type) > 255 || check_utf8(c, "media_type", type) != RAMET_OK)) ||
        (owner[0] && check_id(c, "owner", owner) != RAMET_OK))
        return import_damaged(j, line, "attachment %s has a name, type or owner that is too long",
                              id);
    if (!k->known)
        TRY(import_attachment_free(j, id, k->sha256, line));
    k->found.items[i] = true;
    k->n_found++;
    k->name = k->wanted.items[i];
    k->size = size;
    k->came = 0;
    sha_begin(k->content);
    return RAMET_OK;
}

static ramet_status content_check(check *k, record *r, int64_t line)
{
    const char *data = record_text(r, "data");
    size_t n = strlen(data), got;
    if (!record_done(r))
        return import_damaged(k->j, line, "%s", r->fault);
    uint8_t *bytes = arena_alloc(r->arena, n + 3);
    if (!k->name || n > BASE64_LEN(RECORD_CONTENT) || !record_bytes(data, n, bytes, &got))
        return import_damaged(k->j, line, "it is no content of an attachment");
    sha_add(k->content, bytes, got);
    k->came += (int64_t)got;
    return RAMET_OK;
}

/* --------------------------------------------------------------------- entries */

static ramet_status entry_chain(check *k, import_branch *b, const entry_new *e, int64_t line)
{
    import_job *j = k->j;
    import_tree *t = &j->t;
    sha_chain(j->call->hasher, b->at, e->digest, b->at);
    if (memcmp(b->at, e->hash, HASH_LEN) != 0)
        return import_damaged(j, line, "entry %s is not what its prefix_hash says", e->entry.id);
    b->next++;
    while (b->n_kids && t->branches[t->kids[b->kids]].base <= b->next) {
        import_branch *kid = &t->branches[t->kids[b->kids]];
        if (memcmp(kid->start, b->at, HASH_LEN) != 0)
            return import_damaged(j, kid->line, "its base_hash is not that of its parent");
        b->kids++;
        b->n_kids--;
    }
    if (b->next == b->len && memcmp(b->at, b->tip, HASH_LEN) != 0)
        return import_damaged(j, b->line, "its prefix_hash is not that of its last entry");
    return RAMET_OK;
}

/* M6 */
static void link_add(check *k, int64_t offset, int64_t line)
{
    import_link link = {offset, line, k->j->marks.n};
    VEC_PUSH(k->j->all, &k->j->links, link);
}

static ramet_status entry_check(check *k, record *r, int64_t offset, int64_t line)
{
    import_job *j = k->j;
    import_tree *t = &j->t;
    entry_new e;
    import_about about;
    TRY(import_entry(j, r, line, false, &e, &about));
    int64_t branch = about.branch;
    while (k->at < (size_t)t->have_branches &&
           t->branches[k->order[k->at]].next == t->branches[k->order[k->at]].len)
        k->at++;
    if (k->at == (size_t)t->have_branches || (int64_t)k->order[k->at] != branch - 1 ||
        t->branches[branch - 1].next != e.entry.position)
        return import_damaged(j, line, "the entry at position %lld of branch %lld is out of order",
                              (long long)e.entry.position, (long long)branch);
    import_branch *b = &t->branches[branch - 1];
    if (about.n_origins && b->log != RAMET_LOG_MAIN)
        return import_damaged(j, line, "only entries of the log main are copies");
    if (about.foreign)
        link_add(k, offset, line);
    if (about.peer && b->log != RAMET_LOG_ADK)
        return import_damaged(j, line, "only entries of the adk log have a peer");
    for (size_t i = 0; i < e.n_files; i++)
        wanted_add(k, e.files[i]);
    if (!t->have_entries++) {
        import_ids_begin(&k->ids, j->tree, t->n_entries);
        k->ids.offset = offset;
        k->ids.line = line;
    }
    import_ids_add(&k->ids, e.entry.id);
    if (!import_tick(j, "check", 1))
        return import_stopped(j);
    return entry_chain(k, b, &e, line);
}

/* ------------------------------------------------------------------ other rows */

/* Moves, runs, notes and holds come in the order of their keys, and so none twice. */
static ramet_status key_check(check *k, record_kind kind, const copy_cell *row, int64_t line)
{
    const copy_table *t = &copy_tables[record_defs[kind].table];
    const char *last = kind == RECORD_MOVE   ? "seq"
                       : kind == RECORD_RUN  ? "rec"
                       : kind == RECORD_HOLD ? "kind"
                                             : "branch";
    int64_t key[3] = {row[record_column_at(t, "session")].number,
                      kind == RECORD_RUN ? row[record_column_at(t, "log")].number : 0,
                      row[record_column_at(t, last)].number};
    bool above = key[0] != k->last[0]   ? key[0] > k->last[0]
                 : key[1] != k->last[1] ? key[1] > k->last[1]
                                        : key[2] > k->last[2];
    if (!above)
        return import_damaged(k->j, line, "a %s is out of order", record_defs[kind].type);
    memcpy(k->last, key, sizeof key);
    return RAMET_OK;
}

/* After the references were checked. That a pruned branch is no head, and that no path needs what
 * was pruned, is checked at the end of the tree. */
static ramet_status note_check(check *k, const copy_cell *row, int64_t line)
{
    const copy_table *t = &copy_tables[COPY_T_branch_note];
    import_job *j = k->j;
#define CELL(name) row[record_column_at(t, name)].number
    int64_t branch = CELL("branch"), session = CELL("session");
    bool kept = CELL("state") == NOTE_KEPT;
    if (!branch || j->t.branches[branch - 1].session != session)
        return import_damaged(j, line, "the branch is not one of its session");
    if (branch_name_check(j->call, row[record_column_at(t, "name")].bytes) != RAMET_OK)
        return import_damaged(j, line,
                              "the name of a branch is one line of at most 100 characters");
    if (CELL("favourite") > 1 || (CELL("favourite") && k->favourite == session))
        return import_damaged(j, line, "a session has at most one favourite branch");
    if (kept != (CELL("pruned") == 0) || kept != (CELL("prune_op") == 0) ||
        CELL("keep") > (kept ? 0 : POS_MAX))
        return import_damaged(j, line, "a branch that was pruned has a time, a number and a place");
    if (CELL("favourite"))
        k->favourite = session;
    j->t.branches[branch - 1].note = (branch_note){
        .branch = branch, .name = "", .state = (note_state)CELL("state"), .keep = CELL("keep")};
#undef CELL
    return RAMET_OK;
}

/* The branches of one log, and of the session, that a template is pinned on. */
static bool pin_fits(const import_job *j, int64_t branch, int64_t session, ramet_log log,
                     int64_t len)
{
    const import_branch *b = branch ? &j->t.branches[branch - 1] : NULL;
    return b && b->session == session && b->log == (int)log && len > 0 && len <= b->len;
}

static bool template_fits(import_job *j, const copy_cell *row)
{
    const copy_table *t = &copy_tables[COPY_T_template];
#define CELL(name) row[record_column_at(t, name)]
    template_row one = {.placeholders =
                            CELL("placeholders").null ? "" : CELL("placeholders").bytes};
    const char **names, *name = CELL("name").bytes;
    size_t n;
    int64_t adk = CELL("adk_branch").number, session = CELL("session").number;
    bool fits = template_names(j->line, &one, &names, &n) && *name &&
                utf8_count(name) <= j->call->ramet->limits.title_chars &&
                pin_fits(j, CELL("branch").number, session, RAMET_LOG_MAIN, CELL("len").number) &&
                (adk ? pin_fits(j, adk, session, RAMET_LOG_ADK, CELL("adk_len").number)
                     : !CELL("adk_len").number);
#undef CELL
    return fits;
}

/* What fsck looks at in single rows, after the references were checked. NULL: nothing is wrong. */
static const char *row_fault(import_job *j, record *r, const copy_cell *row)
{
    const copy_table *t = &copy_tables[record_defs[r->kind].table];
#define CELL(name) row[record_column_at(t, name)]
    json_doc d;
    int64_t branch = r->kind == RECORD_TURN ? CELL("branch").number : 0;
    if (r->kind == RECORD_HOLD &&
        (check_chars(j->call, "why", CELL("why").bytes, j->call->ramet->limits.reason_chars,
                     RAMET_REASON_TOO_LONG) != RAMET_OK ||
         (!CELL("who").null && check_id(j->call, "who", CELL("who").bytes) != RAMET_OK)))
        return "the reason of a hold, or the name of its user, is too long";
    if (r->kind == RECORD_FEEDBACK && CELL("value").number != 1 && CELL("value").number != -1)
        return "feedback is 1 or -1";
    if (r->kind == RECORD_TURN &&
        (!branch || j->t.branches[branch - 1].session != CELL("session").number ||
         j->t.branches[branch - 1].log != RAMET_LOG_MAIN))
        return "the branch of the turn is not one of its session";
    if (r->kind == RECORD_TASK &&
        (CELL("data").null ||
         !json_parse(r->arena, CELL("data").bytes, CELL("data").n, SIZE_MAX, &d, NULL) ||
         !json_is(&d.nodes[0], JSON_OBJECT)))
        return "the data of a task is an object";
    if (r->kind == RECORD_VERDICT &&
        (CELL("winner").number < -1 ||
         CELL("winner").number >= (int64_t)json_get(&r->doc, r->doc.nodes, "sides")->count))
        return "the winner of a verdict is one of its sides, or -1";
#undef CELL
    return NULL;
}

static ramet_status row_check(check *k, record *r, int64_t line)
{
    import_job *j = k->j;
    copy_cell row[RECORD_COLUMNS];
    const char *sides, *fault;
    if (record_defs[r->kind].table < 0)
        return import_damaged(j, line, "this Ramet keeps no records of the type \"%s\"",
                              record_defs[r->kind].type);
    record_row(r, row);
    if (r->kind == RECORD_PLACE && record_maybe(r, "of"))
        record_int(r, "session", 1, j->t.have_sessions);
    if (r->kind == RECORD_VERDICT)
        TRY(import_sides(j, r, line, false, &sides));
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    if (r->kind == RECORD_RUN || r->kind == RECORD_MOVE || r->kind == RECORD_BRANCH_NOTE ||
        r->kind == RECORD_HOLD)
        TRY(key_check(k, r->kind, row, line));
    TRY(import_refs(j, r->kind, row, line, false));
    if (r->kind == RECORD_BRANCH_NOTE)
        return note_check(k, row, line);
    const copy_table *t = &copy_tables[record_defs[r->kind].table];
    if ((fault = row_fault(j, r, row)))
        return import_damaged(j, line, "%s", fault);
    if (r->kind == RECORD_MEMBER) {
        const char *user = row[record_column_at(t, "user_id")].bytes;
        if (check_id(j->call, "user", user) != RAMET_OK)
            return import_damaged(j, line, "the name of a member is no id");
        k->owners += row[record_column_at(t, "level")].number == RAMET_OWNER;
    }
    if (r->kind == RECORD_TEMPLATE && !template_fits(j, row))
        return import_damaged(j, line, "the template is damaged, or pinned on nothing");
    if ((r->kind == RECORD_TURN || r->kind == RECORD_TASK || r->kind == RECORD_TEMPLATE) &&
        !k->known)
        return import_id_free(j, r->kind, row[record_column_at(t, "id")].bytes, line);
    return RAMET_OK;
}

/* ----------------------------------------------------------------------- trees */

static ramet_status entries_done(check *k)
{
    import_tree *t = &k->j->t;
    for (int64_t i = 0; i < t->have_branches; i++)
        if (t->branches[i].next != t->branches[i].len)
            return import_damaged(k->j, t->branches[i].line,
                                  "the branch has %lld entries, and %lld of them are there",
                                  (long long)(t->branches[i].len - t->branches[i].base),
                                  (long long)(t->branches[i].next - t->branches[i].base));
    if (t->have_entries != t->n_entries)
        return import_damaged(k->j, t->line, "the tree has %lld entries, and %lld follow",
                              (long long)t->n_entries, (long long)t->have_entries);
    return k->known || !t->have_entries ? RAMET_OK : import_ids_check(k->j, &k->ids);
}

static ramet_status tree_done(check *k, int64_t line)
{
    import_job *j = k->j;
    if (k->stage < 0)
        return RAMET_OK;
    TRY(branches_ready(k));
    if (k->stage <= RECORD_ENTRY)
        TRY(entries_done(k));
    for (int64_t i = 0; i < j->t.have_branches; i++)
        if (j->t.branches[i].overlay > j->t.have_overlays)
            return import_damaged(j, j->t.branches[i].line, "there is no overlay %lld in the tree",
                                  (long long)j->t.branches[i].overlay);
    TRY(content_done(k, line));
    if (k->n_found != k->wanted.n)
        return import_damaged(j, j->t.line, "entries refer to %zu attachments, and %zu are there",
                              k->wanted.n, k->n_found);
    if (!k->known)
        TRY(import_fit(j, k->order, k->logs_offset, k->logs_line));
    k->sessions += j->t.have_full;
    k->entries += j->t.have_entries;
    k->mark.known = k->known;
    if (k->known)
        j->out->sessions_known += j->t.have_full;
    else
        j->total += j->t.have_entries;
    VEC_PUSH(j->all, &j->marks, k->mark);
    return RAMET_OK;
}

static void tree_begin(check *k, int64_t offset, int64_t line)
{
    import_reader *in = &k->j->in;
    k->trees++;
    k->stage = RECORD_TREE;
    k->known = k->ready = false;
    k->owners = k->favourite = 0;
    k->logs_offset = 0;
    k->logs_line = 1;
    memset(&k->wanted, 0, sizeof k->wanted);
    memset(&k->found, 0, sizeof k->found);
    k->slots = NULL;
    k->n_slots = k->n_found = 0;
    k->name = NULL;
    k->mark = (import_mark){
        .offset = offset, .line = line, .sessions_offset = in->offset, .sessions_line = in->line};
}

/* A record of a tree, in its place. */
static ramet_status tree_record(check *k, record *r, int64_t offset, int64_t line)
{
    import_job *j = k->j;
    copy_cell row[RECORD_COLUMNS];
    int stage = stage_of(r->kind);
    if (r->kind == RECORD_TREE) {
        TRY(tree_done(k, line));
        tree_begin(k, offset, line);
        import_unique_add(j, r);
        return import_model(j, r, line);
    }
    if (k->stage < 0 || stage < k->stage)
        return import_damaged(j, line, "a record of the type \"%s\" is out of place here",
                              record_defs[r->kind].type);
    if (stage > RECORD_BRANCH)
        TRY(branches_ready(k));
    if (stage > RECORD_ENTRY && k->stage <= RECORD_ENTRY)
        TRY(entries_done(k));
    if (stage == RECORD_ATTACHMENT && k->stage != RECORD_ATTACHMENT) {
        k->mark.contents_offset = offset;
        k->mark.contents_line = line;
    }
    if ((stage == RECORD_RUN || stage == RECORD_MOVE) && !k->logs_offset) {
        k->logs_offset = offset;
        k->logs_line = line;
    }
    import_unique_add(j, r);
    if (k->stage != stage)
        memset(k->last, 0xff, sizeof k->last); /* below every key */
    k->stage = stage;
    switch (r->kind) {
    case RECORD_SESSION:
        if (json_get(&r->doc, json_get(&r->doc, r->doc.nodes, "origin"), "session"))
            link_add(k, offset, line);
        return import_model(j, r, line);
    case RECORD_OVERLAY:
        return import_overlay(j, r, line, false, row);
    case RECORD_PROMPT:
        return import_prompt(j, r, line, false, row);
    case RECORD_GONE:
    case RECORD_BRANCH:
        return import_model(j, r, line);
    case RECORD_ENTRY:
    case RECORD_ERASED:
        return entry_check(k, r, offset, line);
    case RECORD_ATTACHMENT:
        return attachment_check(k, r, line);
    case RECORD_CONTENT_PART:
        return content_check(k, r, line);
    default:
        return row_check(k, r, line);
    }
}

/* -------------------------------------------------------------------- the file */

static ramet_status header_check(import_job *j)
{
    record r;
    TRY(import_next(j, &j->in, j->line, &r));
    if (r.kind != RECORD_HEADER)
        return import_damaged(j, 1, "this is no export of Ramet: it does not begin with a header");
    const char *format = record_text(&r, "format");
    int64_t version = record_int(&r, "version", 1, INT32_MAX);
    if (!r.fault[0] && strcmp(format, "ramet") == 0 && version > RECORD_VERSION)
        return import_damaged(j, 1,
                              "the file has version %lld of the format and this Ramet knows "
                              "up to %d; use a newer Ramet",
                              (long long)version, RECORD_VERSION);
    if (!record_done(&r) || strcmp(format, "ramet") != 0)
        return import_damaged(j, 1, "this is no export of Ramet: %s",
                              r.fault[0] ? r.fault : "its format is another one");
    return RAMET_OK;
}

static ramet_status end_check(check *k, record *r, int64_t line)
{
    import_job *j = k->j;
    uint8_t want[HASH_LEN], got[HASH_LEN];
    size_t n;
    ramet_status st;
    TRY(tree_done(k, line));
    int64_t trees = record_int(r, "trees", 0, INT64_MAX / 4),
            sessions = record_int(r, "sessions", 0, INT64_MAX / 4),
            entries = record_int(r, "entries", 0, INT64_MAX / 4);
    record_hash(r, "sha256", want);
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    /* Of the lines before this one: the reader adds a line when the next one is asked for. */
    sha_end(j->in.digest, got);
    sha_begin(j->in.digest);
    if (memcmp(got, want, HASH_LEN) != 0)
        return import_damaged(j, line, "the lines before it do not have the SHA-256 that it names");
    if (trees != k->trees || sessions != k->sessions || entries != k->entries)
        return import_damaged(j, line,
                              "it counts %lld trees, %lld sessions and %lld entries; the "
                              "file has %lld, %lld and %lld",
                              (long long)trees, (long long)sessions, (long long)entries,
                              (long long)k->trees, (long long)k->sessions, (long long)k->entries);
    if (reader_next(j, &j->in, &n, &st))
        return import_damaged(j, line + 1, "something follows the end of the file");
    return st == RAMET_OK ? import_unique_check(j) : st;
}

static ramet_status lines_check(check *k)
{
    import_job *j = k->j;
    TRY(header_check(j));
    for (;;) {
        record r;
        int64_t offset = j->in.offset, line = j->in.line;
        arena_reset(j->line);
        TRY(import_next(j, &j->in, j->line, &r));
        if (r.kind == RECORD_UNKNOWN)
            return import_damaged(j, line, "the file is not complete: it has no record \"end\"");
        if (r.kind == RECORD_END)
            return end_check(k, &r, line);
        if (r.kind == RECORD_HEADER)
            return import_damaged(j, line, "there is another header");
        TRY(tree_record(k, &r, offset, line));
    }
}

ramet_status import_check(import_job *j)
{
    check k = {.j = j, .stage = -1, .content = sha_new()};
    j->in.digest = sha_new();
    sha_begin(j->in.digest);
    reader_seek(&j->in, 0, 1);
    import_unique_begin(j);
    ramet_status st = lines_check(&k);
    sha_free(j->in.digest);
    sha_free(k.content);
    j->in.digest = NULL;
    return st;
}
