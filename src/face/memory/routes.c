/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of the memory-service face, in one table. It drives dispatch, the checks of
 * query and body, /openapi.json, /docs and docs/api/memory.md.
 */
#include "face/memory/memory.h"

#include "face/kit/rows.h"

/* One line per row. */
/* clang-format off */

#define C1 "/v1/conversations/{conversationId}"

#define READ    ROUTE_LOOSE
#define WRITE   (ROUTE_LOOSE | ROUTE_WRITE | ROUTE_KEYLESS)
#define E_SEE   "SESSION_NOT_FOUND FORBIDDEN"
#define LIMIT   F("limit", INT, "maximum number of items", .min = 1, .max = 1000)
#define BODY    (20u << 20)

static const form_schema *const memory_schemas[] = {
SHAPE("Conversation", "A conversation.", R("id", TEXT, ""), R("title", TEXT, "empty if there is none"), R("ownerUserId", TEXT, ""),
    F("agentId", TEXT, ""), R("metadata", OBJECT, ""), F("forkedAtEntryId", UUID, "first entry of the parent that is not inherited"),
    F("forkedAtConversationId", TEXT, "its parent"), F("startedByConversationId", TEXT, ""), F("startedByEntryId", UUID, ""),
    R("createdAt", TIME, ""), R("updatedAt", TIME, ""), R("archived", BOOL, ""), R("accessLevel", TEXT, "the caller's"),
    F("hasResponseInProgress", BOOL, "an answer is in progress")),
SHAPE("ConversationList", "A page of conversations.", R("data", ARRAY, "", .schema = "Conversation"), R("afterCursor", TEXT, "null at the end", .nullable = true)),
SHAPE("MemoryEntry", "An entry.", R("id", UUID, ""), R("conversationId", TEXT, "the conversation that appended it"), F("userId", TEXT, ""),
    F("clientId", TEXT, ""), F("agentId", TEXT, ""), R("channel", TEXT, "`history`, `context` or `journal`"), F("epoch", INT, ""), F("seq", INT, ""),
    R("contentType", TEXT, ""), R("content", ANY, "the array as received"), F("indexedContent", TEXT, ""), F("indexedAt", TIME, ""), R("createdAt", TIME, "")),
SHAPE("MemoryEntryList", "A page of entries.", R("data", ARRAY, "", .schema = "MemoryEntry"), R("afterCursor", TEXT, "", .nullable = true),
    R("beforeCursor", TEXT, "", .nullable = true)),
SHAPE("ForkNavigation", "Where forks leave a conversation.", R("conversationIds", ARRAY, "all of the tree"), R("forkPoints", ARRAY, "", .schema = "MemoryForkPoint")),
SHAPE("MemoryForkPoint", "Alternatives at an entry.", R("entryId", UUID, ""), R("options", ARRAY, "", .schema = "MemoryForkOption")),
SHAPE("MemoryForkOption", "One alternative.", R("conversationId", TEXT, ""), F("entryId", UUID, ""), R("title", TEXT, ""), F("preview", TEXT, ""), R("createdAt", TIME, "")),
SHAPE("SyncResult", "What a sync did.", R("epoch", INT, "", .nullable = true), R("noOp", BOOL, ""), R("epochIncremented", BOOL, ""),
    F("entry", OBJECT, "", .schema = "MemoryEntry")),
SHAPE("Membership", "A member.", R("conversationId", TEXT, ""), R("userId", TEXT, ""), R("accessLevel", TEXT, ""), R("createdAt", TIME, "")),
SHAPE("OwnershipTransfer", "A pending transfer of a conversation.", R("id", UUID, ""), R("conversationId", TEXT, ""), R("fromUserId", TEXT, ""),
    R("toUserId", TEXT, ""), R("createdAt", TIME, "")),
SHAPE("AttachmentUpload", "An attachment.", R("id", UUID, ""), R("href", TEXT, ""), R("contentType", TEXT, ""), R("filename", TEXT, "", .nullable = true),
    R("size", INT, "", .nullable = true), R("sha256", TEXT, "", .nullable = true), R("expiresAt", TIME, ""), R("status", TEXT, "`ready`, `downloading`"),
    F("sourceUrl", TEXT, "")),
SHAPE("AdminAttachment", "An attachment, for administrators.", R("id", UUID, ""), R("storageKey", TEXT, "the key of its content"), R("filename", TEXT, ""),
    R("contentType", TEXT, ""), R("size", INT, ""), R("sha256", TEXT, ""), R("userId", TEXT, "the user who uploaded it", .nullable = true),
    R("entryId", UUID, "the first entry that refers to it", .nullable = true), R("expiresAt", TIME, "when it expires, unless an entry refers to it", .nullable = true),
    R("createdAt", TIME, ""), R("status", TEXT, "`ready`"), R("archived", BOOL, "always false"), R("refCount", INT, "number of attachments with the same content")),
SHAPE("MemoryError", "An error.", R("code", TEXT, "stable"), R("error", TEXT, ""), R("requestId", TEXT, ""), F("details", OBJECT, "")),
NULL,
};

