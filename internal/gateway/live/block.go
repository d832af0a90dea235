package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/starknet/jsonscan"
)

// detail is how much of a block was asked for.
type detail uint8

const (
	headerOnly detail = iota
	withReceipts
	withProofFacts // receipts, and transactions that tell their proof facts
)

// block is a block as a node wrote it, taken apart once for all subscriptions. What
// subscribers get is made of the node's own bytes.
type block struct {
	version starknet.SpecVersion
	detail  detail
	number  uint64
	hash    felt.Felt
	parent  felt.Felt
	status  string
	known   struct{ number, hash, parent bool }
	size    int

	header []byte // the object that a subscription to new heads is given
	txs    []transaction

	mu     sync.Mutex          // guards what follows, and what transactions and events keep of their results
	picked map[string][][]byte // by the key of what was wanted
	byFrom map[felt.Felt][]eventPlace
}

type transaction struct {
	hash    felt.Felt
	sender  felt.Felt
	sent    bool   // it has a sender
	index   int    // in its block
	text    []byte // the node's
	receipt []byte
	events  []event

	whole, bare, info []byte // results that were asked for before
}

type event struct {
	from   felt.Felt
	keys   []felt.Felt
	text   []byte
	result []byte
}

// eventPlace says where an event is in a block.
type eventPlace struct{ tx, event int }

var errNoBlock = errors.New("not a block")

// parseBlock takes apart the answer of getBlockWithTxHashes or getBlockWithReceipts.
func parseBlock(text []byte, d detail, v starknet.SpecVersion) (*block, error) {
	b := &block{version: v, detail: d, size: len(text)}
	s := jsonscan.New(text)
	b.header = append(make([]byte, 0, 1024), '{')
	for more := s.OpenObject(); more; more = s.NextMember() {
		key := string(s.Key())
		switch key {
		case "transactions":
			if d == headerOnly {
				s.Skip()
			} else {
				b.transactions(&s)
			}
			continue
		case "status":
			b.status = string(s.String())
			continue // heads have none
		}
		value := s.Raw()
		if s.Err() != nil {
			break
		}
		if err := b.member(key, value); err != nil {
			return nil, err
		}
		if !plain(key) {
			continue // no version has such a member
		}
		if len(b.header) > 1 {
			b.header = append(b.header, ',')
		}
		b.header = append(strconv.AppendQuote(b.header, key), ':')
		b.header = append(b.header, value...)
	}
	s.End()
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoBlock, err)
	}
	b.header = append(b.header, '}')
	return b, nil
}

// confirmed checks that the block is the one of a number, in the chain.
func (b *block) confirmed(number uint64) error {
	switch {
	case !b.known.number || !b.known.hash || !b.known.parent:
		return fmt.Errorf("%w: no number, hash or parent", errNoBlock)
	case b.number != number:
		return fmt.Errorf("%w: %d instead of %d", errNoBlock, b.number, number)
	case number == 0 && !b.parent.IsZero():
		return fmt.Errorf("%w: the first has a parent", errNoBlock)
	}
	return nil
}

func (b *block) member(key string, value []byte) (err error) {
	switch key {
	case "block_number":
		b.number, err = strconv.ParseUint(string(value), 10, 64)
		b.known.number = true
	case "block_hash":
		err = json.Unmarshal(value, &b.hash)
		b.known.hash = true
	case "parent_hash":
		err = json.Unmarshal(value, &b.parent)
		b.known.parent = true
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errNoBlock, key, err)
	}
	return nil
}

func (b *block) transactions(s *jsonscan.Scanner) {
	b.txs = nil
	for more := s.OpenArray(); more; more = s.NextElement() {
		tx := transaction{index: len(b.txs)}
		for more := s.OpenObject(); more; more = s.NextMember() {
			switch string(s.Key()) {
			case "transaction":
				tx.text = s.Raw()
			case "receipt":
				tx.receipt = s.Raw()
			default:
				s.Skip()
			}
		}
		if s.Err() == nil {
			failed(s, tx.read())
		}
		b.txs = append(b.txs, tx)
	}
}

// read takes what filters look at out of the texts.
func (t *transaction) read() error {
	if len(t.text) == 0 || len(t.receipt) == 0 || t.text[0] != '{' || t.receipt[0] != '{' {
		return fmt.Errorf("%w: transaction %d is none", errNoBlock, t.index)
	}
	s := jsonscan.New(t.text)
	members := 0
	for more := s.OpenObject(); more; more = s.NextMember() {
		members++
		if string(s.Key()) == "sender_address" {
			t.sent = true
			readFelt(&s, &t.sender)
		} else {
			s.Skip()
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	s = jsonscan.New(t.receipt)
	hashed := false
	for more := s.OpenObject(); more; more = s.NextMember() {
		switch string(s.Key()) {
		case "transaction_hash":
			hashed = true
			readFelt(&s, &t.hash)
		case "events":
			t.readEvents(&s)
		default:
			s.Skip()
		}
	}
	if err := s.Err(); err != nil {
		return err
	}
	if !hashed || members == 0 {
		return fmt.Errorf("%w: transaction %d has no members or no hash", errNoBlock, t.index)
	}
	return nil
}

func (t *transaction) readEvents(s *jsonscan.Scanner) {
	t.events = nil
	for more := s.OpenArray(); more; more = s.NextElement() {
		e := event{text: s.Raw()}
		if s.Err() != nil {
			return
		}
		in := jsonscan.New(e.text)
		emitted := false
		for more := in.OpenObject(); more; more = in.NextMember() {
			switch string(in.Key()) {
			case "from_address":
				emitted = true
				readFelt(&in, &e.from)
			case "keys":
				for more := in.OpenArray(); more; more = in.NextElement() {
					var key felt.Felt
					readFelt(&in, &key)
					e.keys = append(e.keys, key)
				}
			default:
				in.Skip()
			}
		}
		if !emitted {
			failed(&in, fmt.Errorf("%w: an event has no emitter", errNoBlock))
		}
		failed(s, in.Err())
		t.events = append(t.events, e)
	}
}

func readFelt(s *jsonscan.Scanner, f *felt.Felt) {
	text := s.String()
	if s.Err() == nil {
		failed(s, felt.ParseInto(f, text))
	}
}

// failed makes an error the scanner's, if it is one.
func failed(s *jsonscan.Scanner, err error) {
	if err != nil {
		s.Fail(err)
	}
}

// plain says that a name needs no escape where it is written again.
func plain(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
