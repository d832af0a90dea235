package voyager

import (
	"context"
	"encoding/binary"
	"errors"
	"math/big"
	"net/http"
	"strconv"

	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/census"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// holderItem is a holder of an ERC-20 token.
type holderItem struct {
	Holder           padded  `json:"holder"`
	Balance          string  `json:"balance"`
	BalanceSeparated *string `json:"balanceSeparated"`
	Decimals         *string `json:"decimals"`
	LastTransferTime uint64  `json:"lastTransferTime"`
	ContractAlias    *string `json:"contractAlias"`
	StarknetID       *string `json:"starknetId"`
}

// holders lists the holders of a token as of a finalized block, the largest first: those of
// one generation of the census, whatever is counted meanwhile.
func (f *Feed) holders(c *call) (any, error) {
	of, err := c.pathFelt("address")
	if err != nil {
		return nil, err
	}
	if kind := c.given["type"]; kind != "" && kind != "erc20" {
		return nil, refusef(http.StatusNotImplemented, "type: only the holders of ERC-20 tokens are counted.")
	}
	return f.walked(c, c.identity(of.String()), func(_ context.Context, v *view) (walked, error) {
		out := walked{tellMore: true}
		out.read = func(ctx context.Context, after []byte, n int) (rows, error) {
			pin, from := parseHolders(after)
			g, revoked, err := f.routes.Generation(ctx, v.r, v.chain, v.state, of, pin)
			var e *kernel.Error
			if errors.As(err, &e) && e.Code == kernel.CodeInvalidCursor {
				return rows{}, refusef(http.StatusConflict, "The holders were counted anew since the first page of this list. Begin again with p=1.")
			}
			if err != nil {
				return rows{}, err
			}
			if g.Withheld(revoked) {
				return rows{}, kernel.RetryLater(60, nil, "What was counted cannot be stood behind right now. GET /v1/{chain}/token/{token}/holders says why.")
			}
			v.top = block.Ref{Number: g.AsOf, Hash: g.Hash}
			list, next, err := g.Ranked(ctx, v.r, from, n, g.Holders)
			part := rows{more: next != nil, total: &g.Holders, render: func(ctx context.Context) (any, error) { return v.holderItems(ctx, of, list) }}
			if next != nil {
				part.after = appendHolders(g.Pin(), next)
			}
			return part, err
		}
		return out, nil
	})
}

// appendHolders is a place in a list of holders: the generation, and where its page ended.
func appendHolders(pin census.Pin, at *census.Cut) []byte {
	b := append(binary.BigEndian.AppendUint64(nil, pin.ID), pin.Digest[:]...)
	return append(binary.BigEndian.AppendUint64(b, at.Rank), at.After[:]...)
}

func parseHolders(b []byte) (*census.Pin, *census.Cut) {
	if len(b) != 24+census.PlaceSize {
		return nil, nil
	}
	return &census.Pin{ID: binary.BigEndian.Uint64(b), Digest: [8]byte(b[8:16])}, &census.Cut{Rank: binary.BigEndian.Uint64(b[16:]), After: census.Place(b[24:])}
}

func (v *view) holderItems(ctx context.Context, of felt.Felt, list []census.Ranked) ([]holderItem, error) {
	names, err := token.MetadataOf(ctx, v.r, []felt.Felt{of})
	if err != nil {
		return nil, err
	}
	var decimals *string
	if m := names[0]; m != nil && m.Decimals != nil {
		text := strconv.Itoa(int(*m.Decimals))
		decimals = &text
	}
	out := make([]holderItem, len(list))
	for i := range list {
		h := &list[i]
		raw, at := h.Balance(), h.Address()
		out[i] = holderItem{Holder: padded(at), Balance: new(big.Int).SetBytes(raw[:]).String(), Decimals: decimals, LastTransferTime: h.Time, ContractAlias: v.chain.AliasesOf(&at, nil).ContractAlias}
	}
	return out, nil
}
