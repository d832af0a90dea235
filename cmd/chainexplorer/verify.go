package main

import (
	"fmt"
	"io"
	"os"
)

// verifyCommands are for those who have contracts verified, and for those who check what
// came of it. Prepare, check and verify-receipt work without the service and without a network.
type verifyCommands struct {
	Prepare       verifyPrepareCommand    `cmd:"" help:"Make the archive of a source tree and the package that goes with it."`
	Check         verifyCheckCommand      `cmd:"" help:"Check an archive as the service would, before it is handed over."`
	Submit        verifySubmitCommand     `cmd:"" help:"Create a verification job at a service and hand the source over."`
	Status        verifyStatusCommand     `cmd:"" help:"Look at a verification job, or wait for its end."`
	Cancel        verifyCancelCommand     `cmd:"" help:"Cancel a verification job."`
	Receipt       verifyGetReceiptCommand `cmd:"" help:"Get the receipt of a verification that succeeded."`
	VerifyReceipt verifyReceiptCommand    `cmd:"" name:"verify-receipt" help:"Check a receipt offline, with a trust document that you pinned."`
}

// readBounded reads a file that should be small.
func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s has more than %d bytes", path, limit)
	}
	return data, nil
}
