-- Jobs of exact verification, their sources in chunks, and the receipts that came of
-- them. A source is deleted by its policy; jobs and receipts stay.

-- +goose Up
CREATE TABLE verification_job (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id      TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    chain_id          TEXT COLLATE "C" NOT NULL,
    idempotency_key   TEXT COLLATE "C" NOT NULL,
    package           TEXT COLLATE "C" NOT NULL,
    package_digest    TEXT COLLATE "C" NOT NULL,
    state             TEXT COLLATE "C" NOT NULL,
    active            INTEGER NOT NULL,
    code              TEXT COLLATE "C" NOT NULL DEFAULT '',
    reason            TEXT COLLATE "C" NOT NULL DEFAULT '',
    retryable         INTEGER NOT NULL DEFAULT 0,
    parts             TEXT COLLATE "C" NOT NULL DEFAULT '',
    claim             TEXT COLLATE "C" NOT NULL DEFAULT '',
    worker            TEXT COLLATE "C" NOT NULL DEFAULT '',
    attempts          INTEGER NOT NULL DEFAULT 0,
    lease_until       BIGINT,
    upload_bytes      BIGINT  NOT NULL,
    upload_id         TEXT COLLATE "C",
    upload_expires_at BIGINT  NOT NULL,
    committed_at      BIGINT,
    deletes_at        BIGINT,
    deleted_at        BIGINT,
    created_at        BIGINT  NOT NULL,
    updated_at        BIGINT  NOT NULL
);
CREATE UNIQUE INDEX verification_job_owner ON verification_job (workspace_id, id);
CREATE UNIQUE INDEX verification_job_key ON verification_job (workspace_id, idempotency_key);
CREATE UNIQUE INDEX verification_job_one ON verification_job (workspace_id) WHERE active = 1;
CREATE INDEX verification_job_active ON verification_job (chain_id, state, committed_at, id) WHERE active = 1;
CREATE INDEX verification_job_created ON verification_job (workspace_id, created_at);
CREATE INDEX verification_job_newest ON verification_job (created_at, id);
CREATE INDEX verification_job_source ON verification_job (deletes_at, upload_bytes) WHERE committed_at IS NOT NULL AND deleted_at IS NULL;

-- One try to hand a source over. It counts once a job names it.
CREATE TABLE verification_upload (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    job_id     TEXT COLLATE "C" NOT NULL REFERENCES verification_job (id),
    started_at BIGINT NOT NULL
);
CREATE INDEX verification_upload_started ON verification_upload (started_at);
CREATE TABLE verification_chunk (
    upload_id TEXT COLLATE "C" NOT NULL REFERENCES verification_upload (id) ON DELETE CASCADE,
    seq       INTEGER NOT NULL,
    data      BYTEA    NOT NULL,
    PRIMARY KEY (upload_id, seq)
);

CREATE TABLE verification_receipt (
    receipt_id BIGINT NOT NULL PRIMARY KEY,
    job_id     TEXT COLLATE "C" NOT NULL REFERENCES verification_job (id),
    chain_id   TEXT COLLATE "C" NOT NULL,
    class_hash TEXT COLLATE "C" NOT NULL,
    document   TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX verification_receipt_job ON verification_receipt (job_id);
CREATE INDEX verification_receipt_class ON verification_receipt (chain_id, class_hash, receipt_id);
-- +goose StatementBegin
CREATE FUNCTION verification_receipt_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'receipts are append-only';
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER verification_receipt_no_change BEFORE UPDATE OR DELETE ON verification_receipt
    FOR EACH ROW EXECUTE FUNCTION verification_receipt_is_append_only();
CREATE TRIGGER verification_receipt_no_truncate BEFORE TRUNCATE ON verification_receipt
    FOR EACH STATEMENT EXECUTE FUNCTION verification_receipt_is_append_only();

-- What all processes have to know: the number of the last receipt, and whether new
-- jobs are taken.
CREATE TABLE verification_intake (
    one          INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    last_receipt BIGINT  NOT NULL,
    paused       TEXT COLLATE "C" NOT NULL
);
INSERT INTO verification_intake VALUES (1, 0, '');

-- What the worker of a chain last said of itself.
CREATE TABLE verification_worker (
    chain_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    worker   TEXT COLLATE "C" NOT NULL,
    trouble  TEXT COLLATE "C" NOT NULL,
    seen_at  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE verification_worker;
DROP TABLE verification_intake;
DROP TABLE verification_receipt;
DROP FUNCTION verification_receipt_is_append_only();
DROP TABLE verification_chunk;
DROP TABLE verification_upload;
DROP TABLE verification_job;
