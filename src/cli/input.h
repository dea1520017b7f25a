/* SPDX-License-Identifier: Apache-2.0
 *
 * input.h: reads entries from what users and programs pass in: words of the command line, a plain
 * message, a JSON entry or array, or JSONL of any length.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "cli/cli.h"

typedef enum { INPUT_TEXT, INPUT_JSON, INPUT_JSONL } input_format;

typedef struct input {
    cli *cli;
    FILE *file;
    input_format format;
    buf text;       /* the message or document, or the current line */
    bool pending;   /* JSONL: `text` holds a line that was not returned yet */
    int64_t line;   /* JSONL: number of that line */
    int64_t number; /* number of entries returned */
    int64_t added;  /* of these, how many are in the store; an error says so */
    json_doc doc;   /* JSON: the document, and the next entry in it */
    const json_node *next;
    bool ended;
    bool defaults; /* the command has --role, --turn and so on as defaults for an entry */
} input;

/* Every function returns -1, or an exit code after reporting the error. */
int input_begin(input *in, cli *c, FILE *file, const char *format);
/* Uses the words of the command line from `from` on as the message. */
int input_words(input *in, cli *c, int from);
/* The next entry, its strings in `a`; *got is false at the end. Options of the command (--role,
 * --turn, …) are defaults for the entry. */
int input_next(input *in, arena *a, ramet_role role, ramet_entry_in *out, bool *got);
/* All remaining entries, at most `most`; in c->mem. */
int input_all(input *in, ramet_role role, size_t max, ramet_entry_in **out, size_t *n);
/* The current place in the input, for messages: "line 12" or "entry 3". */
const char *input_place(input *in);
void input_end(input *in);

#endif
