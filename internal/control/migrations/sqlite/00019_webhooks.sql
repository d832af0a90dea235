-- Webhooks: who is told of what, how far it was told, and what is under way. What the
-- columns mean, and what each question costs, is in package webhook.

-- +goose Up
CREATE TABLE webhook (
    id              TEXT    NOT NULL PRIMARY KEY,
    workspace_id    TEXT    NOT NULL REFERENCES workspace (id),
    chain           TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    kind            TEXT    NOT NULL,
    filter          TEXT    NOT NULL,
    secret          TEXT    NOT NULL,
    old_secrets     TEXT    NOT NULL DEFAULT '[]',
    state           TEXT    NOT NULL,
    reason          TEXT    NOT NULL DEFAULT '',
    state_at        BIGINT  NOT NULL,
    revision        BIGINT  NOT NULL,
    sequence        BIGINT  NOT NULL DEFAULT 0,
    from_number     BIGINT  NOT NULL,
    from_sequence   BIGINT  NOT NULL DEFAULT 1,
    at_number       BIGINT  NOT NULL,
    at_hash         TEXT    NOT NULL,
    place           TEXT    NOT NULL,
    skip            BIGINT  NOT NULL DEFAULT 0,
    parts           BIGINT  NOT NULL DEFAULT 0,
    first_sequence  BIGINT  NOT NULL DEFAULT 0,
    final_number    BIGINT  NOT NULL DEFAULT -1,
    final_hash      TEXT    NOT NULL DEFAULT '',
    tests           INTEGER NOT NULL DEFAULT 0,
    dead_in_row     INTEGER NOT NULL DEFAULT 0,
    delivered_at    BIGINT,
    idempotency_key TEXT,
    digest          TEXT    NOT NULL,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL
);
CREATE UNIQUE INDEX webhook_key ON webhook (workspace_id, chain, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX webhook_list ON webhook (workspace_id, chain, created_at, id);
CREATE INDEX webhook_active ON webhook (chain, id, revision) WHERE state = 'active';
CREATE INDEX webhook_disabled ON webhook (chain) WHERE state = 'disabled';

CREATE TABLE webhook_outbox (
    webhook_id TEXT    NOT NULL PRIMARY KEY REFERENCES webhook (id) ON DELETE CASCADE,
    sequence   BIGINT  NOT NULL,
    type       TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    answered   INTEGER NOT NULL DEFAULT 0,
    status     INTEGER NOT NULL DEFAULT 0,
    made_at    BIGINT  NOT NULL,
    first_at   BIGINT  NOT NULL DEFAULT 0,
    next_at    BIGINT  NOT NULL
);

CREATE TABLE webhook_sent (
    webhook_id     TEXT   NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    number         BIGINT NOT NULL,
    first_sequence BIGINT NOT NULL,
    last_sequence  BIGINT NOT NULL,
    hash           TEXT   NOT NULL,
    PRIMARY KEY (webhook_id, number, first_sequence)
);

CREATE TABLE webhook_dead (
    webhook_id TEXT    NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    sequence   BIGINT  NOT NULL,
    type       TEXT    NOT NULL,
    body       TEXT    NOT NULL,
    attempts   INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    made_at    BIGINT  NOT NULL,
    died_at    BIGINT  NOT NULL,
    wanted     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (webhook_id, sequence)
);
CREATE INDEX webhook_dead_old ON webhook_dead (died_at);

-- How often somebody changed webhooks of a chain: whoever delivers looks again then.
CREATE TABLE webhook_change (
    chain   TEXT   NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

-- +goose Down
DROP TABLE webhook_change;
DROP TABLE webhook_dead;
DROP TABLE webhook_sent;
DROP TABLE webhook_outbox;
DROP TABLE webhook;