#define ENTRY_FIELDS                                                                                                                      \
    F("content", ANY, "an array of at most 1,000 items"), F("contentType", TEXT, "required; `history` for messages"),                      \
    F("channel", TEXT, "`history` (default), `context` or `journal`"), F("userId", TEXT, "must be the caller"),                          \
    F("agentId", TEXT, "needs a client"), F("indexedContent", TEXT, "the text under which a history entry is indexed"),                                 \
    F("seq", INT, "unique in the conversation", .min = 0, .max = 4294967295), F("epoch", INT, "of a context entry", .min = 0, .max = INT64_MAX), \
    F("forkedAtConversationId", TEXT, "if the conversation does not exist yet: create it as a fork of this one"),                          \
    F("forkedAtEntryId", UUID, "the first entry not to inherit; default: inherit nothing"),                                               \
    F("startedByConversationId", TEXT, "if it does not exist yet: the conversation that started it"), F("startedByEntryId", UUID, ""),         \
    F("entries", ANY, "a list of these instead")

#define ENTRIES_QUERY \
    F("afterCursor", UUID, "entries after this one"), F("beforeCursor", UUID, "entries before this one"), F("tail", BOOL, "the last entries"), \
    F("upToEntryId", UUID, "the history up to this entry"), LIMIT, F("channel", TEXT, "default: all that the caller may see, `history` without a client"), F("epoch", TEXT, "of the channel context: `latest` (default), `all` or a number"), \
    F("fromSeq", INT, "order by sequence number, beginning with this one", .min = 0, .max = 4294967295), F("forks", TEXT, "`all`: entries of the whole tree"), \
    F("view", TEXT, "`context`: what [overlays](../data-model.md#overlays) leave for a model; `record`: what was written; default: `context` for the channel context")

#define EVENTS_QUERY \
    F("after", TEXT, "a cursor; `start`: from the oldest event kept"), F("kinds", ARRAY, "`conversation`, `entry`, `membership`"), \
    F("detail", ENUM, "`full`: with the content of entries", .values = "summary|full"), F("entry_channels", ARRAY, "default `history`"), \
    F("entry_content_types", ARRAY, "only these content types"), F("entry_roles", ARRAY, "`USER`, `AI`, `SYSTEM`")

