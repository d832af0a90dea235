-- What members may do: an owner invites and removes others. The first member of a
-- workspace is its owner. joined_at is null until somebody has signed in to it.

-- +goose Up
ALTER TABLE member ADD COLUMN role TEXT COLLATE "C" NOT NULL DEFAULT 'member';
ALTER TABLE member ADD COLUMN joined_at BIGINT;
UPDATE member SET joined_at = created_at;
UPDATE member SET role = 'owner' WHERE person_id =
    (SELECT m.person_id FROM member m WHERE m.workspace_id = member.workspace_id ORDER BY m.created_at, m.person_id LIMIT 1);

-- +goose Down
ALTER TABLE member DROP COLUMN joined_at;
ALTER TABLE member DROP COLUMN role;
