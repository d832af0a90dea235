package abi_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
)

const (
	anyone = abi.EmitterUnknown
	erc20  = abi.EmitterERC20
	erc721 = abi.EmitterERC721
	pool   = abi.EmitterPrivacyPool
)

// zeros is a payload of n felts that every type but a length-led one accepts.
func zeros(n int, with ...any) []felt.Felt {
	return append(make([]felt.Felt, n), felts(with...)...)
}

// Reviewed schemas by selector and arity: the labels that come out, or the
// reason for which there are none.
func TestStandards(t *testing.T) {
	for _, c := range []struct {
		emitter  abi.Emitter
		selector string
		nk, nd   int // felts after the selector
		want     string
	}{
		{anyone, "Transfer", 2, 2, "from to value"}, {erc20, "Transfer", 2, 2, "from to value"}, {erc721, "Transfer", 2, 2, "from to token_id"},
		{anyone, "Transfer", 0, 4, "!selector_only_attribution"}, {erc20, "Transfer", 0, 4, "from to value"}, {erc721, "Transfer", 0, 4, "from to token_id"},
		{anyone, "Transfer", 4, 0, "from to token_id"}, {erc721, "Transfer", 4, 0, "from to token_id"}, {erc20, "Transfer", 4, 0, "!payload_shape_mismatch"},
		{anyone, "Transfer", 0, 3, "!payload_shape_mismatch"}, {anyone, "Transfer", 0, 5, "!payload_shape_mismatch"}, {anyone, "Transfer", 3, 2, "!payload_shape_mismatch"},
		{abi.EmitterERC1155, "Transfer", 2, 2, "!selector_only_attribution"},
		{anyone, "Approval", 2, 2, "owner spender value"}, {anyone, "Approval", 4, 0, "owner approved token_id"},
		{anyone, "Approval", 0, 4, "!selector_only_attribution"}, {erc20, "Approval", 0, 4, "owner spender value"}, {erc721, "Approval", 0, 4, "owner approved token_id"},
		{anyone, "ApprovalForAll", 2, 1, "owner operator approved"}, {anyone, "ApprovalForAll", 0, 3, "owner operator approved"},
		{anyone, "TransferSingle", 3, 4, "operator from to id value"}, {anyone, "TransferSingle", 0, 7, "operator from to id value"},
		{anyone, "TransferSingle", 0, 5, "!payload_shape_mismatch"},
		{anyone, "TransferBatch", 3, 2, "operator from to ids values"}, {anyone, "TransferBatch", 0, 5, "operator from to ids values"},
		{anyone, "URI", 2, 3, "value id"}, {anyone, "URI", 0, 5, "!payload_shape_mismatch"},
		{anyone, "ConsecutiveTransfer", 4, 2, "from_token_id to_token_id from to"},
		{anyone, "OwnershipTransferred", 2, 0, "previous_owner new_owner"}, {anyone, "OwnershipTransferred", 0, 2, "previous_owner new_owner"},
		{anyone, "OwnershipTransferStarted", 2, 0, "previous_owner new_owner"},
		{anyone, "Upgraded", 0, 1, "class_hash"}, {anyone, "Paused", 0, 1, "account"}, {anyone, "Unpaused", 0, 1, "account"}, {anyone, "Unpaused", 0, 0, "!payload_shape_mismatch"},
		{anyone, "RoleGranted", 0, 3, "role account sender"}, {anyone, "RoleRevoked", 0, 3, "role account sender"},
		{anyone, "RoleAdminChanged", 0, 3, "role previous_admin_role new_admin_role"}, {anyone, "RoleGrantedWithDelay", 0, 4, "role account sender delay"},
		{anyone, "ContractDeployed", 0, 6, "address deployer flag class_hash calldata salt"}, {anyone, "ContractDeployed", 0, 7, "!payload_shape_mismatch"},
		{anyone, "DepositHandled", 2, 2, "l1_token l2_recipient amount"}, {anyone, "deposit_handled", 0, 3, "account amount"},
		{anyone, "WithdrawInitiated", 3, 2, "l1_token l1_recipient caller_address amount"}, {anyone, "withdraw_initiated", 0, 4, "l1_recipient amount caller_address"},
		{anyone, "DepositWithMessageHandled", 3, 3, "depositor l1_token l2_recipient amount message"}, {anyone, "DeployHandled", 0, 4, "l1_token name symbol decimals"},
		{anyone, "ImplementationFinalized", 0, 1, "impl_hash"},
		{pool, "Deposit", 2, 1, "user_addr token amount"}, {anyone, "Deposit", 2, 1, "!selector_only_attribution"}, {pool, "Deposit", 2, 2, "!payload_shape_mismatch"},
		{pool, "NoteUsed", 1, 0, "nullifier"}, {anyone, "NoteUsed", 1, 0, "!selector_only_attribution"},
		{pool, "OpenNoteScreeningPolicySet", 1, 1, "depositor policy"}, {pool, "SecurityGovernorAdded", 0, 2, "added_account added_by"},
		{pool, "Paused", 0, 1, "account"},
		{anyone, "Nobody", 0, 1, "?"},
	} {
		keys, data := append(felts(c.selector), zeros(c.nk)...), zeros(c.nd)
		r := abi.Standard(c.emitter, keys, data)
		checkCover(t, r, keys, data)
		got, source := "?", abi.Source("")
		switch r.Status {
		case abi.NameOnly:
			got, source = "!"+string(r.UnavailableReason), r.NameSource
		case abi.Decoded:
			var labels []string
			for _, f := range r.Fields {
				labels = append(labels, f.Label)
			}
			got, source = strings.Join(labels, " "), r.FieldsSource
			if r.NameSource != abi.CuratedSelector {
				t.Errorf("%s comes from %s", c.selector, r.NameSource)
			}
		}
		if got != c.want || r.Status != abi.Unknown && r.Name != c.selector {
			t.Errorf("%s as %d of (%d, %d): %s %q", c.selector, c.emitter, c.nk, c.nd, got, r.Name)
		}
		// Only an ambiguity between schemas that hold for the emitter is curated.
		wantSource := abi.CuratedSelector
		if got == "?" {
			wantSource = ""
		} else if got == "!selector_only_attribution" && !(c.emitter == anyone && (c.selector == "Transfer" || c.selector == "Approval")) {
			wantSource = abi.SelectorUnique
		}
		if source != wantSource {
			t.Errorf("%s as %d of (%d, %d) comes from %q, want %q", c.selector, c.emitter, c.nk, c.nd, source, wantSource)
		}
	}
}

