//go:build !race

package routes_test

const raced = false
