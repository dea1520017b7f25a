/* SPDX-License-Identifier: Apache-2.0
 *
 * damage.c: I2. Files that were damaged behind the store's back.
 *
 * A store with a known story is closed, its file is damaged, and a child process opens it,
 * makes every read of the story again, runs fsck, searches and tries a write. It must not crash
 * or hang. Each read of a history must give what it gave before, or an error: never something
 * else, never less. What is derived from histories may differ only when fsck reports something.
 * When a read fails, fsck must report something too. When nothing at all is reported and every
 * read is as it was, the damaged bytes were not in use.
 */
#include "furnish.h"
#include "script.h"
#include "story.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The undamaged store. */
typedef struct original {
    char *dir;  /* closed, with nothing else in it */
    char *work; /* copies go here */
    char *db;   /* in work */
    bytes file;
    story *told;
    furniture extra;
} original;

/* What a child found. */
typedef struct finding {
    ramet_status open;
    int history, derived, label; /* reads that differ without an error */
    int failed;                  /* reads that gave an error */
    int internal;                /* of them: RAMET_INTERNAL */
    int damaged;                 /* of them: RAMET_DAMAGED */
    ramet_status fsck;
    int faults;
    int named;       /* a fault names the entry that was looked for */
    int weight;      /* how bad this is: */
    char first[600]; /* the worst of all, in words */
} finding;

typedef struct task {
    const original *o;
    const char *entry; /* the damaged entry's id, or NULL */
    finding *f;        /* shared with the child */
} task;

/* ---- the child */

static void finding_compare(finding *f, const story *was, const story *is)
{
    for (size_t i = 0; i < was->n && i < is->n; i++) {
        const story_item *a = &was->items[i], *b = &is->items[i];
        if (a->status == b->status && !strcmp(a->text, b->text))
            continue;
        bool damaged = b->status == RAMET_DAMAGED || b->status == RAMET_INTERNAL;
        if (a->tier == STORY_SEALED || (a->tier == STORY_LABEL && b->status && !damaged)) {
            f->label++; /* such as a link that has expired now */
        } else if (b->status) {
            f->failed++;
            f->damaged += b->status == RAMET_DAMAGED;
        } else {
            int *count = a->tier == STORY_HISTORY   ? &f->history
                         : a->tier == STORY_DERIVED ? &f->derived
                                                    : &f->label;
            ++*count;
        }
        f->internal += b->status == RAMET_INTERNAL;
        int weight = b->status == RAMET_INTERNAL ? 4 : b->status ? 1 : STORY_SEALED - (int)a->tier;
        if (weight > f->weight)
            snprintf(f->first, sizeof f->first, "\"%s\" %s", a->key,
                     b->status ? b->text : text_parting(a->text, b->text));
        f->weight = weight > f->weight ? weight : f->weight;
    }
}

static void finding_fsck(finding *f, ramet_call *c, const char *entry)
{
    ramet_fsck_out out;
    f->fsck = ramet_fsck(c, NULL, NULL, &out);
    if (f->fsck)
        return;
    f->faults = (int)out.n_all;
    for (size_t i = 0; i < out.n; i++)
        if (entry && out.faults[i].entry_id && !strcmp(out.faults[i].entry_id, entry))
            f->named = 1;
    if (!f->first[0] && out.n)
        snprintf(f->first, sizeof f->first, "fsck: %s", out.faults[0].what);
}

static int damage_child(void *arg, FILE *say)
{
    task *t = arg;
    finding *f = t->f;
    ramet *r;
    ramet_error err;
    ramet_hits hits;
    ramet_append_out out;
    (void)say;
    f->open = ramet_open(t->o->db, &(ramet_options){.must_exist = true}, &r, &err);
    if (f->open) {
        snprintf(f->first, sizeof f->first, "open: %s", err.message);
        return 0;
    }
    story *is = story_take(r, t->o->told, true);
    furniture_tell(r, &t->o->extra, is);
    finding_compare(f, t->o->told, is);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    finding_fsck(f, c, t->entry);
    ramet_search(c, &(ramet_search_in){.query = "river*"}, &hits);
    ramet_entry_in e = {.role = RAMET_USER, .text = "after the damage"};
    for (size_t i = 0; i < is->n_asks; i++)
        ramet_append(c, is->asks[i].session, &(ramet_append_in){.entries = &e, .n = 1}, &out);
    furniture_use(r, &t->o->extra);
    ramet_call_free(c);
    ramet_close(r);
    story_free(is);
    return 0;
}

