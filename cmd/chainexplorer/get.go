package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"chainexplorer/client"
	"chainexplorer/internal/get"
)

// getCommands has a command for every operation of the API that reads.
type getCommands struct {
	get.Flags
	kong.Plugins
}

// newCommands is the command line with those commands that are made from the API.
func newCommands() *commands {
	c := &commands{}
	c.Get.Plugins = get.Plugins()
	return c
}

// run asks a service and prints what it answers.
func (c *getCommands) run(ctx context.Context, con *console, o *client.Operation, values url.Values) error {
	to := &get.Console{Out: con.out, Err: con.err, Width: widthOf(con.out)}
	if con.terminal != nil && to.Width == 0 && c.All { // what is printed goes elsewhere: there is room for a bar
		m := con.meter("fetching", "items")
		defer m.end()
		to.Progress = func(items int, block int64) { m.at(come(items, block, values)) }
	}
	return c.Flags.Run(ctx, to, o, values)
}

// come is how far a list has come: by its blocks when its bounds are known, which tell where
// it ends, otherwise by its items.
func come(items int, block int64, values url.Values) amount {
	from, err := strconv.ParseInt(values.Get("from_block"), 10, 64)
	to, err2 := strconv.ParseInt(values.Get("to_block"), 10, 64)
	if err != nil || err2 != nil || block < from || block > to {
		return amount{done: uint64(items)}
	}
	done := to - block
	if values.Get("order") == "asc" {
		done = block - from
	}
	return amount{done: uint64(done), total: uint64(to-from) + 1, detail: fmt.Sprintf("%d items, at block %d", items, block)}
}

// widthOf is the width of a terminal; 0 when it is none.
func widthOf(w any) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 1 {
		return 80
	}
	return width
}
