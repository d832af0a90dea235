package routes

import (
	"context"
	"errors"

	"chainexplorer/internal/api"
	"chainexplorer/internal/felt"
	"chainexplorer/internal/verification/job"
)

// Attempts tell what a workspace tried lately to verify a class, for the older view of a
// contract's verification. A job that succeeded is none: the class itself tells of it.
func Attempts(jobs *job.Repo) func(ctx context.Context, workspace, chain string, class felt.Felt) (*api.Attempt, error) {
	return func(ctx context.Context, workspace, chain string, class felt.Felt) (*api.Attempt, error) {
		j, err := jobs.Newest(ctx, workspace, chain, class.String())
		if errors.Is(err, job.ErrNotFound) || err == nil && j.State == job.Succeeded {
			return nil, nil //nolint:nilnil // there is none
		} else if err != nil {
			return nil, err
		}
		a := &api.Attempt{JobID: j.ID, State: string(j.State), Ended: j.State.Terminal(), Requested: j.CreatedAt, Updated: j.UpdatedAt}
		switch {
		case j.Failure != nil:
			a.Error = string(j.Failure.Code)
		case a.Ended:
			a.Error = string(j.State) // cancelled, expired
		}
		return a, nil
	}
}