static const face_route routes[] = {
/* ------------------------------------------------------------------ the server */
ROUTE("GET", "/v1/health", ROLE_ANYONE, .name = "memoryHealth", .group = "Server", .flags = ROUTE_QUICK | ROUTE_LOOSE,
 .summary = "Check that the server responds", .success = 200, .run = memory_health),
ROUTE("GET", "/v1/capabilities", ROLE_CLIENT | ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryCapabilities", .group = "Server", .flags = READ,
 .summary = "Get the server's capabilities; for clients and administrators", .success = 200, .run = memory_capabilities, .statuses = "FORBIDDEN"),
ROUTE("GET", "/v1/events", ROLE_USER, .name = "memoryEvents", .group = "Server", .flags = READ | ROUTE_STREAM,
 .summary = "Stream live events", .success = 200, .run = memory_events,
 .about = "Frames `data: {\"event\", \"kind\", \"data\", \"cursor\"}`; `after` replays the events after a cursor.",
 .query = FIELDS(EVENTS_QUERY)),

/* ------------------------------------------------------------------ conversations */
ROUTE("GET", "/v1/conversations", ROLE_USER, .name = "memoryListConversations", .group = "Conversations", .flags = READ,
 .summary = "List the conversations that the caller may see, newest first", .success = 200, .answer = "ConversationList", .run = memory_talks_list,
 .query = FIELDS(F("mode", TEXT, "`latest-fork` (default), `roots` or `all`"), F("ancestry", TEXT, "`roots` (default), `children` or `all`: whether started by other conversations"),
                 F("afterCursor", TEXT, "a conversation"), LIMIT, F("query", TEXT, "part of the title"),
                 F("archived", ENUM, "default `exclude`", .values = "exclude|include|only")), .example = "mode=all&limit=20"),
ROUTE("POST", "/v1/conversations", ROLE_USER, .name = "memoryCreateConversation", .group = "Conversations", .flags = WRITE,
 .summary = "Create a conversation", .success = 201, .answer = "Conversation", .run = memory_talk_post,
 .about = "The answer to a fork is 200. A reader gets a private fork.",
 .body = FIELDS(F("id", TEXT, "default: generated"), F("title", TEXT, "at most 500 bytes"), F("agentId", TEXT, ""), F("metadata", OBJECT, ""),
                F("forkedAtConversationId", TEXT, ""), F("forkedAtEntryId", UUID, "")),
 .statuses = "SESSION_EXISTS " E_SEE, .example = "{\"title\": \"A trip\"}"),
ROUTE("POST", "/v1/conversations/search", ROLE_USER, .name = "memorySearch", .group = "Search", .flags = READ,
 .summary = "Search the full text of history entries", .success = 200, .run = memory_search,
 .body = FIELDS(F("query", ANY, "1 to 1,000 characters"), F("searchType", ANY, "`auto`, `fulltext`; `semantic` is 501"), F("afterCursor", TEXT, "from the previous answer"),
                F("limit", ANY, "default 20"), F("includeEntry", ANY, "default true"), F("groupByConversation", ANY, "default true")), .example = "{\"query\": \"lisbon\"}"),
ROUTE("POST", "/v1/conversations/index", ROLE_INDEXER | ROLE_ADMIN, .name = "memoryIndex", .group = "Search", .flags = WRITE, .body_max = BODY,
 .summary = "Set the texts under which entries are indexed; for indexers", .success = 200, .run = memory_index,
 .about = "The body is a list of `{conversationId, entryId, indexedContent}`, or `{\"entries\": […]}`.", .statuses = "FORBIDDEN ENTRY_NOT_FOUND"),
ROUTE("GET", "/v1/conversations/unindexed", ROLE_INDEXER | ROLE_ADMIN, .name = "memoryUnindexed", .group = "Search", .flags = READ,
 .summary = "List history entries without such a text; for indexers", .success = 200, .run = memory_unindexed,
 .query = FIELDS(LIMIT, F("afterCursor", TEXT, "from the previous answer")), .statuses = "FORBIDDEN"),
ROUTE("GET", C1, ROLE_USER, .name = "memoryGetConversation", .group = "Conversations", .flags = READ,
 .summary = "Get a conversation", .success = 200, .answer = "Conversation", .run = memory_talk_get, .statuses = E_SEE),
ROUTE("PATCH", C1, ROLE_USER, .name = "memoryUpdateConversation", .group = "Conversations", .flags = WRITE,
 .summary = "Change title or metadata, archive or unarchive", .success = 200, .answer = "Conversation", .run = memory_talk_patch,
 .about = "`archived` is for the owner. It applies to every fork and everything started from them, and takes precedence over the other two.",
 .body = FIELDS(F("title", TEXT, "null clears it", .nullable = true), F("metadata", OBJECT, ""), F("archived", BOOL, "")), .statuses = E_SEE,
 .example = "{\"title\": \"Lisbon\"}"),
ROUTE("GET", C1 "/children", ROLE_USER, .name = "memoryListChildren", .group = "Conversations", .flags = READ,
 .summary = "List the conversations that this one has started, oldest first", .success = 200, .run = memory_children_list,
 .query = FIELDS(F("afterCursor", TEXT, "a conversation"), LIMIT), .statuses = E_SEE),
ROUTE("GET", C1 "/forks", ROLE_USER, .name = "memoryListForks", .group = "Conversations", .flags = READ,
 .summary = "List the fork points and forks of a conversation", .success = 200, .answer = "ForkNavigation", .run = memory_forks_get, .statuses = E_SEE),

/* ------------------------------------------------------------------ entries */
ROUTE("GET", C1 "/entries", ROLE_USER, .name = "memoryListEntries", .group = "Entries", .flags = READ,
 .summary = "Read a page of entries, oldest first", .success = 200, .answer = "MemoryEntryList", .run = memory_entries_list,
 .query = FIELDS(ENTRIES_QUERY),
 .statuses = E_SEE " ENTRY_NOT_FOUND", .example = "tail=true&limit=50"),
ROUTE("POST", C1 "/entries", ROLE_USER, .name = "memoryAppendEntry", .group = "Entries", .flags = WRITE, .body_max = BODY,
 .summary = "Append an entry; creates the conversation, or the fork, if it does not exist", .success = 201, .answer = "MemoryEntry", .run = memory_entry_post,
 .about = "Conversation, entry and references to attachments are written in one commit.", .body = FIELDS(ENTRY_FIELDS),
 .statuses = E_SEE " ENTRY_NOT_FOUND ATTACHMENT_NOT_FOUND KEY_TAKEN ENTRY_TOO_LARGE",
 .example = "{\"contentType\": \"history\", \"channel\": \"history\", \"content\": [{\"role\": \"USER\", \"text\": \"Hello\"}]}"),
ROUTE("POST", C1 "/entries/sync", ROLE_USER, .name = "memorySync", .group = "Entries", .flags = WRITE, .body_max = BODY,
 .summary = "Make the stored context of a client equal to the one it sends", .success = 200, .answer = "SyncResult", .run = memory_sync_post,
 .body = FIELDS(ENTRY_FIELDS), .statuses = E_SEE),
ROUTE("POST", C1 "/chat", ROLE_USER, .name = "memoryChat", .group = "Entries", .flags = WRITE | ROUTE_STREAM | ROUTE_ALWAYS_STREAMS, .body_max = BODY,
 .summary = "Send a message and stream the answer", .success = 200, .run = memory_chat_post,
 .about = "Creates the fork if requested, appends the message, runs the agent, streams its answer (as the turn events of the native API) and appends it.",
 .body = FIELDS(R("message", TEXT, ""), F("attachments", ANY, "ids, or objects as in `content`"), F("agent", TEXT, "default: the conversation's agent, or the server's default"),
                F("forkedAtConversationId", TEXT, ""), F("forkedAtEntryId", UUID, "")), .statuses = E_SEE,
 .example = "{\"message\": \"Hello\"}"),
ROUTE("DELETE", C1 "/response", ROLE_USER, .name = "memoryCancel", .group = "Entries", .flags = WRITE,
 .summary = "Cancel the answer in progress", .success = 200, .run = memory_cancel, .statuses = E_SEE),

/* ------------------------------------------------------------------ members */
ROUTE("GET", C1 "/memberships", ROLE_USER, .name = "memoryListMembers", .group = "Members", .flags = READ,
 .summary = "List the members of a conversation and its forks, oldest first", .success = 200, .run = memory_members_list,
 .query = FIELDS(F("afterCursor", TEXT, "a user"), LIMIT), .statuses = E_SEE),
ROUTE("POST", C1 "/memberships", ROLE_USER, .name = "memoryShare", .group = "Members", .flags = WRITE,
 .summary = "Add a member", .success = 201, .answer = "Membership", .run = memory_member_post,
 .body = FIELDS(F("userId", TEXT, "required"), F("accessLevel", TEXT, "`manager`, `writer` or `reader`")), .statuses = E_SEE " MEMBER_EXISTS",
 .example = "{\"userId\": \"bob\", \"accessLevel\": \"writer\"}"),
ROUTE("PATCH", C1 "/memberships/{userId}", ROLE_USER, .name = "memoryUpdateMember", .group = "Members", .flags = WRITE,
 .summary = "Change a member's access level", .success = 200, .answer = "Membership", .run = memory_member_patch,
 .body = FIELDS(F("accessLevel", TEXT, "required")), .statuses = E_SEE " MEMBER_NOT_FOUND"),
ROUTE("DELETE", C1 "/memberships/{userId}", ROLE_USER, .name = "memoryRemoveMember", .group = "Members", .flags = WRITE,
 .summary = "Remove a member", .success = 204, .run = memory_member_delete, .statuses = E_SEE " MEMBER_NOT_FOUND"),
ROUTE("GET", "/v1/ownership-transfers", ROLE_USER, .name = "memoryListTransfers", .group = "Members", .flags = READ,
 .summary = "List transfers from or to the caller, oldest first", .success = 200, .run = memory_transfers_list,
 .query = FIELDS(F("role", ENUM, "default `all`", .values = "sender|recipient|all"), F("afterCursor", UUID, "a transfer"), LIMIT)),
ROUTE("POST", "/v1/ownership-transfers", ROLE_USER, .name = "memoryTransfer", .group = "Members", .flags = WRITE,
 .summary = "Offer a conversation to a member", .success = 201, .answer = "OwnershipTransfer", .run = memory_transfer_post,
 .body = FIELDS(F("conversationId", TEXT, "required"), F("newOwnerUserId", TEXT, "required")), .statuses = E_SEE " TRANSFER_PENDING"),
ROUTE("GET", "/v1/ownership-transfers/{transferId}", ROLE_USER, .name = "memoryGetTransfer", .group = "Members", .flags = READ,
 .summary = "Get a transfer", .success = 200, .answer = "OwnershipTransfer", .run = memory_transfer_get, .statuses = "TRANSFER_NOT_FOUND"),
ROUTE("DELETE", "/v1/ownership-transfers/{transferId}", ROLE_USER, .name = "memoryDropTransfer", .group = "Members", .flags = WRITE,
 .summary = "Withdraw or decline a transfer", .success = 204, .run = memory_transfer_delete, .statuses = "TRANSFER_NOT_FOUND FORBIDDEN"),
ROUTE("POST", "/v1/ownership-transfers/{transferId}/accept", ROLE_USER, .name = "memoryAcceptTransfer", .group = "Members", .flags = WRITE,
 .summary = "Accept a transfer", .success = 204, .run = memory_transfer_accept, .statuses = "TRANSFER_NOT_FOUND FORBIDDEN"),

/* ------------------------------------------------------------------ attachments */
ROUTE("POST", "/v1/attachments", ROLE_USER, .name = "memoryUpload", .group = "Attachments", .flags = WRITE | ROUTE_UPLOAD,
 .summary = "Upload a file, or have the server fetch one", .success = 201, .answer = "AttachmentUpload", .run = memory_file_post, .sink = memory_file_sink,
 .about = "A form with the part `file`, or JSON: `{\"sourceUrl\", \"contentType\"?, \"name\"?}`.",
 .query = FIELDS(F("expiresIn", TEXT, "how long it is kept while no entry refers to it; default `PT1H`")), .statuses = "TOO_LARGE"),
ROUTE("GET", "/v1/attachments/{attachmentId}", ROLE_USER, .name = "memoryDownload", .group = "Attachments", .flags = READ,
 .summary = "Download an attachment; supports ranges", .success = 200, .run = memory_file_get,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("DELETE", "/v1/attachments/{attachmentId}", ROLE_USER, .name = "memoryDeleteAttachment", .group = "Attachments", .flags = WRITE,
 .summary = "Delete an attachment that no entry refers to", .success = 204, .run = memory_file_delete, .statuses = "ATTACHMENT_NOT_FOUND ATTACHMENT_IN_USE FORBIDDEN"),
ROUTE("GET", "/v1/attachments/{attachmentId}/download-url", ROLE_USER, .name = "memoryDownloadUrl", .group = "Attachments", .flags = READ,
 .summary = "Get a download link, valid for five minutes", .success = 200, .run = memory_file_url,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/attachments/download/{token}/{filename}", ROLE_ANYONE, .name = "memoryDownloadSigned", .group = "Attachments", .flags = ROUTE_LOOSE,
 .summary = "Download an attachment through such a link", .success = 200, .run = memory_file_signed,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),

/* ------------------------------------------------------------------ administrators */
ROUTE("GET", "/v1/admin/conversations/{conversationId}", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminGet", .group = "Administrators", .flags = READ,
 .summary = "Get a conversation, with its client; for administrators and auditors", .success = 200, .answer = "Conversation", .run = memory_admin_talk, .statuses = E_SEE),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/forks", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminForks", .group = "Administrators", .flags = READ,
 .summary = "List the forks of a conversation, including journals of all clients", .success = 200, .answer = "ForkNavigation", .run = memory_admin_forks, .statuses = E_SEE),
ROUTE("GET", "/v1/admin/conversations", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListConversations", .group = "Administrators", .flags = READ,
 .summary = "List the conversations of all users, newest first", .success = 200, .answer = "ConversationList", .run = memory_admin_talks,
 .query = FIELDS(F("mode", TEXT, "`latest-fork` (default), `roots` or `all`"), F("ancestry", TEXT, "`roots` (default), `children` or `all`"),
                 F("userId", TEXT, "only conversations owned by this user"), F("ownerUserId", TEXT, "the same, under its gRPC name"), F("afterCursor", TEXT, "a conversation"), LIMIT, F("query", TEXT, "part of the title"),
                 F("archived", ENUM, "default `exclude`, with one of the times `only`", .values = "exclude|include|only"),
                 F("archivedAfter", TIME, "only those archived then or later, in whole seconds"), F("archivedBefore", TIME, "only those archived before")), .statuses = "FORBIDDEN"),
ROUTE("PATCH", "/v1/admin/conversations/{conversationId}", ROLE_ADMIN, .name = "memoryAdminUpdateConversation", .group = "Administrators", .flags = WRITE,
 .summary = "Archive or unarchive a tree; not for auditors", .success = 200, .answer = "Conversation", .run = memory_admin_talk_patch,
 .body = FIELDS(F("archived", BOOL, "")), .statuses = E_SEE, .example = "{\"archived\": true}"),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/entries", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListEntries", .group = "Administrators", .flags = READ,
 .summary = "Read a page of entries, including channels of all clients", .success = 200, .answer = "MemoryEntryList", .run = memory_admin_entries,
 .query = FIELDS(ENTRIES_QUERY), .statuses = E_SEE " ENTRY_NOT_FOUND"),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/memberships", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListMembers", .group = "Administrators", .flags = READ,
 .summary = "List the members of a conversation, oldest first", .success = 200, .run = memory_admin_members, .query = FIELDS(F("afterCursor", TEXT, "a user"), LIMIT), .statuses = E_SEE),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/children", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListChildren", .group = "Administrators", .flags = READ,
 .summary = "List the conversations that a conversation has started, oldest first", .success = 200, .run = memory_admin_children,
 .query = FIELDS(F("afterCursor", TEXT, "a conversation"), LIMIT), .statuses = E_SEE),
