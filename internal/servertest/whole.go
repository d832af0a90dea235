package servertest

import (
	"context"
	"errors"
	"testing"

	prover "chainexplorer/internal/relay"
	proverjob "chainexplorer/internal/relay/job"
	relay "chainexplorer/internal/relay/routes"
	"chainexplorer/internal/relay/upstream"
	"chainexplorer/internal/verification/job"
	verification "chainexplorer/internal/verification/routes"
	"chainexplorer/internal/webhook"
	webhooks "chainexplorer/internal/webhook/routes"
)

// Whole is a change of the options to a service that serves everything that can be served:
// its document has all operations. Nothing is proven and nothing is built behind it.
func Whole(t *testing.T) func(*Options) {
	t.Helper()
	return func(o *Options) {
		o.Accounts = true
		o.Verification = &verification.Options{Jobs: job.New(o.Control(), job.Options{Now: o.Now}), Chains: []string{ChainID, job.Chain}}
		jobs := proverjob.New(o.Control(), proverjob.Options{Now: o.Now})
		r, err := prover.New(prover.Options{Jobs: jobs, Prover: noProver{}, Now: o.Now})
		if err != nil {
			t.Fatal(err)
		}
		secret := o.Control().ProverSecret()
		o.Relay = &relay.Options{Relay: r, Secret: secret[:]}
		o.Webhooks = &webhooks.Options{Webhooks: webhook.New(o.Control(), webhook.Options{Now: o.Now})}
	}
}

// noProver is a prover that is away.
type noProver struct{}

func (noProver) Prove(context.Context, []byte) upstream.Outcome {
	return upstream.Outcome{Kind: upstream.Unavailable}
}

func (noProver) Ready(context.Context) error { return errors.New("there is no prover") }
