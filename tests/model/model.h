/* SPDX-License-Identifier: Apache-2.0
 *
 * model.h: what Ramet must do, told in plain arrays. Every branch holds its whole path as an
 * array of pointers; nothing is indexed, cached or shared. Written from the design and from
 * ramet.h, never from the engine.
 *
 * The engine acts first, the model judges. A function of the model gets the same arguments,
 * finds every reason to refuse, and answers with the set of statuses that would be right (when
 * an argument is wrong in two ways, either status is). When the engine said RAMET_OK (m->got)
 * and that is right, the model does the same to itself. Ids, branch numbers, hashes and times
 * that the engine makes up are learned from it by the driver, once, and then held against it.
 *
 * How the documents are read where they leave room:
 *  - A path is identified by its last entry: an entry is appended once, to one branch.
 *  - A tool call goes with the next result of its id after it.
 *    snap_before moves the cut before the earliest call that would be parted, and before a call
 *    that has no result at all unless a user spoke between it and the cut; snap_after moves it
 *    behind the last parted result. Repeated until nothing is parted.
 *  - The adk log is cut where main was longer than what is kept when the adk entry came.
 *  - A move makes a new branch in both logs (when there is an adk log); undo and redo take both
 *    heads. A switch, and a fork that names a branch, take the adk branch that stood beside that
 *    main branch when it was left.
 *  - A fork by one who may not read the adk log (a reader's private fork) gets none.
 *  - sync cuts before the first entry of the channel that differs; entries of other channels
 *    before it stay.
 *  - Deleted sessions count in usage of the tree until gc; private ones of others never do.
 *  - A merge appends copies in the order named, a tool call with all its results (each result goes
 *    with the nearest call of its id before it) in the order of their path; turn ids are made anew.
 *    It moves both heads to new branches; only main gets anything.
 *  - A private session may be made visible to the tree only by an owner who is a writer there.
 */
#ifndef MODEL_H
#define MODEL_H

#include "ramet.h"
#include "ramet/branches.h"
#include "ramet/merge.h"
#include "ramet/overlays.h"
#include "ramet/retention.h"
#include "ramet/templates.h"

typedef struct m_session m_session;
typedef struct m_branch m_branch;
typedef struct m_tree m_tree;

/* A set of statuses, a bit each. 0 from a check means "nothing to object". */
__extension__ typedef unsigned __int128 m_set;
_Static_assert(RAMET_STATUS_COUNT <= 128, "m_set has a bit for every status");
#define M(name) ((m_set)1 << RAMET_##name)

#define M_ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
enum { M_KEYS = 5 }; /* state keys k0 … k4 */

typedef struct m_entry m_entry;
struct m_entry {
    const char *id; /* NULL until learned */
    int64_t position;
    m_branch *owner;
    m_session *by; /* who appended it */
    ramet_role role;
    const char *text, *parts, *format, *body, *turn_id, *channel, *author, *client, *delta;
    ramet_usage usage;
    bool has_usage;
    bool fixed_time;  /* the caller gave `created` */
    int64_t created;  /* learned, unless given */
    int64_t main_len; /* adk: entries of main when it came */
    int64_t order;    /* of appending, over the whole store */
    char hash[65];    /* "" until learned */
    bool gone;        /* taken by gc */
    m_entry *from;    /* a copy: what it was copied from, */
    m_session *of;    /* and the session that had it */
    m_entry **sums;   /* a landed summary: all entries that it stands for, `from` the last */
    size_t n_sums;
    unsigned mark; /* reached, in the count of that number */
};

typedef struct m_list {
    void **items;
    size_t n, cap;
} m_list;

struct m_branch {
    int64_t id; /* the engine's number; 0 until learned */
    m_session *session;
    ramet_log log;
    m_branch *parent; /* owner of entry base-1 */
    int64_t base;
    ramet_fork_type type;
    m_branch *mate; /* main: the adk head when this branch was last left */
    m_entry **path; /* the whole history */
    size_t n, cap;
    m_list overlays; /* m_overlay, in force; of main */
    const char *name;
    bool favourite;
    bool pruned, removed; /* removed: by gc */
    int64_t pruned_at;
    int prune_group; /* which prune took it */
    int64_t keep;    /* pruned: its entries from here on are hidden */
    size_t left;     /* removed: its length since then */
    int64_t filled;  /* entries that the values of its session are meant for */
};

/* The values for one template. */
typedef struct m_fill {
    const char *names[3], *values[3];
    size_t n;
    int64_t len[2]; /* entries that they are meant for, by log */
} m_fill;

