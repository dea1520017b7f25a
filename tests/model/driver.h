/* SPDX-License-Identifier: Apache-2.0
 *
 * driver.h: runs a script on a fresh store and on the model, and compares.
 */
#ifndef DRIVER_H
#define DRIVER_H

#include "content.h"
#include "model.h"
#include "script.h"
#include "via.h"

#include <stdatomic.h>

/* How a run ended. It lies in memory that the parent process shares. */
typedef struct outcome {
    size_t at; /* operation being run */
    bool failed;
    unsigned done[OP_COUNT], refused[OP_COUNT]; /* by the engine, and rightly so */
    char label[80];                             /* operation and what differed */
    char message[2000];                         /* the whole of it */
} outcome;

enum { NODES = 3 };

typedef struct world {
    model m;
    ramet *r[2];             /* the second one is open now and then */
    ramet *nodes[NODES - 1]; /* on a database: more, open all the time; operations take turns */
    size_t turn;
    _Atomic int64_t clock;
    char path[600]; /* of the store, or its URL */
    char file[200]; /* the same, or where it would be: copies go beside it */
    bool database;
    outcome *result;
    m_entry **hashes; /* entries by hash: open addressing */
    size_t n_hashes, cap_hashes;
    const char *slot[SLOTS]; /* ids that the store made; NULL: the slot's own name */
    const op *op;
    const char *user, *client; /* who asks in this operation */
    ramet_call *call;
    /* A stream that is left open over other operations. */
    ramet_stream *stream;
    ramet_call *stream_call;
    m_list stream_want; /* m_entry */
    m_session *stream_session;
    m_branch *stream_branch;
    size_t stream_at;
    /* A list that is paged through over other operations. */
    char list_cursor[600];
    ramet_list_in list_in;
    char list_tree[300];
    int64_t list_below; /* created before that */
    int32_t list_user_no;
} world;

/* Runs n operations in a directory; ends at the first difference. */
extern bool world_keep; /* the store stays in the directory */
void world_run(const char *dir, const op *ops, size_t n, outcome *result);

/* ---- world.c: what operands mean, failing, learning */

void world_fail(world *w, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool world_failed(const world *w);
void world_judge(world *w, ramet_status got, m_set want);
/* Takes over what the engine made up: ids, branch numbers, hashes, times. */
void world_learn(world *w, m_session *s, m_branch *b);
ramet_call *world_program(world *w); /* a call of the embedding program; the caller frees it */
ramet_status world_open(world *w, int handle);
int64_t world_clock(void *arg); /* of a world */
void world_close(world *w, int handle);

const char *user_name(int32_t n);
const char *slot_id(const world *w, int32_t slot);
m_session *slot_session(world *w, int32_t slot);
/* The slot, or the next one that holds what is wanted; unless the operation is strict. */
typedef enum { SLOT_SHOWN, SLOT_GONE, SLOT_FREE } slot_want;
int32_t slot_find(world *w, int32_t slot, slot_want want);
const char *entry_ref(const world *w, const m_session *s, const m_branch *b, int32_t v);
const char *entry_named(const world *w, const m_session *s, const m_branch *b, int32_t v);
int64_t branch_ref(const world *w, const m_session *s, ramet_log log, int32_t v);
const char *head_ref(const m_branch *b, int32_t v);
int limit_ref(int32_t v);

/* ---- compare.c: an answer against the model; only the first difference is kept */

void same_int(world *w, const char *what, int64_t got, int64_t want);
/* Over HTTP times have milliseconds. */
void same_time(world *w, const char *what, int64_t got, int64_t want);
void same_text(world *w, const char *what, const char *got, const char *want);
void same_entry(world *w, const ramet_entry *got, const m_entry *e, const m_session *s,
                const m_branch *b, bool versions);
void same_head(world *w, const char *what, const ramet_head *got, const m_branch *b);
void same_cut(world *w, const char *what, const char *entry_id, ramet_side side, int64_t position,
              const m_session *fork, const m_answer *a, const ramet_at *asked);
void same_session(world *w, const ramet_session *got, const m_session *s, const char *user,
                  bool light);
void same_sum(world *w, const char *what, const ramet_usage_sum *got, const m_sum *want);
void same_preview(world *w, const char *what, const char *got, const char *text);
void same_tags(world *w, const char *const *got, size_t n, const m_list *want);

/* ---- the operations, by what they do */

typedef void op_run(world *w, const op *o);
#define X(name, ...) op_run run_##name;
SCRIPT_OPS(X)
#undef X
/* ops_write.c: the id for a new session in a slot, and what is to be checked when it is there. */
const char *fork_id(world *w, const op *o, int32_t slot);
void fork_made(world *w, m_session *s, int32_t slot, const ramet_session *got);
/* Reads of one session that `check` goes through. */
void session_check(world *w, m_session *s);

#endif
