//go:build !race

package transfer_test

const raced = false
