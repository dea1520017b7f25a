/* SPDX-License-Identifier: Apache-2.0
 *
 * foreign.h: importers of conversations that other programs have written. The room uses the library
 * through its public header: what an importer does is append, fork and move.
 *
 *   F1  The input lies in a spool. It is read twice: the first pass reads every conversation and
 *       writes nothing, the second one writes. What cannot be read is skipped with a reason; when
 *       nothing can be read, the input is refused.
 *   F2  No table maps foreign ids. The id of a session is made of the user, the format and the
 *       foreign id, and the id of an entry is the foreign one. The root of a tree has an id that is
 *       made of its first message instead, so that a copy of it finds the tree.
 *   F3  A message is known by its *chain digest*: a hash over role, parts and time of it and of
 *       every message above it. Copies have new ids and the same digest. A stored entry has the
 *       digest of the message that it was made of.
 *   F4  Every commit leaves a state that another import continues: it looks for what is there, by
 *       F2 and F3, and adds what is missing.
 *   F5  Memory grows with the number of conversations and lines, with one conversation, and with
 *       the digests of the conversations that share a first message.
 *
 *   formats.c   the table of formats
 *   input.c     the spool as files, lines and elements of arrays
 *   parts.c     the parts of a message, files, steps of an answer
 *   tree.c      messages with their parents become a tree
 *   digests.c   where the message of a digest is stored
 *   known.c     what a session of the store has
 *   write.c     a tree becomes a session with its branches
 *   import.c    the two passes
 */
#ifndef FOREIGN_FOREIGN_H
#define FOREIGN_FOREIGN_H

#include "ramet/foreign.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/util.h"

#define DIGEST_LEN 16
#define MAX_MESSAGES 1000000             /* of one conversation */
#define MAX_SOURCES 1000000              /* conversations */
#define MAX_SPANS 20000000               /* lines, or files */
#define MAX_FILES 1000000                /* of an archive */
#define MAX_TEXT_BYTES ((size_t)1 << 30) /* JSON text of one conversation, or line */
#define MAX_PARTS_BYTES (((size_t)16 << 20) - ((size_t)256 << 10)) /* of one entry */
#define MAX_NESTING 100 /* of JSON in a file; the store takes some levels more */
#define MAX_FILE_BYTES ((size_t)64 << 20)
#define TRY(x)                                                                                     \
    do {                                                                                           \
        ramet_status try_ = (x);                                                                   \
        if (try_ != RAMET_OK)                                                                      \
            return try_;                                                                           \
    } while (0)

/* ---- what is read */

/* A file of the input. */
typedef struct foreign_member {
    const char *name; /* path in the archive; "" for an input that is one file */
    char *at;
    size_t n;
} foreign_member;

/* A text in a member. */
typedef struct foreign_span {
    char *at;
    size_t n;
    uint32_t member;
    uint32_t line; /* 0: not a line */
} foreign_span;

typedef enum {
    LINK_NONE,
    LINK_COPY, /* it begins as a copy of `parent` does */
    LINK_BELOW /* it was started from `parent`, and has nothing of its history */
} foreign_link;

/* Bytes that a message refers to; its part has attachment_id "sha256:HEX" until it is uploaded. */
typedef struct foreign_file {
    char hex[2 * HASH_LEN + 1];
    const char *name, *media_type;
    const char *bytes;
    size_t n;
} foreign_file;

typedef struct foreign_node {
    const char *id, *parent; /* foreign ids; parent NULL: none */
    int64_t up;              /* index of the parent; -1: none. Before foreign_resolve(): set by
                                the reader, or -1 */
    ramet_role role;         /* 0: it holds nothing, and its children belong to its parent */
    const char *parts;       /* JSON array */
    int64_t created;         /* 0: unknown */
    ramet_usage usage;
    bool has_usage;
    size_t first_file, n_files; /* in the files of the conversation */
    /* made by foreign_resolve() */
    const char *turn;
    bool has_child;
    uint8_t digest[DIGEST_LEN];
} foreign_node;

typedef struct foreign_conversation {
    arena *mem;
    const char *id, *title, *model, *folder;
    foreign_link link;
    const char *parent; /* foreign id of a conversation */
    int64_t created;
    bool archived;
    bool timeless; /* times are unknown, or copies have other ones: they are not compared */
    VEC(foreign_node) nodes; /* as read; then those with content, parents before children */
    VEC(foreign_file) files;
    VEC(const char *) aliases; /* pairs: an id, and the id of the node that children go below */
    const char *current;       /* id of the message that was shown last; NULL: the last one read */
    int64_t tip;               /* its index; -1: the conversation is empty */
    size_t n_leaves;
} foreign_conversation;

