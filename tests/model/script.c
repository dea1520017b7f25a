/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c: makes scripts from a seed, prints and parses them.
 */
#include "script.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    int32_t below, tame;
    unsigned zeros; /* percent */
} operands[] = {
#define X(name, text, below, tame, zeros, what) {text, below, tame, zeros},
    SCRIPT_OPERANDS(X)
#undef X
};

#define X(name, a, b, c, d, e, ...) static const int operands_##name[] = {__VA_ARGS__, -1};
SCRIPT_OPS(X)
#undef X

static const struct {
    const char *name;
    unsigned weight[PROFILES];
    const int *operands;
} kinds[] = {
#define X(name, a, b, c, d, e, ...) {#name, {a, b, c, d, e}, operands_##name},
    SCRIPT_OPS(X)
#undef X
};

const char *profile_name(profile p)
{
    static const char *const names[] = {"mixed", "versions", "adk", "deep", "long"};
    return names[p];
}

const char *op_name(op_kind k)
{
    return kinds[k].name;
}

bool op_uses(op_kind k, operand a)
{
    if (a == A_U || a == A_H || a == A_DT || a == A_STRICT)
        return true;
    for (const int *p = kinds[k].operands; *p >= 0; p++)
        if (*p == (int)a)
            return true;
    return false;
}

/* -------------------------------------------------------------- generation */

typedef struct generator {
    uint64_t seed;
    profile p;
    bool wild;
    int32_t focus, user; /* the session and user that the last operations were about */
} generator;

