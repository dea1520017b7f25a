/* SPDX-License-Identifier: Apache-2.0
 *
 * ledger.c: see ledger.h.
 */
#include "ledger.h"

#include "ramet/merge.h"

#include <stdlib.h>
#include <string.h>

/* ---- names */

static const char *eid_text(const eid *e, char out[48])
{
    snprintf(out, 48, "e-%d-%d-%d-%d", e->worker, e->op, e->i, e->n);
    return out;
}

static bool eid_parse(const char *s, eid *out)
{
    char back[48];
    *out = (eid){0};
    return sscanf(s, "e-%d-%d-%d-%d", &out->worker, &out->op, &out->i, &out->n) == 4 &&
           !strcmp(eid_text(out, back), s);
}

static bool eid_same(const eid *a, const eid *b)
{
    return a->worker == b->worker && a->op == b->op && a->i == b->i && a->n == b->n;
}

static const char *session_text(int worker, int session, char out[32])
{
    snprintf(out, 32, "w%d-%d", worker, session);
    return out;
}

/* ---- paths */

static path path_copy(const path *p, int n)
{
    path out = {mem_new((size_t)n * sizeof *out.e), n};
    if (n)
        memcpy(out.e, p->e, (size_t)n * sizeof *out.e);
    return out;
}

static void path_push(path *p, eid e)
{
    if ((p->n & (p->n - 1)) == 0)
        p->e = mem_grow(p->e, (size_t)(p->n ? 2 * p->n : 1) * sizeof *p->e);
    p->e[p->n++] = e;
}

static void path_batch(path *p, const note *n)
{
    for (int i = 0; i < n->n; i++)
        path_push(p, (eid){n->worker, n->op, i, n->n});
}

/* A copy that path_push() may go on with: its room is a power of two. */
static path path_fork(const path *p, int n)
{
    path out = {NULL, 0};
    for (int i = 0; i < n; i++)
        path_push(&out, p->e[i]);
    return out;
}

/* ---- accounts */

static void stack_push(path **stack, int *n, path p)
{
    *stack = mem_grow(*stack, (size_t)(*n + 1) * sizeof **stack);
    (*stack)[(*n)++] = p;
}

static void stack_clear(path *stack, int *n)
{
    while (*n > 0)
        free(stack[--*n].e);
}

static void account_release(account *a)
{
    stack_clear(a->undo, &a->n_undo);
    stack_clear(a->redo, &a->n_redo);
    free(a->undo);
    free(a->redo);
    free(a->now.e);
    *a = (account){0};
}

static account account_copy(const account *a)
{
    account out = *a;
    out.now = path_fork(&a->now, a->now.n);
    out.undo = mem_new((size_t)a->n_undo * sizeof *out.undo);
    out.redo = mem_new((size_t)a->n_redo * sizeof *out.redo);
    for (int i = 0; i < a->n_undo; i++)
        out.undo[i] = path_fork(&a->undo[i], a->undo[i].n);
    for (int i = 0; i < a->n_redo; i++)
        out.redo[i] = path_fork(&a->redo[i], a->redo[i].n);
    return out;
}

/* A move to a new branch that keeps `keep` entries. */
static void account_move(account *a, int keep)
{
    path next = path_fork(&a->now, keep);
    stack_push(&a->undo, &a->n_undo, a->now);
    stack_clear(a->redo, &a->n_redo);
    a->now = next;
    a->moves++;
}

/* Undo and redo: to the top of one stack, what was left goes onto the other. */
static void account_step(account *a, path **from, int *n_from, path **to, int *n_to)
{
    path next = (*from)[--*n_from];
    stack_push(to, n_to, a->now);
    a->now = next;
    a->moves++;
}

