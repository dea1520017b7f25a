/* SPDX-License-Identifier: Apache-2.0
 *
 * routes.c: the sign-in pages: signing in and out with a browser, in plain HTML without scripts.
 *
 * With API keys there is a form to enter one; with an issuer a link begins the code flow with PKCE.
 * Both end with the cookie of a sign-in (identity/cookie.c). After the issuer's redirect the
 * browser first gets a page of our own: it does not send a SameSite=Strict cookie with a request
 * that another site started.
 *
 * Clients are not identified here (there is no identity_rule): every route is for ROLE_ANYONE.
 */
#include "face/login/login.h"

#include "face/kit/face.h"
#include "identity/auth.h"

#include "base/base64.h"
#include "base/util.h"

#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAGE_BYTES 65536
#define FORM_BYTES (3 * JWT_MAX + 8192) /* every byte of a token may be escaped */
#define NEXT_BYTES 1024

static auth *bound;

void login_bind(auth *a)
{
    bound = a;
}

/* ------------------------------------------------------------------ pages */

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:15vh auto;padding:0 1rem;"
    "color:#222;background:#fff}"
    "h1{font-size:1.4rem}label{display:block;margin:1rem 0 .3rem}"
    "input{width:100%;box-sizing:border-box;font:inherit;padding:.5rem;border:1px solid #888;"
    "border-radius:4px}"
    "button,a.button{display:inline-block;margin-top:1rem;padding:.5rem 1.2rem;font:inherit;"
    "border:0;border-radius:4px;background:#2b5d3a;color:#fff;text-decoration:none;cursor:pointer}"
    ".wrong{color:#a11}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "input{background:#222;color:#ddd}.wrong{color:#f88}}";

static void html_text(buf *out, const char *s)
{
    for (; *s; s++) {
        if (strchr("&<>\"'", *s))
            buf_printf(out, "&#%d;", *s);
        else
            buf_putc(out, *s);
    }
}

/* `refresh` (may be NULL): where the browser goes next. */
static void page_begin(request *q, int status, const char *refresh)
{
    buf_clear(&q->out);
    q->status = status;
    q->type = "text/html; charset=utf-8";
    request_add_header(q, "Content-Security-Policy",
                       "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
                       "frame-ancestors 'none'");
    /* Not no-referrer: the browser would then send "null" as the origin of our own form. */
    request_add_header(q, "Referrer-Policy", "same-origin");
    buf_puts(&q->out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                      "<meta name=\"viewport\" content=\"width=device-width\">"
                      "<title>Ramet: sign in</title>"
                      "<link rel=\"stylesheet\" href=\"/login/style.css\">");
    if (refresh) {
        buf_puts(&q->out, "<meta http-equiv=\"refresh\" content=\"0;url=");
        html_text(&q->out, refresh);
        buf_puts(&q->out, "\">");
    }
    buf_puts(&q->out, "</head><body><h1>Ramet</h1>\n");
}

static void page_end(request *q)
{
    buf_puts(&q->out, "</body></html>\n");
}

static void page_say(request *q, const char *class, const char *text)
{
    buf_printf(&q->out, "<p class=\"%s\">", class);
    html_text(&q->out, text);
    buf_puts(&q->out, "</p>\n");
}

static void page_failed(request *q, int status, const char *text)
{
    page_begin(q, status, NULL);
    page_say(q, "wrong", text);
    buf_puts(&q->out, "<p><a class=\"button\" href=\"/login\">Sign in again</a></p>\n");
    page_end(q);
}

/* Where to go next: only a path of this server is accepted. */
static const char *next_path(const char *s)
{
    if (!s || s[0] != '/' || s[1] == '/' || strlen(s) > NEXT_BYTES)
        return "/";
    for (const char *p = s; *p; p++)
        if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f || *p == '\\')
            return "/";
    return s;
}

static void page_form(request *q, const char *next, const char *wrong)
{
    page_begin(q, wrong ? 401 : 200, NULL);
    if (wrong)
        page_say(q, "wrong", wrong);
    if (bound->mode == MODE_TOKENS) {
        buf_puts(&q->out,
                 "<form method=\"post\" action=\"/login\"><label for=\"token\">API key</label>"
                 "<input id=\"token\" name=\"token\" type=\"password\" autocomplete=\"off\" "
                 "required autofocus><input type=\"hidden\" name=\"next\" value=\"");
        html_text(&q->out, next);
        buf_puts(&q->out, "\"><button>Sign in</button></form>\n"
                          "<p>An API key is made by <code>ramet token create</code>.</p>\n");
    } else if (oidc_has_login(bound->issuer)) {
        buf_puts(&q->out, "<p>Sign in at ");
        html_text(&q->out, oidc_issuer(bound->issuer));
        buf_puts(&q->out, "</p><p><a class=\"button\" href=\"/login/start?next=");
        html_text(&q->out, form_encode(q->arena, next));
        buf_puts(&q->out, "\">Sign in</a></p>\n");
    } else {
        page_say(q, "", "Signing in with a browser is not set up here: oidc-client-id is not set.");
    }
    page_end(q);
}

