/* SPDX-License-Identifier: Apache-2.0
 *
 * A chat of another program, and 100 copies of it as that program makes them for its forks: what
 * both take in the store.
 */
#include "bench/suite.h"
#include "base/json.h"
#include "ramet/foreign.h"

#include <stdio.h>
#include <string.h>

#define MESSAGES 1000
#define COPIES 100

/* Transcripts of Claude Code: the chat, and copies of it under new ids. */
static void transcripts_write(buf *out, int copies)
{
    char text[ENTRY_BYTES + 1];
    arena *a = arena_new();
    for (int k = 0; k <= copies; k++) {
        words w = {11};
        for (int i = 0; i < MESSAGES; i++) {
            const char *role = i % 2 ? "assistant" : "user";
            words_fill(&w, text, ENTRY_BYTES);
            buf_printf(out, "{\"type\":\"%s\",\"sessionId\":\"chat-%d\",\"uuid\":\"%d-%d\",", role,
                       k, k, i);
            if (i)
                buf_printf(out, "\"parentUuid\":\"%d-%d\",", k, i - 1);
            buf_printf(
                out,
                "\"timestamp\":\"2026-03-01T%02d:%02d:%02d.000Z\",\"message\":{\"role\":\"%s\","
                "\"content\":%s}}\n",
                i / 3600, i / 60 % 60, i % 60, role, json_quote(a, text));
            arena_reset(a);
        }
    }
    arena_free(a);
}

/* The size of a store that has the chat and its copies. */
static int64_t stored_bytes(bench *b, int copies, double *seconds, ramet_import_out *out)
{
    const char *name = "foreign.db";
    ramet_import *m;
    buf in;
    buf_init(&in, (size_t)1 << 30);
    transcripts_write(&in, copies);
    ramet *store = scratch_open(b, name);
    ramet_call *c = scratch_call(store);
    double began = now_us();
    must(c, ramet_import_begin(c, NULL, 0, &m), "import");
    must(c, ramet_import_add(m, in.data, in.n), "import");
    must(c, ramet_import_foreign(m, "claude-code", NULL, NULL, out), "import");
    *seconds = (now_us() - began) / 1e6;
    ramet_import_close(m);
    ramet_call_free(c);
    ramet_close(store);
    buf_release(&in);
    int64_t bytes = file_bytes(scratch_path(b, name));
    file_remove(scratch_path(b, name));
    return bytes;
}

void case_foreign(bench *b)
{
    ramet_import_out out;
    double one_seconds, seconds;
    bench_note("importing a chat with %d copied forks", COPIES);
    int64_t one = stored_bytes(b, 0, &one_seconds, &out);
    int64_t all = stored_bytes(b, COPIES, &seconds, &out);
    if (out.forks_added != COPIES || out.entries_added != MESSAGES)
        bench_die("%lld forks and %lld entries were added", (long long)out.forks_added,
                  (long long)out.entries_added);
    report_row(
        b, "foreign", "a chat with 100 copied forks imported, against the chat alone",
        (double)all / (double)one, "×", BAR_MOST, 1.1,
        "%d messages of %d bytes: %.0f KiB, with the forks %.0f KiB; %.0f MiB of files in %.1f s",
        MESSAGES, ENTRY_BYTES, (double)one / 1024, (double)all / 1024,
        (double)(COPIES + 1) * MESSAGES * (ENTRY_BYTES + 170) / 1048576, seconds);
}
