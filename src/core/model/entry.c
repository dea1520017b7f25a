/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries: the row, its digest, and reading it back.
 *
 *   E1  A stored entry is never updated, except that it can be erased (core/erase/erase.c): its
 *       content goes, and its digest is stored in the table `erased` instead, so that the chain can
 *       still be verified. Usage and state deltas are in tables of their own, under
 *       the same key, and are part of the digest.
 *   E2  The content is three texts: `text` (the text parts joined), `parts` (the normal form; not
 *       stored when it is exactly one text part, or none) and `body` (the caller's bytes; not
 *       stored for format "ramet"). Above INLINE_MAX together (INLINE_TWICE_MAX when the body
 *       repeats the text) they go to the body table, compressed.
 *   E3  digest = SHA-256 over every stored field; hash = SHA-256(previous hash || digest).
 */
#include "core/model/entry.h"

#include "core/attachment/attachment.h"
#include "core/call.h"
#include "core/columns.h"
#include "core/handle.h"
#include "core/model/branch.h"
#include "core/event.h"
#include "core/model/fill.h"
#include "core/model/key.h"
#include "core/model/lineage_cache.h"
#include "core/model/path.h"
#include "core/model/peer.h"
#include "core/session/rights.h"
#include "core/session/session.h"
#include "core/model/state.h"
#include "core/turn/turn_index.h"
#include "core/model/usage.h"
#include "core/pack.h"
#include "core/txn.h"

#include <assert.h>
#include <stdio.h>

/* ------------------------------------------------------------------- digest */

/* Collects short fields: a call of the hash library for each would cost more than hashing them. */
typedef struct gather {
    sha *hasher;
    size_t n;
    unsigned char bytes[512];
} gather;

static void digest_add(gather *d, const void *p, size_t n)
{
    if (n > sizeof d->bytes - d->n) {
        sha_add(d->hasher, d->bytes, d->n);
        d->n = 0;
    }
    if (n > sizeof d->bytes) {
        sha_add(d->hasher, p, n);
        return;
    }
    memcpy(d->bytes + d->n, p, n);
    d->n += n;
}

static void digest_field(gather *d, unsigned char tag, const char *s)
{
    if (!s)
        return;
    uint64_t n = strlen(s);
    unsigned char head[9] = {tag};
    for (int i = 0; i < 8; i++)
        head[1 + i] = (unsigned char)(n >> (56 - 8 * i));
    digest_add(d, head, sizeof head);
    digest_add(d, s, n);
}

void entry_digest(sha *h, const ramet_entry *e, const entry_cols *cols, uint8_t out[HASH_LEN])
{
    char number[128];
    gather d;
    if (cols->erased) {
        memcpy(out, cols->erased, HASH_LEN);
        return;
    }
    d.hasher = h;
    d.n = 0;
    sha_begin(h);
    digest_add(&d, "ramet entry 1\n", 14);
    digest_field(&d, 1, e->id);
    digest_field(&d, 2, ramet_role_name(e->role));
    digest_field(&d, 3, e->channel);
    digest_field(&d, 4, e->format);
    digest_field(&d, 5, e->turn_id);
    digest_field(&d, 6, e->author);
    digest_field(&d, 7, e->client);
    snprintf(number, sizeof number, "%lld", (long long)e->created);
    digest_field(&d, 8, number);
    digest_field(&d, 9, cols->text);
    digest_field(&d, 10, cols->parts);
    digest_field(&d, 11, cols->body);
    if (e->usage) {
        const ramet_usage *u = e->usage;
        snprintf(number, sizeof number, "%lld %lld %lld %lld %s", (long long)u->input,
                 (long long)u->output, (long long)u->cached, (long long)u->cost, u->currency);
        digest_field(&d, 12, number);
    }
    digest_field(&d, 13, e->state_delta);
    sha_add(h, d.bytes, d.n);
    sha_end(h, out);
}

/* ------------------------------------------------------------------ reading */

