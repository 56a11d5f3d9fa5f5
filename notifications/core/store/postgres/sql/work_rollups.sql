-- True if an event is behind the position, or no position is stored. Merges event_of_transaction of all partitions: the
-- planner expects many such events, so without ORDER BY a sequential scan reads all stored events if there is none.
NOT EXISTS (SELECT FROM rollup_position)
OR (SELECT xid FROM event WHERE xid >= (SELECT min(xid) FROM rollup_position) ORDER BY xid LIMIT 1) IS NOT NULL
