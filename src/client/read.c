/* SPDX-License-Identifier: Apache-2.0
 *
 * From the API's JSON to the library's structs: a table a struct, one reader for all.
 */
#include "client/inner.h"

#include "base/util.h"
#include "ramet/sandboxes.h"
#include "ramet/tokens.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- one value */

const char *get_text(client_call *c, const json_doc *d, const json_node *obj, const char *name)
{
    return json_text(c->a, d, json_get(d, obj, name));
}

int64_t get_int(const json_doc *d, const json_node *obj, const char *name)
{
    int64_t v = 0;
    const json_node *n = json_get(d, obj, name);
    return n && json_int(d, n, &v) ? v : 0;
}

bool get_bool(const json_doc *d, const json_node *obj, const char *name)
{
    return json_is(json_get(d, obj, name), JSON_TRUE);
}

const char *const *get_texts(client_call *c, const json_doc *d, const json_node *v, size_t *n)
{
    *n = 0;
    const char **list = arena_array(c->a, (v ? v->count : 0) + 1, sizeof *list);
    for (const json_node *x = v ? json_first(d, v) : NULL; x; x = json_next(d, v, x))
        list[(*n)++] = json_text(c->a, d, x);
    return list;
}

/* ------------------------------------------------------------------- tables */

typedef enum {
    IS_TEXT,   /* const char *, NULL when null */
    IS_WORDS,  /* const char *, "" when null */
    IS_RAW,    /* const char *, the JSON itself; NULL when null */
    IS_INT,    /* int64_t */
    IS_SMALL,  /* int */
    IS_BOOL,   /* bool */
    IS_TIME,   /* int64_t, microseconds */
    IS_BRANCH, /* int64_t from "b17" */
    IS_HASH,   /* char[65] */
    IS_NANO,   /* int64_t, scaled by 10^9 */
    IS_ENUM,   /* int, by `parse` */
    IS_STRUCT  /* by `read` */
} value_kind;

typedef struct member {
    const char *name;
    value_kind kind;
    size_t offset;
    int (*parse)(const char *);
    read_one read;
} member;

#define AT(type, json, kind_, field)                                                               \
    {                                                                                              \
        .name = json, .kind = kind_, .offset = offsetof(type, field)                               \
    }
#define WORD(type, json, field, parse_)                                                            \
    {                                                                                              \
        .name = json, .kind = IS_ENUM, .offset = offsetof(type, field), .parse = parse_            \
    }
#define PART(type, json, field, read_)                                                             \
    {                                                                                              \
        .name = json, .kind = IS_STRUCT, .offset = offsetof(type, field),                          \
        .read = (read_one)(void (*)(void))(read_)                                                  \
    }
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static void read_value(client_call *c, const json_doc *d, const json_node *v, const member *m,
                       void *to)
{
    const char *word = v && v->type == JSON_STRING ? json_text(c->a, d, v) : NULL;
    switch (m->kind) {
    case IS_TEXT:
    case IS_WORDS:
        *(const char **)to = word ? word : m->kind == IS_WORDS ? "" : NULL;
        break;
    case IS_RAW:
        *(const char **)to = !v || v->type == JSON_NULL ? NULL : json_raw(c->a, d, v);
        break;
    case IS_INT:
        if (v)
            json_int(d, v, to);
        break;
    case IS_SMALL: {
        int64_t n = 0;
        if (v && json_int(d, v, &n))
            *(int *)to = (int)n;
        break;
    }
    case IS_BOOL:
        *(bool *)to = json_is(v, JSON_TRUE);
        break;
    case IS_TIME:
        if (word)
            time_parse(word, to);
        break;
    case IS_BRANCH:
        *(int64_t *)to = word ? ramet_branch_parse(word) : 0;
        break;
    case IS_HASH:
        if (word && strlen(word) == 64)
            memcpy(to, word, 65);
        break;
    case IS_NANO:
        if (v)
            json_nano(d, v, to);
        break;
    case IS_ENUM: {
        int n = word ? m->parse(word) : -1;
        *(int *)to = n < 0 ? 0 : n;
        break;
    }
    case IS_STRUCT:
        m->read(c, d, v, to);
        break;
    }
}

static void read_members(client_call *c, const json_doc *d, const json_node *obj, const member *m,
                         void *out)
{
    for (; m->name; m++)
        read_value(c, d, json_get(d, obj, m->name), m, (char *)out + m->offset);
}

