/* SPDX-License-Identifier: Apache-2.0
 *
 * branch.c: versions of messages in a session, syncing a client's list of messages, and comparing
 * two sessions.
 */
#include "face/agentpod/agentpod.h"
#include "ramet/agentpod.h"
#include "ramet/sandboxes.h"

#include <string.h>

static void moved_notify(request *q)
{
    turns_moved(q->host->turns, agentpod_session(q), false);
}

/* ------------------------------------------------------------------ branches */

static void show_branches(request *q, const void *answer)
{
    jw_object(&q->writer);
    agentpod_branches_write(q->arena, &q->writer, answer);
    jw_end_object(&q->writer);
}

void agentpod_branches_list(request *q)
{
    ramet_call *c = agentpod_call(q);
    agentpod_branches out = {.now = -1};
    if (!c)
        return;
    face_render(q, show_branches, &out);
    face_answer(q, agentpod_branches_read(c, agentpod_session(q), &out));
}

/* Answers with the state after a move. It is read after the commit, so it is never stored for an
 * idempotency key. */
static void branches_answer(request *q, void (*show)(request *q, const void *answer),
                            agentpod_branches *b, const void *answer)
{
    ramet_status st = agentpod_branches_read(q->call, agentpod_session(q), b);
    face_render(q, show, answer);
    face_answer(q, st);
}

static void show_switched(request *q, const void *answer)
{
    jw_object(&q->writer);
    jw_kbool(&q->writer, "success", true);
    agentpod_branches_write(q->arena, &q->writer, answer);
    jw_end_object(&q->writer);
}

void agentpod_branch_switch(request *q)
{
    ramet_call *c = agentpod_call(q);
    const char *message = face_text(q, "messageId");
    agentpod_branches b = {.now = -1};
    ramet_session *s;
    const ramet_pick *to = NULL;
    int64_t number = 0;
    if (!c)
        return;
    json_int(&q->json, face_member(q, "branchNumber"), &number);
    if (agentpod_branches_read(c, agentpod_session(q), &b) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    for (size_t i = 0; i < b.n; i++)
        if (b.items[i].number == number && strcmp(b.items[i].message_id, message) == 0)
            to = &b.items[i];
    if (!to) {
        request_fail(q, 404, ramet_status_code(RAMET_BRANCH_NOT_FOUND), "branchNumber",
                     "message %.255s has no branch %lld", message, (long long)number);
        return;
    }
    /* It is the current version already. */
    if (!to->current) {
        if (ramet_switch(c, agentpod_session(q), to->branch, face_expected_head(q), &s) !=
            RAMET_OK) {
            request_error(q, ramet_call_error(c));
            return;
        }
        face_count(q, "switch", NULL);
        moved_notify(q);
    }
    branches_answer(q, show_switched, &b, &b);
}

/* ------------------------------------------------------------------ sync */

typedef struct synced {
    agentpod_branches branches;
    ramet_sync_out done;
    size_t n; /* length of the list */
} synced;

static void show_synced(request *q, const void *answer)
{
    const synced *s = answer;
    bool same = !s->done.moved && !s->done.added;
    jw_object(&q->writer);
    jw_kbool(&q->writer, "success", true);
    jw_kstr(&q->writer, "sessionId", agentpod_session(q));
    jw_key(&q->writer, "divergenceIndex");
    if (same)
        jw_null(&q->writer);
    else
        jw_int(&q->writer, s->done.matched);
    jw_kbool(&q->writer, "moved", s->done.moved);
    jw_kint(&q->writer, "added", s->done.added);
    jw_kint(&q->writer, "messageCount", (int64_t)s->n);
    agentpod_branches_write(q->arena, &q->writer, &s->branches);
    jw_end_object(&q->writer);
}

/* Reads one message of the list; false: the answer is filled in. */
static bool message_read(request *q, const agentpod_branches *b, const json_node *v, size_t i,
                         ramet_entry_in *out)
{
    const json_node *text = json_get(&q->json, v, "text");
    const char *id = json_text(q->arena, &q->json, json_get(&q->json, v, "id"));
    const char *role = json_text(q->arena, &q->json, json_get(&q->json, v, "role"));
    int known = role ? ramet_role_parse(role) : -1;
    const char *wrong = NULL;
    if (!json_is(v, JSON_OBJECT))
        wrong = "is an object";
    else if (!id)
        wrong = "has an id, which is a text";
    else if (known < 0)
        wrong = "has a role: user, assistant, tool or system";
    else if (!json_is(text, JSON_STRING) || text->has_nul)
        wrong = "has a text, without U+0000";
    if (wrong) {
        request_fail(q, 400, "invalid_request", "messages", "messages[%zu] %s", i, wrong);
        return false;
    }
    *out = (ramet_entry_in){.id = agentpod_entry(b, id),
                            .role = (ramet_role)known,
                            .text = json_text(q->arena, &q->json, text)};
    return true;
}

void agentpod_messages_sync(request *q)
{
    ramet_call *c = agentpod_call(q);
    const json_node *list = face_member(q, "messages");
    synced out = {.branches = {.now = -1}};
    if (!c)
        return;
    ramet_entry_in *entries = arena_array(q->arena, list->count + 1, sizeof *entries);
    if (agentpod_branches_read(c, agentpod_session(q), &out.branches) != RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    for (const json_node *v = json_first(&q->json, list); v; v = json_next(&q->json, list, v))
        if (!message_read(q, &out.branches, v, out.n, &entries[out.n]))
            return;
        else
            out.n++;
    if (ramet_sync(c, agentpod_session(q), entries, out.n, face_expected_head(q), &out.done) !=
        RAMET_OK) {
        request_error(q, ramet_call_error(c));
        return;
    }
    if (out.done.moved) {
        face_count(q, "rewind", NULL);
        moved_notify(q);
    }
    branches_answer(q, show_synced, &out.branches, &out);
}

/* ------------------------------------------------------------------ compare */

static void show_comparison(request *q, const void *answer)
{
    const ramet_compare_out *out = answer;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "sessionA", out->sides[0].session);
    jw_kstr(&q->writer, "sessionB", out->sides[1].session);
    jw_kint(&q->writer, "divergenceIndex", out->shared);
    jw_kint(&q->writer, "commonMessageCount", out->shared);
    jw_kint(&q->writer, "uniqueToA", out->sides[0].own);
    jw_kint(&q->writer, "uniqueToB", out->sides[1].own);
    jw_end_object(&q->writer);
}

void agentpod_compare(request *q)
{
    ramet_call *c = agentpod_call(q);
    const char *other = face_path(q, "otherId");
    ramet_side_in sides[2] = {{.session = agentpod_session(q)}, {.session = other}};
    ramet_compare_out out = {0};
    if (!c)
        return;
    ramet_status st = ramet_sandbox_check(c, face_path(q, "sandboxId"), other);
    if (st == RAMET_OK)
        st = ramet_compare(c, sides, 2, 1, &out);
    face_render(q, show_comparison, &out);
    face_answer(q, st);
}