static void account_apply(account *a, const account *source, const note *n)
{
    a->touched = true;
    switch (n->kind) {
    case NOTE_CREATE:
        a->exists = true;
        break;
    case NOTE_FORK:
        a->exists = true;
        a->now = path_fork(&source->now, n->at);
        break;
    case NOTE_APPEND:
        path_batch(&a->now, n);
        break;
    case NOTE_REWIND:
        account_move(a, n->at);
        break;
    case NOTE_EDIT:
        account_move(a, n->at);
        path_batch(&a->now, n);
        break;
    case NOTE_FORWARD:
        account_move(a, a->now.n);
        for (int i = a->now.n; i < source->now.n; i++)
            path_push(&a->now, source->now.e[i]);
        break;
    case NOTE_UNDO:
        account_step(a, &a->undo, &a->n_undo, &a->redo, &a->n_redo);
        break;
    case NOTE_REDO:
        account_step(a, &a->redo, &a->n_redo, &a->undo, &a->n_undo);
        break;
    case NOTE_TAG:
        a->tags |= (uint64_t)1 << (n->op % 40);
        break;
    default:
        break;
    }
}

/* ---- the ledger */

ledger *ledger_new(void)
{
    return mem_new(sizeof(ledger));
}

void ledger_free(ledger *l)
{
    for (int w = 0; w < LEDGER_WORKERS; w++)
        for (int s = 0; s < LEDGER_SESSIONS; s++)
            account_release(&l->of[w][s]);
    free(l->shared.e);
    free(l);
}

void ledger_take(ledger *l, const note *n)
{
    l->ops[n->worker] = n->op + 1;
    l->open[n->worker] = *n;
    if (!n->acked)
        return;
    l->open[n->worker] = (note){.kind = NOTE_NONE};
    if (n->kind != NOTE_SHARED) {
        account_apply(&l->of[n->worker][n->session], &l->of[n->worker][n->source], n);
        return;
    }
    for (int i = 0; i < n->n; i++) {
        while (l->shared.n <= n->at + i)
            path_push(&l->shared, (eid){.worker = -1});
        l->shared.e[n->at + i] = (eid){n->worker, n->op, i, n->n};
    }
}

int ledger_entries(const ledger *l)
{
    int n = l->shared.n;
    for (int w = 0; w < LEDGER_WORKERS; w++)
        for (int s = 0; s < LEDGER_SESSIONS; s++)
            n += l->of[w][s].now.n;
    return n;
}

/* ---- acting */

/* A session of the worker whose history goes on where this one ends; -1: there is none. */
static int account_ahead(const account *mine, int count, int session)
{
    const path *p = &mine[session].now;
    for (int s = 0; p->n && s < count; s++)
        if (mine[s].now.n > p->n && memcmp(mine[s].now.e, p->e, (size_t)p->n * sizeof *p->e) == 0)
            return s;
    return -1;
}

static void note_choose(const ledger *l, note *n, rng *r)
{
    const account *mine = l->of[n->worker];
    int kind = rng_below(r, 20), count = 0;
    while (count < LEDGER_SESSIONS && mine[count].exists)
        count++;
    n->session = count ? rng_below(r, count) : 0;
    const account *a = &mine[n->session];
    n->n = 1 + rng_below(r, 6);
    n->kind = NOTE_APPEND;
    if (!count || (kind == 0 && count < LEDGER_SESSIONS)) {
        n->kind = NOTE_CREATE;
        n->session = count;
    } else if (kind <= 1 && count < LEDGER_SESSIONS) {
        n->kind = NOTE_FORK;
        n->source = n->session;
        n->session = count;
        n->at = rng_below(r, a->now.n + 1);
    } else if (kind <= 4 && a->now.n) {
        n->kind = kind == 2 ? NOTE_EDIT : NOTE_REWIND;
        /* Mostly near the end, so that histories grow. */
        int back = rng_below(r, rng_below(r, 4) ? 6 : a->now.n);
        n->at = a->now.n - 1 - (back < a->now.n ? back : a->now.n - 1);
        n->n = 1;
    } else if (kind == 13 && account_ahead(mine, count, n->session) >= 0) {
        n->kind = NOTE_FORWARD;
        n->source = account_ahead(mine, count, n->session);
    } else if (kind == 5 && a->n_undo) {
        n->kind = NOTE_UNDO;
    } else if (kind == 6 && a->n_redo) {
        n->kind = NOTE_REDO;
    } else if (kind == 7) {
        n->kind = NOTE_TAG;
    } else if (kind <= 12) {
        n->kind = NOTE_SHARED;
    }
}

