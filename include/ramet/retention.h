/* SPDX-License-Identifier: Apache-2.0
 *
 * ramet/retention.h: what is kept whatever happens, and what goes by rule.
 *
 * A *hold* protects a session or a whole tree: while it stands, the session is not deleted, not
 * collected by gc (also when it was deleted before the hold was set), not pruned, not erased and
 * not removed by a rule.
 *
 * A *rule* removes sessions by their age and what else it names. Rules belong to administrators, so
 * to the embedding program here. Nothing happens by itself: rules are off until they are switched
 * on, and they can neither be switched on nor run before a dry run has shown what they would take.
 * A rule removes a session as ramet_session_delete() does (I7): that session alone, its forks stay
 * where they were, entries that they share live on, and it can be restored until gc.
 *
 * No rule ever takes a session with the tag "pinned", a template, one that is on hold, or one with
 * a running turn.
 */
#ifndef RAMET_RETENTION_H
#define RAMET_RETENTION_H

#include "../ramet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------- holds */

typedef struct ramet_hold {
    const char *tree_id;
    const char *session; /* NULL: the whole tree, with every session that it has or will have */
    bool administrator;  /* set by an administrator, who alone can release it */
    const char *who;     /* NULL: the embedding program */
    const char *reason;
    int64_t at;
} ramet_hold;

typedef struct ramet_hold_in {
    bool tree;          /* the whole tree of the session */
    bool administrator; /* an administrator's hold: for the embedding program, whose holds always
                           are, and over HTTP for administrators */
    const char *reason; /* setting: at most 2,000 characters; may be NULL */
    const char *by;     /* setting, for the embedding program: the administrator; may be NULL */
} ramet_hold_in;

/* Sets a hold, or changes its reason. A tree's owner sets holds of their own, and the embedding
 * program those of administrators: both may stand side by side. `session` names a session that the
 * caller may see; it may be deleted, as long as it can be restored. With in->tree it may be the id
 * of a tree, too. `out` may be NULL. O(1). */
RAMET_API ramet_status ramet_hold_set(ramet_call *c, const char *session, const ramet_hold_in *in,
                                      ramet_hold **out);
/* Releases a hold: the owner of the tree theirs, the embedding program all that stand there. When
 * only an administrator's is left, the owner gets RAMET_FORBIDDEN. RAMET_HOLD_NOT_FOUND. */
RAMET_API ramet_status ramet_hold_release(ramet_call *c, const char *session,
                                          const ramet_hold_in *in);
/* Those that protect the session: its own, and those of its tree. Needs reader; the reason and who
 * set it are shown to the owner of the tree and the embedding program alone. session NULL, for the
 * embedding program: all of the store, at most 10,000, by tree. */
RAMET_API ramet_status ramet_holds(ramet_call *c, const char *session, ramet_hold **out, size_t *n);

/* -------------------------------------------------------------------- rules
 * For the embedding program, except ramet_retention_explain(). */

#define RAMET_PINNED "pinned" /* the tag that no rule touches */
#define RAMET_MAX_RULES 100

typedef enum { RAMET_SINCE_UPDATED, RAMET_SINCE_CREATED, RAMET_SINCE_ARCHIVED } ramet_since;
typedef enum { RAMET_EITHER, RAMET_ONLY, RAMET_EXCEPT } ramet_condition;
/* "updated" …, "include", "only", "exclude", and back; an unknown name gives -1. */
RAMET_API const char *ramet_since_name(ramet_since v);
RAMET_API int ramet_since_parse(const char *s);
RAMET_API const char *ramet_condition_name(ramet_condition v);
RAMET_API int ramet_condition_parse(const char *s);

/* All that it names must hold. */
typedef struct ramet_rule {
    const char *name;  /* 1-64 characters */
    int64_t age_us;    /* at least so old; 0: at once, which needs another condition */
    ramet_since since; /* what the age counts from; RAMET_SINCE_ARCHIVED takes archived ones */
    const char *tag;   /* NULL: any */
    const char *agent; /* NULL: any */
    ramet_condition ephemeral, archived;
    bool private_too; /* private sessions as well */
    const char *who;  /* answers only: who set it, NULL: the embedding program */
    int64_t at;       /* answers only: when */
} ramet_rule;

