package api

import (
	"context"
	"slices"

	"chainexplorer/internal/abi"
	"chainexplorer/internal/explorer"
	"chainexplorer/internal/explorer/chain"
	"chainexplorer/internal/explorer/decoded"
	"chainexplorer/internal/explorer/transaction"
	"chainexplorer/internal/felt"
)

const (
	// maxAccountCalls bounds the calls that a transaction shows.
	maxAccountCalls = 500
	// argumentBytes bounds the decoded arguments of a transaction.
	argumentBytes = 1 << 20
)

// AccountCall is one call of an account's multicall, or the entry point that a
// transaction runs.
type AccountCall struct {
	To                felt.Felt   `json:"to"`
	Selector          felt.Felt   `json:"selector"`
	CalldataLen       int         `json:"calldataLen"`
	Calldata          []felt.Felt `json:"calldata" doc:"Authoritative, whatever was decoded. All calls of a transaction show 1,024 felts together, the first ones."`
	CalldataTruncated bool        `json:"calldataTruncated"`
	MethodContent
	DecodingStatus                    string          `json:"decodingStatus" enum:"decoded,name_only,unknown"`
	DecodedArguments                  *[]DecodedField `json:"decodedArguments" doc:"In the order of the function's arguments; their source is data, and originIndexes are places in this call's calldata. Null unless decodingStatus is decoded."`
	DecodedArgumentsSource            *string         `json:"decodedArgumentsSource" enum:"verified_abi,class_abi" doc:"Null unless decoded."`
	DecodedArgumentsUnavailableReason *string         `json:"decodedArgumentsUnavailableReason" enum:"schema_unavailable,selector_only_attribution,payload_shape_mismatch,schema_shape_unsupported,decoding_budget_exhausted" doc:"Null when decoded. decoding_budget_exhausted: the calls in front of it filled the answer."`
	CallTimeClassHash                 *felt.Felt      `json:"callTimeClassHash" doc:"Class of the contract when it was called; null when the block does not tell, and when there was no contract."`
	Aliases
}

// MethodContent is the name of what is called.
type MethodContent struct {
	MethodName                  *string `json:"methodName" doc:"The function; certain, because the selector is its hash."`
	MethodNameSource            *string `json:"methodNameSource" enum:"verified_abi,class_abi,curated_selector,selector_unique" doc:"class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise the selector alone tells the name."`
	MethodNameUnavailableReason *string `json:"methodNameUnavailableReason" enum:"call_time_class_epoch_unavailable" doc:"Why there is no name, when it is that the class that ran cannot be told."`
}

// Aliases are names for showing, from the registry alone.
type Aliases struct {
	ContractAlias *string `json:"contractAlias" doc:"Name of the contract in the registry; never what a contract calls itself."`
	ClassAlias    *string `json:"classAlias" doc:"Official name of the class in the registry."`
}

// aliases names a contract and the class that it had, as the registry does.
func (c *Chain) aliases(contract felt.Felt, class *felt.Felt) (out Aliases) {
	if l, ok := c.Registry.Label(contract); ok {
		out.ContractAlias = some(l.Name)
	} else if t, ok := c.Registry.Token(contract); ok {
		out.ContractAlias = some(t.Name)
	}
	if class != nil {
		if name, ok := c.Registry.ClassName(*class); ok {
			out.ClassAlias = some(name)
		}
	}
	return out
}

func methodContent(r *decoded.CallResult) MethodContent {
	return MethodContent{someOf(&r.Name), someOf((*string)(&r.NameSource)), someOf((*string)(&r.NameUnavailableReason))}
}

