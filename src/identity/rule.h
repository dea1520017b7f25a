/* SPDX-License-Identifier: Apache-2.0
 *
 * rule.h: how one protocol names its callers, and which roles a caller may have.
 *
 * Protocols differ in which header or parameter names the user, whether an agent may act for a
 * user, and which error an unknown caller gets. An identity_rule describes these differences; it
 * belongs to the protocol (src/face/NAME/identity.c). The mechanisms behind it (tokens, cookies, an
 * OpenID Connect issuer, local mode) are the same for all protocols and stay in src/identity.
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

/* Which callers may use a route: one of the roles in its mask is enough. The values lie above those
 * of route flags, so that a mask of flags passed as roles does not compile (ROUTE()). */
enum {
    ROLE_ANYONE = 1 << 16,  /* needs no identity at all: health checks, documents, sign-in */
    ROLE_USER = 1 << 17,    /* every identified caller */
    ROLE_CLIENT = 1 << 18,  /* … with a client id */
    ROLE_ADMIN = 1 << 19,   /* granted by a token or by the setting `admins` */
    ROLE_AUDITOR = 1 << 20, /* likewise, by `auditors` */
    ROLE_INDEXER = 1 << 21, /* likewise, by `indexers` */
    ROLE_LINK = 1 << 22,    /* also the holder of a share link that uses nothing but the link */
    ROLE_ALL =
        ROLE_ANYONE | ROLE_USER | ROLE_CLIENT | ROLE_ADMIN | ROLE_AUDITOR | ROLE_INDEXER | ROLE_LINK
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

/* Where a request in local mode may name its user. */
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
    /* Whether a request may use the rights of its share link alone (X-Ramet-Share-Only). */
    bool link_alone;
    /* A header by which an agent names itself and acts on its own, or for a user; NULL: none. */
    const char *agent_header;
    /* Report a malformed request as such before refusing its caller: check the query before the
     * identity, the body before the roles. */
    bool malformed_first;
    /* Local mode: fills in what else the request claims (`claimed` is empty): its client, or a user
     * that takes precedence over local_order. False: the answer is filled in. NULL: nothing. */
    bool (*claim)(const auth *a, request *q, identity *claimed);
    /* Modes `tokens` and `oidc`: may let `verified` act for another user. False: the answer is
     * filled in. NULL: a user named by the request must be the credential's. */
    bool (*act)(const auth *a, request *q, identity *verified);
    /* Local mode: the error text for a caller that names no user (401). NULL: the default text. */
    const char *(*stranger)(request *q);
    /* Refuses a caller that has none of the roles of the route. NULL: 403 `forbidden`. */
    void (*refuse_role)(request *q, unsigned roles);
} identity_rule;

/* ------------------------------------------------------------------ for the functions of rules */

/* The value of X-API-Key; NULL when there is none. */
const char *identity_api_key(request *q);
/* 1 to 255 bytes of UTF-8 without control characters. */
bool identity_id_valid(const char *s);
/* Whether the setting trusted-clients lists it: such a client may name any user. */
bool identity_client_trusted(const auth *a, const char *client);
/* Answers 400: the id in that field is not valid. Always false. */
bool identity_refuse_id(request *q, const char *field);

#endif
