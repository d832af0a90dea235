//go:build !amd64

package hash

var eight = false

func permute8(*lanes, *uint64) { panic("hash: not on this processor") }

func addPoints8(*lanes, *uint64, *uint64, int) { panic("hash: not on this processor") }
