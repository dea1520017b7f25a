/* SPDX-License-Identifier: Apache-2.0
 *
 * copy.c: `ramet copy` copies a store to another place, or engine.
 */
#include "cli/commands.h"
#include "cli/render.h"

#include "base/util.h"

static void copy_json(cli *c, const ramet_copy_out *out, bool verify)
{
    json_writer *w = json_begin(c);
    jw_object(w);
    jw_kbool(w, "verify_only", verify);
    jw_kbool(w, "resumed", out->resumed);
    jw_kint(w, "trees", out->trees);
    jw_kint(w, "entries", out->entries);
    jw_kint(w, "attachments", out->attachments);
    jw_kint(w, "written", out->written);
    jw_kint(w, "removed", out->removed);
    jw_kint(w, "passes", out->passes);
    jw_kint(w, "behind", out->behind);
    jw_kstr(w, "source_digest", out->source_digest);
    jw_kstr(w, "target_digest", out->target_digest);
    jw_kint(w, "n_faults", out->n_all);
    jw_key(w, "faults");
    jw_array(w);
    for (size_t i = 0; i < out->n; i++) {
        jw_object(w);
        jw_kstr(w, "table", out->faults[i].table);
        jw_kstr(w, "key", out->faults[i].key);
        jw_kstr(w, "what", out->faults[i].what);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
    json_end(c);
}

static void copy_text(cli *c, const ramet_copy_out *out, bool verify, int64_t us)
{
    for (size_t i = 0; i < out->n; i++)
        printf("%s%s%s %s\n", st(c, ST_WARN), gl(c, G_CROSS), st(c, ST_OFF),
               text_cut(c, out->faults[i].what, 0));
    if (out->n_all > (int64_t)out->n)
        printf("and %s more\n", number_text(c, out->n_all - (int64_t)out->n));
    if (c->quiet)
        return;
    printf("%s%s%s ", st(c, out->n_all ? ST_WARN : ST_HERE), gl(c, out->n_all ? G_CROSS : G_CHECK),
           st(c, ST_OFF));
    if (verify)
        printf("compared %s, %s, %s: ", count_text(c, out->trees, "tree", "trees"),
               count_text(c, out->entries, "entry", "entries"),
               count_text(c, out->attachments, "attachment", "attachments"));
    else
        printf("%s%s written, %s removed, %s copied: ", out->resumed ? "went on; " : "",
               count_text(c, out->written, "row", "rows"), number_text(c, out->removed),
               count_text(c, out->attachments, "attachment", "attachments"));
    printf("%s in %s\n", out->n_all ? count_text(c, out->n_all, "fault", "faults") : "no faults",
           span_text(c, us));
}

static int copy_do(cli *c, const char *to)
{
    ramet_copy_in in = {.verify_only = opt_flag(c, "verify-only")};
    ramet_copy_out out;
    progress p;
    int64_t began = time_mono_us();
    progress_begin(&p, c);
    ramet_status status = ramet_copy(c->call, to, &in, progress_step, &p, &out);
    progress_end(&p);
    if (status != RAMET_OK && status != RAMET_BEHIND)
        return cli_fail(c);
    if (c->json)
        copy_json(c, &out, in.verify_only);
    else
        copy_text(c, &out, in.verify_only, time_mono_us() - began);
    if (out.n_all)
        return ramet_status_exit(RAMET_DAMAGED);
    return status == RAMET_BEHIND ? cli_fail(c) : 0;
}

int cmd_copy(cli *c)
{
    const char *from = opt_text(c, "from"), *to = opt_text(c, "to");
    ramet_options options = {.must_exist = true};
    ramet_error error;
    if (!from || !to)
        return cli_error(c, RAMET_INVALID, from ? "to" : "from",
                         "a copy needs --from STORE and --to STORE");
    if (ramet_open(from, &options, &c->store, &error) != RAMET_OK)
        return cli_report(c, &error);
    /* The store and its calls are closed with the command. */
    c->call = ramet_call_new(c->store, NULL, "ramet-cli");
    c->walk = ramet_call_new(c->store, NULL, "ramet-cli");
    return copy_do(c, to);
}
