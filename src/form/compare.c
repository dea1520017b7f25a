/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c: JSON shapes of comparisons, verdicts and search hits.
 */
#include "form/rows.h"

/* ---------------------------------------------------------------------- turns */

static void turns_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_compare_out *c = owner;
    (void)context;
    jw_array(w);
    for (size_t i = 0; i < c->n_turns; i++) {
        jw_array(w);
        for (size_t k = 0; k < c->n; k++) {
            jw_array(w);
            jw_int(w, c->turns[i].side[k].from);
            jw_int(w, c->turns[i].side[k].to);
            jw_end_array(w);
        }
        jw_end_array(w);
    }
    jw_end_array(w);
}

void native_turn_rows(json_writer *w, const ramet_compare_out *c)
{
    turns_write(w, c, NULL);
}

static void turn_row_read(const json_doc *d, const json_node *row, ramet_turn_row *out)
{
    size_t i = 0, max = sizeof out->side / sizeof out->side[0];
    for (const json_node *s = json_first(d, row); s && i < max; s = json_next(d, row, s), i++) {
        const json_node *from = json_first(d, s), *to = from ? json_next(d, s, from) : NULL;
        if (to) {
            json_int(d, from, &out->side[i].from);
            json_int(d, to, &out->side[i].to);
        }
    }
}

static void turns_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    ramet_compare_out *c = owner;
    c->turns = arena_array(a, v->count + 1, sizeof *c->turns);
    for (const json_node *row = json_first(d, v); row; row = json_next(d, v, row))
        turn_row_read(d, row, &c->turns[c->n_turns++]);
}

static bool side_has_agent(const void *owner)
{
    return ((const ramet_compare_side *)owner)->agent.name != NULL;
}

/* ---------------------------------------------------------------------- marks
 * They count characters of `highlight` in JSON, and bytes in C. */

static int64_t characters(const char *s, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n && s[i]; i++)
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

/* The byte offset of the n-th character. */
static int32_t byte_at(const char *s, int64_t n)
{
    const char *p = s;
    while (*p && n > 0) {
        p++;
        while (((unsigned char)*p & 0xC0) == 0x80)
            p++;
        n--;
    }
    return (int32_t)(p - s);
}

static void marks_write(json_writer *w, const void *owner, const form_context *context)
{
    const ramet_hit *h = owner;
    (void)context;
    jw_array(w);
    for (size_t i = 0; i < h->n_marks; i++) {
        const ramet_mark *m = &h->marks[i];
        jw_object(w);
        jw_kint(w, "start", characters(h->snippet, (size_t)m->start));
        jw_kint(w, "length", characters(h->snippet + m->start, (size_t)m->length));
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void marks_read(arena *a, const json_doc *d, const json_node *v, void *owner)
{
    ramet_hit *h = owner;
    ramet_mark *list = arena_array(a, v->count + 1, sizeof *list);
    for (const json_node *m = json_first(d, v); m; m = json_next(d, v, m)) {
        int64_t start = 0, length = 0;
        json_int(d, json_get(d, m, "start"), &start);
        json_int(d, json_get(d, m, "length"), &length);
        int32_t from = byte_at(h->snippet, start), to = byte_at(h->snippet, start + length);
        list[h->n_marks++] = (ramet_mark){from, to - from};
    }
    h->marks = list;
}

/* --------------------------------------------------------------------- tables */

/* clang-format off */

#define S ramet_compare_out
const form_schema form_comparison = STRUCT("Comparison", "",
    R("shared", INT, "number of entries that all sides share", AT(INT64, shared)),
    R("sides", ARRAY, "", LIST_OF(form_compare_side, sides, n)),
    R("turns", ARRAY, "one row per turn: for each side [from, to) in its `entries`", .of = &form_turn_row, HOOK(turns_write, turns_read)));
#undef S
const form_schema form_turn_row = {.name = "TurnRow", .text = "[[from, to], …], one pair per side.", .fields = NULL};

#define S ramet_compare_side
const form_schema form_compare_side = STRUCT("CompareSide", "",
    R("session_id", TEXT, "", AT(TEXT, session)),
    R("branch_id", TEXT, "", AT(BRANCH, branch)),
    R("title", TEXT, "", AT(STRING, title)),
    R("agent", OBJECT, "", NUL, PART(form_agent, agent), WHEN(side_has_agent)),
    R("head", OBJECT, "", PART(form_head, head)),
    R("own", INT, "number of entries after the shared ones", AT(INT64, own)),
    R("first_at", TIME, "time of its first own entry", NUL, AT(TIME, first)),
    R("last_at", TIME, "time of its last own entry", NUL, AT(TIME, last)),
    R("usage", OBJECT, "usage of its own entries", PART(form_usage_sum, usage)),
    R("entries", ARRAY, "its first own entries", LIST_OF(form_entry, entries, n)));
#undef S

#define S ramet_side_in
const form_schema form_side = STRUCT("Side", "", R("session_id", TEXT, "", AT(TEXT, session)), R("branch_id", TEXT, "", AT(BRANCH, branch)));
#undef S
const form_schema form_side_in = {
    .name = "SideIn", .text = "A side; as a string: SESSION or SESSION@BRANCH.", .or_text = true,
    .fields = FIELDS(R("session_id", TEXT, ""), F("branch_id", TEXT, "default: its head"))};

#define S ramet_verdict
const form_schema form_verdict = STRUCT("Verdict", "",
    R("number", INT, "from 1", AT(INT64, number)),
    R("sides", ARRAY, "", LIST_OF(form_side, sides, n)),
    R("winner", INT, "index into sides; null: a tie", NUL, AT(INT, winner), .none = -1),
    R("reason", TEXT, "", AT(STRING, reason)),
    BY(who),
    CREATED_AT(at));
#undef S
const form_schema form_verdict_list = LIST("VerdictList", "verdicts", form_verdict, "Newest first.");

#define S ramet_hit
const form_schema form_hit = STRUCT("Hit", "",
    R("session_id", TEXT, "a session that contains it and that the caller may see", AT(TEXT, session)),
    R("title", TEXT, "title of the session", AT(STRING, title)),
    R("entry_id", TEXT, "", AT(TEXT, entry_id)),
    R("branch_id", TEXT, "", AT(BRANCH, branch)),
    R("position", INT, "", AT(INT64, position)),
    R("role", ENUM, "", WORD(ROLES, role)),
    R("abandoned", BOOL, "not on that session's current path", AT(BOOL, abandoned)),
    R("highlight", TEXT, "the text around the match", AT(STRING, snippet)),
    R("marks", ARRAY, "the matching parts of `highlight`", .of = &form_mark, HOOK(marks_write, marks_read)),
    R("score", NUMBER, "higher is better", AT(DOUBLE, score)),
    CREATED_AT(created));
#undef S
const form_schema form_mark = SHAPE("Mark", "A range of characters in `highlight`.", R("start", INT, ""), R("length", INT, ""));

#define S ramet_hits
const form_schema form_hit_list = STRUCT("HitList", "Best first.",
    R("hits", ARRAY, "", LIST_OF(form_hit, items, n)),
    R("next_cursor", TEXT, "", NUL, AT(TEXT, next_cursor)),
    R("bounded", BOOL, "too many matches: only the newest were ranked", AT(BOOL, bounded)));
#undef S
