package privacypool

import (
	"chainexplorer/internal/felt"
	"chainexplorer/internal/registry"
)

// Generation is a generation of the pool's contract. The zero value is a class
// that nobody knows.
type Generation uint8

// The generations, in their order.
const (
	UnknownClass Generation = iota
	V1
	V2
	V21
)

// GenerationOf reads the registry's word for a generation.
func GenerationOf(g registry.PoolGeneration) Generation {
	switch g {
	case registry.PoolV1:
		return V1
	case registry.PoolV2:
		return V2
	case registry.PoolV21:
		return V21
	}
	return UnknownClass
}

// Kind is which event of the pool it is.
type Kind uint8

// The kinds: those of the pool itself, of its components, and of the component
// that kept the roles of the first generation. The numbers are not stored.
const (
	Unknown Kind = iota

	ViewingKeySet
	Deposit
	Withdrawal
	OpenNoteCreated
	OpenNoteDeposited
	EncNoteCreated
	NoteUsed
	ExternalContractInvoked
	AuditorPublicKeySet
	ScreenerPublicKeySet
	FeeAmountSet
	FeeCollectorSet
	ProofValidityBlocksSet
	OpenNoteDepositorBlockSet
	OpenNoteScreeningPolicySet

	Paused
	Unpaused
	ImplementationAdded
	ImplementationRemoved
	ImplementationReplaced
	ImplementationFinalized
	RoleGranted
	RoleGrantedWithDelay
	RoleRevoked
	RoleAdminChanged

	AppGovernorAdded
	AppGovernorRemoved
	AppRoleAdminAdded
	AppRoleAdminRemoved
	GovernanceAdminAdded
	GovernanceAdminRemoved
	OperatorAdded
	OperatorRemoved
	SecurityAdminAdded
	SecurityAdminRemoved
	SecurityAgentAdded
	SecurityAgentRemoved
	SecurityGovernorAdded
	SecurityGovernorRemoved
	TokenAdminAdded
	TokenAdminRemoved
	UpgradeGovernorAdded
	UpgradeGovernorRemoved
	UpgradeAgentAdded
	UpgradeAgentRemoved
)

// Group is what a kind is about.
type Group string

// The groups. An event that nobody knows is in none.
const (
	NoGroup      Group = ""
	ValueIn      Group = "value_in"
	ValueOut     Group = "value_out"
	Commitment   Group = "commitment"
	Nullifier    Group = "nullifier"
	Registration Group = "registration"
	Interaction  Group = "interaction"
	Config       Group = "config"
	Governance   Group = "governance"
)

// Visibility is how much of what happened an event of a kind tells.
type Visibility string

// The visibilities.
const (
	Public         Visibility = "public"
	Partial        Visibility = "partial"
	HiddenByDesign Visibility = "hidden_by_design"
)

// role is the field of a Fact that a member fills; nothing is one that is left to
// the raw keys and data.
type role uint8

const (
	nothing role = iota
	actor
	to
	token
	amount
	noteID
	nullifier
	viewingKey
	auditorKey
	target
	selector
	value
)

// form is what a member's felt must be.
type form uint8

const (
	anyFelt form = iota
	address
	u128
	u64
	boolean
	policy // a screening policy, of which there are three
)

// member is one felt of an event.
type member struct {
	as role
	is form
}

// layout is how an event is written.
type layout struct {
	kind       Kind
	event      string // in the contract
	name       string // in answers
	group      Group
	visibility Visibility
	// since and until are the first and the last generation that emit it.
	since, until Generation
	keys         []member // behind the selector
	data         []member
	// implementation says that the data is what the component for upgrades calls
	// implementation data, which has no fixed length.
	implementation bool
}

// last is the newest generation there is.
const last = V21

var (
	encrypted = []member{{auditorKey, anyFelt}, {nothing, anyFelt}, {nothing, anyFelt}}

	anActor  = member{actor, address}
	aToken   = member{token, address}
	aNote    = member{noteID, anyFelt}
	anAmount = member{amount, u128}
	anyValue = member{value, anyFelt}
)

func members(list ...member) []member { return list }

// roleOf is the layout of an event of the access control component.
func roleOf(k Kind, event, name string, more ...member) layout {
	return layout{kind: k, event: event, name: name, group: Governance, visibility: Public, since: V1, until: last,
		data: append(members(anyValue, member{to, address}, anActor), more...)}
}

func config(k Kind, event, name string, since, until Generation, data ...member) layout {
	return layout{kind: k, event: event, name: name, group: Config, visibility: Public, since: since, until: until, data: data}
}

func implementation(k Kind, event, name string) layout {
	return layout{kind: k, event: event, name: name, group: Governance, visibility: Public, since: V1, until: last, implementation: true}
}

