package export_test

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/export"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/index/simsource"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var update = flag.Bool("update", false, "write testdata/schema.txt anew")

func texts(list []felt.Felt) []string {
	out := []string{}
	for _, f := range list {
		out = append(out, f.String())
	}
	return out
}

type eventRow struct {
	BlockNumber int64    `parquet:"block_number"`
	BlockHash   string   `parquet:"block_hash"`
	Timestamp   int64    `parquet:"timestamp"`
	TxIndex     int32    `parquet:"tx_index"`
	TxHash      string   `parquet:"tx_hash"`
	LogIndex    int32    `parquet:"log_index"`
	Address     string   `parquet:"address"`
	Keys        []string `parquet:"keys,list"`
	Data        []string `parquet:"data,list"`
}

type txRow struct {
	BlockNumber  int64    `parquet:"block_number"`
	TxIndex      int32    `parquet:"tx_index"`
	TxHash       string   `parquet:"tx_hash"`
	Type         string   `parquet:"tx_type"`
	Execution    string   `parquet:"execution_status"`
	RevertReason *string  `parquet:"revert_reason,optional"`
	Nonce        *string  `parquet:"nonce,optional"`
	Fee          string   `parquet:"actual_fee"`
	FeeE0        [11]byte `parquet:"actual_fee_e0,decimal(0:26)"`
	FeeE26       [11]byte `parquet:"actual_fee_e26,decimal(0:26)"`
	FeeE52       [16]byte `parquet:"actual_fee_e52,decimal(0:38)"`
	Unit         string   `parquet:"actual_fee_unit"`
	Calldata     []string `parquet:"calldata,list"`
}

type balanceRow struct {
	BlockNumber int64    `parquet:"block_number"`
	Token       string   `parquet:"token_address"`
	Holder      string   `parquet:"holder_address"`
	Amount      string   `parquet:"amount_change"`
	E0          [11]byte `parquet:"amount_change_e0,decimal(0:26)"`
	E26         [11]byte `parquet:"amount_change_e26,decimal(0:26)"`
	E52         [16]byte `parquet:"amount_change_e52,decimal(0:38)"`
	Units       int64    `parquet:"units_change"`
}

// signed reads a decimal as Parquet has it.
func signed(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 8*uint(len(b))))
	}
	return n
}

// whole puts the parts of an amount together.
func whole(e0, e26, e52 []byte) string {
	ten26 := new(big.Int).Exp(big.NewInt(10), big.NewInt(26), nil)
	n := signed(e52)
	n.Add(n.Mul(n, ten26), signed(e26))
	return n.Add(n.Mul(n, ten26), signed(e0)).String()
}

// TestFilesHoldTheChain reads the files back and holds them against what the simulated
// chain knows of itself.
func TestFilesHoldTheChain(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 61, Blocks: 70}))
	dir := filepath.Join(t.TempDir(), "out")
	r := w.export(w.options(dir))
	const last = 70 - 1 - depth
	if r.Last != last || r.Written != 8*4+1 {
		t.Fatalf("block %d in %d files", r.Last, r.Written)
	}
	var events []eventRow
	var txs []txRow
	for n := range uint64(last + 1) {
		b := w.BlockAt(n)
		for i := range b.Transactions {
			tx, receipt := &b.Transactions[i], &b.Receipts[i]
			row := txRow{BlockNumber: int64(n), TxIndex: int32(i), TxHash: tx.Hash.String(), Type: tx.Type.String(), Execution: receipt.Execution.String(),
				Fee: receipt.ActualFee.Big().String(), Unit: receipt.FeeUnit.String(), Calldata: texts(tx.Passed())}
			if receipt.RevertReason != "" {
				row.RevertReason = &receipt.RevertReason
			}
			if tx.HasNonce {
				nonce := tx.Nonce.String()
				row.Nonce = &nonce
			}
			txs = append(txs, row)
			for j, e := range receipt.Events {
				events = append(events, eventRow{int64(n), b.Hash.String(), int64(b.Timestamp) * 1000, int32(i), tx.Hash.String(), int32(j), e.From.String(), texts(e.Keys), texts(e.Data)})
			}
		}
	}
	compare(t, "event", rows[eventRow](t, dir, "events"), events)
	got := rows[txRow](t, dir, "transactions")
	for i := range got {
		r := &got[i]
		if sum := whole(r.FeeE0[:], r.FeeE26[:], r.FeeE52[:]); sum != r.Fee {
			t.Errorf("the parts of the fee %s are %s", r.Fee, sum)
		}
		r.FeeE0, r.FeeE26, r.FeeE52 = [11]byte{}, [11]byte{}, [16]byte{}
	}
	compare(t, "transaction", got, txs)
	for _, at := range []uint64{last, last / 2} { // also after a block in the middle
		checkBalances(t, w, dir, at)
	}
	checkTokens(t, dir)
	checkFooter(t, w, dir, last)
}

