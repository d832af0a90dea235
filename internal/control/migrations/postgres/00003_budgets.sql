-- How many requests the processes together took out of a key's budget in the
-- window that is under way. It need not survive a crash of the server: a budget
-- that starts anew does no harm, and counting writes no log.

-- +goose Up
CREATE UNLOGGED TABLE budget (
    key_id     TEXT COLLATE "C" NOT NULL,
    class      TEXT COLLATE "C" NOT NULL,
    started_at BIGINT NOT NULL,
    used       BIGINT NOT NULL,
    granted    BIGINT NOT NULL,
    PRIMARY KEY (key_id, class)
) WITH (fillfactor = 50);

-- +goose Down
DROP TABLE budget;
