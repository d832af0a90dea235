package session

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"chainexplorer/internal/account"
)

const maxName = 128

func checkName(name string) error {
	bad := func(why string) error { return &account.InvalidError{Field: "user", Reason: why} }
	switch {
	case name == "" || strings.TrimSpace(name) != name:
		return bad("it must not be empty, nor begin or end with a space")
	case !utf8.ValidString(name) || utf8.RuneCountInString(name) > maxName:
		return bad(fmt.Sprintf("it may have %d characters at most, in UTF-8", maxName))
	case strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }):
		return bad("it holds characters that do not print")
	}
	return nil
}

// lower writes the letters of ASCII small. There are others that become one of them when
// they are written small, such as the sign of kelvins: an address with one is another's.
func lower(address string) string {
	return strings.Map(func(c rune) rune {
		if 'A' <= c && c <= 'Z' {
			return c + 'a' - 'A'
		}
		return c
	}, address)
}

// spelt finds people whose names are the given one but for capital and small letters, by id. The database writes the
// names of its column small, by the rules of that column, and would write the given one small by those of its locale:
// there a Turkish I, and in most an É, becomes another letter than lower makes of it.
func spelt(ctx context.Context, tx *sql.Tx, name, where string, args ...any) (found map[string]string, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT p.id, p.name FROM person p WHERE LOWER(p.name) = $1 AND `+where, append([]any{lower(name)}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	found = map[string]string{}
	for rows.Next() {
		var id, other string
		if err := rows.Scan(&id, &other); err != nil {
			return nil, err
		}
		if lower(other) == lower(name) {
			found[id] = other
		}
	}
	return found, rows.Err()
}

// unlikeOthers refuses a member whose name is that of another but for capital and small letters: somebody would be
// there twice, and stay when one of the two is taken out. Who becomes known everywhere is held against all who are.
func unlikeOthers(ctx context.Context, tx *sql.Tx, name, workspaceID string, known bool) error {
	found, err := spelt(ctx, tx, name, `(p.home = $2 AND $3 = 1 OR EXISTS (SELECT 1 FROM member m WHERE m.person_id = p.id AND m.workspace_id = $4))`, everywhere, number(known), workspaceID)
	for _, other := range found {
		if err == nil && other != name {
			err = &account.InvalidError{Field: "user", Reason: fmt.Sprintf("there is %q, and names do not differ by capital and small letters alone", other)}
		}
	}
	return err
}

// addressed finds who is known everywhere by an e-mail address in small letters, however they were added;
// sql.ErrNoRows when nobody is.
func addressed(ctx context.Context, tx *sql.Tx, email string) (person string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT id FROM person WHERE name = $1 AND home = $2`, email, everywhere).Scan(&person)
	if !errors.Is(err, sql.ErrNoRows) {
		return person, err
	}
	found, err := spelt(ctx, tx, email, `p.home = $2`, everywhere)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", sql.ErrNoRows
	case len(found) > 1: // from a time when that was possible: who is meant is for the operator to say
		return "", ErrNotAdmitted
	}
	for id := range found {
		person = id
	}
	return person, nil
}