typedef struct m_template {
    const char *id; /* NULL until learned */
    const char *name, *names[3];
    size_t n;
    m_session *session;
    m_branch *branch, *adk;
    int64_t len, adk_len;
    bool removed;
} m_template;

typedef struct m_overlay {
    int64_t id; /* 0 until learned */
    m_entry *entry;
    ramet_overlay_action action;
    const char *text;
    m_list also; /* m_entry that are hidden with it */
} m_overlay;

typedef struct m_move {
    ramet_move_kind kind;
    m_branch *from, *to, *from_adk, *to_adk;
    const char *who, *reason;
} m_move;

struct m_session {
    const char *id; /* NULL until learned */
    m_tree *tree;
    m_session *parent;
    const char *title, *from_title, *owner, *agent_name, *agent_model, *metadata, *reason, *by_id;
    ramet_visibility visibility;
    ramet_actor by_kind;
    ramet_fork_type type;
    m_list tags; /* char *, sorted */
    bool is_fork;
    ramet_cut cut;   /* of the fork; entry_id as the last one kept */
    m_entry *cut_at; /* the entry that was named, NULL at the head */
    ramet_side cut_side;
    m_branch *first; /* the branch it began with */
    m_branch *head, *adk;
    m_list branches;   /* m_branch, both logs, oldest first */
    m_list record[2];  /* m_entry */
    m_list moves;      /* m_move */
    m_list undo, redo; /* m_move: the two stacks */
    m_session *merged_into;
    m_session *started; /* it was started by that one */
    m_list fills;       /* m_fill, oldest first */
    bool archived, deleted, purged;
    int64_t deleted_at, expires, created;
    int delete_group; /* which delete took it */
    int64_t number;   /* entry.owner_no, 0 until learned */
    unsigned held;    /* bits of model_retention.c */
};

typedef struct m_member {
    const char *user;
    ramet_level level;
} m_member;

struct m_tree {
    const char *id;                    /* NULL until learned */
    m_list members;                    /* m_member, the owner too */
    m_list sessions;                   /* m_session in order of creation, purged ones too */
    const char *offer, *giver, *taker; /* that it is being handed over; NULL: it is not */
    unsigned mark;
    unsigned held; /* as a whole */
};

typedef struct m_verdict {
    m_session *side[16];
    m_branch *branch[16];
    size_t n;
    int64_t number; /* learned */
    int winner;
    const char *reason, *who;
} m_verdict;

typedef struct model {
    ramet_limits limits;
    int64_t grace;
    int64_t now;
    ramet_status got; /* what the engine said to the operation being judged */
    m_list trees, sessions, entries, verdicts;
    m_list branches; /* all of them */
    m_list overlays; /* all that were ever set */
    m_list templates;
    m_list memory; /* everything allocated */
    int delete_groups;
    unsigned marks;
} model;

/* What a write answers with. */
typedef struct m_answer {
    m_session *session;
    m_branch *branch; /* written to, or made */
    ramet_cut cut;
    bool cut_moved; /* the policy moved it */
    m_list entries; /* append: one for each given */
    size_t added, matched;
    bool moved;
} m_answer;

/* ---- model.c: the store, who may what, sessions */

void model_init(model *m, const ramet_limits *limits, int64_t grace);
void model_free(model *m);
void *model_alloc(model *m, size_t size);
char *model_text(model *m, const char *s);
void m_list_add(m_list *l, void *item);
bool m_same(const char *a, const char *b); /* NULL and "" are the same */

m_session *model_find(model *m, const char *id);
bool m_gone(const model *m, const m_session *s);      /* deleted or expired */
bool m_visible(const m_session *s, const char *user); /* whether or not it is deleted */
bool m_shown(const model *m, const m_session *s, const char *user);
bool m_own(const m_session *s, const char *user);
ramet_level m_tree_level(const m_tree *t, const char *user);
bool m_writable(const m_session *s, const char *user);
/* The session for a call that needs a level; objections are the answer, *s NULL when not shown. */
m_set m_open(model *m, const char *user, const char *id, ramet_level need, m_session **s);
int64_t m_depth(const m_session *s);

m_set model_create(model *m, const char *user, const ramet_session_in *in, m_answer *out);
m_set model_update(model *m, const char *user, const char *id, const ramet_session_patch *in,
                   m_answer *out);