void *read_list(client_call *c, const json_doc *d, const json_node *v, size_t size, read_one one,
                size_t *n)
{
    *n = 0;
    char *list = arena_array(c->a, (v ? v->count : 0) + 1, size);
    for (const json_node *x = v ? json_first(d, v) : NULL; x; x = json_next(d, v, x))
        one(c, d, x, list + size * (*n)++);
    return list;
}

ramet_status ask_list(target *t, const char *noun, size_t size, read_one one, void **out, size_t *n,
                      bool *more)
{
    client_call *c = t->c;
    json_doc d;
    *out = NULL;
    *n = 0;
    if (more)
        *more = false;
    TRY(ask(t, "GET", NULL, &d));
    TRY(answer_has(c, &d, noun));
    *out = read_list(c, &d, json_get(&d, d.nodes, noun), size, one, n);
    if (more)
        *more = get_text(c, &d, d.nodes, "next_cursor") != NULL;
    return RAMET_OK;
}

/* ------------------------------------------------------------------ structs */

void read_head(client_call *c, const json_doc *d, const json_node *v, ramet_head *out)
{
    static const member head[] = {
        AT(ramet_head, "branch_id", IS_BRANCH, branch),
        AT(ramet_head, "length", IS_INT, length),
        AT(ramet_head, "entry_id", IS_TEXT, entry_id),
        AT(ramet_head, "prefix_hash", IS_HASH, hash),
        END,
    };
    read_members(c, d, v, head, out);
}

static void read_agent(client_call *c, const json_doc *d, const json_node *v, ramet_agent *out)
{
    static const member agent[] = {
        AT(ramet_agent, "name", IS_TEXT, name),      AT(ramet_agent, "provider", IS_TEXT, provider),
        AT(ramet_agent, "model", IS_TEXT, model),    AT(ramet_agent, "folder", IS_TEXT, folder),
        AT(ramet_agent, "options", IS_RAW, options), END,
    };
    read_members(c, d, v, agent, out);
}

static int actor_parse(const char *word)
{
    return strcmp(word, "system") == 0 ? RAMET_BY_SYSTEM : RAMET_BY_USER;
}

static void read_origin(client_call *c, const json_doc *d, const json_node *v, ramet_session *out)
{
    static const member origin[] = {
        AT(ramet_session, "session_id", IS_TEXT, parent_id),
        AT(ramet_session, "entry_id", IS_TEXT, fork_entry_id),
        WORD(ramet_session, "side", fork_side, ramet_side_parse),
        WORD(ramet_session, "type", type, ramet_fork_type_parse),
        AT(ramet_session, "reason", IS_WORDS, reason),
        END,
    };
    static const member by[] = {
        WORD(ramet_session, "kind", by_kind, actor_parse),
        AT(ramet_session, "id", IS_TEXT, by_id),
        END,
    };
    out->reason = "";
    if (!json_is(v, JSON_OBJECT))
        return;
    out->is_fork = true;
    read_members(c, d, v, origin, out);
    read_members(c, d, json_get(d, v, "created_by"), by, out);
}

void read_session(client_call *c, const json_doc *d, const json_node *v, ramet_session *out)
{
    static const member session[] = {
        AT(ramet_session, "id", IS_TEXT, id),
        AT(ramet_session, "tree_id", IS_TEXT, tree_id),
        AT(ramet_session, "title", IS_WORDS, title),
        AT(ramet_session, "title", IS_WORDS, shown_title),
        AT(ramet_session, "owner", IS_TEXT, owner),
        WORD(ramet_session, "visibility", visibility, ramet_visibility_parse),
        PART(ramet_session, "agent", agent, read_agent),
        PART(ramet_session, "head", head, read_head),
        PART(ramet_session, "adk_head", adk, read_head),
        AT(ramet_session, "merged_into", IS_TEXT, merged_into),
        AT(ramet_session, "cache_root", IS_TEXT, cache_root),
        AT(ramet_session, "cache_root_shared", IS_INT, cache_root_shared),
        AT(ramet_session, "metadata", IS_RAW, metadata),
        AT(ramet_session, "archived", IS_BOOL, archived),
        AT(ramet_session, "deleted", IS_BOOL, deleted),
        AT(ramet_session, "expires_at", IS_TIME, expires),
        AT(ramet_session, "created_at", IS_TIME, created),
        AT(ramet_session, "updated_at", IS_TIME, updated),
        WORD(ramet_session, "level", level, ramet_level_parse),
        AT(ramet_session, "depth", IS_INT, depth),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, session, out);
    read_origin(c, d, json_get(d, v, "forked_from"), out);
    out->tags = get_texts(c, d, json_get(d, v, "tags"), &out->n_tags);
    out->path = get_texts(c, d, json_get(d, v, "path"), &out->n_path);
}

