/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.h: identifies the caller of a request and checks which web page sent it: tokens, an
 * OpenID Connect issuer, cookies of signed-in browsers. What differs between protocols is in their
 * identity_rule (rule.h).
 */
#ifndef IDENTITY_IDENTITY_H
#define IDENTITY_IDENTITY_H

#include "identity/rule.h"
#include "runtime/config.h"

/* NULL and *message (256 bytes): the settings contradict each other (local mode on a public
 * address …). */
auth *auth_new(const server_config *cfg, ramet *store, char *message);
void auth_free(auth *a);
/* Host and Origin (local: 421, 403; others: cookie writes from a foreign origin 403). False: the
 * answer is filled in. */
bool auth_check_origin(auth *a, request *q);
/* The same for a read in local mode, once its route is known: one sent by a page of another origin
 * is refused, unless it follows a link to a page of ours. */
bool auth_check_read(auth *a, request *q);
/* Fills q->caller by q->identity_rule, which must be set. False: the answer is filled in (401,
 * 403). May read the store. */
bool auth_identify(auth *a, request *q);
void auth_port(auth *a, int port); /* of the listening socket, once it is known */

#endif
