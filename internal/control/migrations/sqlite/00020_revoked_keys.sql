-- Keys of receipts that a trust document called revoked. An older document does not take
-- that back, so that nothing of it is ever changed.

-- +goose Up
CREATE TABLE receipt_key_revocation (
    public_key BLOB   NOT NULL PRIMARY KEY,
    key_id     TEXT   NOT NULL,
    revoked_at BIGINT NOT NULL,
    noticed_at BIGINT NOT NULL
);
-- +goose StatementBegin
CREATE TRIGGER receipt_key_revocation_no_update BEFORE UPDATE ON receipt_key_revocation
BEGIN
    SELECT RAISE(ABORT, 'revocations are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER receipt_key_revocation_no_delete BEFORE DELETE ON receipt_key_revocation
BEGIN
    SELECT RAISE(ABORT, 'revocations are append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE receipt_key_revocation;
