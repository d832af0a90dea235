//go:build race

package starknet_test

// underRace is set when the race detector makes curve arithmetic ten times as slow.
const underRace = true
