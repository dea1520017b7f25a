/* SPDX-License-Identifier: Apache-2.0
 *
 * http_internal.h: what the files of http share. Nothing else includes it.
 *
 *   http.c         start and stop
 *   http/listen.c  the socket that listens
 *   http/peer.c    connections: how many, from where, and for how long
 *   http/worker.c  the threads that read and write connections
 *   http/parse.c   the grammar: header and chunks
 *   http/target.c  the request target and the header: checked
 *   http/exchange.c     a request from its header to its answer: the states below
 *   http/body.c    limits on the bytes of bodies, in total and per user
 *   http/answer.c  the answer: headers, compression, conditions
 *   http/deadline.c    clients that disconnect before their answer
 *   http/stall.c   clients that do not read it
 *   http/stream_send.c  streamed bodies
 *
 * A connection (peer) belongs to its worker; an exchange to that worker too, or, while peer.at is
 * AT_ADMIT, AT_POOL or AT_PIECE, to a thread of the pool, which hands it back by
 * worker_hand_back().
 *
 *             ┌────────────── next request ───────────────┐
 *             ▼                                           │
 *   AT_HEADER ─► AT_ADMIT ─► AT_BODY ─► AT_POOL ─► AT_ANSWER ─► AT_DROP
 *       │           │          ▲  └───────┘  │         ▲  └─────► AT_LINGER ─► closed
 *       └───────────┴──────────┘             └─────────┘  ▲ │
 *                                                         │ ▼
 *                                                       AT_PIECE
 */
#ifndef HTTP_HTTP_INTERNAL_H
#define HTTP_HTTP_INTERNAL_H

#include "http/http.h"
#include "http/parse.h"
#include "runtime/pool.h"
#include "http/stream.h"
#include "http/work.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#define PIECE_MAX ((size_t)64 * 1024)       /* of an upload, passed to its sink in one call */
#define UNKNOWN_BODY_MAX ((size_t)64 << 10) /* read before the caller is identified */
#define DROP_MAX ((int64_t)256 * 1024)      /* a longer rest of a refused body is not read */
#define LINGER_MAX ((int64_t)8 << 20)       /* read at most, after the last answer */
#define LINGER_US 2000000
#define KEEP_MAX ((size_t)16 * 1024) /* capacity of a buffer that an idle connection keeps */
/* Of an answer that is in memory at once, or of one piece. An entry of 16 MiB with every byte
 * escaped fits; so do ANSWER_BODIES times body-max, since writes echo what was sent. */
#define ANSWER_MAX ((size_t)128 << 20)
#define ANSWER_BODIES 4
#define READ_BYTES ((size_t)16 * 1024) /* read by one call */
#define SEND_RATE_SHIFT 14             /* a client must take 16 KiB a second of an answer, */
#define BODY_RATE_SHIFT 16             /* and give 64 KiB a second of a body, after request_s */

typedef struct exchange exchange;
typedef struct http_stream http_stream;
typedef struct worker worker;

typedef enum {
    AT_HEADER, /* idle, or the header is arriving */
    AT_ADMIT,  /* a thread of the pool identifies the caller */
    AT_BODY,   /* the body is arriving */
    AT_POOL,   /* a thread of the pool runs the request, or stores a piece of an upload */
    AT_ANSWER, /* the answer is being sent */
    AT_PIECE,  /* a thread of the pool makes the next piece of it (face_req.more) */
    AT_DROP,   /* it was sent; the rest of the body is discarded before the next request */
    AT_LINGER  /* it was sent and was the last one: further input is discarded */
} peer_at;

