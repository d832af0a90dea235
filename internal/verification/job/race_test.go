//go:build race

package job

const raced = true
