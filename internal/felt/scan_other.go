//go:build !amd64

package felt

const scans = false

func scanHex(*Felt, *byte) int { panic("felt: not on this processor") }
