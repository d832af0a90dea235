package feed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/feed"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/servertest"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/starknet"
)

func TestMain(m *testing.M) { os.Exit(servertest.Main(m.Run)) }

// item is what all rows have in common, as far as they have it.
type item struct {
	BlockNumber   uint64
	TxIndex       uint32
	LogIndex      uint32
	TransferIndex uint32
}

// samples are filters that match something, and some that match nothing.
func samples(rng *rand.Rand, c *simnode.Chain) (out []feed.Filter) {
	var events []starknet.Event
	var moves []transfer.Numbered
	var senders []felt.Felt
	head, _ := c.Head()
	for n := range head + 1 {
		b := c.BlockAt(n)
		for i := range b.Receipts {
			events = append(events, b.Receipts[i].Events...)
			moves = append(moves, transfer.Of(b.Receipts[i].Events)...)
			if s := b.Transactions[i].Sender; !s.IsZero() {
				senders = append(senders, s)
			}
		}
	}
	event := func() *starknet.Event {
		for {
			if e := &events[rng.IntN(len(events))]; len(e.Keys) > 1 {
				return e
			}
		}
	}
	move := func() transfer.Numbered { return moves[rng.IntN(len(moves))] }
	never := felt.FromUint64(0xdead)
	add := func(kind feed.Kind, change func(f *feed.Filter)) {
		f := feed.Filter{Kind: kind}
		change(&f)
		out = append(out, f)
	}
	add(feed.Blocks, func(*feed.Filter) {})
	for range 3 {
		e, d, m, x := event(), event(), move(), move()
		add(feed.Events, func(f *feed.Filter) { f.Address = []felt.Felt{e.From} })
		add(feed.Events, func(f *feed.Filter) { f.Topics[0] = []felt.Felt{e.Keys[0], d.Keys[0]} })
		add(feed.Events, func(f *feed.Filter) {
			f.Address, f.Topics[0] = []felt.Felt{e.From, d.From, never}, []felt.Felt{e.Keys[0]}
		})
		add(feed.Events, func(f *feed.Filter) { f.Topics[0], f.Topics[1] = []felt.Felt{e.Keys[0]}, []felt.Felt{e.Keys[1], never} })
		add(feed.Transfers, func(f *feed.Filter) { f.Token = []felt.Felt{m.Token} })
		add(feed.Transfers, func(f *feed.Filter) { f.From = []felt.Felt{m.From} })
		add(feed.Transfers, func(f *feed.Filter) { f.To, f.Token = []felt.Felt{m.To, x.To}, []felt.Felt{m.Token, x.Token} })
		add(feed.Transfers, func(f *feed.Filter) { f.Address = []felt.Felt{m.From, x.To} })
		add(feed.Transactions, func(f *feed.Filter) { f.Address = []felt.Felt{senders[rng.IntN(len(senders))]} })
		add(feed.Transactions, func(f *feed.Filter) { f.Address = []felt.Felt{m.Token} })
	}
	add(feed.Transfers, func(*feed.Filter) {})
	add(feed.Events, func(f *feed.Filter) { f.Address = []felt.Felt{never} })
	add(feed.Transactions, func(f *feed.Filter) { f.Address = []felt.Felt{never} })
	add(feed.Transfers, func(f *feed.Filter) { f.Token = []felt.Felt{never} })
	for i := range out { // as a request would give it: sorted, and each once
		f, err := feed.Parse([]byte(out[i].String()))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", out[i], err))
		}
		out[i] = f
	}
	return out
}

// truth is where the chain itself has matches, without the help of an index.
func truth(c *simnode.Chain, f feed.Filter) (out []item) {
	head, _ := c.Head()
	in := func(list []felt.Felt, v felt.Felt) bool { return len(list) == 0 || slices.Contains(list, v) }
	switch f.Kind {
	case feed.Blocks:
		for n := range head + 1 {
			out = append(out, item{BlockNumber: n})
		}
	case feed.Events:
		for _, e := range c.Events(simnode.EventFilter{To: head, Addresses: f.Address, Keys: f.Topics[:]}) {
			out = append(out, item{e.Block.Number, uint32(e.TxIndex), uint32(e.Index), 0})
		}
	case feed.Transfers:
		for n := range head + 1 {
			b := c.BlockAt(n)
			for i := range b.Receipts {
				for _, m := range transfer.Of(b.Receipts[i].Events) {
					if in(f.Token, m.Token) && in(f.From, m.From) && in(f.To, m.To) && (in(f.Address, m.From) || in(f.Address, m.To)) {
						out = append(out, item{n, uint32(i), m.Log, m.Index})
					}
				}
			}
		}
	}
	return out
}

