/* SPDX-License-Identifier: Apache-2.0
 *
 * env.c: the environment of programs and of the commands they run.
 *
 * The server's own environment may contain secrets (keys of other agents, the URL of the database),
 * so only variables that describe the user and the system are passed on, plus those named in the
 * agent's configuration.
 */
#include "agent/acp/acp.h"

#include "base/words.h"

#include <string.h>
#include <unistd.h>

static const char *const ordinary[] = {
    "PATH",         "HOME",          "USER", "LOGNAME", "SHELL",     "LANG",
    "LANGUAGE",     "LC_*",          "TZ",   "TERM",    "COLORTERM", "NO_COLOR",
    "TMPDIR",       "TMP",           "TEMP", "XDG_*",   "HOSTNAME",  "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_DIR", "SSL_CERT_FILE", NULL};

/* Whether a pattern of n bytes matches the variable NAME=VALUE. */
static bool name_fits(const char *pattern, size_t n, const char *variable)
{
    size_t name = strcspn(variable, "=");
    if (n && pattern[n - 1] == '*')
        return name >= n - 1 && strncmp(pattern, variable, n - 1) == 0;
    return name == n && strncmp(pattern, variable, n) == 0;
}

static bool passed_on(const char *variable, const char *names)
{
    for (size_t i = 0; ordinary[i]; i++)
        if (name_fits(ordinary[i], strlen(ordinary[i]), variable))
            return true;
    size_t n;
    for (const char *name; (name = word_next(&names, " \t", &n));)
        if (name_fits(name, n, variable))
            return true;
    return false;
}

/* Whether it is a variable name, optionally followed by *. */
static bool name_valid(const char *s, size_t n)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t fine = strspn(s, letters);
    if (fine < n && s[fine] == '*')
        fine++;
    return fine >= n && n > 0 && s[0] != '*' && !(s[0] >= '0' && s[0] <= '9');
}

char **env_make(arena *a, const char *names, const char **wrong)
{
    size_t all = 0, out_n = 0;
    const char *list = names;
    size_t n;
    for (const char *s; (s = word_next(&list, " \t", &n));)
        if (!name_valid(s, n)) {
            *wrong = arena_memdup(a, s, n);
            return NULL;
        }
    while (environ[all])
        all++;
    char **out = arena_array(a, all + 1, sizeof *out);
    for (size_t i = 0; i < all; i++)
        if (passed_on(environ[i], names))
            out[out_n++] = arena_strdup(a, environ[i]);
    return out;
}

char **env_join(arena *a, char *const *base, char *const *more, size_t n)
{
    size_t all = 0;
    while (base[all])
        all++;
    char **out = arena_array(a, all + n + 1, sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[i] = more[i];
    size_t out_n = n;
    for (size_t i = 0; i < all; i++) {
        bool replaced = false;
        for (size_t j = 0; j < n; j++)
            replaced |= strncmp(more[j], base[i], strcspn(base[i], "=") + 1) == 0;
        if (!replaced)
            out[out_n++] = base[i];
    }
    return out;
}