// layouts are all events, by kind.
var layouts = append([]layout{
	{kind: ViewingKeySet, event: "ViewingKeySet", name: "viewing_key_set", group: Registration, visibility: Partial, since: V1, until: last,
		keys: members(anActor, member{viewingKey, anyFelt}), data: encrypted},
	{kind: Deposit, event: "Deposit", name: "deposit", group: ValueIn, visibility: Public, since: V1, until: last,
		keys: members(anActor, aToken), data: members(anAmount)},
	{kind: Withdrawal, event: "Withdrawal", name: "withdrawal", group: ValueOut, visibility: Partial, since: V1, until: last,
		keys: members(member{to, address}, aToken), data: append(encrypted[:3:3], anAmount)},
	{kind: OpenNoteCreated, event: "OpenNoteCreated", name: "open_note_created", group: Commitment, visibility: Partial, since: V1, until: last,
		keys: members(aToken, aNote), data: encrypted},
	{kind: OpenNoteDeposited, event: "OpenNoteDeposited", name: "open_note_deposited", group: ValueIn, visibility: Public, since: V1, until: last,
		keys: members(anActor, aToken, aNote), data: members(anAmount)},
	{kind: EncNoteCreated, event: "EncNoteCreated", name: "enc_note_created", group: Commitment, visibility: HiddenByDesign, since: V1, until: last,
		keys: members(aNote), data: members(anyValue)},
	{kind: NoteUsed, event: "NoteUsed", name: "note_used", group: Nullifier, visibility: HiddenByDesign, since: V1, until: last,
		keys: members(member{nullifier, anyFelt})},
	{kind: ExternalContractInvoked, event: "ExternalContractInvoked", name: "external_contract_invoked", group: Interaction, visibility: Public, since: V2, until: last,
		keys: members(member{target, address}, member{selector, anyFelt})},

	config(AuditorPublicKeySet, "AuditorPublicKeySet", "auditor_public_key_set", V1, last, member{auditorKey, anyFelt}),
	config(ScreenerPublicKeySet, "ScreenerPublicKeySet", "screener_public_key_set", V2, last, anyValue),
	config(FeeAmountSet, "FeeAmountSet", "fee_amount_set", V1, last, anAmount),
	config(FeeCollectorSet, "FeeCollectorSet", "fee_collector_set", V1, last, member{value, address}),
	config(ProofValidityBlocksSet, "ProofValidityBlocksSet", "proof_validity_blocks_set", V1, last, member{value, u64}),
	{kind: OpenNoteDepositorBlockSet, event: "OpenNoteDepositorBlockSet", name: "open_note_depositor_block_set", group: Config, visibility: Public, since: V2, until: V2,
		keys: members(member{target, address}), data: members(member{value, boolean})},
	{kind: OpenNoteScreeningPolicySet, event: "OpenNoteScreeningPolicySet", name: "open_note_screening_policy_set", group: Config, visibility: Public, since: V21, until: last,
		keys: members(member{target, address}), data: members(member{value, policy})},

	config(Paused, "Paused", "paused", V1, last, anActor),
	config(Unpaused, "Unpaused", "unpaused", V1, last, anActor),
	implementation(ImplementationAdded, "ImplementationAdded", "implementation_added"),
	implementation(ImplementationRemoved, "ImplementationRemoved", "implementation_removed"),
	implementation(ImplementationReplaced, "ImplementationReplaced", "implementation_replaced"),
	{kind: ImplementationFinalized, event: "ImplementationFinalized", name: "implementation_finalized", group: Governance, visibility: Public, since: V1, until: last,
		data: members(anyValue)},
	roleOf(RoleGranted, "RoleGranted", "role_granted"),
	roleOf(RoleGrantedWithDelay, "RoleGrantedWithDelay", "role_granted_with_delay", member{nothing, u64}),
	roleOf(RoleRevoked, "RoleRevoked", "role_revoked"),
	{kind: RoleAdminChanged, event: "RoleAdminChanged", name: "role_admin_changed", group: Governance, visibility: Public, since: V1, until: last,
		data: members(anyValue, member{nothing, anyFelt}, member{nothing, anyFelt})},
}, firstRoles()...)

// firstRoles are the events of the component that kept the first generation's
// roles: who got or lost one, and by whom.
func firstRoles() (out []layout) {
	kind := AppGovernorAdded
	for _, r := range []struct{ event, name string }{
		{"AppGovernor", "app_governor"}, {"AppRoleAdmin", "app_role_admin"}, {"GovernanceAdmin", "governance_admin"}, {"Operator", "operator"},
		{"SecurityAdmin", "security_admin"}, {"SecurityAgent", "security_agent"}, {"SecurityGovernor", "security_governor"}, {"TokenAdmin", "token_admin"},
		{"UpgradeGovernor", "upgrade_governor"}, {"UpgradeAgent", "upgrade_agent"},
	} {
		for _, what := range []struct{ event, name string }{{"Added", "_added"}, {"Removed", "_removed"}} {
			out = append(out, layout{kind: kind, event: r.event + what.event, name: r.name + what.name, group: Governance, visibility: Public, since: V1, until: V1,
				data: members(member{to, address}, anActor)})
			kind++
		}
	}
	return out
}

var (
	bySelector = func() map[felt.Felt]*layout {
		out := make(map[felt.Felt]*layout, len(layouts))
		for i := range layouts {
			out[felt.Selector(layouts[i].event)] = &layouts[i]
		}
		return out
	}()
	byName = func() map[string]*layout {
		out := make(map[string]*layout, len(layouts))
		for i := range layouts {
			out[layouts[i].name] = &layouts[i]
		}
		return out
	}()
)

// Selector is the first key of the events of a kind; zero for Unknown.
func (k Kind) Selector() felt.Felt {
	if k == Unknown || int(k) > len(layouts) {
		return felt.Zero
	}
	return felt.Selector(layouts[k-1].event)
}

// KindNamed is the kind with a name, as Fact.Name gives it.
func KindNamed(name string) (Kind, bool) {
	l, ok := byName[name]
	if !ok {
		return Unknown, false
	}
	return l.kind, true
}

// Names lists the names of all kinds.
func Names() []string {
	out := make([]string, len(layouts))
	for i := range layouts {
		out[i] = layouts[i].name
	}
	return out
}
