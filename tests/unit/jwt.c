/* SPDX-License-Identifier: Apache-2.0
 *
 * jwt.c: tokens of an issuer: only what was signed by its keys is believed, and no rubbish does
 * harm.
 */
#include "base/base64.h"
#include "identity/jwt.h"

#include <criterion/criterion.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1800000000)

static struct {
    arena *a;
    EVP_PKEY *rsa, *ec;
    jwks *set;
    char *text; /* of the set */
} K;

static const char *b64_number(EVP_PKEY *key, const char *name, size_t bytes)
{
    BIGNUM *n = NULL;
    unsigned char raw[1024];
    cr_assert(EVP_PKEY_get_bn_param(key, name, &n));
    int len = bytes ? BN_bn2binpad(n, raw, (int)bytes) : BN_bn2bin(n, raw);
    BN_free(n);
    return b64url_encode(K.a, raw, (size_t)len);
}

static void keys_make(void)
{
    char message[256];
    K.a = arena_new();
    K.rsa = EVP_RSA_gen(2048);
    K.ec = EVP_EC_gen("P-256");
    K.text = arena_printf(
        K.a,
        "{\"keys\":[{\"kty\":\"RSA\",\"kid\":\"r\",\"use\":\"sig\",\"n\":\"%s\",\"e\":\"%s\"},"
        "{\"kty\":\"EC\",\"kid\":\"e\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}]}",
        b64_number(K.rsa, OSSL_PKEY_PARAM_RSA_N, 0), b64_number(K.rsa, OSSL_PKEY_PARAM_RSA_E, 0),
        b64_number(K.ec, OSSL_PKEY_PARAM_EC_PUB_X, 32),
        b64_number(K.ec, OSSL_PKEY_PARAM_EC_PUB_Y, 32));
    K.set = jwks_parse(K.text, strlen(K.text), message);
    cr_assert(K.set && K.set->n == 2, "%s", K.set ? "a key was left out" : message);
}

static void keys_free(void)
{
    jwks_free(K.set);
    EVP_PKEY_free(K.rsa);
    EVP_PKEY_free(K.ec);
    arena_free(K.a);
}

TestSuite(jwt, .init = keys_make, .fini = keys_free);

static size_t ec_raw(const unsigned char *der, size_t n, unsigned char *out)
{
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
    BN_bn2binpad(ECDSA_SIG_get0_r(sig), out, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(sig), out + 32, 32);
    ECDSA_SIG_free(sig);
    return 64;
}

static const char *token_make(EVP_PKEY *key, const char *header, const char *claims)
{
    unsigned char sig[1024], raw[64];
    size_t n = sizeof sig;
    const char *text = arena_printf(K.a, "%s.%s", b64url_encode(K.a, header, strlen(header)),
                                    b64url_encode(K.a, claims, strlen(claims)));
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    cr_assert(EVP_DigestSignInit_ex(ctx, NULL, "SHA256", NULL, NULL, key, NULL) == 1);
    cr_assert(EVP_DigestSign(ctx, sig, &n, (const unsigned char *)text, strlen(text)) == 1);
    EVP_MD_CTX_free(ctx);
    if (key == K.ec)
        return arena_printf(K.a, "%s.%s", text, b64url_encode(K.a, raw, ec_raw(sig, n, raw)));
    return arena_printf(K.a, "%s.%s", text, b64url_encode(K.a, sig, n));
}

static jwt_verdict check(const char *token)
{
    jwt_rules rules = {"https://issuer", "ramet", JWT_ALL, NOW};
    json_doc claims;
    const char *why = NULL;
    arena *a = arena_new();
    jwt_verdict v = jwt_check(a, token, K.set, &rules, &claims, &why);
    cr_assert(v == JWT_GOOD || why);
    arena_free(a);
    return v;
}

#define RSA_HEAD "{\"alg\":\"RS256\",\"kid\":\"r\"}"
#define EC_HEAD "{\"alg\":\"ES256\",\"kid\":\"e\",\"typ\":\"at+jwt\"}"
#define BASE "\"iss\":\"https://issuer\",\"aud\":[\"x\",\"ramet\"],\"sub\":\"ann\""

static const char *claims_at(const char *more)
{
    return arena_printf(K.a, "{" BASE "%s}", more);
}

Test(jwt, both_kinds_of_keys)
{
    const char *claims = claims_at(",\"exp\":1800000100");
    cr_assert_eq(check(token_make(K.rsa, RSA_HEAD, claims)), JWT_GOOD);
    cr_assert_eq(check(token_make(K.ec, EC_HEAD, claims)), JWT_GOOD);
    cr_assert_eq(check(token_make(K.rsa, "{\"alg\":\"RS256\"}", claims)), JWT_GOOD, "no kid");
    cr_assert_eq(check(token_make(K.rsa, "{\"alg\":\"RS256\",\"kid\":\"q\"}", claims)), JWT_NO_KEY);
    cr_assert_eq(check(token_make(K.rsa, "{\"alg\":\"RS256\",\"kid\":\"e\"}", claims)), JWT_BAD);
    cr_assert_eq(check(token_make(K.rsa, "{\"alg\":\"RS384\",\"kid\":\"r\"}", claims)), JWT_BAD);
}

