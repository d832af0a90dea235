-- Places are shared in a table on PostgreSQL, where several processes serve one
-- workspace. A file has no need of it: its one process counts in memory.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
