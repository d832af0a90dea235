package main

import (
	"bytes"
	"chainexplorer/internal/account"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// operatorFlags say who may use the operator's address, the one of --metrics.
type operatorFlags struct {
	OperatorToken     string   `placeholder:"TOKEN" help:"What callers of the --metrics address must show (Authorization: Bearer TOKEN), 16 characters or more. Better put into CHAINEXPLORER_OPERATOR_TOKEN or a file. Needed when others than this machine reach the address."`
	OperatorTokenFile string   `placeholder:"FILE" help:"File with that token."`
	OperatorHost      []string `sep:"none" placeholder:"NAME" help:"Name by which the --metrics address may be asked, beside localhost and plain IP addresses; repeatable."`
}

const leastToken = 16

// token is the configured one, or none.
func (f *operatorFlags) token() (string, error) {
	token := f.OperatorToken
	if f.OperatorTokenFile != "" {
		if token != "" {
			return "", &usageError{"give --operator-token or --operator-token-file, not both"}
		}
		text, err := readSetting("--operator-token-file", f.OperatorTokenFile)
		if err != nil {
			return "", err
		}
		token = strings.TrimSpace(string(text))
	} else if token == "" {
		return "", nil
	}
	if len(token) < leastToken || strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r == 0x7f }) { // no header could hold it
		return "", &usageError{fmt.Sprintf("--operator-token: the operator token must have %d characters or more, on one line", leastToken)}
	}
	account.Conceal(token) // somebody may send it to the wrong address
	return token, nil
}

// check refuses settings of an operator's address, also where there is none yet.
func (f *operatorFlags) check(address string) error {
	if err := checkListen("--metrics", address); err != nil {
		return err
	}
	for _, name := range f.OperatorHost {
		if name == "" || strings.ContainsAny(name, ":/@[] ") {
			return &usageError{fmt.Sprintf("--operator-host %s: want a name alone, such as metrics.internal", withoutUser(name))}
		}
	}
	_, err := f.token()
	return err
}

// tokenName is the file with the token that is made where none is set.
const tokenName = "operator.token"

// madeToken returns the token for backups that was made beside them, and makes it
// the first time.
func madeToken(dir string) (string, error) {
	name := filepath.Join(dir, tokenName)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		var random [24]byte
		rand.Read(random[:]) //nolint:errcheck // never fails
		_, err = f.WriteString(hex.EncodeToString(random[:]) + "\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("operator token: %w", err)
		}
	} else if !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("operator token: %w", err)
	}
	return (&operatorFlags{OperatorTokenFile: name}).token()
}

// operatorGate lets the operator in.
type operatorGate struct {
	all     string // the token that everything needs, or none
	backups string // the token that backups and profiles need; none refuses them
	names   []string
	scrapes chan struct{} // places of those that read metrics
	others  chan struct{} // places of backups and profiles
	mux     *http.ServeMux
}

// How many are at work at once, and how many connections there are.
const (
	mostScrapes             = 4
	mostOthers              = 4
	mostOperatorConnections = 64
	operatorPatience        = 2 * time.Second // for a place
)

// newOperatorGate checks the settings against the address.
func newOperatorGate(f *operatorFlags, addr, backupDir string, mux *http.ServeMux) (*operatorGate, error) {
	g := &operatorGate{names: f.OperatorHost, scrapes: make(chan struct{}, mostScrapes), others: make(chan struct{}, mostOthers), mux: mux}
	var err error
	if g.all, err = f.token(); err != nil {
		return nil, err
	}
	if g.backups = g.all; g.all == "" && backupDir != "" {
		if g.backups, err = madeToken(backupDir); err != nil {
			return nil, err
		}
	}
	if host, _, err := net.SplitHostPort(addr); err == nil && g.all == "" && !isLoopback(host) {
		return nil, &usageError{fmt.Sprintf("--metrics %s is reached by others: give --operator-token-file, or CHAINEXPLORER_OPERATOR_TOKEN, or an address of this machine alone such as 127.0.0.1:9464", addr)}
	}
	return g, nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// ServeHTTP refuses names that are not ours, which is how a page in the operator's
// browser would come here, then bodies, which nothing here takes, then callers without
// the token, then too many at once. Nothing is begun for a request that is refused.
func (g *operatorGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.ours(r.Host) {
		http.Error(w, "this address is not known by that name: see --operator-host", http.StatusMisdirectedRequest)
		return
	}
	if r.ContentLength != 0 {
		http.Error(w, "no body is taken here", http.StatusRequestEntityTooLarge)
		return
	}
	want := g.all
	if r.URL.Path != "/metrics" && r.URL.Path != "/healthz" {
		if want = g.backups; want == "" {
			http.Error(w, "not without an operator token: start with --operator-token-file", http.StatusNotFound)
			return
		}
	}
	if r.URL.Path != "/healthz" && want != "" && !shows(r, want) {
		w.Header().Set("WWW-Authenticate", `Bearer realm="operator"`)
		http.Error(w, "show the operator token: Authorization: Bearer TOKEN", http.StatusUnauthorized)
		return
	}
	switch r.URL.Path {
	case "/healthz": // takes no place: it must answer whatever else goes on
		g.mux.ServeHTTP(w, r)
	case "/metrics":
		g.work(w, r, g.scrapes)
	default:
		g.work(w, r, g.others)
	}
}

// work answers from a place, and gives it back before anything is sent: a caller that
// reads slowly is in nobody's way.
func (g *operatorGate) work(w http.ResponseWriter, r *http.Request, places chan struct{}) {
	// Places are given back within moments, unless profiles or a backup have them, and
	// there are no more who wait than there are connections.
	patience := time.NewTimer(operatorPatience)
	defer patience.Stop()
	select {
	case places <- struct{}{}:
	case <-patience.C:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
		return
	}
	// The request is complete. What is read from now on is whether the caller is still
	// there, and a profile or a backup may take longer than a request.
	http.NewResponseController(w).SetReadDeadline(time.Time{}) //nolint:errcheck // it would end early, and say so
	page := &page{ResponseWriter: w}
	func() {
		defer func() { <-places }()
		g.mux.ServeHTTP(page, r)
	}()
	page.send()
}

// page holds an answer until it is complete. All of them are small: metrics, a profile,
// the manifest of a backup.
type page struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (p *page) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

func (p *page) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.body.Write(b)
}

func (p *page) send() {
	p.WriteHeader(http.StatusOK)
	p.ResponseWriter.WriteHeader(p.status)
	p.ResponseWriter.Write(p.body.Bytes()) //nolint:errcheck // whoever asked is gone
}

// ours tells a name that cannot have been made to point here by somebody else: an
// address, this machine, or what the operator named.
func (g *operatorGate) ours(hostPort string) bool {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return true
	}
	return slices.ContainsFunc(g.names, func(n string) bool { return strings.EqualFold(n, host) })
}

func shows(r *http.Request, token string) bool {
	shown, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(token))
	return ok && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
