-- Return the time of the first event that no roll-up counts; no row if all are counted. Locks nothing. Uses event_of_transaction
-- of all partitions.
SELECT e.at FROM event e, rollup_position p
WHERE e.xid IS NOT NULL AND e.xid >= p.xid
ORDER BY e.xid
LIMIT 1
