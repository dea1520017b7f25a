/* SPDX-License-Identifier: Apache-2.0
 *
 * model.c: models. Each configured agent is a model, and so is each model that a client may choose
 * of it: NAME, NAME/model.
 */
#include "face/openai/openai_face.h"

#include <string.h>

enum { LIST_BYTES = 4 << 20 };

/* The agents as the server lists them: [{name, model?, models?, default …}]. */
static const json_node *agents_read(request *q, json_doc *d)
{
    buf b;
    json_writer w;
    buf_init(&b, LIST_BYTES);
    jw_init(&w, &b, 0);
    q->host->agents(q->host->arg, &w);
    size_t n = b.n;
    const char *text = buf_keep(&b, q->arena);
    return json_parse(q->arena, text, n, 0, d, NULL) ? d->nodes : NULL;
}

static void model_write(json_writer *w, const char *id)
{
    jw_object(w);
    jw_kstr(w, "id", id);
    jw_kstr(w, "object", "model");
    jw_kint(w, "created", 0);
    jw_kstr(w, "owned_by", "ramet");
    jw_end_object(w);
}

/* Calls back with NAME, then NAME/model for each model of the agent; stops when it returns true. */
static bool
models_each(request *q, const json_doc *d, const json_node *agent,
            bool (*each)(void *arg, const char *id, const char *name, const char *model), void *arg)
{
    const char *name = json_text(q->arena, d, json_get(d, agent, "name"));
    const json_node *models = json_get(d, agent, "models");
    const char *own = json_text(q->arena, d, json_get(d, agent, "model"));
    if (each(arg, name, name, NULL))
        return true;
    if (own && *own && each(arg, arena_printf(q->arena, "%s/%s", name, own), name, own))
        return true;
    for (const json_node *m = json_first(d, models); m; m = json_next(d, models, m)) {
        const char *model = json_text(q->arena, d, m);
        if (model && !(own && strcmp(model, own) == 0) &&
            each(arg, arena_printf(q->arena, "%s/%s", name, model), name, model))
            return true;
    }
    return false;
}

static bool list_one(void *arg, const char *id, const char *name, const char *model)
{
    (void)name, (void)model;
    model_write(arg, id);
    return false;
}

void openai_models_get(request *q)
{
    json_doc d;
    const json_node *list = agents_read(q, &d);
    jw_object(&q->writer);
    jw_kstr(&q->writer, "object", "list");
    jw_key(&q->writer, "data");
    jw_array(&q->writer);
    for (const json_node *a = json_first(&d, list); list && a; a = json_next(&d, list, a))
        models_each(q, &d, a, list_one, &q->writer);
    jw_end_array(&q->writer);
    jw_end_object(&q->writer);
    face_done(q);
}

typedef struct wanted {
    const char *id;
    bool bare; /* the name of a model alone will do */
    ramet_agent *out;
} wanted;

static bool model_is(void *arg, const char *id, const char *name, const char *model)
{
    const wanted *w = arg;
    if (strcmp(id, w->id) != 0 && !(w->bare && model && strcmp(model, w->id) == 0))
        return false;
    *w->out = (ramet_agent){.name = name, .model = model};
    return true;
}

/* `NAME/anything` is a model of that agent: not every provider can list its models. */
static bool model_of_agent(request *q, const json_doc *d, const json_node *list, wanted *w)
{
    const char *slash = strchr(w->id, '/');
    size_t n = slash ? (size_t)(slash - w->id) : 0;
    for (const json_node *a = json_first(d, list); n && slash[1] && a; a = json_next(d, list, a)) {
        const char *name = json_text(q->arena, d, json_get(d, a, "name"));
        if (json_get(d, a, "model") && strlen(name) == n && memcmp(name, w->id, n) == 0) {
            *w->out = (ramet_agent){.name = name, .model = arena_strdup(q->arena, slash + 1)};
            return true;
        }
    }
    return false;
}

bool openai_model(request *q, const char *model, ramet_agent *out)
{
    json_doc d;
    const json_node *list = agents_read(q, &d);
    wanted w = {.id = model, .out = out};
    *out = (ramet_agent){0};
    if (!model) {
        const char *name = q->host->agent_default ? q->host->agent_default(q->host->arg) : NULL;
        out->name = name ? arena_strdup(q->arena, name) : "echo";
        return true;
    }
    for (int bare = 0; list && bare < 2; bare++) {
        w.bare = bare;
        for (const json_node *a = json_first(&d, list); a; a = json_next(&d, list, a))
            if (models_each(q, &d, a, model_is, &w))
                return true;
        if (!bare && strlen(model) <= MODEL_MAX_BYTES && model_of_agent(q, &d, list, &w))
            return true;
    }
    request_fail(q, 404, "model_not_found", "model",
                 "the model '%.80s' does not exist; GET /openai/v1/models lists those that do",
                 model);
    return false;
}

void openai_model_get(request *q)
{
    ramet_agent found;
    const char *id = face_path(q, "model");
    if (!openai_model(q, id, &found))
        return;
    model_write(&q->writer, id);
    face_done(q);
}
