/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of the memory-service face, once. Dispatch, the checks of query and
 * body, /openapi.json, /docs and docs/api/memory.md come from here.
 */
#include "face/memory/memory.h"

#include "face/kit/rows.h"

/* A table reads by its rows. */
/* clang-format off */

#define C1 "/v1/conversations/{conversationId}"

#define READ    ROUTE_LOOSE
#define WRITE   (ROUTE_LOOSE | ROUTE_WRITE | ROUTE_KEYLESS)
#define E_SEE   "SESSION_NOT_FOUND FORBIDDEN"
#define LIMIT   F("limit", INT, "how many at most", .min = 1, .max = 1000)
#define BODY    (20u << 20)

static const form_schema *const memory_schemas[] = {
SHAPE("Conversation", "A conversation.", R("id", TEXT, ""), R("title", TEXT, "empty when there is none"), R("ownerUserId", TEXT, ""),
    F("agentId", TEXT, ""), R("metadata", OBJECT, ""), F("forkedAtEntryId", UUID, "first entry of the parent that it does not inherit"),
    F("forkedAtConversationId", TEXT, "its parent"), F("startedByConversationId", TEXT, ""), F("startedByEntryId", UUID, ""),
    R("createdAt", TIME, ""), R("updatedAt", TIME, ""), R("archived", BOOL, ""), R("accessLevel", TEXT, "the caller's"),
    F("hasResponseInProgress", BOOL, "an answer is being made")),
SHAPE("ConversationList", "A page of conversations.", R("data", ARRAY, "", .schema = "Conversation"), R("afterCursor", TEXT, "null at the end", .nullable = true)),
SHAPE("MemoryEntry", "An entry.", R("id", UUID, ""), R("conversationId", TEXT, "the conversation that appended it"), F("userId", TEXT, ""),
    F("clientId", TEXT, ""), F("agentId", TEXT, ""), R("channel", TEXT, "`history`, `context` or `journal`"), F("epoch", INT, ""), F("seq", INT, ""),
    R("contentType", TEXT, ""), R("content", ANY, "the array as it came"), F("indexedContent", TEXT, ""), F("indexedAt", TIME, ""), R("createdAt", TIME, "")),
SHAPE("MemoryEntryList", "A page of entries.", R("data", ARRAY, "", .schema = "MemoryEntry"), R("afterCursor", TEXT, "", .nullable = true),
    R("beforeCursor", TEXT, "", .nullable = true)),
SHAPE("ForkNavigation", "Where forks leave a conversation.", R("conversationIds", ARRAY, "all of the tree"), R("forkPoints", ARRAY, "", .schema = "MemoryForkPoint")),
SHAPE("MemoryForkPoint", "Alternatives at an entry.", R("entryId", UUID, ""), R("options", ARRAY, "", .schema = "MemoryForkOption")),
SHAPE("MemoryForkOption", "One of them.", R("conversationId", TEXT, ""), F("entryId", UUID, ""), R("title", TEXT, ""), F("preview", TEXT, ""), R("createdAt", TIME, "")),
SHAPE("SyncResult", "What a sync did.", R("epoch", INT, "", .nullable = true), R("noOp", BOOL, ""), R("epochIncremented", BOOL, ""),
    F("entry", OBJECT, "", .schema = "MemoryEntry")),
SHAPE("Membership", "A member.", R("conversationId", TEXT, ""), R("userId", TEXT, ""), R("accessLevel", TEXT, ""), R("createdAt", TIME, "")),
SHAPE("OwnershipTransfer", "A conversation that is being handed over.", R("id", UUID, ""), R("conversationId", TEXT, ""), R("fromUserId", TEXT, ""),
    R("toUserId", TEXT, ""), R("createdAt", TIME, "")),
SHAPE("AttachmentUpload", "An attachment.", R("id", UUID, ""), R("href", TEXT, ""), R("contentType", TEXT, ""), R("filename", TEXT, "", .nullable = true),
    R("size", INT, "", .nullable = true), R("sha256", TEXT, "", .nullable = true), R("expiresAt", TIME, ""), R("status", TEXT, "`ready`, `downloading`"),
    F("sourceUrl", TEXT, "")),
SHAPE("AdminAttachment", "An attachment, for administrators.", R("id", UUID, ""), R("storageKey", TEXT, "that of its content"), R("filename", TEXT, ""),
    R("contentType", TEXT, ""), R("size", INT, ""), R("sha256", TEXT, ""), R("userId", TEXT, "who uploaded it", .nullable = true),
    R("entryId", UUID, "the first entry that refers to it", .nullable = true), R("expiresAt", TIME, "when it goes, unless an entry refers to it", .nullable = true),
    R("createdAt", TIME, ""), R("status", TEXT, "`ready`"), R("archived", BOOL, "never"), R("refCount", INT, "attachments with the same content")),
SHAPE("MemoryError", "An error.", R("code", TEXT, "stable"), R("error", TEXT, ""), R("requestId", TEXT, ""), F("details", OBJECT, "")),
NULL,
};

