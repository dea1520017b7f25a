/* SPDX-License-Identifier: Apache-2.0
 *
 * write.c: a tree of messages becomes a session with its branches.
 *
 *   W1  A message whose digest the session has is there. The others are appended below their
 *       parents: to a branch that ends there, or to a new one, made by an edit (of a message of the
 *       user) or a regeneration (of anything else).
 *   W2  A session that is not there yet is a fork of the session of its group that shares the most
 *       of its present path, or a new root when there is none.
 *   W3  In the end the head is where the other program was, unless the conversation was continued
 *       or moved in this store since the last import. Where the other program was at that time
 *       stands in the metadata, for conversations that have branches.
 */
#include "foreign/foreign.h"

#include <string.h>

#define BATCH_ENTRIES 500
#define BATCH_BYTES ((size_t)4 << 20)
#define MAX_TITLE_CHARS 300

typedef struct place {
    int64_t branch, position; /* branch 0: not written yet */
} place;

typedef struct writer {
    foreign_job *job;
    foreign_group *group;
    const foreign_conversation *c;
    arena *mem;
    known_session known; /* the session; its head is where it is by now */
    place *places;       /* by index of a message */
    bool is_new;
    int64_t added, first_head;
} writer;

void session_id_make(foreign_job *j, const char *kind, const void *key, size_t n,
                     char out[UUID_TEXT])
{
    uint8_t h[HASH_LEN];
    sha_begin(j->hasher);
    sha_add(j->hasher, "ramet import", 13);
    sha_add(j->hasher, j->user, strlen(j->user) + 1);
    sha_add(j->hasher, j->format, strlen(j->format) + 1);
    sha_add(j->hasher, kind, strlen(kind) + 1);
    sha_add(j->hasher, key, n);
    sha_end(j->hasher, h);
    uuid8(h, out);
}

/* ------------------------------------------------------------------ the session */

/* The metadata with what is known of the import; other members of it stay. */
static const char *metadata_make(writer *w, const char *current)
{
    char when[TIME_TEXT];
    buf b;
    json_writer jw;
    json_doc d;
    const char *old = w->known.metadata;
    buf_init(&b, (size_t)1 << 20);
    jw_init(&jw, &b, 0);
    jw_object(&jw);
    if (old && json_parse(w->mem, old, strlen(old), 0, &d, NULL))
        for (const json_node *k = json_first(&d, d.nodes); k; k = json_next(&d, d.nodes, k)) {
            const json_node *v = json_next(&d, d.nodes, k);
            if (!pick_is(&d, k, "import"))
                jw_kraw(&jw, json_text(w->mem, &d, k), json_raw(w->mem, &d, v));
            k = v;
        }
    jw_key(&jw, "import");
    jw_object(&jw);
    jw_kstr(&jw, "from", w->job->format);
    jw_kstr(&jw, "id", w->c->id);
    if (w->c->created)
        jw_kstr(&jw, "created_at", time_text(w->c->created, when));
    if (w->c->model)
        jw_kstr(&jw, "model", w->c->model);
    if (w->c->folder)
        jw_kstr(&jw, "folder", w->c->folder);
    if (current)
        jw_kstr(&jw, "current", current);
    jw_end_object(&jw);
    jw_end_object(&jw);
    return buf_keep(&b, w->mem);
}

static const char *title_make(writer *w)
{
    const char *t = w->c->title;
    return t && *t ? text_preview(w->mem, t, MAX_TITLE_CHARS) : NULL;
}

static void session_made(writer *w, const ramet_session *s)
{
    known_branch b = {s->head.branch, s->head.length};
    w->known.head = s->head;
    w->known.metadata = arena_strdup(w->mem, s->metadata);
    VEC_PUSH(w->mem, &w->known.branches, b);
    w->is_new = true;
    w->job->out->sessions_added++;
}

