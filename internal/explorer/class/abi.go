package class

import (
	"errors"
	"fmt"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store/record"
)

// Status says what became of fetching a class.
type Status byte

// The statuses. Those that are Wanted are asked for again.
const (
	Ready      Status = iota + 1 // the ABI was read
	Absent                       // no node could give the class
	Unparsable                   // the class is there, its ABI is of no use
	NoABI                        // the class was declared without one
	// Unverified: what the nodes serve does not have the hash, and it cannot be
	// told whether they lie or print a Cairo 0 class in another way than it was
	// declared. Nothing of it is believed.
	Unverified
)

// Wanted says that the class is yet to be had.
func (s Status) Wanted() bool { return s == Absent || s == Unverified }

// String names the status.
func (s Status) String() string {
	switch s {
	case Ready:
		return "fetched"
	case Absent:
		return "missing"
	case Unparsable:
		return "unparsable"
	case NoABI:
		return "without_abi"
	case Unverified:
		return "unverified"
	}
	return "unknown"
}

// ABI is what is kept of a class.
type ABI struct {
	Status Status
	// Block is the block that wanted a class that is yet to be had.
	Block uint64
	Kind  Kind
	// Account says that the class can be an account: it executes and validates.
	Account bool
	// Proxy says that the class has a door for whatever it does not define.
	Proxy bool
	// Token is the standard that the entry points tell, if exactly one.
	Token abi.Emitter
	// Powers are what its functions let somebody do, if PowersKnown: rows of
	// older programs do not tell.
	Powers      Powers
	PowersKnown bool
	// Schema is the stored form of the events, if Ready.
	Schema []byte
}

// The flags of a record.
const (
	flagAccount = 1 << iota
	flagProxy
	flagPowers // they follow at the end
	flagsEnd
)

// Encode is the row of class_abi. Two classes of one hash have one row.
func (a *ABI) Encode() []byte {
	var e record.Encoder
	e.Reset(recordVersion)
	e.Byte(byte(a.Status))
	if a.Status.Wanted() {
		e.Uint(a.Block)
		return e.Bytes()
	}
	var flags byte
	if a.Account {
		flags |= flagAccount
	}
	if a.Proxy {
		flags |= flagProxy
	}
	if a.PowersKnown {
		flags |= flagPowers
	}
	e.Byte(byte(a.Kind))
	e.Byte(flags)
	e.Byte(byte(a.Token))
	if a.Status == Ready {
		e.Blob(a.Schema)
	}
	if a.PowersKnown {
		e.Uint(uint64(a.Powers))
	}
	return e.Bytes()
}

// DecodeABI reads a row of class_abi.
func DecodeABI(b []byte) (*ABI, error) {
	d := record.NewDecoder(b, recordVersion)
	a := &ABI{Status: Status(d.Byte())}
	switch a.Status {
	case Absent, Unverified:
		a.Block = d.Uint()
		return a, d.Finish()
	case Ready, Unparsable, NoABI:
	default:
		if d.Err() == nil {
			return nil, fmt.Errorf("%w: class with status %d", record.ErrCorrupt, a.Status)
		}
	}
	a.Kind = Kind(d.Byte())
	flags := d.Byte()
	a.Account, a.Proxy = flags&flagAccount != 0, flags&flagProxy != 0
	a.Token = abi.Emitter(d.Byte())
	if a.Status == Ready {
		a.Schema = d.Blob()
	}
	powers := uint64(0)
	if a.PowersKnown = flags&flagPowers != 0; a.PowersKnown {
		powers = d.Uint()
		a.Powers = Powers(powers)
	}
	if err := d.Finish(); err != nil {
		return nil, err
	}
	if powers >= uint64(powersEnd) {
		return nil, fmt.Errorf("%w: class with powers %d", record.ErrCorrupt, powers)
	}
	if a.Kind != Sierra && a.Kind != Cairo0 || flags >= flagsEnd || a.Token > abi.EmitterERC1155 {
		return nil, fmt.Errorf("%w: class of kind %d, flags %d, token %d", record.ErrCorrupt, a.Kind, flags, a.Token)
	}
	return a, nil
}

// Materialize keeps of a class what decoding and lookups will need. A class
// without a usable ABI still has its entry points.
func Materialize(c *starknet.Class) *ABI {
	a := &ABI{Status: Ready, Kind: Cairo0, Powers: powersOf(c), PowersKnown: true}
	if c.Sierra != nil {
		a.Kind = Sierra
		a.facts(c.Sierra.EntryPoints.External)
	} else {
		a.facts(c.Cairo0.EntryPoints.External)
	}
	schema, err := abi.Parse(c)
	switch {
	case errors.Is(err, abi.ErrNoABI):
		a.Status = NoABI
		return a
	case err != nil:
		a.Status = Unparsable
		return a
	}
	a.Schema = schema.Encode()
	return a
}

// The entry points that facts are told by, in both spellings where there are two.
var (
	doorExecute  = felt.Selector("__execute__")
	doorValidate = felt.Selector("__validate__")

	doorTransfer  = felt.Selector("transfer")
	doorDecimals  = felt.Selector("decimals")
	doorsSupply   = []felt.Felt{felt.Selector("total_supply"), felt.Selector("totalSupply")}
	doorsOwner    = []felt.Felt{felt.Selector("owner_of"), felt.Selector("ownerOf")}
	doorsBatch    = []felt.Felt{felt.Selector("balance_of_batch"), felt.Selector("balanceOfBatch")}
	doorUndefined = felt.Zero
)

func (a *ABI) facts(external []starknet.EntryPoint) {
	doors := make(map[felt.Felt]bool, len(external))
	for i := range external {
		doors[external[i].Selector] = true
	}
	either := func(list []felt.Felt) bool { return doors[list[0]] || doors[list[1]] }
	a.Account = doors[doorExecute] && doors[doorValidate]
	a.Proxy = doors[doorUndefined]
	for _, t := range []struct {
		token abi.Emitter
		is    bool
	}{
		{abi.EmitterERC20, doors[doorTransfer] && doors[doorDecimals] && either(doorsSupply)},
		{abi.EmitterERC721, either(doorsOwner)},
		{abi.EmitterERC1155, either(doorsBatch)},
	} {
		switch {
		case !t.is:
		case a.Token == abi.EmitterUnknown:
			a.Token = t.token
		default: // two standards at once: it is neither for sure
			a.Token = abi.EmitterUnknown
			return
		}
	}
}
