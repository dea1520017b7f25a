/* SPDX-License-Identifier: Apache-2.0
 *
 * reflection.c: answers reflection requests from the descriptors of proto/, which the build embeds
 * in the binary as a FileDescriptorSet. The messages of v1 and v1alpha have the same encoding.
 */
#include "grpc/grpc_internal.h"

#include "form/proto/proto.h"

#include <google/protobuf/descriptor.pb-c.h>
#include <grpc/reflection/v1/reflection.pb-c.h>
#include <string.h>

typedef Google__Protobuf__FileDescriptorProto file_descriptor;
typedef Google__Protobuf__DescriptorProto message_descriptor;
typedef Google__Protobuf__ServiceDescriptorProto service_descriptor;
typedef Grpc__Reflection__V1__ServerReflectionRequest reflect_request;
typedef Grpc__Reflection__V1__ServerReflectionResponse reflect_response;

#define MAX_FILES 32

static const uint8_t descriptors[] = {
#include <descriptors.inc>
};

/* Built once, from bytes that the build generates. */
static struct {
    Google__Protobuf__FileDescriptorSet *all;
    ProtobufCBinaryData bytes[MAX_FILES]; /* the encoded files */
} set;

/* A set is a sequence of files: tag, length, file. */
static void set_make(void)
{
    const uint8_t *p = descriptors, *end = p + sizeof descriptors;
    set.all = google__protobuf__file_descriptor_set__unpack(NULL, sizeof descriptors, descriptors);
    for (size_t i = 0; p < end && i < MAX_FILES; i++) {
        size_t n = 0;
        unsigned shift = 0;
        p++;
        do {
            n |= (size_t)(*p & 127) << shift;
            shift += 7;
        } while (*p++ & 128);
        set.bytes[i] = (ProtobufCBinaryData){n, (uint8_t *)p};
        p += n;
    }
}

/* ---------------------------------------------------------------------------- finding */

/* The rest of a name after its first part, if that is `part`; "" at the end. NULL: another name.
 */
static const char *behind(const char *name, const char *part)
{
    size_t n = strlen(part);
    if (strncmp(name, part, n) != 0)
        return NULL;
    return name[n] == '.' ? name + n + 1 : name[n] ? NULL : "";
}

#define NAMED(list, count, word)                                                                   \
    for (size_t named_i = 0; named_i < (count); named_i++)                                         \
        if (strcmp((list)[named_i]->name, word) == 0)                                              \
            return true;

static bool in_message(const message_descriptor *m, const char *name)
{
    const char *rest = behind(name, m->name);
    if (!rest || !*rest)
        return rest != NULL;
    for (size_t i = 0; i < m->n_nested_type; i++)
        if (in_message(m->nested_type[i], rest))
            return true;
    NAMED(m->field, m->n_field, rest)
    NAMED(m->enum_type, m->n_enum_type, rest)
    return false;
}

static bool in_service(const service_descriptor *s, const char *name)
{
    const char *rest = behind(name, s->name);
    if (!rest || !*rest)
        return rest != NULL;
    NAMED(s->method, s->n_method, rest)
    return false;
}

static bool in_file(const file_descriptor *f, const char *symbol)
{
    const char *name = f->package ? behind(symbol, f->package) : symbol;
    if (!name || !*name)
        return false;
    for (size_t i = 0; i < f->n_message_type; i++)
        if (in_message(f->message_type[i], name))
            return true;
    for (size_t i = 0; i < f->n_service; i++)
        if (in_service(f->service[i], name))
            return true;
    NAMED(f->enum_type, f->n_enum_type, name)
    return false;
}

static int file_of(const char *symbol)
{
    for (size_t i = 0; i < set.all->n_file; i++)
        if (in_file(set.all->file[i], symbol))
            return (int)i;
    return -1;
}

static int file_named(const char *name)
{
    for (size_t i = 0; i < set.all->n_file; i++)
        if (strcmp(set.all->file[i]->name, name) == 0)
            return (int)i;
    return -1;
}

/* -------------------------------------------------------------------------- answering */

