/* SPDX-License-Identifier: Apache-2.0
 *
 * Exports of the context view: overlays are baked in (export.h).
 *
 * As records it is a conversation of its own: entries that are hidden are not there, others say
 * what the model sees, and positions and hashes follow from that. So it has other ids for its
 * session and tree, made of theirs and of its last hash; entries keep their ids. It is read twice:
 * its length and last hash stand before the entries.
 */
#include "core/export/export.h"

#include "core/call.h"
#include "core/view/context.h"
#include "core/model/key.h"

#define STEP 256
#define STEP_BYTES ((size_t)1 << 20)

/* -------------------------------------------------------------------------- reading */

typedef struct step {
    arena *arena;
    VEC(ramet_entry) list;
    int64_t seen;
} step;

static bool step_take(void *arg, ramet_entry *e)
{
    step *s = arg;
    VEC_PUSH(s->arena, &s->list, *e);
    s->seen = e->position;
    return arena_used(s->arena) < STEP_BYTES;
}

bool export_context(export_job *j, const export_tree *t, const export_branch *head, int64_t from,
                    int64_t to, export_shown each, void *arg)
{
    txn tx = *t->tx;
    context view;
    bool go_on = true;
    tx.arena = j->page;
    context_open(&tx, &head->row, &view);
    while (go_on && from < to && db_status(tx.db) == RAMET_OK) {
        int64_t lo = from, hi = from + STEP < to ? from + STEP : to;
        step s = {.arena = j->page};
        if (view.set)
            context_span(&tx, &view, from, to, STEP, false, &lo, &hi);
        if (lo >= hi)
            break;
        s.seen = lo - 1;
        path_read(&tx, &head->row, lo, hi, j->page, step_take, &s);
        size_t n = context_filter(&tx, &view, s.list.items, s.list.n, j->page);
        for (size_t i = 0; i < n && go_on && db_status(tx.db) == RAMET_OK; i++) {
            go_on = each(arg, &s.list.items[i]);
            arena_reset(j->entry);
        }
        from = s.seen + 1;
        arena_reset(j->page);
    }
    context_close(&view);
    arena_reset(j->page);
    return go_on && db_status(tx.db) == RAMET_OK;
}

/* -------------------------------------------------------------------------- records */

typedef struct baker {
    export_job *job;
    attachment_finder files;
    bool writing; /* the second time */
    int64_t n;
    uint8_t hash[HASH_LEN]; /* after n entries */
    ramet_status status;
} baker;

/* An entry as it would be stored. */
static ramet_status stored_form(export_job *j, const ramet_entry *e, ramet_entry *out,
                                entry_cols *cols)
{
    bool plain = strcmp(e->format, "ramet") == 0;
    ramet_call *c = j->call;
    arena *own = c->arena;
    entry_new *made;
    const ramet_entry_in in = {.id = e->id,
                               .role = e->role,
                               .parts = e->parts,
                               .format = plain ? NULL : e->format,
                               .body = plain ? NULL : e->body,
                               .turn_id = e->turn_id,
                               .channel = e->channel,
                               .author = e->author,
                               .usage = e->usage,
                               .state_delta = e->state_delta};
    c->arena = j->entry;
    ramet_status st = entries_prepare_copies(c, &in, 1, e->created, &made);
    c->arena = own;
    TRY(st);
    *cols = (entry_cols){.text = made->text, .parts = made->parts, .body = made->body};
    *out = *e;
    out->erased = NULL; /* an entry of its own, that says so */
    out->text = cols->text ? cols->text : "";
    out->parts = cols->parts;
    out->body = cols->body;
    return RAMET_OK;
}

