package felt

import "golang.org/x/sys/cpu"

// scanHex makes a number of the hex digits in front of the first quote, of 64 if there is none
// among these, and returns how many they are, or -1 when other bytes are among them. It looks at
// 64 bytes from the first digit on, and at as many in front of the last one's end.
//
//go:noescape
func scanHex(f *Felt, digits *byte) int

// writeHex writes all 64 hex digits of a number.
//
//go:noescape
func writeHex(digits *byte, f *Felt)

// vectors says whether these can run here.
var vectors = cpu.X86.HasAVX2
