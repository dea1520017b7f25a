/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c: see work.h.
 */
#include "server/work.h"

work_kind work_of(const face_req *q, bool admitted)
{
    if (!admitted || !q->route)
        return WORK_SHORT;
    return q->route->flags & ROUTE_WRITE ? WORK_WRITE : WORK_READ;
}

/* No user's id has a control character, so an address is never taken for one. */
const char *work_client(face_req *q)
{
    if (q->who.mode && q->who.user)
        return q->who.user;
    return arena_printf(q->a, "\x01%s", q->remote ? q->remote : "");
}
