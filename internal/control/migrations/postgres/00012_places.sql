-- Which process has how many of the places of a workspace, and how many it could
-- use. Like budgets, places need not survive a crash of the server.

-- +goose Up
CREATE UNLOGGED TABLE place (
    kind    TEXT COLLATE "C" NOT NULL,
    owner   TEXT COLLATE "C" NOT NULL,
    process TEXT COLLATE "C" NOT NULL,
    places  BIGINT NOT NULL,
    needed  BIGINT NOT NULL,
    until   BIGINT NOT NULL,
    asked   BIGINT NOT NULL, -- which question of the process it was
    PRIMARY KEY (kind, owner, process)
) WITH (fillfactor = 50);

-- One process at a time says how many places it wants of each owner, and gets what
-- the others leave. A row ends by the server's clock; one that is far ahead is from
-- before the clock was set. A question that was overtaken changes nothing.
-- +goose StatementBegin
CREATE FUNCTION take_places(me TEXT, question BIGINT, kinds TEXT[], owners TEXT[], wants BIGINT[], needs BIGINT[], limits BIGINT[], lasts BIGINT[])
RETURNS TABLE (granted BIGINT, others BIGINT, short BIGINT) LANGUAGE plpgsql AS $$
DECLARE
    at   BIGINT;
    held BIGINT;
BEGIN
    PERFORM pg_advisory_xact_lock(109368648428641);
    at := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    FOR i IN 1 .. cardinality(kinds) LOOP
        DELETE FROM place p WHERE p.kind = kinds[i] AND p.owner = owners[i] AND (p.until <= at OR p.until > at + 3600000000);
        SELECT coalesce(sum(p.places), 0), count(*), coalesce(sum(greatest(p.needed - p.places, 0)), 0) INTO held, others, short
            FROM place p WHERE p.kind = kinds[i] AND p.owner = owners[i] AND p.process <> me;
        granted := greatest(0, least(wants[i], limits[i] - held));
        IF wants[i] = 0 THEN
            DELETE FROM place p WHERE p.kind = kinds[i] AND p.owner = owners[i] AND p.process = me AND p.asked < question;
        ELSE
            INSERT INTO place AS p VALUES (kinds[i], owners[i], me, granted, needs[i], at + lasts[i], question)
                ON CONFLICT (kind, owner, process) DO UPDATE SET places = excluded.places, needed = excluded.needed, until = excluded.until, asked = excluded.asked
                WHERE p.asked < excluded.asked;
        END IF;
        RETURN NEXT;
    END LOOP;
END;
$$;
-- +goose StatementEnd

-- +goose Down
DROP FUNCTION take_places;
DROP TABLE place;
