package transfer

import (
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
)

// The first keys of transfer events.
var (
	SelectorTransfer = felt.Selector("Transfer")
	SelectorSingle   = felt.Selector("TransferSingle")
	SelectorBatch    = felt.Selector("TransferBatch")
)

// Selectors lists them.
func Selectors() []felt.Felt {
	return []felt.Felt{SelectorTransfer, SelectorSingle, SelectorBatch}
}

// Standard is the token standard that a transfer, or a token, follows.
type Standard uint8

// The standards. An Ambiguous transfer is of an ERC-20 or of an ERC-721.
const (
	Ambiguous Standard = iota
	ERC20
	ERC721
	ERC1155
)

// String is the name that answers use.
func (s Standard) String() string {
	switch s {
	case ERC20:
		return "erc20"
	case ERC721:
		return "erc721"
	case ERC1155:
		return "erc1155"
	}
	return "unknown"
}

// Transfer is what an event says of one movement. From zero it is a mint, to
// zero a burn.
type Transfer struct {
	Token, From, To felt.Felt
	Standard        Standard
	// HasID says that ID names what was moved: of ERC-721 and ERC-1155.
	HasID bool
	ID    [32]byte // big endian
	// Value is how much was moved, one of an ERC-721. Of an ambiguous
	// transfer it is the number that stands there, amount or id.
	Value [32]byte // big endian
}

// one is the value of an NFT.
var one = [32]byte{31: 1}

// As settles what the layout left open, for a token whose standard is known.
func (t Transfer) As(kind Standard) Transfer {
	switch {
	case kind == ERC20 && t.Standard == Ambiguous:
		t.Standard = ERC20
	case kind == ERC721 && (t.Standard == Ambiguous || t.Standard == ERC20):
		// Some keep the id out of the keys although the parties are keys.
		t.Standard, t.HasID, t.ID, t.Value = ERC721, true, t.Value, one
	}
	return t
}

// Layout is how an event wrote its transfers.
type Layout uint8

// The layouts, as number of keys and data. The last two hold for ERC-1155.
const (
	NoTransfer   Layout = iota
	Malformed           // the selector of a transfer, and nothing that fits it
	AllInData           // 1,4: from, to, amount or id
	PartiesKeyed        // 3,2: from and to are keys
	AllKeyed            // 5,0: from, to and id are keys
	Single              // 1,7 or 4,4
	Batch               // 1,n or 4,n
)

// Decode returns the transfers of an event, one unless it is a batch; malformed
// says that the event has the selector of a transfer and is none.
func Decode(e *starknet.Event) (list []Transfer, malformed bool) {
	list, layout := Append(nil, e)
	if len(list) == 0 {
		return nil, layout == Malformed
	}
	return list, false
}

// Append is Decode for many events: it appends the transfers to dst.
func Append(dst []Transfer, e *starknet.Event) ([]Transfer, Layout) {
	if len(e.Keys) == 0 {
		return dst, NoTransfer
	}
	switch selector := &e.Keys[0]; {
	case selector.Is(&SelectorTransfer):
		return appendTransfer(dst, e)
	case selector.Is(&SelectorSingle) || selector.Is(&SelectorBatch):
		return appendMulti(dst, e)
	}
	return dst, NoTransfer
}

func appendTransfer(dst []Transfer, e *starknet.Event) ([]Transfer, Layout) {
	k, d := e.Keys, e.Data
	var parties, number []felt.Felt
	var layout Layout
	var standard Standard
	switch {
	case len(k) == 1 && len(d) == 4:
		parties, number, layout = d, d[2:], AllInData
	case len(k) == 3 && len(d) == 2:
		parties, number, layout, standard = k[1:], d, PartiesKeyed, ERC20
	case len(k) == 5 && len(d) == 0:
		parties, number, layout, standard = k[1:], k[3:], AllKeyed, ERC721
	default:
		return dst, Malformed
	}
	n, err := felt.U256(number[0], number[1])
	if err != nil {
		return dst, Malformed
	}
	dst = append(dst, Transfer{})
	t := &dst[len(dst)-1] // filled where it is: it is large, and there are hundreds in a block
	t.Token, t.From, t.To, t.Standard = e.From, parties[0], parties[1], standard
	if t.Value = n; layout == AllKeyed {
		t.HasID, t.ID, t.Value = true, n, one
	}
	return dst, layout
}

// appendMulti reads an ERC-1155 event: operator, from and to in front of the
// data, or behind the selector in the keys.
func appendMulti(dst []Transfer, e *starknet.Event) ([]Transfer, Layout) {
	var parties, body []felt.Felt
	switch {
	case len(e.Keys) == 1 && len(e.Data) > 3:
		parties, body = e.Data[:3], e.Data[3:]
	case len(e.Keys) == 4:
		parties, body = e.Keys[1:], e.Data
	default:
		return dst, Malformed
	}
	t := Transfer{Token: e.From, From: parties[1], To: parties[2], Standard: ERC1155, HasID: true}
	layout, ids, values := Single, body, []felt.Felt(nil)
	if e.Keys[0] == SelectorBatch {
		var ok, also bool
		ids, body, ok = numbers(body)
		values, body, also = numbers(body)
		if !ok || !also || len(body) > 0 || len(ids) != len(values) {
			return dst, Malformed
		}
		layout = Batch
	} else {
		if len(body) != 4 {
			return dst, Malformed
		}
		ids, values = body[:2], body[2:]
	}
	start := len(dst)
	for i := 0; i < len(ids); i += 2 {
		var errID, errValue error
		t.ID, errID = felt.U256(ids[i], ids[i+1])
		t.Value, errValue = felt.U256(values[i], values[i+1])
		if errID != nil || errValue != nil {
			return dst[:start], Malformed
		}
		dst = append(dst, t)
	}
	return dst, layout
}

// numbers cuts a list of 256-bit numbers, two felts each behind their count, from
// the front of fs.
func numbers(fs []felt.Felt) (list, rest []felt.Felt, ok bool) {
	if len(fs) == 0 {
		return nil, nil, false
	}
	n, ok := fs[0].Uint64()
	if !ok || n > uint64(len(fs)-1)/2 {
		return nil, nil, false
	}
	return fs[1 : 1+2*n], fs[1+2*n:], true
}

// Numbered is a transfer and its place in its transaction.
type Numbered struct {
	Log, Index uint32
	Transfer
}

// Of lists the transfers of a transaction's events, in order.
func Of(events []starknet.Event) []Numbered { return AppendOf(nil, events) }

// AppendOf is Of behind out.
func AppendOf(out []Numbered, events []starknet.Event) []Numbered {
	some := 0
	for i := range events {
		if isTransfer(&events[i]) {
			some++
		}
	}
	if some == 0 {
		return out
	}
	out = slices.Grow(out, some) // a batch has more, and what is malformed has none
	var few [1]Transfer
	list := few[:0]
	for i := range events {
		if !isTransfer(&events[i]) {
			continue
		}
		list, _ = Append(list[:0], &events[i])
		for j := range list {
			out = append(out, Numbered{uint32(i), uint32(j), list[j]})
		}
	}
	return out
}

// isTransfer says whether an event has the selector of a transfer.
func isTransfer(e *starknet.Event) bool {
	return len(e.Keys) > 0 && (e.Keys[0].Is(&SelectorTransfer) || e.Keys[0].Is(&SelectorSingle) || e.Keys[0].Is(&SelectorBatch))
}
