//go:build !amd64

package hash

func ways() []way { return []way{alone} }

func permute8(*lanes, *uint64) { panic("hash: not on this processor") }

func addPoints8(*lanes, *uint64, *uint64, int) { panic("hash: not on this processor") }
