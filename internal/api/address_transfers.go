package api

import (
	"context"
	"net/http"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

func (s *Routes) addressTransferRoutes() {
	r := kernel.Route{Method: http.MethodGet, Family: "Addresses", Class: kernel.Heavy, Scope: account.Read, Tier: kernel.TierOfficial, Certification: kernel.Beta, Audience: kernel.External, Depends: kernel.OnChain | kernel.OnEnrichment,
		Page: kernel.Page{Usual: 25, Most: 100}, Statuses: []int{http.StatusNotFound}, ID: "listAddressTransfers", Path: "/v1/{chain}/address/{address}/transfers", Summary: "List an address's token transfers"}
	r.Description = "Transfers from and to the address, newest first unless `order` is asc. All filters apply before paging. `limit` is {page}. " +
		"A page may end early and be empty; go on while nextCursor is not null."
	kernel.Register(s.Server, r, s.listAddressTransfers)
}

func (s *Routes) listAddressTransfers(ctx context.Context, in *struct {
	ChainInput
	Address string `path:"address" format:"felt" maxLength:"70" doc:"Address."`
	TransferFilter
	ListOrder
}) (*body[TransferPage], error) {
	q, err := parseTransfers(&in.TransferFilter, kernel.Values("path.address", []string{in.Address}))
	if err != nil {
		return nil, err
	}
	q.Order = in.order()
	page, err := s.transferPage(ctx, "listAddressTransfers", in.Chain, q)
	if err != nil {
		return nil, err
	}
	return &body[TransferPage]{*page}, nil
}
