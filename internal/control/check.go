package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// maxProblems bounds what is told of a damaged file.
const maxProblems = 20

// Check reads every page of a database in a file and tells what is wrong with it.
// It changes nothing. The error is about the machine.
func Check(ctx context.Context, path string) (problems []string, err error) {
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("check the control database: %w", err)
	} else if info.Size() == 0 {
		return []string{ErrEmpty.Error()}, nil
	}
	db, err := openSQLite(path, reader)
	if err != nil {
		return nil, fmt.Errorf("check the control database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxProblems))
	if err == nil {
		problems, err = texts(rows)
	}
	var failure *sqlite.Error
	if errors.As(err, &failure) {
		switch failure.Code() & 0xff {
		case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
			return append(problems, failure.Error()), nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("check the control database: %w", err)
	}
	if len(problems) == 1 && problems[0] == "ok" {
		problems = nil
	}
	return problems, nil
}

func texts(rows *sql.Rows) (list []string, err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return list, err
		}
		list = append(list, s)
	}
	return list, rows.Err()
}