/* A conversation of the input. */
typedef struct foreign_source {
    const char *id; /* NULL: unknown to the index */
    VEC(foreign_span) spans;
    /* of the first pass */
    const char *conversation, *parent;
    foreign_link link;
    uint8_t key[DIGEST_LEN]; /* of its tree */
    int64_t created;
    size_t order;
    int64_t above; /* index of the source of `parent`; -1: not in the input */
    size_t depth;  /* sources above it */
    size_t group;
    bool skipped;
} foreign_source;

typedef struct foreign_job foreign_job;

typedef struct foreign_reader {
    /* Copies in this format have other times, and name what they were copied from. */
    bool copies_have_new_times;
    /* Finds the conversations in a member, with source_add(). */
    ramet_status (*index)(foreign_job *j, const foreign_member *m);
    /* Reads one. False: it is skipped, and skip_note() was called. */
    bool (*load)(foreign_job *j, const foreign_source *s, foreign_conversation *c);
} foreign_reader;

struct foreign_job {
    ramet_import *import;
    ramet_call *call;
    const foreign_reader *reader;
    const char *format; /* its name */
    const char *user;   /* "" for the embedding program */
    ramet_progress progress;
    void *progress_arg;
    ramet_import_out *out;
    arena *all; /* lives as long as the job */
    sha *hasher;
    char *map;
    size_t size;
    VEC(foreign_member) members;
    VEC(foreign_source) sources;
    uint32_t *slots; /* sources by id: index + 1 */
    size_t n_slots, n_named, n_spans;
    VEC(ramet_import_skip) skips;
    bool reads_again;    /* what is skipped was counted in the first pass */
    int64_t done, total; /* conversations */
};

#define X(reader, name, reads) extern const foreign_reader foreign_##reader;
RAMET_FOREIGN_FORMATS(X)
#undef X
const foreign_reader *foreign_find(const char *name);

/* ---- import.c */

