package main

import (
	"encoding/hex"

	"chainexplorer/internal/index/fsck"
)

// fsckView is what fsck prints as JSON.
type fsckView struct {
	Indexes []fsckIndex  `json:"indexes"`
	Control *fsckControl `json:"control"` // null where none was looked at
}

type fsckIndex struct {
	Place        string            `json:"place"`
	Chain        string            `json:"chain"`
	State        string            `json:"state"` // clean, unsound, incomplete, empty or unreadable
	Head         *uint64           `json:"head"`
	Hash         string            `json:"hash"`
	Digest       string            `json:"digest"`
	Blocks       uint64            `json:"blocks"`
	Transactions uint64            `json:"transactions"`
	Events       uint64            `json:"events"`
	UndoRecords  uint64            `json:"undoRecords"`
	Verified     uint64            `json:"verified"`
	NotChecked   uint64            `json:"notChecked"`
	Unverified   uint64            `json:"unverified"`
	Rows         map[string]uint64 `json:"rows"`
	Lost         string            `json:"lost"`
	Problems     []string          `json:"problems"`
}

type fsckControl struct {
	Place    string   `json:"place"`
	Clean    bool     `json:"clean"`
	Problems []string `json:"problems"`
}

// add notes what was found of an index; loss is empty when nothing was lost.
func (v *fsckView) add(place, chain string, r *fsck.Report, loss string) {
	i := fsckIndex{Place: place, Chain: chain, State: "clean", Blocks: r.Blocks, Transactions: r.Transactions, Events: r.Events,
		UndoRecords: r.UndoRecords, Verified: r.State.Checked.Verified, NotChecked: r.State.Checked.NotChecked,
		Unverified: r.State.Checked.Unverified, Rows: r.Rows, Lost: loss, Problems: append([]string{}, r.Problems...)}
	if r.State.HasHead {
		head := r.State.Head.Number
		i.Head, i.Hash, i.Digest = &head, r.State.Head.Hash.String(), hex.EncodeToString(r.State.Head.Digest[:])
	}
	switch {
	case !r.Clean():
		i.State = "unsound"
	case loss != "":
		i.State = "incomplete"
	case !r.State.Present:
		i.State = "empty"
	}
	v.Indexes = append(v.Indexes, i)
}

func (v *fsckView) print(con *console) error {
	if v.Indexes == nil {
		v.Indexes = []fsckIndex{}
	}
	return printJSON(con.out, v)
}
