/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens: the API keys of a server. A secret is never stored, only its SHA-256, which is looked up
 * by index and then compared in constant time.
 *
 *   K1  A secret is 32 random bytes and cannot be guessed, so a plain hash without salt is enough.
 *   K2  A result is cached for FRESH_US, so that a busy server does not read the store for each
 *       request. A revocation by this process takes effect at once, one by another process within
 *       that time. Results from before a fail-over are not used after it.
 *   K3  The time of last use is written at most once in USED_US. A failure to write it does not
 *       fail the request.
 */
#include "core/access/token.h"

#include "ramet/tokens.h"
#include "core/call.h"
#include "core/check.h"
#include "core/handle.h"
#include "core/txn.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>

#define PREFIX "rmt_"
#define PREFIX_LEN 4
#define FRESH_US 20000 /* shorter than any `ramet token revoke` takes */
#define USED_US ((int64_t)60 * 1000000)
#define SLOTS 1024
#define ROLES_BYTES 1000
#define NOTE_CHARS 500

/* -------------------------------------------------------------------- secrets */

void secret_make(const char *prefix, char out[SECRET_TEXT])
{
    uint8_t bytes[HASH_LEN];
    random_bytes(bytes, sizeof bytes);
    memcpy(out, prefix, PREFIX_LEN);
    hex_encode(bytes, sizeof bytes, out + PREFIX_LEN);
    OPENSSL_cleanse(bytes, sizeof bytes);
}

bool secret_digest(sha *h, const char *prefix, const char *text, uint8_t out[HASH_LEN])
{
    uint8_t bytes[HASH_LEN];
    if (!text || strnlen(text, SECRET_TEXT) != SECRET_TEXT - 1 ||
        memcmp(text, prefix, PREFIX_LEN) != 0 ||
        !hex_decode(text + PREFIX_LEN, bytes, sizeof bytes))
        return false;
    OPENSSL_cleanse(bytes, sizeof bytes);
    sha_begin(h);
    sha_add(h, text, SECRET_TEXT - 1);
    sha_end(h, out);
    return true;
}

bool secret_is(db_stmt *q, int column, const uint8_t digest[HASH_LEN])
{
    size_t n;
    const void *have = q_col_blob(q, column, &n);
    return have && n == HASH_LEN && CRYPTO_memcmp(have, digest, HASH_LEN) == 0;
}

/* ---------------------------------------------------------------------- rows */

/* Reads TOKEN_COLS. */
static ramet_token token_from(db_stmt *q, arena *a)
{
    ramet_token t = {.id = q_need_text(q, 0, a, "token.id"),
                     .user = q_need_text(q, 2, a, "token.user_id"),
                     .client = q_keep_text(q, 3, a),
                     .roles = q_need_text(q, 4, a, "token.roles"),
                     .note = q_need_text(q, 5, a, "token.note"),
                     .created = q_col_int(q, 6),
                     .expires = q_col_int(q, 7),
                     .used = q_col_int(q, 8),
                     .revoked = q_col_int(q, 9) != 0};
    return t;
}

static ramet_token token_copy(arena *a, const ramet_token *t)
{
    ramet_token out = *t;
    out.id = arena_strdup(a, t->id);
    out.user = arena_strdup(a, t->user);
    out.client = arena_strdup(a, t->client);
    out.roles = arena_strdup(a, t->roles);
    out.note = arena_strdup(a, t->note);
    return out;
}

/* ---------------------------------------------------------------- cache (K2) */

typedef struct token_slot {
    arena *arena; /* holds its texts; NULL: never used */
    uint8_t secret[HASH_LEN];
    int64_t seen; /* time_mono_us() of the lookup; 0: empty */
    int64_t past; /* txn.past of the transaction that found it */
    ramet_token token;
} token_slot;

struct token_cache {
    pthread_mutex_t lock;
    token_slot slots[SLOTS]; /* by the first bytes of the digest; a new result replaces the one in
                                its slot */
};

