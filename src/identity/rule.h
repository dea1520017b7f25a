/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.h: how one protocol names its callers, and which roles a caller may have.
 *
 * Each protocol has its own habits: which header or parameter names the user, whether an agent may
 * act for a user, what an unknown caller is told. An identity_rule is those habits; it belongs to
 * the protocol (src/face/NAME/identity.c). The mechanisms behind it (tokens, cookies, an OpenID
 * Connect issuer, local mode) are the same for all protocols and stay in src/identity.
 *
 * Invariants
 *   R1  In the modes `tokens` and `oidc` a rule starts from the identity of a verified credential.
 *       It may refuse it or act for another user where a setting trusts the client; it cannot make
 *       an identity of its own.
 *   R2  A route states its roles (face_route.roles); face_check_role() is the only place that
 *       compares them with the caller.
 */
#ifndef IDENTITY_RULE_H
#define IDENTITY_RULE_H

#include "http/request.h"

/* ------------------------------------------------------------------ roles */

/* Which callers may use a route: any one of the roles in its mask is enough. The values lie above
 * those of route flags, so that a mask of flags given as roles does not compile (ROUTE()). */
enum {
    ROLE_ANYONE = 1 << 16,  /* needs no identity at all: health checks, documents, sign-in */
    ROLE_USER = 1 << 17,    /* every caller that was identified */
    ROLE_CLIENT = 1 << 18,  /* … by way of a client that has an id */
    ROLE_ADMIN = 1 << 19,   /* granted by a token or by the setting `admins` */
    ROLE_AUDITOR = 1 << 20, /* the same by `auditors` */
    ROLE_INDEXER = 1 << 21, /* the same by `indexers` */
    ROLE_ALL = ROLE_ANYONE | ROLE_USER | ROLE_CLIENT | ROLE_ADMIN | ROLE_AUDITOR | ROLE_INDEXER
};

/* Whether an identified caller has one of the roles. */
bool identity_has_role(const request_caller *caller, unsigned roles);

/* ------------------------------------------------------------------ rules */

typedef struct auth auth;

/* The owner of a credential; texts live in the arena of the request. */
typedef struct identity {
    const char *user;
    const char *client; /* may be NULL */
    const char *roles;  /* separated by commas; "" when none */
} identity;

/* Where a request of local mode may name its user. */
typedef enum {
    USER_FROM_NOTHING, /* ends a list */
    USER_FROM_BEARER,  /* Authorization: Bearer NAME */
    USER_FROM_QUERY,   /* ?user_id=NAME */
    USER_FROM_HEADER,  /* X-User-Id: NAME */
    USER_FROM_SETTING  /* the setting default-user */
} user_source;

typedef struct identity_rule {
    /* Local mode: the first source that names a user wins. */
    user_source local_order[5];
    /* A query parameter that may carry the bearer token where no Authorization header can be sent;
     * NULL: none. */
    const char *token_parameter;
    /* A header for the token of a share link, beside X-Ramet-Share; NULL: none. */
    const char *share_header;
    /* A header by which an agent names itself and acts on its own, or for a user; NULL: none. */
    const char *agent_header;
    /* A malformed request is reported as such before its caller is refused: the query before the
     * identity, the body before the roles. */
    bool malformed_first;
    /* Local mode: fills what else the request claims (`claimed` is empty): its client, or a user
     * that goes before local_order. False: the answer is filled. NULL: nothing. */
    bool (*claim)(const auth *a, request *q, identity *claimed);
    /* Modes `tokens` and `oidc`: may let `verified` act for another user. False: the answer is
     * filled. NULL: a user named by the request must be the credential's. */
    bool (*act)(const auth *a, request *q, identity *verified);
    /* Local mode: what a caller that names no user is told (401). NULL: the default text. */
    const char *(*stranger)(request *q);
    /* Refuses a caller that has none of the roles of the route. NULL: 403 `forbidden`. */
    void (*refuse_role)(request *q, unsigned roles);
} identity_rule;

/* ------------------------------------------------------------------ for the functions of rules */

/* The value of X-API-Key; NULL when there is none. */
const char *identity_api_key(request *q);
/* 1 to 255 bytes of UTF-8 without control characters. */
bool identity_id_valid(const char *s);
/* Whether the setting trusted-clients names it: such a client may name any user. */
bool identity_client_trusted(const auth *a, const char *client);
/* Answers 400: the id in that field is not valid. Always false. */
bool identity_refuse_id(request *q, const char *field);

#endif