/* The entry at a position of a path. */
static ramet_status entry_id_at(writer *w, const char *session, int64_t branch, int64_t position,
                                const char **id)
{
    ramet_page page;
    ramet_read_in in = {.limit = 1, .by_position = true, .position = position, .branch = branch};
    TRY(ramet_read(w->job->call, session, &in, &page));
    if (page.n != 1)
        return job_fail(w->job, RAMET_INTERNAL, NULL, "an imported entry is gone");
    *id = arena_strdup(w->mem, page.entries[0].id);
    return RAMET_OK;
}

/* The last message of the present path that a session of the group has. */
static const digest_place *shared_last(writer *w, int64_t *index)
{
    for (int64_t i = w->c->tip; i >= 0; i = w->c->nodes.items[i].up) {
        const digest_place *p = digests_get(&w->group->places, w->c->nodes.items[i].digest);
        if (p) {
            *index = i;
            return p;
        }
    }
    return NULL;
}

/* Without times, a common first question is no copy: an answer must be common, too. */
static bool shared_counts(const writer *w, int64_t index)
{
    if (!w->c->timeless || w->c->link == LINK_COPY)
        return true;
    for (int64_t i = index; i >= 0; i = w->c->nodes.items[i].up)
        if (w->c->nodes.items[i].role == RAMET_ASSISTANT)
            return true;
    return false;
}

static void shared_count(writer *w, int64_t index)
{
    for (int64_t i = index; i >= 0; i = w->c->nodes.items[i].up) {
        w->job->out->entries_shared++;
        w->job->out->bytes_shared += (int64_t)strlen(w->c->nodes.items[i].parts);
    }
}

static ramet_status session_fork(writer *w, const char *from, const digest_place *p)
{
    ramet_session *s;
    ramet_fork_in in = {.id = w->known.id,
                        .title = title_make(w),
                        .metadata = metadata_make(w, NULL),
                        .reason = "import",
                        .blank = !p,
                        .branch = p ? p->branch : 0};
    if (p)
        TRY(entry_id_at(w, from, p->branch, p->position, &in.at.entry_id));
    TRY(ramet_fork(w->job->call, from, &in, &s, NULL));
    session_made(w, s);
    w->job->out->forks_added++;
    return RAMET_OK;
}

static ramet_status session_create(writer *w)
{
    ramet_session *s;
    ramet_session_in in = {
        .id = w->known.id, .title = title_make(w), .metadata = metadata_make(w, NULL)};
    TRY(ramet_session_create(w->job->call, &in, &s));
    session_made(w, s);
    w->job->out->trees_added++;
    return RAMET_OK;
}

/* The session that a conversation is linked to, if it is ours. */
static ramet_status parent_find(writer *w, const char **out)
{
    known_session k;
    session_state state;
    char id[UUID_TEXT];
    *out = NULL;
    if (w->c->link == LINK_NONE)
        return RAMET_OK;
    session_id_make(w->job, "conversation", w->c->parent, strlen(w->c->parent), id);
    TRY(known_open(w->job, w->mem, id, &k, &state));
    if (state == SESSION_OURS)
        *out = k.id;
    else if (w->group->has_root)
        *out = w->group->root;
    return RAMET_OK;
}

static ramet_status session_make(writer *w)
{
    int64_t index = -1;
    const char *parent;
    bool archived = true;
    const digest_place *p = w->c->link == LINK_BELOW ? NULL : shared_last(w, &index);
    TRY(parent_find(w, &parent));
    if (p && shared_counts(w, index)) {
        digest_place at = *p;
        TRY(session_fork(w, at.session, &at));
        shared_count(w, index);
        for (int64_t i = index, k = at.position; i >= 0; i = w->c->nodes.items[i].up, k--)
            w->places[i] = (place){w->known.head.branch, k};
    } else if (parent) {
        TRY(session_fork(w, parent, NULL));
    } else {
        if (!w->group->has_root) {
            w->known.id = w->group->root;
            w->group->has_root = true;
        }
        TRY(session_create(w));
    }
    if (w->c->archived)
        return ramet_session_update(w->job->call, w->known.id,
                                    &(ramet_session_patch){.archived = &archived},
                                    &(ramet_session *){NULL});
    return RAMET_OK;
}

/* --------------------------------------------------------------------- entries */

