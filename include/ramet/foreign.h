/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/foreign.h: imports of what other programs have written.
 *
 *     ramet_import_begin(c, NULL, 0, &m);
 *     ramet_import_add(m, ...);                       the file, or a tar archive of a folder
 *     ramet_import_foreign(m, "chatgpt", ..., &out);
 *     ramet_import_close(m);
 *
 * A conversation becomes a session, its branches where the format has them become branches, and a
 * conversation that begins as a copy of another one becomes a fork of it. The sessions belong to
 * the caller. Importing the same again adds nothing; importing a file that has grown adds what is
 * new. docs/import.md describes the formats.
 */
#ifndef RAMET_FOREIGN_H
#define RAMET_FOREIGN_H

#include "export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* Every format: its reader, its name, what to give it. */
#define RAMET_FOREIGN_FORMATS(X) \
    X(claude_code, "claude-code", "the folder ~/.claude/projects, one of its projects, or a transcript (SESSION.jsonl)") \
    X(codex, "codex", "the folder ~/.codex/sessions, or a rollout (rollout-*.jsonl)") \
    X(opencode, "opencode", "what `opencode export SESSION` writes, a folder of such files, or the folder storage of older versions") \
    X(chatgpt, "chatgpt", "the unpacked data export of ChatGPT, or its conversations.json") \
    X(claude_ai, "claude-ai", "the unpacked data export of claude.ai, or its conversations.json") \
    X(open_webui, "open-webui", "exported chats of Open WebUI (chat-export-*.json), or a folder of them") \
    X(librechat, "librechat", "conversations that LibreChat exported as JSON, or a folder of them") \
    X(openai_jsonl, "openai-jsonl", "a file with a conversation on each line: {\"messages\": [...]}")
/* clang-format on */
/* "claude-code|codex|..." */
#define RAMET_FOREIGN_NAME_(reader, name, reads) "|" name
#define RAMET_FOREIGN_NAMES ((RAMET_FOREIGN_FORMATS(RAMET_FOREIGN_NAME_)) + 1)

typedef struct ramet_foreign_format {
    const char *name;  /* "claude-code" */
    const char *reads; /* what to give it, in one line */
} ramet_foreign_format;
/* All of them, one by one; NULL behind the last one. Constant. */
RAMET_API const ramet_foreign_format *ramet_foreign_format_at(size_t i);

/* Reads everything, and then writes what is not there yet. What cannot be read is skipped;
 * `skipped` of the answer says what and why. RAMET_IMPORT_DAMAGED: nothing could be read, or the
 * input is cut off, and nothing was written. RAMET_TOO_LARGE: the input is over a limit, and
 * nothing was written. RAMET_INVALID: no such format.
 *
 * Writes in many commits: each conversation is visible as soon as it is there. When it fails in the
 * middle, or the process dies, the same import done again adds what is missing. A named spool is
 * gone afterwards, as with ramet_import_run(). O(input); memory as in docs/import.md. */
RAMET_API ramet_status ramet_import_foreign(ramet_import *m, const char *format,
                                            ramet_progress progress, void *arg,
                                            ramet_import_out *out);

#ifdef __cplusplus
}
#endif

#endif
