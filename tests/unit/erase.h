/* SPDX-License-Identifier: Apache-2.0
 *
 * erase.h: short words for the tests of erasure, beside those of help.h.
 */
#ifndef TESTS_UNIT_ERASE_H
#define TESTS_UNIT_ERASE_H

#include "help.h"
#include "ramet/erase.h"

#define SECRET "hunter2-swordfish"

extern ramet_receipt *erase_receipt; /* of the last one */
/* Erases an entry, as the embedding program for "root". */
void erase_it(const char *session, const char *entry);
/* Whether a text stands in any row of the store, whatever the table and column. */
bool erase_anywhere(const char *text);
/* How many entries a search finds, at most 50. */
size_t erase_hits(const char *query);
/* s is ann's and has an entry of carlos; f is a fork of carlos, with an entry of ann. */
void erase_user_stage(void);

#endif
