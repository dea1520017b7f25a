/* SPDX-License-Identifier: Apache-2.0
 *
 * prompt.c: see prompt.h.
 */
#include "agent/prompt.h"

#include "base/util.h"

#include <string.h>

enum { DATA_BYTES = 16 << 20, MESSAGES_BYTES = 256 << 20 };

static const char *digest_hex(arena *a, const char *text)
{
    uint8_t raw[HASH_LEN];
    char *out = arena_alloc(a, 2 * HASH_LEN + 1);
    sha *h = sha_new();
    sha_begin(h);
    sha_add(h, text, strlen(text));
    sha_end(h, raw);
    sha_free(h);
    hex_encode(raw, HASH_LEN, out);
    return out;
}

const char *prompt_pack(arena *a, const agent_prompt *p, const char *request)
{
    buf out;
    json_writer w;
    buf_init(&out, DATA_BYTES);
    jw_init(&w, &out, 0);
    jw_object(&w);
    if (p) {
        jw_kstr(&w, "instructions", p->instructions);
        jw_kraw(&w, "settings", p->settings);
        if (!p->as_stored)
            jw_kraw(&w, "messages", p->messages);
        jw_kstr(&w, "digest", digest_hex(a, p->messages));
    }
    if (request)
        jw_kraw(&w, "request", request);
    jw_end_object(&w);
    const char *data = out.over ? NULL : arena_memdup(a, out.data, out.n);
    buf_release(&out);
    return data;
}

static const agent_kind *kind_find(const char *name)
{
    size_t i = 0;
    while (agent_kinds[i] && strcmp(agent_kinds[i]->name, name) != 0)
        i++;
    return agent_kinds[i];
}

const char *prompt_messages(arena *a, const char *kind, const ramet_entry *history, size_t n,
                            const char *instructions, const char *digest)
{
    buf out;
    json_writer w;
    const agent_kind *found = kind_find(kind);
    if (!found || !found->messages)
        return NULL;
    buf_init(&out, MESSAGES_BYTES);
    jw_init(&w, &out, 0);
    found->messages(history, n, instructions, &w);
    const char *text = out.over ? NULL : arena_memdup(a, out.data, out.n);
    buf_release(&out);
    return text && digest && strcmp(digest_hex(a, text), digest) == 0 ? text : NULL;
}
