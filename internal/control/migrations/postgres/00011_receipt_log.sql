-- The transparency log of receipts: a leaf for each, in the order in which they were
-- admitted, and the hashes of the tree over them. Nothing of it is ever changed.

-- +goose Up
CREATE TABLE receipt_log_leaf (
    place BIGINT NOT NULL PRIMARY KEY,
    entry BYTEA  NOT NULL
);
CREATE UNIQUE INDEX receipt_log_leaf_entry ON receipt_log_leaf (entry);
CREATE TABLE receipt_log_hash (
    level INTEGER NOT NULL,
    n     BIGINT  NOT NULL,
    hash  BYTEA   NOT NULL,
    PRIMARY KEY (level, n)
);
-- +goose StatementBegin
CREATE FUNCTION receipt_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the log of receipts is append-only';
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER receipt_log_leaf_no_change BEFORE UPDATE OR DELETE ON receipt_log_leaf
    FOR EACH ROW EXECUTE FUNCTION receipt_log_is_append_only();
CREATE TRIGGER receipt_log_leaf_no_truncate BEFORE TRUNCATE ON receipt_log_leaf
    FOR EACH STATEMENT EXECUTE FUNCTION receipt_log_is_append_only();
CREATE TRIGGER receipt_log_hash_no_change BEFORE UPDATE OR DELETE ON receipt_log_hash
    FOR EACH ROW EXECUTE FUNCTION receipt_log_is_append_only();
CREATE TRIGGER receipt_log_hash_no_truncate BEFORE TRUNCATE ON receipt_log_hash
    FOR EACH STATEMENT EXECUTE FUNCTION receipt_log_is_append_only();

-- How many leaves there are, and the last head that was signed.
CREATE TABLE receipt_log_head (
    one         INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    size        BIGINT  NOT NULL,
    signed_size BIGINT  NOT NULL,
    checkpoint  TEXT COLLATE "C" NOT NULL
);
INSERT INTO receipt_log_head VALUES (1, 0, 0, '');

-- +goose Down
DROP TABLE receipt_log_head;
DROP TABLE receipt_log_hash;
DROP TABLE receipt_log_leaf;
DROP FUNCTION receipt_log_is_append_only();