/* ---- the parent */

/* Runs the child on what lies in o->work. The finding lies in shared memory. */
static finding damage_look(const original *o, const char *entry, const char *what)
{
    finding *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    task t = {o, entry, shared};
    child_end end = child_run(damage_child, &t, 60);
    finding f = *shared;
    munmap(shared, sizeof *shared);
    free(end.said);
    if (end.signal || end.late || end.code)
        wrong("%s: the child %s (signal %d, code %d)", what, end.late ? "hung" : "died", end.signal,
              end.code);
    return f;
}

/* How many of a series ended how. */
typedef struct tally {
    int refused, read, fsck, label, harmless;
} tally;

/* `plain`: what was damaged is a fact of its own (a name, an owner, a date), which nothing else in
 * the store tells, and reads may follow it. A read that calls the store damaged must have fsck on
 * its side all the same. */
static void damage_judge(const finding *f, bool plain, const char *what, tally *t)
{
    if (f->open == RAMET_INTERNAL || f->internal)
        wrong("%s: an internal error: %s", what, f->first);
    if (f->history)
        wrong("%s: %d reads of histories differ without an error: %s", what, f->history, f->first);
    bool reported = f->fsck || f->faults;
    if (f->derived && !reported && !plain)
        wrong("%s: %d derived reads differ and fsck finds nothing: %s", what, f->derived, f->first);
    if (((f->failed && !plain) || f->damaged) && !reported)
        wrong("%s: %d reads failed and fsck finds nothing: %s", what, f->failed, f->first);
    if (f->open)
        t->refused++;
    else if (f->failed)
        t->read++;
    else if (reported)
        t->fsck++;
    else if (f->label)
        t->label++;
    else
        t->harmless++;
    if (opt.verbose)
        tap_note("%s: %s", what, f->first[0] ? f->first : "harmless");
}

static void tally_note(const tally *t)
{
    tap_note("%d refused at open, %d reported by reads, %d by fsck alone, %d changed labels only, "
             "%d harmless",
             t->refused, t->read, t->fsck, t->label, t->harmless);
}

/* A fresh copy of the whole folder, with the store's file as given. */
static void work_put(const original *o, const uint8_t *p, size_t n)
{
    tmp_remove(must(strdup(o->work)));
    dir_copy(o->dir, o->work);
    image_write(o->db, p, n);
}

/* Rows of tables that a store in a file has and never writes itself: those that a probe after a
 * full disk leaves, and content of attachments, which lies in the tables of a database only. */
static void rows_add(const char *db)
{
    sqlite3 *h = NULL;
    if (sqlite3_open(db, &h) ||
        sqlite3_exec(h,
                     "INSERT INTO meta(key,value) VALUES('probe','1');"
                     "INSERT INTO attach_part(sha,n,bytes) VALUES(zeroblob(32),0,x'00')",
                     NULL, NULL, NULL))
        abort();
    sqlite3_close(h);
}

static void original_make(original *o)
{
    script s = {.seed = 23, .steps = 120};
    ramet_options opts = script_options(&s, NULL);
    char *base = tmp_new("damage");

    o->dir = text_new("%s/store", base);
    o->work = text_new("%s/work", base);
    o->db = text_new("%s/s.db", o->work);
    mkdir(o->dir, 0755);
    char *db = text_new("%s/s.db", o->dir);
    ramet *r = open_store(db, &opts);
    script_play(&s, r);
    furnish(r, &o->extra);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    ramet_search_update(c, false, NULL);
    ramet_call_free(c);
    o->told = story_take(r, NULL, true);
    furniture_tell(r, &o->extra, o->told);
    check_store(r, "undamaged");
    ramet_close(r);
    rows_add(db);
    o->file = image_read(db);
    free(db);
    free(base);
    /* The same reads again, from the closed file: they must be the same. */
    tally t = {0};
    work_put(o, o->file.p, o->file.n);
    finding f = damage_look(o, NULL, "undamaged");
    damage_judge(&f, false, "undamaged", &t);
    if (t.harmless != 1)
        wrong("the undamaged store does not tell its story: %s", f.first);
    tap_verdict("damage: an undamaged store tells its story (%zu reads)", o->told->n);
}

