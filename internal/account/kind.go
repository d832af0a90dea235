package account

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a workspace is to the operator. Nobody but the operator sets it, or a
// code that says so.
type Kind string

// The kinds.
const (
	// Ordinary workspaces are customers of any plan.
	Ordinary Kind = "ordinary"
	// WalletKind may search wide ranges of events, whatever the plan.
	WalletKind Kind = "wallet"
	// PartnerKind: the keys that members issue for themselves have the scope partner, too.
	PartnerKind Kind = "partner"
	// InternalKind is the operator's own: members issue no keys there, and redeem no codes.
	InternalKind Kind = "internal"
)

var kinds = []Kind{Ordinary, WalletKind, PartnerKind, InternalKind}

// KindNames lists every kind there is.
func KindNames() []string {
	names := make([]string, 0, len(kinds))
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

// ParseKind refuses names that it does not know.
func ParseKind(name string) (Kind, error) {
	if !slices.Contains(kinds, Kind(name)) {
		return "", &InvalidError{Field: "kind", Reason: fmt.Sprintf("%.32q is none of %s", name, strings.Join(KindNames(), ", "))}
	}
	return Kind(name), nil
}

// selfServed are the scopes of the keys that members issue for themselves.
func (k Kind) selfServed() Scopes {
	if k == PartnerKind {
		return DefaultScopes | Partner
	}
	return DefaultScopes
}