ramet_status answer_has(client_call *c, const json_doc *d, const char *name)
{
    if (json_get(d, d->nodes, name))
        return RAMET_OK;
    return client_fail(c, RAMET_INTERNAL, "server", "%s answered without \"%s\"", c->r->base, name);
}

ramet_status answer_session(client_call *c, const json_doc *d, ramet_session **out)
{
    ramet_session *s = arena_array(c->a, 1, sizeof *s);
    read_session(c, d, d->nodes, s);
    *out = s->id ? s : NULL;
    return s->id ? RAMET_OK
                 : client_fail(c, RAMET_INTERNAL, "server", "%s did not answer a session",
                               c->r->base);
}

void read_cut(client_call *c, const json_doc *d, const json_node *v, ramet_cut *out)
{
    static const member cut[] = {
        WORD(ramet_cut, "policy", policy, ramet_cut_parse),
        AT(ramet_cut, "entry_id", IS_TEXT, entry_id),
        WORD(ramet_cut, "side", side, ramet_side_parse),
        AT(ramet_cut, "position", IS_INT, position),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, cut, out);
}

void read_entry(client_call *c, const json_doc *d, const json_node *v, ramet_entry *out)
{
    static const member entry[] = {
        AT(ramet_entry, "id", IS_TEXT, id),
        AT(ramet_entry, "position", IS_INT, position),
        AT(ramet_entry, "branch_id", IS_BRANCH, branch),
        WORD(ramet_entry, "role", role, ramet_role_parse),
        AT(ramet_entry, "text", IS_WORDS, text),
        AT(ramet_entry, "parts", IS_RAW, parts),
        AT(ramet_entry, "format", IS_TEXT, format),
        AT(ramet_entry, "body", IS_RAW, body),
        AT(ramet_entry, "turn_id", IS_TEXT, turn_id),
        AT(ramet_entry, "channel", IS_TEXT, channel),
        AT(ramet_entry, "author", IS_TEXT, author),
        AT(ramet_entry, "client", IS_TEXT, client),
        AT(ramet_entry, "state_delta", IS_RAW, state_delta),
        AT(ramet_entry, "prefix_hash", IS_HASH, hash),
        AT(ramet_entry, "created_at", IS_TIME, created),
        END,
    };
    static const member usage[] = {
        AT(ramet_usage, "input", IS_INT, input),         AT(ramet_usage, "output", IS_INT, output),
        AT(ramet_usage, "cached", IS_INT, cached),       AT(ramet_usage, "cost", IS_NANO, cost),
        AT(ramet_usage, "currency", IS_WORDS, currency), END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, entry, out);
    /* The parts are the body of our own format. */
    if (out->format && strcmp(out->format, "ramet") == 0)
        out->body = NULL;
    /* null is a body like any other of a foreign format, but only the bytes "null" say so. */
    else if (!out->body && out->format)
        out->body = json_get(d, v, "body") ? "null" : NULL;
    const json_node *u = json_get(d, v, "usage");
    if (json_is(u, JSON_OBJECT)) {
        ramet_usage *to = arena_array(c->a, 1, sizeof *to);
        read_members(c, d, u, usage, to);
        out->usage = to;
    }
    const json_node *versions = json_get(d, v, "versions");
    out->version = (int)get_int(d, versions, "number");
    out->versions = (int)get_int(d, versions, "count");
}

static void read_money(client_call *c, const json_doc *d, const json_node *v, ramet_money *out)
{
    static const member money[] = {
        AT(ramet_money, "cost", IS_NANO, cost),
        AT(ramet_money, "currency", IS_WORDS, currency),
        END,
    };
    read_members(c, d, v, money, out);
}

