package main

import (
	"fmt"

	"chainexplorer/internal/voyager"
)

// feed measures pages of the Voyager-compatible feed against the pages of the API that they stand
// for, in turns, no answer kept by either.
func (s *service) feed(o options) error {
	address, stop := serve(s.anew)
	defer stop()
	token := s.chain.Tokens(1)[0].Address
	fmt.Printf("\n%-40s %14s %14s %7s\n", "pages of 25, made anew", "API req/s", "feed req/s", "ratio")
	for _, c := range []struct{ name, api, feed string }{
		{"blocks", "/blocks?limit=25", "/blocks"},
		{"transactions", "/txs?limit=25", "/txns"},
		{"transactions, page 100", "/txs?limit=25", "/txns?p=100"},
		{"events of a contract", "/contract/" + token.String() + "/events?limit=25", "/events?contract=" + token.String()},
		{"events of the chain, page 100", "/contract/" + token.String() + "/events?limit=25", "/events?p=100"},
		{"messages", "/messages?limit=25", "/messages"},
	} {
		var api, feed, ratios []float64
		for i := range o.rounds + 1 {
			a, err := load(address, []string{"/v1/" + chainID + c.api}, s.key, o.conns, o.round)
			if err != nil {
				return fmt.Errorf("%s of the API: %w", c.name, err)
			}
			f, err := load(address, []string{voyager.Base + c.feed}, s.key, o.conns, o.round)
			if err != nil {
				return fmt.Errorf("%s of the feed: %w", c.name, err)
			}
			if i > 0 { // the first one warms up
				api, feed, ratios = append(api, a.rate), append(feed, f.rate), append(ratios, f.rate/a.rate)
			}
		}
		fmt.Printf("%-40s %14.0f %14.0f %7.2f\n", c.name, median(api), median(feed), median(ratios))
	}
	return nil
}
