package authority_test

import (
	"context"
	"testing"
	"time"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/authority"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/catalog"
	"chainexplorer/internal/explorer/class"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
)

var (
	f     = felt.FromUint64
	coin  = f(0xc0)
	code  = f(0xcafe)
	other = f(0xcaff)
	admin = felt.Zero
)

// said is an event of the token in a block of its own.
type said struct {
	name       string
	keys, data []felt.Felt
}

func minterRole() felt.Felt  { return felt.Selector("MINTER_ROLE") }
func upgradeRole() felt.Felt { return felt.Selector("ROLE_UPGRADE_GOVERNOR") }

// read builds a chain: the token is deployed in block 0, says one thing in each
// block after it, and has its class replaced in the last one if asked.
func read(t *testing.T, a *class.ABI, replaced bool, list ...said) *authority.Controls {
	t.Helper()
	e := pebbletest.Open(t, catalog.Tables())
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	if a != nil {
		batch.Put(class.ABIKey(code), a.Encode())
	}
	head, kept := uint64(len(list)), map[string][]byte{}
	name := func(k store.Key) string { return k.Table.Name + string(k.Partition) + "/" + string(k.Sort) }
	for n := range head + 1 {
		b := &explorer.Block{}
		b.Number, b.Hash, b.Timestamp = n, f(n+1000), n
		if n == 0 {
			initial := code
			if replaced {
				initial = other
			}
			b.State.Deployed = []starknet.DeployedContract{{Address: coin, ClassHash: initial}}
		}
		if n == head && replaced {
			b.State.Replaced = []starknet.ReplacedClass{{Address: coin, ClassHash: code}}
		}
		if n > 0 {
			s := list[n-1]
			r := starknet.Receipt{Execution: starknet.Succeeded, FeeUnit: starknet.Fri, TransactionHash: f(n + 5000), Type: starknet.Invoke}
			r.Events = []starknet.Event{{From: coin, Keys: append([]felt.Felt{felt.Selector(s.name)}, s.keys...), Data: s.data}}
			b.Transactions = []starknet.Transaction{{Type: starknet.Invoke, Hash: r.TransactionHash}}
			b.Receipts = []starknet.Receipt{r}
		}
		rows := &explorer.Rows{}
		for _, s := range []explorer.Subject{block.Subject{}, transaction.Subject{}, event.Subject{}, contract.Subject{}, transfer.Subject{}, token.Subject{}} {
			if err := s.Project(b, rows); err != nil {
				t.Fatal(err)
			}
			if fo, ok := s.(explorer.Follower); ok {
				plan := fo.Plan(b)
				var earlier [][]byte
				for _, k := range plan.Keys {
					earlier = append(earlier, kept[name(k)])
				}
				if err := plan.Follow(earlier, rows); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, op := range rows.Ops() {
			batch.Put(op.Key, op.Value)
			kept[name(op.Key)] = op.Value
		}
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	var out *authority.Controls
	err = e.View(t.Context(), func(r store.Reader) (err error) {
		out, err = authority.Read(t.Context(), r, coin, head)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func powers(kind class.Kind, p class.Powers) *class.ABI {
	return &class.ABI{Status: class.NoABI, Kind: kind, Token: abi.EmitterERC20, Powers: p, PowersKnown: true}
}

func TestControls(t *testing.T) {
	owner, next, minter := f(0xa), f(0xb), f(0xd)
	proxy := powers(class.Cairo0, 0)
	proxy.Proxy, proxy.Token = true, 0
	old := powers(class.Sierra, 0)
	old.PowersKnown = false
	type fact struct {
		status string
		actor  *felt.Felt
	}
	for name, tt := range map[string]struct {
		abi                                 *class.ABI
		replaced                            bool
		said                                []said
		supply, transfer, metadata, upgrade fact
	}{
		"nothing but transfers": {abi: powers(class.Sierra, 0),
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"cairo 0 proves nothing": {abi: powers(class.Cairo0, 0),
			supply: fact{"unknown", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"unknown", nil}},
		"a class without the names that replaces itself": {abi: powers(class.Sierra, class.Replaces),
			supply: fact{"unknown", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"proxy_admin_detected", nil}},
		"a class that runs other code": {abi: powers(class.Sierra, class.Delegates),
			supply: fact{"unknown", nil}, transfer: fact{"unknown", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"unknown", nil}},
		"a proxy": {abi: proxy,
			supply: fact{"unknown", nil}, transfer: fact{"unknown", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"proxy_admin_detected", nil}},
		"a class of before powers were kept": {abi: old,
			supply: fact{"unknown", nil}, transfer: fact{"unknown", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"unknown", nil}},
		"an owner, announced by keys": {abi: powers(class.Sierra, class.Mints|class.Upgrades|class.Owned),
			said:   []said{{"OwnershipTransferred", []felt.Felt{felt.Zero, owner}, nil}, {"OwnershipTransferred", []felt.Felt{owner, next}, nil}},
			supply: fact{"mintable", &next}, transfer: fact{"not_detected", nil}, metadata: fact{"admin_detected", &next}, upgrade: fact{"proxy_admin_detected", &next}},
		"an owner who left, announced in data": {abi: powers(class.Sierra, class.Mints|class.Owned),
			said:   []said{{"OwnershipTransferred", nil, []felt.Felt{felt.Zero, owner}}, {"OwnershipTransferred", nil, []felt.Felt{owner, felt.Zero}}},
			supply: fact{"mintable", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"renounced", nil}, upgrade: fact{"immutable_class", nil}},
		"an owner who left roles behind": {abi: powers(class.Sierra, class.Owned|class.Roles),
			said:   []said{{"RoleGranted", nil, []felt.Felt{f(77), minter, owner}}, {"OwnershipTransferred", nil, []felt.Felt{owner, felt.Zero}}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"an owner who left a role that comes later": {abi: powers(class.Sierra, class.Owned|class.Roles),
			said:   []said{{"RoleGrantedWithDelay", nil, []felt.Felt{minterRole(), minter, owner, f(3600)}}, {"OwnershipTransferred", nil, []felt.Felt{owner, felt.Zero}}},
			supply: fact{"minter_detected", &minter}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"an owner who left, and roles that nobody heard of": {abi: powers(class.Sierra, class.Owned|class.Roles),
			said:   []said{{"AccessControlEvent", []felt.Felt{felt.Selector("RoleGranted")}, []felt.Felt{admin, owner, owner}}, {"OwnershipTransferred", nil, []felt.Felt{owner, felt.Zero}}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"an owner who left, and all roles taken back": {abi: powers(class.Sierra, class.Owned|class.Roles),
			said: []said{{"RoleGranted", nil, []felt.Felt{f(77), minter, owner}}, {"RoleRevoked", nil, []felt.Felt{f(77), minter, owner}},
				{"OwnershipTransferred", nil, []felt.Felt{owner, felt.Zero}}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"renounced", nil}, upgrade: fact{"immutable_class", nil}},
		"roles": {abi: powers(class.Sierra, class.Mints|class.Upgrades|class.Roles|class.Pauses),
			said: []said{
				{"RoleGranted", nil, []felt.Felt{admin, owner, owner}},
				{"RoleGranted", nil, []felt.Felt{minterRole(), minter, owner}},
				{"RoleGranted", nil, []felt.Felt{upgradeRole(), next, owner}},
				{"Paused", nil, []felt.Felt{owner}},
			},
			supply: fact{"minter_detected", &minter}, transfer: fact{"pausable", &owner}, metadata: fact{"admin_detected", &owner}, upgrade: fact{"proxy_admin_detected", &next}},
		"a role taken back": {abi: powers(class.Sierra, class.Roles),
			said:   []said{{"RoleGranted", nil, []felt.Felt{minterRole(), minter, owner}}, {"RoleRevoked", nil, []felt.Felt{minterRole(), minter, owner}}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"look-alikes": {abi: powers(class.Sierra, 0),
			said:   []said{{"OwnershipTransferred", nil, []felt.Felt{owner}}, {"RoleGranted", nil, []felt.Felt{minterRole(), minter}}, {"Paused", nil, []felt.Felt{owner, owner}}, {"Upgraded", nil, nil}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"blocklist before freezing before pausing": {abi: powers(class.Sierra, class.Blocks|class.Freezes|class.Pauses),
			supply: fact{"fixed", nil}, transfer: fact{"blocklist_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"more was made, by a function of another name": {abi: powers(class.Sierra, 0),
			said:   []said{{"Transfer", nil, []felt.Felt{felt.Zero, owner, f(5), felt.Zero}}, {"Transfer", nil, []felt.Felt{owner, felt.Zero, f(5), felt.Zero}}},
			supply: fact{"unknown", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"some was moved, some was burnt, and nothing made": {abi: powers(class.Sierra, 0),
			said: []said{{"Transfer", []felt.Felt{owner, next}, []felt.Felt{f(5), felt.Zero}}, {"Transfer", nil, []felt.Felt{owner, felt.Zero, f(5), felt.Zero}},
				{"Transfer", nil, []felt.Felt{felt.Zero, felt.Zero, f(5), felt.Zero}}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"more was made before the present class, and with it": {abi: powers(class.Sierra, 0), replaced: true,
			said:   []said{{"Transfer", nil, []felt.Felt{felt.Zero, owner, f(5), felt.Zero}}, {"Transfer", nil, []felt.Felt{felt.Zero, owner, f(5), felt.Zero}}},
			supply: fact{"fixed", nil}, transfer: fact{"not_detected", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"immutable_class", nil}},
		"no class, but it was replaced": {replaced: true, said: []said{{"Upgraded", nil, []felt.Felt{code}}},
			supply: fact{"unknown", nil}, transfer: fact{"unknown", nil}, metadata: fact{"unknown", nil}, upgrade: fact{"proxy_admin_detected", nil}},
	} {
		t.Run(name, func(t *testing.T) {
			c := read(t, tt.abi, tt.replaced, tt.said...)
			for what, pair := range map[string]struct {
				got  authority.Fact
				want fact
			}{"supply": {c.Supply, tt.supply}, "transfer": {c.Transfer, tt.transfer}, "metadata": {c.Metadata, tt.metadata}, "upgrade": {c.Upgrade, tt.upgrade}} {
				same := pair.got.Actor == nil && pair.want.actor == nil || pair.got.Actor != nil && pair.want.actor != nil && *pair.got.Actor == *pair.want.actor
				if pair.got.Status != pair.want.status || !same {
					t.Errorf("%s: %s %v, want %s %v", what, pair.got.Status, pair.got.Actor, pair.want.status, pair.want.actor)
				}
			}
			if !c.Complete || c.Class != code {
				t.Errorf("complete %t, class %s", c.Complete, c.Class)
			}
		})
	}
}

func TestAnnouncements(t *testing.T) {
	c := read(t, powers(class.Sierra, 0), true,
		said{"Paused", nil, nil}, said{"RoleGranted", []felt.Felt{minterRole(), f(7)}, []felt.Felt{f(8)}}, said{"Unpaused", nil, []felt.Felt{f(9)}}, said{"Upgraded", nil, []felt.Felt{code}})
	if c.Paused == nil || *c.Paused {
		t.Errorf("paused is %v", c.Paused)
	}
	if len(c.Roles) != 1 || c.Roles[0].Name != "MINTER_ROLE" || c.Roles[0].Account != f(7) || c.Roles[0].Block != 2 {
		t.Errorf("roles %+v", c.Roles)
	}
	want := []authority.Kind{authority.Upgraded, authority.Unpaused, authority.RoleGranted, authority.Paused}
	for i, a := range c.Announcements {
		if a.Kind != want[i] || a.Block != uint64(4-i) || a.TxHash != f(a.Block+5000) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	if len(c.Classes) != 2 || c.Classes[0].Deployed || !c.Classes[1].Deployed || c.Classes[1].Class != other {
		t.Errorf("classes %+v", c.Classes)
	}
}

// TestBounded: more announcements than are looked at leave the rest unclaimed.
func TestBounded(t *testing.T) {
	var list []said
	for i := range uint64(authority.MaxEvents + 1) {
		list = append(list, said{"RoleRevoked", nil, []felt.Felt{f(1), f(i), f(2)}})
	}
	// The owner is gone, and no role is seen: but there may be older ones.
	list = append(list, said{"OwnershipTransferred", nil, []felt.Felt{felt.FromUint64(3), felt.Zero}})
	c := read(t, powers(class.Sierra, 0), false, list...)
	if c.Complete || c.Metadata.Status != authority.Unknown || len(c.Announcements) != authority.MaxEvents {
		t.Errorf("complete %t, metadata %s, %d announcements", c.Complete, c.Metadata.Status, len(c.Announcements))
	}
}

func TestNoContract(t *testing.T) {
	e := pebbletest.Open(t, catalog.Tables())
	err := e.View(t.Context(), func(r store.Reader) error {
		c, err := authority.Read(context.Background(), r, coin, 10)
		if c != nil {
			t.Errorf("%+v", c)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
