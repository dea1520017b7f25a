/* SPDX-License-Identifier: Apache-2.0
 *
 * work.c: see work.h.
 */
#include "http/work.h"

#include <string.h>
#include <unistd.h>

enum { MIN_READERS = 8 };

work_kind work_of(const request *q, bool admitted)
{
    if (!admitted || !q->route)
        return WORK_SHORT;
    return q->writes ? WORK_WRITE : WORK_READ;
}

/* No user id contains a control character, so an address cannot be mistaken for one. */
const char *work_client(request *q)
{
    if (q->caller.mode && q->caller.user)
        return q->caller.user;
    return arena_printf(q->arena, "\x01%s", q->remote ? q->remote : "");
}

int work_readers(const server_config *cfg)
{
    int readers = 2 * (int)sysconf(_SC_NPROCESSORS_ONLN) + 4;
    if (cfg->readers)
        return (int)cfg->readers;
    return readers < MIN_READERS ? MIN_READERS : readers;
}

int work_store_readers(const server_config *cfg, const char *where)
{
    bool database = where && (strncmp(where, "postgres://", 11) == 0 ||
                              strncmp(where, "postgresql://", 13) == 0);
    return database ? (int)(cfg->db_pool - (cfg->db_pool + 3) / 4) : work_readers(cfg);
}
