-- Kinds of workspaces, the origins that a key may be used from, and codes that give a
-- workspace a plan. A code is kept as a keyed digest alone, in lower-case hex.

-- +goose Up
ALTER TABLE workspace ADD COLUMN kind TEXT COLLATE "C" NOT NULL DEFAULT 'ordinary';

-- Origins are separated by spaces. A key without any may be used from everywhere.
ALTER TABLE api_key ADD COLUMN origins TEXT COLLATE "C" NOT NULL DEFAULT '';

-- A code without a kind leaves that of the workspace as it is.
CREATE TABLE code (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest     TEXT COLLATE "C" NOT NULL,
    hint       TEXT COLLATE "C" NOT NULL,
    plan       TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    note       TEXT COLLATE "C" NOT NULL,
    uses       BIGINT NOT NULL,
    used       BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);
CREATE UNIQUE INDEX code_digest ON code (digest);
CREATE INDEX code_created ON code (created_at);

-- No workspace uses a code twice.
CREATE TABLE code_use (
    code_id      TEXT COLLATE "C" NOT NULL REFERENCES code (id),
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    actor        TEXT COLLATE "C" NOT NULL,
    at           BIGINT NOT NULL,
    PRIMARY KEY (code_id, workspace_id)
);

-- Who tried codes that are no good, in the last hour.
CREATE TABLE code_failure (
    actor TEXT COLLATE "C" NOT NULL,
    at    BIGINT NOT NULL
);
CREATE INDEX code_failure_actor ON code_failure (actor, at);
CREATE INDEX code_failure_at ON code_failure (at);

-- +goose Down
DROP TABLE code_failure;
DROP TABLE code_use;
DROP TABLE code;
ALTER TABLE api_key DROP COLUMN origins;
ALTER TABLE workspace DROP COLUMN kind;
