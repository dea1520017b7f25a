/* SPDX-License-Identifier: Apache-2.0
 *
 * furnish.h: rows of what a store keeps beside its histories: turns, tasks, attachments, links,
 * tokens, opinions, sandboxes, answers kept by a key. Each table that the script leaves empty gets
 * some, and each has a read in the story.
 */
#ifndef FAULT_FURNISH_H
#define FAULT_FURNISH_H

#include "story.h"

/* What has to be remembered to read the rows again. */
typedef struct furniture {
    char *attachment, *errand, *share, *share_token, *token_secret, *transfer;
} furniture;

/* Writes the rows. Aborts when a call fails: the disk is good. */
void furnish(ramet *r, furniture *f);
/* Reads them all, each as one item of the story. */
void furniture_tell(ramet *r, const furniture *f, story *s);
/* Tries each kind of write that reads such a row first. Their statuses are not looked at. */
void furniture_use(ramet *r, const furniture *f);
void furniture_free(furniture *f);

#endif
