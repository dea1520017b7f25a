/* SPDX-License-Identifier: Apache-2.0
 *
 * script.c: see script.h.
 */
#include "script.h"
#include "ramet/branches.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/templates.h"

#include <stdlib.h>
#include <string.h>

static int64_t script_clock(void *arg)
{
    return ((script *)arg)->now;
}

ramet_options script_options(script *s, const char *vfs)
{
    s->now = 1700000000000000;
    return (ramet_options){.engine_vfs = vfs,
                           .clock = script_clock,
                           .clock_arg = s,
                           .limits = {.meta_bytes = 1 << 20}};
}

/* What a step works on. */
typedef struct scene {
    ramet_call *c;
    rng r;
    int step;
    const char *session;  /* an existing one, by chance */
    const char *entry_id; /* on its path, by chance; NULL when it is empty */
    ramet_entry_in in[6]; /* entries to append */
    char ids[6][32];
    char *texts[6];
    char delta[64], turn[32];
    ramet_usage usage;
} scene;

static ramet_status scene_choose(scene *s)
{
    ramet_session_list list;
    ramet_page p;
    ramet_status st = ramet_session_find(s->c, &(ramet_list_in){.limit = 12}, &list);
    if (st || !list.n)
        return st;
    s->session = list.items[rng_below(&s->r, (int)list.n)].id;
    st = ramet_read(s->c, s->session, &(ramet_read_in){.limit = 20, .tail = true}, &p);
    if (!st && p.n)
        s->entry_id = p.entries[rng_below(&s->r, (int)p.n)].id;
    return st;
}

/* n entries of all shapes: text, parts, foreign bodies, usage, state. */
static void scene_entries(scene *s, int n)
{
    snprintf(s->delta, sizeof s->delta, "{\"k%d\":%d,\"gone\":null}", rng_below(&s->r, 5), s->step);
    snprintf(s->turn, sizeof s->turn, "turn-%d", s->step);
    s->usage =
        (ramet_usage){.input = s->step, .output = 7, .cached = 1, .cost = 5000, .currency = "EUR"};
    for (int i = 0; i < n; i++) {
        ramet_entry_in *e = &s->in[i];
        snprintf(s->ids[i], sizeof s->ids[i], "e%d.%d", s->step, i);
        s->texts[i] = text_of(s->ids[i]);
        *e = (ramet_entry_in){.id = s->ids[i], .role = i % 2 ? RAMET_ASSISTANT : RAMET_USER};
        switch (rng_below(&s->r, 6)) {
        case 0:
            e->parts =
                "[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"data\",\"data\":{\"x\":[1,2]}}]";
            break;
        case 1:
            e->format = "a2a";
            e->body = "{\"kind\": \"message\", \"n\": 0.10, \"parts\": []}";
            e->text = s->texts[i];
            break;
        default:
            e->text = s->texts[i];
        }
        if (rng_below(&s->r, 3) == 0)
            e->state_delta = s->delta;
        if (rng_below(&s->r, 3) == 0)
            e->usage = &s->usage;
        e->turn_id = s->turn;
    }
}

static ramet_status step_create(scene *s)
{
    char id[24], title[64];
    const char *tags[] = {"first", "script"};
    ramet_session *out;
    snprintf(id, sizeof id, "s%d", s->step);
    snprintf(title, sizeof title, "Session of step %d", s->step);
    return ramet_session_create(
        s->c,
        &(ramet_session_in){.id = id, .title = title, .tags = tags, .n_tags = 2, .owner = "ann"},
        &out);
}

static ramet_status step_append(scene *s)
{
    int n = 1 + rng_below(&s->r, 5);
    ramet_append_out out;
    scene_entries(s, n);
    return ramet_append(
        s->c, s->session,
        &(ramet_append_in){.entries = s->in,
                           .n = (size_t)n,
                           .log = rng_below(&s->r, 8) ? RAMET_LOG_MAIN : RAMET_LOG_ADK},
        &out);
}

/* Metadata of 300 KB is written over and over: many pages a commit, and the store stays small. */
static ramet_status step_busy(scene *s)
{
    enum { SIZE = 300000 };
    ramet_session *out;
    if (s->step % 4 == 0)
        return step_append(s);
    char *json = mem_new(SIZE + 16);
    size_t n = (size_t)sprintf(json, "{\"x\": \"");
    while (n < SIZE)
        json[n++] = (char)('a' + rng_below(&s->r, 26));
    snprintf(json + n, 16, "\"}");
    ramet_status st =
        ramet_session_update(s->c, s->session, &(ramet_session_patch){.metadata = json}, &out);
    free(json);
    return st;
}