Test(jwt, times_have_a_minute_of_leeway_and_no_more)
{
    static const struct {
        const char *times;
        jwt_verdict want;
    } cases[] = {
        {"", JWT_BAD},
        {",\"exp\":null", JWT_BAD},
        {",\"exp\":\"1800000100\"", JWT_BAD},
        {",\"exp\":-1", JWT_BAD},
        {",\"exp\":1e400", JWT_BAD},
        {",\"exp\":9223372036854775807", JWT_BAD},
        {",\"exp\":1799999941", JWT_GOOD},
        {",\"exp\":1799999940", JWT_BAD},
        {",\"exp\":1800000100.5", JWT_GOOD},
        {",\"exp\":9999999999", JWT_GOOD},
        {",\"exp\":1800000100,\"nbf\":1800000060", JWT_GOOD},
        {",\"exp\":1800000100,\"nbf\":1800000061", JWT_BAD},
        {",\"exp\":1800000100,\"nbf\":true", JWT_BAD},
        {",\"exp\":1800000100,\"exp\":1800000100", JWT_BAD},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(check(token_make(K.ec, EC_HEAD, claims_at(cases[i].times))), cases[i].want,
                     "%s", cases[i].times);
}

Test(jwt, issuer_and_audience)
{
    static const char *const bad[] = {
        "{\"aud\":\"ramet\",\"exp\":1800000100}",
        "{\"iss\":\"https://issuer/\",\"aud\":\"ramet\",\"exp\":1800000100}",
        "{\"iss\":[\"https://issuer\"],\"aud\":\"ramet\",\"exp\":1800000100}",
        "{\"iss\":\"https://issuer\",\"exp\":1800000100}",
        "{\"iss\":\"https://issuer\",\"aud\":\"Ramet\",\"exp\":1800000100}",
        "{\"iss\":\"https://issuer\",\"aud\":\"ramet\\u0000x\",\"exp\":1800000100}",
        "{\"iss\":\"https://issuer\",\"aud\":[],\"exp\":1800000100}",
        "{\"iss\":\"https://issuer\",\"aud\":{\"ramet\":\"ramet\"},\"exp\":1800000100}",
        "[]",
        "",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(check(token_make(K.ec, EC_HEAD, bad[i])), JWT_BAD, "%s", bad[i]);
    cr_assert_eq(
        check(token_make(K.ec, EC_HEAD,
                         "{\"iss\":\"https://issuer\",\"aud\":\"ramet\",\"exp\":1800000100}")),
        JWT_GOOD);
}

Test(jwt, headers_that_are_refused)
{
    static const char *const bad[] = {
        "{}",
        "{\"alg\":\"none\",\"kid\":\"e\"}",
        "{\"alg\":\"None\",\"kid\":\"e\"}",
        "{\"alg\":\"HS256\",\"kid\":\"e\"}",
        "{\"alg\":\"es256\",\"kid\":\"e\"}",
        "{\"alg\":[\"ES256\"],\"kid\":\"e\"}",
        "{\"alg\":\"ES384\",\"kid\":\"e\"}",
        "{\"alg\":\"ES256\",\"alg\":\"ES256\",\"kid\":\"e\"}",
        "{\"alg\":\"ES256\",\"kid\":7}",
        "{\"alg\":\"ES256\",\"kid\":\"e\",\"crit\":[\"b64\"],\"b64\":false}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(check(token_make(K.ec, bad[i], claims_at(",\"exp\":1800000100"))), JWT_BAD,
                     "%s", bad[i]);
}

/* Every byte of a good token, changed, dropped and doubled. */
Test(jwt, a_changed_token_is_not_believed)
{
    const char *good = token_make(K.ec, EC_HEAD, claims_at(",\"exp\":1800000100"));
    size_t n = strlen(good);
    char *t = arena_alloc(K.a, n + 2);
    for (size_t i = 0; i < n; i++) {
        memcpy(t, good, n + 1);
        t[i] = t[i] == 'A' ? 'B' : 'A';
        cr_assert_neq(check(t), JWT_GOOD, "byte %zu changed", i);
        memcpy(t, good, i);
        memcpy(t + i, good + i + 1, n - i);
        cr_assert_neq(check(t), JWT_GOOD, "byte %zu dropped", i);
        memcpy(t, good, i + 1);
        memcpy(t + i + 1, good + i, n - i + 1);
        cr_assert_neq(check(t), JWT_GOOD, "byte %zu doubled", i);
        memcpy(t, good, n + 1);
        t[i] = 0;
        cr_assert_neq(check(t), JWT_GOOD, "cut at %zu", i);
    }
}