static ramet_status file_upload(writer *w, const foreign_file *f, const char **id)
{
    ramet_upload *u;
    ramet_attachment *about;
    ramet_upload_in in = {.name = f->name, .media_type = f->media_type, .sha256 = f->hex};
    TRY(ramet_upload_begin(w->job->call, &in, &u));
    ramet_status st = ramet_upload_add(u, f->bytes, f->n);
    if (st == RAMET_OK)
        st = ramet_upload_finish(u, &about);
    else
        ramet_upload_abort(u);
    if (st == RAMET_OK)
        *id = arena_strdup(w->mem, about->id);
    return st;
}

/* Uploads the files of a message, and names them in its parts. */
static ramet_status parts_upload(writer *w, const foreign_node *n, const char **out)
{
    const char *parts = n->parts;
    for (size_t i = 0; i < n->n_files; i++) {
        const foreign_file *f = &w->c->files.items[n->first_file + i];
        const char *mark = arena_printf(w->mem, "\"attachment_id\":\"sha256:%s\"", f->hex), *id;
        const char *at = strstr(parts, mark);
        if (!at)
            continue;
        TRY(file_upload(w, f, &id));
        parts = arena_printf(w->mem, "%.*s\"attachment_id\":%s%s", (int)(at - parts), parts,
                             json_quote(w->mem, id), at + strlen(mark));
    }
    *out = parts;
    return RAMET_OK;
}

/* An id that the store takes, or NULL for a new one. */
static const char *entry_id_of(const char *id)
{
    size_t n = id ? strlen(id) : 0;
    if (!n || n > 200)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)id[i] < 0x20 || id[i] == 0x7f)
            return NULL;
    return id;
}

static ramet_status entry_make(writer *w, const foreign_node *n, ramet_entry_in *out)
{
    *out = (ramet_entry_in){.id = entry_id_of(n->id),
                            .role = n->role,
                            .created = n->created,
                            .turn_id = entry_id_of(n->turn),
                            .usage = n->has_usage ? &n->usage : NULL};
    /* A copy off the shared path is stored again; what it cost is counted where it was made (I9).
     */
    if (digests_get(&w->group->places, n->digest))
        out->usage = NULL;
    return parts_upload(w, n, &out->parts);
}

static known_branch *branch_get(writer *w, int64_t id)
{
    for (size_t i = w->known.branches.n; i-- > 0;)
        if (w->known.branches.items[i].id == id)
            return &w->known.branches.items[i];
    return NULL;
}

static ramet_status head_go(writer *w, int64_t branch)
{
    ramet_session *s;
    if (w->known.head.branch == branch)
        return RAMET_OK;
    TRY(ramet_switch(w->job->call, w->known.id, branch, NULL, &s));
    w->known.head = s->head;
    return RAMET_OK;
}

/* Below a message at `above` (branch 0: below none): where a run of messages goes. */
typedef struct run_target {
    int64_t branch;      /* appended to; 0: a new one */
    const char *sibling; /* then it begins before this entry */
} run_target;

static ramet_status target_find(writer *w, place above, run_target *out)
{
    *out = (run_target){0};
    int64_t next = above.branch ? above.position + 1 : 0;
    int64_t on = above.branch ? above.branch : w->known.branches.items[0].id;
    if (branch_get(w, on)->length == next) {
        out->branch = on;
        return RAMET_OK;
    }
    TRY(head_go(w, on));
    return entry_id_at(w, w->known.id, on, next, &out->sibling);
}

static ramet_status batch_send(writer *w, const run_target *to, ramet_entry_in *list, size_t n,
                               ramet_append_out *out)
{
    ramet_call *c = w->job->call;
    ramet_append_in in = {.entries = list, .n = n, .branch = to->branch};
    if (to->branch)
        return ramet_append(c, w->known.id, &in, out);
    if (list[0].role == RAMET_USER && n == 1)
        return ramet_edit(c, w->known.id, to->sibling, list, NULL, out);
    return ramet_regenerate(c, w->known.id, to->sibling, list, n, NULL, out);
}

