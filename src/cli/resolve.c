/* SPDX-License-Identifier: Apache-2.0
 *
 * resolve.c: finds sessions, entries and branches by the words that users type.
 *
 * An exact id always wins. Ids made by Ramet begin with the time, so those of one minute begin
 * alike: that is why the end of an id is shown, and why it is accepted as well as the beginning.
 */
#include "cli/cli.h"
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_PREFIX = 4, MAX_SHOWN = 5 };

static bool part_matches(const char *id, const char *word)
{
    size_t n = strlen(id), m = strlen(word);
    return m <= n && (strncmp(id, word, m) == 0 || strcmp(id + n - m, word) == 0);
}

const char *short_id(cli *c, const char *id)
{
    size_t n = strlen(id);
    bool uuid = n == 36 && id[8] == '-' && id[13] == '-' && id[18] == '-' && id[23] == '-';
    return uuid ? arena_strdup(c->mem, id + n - 8) : text_cut(c, id, 32);
}

const char *id_named(const char *const *ids, size_t n, const char *word)
{
    const char *found = word;
    size_t hits = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(ids[i], word) == 0)
            return word;
        if (strlen(word) >= MIN_PREFIX && part_matches(ids[i], word)) {
            found = ids[i];
            hits++;
        }
    }
    return hits > 1 ? NULL : found;
}

/* ------------------------------------------------------------------ sessions */

typedef struct session_search {
    const char *word;
    int64_t want; /* @N: the N-th newest; 0: by its characters */
    int64_t seen;
    char *found[MAX_SHOWN];
    size_t n;
} session_search;

static void search_page(cli *c, session_search *s, const ramet_session_list *page)
{
    for (size_t i = 0; i < page->n; i++) {
        const ramet_session *x = &page->items[i];
        bool hit = s->want ? ++s->seen == s->want : part_matches(x->id, s->word);
        if (!hit)
            continue;
        if (s->n < MAX_SHOWN)
            s->found[s->n] = arena_strdup(c->mem, x->id);
        s->n++;
    }
}

/* Walks the sessions that the user may see, in a separate call: a long list is not kept in
 * memory. */
static ramet_status search_sessions(cli *c, ramet_call *call, session_search *s)
{
    ramet_list_in in = {.limit = s->want && s->want < 1000 ? (int)s->want : 1000};
    in.archived = s->want ? RAMET_ARCHIVED_EXCLUDE : RAMET_ARCHIVED_INCLUDE;
    char *cursor = NULL;
    ramet_status status;
    do {
        ramet_session_list page;
        in.cursor = cursor;
        status = lib->ramet_session_find(call, &in, &page);
        if (status != RAMET_OK)
            return status;
        search_page(c, s, &page);
        cursor = page.next_cursor ? arena_strdup(c->mem, page.next_cursor) : NULL;
        lib->ramet_call_reset(call);
    } while (cursor && !(s->want && s->n));
    return RAMET_OK;
}

static int report_missing(cli *c, const session_search *s, const char *word)
{
    if (s->n > 1) {
        buf list;
        buf_init(&list, 4096);
        for (size_t i = 0; i < s->n && i < MAX_SHOWN; i++)
            buf_printf(&list, "%s%s", i ? ", " : "", s->found[i]);
        int code = cli_error(c, RAMET_SESSION_NOT_FOUND, "session",
                             "'%s' fits %zu sessions: %s%s; give more of the id", word, s->n,
                             list.data, s->n > MAX_SHOWN ? ", and more" : "");
        buf_release(&list);
        return code;
    }
    if (s->want)
        return cli_error(c, RAMET_SESSION_NOT_FOUND, "session",
                         "there is no session '%s': the store holds %lld that you may see; "
                         "'ramet new' makes one",
                         word, (long long)s->seen);
    return cli_error(c, RAMET_SESSION_NOT_FOUND, "session",
                     "there is no session '%s'; 'ramet list' shows them%s", word,
                     strlen(word) < MIN_PREFIX ? ", and a part of an id needs 4 characters" : "");
}

/* @ or @N; 0 if the word is neither. */
static int64_t newest_number(const char *word)
{
    char *end;
    if (word[0] != '@')
        return 0;
    if (!word[1])
        return 1;
    long long n = strtoll(word + 1, &end, 10);
    return *end || n < 1 || word[1] == '+' || word[1] == ' ' ? 0 : n;
}

ramet_session *session_named(cli *c, const char *word, int *code)
{
    ramet_session *out = NULL;
    session_search s = {.word = word, .want = newest_number(word)};
    ramet_status status =
        s.want ? RAMET_SESSION_NOT_FOUND : lib->ramet_session_get(c->call, word, &out);
    if (status == RAMET_OK)
        return out;
    if (ramet_status_exit(status) != ramet_status_exit(RAMET_SESSION_NOT_FOUND)) {
        *code = cli_fail(c);
        return NULL;
    }
    if (s.want || strlen(word) >= MIN_PREFIX) {
        if (search_sessions(c, c->walk, &s) != RAMET_OK) {
            *code = cli_report(c, lib->ramet_call_error(c->walk));
            return NULL;
        }
    }
    if (s.n != 1) {
        *code = report_missing(c, &s, word);
        return NULL;
    }
    if (lib->ramet_session_get(c->call, s.found[0], &out) == RAMET_OK)
        return out;
    *code = cli_fail(c);
    return NULL;
}

