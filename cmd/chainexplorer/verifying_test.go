package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"chainexplorer/internal/felt"
	"chainexplorer/internal/simnode"
	"chainexplorer/internal/verification/routes"
	"chainexplorer/internal/verification/submission"
)

// mainnetWithSample is a node of SN_MAIN on which the shipped class is declared, in a block that is finalized.
func mainnetWithSample(t *testing.T) (*simnode.Chain, string) {
	t.Helper()
	class, err := sampleClass()
	if err != nil {
		t.Fatal(err)
	}
	chain := simnode.New(simnode.Config{Seed: 12, Blocks: 12, ChainID: felt.MustShortString("SN_MAIN"), Declare: class})
	node := httptest.NewServer(simnode.NewNode(chain, simnode.NodeConfig{}))
	t.Cleanup(node.Close)
	return chain, node.URL
}

// jobCaller asks a service about verification jobs with a key.
type jobCaller struct {
	t         *testing.T
	base, key string
}

const jobsPath = "/v1/SN_MAIN/verification-jobs"

// do asks until the answer is another than to try again, as that of a process whose database was killed. It returns
// an error when there is no answer: processes are killed, too.
func (c *jobCaller) do(method, path string, body []byte, headers ...string) (status int, answer []byte, err error) {
	c.t.Helper()
	until(c.t, "an answer", func() bool {
		status, answer, err = c.once(method, path, body, headers...)
		return err != nil || status != http.StatusServiceUnavailable
	})
	return status, answer, err
}

func (c *jobCaller) once(method, path string, body []byte, headers ...string) (status int, answer []byte, err error) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+jobsPath+path, bytes.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header.Set("X-Service-Api-Key", c.key)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// must is do with a status that must come, and a job in the answer.
func (c *jobCaller) must(want int, method, path string, body []byte, headers ...string) (j routes.VerificationJob) {
	c.t.Helper()
	status, answer, err := c.do(method, path, body, headers...)
	if err != nil || status != want {
		c.t.Fatalf("%s %s: %d %s, %v", method, path, status, answer, err)
	}
	if err := json.Unmarshal(answer, &j); err != nil {
		c.t.Fatal(err)
	}
	return j
}

func (c *jobCaller) create(idempotency string, p *submission.Package) routes.VerificationJob {
	c.t.Helper()
	text, err := p.Canonical()
	if err != nil {
		c.t.Fatal(err)
	}
	return c.must(http.StatusCreated, http.MethodPost, "", text, "Idempotency-Key", idempotency, "Content-Type", "application/json")
}

func (c *jobCaller) upload(id string, data []byte) routes.VerificationJob {
	c.t.Helper()
	return c.must(http.StatusOK, http.MethodPut, "/"+id+"/source", data, "Content-Type", "application/gzip")
}

func (c *jobCaller) look(id string) routes.VerificationJob {
	c.t.Helper()
	return c.must(http.StatusOK, http.MethodGet, "/"+id, nil)
}

// ended waits for the end of a job.
func (c *jobCaller) ended(id string) (j routes.VerificationJob) {
	c.t.Helper()
	until(c.t, fmt.Sprintf("the end of %s", id), func() bool {
		j = c.look(id)
		return j.PollAfterSeconds == nil
	})
	return j
}

func sha256Digest(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }
