#!/usr/bin/env bash
# Looks for known vulnerabilities that the program can reach. Where the checker or
# its database cannot be had it says so and does not fail: that is no finding, and
# no clean bill either.
set -euo pipefail
cd "$(dirname "$0")/.."
version=v1.9.0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
timeout "${VULN_TIMEOUT:-300}" go run "golang.org/x/vuln/cmd/govulncheck@$version" ./cmd/chainexplorer >"$log" 2>&1 || status=$?
# 0 nothing found, 3 something found; go run tells the second as "exit status 3".
if [ $status = 0 ]; then
  cat "$log"
elif grep -q '^exit status 3$' "$log"; then
  cat "$log"
  exit 1
else
  echo "vulnerable: NOT CHECKED, the checker or its database cannot be had here:"
  tail -3 "$log"
fi