#define ENTRY_FIELDS                                                                                                                      \
    F("content", ANY, "an array of at most 1,000 items"), F("contentType", TEXT, "needed; `history` for messages"),                      \
    F("channel", TEXT, "`history` (default), `context` or `journal`"), F("userId", TEXT, "must be the caller"),                          \
    F("agentId", TEXT, "needs a client"), F("indexedContent", TEXT, "what a history entry is found by"),                                 \
    F("seq", INT, "unique in the conversation", .min = 0, .max = 4294967295), F("epoch", INT, "of a context entry", .min = 0, .max = INT64_MAX), \
    F("forkedAtConversationId", TEXT, "when the conversation is not there yet: it becomes a fork of this one"),                          \
    F("forkedAtEntryId", UUID, "the first entry that is not inherited; none: nothing is"),                                               \
    F("startedByConversationId", TEXT, "when it is not there yet: it was started by this one"), F("startedByEntryId", UUID, ""),         \
    F("entries", ANY, "several of these instead")

#define ENTRIES_QUERY \
    F("afterCursor", UUID, "those behind it"), F("beforeCursor", UUID, "those before it"), F("tail", BOOL, "the last ones"), \
    F("upToEntryId", UUID, "as it was then"), LIMIT, F("channel", TEXT, "all that the caller may see; `history` without a client"), F("epoch", TEXT, "of the channel context: `latest` (default), `all` or a number"), \
    F("fromSeq", INT, "by sequence number, from this on", .min = 0, .max = 4294967295), F("forks", TEXT, "`all`: of the whole tree")

#define EVENTS_QUERY \
    F("after", TEXT, "a cursor; `start`: from the oldest that is kept"), F("kinds", ARRAY, "`conversation`, `entry`, `membership`"), \
    F("detail", ENUM, "with `full` the content of entries", .values = "summary|full"), F("entry_channels", ARRAY, "`history` unless given"), \
    F("entry_content_types", ARRAY, "only these"), F("entry_roles", ARRAY, "`USER`, `AI`, `SYSTEM`")

