/* SPDX-License-Identifier: Apache-2.0
 *
 * http_internal.h: shared by the files of src/http, and included by nothing else.
 *
 *   http.c         start and stop
 *   listen.c       the listening sockets
 *   peer.c         connections: how many, from where, and for how long
 *   worker.c       the threads that read and write connections
 *   parse.c        the grammar: header and chunks
 *   target.c       checks the request target and the header
 *   exchange.c     a request from its header to its answer: the states below
 *   body.c         limits on the bytes of bodies, in total and per user
 *   answer.c       the answer: headers, compression, conditions
 *   deadline.c     clients that disconnect before they are answered
 *   stall.c        clients that do not read their answer
 *   stream_send.c  streamed bodies
 *
 * A connection (peer) belongs to its worker. So does its exchange, except while peer.at is
 * AT_ADMIT, AT_POOL or AT_PIECE: then it belongs to a thread of the pool, which returns it with
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

#define PIECE_MAX ((size_t)64 * 1024)       /* bytes of an upload passed to its sink per call */
#define UNKNOWN_BODY_MAX ((size_t)64 << 10) /* read before the client is identified */
#define DROP_MAX ((int64_t)256 * 1024)      /* a longer rest of a refused body is not read */
#define LINGER_MAX ((int64_t)8 << 20)       /* most bytes read after the last answer */
#define LINGER_US 2000000
#define KEEP_MAX ((size_t)16 * 1024) /* capacity of a buffer that an idle connection keeps */
/* The limit of an answer in memory, or of one piece. An entry of 16 MiB with every byte escaped
 * fits; so do ANSWER_BODIES times body-max, since writes echo what was sent. */
#define ANSWER_MAX ((size_t)128 << 20)
#define ANSWER_BODIES 4
#define READ_BYTES ((size_t)16 * 1024) /* per call */
#define SEND_RATE_SHIFT 14             /* a client must read 16 KiB a second of an answer */
#define BODY_RATE_SHIFT 16             /* and send 64 KiB a second of a body, after request_s */

typedef struct exchange exchange;
typedef struct http_stream http_stream;
typedef struct worker worker;

typedef enum {
    AT_HEADER, /* idle, or the header is arriving */
    AT_ADMIT,  /* a pool thread identifies the client */
    AT_BODY,   /* the body is arriving */
    AT_POOL,   /* a pool thread runs the request, or stores a piece of an upload */
    AT_ANSWER, /* the answer is being sent */
    AT_PIECE,  /* a pool thread makes the next piece of it (request.more) */
    AT_DROP,   /* answer sent; the rest of the body is discarded before the next request */
    AT_LINGER  /* last answer sent; further input is discarded */
} peer_at;

/* One connection. The watcher may read `until`, `busy` and `arriving` at any time. */
typedef struct peer peer;
struct peer {
    peer *prev, *next;
    int fd;
    bool over;             /* over the connection limit: its request is refused */
    atomic_bool busy;      /* a request has arrived and is not answered yet */
    atomic_bool arriving;  /* a part of the first request has arrived */
    _Atomic int64_t until; /* when to close it, by time_mono_us(); 0: never */
    struct address *from;
    char remote[INET6_ADDRSTRLEN];
    bool mine;           /* owned by the acceptor: it has no worker (yet) */
    bool h2;             /* passed to gRPC; `fd` is a second descriptor of the socket */
    bool door;           /* accepted on the second address */
    atomic_bool sending; /* the client has not acknowledged all of an answer */
    atomic_bool gone;    /* the client disconnected while its request was in the pool */
    _Atomic int wait;    /* WAIT_*: see http/deadline.c */

    /* of the watcher */
    int64_t acked;    /* bytes the client had acknowledged */
    int64_t acked_at; /* since when; 0: not checked yet */

    /* of http/deadline.c */
    bool interim;        /* an interim response may be sent to it */
    bool probed;         /* … and was */
    int64_t waits_since; /* when its request went to the pool */

    /* of the worker */
    http *http;
    worker *worker;
    peer_at at;
    exchange *exchange; /* kept for its memory, for the next request */
    buf in;             /* bytes received */
    size_t used;        /* of them, bytes consumed */
    head_scan scan;
    bool can_read, can_write; /* since the last event; cleared when the socket would block */
    bool ended;               /* the client's last byte was read */
    bool half;                /* the client has sent its last byte */
    bool broken;              /* nothing can be sent to the client */
    bool closed;              /* to be freed at the end of the round */
    int64_t to_drop;          /* AT_DROP, AT_LINGER: bytes left to discard */
    bool parked;              /* closed, but still in worker.resumed */
    peer *round;              /* next in worker.closed */
    atomic_bool queued;       /* in worker.resumed */
    peer *queue;              /* next in worker.resumed */
    peer *back;               /* next in worker.back */
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
    int64_t handed_us;     /* when it went to the pool */
    int64_t paused_us;     /* time in the pool, not charged to the client */
    size_t reserved;       /* bytes reserved in http.bodies */
    struct holder *holder; /* charged to this user or address */
    chunk_reader chunks;
    bool ended;    /* the body is complete */
    bool chunked;  /* the body is chunked */
    bool expects;  /* the client waits for 100 Continue */
    bool known;    /* the client is identified, as far as the route needs it */
    bool gzip_ok;  /* Accept-Encoding */
    bool answered; /* the answer is ready */
    bool close;    /* no further request on this connection */
    bool in_doubt; /* the end of the request is unknown or was not read */
    const char *if_none_match;
    const char *connection; /* of the answer: Connection; NULL: none */
    buf start;              /* of the answer: status line and header */
    buf packed;             /* its body, compressed */
    buf piece;              /* bytes of a stream, which accounts for them */
    const char *bytes;      /* its body: these bytes, a file (q.file), or a stream (q.stream) */
    size_t n_bytes;
    size_t start_at, bytes_at; /* sent so far */
    int64_t file_left;
    request_piece then; /* what follows the current piece, if q.more is set */
    bool stream_given;  /* q.stream was abandoned */
    bool stream_over;   /* its end was reached */
    pool_job job;
};

