-- The transparency log of receipts: a leaf for each, in the order in which they were
-- admitted, and the hashes of the tree over them. Nothing of it is ever changed.

-- +goose Up
CREATE TABLE receipt_log_leaf (
    place BIGINT NOT NULL PRIMARY KEY,
    entry BLOB   NOT NULL
);
CREATE UNIQUE INDEX receipt_log_leaf_entry ON receipt_log_leaf (entry);
CREATE TABLE receipt_log_hash (
    level INTEGER NOT NULL,
    n     BIGINT  NOT NULL,
    hash  BLOB    NOT NULL,
    PRIMARY KEY (level, n)
);
-- +goose StatementBegin
CREATE TRIGGER receipt_log_leaf_no_update BEFORE UPDATE ON receipt_log_leaf
BEGIN
    SELECT RAISE(ABORT, 'the log of receipts is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER receipt_log_leaf_no_delete BEFORE DELETE ON receipt_log_leaf
BEGIN
    SELECT RAISE(ABORT, 'the log of receipts is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER receipt_log_hash_no_update BEFORE UPDATE ON receipt_log_hash
BEGIN
    SELECT RAISE(ABORT, 'the log of receipts is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER receipt_log_hash_no_delete BEFORE DELETE ON receipt_log_hash
BEGIN
    SELECT RAISE(ABORT, 'the log of receipts is append-only');
END;
-- +goose StatementEnd

-- How many leaves there are, and the last head that was signed.
CREATE TABLE receipt_log_head (
    one         INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    size        BIGINT  NOT NULL,
    signed_size BIGINT  NOT NULL,
    checkpoint  TEXT    NOT NULL
);
INSERT INTO receipt_log_head VALUES (1, 0, 0, '');

-- +goose Down
DROP TABLE receipt_log_head;
DROP TABLE receipt_log_hash;
DROP TABLE receipt_log_leaf;
