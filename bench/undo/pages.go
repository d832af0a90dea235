package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"chainexplorer/internal/explorer/address"
	"chainexplorer/internal/explorer/event"
	"chainexplorer/internal/explorer/transfer"
	"chainexplorer/internal/store"
)

// lists are lists of which the newest page is read again and again.
type lists struct {
	engine store.Engine
	all    []list
}

type list struct {
	table     *store.Table
	partition []byte
	newest    string // key at first
	cut       bool   // it grew since, and loses what it got when blocks are undone
}

const (
	listsOfTable = 150
	pageRows     = 25
	pageRounds   = 5
)

// sample takes lists of the tables that most pages are read from, evenly.
func sample(ctx context.Context, engine store.Engine) (*lists, error) {
	l := &lists{engine: engine}
	err := engine.View(ctx, func(r store.Reader) error {
		for _, t := range []*store.Table{event.Lists, transfer.Addresses, address.Transactions} {
			var found []list
			for e, err := range r.Walk(ctx, t, nil) {
				if err != nil {
					return err
				}
				if n := len(found); n == 0 || string(found[n-1].partition) != string(e.Partition) {
					found = append(found, list{table: t, partition: slices.Clone(e.Partition)})
				}
				found[len(found)-1].newest = string(e.Sort)
			}
			step := max(1, len(found)/listsOfTable)
			for i := 0; i < len(found); i += step {
				l.all = append(l.all, found[i])
			}
		}
		return nil
	})
	return l, err
}

// grown notes which lists got rows.
func (l *lists) grown(ctx context.Context) error {
	return l.engine.View(ctx, func(r store.Reader) error {
		for i := range l.all {
			s := &l.all[i]
			for row, err := range r.Scan(ctx, store.Range{Table: s.table, Partition: s.partition, Reverse: true, Limit: 1}) {
				if err != nil {
					return err
				}
				s.cut = string(row.Sort) != s.newest
			}
		}
		return nil
	})
}

// read reads the newest page of each list, a few times.
func (l *lists) read(ctx context.Context) (p paged, err error) {
	var took [2][]time.Duration
	for range pageRounds {
		err := l.engine.View(ctx, func(r store.Reader) error {
			for i := range l.all {
				s, began := &l.all[i], time.Now()
				for _, err := range r.Scan(ctx, store.Range{Table: s.table, Partition: s.partition, Reverse: true, Limit: pageRows}) {
					if err != nil {
						return err
					}
				}
				kind := 0
				if s.cut {
					kind = 1
				}
				took[kind] = append(took[kind], time.Since(began))
			}
			return nil
		})
		if err != nil {
			return p, err
		}
	}
	return paged{summary(took[1]), summary(took[0])}, nil
}

// paged is what pages took at one moment: of lists that are cut when blocks are undone, and
// of those beside them.
type paged struct{ cut, beside times }

type times struct{ median, most time.Duration } // 99 of 100 pages take no more

func summary(d []time.Duration) times {
	if len(d) == 0 {
		return times{}
	}
	slices.Sort(d)
	return times{d[len(d)/2], d[len(d)*99/100]}
}

func (p paged) print(what string, before paged) {
	fmt.Printf("pages %-20s of lists that are cut %s, of those beside %s\n", what, p.cut.against(before.cut), p.beside.against(before.beside))
}

func (t times) against(before times) string {
	return fmt.Sprintf("%5.1f µs (%.2f of before; 99%% %.0f µs, %.2f)", float64(t.median.Nanoseconds())/1e3, float64(t.median)/float64(max(before.median, 1)),
		float64(t.most.Nanoseconds())/1e3, float64(t.most)/float64(max(before.most, 1)))
}
