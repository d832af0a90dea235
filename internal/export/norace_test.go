//go:build !race

package export_test

// raced is set under the race detector, which makes everything many times slower.
const raced = false
