package upstream

import (
	"bytes"
	"errors"
	"fmt"

	"chainexplorer/internal/starknet/jsonscan"
)

// This file holds traces against what the specification requires of them, in one pass
// and without building them. Members that are optional are checked where they are
// there, apart from state diffs; those that nobody knows are passed over.

// IncompleteTraceError says that a node's trace lacks what it must have, or has it in a
// form that it cannot have.
type IncompleteTraceError struct {
	Node string
	Err  error
}

func (e *IncompleteTraceError) Error() string { return fmt.Sprintf("%s: trace: %v", e.Node, e.Err) }

// Unwrap gives the cause.
func (e *IncompleteTraceError) Unwrap() error { return e.Err }

// checkTrace checks the result of a method that returns traces; of others it is fine.
func checkTrace(name string, result []byte) error {
	t := tracer{s: jsonscan.New(result)}
	listed := len(result) > 0 && result[0] == '['
	switch name {
	case "starknet_traceTransaction":
		t.trace()
	case "starknet_traceBlockTransactions":
		if listed {
			t.list(tracedOne)
		} else {
			t.object(tracedBlock)
		}
	case "starknet_simulateTransactions":
		if listed {
			t.list(simulatedOne)
		} else {
			t.object(simulatedAll)
		}
	default:
		return nil
	}
	t.s.End()
	return t.s.Err()
}

type tracer struct {
	s jsonscan.Scanner

	// Of the trace at hand: what it must have follows from its type, which may come last.
	kind                           string
	executed, constructed, handled bool
}

// member is one that an object must or may have, and what its value must be.
type member struct {
	name     string
	required bool
	check    func(*tracer)
}

// The shapes. They are set below, because calls hold calls.
var (
	traceMembers, invocationMembers, revertMembers []member
	traceGas, callGas, eventMembers, sentMembers   []member
	tracedMembers, tracedBlock                     []member
	simulatedMembers, simulatedAll                 []member
)

func init() {
	traceGas = []member{{"l1_gas", true, number}, {"l1_data_gas", true, number}, {"l2_gas", true, number}}
	callGas = []member{{"l1_gas", true, number}, {"l2_gas", true, number}}
	eventMembers = []member{{"order", false, number}, {"keys", true, hexes}, {"data", true, hexes}}
	sentMembers = []member{{"order", false, number}, {"from_address", true, hex}, {"to_address", true, hex}, {"payload", true, hexes}}
	revertMembers = []member{{"revert_reason", true, text}}
	invocationMembers = []member{
		{"contract_address", true, hex},
		{"entry_point_selector", true, hex},
		{"calldata", true, hexes},
		{"caller_address", true, hex},
		{"class_hash", true, hex},
		{"entry_point_type", true, word("EXTERNAL", "L1_HANDLER", "CONSTRUCTOR")},
		{"call_type", true, word("CALL", "LIBRARY_CALL", "DELEGATE")},
		{"result", true, hexes},
		{"calls", true, func(t *tracer) { t.list(invocation) }},
		{"events", true, func(t *tracer) { t.list(func(t *tracer) { t.object(eventMembers) }) }},
		{"messages", true, func(t *tracer) { t.list(func(t *tracer) { t.object(sentMembers) }) }},
		{"execution_resources", true, func(t *tracer) { t.object(callGas) }},
		{"is_reverted", true, func(t *tracer) { t.s.Bool() }},
	}
	traceMembers = []member{
		{"type", true, func(t *tracer) { t.kind = string(t.s.String()) }},
		{"execution_resources", true, func(t *tracer) { t.object(traceGas) }},
		{"validate_invocation", false, invocation},
		{"fee_transfer_invocation", false, invocation},
		{"execute_invocation", false, func(t *tracer) { t.executed = true; invocationOrRevert(t) }},
		{"constructor_invocation", false, func(t *tracer) { t.constructed = true; invocation(t) }},
		{"function_invocation", false, func(t *tracer) { t.handled = true; invocationOrRevert(t) }},
	}
	tracedMembers = []member{{"transaction_hash", true, hex}, {"trace_root", true, (*tracer).trace}}
	tracedBlock = []member{{"traces", true, func(t *tracer) { t.list(tracedOne) }}, {"initial_reads", true, anyObject}}
	simulatedMembers = []member{{"transaction_trace", true, (*tracer).trace}, {"fee_estimation", true, anyObject}}
	simulatedAll = []member{{"simulated_transactions", true, func(t *tracer) { t.list(simulatedOne) }}, {"initial_reads", true, anyObject}}
}

