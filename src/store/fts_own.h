/* SPDX-License-Identifier: Apache-2.0
 *
 * fts_own.h: what fts.c and fts_text.c share.
 */
#ifndef STORE_FTS_OWN_H
#define STORE_FTS_OWN_H

#include "store/fts.h"

#include <sqlite3.h>
#include <stdio.h>

struct fts {
    db *d;
    fts5_tokenizer cutter;
    Fts5Tokenizer *cut;
    fts_rank *rank; /* the running search, NULL when there is none */
};

#endif
