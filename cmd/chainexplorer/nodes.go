package main

import (
	"fmt"
	"time"

	"chainexplorer/internal/node"
)

// nodeFlags say how nodes are used.
type nodeFlags struct {
	NodeTimeout   time.Duration `default:"30s" help:"How long a node may take for one answer. Long before that, another node is asked as well, or the same again."`
	NodeMemoryMib int64         `default:"256" help:"Memory for the answers of all nodes together, in MiB."`
}

func (f *nodeFlags) check() error {
	if f.NodeTimeout < time.Second || f.NodeTimeout > 10*time.Minute || f.NodeMemoryMib < 64 || f.NodeMemoryMib > 1<<20 {
		return &usageError{"--node-timeout must be 1s to 10m, --node-memory-mib 64 to 1048576"}
	}
	return nil
}

// budget is the memory for answers, which all pools of a process share.
func (f *nodeFlags) budget() *node.Budget { return node.NewBudget(f.NodeMemoryMib << 20) }

// checkQuorum refuses a quorum that no set of nodes can reach.
func checkQuorum(quorum, nodes int) error {
	if quorum < 1 || quorum > max(nodes, 1) {
		return &usageError{fmt.Sprintf("--quorum must be 1 to %d, the number of nodes", max(nodes, 1))}
	}
	return nil
}
