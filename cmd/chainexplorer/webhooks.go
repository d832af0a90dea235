package main

import (
	"fmt"
	"net/netip"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/api"
	"chainexplorer/internal/control"
	"chainexplorer/internal/job"
	delivery "chainexplorer/internal/job/webhook"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/webhook"
	"chainexplorer/internal/webhook/egress"
	webhooks "chainexplorer/internal/webhook/routes"
)

// egressFlags say where webhooks may be sent besides public addresses.
type egressFlags struct {
	WebhookAllow []string `sep:"none" placeholder:"NETWORK" help:"A network that webhooks may be sent to although it is not public, and by http, too, such as 127.0.0.0/8; for development. Repeatable. See docs/webhooks.md."`
}

// webhookFlags say how webhooks are delivered.
type webhookFlags struct {
	egressFlags
	WebhookDeliveries int `default:"32" help:"Webhook messages of a chain that are sent at once; 32 unless set, 1024 at most."`
}

// policy is which addresses are delivered to.
func (f *egressFlags) policy() (p egress.Policy, err error) {
	for _, text := range f.WebhookAllow {
		n, err := netip.ParsePrefix(text)
		if err != nil || n.Masked() != n {
			return p, &usageError{fmt.Sprintf("--webhook-allow %s: want a network, such as 127.0.0.0/8", text)}
		}
		p.Allow = append(p.Allow, n)
	}
	return p, nil
}

func (f *webhookFlags) check() error {
	if f.WebhookDeliveries < 1 || f.WebhookDeliveries > 1024 {
		return &usageError{"--webhook-deliveries must be 1 to 1024"}
	}
	_, err := f.policy()
	return err
}

// deliverWith makes the composition deliver the webhooks in a control database.
func (p *composition) deliverWith(db *control.DB, f webhookFlags) error {
	policy, err := f.policy()
	if err != nil {
		return err
	}
	client := egress.New(egress.Options{Policy: policy})
	p.onClose(client.Close)
	hooks := webhook.New(db, webhook.Options{})
	p.deliver = func(c *chainParts, reg prometheus.Registerer) job.Job {
		feed := api.NewFeed(api.Chain{ID: c.id, Store: c.engine, Depth: p.Depth, Registry: p.Registry.Chain(c.id)})
		return delivery.New(delivery.Job{Webhooks: hooks, Feed: feed, Client: client, Deliveries: f.WebhookDeliveries, Logger: c.log, Metrics: delivery.NewMetrics(reg)})
	}
	return nil
}

// serveWebhooks registers the routes of webhooks.
func (s *service) serveWebhooks(k *kernel.Server, routes *api.Routes) error {
	policy, err := s.opts.Webhooks.policy()
	if err != nil {
		return err
	}
	webhooks.New(k, webhooks.Options{Webhooks: webhook.New(s.control, webhook.Options{}), Feed: routes.Feed, Chains: routes.Order, Policy: policy})
	return nil
}
