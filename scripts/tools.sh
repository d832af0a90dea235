#!/usr/bin/env bash
# Installs what the tests need and the machine lacks. The race detector needs a
# C compiler; the product itself does not.
set -euo pipefail
cd "$(dirname "$0")/.."

need() { # command package
  command -v "$1" >/dev/null 2>&1 && return 0
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "tools: $1 is missing and there is no apt-get to install $2 with; install it by hand" >&2
    return 1
  fi
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  echo "tools: installing $2"
  if [ -z "${updated:-}" ]; then
    $sudo apt-get update -qq
    updated=1
  fi
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends "$2" >/dev/null
}

need gcc gcc
# gcc without the C library's headers cannot link the race detector.
[ -e /usr/include/stdlib.h ] || need /usr/include/stdlib.h libc6-dev

# The tests of the second store engine start a PostgreSQL of their own. Debian
# keeps the server's programs out of PATH; its package also starts a server,
# which the tests do not need.
postgres_found() { command -v initdb >/dev/null 2>&1 || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
postgres_found || need initdb postgresql || echo "tools: without PostgreSQL its tests are skipped" >&2

# Prometheus's own checker of alert rules, and shells whose completion is tested.
need promtool prometheus || echo "tools: without promtool the alert rules are not given to Prometheus" >&2
for shell in zsh fish; do need $shell $shell || echo "tools: without $shell its completion is not tested" >&2; done
# What reads systemd's units.
need systemd-analyze systemd || echo "tools: without systemd-analyze nothing reads the units" >&2
# A real browser looks at the pages.
need chromium chromium || echo "tools: without chromium no browser looks at the pages" >&2

# What the demo prints is pasted into a shell.
need curl curl

# What builds of strangers' sources run in.
need bwrap bubblewrap || echo "tools: without bubblewrap there is no sandbox to be tested" >&2

# A test makes clients of the API's document, with generators in the versions that stand beside its programs. One is there
# when its file of versions lies with it, which is copied last; that of Go is in the module cache.
pins=cmd/chainexplorer/testdata/clients
clients=.tools/clients
generator() { # name, file of versions, command that installs into $into
  local into=$PWD/$clients/$1
  cmp -s "$pins/$1/$2" "$into/$2" && return 0
  echo "tools: installing what the tests need of $1"
  rm -rf "$into" && mkdir -p "$into" && "$3" "$1" && cp "$pins/$1/$2" "$into/$2"
}
npm_packages() {
  need node nodejs && need npm npm && cp "$pins/$1/package.json" "$into" &&
    cp "$pins/$1/package-lock.json" "$into/npm-shrinkwrap.json" &&
    npm --prefix "$into" ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null
}
python_packages() {
  need python3 python3 && { python3 -c 'import ensurepip' 2>/dev/null || need ensurepip python3-venv; } &&
    python3 -m venv "$into" && "$into/bin/pip" install -q --disable-pip-version-check --no-deps -r "$pins/$1/requirements.txt"
}
(cd "$pins/go" && go mod download) || echo "tools: without its generator no Go client is tested" >&2
generator python requirements.txt python_packages || echo "tools: without its generator no Python client is tested" >&2
generator inspector package-lock.json npm_packages || echo "tools: without the inspector of the Model Context Protocol no agent of others asks" >&2

# What the TypeScript client is made and compiled with.
pins=client clients=.tools generator typescript package-lock.json npm_packages || echo "tools: without its compiler no TypeScript client is tested" >&2

# The form of OpenRPC documents, as its authors publish it; a test holds ours against it.
pins=internal/gateway/method/testdata clients=.tools generator openrpc package-lock.json npm_packages ||
  echo "tools: without its schemas the OpenRPC document is not tested" >&2

# The clients that wallets and programs use with the JSON-RPC gateway; starknet.go comes with the other modules.
pins=internal/gateway/testdata clients=.tools generator starknetjs package-lock.json npm_packages ||
  echo "tools: without starknet.js it is not run through the gateway" >&2

# An OpenID Connect provider as others wrote it, by which people sign in to the service.
pins=internal/signin/testdata clients=.tools generator oidcprovider package-lock.json npm_packages ||
  echo "tools: without a provider nobody signs in by one" >&2

# What finds in the pages what keeps people from using them.
pins=internal/web/walk/testdata clients=.tools generator axe package-lock.json npm_packages ||
  echo "tools: without axe-core nobody looks whether everybody can use the pages" >&2

# A database that reads what is exported.
pins=cmd/chainexplorer/testdata clients=.tools generator duckdb requirements.txt python_packages ||
  echo "tools: without DuckDB nobody else reads the exported files" >&2
