/* SPDX-License-Identifier: Apache-2.0
 *
 * key.h: the key of an entry in its tree: the branch that owns it, and its position on the path.
 */
#ifndef CORE_MODEL_KEY_H
#define CORE_MODEL_KEY_H

#include <stdint.h>

#define POS_BITS 24
#define POS_MAX ((int64_t)(1 << POS_BITS) - 1)   /* entries that a path may hold */
#define BRANCH_MAX (INT64_MAX >> (POS_BITS + 1)) /* so that a key, and the next one, fit */
#define KEY(branch, pos) (((int64_t)(branch) << POS_BITS) | (int64_t)(pos))
#define KEY_BRANCH(k) ((k) >> POS_BITS)
#define KEY_POS(k) ((k)&POS_MAX)

#endif