/* ------------------------------------------------------------------ signing in */

static bool signed_in(request *q, cookie_session *session)
{
    const char *why;
    if (!cookie_session_read(bound->jar, q->arena, q->header(q, "Cookie"), auth_secure(bound, q),
                             session))
        return false;
    return !session->token ||
           auth_token(bound, q->arena, session->token, &session->identity, &why) == AUTH_OK;
}

/* For a page that checks whether it needs a sign-in: never an error. */
static void login_show(request *q)
{
    static const char *const modes[] = {"local", "tokens", "oidc"};
    cookie_session session;
    bool in = bound->mode != MODE_LOCAL && signed_in(q, &session);
    bool issuer = bound->mode == MODE_OIDC;
    jw_object(&q->writer);
    jw_kstr(&q->writer, "auth", modes[bound->mode]);
    jw_kstr(&q->writer, "user", in ? session.identity.user : NULL);
    jw_kstr(&q->writer, "issuer", issuer ? oidc_issuer(bound->issuer) : NULL);
    jw_kbool(&q->writer, "login",
             bound->mode == MODE_TOKENS || (issuer && oidc_has_login(bound->issuer)));
    jw_end_object(&q->writer);
    face_done(q);
}

static bool wants_json(request *q)
{
    const char *accept = q->header(q, "Accept");
    return accept && strstr(accept, "application/json") && !strstr(accept, "text/html");
}

static void login_get(request *q)
{
    cookie_session session;
    if (wants_json(q)) {
        login_show(q);
        return;
    }
    if (bound->mode == MODE_LOCAL) {
        page_begin(q, 200, NULL);
        page_say(q, "", "This server is for this machine alone: nobody needs to sign in.");
        page_end(q);
    } else if (signed_in(q, &session)) {
        page_begin(q, 200, NULL);
        buf_puts(&q->out, "<p>You are signed in as <b>");
        html_text(&q->out, session.identity.user);
        buf_puts(&q->out, "</b>.</p><form method=\"post\" action=\"/logout\">"
                          "<button>Sign out</button></form>\n");
        page_end(q);
    } else {
        page_form(q, next_path(request_query(q, "next")), NULL);
    }
}

static void style_get(request *q)
{
    buf_puts(&q->out, style);
    q->type = "text/css";
    q->status = 200;
    q->cacheable = true;
}

/* Adds the cookie; false: the answer is filled in. */
static bool session_begin(request *q, const cookie_session *session)
{
    const char *cookie = cookie_session_make(bound->jar, q->arena, session, auth_secure(bound, q));
    if (cookie)
        request_add_header(q, "Set-Cookie", cookie);
    else
        request_fail(q, 413, "too_large", NULL, "this identity is too long for a cookie");
    return cookie != NULL;
}

static void form_free(void *p)
{
    buf_release(p);
    free(p);
}

static bool login_sink(request *q, const void *bytes, size_t n)
{
    if (!q->user) {
        q->user = xcalloc(1, sizeof(buf));
        q->user_free = form_free;
        buf_init(q->user, FORM_BYTES);
    }
    buf *form = q->user;
    buf_add(form, bytes, n);
    if (!form->over)
        return true;
    request_fail(q, 413, "too_large", NULL, "the form has more than %d bytes", FORM_BYTES);
    return false;
}

static bool is_json(request *q)
{
    const char *type = q->header(q, "Content-Type");
    return type && strncasecmp(type, "application/json", 16) == 0;
}

/* The token of a form or of a JSON body, and where to go next. */
static const char *login_token(request *q, const char **next)
{
    const buf *form = q->user;
    json_doc d;
    *next = "/";
    if (!form)
        return NULL;
    if (!is_json(q)) {
        *next = next_path(form_value(q->arena, form->data, "next"));
        return form_value(q->arena, form->data, "token");
    }
    if (!json_parse(q->arena, form->data, form->n, 4, &d, NULL))
        return NULL;
    return json_text(q->arena, &d, json_get(&d, &d.nodes[0], "token"));
}