/* One connection. `until`, `busy` and `arriving` are read by the watcher at any time. */
typedef struct peer peer;
struct peer {
    peer *prev, *next;
    int fd;
    bool over;             /* past the limit of connections: its request is refused */
    atomic_bool busy;      /* a request has arrived and is not answered yet */
    atomic_bool arriving;  /* a part of the first request has arrived */
    _Atomic int64_t until; /* when it is closed, by time_mono_us(); 0 = never */
    struct address *from;
    char remote[INET6_ADDRSTRLEN];
    bool mine;           /* owned by the acceptor: it has no worker, or not yet */
    bool h2;             /* passed to gRPC; `fd` is a second descriptor of the socket */
    bool door;           /* accepted on the second address */
    atomic_bool sending; /* an answer is not completely acknowledged by the client */
    atomic_bool gone;    /* the client disconnected while its request was in the pool */
    _Atomic int wait;    /* WAIT_*: see http/deadline.c */

    /* the watcher's */
    int64_t acked;    /* bytes that the client had acknowledged, */
    int64_t acked_at; /* and since when; 0: not checked yet */

    /* of http/deadline.c */
    bool interim;        /* an interim response may be sent to it */
    bool probed;         /* … and was */
    int64_t waits_since; /* when its request was passed to the pool */

    /* the worker's */
    http *http;
    worker *worker;
    peer_at at;
    exchange *exchange; /* reused by the next request, for its memory */
    buf in;             /* bytes received and not consumed yet, */
    size_t used;        /* from here on */
    head_scan scan;
    bool can_read, can_write; /* since the last event, until the socket would block */
    bool ended;               /* the client's last byte was read */
    bool half;                /* the client has sent its last byte */
    bool broken;              /* nothing can be sent to the client */
    bool closed;              /* to be freed at the end of the round */
    int64_t to_drop;          /* AT_DROP, AT_LINGER: bytes left to discard */
    bool parked;              /* closed, but still in worker.resumed */
    peer *round;              /* the next one in worker.closed */
    atomic_bool queued;       /* in worker.resumed */
    peer *queue;              /* the next one there, */
    peer *back;               /* and the next one in worker.back */
};

/* Whether the request of a connection is in the pool. */
enum { WAIT_NONE, WAIT_POOL, WAIT_PROBED };

struct exchange {
    request request;
    http *http;
    peer *peer;
    http_target to;
    http_head head;
    int64_t length;        /* Content-Length; -1 = none */
    int64_t received;      /* bytes of the body so far */
    int64_t sent;          /* bytes of the body of the answer */
    int64_t handed_us;     /* when it was passed to the pool */
    int64_t paused_us;     /* time in the pool, not charged to the client */
    size_t reserved;       /* bytes of http.bodies, */
    struct holder *holder; /* charged to this user or address */
    chunk_reader chunks;
    bool ended;    /* the body is complete */
    bool chunked;  /* it comes in chunks */
    bool expects;  /* the client waits for 100 Continue */
    bool known;    /* the caller is identified, as far as the route needs it */
    bool gzip_ok;  /* Accept-Encoding */
    bool answered; /* the answer is ready */
    bool close;    /* no further request on this connection */
    bool in_doubt; /* the end of the request is unknown, or was not read */
    const char *if_none_match;
    const char *connection; /* of the answer: Connection; NULL: none */
    buf start;              /* of the answer: status line and header */
    buf packed;             /* its body, compressed */
    buf piece;              /* of a stream, which accounts for its bytes */
    const char *bytes;      /* its body: these bytes, a file (q.file), or a stream (q.stream) */
    size_t n_bytes;
    size_t start_at, bytes_at; /* sent so far */
    int64_t file_left;
    request_piece then; /* what follows the present piece, if q.more is set */
    bool stream_given;  /* q.stream was abandoned */
    bool stream_over;   /* its end was taken */
    pool_job job;
};

#define ADDRESS_BUCKETS 256

struct http {
    http_config cfg;
    worker *workers;
    size_t n_workers, next_worker;
    size_t max; /* connections, including those that are only refused */
    struct door {
        int fd, port;
    } doors[2];      /* what it listens on; the second one for HTTP/2 alone, fd -1: not there */
    int listen_wake; /* readable: the acceptor ends */
    int listen_poll; /* epoll of the acceptor */
    pthread_t listener;
    bool shut;            /* it does not listen any more; of the thread that stops it */
    atomic_bool stopping; /* new requests are refused */
    uint64_t id_salt;
    _Atomic uint64_t id_next;
    struct bodies *bodies;

