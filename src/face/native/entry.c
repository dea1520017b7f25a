/* SPDX-License-Identifier: Apache-2.0
 *
 * entry.c: entries over HTTP: appending, pages of a path, the record, new versions,
 * feedback.
 */
#include "face/native/native_face.h"

#include <string.h>

static void show_append(request *q, const void *answer)
{
    const ramet_append_out *out = answer;
    show_appended(q, answer);
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

static void show_page(request *q, const void *answer)
{
    const ramet_page *page = answer;
    jw_object(&q->w);
    jw_key(&q->w, "entries");
    jw_array(&q->w);
    for (size_t i = 0; i < page->n; i++)
        native_entry(&q->w, &page->entries[i]);
    jw_end_array(&q->w);
    jw_key(&q->w, "head");
    native_head(&q->w, &page->head);
    jw_kbool(&q->w, "more_before", page->more_before);
    jw_kbool(&q->w, "more_after", page->more_after);
    jw_end_object(&q->w);
}

/* The hashes stand for the entries; hashing all that was written would cost more than reading it.
 */
static void page_etag(request *q, const ramet_page *page)
{
    buf b;
    buf_init(&b, SIZE_MAX / 2);
    buf_printf(&b, "%s %lld %d %d\n", q->host->version, (long long)page->head.branch,
               page->more_before, page->more_after);
    for (size_t i = 0; i < page->n; i++) {
        const ramet_entry *e = &page->entries[i];
        int64_t shown[] = {e->position, e->branch, e->version, e->versions};
        buf_add(&b, shown, sizeof shown);
    }
    if (page->n)
        buf_puts(&b, page->entries[page->n - 1].hash);
    face_etag(q, page->head.hash, b.p, b.n);
    buf_release(&b);
}

void api_entries_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_page page = {0};
    const char *versions = request_query(q, "versions");
    ramet_read_in in = {.limit = api_limit(q),
                        .after = request_query(q, "after"),
                        .before = request_query(q, "before"),
                        .tail = face_query_bool(q, "tail"),
                        .channel = request_query(q, "channel"),
                        .feedback = face_query_bool(q, "feedback"),
                        .log = api_log(request_query(q, "log"))};
    in.by_position = face_query_int(q, "from", &in.position);
    in.versions = in.log == RAMET_LOG_MAIN && !(versions && strcmp(versions, "false") == 0);
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &in.branch))
        return;
    ramet_call_page_bytes(c, PIECE_BYTES);
    ramet_status st = ramet_read(c, face_path(q, "id"), &in, &page);
    if (st == RAMET_OK && entries_begin(q, &in, &page))
        return;
    face_render(q, show_page, &page);
    if (face_answer(q, st))
        page_etag(q, &page);
}

static void show_entry(request *q, const void *answer)
{
    native_entry(&q->w, *(ramet_entry *const *)answer);
}

void api_entry_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_entry *out = NULL;
    int64_t branch;
    if (!c || !api_branch(q, "branch", request_query(q, "branch"), &branch))
        return;
    face_render(q, show_entry, &out);
    if (face_answer(q, ramet_entry_get(c, face_path(q, "id"), branch, face_path(q, "entry"), &out)))
        face_etag(q, NULL, q->out.p, q->out.n);
}

void api_entry_edit(request *q)
{
    ramet_call *c = face_call(q);
    ramet_append_out out = {0};
    ramet_entry_in in;
    ramet_error err;
    if (!c)
        return;
    if (!native_entry_in(q->a, &q->json, face_member(q, "entry"), &in, &err)) {
        request_error(q, &err);
        return;
    }
    face_render(q, show_appended, &out);
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
    face_render(q, show_appended, &out);
    if (!face_answer(q, ramet_regenerate(c, face_path(q, "id"), face_path(q, "entry"), entries, n,
                                         face_expected_head(q), &out)))
        return;
    face_count(q, "fork", ramet_fork_type_name(RAMET_AUTO_REGENERATE));
    api_moved(q, face_path(q, "id"));
}

/* -------------------------------------------------------------------- record */

typedef struct record_page {
    ramet_page page;
    int64_t total;
} record_page;

static void show_record(request *q, const void *answer)
{
    const record_page *r = answer;
    jw_object(&q->w);
    jw_key(&q->w, "entries");
    jw_array(&q->w);
    for (size_t i = 0; i < r->page.n; i++)
        native_entry(&q->w, &r->page.entries[i]);
    jw_end_array(&q->w);
    jw_kint(&q->w, "total", r->total);
    jw_kbool(&q->w, "more_after", r->page.more_after);
    jw_end_object(&q->w);
}

void api_record_get(request *q)
{
    ramet_call *c = face_call(q);
    record_page out = {0};
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
    face_render(q, show_record, &out);
    face_answer(q, st);
}

/* ------------------------------------------------------------------ feedback */

static const char *value_word(int value)
{
    return value > 0 ? "up" : value < 0 ? "down" : NULL;
}

static void feedback_one(json_writer *w, const ramet_feedback *f)
{
    jw_object(w);
    jw_kstr(w, "user", f->user);
    jw_kstr(w, "value", value_word(f->value));
    jw_kstr(w, "comment", f->comment ? f->comment : "");
    if (f->at)
        native_ktime(w, "created_at", f->at);
    jw_end_object(w);
}

static void show_feedback(request *q, const void *answer)
{
    feedback_one(&q->w, answer);
}

void api_feedback_put(request *q)
{
    ramet_call *c = face_call_expecting(q, face_path(q, "id"));
    const char *word = face_text(q, "value");
    ramet_feedback given = {.user = q->who.user, .comment = face_text(q, "comment")};
    if (!c)
        return;
    given.value = !word ? 0 : strcmp(word, "up") == 0 ? 1 : -1;
    face_render(q, show_feedback, &given);
    face_answer(q, ramet_feedback_set(c, face_path(q, "id"), face_path(q, "entry"), given.value,
                                      given.comment));
}

typedef struct feedback_list {
    ramet_feedback *items;
    size_t n;
} feedback_list;

static void show_feedback_list(request *q, const void *answer)
{
    const feedback_list *list = answer;
    list_begin(q, "feedback");
    for (size_t i = 0; i < list->n; i++)
        feedback_one(&q->w, &list->items[i]);
    list_end(q, NULL);
}

void api_feedback_list(request *q)
{
    ramet_call *c = face_call(q);
    feedback_list list = {0};
    if (!c)
        return;
    face_render(q, show_feedback_list, &list);
    face_answer(
        q, ramet_feedback_get(c, face_path(q, "id"), face_path(q, "entry"), &list.items, &list.n));
}
