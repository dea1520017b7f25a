/* SPDX-License-Identifier: Apache-2.0
 *
 * event.h: events: what was committed, in order, for subscribers and for the search index.
 */
#ifndef CORE_EVENT_H
#define CORE_EVENT_H

#include "core/session/session.h"
#include "core/txn.h"

/* Records an event. Arguments of RAMET_EVENT_APPENDED: the key of the first entry, and the number
 * of entries. Of other kinds: the branch moved to; then for a move its kind, and for
 * RAMET_EVENT_UPDATED EVENT_ARCHIVED or EVENT_BACK when the session was archived or brought
 * back. */
void event_add(txn *tx, int64_t tree, int64_t session, ramet_event_kind kind, int64_t k, int64_t n);
/* The text that an entry is found by has changed: for the search index only. */
#define EVENT_INDEXED ((ramet_event_kind)(RAMET_EVENT_APPENDED + 1))
enum { EVENT_ARCHIVED = 1, EVENT_BACK = 2, EVENT_LEVELS = 16 };
/* RAMET_EVENT_UPDATED: a member was added, removed or has another level. */
void event_add_member(txn *tx, const session_brief *s, const char *user, ramet_level before,
                      ramet_level after);

struct watch *watch_new(void);
/* Closes its connection, which must happen before the store is closed. Until then it may still be
 * notified of events. */
void watch_close(struct watch *w);
void watch_free(struct watch *w);
/* Wakes threads that wait for events, after the commit of event `no`. */
void event_notify(ramet *r, int64_t no);

#endif
