/* SPDX-License-Identifier: Apache-2.0
 *
 * moves.c: the methods rewind, undo and redo. None of them loses anything: the old history stays on
 * its branch.
 */
#include "acp/own.h"

#include <stdlib.h>
#include <string.h>

enum { BACK_PAGE = 200 };

const ramet_entry *turn_back(proxy *p, const char *outer, int64_t n)
{
    const ramet_entry *begin = NULL;
    ramet_page page;
    const char *before = NULL;
    do {
        ramet_read_in in = {.limit = BACK_PAGE, .tail = true, .before = before};
        if (p->lib->ramet_read(p->call, outer, &in, &page) != RAMET_OK)
            return NULL;
        for (size_t i = page.n; i-- > 0;) {
            const ramet_entry *e = &page.entries[i];
            bool same =
                begin && begin->turn_id && e->turn_id && strcmp(begin->turn_id, e->turn_id) == 0;
            if (e->role != RAMET_USER)
                continue;
            if (!same && n-- == 0)
                return begin;
            begin = e;
        }
        before = page.n ? page.entries[0].id : NULL;
    } while (before && page.more_before);
    return n <= 0 ? begin : NULL;
}

/* ------------------------------------------------------------------ the move */

void info_send(proxy *p, const ramet_session *r)
{
    char when[TIME_TEXT];
    buf b;
    json_writer w;
    buf_init(&b, 1 << 20);
    jw_init(&w, &b, 0);
    jw_object(&w);
    jw_kstr(&w, "sessionUpdate", "session_info_update");
    jw_kstr(&w, "updatedAt", time_text(r->updated, when));
    lineage_write(&w, r);
    jw_end_object(&w);
    editor_update(p, r->id, b.data);
    buf_release(&b);
}

const ramet_session *move_do(proxy *p, flow *f, ramet_move_kind kind)
{
    session *s = session_outer(p, f->outer);
    ramet_session *out = NULL;
    ramet_move_in in = {.at = {f->entry, f->side}};
    ramet_status rc;
    if (!s) {
        flow_fail(p, f, JSONRPC_NOT_FOUND, "no such session is open", data_session(p, f->outer));
        return NULL;
    }
    if (turn_asked(s->turn)) {
        flow_fail(p, f, JSONRPC_INVALID, "a turn is under way; cancel it first",
                  data_session(p, f->outer));
        return NULL;
    }
    if (!turn_end(p, s, NULL, NULL))
        rc = p->lib->ramet_call_error(p->call)->status;
    else if (kind == RAMET_MOVE_UNDO)
        rc = p->lib->ramet_undo(p->call, f->outer, NULL, &out);
    else if (kind == RAMET_MOVE_REDO)
        rc = p->lib->ramet_redo(p->call, f->outer, NULL, &out);
    else
        rc = p->lib->ramet_rewind(p->call, f->outer, &in, &out, NULL);
    if (rc != RAMET_OK) {
        flow_store_fail(p, f, rc);
        return NULL;
    }
    info_send(p, out);
    return out;
}

static void move_answer(proxy *p, flow *f, ramet_move_kind kind)
{
    char branch[24];
    const ramet_session *r = move_do(p, f, kind);
    if (!r)
        return;
    flow_answer(p, f,
                arena_printf(p->mem,
                             "{\"sessionId\":%s,\"messageId\":%s,\"messages\":%lld,\"branch\":\"%s"
                             "\"}",
                             json_quote(p->mem, r->id),
                             r->head.entry_id ? json_quote(p->mem, r->head.entry_id) : "null",
                             (long long)r->head.length, ramet_branch_text(r->head.branch, branch)));
}

static void undo_take(proxy *p, flow *f, const message *m)
{
    (void)m;
    move_answer(p, f, RAMET_MOVE_UNDO);
}
static void redo_take(proxy *p, flow *f, const message *m)
{
    (void)m;
    move_answer(p, f, RAMET_MOVE_REDO);
}
static void tree_ask(proxy *p, flow *f, const message *m)
{
    (void)m;
    tree_take(p, f);
}

/* Rewinds to a message, or by some turns. */
static void rewind_take(proxy *p, flow *f, const message *m)
{
    const char *id = message_text(m, m->params, "messageId");
    const char *position = message_text(m, m->params, "position");
    int side = position ? ramet_side_parse(position) : RAMET_AFTER;
    int64_t turns = 1;
    const json_node *given = message_at(m, m->params, "turns");
    if (side < 0) {
        flow_fail(p, f, JSONRPC_PARAMS, "position is neither \"before\" nor \"after\"", NULL);
        return;
    }
    if (given && (!json_int(&m->doc, given, &turns) || turns < 1)) {
        flow_fail(p, f, JSONRPC_PARAMS, "turns is not a whole number from 1 on", NULL);
        return;
    }
    if (id) {
        session_put_text(&f->entry, id);
        f->side = (ramet_side)side;
    } else {
        const ramet_entry *e = turn_back(p, f->outer, turns);
        if (!e) {
            flow_fail(p, f, JSONRPC_PARAMS, "there are not so many turns", NULL);
            return;
        }
        session_put_text(&f->entry, e->id);
        f->side = RAMET_BEFORE;
    }
    move_answer(p, f, RAMET_MOVE_REWIND);
}

static const struct {
    const char *method;
    void (*take)(proxy *p, flow *f, const message *m);
} moves[] = {
    {"_ramet/session/rewind", rewind_take},   {"_ramet/session/undo", undo_take},
    {"_ramet/session/redo", redo_take},       {"_ramet/session/tree", tree_ask},
    {"_ramet/session/compare", compare_take}, {"_ramet/session/merge", merge_take},
};

bool move_take(proxy *p, const message *m)
{
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        if (strcmp(moves[i].method, m->method) != 0 || !m->id_raw)
            continue;
        if (!m->session) {
            editor_error(p, m->id_raw, JSONRPC_PARAMS, "sessionId is missing", NULL);
            return true;
        }
        moves[i].take(p, flow_new(p, m), m);
        return true;
    }
    return false;
}
