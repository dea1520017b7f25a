/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of a PostgreSQL result, in binary form.
 */
#include "store/postgres/postgres.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { T_BOOL = 16, T_INT2 = 21, T_INT4 = 23, T_FLOAT8 = 701, T_NUMERIC = 1700 };
enum { NUMERIC_NEGATIVE = 0x4000, NUMERIC_BASE = 10000, NUMERIC_HEAD = 8 };

/* The text of a statement fixes the number of columns, so this does not depend on the data. */
static bool is_null(const PGresult *r, int row, int col)
{
    assert(row >= 0 && row < PQntuples(r) && col >= 0 && col < PQnfields(r));
    return PQgetisnull(r, row, col);
}

static int64_t big_endian(const uint8_t *p, int n)
{
    uint64_t v = n && (p[0] & 0x80) ? UINT64_MAX : 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return (int64_t)v;
}

/* Digits in base 10000 after a header of four 16-bit words: their number, the weight of the first,
 * sign, scale. */
static double numeric(const uint8_t *p, int len)
{
    double v = 0;
    if (len < NUMERIC_HEAD)
        return 0;
    int n = (int)big_endian(p, 2), weight = (int)big_endian(p + 2, 2);
    bool negative = big_endian(p + 4, 2) == NUMERIC_NEGATIVE;
    for (int i = 0; i < n && NUMERIC_HEAD + 2 * i + 2 <= len; i++)
        v += (double)big_endian(p + NUMERIC_HEAD + 2 * i, 2) * pow(NUMERIC_BASE, weight - i);
    return negative ? -v : v;
}

/* The integer part; what does not fit into 64 bits becomes the nearest value that does. */
static int64_t numeric_int(const uint8_t *p, int len)
{
    if (len < NUMERIC_HEAD)
        return 0;
    int n = (int)big_endian(p, 2), weight = (int)big_endian(p + 2, 2);
    bool negative = big_endian(p + 4, 2) == NUMERIC_NEGATIVE;
    int64_t v = 0;
    for (int i = 0; i <= weight; i++) {
        bool has = i < n && NUMERIC_HEAD + 2 * i + 2 <= len;
        int64_t digit = has ? big_endian(p + NUMERIC_HEAD + 2 * i, 2) : 0;
        if (__builtin_mul_overflow(v, (int64_t)NUMERIC_BASE, &v) ||
            __builtin_add_overflow(v, digit, &v))
            return negative ? INT64_MIN : INT64_MAX;
    }
    return negative ? -v : v;
}

int64_t value_int(const PGresult *r, int row, int col)
{
    if (is_null(r, row, col))
        return 0;
    const uint8_t *p = (const uint8_t *)PQgetvalue(r, row, col);
    int len = PQgetlength(r, row, col);
    switch (PQftype(r, col)) {
    case T_BOOL:
        return len == 1 && p[0];
    case T_INT2:
    case T_INT4:
    case PG_INT8:
        return big_endian(p, len);
    case T_FLOAT8:
        return (int64_t)value_real(r, row, col);
    case T_NUMERIC:
        return numeric_int(p, len);
    default:
        return 0;
    }
}

double value_real(const PGresult *r, int row, int col)
{
    if (is_null(r, row, col))
        return 0;
    const uint8_t *p = (const uint8_t *)PQgetvalue(r, row, col);
    int len = PQgetlength(r, row, col);
    if (PQftype(r, col) == T_NUMERIC)
        return numeric(p, len);
    if (PQftype(r, col) != T_FLOAT8)
        return (double)value_int(r, row, col);
    int64_t bits = big_endian(p, len);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

const void *value_bytes(const PGresult *r, int row, int col, size_t *len)
{
    *len = 0;
    if (is_null(r, row, col))
        return NULL;
    *len = (size_t)PQgetlength(r, row, col);
    return PQgetvalue(r, row, col);
}