static void answer_error(arena *a, reflect_response *out, int code, const char *text)
{
    Grpc__Reflection__V1__ErrorResponse *e =
        (void *)proto_new(a, &grpc__reflection__v1__error_response__descriptor);
    e->error_code = code;
    e->error_message = (char *)text;
    out->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
    out->error_response = e;
}

/* Adds a file and all its imports. */
static void files_add(Grpc__Reflection__V1__FileDescriptorResponse *to, bool *seen, int i)
{
    if (i < 0 || seen[i])
        return;
    seen[i] = true;
    to->file_descriptor_proto[to->n_file_descriptor_proto++] = set.bytes[i];
    const file_descriptor *f = set.all->file[i];
    for (size_t k = 0; k < f->n_dependency; k++)
        files_add(to, seen, file_named(f->dependency[k]));
}

static void answer_files(arena *a, reflect_response *out, int i)
{
    bool seen[MAX_FILES] = {false};
    if (i < 0) {
        answer_error(a, out, RPC_NOT_FOUND, "it is not known here");
        return;
    }
    Grpc__Reflection__V1__FileDescriptorResponse *files =
        (void *)proto_new(a, &grpc__reflection__v1__file_descriptor_response__descriptor);
    files->file_descriptor_proto = arena_array(a, MAX_FILES, sizeof *files->file_descriptor_proto);
    files_add(files, seen, i);
    out->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
    out->file_descriptor_response = files;
}

static void answer_services(arena *a, reflect_response *out)
{
    Grpc__Reflection__V1__ListServiceResponse *list =
        (void *)proto_new(a, &grpc__reflection__v1__list_service_response__descriptor);
    VEC(Grpc__Reflection__V1__ServiceResponse *) v = {0};
    for (size_t i = 0; i < set.all->n_file; i++) {
        const file_descriptor *f = set.all->file[i];
        for (size_t k = 0; k < f->n_service; k++) {
            Grpc__Reflection__V1__ServiceResponse *s =
                (void *)proto_new(a, &grpc__reflection__v1__service_response__descriptor);
            s->name = arena_printf(a, "%s.%s", f->package, f->service[k]->name);
            VEC_PUSH(a, &v, s);
        }
    }
    list->service = v.items;
    list->n_service = v.n;
    out->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
    out->list_services_response = list;
}

/* No message here has extensions. */
static void answer_extensions(arena *a, reflect_response *out, const char *type)
{
    if (file_of(type) < 0) {
        answer_error(a, out, RPC_NOT_FOUND, "it is not known here");
        return;
    }
    Grpc__Reflection__V1__ExtensionNumberResponse *e =
        (void *)proto_new(a, &grpc__reflection__v1__extension_number_response__descriptor);
    e->base_type_name = (char *)type;
    out->message_response_case =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ALL_EXTENSION_NUMBERS_RESPONSE;
    out->all_extension_numbers_response = e;
}

static void answer(arena *a, const reflect_request *in, reflect_response *out)
{
    switch (in->message_request_case) {
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
        answer_files(a, out, file_named(in->file_by_filename));
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
        answer_files(a, out, file_of(in->file_containing_symbol));
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_EXTENSION:
        answer_error(a, out, RPC_NOT_FOUND, "nothing is extended here");
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
        answer_extensions(a, out, in->all_extension_numbers_of_type);
        break;
    case GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
        answer_services(a, out);
        break;
    default:
        answer_error(a, out, RPC_INVALID_ARGUMENT, "nothing is asked");
        break;
    }
}

void reflect_answer(arena *a, const void *bytes, size_t n, buf *out)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *why = NULL;
    reflect_response response = GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;
    pthread_once(&once, set_make);
    reflect_request *in = (void *)proto_unpack(
        a, &grpc__reflection__v1__server_reflection_request__descriptor, bytes, n, &why);
    if (in) {
        response.valid_host = in->host;
        response.original_request = in;
        answer(a, in, &response);
    } else {
        answer_error(a, &response, RPC_INVALID_ARGUMENT, why);
    }
    size_t size = protobuf_c_message_get_packed_size(&response.base);
    buf_reserve(out, size);
    out->n = protobuf_c_message_pack(&response.base, (uint8_t *)out->data);
}
