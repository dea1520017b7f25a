/* SPDX-License-Identifier: Apache-2.0
 *
 * export.c: `ramet export` writes conversations to a file, `ramet import` takes them back.
 */
#include "cli/commands.h"
#include "cli/render.h"
#include "cli/term.h"

#include "base/util.h"
#include "form/native.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The call of an administrator: of the program itself, or of a user whom the server knows as one.
 */
static ramet_call *store_call(cli *c)
{
    return lib == &client_local ? lib->ramet_call_new(c->store, NULL, "ramet-cli") : c->call;
}

static void store_call_end(const cli *c, ramet_call *call)
{
    if (call != c->call)
        lib->ramet_call_free(call);
}

/* The errors of another call are this command's. */
static int failed(cli *c, ramet_call *call)
{
    int code = cli_report(c, lib->ramet_call_error(call));
    store_call_end(c, call);
    return code;
}

/* ------------------------------------------------------------------------ export */

static bool file_write(void *arg, const void *bytes, size_t n)
{
    FILE *f = arg;
    return fwrite(bytes, 1, n, f) == n;
}

static int format_of(cli *c, const char *path)
{
    const char *word = opt_text(c, "format"), *end = path ? strrchr(path, '.') : NULL;
    int named = end ? ramet_export_format_parse(end + 1) : -1;
    if (word)
        return ramet_export_format_parse(word);
    return named < 0 ? RAMET_EXPORT_JSONL : named;
}

static int branches_of(cli *c, ramet_export_in *in)
{
    const char *const *words = opt_list(c, "branch", &in->n_branches);
    int64_t *list = arena_array(c->mem, in->n_branches + 1, sizeof *list);
    for (size_t i = 0; i < in->n_branches; i++)
        if ((list[i] = ramet_branch_parse(words[i])) <= 0)
            return cli_error(c, RAMET_BRANCH_NOT_FOUND, "branch", "'%s' is no branch", words[i]);
    in->branches = list;
    return 0;
}

static void export_text(cli *c, const char *path, const ramet_export_out *out)
{
    if (c->quiet || !path)
        return;
    if (out->sessions)
        printf("exported %s, %s to %s (%s)\n", count_text(c, out->sessions, "session", "sessions"),
               count_text(c, out->entries, "entry", "entries"), text_cut(c, path, 0),
               bytes_text(c, out->bytes));
    else
        printf("exported to %s (%s)\n", text_cut(c, path, 0), bytes_text(c, out->bytes));
}

/* A file that is not whole is not left behind. */
static int export_end(cli *c, ramet_call *call, FILE *f, const char *path, ramet_status st)
{
    bool kept = fflush(f) == 0 && (!path || fsync(fileno(f)) == 0);
    int error = errno;
    if (path)
        kept = fclose(f) == 0 && kept;
    if (st == RAMET_OK && kept)
        return 0;
    if (path)
        unlink(path);
    if (!kept && (st == RAMET_OK || st == RAMET_STOP)) {
        store_call_end(c, call);
        return cli_error(c, RAMET_FULL, "output", "the export cannot be written: %s",
                         strerror(error));
    }
    return failed(c, call);
}

int cmd_export(cli *c)
{
    const char *path = opt_text(c, "output");
    bool all_users = opt_flag(c, "all-users");
    ramet_export_in in = {.tree = opt_flag(c, "tree"),
                          .with_adk = opt_flag(c, "with-adk"),
                          .path = opt_flag(c, "path"),
                          .context = opt_flag(c, "context")};
    ramet_export_out out;
    progress p;
    int code;
    const ramet_session *named = c->argc ? session_named(c, c->argv[0], &code) : NULL;
    if (c->argc && !named)
        return code;
    in.session = named ? named->id : NULL;
    if (all_users && in.session)
        return cli_error(c, RAMET_INVALID, "all-users", "--all-users takes no SESSION");
    if ((code = branches_of(c, &in)) != 0)
        return code;
    in.format = (ramet_export_format)format_of(c, path);
    int fd = path ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) : -1;
    if (path && fd < 0)
        return cli_error(c, RAMET_INVALID, "output", "%s cannot be made: %s", path,
                         strerror(errno));
    FILE *f = path ? fdopen(fd, "wb") : stdout;
    ramet_call *call = all_users ? store_call(c) : c->call;
    progress_begin(&p, c);
    p.bytes = lib != &client_local;
    ramet_status st =
        client_export(lib, call, &in, all_users, file_write, f, progress_step, &p, &out);
    progress_end(&p);
    code = export_end(c, call, f, path, st);
    if (code)
        return code;
    store_call_end(c, call);
    export_text(c, path, &out);
    return 0;
}

