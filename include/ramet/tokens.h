/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/tokens.h: API tokens of a server.
 */
#ifndef RAMET_TOKENS_H
#define RAMET_TOKENS_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For the embedding program, except ramet_token_check(). */

typedef struct ramet_token {
    const char *id;
    const char *user, *client; /* client may be NULL */
    const char *roles;         /* separated by commas; "" when none */
    const char *note;
    int64_t created, expires, used; /* 0: never */
    bool revoked;
    const char *secret; /* only from ramet_token_add(): only its hash is stored */
} ramet_token;
typedef struct ramet_token_in {
    const char *user, *client, *roles, *note;
    int64_t life_us; /* 0: no end */
} ramet_token_in;
RAMET_API ramet_status ramet_token_add(ramet_call *c, const ramet_token_in *in, ramet_token **out);
RAMET_API ramet_status ramet_tokens(ramet_call *c, ramet_token **out, size_t *n);
RAMET_API ramet_status ramet_token_revoke(ramet_call *c, const char *id);
/* The token that a secret belongs to; compares in constant time. RAMET_UNAUTHENTICATED whatever the
 * reason is: the message is for the log, not for the caller. At most one read: the result is cached
 * for 20 ms, so a revocation by another process takes effect within that time, one by this process
 * at once. `used` is updated at most once a minute; that call waits for a commit. Any user may call
 * it. */
RAMET_API ramet_status ramet_token_check(ramet_call *c, const char *secret, ramet_token **out);

#ifdef __cplusplus
}
#endif
#endif
