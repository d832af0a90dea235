package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"chainexplorer/internal/control"
)

type auditCommands struct {
	List   auditListCommand   `cmd:"" help:"List what was changed, newest first."`
	Verify auditVerifyCommand `cmd:"" help:"Check the chain of the audit log, and name the first place where it is broken."`
}

type auditListCommand struct {
	controlFlags
	Limit int `default:"100" help:"How many entries to show, up to 1000; 100 unless set."`
}

// maxAuditList bounds what one call prints.
const maxAuditList = 1000

// Run lists entries.
func (c *auditListCommand) Run(ctx context.Context, con *console) error {
	if c.Limit < 1 || c.Limit > maxAuditList {
		return &usageError{fmt.Sprintf("--limit must be 1 to %d", maxAuditList)}
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		list, err := db.AuditLog(ctx, c.Limit+1)
		if err != nil {
			return err
		}
		more := len(list) > c.Limit
		list = list[:min(len(list), c.Limit)]
		if c.JSON {
			return printJSON(con.out, map[string]any{"items": append([]control.AuditLink{}, list...), "truncated": more})
		}
		rows := [][]string{{"ENTRY", "TIME", "WHO", "WHAT", "SUBJECT", "DETAIL"}}
		for _, l := range list {
			rows = append(rows, []string{strconv.FormatInt(l.Sequence, 10), when(&l.At, ""), l.Actor, l.Action, l.Subject, l.Detail})
		}
		if err := table(con.out, rows); err != nil || !more {
			return err
		}
		_, err = fmt.Fprintf(con.out, "and older ones: only %d are shown\n", c.Limit)
		return err
	})
}

type auditVerifyCommand struct {
	controlFlags
	Head string `placeholder:"SEQUENCE:HASH" help:"Head that an earlier run printed and that was kept elsewhere: the log must still hold it."`
}

// Help is shown by verify --help.
func (auditVerifyCommand) Help() string {
	return "Entries that were changed, removed, moved or put in are found, and newest ones that were cut off while the head still names them. It fails, too, where triggers that keep the log append-only are missing, switched off or other than this program made them: entries may have been changed then, or be changed more easily. " +
		"What is not found without --head: who can write to the database past the triggers, and cuts off the newest entries and sets the head back, or computes the whole chain anew, and puts the triggers back as they were. Nothing inside the database can tell that. Note the printed head somewhere else from time to time, and give it to --head."
}

// Run prints the head, and fails when the chain is broken.
func (c *auditVerifyCommand) Run(ctx context.Context, con *console) error {
	var noted *control.AuditHead
	if c.Head != "" {
		h, err := control.ParseAuditHead(c.Head)
		if err != nil {
			return &usageError{"--head: " + err.Error()}
		}
		noted = &h
	}
	return c.open(ctx, con, false, func(db *control.DB) error {
		r, err := db.VerifyAudit(ctx, noted)
		if err != nil {
			return err
		}
		if c.JSON {
			err = printJSON(con.out, r)
		} else {
			rows := [][]string{{"entries", strconv.FormatInt(r.Entries, 10)}, {"head", r.Head.String()}, {"audit", auditState(r)}}
			if len(r.MissingGuards) > 0 {
				rows = append(rows, []string{"missing triggers", strings.Join(r.MissingGuards, ", ")})
			}
			if len(r.ChangedGuards) > 0 {
				rows = append(rows, []string{"changed triggers", strings.Join(r.ChangedGuards, ", ")})
			}
			err = table(con.out, rows)
		}
		if len(r.ChangedGuards) > 0 {
			err = errors.Join(fmt.Errorf("triggers that keep the audit log append-only are not what this program made: %s", strings.Join(r.ChangedGuards, ", ")), err)
		}
		if len(r.MissingGuards) > 0 {
			err = errors.Join(fmt.Errorf("triggers that keep the audit log append-only are missing from the database, or switched off: %s", strings.Join(r.MissingGuards, ", ")), err)
		}
		if r.Broken != nil {
			return errors.Join(fmt.Errorf("the audit log is broken at entry %d: %s", r.Broken.Sequence, r.Broken.Reason), err)
		}
		return err
	})
}

// auditState is a line about a log.
func auditState(r control.AuditReport) string {
	switch {
	case r.Broken != nil:
		return fmt.Sprintf("broken at entry %d (%s)", r.Broken.Sequence, r.Broken.Kind)
	case r.Entries == 0:
		return "intact, no entries"
	}
	return "intact up to " + r.Head.String()
}
