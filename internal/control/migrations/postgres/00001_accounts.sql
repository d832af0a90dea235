-- Workspaces, their API keys, the server's own secrets, and who changed what.
-- Times are microseconds since 1970 in UTC, ids are text, digests are
-- lower-case hex: the same statements run on SQLite and on PostgreSQL. Texts
-- compare as bytes, as they do in SQLite, whatever the database's language is.

-- +goose Up
CREATE TABLE secret (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value      TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE audit (
    id      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT COLLATE "C" NOT NULL,
    action  TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail  TEXT COLLATE "C" NOT NULL
);
CREATE INDEX audit_at ON audit (at);

CREATE TABLE workspace (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    plan       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX workspace_name ON workspace (name);

-- A key without revoked_at is active. The limits are null where the plan's hold.
CREATE TABLE api_key (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    public_id        TEXT COLLATE "C" NOT NULL,
    workspace_id     TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    digest           TEXT COLLATE "C" NOT NULL,
    label            TEXT COLLATE "C" NOT NULL,
    environment      TEXT COLLATE "C" NOT NULL,
    scopes           TEXT COLLATE "C" NOT NULL,
    secret_hint      TEXT COLLATE "C" NOT NULL,
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