// object checks an object. A member that is null counts as missing, and one that is
// there twice means different things to different readers.
func (t *tracer) object(members []member) {
	var seen uint32
	for more := t.s.OpenObject(); more; more = t.s.NextMember() {
		name, at := t.s.Key(), -1
		for i := range members {
			if string(name) == members[i].name {
				at = i
				break
			}
		}
		switch {
		case at < 0:
			t.s.Skip()
			continue
		case t.s.Null():
			continue
		case seen&(1<<at) != 0:
			t.s.Fail(errors.New("there twice"))
		}
		seen |= 1 << at
		members[at].check(t)
		if err := t.s.Err(); err != nil {
			t.s.Replace(fmt.Errorf("%s: %w", members[at].name, err))
			return
		}
	}
	for i := range members {
		if members[i].required && seen&(1<<i) == 0 {
			t.s.Fail(fmt.Errorf("%s is missing", members[i].name))
			return
		}
	}
}

func (t *tracer) list(item func(*tracer)) {
	for more := t.s.OpenArray(); more; more = t.s.NextElement() {
		item(t)
	}
}

func tracedOne(t *tracer)    { t.object(tracedMembers) }
func simulatedOne(t *tracer) { t.object(simulatedMembers) }

// trace checks the trace of one transaction.
func (t *tracer) trace() {
	t.kind, t.executed, t.constructed, t.handled = "", false, false, false
	t.object(traceMembers)
	switch {
	case t.s.Err() != nil:
	case t.kind == "DECLARE":
	case t.kind == "INVOKE":
		t.must(t.executed, "execute_invocation")
	case t.kind == "DEPLOY_ACCOUNT", t.kind == "DEPLOY": // the latter in the oldest blocks
		t.must(t.constructed, "constructor_invocation")
	case t.kind == "L1_HANDLER":
		t.must(t.handled, "function_invocation")
	default:
		t.s.Fail(errors.New("type is none of a transaction"))
	}
}

func (t *tracer) must(has bool, name string) {
	if !has {
		t.s.Fail(fmt.Errorf("%s is missing", name))
	}
}

// invocation checks a call and those that it made.
func invocation(t *tracer) { t.object(invocationMembers) }

// invocationOrRevert checks a call, or the reason why there is none, which stands alone.
func invocationOrRevert(t *tracer) {
	ahead := t.s
	if ahead.OpenObject() && string(ahead.Key()) == "revert_reason" {
		t.object(revertMembers)
		return
	}
	invocation(t)
}

func anyObject(t *tracer) {
	for more := t.s.OpenObject(); more; more = t.s.NextMember() {
		t.s.Key()
		t.s.Skip()
	}
}

func number(t *tracer) { t.s.Uint64() }
func text(t *tracer)   { t.s.String() }
func hexes(t *tracer)  { t.list(hex) }

func word(words ...string) func(*tracer) {
	return func(t *tracer) {
		got := t.s.String()
		for _, w := range words {
			if string(got) == w {
				return
			}
		}
		t.s.Fail(errors.New("is none of its words"))
	}
}

// hex is a number as text: 0x and up to 64 digits.
func hex(t *tracer) {
	start := t.s.Offset()
	b := t.s.Quoted()
	if bytes.IndexByte(b, '\\') >= 0 {
		b = t.s.Requote(start)
	}
	ok := len(b) > 2 && len(b) <= 66 && b[0] == '0' && b[1] == 'x'
	for i := 2; ok && i < len(b); i++ {
		c := b[i] | 0x20
		ok = b[i] >= '0' && b[i] <= '9' || c >= 'a' && c <= 'f'
	}
	if !ok {
		t.s.Fail(errors.New("is no hex number"))
	}
}
