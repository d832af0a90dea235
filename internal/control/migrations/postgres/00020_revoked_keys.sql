-- Keys of receipts that a trust document called revoked. An older document does not take
-- that back, so that nothing of it is ever changed.

-- +goose Up
CREATE TABLE receipt_key_revocation (
    public_key BYTEA  NOT NULL PRIMARY KEY,
    key_id     TEXT COLLATE "C" NOT NULL,
    revoked_at BIGINT NOT NULL,
    noticed_at BIGINT NOT NULL
);
-- +goose StatementBegin
CREATE FUNCTION receipt_key_revocation_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'revocations are append-only';
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER receipt_key_revocation_no_change BEFORE UPDATE OR DELETE ON receipt_key_revocation
    FOR EACH ROW EXECUTE FUNCTION receipt_key_revocation_is_append_only();
CREATE TRIGGER receipt_key_revocation_no_truncate BEFORE TRUNCATE ON receipt_key_revocation
    FOR EACH STATEMENT EXECUTE FUNCTION receipt_key_revocation_is_append_only();

-- +goose Down
DROP TABLE receipt_key_revocation;
DROP FUNCTION receipt_key_revocation_is_append_only();
