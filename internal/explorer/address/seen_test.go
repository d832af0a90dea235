package address_test

import (
	"context"
	"math/big"
	"testing"

	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

// TestSee holds every transaction of every address against its block: who the other
// end is, what was called, and which transfer is the largest.
func TestSee(t *testing.T) {
	e := pebbletest.Open(t, catalog.Tables())
	c := simnode.New(simnode.Config{Seed: 51, Blocks: 60, EventsPerTx: 8})
	head, _ := c.Head()
	if err := simsource.Follow(t.Context(), e, c, head); err != nil {
		t.Fatal(err)
	}
	// Every third token is one that nobody can tell the standard of.
	standards := map[felt.Felt]transfer.Standard{}
	for i, k := range c.Tokens(head) {
		if i%3 > 0 {
			standards[k.Address] = map[simnode.Standard]transfer.Standard{simnode.ERC20: transfer.ERC20, simnode.ERC721: transfer.ERC721, simnode.ERC1155: transfer.ERC1155}[k.Standard]
		}
	}
	asked := 0
	kinds := func(_ context.Context, tokens []contract.At) ([]transfer.Standard, error) {
		asked++
		out := make([]transfer.Standard, len(tokens))
		for i, k := range tokens {
			out[i] = standards[k.Address]
		}
		return out, nil
	}
	seen := map[string]int{}
	truth := truthOf(c)
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, a := range truth.order {
			asked = 0
			list, err := address.See(t.Context(), r, a, truth.txs[a], kinds, func(int, *transaction.Record) {})
			if err != nil {
				return err
			}
			if asked > 1 {
				t.Errorf("%s: %d questions for standards", a, asked)
			}
			for i, tx := range truth.txs[a] {
				got, b := &list[i], c.BlockAt(tx.Block)
				if got.Part != tx.Part || got.Hash != b.Transactions[tx.Index].Hash {
					t.Fatalf("%s: %+v is not %+v", a, got, tx)
				}
				checkEnds(t, got, a, &b.Transactions[tx.Index], &b.Receipts[tx.Index], seen)
				checkTop(t, got, a, &b.Receipts[tx.Index], standards, seen)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"to", "from", "nobody", "one function", "functions", "no calls", "no transfer", "one amount", "several", "unknown"} {
		if seen[what] == 0 {
			t.Errorf("nothing was seen of: %s", what)
		}
	}
}

// TestCounterparty has what simulated accounts do not do: they call others alone.
func TestCounterparty(t *testing.T) {
	me, peer := felt.FromUint64(1), felt.FromUint64(2)
	for _, c := range []struct {
		from, to *felt.Felt
		part     address.Part
		want     *felt.Felt
	}{
		{&me, &peer, address.Sender, &peer},
		{&me, &me, address.Sender | address.Called, nil}, // as an account that replaces its own class
		{&me, nil, address.Sender, nil},
		{&me, &me, address.Sender | address.Deployed, nil},
		{&me, &me, address.Called, nil},
		{&peer, &me, address.Called, &peer},
		{nil, &me, address.Deployed, nil},
	} {
		got := address.Counterparty(&transaction.Preview{From: c.from, To: c.to}, &me, c.part)
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("from %v to %v, part %v: %v, want %v", c.from, c.to, c.part, got, c.want)
		}
	}
}

func checkEnds(t *testing.T, got *address.Seen, a felt.Felt, tx *starknet.Transaction, receipt *starknet.Receipt, seen map[string]int) {
	t.Helper()
	var want *felt.Felt
	from, told := tx.From(receipt.ContractAddress)
	if got.Part&address.Sender != 0 && tx.Type != starknet.DeployAccount {
		if to, ok := tx.To(receipt.ContractAddress); ok && to != a {
			want = &to
			seen["to"]++
		}
	} else if told && from != a {
		want = &from
		seen["from"]++
	}
	if want == nil {
		seen["nobody"]++
	}
	if (got.Counterparty == nil) != (want == nil) || want != nil && *got.Counterparty != *want {
		t.Errorf("%s in %s: the other end is %v, want %v", a, tx.Hash, got.Counterparty, want)
	}
	if tx.Type != starknet.Invoke || tx.Version.IsZero() {
		if got.Calls != nil {
			t.Errorf("%s: %d calls of a transaction without any", tx.Hash, *got.Calls)
		}
		seen["no calls"]++
		return
	}
	calls, _ := starknet.AccountCalls(tx.Calldata)
	selectors := map[felt.Felt]bool{}
	for _, c := range calls {
		selectors[c.Selector] = true
	}
	if got.Calls == nil || *got.Calls != len(calls) || got.Differ != (len(selectors) > 1) {
		t.Errorf("%s: calls %v, differ %t, want %d of %d functions", tx.Hash, got.Calls, got.Differ, len(calls), len(selectors))
	}
	if seen["one function"]++; got.Differ {
		seen["functions"]++
	}
}

func checkTop(t *testing.T, got *address.Seen, a felt.Felt, receipt *starknet.Receipt, standards map[felt.Felt]transfer.Standard, seen map[string]int) {
	t.Helper()
	n, most, unknown := 0, big.NewInt(-1), false
	for _, x := range transfer.Of(receipt.Events) {
		if x.From != a && x.To != a {
			continue
		}
		n++
		settled := x.As(standards[x.Token])
		if settled.Standard == transfer.Ambiguous {
			unknown = true
		} else if v := new(big.Int).SetBytes(settled.Value[:]); v.Cmp(most) > 0 {
			most = v
		}
	}
	switch {
	case got.Transfers != n || (got.Top == nil) != (n == 0):
		t.Errorf("%s: %d transfers, want %d", got.Hash, got.Transfers, n)
	case n == 0:
		seen["no transfer"]++
	case most.Sign() < 0:
		seen["unknown"]++
		if !unknown || got.Top.Amount() != nil {
			t.Errorf("%s: %s moved, and nobody knows how much", got.Hash, got.Top.Amount())
		}
	case got.Top.Amount() == nil || got.Top.Amount().Cmp(most) != 0 || got.Top.From != a && got.Top.To != a:
		t.Errorf("%s: the largest transfer is %+v, want one of %s", got.Hash, got.Top, most)
	default:
		if seen["one amount"]++; n > 1 {
			seen["several"]++
		}
	}
}

// TestPreviewsOf: transactions stand where their items do, and both sides of a
// transfer see the other.
func TestPreviewsOf(t *testing.T) {
	e := pebbletest.Open(t, catalog.Tables())
	c := simnode.New(simnode.Config{Seed: 52, Blocks: 30})
	head, _ := c.Head()
	if err := simsource.Follow(t.Context(), e, c, head); err != nil {
		t.Fatal(err)
	}
	transactions, transfers := 0, 0
	err := e.View(t.Context(), func(r store.Reader) error {
		for _, a := range truthOf(c).order {
			page, err := address.ListActivity(t.Context(), r, address.ActivityQuery{Address: a, Head: head, Limit: 50})
			if err != nil {
				return err
			}
			var records []*transaction.Preview
			if records, err = address.PreviewsOf(t.Context(), r, page.Items, func(int, *transaction.Record) {}); err != nil {
				return err
			}
			for i := range page.Items {
				item := &page.Items[i]
				if item.Transfer == nil {
					transactions++
					if b := c.BlockAt(item.At.Block); records[i] == nil || records[i].Hash != b.Transactions[item.At.Tx].Hash {
						t.Fatalf("%s: the transaction of %+v is %+v", a, item, records[i])
					}
					continue
				}
				transfers++
				other := item.Transfer.To
				if other == a {
					other = item.Transfer.From
				}
				if got := item.Counterparty(&a, nil); records[i] != nil || *got != other {
					t.Errorf("%s: the other side of %+v is %s", a, item.Transfer, got)
				}
			}
		}
		return nil
	})
	if err != nil || transactions == 0 || transfers == 0 {
		t.Errorf("%d transactions, %d transfers: %v", transactions, transfers, err)
	}
}