static ramet_status step_fork(scene *s)
{
    char id[24];
    ramet_session *out;
    snprintf(id, sizeof id, "f%d", s->step);
    return ramet_fork(s->c, s->session,
                      &(ramet_fork_in){.id = id,
                                       .at = {s->entry_id, (ramet_side)rng_below(&s->r, 2)},
                                       .cut = (ramet_cut_policy)rng_below(&s->r, 3),
                                       .reason = "to try another way"},
                      &out, NULL);
}

static ramet_status step_rewind(scene *s)
{
    ramet_session *out;
    return ramet_rewind(s->c, s->session,
                        &(ramet_move_in){.at = {s->entry_id, (ramet_side)rng_below(&s->r, 2)}},
                        &out, NULL);
}

static ramet_status step_overlay(scene *s)
{
    ramet_overlay_out out;
    ramet_overlay *list;
    size_t n;
    ramet_overlay_in in = {.entry_id = s->entry_id,
                           .action = (ramet_overlay_action)(1 + rng_below(&s->r, 3)),
                           .reason = "for the model"};
    in.text = in.action == RAMET_OVERLAY_REPLACE ? "other words" : NULL;
    ramet_status st = ramet_overlays(s->c, s->session, 0, &list, &n);
    if (st || !n || rng_below(&s->r, 3))
        return st ? st : ramet_overlay_set(s->c, s->session, &in, &out);
    return ramet_overlay_remove(s->c, s->session, list[0].id, NULL, NULL, false, &out);
}

/* Pins the session, begins a chat with the newest template, or unpins that. One write a step: a
 * step that fails must have done nothing. */
static ramet_status step_template(scene *s)
{
    char id[24];
    ramet_template *t;
    size_t n;
    const char *next;
    ramet_session *out;
    ramet_template_value value = {"n", "a value"};
    int kind = rng_below(&s->r, 5);
    ramet_status st = ramet_templates(s->c, 1, NULL, &t, &n, &next);
    if (st)
        return st;
    if (!n || kind < 2) {
        ramet_template_in in = {.session = s->session,
                                .entry_id = s->entry_id,
                                .name = "a template",
                                .placeholders = &value.name,
                                .n_placeholders = 1};
        return ramet_template_add(s->c, &in, &t);
    }
    if (kind == 4)
        return ramet_template_remove(s->c, t->id);
    snprintf(id, sizeof id, "t%d", s->step);
    ramet_template_use use = {.values = &value, .n_values = 1, .fork = {.id = id}};
    return ramet_template_chat(s->c, t->id, &use, &out);
}

static ramet_status step_edit(scene *s)
{
    ramet_append_out out;
    scene_entries(s, 1);
    return ramet_edit(s->c, s->session, s->entry_id, s->in, NULL, &out);
}

static ramet_status step_regenerate(scene *s)
{
    int n = rng_below(&s->r, 3);
    ramet_append_out out;
    scene_entries(s, n);
    return ramet_regenerate(s->c, s->session, s->entry_id, s->in, (size_t)n, NULL, &out);
}

static ramet_status step_switch(scene *s)
{
    ramet_branch *b;
    size_t n;
    ramet_session *out;
    ramet_status st = ramet_branches(s->c, s->session, &b, &n);
    return st ? st : ramet_switch(s->c, s->session, b[rng_below(&s->r, (int)n)].id, NULL, &out);
}

/* The client's list is what is there without its end, and something new. */
static ramet_status step_sync(scene *s)
{
    ramet_page p;
    ramet_sync_out out;
    ramet_status st =
        ramet_read(s->c, s->session, &(ramet_read_in){.limit = 1000, .channel = "history"}, &p);
    if (st)
        return st;
    size_t keep = p.n ? (size_t)rng_below(&s->r, (int)p.n + 1) : 0;
    ramet_entry_in *list = mem_new((keep + 2) * sizeof *list);
    for (size_t i = 0; i < keep; i++)
        list[i] = (ramet_entry_in){.id = p.entries[i].id,
                                   .role = p.entries[i].role,
                                   .parts = p.entries[i].parts,
                                   .format = p.entries[i].format,
                                   .body = p.entries[i].body};
    scene_entries(s, 2);
    list[keep] = s->in[0];
    list[keep + 1] = s->in[1];
    st = ramet_sync(s->c, s->session, list, keep + 2, NULL, &out);
    free(list);
    return st;
}

/* To the end of another session, if that goes on where this one ends. Copies would have other ids
 * each time that the script is played. */
