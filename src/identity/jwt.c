/* SPDX-License-Identifier: Apache-2.0
 *
 * jwt.c: verifies a token: its shape, its claims, then its signature (OpenSSL).
 */
#include "identity/jwt.h"

#include "base/base64.h"
#include "base/words.h"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/rsa.h>
#include <string.h>

static const struct algorithm {
    const char *name;
    unsigned bit;
    const char *hash;
    int padding;       /* of RSA; 0: an EC signature */
    size_t coordinate; /* of EC: bytes of r and of s */
} algorithms[] = {
    {"RS256", JWT_RS256, "SHA256", RSA_PKCS1_PADDING, 0},
    {"RS384", JWT_RS384, "SHA384", RSA_PKCS1_PADDING, 0},
    {"RS512", JWT_RS512, "SHA512", RSA_PKCS1_PADDING, 0},
    {"PS256", JWT_PS256, "SHA256", RSA_PKCS1_PSS_PADDING, 0},
    {"PS384", JWT_PS384, "SHA384", RSA_PKCS1_PSS_PADDING, 0},
    {"PS512", JWT_PS512, "SHA512", RSA_PKCS1_PSS_PADDING, 0},
    {"ES256", JWT_ES256, "SHA256", 0, 32},
    {"ES384", JWT_ES384, "SHA384", 0, 48},
    {"ES512", JWT_ES512, "SHA512", 0, 66},
};

static const struct algorithm *algorithm_find(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (n == strlen(algorithms[i].name) && memcmp(name, algorithms[i].name, n) == 0)
            return &algorithms[i];
    return NULL;
}

unsigned jwt_algorithm(const char *name)
{
    const struct algorithm *alg = name ? algorithm_find(name, strlen(name)) : NULL;
    return alg ? alg->bit : 0;
}

unsigned jwt_algorithms(const char *list)
{
    unsigned bits = 0;
    size_t n;
    for (const char *s; (s = word_next(&list, ", ", &n));) {
        const struct algorithm *alg = algorithm_find(s, n);
        if (!alg)
            return 0;
        bits |= alg->bit;
    }
    return bits;
}

/* ------------------------------------------------------------------ signature */

/* r and s side by side (RFC 7518 3.4) as the DER that OpenSSL reads. */
static unsigned char *signature_der(const unsigned char *sig, size_t half, size_t *n)
{
    ECDSA_SIG *es = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(sig, (int)half, NULL), *s = BN_bin2bn(sig + half, (int)half, NULL);
    unsigned char *der = NULL;
    if (!es || !r || !s || !ECDSA_SIG_set0(es, r, s)) {
        BN_free(r);
        BN_free(s);
    } else {
        int len = i2d_ECDSA_SIG(es, &der);
        *n = len > 0 ? (size_t)len : 0;
    }
    ECDSA_SIG_free(es);
    return der;
}

static bool signature_good(EVP_PKEY *key, const struct algorithm *alg, const char *text, size_t n,
                           const unsigned char *sig, size_t sig_n)
{
    unsigned char *der = NULL;
    if (alg->coordinate) {
        if (sig_n != 2 * alg->coordinate)
            return false;
        sig = der = signature_der(sig, alg->coordinate, &sig_n);
        if (!der)
            return false;
    }
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY_CTX *pctx = NULL;
    bool good = ctx && EVP_DigestVerifyInit_ex(ctx, &pctx, alg->hash, NULL, NULL, key, NULL) == 1;
    if (good && alg->padding)
        good = EVP_PKEY_CTX_set_rsa_padding(pctx, alg->padding) == 1;
    if (good && alg->padding == RSA_PKCS1_PSS_PADDING)
        good = EVP_PKEY_CTX_set_rsa_pss_saltlen(pctx, RSA_PSS_SALTLEN_DIGEST) == 1;
    good = good && EVP_DigestVerify(ctx, sig, sig_n, (const unsigned char *)text, n) == 1;
    EVP_MD_CTX_free(ctx);
    OPENSSL_free(der);
    ERR_clear_error();
    return good;
}

/* ------------------------------------------------------------------ token */

typedef struct token {
    json_doc header, claims;
    const struct algorithm *alg;
    const char *kid; /* NULL: none */
    size_t signed_n; /* bytes of the token that are signed */
    const unsigned char *sig;
    size_t sig_n;
} token;

