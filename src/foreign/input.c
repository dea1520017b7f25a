/* SPDX-License-Identifier: Apache-2.0
 *
 * input.c: the spool as files, lines and elements of arrays.
 *
 * The spool is mapped privately: its pages come and go as they are needed, and a text is mended
 * where it lies. It belongs to this import alone, so nothing cuts it off meanwhile.
 */
#include "foreign/foreign.h"

#include <string.h>
#include <sys/mman.h>

#define BLOCK 512 /* of a tar archive */

/* ------------------------------------------------------------------- archives */

/* Header of a tar entry (POSIX.1-2001 ustar). */
typedef struct tar_header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100], magic[6],
        version[2], user[32], group[32], major[8], minor[8], prefix[155], rest[12];
} tar_header;

/* An octal number, or a binary one (GNU); SIZE_MAX when it is neither. */
static size_t tar_number(const char *s, size_t n)
{
    size_t v = 0, i = 0;
    if ((unsigned char)s[0] == 0x80) {
        for (i = 1; i < n; i++) {
            if (v > SIZE_MAX >> 8)
                return SIZE_MAX;
            v = v << 8 | (unsigned char)s[i];
        }
        return v;
    }
    while (i < n && s[i] == ' ')
        i++;
    for (; i < n && s[i] >= '0' && s[i] <= '7'; i++)
        v = v << 3 | (size_t)(s[i] - '0');
    return i < n && s[i] && s[i] != ' ' ? SIZE_MAX : v;
}

static bool tar_is(const char *at, size_t n)
{
    tar_header h;
    size_t sum = 0;
    if (n < BLOCK)
        return false;
    memcpy(&h, at, sizeof h);
    if (memcmp(h.magic, "ustar", 5) != 0)
        return false;
    for (size_t i = 0; i < BLOCK; i++)
        sum += i >= offsetof(tar_header, sum) && i < offsetof(tar_header, type)
                   ? ' '
                   : (unsigned char)at[i];
    return tar_number(h.sum, sizeof h.sum) == sum;
}

static const char *tar_name(arena *a, const tar_header *h)
{
    const char *name = arena_memdup(a, h->name, strnlen(h->name, sizeof h->name));
    size_t n = strnlen(h->prefix, sizeof h->prefix);
    /* GNU archives have other things there. */
    return n && h->magic[5] == 0 ? arena_printf(a, "%.*s/%s", (int)n, h->prefix, name) : name;
}

/* The path of an extended header: records "LENGTH path=VALUE\n". */
static const char *tar_path(arena *a, const char *at, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t length = 0, k = i;
        for (; k < n && at[k] >= '0' && at[k] <= '9' && length < n; k++)
            length = length * 10 + (size_t)(at[k] - '0');
        if (length < 4 || length > n - i || k + 1 >= i + length)
            return NULL;
        if (i + length - k > 7 && memcmp(at + k, " path=", 6) == 0)
            return arena_memdup(a, at + k + 6, i + length - 1 - (k + 6));
        i += length;
    }
    return NULL;
}

static ramet_status tar_read(foreign_job *j)
{
    const char *next = NULL;
    for (size_t at = 0; at + BLOCK <= j->size && j->map[at];) {
        tar_header h;
        if (!tar_is(j->map + at, j->size - at))
            return job_fail(j, RAMET_IMPORT_DAMAGED, "import",
                            "the archive is damaged at byte %zu; pack the folder again", at);
        memcpy(&h, j->map + at, sizeof h);
        size_t size = tar_number(h.size, sizeof h.size);
        at += BLOCK;
        if (size > j->size - at)
            return job_fail(j, RAMET_IMPORT_DAMAGED, "import",
                            "the archive is cut off at byte %zu; send all of it", j->size);
        if (h.type == 'L' || h.type == 'x') {
            next = h.type == 'x' ? tar_path(j->all, j->map + at, size)
                                 : arena_memdup(j->all, j->map + at, strnlen(j->map + at, size));
        } else {
            if (h.type == '0' || h.type == 0) {
                foreign_member m = {next ? next : tar_name(j->all, &h), j->map + at, size};
                if (j->members.n == MAX_FILES)
                    return job_fail(j, RAMET_TOO_LARGE, "import",
                                    "the archive has more than %d files", MAX_FILES);
                VEC_PUSH(j->all, &j->members, m);
            }
            next = NULL;
        }
        size_t padded = (size + BLOCK - 1) / BLOCK * BLOCK;
        at += padded > j->size - at ? j->size - at : padded;
    }
    return RAMET_OK;
}

/* ---------------------------------------------------------------------- spool */

