/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of an import that are more than columns: origins of copies, overlays, and what the agents
 * of turns were sent (import.h).
 */
#include "core/export/import.h"

#include "core/call.h"
#include "core/change/overlay.h"
#include "core/check.h"
#include "core/model/key.h"
#include "core/view/overlay_set.h"
#include "core/pack.h"
#include "core/turn/prompt.h"

#define ORIGINS_MAX 1000 /* of one copy */

#define CELL(name) row[record_column_at(table, name)]

/* --------------------------------------------------------------------- origins */

/* A member that is a whole number; false when it is something else. */
static bool number_in(const record *r, const json_node *v, const char *name, int64_t most,
                      int64_t *out, size_t *known)
{
    const json_node *member = json_get(&r->doc, v, name);
    *known += member != NULL;
    return !member || (json_int(&r->doc, member, out) && *out >= 0 && *out <= most);
}

static bool foreign_read(record *r, const json_node *v, import_foreign *out, size_t *known)
{
    const json_node *session = json_get(&r->doc, v, "session_id"),
                    *entry = json_get(&r->doc, v, "entry_id"),
                    *hash = json_get(&r->doc, v, "prefix_hash");
    if (!session && !entry && !hash)
        return false;
    const char *hex = json_text(r->arena, &r->doc, hash);
    out->session = json_text(r->arena, &r->doc, session);
    out->entry = json_text(r->arena, &r->doc, entry);
    *known += 3;
    if (!out->session || !out->entry || !hex || strlen(hex) != 2 * HASH_LEN ||
        !hex_decode(hex, out->hash, HASH_LEN))
        record_fault(r, "an origin in another tree has session_id, entry_id and prefix_hash");
    return true;
}

bool import_origin_foreign(record *r, size_t n, import_foreign *out)
{
    const json_node *list = json_get(&r->doc, r->doc.nodes, "origins"), *v;
    size_t known = 0;
    for (v = json_first(&r->doc, list); v && n; v = json_next(&r->doc, list, v))
        n--;
    return v && foreign_read(r, v, out, &known) && !r->fault[0];
}

static ramet_status origin_read(import_job *j, record *r, const json_node *v, int64_t line,
                                bool translate, copied_from *from, bool *foreign)
{
    import_foreign other;
    size_t known = 0;
    int64_t session = 0, branch = 0, position = 0, span = 1;
    bool sane = json_is(v, JSON_OBJECT) &&
                number_in(r, v, "session", INT32_MAX, &session, &known) &&
                number_in(r, v, "branch", BRANCH_MAX, &branch, &known) &&
                number_in(r, v, "position", POS_MAX, &position, &known) &&
                number_in(r, v, "span", POS_MAX, &span, &known) && span > 0 && !session == !branch;
    bool away = sane && !session && foreign_read(r, v, &other, &known);
    if (!sane || r->fault[0] || known != v->count)
        return import_damaged(j, line, "%s",
                              r->fault[0] ? r->fault : "an origin has members that it cannot have");
    *foreign = *foreign || away;
    *from = (copied_from){.span = span};
    if (!session)
        return RAMET_OK;
    int64_t k = KEY(branch, position);
    TRY(import_session_ref(j, line, false, translate, &session));
    TRY(import_key_ref(j, line, false, translate, &k));
    *from = (copied_from){.tree = j->t.tree, .session = session, .key = k, .span = span};
    return RAMET_OK;
}

ramet_status import_origins(import_job *j, record *r, int64_t line, bool translate,
                            import_about *about)
{
    const json_node *list = json_get(&r->doc, r->doc.nodes, "origins");
    size_t n = 0;
    if (!list || r->fault[0])
        return RAMET_OK;
    r->taken++;
    if (!json_is(list, JSON_ARRAY) || list->count < 1 || list->count > ORIGINS_MAX)
        return import_damaged(j, line, "\"origins\" must be an array of 1 to %d objects",
                              ORIGINS_MAX);
    about->origins = arena_array(r->arena, list->count, sizeof *about->origins);
    for (const json_node *v = json_first(&r->doc, list); v; v = json_next(&r->doc, list, v))
        TRY(origin_read(j, r, v, line, translate, &about->origins[n++], &about->foreign));
    about->n_origins = n;
    return RAMET_OK;
}

/* -------------------------------------------------------------------- overlays */

