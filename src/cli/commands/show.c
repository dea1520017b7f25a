/* SPDX-License-Identifier: Apache-2.0
 *
 * show.c: `ramet show` shows everything about one session or one entry.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "base/util.h"
#include "face/kit/prompt.h"
#include "form/native.h"

#include <string.h>
#include <unistd.h>

static void fact(cli *c, const char *name, const char *text)
{
    if (text && *text)
        printf("%s%-10s%s %s\n", st(c, ST_DIM), name, st(c, ST_OFF), text_cut(c, text, 0));
}

static const char *when_text(cli *c, int64_t us)
{
    const char *ago = time_ago(c, us);
    bool plain = strcmp(ago, "now") == 0 || strchr(ago, '-') || strncmp(ago, "in ", 3) == 0;
    return arena_printf(c->mem, "%s (%s%s)", time_full(c, us), ago, plain ? "" : " ago");
}

/* ------------------------------------------------------------------ a session */

static void show_fork(cli *c, const ramet_session *s)
{
    if (!s->is_fork)
        return;
    if (!s->parent_id) {
        fact(c, "fork of", "a session that you may not see");
        return;
    }
    fact(c, "fork of",
         s->fork_entry_id ? arena_printf(c->mem, "%s, %s entry %s", s->parent_id,
                                         s->fork_side == RAMET_AFTER ? "after" : "before",
                                         short_id(c, s->fork_entry_id))
                          : arena_printf(c->mem, "%s, without its history", s->parent_id));
    if (s->type != RAMET_EXPLICIT)
        fact(c, "type", ramet_fork_type_name(s->type));
    fact(c, "reason", s->reason);
    if (s->by_id)
        fact(c, "made by",
             s->by_kind == RAMET_BY_SYSTEM ? arena_printf(c->mem, "%s (a system)", s->by_id)
                                           : s->by_id);
}

static const char *agent_full(cli *c, const ramet_agent *a)
{
    const char *s = a->name ? a->name : "";
    const char *more[] = {a->provider, a->model, a->folder, a->options};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        if (more[i])
            s = arena_printf(c->mem, "%s %s %s", s, gl(c, G_SEP), more[i]);
    return s;
}

static int show_session(cli *c, const ramet_session *s)
{
    char branch[24];
    if (c->json) {
        native_session(json_begin(c), s);
        return json_end(c);
    }
    printf("%s%s%s\n", st(c, ST_BOLD), text_cut(c, title_text(s), 0), st(c, ST_OFF));
    fact(c, "id", s->id);
    fact(c, "tree", s->tree_id);
    fact(c, "owner",
         s->visibility == RAMET_PRIVATE ? arena_printf(c->mem, "%s (private)", s->owner)
                                        : s->owner);
    fact(c, "agent", agent_full(c, &s->agent));
    fact(c, "tags", tags_text(c, s));
    fact(c, "head",
         arena_printf(c->mem, "%s on %s%s%s", count_text(c, s->head.length, "entry", "entries"),
                      ramet_branch_text(s->head.branch, branch),
                      s->head.entry_id ? ", last is " : "",
                      s->head.entry_id ? s->head.entry_id : ""));
    fact(c, "hash", s->head.length ? s->head.hash : NULL);
    if (s->adk.branch)
        fact(c, "adk log", count_text(c, s->adk.length, "entry", "entries"));
    show_fork(c, s);
    fact(c, "merged in", s->merged_into);
    if (s->cache_root && strcmp(s->cache_root, s->id) != 0)
        fact(c, "cache",
             arena_printf(c->mem, "shares %s with %s",
                          count_text(c, s->cache_root_shared, "entry", "entries"), s->cache_root));
    if (s->metadata && strcmp(s->metadata, "{}") != 0)
        fact(c, "metadata", s->metadata);
    fact(c, "archived", s->archived ? "yes" : NULL);
    if (s->expires)
        fact(c, "expires", when_text(c, s->expires));
    fact(c, "created", when_text(c, s->created));
    fact(c, "updated", when_text(c, s->updated));
    return 0;
}

/* ------------------------------------------------------------------ an entry */

/* A program gets the bytes unchanged; for a terminal, control characters are made visible. */
static int print_raw(cli *c, const char *s)
{
    if (isatty(STDOUT_FILENO) == 1 || c->out_tty)
        s = text_safe(c->mem, s, true);
    size_t n = strlen(s);
    fwrite(s, 1, n, stdout);
    if (!n || s[n - 1] != '\n')
        putchar('\n');
    return 0;
}