/* Writes a batch. An id that is taken on the path (by a message that was changed since the last
 * import, say) is replaced by a new one. */
static ramet_status batch_write(writer *w, run_target *to, ramet_entry_in *list, size_t n,
                                const int64_t *index)
{
    ramet_append_out out;
    ramet_status st = batch_send(w, to, list, n, &out);
    if (st == RAMET_ENTRY_EXISTS) {
        for (size_t i = 0; i < n; i++)
            list[i].id = NULL;
        st = batch_send(w, to, list, n, &out);
    }
    TRY(st);
    int64_t first = out.head.length - (int64_t)n;
    for (size_t i = 0; i < n; i++)
        w->places[index[i]] = (place){out.head.branch, first + (int64_t)i};
    known_branch *b = branch_get(w, out.head.branch);
    if (b) {
        b->length = out.head.length;
    } else {
        known_branch made = {out.head.branch, out.head.length};
        VEC_PUSH(w->mem, &w->known.branches, made);
        w->known.head.branch = made.id;
    }
    to->branch = out.head.branch;
    w->added += (int64_t)n;
    w->job->out->entries_added += (int64_t)n;
    return RAMET_OK;
}

/* Writes the messages of a run, from the first that is missing to a leaf. */
static ramet_status run_write(writer *w, const int64_t *run, size_t n, place above)
{
    ramet_entry_in list[BATCH_ENTRIES];
    run_target to;
    size_t held = 0, bytes = 0, from = 0;
    TRY(target_find(w, above, &to));
    for (size_t i = 0; i < n; i++) {
        const foreign_node *node = &w->c->nodes.items[run[i]];
        TRY(entry_make(w, node, &list[held++]));
        bytes += strlen(node->parts);
        /* An edit takes one message. */
        bool edit = !to.branch && list[0].role == RAMET_USER;
        if (i + 1 == n || held == BATCH_ENTRIES || bytes >= BATCH_BYTES || edit) {
            TRY(batch_write(w, &to, list, held, run + from));
            from = i + 1;
            held = bytes = 0;
        }
    }
    return RAMET_OK;
}

/* The path to a leaf: what of it is not there yet. */
static ramet_status leaf_write(writer *w, int64_t leaf, int64_t *run)
{
    size_t n = 0;
    int64_t i = leaf;
    for (; i >= 0 && !w->places[i].branch; i = w->c->nodes.items[i].up)
        n++;
    if (!n)
        return RAMET_OK;
    place above = i < 0 ? (place){0} : w->places[i];
    size_t at = n;
    for (i = leaf; at; i = w->c->nodes.items[i].up)
        run[--at] = i;
    return run_write(w, run, n, above);
}

static ramet_status leaves_write(writer *w)
{
    int64_t *run = arena_array(w->mem, w->c->nodes.n + 1, sizeof *run);
    if (w->c->tip < 0)
        return RAMET_OK;
    /* The messages that are not on the present path come first: versions are counted in the order
     * in which they were written, and the present one is mostly the newest. */
    for (size_t i = 0; i < w->c->nodes.n; i++)
        if (!w->c->nodes.items[i].has_child && (int64_t)i != w->c->tip)
            TRY(leaf_write(w, (int64_t)i, run));
    return leaf_write(w, w->c->tip, run);
}

/* ------------------------------------------------------------------------ head */

/* Whether the head was at a message of the other program; it may have been changed there since. */
static bool tip_is_imported(const writer *w)
{
    const char *tip = w->known.tip_id;
    if (!tip)
        return true;
    for (size_t i = 0; i < w->c->nodes.n; i++) {
        const foreign_node *n = &w->c->nodes.items[i];
        if (memcmp(n->digest, w->known.tip, DIGEST_LEN) == 0 || (n->id && strcmp(n->id, tip) == 0))
            return true;
    }
    return false;
}

