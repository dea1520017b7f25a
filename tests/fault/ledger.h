/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger.h: what a store must hold, kept outside of it, for stores that get killed.
 *
 * Workers act on the store. Before each operation a worker gives out a note of what it is
 * about to do, and after it was acknowledged the same note again. The ledger takes in what
 * was acknowledged. After a crash the store must hold exactly that; and of each worker's last
 * note that was not acknowledged either all or nothing.
 *
 * Every worker has sessions of its own, so that their exact history is known; and all append to
 * one shared session, where only the place of what was acknowledged is known.
 * An entry's content follows from its id, and the id tells its batch.
 */
#ifndef FAULT_LEDGER_H
#define FAULT_LEDGER_H

#include "help.h"

enum { LEDGER_WORKERS = 4, LEDGER_SESSIONS = 8 };

typedef enum {
    NOTE_NONE,
    NOTE_CREATE,
    NOTE_APPEND,
    NOTE_FORK,
    NOTE_REWIND,
    NOTE_UNDO,
    NOTE_REDO,
    NOTE_EDIT,
    NOTE_FORWARD, /* a fast-forward to `source`; copies have ids that no ledger can know */
    NOTE_TAG,
    NOTE_SHARED, /* append to the shared session */
    NOTE_FAILED  /* the store refused; `status` tells how */
} note_kind;

typedef struct note {
    note_kind kind;
    bool acked;
    int worker, op; /* op numbers grow; (worker, op) names the operation for good */
    int session;    /* of the worker */
    int source;     /* fork, forward: of the same worker */
    int at; /* entries kept; position of an edit; place of a shared batch once acknowledged */
    int n;  /* entries in the batch */
    ramet_status status;
} note;

/* An entry's name: i-th of the n of an operation. */
typedef struct eid {
    int worker, op, i, n;
} eid;

typedef struct path {
    eid *e;
    int n;
} path;

typedef struct account {
    bool exists;
    path now;
    path *undo, *redo;
    int n_undo, n_redo;
    int moves;
    uint64_t tags;
    bool touched;  /* since the last check */
    char hash[65]; /* of the head, when it was last checked */
} account;

typedef struct ledger {
    account of[LEDGER_WORKERS][LEDGER_SESSIONS];
    int ops[LEDGER_WORKERS];   /* operations begun */
    note open[LEDGER_WORKERS]; /* the last one, when it was not acknowledged */
    char shared_id[32];
    path shared; /* worker -1: not known who stands there */
    int shared_checked;
} ledger;

ledger *ledger_new(void);
void ledger_free(ledger *l);
/* Takes in a note, acknowledged or not. */
void ledger_take(ledger *l, const note *n);

/* One operation of a worker, by chance. Gives each note to `emit`. The ledger tells it what is
 * there; it is not changed. False when the store refused. */
typedef void (*note_fn)(void *arg, const note *n);
bool ledger_act(const ledger *l, ramet_call *c, int worker, int op, rng *r, note_fn emit,
                void *arg);
/* Makes a new shared session (not part of any crash). */
void ledger_shared_begin(ledger *l, ramet *r, int number);

/* Compares the store with the ledger, and takes in what it found of the open notes.
 * `all`: reads everything anew; else only what was touched since the last check. */
void ledger_check(ledger *l, ramet *r, bool all, const char *when);
int ledger_entries(const ledger *l);

#endif
