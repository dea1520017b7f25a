/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain SQLite with the settings of store/sqlite/sqlite.c: the baseline that the store is compared
 * with.
 */
#include "bench/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raw {
    sqlite3 *db;
    sqlite3_stmt *insert, *one;
    const char *path;
    bool arrival;
    int64_t next;
};

static void check(sqlite3 *h, int rc, const char *what)
{
    if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
        bench_die("plain SQLite: %s: %s", what, sqlite3_errmsg(h));
}

void raw_exec(sqlite3 *h, const char *sql)
{
    check(h, sqlite3_exec(h, sql, NULL, NULL, NULL), sql);
}

sqlite3_stmt *raw_prepare(sqlite3 *h, const char *sql)
{
    sqlite3_stmt *s;
    check(h, sqlite3_prepare_v3(h, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL), sql);
    return s;
}

raw *raw_open(const bench *b, const char *name, raw_order order)
{
    raw *r = xcalloc(1, sizeof *r);
    r->path = xstrdup(scratch_path(b, name));
    r->arrival = order == RAW_ARRIVAL;
    check(r->db, sqlite3_open(r->path, &r->db), name);
    raw_exec(r->db, "PRAGMA page_size=4096;PRAGMA journal_mode=WAL;PRAGMA synchronous=FULL;"
                    "PRAGMA mmap_size=0;PRAGMA cache_size=-8192;PRAGMA temp_store=MEMORY;"
                    "PRAGMA cell_size_check=ON;PRAGMA wal_autocheckpoint=4000;"
                    "PRAGMA journal_size_limit=67108864");
    /* The columns of the store's entry table. */
    raw_exec(r->db,
             "CREATE TABLE entry(k INTEGER PRIMARY KEY, tree BIGINT NOT NULL, id TEXT NOT NULL,"
             " hash BLOB NOT NULL, role INT NOT NULL, channel TEXT, format TEXT, turn_id TEXT,"
             " author TEXT, client TEXT, created BIGINT NOT NULL, text TEXT, parts TEXT,"
             " body TEXT, flags INT NOT NULL, peer INT NOT NULL, key_id INT NOT NULL);"
             "CREATE TABLE one(id INTEGER PRIMARY KEY, at BIGINT NOT NULL, word TEXT NOT NULL)");
    if (order == RAW_KEYED_INDEX)
        raw_exec(r->db, "CREATE INDEX entry_by_id ON entry(id,tree)");
    r->insert =
        raw_prepare(r->db, "INSERT INTO entry(k,tree,id,hash,role,client,created,text,flags,"
                           "peer,key_id) VALUES(?1,?2,?3,?4,1,'bench',?5,?6,0,0,0)");
    r->one = raw_prepare(r->db, "INSERT INTO one(at,word) VALUES(?1,'a short row')");
    return r;
}

void raw_close(raw *r)
{
    sqlite3_finalize(r->insert);
    sqlite3_finalize(r->one);
    sqlite3_close(r->db);
    file_remove(r->path);
    free((char *)r->path);
    free(r);
}

void raw_begin(raw *r)
{
    raw_exec(r->db, "BEGIN IMMEDIATE");
}

void raw_commit(raw *r)
{
    raw_exec(r->db, "COMMIT");
}

static void run(raw *r, sqlite3_stmt *s)
{
    check(r->db, sqlite3_step(s), "insert");
    sqlite3_reset(s);
}

void raw_insert(raw *r, int64_t k, const char *id, const char *text)
{
    static const char hash[32] = "the hash has thirty-two bytes, ";
    sqlite3_stmt *s = r->insert;
    sqlite3_bind_int64(s, 1, r->arrival ? ++r->next : k);
    sqlite3_bind_int64(s, 2, k >> 24);
    sqlite3_bind_text(s, 3, id, -1, SQLITE_STATIC);
    sqlite3_bind_blob(s, 4, hash, sizeof hash, SQLITE_STATIC);
    sqlite3_bind_int64(s, 5, (int64_t)1700000000000000 + k);
    sqlite3_bind_text(s, 6, text, -1, SQLITE_STATIC);
    run(r, s);
}

void raw_one(raw *r)
{
    sqlite3_bind_int64(r->one, 1, (int64_t)now_us());
    run(r, r->one);
}

void raw_copy(raw *r, int64_t n)
{
    char sql[320];
    int64_t to = ++r->next << 24;
    snprintf(sql, sizeof sql,
             "BEGIN IMMEDIATE;INSERT INTO entry SELECT k+%lld,tree,id,hash,role,channel,format,"
             "turn_id,author,client,created,text,parts,body,flags,peer,key_id FROM entry "
             "WHERE k>=1 AND k<=%lld;COMMIT",
             (long long)to, (long long)n);
    raw_exec(r->db, sql);
}

sqlite3 *raw_handle(raw *r)
{
    return r->db;
}