// checkTokens holds the tokens against the transfers: those that moved, since their first transfer.
func checkTokens(t *testing.T, dir string) {
	t.Helper()
	type row struct {
		Token string `parquet:"token_address"`
		Block int64  `parquet:"block_number,optional"`
		First int64  `parquet:"first_block,optional"`
	}
	want, got := map[string]int64{}, map[string]int64{}
	for _, r := range rows[row](t, dir, "transfers") {
		if first, seen := want[r.Token]; !seen || r.Block < first {
			want[r.Token] = r.Block
		}
	}
	for _, r := range rows[row](t, dir, "tokens") {
		got[r.Token] = r.First
	}
	if len(want) < 5 || !maps.Equal(got, want) {
		t.Errorf("tokens and their first blocks: %v, the transfers have %v", got, want)
	}
}

func compare[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) || len(want) < 100 {
		t.Fatalf("%d rows of %ss, want %d", len(got), what, len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("%s %d:\n%+v\nwant\n%+v", what, i, got[i], want[i])
		}
	}
}

// checkBalances adds the changes up to a block up.
func checkBalances(t *testing.T, w *world, dir string, last uint64) {
	t.Helper()
	type pair struct{ token, holder string }
	sums, units := map[pair]*big.Int{}, map[pair]int64{}
	negative := 0
	for _, r := range rows[balanceRow](t, dir, "balances") {
		n, ok := new(big.Int).SetString(r.Amount, 10)
		if sum := whole(r.E0[:], r.E26[:], r.E52[:]); !ok || sum != r.Amount {
			t.Fatalf("the parts of %q are %s", r.Amount, sum)
		}
		if n.Sign() < 0 {
			negative++
		}
		if r.BlockNumber > int64(last) {
			continue
		}
		p := pair{r.Token, r.Holder}
		if sums[p] == nil {
			sums[p] = new(big.Int)
		}
		sums[p].Add(sums[p], n)
		units[p] += r.Units
	}
	held, owned := 0, 0
	for _, k := range w.Tokens(last) {
		for _, h := range w.Holders(k.Address, last) {
			p := pair{k.Address.String(), h.Address.String()}
			switch {
			case k.Lie != simnode.Honest:
			case k.Standard == simnode.ERC20:
				held++
				if sums[p] == nil || sums[p].Cmp(w.BalanceAt(k.Address, h.Address, last)) != 0 {
					t.Errorf("changes of %v add up to %s, the chain says %s", p, sums[p], w.BalanceAt(k.Address, h.Address, last))
				}
			case k.Standard == simnode.ERC721:
				owned++
				if want := w.BalanceAt(k.Address, h.Address, last); units[p] != want.Int64() {
					t.Errorf("%d units of %v, the chain says %s", units[p], p, want)
				}
			}
		}
	}
	if held < 50 || negative == 0 {
		t.Fatalf("%d balances, %d owners and %d losses: the chain is too small to tell anything", held, owned, negative)
	}
}

