/* SPDX-License-Identifier: Apache-2.0 */
#include "help.h"

#include "base/arena.h"
#include "base/buf.h"
#include "../lib/scratch_db.h"

#include <dirent.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct scratch T;

static ramet_call *calls[64];
static size_t n_calls;
static arena *memory; /* of the strings that the looks give */

static int64_t clock_read(void *arg)
{
    (void)arg;
    return T.now;
}

void tick(int64_t us)
{
    T.now += us;
}

ramet_options scratch_options(void)
{
    return (ramet_options){.clock = clock_read, .attachments = T.folder ? T.files : NULL};
}

static void store_open(const ramet_options *opt)
{
    ramet_error err = {0};
    ramet_status st = ramet_open(T.path, opt, &T.store, &err);
    cr_assert_eq(st, RAMET_OK, "the scratch store does not open: %s", err.message);
    T.call = ramet_call_new(T.store, NULL, NULL);
    calls[n_calls++] = T.call;
}

void scratch_shut(void)
{
    while (n_calls)
        ramet_call_free(calls[--n_calls]);
    ramet_close(T.store);
    T.store = NULL;
    T.call = NULL;
}

static char schema[64]; /* of the test */

/* ---- the store */

void scratch_open(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(T.dir, sizeof T.dir, "%.40s/ramet-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    cr_assert_not_null(mkdtemp(T.dir), "no scratch folder %s", T.dir);
    snprintf(T.path, sizeof T.path, "%s/store.db", T.dir);
    snprintf(T.files, sizeof T.files, "%s/store.db.files", T.dir);
    T.database = scratch_db_on();
    if (T.database) {
        snprintf(schema, sizeof schema, "t_%s", strrchr(T.dir, '-') + 1);
        scratch_db_make(schema, T.path, sizeof T.path);
    }
    T.now = T0;
    memory = arena_new();
    ramet_options opt = scratch_options();
    store_open(&opt);
}

void scratch_reopen(const ramet_options *opt)
{
    if (T.store)
        scratch_shut();
    ramet_options plain = scratch_options();
    store_open(opt ? opt : &plain);
}

static void folder_remove(const char *path, int depth)
{
    DIR *dir = opendir(path);
    if (!dir)
        return;
    for (struct dirent *d; (d = readdir(dir));) {
        char inner[512];
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, d->d_name);
        if (unlink(inner) != 0 && depth < 4)
            folder_remove(inner, depth + 1);
    }
    closedir(dir);
    rmdir(path);
}

void scratch_close(void)
{
    if (T.store)
        scratch_shut();
    if (schema[0])
        scratch_db_drop(schema);
    folder_remove(T.dir, 0);
    arena_free(memory);
}

ramet_call *as(const char *user)
{
    cr_assert_lt(n_calls, sizeof calls / sizeof *calls);
    return calls[n_calls++] = ramet_call_new(T.store, user, NULL);
}

void expect(ramet_status want, const char *field, ramet_status got, const ramet_call *c,
            const char *what, const char *file, int line)
{
    const ramet_error *e = ramet_call_error(c);
    cr_assert_eq(got, want, "%s:%d: %s\n  wanted %s, got %s: %s [%s]", file, line, what,
                 ramet_status_code(want), ramet_status_code(got), got ? e->message : "",
                 got ? e->field : "");
    if (want == RAMET_OK)
        return;
    cr_assert_eq(e->status, want, "%s:%d: the error has another status", file, line);
    cr_assert(e->message[0] && !strchr(e->message, '\n'),
              "%s:%d: the message is not one line: '%s'", file, line, e->message);
    if (field)
        cr_assert_str_eq(e->field, field, "%s:%d: %s\n  field '%s', wanted '%s' (%s)", file, line,
                         what, e->field, field, e->message);
}

/* ---- steps */

ramet_session *make(const char *id)
{
    tick(SECOND);
    ramet_session *s = NULL;
    ramet_session_in in = {.id = id, .owner = "ann"};
    ok(ramet_session_create(T.call, &in, &s));
    return s;
}

ramet_entry *put(const char *session, const ramet_entry_in *in)
{
    tick(SECOND);
    ramet_append_out out;
    ok(ramet_append(T.call, session, &(ramet_append_in){.entries = in, .n = 1}, &out));
    cr_assert_eq(out.n, 1);
    return &out.entries[0];
}

ramet_entry *ask(const char *session, const char *id, const char *text)
{
    return put(session, &(ramet_entry_in){.id = id, .role = RAMET_USER, .text = text});
}

ramet_entry *answer(const char *session, const char *id, const char *text)
{
    return put(session, &(ramet_entry_in){.id = id, .role = RAMET_ASSISTANT, .text = text});
}

void say(const char *session, const char *list)
{
    char *copy = arena_strdup(memory, list), *save = NULL;
    for (char *id = strtok_r(copy, " ", &save); id; id = strtok_r(NULL, " ", &save))
        ask(session, id, arena_printf(memory, "text of %s", id));
}

