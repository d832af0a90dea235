//go:build !race

package servertest

// raced is set under the race detector.
const raced = false
