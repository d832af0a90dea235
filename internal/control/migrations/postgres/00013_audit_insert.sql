-- The log takes the entry behind the head and no other, and the head is made once, as
-- on SQLite.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION audit_takes_the_next() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS DISTINCT FROM (SELECT h.seq + 1 FROM audit_head h WHERE h.one = 1) THEN
        RAISE EXCEPTION 'the audit log is append-only';
    END IF;
    RETURN NEW;
END;
$$;
-- +goose StatementEnd
CREATE TRIGGER audit_next_only BEFORE INSERT ON audit
    FOR EACH ROW EXECUTE FUNCTION audit_takes_the_next();
CREATE TRIGGER audit_head_once BEFORE INSERT ON audit_head
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only();

-- +goose Down
DROP TRIGGER audit_head_once ON audit_head;
DROP TRIGGER audit_next_only ON audit;
DROP FUNCTION audit_takes_the_next();
