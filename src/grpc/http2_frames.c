/* SPDX-License-Identifier: Apache-2.0
 *
 * http2_frames.c: the limits of one HTTP/2 connection. Frames are inspected as they pass, by their
 * headers; of the payloads only the lengths of gRPC messages in DATA and the increments in
 * WINDOW_UPDATE are read. Header blocks are not decompressed.
 *
 * What the gRPC core would accept without a limit, and the rule against it:
 *
 *   streams that are opened and reset at once    a budget for resets (http2_shares.c). A stream
 *                                                counts when either side resets it, without an
 *                                                answer, within YOUNG_US.
 *   a header block that never ends               a limit on its bytes, frames and time
 *   frames that request nothing                  a budget, which frames of the server restore: a
 *                                                client answers what it receives with window
 *                                                updates and pings
 *   large messages that never end                the core widens the window of a stream as soon as
 *                                                a message begins. The update is parked until all
 *                                                of the message fits into message_bytes. Other
 *                                                streams of the connection go on meanwhile, and the
 *                                                deadline of the call ends the wait.
 */
#include "grpc/http2_internal.h"

#include "base/arena.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YOUNG_US 1000000
#define FRAME_MAX 16384 /* payload bytes: the initial value in HTTP/2, announced by the core */
#define BLOCK_FRAMES_MAX 64
#define CONTROL_BURST 10000.0
#define CONTROL_PER_S 1000.0
#define CONTROL_PER_FRAME 2.0 /* restored by each frame of the server */

enum {
    FRAME_DATA,
    FRAME_HEADERS,
    FRAME_PRIORITY,
    FRAME_RST_STREAM,
    FRAME_SETTINGS,
    FRAME_PUSH_PROMISE,
    FRAME_PING,
    FRAME_GOAWAY,
    FRAME_WINDOW_UPDATE,
    FRAME_CONTINUATION
};
enum { FLAG_END_STREAM = 1, FLAG_END_HEADERS = 4, FLAG_PADDED = 8 };
enum {
    NO_ERROR = 0,
    PROTOCOL_ERROR = 1,
    FLOW_CONTROL_ERROR = 3,
    ENHANCE_YOUR_CALM = 11,
    HTTP_1_1_REQUIRED = 13
};

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const http2_reason http2_verdicts[HTTP2_VERDICTS] = {
    [HTTP2_FINE] = {NO_ERROR, "fine"},
    [HTTP2_BAD_PREFACE] = {PROTOCOL_ERROR, "the connection does not begin as HTTP/2 does"},
    [HTTP2_BAD_FRAME] = {PROTOCOL_ERROR, "a frame is too large, or stands where it must not"},
    [HTTP2_LARGE_HEADER] = {ENHANCE_YOUR_CALM, "a header block is too large"},
    [HTTP2_MANY_STREAMS] = {ENHANCE_YOUR_CALM, "more streams are open than the settings allow"},
    [HTTP2_MANY_RESETS] = {ENHANCE_YOUR_CALM, "too many streams were opened and reset"},
    [HTTP2_MANY_CONTROL] = {ENHANCE_YOUR_CALM, "too many frames that carry no request"},
    [HTTP2_OVERRUN] = {FLOW_CONTROL_ERROR, "a stream has sent more than its window allows"},
    [HTTP2_LATE] = {ENHANCE_YOUR_CALM, "no complete request header came in time"},
    [HTTP2_STALLED] = {ENHANCE_YOUR_CALM, "the client does not read what it was sent"},
    [HTTP2_OFF] = {HTTP_1_1_REQUIRED, "HTTP/2, and with it gRPC, is off on this server"},
    [HTTP2_STOPPING] = {NO_ERROR, "the server is going down"},
};

/* ------------------------------------------------------------------------- streams */

