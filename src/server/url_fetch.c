/* SPDX-License-Identifier: Apache-2.0
 *
 * url_fetch.c: fetches files from URLs that clients name, and stores them as attachments.
 *
 * A client must not reach through this what only the server can: private, loopback and link-local
 * addresses are refused, unless the settings allow them. The check applies to the address that the
 * socket is about to connect to, for each connection and each redirect, so a name that resolves to
 * another address the second time does not get around it. No proxy is used: its connections could
 * not be checked here.
 */
#include "server/url_fetch.h"

#include "base/address.h"
#include "base/curl_setup.h"
#include "base/util.h"
#include "ramet/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { AT_ONCE = 8, MAX_WAITING = 256, CONNECT_MS = 10000, WHOLE_MS = 120000, REDIRECTS = 5 };

typedef struct errand {
    struct errand *next;
    url_fetch *fetcher;
    char *id, *url, *name, *media_type, *owner;
    int64_t life_us;
    ramet_call *call;
    ramet_upload *to;
    CURL *curl;
} errand;

struct url_fetch {
    const server_config *cfg;
    ramet *store;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    errand *first, **last;
    int waiting, running;
    bool stop;
};

/* ------------------------------------------------------------------- addresses */

static curl_socket_t socket_open(void *arg, curlsocktype purpose, struct curl_sockaddr *at)
{
    errand *e = arg;
    (void)purpose;
    if (address_is_private(&at->addr) && !e->fetcher->cfg->private_urls)
        return CURL_SOCKET_BAD;
    return socket(at->family, at->socktype | SOCK_CLOEXEC, at->protocol);
}

/* ------------------------------------------------------------------------- one */

static void errand_free(errand *e)
{
    ramet_upload_abort(e->to);
    ramet_call_free(e->call);
    if (e->curl)
        curl_easy_cleanup(e->curl);
    free(e->id);
    free(e->url);
    free(e->name);
    free(e->media_type);
    free(e->owner);
    free(e);
}

static bool stopping(url_fetch *b)
{
    pthread_mutex_lock(&b->lock);
    bool stop = b->stop;
    pthread_mutex_unlock(&b->lock);
    return stop;
}

static int progress(void *arg, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return stopping(((errand *)arg)->fetcher);
}

/* The upload begins with the first byte: the media type of the answer is not known earlier. */
static bool upload_begin(errand *e)
{
    char *type = NULL;
    curl_easy_getinfo(e->curl, CURLINFO_CONTENT_TYPE, &type);
    const char *given = *e->media_type ? e->media_type : type ? type : "application/octet-stream";
    ramet_upload_in in = {.name = e->name, .media_type = given, .id = e->id, .life_us = e->life_us};
    return ramet_upload_begin(e->call, &in, &e->to) == RAMET_OK;
}

static size_t body_take(char *p, size_t size, size_t n, void *arg)
{
    errand *e = arg;
    if (!e->to && !upload_begin(e))
        return 0;
    return ramet_upload_add(e->to, p, size * n) == RAMET_OK ? size * n : 0;
}

static bool errand_fetch(errand *e)
{
    long status = 0;
    curl_setup(e->curl, e->url, CONNECT_MS, WHOLE_MS, body_take, e);
    curl_easy_setopt(e->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(e->curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(e->curl, CURLOPT_MAXREDIRS, (long)REDIRECTS);
    curl_easy_setopt(e->curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(e->curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    curl_easy_setopt(e->curl, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    curl_easy_setopt(e->curl, CURLOPT_OPENSOCKETDATA, e);
    curl_easy_setopt(e->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(e->curl, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(e->curl, CURLOPT_XFERINFODATA, e);
    CURLcode rc = curl_easy_perform(e->curl);
    curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &status);
    return rc == CURLE_OK && status == 200 && (e->to || upload_begin(e));
}

static void errand_run(errand *e)
{
    ramet_attachment *a;
    e->call = ramet_call_new(e->fetcher->store, *e->owner ? e->owner : NULL, NULL);
    e->curl = curl_easy_init();
    bool got = e->curl && errand_fetch(e);
    if (got && ramet_upload_finish(e->to, &a) == RAMET_OK) {
        e->to = NULL;
        return;
    }
    if (!stopping(e->fetcher))
        ramet_fetch_fail(e->call, e->id);
}

static void *runner(void *arg)
{
    url_fetch *b = arg;
    pthread_mutex_lock(&b->lock);
    while (b->first && !b->stop) {
        errand *e = b->first;
        b->first = e->next;
        if (!b->first)
            b->last = &b->first;
        b->waiting--;
        pthread_mutex_unlock(&b->lock);
        errand_run(e);
        errand_free(e);
        pthread_mutex_lock(&b->lock);
    }
    b->running--;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* ---------------------------------------------------------------------- all of it */

url_fetch *url_fetch_new(const server_config *cfg, ramet *store)
{
    url_fetch *b = xcalloc(1, sizeof *b);
    b->cfg = cfg;
    b->store = store;
    b->last = &b->first;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    return b;
}

void url_fetch_start(url_fetch *b, const ramet_fetch *f)
{
    pthread_t thread;
    errand *e = xcalloc(1, sizeof *e);
    e->fetcher = b;
    e->id = xstrdup(f->id);
    e->url = xstrdup(f->url);
    e->name = xstrdup(f->name);
    e->media_type = xstrdup(f->media_type);
    e->owner = xstrdup(f->owner);
    e->life_us = f->expires - f->created;
    pthread_mutex_lock(&b->lock);
    bool room = b->waiting < MAX_WAITING && !b->stop;
    if (room) {
        *b->last = e;
        b->last = &e->next;
        b->waiting++;
        if (b->running < AT_ONCE && pthread_create(&thread, NULL, runner, b) == 0) {
            pthread_detach(thread);
            b->running++;
        }
    }
    pthread_mutex_unlock(&b->lock);
    if (room)
        return;
    e->call = ramet_call_new(b->store, NULL, NULL);
    ramet_fetch_fail(e->call, e->id);
    errand_free(e);
}

void url_fetch_free(url_fetch *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->lock);
    b->stop = true;
    while (b->running)
        pthread_cond_wait(&b->changed, &b->lock);
    pthread_mutex_unlock(&b->lock);
    while (b->first) {
        errand *e = b->first;
        b->first = e->next;
        errand_free(e);
    }
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
