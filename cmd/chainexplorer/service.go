package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/accountpages"
	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/gateway"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/label"
	"chainexplorer/internal/mcp"
	"chainexplorer/internal/me"
	"chainexplorer/internal/node"
	"chainexplorer/internal/places"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/session"
	"chainexplorer/internal/signin"
	"chainexplorer/internal/site"
	"chainexplorer/internal/stream"
	"chainexplorer/internal/usage"
	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/revocation"
	verification "chainexplorer/internal/verification/routes"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/standing"
	"chainexplorer/internal/verification/translog"
	"chainexplorer/internal/voyager"
	"chainexplorer/internal/web/pages"
)

// serviceOptions are the settings of serve, api and demo.
type serviceOptions struct {
	chainSettings
	Listen        string
	Metrics       string
	Operator      operatorFlags
	BackupDir     string
	Control       string                     // the control database; in Data, or else with the store, when empty
	Nodes         map[string][]node.Endpoint // by chain id; "" is the chain that the nodes serve
	LameDuck      time.Duration              // how long the service says that it stops before it does
	Origins       []string
	BaseURL       string
	HeadMaxAge    time.Duration // how long what a node said of its head counts
	TraceEndpoint string
	Callers       callerFlags
	RPC           rpcFlags
	OIDC          oidcFlags
	Receipts      receiptFlags
	Signer        signerFlags
	Verifier      verifierFlags
	Prover        proverFlags
	Webhooks      webhookFlags
}

// service is a process that answers requests, whatever else it does for its chains.
type service struct {
	*composition
	opts     serviceOptions
	listener net.Listener
	control  *control.DB
	accounts *account.Repository
	people   *session.Repository
	keys     *account.Authenticator
	counts   *usage.Repository
	usage    *usage.Recorder
	places   *places.Book // nil when this process is the only one
	chains   []*chainParts
	api      *kernel.Server
	front    *front
	traces   func(http.Handler) http.Handler
	receipts *translog.Log      // nil when none is published
	signer   *signer.Client     // nil when none was named
	proven   *standing.Receipts // nil when nobody says which keys are trusted
	revoked  *revocation.Book   // keys that no receipt counts by any more
	relay    *relay.Relay       // nil without a prover
}

// openService opens everything, so that every bad setting is known before
// anything runs. Close must be called whatever happens next.
func openService(ctx context.Context, o serviceOptions, con *console) (_ *service, err error) {
	if o.Data != "" {
		if err := checkRestored(o.Data); err != nil {
			return nil, err
		}
	}
	o.chainSettings.Guests = o.RPC.guests()
	s := &service{composition: newComposition(o.chainSettings, con, o.BackupDir), opts: o}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.listener, err = net.Listen("tcp", o.Listen); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	configured, err := o.Callers.configured()
	if err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	bounds, err := o.Callers.bounds()
	if err != nil {
		return nil, errors.Join(err, s.listener.Close())
	}
	bounds.Registerer = s.registered
	s.front = newFront(s.listener, bounds, o.Origins, con.log)
	s.onClose(func() { s.front.server.Close() }) //nolint:errcheck // the process ends
	if err := s.serveMetrics(o.Metrics, &o.Operator); err != nil {
		return nil, err
	}
	traces, stopTraces, err := openTraces(o.TraceEndpoint)
	if err != nil {
		return nil, err
	}
	s.traces = traces
	s.onClose(stopTraces)
	if o.Data != "" {
		if err := os.MkdirAll(o.Data, 0o700); err != nil {
			return nil, fmt.Errorf("data directory: %w", err)
		}
	}
	warnOfVoidKeys(&o, con.log)
	if s.control, err = control.Open(ctx, control.Options{Path: o.controlPath(), BeforeUpgrade: s.readable(o.Nodes), Logger: con.log}); err != nil {
		if o.Data != "" {
			err = explainFull(err, o.Data)
		}
		return nil, err
	}
	if !s.control.IsFile() {
		con.log.Info("control database opened in PostgreSQL", "tls", control.TLSMode(o.controlPath()))
	}
	s.onClose(func() { s.control.Close() }) //nolint:errcheck // every change is durable when it is acknowledged
	s.revoked = revocation.New(s.control, nil)
	s.accounts = account.NewRepository(s.control, account.Options{})
	s.people = session.NewRepository(s.control, session.Options{})
	s.keys = account.NewAuthenticator(s.accounts, con.log)
	if err := s.keys.Configure(configured); err != nil {
		return nil, &usageError{err.Error()}
	}
	s.counts = usage.NewRepository(s.control, s.accounts, nil)
	s.usage = usage.NewRecorder(s.counts, usage.Options{Metrics: usage.NewMetrics(s.registered), Logger: con.log})
	if o.Role.Jobs {
		if err := s.verifyWith(s.control, o.Verifier, o.Signer); err != nil {
			return nil, err
		}
		if err := s.deliverWith(s.control, o.Webhooks); err != nil {
			return nil, err
		}
	}
	for _, id := range slices.Sorted(chainNames(o.Nodes)) {
		c, err := s.openChain(ctx, id, o.Nodes[id])
		if err != nil {
			return nil, err
		}
		s.chains = append(s.chains, c)
	}
	s.backups.open(s.control)
	if err := s.openAPI(ctx); err != nil {
		return nil, err
	}
	s.front.open(gateway.HideKeys(s.traces(s.api)))
	return s, nil
}

