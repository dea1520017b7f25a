/* SPDX-License-Identifier: Apache-2.0
 *
 * read.c: reads answers of the API into the library's structs, by the tables that the server writes
 * them with (form/native.h).
 */
#include "client/internal.h"

#include "ramet/sandboxes.h"
#include "ramet/tokens.h"

#include <assert.h>

const char *get_text(client_call *c, const json_doc *d, const json_node *obj, const char *name)
{
    return json_text(c->arena, d, json_get(d, obj, name));
}

int64_t get_int(const json_doc *d, const json_node *obj, const char *name)
{
    int64_t v = 0;
    const json_node *n = json_get(d, obj, name);
    return n && json_int(d, n, &v) ? v : 0;
}

ramet_status answer_has(client_call *c, const json_doc *d, const char *name)
{
    if (json_get(d, d->nodes, name))
        return RAMET_OK;
    return client_fail(c, RAMET_INTERNAL, "server", "%s answered without \"%s\"", c->server->base,
                       name);
}

void *answer_read(client_call *c, const json_doc *d, const form_schema *s)
{
    void *out = arena_alloc(c->arena, s->size);
    form_read(c->arena, d, d->nodes, s, out, NULL);
    return out;
}

ramet_status answer_session(client_call *c, const json_doc *d, ramet_session **out)
{
    ramet_session *s = answer_read(c, d, &form_session);
    *out = s->id ? s : NULL;
    return s->id ? RAMET_OK
                 : client_fail(c, RAMET_INTERNAL, "server", "%s did not answer a session",
                               c->server->base);
}

ramet_status ask_list(target *t, const form_schema *schema, size_t size, void **out, size_t *n,
                      bool *more)
{
    client_call *c = t->call;
    const form_field *items = schema->fields;
    form_list list;
    json_doc d;
    assert(items->of->size == size);
    *out = NULL;
    *n = 0;
    if (more)
        *more = false;
    TRY(ask(t, "GET", NULL, &d));
    TRY(answer_has(c, &d, items->name));
    form_read(c->arena, &d, d.nodes, schema, &list, NULL);
    *out = list.items;
    *n = list.n;
    if (more)
        *more = list.next_cursor != NULL;
    return RAMET_OK;
}
