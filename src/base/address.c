/* SPDX-License-Identifier: Apache-2.0
 *
 * address.c: addresses of this machine and of private networks.
 */
#include "base/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>

static bool private_v4(uint32_t a)
{
    static const struct {
        uint32_t net;
        int bits;
    } nets[] = {{0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0x7f000000, 8},
                {0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0a80000, 16},
                {0xc6120000, 15}, {0xe0000000, 4},  {0xf0000000, 4}};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        if (a >> (32 - nets[i].bits) == nets[i].net >> (32 - nets[i].bits))
            return true;
    return false;
}

static uint32_t v4_in(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static bool private_v6(const uint8_t a[16])
{
    static const uint8_t zeros[16], nat64[12] = {0, 0x64, 0xff, 0x9b};
    if (memcmp(a, zeros, 10) == 0) /* unspecified, loopback, IPv4-mapped */
        return (a[10] == 0 && a[11] == 0) || private_v4(v4_in(a + 12));
    if (memcmp(a, nat64, 12) == 0)
        return private_v4(v4_in(a + 12));
    if (a[0] == 0x20 && a[1] == 0x02)
        return private_v4(v4_in(a + 2));
    return (a[0] & 0xfe) == 0xfc || (a[0] == 0xfe && (a[1] & 0xc0) >= 0x80) || a[0] == 0xff;
}

bool address_is_private(const struct sockaddr *at)
{
    if (at->sa_family == AF_INET)
        return private_v4(ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr));
    if (at->sa_family == AF_INET6)
        return private_v6(((const struct sockaddr_in6 *)(const void *)at)->sin6_addr.s6_addr);
    return true;
}

bool address_text_is_private(const char *text)
{
    struct in_addr v4;
    struct in6_addr v6;
    char plain[INET6_ADDRSTRLEN + 1];
    size_t n = strlen(text);
    if (inet_pton(AF_INET, text, &v4) == 1)
        return private_v4(ntohl(v4.s_addr));
    if (n > 2 && *text == '[' && text[n - 1] == ']')
        text++, n -= 2;
    if (n >= sizeof plain)
        return false;
    memcpy(plain, text, n);
    plain[n] = 0;
    return inet_pton(AF_INET6, plain, &v6) == 1 && private_v6(v6.s6_addr);
}
