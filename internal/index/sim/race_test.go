//go:build race

package sim

// raced is set under the race detector, which makes everything ten times as slow:
// fewer histories are played then, and 'make test' plays all of them without it.
const raced = true
