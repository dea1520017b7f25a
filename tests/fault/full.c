/* SPDX-License-Identifier: Apache-2.0
 *
 * full.c: I8 on a disk that is really full: a file system in memory of three MiB, mounted in
 * a name space that ends with the child.
 */
#include "help.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_MOUNT = 77 };

static ramet_status append_one(ramet_call *c, int i)
{
    char id[32];
    ramet_append_out out;
    snprintf(id, sizeof id, "full-%d", i);
    char *text = text_of(id);
    ramet_entry_in e = {.id = id, .role = RAMET_USER, .text = text};
    ramet_status st = ramet_append(c, "s", &(ramet_append_in){.entries = &e, .n = 1}, &out);
    free(text);
    return st;
}

/* Reads the whole history: exactly `n` entries with their content. */
static void history_expect(ramet_call *c, int n, const char *when, FILE *say)
{
    ramet_stream *s;
    const ramet_entry *e = NULL;
    int seen = 0;
    ramet_status st = ramet_stream_open(c, "s", &(ramet_read_in){0}, &s);
    while (!st && !(st = ramet_stream_next(s, &e)) && e) {
        char id[32];
        snprintf(id, sizeof id, "full-%d", seen++);
        char *text = text_of(id);
        if (strcmp(e->id, id) || strcmp(e->text, text))
            fprintf(say, "%s: entry %d is %s\n", when, seen - 1, e->id);
        free(text);
    }
    if (st)
        fprintf(say, "%s: the history cannot be read: %s (%s)\n", when, ramet_status_code(st),
                ramet_call_error(c)->message);
    else
        ramet_stream_close(s);
    if (seen != n)
        fprintf(say, "%s: %d entries acknowledged, %d there\n", when, n, seen);
}

/* Fills the disk, reads, is refused, gets room, goes on; the number of entries, -1 on failure. */
static int disk_fill(const char *db, const char *filler, FILE *say)
{
    ramet *r;
    ramet_session *session;
    ramet_error err;
    int n = 0;
    ramet_status st = ramet_open(db, NULL, &r, &err);
    if (st) {
        fprintf(say, "open: %s (%s)\n", ramet_status_code(st), err.message);
        return -1;
    }
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    st = ramet_session_create(c, &(ramet_session_in){.id = "s"}, &session);
    for (; !st && n < 20000; n++) {
        if ((st = append_one(c, n)))
            break;
        ramet_call_reset(c);
    }
    if (st != RAMET_FULL)
        fprintf(say, "the full disk gave %s (%s) after %d entries\n", ramet_status_code(st),
                ramet_call_error(c)->message, n);
    history_expect(c, n, "disk full", say);
    for (int i = 0; i < 3; i++)
        if ((st = append_one(c, n)) != RAMET_STOPPED && st != RAMET_FULL)
            fprintf(say, "a write on the full disk gave %s\n", ramet_status_code(st));
    if (ramet_health(r) != RAMET_FULL)
        fprintf(say, "health is %s\n", ramet_status_code(ramet_health(r)));
    unlink(filler);
    for (int i = 0; i < 20; i++, n++)
        if ((st = append_one(c, n))) {
            fprintf(say, "with room again: %s (%s)\n", ramet_status_code(st),
                    ramet_call_error(c)->message);
            break;
        }
    if (ramet_health(r) != RAMET_OK)
        fprintf(say, "with room again health is %s\n", ramet_status_code(ramet_health(r)));
    history_expect(c, n, "room again", say);
    ramet_call_free(c);
    ramet_close(r);
    return n;
}

static int full_child(void *arg, FILE *say)
{
    const char *dir = arg;
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("ramet", dir, "tmpfs", 0, "size=3m"))
        return NO_MOUNT;
    char *db = text_new("%s/s.db", dir), *filler = text_new("%s/filler", dir);
    uint8_t *block = mem_new(1 << 20);
    image_write(filler, block, 1 << 20);
    free(block);
    int n = disk_fill(db, filler, say);
    ramet *r;
    ramet_status st = ramet_open(db, NULL, &r, NULL);
    if (st) {
        fprintf(say, "it cannot be opened again: %s\n", ramet_status_code(st));
    } else if (n >= 0) {
        ramet_call *c = ramet_call_new(r, NULL, NULL);
        ramet_fsck_out out;
        history_expect(c, n, "opened again", say);
        if (ramet_fsck(c, NULL, NULL, &out) || out.n_all)
            fprintf(say, "fsck finds faults\n");
        ramet_call_free(c);
        ramet_close(r);
    }
    free(db);
    free(filler);
    return 0;
}

