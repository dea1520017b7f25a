/* SPDX-License-Identifier: Apache-2.0
 *
 * Authenticated encryption with AES-256-GCM (seal.h). The IV is random: a key may seal some billion
 * times.
 */
#include "base/seal.h"

#include "base/util.h"

#include <limits.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IV_BYTES 12
#define TAG_BYTES 16

static pthread_once_t cipher_once = PTHREAD_ONCE_INIT;
static EVP_CIPHER *cipher;

/* Fetched once: looking the algorithm up costs more than sealing a short text. */
static void cipher_fetch(void)
{
    cipher = EVP_CIPHER_fetch(NULL, "AES-256-GCM", NULL);
}

static EVP_CIPHER_CTX *context_new(void)
{
    pthread_once(&cipher_once, cipher_fetch);
    EVP_CIPHER_CTX *ctx = cipher ? EVP_CIPHER_CTX_new() : NULL;
    if (!ctx) {
        fprintf(stderr, "ramet: libcrypto cannot start AES-256-GCM\n");
        abort();
    }
    return ctx;
}

const char *seal_make(arena *a, const uint8_t key[SEAL_KEY], const char *about, const void *p,
                      size_t n, size_t *len)
{
    int done = 0;
    *len = n + SEAL_MORE;
    unsigned char *out = arena_alloc(a, *len), *body = out + IV_BYTES;
    random_bytes(out, IV_BYTES);
    EVP_CIPHER_CTX *ctx = context_new();
    bool ok = n <= INT_MAX - SEAL_MORE && EVP_EncryptInit_ex2(ctx, cipher, key, out, NULL) == 1 &&
              EVP_EncryptUpdate(ctx, NULL, &done, (const unsigned char *)about,
                                (int)strlen(about)) == 1 &&
              EVP_EncryptUpdate(ctx, body, &done, p, (int)n) == 1 &&
              EVP_EncryptFinal_ex(ctx, body + n, &done) == 1 &&
              EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_GET_TAG, TAG_BYTES, body + n) == 1;
    EVP_CIPHER_CTX_free(ctx);
    if (!ok) {
        fprintf(stderr, "ramet: libcrypto cannot seal with AES-256-GCM\n");
        abort();
    }
    return (const char *)out;
}

const char *seal_open(arena *a, const uint8_t key[SEAL_KEY], const char *about, const void *p,
                      size_t n, size_t *len)
{
    int done = 0;
    if (!p || n < SEAL_MORE || n > INT_MAX)
        return NULL;
    *len = n - SEAL_MORE;
    const unsigned char *in = p;
    unsigned char *out = arena_alloc(a, *len + 1), tag[TAG_BYTES];
    memcpy(tag, in + IV_BYTES + *len, TAG_BYTES);
    EVP_CIPHER_CTX *ctx = context_new();
    bool ok = EVP_DecryptInit_ex2(ctx, cipher, key, in, NULL) == 1 &&
              EVP_DecryptUpdate(ctx, NULL, &done, (const unsigned char *)about,
                                (int)strlen(about)) == 1 &&
              EVP_DecryptUpdate(ctx, out, &done, in + IV_BYTES, (int)*len) == 1 &&
              EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_GCM_SET_TAG, TAG_BYTES, tag) == 1 &&
              EVP_DecryptFinal_ex(ctx, out + *len, &done) == 1;
    EVP_CIPHER_CTX_free(ctx);
    out[*len] = 0;
    return ok ? (const char *)out : NULL;
}
