package authority

import (
	"slices"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/felt"
)

// Kind is what an announcement tells.
type Kind string

// The kinds.
const (
	OwnershipTransferred Kind = "ownership_transferred"
	RoleGranted          Kind = "role_granted"
	RoleRevoked          Kind = "role_revoked"
	Paused               Kind = "paused"
	Unpaused             Kind = "unpaused"
	Upgraded             Kind = "upgraded"
)

// layout says which events are of a kind, and what their values are. Contracts
// differ in which values are keys, never in their order.
type layout struct {
	selector felt.Felt
	kind     Kind
	values   []int // how many there may be, the selector not among them
}

// kinds are the announcements that are understood.
var kinds = []layout{
	{felt.Selector("OwnershipTransferred"), OwnershipTransferred, []int{2}},
	{felt.Selector("RoleGranted"), RoleGranted, []int{3}},
	{felt.Selector("RoleGrantedWithDelay"), RoleGranted, []int{4}}, // nobody has to announce it again when its time has come
	{felt.Selector("RoleRevoked"), RoleRevoked, []int{3}},
	{felt.Selector("Paused"), Paused, []int{0, 1}},
	{felt.Selector("Unpaused"), Unpaused, []int{0, 1}},
	{felt.Selector("Upgraded"), Upgraded, []int{1}},
	{felt.Selector("ImplementationReplaced"), Upgraded, nil}, // of a form of its own
}

// Announcement is an event by which a contract tells of its controls.
type Announcement struct {
	explorer.Place
	TxHash    felt.Felt
	Timestamp uint64
	Kind      Kind
	// Role is set for roles; Account is who got or lost it, the new owner, or who
	// paused; Class is what an upgrade led to. Those that the event does not tell
	// are nil.
	Role, Account, Class *felt.Felt
}

func read(h *event.Hit) (a Announcement, ok bool) {
	at := slices.IndexFunc(kinds, func(k layout) bool { return k.selector == h.Event.Keys[0] })
	if at < 0 {
		return a, false
	}
	k := &kinds[at]
	values := slices.Concat(h.Event.Keys[1:], h.Event.Data)
	if k.values != nil && !slices.Contains(k.values, len(values)) {
		return a, false // something else of the same name
	}
	a = Announcement{Place: h.Place, TxHash: h.TxHash, Timestamp: h.Timestamp, Kind: k.kind}
	switch k.kind {
	case OwnershipTransferred:
		a.Account = &values[1]
	case RoleGranted, RoleRevoked:
		a.Role, a.Account = &values[0], &values[1]
	case Paused, Unpaused:
		if len(values) == 1 {
			a.Account = &values[0]
		}
	case Upgraded:
		if k.values != nil {
			a.Class = &values[0]
		}
	}
	return a, true
}

// Role is a role that an account holds.
type Role struct {
	Role    felt.Felt
	Name    string // empty when the role is not one that has a known name
	Account felt.Felt
	Block   uint64 // in which it was granted last
}

// roleNames are the names of roles, which are known by their hashes.
var roleNames = func() map[felt.Felt]string {
	names := map[felt.Felt]string{felt.Zero: adminRole}
	for _, n := range slices.Concat(minterRoles, pauserRoles, upgraderRoles, []string{"ROLE_GOVERNANCE_ADMIN", "ROLE_APP_ROLE_ADMIN", "ROLE_APP_GOVERNOR", "ROLE_OPERATOR", "ROLE_SECURITY_ADMIN", "BURNER_ROLE"}) {
		names[felt.Selector(n)] = n
	}
	return names
}()

// The roles that the facts go by.
const adminRole = "DEFAULT_ADMIN_ROLE"

var (
	minterRoles   = []string{"MINTER_ROLE"}
	pauserRoles   = []string{"PAUSER_ROLE", "ROLE_SECURITY_AGENT"}
	upgraderRoles = []string{"UPGRADER_ROLE", "ROLE_UPGRADE_GOVERNOR"}
	adminRoles    = []string{adminRole, "ROLE_GOVERNANCE_ADMIN"}
)
