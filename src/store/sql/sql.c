/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of statements. The list is expanded twice, once in the dialect of each engine: sql.h
 * explains the macros of a dialect.
 */
#include "store/sql/sql.h"

#include "store/sql/guarded_sql.h"
#include "store/sql/postgres_sql.h"

#include <assert.h>

#define X(name, text) #name,
static const char *const names[] = {STATEMENTS(X)};
#undef X

#define X(name, text) text,

#define EITHER(sqlite, postgres) sqlite
static const char *const texts[] = {STATEMENTS(X)};
#undef EITHER

#define EITHER(sqlite, postgres) postgres
static const char *const shared_texts[] = {STATEMENTS(X)};
#undef X

#define X(name, text) [Q_##name] = text,
static const char *const postgres_texts[Q_COUNT] = {POSTGRES_STATEMENTS(X)};
#undef X

#define X(name, reason) [Q_##name] = reason,
static const char *const guarded_reasons[Q_COUNT] = {GUARDED_STATEMENTS(X)};
#undef X

const char *sql_text(sql_id q)
{
    assert(q >= 0 && q < Q_COUNT);
    return texts[q];
}

const char *sql_name(sql_id q)
{
    assert(q >= 0 && q < Q_COUNT);
    return names[q];
}

const char *sql_text_postgres(sql_id q)
{
    assert(q >= 0 && q < Q_COUNT);
    return postgres_texts[q] ? postgres_texts[q] : shared_texts[q];
}

const char *sql_guarded(sql_id q)
{
    assert(q >= 0 && q < Q_COUNT);
    return guarded_reasons[q];
}
