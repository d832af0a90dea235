package label_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"chainexplorer/internal/control"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/label"
	"chainexplorer/internal/registry"
)

func open(t *testing.T, path string, now func() time.Time) *label.Repository {
	t.Helper()
	db, err := control.Open(t.Context(), control.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() }) //nolint:errcheck // of a test
	return label.NewRepository(db, now)
}

// TestLabels: what one process writes another reads, at once or two seconds later.
func TestLabels(t *testing.T) {
	path := t.TempDir() + "/control.db"
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	reader := open(t, path, func() time.Time { return now })
	writer := open(t, path, nil)
	a := registry.Label{Address: felt.FromUint64(7), Name: "Seven", Protocol: "Numbers", Kind: "odd", Source: "me", Confidence: registry.Medium}
	read := func() map[felt.Felt]registry.Label {
		t.Helper()
		m, err := reader.Labels(t.Context(), "SN_MAIN")
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if len(read()) != 0 {
		t.Fatal("labels before there are any")
	}
	if err := writer.Put(t.Context(), "SN_MAIN", a); err != nil {
		t.Fatal(err)
	}
	if len(read()) != 0 {
		t.Error("the copy was not kept")
	}
	now = now.Add(2 * time.Second)
	if got := read(); !reflect.DeepEqual(got, map[felt.Felt]registry.Label{a.Address: a}) {
		t.Errorf("got %+v", got)
	}
	a.Name, a.Protocol, a.Kind = "VII", "", ""
	if err := writer.Put(t.Context(), "SN_MAIN", a); err != nil {
		t.Fatal(err)
	}
	if list, err := writer.List(t.Context(), "SN_MAIN"); err != nil || !reflect.DeepEqual(list, []registry.Label{a}) {
		t.Errorf("got %+v, %v", list, err)
	}
	if list, err := writer.List(t.Context(), "SN_SEPOLIA"); err != nil || len(list) != 0 {
		t.Errorf("another chain has %+v, %v", list, err)
	}
	if err := writer.Remove(t.Context(), "SN_SEPOLIA", a.Address); !errors.Is(err, label.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if err := writer.Remove(t.Context(), "SN_MAIN", a.Address); err != nil {
		t.Error(err)
	}
	now = now.Add(2 * time.Second)
	if got := read(); len(got) != 0 {
		t.Errorf("got %+v", got)
	}
}

func TestRefused(t *testing.T) {
	r := open(t, t.TempDir()+"/control.db", nil)
	good := registry.Label{Address: felt.FromUint64(7), Name: "Seven", Source: "me", Confidence: registry.High}
	for field, change := range map[string]func(*registry.Label){
		"name":       func(l *registry.Label) { l.Name = "" },
		"source":     func(l *registry.Label) { l.Source = " me" },
		"protocol":   func(l *registry.Label) { l.Protocol = strings.Repeat("x", 129) },
		"kind":       func(l *registry.Label) { l.Kind = "dex" },
		"confidence": func(l *registry.Label) { l.Confidence = "sure" },
	} {
		l := good
		change(&l)
		var invalid *label.InvalidError
		if err := r.Put(t.Context(), "SN_MAIN", l); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	good.Name = "bell\a"
	if err := r.Put(t.Context(), "SN_MAIN", good); err == nil {
		t.Error("a bell is taken")
	}
}
