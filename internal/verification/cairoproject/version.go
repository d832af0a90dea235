package cairoproject

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// fullVersions are exact ones; requirement is one condition that a version can be held against.
var (
	fullVersions = regexp.MustCompile(`^[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}([-+][0-9A-Za-z.+-]{1,64})?$`)
	requirement  = regexp.MustCompile(`^(=|>=|<=|>|<|\^|~)?\s*([0-9]{1,6})(?:\.([0-9]{1,6}))?(?:\.([0-9]{1,6}))?$`)
	toolVersions = regexp.MustCompile(`(?m)^scarb[ \t]+(\S+)[ \t]*(#.*)?\r?$`)
)

// version is that of the compiler which the tree was made for: what its .tool-versions says
// of Scarb, else the exact version of cairo-version, else that of its starknet. All that
// the manifests say must admit it. There is no guess: another compiler gives another class.
func (r *reader) version() (string, error) {
	exact := ""
	data, err := r.read(".tool-versions", maxManifest)
	if err != nil {
		return "", err
	}
	if m := toolVersions.FindSubmatch(data); m != nil {
		exact = string(m[1])
	}
	for _, w := range r.wanted {
		if exact == "" {
			exact = strings.TrimLeft(strings.TrimSpace(w), "=^ ")
		}
	}
	if !fullVersions.MatchString(exact) {
		return "", refuse(Unsupported, "the tree names no exact version of the compiler: cairo-version, or .tool-versions with Scarb's")
	}
	for _, w := range r.wanted {
		if !admits(w, exact) {
			return "", refuse(Unsupported, "the manifests ask for different versions of the compiler")
		}
	}
	return exact, nil
}

// admits says whether a version fulfils a requirement as Cargo and Scarb read it. Of what
// it cannot read, it says no.
func admits(wanted, version string) bool {
	v, pre, _ := strings.Cut(version, "-")
	have := numbers(strings.SplitN(v, ".", 3))
	if pre != "" { // only the very same one is meant by it
		return strings.TrimLeft(wanted, "=^~ ") == version
	}
	for part := range strings.SplitSeq(wanted, ",") {
		m := requirement.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil || !fits(m[1], m[2:], have) {
			return false
		}
	}
	return true
}

func numbers(parts []string) (n [3]int) {
	for i, p := range parts {
		n[i], _ = strconv.Atoi(p)
	}
	return n
}

// fits holds a version against one condition, whose last numbers may be missing.
func fits(op string, parts []string, have [3]int) bool {
	want := numbers(parts)
	given := 1
	for given < 3 && parts[given] != "" {
		given++
	}
	order := slices.Compare(have[:], want[:])
	sameUpTo := func(n int) bool { return slices.Compare(have[:n], want[:n]) == 0 }
	switch op {
	case "=":
		return sameUpTo(given)
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	case ">":
		return order > 0 && !sameUpTo(given)
	case "<=":
		return order <= 0 || sameUpTo(given)
	case "~":
		return order >= 0 && sameUpTo(min(2, given))
	}
	// The first number that is not zero stays, as do those before it.
	fixed := 1
	for fixed < given && want[fixed-1] == 0 {
		fixed++
	}
	return order >= 0 && sameUpTo(fixed)
}