static void original_free(original *o)
{
    *strrchr(o->dir, '/') = 0;
    tmp_remove(o->dir);
    free(o->work);
    free(o->db);
    free(o->file.p);
    furniture_free(&o->extra);
    story_free(o->told);
}

/* One byte is changed, at hundreds of random places. */
static void test_flips(const original *o, rng *r)
{
    int n = opt.every ? 5000 : 300 / SPARSE;
    tally t = {0};
    bytes b = {mem_new(o->file.n), o->file.n};
    for (int i = 0; i < n; i++) {
        char what[64];
        size_t at = (size_t)(rng_next(r) % b.n);
        uint8_t change = (uint8_t)(1 + rng_below(r, 255));
        snprintf(what, sizeof what, "byte %zu ^ %02x", at, change);
        memcpy(b.p, o->file.p, b.n);
        b.p[at] ^= change;
        work_put(o, b.p, b.n);
        finding f = damage_look(o, NULL, what);
        damage_judge(&f, false, what, &t);
    }
    free(b.p);
    tap_verdict("damage: %d flipped bytes: reported or not in use, never another history", n);
    tally_note(&t);
}

/* A page is overwritten with zeros, with noise, or with another page of the same file. */
static void test_pages(const original *o, rng *r)
{
    enum { PAGE = 4096 };
    int pages = (int)(o->file.n / PAGE), n = opt.every ? pages * 3 : 60 / SPARSE;
    tally t = {0};
    bytes b = {mem_new(o->file.n), o->file.n};
    for (int i = 0; i < n; i++) {
        char what[64];
        int page = rng_below(r, pages), kind = i % 3, other = rng_below(r, pages);
        uint8_t *p = b.p + (size_t)page * PAGE;
        memcpy(b.p, o->file.p, b.n);
        if (kind == 0)
            memset(p, 0, PAGE);
        else if (kind == 1)
            memcpy(p, o->file.p + (size_t)other * PAGE, PAGE);
        for (int k = 0; kind == 2 && k < PAGE; k++)
            p[k] = (uint8_t)rng_next(r);
        snprintf(what, sizeof what, "page %d, %s", page,
                 kind == 0   ? "zeros"
                 : kind == 1 ? "another page"
                             : "noise");
        work_put(o, b.p, b.n);
        finding f = damage_look(o, NULL, what);
        damage_judge(&f, false, what, &t);
    }
    free(b.p);
    tap_verdict("damage: %d overwritten pages: reported or not in use, never another history", n);
    tally_note(&t);
}

/* ---- values */

enum { COLUMNS_MAX = 2000, WAYS = 5 };

/* A column, or a whole row, of a table. */
typedef struct column {
    char table[40], name[40], keys[200];
} column;

/* Every column of every table; and once a table without a name: its rows. */
static size_t columns_find(sqlite3 *h, column *out, size_t max)
{
    sqlite3_stmt *s;
    size_t n = 0;
    if (sqlite3_prepare_v2(h,
                           "SELECT m.name, c.name, (SELECT group_concat(k.name) FROM "
                           "pragma_table_info(m.name) k WHERE k.pk) FROM sqlite_master m, "
                           "pragma_table_info(m.name) c WHERE m.type='table' UNION ALL "
                           "SELECT m.name, '', (SELECT group_concat(k.name) FROM "
                           "pragma_table_info(m.name) k WHERE k.pk) FROM sqlite_master m "
                           "WHERE m.type='table'",
                           -1, &s, NULL))
        abort();
    while (n < max && sqlite3_step(s) == SQLITE_ROW) {
        column *c = &out[n];
        const char *keys = (const char *)sqlite3_column_text(s, 2);
        snprintf(c->table, sizeof c->table, "%s", (const char *)sqlite3_column_text(s, 0));
        snprintf(c->name, sizeof c->name, "%s", (const char *)sqlite3_column_text(s, 1));
        snprintf(c->keys, sizeof c->keys, "%s", keys ? keys : "rowid");
        n++;
    }
    sqlite3_finalize(s);
    return n;
}