ramet_status job_fail(foreign_job *j, ramet_status st, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Counts something that is not imported; `reason` is constant. `m` and `line` say where; NULL and
 * 0 when that is unknown. */
void skip_note(foreign_job *j, const char *reason, const foreign_member *m, int64_t line);
void skip_span(foreign_job *j, const char *reason, const foreign_span *s);
/* Adds a text to the conversation of that id; id NULL: to a new one. */
ramet_status source_add(foreign_job *j, const char *id, foreign_span span);

/* The JSON of a conversation that is one text; false: it was skipped. */
bool source_parse(foreign_job *j, const foreign_source *s, arena *a, json_doc *d);

/* ---- input.c */

ramet_status input_open(foreign_job *j);
void input_close(foreign_job *j);
/* The next line that is not blank; false at the end. *at and *line are 0 at first. */
bool input_line(foreign_job *j, const foreign_member *m, size_t *at, uint32_t *line,
                foreign_span *out);
/* Adds each element of an array of objects, or the one object, as a conversation. */
ramet_status input_elements(foreign_job *j, const foreign_member *m);
/* Parses a text after mending what the store would refuse (U+0000, half characters). */
bool foreign_parse(arena *a, const foreign_span *s, json_doc *d);
/* The whole member as a text. */
foreign_span member_span(const foreign_job *j, const foreign_member *m);
bool member_ends(const foreign_member *m, const char *end);
/* The file name without its folders. */
const char *member_base(const foreign_member *m);
/* A member whose file name begins with `begin`; NULL: none. */
const foreign_member *member_find(const foreign_job *j, const char *begin);

/* ---- parts.c: values of JSON */

const char *pick_text(arena *a, const json_doc *d, const json_node *obj, const char *key);
int64_t pick_int(const json_doc *d, const json_node *obj, const char *key);
bool pick_true(const json_doc *d, const json_node *obj, const char *key);
bool pick_is(const json_doc *d, const json_node *v, const char *text);
/* A time as text (RFC 3339) or as a number of seconds or milliseconds; 0: none. */
int64_t pick_time(arena *a, const json_doc *d, const json_node *obj, const char *key);
/* A value without blanks and needless escapes: copies of it are written in other ways. */
const char *pick_json(arena *a, const json_doc *d, const json_node *v);
/* Usage from members of `obj`; false when neither input nor output is there. */
bool pick_usage(const json_doc *d, const json_node *obj, const char *input, const char *output,
                const char *cached, ramet_usage *out);

/* ---- parts.c: messages */

/* One message of a foreign program. It becomes one entry; an answer that goes on after the results
 * of its tools becomes several, ID, ID.2, … */
typedef struct foreign_message {
    foreign_job *job;
    foreign_conversation *conversation;
    const char *id, *parent;
    int64_t up; /* index of the parent when it has no id; -1 */
    ramet_role role;
    int64_t created;
    ramet_usage usage;
    bool has_usage;
    /* private */
    buf said, results;
    json_writer say, answer;
    size_t n_said, n_results, first_file;
    int steps;
    int64_t last;
} foreign_message;

void msg_begin(foreign_message *m, foreign_job *j, foreign_conversation *c, const char *id,
               ramet_role role, int64_t created);
void msg_text(foreign_message *m, const char *text); /* blank ones are left out */
void msg_thinking(foreign_message *m, const char *text);
/* `input` is JSON; NULL: {}. */
void msg_call(foreign_message *m, const char *id, const char *name, const char *input);
/* `output` is JSON. In an answer, results make the entry of a tool behind the calls. */
void msg_result(foreign_message *m, const char *id, const char *output, bool failed);
void msg_data(foreign_message *m, const char *json);
/* A file by its address; data: addresses are taken as bytes. */
void msg_url(foreign_message *m, const char *url, const char *name, const char *media_type);
void msg_base64(foreign_message *m, const char *base64, const char *name, const char *media_type);
void msg_bytes(foreign_message *m, const char *bytes, size_t n, const char *name,
               const char *media_type);
/* Adds the entries; a message without parts holds nothing. The index of the last one. */
int64_t msg_end(foreign_message *m);
/* An id for a call that has none: of its time, which copies of it have, too. */
const char *call_id_of(arena *a, int64_t created);
/* A text that should be JSON, as JSON: as it is, or as a string. */
const char *json_or_text(arena *a, const char *text);

/* ---- tree.c */

/* Makes the tree; a conversation without messages has no tip. */
bool foreign_resolve(foreign_job *j, foreign_conversation *c, const foreign_span *where);
/* The digest of an entry below `above` (NULL: none). */
void digest_make(sha *s, const uint8_t *above, ramet_role role, const char *parts, int64_t created,
                 uint8_t out[DIGEST_LEN]);

/* ---- digests.c */

typedef struct digest_place {
    uint8_t digest[DIGEST_LEN];
    const char *session; /* NULL: free */
    int64_t branch, position;
} digest_place;

typedef struct digest_map {
    digest_place *slots;
    size_t n, cap;
} digest_map;

void digests_clear(digest_map *m);
void digests_add(digest_map *m, const digest_place *p); /* the first one stays */
const digest_place *digests_get(const digest_map *m, const uint8_t digest[DIGEST_LEN]);

/* ---- known.c */

typedef struct known_branch {
    int64_t id, length;
} known_branch;

/* A session of the store. */
typedef struct known_session {
    const char *id;
    ramet_head head;
    const char *metadata;
    const char *conversation, *current; /* of `import` in the metadata */
    uint8_t tip[DIGEST_LEN];            /* digest of the head; zeros when it is empty */
    const char *tip_id;                 /* id of its entry; NULL: it is empty */
    VEC(known_branch) branches;
    digest_map places; /* the entries of all its branches */
} known_session;

typedef enum { SESSION_OURS, SESSION_ABSENT, SESSION_UNUSABLE } session_state;

/* Looks a session up. SESSION_UNUSABLE: it was deleted, or belongs to somebody else. */
ramet_status known_open(foreign_job *j, arena *a, const char *id, known_session *out,
                        session_state *state);
/* Reads its entries. `read` is the conversation that they are compared with: messages of it that
 * were erased here are known, too. */
ramet_status known_load(foreign_job *j, arena *a, const foreign_conversation *read, bool timeless,
                        known_session *k);
void known_release(known_session *k);

/* ---- write.c */

/* The trees of one group of conversations that share a first message, or name each other. */
typedef struct foreign_group {
    digest_map places; /* in all its sessions */
    char root[UUID_TEXT];
    bool has_root;      /* the root is in the store, and ours */
    bool root_unusable; /* it was deleted, or is somebody else's */
} foreign_group;

void session_id_make(foreign_job *j, const char *kind, const void *key, size_t n,
                     char out[UUID_TEXT]);
ramet_status conversation_write(foreign_job *j, foreign_group *g, const foreign_conversation *c);

#endif
