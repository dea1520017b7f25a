/* SPDX-License-Identifier: Apache-2.0
 *
 * move.h: shared by fork and rewind: where to cut.
 */
#ifndef CLI_COMMANDS_MOVE_H
#define CLI_COMMANDS_MOVE_H

#include "cli/cli.h"

/* ENTRY (the second word), --before and --cut. False: reported. */
bool cut_options(cli *c, const char *session, int64_t branch, ramet_at *at, ramet_cut_policy *cut,
                 int *code);

#endif
