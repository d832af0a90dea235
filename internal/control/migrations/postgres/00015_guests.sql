-- Whom an owner invites is a guest: a person of that workspace, whatever the name. Names
-- of those whom the operator or a provider brought stand for themselves everywhere; an
-- owner could otherwise pass for somebody by inviting them first.

-- +goose Up
ALTER TABLE person ADD COLUMN home TEXT NOT NULL DEFAULT '';
DROP INDEX person_name;
CREATE UNIQUE INDEX person_name ON person (name, home);

-- +goose Down
DROP INDEX person_name;
CREATE UNIQUE INDEX person_name ON person (name);
ALTER TABLE person DROP COLUMN home;
