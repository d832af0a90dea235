package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/gateway/method"
	"chainexplorer/internal/starknet"
)

// Bounds of what a subscription may ask for, as the stricter nodes have them.
const (
	maxBlocksBack   = 1024
	maxKeyPositions = 16
	maxKeys         = 1024 // in all positions
	maxAddresses    = 1024
)

// origin is the block that a subscription starts at: a number, a hash, or the newest.
type origin struct {
	number *uint64
	hash   *felt.Felt
}

// parseWant reads what a subscription asks for.
func parseWant(name string, args method.Args, v starknet.SpecVersion) (w *want, from origin, err error) {
	w = &want{accepted: true}
	switch name {
	case "starknet_subscribeNewHeads":
		w.kind = newHeads
		from, err = parseOrigin(args["block_id"])
	case "starknet_subscribeEvents":
		w.kind = events
		if from, err = parseOrigin(args["block_id"]); err == nil {
			err = w.parseEvents(args, v)
		}
	case "starknet_subscribeNewTransactions", "starknet_subscribeNewTransactionReceipts":
		w.kind = newTransactions
		if name == "starknet_subscribeNewTransactionReceipts" {
			w.kind = newReceipts
		}
		if err = w.parseSenders(args); err == nil {
			err = w.parseFinalities(args["finality_status"])
		}
		if err == nil {
			err = w.parseTags(args["tags"])
		}
	case "starknet_subscribePendingTransactions":
		w.kind, w.early = pendingTransactions, true
		if err = w.parseSenders(args); err == nil {
			err = decode(args["transaction_details"], &w.details, "transaction_details is true or false.")
		}
	case "starknet_subscribeTransactionStatus":
		w.kind = transactionStatus
		err = decode(args["transaction_hash"], &w.tx, "transaction_hash is the hash of a transaction.")
	default:
		err = invalidParams("This subscription is not served here.")
	}
	if err != nil {
		return nil, origin{}, err
	}
	return w.seal(), from, nil
}

// decode reads a parameter; a missing one leaves what is there.
func decode(text json.RawMessage, into any, otherwise string) error {
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return invalidParams(otherwise)
	}
	return nil
}

func parseOrigin(text json.RawMessage) (from origin, err error) {
	const form = `block_id is "latest", {"block_number": …} or {"block_hash": …}.`
	if len(text) == 0 {
		return from, nil
	}
	if text[0] == '"' {
		var tag string
		if json.Unmarshal(text, &tag) != nil || tag != "latest" {
			return from, invalidParams(form)
		}
		return from, nil
	}
	var id struct {
		Number *uint64    `json:"block_number"`
		Hash   *felt.Felt `json:"block_hash"`
	}
	if err := decode(text, &id, form); err != nil {
		return from, err
	}
	if (id.Number == nil) == (id.Hash == nil) {
		return from, invalidParams(form)
	}
	return origin{id.Number, id.Hash}, nil
}

func (w *want) parseEvents(args method.Args, v starknet.SpecVersion) error {
	if text := args["from_address"]; len(text) > 0 && text[0] == '[' {
		if v < starknet.V010 {
			return invalidParams("from_address is one address in this version.")
		}
		if err := decode(text, &w.addresses, "from_address is an address or a list of them."); err != nil {
			return err
		}
	} else if len(text) > 0 {
		w.addresses = make([]felt.Felt, 1)
		if err := decode(text, &w.addresses[0], "from_address is an address."); err != nil {
			return err
		}
	}
	if err := decode(args["keys"], &w.keys, "keys is a list of lists of keys."); err != nil {
		return err
	}
	total := 0
	for _, position := range w.keys {
		total += len(position)
	}
	if len(w.keys) > maxKeyPositions || total > maxKeys {
		return specError(codeTooManyKeys)
	}
	if len(w.addresses) > maxAddresses {
		return specError(codeTooManyAddresses)
	}
	var finality string
	if err := decode(args["finality_status"], &finality, eventFinality); err != nil {
		return err
	}
	switch finality {
	case "", "ACCEPTED_ON_L2":
	case preConfirmed:
		w.early = true // and again when their block is there
	default:
		return invalidParams(eventFinality)
	}
	return nil
}

