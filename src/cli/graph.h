/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.h: draws the timeline of a tree (`ramet log --graph`).
 */
#ifndef CLI_GRAPH_H
#define CLI_GRAPH_H

#include "cli/cli.h"

/* Draws the tree of `s`; the path of `s` is the current one. */
int graph_show(cli *c, const ramet_session *s);

#endif
