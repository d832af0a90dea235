package main

import (
	"strings"
	"testing"
)

func TestAdminLabels(t *testing.T) {
	db := t.TempDir() + "/control.db"
	succeed(t, db, "workspace", "create", "acme") // makes the database
	if out := succeed(t, db, "label", "add", "0X00AB", "The bank", "--chain", "SN_MAIN", "--protocol", "Bank", "--kind", "cex", "--confidence", "medium"); out != "0xab is called The bank on SN_MAIN\n" {
		t.Errorf("printed %s", out)
	}
	out := succeed(t, db, "label", "list", "--chain", "SN_MAIN")
	if lines := strings.Split(out, "\n"); len(lines) != 3 || strings.Join(strings.Fields(lines[1]), " ") != "0xab The bank Bank cex operator medium" {
		t.Errorf("printed\n%s", out)
	}
	if out := succeed(t, db, "label", "list", "--chain", "SN_SEPOLIA", "--json"); out != "[]\n" {
		t.Errorf("printed %s", out)
	}
	for _, args := range [][]string{
		{"label", "add", "seven", "Seven", "--chain", "SN_MAIN"},
		{"label", "add", "0x7", " Seven", "--chain", "SN_MAIN"},
		{"label", "add", "0x7", "Seven"},
		{"label", "remove", "0x7", "--chain", "SN_MAIN"},
	} {
		if out, _, code := output(t, append(append([]string{"admin"}, args...), "--control", db)...); code == 0 {
			t.Errorf("%v: %s", args, out)
		}
	}
	succeed(t, db, "label", "remove", "0xab", "--chain", "SN_MAIN")
	if out := succeed(t, db, "label", "list", "--chain", "SN_MAIN"); strings.Count(out, "\n") != 1 {
		t.Errorf("printed\n%s", out)
	}
}
