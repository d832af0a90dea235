package store

import (
	"fmt"
	"regexp"
)

// The table ids that no table may have. Engines keep their own records, the
// lease among them, below all tables, and use the last id as an upper bound.
const (
	reservedFirst = 0
	reservedLast  = 255
)

// Names are kept shorter than PostgreSQL's 63 bytes, so that an engine can put
// a prefix or an index name around them, and lower case, so that quoting
// never changes them.
var tableName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,47}$`)

// Schema is a valid list of tables. Engines check keys and ranges against it
// before they touch anything.
type Schema struct {
	tables []*Table
	byID   [256]*Table
}

// NewSchema checks that ids and names are unique and well formed.
func NewSchema(tables []*Table) (*Schema, error) {
	s := &Schema{tables: append([]*Table(nil), tables...)}
	names := make(map[string]bool, len(tables))
	ascending := byte(reservedLast) // the first of the ascending tables
	for _, t := range tables {
		if t != nil && t.Ascending {
			ascending = min(ascending, t.ID)
		}
	}
	for _, t := range tables {
		switch {
		case t == nil:
			return nil, fmt.Errorf("%w: a table is nil", ErrInvalid)
		case t.ID == reservedFirst || t.ID == reservedLast:
			return nil, fmt.Errorf("%w: table %q has the reserved id %d", ErrInvalid, t.Name, t.ID)
		case !tableName.MatchString(t.Name):
			return nil, fmt.Errorf("%w: table %d: name %q is not lower-case letters, digits and underscores, at most 48", ErrInvalid, t.ID, t.Name)
		case t.PartitionLen < 0 || t.PartitionLen > MaxKeyBytes:
			return nil, fmt.Errorf("%w: table %q has a partition of %d bytes", ErrInvalid, t.Name, t.PartitionLen)
		case t.SortLen < 0 || t.PartitionLen+t.SortLen > MaxKeyBytes:
			return nil, fmt.Errorf("%w: table %q has sorts of %d bytes", ErrInvalid, t.Name, t.SortLen)
		case t.Series && t.SortLen < NumberBytes:
			return nil, fmt.Errorf("%w: table %q is of series, and its sorts have no room for a number", ErrInvalid, t.Name)
		case s.byID[t.ID] != nil:
			return nil, fmt.Errorf("%w: tables %q and %q have the same id %d", ErrInvalid, s.byID[t.ID].Name, t.Name, t.ID)
		case names[t.Name]:
			return nil, fmt.Errorf("%w: two tables have the name %q", ErrInvalid, t.Name)
		case !t.Ascending && t.ID > ascending:
			return nil, fmt.Errorf("%w: table %q has the id %d, which is above that of an ascending table, %d", ErrInvalid, t.Name, t.ID, ascending)
		}
		s.byID[t.ID] = t
		names[t.Name] = true
	}
	return s, nil
}

// Tables returns the tables in the order in which they were declared.
func (s *Schema) Tables() []*Table { return append([]*Table(nil), s.tables...) }

// CheckTable says whether t is one of the tables.
func (s *Schema) CheckTable(t *Table) error {
	if t == nil {
		return fmt.Errorf("%w: no table", ErrInvalid)
	}
	if known := s.byID[t.ID]; known != t && (known == nil || *known != *t) {
		return fmt.Errorf("%w: table %q (%d) is not one that the store was opened with", ErrInvalid, t.Name, t.ID)
	}
	return nil
}

// CheckKey says whether k can be the address of a row.
func (s *Schema) CheckKey(k *Key) error {
	if err := s.checkPartition(k.Table, k.Partition); err != nil {
		return err
	}
	return checkKeyLen(k.Table, len(k.Partition), len(k.Sort))
}

// CheckChanges says whether all changes can be made.
func (s *Schema) CheckChanges(c *Changes) error {
	if c.bad != nil {
		return c.bad
	}
	for _, t := range c.Tables() {
		if err := s.CheckTable(t); err != nil {
			return err
		}
	}
	return nil
}

func checkPartitionLen(t *Table, partition int) error {
	if partition != t.PartitionLen {
		return fmt.Errorf("%w: a partition of table %q has %d bytes, want %d", ErrInvalid, t.Name, partition, t.PartitionLen)
	}
	return nil
}

func checkKeyLen(t *Table, partition, sort int) error {
	if err := checkPartitionLen(t, partition); err != nil {
		return err
	}
	if t.SortLen != 0 && sort != t.SortLen {
		return fmt.Errorf("%w: a sort of table %q has %d bytes, want %d", ErrInvalid, t.Name, sort, t.SortLen)
	}
	if n := partition + sort; n > MaxKeyBytes {
		return fmt.Errorf("%w: a key of table %q has %d bytes, more than %d", ErrInvalid, t.Name, n, MaxKeyBytes)
	}
	return nil
}

// CheckRange says whether r can be scanned.
func (s *Schema) CheckRange(r *Range) error {
	if r.Limit <= 0 {
		return fmt.Errorf("%w: a scan needs a positive limit, got %d", ErrInvalid, r.Limit)
	}
	return s.checkPartition(r.Table, r.Partition)
}

// CheckCut says whether c can be cut out.
func (s *Schema) CheckCut(c *Cut) error {
	if err := s.checkPartition(c.Table, c.Partition); err != nil {
		return err
	}
	if n := len(c.Partition) + max(len(c.From), len(c.To)); n > MaxKeyBytes {
		return fmt.Errorf("%w: an end of a cut of table %q has %d bytes, more than %d", ErrInvalid, c.Table.Name, n, MaxKeyBytes)
	}
	return nil
}

// checkPartition is on the path of every row written, hence the early way out.
func (s *Schema) checkPartition(t *Table, partition []byte) error {
	if t == nil || s.byID[t.ID] != t {
		if err := s.CheckTable(t); err != nil {
			return err
		}
	}
	return checkPartitionLen(t, len(partition))
}
