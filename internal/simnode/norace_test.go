//go:build !race

package simnode_test

// raced is set under the race detector.
const raced = false
