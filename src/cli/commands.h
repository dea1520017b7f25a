/* SPDX-License-Identifier: Apache-2.0
 *
 * commands.h: the functions behind the table, one per subcommand; each returns the exit code.
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/cli.h"
#include "ramet/branches.h"

int cmd_new(cli *c);
int cmd_append(cli *c);
int cmd_edit(cli *c);
int cmd_regenerate(cli *c);
int cmd_sync(cli *c);
int cmd_list(cli *c);
int cmd_log(cli *c);
int cmd_show(cli *c);
int cmd_tree(cli *c);
int cmd_branches(cli *c);
int cmd_branch(cli *c);
int cmd_prune(cli *c);
int cmd_moves(cli *c);
int cmd_record(cli *c);
int cmd_state(cli *c);
int cmd_usage(cli *c);
int cmd_suggest(cli *c);
int cmd_fork(cli *c);
int cmd_rewind(cli *c);
int cmd_undo(cli *c);
int cmd_redo(cli *c);
int cmd_switch(cli *c);
int cmd_merge(cli *c);
int cmd_hide(cli *c);
int cmd_replace(cli *c);
int cmd_reveal(cli *c);
int cmd_overlays(cli *c);
int cmd_diff(cli *c);
int cmd_verdict(cli *c);
int cmd_search(cli *c);
int cmd_set(cli *c);
int cmd_tag(cli *c);
int cmd_members(cli *c);
int cmd_sandbox(cli *c);
int cmd_template(cli *c);
int cmd_share(cli *c);
int cmd_shares(cli *c);
int cmd_unshare(cli *c);
int cmd_promote(cli *c);
int cmd_rm(cli *c);
int cmd_restore(cli *c);
int cmd_hold(cli *c);
int cmd_release(cli *c);
int cmd_holds(cli *c);
int cmd_retention(cli *c);
int cmd_erase(cli *c);
int cmd_serve(cli *c);
int cmd_chat(cli *c);
int cmd_acp(cli *c);
int cmd_fsck(cli *c);
int cmd_gc(cli *c);
int cmd_backup(cli *c);
int cmd_copy(cli *c);
int cmd_export(cli *c);
int cmd_import(cli *c);
/* A folder as a tar archive, in a file without a name; -1: an error was reported. */
int folder_pack(cli *c, const char *path, int64_t *size);
int cmd_stat(cli *c);
int cmd_reindex(cli *c);
int cmd_token(cli *c);
int cmd_schema(cli *c);
int cmd_help(cli *c);
int cmd_completion(cli *c);
int cmd_version(cli *c);
int cmd_complete(cli *c);

/* What a prune or a restore of branches did. */
int pruned_answer(cli *c, const char *done, const ramet_prune_out *out);

#endif
