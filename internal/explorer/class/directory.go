package class

import (
	"fmt"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Directory projects the list of classes, and the contracts of each. Its counts
// are exact: they follow every deployment and every replacement.
type Directory struct{}

var _ explorer.Follower = Directory{}

// Name is the subject's name.
func (Directory) Name() string { return "class_directory" }

// Tables lists the subject's tables.
func (Directory) Tables() []*store.Table {
	return []*store.Table{Summaries, Instances, Listings, Holders}
}

// Recalled lists the tables whose rows are asked for again.
func (Directory) Recalled() []*store.Table { return []*store.Table{Summaries, Holders} }

// Project writes nothing: every row builds on earlier ones.
func (Directory) Project(*explorer.Block, *explorer.Rows) error { return nil }

// moves lists the contracts that the block gives a class to, each once, in the
// order of the block's lists.
func moves(b *explorer.Block) (out []felt.Felt) {
	s := &b.State
	if len(s.Deployed)+len(s.Replaced) == 0 {
		return nil
	}
	seen := make(map[felt.Felt]struct{}, len(s.Deployed)+len(s.Replaced))
	add := func(address felt.Felt) {
		if _, twice := seen[address]; !twice {
			seen[address] = struct{}{}
			out = append(out, address)
		}
	}
	for i := range s.Deployed {
		add(s.Deployed[i].Address)
	}
	for i := range s.Replaced {
		add(s.Replaced[i].Address)
	}
	return out
}

// plan is what a block does to the directory.
type plan struct {
	block     *explorer.Block
	contracts []felt.Felt // that get a class
	mentioned []Mention   // the classes that the block names
	left      []felt.Felt // the earlier classes of contracts that it does not name
}

// Plan asks for the classes that contracts had, and for the summaries of those that
// the block names; then for those of the classes that contracts leave.
func (Directory) Plan(b *explorer.Block) (out explorer.Plan) {
	p := &plan{block: b, contracts: moves(b), mentioned: Of(b)}
	for i := range p.contracts {
		out.Keys = append(out.Keys, holderKey(&p.contracts[i]))
	}
	for i := range p.mentioned {
		out.Keys = append(out.Keys, summaryKey(&p.mentioned[i].Hash))
	}
	out.Chase, out.Follow = p.chase, p.follow
	return out
}

// chase asks for the summaries of the classes that contracts leave.
func (p *plan) chase(earlier [][]byte) (keys []store.Key, err error) {
	p.left, err = p.leftClasses(earlier)
	for i := range p.left {
		keys = append(keys, summaryKey(&p.left[i]))
	}
	return keys, err
}

// leftClasses are the earlier classes of contracts that the block does not name
// itself, each once.
func (p *plan) leftClasses(earlier [][]byte) (out []felt.Felt, err error) {
	seen := map[felt.Felt]struct{}{}
	for i, address := range p.contracts {
		if earlier[i] == nil {
			continue
		}
		h, err := decodeHolder(&address, earlier[i])
		if err != nil {
			return nil, err
		}
		if len(seen) == 0 {
			for _, m := range p.mentioned {
				seen[m.Hash] = struct{}{}
			}
		}
		if _, known := seen[h.class]; !known {
			seen[h.class] = struct{}{}
			out = append(out, h.class)
		}
	}
	return out, nil
}

// tally is the directory's part that a block touches.
type tally struct {
	block   uint64
	order   []felt.Felt // of the classes, as they were first mentioned
	classes map[felt.Felt]*change
}

// change is a class before and after the block.
type change struct {
	before *Summary // nil when the class is new
	after  Summary
}

// follow moves contracts between classes and classes between the places of the
// lists.
func (p *plan) follow(earlier [][]byte, rows *explorer.Rows) error {
	b, contracts, mentioned, left := p.block, p.contracts, p.mentioned, p.left
	if len(contracts)+len(mentioned) == 0 {
		return nil
	}
	t := &tally{block: b.Number, classes: make(map[felt.Felt]*change, len(mentioned)+len(left))}
	values := earlier[len(contracts):]
	if len(values) != len(mentioned)+len(left) {
		return fmt.Errorf("%d earlier rows for %d classes", len(values), len(mentioned)+len(left))
	}
	for i, m := range mentioned {
		if err := t.load(m.Hash, values[i]); err != nil {
			return err
		}
		if c := t.classes[m.Hash]; m.Kind != KindUnknown && !c.after.WasDeclared {
			c.after.WasDeclared, c.after.Declared, c.after.Kind = true, b.Number, m.Kind
		}
	}
	for i, hash := range left {
		if err := t.load(hash, values[len(mentioned)+i]); err != nil {
			return err
		}
	}
	if err := t.move(b, contracts, earlier, rows); err != nil {
		return err
	}
	t.write(rows)
	return nil
}

func (t *tally) load(hash felt.Felt, row []byte) error {
	c := &change{after: Summary{Hash: hash, Origin: t.block}}
	if row != nil {
		before, err := decodeSummary(hash, row)
		if err != nil {
			return err
		}
		c.before, c.after = &before, before
	}
	t.order = append(t.order, hash)
	t.classes[hash] = c
	return nil
}

// move gives every contract the class that it ends the block with. One that was
// deployed and replaced in the block has had both.
func (t *tally) move(b *explorer.Block, contracts []felt.Felt, earlier [][]byte, rows *explorer.Rows) error {
	before := make([]*holder, len(contracts))
	now := make(map[felt.Felt]felt.Felt, len(contracts))
	for i := range contracts {
		if earlier[i] == nil {
			continue
		}
		h, err := decodeHolder(&contracts[i], earlier[i])
		if err != nil {
			return err
		}
		before[i], now[contracts[i]] = &h, h.class
	}
	give := func(address, class felt.Felt) {
		if had := now[address]; had != class {
			now[address] = class
			if !class.IsZero() {
				t.classes[class].after.Ever++
			}
		}
	}
	for i := range b.State.Deployed {
		give(b.State.Deployed[i].Address, b.State.Deployed[i].ClassHash)
	}
	for i := range b.State.Replaced {
		give(b.State.Replaced[i].Address, b.State.Replaced[i].ClassHash)
	}
	for i := range contracts {
		address, class := &contracts[i], now[contracts[i]]
		if before[i] != nil {
			if before[i].class == class {
				continue
			}
			c := t.classes[before[i].class]
			if c.after.Instances == 0 {
				return fmt.Errorf("contract %s leaves class %s, which has no instances", address, before[i].class)
			}
			c.after.Instances--
			old := Instance{*address, before[i].since}
			for _, o := range []InstanceSort{ByAddress, ByNewest} {
				sort, _ := old.row(o)
				rows.Delete(Instances, instancePartition(&before[i].class, o), sort)
			}
		}
		if class.IsZero() {
			if before[i] != nil {
				rows.Delete(Holders, address[:], nil)
			}
			continue
		}
		t.classes[class].after.Instances++
		in := Instance{*address, t.block}
		for _, o := range []InstanceSort{ByAddress, ByNewest} {
			sort, value := in.row(o)
			rows.Put(Instances, instancePartition(&class, o), sort, value)
		}
		h := holder{class, t.block}
		rows.Put(Holders, address[:], nil, h.encode())
	}
	return nil
}

// write puts the summaries that changed, and moves the classes in the lists.
func (t *tally) write(rows *explorer.Rows) {
	var e record.Encoder
	for _, hash := range t.order {
		c := t.classes[hash]
		if c.before != nil && *c.before == c.after {
			continue
		}
		rows.Put(Summaries, hash[:], nil, c.after.encode(&e))
		for _, o := range []Sort{ByInstances, ByDeclared, ByOrigin} {
			place := c.after.place(o)
			if c.before != nil {
				old := c.before.place(o)
				if string(old) == string(place) {
					continue
				}
				rows.Delete(Listings, []byte{byte(o)}, old)
			}
			rows.Put(Listings, []byte{byte(o)}, place, nil)
		}
	}
}
