/* SPDX-License-Identifier: Apache-2.0
 *
 * http2_internal.h: shared by the files of the HTTP/2 guard. No other file includes it, except
 * tests.
 */
#ifndef GRPC_HTTP2_INTERNAL_H
#define GRPC_HTTP2_INTERNAL_H

#include "grpc/http2_guard.h"

#include <pthread.h>
#include <sys/socket.h>

/* Why a connection ends. http2_verdicts[] has the text and the HTTP/2 error code of each. */
typedef enum {
    HTTP2_FINE,
    HTTP2_BAD_PREFACE,  /* it does not begin like HTTP/2 */
    HTTP2_BAD_FRAME,    /* a frame that is too large or out of place */
    HTTP2_LARGE_HEADER, /* a header block over header_max, or in too many frames */
    HTTP2_MANY_STREAMS, /* more open streams than were announced */
    HTTP2_MANY_RESETS,  /* streams opened and reset too fast */
    HTTP2_MANY_CONTROL, /* frames that request nothing, too fast */
    HTTP2_OVERRUN,      /* more bytes than the window allows */
    HTTP2_LATE,         /* no header block in time */
    HTTP2_STALLED,      /* the client reads nothing of what it was sent */
    HTTP2_OFF,
    HTTP2_STOPPING,
    HTTP2_VERDICTS
} http2_verdict;

typedef struct http2_reason {
    uint32_t code;
    const char *text;
} http2_reason;

extern const http2_reason http2_verdicts[HTTP2_VERDICTS];

/* ---- http2_shares.c */

/* A leaky bucket: what was spent drains at a constant rate. */
typedef struct http2_budget {
    double spent;
    int64_t at_us;
} http2_budget;

typedef struct http2_shares http2_shares;

http2_shares *shares_new(const http2_config *cfg); /* cfg must outlive it */
void shares_free(http2_shares *sh);
/* False: the budget of `burst` at once and `per_s` afterwards is spent. */
bool budget_spend(http2_budget *b, int64_t now_us, double burst, double per_s);
void budget_restore(http2_budget *b, double amount);
http2_address *shares_address(http2_shares *sh, const struct sockaddr *from);
void shares_release(http2_shares *sh, http2_address *a);
/* Records that the server's end `fd` now belongs to a connection from `a`. */
void shares_bind(http2_shares *sh, int fd, http2_address *a, const char *remote);
void shares_stream_open(http2_shares *sh, http2_address *a);
void shares_stream_close(http2_shares *sh, http2_address *a);
/* Whether so many streams are open that no connection of this address may open more for now. */
bool shares_crowded(http2_shares *sh, const http2_address *a);
/* Counts the reset of a young stream. False: too many, by this address or by all. */
bool shares_reset(http2_shares *sh, http2_address *a, int64_t now_us);
/* Reserves a part of message_bytes for one message. */
bool shares_reserve(http2_shares *sh, http2_address *a, int64_t bytes);
void shares_unreserve(http2_shares *sh, http2_address *a, int64_t bytes);
http2_shares *guard_shares(http2_guard *g); /* http2_guard.c */

/* ---- http2_frames.c */

enum { HTTP2_HEAD = 9, HTTP2_UPDATE = 13, HTTP2_GOAWAY_MAX = 256 };

/* An open stream: its header block has begun, it was not reset, and the server has not ended it. */
typedef struct http2_stream {
    uint32_t id;
    bool answered;     /* the server has sent something on it */
    uint8_t prefix_n;  /* bytes of `prefix` received; 5: inside a message */
    uint8_t prefix[5]; /* of the gRPC message being received */
    uint32_t message;  /* its length */
    uint32_t left;     /* bytes of it still to come */
    int64_t window;    /* bytes of DATA that the client may send */
    int64_t reserved;  /* part of message_bytes, until the stream ends or its next message begins */
    uint32_t parked;   /* window updates of the core that wait for a reservation */
    int64_t opened_us;
} http2_stream;

/* The position in one direction of a connection. */
typedef struct http2_scan {
    uint8_t head[HTTP2_UPDATE]; /* of the frame, as far as received */
    unsigned n;                 /* bytes of it */
    uint32_t left;              /* bytes of the frame's payload still to come */
    uint32_t length, id;
    uint8_t type, flags;
} http2_scan;

/* One connection, as its frames describe it. Used by one thread. */
typedef struct http2_frames {
    const http2_config *cfg;
    http2_shares *shares;
    http2_address *from;
    int64_t since_us; /* when it was accepted */
    unsigned preface; /* bytes of it received */
    http2_scan in, out;
    bool greeted;    /* something was written to the client */
    bool block_open; /* a header block is being received */
    bool block_seen; /* one was received */
    size_t block_bytes;
    int block_frames;
    int64_t block_since_us;
    bool pad_next;      /* the next byte of this DATA frame is its padding length */
    uint32_t data_left; /* bytes of this DATA frame that are not padding */
    uint32_t last_id;
    http2_stream *streams; /* open ones, by id */
    size_t n_streams, room;
    size_t n_parked; /* streams with window updates that wait */
    http2_budget resets, control;
} http2_frames;

void frames_init(http2_frames *f, const http2_config *cfg, http2_shares *shares,
                 http2_address *from, int64_t now_us);
void frames_release(http2_frames *f); /* ends all streams */
/* Inspects input from the client. Unless the verdict is HTTP2_FINE, none of it may be passed on. */
http2_verdict frames_client(http2_frames *f, const uint8_t *p, size_t n, int64_t now_us);
/* Inspects output of the server and writes what may go to the client to `out`, which has room for n
 * + HTTP2_UPDATE bytes. Returns the number of bytes written. */
size_t frames_server(http2_frames *f, const uint8_t *p, size_t n, uint8_t *out, int64_t now_us,
                     http2_verdict *verdict);
/* Whether the output to the client so far ends with a complete frame, so another one may follow. */
bool frames_whole(const http2_frames *f);
/* Writes parked window updates that may go now, as far as there is room. Only if frames_whole(). */
size_t frames_grant(http2_frames *f, uint8_t *out, size_t room);
/* Whether something has taken too long. */
http2_verdict frames_late(const http2_frames *f, int64_t now_us);
/* Writes a GOAWAY that names the reason; at most HTTP2_GOAWAY_MAX bytes. If it is the first frame
 * the client gets, SETTINGS precede it. Streams up to last_id may have been processed. */
size_t frames_goaway(bool first, uint32_t last_id, http2_verdict why, uint8_t *out);

#endif
