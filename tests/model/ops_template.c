/* SPDX-License-Identifier: Apache-2.0
 *
 * ops_template.c: operations on templates, and chats from them.
 */
#include "content.h"
#include "driver.h"
#include "via.h"

#include <string.h>

static const char *template_ref(const world *w, int32_t k)
{
    if (!w->m.templates.n || k == 31)
        return "no-such-template";
    const m_template *t = w->m.templates.items[(size_t)k % w->m.templates.n];
    return t->id;
}

/* Up to three words that texts have in braces. */
static size_t names_ref(int32_t k, const char **names)
{
    size_t n = (size_t)k % 4;
    for (size_t i = 0; i < n; i++)
        names[i] = content_words[((size_t)k * 5 + i * 3) % WORDS];
    return n;
}

static void template_compare(world *w, const ramet_template *got, const m_template *t)
{
    same_text(w, "template.id", got->id, t->id);
    same_text(w, "template.name", got->name, t->name);
    same_text(w, "template.session", got->session, t->session->id);
    same_int(w, "template.length", got->length, t->len);
    same_text(w, "template.entry_id", got->entry_id, t->branch->path[t->len - 1]->id);
    same_int(w, "template.placeholders", (int64_t)got->n_placeholders, (int64_t)t->n);
    for (size_t i = 0; i < t->n && i < got->n_placeholders; i++)
        same_text(w, "template.placeholder", got->placeholders[i], t->names[i]);
}

static void pin_new(world *w, const op *o)
{
    const char *names[3];
    m_session *s = slot_session(w, o->a[A_S]);
    ramet_template_in in = {.session = slot_id(w, o->a[A_S]),
                            .entry_id = entry_ref(w, s, s ? s->head : NULL, o->a[A_AT]),
                            .name = "pinned",
                            .placeholders = names,
                            .n_placeholders = names_ref(o->a[A_K], names)};
    ramet_template *got = NULL;
    m_template *made;
    w->m.got = ramet_template_add(w->call, &in, &got);
    world_judge(w, w->m.got, model_template_add(&w->m, w->user, &in, &made));
    if (!made || world_failed(w))
        return;
    made->id = model_text(&w->m, got->id);
    template_compare(w, got, made);
}

static void pin_change(world *w, const op *o)
{
    const char *names[3], *id = template_ref(w, o->a[A_K] / 8);
    m_template *t = model_template_find(&w->m, id);
    ramet_template_patch in = {.name = o->a[A_AT] & 1 ? "renamed" : NULL,
                               .placeholders = names,
                               .n_placeholders = names_ref(o->a[A_AT], names),
                               .set_placeholders = o->a[A_AT] & 2};
    if (o->a[A_AT] & 4 && t)
        in.entry_id = entry_ref(w, t->session, t->session->head, o->a[A_AT]);
    ramet_template *got = NULL;
    w->m.got = ramet_template_update(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_template_update(&w->m, w->user, id, &in));
    if (w->m.got == RAMET_OK && !world_failed(w))
        template_compare(w, got, t);
}

void run_template(world *w, const op *o)
{
    const char *id = template_ref(w, o->a[A_K] / 8);
    switch (o->a[A_K] % 8) {
    case 7:
        w->m.got = ramet_template_remove(w->call, id);
        world_judge(w, w->m.got, model_template_remove(&w->m, w->user, id));
        break;
    case 6:
    case 5:
        pin_change(w, o);
        break;
    default:
        pin_new(w, o);
    }
}

void run_chat(world *w, const op *o)
{
    static const char *const texts[] = {"w7", "q\"3", "", "{elm}", "{{fir}}", "w7, w8 or {{elm}}"};
    const char *id = template_ref(w, o->a[A_K]);
    m_template *t = model_template_find(&w->m, id);
    ramet_template_value values[4];
    ramet_template_use in = {
        .values = values,
        .fork = {.id = fork_id(w, o, o->a[A_TO]),
                 .title = content_title(o->a[A_TITLE]),
                 .visibility = o->a[A_PRIVATE] == 1 ? RAMET_PRIVATE : RAMET_TREE_VISIBLE}};
    for (size_t i = 0; t && i < t->n; i++)
        values[in.n_values++] =
            (ramet_template_value){t->names[i], texts[((size_t)o->a[A_C] + i) % 6]};
    if (o->a[A_C] % 16 == 3)
        values[in.n_values++] = (ramet_template_value){"unknown", "x"};
    if (o->a[A_C] % 16 == 7 && in.n_values)
        in.n_values--;
    ramet_session *got = NULL;
    m_answer a = {0};
    w->m.got = ramet_template_chat(w->call, id, &in, &got);
    world_judge(w, w->m.got, model_chat(&w->m, w->user, id, &in, &a));
    if (a.session && !world_failed(w))
        fork_made(w, a.session, o->a[A_TO], got);
}

void run_templates(world *w, const op *o)
{
    ramet_template *page;
    const char *cursor = NULL;
    size_t n, at = w->m.templates.n;
    int limit = o->a[A_LIM] ? 1 + o->a[A_LIM] * 7 : 0;
    do {
        ramet_status st = ramet_templates(w->call, limit, cursor, &page, &n, &cursor);
        world_judge(w, st, M(OK));
        for (size_t i = 0; st == RAMET_OK && i < n && !world_failed(w); i++) {
            const m_template *t = NULL;
            while (at > 0 && !t) {
                const m_template *one = w->m.templates.items[--at];
                t = !one->removed && m_shown(&w->m, one->session, w->user) ? one : NULL;
            }
            if (t)
                template_compare(w, &page[i], t);
            else
                world_fail(w, "templates", "there is one more: %s", page[i].id);
        }
    } while (cursor && !world_failed(w));
    while (at > 0 && !world_failed(w)) {
        const m_template *t = w->m.templates.items[--at];
        if (!t->removed && m_shown(&w->m, t->session, w->user))
            world_fail(w, "templates", "%s is missing", t->id);
    }
}

/* An explicit view of the record shows the names. */
void run_record_view(world *w, const op *o)
{
    const char *id = slot_id(w, o->a[A_S]);
    m_session *s;
    ramet_page page;
    m_set bad = m_open(&w->m, w->user, id, RAMET_READER, &s);
    ramet_read_in in = {.limit = 1 + o->a[A_LIM] * 9, .view = RAMET_VIEW_RECORD};
    ramet_status st = ramet_read(w->call, id, &in, &page);
    world_judge(w, st, bad ? bad : M(OK));
    for (size_t i = 0; st == RAMET_OK && i < page.n && !world_failed(w); i++)
        same_entry(w, &page.entries[i], s->head->path[i], s, NULL, false);
}