struct token_cache *token_cache_new(void)
{
    struct token_cache *c = xcalloc(1, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    return c;
}

void token_cache_free(struct token_cache *c)
{
    for (size_t i = 0; i < SLOTS; i++)
        arena_free(c->slots[i].arena);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static token_slot *slot_of(struct token_cache *c, const uint8_t secret[HASH_LEN])
{
    return &c->slots[((size_t)secret[0] << 8 | secret[1]) % SLOTS];
}

static bool cache_get(const ramet *r, const uint8_t secret[HASH_LEN], arena *a, ramet_token *out,
                      int64_t *past)
{
    struct token_cache *c = r->tokens;
    pthread_mutex_lock(&c->lock);
    const token_slot *s = slot_of(c, secret);
    bool hit = s->seen && time_mono_us() - s->seen < FRESH_US && s->past == r->past &&
               CRYPTO_memcmp(s->secret, secret, HASH_LEN) == 0;
    if (hit) {
        *out = token_copy(a, &s->token);
        *past = s->past;
    }
    pthread_mutex_unlock(&c->lock);
    return hit;
}

static void cache_put(const ramet *r, const uint8_t secret[HASH_LEN], const ramet_token *t,
                      int64_t past)
{
    struct token_cache *c = r->tokens;
    pthread_mutex_lock(&c->lock);
    token_slot *s = slot_of(c, secret);
    if (!s->arena)
        s->arena = arena_new();
    arena_reset(s->arena);
    memcpy(s->secret, secret, HASH_LEN);
    s->token = token_copy(s->arena, t);
    s->seen = time_mono_us();
    s->past = past;
    pthread_mutex_unlock(&c->lock);
}

static void cache_clear(struct token_cache *c)
{
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < SLOTS; i++)
        c->slots[i].seen = 0;
    pthread_mutex_unlock(&c->lock);
}

/* --------------------------------------------------------------------- adding */

typedef struct token_job {
    const ramet_token_in *in;
    const char *id;
    char text[SECRET_TEXT];
    uint8_t secret[HASH_LEN];
    ramet_token **out;
} token_job;

static ramet_status add_run(txn *tx, void *arg)
{
    token_job *j = arg;
    const ramet_token_in *in = j->in;
    ramet_token *t = arena_alloc(tx->arena, sizeof *t);
    *t = (ramet_token){.id = arena_strdup(tx->arena, j->id),
                       .user = arena_strdup(tx->arena, in->user),
                       .client = arena_strdup(tx->arena, in->client),
                       .roles = arena_strdup(tx->arena, in->roles ? in->roles : ""),
                       .note = arena_strdup(tx->arena, in->note ? in->note : ""),
                       .created = tx->now,
                       .expires = in->life_us ? tx->now + in->life_us : 0,
                       .secret = arena_strdup(tx->arena, j->text)};
    db_stmt *q = db_query(tx->db, Q_token_add);
    q_text(q, 1, t->id);
    q_blob(q, 2, j->secret, HASH_LEN);
    q_text(q, 3, t->user);
    q_text(q, 4, t->client);
    q_text(q, 5, t->roles);
    q_text(q, 6, t->note);
    q_int(q, 7, t->created);
    q_int(q, 8, t->expires);
    q_run(q);
    ANSWER(tx, j->out);
    *j->out = t;
    return txn_status(tx);
}

/* Words of letters, digits, - and _, separated by single commas. */
static ramet_status roles_check(ramet_call *c, const char *roles)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    if (!roles || !*roles)
        return RAMET_OK;
    if (strnlen(roles, ROLES_BYTES + 1) > ROLES_BYTES)
        return call_fail(c, RAMET_TOO_LARGE, "roles", "the roles have more than %d bytes",
                         ROLES_BYTES);
    for (const char *at = roles;; at++) {
        size_t n = strspn(at, letters);
        at += n;
        if (!n || (*at && *at != ','))
            return call_fail(c, RAMET_INVALID, "roles",
                             "roles are words of letters, digits, - and _, parted by commas");
        if (!*at)
            return RAMET_OK;
    }
}

ramet_status ramet_token_add(ramet_call *c, const ramet_token_in *in, ramet_token **out)
{
    char uuid[UUID_TEXT];
    *out = NULL;
    TRY(program_only(c));
    if (!in->user)
        return call_fail(c, RAMET_INVALID, "user", "a token needs a user");
    TRY(check_id(c, "user", in->user));
    if (in->client)
        TRY(check_id(c, "client", in->client));
    TRY(roles_check(c, in->roles));
    TRY(check_chars(c, "note", in->note, NOTE_CHARS, RAMET_TOO_LARGE));
    TRY(check_life(c, "expires", in->life_us));
    token_job j = {.in = in, .id = uuid7(ramet_now(c->ramet), uuid), .out = out};
    secret_make(PREFIX, j.text);
    secret_digest(c->hasher, PREFIX, j.text, j.secret);
    ramet_status st = txn_write(c, add_run, &j);
    if (st != RAMET_OK)
        *out = NULL;
    return st;
}

