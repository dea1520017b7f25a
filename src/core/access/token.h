/* SPDX-License-Identifier: Apache-2.0
 *
 * token.h: secrets of API tokens and share links.
 */
#ifndef CORE_ACCESS_TOKEN_H
#define CORE_ACCESS_TOKEN_H

#include "core/txn.h"

#define SECRET_TEXT (4 + 2 * HASH_LEN + 1)
/* 32 random bytes in hex behind a prefix of 4 characters. */
void secret_make(const char *prefix, char out[SECRET_TEXT]);
/* The digest that is stored. False when the text does not have that form. */
bool secret_digest(sha *h, const char *prefix, const char *text, uint8_t out[HASH_LEN]);
/* Whether a blob column is that digest; compares in constant time. */
bool secret_is(db_stmt *q, int column, const uint8_t digest[HASH_LEN]);
struct token_cache *token_cache_new(void);
void token_cache_free(struct token_cache *t);

#endif
