package abi_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/simnode/contracts"
)

// schemas parses each class once.
func schemas(t *testing.T) func(*contracts.Class) *abi.Schema {
	parsed := map[*contracts.Class]*abi.Schema{}
	return func(c *contracts.Class) *abi.Schema {
		if parsed[c] == nil {
			s, err := abi.Parse(&c.Class)
			if err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			parsed[c] = s
		}
		return parsed[c]
	}
}

// A simulated chain: every event that a class of the catalogue emits is decoded
// with the ABI of the class that was in force, except what the junk contract
// makes up and what an old proxy's implementation emits.
func TestSimulatedChain(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 3, Blocks: 300, TxPerBlock: 12})
	schemaOf := schemas(t)
	byStatus, byName := map[string]int{}, map[string]int{}
	for n := range uint64(300) {
		b := chain.BlockAt(n)
		upgraded := map[felt.Felt]bool{}
		for _, c := range chain.StateUpdateAt(n).Diff.Replaced {
			upgraded[c.Address] = true // either class may have emitted
		}
		for i := range b.Receipts {
			for _, e := range b.Receipts[i].Events {
				c, ok := chain.ClassAt(e.From, n)
				if !ok || upgraded[e.From] {
					continue
				}
				r := abi.Attribute(&abi.Evidence{Schema: schemaOf(c)}, e.Keys, e.Data)
				checkCover(t, r, e.Keys, e.Data)
				byStatus[string(r.Status)+" "+string(r.NameSource)]++
				byName[r.Name]++
				junk := strings.HasPrefix(c.Name, "junk")
				proxy := strings.HasPrefix(c.Name, "proxy")
				if !junk && !proxy && (r.Status != abi.Decoded || r.FieldsSource != abi.ClassABI) {
					t.Errorf("block %d, %s: %s %s %s, keys %v data %v", n, c.Name, r.Status, r.Name, r.UnavailableReason, e.Keys, e.Data)
				}
				if proxy && r.Status != abi.Decoded && r.Name != "Transfer" && r.Name != "Approval" {
					t.Errorf("block %d, %s: %s %s %s", n, c.Name, r.Status, r.Name, r.UnavailableReason)
				}
			}
		}
	}
	t.Log(byStatus, len(byName), "names")
	if byStatus["decoded class_abi"] < 5000 || len(byName) < 25 {
		t.Errorf("too little was decoded: %v %v", byStatus, byName)
	}
}

// The reviewed schemas of the pool, of tokens and of deployers say what the
// classes' own ABIs say: same shapes, same values.
func TestStandardsAgreeWithClasses(t *testing.T) {
	chain := simnode.New(simnode.Config{Seed: 4, Blocks: 400, TxPerBlock: 12})
	schemaOf, compared := schemas(t), map[string]int{}
	for n := range uint64(400) {
		b := chain.BlockAt(n)
		for i := range b.Receipts {
			for _, e := range b.Receipts[i].Events {
				c, ok := chain.ClassAt(e.From, n)
				if !ok {
					continue
				}
				emitter := abi.EmitterUnknown
				switch {
				case e.From == chain.Pool():
					emitter = abi.EmitterPrivacyPool
				case strings.HasPrefix(c.Name, "erc20"), c.Name == "pair":
					emitter = abi.EmitterERC20
				case strings.HasPrefix(c.Name, "erc721"):
					emitter = abi.EmitterERC721
				case strings.HasPrefix(c.Name, "erc1155"):
					emitter = abi.EmitterERC1155
				}
				std := abi.Standard(emitter, e.Keys, e.Data)
				class := abi.Decode(schemaOf(c), e.Keys, e.Data)
				if std.Status != abi.Decoded || class.Status != abi.Decoded {
					if emitter == abi.EmitterPrivacyPool && class.Status == abi.Decoded {
						t.Errorf("%s of the pool is %s: %s", class.Name, std.Status, std.UnavailableReason)
					}
					continue
				}
				compared[std.Name]++
				sameValues(t, std, class, !c.Cairo0())
			}
		}
	}
	for _, name := range []string{"Transfer", "Approval", "TransferSingle", "TransferBatch", "ContractDeployed", "Upgraded",
		"Deposit", "Withdrawal", "NoteUsed", "EncNoteCreated", "OpenNoteCreated", "OpenNoteDeposited", "ViewingKeySet", "DepositHandled",
		"deposit_handled", "WithdrawInitiated", "withdraw_initiated", "ImplementationAdded", "ImplementationReplaced"} {
		if compared[name] == 0 {
			t.Errorf("%s was never compared", name)
		}
	}
}

