-- Count the next `scanned` events from the transaction `from_xid` to before `below`: their number, the first and the last
-- transaction, and the lowest and the highest notification as text. Locks nothing. Merges event_of_transaction of all
-- partitions.
SELECT count(*) AS events, min(xid) AS first_xid, max(xid) AS last_xid, min(id) AS lowest, max(id) AS highest
FROM (
    SELECT xid, notification_id::text COLLATE "C" AS id FROM event
    WHERE xid IS NOT NULL AND xid >= %(from_xid)s::bigint AND xid < %(below)s::bigint
    ORDER BY xid LIMIT %(scanned)s::bigint
) page
