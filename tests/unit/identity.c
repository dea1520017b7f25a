/* SPDX-License-Identifier: Apache-2.0
 *
 * identity.c: who asks, for each kind of face; cookies of sign-ins.
 */
#include "help.h"

#include "identity/auth.h"
#include "ramet/tokens.h"
#include "server/faces.h"

#include <stdlib.h>

static struct {
    auth *a;
    server_config cfg;
    arena *mem;
    request q;
    request_pair headers[8], query[8];
} W;

static const char *header_get(request *q, const char *name)
{
    (void)q;
    for (request_pair *h = W.headers; h->name; h++)
        if (strcasecmp(h->name, name) == 0)
            return h->value;
    return NULL;
}

static void world_open(void)
{
    char message[256];
    scratch_open();
    config_defaults(&W.cfg);
    W.mem = arena_new();
    W.a = auth_new(&W.cfg, T.store, message);
    cr_assert(W.a, "%s", message);
    auth_port(W.a, 7077);
}

static void world_close(void)
{
    auth_free(W.a);
    arena_free(W.mem);
    scratch_close();
}

TestSuite(identity, .init = world_open, .fini = world_close);

/* A request with what is not NULL; the user, or the status as text. */
static const char *who(const face *f, const char *bearer, const char *query, const char *header,
                       const char *key)
{
    size_t n = 0;
    W.q = (request){.arena = W.mem, .header = header_get, .query = W.query};
    face_set(&W.q, f, NULL);
    buf_init(&W.q.out, 4096);
    memset(W.headers, 0, sizeof W.headers);
    if (bearer)
        W.headers[n++] = (request_pair){"Authorization", arena_printf(W.mem, "Bearer %s", bearer)};
    if (header)
        W.headers[n++] = (request_pair){"X-User-Id", header};
    if (key)
        W.headers[n++] = (request_pair){"X-API-Key", key};
    if (query)
        W.query[W.q.n_query++] = (request_pair){"user_id", query};
    const char *said = auth_identify(W.a, &W.q) ? arena_strdup(W.mem, W.q.caller.user)
                                                : arena_printf(W.mem, "%d", W.q.status);
    buf_release(&W.q.out);
    return said;
}

Test(identity, native_order)
{
    cr_assert_str_eq(who(&face_native, "b", "q", "h", "k"), "b");
    cr_assert_str_eq(who(&face_native, NULL, "q", "h", "k"), "q");
    cr_assert_str_eq(who(&face_native, NULL, NULL, "h", "k"), "h");
    cr_assert_str_eq(who(&face_native, NULL, NULL, NULL, "k"), "local");
    cr_assert_str_eq(who(&face_native, "", NULL, NULL, NULL), "local");
    cr_assert_str_eq(who(&face_native, NULL, "", "h", NULL), "400");
}

Test(identity, kagent_order)
{
    cr_assert_str_eq(who(&face_kagent, "b", "q", "h", "k"), "q");
    cr_assert_str_eq(who(&face_kagent, "b", NULL, "h", "k"), "h");
    cr_assert_str_eq(who(&face_kagent, "b", NULL, NULL, "k"), "b");
    cr_assert_str_eq(who(&face_kagent, NULL, NULL, NULL, NULL), "local");
    cr_assert_str_eq(who(&face_kagent, "b", "a\tb", NULL, NULL), "400");
}

Test(identity, memory_order)
{
    cr_assert_str_eq(who(&face_memory, "b", "q", "h", "k"), "b");
    cr_assert_str_eq(who(&face_memory, "b", NULL, NULL, "k"), "b");
    cr_assert_str_eq(W.q.caller.client, "k"); /* a key names the client, not the user */
    cr_assert_str_eq(who(&face_memory, NULL, "q", "h", "k"), "401");
    W.cfg.trusted_clients = "k";
    cr_assert_str_eq(who(&face_memory, NULL, NULL, "h", "k"), "h");
    cr_assert_str_eq(who(&face_memory, "b", NULL, "h", "other"), "b");
    cr_assert_str_eq(who(&face_memory, NULL, "q", "h", NULL), "401");
    cr_assert_str_eq(who(&face_memory, "a\x01z", NULL, NULL, NULL), "400");
}

