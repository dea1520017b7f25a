/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a file has a tree, session, turn, task or template twice, or one attachment with two
 * contents, found in the first pass of an import. The second pass would meet it only after the
 * first of the two was written.
 *
 * Memory must not grow with them: as for entries (import_ids.c), a filter picks out ids that may
 * have come before, and only if there are any the file is read once more.
 */
#include "core/export/import.h"

#include "core/call.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BYTES_PER_ID 256 /* of a file, at least: sizes the filter */

typedef struct held {
    const char *name; /* type and id */
    uint8_t content[HASH_LEN];
    int64_t line;
} held;
typedef VEC(held) held_list;

void import_unique_begin(import_job *j)
{
    struct stat about;
    bool known = fstat(j->in.fd, &about) == 0;
    import_ids_begin(&j->unique, j->all, known ? (int64_t)about.st_size / BYTES_PER_ID : 0);
}

/* "session s1"; NULL: its records have no id of the file. */
static const char *name_of(record *r)
{
    if (r->kind != RECORD_TREE && r->kind != RECORD_SESSION && r->kind != RECORD_TURN &&
        r->kind != RECORD_TASK && r->kind != RECORD_TEMPLATE && r->kind != RECORD_ATTACHMENT)
        return NULL;
    const char *id = json_text(r->arena, &r->doc, json_get(&r->doc, r->doc.nodes, "id"));
    return id ? arena_printf(r->arena, "%s %s", record_defs[r->kind].type, id) : NULL;
}

void import_unique_add(import_job *j, record *r)
{
    const char *name = name_of(r);
    if (name)
        import_ids_add(&j->unique, name);
}

static int by_name(const void *a, const void *b)
{
    const held *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Entries of several trees may refer to one attachment. */
static ramet_status held_check(import_job *j, held_list *list)
{
    static const char attachment[] = "attachment ";
    if (list->n)
        qsort(list->items, list->n, sizeof *list->items, by_name);
    for (size_t i = 1; i < list->n; i++) {
        const held *one = &list->items[i - 1], *other = &list->items[i];
        if (strcmp(one->name, other->name) != 0)
            continue;
        if (strncmp(one->name, attachment, sizeof attachment - 1) != 0)
            return import_damaged(j, other->line, "%s is in the file twice, first in line %lld",
                                  other->name, (long long)one->line);
        if (memcmp(one->content, other->content, HASH_LEN) != 0)
            return import_damaged(j, other->line, "%s has another content than in line %lld",
                                  other->name, (long long)one->line);
    }
    return RAMET_OK;
}

/* Most lines have no id of the file; these are told without parsing them. */
static bool line_has_no_id(const char *text, size_t n)
{
    static const char *const starts[] = {"{\"type\":\"entry\"", "{\"type\":\"content\""};
    for (size_t i = 0; i < 2; i++)
        if (n > strlen(starts[i]) && memcmp(text, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static ramet_status records_hold(import_job *j, import_reader *in, arena *line, arena *kept,
                                 uint64_t part, uint64_t n_parts)
{
    held_list list = {0};
    for (;;) {
        record r;
        held one = {.line = in->line};
        size_t n;
        ramet_status st;
        arena_reset(line);
        const char *text = reader_next(j, in, &n, &st);
        TRY(st);
        if (!text)
            return held_check(j, &list);
        if (line_has_no_id(text, n) || !record_parse(&r, line, text, n, SIZE_MAX))
            continue; /* the first pass has read it */
        one.name = name_of(&r);
        if (!one.name || !import_ids_suspects(&j->unique, one.name, part, n_parts))
            continue;
        if (r.kind == RECORD_ATTACHMENT)
            record_hash(&r, "sha256", one.content);
        one.name = arena_strdup(kept, one.name);
        VEC_PUSH(kept, &list, one);
    }
}

ramet_status import_unique_check(import_job *j)
{
    uint64_t n_parts = import_ids_parts(&j->unique);
    ramet_status st = RAMET_OK;
    for (uint64_t part = 0; j->unique.n_again && st == RAMET_OK && part < n_parts; part++) {
        import_reader in;
        if (!import_tick(j, "check", 0))
            return import_stopped(j);
        arena *line = arena_new(), *kept = arena_new();
        reader_init(&in, j->in.fd, j->in.most);
        st = records_hold(j, &in, line, kept, part, n_parts);
        reader_release(&in);
        arena_free(line);
        arena_free(kept);
    }
    return st;
}
