/* SPDX-License-Identifier: Apache-2.0
 *
 * native.c: the JSON shapes of Ramet's own API. See native.h.
 */
#include "form/native.h"

#include "base/util.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ writing */

void native_ktime(json_writer *w, const char *key, int64_t us)
{
    char text[TIME_TEXT];
    jw_kstr(w, key, us ? time_text(us, text) : NULL);
}

void native_kbranch(json_writer *w, const char *key, int64_t branch)
{
    char text[24];
    jw_kstr(w, key, branch ? ramet_branch_text(branch, text) : NULL);
}

void native_head(json_writer *w, const ramet_head *h)
{
    jw_object(w);
    native_kbranch(w, "branch_id", h->branch);
    jw_kint(w, "length", h->length);
    jw_kstr(w, "entry_id", h->entry_id);
    jw_kstr(w, "prefix_hash", h->hash);
    jw_end_object(w);
}

void native_agent(json_writer *w, const ramet_agent *a)
{
    if (!a->name) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kstr(w, "name", a->name);
    if (a->provider)
        jw_kstr(w, "provider", a->provider);
    if (a->model)
        jw_kstr(w, "model", a->model);
    if (a->folder)
        jw_kstr(w, "folder", a->folder);
    if (a->options)
        jw_kraw(w, "options", a->options);
    jw_end_object(w);
}

static void forked_from(json_writer *w, const ramet_session *s)
{
    jw_key(w, "forked_from");
    if (!s->is_fork || !s->parent_id) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kstr(w, "session_id", s->parent_id);
    jw_kstr(w, "entry_id", s->fork_entry_id);
    jw_kstr(w, "side", ramet_side_name(s->fork_side));
    jw_kstr(w, "type", ramet_fork_type_name(s->type));
    jw_kstr(w, "reason", s->reason ? s->reason : "");
    jw_key(w, "created_by");
    jw_object(w);
    jw_kstr(w, "kind", ramet_actor_name(s->by_kind));
    jw_kstr(w, "id", s->by_id);
    jw_end_object(w);
    jw_end_object(w);
}

static void strings(json_writer *w, const char *key, const char *const *items, size_t n)
{
    jw_key(w, key);
    jw_array(w);
    for (size_t i = 0; i < n; i++)
        jw_str(w, items[i]);
    jw_end_array(w);
}

static void tree_place(json_writer *w, const ramet_session *s)
{
    jw_kint(w, "depth", s->depth);
    if (s->n_path)
        strings(w, "path", s->path, s->n_path);
}

/* A deleted session keeps its place in the tree and tells nothing else. */
static void place_holder(json_writer *w, const ramet_session *s)
{
    jw_kstr(w, "id", s->id);
    jw_kbool(w, "deleted", true);
    tree_place(w, s);
}

static void session_running(json_writer *w, const ramet_session *s, const native_more *more)
{
    jw_key(w, "running");
    if (more && more->running)
        more->running(more->arg, s, w);
    else
        jw_null(w);
}

static void session_fields(json_writer *w, const ramet_session *s, const native_more *more)
{
    if (s->deleted) {
        place_holder(w, s);
        return;
    }
    jw_kstr(w, "id", s->id);
    jw_kstr(w, "tree_id", s->tree_id);
    jw_kstr(w, "title", s->shown_title ? s->shown_title : s->title);
    jw_kstr(w, "owner", s->owner);
    jw_kstr(w, "visibility", ramet_visibility_name(s->visibility));
    jw_key(w, "agent");
    native_agent(w, &s->agent);
    strings(w, "tags", s->tags, s->n_tags);
    jw_key(w, "head");
    native_head(w, &s->head);
    if (s->adk.branch) {
        jw_key(w, "adk_head");
        native_head(w, &s->adk);
    }
    forked_from(w, s);
    jw_kstr(w, "merged_into", s->merged_into);
    jw_kstr(w, "cache_root", s->cache_root);
    jw_kint(w, "cache_root_shared", s->cache_root_shared);
    session_running(w, s, more);
    jw_kraw(w, "metadata", s->metadata ? s->metadata : "{}");
    jw_kbool(w, "archived", s->archived);
    native_ktime(w, "expires_at", s->expires);
    native_ktime(w, "created_at", s->created);
    native_ktime(w, "updated_at", s->updated);
    if (s->level)
        jw_kstr(w, "level", ramet_level_name(s->level));
    tree_place(w, s);
}

