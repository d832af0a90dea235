#!/usr/bin/env bash
# Installs what the tests need and the machine lacks. The race detector needs a
# C compiler; the product itself does not.
set -euo pipefail

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
# A real browser looks at the pages.
need chromium chromium || echo "tools: without chromium no browser looks at the pages" >&2
