package abi

import (
	"fmt"
	"strings"
	"sync"

	"chainexplorer/internal/felt"
)

// The reviewed schemas: events of standards and of well-known contracts, whose
// layout is settled. A schema is chosen by selector and consumes the payload or
// not; where two layouts look the same, the kind of emitter decides, and
// without it there are no fields.

// The tables are written one event a line: the members in order, "key" behind
// those that are keys. A line holds for the emitters of its table.
const (
	// Both layouts of a token standard: parties in keys, and all in data as
	// Cairo 0 and the bridged tokens have it.
	//
	// (1 key, 4 data) is the same for a fungible amount and for an id, so that
	// both tables hold for an unknown emitter and neither wins.
	erc20Events = `
Transfer(from: address key, to: address key, value: u256)
Transfer(from: address, to: address, value: u256)
Approval(owner: address key, spender: address key, value: u256)
Approval(owner: address, spender: address, value: u256)
`
	erc721Events = `
Transfer(from: address key, to: address key, token_id: u256 key)
Transfer(from: address, to: address, token_id: u256)
Approval(owner: address key, approved: address key, token_id: u256 key)
Approval(owner: address, approved: address, token_id: u256)
ConsecutiveTransfer(from_token_id: u256 key, to_token_id: u256, from: address key, to: address key)
`
	// Ids that are not keys although the parties are: known to be ids only if
	// the emitter is known, because a fungible amount looks the same.
	erc721Variants = `
Transfer(from: address key, to: address key, token_id: u256)
Approval(owner: address key, approved: address key, token_id: u256)
`
	erc1155Events = `
TransferSingle(operator: address key, from: address key, to: address key, id: u256, value: u256)
TransferSingle(operator: address, from: address, to: address, id: u256, value: u256)
TransferBatch(operator: address key, from: address key, to: address key, ids: span<u256>, values: span<u256>)
TransferBatch(operator: address, from: address, to: address, ids: span<u256>, values: span<u256>)
URI(value: bytes, id: u256 key)
`
	collectionEvents = `
ApprovalForAll(owner: address key, operator: address key, approved: bool)
ApprovalForAll(owner: address, operator: address, approved: bool)
`
	// Components and deployers. The third member of ContractDeployed says
	// whether the address depends on the deployer; one of the three deployers
	// means the opposite by it, so that it has a neutral label.
	anyoneEvents = `
OwnershipTransferred(previous_owner: address key, new_owner: address key)
OwnershipTransferred(previous_owner: address, new_owner: address)
OwnershipTransferStarted(previous_owner: address key, new_owner: address key)
Upgraded(class_hash: class)
RoleGranted(role: felt, account: address, sender: address)
RoleGrantedWithDelay(role: felt, account: address, sender: address, delay: u64)
RoleRevoked(role: felt, account: address, sender: address)
RoleAdminChanged(role: felt, previous_admin_role: felt, new_admin_role: felt)
Paused(account: address)
Unpaused(account: address)
ContractDeployed(address: address, deployer: address, flag: bool, class_hash: class, calldata: span<felt>, salt: felt)
ImplementationAdded(implementation_data: implementation)
ImplementationRemoved(implementation_data: implementation)
ImplementationReplaced(implementation_data: implementation)
ImplementationFinalized(impl_hash: class)
DepositHandled(l1_token: eth key, l2_recipient: address key, amount: u256)
deposit_handled(account: address, amount: u256)
DepositWithMessageHandled(depositor: eth key, l1_token: eth key, l2_recipient: address key, amount: u256, message: span<felt>)
DeployHandled(l1_token: eth, name: felt, symbol: felt, decimals: u8)
WithdrawInitiated(l1_token: eth key, l1_recipient: eth key, caller_address: address key, amount: u256)
withdraw_initiated(l1_recipient: eth, amount: u256, caller_address: address)
`
	// Names like Deposit are everybody's: these hold for the pool alone.
	poolEvents = `
ViewingKeySet(user_addr: address key, public_key: felt key, enc_private_key: enc_key)
Deposit(user_addr: address key, token: address key, amount: u128)
Withdrawal(to_addr: address key, token: address key, enc_user_addr: enc_addr, amount: u128)
OpenNoteCreated(token: address key, note_id: felt key, enc_recipient_addr: enc_addr)
OpenNoteDeposited(depositor: address key, token: address key, note_id: felt key, amount: u128)
EncNoteCreated(note_id: felt key, packed_value: felt)
NoteUsed(nullifier: felt key)
ExternalContractInvoked(contract_address: address key, selector: felt key)
AuditorPublicKeySet(auditor_public_key: felt)
ScreenerPublicKeySet(screener_public_key: felt)
FeeAmountSet(fee_amount: u128)
FeeCollectorSet(fee_collector: address)
ProofValidityBlocksSet(proof_validity_blocks: u64)
OpenNoteDepositorBlockSet(depositor: address key, blocked: bool)
OpenNoteScreeningPolicySet(depositor: address key, policy: screening_policy)
` + roleAddedEvents
	// The first generation of the pool announces its roles one by one.
	roleAddedEvents = `
AppGovernorAdded(added_account: address, added_by: address)
AppGovernorRemoved(removed_account: address, removed_by: address)
AppRoleAdminAdded(added_account: address, added_by: address)
AppRoleAdminRemoved(removed_account: address, removed_by: address)
GovernanceAdminAdded(added_account: address, added_by: address)
GovernanceAdminRemoved(removed_account: address, removed_by: address)
OperatorAdded(added_account: address, added_by: address)
OperatorRemoved(removed_account: address, removed_by: address)
SecurityAdminAdded(added_account: address, added_by: address)
SecurityAdminRemoved(removed_account: address, removed_by: address)
SecurityAgentAdded(added_account: address, added_by: address)
SecurityAgentRemoved(removed_account: address, removed_by: address)
SecurityGovernorAdded(added_account: address, added_by: address)
SecurityGovernorRemoved(removed_account: address, removed_by: address)
TokenAdminAdded(added_account: address, added_by: address)
TokenAdminRemoved(removed_account: address, removed_by: address)
UpgradeGovernorAdded(added_account: address, added_by: address)
UpgradeGovernorRemoved(removed_account: address, removed_by: address)
UpgradeAgentAdded(added_account: address, added_by: address)
UpgradeAgentRemoved(removed_account: address, removed_by: address)
`
)

