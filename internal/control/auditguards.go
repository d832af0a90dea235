package control

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The triggers that keep the audit log, the receipts and their log append-only are all
// that the migrations make. Who takes one away, switches it off or puts another in its place can change entries
// without a refusal, which need not have happened yet.

// How migrations spell triggers, and the functions of PostgreSQL that those call.
var (
	sqliteGuard   = regexp.MustCompile(`(?s)CREATE TRIGGER (\w+) .*?END;`)
	postgresGuard = regexp.MustCompile(`(?s)CREATE TRIGGER (\w+) [^;]*?EXECUTE FUNCTION (\w+)\(\);`)
	postgresBody  = regexp.MustCompile(`(?s)CREATE FUNCTION (\w+)\(\) RETURNS trigger LANGUAGE plpgsql AS \$\$(.*?)\$\$;`)
	droppedGuard  = regexp.MustCompile(`DROP TRIGGER (\w+)`)
)

// upwards are the parts of a dialect's migrations that are applied, in their order.
func upwards(folder string) ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/"+folder+"/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		out = append(out, up)
	}
	return out, nil
}

// oneLine is a definition without what a database may write otherwise.
func oneLine(text string) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(text), " "), ";")
}

func (s *sqliteDialect) guardsOf(up []string) map[string]string {
	want := map[string]string{}
	for _, text := range up {
		for _, m := range droppedGuard.FindAllStringSubmatch(text, -1) {
			delete(want, m[1])
		}
		for _, m := range sqliteGuard.FindAllStringSubmatch(text, -1) {
			want[m[1]] = oneLine(m[0])
		}
	}
	return want
}

func (s *sqliteDialect) guards(ctx context.Context, tx *sql.Tx) (map[string]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT name, sql, '' FROM sqlite_master WHERE type = 'trigger'`)
	return guardRows(rows, err, func(definition, _ string) string { return oneLine(definition) })
}

func (p *postgresDialect) guardsOf(up []string) map[string]string {
	want, body := map[string]string{}, map[string]string{}
	for _, text := range up {
		for _, m := range postgresBody.FindAllStringSubmatch(text, -1) {
			body[m[1]] = m[2]
		}
		for _, m := range droppedGuard.FindAllStringSubmatch(text, -1) {
			delete(want, m[1])
		}
		for _, m := range postgresGuard.FindAllStringSubmatch(text, -1) {
			want[m[1]] = postgresLine(m[0], body[m[2]])
		}
	}
	return want
}

func (p *postgresDialect) guards(ctx context.Context, tx *sql.Tx) (map[string]string, error) {
	rows, err := tx.QueryContext(ctx, `SELECT t.tgname, pg_get_triggerdef(t.oid, true), CASE WHEN l.lanname = 'plpgsql' THEN f.prosrc ELSE l.lanname::text END
		FROM pg_trigger t JOIN pg_proc f ON f.oid = t.tgfoid JOIN pg_language l ON l.oid = f.prolang
		JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = '`+controlSchema+`'::regnamespace AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')
		UNION ALL SELECT rulename, definition, '' FROM pg_rules WHERE schemaname = '`+controlSchema+`'`)
	return guardRows(rows, err, postgresLine)
}

// postgresLine is a trigger with the function that it calls. The server writes a trigger
// in words of its own: in small letters, with parentheses, and events in another order.
func postgresLine(definition, body string) string {
	definition = strings.NewReplacer(" ", "", "(", "", ")", "", controlSchema+".", "").Replace(strings.ToLower(oneLine(definition)))
	return strings.ReplaceAll(definition, "updateordelete", "deleteorupdate") + " " + oneLine(body)
}

// guardRows reads triggers by their names, with what makes them.
func guardRows(rows *sql.Rows, err error, line func(definition, body string) string) (map[string]string, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	have := map[string]string{}
	for rows.Next() {
		var name, definition, body string
		if err := rows.Scan(&name, &definition, &body); err != nil {
			return nil, err
		}
		have[name] = line(definition, body)
	}
	return have, rows.Err()
}

// checkGuards finds the triggers that are gone or switched off, and those, with the rules
// of PostgreSQL, that are not what the migrations made.
func (d *DB) checkGuards(ctx context.Context, tx *sql.Tx) (missing, changed []string, err error) {
	folder, _ := d.kind.migrations()
	up, err := upwards(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("read the migrations: %w", err)
	}
	want := d.kind.guardsOf(up)
	have, err := d.kind.guards(ctx, tx)
	if err != nil {
		return nil, nil, fmt.Errorf("look for the triggers: %w", err)
	}
	missing, changed = []string{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		switch definition, there := have[name]; {
		case !there:
			missing = append(missing, name)
		case definition != want[name]:
			changed = append(changed, name)
		}
	}
	// One that this program did not make may swallow entries before they are there.
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ours := want[name]; !ours {
			changed = append(changed, name)
		}
	}
	return missing, changed, nil
}
