/* SPDX-License-Identifier: Apache-2.0
 *
 * compare.c: an answer of the engine against the model, field by field.
 */
#include "driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void same_int(world *w, const char *what, int64_t got, int64_t want)
{
    if (got != want)
        world_fail(w, what, "got %" PRId64 ", wanted %" PRId64, got, want);
}

void same_time(world *w, const char *what, int64_t got, int64_t want)
{
    bool short_ = OVER_WIRE && got % 1000 == 0;
    same_int(w, what, got, short_ ? want / 1000 * 1000 : want);
}

void same_text(world *w, const char *what, const char *got, const char *want)
{
    if (!m_same(got, want))
        world_fail(w, what, "got '%s', wanted '%s'", got ? got : "", want ? want : "");
}

void same_preview(world *w, const char *what, const char *got, const char *text)
{
    text += strspn(text, " ");
    size_t n = strcspn(text, "\n");
    size_t chars = 0, bytes = 0;
    while (bytes < n && chars < 60) {
        bytes++;
        while (((unsigned char)text[bytes] & 0xC0) == 0x80)
            bytes++;
        chars++;
    }
    if (*text && strncmp(got ? got : "", text, bytes) != 0)
        world_fail(w, what, "got '%s' for '%s'", got ? got : "", text);
}

static void same_usage(world *w, const ramet_usage *got, const m_entry *e)
{
    same_int(w, "entry.usage", got != NULL, e->has_usage);
    if (!got || !e->has_usage)
        return;
    same_int(w, "entry.usage.input", got->input, e->usage.input);
    same_int(w, "entry.usage.output", got->output, e->usage.output);
    same_int(w, "entry.usage.cached", got->cached, e->usage.cached);
    same_int(w, "entry.usage.cost", got->cost, e->usage.cost);
    same_text(w, "entry.usage.currency", got->currency, e->usage.currency);
}

static void same_versions(world *w, const ramet_entry *got, const m_entry *e, const m_session *s,
                          const m_branch *b)
{
    m_list versions = {0};
    m_branch_versions(s, b, (size_t)e->position, &versions);
    same_int(w, "entry.versions", got->versions, (int64_t)versions.n);
    for (size_t i = 0; i < versions.n; i++)
        if (versions.items[i] == e)
            same_int(w, "entry.version", got->version, (int64_t)i + 1);
    free(versions.items);
}

void same_entry(world *w, const ramet_entry *got, const m_entry *e, const m_session *s,
                const m_branch *b, bool versions)
{
    same_text(w, "entry.id", got->id, e->id);
    same_int(w, "entry.position", got->position, e->position);
    same_int(w, "entry.branch", got->branch, e->owner->id);
    same_int(w, "entry.role", (int64_t)got->role, (int64_t)e->role);
    const m_entry *shown = m_entry_shown(b, e);
    same_text(w, "entry.text", got->text, shown->text);
    same_text(w, "entry.parts", got->parts, shown->parts);
    same_text(w, "entry.format", got->format, e->format);
    same_text(w, "entry.body", got->body, e->body);
    same_text(w, "entry.turn_id", got->turn_id, e->turn_id);
    same_text(w, "entry.channel", got->channel, e->channel);
    same_text(w, "entry.author", got->author, e->author);
    same_text(w, "entry.client", got->client, e->client);
    same_text(w, "entry.state_delta", got->state_delta, e->delta);
    same_text(w, "entry.hash", got->hash, e->hash);
    same_time(w, "entry.created", got->created, e->created);
    same_usage(w, got->usage, e);
    if (!OVER_WIRE)
        same_int(w, "entry.copied", got->copied, e->from != NULL);
    if (got->n_origins && e->from) {
        m_session *of;
        const m_entry *from = m_origin(e, &of);
        same_text(w, "entry.origins.session", got->origins[0].session, of->id);
        same_text(w, "entry.origins.entry_id", got->origins[0].entry_id, from->id);
    }
    if (!e->by->number)
        e->by->number = got->owner_no;
    if (!OVER_WIRE || got->owner_no)
        same_int(w, "entry.owner_no", got->owner_no, e->by->number);
    if (versions && e->owner->log == RAMET_LOG_MAIN)
        same_versions(w, got, e, s, b);
    else if (!versions)
        same_int(w, "entry.versions", got->versions, 0);
}

void same_head(world *w, const char *what, const ramet_head *got, const m_branch *b)
{
    char name[60];
    snprintf(name, sizeof name, "%s.branch", what);
    same_int(w, name, got->branch, b ? b->id : 0);
    if (!b)
        return;
    snprintf(name, sizeof name, "%s.length", what);
    same_int(w, name, got->length, (int64_t)b->n);
    snprintf(name, sizeof name, "%s.hash", what);
    same_text(w, name, got->hash, m_branch_hash(b));
    snprintf(name, sizeof name, "%s.entry_id", what);
    same_text(w, name, got->entry_id, b->n ? b->path[b->n - 1]->id : NULL);
}

/* A cut is named as it was asked for (when the policy did not move it), or by the last entry kept.
 */
void same_cut(world *w, const char *what, const char *entry_id, ramet_side side, int64_t position,
              const m_session *fork, const m_answer *a, const ramet_at *asked)
{
    const ramet_cut *cut = &a->cut;
    bool last = m_same(entry_id, cut->entry_id) && side == cut->side;
    bool as_asked = asked->entry_id && m_same(entry_id, asked->entry_id) && side == asked->side;
    bool may_ask = cut->policy == RAMET_CUT_EXACT || !a->cut_moved;
    bool must_ask = cut->policy == RAMET_CUT_EXACT && asked->entry_id && cut->position > 0;
    same_int(w, "cut.position", position, cut->position);
    if (fork && fork->cut_at && fork->cut_at->gone && !entry_id)
        return;
    if (!((as_asked && may_ask) || (last && !must_ask)))
        world_fail(w, what, "cut at '%s' side %d, wanted '%s' side %d (asked '%s' side %d)",
                   entry_id ? entry_id : "", (int)side, cut->entry_id ? cut->entry_id : "",
                   (int)cut->side, asked->entry_id ? asked->entry_id : "", (int)asked->side);
}