/* The index of the stream, or where it would be inserted. */
static size_t stream_place(const http2_frames *f, uint32_t id)
{
    size_t low = 0, high = f->n_streams;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (f->streams[mid].id < id)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static http2_stream *stream_find(const http2_frames *f, uint32_t id)
{
    size_t i = stream_place(f, id);
    return i < f->n_streams && f->streams[i].id == id ? &f->streams[i] : NULL;
}

static http2_verdict stream_open(http2_frames *f, uint32_t id, int64_t now_us)
{
    if (f->n_streams >= (size_t)f->cfg->streams)
        return HTTP2_MANY_STREAMS;
    if (f->n_streams == f->room) {
        f->room = f->room ? 2 * f->room : 8;
        f->streams = xrealloc(f->streams, f->room * sizeof *f->streams);
    }
    f->streams[f->n_streams++] =
        (http2_stream){.id = id, .window = f->cfg->window, .opened_us = now_us};
    f->last_id = id;
    shares_stream_open(f->shares, f->from);
    return HTTP2_FINE;
}

static void stream_unreserve(http2_frames *f, http2_stream *s)
{
    if (s->reserved)
        shares_unreserve(f->shares, f->from, s->reserved);
    s->reserved = 0;
}

static void stream_close(http2_frames *f, http2_stream *s)
{
    stream_unreserve(f, s);
    f->n_parked -= s->parked > 0;
    shares_stream_close(f->shares, f->from);
    f->n_streams--;
    memmove(s, s + 1, (size_t)(f->streams + f->n_streams - s) * sizeof *s);
}

/* Counts a reset by either side: a client can make the server reset a stream. */
static http2_verdict stream_reset(http2_frames *f, http2_stream *s, int64_t now_us)
{
    bool young = !s->answered && now_us - s->opened_us < YOUNG_US;
    double burst = f->cfg->resets;
    stream_close(f, s);
    if (!young || (budget_spend(&f->resets, now_us, burst, burst / 4) &&
                   shares_reset(f->shares, f->from, now_us)))
        return HTTP2_FINE;
    return HTTP2_MANY_RESETS;
}

void frames_init(http2_frames *f, const http2_config *cfg, http2_shares *shares,
                 http2_address *from, int64_t now_us)
{
    *f = (http2_frames){.cfg = cfg, .shares = shares, .from = from, .since_us = now_us};
    f->resets.at_us = f->control.at_us = now_us;
}

void frames_release(http2_frames *f)
{
    while (f->n_streams)
        stream_close(f, &f->streams[f->n_streams - 1]);
    free(f->streams);
    f->streams = NULL;
    f->room = 0;
}

/* ------------------------------------------------------------------------ messages */

/* Scans DATA bytes without padding: gRPC messages, each preceded by a flag and its length. */
static void messages_pass(http2_frames *f, http2_stream *s, const uint8_t *p, size_t n)
{
    while (n) {
        if (s->prefix_n < sizeof s->prefix) {
            s->prefix[s->prefix_n++] = *p++;
            n--;
            if (s->prefix_n < sizeof s->prefix)
                continue;
            stream_unreserve(f, s);
            s->message = s->left = (uint32_t)s->prefix[1] << 24 | (uint32_t)s->prefix[2] << 16 |
                                   (uint32_t)s->prefix[3] << 8 | s->prefix[4];
        }
        size_t some = n < s->left ? n : s->left;
        s->left -= (uint32_t)some;
        p += some;
        n -= some;
        if (!s->left) {
            s->message = 0;
            s->prefix_n = 0;
        }
    }
}

static void data_pass(http2_frames *f, const uint8_t *p, size_t n)
{
    if (f->pad_next) {
        f->pad_next = false;
        f->data_left = f->in.length - 1 > *p ? f->in.length - 1 - *p : 0;
        p++;
        n--;
    }
    size_t some = n < f->data_left ? n : f->data_left;
    http2_stream *s = stream_find(f, f->in.id);
    f->data_left -= (uint32_t)some;
    if (s)
        messages_pass(f, s, p, some);
}

/* ------------------------------------------------------------- frames of the client */

static http2_verdict control_spend(http2_frames *f, int64_t now_us)
{
    return budget_spend(&f->control, now_us, CONTROL_BURST, CONTROL_PER_S) ? HTTP2_FINE
                                                                           : HTTP2_MANY_CONTROL;
}

/* Adds a HEADERS or CONTINUATION frame. */
static http2_verdict block_add(http2_frames *f, int64_t now_us)
{
    if (!f->block_open) {
        f->block_open = true;
        f->block_bytes = 0;
        f->block_frames = 0;
        f->block_since_us = now_us;
    }
    f->block_bytes += f->in.length;
    if (f->block_bytes > f->cfg->header_max || ++f->block_frames > BLOCK_FRAMES_MAX)
        return HTTP2_LARGE_HEADER;
    if (f->in.flags & FLAG_END_HEADERS) {
        f->block_open = false;
        f->block_seen = true;
    }
    return HTTP2_FINE;
}

static http2_verdict data_begin(http2_frames *f, int64_t now_us)
{
    http2_stream *s = stream_find(f, f->in.id);
    f->pad_next = f->in.flags & FLAG_PADDED && f->in.length;
    f->data_left = f->in.length;
    if (!f->in.length && !(f->in.flags & FLAG_END_STREAM))
        return control_spend(f, now_us);
    if (!s)
        return HTTP2_FINE; /* the server has ended it already */
    s->window -= f->in.length;
    return s->window < 0 ? HTTP2_OVERRUN : HTTP2_FINE;
}

/* Handles a frame whose header is complete. */
static http2_verdict client_frame(http2_frames *f, int64_t now_us)
{
    http2_scan *in = &f->in;
    http2_verdict v = HTTP2_FINE;
    if (in->length > FRAME_MAX || (in->type == FRAME_CONTINUATION) != f->block_open)
        return HTTP2_BAD_FRAME;
    switch (in->type) {
    case FRAME_DATA:
        return data_begin(f, now_us);
    case FRAME_HEADERS:
        if (in->id > f->last_id)
            v = stream_open(f, in->id, now_us);
        return v == HTTP2_FINE ? block_add(f, now_us) : v;
    case FRAME_CONTINUATION:
        return block_add(f, now_us);
    case FRAME_RST_STREAM: {
        http2_stream *s = stream_find(f, in->id);
        return s ? stream_reset(f, s, now_us) : control_spend(f, now_us);
    }
    default:
        return control_spend(f, now_us);
    }
}

static void scan_read(http2_scan *s)
{
    s->length = (uint32_t)s->head[0] << 16 | (uint32_t)s->head[1] << 8 | s->head[2];
    s->type = s->head[3];
    s->flags = s->head[4];
    s->id = (uint32_t)(s->head[5] & 127) << 24 | (uint32_t)s->head[6] << 16 |
            (uint32_t)s->head[7] << 8 | s->head[8];
    s->left = s->length;
}

http2_verdict frames_client(http2_frames *f, const uint8_t *p, size_t n, int64_t now_us)
{
    for (; n && f->preface < sizeof preface - 1; p++, n--)
        if (*p != (uint8_t)preface[f->preface++])
            return HTTP2_BAD_PREFACE;
    while (n) {
        if (f->in.n < HTTP2_HEAD) {
            f->in.head[f->in.n++] = *p++;
            n--;
            if (f->in.n < HTTP2_HEAD)
                continue;
            scan_read(&f->in);
            http2_verdict v = client_frame(f, now_us);
            if (v != HTTP2_FINE)
                return v;
        }
        size_t some = n < f->in.left ? n : f->in.left;
        if (some && f->in.type == FRAME_DATA)
            data_pass(f, p, some);
        f->in.left -= (uint32_t)some;
        p += some;
        n -= some;
        if (!f->in.left)
            f->in.n = 0;
    }
    return HTTP2_FINE;
}

static uint8_t *number_write(uint8_t *p, uint32_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--)
        *p++ = (uint8_t)(value >> 8 * i);
    return p;
}

