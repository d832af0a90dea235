package pages

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"math/big"
	"net/url"
	"strconv"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/chart"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/site"
	"chainexplorer/internal/web"
)

const (
	// homeFor is how long the first page stays as it is: however many look at it, the
	// indexes are asked once.
	homeFor = time.Second
	// ribbonBlocks are drawn as boxes, and chartBlocks as lines.
	ribbonBlocks, chartBlocks = 12, 60
	// newestTxs is how many transactions an overview tells of.
	newestTxs = 8
)

// overview is a chain at a glance. While nothing can be told of it there is no look, and
// Note says why.
type overview struct {
	L           *look
	ID, Anchor  string
	State, Tone string
	Note        string
	S           *api.Status
	// Of is what the numbers below are of: so many blocks.
	Of           uint64
	Ribbon       template.HTML
	Busy, Price  *measure
	Settledness  template.HTML
	Transactions []deed
	Fork         template.HTML
}

// measure is a number with how it came to be.
type measure struct {
	// Value is exact, and Shown in short.
	Value, Shown, Unit string
	Line, Numbers      template.HTML
}

// deed is a transaction in words.
type deed struct {
	Hash          felt.Felt
	Words, Status template.HTML
	At, Kind      string
	Block         uint64
}

// homePage is the first page: every chain at a glance.
func homePage(l *look) (*sheet, error) {
	var chains []*overview
	for i, id := range l.p.Chains {
		o, err := l.overview(id)
		if err != nil {
			return nil, err
		}
		o.Anchor = fmt.Sprintf("chain-%d", i+1)
		chains = append(chains, o)
	}
	return &sheet{
		title:       "Starknet, indexed exactly",
		description: "Blocks, transactions, events, tokens and addresses of Starknet, indexed exactly, to look at and over a REST API.",
		name:        "home.html", home: true, plain: true,
		data: map[string]any{"Chains": chains, "Calls": l.p.firstCalls()},
	}, nil
}

// overviewPage is one chain at a glance.
func overviewPage(l *look) (*sheet, error) {
	o, err := l.glance()
	if err != nil {
		return nil, err
	}
	o.Anchor = "chain-1"
	return &sheet{
		title:       "Overview",
		description: fmt.Sprintf("%s now: the newest blocks and transactions, throughput, gas price, and how settled the blocks are.", l.Chain),
		name:        "overview.html", data: o, renews: true,
	}, nil
}

// overview looks at a chain from the first page. A chain that cannot be looked at does not
// hide the others.
func (l *look) overview(id string) (o *overview, err error) {
	err = l.on(id, func(l *look) (err error) {
		o, err = l.glance()
		return err
	})
	if err == nil {
		return o, nil
	}
	if l.ctx.Err() != nil {
		return nil, err
	}
	o = &overview{ID: id, State: "unavailable", Tone: "bad", Note: "The index cannot be read right now."}
	state, err := stateOf(l.ctx, l.p.routes.Chains[id].Store)
	layout := new(chain.LayoutError)
	switch {
	case errors.As(err, &layout):
		o.Note = "The index was written by another version of the service."
	case err != nil:
		l.p.Log.Warn("overview not read", "chain", id, "err", err)
	case !state.HasHead:
		o.State, o.Tone, o.Note = "being built", "warn", "The index is being built and has no block yet. Reload this page in a moment."
	}
	return o, nil
}

func stateOf(ctx context.Context, x explorer.Index) (s chain.State, err error) {
	err = chain.View(ctx, x, func(_ explorer.Reader, state *chain.State) error {
		s = *state
		return nil
	})
	return s, err
}

