/* SPDX-License-Identifier: Apache-2.0
 *
 * lineage.c: lists of messages that repeat a history: which history that is, and where the list
 * leaves it.
 *
 * A client of chat completions sends its whole list each time. The session of a list has an id that
 * is derived from its owner and its first message: so it is found without an index, and by its
 * owner alone, who must still own it (an id that can be computed can be taken by others). From
 * there the list is followed: along the path of the session; where it differs, into the fork or
 * branch that leaves there with the list's next message; and where none does, the rest of the list
 * is appended to a fork at that place.
 *
 * Messages are equal if role, text, files, calls and results are: ids, times, usage and thinking do
 * not count. Equal lists of two chats are one history until they part, unless the header
 * Ramet-Session says `new`, or names a session.
 */
#include "face/openai/openai_face.h"

#include <string.h>

enum { PAGE = 1000, PEEK = 8 };

/* ------------------------------------------------------------------ the normal form */

static void norm_part(buf *b, arena *a, const json_doc *d, const json_node *v, bool *said)
{
    const char *type = json_text(a, d, json_get(d, v, "type"));
    if (strcmp(type, "text") == 0) {
        buf_puts(b, *said ? "\n\n" : "T");
        buf_puts(b, json_text(a, d, json_get(d, v, "text")));
        *said = true;
    } else if (strcmp(type, "tool_call") == 0) {
        buf_printf(b, "%cC%s%c", 1, json_text(a, d, json_get(d, v, "name")), 1);
        buf_puts(b, openai_arguments(a, d, json_get(d, v, "input")));
    } else if (strcmp(type, "tool_result") == 0) {
        const json_node *output = json_get(d, v, "output");
        buf_printf(b, "%cR", 1);
        buf_puts(b,
                 json_is(output, JSON_STRING) ? json_text(a, d, output) : json_raw(a, d, output));
    } else if (strcmp(type, "file") == 0) {
        const json_node *url = json_get(d, v, "url");
        buf_printf(b, "%cF%s", 1, url ? json_text(a, d, url) : "");
    }
}

/* "": it says nothing, and is passed over. */
static const char *norm(arena *a, ramet_role role, const char *text, const char *parts)
{
    buf b;
    json_doc d;
    bool said = false;
    buf_init(&b, OPENAI_BYTES);
    if (!parts) {
        buf_puts(&b, "T");
        buf_puts(&b, text ? text : "");
        said = true;
    } else if (json_parse(a, parts, strlen(parts), 0, &d, NULL)) {
        for (const json_node *v = json_first(&d, d.nodes); v; v = json_next(&d, d.nodes, v))
            norm_part(&b, a, &d, v, &said);
    }
    if (b.n)
        buf_printf(&b, "%c%d", 1, role);
    return buf_keep(&b, a);
}

static const char *norm_in(arena *a, const ramet_entry_in *e)
{
    return norm(a, e->role, e->text, e->parts);
}

/* ------------------------------------------------------------------ following a path */

typedef struct walk {
    request *q;
    const openai_input *in;
    const char *session;
    int64_t branch;   /* 0: its head */
    int64_t position; /* entries that the list shares with it */
    const char *last; /* the last of them; NULL: none */
    size_t i;         /* entries of the list that are among them */
    bool ended;       /* the history ends there */
    char hash[65];    /* … and has this hash */
    arena *scratch;
} walk;

/* Passes over entries of the list that say nothing. */
static const char *list_next(walk *w)
{
    const char *said = "";
    while (w->i < w->in->entries.n && !*(said = norm_in(w->scratch, &w->in->entries.items[w->i])))
        w->i++;
    return w->i < w->in->entries.n ? said : NULL;
}

/* False: the path differs here. */
static bool entry_match(walk *w, const ramet_entry *e)
{
    const char *said = norm(w->scratch, e->role, e->text, e->parts);
    if (*said) {
        const char *wanted = list_next(w);
        if (!wanted || strcmp(said, wanted) != 0)
            return false;
        w->i++;
    }
    w->position = e->position + 1;
    w->last = arena_strdup(w->q->arena, e->id);
    return true;
}