ramet_status input_open(foreign_job *j)
{
    j->size = (size_t)ramet_import_offset(j->import);
    if (!j->size)
        return job_fail(j, RAMET_IMPORT_DAMAGED, "import", "the file is empty");
    void *at = mmap(NULL, j->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                    ramet_import_file(j->import), 0);
    if (at == MAP_FAILED)
        return job_fail(j, RAMET_IO, NULL, "the spool cannot be read");
    j->map = at;
    if (j->size >= 4 && (memcmp(at, "PK\3\4", 4) == 0 || memcmp(at, "\x1f\x8b", 2) == 0))
        return job_fail(j, RAMET_INVALID, "import",
                        "this is a packed archive (zip or gzip); unpack it, and import the folder "
                        "or the file in it");
    /* An archive without files is blocks of zeros. */
    if (tar_is(at, j->size) || (j->size >= 2 * BLOCK && !j->map[0]))
        return tar_read(j);
    foreign_member whole = {"", at, j->size};
    VEC_PUSH(j->all, &j->members, whole);
    return RAMET_OK;
}

void input_close(foreign_job *j)
{
    if (j->map)
        munmap(j->map, j->size);
    j->map = NULL;
}

foreign_span member_span(const foreign_job *j, const foreign_member *m)
{
    return (foreign_span){m->at, m->n, (uint32_t)(m - j->members.items), 0};
}

bool member_ends(const foreign_member *m, const char *end)
{
    size_t n = strlen(m->name), k = strlen(end);
    return n >= k && strcmp(m->name + n - k, end) == 0;
}

const char *member_base(const foreign_member *m)
{
    const char *slash = strrchr(m->name, '/');
    return slash ? slash + 1 : m->name;
}

const foreign_member *member_find(const foreign_job *j, const char *begin)
{
    size_t n = strlen(begin);
    for (size_t i = 0; n && i < j->members.n; i++)
        if (strncmp(member_base(&j->members.items[i]), begin, n) == 0)
            return &j->members.items[i];
    return NULL;
}

/* ---------------------------------------------------------------------- texts */

static bool blank(char ch)
{
    return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n';
}

bool input_line(foreign_job *j, const foreign_member *m, size_t *at, uint32_t *line,
                foreign_span *out)
{
    while (*at < m->n) {
        char *begin = m->at + *at, *end = memchr(begin, '\n', m->n - *at);
        size_t n = end ? (size_t)(end - begin) : m->n - *at;
        *at += n + (end != NULL);
        ++*line;
        while (n && blank(begin[n - 1]))
            n--;
        if (n) {
            *out = (foreign_span){begin, n, (uint32_t)(m - j->members.items), *line};
            return true;
        }
    }
    return false;
}

/* The length of the object at s; 0 when it does not end. */
static size_t object_length(const char *s, size_t n)
{
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') {
            for (i++; i < n && s[i] != '"'; i++)
                i += s[i] == '\\';
        } else if (s[i] == '{' || s[i] == '[') {
            depth++;
        } else if ((s[i] == '}' || s[i] == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

static ramet_status element_fail(foreign_job *j, const foreign_member *m, size_t at)
{
    return job_fail(j, RAMET_IMPORT_DAMAGED, "import",
                    "%s%sbyte %zu: not a list of conversations, or it is cut off", m->name,
                    *m->name ? ", " : "", at);
}

ramet_status input_elements(foreign_job *j, const foreign_member *m)
{
    size_t at = m->n > 3 && memcmp(m->at, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    bool list, first = true;
#define SKIP_BLANKS()                                                                              \
    while (at < m->n && blank(m->at[at]))                                                          \
    at++
    SKIP_BLANKS();
    list = at < m->n && m->at[at] == '[';
    at += list;
    for (;; first = false) {
        SKIP_BLANKS();
        if (list && at < m->n && m->at[at] == ']') {
            at++;
            break;
        }
        if (list && !first) {
            if (at >= m->n || m->at[at] != ',')
                return element_fail(j, m, at);
            at++;
            SKIP_BLANKS();
        }
        size_t n = at < m->n && m->at[at] == '{' ? object_length(m->at + at, m->n - at) : 0;
        if (!n)
            return element_fail(j, m, at);
        TRY(source_add(j, NULL,
                       (foreign_span){m->at + at, n, (uint32_t)(m - j->members.items), 0}));
        at += n;
        if (!list)
            break;
    }
    SKIP_BLANKS();
#undef SKIP_BLANKS
    return at == m->n ? RAMET_OK : element_fail(j, m, at);
}

/* U+0000 and halves of characters become U+FFFD; every byte keeps its place. */
static void span_mend(const foreign_span *s)
{
    size_t size;
    for (char *p = s->at; (p = memchr(p, '\\', s->n - (size_t)(p - s->at))); p += size) {
        uint32_t cp;
        size = json_escape(p, s->n - (size_t)(p - s->at), &cp);
        if (size == 6 && (JSON_HALF(cp) || !cp))
            memcpy(p, "\\ufffd", 6);
    }
}

bool foreign_parse(arena *a, const foreign_span *s, json_doc *d)
{
    if (s->n > MAX_TEXT_BYTES)
        return false;
    span_mend(s);
    return json_parse(a, s->at, s->n, MAX_NESTING, d, NULL) && json_is(d->nodes, JSON_OBJECT);
}