static uint8_t *head_write(uint8_t *p, uint32_t length, uint8_t type, uint32_t id)
{
    p = number_write(p, length, 3);
    *p++ = type;
    *p++ = 0; /* flags */
    return number_write(p, id, 4);
}

/* ------------------------------------------------------------- frames of the server */

static uint32_t update_increment(const uint8_t *p)
{
    return (uint32_t)(p[9] & 127) << 24 | (uint32_t)p[10] << 16 | (uint32_t)p[11] << 8 | p[12];
}

/* Whether the message being received has its reservation; one that fits into the window needs
 * none. */
static bool message_fits(http2_frames *f, http2_stream *s)
{
    if (s->reserved >= s->message || s->message <= (uint32_t)f->cfg->window)
        return true;
    if (!shares_reserve(f->shares, f->from, s->message))
        return false;
    s->reserved = s->message;
    return true;
}

/* Handles a WINDOW_UPDATE of the core; returns the bytes to pass to the client. */
static size_t update_pass(http2_frames *f, uint8_t *out)
{
    http2_stream *s = stream_find(f, f->out.id);
    uint32_t more = update_increment(f->out.head);
    if (s && (s->parked || !message_fits(f, s))) {
        f->n_parked += !s->parked;
        s->parked += more;
        return 0;
    }
    if (s)
        s->window += more;
    memcpy(out, f->out.head, HTTP2_UPDATE);
    return HTTP2_UPDATE;
}