static bool open_body(txn *tx, int64_t tree, int64_t k, entry_cols *cols)
{
    db_stmt *q = db_query(tx->db, Q_body_get);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    size_t n = 0;
    const void *p = q_row(q) ? q_col_blob(q, 0, &n) : NULL;
    pack_texts t;
    bool ok = p && pack_open(tx->arena, p, n, &t);
    q_end(q);
    if (ok)
        *cols = (entry_cols){.text = t.item[0], .parts = t.item[1], .body = t.item[2]};
    return ok;
}

static bool load_body(txn *tx, int64_t tree, int64_t k, entry_cols *cols)
{
    bool ok = open_body(tx, tree, k, cols);
    if (!ok)
        db_fail(tx->db, RAMET_DAMAGED,
                "the body of the entry at position %lld of branch b%lld is damaged",
                (long long)KEY_POS(k), (long long)KEY_BRANCH(k));
    return ok;
}

const char *body_text(txn *tx, int64_t tree, int64_t k)
{
    entry_cols cols;
    return open_body(tx, tree, k, &cols) ? cols.text : NULL;
}

static const ramet_usage *load_usage(txn *tx, int64_t tree, int64_t k)
{
    db_stmt *q = db_query(tx->db, Q_usage_get);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    ramet_usage *u = NULL;
    if (q_row(q)) {
        u = arena_alloc(tx->arena, sizeof *u);
        *u = (ramet_usage){.input = q_col_int(q, 0),
                           .output = q_col_int(q, 1),
                           .cached = q_col_int(q, 2),
                           .cost = q_col_int(q, 3),
                           .currency = q_keep_text(q, 4, tx->arena)};
        if (!u->currency)
            u->currency = "";
    }
    q_end(q);
    return u;
}

static const char *load_delta(txn *tx, int64_t tree, int64_t k)
{
    db_stmt *q = db_query(tx->db, Q_delta_json);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    const char *json = q_row(q) ? q_keep_text(q, 0, tx->arena) : NULL;
    q_end(q);
    return json;
}

const char *parts_of_text(arena *a, const char *text)
{
    if (!text)
        return "[]";
    static const char before[] = "[{\"type\":\"text\",\"text\":\"", after[] = "\"}]";
    size_t n = strlen(text);
    if (json_plain(text, n) == n) {
        char *plain = arena_alloc(a, sizeof before - 1 + n + sizeof after), *p = plain;
        p = mempcpy(p, before, sizeof before - 1);
        p = mempcpy(p, text, n);
        memcpy(p, after, sizeof after);
        return plain;
    }
    buf b;
    buf_init(&b, n * 6 + 64);
    buf_reserve(&b, n + n / 16 + 64);
    json_writer w;
    jw_init(&w, &b, 0);
    jw_array(&w);
    jw_object(&w);
    jw_kstr(&w, "type", "text");
    jw_key(&w, "text");
    jw_strn(&w, text, n);
    jw_end_object(&w);
    jw_end_array(&w);
    return buf_keep(&b, a);
}

ramet_entry entry_keep(arena *a, const ramet_entry *e)
{
    ramet_entry out = *e;
    const char **text[] = {&out.id,      &out.text,    &out.parts,  &out.format, &out.body,
                           &out.turn_id, &out.channel, &out.author, &out.client, &out.state_delta};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        *text[i] = arena_strdup(a, *text[i]);
    if (e->usage) {
        ramet_usage *u = arena_alloc(a, sizeof *u);
        *u = *e->usage;
        u->currency = arena_strdup(a, u->currency);
        out.usage = u;
    }
    out.erased = erased_keep(a, e->erased);
    return out;
}

const ramet_erased *erased_keep(arena *a, const ramet_erased *e)
{
    if (!e)
        return NULL;
    ramet_erased *x = arena_alloc(a, sizeof *x);
    *x = (ramet_erased){
        .at = e->at, .by = arena_strdup(a, e->by), .reason = arena_strdup(a, e->reason)};
    return x;
}