static const face_route routes[] = {
/* ------------------------------------------------------------------ the server */
ROUTE("GET", "/v1/health", ROLE_ANYONE, .name = "memoryHealth", .group = "Server", .flags = ROUTE_QUICK | ROUTE_LOOSE,
 .summary = "Whether it is there", .success = 200, .run = memory_health),
ROUTE("GET", "/v1/capabilities", ROLE_CLIENT | ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryCapabilities", .group = "Server", .flags = READ,
 .summary = "What the server can do; for clients and administrators", .success = 200, .run = memory_capabilities, .statuses = "FORBIDDEN"),
ROUTE("GET", "/v1/events", ROLE_USER, .name = "memoryEvents", .group = "Server", .flags = READ | ROUTE_STREAM,
 .summary = "What happens, as it happens", .success = 200, .run = memory_events,
 .about = "Frames `data: {\"event\", \"kind\", \"data\", \"cursor\"}`; `after` replays what came behind a cursor.",
 .query = FIELDS(EVENTS_QUERY)),

/* ------------------------------------------------------------------ conversations */
ROUTE("GET", "/v1/conversations", ROLE_USER, .name = "memoryListConversations", .group = "Conversations", .flags = READ,
 .summary = "Conversations that the caller may see, newest first", .success = 200, .answer = "ConversationList", .run = memory_talks_list,
 .query = FIELDS(F("mode", TEXT, "`latest-fork` (default), `roots` or `all`"), F("ancestry", TEXT, "`roots` (default), `children` or `all`: started by others or not"),
                 F("afterCursor", TEXT, "a conversation"), LIMIT, F("query", TEXT, "part of the title"),
                 F("archived", ENUM, "`exclude` unless given", .values = "exclude|include|only")), .example = "mode=all&limit=20"),
ROUTE("POST", "/v1/conversations", ROLE_USER, .name = "memoryCreateConversation", .group = "Conversations", .flags = WRITE,
 .summary = "Makes a conversation", .success = 201, .answer = "Conversation", .run = memory_talk_post,
 .about = "A fork is answered with 200. A reader gets a private fork.",
 .body = FIELDS(F("id", TEXT, "made when it is not given"), F("title", TEXT, "at most 500 bytes"), F("agentId", TEXT, ""), F("metadata", OBJECT, ""),
                F("forkedAtConversationId", TEXT, ""), F("forkedAtEntryId", UUID, "")),
 .statuses = "SESSION_EXISTS " E_SEE, .example = "{\"title\": \"A trip\"}"),
ROUTE("POST", "/v1/conversations/search", ROLE_USER, .name = "memorySearch", .group = "Search", .flags = READ,
 .summary = "Full text over history entries", .success = 200, .run = memory_search,
 .body = FIELDS(F("query", ANY, "1 to 1,000 characters"), F("searchType", ANY, "`auto`, `fulltext`; `semantic` is 501"), F("afterCursor", TEXT, "as it was answered"),
                F("limit", ANY, "20"), F("includeEntry", ANY, "true"), F("groupByConversation", ANY, "true")), .example = "{\"query\": \"lisbon\"}"),
ROUTE("POST", "/v1/conversations/index", ROLE_INDEXER | ROLE_ADMIN, .name = "memoryIndex", .group = "Search", .flags = WRITE, .body_max = BODY,
 .summary = "Texts that entries are found by; for indexers", .success = 200, .run = memory_index,
 .about = "The body is a list of `{conversationId, entryId, indexedContent}`, or `{\"entries\": […]}`.", .statuses = "FORBIDDEN ENTRY_NOT_FOUND"),
ROUTE("GET", "/v1/conversations/unindexed", ROLE_INDEXER | ROLE_ADMIN, .name = "memoryUnindexed", .group = "Search", .flags = READ,
 .summary = "History entries without such a text; for indexers", .success = 200, .run = memory_unindexed,
 .query = FIELDS(LIMIT, F("afterCursor", TEXT, "as it was answered")), .statuses = "FORBIDDEN"),
ROUTE("GET", C1, ROLE_USER, .name = "memoryGetConversation", .group = "Conversations", .flags = READ,
 .summary = "One conversation", .success = 200, .answer = "Conversation", .run = memory_talk_get, .statuses = E_SEE),
ROUTE("PATCH", C1, ROLE_USER, .name = "memoryUpdateConversation", .group = "Conversations", .flags = WRITE,
 .summary = "Another title or other metadata; archives or brings back", .success = 200, .answer = "Conversation", .run = memory_talk_patch,
 .about = "`archived` is for the owner, holds for every fork and everything that was started from them, and goes before the other two.",
 .body = FIELDS(F("title", TEXT, "null clears it", .nullable = true), F("metadata", OBJECT, ""), F("archived", BOOL, "")), .statuses = E_SEE,
 .example = "{\"title\": \"Lisbon\"}"),
ROUTE("GET", C1 "/children", ROLE_USER, .name = "memoryListChildren", .group = "Conversations", .flags = READ,
 .summary = "Conversations that this one has started, oldest first", .success = 200, .run = memory_children_list,
 .query = FIELDS(F("afterCursor", TEXT, "a conversation"), LIMIT), .statuses = E_SEE),
ROUTE("GET", C1 "/forks", ROLE_USER, .name = "memoryListForks", .group = "Conversations", .flags = READ,
 .summary = "Where forks leave it, and which there are", .success = 200, .answer = "ForkNavigation", .run = memory_forks_get, .statuses = E_SEE),

/* ------------------------------------------------------------------ entries */
ROUTE("GET", C1 "/entries", ROLE_USER, .name = "memoryListEntries", .group = "Entries", .flags = READ,
 .summary = "A page of entries, oldest first", .success = 200, .answer = "MemoryEntryList", .run = memory_entries_list,
 .query = FIELDS(ENTRIES_QUERY),
 .statuses = E_SEE " ENTRY_NOT_FOUND", .example = "tail=true&limit=50"),
ROUTE("POST", C1 "/entries", ROLE_USER, .name = "memoryAppendEntry", .group = "Entries", .flags = WRITE, .body_max = BODY,
 .summary = "Appends; makes the conversation, or the fork, when it is not there", .success = 201, .answer = "MemoryEntry", .run = memory_entry_post,
 .about = "Conversation, entry and references to attachments are one commit.", .body = FIELDS(ENTRY_FIELDS),
 .statuses = E_SEE " ENTRY_NOT_FOUND ATTACHMENT_NOT_FOUND KEY_TAKEN ENTRY_TOO_LARGE",
 .example = "{\"contentType\": \"history\", \"channel\": \"history\", \"content\": [{\"role\": \"USER\", \"text\": \"Hello\"}]}"),
ROUTE("POST", C1 "/entries/sync", ROLE_USER, .name = "memorySync", .group = "Entries", .flags = WRITE, .body_max = BODY,
 .summary = "Brings the context of a client to what it says", .success = 200, .answer = "SyncResult", .run = memory_sync_post,
 .body = FIELDS(ENTRY_FIELDS), .statuses = E_SEE),
ROUTE("POST", C1 "/chat", ROLE_USER, .name = "memoryChat", .group = "Entries", .flags = WRITE | ROUTE_STREAM | ROUTE_ALWAYS_STREAMS, .body_max = BODY,
 .summary = "A message and its answer in one step", .success = 200, .run = memory_chat_post,
 .about = "Makes the fork when it is asked for, appends the message, runs the agent, streams what it says (the turn events of the native API) and appends it.",
 .body = FIELDS(R("message", TEXT, ""), F("attachments", ANY, "ids, or objects as in `content`"), F("agent", TEXT, "the conversation's, or the default one"),
                F("forkedAtConversationId", TEXT, ""), F("forkedAtEntryId", UUID, "")), .statuses = E_SEE,
 .example = "{\"message\": \"Hello\"}"),
ROUTE("DELETE", C1 "/response", ROLE_USER, .name = "memoryCancel", .group = "Entries", .flags = WRITE,
 .summary = "Cancels the answer that is being made", .success = 200, .run = memory_cancel, .statuses = E_SEE),

/* ------------------------------------------------------------------ members */
ROUTE("GET", C1 "/memberships", ROLE_USER, .name = "memoryListMembers", .group = "Members", .flags = READ,
 .summary = "Who may see it and its forks, oldest first", .success = 200, .run = memory_members_list,
 .query = FIELDS(F("afterCursor", TEXT, "a user"), LIMIT), .statuses = E_SEE),
ROUTE("POST", C1 "/memberships", ROLE_USER, .name = "memoryShare", .group = "Members", .flags = WRITE,
 .summary = "Adds a member", .success = 201, .answer = "Membership", .run = memory_member_post,
 .body = FIELDS(F("userId", TEXT, "needed"), F("accessLevel", TEXT, "`manager`, `writer` or `reader`")), .statuses = E_SEE " MEMBER_EXISTS",
 .example = "{\"userId\": \"bob\", \"accessLevel\": \"writer\"}"),
ROUTE("PATCH", C1 "/memberships/{userId}", ROLE_USER, .name = "memoryUpdateMember", .group = "Members", .flags = WRITE,
 .summary = "Another level", .success = 200, .answer = "Membership", .run = memory_member_patch,
 .body = FIELDS(F("accessLevel", TEXT, "needed")), .statuses = E_SEE " MEMBER_NOT_FOUND"),
ROUTE("DELETE", C1 "/memberships/{userId}", ROLE_USER, .name = "memoryRemoveMember", .group = "Members", .flags = WRITE,
 .summary = "Removes a member", .success = 204, .run = memory_member_delete, .statuses = E_SEE " MEMBER_NOT_FOUND"),
ROUTE("GET", "/v1/ownership-transfers", ROLE_USER, .name = "memoryListTransfers", .group = "Members", .flags = READ,
 .summary = "Transfers from or to the caller, oldest first", .success = 200, .run = memory_transfers_list,
 .query = FIELDS(F("role", ENUM, "`all` unless given", .values = "sender|recipient|all"), F("afterCursor", UUID, "a transfer"), LIMIT)),
ROUTE("POST", "/v1/ownership-transfers", ROLE_USER, .name = "memoryTransfer", .group = "Members", .flags = WRITE,
 .summary = "Offers a conversation to a member", .success = 201, .answer = "OwnershipTransfer", .run = memory_transfer_post,
 .body = FIELDS(F("conversationId", TEXT, "needed"), F("newOwnerUserId", TEXT, "needed")), .statuses = E_SEE " TRANSFER_PENDING"),
ROUTE("GET", "/v1/ownership-transfers/{transferId}", ROLE_USER, .name = "memoryGetTransfer", .group = "Members", .flags = READ,
 .summary = "One of them", .success = 200, .answer = "OwnershipTransfer", .run = memory_transfer_get, .statuses = "TRANSFER_NOT_FOUND"),
ROUTE("DELETE", "/v1/ownership-transfers/{transferId}", ROLE_USER, .name = "memoryDropTransfer", .group = "Members", .flags = WRITE,
 .summary = "Takes it back, or declines it", .success = 204, .run = memory_transfer_delete, .statuses = "TRANSFER_NOT_FOUND FORBIDDEN"),
ROUTE("POST", "/v1/ownership-transfers/{transferId}/accept", ROLE_USER, .name = "memoryAcceptTransfer", .group = "Members", .flags = WRITE,
 .summary = "Accepts it", .success = 204, .run = memory_transfer_accept, .statuses = "TRANSFER_NOT_FOUND FORBIDDEN"),

/* ------------------------------------------------------------------ attachments */
ROUTE("POST", "/v1/attachments", ROLE_USER, .name = "memoryUpload", .group = "Attachments", .flags = WRITE | ROUTE_UPLOAD,
 .summary = "Uploads a file, or has one fetched", .success = 201, .answer = "AttachmentUpload", .run = memory_file_post, .sink = memory_file_sink,
 .about = "A form with the part `file`, or JSON: `{\"sourceUrl\", \"contentType\"?, \"name\"?}`.",
 .query = FIELDS(F("expiresIn", TEXT, "`PT1H` when not given: how long it stays while no entry refers to it")), .statuses = "TOO_LARGE"),
ROUTE("GET", "/v1/attachments/{attachmentId}", ROLE_USER, .name = "memoryDownload", .group = "Attachments", .flags = READ,
 .summary = "The bytes; ranges can be asked for", .success = 200, .run = memory_file_get,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("DELETE", "/v1/attachments/{attachmentId}", ROLE_USER, .name = "memoryDeleteAttachment", .group = "Attachments", .flags = WRITE,
 .summary = "Deletes one that no entry refers to", .success = 204, .run = memory_file_delete, .statuses = "ATTACHMENT_NOT_FOUND ATTACHMENT_IN_USE FORBIDDEN"),
ROUTE("GET", "/v1/attachments/{attachmentId}/download-url", ROLE_USER, .name = "memoryDownloadUrl", .group = "Attachments", .flags = READ,
 .summary = "A link that is good for five minutes", .success = 200, .run = memory_file_url,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/attachments/download/{token}/{filename}", ROLE_ANYONE, .name = "memoryDownloadSigned", .group = "Attachments", .flags = ROUTE_LOOSE,
 .summary = "The bytes, by such a link", .success = 200, .run = memory_file_signed,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),

/* ------------------------------------------------------------------ administrators */
ROUTE("GET", "/v1/admin/conversations/{conversationId}", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminGet", .group = "Administrators", .flags = READ,
 .summary = "One conversation, with its client; for administrators and auditors", .success = 200, .answer = "Conversation", .run = memory_admin_talk, .statuses = E_SEE),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/forks", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminForks", .group = "Administrators", .flags = READ,
 .summary = "Its forks, journals of all clients included", .success = 200, .answer = "ForkNavigation", .run = memory_admin_forks, .statuses = E_SEE),
ROUTE("GET", "/v1/admin/conversations", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListConversations", .group = "Administrators", .flags = READ,
 .summary = "Conversations of everybody, newest first", .success = 200, .answer = "ConversationList", .run = memory_admin_talks,
 .query = FIELDS(F("mode", TEXT, "`latest-fork` (default), `roots` or `all`"), F("ancestry", TEXT, "`roots` (default), `children` or `all`"),
                 F("userId", TEXT, "those that this user owns"), F("ownerUserId", TEXT, "the same, by its name in gRPC"), F("afterCursor", TEXT, "a conversation"), LIMIT, F("query", TEXT, "part of the title"),
                 F("archived", ENUM, "`exclude` unless given; `only` with one of the times", .values = "exclude|include|only"),
                 F("archivedAfter", TIME, "archived then or later, to whole seconds"), F("archivedBefore", TIME, "archived before that")), .statuses = "FORBIDDEN"),
ROUTE("PATCH", "/v1/admin/conversations/{conversationId}", ROLE_ADMIN, .name = "memoryAdminUpdateConversation", .group = "Administrators", .flags = WRITE,
 .summary = "Archives a tree or brings it back; not for auditors", .success = 200, .answer = "Conversation", .run = memory_admin_talk_patch,
 .body = FIELDS(F("archived", BOOL, "")), .statuses = E_SEE, .example = "{\"archived\": true}"),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/entries", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListEntries", .group = "Administrators", .flags = READ,
 .summary = "A page of its entries, channels of all clients included", .success = 200, .answer = "MemoryEntryList", .run = memory_admin_entries,
 .query = FIELDS(ENTRIES_QUERY), .statuses = E_SEE " ENTRY_NOT_FOUND"),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/memberships", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListMembers", .group = "Administrators", .flags = READ,
 .summary = "Its members, oldest first", .success = 200, .run = memory_admin_members, .query = FIELDS(F("afterCursor", TEXT, "a user"), LIMIT), .statuses = E_SEE),
