-- The audit log becomes a chain: every entry holds the hash of the one before
-- it. Entries from before are moved over by the program, which computes the
-- hashes, when it next opens the database; audit_before is gone then.

-- +goose Up
DROP INDEX audit_at;
ALTER TABLE audit RENAME TO audit_before;

CREATE TABLE audit (
    seq       INTEGER NOT NULL PRIMARY KEY,
    at        BIGINT  NOT NULL,
    actor     TEXT    NOT NULL,
    action    TEXT    NOT NULL,
    subject   TEXT    NOT NULL,
    detail    TEXT    NOT NULL,
    prev_hash TEXT    NOT NULL,
    hash      TEXT    NOT NULL
);

-- The newest entry, so that a tail that was cut off is missed.
CREATE TABLE audit_head (
    one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  BIGINT  NOT NULL,
    hash TEXT    NOT NULL
);
INSERT INTO audit_head VALUES (1, 0, '');

-- +goose StatementBegin
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_head_grows BEFORE UPDATE ON audit_head WHEN NEW.seq <> OLD.seq + 1
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE audit_head;
DROP TABLE audit;
ALTER TABLE audit_before RENAME TO audit;
CREATE INDEX audit_at ON audit (at);
