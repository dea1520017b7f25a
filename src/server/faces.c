/* SPDX-License-Identifier: Apache-2.0
 *
 * faces.c: the table of protocols, generated from faces.def. A build may use another list
 * (FACES_DEF): the test of docs/add-a-face.md does, with one more line.
 */
#include "server/faces.h"

/* Faces for gRPC only come last, wherever their lines are. */
static const face *const faces[] = {
#define FACE(name) &face_##name,
#define GRPC_FACE(name)
#include FACES_DEF
#undef FACE
#undef GRPC_FACE
#define FACE(name)
#define GRPC_FACE(name) &face_##name,
#include FACES_DEF
#undef FACE
#undef GRPC_FACE
};

enum {
#define FACE(name) FACE_NUMBER_##name,
#define GRPC_FACE(name)
#include FACES_DEF
#undef FACE
#undef GRPC_FACE
    N_SERVED,
    N_COUNTED = sizeof faces / sizeof *faces
};

const face *const *server_faces(size_t *n)
{
    *n = N_SERVED;
    return faces;
}

const face *const *server_faces_counted(size_t *n)
{
    *n = N_COUNTED;
    return faces;
}

const struct grpc_service *const *server_grpc_services(size_t *n)
{
    static const struct grpc_service *services[N_COUNTED];
    *n = 0;
    for (size_t i = 0; i < N_COUNTED; i++)
        if (faces[i]->grpc)
            services[(*n)++] = faces[i]->grpc;
    return services;
}
