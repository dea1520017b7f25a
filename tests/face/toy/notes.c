/* SPDX-License-Identifier: Apache-2.0
 *
 * notes.c: the handlers of the toy protocol and the shape of its errors.
 */
#include "face/toy/toy.h"

void toy_fail(request *q, const char *code, const char *field, const char *message)
{
    (void)code;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "ok", false);
    jw_kstr(&q->writer, "problem", message);
    if (field && *field)
        jw_kstr(&q->writer, "where", field);
    jw_end_object(&q->writer);
}

void toy_health(request *q)
{
    jw_object(&q->writer);
    jw_kbool(&q->writer, "ok", true);
    jw_end_object(&q->writer);
    face_done(q);
}

static void show_notebook(request *q, const void *answer)
{
    const ramet_session *s = *(ramet_session *const *)answer;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "ok", true);
    jw_kstr(&q->writer, "notebook", s->id);
    jw_kstr(&q->writer, "owner", s->owner);
    jw_end_object(&q->writer);
}

void toy_notebook_post(request *q)
{
    ramet_call *c = face_call(q);
    ramet_session *out = NULL;
    ramet_session_in in = {.id = face_text(q, "name"), .title = face_text(q, "name")};
    if (!c)
        return;
    face_render(q, show_notebook, &out);
    face_answer(q, ramet_session_create(c, &in, &out));
}

static void show_note(request *q, const void *answer)
{
    const ramet_append_out *out = answer;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "ok", true);
    jw_kstr(&q->writer, "note", out->entries[0].id);
    jw_end_object(&q->writer);
}

void toy_note_post(request *q)
{
    ramet_call *c = face_call(q);
    ramet_entry_in note = {.role = RAMET_USER, .text = face_text(q, "text")};
    ramet_append_in in = {.entries = &note, .n = 1};
    ramet_append_out out = {0};
    if (!c)
        return;
    face_render(q, show_note, &out);
    face_answer(q, ramet_append(c, face_path(q, "name"), &in, &out));
}

static void show_notes(request *q, const void *answer)
{
    const ramet_page *page = answer;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "ok", true);
    jw_key(&q->writer, "notes");
    jw_array(&q->writer);
    for (size_t i = 0; i < page->n; i++)
        jw_str(&q->writer, page->entries[i].text);
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
}

void toy_notes_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_read_in in = {.tail = true};
    ramet_page page = {0};
    int64_t last;
    if (face_query_int(q, "last", &last))
        in.limit = (int)last;
    if (!c)
        return;
    face_render(q, show_notes, &page);
    face_answer(q, ramet_read(c, face_path(q, "name"), &in, &page));
}

static void show_census(request *q, const void *answer)
{
    const ramet_stats *s = answer;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "ok", true);
    jw_kint(&q->writer, "notebooks", s->sessions);
    jw_end_object(&q->writer);
}

/* With the rights of the program: its route is for administrators and auditors. */
void toy_census(request *q)
{
    ramet_stats stats = {0};
    q->call = ramet_call_new(q->host->store, NULL, NULL);
    face_render(q, show_census, &stats);
    face_answer(q, ramet_stat(q->call, &stats));
}