static void login_answer(request *q, const identity *who, const char *next)
{
    if (!is_json(q)) {
        q->status = 303;
        request_add_header(q, "Location", next);
        return;
    }
    jw_object(&q->writer);
    jw_kstr(&q->writer, "user", who->user);
    jw_kstr(&q->writer, "roles", who->roles);
    jw_end_object(&q->writer);
    q->status = 200;
}

static void login_post(request *q)
{
    const char *next, *why = "no token was given";
    const char *token = login_token(q, &next);
    cookie_session session = {.token = token};
    if (bound->mode != MODE_TOKENS) {
        request_fail(q, 404, "not_found", NULL, "this server does not take API keys");
        return;
    }
    auth_verdict v = AUTH_REFUSED;
    if (token && strlen(token) <= JWT_MAX)
        v = auth_token(bound, q->arena, token, &session.identity, &why);
    if (v == AUTH_OK) {
        identity who = session.identity;
        session.identity = (identity){0};
        if (session_begin(q, &session))
            login_answer(q, &who, next);
        return;
    }
    auth_refuse(q, v, why);
    if (!is_json(q) && v == AUTH_REFUSED)
        page_form(q, next, "This key is unknown, expired or revoked.");
}

/* ------------------------------------------------------------------ the code flow */

static const char *random_text(arena *a)
{
    unsigned char raw[32];
    random_bytes(raw, sizeof raw);
    return b64url_encode(a, raw, sizeof raw);
}

static const char *redirect_url(request *q)
{
    const char *set = bound->cfg->oidc_redirect, *host = q->header(q, "Host");
    if (set && *set)
        return set;
    return arena_printf(q->arena, "http%s://%s/login/callback", auth_secure(bound, q) ? "s" : "",
                        host ? host : bound->host);
}

static bool has_code_flow(request *q)
{
    if (bound->mode == MODE_OIDC && oidc_has_login(bound->issuer))
        return true;
    request_fail(q, 404, "not_found", NULL, "this server has no sign-in at an issuer");
    return false;
}

static void start_get(request *q)
{
    const char *why = "";
    if (!has_code_flow(q))
        return;
    cookie_login login = {.state = random_text(q->arena),
                          .nonce = random_text(q->arena),
                          .verifier = random_text(q->arena),
                          .next = next_path(request_query(q, "next"))};
    uint8_t hash[HASH_LEN];
    sha_of(login.verifier, strlen(login.verifier), hash);
    oidc_start in = {redirect_url(q), login.state, login.nonce,
                     b64url_encode(q->arena, hash, sizeof hash)};
    const char *url = oidc_authorize(bound->issuer, q->arena, &in, &why);
    const char *cookie = cookie_login_make(bound->jar, q->arena, &login, auth_secure(bound, q));
    if (!url || !cookie) {
        log_line(LOG_WARN, "no sign-in can begin", "why", why, "request", q->id, NULL);
        page_failed(q, 503, "The issuer does not answer. Try again in a moment.");
        return;
    }
    request_add_header(q, "Set-Cookie", cookie);
    request_add_header(q, "Location", url);
    q->status = 303;
}

static bool same_text(const char *a, const char *b)
{
    size_t n = strlen(b);
    return a && strlen(a) == n && CRYPTO_memcmp(a, b, n) == 0;
}

/* Checks the parameters of the issuer's redirect; returns NULL, or what is wrong. */
static const char *callback_check(request *q, const cookie_login *login)
{
    const char *issuer = request_query(q, "iss");
    if (!same_text(request_query(q, "state"), login->state))
        return "the state is not that of this browser's sign-in";
    if (issuer && strcmp(issuer, oidc_issuer(bound->issuer)) != 0)
        return "the answer is of another issuer";
    if (request_query(q, "error"))
        return "the issuer refused";
    if (!request_query(q, "code"))
        return "there is no code";
    return NULL;
}

static void callback_get(request *q)
{
    cookie_login login;
    cookie_session session = {0};
    bool secure = auth_secure(bound, q);
    if (!has_code_flow(q))
        return;
    auth_verdict v = AUTH_REFUSED;
    const char *why = "there is no sign-in under way in this browser";
    if (cookie_login_read(bound->jar, q->arena, q->header(q, "Cookie"), secure, &login)) {
        why = callback_check(q, &login);
        if (!why) {
            oidc_code code = {request_query(q, "code"), login.verifier, redirect_url(q),
                              login.nonce};
            v = oidc_exchange(bound->issuer, q->arena, &code, &session.identity, &why);
        }
    }
    request_add_header(q, "Set-Cookie", cookie_login_none(secure));
    if (v != AUTH_OK) {
        log_line(LOG_WARN, "a sign-in failed", "why", why, "request", q->id, NULL);
        page_failed(q, v == AUTH_REFUSED ? 401 : 503, "You could not be signed in.");
        return;
    }
    if (!session_begin(q, &session))
        return;
    const char *next = next_path(login.next);
    page_begin(q, 200, next);
    buf_puts(&q->out, "<p>You are signed in. <a href=\"");
    html_text(&q->out, next);
    buf_puts(&q->out, "\">Go on</a></p>\n");
    page_end(q);
}