void read_usage_sum(client_call *c, const json_doc *d, const json_node *v, ramet_usage_sum *out)
{
    static const member sum[] = {
        AT(ramet_usage_sum, "entries", IS_INT, entries),
        AT(ramet_usage_sum, "input", IS_INT, input),
        AT(ramet_usage_sum, "output", IS_INT, output),
        AT(ramet_usage_sum, "cached", IS_INT, cached),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, sum, out);
    out->money = READ_LIST(c, d, json_get(d, v, "costs"), ramet_money, read_money, &out->n_money);
}

static int move_parse(const char *word)
{
    for (int i = RAMET_MOVE_REWIND; i <= RAMET_MOVE_SYNC; i++)
        if (strcmp(ramet_move_name((ramet_move_kind)i), word) == 0)
            return i;
    return -1;
}

void read_move(client_call *c, const json_doc *d, const json_node *v, ramet_move *out)
{
    static const member move[] = {
        AT(ramet_move, "number", IS_INT, number),
        WORD(ramet_move, "kind", kind, move_parse),
        AT(ramet_move, "from", IS_BRANCH, from),
        AT(ramet_move, "to", IS_BRANCH, to),
        AT(ramet_move, "from_length", IS_INT, from_length),
        AT(ramet_move, "to_length", IS_INT, to_length),
        AT(ramet_move, "by", IS_TEXT, who),
        AT(ramet_move, "reason", IS_WORDS, reason),
        AT(ramet_move, "created_at", IS_TIME, at),
        END,
    };
    read_members(c, d, v, move, out);
}

void read_version(client_call *c, const json_doc *d, const json_node *v, ramet_version *out)
{
    static const member version[] = {
        AT(ramet_version, "branch_id", IS_BRANCH, branch),
        AT(ramet_version, "entry_id", IS_TEXT, entry_id),
        AT(ramet_version, "number", IS_SMALL, number),
        WORD(ramet_version, "type", type, ramet_fork_type_parse),
        AT(ramet_version, "current", IS_BOOL, current),
        AT(ramet_version, "created_at", IS_TIME, created),
        AT(ramet_version, "preview", IS_WORDS, preview),
        END,
    };
    read_members(c, d, v, version, out);
}

void read_branch(client_call *c, const json_doc *d, const json_node *v, ramet_branch *out)
{
    static const member branch[] = {
        AT(ramet_branch, "branch_id", IS_BRANCH, id),
        AT(ramet_branch, "parent_id", IS_BRANCH, parent),
        AT(ramet_branch, "base", IS_INT, base),
        AT(ramet_branch, "length", IS_INT, length),
        AT(ramet_branch, "entry_id", IS_TEXT, tip_id),
        WORD(ramet_branch, "type", type, ramet_fork_type_parse),
        AT(ramet_branch, "current", IS_BOOL, current),
        AT(ramet_branch, "created_at", IS_TIME, created),
        AT(ramet_branch, "preview", IS_WORDS, preview),
        AT(ramet_branch, "session_id", IS_TEXT, session),
        END,
    };
    read_members(c, d, v, branch, out);
}

void read_member(client_call *c, const json_doc *d, const json_node *v, ramet_member *out)
{
    static const member one[] = {
        AT(ramet_member, "user", IS_TEXT, user),
        WORD(ramet_member, "level", level, ramet_level_parse),
        END,
    };
    read_members(c, d, v, one, out);
}

static void read_side(client_call *c, const json_doc *d, const json_node *v, ramet_side_in *out)
{
    static const member side[] = {
        AT(ramet_side_in, "session_id", IS_TEXT, session),
        AT(ramet_side_in, "branch_id", IS_BRANCH, branch),
        END,
    };
    read_members(c, d, v, side, out);
}

void read_verdict(client_call *c, const json_doc *d, const json_node *v, ramet_verdict *out)
{
    static const member verdict[] = {
        AT(ramet_verdict, "number", IS_INT, number),
        AT(ramet_verdict, "reason", IS_WORDS, reason),
        AT(ramet_verdict, "by", IS_TEXT, who),
        AT(ramet_verdict, "created_at", IS_TIME, at),
        AT(ramet_verdict, "winner", IS_SMALL, winner),
        END,
    };
    memset(out, 0, sizeof *out);
    out->winner = -1; /* null: a tie */
    read_members(c, d, v, verdict, out);
    out->sides = READ_LIST(c, d, json_get(d, v, "sides"), ramet_side_in, read_side, &out->n);
}