static void sync_done(json_writer *w, const ramet_sync_out *done)
{
    jw_object(w);
    jw_kint(w, "matched", done->matched);
    jw_kint(w, "added", done->added);
    jw_kbool(w, "moved", done->moved);
    jw_end_object(w);
}

void native_session_more(json_writer *w, const ramet_session *s, const native_more *more)
{
    jw_object(w);
    session_fields(w, s, more);
    if (more && more->cut) {
        jw_key(w, "cut");
        native_cut(w, more->cut);
    }
    if (more && more->sync) {
        jw_key(w, "sync");
        sync_done(w, more->sync);
    }
    jw_end_object(w);
}

void native_session(json_writer *w, const ramet_session *s)
{
    native_session_more(w, s, NULL);
}

void native_session_cut(json_writer *w, const ramet_session *s, const ramet_cut *cut)
{
    native_session_more(w, s, &(native_more){.cut = cut});
}

void native_session_sync(json_writer *w, const ramet_sync_out *done)
{
    native_session_more(w, done->session, &(native_more){.sync = done});
}

void native_cut(json_writer *w, const ramet_cut *cut)
{
    jw_object(w);
    jw_kstr(w, "policy", ramet_cut_name(cut->policy));
    jw_kstr(w, "entry_id", cut->entry_id);
    jw_kstr(w, "side", ramet_side_name(cut->side));
    jw_kint(w, "position", cut->position);
    jw_end_object(w);
}

void native_usage(json_writer *w, const ramet_usage *u)
{
    if (!u) {
        jw_null(w);
        return;
    }
    jw_object(w);
    jw_kint(w, "input", u->input);
    jw_kint(w, "output", u->output);
    jw_kint(w, "cached", u->cached);
    jw_key(w, "cost");
    jw_nano(w, u->cost);
    jw_kstr(w, "currency", u->currency ? u->currency : "");
    jw_end_object(w);
}

static void money(json_writer *w, const ramet_money *m)
{
    jw_key(w, "cost");
    jw_nano(w, m->cost);
    jw_kstr(w, "currency", m->currency);
}

