/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how kagent's clients identify themselves. Its user interface sends ?user_id=; its
 * agents send X-Agent-Name and act on their own behalf or for a user.
 */
#include "face/kagent/kagent.h"

const identity_rule kagent_identity = {
    .local_order = {USER_FROM_QUERY, USER_FROM_HEADER, USER_FROM_BEARER, USER_FROM_SETTING},
    .share_header = "X-Share-Token",
    .agent_header = "X-Agent-Name",
};
