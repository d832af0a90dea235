package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	verification "chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/receipt"
	shipped "chainexplorer/internal/verification/sample"
	"chainexplorer/internal/verification/signer"
	"chainexplorer/internal/verification/toolchain"
)

// findVerifier names the policy directory: the one that was given, which must be one, or
// the first that stands where one is looked for.
func findVerifier(given string) (f verifierFlags, err error) {
	if given != "" {
		if _, err := toolchain.Open(given); err != nil {
			return f, &usageError{"--verification-toolchains: " + err.Error()}
		}
		f.VerificationToolchains = given
		return f, nil
	}
	for _, dir := range toolchainPlaces() {
		if _, err := os.Stat(filepath.Join(dir, toolchain.Manifest)); err == nil {
			f.VerificationToolchains = dir
			return f, nil
		}
	}
	return f, nil
}

// toolchainPlaces are where the demo looks for compilers; demo --help lists them.
func toolchainPlaces() []string {
	places := []string{receipt.ToolchainPolicy}
	data := os.Getenv("XDG_DATA_HOME")
	if home, err := os.UserHomeDir(); data == "" && err == nil {
		data = filepath.Join(home, ".local", "share")
	}
	if data != "" {
		places = append(places, filepath.Join(data, "chainexplorer", receipt.ToolchainPolicy))
	}
	return append(places, filepath.Join("/usr/local/share/chainexplorer", receipt.ToolchainPolicy))
}

// signHere makes keys in a folder, and signs with them in this process until stop is
// called: the service asks over a socket, as it asks a signer that runs apart.
func (o *serviceOptions) signHere(ctx context.Context, dir string) (stop func(), err error) {
	made, err := (&keyring.Ring{Dir: dir}).Create(keyring.New{}, "demo."+keyring.DefaultOrigin)
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	o.Receipts = receiptFlags{ReceiptTrust: made.Trust, receiptLogFlags: receiptLogFlags{ReceiptLogKey: made.LogPath}}
	address := "unix:" + filepath.Join(dir, "sock")
	path, err := signer.SocketPath(address)
	if err != nil {
		return func() {}, nil // a temporary directory with a very long name: all but verification works
	}
	held, err := signer.Open(signer.Options{Keys: []string{made.Path}})
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	server, err := signer.Listen(held, signer.ServerOptions{Path: path})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), held.Close())
	}
	o.Signer = signerFlags{Signer: address}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(serving) //nolint:errcheck // ends with the demo
	}()
	return func() {
		cancel()
		<-ended
		held.Close() //nolint:errcheck // its folder goes away
	}, nil
}

// verifyReadyTime bounds how long the demo waits for its own worker.
const verifyReadyTime = 20 * time.Second

