/* SPDX-License-Identifier: Apache-2.0
 *
 * script.h: operations as data. A script is a list of operations with small whole numbers as
 * operands; 0 is always the plainest choice. It does not depend on what the store answers, so
 * that it can be made from a seed, printed, parsed, cut down and run again.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { SLOTS = 40 }; /* session names */

/* Operands: name, values are below this, those of a tame operation below that, percentage of
 * zeros, what it means. A tame operation is meant to be done, a wild one may ask for nonsense. */
#define SCRIPT_OPERANDS(X)                                                                         \
    X(U, "user", 6, 6, 45, "who asks; 0 = the embedding program")                                  \
    X(H, "handle", 2, 2, 85, "through the first or the second open store")                         \
    X(DT, "dt", 6, 4, 60, "time that passes before it")                                            \
    X(STRICT, "strict", 2, 1, 0, "the slots named, whatever they hold")                            \
    X(S, "s", SLOTS, SLOTS, 10, "session, by slot")                                                \
    X(TO, "to", SLOTS, SLOTS, 3, "slot of the fork")                                               \
    X(UUID, "uuid", 2, 2, 60, "let the store make the id")                                         \
    X(TITLE, "title", 8, 7, 50, "7 = too long")                                                    \
    X(AGENT, "agent", 5, 4, 50, "4 = bad options")                                                 \
    X(TAGS, "tags", 12, 7, 40, "which set of tags; 8 to 10 are refused")                           \
    X(META, "meta", 4, 3, 70, "3 = no object")                                                     \
    X(PRIVATE, "private", 3, 3, 80, "1 = private; in an update 2 = to the tree")                   \
    X(OWNER, "owner", 6, 6, 50, "another owner, or the owner asked for")                           \
    X(EPH, "ephemeral", 4, 4, 90, "how soon it expires")                                           \
    X(XH, "expect", 6, 3, 75, "expected_head: 1, 2 right; 3, 4 stale; 5 malformed")                \
    X(N, "n", 12, 9, 40, "entries, less one; 9 and 10 are too many, 11 = none")                    \
    X(ID, "id", 60, 58, 60, "id of the first entry; 0 = made by the store")                        \
    X(C, "c", 1 << 22, 1 << 22, 5, "content")                                                      \
    X(RE, "re", 5, 3, 88, "sends an entry again: 1 whole, 2 thin, 3 changed, 4 twice in a batch")  \
    X(BR, "br", 64, 64, 75, "branch; 0 = the head")                                                \
    X(LOG, "log", 2, 2, 93, "1 = adk")                                                             \
    X(AT, "at", 512, 512, 12, "entry")                                                             \
    X(AFTER, "after", 512, 512, 70, "entry")                                                       \
    X(BEFORE, "before", 512, 512, 70, "entry")                                                     \
    X(SIDE, "before_it", 2, 2, 60, "1 = before the entry")                                         \
    X(CUT, "cut", 3, 3, 45, "cut policy")                                                          \
    X(ADK, "adk", 512, 512, 90, "entry of the adk log to cut at")                                  \
    X(REASON, "reason", 5, 4, 70, "4 = too long")                                                  \
    X(TYPE, "type", 3, 3, 70, "fork type")                                                         \
    X(BY, "by", 4, 4, 75, "made by whom")                                                          \
    X(LIM, "limit", 12, 10, 30, "which limit")                                                     \
    X(TAIL, "tail", 2, 2, 60, "the last ones")                                                     \
    X(POS, "pos", 40, 40, 75, "position, plus one")                                                \
    X(CH, "channel", 5, 5, 70, "4 = an unknown one")                                               \
    X(VER, "versions", 2, 2, 50, "with versions")                                                  \
    X(K, "k", 32, 31, 20, "a number")                                                              \
    X(TREE, "tree", 2, 2, 60, "the whole tree")                                                    \
    X(DRY, "dry", 2, 2, 50, "dry run")                                                             \
    X(ARCH, "archived", 3, 3, 60, "archived or not")                                               \
    X(INTO, "into", SLOTS + 2, SLOTS + 2, 80, "merged into that slot, less one")                   \
    X(MEMBER, "member", 6, 6, 0, "user")                                                           \
    X(LEVEL, "level", 6, 5, 0, "level; 5 = none such")                                             \
    X(S1, "s1", SLOTS, SLOTS, 10, "second side")                                                   \
    X(B1, "b1", 64, 64, 70, "its branch")                                                          \
    X(S2, "s2", SLOTS + 1, SLOTS + 1, 60, "third side, plus one")                                  \
    X(WIN, "winner", 4, 3, 25, "index, less one")                                                  \
    X(Q, "q", 1008, 1008, 1, "query")                                                              \
    X(ROLE, "role", 5, 5, 75, "role")                                                              \
    X(KEEP, "keep", 64, 64, 20, "sync: how much of the path is in the list")                       \
    X(CHANGE, "change", 3, 3, 55, "sync: 1 the last kept one differs, 2 one in the middle")        \
    X(ADD, "add", 6, 6, 40, "sync: how many follow")

