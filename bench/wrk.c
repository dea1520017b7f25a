/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs wrk (wrk.h).
 */
#include "bench/wrk.h"

#include <stdlib.h>
#include <string.h>

wrk wrk_start(const bench *b, const char *url, const char *script, int connections)
{
    char command[2048];
    snprintf(command, sizeof command, "wrk -t1 -c%d -d%ds --latency %s%s '%s'", connections,
             b->quick ? 1 : 4, script ? "-s " : "", script ? script : "", url);
    return (wrk){url, popen(command, "r")};
}

static double in_ms(const char *text)
{
    char *unit;
    double v = strtod(text, &unit);
    return strncmp(unit, "us", 2) == 0 ? v / 1000 : unit[0] == 's' ? v * 1000 : v;
}

wrk_result wrk_end(wrk *w)
{
    char line[512], errors[512] = "";
    wrk_result r = {0};
    while (w->out && fgets(line, sizeof line, w->out)) {
        const char *p = line + strspn(line, " \t");
        if (strncmp(p, "Requests/sec:", 13) == 0)
            r.rate = strtod(p + 13, NULL);
        else if (strncmp(p, "50%", 3) == 0)
            r.p50_ms = in_ms(p + 3);
        else if (strncmp(p, "99%", 3) == 0)
            r.p99_ms = in_ms(p + 3);
        else if (strncmp(p, "Non-2xx", 7) == 0 || strncmp(p, "Socket errors", 13) == 0)
            snprintf(errors, sizeof errors, "%s", p);
    }
    if (!w->out || pclose(w->out) != 0 || r.rate <= 0)
        bench_die("wrk did not run; tools/setup bench installs it");
    if (*errors)
        bench_die("wrk reported errors at %s: %s", w->url, errors);
    return r;
}

wrk_result wrk_run(const bench *b, const char *url, const char *script, int connections)
{
    wrk w = wrk_start(b, url, script, connections);
    return wrk_end(&w);
}

static void file_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        bench_die("%s cannot be written", path);
}

void wrk_append_script(ramet *store, int n, const char *path)
{
    words w = {21};
    char text[ENTRY_BYTES + 1];
    buf s;
    buf_init(&s, 1 << 20);
    ramet_call *c = ramet_call_new(store, "local", "bench");
    buf_puts(&s, "local s = {");
    for (int i = 0; i < n; i++) {
        const char *id = scratch_session(c);
        buf_printf(&s, "%s'%s'", i ? "," : "", id);
        free((char *)id);
    }
    words_fill(&w, text, ENTRY_BYTES);
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    buf_printf(&s,
               "}\nlocal body = '{\"entries\":[{\"role\":\"user\",\"text\":\"%s\"}]}'\n"
               "local n = 0\nlocal h = {['Content-Type'] = 'application/json'}\n"
               "request = function()\n  n = n + 1\n  return wrk.format('POST', "
               "'/ramet/v1/sessions/' .. s[n %% #s + 1] .. '/entries', h, body)\nend\n",
               text);
    ramet_call_free(c);
    file_write(path, s.data);
    buf_release(&s);
}
