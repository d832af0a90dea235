package job

import (
	"fmt"
	"slices"
)

// State of a job.
type State string

// The states. The last five are terminal: no job ever leaves them.
const (
	AwaitingUpload State = "awaiting_upload" // the package is accepted, the source is not there
	Validating     State = "validating"      // the source is there, its archive is being checked
	Queued         State = "queued"          // ready for a worker
	Building       State = "building"        // a worker builds it
	Comparing      State = "comparing"       // the worker compares what was built, and has it signed
	Succeeded      State = "succeeded"       // there is a receipt
	Mismatch       State = "mismatch"        // what was built is another class
	Failed         State = "failed"          // the failure tells why
	Cancelled      State = "cancelled"       // by its owner
	Expired        State = "expired"         // the source did not come in time
)

// States are all of them, in the order in which a job can reach them.
func States() []State {
	return []State{AwaitingUpload, Validating, Queued, Building, Comparing, Succeeded, Mismatch, Failed, Cancelled, Expired}
}

// Terminal says that a job stays as it is.
func (s State) Terminal() bool { return slices.Contains(States()[5:], s) }

// Event is what can happen to a job.
type Event string

// The events, each of them one entry of the audit log.
const (
	Commit   Event = "commit"   // the source is in the database
	Accept   Event = "accept"   // its archive is one that can be built
	Claim    Event = "claim"    // a worker took the job
	Compare  Event = "compare"  // the build is done
	Admit    Event = "admit"    // the receipt is in the database
	Differ   Event = "differ"   // another class came out
	Fail     Event = "fail"     // a typed failure
	GiveBack Event = "giveback" // the worker stopped, or was not heard of for too long
	Cancel   Event = "cancel"
	Expire   Event = "expire"
)

// Events are all of them.
func Events() []Event {
	return []Event{Commit, Accept, Claim, Compare, Admit, Differ, Fail, GiveBack, Cancel, Expire}
}

// moves is the whole machine: what is not here does not happen.
var moves = map[State]map[Event]State{
	AwaitingUpload: {Commit: Validating, Cancel: Cancelled, Expire: Expired},
	Validating:     {Accept: Queued, Fail: Failed, Cancel: Cancelled},
	Queued:         {Claim: Building, Fail: Failed, Cancel: Cancelled},
	Building:       {Compare: Comparing, GiveBack: Queued, Fail: Failed, Cancel: Cancelled},
	Comparing:      {Admit: Succeeded, Differ: Mismatch, GiveBack: Queued, Fail: Failed, Cancel: Cancelled},
}

// Next is the state that an event leads to; false when it cannot happen.
func Next(s State, e Event) (State, bool) {
	to, ok := moves[s][e]
	return to, ok
}

// StateError says that an event came too late or too early, and changed nothing.
type StateError struct {
	State State // that the job is in
	Event Event
}

func (e *StateError) Error() string {
	return fmt.Sprintf("a job that is %s cannot %s", e.State, e.Event)
}