void same_tags(world *w, const char *const *got, size_t n, const m_list *want)
{
    same_int(w, "tags.n", (int64_t)n, (int64_t)want->n);
    for (size_t i = 0; i < n && i < want->n; i++)
        same_text(w, "tags", got[i], want->items[i]);
}

static void same_origin(world *w, const ramet_session *got, const m_session *s, const char *user)
{
    const m_session *p = s->parent;
    bool shown = p && m_visible(p, user);
    /* Over HTTP a fork of what is gone, or the caller may not see, looks like a root. */
    if (OVER_WIRE && s->is_fork && !got->is_fork && (!shown || m_gone(&w->m, p)))
        return;
    same_int(w, "session.is_fork", got->is_fork, s->is_fork);
    if (!s->is_fork)
        return;
    if (!shown || !m_gone(&w->m, p) || got->parent_id)
        same_text(w, "session.parent_id", got->parent_id, shown ? p->id : NULL);
    same_int(w, "session.type", (int64_t)got->type, (int64_t)s->type);
    same_text(w, "session.reason", got->reason, s->reason);
    same_int(w, "session.by_kind", (int64_t)got->by_kind, (int64_t)s->by_kind);
    same_text(w, "session.by_id", got->by_id, s->by_id);
    m_answer a = {.cut = s->cut, .cut_moved = s->cut_at == NULL};
    ramet_at asked = {s->cut_at ? s->cut_at->id : NULL, s->cut_side};
    if (got->fork_entry_id || shown)
        same_cut(w, "session.fork_entry_id", got->fork_entry_id, got->fork_side, s->cut.position, s,
                 &a, &asked);
}

static void same_title(world *w, const ramet_session *got, const m_session *s)
{
    char title[2048];
    m_shown_title(s, title, sizeof title);
    same_text(w, "session.shown_title", got->shown_title, title);
}

/* The session that appended the first entry, and how far the last one that it appended lies; the
 * tree stands for a session that the user may not see. */
static void same_cache_root(world *w, const ramet_session *got, const m_session *s,
                            const char *user)
{
    const m_session *root = s->head->n ? s->head->path[0]->by : s;
    bool named = root == s || (m_visible(root, user) && !root->purged);
    same_text(w, "session.cache_root", got->cache_root, named ? root->id : s->tree->id);
    size_t n = s->head->n;
    while (n > 0 && root != s && s->head->path[n - 1]->by != root)
        n--;
    same_int(w, "session.cache_root_shared", got->cache_root_shared, (int64_t)n);
}

void same_session(world *w, const ramet_session *got, const m_session *s, const char *user,
                  bool light)
{
    same_text(w, "session.id", got->id, s->id);
    same_text(w, "session.tree_id", got->tree_id, s->tree->id);
    if (!OVER_WIRE || *s->title) /* else the title shown stands in its place */
        same_text(w, "session.title", got->title, s->title);
    same_text(w, "session.owner", got->owner, s->owner);
    same_int(w, "session.visibility", (int64_t)got->visibility, (int64_t)s->visibility);
    same_text(w, "session.agent.name", got->agent.name, s->agent_name);
    same_text(w, "session.agent.model", got->agent.model, s->agent_model);
    same_text(w, "session.metadata", got->metadata, s->metadata);
    same_int(w, "session.archived", got->archived, s->archived);
    same_int(w, "session.deleted", got->deleted, false);
    same_time(w, "session.expires", got->expires, s->expires);
    same_time(w, "session.created", got->created, s->created);
    same_int(w, "session.depth", got->depth, m_depth(s));
    if (got->updated < s->created || got->updated > w->m.now)
        world_fail(w, "session.updated", "%" PRId64 " is not between created and now",
                   got->updated);
    same_tags(w, got->tags, got->n_tags, &s->tags);
    same_origin(w, got, s, user);
    const m_session *into = s->merged_into;
    if (!into || m_shown(&w->m, into, user))
        same_text(w, "session.merged_into", got->merged_into, into ? into->id : NULL);
    if (light) {
        same_int(w, "session.head.branch", got->head.branch, s->head->id);
        same_int(w, "session.head.length", got->head.length, (int64_t)s->head->n);
        return;
    }
    same_head(w, "session.head", &got->head, s->head);
    same_head(w, "session.adk", &got->adk, s->adk);
    same_title(w, got, s);
    same_cache_root(w, got, s, user);
}

void same_sum(world *w, const char *what, const ramet_usage_sum *got, const m_sum *want)
{
    char name[60];
    snprintf(name, sizeof name, "usage.%s", what);
    same_int(w, name, got->entries, want->entries);
    same_int(w, name, got->input, want->input);
    same_int(w, name, got->output, want->output);
    same_int(w, name, got->cached, want->cached);
    size_t n = 0;
    for (size_t i = 0; i < got->n_money; i++) {
        int64_t cost = -1;
        if (got->money[i].cost == 0)
            continue;
        n++;
        for (size_t k = 0; k < want->n_money; k++)
            if (m_same(got->money[i].currency, want->money[k].currency))
                cost = want->money[k].cost;
        same_int(w, name, got->money[i].cost, cost);
    }
    same_int(w, name, (int64_t)n, (int64_t)want->n_money);
}
