package simnode_test

import (
	"bytes"
	"slices"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
	"chainexplorer/internal/starknet"
)

// wire is everything that a chain says, as bytes.
func wire(c *simnode.Chain) []byte {
	var out []byte
	head, _ := c.Head()
	for n := uint64(0); n <= head; n++ {
		out = starknet.AppendBlock(out, c.BlockAt(n), starknet.V010)
		out = starknet.AppendStateUpdate(out, c.StateUpdateAt(n), starknet.V010)
	}
	return out
}

func TestSameConfigSameBytes(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	cfg := simnode.Config{Seed: 7, Blocks: 60, L1Lag: -1}
	want := wire(simnode.New(cfg))
	if !bytes.Equal(want, wire(simnode.New(cfg))) {
		t.Error("two chains of one configuration differ")
	}
	stepped := cfg
	stepped.Blocks = 13
	c := simnode.New(stepped)
	c.Extend(1)
	c.Extend(0)
	c.Extend(46)
	if !bytes.Equal(want, wire(c)) {
		t.Error("a chain made in steps differs")
	}
	packed := cfg
	packed.Compact, packed.Blocks = true, 120
	c = simnode.New(packed)
	checkTruth(t, c)
	c.Fork(70)
	checkTruth(t, c)
	loose := cfg
	loose.Blocks = 120
	c, plain := simnode.New(packed), simnode.New(loose)
	if !bytes.Equal(wire(plain), wire(c)) {
		t.Error("a compact chain differs")
	}
	var streamed []byte
	err := simnode.Generate(cfg, func(b *starknet.Block, u *starknet.StateUpdate) error {
		streamed = starknet.AppendBlock(streamed, b, starknet.V010)
		streamed = starknet.AppendStateUpdate(streamed, u, starknet.V010)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, streamed) {
		t.Error("a streamed chain differs")
	}
	other := cfg
	other.Seed = 8
	if bytes.Equal(want, wire(simnode.New(other))) {
		t.Error("another seed made the same chain")
	}
}

func TestRealHashesVerify(t *testing.T) {
	for _, version := range []string{"0.13.2", "0.14.0", simnode.RealVersion} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			c := simnode.New(simnode.Config{Seed: 3, Blocks: 16, TxPerBlock: 2, RealHashes: true, StarknetVersion: version})
			checkVerifies(t, c, 0)
			c.Fork(4)
			checkVerifies(t, c, 12)
		})
	}
}

func checkVerifies(t *testing.T, c *simnode.Chain, from uint64) {
	t.Helper()
	head, _ := c.Head()
	for n := from; n <= head; n++ {
		if err := starknet.Verify(c.BlockAt(n), c.StateUpdateAt(n), c.Config().ChainID); err != nil {
			t.Fatalf("block %d: %v", n, err)
		}
	}
}

func TestCheapHashesAreUnverified(t *testing.T) {
	c := simnode.New(simnode.Config{Blocks: 3})
	err := starknet.Verify(c.BlockAt(2), c.StateUpdateAt(2), c.Config().ChainID)
	if err == nil {
		t.Fatal("made-up hashes verified")
	}
	if _, wrong := err.(*starknet.MismatchError); wrong {
		t.Fatalf("made-up hashes must be unverified, not wrong: %v", err)
	}
}

func TestUnknownVersionIsRefused(t *testing.T) {
	if err := (simnode.Config{RealHashes: true, StarknetVersion: "99.1.0"}).Check(); err == nil {
		t.Error("a version without known rules was accepted")
	}
	if err := (simnode.Config{}).Check(); err != nil {
		t.Error(err)
	}
}

func TestBlocksLink(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 2, Blocks: 40})
	for n := uint64(1); n < 40; n++ {
		b, prev, u := c.BlockAt(n), c.BlockAt(n-1), c.StateUpdateAt(n)
		if b.ParentHash != prev.Hash || b.Number != n || b.Timestamp <= prev.Timestamp {
			t.Errorf("block %d does not follow block %d", n, n-1)
		}
		if u.OldRoot != prev.NewRoot || u.NewRoot != b.NewRoot || u.BlockHash != b.Hash {
			t.Errorf("state update %d does not follow", n)
		}
		if u.Diff.Length() > 0 && u.OldRoot == u.NewRoot {
			t.Errorf("block %d changed the state and not its root", n)
		}
		k := b.Commitments
		if k.TransactionCount != uint64(len(b.Transactions)) || k.EventCount != uint64(b.EventCount()) || k.StateDiffLength != u.Diff.Length() {
			t.Errorf("block %d: counts %+v are wrong", n, k)
		}
	}
}