/* ------------------------------------------------------------------------ import */

/* A file that can be read from any place: what comes through a pipe is put into one, and a folder,
 * with `folders`, is packed into one. */
static int input_open(cli *c, const char *path, bool folders, int64_t *size)
{
    struct stat about;
    char part[1 << 16];
    bool piped = !path || strcmp(path, "-") == 0;
    if (folders && !piped && stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return folder_pack(c, path, size);
    int fd = piped ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0 || S_ISDIR(about.st_mode)) {
        cli_error(c, RAMET_INVALID, "file", "%s cannot be read: %s", path ? path : "-",
                  fd >= 0 ? "it is a folder" : strerror(errno));
        return -1;
    }
    if (!S_ISREG(about.st_mode)) {
        FILE *spool = tmpfile();
        ssize_t got = spool ? 1 : -1;
        while (got > 0 && (got = read(fd, part, sizeof part)) > 0)
            if (fwrite(part, 1, (size_t)got, spool) != (size_t)got)
                got = -1;
        if (got < 0 || fflush(spool) != 0 || fstat(fileno(spool), &about) != 0) {
            cli_error(c, RAMET_FULL, "file", "standard input cannot be kept: %s", strerror(errno));
            return -1;
        }
        fd = fileno(spool);
    }
    *size = about.st_size;
    return fd;
}

/* The same for the same file: a second try goes on with the first one's upload. */
static const char *upload_name(cli *c, int fd)
{
    struct stat about;
    uint8_t h[HASH_LEN];
    char hex[2 * HASH_LEN + 1];
    sha *s = sha_new();
    sha_begin(s);
    if (fstat(fd, &about) == 0) {
        int64_t marks[] = {(int64_t)about.st_dev, (int64_t)about.st_ino, (int64_t)about.st_size,
                           (int64_t)about.st_mtime};
        sha_add(s, marks, sizeof marks);
    }
    sha_end(s, h);
    sha_free(s);
    hex_encode(h, HASH_LEN, hex);
    return arena_printf(c->mem, "cli-%.32s", hex);
}

/* What was read, what was skipped and why, and the space saved. */
static void foreign_text(cli *c, const ramet_import_out *out)
{
    printf("read %s with %s\n", count_text(c, out->conversations, "conversation", "conversations"),
           count_text(c, out->messages, "message", "messages"));
    if (out->forks_added)
        printf("%s of others; %s shared, %s saved\n",
               count_text(c, out->forks_added, "session is a fork", "sessions are forks"),
               count_text(c, out->entries_shared, "message is", "messages are"),
               bytes_text(c, out->bytes_shared));
    for (size_t i = 0; i < out->n_skipped; i++) {
        const ramet_import_skip *s = &out->skipped[i];
        printf("skipped %lld: %s%s%s%s\n", (long long)s->count, text_cut(c, s->what, 0),
               *s->first ? " (first: " : "", text_cut(c, s->first, 0), *s->first ? ")" : "");
    }
}

int cmd_import(cli *c)
{
    client_import_in in = {.owners = opt_flag(c, "owners"), .from = opt_text(c, "from")};
    ramet_import_out out;
    progress p;
    if (in.from && in.owners)
        return cli_error(c, RAMET_INVALID, "owners",
                         "files of other programs have no owners of this store");
    in.fd = input_open(c, c->argc ? c->argv[0] : NULL, in.from != NULL, &in.size);
    if (in.fd < 0)
        return ramet_status_exit(RAMET_INVALID);
    in.upload = upload_name(c, in.fd);
    ramet_call *call = in.owners ? store_call(c) : c->call;
    progress_begin(&p, c);
    p.bytes = lib != &client_local;
    ramet_status st = client_import(lib, call, &in, progress_step, &p, &out);
    progress_end(&p);
    if (st != RAMET_OK)
        return failed(c, call);
    store_call_end(c, call);
    if (c->json) {
        form_write(json_begin(c), &form_import_report, &out, NULL);
        return json_end(c);
    }
    if (c->quiet)
        return 0;
    if (in.from)
        foreign_text(c, &out);
    printf("added %s with %s; %s there before\n",
           count_text(c, out.sessions_added, "session", "sessions"),
           count_text(c, out.entries_added, "entry", "entries"),
           count_text(c, out.sessions_known, "was", "were"));
    return 0;
}
