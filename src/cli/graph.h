/* SPDX-License-Identifier: Apache-2.0
 *
 * graph.h: the timeline of a tree, drawn (`ramet log --graph`).
 */
#ifndef CLI_GRAPH_H
#define CLI_GRAPH_H

#include "cli/cli.h"

/* The tree that `s` is in; the path of `s` is drawn as the present one. */
int graph_show(cli *c, const ramet_session *s);

#endif
