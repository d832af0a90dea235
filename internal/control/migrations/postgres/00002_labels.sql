-- Names that an operator gave to addresses, with who says so and how sure it is.

-- +goose Up
CREATE TABLE address_label (
    chain      TEXT COLLATE "C" NOT NULL,
    address    TEXT COLLATE "C" NOT NULL,
    name       TEXT COLLATE "C" NOT NULL,
    protocol   TEXT COLLATE "C" NOT NULL,
    kind       TEXT COLLATE "C" NOT NULL,
    source     TEXT COLLATE "C" NOT NULL,
    confidence TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (chain, address)
);

-- +goose Down
DROP TABLE address_label;
