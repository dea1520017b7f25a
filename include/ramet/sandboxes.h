/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/sandboxes.h: sandboxes, which group the trees of a user.
 */
#ifndef RAMET_SANDBOXES_H
#define RAMET_SANDBOXES_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tree is in one sandbox, or in none, which "default" stands for; every user has that one. Only
 * its owner can use a sandbox: for other users, even members of its trees, it does not exist. A
 * user's default sandbox has the sessions that the user may see in trees without a sandbox. */

#define RAMET_SANDBOX_DEFAULT "default"
/* The agent of a sandbox with an OpenCode server in it is named this and the sandbox's id. */
#define RAMET_SANDBOX_AGENT "opencode-"

typedef struct ramet_sandbox {
    const char *id;
    const char *owner;
    int64_t created;           /* 0: the default one */
    const char *opencode;      /* URL of the OpenCode server in it; NULL: none */
    const char *password_file; /* only for the embedding program; NULL: none */
} ramet_sandbox;

typedef struct ramet_sandbox_in {
    const char *id;
    /* An OpenCode server in it (docs/agentpod.md); a server of Ramet that uses the store reads in
     * its sessions and follows it. The file with its password is read by that server. May be NULL.
     * A link is not part of exports and copies: it is about this installation. */
    const char *opencode, *password_file;
} ramet_sandbox_in;
/* Ids are unique in the store (RAMET_SANDBOX_EXISTS). `out` may be NULL. One commit. */
RAMET_API ramet_status ramet_sandbox_add(ramet_call *c, const ramet_sandbox_in *in,
                                         ramet_sandbox **out);
/* The caller's sandboxes by name, after the default one; for the embedding program: all. */
RAMET_API ramet_status ramet_sandboxes(ramet_call *c, ramet_sandbox **out, size_t *n);
/* Its sessions stay, without a sandbox; *trees gets the number of their trees. One commit. */
RAMET_API ramet_status ramet_sandbox_remove(ramet_call *c, const char *id, int64_t *trees);
/* Checks that the caller may use it (else RAMET_SANDBOX_NOT_FOUND), and that it has a session which
 * the caller may see (else RAMET_SESSION_NOT_FOUND, RAMET_HIDDEN); session NULL is not checked. */
RAMET_API ramet_status ramet_sandbox_check(ramet_call *c, const char *id, const char *session);
/* The sandbox of a session. */
RAMET_API ramet_status ramet_sandbox_of(ramet_call *c, const char *session, const char **id);
/* Sessions of the sandbox that the caller may see, newest first. Of each: id, owner, visibility,
 * tags, where it was forked from and by which user, from_title, merged_into, metadata, created,
 * depth; the rest is empty. One query. O(sessions of its trees). */
RAMET_API ramet_status ramet_sandbox_sessions(ramet_call *c, const char *id, ramet_session **out,
                                              size_t *n);
typedef struct ramet_sandbox_counts {
    int64_t sessions, roots, forks;
    int64_t by_type[3]; /* forks, by ramet_fork_type */
    int64_t max_depth;
    ramet_tag_count *tags; /* the most used first, then by name */
    size_t n_tags;
} ramet_sandbox_counts;
/* Statistics over the same sessions. */
RAMET_API ramet_status ramet_sandbox_count(ramet_call *c, const char *id,
                                           ramet_sandbox_counts *out);

#ifdef __cplusplus
}
#endif
#endif
