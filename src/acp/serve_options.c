/* SPDX-License-Identifier: Apache-2.0
 *
 * serve_options.c: what an editor can choose for a session when Ramet is the agent, and how full
 * its context is.
 */
#include "acp/serve.h"

#include <string.h>

static const client_agent *agent_find(const serve *v, const char *name)
{
    for (size_t i = 0; name && i < v->n_agents; i++)
        if (strcmp(v->agents[i].name, name) == 0)
            return &v->agents[i];
    return NULL;
}

static const char *name_of(proxy *p, const ramet_agent *a)
{
    return a->name ? a->name : p->options->name;
}

/* ------------------------------------------------------------------ what there is */

static const char *modes_text(proxy *p, const ramet_agent *a)
{
    const serve *v = SERVE(p);
    buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < v->n_agents; i++) {
        const char *name = json_quote(p->mem, v->agents[i].name);
        buf_printf(&b, "%s{\"id\":%s,\"name\":%s,\"description\":%s}", i ? "," : "", name, name,
                   json_quote(p->mem, v->agents[i].about ? v->agents[i].about : ""));
    }
    const char *out = arena_printf(p->mem, "{\"currentModeId\":%s,\"availableModes\":[%s]}",
                                   json_quote(p->mem, name_of(p, a)), b.data);
    buf_release(&b);
    return out;
}

static void value_put(proxy *p, buf *b, const char *value)
{
    const char *text = json_quote(p->mem, value);
    buf_printf(b, "%s{\"value\":%s,\"name\":%s}", b->n ? "," : "", text, text);
}

static const char *select_text(proxy *p, const char *id, const char *name, const char *category,
                               const char *now, const buf *values)
{
    return arena_printf(p->mem,
                        "{\"id\":\"%s\",\"name\":\"%s\",\"category\":\"%s\",\"type\":"
                        "\"select\",\"currentValue\":%s,\"options\":[%s]}",
                        id, name, category, json_quote(p->mem, now), values->data);
}

/* A model that was set and is not in the list counts as one of its values. */
static bool model_known(const client_agent *it, const char *model)
{
    bool known = strcmp(it->model, model) == 0;
    for (size_t i = 0; i < it->n_models; i++)
        known |= strcmp(it->models[i], model) == 0;
    return known;
}

static const char *options_text(proxy *p, const ramet_agent *a)
{
    const serve *v = SERVE(p);
    const client_agent *it = agent_find(v, name_of(p, a));
    buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < v->n_agents; i++)
        value_put(p, &b, v->agents[i].name);
    const char *agent = select_text(p, "agent", "Agent", "mode", name_of(p, a), &b), *model = NULL;
    if (it && it->model) {
        const char *now = a->model ? a->model : it->model;
        buf_clear(&b);
        value_put(p, &b, it->model);
        for (size_t i = 0; i < it->n_models; i++)
            if (strcmp(it->models[i], it->model) != 0)
                value_put(p, &b, it->models[i]);
        if (!model_known(it, now))
            value_put(p, &b, now);
        model = select_text(p, "model", "Model", "model", now, &b);
    }
    buf_release(&b);
    return arena_printf(p->mem, "[%s%s%s]", agent, model ? "," : "", model ? model : "");
}

const char *setup_text(proxy *p, const char *outer, const ramet_agent *a)
{
    const char *modes = modes_text(p, a), *options = options_text(p, a);
    session *s = session_outer(p, outer);
    if (s) {
        session_put_text(&s->modes, modes);
        session_put_text(&s->config, options);
    }
    return arena_printf(p->mem, "{%s%s%s\"modes\":%s,\"configOptions\":%s}",
                        outer ? "\"sessionId\":" : "", outer ? json_quote(p->mem, outer) : "",
                        outer ? "," : "", modes, options);
}