static ramet_status note_append(const ledger *l, ramet_call *c, note *n, const char *session)
{
    ramet_entry_in in[6];
    char ids[6][48], *texts[6];
    ramet_append_out out;
    ramet_status st;
    for (int i = 0; i < n->n; i++) {
        eid_text(&(eid){n->worker, n->op, i, n->n}, ids[i]);
        texts[i] = text_of(ids[i]);
        in[i] = (ramet_entry_in){.id = ids[i], .role = RAMET_USER, .text = texts[i]};
    }
    if (n->kind == NOTE_EDIT) {
        char old[48];
        eid_text(&l->of[n->worker][n->session].now.e[n->at], old);
        st = ramet_edit(c, session, old, in, NULL, &out);
    } else {
        st = ramet_append(c, session, &(ramet_append_in){.entries = in, .n = (size_t)n->n}, &out);
        if (!st)
            n->at = (int)out.head.length - n->n;
    }
    for (int i = 0; i < n->n; i++)
        free(texts[i]);
    return st;
}

/* The cut that keeps `keep` entries of an account, said in one of two ways. */
static ramet_at cut_at(const account *a, int keep, int op, char id[48])
{
    if (keep < a->now.n && (keep == 0 || op % 2))
        return (ramet_at){eid_text(&a->now.e[keep], id), RAMET_BEFORE};
    if (keep == 0)
        return (ramet_at){NULL, RAMET_AFTER}; /* an empty history: its head */
    return (ramet_at){eid_text(&a->now.e[keep - 1], id), RAMET_AFTER};
}

static ramet_status note_run(const ledger *l, ramet_call *c, note *n)
{
    char session[32], source[32], id[48], tag[16];
    const char *tags[] = {tag};
    const account *a = &l->of[n->worker][n->session], *from = &l->of[n->worker][n->source];
    ramet_session *out;
    ramet_tags tags_out;
    ramet_merge_out merged;
    session_text(n->worker, n->session, session);
    switch (n->kind) {
    case NOTE_CREATE:
        return ramet_session_create(c, &(ramet_session_in){.id = session, .title = "Crash"}, &out);
    case NOTE_FORK:
        return ramet_fork(c, session_text(n->worker, n->source, source),
                          &(ramet_fork_in){.id = session, .at = cut_at(from, n->at, n->op, id)},
                          &out, NULL);
    case NOTE_REWIND:
        return ramet_rewind(c, session, &(ramet_move_in){.at = cut_at(a, n->at, n->op, id)}, &out,
                            NULL);
    case NOTE_FORWARD:
        return ramet_merge(c, session,
                           &(ramet_merge_in){.mode = RAMET_FAST_FORWARD,
                                             .from = session_text(n->worker, n->source, source)},
                           &merged);
    case NOTE_UNDO:
        return ramet_undo(c, session, NULL, &out);
    case NOTE_REDO:
        return ramet_redo(c, session, NULL, &out);
    case NOTE_TAG:
        snprintf(tag, sizeof tag, "t%d", n->op % 40);
        return ramet_tags_add(c, session, tags, 1, &tags_out);
    case NOTE_SHARED:
        return note_append(l, c, n, l->shared_id);
    default:
        return note_append(l, c, n, session);
    }
}

