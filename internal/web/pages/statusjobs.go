package pages

import (
	"errors"
	"html/template"
	"strconv"
	"time"

	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/pools"
	"chainexplorer/internal/explorer/privacypool/ledger"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/site"
	"chainexplorer/internal/web"
)

// Work is how a job of a chain fares in this process.
type Work struct {
	Name         string
	Held         bool      // this process does it
	Done, Failed time.Time // the last time that it did all there was, and that it failed; zero: never
	Failures     uint64
}

// jobRow is a job as people see it.
type jobRow struct {
	Name, What string
	Reached    template.HTML // how far it has come
	Behind     template.HTML
	Last       template.HTML
	Failures   template.HTML
}

// jobWords say what jobs do.
var jobWords = map[string]string{
	"token-metadata": "reads names and supplies of tokens", "pools": "finds the pools of exchanges", "privacy-pool": "counts the privacy pool",
	"holder-census": "counts the holders of known tokens", "audit": "computes old blocks anew", "verification": "builds sources",
	"webhook": "sends webhooks",
}

// jobRows tell how far jobs have come by the rows that they write, which every process
// sees, and of those that this process does how they fare. Rows read: one for each job, and
// the newest census of each known token.
func (l *look) jobRows() ([]jobRow, error) {
	elsewhere := template.HTML(`<span class="soft">not by this process</span>`)
	var rows []jobRow
	add := func(name string, through uint64, some bool, due uint64) {
		row := jobRow{Name: name, What: jobWords[name], Reached: l.Unknown("It has not begun."), Behind: l.Unknown(""), Last: elsewhere, Failures: l.Unknown("")}
		if some {
			row.Reached, row.Behind = "block "+l.Block(through), l.Count(due-min(due, through))
		}
		rows = append(rows, row)
	}
	head := l.state.Head.Number
	finalized, _ := l.state.FinalizedBlock(l.served.Depth)
	p, err := token.ProgressNow(l.ctx, l.reader)
	if err != nil {
		return nil, err
	}
	add("token-metadata", min(p.Next.Block, head), p != (token.Progress{}), head)
	found, err := pools.ReadState(l.ctx, l.reader)
	if err != nil {
		return nil, err
	}
	add("pools", found.Through, found.Some && !found.Wiping, finalized)
	if len(l.served.Registry.PrivacyPools()) > 0 {
		counted, err := ledger.ReadState(l.ctx, l.reader)
		if err != nil {
			return nil, err
		}
		if g := counted.Serving; g != nil {
			add("privacy-pool", g.Through, g.Some, finalized)
		} else {
			add("privacy-pool", 0, false, 0)
		}
	}
	if err := l.censusRow(add, &rows); err != nil {
		return nil, err
	}
	l.work(&rows)
	return rows, nil
}

// censusRow tells of the oldest census that is served, and how many there are.
func (l *look) censusRow(add func(string, uint64, bool, uint64), rows *[]jobRow) error {
	known := l.served.Registry.Tokens()
	var oldest uint64
	n := 0
	for _, t := range known {
		g, err := census.Newest(l.ctx, l.reader, t.Address)
		if errors.Is(err, census.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if n++; n == 1 || g.AsOf < oldest {
			oldest = g.AsOf
		}
	}
	finalized, _ := l.state.FinalizedBlock(l.served.Depth)
	add("holder-census", oldest, n > 0, finalized)
	row := &(*rows)[len(*rows)-1]
	row.What += ": " + strconv.Itoa(n) + " of " + plural(len(known), "token")
	if n > 0 {
		row.Reached = "the oldest is of " + row.Reached
	}
	return nil
}

// work adds what this process knows of the jobs that it does.
func (l *look) work(rows *[]jobRow) {
	if l.p.Jobs == nil {
		return
	}
	for _, w := range l.p.Jobs(l.Chain) {
		if !w.Held && w.Done.IsZero() && w.Failures == 0 {
			continue // it stands by
		}
		at := -1
		for i := range *rows {
			if (*rows)[i].Name == w.Name {
				at = i
			}
		}
		if at < 0 {
			nothing := template.HTML(`<span class="soft">–</span>`)
			*rows = append(*rows, jobRow{Name: w.Name, What: jobWords[w.Name], Reached: nothing, Behind: nothing})
			at = len(*rows) - 1
		}
		row := &(*rows)[at]
		row.Last = `<span class="soft">not yet</span>`
		if !w.Done.IsZero() {
			row.Last = l.Time(w.Done.UTC().Format(time.RFC3339))
		}
		if row.Failures = l.Count(w.Failures); !w.Failed.IsZero() {
			row.Failures += ", the last " + l.Time(w.Failed.UTC().Format(time.RFC3339))
		}
	}
}

// timingRow is how long a kind of requests took.
type timingRow struct {
	Kind     string
	Requests template.HTML
	Failed   template.HTML
	P50, P99 template.HTML
}

// timingRows are those of this process.
func (l *look) timingRows() (rows []timingRow) {
	within := func(d *time.Duration) template.HTML {
		if d == nil {
			return `<span class="soft">too few to tell</span>`
		}
		text := strconv.FormatFloat(float64(d.Microseconds())/1000, 'g', 3, 64)
		return template.HTML(`<span class="number" data-value="` + strconv.FormatInt(d.Microseconds(), 10) + `">` + text + ` ms</span>`) //nolint:gosec // digits
	}
	for _, t := range l.p.Timings() {
		rows = append(rows, timingRow{t.Kind, l.Count(t.Requests), l.Count(t.Failed), within(t.P50), within(t.P99)})
	}
	return rows
}

// proven is what the service can show for itself.
type proven struct {
	Operations, Compared int // of the API, and those whose answers were compared
	Checks               int // answers in the last recorded run
	Receipts             template.HTML
}

func (l *look) proven() proven {
	out := proven{Receipts: `<span class="soft">no log of receipts is kept here</span>`}
	for _, r := range l.p.Entries() {
		if r.Certification == kernel.Unsupported {
			continue
		}
		out.Operations++
		if e := site.EvidenceFor(r.ID); e.Checks > 0 {
			out.Compared, out.Checks = out.Compared+1, out.Checks+e.Checks
		}
	}
	if l.p.Checkpoint == nil {
		return out
	}
	size, _, err := l.p.Checkpoint(l.ctx)
	if err != nil {
		l.p.Log.Warn("the head of the log of receipts could not be read for the status page", "err", err)
		out.Receipts = l.Unknown("The log could not be read.")
		return out
	}
	out.Receipts = template.HTML(`<span class="number" data-value="`+strconv.FormatInt(size, 10)+`">`+web.Group(uint64(max(size, 0)))+`</span>`) + ` in <a href="/verification">the signed log</a>` //nolint:gosec // digits
	return out
}
