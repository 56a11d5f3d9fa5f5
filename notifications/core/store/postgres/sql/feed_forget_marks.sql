-- Delete up to `limit` marks from before the instant `before`, and marks of another cluster, whose transactions lie
-- ahead of this one. Skips locked rows. Reads change_mark, one row for each minute.
DELETE FROM change_mark WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM change_mark
    WHERE at < %(before)s::timestamptz OR xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    LIMIT %(limit)s FOR UPDATE SKIP LOCKED))