static int64_t rows_in(sqlite3 *h, const char *table)
{
    sqlite3_stmt *s;
    int64_t rows = 0;
    char *sql = text_new("SELECT count(*) FROM %s", table);
    if (!sqlite3_prepare_v2(h, sql, -1, &s, NULL) && sqlite3_step(s) == SQLITE_ROW)
        rows = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    free(sql);
    return rows;
}

/* Changes the column in some row, in one of several ways; false when there is no such row or a
 * constraint forbids it. */
static bool value_change(sqlite3 *h, const column *c, rng *r)
{
    static const char *const ways[] = {
        "CASE typeof(%1$s) WHEN 'integer' THEN %1$s+1 WHEN 'text' THEN %1$s||'x' WHEN 'blob' THEN "
        "zeroblob(length(%1$s)) ELSE 1 END",
        "CASE typeof(%1$s) WHEN 'integer' THEN %1$s-1 WHEN 'text' THEN substr(%1$s,2) WHEN 'blob' "
        "THEN substr(%1$s,2) ELSE 'x' END",
        "CASE typeof(%1$s) WHEN 'integer' THEN 0 WHEN 'text' THEN '' ELSE x'00' END",
        "CASE typeof(%1$s) WHEN 'integer' THEN 9223372036854775807 WHEN 'text' THEN '{' ELSE "
        "zeroblob(100) END",
        "CASE typeof(%1$s) WHEN 'integer' THEN -4294967295 WHEN 'text' THEN x'ff00fe' ELSE 'x' "
        "END"};
    char *sql;
    int64_t rows = rows_in(h, c->table);
    if (!rows)
        return false;
    char *where = text_new("(%s)=(SELECT %s FROM %s LIMIT 1 OFFSET %d)", c->keys, c->keys, c->table,
                           rng_below(r, (int)rows));
    if (c->name[0]) {
        char value[400];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(value, sizeof value, ways[rng_below(r, WAYS)], c->name);
#pragma GCC diagnostic pop
        sql = text_new("UPDATE %s SET %s=%s WHERE %s", c->table, c->name, value, where);
    } else {
        sql = text_new("DELETE FROM %s WHERE %s", c->table, where);
    }
    bool changed = !sqlite3_exec(h, sql, NULL, NULL, NULL) && sqlite3_changes(h) > 0;
    free(where);
    free(sql);
    return changed;
}

static bool column_plain(const column *c)
{
    static const char *const facts[] = {"session.id",        "session.title",
                                        "session.owner",     "session.visibility",
                                        "session.agent",     "session.agent_config",
                                        "session.metadata",  "session.type",
                                        "session.reason",    "session.by_kind",
                                        "session.by_id",     "session.fork_entry",
                                        "session.fork_side", "session.merged_into",
                                        "session.archived",  "session.expires",
                                        "session.created",   "session.updated",
                                        "session.deleted",   "session.delete_op",
                                        "session.purging",   "session.title_key",
                                        "branch.type",       "branch.touched",
                                        "move.at",           "move.who",
                                        "move.why",          "move.kind",
                                        "tree.id",           "tree.created",
                                        "meta.key",          "meta.value",
                                        "erased.at",         "erased.who",
                                        "erased.why"};
    static const char *const tables[] = {
        "member",      "tag",        "verdict", "event",    "meta",        "share",  "token",
        "feedback",    "attachment", "errand",  "transfer", "visit",       "remark", "sandbox",
        "origin",      "indexed",    "task",    "turn",     "attach_part", "once",   "copied",
        "branch_note", "held",       "rule",    "removed",  "push"};
    char name[96];
    snprintf(name, sizeof name, "%s.%s", c->table, c->name);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (!strcmp(name, facts[i]))
            return true;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (!strcmp(c->table, tables[i]))
            return true;
    return false;
}

/* The file is sound, but a value in it is another one: every column of every table is changed in
 * turn, and rows are taken away. */