m_set model_promote(model *m, const char *user, const char *id, m_answer *out);
m_set m_text_check(const model *m, const char *title, const char *reason);
m_set m_hash_check(const char *expected);                     /* an expected_head's shape */
m_set m_head_check(const char *expected, const m_branch *b);  /* and whether it is that */
m_set m_id_check(model *m, const char *user, const char *id); /* for a new session */
m_set m_agent_check(const ramet_agent *agent);
m_set m_metadata_check(const char *json);
m_session *m_new(model *m, m_tree *tree, const char *id, const char *owner);
void m_dress(model *m, m_session *s, const char *title, const ramet_agent *agent,
             const char *metadata);

/* ---- model_life.c: tags, members, delete, restore, gc */

/* The tags as they would be stored, sorted into *out; objections are the answer. */
m_set m_tags_normal(model *m, const char *const *tags, size_t n, m_list *out);
typedef enum { TAGS_SET, TAGS_ADD, TAGS_REMOVE } m_tags_how;
m_set model_tags(model *m, const char *user, const char *id, m_tags_how how,
                 const char *const *tags, size_t n, m_answer *out);
m_set model_member_set(model *m, const char *user, const char *id, const char *who,
                       ramet_level level);
m_set model_member_remove(model *m, const char *user, const char *id, const char *who);
m_set model_delete(model *m, const char *user, const char *id, bool tree, bool dry, m_list *ids,
                   int64_t *entries);
m_set model_restore(model *m, const char *user, const char *id, bool tree, m_answer *out);
void model_gc(model *m, bool dry, int64_t *sessions, int64_t *expired, int64_t *entries);

/* ---- model_prune.c: branches that were pruned, and their names */

typedef struct m_pruned {
    m_list branches; /* m_branch of main */
    int64_t entries;
    size_t kept;
} m_pruned;
m_set model_prune(model *m, const char *user, const char *id, const ramet_prune_in *in,
                  m_pruned *out);
m_set model_branch_restore(model *m, const char *user, const char *id, int64_t branch, bool all,
                           m_pruned *out);
m_set model_branch_update(model *m, const char *user, const char *id, int64_t branch,
                          const ramet_branch_patch *in, m_branch **out);
/* Marks the path of a branch; without `whole` only what says where its session began. */
void m_branch_mark(const model *m, const m_branch *b, bool whole, int64_t *count);
void model_branches_cut(model *m);
/* The entry was pruned, or gc has removed it. */
bool m_hidden(const m_entry *e);
/* Why m_branch_find() finds none. */
m_set m_branch_missing(m_session *s, ramet_log log, int64_t id);

/* ---- model_overlay.c: what the model sees */

m_set model_overlay(model *m, const char *user, const char *id, const ramet_overlay_in *in,
                    m_answer *out);
/* Adds the overlays of another branch that name what no overlay of this one names. */
void model_overlays_join(m_branch *to, const m_branch *other);
m_set model_overlay_remove(model *m, const char *user, const char *id, int64_t overlay,
                           const char *xh, m_answer *out);
/* Of the entry at a position: whether it is shown, and what it says then. */
bool m_context_shows(const m_branch *b, size_t at, const char **text);

/* ---- model_template.c: templates, and what their chats show */

/* An entry as a path shows it; NULL: as it was appended. */
const m_entry *m_entry_shown(const m_branch *b, const m_entry *e);
/* What a copy names as its origin, and the session that had it: when gc has taken it, and it was a
 * copy, what that was copied from. */
const m_entry *m_origin(const m_entry *e, m_session **of);
/* Whether a copy came from an entry, or is a summary that stands for it; by way of copies that gc
 * has taken, too. */
bool m_came_from(const m_entry *to, const m_entry *e);
bool m_fills_same(const m_session *a, const m_session *b);
void m_fills_inherit(m_session *to, const m_session *from);
m_template *model_template_find(model *m, const char *id);
m_set model_template_open(model *m, const char *user, const char *id, ramet_level need,
                          m_template **out);
m_set model_template_add(model *m, const char *user, const ramet_template_in *in, m_template **out);
m_set model_template_update(model *m, const char *user, const char *id,
                            const ramet_template_patch *in);
m_set model_template_remove(model *m, const char *user, const char *id);
m_set model_chat(model *m, const char *user, const char *id, const ramet_template_use *in,
                 m_answer *out);

/* ---- model_make.c: made by the first entry, archived, handed over */

/* An append with `make`. */
m_set model_make(model *m, const char *user, const char *client, const char *id,
                 const ramet_append_in *in, m_answer *out);
