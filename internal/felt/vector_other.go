//go:build !amd64

package felt

const vectors = false

func scanHex(*Felt, *byte) int { panic("felt: not on this processor") }

func writeHex(*byte, *Felt) { panic("felt: not on this processor") }
