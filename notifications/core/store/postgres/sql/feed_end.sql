-- Return the last of the next `scanned` events after a position in the order of commits, or no row without an event.
-- `below` is the oldest open transaction of feed_bounds. Locks nothing. Merges event_of_transaction of all
-- partitions, with all events of the last transaction, and sorts the events of a transaction. A sort of both columns in
-- one step could read all events after the position.
SELECT xid, seq FROM (
    SELECT xid, seq FROM (
        SELECT xid, seq FROM event
        WHERE xid IS NOT NULL
          AND (xid, seq) > (%(xid)s::bigint, %(seq)s::bigint)
          AND xid < %(below)s::bigint
        ORDER BY xid
        FETCH FIRST (%(scanned)s::bigint) ROWS WITH TIES
    ) merged
    ORDER BY xid, seq
    LIMIT %(scanned)s::bigint
) scanned
ORDER BY xid DESC, seq DESC
LIMIT 1
