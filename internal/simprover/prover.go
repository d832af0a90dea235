package simprover

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"chainexplorer/internal/felt"
)

// Options are the limits of a prover; the defaults are those of the real one.
type Options struct {
	Workers int           // proofs at once; 2 unless set
	Queue   int           // requests that wait for a worker; 8 unless set, none if negative
	Wait    time.Duration // how long they wait; 30 seconds unless set
	Latency time.Duration // how long a proof takes
	MaxBody int64         // bytes of a request; 5 MiB unless set
	Spec    string        // version of the interface; 0.10.3-rc.2 unless set
	Now     func() time.Time
}

// Prover is a simulated proving service.
type Prover struct {
	o       Options
	workers chan struct{}
	places  chan struct{} // of those who wait, and those who are served

	mu     sync.Mutex
	always Answer
	next   []Answer
	heard  []Heard
}

// Heard is a request for a proof that came in whole. What it said is not kept: requests
// hold private keys.
type Heard struct {
	Digest [sha256.Size]byte // of the parameters, as they were written
	Answer Answer
}

// New returns a prover that proves everything.
func New(o Options) *Prover {
	o.Workers, o.Queue, o.Wait = cmp.Or(o.Workers, 2), cmp.Or(o.Queue, 8), cmp.Or(o.Wait, 30*time.Second)
	o.MaxBody, o.Spec = cmp.Or(o.MaxBody, 5<<20), cmp.Or(o.Spec, "0.10.3-rc.2")
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Prover{
		o: o, workers: make(chan struct{}, o.Workers), places: make(chan struct{}, o.Workers+max(o.Queue, 0)),
		always: Proof,
	}
}

// Always says how requests are answered from now on, unless Next or the request says
// otherwise.
func (p *Prover) Always(a Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always = a
}

// Next says how the next requests are answered, one each.
func (p *Prover) Next(answers ...Answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = append(p.next, answers...)
}

// Heard are the requests that came in whole, in their order.
func (p *Prover) Heard() []Heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.heard)
}

// scripted takes the next answer, if one was said.
func (p *Prover) scripted() Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.next) == 0 {
		return ""
	}
	a := p.next[0]
	p.next = p.next[1:]
	return a
}

// standing is how requests are answered for which nothing else was said.
func (p *Prover) standing() Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.always
}

// choose says how a request is answered that was read, and remembers it.
func (p *Prover) choose(scripted Answer, params []byte) Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := cmp.Or(scripted, wished(params), p.always)
	p.heard = append(p.heard, Heard{Digest: sha256.Sum256(params), Answer: a})
	return a
}

// wished is the answer that the nonce of a transaction asks for.
func wished(params []byte) Answer {
	var in struct {
		Transaction struct {
			Nonce string `json:"nonce"`
		} `json:"transaction"`
	}
	if json.Unmarshal(params, &in) != nil {
		return ""
	}
	nonce, err := felt.Parse(in.Transaction.Nonce)
	if err != nil {
		return ""
	}
	name, ok := nonce.ShortString()
	if !ok || !slices.Contains(Answers, Answer(name)) {
		return ""
	}
	return Answer(name)
}

// ServeHTTP serves the protocol: JSON-RPC by POST, and a page of health.
func (p *Prover) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/health" && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"status":"ok"}`) //nolint:errcheck // the client's loss
		return
	case r.URL.Path != "/":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodPost:
		http.Error(w, "Used HTTP Method is not allowed. POST is required", http.StatusMethodNotAllowed)
		return
	}
	if r.ContentLength > p.o.MaxBody {
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
		return
	}
	// What tears the connection before the request is read must be known by then: a nonce
	// that asks for it is torn after. A look at a small request for the version must not use it up.
	scripted := Answer("")
	if r.ContentLength < 0 || r.ContentLength > smallCall {
		if scripted = p.scripted(); tearBefore(w, r, cmp.Or(scripted, p.standing())) {
			return
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, p.o.MaxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
		}
		return
	}
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if err := json.Unmarshal(body, &call); err != nil {
		failure(w, nil, -32700, "Parse error", nil)
		return
	}
	switch call.Method {
	case "starknet_specVersion":
		result(w, call.ID, p.o.Spec)
	case "starknet_proveTransaction":
		p.prove(w, r, call.ID, call.Params, scripted)
	default:
		failure(w, call.ID, -32601, "Method not found", nil)
	}
}

// smallCall is less than any request for a proof has, and more than one for the version.
const smallCall = 100

func (p *Prover) prove(w http.ResponseWriter, r *http.Request, id, params []byte, scripted Answer) {
	room := true
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	default:
		room, scripted = false, BusyNow
	}
	chosen := p.choose(scripted, params)
	if room && !p.work(r.Context()) {
		chosen = BusyNow
	}
	p.answer(w, r, id, params, chosen)
}

// work waits for a worker and lets it work for as long as a proof takes; false when none
// came free in time.
func (p *Prover) work(ctx context.Context) bool {
	wait := time.NewTimer(p.o.Wait)
	defer wait.Stop()
	select {
	case p.workers <- struct{}{}:
		defer func() { <-p.workers }()
	case <-wait.C:
		return false
	case <-ctx.Done():
		return false
	}
	if p.o.Latency > 0 {
		proof := time.NewTimer(p.o.Latency)
		defer proof.Stop()
		select {
		case <-proof.C:
		case <-ctx.Done():
		}
	}
	return true
}
