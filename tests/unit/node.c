/* SPDX-License-Identifier: Apache-2.0
 *
 * Servers on one database: what one tells, the others hear in its place.
 */
#include "help.h"
#include "ramet/nodes.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, MESSAGES = 100, BYTES = 3000, PATIENCE_MS = 20000 };

TestSuite(node, .init = scratch_open, .fini = scratch_close);

static atomic_int heard;
static atomic_bool begun;

static void rest_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* Slower than an append is. */
static void hear(void *arg, const char *text, size_t n)
{
    (void)arg;
    rest_ms(1);
    if (text && n == BYTES)
        heard++;
    begun = true;
}

static ramet *listener_open(void)
{
    ramet *other;
    ramet_options o = scratch_options();
    cr_assert_eq(ramet_open(T.path, &o, &other, NULL), RAMET_OK);
    cr_assert(ramet_hear(other, hear, NULL));
    for (int i = 0; !begun && i < PATIENCE_MS; i++)
        rest_ms(1);
    cr_assert(begun, "it does not listen");
    return other;
}

Test(node, what_was_told_is_heard_before_what_is_committed_after_it)
{
    static char text[BYTES + 1];
    memset(text, 'x', BYTES);
    make("s");
    ramet *other = listener_open();
    for (int i = 1; i <= ROUNDS; i++) {
        for (int k = 0; k < MESSAGES; k++)
            ramet_tell(T.store, text, BYTES);
        ramet_tell_settle(T.store, PATIENCE_MS);
        answer("s", NULL, "and then");
        ramet_hear_upto(other, ramet_event_last(T.store), PATIENCE_MS);
        cr_assert_eq(heard, i * MESSAGES);
    }
    ramet_close(other);
}
