-- What the worker of verification is set up by, for operators to see.

-- +goose Up
ALTER TABLE verification_worker ADD COLUMN settings TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE verification_worker DROP COLUMN settings;
