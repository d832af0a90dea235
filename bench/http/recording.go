package main

import "fmt"

// recording measures what it costs to take down the usage of keys: kept answers with
// and without, in turns.
func (s *service) recording(o options) error {
	paths := s.cases()[0].paths
	with, stopWith := serve(s.server)
	defer stopWith()
	without, stopWithout := serve(s.silent)
	defer stopWithout()
	var rates [2][]float64
	var ratios []float64
	for i := range o.rounds + 1 {
		off, err := load(without, paths, s.key, o.conns, o.round)
		if err != nil {
			return err
		}
		on, err := load(with, paths, s.key, o.conns, o.round)
		if err != nil {
			return err
		}
		if i > 0 { // the first one warms up
			rates[0], rates[1], ratios = append(rates[0], off.rate), append(rates[1], on.rate), append(ratios, on.rate/off.rate)
		}
	}
	fmt.Printf("\n%-40s %14s %14s %7s\n", "kept answers, the usage of keys recorded", "off req/s", "on req/s", "ratio")
	fmt.Printf("%-40s %14.0f %14.0f %7.2f\n", "block/{n}, old", median(rates[0]), median(rates[1]), median(ratios))
	return nil
}