// showVerification lays the sample's source and returns the commands that verify it, or
// says what has to be installed.
func (s *service) showVerification(ctx context.Context, g *greeting) (string, error) {
	missing, err := s.missingToVerify(ctx)
	if err != nil {
		return "", err
	}
	if missing != "" {
		return "To verify a contract's source to a signed receipt, too:\n\n" + missing, nil
	}
	tree, keyFile := filepath.Join(g.dir, "counter"), filepath.Join(g.dir, "key")
	if err := errors.Join(os.CopyFS(tree, shipped.Tree()), os.WriteFile(keyFile, []byte(g.key+"\n"), 0o600)); err != nil {
		return "", fmt.Errorf("demo: lay the sample's source: %w", err)
	}
	program, err := os.Executable()
	if err != nil {
		program = "chainexplorer"
	}
	_, p, err := shipped.Archive()
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	made := filepath.Join(tree, ".chainexplorer")
	receiptFile, proof := filepath.Join(g.dir, "receipt.json"), filepath.Join(g.dir, "receipt.tlog-proof")
	service := []string{"--service", g.base, "--key-file", keyFile}
	verify := func(command string, args ...string) string {
		return shellLine(append([]string{program, "verify", command}, args...)...)
	}
	job := func(command string, more ...string) string {
		return verify(command, append(append([]string{jobVariable}, service...), more...)...)
	}
	return strings.Join([]string{
		"Verify a source to a signed receipt: SN_MAIN declares its class. In one shell, one after the other:\n",
		"  " + verify("prepare", tree, "--class-hash", p.SelectedClassHash, "--package-name", p.PackageName, "--target-name", p.TargetName, "--artifact-id", p.ArtifactID, "--module-path", p.ModulePath),
		"  job=$(" + verify("submit", append([]string{made}, service...)...) + " | cut -d' ' -f1)",
		"  " + job("status", "--wait") + " && " + job("receipt", "--out", receiptFile, "--log-proof", proof),
		"  " + verify("verify-receipt", receiptFile, "--trust", s.opts.Receipts.ReceiptTrust, "--class-hash", p.SelectedClassHash, "--chain", verification.Chain, "--archive", filepath.Join(made, archiveFile),
			"--log-proof", proof, "--log-key", s.opts.Receipts.ReceiptLogKey, "--require-log"),
		"\nThe class is then verified_exact in what is read:\n",
		g.curl("/v1/" + verification.Chain + "/class/" + p.SelectedClassHash),
	}, "\n"), nil
}

// missingToVerify is why the demo can verify nothing, and what to do; "" when it can.
func (s *service) missingToVerify(ctx context.Context) (string, error) {
	var lines []string
	if _, err := exec.LookPath("bwrap"); err != nil && runtime.GOOS == "linux" {
		lines = append(lines, "  bubblewrap is not installed: the package of that name has it.")
	}
	again := fmt.Sprintf("scripts/toolchain.sh %s %s --corelib-archive ARCHIVE --sha256 DIGEST", receipt.ToolchainPolicy, shipped.Compiler)
	switch dir := s.opts.Verifier.VerificationToolchains; {
	case runtime.GOOS != "linux":
		lines = append(lines, "  builds run in a sandbox that only Linux has.")
	case s.opts.Signer.Signer == "":
		lines = append(lines, "  the path of the temporary directory is too long for a socket: set TMPDIR to a shorter one.")
	case dir == "":
		lines = append(lines, "  no compiler was found. "+again, "  makes it (docs/verification-operating.md); then start the demo again, or name its folder with --verification-toolchains.")
	default:
		policy, err := toolchain.Open(dir)
		if err == nil && policy.Find(toolchain.Cairo, shipped.Compiler) == nil && policy.Find(toolchain.Scarb, shipped.Compiler) == nil {
			err = fmt.Errorf("it has no compiler %s, which the sample names; %s adds it", shipped.Compiler, again)
		}
		if err == nil && len(lines) == 0 {
			err = s.builder.Ready(ctx)
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			lines = append(lines, fmt.Sprintf("  with %s: %v.", dir, err))
		}
	}
	if len(lines) > 0 {
		return strings.Join(lines, "\n"), nil
	}
	return s.awaitVerifier(ctx)
}

// awaitVerifier waits until jobs are taken, and says why when they are not.
func (s *service) awaitVerifier(ctx context.Context) (string, error) {
	bounded, cancel := context.WithTimeout(ctx, verifyReadyTime)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	jobs := verification.New(s.control, verification.Options{})
	for {
		err := jobs.Available(bounded, verification.Chain)
		if err == nil {
			return "", nil
		}
		select {
		case <-again.C:
		case <-bounded.Done():
			if ctx.Err() != nil {
				return "", ctx.Err()
			}
			return fmt.Sprintf("  no jobs are taken yet: %v.", err), nil
		}
	}
}

// jobVariable is the one word of a shellLine that the shell is to replace.
const jobVariable = `"$job"`

// shellLine is a command as a shell reads it.
func shellLine(args ...string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-"
	var words []string
	for _, a := range args {
		if a == "" || a != jobVariable && strings.Trim(a, plain) != "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}
