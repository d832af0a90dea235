package simnode_test

import (
	"math/big"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// checkPool holds the pool's facts against its events.
func checkPool(t *testing.T, c *simnode.Chain) map[simnode.PoolFactKind]int {
	t.Helper()
	head, _ := c.Head()
	seen := map[simnode.PoolFactKind]int{}
	protected := map[felt.Felt]*big.Int{}
	facts := c.PoolFacts(0, head)
	events := c.Events(simnode.EventFilter{To: head, Addresses: []felt.Felt{c.Pool()}})
	if len(events) != len(facts) {
		t.Fatalf("%d facts and %d events of the pool", len(facts), len(events))
	}
	for k, ref := range events {
		f, e, sign := facts[k], ref.Event, 0
		if f.Block != ref.Block.Number || f.TxIndex != ref.TxIndex || f.EventIndex != ref.Index {
			t.Fatalf("fact %d is at %d/%d/%d, the event at %d/%d/%d", k, f.Block, f.TxIndex, f.EventIndex, ref.Block.Number, ref.TxIndex, ref.Index)
		}
		seen[f.Kind]++
		sizes := [2]int{len(e.Keys), len(e.Data)}
		want := sizes
		switch f.Kind {
		case simnode.PoolViewingKeySet:
			want = [2]int{3, 3}
		case simnode.PoolDeposit:
			want, sign = [2]int{3, 1}, 1
		case simnode.PoolOpenNoteDeposited:
			want, sign = [2]int{4, 1}, 1
		case simnode.PoolWithdrawal:
			want, sign = [2]int{3, 4}, -1
		case simnode.PoolOpenNoteCreated:
			want = [2]int{3, 3}
		case simnode.PoolEncNoteCreated:
			want = [2]int{2, 1}
		case simnode.PoolNoteUsed:
			want = [2]int{2, 0}
		case simnode.PoolExternalInvoked:
			want = [2]int{3, 0}
		}
		if sizes != want {
			t.Errorf("event of kind %d has sizes %v", f.Kind, sizes)
		}
		if sign != 0 {
			if e.Data[len(e.Data)-1].Big().Cmp(f.Amount) != 0 {
				t.Errorf("amount of the event differs from the fact")
			}
			if add(protected, f.Token, f.Amount, sign).Sign() < 0 {
				t.Errorf("protected amount of %s went below zero in block %d", f.Token, f.Block)
			}
		}
	}
	for token, want := range protected {
		p := c.PoolAt(token, head)
		if p.Protected.Cmp(want) != 0 || new(big.Int).Sub(p.Deposited, p.Withdrawn).Cmp(want) != 0 {
			t.Errorf("protected amount of %s is %s, events say %s", token, p.Protected, want)
		}
		if c.BalanceAt(token, c.Pool(), head).Cmp(want) < 0 {
			t.Errorf("the pool holds less of %s than it protects", token)
		}
	}
	return seen
}

func TestPoolTruth(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 12, Blocks: 600})
	seen := checkPool(t, c)
	for kind := simnode.PoolViewingKeySet; kind <= simnode.PoolConfigured; kind++ {
		if seen[kind] == 0 {
			t.Errorf("no pool event of kind %d", kind)
		}
	}
	if seen[simnode.PoolOpenNoteCreated] != seen[simnode.PoolOpenNoteDeposited] {
		t.Error("open notes are not all funded")
	}
}

// TestPoolUses: a lively pool is used in every block, its fees are paid by accounts and
// by the forwarder, and its facts are those of its events.
func TestPoolUses(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 12, Blocks: 60, PoolUses: 3})
	seen := checkPool(t, c)
	if seen[simnode.PoolDeposit] < 60 {
		t.Errorf("%d deposits", seen[simnode.PoolDeposit])
	}
	relayed, direct := 0, 0
	for _, f := range c.PoolFees(0, 59) {
		b := c.BlockAt(f.Block)
		paid := false
		for _, e := range b.Receipts[f.TxIndex].Events {
			paid = paid || len(e.Data) == 4 && e.Data[2].Big().Cmp(f.Amount) == 0
		}
		if !paid {
			t.Errorf("no transfer pays the fee of transaction %d of block %d", f.TxIndex, f.Block)
		}
		if f.Relayed {
			relayed++
		} else {
			direct++
		}
	}
	if relayed < 10 || direct < 50 {
		t.Errorf("%d fees were paid by the forwarder and %d by accounts", relayed, direct)
	}
}

// TestPoolTrouble: what goes wrong is asked for by block, and is there on every branch.
func TestPoolTrouble(t *testing.T) {
	var config simnode.Config
	config.Seed, config.Blocks = 3, 60
	for k := simnode.TroubleClass; k <= simnode.TroubleNoTransfer; k++ {
		config.PoolTrouble = append(config.PoolTrouble, simnode.PoolTrouble{Block: 20 + uint64(k), Kind: k})
	}
	c := simnode.New(config)
	c.Fork(45)
	strange, silent := 0, 0
	for _, f := range c.PoolFacts(20, 59) {
		switch {
		case f.Kind == simnode.PoolStrange:
			strange++
		case f.Amount == nil && (f.Kind == simnode.PoolDeposit || f.Kind == simnode.PoolWithdrawal):
			silent++
		}
	}
	head, _ := c.Head()
	if n := len(c.Events(simnode.EventFilter{To: head, Addresses: []felt.Felt{c.Pool()}})); n != len(c.PoolFacts(0, head)) || strange != 1 || silent != 2 {
		t.Errorf("%d events, %d facts, %d strange and %d without an amount", n, len(c.PoolFacts(0, head)), strange, silent)
	}
	if class, ok := c.ClassAt(c.Pool(), 21); !ok || class != contracts.PoolStranger() {
		t.Error("the pool does not have the class that nobody knows")
	}
	if class, ok := c.ClassAt(c.Pool(), 22); !ok || class == contracts.PoolStranger() {
		t.Error("the pool keeps the class that nobody knows")
	}
}
