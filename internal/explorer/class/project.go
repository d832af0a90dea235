package class

import (
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/record"
)

// Subject projects declarations.
type Subject struct{}

var _ explorer.Subject = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "class" }

// Tables lists the subject's table. What was fetched is not among them: see
// Enrichment.
func (Subject) Tables() []*store.Table { return []*store.Table{Declarations} }

// Enrichment lists the tables that are filled from calls to a node.
func Enrichment() []*store.Table { return []*store.Table{ABIs, Missing, Interfaces} }

// Project writes a row for each declaration. The first Cairo let a class be
// declared again: a class has a row for each block that did. The lists are
// sorted: what is said twice stands together.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	var e record.Encoder
	sort := explorer.BlockKey(b.Number)
	for i := range b.State.Declared {
		d := &b.State.Declared[i]
		if i > 0 && *d == b.State.Declared[i-1] {
			continue
		}
		rows.Put(Declarations, d.ClassHash[:], sort, encodeDeclaration(&e, Sierra, &d.CompiledClassHash))
	}
	for i := range b.State.DeprecatedDeclared {
		if i > 0 && b.State.DeprecatedDeclared[i] == b.State.DeprecatedDeclared[i-1] {
			continue
		}
		rows.Put(Declarations, b.State.DeprecatedDeclared[i][:], sort, encodeDeclaration(&e, Cairo0, nil))
	}
	return nil
}

// Of lists the classes that a block declares or gives to contracts, each once.
// kind is what the block says of it: unknown for a class that it only uses.
func Of(b *explorer.Block) (out []Mention) {
	s := &b.State
	n := len(s.Declared) + len(s.DeprecatedDeclared) + len(s.Deployed) + len(s.Replaced)
	if n == 0 {
		return nil
	}
	seen := make(map[felt.Felt]struct{}, n)
	add := func(hash felt.Felt, kind Kind) {
		if _, twice := seen[hash]; !twice && !hash.IsZero() {
			seen[hash] = struct{}{}
			out = append(out, Mention{hash, kind})
		}
	}
	for i := range s.Declared {
		add(s.Declared[i].ClassHash, Sierra)
	}
	for i := range s.DeprecatedDeclared {
		add(s.DeprecatedDeclared[i], Cairo0)
	}
	for i := range s.Deployed {
		add(s.Deployed[i].ClassHash, KindUnknown)
	}
	for i := range s.Replaced {
		add(s.Replaced[i].ClassHash, KindUnknown)
	}
	return out
}

// Mention is a class that a block names.
type Mention struct {
	Hash felt.Felt
	Kind Kind
}
