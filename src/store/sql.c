/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sql.h"

#define X(name, text) text,
static const char *const texts[] = {STATEMENTS(X)};
#undef X
#define X(name, text) #name,
static const char *const names[] = {STATEMENTS(X)};
#undef X

const char *sql_text(sql_id q)
{
    return texts[q];
}

const char *sql_name(sql_id q)
{
    return names[q];
}
