package main

import (
	"fmt"
	"strings"
)

// kind is a kind of page, under many addresses.
type kind struct {
	name  string
	paths []string
	// batches are, by path, the bodies that ask for what the sentences of a page are made of.
	batches map[string]string
}

// add adds a page with sentences about transactions.
func (k *kind) add(path string, hashes ...string) {
	k.paths = append(k.paths, path)
	if len(hashes) == 0 {
		return
	}
	if k.batches == nil {
		k.batches = map[string]string{}
	}
	k.batches[path] = `{"hashes":["` + strings.Join(hashes, `","`) + `"]}`
}

// kinds are pages of newer blocks, which no kept answer of L1 serves.
func (s *service) kinds(n int) []kind {
	block, tx, address := kind{name: "block"}, kind{name: "transaction"}, kind{name: "address"}
	seen := map[string]bool{}
	for i := uint64(0); len(block.paths) < n || len(tx.paths) < n || len(address.paths) < n; i++ {
		b := s.chain.BlockAt(blocks - 10 - i)
		if len(block.paths) < n {
			var hashes []string
			for j := range b.Transactions {
				hashes = append(hashes, b.Transactions[j].Hash.String())
			}
			block.add(fmt.Sprintf("/%s/block/%d", chainID, b.Number), hashes...)
		}
		for j := range b.Transactions {
			if len(tx.paths) < n {
				hash := b.Transactions[j].Hash.String()
				tx.add(fmt.Sprintf("/%s/tx/%s", chainID, hash), hash)
			}
			from := b.Transactions[j].Sender.String()
			if len(address.paths) < n && !b.Transactions[j].Sender.IsZero() && !seen[from] {
				seen[from] = true
				address.paths = append(address.paths, fmt.Sprintf("/%s/address/%s", chainID, from))
			}
		}
	}
	tokens := kind{name: "token"}
	for _, t := range s.chain.Tokens(blocks - 1) {
		if len(tokens.paths) < n {
			tokens.paths = append(tokens.paths, fmt.Sprintf("/%s/token/%s", chainID, t.Address))
		}
	}
	return []kind{block, tx, address, tokens}
}