void settings_send(proxy *p, session *s, const ramet_agent *a)
{
    const char *modes = modes_text(p, a), *options = options_text(p, a);
    if (s->modes && strcmp(s->modes, modes) != 0)
        editor_update(p, s->outer,
                      arena_printf(p->mem,
                                   "{\"sessionUpdate\":\"current_mode_update\","
                                   "\"currentModeId\":%s}",
                                   json_quote(p->mem, name_of(p, a))));
    if (s->config && strcmp(s->config, options) != 0)
        editor_update(p, s->outer,
                      arena_printf(p->mem,
                                   "{\"sessionUpdate\":\"config_option_update\","
                                   "\"configOptions\":%s}",
                                   options));
    session_put_text(&s->modes, modes);
    session_put_text(&s->config, options);
}

/* ------------------------------------------------------------------ what is chosen */

/* Sets one of them; NULL: it was refused, and answered. */
static const ramet_session *choose(proxy *p, const message *m, const char *agent, const char *model)
{
    ramet_session *r;
    ramet_status rc =
        m->session ? p->lib->ramet_session_get(p->call, m->session, &r) : RAMET_SESSION_NOT_FOUND;
    if (rc == RAMET_OK) {
        ramet_agent now = r->agent;
        const client_agent *it = agent_find(SERVE(p), agent ? agent : name_of(p, &r->agent));
        if (!it || (model && (!it->model || !model_known(it, model)))) {
            editor_error(p, m->id_raw, JSONRPC_PARAMS, "the option has no such value", NULL);
            return NULL;
        }
        if (model)
            now.model = model;
        else if (strcmp(name_of(p, &now), agent) != 0) /* other settings do not apply */
            now = (ramet_agent){.name = agent, .folder = r->agent.folder};
        ramet_session_patch patch = {.agent = &now};
        rc = p->lib->ramet_session_update(p->call, m->session, &patch, &r);
    }
    if (rc == RAMET_OK)
        return r;
    serve_refuse(p, m, rc);
    return NULL;
}

void mode_take(proxy *p, const message *m)
{
    const char *mode = message_text(m, m->params, "modeId");
    if (!mode || !agent_find(SERVE(p), mode)) {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "modeId names no mode", NULL);
        return;
    }
    const ramet_session *r = choose(p, m, mode, NULL);
    session *s = session_outer(p, m->session);
    if (!r)
        return;
    if (s)
        settings_send(p, s, &r->agent);
    editor_answer(p, m->id_raw, "{}");
}

void option_take(proxy *p, const message *m)
{
    const char *id = message_text(m, m->params, "configId");
    const char *value = message_text(m, m->params, "value");
    bool agent = id && strcmp(id, "agent") == 0, model = id && strcmp(id, "model") == 0;
    if ((!agent && !model) || !value) {
        editor_error(p, m->id_raw, JSONRPC_PARAMS, "no such option, or it has no value", NULL);
        return;
    }
    const ramet_session *r = choose(p, m, agent ? value : NULL, model ? value : NULL);
    session *s = session_outer(p, m->session);
    if (!r)
        return;
    const char *options = options_text(p, &r->agent);
    if (s) {
        session_put_text(&s->config, options); /* the answer contains it */
        settings_send(p, s, &r->agent);
    }
    editor_answer(p, m->id_raw, arena_printf(p->mem, "{\"configOptions\":%s}", options));
}

/* ------------------------------------------------------------------ the context */

void usage_send(proxy *p, const run *r, const ramet_agent *a)
{
    const client_agent *it = agent_find(SERVE(p), name_of(p, a));
    ramet_usage_out sum;
    const char *cost = "";
    if (!it || !it->context || !r->used)
        return;
    if (p->lib->ramet_usage_get(p->call, r->session, &sum) == RAMET_OK && sum.own.n_money)
        cost = arena_printf(p->mem, ",\"cost\":{\"amount\":%.9f,\"currency\":%s}",
                            (double)sum.own.money[0].cost / 1e9,
                            json_quote(p->mem, sum.own.money[0].currency));
    editor_update(p, r->session,
                  arena_printf(p->mem,
                               "{\"sessionUpdate\":\"usage_update\",\"used\":%lld,\"size\":"
                               "%lld%s}",
                               (long long)r->used, (long long)it->context, cost));
}