/* Behind the digest of an erased entry: the chain covers what is left of it no more. */
#define LEFT_SEAL 8
static void left_seal(sha *h, const ramet_entry *e, uint8_t stored[HASH_LEN + LEFT_SEAL])
{
    uint8_t hash[HASH_LEN];
    char rest[200];
    const ramet_usage none = {.currency = ""}, *u = e->usage ? e->usage : &none;
    const char *turn = e->turn_id ? e->turn_id : "";
    snprintf(rest, sizeof rest, "%d %lld %d %lld %lld %lld %lld %.20s", (int)e->role,
             (long long)e->created, e->usage != NULL, (long long)u->input, (long long)u->output,
             (long long)u->cached, (long long)u->cost, u->currency);
    sha_begin(h);
    sha_add(h, stored, HASH_LEN);
    sha_add(h, e->id, strlen(e->id) + 1);
    sha_add(h, e->channel, strlen(e->channel) + 1);
    sha_add(h, turn, strlen(turn) + 1);
    sha_add(h, rest, strlen(rest));
    sha_end(h, hash);
    memcpy(stored + HASH_LEN, hash, LEFT_SEAL);
}

/* The columns that an erased entry has lost and that its seal does not cover are empty. */
static bool is_bare(const ramet_entry *e)
{
    return !e->author && !e->client && strcmp(e->format, "ramet") == 0;
}

/* Who, when and why, and the digest that the chain needs. Columns that still hold content are left
 * in `cols` for fsck, which reports them. */
static bool load_erased(txn *tx, int64_t tree, int64_t k, ramet_entry *e, entry_cols *cols)
{
    size_t n = 0;
    uint8_t want[HASH_LEN + LEFT_SEAL];
    db_stmt *q = db_query(tx->db, Q_erased_get);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    const void *digest = q_row(q) ? q_col_blob(q, 0, &n) : NULL;
    if (digest && n == sizeof want) {
        memcpy(want, digest, HASH_LEN);
        left_seal(tx->call->hasher, e, want);
    }
    if (digest && n == sizeof want && memcmp(want, digest, n) == 0 && is_bare(e)) {
        ramet_erased *x = arena_alloc(tx->arena, sizeof *x);
        *x = (ramet_erased){.at = q_col_int(q, 1),
                            .by = tx->call->share.on ? NULL : q_keep_text(q, 2, tx->arena),
                            .reason = q_keep_text(q, 3, tx->arena)};
        if (!x->reason)
            x->reason = "";
        e->erased = x;
        cols->erased = (const uint8_t *)arena_memdup(tx->arena, digest, HASH_LEN);
    }
    q_end(q);
    e->text = RAMET_ERASED_TEXT;
    e->parts = parts_of_text(tx->arena, RAMET_ERASED_TEXT);
    if (!e->erased)
        db_fail(tx->db, RAMET_DAMAGED,
                "the entry at position %lld of branch b%lld was erased, and its digest or what is "
                "left of it is missing or damaged",
                (long long)KEY_POS(k), (long long)KEY_BRANCH(k));
    return db_status(tx->db) == RAMET_OK;
}

