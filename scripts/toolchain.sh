#!/usr/bin/env bash
# Makes the Cairo compiler of a version and puts it into a policy directory for exact
# verification. The compiler comes from its package, built with its own lock file; the core
# library is in no package, and comes from the release's source archive or from a folder.
#
#   scripts/toolchain.sh POLICY VERSION --corelib-archive FILE-OR-URL --sha256 DIGEST
#   scripts/toolchain.sh POLICY VERSION --corelib FOLDER
#
# The archive is that of the compiler's repository at the tag of the release: its folder
# corelib is used. CHAINEXPLORER names the program; 'go run' makes it unless set. It takes
# about ten minutes on two cores, and 3 GB of disk meanwhile.
set -euo pipefail

usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
die() { echo "toolchain: $*" >&2; exit 1; }

[ $# -ge 2 ] || usage
policy=$1 version=$2
shift 2
corelib="" archive="" digest=""
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --corelib) corelib=$2 ;;
    --corelib-archive) archive=$2 ;;
    --sha256) digest=$2 ;;
    *) usage ;;
  esac
  shift 2
done
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || die "$version is no version such as 2.20.0"
if [ -n "$archive" ]; then
  [ -z "$corelib" ] || usage
  [[ $digest =~ ^[0-9a-f]{64}$ ]] || die "an archive needs its digest: --sha256 and 64 hex digits"
else
  [ -n "$corelib" ] && [ -z "$digest" ] || usage
  [ -f "$corelib/src/lib.cairo" ] || die "$corelib has no src/lib.cairo: it is no core library"
  corelib=$(cd "$corelib" && pwd)
fi
command -v cargo >/dev/null || die "cargo is not installed"
[ ! -e "$policy/cairo-$version" ] || die "$policy/cairo-$version is there already"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root"
if [ -n "$archive" ]; then
  case $archive in
    https://*) curl --proto '=https' --fail --silent --show-error --location --output "$work/source.tar.gz" "$archive" ;;
    *) cp "$archive" "$work/source.tar.gz" ;;
  esac
  echo "$digest  $work/source.tar.gz" | sha256sum --check --quiet - || die "the archive is not the one of that digest"
  mkdir "$work/source"
  # One folder at the top, whatever it is called; nothing but the core library leaves it.
  tar -xzf "$work/source.tar.gz" -C "$work/source" --strip-components=1 --no-same-owner --wildcards '*/corelib/*'
  [ -f "$work/source/corelib/src/lib.cairo" ] || die "the archive has no corelib/src/lib.cairo"
  corelib=$work/source/corelib
fi
# Without the places of this machine in it, and in a fresh root.
RUSTFLAGS="--remap-path-prefix=$HOME=/ --remap-path-prefix=$work=/ -C strip=symbols" \
  cargo install starknet-compile --version "=$version" --locked --root "$work/root" --target-dir "$work/target"
[ -x "$work/root/bin/starknet-compile" ] || die "cargo made no starknet-compile"
cp -R "$corelib" "$work/root/corelib"

program=("${CHAINEXPLORER:-}")
if [ -z "${program[0]}" ]; then
  repository=$(cd "$(dirname "$0")/.." && pwd)
  CGO_ENABLED=0 go build -C "$repository" -o "$work/chainexplorer" ./cmd/chainexplorer
  program=("$work/chainexplorer")
fi
"${program[@]}" admin toolchain add "$policy" --kind cairo --version "$version" --from "$work/root"
