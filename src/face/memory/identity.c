/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how memory-service's clients identify themselves, and how callers without a role are
 * refused.
 *
 * A request of memory-service has two identities: the user (Authorization) and the client
 * application (X-API-Key or X-Client-ID). A trusted client (trusted-clients) may name any user in
 * X-User-ID; for all others that header is ignored.
 */
#include "face/memory/memory.h"

/* Local mode: the key is not a secret but the name of the client. */
static bool claim(const auth *a, request *q, identity *claimed)
{
    const char *user = q->header(q, "X-User-Id");
    claimed->client = identity_api_key(q);
    if (!claimed->client)
        return true;
    if (!identity_id_valid(claimed->client))
        return identity_refuse_id(q, "X-API-Key");
    if (user && identity_client_trusted(a, claimed->client))
        claimed->user = user;
    return true;
}

/* A user named by a trusted client does not get the roles of the client's token. */
static bool act(const auth *a, request *q, identity *verified)
{
    const char *user = q->header(q, "X-User-Id");
    if (!user || !*user || !verified->client || !identity_client_trusted(a, verified->client))
        return true;
    if (!identity_id_valid(user))
        return identity_refuse_id(q, "X-User-ID");
    verified->user = user;
    verified->roles = NULL;
    return true;
}

static const char *stranger(request *q)
{
    return identity_api_key(q) && !q->header(q, "Authorization") ? "user authentication required"
                                                                 : "missing credentials";
}

static void refuse_role(request *q, unsigned roles)
{
    if (roles & ROLE_CLIENT)
        memory_refuse(q, 403, NULL, "client context or admin/auditor role required", NULL);
    else if (roles & ROLE_INDEXER)
        memory_refuse(q, 403, "forbidden", "indexer or admin role required", NULL);
    else
        memory_refuse(q, 403, "forbidden", "forbidden", NULL);
}

const identity_rule memory_identity = {
    .local_order = {USER_FROM_BEARER},
    .malformed_first = true,
    .claim = claim,
    .act = act,
    .stranger = stranger,
    .refuse_role = refuse_role,
};
