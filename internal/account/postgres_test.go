package account

import (
	"os"
	"testing"

	"chainexplorer/internal/store/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// both are the tests of the repository and of authentication that hold for both
// kinds of control database.
var both = []struct {
	name string
	run  func(*testing.T, place)
}{
	{"Workspaces", testWorkspaces},
	{"Keys", testKeys},
	{"KeyMistakes", testKeyMistakes},
	{"KeysPerPlan", testKeysPerPlan},
	{"RevokeTwice", testRevokeTwice},
	{"Rotate", testRotate},
	{"AuditLog", testAuditLog},
	{"ConcurrentChanges", testConcurrentChanges},
	{"Authenticate", testAuthenticate},
	{"RevokedElsewhereIsRefusedWithinASecond", testRevokedElsewhereIsRefusedWithinASecond},
	{"RevokedHereIsRefusedAtOnce", testRevokedHereIsRefusedAtOnce},
	{"RotatedHereAtOnce", testRotatedHereAtOnce},
	{"Expires", testExpires},
	{"ConcurrentAuthenticate", testConcurrentAuthenticate},
	{"LastUse", testLastUse},
	{"RotateAgainstUse", testRotateAgainstUse},
	{"RevokeAgainstUse", testRevokeAgainstUse},
	{"TwoCreatesAtOnce", testTwoCreatesAtOnce},
	{"CodeLife", testCodeLife},
	{"CodesThatAreNoGood", testCodesThatAreNoGood},
	{"CodeGivesNothing", testCodeGivesNothing},
	{"CodeTakesNothing", testCodeTakesNothing},
	{"CodesAtOnce", testCodesAtOnce},
	{"GuessingCodes", testGuessingCodes},
	{"PlanFollowsAtOnce", testPlanFollowsAtOnce},
	{"Kinds", testKinds},
	{"VerifyOnEveryKey", testVerifyOnEveryKey},
	{"Origins", testOrigins},
	{"PartnerNoMore", testPartnerNoMore},
	{"RotateDefaultOf", testRotateDefaultOf},
}

func TestOnFile(t *testing.T) { runBoth(t, onFile) }

func TestOnPostgres(t *testing.T) { runBoth(t, onServer) }

func runBoth(t *testing.T, at place) {
	for _, tt := range both {
		t.Run(tt.name, func(t *testing.T) { tt.run(t, at) })
	}
}
