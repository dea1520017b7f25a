/* SPDX-License-Identifier: Apache-2.0
 *
 * tree.c: the forks of a session, its branches and turns, and two histories beside each other.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

enum { COMPARE_ENTRIES = 200, PREVIEW = 60 };

/* ------------------------------------------------------------------ for programs */

static void branches_write(json_writer *w, const ramet_branch *all, size_t n)
{
    char text[24];
    jw_key(w, "branches");
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        jw_object(w);
        jw_kstr(w, "branch", ramet_branch_text(all[i].id, text));
        jw_kint(w, "from", all[i].base);
        jw_kint(w, "messages", all[i].length);
        jw_kbool(w, "current", all[i].current);
        jw_kstr(w, "messageId", all[i].tip_id);
        jw_kstr(w, "preview", all[i].preview);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void forks_write(json_writer *w, const char *outer, const ramet_session *all, size_t n)
{
    jw_key(w, "sessions");
    jw_array(w);
    for (size_t i = 0; i < n; i++) {
        const ramet_session *r = &all[i];
        jw_object(w);
        jw_kstr(w, "sessionId", r->id);
        jw_kstr(w, "title", r->shown_title);
        jw_kstr(w, "forkedFrom", r->parent_id);
        jw_kstr(w, "messageId", r->fork_entry_id);
        jw_kint(w, "depth", r->depth);
        jw_kint(w, "messages", r->head.length);
        jw_kbool(w, "current", strcmp(r->id, outer) == 0);
        if (r->deleted)
            jw_kbool(w, "deleted", true);
        jw_end_object(w);
    }
    jw_end_array(w);
}

/* The messages of the user on the path, newest 1,000: what can be gone back to. */
static void turns_write(proxy *p, json_writer *w, const ramet_page *page)
{
    jw_key(w, "turns");
    jw_array(w);
    for (size_t i = 0; i < page->n; i++) {
        const ramet_entry *e = &page->entries[i];
        if (e->role != RAMET_USER)
            continue;
        jw_object(w);
        jw_kstr(w, "messageId", e->id);
        jw_kstr(w, "preview", text_preview(p->mem, e->text, PREVIEW));
        jw_end_object(w);
    }
    jw_end_array(w);
}

void tree_take(proxy *p, flow *f)
{
    ramet_session *all;
    ramet_branch *branches;
    ramet_page page;
    size_t n, n_branches;
    buf b;
    json_writer w;
    ramet_status rc = p->lib->ramet_tree(p->call, f->outer, false, &all, &n);
    if (rc == RAMET_OK)
        rc = p->lib->ramet_branches(p->call, f->outer, &branches, &n_branches);
    if (rc == RAMET_OK)
        rc = p->lib->ramet_read(p->call, f->outer, &(ramet_read_in){.limit = 1000, .tail = true},
                                &page);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    buf_init(&b, ACP_LINE_MAX);
    jw_init(&w, &b, 0);
    jw_object(&w);
    forks_write(&w, f->outer, all, n);
    branches_write(&w, branches, n_branches);
    turns_write(p, &w, &page);
    jw_end_object(&w);
    flow_answer(p, f, arena_strdup(p->mem, b.data));
    buf_release(&b);
}

static void side_write(json_writer *w, const ramet_compare_side *s)
{
    char text[24];
    jw_object(w);
    jw_kstr(w, "sessionId", s->session);
    jw_kstr(w, "branch", ramet_branch_text(s->branch, text));
    jw_kstr(w, "title", s->title);
    jw_kint(w, "own", s->own);
    jw_key(w, "messages");
    jw_array(w);
    for (size_t i = 0; i < s->n; i++) {
        jw_object(w);
        jw_kstr(w, "messageId", s->entries[i].id);
        jw_kstr(w, "role", ramet_role_name(s->entries[i].role));
        jw_kstr(w, "text", s->entries[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

void compare_take(proxy *p, flow *f, const message *m)
{
    const char *with = message_text(m, m->params, "with");
    const char *branch = message_text(m, m->params, "branch");
    ramet_side_in sides[2] = {{.session = f->outer}, {.session = with ? with : f->outer}};
    ramet_compare_out out;
    buf b;
    json_writer w;
    sides[1].branch = branch ? ramet_branch_parse(branch) : 0;
    if ((!with && !branch) || (branch && !sides[1].branch)) {
        flow_fail(p, f, JSONRPC_PARAMS, "with (a session) or branch (like b3) is needed", NULL);
        return;
    }
    ramet_status rc = p->lib->ramet_compare(p->call, sides, 2, COMPARE_ENTRIES, &out);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return;
    }
    buf_init(&b, ACP_LINE_MAX);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kint(&w, "shared", out.shared);
    jw_key(&w, "sides");
    jw_array(&w);
    for (size_t i = 0; i < out.n; i++)
        side_write(&w, &out.sides[i]);
    jw_end_array(&w);
    jw_end_object(&w);
    flow_answer(p, f, arena_strdup(p->mem, b.data));
    buf_release(&b);
}

/* ------------------------------------------------------------------ for people */

const char *tree_text(proxy *p, const char *outer)
{
    ramet_session *all;
    ramet_branch *branches;
    size_t n, n_branches;
    char text[24];
    buf b;
    if (p->lib->ramet_tree(p->call, outer, false, &all, &n) != RAMET_OK ||
        p->lib->ramet_branches(p->call, outer, &branches, &n_branches) != RAMET_OK)
        return arena_strdup(p->mem, store_error(p));
    buf_init(&b, ACP_LINE_MAX);
    for (size_t i = 0; i < n; i++) {
        const ramet_session *r = &all[i];
        for (int64_t d = r->depth > 32 ? 32 : r->depth; d > 0; d--)
            buf_puts(&b, "  ");
        buf_printf(&b, "- %s%s%s (`%s`, %lld messages)\n", strcmp(r->id, outer) == 0 ? "**" : "",
                   r->deleted ? "(deleted)" : r->shown_title,
                   strcmp(r->id, outer) == 0 ? "**, here" : "", r->id, (long long)r->head.length);
    }
    if (n_branches > 1)
        buf_puts(&b, "\nBranches of this session:\n");
    for (size_t i = 0; n_branches > 1 && i < n_branches; i++)
        buf_printf(&b, "- %s%s: from message %lld, %lld messages: %s\n",
                   ramet_branch_text(branches[i].id, text), branches[i].current ? ", here" : "",
                   (long long)branches[i].base, (long long)branches[i].length, branches[i].preview);
    const char *out = arena_memdup(p->mem, b.data, b.n);
    buf_release(&b);
    return out;
}
