/* SPDX-License-Identifier: Apache-2.0
 *
 * Erasing templates, and the values that sessions made from them show in place of placeholders
 * (core/model/fill.c).
 *
 * Of a session that is erased whole, all values and templates go; of another one that holds an
 * erased entry, the values and names that share a word with it. An entry that was named in a
 * session with values takes those along that it showed there. Sessions that were forked from it
 * have copies of its values (F2), which go, too. The values of other sessions are their own.
 */
#include "core/erase/erase.h"

#include "core/call.h"
#include "core/model/fill.h"
#include "core/session/session.h"

typedef struct gone_value {
    const char *name, *text;
} gone_value;
typedef VEC(gone_value) gone_values;

/* Which values go. */
typedef struct value_test {
    bool all;
    const erase_words *words; /* those that share one; NULL: none */
    const ramet_entry *entry; /* those that it shows, as the record has it; NULL: none */
    const gone_values *same;  /* these; NULL: none */
} value_test;

/* `shown`: the entry as the levels before this one show it; NULL: this one does not reach it. */
static bool value_goes(const value_test *t, const ramet_entry *shown, fill_value *v)
{
    if (!*v->text || strcmp(v->text, RAMET_ERASED_TEXT) == 0)
        return false;
    if (t->all || (t->words && words_share(t->words, v->text)))
        return true;
    for (size_t i = 0; t->same && i < t->same->n; i++)
        if (strcmp(t->same->items[i].name, v->name) == 0 &&
            strcmp(t->same->items[i].text, v->text) == 0)
            return true;
    return shown && fill_count(&(fill_level){.values = v, .n = 1}, shown) > 0;
}

/* What is shown instead is never longer than the value was: what values add to an entry is bounded
 * (F5). */
static const char *value_left(const char *text)
{
    return strlen(text) >= strlen(RAMET_ERASED_TEXT) ? RAMET_ERASED_TEXT : "";
}

/* Erases values of one level. What it shows of the entry is put into *shown first: levels after it
 * fill in the text as it was until now. */
static int64_t level_cut(erase_batch *b, fill_level *l, const value_test *t, ramet_entry *shown,
                         gone_values *out)
{
    int64_t n = 0;
    const bool reaches = t->entry && shown->position < l->len[RAMET_LOG_MAIN];
    const ramet_entry before = *shown;
    if (reaches)
        fill_level_entry(l, shown, b->arena);
    for (size_t i = 0; i < l->n; i++) {
        fill_value *v = &l->values[i];
        if (!value_goes(t, reaches ? &before : NULL, v))
            continue;
        gone_value was = {v->name, v->text};
        VEC_PUSH(b->arena, out, was);
        v->text = v->escaped = value_left(v->text);
        n++;
    }
    return n;
}

/* Erases values of one session; `out` gets those that it had. */
static void values_cut(txn *tx, erase_batch *b, int64_t tree, int64_t session, const value_test *t,
                       gone_values *out)
{
    fill f;
    ramet_entry shown = {0};
    int64_t n = 0;
    const char *text = fill_text(tx, tree, session);
    if (!text)
        return;
    if (!fill_parse(tx->call->hasher, b->arena, text, &f)) {
        db_fail(tx->db, RAMET_DAMAGED,
                "the values of a session that was made from a template are damaged. They cannot be "
                "erased; run fsck");
        return;
    }
    if (t->entry)
        shown = *t->entry;
    for (size_t l = 0; l < f.n; l++)
        n += level_cut(b, &f.levels[l], t, &shown, out);
    if (n)
        fill_set(tx, tree, session, fill_write(tx->call->hasher, b->arena, &f));
    b->counts[ERASE_VALUES] += n;
}

static bool is_below(txn *tx, int64_t tree, int64_t session, int64_t above)
{
    session_full s;
    while (session && session != above)
        session = session_by_no(tx, tree, session, &s) ? s.parent : 0;
    return session == above;
}

/* The same values in the forks of a session. */
static void copies_cut(txn *tx, erase_batch *b, int64_t tree, int64_t from, const gone_values *gone)
{
    VEC(int64_t) v = {0};
    gone_values more = {0};
    const value_test same = {.same = gone};
    if (!gone->n)
        return;
    db_stmt *q = db_query(tx->db, Q_fill_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        int64_t no = q_col_int(q, 0);
        if (no != from)
            VEC_PUSH(b->arena, &v, no);
    }
    for (size_t i = 0; i < v.n && db_status(tx->db) == RAMET_OK; i++)
        if (is_below(tx, tree, v.items[i], from))
            values_cut(tx, b, tree, v.items[i], &same, &more);
}

void values_erase(txn *tx, erase_batch *b, int64_t tree, int64_t session, const erase_words *words)
{
    gone_values gone = {0};
    const value_test t = {.all = !words, .words = words};
    values_cut(tx, b, tree, session, &t, &gone);
    copies_cut(tx, b, tree, session, &gone);
}

void values_shown_erase(txn *tx, erase_batch *b, int64_t tree, int64_t session,
                        const ramet_entry *e)
{
    gone_values gone = {0};
    const value_test t = {.entry = e};
    values_cut(tx, b, tree, session, &t, &gone);
    copies_cut(tx, b, tree, session, &gone);
}

void templates_erase(txn *tx, erase_batch *b, int64_t tree, int64_t session,
                     const erase_words *words)
{
    VEC(const char *) v = {0};
    if (!words) {
        db_stmt *q = db_query(tx->db, Q_template_clear);
        q_int(q, 1, tree);
        q_int(q, 2, session);
        batch_run(tx, b, q, ERASE_TEMPLATES);
        return;
    }
    db_stmt *q = db_query(tx->db, Q_template_of_tree);
    q_int(q, 1, tree);
    while (q_row(q)) {
        const char *id = q_keep_text(q, 0, b->arena);
        if (q_col_int(q, 2) == session && words_share(words, q_col_text(q, 7)))
            VEC_PUSH(b->arena, &v, id);
    }
    for (size_t i = 0; i < v.n; i++) {
        q = db_query(tx->db, Q_erase_template);
        q_text(q, 1, v.items[i]);
        q_text(q, 2, RAMET_ERASED_TEXT);
        batch_run(tx, b, q, ERASE_TEMPLATES);
    }
}