Test(jwt, signatures_of_another_form)
{
    const char *good = token_make(K.ec, EC_HEAD, claims_at(",\"exp\":1800000100"));
    size_t head = (size_t)(strrchr(good, '.') - good), n = 0;
    char *sig = b64url_decode(K.a, good + head + 1, strlen(good + head + 1), &n);
    static const unsigned char zeros[66];
    char two[128], wide[66];
    memcpy(two, sig, 64);
    memcpy(two + 64, sig, 64);
    memset(wide, 0, sizeof wide);
    memcpy(wide + 1, sig, 32);
    memcpy(wide + 34, sig + 32, 32);
    const struct {
        const char *what;
        const void *sig;
        size_t n;
    } cases[] = {{"zeros", zeros, 64},     {"short", sig, 63},          {"half", sig, 32},
                 {"twice", two, 128},      {"padded halves", wide, 66}, {"one zero", zeros, 1},
                 {"long zeros", zeros, 66}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_assert_eq(check(arena_printf(K.a, "%.*s.%s", (int)head, good,
                                        b64url_encode(K.a, cases[i].sig, cases[i].n))),
                     JWT_BAD, "%s", cases[i].what);
    cr_assert_eq(check(arena_printf(K.a, "%.*s.", (int)head, good)), JWT_BAD, "none");
    cr_assert_eq(check(arena_printf(K.a, "%s=", good)), JWT_BAD, "padding");
    cr_assert_eq(check(arena_printf(K.a, "%s.x", good)), JWT_BAD, "a fourth part");
}

Test(jwt, too_long)
{
    char *t = arena_alloc(K.a, 3 * JWT_MAX);
    memset(t, 'A', 3 * JWT_MAX - 1);
    cr_assert_eq(check(t), JWT_BAD);
    t[10] = t[20] = '.';
    cr_assert_eq(check(t), JWT_BAD);
    cr_assert_eq(check(""), JWT_BAD);
    cr_assert_eq(check(".."), JWT_BAD);
    cr_assert_eq(check("a.b.c"), JWT_BAD);
}

Test(jwt, a_set_leaves_out_what_is_not_for_us)
{
    const char *n = b64_number(K.rsa, OSSL_PKEY_PARAM_RSA_N, 0);
    const char *x = b64_number(K.ec, OSSL_PKEY_PARAM_EC_PUB_X, 32);
    const char *const keys[] = {
        "{}",
        "7",
        "null",
        "{\"kty\":\"oct\",\"k\":\"AAAA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AAAA\"}",
        arena_printf(K.a, "{\"kty\":\"RSA\",\"use\":\"enc\",\"n\":\"%s\",\"e\":\"AQAB\"}", n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"key_ops\":[\"encrypt\"],\"n\":\"%s\",\"e\":\"AQAB\"}",
                     n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"alg\":\"RSA-OAEP\",\"n\":\"%s\",\"e\":\"AQAB\"}", n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"alg\":\"ES256\",\"n\":\"%s\",\"e\":\"AQAB\"}", n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"n\":\"%.128s\",\"e\":\"AQAB\"}", n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"n\":\"%s=\",\"e\":\"AQAB\"}", n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"\"}", n),
        arena_printf(K.a, "{\"kty\":\"RSA\",\"n\":\"%s\"}", n),
        arena_printf(K.a, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"}", x, x),
        arena_printf(K.a, "{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"%s\",\"y\":\"%s\"}", x, x),
        arena_printf(K.a, "{\"kty\":\"EC\",\"crv\":\"secp256k1\",\"x\":\"%s\",\"y\":\"%s\"}", x, x),
        arena_printf(K.a, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\"}", x),
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char message[256];
        const char *text = arena_printf(K.a, "{\"keys\":[%s]}", keys[i]);
        jwks *set = jwks_parse(text, strlen(text), message);
        cr_assert(set && set->n == 0, "%s", keys[i]);
        jwks_free(set);
    }
}

Test(jwt, rubbish_for_a_set)
{
    static const char *const bad[] = {"",
                                      "x",
                                      "[]",
                                      "7",
                                      "{}",
                                      "{\"keys\":{}}",
                                      "{\"keys\":null}",
                                      "{\"keys\":[]",
                                      "{\"keys\":[],\"keys\":[]}"};
    char message[256];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        message[0] = 0;
        cr_assert_null(jwks_parse(bad[i], strlen(bad[i]), message), "%s", bad[i]);
        cr_assert(message[0]);
    }
    /* Changed at random: whatever comes of it, it is one or the other. */
    unsigned seed = 7;
    size_t n = strlen(K.text);
    char *t = arena_alloc(K.a, n + 1);
    for (int round = 0; round < 3000; round++) {
        memcpy(t, K.text, n + 1);
        for (int k = 0; k < 1 + round % 4; k++)
            t[(size_t)rand_r(&seed) % n] = (char)(rand_r(&seed) & 255);
        jwks_free(jwks_parse(t, (size_t)rand_r(&seed) % (n + 1), message));
        jwks_free(jwks_parse(t, n, message));
    }
}

Test(jwt, names_of_algorithms)
{
    cr_assert_eq(jwt_algorithms("RS256, ES256"), (unsigned)(JWT_RS256 | JWT_ES256));
    cr_assert_eq(jwt_algorithms("RS256 PS512"), (unsigned)(JWT_RS256 | JWT_PS512));
    static const char *const bad[] = {"",      ",",           "none", "RS256,none",
                                      "HS256", "RS256,HS512", "rs256"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(jwt_algorithms(bad[i]), 0u, "%s", bad[i]);
}
