package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/relay"
	proving "chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/request"
	"chainexplorer/internal/relay/routes"
	"chainexplorer/internal/relay/upstream"
)

// proverFlags say whether and how requests for proofs are handed to a prover.
type proverFlags struct {
	Prover            string        `placeholder:"URL" help:"JSON-RPC address of a prover: its requests are relayed at /v1/SN_MAIN/prove, which is not there without it; see docs/relay.md. One with a password is better put into CHAINEXPLORER_PROVER or a file."`
	ProverFile        string        `placeholder:"FILE" help:"File with that address."`
	ProverConcurrency int           `default:"2" help:"Requests of this process that are at the prover at once."`
	ProverQueue       int           `default:"16" help:"Requests of this process that wait for the prover, in memory."`
	ProverTimeout     time.Duration `default:"5m" help:"How long the prover may take for one request, 30s to 1h."`
	ProverPatience    time.Duration `default:"5m" help:"How long a request is sent again while the prover is busy or cannot be reached, 1s to 1h."`
	ProverResults     int           `default:"64" help:"Results that wait in memory for whoever asked for them, at up to 8 MiB each; a workspace may have a quarter of them."`
	ProverResultTTL   time.Duration `name:"prover-result-ttl" default:"15m" help:"How long a result waits, 1m to 24h."`
	ProverKeyPerDay   int           `default:"10" help:"Prover jobs that a key may create on a day of UTC, unless 'admin prover budget' says otherwise."`
	ProverKeyAtOnce   int           `default:"2" help:"Prover jobs of a key that have not ended, unless 'admin prover budget' says otherwise."`
	ProverPoolOnly    bool          `help:"Take only transactions of the known privacy pools."`
	ProverPeerURL     string        `name:"prover-peer-url" placeholder:"URL" help:"How the other processes on the same control database in PostgreSQL reach this one. Default: by the address of --listen, if that is one."`
}

// address is the configured one, or none.
func (f *proverFlags) address() (string, error) {
	if f.ProverFile == "" {
		return f.Prover, nil
	}
	if f.Prover != "" {
		return "", &usageError{"give --prover or --prover-file, not both"}
	}
	text, err := readSetting("--prover-file", f.ProverFile)
	if err != nil {
		return "", err
	}
	if address := strings.TrimSpace(string(text)); address != "" {
		return address, nil
	}
	return "", &usageError{"--prover-file: it is empty"}
}

// check refuses settings that would only fail later.
func (f *proverFlags) check() error {
	within := func(d, least, most time.Duration) bool { return d >= least && d <= most }
	switch {
	case f.ProverConcurrency < 1 || f.ProverConcurrency > 1024, f.ProverQueue < 1 || f.ProverQueue > 1024:
		return &usageError{"--prover-concurrency and --prover-queue must be 1 to 1024"}
	case f.ProverResults < f.ProverQueue+f.ProverConcurrency || f.ProverResults > 4096:
		return &usageError{"--prover-results must be at least --prover-queue and --prover-concurrency together, and 4096 at most"}
	case f.ProverKeyPerDay < 1 || f.ProverKeyAtOnce < 1:
		return &usageError{"--prover-key-per-day and --prover-key-at-once must be at least 1"}
	case !within(f.ProverTimeout, 30*time.Second, time.Hour):
		return &usageError{"--prover-timeout must be 30s to 1h"}
	case !within(f.ProverPatience, time.Second, time.Hour):
		return &usageError{"--prover-patience must be 1s to 1h"}
	case !within(f.ProverResultTTL, time.Minute, 24*time.Hour):
		return &usageError{"--prover-result-ttl must be 1m to 24h"}
	}
	if u, err := url.Parse(f.ProverPeerURL); f.ProverPeerURL != "" && (err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "") {
		return &usageError{"--prover-peer-url: want an address such as http://10.0.0.7:8080"}
	}
	address, err := f.address()
	if err != nil || address == "" {
		return err
	}
	if _, err := upstream.New(upstream.Options{URL: address}); err != nil {
		return &usageError{"--prover: " + err.Error()}
	}
	return nil
}

// openRelay makes the prover relay, where a prover was named.
func (s *service) openRelay(o *api.Options) error {
	f := &s.opts.Prover
	address, err := f.address()
	if err != nil || address == "" {
		return err
	}
	prover, err := upstream.New(upstream.Options{URL: address, Timeout: f.ProverTimeout})
	if err != nil {
		return &usageError{"--prover: " + err.Error()}
	}
	if s.Store.shared() && s.control.IsFile() {
		// Two processes on one file would each take the other for gone.
		return &usageError{"--prover: where several processes can share an index (--store), prover jobs need a control database in PostgreSQL (--control)"}
	}
	// Before the first request: nothing of one must get into a core dump.
	if err := undumped(); err != nil {
		return fmt.Errorf("keep the memory of the process out of core dumps, which --prover needs: %w", err)
	}
	made := relay.Options{
		Jobs:   proving.New(s.control, proving.Options{Usual: proving.Budget{Concurrency: f.ProverKeyAtOnce, PerDay: f.ProverKeyPerDay}}),
		Prover: prover, Concurrency: f.ProverConcurrency, Queue: f.ProverQueue, Results: f.ProverResults, ResultTTL: f.ProverResultTTL, Patience: f.ProverPatience,
		Address: f.peerURL(s.listener.Addr()), Metrics: relay.NewMetrics(s.registered), Logger: s.con.log,
	}
	if f.ProverPoolOnly {
		if made.Requests, err = s.poolRequests(); err != nil {
			return err
		}
	}
	if s.relay, err = relay.New(made); err != nil {
		return err
	}
	if !s.control.IsFile() && made.Address == "" {
		s.con.log.Warn("other processes cannot fetch prover results from this one: give --prover-peer-url")
	}
	o.Prover = s.relay.Ready
	s.con.log.Info("relaying requests for proofs", "prover", prover.Address())
	return nil
}

// serveRelay serves it: without a relay there are no routes.
func (s *service) serveRelay(k *kernel.Server) {
	if s.relay != nil {
		secret := s.control.ProverSecret()
		routes.New(k, routes.Options{Relay: s.relay, Secret: secret[:]})
	}
}

// peerURL is how other processes reach this one; "" when that is not known.
func (f *proverFlags) peerURL(listens net.Addr) string {
	if f.ProverPeerURL != "" {
		return f.ProverPeerURL
	}
	at, err := netip.ParseAddrPort(listens.String())
	if err != nil || at.Addr().IsUnspecified() {
		return ""
	}
	return "http://" + at.String()
}

func (s *service) poolRequests() (o request.Options, err error) {
	for _, p := range s.Registry.Chain("SN_MAIN").PrivacyPools() {
		o.Pools = append(o.Pools, request.Word(p.Address))
	}
	if len(o.Pools) == 0 {
		return o, errors.New("--prover-pool-only: no privacy pool of SN_MAIN is known")
	}
	o.Selector = request.Word(felt.Selector("compile_actions"))
	return o, nil
}
