/* SPDX-License-Identifier: Apache-2.0
 *
 * native.h: the JSON shapes of Ramet's own API, both ways.
 *
 * The command-line tool (--json) and the server write through these functions, so
 * that a program sees the same objects wherever it asks. Each writes one value.
 * Branch ids are "b17", times RFC 3339 with milliseconds, hashes lower-case hex,
 * money a decimal number; parts, bodies, metadata and states pass through as the
 * bytes that were stored.
 */
#ifndef FORM_NATIVE_H
#define FORM_NATIVE_H

#include "base/json.h"
#include "form/field.h"
#include "ramet.h"
#include "ramet/sandboxes.h"
#include "ramet/tokens.h"

extern const form_schema native_schemas[]; /* form/native_schema.c */

/* ---- writing */
void native_head(json_writer *w, const ramet_head *h);
void native_agent(json_writer *w, const ramet_agent *a); /* null when it has no name */
void native_session(json_writer *w, const ramet_session *s);
/* The same with what only some answers have; `more` may be NULL. */
typedef struct native_more {
    const ramet_cut *cut;       /* fork, rewind */
    const ramet_sync_out *sync; /* sync */
    /* Writes `running`; NULL: it is null. */
    void (*running)(void *arg, const ramet_session *s, json_writer *w);
    void *arg;
} native_more;
void native_session_more(json_writer *w, const ramet_session *s, const native_more *more);
/* A session as a fork or rewind answers it: with `cut`, where it really cut. */
void native_session_cut(json_writer *w, const ramet_session *s, const ramet_cut *cut);
void native_cut(json_writer *w, const ramet_cut *cut);
/* A session as a sync answers it: with `sync`, what it did. */
void native_session_sync(json_writer *w, const ramet_sync_out *done);
void native_entry(json_writer *w, const ramet_entry *e);
void native_turn(json_writer *w, const ramet_turn *t);
void native_usage(json_writer *w, const ramet_usage *u); /* NULL writes null */
/* A sum has the members of a usage, `entries`, and `costs` by currency; `cost` and
 * `currency` are null when there is more than one. */
void native_usage_sum(json_writer *w, const ramet_usage_sum *u);
void native_usage_out(json_writer *w, const ramet_usage_out *u);
void native_move(json_writer *w, const ramet_move *m);
void native_version(json_writer *w, const ramet_version *v);
void native_branch(json_writer *w, const ramet_branch *b);
void native_tags(json_writer *w, const ramet_tags *t); /* {"tags": […]} */
void native_member(json_writer *w, const ramet_member *m);
void native_deleted(json_writer *w, const ramet_delete_out *d);
/* `token` only when it was just made; the same for the `secret` of a token. */
void native_share(json_writer *w, const ramet_share *s);
void native_token(json_writer *w, const ramet_token *t);
void native_sandbox(json_writer *w, const ramet_sandbox *b);
/* Beside the counts the shares of the active users who forked, and who switched, from 0 to 1. */
void native_activity(json_writer *w, const ramet_activity *a);
void native_compare(json_writer *w, const ramet_compare_out *c);
void native_verdict(json_writer *w, const ramet_verdict *v);
/* `marks` of a hit count characters of `highlight`, not bytes. */
void native_hit(json_writer *w, const ramet_hit *h);
void native_fsck(json_writer *w, const ramet_fsck_out *f);
void native_gc(json_writer *w, const ramet_gc_out *g);
void native_stats(json_writer *w, const ramet_stats *s);
/* {"code", "error", "field"?, "head"?}; and its members alone */
void native_error(json_writer *w, const ramet_error *e);
void native_error_fields(json_writer *w, const ramet_error *e);
/* key and value at once */
void native_ktime(json_writer *w, const char *key, int64_t us); /* 0 writes null */
void native_kbranch(json_writer *w, const char *key, int64_t branch);

/* ---- reading: false fills *err (status, message, field) */
bool native_entry_in(arena *a, const json_doc *d, const json_node *v, ramet_entry_in *out,
                     ramet_error *err);
/* {input, output, cached, cost, currency}, all optional. */
bool native_usage_in(arena *a, const json_doc *d, const json_node *v, ramet_usage *out,
                     ramet_error *err);
/* An object, or a string that is the name. */
bool native_agent_in(arena *a, const json_doc *d, const json_node *v, ramet_agent *out,
                     ramet_error *err);

#endif