void native_usage_sum(json_writer *w, const ramet_usage_sum *u)
{
    static const ramet_money nothing = {0, ""};
    jw_object(w);
    jw_kint(w, "entries", u->entries);
    jw_kint(w, "input", u->input);
    jw_kint(w, "output", u->output);
    jw_kint(w, "cached", u->cached);
    if (u->n_money > 1) {
        jw_kraw(w, "cost", NULL);
        jw_kraw(w, "currency", NULL);
    } else {
        money(w, u->n_money ? &u->money[0] : &nothing);
    }
    jw_key(w, "costs");
    jw_array(w);
    for (size_t i = 0; i < u->n_money; i++) {
        jw_object(w);
        money(w, &u->money[i]);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

void native_usage_out(json_writer *w, const ramet_usage_out *u)
{
    jw_object(w);
    jw_key(w, "own");
    native_usage_sum(w, &u->own);
    jw_key(w, "path");
    native_usage_sum(w, &u->path);
    jw_key(w, "tree");
    native_usage_sum(w, &u->tree);
    jw_end_object(w);
}

void native_entry(json_writer *w, const ramet_entry *e)
{
    jw_object(w);
    jw_kstr(w, "id", e->id);
    jw_kint(w, "position", e->position);
    native_kbranch(w, "branch_id", e->branch);
    jw_kstr(w, "role", ramet_role_name(e->role));
    jw_kstr(w, "text", e->text);
    jw_kraw(w, "parts", e->parts);
    jw_kstr(w, "format", e->format);
    jw_kraw(w, "body", e->body ? e->body : e->parts);
    jw_kstr(w, "turn_id", e->turn_id);
    jw_kstr(w, "channel", e->channel);
    jw_kstr(w, "author", e->author);
    jw_kstr(w, "client", e->client);
    jw_key(w, "usage");
    native_usage(w, e->usage);
    jw_kraw(w, "state_delta", e->state_delta);
    if (e->versions > 0) {
        jw_key(w, "versions");
        jw_object(w);
        jw_kint(w, "number", e->version);
        jw_kint(w, "count", e->versions);
        jw_end_object(w);
    }
    if (e->feedback)
        jw_kstr(w, "feedback", e->feedback > 0 ? "up" : "down");
    jw_kstr(w, "prefix_hash", e->hash);
    native_ktime(w, "created_at", e->created);
    jw_end_object(w);
}

void native_move(json_writer *w, const ramet_move *m)
{
    jw_object(w);
    jw_kint(w, "number", m->number);
    jw_kstr(w, "kind", ramet_move_name(m->kind));
    native_kbranch(w, "from", m->from);
    native_kbranch(w, "to", m->to);
    jw_kint(w, "from_length", m->from_length);
    jw_kint(w, "to_length", m->to_length);
    jw_kstr(w, "by", m->who);
    jw_kstr(w, "reason", m->reason ? m->reason : "");
    native_ktime(w, "created_at", m->at);
    jw_end_object(w);
}

void native_version(json_writer *w, const ramet_version *v)
{
    jw_object(w);
    native_kbranch(w, "branch_id", v->branch);
    jw_kstr(w, "entry_id", v->entry_id);
    jw_kint(w, "number", v->number);
    jw_kstr(w, "type", ramet_fork_type_name(v->type));
    jw_kbool(w, "current", v->current);
    native_ktime(w, "created_at", v->created);
    jw_kstr(w, "preview", v->preview ? v->preview : "");
    jw_end_object(w);
}

void native_branch(json_writer *w, const ramet_branch *b)
{
    jw_object(w);
    native_kbranch(w, "branch_id", b->id);
    native_kbranch(w, "parent_id", b->parent);
    jw_kint(w, "base", b->base);
    jw_kint(w, "length", b->length);
    jw_kstr(w, "entry_id", b->tip_id);
    jw_kstr(w, "type", ramet_fork_type_name(b->type));
    jw_kbool(w, "current", b->current);
    native_ktime(w, "created_at", b->created);
    jw_kstr(w, "preview", b->preview ? b->preview : "");
    if (b->session)
        jw_kstr(w, "session_id", b->session);
    jw_end_object(w);
}

void native_tags(json_writer *w, const ramet_tags *t)
{
    jw_object(w);
    strings(w, "tags", t->items, t->n);
    jw_end_object(w);
}

void native_member(json_writer *w, const ramet_member *m)
{
    jw_object(w);
    jw_kstr(w, "user", m->user);
    jw_kstr(w, "level", ramet_level_name(m->level));
    jw_end_object(w);
}

void native_share(json_writer *w, const ramet_share *s)
{
    jw_object(w);
    jw_kstr(w, "id", s->id);
    jw_kstr(w, "session_id", s->session);
    jw_kbool(w, "write", s->write);
    jw_kstr(w, "created_by", s->by);
    native_ktime(w, "created_at", s->created);
    native_ktime(w, "expires_at", s->expires);
    if (s->token)
        jw_kstr(w, "token", s->token);
    jw_end_object(w);
}

void native_sandbox(json_writer *w, const ramet_sandbox *b)
{
    jw_object(w);
    jw_kstr(w, "id", b->id);
    jw_kstr(w, "owner", b->owner);
    if (b->created)
        native_ktime(w, "created_at", b->created);
    else
        jw_kstr(w, "created_at", NULL);
    jw_end_object(w);
}

void native_token(json_writer *w, const ramet_token *t)
{
    jw_object(w);
    jw_kstr(w, "id", t->id);
    jw_kstr(w, "user", t->user);
    jw_kstr(w, "client", t->client);
    jw_key(w, "roles");
    jw_array(w);
    for (const char *at = t->roles; *at; at += *at == ',') {
        size_t n = strcspn(at, ",");
        jw_strn(w, at, n);
        at += n;
    }
    jw_end_array(w);
    jw_kstr(w, "note", t->note);
    native_ktime(w, "created_at", t->created);
    native_ktime(w, "expires_at", t->expires);
    native_ktime(w, "used_at", t->used);
    jw_kbool(w, "revoked", t->revoked);
    if (t->secret)
        jw_kstr(w, "secret", t->secret);
    jw_end_object(w);
}

static void kratio(json_writer *w, const char *key, double v)
{
    jw_key(w, key);
    jw_nano(w, (int64_t)(v * 1e9));
}

void native_activity(json_writer *w, const ramet_activity *a)
{
    double users = a->active_users ? (double)a->active_users : 1;
    jw_object(w);
    jw_kint(w, "days", a->days);
    jw_kint(w, "active_users", a->active_users);
    jw_kint(w, "forked_users", a->forked_users);
    kratio(w, "forked_share", (double)a->forked_users / users);
    jw_kint(w, "switched_users", a->switched_users);
    kratio(w, "switched_share", (double)a->switched_users / users);
    jw_kint(w, "sessions", a->sessions);
    jw_kint(w, "forks", a->forks);
    jw_kint(w, "trees", a->trees);
    jw_kint(w, "entries", a->entries);
    kratio(w, "forks_per_tree", a->forks_per_tree);
    jw_end_object(w);
}

void native_deleted(json_writer *w, const ramet_delete_out *d)
{
    jw_object(w);
    strings(w, "sessions", d->ids, d->n);
    jw_kint(w, "entries", d->entries);
    jw_kbool(w, "dry_run", d->dry_run);
    jw_end_object(w);
}

void native_verdict(json_writer *w, const ramet_verdict *v)
{
    jw_object(w);
    jw_kint(w, "number", v->number);
    jw_key(w, "sides");
    jw_array(w);
    for (size_t i = 0; i < v->n; i++) {
        jw_object(w);
        jw_kstr(w, "session_id", v->sides[i].session);
        native_kbranch(w, "branch_id", v->sides[i].branch);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_key(w, "winner");
    if (v->winner < 0)
        jw_null(w);
    else
        jw_int(w, v->winner);
    jw_kstr(w, "reason", v->reason ? v->reason : "");
    jw_kstr(w, "by", v->who);
    native_ktime(w, "created_at", v->at);
    jw_end_object(w);
}

static int64_t characters(const char *s, size_t n)
{
    int64_t count = 0;
    for (size_t i = 0; i < n && s[i]; i++)
        count += ((unsigned char)s[i] & 0xC0) != 0x80;
    return count;
}

void native_hit(json_writer *w, const ramet_hit *h)
{
    jw_object(w);
    jw_kstr(w, "session_id", h->session);
    jw_kstr(w, "title", h->title);
    jw_kstr(w, "entry_id", h->entry_id);
    native_kbranch(w, "branch_id", h->branch);
    jw_kint(w, "position", h->position);
    jw_kstr(w, "role", ramet_role_name(h->role));
    jw_kbool(w, "abandoned", h->abandoned);
    jw_kstr(w, "highlight", h->snippet);
    jw_key(w, "marks");
    jw_array(w);
    for (size_t i = 0; i < h->n_marks; i++) {
        const ramet_mark *m = &h->marks[i];
        jw_object(w);
        jw_kint(w, "start", characters(h->snippet, (size_t)m->start));
        jw_kint(w, "length", characters(h->snippet + m->start, (size_t)m->length));
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_key(w, "score");
    jw_nano(w, (int64_t)(h->score * 1e9));
    native_ktime(w, "created_at", h->created);
    jw_end_object(w);
}

void native_fsck(json_writer *w, const ramet_fsck_out *f)
{
    jw_object(w);
    jw_kint(w, "trees", f->trees);
    jw_kint(w, "sessions", f->sessions);
    jw_kint(w, "branches", f->branches);
    jw_kint(w, "entries", f->entries);
    jw_kint(w, "fault_count", f->n_all);
    jw_key(w, "faults");
    jw_array(w);
    for (size_t i = 0; i < f->n; i++) {
        const ramet_fault *x = &f->faults[i];
        jw_object(w);
        jw_kstr(w, "what", x->what);
        jw_kstr(w, "session_id", x->session);
        jw_kstr(w, "entry_id", x->entry_id);
        native_kbranch(w, "branch_id", x->branch > 0 ? x->branch : 0);
        jw_key(w, "position");
        if (x->position < 0)
            jw_null(w);
        else
            jw_int(w, x->position);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

void native_gc(json_writer *w, const ramet_gc_out *g)
{
    jw_object(w);
    jw_kint(w, "sessions", g->sessions);
    jw_kint(w, "expired", g->expired);
    jw_kint(w, "branches", g->branches);
    jw_kint(w, "entries", g->entries);
    jw_kint(w, "bytes", g->bytes);
    jw_kint(w, "attachments", g->attachments);
    jw_kint(w, "attachment_bytes", g->attachment_bytes);
    jw_kbool(w, "dry_run", g->dry_run);
    jw_end_object(w);
}

void native_stats(json_writer *w, const ramet_stats *s)
{
    jw_object(w);
    jw_kstr(w, "path", s->path);
    jw_kint(w, "schema", s->schema);
    jw_kint(w, "trees", s->trees);
    jw_kint(w, "sessions", s->sessions);
    jw_kint(w, "forks", s->forks);
    jw_kint(w, "deleted", s->deleted);
    jw_kint(w, "branches", s->branches);
    jw_kint(w, "entries", s->entries);
    jw_kint(w, "attachments", s->attachments);
    jw_kint(w, "attachment_bytes", s->attachment_bytes);
    jw_kint(w, "file_bytes", s->file_bytes);
    jw_kint(w, "wal_bytes", s->wal_bytes);
    jw_kint(w, "search_bytes", s->search_bytes);
    jw_kint(w, "events", s->events);
    jw_kint(w, "unindexed", s->unindexed);
    jw_end_object(w);
}

void native_error_fields(json_writer *w, const ramet_error *e)
{
    jw_kstr(w, "code", ramet_status_code(e->status));
    jw_kstr(w, "error", e->message);
    if (e->field[0])
        jw_kstr(w, "field", e->field);
    if (e->status == RAMET_HEAD_MOVED) {
        jw_key(w, "head");
        native_head(w, &e->head);
    }
}

void native_error(json_writer *w, const ramet_error *e)
{
    jw_object(w);
    native_error_fields(w, e);
    jw_end_object(w);
}

/* ------------------------------------------------------------------ reading */

__attribute__((format(printf, 3, 4))) static bool refuse(ramet_error *err, const char *field,
                                                         const char *fmt, ...)
{
    va_list ap;
    memset(err, 0, sizeof *err);
    err->status = RAMET_INVALID;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    snprintf(err->field, sizeof err->field, "%s", field);
    return false;
}

/* What a key may hold, and where it goes. */
typedef enum {
    KEY_TEXT,
    KEY_ROLE,
    KEY_ARRAY,
    KEY_OBJECT,
    KEY_ANY,
    KEY_USAGE,
    KEY_INT,
    KEY_MONEY
} key_kind;
typedef struct key_def {
    const char *name;
    key_kind kind;
    size_t offset;
} key_def;

#define KEY(type, name, kind, member)                                                              \
    {                                                                                              \
        name, kind, offsetof(type, member)                                                         \
    }
static const key_def entry_keys[] = {
    KEY(ramet_entry_in, "id", KEY_TEXT, id),
    KEY(ramet_entry_in, "role", KEY_ROLE, role),
    KEY(ramet_entry_in, "text", KEY_TEXT, text),
    KEY(ramet_entry_in, "parts", KEY_ARRAY, parts),
    KEY(ramet_entry_in, "format", KEY_TEXT, format),
    KEY(ramet_entry_in, "body", KEY_ANY, body),
    KEY(ramet_entry_in, "turn_id", KEY_TEXT, turn_id),
    KEY(ramet_entry_in, "channel", KEY_TEXT, channel),
    KEY(ramet_entry_in, "author", KEY_TEXT, author),
    KEY(ramet_entry_in, "usage", KEY_USAGE, usage),
    KEY(ramet_entry_in, "state_delta", KEY_OBJECT, state_delta),
    {NULL, KEY_ANY, 0},
};
static const key_def usage_keys[] = {
    KEY(ramet_usage, "input", KEY_INT, input),        KEY(ramet_usage, "output", KEY_INT, output),
    KEY(ramet_usage, "cached", KEY_INT, cached),      KEY(ramet_usage, "cost", KEY_MONEY, cost),
    KEY(ramet_usage, "currency", KEY_TEXT, currency), {NULL, KEY_ANY, 0},
};
static const key_def agent_keys[] = {
    KEY(ramet_agent, "name", KEY_TEXT, name),
    KEY(ramet_agent, "provider", KEY_TEXT, provider),
    KEY(ramet_agent, "model", KEY_TEXT, model),
    KEY(ramet_agent, "folder", KEY_TEXT, folder),
    KEY(ramet_agent, "options", KEY_OBJECT, options),
    {NULL, KEY_ANY, 0},
};
#undef KEY

static bool read_role(arena *a, const json_doc *d, const json_node *v, void *to, ramet_error *err)
{
    const char *word = json_text(a, d, v);
    int role = word ? ramet_role_parse(word) : -1;
    if (role < 0)
        return refuse(err, "role", "\"role\" is %.60s; it is one of user, assistant, tool, system",
                      json_raw(a, d, v));
    *(ramet_role *)to = (ramet_role)role;
    return true;
}

static bool read_count(const key_def *k, const json_doc *d, const json_node *v, void *to,
                       ramet_error *err)
{
    int64_t n = 0;
    bool ok = k->kind == KEY_INT ? json_int(d, v, &n) : json_nano(d, v, &n);
    if (!ok || n < 0)
        return refuse(err, k->name, "\"%s\" must be %s that is not negative", k->name,
                      k->kind == KEY_INT ? "a whole number" : "a number");
    *(int64_t *)to = n;
    return true;
}

static bool read_value(arena *a, const json_doc *d, const json_node *v, const key_def *k, void *to,
                       ramet_error *err)
{
    switch (k->kind) {
    case KEY_ROLE:
        return read_role(a, d, v, to, err);
    case KEY_INT:
    case KEY_MONEY:
        return read_count(k, d, v, to, err);
    case KEY_TEXT:
        if (!json_is(v, JSON_STRING))
            return refuse(err, k->name, "\"%s\" must be a string", k->name);
        if (v->has_nul)
            return refuse(err, k->name, "\"%s\" holds U+0000, which text may not", k->name);
        *(const char **)to = json_text(a, d, v);
        return true;
    case KEY_USAGE: {
        ramet_usage *u = arena_alloc(a, sizeof *u);
        *(const ramet_usage **)to = u;
        return native_usage_in(a, d, v, u, err);
    }
    case KEY_ARRAY:
    case KEY_OBJECT:
        if (!json_is(v, k->kind == KEY_ARRAY ? JSON_ARRAY : JSON_OBJECT))
            return refuse(err, k->name, "\"%s\" must be %s", k->name,
                          k->kind == KEY_ARRAY ? "an array" : "an object");
        break;
    case KEY_ANY:
        break;
    }
    *(const char **)to = json_raw(a, d, v);
    return true;
}

/* Fills a struct from an object by its table of keys; null means "not given". */
static bool read_object(arena *a, const json_doc *d, const json_node *obj, const key_def *keys,
                        void *out, ramet_error *err)
{
    for (const json_node *key = json_first(d, obj); key;) {
        const json_node *value = json_next(d, obj, key);
        const char *name = json_text(a, d, key);
        const key_def *k = keys;
        while (k->name && strcmp(k->name, name) != 0)
            k++;
        if (!k->name) {
            buf known;
            buf_init(&known, 512);
            for (k = keys; k->name; k++)
                buf_printf(&known, "%s%s", k == keys ? "" : ", ", k->name);
            refuse(err, name, "unknown key \"%.60s\"; known are %s", name, known.p);
            buf_release(&known);
            return false;
        }
        if ((!json_is(value, JSON_NULL) || k->kind == KEY_ANY) &&
            !read_value(a, d, value, k, (char *)out + k->offset, err))
            return false;
        key = json_next(d, obj, value);
    }
    return true;
}

bool native_usage_in(arena *a, const json_doc *d, const json_node *v, ramet_usage *out,
                     ramet_error *err)
{
    memset(out, 0, sizeof *out);
    out->currency = "";
    if (!json_is(v, JSON_OBJECT))
        return refuse(err, "usage",
                      "\"usage\" must be an object like {\"input\": 10, \"output\": 20}");
    return read_object(a, d, v, usage_keys, out, err);
}

bool native_agent_in(arena *a, const json_doc *d, const json_node *v, ramet_agent *out,
                     ramet_error *err)
{
    memset(out, 0, sizeof *out);
    if (json_is(v, JSON_STRING)) {
        out->name = json_text(a, d, v);
        return true;
    }
    if (!json_is(v, JSON_OBJECT))
        return refuse(err, "agent", "\"agent\" must be an object, or a string that is its name");
    return read_object(a, d, v, agent_keys, out, err);
}

bool native_entry_in(arena *a, const json_doc *d, const json_node *v, ramet_entry_in *out,
                     ramet_error *err)
{
    memset(out, 0, sizeof *out);
    if (!json_is(v, JSON_OBJECT))
        return refuse(err, "entries",
                      "an entry must be an object like "
                      "{\"role\": \"user\", \"text\": \"hello\"}");
    return read_object(a, d, v, entry_keys, out, err);
}
