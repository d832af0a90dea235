package live

import (
	"slices"
	"strconv"
	"strings"

	"chainexplorer/internal/arrange"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// kind is what a subscription is about.
type kind uint8

const (
	newHeads kind = iota
	events
	newTransactions
	newReceipts
	pendingTransactions
	transactionStatus
)

// want is what a subscription asks for of every block. It does not change.
type want struct {
	kind kind
	// addresses are the emitters or senders; any when empty.
	addresses []felt.Felt
	keys      [][]felt.Felt // of events, by position
	facts     bool          // with proof facts
	details   bool          // whole transactions instead of hashes
	accepted  bool          // what is in blocks
	early     bool          // what is pre-confirmed, or pending in 0.8
	tx        felt.Felt     // whose status

	key string // equal for those that want the same
}

// method is the one that such a subscription is made by.
func (w *want) method() string {
	return [...]string{
		newHeads: "starknet_subscribeNewHeads", events: "starknet_subscribeEvents", newTransactions: "starknet_subscribeNewTransactions",
		newReceipts: "starknet_subscribeNewTransactionReceipts", pendingTransactions: "starknet_subscribePendingTransactions",
		transactionStatus: "starknet_subscribeTransactionStatus",
	}[w.kind]
}

// detail is what has to be known of a block.
func (w *want) detail() detail {
	switch {
	case w.kind == newHeads:
		return headerOnly
	case w.facts:
		return withProofFacts
	}
	return withReceipts
}

// seal sorts what has no order and names the want, so that subscribers who ask for the
// same share the work.
func (w *want) seal() *want {
	arrange.By(w.addresses, felt.Felt.Cmp)
	w.addresses = slices.Compact(w.addresses)
	var b strings.Builder
	b.WriteByte('0' + byte(w.kind))
	for _, flag := range []bool{w.facts, w.details} {
		b.WriteString(strconv.FormatBool(flag))
	}
	for i := range w.addresses {
		b.Write(w.addresses[i][:])
	}
	for _, position := range w.keys {
		b.WriteByte('|')
		b.WriteString(strconv.Itoa(len(position)))
		b.WriteByte(':')
		for i := range position {
			b.Write(position[i][:])
		}
	}
	w.key = b.String()
	return w
}

// pick gives the results that a want has in a block, in order. They are shared by all
// who want the same, and must not be changed.
func (b *block) pick(w *want) [][]byte {
	if w.kind == newHeads {
		return [][]byte{b.header}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if out, ok := b.picked[w.key]; ok {
		return out
	}
	var out [][]byte
	switch w.kind {
	case events:
		out = b.pickEvents(w)
	default:
		for i := range b.txs {
			if tx := &b.txs[i]; w.hasSender(tx) {
				out = append(out, b.ofTransaction(tx, w))
			}
		}
	}
	if b.picked == nil {
		b.picked = map[string][][]byte{}
	}
	// A want by many addresses is long, and a crowd of different ones shares nothing.
	if len(b.picked) < maxPicked {
		b.picked[w.key] = out
	}
	return out
}

// maxPicked is how many different wants are remembered of a block.
const maxPicked = 256

func (w *want) hasSender(tx *transaction) bool {
	if len(w.addresses) == 0 {
		return true
	}
	_, ok := slices.BinarySearchFunc(w.addresses, tx.sender, felt.Felt.Cmp)
	return ok && tx.sent
}

func (b *block) pickEvents(w *want) [][]byte {
	var out [][]byte
	take := func(p eventPlace) {
		tx := &b.txs[p.tx]
		if e := &tx.events[p.event]; w.hasKeys(e.keys) {
			out = append(out, b.ofEvent(tx, p.event, e))
		}
	}
	if len(w.addresses) == 0 {
		for i := range b.txs {
			for j := range b.txs[i].events {
				take(eventPlace{i, j})
			}
		}
		return out
	}
	if b.byFrom == nil {
		b.byFrom = map[felt.Felt][]eventPlace{}
		for i := range b.txs {
			for j := range b.txs[i].events {
				from := b.txs[i].events[j].from
				b.byFrom[from] = append(b.byFrom[from], eventPlace{i, j})
			}
		}
	}
	var places []eventPlace
	for _, a := range w.addresses {
		places = append(places, b.byFrom[a]...)
	}
	arrange.By(places, func(a, b eventPlace) int {
		if a.tx != b.tx {
			return a.tx - b.tx
		}
		return a.event - b.event
	})
	for _, p := range places {
		take(p)
	}
	return out
}

// hasKeys is the rule of getEvents: every position that names values has one of them.
func (w *want) hasKeys(keys []felt.Felt) bool {
	for i, allowed := range w.keys {
		if len(allowed) > 0 && (i >= len(keys) || !slices.Contains(allowed, keys[i])) {
			return false
		}
	}
	return true
}

// ofEvent is an event with its place.
func (b *block) ofEvent(tx *transaction, index int, e *event) []byte {
	if e.result != nil {
		return e.result
	}
	out := open(e.text, 320)
	out = b.place(out)
	out = append(tx.hash.AppendHex(append(out, `,"transaction_hash":"`...)), '"')
	if b.version >= starknet.V010 {
		out = strconv.AppendInt(append(out, `,"transaction_index":`...), int64(tx.index), 10)
		out = strconv.AppendInt(append(out, `,"event_index":`...), int64(index), 10)
	}
	if b.version >= starknet.V09 && b.status != "" {
		out = append(append(append(out, `,"finality_status":"`...), b.status...), '"')
	}
	e.result = append(out, '}')
	return e.result
}

// place adds the hash and the number of the block, as far as it has them.
func (b *block) place(out []byte) []byte {
	if b.known.hash {
		out = append(b.hash.AppendHex(append(out, `,"block_hash":"`...)), '"')
	}
	if b.known.number {
		out = strconv.AppendUint(append(out, `,"block_number":`...), b.number, 10)
	}
	return out
}

// ofTransaction is what a want has of a transaction.
func (b *block) ofTransaction(tx *transaction, w *want) []byte {
	switch {
	case w.kind == newReceipts:
		if tx.info == nil {
			tx.info = append(b.place(open(tx.receipt, 128)), '}')
		}
		return tx.info
	case w.kind == pendingTransactions && !w.details:
		return append(tx.hash.AppendHex([]byte{'"'}), '"')
	case w.facts:
		if tx.whole == nil {
			tx.whole = b.told(tx, tx.text, w)
		}
		return tx.whole
	}
	if tx.bare == nil {
		tx.bare = b.told(tx, withoutFacts(tx.text), w)
	}
	return tx.bare
}

// told is a transaction with its hash and, since 0.9, its finality. That of a block
// is told as accepted on L2, the only word that this notification has for it.
func (b *block) told(tx *transaction, text []byte, w *want) []byte {
	out := open(text, 160)
	if !hasMember(text, "transaction_hash") {
		out = append(tx.hash.AppendHex(append(out, `,"transaction_hash":"`...)), '"')
	}
	if w.kind == newTransactions {
		finality := "ACCEPTED_ON_L2"
		if !b.known.hash {
			finality = preConfirmed
		}
		out = append(append(append(out, `,"finality_status":"`...), finality...), '"')
	}
	return append(out, '}')
}

// open copies an object without its closing brace, with room for more members. The
// objects of blocks are never empty.
func open(object []byte, room int) []byte {
	return append(make([]byte, 0, len(object)+room), object[:len(object)-1]...)
}

func hasMember(object []byte, name string) bool {
	s := jsonscan.New(object)
	for more := s.OpenObject(); more; more = s.NextMember() {
		if string(s.Key()) == name {
			return true
		}
		s.Skip()
	}
	return false
}

// withoutFacts leaves proof facts out, which come only to who asks for them.
func withoutFacts(object []byte) []byte {
	if !hasMember(object, "proof_facts") {
		return object
	}
	out := append(make([]byte, 0, len(object)), '{')
	s := jsonscan.New(object)
	for more := s.OpenObject(); more; more = s.NextMember() {
		name := string(s.Key())
		value := s.Raw()
		if name == "proof_facts" || !plain(name) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(append(out, '"'), name...), '"', ':'), value...)
	}
	return append(out, '}')
}
