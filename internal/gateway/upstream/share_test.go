package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/node"
	"chainexplorer/internal/starknet"
)

// gated are nodes that answer when the gate is opened.
func gated() (*scripted, chan struct{}) {
	gate := make(chan struct{})
	return &scripted{answer: func(ctx context.Context, a node.Ask) (node.Told, error) {
		select {
		case <-gate:
			if a.Once {
				return node.Told{Result: json.RawMessage(`{"transaction_hash":"0x1"}`), Node: "n"}, nil
			}
			return node.Told{Result: json.RawMessage(`"0x1"`), Node: "n"}, nil
		case <-ctx.Done():
			return node.Told{}, context.Cause(ctx)
		}
	}}, gate
}

type outcome struct {
	Answer
	err error
}

func start(ctx context.Context, t *testing.T, u *Upstream, params string, n int) <-chan outcome {
	m, raw, args := bind(t, "starknet_getNonce", params, starknet.V010)
	out := make(chan outcome, n)
	for range n {
		go func() {
			a, err := u.Call(ctx, m, raw, args, starknet.V010)
			out <- outcome{a, err}
		}()
	}
	return out
}

func TestIdenticalReadsShareOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := gated()
		u := New(Options{Pool: s})
		// The same read, however it is written.
		var all []<-chan outcome
		for _, params := range []string{`["latest","0x1"]`, `[ "latest" ,"0x1" ]`, `{"contract_address": "0x1","block_id":"latest"}`} {
			all = append(all, start(t.Context(), t, u, params, 100))
		}
		others := start(t.Context(), t, u, `["latest","0x2"]`, 1)
		synctest.Wait()
		if n, _ := s.count(); n != 2 {
			t.Fatalf("%d requests", n)
		}
		close(gate)
		var held []Answer
		shared := 0
		for _, out := range append(all, others) {
			for range cap(out) {
				o := <-out
				if o.err != nil || string(o.Result) != `"0x1"` || o.Kept {
					t.Fatalf("%+v", o)
				}
				held = append(held, o.Answer)
				if o.Shared {
					shared++
				}
			}
		}
		if shared != len(held)-2 {
			t.Errorf("%d of %d say that another's request brought them", shared, len(held))
		}
		if _, freed := s.count(); freed != 0 {
			t.Fatal("memory was given back while it was in use")
		}
		for _, a := range held {
			a.Release()
			a.Release()
		}
		if _, freed := s.count(); freed != 2 {
			t.Errorf("memory was given back %d times", freed)
		}
		if len(u.flights.byKey) != 0 {
			t.Error("something is left")
		}
		// What comes after it asks anew.
		start(t.Context(), t, u, `["latest","0x1"]`, 1)
		synctest.Wait()
		if n, _ := s.count(); n != 3 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestSharersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := gated()
		u := New(Options{Pool: s})
		out := start(t.Context(), t, u, `["latest","0x1"]`, 2*maxSharers+1)
		synctest.Wait()
		if n, _ := s.count(); n != 3 {
			t.Errorf("%d requests", n)
		}
		close(gate)
		for range cap(out) {
			(<-out).Release()
		}
		if _, freed := s.count(); freed != 3 {
			t.Errorf("freed %d", freed)
		}
	})
}

func TestOneCallerDoesNotEndTheCallOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := gated()
		u := New(Options{Pool: s})
		ctx, cancel := context.WithCancel(t.Context())
		first := start(ctx, t, u, `["latest","0x1"]`, 1)
		synctest.Wait()
		second := start(t.Context(), t, u, `["latest","0x1"]`, 1)
		synctest.Wait()
		cancel()
		if o := <-first; !errors.Is(o.err, context.Canceled) {
			t.Error(o.err)
		}
		close(gate)
		o := <-second
		if o.err != nil {
			t.Fatal(o.err)
		}
		o.Release()
		if asked, freed := s.count(); asked != 1 || freed != 1 {
			t.Errorf("asked %d, freed %d", asked, freed)
		}
	})
}

func TestTheLastCallerEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := gated()
		u := New(Options{Pool: s})
		ctx, cancel := context.WithCancel(t.Context())
		out := start(ctx, t, u, `["latest","0x1"]`, 5)
		synctest.Wait()
		cancel()
		for range 5 {
			if o := <-out; !errors.Is(o.err, context.Canceled) {
				t.Error(o.err)
			}
		}
		synctest.Wait() // the request ends without the gate: nothing is left running
		if len(u.flights.byKey) != 0 {
			t.Error("something is left")
		}
		// And nobody joins what is being given up.
		next := start(t.Context(), t, u, `["latest","0x1"]`, 1)
		close(gate)
		if o := <-next; o.err != nil {
			t.Error(o.err)
		}
	})
}

// A request that is given up may take its time: nobody who comes later waits for it,
// and what it still brings is given back.
func TestNobodyJoinsWhatIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		s := &scripted{answer: func(context.Context, node.Ask) (node.Told, error) {
			<-gate
			return node.Told{Result: json.RawMessage(`"0x1"`), Node: "n"}, nil
		}}
		u := New(Options{Pool: s})
		ctx, cancel := context.WithCancel(t.Context())
		first := start(ctx, t, u, `["latest","0x1"]`, 1)
		synctest.Wait()
		cancel()
		<-first
		second := start(t.Context(), t, u, `["latest","0x1"]`, 1)
		synctest.Wait()
		if n, _ := s.count(); n != 2 {
			t.Errorf("%d requests", n)
		}
		close(gate)
		(<-second).Release()
		synctest.Wait()
		if _, freed := s.count(); freed != 2 {
			t.Errorf("memory was given back %d times", freed)
		}
	})
}

func TestWritesAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, gate := gated()
		u := New(Options{Pool: s})
		m := method.Lookup("starknet_addInvokeTransaction")
		out := make(chan error, 5)
		for range 5 {
			go func() {
				a, err := u.Send(t.Context(), m, json.RawMessage(`[{}]`), method.Args{"invoke_transaction": json.RawMessage(`{}`)}, starknet.V010)
				a.Release()
				out <- err
			}()
		}
		synctest.Wait()
		if n, _ := s.count(); n != 5 {
			t.Errorf("%d requests", n)
		}
		for _, a := range s.asked {
			if !a.Once {
				t.Error("a write may be asked again")
			}
		}
		close(gate)
		for range 5 {
			if err := <-out; err != nil {
				t.Error(err)
			}
		}
		if _, err := u.Call(t.Context(), m, nil, nil, starknet.V010); err == nil {
			t.Error("a write was called as a read")
		}
	})
}
