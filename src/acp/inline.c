/* SPDX-License-Identifier: Apache-2.0
 *
 * inline.c: large images, sounds and files inside of messages are kept as attachments; the block in
 * the record names them (`_meta.ramet.attachment`), and is whole again when it is replayed.
 */
#include "acp/own.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum { INLINE_BYTES = 256 << 10 };

/* The member that holds the bytes: of the block, or of its resource. */
static const char *place_of(const message *m, const json_node *block, const json_node **holder)
{
    *holder = message_at(m, block, "resource");
    if (json_is(message_at(m, *holder, "blob"), JSON_STRING))
        return "blob";
    *holder = block;
    return json_is(message_at(m, block, "data"), JSON_STRING) ? "data" : NULL;
}

/* The block with other bytes in it and other words of ours in _meta. */
static const char *block_with(proxy *p, const message *m, const char *key, const json_node *holder,
                              const char *bytes, const char *ours)
{
    const json_node *block = m->d.nodes;
    member value = {key, bytes};
    member own = {"ramet", ours};
    const char *was = message_raw(m, block, "_meta");
    const char *meta = json_with(p->mem, was, &own, 1);
    const char *inside = json_with(p->mem, json_raw(p->mem, &m->d, holder), &value, 1);
    member outer[] = {{"resource", inside}, {"_meta", strcmp(meta, "{}") == 0 ? NULL : meta}};
    if (holder != block)
        return json_with(p->mem, json_raw(p->mem, &m->d, block), outer, 2);
    return json_with(p->mem, inside, outer + 1, 1);
}

const char *inline_keep(proxy *p, const char *raw)
{
    message m = {.a = p->mem};
    const json_node *holder;
    if (strlen(raw) < INLINE_BYTES || !json_parse(p->mem, raw, strlen(raw), 0, &m.d, NULL))
        return raw;
    const char *key = place_of(&m, m.d.nodes, &holder), *id;
    const char *text = key ? message_text(&m, holder, key) : NULL;
    const char *media = message_text(&m, holder, "mimeType");
    size_t n = text ? strlen(text) : 0;
    if (n < INLINE_BYTES || n % 4 || n > ACP_LINE_MAX)
        return raw;
    unsigned char *bytes = xmalloc(n);
    int len = EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)n);
    for (size_t i = n; len > 0 && i > n - 2 && text[i - 1] == '='; i--)
        len--;
    ramet_status rc =
        len < 0 ? RAMET_INVALID
                : client_attach(p->lib, p->call, media ? media : "application/octet-stream", bytes,
                                (size_t)len, &id);
    free(bytes);
    if (len >= 0 && rc != RAMET_OK)
        complain("a file could not be kept apart: %s", store_error(p));
    if (rc != RAMET_OK)
        return raw;
    return block_with(p, &m, key, holder, "\"\"",
                      arena_printf(p->mem, "{\"attachment\":%s}", json_quote(p->mem, id)));
}

const char *inline_restore(proxy *p, const char *update)
{
    message m = {.a = p->mem}, block = {.a = p->mem};
    const json_node *holder;
    if (!strstr(update, "\"attachment\"") ||
        !json_parse(p->mem, update, strlen(update), 0, &m.d, NULL))
        return update;
    const char *content = message_raw(&m, m.d.nodes, "content");
    if (!content || !json_parse(p->mem, content, strlen(content), 0, &block.d, NULL))
        return update;
    const char *id = message_text(&block, block.d.nodes, "_meta.ramet.attachment");
    const char *key = place_of(&block, block.d.nodes, &holder);
    buf b;
    if (!id || !key)
        return update;
    ramet_call *own = p->lib->ramet_call_new(p->o->store, p->o->user, "ramet-acp");
    buf_init(&b, ACP_LINE_MAX);
    if (client_attached(p->lib, own, id, &b) == RAMET_OK && !b.over) {
        char *text = arena_alloc(p->mem, b.n * 4 / 3 + 8);
        text[0] = '"';
        int n = EVP_EncodeBlock((unsigned char *)text + 1, (const unsigned char *)b.p, (int)b.n);
        text[n + 1] = '"';
        text[n + 2] = 0;
        member whole = {"content", block_with(p, &block, key, holder, text, NULL)};
        update = json_with(p->mem, update, &whole, 1);
    }
    buf_release(&b);
    p->lib->ramet_call_free(own);
    return update;
}
