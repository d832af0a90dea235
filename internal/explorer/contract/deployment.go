package contract

import (
	"context"
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// How a contract came to be deployed. A state diff says that it was, and in
// which block; the rest comes from the transactions and from the events of the
// universal deployers. A contract that another one deployed by itself leaves no
// more than the state diff.

// DeploymentKind is what deployed a contract.
type DeploymentKind byte

// The kinds.
const (
	UnknownDeployment DeploymentKind = iota // only the state diff tells
	ByDeployAccount                         // an account deployed itself
	ByDeploy                                // the oldest transaction type
	ByDeployer                              // a universal deployer, called by somebody
	deploymentKinds
)

// Deployment is the evidence of a contract's deployment.
type Deployment struct {
	Block uint64
	Class felt.Felt
	Kind  DeploymentKind
	// Tx is the transaction's index in its block, unless the kind is unknown.
	Tx uint32
	// Deployer called the universal deployer Factory.
	Deployer, Factory felt.Felt
	Salt              felt.Felt
	// OriginDependent says that the address depends on the deployer.
	OriginDependent bool
}

// Current is the class that a contract has, and the block that gave it.
type Current struct {
	Block uint64
	Class felt.Felt
	// Replaced says that it is not the class of the deployment's state diff.
	Replaced bool
	// Origin says that no state diff set it: the contract was there before the
	// first block, and Block is that.
	Origin bool
}

// udc is a universal deployer. All of them emit the same event, but the third
// value means the opposite in one of them.
type udc struct {
	address  felt.Felt
	inverted bool // the flag says that the address does not depend on the caller
}

var udcs = []udc{
	{felt.MustParse("0x041a78e741e5af2fec34b695679bc6891742439f7afb8484ecd7766661ad02bf"), false}, // unique
	{felt.MustParse("0x04a64cd09a853868621d94cae9952b106f2c36a3f81260f85de6696c6b050221"), true},  // from_zero
	{felt.MustParse("0x02ceed65a4bd731034c01113685c831b01c15d7d432f71afb1cf1634b53a2125"), false}, // not_from_zero
}

var contractDeployed = felt.Selector("ContractDeployed")

// readDeployer reads the event of a universal deployer: address, deployer, flag,
// class, calldata behind its length, salt.
func readDeployer(e *starknet.Event) (address felt.Felt, d Deployment, ok bool) {
	if len(e.Keys) != 1 || e.Keys[0] != contractDeployed || len(e.Data) < 6 {
		return address, d, false
	}
	for i := range udcs {
		if e.From != udcs[i].address {
			continue
		}
		n, small := e.Data[4].Uint64()
		if !small || n != uint64(len(e.Data)-6) {
			return address, d, false
		}
		d = Deployment{Kind: ByDeployer, Deployer: e.Data[1], Factory: e.From, Salt: e.Data[len(e.Data)-1],
			OriginDependent: e.Data[2].IsZero() == udcs[i].inverted}
		return e.Data[0], d, true
	}
	return address, d, false
}

// Evidence returns the deployment of every contract that the block's state diff
// says was deployed, in the diff's order.
func Evidence(b *explorer.Block) []Deployment {
	list := b.State.Deployed
	if len(list) == 0 {
		return nil
	}
	at := make(map[felt.Felt]int, len(list))
	out := make([]Deployment, len(list))
	for i := range list {
		out[i] = Deployment{Block: b.Number, Class: list[i].ClassHash}
		if _, twice := at[list[i].Address]; !twice {
			at[list[i].Address] = i
		}
	}
	fill := func(address felt.Felt, tx int, d Deployment) {
		i, there := at[address]
		if !there || out[i].Kind != UnknownDeployment {
			return
		}
		d.Block, d.Class, d.Tx = b.Number, out[i].Class, uint32(tx)
		out[i] = d
	}
	for i := range b.Transactions {
		r := &b.Receipts[i]
		switch b.Transactions[i].Type {
		case starknet.DeployAccount:
			fill(r.ContractAddress, i, Deployment{Kind: ByDeployAccount, Salt: b.Transactions[i].ContractAddressSalt})
		case starknet.Deploy:
			fill(r.ContractAddress, i, Deployment{Kind: ByDeploy, Salt: b.Transactions[i].ContractAddressSalt})
		}
		for j := range r.Events {
			if address, d, ok := readDeployer(&r.Events[j]); ok {
				fill(address, i, d)
			}
		}
	}
	return out
}

const identityVersion = 1

const flagOriginDependent = 1

func (d *Deployment) encode(e *record.Encoder) []byte {
	e.Reset(identityVersion)
	e.Byte(byte(d.Kind))
	var flags byte
	if d.OriginDependent {
		flags = flagOriginDependent
	}
	e.Byte(flags)
	e.Uint(d.Block)
	e.Uint(uint64(d.Tx))
	for _, f := range []*felt.Felt{&d.Class, &d.Deployer, &d.Factory, &d.Salt} {
		e.Felt(f)
	}
	return e.Bytes()
}

func decodeDeployment(b []byte) (*Deployment, error) {
	d := record.NewDecoder(b, identityVersion)
	out := &Deployment{Kind: DeploymentKind(d.Byte())}
	flags := d.Byte()
	out.OriginDependent = flags == flagOriginDependent
	out.Block, out.Tx = d.Uint(), uint32(d.Uint())
	for _, f := range []*felt.Felt{&out.Class, &out.Deployer, &out.Factory, &out.Salt} {
		*f = d.Felt()
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	if out.Kind >= deploymentKinds || flags > flagOriginDependent {
		return nil, fmt.Errorf("%w: deployment of kind %d, flags %d", record.ErrCorrupt, out.Kind, flags)
	}
	return out, nil
}

func (c *Current) encode(e *record.Encoder) []byte {
	e.Reset(identityVersion)
	var flags byte
	if c.Replaced {
		flags = 1
	}
	e.Byte(flags)
	e.Uint(c.Block)
	e.Felt(&c.Class)
	return e.Bytes()
}

func decodeCurrent(b []byte) (*Current, error) {
	out := &Current{}
	return out, out.decode(&record.Decoder{}, b)
}

// decode reads a row. A page is read with one decoder.
func (c *Current) decode(d *record.Decoder, b []byte) error {
	d.Reset(b, identityVersion)
	flags := d.Byte()
	*c = Current{Replaced: flags == 1, Block: d.Uint(), Class: d.Felt()}
	if err := d.Finish(); err != nil {
		return err
	}
	if flags > 1 {
		return fmt.Errorf("%w: class of a contract with flags %d", record.ErrCorrupt, flags)
	}
	return nil
}

// Identity is what is indexed of a contract; the fields are nil when nothing is.
type Identity struct {
	Deployment *Deployment
	Current    *Current
	// Origin says that the contract was there before the first block.
	Origin bool
}

// Identities returns what is indexed of contracts, in order. One round trip.
func Identities(ctx context.Context, r store.Reader, addresses []felt.Felt) ([]Identity, error) {
	keys := make([]store.Key, 0, 3*len(addresses))
	for i := range addresses {
		keys = append(keys, store.Key{Table: Deployments, Partition: addresses[i][:]}, store.Key{Table: Currents, Partition: addresses[i][:]}, OriginKey(addresses[i]))
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read %d contracts: %w", len(addresses), err)
	}
	out := make([]Identity, len(addresses))
	for i := range out {
		if b := values[3*i]; b != nil {
			if out[i].Deployment, err = decodeDeployment(b); err != nil {
				return nil, fmt.Errorf("deployment of %s: %w", addresses[i], err)
			}
		}
		if b := values[3*i+1]; b != nil {
			if out[i].Current, err = decodeCurrent(b); err != nil {
				return nil, fmt.Errorf("class of %s: %w", addresses[i], err)
			}
		}
		if b := values[3*i+2]; b != nil {
			class, err := decodeOrigin(b)
			if err != nil {
				return nil, fmt.Errorf("origin of %s: %w", addresses[i], err)
			}
			if out[i].Origin = true; out[i].Current == nil {
				out[i].Current = &Current{Class: class, Origin: true}
			}
		}
	}
	return out, nil
}

// currentKey is what the class of a contract today is remembered under.
type currentKey felt.Felt

// ClassesNow is the Current of Identities, in order, for a third of the rows: one round trip for those
// that no view of the same state asked for, and another one where state diffs gave a contract none.
// Nobody may change what it returns: views share it.
func ClassesNow(ctx context.Context, r store.Reader, addresses []felt.Felt) ([]*Current, error) {
	out := make([]*Current, len(addresses))
	if err := classesToday(ctx, r, addresses, out); err != nil {
		return nil, err
	}
	return out, nil
}

// classesToday is ClassesNow to where the classes are wanted.
func classesToday(ctx context.Context, r store.Reader, addresses []felt.Felt, out []*Current) error {
	var unknown []int
	for i := range addresses {
		var ok bool
		if out[i], ok = store.Recalled[currentKey, *Current](r, currentKey(addresses[i])); !ok {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if err := classesNow(ctx, r, addresses, unknown, out); err != nil {
		return err
	}
	for _, i := range unknown {
		store.Remember(r, currentKey(addresses[i]), out[i])
	}
	return nil
}

// classesNow reads some of the addresses.
func classesNow(ctx context.Context, r store.Reader, addresses []felt.Felt, some []int, out []*Current) error {
	keys := make([]store.Key, len(some))
	for n, i := range some {
		keys[n] = store.Key{Table: Currents, Partition: addresses[i][:]}
	}
	values, err := r.GetMany(ctx, keys)
	if err != nil {
		return fmt.Errorf("read the classes of %d contracts: %w", len(keys), err)
	}
	var without []int
	d := &record.Decoder{}
	for n, i := range some {
		if values[n] == nil {
			without = append(without, i)
			continue
		}
		c := &Current{}
		if err := c.decode(d, values[n]); err != nil {
			return fmt.Errorf("class of %s: %w", addresses[i], err)
		}
		out[i] = c
	}
	if len(without) == 0 {
		return nil
	}
	keys = keys[:0]
	for _, i := range without {
		keys = append(keys, OriginKey(addresses[i]))
	}
	if values, err = r.GetMany(ctx, keys); err != nil {
		return fmt.Errorf("read the origins of %d contracts: %w", len(keys), err)
	}
	for n, i := range without {
		if values[n] == nil {
			continue
		}
		class, err := decodeOrigin(values[n])
		if err != nil {
			return fmt.Errorf("origin of %s: %w", addresses[i], err)
		}
		out[i] = &Current{Class: class, Origin: true}
	}
	return nil
}
