/* SPDX-License-Identifier: Apache-2.0
 *
 * store.c: maintenance and API keys over HTTP, for administrators. The library reserves these
 * functions for the embedding program, so they run in a call without a user.
 */
#include "face/native/native_face.h"
#include "ramet/tokens.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

ramet_call *api_program_call(request *q)
{
    q->call = ramet_call_new(q->host->store, NULL, q->caller.client);
    if (q->has_once) {
        q->once.scope = arena_printf(q->arena, "%s by %s", q->once.scope, q->caller.user);
        ramet_call_once(q->call, &q->once);
    }
    return q->call;
}

ramet_call *api_work_call(request *q)
{
    ramet_call *c = api_program_call(q);
    ramet_status st = ramet_once_look(c);
    if (st == RAMET_OK && !q->once.repeated)
        return c;
    face_answer(q, st);
    return NULL;
}

void api_work_answer(request *q, ramet_status st)
{
    face_answer(q, st == RAMET_OK ? ramet_once_keep(q->call) : st);
}

void api_store_stats(request *q)
{
    ramet_stats out = {0};
    api_show(q, &form_store_stats, &out);
    face_answer(q, ramet_stat(api_program_call(q), &out));
}

void api_store_gc(request *q)
{
    ramet_gc_out out = {0};
    ramet_call *c = api_work_call(q);
    if (!c)
        return;
    api_show(q, &form_gc_report, &out);
    api_work_answer(q, ramet_gc(c, face_bool(q, "dry_run"), NULL, NULL, &out));
}

/* An administrator acts for the store: what other users may not see is erased, too. */
static ramet_call *erase_call(request *q, ramet_erase_in *in)
{
    if (q->caller.admin) {
        in->by = q->caller.user;
        return api_work_call(q);
    }
    if (in->user) {
        request_fail(q, 403, ramet_status_code(RAMET_FORBIDDEN), "user",
                     "erasing a user is for administrators");
        return NULL;
    }
    ramet_call *c = face_call(q);
    ramet_status st = c ? ramet_once_look(c) : RAMET_OK;
    if (c && (st != RAMET_OK || q->once.repeated)) {
        face_answer(q, st);
        return NULL;
    }
    return c;
}

void api_erase_post(request *q)
{
    native_erase_entry entry = {0};
    ramet_receipt *receipt = NULL;
    native_receipt out = {0};
    ramet_erase_in in = {.session = face_text(q, "session"),
                         .tree = face_text(q, "tree"),
                         .user = face_text(q, "user"),
                         .reason = face_text(q, "reason"),
                         .dry_run = face_bool(q, "dry_run")};
    const json_node *v = face_member(q, "entry");
    if (v && !json_is(v, JSON_NULL)) {
        const char *branch = json_text(q->arena, &q->json, json_get(&q->json, v, "branch_id"));
        form_read(q->arena, &q->json, v, &form_erase_entry, &entry, NULL);
        if (!api_branch(q, "entry", branch, &entry.branch))
            return;
        if (in.session) {
            request_fail(q, 400, ramet_status_code(RAMET_INVALID), "session",
                         "give \"entry\" or \"session\", not both");
            return;
        }
        in.session = entry.session;
        in.entry_id = entry.entry;
        in.branch = entry.branch;
    }
    ramet_call *c = erase_call(q, &in);
    if (!c)
        return;
    ramet_status st = ramet_erase(c, &in, &receipt);
    out.receipt = receipt;
    api_show(q, &form_erase_done, &out);
    /* A kept answer names its caller, who may be the one that was erased. */
    if (in.user && !in.dry_run && strcmp(in.user, q->caller.user) == 0)
        face_answer(q, st);
    else
        api_work_answer(q, st);
}

void api_erasures_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    api_show(q, &form_erasure_list, &list);
    face_answer(q,
                ramet_erasures(c, face_path(q, "id"), branch, ITEMS(list, ramet_erasure), &list.n));
}

void api_store_fsck(request *q)
{
    ramet_fsck_out out = {0};
    ramet_call *c = api_work_call(q);
    if (!c)
        return;
    api_show(q, &form_fsck_report, &out);
    api_work_answer(q, ramet_fsck(c, NULL, NULL, &out));
}

void api_store_index(request *q)
{
    native_indexed out = {0};
    ramet_call *c = api_work_call(q);
    if (!c)
        return;
    api_show(q, &form_index_report, &out);
    api_work_answer(q, ramet_search_update(c, face_bool(q, "rebuild"), &out.entries));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind, (void)at;
    return remove(path);
}

/* Makes the copy in a temporary folder, and unlinks it before it is sent. */
static bool backup_make(request *q, ramet_call *c, int *fd, int64_t *size)
{
    struct stat about;
    const char *base = getenv("TMPDIR");
    char *folder = arena_printf(q->arena, "%s/ramet-backup.XXXXXX", base && *base ? base : "/tmp");
    *fd = -1;
    if (!mkdtemp(folder)) {
        request_fail(q, 503, ramet_status_code(RAMET_IO), NULL,
                     "there is no room for a copy: a folder could not be made");
        return false;
    }
    const char *path = arena_printf(q->arena, "%s/ramet.db", folder);
    ramet_status st = ramet_backup(c, path, NULL, NULL);
    if (st == RAMET_OK)
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    if (st != RAMET_OK)
        request_error(q, ramet_call_error(c));
    else if (*fd < 0 || fstat(*fd, &about) != 0)
        request_fail(q, 503, ramet_status_code(RAMET_IO), NULL, "the copy could not be read");
    else {
        *size = about.st_size;
        return true;
    }
    if (*fd >= 0)
        close(*fd);
    return false;
}

void api_store_backup(request *q)
{
    int fd;
    int64_t size;
    if (!backup_make(q, api_program_call(q), &fd, &size))
        return;
    face_answer(q, RAMET_OK);
    q->file = fd;
    q->file_size = size;
    q->type = "application/vnd.sqlite3";
    request_add_header(q, "Content-Disposition", "attachment; filename=\"ramet.db\"");
}

/* -------------------------------------------------------------------- tokens */

void api_token_post(request *q)
{
    size_t n;
    const char *const *roles = face_texts(q, "roles", &n);
    ramet_token *out = NULL;
    ramet_token_in in = {.user = face_text(q, "user"),
                         .client = face_text(q, "client"),
                         .note = face_text(q, "note"),
                         .roles = ""};
    if (!api_life(q, q->json.nodes, "expires_seconds", &in.life_us))
        return;
    for (size_t i = 0; i < n; i++)
        in.roles = arena_printf(q->arena, "%s%s%s", in.roles, i ? "," : "", roles[i]);
    api_show_at(q, &form_token, &out);
    face_answer(q, ramet_token_add(api_program_call(q), &in, &out));
}

void api_tokens_list(request *q)
{
    form_list list = {0};
    api_show(q, &form_token_list, &list);
    face_answer(q, ramet_tokens(api_program_call(q), ITEMS(list, ramet_token), &list.n));
}

void api_token_delete(request *q)
{
    face_answer(q, ramet_token_revoke(api_program_call(q), face_path(q, "token")));
}
