//go:build race

package index

// Raced is set under the race detector.
const Raced = true