func TestForkReplacesTheNewestBlocks(t *testing.T) {
	cfg := simnode.Config{Seed: 5, Blocks: 50, L1Lag: 10}
	c, clean := simnode.New(cfg), simnode.New(cfg)
	changed := c.Changed()
	c.Fork(6)
	select {
	case <-changed:
	default:
		t.Error("a fork was not announced")
	}
	if head, _ := c.Head(); head != 49 {
		t.Fatalf("head is %d", head)
	}
	for n := range uint64(50) {
		same := c.BlockAt(n).Hash == clean.BlockAt(n).Hash
		if same != (n < 44) {
			t.Errorf("block %d: same as before is %v", n, same)
		}
	}
	old := clean.BlockAt(47)
	if b, canonical := c.BlockByHash(old.Hash); b == nil || canonical {
		t.Errorf("orphan: %v, canonical %v", b != nil, canonical)
	}
	if _, ok := c.TransactionByHash(old.Transactions[0].Hash); ok {
		t.Error("an orphaned transaction is still found")
	}
	want := simnode.Reorg{StartHash: clean.BlockAt(44).Hash, StartNumber: 44, EndHash: clean.BlockAt(49).Hash, EndNumber: 49}
	if got := c.Reorgs(); len(got) != 1 || got[0] != want {
		t.Errorf("reorgs %v", got)
	}
	checkTruth(t, c)
	now, lost := c.Tokens(49), 0
	for _, token := range clean.Tokens(49) {
		if !slices.ContainsFunc(now, func(x simnode.Token) bool { return x.Address == token.Address }) {
			lost++
			if c.SupplyAt(token.Address, 49).Sign() != 0 || len(c.Holders(token.Address, 49)) > 0 {
				t.Errorf("an undone token still has a supply")
			}
		}
	}
	if lost == 0 {
		t.Error("the fork undid no token: choose another seed")
	}

	c.Truncate(20)
	if head, _ := c.Head(); head != 29 {
		t.Errorf("head after truncation is %d", head)
	}
	if l1, ok := c.L1Head(); !ok || l1 != 19 {
		t.Errorf("L1 head %d", l1)
	}
	checkTruth(t, c)
	c.Extend(10)
	if c.BlockAt(30).Hash == clean.BlockAt(30).Hash {
		t.Error("a truncated chain grew the old blocks again")
	}
	checkTruth(t, c)
}

func TestForkedChainEqualsItsTwin(t *testing.T) {
	cfg := simnode.Config{Seed: 11, Blocks: 30, L1Lag: -1}
	make := func(steps ...int) *simnode.Chain {
		c := simnode.New(cfg)
		for _, n := range steps {
			c.Extend(n)
		}
		c.Fork(9)
		c.Extend(5)
		return c
	}
	if !bytes.Equal(wire(make(10)), wire(make(3, 3, 4))) {
		t.Error("the way a chain grew before a fork changed the fork")
	}
}

// A deep fork must forget all of what it undid: the new branch is the same as
// on a chain that hardly had anything to forget.
func TestForkLeavesNothingBehind(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	for seed := range uint64(3) {
		cfg := simnode.Config{Seed: seed, Blocks: 160, L1Lag: -1}
		deep := simnode.New(cfg)
		deep.Fork(120)
		cfg.Blocks = 41
		shallow := simnode.New(cfg)
		shallow.Truncate(1)
		shallow.Extend(120)
		if !bytes.Equal(wire(deep), wire(shallow)) {
			t.Errorf("seed %d: an undone branch left something behind", seed)
		}
	}
}

func TestForkNeverTouchesBlockZero(t *testing.T) {
	c := simnode.New(simnode.Config{Blocks: 5})
	zero := c.BlockAt(0).Hash
	c.Fork(100)
	if head, _ := c.Head(); head != 4 || c.BlockAt(0).Hash != zero {
		t.Error("a fork reached block 0")
	}
}

func TestDeepForkOfALongChain(t *testing.T) {
	if raced {
		t.Skip("sequential and long: run without the race detector")
	}
	c := simnode.New(simnode.Config{Seed: 9, Blocks: 1200, TxPerBlock: 1})
	c.Fork(1000)
	if head, _ := c.Head(); head != 1199 {
		t.Fatalf("head is %d", head)
	}
	checkTruth(t, c)
}

