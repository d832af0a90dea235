package api

import (
	"context"
	"math/big"

	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/block"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/privacypool"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/kernel"
	"chainexplorer/internal/registry"
)

// privacyPages are the pages of pools' events.
var privacyPages = kernel.Page{Usual: 25, Most: 100}

// PrivacyCommitmentPage is a page of notes that were created.
type PrivacyCommitmentPage struct {
	Items      []PrivacyCommitment `json:"items"`
	NextCursor *string             `json:"nextCursor"`
}

// PrivacyNullifierPage is a page of nullifiers that were published.
type PrivacyNullifierPage struct {
	Items      []PrivacyNullifier `json:"items"`
	NextCursor *string            `json:"nextCursor"`
}

// PrivacyEvidence is the event that a fact stands on.
type PrivacyEvidence struct {
	BlockNumber         uint64      `json:"blockNumber"`
	TimestampISO        *string     `json:"timestampIso" format:"date-time"`
	TxIndex             uint32      `json:"txIndex"`
	LogIndex            uint32      `json:"logIndex" doc:"The event's index in its transaction."`
	TxHash              felt.Felt   `json:"txHash"`
	PoolContractAddress felt.Felt   `json:"poolContractAddress"`
	EventName           string      `json:"eventName"`
	DecodingStatus      string      `json:"decodingStatus" enum:"decoded,name_only,unknown" doc:"decoded when the layout of the pool's class in force used the event up exactly. Otherwise what was not read is null."`
	Visibility          string      `json:"visibility" enum:"public,partial,hidden_by_design" doc:"How much of what happened an event of this name tells."`
	Keys                []felt.Felt `json:"keys" doc:"All keys: evidence, whatever was decoded."`
	Data                []felt.Felt `json:"data" doc:"All data: evidence, whatever was decoded."`
	RowTier
}

// PrivacyCommitment is a note that was created.
type PrivacyCommitment struct {
	PrivacyEvidence
	CommitmentHash *felt.Felt `json:"commitmentHash" doc:"The note's id; null when the event could not be read."`
	TokenAddress   *felt.Felt `json:"tokenAddress" doc:"Of an open note; what an encrypted one holds is hidden by design."`
	AmountRaw      *string    `json:"amountRaw" doc:"Of an open note: what its own transaction paid into it; decimal, in base units. Null for an encrypted one, and where the transaction does not tell."`
}

// PrivacyNullifier is a nullifier that was published: some note was used.
type PrivacyNullifier struct {
	PrivacyEvidence
	NullifierHash *felt.Felt `json:"nullifierHash" doc:"Null when the event could not be read. Which note it belongs to is hidden by design."`
}

// PrivacyListInput is what the lists of facts take.
type PrivacyListInput struct {
	ChainInput
	Pool   string       `query:"pool" format:"felt" maxLength:"70" doc:"One pool's contract. One that this service does not know as a pool has no rows."`
	Limit  kernel.Limit `query:"limit"`
	Cursor string       `query:"cursor" doc:"nextCursor of the page before, with the same filter."`
}

const privacyPaging = " Newest first, up to the head. `limit` is {page}. A page may end early and be empty; go on while nextCursor is not null."

func (s *Routes) privacyListRoutes() {
	events := privacyRoute("listPrivacyPoolEvents", "events", "List the events of privacy pools",
		"Decoded by the pool's class in force where the event stands; raw keys and data are always there. An event of a class or with a selector that is not known keeps its evidence and says no more."+privacyPaging)
	events.Page = privacyPages
	kernel.Register(s.Server, events, s.listPrivacyEvents)
	facts := privacyRoute("listPrivacyPoolCommitments", "commitments", "List the notes that were created",
		"Public facts alone: whom a note belongs to, and what an encrypted one holds, is hidden by design. An encrypted note may hold nothing, so that their number says nothing about value."+privacyPaging)
	facts.Page, facts.Depends = privacyPages, kernel.OnChain
	kernel.Register(s.Server, facts, s.listPrivacyCommitments)
	facts = privacyRoute("listPrivacyPoolNullifiers", "nullifiers", "List the nullifiers that were published",
		"Each says that some note was used, and not which."+privacyPaging)
	facts.Page, facts.Depends = privacyPages, kernel.OnChain
	kernel.Register(s.Server, facts, s.listPrivacyNullifiers)
}

