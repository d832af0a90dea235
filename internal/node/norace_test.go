//go:build !race

package node

// Raced is set under the race detector, under which it takes minutes to carry as many
// large answers: it sees fewer of them, and 'make test' carries all without it.
const Raced = false