#define ADDRESS_BUCKETS 256

struct http {
    http_config cfg;
    worker *workers;
    size_t n_workers, next_worker;
    size_t max; /* connections, including those accepted only to be refused */
    struct door {
        int fd, port;
    } doors[2];      /* listening sockets; the second one is for HTTP/2 only, fd -1: none */
    int listen_wake; /* readable: the acceptor ends */
    int listen_poll; /* epoll of the acceptor */
    pthread_t acceptor;
    bool shut;            /* no longer listening; used by the stopping thread only */
    atomic_bool stopping; /* new requests are refused */
    uint64_t id_salt;
    _Atomic uint64_t id_next;
    struct bodies *bodies;

    pthread_mutex_t lock; /* guards what follows */
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
/* Hands a connection to a worker. False: it cannot be watched. On the acceptor's thread. */
bool worker_take(http *h, peer *p);
/* Called when a connection's stream has something to send; from any thread. */
void worker_resume(peer *p);
/* Returns the exchange to its worker; called by the pool thread that has it. */
void worker_hand_back(peer *p);
/* Closes a connection, on its worker. */
void peer_close(peer *p);
/* Reads more bytes into peer.in. */
typedef enum { FILL_SOME, FILL_LATER, FILL_END } fill_result;
fill_result peer_fill(peer *p);

/* http/exchange.c */
/* Does one step of the connection's work; false: it must wait, or is closed. */
bool way_step(peer *p);
/* Called when the pool has handed the exchange back. */
void way_back(peer *p);
/* Ends the exchange, answered or not. NULL, or one that has ended: does nothing. */
void exchange_end(exchange *x);

/* http/target.c */
/* Reads method, target and header. False: the answer is filled in. */
bool target_read(exchange *x);
void request_id(exchange *x, const char *given);

/* http/body.c */
struct bodies *bodies_new(const http_config *cfg);
void bodies_free(struct bodies *b);
/* Raises the reservation of a body to `n` bytes, charged to the user, or to the address until the
 * client is identified. False: no room; *status is 503 if the total is used up, 429 if its own
 * limit is. */
bool body_reserve(exchange *x, size_t n, int *status);
void body_release(exchange *x);

/* http/answer.c */
/* Prepares the answer that the handler has filled in for sending, on the handler's thread. */
void answer_prepare(exchange *x);
/* Prepares the next piece, in q.out, for sending. */
void answer_piece(exchange *x);
/* Sends some of the answer. SEND_PIECE: the next piece has to be made first. */
typedef enum { SEND_SOME, SEND_LATER, SEND_PIECE, SEND_DONE, SEND_BROKEN } send_result;
send_result answer_send(exchange *x);
/* Formats a complete answer without a request; returns its length. */
size_t answer_plain(char *out, size_t size, const char *status, const char *code, const char *text);

/* http/peer.c */
peer *peer_add(http *h, int fd, const struct sockaddr *from);
void peer_free(http *h, peer *p); /* the socket stays open */
/* Sets the connection to close in `us` microseconds. False: it is closed already, and nothing may
 * be sent. */
bool peer_limit(peer *p, int64_t us);
bool peer_unlimit(peer *p);
void watch_start(http *h);
void watch_stop(http *h);
/* Closes idle connections, or all; returns how many are busy. */
size_t peers_end(http *h, bool all);

/* http/deadline.c */
/* Called before and after a connection's request is in the pool. `interim`: the client speaks
 * HTTP/1.1, so it skips interim responses. */
void peer_wait_begin(peer *p, bool interim);
void peer_wait_end(peer *p);
void peer_wait_look(peer *p, int64_t now); /* by the watcher: sets `gone` */

/* http/stall.c */
/* By the watcher: whether a client has read nothing of its answer for that long. */
bool stall_look(peer *p, int64_t now, int64_t stall_us);

/* http/stream_send.c */
body_stream *http_stream_new(request *q, size_t max);
/* Moves the next bytes into `out`, as a chunk or verbatim. False: there are none yet; the stream
 * wakes the connection when there are. x->stream_over: they were the last. */
bool stream_next(exchange *x, buf *out);
void stream_abandon(body_stream *s); /* takes nothing more from it */
void streams_end(http *h);

#endif