static ramet_status path_follow(walk *w)
{
    ramet_call *c = ramet_call_new(w->q->host->store, w->q->caller.user, NULL);
    ramet_page page = {.more_after = true};
    ramet_status st = RAMET_OK;
    bool same = true;
    while (st == RAMET_OK && same && page.more_after) {
        ramet_read_in in = {.limit = PAGE,
                            .by_position = true,
                            .position = w->position,
                            .branch = w->branch,
                            .channel = "history"};
        ramet_call_reset(c);
        st = ramet_read(c, w->session, &in, &page);
        for (size_t i = 0; st == RAMET_OK && same && i < page.n; i++)
            same = entry_match(w, &page.entries[i]);
        arena_reset(w->scratch);
    }
    w->ended = st == RAMET_OK && same;
    memcpy(w->hash, page.head.hash, sizeof w->hash);
    ramet_call_free(c);
    return st;
}

/* Whether the first thing said on that path from the walk's position on is the list's next. */
static bool path_goes_on(walk *w, const char *session, int64_t branch)
{
    ramet_read_in in = {.limit = PEEK,
                        .by_position = true,
                        .position = w->position,
                        .branch = branch,
                        .channel = "history"};
    const char *wanted = list_next(w);
    ramet_page page;
    if (!wanted || ramet_read(w->q->call, session, &in, &page) != RAMET_OK)
        return false;
    for (size_t i = 0; i < page.n; i++) {
        const ramet_entry *e = &page.entries[i];
        const char *said = norm(w->scratch, e->role, e->text, e->parts);
        if (*said)
            return strcmp(said, wanted) == 0;
    }
    return false;
}

static bool is_own(walk *w, const char *session)
{
    ramet_session *s;
    return ramet_session_get(w->q->call, session, &s) == RAMET_OK &&
           strcmp(s->owner, w->q->caller.user) == 0;
}

/* Goes over to a fork or a branch that leaves the path here with the list's next message. */
static bool path_leave(walk *w)
{
    ramet_fork_point *points;
    size_t n;
    if (w->branch || ramet_fork_points(w->q->call, w->session, &points, &n) != RAMET_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        const ramet_fork_point *p = &points[i];
        if (p->position != w->position)
            continue;
        const char *session = p->session ? p->session : w->session;
        int64_t branch = p->session ? 0 : p->branch;
        if (!path_goes_on(w, session, branch) || (p->session && !is_own(w, session)))
            continue;
        w->session = session;
        w->branch = branch;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------ the session of a list */

static const char *root_id(request *q, const openai_input *in)
{
    uint8_t raw[HASH_LEN];
    char uuid[UUID_TEXT];
    buf b;
    buf_init(&b, OPENAI_BYTES);
    buf_puts(&b, "openai list ");
    buf_add(&b, q->caller.user, strlen(q->caller.user) + 1);
    buf_puts(&b, norm_in(q->arena, &in->entries.items[0]));
    sha_of(b.data, b.n, raw);
    buf_release(&b);
    return arena_strdup(q->arena, uuid8(raw, uuid));
}

static bool call_failed(request *q)
{
    request_error(q, ramet_call_error(q->call));
    return false;
}

static bool list_follow(request *q, const openai_input *in, const char *session, openai_place *out)
{
    walk w = {.q = q, .in = in, .session = session, .scratch = arena_new()};
    ramet_status st = path_follow(&w);
    while (st == RAMET_OK && !w.ended && path_leave(&w))
        st = path_follow(&w);
    arena_free(w.scratch);
    if (st != RAMET_OK)
        return call_failed(q);
    *out =
        (openai_place){.session = w.session,
                       .head = arena_strdup(q->arena, w.hash),
                       .fork = {.at = {w.last, RAMET_AFTER}, .branch = w.branch, .blank = !w.last},
                       .forks = !w.ended || w.branch,
                       .may_fork = true,
                       .skip = w.i};
    return true;
}

bool openai_lineage(request *q, const openai_input *in, openai_place *out)
{
    const char *named = request_header(q, "Ramet-Session");
    ramet_session *s;
    *out = (openai_place){0};
    if (named && strcmp(named, "new") == 0)
        return true;
    if (named && *named) {
        const char *id = openai_id_parse(q->arena, "conv_", named);
        id = id ? id : arena_strdup(q->arena, named);
        return ramet_session_get(q->call, id, &s) == RAMET_OK ? list_follow(q, in, id, out)
                                                              : call_failed(q);
    }
    const char *root = root_id(q, in);
    ramet_status st = ramet_session_get(q->call, root, &s);
    if (st == RAMET_OK && strcmp(s->owner, q->caller.user) == 0)
        return list_follow(q, in, root, out);
    if (st != RAMET_OK && ramet_status_http(st) == 503)
        return call_failed(q);
    out->new_id = st == RAMET_OK ? NULL : root;
    return true;
}
