/* SPDX-License-Identifier: Apache-2.0
 *
 * The gRPC benchmark: durable appends through the memory-service protocol by 64 streams of one
 * connection, compared with REST on 64 connections.
 */
#include "bench/suite.h"

#include "bench/child.h"
#include "bench/wrk.h"

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>
#include <memory/v1/memory.pb-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS 64

typedef struct stream {
    grpc_call *call;
    grpc_slice ask;
    grpc_byte_buffer *sent, *answer; /* gRPC core empties `sent` */
    grpc_metadata_array head, tail;
    grpc_slice words;
    grpc_status_code status;
    double began;
} stream;

typedef struct load {
    grpc_completion_queue *queue;
    grpc_channel *channel;
    grpc_metadata who;
    sample took;
    size_t done;
} load;

/* ------------------------------------------------------------------------ messages */

static void bytes_set(ProtobufCBinaryData *b, const char *text)
{
    *b = (ProtobufCBinaryData){strlen(text), (uint8_t *)text};
}

static Google__Protobuf__Value text_value(const char *text)
{
    Google__Protobuf__Value v = GOOGLE__PROTOBUF__VALUE__INIT;
    v.kind_case = GOOGLE__PROTOBUF__VALUE__KIND_STRING_VALUE;
    bytes_set(&v.string_value, text);
    return v;
}

/* Makes an entry of ENTRY_BYTES for the i-th conversation. */
static grpc_slice ask_make(int i, const char *text)
{
    char id[16];
    snprintf(id, sizeof id, "c%d", i);
    Google__Protobuf__Value role = text_value("USER"), said = text_value(text);
    Google__Protobuf__Struct__FieldsEntry a = GOOGLE__PROTOBUF__STRUCT__FIELDS_ENTRY__INIT, c = a;
    bytes_set(&a.key, "role");
    bytes_set(&c.key, "text");
    a.value = &role;
    c.value = &said;
    Google__Protobuf__Struct__FieldsEntry *fields[] = {&a, &c};
    Google__Protobuf__Struct object = GOOGLE__PROTOBUF__STRUCT__INIT;
    object.fields = fields;
    object.n_fields = 2;
    Google__Protobuf__Value item = GOOGLE__PROTOBUF__VALUE__INIT, *items[] = {&item};
    item.kind_case = GOOGLE__PROTOBUF__VALUE__KIND_STRUCT_VALUE;
    item.struct_value = &object;
    Memory__V1__CreateEntryRequest entry = MEMORY__V1__CREATE_ENTRY_REQUEST__INIT;
    entry.channel = MEMORY__V1__CHANNEL__HISTORY;
    entry.content_type = (char *)"history";
    entry.content = items;
    entry.n_content = 1;
    Memory__V1__AppendEntryRequest m = MEMORY__V1__APPEND_ENTRY_REQUEST__INIT;
    m.conversation_id = id;
    m.entry = &entry;
    grpc_slice slice = grpc_slice_malloc(memory__v1__append_entry_request__get_packed_size(&m));
    memory__v1__append_entry_request__pack(&m, GRPC_SLICE_START_PTR(slice));
    return slice;
}

/* --------------------------------------------------------------------------- calls */

