// Package sim drives the write path through forks, crashes and faults, many
// seeds at a time, and checks that none of it leaves a trace: the index always
// ends like one that was built in one quiet run.
//
// It has a chain and a source of its own, far smaller than the simulated node,
// because thousands of whole histories must fit into a test run. Time is
// virtual (testing/synctest).
package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// UnknownVersion is a protocol version that no verifier knows.
const UnknownVersion = "99.0.0"

// ChainID is the id of the chains made here.
var ChainID = felt.MustShortString("SN_SIM")

// Chain is a list of small blocks that can be forked.
type Chain struct {
	seed   uint64
	branch uint64 // changes with every fork, so that new blocks differ
	// version is the protocol version of new blocks. Known ones get real
	// hashes, which cost about a millisecond a block.
	version string
	// l1Lag is how far behind the head blocks are accepted on L1.
	l1Lag int

	blocks  []*starknet.Block
	updates []*starknet.StateUpdate
}

// NewChain makes a chain of n blocks.
func NewChain(seed uint64, n, l1Lag int, version string) *Chain {
	c := &Chain{seed: seed, l1Lag: l1Lag, version: version}
	c.Extend(n)
	return c
}

// Len is the number of blocks.
func (c *Chain) Len() int { return len(c.blocks) }

// Extend adds n blocks.
func (c *Chain) Extend(n int) {
	for range n {
		b, su := c.next()
		c.blocks, c.updates = append(c.blocks, b), append(c.updates, su)
	}
}

// Truncate drops the newest blocks; block 0 stays.
func (c *Chain) Truncate(depth int) {
	keep := max(len(c.blocks)-depth, 1)
	c.blocks, c.updates = c.blocks[:keep], c.updates[:keep]
	c.branch++
}

// Fork replaces the newest depth blocks by others.
func (c *Chain) Fork(depth int) {
	before := len(c.blocks)
	c.Truncate(depth)
	c.Extend(before - len(c.blocks))
}

// L1 is the newest block accepted on L1, or -1.
func (c *Chain) L1() int { return max(len(c.blocks)-1-c.l1Lag, -1) }

// Block returns a block with the status it has now.
func (c *Chain) Block(n int) *starknet.Block {
	b := *c.blocks[n]
	b.Status = starknet.AcceptedOnL2
	if n <= c.L1() {
		b.Status = starknet.AcceptedOnL1
	}
	b.Receipts = append([]starknet.Receipt(nil), b.Receipts...)
	for i := range b.Receipts {
		b.Receipts[i].Finality = b.Status
	}
	return &b
}

func (c *Chain) derive(rng *rand.Rand, what string) felt.Felt {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d", what, rng.Uint64()) //nolint:errcheck // a hash never fails
	var f felt.Felt
	copy(f[1:], h.Sum(nil))
	f[1] &= 0x07
	return f
}

func (c *Chain) next() (*starknet.Block, *starknet.StateUpdate) {
	number := uint64(len(c.blocks))
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], c.seed)
	binary.LittleEndian.PutUint64(key[8:], c.branch)
	binary.LittleEndian.PutUint64(key[16:], number)
	rng := rand.New(rand.NewChaCha8(key))

	b := &starknet.Block{}
	b.Number = number
	b.Timestamp = 1_700_000_000 + number/2 // two blocks share a second
	b.StarknetVersion = c.version
	b.DAMode = starknet.DABlob
	b.Sequencer = felt.FromUint64(0x1234)
	b.L1GasPrice = starknet.GasPrice{InFri: felt.FromUint64(7), InWei: felt.FromUint64(rng.Uint64())}
	b.L2GasPrice, b.L1DataGasPrice = b.L1GasPrice, b.L1GasPrice
	b.NewRoot = c.derive(rng, "root")
	b.Hash = c.derive(rng, "block")
	if number > 0 {
		b.ParentHash = c.blocks[number-1].Hash
	}
	su := &starknet.StateUpdate{NewRoot: b.NewRoot}
	for range rng.IntN(4) {
		c.addTransaction(rng, b, su)
	}
	c.changeClasses(rng, number, su)
	if c.version != UnknownVersion {
		c.seal(b, su)
	}
	su.BlockHash = b.Hash
	return b, su
}

// contracts is how many contracts do everything.
const contracts = 6

func contractAddress(i int) felt.Felt { return felt.FromUint64(0x1_0000_0000_0000 + uint64(i)) }

// changeClasses deploys the contracts with the first block, and declares and
// replaces classes in the others.
func (c *Chain) changeClasses(rng *rand.Rand, number uint64, su *starknet.StateUpdate) {
	all := simClasses()
	pick := func() *simClass { return &all[rng.IntN(len(all))] }
	if number == 0 {
		for i := range contracts {
			su.Diff.Deployed = append(su.Diff.Deployed, starknet.DeployedContract{Address: contractAddress(i), ClassHash: pick().hash})
		}
		return
	}
	if rng.IntN(3) == 0 {
		su.Diff.Replaced = append(su.Diff.Replaced, starknet.ReplacedClass{Address: contractAddress(rng.IntN(contracts)), ClassHash: pick().hash})
	}
	if rng.IntN(4) == 0 {
		if class := pick(); class.kind == "sierra" {
			su.Diff.Declared = append(su.Diff.Declared, starknet.DeclaredClass{ClassHash: class.hash, CompiledClassHash: c.derive(rng, "compiled")})
		} else {
			su.Diff.DeprecatedDeclared = append(su.Diff.DeprecatedDeclared, class.hash)
		}
	}
}

