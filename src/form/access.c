/* SPDX-License-Identifier: Apache-2.0
 *
 * access.c: JSON shapes of tags, members, shares, sandboxes, attachments, API keys and the caller.
 */
#include "form/rows.h"

/* clang-format off */

#define S ramet_tags
const form_schema form_tags = STRUCT("Tags", "", R("tags", ARRAY, "sorted", TEXTS(items, n)));
#undef S

#define S ramet_tag_count
const form_schema form_tag_count = STRUCT("TagCount", "", R("tag", TEXT, "", AT(TEXT, tag)), R("sessions", INT, "number of sessions that have it", AT(INT64, sessions)));
#undef S
const form_schema form_tag_list = LIST("TagList", "tags", form_tag_count, "By name.");

#define S ramet_member
const form_schema form_member = STRUCT("Member", "", R("user", TEXT, "", AT(TEXT, user)), R("level", ENUM, "", WORD(LEVELS, level)));
#undef S
const form_schema form_member_list = LIST("MemberList", "members", form_member, "Members belong to the tree.");

#define S ramet_attachment
const form_schema form_attachment = STRUCT("Attachment", "",
    R("id", TEXT, "", AT(TEXT, id)),
    R("name", TEXT, "", AT(STRING, name)),
    R("media_type", TEXT, "", AT(STRING, media_type)),
    R("size", INT, "bytes", AT(INT64, size)),
    R("sha256", TEXT, "hex", CHARS(sha256)),
    R("owner", TEXT, "the user who uploaded it", NUL, AT(TEXT, owner)),
    CREATED_AT(created),
    R("expires_at", TIME, "when it expires, unless an entry refers to it", NUL, AT(TIME, expires)));
#undef S

/* ------------------------------------------------------- shares and sandboxes */

#define S ramet_share
const form_schema form_share = STRUCT("Share", "A share link.",
    R("id", TEXT, "", AT(TEXT, id)),
    R("session_id", TEXT, "", AT(TEXT, session)),
    R("write", BOOL, "the holder may write", AT(BOOL, write)),
    R("created_by", TEXT, "its creator", NUL, AT(TEXT, by)),
    CREATED_AT(created),
    R("expires_at", TIME, "null: never", NUL, AT(TIME, expires)),
    F("token", TEXT, "only in the answer that created it", AT(TEXT, token), OMIT));
#undef S
const form_schema form_share_list = LIST("ShareList", "shares", form_share, "Without their tokens.");

#define S native_shared_session
const form_schema form_shared_session = STRUCT("SharedSession", "",
    R("share", OBJECT, "", POINTER(form_share, share)), R("session", OBJECT, "", POINTER(form_session, session)));
#undef S

#define S ramet_sandbox
const form_schema form_sandbox = STRUCT("Sandbox", "A set of trees that belong together, visible to its owner only.",
    R("id", TEXT, "`default`: the trees in no other sandbox", AT(TEXT, id)),
    R("owner", TEXT, "", AT(TEXT, owner)),
    R("created_at", TIME, "null for `default`", NUL, AT(TIME, created)),
    F("opencode", TEXT, "URL of the OpenCode server in it", AT(TEXT, opencode), OMIT));
#undef S
const form_schema form_sandbox_list = LIST("SandboxList", "sandboxes", form_sandbox, "The caller's, `default` first.");

#define S native_removed
const form_schema form_sandbox_removed = STRUCT("SandboxRemoved", "",
    R("id", TEXT, "", AT(TEXT, id)), R("trees", INT, "number of trees that were in it", AT(INT64, trees)));
#undef S

/* ---------------------------------------------------- the caller and API keys */

#define S native_me
const form_schema form_me = STRUCT("Me", "",
    R("user", TEXT, "", AT(TEXT, user)),
    R("client", TEXT, "", NUL, AT(TEXT, client)),
    R("roles", ARRAY, "", AT(COMMAS, roles)),
    R("auth", ENUM, "how the server identifies callers", .values = "local|tokens|oidc", AT(TEXT, auth)),
    R("admin", BOOL, "", AT(BOOL, admin)),
    R("auditor", BOOL, "", AT(BOOL, auditor)),
    R("indexer", BOOL, "", AT(BOOL, indexer)));
#undef S

#define S ramet_token
const form_schema form_token = STRUCT("Token", "An API key.",
    R("id", TEXT, "", AT(TEXT, id)),
    R("user", TEXT, "", AT(TEXT, user)),
    R("client", TEXT, "", NUL, AT(TEXT, client)),
    R("roles", ARRAY, "", AT(COMMAS, roles)),
    R("note", TEXT, "", AT(STRING, note)),
    CREATED_AT(created),
    R("expires_at", TIME, "null: never", NUL, AT(TIME, expires)),
    R("used_at", TIME, "null: never", NUL, AT(TIME, used)),
    R("revoked", BOOL, "", AT(BOOL, revoked)),
    F("secret", TEXT, "only in the answer that created it", AT(TEXT, secret), OMIT));
#undef S
const form_schema form_token_list = LIST("TokenList", "tokens", form_token, "Without their secrets.");
