-- Store the oldest open transaction with the time. The clock is read after the snapshot, so each change of an older
-- transaction has an earlier time. Locks nothing that exists.
INSERT INTO change_mark (at, xid)
SELECT clock_timestamp(), pg_snapshot_xmin(pg_current_snapshot())::text::bigint
ON CONFLICT DO NOTHING
