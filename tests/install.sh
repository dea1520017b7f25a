#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Tests of `make install` and of the build itself: what is installed is enough to
# compile and run a program against it, shared and static; a changed header rebuilds
# what includes it, and nothing is built twice. B is the build folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/lib/tap.bash
. "$here/lib/tap.bash"
build=${B:?B must name the build folder}
cd "$here/.." || exit 2
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ramet-install.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS SAN

make=(make --no-print-directory)
flags=()
case $build in */san)
    make+=(SAN=1)
    flags=("-fsanitize=address,undefined")
    ;;
esac

ok "make install" "${make[@]}" install DESTDIR="$tmp" PREFIX=/usr
for f in bin/ramet lib/libramet.a lib/libramet.so lib/libramet.so.0 include/ramet.h \
    lib/pkgconfig/ramet.pc share/man/man1/ramet.1 share/bash-completion/completions/ramet \
    share/zsh/site-functions/_ramet $(echo include/ramet/*.h); do
    ok "installed: $f" test -s "$tmp/usr/$f"
done
ok "the installed tool runs" "$tmp/usr/bin/ramet" --version
strange=$(cd "$tmp" && find . -type f ! -path './usr/*')
is "nothing is installed outside the prefix" "$strange" ""

# As pkg-config would answer after a real install to /usr, but with the files where they are.
pc() {
    PKG_CONFIG_PATH=$tmp/usr/lib/pkgconfig pkg-config --define-variable=prefix="$tmp/usr" "$@" ramet
}
version=$(sed -n 's/^#define RAMET_VERSION "\(.*\)"/\1/p' include/ramet.h)
is "pkg-config and the header name one version" "$(pc --modversion)" "$version"

cat >"$tmp/hello.c" <<'X'
#include <ramet.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    ramet *r;
    ramet_error err;
    if (argc != 2 || ramet_open(argv[1], NULL, &r, &err))
        return 1;
    ramet_call *c = ramet_call_new(r, NULL, "hello");
    ramet_session *s;
    if (ramet_session_create(c, &(ramet_session_in){.title = "Hello"}, &s))
        return 2;
    printf("%s %lld\n", s->title, (long long)s->head.length);
    ramet_call_free(c);
    ramet_close(r);
    return 0;
}
X
read -ra cflags <<<"$(pc --cflags)"
read -ra shared <<<"$(pc --libs)"
read -ra static <<<"$(pc --static --libs | sed 's/-lramet/-l:libramet.a/')"
ok "a program compiles against the shared library" \
    gcc -Wall -Wextra -Werror "${flags[@]}" "${cflags[@]}" "$tmp/hello.c" "${shared[@]}" -o "$tmp/shared"
export LD_LIBRARY_PATH=$tmp/usr/lib
is "it runs" "$("$tmp/shared" "$tmp/shared.db")" "Hello 0"
ok "it uses the shared library" grep -q libramet.so.0 "$tmp/shared"
ok "a program compiles against the static library" \
    gcc -Wall -Wextra -Werror "${flags[@]}" "${cflags[@]}" "$tmp/hello.c" "${static[@]}" -o "$tmp/static"
unset LD_LIBRARY_PATH
is "it runs alone" "$("$tmp/static" "$tmp/static.db")" "Hello 0"
for f in "$tmp"/usr/include/ramet.h "$tmp"/usr/include/ramet/*.h; do
    ok "${f#"$tmp/usr/include/"} compiles alone as C++ and strict C11" sh -c "
        gcc -std=c11 -pedantic-errors -Wall -Wextra -Werror -fsyntax-only -x c '$f' &&
        { ! command -v g++ >/dev/null || g++ -Wall -Wextra -Werror -fsyntax-only -x c++ '$f'; }"
done
exported=$(nm -D --defined-only "$tmp/usr/lib/libramet.so" | awk '$2 ~ /[TDBR]/ { print $3 }' | grep -v '^ramet_')
is "the shared library exports only ramet_ names" "$exported" ""

is "an unchanged tree builds nothing" "$("${make[@]}" -n all | grep -c -- ' -c ')" "0"
rebuilt=$("${make[@]}" -n -W include/ramet.h all)
for f in $(grep -l '#include "ramet.h"' src/*/*.c | head -3); do
    has "a changed ramet.h rebuilds $f" "$rebuilt" "-c $f "
done
rebuilt=$("${make[@]}" -n -W src/base/arena.h all)
has "a changed src/base/arena.h rebuilds src/base/arena.c" "$rebuilt" "-c src/base/arena.c "
finish
