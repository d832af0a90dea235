package hash

import "golang.org/x/sys/cpu"

//go:noescape
func permute8(s *lanes, keys *uint64)

// eight says whether eight states can be permuted at once here.
var eight = cpu.X86.HasAVX512F && cpu.X86.HasAVX512IFMA
