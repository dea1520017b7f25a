/* SPDX-License-Identifier: Apache-2.0
 *
 * What the agents of turns were sent.
 *
 * A prompt is kept with the first write of its turn behind the asking, so it costs no commit. Where
 * an agent was sent the history as it stands in the store, a row refers to it: by the turn's
 * branch, whose overlays never change, and a length. Entries never change either, so the same
 * messages can be written again at any time.
 */
#include "core/turn/prompt.h"

#include "core/call.h"
#include "core/check.h"
#include "core/model/branch.h"
#include "core/model/branch_note.h"
#include "core/model/path.h"
#include "core/pack.h"
#include "core/session/session_open.h"

#define DATA_MAX ((size_t)16 << 20)
#define KIND_BYTES 64
#define STEP 256

void ramet_call_prompt(ramet_call *c, const ramet_prompt_in *in)
{
    c->prompt = in;
}

ramet_status prompt_check(ramet_call *c)
{
    const ramet_prompt_in *in = c->prompt;
    json_doc d;
    if (!in)
        return RAMET_OK;
    if (strlen(in->data) > DATA_MAX)
        return call_fail(c, RAMET_TOO_LARGE, "data", "a prompt has %zu bytes, at most %zu are kept",
                         strlen(in->data), DATA_MAX);
    if (!json_parse(c->arena, in->data, strlen(in->data), 0, &d, NULL) ||
        !json_is(d.nodes, JSON_OBJECT) || in->length < 0 || strlen(in->agent) > KIND_BYTES)
        return call_fail(c, RAMET_INVALID, "data", "a prompt is kept as a JSON object");
    return RAMET_OK;
}

static void data_digest(sha *h, const char *data, uint8_t out[HASH_LEN])
{
    sha_begin(h);
    sha_add(h, data, strlen(data));
    sha_end(h, out);
}

void prompt_write(txn *tx, const turn_row *t)
{
    const ramet_prompt_in *in = tx->call->prompt;
    uint8_t digest[HASH_LEN];
    size_t n;
    if (!in)
        return;
    data_digest(tx->call->hasher, in->data, digest);
    const char *packed = pack_bytes(tx->arena, in->data, strlen(in->data), &n);
    db_stmt *q = db_query(tx->db, Q_prompt_add);
    q_int(q, 1, t->tree);
    q_text(q, 2, t->shown.id);
    q_int(q, 3, t->session);
    q_int(q, 4, t->shown.branch);
    q_int(q, 5, in->length);
    q_text(q, 6, in->agent);
    q_blob(q, 7, digest, HASH_LEN);
    q_blob(q, 8, packed, n);
    q_run(q);
}

/* ------------------------------------------------------------------- reading */

const char *prompt_data(txn *tx, db_stmt *q, int digest, int packed)
{
    uint8_t found[HASH_LEN] = {0};
    const char *data = NULL;
    size_t n, n_digest, len;
    const void *bytes = q_col_blob(q, packed, &n);
    bool sane = bytes && unpack_bytes(tx->arena, bytes, n, &data, &len) && strlen(data) == len;
    const void *want = q_col_blob(q, digest, &n_digest);
    if (sane)
        data_digest(tx->call->hasher, data, found);
    return sane && want && n_digest == HASH_LEN && memcmp(want, found, HASH_LEN) == 0 ? data : NULL;
}

typedef struct usage_scan {
    arena *scratch;
    const char *turn;
    ramet_prompt *out;
    arena *out_arena;
    int64_t seen;
} usage_scan;

static bool usage_take(void *arg, ramet_entry *e)
{
    usage_scan *s = arg;
    ramet_usage *u = &s->out->usage;
    s->seen = e->position;
    if (e->usage && e->turn_id && strcmp(e->turn_id, s->turn) == 0) {
        bool has_cost = e->usage->currency && *e->usage->currency;
        u->input += e->usage->input;
        u->output += e->usage->output;
        u->cached += e->usage->cached;
        u->cost += e->usage->cost;
        /* One agent has answered: it counts in one currency. */
        if (has_cost && !*u->currency)
            u->currency = arena_strdup(s->out_arena, e->usage->currency);
        s->out->has_usage = true;
    }
    return arena_used(s->scratch) < PAGE_BYTES;
}

/* The answer lies behind what was sent. */
static void usage_sum(txn *tx, const branch_row *b, const char *turn, ramet_prompt *out)
{
    usage_scan s = {.scratch = arena_new(), .turn = turn, .out = out, .out_arena = tx->arena};
    out->usage.currency = "";
    for (int64_t at = out->length; at < b->len && db_status(tx->db) == RAMET_OK; at = s.seen + 1) {
        s.seen = at - 1;
        path_read(tx, b, at, at + STEP < b->len ? at + STEP : b->len, s.scratch, usage_take, &s);
        arena_reset(s.scratch);
        if (s.seen < at)
            break;
    }
    arena_free(s.scratch);
}

static ramet_status prompt_run(txn *tx, const char *session, const char *turn, ramet_prompt *out)
{
    session_full s;
    turn_row t;
    branch_row b;
    TRY(session_open(tx, session, NEED_TREE, &s));
    bool found = turn_load(tx, turn, &t);
    TRY(txn_status(tx));
    if (!found || t.tree != s.tree || t.session != s.no)
        return call_fail(tx->call, RAMET_TURN_NOT_FOUND, "turn", "there is no turn %s", turn);
    TRY(pruned_check(tx, &s.access, t.shown.branch));
    db_stmt *q = db_query(tx->db, Q_prompt_get);
    q_int(q, 1, s.tree);
    q_text(q, 2, turn);
    out->known = q_row(q);
    if (out->known) {
        out->branch = q_col_int(q, 0);
        out->length = q_col_int(q, 1);
        out->agent = q_need_text(q, 2, tx->arena, "prompt.agent");
        out->data = prompt_data(tx, q, 3, 4);
        if (!out->data)
            db_fail(tx->db, RAMET_DAMAGED, "what the agent of turn %s was sent is damaged", turn);
    }
    q_end(q);
    TRY(txn_status(tx));
    if (!out->known)
        return RAMET_OK;
    TRY(branch_open(tx, &s.brief, RAMET_LOG_MAIN, out->branch, &b));
    if (out->length < 0 || out->length > b.len)
        db_fail(tx->db, RAMET_DAMAGED, "what the agent of turn %s was sent is damaged", turn);
    else
        usage_sum(tx, &b, turn, out);
    return txn_status(tx);
}

ramet_status ramet_turn_prompt(ramet_call *c, const char *session, const char *turn,
                               ramet_prompt **out)
{
    txn tx;
    *out = NULL;
    TRY(check_id(c, "turn", turn));
    if (!txn_read(&tx, c))
        return c->err.status;
    ramet_prompt *made = arena_alloc(c->arena, sizeof *made);
    ramet_status st = txn_done(&tx, prompt_run(&tx, session, turn, made));
    *out = st == RAMET_OK ? made : NULL;
    return st;
}
