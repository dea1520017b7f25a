/* SPDX-License-Identifier: Apache-2.0
 *
 * jsonrpc.h: the error codes that JSON-RPC itself defines. Each protocol on top of it adds its own.
 */
#ifndef BASE_JSONRPC_H
#define BASE_JSONRPC_H

enum {
    JSONRPC_PARSE = -32700,
    JSONRPC_INVALID = -32600,
    JSONRPC_NO_METHOD = -32601,
    JSONRPC_PARAMS = -32602,
    JSONRPC_INTERNAL = -32603
};

#endif