/* One entry of `also`: [branch, position]. */
static bool also_key(const record *r, const json_node *v, int64_t *k)
{
    const json_node *first = json_is(v, JSON_ARRAY) ? json_first(&r->doc, v) : NULL;
    int64_t branch, position;
    if (!first || v->count != 2 || !json_int(&r->doc, first, &branch) ||
        !json_int(&r->doc, json_next(&r->doc, v, first), &position) || branch < 1 ||
        branch > BRANCH_MAX || position < 0 || position > POS_MAX)
        return false;
    *k = KEY(branch, position);
    return true;
}

/* What is hidden along with the entry, as the store keeps it (core/change/overlay.c). */
static ramet_status ties_read(import_job *j, record *r, int64_t line, bool translate,
                              copy_cell *out)
{
    const json_node *also = json_get(&r->doc, r->doc.nodes, "also"),
                    *calls = json_get(&r->doc, r->doc.nodes, "calls");
    ramet_status st = RAMET_OK;
    buf text;
    json_writer w;
    *out = (copy_cell){.null = true, .bytes = ""};
    r->taken += (also != NULL) + (calls != NULL);
    if (!also && !calls)
        return RAMET_OK;
    if (!json_is(also, JSON_ARRAY) || !json_is(calls, JSON_ARRAY))
        return import_damaged(j, line, "\"also\" and \"calls\" must be arrays, and come together");
    buf_init(&text, (size_t)OVERLAY_BYTES_MAX);
    jw_init(&w, &text, 0);
    jw_object(&w);
    jw_key(&w, "also");
    jw_array(&w);
    for (const json_node *v = json_first(&r->doc, also); v && st == RAMET_OK;
         v = json_next(&r->doc, also, v)) {
        int64_t k = 0;
        st = also_key(r, v, &k) ? import_key_ref(j, line, false, translate, &k)
                                : import_damaged(j, line,
                                                 "\"also\" has pairs of a branch and a "
                                                 "position");
        jw_int(&w, k);
    }
    jw_end_array(&w);
    jw_key(&w, "calls");
    jw_array(&w);
    for (const json_node *v = json_first(&r->doc, calls); v && st == RAMET_OK;
         v = json_next(&r->doc, calls, v)) {
        const char *id = v->has_nul ? NULL : json_text(r->arena, &r->doc, v);
        if (id)
            jw_str(&w, id);
        else
            st = import_damaged(j, line, "\"calls\" has ids of tool calls");
    }
    jw_end_array(&w);
    jw_end_object(&w);
    if (st == RAMET_OK && text.over)
        st = import_damaged(j, line, "it hides too much");
    if (st == RAMET_OK)
        *out = (copy_cell){.n = text.n, .bytes = arena_memdup(r->arena, text.data, text.n)};
    buf_release(&text);
    return st;
}

/* Which members an action has. */
static const char *overlay_fault(const copy_table *table, const copy_cell *row)
{
    int64_t n = CELL("no").number, action = CELL("action").number;
    bool joins = action == OVERLAY_UNION, removes = action == OVERLAY_REMOVE;
    if (CELL("prev").number >= n || CELL("prev2").number >= n || CELL("removes").number >= n)
        return "it refers to an overlay that does not come before it";
    if (joins ? !CELL("prev").number || !CELL("prev2").number : CELL("prev2").number != 0)
        return "two sets are joined, and only then there are two before it";
    if (!CELL("k").number != (joins || removes))
        return "\"hide\", \"replace\" and \"hide_before\" name an entry, others do not";
    if ((CELL("removes").number && !removes) || (!CELL("ties").null && action != OVERLAY_HIDE) ||
        CELL("text").null != (action != OVERLAY_REPLACE))
        return "it has members that its action cannot have";
    return CELL("text").n > OVERLAY_TEXT_MAX ? "its text is too long" : NULL;
}

/* O2 and O3 in core/model/overlay_set.c. */
static ramet_status overlay_sum(import_job *j, const copy_table *table, copy_cell *row,
                                int64_t line)
{
    import_tree *t = &j->t;
    import_overlay_sum sum = {1, (int64_t)(CELL("text").n + CELL("ties").n)};
    const int64_t before[] = {CELL("prev").number, CELL("prev2").number};
    for (size_t i = 0; i < 2; i++)
        if (before[i]) {
            sum.size += t->overlays[before[i] - 1].size;
            sum.bytes += t->overlays[before[i] - 1].bytes;
        }
    if (sum.size > OVERLAY_SIZE_MAX || sum.bytes > OVERLAY_BYTES_MAX)
        return import_damaged(j, line, "its set has more than %d overlays, or %lld bytes of text",
                              OVERLAY_SIZE_MAX, (long long)OVERLAY_BYTES_MAX);
    t->overlays = import_grow(j->tree, t->overlays, t->have_overlays, sizeof *t->overlays);
    t->overlays[t->have_overlays++] = sum;
    CELL("size").number = sum.size;
    CELL("bytes").number = sum.bytes;
    return RAMET_OK;
}

