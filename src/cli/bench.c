/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.c: `ramet bench` passes its words on to the benchmark.
 */
#include "bench/bench.h"

#include "cli/commands.h"

int cmd_bench(cli *c)
{
    char **argv = arena_array(c->mem, (size_t)c->argc + 2, sizeof *argv);
    argv[0] = arena_strdup(c->mem, "ramet bench");
    for (int i = 0; i < c->argc; i++)
        argv[i + 1] = c->argv[i];
    return bench_main(c->argc + 1, argv);
}
