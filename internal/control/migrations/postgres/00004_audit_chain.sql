-- The audit log becomes a chain: every entry holds the hash of the one before
-- it. Entries from before are moved over by the program, which computes the
-- hashes, when it next opens the database; audit_before is gone then.

-- +goose Up
DROP INDEX audit_at;
ALTER TABLE audit RENAME TO audit_before;

CREATE TABLE audit (
    seq       BIGINT NOT NULL CONSTRAINT audit_seq PRIMARY KEY,
    at        BIGINT NOT NULL,
    actor     TEXT COLLATE "C" NOT NULL,
    action    TEXT COLLATE "C" NOT NULL,
    subject   TEXT COLLATE "C" NOT NULL,
    detail    TEXT COLLATE "C" NOT NULL,
    prev_hash TEXT COLLATE "C" NOT NULL,
    hash      TEXT COLLATE "C" NOT NULL
);

-- The newest entry, so that a tail that was cut off is missed.
CREATE TABLE audit_head (
    one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  BIGINT  NOT NULL,
    hash TEXT COLLATE "C" NOT NULL
);
INSERT INTO audit_head VALUES (1, 0, '');

-- +goose StatementBegin
CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only';
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_head_no_truncate BEFORE TRUNCATE ON audit_head
    FOR EACH STATEMENT EXECUTE FUNCTION audit_is_append_only();
CREATE TRIGGER audit_head_grows BEFORE UPDATE ON audit_head
    FOR EACH ROW WHEN (NEW.seq <> OLD.seq + 1) EXECUTE FUNCTION audit_is_append_only();

-- +goose Down
DROP TABLE audit_head;
DROP TABLE audit;
DROP FUNCTION audit_is_append_only();
ALTER TABLE audit_before RENAME TO audit;
CREATE INDEX audit_at ON audit (at);
