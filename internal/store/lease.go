package store

import (
	"fmt"
	"regexp"
)

// Writer is the name of the lease of the one who writes the chain. It is the
// empty one, so that a batch that names no lease is the writer's.
const Writer = ""

// MaxLeases is how many names of leases a store remembers, the writer's not
// counted. It is far more than a program has, and keeps a faulty one from
// filling a store with names.
const MaxLeases = 64

// Names can be put into a key, a log and a label as they are.
var leaseName = regexp.MustCompile(`^[a-z][a-z0-9_/-]{0,62}$`)

// CheckLeaseName says whether a lease may have this name: lower-case letters,
// digits, underscores, hyphens and slashes, at most 63, the first a letter; or
// the writer's.
func CheckLeaseName(name string) error {
	if name != Writer && !leaseName.MatchString(name) {
		return fmt.Errorf("%w: the name %q of a lease is not lower-case letters, digits and any of _/-, at most 63", ErrInvalid, name)
	}
	return nil
}

// CheckLeaseOwner says whether a lease may have this owner.
func CheckLeaseOwner(owner string) error {
	if owner == "" || len(owner) > maxOwner {
		return fmt.Errorf("%w: the owner of a lease has 1 to %d bytes, got %d", ErrInvalid, maxOwner, len(owner))
	}
	return nil
}

const maxOwner = 1 << 10

// TooManyLeases is the error of a new name beyond MaxLeases.
func TooManyLeases(name string) error {
	return fmt.Errorf("%w: the store has %d leases already and does not begin %q", ErrInvalid, MaxLeases, name)
}
