package node

import (
	"bytes"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/felt"
	"github.com/prometheus/client_golang/prometheus"
)

func TestOpenRefusesMixedChains(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 20)
		b.chain = "0x534e5f5345504f4c4941"
		_, err := tryOpen(t, pn, nil, a, b)
		var mix *ChainMismatchError
		if !errors.As(err, &mix) {
			t.Fatal(err)
		}
		for _, want := range []string{"http://a", "http://b", "SN_MAIN", "SN_SEPOLIA"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v does not name %s", err, want)
			}
		}
	})
}

func TestSpecVersions(t *testing.T) {
	for version, good := range map[string]bool{
		"0.8.1": true, "0.9.0": true, "0.9": true, "0.10.3": true, "0.10.0-rc.1": true, "v0.8.0": true,
		"0.7.1": false, "0.11.0": false, "1.9.0": false, "0": false, "": false, "0.9.0.1": false, "x.9.0": false, "0.-9": false,
	} {
		t.Run(version, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				a.spec = version
				p, err := tryOpen(t, pn, nil, a)
				if !good {
					var spec *SpecVersionError
					if !errors.As(err, &spec) || spec.Node != "http://a" || spec.Version != version {
						t.Fatal(err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.SpecVersions(t.Context())
				if err != nil || !strings.HasPrefix(strings.TrimPrefix(version, "v"), got["http://a"].String()[:3]) {
					t.Fatalf("%v, %v", got, err)
				}
			})
		})
	}
}

// A node that is down at the start joins later, if it belongs.
func TestLateNodes(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, good, bad := newNode(t, pn, "a", 20), newNode(t, pn, "good", 30), newNode(t, pn, "bad", 40)
		good.stop()
		bad.stop()
		bad.chain = "0x534e5f5345504f4c4941"
		p := open(t, pn, nil, a, good, bad)
		if id, err := p.ChainID(t.Context()); err != nil || id.String() != testChain {
			t.Fatalf("%s, %v", id, err)
		}
		good.start()
		bad.start()
		time.Sleep(6 * time.Second)
		if got, err := p.Call(t.Context(), "starknet_call", []any{}); err != nil || got.Node != "http://good" {
			t.Fatalf("%s, %v", got.Node, err)
		}
		if len(bad.requests()) != 0 || p.Statuses()[2].Refused == nil {
			t.Error("a node of another chain was used")
		}
		if h, err := p.Head(t.Context()); err != nil || h.Number != 30 {
			t.Errorf("%+v, %v", h, err)
		}
		var mix *ChainMismatchError
		if _, err := p.ChainID(t.Context()); !errors.As(err, &mix) || mix.NodeA != "http://a" || mix.NodeB != "http://bad" {
			t.Error(err)
		}
		bad.set(func(f *fakeNode) { f.chain = testChain })
		time.Sleep(6 * time.Second)
		if h, err := p.Head(t.Context()); err != nil || h.Number != 40 {
			t.Errorf("a mended node is not used: %+v, %v", h, err)
		}
	})
}

func TestNoNodeAnswers(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.stop()
		p := open(t, pn, nil, a)
		if _, err := p.ChainID(t.Context()); !errors.Is(err, ErrNoNode) || !strings.Contains(err.Error(), "connection refused") {
			t.Error(err)
		}
		if _, err := p.Head(t.Context()); !errors.Is(err, ErrNoNode) {
			t.Error(err)
		}
		if _, err := p.BlockWithUpdate(t.Context(), 1); !errors.Is(err, ErrNoNode) {
			t.Error(err)
		}
	})
}

func TestEmptyChain(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 0)
		a.answer = func(c wireCall) string {
			if c.Method == "starknet_blockHashAndNumber" {
				return no(c, CodeNoBlocks)
			}
			return ""
		}
		p := open(t, pn, nil, a)
		if _, err := p.Head(t.Context()); !IsNotFound(err) {
			t.Error(err)
		}
		if !p.Statuses()[0].Healthy {
			t.Error("an empty chain was taken for a failure")
		}
	})
}

func TestResponseFlagsFollowTheVersion(t *testing.T) {
	for version, want := range map[string]string{"0.8.1": `"params":1`, "0.10.0": `"params":1`, "0.10.1": `"params":2`, "0.10.3": `"params":2`} {
		t.Run(version, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				a.spec = version
				p := open(t, pn, nil, a)
				raw, err := p.BlockWithUpdate(t.Context(), 7)
				if err != nil || !strings.Contains(string(raw.Block), want) || !strings.Contains(string(raw.StateUpdate), `"params":1`) {
					t.Fatalf("%s %s, %v", raw.Block, raw.StateUpdate, err)
				}
				if n := len(a.requests()); n != 1 || strings.Contains(a.requests()[0], "INCLUDE_PROOF_FACTS") != (want == `"params":2`) {
					t.Fatalf("%d requests: %s", n, a.requests())
				}
			})
		})
	}
}

func TestRejectedFlagsAreRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a := newNode(t, pn, "a", 20)
		a.spec = "0.10.1"
		a.answer = func(c wireCall) string {
			if strings.Contains(string(c.Params), "INCLUDE") {
				return no(c, CodeInvalidParams)
			}
			return ""
		}
		p := open(t, pn, nil, a)
		for range 3 {
			if raw, err := p.BlockWithUpdate(t.Context(), 7); err != nil || !strings.Contains(string(raw.Block), `"params":1`) {
				t.Fatalf("%s, %v", raw.Block, err)
			}
		}
		if n := len(a.requests()); n != 4 {
			t.Errorf("%d requests for 3 blocks", n)
		}
	})
}

func TestTypedReads(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		old, a := newNode(t, pn, "old", 30), newNode(t, pn, "a", 20)
		old.spec = "0.8.1"
		p := open(t, pn, func(c *Config) { c.MaxAttempts = 2 }, old, a)
		if _, node, err := p.BlockHeader(t.Context(), Latest); err != nil || node != "http://old" {
			t.Errorf("latest: %s, %v", node, err)
		}
		if _, node, err := p.BlockHeader(t.Context(), BlockID{}); err != nil || node != "http://old" {
			t.Errorf("zero: %s, %v", node, err)
		}
		if _, node, err := p.BlockHeader(t.Context(), L1Accepted); err != nil || node != "http://a" {
			t.Errorf("l1_accepted: %s, %v", node, err)
		}
		if raw, _, err := p.BlockHeader(t.Context(), BlockNumber(25)); err != nil || !strings.Contains(string(raw), `"block_number":25`) {
			t.Errorf("number: %s, %v", raw, err)
		}
		if _, _, err := p.BlockHeader(t.Context(), BlockHash(felt.FromUint64(0xab))); err != nil || !strings.Contains(strings.Join(old.requests(), ""), `{"block_hash":"0xab"}`) {
			t.Errorf("hash: %v", err)
		}
		two := felt.FromUint64(2)
		got, err := p.CallContract(t.Context(), BlockNumber(3), two, two, nil)
		if err != nil || len(got) != 2 || got[1] != two {
			t.Errorf("call: %v, %v", got, err)
		}
		last := strings.Join(append(old.requests(), a.requests()...), "")
		if want := `"params":{"block_id":{"block_number":3},"request":{"calldata":[],"contract_address":"0x2","entry_point_selector":"0x2"}}`; !strings.Contains(last, want) {
			t.Errorf("call was sent as %s", last)
		}
		old.set(func(f *fakeNode) { f.answer = func(c wireCall) string { return no(c, CodeClassNotFound) } })
		if _, _, err := p.Class(t.Context(), Latest, two); !IsNotFound(err) {
			t.Errorf("class: %v", err)
		}
	})
	bubble(t, func(t *testing.T, pn *pipeNet) {
		old := newNode(t, pn, "old", 30)
		old.spec = "0.8.1"
		p := open(t, pn, nil, old)
		if _, _, err := p.BlockHeader(t.Context(), L1Accepted); !errors.Is(err, ErrNoNode) || !strings.Contains(err.Error(), "0.9.0") {
			t.Errorf("l1_accepted of an old node: %v", err)
		}
	})
}

// Keys in addresses must not reach errors, logs, statuses or metrics.
func TestSecretsStayInside(t *testing.T) {
	secrets := []string{"hunter2secret", "pathkey123", "querykey456", "wskey789", "q7z"}
	faults := maps.Clone(nodeFaults)
	faults["echo"] = func(_ int, w http.ResponseWriter, r *http.Request, _ []byte) bool {
		http.Error(w, "no such key: "+r.URL.Query().Get("k"), http.StatusForbidden)
		return true
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, pn *pipeNet) {
				a := newNode(t, pn, "a", 20)
				a.fault, a.refuseWS = f, true
				var log bytes.Buffer
				reg := prometheus.NewRegistry()
				p := open(t, pn, func(c *Config) {
					c.MaxAttempts, c.MaxResponseBytes = 2, 64<<10
					c.Logger = slog.New(slog.NewTextHandler(&log, nil))
					c.Metrics = NewMetrics(reg)
					c.Nodes = []Endpoint{{
						URL:          "http://user1234:hunter2secret@a/v3/pathkey123?k=querykey456&s=q7z",
						WebSocketURL: "ws://a/wskey789",
					}}
				})
				p.Heads(t.Context())
				_, err := p.Call(t.Context(), "starknet_blockNumber", nil)
				_, werr := p.Call(t.Context(), addInvoke, []any{})
				a.stop()
				time.Sleep(time.Minute)
				_, derr := p.Call(t.Context(), "starknet_blockNumber", nil)
				_, herr := p.BlockWithUpdate(t.Context(), 3)
				if err == nil || werr == nil || derr == nil || herr == nil {
					t.Fatal("an error was expected")
				}
				p.Close()
				all := errors.Join(err, werr, derr, herr).Error() + log.String()
				families, err := reg.Gather()
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range families {
					all += f.String()
				}
				for _, s := range append(secrets, "user1234") {
					if strings.Contains(all, s) {
						t.Errorf("%s is shown in %s", s, all)
					}
				}
				if !strings.Contains(all, "http://a") {
					t.Error("the node is not named")
				}
			})
		})
	}
	for _, bad := range []string{"hunter2secret", "http://", "ftp://pathkey123@x", "http://a/%zzquerykey456", "://wskey789", "http://a:hunter2secret/"} {
		_, err := Open(t.Context(), Config{Nodes: []Endpoint{{URL: bad}}})
		if err == nil {
			t.Errorf("%q was taken", bad)
			continue
		}
		for _, s := range secrets {
			if strings.Contains(err.Error(), s) {
				t.Errorf("%s is shown in %v", s, err)
			}
		}
	}
	if _, err := Open(t.Context(), Config{}); err == nil {
		t.Error("a pool of no nodes was opened")
	}
}