/* ------------------------------------------------------------------ entries */

static ramet_entry *entry_at(cli *c, const char *session, int64_t branch, const char *word,
                             int64_t n, int *code)
{
    ramet_read_in in = {.limit = 1, .branch = branch, .tail = true};
    ramet_page page;
    if (lib->ramet_read(c->call, session, &in, &page) != RAMET_OK) {
        *code = cli_fail(c);
        return NULL;
    }
    int64_t position = n > 0 ? n - 1 : page.head.length + n;
    if (position < 0 || position >= page.head.length) {
        *code =
            cli_error(c, RAMET_ENTRY_NOT_FOUND, "entry", "there is no entry %s: the path has %s",
                      word, count_text(c, page.head.length, "entry", "entries"));
        return NULL;
    }
    in = (ramet_read_in){
        .limit = 1, .branch = branch, .by_position = true, .position = position, .versions = true};
    if (lib->ramet_read(c->call, session, &in, &page) != RAMET_OK || !page.n) {
        *code = cli_fail(c);
        return NULL;
    }
    return page.entries;
}

static int report_no_entry(cli *c, const char *word, const char *first, size_t n)
{
    if (n > 1)
        return cli_error(c, RAMET_ENTRY_NOT_FOUND, "entry",
                         "'%s' fits %zu entries of the path, the first is %s; give more of the id",
                         word, n, first);
    return cli_error(c, RAMET_ENTRY_NOT_FOUND, "entry",
                     "there is no entry '%s' on this path; 'ramet log' shows them, @N is the N-th",
                     word);
}

static ramet_entry *entry_by_part(cli *c, const char *session, int64_t branch, const char *word,
                                  int *code)
{
    ramet_read_in in = {.branch = branch};
    ramet_stream *stream;
    const ramet_entry *e;
    char *first = NULL;
    size_t n = 0;
    if (strlen(word) >= MIN_PREFIX) {
        if (lib->ramet_stream_open(c->walk, session, &in, &stream) != RAMET_OK) {
            *code = cli_report(c, lib->ramet_call_error(c->walk));
            return NULL;
        }
        ramet_status status;
        while ((status = lib->ramet_stream_next(stream, &e)) == RAMET_OK && e)
            if (part_matches(e->id, word) && ++n == 1)
                first = arena_strdup(c->mem, e->id);
        lib->ramet_stream_close(stream);
        if (status != RAMET_OK) {
            *code = cli_report(c, lib->ramet_call_error(c->walk));
            return NULL;
        }
        lib->ramet_call_reset(c->walk);
    }
    ramet_entry *out = NULL;
    if (n != 1)
        *code = report_no_entry(c, word, first, n);
    else if (lib->ramet_entry_get(c->call, session, branch, first, &out) != RAMET_OK)
        *code = cli_fail(c);
    return out;
}

ramet_entry *entry_named(cli *c, const char *session, int64_t branch, const char *word, int *code)
{
    ramet_entry *out = NULL;
    char *end;
    if (word[0] == '@' && word[1]) {
        long long n = strtoll(word + 1, &end, 10);
        if (!*end && n != 0 && word[1] != '+' && word[1] != ' ')
            return entry_at(c, session, branch, word, n, code);
    }
    ramet_status status = lib->ramet_entry_get(c->call, session, branch, word, &out);
    if (status == RAMET_OK)
        return out;
    if (status != RAMET_ENTRY_NOT_FOUND) {
        *code = cli_fail(c);
        return NULL;
    }
    return entry_by_part(c, session, branch, word, code);
}

/* ------------------------------------------------------------------ branches and sides */

bool branch_option(cli *c, int64_t *branch, int *code)
{
    const char *word = opt_text(c, "branch");
    *branch = word ? ramet_branch_parse(word) : 0;
    if (!word || *branch > 0)
        return true;
    *code =
        cli_error(c, RAMET_INVALID, "branch",
                  "--branch is '%s'; a branch looks like b17, 'ramet branches' shows them", word);
    return false;
}

static int64_t branch_by_name(cli *c, const char *session, const char *word, size_t *found)
{
    ramet_branch *list;
    size_t n;
    int64_t branch = 0;
    *found = 0;
    if (lib->ramet_branches(c->call, session, &list, &n) != RAMET_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, word) == 0) {
            branch = list[i].id;
            ++*found;
        }
    return branch;
}

bool branch_named(cli *c, const char *session, const char *word, int64_t *branch, int *code)
{
    size_t found = 0;
    *branch = ramet_branch_parse(word);
    if (*branch <= 0)
        *branch = branch_by_name(c, session, word, &found);
    if (*branch > 0 && found < 2)
        return true;
    *code =
        cli_error(c, RAMET_INVALID, "branch",
                  found ? "%2$zu branches are called '%1$s'; name it like b17"
                        : "'%1$s' is no branch; one looks like b17, 'ramet branches' shows them",
                  word, found);
    return false;
}

bool side_named(cli *c, const char *word, ramet_side_in *out, int *code)
{
    const char *at = strrchr(word, '@');
    int64_t branch = at && at > word ? ramet_branch_parse(at + 1) : 0;
    const char *name = branch > 0 ? arena_memdup(c->mem, word, (size_t)(at - word)) : word;
    ramet_session *s = session_named(c, name, code);
    if (!s)
        return false;
    out->session = s->id;
    out->branch = branch;
    return true;
}
