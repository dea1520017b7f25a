/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.c: entries over HTTP: appending, pages of a path, the record, new versions, feedback.
 */
#include "face/native/native_face.h"

#include <string.h>

static void show_append(request *q, const void *answer)
{
    const ramet_append_out *out = answer;
    form_write(&q->writer, &form_appended, out, NULL);
    if (!out->added)
        q->status = 200;
}

void api_entries_append(request *q)
{
    ramet_call *c = face_call(q);
    ramet_append_out out = {0};
    ramet_entry_in *entries;
    ramet_append_in in = {.expected_head = face_expected_head(q),
                          .log = api_log(face_text(q, "log"))};
    if (!c || !api_branch(q, "branch_id", face_text(q, "branch_id"), &in.branch) ||
        !api_entries(q, "entries", &entries, &in.n))
        return;
    in.entries = entries;
    face_render(q, show_append, &out);
    face_answer(q, ramet_append(c, face_path(q, "id"), &in, &out));
}

/* The hashes stand for the entries; hashing the whole answer would cost more than reading it.
 */
static void page_etag(request *q, const ramet_page *page, ramet_view view)
{
    buf b;
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b, "%s %lld %d %d %d\n", q->host->version, (long long)page->head.branch,
               page->more_before, page->more_after, view);
    for (size_t i = 0; i < page->n; i++) {
        const ramet_entry *e = &page->entries[i];
        int64_t shown[] = {e->position, e->branch, e->version, e->versions, (int64_t)e->n_origins};
        buf_add(&b, shown, sizeof shown);
    }
    if (page->n)
        buf_puts(&b, page->entries[page->n - 1].hash);
    face_etag(q, page->head.hash, b.data, b.n);
    buf_release(&b);
}

void api_entries_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_page page = {0};
    const char *versions = request_query(q, "versions"), *view = request_query(q, "view");
    ramet_read_in in = {.limit = api_limit(q),
                        .after = request_query(q, "after"),
                        .before = request_query(q, "before"),
                        .tail = face_query_bool(q, "tail"),
                        .channel = request_query(q, "channel"),
                        .feedback = face_query_bool(q, "feedback"),
                        .log = api_log(request_query(q, "log"))};
    in.view = view ? (ramet_view)ramet_view_parse(view) : RAMET_VIEW_SHOWN;
    in.by_position = face_query_int(q, "from", &in.position);
    in.versions = in.log == RAMET_LOG_MAIN && !(versions && strcmp(versions, "false") == 0);
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &in.branch))
        return;
    ramet_call_page_bytes(c, PIECE_BYTES);
    ramet_status st = ramet_read(c, face_path(q, "id"), &in, &page);
    if (st == RAMET_OK && entries_begin(q, &in, &page))
        return;
    api_show(q, &form_entry_page, &page);
    if (face_answer(q, st))
        page_etag(q, &page, in.view);
}

void api_entry_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_entry *out = NULL;
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    api_show_at(q, &form_entry, &out);
    if (face_answer(q, ramet_entry_get(c, face_path(q, "id"), branch, face_path(q, "entry"), &out)))
        face_etag(q, NULL, q->out.data, q->out.n);
}

void api_entry_edit(request *q)
{
    ramet_call *c = face_call(q);
    ramet_append_out out = {0};
    ramet_entry_in in;
    ramet_error err;
    if (!c)
        return;
    if (!native_entry_in(q->arena, &q->json, face_member(q, "entry"), &in, &err)) {
        request_error(q, &err);
        return;
    }
    api_show(q, &form_appended, &out);
    if (!face_answer(q, ramet_edit(c, face_path(q, "id"), face_path(q, "entry"), &in,
                                   face_expected_head(q), &out)))
        return;
    face_count(q, "fork", ramet_fork_type_name(RAMET_AUTO_EDIT));
    api_moved(q, face_path(q, "id"));
}

void api_entry_regenerate(request *q)
{
    ramet_call *c = face_call(q);
    ramet_append_out out = {0};
    ramet_entry_in *entries;
    size_t n;
    if (!c || !api_entries(q, "entries", &entries, &n))
        return;
    api_show(q, &form_appended, &out);
    if (!face_answer(q, ramet_regenerate(c, face_path(q, "id"), face_path(q, "entry"), entries, n,
                                         face_expected_head(q), &out)))
        return;
    face_count(q, "fork", ramet_fork_type_name(RAMET_AUTO_REGENERATE));
    api_moved(q, face_path(q, "id"));
}

/* -------------------------------------------------------------------- record */

void api_record_get(request *q)
{
    ramet_call *c = face_call(q);
    native_record out = {0};
    int64_t from = 0;
    face_query_int(q, "from", &from);
    if (!c)
        return;
    ramet_log log = api_log(request_query(q, "log"));
    ramet_call_page_bytes(c, PIECE_BYTES);
    ramet_status st =
        ramet_record(c, face_path(q, "id"), log, from, api_limit(q), &out.page, &out.total);
    if (st == RAMET_OK && record_begin(q, log, from, &out.page, out.total))
        return;
    api_show(q, &form_record, &out);
    face_answer(q, st);
}

/* ------------------------------------------------------------------ feedback */

void api_feedback_put(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    const char *word = face_text(q, "value");
    ramet_feedback given = {.user = q->caller.user, .comment = face_text(q, "comment")};
    if (!c)
        return;
    given.value = !word ? 0 : strcmp(word, "up") == 0 ? 1 : -1;
    api_show(q, &form_feedback, &given);
    face_answer(q, ramet_feedback_set(c, face_path(q, "id"), face_path(q, "entry"), given.value,
                                      given.comment));
}

void api_feedback_list(request *q)
{
    ramet_call *c = face_call(q);
    form_list list = {0};
    if (!c)
        return;
    api_show(q, &form_feedback_list, &list);
    face_answer(q, ramet_feedback_get(c, face_path(q, "id"), face_path(q, "entry"),
                                      ITEMS(list, ramet_feedback), &list.n));
}