static ramet_status step_forward(scene *s)
{
    ramet_session_list list;
    ramet_merge_out out;
    ramet_status st = ramet_session_find(s->c, &(ramet_list_in){.limit = 12}, &list);
    if (st)
        return st;
    for (size_t i = 0; i < list.n; i++) {
        ramet_merge_in in = {.mode = RAMET_FAST_FORWARD, .from = list.items[i].id};
        st = ramet_merge(s->c, s->session, &in, &out);
        if (st != RAMET_MERGE_REFUSED)
            return st;
    }
    return st;
}

/* Names, prunes or restores a branch of the session; one that something needs is refused. */
static ramet_status step_branch(scene *s, const char *name)
{
    static const bool yes = true;
    ramet_branch *b, *shown;
    size_t n;
    ramet_prune_out out;
    int kind = rng_below(&s->r, 4);
    ramet_status st = kind == 3 ? ramet_branches_pruned(s->c, s->session, &b, &n)
                                : ramet_branches(s->c, s->session, &b, &n);
    if (st || !n)
        return st;
    int64_t branch = b[rng_below(&s->r, (int)n)].id;
    if (kind == 0)
        return ramet_branch_update(s->c, s->session, branch,
                                   &(ramet_branch_patch){.name = name, .favourite = &yes}, &shown);
    if (kind == 3)
        return ramet_branch_restore(s->c, s->session, branch, s->step % 2, &out);
    return ramet_prune(s->c, s->session,
                       &(ramet_prune_in){.branch = kind == 1 ? branch : 0, .others = kind == 2},
                       &out);
}

static ramet_status step_label(scene *s)
{
    char text[48];
    const char *tags[] = {text, "Shared Tag"};
    ramet_tags out;
    ramet_session *session;
    ramet_verdict *verdict;
    ramet_delete_out gone;
    snprintf(text, sizeof text, "tag %d", s->step);
    switch (rng_below(&s->r, 9)) {
    case 6:
    case 7:
    case 8:
        return step_branch(s, text);
    case 0:
        return ramet_tags_set(s->c, s->session, tags, 2, &out);
    case 1:
        return ramet_tags_remove(s->c, s->session, tags + 1, 1, &out);
    case 2:
        return ramet_session_update(s->c, s->session,
                                    &(ramet_session_patch){.title = text, .metadata = "{\"a\": 1}"},
                                    &session);
    case 3:
        return ramet_member_set(s->c, s->session, text, RAMET_WRITER);
    case 4:
        return ramet_session_delete(s->c, s->session, false, s->step % 2, &gone);
    default:
        return ramet_verdict_add(
            s->c, (ramet_side_in[]){{.session = s->session}, {.session = s->session}}, 2, 0, text,
            &verdict);
    }
}

static ramet_status step_take(scene *s)
{
    ramet_session *out;
    int kind = rng_below(&s->r, 29);
    if (!s->session || kind == 0)
        return step_create(s);
    if (!s->entry_id || kind <= 9)
        return step_append(s);
    switch (kind) {
    case 10:
    case 11:
    case 12:
        return step_fork(s);
    case 13:
    case 14:
        return step_rewind(s);
    case 15:
    case 16:
        return ramet_undo(s->c, s->session, NULL, &out);
    case 17:
        return ramet_redo(s->c, s->session, NULL, &out);
    case 18:
        return step_edit(s);
    case 19:
        return step_regenerate(s);
    case 20:
        return step_switch(s);
    case 21:
        return step_sync(s);
    case 22:
    case 23:
        return step_forward(s);
    case 24:
        return step_overlay(s);
    case 25:
    case 26:
    case 27:
        return step_template(s);
    default:
        return step_label(s);
    }
}

ramet_status script_step(script *s, ramet_call *c, int step)
{
    scene sc = {.c = c, .r = {mix(s->seed, (uint64_t)step)}, .step = step};
    s->now = 1700000000000000 + (int64_t)(step + 1) * 1000000;
    ramet_status st = scene_choose(&sc);
    if (!st && step == 0)
        st = step_create(&sc);
    else if (!st)
        st = s->busy ? step_busy(&sc) : step_take(&sc);
    for (int i = 0; i < 6; i++)
        free(sc.texts[i]);
    return st;
}

void script_play(script *s, ramet *r)
{
    ramet_call *c = ramet_call_new(r, NULL, "script");
    for (int i = 0; i < s->steps; i++) {
        ramet_status st = script_step(s, c, i);
        if (ramet_status_http(st) >= 500) {
            fprintf(stderr, "fault: step %d failed: %s (%s)\n", i, ramet_status_code(st),
                    ramet_call_error(c)->message);
            abort();
        }
        ramet_call_reset(c);
    }
    ramet_call_free(c);
}
