/* SPDX-License-Identifier: Apache-2.0
 *
 * login.h: what the server tells the sign-in pages before it takes requests.
 */
#ifndef FACE_LOGIN_LOGIN_H
#define FACE_LOGIN_LOGIN_H

#include "identity/identity.h"

/* The settings, the issuer and the cookies that they use; they outlive the last request. */
void login_bind(auth *a);

#endif