ramet_status ramet_tokens(ramet_call *c, ramet_token **out, size_t *n)
{
    txn tx;
    VEC(ramet_token) v = {0};
    *out = NULL;
    *n = 0;
    TRY(program_only(c));
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_token_all);
    while (q_row(q)) {
        ramet_token t = token_from(q, tx.arena);
        VEC_PUSH(tx.arena, &v, t);
    }
    TRY(txn_done(&tx, RAMET_OK));
    *out = v.items;
    *n = v.n;
    return RAMET_OK;
}

/* ------------------------------------------------------------------- revoking */

static ramet_status revoke_run(txn *tx, void *arg)
{
    const char *id = arg;
    db_stmt *q = db_query(tx->db, Q_token_get);
    q_text(q, 1, id);
    bool found = q_row(q);
    q_end(q);
    TRY(txn_status(tx));
    if (!found)
        return call_fail(tx->call, RAMET_TOKEN_NOT_FOUND, "id", "there is no token %s", id);
    q = db_query(tx->db, Q_token_revoke);
    q_text(q, 1, id);
    q_int(q, 2, tx->now);
    q_run(q);
    return txn_status(tx);
}

ramet_status ramet_token_revoke(ramet_call *c, const char *id)
{
    TRY(program_only(c));
    TRY(check_id(c, "id", id));
    ramet_status st = txn_write(c, revoke_run, (void *)(uintptr_t)id);
    cache_clear(c->ramet->tokens);
    return st;
}

/* ------------------------------------------------------------------- checking */

typedef struct used_job {
    const char *id;
    int64_t now;
} used_job;

static ramet_status used_run(db *d, void *arg)
{
    const used_job *j = arg;
    db_stmt *q = db_query(d, Q_token_used);
    q_text(q, 1, j->id);
    q_int(q, 2, j->now);
    q_run(q);
    return db_status(d);
}

/* Writes the time of last use (K3). Runs as a separate write, because the next write through the
 * call may belong to an idempotency key. */
static void used_note(ramet *r, const uint8_t secret[HASH_LEN], ramet_token *t, int64_t past,
                      int64_t now)
{
    char message[512];
    used_job j = {t->id, now};
    if (now - t->used < USED_US)
        return;
    t->used = now;
    cache_put(r, secret, t, past); /* before the write, so that other threads do not repeat it */
    if (store_health(r->store) == RAMET_OK)
        store_write(r->store, used_run, &j, message);
}

/* Looks a token up; *past gets the past that it was found in. */
static ramet_status token_find(ramet_call *c, const uint8_t secret[HASH_LEN], ramet_token *t,
                               int64_t *past)
{
    txn tx;
    if (cache_get(c->ramet, secret, c->arena, t, past))
        return RAMET_OK;
    if (!txn_read(&tx, c))
        return c->err.status;
    db_stmt *q = db_query(tx.db, Q_token_by_secret);
    q_blob(q, 1, secret, HASH_LEN);
    bool found = q_row(q) && secret_is(q, 1, secret);
    if (found)
        *t = token_from(q, c->arena);
    q_end(q);
    *past = tx.past;
    TRY(txn_done(&tx, RAMET_OK));
    if (!found || !t->id || !t->user)
        return call_fail(c, RAMET_UNAUTHENTICATED, NULL, "the token is not known");
    cache_put(c->ramet, secret, t, *past);
    return RAMET_OK;
}

ramet_status ramet_token_check(ramet_call *c, const char *secret, ramet_token **out)
{
    uint8_t digest[HASH_LEN];
    *out = NULL;
    if (!secret_digest(c->hasher, PREFIX, secret, digest))
        return call_fail(c, RAMET_UNAUTHENTICATED, NULL, "that is not a token of Ramet");
    ramet_token *t = arena_alloc(c->arena, sizeof *t);
    int64_t past = 0;
    TRY(token_find(c, digest, t, &past));
    int64_t now = ramet_now(c->ramet);
    if (t->revoked)
        return call_fail(c, RAMET_UNAUTHENTICATED, NULL, "token %s was revoked", t->id);
    if (t->expires && t->expires <= now)
        return call_fail(c, RAMET_UNAUTHENTICATED, NULL, "token %s has expired", t->id);
    used_note(c->ramet, digest, t, past, now);
    *out = t;
    return RAMET_OK;
}