static void overlay_close(import_job *j, const copy_table *table, copy_cell *row)
{
    overlay_row sealed = {.no = CELL("no").number,
                          .prev = CELL("prev").number,
                          .prev2 = CELL("prev2").number,
                          .size = CELL("size").number,
                          .bytes = CELL("bytes").number,
                          .action = (overlay_action)CELL("action").number,
                          .key = CELL("k").number,
                          .removes = CELL("removes").number,
                          .text = CELL("text").null ? NULL : CELL("text").bytes,
                          .ties = CELL("ties").null ? NULL : CELL("ties").bytes,
                          .who = CELL("who").null ? NULL : CELL("who").bytes,
                          .at = CELL("at").number};
    CELL("seal").number = overlay_seal(j->call->hasher, j->t.tree, &sealed);
}

ramet_status import_overlay(import_job *j, record *r, int64_t line, bool translate, copy_cell *row)
{
    const copy_table *table = &copy_tables[COPY_T_overlay];
    record_row(r, row);
    if (r->fault[0])
        return import_damaged(j, line, "%s", r->fault);
    TRY(ties_read(j, r, line, translate, &CELL("ties")));
    if (!record_done(r))
        return import_damaged(j, line, "%s", r->fault);
    if (CELL("no").number != j->t.have_overlays + 1)
        return import_damaged(j, line, "overlay %lld is out of order",
                              (long long)CELL("no").number);
    const char *fault = overlay_fault(table, row);
    if (fault)
        return import_damaged(j, line, "%s", fault);
    int64_t branch = KEY_BRANCH(CELL("k").number);
    TRY(import_refs(j, RECORD_OVERLAY, row, line, translate));
    if (branch && j->t.branches[branch - 1].log != RAMET_LOG_MAIN)
        return import_damaged(j, line, "overlays are of the log main alone");
    TRY(overlay_sum(j, table, row, line));
    if (translate)
        overlay_close(j, table, row);
    return RAMET_OK;
}

/* --------------------------------------------------------------------- prompts */

ramet_status import_prompt(import_job *j, record *r, int64_t line, bool translate, copy_cell *row)
{
    const copy_table *table = &copy_tables[COPY_T_prompt];
    ramet_call *c = j->call;
    record_row(r, row);
    const char *data = record_json_get(r, "data");
    if (!record_done(r) || !data)
        return import_damaged(j, line, "%s", r->fault[0] ? r->fault : "\"data\" is missing");
    int64_t session = CELL("session").number, branch = CELL("branch").number;
    if (!session || !branch)
        return import_damaged(j, line, "\"session\" or \"branch\" is missing");
    TRY(import_refs(j, RECORD_PROMPT, row, line, translate));
    const import_branch *b = &j->t.branches[branch - 1];
    if (b->session != session || CELL("len").number > b->len)
        return import_damaged(j, line, "its session has no such branch, or a shorter one");
    arena *own = c->arena;
    ramet_prompt_in in = {.length = CELL("len").number, .agent = CELL("agent").bytes, .data = data};
    const ramet_prompt_in *given = c->prompt;
    c->arena = r->arena;
    c->prompt = &in;
    ramet_status st = check_id(c, "turn", CELL("turn").bytes);
    if (st == RAMET_OK)
        st = prompt_check(c);
    c->arena = own;
    c->prompt = given;
    TRY(import_checked(j, line, st));
    if (translate) {
        uint8_t *digest = arena_alloc(r->arena, HASH_LEN);
        size_t n;
        const char *packed = prompt_keep(c->hasher, r->arena, data, digest, &n);
        CELL("digest") = (copy_cell){.bytes = (const char *)digest, .n = HASH_LEN};
        CELL("packed") = (copy_cell){.bytes = packed, .n = n};
    }
    return RAMET_OK;
}
