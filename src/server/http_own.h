/* SPDX-License-Identifier: Apache-2.0
 *
 * http_own.h: what the files of http share. Nobody else includes it.
 *
 *   http.c         start, stop, and the way of a request
 *   http_listen.c  the socket that listens
 *   http_target.c  the request target and the header: taken apart and checked
 *   http_answer.c  the answer: headers, compression, conditions
 *   http_pieces.c  answers that are made as the client takes them
 *   http_peer.c    connections: how many, from where, and for how long
 *   http_stream.c  bodies that go on
 *   http_wait.c    clients that leave before their answer
 *   http_stall.c   clients that do not take it
 *
 * An exchange is owned by one thread at a time: by the worker of its connection, or, while that is
 * suspended, by a thread of the pool. `at` says by whom; it is handed over by pool_put() and by
 * MHD_resume_connection().
 */
#ifndef SERVER_HTTP_OWN_H
#define SERVER_HTTP_OWN_H

#include "server/http.h"
#include "server/pool.h"
#include "server/stream.h"
#include "server/work.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#define PIECE_MAX ((size_t)64 * 1024)  /* of an upload, handed to its sink at once */
#define DROP_MAX ((int64_t)256 * 1024) /* a refused body up to this is read and dropped */
#define LINGER_MAX ((int64_t)8 << 20)  /* read at most, after an answer in mid-body */
#define LINGER_US 2000000
#define KEEP_MAX ((size_t)16 * 1024) /* memory of one buffer that a connection keeps */
#define ANSWER_MAX ((size_t)1 << 30)
#define RATE_SHIFT 14 /* a client must take or give 16 KiB a second, after its request_s */

typedef struct exchange exchange;
typedef struct http_stream http_stream;

/* One connection. `until` and `busy` are read by the watcher at any time. */
typedef struct peer {
    struct peer *prev, *next;
    int fd;
    bool over;             /* past a limit: its request is refused */
    atomic_bool busy;      /* a request is arriving, running or being answered */
    atomic_bool arriving;  /* it is not whole, and nothing was answered yet */
    _Atomic int64_t until; /* when it is closed, by time_mono_us(); 0 = never */
    int64_t seen;          /* of the watcher: what `until` was last, */
    int64_t seen_at;       /* and since when; 0 = its end was looked for since */
    struct address *from;
    char remote[INET6_ADDRSTRLEN];
    exchange *x;         /* kept from one request to the next, for its memory */
    bool mine;           /* of the acceptor: not a worker's, or not yet */
    bool h2;             /* it was handed on; `fd` is a second descriptor of the socket */
    bool door;           /* it came by the second address */
    atomic_bool sending; /* an answer is on its way, and not all of it was taken */
    int64_t acked;       /* of the watcher: bytes that the client had taken, */
    int64_t acked_at;    /* and since when; 0: not looked at yet */
    _Atomic int wait;    /* WAIT_*: see http_wait.c */
    atomic_bool gone;    /* it left while its request was in the pool */
    bool interim;        /* an interim response may be sent to it */
    bool probed;         /* ... and was */
    int64_t waits_since; /* that its request is in the pool */
} peer;

/* Whether the request of a connection is in the pool. */
enum { WAIT_NONE, WAIT_POOL, WAIT_PROBED };

typedef enum {
    AT_HEADER,  /* the request line is there */
    AT_BODY,    /* routed; the body is arriving */
    AT_REFUSED, /* answered before the body, which is read and dropped before the answer is sent */
    AT_LINGER,  /* the answer is on the wire; what still comes is dropped */
    AT_POOL,    /* a thread of the pool has it */
    AT_ANSWER,  /* to be answered */
    AT_GONE     /* its client has left: it is not answered */
} exchange_at;

