package main

import (
	"context"

	"chainexplorer/internal/verification/signer"
)

type signerCommand struct {
	SigningKey []string `required:"" sep:"none" type:"existingfile" placeholder:"FILE" help:"Private key of 'admin signing-key create', which others must not be able to read; repeat it around a rotation: the one that became valid last signs."`
	Listen     string   `required:"" placeholder:"unix:PATH" help:"Unix socket to make, such as unix:/run/chainexplorer/signer.sock."`
	Trust      string   `placeholder:"FILE" help:"Trust document that names the keys. Default: trust.json beside the key."`
	LogKey     string   `placeholder:"FILE" help:"Private key of the transparency log. Default: log.key beside the key, if it is there."`
	Journal    string   `placeholder:"FILE" help:"What was signed; it is made when missing, and must never be lost. Default: signer.journal beside the key."`
	PeerUID    []int    `name:"peer-uid" placeholder:"UID" help:"User who may call, by number; repeatable. Default: the signer's own, and no other can open the socket."`
}

// Help is shown by signer --help.
func (signerCommand) Help() string {
	return "Holds the keys of verification receipts apart from the service. It answers three calls on a Unix socket: sign the evidence of an exact verification, sign the head of the transparency log, and say whether it could sign. " +
		"It refuses what is not well formed, a receipt's number with other evidence, and a log that lost or changed a leaf."
}

// Run signs until it is stopped.
func (c *signerCommand) Run(ctx context.Context, con *console) error {
	path, err := signer.SocketPath(c.Listen)
	if err != nil {
		return &usageError{"--listen " + err.Error()}
	}
	for _, uid := range c.PeerUID {
		if uid < 0 {
			return &usageError{"--peer-uid is a number from 0"}
		}
	}
	s, err := signer.Open(signer.Options{Keys: c.SigningKey, Trust: c.Trust, LogKey: c.LogKey, Journal: c.Journal, Logger: con.log})
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // all that it handed out is on disk
	server, err := signer.Listen(s, signer.ServerOptions{Path: path, PeerUIDs: c.PeerUID, Logger: con.log})
	if err != nil {
		return err
	}
	con.log.Info("signing", "address", c.Listen)
	if err := server.Serve(ctx); err != nil {
		return err
	}
	con.log.Info("stopped")
	return nil
}
