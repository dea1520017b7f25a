/* SPDX-License-Identifier: Apache-2.0
 *
 * long_page.c: long pages of entries, read from the store as the client reads them.
 *
 * A page that fits into one piece is answered at once, like any other (face/native/entry.c). Of a
 * longer one only a piece is in memory at any time. It is still one consistent page:
 *
 *   history  the branch and the length of its path are fixed by the first piece. The entry at a
 *            position of a branch never changes, so the entries are those of one moment, even if
 *            the head moves meanwhile. Versions and feedback are as new as their piece.
 *   record   the total is fixed by the first piece; a record only grows at its end.
 *
 * Such a page has no ETag, since its entries are not known when the header is sent. See pieces.h
 * for what happens if the client loses access in the middle, or the session is deleted.
 */
#include "face/native/native_face.h"

#define DEFAULT_LIMIT 50

typedef struct long_page {
    const char *session;
    ramet_read_in in;
    ramet_head head;
    bool more_before, more_after;
    bool is_record;
    int64_t total; /* of the record */
    int64_t next;  /* position where the next piece begins */
    int left;      /* entries still to be written */
    size_t bytes;  /* written so far */
} long_page;

static size_t page_bytes(const ramet_page *page)
{
    size_t n = 0;
    for (size_t i = 0; i < page->n; i++)
        n += form_entry_bytes(&page->entries[i]);
    return n;
}

static void entries_write(request *q, long_page *p, const ramet_page *page)
{
    for (size_t i = 0; i < page->n; i++)
        native_entry(&q->writer, &page->entries[i]);
    p->left -= (int)page->n;
    p->bytes += page_bytes(page);
    if (page->n)
        p->more_after = page->more_after;
    if (page->n && !p->is_record)
        p->next = page->entries[page->n - 1].position + 1;
    else
        p->next = p->is_record ? p->next + (int64_t)page->n : p->in.end;
}

static void page_open(request *q)
{
    jw_object(&q->writer);
    jw_key(&q->writer, "entries");
    jw_array(&q->writer);
}

static request_piece page_close(request *q, const long_page *p)
{
    jw_end_array(&q->writer);
    if (p->is_record) {
        jw_kint(&q->writer, "total", p->total);
    } else {
        jw_key(&q->writer, "head");
        native_head(&q->writer, &p->head);
        jw_kbool(&q->writer, "more_before", p->more_before);
    }
    jw_kbool(&q->writer, "more_after", p->more_after);
    jw_end_object(&q->writer);
    return PIECE_LAST;
}

/* ------------------------------------------------------------------- history */

static request_piece entries_step(request *q, void *state)
{
    long_page *p = state;
    ramet_page page;
    p->in.by_position = true;
    p->in.position = p->next;
    p->in.limit = p->left;
    if (ramet_read(q->call, p->session, &p->in, &page) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return PIECE_FAILED;
    }
    entries_write(q, p, &page);
    if (p->next < p->in.end && p->more_after && p->left > 0 && p->bytes < LONG_PAGE_BYTES)
        return PIECE_MORE;
    /* Entries appended since the page began come after its head. */
    p->more_after = p->more_after && (p->next < p->head.length || !page.n);
    return page_close(q, p);
}

/* For the last n entries, finds the first one from the end, so that a long page never leaves out
 * the newest. Nothing is kept. */
static bool tail_find(request *q, long_page *p, const ramet_page *last)
{
    ramet_page page = *last;
    int limit = p->left;
    for (;;) {
        p->bytes += page_bytes(&page);
        p->left -= (int)page.n;
        p->more_before = page.more_before;
        if (page.n)
            p->next = page.entries[0].position;
        if (!page.n || !page.more_before || p->left <= 0 || p->bytes >= LONG_PAGE_BYTES)
            break;
        ramet_read_in in = p->in;
        in.tail = true;
        in.end = p->next;
        in.limit = p->left;
        ramet_call_reset(q->call);
        if (ramet_read(q->call, p->session, &in, &page) != RAMET_OK)
            return false;
    }
    p->left = limit - p->left;
    p->bytes = 0;
    ramet_call_reset(q->call);
    return true;
}

bool entries_begin(request *q, const ramet_read_in *in, const ramet_page *page)
{
    int limit = in->limit ? in->limit : DEFAULT_LIMIT;
    bool cut =
        page->n && page->n < (size_t)limit && arena_used(ramet_call_arena(q->call)) >= PIECE_BYTES;
    if (!cut || !(in->tail ? page->more_before : page->more_after))
        return false;
    long_page *p = arena_alloc(q->arena, sizeof *p);
    *p = (long_page){.session = face_path(q, "id"),
                     .in = *in,
                     .head = page->head,
                     .more_before = page->more_before,
                     .more_after = page->more_after,
                     .left = limit};
    p->head.entry_id = arena_strdup(q->arena, page->head.entry_id);
    p->in.branch = page->head.branch;
    p->in.end = page->head.length;
    if (in->tail) {
        p->in.end = page->entries[page->n - 1].position + 1;
        if (!tail_find(q, p, page)) {
            request_error(q, ramet_call_error(q->call));
            return true;
        }
        p->in.tail = false;
        p->in.after = NULL;
        page_open(q);
        face_pieces(q, entries_step, p);
        return true;
    }
    p->in.after = NULL;
    page_open(q);
    entries_write(q, p, page);
    face_pieces_follow(q, entries_step, p);
    return true;
}

/* -------------------------------------------------------------------- record */

static request_piece record_step(request *q, void *state)
{
    long_page *p = state;
    ramet_page page;
    int64_t total, rest = p->total - p->next;
    if (ramet_record(q->call, p->session, p->in.log, p->next, rest < p->left ? (int)rest : p->left,
                     &page, &total) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return PIECE_FAILED;
    }
    entries_write(q, p, &page);
    p->more_after = p->next < p->total;
    if (page.n && p->more_after && p->left > 0 && p->bytes < LONG_PAGE_BYTES)
        return PIECE_MORE;
    return page_close(q, p);
}

bool record_begin(request *q, ramet_log log, int64_t from, const ramet_page *page, int64_t total)
{
    int limit = api_limit(q) ? api_limit(q) : DEFAULT_LIMIT;
    if (!page->n || page->n == (size_t)limit || !page->more_after)
        return false;
    long_page *p = arena_alloc(q->arena, sizeof *p);
    *p = (long_page){.session = face_path(q, "id"),
                     .in.log = log,
                     .is_record = true,
                     .total = total,
                     .next = from,
                     .left = limit};
    page_open(q);
    entries_write(q, p, page);
    face_pieces_follow(q, record_step, p);
    return true;
}
