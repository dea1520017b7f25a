/* SPDX-License-Identifier: Apache-2.0 */
#include "base/words.h"

#include <string.h>
#include <strings.h>

const char *word_next(const char **list, const char *separators, size_t *n)
{
    if (!*list)
        return NULL;
    const char *word = *list + strspn(*list, separators);
    *n = strcspn(word, separators);
    *list = word + *n;
    return *n ? word : NULL;
}

static bool has(const char *list, const char *separators, const char *word,
                int (*compare)(const char *, const char *, size_t))
{
    size_t len = strlen(word), n;
    for (const char *at; (at = word_next(&list, separators, &n));)
        if (n == len && compare(at, word, n) == 0)
            return true;
    return false;
}

bool word_in(const char *list, const char *separators, const char *word)
{
    return has(list, separators, word, strncmp);
}

bool word_in_any_case(const char *list, const char *separators, const char *word)
{
    return has(list, separators, word, strncasecmp);
}