bool entry_from(txn *tx, db_stmt *q, int64_t tree, ramet_entry *e, uint8_t hash[HASH_LEN],
                entry_cols *cols)
{
    entry_cols own;
    if (!cols)
        cols = &own;
    int64_t k = q_col_int(q, 0);
    int flags = col_flags(q, 13);
    *e = (ramet_entry){.id = q_keep_text(q, 1, tx->arena),
                       .position = KEY_POS(k),
                       .branch = KEY_BRANCH(k),
                       .role = col_role(q, 3),
                       .channel = q_keep_text(q, 4, tx->arena),
                       .format = q_keep_text(q, 5, tx->arena),
                       .turn_id = q_keep_text(q, 6, tx->arena),
                       .author = q_keep_text(q, 7, tx->arena),
                       .client = q_keep_text(q, 8, tx->arena),
                       .created = q_col_int(q, 9)};
    size_t n = 0;
    const void *h = q_col_blob(q, 2, &n);
    if (!h || n != HASH_LEN || !e->id) {
        db_fail(tx->db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is damaged",
                (long long)e->position, (long long)e->branch);
        return false;
    }
    memcpy(hash, h, HASH_LEN);
    hex_encode(hash, HASH_LEN, e->hash);
    *cols = (entry_cols){.text = q_keep_text(q, 10, tx->arena),
                         .parts = q_keep_text(q, 11, tx->arena),
                         .body = q_keep_text(q, 12, tx->arena)};
    if (!e->channel)
        e->channel = "history";
    if (!e->format)
        e->format = "ramet";
    if ((flags & FLAG_LARGE) && !load_body(tx, tree, k, cols))
        return false;
    if (flags & FLAG_USAGE)
        e->usage = load_usage(tx, tree, k);
    e->copied = flags & FLAG_COPY;
    if (flags & FLAG_ERASED)
        return load_erased(tx, tree, k, e, cols);
    if (flags & FLAG_DELTA)
        e->state_delta = load_delta(tx, tree, k);
    e->text = cols->text ? cols->text : "";
    e->parts = cols->parts ? cols->parts : parts_of_text(tx->arena, cols->text);
    e->body = cols->body;
    return db_status(tx->db) == RAMET_OK;
}

bool entry_load_record(txn *tx, int64_t tree, int64_t k, ramet_entry *e, uint8_t hash[HASH_LEN])
{
    db_stmt *q = db_query(tx->db, Q_entry_get);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    bool ok = q_row(q) && entry_from(tx, q, tree, e, hash, NULL);
    q_end(q);
    if (!ok)
        db_fail(tx->db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is missing",
                (long long)KEY_POS(k), (long long)KEY_BRANCH(k));
    return ok;
}

bool entry_load(txn *tx, const branch_row *head, int64_t k, ramet_entry *e, uint8_t hash[HASH_LEN])
{
    fill f;
    if (!entry_load_record(tx, head->meta.tree, k, e, hash))
        return false;
    if (fill_covers(head, e->position) && fill_load(tx, head, tx->arena, &f))
        fill_entry(tx, &f, head, e, tx->arena);
    return db_status(tx->db) == RAMET_OK;
}

typedef struct reader {
    txn *tx;
    const branch_row *head;
    const fill *fill; /* NULL: nothing is to be filled */
    int64_t next;     /* the next position to expect */
    uint8_t prev[HASH_LEN];
    entry_each each;
    void *arg;
} reader;

/* Reads one row of a range: it must be at its position, and on the hash chain. */
static bool reader_take(reader *r, db_stmt *q, const segment *s)
{
    ramet_entry e;
    entry_cols cols;
    uint8_t hash[HASH_LEN], digest[HASH_LEN], want[HASH_LEN];
    if (!entry_from(r->tx, q, s->meta.tree, &e, hash, &cols))
        return false;
    if (e.position != r->next)
        return false;
    if (!r->tx->ramet->unverified) {
        entry_digest(r->tx->call->hasher, &e, &cols, digest);
        sha_chain(r->tx->call->hasher, r->prev, digest, want);
        if (memcmp(want, hash, HASH_LEN) != 0) {
            db_fail(r->tx->db, RAMET_DAMAGED,
                    "entry %s at position %lld of branch b%lld is damaged: its hash is wrong", e.id,
                    (long long)e.position, (long long)e.branch);
            return false;
        }
        memcpy(r->prev, hash, HASH_LEN);
    }
    if (r->fill)
        fill_entry(r->tx, r->fill, r->head, &e, r->tx->arena);
    e.owner_no = s->meta.session;
    r->next++;
    return r->each(r->arg, &e);
}

/* Several segments are read by one statement: one by one, each would cost a round trip to a
 * server. */
#define SEGMENTS_AT_ONCE 10

