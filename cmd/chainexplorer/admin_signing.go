package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"chainexplorer/internal/verification/keyring"
	"chainexplorer/internal/verification/receipt"
)

type signingKeyCommands struct {
	Create signingCreateCommand `cmd:"" help:"Make the first key that signs receipts, the trust document that names it, and the key of the transparency log."`
	List   signingListCommand   `cmd:"" help:"List the keys of the trust document, and what they are good for now."`
	Rotate signingRotateCommand `cmd:"" help:"Make the next key, and end the one before when the next has been valid for a while."`
	Revoke signingRevokeCommand `cmd:"" help:"End a key for good. None of its receipts counts any more, whatever their date."`
}

// keyDirFlags name the folder of keys.
type keyDirFlags struct {
	Dir  string `required:"" placeholder:"DIR" help:"Folder of the signing keys and the trust document; on the signer's machine."`
	JSON bool   `name:"json" help:"Print JSON."`
}

func (f *keyDirFlags) ring(con *console) *keyring.Ring {
	return &keyring.Ring{Dir: f.Dir, Now: con.now}
}

// newKeyFlags say what a new key is.
type newKeyFlags struct {
	KeyID    string        `name:"key-id" placeholder:"ID" help:"Id of the key in receipts. Default: one with the date."`
	StartsIn time.Duration `placeholder:"TIME" help:"When the key becomes valid, from now on, such as 168h: so that those who pin the trust document can renew it before. Default: at once."`
	ValidFor time.Duration `placeholder:"TIME" help:"How long the key is valid, such as 8760h. Default: until it is rotated."`
}

func (f *newKeyFlags) key() keyring.New {
	return keyring.New{ID: f.KeyID, StartsIn: f.StartsIn, Lifetime: f.ValidFor}
}

// signingKeyView is a key as --json prints it. It has nothing of the private one.
type signingKeyView struct {
	KeyID     string     `json:"keyId"`
	PublicKey string     `json:"publicKey"`
	State     string     `json:"state"`
	NotBefore time.Time  `json:"notBefore"`
	NotAfter  *time.Time `json:"notAfter"`
	RevokedAt *time.Time `json:"revokedAt"`
	Held      *bool      `json:"held,omitempty"`
	Path      string     `json:"path,omitempty"`
	Trust     string     `json:"trust,omitempty"`
	LogKey    string     `json:"logPublicKey,omitempty"`
}

func viewSigningKey(con *console, k receipt.Key) signingKeyView {
	now := time.Now
	if con.now != nil {
		now = con.now
	}
	return signingKeyView{KeyID: k.ID, PublicKey: base64.RawURLEncoding.EncodeToString(k.PublicKey), State: string(keyring.StateOf(&k, now())),
		NotBefore: k.NotBefore, NotAfter: k.NotAfter, RevokedAt: k.RevokedAt}
}

// explainKeys tells mistakes in the command line from trouble.
func explainKeys(err error) error {
	for _, mistake := range []error{keyring.ErrBadID, keyring.ErrBadTimes, keyring.ErrBadLog, keyring.ErrOtherLog} {
		if errors.Is(err, mistake) {
			return &usageError{err.Error()}
		}
	}
	return err
}

// made prints a new key.
func (f *keyDirFlags) made(con *console, m keyring.Made) error {
	view := viewSigningKey(con, m.Key)
	view.Path, view.Trust, view.LogKey = m.Path, m.Trust, m.LogPath
	if f.JSON {
		return printJSON(con.out, view)
	}
	_, err := fmt.Fprintf(con.out, "key id       %s\nprivate key  %s (for the signer alone)\ntrust        %s (publish it: receipts are believed by it)\nvalid from   %s until %s\n",
		view.KeyID, view.Path, view.Trust, when(&m.Key.NotBefore, ""), when(m.Key.NotAfter, "it is rotated"))
	if err == nil && m.LogPath != "" {
		_, err = fmt.Fprintf(con.out, "log key      %s (publish it: the transparency log is believed by it)\n", m.LogPath)
	}
	return err
}

type signingCreateCommand struct {
	keyDirFlags
	newKeyFlags
	LogOrigin string `placeholder:"NAME" help:"Name of the transparency log, which should be a host of yours and a path, such as explorer.example/receipt-log. Default: chainexplorer/receipt-log."`
}

// Run makes the first key.
func (c *signingCreateCommand) Run(con *console) error {
	m, err := c.ring(con).Create(c.key(), c.LogOrigin)
	if err != nil {
		return explainKeys(err)
	}
	return c.made(con, m)
}

type signingRotateCommand struct {
	keyDirFlags
	newKeyFlags
	Overlap time.Duration `default:"24h" placeholder:"TIME" help:"How long the key before stays valid after the new one began."`
}

// Run makes the next key.
func (c *signingRotateCommand) Run(con *console) error {
	m, err := c.ring(con).Rotate(c.key(), c.Overlap)
	if err != nil {
		return explainKeys(err)
	}
	return c.made(con, m)
}

type signingRevokeCommand struct {
	keyDirFlags
	KeyID string `required:"" name:"key-id" placeholder:"ID" help:"Which key."`
}

// Run revokes a key. A signer that runs signs nothing more with it.
func (c *signingRevokeCommand) Run(con *console) error {
	k, err := c.ring(con).Revoke(c.KeyID)
	if err != nil {
		return err
	}
	if c.JSON {
		return printJSON(con.out, viewSigningKey(con, k))
	}
	_, err = fmt.Fprintf(con.out, "%s is revoked since %s. Publish the trust document: whoever has the old one still believes its receipts.\n", k.ID, when(k.RevokedAt, ""))
	return err
}

type signingListCommand struct{ keyDirFlags }

// Run lists keys.
func (c *signingListCommand) Run(con *console) error {
	list, err := c.ring(con).List()
	if err != nil {
		return err
	}
	views := []signingKeyView{}
	rows := [][]string{{"KEY", "STATE", "FROM", "UNTIL", "PRIVATE KEY"}}
	for _, e := range list {
		v := viewSigningKey(con, e.Key)
		v.Held = &e.Held
		views = append(views, v)
		held := "is not here"
		if e.Held {
			held = "is here"
		}
		rows = append(rows, []string{e.ID, string(e.State), when(&e.NotBefore, ""), when(e.NotAfter, "open"), held})
	}
	if c.JSON {
		return printJSON(con.out, views)
	}
	return table(con.out, rows)
}