// addTransaction makes one of the kinds that differ in their stored form.
func (c *Chain) addTransaction(rng *rand.Rand, b *starknet.Block, su *starknet.StateUpdate) {
	address := func() felt.Felt { return contractAddress(rng.IntN(contracts)) }
	t := starknet.Transaction{Type: starknet.Invoke, Version: felt.FromUint64(3), Sender: address(),
		HasNonce: true, Nonce: felt.FromUint64(b.Number), Tip: uint64(rng.IntN(3)),
		ResourceBounds: &starknet.ResourceBounds{HasL1DataGas: true, L2Gas: starknet.ResourceBound{MaxAmount: 5, MaxPricePerUnit: felt.FromUint64(9)}},
		Signature:      []felt.Felt{c.derive(rng, "r"), c.derive(rng, "s")},
		Calldata:       []felt.Felt{felt.FromUint64(1), address(), felt.Selector("transfer"), felt.FromUint64(rng.Uint64())},
	}
	r := starknet.Receipt{Execution: starknet.Succeeded, FeeUnit: starknet.Fri, ActualFee: felt.FromUint64(rng.Uint64()),
		Resources: starknet.ExecutionResources{L2Gas: rng.Uint64N(1e6)}}
	switch rng.IntN(6) {
	case 0:
		r.Execution, r.RevertReason = starknet.Reverted, "out of gas: \"\x01\""
	case 1:
		t = starknet.Transaction{Type: starknet.L1Handler, ContractAddress: address(), EntryPointSelector: felt.Selector("handle_deposit"),
			Calldata: []felt.Felt{felt.FromUint64(99), felt.FromUint64(1)}, HasNonce: true, Nonce: felt.FromUint64(rng.Uint64())}
		r.FeeUnit, r.ActualFee = starknet.Wei, felt.Zero
		r.MessageHash = starknet.MessageToL2Hash(&t)
	case 2:
		t.Type, t.Sender, t.Calldata = starknet.DeployAccount, felt.Zero, nil
		t.ClassHash, t.ContractAddressSalt = simClasses()[rng.IntN(len(simClasses()))].hash, c.derive(rng, "salt")
		t.ConstructorCalldata = []felt.Felt{felt.FromUint64(4)}
		r.ContractAddress = starknet.ComputeContractAddress(felt.Zero, t.ContractAddressSalt, t.ClassHash, t.ConstructorCalldata)
		su.Diff.Deployed = append(su.Diff.Deployed, starknet.DeployedContract{Address: r.ContractAddress, ClassHash: t.ClassHash})
	case 3:
		r.MessagesSent = []starknet.MessageToL1{{From: t.Sender, To: felt.FromUint64(0xabc), Payload: []felt.Felt{felt.Zero, felt.FromUint64(5)}}}
	}
	for range rng.IntN(4) {
		r.Events = append(r.Events, transferEvent(rng, address))
	}
	su.Diff.Nonces = append(su.Diff.Nonces, starknet.NonceUpdate{Address: c.derive(rng, "account"), Nonce: felt.FromUint64(1)})
	su.Diff.Storage = append(su.Diff.Storage, starknet.StorageDiff{Address: c.derive(rng, "contract"),
		Entries: []starknet.StorageEntry{{Key: c.derive(rng, "key"), Value: felt.FromUint64(rng.Uint64())}}})
	t.Hash = c.derive(rng, "transaction")
	r.TransactionHash, r.Type = t.Hash, t.Type
	b.Transactions, b.Receipts = append(b.Transactions, t), append(b.Receipts, r)
}

// transferEvent is a transfer between the contracts in one of its layouts, a mint,
// or something that only looks like one.
func transferEvent(rng *rand.Rand, address func() felt.Felt) starknet.Event {
	name, n := felt.Selector("Transfer"), felt.FromUint64(rng.Uint64())
	from := address()
	if rng.IntN(3) == 0 {
		from = felt.Zero
	}
	switch rng.IntN(4) {
	case 0:
		return starknet.Event{From: address(), Keys: []felt.Felt{name}, Data: []felt.Felt{from, address(), n, felt.Zero}}
	case 1:
		return starknet.Event{From: address(), Keys: []felt.Felt{name, from, address()}, Data: []felt.Felt{n, felt.Zero}}
	case 2:
		return starknet.Event{From: address(), Keys: []felt.Felt{name, from, address(), n, felt.Zero}}
	}
	return starknet.Event{From: address(), Keys: []felt.Felt{name, address()}, Data: []felt.Felt{n}}
}

// seal gives a block the hashes that the protocol defines.
func (c *Chain) seal(b *starknet.Block, su *starknet.StateUpdate) {
	for i := range b.Transactions {
		hash, err := b.Transactions[i].ComputeHash(ChainID)
		if err != nil {
			panic(fmt.Sprintf("hash of a simulated transaction: %v", err))
		}
		b.Transactions[i].Hash, b.Receipts[i].TransactionHash = hash, hash
	}
	commitments, err := starknet.ComputeCommitments(b, &su.Diff)
	if err != nil {
		panic(fmt.Sprintf("commitments of a simulated block: %v", err))
	}
	b.Commitments = &commitments
	if b.Hash, err = starknet.ComputeBlockHash(&b.Header, commitments); err != nil {
		panic(fmt.Sprintf("hash of a simulated block: %v", err))
	}
}