// glance reads what an overview tells. Rows read: the status, chartBlocks blocks, and
// newestTxs transactions.
func (l *look) glance() (*overview, error) {
	status, err := ask[api.Status](l, "getStatus", nil)
	if err != nil {
		return nil, err
	}
	o := &overview{L: l, ID: l.Chain, S: status, Note: moodOf(status)}
	o.State, o.Tone = stateWord(status)
	l.shows("listBlocks", url.Values{"limit": {strconv.Itoa(chartBlocks)}})
	blocks, err := block.List(l.ctx, l.reader, l.state.Head.Number, chartBlocks)
	if err != nil {
		return nil, err
	}
	o.Of = uint64(len(blocks))
	if o.Ribbon, err = l.ribbon(blocks[:min(len(blocks), ribbonBlocks)]); err != nil {
		return nil, err
	}
	if o.Busy, err = l.busy(blocks); err != nil {
		return nil, err
	}
	if o.Price, err = l.price(blocks); err != nil {
		return nil, err
	}
	if o.Settledness, err = l.settledness(status); err != nil {
		return nil, err
	}
	o.Fork = l.lastFork(status.LastFork)
	o.Transactions, err = l.newest()
	return o, err
}

// stateWord is the state of an index in a word, and its tone.
func stateWord(s *api.Status) (word, tone string) {
	switch s.Indexing.Status {
	case "current":
		return "current", "good"
	case "degraded":
		return "degraded", "bad"
	case "catching_up":
		return "catching up", "warn"
	case "starting":
		return "being built", "warn"
	}
	return s.Indexing.Status, "warn"
}

// newest are the newest transactions in words.
func (l *look) newest() (out []deed, err error) {
	list, err := ask[api.TxPage](l, "listTransactions", url.Values{"limit": {strconv.Itoa(newestTxs)}})
	if err != nil {
		return nil, err
	}
	return l.deeds(list.Items)
}

// deeds puts transactions of a list into words.
func (l *look) deeds(items []api.TxItem) (out []deed, err error) {
	hashes := make([]felt.Felt, len(items))
	for i, t := range items {
		hashes[i] = t.TxHash
	}
	words, err := l.tell(hashes)
	if err != nil {
		return nil, err
	}
	for _, t := range items {
		d := deed{Hash: t.TxHash, At: t.TimestampISO, Block: t.BlockNumber, Kind: txType(t.TxType), Status: l.Unknown("")}
		if s, ok := deref(t.ExecutionStatus).(string); ok {
			d.Status = statusWord(s)
		}
		if told := words[t.TxHash]; told != nil {
			d.Words = told.Words
		}
		out = append(out, d)
	}
	return out, nil
}

// ribbon draws blocks as boxes, each as full as it has transactions beside the fullest.
func (l *look) ribbon(blocks []*block.Summary) (template.HTML, error) {
	most := uint64(1)
	for _, b := range blocks {
		most = max(most, b.Transactions)
	}
	r := chart.Ribbon{Title: "Newest blocks. A box is as full as its block has transactions, compared with the fullest of these; the marks below are accepted on L2, finalized, accepted on L1."}
	for _, b := range blocks {
		tier := l.state.Finality(b.Number, l.served.Depth)
		full := float64(b.Transactions) / float64(most)
		r.Boxes = append(r.Boxes, chart.Box{
			Key: strconv.FormatUint(b.Number, 10), Href: l.Href("block", b.Number), Name: web.Group(b.Number), Note: strconv.FormatUint(b.Transactions, 10) + " tx",
			Text: fmt.Sprintf("Block %s, %s, %s", web.Group(b.Number), plural(b.Transactions, "transaction"), tierWords[tier]), Full: &full, Marks: int(tier),
		})
	}
	return r.HTML()
}

var tierWords = map[chain.Finality]string{chain.AcceptedL2: "accepted on L2", chain.Finalized: "finalized", chain.AcceptedL1: "accepted on L1"}

// line draws a value of each block, oldest first.
func line(title, unit string, blocks []*block.Summary, value func(*block.Summary) string) (line, numbers template.HTML, err error) {
	s := chart.Spark{Title: title, Unit: unit, Axis: "Block"}
	for i := len(blocks) - 1; i >= 0; i-- {
		b := blocks[i]
		s.Points = append(s.Points, chart.Point{At: float64(b.Number), Label: web.Group(b.Number), Value: value(b)})
	}
	if line, err = s.HTML(); err != nil {
		return "", "", err
	}
	table, err := s.Table()
	if err != nil {
		return "", "", err
	}
	numbers, err = table.HTML()
	return line, numbers, err
}

