-- People, the workspaces that they belong to, and where they are signed in. Tokens
-- are kept as keyed digests alone, in lower-case hex.

-- +goose Up
CREATE TABLE person (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name       TEXT COLLATE "C" NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX person_name ON person (name);

CREATE TABLE member (
    workspace_id TEXT COLLATE "C" NOT NULL REFERENCES workspace (id),
    person_id    TEXT COLLATE "C" NOT NULL REFERENCES person (id),
    created_at   BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
);
CREATE INDEX member_person ON member (person_id);

-- A session without ended_at is open until it expires or is left alone for too long.
CREATE TABLE session (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    digest       TEXT COLLATE "C" NOT NULL,
    workspace_id TEXT COLLATE "C" NOT NULL,
    person_id    TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    seen_at      BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    ended_at     BIGINT,
    FOREIGN KEY (workspace_id, person_id) REFERENCES member (workspace_id, person_id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX session_digest ON session (digest);
CREATE INDEX session_person ON session (person_id, created_at);
CREATE INDEX session_expires ON session (expires_at);

-- A link is gone once it was used.
CREATE TABLE login_link (
    digest       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL,
    person_id    TEXT COLLATE "C" NOT NULL,
    expires_at   BIGINT NOT NULL,
    FOREIGN KEY (workspace_id, person_id) REFERENCES member (workspace_id, person_id) ON DELETE CASCADE
);
CREATE INDEX login_link_person ON login_link (person_id);

-- +goose Down
DROP TABLE login_link;
DROP TABLE session;
DROP TABLE member;
DROP TABLE person;
