/* SPDX-License-Identifier: Apache-2.0
 *
 * url_fetch.h: fetches attachments that a client names by URL.
 */
#ifndef SERVER_URL_FETCH_H
#define SERVER_URL_FETCH_H

#include "ramet.h"
#include "ramet/memory.h"
#include "runtime/config.h"

typedef struct url_fetch url_fetch;
url_fetch *url_fetch_new(const server_config *cfg, ramet *store);
void url_fetch_free(url_fetch *b); /* aborts what still runs; NULL is fine */
/* Starts fetching a file; in the end it is an attachment, or has failed. */
void url_fetch_start(url_fetch *b, const ramet_fetch *f);

#endif
