/* SPDX-License-Identifier: Apache-2.0
 *
 * jsonrpc.h: the errors that JSON-RPC itself defines. Each protocol on it has more of its own.
 */
#ifndef BASE_JSONRPC_H
#define BASE_JSONRPC_H

enum {
    RPC_PARSE = -32700,
    RPC_INVALID = -32600,
    RPC_NO_METHOD = -32601,
    RPC_PARAMS = -32602,
    RPC_INTERNAL = -32603
};

#endif
