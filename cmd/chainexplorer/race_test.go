//go:build race

package main

// raced is set under the race detector.
const raced = true