Test(identity, every_route_has_roles_and_its_face_a_rule)
{
    size_t n;
    const face *const *faces = server_faces_counted(&n);
    for (size_t i = 0; i < n; i++)
        for (const face_route *r = faces[i]->routes; r->method; r++) {
            cr_assert(r->roles && !(r->roles & ~(unsigned)ROLE_ALL), "%s", r->name);
            cr_assert(r->roles == ROLE_ANYONE || faces[i]->identity, "%s", r->name);
        }
}

/* What a caller is answered at a route of those roles: 0 when it may go on. */
static int role_status(const face *f, unsigned roles, request_caller caller)
{
    face_route r = {.roles = roles};
    W.q = (request){.arena = W.mem, .header = header_get, .caller = caller};
    buf_init(&W.q.out, 4096);
    face_set(&W.q, f, &r);
    int status = face_check_role(&W.q) ? 0 : W.q.status;
    buf_release(&W.q.out);
    return status;
}

Test(identity, roles_are_any_of)
{
    request_caller none = {0}, user = {.user = "ann", .mode = "local"}, client = user, admin = user,
                   auditor = user, indexer = user;
    client.client = "app";
    admin.admin = auditor.auditor = indexer.indexer = true;
    cr_assert_eq(role_status(&face_native, ROLE_ANYONE, none), 0);
    cr_assert_eq(role_status(&face_native, ROLE_USER, none), 403);
    cr_assert_eq(role_status(&face_native, ROLE_USER, user), 0);
    cr_assert_eq(role_status(&face_native, ROLE_ADMIN, user), 403);
    cr_assert_eq(role_status(&face_native, ROLE_ADMIN, auditor), 403);
    cr_assert_eq(role_status(&face_native, ROLE_ADMIN, admin), 0);
    cr_assert_eq(role_status(&face_memory, ROLE_ADMIN | ROLE_AUDITOR, auditor), 0);
    cr_assert_eq(role_status(&face_memory, ROLE_ADMIN | ROLE_AUDITOR, indexer), 403);
    cr_assert_eq(role_status(&face_memory, ROLE_ADMIN | ROLE_INDEXER, indexer), 0);
    cr_assert_eq(role_status(&face_memory, ROLE_CLIENT | ROLE_ADMIN, user), 403);
    cr_assert_eq(role_status(&face_memory, ROLE_CLIENT | ROLE_ADMIN, client), 0);
}

Test(identity, every_face_takes_the_same_token)
{
    char message[256];
    ramet_token *t;
    ok(ramet_token_add(T.call, &(ramet_token_in){.user = "ann", .roles = "auditor"}, &t));
    auth_free(W.a);
    W.cfg.auth = "tokens";
    W.a = auth_new(&W.cfg, T.store, message);
    const face *const faces[] = {&face_native, &face_kagent, &face_memory};
    for (size_t i = 0; i < 3; i++) {
        const face *kind = faces[i];
        cr_assert_str_eq(who(kind, t->secret, NULL, NULL, NULL), "ann");
        cr_assert(W.q.caller.auditor && !W.q.caller.admin);
        cr_assert_str_eq(who(kind, NULL, NULL, NULL, t->secret), "ann");
        cr_assert_str_eq(who(kind, t->secret, "ann", "ann", "x"), "ann");
        /* memory-service does not look at whom an untrusted client names. */
        const char *other = kind == &face_memory ? "ann" : "403";
        cr_assert_str_eq(who(kind, t->secret, "bob", NULL, NULL), other);
        cr_assert_str_eq(who(kind, t->secret, NULL, "bob", NULL), other);
        cr_assert_str_eq(who(kind, "x", NULL, NULL, t->secret), "401");
        cr_assert_str_eq(who(kind, NULL, "ann", "ann", NULL), "401");
    }
}

