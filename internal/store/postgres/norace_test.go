//go:build !race

package postgres_test

// raced is set under the race detector.
const raced = false
