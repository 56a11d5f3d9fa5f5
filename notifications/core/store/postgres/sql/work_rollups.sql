-- True if an event is behind the position, or no position is stored. Uses event_of_transaction of all partitions.
NOT EXISTS (SELECT FROM rollup_position)
OR EXISTS (SELECT FROM rollup_position p JOIN event e ON e.xid >= p.xid)