func (s *Routes) listPrivacyCommitments(ctx context.Context, in *PrivacyListInput) (*body[PrivacyCommitmentPage], error) {
	out := &body[PrivacyCommitmentPage]{PrivacyCommitmentPage{Items: []PrivacyCommitment{}}}
	q := &privacyList{operation: "listPrivacyPoolCommitments", input: in, kinds: []privacypool.Kind{privacypool.EncNoteCreated, privacypool.OpenNoteCreated}}
	next, err := s.privacyRows(ctx, q, func(v *privacyRowsView) error {
		amounts, err := privacypool.Deposits(ctx, v.r, v.pools, v.rows)
		if err != nil {
			return err
		}
		for i := range v.rows {
			f := &v.rows[i].Fact
			out.Body.Items = append(out.Body.Items, PrivacyCommitment{v.evidence(i), f.NoteID, f.Token, amountText(amounts[i])})
		}
		return nil
	})
	out.Body.NextCursor = next
	return out, err
}

func (s *Routes) listPrivacyNullifiers(ctx context.Context, in *PrivacyListInput) (*body[PrivacyNullifierPage], error) {
	out := &body[PrivacyNullifierPage]{PrivacyNullifierPage{Items: []PrivacyNullifier{}}}
	q := &privacyList{operation: "listPrivacyPoolNullifiers", input: in, kinds: []privacypool.Kind{privacypool.NoteUsed}}
	next, err := s.privacyRows(ctx, q, func(v *privacyRowsView) error {
		for i := range v.rows {
			out.Body.Items = append(out.Body.Items, PrivacyNullifier{v.evidence(i), v.rows[i].Fact.Nullifier})
		}
		return nil
	})
	out.Body.NextCursor = next
	return out, err
}

// amountText is an amount in base units; nil when it is not known.
func amountText(n *big.Int) *string {
	if n == nil {
		return nil
	}
	return some(n.String())
}

// privacyList is a checked request for pools' events.
type privacyList struct {
	operation string
	input     *PrivacyListInput
	filter    string // besides the pool: part of what a cursor is good for
	kinds     []privacypool.Kind
}

// privacyRowsView is a page of pools' events in the view that it was read from.
type privacyRowsView struct {
	chain *Chain
	r     explorer.Reader
	state *chain.State
	pools []registry.PrivacyPool // all of the chain
	rows  []privacypool.Row
}

// privacyRows reads a page and returns the cursor of the next.
func (s *Routes) privacyRows(ctx context.Context, q *privacyList, render func(v *privacyRowsView) error) (next *string, err error) {
	var one *felt.Felt
	scope := q.operation + "\x00" + q.input.Chain + "\x00" + q.filter
	if q.input.Pool != "" {
		address, err := kernel.FeltOf("query.pool", q.input.Pool)
		if err != nil {
			return nil, err
		}
		one, scope = &address, scope+"\x00"+address.String()
	}
	err = s.view(ctx, q.input.Chain, func(c *Chain, r explorer.Reader, state *chain.State) error {
		v := &privacyRowsView{chain: c, r: r, state: state, pools: c.Registry.PrivacyPools()}
		list := privacypool.Query{Pools: v.pools, Kinds: q.kinds, Head: state.Head.Number, Limit: q.input.Limit.Size()}
		if one != nil {
			list.Pools = privacypool.Named(v.pools, *one)
		}
		if q.input.Cursor != "" {
			after, err := s.openPlace(ctx, r, scope, q.input.Cursor)
			if err != nil {
				return err
			}
			list.After = &after
		}
		page, err := privacypool.List(ctx, r, list)
		if err != nil {
			return err
		}
		if page.Next != nil {
			next = s.sealSpot(scope, block.Ref{Number: page.Next.Block, Hash: page.NextHash}, page.Next.Tx, page.Next.Log)
		}
		v.rows = page.Rows
		return render(v)
	})
	return next, err
}

func (v *privacyRowsView) evidence(i int) PrivacyEvidence {
	row := &v.rows[i]
	return PrivacyEvidence{
		BlockNumber: row.Block, TimestampISO: some(kernel.TimestampISO(row.Timestamp)), TxIndex: row.Tx, LogIndex: row.Log, TxHash: row.TxHash,
		PoolContractAddress: row.Event.From, EventName: row.Fact.Name, DecodingStatus: row.Reading.Status.String(), Visibility: string(row.Fact.Visibility),
		Keys: head(row.Event.Keys, len(row.Event.Keys)), Data: head(row.Event.Data, len(row.Event.Data)), RowTier: tierOf(v.chain, v.state, row.Block),
	}
}
