-- Take up to `limit` events out of the feed whose transaction lies ahead of this cluster: a restored dump brings the
-- transaction ids of the cluster it was made in. Skips locked rows. Uses event_of_transaction of each partition, whose end is
-- empty in a cluster that was not restored.
UPDATE event SET xid = NULL
FROM (
    SELECT notification_id, seq FROM event
    WHERE xid IS NOT NULL AND xid > pg_snapshot_xmax(pg_current_snapshot())::text::bigint
    LIMIT %(limit)s FOR UPDATE SKIP LOCKED
) AS foreign_ones
WHERE event.notification_id = foreign_ones.notification_id AND event.seq = foreign_ones.seq
