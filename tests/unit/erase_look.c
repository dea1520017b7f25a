/* SPDX-License-Identifier: Apache-2.0
 *
 * erase_look.c: looks for what was erased in everything that a store holds.
 */
#include "erase.h"
#include "store/sql/sql.h"

#include <stdio.h>

/* All tables of the database, those of the search index included, and bytes by their hexadecimal
 * form. */
static bool in_database(const char *text)
{
    char hex[2 * 200 + 1], sql[1400];
    cr_assert_lt(strlen(text), 200);
    for (size_t i = 0; text[i]; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)text[i]);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM pg_tables WHERE CASE WHEN schemaname=current_schema() THEN "
             "query_to_xml(format('SELECT 1 AS found FROM %%I x WHERE x::text ILIKE %%L OR x::text "
             "LIKE %%L',tablename,'%%%s%%','%%%s%%'),true,false,'')::text LIKE '%%found%%' "
             "ELSE false END",
             text, hex);
    return sql_number(sql) > 0;
}

bool erase_anywhere(const char *text)
{
#define LOOK_IN(X, t, c, class)                                                                    \
    if (strcmp(#t, "outbox") && strcmp(#t, "dir") && strcmp(#t, "node") && strcmp(#t, "job") &&    \
        strcmp(#t, "word_state") && strcmp(#t, "words") && strcmp(#t "." #c, "session.tags")) {    \
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE CAST(%s AS TEXT) LIKE '%%%s%%'",  \
                 #t, #c, text);                                                                    \
        if (sql_number(sql)) {                                                                     \
            fprintf(stderr, "%s is in %s.%s\n", text, #t, #c);                                     \
            return true;                                                                           \
        }                                                                                          \
    }
    char sql[600];
    if (T.database)
        return in_database(text);
    ERASE_COLUMNS(LOOK_IN, )
    return false;
}
