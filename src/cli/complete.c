/* SPDX-License-Identifier: Apache-2.0
 *
 * complete.c: shell completion. The scripts pass the words of the line to `ramet __complete`, which
 * answers from the table, and from the store if a session, branch or tag is expected. So a script
 * never goes out of date.
 *
 * An answer is one word per line, with its explanation after a tab. A line ":file" asks the shell
 * to complete file names.
 */
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/term.h"

#include <stdlib.h>
#include <string.h>

typedef struct completion {
    const command_def *cmd;
    const option_def *wants; /* the option whose value is being typed */
    const char *prefix;      /* the part of the word or value typed so far */
    const char *before;      /* "--tag=" if the value is typed after it */
    int args;                /* number of plain words before */
    const char *first;       /* the first of them: usually the session */
    const char *db, *server, *token, *user;
    bool plain; /* after -- */
} completion;

static void offer(const completion *p, const char *word, const char *text)
{
    if (strncmp(word, p->prefix, strlen(p->prefix)) == 0)
        printf("%s%s%s%s\n", p->before, word, text && *text ? "\t" : "", text ? text : "");
}

/* ------------------------------------------------------------------ where we are */

static const option_def *option_of(const command_def *cmd, const char *word)
{
    const option_def *lists[] = {cmd ? cmd->options : NULL, cli_globals};
    size_t n = strcspn(word, "=");
    for (size_t l = 0; l < 2; l++)
        for (const option_def *o = lists[l]; o && o->name; o++) {
            if (word[1] == '-' && strlen(o->name) == n - 2 &&
                strncmp(o->name, word + 2, n - 2) == 0)
                return o;
            if (word[1] != '-' && o->letter == word[1] && !word[2])
                return o;
        }
    return NULL;
}

static void remember(completion *p, const option_def *o, const char *value)
{
    if (strcmp(o->name, "db") == 0)
        p->db = value;
    if (strcmp(o->name, "server") == 0)
        p->server = value;
    if (strcmp(o->name, "token") == 0)
        p->token = value;
    if (strcmp(o->name, "user") == 0)
        p->user = value;
}

static void pass_word(completion *p, const char *word)
{
    if (p->wants) {
        remember(p, p->wants, word);
        p->wants = NULL;
    } else if (!p->plain && strcmp(word, "--") == 0) {
        p->plain = true;
    } else if (!p->plain && word[0] == '-' && word[1]) {
        const option_def *o = option_of(p->cmd, word);
        const char *equals = strchr(word, '=');
        if (o && o->kind != OPT_FLAG && equals)
            remember(p, o, equals + 1);
        else if (o && o->kind != OPT_FLAG)
            p->wants = o;
    } else if (!p->cmd) {
        p->cmd = command_find(word);
    } else if (++p->args == 1) {
        p->first = word;
    }
}

static completion completion_find(cli *c)
{
    completion p = {.prefix = "", .before = ""};
    for (int i = 0; i + 1 < c->argc; i++)
        pass_word(&p, c->argv[i]);
    if (c->argc)
        p.prefix = c->argv[c->argc - 1];
    const char *equals = strchr(p.prefix, '=');
    if (!p.wants && !p.plain && p.prefix[0] == '-' && equals) {
        p.wants = option_of(p.cmd, p.prefix);
        p.before = arena_memdup(c->mem, p.prefix, (size_t)(equals + 1 - p.prefix));
        p.prefix = equals + 1;
    }
    return p;
}

/* ------------------------------------------------------------------ what the store has */

enum { MAX_OFFERED = 200 };

static void offer_sessions(cli *c, const completion *p)
{
    ramet_list_in in = {.limit = MAX_OFFERED, .archived = RAMET_ARCHIVED_INCLUDE};
    ramet_session_list list;
    offer(p, "@", "the newest session");
    if (lib->ramet_session_find(c->call, &in, &list) != RAMET_OK)
        return;
    for (size_t i = 0; i < list.n; i++) {
        const char *title = text_cut(c, list.items[i].shown_title, 60);
        offer(p, list.items[i].id, title);
        if (strcmp(short_id(c, list.items[i].id), list.items[i].id) != 0 && *p->prefix)
            offer(p, short_id(c, list.items[i].id), title);
    }
}

