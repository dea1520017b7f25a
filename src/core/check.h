/* SPDX-License-Identifier: Apache-2.0
 *
 * check.h: validation of arguments from outside.
 */
#ifndef CORE_CHECK_H
#define CORE_CHECK_H

#include "core/call.h"

ramet_status check_id(ramet_call *c, const char *field, const char *id);
ramet_status check_utf8(ramet_call *c, const char *field, const char *s);
/* At most `chars` characters of valid UTF-8; NULL is fine. */
ramet_status check_chars(ramet_call *c, const char *field, const char *s, size_t chars,
                         ramet_status over);
/* A JSON object of at most meta_bytes; NULL is fine. */
ramet_status check_object(ramet_call *c, const char *field, const char *json);
ramet_status check_agent(ramet_call *c, const ramet_agent *a);
/* Gives the tags trimmed, in lower case, sorted, without duplicates. */
ramet_status check_tags(ramet_call *c, const char *const *tags, size_t n, const char ***out,
                        size_t *n_out);
/* A prefix hash in hex; NULL is fine and leaves *given false. */
ramet_status check_hash(ramet_call *c, const char *hex, uint8_t out[HASH_LEN], bool *given);
ramet_status check_limit(ramet_call *c, int limit, int max, int deflt, int *out);
ramet_status check_life(ramet_call *c, const char *field, int64_t us);

#endif
