-- Freeze and drop the partitions of a day past retention. The functions run as the owner of the tables, because the role of the
-- processes owns no table. A day of which rows could still be needed (under 61 days, the least NOTIFY_RETENTION_DAYS) is refused, except
-- to the owner.

CREATE FUNCTION refuse_current_day(day date) RETURNS void
    LANGUAGE plpgsql AS $$
BEGIN
    -- The lower bound too: the name of a day before Christ is that of a day of today's calendar.
    IF NOT pg_has_role(session_user, current_user, 'MEMBER') AND day NOT BETWEEN date '2000-01-01' AND current_date - 61 THEN
        RAISE insufficient_privilege USING MESSAGE = 'a day from 2000 until 61 days ago may be frozen or dropped';
    END IF;
END $$;

-- Number of rows, and XOR of the hashes of all rows; the same rows give the same fingerprint. Locks nothing.
CREATE FUNCTION partition_fingerprint(parent text, day date, OUT rows bigint, OUT fingerprint bigint)
    LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF parent NOT IN ('notification', 'delivery', 'attempt', 'event') THEN
        RAISE insufficient_privilege USING MESSAGE = 'a partition of another table';
    END IF;
    EXECUTE format('SELECT count(*), coalesce(bit_xor(hash_record_extended(t, 0)), 0) FROM %I t', parent || to_char(day, '_YYYYMMDD'))
        INTO rows, fingerprint;
END $$;

-- Detach a partition, so that its rows cannot change any more. Waits at most 200 ms for the lock. An open delivery keeps the
-- partition attached: the result is false. One table a call, so that the lock of the parent ends with the call.
CREATE FUNCTION freeze_partition(parent text, day date) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '200ms' AS $$
DECLARE
    part text := parent || to_char(day, '_YYYYMMDD');
    pending boolean;
    is_open boolean := false;
BEGIN
    IF parent NOT IN ('notification', 'delivery', 'attempt', 'event') THEN
        RAISE insufficient_privilege USING MESSAGE = 'a partition of another table';
    END IF;
    PERFORM refuse_current_day(day);
    SELECT inhdetachpending INTO pending FROM pg_inherits WHERE inhrelid = to_regclass(part);
    IF pending THEN -- a detach that began and did not end
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I FINALIZE', parent, part);
    ELSIF NOT pending THEN
        EXECUTE format('LOCK TABLE ONLY %I IN ACCESS EXCLUSIVE MODE', parent);
        IF parent = 'delivery' THEN -- in the order of delivery_due, so that one entry of the index is read
            EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE due_at IS NOT NULL ORDER BY status LIMIT 1)', part) INTO is_open;
        END IF;
        IF is_open THEN
            RETURN false;
        END IF;
        EXECUTE format('ALTER TABLE %I DETACH PARTITION %I', parent, part);
    END IF;
    RETURN true;
END $$;

-- Drop a frozen partition whose rows equal the verified file, or any frozen partition of a day that is marked as not archived. Returns
-- `dropped`, or the reason why the partition stays: `attached`, `not verified` or `changed`.
CREATE FUNCTION drop_partition(parent text, day date) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER SET lock_timeout = '200ms' AS $$
DECLARE
    part text := parent || to_char(day, '_YYYYMMDD');
    is_free boolean;
    expected_rows bigint;
    expected bigint;
    actual_rows bigint;
    actual bigint;
BEGIN
    IF parent NOT IN ('notification', 'delivery', 'attempt', 'event') THEN
        RAISE insufficient_privilege USING MESSAGE = 'a partition of another table';
    END IF;
    PERFORM refuse_current_day(day);
    IF to_regclass(part) IS NULL THEN
        RETURN 'dropped';
    ELSIF EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(part)) THEN
        RETURN 'attached';
    END IF;
    -- A day within 61 days is the owner's, who asks for it in tests.
    is_free := drop_partition.day > current_date - 61
        OR EXISTS (SELECT FROM archive_day d WHERE d.day = drop_partition.day AND d.state = 'not_archived');
    IF NOT is_free THEN
        SELECT f.rows, f.fingerprint INTO expected_rows, expected FROM archive_file f
            WHERE f.day_id = drop_partition.day AND f."table" = parent AND f.verified_at IS NOT NULL;
        IF NOT FOUND THEN
            RETURN 'not verified';
        END IF;
        SELECT p.rows, p.fingerprint INTO actual_rows, actual FROM partition_fingerprint(parent, day) p;
        IF (actual_rows, actual) IS DISTINCT FROM (expected_rows, expected) THEN
            RETURN 'changed';
        END IF;
    END IF;
    EXECUTE format('DROP TABLE %I', part);
    RETURN 'dropped';
END $$;

-- No object of the caller's, a temporary table above all, may stand in for one of ours.
DO $$
DECLARE
    signature text;
BEGIN
    FOREACH signature IN ARRAY ARRAY['refuse_current_day(date)', 'partition_fingerprint(text, date)', 'freeze_partition(text, date)',
                                     'drop_partition(text, date)']
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
    END LOOP;
END $$;