/* Where the n-th character begins. */
static int32_t byte_at(const char *s, int64_t n)
{
    const char *p = s;
    while (*p && n > 0) {
        p++;
        while (((unsigned char)*p & 0xC0) == 0x80)
            p++;
        n--;
    }
    return (int32_t)(p - s);
}

void read_hit(client_call *c, const json_doc *d, const json_node *v, ramet_hit *out)
{
    static const member hit[] = {
        AT(ramet_hit, "session_id", IS_TEXT, session),
        AT(ramet_hit, "title", IS_WORDS, title),
        AT(ramet_hit, "entry_id", IS_TEXT, entry_id),
        AT(ramet_hit, "branch_id", IS_BRANCH, branch),
        AT(ramet_hit, "position", IS_INT, position),
        WORD(ramet_hit, "role", role, ramet_role_parse),
        AT(ramet_hit, "abandoned", IS_BOOL, abandoned),
        AT(ramet_hit, "highlight", IS_WORDS, snippet),
        AT(ramet_hit, "created_at", IS_TIME, created),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, hit, out);
    const json_node *score = json_get(d, v, "score"), *marks = json_get(d, v, "marks");
    int64_t nano = 0;
    if (score && json_nano(d, score, &nano))
        out->score = (double)nano / 1e9;
    ramet_mark *list = arena_array(c->a, (marks ? marks->count : 0) + 1, sizeof *list);
    for (const json_node *m = marks ? json_first(d, marks) : NULL; m; m = json_next(d, marks, m)) {
        int64_t start = get_int(d, m, "start"), length = get_int(d, m, "length");
        int32_t from = byte_at(out->snippet, start), to = byte_at(out->snippet, start + length);
        list[out->n_marks++] = (ramet_mark){from, to - from};
    }
    out->marks = list;
}

static void read_compare_side(client_call *c, const json_doc *d, const json_node *v,
                              ramet_compare_side *out)
{
    static const member side[] = {
        AT(ramet_compare_side, "session_id", IS_TEXT, session),
        AT(ramet_compare_side, "branch_id", IS_BRANCH, branch),
        AT(ramet_compare_side, "title", IS_WORDS, title),
        PART(ramet_compare_side, "agent", agent, read_agent),
        PART(ramet_compare_side, "head", head, read_head),
        AT(ramet_compare_side, "own", IS_INT, own),
        PART(ramet_compare_side, "usage", usage, read_usage_sum),
        AT(ramet_compare_side, "first_at", IS_TIME, first),
        AT(ramet_compare_side, "last_at", IS_TIME, last),
        END,
    };
    read_members(c, d, v, side, out);
    out->entries = READ_LIST(c, d, json_get(d, v, "entries"), ramet_entry, read_entry, &out->n);
}

static void read_turn(client_call *c, const json_doc *d, const json_node *v, ramet_turn_row *out)
{
    (void)c;
    size_t i = 0;
    for (const json_node *s = json_first(d, v); s && i < 16; s = json_next(d, v, s), i++) {
        const json_node *from = json_first(d, s), *to = from ? json_next(d, s, from) : NULL;
        if (to) {
            json_int(d, from, &out->side[i].from);
            json_int(d, to, &out->side[i].to);
        }
    }
}

void read_compare(client_call *c, const json_doc *d, const json_node *v, ramet_compare_out *out)
{
    memset(out, 0, sizeof *out);
    out->shared = get_int(d, v, "shared");
    out->sides =
        READ_LIST(c, d, json_get(d, v, "sides"), ramet_compare_side, read_compare_side, &out->n);
    out->turns = READ_LIST(c, d, json_get(d, v, "turns"), ramet_turn_row, read_turn, &out->n_turns);
}

void read_share(client_call *c, const json_doc *d, const json_node *v, ramet_share *out)
{
    static const member share[] = {
        AT(ramet_share, "id", IS_TEXT, id),
        AT(ramet_share, "session_id", IS_TEXT, session),
        AT(ramet_share, "write", IS_BOOL, write),
        AT(ramet_share, "created_by", IS_TEXT, by),
        AT(ramet_share, "created_at", IS_TIME, created),
        AT(ramet_share, "expires_at", IS_TIME, expires),
        AT(ramet_share, "token", IS_TEXT, token),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, share, out);
}