struct exchange {
    face_req q;
    http *h;
    peer *p;
    struct MHD_Connection *conn;
    _Atomic int at;
    http_target to;
    const char *uri;   /* as it came */
    int64_t length;    /* Content-Length; -1 = none */
    int64_t received;  /* bytes of the body so far */
    int64_t dropped;   /* of them: after it was refused */
    int64_t sent;      /* bytes of the body of the answer */
    int64_t handed_us; /* given to the pool */
    int64_t paused_us; /* time in the pool: not the client's */
    bool ended;        /* the body is whole */
    bool admitted;     /* its user is known, as far as it needs one */
    bool http11;
    bool chunked;
    bool expects;      /* waits for 100 Continue */
    bool gzip_ok;      /* Accept-Encoding */
    bool malformed;    /* its framing cannot be trusted */
    bool close;        /* no further request on this connection */
    bool streams;      /* the body of the answer goes on */
    bool stream_given; /* q->stream belongs to the response, or is gone */
    const char *if_none_match;
    struct MHD_Response *response;
    struct {
        size_t taken;    /* of the present piece, q.out */
        face_piece then; /* what comes behind it */
    } pieces;
    buf packed;
    pool_job job;
};

#define ADDRESS_BUCKETS 256

struct http {
    http_config cfg;
    struct MHD_Daemon **daemons; /* one a worker */
    size_t n_daemons, next_daemon;
    size_t most; /* connections, with those past the limit that are told so */
    struct door {
        int fd, port;
    } doors[2];      /* what it listens on; the second one for HTTP/2 alone, fd -1: not there */
    int listen_wake; /* readable: the acceptor ends */
    int listen_poll; /* epoll of the acceptor */
    pthread_t listener;
    bool shut;            /* nobody listens any more; of who stops it */
    atomic_bool stopping; /* requests that come now are refused */
    uint64_t id_salt;
    _Atomic uint64_t id_next;

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

/* http_listen.c */
bool listen_open(http *h, char *message);
bool listen_start(http *h);
void listen_stop(http *h); /* after listen_start() */
void listen_close(http *h);

/* http_target.c */
/* Takes method, target and header. False: the answer is filled. */
bool target_read(exchange *x, const char *method, const char *version);

/* http_answer.c */
/* Makes x->response from the request's answer; on the thread that ran it. */
void answer_prepare(exchange *x);
enum MHD_Result answer_send(exchange *x);
/* For when libmicrohttpd takes no answer any more: writes it to the socket. */
void answer_on_wire(exchange *x);
/* A whole answer without a request; returns its length. */
size_t answer_plain(char *out, size_t size, const char *status, const char *code, const char *text);

/* http_pieces.c */
struct MHD_Response *pieces_response(exchange *x);

/* http_peer.c */
peer *peer_of(struct MHD_Connection *conn);
peer *peer_add(http *h, int fd, const struct sockaddr *from);
void peer_free(http *h, peer *p); /* the socket stays open */
void peer_changed(void *cls, struct MHD_Connection *conn, void **context,
                  enum MHD_ConnectionNotificationCode what);
/* It is closed in `us` microseconds, and what `bytes` take at the least rate. False: it is closed
 * already, and nothing may be sent on it. */
bool peer_limit(peer *p, int64_t us, int64_t bytes);
bool peer_unlimit(peer *p);
void watch_start(http *h);
void watch_stop(http *h);
/* Ends idle connections, or all; returns how many are busy. */
size_t peers_end(http *h, bool all);

/* http_wait.c */
/* Around the time that the request of a connection is in the pool. `interim`: the client speaks
 * HTTP/1.1, and skips interim responses. */
void wait_begin(peer *p, bool interim);
void wait_end(peer *p);
void wait_look(peer *p, int64_t now); /* the watcher's: sets `gone` */

/* http_stall.c */
/* The watcher's: whether a client has taken nothing of its answer for that long. */
bool stall_look(peer *p, int64_t now, int64_t stall_us);

/* http_stream.c */
face_stream *http_stream_new(face_req *q, size_t most);
struct MHD_Response *stream_response(face_stream *s);
void stream_abandon(face_stream *s); /* no response was made of it */
void streams_end(http *h);

#endif
