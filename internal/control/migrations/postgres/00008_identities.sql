-- Who people are to the provider by which they sign in.

-- +goose Up
CREATE TABLE identity (
    issuer     TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    person_id  TEXT COLLATE "C" NOT NULL REFERENCES person (id),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
-- A person is one to a provider: nobody else takes over who has their address later.
CREATE UNIQUE INDEX identity_person ON identity (issuer, person_id);

-- +goose Down
DROP TABLE identity;