static db_stmt *segments_ask(txn *tx, const segment *s, size_t n)
{
    db_stmt *q = db_query(tx->db, n == 1 ? Q_entry_range : Q_entry_segments);
    q_int(q, 1, s->meta.tree);
    for (size_t i = 0; i < (n == 1 ? 1 : SEGMENTS_AT_ONCE); i++) {
        q_int(q, (int)i * 2 + 2, i < n ? KEY(s[i].meta.id, s[i].lo) : 1);
        q_int(q, (int)i * 2 + 3, i < n ? KEY(s[i].meta.id, s[i].hi - 1) : 0);
    }
    return q;
}

/* Reads the entries of consecutive segments. True when the reader wants more. */
static bool reader_segments(reader *r, const segment *s, size_t n)
{
    int64_t end = s[n - 1].hi;
    db_stmt *q = segments_ask(r->tx, s, n);
    bool more = true, taken = true;
    while (more && q_row(q)) {
        int64_t before = r->next;
        while (r->next >= s->hi && s->hi < end)
            s++;
        more = reader_take(r, q, s);
        taken = r->next > before;
    }
    q_end(q);
    if (db_status(r->tx->db) != RAMET_OK)
        return false;
    if (!taken || (more && r->next != end)) {
        while (r->next >= s->hi && s->hi < end)
            s++;
        db_fail(r->tx->db, RAMET_DAMAGED, "the entry at position %lld of branch b%lld is missing",
                (long long)r->next, (long long)s->meta.id);
        return false;
    }
    return more;
}

/* Reads [r->next, hi) into tx->arena. */
static void reader_run(reader *r, const branch_row *head, const segment *segs, size_t n)
{
    txn *tx = r->tx;
    for (size_t i = 0, some; i < n; i += some) {
        some = n - i < SEGMENTS_AT_ONCE ? n - i : SEGMENTS_AT_ONCE;
        if (!reader_segments(r, &segs[i], some))
            break;
    }
    if (r->next == head->len && !tx->ramet->unverified && db_status(tx->db) == RAMET_OK &&
        memcmp(r->prev, head->tip, HASH_LEN) != 0)
        db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is damaged: its history does not end at %lld",
                (long long)head->meta.id, (long long)head->len);
}

void path_read(txn *tx, const branch_row *head, int64_t lo, int64_t hi, arena *into,
               entry_each each, void *arg)
{
    segment *segs;
    size_t n;
    fill f;
    reader r = {.tx = tx, .head = head, .next = lo, .each = each, .arg = arg};
    if (lo >= hi || !path_segments(tx, &head->meta, lo, hi, &segs, &n))
        return;
    if (!path_hash(tx, head, lo, r.prev))
        return;
    arena *own = tx->arena, *values = fill_covers(head, lo) ? arena_new() : NULL;
    if (!values || fill_load(tx, head, values, &f)) {
        r.fill = values ? &f : NULL;
        tx->arena = into;
        reader_run(&r, head, segs, n);
        tx->arena = own;
    }
    arena_free(values);
}

/* ------------------------------------------------------------------ compare */

static bool same(const char *given, const char *have)
{
    return !given || (have && strcmp(given, have) == 0);
}

/* Whether parts are one text part, however they are written. */
static bool one_text(arena *a, const char *parts)
{
    json_doc d;
    if (!json_parse(a, parts, strlen(parts), STORED_DEPTH, &d, NULL))
        return false;
    const json_node *part = json_first(&d, &d.nodes[0]);
    const char *type = part ? json_text(a, &d, json_get(&d, part, "type")) : NULL;
    return d.nodes[0].count == 1 && type && strcmp(type, "text") == 0;
}

static bool same_content(ramet_call *c, const ramet_entry_in *in, const ramet_entry *have)
{
    if (in->parts)
        return strcmp(in->parts, have->parts) == 0;
    if (in->text)
        return strcmp(in->text, have->text) == 0 && one_text(c->arena, have->parts);
    return strcmp(have->parts, "[]") == 0;
}

