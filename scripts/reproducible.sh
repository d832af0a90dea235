#!/usr/bin/env bash
# Builds the program twice, from clones in different places, the second time
# without anything that was compiled before, and compares the digests.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
platform=$(go env GOOS)/$(go env GOARCH)
scripts/release.sh "$work/first" "$platform" >/dev/null
mkdir "$work/elsewhere"
TMPDIR=$work/elsewhere GOCACHE=$work/cache scripts/release.sh "$work/second" "$platform" >/dev/null
if ! diff "$work/first/SHA256SUMS" "$work/second/SHA256SUMS"; then
  echo "reproducible: two builds of one commit differ" >&2
  exit 1
fi
echo "reproducible: two builds of $(git rev-parse --short HEAD) for $platform are equal"