ROUTE("POST", "/v1/admin/conversations/search", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminSearch", .group = "Administrators", .flags = READ,
 .summary = "Search the full text of all users' history entries; for administrators and auditors", .success = 200, .run = memory_admin_search,
 .query = FIELDS(F("justification", TEXT, "ignored")),
 .body = FIELDS(F("query", ANY, "1 to 1,000 characters"), F("afterCursor", TEXT, "from the previous answer"), F("limit", ANY, "default 20"),
                F("userId", TEXT, "only in conversations owned by this user"), F("includeArchived", ANY, "default false"), F("includeEntry", ANY, "default true")),
 .statuses = "FORBIDDEN", .example = "{\"query\": \"lisbon\", \"userId\": \"bob\"}"),
ROUTE("GET", "/v1/admin/attachments", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListAttachments", .group = "Administrators", .flags = READ,
 .summary = "List the attachments of all users, oldest first; for administrators and auditors", .success = 200, .run = memory_admin_files,
 .query = FIELDS(F("userId", TEXT, "only those uploaded by this user"), F("entryId", UUID, "only those that this entry refers to"),
                 F("status", ENUM, "default `all`", .values = "linked|unlinked|expired|all"), F("afterCursor", UUID, "an attachment"), LIMIT,
                 F("justification", TEXT, "ignored")), .statuses = "FORBIDDEN ENTRY_NOT_FOUND", .example = "status=linked&limit=50"),
