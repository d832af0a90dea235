-- Jobs of the prover relay. Of a request there are two digests and nothing else: bodies
-- and results are in the memory of the process that owns the job. key_id is the key that
-- created it, and whose day it is debited to; runner_id the one that had it queued last.

-- +goose Up
CREATE TABLE prover_job (
    id            TEXT NOT NULL PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspace (id),
    key_id        TEXT NOT NULL,
    runner_id     TEXT NOT NULL,
    key_digest    TEXT NOT NULL,
    body_digest   TEXT NOT NULL,
    state         TEXT NOT NULL,
    active        INTEGER NOT NULL,
    attempts      INTEGER NOT NULL DEFAULT 0,
    code          BIGINT,
    owner         TEXT NOT NULL,
    held          INTEGER NOT NULL DEFAULT 0,
    created_at    BIGINT  NOT NULL,
    queued_at     BIGINT  NOT NULL,
    completed_at  BIGINT
);
CREATE UNIQUE INDEX prover_job_key ON prover_job (workspace_id, key_digest);
CREATE INDEX prover_job_day ON prover_job (key_id, created_at);
CREATE INDEX prover_job_active ON prover_job (owner, state, queued_at, id) WHERE active = 1;
CREATE INDEX prover_job_runner ON prover_job (runner_id) WHERE active = 1;
CREATE INDEX prover_job_held ON prover_job (owner) WHERE held = 1;
CREATE INDEX prover_job_ended ON prover_job (completed_at) WHERE active = 0;

-- The processes that relay, where several share the database, and until when they count
-- as alive.
CREATE TABLE prover_process (
    id      TEXT NOT NULL PRIMARY KEY,
    address TEXT NOT NULL,
    until   BIGINT NOT NULL
);

-- What the operator gave a key, or each key of a workspace, other than the usual.
CREATE TABLE prover_budget (
    owner       TEXT NOT NULL PRIMARY KEY,
    concurrency INTEGER NOT NULL,
    per_day     INTEGER NOT NULL
);

-- +goose Down
DROP TABLE prover_budget;
DROP TABLE prover_process;
DROP TABLE prover_job;