static http2_verdict server_frame(http2_frames *f, int64_t now_us)
{
    http2_stream *s = f->out.id ? stream_find(f, f->out.id) : NULL;
    if (f->out.type == FRAME_DATA || f->out.type == FRAME_HEADERS) {
        budget_restore(&f->control, CONTROL_PER_FRAME);
        if (s && f->out.flags & FLAG_END_STREAM)
            stream_close(f, s);
        else if (s)
            s->answered = true;
    } else if (f->out.type == FRAME_RST_STREAM && s) {
        return stream_reset(f, s, now_us);
    }
    return HTTP2_FINE;
}

size_t frames_server(http2_frames *f, const uint8_t *p, size_t n, uint8_t *out, int64_t now_us,
                     http2_verdict *verdict)
{
    http2_scan *o = &f->out;
    size_t written = 0;
    *verdict = HTTP2_FINE;
    while (n) {
        if (o->left) {
            size_t some = n < o->left ? n : o->left;
            memcpy(out + written, p, some);
            written += some;
            o->left -= (uint32_t)some;
            p += some;
            n -= some;
            continue;
        }
        o->head[o->n++] = *p++;
        n--;
        if (o->n < HTTP2_HEAD)
            continue;
        if (o->n == HTTP2_HEAD)
            scan_read(o);
        if (o->type == FRAME_WINDOW_UPDATE && o->id && o->length == 4) {
            o->left = 0; /* its payload is passed with the header */
            if (o->n < HTTP2_UPDATE)
                continue;
            written += update_pass(f, out + written);
        } else {
            http2_verdict v = server_frame(f, now_us);
            *verdict = *verdict == HTTP2_FINE ? v : *verdict;
            memcpy(out + written, o->head, HTTP2_HEAD);
            written += HTTP2_HEAD;
        }
        o->n = 0;
    }
    f->greeted = f->greeted || written;
    return written;
}

bool frames_whole(const http2_frames *f)
{
    return !f->out.left;
}

size_t frames_grant(http2_frames *f, uint8_t *out, size_t room)
{
    size_t written = 0;
    assert(frames_whole(f));
    for (size_t i = 0; i < f->n_streams && f->n_parked; i++) {
        http2_stream *s = &f->streams[i];
        if (!s->parked || room - written < HTTP2_UPDATE || !message_fits(f, s))
            continue;
        number_write(head_write(out + written, 4, FRAME_WINDOW_UPDATE, s->id), s->parked, 4);
        written += HTTP2_UPDATE;
        s->window += s->parked;
        s->parked = 0;
        f->n_parked--;
    }
    return written;
}

/* ------------------------------------------------------------------ time and the end */

http2_verdict frames_late(const http2_frames *f, int64_t now_us)
{
    int64_t max = (int64_t)f->cfg->request_s * 1000000;
    bool late = (!f->block_seen && now_us - f->since_us > max) ||
                (f->block_open && now_us - f->block_since_us > max);
    return late ? HTTP2_LATE : HTTP2_FINE;
}

size_t frames_goaway(bool first, uint32_t last_id, http2_verdict why, uint8_t *out)
{
    const http2_reason *r = &http2_verdicts[why];
    size_t n = strlen(r->text);
    uint8_t *p = out;
    if (first)
        p = head_write(p, 0, FRAME_SETTINGS, 0);
    p = head_write(p, (uint32_t)n + 8, FRAME_GOAWAY, 0);
    p = number_write(p, last_id, 4);
    p = number_write(p, r->code, 4);
    memcpy(p, r->text, n);
    return (size_t)(p - out) + n;
}
