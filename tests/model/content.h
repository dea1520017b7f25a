/* SPDX-License-Identifier: Apache-2.0
 *
 * content.h: from a number to what an entry, a title, a tag set, a query holds.
 */
#ifndef CONTENT_H
#define CONTENT_H

#include "ramet.h"

enum { WORDS = 12 };
extern const char *const content_words[WORDS];

/* An entry to be given, with the memory that it points into. */
typedef struct content {
    ramet_entry_in in;
    ramet_usage usage;
    char id[300], text[600], parts[1600], body[100], turn[16], delta[160];
} content;

/* Bits of c: 0-1 role, 2-5 text, 6-8 parts, 9-10 tool id, 11-12 usage, 13-14 state delta,
 * 15-16 channel, 17 foreign format, 18 turn, 19 author, 20 created, 21 role is missing.
 * The i-th entry of a batch; id 0 gives none. `log` adk has no deltas. */
void content_make(content *out, int32_t c, int i, int32_t id, ramet_log log, int64_t now);

const char *content_title(int32_t n);
const char *content_reason(int32_t n);
const char *content_metadata(int32_t n);
const char *content_channel(int32_t n);
void content_agent(int32_t n, ramet_agent *out);
size_t content_tags(int32_t n, const char *const **out);

/* A query in the language of ramet_search(), and whether a text matches it. */
void content_query(int32_t q, char *out, size_t size);
bool content_matches(int32_t q, const char *text);

#endif