    pthread_mutex_t lock; /* of what follows */
    peer *peers;
    size_t n_peers;
    struct address *addresses[ADDRESS_BUCKETS];
    http_stream *streams;
    size_t n_streams;
    bool watch_stop;
    pthread_cond_t watch_wake;
    pthread_t watcher;
};

/* http/listen.c */
bool listen_open(http *h, char *message);
bool listen_start(http *h);
void listen_stop(http *h); /* after listen_start() */
void listen_close(http *h);

/* http/worker.c */
bool workers_start(http *h);
void workers_stop(http *h); /* closes their connections */
/* Hands a connection over. False: it cannot be watched. On the acceptor's thread. */
bool worker_take(http *h, peer *p);
/* Its stream has something to send; any thread. */
void worker_resume(peer *p);
/* The thread of the pool that has its exchange is done with it. */
void worker_hand_back(peer *p);
/* Closes it, on its worker. */
void peer_close(peer *p);
/* More bytes into peer.in. */
typedef enum { FILL_SOME, FILL_LATER, FILL_END } fill_result;
fill_result peer_fill(peer *p);

/* http/exchange.c */
/* One step of the connection's work; false: it has to wait, or is closed. */
bool way_step(peer *p);
/* The pool has handed the exchange back. */
void way_back(peer *p);
/* Ends the exchange, answered or not; NULL, or one that is over: nothing. */
void exchange_end(exchange *x);

/* http/target.c */
/* Takes method, target and header. False: the answer is filled. */
bool target_read(exchange *x);
void request_id(exchange *x, const char *given);

/* http/body.c */
struct bodies *bodies_new(const http_config *cfg);
void bodies_free(struct bodies *b);
/* Reserves `n` bytes in all for a body, charged to the user, or to the address until the caller is
 * identified. False: no room; *status tells whether the total (503) or its own limit (429) is used
 * up. */
bool body_reserve(exchange *x, size_t n, int *status);
void body_release(exchange *x);

/* http/answer.c */
/* Makes the answer ready to be sent from what the request's runner filled, on its thread. */
void answer_prepare(exchange *x);
/* The next piece is in q.out: makes it ready to be sent. */
void answer_piece(exchange *x);
/* Sends some of it. SEND_PIECE: another piece has to be made first. */
typedef enum { SEND_SOME, SEND_LATER, SEND_PIECE, SEND_DONE, SEND_BROKEN } send_result;
send_result answer_send(exchange *x);
/* A whole answer without a request; returns its length. */
size_t answer_plain(char *out, size_t size, const char *status, const char *code, const char *text);

/* http/peer.c */
peer *peer_add(http *h, int fd, const struct sockaddr *from);
void peer_free(http *h, peer *p); /* the socket stays open */
/* Closes it in `us` microseconds. False: it is closed already, and nothing may be sent. */
bool peer_limit(peer *p, int64_t us);
bool peer_unlimit(peer *p);
void watch_start(http *h);
void watch_stop(http *h);
/* Ends idle connections, or all; returns how many are busy. */
size_t peers_end(http *h, bool all);

/* http/deadline.c */
/* Called before and after the request of a connection is in the pool. `interim`: the client speaks
 * HTTP/1.1, and skips interim responses. */
void peer_wait_begin(peer *p, bool interim);
void peer_wait_end(peer *p);
void peer_wait_look(peer *p, int64_t now); /* the watcher's: sets `gone` */

/* http/stall.c */
/* The watcher's: whether a client has taken nothing of its answer for that long. */
bool stall_look(peer *p, int64_t now, int64_t stall_us);

/* http/stream_send.c */
body_stream *http_stream_new(request *q, size_t max);
/* Takes the next bytes, as a chunk or as they are, into `out`. False: there are none yet; the
 * stream wakes the connection when there are. x->stream_over: they were the last. */
bool stream_next(exchange *x, buf *out);
void stream_abandon(body_stream *s); /* nothing more is taken from it */
void streams_end(http *h);

#endif
