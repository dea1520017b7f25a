/* SPDX-License-Identifier: Apache-2.0
 *
 * serve.c: `ramet serve` collects the settings and runs the server; `ramet help --settings` lists
 * them.
 */
#include "cli/commands.h"
#include "cli/help.h"

#include "server/server.h"

#include <string.h>

/* The last value of a flag counts, as for every option; for a list, all do. */
static int flags_read(cli *c, server_config *cfg)
{
    char message[CONFIG_MESSAGE];
    for (const server_setting *s = server_settings; s->name || s->part; s++) {
        size_t n = 0;
        const char *const *values = s->name ? opt_list(c, s->name, &n) : NULL;
        for (size_t i = s->kind == SETTING_LIST || !n ? 0 : n - 1; i < n; i++)
            if (!config_set(cfg, c->mem, s->name, values[i], message))
                return cli_error(c, RAMET_INVALID, s->name, "--%s", message);
    }
    return -1;
}

int cmd_serve(cli *c)
{
    server_config cfg;
    ramet_error err;
    char message[CONFIG_MESSAGE];
    const char *file = opt_text(c, "config");
    config_defaults(&cfg);
    if (file && !config_read(&cfg, c->mem, file, message))
        return cli_error(c, RAMET_INVALID, "config", "%s", message);
    int code = flags_read(c, &cfg);
    if (code >= 0)
        return code;
    return server_run(&cfg, &err) == RAMET_OK ? 0 : cli_report(c, &err);
}

int help_settings(cli *c)
{
    buf text;
    (void)c;
    buf_init(&text, 1 << 20);
    config_markdown(&text);
    fputs(text.data, stdout);
    buf_release(&text);
    return 0;
}