bool entry_same(ramet_call *c, const entry_new *n, const ramet_entry *have)
{
    const ramet_entry_in *in = n->in;
    /* What it said is not known any more. To treat it as another entry would bring the content
     * back, from a client that repeats itself. */
    if (have->erased)
        return in->id || (in->role == have->role && same_content(c, in, have));
    if (in->role != have->role || !same(in->body, have->body) ||
        !same(in->turn_id, have->turn_id) || !same(in->channel, have->channel) ||
        !same(in->author, have->author) || !same(in->format, have->format) ||
        !same(in->state_delta, have->state_delta))
        return false;
    if (!same_content(c, in, have))
        return false;
    if (in->created && in->created != have->created)
        return false;
    const ramet_usage *u = n->entry.usage, *v = have->usage;
    return !u || (v && u->input == v->input && u->output == v->output && u->cached == v->cached &&
                  u->cost == v->cost && strcmp(u->currency, v->currency) == 0);
}

/* ------------------------------------------------------------------ writing */

void erased_write(txn *tx, int64_t tree, int64_t k, const uint8_t digest[HASH_LEN],
                  const ramet_entry *e, const ramet_erased *x)
{
    uint8_t stored[HASH_LEN + LEFT_SEAL];
    memcpy(stored, digest, HASH_LEN);
    left_seal(tx->call->hasher, e, stored);
    db_stmt *q = db_query(tx->db, Q_erased_add);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    q_blob(q, 3, stored, sizeof stored);
    q_int(q, 4, x->at);
    q_text(q, 5, x->by);
    q_text(q, 6, x->reason);
    q_run(q);
}

void entry_insert(txn *tx, const branch_row *b, const entry_new *n, int64_t peer)
{
    int64_t k = KEY(b->meta.id, n->entry.position);
    bool large = n->flags & FLAG_LARGE;
    db_stmt *q = db_query(tx->db, Q_entry_add);
    q_int(q, 1, k);
    q_int(q, 2, b->meta.tree);
    q_text(q, 3, n->entry.id);
    q_blob(q, 4, n->hash, HASH_LEN);
    q_int(q, 5, n->entry.role);
    q_text(q, 6, strcmp(n->entry.channel, "history") == 0 ? NULL : n->entry.channel);
    q_text(q, 7, strcmp(n->entry.format, "ramet") == 0 ? NULL : n->entry.format);
    q_text(q, 8, n->entry.turn_id);
    q_text(q, 9, n->entry.author);
    q_text(q, 10, n->entry.client);
    q_int(q, 11, n->entry.created);
    q_text(q, 12, large ? NULL : n->text);
    q_text(q, 13, large ? NULL : n->parts);
    q_text(q, 14, large ? NULL : n->body);
    q_int(q, 15, n->flags);
    q_int(q, 16, peer);
    q_run(q);
    if (large) {
        q = db_query(tx->db, Q_body_add);
        q_int(q, 1, k);
        q_int(q, 2, b->meta.tree);
        q_blob(q, 3, n->packed, n->packed_len);
        q_run(q);
    }
    if (n->entry.usage)
        usage_write(tx, b->meta.tree, k, n->entry.usage);
    if (n->entry.state_delta)
        delta_write(tx, b, k, n->entry.state_delta);
    if (n->n_files)
        attachments_link(tx, b->meta.tree, k, n);
    if (n->entry.erased)
        erased_write(tx, b->meta.tree, k, n->digest, &n->entry, n->entry.erased);
}

/* Starts a run of the record: it gets a row only when appends change to another branch. */
static void run_open(txn *tx, const session_brief *s, const branch_row *b)
{
    db_stmt *q = db_query(tx->db, Q_run_last);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, b->meta.log);
    int64_t rec = 0, k = 0;
    if (q_row(q)) {
        rec = col_record(q, 0);
        k = q_col_int(q, 1);
    }
    q_end(q);
    if (k) {
        branch_row last;
        if (!branch_load(tx, s->tree, KEY_BRANCH(k), &last)) {
            db_fail(tx->db, RAMET_DAMAGED, "branch b%lld is missing", (long long)KEY_BRANCH(k));
            return;
        }
        rec += last.len - KEY_POS(k);
        q = db_query(tx->db, Q_branch_run_off);
        q_int(q, 1, s->tree);
        q_int(q, 2, last.meta.id);
        q_run(q);
    }
    q = db_query(tx->db, Q_run_add);
    q_int(q, 1, s->tree);
    q_int(q, 2, s->no);
    q_int(q, 3, b->meta.log);
    q_int(q, 4, rec);
    q_int(q, 5, KEY(b->meta.id, b->len));
    q_run(q);
}