// fillCalls decodes and renders what a transaction calls. It is certain when only
// another chain can change the answer.
func (s *Routes) fillCalls(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, t *transaction.Record, out *Tx, room *txRoom) (certain bool, err error) {
	calls, byAccount := decoded.AppendCalls(room.called[:0], t)
	if room.called, room.count = calls, len(calls); byAccount {
		out.AccountCallCount = &room.count
	}
	calls = calls[:min(len(calls), maxAccountCalls)]
	results, degraded, err := decoded.Calls(ctx, r, s.schemas, calls, decoded.Options{Arguments: argumentBytes, Verified: c.verified(state), Room: &room.decoded})
	if err != nil {
		return false, err
	}
	out.CallDecodingDegraded = degraded
	certain, left := true, MaxCalldata
	rows := slices.Grow(room.calls[:0], max(len(calls), 1)) // which is not nil
	for i := range calls {
		certain = certain && results[i].Settled
		rows = append(rows, renderCall(c, &calls[i], &results[i], left, room))
		left -= len(rows[i].Calldata)
	}
	room.calls = rows
	if out.AccountCalls = rows; !byAccount {
		out.AccountCalls = []AccountCall{}
		if n := len(rows); n > 0 {
			out.EntryPoint = &rows[n-1]
		}
	}
	return certain && !degraded, nil
}

// renderCall renders a call with at most so many felts of calldata.
func renderCall(c *Chain, call *decoded.Call, r *decoded.CallResult, most int, room *txRoom) AccountCall {
	out := AccountCall{To: call.To, Selector: call.Selector, CalldataLen: len(call.Calldata), Calldata: head(call.Calldata, most), CalldataTruncated: len(call.Calldata) > most,
		MethodContent: methodContent(r), DecodingStatus: string(r.Status), DecodedArgumentsSource: someOf((*string)(&r.FieldsSource)),
		DecodedArgumentsUnavailableReason: someOf((*string)(&r.UnavailableReason)), CallTimeClassHash: r.ClassHash, Aliases: c.aliases(call.To, r.ClassHash)}
	if r.Status == abi.Decoded {
		fields := room.fieldsFor(len(r.Fields))
		for i := range r.Fields {
			fields[i] = renderField(&r.Fields[i])
		}
		room.arguments = append(room.arguments, fields)
		out.DecodedArguments = &room.arguments[len(room.arguments)-1]
	}
	return out
}

// MainMethod is what a transaction calls first, in a list.
type MainMethod struct {
	PrimaryMethod       *string `json:"primaryMethod" doc:"Function of the first call, or the entry point that the protocol runs: a constructor, a handler of L1 messages. Null when nothing names it."`
	PrimaryMethodSource *string `json:"primaryMethodSource" enum:"verified_abi,class_abi,curated_selector,selector_unique" doc:"class_abi: the class in force has it; verified_abi: and its source was proven. Otherwise the selector alone tells the name."`
}

// openings are what the transactions of a page call first. They are looked at one by one, by
// several goroutines where there are many.
type openings struct {
	calls []decoded.Call
	some  []bool
}

func newOpenings(n int) *openings { return &openings{make([]decoded.Call, n), make([]bool, n)} }

func (o *openings) look(i int, t *transaction.Record) { o.calls[i], o.some[i] = decoded.FirstCall(t) }

// primaryMethods names what the transactions of a page call first. certain as in fillCalls.
// The work does not grow with the number of their calls.
func (s *Routes) primaryMethods(ctx context.Context, r explorer.Reader, c *Chain, state *chain.State, o *openings) (out []MainMethod, certain bool, err error) {
	out = make([]MainMethod, len(o.calls))
	first, where := o.calls[:0], make([]int, 0, len(o.calls))
	for i := range o.calls {
		if o.some[i] {
			first, where = append(first, o.calls[i]), append(where, i)
		}
	}
	results, degraded, err := decoded.Calls(ctx, r, s.schemas, first, decoded.Options{Verified: c.verified(state)})
	if err != nil {
		return nil, false, err
	}
	certain = !degraded
	texts := make([][2]string, len(where))
	for k, i := range where {
		texts[k] = [2]string{results[k].Name, string(results[k].NameSource)}
		out[i] = MainMethod{someOf(&texts[k][0]), someOf(&texts[k][1])}
		certain = certain && results[k].Settled
	}
	return out, certain, nil
}
