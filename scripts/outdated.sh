#!/usr/bin/env bash
# Lists the modules that have a newer version, those of the program first. A
# module that the registry does not list is named too: silence would read as
# "current". It always ends well: what to do about the list is for a person.
set -euo pipefail
cd "$(dirname "$0")/.."

linked=$(go list -deps -f '{{with .Module}}{{.Path}}{{end}}' ./cmd/chainexplorer | sort -u)
required=$(go list -m -f '{{if not .Main}}{{.Path}}{{end}}' $(awk '/^\t[a-z]/ {print $1}' go.mod))
# shellcheck disable=SC2086 # one word per module
list=$(go list -m -u -e -f '{{.Path}} {{.Version}} {{if .Error}}unknown{{else if .Update}}{{.Update.Version}}{{else}}current{{end}} {{if .Deprecated}}deprecated{{end}}' $required)

show() { # title, filter of the third field
  local rows
  rows=$(echo "$list" | awk -v linked="$linked" -v want="$2" '
    BEGIN { n = split(linked, l, "\n"); for (i = 1; i <= n; i++) in_program[l[i]] = 1 }
    { state = ($3 == "unknown" || $3 == "current") ? $3 : "newer" }
    state == want || (want == "newer" && $4 == "deprecated") {
      printf "%s  %-9s %-60s %-24s %s %s\n", in_program[$1] ? "0" : "1", in_program[$1] ? "program" : "tests", $1, $2, ($3 == "unknown" ? "" : $3), $4
    }' | sort | cut -c4-)
  [ -z "$rows" ] && return 0
  echo "$1"
  echo "$rows"
}
show "a newer version exists:" newer
show "not listed by the registry, look by hand:" unknown
echo "$(echo "$list" | awk '$3 == "current"' | wc -l) of $(echo "$list" | wc -l) modules are current"