static void stream_begin(load *l, stream *s)
{
    grpc_slice method = grpc_slice_from_static_string("/memory.v1.EntriesService/AppendEntry");
    s->began = now_us();
    s->answer = NULL;
    s->sent = grpc_raw_byte_buffer_create(&s->ask, 1);
    s->words = grpc_empty_slice();
    grpc_metadata_array_init(&s->head);
    grpc_metadata_array_init(&s->tail);
    s->call = grpc_channel_create_call(l->channel, NULL, GRPC_PROPAGATE_DEFAULTS, l->queue, method,
                                       NULL, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    grpc_op ops[6] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
        {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
    ops[0].data.send_initial_metadata.count = 1;
    ops[0].data.send_initial_metadata.metadata = &l->who;
    ops[1].data.send_message.send_message = s->sent;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &s->head;
    ops[4].data.recv_message.recv_message = &s->answer;
    ops[5].data.recv_status_on_client.status = &s->status;
    ops[5].data.recv_status_on_client.status_details = &s->words;
    ops[5].data.recv_status_on_client.trailing_metadata = &s->tail;
    if (grpc_call_start_batch(s->call, ops, 6, s, NULL) != GRPC_CALL_OK)
        bench_die("a gRPC call cannot be started");
}

static void stream_end(load *l, stream *s)
{
    if (s->status != GRPC_STATUS_OK)
        bench_die("AppendEntry: %d %.*s", (int)s->status, (int)GRPC_SLICE_LENGTH(s->words),
                  (const char *)GRPC_SLICE_START_PTR(s->words));
    sample_add(&l->took, now_us() - s->began);
    l->done++;
    if (s->answer)
        grpc_byte_buffer_destroy(s->answer);
    grpc_byte_buffer_destroy(s->sent);
    grpc_metadata_array_destroy(&s->head);
    grpc_metadata_array_destroy(&s->tail);
    grpc_slice_unref(s->words);
    grpc_call_unref(s->call);
}

/* Runs the load for so many seconds; returns appends a second. */
static double load_run(load *l, stream *list, double seconds)
{
    double began = now_us(), until = began + seconds * 1e6;
    size_t open = STREAMS;
    for (int i = 0; i < STREAMS; i++)
        stream_begin(l, &list[i]);
    while (open) {
        grpc_event e =
            grpc_completion_queue_next(l->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        stream_end(l, e.tag);
        if (now_us() < until)
            stream_begin(l, e.tag);
        else
            open--;
    }
    return (double)l->done / (now_us() - began) * 1e6;
}

static double grpc_rate(const bench *b, int port, const char *text, double *p50, double *p99)
{
    char target[32];
    snprintf(target, sizeof target, "127.0.0.1:%d", port);
    grpc_init();
    grpc_channel_credentials *open = grpc_insecure_credentials_create();
    load l = {.queue = grpc_completion_queue_create_for_next(NULL),
              .channel = grpc_channel_create(target, open, NULL)};
    l.who.key = grpc_slice_from_static_string("authorization");
    l.who.value = grpc_slice_from_static_string("Bearer ann");
    stream list[STREAMS];
    for (int i = 0; i < STREAMS; i++)
        list[i].ask = ask_make(i, text);
    double rate = load_run(&l, list, b->quick ? 1 : 4);
    for (int i = 0; i < STREAMS; i++)
        grpc_slice_unref(list[i].ask);
    grpc_channel_destroy(l.channel);
    grpc_channel_credentials_release(open);
    grpc_completion_queue_shutdown(l.queue);
    while (grpc_completion_queue_next(l.queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
           GRPC_QUEUE_SHUTDOWN)
        continue;
    grpc_completion_queue_destroy(l.queue);
    grpc_shutdown_blocking();
    *p50 = sample_at(&l.took, 0.5) / 1000;
    *p99 = sample_at(&l.took, 0.99) / 1000;
    sample_free(&l.took);
    return rate;
}

/* ---------------------------------------------------------------------------- rows */

static void script_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    if (!f ||
        fprintf(f,
                "local body = '{\"channel\":\"history\",\"contentType\":\"history\",\"content\":"
                "[{\"role\":\"USER\",\"text\":\"%s\"}]}'\nlocal n = 0\n"
                "local h = {['Content-Type'] = 'application/json', Authorization = 'Bearer ann'}\n"
                "request = function()\n  n = n + 1\n  return wrk.format('POST', "
                "'/v1/conversations/c' .. n %% %d .. '/entries', h, body)\nend\n",
                text, STREAMS) < 0 ||
        fclose(f) != 0)
        bench_die("%s cannot be written", path);
}

void case_grpc(bench *b)
{
    sample rest = {0}, rpc = {0}, p50 = {0}, p99 = {0};
    words w = {31};
    char text[ENTRY_BYTES + 1];
    char *script = xstrdup(scratch_path(b, "rest.lua"));
    words_fill(&w, text, ENTRY_BYTES);
    for (char *p = text; *p; p++)
        if (*p == '\n')
            *p = ' ';
    script_write(script, text);
    bench_note("AppendEntry by gRPC and by REST");
    for (int i = 0; i < (b->quick ? 1 : 3); i++) {
        double half, most;
        child server = child_serve(b, "rest.db", NULL);
        sample_add(&rest, wrk_run(b, child_url(&server, "/"), script, STREAMS).rate);
        child_end(&server);
        file_remove(scratch_path(b, "rest.db"));
        server = child_serve(b, "rpc.db", NULL);
        sample_add(&rpc, grpc_rate(b, server.port, text, &half, &most));
        child_end(&server);
        file_remove(scratch_path(b, "rpc.db"));
        sample_add(&p50, half);
        sample_add(&p99, most);
    }
    double g = sample_at(&rpc, 0.5), r = sample_at(&rest, 0.5);
    report_row(b, "grpc_append", "AppendEntry by 64 streams of gRPC against the same by REST",
               g / r * 100, "%", BAR_NONE, 0,
               "%.0f a second against %.0f; latency p50 %.2f ms, p99 %.2f ms", g, r,
               sample_at(&p50, 0.5), sample_at(&p99, 0.5));
    report_number(b, "p99_ms", sample_at(&p99, 0.5));
    free(script);
    sample_free(&rest);
    sample_free(&rpc);
    sample_free(&p50);
    sample_free(&p99);
}
