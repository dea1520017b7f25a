/* SPDX-License-Identifier: Apache-2.0
 *
 * jwt.h: verifies JSON Web Tokens of an issuer (RFC 7515, 7517, 7519). It uses neither network nor
 * settings.
 *
 * Invariants
 *   J1  A token is accepted only if its signature matches a key of the set, by an algorithm that
 *       the rules allow and that fits the type of the key. `none` and HMAC do not exist here: a
 *       public key cannot be used as a secret.
 *   J2  Claims are read from the signed bytes, by the strict parser of base/json.h (no duplicate
 *       keys).
 *   J3  A set is immutable. A thread that holds a reference may use it without a lock.
 */
#ifndef IDENTITY_JWT_H
#define IDENTITY_JWT_H

#include "base/arena.h"
#include "base/json.h"

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JWT_MAX 16384         /* bytes of a token */
#define JWT_LEEWAY_S 60       /* tolerated difference of clocks */
#define JWKS_KEYS 64          /* of one set */
#define JWKS_BYTES (1u << 20) /* of its text */

/* Algorithms as a set of bits. */
enum {
    JWT_RS256 = 1,
    JWT_RS384 = 2,
    JWT_RS512 = 4,
    JWT_PS256 = 8,
    JWT_PS384 = 16,
    JWT_PS512 = 32,
    JWT_ES256 = 64,
    JWT_ES384 = 128,
    JWT_ES512 = 256,
    JWT_ALL = 511
};

typedef struct jwk {
    char *kid;        /* NULL: it has none */
    EVP_PKEY *key;    /* public */
    unsigned fitting; /* algorithms that fit its type, and its own `alg` when it names one */
} jwk;

typedef struct jwks {
    jwk keys[JWKS_KEYS];
    size_t n;
    int refs; /* atomic */
} jwks;

/* Parses a JWK set. Unusable keys (other types, for encryption, too short, damaged) are left out.
 * If the text is not a set, returns NULL and fills *message (256 bytes). */
jwks *jwks_parse(const char *text, size_t n, char *message);
jwks *jwks_ref(jwks *s);
void jwks_free(jwks *s); /* drops a reference; NULL is fine */

/* One algorithm by its name; 0: unknown. */
unsigned jwt_algorithm(const char *name);
/* Names separated by commas or spaces; 0 when one is unknown, or there is none. */
unsigned jwt_algorithms(const char *list);

typedef struct jwt_rules {
    const char *issuer, *audience;
    unsigned algorithms;
    int64_t now_s;
} jwt_rules;

typedef enum { JWT_GOOD, JWT_BAD, JWT_NO_KEY } jwt_verdict;
/* JWT_GOOD fills *claims (an object, in the arena). Otherwise *why is a constant text for the log
 * that contains nothing of the token. JWT_NO_KEY: valid but for its kid, which the set lacks. */
jwt_verdict jwt_check(arena *a, const char *token, const jwks *set, const jwt_rules *rules,
                      json_doc *claims, const char **why);

#endif
