-- Workspaces, their API keys, the server's own secrets, and who changed what.
-- Times are microseconds since 1970 in UTC, ids are text, digests are
-- lower-case hex: the same statements run on SQLite and on PostgreSQL. The
-- folder postgres has the same tables under the same version.

-- +goose Up
CREATE TABLE secret (
    name       TEXT   NOT NULL PRIMARY KEY,
    value      TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE audit (
    id      TEXT   NOT NULL PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT   NOT NULL,
    action  TEXT   NOT NULL,
    subject TEXT   NOT NULL,
    detail  TEXT   NOT NULL
);
CREATE INDEX audit_at ON audit (at);

CREATE TABLE workspace (
    id         TEXT   NOT NULL PRIMARY KEY,
    name       TEXT   NOT NULL,
    plan       TEXT   NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX workspace_name ON workspace (name);

-- A key without revoked_at is active. The limits are null where the plan's hold.
CREATE TABLE api_key (
    id               TEXT   NOT NULL PRIMARY KEY,
    public_id        TEXT   NOT NULL,
    workspace_id     TEXT   NOT NULL REFERENCES workspace (id),
    digest           TEXT   NOT NULL,
    label            TEXT   NOT NULL,
    environment      TEXT   NOT NULL,
    scopes           TEXT   NOT NULL,
    secret_hint      TEXT   NOT NULL,
    light_per_minute BIGINT,
    heavy_per_minute BIGINT,
    batch_per_minute BIGINT,
    burst            BIGINT,
    created_at       BIGINT NOT NULL,
    last_used_at     BIGINT,
    expires_at       BIGINT,
    revoked_at       BIGINT
);
CREATE UNIQUE INDEX api_key_public_id ON api_key (public_id);
CREATE UNIQUE INDEX api_key_digest ON api_key (digest);
CREATE INDEX api_key_workspace ON api_key (workspace_id, created_at);

-- +goose Down
DROP TABLE api_key;
DROP TABLE workspace;
DROP TABLE audit;
DROP TABLE secret;
