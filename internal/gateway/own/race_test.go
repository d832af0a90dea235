//go:build race

package own_test

const raced = true