// standardTypes are the short names of the tables. Types that are not of the
// core library have no path: it differs between the classes that use them.
var standardTypes = map[string]string{
	"address": "core::starknet::contract_address::ContractAddress", "class": "core::starknet::class_hash::ClassHash",
	"eth": "core::starknet::eth_address::EthAddress", "felt": "core::felt252", "bool": "core::bool",
	"u8": "core::integer::u8", "u64": "core::integer::u64", "u128": "core::integer::u128", "u256": "core::integer::u256",
	"bytes":      "core::byte_array::ByteArray",
	"span<felt>": "core::array::Span::<core::felt252>", "span<u256>": "core::array::Span::<core::integer::u256>",
	"implementation":   "ImplementationData",
	"enc_key":          "EncPrivateKey",
	"enc_addr":         "EncUserAddr",
	"screening_policy": "OpenNoteScreeningPolicy",
}

// standardDefs are the structs and enums of the tables.
func standardDefs() []wireItem {
	feltType := standardTypes["felt"]
	eic := "EICData"
	return []wireItem{
		{Type: "struct", Name: eic, Members: []wireParam{{Name: "eic_hash", Type: standardTypes["class"]}, {Name: "eic_init_data", Type: standardTypes["span<felt>"]}}},
		{Type: "struct", Name: standardTypes["implementation"], Members: []wireParam{{Name: "impl_hash", Type: standardTypes["class"]},
			{Name: "eic_data", Type: "core::option::Option::<" + eic + ">"}, {Name: "final", Type: standardTypes["bool"]}}},
		{Type: "struct", Name: standardTypes["enc_key"], Members: []wireParam{{Name: "auditor_public_key", Type: feltType},
			{Name: "ephemeral_pubkey", Type: feltType}, {Name: "enc_private_key", Type: feltType}}},
		{Type: "struct", Name: standardTypes["enc_addr"], Members: []wireParam{{Name: "auditor_public_key", Type: feltType},
			{Name: "ephemeral_pubkey", Type: feltType}, {Name: "enc_user_addr", Type: feltType}}},
		{Type: "enum", Name: standardTypes["screening_policy"], Variants: []wireParam{{Name: "Required", Type: "()"},
			{Name: "Exempt", Type: "()"}, {Name: "Delegated", Type: "()"}}},
	}
}

// standards is the schema of all reviewed events. It panics on a bad table,
// which is part of the program.
var standards = sync.OnceValue(func() *Schema {
	unknown := EmitterUnknown.set()
	r := newResolver(standardDefs())
	var events []event
	for _, table := range []struct {
		lines string
		holds emitters
	}{
		{erc20Events, unknown | EmitterERC20.set()},
		{erc721Events, unknown | EmitterERC721.set()},
		{erc721Variants, EmitterERC721.set()},
		{erc1155Events, unknown | EmitterERC1155.set()},
		{collectionEvents, unknown | EmitterERC721.set() | EmitterERC1155.set()},
		{anyoneEvents, allEmitters},
		{poolEvents, EmitterPrivacyPool.set()},
	} {
		for line := range strings.Lines(strings.TrimSpace(table.lines)) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			e := standardEvent(r, line)
			e.emitters = table.holds
			events = append(events, e)
		}
	}
	s, err := build(r.types, events)
	if err != nil || r.err != nil {
		panic(fmt.Sprint("reviewed schemas: ", err, r.err))
	}
	return s
})

func standardEvent(r *resolver, line string) event {
	name, list, ok := strings.Cut(strings.TrimSuffix(line, ")"), "(")
	e := event{name: name, path: []felt.Felt{felt.Selector(name)}}
	for item := range strings.SplitSeq(list, ", ") {
		label, typ, colon := strings.Cut(item, ": ")
		typ, key := strings.CutSuffix(typ, " key")
		full, known := standardTypes[typ]
		if !ok || !colon || !known {
			panic(fmt.Sprintf("reviewed schemas: bad line %q", line))
		}
		st := step{kind: stepData, label: label, typ: r.resolve(full, 0)}
		if key {
			st.kind = stepKey
		}
		e.steps = append(e.steps, st)
	}
	return e
}
