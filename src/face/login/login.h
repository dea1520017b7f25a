/* SPDX-License-Identifier: Apache-2.0
 *
 * login.h: sets up the sign-in pages before the server accepts requests.
 */
#ifndef FACE_LOGIN_LOGIN_H
#define FACE_LOGIN_LOGIN_H

#include "identity/identity.h"

/* Sets the settings, the issuer and the cookies to use; they must outlive the last request. */
void login_bind(auth *a);

#endif