const eventFinality = "finality_status is PRE_CONFIRMED or ACCEPTED_ON_L2."

func (w *want) parseSenders(args method.Args) error {
	if err := decode(args["sender_address"], &w.addresses, "sender_address is a list of addresses."); err != nil {
		return err
	}
	if len(w.addresses) > maxAddresses {
		return specError(codeTooManyAddresses)
	}
	return nil
}

// parseFinalities reads which finalities are wanted. Two that the specification has
// for transactions are not offered: what nodes have received and what they consider
// cannot be read, and a subscription that stays silent would be a lie.
func (w *want) parseFinalities(text json.RawMessage) error {
	const form = "finality_status is a list of PRE_CONFIRMED and ACCEPTED_ON_L2."
	var list []string
	if err := decode(text, &list, form); err != nil {
		return err
	}
	if len(list) == 0 {
		return nil
	}
	w.accepted = slices.Contains(list, "ACCEPTED_ON_L2")
	w.early = slices.Contains(list, preConfirmed)
	for _, f := range list {
		switch f {
		case "ACCEPTED_ON_L2", preConfirmed:
		case "RECEIVED", "CANDIDATE":
			if w.kind == newTransactions {
				return invalidParams("Transactions that are " + f + " cannot be subscribed to here: they are seen once they are PRE_CONFIRMED. " +
					"starknet_subscribeTransactionStatus tells of one of them.")
			}
			return invalidParams(form)
		default:
			return invalidParams(form)
		}
	}
	return nil
}

func (w *want) parseTags(text json.RawMessage) error {
	const form = "tags is a list of INCLUDE_PROOF_FACTS."
	var list []string
	if err := decode(text, &list, form); err != nil {
		return err
	}
	for _, tag := range list {
		if tag != "INCLUDE_PROOF_FACTS" {
			return invalidParams(form)
		}
		w.facts = true
	}
	return nil
}

// resolve is the number of the block that a subscription gets first. ahead says that
// the chain has it though the hub is not that far.
func (h *hub) resolve(ctx context.Context, w *want, from origin) (next uint64, ahead bool, err error) {
	h.mu.Lock()
	t := h.trail
	h.mu.Unlock()
	newest := max(t.next(), 1) - 1
	switch {
	case w.kind != newHeads && w.kind != events:
		return t.next(), false, nil // only what is new
	case from.number != nil:
		next = *from.number
	case from.hash != nil:
		if next, err = h.numberOf(ctx, *from.hash, &t); err != nil {
			return 0, false, err
		}
	default:
		return newest, false, nil
	}
	switch {
	case next > newest:
		// The client may have heard of it from elsewhere before the hub has.
		_, err := h.read(ctx, next, headerOnly)
		if errors.Is(err, errNotThere) {
			return 0, false, specError(codeBlockNotFound)
		}
		return next, true, err
	case newest-next > maxBlocksBack:
		return 0, false, specError(codeTooManyBlocksBack)
	}
	return next, false, nil
}

// numberOf is the number of a block of the chain by its hash. One that a fork has
// taken out is not found, even by nodes that still have it.
func (h *hub) numberOf(ctx context.Context, hash felt.Felt, t *trail) (uint64, error) {
	b, err := h.readBy(ctx, `{"block_hash":"`+hash.String()+`"}`, nil, headerOnly)
	if err != nil {
		if errors.Is(err, errNotThere) {
			err = specError(codeBlockNotFound)
		}
		return 0, err
	}
	if !b.known.number || !b.known.hash || b.hash != hash {
		return 0, errNoBlock
	}
	if mine, known := t.at(b.number); known && mine == hash {
		return b.number, nil
	}
	now, err := h.read(ctx, b.number, headerOnly)
	if errors.Is(err, errNotThere) || err == nil && now.hash != hash {
		return 0, specError(codeBlockNotFound)
	}
	return b.number, err
}
