//go:build !race

package metadata_test

// raced is set under the race detector.
const raced = false