static void test_values(const original *o, rng *r)
{
    static column columns[COLUMNS_MAX];
    tally t = {0};
    int done = 0, rounds = opt.every ? 20 : 1;
    sqlite3 *h = NULL;
    work_put(o, o->file.p, o->file.n);
    if (sqlite3_open(o->db, &h))
        abort();
    size_t n = columns_find(h, columns, COLUMNS_MAX);
    if (n == COLUMNS_MAX)
        wrong("there are more columns than the test has room for");
    for (size_t i = 0; i < n; i++)
        if (!columns[i].name[0] && !rows_in(h, columns[i].table))
            wrong("table %s is empty: nothing in it can be damaged", columns[i].table);
    sqlite3_close(h);
    for (size_t i = 0; i < n * (size_t)rounds; i++) {
        const column *c = &columns[i % n];
        char what[128];
        work_put(o, o->file.p, o->file.n);
        if (sqlite3_open(o->db, &h))
            abort();
        bool changed = value_change(h, c, r);
        sqlite3_close(h);
        if (!changed)
            continue;
        snprintf(what, sizeof what, "%s%s%s changed", c->table, c->name[0] ? "." : ": a row",
                 c->name);
        finding f = damage_look(o, NULL, what);
        damage_judge(&f, column_plain(c), what, &t);
        done++;
    }
    tap_verdict("damage: %d changed values and missing rows: reported, or no history", done);
    tally_note(&t);
}

/* The file ends too early: at page borders, near them, and anywhere. A store that lost its
 * end must never look like a smaller store. */
static void test_truncations(const original *o, rng *r)
{
    tally t = {0};
    int n = 60;
    for (int i = 0; i < n; i++) {
        static const size_t special[] = {1, 15, 16, 99, 100, 512, 4095, 4096, 4097, 8192};
        char what[64];
        size_t len = i < 10 ? special[i] : (size_t)(rng_next(r) % o->file.n);
        if (i % 2)
            len -= i < 10 ? 0 : len % 4096;
        snprintf(what, sizeof what, "cut to %zu of %zu bytes", len, o->file.n);
        work_put(o, o->file.p, len);
        finding f = damage_look(o, NULL, what);
        damage_judge(&f, false, what, &t);
        if (!f.open && !f.failed && !f.faults)
            wrong("%s: nothing was reported", what);
    }
    tap_verdict("damage: %d truncations: each reported", n);
    tally_note(&t);
}

/* ---- an entry's own bytes */

typedef struct target {
    char *id, *text;
} target;

/* Short texts that stand in the file as they are. */
static size_t targets_find(const original *o, target *out, size_t max)
{
    char *db = text_new("%s/s.db", o->dir);
    ramet *r = open_store(db, NULL);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    size_t n = 0;
    for (size_t i = 0; i < o->told->n_asks && n < max; i++) {
        ramet_page p;
        int64_t total;
        if (ramet_record(c, o->told->asks[i].session, RAMET_LOG_MAIN, 0, 100, &p, &total))
            continue;
        for (size_t k = 0; k < p.n && n < max; k++)
            if (strlen(p.entries[k].text) > 20 && strlen(p.entries[k].text) < 400)
                out[n++] = (target){must(strdup(p.entries[k].id)), must(strdup(p.entries[k].text))};
    }
    ramet_call_free(c);
    ramet_close(r);
    free(db);
    return n;
}

/* The text of a known entry is found in the file and one byte of it is changed: fsck must
 * name that entry. (Where the text stands a second time in space that is not in use, nothing
 * is reported and every read is as it was.) */
static void test_aimed(const original *o, rng *r)
{
    target targets[40];
    size_t n = targets_find(o, targets, 40);
    int named = 0, looked = 0;
    tally t = {0};
    bytes b = {mem_new(o->file.n), o->file.n};
    for (size_t i = 0; i < n; i++) {
        const target *g = &targets[i];
        size_t len = strlen(g->text);
        const uint8_t *from = o->file.p, *end = o->file.p + o->file.n, *hit;
        for (; (hit = memmem(from, (size_t)(end - from), g->text, len)); from = hit + len) {
            char what[128];
            size_t at = (size_t)(hit - o->file.p) + (size_t)rng_below(r, (int)len);
            memcpy(b.p, o->file.p, b.n);
            b.p[at] = b.p[at] == 'x' ? 'y' : 'x';
            snprintf(what, sizeof what, "text of entry %s, byte %zu", g->id, at);
            work_put(o, b.p, b.n);
            finding f = damage_look(o, g->id, what);
            damage_judge(&f, false, what, &t);
            looked++;
            named += f.named;
            if (!f.named && (f.faults || f.failed))
                wrong("%s: fsck does not name it: %s", what, f.first);
        }
        free(g->id);
        free(g->text);
    }
    free(b.p);
    if (looked < 20 || named * 10 < looked * 8)
        wrong("only %d of %d damaged texts were named", named, looked);
    tap_verdict("damage: %d entries with a changed letter: fsck names each", looked);
    tally_note(&t);
}