static int show_entry(cli *c, const ramet_entry *e)
{
    char branch[24];
    size_t n;
    if (c->json) {
        native_entry(json_begin(c), e);
        return json_end(c);
    }
    if (opt_flag(c, "text"))
        return print_raw(c, e->text);
    if (opt_flag(c, "body"))
        return print_raw(c, e->body ? e->body : e->parts);
    printf("%s@%lld%s %s%s%s\n", st(c, ST_ID), (long long)e->position + 1, st(c, ST_OFF),
           st(c, role_style(e->role)), ramet_role_name(e->role), st(c, ST_OFF));
    fact(c, "id", e->id);
    fact(c, "branch", ramet_branch_text(e->branch, branch));
    fact(c, "author", e->author);
    fact(c, "client", e->client);
    fact(c, "turn", e->turn_id);
    fact(c, "channel", e->channel);
    fact(c, "format", e->format);
    if (e->usage) {
        ramet_money m = {e->usage->cost, e->usage->currency};
        fact(c, "usage", usage_text(c, e->usage->input, e->usage->output, e->usage->cached, &m, 1));
    }
    fact(c, "state", e->state_delta);
    fact(c, "hash", e->hash);
    fact(c, "created", when_text(c, e->created));
    part_text *parts = entry_parts(c, e, &n);
    for (size_t i = 0; i < n; i++) {
        putchar('\n');
        text_print(c, parts[i].text, 0, parts[i].paint);
    }
    return 0;
}

/* ------------------------------------------------------------------ a prompt */

/* The turn that a word names: of an entry, or by its own id. NULL: reported. */
static const char *turn_named(cli *c, const char *session, int64_t branch, const char *word,
                              int *code)
{
    ramet_page page;
    ramet_read_in last = {.limit = 1, .tail = true, .branch = branch};
    const ramet_entry *e = NULL;
    if (!word) {
        if (lib->ramet_read(c->call, session, &last, &page) != RAMET_OK) {
            *code = cli_fail(c);
            return NULL;
        }
        e = page.n ? &page.entries[0] : NULL;
    } else if (word[0] == '@') {
        e = entry_named(c, session, branch, word, code);
        if (!e)
            return NULL;
    } else {
        ramet_entry *found;
        if (lib->ramet_entry_get(c->call, session, branch, word, &found) != RAMET_OK)
            return word;
        e = found;
    }
    if (e && e->turn_id)
        return e->turn_id;
    *code = cli_error(c, RAMET_TURN_NOT_FOUND, "turn", "%s belongs to no turn",
                      word ? word : "the last entry");
    return NULL;
}

static int prompt_print(cli *c, const char *session, const char *turn)
{
    prompt_calls calls = {lib->ramet_turn_prompt, lib->ramet_read};
    json_writer *w = json_begin(c);
    if (!prompt_show(c->call, &calls, session, turn, w))
        return cli_fail(c);
    return json_end(c);
}

/* `show TURN --prompt`, or `show SESSION [ENTRY|TURN] --prompt`. */
static int show_prompt(cli *c)
{
    const char *session = NULL;
    int64_t branch;
    int code = 0;
    if (c->argc == 1 && lib->ramet_turn_session(c->call, c->argv[0], &session) == RAMET_OK &&
        session)
        return prompt_print(c, session, c->argv[0]);
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &branch, &code))
        return code;
    const char *turn = turn_named(c, s->id, branch, c->argc > 1 ? c->argv[1] : NULL, &code);
    return turn ? prompt_print(c, s->id, turn) : code;
}

int cmd_show(cli *c)
{
    ramet_session *list;
    size_t n;
    int64_t branch;
    int code = 0;
    if (opt_flag(c, "prompt"))
        return show_prompt(c);
    ramet_session *s = session_named(c, c->argv[0], &code);
    if (!s || !branch_option(c, &branch, &code))
        return code;
    if (opt_flag(c, "ancestry") || opt_flag(c, "children")) {
        ramet_status status = opt_flag(c, "ancestry")
                                  ? lib->ramet_ancestry(c->call, s->id, &list, &n)
                                  : lib->ramet_children(c->call, s->id, &list, &n);
        return status == RAMET_OK ? sessions_answer(c, list, n) : cli_fail(c);
    }
    if (c->argc < 2)
        return show_session(c, s);
    ramet_entry *e = entry_named(c, s->id, branch, c->argv[1], &code);
    return e ? show_entry(c, e) : code;
}
