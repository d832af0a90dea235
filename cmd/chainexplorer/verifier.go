package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"chainexplorer/internal/control"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/index"
	"chainexplorer/internal/job"
	sandboxed "chainexplorer/internal/verification/build"
	"chainexplorer/internal/verification/controller"
	verification "chainexplorer/internal/verification/job"
	"chainexplorer/internal/verification/receipt"
	"chainexplorer/internal/verification/translog"
)

// verifyWith makes the composition verify sources, by the jobs in a control database.
// Without a toolchain or a signer the job says so, and deletes sources in time all the same.
func (p *composition) verifyWith(db *control.DB, f verifierFlags, s signerFlags) error {
	c := controller.Job{Jobs: verification.New(db, verification.Options{}), Depth: p.Depth, Worker: owner(), Builds: f.VerificationBuilds, Join: inLog}
	settings, err := json.Marshal(f.view())
	if err != nil {
		return fmt.Errorf("verification: %w", err)
	}
	c.Settings = string(settings)
	if f.VerificationToolchains != "" {
		b, err := sandboxed.New(f.options())
		if err != nil {
			return err
		}
		p.onClose(func() { b.Close() }) //nolint:errcheck // the process ends
		p.builder, c.Builder = b, b
	}
	client, err := s.client()
	if err != nil {
		return err
	}
	if client != nil {
		c.Signer = client
	}
	p.verify = func(chain *chainParts, reg prometheus.Registerer) job.Job {
		own := c
		own.Store, own.Logger, own.Metrics = chain.engine, chain.log, controller.NewMetrics(own.Jobs, reg)
		if nodes := chain.pool; nodes != nil {
			own.Class = func(ctx context.Context, number uint64, hash felt.Felt) ([]byte, error) {
				text, _, err := (&index.Nodes{Pool: nodes}).Class(ctx, number, hash)
				return text, err
			}
		}
		return &own
	}
	return nil
}

// inLog adds a receipt to the transparency log in the transaction that admits it.
func inLog(ctx context.Context, tx *sql.Tx, signed *receipt.Receipt) error {
	text, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	_, err = translog.Append(ctx, tx, text)
	return err
}
