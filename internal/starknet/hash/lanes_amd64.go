package hash

import "golang.org/x/sys/cpu"

//go:noescape
func permute8Integers(s *lanes, keys *uint64)

//go:noescape
func addPoints8Integers(p *lanes, table *uint64, offsets *uint64, n int)

//go:noescape
func permute8Floats(s *lanes, keys *uint64)

//go:noescape
func addPoints8Floats(p *lanes, table *uint64, offsets *uint64, n int)

// ways are those of this processor, the fastest first.
func ways() (list []way) {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA {
		list = append(list, integers)
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
		list = append(list, floats)
	}
	return append(list, alone)
}

// They are no functions of a way's: what these are given would not be known to stay here.
func permute8(s *lanes, keys *uint64) {
	if eight == integers {
		permute8Integers(s, keys)
	} else {
		permute8Floats(s, keys)
	}
}

func addPoints8(p *lanes, table *uint64, offsets *uint64, n int) {
	if eight == integers {
		addPoints8Integers(p, table, offsets, n)
	} else {
		addPoints8Floats(p, table, offsets, n)
	}
}
