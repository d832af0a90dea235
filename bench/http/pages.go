package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode/contracts"
)

// hundreds are pages of a hundred rows of the busiest things of the chain, made anew for every request.
func (s *service) hundreds() (list []workload) {
	token, account := contracts.STRK, s.busiest()
	for _, c := range []struct{ name, path string }{
		{"pages: events of a selector", "/events?topic0=" + felt.Selector("Transfer").String()},
		{"pages: events of a token", "/contract/" + token.String() + "/events?order=desc"},
		{"pages: transfers of a token", "/token/" + token.String() + "/transfers?from_block=0"},
		{"pages: transactions of the chain", "/txs?"},
		{"pages: transactions of an account", "/address/" + account.String() + "/transactions?"},
		{"pages: activity of an account", "/address/" + account.String() + "/activity?"},
		{"pages: blocks", "/blocks?"},
	} {
		list = append(list, workload{c.name, []string{"/v1/" + chainID + c.path + "&limit=100"}, s.anew})
	}
	return list
}

// busiest is the account that sent the most transactions.
func (s *service) busiest() (most felt.Felt) {
	sent := map[felt.Felt]int{}
	for n := range s.blocks {
		for _, tx := range s.chain.BlockAt(n).Transactions {
			if tx.Sender.IsZero() { // sent by nobody
				continue
			}
			if sent[tx.Sender]++; sent[tx.Sender] > sent[most] {
				most = tx.Sender
			}
		}
	}
	return most
}

// profiled runs something, and writes what the processor did if asked to.
func profiled(path string, run func() error) error {
	if path == "" {
		return run()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // what was measured stands
	if err := pprof.StartCPUProfile(f); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	defer pprof.StopCPUProfile()
	return run()
}

// remembered runs something, and writes which places took memory if asked to.
func remembered(path string, run func() error) error {
	if path == "" {
		return run()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // what was measured stands
	runtime.MemProfileRate = 1
	if err := run(); err != nil {
		return err
	}
	runtime.GC() // what was taken last is told after it
	if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil {
		return fmt.Errorf("profile: %w", err)
	}
	return nil
}
