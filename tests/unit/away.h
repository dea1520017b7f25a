/* SPDX-License-Identifier: Apache-2.0
 *
 * away.h: a second store, and files of exports between the two, for the tests of exports and
 * imports.
 */
#ifndef TESTS_UNIT_AWAY_H
#define TESTS_UNIT_AWAY_H

#include "help.h"
#include "ramet/export.h"

typedef struct away_store {
    ramet *store;
    ramet_call *call; /* of the embedding program */
    char where[512];
} away_store;
extern away_store other;

void other_open(void);
void other_shut(void);
/* Another one, which is empty: a file in the folder of the test, or the same database made anew. */
void other_anew(void);
void open_both(void);
void close_both(void);

typedef struct file {
    char *p; /* ends with a NUL that is not counted */
    size_t n, cap;
} file;

bool file_take(void *arg, const void *bytes, size_t n);
extern ramet_export_out exported; /* of the last one */
file file_of(ramet_call *c, const ramet_export_in *in);
file all_of(ramet_call *c); /* with the adk log */

extern ramet_import_out imported; /* of the last one */
ramet_status import_bytes(ramet_call *c, const char *p, size_t n);
void import_file(ramet_call *c, const file *f);

void same_file(const file *a, const file *b);
/* fsck finds nothing in the other store. */
void sound_other(void);
/* A copy with one text in place of another one, the first time that it occurs; of the same length,
 * so that an error is told by its line. */
file changed(const file *f, const char *from, const char *to);
/* The same with a text of any length. */
file replaced(const file *f, const char *from, const char *to);
/* Makes the last line name the hash of all before it. */
void resign(file *f);

#endif
