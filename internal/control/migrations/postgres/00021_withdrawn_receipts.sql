-- Receipts that the operator took back, each with a leaf of the transparency log, and what
-- built a receipt's class: '' of those from before. Nothing of it is ever changed.

-- +goose Up
ALTER TABLE verification_receipt ADD COLUMN toolchain TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX verification_receipt_toolchain ON verification_receipt (toolchain, receipt_id);
CREATE TABLE receipt_withdrawal (
    place        BIGINT NOT NULL PRIMARY KEY,
    receipt_id   BIGINT NOT NULL REFERENCES verification_receipt (receipt_id),
    reason       TEXT COLLATE "C" NOT NULL,
    withdrawn_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX receipt_withdrawal_receipt ON receipt_withdrawal (receipt_id);
-- +goose StatementBegin
CREATE FUNCTION receipt_withdrawal_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'withdrawals are append-only';
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER receipt_withdrawal_no_change BEFORE UPDATE OR DELETE ON receipt_withdrawal
    FOR EACH ROW EXECUTE FUNCTION receipt_withdrawal_is_append_only();
CREATE TRIGGER receipt_withdrawal_no_truncate BEFORE TRUNCATE ON receipt_withdrawal
    FOR EACH STATEMENT EXECUTE FUNCTION receipt_withdrawal_is_append_only();

-- +goose Down
DROP TABLE receipt_withdrawal;
DROP FUNCTION receipt_withdrawal_is_append_only();
DROP INDEX verification_receipt_toolchain;
ALTER TABLE verification_receipt DROP COLUMN toolchain;