static bool entry_is_new(const entry_new *e)
{
    return !e->existing && e->same_as < 0;
}

/* Chains the new entries onto the tip, which advances. */
static void entries_chain(txn *tx, const session_brief *s, branch_row *b, entry_new *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        entry_new *e = &list[i];
        if (!entry_is_new(e))
            continue;
        if (!b->run) {
            run_open(tx, s, b);
            b->run = true;
        }
        sha_chain(tx->call->hasher, b->tip, e->digest, b->tip);
        memcpy(e->hash, b->tip, HASH_LEN);
        hex_encode(b->tip, HASH_LEN, e->entry.hash);
        e->entry.position = b->len++;
        e->entry.branch = b->meta.id;
        e->entry.owner_no = s->no;
    }
}

/* Writes the branch first: an append locks the branch's row before that of an entry, on every
 * engine and in every kind of transaction, so that two appends cannot deadlock. */
void entries_write(txn *tx, const session_brief *s, branch_row *b, entry_new *list, size_t n)
{
    assert(tx->writing);
    txn_assert(tx, b->meta.id && b->meta.tree == s->tree);
    int64_t first = b->len, peer = peer_new(tx, s, b);
    uint8_t before[HASH_LEN];
    bool ran = b->run;
    memcpy(before, b->tip, HASH_LEN);
    entries_chain(tx, s, b, list, n);
    if (b->len == first)
        return;
    tip_note(tx, b);
    b->touched = tx->now;
    db_stmt *q = db_query(tx->db, Q_branch_grow);
    q_int(q, 1, b->meta.tree);
    q_int(q, 2, b->meta.id);
    q_int(q, 3, b->len);
    q_blob(q, 4, b->tip, HASH_LEN);
    q_int(q, 5, b->touched);
    q_blob(q, 6, before, HASH_LEN);
    q_int(q, 7, b->live);
    q_int(q, 8, ran);
    q_change(q);
    branch_row at = *b; /* the branch as it was before each entry */
    const char *turn = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!entry_is_new(&list[i]))
            continue;
        entry_insert(tx, b, &list[i], peer);
        at.len = list[i].entry.position;
        turn_index_note(tx, &at, &list[i], turn);
        turn = list[i].entry.turn_id;
    }
    txn_assert(tx, b->len <= POS_MAX); /* append_do() refuses more */
    event_add(tx, s->tree, s->no, RAMET_EVENT_APPENDED, KEY(b->meta.id, first), b->len - first);
}

int64_t key_in_tree(txn *tx, int64_t tree, const char *id)
{
    db_stmt *q = db_query(tx->db, Q_entry_by_id);
    q_int(q, 1, tree);
    q_text(q, 2, id);
    int64_t k = q_row(q) ? q_col_int(q, 0) : 0;
    q_end(q);
    return k;
}

static bool kind_load(txn *tx, int64_t tree, int64_t k, entry_kind *out)
{
    db_stmt *q = db_query(tx->db, Q_entry_kind);
    q_int(q, 1, tree);
    q_int(q, 2, k);
    bool found = q_row(q);
    if (found) {
        *out = (entry_kind){.role = col_role(q, 0),
                            .turn = q_keep_text(q, 1, tx->arena),
                            .channel = q_keep_text(q, 2, tx->arena),
                            .format = q_keep_text(q, 3, tx->arena)};
    }
    q_end(q);
    return found;
}

bool entry_kind_at(txn *tx, const branch_meta *head, int64_t pos, entry_kind *out)
{
    branch_meta o;
    if (pos < 0 || !path_owner(tx, head, pos, &o))
        return false;
    return kind_load(tx, o.tree, KEY(o.id, pos), out);
}