static bool part_read(arena *a, const char *s, size_t n, json_doc *out)
{
    size_t len = 0;
    const char *text = b64url_decode(a, s, n, &len);
    return text && json_parse(a, text, len, 32, out, NULL) && json_is(&out->nodes[0], JSON_OBJECT);
}

/* Parses a token; NULL, or what is wrong. */
static const char *token_read(arena *a, const char *s, unsigned allowed, token *t)
{
    size_t n = strnlen(s, JWT_MAX + 1);
    if (n > JWT_MAX)
        return "the token is too long";
    const char *dot = strchr(s, '.'), *dot2 = dot ? strchr(dot + 1, '.') : NULL;
    if (!dot2)
        return "the token has not three parts";
    t->signed_n = (size_t)(dot2 - s);
    if (!part_read(a, s, (size_t)(dot - s), &t->header))
        return "the token's header cannot be read";
    if (!part_read(a, dot + 1, (size_t)(dot2 - dot - 1), &t->claims))
        return "the token's claims cannot be read";
    t->sig = (const unsigned char *)b64url_decode(a, dot2 + 1, n - t->signed_n - 1, &t->sig_n);
    if (!t->sig || !t->sig_n)
        return "the token's signature cannot be read";

    const json_node *root = &t->header.nodes[0];
    const char *alg = json_text(a, &t->header, json_get(&t->header, root, "alg"));
    t->alg = alg ? algorithm_find(alg, strlen(alg)) : NULL;
    if (!t->alg || !(t->alg->bit & allowed))
        return "the token's algorithm is not allowed";
    if (json_get(&t->header, root, "crit"))
        return "the token needs an extension that is not known";
    const json_node *kid = json_get(&t->header, root, "kid");
    t->kid = json_text(a, &t->header, kid);
    if (kid && (!t->kid || kid->has_nul))
        return "the token's kid is no text";
    return NULL;
}

static bool text_is(arena *a, const json_doc *d, const json_node *v, const char *want)
{
    const char *s = json_text(a, d, v);
    return s && !v->has_nul && strcmp(s, want) == 0;
}

/* Seconds of a NumericDate; it may have a fraction. */
static bool date_read(const json_doc *d, const json_node *v, int64_t *s)
{
    int64_t nano = 0;
    if (!json_int(d, v, s)) {
        if (!json_is(v, JSON_NUMBER) || !json_nano(d, v, &nano))
            return false;
        *s = nano / 1000000000;
    }
    return *s >= 0 && *s < INT64_MAX / 2;
}

static const char *claims_check(arena *a, const json_doc *d, const jwt_rules *rules)
{
    const json_node *root = &d->nodes[0], *aud = json_get(d, root, "aud");
    const json_node *nbf = json_get(d, root, "nbf");
    if (!text_is(a, d, json_get(d, root, "iss"), rules->issuer))
        return "the token is of another issuer";
    bool ours = text_is(a, d, aud, rules->audience);
    if (json_is(aud, JSON_ARRAY))
        for (const json_node *v = json_first(d, aud); v && !ours; v = json_next(d, aud, v))
            ours = text_is(a, d, v, rules->audience);
    if (!ours)
        return "the token is for another audience";
    int64_t at = 0;
    if (!date_read(d, json_get(d, root, "exp"), &at))
        return "the token has no time of expiry";
    if (rules->now_s >= at + JWT_LEEWAY_S)
        return "the token has expired";
    if (nbf && !date_read(d, nbf, &at))
        return "the token's nbf is no time";
    if (nbf && rules->now_s + JWT_LEEWAY_S < at)
        return "the token is not valid yet";
    return NULL;
}

jwt_verdict jwt_check(arena *a, const char *text, const jwks *set, const jwt_rules *rules,
                      json_doc *claims, const char **why)
{
    token t = {0};
    *why = token_read(a, text, rules->algorithms, &t);
    if (!*why)
        *why = claims_check(a, &t.claims, rules);
    if (*why)
        return JWT_BAD;
    bool known = false;
    for (size_t i = 0; i < set->n; i++) {
        const jwk *k = &set->keys[i];
        if (t.kid && (!k->kid || strcmp(t.kid, k->kid) != 0))
            continue;
        known = true;
        if ((k->fitting & t.alg->bit) &&
            signature_good(k->key, t.alg, text, t.signed_n, t.sig, t.sig_n)) {
            *claims = t.claims;
            return JWT_GOOD;
        }
    }
    *why = known ? "the token's signature does not fit its key" : "the token's key is not known";
    return known ? JWT_BAD : JWT_NO_KEY;
}