Test(identity, loopback_by_any_name)
{
    static const char *const good[] = {"127.0.0.1",       "127.255.0.3", "::1",
                                       "0:0:0:0:0:0:0:1", "localhost",   "LOCALHOST"};
    static const char *const bad[] = {"",    "0.0.0.0", "::",    "128.0.0.1",  "::ffff:10.0.0.1",
                                      "127", "127.1",   "[::1]", "localhost.", "x.localhost.org"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_assert(auth_is_loopback(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert(!auth_is_loopback(bad[i]), "%s", bad[i]);
}

/* As a browser gives it back. */
static const char *cookie_of(const char *set)
{
    return arena_memdup(W.mem, set, strcspn(set, ";"));
}

Test(identity, a_cookie_opens_only_for_what_it_was_made)
{
    char message[AUTH_MESSAGE];
    cookies *c = cookies_new(T.store, "", message);
    cookies *other = cookies_new(T.store, "a key of another server, long enough", message);
    cookie_session in = {.identity = {"ann", NULL, "admin"}}, out;
    cookie_login login = {"s", "n", "v", "/"}, back;
    const char *header = cookie_of(cookie_session_make(c, W.mem, &in, false));
    cr_assert(cookie_session_read(c, W.mem, header, false, &out));
    cr_assert_str_eq(out.identity.user, "ann");
    cr_assert_null(out.identity.client);
    cr_assert_null(out.token);
    cr_assert_str_eq(out.identity.roles, "admin");
    cr_assert(!cookie_session_read(other, W.mem, header, false, &out));
    cr_assert(!cookie_session_read(c, W.mem, header, true, &out));
    cr_assert(!cookie_session_read(c, W.mem, NULL, false, &out));

    const char *value = strchr(header, '=') + 1;
    const char *as_login = arena_printf(W.mem, "ramet_login=%s", value);
    cr_assert(!cookie_login_read(c, W.mem, as_login, false, &back));
    const char *pending = cookie_of(cookie_login_make(c, W.mem, &login, true));
    cr_assert(cookie_login_read(c, W.mem, pending, true, &back));
    cr_assert_str_eq(back.verifier, "v");

    cookie_session_read(c, W.mem, header, false, &out);
    cookie_session_end(c, out.id);
    cr_assert(!cookie_session_read(c, W.mem, header, false, &out));
    cookies_free(c);
    cookies_free(other);
}

Test(identity, rubbish_for_a_cookie)
{
    char message[AUTH_MESSAGE];
    cookies *c = cookies_new(T.store, "", message);
    cookie_session in = {.token = "rmt_x"}, out;
    unsigned seed = 7;
    const char *header = cookie_of(cookie_session_make(c, W.mem, &in, false));
    size_t n = strlen(header);
    for (int round = 0; round < 2000; round++) {
        char *t = arena_memdup(W.mem, header, n);
        size_t at = (size_t)rand_r(&seed) % n;
        char was = t[at];
        t[at] = (char)(1 + rand_r(&seed) % 255);
        if (t[at] != was)
            cr_assert(!cookie_session_read(c, W.mem, t, false, &out), "%s", t);
    }
    cookies_free(c);
    cookie_session long_one = {.token = arena_alloc(W.mem, 9000)};
    memset((char *)long_one.token, 'x', 8999);
    cr_assert_null(cookies_new(T.store, "short", message));
    cr_assert(strstr(message, "cookie-key"));
    cookies *d = cookies_new(T.store, "the same setting on two servers, say", message);
    cookies *e = cookies_new(T.store, "the same setting on two servers, say", message);
    cr_assert(cookie_session_read(e, W.mem, cookie_of(cookie_session_make(d, W.mem, &in, false)),
                                  false, &out));
    cookies_free(e);
    cr_assert_null(cookie_session_make(d, W.mem, &long_one, false));
    cookies_free(d);
}

Test(identity, forms)
{
    cr_assert_str_eq(form_encode(W.mem, "a b&=ä~"), "a%20b%26%3D%C3%A4~");
    cr_assert_str_eq(form_value(W.mem, "x=1&token=a%20b+c&y", "token"), "a b c");
    cr_assert_str_eq(form_value(W.mem, "token=%41", "token"), "A");
    static const char *const bad[] = {"",          "token",     "token=%",  "token=%4",
                                      "token=%g0", "token=%00", "xtoken=1", "&&&"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *v = form_value(W.mem, bad[i], "token");
        cr_assert(!v, "%s: %s", bad[i], v);
    }
}