bool ledger_act(const ledger *l, ramet_call *c, int worker, int op, rng *r, note_fn emit, void *arg)
{
    note n = {.worker = worker, .op = op};
    note_choose(l, &n, r);
    emit(arg, &n);
    n.status = note_run(l, c, &n);
    if (n.status) {
        n.kind = NOTE_FAILED;
        emit(arg, &n);
        return false;
    }
    n.acked = true;
    emit(arg, &n);
    ramet_call_reset(c);
    return true;
}

void ledger_shared_begin(ledger *l, ramet *r, int number)
{
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    ramet_session *out;
    snprintf(l->shared_id, sizeof l->shared_id, "shared-%d", number);
    ramet_status st =
        ramet_session_create(c, &(ramet_session_in){.id = l->shared_id, .title = "Shared"}, &out);
    if (st)
        wrong("the shared session cannot be made: %s", ramet_status_code(st));
    free(l->shared.e);
    l->shared = (path){NULL, 0};
    l->shared_checked = 0;
    ramet_call_free(c);
}

/* ---- checking */

/* The whole path of a session; false when it cannot be read. Checks each content. */
static bool path_read(ramet_call *c, const char *session, int from, path *out, const char *when)
{
    ramet_stream *stream;
    const ramet_entry *e = NULL;
    *out = (path){NULL, 0};
    ramet_status st = ramet_stream_open(
        c, session, &(ramet_read_in){.by_position = true, .position = from}, &stream);
    while (!st && !(st = ramet_stream_next(stream, &e)) && e) {
        eid id;
        char *text = text_of(e->id);
        if (!eid_parse(e->id, &id))
            wrong("%s: %s holds \"%s\", which nobody wrote", when, session, e->id);
        else if (strcmp(text, e->text))
            wrong("%s: %s: the content of %s changed", when, session, e->id);
        else if (e->position != from + out->n)
            wrong("%s: %s: %s says position %lld, it is at %d", when, session, e->id,
                  (long long)e->position, from + out->n);
        free(text);
        path_push(out, id);
    }
    if (st)
        wrong("%s: %s cannot be read: %s (%s)", when, session, ramet_status_code(st),
              ramet_call_error(c)->message);
    else
        ramet_stream_close(stream);
    return !st;
}

/* What the store holds of an account. */
typedef struct holding {
    bool exists;
    path now;
    int moves;
    size_t n_tags;
    char hash[65];
} holding;

static bool holding_read(ramet_call *c, const char *id, holding *h, bool deep, const char *when)
{
    ramet_session *s;
    ramet_move *m;
    size_t n;
    bool more;
    *h = (holding){0};
    ramet_status st = ramet_session_get(c, id, &s);
    if (st == RAMET_SESSION_NOT_FOUND)
        return true;
    if (!st) {
        h->exists = true;
        h->n_tags = s->n_tags;
        snprintf(h->hash, sizeof h->hash, "%s", s->head.hash);
        st = ramet_head_log(c, id, 0, 1, &m, &n, &more);
    }
    if (st) {
        wrong("%s: %s cannot be read: %s (%s)", when, id, ramet_status_code(st),
              ramet_call_error(c)->message);
        return false;
    }
    h->moves = n ? (int)m[0].number : 0;
    return !deep || path_read(c, id, 0, &h->now, when);
}

/* NULL when the store holds what the account says, else what differs. */
static const char *account_differs(const account *a, const holding *h)
{
    if (a->exists != h->exists)
        return a->exists ? "it is lost" : "it is there though it was not made";
    if (a->now.n != h->now.n)
        return a->now.n > h->now.n ? "entries are lost" : "there are entries too many";
    for (int i = 0; i < a->now.n; i++)
        if (!eid_same(&a->now.e[i], &h->now.e[i]))
            return "other entries are on its path";
    if (a->moves != h->moves)
        return "its head log has another length";
    if ((size_t)__builtin_popcountll(a->tags) != h->n_tags)
        return "it has other tags";
    return NULL;
}