typedef enum {
#define X(name, text, below, tame, zeros, what) A_##name,
    SCRIPT_OPERANDS(X)
#undef X
        A_COUNT
} operand;

/* Operations: name, weights in the profiles, operands beside user, handle, dt and strict. */
#define SCRIPT_OPS(X)                                                                              \
    X(create, 30, 2, 20, 1, 1, A_S, A_UUID, A_TITLE, A_AGENT, A_TAGS, A_META, A_PRIVATE, A_OWNER,  \
      A_EPH)                                                                                       \
    X(fork, 50, 10, 50, 60, 8, A_S, A_TO, A_UUID, A_AT, A_SIDE, A_CUT, A_BR, A_ADK, A_TITLE,       \
      A_REASON, A_TAGS, A_AGENT, A_META, A_TYPE, A_PRIVATE, A_BY, A_EPH, A_XH)                     \
    X(append, 170, 80, 170, 60, 200, A_S, A_N, A_ID, A_C, A_RE, A_BR, A_LOG, A_XH)                 \
    X(rewind, 30, 50, 40, 6, 6, A_S, A_AT, A_SIDE, A_CUT, A_ADK, A_REASON, A_XH)                   \
    X(undo, 20, 30, 20, 3, 6, A_S, A_XH)                                                           \
    X(redo, 14, 20, 15, 2, 5, A_S, A_XH)                                                           \
    X(switch, 14, 50, 20, 3, 4, A_S, A_BR, A_XH)                                                   \
    X(prune, 12, 25, 15, 3, 5, A_S, A_BR, A_K, A_DRY)                                              \
    X(prune_restore, 6, 12, 8, 1, 2, A_S, A_BR, A_K, A_TREE)                                       \
    X(branch_update, 5, 6, 4, 1, 1, A_S, A_BR, A_K)                                                \
    X(branches_pruned, 5, 8, 5, 1, 1, A_S)                                                         \
    X(suggest, 5, 5, 3, 1, 3, A_S, A_BR)                                                           \
    X(overlay, 20, 30, 20, 3, 6, A_S, A_AT, A_K, A_REASON, A_XH)                                   \
    X(overlay_remove, 8, 12, 8, 1, 2, A_S, A_K, A_XH)                                              \
    X(template, 12, 4, 10, 3, 4, A_S, A_AT, A_K)                                                   \
    X(chat, 20, 8, 18, 8, 6, A_K, A_TO, A_UUID, A_C, A_TITLE, A_PRIVATE)                           \
    X(edit, 25, 80, 15, 8, 5, A_S, A_AT, A_ID, A_C, A_RE, A_ROLE, A_XH)                            \
    X(regenerate, 15, 50, 10, 3, 3, A_S, A_AT, A_N, A_ID, A_C, A_XH)                               \
    X(sync, 25, 25, 15, 2, 8, A_S, A_KEEP, A_CHANGE, A_ADD, A_ID, A_C, A_CH, A_XH)                 \
    X(merge, 25, 20, 20, 20, 8, A_S, A_S1, A_B1, A_K, A_AT, A_AFTER, A_DRY, A_XH)                  \
    X(ends, 25, 10, 10, 10, 5, A_S, A_BR, A_AT)                                                    \
    X(update, 15, 1, 5, 1, 1, A_S, A_TITLE, A_AGENT, A_META, A_ARCH, A_PRIVATE, A_INTO, A_XH)      \
    X(promote, 6, 1, 1, 0, 0, A_S)                                                                 \
    X(delete, 16, 1, 6, 4, 1, A_S, A_TREE, A_DRY)                                                  \
    X(restore, 12, 1, 6, 2, 1, A_S, A_TREE)                                                        \
    X(hold, 8, 1, 4, 2, 1, A_S, A_TREE)                                                            \
    X(release, 12, 1, 5, 3, 1, A_S, A_TREE)                                                        \
    X(retention, 3, 1, 2, 1, 1, A_TAGS, A_AGENT, A_ARCH, A_EPH, A_PRIVATE, A_K, A_DRY)             \
    X(erase, 6, 2, 4, 2, 2, A_S, A_AT, A_K, A_MEMBER)                                              \
    X(tags_set, 6, 0, 0, 0, 0, A_S, A_TAGS)                                                        \
    X(tags_add, 8, 0, 0, 0, 0, A_S, A_TAGS)                                                        \
    X(tags_remove, 6, 0, 0, 0, 0, A_S, A_TAGS)                                                     \
    X(member_set, 40, 3, 15, 1, 1, A_S, A_MEMBER, A_LEVEL)                                         \
    X(member_remove, 5, 1, 1, 0, 0, A_S, A_MEMBER)                                                 \
    X(make, 30, 2, 20, 10, 5, A_S, A_TO, A_S1, A_AT, A_TITLE, A_META, A_K)                         \
    X(archive, 8, 0, 3, 1, 0, A_S, A_ARCH)                                                         \
    X(offer, 14, 0, 6, 1, 0, A_S, A_MEMBER)                                                        \
    X(offer_end, 20, 0, 6, 1, 0, A_S, A_K)                                                         \
    X(offers, 4, 0, 1, 0, 0, A_K)                                                                  \
    X(verdict, 5, 2, 0, 0, 0, A_S, A_BR, A_S1, A_B1, A_S2, A_WIN, A_REASON)                        \
    X(gc, 3, 1, 3, 2, 1, A_DRY)                                                                    \
    X(get, 25, 15, 20, 20, 10, A_S)                                                                \
    X(list, 15, 1, 5, 1, 1, A_LIM, A_OWNER, A_AGENT, A_TAGS, A_S1, A_TREE, A_TITLE, A_ARCH, A_K)   \
    X(list_next, 10, 0, 2, 0, 0, A_K)                                                              \
    X(read, 90, 90, 90, 60, 60, A_S, A_LIM, A_AFTER, A_BEFORE, A_TAIL, A_POS, A_CH, A_BR, A_LOG,   \
      A_VER)                                                                                       \
    X(context, 40, 60, 40, 20, 20, A_S, A_LIM, A_AFTER, A_BEFORE, A_TAIL, A_CH, A_BR)              \
    X(entry, 25, 25, 20, 20, 15, A_S, A_BR, A_AT)                                                  \
    X(stream, 12, 12, 12, 4, 12, A_S, A_CH, A_BR, A_LOG, A_K)                                      \
    X(stream_next, 12, 5, 6, 2, 10, A_K)                                                           \
    X(record, 20, 20, 20, 5, 15, A_S, A_LOG, A_POS, A_LIM)                                         \
    X(head_log, 14, 15, 10, 3, 2, A_S, A_K, A_LIM)                                                 \
    X(versions, 25, 60, 10, 15, 10, A_S, A_BR, A_AT)                                               \
    X(branches, 14, 20, 10, 4, 4, A_S)                                                             \
    X(ancestry, 10, 1, 4, 3, 1, A_S)                                                               \
    X(children, 10, 1, 4, 3, 1, A_S)                                                               \
    X(tree, 10, 1, 4, 1, 1, A_S, A_TREE)                                                           \
    X(fork_points, 12, 12, 8, 5, 4, A_S)                                                           \
    X(compare, 15, 15, 8, 8, 15, A_S, A_BR, A_S1, A_B1, A_S2, A_LIM)                               \
    X(templates, 4, 1, 2, 1, 1, A_LIM)                                                             \
    X(record_view, 6, 3, 5, 2, 4, A_S, A_LIM)                                                      \
    X(verdicts, 4, 1, 0, 0, 0, A_S, A_TREE, A_K, A_LIM)                                            \
    X(search, 10, 5, 8, 2, 2, A_Q, A_S, A_TREE, A_S1, A_TAGS, A_AGENT, A_ROLE, A_LIM, A_K)         \
    X(search_update, 1, 0, 1, 0, 0, A_TREE)                                                        \
    X(state, 20, 20, 10, 15, 30, A_S, A_AT)                                                        \
    X(usage, 14, 10, 20, 6, 15, A_S)                                                               \
    X(members, 10, 1, 3, 0, 0, A_S)                                                                \
    X(tags_all, 4, 0, 0, 0, 0, A_S)                                                                \
    X(fsck, 2, 1, 2, 1, 1, A_K)                                                                    \
    X(stat, 3, 1, 2, 1, 1, A_K)                                                                    \
    X(backup, 1, 0, 1, 0, 0, A_K)                                                                  \
    X(copy, 2, 1, 2, 1, 1, A_K)                                                                    \
    X(export, 2, 1, 2, 1, 1, A_K)                                                                  \
    X(reopen, 2, 1, 2, 1, 1, A_K)                                                                  \
    X(second, 3, 1, 2, 1, 1, A_K)                                                                  \
    X(check, 0, 0, 0, 0, 0, A_K)

typedef enum {
#define X(name, ...) OP_##name,
    SCRIPT_OPS(X)
#undef X
        OP_COUNT
} op_kind;

typedef struct op {
    op_kind kind;
    int32_t a[A_COUNT];
} op;

typedef enum { MIXED, VERSIONS, ADK, DEEP, LONG, PROFILES } profile;
const char *profile_name(profile p);

/* n operations drawn from the seed, and the reads that follow the writes among them. The list is
 * the caller's to free. */
op *script_make(uint64_t seed, profile p, size_t n, size_t *count);

void op_print(FILE *f, const op *o);
/* False when the line is neither an operation, nor empty, nor a comment; *none for the latter. */
bool op_parse(const char *line, op *o, bool *none);
const char *op_name(op_kind k);
bool op_uses(op_kind k, operand a);

#endif