// warnOfVoidKeys says so when a control database is about to be made beside an index:
// either this is the first start after 'index' or 'restore', or the file was lost.
func warnOfVoidKeys(o *serviceOptions, log *slog.Logger) {
	if control.IsAddress(o.controlPath()) || o.Data == "" {
		return
	}
	if _, err := os.Stat(o.controlPath()); !errors.Is(err, os.ErrNotExist) {
		return
	}
	if found, err := storesIn(o.Data); err == nil && len(found) > 0 {
		log.Warn("there is an index and no control database: a new one is made, and keys that were made before are void; restore it from a backup if there were any", "path", o.controlPath())
	}
}

// controlPath is where the control database is.
func (o *serviceOptions) controlPath() string {
	switch {
	case o.Control != "":
		return o.Control
	case o.Data != "":
		return filepath.Join(o.Data, "control.db")
	default:
		return o.Store.Store
	}
}

func chainNames(m map[string][]node.Endpoint) func(func(string) bool) {
	return func(yield func(string) bool) {
		for id := range m {
			if !yield(id) {
				return
			}
		}
	}
}

func (s *service) openAPI(ctx context.Context) error {
	secret := s.control.CursorSecret()
	o := kernel.Options{Keys: s.keys, Record: s.usage.Record, Sessions: me.Sessions(s.people), Cursors: kernel.NewCursors(secret[:]), Origins: s.opts.Origins, BaseURL: s.opts.BaseURL, Version: version(),
		Address: s.listener.Addr().String(), Logger: s.con.log, Metrics: kernel.NewMetrics(s.registered)}
	if err := s.opts.Callers.set(&o); err != nil {
		return err
	}
	if !s.control.IsFile() { // other processes may serve the same keys
		o.Draw = s.control.Draw
		s.places = places.New(places.Options{Ledger: s.control, Logger: s.con.log, Registerer: s.registered})
		o.Places = s.places
	}
	provider, err := s.opts.OIDC.provider(s.opts.BaseURL)
	if err != nil {
		return err
	}
	k, err := kernel.New(o)
	if err != nil {
		return err
	}
	r := api.Options{Labels: label.NewRepository(s.control, nil), HeadMaxAge: s.opts.HeadMaxAge,
		RPC: api.RPCService{Enabled: s.opts.RPC.Rpc, WebSocket: s.opts.RPC.Rpc && s.opts.RPC.RpcWebsocket, Writes: s.opts.RPC.RpcWrites}}
	verified := job.New(s.control, job.Options{})
	r.Attempt = verification.Attempts(verified)
	var ids []string
	for _, c := range s.chains {
		if ids = append(ids, c.id); c.id == job.Chain {
			r.Verification = func(ctx context.Context) error { return verified.Available(ctx, job.Chain) }
		}
		served := api.Chain{ID: c.id, Store: c.engine, Trouble: c.trouble, Depth: s.Depth, Registry: s.Registry.Chain(c.id)}
		if c.id == job.Chain {
			served.Proofs = s.proofs(ctx, verified)
		}
		if c.pool != nil {
			served.Heard, served.Node = c.heard, c.pool
		}
		r.Chains = append(r.Chains, served)
	}
	if err := s.openRelay(&r); err != nil {
		return err
	}
	routes, err := api.New(k, r)
	if err != nil {
		return err
	}
	if err := s.openGateway(k); err != nil {
		return err
	}
	verification.New(k, verification.Options{Jobs: verified, Chains: ids})
	s.serveRelay(k)
	if err := s.serveWebhooks(k, routes); err != nil {
		return err
	}
	streams := stream.New(k, routes, stream.Options{Streams: s.opts.Callers.Streams, PerAddress: s.opts.Callers.held()})
	s.front.server.RegisterOnShutdown(streams.Close) // or they would be waited for
	s.onClose(streams.Close)
	mcp.New(k, mcp.Options{Version: version(), Chains: routes.Order, Default: routes.Order[0]})
	voyager.New(k, routes)
	me.New(k, me.Options{Accounts: s.accounts, Usage: s.counts})
	desk := signin.New(k, signin.Options{People: s.people, Home: accountpages.Path, Provider: provider, Chains: routes.Order})
	accountpages.New(desk, accountpages.Options{Accounts: s.accounts, People: s.people, Usage: s.counts, Chain: routes.Order[0]})
	listed, log, err := s.opts.Receipts.publish(k, s)
	if err != nil {
		return err
	}
	if s.signer, err = s.opts.Signer.client(); err != nil {
		return err
	}
	s.receipts = log
	shown := pages.New(k, routes)
	if log != nil {
		shown.Checkpoint = log.Checkpoint
	}
	shown.Jobs = s.workOf
	s.front.server.RegisterOnShutdown(shown.Close) // or streams would be waited for
	s.onClose(shown.Close)
	site.New(k, routes, listed...)
	s.api = k
	return nil
}