/* ------------------------------------------------------------------ signing out */

static void logout_post(request *q)
{
    bool secure = auth_secure(bound, q);
    const char *accept = q->header(q, "Accept");
    cookie_session session;
    if (bound->jar &&
        cookie_session_read(bound->jar, q->arena, q->header(q, "Cookie"), secure, &session) &&
        !cookie_session_end(bound->jar, session.id)) {
        request_fail(q, 503, "store_busy", NULL, "you are still signed in; try again");
        return;
    }
    request_add_header(q, "Set-Cookie", cookie_session_none(secure));
    q->status = 204;
    if (accept && strstr(accept, "text/html")) {
        q->status = 303;
        request_add_header(q, "Location", "/login");
    }
}

/* ------------------------------------------------------------------ the table */

static const form_field next_query[] = {
    {.name = "next", .kind = FIELD_TEXT, .text = "the path to continue to; default /"},
    {.name = NULL},
};

static const form_field callback_query[] = {
    {.name = "code",
     .secret = true,
     .kind = FIELD_TEXT,
     .text = "the code to redeem at the issuer"},
    {.name = "state",
     .secret = true,
     .kind = FIELD_TEXT,
     .text = "must match the sign-in in progress"},
    {.name = "iss", .kind = FIELD_TEXT, .text = "must be the issuer (RFC 9207)"},
    {.name = "error", .kind = FIELD_TEXT, .text = "the issuer refused"},
    {.name = NULL},
};

static const face_route login_routes[] = {
    ROUTE("GET", "/login", ROLE_ANYONE, .name = "loginPage", .group = "Sign-in",
          .summary = "Show the sign-in page",
          .about =
              "HTML. With API keys a form, with an issuer a link that begins the code flow. With "
              "`Accept: application/json` it describes how: {\"auth\", \"user\", \"issuer\", "
              "\"login\"}; user is null if not signed in, login says whether sign-in is possible.",
          .query = next_query, .success = 200, .run = login_get),
    ROUTE(
        "POST", "/login", ROLE_ANYONE, .name = "login", .group = "Sign-in",
        .summary = "Sign in with an API key",
        .about =
            "A form (token, next), answered with 303 to next, or JSON {\"token\"}, answered with "
            "200 "
            "{\"user\", \"roles\"}. The cookie is HttpOnly and SameSite=Strict and lasts 12 hours.",
        .flags = ROUTE_WRITE | ROUTE_UPLOAD | ROUTE_KEYLESS, .success = 200,
        .statuses = "UNAUTHENTICATED", .example = "{\"token\": \"TOKEN\"}", .body_max = FORM_BYTES,
        .run = login_post, .sink = login_sink),
    ROUTE("GET", "/login/start", ROLE_ANYONE, .name = "loginStart", .group = "Sign-in",
          .summary = "Begin a sign-in at the issuer",
          .about = "Redirects to the issuer with 303 (code flow with PKCE).", .query = next_query,
          .success = 303, .run = start_get),
    ROUTE("GET", "/login/callback", ROLE_ANYONE, .name = "loginCallback", .group = "Sign-in",
          .summary = "Complete a sign-in after the issuer's redirect",
          .about = "HTML that continues to the requested page.", .flags = ROUTE_LOOSE,
          .query = callback_query, .success = 200, .statuses = "UNAUTHENTICATED",
          .run = callback_get),
    ROUTE("GET", "/login/style.css", ROLE_ANYONE, .name = "loginStyle", .group = "Sign-in",
          .summary = "Get the style sheet of the sign-in pages", .flags = ROUTE_QUICK,
          .success = 200, .run = style_get),
    ROUTE(
        "POST", "/logout", ROLE_ANYONE, .name = "logout", .group = "Sign-in", .summary = "Sign out",
        .about = "Deletes the cookie and ends its sign-in everywhere. Browsers get 303 to /login.",
        .flags = ROUTE_WRITE | ROUTE_KEYLESS, .success = 204, .run = logout_post),
    ROUTES_END,
};

const face face_login = {
    .name = "login",
    .title = "Sign-in",
    .prefix = "",
    .routes = login_routes,
};
