package accountpages

import (
	"context"
	"errors"
	"net/http"
	"time"

	"chainexplorer/internal/account"
	"chainexplorer/internal/kernel"
)

// keyList is what the page of keys shows: those that work, newest first, and those
// that do not any more.
type keyList struct {
	Now           time.Time
	Form          string
	Active, Ended []account.Key
	More          bool         // older ones, which are not shown
	Default       *account.Key // nil when there is none
	Policy        account.Policy
	Full          bool // no other key can be issued
	Space         account.Workspace
	Scopes        []string // of a key that is issued
}

// good says whether a key is taken.
func good(k *account.Key, now time.Time) bool {
	return k.Status == account.Active && (k.ExpiresAt == nil || now.Before(*k.ExpiresAt))
}

func (p *pages) keyList(ctx context.Context, v *visit) (*keyList, error) {
	list := &keyList{Now: v.now, Form: p.desk.FormToken(v.who), Policy: v.who.Plan.Policy()}
	keys, more, err := p.Accounts.ListKeys(ctx, v.who.WorkspaceID, mostKeys)
	if err != nil {
		return nil, err
	}
	list.More = more
	if list.Space, err = p.Accounts.WorkspaceByName(ctx, v.who.Workspace); err != nil {
		return nil, err
	}
	list.Scopes = list.Space.SelfServed().Names()
	for i := range keys {
		if good(&keys[i], v.now) {
			list.Active = append(list.Active, keys[i])
		} else {
			list.Ended = append(list.Ended, keys[i])
		}
	}
	k, there, err := p.Accounts.DefaultKey(ctx, v.who.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if there {
		list.Default = &k
	}
	list.Full = !there && len(list.Active) >= list.Policy.MaxActiveKeys
	return list, nil
}

// mostKeys is how many keys are shown: more than any plan allows to be active.
const mostKeys = 500

func (p *pages) keys(ctx context.Context, v *visit) (*sheet, error) {
	return p.keysWith(ctx, v, 0, nil)
}

// keysWith is the page of keys below a notice.
func (p *pages) keysWith(ctx context.Context, v *visit, status int, n *notice) (*sheet, error) {
	list, err := p.keyList(ctx, v)
	if err != nil {
		return nil, err
	}
	return &sheet{title: "API keys", name: "keys.html", data: list, status: status, notice: n}, nil
}

// changeKeys does what a form of the page of keys asks for.
func (p *pages) changeKeys(ctx context.Context, v *visit) (*sheet, error) {
	switch v.asks.Get("action") {
	case "issue":
		return p.issueKey(ctx, v)
	case "revoke":
		k, err := p.Accounts.RevokeOwn(v.by(ctx), v.who.WorkspaceID, v.asks.Get("key"))
		if errors.Is(err, account.ErrKeyNotFound) {
			return p.keysWith(ctx, v, http.StatusNotFound, refused("The workspace has no such key. Nothing was changed."))
		} else if err != nil {
			return nil, err
		}
		return p.keysWith(ctx, v, 0, done("The key %s (%s) is revoked. Every request with it is refused from now on.", k.Label, k.MaskedKey))
	}
	return p.keysWith(ctx, v, http.StatusBadRequest, refused("The form does not say what to do. Nothing was changed."))
}

// issued is a new key, with the only copy of its plain text.
type issued struct {
	Key       account.Key
	Plaintext string
	Old       []account.Key
	Origin    string
	Path      string
	Header    string
	Now       time.Time
}

// issueKey issues the default key, or rotates it. The form says which key it was made
// for: when it is sent again, as a reload does, nothing happens.
func (p *pages) issueKey(ctx context.Context, v *visit) (*sheet, error) {
	made, old, err := p.Accounts.RotateDefaultOf(v.by(ctx), v.who.WorkspaceID, v.asks.Get("current"))
	switch {
	case errors.Is(err, account.ErrKeyChanged):
		return p.keysWith(ctx, v, http.StatusConflict, refused("The default key was changed after this form was shown, perhaps by this very form. Nothing was changed now, and a key is never shown twice: rotate it if you do not have it."))
	case errors.Is(err, account.ErrInternalWorkspace):
		return p.keysWith(ctx, v, http.StatusForbidden, refused("The workspace is the operator's own: its keys are made by the operator alone."))
	case errors.Is(err, account.ErrTooManyKeys):
		return p.keysWith(ctx, v, http.StatusConflict, refused("The workspace has as many active keys as its plan allows. Revoke one first."))
	case err != nil:
		return nil, err
	}
	title := "Your new key"
	return &sheet{title: title, name: "issued.html", data: issued{Key: made.Key, Plaintext: made.Plaintext, Old: old, Now: v.now,
		Origin: p.desk.Origin, Path: "/v1/" + p.Chain + "/status", Header: kernel.HeaderKey}}, nil
}
