/* SPDX-License-Identifier: Apache-2.0
 *
 * attach.h: short words for tests of attachments, beside those of help.h.
 */
#ifndef TESTS_UNIT_ATTACH_H
#define TESTS_UNIT_ATTACH_H

#include "help.h"

/* Uploads a text; its id lives to the end of the test. */
const char *upload(ramet_call *c, const char *text);
/* Forgets those ids: for a test of many rounds. */
void attach_forget(void);
/* What is in an attachment. */
const char *content(ramet_call *c, const char *id);
/* Appends an entry that refers to it. */
void attach(const char *session, const char *entry, const char *id);
/* fsck finds nothing. */
void sound(void);

/* ---- the content itself: files beside the store, or rows of the database */

/* From now on as files, also when the store is not one. */
void in_folder(void);
int files(void); /* how many, whole or begun */
bool file_there(const char *sha256);
void file_put(const char *sha256, const char *text);
void file_drop(const char *sha256);
/* Makes a file in the folder look that old. */
void file_age(const char *name, int64_t us);

#endif