// A value outside its range is not the standard's event, whatever its arity.
func TestStandardRanges(t *testing.T) {
	big128 := toFelt(bigPower(128))
	for name, c := range map[string]struct{ keys, data []felt.Felt }{
		"amount":   {felts("Transfer", 1, 2), felts(big128, 0)},
		"party":    {felts("Transfer", "-1", 2), felts(1, 0)},
		"truth":    {felts("ApprovalForAll", 1, 2), felts(2)},
		"lengths":  {felts("TransferBatch", 1, 2, 3), felts(1, 5, 0, 2, 5, 0)},
		"tag":      {felts("ImplementationAdded"), felts(1, 2, 0)},
		"l1 party": {felts("DepositHandled", toFelt(bigPower(160)), 1), felts(1, 0)},
	} {
		if r := abi.Standard(anyone, c.keys, c.data); r.Status != abi.NameOnly || r.UnavailableReason != abi.PayloadShapeMismatch {
			t.Errorf("%s: %s %s", name, r.Status, r.UnavailableReason)
		}
	}
	r := abi.Standard(anyone, felts("ImplementationAdded"), felts(0xc1a55, 0, 0xe1c, 2, 7, 8, 1))
	if r.Status != abi.Decoded || r.Fields[3].Label != "implementation_data.eic_data.Some.eic_init_data" || !*r.Fields[4].BoolValue {
		t.Errorf("%s %+v", r.Status, r.Fields)
	}
}

// Who is believed: the class, then the reviewed schemas, then a name.
func TestAttribute(t *testing.T) {
	own := mustParse(t, `[{"type":"event","name":"m::T","kind":"struct","members":[{"name":"x","type":"core::felt252","kind":"data"}]},
	{"type":"event","name":"m::Event","kind":"enum","variants":[{"name":"Transfer","type":"m::T","kind":"nested"}]}]`)
	other := mustParse(t, class("core::felt252"))
	keyed := felts("Transfer", 1, 2)
	for _, c := range []struct {
		name       string
		ev         abi.Evidence
		keys, data []felt.Felt
		status     abi.Status
		source     abi.Source
		reason     abi.Reason
	}{
		{"the class's own Transfer", abi.Evidence{Schema: own}, felts("Transfer"), felts(9), abi.Decoded, abi.ClassABI, ""},
		{"verified", abi.Evidence{Schema: own, Verified: true}, felts("Transfer"), felts(9), abi.Decoded, abi.VerifiedABI, ""},
		{"the class is not overruled", abi.Evidence{Schema: own, Emitter: erc20}, keyed, felts(9, 0), abi.NameOnly, abi.ClassABI, abi.PayloadShapeMismatch},
		{"a proxy's class", abi.Evidence{Schema: other}, keyed, felts(9, 0), abi.Decoded, abi.CuratedSelector, ""},
		{"no class", abi.Evidence{}, keyed, felts(9, 0), abi.Decoded, abi.CuratedSelector, ""},
		{"no class, known token", abi.Evidence{Emitter: erc20}, felts("Transfer"), felts(1, 2, 9, 0), abi.Decoded, abi.CuratedSelector, ""},
		{"a name", abi.Evidence{Name: "Strange"}, felts("Strange"), nil, abi.NameOnly, abi.SelectorUnique, abi.SelectorOnlyAttribution},
		{"a name does not overrule", abi.Evidence{Name: "Strange"}, keyed, felts(9), abi.NameOnly, abi.CuratedSelector, abi.PayloadShapeMismatch},
		{"nothing", abi.Evidence{Schema: other}, felts("Strange"), nil, abi.Unknown, "", abi.SchemaUnavailable},
		{"no key, no name", abi.Evidence{Name: "Strange"}, nil, felts(1), abi.Unknown, "", abi.SchemaUnavailable},
	} {
		r := abi.Attribute(&c.ev, c.keys, c.data)
		if r.Status != c.status || r.NameSource != c.source || r.UnavailableReason != c.reason || r.Status == abi.Decoded && r.FieldsSource != c.source {
			t.Errorf("%s: %+v", c.name, r)
		}
		checkCover(t, r, c.keys, c.data)
	}
}
