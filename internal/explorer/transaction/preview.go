package transaction

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/starknet"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// previewer reads rows one after the other, as much of each as lists show.
type previewer struct {
	d        record.Decoder
	left     []previewed
	version  felt.Felt
	deployed felt.Felt
	glance   record.Glance // at the calldata
	placed   bool          // places are known
	places   []uint32      // of the calldata
}

// previewed is a preview with what it points to, in one piece of memory.
type previewed struct {
	Preview
	ends Ends
}

// read reads as much of a row as a preview shows, and passes over the rest. From and To of a transaction say
// the same of one that was read whole.
func (w *previewer) read(out *previewed) {
	d, from, to := &w.d, &out.ends.from, &out.ends.to
	out.Type = starknet.TxType(d.Byte())
	f := d.Byte()
	d.Raw(out.BlockHash[:])
	out.BlockTime = d.Uint()
	d.Raw(out.Hash[:])
	out.Execution, out.From, out.To = executionOf(f), nil, nil
	d.PassRows(d.Len(3), 2) // events: see skipEvent
	// In the order of scalars.
	d.FeltTo(&w.version)
	d.FeltTo(from) // sender
	d.FeltTo(to)   // contract
	d.PassFelts(scalarCount - 5)
	d.FeltTo(&w.deployed)
	d.SkipFelt()
	switch out.Type {
	case starknet.Invoke:
		if v, _ := starknet.PlainVersion(&w.version); v == 0 {
			*from = *to
			out.From, out.To = from, to
			return
		}
		out.From = from
		if w.passTo(f, 0); w.hasCall(to) {
			out.To = to
		}
	case starknet.L1Handler:
		if w.passTo(f, len(starknet.Receipt{}.MessageHash)); w.glance.Size() > 0 && w.felt(0, from) {
			out.From = from
		}
		out.To = to
	case starknet.Declare:
		out.From = from
	case starknet.Deploy:
		*to = w.deployed
		out.To = to
	case starknet.DeployAccount:
		*from, *to = w.deployed, w.deployed
		out.From, out.To = from, to
	}
}

// passTo passes what is between the scalars and the calldata, so many bytes of it the hash of a message,
// and looks at the calldata.
func (w *previewer) passTo(flags byte, hash int) {
	d := &w.d
	if flags&flagBounds != 0 {
		passBounds(d)
	}
	d.PassUints(3) // resources
	d.Skip(hash)
	d.Skip(d.Len(1)) // why it was reverted
	w.glance, w.placed = d.Glance(), false
}

// hasCall says whether the calldata is a list of calls, and reads which contract the first one is to.
func (w *previewer) hasCall(to *felt.Felt) bool {
	if starknet.HasCall(w.glance.Size(), w.number) {
		return w.felt(1, to)
	}
	w.place() // it may be none because the record ends early
	return false
}

// felt reads one of the first felts of the calldata.
func (w *previewer) felt(i int, to *felt.Felt) bool {
	if !w.placed {
		g := w.d.Glance()
		if g.Pass(i); g.FeltTo(to) {
			return true
		}
	}
	if w.place(); i >= len(w.places) { // the record ends early
		return false
	}
	*to = w.d.FeltAt(w.places[i])
	return true
}

// number is that of a felt of the calldata. It is asked for one behind the other, but by accounts of Cairo 0.
func (w *previewer) number(i int) (uint64, bool) {
	if g := &w.glance; !w.placed && i >= g.At() {
		g.Pass(i - g.At())
		return g.Number()
	}
	if w.place(); i >= len(w.places) {
		return 0, false
	}
	return w.d.NumberAt(w.places[i])
}

// place finds the places of the calldata.
func (w *previewer) place() {
	if !w.placed {
		w.placed, w.places = true, w.d.Places(w.places[:0])
	}
}

// previewsAtOnce is for how many previews memory is taken at a time.
const previewsAtOnce = 16

func newPreviewer() reader[Preview] { return (&previewer{}).preview }