void say_both(const char *session, int n)
{
    for (int i = 0; i < n; i++) {
        ramet_append_out out;
        ramet_entry_in in = {.id = arena_printf(memory, "k%d", i),
                             .role = RAMET_ASSISTANT,
                             .format = "adk",
                             .body = "{}"};
        say(session, arena_printf(memory, "m%d", i));
        tick(SECOND);
        ok(ramet_append(T.call, session,
                        &(ramet_append_in){.entries = &in, .n = 1, .log = RAMET_LOG_ADK}, &out));
    }
}

ramet_session *fork_at(const char *session, const char *entry, const char *id)
{
    tick(SECOND);
    ramet_session *s = NULL;
    ok(ramet_fork(T.call, session, &(ramet_fork_in){.at = {entry, RAMET_AFTER}, .id = id}, &s,
                  NULL));
    return s;
}

int64_t rewind_to(const char *session, const char *entry)
{
    tick(SECOND);
    ramet_session *s = NULL;
    ok(ramet_rewind(T.call, session, &(ramet_move_in){.at = {entry, RAMET_AFTER}}, &s, NULL));
    return s->head.branch;
}

void join(const char *session, const char *user, ramet_level level)
{
    tick(SECOND);
    ok(ramet_member_set(T.call, session, user, level));
}

void drop(const char *session)
{
    tick(SECOND);
    ramet_delete_out out;
    ok(ramet_session_delete(T.call, session, false, false, &out));
}

/* ---- looks */

ramet_session *get(const char *session)
{
    ramet_session *s = NULL;
    ok(ramet_session_get(T.call, session, &s));
    return s;
}

const char *ids_on(const char *session, int64_t branch)
{
    buf b;
    buf_init(&b, 1 << 20);
    ramet_page page;
    ramet_read_in in = {.limit = 1000, .branch = branch, .by_position = true};
    do {
        ok(ramet_read(T.call, session, &in, &page));
        for (size_t i = 0; i < page.n; i++) {
            cr_assert_eq(page.entries[i].position, in.position + (int64_t)i);
            buf_printf(&b, "%s%s", b.n ? " " : "", page.entries[i].id);
        }
        in.position += (int64_t)page.n;
    } while (page.more_after);
    cr_assert_eq(page.head.length, in.position);
    char *text = arena_strdup(memory, b.data);
    buf_release(&b);
    return text;
}

const char *ids(const char *session)
{
    return ids_on(session, 0);
}

static const char *word(const char *s)
{
    return s ? s : "-";
}

const char *dump(const char *session, int64_t branch)
{
    buf b;
    buf_init(&b, 4 << 20);
    ramet_page page;
    ok(ramet_read(T.call, session, &(ramet_read_in){.limit = 1000, .branch = branch}, &page));
    for (size_t i = 0; i < page.n; i++) {
        const ramet_entry *e = &page.entries[i];
        buf_printf(&b, "%s|%" PRId64 "|%" PRId64 "|%d|%s|%s|%s|%s|%s|%s|%s|%s|%s|%s|%" PRId64,
                   e->id, e->position, e->branch, (int)e->role, e->text, e->parts, e->format,
                   word(e->body), word(e->turn_id), e->channel, word(e->author), word(e->client),
                   word(e->state_delta), e->hash, e->created);
        if (e->usage)
            buf_printf(&b, "|%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%s", e->usage->input,
                       e->usage->output, e->usage->cached, e->usage->cost,
                       word(e->usage->currency));
        buf_putc(&b, '\n');
    }
    buf_printf(&b, "head %" PRId64 " %s %s\n", page.head.length, word(page.head.entry_id),
               page.head.hash);
    char *text = arena_strdup(memory, b.data);
    buf_release(&b);
    return text;
}

const char *mark(void)
{
    ramet_stats s;
    ok(ramet_stat(T.call, &s));
    return arena_printf(memory,
                        "trees %" PRId64 ", sessions %" PRId64 ", forks %" PRId64
                        ", deleted %" PRId64 ", branches %" PRId64 ", entries %" PRId64
                        ", events %" PRId64,
                        s.trees, s.sessions, s.forks, s.deleted, s.branches, s.entries, s.events);
}

int64_t sql_number(const char *sql)
{
    if (T.database)
        return scratch_db_run(T.path, sql);
    sqlite3 *db = NULL;
    sqlite3_stmt *st = NULL;
    cr_assert_eq(sqlite3_open_v2(T.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_step(st), SQLITE_ROW, "%s gives no row", sql);
    int64_t v = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return v;
}

void sql_run(const char *path, const char *sql)
{
    if (T.database) {
        scratch_db_run(path, sql);
        return;
    }
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    char *message = NULL;
    int rc = sqlite3_exec(db, sql, NULL, NULL, &message);
    cr_assert_eq(rc, SQLITE_OK, "%s: %s", sql, message ? message : "");
    sqlite3_free(message);
    sqlite3_close(db);
}
