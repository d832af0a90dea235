// Command tokens measures what tokens cost: indexing the same blocks with and
// without the token subjects, reading a balance at a block from a short and from
// a long history, and counting the holders of a small and of a large token, in
// one run.
//
//	go run ./bench/tokens
//
// Each part is a function that prints its own lines; -part runs one of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
)

// settings are the flags.
type settings struct {
	blocks, tx int
	events     float64
	changes    int
	holders    int
	dir        string
}

// parts are what is measured, in order.
var parts = []struct {
	name string
	run  func(context.Context, settings) error
}{
	{"ingest", ingest},
	{"history", history},
	{"census", holderCensus},
}

func main() {
	var s settings
	flag.IntVar(&s.blocks, "blocks", 3000, "blocks to index")
	flag.IntVar(&s.tx, "tx", 50, "transactions a block")
	flag.Float64Var(&s.events, "events", 5.78, "events a transaction")
	flag.IntVar(&s.changes, "changes", 100_000, "changes of the balance with the long history")
	flag.IntVar(&s.holders, "holders", 1_000_000, "holders of the large token of the census")
	flag.StringVar(&s.dir, "dir", "", "where to put the stores; default: the system's temporary directory")
	only := flag.String("part", "", "the one part to run; default: all")
	flag.Parse()
	for _, p := range parts {
		if *only != "" && *only != p.name {
			continue
		}
		if err := p.run(context.Background(), s); err != nil {
			fmt.Fprintf(os.Stderr, "tokens: %s: %v\n", p.name, err)
			os.Exit(1)
		}
	}
}
