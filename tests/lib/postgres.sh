#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A private PostgreSQL server for tests: a folder, a socket in it and a free port of its own.
#
#   tests/lib/postgres.sh start DIR     makes and starts it, prints its URL; DIR must not exist yet,
#                                       or hold a server that was stopped
#   tests/lib/postgres.sh stop DIR      stops it; the folder stays (fast; PG_STOP=immediate: as if killed)
#   tests/lib/postgres.sh remove DIR    stops it and removes the folder
#   tests/lib/postgres.sh url DIR       prints the URL again
#   tests/lib/postgres.sh psql DIR …    psql on it
#   tests/lib/postgres.sh replica DIR OF
#                                       makes and starts a streaming replica in DIR of the server in
#                                       OF, prints its URL; stop, start (again), remove … serve too
#   tests/lib/postgres.sh promote DIR   makes a replica a server that is written to
#   tests/lib/postgres.sh kill DIR      SIGKILL to all of its processes: as if the machine had gone
#   tests/lib/postgres.sh bouncer DIR OF
#                                       makes and starts a pgbouncer, in transaction mode, before the
#                                       server in OF, prints its URL; stop and remove serve too
#   tests/lib/postgres.sh repoint DIR OF
#                                       the pgbouncer in DIR leads to the server in OF from now on
#   tests/lib/postgres.sh database URL NAME [TEMPLATE]
#                                       makes a database beside the one of the URL, prints its URL
#   tests/lib/postgres.sh drop URL NAME
#
#   PG_FSYNC=on       durable commits (default off: faster, and nothing here is meant to last)
#   PG_CONF='a=b c=d' more settings, space-separated
#   PG_LIST=FILE      the folder of each server that is made is noted there
#
# The URL is one of the socket, so that it works without a password; port and 127.0.0.1 serve too.
set -euo pipefail

say() {
    echo "tests/lib/postgres.sh: $*" >&2
}

bin_dir() {
    local d
    d=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
    [ -x "$d/initdb" ] || d=$(pg_config --bindir 2>/dev/null || true)
    [ -x "$d/initdb" ] || { say "there is no PostgreSQL server; run tools/setup test"; exit 1; }
    echo "$d"
}

# PostgreSQL refuses to run as root.
who=""
if [ "$(id -u)" -eq 0 ]; then
    who=postgres
    id "$who" >/dev/null 2>&1 || who=nobody
fi
as_server() {
    if [ -n "$who" ]; then
        (cd / && setpriv --reuid="$who" --regid="$(id -g "$who")" --clear-groups "$@")
    else
        "$@"
    fi
}

free_port() {
    local port
    while :; do
        port=$((20000 + RANDOM % 12000))
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
    done
    echo "$port"
}

url() {
    echo "postgres://ramet@/ramet?host=$1/s&port=$(cat "$1/port")"
}

folder_make() {
    mkdir -p "$1/s"
    [ -z "$who" ] || chown "$who" "$1" "$1/s"
    chmod 755 "$1" "$1/s"
    [ -z "${PG_LIST:-}" ] || echo "$1" >>"$PG_LIST"
}

server_make() {
    local dir=$1
    folder_make "$dir"
    as_server "$bin/initdb" -D "$dir/data" -U ramet -A trust -E UTF8 --locale=C.UTF-8 \
        --no-sync >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
    cat >>"$dir/data/postgresql.conf" <<END
unix_socket_directories = '$dir/s'
listen_addresses = '127.0.0.1'
max_connections = 300
fsync = ${PG_FSYNC:-off}
shared_buffers = 128MB
max_wal_size = 2GB
END
    local each
    for each in ${PG_CONF:-}; do
        echo "${each%%=*} = '${each#*=}'" >>"$dir/data/postgresql.conf"
    done
}

# Another may take the port meanwhile: then with another one.
server_start() {
    local dir=$1 try
    for try in 1 2 3 4 5; do
        [ -e "$dir/port" ] && [ "$try" = 1 ] || free_port >"$dir/port"
        if as_server "$bin/pg_ctl" -D "$dir/data" -l "$dir/data/log" -w -t 60 \
            -o "-p $(cat "$dir/port")" start >>"$dir/log" 2>&1; then
            return 0
        fi
        grep -q 'could not create any TCP/IP' "$dir/data/log" || break
    done
    cat "$dir/log" "$dir/data/log" >&2
    exit 1
}

# The settings of the other server come with the copy; the last word counts.
replica_make() {
    local dir=$1 of=$2 each
    folder_make "$dir"
    as_server "$bin/pg_basebackup" -D "$dir/data" -R -X stream -c fast --no-sync \
        -d "host=$of/s port=$(cat "$of/port") user=ramet application_name=$(basename "$dir")" \
        >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
    rm -f "$dir/data/log"
    echo "unix_socket_directories = '$dir/s'" >>"$dir/data/postgresql.conf"
    for each in ${PG_CONF:-}; do
        echo "${each%%=*} = '${each#*=}'" >>"$dir/data/postgresql.conf"
    done
}

