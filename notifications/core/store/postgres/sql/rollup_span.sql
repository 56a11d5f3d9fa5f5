-- Return the lowest and the highest notification of the next `scanned` events from the transaction `from_xid` to before
-- `below`, as text; both are NULL without an event. Locks nothing. Merges event_feed of all partitions.
SELECT min(id) AS first, max(id) AS last
FROM (
    SELECT notification_id::text COLLATE "C" AS id FROM event
    WHERE xid IS NOT NULL AND xid >= %(from_xid)s::bigint AND xid < %(below)s::bigint
    ORDER BY xid, seq LIMIT %(scanned)s::bigint
) page
