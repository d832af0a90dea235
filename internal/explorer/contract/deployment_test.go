package contract_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/contract"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble/pebbletest"
	"chainexplorer/internal/store/record"
)

var (
	legacyUDC  = felt.MustParse("0x041a78e741e5af2fec34b695679bc6891742439f7afb8484ecd7766661ad02bf")
	middleUDC  = felt.MustParse("0x04a64cd09a853868621d94cae9952b106f2c36a3f81260f85de6696c6b050221")
	currentUDC = felt.MustParse("0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125")
)

func deployed(from felt.Felt, data ...uint64) starknet.Event {
	e := starknet.Event{From: from, Keys: []felt.Felt{felt.Selector("ContractDeployed")}}
	for _, n := range data {
		e.Data = append(e.Data, felt.FromUint64(n))
	}
	return e
}

// TestDeployments: what each kind of evidence tells, and what is no evidence.
func TestDeployments(t *testing.T) {
	f := felt.FromUint64
	b := &explorer.Block{}
	b.Number = 9
	for a := uint64(1); a <= 8; a++ {
		b.State.Deployed = append(b.State.Deployed, starknet.DeployedContract{Address: f(a), ClassHash: f(100 + a)})
	}
	b.State.Deployed = append(b.State.Deployed[:1], b.State.Deployed...) // said twice
	b.State.Replaced = []starknet.ReplacedClass{{Address: f(3), ClassHash: f(203)}, {Address: f(50), ClassHash: f(250)}}
	b.State.Sort()
	add := func(kind starknet.TxType, address uint64, events ...starknet.Event) {
		b.Transactions = append(b.Transactions, starknet.Transaction{Type: kind, ContractAddressSalt: f(77)})
		b.Receipts = append(b.Receipts, starknet.Receipt{Type: kind, ContractAddress: f(address), Events: events})
	}
	add(starknet.DeployAccount, 1)
	add(starknet.Deploy, 2)
	// address, deployer, flag, class, length, calldata, salt
	add(starknet.Invoke, 0, deployed(legacyUDC, 3, 40, 1, 103, 0, 5), deployed(middleUDC, 4, 41, 1, 104, 2, 8, 8, 6), deployed(currentUDC, 5, 42, 0, 105, 0, 7),
		deployed(f(66), 6, 43, 0, 106, 0, 8),           // anybody can emit this
		deployed(legacyUDC, 7, 44, 0, 107, 3, 1, 2, 9), // fewer values than it says
		deployed(legacyUDC, 99, 44, 0, 107, 0, 9),      // no state diff knows of it
		deployed(middleUDC, 1, 45, 0, 101, 0, 9))       // the account deployed itself
	e := pebbletest.Open(t, append(contract.Subject{}.Tables(), contract.Enrichment()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	rows := &explorer.Rows{}
	if err := (contract.Subject{}).Project(b, rows); err != nil {
		t.Fatal(err)
	}
	if err := (contract.Subject{}).Plan(b).Follow(nil, rows); err != nil {
		t.Fatal(err)
	}
	batch := &store.Batch{Epoch: lease.Epoch}
	for _, op := range rows.Ops() {
		batch.Put(op.Key, op.Value)
	}
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	want := map[uint64]contract.Deployment{
		1: {Kind: contract.ByDeployAccount, Tx: 0, Salt: f(77)},
		2: {Kind: contract.ByDeploy, Tx: 1, Salt: f(77)},
		3: {Kind: contract.ByDeployer, Tx: 2, Deployer: f(40), Factory: legacyUDC, Salt: f(5), OriginDependent: true},
		4: {Kind: contract.ByDeployer, Tx: 2, Deployer: f(41), Factory: middleUDC, Salt: f(6)}, // its flag says from zero
		5: {Kind: contract.ByDeployer, Tx: 2, Deployer: f(42), Factory: currentUDC, Salt: f(7)},
		6: {}, 7: {}, 8: {},
	}
	err = e.View(t.Context(), func(r store.Reader) error {
		for a, d := range want {
			d.Block, d.Class = 9, f(100+a)
			got, err := contract.Identities(t.Context(), r, []felt.Felt{f(a)})
			if err != nil {
				return err
			}
			now := contract.Current{Block: 9, Class: f(100 + a)}
			if a == 3 {
				now = contract.Current{Block: 9, Class: f(203), Replaced: true}
			}
			if got[0].Deployment == nil || *got[0].Deployment != d || got[0].Current == nil || *got[0].Current != now {
				t.Errorf("contract %d: %+v %+v, want %+v", a, got[0].Deployment, got[0].Current, d)
			}
		}
		got, err := contract.Identities(t.Context(), r, []felt.Felt{f(50), f(99)})
		if err != nil || got[0].Deployment != nil || got[0].Current.Class != f(250) || !reflect.DeepEqual(got[1], contract.Identity{}) {
			t.Errorf("got %+v, %v", got, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCorruptIdentity: a row that is not one of ours is an error, not a guess.
func TestCorruptIdentity(t *testing.T) {
	e := pebbletest.Open(t, append(contract.Subject{}.Tables(), contract.Enrichment()...))
	lease, err := e.Acquire(t.Context(), store.Writer, "test", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	f := felt.FromUint64
	batch := &store.Batch{Epoch: lease.Epoch}
	one, two := f(1), f(2)
	batch.Put(store.Key{Table: contract.Deployments, Partition: one[:]}, []byte{1, 99})
	batch.Put(store.Key{Table: contract.Currents, Partition: two[:]}, []byte{1, 7, 1, 0})
	if err := e.Commit(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	view := func(r store.Reader) error {
		for _, a := range []felt.Felt{one, two} {
			if _, err := contract.Identities(t.Context(), r, []felt.Felt{a}); !errors.Is(err, record.ErrCorrupt) {
				t.Errorf("%s: %v", a, err)
			}
		}
		return nil
	}
	if err := e.View(t.Context(), view); err != nil {
		t.Fatal(err)
	}
}
