package simprover

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer answers a request that was read.
func (p *Prover) answer(w http.ResponseWriter, r *http.Request, id, params []byte, chosen Answer) {
	if e, ok := failures[chosen]; ok {
		failure(w, id, e.code, e.message, e.data)
		return
	}
	if chosen == Early {
		chosen = HTTP413
	}
	if text, ok := strings.CutPrefix(string(chosen), "http_"); ok {
		status, _ := strconv.Atoi(text)
		if status == http.StatusFound {
			w.Header().Set("Location", "/elsewhere")
		}
		if status == http.StatusServiceUnavailable {
			w.Header().Set("Retry-After", "1")
		}
		http.Error(w, http.StatusText(status), status)
		return
	}
	if p.broken(w, r, id, params, chosen) {
		return
	}
	if code, message, data := check(params); code != 0 {
		failure(w, id, code, message, data)
		return
	}
	document := envelope(id, "result", p.proof(params, chosen == Screened))
	switch chosen {
	case Gzip:
		w.Header().Set("Content-Encoding", "gzip")
		document = pack(document)
	case WrongType:
		w.Header().Set("Content-Type", "text/plain")
	}
	send(w, document)
}

type failed struct {
	code    int
	message string
	data    any
}

var failures = map[Answer]failed{
	BlockNotFound: {24, "Block not found", nil},
	Invalid:       {55, "Account validation failed", "the signature is not valid"},
	OldVersion:    {61, "The transaction version is not supported", nil},
	BadInput:      {1000, "Invalid transaction input", "max_price_per_unit must be 0"},
	BadType:       {1001, "The transaction type is not supported", nil},
	Blocked:       {10000, "Transaction blocked", nil},
	Sanctioned:    {10000, "Transaction rejected", "address_blocked"},
	Reverted: {
		-32603, "Internal error",
		"Reverted transactions are not supported; hash: TransactionHash(0x1), revert reason: 'NOTE_NOT_FOUND'",
	},
	Internal:  {-32603, "Internal error", "RPC provider error: the node of the prover is away"},
	Bare:      {-32603, "Internal error", nil},
	OddData:   {-32603, "Internal error", []string{"Reverted transactions are not supported; hash: TransactionHash(0x1)"}},
	BusyNow:   {-32005, "Service is busy", "the service is at capacity"},
	BadParams: {-32602, "Invalid params", "missing field `transaction`"},
	NoMethod:  {-32601, "Method not found", nil},
	NodeCode:  {42, "The node doesn't support storage proofs for blocks that are too far in the past", nil},
	OtherCode: {-31999, "Something else", nil},
}

// broken gives the answers that are none.
func (p *Prover) broken(w http.ResponseWriter, r *http.Request, id, params []byte, chosen Answer) bool {
	var whole []byte
	switch chosen {
	case Twice, Half, HalfChunked, HalfGzip, Unpackable, Drip:
		whole = envelope(id, "result", p.proof(params, false))
	}
	switch chosen {
	case HTML:
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<!doctype html><title>Sign in</title>") //nolint:errcheck // the client's loss
	case Empty:
		w.WriteHeader(http.StatusOK)
	case NoResult:
		send(w, envelope(id, "result", nil))
	case NoProof:
		send(w, envelope(id, "result", map[string]any{"proof_facts": []string{}}))
	case WrongID:
		send(w, envelope([]byte("77"), "result", p.proof(params, false)))
	case Twice:
		send(w, append(whole[:len(whole)-1], `,"result":{"proof":"AAAA"}}`...))
	case Half:
		w.Header().Set("Content-Length", strconv.Itoa(len(whole)))
		send(w, whole[:len(whole)/2])
		panic(http.ErrAbortHandler)
	case HalfChunked:
		send(w, whole[:len(whole)/2])
		http.NewResponseController(w).Flush() //nolint:errcheck // the client's loss
		panic(http.ErrAbortHandler)
	case HalfGzip:
		w.Header().Set("Content-Encoding", "gzip")
		packed := pack(whole)
		send(w, packed[:len(packed)/2])
	case Unpackable:
		w.Header().Set("Content-Encoding", "br")
		send(w, whole)
	case Huge:
		huge(w, r)
	case Drip:
		drip(w, r, whole)
	case Silence:
		<-r.Context().Done()
	case ResetAfter, ResetBefore, ResetDuring:
		tear(w, true)
	case CloseAfter:
		tear(w, false)
	default:
		return false
	}
	return true
}

// huge writes until the client has enough.
func huge(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"proof":"`) //nolint:errcheck // the client's loss
	page := bytes.Repeat([]byte("A"), 1<<16)
	for r.Context().Err() == nil {
		if _, err := w.Write(page); err != nil {
			return
		}
	}
}

// drip writes a byte now and then, and never comes to the end.
func drip(w http.ResponseWriter, r *http.Request, whole []byte) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, b := range whole[:len(whole)-1] {
		select {
		case <-tick.C:
			w.Write([]byte{b})                    //nolint:errcheck // the client's loss
			http.NewResponseController(w).Flush() //nolint:errcheck // the client's loss
		case <-r.Context().Done():
			return
		}
	}
	<-r.Context().Done()
}

// tearBefore tears the connection, or answers, without having read the request.
func tearBefore(w http.ResponseWriter, r *http.Request, chosen Answer) bool {
	switch chosen {
	case Early:
		w.Header().Set("Connection", "close")
		http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
	case ResetBefore:
		tear(w, true)
	case ResetDuring:
		io.CopyN(io.Discard, r.Body, r.ContentLength/2) //nolint:errcheck // it is torn anyway
		tear(w, true)
	default:
		return false
	}
	return true
}

// tear ends the connection without an answer: with a reset, or in good order.
func tear(w http.ResponseWriter, reset bool) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0) //nolint:errcheck // then it is closed in good order
	}
	conn.Close() //nolint:errcheck // it is torn
}

func result(w http.ResponseWriter, id []byte, v any) { send(w, envelope(id, "result", v)) }

func failure(w http.ResponseWriter, id []byte, code int, message string, data any) {
	e := map[string]any{"code": code, "message": message}
	if data != nil {
		e["data"] = data
	}
	send(w, envelope(id, "error", e))
}

func envelope(id []byte, name string, v any) []byte {
	value, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("simprover: write an answer: %v", err)) // of our own types
	}
	if len(id) == 0 {
		id = []byte("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"%s":%s}`, id, name, value)
}

func send(w http.ResponseWriter, document []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.Write(document) //nolint:errcheck // the client's loss
}

func pack(document []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(document) //nolint:errcheck // memory
	z.Close()         //nolint:errcheck // memory
	return out.Bytes()
}
