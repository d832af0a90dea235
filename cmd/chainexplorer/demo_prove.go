package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chainexplorer/internal/simprover"
)

// proveHere starts a simulated prover and has requests relayed to it. It ends with stop.
func (o *serviceOptions) proveHere() (stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	server := &http.Server{Handler: simprover.New(simprover.Options{Latency: 2 * time.Second}), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(l) //nolint:errcheck // ends with the demo
	o.Prover = proverFlags{Prover: "http://" + l.Addr().String(), ProverKeyPerDay: 100, ProverKeyAtOnce: 4}
	return func() { server.Close() }, nil //nolint:errcheck // as above
}

// provable is a transaction as a prover takes it. The simulated one does not look whose it is.
const provable = `{"block_id":{"block_number":1},"transaction":{"type":"INVOKE","version":"0x3","sender_address":"0x5e0","calldata":["0x1"],"signature":["0x1","0x2"],"nonce":"0x0","tip":"0x0",
"resource_bounds":{"l1_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"},"l2_gas":{"max_amount":"0x5f5e100","max_price_per_unit":"0x0"},"l1_data_gas":{"max_amount":"0x0","max_price_per_unit":"0x0"}},
"paymaster_data":[],"account_deployment_data":[],"nonce_data_availability_mode":"L1","fee_data_availability_mode":"L1"}}
`

// showRelay lays a request for a proof and returns the commands that submit it and poll.
// The result comes once: it is kept before it is looked at.
func (g *greeting) showRelay() (string, error) {
	request, kept := filepath.Join(g.dir, "prove.json"), filepath.Join(g.dir, "proof.json")
	if err := os.WriteFile(request, []byte(provable), 0o600); err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	address := g.base + "/v1/SN_MAIN/prove"
	ask := fmt.Sprintf("curl -s -H 'X-Service-Api-Key: %s'", g.key)
	return strings.Join([]string{
		"Have a transaction proven through the relay; the prover is simulated, and its proofs prove nothing:\n",
		fmt.Sprintf(`  proof=$(%s -H 'Content-Type: application/json' -H "Idempotency-Key: demo-$(date +%%s)-$$" --data-binary %s %s | sed 's/.*"jobId":"\([^"]*\)".*/\1/')`, ask, shellLine("@"+request), address),
		fmt.Sprintf(`  until %s %s/"$proof" | tee %s | grep -q '"terminal":true'; do sleep 1; done; head -c 400 %[3]s; echo`, ask, address, shellLine(kept)),
	}, "\n"), nil
}
