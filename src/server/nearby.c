/* SPDX-License-Identifier: Apache-2.0
 *
 * nearby.c: looks for model servers on this machine, at the ports where the usual programs listen,
 * so that the page can offer them. This only requests the list of models, and configures nothing.
 * The URLs are fixed, so no request can direct it elsewhere.
 */
#include "server/server.h"

#include "base/curl_setup.h"
#include "base/json.h"

#include <string.h>

enum {
    N_SERVERS = 4,
    LOOK_MS = 700,
    ANSWER_MAX_BYTES = 256 << 10,
    MODELS_MAX = 32,
    DEPTH_MAX = 16
};

static const struct {
    const char *name, *url;
} servers[N_SERVERS] = {
    {"Ollama", "http://127.0.0.1:11434/v1"},
    {"llama.cpp", "http://127.0.0.1:8080/v1"},
    {"LM Studio", "http://127.0.0.1:1234/v1"},
    {"vLLM", "http://127.0.0.1:8000/v1"},
};

typedef struct look {
    CURL *curl;
    buf body;
} look;

static void look_begin(look *l, CURLM *all, arena *a, const char *url)
{
    buf_init(&l->body, ANSWER_MAX_BYTES);
    l->curl = curl_easy_init();
    if (!l->curl)
        return;
    curl_setup(l->curl, arena_printf(a, "%s/models", url), LOOK_MS, LOOK_MS, curl_into_buf,
               &l->body);
    curl_easy_setopt(l->curl, CURLOPT_PROTOCOLS_STR, "http");
    curl_easy_setopt(l->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(l->curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_multi_add_handle(all, l->curl);
}

/* Each transfer has its own time limit, so this ends. */
static void looks_run(CURLM *all)
{
    int running = 1;
    while (running) {
        if (curl_multi_perform(all, &running) != CURLM_OK)
            return;
        if (running && curl_multi_poll(all, NULL, 0, LOOK_MS, NULL) != CURLM_OK)
            return;
    }
}

/* {"data": [{"id": "llama3.2"}, …]}: the answer of every such server. */
static void look_write(const look *l, arena *a, size_t at, json_writer *w)
{
    json_doc doc;
    long status = 0;
    curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200 || l->body.over ||
        !json_parse(a, l->body.data, l->body.n, DEPTH_MAX, &doc, NULL))
        return;
    const json_node *list = json_get(&doc, &doc.nodes[0], "data");
    if (!json_is(list, JSON_ARRAY))
        return;
    jw_object(w);
    jw_kstr(w, "name", servers[at].name);
    jw_kstr(w, "url", servers[at].url);
    jw_key(w, "models");
    jw_array(w);
    size_t n = 0;
    for (const json_node *v = json_first(&doc, list); v; v = json_next(&doc, list, v)) {
        const char *id = json_text(a, &doc, json_get(&doc, v, "id"));
        if (id && n++ < MODELS_MAX)
            jw_str(w, id);
    }
    jw_end_array(w);
    jw_end_object(w);
}

void nearby_write(arena *a, json_writer *w)
{
    look looks[N_SERVERS] = {0};
    CURLM *all = curl_multi_init();
    jw_array(w);
    for (size_t i = 0; all && i < N_SERVERS; i++)
        look_begin(&looks[i], all, a, servers[i].url);
    if (all)
        looks_run(all);
    for (size_t i = 0; all && i < N_SERVERS; i++) {
        if (looks[i].curl) {
            look_write(&looks[i], a, i, w);
            curl_multi_remove_handle(all, looks[i].curl);
            curl_easy_cleanup(looks[i].curl);
        }
        buf_release(&looks[i].body);
    }
    curl_multi_cleanup(all);
    jw_end_array(w);
}

bool nearby_is(const char *url)
{
    for (size_t i = 0; i < N_SERVERS; i++)
        if (strcmp(servers[i].url, url) == 0)
            return true;
    return false;
}
