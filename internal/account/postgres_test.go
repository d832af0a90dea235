package account

import (
	"os"
	"testing"

	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// TestOnPostgres runs the tests of the repository and of authentication on the
// other kind of control database.
func TestOnPostgres(t *testing.T) {
	for name, test := range map[string]func(*testing.T){
		"Workspaces": TestWorkspaces, "Keys": TestKeys, "KeyMistakes": TestKeyMistakes, "KeysPerPlan": TestKeysPerPlan,
		"RevokeTwice": TestRevokeTwice, "Rotate": TestRotate, "AuditLog": TestAuditLog, "ConcurrentChanges": TestConcurrentChanges,
		"Authenticate":                           TestAuthenticate,
		"RevokedElsewhereIsRefusedWithinASecond": TestRevokedElsewhereIsRefusedWithinASecond,
		"RevokedHereIsRefusedAtOnce":             TestRevokedHereIsRefusedAtOnce,
		"RotatedHereAtOnce":                      TestRotatedHereAtOnce,
		"Expires":                                TestExpires,
		"ConcurrentAuthenticate":                 TestConcurrentAuthenticate,
		"LastUse":                                TestLastUse,
	} {
		t.Run(name, test)
	}
}