// listed are the rows of the API's own list, oldest first.
func listed(w *servertest.World, f feed.Filter) (rows []any) {
	v := url.Values(f.Values())
	v.Del("kind")
	path, newest := "/"+string(f.Kind)+"s", true
	head, _ := w.Chain.Head()
	switch f.Kind {
	case feed.Events:
		v.Set("order", "asc")
		v.Set("from_block", "0")
		v.Set("to_block", fmt.Sprint(head))
		newest = false
	case feed.Transactions:
		path = "/address/" + f.Address[0].String() + path
		v = url.Values{"order": {"asc"}}
		newest = false
	case feed.Transfers:
		for side, list := range map[string][]felt.Felt{"out": f.From, "in": f.To} {
			for _, a := range list {
				v.Add("address", a.String())
				v.Set("direction", side)
			}
		}
		v.Del("from")
		v.Del("to")
	}
	v.Set("limit", "100")
	for {
		var page struct {
			Items      []any
			NextCursor *string
		}
		w.Get(path+"?"+v.Encode(), &page)
		rows = append(rows, page.Items...)
		if page.NextCursor == nil {
			break
		}
		v.Set("cursor", *page.NextCursor)
	}
	if newest {
		slices.Reverse(rows)
	}
	return rows
}

// teller is somebody who follows a feed.
type teller struct {
	t      *testing.T
	rng    *rand.Rand
	reader *feed.Reader
	filter feed.Filter
	at     feed.Place
	mark   feed.Mark
	told   []feed.Block
}

// follow reads until nothing is left, in steps of any size.
func (o *teller) follow() {
	o.t.Helper()
	for {
		parts, to, err := o.reader.Read(o.t.Context(), o.filter, o.at, 1+o.rng.Uint64N(30), 7+o.rng.IntN(90))
		if errors.Is(err, feed.ErrForked) {
			o.back()
			continue
		}
		if err != nil {
			o.t.Fatal(err)
		}
		for i := range parts {
			o.take(&parts[i])
		}
		o.told = append(o.told, parts...)
		if o.rng.IntN(3) == 0 && len(parts) > 0 { // it is cut off behind some part
			n := o.rng.IntN(len(parts))
			o.told, to = o.told[:len(o.told)-n], parts[len(parts)-1-n].Place
		}
		if to.Ref == o.at.Ref && to.Part == o.at.Part {
			return
		}
		o.at = to
		if o.mark, err = o.reader.Mark(o.t.Context(), to); err != nil {
			o.t.Fatal(err)
		}
	}
}

// take checks what a part says of itself.
func (o *teller) take(b *feed.Block) {
	if len(b.Items) == 0 || len(b.Items) > 7 || !b.Last && len(b.Items) != 7 {
		o.t.Errorf("part %d of block %d has %d items, last %v", b.Part, b.Number, len(b.Items), b.Last)
	}
}

// back forgets what a fork took, as far as the mark tells.
func (o *teller) back() {
	o.t.Helper()
	text, err := o.mark.MarshalText()
	if err != nil || len(text) >= feed.MaxMark {
		o.t.Fatalf("a mark of %d letters: %v", len(text), err)
	}
	var m feed.Mark
	if err := m.UnmarshalText(text); err != nil || !reflect.DeepEqual(m, o.mark) {
		o.t.Fatalf("a mark reads as %+v, was %+v: %v", m, o.mark, err)
	}
	at, err := o.reader.Ancestor(o.t.Context(), m)
	if err != nil {
		o.t.Fatal(err)
	}
	if holds, err := o.reader.Holds(o.t.Context(), at.Ref); err != nil || !holds || at.Number >= m.Number {
		o.t.Fatalf("the ancestor of %v is %v: %v, %v", m.Ref, at.Ref, holds, err)
	}
	o.at = at
	if o.mark, err = o.reader.Mark(o.t.Context(), at); err != nil {
		o.t.Fatal(err)
	}
	o.told = slices.DeleteFunc(o.told, func(b feed.Block) bool { return b.Number > at.Number })
}

