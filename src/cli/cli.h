/* SPDX-License-Identifier: Apache-2.0
 *
 * cli.h: shared by the subcommands.
 *
 * table.c declares every command once; options.c parses by it, and help.c, manual.c and complete.c
 * present it to users, troff and shells. A command is one function that gets the parsed line and
 * returns the exit code. It gets its options by name (a name that its table row lacks is a bug and
 * aborts), calls the library through `lib` and c->call, and prints text, or one JSON value if
 * c->json is set.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "base/json.h"
#include "client/client.h"
#include "ramet.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cli cli;

/* The library, or a server: what this command line works on. Set before a command runs. */
extern const ramet_calls *lib;

/* ------------------------------------------------------------- the table */

typedef enum {
    OPT_FLAG,   /* no value */
    OPT_TEXT,   /* one value; the last one counts */
    OPT_LIST,   /* a value, may be repeated */
    OPT_COUNT,  /* an integer from 1 */
    OPT_TIME,   /* RFC 3339, a date, or a span such as 3d, meaning that long ago */
    OPT_SPAN,   /* 90s, 30m, 12h, 7d, 2w */
    OPT_CHOICE, /* one of the words in `choices` */
    OPT_JSON    /* a JSON object */
} option_kind;

/* What shell completion suggests for a word. */
typedef enum { WORD_ANY, WORD_SESSION, WORD_BRANCH, WORD_TAG, WORD_FILE, WORD_COMMAND } word_kind;

typedef struct option_def {
    const char *name; /* without the dashes; NULL ends an array */
    char letter;      /* 0: none */
    option_kind kind;
    const char *value;   /* placeholder for the value in the help; NULL for a flag */
    const char *text;    /* what it does; no full stop */
    const char *choices; /* OPT_CHOICE: words separated by | */
    word_kind word;
} option_def;

typedef struct arg_def {
    const char *name; /* NULL ends an array */
    const char *text;
    bool optional, repeated;
    const char *choices; /* for completion only: the command checks them */
    word_kind word;
} arg_def;

typedef struct example_def {
    const char *command; /* without "ramet "; NULL ends an array */
    const char *text;
} example_def;

typedef enum {
    GROUP_WRITE,
    GROUP_READ,
    GROUP_MOVE,
    GROUP_FIND,
    GROUP_KEEP,
    GROUP_SERVE,
    GROUP_CARE,
    GROUP_ABOUT,
    GROUP_COUNT
} command_group;

enum {
    CMD_NO_STORE = 1, /* does not open the store */
    CMD_PAGER = 2,    /* sends its text through the pager */
    CMD_ADMIN = 4,    /* runs as the embedding program, not as a user */
    CMD_RAW = 8,      /* gets its words unparsed */
    CMD_HIDDEN = 16,  /* not in help */
    CMD_MAKES = 32,   /* creates the store if there is none */
    CMD_FILE = 64,    /* not on a server */
    CMD_SERVER = 128  /* only on a server, which is started for the store's file if none is named */
};

typedef struct command_def {
    const char *name; /* NULL ends the table */
    command_group group;
    unsigned flags;
    const char *synopsis; /* what follows the name, without [options] */
    const char *summary;  /* one line, no full stop */
    const char *about;    /* paragraphs separated by \n\n; NULL: none */
    const arg_def *args;
    const option_def *options;
    const example_def *examples;
    int (*run)(cli *c);
} command_def;

extern const command_def cli_commands[];
extern const option_def cli_globals[];
extern const char *const cli_groups[GROUP_COUNT];
/* "name\0text" pairs for the help: environment variables and ways to name things. */
typedef struct topic_def {
    const char *name, *text;
} topic_def;
extern const topic_def cli_environment[];
extern const topic_def cli_names[];
extern const char cli_description[];

const command_def *command_find(const char *name);

/* ------------------------------------------------------------- one command line */

struct cli {
    const command_def *cmd;
    arena *mem; /* lives as long as the process */
    int argc;   /* words left after the options */
    char **argv;
    struct {
        const option_def *def;
        const char *value;
    } * given; /* in the order given */
    size_t n_given;

    const char *user; /* acting user; NULL: the program itself */
    ramet *store;
    ramet_call *call;
    ramet_call *walk; /* for long walks: reset between their pages */

    bool json, quiet;
    bool color, unicode;
    bool out_tty, err_tty;
    int width; /* columns; 0 = no limit (output is not a terminal) */
    int64_t now;

    buf json_buf;
    json_writer jw;
};

/* options.c: parses the words. -1: continue; otherwise an exit code (help was shown, or an
 * error). */
int options_parse(cli *c, int argc, char **argv);
bool options_have(const command_def *cmd, const char *name);
bool opt_flag(const cli *c, const char *name);
const char *opt_text(const cli *c, const char *name); /* NULL: not given */
int64_t opt_count(const cli *c, const char *name, int64_t otherwise);
int64_t opt_time(const cli *c, const char *name);                       /* 0: not given */
int64_t opt_span(const cli *c, const char *name);                       /* 0: not given */
const char *const *opt_list(const cli *c, const char *name, size_t *n); /* NULL: not given */
bool span_parse(const char *s, int64_t *us);
/* The word in a list that was probably meant; NULL if none is close. */
const char *nearest_word(const char *word, const char *const *words, size_t n);

/* main.c: errors. Each prints one line and returns the exit code. */
int cli_fail(cli *c); /* the error of c->call */
int cli_error(cli *c, ramet_status s, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
int cli_report(cli *c, const ramet_error *e);
/* Prints a note for the user on stderr, unless --quiet. */
void cli_note(cli *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------- names (resolve.c) */

/* A session by its id, by 4 or more of its first or last characters, or @ (the newest), @2 (the one
 * before) and so on. NULL: reported, *code is set. */
ramet_session *session_named(cli *c, const char *word, int *code);
/* An entry on a path (branch 0: the head): its id, its first or last characters, @N (the N-th) or
 * @-N (from the end). */
ramet_entry *entry_named(cli *c, const char *session, int64_t branch, const char *word, int *code);
/* A side of a comparison: SESSION or SESSION@bN. False: reported. */
bool side_named(cli *c, const char *word, ramet_side_in *out, int *code);
/* --branch; 0 if missing. False: reported. */
bool branch_option(cli *c, int64_t *branch, int *code);
/* A branch of a session: its id, such as b17, or its name if no other branch has it. */
bool branch_named(cli *c, const char *session, const char *word, int64_t *branch, int *code);
/* The one of several ids that a word names: exactly, or by 4 or more of its first or last
 * characters. The word itself if there is none; NULL if there are several. */
const char *id_named(const char *const *ids, size_t n, const char *word);
/* The short form of an id for users: the end of a UUID, other ids in full. */
const char *short_id(cli *c, const char *id);

/* ------------------------------------------------------------- JSON out */

json_writer *json_begin(cli *c);
void json_flush(cli *c); /* between the items of a long list */
int json_end(cli *c);    /* the newline; returns 0 */
/* {noun: [ … ]} with a writer for each item */
void json_list_begin(cli *c, const char *noun);
int json_list_end(cli *c);
/* The output of a command that revoked a link or a key: `done` and its id. Returns 0. */
int answer_revoked(cli *c, const char *done, const char *id);

#endif
