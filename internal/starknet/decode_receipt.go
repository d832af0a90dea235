package starknet

// Decoding of receipts, events and messages.

import "fmt"

// receiptFields are a receipt's wire names; a fieldSet counts in this order.
var receiptFields = []string{
	"type", "transaction_hash", "actual_fee", "finality_status", "execution_status", "messages_sent", "events",
	"execution_resources", "contract_address", "message_hash", "revert_reason",
}

const (
	rcType fieldSet = 1 << iota
	rcHash
	rcFee
	rcFinality
	rcExecution
	rcMessages
	rcEvents
	rcResources
	rcContract
	rcMessageHash
	rcRevert

	rcAlways = rcType | rcHash | rcFee | rcFinality | rcExecution | rcMessages | rcEvents | rcResources
)

var (
	executionNames = map[string]ExecutionStatus{"SUCCEEDED": Succeeded, "REVERTED": Reverted}
	feeUnitNames   = map[string]FeeUnit{"WEI": Wei, "FRI": Fri}
)

// receipt reads one receipt object.
func (d *decoder) receipt(r *Receipt) {
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		if d.s.Null() {
			continue
		}
		field := d.receiptField(r, string(key))
		seen |= field
		if d.bad() && field != 0 {
			d.within(string(key))
			return
		}
	}
	d.require(seen, rcAlways, receiptFields)
	switch r.Type {
	case Deploy, DeployAccount:
		d.require(seen, rcContract, receiptFields)
	case L1Handler:
		d.require(seen, rcMessageHash, receiptFields)
	}
	// What a receipt of this kind does not have counts as unknown.
	if r.Type != Deploy && r.Type != DeployAccount {
		r.ContractAddress = [32]byte{}
	}
	if r.Type != L1Handler {
		r.MessageHash = [32]byte{}
	}
	if r.Execution != Reverted {
		r.RevertReason = ""
	}
}

// receiptField reads the value of one field and returns which it was.
func (d *decoder) receiptField(r *Receipt, key string) fieldSet {
	switch key {
	case "type":
		r.Type = oneOf(d, txTypeNames)
		return rcType
	case "transaction_hash":
		d.feltInto(&r.TransactionHash)
		return rcHash
	case "actual_fee":
		d.fee(r)
		return rcFee
	case "finality_status":
		r.Finality = d.finality()
		return rcFinality
	case "execution_status":
		r.Execution = oneOf(d, executionNames)
		return rcExecution
	case "messages_sent":
		r.MessagesSent = d.messages()
		return rcMessages
	case "events":
		r.Events = d.eventList()
		return rcEvents
	case "execution_resources":
		d.resources(&r.Resources)
		return rcResources
	case "contract_address":
		d.feltInto(&r.ContractAddress)
		return rcContract
	case "message_hash":
		d.word256(&r.MessageHash)
		return rcMessageHash
	case "revert_reason":
		r.RevertReason = d.text()
		return rcRevert
	}
	d.s.Skip()
	return 0
}

// finality reads the status of a block or receipt, and notes one that is not
// final yet: the whole block is of no use then.
func (d *decoder) finality() BlockStatus {
	raw := d.s.String()
	switch string(raw) {
	case "ACCEPTED_ON_L2":
		return AcceptedOnL2
	case "ACCEPTED_ON_L1":
		return AcceptedOnL1
	case "PRE_CONFIRMED", "PENDING", "CANDIDATE", "RECEIVED":
		d.preConfirmed = true
		return 0
	}
	if !d.bad() {
		d.s.Fail(fmt.Errorf("unknown value %.40q", raw))
	}
	return 0
}

var feeFieldNames = []string{"amount", "unit"}

func (d *decoder) fee(r *Receipt) {
	const amount, unit = 1, 2
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		switch string(d.s.Key()) {
		case "amount":
			d.feltInto(&r.ActualFee)
			seen |= amount
		case "unit":
			r.FeeUnit = oneOf(d, feeUnitNames)
			seen |= unit
		default:
			d.s.Skip()
		}
	}
	d.require(seen, amount|unit, feeFieldNames)
}

var resourceFields = []string{"l1_gas", "l1_data_gas", "l2_gas"}

func (d *decoder) resources(r *ExecutionResources) {
	const l1, l1Data, l2 = 1, 2, 4
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		switch string(d.s.Key()) {
		case "l1_gas":
			r.L1Gas = d.s.Uint64()
			seen |= l1
		case "l1_data_gas":
			r.L1DataGas = d.s.Uint64()
			seen |= l1Data
		case "l2_gas":
			r.L2Gas = d.s.Uint64()
			seen |= l2
		default:
			d.s.Skip()
		}
	}
	d.require(seen, l1|l1Data|l2, resourceFields)
}

func (d *decoder) eventList() []Event {
	list := d.events.begin()
	for ok := d.s.OpenArray(); ok; ok = d.s.NextElement() {
		if len(list) == cap(list) {
			list = d.events.grow(list)
		}
		list = list[:len(list)+1]
		d.event(&list[len(list)-1])
		if d.bad() {
			d.withinIndex(len(list) - 1)
			return nil
		}
	}
	return d.events.end(list)
}

var eventFields = []string{"from_address", "keys", "data"}

func (d *decoder) event(e *Event) {
	const from, keys, data = 1, 2, 4
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		switch string(key) {
		case "from_address":
			d.feltInto(&e.From)
			seen |= from
		case "keys":
			e.Keys = d.feltList()
			seen |= keys
		case "data":
			e.Data = d.feltList()
			seen |= data
		default:
			d.s.Skip()
			continue
		}
		if d.bad() {
			d.within(string(key))
			return
		}
	}
	d.require(seen, from|keys|data, eventFields)
}

func (d *decoder) messages() []MessageToL1 {
	list := d.msgs.begin()
	for ok := d.s.OpenArray(); ok; ok = d.s.NextElement() {
		if len(list) == cap(list) {
			list = d.msgs.grow(list)
		}
		list = list[:len(list)+1]
		d.message(&list[len(list)-1])
		if d.bad() {
			d.withinIndex(len(list) - 1)
			return nil
		}
	}
	return d.msgs.end(list)
}

var messageFields = []string{"from_address", "to_address", "payload"}

func (d *decoder) message(m *MessageToL1) {
	const from, to, payload = 1, 2, 4
	var seen fieldSet
	for ok := d.s.OpenObject(); ok; ok = d.s.NextMember() {
		key := d.s.Key()
		switch string(key) {
		case "from_address":
			d.feltInto(&m.From)
			seen |= from
		case "to_address":
			d.feltInto(&m.To)
			seen |= to
		case "payload":
			m.Payload = d.feltList()
			seen |= payload
		default:
			d.s.Skip()
			continue
		}
		if d.bad() {
			d.within(string(key))
			return
		}
	}
	d.require(seen, from|to|payload, messageFields)
}