/* Moves the head to the message that the other program showed last. */
static ramet_status head_to_tip(writer *w)
{
    place at = w->places[w->c->tip];
    TRY(head_go(w, at.branch));
    if (branch_get(w, at.branch)->length == at.position + 1)
        return RAMET_OK;
    ramet_move_in in = {.reason = "import"};
    ramet_session *s;
    TRY(entry_id_at(w, w->known.id, at.branch, at.position, &in.at.entry_id));
    TRY(ramet_rewind(w->job->call, w->known.id, &in, &s, NULL));
    w->known.head = s->head;
    return RAMET_OK;
}

/* W3. */
static ramet_status head_finish(writer *w)
{
    const char *current = w->c->tip < 0 ? NULL : w->c->nodes.items[w->c->tip].id;
    bool branched =
        w->c->n_leaves > 1 || (w->c->tip >= 0 && w->c->nodes.items[w->c->tip].has_child);
    bool same = branched && current && w->known.current && strcmp(current, w->known.current) == 0;
    if (w->c->tip < 0)
        return RAMET_OK;
    bool leave = !w->is_new && (!tip_is_imported(w) || same || (!branched && !w->added));
    if (leave)
        return head_go(w, w->first_head);
    TRY(head_to_tip(w));
    if (!branched)
        return RAMET_OK;
    return ramet_session_update(
        w->job->call, w->known.id,
        &(ramet_session_patch){.metadata = metadata_make(w, current ? current : "")},
        &(ramet_session *){NULL});
}

/* ----------------------------------------------------------------- conversations */

/* Finds the session of a conversation: by its own id, or as the root of its group. */
static ramet_status session_find(writer *w, session_state *state)
{
    char id[UUID_TEXT];
    foreign_job *j = w->job;
    session_id_make(j, "conversation", w->c->id, strlen(w->c->id), id);
    TRY(known_open(j, w->mem, id, &w->known, state));
    if (*state == SESSION_ABSENT && w->group->root_unusable)
        *state = SESSION_UNUSABLE; /* the root may be this conversation */
    if (*state != SESSION_ABSENT || !w->group->has_root)
        return RAMET_OK;
    known_session root;
    session_state found;
    TRY(known_open(j, w->mem, w->group->root, &root, &found));
    if (found == SESSION_OURS && root.conversation && strcmp(root.conversation, w->c->id) == 0) {
        w->known = root;
        *state = SESSION_OURS;
    }
    return RAMET_OK;
}

static void places_publish(writer *w)
{
    const char *session = arena_strdup(w->job->all, w->known.id);
    for (size_t i = 0; i < w->c->nodes.n; i++) {
        digest_place p = {
            .session = session, .branch = w->places[i].branch, .position = w->places[i].position};
        memcpy(p.digest, w->c->nodes.items[i].digest, DIGEST_LEN);
        if (p.branch)
            digests_add(&w->group->places, &p);
    }
}

static ramet_status writer_run(writer *w)
{
    session_state state;
    TRY(session_find(w, &state));
    if (state == SESSION_UNUSABLE) {
        skip_note(w->job,
                  "conversations whose session, or the root of its tree, was deleted here or is "
                  "somebody else's",
                  NULL, 0);
        return RAMET_OK;
    }
    if (state == SESSION_OURS) {
        w->job->out->sessions_known++;
        TRY(known_load(w->job, w->mem, w->c, w->c->timeless, &w->known));
        for (size_t i = 0; i < w->c->nodes.n; i++) {
            const digest_place *p = digests_get(&w->known.places, w->c->nodes.items[i].digest);
            if (p)
                w->places[i] = (place){p->branch, p->position};
        }
    } else {
        TRY(session_make(w));
    }
    w->first_head = w->known.head.branch;
    TRY(leaves_write(w));
    TRY(head_finish(w));
    places_publish(w);
    return RAMET_OK;
}

ramet_status conversation_write(foreign_job *j, foreign_group *g, const foreign_conversation *c)
{
    writer w = {.job = j, .group = g, .c = c, .mem = c->mem};
    ramet_call_reset(j->call);
    w.places = arena_array(c->mem, c->nodes.n + 1, sizeof *w.places);
    ramet_status st = writer_run(&w);
    known_release(&w.known);
    return st;
}