ROUTE("GET", "/v1/admin/attachments/{attachmentId}", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminGetAttachment", .group = "Administrators", .flags = READ,
 .summary = "Get an attachment's properties", .success = 200, .answer = "AdminAttachment", .run = memory_admin_file,
 .query = FIELDS(F("justification", TEXT, "ignored")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("DELETE", "/v1/admin/attachments/{attachmentId}", ROLE_ADMIN, .name = "memoryAdminDeleteAttachment", .group = "Administrators", .flags = WRITE,
 .summary = "Delete any user's attachment that no entry refers to; not for auditors", .success = 204, .run = memory_admin_file_delete,
 .body = FIELDS(F("justification", TEXT, "ignored")), .statuses = "ATTACHMENT_NOT_FOUND ATTACHMENT_IN_USE FORBIDDEN"),
ROUTE("GET", "/v1/admin/attachments/{attachmentId}/content", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminDownload", .group = "Administrators", .flags = READ,
 .summary = "Download an attachment; supports ranges", .success = 200, .run = memory_admin_file_get,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`"), F("justification", TEXT, "ignored")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/admin/attachments/{attachmentId}/download-url", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminDownloadUrl", .group = "Administrators", .flags = READ,
 .summary = "Get a download link, valid for five minutes", .success = 200, .run = memory_admin_file_url,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`"), F("justification", TEXT, "ignored")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/admin/entries/{entryId}", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminGetEntry", .group = "Administrators", .flags = READ,
 .summary = "Get an entry by its id alone", .success = 200, .answer = "MemoryEntry", .run = memory_admin_entry, .statuses = "ENTRY_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/admin/events", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminEvents", .group = "Administrators", .flags = READ | ROUTE_STREAM,
 .summary = "Stream live events of all conversations, on request with channels of all clients", .success = 200, .run = memory_admin_events,
 .about = "Frames as in `/v1/events`.", .query = FIELDS(EVENTS_QUERY, F("justification", TEXT, "ignored")), .statuses = "FORBIDDEN"),
ROUTES_END,
};

static const face_param params[] = {
    {"conversationId", "a conversation id, percent-encoded", "trip"},
    {"userId", "a user", "bob"},
    {"entryId", "an entry", "0198c1d2-0000-7000-8000-000000000003"},
    {"transferId", "a transfer", "0198c1d2-0000-7000-8000-000000000001"},
    {"attachmentId", "an attachment", "0198c1d2-0000-7000-8000-000000000002"},
    {"token", "the token of a signed link", "TOKEN"},
    {"filename", "the name for the file", "map.png"},
    {NULL, NULL, NULL},
};

const face face_memory = {
    .name = "memory", .title = "memory-service", .prefix = "/v1", .identity = &memory_identity, .owns_prefix = true, .fail = memory_fail, .referrer = "strict-origin-when-cross-origin",
    .about = "For unmodified clients of memory-service. A conversation is a session; its forks are the tree. Errors are "
             "`{\"code\", \"error\", \"requestId\", \"details\"?}`. Unknown parameters and members are ignored.\n"
             "The user is identified by `Authorization: Bearer`. `X-API-Key` or `X-Client-ID` names the client, to which the channels `context` and `journal` belong.",
    .routes = routes, .schemas = memory_schemas, .params = params, .uuids = "transferId|attachmentId|entryId", .secrets = "token",
};
