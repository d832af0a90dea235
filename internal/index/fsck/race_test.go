//go:build race

package fsck_test

// raced is set under the race detector.
const raced = true
