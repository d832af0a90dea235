#!/usr/bin/env bash
# Runs every fuzz test for the given time, one after the other.
set -euo pipefail
time=${1:-30s}
grep -rlE '^func Fuzz' --include='*_test.go' . | sort | while read -r file; do
  dir=$(dirname "$file")
  grep -oE '^func Fuzz[A-Za-z0-9_]+' "$file" | sed 's/func //' | while read -r name; do
    echo "== $dir $name"
    go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$dir"
  done
done
