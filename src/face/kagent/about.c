/* SPDX-License-Identifier: Apache-2.0
 *
 * about.c: agents as kagent's user interface lists them, feedback, and the server's health and
 * version.
 */
#include "face/kagent/kagent.h"
#include "ramet/kagent.h"

#include <string.h>

/* ------------------------------------------------------------------ the server */

void kagent_health(request *q)
{
    kagent_data(q);
    jw_object(&q->writer);
    jw_kstr(&q->writer, "status", "OK");
    jw_end_object(&q->writer);
    kagent_end(q, "OK");
    face_done(q);
}

void kagent_version_get(request *q)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "kagent_version", q->host->version);
    jw_kstr(&q->writer, "git_commit", "");
    jw_kstr(&q->writer, "build_date", "");
    jw_end_object(&q->writer);
    face_done(q);
}

void kagent_me(request *q)
{
    jw_object(&q->writer);
    jw_kstr(&q->writer, "sub", q->caller.user);
    jw_end_object(&q->writer);
    face_done(q);
}

/* ------------------------------------------------------------------ agents */

/* An agent of this server, or one that the client's sessions name. */
typedef struct known_agent {
    const char *id;
    bool here;
} known_agent;

typedef VEC(known_agent) agent_list;

static void agent_add(request *q, agent_list *all, const char *name, bool here)
{
    known_agent a = {a2a_agent_id(q->arena, name), here};
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i].id, a.id) == 0)
            return;
    VEC_PUSH(q->arena, all, a);
}

