-- Who came by the operator's link or a provider is known to be the person, and may go to
-- the other workspaces of that person. An owner's invitation speaks for its workspace alone.

-- +goose Up
ALTER TABLE session ADD COLUMN vouched BIGINT NOT NULL DEFAULT 0;
ALTER TABLE login_link ADD COLUMN vouched BIGINT NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE login_link DROP COLUMN vouched;
ALTER TABLE session DROP COLUMN vouched;
