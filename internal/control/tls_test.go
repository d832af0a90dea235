package control_test

import (
	"strings"
	"testing"

	"chainexplorer/internal/control"
)

func TestTLSMode(t *testing.T) {
	for address, want := range map[string]string{
		"postgres://u:hunter2@db.example/x?sslmode=disable":     "none: everything crosses the network in the clear",
		"postgres://u:hunter2@db.example/x":                     "in the clear otherwise",
		"postgres://u:hunter2@db.example/x?sslmode=prefer":      "in the clear otherwise",
		"postgres://u:hunter2@db.example/x?sslmode=require":     "not checked",
		"postgres://u:hunter2@db.example/x?sslmode=verify-ca":   "its name is not",
		"postgres://u:hunter2@db.example/x?sslmode=verify-full": "certificate and name checked",
		"postgres:///x?host=/run/postgresql":                    "socket of this machine",
		"postgres://u:hunter2@%zz/x":                            "unknown",
	} {
		got := control.TLSMode(address)
		if !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}
