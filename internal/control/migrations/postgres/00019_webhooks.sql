-- Webhooks: who is told of what, how far it was told, and what is under way. What the
-- columns mean, and what each question costs, is in package webhook.

-- +goose Up
CREATE TABLE webhook (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id    TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    chain           TEXT COLLATE "C" NOT NULL,
    url             TEXT COLLATE "C" NOT NULL,
    description     TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    filter          TEXT COLLATE "C" NOT NULL,
    secret          TEXT COLLATE "C" NOT NULL,
    old_secrets     TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    state           TEXT COLLATE "C" NOT NULL,
    reason          TEXT COLLATE "C" NOT NULL DEFAULT '',
    state_at        BIGINT  NOT NULL,
    revision        BIGINT  NOT NULL,
    sequence        BIGINT  NOT NULL DEFAULT 0,
    from_number     BIGINT  NOT NULL,
    from_sequence   BIGINT  NOT NULL DEFAULT 1,
    at_number       BIGINT  NOT NULL,
    at_hash         TEXT COLLATE "C" NOT NULL,
    place           TEXT COLLATE "C" NOT NULL,
    skip            BIGINT  NOT NULL DEFAULT 0,
    parts           BIGINT  NOT NULL DEFAULT 0,
    first_sequence  BIGINT  NOT NULL DEFAULT 0,
    final_number    BIGINT  NOT NULL DEFAULT -1,
    final_hash      TEXT COLLATE "C" NOT NULL DEFAULT '',
    tests           INTEGER NOT NULL DEFAULT 0,
    dead_in_row     INTEGER NOT NULL DEFAULT 0,
    delivered_at    BIGINT,
    idempotency_key TEXT COLLATE "C",
    digest          TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT  NOT NULL,
    updated_at      BIGINT  NOT NULL
);
CREATE UNIQUE INDEX webhook_key ON webhook (workspace_id, chain, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX webhook_list ON webhook (workspace_id, chain, created_at, id);
CREATE INDEX webhook_active ON webhook (chain, id, revision) WHERE state = 'active';
CREATE INDEX webhook_disabled ON webhook (chain) WHERE state = 'disabled';

CREATE TABLE webhook_outbox (
    webhook_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES webhook (id) ON DELETE CASCADE,
    sequence   BIGINT  NOT NULL,
    type       TEXT COLLATE "C" NOT NULL,
    body       TEXT COLLATE "C" NOT NULL,
    attempts   INTEGER NOT NULL DEFAULT 0,
    answered   INTEGER NOT NULL DEFAULT 0,
    status     INTEGER NOT NULL DEFAULT 0,
    made_at    BIGINT  NOT NULL,
    first_at   BIGINT  NOT NULL DEFAULT 0,
    next_at    BIGINT  NOT NULL
);

CREATE TABLE webhook_sent (
    webhook_id     TEXT COLLATE "C" NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    number         BIGINT NOT NULL,
    first_sequence BIGINT NOT NULL,
    last_sequence  BIGINT NOT NULL,
    hash           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (webhook_id, number, first_sequence)
);

CREATE TABLE webhook_dead (
    webhook_id TEXT COLLATE "C" NOT NULL REFERENCES webhook (id) ON DELETE CASCADE,
    sequence   BIGINT  NOT NULL,
    type       TEXT COLLATE "C" NOT NULL,
    body       TEXT COLLATE "C" NOT NULL,
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
    chain   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL
);

-- +goose Down
DROP TABLE webhook_change;
DROP TABLE webhook_dead;
DROP TABLE webhook_sent;
DROP TABLE webhook_outbox;
DROP TABLE webhook;
