/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how clients of the toy protocol name themselves: by the header X-Toy-Name. With
 * tokens the header may stand there too, and must then agree with the token.
 */
#include "face/toy/toy.h"

#include <string.h>

static bool claim(const auth *a, request *q, identity *claimed)
{
    (void)a;
    claimed->user = q->header(q, "X-Toy-Name");
    return true;
}

static bool act(const auth *a, request *q, identity *verified)
{
    const char *name = q->header(q, "X-Toy-Name");
    (void)a;
    if (!name || strcmp(name, verified->user) == 0)
        return true;
    request_fail(q, 403, "forbidden", "X-Toy-Name", "the token is not %s's", name);
    return false;
}

static const char *stranger(request *q)
{
    (void)q;
    return "say who you are: X-Toy-Name";
}

static void refuse_role(request *q, unsigned roles)
{
    (void)roles;
    request_fail(q, 403, "forbidden", NULL, "the census is not for you");
}

const identity_rule toy_identity = {
    .claim = claim,
    .act = act,
    .stranger = stranger,
    .refuse_role = refuse_role,
};
