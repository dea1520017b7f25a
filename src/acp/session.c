/* SPDX-License-Identifier: Apache-2.0
 *
 * session.c: the open sessions, by both of their ids, and what the store keeps about them besides
 * their history.
 */
#include "acp/own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

session *session_outer(proxy *p, const char *outer)
{
    for (session *s = outer ? p->sessions : NULL; s; s = s->next)
        if (strcmp(s->outer, outer) == 0)
            return s;
    return NULL;
}

session *session_inner(proxy *p, const char *inner)
{
    for (session *s = inner ? p->sessions : NULL; s; s = s->next)
        if (strcmp(s->inner, inner) == 0)
            return s;
    return NULL;
}

session *session_left(proxy *p, const char *inner)
{
    for (session *s = inner ? p->sessions : NULL; s; s = s->next)
        for (const left *l = s->left; l; l = l->next)
            if (strcmp(l->inner, inner) == 0)
                return s;
    return NULL;
}

void session_put_text(char **place, const char *text)
{
    char *copy = xstrdup(text);
    free(*place);
    *place = copy;
}

session *session_add(proxy *p, const char *outer, const char *inner)
{
    session *s = xcalloc(1, sizeof *s);
    s->outer = xstrdup(outer);
    s->inner = xstrdup(inner);
    s->next = p->sessions;
    p->sessions = s;
    return s;
}

static void session_free(session *s)
{
    char *all[] = {s->outer, s->inner,  s->tree,     s->cwd,   s->mcp,   s->dirs,
                   s->modes, s->config, s->commands, s->title, s->aside, s->landing};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (left *l = s->left; l;) {
        left *next = l->next;
        free(l->inner);
        free(l);
        l = next;
    }
    turn_free(s->turn);
    free(s);
}

void session_drop(proxy *p, session *s)
{
    session **at = &p->sessions;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    session_free(s);
}

void session_close(proxy *p, session *s)
{
    ids_add(&p->closed, s->inner);
    if (s->aside)
        ids_add(&p->closed, s->aside);
    for (const left *l = s->left; l; l = l->next)
        ids_add(&p->closed, l->inner);
    session_drop(p, s);
}

/* Erasing changes neither hashes nor overlays. When it is not known, the text is like no other: a
 * new inner session is made. */
const char *erased_text(proxy *p, const char *outer, char out[ERASED_TEXT])
{
    ramet_erasure *list;
    size_t n;
    int64_t entries = 0;
    *out = 0;
    if (p->lib->ramet_erasures(p->call, outer, 0, &list, &n) != RAMET_OK)
        snprintf(out, ERASED_TEXT, " x?");
    for (size_t i = 0; i < n; i++)
        entries += list[i].entries;
    if (n)
        snprintf(out, ERASED_TEXT, " x%lld.%lld", (long long)entries,
                 (long long)(list[0].at / 1000));
    return out;
}

const char *held_text(const ramet_head *h, const char *erased, char out[HELD_TEXT])
{
    char overlay[24];
    snprintf(out, HELD_TEXT, "%s%s%s%s", h->hash, h->overlay ? " " : "",
             h->overlay ? ramet_overlay_text(h->overlay, overlay) : "", erased);
    return out;
}

bool session_holds(proxy *p, const session *s, const ramet_head *h)
{
    char now[HELD_TEXT], erased[ERASED_TEXT];
    return strcmp(s->held, held_text(h, erased_text(p, s->outer, erased), now)) == 0;
}

void session_held_set(proxy *p, session *s, const ramet_head *h)
{
    held_text(h, erased_text(p, s->outer, s->erased), s->held);
}

void session_leave(session *s, const char *inner, const char *held)
{
    left *l = xcalloc(1, sizeof *l);
    l->inner = xstrdup(inner);
    snprintf(l->held, sizeof l->held, "%s", held);
    l->next = s->left;
    s->left = l;
}

void session_move(session *s, const char *inner, const char *held, const char *erased)
{
    if (strcmp(s->inner, inner) != 0) {
        session_leave(s, s->inner, s->seed ? "" : s->held);
        session_put_text(&s->inner, inner);
        s->seed = false;
    }
    for (left **at = &s->left; *at;) { /* a session that is used again is no longer abandoned */
        left *l = *at;
        if (strcmp(l->inner, inner) != 0) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        free(l->inner);
        free(l);
    }
    snprintf(s->held, sizeof s->held, "%s", held);
    snprintf(s->erased, sizeof s->erased, "%s", erased);
}

void session_read_setup(session *s, const message *m, const json_node *result)
{
    const char *modes = message_raw(m, result, "modes");
    const char *config = message_raw(m, result, "configOptions");
    if (modes)
        session_put_text(&s->modes, modes);
    if (config)
        session_put_text(&s->config, config);
}

/* ------------------------------------------------------------------ metadata */

/* Names and commands of servers: their other settings may be secret. */
static const char *servers_shown(proxy *p, const char *mcp)
{
    json_doc d;
    buf b;
    json_writer w;
    if (!mcp || !json_parse(p->mem, mcp, strlen(mcp), 0, &d, NULL))
        return "[]";
    buf_init(&b, 16 << 10);
    jw_init(&w, &b, 0);
    jw_array(&w);
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        static const char *const shown[] = {"name", "type", "command"};
        jw_object(&w);
        for (size_t i = 0; i < 3; i++) {
            const char *text = json_text(p->mem, &d, json_get(&d, v, shown[i]));
            if (text)
                jw_kstr(&w, shown[i], text);
        }
        jw_end_object(&w);
    }
    jw_end_array(&w);
    const char *out = b.over ? "[]" : arena_memdup(p->mem, b.data, b.n);
    buf_release(&b);
    return out;
}