static void offer_branches(cli *c, const completion *p)
{
    ramet_branch *list;
    size_t n;
    int code;
    ramet_session *s = p->first ? session_named(c, p->first, &code) : NULL;
    if (!s || lib->ramet_branches(c->call, s->id, &list, &n) != RAMET_OK)
        return;
    for (size_t i = 0; i < n; i++) {
        char text[24];
        offer(p, ramet_branch_text(list[i].id, text), text_cut(c, list[i].preview, 60));
    }
}

static void offer_tags(cli *c, const completion *p)
{
    ramet_tag_count *list;
    size_t n;
    if (lib->ramet_tags_all(c->call, &list, &n) != RAMET_OK)
        return;
    for (size_t i = 0; i < n; i++)
        offer(p, list[i].tag, count_text(c, list[i].sessions, "session", "sessions"));
}

static bool completion_open(cli *c, const completion *p)
{
    ramet_options options = {.must_exist = true, .busy_ms = 200};
    ramet_error err;
    const char *server = p->server ? p->server : p->db ? NULL : getenv("RAMET_SERVER");
    if (!server || !*server)
        return ramet_open(p->db ? p->db : getenv("RAMET_DB"), &options, &c->store, NULL) ==
               RAMET_OK;
    lib = &client_http;
    return client_open(server, p->token ? p->token : getenv("RAMET_TOKEN"), &c->store, &err) ==
           RAMET_OK;
}

/* Completion must never create a store, print an error or change anything. */
static void offer_from_store(cli *c, const completion *p, word_kind kind)
{
    const char *user = p->user ? p->user : getenv("RAMET_USER");
    if (!completion_open(c, p))
        return;
    c->call = lib->ramet_call_new(c->store, user && *user ? user : "local", NULL);
    c->walk = lib->ramet_call_new(c->store, user && *user ? user : "local", NULL);
    if (kind == WORD_SESSION)
        offer_sessions(c, p);
    else if (kind == WORD_BRANCH)
        offer_branches(c, p);
    else if (kind == WORD_TAG)
        offer_tags(c, p);
}

/* ------------------------------------------------------------------ answering */

static void offer_commands(const completion *p)
{
    for (const command_def *d = cli_commands; d->name; d++)
        if (!(d->flags & CMD_HIDDEN))
            offer(p, d->name, d->summary);
}

static void offer_options(cli *c, const completion *p)
{
    const option_def *lists[] = {p->cmd ? p->cmd->options : NULL, cli_globals};
    for (size_t l = 0; l < 2; l++)
        for (const option_def *o = lists[l]; o && o->name; o++)
            offer(p, arena_printf(c->mem, "--%s", o->name), o->text);
}

static void offer_word(cli *c, const completion *p, word_kind kind, const char *choices)
{
    if (choices) {
        char *words = arena_strdup(c->mem, choices), *rest = words, *word;
        while ((word = strsep(&rest, "|")))
            offer(p, word, NULL);
    } else if (kind == WORD_FILE) {
        puts(":file");
    } else if (kind == WORD_COMMAND) {
        offer_commands(p);
    } else if (kind != WORD_ANY) {
        offer_from_store(c, p, kind);
    }
}

int cmd_complete(cli *c)
{
    completion p = completion_find(c);
    const arg_def *a = p.cmd ? p.cmd->args : NULL;
    if (p.wants)
        offer_word(c, &p, p.wants->word, p.wants->choices);
    else if (!p.plain && p.prefix[0] == '-')
        offer_options(c, &p);
    else if (!p.cmd)
        offer_commands(&p);
    else if (a) {
        for (int i = 0; i < p.args && a->name && !a->repeated; i++)
            a++;
        if (a->name)
            offer_word(c, &p, a->word, a->choices);
    }
    return 0;
}