// busy is how many transactions the newest blocks have a second. The oldest block only says
// where the time begins.
func (l *look) busy(blocks []*block.Summary) (m *measure, err error) {
	m = &measure{Unit: "transactions per second"}
	m.Line, m.Numbers, err = line("Transactions of each block", "transactions", blocks, func(b *block.Summary) string { return strconv.FormatUint(b.Transactions, 10) })
	newest, oldest := blocks[0], blocks[len(blocks)-1]
	if newest.Timestamp > oldest.Timestamp {
		n := newest.TotalTransactions - oldest.TotalTransactions
		rate := float64(n) / float64(newest.Timestamp-oldest.Timestamp)
		m.Value, m.Shown = strconv.FormatFloat(rate, 'f', -1, 64), strconv.FormatFloat(rate, 'f', 2, 64)
	}
	return m, err
}

// price is that of L2 gas in the newest block, in FRI. Blocks of before there was one have
// none.
func (l *look) price(blocks []*block.Summary) (m *measure, err error) {
	of := func(b *block.Summary) string {
		if b.L2GasPrice.InFri.IsZero() {
			return ""
		}
		return new(big.Int).SetBytes(b.L2GasPrice.InFri[:]).String()
	}
	m = &measure{Unit: "FRI for a unit of L2 gas", Value: of(blocks[0])}
	m.Shown = metric(m.Value)
	m.Line, m.Numbers, err = line("Price of L2 gas in each block", "FRI", blocks, of)
	return m, err
}

// metric writes a whole number in little room.
func metric(digits string) string {
	for _, s := range []struct {
		zeros int
		name  string
	}{{18, "E"}, {15, "P"}, {12, "T"}, {9, "G"}, {6, "M"}} {
		if n := len(digits) - s.zeros; n > 0 {
			return grouped(digits[:n]) + "." + digits[n:n+2] + " " + s.name
		}
	}
	return grouped(digits)
}

// settledness draws how far each tier has come.
func (l *look) settledness(s *api.Status) (template.HTML, error) {
	mark := func(name string, n *uint64, why string) chart.Mark {
		if n == nil {
			return chart.Mark{Name: name, State: chart.Waiting, Note: why}
		}
		return chart.Mark{Name: name, State: chart.Reached, Note: "up to " + web.Group(*n), Href: l.Href("block", *n)}
	}
	l1 := mark("Accepted on L1", s.LatestL1AcceptedBlockNumber, "no block yet, as far as a node told")
	if s.LatestL1AcceptedBlockNumber == nil {
		l1.State = chart.Unknown
	}
	finalized := s.FinalizedBlockNumber
	if n, ok := l.finalizedUpTo(); ok {
		finalized = &n
	}
	return chart.Finality{Title: "How far the chain is settled", Marks: []chart.Mark{
		mark("Accepted on L2", s.LatestIndexedBlockNumber, ""),
		mark("Finalized", finalized, "no block yet"), l1,
	}}.HTML()
}

// lastFork tells of the last fork in a sentence.
func (l *look) lastFork(f *api.LastFork) template.HTML {
	if f == nil {
		return "none since this index was begun"
	}
	text := template.HTML("above block ") + l.Block(f.AncestorBlock) + template.HTML(fmt.Sprintf(", %s deep; %s in all", plural(f.DepthBlocks, "block"), web.Group(f.Count))) //nolint:gosec // digits
	if f.BelowL1 {
		text += ". It undid blocks that had been reported as accepted on L1"
	}
	return text
}

// call is a first request to try.
type call struct{ Purpose, Curl string }

func (p *Pages) firstCalls() (calls []call) {
	for _, c := range [][2]string{{"How far is the index?", "/status"}, {"The newest block, with its first transactions:", "/block/latest?tx_limit=3"}, {"The newest transactions:", "/txs?limit=5"}} {
		calls = append(calls, call{c[0], site.Example(p.Origin, p.Chains[0], c[1])})
	}
	return calls
}
