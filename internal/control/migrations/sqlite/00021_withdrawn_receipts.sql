-- Receipts that the operator took back, each with a leaf of the transparency log, and what
-- built a receipt's class: '' of those from before. Nothing of it is ever changed.

-- +goose Up
ALTER TABLE verification_receipt ADD COLUMN toolchain TEXT NOT NULL DEFAULT '';
CREATE INDEX verification_receipt_toolchain ON verification_receipt (toolchain, receipt_id);
CREATE TABLE receipt_withdrawal (
    place        BIGINT NOT NULL PRIMARY KEY,
    receipt_id   BIGINT NOT NULL REFERENCES verification_receipt (receipt_id),
    reason       TEXT   NOT NULL,
    withdrawn_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX receipt_withdrawal_receipt ON receipt_withdrawal (receipt_id);
-- +goose StatementBegin
CREATE TRIGGER receipt_withdrawal_no_update BEFORE UPDATE ON receipt_withdrawal
BEGIN
    SELECT RAISE(ABORT, 'withdrawals are append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER receipt_withdrawal_no_delete BEFORE DELETE ON receipt_withdrawal
BEGIN
    SELECT RAISE(ABORT, 'withdrawals are append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE receipt_withdrawal;
DROP INDEX verification_receipt_toolchain;
ALTER TABLE verification_receipt DROP COLUMN toolchain;
