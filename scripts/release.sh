#!/usr/bin/env bash
# Builds what a release holds: static binaries of what is committed, a bill of
# materials for each, and their digests. Equal commits give equal files, on any
# machine, with the toolchain that go.mod names.
#
#   scripts/release.sh [DIR] [OS/ARCH ...]     dist and four platforms unless given
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$repository/dist}
shift || true
platforms=("$@")
[ ${#platforms[@]} -gt 0 ] || platforms=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64)

mkdir -p "$out"
out=$(cd "$out" && pwd)
if [ -n "$(ls -A "$out")" ]; then
  if [ ! -e "$out/SHA256SUMS" ]; then
    echo "release: $out holds files that are no release" >&2
    exit 1
  fi
  rm -f "$out"/chainexplorer-* "$out/SHA256SUMS"
fi

# A clone, so that nothing gets in that is not committed.
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
git clone --quiet --no-hardlinks "$repository" "$source/chainexplorer"
git -C "$source/chainexplorer" checkout --quiet --detach "$(git -C "$repository" rev-parse HEAD)"
cd "$source/chainexplorer"
[ -z "$(git -C "$repository" status --porcelain)" ] || echo "release: there are changes that are not committed; they are left out" >&2

wanted=go$(awk '$1 == "go" {print $2}' go.mod)
[ "$(go env GOVERSION)" = "$wanted" ] || { echo "release: go.mod names $wanted, this is $(go env GOVERSION)" >&2; exit 1; }

export CGO_ENABLED=0 GOFLAGS= GOAMD64=v1 GOARM64=v8.0 GOEXPERIMENT=
go build -trimpath -buildvcs=false -o "$source/sbom" ./scripts/sbom
for platform in "${platforms[@]}"; do
  name=chainexplorer-${platform/\//-}
  GOOS=${platform%/*} GOARCH=${platform#*/} go build -trimpath -buildvcs=true -ldflags='-s -w -buildid=' -o "$out/$name" ./cmd/chainexplorer
  "$source/sbom" "$out/$name" >"$out/$name.cdx.json"
done
cd "$out"
sha256sum chainexplorer-* >SHA256SUMS
cat SHA256SUMS