/* ------------------------------------------------------------------ the scripts */

static const char bash_script[] =
    "# bash completion of ramet; made by 'ramet completion bash'\n"
    "_ramet() {\n"
    "    local cur line\n"
    "    local -a words\n"
    "    COMPREPLY=()\n"
    "    # '@' and '=' part words in bash, not in ramet: take the line apart by blanks.\n"
    "    if declare -F _get_comp_words_by_ref >/dev/null; then\n"
    "        local cword\n"
    "        _get_comp_words_by_ref -n '=@:' -w words -i cword -c cur\n"
    "        words=(\"${words[@]:1:cword}\")\n"
    "    else\n"
    "        line=${COMP_LINE:0:COMP_POINT}\n"
    "        read -r -a words <<<\"$line\"\n"
    "        [[ $line == *[[:space:]] ]] && words+=('')\n"
    "        cur=${words[${#words[@]}-1]}\n"
    "        words=(\"${words[@]:1}\")\n"
    "    fi\n"
    "    # What stands before the last '=', '@' or ':' is a word of its own to readline.\n"
    "    local typed=${COMP_WORDS[COMP_CWORD]} before=\n"
    "    case $typed in '='|'@'|':') typed= ;; esac\n"
    "    [[ ${#cur} -gt ${#typed} && $cur == *\"$typed\" ]] && before=${cur:0:${#cur}-${#typed}}\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :file ]]; then\n"
    "            compopt -o filenames 2>/dev/null\n"
    "            while IFS= read -r line; do COMPREPLY+=(\"$line\"); done < <(compgen -f -- "
    "\"$typed\")\n"
    "            continue\n"
    "        fi\n"
    "        line=${line%%$'\\t'*}\n"
    "        line=${line#\"$before\"}\n"
    "        [[ -n $line ]] && COMPREPLY+=(\"$(printf %q \"$line\")\")\n"
    "    done < <(\"${COMP_WORDS[0]}\" __complete \"${words[@]}\" 2>/dev/null)\n"
    "}\n"
    "complete -F _ramet ramet\n";

static const char zsh_script[] =
    "#compdef ramet\n"
    "# zsh completion of ramet; made by 'ramet completion zsh'\n"
    "_ramet() {\n"
    "    local line word text\n"
    "    local -a plain shown\n"
    "    while IFS= read -r line; do\n"
    "        if [[ $line == :file ]]; then _files; continue; fi\n"
    "        word=${line%%$'\\t'*}\n"
    "        text=${line#$word}\n"
    "        plain+=(\"$word\")\n"
    "        shown+=(\"$word${text:+  -- ${text#$'\\t'}}\")\n"
    "    done < <(\"${words[1]}\" __complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "    (( $#plain )) && compadd -l -d shown -a plain\n"
    "}\n"
    "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _ramet \"$@\"; else compdef _ramet "
    "ramet; fi\n";

static const char fish_script[] =
    "# fish completion of ramet; made by 'ramet completion fish'\n"
    "function __ramet_complete\n"
    "    set -l words (commandline -opc) (commandline -ct)\n"
    "    for line in ($words[1] __complete $words[2..-1] 2>/dev/null)\n"
    "        if test \"$line\" = :file\n"
    "            __fish_complete_path (commandline -ct)\n"
    "        else\n"
    "            echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c ramet -f -a '(__ramet_complete)'\n";

int cmd_completion(cli *c)
{
    static const struct {
        const char *shell, *script;
    } scripts[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (strcmp(c->argv[0], scripts[i].shell) == 0) {
            fputs(scripts[i].script, stdout);
            return 0;
        }
    return cli_error(c, RAMET_INVALID, "shell",
                     "there is no completion for '%s'; take bash, zsh or fish", c->argv[0]);
}
