-- Budgets are counted in a table on PostgreSQL, where several processes share
-- them. A file has no need of it: its one process counts in memory.

-- +goose Up
SELECT 1;

-- +goose Down
SELECT 1;