func sameValues(t *testing.T, a, b abi.Result, kinds bool) {
	t.Helper()
	if a.Name != b.Name || len(a.Fields) != len(b.Fields) {
		t.Fatalf("%s of %d fields and %s of %d", a.Name, len(a.Fields), b.Name, len(b.Fields))
	}
	for i := range a.Fields {
		x, y := a.Fields[i], b.Fields[i]
		if fmt.Sprint(x.Source, x.RawValues, x.OriginIndexes) != fmt.Sprint(y.Source, y.RawValues, y.OriginIndexes) ||
			kinds && fmt.Sprint(x.Kind, x.Status, x.DisplayValue, show(x.NumericValue)) != fmt.Sprint(y.Kind, y.Status, y.DisplayValue, show(y.NumericValue)) {
			t.Errorf("%s: %+v\nand %+v", a.Name, x, y)
		}
	}
}

// One answer written out, so that a change of labels or forms is seen.
func TestGoldenFields(t *testing.T) {
	s, err := abi.ParseSierra([]byte(`[
	{"type":"struct","name":"m::Order","members":[{"name":"maker","type":"core::starknet::contract_address::ContractAddress"},
		{"name":"sizes","type":"(core::integer::u8, core::integer::i16)"},{"name":"memo","type":"core::byte_array::ByteArray"}]},
	{"type":"enum","name":"core::option::Option::<m::Order>","variants":[{"name":"Some","type":"m::Order"},{"name":"None","type":"()"}]},
	{"type":"event","name":"m::Placed","kind":"struct","members":[
		{"name":"id","type":"core::integer::u256","kind":"key"},{"name":"order","type":"core::option::Option::<m::Order>","kind":"data"},
		{"name":"path","type":"core::array::Span::<core::felt252>","kind":"data"},
		{"name":"fees","type":"core::array::Array::<core::integer::u128>","kind":"data"},
		{"name":"l1","type":"core::starknet::eth_address::EthAddress","kind":"data"},
		{"name":"class","type":"core::starknet::class_hash::ClassHash","kind":"data"},
		{"name":"done","type":"core::bool","kind":"data"}]},
	{"type":"event","name":"m::Book","kind":"enum","variants":[{"name":"Placed","type":"m::Placed","kind":"nested"}]},
	{"type":"event","name":"m::Event","kind":"enum","variants":[{"name":"Book","type":"m::Book","kind":"nested"}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	keys := felts("Book", "Placed", 5, 1)
	data := felts(0, 0xabc, 200, "-7", 0, "0x6869", 2, 2, 10, 11, 1, 99, 0xbeef, 0xc1a55, 1)
	r := abi.Decode(s, keys, data)
	var got bytes.Buffer
	for _, f := range r.Fields {
		fmt.Fprintf(&got, "%s|%s|%s|%s|%v|%s", f.Label, f.Source, f.Kind, f.Status, f.OriginIndexes, f.DisplayValue)
		for _, v := range []string{show(f.AddressValue), show(f.NumericValue), show(f.TextValue), show(f.BoolValue)} {
			fmt.Fprintf(&got, "|%s", strings.ReplaceAll(v, "<nil>", "-"))
		}
		got.WriteByte('\n')
	}
	want := `id|key|u256|decoded|[2 3]|340282366920938463463374607431768211461|-|340282366920938463463374607431768211461|-|-
order|data|text|decoded|[0]|Some|-|-|Some|-
order.Some.maker|data|address|decoded|[1]|0xabc|0xabc|-|-|-
order.Some.sizes.0|data|felt|decoded|[2]|200|-|200|-|-
order.Some.sizes.1|data|felt|decoded|[3]|-7|-|-7|-|-
order.Some.memo|data|text|decoded|[4 5 6]|hi|-|-|hi|-
path|data|felt|raw|[7 8 9]|[0xa, 0xb]|-|-|-|-
fees|data|felt|decoded|[10]|1 item|-|1|-|-
fees[0]|data|felt|decoded|[11]|99|-|99|-|-
l1|data|address|decoded|[12]|0x000000000000000000000000000000000000beef|0xbeef|-|-|-
class|data|hash|decoded|[13]|0xc1a55|-|-|-|-
done|data|bool|decoded|[14]|true|-|-|-|true
`
	if r.Status != abi.Decoded || r.Name != "Placed" || got.String() != want {
		t.Errorf("%s %s %s\n%s\nwant\n%s", r.Status, r.Name, r.UnavailableReason, got.String(), want)
	}
}

// felts writes a payload: numbers, hex, negative numbers, names of selectors.
func felts(parts ...any) []felt.Felt {
	out := make([]felt.Felt, len(parts))
	for i, p := range parts {
		switch p := p.(type) {
		case int:
			out[i] = felt.FromUint64(uint64(p))
		case felt.Felt:
			out[i] = p
		case string:
			switch {
			case strings.HasPrefix(p, "0x"):
				out[i] = felt.MustParse(p)
			case strings.HasPrefix(p, "-"):
				v, err := strconv.ParseInt(p, 10, 64)
				if err != nil {
					panic(err)
				}
				out[i] = toFelt(big.NewInt(v))
			default:
				out[i] = felt.Selector(p)
			}
		}
	}
	return out
}
