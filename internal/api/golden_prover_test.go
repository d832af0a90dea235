package api_test

import (
	"context"
	"net/http"
	"strings"

	"chainexplorer/internal/account"
	"chainexplorer/internal/relay"
	"chainexplorer/internal/relay/job"
	"chainexplorer/internal/relay/routes"
	"chainexplorer/internal/relay/upstream"
)

// noProver is never asked: nothing of a relay that does not run is sent.
type noProver struct{}

func (noProver) Prove(context.Context, []byte) upstream.Outcome { panic("nothing is sent") }
func (noProver) Ready(context.Context) error                    { return nil }

// prover meets what the prover relay refuses.
func (g *golden) prover() {
	g.T.Helper()
	var jobs *job.Repo
	var r *relay.Relay
	w := &golden{newWorld(g.T, 3, func(o *options) {
		jobs = job.New(o.Control(), job.Options{Now: o.Now, Usual: job.Budget{Concurrency: 1, PerDay: 9}})
		var err error
		if r, err = relay.New(relay.Options{Jobs: jobs, Prover: noProver{}, Concurrency: 1, Queue: 1, Now: o.Now}); err != nil {
			g.T.Fatal(err)
		}
		o.Relay = &routes.Options{Relay: r}
	}), g.files, g.codes}
	const path = "/v1/SN_MAIN/prove"
	const body = `{"block_id":{"block_number":1},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1"],"signature":["0x1","0x2"],"nonce":"0x0","tip":"0x0",` +
		`"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},` +
		`"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}`
	key := w.NewKey(account.Prove)
	send := func(idempotency, nonce string) reply {
		headers := []string{"X-Service-Api-Key", key, "Idempotency-Key", idempotency}
		if idempotency == "" {
			headers = headers[:2]
		}
		return w.Send(w.Request(http.MethodPost, path, strings.Replace(body, `"nonce":"0x0"`, `"nonce":"`+nonce+`"`, 1), headers...))
	}
	refused := func(dir, idempotency string) {
		g.T.Helper()
		w.compare(goldenCase{dir: dir, name: "create", method: http.MethodPost, path: path}, unnamed(send(idempotency, "0x1")))
	}
	accepted := func(idempotency, nonce string) {
		g.T.Helper()
		if r := send(idempotency, nonce); r.StatusCode != http.StatusAccepted {
			g.T.Fatalf("%d %s", r.StatusCode, r.Body)
		}
	}
	budget := func(b job.Budget) {
		g.T.Helper()
		if err := jobs.SetBudget(g.T.Context(), w.Space.ID, &b, ""); err != nil {
			g.T.Fatal(err)
		}
	}
	refused("idempotency_key_required", "")
	refused("invalid_idempotency_key", "short")
	accepted("idempotency-key-1", "0x2")
	refused("prover_key_concurrency", "idempotency-key-2")
	budget(job.Budget{Concurrency: 9, PerDay: 1})
	refused("prover_daily_budget_exhausted", "idempotency-key-2")
	budget(job.Budget{Concurrency: 9, PerDay: 9})
	accepted("idempotency-key-3", "0x3")
	refused("prover_queue_full", "idempotency-key-2")
	ended, end := context.WithCancel(g.T.Context())
	end()
	r.Run(ended, ended)
	refused("prover_unavailable", "idempotency-key-2")
}
