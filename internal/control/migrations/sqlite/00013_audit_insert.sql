-- Replacing a row deletes it without a trigger's notice. So the log takes the entry
-- behind the head and no other, and the head is made once.

-- +goose Up
-- +goose StatementBegin
CREATE TRIGGER audit_next_only BEFORE INSERT ON audit WHEN NEW.seq IS NOT (SELECT seq + 1 FROM audit_head WHERE one = 1)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER audit_head_once BEFORE INSERT ON audit_head
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER audit_head_once;
DROP TRIGGER audit_next_only;
