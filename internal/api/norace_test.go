//go:build !race

package api_test

// raced is set under the race detector.
const raced = false
