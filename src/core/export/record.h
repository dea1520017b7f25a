/* SPDX-License-Identifier: Apache-2.0
 *
 * record.h: the records of Ramet's own export format, and how each stands for a row of a table.
 * docs/export.md describes the file.
 *
 *   R1  A file holds no number of the store. Sessions and branches are numbered from 1 within
 *       their tree, in the order of their numbers in the store; an import gives them new numbers in
 *       the same order. So an export of what was imported has the same bytes.
 *   R2  Rows come in an order that depends on these numbers and on their content alone.
 *   R3  A column is either in the record, or is made anew by the import (RECORD_MADE): every
 *       column of an exported table is listed, by its name.
 *   R4  The same table of columns writes a record and reads it back.
 */
#ifndef CORE_EXPORT_RECORD_H
#define CORE_EXPORT_RECORD_H

#include "base/base64.h"
#include "base/json.h"
#include "core/txn.h"
#include "core/upkeep/copy.h"

#define RECORD_VERSION 1
#define RECORD_COLUMNS 40 /* more than any table has */
/* Bytes of an attachment in one record. A multiple of 3, so that no padding is inside. */
#define RECORD_CONTENT ((size_t)48 << 10)

/* In the order in which they come in a tree. */
typedef enum {
    RECORD_HEADER,
    RECORD_TREE,
    RECORD_MEMBER,
    RECORD_SESSION,
    RECORD_GONE, /* among the sessions: a place in the tree, and nothing more */
    RECORD_HOLD, /* of whole trees, in an administrator's export */
    RECORD_BRANCH,
    RECORD_ENTRY,
    RECORD_ERASED, /* among the entries: what is left of one */
    RECORD_RUN,
    RECORD_MOVE,
    RECORD_OVERLAY,
    RECORD_TURN,
    RECORD_PROMPT,
    RECORD_TASK,
    RECORD_PLACE,
    RECORD_SEARCH_TEXT,
    RECORD_FEEDBACK,
    RECORD_VERDICT,
    RECORD_BRANCH_NOTE,
    RECORD_TEMPLATE,
    RECORD_ATTACHMENT,
    RECORD_CONTENT_PART,
    RECORD_END,
    RECORD_KINDS,
    RECORD_UNKNOWN = RECORD_KINDS
} record_kind;

typedef enum {
    COLUMN_MADE,   /* not in the file */
    COLUMN_TREE,   /* the tree's own number: not in the file */
    COLUMN_NUMBER, /* the record's own number, "n" */
    COLUMN_INT,    /* not negative */
    COLUMN_COUNT,  /* the same; left out when 0 */
    COLUMN_SIGNED, /* any */
    COLUMN_TEXT,
    COLUMN_MAYBE,   /* a text; left out when NULL */
    COLUMN_SHORT,   /* a text; left out when empty */
    COLUMN_JSON,    /* a JSON value as it was given; left out when NULL */
    COLUMN_WORD,    /* a number that has a name */
    COLUMN_USER,    /* who did it: only an administrator's import keeps it */
    COLUMN_SESSION, /* a session that is in the file; left out when 0 */
    COLUMN_PLACE,   /* the same, or one that is gone */
    COLUMN_BRANCH,  /* left out when 0 */
    COLUMN_OVERLAY, /* left out when 0 */
    COLUMN_KEY,     /* an entry: "branch" and "position" */
    COLUMN_ENTRY,   /* the same; left out when 0 */
    COLUMN_HASH
} column_kind;

typedef struct record_column {
    const char *column; /* of the table */
    const char *name;   /* in the file */
    column_kind kind;
    const char *words; /* COLUMN_WORD: parted by |, */
    int64_t first;     /* the first of which stands for this number */
} record_column;

typedef struct record_def {
    const char *type;
    int table; /* COPY_T_…; -1: it stands for no row */
    const record_column *columns;
    size_t n;
} record_def;

extern const record_def record_defs[RECORD_KINDS];

record_kind record_kind_of(const char *type);
/* The place of a column in a row of a table; it must be there. */
size_t record_column_at(const copy_table *t, const char *column);

/* ---- writing */

/* Begins a record: the object with its type. The caller ends it. */
void record_open(json_writer *w, record_kind kind);
/* The columns of a row whose references were replaced by numbers of the file. A key stands for
 * KEY(branch, position). */
void record_columns(json_writer *w, record_kind kind, const copy_cell *row);
/* A JSON value that was given by a caller, byte for byte; NULL: left out. One that does not fit on
 * a line as it is becomes a text, under `name`_text. */
void record_json(json_writer *w, const char *name, const char *json);

/* ---- reading */

/* One line of a file. */
typedef struct record {
    record_kind kind;
    json_doc doc;
    arena *arena;
    const json_node *next; /* the member that is likely to be asked for next */
    uint64_t names;        /* a bit for each member that may be there (name_bit() in record.c) */
    size_t taken;          /* members that were asked for and were there */
    char fault[200];       /* what is wrong with it, "" when nothing */
} record;

/* Reads a line; false: `fault` says why. */
bool record_parse(record *r, arena *a, const char *line, size_t n, size_t depth);
/* Members, by name. Each sets `fault` when there is none of that type. */
int64_t record_int(record *r, const char *name, int64_t least, int64_t most);
int64_t record_count(record *r, const char *name, int64_t most); /* 0 when it is left out */
const char *record_text(record *r, const char *name);
const char *record_maybe(record *r, const char *name); /* NULL when it is left out */
const char *record_json_get(record *r, const char *name);
void record_hash(record *r, const char *name, uint8_t out[HASH_LEN]);
int64_t record_word(record *r, const char *name, const char *words, int64_t first);
/* The columns of a row; those that are made are 0, or NULL where that is what they are. */
void record_row(record *r, copy_cell *row);
/* Nothing that was not asked for may be left. */
bool record_done(record *r);
void record_fault(record *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The content of a part, base64 with its padding; `out` has room for n / 4 * 3 bytes. */
bool record_bytes(const char *s, size_t n, uint8_t *out, size_t *out_n);

#endif
