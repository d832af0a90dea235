//go:build race

package privacypool_test

// raced is set under the race detector.
const raced = true