typedef struct ramet_retention {
    bool enabled;  /* a server applies them by itself (setting retention-seconds) */
    int64_t tried; /* when a dry run was made with exactly these rules; 0: not yet */
    ramet_rule *rules;
    size_t n;
} ramet_retention;
RAMET_API ramet_status ramet_retention_get(ramet_call *c, ramet_retention **out);

typedef struct ramet_retention_in {
    bool enabled;
    const ramet_rule *rules; /* all of them, in order: the first that matches takes a session */
    size_t n;                /* at most RAMET_MAX_RULES */
    const char *by;          /* the administrator who asked; may be NULL */
} ramet_retention_in;
/* Replaces the rules. Rules that differ have not been tried: then `enabled` is
 * RAMET_DRY_RUN_FIRST. `out` may be NULL. */
RAMET_API ramet_status ramet_retention_set(ramet_call *c, const ramet_retention_in *in,
                                           ramet_retention **out);

typedef struct ramet_removal {
    const char *session, *tree_id; /* ids; no title, no content */
    const char *rule;
    int64_t entries; /* that the session had appended itself; forks may still have some of them */
    const char *who; /* who ran the rules; NULL: the server by itself, or the embedding program */
    int64_t at;      /* 0 in a dry run */
} ramet_removal;

typedef struct ramet_retention_run_in {
    bool dry_run;
    bool scheduled;   /* do nothing unless the rules are switched on */
    int64_t every_us; /* and nothing when a node ran them in that time */
    const char *by;   /* the administrator who asked; may be NULL */
} ramet_retention_run_in;

typedef struct ramet_retention_out {
    int64_t looked_at;         /* sessions */
    int64_t sessions, entries; /* removed, or what would be */
    ramet_removal *removals;   /* the first 1,000 */
    size_t n;
    bool dry_run;
    bool skipped; /* not run: switched off, not due, or another node is running them */
} ramet_retention_out;
/* Applies the rules. RAMET_DRY_RUN_FIRST: they have changed since the last dry run. Reads a page of
 * sessions at a time and removes at most 100 in a write, so that other calls read and write
 * meanwhile; each is judged again in the write that removes it, so several runs at once remove it
 * once. When the rules change, or are switched off during a scheduled run, it ends. O(sessions). */
RAMET_API ramet_status ramet_retention_run(ramet_call *c, const ramet_retention_run_in *in,
                                           ramet_progress progress, void *arg,
                                           ramet_retention_out *out);

/* What has been removed by rule, newest first. It survives gc. limit 1-1,000, 0 = 50. */
RAMET_API ramet_status ramet_removals(ramet_call *c, int limit, const char *cursor,
                                      ramet_removal **out, size_t *n, const char **next);

typedef struct ramet_rule_verdict {
    const char *rule;
    bool matches;
    const char *why; /* in words */
} ramet_rule_verdict;

typedef struct ramet_needed_by {
    const char *session; /* NULL: one that the caller may not see */
    int64_t branch;      /* of the explained session */
    int64_t first, last; /* its own entries on that branch that the other needs, counted from 1 */
} ramet_needed_by;

typedef struct ramet_explanation {
    const char *session;
    bool goes;        /* the next run would remove it */
    const char *rule; /* the first that matches; NULL: none does */
    const char *kept; /* why it stays, in words; NULL: it goes */
    ramet_rule_verdict *rules;
    size_t n;
    int64_t entries;         /* that the session has appended itself */
    int64_t freed;           /* that gc would remove with it */
    ramet_needed_by *needed; /* the first 100: sessions that keep some of its entries */
    size_t n_needed;
    int64_t n_needed_all;
} ramet_explanation;
/* Why a session goes or stays, and what of it stays either way because other sessions reach it.
 * Needs the session's owner or a manager. O(sessions and branches of its tree). */
RAMET_API ramet_status ramet_retention_explain(ramet_call *c, const char *session,
                                               ramet_explanation **out);

#ifdef __cplusplus
}
#endif
#endif