static uint64_t rnd(generator *g)
{
    uint64_t z = (g->seed += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

static int32_t below(generator *g, int32_t n)
{
    return (int32_t)(rnd(g) % (uint64_t)n);
}

static bool percent(generator *g, int32_t n)
{
    return below(g, 100) < n;
}

/* Content: see content.c for the fields. Most entries are plain. */
static int32_t content_draw(generator *g)
{
    int32_t c = below(g, 64);
    if (percent(g, 45))
        c |= below(g, 8) << 6;
    c |= below(g, 4) << 9;
    if (percent(g, 25))
        c |= below(g, 4) << 11;
    if (percent(g, 25))
        c |= below(g, 4) << 13;
    if (percent(g, 25))
        c |= below(g, 4) << 15;
    for (int bit = 17; bit < 22; bit++)
        if (percent(g, 15))
            c |= 1 << bit;
    return c;
}

static int32_t slot_draw(generator *g)
{
    if (g->p == DEEP)
        return percent(g, 90) ? 0 : 1;
    int32_t n = g->p == VERSIONS ? 4 : g->p == LONG ? 2 : SLOTS;
    return percent(g, 40) ? g->focus % n : below(g, n);
}

/* A reference to an entry or a branch; the tame ones are on the path, or of the session. */
static int32_t reference_draw(generator *g, operand a)
{
    int32_t v = below(g, operands[a].below);
    if (a == A_BR || a == A_B1)
        while (!g->wild && (v % 16 == 15 || v % 16 == 0))
            v = below(g, operands[a].below);
    else
        while (!g->wild && v % 8 >= 6)
            v = below(g, operands[a].below);
    return v;
}

static int32_t user_draw(generator *g, op_kind k)
{
    if (!g->wild && (k == OP_gc || k == OP_fsck || k == OP_stat || k == OP_backup || k == OP_copy ||
                     (k == OP_member_set && percent(g, 60))))
        return 0;
    if (percent(g, 60))
        return g->user;
    g->user = percent(g, (int32_t)operands[A_U].zeros) ? 0 : below(g, operands[A_U].below);
    return g->user;
}

static int32_t operand_draw(generator *g, op_kind k, operand a)
{
    bool deep_fork = g->p == DEEP && k == OP_fork;
    switch ((int)a) {
    case A_S:
        return g->focus = slot_draw(g);
    case A_S1:
        return slot_draw(g);
    case A_TO:
        return g->p == DEEP ? g->focus : slot_draw(g);
    case A_C:
        return content_draw(g);
    case A_U:
        return user_draw(g, k);
    }
    if (a == A_UUID && deep_fork)
        return 1;
    if (deep_fork && (a == A_PRIVATE || a == A_EPH))
        return 0;
    if (k == OP_create && a == A_OWNER && g->user && !g->wild)
        return 0;
    if (a == A_LOG && g->p == ADK)
        return percent(g, 50);
    if (g->p == LONG && a == A_ID)
        return 0; /* there are not enough names */
    if (g->p == LONG && a == A_N)
        return percent(g, 90) ? 8 : below(g, 9);
    /* Rewinds mostly cut little off. */
    if (g->p == LONG && (a == A_AT || a == A_ADK) && percent(g, 80))
        return 8 * below(g, 4) + 1;
    if (percent(g, (int32_t)operands[a].zeros) || (deep_fork && percent(g, 60)))
        return 0;
    if (a == A_AT || a == A_AFTER || a == A_BEFORE || a == A_ADK || a == A_BR || a == A_B1)
        return reference_draw(g, a);
    if (a == A_LEVEL && !g->wild)
        return 1 + below(g, 4);
    return below(g, g->wild ? operands[a].below : operands[a].tame);
}

static op op_draw(generator *g, op_kind k)
{
    op o = {.kind = k};
    g->wild = percent(g, 20);
    for (int a = 0; a < A_COUNT; a++)
        if (op_uses(k, (operand)a))
            o.a[a] = operand_draw(g, k, (operand)a);
    if (k == OP_append && (o.a[A_RE] == 1 || o.a[A_RE] == 2) && percent(g, 40)) {
        o.a[A_N] = 0; /* a retry, as it was sent */
        o.a[A_XH] = 3;
    }
    return o;
}

static op_kind kind_draw(generator *g, op_kind from, op_kind to)
{
    unsigned sum = 0;
    for (int k = (int)from; k < (int)to; k++)
        sum += kinds[k].weight[g->p];
    unsigned at = (unsigned)below(g, (int32_t)sum);
    for (int k = (int)from;; k++) {
        if (at < kinds[k].weight[g->p])
            return (op_kind)k;
        at -= kinds[k].weight[g->p];
    }
}

op *script_make(uint64_t seed, profile p, size_t n, size_t *count)
{
    generator g = {.seed = seed ^ ((uint64_t)p << 56), .p = p};
    size_t every = p == DEEP || p == LONG ? 1500 : 400, cap = n * 4 + n / 100 + 16;
    op *ops = malloc(cap * sizeof *ops);
    if (!ops)
        abort();
    *count = 0;
    for (size_t i = 0; i < n; i++) {
        op o = op_draw(&g, kind_draw(&g, OP_create, OP_check));
        ops[(*count)++] = o;
        if (o.kind == OP_undo && percent(&g, 40)) { /* chains of them */
            o.kind = percent(&g, 30) ? OP_undo : OP_redo;
            ops[(*count)++] = o;
        }
        for (int k = 0; o.kind < OP_get && k < 2; k++) {
            ops[*count] = op_draw(&g, kind_draw(&g, OP_get, OP_fsck));
            if (percent(&g, 70))
                ops[*count].a[A_S] = o.a[A_S];
            if (percent(&g, 60))
                ops[*count].a[A_U] = 0;
            ++*count;
        }
        if ((i + 1) % every == 0)
            ops[(*count)++] = (op){.kind = OP_check};
    }
    ops[(*count)++] = (op){.kind = OP_check};
    return ops;
}

/* ------------------------------------------------------------------- text */

void op_print(FILE *f, const op *o)
{
    fprintf(f, "%s", kinds[o->kind].name);
    for (int a = 0; a < A_COUNT; a++)
        if (o->a[a])
            fprintf(f, " %s=%d", operands[a].name, (int)o->a[a]);
    fputc('\n', f);
}

static int operand_find(const char *name, size_t n)
{
    for (int a = 0; a < A_COUNT; a++)
        if (strlen(operands[a].name) == n && strncmp(operands[a].name, name, n) == 0)
            return a;
    return -1;
}

bool op_parse(const char *line, op *o, bool *none)
{
    memset(o, 0, sizeof *o);
    line += strspn(line, " \n");
    *none = *line == 0 || *line == '#';
    if (*none)
        return true;
    size_t n = strcspn(line, " \n");
    int k = 0;
    while (k < OP_COUNT && !(strlen(kinds[k].name) == n && strncmp(kinds[k].name, line, n) == 0))
        k++;
    if (k == OP_COUNT)
        return false;
    o->kind = (op_kind)k;
    for (line += n; *(line += strspn(line, " \n"));) {
        n = strcspn(line, "= \n");
        int a = operand_find(line, n);
        if (a < 0 || line[n] != '=')
            return false;
        char *end;
        long v = strtol(line + n + 1, &end, 10);
        if (end == line + n + 1 || v < 0 || v >= operands[a].below)
            return false;
        o->a[a] = (int32_t)v;
        line = end;
    }
    return true;
}