/* {"id": value} for the options, for the next time. */
static const char *options_shown(proxy *p, const char *config)
{
    json_doc d;
    buf b;
    if (!config || !json_parse(p->mem, config, strlen(config), 0, &d, NULL))
        return NULL;
    buf_init(&b, 16 << 10);
    buf_putc(&b, '[');
    for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v)) {
        const json_node *id = json_get(&d, v, "id"), *now = json_get(&d, v, "currentValue");
        if (json_is(id, JSON_STRING) && now)
            buf_printf(&b, "%s{\"id\":%s,\"currentValue\":%s}", b.n > 1 ? "," : "",
                       json_raw(p->mem, &d, id), json_raw(p->mem, &d, now));
    }
    buf_putc(&b, ']');
    return buf_keep_whole(&b, p->mem);
}

static const char *mode_now(proxy *p, const char *modes)
{
    json_doc d;
    if (!modes || !json_parse(p->mem, modes, strlen(modes), 0, &d, NULL))
        return NULL;
    const json_node *now = json_get(&d, d.nodes, "currentModeId");
    return now ? json_raw(p->mem, &d, now) : NULL;
}

const char *session_metadata(proxy *p, const session *s, const char *old)
{
    const char *options = options_shown(p, s->config), *mode = mode_now(p, s->modes);
    buf b;
    buf_init(&b, 60 << 10);
    buf_puts(&b, "[");
    for (const left *l = s->left; l; l = l->next)
        buf_printf(&b, "%s%s", l == s->left ? "" : ",", json_quote(p->mem, l->inner));
    buf_puts(&b, "]");
    member all[] = {{"inner", json_quote(p->mem, s->inner)},
                    {"held", json_quote(p->mem, s->seed ? "" : s->held)},
                    {"left", b.over ? NULL : arena_strdup(p->mem, b.data)},
                    {"mode", mode},
                    {"configOptions", options},
                    {"mcpServers", servers_shown(p, s->mcp)}};
    buf_release(&b);
    member acp = {"acp", json_with(p->mem, NULL, all, sizeof all / sizeof *all)};
    return json_with(p->mem, old, &acp, 1);
}

void session_save(proxy *p, session *s)
{
    ramet_session *was;
    ramet_session_patch patch = {0};
    ramet_status rc = p->lib->ramet_session_get(p->call, s->outer, &was);
    if (rc == RAMET_OK) {
        patch.metadata = session_metadata(p, s, was->metadata);
        patch.title = s->title;
        rc = p->lib->ramet_session_update(p->call, s->outer, &patch, &was);
    }
    if (rc != RAMET_OK)
        complain("what belongs to session %s could not be recorded: %s", s->outer, store_error(p));
    else
        session_put_text(&s->title, NULL);
}

void session_announce(proxy *p, session *s, bool replay)
{
    s->open = true;
    waiting_release(p, s, replay);
    commands_send(p, s);
}

/* ------------------------------------------------------------------ ids of a tree */

static uint64_t id_hash(const char *id)
{
    uint64_t h = 1469598103934665603u;
    for (; *id; id++)
        h = (h ^ (unsigned char)*id) * 1099511628211u;
    return h ? h : 1;
}

static bool slot_add(uint64_t *slots, size_t cap, uint64_t h)
{
    size_t i = h & (cap - 1);
    while (slots[i] && slots[i] != h)
        i = (i + 1) & (cap - 1);
    bool added = slots[i] == 0;
    slots[i] = h;
    return added;
}

bool ids_add(ids *set, const char *id)
{
    if (set->n * 2 >= set->cap) {
        size_t cap = set->cap ? set->cap * 2 : 64;
        uint64_t *slots = xcalloc(cap, sizeof *slots);
        for (size_t i = 0; i < set->cap; i++)
            if (set->slots[i])
                slot_add(slots, cap, set->slots[i]);
        free(set->slots);
        set->slots = slots;
        set->cap = cap;
    }
    bool added = slot_add(set->slots, set->cap, id_hash(id));
    set->n += added;
    return added;
}

bool ids_has(const ids *set, const char *id)
{
    uint64_t h = id_hash(id);
    for (size_t i = h & (set->cap - 1); set->cap && set->slots[i]; i = (i + 1) & (set->cap - 1))
        if (set->slots[i] == h)
            return true;
    return false;
}

ids *ids_of(proxy *p, const char *tree)
{
    for (ids *t = p->trees; t; t = t->next)
        if (strcmp(t->tree, tree ? tree : "") == 0)
            return t;
    ids *t = xcalloc(1, sizeof *t);
    t->tree = xstrdup(tree ? tree : "");
    t->next = p->trees;
    p->trees = t;
    return t;
}

void ids_learn(proxy *p, session *s)
{
    ids *set = ids_of(p, s->tree);
    ramet_session *all;
    size_t n;
    ramet_page page;
    int64_t total;
    if (set->known)
        return;
    set->known = true;
    if (p->lib->ramet_tree(p->call, s->outer, true, &all, &n) != RAMET_OK)
        return;
    ramet_call *own = p->lib->ramet_call_new(p->options->store, p->options->user, "ramet-acp");
    for (size_t i = 0; i < n; i++) {
        int64_t at = 0;
        do {
            p->lib->ramet_call_reset(own);
            if (all[i].deleted || p->lib->ramet_record(own, all[i].id, RAMET_LOG_MAIN, at, 1000,
                                                       &page, &total) != RAMET_OK)
                break;
            for (size_t j = 0; j < page.n; j++)
                ids_add(set, page.entries[j].id);
            at += (int64_t)page.n;
        } while (page.n && at < total);
    }
    p->lib->ramet_call_free(own);
}