# The postmaster and all it has started, so that nothing goes on writing.
server_kill() {
    local main
    main=$(head -n 1 "$1/data/postmaster.pid")
    # shellcheck disable=SC2046
    kill -KILL "$main" $(ps -o pid= --ppid "$main") 2>/dev/null || true
    rm -f "$1/data/postmaster.pid" "$1/s/.s.PGSQL.$(cat "$1/port")" \
        "$1/s/.s.PGSQL.$(cat "$1/port").lock"
}

bouncer_make() {
    local dir=$1 of=$2
    folder_make "$dir"
    free_port >"$dir/port"
    cat >"$dir/pgbouncer.ini" <<END
[databases]
* = host=$of/s port=$(cat "$of/port") user=ramet
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $(cat "$dir/port")
unix_socket_dir = $dir/s
auth_type = any
pool_mode = transaction
default_pool_size = 20
max_client_conn = 500
server_idle_timeout = 5
server_login_retry = 1
logfile = $dir/s/log
pidfile = $dir/s/pid
END
}

bouncer_repoint() {
    sed -i "s#^\* = .*#* = host=$2/s port=$(cat "$2/port") user=ramet#" "$1/pgbouncer.ini"
    kill -HUP "$(cat "$1/s/pid")"
}

bouncer_start() {
    local bouncer try
    bouncer=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || { say "there is no pgbouncer; run tools/setup test"; exit 1; }
    as_server "$bouncer" -q -d "$1/pgbouncer.ini" >"$1/log" 2>&1 || { cat "$1/log" >&2; exit 1; }
    for try in {1..100}; do
        [ ! -S "$1/s/.s.PGSQL.$(cat "$1/port")" ] || return 0
        sleep 0.05
    done
    cat "$1/log" "$1/s/log" >&2
    exit 1
}

# The URL of another database beside that of a URL: postgres://WHO@WHERE/NAME?…
url_beside() {
    local front=${1%%\?*} more=
    case $1 in *\?*) more="?${1#*\?}" ;; esac
    echo "${front%/*}/$2$more"
}

# Runs a statement where databases are made; libpq does not know our own parameters.
admin() {
    local url
    url=$(url_beside "$1" postgres | sed -E 's/[?&](pgbouncer|partitions)=[0-9]+//g')
    "$bin/psql" -q "$url" -c "SET client_min_messages = error" -c "$2" >&2
}

server_stop() {
    if [ -e "$1/s/pid" ]; then
        kill "$(cat "$1/s/pid")" 2>/dev/null || true
        rm -f "$1/s/pid"
    fi
    if [ -e "$1/data/postmaster.pid" ]; then
        as_server "$bin/pg_ctl" -D "$1/data" -m "${PG_STOP:-fast}" -w stop >>"$1/log" 2>&1 || true
    fi
}

[ $# -ge 2 ] || { sed -n '3,30p' "$0" >&2; exit 2; }
what=$1 dir=$(realpath -m "$2")
bin=$(bin_dir)
case $what in
start)
    if [ ! -e "$dir/data/PG_VERSION" ]; then
        server_make "$dir"
        new=1
    fi
    server_start "$dir"
    [ -z "${new:-}" ] ||
        "$bin/psql" -q -h "$dir/s" -p "$(cat "$dir/port")" -U ramet -d postgres -c 'CREATE DATABASE ramet' >&2
    url "$dir"
    ;;
stop) server_stop "$dir" ;;
remove)
    server_stop "$dir"
    if [ -e "$dir/data/PG_VERSION" ] || [ -e "$dir/pgbouncer.ini" ]; then rm -rf "$dir"; fi
    ;;
url) url "$dir" ;;
replica)
    [ $# -ge 3 ] || { say "replica DIR OF"; exit 2; }
    replica_make "$dir" "$(realpath -m "$3")"
    server_start "$dir"
    url "$dir"
    ;;
promote) as_server "$bin/pg_ctl" -D "$dir/data" -w -t 60 promote >>"$dir/log" ;;
kill) server_kill "$dir" ;;
bouncer)
    [ $# -ge 3 ] || { say "bouncer DIR OF"; exit 2; }
    bouncer_make "$dir" "$(realpath -m "$3")"
    bouncer_start "$dir"
    echo "$(url "$dir")&pgbouncer=1"
    ;;
repoint)
    [ $# -ge 3 ] || { say "repoint DIR OF"; exit 2; }
    bouncer_repoint "$dir" "$(realpath -m "$3")"
    ;;
database)
    [ $# -ge 3 ] || { say "database URL NAME [TEMPLATE]"; exit 2; }
    admin "$2" "CREATE DATABASE \"$3\"${4:+ TEMPLATE \"$4\"}"
    url_beside "$2" "$3"
    ;;
drop) admin "$2" "DROP DATABASE IF EXISTS \"$3\" WITH (FORCE)" ;;
psql)
    shift 2
    exec "$bin/psql" "$(url "$dir")" "$@"
    ;;
*) sed -n '3,30p' "$0" >&2; exit 2 ;;
esac
