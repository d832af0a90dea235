package pebble

import (
	lsm "github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"chainexplorer/internal/store"
)

// Every look for a row that may not be there reads the Bloom filters of tables: they are
// worth their bytes only in the cache. Four rows of five are those of lists, which nobody
// looks for by their whole key. Filters leave them out.
//
// A filter ends with the set of those whose rows it lacks, so that it is read rightly
// whatever the tables are declared as by then:
//
//	Pebble's own filter | a bit for each table id (32)

// listedBytes is the length of a set of table ids.
const listedBytes = 256 / 8

// listedSet is a set of table ids.
type listedSet [listedBytes]byte

func listedIn(tables []*store.Table) (s listedSet) {
	for _, t := range tables {
		if t.Listed {
			s[t.ID/8] |= 1 << (t.ID % 8)
		}
	}
	return s
}

// lacks says whether a set has the id that a key begins with. Keys of Pebble are never
// empty here.
func lacks(set, key []byte) bool { return set[key[0]/8]&(1<<(key[0]%8)) != 0 }

// rowFilter is a Bloom filter of the rows of tables that are not lists.
type rowFilter struct {
	bloom  bloom.FilterPolicy
	listed listedSet
}

// Name is written to every table with a filter. Pebble reads a filter with the policy of
// its name, and goes without where it knows none.
func (rowFilter) Name() string { return "chainexplorer.UnlistedRows" }

// MayContain says whether a table may have a key.
func (f rowFilter) MayContain(kind lsm.FilterType, filter, key []byte) bool {
	end := len(filter) - listedBytes
	if end < 0 || lacks(filter[end:], key) {
		return true
	}
	return f.bloom.MayContain(kind, filter[:end], key)
}

// NewWriter begins the filter of a table.
func (f rowFilter) NewWriter(kind lsm.FilterType) lsm.FilterWriter {
	return &rowFilterWriter{FilterWriter: f.bloom.NewWriter(kind), listed: f.listed}
}

type rowFilterWriter struct {
	lsm.FilterWriter
	listed listedSet
}

// AddKey adds a key unless it is of a list.
func (w *rowFilterWriter) AddKey(key []byte) {
	if !lacks(w.listed[:], key) {
		w.FilterWriter.AddKey(key)
	}
}

// Finish appends the filter.
func (w *rowFilterWriter) Finish(buf []byte) []byte {
	return append(w.FilterWriter.Finish(buf), w.listed[:]...)
}