// TestReadIsTheListsOfTheAPI follows random filters through forks, cut off anywhere, and
// compares what was told with the chain and with the API's lists.
func TestReadIsTheListsOfTheAPI(t *testing.T) {
	w := servertest.New(t, 50)
	rng := rand.New(rand.NewPCG(11, 7))
	reader := w.Routes.Feed(servertest.ChainID)
	reader.PartItems = 7 // ordinary blocks have several
	var all []*teller
	for _, f := range samples(rng, w.Chain) {
		all = append(all, &teller{t: t, rng: rng, reader: reader, filter: f})
	}
	for round := range 4 {
		for _, o := range all {
			o.follow()
		}
		switch round {
		case 0:
			w.Chain.Extend(5)
		case 1:
			w.Chain.Fork(9)
			w.Chain.Extend(1)
		case 2:
			w.Chain.Truncate(3)
			w.Chain.Extend(6)
		}
		w.CatchUp()
	}
	many := 0
	for _, o := range all {
		o.follow()
		var places []item
		var rows []any
		next := uint32(1)
		for i := range o.told {
			b := &o.told[i]
			if b.Part > 1 {
				many++
			}
			if b.Part != next {
				t.Errorf("%s: part %d of block %d where %d is due", o.filter, b.Part, b.Number, next)
			}
			if next = b.Part + 1; b.Last {
				next = 1
			}
			if at := w.Chain.BlockAt(b.Number); at == nil || at.Hash != b.Hash || at.Timestamp != b.Timestamp {
				t.Errorf("%s: block %d is told as %s", o.filter, b.Number, b.Hash)
			}
			for _, raw := range b.Items {
				var at item
				var row any
				if err := errors.Join(json.Unmarshal(raw, &at), json.Unmarshal(raw, &row)); err != nil {
					t.Fatal(err)
				}
				places, rows = append(places, at), append(rows, row)
			}
		}
		if want := truth(w.Chain, o.filter); o.filter.Kind != feed.Transactions && !slices.Equal(places, want) {
			t.Errorf("%s: the chain has %d matches, %d were told", o.filter, len(want), len(places))
		}
		// What a row says of the tier of its block held when it was read.
		want := listed(w, o.filter)
		settle(rows)
		settle(want)
		if len(rows)+len(want) > 0 && !reflect.DeepEqual(rows, want) {
			t.Errorf("%s: %d rows were told that are not the %d of the list", o.filter, len(rows), len(want))
		}
	}
	if many == 0 {
		t.Error("no block had two parts")
	}
}

// settle leaves out what moves with the head.
func settle(rows []any) {
	for _, row := range rows {
		for _, name := range []string{"sourceTier", "sourceTierBasis", "finalityStatus"} {
			delete(row.(map[string]any), name)
		}
	}
}

// TestFinalityAndForks follows what is told once for however often it happened.
func TestFinalityAndForks(t *testing.T) {
	w := servertest.New(t, 50)
	reader := w.Routes.Feed(servertest.ChainID)
	read := func(kind feed.Kind, at feed.Place) (string, feed.Place) {
		t.Helper()
		parts, to, err := reader.Read(t.Context(), feed.Filter{Kind: kind}, at, 1, 1)
		if err != nil || len(parts) > 1 {
			t.Fatalf("%d parts, %v", len(parts), err)
		}
		if len(parts) == 0 {
			return "", to
		}
		return string(parts[0].Items[0]), to
	}
	at, err := reader.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []feed.Kind{feed.Finality, feed.Forks} {
		if got, _ := read(kind, at); got != "" {
			t.Errorf("%s tells %s where nothing has moved", kind, got)
		}
	}
	w.Chain.Extend(3)
	w.CatchUp()
	l1, _ := w.Chain.L1Head()
	want := fmt.Sprintf(`{"finalized":{"blockNumber":42,"blockHash":"%s"`, w.Chain.BlockAt(42).Hash)
	also := fmt.Sprintf(`"l1Accepted":{"blockNumber":%d,"blockHash":"%s"`, l1, w.Chain.BlockAt(l1).Hash)
	got, to := read(feed.Finality, at)
	if !strings.HasPrefix(got, want) || !strings.Contains(got, also) {
		t.Errorf("%s, want %s and %s", got, want, also)
	}
	if got, _ := read(feed.Finality, to); got != "" {
		t.Errorf("it is told again: %s", got)
	}
	w.Chain.Fork(4)
	w.Chain.Extend(1)
	w.CatchUp()
	got, to = read(feed.Forks, at) // at a block that is gone
	if got != `{"count":1,"ancestorBlock":48,"depthBlocks":4,"belowL1":false}` {
		t.Errorf("the fork is told as %s", got)
	}
	if got, _ := read(feed.Forks, to); got != "" {
		t.Errorf("it is told again: %s", got)
	}
	s, err := reader.State(t.Context())
	if head := w.Chain.BlockAt(53); err != nil || s.Forks != 1 || s.Head != (block.Ref{Number: 53, Hash: head.Hash}) || s.Finalized.Number != 43 || s.L1.Number != l1+1 {
		t.Errorf("the state is %+v: %v", s, err)
	}
	if _, err := reader.Before(t.Context(), 55); !errors.Is(err, feed.ErrAhead) {
		t.Errorf("behind the block after the head: %v", err)
	}
	if at, err := reader.Before(t.Context(), 54); err != nil || at.Ref != s.Head {
		t.Errorf("behind the head: %v, %v", at, err)
	}
}
