-- Sign-ins by a provider that were finished, or tried to be: each is good once. The
-- digest follows from a secret that the browser keeps. A row is of no use once the
-- sign-in would have been too old.

-- +goose Up
CREATE TABLE spent_attempt (
    digest TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    until  BIGINT NOT NULL
);
CREATE INDEX spent_attempt_until ON spent_attempt (until);

-- +goose Down
DROP TABLE spent_attempt;
