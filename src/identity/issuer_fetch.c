/* SPDX-License-Identifier: Apache-2.0
 *
 * issuer_fetch.c: small requests to an issuer, bounded in time and size. Redirects are not
 * followed: only configured addresses are contacted.
 */
#include "identity/auth.h"

#include "base/curl_setup.h"
#include "base/util.h"

#include <string.h>
#include <strings.h>

#define CONNECT_MS 3000L
#define WHOLE_MS 5000L

bool fetch_is_url(const char *s)
{
    return strncasecmp(s, "https://", 8) == 0 || strncasecmp(s, "http://", 7) == 0;
}

bool fetch_run(fetch *f, buf *out, const char **why)
{
    buf_init(out, JWKS_BYTES);
    CURL *curl = curl_easy_init();
    if (!curl) {
        *why = "no request can be made";
        return false;
    }
    curl_setup(curl, f->url, CONNECT_MS, WHOLE_MS, curl_into_buf, out);
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE, (long)JWKS_BYTES);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "ramet/" RAMET_VERSION);
    if (f->form)
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, f->form);
    if (f->user) {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
        curl_easy_setopt(curl, CURLOPT_USERNAME, f->user);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, f->password);
    }
    CURLcode rc = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &f->status);
    curl_easy_cleanup(curl);
    if (out->over || rc == CURLE_FILESIZE_EXCEEDED)
        *why = "the answer is over 1 MiB";
    else if (rc != CURLE_OK)
        *why = curl_easy_strerror(rc); /* constant */
    else if (f->status != 200)
        *why = "the answer's status is not 200";
    else
        return true;
    return false;
}

const char *form_encode(arena *a, const char *s)
{
    buf out;
    buf_init(&out, 3 * strlen(s));
    buf_percent(&out, s, "-._~");
    return buf_keep(&out, a);
}

static const char *form_decode(arena *a, const char *s, size_t n)
{
    char *out = arena_alloc(a, n + 1), *to = out;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%') {
            int byte = n - i > 2 ? hex_pair(s + i + 1) : -1;
            if (byte <= 0) /* no digits, or a NUL */
                return NULL;
            *to++ = (char)byte;
            i += 2;
        } else {
            *to++ = s[i] == '+' ? ' ' : s[i];
        }
    }
    *to = 0;
    return out;
}

const char *form_value(arena *a, const char *form, const char *name)
{
    size_t len = strlen(name);
    for (const char *s = form; *s;) {
        size_t n = strcspn(s, "&");
        if (n > len && strncmp(s, name, len) == 0 && s[len] == '=')
            return form_decode(a, s + len + 1, n - len - 1);
        s += n + (s[n] == '&');
    }
    return NULL;
}