/* ---- the search index and the write-ahead log */

/* Every other file in the folder is damaged: histories are as they were, a search gives hits or
 * an error, and the index can be made anew. */
static int index_child(void *arg, FILE *say)
{
    const original *o = arg;
    ramet *r;
    ramet_hits hits;
    if (ramet_open(o->db, NULL, &r, NULL))
        return 2;
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    ramet_status st = ramet_search(c, &(ramet_search_in){.query = "river*"}, &hits);
    if (st)
        st = ramet_search_update(c, true, NULL);
    if (!st)
        st = ramet_search(c, &(ramet_search_in){.query = "river*"}, &hits);
    if (st)
        fprintf(say, "%s: %s", ramet_status_code(st), ramet_call_error(c)->message);
    ramet_call_free(c);
    ramet_close(r);
    return st ? 3 : 0;
}

static char *index_find(const original *o)
{
    static const char *const ends[] = {"search", "-search", ".search", "fts", "-fts", ".fts"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char *path = text_new("%s/s.db%s", o->work, ends[i]);
        if (file_exists(path))
            return path;
        free(path);
    }
    return NULL;
}

static void test_index(const original *o, rng *r)
{
    tally t = {0};
    work_put(o, o->file.p, o->file.n);
    char *path = index_find(o);
    if (!path) {
        tap_skip("the search index is no file of its own", "damage: the search index");
        return;
    }
    bytes was = image_read(path);
    int n = 60 / SPARSE;
    for (int i = 0; i < n; i++) {
        char what[64];
        size_t at = (size_t)(rng_next(r) % was.n), len = i % 6 ? was.n : at;
        snprintf(what, sizeof what, "search index, %s %zu", len == was.n ? "byte" : "cut at", at);
        work_put(o, o->file.p, o->file.n);
        was.p[at] ^= 0x5a;
        image_write(path, was.p, len);
        was.p[at] ^= 0x5a;
        finding f = damage_look(o, NULL, what);
        damage_judge(&f, false, what, &t);
        if (f.open || f.failed)
            wrong("%s: it hurt the store: %s", what, f.first);
        work_put(o, o->file.p, o->file.n);
        was.p[at] ^= 0x5a;
        image_write(path, was.p, len);
        was.p[at] ^= 0x5a;
        child_end end = child_run(index_child, (void *)(uintptr_t)o, 60);
        if (end.code)
            wrong("%s: it cannot be made anew (code %d, signal %d): %s", what, end.code, end.signal,
                  end.said);
        free(end.said);
    }
    tap_verdict("damage: %d damaged search indexes: histories untouched, the index comes back", n);
    tally_note(&t);
    free(was.p);
    free(path);
}

/* Noise lies where the write-ahead log would be. The store was closed, so nothing is in it that
 * counts: every read is as it was. */
static void test_garbage_wal(const original *o, rng *r)
{
    static const size_t sizes[] = {1, 31, 32, 4096, 4120, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char what[64], *wal = text_new("%s-wal", o->db);
        uint8_t *noise = mem_new(sizes[i]);
        for (size_t k = 0; k < sizes[i]; k++)
            noise[k] = (uint8_t)rng_next(r);
        work_put(o, o->file.p, o->file.n);
        image_write(wal, noise, sizes[i]);
        snprintf(what, sizeof what, "a write-ahead log of %zu bytes of noise", sizes[i]);
        finding f = damage_look(o, NULL, what);
        if (f.open || f.failed || f.history || f.derived || f.label || f.faults)
            wrong("%s: %s", what, f.first);
        free(noise);
        free(wal);
    }
    tap_verdict("damage: noise instead of a write-ahead log is ignored");
}

/* ---- files that are no store */

static int refusal_child(void *arg, FILE *say)
{
    const char *path = arg;
    ramet *r;
    ramet_error err;
    if (geteuid() == 0 && strstr(path, "unreadable") && seteuid(65534))
        return 9;
    ramet_status st = ramet_open(path, &(ramet_options){.must_exist = true}, &r, &err);
    if (!st) {
        ramet_session_list list;
        ramet_call *c = ramet_call_new(r, NULL, NULL);
        st = ramet_session_find(c, &(ramet_list_in){0}, &list);
        ramet_call_free(c);
        ramet_close(r);
    }
    fprintf(say, "%s", ramet_status_code(st));
    return 0;
}

