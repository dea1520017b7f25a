/* SPDX-License-Identifier: Apache-2.0
 *
 * The tokenizer of both search indexes: that of FTS5, borrowed from a database in memory.
 */
#include "store/search/tokenizer.h"

#include "base/util.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>

struct tokenizer {
    fts5_tokenizer with;
    Fts5Tokenizer *tokenizer;
};

/* A database in memory whose FTS5 provides the tokenizer; lives as long as the process. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sqlite3 *lender;
static fts5_api *api;

static void lender_open(void)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_open_v2(":memory:", &lender, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL) ==
            SQLITE_OK &&
        sqlite3_prepare_v2(lender, "SELECT fts5(?1)", -1, &s, NULL) == SQLITE_OK) {
        sqlite3_bind_pointer(s, 1, (void *)&api, "fts5_api_ptr", NULL);
        sqlite3_step(s);
    }
    sqlite3_finalize(s);
}

tokenizer *tokenizer_new(void)
{
    static const char *args[] = {CUTTER_FOLD, CUTTER_FOLD_HOW};
    void *arg = NULL;
    pthread_once(&once, lender_open);
    tokenizer *c = xcalloc(1, sizeof *c);
    if (api && api->xFindTokenizer(api, CUTTER_NAME, &arg, &c->with) == SQLITE_OK &&
        c->with.xCreate(arg, args, 2, &c->tokenizer) == SQLITE_OK)
        return c;
    free(c);
    return NULL;
}

void tokenizer_free(tokenizer *c)
{
    if (!c)
        return;
    c->with.xDelete(c->tokenizer);
    free(c);
}

typedef struct run {
    tokenizer_word each;
    void *arg;
} run;

static int run_word(void *arg, int flags, const char *word, int len, int start, int end)
{
    const run *r = arg;
    (void)flags;
    r->each(r->arg, word, (size_t)len, (size_t)start, (size_t)end);
    return SQLITE_OK;
}

void tokenizer_run(tokenizer *c, const char *text, size_t len, tokenizer_word each, void *arg)
{
    run r = {each, arg};
    c->with.xTokenize(c->tokenizer, &r, FTS5_TOKENIZE_DOCUMENT, text, (int)len, run_word);
}
