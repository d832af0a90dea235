#!/usr/bin/env bash
# A Citus cluster on this machine: for tests and benchmarks, never for data.
#
#   scripts/citus.sh build SOURCE      build Citus from its sources (13.0.3 is what the tests know)
#   scripts/citus.sh start [WORKERS]   start a coordinator and workers (2), and print the address for TEST_CITUS_URL
#   scripts/citus.sh stop              end them and remove their data
#   scripts/citus.sh run WORKERS COMMAND...   all of it around a command, which finds TEST_CITUS_URL set
#
# Nothing is installed into the system: the server that is installed is copied into .tools/citus, beside which the
# extension is put. PostgreSQL finds its files from where its programs are. The headers that building needs are
# installed where apt-get is.
# The servers listen on the loopback address and do not sync their files. CITUS_SETTINGS are more lines of their settings.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${CITUS_ROOT:-$PWD/.tools/citus}
running=$root/running

fail() { echo "citus: $*" >&2; exit 1; }

# PostgreSQL does not run as root.
as_user() {
  if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}

headers_found() {
  command -v pg_config >/dev/null && [ -e "$(pg_config --includedir-server)/postgres.h" ] && [ -e /usr/include/gssapi/gssapi.h ] &&
    [ -e /usr/include/zstd.h ] && [ -e /usr/include/lz4.h ]
}

install_headers() {
  local sudo="" server
  command -v apt-get >/dev/null || return 0
  [ "$(id -u)" = 0 ] || sudo=sudo
  server=$(ls /usr/lib/postgresql | sort -n | tail -1)
  echo "citus: installing the headers of PostgreSQL $server"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
    "postgresql-server-dev-$server" libkrb5-dev libssl-dev libzstd-dev liblz4-dev >/dev/null
}

build() {
  local from=$1 config bin share version
  [ -e "$from/src/backend/distributed" ] || fail "$from holds no sources of Citus"
  headers_found || install_headers
  headers_found || fail "the headers of the server are missing: install postgresql-server-dev, libkrb5-dev, libssl-dev, libzstd-dev and liblz4-dev"
  config=$(command -v pg_config)
  bin=$("$config" --bindir) share=$("$config" --sharedir) version=$("$config" --version)
  rm -rf "$root" && mkdir -p "$root/build" "$root/server$(dirname "$bin")" "$root/server$(dirname "$share")"
  echo "citus: building for $version (about a minute)"
  cp -r "$from/." "$root/build"
  # An archive has no times of its own: without this the build would ask for autoconf.
  touch "$root/build/configure" "$root/build/src/include/citus_config.h.in"
  (cd "$root/build" && PG_CONFIG=$config ./configure --without-libcurl --without-lz4 --without-zstd &&
    make -j"$(getconf _NPROCESSORS_ONLN)" -s install-all DESTDIR="$root/server") >"$root/build.log" 2>&1 ||
    fail "the build failed: see $root/build.log"
  cp -r "$(dirname "$bin")/." "$root/server$(dirname "$bin")"
  cp -rL "$share/." "$root/server$share"
  echo "$root/server$bin" >"$root/bin"
  rm -rf "$root/build"
}

free_ports() { # how many
  python3 - "$1" <<'EOF'
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))
EOF
}

start() {
  local workers=$1 dir bin ports port i
  [ -e "$root/bin" ] || fail "nothing is built: scripts/citus.sh build SOURCE"
  [ ! -e "$running" ] || fail "a cluster runs already: scripts/citus.sh stop"
  bin=$(cat "$root/bin")
  dir=$(mktemp -d /tmp/citus-XXXXXX)
  echo "$dir" >"$running"
  [ "$(id -u)" != 0 ] || chown postgres "$dir"
  read -ra ports <<<"$(free_ports $((workers + 1)))"
  for ((i = 0; i <= workers; i++)); do
    as_user "$bin/initdb" --pgdata "$dir/$i" --username postgres --auth trust --encoding UTF8 --locale C --no-sync >/dev/null
    as_user tee -a "$dir/$i/postgresql.conf" >/dev/null <<EOF
listen_addresses = '127.0.0.1'
port = ${ports[i]}
unix_socket_directories = '$dir'
shared_preload_libraries = 'citus'
max_connections = 300
max_prepared_transactions = 300
shared_buffers = 128MB
max_wal_size = 4GB
fsync = off
full_page_writes = off
wal_level = logical
citus.enable_statistics_collection = off
${CITUS_SETTINGS:-}
EOF
    as_user "$bin/pg_ctl" --pgdata "$dir/$i" --log "$dir/$i.log" --wait start >/dev/null || { stop; fail "server $i did not start"; }
    psql "${ports[i]}" -c 'create extension citus' || { stop; fail "server $i has no Citus"; }
  done
  psql "${ports[0]}" -c "select citus_set_coordinator_host('127.0.0.1', ${ports[0]})"
  for port in "${ports[@]:1}"; do psql "${ports[0]}" -c "select citus_add_node('127.0.0.1', $port)"; done
  echo "postgres://postgres@127.0.0.1:${ports[0]}/postgres?sslmode=disable"
}

psql() { # port and what to do
  as_user "$(cat "$root/bin")/psql" -h 127.0.0.1 -p "$1" -U postgres -q -o /dev/null -v ON_ERROR_STOP=1 "${@:2}" postgres
}

stop() {
  local dir data
  [ -e "$running" ] || return 0
  dir=$(cat "$running")
  for data in "$dir"/*/; do
    [ ! -e "$data/postmaster.pid" ] || as_user "$(cat "$root/bin")/pg_ctl" --pgdata "$data" --mode immediate stop >/dev/null || true
  done
  rm -rf "$dir" "$running"
}

case ${1:-} in
build) [ $# = 2 ] || fail "name the folder with the sources"; build "$2" ;;
start) start "${2:-2}" ;;
stop) stop ;;
run)
  [ $# -ge 3 ] || fail "run WORKERS COMMAND..."
  trap stop EXIT
  TEST_CITUS_URL=$(start "$2")
  export TEST_CITUS_URL
  "${@:3}"
  ;;
*) fail "build SOURCE, start [WORKERS], stop or run WORKERS COMMAND..." ;;
esac