/* ---- searching */

static void hits_expect(ramet_call *c, const char *query, size_t n, const char *when, FILE *say)
{
    ramet_hits hits;
    ramet_status st = ramet_search(c, &(ramet_search_in){.query = query}, &hits);
    if (st)
        fprintf(say, "%s: searching for %s: %s (%s)\n", when, query, ramet_status_code(st),
                ramet_call_error(c)->message);
    else if (hits.n != n)
        fprintf(say, "%s: %zu hits for %s, not %zu\n", when, hits.n, query, n);
    ramet_call_reset(c);
}

static ramet_status text_append(ramet_call *c, const char *text)
{
    ramet_append_out out;
    ramet_entry_in e = {.role = RAMET_USER, .text = text};
    return ramet_append(c, "s", &(ramet_append_in){.entries = &e, .n = 1}, &out);
}

/* Writes until there is no room for a byte. */
static void filler_grow(const char *path)
{
    static const char block[4096];
    FILE *f = must(fopen(path, "wb"));
    setvbuf(f, NULL, _IONBF, 0);
    while (fwrite(block, 1, sizeof block, f) == sizeof block)
        ;
    fclose(f);
}

static int search_child(void *arg, FILE *say)
{
    const char *dir = arg;
    ramet *r;
    ramet_session *session;
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("ramet", dir, "tmpfs", 0, "size=6m"))
        return NO_MOUNT;
    char *db = text_new("%s/s.db", dir), *filler = text_new("%s/filler", dir);
    r = open_store(db, NULL);
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    ramet_session_create(c, &(ramet_session_in){.id = "s"}, &session);
    text_append(c, "a river");
    hits_expect(c, "river", 1, "with room", say);
    text_append(c, "a brook"); /* is not indexed yet */
    ramet_call_free(c);
    ramet_close(r);
    r = open_store(db, NULL);
    c = ramet_call_new(r, NULL, NULL);
    ramet_session_get(c, "s", &session);
    filler_grow(filler);
    for (int i = 0; i < 2; i++)
        hits_expect(c, "river", 1, "opened on a full disk", say);
    unlink(filler);
    hits_expect(c, "brook", 1, "room again", say);
    filler_grow(filler);
    hits_expect(c, "river", 1, "full while it is open", say);
    unlink(filler);
    if (text_append(c, "a lake"))
        fprintf(say, "room again: %s\n", ramet_call_error(c)->message);
    hits_expect(c, "lake", 1, "room again", say);
    ramet_call_free(c);
    ramet_close(r);
    free(db);
    free(filler);
    return 0;
}

static void child_verdict(int (*child)(void *arg, FILE *say), const char *what)
{
    char *dir = tmp_new("full");
    child_end end = child_run(child, dir, 60);
    if (end.code == NO_MOUNT) {
        tap_skip("a file system cannot be mounted here", "full: %s", what);
    } else {
        if (end.code || end.signal || end.late)
            wrong("the child ended with code %d, signal %d", end.code, end.signal);
        char *rest = NULL;
        for (char *line = strtok_r(end.said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            wrong("%s", line);
        tap_verdict("full: %s", what);
    }
    free(end.said);
    tmp_remove(dir);
}

/* First: entries are appended until the disk is full. The append that finds no room says so, the
 * history stays readable and holds exactly what was acknowledged, further writes are refused.
 * A file is removed: writes are taken again without opening anew.
 * Second: a search finds what was indexed before, also when the index is opened only then. */
void test_full(void)
{
    child_verdict(full_child, "a disk that is really full");
    child_verdict(search_child, "a full disk leaves search readable");
}