func TestL1Acceptance(t *testing.T) {
	c := simnode.New(simnode.Config{Blocks: 30, L1Lag: 12})
	for n := range uint64(30) {
		want := starknet.AcceptedOnL2
		if n <= 17 {
			want = starknet.AcceptedOnL1
		}
		b := c.BlockAt(n)
		if b.Status != want || len(b.Receipts) > 0 && b.Receipts[0].Finality != want {
			t.Errorf("block %d is %v", n, b.Status)
		}
	}
}

func TestClassesHaveTheirHash(t *testing.T) {
	c := simnode.New(simnode.Config{Blocks: 120})
	sierra, old := 0, 0
	for _, class := range c.Classes(119) {
		if class.Cairo0() {
			old++
			continue
		}
		sierra++
		h, err := class.Class.Sierra.Hash()
		if err != nil || h != class.Hash {
			t.Errorf("class %q is declared under %s and hashes to %s (%v)", class.Name, class.Hash, h, err)
		}
		text := starknet.AppendClass(nil, &class.Class)
		back, err := starknet.DecodeClass(text)
		if err != nil {
			t.Errorf("class %q: %v", class.Name, err)
			continue
		}
		if h, _ := back.Sierra.Hash(); h != class.Hash {
			t.Errorf("class %q changes its hash on the wire", class.Name)
		}
	}
	if sierra < 25 || old < 6 {
		t.Errorf("%d Sierra and %d Cairo 0 classes", sierra, old)
	}
}

func TestDeployedAddressesRecompute(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 4, Blocks: 200})
	deployed := map[felt.Felt]felt.Felt{}
	kinds := map[felt.Felt]int{}
	for n := range uint64(200) {
		if n > 0 {
			for _, d := range c.StateUpdateAt(n).Diff.Deployed {
				deployed[d.Address] = d.ClassHash
			}
		}
		b := c.BlockAt(n)
		for i := range b.Transactions {
			tx, r := &b.Transactions[i], &b.Receipts[i]
			if tx.Type == starknet.DeployAccount || tx.Type == starknet.Deploy {
				want := starknet.ComputeContractAddress(felt.Zero, tx.ContractAddressSalt, tx.ClassHash, tx.ConstructorCalldata)
				if r.ContractAddress != want {
					t.Errorf("block %d, transaction %d: address is wrong", n, i)
				}
				delete(deployed, want)
			}
			for _, e := range r.Events {
				if len(e.Keys) == 1 && e.Keys[0] == contracts.SelContractDeployed {
					address := deployerAddress(e)
					if e.Data[0] != address {
						t.Errorf("block %d: deployer %s made %s, which computes to %s", n, e.From, e.Data[0], address)
					}
					if deployed[address] != e.Data[3] {
						t.Errorf("block %d: %s is not in the state diff", n, address)
					}
					delete(deployed, address)
					kinds[e.From]++
				}
				if e.Keys != nil && len(e.Data) == 4 && e.Keys[0] == contracts.SelPairCreated {
					delete(deployed, e.Data[2])
				}
			}
		}
	}
	if len(deployed) > 0 {
		t.Errorf("%d deployed contracts nobody spoke of", len(deployed))
	}
	for _, udc := range []felt.Felt{contracts.LegacyUDC, contracts.MiddleUDC, contracts.CurrentUDC} {
		if kinds[udc] < 2 {
			t.Errorf("deployer %s was used %d times", udc, kinds[udc])
		}
	}
}

// deployerAddress computes the address from a ContractDeployed event alone.
func deployerAddress(e starknet.Event) felt.Felt {
	n, _ := e.Data[4].Uint64()
	calldata, salt := e.Data[5:5+n], e.Data[5+n]
	dependent := !e.Data[2].IsZero()
	if e.From == contracts.MiddleUDC {
		dependent = !dependent
	}
	if !dependent {
		return starknet.ComputeContractAddress(felt.Zero, salt, e.Data[3], calldata)
	}
	hashed := starknet.Pedersen(e.Data[1], salt)
	if e.From == contracts.MiddleUDC {
		hashed = starknet.PoseidonArray(e.Data[1], salt)
	}
	return starknet.ComputeContractAddress(e.From, hashed, e.Data[3], calldata)
}
