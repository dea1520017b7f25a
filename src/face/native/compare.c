/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c: comparisons, verdicts and search over HTTP, and the form of a comparison.
 */
#include "face/native/native_face.h"

#include "base/util.h"

#include <string.h>

/* ------------------------------------------------------------------- compare */

/* ---- in pieces: the entries of each side are read again, from its branch */

typedef struct kept_side {
    const char *session, *front; /* front: what is written before its entries */
    int64_t branch, next;
    size_t left; /* entries still to be written */
} kept_side;

typedef struct kept_compare {
    kept_side *sides;
    size_t n, at;
    json_writer entries; /* for the side being written */
    bool open;
    const char *turns;
} kept_compare;

static bool compare_is_long(const ramet_compare_out *out)
{
    size_t bytes = 0;
    for (size_t i = 0; i < out->n; i++)
        for (size_t k = 0; k < out->sides[i].n; k++)
            bytes += form_entry_bytes(&out->sides[i].entries[k]);
    return bytes > PIECE_BYTES;
}

/* Writes a side up to its entries, of which there are none yet: the last bracket closes their list.
 */
static void front_write(json_writer *w, const ramet_compare_side *s)
{
    ramet_compare_side front = *s;
    front.n = 0;
    jw_object(w);
    form_write_members(w, &form_compare_side, &front, NULL);
}

static kept_compare *compare_keep(arena *a, const ramet_compare_out *out)
{
    kept_compare *kept = arena_alloc(a, sizeof *kept);
    json_writer w;
    buf b;
    kept->n = out->n;
    kept->sides = arena_array(a, out->n, sizeof *kept->sides);
    for (size_t i = 0; i < out->n; i++) {
        const ramet_compare_side *s = &out->sides[i];
        buf_init(&b, SIZE_MAX / 4);
        jw_init(&w, &b, 0);
        front_write(&w, s);
        kept->sides[i] = (kept_side){.session = arena_strdup(a, s->session),
                                     .front = arena_memdup(a, b.data, b.n - 1),
                                     .branch = s->branch,
                                     .next = s->n ? s->entries[0].position : 0,
                                     .left = s->n};
        buf_release(&b);
    }
    buf_init(&b, SIZE_MAX / 4);
    jw_init(&w, &b, 0);
    native_turn_rows(&w, out);
    kept->turns = buf_keep(&b, a);
    return kept;
}

static request_piece compare_step(request *q, void *state)
{
    kept_compare *kept = state;
    ramet_page page = {0};
    if (kept->at == kept->n) {
        jw_end_array(&q->writer);
        jw_kraw(&q->writer, "turns", kept->turns);
        jw_end_object(&q->writer);
        return PIECE_LAST;
    }
    kept_side *s = &kept->sides[kept->at];
    ramet_read_in in = {
        .by_position = true, .position = s->next, .branch = s->branch, .limit = (int)s->left};
    if (s->left && ramet_read(q->call, s->session, &in, &page) != RAMET_OK) {
        request_error(q, ramet_call_error(q->call));
        return PIECE_FAILED;
    }
    if (!kept->open) {
        jw_raw(&q->writer, s->front);
        jw_init(&kept->entries, &q->out, 0);
        kept->open = true;
    }
    for (size_t i = 0; i < page.n; i++)
        native_entry(&kept->entries, &page.entries[i]);
    if (page.n)
        s->next = page.entries[page.n - 1].position + 1;
    s->left = page.n ? s->left - page.n : 0;
    if (!s->left) {
        buf_puts(&q->out, "]}");
        kept->open = false;
        kept->at++;
    }
    return PIECE_MORE;
}

static void compare_answer(request *q, const ramet_compare_out *out)
{
    if (!compare_is_long(out)) {
        api_show(q, &form_comparison, out);
        face_answer(q, RAMET_OK);
        return;
    }
    kept_compare *kept = compare_keep(q->arena, out);
    jw_object(&q->writer);
    jw_kint(&q->writer, "shared", out->shared);
    jw_key(&q->writer, "sides");
    jw_array(&q->writer);
    ramet_call_reset(q->call);
    ramet_call_page_bytes(q->call, PIECE_BYTES);
    face_pieces(q, compare_step, kept);
}

