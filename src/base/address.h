/* SPDX-License-Identifier: Apache-2.0
 *
 * address.h: which addresses of the network are not for everyone.
 */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* Whether an address is one of this machine, of a private network, or otherwise not reachable by
 * all; so is one of another family than IPv4 and IPv6. */
bool address_is_private(const struct sockaddr *at);
/* The same of a literal address ("127.0.0.1", "::1", also in brackets); false for any name. */
bool address_text_is_private(const char *text);

#endif
