/* SPDX-License-Identifier: Apache-2.0
 *
 * Edit, regenerate and sync: each creates a branch before an entry and appends to it, in one
 * commit.
 */
#include "core/change/edit.h"

#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/change/append.h"
#include "core/model/branch.h"
#include "core/model/entry.h"
#include "core/idempotency.h"
#include "core/model/key.h"
#include "core/change/move.h"
#include "core/model/path.h"
#include "core/session/session.h"
#include "core/session/session_open.h"
#include "core/session/session_show.h"
#include "core/txn.h"

/* ------------------------------------------------------ edit and regenerate */

typedef struct edit_job {
    const char *session;
    edit_work work;
} edit_job;

ramet_status edit_do(txn *tx, session_full *s, const branch_row *head, const edit_work *w,
                     branch_row *to)
{
    cut_result cut;
    size_t fresh;
    ramet_at adk_at = {0};
    TRY(head_check(tx, head, w->expected, w->given));
    TRY(cut_both(tx, s, head, &w->at, &adk_at, w->cut, &cut));
    /* The entries before the cut stay, so a new entry must not have the id of one of them. */
    branch_row kept = *head;
    kept.len = cut.main;
    TRY(entries_known(tx, &kept, w->list, w->n, &fresh));
    for (size_t i = 0; i < w->n; i++)
        if (w->list[i].existing)
            return call_fail(tx->call, RAMET_ENTRY_EXISTS, "id",
                             "entry %s is on the path before %s", w->list[i].entry.id,
                             w->at.entry_id);
    if (cut.main + (int64_t)fresh > POS_MAX)
        return call_fail(tx->call, RAMET_PATH_FULL, "entries", "the history would be too long");
    move_to_cut(tx, s, head, &cut,
                w->kind == RAMET_MOVE_EDIT ? RAMET_AUTO_EDIT : RAMET_AUTO_REGENERATE, w->kind, "",
                to);
    entries_write(tx, &s->brief, to, w->list, w->n);
    append_answer(tx, to, w->list, w->n, w->out);
    return txn_status(tx);
}

