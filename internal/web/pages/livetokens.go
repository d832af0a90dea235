package pages

import (
	"errors"
	"html/template"
	"net/url"

	"chainexplorer/internal/api"
	"chainexplorer/internal/explorer/token"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
)

// liveBalanceView is the data of the page that asks a contract for a balance.
type liveBalanceView struct {
	*addressHead
	TokenText, BlockText string
	B                    *api.BalanceOf
	Of                   template.HTML
	Places               *uint8
	Why                  string // indexed transfers do not tell
	Failed               string // the contract was not asked, or did not answer
}

// liveGaps say why there is nothing to hold a live balance against.
var liveGaps = map[string]string{
	"pending_block": "The block is still being built.", "single_id_not_indexed": "Balances of single ids are not indexed.",
	string(token.GapKind): untold[token.GapKind], string(token.GapGenesis): untold[token.GapGenesis], string(token.GapNegative): untold[token.GapNegative],
}

// liveBalancePage asks a token's contract what an address has, beside what is indexed.
func liveBalancePage(l *look) (*sheet, error) {
	a, err := l.addressOf()
	if err != nil {
		return nil, err
	}
	v := &liveBalanceView{TokenText: l.query.Get("token")}
	if v.BlockText, err = l.block("block"); err != nil {
		return nil, err
	}
	if v.addressHead, err = l.addressHead(a, "balance"); err != nil {
		return nil, err
	}
	s := v.sheet("Balance", "What a token's contract says that the address "+a.String()+" has.", "balance.html", v)
	if v.TokenText == "" {
		return s, nil
	}
	of, e := kernel.FeltOf("query.token", v.TokenText)
	if e != nil {
		return nil, e
	}
	names, err := l.coins([]felt.Felt{of})
	if err != nil {
		return nil, err
	}
	v.Of, v.Places = l.Coin(names[of]), names[of].Decimals
	s.await = func() error {
		v.B, err = ask[api.BalanceOf](l, "getTokenBalance", filled(url.Values{"block_tag": {v.BlockText}}), of.String(), a.String())
		if err == nil {
			v.Why = liveGaps[orNothing(v.B.IndexedBalanceUnavailableReason)]
			return nil
		}
		v.Failed, err = failedWords(err)
		return err
	}
	return s, nil
}

// failedWords are what a person is told of a contract or a node that did not answer. What
// is wrong with the request itself refuses the page.
func failedWords(err error) (string, error) {
	var e *kernel.Error
	if !errors.As(err, &e) || e.Code == kernel.CodeInvalidRequest || e.Code == kernel.CodeInternal {
		return "", err
	}
	return sentence(e.Message), nil
}

// supplyView is the data of the page that asks a contract for its supply.
type supplyView struct {
	*tokenHead
	BlockText string
	B         *api.TotalSupply
	Minted    *string
	MintedWhy string
	Head      uint64
	Failed    string
}

// supplyPage asks a token's contract for its supply, beside what is indexed.
func supplyPage(l *look) (*sheet, error) {
	a, err := l.tokenOf()
	if err != nil {
		return nil, err
	}
	v := &supplyView{Head: l.state.Head.Number}
	if v.BlockText, err = l.block("block"); err != nil {
		return nil, err
	}
	if v.tokenHead, err = l.tokenHead(a, "supply"); err != nil {
		return nil, err
	}
	if v.Minted, v.MintedWhy, err = l.mintedOf(a); err != nil {
		return nil, err
	}
	s := v.sheet("Supply", "supply.html", v)
	s.await = func() error {
		if v.B, err = ask[api.TotalSupply](l, "getTokenTotalSupply", filled(url.Values{"block_tag": {v.BlockText}}), a.String()); err != nil {
			v.Failed, err = failedWords(err)
		}
		return err
	}
	return s, nil
}
