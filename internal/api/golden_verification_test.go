package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/routes"
)

// verification meets every failure that the routes of verification have to themselves.
func (g *golden) verification() {
	g.T.Helper()
	var jobs *job.Repo
	w := &golden{newWorld(g.T, 3, func(o *options) {
		jobs = job.New(o.Control(), job.Options{Now: o.Now})
		o.Verification = &routes.Options{Jobs: jobs, Chains: []string{chainID, job.Chain}}
	}), g.files, g.codes}
	const base = "/v1/" + job.Chain + "/verification-jobs"
	source := "no archive"
	sum := sha256.Sum256([]byte(source))
	pack := `{"selectedClassHash":"0x1","uploadDigest":"sha256:` + hex.EncodeToString(sum[:]) + `","uploadByteLength":` + strconv.Itoa(len(source)) + `,"toolchainPolicyId":"service-exact-v25",` +
		`"packageName":"p","buildProfile":"release","targetName":"t","targetKind":"starknet-contract","artifactId":"a","modulePath":"p::c","sourceVisibility":"private","retentionPolicyId":"private-24h-v1"}`
	headers := []string{"Idempotency-Key", "k", "Content-Type", "application/json"}
	create := func(dir, path, body string) {
		w.compare(goldenCase{dir: dir, name: "create", method: http.MethodPost, path: path, body: body}, unnamed(w.Send(w.Request(http.MethodPost, path, body, headers...))))
	}
	create("unsupported_policy", "/v1/"+chainID+"/verification-jobs", pack)
	create("invalid_verification_package", base, strings.Replace(pack, `"release"`, `"dev"`, 1))
	create("verifier_dispatch_failed", base, pack)
	if err := jobs.Announce(g.T.Context(), job.Chain, "w", ""); err != nil {
		g.T.Fatal(err)
	}
	var made struct{ JobID string }
	if err := json.Unmarshal(w.Send(w.Request(http.MethodPost, base, pack, headers...)).Body, &made); err != nil || made.JobID == "" {
		g.T.Fatal(made, err)
	}
	create("idempotency_key_reused", base, strings.Replace(pack, `"p::c"`, `"p::d"`, 1))
	// The id of the job is another one each time: the golden files have a name for it.
	upload := func(dir, body string) {
		r := w.Send(w.Request(http.MethodPut, base+"/"+made.JobID+"/source", body, "Content-Type", "application/gzip"))
		w.compare(goldenCase{dir: dir, name: "upload", method: http.MethodPut, path: base + "/<job>/source"}, unnamed(r))
	}
	upload("verification_upload_mismatch", strings.ToUpper(source))
	w.Do(http.MethodPost, base+"/"+made.JobID+"/cancel", w.Key)
	upload("verification_job_closed", source)
}
