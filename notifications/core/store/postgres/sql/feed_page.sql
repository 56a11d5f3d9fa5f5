-- Return the first status changes of one producer and mode between a position and the end of feed_end, in the order
-- of commits. Locks nothing.
-- The scan merges event_of_transaction of all partitions; each row looks its notification up by the primary key, in one
-- partition. MATERIALIZED and OFFSET 0 keep the look-ups from becoming a join with all notifications.
WITH scanned AS MATERIALIZED (
    SELECT xid, seq, notification_id, delivery_id, status, reason, at, claimed_at
    FROM event
    WHERE xid IS NOT NULL
      AND (xid, seq) > (%(xid)s::bigint, %(seq)s::bigint)
      AND (xid, seq) <= (%(end_xid)s::bigint, %(end_seq)s::bigint)
    ORDER BY xid, seq
    LIMIT %(scanned)s::bigint
), mine AS (
    SELECT s.*, n.user_id, n.type, n.metadata
    FROM scanned s
    CROSS JOIN LATERAL (
        SELECT user_id, type, metadata FROM notification
        WHERE id = s.notification_id AND producer_id = %(producer)s::bigint AND mode = %(mode)s::smallint
        OFFSET 0
    ) n
    WHERE s.status IS NOT NULL AND (%(since)s::timestamptz IS NULL OR s.at >= %(since)s::timestamptz)
    ORDER BY s.xid, s.seq
    LIMIT %(limit)s::bigint
)
SELECT mine.*, d.channel
FROM mine
LEFT JOIN LATERAL (SELECT channel FROM delivery WHERE id = mine.delivery_id OFFSET 0) d ON true
ORDER BY mine.xid, mine.seq