static ramet_status edit_run(txn *tx, void *arg)
{
    edit_job *j = arg;
    session_full s;
    branch_row head, to;
    TRY(session_open(tx, j->session, NEED_WRITE, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    return edit_do(tx, &s, &head, &j->work, &to);
}

ramet_status role_of(ramet_call *c, const char *session, const char *entry_id, ramet_role *role)
{
    ramet_entry *old;
    TRY(ramet_entry_get(c, session, 0, entry_id, &old));
    *role = old->role;
    return RAMET_OK;
}

ramet_status ramet_edit(ramet_call *c, const char *session, const char *entry_id,
                        const ramet_entry_in *in, const char *expected_head, ramet_append_out *out)
{
    edit_job j = {
        .session = session,
        .work = {.at = {entry_id, RAMET_BEFORE}, .n = 1, .kind = RAMET_MOVE_EDIT, .out = out}};
    ramet_entry_in copy = *in;
    *out = (ramet_append_out){0};
    TRY(check_id(c, "entry_id", entry_id));
    TRY(check_hash(c, expected_head, j.work.expected, &j.work.given));
    if (!copy.role) {
        bool done;
        TRY(idempotency_early(c, &done));
        if (done)
            return RAMET_OK;
        TRY(role_of(c, session, entry_id, &copy.role));
    }
    TRY(entries_prepare(c, &copy, 1, 1, ramet_now(c->ramet), &j.work.list));
    return txn_write(c, edit_run, &j);
}

ramet_status ramet_regenerate(ramet_call *c, const char *session, const char *entry_id,
                              const ramet_entry_in *entries, size_t n, const char *expected_head,
                              ramet_append_out *out)
{
    edit_job j = {
        .session = session,
        .work = {
            .at = {entry_id, RAMET_BEFORE}, .n = n, .kind = RAMET_MOVE_REGENERATE, .out = out}};
    *out = (ramet_append_out){0};
    TRY(check_id(c, "entry_id", entry_id));
    TRY(check_hash(c, expected_head, j.work.expected, &j.work.given));
    TRY(entries_prepare(c, entries, n, c->ramet->limits.batch, ramet_now(c->ramet), &j.work.list));
    return txn_write(c, edit_run, &j);
}

/* --------------------------------------------------------------------- sync */

typedef struct sync_job {
    const char *session;
    entry_new *list;
    size_t n;
    const char *channel;
    uint8_t expected[HASH_LEN];
    bool given;
    ramet_sync_out *out;
    /* for the walk over the path */
    ramet_call *call;
    arena *scratch;
    int64_t seen;
    size_t matched;
    int64_t cut; /* position of the first entry of the channel that does not match; -1 = none */
} sync_job;

static bool sync_take(void *arg, ramet_entry *e)
{
    sync_job *j = arg;
    bool room = arena_used(j->scratch) < PAGE_BYTES;
    j->seen = e->position;
    if (strcmp(e->channel, j->channel) != 0)
        return room;
    const entry_new *n = j->matched < j->n ? &j->list[j->matched] : NULL;
    if (n && (!n->in->id || strcmp(n->entry.id, e->id) == 0) && entry_same(j->call, n, e)) {
        j->matched++;
        return room;
    }
    j->cut = e->position;
    return false;
}

/* Walks the path in steps, so that a long history is not held in memory. */
static void sync_match(txn *tx, const branch_row *head, sync_job *j)
{
    const int64_t step = 512;
    j->scratch = arena_new();
    j->matched = 0;
    j->cut = -1;
    for (int64_t at = 0; at < head->len && j->cut < 0 && db_status(tx->db) == RAMET_OK;) {
        j->seen = at - 1;
        path_read(tx, head, at, at + step < head->len ? at + step : head->len, j->scratch,
                  sync_take, j);
        arena_reset(j->scratch);
        at = j->seen + 1;
    }
    arena_free(j->scratch);
}

/* Guesses the caller's action from the list: another message of the user is an edit, another answer
 * a regenerate, a list that only ends earlier a rewind. */
static ramet_fork_type sync_type(const entry_new *list, size_t n)
{
    if (!n)
        return RAMET_EXPLICIT;
    return list[0].entry.role == RAMET_USER ? RAMET_AUTO_EDIT : RAMET_AUTO_REGENERATE;
}

static ramet_status sync_write(txn *tx, sync_job *j, session_full *s, branch_row *head)
{
    size_t fresh, rest = j->n - j->matched;
    branch_row to = *head, kept = *head;
    entry_new *list = j->list + j->matched;
    if (j->cut >= 0)
        kept.len = j->cut;
    /* An index into the batch refers to an earlier entry of the list with that id. */
    for (size_t i = 0; i < rest; i++)
        if (list[i].same_as >= 0)
            return call_fail(tx->call, RAMET_INVALID, "entries", "entry id %s is in the list twice",
                             list[i].entry.id);
    TRY(entries_known(tx, &kept, list, rest, &fresh));
    if (fresh != rest)
        return call_fail(tx->call, RAMET_ENTRY_EXISTS, "entries",
                         "the list names an entry that is on the path at another place");
    if (kept.len + (int64_t)rest > POS_MAX)
        return call_fail(tx->call, RAMET_PATH_FULL, "entries", "the history would be too long");
    if (j->cut >= 0) {
        cut_result cut = {0};
        ramet_at at = {path_entry_id(tx, head, j->cut), RAMET_BEFORE}, adk_at = {0};
        TRY(cut_both(tx, s, head, &at, &adk_at, RAMET_CUT_EXACT, &cut));
        move_to_cut(tx, s, head, &cut, sync_type(list, rest), RAMET_MOVE_SYNC, "", &to);
    }
    entries_write(tx, &s->brief, &to, list, rest);
    return txn_status(tx);
}

static ramet_status sync_run(txn *tx, void *arg)
{
    sync_job *j = arg;
    session_full s, fresh;
    branch_row head;
    TRY(session_open(tx, j->session, NEED_WRITE, &s));
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, 0, &head));
    TRY(head_check(tx, &head, j->expected, j->given));
    sync_match(tx, &head, j);
    TRY(txn_status(tx));
    if (j->cut >= 0 || j->matched < j->n)
        TRY(sync_write(tx, j, &s, &head));
    if (!session_by_no(tx, s.tree, s.no, &fresh))
        return txn_status(tx);
    ANSWER(tx, j->out);
    *j->out = (ramet_sync_out){.session = session_show(tx, &fresh),
                               .matched = (int64_t)j->matched,
                               .added = (int64_t)(j->n - j->matched),
                               .moved = j->cut >= 0};
    return txn_status(tx);
}

ramet_status ramet_sync(ramet_call *c, const char *session, const ramet_entry_in *entries, size_t n,
                        const char *expected_head, ramet_sync_out *out)
{
    sync_job j = {.session = session, .n = n, .out = out, .call = c};
    *out = (ramet_sync_out){0};
    TRY(check_hash(c, expected_head, j.expected, &j.given));
    TRY(entries_prepare(c, entries, n, c->ramet->limits.sync, ramet_now(c->ramet), &j.list));
    j.channel = n ? j.list[0].entry.channel : "history";
    for (size_t i = 0; i < n; i++)
        if (strcmp(j.list[i].entry.channel, j.channel) != 0)
            return call_fail(c, RAMET_INVALID, "entries",
                             "all entries of a list are of one channel");
    return txn_write(c, sync_run, &j);
}