// checkFooter looks at what a file says of itself.
func checkFooter(t *testing.T, w *world, dir string, last uint64) {
	t.Helper()
	name := filepath.Join(dir, "events", "blocks-0000000048-0000000063.parquet")
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // opened for reading
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	p, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	var digest chain.Digest
	err = w.View(t.Context(), func(r explorer.Reader) (err error) {
		digest, _, err = chain.DigestAt(t.Context(), r, last)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"format": fmt.Sprint(export.Format), "program": "test", "family": "events", "chain": "SN_SEPOLIA", "chain_id": w.Config().ChainID.String(),
		"first_block": "48", "first_block_hash": w.BlockAt(48).Hash.String(), "last_block": fmt.Sprint(last),
		"last_block_hash": w.BlockAt(last).Hash.String(), "digest": hex.EncodeToString(digest[:]), "rows": fmt.Sprint(p.NumRows()),
	} {
		if got, _ := p.Lookup("chainexplorer." + key); got != want {
			t.Errorf("%s of %s is %q, want %q", key, name, got, want)
		}
	}
}

// TestSchema holds the columns against those that were published. Whoever changes them
// raises export.Format.
func TestSchema(t *testing.T) {
	w := newWorld(t, simnode.New(simnode.Config{Seed: 62, Blocks: 20}))
	dir := w.fresh(nil)
	var b strings.Builder
	fmt.Fprintf(&b, "format %d\n", export.Format) //nolint:errcheck // a builder never fails
	for _, family := range export.Families() {
		files, err := filepath.Glob(filepath.Join(dir, family, "*.parquet"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no file of %s: %v", family, err)
		}
		f, err := os.Open(files[0])
		if err != nil {
			t.Fatal(err)
		}
		info, _ := f.Stat()
		p, err := parquet.OpenFile(f, info.Size())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n%s %s\n", family, p.Schema()) //nolint:errcheck // as above
		f.Close()                                        //nolint:errcheck // opened for reading
	}
	const golden = "testdata/schema.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the columns are not those of %s:\n%s", golden, b.String())
	}
}

// beforePrices is a chain whose fourth block names no sequencer, and one price alone.
type beforePrices struct{ simsource.Source }

func (s beforePrices) Fetch(ctx context.Context, number uint64) (index.Raw, error) {
	raw, err := s.Source.Fetch(ctx, number)
	if number == 3 {
		b := *s.BlockAt(number)
		b.L1GasPrice, b.L2GasPrice, b.L1DataGasPrice.InFri, b.Sequencer = starknet.GasPrice{}, starknet.GasPrice{}, felt.Zero, felt.Zero
		raw.Block = starknet.AppendBlock(nil, &b, starknet.V010)
	}
	return raw, err
}

// TestPricesThatThereWereNot: of a block from before there was a price, nodes tell zero.
func TestPricesThatThereWereNot(t *testing.T) {
	c := simnode.New(simnode.Config{Seed: 63, Blocks: 30})
	old, later := c.BlockAt(3), c.BlockAt(4)
	w := &world{c, pebbletest.Open(t, catalog.Tables()), t}
	w.indexFrom(beforePrices{simsource.Source{Chain: c}})
	type row struct {
		BlockNumber int64   `parquet:"block_number"`
		Sequencer   *string `parquet:"sequencer_address,optional"`
		L1Wei       *string `parquet:"l1_gas_price_wei,optional"`
		L1Fri       *string `parquet:"l1_gas_price_fri,optional"`
		DataWei     *string `parquet:"l1_data_gas_price_wei,optional"`
		DataFri     *string `parquet:"l1_data_gas_price_fri,optional"`
		L2Wei       *string `parquet:"l2_gas_price_wei,optional"`
		L2Fri       *string `parquet:"l2_gas_price_fri,optional"`
	}
	list := rows[row](t, w.fresh(nil), "blocks")
	if r := list[3]; r.BlockNumber != 3 || r.Sequencer != nil || r.L1Wei != nil || r.L1Fri != nil || r.DataFri != nil || r.L2Wei != nil || r.L2Fri != nil || r.DataWei == nil || *r.DataWei != old.L1DataGasPrice.InWei.Decimal() {
		t.Errorf("a block without prices: %+v", r)
	}
	if r := list[4]; r.Sequencer == nil || *r.Sequencer != later.Sequencer.String() || r.L1Wei == nil || *r.L1Wei != later.L1GasPrice.InWei.Decimal() || r.L2Fri == nil || *r.L2Fri != later.L2GasPrice.InFri.Decimal() {
		t.Errorf("the block behind it: %+v", r)
	}
}