m_set model_archive(model *m, const char *user, const char *id, bool archived, m_answer *out);
/* *of is the session when its tree is offered now; the caller sets the id of that. */
m_set model_offer(model *m, const char *user, const char *id, const char *to, m_session **of);
m_set model_offer_end(model *m, const char *user, m_tree *t, bool accept);
bool m_offered(const m_tree *t, const char *user);

/* ---- model_moves.c: appends, forks and moves */

m_branch *m_branch_find(m_session *s, ramet_log log, int64_t id);
m_entry *m_branch_entry(const m_branch *b, const char *id);
const char *m_branch_hash(const m_branch *b);
m_set model_append(model *m, const char *user, const char *client, const char *id,
                   const ramet_append_in *in, m_answer *out);
m_set model_fork(model *m, const char *user, const char *id, const ramet_fork_in *in,
                 m_answer *out);
/* How much of the adk log belongs to the first `kept` entries of main. */
int64_t m_adk_kept(const m_branch *adk, const m_branch *main, size_t kept);
/* A fork that may be made, at these cuts. */
m_session *m_fork_at(model *m, const char *user, m_session *s, const ramet_fork_in *in,
                     const m_branch *from, size_t cut, const m_branch *adk, size_t adk_cut);
m_set model_rewind(model *m, const char *user, const char *id, const ramet_move_in *in,
                   m_answer *out);
m_set model_undo(model *m, const char *user, const char *id, const char *xh, bool redo,
                 m_answer *out);
/* The head goes to a new branch at its end, which takes the overlays over. */
m_branch *m_move_end(model *m, m_session *s, ramet_move_kind kind, const char *who,
                     const char *reason);
m_set model_switch(model *m, const char *user, const char *id, int64_t branch, const char *xh,
                   m_answer *out);
/* An edit (n is 1) or a regeneration. */
m_set model_replace(model *m, const char *user, const char *client, const char *id,
                    const char *entry_id, const ramet_entry_in *in, size_t n, const char *xh,
                    ramet_move_kind kind, m_answer *out);
m_set model_sync(model *m, const char *user, const char *client, const char *id,
                 const ramet_entry_in *in, size_t n, const char *xh, m_answer *out);
m_set model_merge(model *m, const char *user, const char *client, const char *id,
                  const ramet_merge_in *in, m_answer *out);

/* ---- model_entry.c: what an entry says */

/* The normal form of what the caller gives. */
const char *m_parts_normal(const ramet_entry_in *in, char *buf, size_t size);
/* The text parts joined by a blank line. */
void m_parts_text(const char *parts, char *buf, size_t size);
/* Whether what the caller gives is what is stored. */
bool m_entry_equal(const m_entry *e, const ramet_entry_in *in);

/* ---- model_view.c: what can be read */

/* The versions at position `at` of the path of b: entries into *out, oldest first. */
void m_branch_versions(const m_session *s, const m_branch *b, size_t at, m_list *out);
m_branch *m_version_branch(const m_session *s, const m_entry *e); /* a switch to it goes there */
size_t m_branches_shared(const m_branch *a, const m_branch *b);
/* The state when main has n entries: that of main over that of the adk log (may be NULL). */
void m_path_state(const m_branch *b, size_t n, const m_branch *adk, char *out, size_t size);

typedef struct m_sum {
    int64_t entries, input, output, cached;
    struct {
        const char *currency;
        int64_t cost;
    } money[4];
    size_t n_money;
} m_sum;
void m_sum_add(m_sum *s, const m_entry *e);
/* What gc left of a private session may be nobody's any more: `least` is without it. */
void m_usage(const model *m, const m_session *s, const char *user, m_sum *own, m_sum *path,
             m_sum *tree, m_sum *least);
bool m_holds(const m_session *s, const m_entry *e);
/* What a fork of it is called after: its title, what its own parent was called when it was forked,
 * or its first words. */
void m_words(const m_session *s, char *out, size_t size);
void m_shown_title(const m_session *s, char *out, size_t size);
/* Deleted or expired, not collected, and the user may restore it. */
bool m_restorable(const model *m, const m_session *s, const char *user);
bool m_listed(const model *m, const m_session *s, const char *user, const ramet_list_in *in);

/* ---- model_retention.c: holds and rules */

bool m_held(const m_session *s);
m_set model_hold(model *m, const char *user, const char *id, bool tree, bool set);
/* Whether a rule that counts from the creation takes a session, and what then becomes of it. */
bool m_rule_takes(const model *m, const ramet_rule *r, const m_session *s);
void model_rule_take(model *m, m_session *s);

#endif