ROUTE("GET", "/v1/admin/conversations/{conversationId}/children", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListChildren", .group = "Administrators", .flags = READ,
 .summary = "Conversations that it has started, oldest first", .success = 200, .run = memory_admin_children,
 .query = FIELDS(F("afterCursor", TEXT, "a conversation"), LIMIT), .statuses = E_SEE),
ROUTE("POST", "/v1/admin/conversations/search", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminSearch", .group = "Administrators", .flags = READ,
 .summary = "Full text over the history entries of everybody; for administrators and auditors", .success = 200, .run = memory_admin_search,
 .query = FIELDS(F("justification", TEXT, "not needed")),
 .body = FIELDS(F("query", ANY, "1 to 1,000 characters"), F("afterCursor", TEXT, "as it was answered"), F("limit", ANY, "20"),
                F("userId", TEXT, "in conversations that this user owns"), F("includeArchived", ANY, "false"), F("includeEntry", ANY, "true")),
 .statuses = "FORBIDDEN", .example = "{\"query\": \"lisbon\", \"userId\": \"bob\"}"),
ROUTE("GET", "/v1/admin/attachments", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminListAttachments", .group = "Administrators", .flags = READ,
 .summary = "Attachments of everybody, oldest first; for administrators and auditors", .success = 200, .run = memory_admin_files,
 .query = FIELDS(F("userId", TEXT, "uploaded by this user"), F("entryId", UUID, "that this entry refers to"),
                 F("status", ENUM, "`all` unless given", .values = "linked|unlinked|expired|all"), F("afterCursor", UUID, "an attachment"), LIMIT,
                 F("justification", TEXT, "not needed")), .statuses = "FORBIDDEN ENTRY_NOT_FOUND", .example = "status=linked&limit=50"),
