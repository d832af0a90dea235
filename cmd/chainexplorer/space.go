package main

import (
	"fmt"
	"strconv"
	"strings"

	"chainexplorer/internal/store/pebble"
)

// size is a number of bytes on the command line, such as 512MiB or 2GiB.
type size uint64

var units = []struct {
	name  string
	bytes uint64
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}}

// UnmarshalText reads a number with a unit; 0 needs none.
func (s *size) UnmarshalText(text []byte) error {
	word, factor := strings.TrimSpace(string(text)), uint64(0)
	for _, u := range units {
		if rest, ok := strings.CutSuffix(word, u.name); ok {
			word, factor = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || factor == 0 && n != 0 || factor != 0 && n > (1<<62)/factor {
		return fmt.Errorf("%q is not a size: want a whole number with a unit, such as 512MiB or 2GiB, or 0", text)
	}
	*s = size(n * factor)
	return nil
}

// roomFlags say how much of a disk is left alone.
type roomFlags struct {
	MinFree size `default:"1GiB" placeholder:"SIZE" help:"Indexing into a directory pauses while its disk has less free space than this, such as 512MiB; 0 never pauses. 1GiB unless set."`
}

// explainFull says so when a failure is that of a full disk, which SQLite calls by
// other names.
func explainFull(err error, dir string) error {
	if free, serr := pebble.FreeSpace(dir); err != nil && serr == nil && free < 1<<20 {
		return fmt.Errorf("%w (the disk of %s is full: make room)", err, dir)
	}
	return err
}
