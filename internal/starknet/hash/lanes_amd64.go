package hash

import "golang.org/x/sys/cpu"

//go:noescape
func permute8(s *lanes, keys *uint64)

//go:noescape
func addPoints8(p *lanes, table *uint64, offsets *uint64, n int)

// eight says whether eight of a kind can be worked on at once here.
var eight = cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA
