/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how clients of the native API identify themselves.
 */
#include "face/native/native_face.h"

const identity_rule native_identity = {
    .local_order = {USER_FROM_BEARER, USER_FROM_QUERY, USER_FROM_HEADER, USER_FROM_SETTING},
    .link_alone = true,
};