func TestNodesOfOneHostAreToldApart(t *testing.T) {
	addrs, err := parseEndpoints([]Endpoint{{URL: "http://h/a"}, {URL: "HTTP://h/b"}, {URL: "wss://h:9/c"}, {URL: "http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range addrs {
		got = append(got, a.name+"|"+a.http.String()+"|"+a.ws)
	}
	want := "http://h#1|http://h/a| http://h#2|http://h/b| https://h:9|https://h:9/c|wss://h:9/c http://127.0.0.1:1|http://127.0.0.1:1|"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	if !addrs[3].local || addrs[0].local {
		t.Error("loopback")
	}
}

func TestMetricsCount(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, b := newNode(t, pn, "a", 20), newNode(t, pn, "b", 19)
		a.fault = first(1, func(_ int, w http.ResponseWriter, _ *http.Request, _ []byte) bool { w.WriteHeader(500); return true })
		reg := prometheus.NewRegistry()
		p := open(t, pn, func(c *Config) { c.Metrics = NewMetrics(reg) }, a, b)
		if _, err := p.Call(t.Context(), "starknet_call", []any{}); err != nil {
			t.Fatal(err)
		}
		p.Call(t.Context(), "no_such_method", nil) //nolint:errcheck // counted below
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.Metric {
				key := f.GetName()
				for _, l := range m.Label {
					key += " " + l.GetValue()
				}
				got[key] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
		for key, want := range map[string]float64{
			"chainexplorer_node_requests_total starknet_call http://a http_error": 1,
			"chainexplorer_node_requests_total starknet_call http://b ok":         1,
			"chainexplorer_node_requests_total other http://a rpc_error":          1,
			"chainexplorer_node_retries_total":                                    1,
			"chainexplorer_node_head http://a":                                    20,
			"chainexplorer_node_healthy http://b":                                 1,
			"chainexplorer_node_request_seconds http://b":                         3, // who, head shown, call
		} {
			if got[key] != want {
				t.Errorf("%s is %v, want %v", key, got[key], want)
			}
		}
		if t.Failed() {
			t.Log(got)
		}
	})
}

// A patient pool is there before its nodes are, and lets in only those of the
// chain that it was made for.
func TestPatientPool(t *testing.T) {
	bubble(t, func(t *testing.T, pn *pipeNet) {
		a, silent := newNode(t, pn, "a", 20), newNode(t, pn, "silent", 30)
		silent.hold = make(chan struct{})
		patient := func(c *Config) { c.Patient, c.Chain = true, felt.MustShortString("SN_MAIN") }
		p := open(t, pn, patient, a, silent) // without a word from the silent one
		if id, err := p.ChainID(t.Context()); err != nil || id.String() != testChain {
			t.Fatalf("%s, %v", id, err)
		}
		close(silent.hold)
		if err := p.Introduced(t.Context()); err != nil {
			t.Error(err)
		}

		b := newNode(t, pn, "b", 20)
		b.chain = "0x534e5f5345504f4c4941"
		q := open(t, pn, patient, b)
		var wrong *WrongChainError
		if err := q.Introduced(t.Context()); !errors.As(err, &wrong) || wrong.Node != "http://b" || wrong.Chain != felt.MustShortString("SN_SEPOLIA") {
			t.Errorf("introduced: %v", err)
		}
		if _, err := q.Call(t.Context(), "starknet_call", []any{}); err == nil || len(b.requests()) > 0 {
			t.Errorf("a node of another chain was asked: %v", err)
		}
		b.set(func(f *fakeNode) { f.chain = testChain })
		time.Sleep(6 * time.Second)
		if h, err := q.Head(t.Context()); err != nil || h.Number != 20 {
			t.Errorf("a mended node is not used: %+v, %v", h, err)
		}

		// Closing does not wait for a node that is silent.
		mute := newNode(t, pn, "mute", 1)
		mute.hold = make(chan struct{})
		defer close(mute.hold)
		open(t, pn, patient, mute).Close()
	})
}
