#!/usr/bin/env bash
# Builds the program twice, from clones in different places, and compares the digests.
# The second time every package of the module is compiled anew; with --quarter a fourth of
# them, which one depends on the commit; with --from-nothing so is all that they use, which
# changes with go.mod alone and takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
platform=$(go env GOOS)/$(go env GOARCH)
scripts/release.sh "$work/first" "$platform" >/dev/null
mkdir "$work/elsewhere"
if [ "${1:-}" != --from-nothing ]; then
  # A cache of links to what is compiled, without this module's. Where there can be no links
  # the cache stays empty: then all is compiled.
  cp -rl "$(go env GOCACHE)" "$work/cache" 2>/dev/null || rm -rf "$work/cache"
  git clone --quiet --no-hardlinks . "$work/committed"
  (cd "$work/committed" && CGO_ENABLED=0 GOFLAGS=-trimpath GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT='' GOCACHE=$work/cache \
    go list -deps -export -f '{{with .Module}}{{if .Main}}{{$.Export}}{{end}}{{end}}' ./cmd/chainexplorer) >"$work/ours"
  [ -s "$work/ours" ] || { echo "reproducible: nothing to compile anew" >&2; exit 1; }
  if [ "${1:-}" = --quarter ]; then
    commit=$(git rev-parse HEAD)
    awk -v turn=$((16#${commit:0:4} % 4)) 'NR % 4 == turn' "$work/ours" >"$work/quarter"
    mv "$work/quarter" "$work/ours"
  fi
  xargs rm <"$work/ours"
fi
TMPDIR=$work/elsewhere GOCACHE=$work/cache scripts/release.sh "$work/second" "$platform" >/dev/null
if ! diff "$work/first/SHA256SUMS" "$work/second/SHA256SUMS"; then
  echo "reproducible: two builds of one commit differ" >&2
  exit 1
fi
echo "reproducible: two builds of $(git rev-parse --short HEAD) for $platform are equal"
