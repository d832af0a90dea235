package api

import (
	"context"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
)

// Labels are the names that an operator gave to addresses while the service
// runs; those of the registry stand behind them.
type Labels interface {
	Labels(ctx context.Context, chain string) (map[felt.Felt]registry.Label, error)
}

// Protocol is what an address belongs to.
type Protocol struct {
	Name string  `json:"name"`
	Kind *string `json:"kind"`
}

// Attribution says who an address is.
type Attribution struct {
	ChainID          string    `json:"chainId"`
	RequestedAddress string    `json:"requestedAddress" doc:"The caller's own text."`
	CanonicalAddress felt.Felt `json:"canonicalAddress"`
	Known            bool      `json:"known"`
	Label            *string   `json:"label"`
	Confidence       string    `json:"confidence" enum:"high,none" doc:"none unless somebody vouches for the label without reserve."`
	Source           string    `json:"source" enum:"indexed_address_attribution,indexed_protocol_registry,curated_known_token_metadata"`
	LabelSource      *string   `json:"labelSource" doc:"Who says so."`
	LabelConfidence  *string   `json:"labelConfidence" enum:"high,medium,low" doc:"How sure whoever gave the label is."`
	SelfReportedName *string   `json:"selfReportedName" doc:"What a token calls itself. Anybody can choose any name: it says nothing of who it is."`
	Protocol         *Protocol `json:"protocol"`
}

func (s *Routes) attributionRoutes() {
	r := kernel.Route{Method: http.MethodGet, Family: "Addresses", Class: kernel.Light, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment | kernel.OnSetup,
		Statuses: []int{http.StatusNotFound}, ID: "getAddressAttribution", Path: "/v1/{chain}/address/{address}/attribution", Summary: "Say who an address is"}
	r.Description = "The label and protocol of an address, with source and confidence: from the operator's labels, then the registry, then known tokens. What a token calls itself is no label: it stands apart in `selfReportedName`. " +
		"A valid address that nobody named is answered with `known` false."
	kernel.Register(s.Server, r, s.getAttribution)
}

// attribution is a name of an address.
type attribution struct {
	registry.Label
	from string // the source in the contract's words
}

// attributions names addresses: by the operator's labels, then the registry's,
// then its tokens. Nobody is asked for each address.
func (s *Routes) attributions(ctx context.Context, c *Chain, addresses []felt.Felt) ([]*attribution, error) {
	var own map[felt.Felt]registry.Label
	if s.labels != nil {
		var err error
		if own, err = s.labels.Labels(ctx, c.ID); err != nil {
			return nil, kernel.RetryLater(2, err, "Labels cannot be read right now; try again.")
		}
	}
	out := make([]*attribution, len(addresses))
	for i, a := range addresses {
		if l, ok := own[a]; ok {
			out[i] = &attribution{l, "indexed_address_attribution"}
		} else if l, ok := c.Registry.Label(a); ok {
			out[i] = &attribution{l, "indexed_protocol_registry"}
		} else if t, ok := c.Registry.Token(a); ok {
			out[i] = &attribution{registry.Label{Address: a, Name: t.Name, Source: "registry", Confidence: registry.High}, "curated_known_token_metadata"}
		}
	}
	return out, nil
}

// ownName is what a token calls itself, which anybody can choose.
func ownName(ctx context.Context, r explorer.Reader, a felt.Felt) (*string, error) {
	names, err := token.MetadataOf(ctx, r, []felt.Felt{a})
	if err != nil || names[0] == nil || names[0].Name == nil {
		return nil, err
	}
	return some(*names[0].Name), nil
}

func (a *attribution) protocol() *Protocol {
	if a == nil || a.Protocol == "" {
		return nil
	}
	return &Protocol{a.Protocol, some(a.Kind)}
}

func (a *attribution) label() *string {
	if a == nil {
		return nil
	}
	return some(a.Name)
}

func (s *Routes) getAttribution(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Address."`
}) (*body[Attribution], error) {
	a, err := parseAddress(in.Address)
	if err != nil {
		return nil, err
	}
	out := &body[Attribution]{Attribution{ChainID: in.Chain, RequestedAddress: in.Address, CanonicalAddress: a, Confidence: "none", Source: "indexed_address_attribution"}}
	err = s.view(ctx, in.Chain, func(c *Chain, r explorer.Reader, _ *chain.State) error {
		found, err := s.attributions(ctx, c, []felt.Felt{a})
		if err != nil {
			return err
		}
		b := &out.Body
		if b.SelfReportedName, err = ownName(ctx, r, a); err != nil || found[0] == nil {
			return err
		}
		b.Known, b.Label, b.Source, b.LabelSource, b.Protocol = true, found[0].label(), found[0].from, some(found[0].Label.Source), found[0].protocol()
		b.LabelConfidence = some(string(kernel.DefaultTo(found[0].Confidence, registry.High)))
		if *b.LabelConfidence == string(registry.High) {
			b.Confidence = "high"
		}
		return nil
	})
	return out, err
}
