-- Names that an operator gave to addresses, with who says so and how sure it is.

-- +goose Up
CREATE TABLE address_label (
    chain      TEXT   NOT NULL,
    address    TEXT   NOT NULL,
    name       TEXT   NOT NULL,
    protocol   TEXT   NOT NULL,
    kind       TEXT   NOT NULL,
    source     TEXT   NOT NULL,
    confidence TEXT   NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (chain, address)
);

-- +goose Down
DROP TABLE address_label;
