/* SPDX-License-Identifier: Apache-2.0
 *
 * upkeep.c: maintenance over HTTP: routes for administrators.
 */
#include "client/internal.h"
#include "ramet/tokens.h"

#include <string.h>

ramet_status http_search_update(ramet_call *call, bool rebuild, int64_t *indexed)
{
    target t;
    body b;
    json_doc d;
    target_init(&t, CALL(call), "/store/index");
    body_init(&b);
    jw_kbool(&b.writer, "rebuild", rebuild);
    TRY(ask(&t, "POST", &b, &d));
    if (indexed)
        *indexed = get_int(&d, d.nodes, "indexed");
    return RAMET_OK;
}

ramet_status http_fsck(ramet_call *call, ramet_progress progress, void *arg, ramet_fsck_out *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    (void)progress;
    (void)arg;
    *out = (ramet_fsck_out){0};
    target_init(&t, c, "/store/fsck");
    TRY(ask(&t, "POST", NULL, &d));
    TRY(answer_has(c, &d, "fault_count"));
    form_read(c->arena, &d, d.nodes, &form_fsck_report, out, NULL);
    return RAMET_OK;
}

ramet_status http_erase(ramet_call *call, const ramet_erase_in *in, ramet_receipt **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    native_erase_entry entry = {in->session, in->entry_id, in->branch};
    native_receipt done = {0};
    *out = NULL;
    target_init(&t, c, "/erase");
    body_init(&b);
    if (in->entry_id) {
        jw_key(&b.writer, "entry");
        form_write(&b.writer, &form_erase_entry, &entry, NULL);
    } else {
        body_add(&b, "session", in->session);
    }
    body_add(&b, "tree", in->tree);
    body_add(&b, "user", in->user);
    body_add(&b, "reason", in->reason);
    jw_kbool(&b.writer, "dry_run", in->dry_run);
    TRY(ask(&t, "POST", &b, &d));
    TRY(answer_has(c, &d, "receipt"));
    form_read(c->arena, &d, d.nodes, &form_erase_done, &done, NULL);
    *out = arena_alloc(c->arena, sizeof **out);
    **out = *done.receipt;
    return RAMET_OK;
}

ramet_status http_erasures(ramet_call *call, const char *session, int64_t branch,
                           ramet_erasure **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/sessions/%s/erasures", session);
    target_branch(&t, "branch", branch);
    return ASK_LIST(&t, form_erasure_list, out, n, NULL);
}

ramet_status http_gc(ramet_call *call, bool dry_run, ramet_progress progress, void *arg,
                     ramet_gc_out *out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    (void)progress;
    (void)arg;
    *out = (ramet_gc_out){0};
    target_init(&t, c, "/store/gc");
    body_init(&b);
    jw_kbool(&b.writer, "dry_run", dry_run);
    TRY(ask(&t, "POST", &b, &d));
    TRY(answer_has(c, &d, "dry_run"));
    form_read(c->arena, &d, d.nodes, &form_gc_report, out, NULL);
    return RAMET_OK;
}

ramet_status http_backup(ramet_call *call, const char *path, ramet_progress progress, void *arg)
{
    target t;
    (void)progress;
    (void)arg;
    target_init(&t, CALL(call), "/store/backup");
    return ask_file(&t, "GET", path);
}

ramet_status http_stat(ramet_call *call, ramet_stats *out)
{
    client_call *c = CALL(call);
    target t;
    json_doc d;
    *out = (ramet_stats){0};
    target_init(&t, c, "/store");
    TRY(ask(&t, "GET", NULL, &d));
    TRY(answer_has(c, &d, "schema"));
    form_read(c->arena, &d, d.nodes, &form_store_stats, out, NULL);
    return RAMET_OK;
}

/* ------------------------------------------------------------------- tokens */

/* "admin, auditor" as a list. */
static void add_roles(body *b, const char *roles)
{
    if (!roles)
        return;
    jw_key(&b->writer, "roles");
    jw_array(&b->writer);
    for (const char *p = roles + strspn(roles, ", "); *p; p += strspn(p, ", ")) {
        size_t n = strcspn(p, ", ");
        jw_strn(&b->writer, p, n);
        p += n;
    }
    jw_end_array(&b->writer);
}

ramet_status http_token_add(ramet_call *call, const ramet_token_in *in, ramet_token **out)
{
    client_call *c = CALL(call);
    target t;
    body b;
    json_doc d;
    *out = NULL;
    target_init(&t, c, "/tokens");
    body_init(&b);
    body_add(&b, "user", in->user);
    body_add(&b, "client", in->client);
    add_roles(&b, in->roles);
    body_add(&b, "note", in->note);
    if (in->life_us > 0) {
        jw_key(&b.writer, "expires_seconds");
        jw_nano(&b.writer, in->life_us * 1000);
    }
    TRY(ask(&t, "POST", &b, &d));
    *out = answer_read(c, &d, &form_token);
    return RAMET_OK;
}

ramet_status http_tokens(ramet_call *call, ramet_token **out, size_t *n)
{
    target t;
    target_init(&t, CALL(call), "/tokens");
    return ASK_LIST(&t, form_token_list, out, n, NULL);
}

ramet_status http_token_revoke(ramet_call *call, const char *id)
{
    target t;
    json_doc d;
    target_init(&t, CALL(call), "/tokens/%s", id);
    return ask(&t, "DELETE", NULL, &d);
}