static bool agents_find_all(request *q, agent_list *all)
{
    ramet_session *list;
    size_t n;
    const char *name;
    for (size_t i = 0; q->host->agent_name && (name = q->host->agent_name(q->host->arg, i)); i++)
        agent_add(q, all, name, true);
    if (!kagent_sessions(q, &list, &n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (list[i].agent.name)
            agent_add(q, all, list[i].agent.name, false);
    return true;
}

static void agent_write(request *q, const known_agent *a)
{
    const char *ns, *name;
    json_writer *w = &q->writer;
    a2a_agent_split(q->arena, a->id, &ns, &name);
    jw_object(w);
    jw_kstr(w, "id", a->id);
    jw_key(w, "agent");
    jw_object(w);
    jw_kstr(w, "apiVersion", "kagent.dev/v1alpha2");
    jw_kstr(w, "kind", "Agent");
    jw_key(w, "metadata");
    jw_object(w);
    jw_kstr(w, "name", name);
    jw_kstr(w, "namespace", ns);
    jw_end_object(w);
    jw_key(w, "spec");
    jw_object(w);
    jw_kstr(w, "type", a->here ? "Declarative" : "BYO");
    jw_kstr(w, "description", a->here ? "Answers in Ramet." : "Answers elsewhere.");
    jw_end_object(w);
    jw_kraw(w, "status", "{}");
    jw_end_object(w);
    jw_kstr(w, "modelProvider", "");
    jw_kstr(w, "model", "");
    jw_kstr(w, "modelConfigRef", "");
    jw_kraw(w, "memoryRefs", "[]");
    jw_kraw(w, "tools", "[]");
    jw_kbool(w, "deploymentReady", true);
    jw_kbool(w, "accepted", true);
    jw_kstr(w, "workloadMode", "deployment");
    jw_end_object(w);
}

/* A DNS label (RFC 1123). */
static bool is_label(const char *s)
{
    size_t n = strlen(s);
    return n >= 1 && n <= 63 && strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == n &&
           s[0] != '-' && s[n - 1] != '-';
}

void kagent_agents_list(request *q)
{
    static const char done[] = "Successfully listed agents";
    const char *wanted = request_query(q, "namespace"), *ns, *name;
    agent_list all = {0};
    size_t shown = 0;
    if (wanted && !is_label(wanted)) {
        kagent_refuse(q, 400, "Invalid namespace: it must be a DNS-1123 label");
        return;
    }
    if (!agents_find_all(q, &all))
        return;
    kagent_data(q);
    jw_array(&q->writer);
    for (size_t i = 0; i < all.n; i++) {
        a2a_agent_split(q->arena, all.items[i].id, &ns, &name);
        if (wanted &&
            strcmp(a2a_agent_id_of(q->arena, ns, ""), a2a_agent_id_of(q->arena, wanted, "")) != 0)
            continue;
        agent_write(q, &all.items[i]);
        shown++;
    }
    jw_end_array(&q->writer);
    if (shown)
        kagent_end(q, done);
    else
        kagent_done(q, done);
    face_done(q);
}

void kagent_agent_get(request *q)
{
    const char *id = a2a_agent_id_of(q->arena, face_path(q, "namespace"), face_path(q, "name"));
    agent_list all = {0};
    if (!agents_find_all(q, &all))
        return;
    for (size_t i = 0; i < all.n; i++) {
        if (strcmp(all.items[i].id, id) != 0)
            continue;
        kagent_data(q);
        agent_write(q, &all.items[i]);
        kagent_end(q, "Successfully retrieved agent");
        face_done(q);
        return;
    }
    kagent_refuse(q, 404, "Agent not found");
}

void kagent_toolservers(request *q)
{
    kagent_done(q, "Successfully listed tool servers");
    face_done(q);
}

void kagent_namespaces(request *q)
{
    agent_list all = {0};
    const char *ns, *name, *seen = "\n";
    if (!agents_find_all(q, &all))
        return;
    kagent_data(q);
    jw_array(&q->writer);
    for (size_t i = 0; i < all.n; i++) {
        a2a_agent_split(q->arena, all.items[i].id, &ns, &name);
        if (strstr(seen, arena_printf(q->arena, "\n%s\n", ns)))
            continue;
        seen = arena_printf(q->arena, "%s%s\n", seen, ns);
        jw_object(&q->writer);
        jw_kstr(&q->writer, "name", ns);
        jw_kstr(&q->writer, "status", "Active");
        jw_end_object(&q->writer);
    }
    jw_end_array(&q->writer);
    kagent_end(q, "Successfully listed namespaces");
    face_done(q);
}

/* ------------------------------------------------------------------ feedback */

void kagent_feedback_post(request *q)
{
    ramet_call *c = kagent_call(q);
    const json_node *message = face_member(q, "message_id");
    ramet_remark in = {.positive = face_bool(q, "is_positive"),
                       .text = face_text(q, "feedback_text"),
                       .issue = face_text(q, "issue_type")};
    if (!c)
        return;
    if (!in.text || !*in.text) {
        kagent_refuse(q, 400, "Missing required field: feedbackText");
        return;
    }
    in.has_message = message && json_int(&q->json, message, &in.message);
    ramet_status st = ramet_remark_add(c, &in);
    if (st != RAMET_OK) {
        kagent_error(q, st, "Failed to create feedback", NULL);
        return;
    }
    kagent_data(q);
    jw_raw(&q->writer, "{}");
    kagent_end(q, "Feedback submitted successfully");
    face_done(q);
}

static void remark_write(request *q, const ramet_remark *r)
{
    jw_object(&q->writer);
    jw_kint(&q->writer, "id", r->number);
    kagent_time(q, "created_at", r->at);
    kagent_time(q, "updated_at", r->at);
    jw_kstr(&q->writer, "user_id", r->user);
    if (r->has_message)
        jw_kint(&q->writer, "message_id", r->message);
    jw_kbool(&q->writer, "is_positive", r->positive);
    jw_kstr(&q->writer, "feedback_text", r->text);
    if (*r->issue)
        jw_kstr(&q->writer, "issue_type", r->issue);
    jw_end_object(&q->writer);
}

void kagent_feedback_list(request *q)
{
    static const char done[] = "Successfully listed feedback";
    ramet_call *c = kagent_call(q);
    ramet_remark *list;
    size_t n = 0, shown = 0;
    int64_t after = 0;
    if (!c)
        return;
    kagent_data(q);
    jw_array(&q->writer);
    do {
        ramet_status st = ramet_remarks(c, after, 1000, &list, &n);
        if (st != RAMET_OK) {
            kagent_error(q, st, "Failed to list feedback", NULL);
            return;
        }
        for (size_t i = 0; i < n; i++)
            remark_write(q, &list[i]);
        shown += n;
        after = n ? list[n - 1].number : after;
    } while (n == 1000);
    jw_end_array(&q->writer);
    if (shown)
        kagent_end(q, done);
    else
        kagent_done(q, done);
    face_done(q);
}