static void account_check(ledger *l, ramet_call *c, int w, int s, bool all, const char *when)
{
    account *a = &l->of[w][s];
    const note *open = &l->open[w];
    char id[32];
    holding h;
    bool pending = open->kind != NOTE_NONE && open->kind != NOTE_SHARED && open->session == s;
    bool deep = all || a->touched || pending;
    session_text(w, s, id);
    if (!a->exists && !pending)
        return;
    if (!holding_read(c, id, &h, deep, when)) {
        free(h.now.e);
        return;
    }
    const char *differs = NULL;
    if (!deep)
        differs = strcmp(h.hash, a->hash) ? "its head changed by itself" : NULL;
    else
        differs = account_differs(a, &h);
    if (differs && pending) {
        account next = account_copy(a);
        account_apply(&next, &l->of[w][open->source], open);
        if (!account_differs(&next, &h)) {
            account_release(a);
            *a = next;
            differs = NULL;
        } else {
            account_release(&next);
        }
    }
    if (differs)
        wrong("%s: session %s: %s (%d entries wanted, %d there; %d moves, %d there; open note %d)",
              when, id, differs, a->now.n, h.now.n, a->moves, h.moves,
              pending ? (int)open->kind : 0);
    a->touched = false;
    snprintf(a->hash, sizeof a->hash, "%s", h.hash);
    free(h.now.e);
}

/* Whoever stands where nobody was acknowledged must be an open note's whole batch. */
static void stranger_check(const ledger *l, const path *p, int i, const char *when)
{
    const eid *e = &p->e[i];
    const note *open = e->worker >= 0 && e->worker < LEDGER_WORKERS ? &l->open[e->worker] : NULL;
    if (!open || open->kind != NOTE_SHARED || open->op != e->op)
        wrong("%s: %s: entry e-%d-%d-%d was not acknowledged and is not open", when, l->shared_id,
              e->worker, e->op, e->i);
}

static void shared_check(ledger *l, ramet_call *c, bool all, const char *when)
{
    int from = all ? 0 : l->shared_checked;
    path p;
    if (!path_read(c, l->shared_id, from, &p, when)) {
        free(p.e);
        return;
    }
    if (from + p.n < l->shared.n)
        wrong("%s: %s: %d entries acknowledged, %d there", when, l->shared_id, l->shared.n,
              from + p.n);
    for (int i = 0; i < p.n; i++) {
        const eid *e = &p.e[i], *known = from + i < l->shared.n ? &l->shared.e[from + i] : NULL;
        if (!known || known->worker < 0)
            stranger_check(l, &p, i, when);
        else if (!eid_same(known, e))
            wrong("%s: %s: another entry stands at %d", when, l->shared_id, from + i);
        bool follows = e->i == 0 || (i && p.e[i - 1].worker == e->worker &&
                                     p.e[i - 1].op == e->op && p.e[i - 1].i == e->i - 1);
        bool ends = e->i == e->n - 1 || i + 1 < p.n;
        if (!follows || !ends)
            wrong("%s: %s: the batch at %d is not whole", when, l->shared_id, from + i);
    }
    path merged = path_copy(&l->shared, from < l->shared.n ? from : l->shared.n);
    path next = path_fork(&merged, merged.n);
    for (int i = 0; i < p.n; i++)
        path_push(&next, p.e[i]);
    free(merged.e);
    free(p.e);
    free(l->shared.e);
    l->shared = next;
    l->shared_checked = next.n;
}

void ledger_check(ledger *l, ramet *r, bool all, const char *when)
{
    ramet_call *c = ramet_call_new(r, NULL, NULL);
    for (int w = 0; w < LEDGER_WORKERS; w++)
        for (int s = 0; s < LEDGER_SESSIONS; s++) {
            account_check(l, c, w, s, all, when);
            ramet_call_reset(c);
        }
    if (l->shared_id[0])
        shared_check(l, c, all, when);
    for (int w = 0; w < LEDGER_WORKERS; w++)
        l->open[w] = (note){.kind = NOTE_NONE};
    ramet_call_free(c);
    check_store(r, when);
}
