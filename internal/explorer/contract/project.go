package contract

import (
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/store"
)

// Subject projects the classes of contracts.
type Subject struct{}

var _ explorer.Subject = Subject{}

// Name is the subject's name.
func (Subject) Name() string { return "contract" }

// Tables lists the subject's table.
func (Subject) Tables() []*store.Table { return []*store.Table{History} }

// Project writes a row for each class that a contract got in the block. The
// lists are sorted: what is said twice stands together.
func (Subject) Project(b *explorer.Block, rows *explorer.Rows) error {
	sort := sortKey(b.Number, kindDeployed)
	for i := range b.State.Deployed {
		d := &b.State.Deployed[i]
		if i > 0 && *d == b.State.Deployed[i-1] {
			continue
		}
		rows.Put(History, d.Address[:], sort, d.ClassHash[:])
	}
	sort = sortKey(b.Number, kindReplaced)
	for i := range b.State.Replaced {
		d := &b.State.Replaced[i]
		if i > 0 && *d == b.State.Replaced[i-1] {
			continue
		}
		rows.Put(History, d.Address[:], sort, d.ClassHash[:])
	}
	return nil
}
