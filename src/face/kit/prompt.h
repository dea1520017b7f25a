/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.h: what the agent of a turn was sent, as people and programs see it: for the native API
 * and the command-line tool.
 */
#ifndef FACE_KIT_PROMPT_H
#define FACE_KIT_PROMPT_H

#include "base/json.h"
#include "ramet.h"

/* The reads that showing takes: of the library, or of a server. */
typedef struct prompt_calls {
    __typeof__(ramet_turn_prompt) *prompt;
    __typeof__(ramet_read) *read;
} prompt_calls;
/* Writes {messages, instructions, settings, usage, known} of a turn. Messages that were not kept
 * are made of the history again, and shown only if they are what was sent: else `known` is false.
 * False: the call has failed, and nothing was written. */
bool prompt_show(ramet_call *c, const prompt_calls *lib, const char *session, const char *turn,
                 json_writer *w);

#endif