func (w *previewer) preview(p explorer.Position, b []byte) (*Preview, error) {
	if len(w.left) == 0 {
		w.left = make([]previewed, previewsAtOnce)
	}
	out := &w.left[0]
	w.d.Reset(b, recordVersion)
	out.Position = p
	w.read(out)
	if err := w.d.Err(); err != nil {
		*out = previewed{}
		return nil, fmt.Errorf("transaction %d of block %d: %w", p.Index, p.Block, err)
	}
	w.left = w.left[1:]
	return &out.Preview, nil
}

// previewers are used again for other lists.
var previewers = sync.Pool{New: func() any { return &previewer{} }}

// putPreviewer takes one back that is not used any more.
func putPreviewer(w *previewer) {
	w.forget()
	previewers.Put(w)
}

// forget forgets the row, which is the store's own memory.
func (w *previewer) forget() {
	w.glance = record.Glance{}
	if w.d.Recycle(); cap(w.places) > roomyFelts {
		w.places = nil
	}
}

// Previews is OfBlock for lists: it decodes no receipt and no events.
func Previews(ctx context.Context, r store.Reader, number uint64, index uint32, limit int) ([]*Preview, error) {
	w := previewers.Get().(*previewer)
	defer putPreviewer(w)
	m := &PreviewRoom{w: w}
	return m.read(ctx, r, number, index, limit)
}

// PreviewRoom is the memory of the previews of a block, for those who read one block after the other. The zero value
// is ready, and is for one goroutine.
type PreviewRoom struct {
	w    *previewer
	rows []previewed
	list []*Preview
	keys [explorer.StretchBytes + 2*explorer.PositionSize]byte // of the range
	err  error
}

// roomyPreviews is how many a room keeps memory for: few blocks have more, and a page shows no more.
const roomyPreviews = 256

// Previews is Previews in memory that is used again: they are there until the room is recycled.
func (m *PreviewRoom) Previews(ctx context.Context, r store.Reader, number uint64, index uint32, limit int) ([]*Preview, error) {
	if m.w == nil {
		m.w = &previewer{}
	}
	m.w.left = m.rows
	return m.read(ctx, r, number, index, limit)
}

func (m *PreviewRoom) read(ctx context.Context, r store.Reader, number uint64, index uint32, limit int) ([]*Preview, error) {
	m.list, m.err = slices.Grow(m.list[:0], min(limit, previewsAtOnce)), nil
	for row, err := range r.Scan(ctx, m.blockRange(number, index, limit)) {
		if err != nil {
			m.err = fmt.Errorf("list transactions of block %d: %w", number, err)
			break
		}
		if m.take(row); m.err != nil {
			break
		}
	}
	if m.err != nil {
		return nil, m.err
	}
	return m.list, nil
}

// take reads the next row.
func (m *PreviewRoom) take(row store.Row) {
	var p *Preview
	if p, m.err = reader[Preview](m.w.preview).row(row); m.err == nil {
		m.list = append(m.list, p)
	}
}

// blockRange is blockRange in the memory of the room.
func (m *PreviewRoom) blockRange(number uint64, index uint32, limit int) store.Range {
	rg := store.Range{Table: Transactions, Limit: limit}
	mem := explorer.AppendStretch(m.keys[:0], number)
	rg.Partition = mem[:len(mem):len(mem)]
	mem = explorer.Position{Block: number, Index: index}.Append(mem)
	rg.From = mem[len(rg.Partition):len(mem):len(mem)]
	if number < ^uint64(0) {
		from := len(mem)
		mem = binary.BigEndian.AppendUint64(mem, number+1)
		rg.To = mem[from:]
	}
	return rg
}

// Recycle lets go of the previews.
func (m *PreviewRoom) Recycle() {
	n := len(m.list)
	clear(m.rows[:min(n, len(m.rows))])
	switch {
	case n > roomyPreviews:
		m.rows, m.list = nil, nil
	case n > len(m.rows):
		m.rows = make([]previewed, n)
	}
	clear(m.list)
	m.list, m.err = m.list[:0], nil
	if m.w != nil {
		m.w.left = nil
		m.w.forget()
	}
}
