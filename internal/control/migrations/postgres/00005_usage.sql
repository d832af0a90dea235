-- What keys asked for: counts by the hour, the newest requests and failures of each
-- workspace, and what each key was told of its budget last. Rows name keys by their
-- public ids.

-- +goose Up
CREATE TABLE usage_count (
    workspace_id    TEXT COLLATE "C" NOT NULL,
    hour            BIGINT NOT NULL,
    key_id          TEXT COLLATE "C" NOT NULL,
    class           TEXT COLLATE "C" NOT NULL,
    requests        BIGINT NOT NULL,
    failures        BIGINT NOT NULL,
    last_request_at BIGINT NOT NULL,
    last_failure_at BIGINT,
    PRIMARY KEY (workspace_id, hour, key_id, class)
);
CREATE INDEX usage_count_hour ON usage_count (hour);

CREATE TABLE usage_budget (
    key_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    workspace_id TEXT COLLATE "C" NOT NULL,
    class        TEXT COLLATE "C" NOT NULL,
    policy       TEXT COLLATE "C" NOT NULL,
    per_minute   BIGINT NOT NULL,
    remaining    BIGINT NOT NULL,
    retry_after  BIGINT,
    observed_at  BIGINT NOT NULL
);
CREATE INDEX usage_budget_workspace ON usage_budget (workspace_id);

-- A failure stands in both lists: 0 has requests, 1 has failures. The time it took is
-- in microseconds. What the budget was is null where the caller was told nothing.
CREATE TABLE usage_event (
    workspace_id TEXT COLLATE "C" NOT NULL,
    list         BIGINT NOT NULL,
    observed_at  BIGINT NOT NULL,
    seq          BIGINT NOT NULL,
    writer       TEXT COLLATE "C" NOT NULL,
    key_id       TEXT COLLATE "C" NOT NULL,
    request_id   TEXT COLLATE "C" NOT NULL,
    method       TEXT COLLATE "C" NOT NULL,
    route_path   TEXT COLLATE "C" NOT NULL,
    class        TEXT COLLATE "C" NOT NULL,
    status       BIGINT NOT NULL,
    took         BIGINT,
    policy       TEXT COLLATE "C",
    per_minute   BIGINT,
    remaining    BIGINT,
    retry_after  BIGINT,
    PRIMARY KEY (workspace_id, list, observed_at, seq, writer)
);
CREATE INDEX usage_event_observed_at ON usage_event (observed_at);

-- The last batch that each writer has written: none is written twice.
CREATE TABLE usage_writer (
    id  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    seq BIGINT NOT NULL,
    at  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE usage_writer;
DROP TABLE usage_event;
DROP TABLE usage_budget;
DROP TABLE usage_count;
