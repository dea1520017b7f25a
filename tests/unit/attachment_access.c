/* SPDX-License-Identifier: Apache-2.0
 *
 * attachment_access.c: who may read an attachment, against the plain rule: whoever can read an
 * entry that refers to it, on any branch of any session that he can open.
 */
#include "attach.h"

#include <stdio.h>
#include <stdlib.h>

TestSuite(attachment_access, .init = scratch_open, .fini = scratch_close);

#define SESSIONS 14
#define FILES 12

static const char *const users[] = {"ann", "bob", "cat", "eve"};
#define USERS (sizeof users / sizeof *users)

static unsigned seed;
static ramet_call *calls[USERS];
static int yes, no;

static int dice(int n)
{
    seed = seed * 1103515245u + 12345u;
    return (int)(seed >> 16) % n;
}

/* Some entry on the path, or NULL. */
static const char *some_entry(ramet_call *c, const char *session)
{
    ramet_page page;
    if (ramet_read(c, session, &(ramet_read_in){.limit = 1000}, &page) != RAMET_OK || !page.n)
        return NULL;
    return page.entries[dice((int)page.n)].id;
}

static void some_step(int *n, char names[][16], const char *const *made, int n_made)
{
    char *session = names[dice(*n)];
    ramet_session *s;
    ramet_append_out out;
    const char *at = some_entry(T.call, session);
    ramet_move_in move = {.at = {at, dice(2) ? RAMET_AFTER : RAMET_BEFORE}};
    tick(SECOND);
    switch (dice(6)) {
    case 0:
    case 1: {
        char parts[200];
        snprintf(parts, sizeof parts, "[{\"type\":\"file\",\"attachment_id\":\"%s\"}]",
                 made[dice(n_made)]);
        ramet_entry_in in = {.role = RAMET_USER, .parts = parts};
        ramet_append(T.call, session, &(ramet_append_in){.entries = &in, .n = 1}, &out);
        break;
    }
    case 2:
        if (at)
            ramet_rewind(T.call, session, &move, &s, NULL);
        break;
    case 3: {
        ramet_call *c = calls[dice(USERS)];
        ramet_fork_in in = {.at = {at, RAMET_AFTER},
                            .visibility = dice(3) ? RAMET_PRIVATE : RAMET_TREE_VISIBLE};
        if (*n == SESSIONS)
            break;
        snprintf(names[*n], 16, "f%d", *n);
        in.id = names[*n];
        *n += ramet_fork(c, session, &in, &s, NULL) == RAMET_OK;
        break;
    }
    case 4: {
        ramet_delete_out gone;
        if (*n > 4 && !dice(3))
            ramet_session_delete(T.call, session, false, false, &gone);
        break;
    }
    default: {
        ramet_entry_in in = {.role = RAMET_USER, .text = "words"};
        ramet_append(T.call, session, &(ramet_append_in){.entries = &in, .n = 1}, &out);
    }
    }
}

/* By reading every branch of every session that the user can open. */
static bool found(ramet_call *c, char names[][16], int n, int64_t branches, const char *id)
{
    for (int i = 0; i < n; i++)
        for (int64_t b = 1; b <= branches; b++) {
            ramet_page page;
            ramet_read_in in = {.limit = 1000, .branch = b};
            if (ramet_read(c, names[i], &in, &page) != RAMET_OK)
                continue;
            for (size_t k = 0; k < page.n; k++)
                if (strstr(page.entries[k].parts, id))
                    return true;
        }
    return false;
}

static void round_of(unsigned number)
{
    char names[SESSIONS][16] = {"s"};
    const char *made[FILES];
    int n = 1;
    seed = number;
    make("s");
    join("s", "bob", RAMET_WRITER);
    join("s", "cat", RAMET_READER);
    for (size_t u = 0; u < USERS; u++)
        calls[u] = as(users[u]);
    for (int i = 0; i < FILES; i++)
        made[i] = upload(T.call, "x");
    for (int i = 0; i < 80; i++)
        some_step(&n, names, made, FILES);
    if (dice(2))
        ramet_member_remove(T.call, "s", "cat");
    int64_t branches = sql_number("SELECT max(id) FROM branch");
    for (size_t u = 0; u < USERS; u++)
        for (int i = 0; i < FILES; i++) {
            ramet_attachment *a;
            bool may = ramet_attachment_get(calls[u], made[i], &a) == RAMET_OK;
            cr_assert_eq(may, found(calls[u], names, n, branches, made[i]),
                         "round %u: %s %s read attachment %d", number, users[u],
                         may ? "may" : "may not", i);
            yes += may;
            no += !may;
            ramet_call_reset(calls[u]);
        }
    sound();
}

Test(attachment_access, is_that_of_the_entries)
{
    for (unsigned i = 1; i <= 8; i++) {
        round_of(i);
        scratch_close();
        attach_forget();
        scratch_open();
    }
    cr_assert(yes > 100 && no > 100, "%d yes, %d no", yes, no);
}
