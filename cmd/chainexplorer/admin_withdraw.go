package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chainexplorer/internal/control"
	"chainexplorer/internal/verification/withdrawal"
)

type verificationWithdrawCommand struct {
	controlFlags
	Job       []string `placeholder:"ID" help:"The job whose receipt is withdrawn, such as vrf_...; repeatable. Its id is in the receipt."`
	Toolchain string   `placeholder:"NAME" help:"All receipts of classes that this compiler built, such as cairo-2.20.0."`
	Reason    string   `required:"" help:"Why, for the owners of the jobs and the audit log; at most 200 bytes."`
}

// withdrawnView is what is printed of a receipt that was withdrawn.
type withdrawnView struct {
	ReceiptID uint64 `json:"receiptId"`
	JobID     string `json:"jobId"`
	ClassHash string `json:"classHash"`
	Digest    string `json:"digest"`
}

// Run withdraws receipts. What was withdrawn before stays so, and is not told again.
func (c *verificationWithdrawCommand) Run(ctx context.Context, con *console) error {
	switch {
	case len(c.Job) == 0 && c.Toolchain == "":
		return &usageError{"which receipts are withdrawn: --job or --toolchain"}
	case strings.TrimSpace(c.Reason) == "" || len(c.Reason) > withdrawal.MaxReason:
		return &usageError{fmt.Sprintf("--reason must have 1 to %d bytes", withdrawal.MaxReason)}
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		book := withdrawal.New(db, con.now)
		if c.Toolchain != "" {
			if err := c.known(ctx, book); err != nil {
				return err
			}
		}
		done, err := book.Withdraw(ctx, withdrawal.Selection{Jobs: c.Job, Toolchain: c.Toolchain}, c.Reason)
		views := []withdrawnView{}
		rows := [][]string{{"RECEIPT", "JOB", "CLASS", "IN THE LOG"}}
		for _, r := range done {
			views = append(views, withdrawnView{r.Number, r.JobID, r.ClassHash, r.Digest})
			rows = append(rows, []string{fmt.Sprint(r.Number), r.JobID, r.ClassHash, r.Digest})
		}
		if err != nil && len(done) > 0 {
			return fmt.Errorf("%w (%d were withdrawn before that)", err, len(done))
		} else if err != nil {
			return err
		}
		if c.JSON {
			return printJSON(con.out, map[string]any{"withdrawn": views})
		}
		if len(done) == 0 {
			_, err := fmt.Fprintln(con.out, "all of them were withdrawn before")
			return err
		}
		return table(con.out, rows)
	})
}

// known refuses a compiler that built nothing: a name that was mistyped must not pass for done.
func (c *verificationWithdrawCommand) known(ctx context.Context, book *withdrawal.Book) error {
	all, err := book.Toolchains(ctx)
	if err != nil {
		return err
	}
	if _, there := all[c.Toolchain]; there {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		shown := name
		if name == "" {
			shown = "a compiler that was not noted"
		}
		names = append(names, fmt.Sprintf("%d by %s", all[name], shown))
	}
	if names == nil {
		names = []string{"none"}
	}
	return &usageError{fmt.Sprintf("--toolchain %s: it built the class of no receipt. There are: %s", c.Toolchain, strings.Join(names, ", "))}
}
