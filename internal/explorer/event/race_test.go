//go:build race

package event_test

const raced = true
