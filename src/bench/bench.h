/* SPDX-License-Identifier: Apache-2.0
 *
 * bench.h: `ramet bench`: the speeds that docs/performance.md tells of.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/* argv[0] is how it was called. Returns an exit code: 0 when everything could be measured, whether
 * or not it reached its bar. */
int bench_main(int argc, char **argv);

#endif