void api_compare_get(request *q)
{
    ramet_call *c = face_call(q);
    const char **texts;
    size_t n = request_query_all(q, "side", &texts);
    ramet_side_in *sides = arena_array(q->arena, n + 1, sizeof *sides);
    ramet_compare_out out = {0};
    if (!c)
        return;
    for (size_t i = 0; i < n; i++)
        api_side(q, texts[i], &sides[i]);
    if (ramet_compare(c, sides, n, api_limit(q), &out) == RAMET_OK)
        compare_answer(q, &out);
    else
        request_error(q, ramet_call_error(c));
}

/* ------------------------------------------------------------------ verdicts */

static bool side_read(request *q, const json_node *v, ramet_side_in *out)
{
    const char *text = json_text(q->arena, &q->json, v);
    if (text) {
        api_side(q, text, out);
        return true;
    }
    out->session = json_text(q->arena, &q->json, json_get(&q->json, v, "session_id"));
    return api_branch(q, "sides", json_text(q->arena, &q->json, json_get(&q->json, v, "branch_id")),
                      &out->branch);
}

/* The winner may be given by its number, or as named among the sides. */
static bool winner_read(request *q, const ramet_side_in *sides, size_t n, int *out)
{
    const json_node *v = face_member(q, "winner");
    const json_node *list = face_member(q, "sides"), *s = json_first(&q->json, list);
    const char *text = json_text(q->arena, &q->json, v);
    int64_t number;
    *out = -1;
    if (!v)
        return true;
    if (json_int(&q->json, v, &number) && number >= 0 && (size_t)number < n) {
        *out = (int)number;
        return true;
    }
    for (size_t i = 0; text && i < n; i++, s = json_next(&q->json, list, s)) {
        const char *as_given = json_text(q->arena, &q->json, s);
        if ((as_given && strcmp(as_given, text) == 0) ||
            (*out < 0 && strcmp(sides[i].session, text) == 0))
            *out = (int)i;
    }
    if (*out >= 0)
        return true;
    request_fail(q, 400, "invalid_request", "winner",
                 "\"winner\" is one of the sides, its number from 0, or null for a tie");
    return false;
}

void api_verdict_add(request *q)
{
    const json_node *list = face_member(q, "sides");
    ramet_side_in *sides = arena_array(q->arena, list->count + 1, sizeof *sides);
    ramet_verdict *out = NULL;
    ramet_call *c = face_call(q);
    size_t n = 0;
    int winner;
    if (!c)
        return;
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        if (!side_read(q, v, &sides[n++]))
            return;
    if (!winner_read(q, sides, n, &winner))
        return;
    api_show_at(q, &form_verdict, &out);
    face_answer(q, ramet_verdict_add(c, sides, n, winner, face_text(q, "reason"), &out));
}

void api_verdicts_list(request *q)
{
    ramet_call *c = face_call(q);
    ramet_verdict *items = NULL;
    form_list list = {0};
    int64_t before;
    bool more = false;
    if (!c || !api_cursor(q, &before))
        return;
    ramet_status st = ramet_verdicts(c, request_query(q, "session"), before, api_limit(q), &items,
                                     &list.n, &more);
    list.items = items;
    list.next_cursor = api_next_cursor(q, list.n ? items[list.n - 1].number : 0, more);
    api_show(q, &form_verdict_list, &list);
    face_answer(q, st);
}

/* -------------------------------------------------------------------- search */

void api_search_get(request *q)
{
    ramet_call *c = face_call(q);
    ramet_hits hits = {0};
    const char *role = request_query(q, "role");
    const char *since = request_query(q, "since"), *until = request_query(q, "until");
    ramet_search_in in = {.query = request_query(q, "q"),
                          .session = request_query(q, "session"),
                          .tree = request_query(q, "tree"),
                          .tag = request_query(q, "tag"),
                          .agent = request_query(q, "agent"),
                          .role = role ? (ramet_role)ramet_role_parse(role) : 0,
                          .limit = api_limit(q),
                          .cursor = request_query(q, "cursor")};
    if (!c)
        return;
    if (since)
        time_parse(since, &in.since);
    if (until)
        time_parse(until, &in.until);
    api_show(q, &form_hit_list, &hits);
    face_answer(q, ramet_search(c, &in, &hits));
}
