/* SPDX-License-Identifier: Apache-2.0
 *
 * faces.h: the protocols that this server was built with (faces.def).
 */
#ifndef SERVER_FACES_H
#define SERVER_FACES_H

#include "face/kit/face.h"

#ifndef FACES_DEF
#define FACES_DEF "server/faces.def"
#endif

#define FACE(name) extern const face face_##name;
#define GRPC_FACE(name) FACE(name)
#include FACES_DEF
#undef FACE
#undef GRPC_FACE

/* Every face served over HTTP, in documentation order. */
const face *const *server_faces(size_t *n);
/* Those, followed by the faces for gRPC only: all that is counted. */
const face *const *server_faces_counted(size_t *n);
/* The gRPC services of the faces. Not thread-safe. */
const struct grpc_service *const *server_grpc_services(size_t *n);

#endif
