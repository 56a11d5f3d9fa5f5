-- Make a day's partitions as the owner of the tables, whoever asks: the role of the processes owns no table. It may make days near today,
-- and nothing else; archive_functions.sql drops days. Whoever is the owner may make any day.

CREATE FUNCTION first_id_of(day date) RETURNS uuid
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN (lpad(to_hex(extract(epoch FROM day)::bigint * 1000), 12, '0') || repeat('0', 20))::uuid;

-- Waits at most 200 ms for each lock, so that writers never queue for long behind a waiting DDL.
CREATE FUNCTION make_partitions(day date) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '200ms' AS $$
DECLARE
    parent text;
    key text;
    storage text;
    part text;
    low uuid := first_id_of(day);
    high uuid := first_id_of(day + 1);
BEGIN
    IF NOT pg_has_role(session_user, current_user, 'MEMBER') AND day NOT BETWEEN current_date - 3660 AND current_date + 62 THEN
        RAISE insufficient_privilege USING MESSAGE = 'a day from 3660 days ago to 62 days ahead may be made';
    END IF;
    PERFORM pg_advisory_xact_lock(7237001); -- one process at a time
    FOR parent, key, storage IN VALUES
        ('notification', 'id', ''),
        -- Room on the page for the versions of a row that four updates leave.
        ('delivery', 'id', 'WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05)'),
        ('attempt', 'delivery_id', ''),
        ('event', 'notification_id', '')
    LOOP
        part := parent || to_char(day, '_YYYYMMDD');
        CONTINUE WHEN to_regclass(part) IS NOT NULL;
        -- The bound as a CHECK lets ATTACH believe it without reading the rows.
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL, CONSTRAINT %I CHECK (%I >= %L AND %I < %L)) %s',
            part, parent, part || '_day', key, low, key, high, storage);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part, low, high);
        EXECUTE format('ALTER TABLE %I DROP CONSTRAINT %I', part, part || '_day');
    END LOOP;
END $$;

-- No object of the caller's, a temporary table above all, may stand in for one of ours.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION make_partitions(date) SET search_path = %I, pg_temp', current_schema());
END $$;