ROUTE("GET", "/v1/admin/attachments/{attachmentId}", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminGetAttachment", .group = "Administrators", .flags = READ,
 .summary = "What is known of one", .success = 200, .answer = "AdminAttachment", .run = memory_admin_file,
 .query = FIELDS(F("justification", TEXT, "not needed")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("DELETE", "/v1/admin/attachments/{attachmentId}", ROLE_ADMIN, .name = "memoryAdminDeleteAttachment", .group = "Administrators", .flags = WRITE,
 .summary = "Deletes one that no entry refers to, whoever uploaded it; not for auditors", .success = 204, .run = memory_admin_file_delete,
 .body = FIELDS(F("justification", TEXT, "not needed")), .statuses = "ATTACHMENT_NOT_FOUND ATTACHMENT_IN_USE FORBIDDEN"),
ROUTE("GET", "/v1/admin/attachments/{attachmentId}/content", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminDownload", .group = "Administrators", .flags = READ,
 .summary = "Its bytes; ranges can be asked for", .success = 200, .run = memory_admin_file_get,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`"), F("justification", TEXT, "not needed")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/admin/attachments/{attachmentId}/download-url", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminDownloadUrl", .group = "Administrators", .flags = READ,
 .summary = "A link that is good for five minutes", .success = 200, .run = memory_admin_file_url,
 .query = FIELDS(F("disposition", TEXT, "`inline` or `attachment`"), F("justification", TEXT, "not needed")), .statuses = "ATTACHMENT_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/admin/entries/{entryId}", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminGetEntry", .group = "Administrators", .flags = READ,
 .summary = "One entry, by its id alone", .success = 200, .answer = "MemoryEntry", .run = memory_admin_entry, .statuses = "ENTRY_NOT_FOUND FORBIDDEN"),
ROUTE("GET", "/v1/admin/events", ROLE_ADMIN | ROLE_AUDITOR, .name = "memoryAdminEvents", .group = "Administrators", .flags = READ | ROUTE_STREAM,
 .summary = "What happens in all conversations, as it happens; channels of all clients, when they are asked for", .success = 200, .run = memory_admin_events,
 .about = "Frames as of `/v1/events`.", .query = FIELDS(EVENTS_QUERY, F("justification", TEXT, "not needed")), .statuses = "FORBIDDEN"),
ROUTES_END,
};

static const face_param params[] = {
    {"conversationId", "a conversation id, percent-encoded", "trip"},
    {"userId", "a user", "bob"},
    {"entryId", "an entry", "0198c1d2-0000-7000-8000-000000000003"},
    {"transferId", "a transfer", "0198c1d2-0000-7000-8000-000000000001"},
    {"attachmentId", "an attachment", "0198c1d2-0000-7000-8000-000000000002"},
    {"token", "what a link was signed with", "TOKEN"},
    {"filename", "what the file is to be called", "map.png"},
    {NULL, NULL, NULL},
};

const face face_memory = {
    .name = "memory", .title = "memory-service", .prefix = "/v1", .identity = &memory_identity, .owns_prefix = true, .fail = memory_fail, .referrer = "strict-origin-when-cross-origin",
    .about = "For clients of memory-service, as they are. A conversation is a session; its forks are the tree. Errors are "
             "`{\"code\", \"error\", \"requestId\", \"details\"?}`. Unknown parameters and members are not looked at.\n"
             "Who asks: `Authorization: Bearer`; `X-API-Key` or `X-Client-ID` names the client, which the channels `context` and `journal` belong to.",
    .routes = routes, .schemas = memory_schemas, .params = params, .uuids = "transferId|attachmentId|entryId", .secrets = "token",
};