/* Opening `path` (or the first read) must be refused with one of two statuses, and leave its bytes
 * alone. */
static void expect_refusal(const char *path, const char *what, ramet_status want, ramet_status or)
{
    bytes before = image_read(path);
    child_end end = child_run(refusal_child, (void *)(uintptr_t)path, 30);
    bytes after = image_read(path);
    const char *a = ramet_status_code(want), *b = ramet_status_code(or);
    if (end.code || (strncmp(end.said, a, strlen(a)) && strncmp(end.said, b, strlen(b))))
        wrong("%s: wanted %s, got: %s (code %d, signal %d)", what, a, end.said, end.code,
              end.signal);
    if (before.n != after.n || (before.n && memcmp(before.p, after.p, before.n)))
        wrong("%s: the file was changed", what);
    tap_verdict("damage: %s is refused with %s, and left as it is", what, a);
    free(before.p);
    free(after.p);
    free(end.said);
}

static void foreign_make(const char *path, const char *sql)
{
    sqlite3 *h = NULL;
    unlink(path);
    if (sqlite3_open(path, &h) || sqlite3_exec(h, sql, NULL, NULL, NULL))
        abort();
    sqlite3_close(h);
}

static void test_refusals(const original *o)
{
    char *path = o->db;
    work_put(o, o->file.p, o->file.n);
    bytes b = image_read(path);
    memcpy(b.p, "Wrong magic here", 16);
    image_write(path, b.p, b.n);
    expect_refusal(path, "a file with the wrong magic", RAMET_NOT_A_STORE, RAMET_DAMAGED);
    image_write(path, "", 0);
    expect_refusal(path, "an empty file", RAMET_NOT_A_STORE, RAMET_DAMAGED);
    image_write(path, "Dear diary,\n", 12);
    expect_refusal(path, "a text file", RAMET_NOT_A_STORE, RAMET_NOT_A_STORE);
    memset(b.p, 0, b.n);
    image_write(path, b.p, b.n);
    expect_refusal(path, "a file of zeros", RAMET_NOT_A_STORE, RAMET_DAMAGED);
    free(b.p);
    foreign_make(path, "CREATE TABLE cake(recipe TEXT); INSERT INTO cake VALUES('eggs')");
    expect_refusal(path, "another program's database", RAMET_NOT_A_STORE, RAMET_NOT_A_STORE);
    work_put(o, o->file.p, o->file.n);
    foreign_make(path,
                 "PRAGMA journal_mode=WAL; PRAGMA application_id=1380011348; PRAGMA user_version=1;"
                 "CREATE TABLE t(a)");
    expect_refusal(path, "a store without its tables", RAMET_DAMAGED, RAMET_NOT_A_STORE);
    work_put(o, o->file.p, o->file.n);
    sqlite3 *h = NULL;
    if (sqlite3_open(path, &h) || sqlite3_exec(h, "PRAGMA user_version=9999", NULL, NULL, NULL))
        abort();
    sqlite3_close(h);
    expect_refusal(path, "a store of a newer version", RAMET_NEWER, RAMET_NEWER);
    expect_refusal(o->work, "a folder", RAMET_NOT_A_STORE, RAMET_CANNOT_OPEN);
    char *secret = text_new("%s/unreadable.db", o->work);
    image_write(secret, o->file.p, o->file.n);
    chmod(secret, 0);
    chmod(o->work, 0755);
    expect_refusal(secret, "an unreadable file", RAMET_CANNOT_OPEN, RAMET_CANNOT_OPEN);
    free(secret);
}

void test_damage(void)
{
    original o;
    rng r = {mix(opt.seed, 3)};
    original_make(&o);
    test_flips(&o, &r);
    test_pages(&o, &r);
    test_values(&o, &r);
    test_truncations(&o, &r);
    test_aimed(&o, &r);
    test_index(&o, &r);
    test_garbage_wal(&o, &r);
    test_wal(&r);
    test_refusals(&o);
    original_free(&o);
}
