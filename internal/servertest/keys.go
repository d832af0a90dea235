package servertest

import (
	"errors"
	"time"

	"chainexplorer/internal/account"
)

// NewKey is a key of the workspace, with room for any number of requests.
func (w *World) NewKey(scopes account.Scopes) string {
	w.T.Helper()
	return w.create(account.NewKey{WorkspaceID: w.Space.ID, Label: "test", Scopes: scopes,
		Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}}).Plaintext
}

// Issue makes a key of the workspace, and tells all of it.
func (w *World) Issue() account.Issued {
	w.T.Helper()
	return w.create(account.NewKey{WorkspaceID: w.Space.ID, Label: "issued", Limits: account.Limits{LightPerMinute: 1e9, HeavyPerMinute: 1e9, Burst: 1e9}})
}

// RevokedKey was good once.
func (w *World) RevokedKey() string {
	w.T.Helper()
	k := w.create(account.NewKey{WorkspaceID: w.Space.ID, Label: "revoked"})
	if _, _, err := w.Repo.RevokeKey(w.T.Context(), k.Key.PublicID); err != nil {
		w.T.Fatal(err)
	}
	return k.Plaintext
}

// ExpiringKey is good for a while.
func (w *World) ExpiringKey(d time.Duration) string {
	w.T.Helper()
	return w.create(account.NewKey{WorkspaceID: w.Space.ID, Label: "short-lived", Lifetime: d}).Plaintext
}

// LimitedKey has limits of its own.
func (w *World) LimitedKey(l account.Limits) string {
	w.T.Helper()
	return w.create(account.NewKey{WorkspaceID: w.Space.ID, Label: "limited", Limits: l}).Plaintext
}

// Stranger is a key of another workspace, which has a plan.
func (w *World) Stranger(name string, plan account.Plan, limits account.Limits) (key string, space account.Workspace) {
	w.T.Helper()
	space, err := w.Repo.CreateWorkspace(w.T.Context(), name, plan)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.KeyOf(space, limits), space
}

// KeyOf is a key of any workspace.
func (w *World) KeyOf(space account.Workspace, limits account.Limits) string {
	w.T.Helper()
	return w.create(account.NewKey{WorkspaceID: space.ID, Label: "test", Limits: limits}).Plaintext
}

// WalletKey belongs to a workspace that may search wide ranges.
func (w *World) WalletKey() string {
	w.T.Helper()
	space, err := w.Repo.WorkspaceByName(w.T.Context(), "wallet")
	if errors.Is(err, account.ErrWorkspaceNotFound) {
		space, err = w.Repo.CreateWorkspace(w.T.Context(), "wallet", account.Wallet)
	}
	if err != nil {
		w.T.Fatal(err)
	}
	return w.create(account.NewKey{WorkspaceID: space.ID, Label: "wallet", Scopes: account.DefaultScopes}).Plaintext
}

// create makes a key, which no log may show.
func (w *World) create(n account.NewKey) account.Issued {
	w.T.Helper()
	k, err := w.Repo.CreateKey(w.T.Context(), n)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Secrets = append(w.Secrets, k.Plaintext)
	return k
}
