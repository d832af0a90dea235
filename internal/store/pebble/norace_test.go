//go:build !race

package pebble_test

// raced is set under the race detector.
const raced = false
