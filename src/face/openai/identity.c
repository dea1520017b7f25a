/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: how OpenAI clients identify themselves. Their SDKs always send a bearer, and send a
 * made-up one where none is needed: in local mode it names nobody.
 */
#include "face/openai/openai_face.h"

const identity_rule openai_identity = {
    .local_order = {USER_FROM_HEADER, USER_FROM_SETTING},
};