static bool entry_bake(void *arg, const ramet_entry *shown)
{
    baker *b = arg;
    export_job *j = b->job;
    ramet_entry e;
    entry_cols cols;
    uint8_t digest[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    const char **files = NULL;
    b->status = stored_form(j, shown, &e, &cols);
    if (b->status != RAMET_OK)
        return false;
    e.position = b->n++;
    entry_digest(j->call->hasher, &e, &cols, digest);
    sha_chain(j->call->hasher, b->hash, digest, b->hash);
    hex_encode(b->hash, HASH_LEN, hex);
    if (b->writing) {
        export_entry_begin(j, 1, &e, &cols);
        return export_entry_end(j, hex);
    }
    size_t n = entry_files(j->entry, shown->parts, &files);
    for (size_t i = 0; i < n; i++)
        if (!export_attachment_add(&b->files, files[i]))
            return false;
    return !j->stopped;
}

/* An id of its own, of what it is made of. */
static const char *baked_id(const baker *b, const export_tree *t, const char *of)
{
    uint8_t h[HASH_LEN];
    sha *s = b->job->call->hasher;
    sha_begin(s);
    sha_add(s, "ramet context\n", 14);
    sha_add(s, of, strlen(of) + 1);
    sha_add(s, b->hash, HASH_LEN);
    sha_end(s, h);
    return export_id(t->arena, h);
}

static void session_bake(baker *b, export_tree *t, const export_session *s)
{
    const copy_table *table = &copy_tables[COPY_T_session];
    static const char *const none[] = {"parent",    "merged_into", "first_adk", "adk",
                                       "undo",      "redo",        "moves",     "type",
                                       "fork_side", "expires"};
    copy_cell row[RECORD_COLUMNS];
    memcpy(row, s->row, table->n * sizeof *row);
#define CELL(name) row[record_column_at(table, name)]
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        CELL(none[i]).number = 0;
    CELL("no").number = CELL("first").number = CELL("head").number = 1;
    CELL("type").number = RAMET_EXPLICIT;
    CELL("fork_side").number = RAMET_AFTER;
    CELL("fork_entry").null = true;
    CELL("fill").null = true; /* the entries have them in their text */
    CELL("from_title").n = CELL("reason").n = 0;
    CELL("id").bytes = baked_id(b, t, s->access.id);
#undef CELL
    export_session_record(b->job, t, s, row);
}

static void branch_bake(const baker *b, const export_session *s, const export_branch *head)
{
    json_writer *w = &b->job->w;
    char hex[2 * HASH_LEN + 1];
    hex_encode(b->hash, HASH_LEN, hex);
    record_open(w, RECORD_BRANCH);
    jw_kint(w, "n", 1);
    jw_kint(w, "session", 1);
    jw_kstr(w, "log", "main");
    jw_kstr(w, "fork_type", "explicit");
    jw_kint(w, "created", s->created); /* it begins with its session */
    jw_kint(w, "length", b->n);
    jw_kstr(w, "prefix_hash", hex);
    jw_kint(w, "touched", head->row.touched);
    export_line(b->job);
}

static void run_bake(const baker *b)
{
    json_writer *w = &b->job->w;
    if (!b->n)
        return;
    record_open(w, RECORD_RUN);
    jw_kint(w, "session", 1);
    jw_kstr(w, "log", "main");
    jw_kint(w, "record", 0);
    jw_kint(w, "branch", 1);
    jw_kint(w, "position", 0);
    export_line(b->job);
}

static const export_branch *chosen_branch(const export_job *j, const export_tree *t,
                                          const export_session **session)
{
    for (size_t i = 0; i < t->n_branches; i++) {
        const export_branch *b = &t->branches[i];
        const export_session *s = export_session_at(t, b->row.meta.session);
        *session = s;
        if (s && s->full && b->full && export_chosen(j, s, &b->row))
            return b;
    }
    return NULL;
}

ramet_status export_context_tree(export_job *j, export_tree *t)
{
    const export_session *s;
    const export_branch *head = chosen_branch(j, t, &s);
    baker b = {.job = j, .files = {.tree = t}};
    if (!head) {
        db_fail(t->tx->db, RAMET_DAMAGED, "the head of session %s is missing; run fsck",
                j->in->session);
        return RAMET_OK;
    }
    export_context(j, t, head, 0, head->row.len, entry_bake, &b);
    TRY(b.status);
    if (j->stopped || db_status(t->tx->db) != RAMET_OK)
        return RAMET_OK; /* the caller looks */
    t->id = baked_id(&b, t, t->id);
    t->sessions_out = t->branches_out = 1;
    t->entries_out = b.n;
    t->attachments = b.files.list.items;
    t->n_attachments = b.files.list.n;
    export_tree_record(j, t);
    export_members(j, t);
    session_bake(&b, t, s);
    branch_bake(&b, s, head);
    baker again = {.job = j, .files = {.tree = t}, .writing = true};
    export_context(j, t, head, 0, head->row.len, entry_bake, &again);
    TRY(again.status);
    run_bake(&b);
    return RAMET_OK;
}
