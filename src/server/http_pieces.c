/* SPDX-License-Identifier: Apache-2.0
 *
 * http_pieces.c: an answer that is made piece by piece, as the client takes it (face_req.more).
 *
 * A piece is in q->out. When libmicrohttpd has taken all of it, the connection is suspended and the
 * next one is made on a thread of the pool, as work of the same user. So an answer that nobody
 * reads costs one piece of memory and no thread.
 */
#include "server/http_own.h"

#include "base/util.h"

#include <stddef.h>
#include <string.h>

#define BLOCK 65536 /* what libmicrohttpd asks for at once */

static void piece_job(pool_job *job)
{
    exchange *x = (exchange *)((char *)job - offsetof(exchange, job));
    struct MHD_Connection *conn = x->conn;
    face_req *q = &x->q;
    x->pieces.taken = 0;
    buf_clear(&q->out);
    x->pieces.then = atomic_load(&x->p->gone) ? PIECE_FAILED : q->more(q);
    if (q->out.over)
        x->pieces.then = PIECE_FAILED;
    wait_end(x->p);
    q->left = atomic_load(&x->p->gone);
    peer_limit(x->p, (int64_t)x->h->cfg.request_s * 1000000, (int64_t)q->out.n);
    MHD_resume_connection(conn);
}

/* False: the server stops. */
static bool piece_ask(exchange *x)
{
    if (!pool_enter(x->h->cfg.pool))
        return false;
    peer_unlimit(x->p);
    MHD_suspend_connection(x->conn);
    wait_begin(x->p, false);
    x->job.run = piece_job;
    pool_put(x->h->cfg.pool, &x->job, work_of(&x->q, true), work_client(&x->q));
    return true;
}

static ssize_t piece_read(void *cls, uint64_t pos, char *out, size_t max)
{
    exchange *x = cls;
    const buf *b = &x->q.out;
    size_t left = b->n - x->pieces.taken, n = left < max ? left : max;
    (void)pos;
    if (n) {
        memcpy(out, b->p + x->pieces.taken, n);
        x->pieces.taken += n;
        x->sent += (int64_t)n;
        return (ssize_t)n;
    }
    switch (x->pieces.then) {
    case PIECE_LAST:
        return MHD_CONTENT_READER_END_OF_STREAM;
    case PIECE_MORE:
        return piece_ask(x) ? 0 : MHD_CONTENT_READER_END_WITH_ERROR;
    case PIECE_FAILED:
        break;
    }
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

struct MHD_Response *pieces_response(exchange *x)
{
    x->pieces.then = PIECE_MORE;
    x->pieces.taken = 0;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, piece_read, x, NULL);
}
