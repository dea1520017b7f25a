/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: every route of the toy protocol. Dispatch, the checks of roles, query and body, and the
 * documents come from here.
 */
#include "face/toy/toy.h"

#include "face/kit/rows.h"

/* A table reads by its rows. */
/* clang-format off */
static const face_route routes[] = {
ROUTE("GET", "/toy/health", ROLE_ANYONE, .name = "toyHealth", .group = "Toy", .flags = ROUTE_QUICK,
 .summary = "Whether it is there", .success = 200, .run = toy_health),
ROUTE("POST", "/toy/notebooks", ROLE_USER, .name = "toyCreateNotebook", .group = "Toy", .flags = ROUTE_WRITE,
 .summary = "Makes a notebook", .success = 201, .run = toy_notebook_post, .body = FIELDS(R("name", TEXT, "its name")),
 .statuses = "SESSION_EXISTS", .example = "{\"name\": \"shopping\"}"),
ROUTE("POST", "/toy/notebooks/{name}/notes", ROLE_USER, .name = "toyAddNote", .group = "Toy", .flags = ROUTE_WRITE,
 .summary = "Adds a note", .success = 201, .run = toy_note_post, .body = FIELDS(R("text", TEXT, "the note")),
 .statuses = "SESSION_NOT_FOUND FORBIDDEN", .example = "{\"text\": \"milk\"}"),
ROUTE("GET", "/toy/notebooks/{name}/notes", ROLE_USER, .name = "toyListNotes", .group = "Toy",
 .summary = "Its notes, oldest first", .success = 200, .run = toy_notes_get,
 .query = FIELDS(F("last", INT, "only so many, the newest", .min = 1, .max = 1000)), .statuses = "SESSION_NOT_FOUND"),
ROUTE("POST", "/toy/notebooks/{name}/ask", ROLE_USER, .name = "toyAsk", .group = "Toy", .flags = ROUTE_WRITE | ROUTE_STREAM,
 .summary = "Asks the agent, and streams its answer", .success = 200, .run = toy_ask, .body = FIELDS(R("text", TEXT, "the question")),
 .about = "Lines: `+ ` and a piece of the answer as JSON, at the end `. ` and how it ended.", .statuses = "SESSION_NOT_FOUND TURN_RUNNING"),
ROUTE("GET", "/toy/census", ROLE_ADMIN | ROLE_AUDITOR, .name = "toyCensus", .group = "Toy",
 .summary = "How many notebooks there are", .success = 200, .run = toy_census),
ROUTES_END,
};

static const face_param params[] = {
    {"name", "a notebook, percent-encoded", "shopping"},
    {NULL, NULL, NULL},
};
/* clang-format on */

const face face_toy = {
    .name = "toy",
    .title = "Notebooks",
    .prefix = "/toy",
    .identity = &toy_identity,
    .owns_prefix = true,
    .fail = toy_fail,
    .about = "Who asks: `X-Toy-Name`. Errors are `{\"ok\": false, \"problem\", \"where\"?}`.",
    .routes = routes,
    .params = params,
};
