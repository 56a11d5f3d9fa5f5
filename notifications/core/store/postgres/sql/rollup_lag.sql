-- Return the time of the first event that no roll-up counts; no row if all are counted. Locks nothing. Merges
-- event_of_transaction of all partitions. The position is a subquery: for a join the planner reads all events.
SELECT at FROM event
WHERE xid IS NOT NULL AND xid >= (SELECT min(xid) FROM rollup_position)
ORDER BY xid
LIMIT 1
