package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"chainexplorer/internal/backup"
	"chainexplorer/internal/control"
	"chainexplorer/internal/index"
	"chainexplorer/internal/store"
	"chainexplorer/internal/store/pebble"
)

type backupCommand struct {
	Operator string `placeholder:"URL" help:"Address of a running process's --metrics, such as http://127.0.0.1:9464: it takes a backup into its --backup-dir and goes on meanwhile."`
	operatorTokenFlags
	Data string `placeholder:"DIR" help:"Without --operator: the data directory of a process that is stopped."`
	To   string `placeholder:"NEW" help:"With --data: folder of the backup, which must not exist."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// operatorTokenFlags are what a caller of the operator's address shows.
type operatorTokenFlags struct {
	OperatorToken     string `placeholder:"TOKEN" help:"With --operator: the operator token of that process. Better put into CHAINEXPLORER_OPERATOR_TOKEN or a file."`
	OperatorTokenFile string `placeholder:"FILE" help:"With --operator: file with that token, such as operator.token in its --backup-dir."`
}

// Help is shown by backup --help.
func (backupCommand) Help() string {
	return "A backup holds the indexes and the control database of a data directory, with the secrets that keys are digested with: keep it as safe as the original."
}

// Run prints where the backup is and what it holds.
func (c *backupCommand) Run(ctx context.Context, con *console) error {
	offline := c.Data != "" && c.To != ""
	if (c.Operator != "") == offline || (c.Data != "") != (c.To != "") {
		return &usageError{"give --operator URL of a running process, or --data DIR with --to NEW when it is stopped"}
	}
	if c.Operator != "" {
		meter := con.quiet().meter("backing up", "databases")
		t, err := askForBackup(ctx, c.Operator, &operatorFlags{OperatorToken: c.OperatorToken, OperatorTokenFile: c.OperatorTokenFile},
			func(done, total uint64) { meter.at(amount{done: done, total: total}) })
		meter.end()
		if err != nil {
			return err
		}
		return printBackup(con, t.Folder, t.Manifest, c.JSON)
	}
	m, err := c.offline(ctx, con.quiet())
	if err != nil {
		return errRunning(err)
	}
	return printBackup(con, c.To, m, c.JSON)
}

// askForBackup lets a running process take a backup, and shows how far it has come.
func askForBackup(ctx context.Context, operator string, f *operatorFlags, progress func(done, total uint64)) (t taken, err error) {
	token, err := f.token()
	if err != nil {
		return t, err
	}
	ctx, cancel := context.WithTimeout(ctx, backupTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(operator, "/")+"/backup", nil)
	if err != nil {
		return t, &usageError{fmt.Sprintf("--operator %s: %v", operator, err)}
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	req.Header.Set("Accept", backupStream)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return t, fmt.Errorf("ask the running process: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read below
	body := io.LimitReader(res.Body, 1<<20)
	if res.StatusCode != http.StatusOK {
		text, err := io.ReadAll(body)
		return t, errors.Join(fmt.Errorf("the running process answered %s: %s", res.Status, strings.TrimSpace(string(text))), err)
	}
	for lines := json.NewDecoder(body); ; {
		var line struct {
			backupStep
			taken
		}
		err := lines.Decode(&line)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return t, errors.New("the running process ended before the backup was complete")
		case err != nil && ctx.Err() != nil:
			return t, fmt.Errorf("wait for the backup: %w", ctx.Err())
		case err != nil:
			return t, fmt.Errorf("%s is not a --metrics address of this program: %w", operator, err)
		case line.Error != "":
			return t, fmt.Errorf("the running process: %s", line.Error)
		case line.Folder != "":
			return line.taken, nil
		}
		progress(line.Done, line.Total)
	}
}

// offline opens everything in the data directory, which a running process would not allow.
func (c *backupCommand) offline(ctx context.Context, con *console) (m backup.Manifest, err error) {
	s := backup.Source{Stores: map[string]store.Engine{}, Program: version(), Now: time.Now, Logger: con.log}
	dirs, err := storesIn(c.Data)
	if err != nil {
		return m, err
	}
	for _, dir := range dirs {
		e, err := openPebble(ctx, pebble.Options{Dir: dir, Logger: con.log})
		if err != nil {
			return m, err
		}
		defer e.Close() //nolint:errcheck // nothing was changed
		state, err := stateOf(ctx, e)
		if err != nil {
			return m, err
		}
		if !state.Present {
			return m, fmt.Errorf("%s holds no index yet", dir)
		}
		s.Stores[index.ChainName(state.Format.ChainID)] = e
	}
	file := filepath.Join(c.Data, "control.db")
	switch _, err := os.Stat(file); {
	case err == nil:
		if s.Control, err = control.Open(ctx, control.Options{Path: file, MustExist: true, BeforeUpgrade: noWayBack, Logger: con.log}); err != nil {
			return m, err
		}
		defer s.Control.Close() //nolint:errcheck // nothing was changed
	case !errors.Is(err, os.ErrNotExist):
		return m, err
	}
	to, err := filepath.Abs(c.To)
	if err != nil {
		return m, err
	}
	meter := con.meter("backing up", "databases")
	defer meter.end()
	s.Progress = func(done, total uint64) { meter.at(amount{done: done, total: total}) }
	return backup.Take(ctx, s, to)
}

// noWayBack keeps a backup before an upgrade from being one that the version before cannot restore.
func noWayBack(context.Context) error {
	return errors.New("take the backup with the version that made it, which could not read one that was brought up to date")
}

// storesIn lists the indexes of a data directory: those of 'serve', a folder each,
// or the one of 'index', which is the directory itself.
func storesIn(data string) (list []string, err error) {
	if isStore(data) {
		return []string{data}, nil
	}
	entries, err := os.ReadDir(data)
	if err != nil {
		return nil, fmt.Errorf("data directory: %w", err)
	}
	for _, e := range entries {
		if dir := filepath.Join(data, e.Name()); e.IsDir() && isStore(dir) {
			list = append(list, dir)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s holds no index", data)
	}
	return list, nil
}

type restoreCommand struct {
	From string `required:"" placeholder:"FOLDER" help:"Folder of the backup."`
	Data string `required:"" placeholder:"DIR" help:"Data directory to make of it; must be empty or missing. 'serve' takes it as it is, 'index' the chain's folder in it."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run puts a backup back and says what it holds.
func (c *restoreCommand) Run(ctx context.Context, con *console) error {
	meter := con.meter("restoring", "MiB")
	m, err := backup.Restore(ctx, c.From, c.Data, con.quiet().log, func(done, total uint64) {
		meter.at(amount{done: done >> 20, total: max(total>>20, 1)})
	})
	meter.end()
	if errors.Is(err, backup.ErrNotEmpty) {
		return &usageError{err.Error() + ": give another --data, or empty it"}
	}
	if err != nil {
		return err
	}
	return printBackup(con, c.Data, m, c.JSON)
}

func printBackup(con *console, folder string, m backup.Manifest, asJSON bool) error {
	if asJSON {
		return printJSON(con.out, taken{Folder: folder, Manifest: m})
	}
	keys := "not in it"
	if m.Control {
		keys = "control.db"
	}
	rows := [][]string{{"folder", folder}, {"taken", m.Taken.Format(time.RFC3339)}, {"keys", keys}}
	if m.Audit != nil {
		rows = append(rows, []string{"audit", auditState(*m.Audit)})
	}
	for _, c := range m.Chains {
		head := "no block yet"
		if c.Blocks {
			head = fmt.Sprintf("%d %s", c.Head, c.Hash)
		}
		rows = append(rows, []string{"chain", c.Name}, []string{"head", head}, []string{"digest", c.Digest})
	}
	return table(con.out, rows)
}
