package main

import (
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
		text, err := os.ReadFile(f.OperatorTokenFile)
		if err != nil {
			return "", fmt.Errorf("operator token: %w", err)
		}
		token = strings.TrimSpace(string(text))
	} else if token == "" {
		return "", nil
	}
	if len(token) < leastToken {
		return "", &usageError{fmt.Sprintf("the operator token must have %d characters or more", leastToken)}
	}
	return token, nil
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
	all      string // the token that everything needs, or none
	backups  string // the token that backups and profiles need; none refuses them
	names    []string
	inFlight chan struct{}
	mux      *http.ServeMux
}

// newOperatorGate checks the settings against the address.
func newOperatorGate(f *operatorFlags, addr, backupDir string, mux *http.ServeMux) (*operatorGate, error) {
	g := &operatorGate{names: f.OperatorHost, inFlight: make(chan struct{}, 8), mux: mux}
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
// browser would come here, then callers without the token, then too many at once.
func (g *operatorGate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !g.ours(r.Host) {
		http.Error(w, "this address is not known by that name: see --operator-host", http.StatusMisdirectedRequest)
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
	select {
	case g.inFlight <- struct{}{}:
		defer func() { <-g.inFlight }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 1<<10)
	g.mux.ServeHTTP(w, r)
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
