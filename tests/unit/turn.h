/* SPDX-License-Identifier: Apache-2.0
 *
 * turn.h: short words for the tests of turns. All but those that are given a call speak as the
 * embedding program.
 */
#ifndef TESTS_UNIT_TURN_H
#define TESTS_UNIT_TURN_H

#include "help.h"

extern ramet_append_out turn_out; /* of the last begin, append or end */

#define MESSAGE(i)                                                                                 \
    .entries = &(ramet_entry_in){.id = (i), .role = RAMET_USER, .text = "text of " i}, .n = 1

ramet_turn *turn_start(const char *session, const ramet_turn_in *in);
/* A begin that is refused and changes nothing at all. */
void turn_refused(ramet_call *c, ramet_status status, const char *field, const char *session,
                  const ramet_turn_in *in);
/* An answer of the assistant. */
ramet_status turn_speak_as(ramet_call *c, const char *turn, const char *id);
void turn_speak(const char *turn, const char *id);
void turn_stop(const char *turn, ramet_turn_status status);
ramet_turn *turn_look(const char *session, const char *turn);
ramet_turn *turn_running(const char *session);
int64_t turn_count(void);
void turn_fsck(void);

#endif
