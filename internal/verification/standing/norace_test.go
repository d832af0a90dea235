//go:build !race

package standing_test

const raced = false
