/* SPDX-License-Identifier: Apache-2.0
 *
 * jwks.c: the public keys of a JWK set (RFC 7517, 7518): RSA of at least 2048 bits, EC on P-256,
 * P-384 and P-521.
 */
#include "identity/jwt.h"

#include "base/base64.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_RSA_BITS 2048
#define MAX_RSA_BITS 8192
#define KID_BYTES 255

static const struct curve {
    const char *crv, *group;
    size_t bytes; /* of a coordinate */
    unsigned algorithm;
} curves[] = {
    {"P-256", "prime256v1", 32, JWT_ES256},
    {"P-384", "secp384r1", 48, JWT_ES384},
    {"P-521", "secp521r1", 66, JWT_ES512},
};

/* The bytes of a base64url member; NULL when it is none, or empty. */
static const unsigned char *member_bytes(arena *a, const json_doc *d, const json_node *key,
                                         const char *name, size_t *n)
{
    const char *s = json_text(a, d, json_get(d, key, name));
    const char *bytes = s ? b64url_decode(a, s, strlen(s), n) : NULL;
    return bytes && *n ? (const unsigned char *)bytes : NULL;
}

/* Takes ownership of the builder. */
static EVP_PKEY *key_build(const char *type, OSSL_PARAM_BLD *build)
{
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (params && ctx && EVP_PKEY_fromdata_init(ctx) == 1 &&
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    OSSL_PARAM_BLD_free(build);
    return key;
}

/* Whether the key is valid: its point lies on the curve, its modulus is odd, … */
static EVP_PKEY *key_checked(EVP_PKEY *key)
{
    if (!key)
        return NULL;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool good = ctx && EVP_PKEY_public_check(ctx) == 1;
    EVP_PKEY_CTX_free(ctx);
    if (good)
        return key;
    EVP_PKEY_free(key);
    return NULL;
}

static EVP_PKEY *key_rsa(arena *a, const json_doc *d, const json_node *v)
{
    size_t n_len = 0, e_len = 0;
    const unsigned char *n = member_bytes(a, d, v, "n", &n_len);
    const unsigned char *e = member_bytes(a, d, v, "e", &e_len);
    if (!n || !e || n_len > MAX_RSA_BITS / 8 + 1 || e_len > 8)
        return NULL;
    BIGNUM *bn = BN_bin2bn(n, (int)n_len, NULL), *be = BN_bin2bn(e, (int)e_len, NULL);
    EVP_PKEY *key = NULL;
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    if (bn && be && build && BN_num_bits(bn) >= MIN_RSA_BITS && BN_num_bits(bn) <= MAX_RSA_BITS &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, bn) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, be))
        key = key_checked(key_build("RSA", build));
    else
        OSSL_PARAM_BLD_free(build);
    BN_free(bn);
    BN_free(be);
    return key;
}

static EVP_PKEY *key_ec(arena *a, const json_doc *d, const json_node *v, const struct curve *c)
{
    size_t x_len = 0, y_len = 0;
    const unsigned char *x = member_bytes(a, d, v, "x", &x_len);
    const unsigned char *y = member_bytes(a, d, v, "y", &y_len);
    if (!x || !y || x_len != c->bytes || y_len != c->bytes)
        return NULL;
    unsigned char point[1 + 2 * 66] = {4}; /* uncompressed */
    memcpy(point + 1, x, x_len);
    memcpy(point + 1 + x_len, y, y_len);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    if (build && OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, c->group, 0) &&
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, 1 + x_len + y_len))
        return key_checked(key_build("EC", build));
    OSSL_PARAM_BLD_free(build);
    return NULL;
}

/* Whether a key is meant for signatures: `use` and `key_ops`, when they are there. */
static bool key_for_signatures(arena *a, const json_doc *d, const json_node *v)
{
    const json_node *use = json_get(d, v, "use"), *ops = json_get(d, v, "key_ops");
    if (use) {
        const char *s = json_text(a, d, use);
        if (!s || strcmp(s, "sig") != 0)
            return false;
    }
    if (!ops)
        return true;
    if (!json_is(ops, JSON_ARRAY))
        return false;
    for (const json_node *op = json_first(d, ops); op; op = json_next(d, ops, op)) {
        const char *s = json_text(a, d, op);
        if (s && strcmp(s, "verify") == 0)
            return true;
    }
    return false;
}

static bool key_read(arena *a, const json_doc *d, const json_node *v, jwk *out)
{
    const char *kty = json_text(a, d, json_get(d, v, "kty"));
    const json_node *kid = json_get(d, v, "kid"), *alg = json_get(d, v, "alg");
    if (!kty || !key_for_signatures(a, d, v))
        return false;
    const char *kid_text = json_text(a, d, kid);
    if (kid && (!kid_text || kid->has_nul || strlen(kid_text) > KID_BYTES))
        return false;
    *out = (jwk){0};
    if (strcmp(kty, "RSA") == 0) {
        out->fitting = JWT_RS256 | JWT_RS384 | JWT_RS512 | JWT_PS256 | JWT_PS384 | JWT_PS512;
        out->key = key_rsa(a, d, v);
    } else if (strcmp(kty, "EC") == 0) {
        const char *crv = json_text(a, d, json_get(d, v, "crv"));
        for (size_t i = 0; crv && i < sizeof curves / sizeof *curves; i++)
            if (strcmp(crv, curves[i].crv) == 0) {
                out->fitting = curves[i].algorithm;
                out->key = key_ec(a, d, v, &curves[i]);
            }
    }
    if (alg)
        out->fitting &= jwt_algorithm(json_text(a, d, alg));
    ERR_clear_error();
    if (out->key && out->fitting) {
        out->kid = xstrdup(kid_text);
        return true;
    }
    EVP_PKEY_free(out->key);
    return false;
}

jwks *jwks_parse(const char *text, size_t n, char *message)
{
    arena *a = arena_new();
    json_doc d;
    json_error err;
    jwks *set = NULL;
    const json_node *keys = NULL;
    if (n > JWKS_BYTES)
        snprintf(message, 256, "the key set has more than %u bytes", JWKS_BYTES);
    else if (!json_parse(a, text, n, 16, &d, &err))
        snprintf(message, 256, "the key set is not JSON: %s at byte %zu", err.message, err.offset);
    else if (!json_is(keys = json_get(&d, &d.nodes[0], "keys"), JSON_ARRAY))
        snprintf(message, 256, "the key set has no array \"keys\"");
    else {
        set = xcalloc(1, sizeof *set);
        set->refs = 1;
        for (const json_node *k = json_first(&d, keys); k && set->n < JWKS_KEYS;
             k = json_next(&d, keys, k))
            if (key_read(a, &d, k, &set->keys[set->n]))
                set->n++;
    }
    arena_free(a);
    return set;
}

jwks *jwks_ref(jwks *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void jwks_free(jwks *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->keys[i].kid);
        EVP_PKEY_free(s->keys[i].key);
    }
    free(s);
}
