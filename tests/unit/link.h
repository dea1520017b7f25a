/* SPDX-License-Identifier: Apache-2.0
 *
 * link.h: the stage of the tests of share links.
 *
 * p is ann's root. s is a fork of it and what is shared; q is another fork of p, h a private one of
 * ann's, k a fork of s. All belong to ann; eve is no member.
 */
#ifndef TESTS_UNIT_LINK_H
#define TESTS_UNIT_LINK_H

#include "help.h"

void link_stage(void);
extern int64_t link_branch; /* the first one of s: it holds a b c d, its head a b */
/* A link that ann makes. */
ramet_share *link_make(const char *session, bool write, int64_t life);
/* A call of a user who holds a link. */
ramet_call *link_hold(const char *user, const ramet_share *link);
/* The call of that name in the table of share_calls.c, on s. */
ramet_status link_do(const char *name, ramet_call *c);

#endif