void read_sandbox(client_call *c, const json_doc *d, const json_node *v, ramet_sandbox *out)
{
    static const member sandbox[] = {
        AT(ramet_sandbox, "id", IS_TEXT, id),
        AT(ramet_sandbox, "owner", IS_TEXT, owner),
        AT(ramet_sandbox, "created_at", IS_TIME, created),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, sandbox, out);
}

void read_token(client_call *c, const json_doc *d, const json_node *v, ramet_token *out)
{
    static const member token[] = {
        AT(ramet_token, "id", IS_TEXT, id),
        AT(ramet_token, "user", IS_TEXT, user),
        AT(ramet_token, "client", IS_TEXT, client),
        AT(ramet_token, "note", IS_WORDS, note),
        AT(ramet_token, "created_at", IS_TIME, created),
        AT(ramet_token, "expires_at", IS_TIME, expires),
        AT(ramet_token, "used_at", IS_TIME, used),
        AT(ramet_token, "revoked", IS_BOOL, revoked),
        AT(ramet_token, "secret", IS_TEXT, secret),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, token, out);
    const json_node *roles = json_get(d, v, "roles");
    out->roles = "";
    for (const json_node *r = roles ? json_first(d, roles) : NULL; r; r = json_next(d, roles, r))
        out->roles =
            arena_printf(c->a, "%s%s%s", out->roles, *out->roles ? "," : "", json_text(c->a, d, r));
}

void read_fork_point(client_call *c, const json_doc *d, const json_node *v, ramet_fork_point *out)
{
    static const member point[] = {
        AT(ramet_fork_point, "position", IS_INT, position),
        AT(ramet_fork_point, "entry_id", IS_TEXT, entry_id),
        AT(ramet_fork_point, "session_id", IS_TEXT, session),
        AT(ramet_fork_point, "branch_id", IS_BRANCH, branch),
        END,
    };
    read_members(c, d, v, point, out);
}

void read_fault(client_call *c, const json_doc *d, const json_node *v, ramet_fault *out)
{
    static const member fault[] = {
        AT(ramet_fault, "what", IS_WORDS, what),
        AT(ramet_fault, "session_id", IS_TEXT, session),
        AT(ramet_fault, "entry_id", IS_TEXT, entry_id),
        AT(ramet_fault, "branch_id", IS_BRANCH, branch),
        AT(ramet_fault, "position", IS_INT, position),
        END,
    };
    memset(out, 0, sizeof *out);
    out->position = -1;
    read_members(c, d, v, fault, out);
    if (!out->branch)
        out->branch = -1;
}

void read_stats(client_call *c, const json_doc *d, const json_node *v, ramet_stats *out)
{
    static const member stats[] = {
        AT(ramet_stats, "path", IS_WORDS, path),
        AT(ramet_stats, "schema", IS_INT, schema),
        AT(ramet_stats, "trees", IS_INT, trees),
        AT(ramet_stats, "sessions", IS_INT, sessions),
        AT(ramet_stats, "forks", IS_INT, forks),
        AT(ramet_stats, "deleted", IS_INT, deleted),
        AT(ramet_stats, "branches", IS_INT, branches),
        AT(ramet_stats, "entries", IS_INT, entries),
        AT(ramet_stats, "attachments", IS_INT, attachments),
        AT(ramet_stats, "attachment_bytes", IS_INT, attachment_bytes),
        AT(ramet_stats, "file_bytes", IS_INT, file_bytes),
        AT(ramet_stats, "wal_bytes", IS_INT, wal_bytes),
        AT(ramet_stats, "search_bytes", IS_INT, search_bytes),
        AT(ramet_stats, "events", IS_INT, events),
        AT(ramet_stats, "unindexed", IS_INT, unindexed),
        END,
    };
    memset(out, 0, sizeof *out);
    read_members(c, d, v, stats, out);
}

void page_read(client_call *c, const json_doc *d, ramet_page *out)
{
    const json_node *root = d->nodes;
    memset(out, 0, sizeof *out);
    out->entries = READ_LIST(c, d, json_get(d, root, "entries"), ramet_entry, read_entry, &out->n);
    read_head(c, d, json_get(d, root, "head"), &out->head);
    out->more_before = get_bool(d, root, "more_before");
    out->more_after = get_bool(d, root, "more_after");
}
